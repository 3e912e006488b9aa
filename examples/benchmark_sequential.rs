//! Speed of the sequential engine: naive and tiled matrix multiplication and a histogram, with the
//! checks and records on in turn; on one core, or with the workgroups of a dispatch on several. Then
//! what it costs to follow who reads what another side wrote, on one core with races looked for.
//!
//! `cargo run --release --example benchmark_sequential [SIZE [JOBS]]`

use std::sync::Arc;
use std::time::Instant;
use vkcert::exec::access_pairs::PairTracking;
use vkcert::exec::resource::JobResources;
use vkcert::exec::sequential::{Jobs, SequentialExecutor, Settings};
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
    RunRequest, Unobserved,
};
use vkcert::model::finding::{Checks, FindingKind};
use vkcert::model::id::DecisionId;
use vkcert::model::procedure::Limits;
use vkcert::model::records::{DecisionSlot, MarkerTable, RecordLayout};
use vkcert::model::structure::MarkerRole;
use vkcert::spirv::module::Module;

const NAIVE: &str = "#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) buffer A { float a[]; };
layout(std430, set = 0, binding = 1) buffer B { float b[]; };
layout(std430, set = 0, binding = 2) buffer R { float r[]; };
layout(push_constant) uniform P { uint m; uint n; uint k; };
bool value(const uint id, const bool v) { return v; }
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    if (V(2u, V(0u, x < k) && V(1u, y < m))) {
        float sum = 0.0;
        for (uint i = 0u; V(3u, i < n); i++) sum += a[y * n + i] * b[i * k + x];
        r[y * k + x] = sum;
    }
}
";

const TILED: &str = "#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) buffer A { float a[]; };
layout(std430, set = 0, binding = 1) buffer B { float b[]; };
layout(std430, set = 0, binding = 2) buffer R { float r[]; };
layout(push_constant) uniform P { uint m; uint n; uint k; };
shared float ta[16][16], tb[16][16];
bool value(const uint id, const bool v) { return v; }
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    uint tx = gl_LocalInvocationID.x, ty = gl_LocalInvocationID.y;
    float sum = 0.0;
    for (uint p = 0u; V(3u, p < n / 16u); p++) {
        ta[ty][tx] = a[y * n + p * 16u + tx];
        tb[ty][tx] = b[(p * 16u + ty) * k + x];
        barrier();
        for (uint i = 0u; V(4u, i < 16u); i++) sum += ta[ty][i] * tb[i][tx];
        barrier();
    }
    if (V(2u, V(0u, x < k) && V(1u, y < m))) r[y * k + x] = sum;
}
";

const HISTOGRAM: &str = "#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) buffer A { float a[]; };
layout(std430, set = 0, binding = 1) buffer B { float b[]; };
layout(std430, set = 0, binding = 2) buffer R { uint r[]; };
layout(push_constant) uniform P { uint m; uint n; uint k; };
bool value(const uint id, const bool v) { return v; }
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    if (V(2u, V(0u, x < k) && V(1u, y < m))) {
        for (uint i = 0u; V(3u, i < n); i++) atomicAdd(r[uint(a[y * n + i] + b[i * k + x])], 1u);
    }
}
";

/// The tiled one with a fence and an atomic whose result is used: what orders accesses is then
/// looked at exactly.
fn fenced() -> String {
    let counted = "memoryBarrier();\n    if (atomicAdd(turns, 1u) > 1000u) r[0] = sum;\n";
    let text = TILED.replace("shared float", "shared uint turns;\nshared float");
    let text =
        text.replace("float sum = 0.0;", "float sum = 0.0;\n    if (tx + ty == 0u) turns = 0u;");
    text.replace("    if (V(2u, V(0u", &format!("    {counted}    if (V(2u, V(0u"))
}

fn compile(text: &str, marked: bool) -> Vec<u32> {
    let compiler = shaderc::Compiler::new().expect("the compiler is built in");
    let mut options = shaderc::CompileOptions::new().expect("the compiler is built in");
    options.add_macro_definition("V(i,v)", Some(if marked { "value(i, v)" } else { "(v)" }));
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    let artifact = compiler.compile_into_spirv(
        text,
        shaderc::ShaderKind::Compute,
        "bench",
        "main",
        Some(&options),
    );
    artifact.expect("the kernel compiles").as_binary().to_vec()
}

fn table(words: &[u32]) -> MarkerTable {
    let module = Module::parse(words.to_vec()).expect("the compiler writes modules");
    let named = module
        .functions
        .iter()
        .find(|one| module.debug_name(one.id).is_some_and(|name| name.starts_with("value(")));
    let slot = |id, base, size, weights: &[[u32; 2]]| DecisionSlot {
        decision: DecisionId(id),
        base,
        size,
        weights: weights.to_vec(),
        vectors: Vec::new(),
    };
    MarkerTable {
        value_function: named.map(|function| function.id),
        mark_function: None,
        roles: vec![
            MarkerRole::Condition { decision: DecisionId(1), condition: 0 },
            MarkerRole::Condition { decision: DecisionId(1), condition: 1 },
            MarkerRole::Decision { decision: DecisionId(1) },
            MarkerRole::Single { decision: DecisionId(2) },
            MarkerRole::Single { decision: DecisionId(3) },
        ],
        layout: RecordLayout {
            decisions: vec![
                slot(1, 0, 3, &[[1, 0], [1, 0]]),
                slot(2, 3, 2, &[[1, 0]]),
                slot(3, 5, 2, &[[1, 0]]),
            ],
            marks: Vec::new(),
            bits: 7,
        },
    }
}

fn job(text: &str, size: u32, kinds: &[FindingKind], marked: bool) -> Job {
    let words = compile(text, marked);
    let recording = if marked {
        ModuleRecording::Markers(Arc::new(table(&words)))
    } else {
        ModuleRecording::None
    };
    let bytes = (size * size * 4) as usize;
    let buffer = |name: &str, contents: Vec<u8>| JobBuffer {
        name: name.to_owned(),
        bytes: contents.into(),
        defined: std::iter::once(0..bytes).collect(),
    };
    let floats = |seed: u32| {
        (0..size * size).flat_map(|at| (((at * seed) % 17) as f32).to_le_bytes()).collect()
    };
    let binding = |index: usize| JobBinding::storage(0, index as u32, index, bytes as u64);
    Job {
        name: "benchmark".to_owned(),
        modules: vec![JobModule { key: "mm".into(), words: Arc::new(words), recording }],
        buffers: vec![buffer("a", floats(3)), buffer("b", floats(5)), buffer("r", vec![0; bytes])],
        resources: JobResources::default(),
        dispatches: vec![JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [size.div_ceil(16), size.div_ceil(16), 1],
            bindings: (0..3).map(binding).collect(),
            push_constants: [size; 3].iter().flat_map(|word| word.to_le_bytes()).collect(),
            push_constants_defined: std::iter::once(0..12).collect(),
            specialization: Default::default(),
            subgroup_size: None,
        }],
        limits: Limits { steps: u64::MAX, ..Limits::default() },
        checks: Checks::of_kinds(kinds.iter().copied()),
    }
}

/// How much longer the job takes where access pairs are followed: median of runs in turn.
fn cost_of_pairs(job: &Job) -> f64 {
    let engine = SequentialExecutor::default();
    let seconds = |pair_tracking: PairTracking| {
        let start = Instant::now();
        let request = RunRequest { pair_tracking, ..RunRequest::once(job) };
        let run = engine.run_once(&request, &mut Unobserved).expect("the engine does not fail");
        assert_eq!(run.run.completion, Completion::Completed);
        start.elapsed().as_secs_f64()
    };
    let ratio = || {
        let alone = seconds(PairTracking::Off);
        seconds(PairTracking::On) / alone
    };
    let mut ratios: Vec<f64> = (0..9).map(|_| ratio()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn main() {
    let size: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(256);
    let jobs: usize = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(1);
    let jobs_setting = if jobs > 1 { Jobs::Most(jobs) } else { Jobs::One };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().expect("the pool starts");
    let all: Vec<FindingKind> = FindingKind::ALL.iter().map(|(kind, _)| *kind).collect();
    let races = [FindingKind::DataRace];
    let uninitialized = [FindingKind::UninitializedRead];
    let bounds = [FindingKind::OutOfBounds];
    let values = [FindingKind::UndefinedValue];
    let rows: [(&str, &[FindingKind], bool); 7] = [
        ("plain", &[], false),
        ("out of bounds", &bounds, false),
        ("undefined values", &values, false),
        ("races", &races, false),
        ("uninitialised reads", &uninitialized, false),
        ("MC/DC", &[], true),
        ("races, uninitialised reads, MC/DC", &all, true),
    ];
    let fenced = fenced();
    let kernels = [
        ("naive", NAIVE),
        ("tiled", TILED),
        ("tiled, with a flag,", &fenced),
        ("histogram of a", HISTOGRAM),
    ];
    for (kernel, text) in kernels {
        println!("{kernel} matrix multiplication, {size} cubed, tile width 64, {jobs} jobs");
        let looks_for_races = job(text, size, &races, false);
        println!("  access pairs beside races: {:5.2} x races", cost_of_pairs(&looks_for_races));
        let mut plain = None;
        for (name, kinds, marked) in rows {
            let job = job(text, size, kinds, marked);
            let mut executor =
                SequentialExecutor::new(Settings { jobs: jobs_setting, ..Settings::default() });
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                let start = Instant::now();
                let run = pool
                    .install(|| executor.run(&job, &mut Unobserved))
                    .expect("the engine does not fail");
                assert!(run.findings.is_empty(), "{:?}", run.findings);
                best = best.min(start.elapsed().as_secs_f64());
            }
            let rate = f64::from(size).powi(3) / best / 1e6;
            let plain = *plain.get_or_insert(best);
            println!(
                "  {name:<36} {rate:8.1} million multiply-accumulates per second, {:5.2} x plain",
                best / plain
            );
        }
    }
}
