//! The figures of the README, as ratios of two things in one run.
//!
//! 1. The device, naive matrix multiplication 256: instrumented against traced module (medians of
//!    alternating runs).
//! 2. The sequential engine, the same kernel: multiply-accumulates per second on one core, plain
//!    and with data races, uninitialised reads and MC/DC.
//!
//! 3. The same on a software device (lavapipe) that has one core.
//!
//! ```text
//! cargo run --release --example benchmark            # matrices of 256 x 256
//! cargo run --release --example benchmark -- 128     # or another multiple of 16
//! ```

// A job's defined bytes are a list of ranges; here it has one.
#![allow(clippy::single_range_in_vec_init)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use vkcert::exec::resource::JobResources;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::vulkan::{DeviceChoice, Settings, ValidationLayers, VulkanExecutor};
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
    Unobserved,
};
use vkcert::glsl::{self, KernelSource};
use vkcert::instrument;
use vkcert::model::device_type::DeviceType;
use vkcert::model::finding::{Checks, FindingKind};
use vkcert::model::procedure::Limits;
use vkcert::spirv::module::Module;

const RUNS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let side = std::env::args().nth(1).map_or(Ok(256), |text| text.parse::<u32>())?;
    if side == 0 || side % 16 != 0 {
        return Err(format!("{side} is no multiple of 16").into());
    }
    let text = std::fs::read_to_string("glsl/matmul_naive.comp").map_err(|error| {
        format!("glsl/matmul_naive.comp: {error}; run this in the repository's root")
    })?;
    let source = KernelSource::alone("glsl/matmul_naive.comp", text, "vulkan1.1");
    let compiled = glsl::compile(&source).map_err(|errors| format!("{errors:?}"))?;
    let made = instrument::instrument(
        &compiled.structure,
        &Module::parse(compiled.marked.clone())?,
        "main",
    )?;
    let production = job(side, &compiled.production, ModuleRecording::None, Checks::none());
    let traced = job(side, &made.traced, ModuleRecording::None, Checks::none());
    let recording = ModuleRecording::Buffer(made.record_buffer.clone());
    let instrumented = job(side, &made.instrumented, recording, Checks::none());
    device(&production, &traced, &instrumented)?;
    let operations = f64::from(side).powi(3);
    one_core(&production, operations)?;
    let checks = Checks::of_kinds([
        FindingKind::DataRace,
        FindingKind::UninitializedRead,
        FindingKind::OutOfBounds,
    ]);
    let markers = ModuleRecording::Markers(Arc::new(made.markers.clone()));
    let checked = job(side, &compiled.marked, markers, checks);
    sequential(&production, &checked, operations)
}

fn job(side: u32, words: &[u32], recording: ModuleRecording, checks: Checks) -> Job {
    let elements = (side * side) as usize;
    let contents = |seed: u32| -> Vec<u8> {
        (0..elements as u32)
            .flat_map(|i| (((i.wrapping_mul(seed) >> 7) % 17) as f32 - 8.0).to_le_bytes())
            .collect()
    };
    let buffer = |name: &str, bytes: Vec<u8>| JobBuffer {
        name: name.to_owned(),
        defined: vec![0..bytes.len()],
        bytes: bytes.into(),
    };
    let buffers = vec![
        buffer("left", contents(2_654_435_761)),
        buffer("right", contents(40_503)),
        buffer("result", vec![0; elements * 4]),
    ];
    let bindings =
        (0..3).map(|index| JobBinding::storage(0, index, index as usize, (elements * 4) as u64));
    let push: Vec<u8> = [side; 3].iter().flat_map(|size| size.to_le_bytes()).collect();
    let dispatch = JobDispatch {
        module: 0,
        entry: "main".to_owned(),
        groups: [side / 16, side / 16, 1],
        bindings: bindings.collect(),
        push_constants_defined: vec![0..push.len()],
        push_constants: push,
        specialization: BTreeMap::new(),
        subgroup_size: None,
    };
    Job {
        name: format!("matmul_naive {side}"),
        modules: vec![JobModule {
            key: "matmul_naive".into(),
            words: Arc::new(words.to_vec()),
            recording,
        }],
        buffers,
        resources: JobResources::default(),
        dispatches: vec![dispatch],
        limits: Limits { steps: u64::MAX, seconds: 60.0, ..Limits::default() },
        checks,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn device(
    production: &Job,
    traced: &Job,
    instrumented: &Job,
) -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?
        .parent()
        .and_then(|folder| folder.parent())
        .map(|folder| folder.join("vkcert"));
    let mut settings = Settings::new(program.ok_or("no build folder")?);
    settings.validation = ValidationLayers::Off;
    let mut executor = match VulkanExecutor::new(DeviceChoice::Best, settings) {
        Ok(executor) => executor,
        Err(error) => {
            println!("device: not run: {error}");
            return Ok(());
        }
    };
    println!(
        "device: {} ({} {})",
        executor.device().name,
        executor.device().driver_name,
        executor.device().driver_info
    );
    let measured = executor.measure(&[production, traced, instrumented], RUNS as u32)?;
    if measured.completion != Completion::Completed {
        return Err(format!("{:?}", measured.completion).into());
    }
    let times: Vec<f64> = measured
        .times
        .iter()
        .map(|times| median(times.iter().map(|time| time.device.unwrap_or(time.wall)).collect()))
        .collect();
    println!("  production   {:8.3} ms", times[0]);
    println!("  traced       {:8.3} ms", times[1]);
    println!("  instrumented {:8.3} ms", times[2]);
    println!("  instrumented / traced      {:.3}   (target at most 1.15)", times[2] / times[1]);
    println!("  instrumented / production  {:.3}", times[2] / times[0]);
    Ok(())
}

/// A software device that may use one core, as the sequential engine does.
fn one_core(production: &Job, operations: f64) -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?
        .parent()
        .and_then(|folder| folder.parent())
        .map(|folder| folder.join("vkcert"));
    let mut settings = Settings::new(program.ok_or("no build folder")?);
    settings.validation = ValidationLayers::Off;
    // llvmpipe counts the threads beside the one that hands work out.
    settings.environment.insert("LP_NUM_THREADS".to_owned(), "1".to_owned());
    let Ok(mut executor) = VulkanExecutor::new(DeviceChoice::Best, settings) else { return Ok(()) };
    if executor.device().kind != DeviceType::Cpu {
        return Ok(());
    }
    let measured = executor.measure(&[production], RUNS as u32)?;
    let times = measured.times.first().ok_or("nothing was measured")?;
    let time = median(times.iter().map(|time| time.wall).collect());
    println!(
        "the same device on one core, million multiply-accumulates per second: {:.1}",
        operations / time / 1e3
    );
    Ok(())
}

fn sequential(
    plain: &Job,
    checked: &Job,
    operations: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        for (index, job) in [plain, checked].into_iter().enumerate() {
            let start = Instant::now();
            let run = SequentialExecutor::default().run(job, &mut Unobserved)?;
            times[index].push(start.elapsed().as_secs_f64());
            if run.completion != Completion::Completed || !run.findings.is_empty() {
                return Err(format!("{:?} {:?}", run.completion, run.findings).into());
            }
        }
    }
    let rate = |times: &Vec<f64>| operations / median(times.clone()) / 1e6;
    println!("sequential engine, one core, million multiply-accumulates per second:");
    println!("  plain                                       {:7.1}", rate(&times[0]));
    println!(
        "  races, uninitialised reads, MC/DC           {:7.1}   (target at least 20)",
        rate(&times[1])
    );
    println!(
        "  checked / plain time                        {:7.2}",
        median(times[1].clone()) / median(times[0].clone())
    );
    Ok(())
}
