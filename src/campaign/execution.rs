//! All tests of a campaign on all engines.

use super::agreement::undefined;
use super::configuration;
use super::display::Display;
use super::early_end::RunGate;
use super::engines::{DeviceEngine, Engines};
use super::kernel::{Kernel, KernelsByName, kernels_by_name};
use super::plan::RunPlan;
use super::profile::ProjectTarget;
use super::project::all_or_diagnostics;
use crate::CampaignError;

use super::reuse::with_cache;
use super::statement_counts::add_statement_counts;
use super::test_execution;
use super::test_run::{PreparedTest, TestRun};
use rayon::prelude::*;
use std::path::Path;
use vkcert_exec::Executor;
use vkcert_exec::prepare::{self, PrepareError, Prepared, Setting};
use vkcert_exec::schedule::Permuted;
use vkcert_model::id::KernelName;
use vkcert_model::metric::MetricName;
use vkcert_model::procedure::Test;
use vkcert_model::project::{Contraction, ProjectLimits};
use vkcert_model::schedule::{Schedule, Schedules};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::{Located, Project, trace};
use vkcert_sequential::SequentialExecutor;
use vkcert_vulkan::pool;

/// What tests are laid out with.
pub struct TestBench<'a> {
    /// The kernels, in project order.
    pub kernels: &'a [Kernel],
    /// Paths in tests are relative to this folder.
    pub base: &'a Path,
    /// Limits of tests and evidence.
    pub limits: ProjectLimits,
    /// Whether production may differ from the traced module in floats.
    pub contraction: Contraction,
    /// The API that the kernels are for, with its declared features.
    pub target: ProjectTarget,
    /// Other schedules that each test runs in.
    pub schedules: Schedules,
    /// The schedule that tests run in, in place of the ordinary one.
    pub replay: Option<Schedule>,
    /// What is measured beside the criteria.
    pub metrics: &'a [MetricName],
}

/// Checks and lays out every test of a project; all diagnostics together.
pub fn prepare_project<'a>(
    project: &'a Project,
    kernels: &'a [Kernel],
    run_plan: &RunPlan,
    (schedules, replay): (Schedules, Option<Schedule>),
) -> Result<Vec<PreparedTest<'a>>, CampaignError> {
    let settings = &project.settings.value;
    let (limits, contraction) = (settings.limits, settings.contraction);
    let target = ProjectTarget::of_project(settings);
    let bench = TestBench {
        kernels,
        base: &project.root,
        limits,
        contraction,
        target,
        schedules,
        replay,
        metrics: &settings.metrics,
    };
    prepare_tests(&project.tests, &bench, run_plan)
}

/// Checks and lays out tests.
pub fn prepare_tests<'a>(
    tests: &'a [Located<Test>],
    bench: &TestBench<'a>,
    run_plan: &RunPlan,
) -> Result<Vec<PreparedTest<'a>>, CampaignError> {
    let kernels = bench.kernels.iter().map(|kernel| {
        (KernelName::from(&kernel.name), configuration::kernel_for_preparing(kernel))
    });
    let kernels = kernels.collect();
    let preparing_setting = Setting {
        kernels: &kernels,
        base: bench.base,
        limits: &bench.limits,
        overrides: run_plan.test_limits(),
        checks: run_plan.checks,
    };
    let kernels_by_name = kernels_by_name(bench.kernels);
    let analyser = SequentialExecutor::keeping_little();
    let prepare = |test: &'a Located<Test>| {
        let laid_out = lay_out(test, bench, &preparing_setting, &kernels_by_name)?;
        Ok(prepared_test(test, laid_out, bench, &kernels_by_name, &analyser))
    };
    all_or_diagnostics(tests.par_iter().with_max_len(1).map(prepare).collect())
}

/// Checks and lays out a test; or what no engine can run of it.
fn lay_out(
    test: &Located<Test>,
    bench: &TestBench<'_>,
    preparing_setting: &Setting,
    kernels_by_name: &KernelsByName<'_>,
) -> Result<Result<Prepared, String>, CampaignError> {
    let laid_out = match unsupported_kernel(test, kernels_by_name)
        .or_else(|| bench.target.refusal_of_test(test))
    {
        Some(what) => Err(PrepareError::Unsupported { what }),
        None => prepare::prepare_test(test, preparing_setting),
    };
    match laid_out {
        Ok(laid_out) => Ok(Ok(laid_out)),
        Err(PrepareError::Unsupported { what }) => Ok(Err(what)),
        Err(PrepareError::Input(found)) => Err(CampaignError::Input(found)),
    }
}

fn prepared_test<'a>(
    test: &'a Located<Test>,
    laid_out: Result<Prepared, String>,
    bench: &TestBench<'a>,
    kernels_by_name: &KernelsByName<'a>,
    analyser: &SequentialExecutor,
) -> PreparedTest<'a> {
    let modules = laid_out.iter().flat_map(|laid_out| &laid_out.modules);
    let kernels = modules.filter_map(|module| kernels_by_name.get(&module.kernel).copied());
    let kernels = kernels.collect();
    let TestBench { contraction, schedules, replay, metrics, .. } = *bench;
    PreparedTest {
        test: &test.value,
        job_plan: laid_out,
        kernels,
        contraction,
        schedules,
        replay,
        metrics,
        analyser: analyser.clone(),
    }
}

/// What no engine can run of a test's kernels.
fn unsupported_kernel(test: &Test, kernels_by_name: &KernelsByName<'_>) -> Option<String> {
    let kernel_names = trace::kernels_of(test);
    let used_kernels = kernel_names.iter().filter_map(|name| kernels_by_name.get(name));
    used_kernels
        .filter_map(|kernel| Some(format!("kernel `{}`: {}", kernel.name, kernel.not_run()?)))
        .next()
}

/// Runs every test on every engine: one row per test, one entry per engine in the order of
/// `Engines::names`, an engine that was not there as `not-run`.
pub fn run_tests(
    prepared_tests: &[PreparedTest],
    engines: &mut Engines,
    run_plan: &RunPlan,
    display: &dyn Display,
) -> Result<Vec<Vec<TestRun>>, CampaignError> {
    let missing_device = match &engines.vulkan {
        DeviceEngine::NotRun { reason } => Some(reason.clone()),
        DeviceEngine::Ready(_) | DeviceEngine::NotAsked => None,
    };
    run_plan.limits.check_means()?;
    let gate = &RunGate::new(&run_plan.limits);
    display.begin(prepared_tests.len() * engines.names_of_engines().len());
    let thread_pool = if engines.sequential { Some(pool_of(run_plan)?) } else { None };
    let sequential_runs = match &thread_pool {
        Some(thread_pool) => run_sequential(prepared_tests, engines, thread_pool, (gate, display))?,
        None => Vec::new(),
    };
    let device_runs = run_vulkan(prepared_tests, engines, run_plan, (gate, display))?;
    display.end();
    if let Some((reason, not_begun)) = gate.early_end() {
        display.tell_early_end(&reason, not_begun);
    }
    let mut runs_by_test: Vec<Vec<TestRun>> = prepared_tests.iter().map(|_| Vec::new()).collect();
    for (row, run) in runs_by_test.iter_mut().zip(sequential_runs) {
        row.push(run);
    }
    for (row, run) in runs_by_test.iter_mut().zip(device_runs) {
        row.push(run);
    }
    if let Some(reason) = missing_device {
        for row in &mut runs_by_test {
            row.push(TestRun::not_run(EngineName::Vulkan, &reason));
        }
    }
    if let Some(thread_pool) = &thread_pool {
        complete_records(prepared_tests, &mut runs_by_test, &engines.sequential(), thread_pool);
    }
    Ok(runs_by_test)
}

/// Adds to the records of every test what further runs on the sequential engine tell.
fn complete_records(
    prepared_tests: &[PreparedTest],
    runs_by_test: &mut [Vec<TestRun>],
    sequential_engine: &SequentialExecutor,
    thread_pool: &rayon::ThreadPool,
) {
    let tests = prepared_tests.par_iter().zip(runs_by_test);
    thread_pool.install(|| {
        tests
            .with_max_len(1)
            .for_each(|(test, row)| complete_records_of_test(test, row, sequential_engine))
    });
}

/// Notes what of a test's records may follow undefined values, and counts invocations where that is
/// asked for.
pub fn complete_records_of_test(
    prepared_test: &PreparedTest,
    runs_of_test: &mut [TestRun],
    sequential_engine: &SequentialExecutor,
) {
    undefined::mark_undefined_records(prepared_test, runs_of_test, sequential_engine);
    add_statement_counts(prepared_test, runs_of_test, sequential_engine);
}

fn pool_of(run_plan: &RunPlan) -> Result<rayon::ThreadPool, CampaignError> {
    let thread_pool = rayon::ThreadPoolBuilder::new().num_threads(run_plan.jobs).build();
    thread_pool.map_err(|error| {
        CampaignError::tool(format!("cannot start {} jobs: {error}", run_plan.jobs))
    })
}

fn run_sequential(
    prepared_tests: &[PreparedTest],
    engines: &Engines,
    thread_pool: &rayon::ThreadPool,
    (gate, display): (&RunGate, &dyn Display),
) -> Result<Vec<TestRun>, CampaignError> {
    let (fresh_engine, repetitions) =
        (engines.sequential(), engines.repetitions(EngineName::Sequential));
    let cache = engines.cache.as_ref();
    let run_test = |prepared_test: &PreparedTest| {
        // What is told as finished has been kept.
        let run = || {
            display.carry_out(&prepared_test.test.id, &mut fresh_engine.clone(), &mut |engine| {
                with_cache(cache, engine, |engine| {
                    test_execution::run_test(prepared_test, engine, repetitions)
                })
            })
        };
        gate.pass((prepared_test, EngineName::Sequential), || {
            rayon::join(run, || test_execution::decode_ahead(prepared_test, &fresh_engine)).0
        })
    };
    let runs =
        thread_pool.install(|| prepared_tests.par_iter().with_max_len(1).map(run_test).collect());
    // Its many programs are given back beside what follows.
    rayon::spawn(move || drop(fresh_engine));
    runs
}

fn run_vulkan(
    prepared_tests: &[PreparedTest],
    engines: &mut Engines,
    run_plan: &RunPlan,
    (gate, display): (&RunGate, &dyn Display),
) -> Result<Vec<TestRun>, CampaignError> {
    let repetitions = engines.repetitions(EngineName::Vulkan);
    let Engines { vulkan: DeviceEngine::Ready(executor), cache, .. } = engines else {
        return Ok(Vec::new());
    };
    let run_prepared =
        |prepared_test: &PreparedTest, engine: &mut dyn Executor| match prepared_test.replay {
            Some(schedule) => test_execution::run_test(
                prepared_test,
                &mut Permuted::new(engine, schedule.workgroups),
                repetitions,
            ),
            None => test_execution::run_test(prepared_test, engine, repetitions),
        };
    let run_test = |prepared_test: &PreparedTest, worker: &mut dyn Executor| {
        gate.pass((prepared_test, EngineName::Vulkan), || {
            display.carry_out(&prepared_test.test.id, worker, &mut |engine| {
                with_cache(cache.as_ref(), engine, |engine| run_prepared(prepared_test, engine))
            })
        })
    };
    pool::share_items(executor, run_plan.workers, prepared_tests, run_test).into_iter().collect()
}
