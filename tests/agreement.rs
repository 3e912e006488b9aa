//! Engines and modules agree on random kernels: the sequential engine (at several tile widths, on
//! the production, marked and instrumented modules) and the device, on outputs and on the vector
//! set of every decision.

// A job's defined bytes are a list of ranges; here it has one.
#![allow(clippy::single_range_in_vec_init)]

use crate::device;
use crate::support;

use device::device;
use std::collections::BTreeMap;
use std::sync::Arc;
use support::random_kernel::{Dice, INPUTS, LOCAL_SIZE, random_kernel};
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording, Run,
    Unobserved,
};
use vkcert::glsl::{self, KernelSource};
use vkcert::instrument::{self, Instrumented};
use vkcert::model::finding::Checks;
use vkcert::model::procedure::Limits;
use vkcert::model::records::RecordLayout;
use vkcert::spirv::module::Module;
use vkcert::spirv::validate::{self, TargetEnv};

const GROUPS: u32 = 3;

struct Modules {
    production: Vec<u32>,
    marked: Vec<u32>,
    made: Instrumented,
}

fn modules(seed: u64) -> Modules {
    let kernel = random_kernel(seed);
    let source =
        KernelSource::alone(format!("random{seed}.comp"), kernel.text.clone(), "vulkan1.1");
    let compiled = glsl::compile(&source)
        .unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}\n{}", kernel.text));
    let module = Module::parse(compiled.marked.clone()).unwrap();
    let made = instrument::instrument(&compiled.structure, &module, "main").unwrap();
    for words in [&compiled.production, &compiled.marked, &made.traced, &made.instrumented] {
        validate::validate(words, TargetEnv::Vulkan1_1)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(made.untraced.is_empty(), "seed {seed}: {:?}\n{}", made.untraced, kernel.text);
    Modules { production: compiled.production, marked: compiled.marked, made }
}

fn job(seed: u64, words: &[u32], recording: ModuleRecording) -> Job {
    let mut dice = Dice(seed ^ 0xABCD);
    let inputs: Vec<u8> =
        (0..INPUTS).flat_map(|_| ((dice.roll() % 40) as u32).to_le_bytes()).collect();
    let outputs = vec![0_u8; (GROUPS * LOCAL_SIZE * 4) as usize];
    let buffer = |name: &str, bytes: Vec<u8>| JobBuffer {
        name: name.to_owned(),
        defined: vec![0..bytes.len()],
        bytes: bytes.into(),
    };
    let buffers =
        vec![buffer("input", inputs), buffer("output", outputs), buffer("counter", vec![0; 4])];
    let bindings = buffers.iter().enumerate().map(|(index, buffer)| {
        JobBinding::storage(0, index as u32, index, buffer.bytes.len() as u64)
    });
    let mut push = Vec::new();
    push.extend(((dice.roll() % 12) as u32).to_le_bytes());
    push.extend(((dice.roll() % 12) as i32 - 4).to_le_bytes());
    push.extend(((dice.roll() % 16) as f32 * 0.5).to_le_bytes());
    let dispatch = JobDispatch {
        module: 0,
        entry: "main".to_owned(),
        groups: [GROUPS, 1, 1],
        bindings: bindings.collect(),
        push_constants_defined: vec![0..push.len()],
        push_constants: push,
        specialization: BTreeMap::from([(0, dice.roll() % 7)]),
        subgroup_size: None,
    };
    let module = JobModule { key: "random".into(), words: Arc::new(words.to_vec()), recording };
    Job {
        name: format!("seed {seed}"),
        modules: vec![module],
        buffers,
        dispatches: vec![dispatch],
        // Drivers compile at the first dispatch, on machines that may be busy.
        resources: Default::default(),
        limits: Limits { seconds: 60.0, ..Limits::default() },
        checks: Checks::all(),
    }
}

fn completed(seed: u64, engine: &mut dyn Executor, job: &Job) -> Run {
    let run =
        engine.run(job, &mut Unobserved).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let text = || random_kernel(seed).text;
    assert_eq!(
        run.completion,
        Completion::Completed,
        "seed {seed}: {:#?}\n{}",
        run.findings,
        text()
    );
    assert!(run.findings.is_empty(), "seed {seed}: {:#?}\n{}", run.findings, text());
    run
}

fn shown(layout: &RecordLayout, words: &[u32]) -> Vec<String> {
    let has = |bit: u32| words[bit as usize / 32] >> (bit % 32) & 1 == 1;
    let vectors = layout.decisions.iter().flat_map(|slot| {
        slot.vectors
            .iter()
            .filter(move |row| has(slot.base + row.sum))
            .map(move |row| format!("{} {}", slot.decision, row.vector.values))
    });
    let marks = layout
        .marks
        .iter()
        .enumerate()
        .filter(|(_, bit)| has(**bit))
        .map(|(index, _)| format!("mark {index}"));
    vectors.chain(marks).collect()
}

/// Asserts that all runs on the sequential engine agree, and gives what the device does otherwise.
fn agree_on(seed: u64, vulkan: Option<&mut VulkanExecutor>) -> Vec<String> {
    let Modules { production, marked, made } = modules(seed);
    let mut narrow = SequentialExecutor::default();
    narrow.settings.tile_width = 1;
    let mut wide = SequentialExecutor::default();
    let plain = completed(seed, &mut wide, &job(seed, &production, ModuleRecording::None));
    let markers = ModuleRecording::Markers(Arc::new(made.markers.clone()));
    let native = completed(seed, &mut wide, &job(seed, &marked, markers.clone()));
    let single = completed(seed, &mut narrow, &job(seed, &marked, markers));
    let buffer = ModuleRecording::Buffer(made.record_buffer.clone());
    let recorded = completed(seed, &mut wide, &job(seed, &made.instrumented, buffer.clone()));
    let text = || random_kernel(seed).text;
    for run in [&native, &single, &recorded] {
        assert_eq!(plain.buffers, run.buffers, "seed {seed}: outputs\n{}", text());
    }
    let layout = &made.markers.layout;
    let vectors = shown(layout, &native.records[&"random".into()].words);
    assert!(!vectors.is_empty());
    for run in [&single, &recorded] {
        assert_eq!(
            vectors,
            shown(layout, &run.records[&"random".into()].words),
            "seed {seed}: vectors\n{}",
            text()
        );
    }
    assert_eq!(
        native.records[&"random".into()].witnesses,
        single.records[&"random".into()].witnesses,
        "seed {seed}\n{}",
        text()
    );
    let Some(vulkan) = vulkan else { return Vec::new() };
    let device_plain = completed(seed, vulkan, &job(seed, &production, ModuleRecording::None));
    let device_traced = completed(seed, vulkan, &job(seed, &made.traced, ModuleRecording::None));
    let device = completed(seed, vulkan, &job(seed, &made.instrumented, buffer));
    let mut differences = Vec::new();
    for (module, run) in
        [("production", &device_plain), ("traced", &device_traced), ("instrumented", &device)]
    {
        if run.buffers != plain.buffers {
            differences.push(format!("{module} outputs"));
        }
    }
    if vectors != shown(layout, &device.records[&"random".into()].words) {
        differences.push("vectors".to_owned());
    }
    differences
}

/// How many kernels; `make soak` asks for more.
fn count() -> u64 {
    std::env::var("VKCERT_RANDOM_KERNELS").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

/// Kernels that a driver is known to run wrongly: seed, part of the driver's name, why
/// (`tests/agreement_known.txt`).
fn known() -> BTreeMap<u64, (&'static str, &'static str)> {
    let lines = include_str!("agreement_known.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, " | ");
            let mut next = || parts.next().expect("seed, driver, reason");
            (next().parse().expect("a seed"), (next(), next()))
        })
        .collect()
}

#[test]
fn engines_and_modules_agree_on_random_kernels() {
    let mut engine = device();
    let driver =
        engine.as_ref().map(|engine| format!("{:?}", engine.identity())).unwrap_or_default();
    let (known, mut named, mut failures) = (known(), 0, Vec::new());
    for seed in 1..=count() {
        let differences = agree_on(seed, engine.as_mut());
        if differences.is_empty() {
            continue;
        }
        match known.get(&seed).filter(|(part, _)| driver.contains(part)) {
            Some((_, why)) => {
                named += 1;
                println!("seed {seed}: a defect of the driver: {why} ({})", differences.join(", "));
            }
            None => {
                println!("seed {seed}: {}\n{}", differences.join(", "), random_kernel(seed).text);
                failures.push(format!("seed {seed}: {}", differences.join(", ")));
            }
        }
    }
    println!(
        "{} kernels, {named} with a known defect of the driver, {} failures",
        count(),
        failures.len()
    );
    assert!(
        failures.is_empty(),
        "{} of {} kernels\n{}",
        failures.len(),
        count(),
        failures.join("\n")
    );
}
