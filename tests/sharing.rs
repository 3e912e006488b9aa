//! Workgroups on several cores leave what one core leaves: buffers, findings with counts and
//! witnesses, records, operands, counts, notes, completion, and what an observer sees. Here
//! workgroups are dealt to workers however small a dispatch is.

// A job's defined bytes are a list of ranges; here it has one.
#![allow(clippy::single_range_in_vec_init)]

use crate::compiled;
use crate::filetest;
use crate::support;

use filetest::{Buffer, FileTest};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use support::random_kernel::random_kernel;
use vkcert::exec::prepare::prepare_test;
use vkcert::exec::sequential::{
    Jobs, MemoryModel, SequentialExecutor, SequentialRun, Settings, Tally,
};
use vkcert::exec::{Completion, Job, JobBinding, ModuleRecording, Observer};
use vkcert::glsl::{self, KernelSource};
use vkcert::instrument::{self, Instrumented};
use vkcert::model::finding::{Checks, Finding, FindingKind};
use vkcert::model::procedure::DescriptorClass;
use vkcert::requirement::load_procedure;
use vkcert::spirv::module::Module;

const fn dealt(workers: usize, alone: u64, batch: u64) -> Jobs {
    Jobs::Dealt { workers, alone, batch }
}

const WAYS: [Jobs; 6] = [
    dealt(1, 0, 1),
    dealt(2, 0, 1),
    dealt(2, 1, 1),
    dealt(3, 1, 2),
    dealt(7, 0, 1),
    dealt(3, 2, 5),
];

/// What an observer sees, in order.
#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<String>);

impl Observer for Seen {
    fn dispatch_started(&mut self, index: usize) {
        self.0.push(format!("dispatch {index}"));
    }
    fn workgroup_completed(&mut self, workgroup: [u32; 3]) {
        self.0.push(format!("workgroup {workgroup:?}"));
    }
    fn finding(&mut self, finding: &Finding) {
        self.0.push(format!("{finding:?}"));
    }
}

fn outcome(job: &Job, settings: Settings) -> (SequentialRun, Seen, Tally) {
    let engine = SequentialExecutor::new(settings);
    let mut seen = Seen::default();
    let run = engine.run_with_lowering_counts(job, &mut seen).expect("the engine does not fail");
    (run, seen, engine.tally())
}

/// Runs a job on one core and in every way on several; gives the run, and dispatches shared and
/// found to be dependent.
fn alike_with(
    job: &Job,
    settings: Settings,
    what: &dyn Fn() -> String,
) -> (SequentialRun, u64, u64) {
    let (alone, events, tally) = outcome(job, Settings { jobs: Jobs::One, ..settings });
    assert_eq!((tally.shared, tally.dependent), (0, 0));
    let (mut shared, mut dependent) = (0, 0);
    for jobs in WAYS {
        let (run, seen, tally) = outcome(job, Settings { jobs, ..settings });
        assert_eq!(run, alone, "{} {jobs:?}\n{}", job.name, what());
        assert_eq!(seen, events, "{} {jobs:?}\n{}", job.name, what());
        shared += tally.shared;
        dependent += tally.dependent;
    }
    (alone, shared, dependent)
}

fn alike(job: &Job) -> (SequentialRun, u64, u64) {
    alike_with(job, Settings::default(), &String::new)
}

fn buffer(binding: u32, words: Vec<Option<u32>>) -> Buffer {
    Buffer { binding, class: DescriptorClass::Storage, words, range: None }
}

fn job(name: &str, text: &str, groups: [u32; 3], buffers: Vec<Vec<Option<u32>>>) -> Job {
    let buffers =
        buffers.into_iter().zip(0..).map(|(words, binding)| buffer(binding, words)).collect();
    let words = filetest::compile(name, text);
    FileTest { name: name.to_owned(), words, groups, buffers, ..FileTest::default() }.job()
}

fn zeros(count: usize) -> Vec<Option<u32>> {
    vec![Some(0); count]
}

#[test]
fn file_tests_leave_the_same_on_several_cores() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/run");
    let (mut shared, mut dependent, mut findings) = (0, 0, 0);
    for test in FileTest::read_all(&folder) {
        let memory_model =
            if test.spec_memory_model { MemoryModel::Spec } else { MemoryModel::Idiom };
        for (checks, tile_width) in [(Checks::all(), 64), (Checks::none(), 64), (Checks::all(), 3)]
        {
            let settings = Settings { memory_model, tile_width, ..Settings::default() };
            let (run, yes, no) = alike_with(&Job { checks, ..test.job() }, settings, &String::new);
            shared += yes;
            dependent += no;
            findings += run.run.findings.len();
        }
    }
    assert!(shared > 200 && dependent > 20 && findings > 100, "{shared} {dependent} {findings}");
}

#[test]
fn kernels_of_procedures_leave_the_same_on_several_cores() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut shared = 0;
    for path in entries {
        let procedure =
            load_procedure(&path).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        let kernels = compiled::kernels(&procedure);
        for test in &procedure.tests {
            let prepared = prepare_test(test, &compiled::setting(&kernels, &procedure.base));
            let job = prepared.unwrap_or_else(|error| panic!("{}: {error:?}", path.display())).job;
            shared += alike(&job).1;
        }
    }
    assert!(shared > 50, "{shared}");
}

fn measured(name: &str, text: &str) -> (Vec<u32>, Instrumented) {
    let source = KernelSource::alone(format!("{name}.comp"), text, "vulkan1.1");
    let compiled = glsl::compile(&source).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let marked = Module::parse(compiled.marked.clone()).unwrap();
    let made = instrument::instrument(&compiled.structure, &marked, "main").unwrap();
    (compiled.marked, made)
}

/// The job with the marked and with the instrumented module of its kernel.
fn recording(job: &Job, text: &str) -> [Job; 2] {
    let (marked, made) = measured(&job.name, text);
    let with = |words: Vec<u32>, recording| {
        let mut job = job.clone();
        job.modules[0].words = Arc::new(words);
        job.modules[0].recording = recording;
        job
    };
    [
        with(marked, ModuleRecording::Markers(Arc::new(made.markers))),
        with(made.instrumented, ModuleRecording::Buffer(made.record_buffer)),
    ]
}

#[test]
fn records_witnesses_and_operands_are_those_of_the_lowest_invocations() {
    let text = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { float a[]; };
layout(std430, set = 0, binding = 1) buffer R { float r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[(i * 7u) % 32u], y = a[(i * 5u + 3u) % 32u];
    for (uint k = 0u; k < i % 5u; k++) {
        if ((x > 9.5 && y < 20.0) || x + y > 40.5) r[i] += 1.0; else r[i] -= y;
        x += 3.5;
    }
}
";
    let inputs = (0..32u32).map(|at| Some((at as f32).to_bits())).collect();
    let job = job("operands", text, [8, 1, 1], vec![inputs, zeros(32)]);
    let [marked, instrumented] = recording(&job, text);
    let (run, shared, dependent) = alike(&marked);
    let records = &run.run.records[&"operands".into()];
    assert!(
        records.operands.len() >= 4 && records.witnesses.values().any(|id| id[0] > 4),
        "{records:?}"
    );
    assert_eq!((shared, dependent), (WAYS.len() as u64, 0));
    // Records in a buffer are looked at before they are set, so that they go to one core.
    let (run, _, dependent) = alike(&instrumented);
    assert_eq!(run.run.records[&"operands".into()].words, records.words);
    assert!(dependent > 0);
}

#[test]
fn random_kernels_leave_the_same_on_several_cores() {
    let mut shared = 0;
    for seed in 1..=30 {
        let text = random_kernel(seed).text;
        let (marked, made) = measured("random", &text);
        let mut test = FileTest {
            name: "random".to_owned(),
            words: marked,
            groups: [5, 1, 1],
            ..FileTest::default()
        };
        let inputs = (0..support::random_kernel::INPUTS).map(|at| Some(at * 7 % 40)).collect();
        let outputs = zeros(5 * support::random_kernel::LOCAL_SIZE as usize);
        test.buffers = vec![buffer(0, inputs), buffer(1, outputs), buffer(2, zeros(1))];
        test.push = vec![Some(5), Some(2), Some(2.5f32.to_bits())];
        let mut job = test.job();
        job.modules[0].recording = ModuleRecording::Markers(Arc::new(made.markers));
        shared += alike_with(&job, Settings::default(), &|| text.clone()).1;
    }
    assert!(shared > 0, "{shared}");
}

const HISTOGRAM: &str = "#version 450
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer H { uint sum[4]; uint low; int least; uint bits; uint flips; uint all; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    atomicAdd(sum[i % 4u], i);
    atomicMin(low, 100u - i);
    atomicMax(least, int(i) - 50);
    atomicOr(bits, 1u << (i % 9u));
    atomicXor(flips, i);
    atomicAnd(all, ~(1u << (i % 7u)));
}
";

#[test]
fn atomics_whose_results_are_not_used_come_together() {
    let mut start = zeros(9);
    start[4] = Some(1000);
    start[5] = Some(-1000i32 as u32);
    start[8] = Some(u32::MAX);
    let (run, shared, dependent) = alike(&job("histogram", HISTOGRAM, [8, 1, 1], vec![start]));
    let words: Vec<u32> = run.run.buffers[0]
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let sums: Vec<u32> = (0..4).map(|bin| (0..64).filter(|i| i % 4 == bin).sum()).collect();
    assert_eq!(words[..4], sums);
    let flips = (0..64).fold(0, |all, i| all ^ i);
    assert_eq!(words[4..], [37, 13, 0x1ff, flips, u32::MAX << 7]);
    assert_eq!((shared, dependent), (WAYS.len() as u64, 0));
    // Nobody wrote the words: who comes first is told so, and only he.
    let (run, shared, dependent) =
        alike(&job("histogram", HISTOGRAM, [8, 1, 1], vec![vec![None; 9]]));
    assert_eq!(
        run.run.findings.iter().map(|one| one.count).sum::<u64>(),
        9,
        "{:?}",
        run.run.findings
    );
    assert!(dependent > 0 && shared < WAYS.len() as u64, "{shared} {dependent}");
}

#[test]
fn a_used_result_of_an_atomic_goes_to_one_core() {
    let text = "#version 450
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) buffer N { uint next; uint list[]; };
void main() { list[atomicAdd(next, 1u)] = gl_GlobalInvocationID.x; }
";
    let (run, _, dependent) = alike(&job("queue", text, [5, 1, 1], vec![zeros(11)]));
    assert_eq!(run.run.buffers[0][4..8], [0; 4]);
    assert_eq!(run.run.buffers[0][40..], 9u32.to_le_bytes());
    assert_eq!(dependent, WAYS.len() as u64 - 1);
}

#[test]
fn races_between_workgroups_are_found_with_their_first_witnesses() {
    let text = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
layout(std430, set = 0, binding = 1) buffer S { uint s[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    r[i] = i;
    if (i == 21u) r[0] = 9u;
    s[i] = r[(i + 4u) % 32u];
    if (i / 4u == 3u) s[12] = 4u;
    atomicAdd(s[32], 1u);
    if (i == 30u) s[33] = s[32];
}
";
    let (run, _, dependent) = alike(&job("races", text, [8, 1, 1], vec![zeros(32), zeros(34)]));
    let races = run.run.findings.iter().filter(|one| one.kind == FindingKind::DataRace);
    assert!(races.count() >= 4, "{:#?}", run.run.findings);
    assert!(dependent > 0);
    // A race inside a workgroup alone leaves the others independent. The first values are the same,
    // later ones are not.
    let inside = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() { if (gl_WorkGroupID.x % 3u == 2u) r[gl_WorkGroupID.x] = gl_WorkGroupID.x < 5u ? 5u : gl_LocalInvocationID.x; }
";
    let (run, shared, dependent) = alike(&job("inside", inside, [9, 1, 1], vec![zeros(9)]));
    assert_eq!(run.run.findings.len(), 1);
    let found = &run.run.findings[0];
    assert_eq!(
        (found.same_value(), &found.invocations),
        (Some(false), &vec![[8, 0, 0], [9, 0, 0]])
    );
    assert_eq!((found.count, shared, dependent), (9, WAYS.len() as u64, 0));
}

#[test]
fn findings_of_every_kind_have_one_count_and_the_first_witness() {
    let text = "#version 450
layout(local_size_x = 3) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[16]; };
layout(std430, set = 0, binding = 1) buffer R { uint r[]; };
shared uint t[3];
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i > 4u) r[i] = a[i + 5u] / (i % 4u);
    if (gl_WorkGroupID.x == 3u && gl_LocalInvocationID.x == 1u) return;
    t[gl_LocalInvocationID.x] = i;
    barrier();
    r[i] += t[2u - gl_LocalInvocationID.x];
}
";
    let mut inputs = vec![Some(7); 16];
    inputs[13] = None;
    let (run, shared, _) = alike(&job("findings", text, [7, 1, 1], vec![inputs, zeros(19)]));
    let kinds: std::collections::BTreeSet<_> =
        run.run.findings.iter().map(|one| one.kind).collect();
    assert!(kinds.len() >= 4, "{:#?}", run.run.findings);
    assert!(matches!(run.run.completion, Completion::Error { .. }));
    assert_eq!(shared, WAYS.len() as u64);
}

const LOOP: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer N { uint n[]; };
layout(std430, set = 0, binding = 1) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint k = 0u; k < n[i]; k++) r[i] += k;
}
";

#[test]
fn a_limit_of_steps_ends_the_same_invocation_at_the_same_place() {
    let mut endless = vec![Some(3); 40];
    endless[26] = Some(u32::MAX);
    let job = job("loop", LOOP, [10, 1, 1], vec![endless, zeros(40)]);
    let (run, shared, _) = alike(&Job {
        limits: vkcert::model::procedure::Limits { steps: 300_000, ..job.limits },
        ..job.clone()
    });
    let found =
        run.run.findings.iter().find(|one| one.kind == FindingKind::NoTermination).expect("told");
    assert_eq!((&found.invocations, shared), (&vec![[26, 0, 0]], 0));
    // Every limit from nothing to enough: the sum over all workgroups counts.
    let mut finite = job.clone();
    Arc::make_mut(&mut finite.buffers[0].bytes)[26 * 4..27 * 4]
        .copy_from_slice(&9u32.to_le_bytes());
    let mut ended = [0; 2];
    for steps in (0..=12_000).step_by(400) {
        let mut job = finite.clone();
        job.limits.steps = steps;
        let (run, shared, dependent) = alike(&job);
        let completed = run.run.completion == Completion::Completed;
        // Close to the limit, what others have taken and not used yet may be missing.
        assert!(dependent == 0 && (shared == 0 || completed), "{steps}");
        ended[usize::from(completed)] += 1;
    }
    assert!(ended.iter().all(|count| *count > 3), "{ended:?}");
    finite.limits.steps = 120_000;
    assert_eq!(alike(&finite).1, WAYS.len() as u64);
}

#[test]
fn a_limit_of_memory_ends_runs_alike_and_takes_workers_away() {
    let job = job("loop", LOOP, [10, 1, 1], vec![vec![Some(3); 40], zeros(4000)]);
    let mut completed = Vec::new();
    for memory_bytes in (1000..700_000).step_by(9973) {
        let mut job = job.clone();
        job.limits.memory_bytes = memory_bytes;
        let (run, shared, _) = alike(&job);
        match &run.run.completion {
            Completion::Completed => completed.push(shared),
            other => assert!(
                matches!(other, Completion::Undetermined { .. }) && completed.is_empty(),
                "{other:?}"
            ),
        }
    }
    assert!(
        completed.is_sorted() && completed[0] == 0 && completed.contains(&(WAYS.len() as u64)),
        "{completed:?}"
    );
}

#[test]
fn dispatches_of_a_job_see_each_other_and_share_the_limit_of_steps() {
    let text = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() { uint i = gl_GlobalInvocationID.x; r[i] = r[i] * 3u + r[i + 40u]; }
";
    let mut job = job("dispatches", text, [10, 1, 1], vec![(0..80).map(Some).collect()]);
    let one = job.dispatches[0].clone();
    job.dispatches = vec![one.clone(), one.clone(), one];
    let (run, shared, _) = alike(&job);
    let third = |i: u32| ((i * 3 + i + 40) * 3 + i + 40) * 3 + i + 40;
    assert_eq!(run.run.buffers[0][36..40], third(9).to_le_bytes());
    assert_eq!(shared, 3 * WAYS.len() as u64);
    for steps in [300, 600, 900, 1200] {
        job.limits.steps = steps;
        alike(&job);
    }
}

/// A kernel that does what a buffer says: kind, place and value, as many as the buffer has for each
/// invocation.
static SCRIPT: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let text = "#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) readonly buffer C { uvec4 c[]; };
layout(std430, set = 0, binding = 1) buffer W { uint w[]; };
layout(std430, set = 0, binding = 2) buffer R { uint r[]; };
layout(std430, set = 0, binding = 3) buffer B { uint8_t b[]; };
layout(std430, set = 0, binding = 4) buffer Q { uint64_t q[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, length = c.length() / 16u, seen = 0u;
    for (uint k = 0u; k < length; k++) {
        uvec4 one = c[i * length + k];
        uint at = one.y;
        switch (one.x) {
        case 0u: seen = seen * 31u + w[at]; break;
        case 1u: w[at] = one.z; break;
        case 2u: atomicAdd(w[at], one.z); break;
        case 3u: atomicOr(w[at], one.z); break;
        case 4u: atomicMax(w[at], one.z); break;
        case 5u: seen = seen * 31u + atomicAdd(w[at], one.z); break;
        case 6u: b[at] = uint8_t(one.z); break;
        case 7u: seen = seen * 31u + uint(b[at]); break;
        case 8u: atomicAdd(q[at / 2u], (uint64_t(one.z) << 32) | 0xfffffff0ul); break;
        case 9u: atomicMin(q[at / 2u], uint64_t(one.z) << 29); break;
        case 10u: atomicExchange(w[at], one.z); break;
        default: break;
        }
    }
    r[i] = seen;
}
";
    filetest::compile("script", text)
});

const INVOCATIONS: usize = 16;

fn script(commands: &[[u32; 3]], words: Vec<Option<u32>>, checks: Checks) -> Job {
    let length = commands.len() / INVOCATIONS;
    let commands = commands[..length * INVOCATIONS]
        .iter()
        .flat_map(|[kind, at, value]| [*kind, *at, *value, 0]);
    let buffers = vec![
        buffer(0, commands.map(Some).collect()),
        buffer(1, words),
        buffer(2, zeros(INVOCATIONS)),
    ];
    let groups = [INVOCATIONS as u32 / 2, 1, 1];
    let words = SCRIPT.clone();
    let mut job =
        FileTest { name: "script".to_owned(), words, groups, buffers, ..FileTest::default() }.job();
    // The same memory as bytes and as long numbers.
    let size = job.buffers[1].bytes.len() as u64;
    job.dispatches[0]
        .bindings
        .extend([3, 4].map(|binding| JobBinding::storage(0, binding, 1, size)));
    Job { checks, ..job }
}

/// Commands whose places are mostly an invocation's own or combined only, so that both outcomes are
/// frequent.
fn commands() -> impl Strategy<Value = Vec<[u32; 3]>> {
    let one = (0..12u32, 0..64u32, any::<u32>(), 0..14u32);
    (prop::collection::vec(one, INVOCATIONS..5 * INVOCATIONS), 0..3u32).prop_map(|(all, wild)| {
        let length = all.len() / INVOCATIONS;
        let place = |(index, (kind, at, value, chance)): (usize, &(u32, u32, u32, u32))| {
            let own = (index / length.max(1)) as u32;
            if chance < &wild {
                return [*kind, *at, *value];
            }
            match kind {
                // Words that all combine, each in one way; numbers of two words beside them.
                2..=4 if chance % 2 == 0 => [*kind, 58 + kind, *value],
                8 | 9 if chance % 2 == 0 => [*kind, 52 + 2 * (kind - 8) + at % 2, *value],
                6 | 7 => [*kind, own + 16 * (at % 8), *value],
                8 | 9 => [*kind, own / 2 * 2, *value],
                0..=5 | 10 => [*kind, 32 + own % 16, *value],
                _ => [*kind, *at, *value],
            }
        };
        all.iter().enumerate().map(place).collect()
    })
}

#[test]
fn scripts_of_accesses_leave_the_same_on_several_cores() {
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let tally = std::cell::Cell::new((0, 0, 0));
    let cases = (
        commands(),
        prop::collection::vec(prop::option::weighted(0.9, any::<u32>()), 64),
        any::<bool>(),
    );
    let result = runner.run(&cases, |(commands, words, checked)| {
        let checks = if checked { Checks::all() } else { Checks::none() };
        let (run, shared, dependent) = alike(&script(&commands, words, checks));
        let (yes, no, found) = tally.get();
        tally.set((yes + shared, no + dependent, found + run.run.findings.len()));
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    let (shared, dependent, findings) = tally.get();
    assert!(shared > 200 && dependent > 200 && findings > 200, "{shared} {dependent} {findings}");
}

/// As a user has it: a pool, and workers where it pays.
#[test]
fn large_dispatches_go_to_the_pool_and_small_ones_do_not() {
    let pool = rayon_pool();
    let run =
        |job: &Job, jobs| pool.install(|| outcome(job, Settings { jobs, ..Settings::default() }));
    let large = job("loop", LOOP, [400, 1, 1], vec![vec![Some(200); 1600], zeros(1600)]);
    let (alone, events, _) = run(&large, Jobs::One);
    let (shared, seen, tally) = run(&large, Jobs::Most(3));
    assert_eq!((&shared, &seen, tally.shared), (&alone, &events, 1));
    let small = job("loop", LOOP, [10, 1, 1], vec![vec![Some(20); 40], zeros(40)]);
    assert_eq!(run(&small, Jobs::Most(3)).2.shared, 0);
    // Dependent once, not tried again.
    let text = LOOP.replace("r[i] += k", "r[0] = atomicAdd(n[i], 0u) + r[0]");
    let dependent = job("dependent", &text, [400, 1, 1], vec![vec![Some(200); 1600], zeros(1600)]);
    let engine = SequentialExecutor::new(Settings { jobs: Jobs::Most(3), ..Settings::default() });
    let (alone, ..) = run(&dependent, Jobs::One);
    for _ in 0..2 {
        let again = pool
            .install(|| engine.run_with_lowering_counts(&dependent, &mut Seen::default()).unwrap());
        assert_eq!(again, alone);
    }
    let tally = engine.tally();
    assert_eq!(
        (tally.shared, tally.dependent, tally.decoded, tally.reused, tally.parsed),
        (0, 1, 1, 1, 1)
    );
}

/// Jobs that ask for a program while it is decoded wait for it.
#[test]
fn a_program_is_decoded_once_for_all_who_ask() {
    let job = job("once", LOOP, [4, 1, 1], vec![vec![Some(20); 16], zeros(16)]);
    let engine = SequentialExecutor::default();
    let all = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (engine, job, all) = (engine.clone(), &job, &all);
            scope.spawn(move || {
                all.wait();
                match number % 2 {
                    0 => engine.decode_ahead(job),
                    _ => drop(engine.run_with_lowering_counts(job, &mut Seen::default()).unwrap()),
                }
            });
        }
    });
    let tally = engine.tally();
    assert_eq!((tally.decoded, tally.reused), (1, 7));
}

fn rayon_pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap()
}

/// One engine over jobs that differ in all that a program depends on, there and back, against fresh
/// engines.
#[test]
fn kept_programs_are_those_of_their_jobs() {
    let text = "#version 450
layout(local_size_x_id = 1) in;
layout(constant_id = 0) const uint FACTOR = 3u;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer R { uint r[]; };
layout(push_constant) uniform P { uint more; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (a[i] > FACTOR && i < more) r[i] = a[i] * FACTOR + more;
}
";
    let plain = job("kept", text, [4, 1, 1], vec![(0..16).map(Some).collect(), zeros(16)]);
    let other_words = Arc::new(filetest::compile("kept", &text.replace("+ more;", "- more;")));
    let mut jobs = Vec::new();
    for specialization in [BTreeMap::new(), BTreeMap::from([(0, 5)]), BTreeMap::from([(1, 4)])] {
        for push in [vec![9, 0, 0, 0], Vec::new()] {
            for defined in [0..64, 8..64] {
                let mut job = plain.clone();
                job.dispatches[0].specialization = specialization.clone();
                job.dispatches[0].push_constants_defined = vec![0..push.len()];
                job.dispatches[0].push_constants = push.clone();
                job.buffers[0].defined = vec![defined];
                let [marked, instrumented] = recording(&job, text);
                let mut unmarked = marked.clone();
                unmarked.modules[0].recording = ModuleRecording::None;
                let mut other = job.clone();
                other.modules[0].words = other_words.clone();
                jobs.extend([marked, instrumented, unmarked, other]);
                jobs.push(Job { checks: Checks::none(), ..job.clone() });
                jobs.push(job);
            }
        }
    }
    let engine = SequentialExecutor::default();
    let mut results = std::collections::BTreeSet::new();
    for job in jobs.iter().chain(jobs.iter().rev()) {
        let (fresh, ..) = outcome(job, Settings::default());
        let kept = engine.run_with_lowering_counts(job, &mut Seen::default()).unwrap();
        assert_eq!(kept, fresh);
        results.insert(format!("{kept:?}"));
    }
    let tally = engine.tally();
    assert!(results.len() >= 15 && tally.reused > tally.decoded / 2, "{} {tally:?}", results.len());
    assert!(tally.parsed <= 25, "{tally:?}");
}
