//! The Vulkan engine against a real driver. Without a device these tests say so and do nothing,
//! unless `VKCERT_REQUIRE_VULKAN=1` demands one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vkcert::exec::vulkan::pool::{self, Workers};
use vkcert::exec::vulkan::{
    DeviceChoice, LoopCounting, Robustness, Settings, ValidationLayers, VulkanExecutor,
    WORKER_FAULT, devices,
};
use vkcert::exec::{
    Completion, ExecError, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule,
    ModuleRecording, Observer, Run, Unobserved,
};
use vkcert::model::finding::{Checks, FindingKind};
use vkcert::model::finding_details::{FindingDetails, MessageSeverity};
use vkcert::model::procedure::{DescriptorClass, Limits};
use vkcert::model::records::{CANARY, RecordBuffer, RecordLayout, RecordMode, Witnesses};

const WORKER: &str = env!("CARGO_BIN_EXE_vkcert");

fn settings() -> Settings {
    Settings::new(WORKER)
}

/// An engine, or a line that says why the test was not run.
fn engine_with(settings: Settings) -> Option<VulkanExecutor> {
    match VulkanExecutor::new(DeviceChoice::Best, settings) {
        Ok(engine) => Some(engine),
        Err(ExecError::NoDevice { reason, .. })
            if std::env::var("VKCERT_REQUIRE_VULKAN").as_deref() != Ok("1") =>
        {
            eprintln!("NOT RUN: no Vulkan device ({reason})");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn engine() -> Option<VulkanExecutor> {
    engine_with(settings())
}

fn faulty(fault: &str) -> Option<VulkanExecutor> {
    let environment = BTreeMap::from([(WORKER_FAULT.to_owned(), fault.to_owned())]);
    engine_with(Settings { environment, ..settings() })
}

fn compile(source: &str) -> Arc<Vec<u32>> {
    compile_for(source, shaderc::EnvVersion::Vulkan1_1)
}

fn compile_for(source: &str, version: shaderc::EnvVersion) -> Arc<Vec<u32>> {
    // Kept: making a compiler takes 200 ms.
    thread_local!(static COMPILER: shaderc::Compiler = shaderc::Compiler::new().expect("compiler"));
    let mut options = shaderc::CompileOptions::new().expect("options");
    options.set_target_env(shaderc::TargetEnv::Vulkan, version as u32);
    let kind = shaderc::ShaderKind::Compute;
    COMPILER.with(|compiler| {
        let binary = compiler
            .compile_into_spirv(source, kind, "test.comp", "main", Some(&options))
            .expect("compiles");
        Arc::new(binary.as_binary().to_vec())
    })
}

/// A job under construction: one kernel, buffers of words, dispatches.
struct Bench(Job);

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

fn bind(set: u32, binding: u32, buffer: usize, range: usize) -> JobBinding {
    JobBinding::storage(set, binding, buffer, range as u64)
}

impl Bench {
    fn new(source: &str, buffers: &[&[u32]]) -> Self {
        Self::of(compile(source), buffers)
    }

    /// Binds buffer `n` whole at set 0, binding `n`, and dispatches one workgroup.
    fn of(module: Arc<Vec<u32>>, buffers: &[&[u32]]) -> Self {
        let bindings = buffers
            .iter()
            .enumerate()
            .map(|(n, words)| bind(0, n as u32, n, words.len() * 4))
            .collect();
        let dispatch = JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [1, 1, 1],
            bindings,
            push_constants: Vec::new(),
            push_constants_defined: Vec::new(),
            specialization: BTreeMap::new(),
            subgroup_size: None,
        };
        let buffers = buffers.iter().enumerate().map(|(n, words)| {
            let bytes = bytes(words);
            JobBuffer {
                name: format!("b{n}"),
                defined: std::iter::once(0..bytes.len()).collect(),
                bytes: bytes.into(),
            }
        });
        Self(Job {
            name: "T".to_owned(),
            modules: vec![JobModule {
                key: "k".into(),
                words: module,
                recording: ModuleRecording::None,
            }],
            buffers: buffers.collect(),
            dispatches: vec![dispatch],
            resources: Default::default(),
            limits: Limits { seconds: 20.0, ..Limits::default() },
            checks: Checks::all(),
        })
    }

    fn with(mut self, change: impl FnOnce(&mut JobDispatch)) -> Self {
        change(&mut self.0.dispatches[0]);
        self
    }

    fn job(mut self, change: impl FnOnce(&mut Job)) -> Self {
        change(&mut self.0);
        self
    }

    fn run(&self, engine: &mut VulkanExecutor) -> Run {
        engine.run(&self.0, &mut Unobserved).expect("the tool works")
    }

    /// Runs to completion without a finding and gives buffer `index`.
    fn output(&self, engine: &mut VulkanExecutor, index: usize) -> Vec<u32> {
        let run = self.run(engine);
        assert_eq!(run.completion, Completion::Completed);
        assert_eq!(run.findings, [], "no finding is due");
        words(&run.buffers[index])
    }
}

const ADD: &str = "#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
void main() { uint i = gl_GlobalInvocationID.x; if (i < b.length()) b[i] += a[i]; }";

fn add() -> Bench {
    Bench::new(ADD, &[&[1, 2, 3, 4, 5], &[10, 20, 30, 40, 50]])
}

fn adds(engine: &mut VulkanExecutor) {
    assert_eq!(add().output(engine, 1), [11, 22, 33, 44, 55]);
}

#[test]
fn a_kernel_reads_and_writes_its_buffers() {
    let Some(mut engine) = engine() else { return };
    let run = add().run(&mut engine);
    assert_eq!(run.completion, Completion::Completed);
    assert_eq!(words(&run.buffers[0]), [1, 2, 3, 4, 5]);
    assert_eq!(words(&run.buffers[1]), [11, 22, 33, 44, 55]);
    assert!(run.findings.is_empty() && run.records.is_empty());
    assert_eq!(add().run(&mut engine), run, "the same job gives the same run");
}

#[test]
fn dispatches_see_what_earlier_ones_wrote() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) buffer A { uint a[64]; };
        layout(push_constant) uniform P { uint step; };
        void main() { uint i = gl_LocalInvocationID.x; a[i] = a[i] * 3 + a[(i + step) % 64]; barrier(); }";
    let start: Vec<u32> = (0..64).collect();
    // Within a dispatch neighbours race, so each invocation reads its own element; the chain is
    // between dispatches.
    let bench = Bench::new(source, &[&start]).job(|job| {
        let first = job.dispatches[0].clone();
        job.dispatches = vec![first; 20];
        job.dispatches.iter_mut().for_each(|dispatch| dispatch.push_constants = bytes(&[64]));
    });
    let factor = (0..20).fold(1_u32, |value, _| value.wrapping_mul(4));
    let expected: Vec<u32> = start.iter().map(|value| value.wrapping_mul(factor)).collect();
    assert_eq!(bench.output(&mut engine, 0), expected);
}

#[test]
fn an_observer_sees_each_dispatch_start_in_order() {
    struct Starts(Vec<usize>);
    impl Observer for Starts {
        fn dispatch_started(&mut self, index: usize) {
            self.0.push(index);
        }
    }
    let Some(mut engine) = engine() else { return };
    let bench = add().job(|job| job.dispatches = vec![job.dispatches[0].clone(); 3]);
    let mut starts = Starts(Vec::new());
    engine.run(&bench.0, &mut starts).expect("runs");
    assert_eq!(starts.0, [0, 1, 2]);
}

#[test]
fn push_and_specialization_constants_arrive_bit_exact() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        #extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
        layout(local_size_x = 1) in;
        layout(constant_id = 0) const uint U = 1;
        layout(constant_id = 1) const bool B = false;
        layout(constant_id = 7) const uint64_t L = 2ul;
        layout(constant_id = 8) const double D = 1.0;
        layout(constant_id = 9) const float F = 1.0;
        layout(constant_id = 10) const uint Untouched = 77;
        layout(push_constant) uniform P { uint x; float y; uvec2 z; };
        layout(set = 0, binding = 0) buffer A { uint a[12]; };
        void main() {
            a[0] = U; a[1] = B ? 1 : 0; a[2] = uint(L); a[3] = uint(L >> 32);
            uvec2 d = unpackDouble2x32(D); a[4] = d.x; a[5] = d.y;
            a[6] = floatBitsToUint(F); a[7] = Untouched;
            a[8] = x; a[9] = floatBitsToUint(y); a[10] = z.x; a[11] = z.y;
        }";
    let double = (-0.1_f64).to_bits();
    // A conversion of a specialization constant needs SPIR-V 1.4.
    let module = compile_for(source, shaderc::EnvVersion::Vulkan1_2);
    let bench = Bench::of(module, &[&[0; 12]]).with(|dispatch| {
        dispatch.push_constants = bytes(&[0xDEAD_BEEF, 0x7fc0_1234, 5, 6]);
        let values = [
            (0, 0xFFFF_FFF0),
            (1, 1),
            (7, 0x0123_4567_89AB_CDEF),
            (8, double),
            (9, u64::from(1.5_f32.to_bits())),
        ];
        dispatch.specialization = BTreeMap::from(values);
    });
    let expected = [
        0xFFFF_FFF0,
        1,
        0x89AB_CDEF,
        0x0123_4567,
        double as u32,
        (double >> 32) as u32,
        1.5_f32.to_bits(),
        77,
        0xDEAD_BEEF,
        0x7fc0_1234,
        5,
        6,
    ];
    assert_eq!(bench.output(&mut engine, 0), expected);
}

#[test]
fn the_local_size_follows_its_specialization_constant() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        layout(local_size_x_id = 3, local_size_y = 2) in;
        layout(set = 0, binding = 0) buffer A { uint count; uint size; };
        void main() { atomicAdd(count, 1); size = gl_WorkGroupSize.x; }";
    for (size, version) in [
        (1_u32, shaderc::EnvVersion::Vulkan1_1),
        (7, shaderc::EnvVersion::Vulkan1_2),
        (64, shaderc::EnvVersion::Vulkan1_2),
    ] {
        let bench = Bench::of(compile_for(source, version), &[&[0, 0]]).with(|dispatch| {
            dispatch.groups = [3, 1, 1];
            dispatch.specialization = BTreeMap::from([(3, u64::from(size))]);
        });
        assert_eq!(bench.output(&mut engine, 0), [3 * 2 * size, size]);
    }
    let too_large = Bench::new(source, &[&[0, 0]]).with(|dispatch| {
        dispatch.specialization = BTreeMap::from([(3, 1 << 20)]);
    });
    let Completion::Unsupported { what } = too_large.run(&mut engine).completion else {
        panic!("not refused")
    };
    assert!(what.starts_with("local size 1048576 in x (maxComputeWorkGroupSize is"), "{what}");
}

#[test]
fn sets_with_gaps_uniform_buffers_dynamic_offsets_and_arrays_are_bound() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        layout(local_size_x = 1) in;
        layout(set = 0, binding = 2) uniform U { uvec4 u; };
        layout(set = 2, binding = 5) buffer R { uint r[16]; };
        layout(set = 2, binding = 1) buffer D { uint d[4]; } many[3];
        layout(set = 2, binding = 9) uniform V { uvec4 v; };
        layout(set = 0, binding = 0) buffer S { uint s[4]; };
        void main() {
            for (int i = 0; i < 4; i++) { r[i] = u[i]; r[4 + i] = v[i]; r[8 + i] = s[i]; }
            r[12] = many[0].d[1]; r[13] = many[1].d[1]; r[14] = many[2].d[1]; r[15] = r.length();
        }";
    let numbers: Vec<u32> = (0..1024).collect();
    let bench = Bench::new(source, &[&numbers, &[0; 16]]).with(|dispatch| {
        let part = |set, binding, class, offset, range| JobBinding {
            class,
            offset,
            range,
            ..bind(set, binding, 0, 0)
        };
        use DescriptorClass as Class;
        dispatch.bindings = vec![
            bind(2, 5, 1, 64),
            JobBinding { dynamic_offset: 512, ..part(2, 9, Class::UniformDynamic, 256, 16) },
            part(0, 2, Class::Uniform, 256, 16),
            JobBinding { dynamic_offset: 1024, ..part(0, 0, Class::StorageDynamic, 256, 16) },
        ];
        for (element, offset) in [(2, 0), (0, 512), (1, 1024)] {
            let bound = part(2, 1, Class::Storage, offset, 16);
            dispatch.bindings.push(JobBinding { array_index: element, ..bound });
        }
    });
    let expected =
        [64, 65, 66, 67, 192, 193, 194, 195, 320, 321, 322, 323, 512 / 4 + 1, 1024 / 4 + 1, 1, 16];
    assert_eq!(bench.output(&mut engine, 1), expected);
}

#[test]
fn a_length_comes_from_the_bound_range() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        layout(local_size_x = 1) in;
        layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
        layout(set = 0, binding = 1) buffer B { uint b[2]; };
        void main() { b[0] = a.length(); b[1] = a[0]; }";
    let numbers: Vec<u32> = (0..256).collect();
    let bench = Bench::new(source, &[&numbers, &[0, 0]]).with(|dispatch| {
        dispatch.bindings[0] = JobBinding { offset: 256, range: 20, ..bind(0, 0, 0, 0) };
    });
    assert_eq!(bench.output(&mut engine, 1), [5, 64]);
}

#[test]
fn what_the_layer_says_is_a_finding_in_every_run_and_not_in_the_next_job() {
    let Some(mut engine) = engine() else { return };
    if engine.identity()["validation layer"].contains("not installed") {
        eprintln!("NOT RUN: no validation layer");
        return;
    }
    // A stride of 2 under std430 rules without the 16-bit features: the layer's own validator
    // objects to the module.
    let mut bad = (*compile(ADD)).clone();
    spoil_stride(&mut bad);
    let bad = Bench::of(Arc::new(bad), &[&[1; 8], &[2; 8]]);
    let mut seen = Vec::new();
    // More often than the layer repeats itself, and with the pipeline from the cache.
    for _ in 0..14 {
        let run = bad.run(&mut engine);
        let finding = run.findings.first().expect("the layer objects").clone();
        assert_eq!(finding.kind, FindingKind::Validation);
        let FindingDetails::Validation(layer) = &finding.details else { panic!("{finding:?}") };
        assert_eq!(layer.severity, MessageSeverity::Error);
        let id = &layer.message_id;
        assert!(id.starts_with("VUID") || id.starts_with("UNASSIGNED"), "{id}");
        assert!(!finding.message.contains("handle = 0x"), "{}", finding.message);
        seen.push(run.findings);
        adds(&mut engine);
    }
    assert!(seen.iter().all(|findings| *findings == seen[0]), "the same in every run");
    let quiet = bad.job(|job| job.checks = Checks::none());
    assert_eq!(quiet.run(&mut engine).findings, []);
}

/// Changes the ArrayStride of 4 to 2.
fn spoil_stride(module: &mut [u32]) {
    let mut place = 5;
    while place < module.len() {
        let (length, op) = ((module[place] >> 16) as usize, module[place] & 0xFFFF);
        if op == 71 && module[place + 2] == 6 {
            module[place + 3] = 2;
        }
        place += length;
    }
}

/// Minutes of work that no driver cuts short: as many workgroups as every device takes, and no
/// loop.
fn lengthy() -> Bench {
    let source = "#version 450
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) buffer A { volatile uint a[]; };
        void main() { a[1] += a[0]; a[1] *= 3; a[1] += a[0]; a[1] *= 5; }";
    Bench::new(source, &[&[1, 0]]).with(|dispatch| dispatch.groups = [65535, 65535, 1])
}

#[test]
fn a_dispatch_that_does_not_end_times_out_and_the_next_job_passes() {
    let Some(mut engine) = engine() else { return };
    adds(&mut engine);
    let endless = lengthy().job(|job| job.limits.seconds = 0.5);
    let start = Instant::now();
    let run = endless.run(&mut engine);
    let taken = start.elapsed();
    let reason = "dispatch 0 of kernel `k` did not end within 0.5 s".to_owned();
    assert_eq!(run.completion, Completion::Timeout { reason });
    assert!(run.buffers.is_empty());
    assert!(taken > Duration::from_millis(500) && taken < Duration::from_secs(5), "{taken:?}");
    let start = Instant::now();
    adds(&mut engine);
    eprintln!("time-out after {taken:?}, a fresh worker and the next job {:?}", start.elapsed());
}

/// Counts the dispatches that start.
#[derive(Default)]
struct StartCounter(usize);

impl Observer for StartCounter {
    fn dispatch_started(&mut self, _: usize) {
        self.0 += 1;
    }
}

#[test]
fn workers_run_again_what_was_out_of_time_and_not_what_was_cut_off() {
    let Some(mut engine) = engine() else { return };
    let Some(limit) = engine.loop_limit() else {
        eprintln!("NOT RUN: this driver ends no loop by itself");
        return;
    };
    engine.count_loops(LoopCounting::Within);
    let cut_off = Bench::new(
        "#version 450
        layout(set = 0, binding = 0) buffer A { volatile uint a[]; };
        void main() { while (a[0] == 0) { a[1] += 1; } }",
        &[&[0; 2]],
    );
    let out_of_time = lengthy().job(|job| job.limits.seconds = 0.3);
    // Enough of them for a second worker.
    let jobs: Vec<&Job> = std::iter::once(&out_of_time.0).chain([&cut_off.0; 16]).collect();
    let starts = pool::share_items(&mut engine, Workers::AtMost(2), &jobs, |job, executor| {
        let mut counter = StartCounter::default();
        let run = executor.run(job, &mut counter).expect("the engine works");
        let Completion::Timeout { reason } = run.completion else { panic!("{:?}", run.completion) };
        (counter.0, reason)
    });
    assert_eq!(starts[0].0, 2, "{}", starts[0].1);
    for (count, reason) in &starts[1..] {
        assert!(reason.contains(&format!("after {limit} iterations")), "{reason}");
        assert_eq!(*count, 1);
    }
}

#[test]
fn no_endless_kernel_completes() {
    no_endless_kernel_completes_with(LoopCounting::Ahead);
    no_endless_kernel_completes_with(LoopCounting::Within);
}

fn no_endless_kernel_completes_with(loop_counting: LoopCounting) {
    let Some(mut engine) = engine() else { return };
    engine.count_loops(loop_counting);
    for body in [
        "while (a[0] == 0) { a[1] += 1; }",
        "while (true) { a[1] += 1; }",
        "for (;;) { }",
        "while (true) { if (a[0] == 1) return; }",
        "while (true) { while (true) { a[1] += 1; if (a[0] == 1) break; } }",
        "while (a[0] == 0) { barrier(); a[1] += 1; }",
        "uint i = 0; do { i += a[0] + 2; } while (i != 7); a[1] = i;",
        "if (gl_LocalInvocationIndex == 5) while (a[0] == 0) { a[1] += 1; } else a[1] = 3;",
        "for (uint i = 0; i < 3; i++) { while (a[0] == i % 2) { if (a[1] == 9) continue; } }",
    ] {
        let source = format!(
            "#version 450
            layout(local_size_x = 12) in;
            layout(set = 0, binding = 0) buffer A {{ volatile uint a[]; }};
            void main() {{ {body} a[2] = 9; }}"
        );
        for version in [shaderc::EnvVersion::Vulkan1_0, shaderc::EnvVersion::Vulkan1_2] {
            let bench = Bench::of(compile_for(&source, version), &[&[0; 3]]);
            let run = bench.job(|job| job.limits.seconds = 1.0).run(&mut engine);
            assert!(
                matches!(run.completion, Completion::Timeout { .. }),
                "{body}: {:?}",
                run.completion
            );
            assert_eq!(run.findings, []);
        }
    }
    adds(&mut engine);
}

#[test]
fn the_loop_counting_form_of_a_module_is_valid() {
    use vkcert::spirv::{module::Module, validate};
    let bodies = [
        "for (uint i = 0; i < a[0]; i++) a[1]++;",
        "do { a[1]++; } while (a[1] < a[0]);",
        "while (true) { if (a[0] == 1) return; }",
        "while (true) { while (true) { a[1] += 1; if (a[0] == 1) break; } }",
        "for (int i = 0; i < 3; i++) { for (int j = 0; j < i; j++) { if (a[j] == 3) continue; switch (j) { case 1: a[1]++; \
         break; default: if (a[2] == 1) return; } } }",
        "int i = 0; do { if (i == 2) continue; a[i] = f(i); } while (++i < 9);",
    ];
    use shaderc::EnvVersion as Version;
    let targets = [
        (Version::Vulkan1_0, "vulkan1.0"),
        (Version::Vulkan1_1, "vulkan1.1"),
        (Version::Vulkan1_2, "vulkan1.2"),
        (Version::Vulkan1_3, "vulkan1.3"),
    ];
    for body in bodies {
        for (version, name) in targets {
            let source = format!(
                "#version 450
                layout(local_size_x = 4) in;
                layout(set = 0, binding = 0) buffer A {{ uint a[]; }};
                uint f(int n) {{ uint sum = 0; while (n > 0) {{ sum += a[n]; n--; }} return sum; }}
                void main() {{ {body} }}"
            );
            let module = Module::parse(compile_for(&source, version)).expect("parses");
            let loop_count = vkcert::exec::vulkan::loop_counting_form(&module, 1)
                .expect("has a loop_count form");
            assert!(loop_count.len() > module.words.len());
            let env = validate::TargetEnv::from_name(name).expect("known");
            validate::validate(&loop_count, env)
                .unwrap_or_else(|error| panic!("{body} for {name}: {error}"));
        }
    }
}

#[test]
fn a_long_loop_is_right_or_named_as_cut_off() {
    a_long_loop_is_right_or_named_with(LoopCounting::Ahead);
    a_long_loop_is_right_or_named_with(LoopCounting::Within);
}

fn a_long_loop_is_right_or_named_with(loop_counting: LoopCounting) {
    let Some(mut engine) = engine() else { return };
    engine.count_loops(loop_counting);
    let limit = engine.loop_limit().map_or(u64::MAX, u64::from);
    let shapes = [
        "for (uint i = 0; i < outer; i++) for (uint j = 0; j < inner; j++) n++;",
        "uint i = 0; while (true) { uint j = 0; do { n++; } while (++j < inner); if (++i == outer) break; }",
        "for (uint i = 0; i < outer; i++) { for (uint j = 0; ; j++) { if (j == inner) break; if (j % 2 == 0) \
         { n++; continue; } n = n + 1; } }",
        "uint mine = outer * inner - gl_LocalInvocationIndex; for (uint j = 0; j < mine; j++) n++; \
         n += gl_LocalInvocationIndex;",
    ];
    for (shape, body) in shapes.into_iter().enumerate() {
        let source = format!(
            "#version 450
            layout(local_size_x = 20) in;
            layout(push_constant) uniform P {{ uint outer; uint inner; }};
            layout(set = 0, binding = 0) buffer A {{ volatile uint a[20]; uint after; }};
            uint total() {{ uint n = 0; {body} return n; }}
            void main() {{
                a[gl_LocalInvocationIndex] = total();
                for (uint k = 0; k < 3; k++) {{ a[gl_LocalInvocationIndex] += k; }}
                after = 5;
            }}"
        );
        let bench = Bench::new(&source, &[&[0; 21]]);
        let sizes = [
            (1, 100),
            (1, 30000),
            (1, 65000),
            (200, 200),
            (1, 65531),
            (1, 65533),
            (1, 65535),
            (1, 65540),
            (300, 300),
            (7, 70000),
        ];
        for (outer, inner) in sizes {
            let bench = Bench(bench.0.clone())
                .with(|dispatch| dispatch.push_constants = bytes(&[outer, inner]));
            let run = bench.run(&mut engine);
            let total = u64::from(outer) * u64::from(inner);
            match run.completion {
                Completion::Completed => {
                    let expected = [vec![total as u32 + 3; 20], vec![5]].concat();
                    assert_eq!(
                        words(&run.buffers[0]),
                        expected,
                        "shape {shape}, {outer} x {inner}"
                    );
                }
                Completion::Timeout { reason } => {
                    assert!(
                        total + u64::from(outer) * 3 > limit - 10,
                        "shape {shape}, {outer} x {inner}: {reason}"
                    );
                    assert!(
                        reason.starts_with("dispatch 0 of kernel `k` did not end by itself"),
                        "{reason}"
                    );
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Process ids of a process's children, from the kernel's table.
fn children(of: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("a process table").flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    ids.filter(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after_name.split_whitespace().nth(1) == Some(&of.to_string())
    })
    .collect()
}

fn is_gone_within(id: u32, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    };
    while is_alive() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Set for a test that runs in a process of its own.
const ALONE: &str = "VKCERT_TEST_ALONE";

/// One test of this module in a process of its own: tests beside it have workers, too.
fn in_own_process(test: &str) -> std::process::Command {
    let module = module_path!().split_once("::").expect("a module of the test program").1;
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", &format!("{module}::{test}"), "--include-ignored", "--nocapture"]);
    command.env(ALONE, "1");
    command
}

#[test]
fn dropping_the_engine_ends_its_worker() {
    if std::env::var_os(ALONE).is_none() {
        let output =
            in_own_process("dropping_the_engine_ends_its_worker").output().expect("starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let Some(mut engine) = engine() else { return };
    adds(&mut engine);
    let workers = children(std::process::id());
    assert!(!workers.is_empty());
    drop(engine);
    assert!(workers.into_iter().all(|worker| is_gone_within(worker, Duration::from_secs(5))));
}

/// The parent of the next test: says when its dispatch has started, and never ends by itself.
#[test]
#[ignore = "is killed by another test"]
fn hold_a_device() {
    struct Say;
    impl Observer for Say {
        fn dispatch_started(&mut self, _: usize) {
            println!("\ndispatched");
        }
    }
    let Some(mut engine) = engine() else { return };
    let _ = engine.run(&lengthy().job(|job| job.limits.seconds = 20.0).0, &mut Say);
}

#[test]
fn a_worker_within_a_dispatch_ends_when_its_parent_is_killed() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    if engine().is_none() {
        return;
    }
    let mut parent = in_own_process("hold_a_device")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let said = BufReader::new(parent.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(said.into_iter().any(|line| line == "dispatched"), "the dispatch starts");
    let workers = children(parent.id());
    assert_eq!(workers.len(), 1);
    parent.kill().expect("killed");
    parent.wait().expect("gone");
    assert!(is_gone_within(workers[0], Duration::from_secs(5)), "the worker outlives its parent");
}

/// Runs the job that the fault names between two that must pass; gives its completion.
fn one_job_lost(fault: &str) -> Option<Result<Run, ExecError>> {
    let mut engine = faulty(&format!("{fault}@VICTIM"))?;
    adds(&mut engine);
    let victim = add().job(|job| {
        job.name = "VICTIM".to_owned();
        job.limits.seconds = 0.5;
    });
    let result = engine.run(&victim.0, &mut Unobserved);
    adds(&mut engine);
    assert_eq!(engine.close().expect("closes"), []);
    Some(result)
}

fn error_of(result: Result<Run, ExecError>) -> String {
    match result.expect("the tool works").completion {
        Completion::Error { reason } => reason,
        other => panic!("not an error: {other:?}"),
    }
}

#[test]
fn a_worker_that_dies_costs_one_job() {
    let Some(result) = one_job_lost("abort") else { return };
    let reason = error_of(result);
    assert!(
        reason.starts_with(
            "the device worker was lost while kernel `k` was prepared: it died (signal: 6"
        ),
        "{reason}"
    );
}

#[test]
fn a_worker_that_writes_nonsense_costs_one_job() {
    let Some(result) = one_job_lost("garbage") else { return };
    let reason = error_of(result);
    assert!(reason.ends_with("it wrote bytes that are no frame"), "{reason}");
}

#[test]
fn a_worker_that_writes_without_measure_costs_one_job() {
    let Some(result) = one_job_lost("flood") else { return };
    let reason = error_of(result);
    assert!(
        reason.contains("it wrote a frame of 18446744073709551615 bytes where at most"),
        "{reason}"
    );
}

#[test]
fn a_worker_that_ends_within_a_frame_costs_one_job() {
    let Some(result) = one_job_lost("truncate") else { return };
    let reason = error_of(result);
    assert!(reason.contains("it died (exit status: 0)"), "{reason}");
}

#[test]
fn a_defect_of_the_tool_is_no_verdict_on_the_kernel() {
    let Some(result) = one_job_lost("panic") else { return };
    let error = result.expect_err("the tool failed").to_string();
    assert!(error.contains("the fault `panic` was asked for"), "{error}");
}

#[test]
fn a_worker_that_hangs_before_the_dispatch_is_replaced_after_the_preparation_time() {
    let environment = BTreeMap::from([(WORKER_FAULT.to_owned(), "hang@VICTIM".to_owned())]);
    let preparation = Duration::from_millis(300);
    let Some(mut engine) = engine_with(Settings { environment, preparation, ..settings() }) else {
        return;
    };
    let victim = add().job(|job| job.name = "VICTIM".to_owned());
    let reason = "the driver did not answer while kernel `k` was prepared".to_owned();
    assert_eq!(victim.run(&mut engine).completion, Completion::Timeout { reason });
    adds(&mut engine);
}

#[test]
fn a_device_that_fails_its_canary_is_no_device() {
    if engine().is_none() {
        return;
    }
    let environment = BTreeMap::from([(WORKER_FAULT.to_owned(), "canary".to_owned())]);
    let error = VulkanExecutor::new(DeviceChoice::Best, Settings { environment, ..settings() })
        .err()
        .expect("refused");
    assert!(
        matches!(&error, ExecError::NoDevice { reason, .. } if reason.contains("canary")),
        "{error}"
    );
}

#[test]
fn a_changed_guard_byte_is_an_out_of_bounds_finding() {
    let Some(mut engine) = faulty("guard@VICTIM") else { return };
    let run = add().job(|job| job.name = "VICTIM".to_owned()).run(&mut engine);
    assert_eq!(run.completion, Completion::Completed);
    let [finding] = run.findings.as_slice() else { panic!("{:?}", run.findings) };
    assert_eq!(finding.kind, FindingKind::OutOfBounds);
    assert_eq!(
        finding.message,
        "1 bytes behind buffer `b0` changed, the nearest 4 bytes from its edge"
    );
    adds(&mut engine);
}

#[test]
fn a_changed_byte_that_nothing_binds_is_an_out_of_bounds_finding() {
    let Some(mut engine) = faulty("stray@VICTIM") else { return };
    let victim = || add().job(|job| job.name = "VICTIM".to_owned());
    assert_eq!(victim().run(&mut engine).findings, [], "all of the buffer is bound");
    let shorter = victim().job(|job| {
        let last = job.buffers.last_mut().expect("it has buffers");
        Arc::make_mut(&mut last.bytes).extend([7; 16]);
    });
    let run = shorter.run(&mut engine);
    assert_eq!(run.completion, Completion::Completed);
    let [finding] = run.findings.as_slice() else { panic!("{:?}", run.findings) };
    assert_eq!(finding.kind, FindingKind::OutOfBounds);
    let (name, last) = (
        &shorter.0.buffers.last().expect("last").name,
        run.buffers.last().expect("last").len() - 1,
    );
    assert_eq!(
        finding.message,
        format!("1 bytes of buffer `{name}` that nothing binds changed, the first at byte {last}")
    );
}

#[test]
fn a_write_past_a_buffer_changes_nothing_else_or_is_found() {
    for robustness in [Robustness::Off, Robustness::Basic, Robustness::Best] {
        let Some(mut engine) = engine_with(Settings { robustness, ..settings() }) else { return };
        let source = "#version 450
            layout(local_size_x = 1) in;
            layout(set = 0, binding = 0) buffer A { uint a[]; };
            layout(set = 0, binding = 1) buffer B { uint b[]; };
            void main() { for (uint i = 0; i < 40; i++) a[i] = 7; b[0] = a[30]; }";
        let run = Bench::new(source, &[&[0; 4], &[9; 4]]).run(&mut engine);
        assert_eq!(run.completion, Completion::Completed);
        assert_eq!(words(&run.buffers[0]), [7; 4]);
        let found = run.findings.iter().any(|finding| finding.kind == FindingKind::OutOfBounds);
        let b = words(&run.buffers[1]);
        assert_eq!(b[1..], [9; 3], "another buffer is out of reach");
        // Robust: the write is dropped and the read gives 0, or the guard zone tells.
        assert!(found || b[0] == 0, "found: {found}, read: {}", b[0]);
    }
}

/// A write and a read beyond the bound range, within the buffer.
#[test]
fn strict_robustness_ends_at_the_bound_range() {
    let strict = Settings { robustness: Robustness::Strict, ..settings() };
    let Some(mut engine) = engine_with(strict) else { return };
    let source = "#version 450
        layout(local_size_x = 1) in;
        layout(set = 0, binding = 0) buffer A { uint a[]; };
        layout(set = 0, binding = 1) buffer B { uint b[]; };
        void main() { for (uint i = 4; i < 40; i++) a[i] = 7; b[0] = a[5]; b[1] = a[3]; }";
    let bench = Bench::new(source, &[&[1, 2, 3, 4, 5, 6, 7, 8], &[9; 4]]);
    let run = bench.with(|dispatch| dispatch.bindings[0].range = 16).run(&mut engine);
    let identity = engine.identity();
    match &run.completion {
        Completion::Unsupported { what } => {
            assert_eq!(
                what,
                "robustness `strict` (feature robustBufferAccess2 of VK_EXT_robustness2)"
            );
            assert_eq!(identity["robustBufferAccess2"], "off");
        }
        completion => {
            assert_eq!(*completion, Completion::Completed);
            assert_eq!(identity["robustBufferAccess2"], "on");
            // 16 is a multiple of every alignment that the specification permits for storage
            // buffers (1 and 4).
            let alignment = &identity["robustStorageBufferAccessSizeAlignment"];
            assert!(["1", "4"].contains(&alignment.as_str()), "{alignment}");
            assert_eq!(words(&run.buffers[0]), [1, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(words(&run.buffers[1]), [0, 4, 9, 9]);
            assert_eq!(run.findings, []);
        }
    }
}

#[test]
fn the_identity_says_which_robustness_is_on() {
    for robustness in [Robustness::Off, Robustness::Basic, Robustness::Strict, Robustness::Best] {
        let Some(mut engine) = engine_with(Settings { robustness, ..settings() }) else { return };
        let identity = engine.identity();
        let on = |name: &str| match identity[name].as_str() {
            "on" => true,
            "off" => false,
            other => panic!("{name}: {other}"),
        };
        assert_eq!(on("robustBufferAccess"), robustness != Robustness::Off);
        let strict = [on("robustBufferAccess2"), on("robustImageAccess2")];
        match robustness {
            Robustness::Off | Robustness::Basic => assert_eq!(strict, [false, false]),
            // lavapipe offers both.
            Robustness::Strict | Robustness::Best if engine.device().name.contains("llvmpipe") => {
                assert_eq!(strict, [true, true]);
            }
            Robustness::Strict => {}
            Robustness::Best => assert_eq!(strict[0], strict[1]),
        }
        assert_eq!(identity.get("messages at start"), None);
        match add().run(&mut engine).completion {
            Completion::Unsupported { what } => {
                assert!(robustness == Robustness::Strict && !strict[0], "{what}");
            }
            completion => assert_eq!(completion, Completion::Completed),
        }
    }
}

const BYTES: &str = "#version 450
    #extension GL_EXT_shader_8bit_storage : require
    layout(local_size_x = 4) in;
    layout(set = 0, binding = 0) buffer A { uint8_t a[]; };
    layout(set = 0, binding = 1) buffer B { uint b[]; };
    void main() { uint i = gl_LocalInvocationID.x; b[i] = uint(a[i]); a[i] = uint8_t(i); }";

const ADDRESS: &str = "#version 450
    #extension GL_EXT_buffer_reference : require
    layout(local_size_x = 1) in;
    layout(buffer_reference, std430) buffer Words { uint words[]; };
    layout(push_constant) uniform P { Words list; };
    layout(set = 0, binding = 0) buffer A { uint a[]; };
    void main() { a[0] = list.words[0]; }";

/// Devices of older versions have in extensions what later ones have in their core; the validation
/// layer sees each chain.
#[test]
fn each_api_version_runs_what_it_has_and_names_what_it_lacks() {
    let limits = [Some((1, 1)), Some((1, 2)), Some((1, 3)), Some((1, 4)), None];
    for api_limit in limits {
        let Some(mut engine) = engine_with(Settings { api_limit, ..settings() }) else { return };
        let identity = engine.identity();
        let used = identity["api version in use"].clone();
        let minor: u32 = used.split('.').nth(1).unwrap().parse().unwrap();
        assert!(api_limit.is_none_or(|(_, most)| minor <= most), "{used} within {api_limit:?}");
        assert_eq!(identity.get("messages at start"), None, "{used}");
        adds(&mut engine);
        if !engine.device().name.contains("llvmpipe") {
            continue;
        }
        assert_eq!(minor, api_limit.map_or(3, |(_, most)| most.min(3)), "{used}");
        let run = Bench::new(BYTES, &[&[0x0403_0201], &[0; 4]]).output(&mut engine, 1);
        assert_eq!(run, [1, 2, 3, 4], "8-bit storage with Vulkan {used}");
        assert_eq!(identity["robustImageAccess"], "on", "image robustness with Vulkan {used}");
        let sized = add().with(|dispatch| dispatch.subgroup_size = Some(8));
        assert_eq!(
            sized.run(&mut engine).completion,
            Completion::Completed,
            "subgroup size with Vulkan {used}"
        );
        let newest = Bench::of(compile_for(ADD, shaderc::EnvVersion::Vulkan1_3), &[&[1], &[2]])
            .run(&mut engine);
        let expected = match minor {
            1 => Some("SPIR-V 1.6 (the device takes up to 1.4 with Vulkan 1.1)"),
            2 => Some("SPIR-V 1.6 (the device takes up to 1.5 with Vulkan 1.2)"),
            _ => None,
        };
        assert_eq!(unsupported(&newest), expected);
        let address = Bench::of(compile_for(ADDRESS, shaderc::EnvVersion::Vulkan1_1), &[&[0; 4]]);
        let address = address.with(|dispatch| dispatch.push_constants = vec![0; 8]);
        let lack = (minor == 1)
            .then_some("capability PhysicalStorageBufferAddresses (feature bufferDeviceAddress)");
        if lack.is_some() {
            assert_eq!(unsupported(&address.run(&mut engine)), lack);
        }
        assert_eq!(engine.close().expect("the worker ends in order"), [], "Vulkan {used}");
    }
}

fn unsupported(run: &Run) -> Option<&str> {
    match &run.completion {
        Completion::Unsupported { what } => Some(what),
        Completion::Completed => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_capability_is_named_before_anything_runs() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        #extension GL_KHR_cooperative_matrix : require
        #extension GL_KHR_memory_scope_semantics : require
        #extension GL_EXT_shader_explicit_arithmetic_types_float32 : require
        layout(local_size_x = 8) in;
        layout(set = 0, binding = 0) buffer A { float a[]; };
        void main() {
            coopmat<float32_t, gl_ScopeSubgroup, 8, 8, gl_MatrixUseAccumulator> m =
                coopmat<float32_t, gl_ScopeSubgroup, 8, 8, gl_MatrixUseAccumulator>(1.0);
            coopMatStore(m, a, 0, 8, gl_CooperativeMatrixLayoutRowMajor);
        }";
    let module = compile_for(source, shaderc::EnvVersion::Vulkan1_3);
    let run = Bench::of(module, &[&[0; 64]]).run(&mut engine);
    if let Completion::Unsupported { what } = run.completion {
        assert_eq!(what, "capability CooperativeMatrixKHR (feature cooperativeMatrix)");
        assert!(run.buffers.is_empty());
    } else {
        assert!(!engine.device().name.contains("llvmpipe"), "{:?}", run.completion);
    }
}

#[test]
fn limits_and_contradictions_are_named() {
    let Some(mut engine) = engine() else { return };
    let limits = engine.device().limits.clone();
    let [_, most, _] = limits.workgroup_count;
    let push = limits.push_constants;
    let alignment = limits.storage_alignment;
    type Change = fn(&mut JobDispatch);
    let mut cases: Vec<(Change, String)> = vec![
        (
            |d| d.push_constants = vec![0; 4096],
            format!("unsupported 4096 bytes of push constants (maxPushConstantsSize is {push})"),
        ),
        (
            |d| d.bindings[0].set = 99,
            format!("unsupported descriptor set 99 (maxBoundDescriptorSets is {})", limits.descriptor_sets),
        ),
        (
            |d| d.bindings[0].class = DescriptorClass::StorageImage,
            "error set 0, binding 0 is bound as storage_image, and the job binds something else there".to_owned(),
        ),
        (|d| d.bindings[0].range = 0, "unsupported a descriptor range of 0 bytes (set 0, binding 0)".to_owned()),
        (|d| d.bindings[0].range = 21, "error set 0, binding 0 reaches beyond its buffer of 20 bytes".to_owned()),
        (|d| d.bindings[0].buffer = 9, "error set 0, binding 0 names a buffer that the job does not have".to_owned()),
        (
            |d| d.bindings[0].class = DescriptorClass::Uniform,
            "error the kernel declares `A` (set 0, binding 0) as storage, and the test binds another class".to_owned(),
        ),
        (
            |d| d.bindings.truncate(1),
            "error the kernel uses `B` (set 0, binding 1), and the test binds no buffer there".to_owned(),
        ),
        (
            |d| d.bindings[1].array_index = 1,
            "unsupported descriptor array set 0, binding 1 with element 0 unbound".to_owned(),
        ),
        (|d| d.bindings[1] = d.bindings[0].clone(), "error element 0 of set 0, binding 0 is bound twice".to_owned()),
        (
            |d| d.specialization = BTreeMap::from([(4, 1)]),
            "error the module has no specialization constant with id 4".to_owned(),
        ),
        (|d| d.entry = "other".to_owned(), "error kernel `k` has no entry point `other`".to_owned()),
        (|d| d.subgroup_size = Some(3), String::new()),
    ];
    if most < u32::MAX {
        cases.push((
            |d| d.groups = [1, u32::MAX, 1],
            format!(
                "unsupported {} workgroups in y (maxComputeWorkGroupCount is {most})",
                u32::MAX
            ),
        ));
    }
    if alignment > 4 {
        let expected = format!(
            "unsupported offset 4 (set 0, binding 0; minStorageBufferOffsetAlignment is {alignment})"
        );
        cases.push((|d| (d.bindings[0].offset, d.bindings[0].range) = (4, 8), expected));
    }
    for (change, expected) in cases {
        let said = match add().with(change).run(&mut engine).completion {
            Completion::Unsupported { what } => format!("unsupported {what}"),
            Completion::Error { reason } => format!("error {reason}"),
            other => panic!("{other:?} where `{expected}` is due"),
        };
        let said = said.replace("`a`", "`A`").replace("`b`", "`B`");
        assert!(
            said == expected
                || expected.is_empty() && said.starts_with("unsupported subgroup size 3"),
            "{said}"
        );
    }
    adds(&mut engine);
}

#[test]
fn the_subgroup_size_that_is_asked_for_is_the_one_that_runs() {
    let Some(mut engine) = engine() else { return };
    let source = "#version 450
        #extension GL_KHR_shader_subgroup_basic : require
        layout(local_size_x = 128) in;
        layout(set = 0, binding = 0) buffer A { uint a[1]; };
        void main() { if (gl_LocalInvocationIndex == 0) a[0] = gl_SubgroupSize; }";
    let ask =
        |size| Bench::new(source, &[&[0]]).with(|dispatch| dispatch.subgroup_size = Some(size));
    match engine.device().subgroup_size_range {
        Some([least, most]) => {
            assert_eq!(ask(least).output(&mut engine, 0), [least]);
            let Completion::Unsupported { what } = ask(most * 2).run(&mut engine).completion else {
                panic!("runs")
            };
            assert_eq!(
                what,
                format!("subgroup size {} (the device offers {least} to {most})", most * 2)
            );
        }
        None => {
            let Completion::Unsupported { what } = ask(32).run(&mut engine).completion else {
                panic!("runs")
            };
            assert_eq!(what, "subgroup size 32 (feature subgroupSizeControl)");
        }
    }
}

#[test]
fn buffers_beyond_the_memory_limit_are_not_sent() {
    let Some(mut engine) = engine() else { return };
    let run = add().job(|job| job.limits.memory_bytes = 39).run(&mut engine);
    assert!(matches!(run.completion, Completion::Undetermined { .. }), "{:?}", run.completion);
}

/// Writes records as an instrumented module does: answers the nonce, sets the bits of the push
/// constant.
fn recording(answer: &str) -> Bench {
    let source = format!(
        "#version 450
        layout(local_size_x = 4) in;
        layout(push_constant) uniform P {{ uint bits; }};
        layout(set = 0, binding = 0) buffer A {{ uint a[4]; }};
        layout(set = 3, binding = 2) buffer R {{ uint nonce; uint canary; uint size[6]; uint data[]; }};
        void main() {{
            a[gl_LocalInvocationID.x] += 1;
            if (gl_LocalInvocationID.x == 3) {{ {answer} atomicOr(data[1], bits); }}
        }}"
    );
    let layout = RecordLayout { decisions: Vec::new(), marks: (0..96).collect(), bits: 96 };
    Bench::new(&source, &[&[0; 4]]).job(|job| {
        job.modules[0].recording = ModuleRecording::Buffer(RecordBuffer {
            set: 3,
            binding: 2,
            words: 3,
            layout,
            mode: RecordMode::Direct,
            witnesses: Witnesses::Omitted,
            copies: 1,
        });
        job.dispatches[0].push_constants = bytes(&[0b100]);
        let mut second = job.dispatches[0].clone();
        second.push_constants = bytes(&[0x8000_0001]);
        job.dispatches.push(second);
    })
}

#[test]
fn records_are_united_over_the_dispatches_of_a_kernel() {
    let Some(mut engine) = engine() else { return };
    let run = recording(&format!("canary = nonce ^ {CANARY}u;")).run(&mut engine);
    assert_eq!(run.completion, Completion::Completed);
    assert_eq!(run.findings, []);
    assert_eq!(run.records[&"k".into()].words, [0, 0x8000_0101 & 0x8000_0005 | 0b100, 0]);
    assert!(run.records[&"k".into()].witnesses.is_empty());
    assert_eq!(words(&run.buffers[0]), [2; 4]);
    assert_eq!(run.buffers.len(), 1, "the record buffer is not the test's");
}

#[test]
fn records_without_the_right_answer_are_refused() {
    let Some(mut engine) = engine() else { return };
    let not_written = "the canary word was not written";
    for (answer, why) in [
        ("", not_written),
        ("canary = nonce;", not_written),
        (&format!("canary = {CANARY}u;"), not_written),
        ("nonce = 5;", "the nonce was overwritten"),
    ] {
        let run = recording(answer).run(&mut engine);
        let expected = format!("records cannot be trusted: dispatch 0 of kernel `k`: {why} (0x");
        let Completion::Undetermined { reason } = &run.completion else {
            panic!("{answer}: {:?}", run.completion)
        };
        assert!(reason.starts_with(&expected), "{answer}: {reason}");
        assert!(run.records.is_empty());
        assert_eq!(words(&run.buffers[0]), [2; 4], "the outputs are there all the same");
    }
}

#[test]
fn records_with_a_bit_that_stands_for_nothing_are_refused() {
    let Some(mut engine) = engine() else { return };
    let answer = format!("canary = nonce ^ {CANARY}u; data[2] = 1u;");
    let bench = recording(&answer).job(|job| {
        let ModuleRecording::Buffer(buffer) = &mut job.modules[0].recording else {
            panic!("records in a buffer")
        };
        buffer.layout.marks.retain(|bit| *bit != 64);
    });
    let run = bench.run(&mut engine);
    let Completion::Undetermined { reason } = &run.completion else {
        panic!("{:?}", run.completion)
    };
    assert!(
        reason.ends_with("the record buffer has bit 64 set, which stands for nothing"),
        "{reason}"
    );
    assert!(run.records.is_empty());
}

#[test]
fn records_with_an_overwritten_header_are_refused() {
    let Some(mut engine) = engine() else { return };
    let run = recording(&format!("canary = nonce ^ {CANARY}u; size[3] = 0u;")).run(&mut engine);
    let Completion::Undetermined { reason } = &run.completion else {
        panic!("{:?}", run.completion)
    };
    assert!(reason.contains("word 5 of the record buffer's header was overwritten"), "{reason}");
}

#[test]
fn a_missing_driver_or_program_is_no_device() {
    let nowhere = "/nonexistent/icd.json".to_owned();
    let environment =
        ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"].map(|name| (name.to_owned(), nowhere.clone()));
    let without = Settings { environment: BTreeMap::from(environment), ..settings() };
    let error = VulkanExecutor::new(DeviceChoice::Best, without.clone()).err().expect("no device");
    let ExecError::NoDevice { reason, .. } = error else { panic!("{error}") };
    assert!(reason.starts_with("no device") || reason.starts_with("no Vulkan loader"), "{reason}");
    let listed = VulkanExecutor::devices(&without).expect_err("no device").to_string();
    assert!(listed.starts_with("no device") || listed.starts_with("no Vulkan loader"), "{listed}");
    let error = VulkanExecutor::new(DeviceChoice::Best, Settings::new("/nonexistent/vkcert"))
        .err()
        .expect("no worker");
    assert!(matches!(error, ExecError::NoDevice { .. }), "{error}");
}

#[test]
fn devices_are_listed_alike_in_this_process_and_in_a_worker() {
    let Some(engine) = engine() else { return };
    let here = devices().expect("a device");
    assert_eq!(VulkanExecutor::devices(&settings()).expect("a device"), here);
    assert!(here.contains(engine.device()));
    let missing = VulkanExecutor::new(DeviceChoice::parse("no such device"), settings())
        .err()
        .expect("refused");
    assert!(missing.to_string().contains("no device matches `no such device`"), "{missing}");
}

#[test]
fn an_orderly_end_leaves_nothing_undestroyed() {
    let Some(mut engine) = engine() else { return };
    adds(&mut engine);
    recording("").run(&mut engine);
    assert_eq!(engine.close().expect("closes"), []);
}

#[test]
fn two_jobs_are_measured_in_turn() {
    let Some(mut engine) =
        engine_with(Settings { validation: ValidationLayers::Off, ..settings() })
    else {
        return;
    };
    let source = "#version 450
        layout(local_size_x = 64) in;
        layout(push_constant) uniform P { uint rounds; };
        layout(set = 0, binding = 0) buffer A { uint a[]; };
        void main() {
            uint x = gl_GlobalInvocationID.x;
            for (uint i = 0; i < rounds; i++) x = x * 1664525 + 1013904223;
            a[gl_GlobalInvocationID.x] = x;
        }";
    let job = |rounds| {
        let bench = Bench::new(source, &[&[0; 4096]]);
        bench.with(|dispatch| {
            (dispatch.groups, dispatch.push_constants) = ([64, 1, 1], bytes(&[rounds]))
        })
    };
    let (short, long) = (job(10), job(20_000));
    let measured = engine.measure(&[&short.0, &long.0], 5).expect("measures");
    assert_eq!(measured.completion, Completion::Completed);
    let least = |times: &[vkcert::exec::vulkan::RunTime]| {
        times.iter().map(|time| time.wall).fold(f64::INFINITY, f64::min)
    };
    assert_eq!(measured.times.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5]);
    assert!(least(&measured.times[1]) > 2.0 * least(&measured.times[0]), "{:?}", measured.times);
    adds(&mut engine);
}

/// Prints figures; run with `--ignored --nocapture`.
#[test]
#[ignore = "measures, proves nothing"]
fn throughput_of_small_jobs() {
    for validation in [ValidationLayers::On, ValidationLayers::Off] {
        let start = Instant::now();
        let Some(mut engine) = engine_with(Settings { validation, ..settings() }) else { return };
        let opened = start.elapsed();
        adds(&mut engine);
        let (start, bench) = (Instant::now(), add());
        for _ in 0..2000 {
            bench.run(&mut engine);
        }
        let per_second = 2000.0 / start.elapsed().as_secs_f64();
        eprintln!("validation {validation:?}: start {opened:?}, {per_second:.0} jobs per second");
        let (mut compiling, mut running) = (Duration::ZERO, Duration::ZERO);
        for number in 0..50 {
            let start = Instant::now();
            let source = ADD.replace("+= a[i]", &format!("+= a[i] * {number}"));
            let bench = Bench::new(&source, &[&[1; 5], &[2; 5]]);
            compiling += start.elapsed();
            let start = Instant::now();
            bench.run(&mut engine);
            running += start.elapsed();
        }
        eprintln!(
            "  each of 50 different kernels: {:?} to compile, {:?} to run",
            compiling / 50,
            running / 50
        );
        let big = Bench::new(ADD, &[&vec![1; 4 << 20], &vec![2; 4 << 20]]);
        let start = Instant::now();
        for _ in 0..5 {
            big.run(&mut engine);
        }
        eprintln!("  32 MiB of buffers: {:?} per job", start.elapsed() / 5);
    }
}
