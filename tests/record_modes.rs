//! Every record mode records the same: the vectors that the sequential engine records natively, and
//! the same lowest witnesses. Each mode's module runs on the sequential engine, so that no driver
//! has a say, and on the device.

// A job's defined bytes are a list of ranges; here it has one.
#![allow(clippy::single_range_in_vec_init)]

use crate::device;
use crate::support;

use device::device;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use support::random_kernel::{Dice, INPUTS, LOCAL_SIZE, random_kernel};
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording, Run,
    RunRequest, Unobserved,
};
use vkcert::glsl::{self, KernelSource};
use vkcert::instrument::{
    DeviceParallelism, Instrumented, NotInstrumented, RecordRequest, RecordingDevice, instrument,
    instrument_as,
};
use vkcert::model::finding::Checks;
use vkcert::model::procedure::Limits;
use vkcert::model::records::{RecordMode, Records, Witnesses};
use vkcert::model::structure::KernelStructure;
use vkcert::spirv::module::Module;
use vkcert::spirv::validate::{self, TargetEnv};

/// A kernel with a dispatch of it.
struct Case {
    name: String,
    text: String,
    groups: [u32; 3],
    /// Contents by binding in set 0.
    buffers: Vec<Vec<u8>>,
    push_constants: Vec<u8>,
    specialization: BTreeMap<u32, u64>,
}

/// A marked kernel and what its instrumented modules are made of.
struct Kernel {
    case: Case,
    structure: KernelStructure,
    marked: Vec<u32>,
    module: Module,
    env: &'static str,
}

fn compile(case: Case, env: &'static str) -> Kernel {
    let source = KernelSource::alone(
        format!("{}.comp", case.name.replace(' ', "-")),
        case.text.clone(),
        env,
    );
    let compiled = glsl::compile(&source)
        .unwrap_or_else(|errors| panic!("{}: {errors:?}\n{}", case.name, case.text));
    let module = Module::parse(compiled.marked.clone()).unwrap();
    Kernel { case, structure: compiled.structure, marked: compiled.marked, module, env }
}

impl Kernel {
    /// The instrumented module of a mode, for a device with few invocations at once; none where the
    /// mode is refused.
    fn instrumented(&self, mode: RecordMode, witnesses: Witnesses) -> Option<Instrumented> {
        self.instrumented_for(mode, witnesses, DeviceParallelism::Few)
    }

    fn instrumented_for(
        &self,
        mode: RecordMode,
        witnesses: Witnesses,
        parallelism: DeviceParallelism,
    ) -> Option<Instrumented> {
        let device = RecordingDevice { parallelism, ..RecordingDevice::default() };
        let request = RecordRequest { mode: Some(mode), witnesses, device };
        let made = match instrument_as(&self.structure, &self.module, "main", &request) {
            Ok(made) => made,
            Err(NotInstrumented::Refused(refused)) => {
                assert_eq!(refused.mode, RecordMode::Subgroup, "{}: {refused}", self.case.name);
                return None;
            }
            Err(NotInstrumented::Defect(defect)) => panic!("{} {mode}: {defect}", self.case.name),
        };
        let env = TargetEnv::from_name(self.env).unwrap();
        validate::validate(&made.instrumented, env)
            .unwrap_or_else(|error| panic!("{} {mode}: {error}", self.case.name));
        Some(made)
    }

    fn job(&self, words: &[u32], recording: ModuleRecording) -> Job {
        let buffers: Vec<JobBuffer> = self
            .case
            .buffers
            .iter()
            .enumerate()
            .map(|(index, bytes)| JobBuffer {
                name: format!("binding {index}"),
                defined: vec![0..bytes.len()],
                bytes: bytes.clone().into(),
            })
            .collect();
        let bindings = buffers.iter().enumerate().map(|(index, buffer)| {
            JobBinding::storage(0, index as u32, index, buffer.bytes.len() as u64)
        });
        let dispatch = JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: self.case.groups,
            bindings: bindings.collect(),
            push_constants_defined: vec![0..self.case.push_constants.len()],
            push_constants: self.case.push_constants.clone(),
            specialization: self.case.specialization.clone(),
            subgroup_size: None,
        };
        Job {
            name: self.case.name.clone(),
            modules: vec![JobModule {
                key: "k".into(),
                words: Arc::new(words.to_vec()),
                recording,
            }],
            buffers,
            dispatches: vec![dispatch],
            // Drivers compile at the first dispatch, on machines that may be busy.
            resources: Default::default(),
            limits: Limits { seconds: 60.0, ..Limits::default() },
            checks: Checks::all(),
        }
    }

    fn run(&self, engine: &mut dyn Executor, made: &Instrumented) -> Run {
        let job = self.job(&made.instrumented, ModuleRecording::Buffer(made.record_buffer.clone()));
        engine
            .run(&job, &mut Unobserved)
            .unwrap_or_else(|error| panic!("{}: {error}", self.case.name))
    }

    fn native(&self) -> Run {
        let made = instrument(&self.structure, &self.module, "main").unwrap();
        let job = self.job(&self.marked, ModuleRecording::Markers(Arc::new(made.markers)));
        completed(self, SequentialExecutor::default().run(&job, &mut Unobserved).unwrap())
    }
}

fn completed(kernel: &Kernel, run: Run) -> Run {
    let Case { name, text, .. } = &kernel.case;
    assert_eq!(run.completion, Completion::Completed, "{name}: {:#?}\n{text}", run.findings);
    assert!(run.findings.is_empty(), "{name}: {:#?}\n{text}", run.findings);
    run
}

/// Who recorded each bit: on the sequential engine, natively at two tile widths and in slots, and
/// on a device in slots.
fn agree_on_who_recorded(kernel: &Kernel, device: Option<&mut VulkanExecutor>) {
    let native = instrument(&kernel.structure, &kernel.module, "main").unwrap();
    let slots = kernel.instrumented(RecordMode::Slots, Witnesses::Omitted).unwrap();
    let bits: BTreeSet<u32> = (0..native.markers.layout.bits).collect();
    let by_markers = kernel.job(&kernel.marked, ModuleRecording::Markers(Arc::new(native.markers)));
    let in_slots = kernel.job(&slots.instrumented, ModuleRecording::Buffer(slots.record_buffer));
    let who = |engine: &mut dyn Executor, job: &Job| {
        let (run, who) = engine.run_by_invocation(&RunRequest::once(job), &bits).unwrap();
        let run = completed(kernel, run);
        for bit in &bits {
            let anyone = who.values().any(|found| !found.by_bit[bit].is_empty());
            assert_eq!(
                anyone,
                run.records[&"k".into()].has(*bit),
                "{}: bit {bit}",
                kernel.case.name
            );
        }
        who
    };
    let mut engine = SequentialExecutor::default();
    let expected = who(&mut engine, &by_markers);
    assert_eq!(expected.len(), 1);
    // Slots tell of bits alone.
    let mut bits_alone = expected.clone();
    bits_alone.values_mut().for_each(|of| of.barriers.clear());
    assert_eq!(who(&mut engine, &in_slots), bits_alone, "{}: slots", kernel.case.name);
    engine.settings.tile_width = 1;
    assert_eq!(who(&mut engine, &by_markers), expected, "{}: one by one", kernel.case.name);
    if let Some(device) = device {
        assert_eq!(who(device, &in_slots), bits_alone, "{}: device", kernel.case.name);
    }
}

/// Every mode on the sequential engine, at two tile widths, gives outputs, records and witnesses of
/// the native run.
fn agree_on_the_sequential_engine(kernel: &Kernel) -> Run {
    let native = kernel.native();
    for (mode, _) in RecordMode::ALL {
        for (witnesses, tile_width, parallelism) in [
            (Witnesses::Omitted, 64, DeviceParallelism::Few),
            (Witnesses::Recorded, 64, DeviceParallelism::Few),
            (Witnesses::Recorded, 1, DeviceParallelism::Few),
            (Witnesses::Omitted, 64, DeviceParallelism::Thousands),
            (Witnesses::Recorded, 64, DeviceParallelism::Thousands),
        ] {
            let mut engine = SequentialExecutor::default();
            engine.settings.tile_width = tile_width;
            let Some(made) = kernel.instrumented_for(mode, witnesses, parallelism) else {
                continue;
            };
            let run = kernel.run(&mut engine, &made);
            let run = completed(kernel, run);
            let Case { name, text, .. } = &kernel.case;
            assert_eq!(run.buffers, native.buffers, "{name} {mode}: outputs\n{text}");
            same_records(
                &run.records[&"k".into()],
                &native.records[&"k".into()],
                witnesses,
                &format!("{name} {mode}\n{text}"),
            );
        }
    }
    native
}

fn same_records(records: &Records, native: &Records, witnesses: Witnesses, what: &str) {
    assert_eq!(records.words, native.words, "vectors: {what}");
    match witnesses {
        Witnesses::Omitted => assert!(records.witnesses.is_empty(), "{what}"),
        Witnesses::Recorded => assert_eq!(records.witnesses, native.witnesses, "witnesses: {what}"),
    }
}

/// What the modes do on the device otherwise than the native run, by mode.
fn differences_on(
    kernel: &Kernel,
    engine: &mut VulkanExecutor,
    native: &Run,
) -> BTreeMap<String, Records> {
    let mut differing = BTreeMap::new();
    for (mode, _) in RecordMode::ALL {
        let all = [Witnesses::Omitted, Witnesses::Recorded].map(|witnesses| {
            [DeviceParallelism::Few, DeviceParallelism::Thousands]
                .map(|parallelism| (witnesses, parallelism))
        });
        for (witnesses, parallelism) in all.into_iter().flatten() {
            let Some(made) = kernel.instrumented_for(mode, witnesses, parallelism) else {
                continue;
            };
            let run = completed(kernel, kernel.run(engine, &made));
            let records = &run.records[&"k".into()];
            let expected = &native.records[&"k".into()];
            let witnessed =
                witnesses == Witnesses::Omitted || records.witnesses == expected.witnesses;
            if records.words != expected.words || !witnessed || run.buffers != native.buffers {
                differing.insert(
                    format!("{mode}, witnesses {witnesses:?}, {parallelism:?}"),
                    records.clone(),
                );
            }
        }
    }
    differing
}

fn random_case(seed: u64) -> Case {
    let mut dice = Dice(seed ^ 0xABCD);
    let inputs: Vec<u8> =
        (0..INPUTS).flat_map(|_| ((dice.roll() % 40) as u32).to_le_bytes()).collect();
    let groups = [3, 1, 1];
    let outputs = vec![0_u8; (groups[0] * LOCAL_SIZE * 4) as usize];
    let mut push_constants = Vec::new();
    push_constants.extend(((dice.roll() % 12) as u32).to_le_bytes());
    push_constants.extend(((dice.roll() % 12) as i32 - 4).to_le_bytes());
    push_constants.extend(((dice.roll() % 16) as f32 * 0.5).to_le_bytes());
    Case {
        name: format!("seed {seed}"),
        text: random_kernel(seed).text,
        groups,
        buffers: vec![inputs, outputs, vec![0; 4]],
        push_constants,
        specialization: BTreeMap::from([(0, dice.roll() % 7)]),
    }
}

/// How many kernels; `make soak` asks for more.
fn count() -> u64 {
    std::env::var("VKCERT_RANDOM_KERNELS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

/// Whether a driver is known to run the kernel of a seed wrongly (`tests/agreement_known.txt`).
fn known(seed: u64, driver: &str) -> bool {
    let lines = include_str!("agreement_known.txt").lines().filter(|line| !line.starts_with('#'));
    let mut rows = lines.filter_map(|line| {
        let mut parts = line.split(" | ");
        Some((parts.next()?.parse::<u64>().ok()?, parts.next()?))
    });
    rows.any(|(number, part)| number == seed && driver.contains(part))
}

#[test]
fn every_mode_records_what_the_sequential_engine_records_natively() {
    for seed in 1..=count() {
        agree_on_the_sequential_engine(&compile(random_case(seed), "vulkan1.1"));
    }
}

#[test]
fn native_records_and_slots_tell_the_same_invocations() {
    for seed in 1..=count().div_ceil(4) {
        agree_on_who_recorded(&compile(random_case(seed), "vulkan1.1"), None);
    }
}

#[test]
fn every_mode_records_the_same_on_the_device() {
    let Some(mut engine) = device() else { return };
    let driver = format!("{:?}", engine.identity());
    let mut failures = Vec::new();
    for seed in 1..=count().div_ceil(8) {
        let kernel = compile(random_case(seed), "vulkan1.1");
        let native = kernel.native();
        let differing = differences_on(&kernel, &mut engine, &native);
        if !differing.is_empty() && known(seed, &driver) {
            println!("seed {seed}: a known defect of the driver");
        } else if !differing.is_empty() {
            failures.push(format!("seed {seed}: {:?}", differing.keys()));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Decisions of every kind of numbering: chains longer than a word, sums that fit a word and sums
/// that do not; in functions, loops with breaks, switches and behind early returns; workgroups in
/// three dimensions.
fn wide() -> Case {
    let terms = |operator: &str, count: u32, term: &str| {
        let terms: Vec<String> = (0..count).map(|n| term.replace('#', &n.to_string())).collect();
        terms.join(operator)
    };
    let chain = terms(" && ", 40, "u % 45u != #u");
    let parity = terms(" ^^ ", 7, "(u >> #u & 1u) == 1u");
    let pairs = terms(" || ", 4, "(u >> #u & 1u) == 1u && (v >> #u & 1u) == 0u");
    let text = format!(
        "#version 450
        layout(local_size_x = 4, local_size_y = 2, local_size_z = 2) in;
        layout(set = 0, binding = 0) buffer A {{ uint a[]; }};
        bool chain(uint u) {{ if ({chain}) return true; return false; }}
        uint parity(uint u, uint v) {{
            if ({parity}) v++;
            for (uint k = 0u; k < u % 5u; k++) {{ if (({pairs}) && k != v % 3u) break; if (k == 2u) continue; v += k; }}
            return v;
        }}
        void main() {{
            uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize;
            uint i = (gl_GlobalInvocationID.z * size.y + gl_GlobalInvocationID.y) * size.x + gl_GlobalInvocationID.x;
            uint u = a[i] * 2654435761u >> 20;
            if (u % 7u == 3u || u % 11u == 5u && chain(u)) {{ a[i] = 1u; return; }}
            uint v = parity(u, i);
            switch (v % 4u) {{ case 0u: v++; case 1u: v += 2u; break; case 2u: a[i] = v; return; }}
            do {{ v = v / 2u; }} while (v > 9u && !chain(v));
            a[i] = v > u ? u : v;
        }}"
    );
    let invocations = 3 * 4 * 3 * 2 * 2 * 2;
    let words = (0..invocations).flat_map(|index: u32| (index * 7 + 1).to_le_bytes()).collect();
    let name = "wide".to_owned();
    let (push_constants, specialization) = (Vec::new(), BTreeMap::new());
    Case { name, text, groups: [3, 3, 2], buffers: vec![words], push_constants, specialization }
}

#[test]
fn wide_decisions_and_three_dimensions_are_recorded_in_every_mode() {
    let mut engine = device();
    for env in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let kernel = compile(wide(), env);
        let native = agree_on_the_sequential_engine(&kernel);
        let layout =
            kernel.instrumented(RecordMode::Private, Witnesses::Omitted).unwrap().markers.layout;
        assert!(layout.decisions.iter().any(|slot| slot.size == 128), "a sum beyond a word");
        assert!(layout.decisions.iter().any(|slot| slot.size == 41), "a chain beyond a word");
        assert!(
            native.records[&"k".into()].witnesses.len() > 60,
            "{:?}",
            native.records[&"k".into()].witnesses.len()
        );
        agree_on_who_recorded(&kernel, engine.as_mut());
        if let Some(engine) = &mut engine {
            let differing = differences_on(&kernel, engine, &native);
            assert!(differing.is_empty(), "{env}: {:?}", differing.keys());
        }
    }
}

#[test]
fn slots_beyond_the_memory_limit_are_refused_by_name() {
    let kernel = compile(wide(), "vulkan1.1");
    let made = kernel.instrumented(RecordMode::Slots, Witnesses::Omitted).unwrap();
    let mut job =
        kernel.job(&made.instrumented, ModuleRecording::Buffer(made.record_buffer.clone()));
    job.limits.memory_bytes = 4096;
    let mut engines: Vec<Box<dyn Executor>> = vec![Box::new(SequentialExecutor::default())];
    engines.extend(device().map(|engine| Box::new(engine) as Box<dyn Executor>));
    for mut engine in engines {
        let run = engine.run(&job, &mut Unobserved).unwrap();
        let Completion::Undetermined { reason } = run.completion else {
            panic!("{:?}", run.completion)
        };
        assert!(reason.contains("4096"), "{reason}");
        assert!(run.records.is_empty());
    }
}
