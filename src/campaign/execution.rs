//! All tests of a campaign on all engines.

use super::agreement::undefined;
use super::configuration;
use super::display::Display;
use super::engines::{Engines, Vulkan};
use super::kernel::Kernel;
use super::plan::Plan;
use super::profile::Target;
use crate::CampaignError;

use super::test_execution;
use super::test_run::{PreparedTest, TestRun};
use rayon::prelude::*;
use std::path::Path;
use vkcert_exec::Executor;
use vkcert_exec::prepare::{self, PrepareError, Setting};
use vkcert_exec::schedule::Permuted;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::Test;
use vkcert_model::project::{Contraction, ProjectLimits};
use vkcert_model::schedule::{Schedule, Schedules};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::{Located, Project, trace};
use vkcert_sequential::SequentialExecutor;
use vkcert_vulkan::pool;

/// What tests are laid out with.
pub struct Bench<'a> {
    /// The kernels, in project order.
    pub kernels: &'a [Kernel],
    /// Paths in tests are relative to this folder.
    pub base: &'a Path,
    /// Limits of tests and evidence.
    pub limits: ProjectLimits,
    /// Whether production may differ from the traced module in floats.
    pub contraction: Contraction,
    /// The API that the kernels are for, with its declared features.
    pub target: Target,
    /// Other schedules that each test runs in.
    pub schedules: Schedules,
    /// The schedule that tests run in, in place of the ordinary one.
    pub replay: Option<Schedule>,
}

/// Checks and lays out every test of a project; all diagnostics together.
pub fn prepare<'a>(
    project: &'a Project,
    kernels: &'a [Kernel],
    plan: &Plan,
    (schedules, replay): (Schedules, Option<Schedule>),
) -> Result<Vec<PreparedTest<'a>>, CampaignError> {
    let settings = &project.settings.value;
    let (limits, contraction) = (settings.limits, settings.contraction);
    let target = Target::of(settings);
    let bench =
        Bench { kernels, base: &project.root, limits, contraction, target, schedules, replay };
    prepare_tests(&project.tests, &bench, plan)
}

/// Checks and lays out tests.
pub fn prepare_tests<'a>(
    tests: &'a [Located<Test>],
    bench: &Bench<'a>,
    plan: &Plan,
) -> Result<Vec<PreparedTest<'a>>, CampaignError> {
    let kernels = bench
        .kernels
        .iter()
        .map(|kernel| (KernelName::from(&kernel.name), configuration::prepared(kernel)));
    let kernels = kernels.collect();
    let setting = Setting {
        kernels: &kernels,
        base: bench.base,
        limits: &bench.limits,
        overrides: plan.limits(),
        checks: plan.checks.clone(),
    };
    let mut diagnostics = Vec::new();
    let mut prepared = Vec::new();
    for test in tests {
        let laid_out = match unsupported(test, bench.kernels).or_else(|| bench.target.lacks(test)) {
            Some(what) => Err(PrepareError::Unsupported { what }),
            None => prepare::prepare(test, &setting),
        };
        let laid_out = match laid_out {
            Ok(laid_out) => Ok(laid_out),
            Err(PrepareError::Unsupported { what }) => Err(what),
            Err(PrepareError::Input(found)) => {
                diagnostics.extend(found);
                continue;
            }
        };
        let modules = laid_out.iter().flat_map(|laid_out| &laid_out.modules);
        let named =
            |name: &KernelName| bench.kernels.iter().find(|kernel| kernel.name == name.as_str());
        let kernels = modules.filter_map(|module| named(&module.kernel)).collect();
        let Bench { contraction, schedules, replay, .. } = *bench;
        prepared.push(PreparedTest {
            test: &test.value,
            plan: laid_out,
            kernels,
            contraction,
            schedules,
            replay,
        });
    }
    if diagnostics.is_empty() { Ok(prepared) } else { Err(CampaignError::Input(diagnostics)) }
}

/// What no engine can run of a test's kernels.
fn unsupported(test: &Test, kernels: &[Kernel]) -> Option<String> {
    let names = trace::kernels_of(test);
    let used =
        kernels.iter().filter(|kernel| names.iter().any(|name| name.as_str() == kernel.name));
    used.filter_map(|kernel| Some(format!("kernel `{}`: {}", kernel.name, kernel.not_run()?)))
        .next()
}

/// Runs every test on every engine: one row per test, one entry per engine in the order of
/// `Engines::names`, an engine that was not there as `not-run`.
pub fn run(
    prepared: &[PreparedTest],
    engines: &mut Engines,
    plan: &Plan,
    display: &dyn Display,
) -> Result<Vec<Vec<TestRun>>, CampaignError> {
    let missing = match &engines.vulkan {
        Vulkan::NotRun { reason } => Some(reason.clone()),
        Vulkan::Ready(_) | Vulkan::NotAsked => None,
    };
    display.begin(prepared.len() * engines.names().len());
    let pool = if engines.sequential { Some(pool_of(plan)?) } else { None };
    let sequential = match &pool {
        Some(pool) => run_sequential(prepared, engines, pool, display)?,
        None => Vec::new(),
    };
    let vulkan = run_vulkan(prepared, engines, plan, display)?;
    display.end();
    let mut rows: Vec<Vec<TestRun>> = prepared.iter().map(|_| Vec::new()).collect();
    for (row, run) in rows.iter_mut().zip(sequential) {
        row.push(run);
    }
    for (row, run) in rows.iter_mut().zip(vulkan) {
        row.push(run);
    }
    if let Some(reason) = missing {
        for row in &mut rows {
            row.push(TestRun::not_run(EngineName::Vulkan, &reason));
        }
    }
    if let Some(pool) = &pool {
        mark_undefined(prepared, &mut rows, &engines.sequential(), pool);
    }
    Ok(rows)
}

/// Notes in the records of every test what of them may follow undefined values.
fn mark_undefined(
    prepared: &[PreparedTest],
    rows: &mut [Vec<TestRun>],
    engine: &SequentialExecutor,
    pool: &rayon::ThreadPool,
) {
    let tests = prepared.par_iter().zip(rows);
    pool.install(|| tests.for_each(|(test, row)| undefined::mark(test, row, engine)));
}

fn pool_of(plan: &Plan) -> Result<rayon::ThreadPool, CampaignError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.jobs).build();
    pool.map_err(|error| CampaignError::tool(format!("cannot start {} jobs: {error}", plan.jobs)))
}

fn run_sequential(
    prepared: &[PreparedTest],
    engines: &Engines,
    pool: &rayon::ThreadPool,
    display: &dyn Display,
) -> Result<Vec<TestRun>, CampaignError> {
    let (fresh, repetitions) = (engines.sequential(), engines.repetitions(EngineName::Sequential));
    let run_test = |test: &PreparedTest| {
        let run = || {
            display.carry_out(&test.test.id, &mut fresh.clone(), &mut |engine| {
                test_execution::run_test(test, engine, repetitions)
            })
        };
        rayon::join(run, || test_execution::decode_ahead(test, &fresh)).0
    };
    pool.install(|| prepared.par_iter().map(run_test).collect())
}

fn run_vulkan(
    prepared: &[PreparedTest],
    engines: &mut Engines,
    plan: &Plan,
    display: &dyn Display,
) -> Result<Vec<TestRun>, CampaignError> {
    let repetitions = engines.repetitions(EngineName::Vulkan);
    let Vulkan::Ready(executor) = &mut engines.vulkan else { return Ok(Vec::new()) };
    let run_test = |test: &PreparedTest, worker: &mut dyn Executor| {
        display.carry_out(&test.test.id, worker, &mut |engine| match test.replay {
            Some(schedule) => test_execution::run_test(
                test,
                &mut Permuted::new(engine, schedule.workgroups),
                repetitions,
            ),
            None => test_execution::run_test(test, engine, repetitions),
        })
    };
    pool::share(executor, plan.workers, prepared, run_test).into_iter().collect()
}
