//! `vkcert bench-overhead`: what recording costs on a device.
//!
//! Knows: built-in kernels of different shape (`bench`). Each is run traced and instrumented in
//! turn; a run's time is that between the device's timestamps around the dispatch (where the queue
//! has none: until the host has seen the fence).
//! Promises: before anything is timed, both modules have run once with the same outputs, and the
//! records were trusted. `ratio` is `instrumented_ms` by `traced_ms`, both medians of all runs;
//! `paired_ratio` is the median over the ratios of neighbouring runs, which a machine that changes
//! its speed disturbs less; `least_ratio` is that of the fastest runs, which other work on the
//! machine disturbs least.
//! Does not cover: the time of reading records back, which the host does after a test.

use super::args::{BenchOverhead, Common, EngineArgument, OutputForm};
use super::bench::{BENCH_KERNELS, BenchKernel};
use super::failure::Failure;
use super::output;
use super::plan;
use crate::campaign::engines::{DeviceEngine, EngineSettings};
use crate::campaign::kernel::{self, CompiledKernel, MeasuredParts, ModuleVariant};
use crate::campaign::plan::{EngineChoice, EngineRequest};
use crate::campaign::recording;
use crate::exec::comparison::differing_contents;
use crate::exec::vulkan::{RunTime, VulkanExecutor};
use crate::exec::{Completion, Executor, Job, Run, Unobserved};
use crate::glsl::KernelSource;
use crate::instrument::DeviceAbility;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::project::ValidationLayers;
use crate::model::records::{RecordMode, Witnesses};
use serde::Serialize;

/// The result of the command.
#[derive(Debug, Serialize)]
struct Overhead<'a> {
    device: &'a str,
    driver: String,
    repetitions: u32,
    size_factor: u32,
    kernels: Vec<Row>,
    median_ratio: f64,
    worst_ratio: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    id: &'static str,
    shape: &'static str,
    traced_ms: f64,
    instrumented_ms: f64,
    ratio: f64,
    paired_ratio: f64,
    least_ratio: f64,
    /// Vectors that the records can tell apart.
    vectors: usize,
    /// Vectors that the run showed.
    shown: usize,
    /// 32-bit data words of the records.
    words: u32,
    mode: RecordMode,
    /// `device` or `host`: whose clock the times are of.
    clock: &'static str,
}

/// Measures the kernels whose id holds the pattern.
pub(super) fn measure_overhead(common: &Common, options: &BenchOverhead) -> Result<Exit, Failure> {
    let chosen_kernels = choose_kernels(options.pattern.as_deref())?;
    if common.engine == Some(EngineArgument::Sequential) {
        let diagnostic =
            Diagnostic::new("usage", "bench-overhead measures a device, not the sequential engine");
        return Err(diagnostic.hint("leave `--engine` out").into());
    }
    let mut plan = plan::plan_of(common, "none")?;
    plan.engines = EngineRequest::Explicit(EngineChoice::Vulkan);
    let settings =
        EngineSettings { validation: ValidationLayers::Off, ..EngineSettings::default() };
    let mut engines = plan::open_engines(&plan, None, settings)?;
    let DeviceEngine::Ready(device_executor) = &mut engines.vulkan else {
        return Err(Failure::tool("the device engine was demanded and is not there"));
    };
    let mut rows = Vec::new();
    for kernel in chosen_kernels {
        rows.push(measure_kernel(kernel, options, device_executor)?);
    }
    let mut ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
    let device = device_executor.device();
    let overhead = Overhead {
        device: &device.name,
        driver: format!("{} {}", device.driver_name, device.driver_info).trim().to_owned(),
        repetitions: options.repetitions,
        size_factor: options.size_factor,
        worst_ratio: ratios.iter().copied().fold(0.0, f64::max),
        median_ratio: median_value(&mut ratios),
        kernels: rows,
    };
    match common.form() {
        OutputForm::Json => {
            let value = serde_json::to_value(&overhead)
                .map_err(|error| Failure::tool(error.to_string()))?;
            output::print_text(&format!("{value:#}\n"))?;
        }
        OutputForm::Text => output::print_text(&overhead_in_words(&overhead))?,
    }
    Ok(Exit::Success)
}

fn choose_kernels(pattern: Option<&str>) -> Result<Vec<&'static BenchKernel>, Failure> {
    let matches_pattern =
        |kernel: &&BenchKernel| pattern.is_none_or(|pattern| kernel.id.contains(pattern));
    let chosen_kernels: Vec<_> = BENCH_KERNELS.iter().filter(matches_pattern).collect();
    if chosen_kernels.is_empty() {
        let pattern = pattern.unwrap_or_default();
        let kernel_ids: Vec<_> = BENCH_KERNELS.iter().map(|kernel| kernel.id).collect();
        let diagnostic =
            Diagnostic::new("unknown-id", format!("no built-in kernel's id holds `{pattern}`"));
        return Err(diagnostic.hint(format!("there are {}", kernel_ids.join(", "))).into());
    }
    Ok(chosen_kernels)
}

fn compile_kernel(kernel: &BenchKernel) -> Result<CompiledKernel, Failure> {
    let source = KernelSource::alone(format!("{}.comp", kernel.id), kernel.text, "vulkan1.1");
    kernel::from_glsl(kernel.id, source, MeasuredParts::Source)
}

fn measure_kernel(
    kernel: &BenchKernel,
    options: &BenchOverhead,
    executor: &mut VulkanExecutor,
) -> Result<Row, Failure> {
    let mut compiled_kernel = compile_kernel(kernel)?;
    let request = recording::record_request(
        options.record_mode.mode(),
        Witnesses::Omitted,
        executor.device(),
        DeviceAbility::Present,
    );
    compiled_kernel.record_as(&request)?;
    let unmeasurable = || {
        Failure::tool(format!(
            "built-in kernel `{}` cannot be measured: {:?}",
            kernel.id, compiled_kernel.notes
        ))
    };
    let job_of_variant = |variant| {
        let module = compiled_kernel.job_module(variant).ok_or_else(unmeasurable)?;
        Ok::<_, Failure>(kernel.job_with(options.size_factor, module.words, module.recording))
    };
    let (traced, instrumented) =
        (job_of_variant(ModuleVariant::Traced)?, job_of_variant(ModuleVariant::Instrumented)?);
    let measured_module = compiled_kernel.measured().ok_or_else(unmeasurable)?;
    let (traced_run, instrumented_run) =
        (run_untimed(kernel, executor, &traced)?, run_untimed(kernel, executor, &instrumented)?);
    if differing_contents(&traced_run.buffers, &instrumented_run.buffers).next().is_some() {
        return Err(Failure::tool(format!(
            "built-in kernel `{}`: traced and instrumented module leave different outputs on this device",
            kernel.id
        )));
    }
    let records = instrumented_run.records.get(&kernel.id.into()).ok_or_else(unmeasurable)?;
    let decision_slots = || measured_module.markers.layout.decisions.iter();
    let vector_bits =
        || decision_slots().flat_map(|slot| slot.vectors.iter().map(|row| slot.base + row.sum));
    let run_times = time_in_turn(kernel, options, executor, [&traced, &instrumented])?;
    let timed_by_device = run_times.iter().flatten().all(|time| time.device.is_some());
    let [mut traced_times, mut instrumented_times] =
        [0, 1].map(|job_index| run_times[job_index].iter().map(milliseconds).collect::<Vec<f64>>());
    let mut paired_ratios: Vec<f64> = instrumented_times
        .iter()
        .zip(&traced_times)
        .map(|(instrumented_time, traced_time)| instrumented_time / traced_time)
        .collect();
    let (traced_ms, instrumented_ms) =
        (median_value(&mut traced_times), median_value(&mut instrumented_times));
    Ok(Row {
        id: kernel.id,
        shape: kernel.shape,
        traced_ms,
        instrumented_ms,
        ratio: instrumented_ms / traced_ms,
        paired_ratio: median_value(&mut paired_ratios),
        least_ratio: least_value(&instrumented_times) / least_value(&traced_times),
        vectors: vector_bits().count(),
        shown: vector_bits().filter(|bit| records.has(*bit)).count(),
        words: measured_module.record_buffer.words,
        mode: measured_module.record_buffer.mode,
        clock: if timed_by_device { "device" } else { "host" },
    })
}

/// Runs a job to its end, untimed.
fn run_untimed(
    kernel: &BenchKernel,
    executor: &mut VulkanExecutor,
    job: &Job,
) -> Result<Run, Failure> {
    let run =
        executor.run(job, &mut Unobserved).map_err(|error| Failure::tool(error.to_string()))?;
    require_completion(kernel, &run.completion)?;
    Ok(run)
}

/// By the device's clock where it has one, else by the host's.
fn milliseconds(run: &RunTime) -> f64 {
    run.device.unwrap_or(run.wall)
}

/// The times of the two jobs, run in turn.
fn time_in_turn(
    kernel: &BenchKernel,
    options: &BenchOverhead,
    executor: &mut VulkanExecutor,
    jobs: [&Job; 2],
) -> Result<Vec<Vec<RunTime>>, Failure> {
    let measured_times = executor.measure(&jobs, options.repetitions);
    let measured_times = measured_times.map_err(|error| Failure::tool(error.to_string()))?;
    require_completion(kernel, &measured_times.completion)?;
    Ok(measured_times.times)
}

fn require_completion(kernel: &BenchKernel, completion: &Completion) -> Result<(), Failure> {
    match completion {
        Completion::Completed => Ok(()),
        Completion::Unsupported { what: unsupported_construct } => {
            let message = format!(
                "the device cannot run built-in kernel `{}`: {unsupported_construct}",
                kernel.id
            );
            Err(Failure::Unavailable {
                message,
                hint: Some("try a smaller `--size-factor`".to_owned()),
            })
        }
        incomplete => Err(Failure::tool(format!(
            "built-in kernel `{}` did not complete: {}",
            kernel.id,
            incomplete.reason().unwrap_or_default()
        ))),
    }
}

/// The middle value, of an even number the mean of the two; 0 of nothing.
fn median_value(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.get(values.len() / 2), values.len() % 2) {
        (None, _) => 0.0,
        (Some(middle), 1) => *middle,
        (Some(upper), _) => (values[values.len() / 2 - 1] + upper) / 2.0,
    }
}

fn least_value(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn overhead_in_words(overhead: &Overhead) -> String {
    let mut text = format!(
        "{} ({}), size factor {}, medians of {} alternating runs\n\n",
        overhead.device, overhead.driver, overhead.size_factor, overhead.repetitions
    );
    text.push_str(&format!(
        "{:<17} {:>10} {:>15} {:>7} {:>7} {:>7}  {:>7} {:>6}  {}\n",
        "KERNEL",
        "TRACED MS",
        "INSTRUMENTED MS",
        "RATIO",
        "PAIRED",
        "LEAST",
        "VECTORS",
        "WORDS",
        "MODE"
    ));
    for row in &overhead.kernels {
        text.push_str(&format!(
            "{:<17} {:>10.3} {:>15.3} {:>7.3} {:>7.3} {:>7.3}  {:>7} {:>6}  {}\n",
            row.id,
            row.traced_ms,
            row.instrumented_ms,
            row.ratio,
            row.paired_ratio,
            row.least_ratio,
            row.vectors,
            row.words,
            row.mode
        ));
    }
    text.push_str(&format!(
        "\nmedian ratio {:.3}, worst {:.3}\n",
        overhead.median_ratio, overhead.worst_ratio
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_middle_values() {
        assert_eq!(median_value(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median_value(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median_value(&mut []), 0.0);
    }

    #[test]
    fn built_in_kernels_are_many_and_of_every_shape() {
        let mut ids: Vec<_> = BENCH_KERNELS.iter().map(|kernel| kernel.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), BENCH_KERNELS.len());
        assert!(ids.len() >= 12, "{ids:?}");
        let sizes = |id: &str| {
            let kernel = BENCH_KERNELS.iter().find(|kernel| kernel.id == id).unwrap();
            let compiled = compile_kernel(kernel).unwrap();
            assert_eq!(compiled.findings, [], "{id}");
            let decisions = &compiled.measured().unwrap().markers.layout.decisions;
            (decisions.len(), decisions.iter().map(|slot| slot.vectors.len()).sum::<usize>())
        };
        assert_eq!(sizes("many-decisions"), (129, 258));
        assert_eq!(sizes("thousand-vectors"), (211, 1052));
    }
}
