//! Running one test on one engine: the production run that is judged, and the runs that measure.
//!
//! Production gives verdict, outputs and findings. The measured module (marked on the sequential
//! engine, instrumented on the device) gives coverage records; its outputs must be production's. On
//! the device the traced module runs too: recording must change no output bit. Each of these runs
//! is repeated as asked for; what varies is no pass.

use super::access_pairs::configuration_number;
use super::dispatch_order::place_of_configuration;
use super::kernel::{Kernel, ModuleVariant};
use super::left_open::{ComparedResults, Expectations, LeftOpen, RecordedCode, SettledRun};
use super::raced_pairs::drop_raced_pairs;
use super::schedules::{self, OpenPairs};
use super::test_run::{
    ModuleRecords, PreparedTest, TestEngine, TestRun, job_of, judge_run, object_job, outputs_of,
    variant_job,
};
use crate::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use vkcert_coverage::coupling::executed_pairs;
use vkcert_exec::access_pairs::{AccessPairs, PairTracking};
use vkcert_exec::comparison::differing_contents;
use vkcert_exec::prepare::{ModuleUse, Prepared};
use vkcert_exec::{Completion, Counts, Executor, Job, JobModule, Run, RunOutcome};
use vkcert_model::access_pair::{Passage, ShownPairs};
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_details::{DisagreementDetails, FindingDetails, ModuleDisagreement};
use vkcert_model::id::ModuleKey;
use vkcert_model::judged::JudgedParts;
use vkcert_model::pair_obligation::KernelPairs;
use vkcert_model::project::Contraction;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::contents::ContentsDifference;
use vkcert_sequential::SequentialExecutor;

/// Words of a module whose decoding takes longer than starting another thread for it.
const LARGE_MODULE: usize = 100_000;

/// Decodes the large modules that a test records by, while its production modules run.
pub fn decode_ahead(prepared_test: &PreparedTest, sequential_engine: &SequentialExecutor) {
    let is_large = |kernel: &&Kernel| kernel.production.len() > LARGE_MODULE;
    if !prepared_test.kernels.iter().any(is_large) {
        return;
    }
    let jobs = [
        job_of(prepared_test, ModuleVariant::Marked),
        object_job(prepared_test, EngineName::Sequential),
    ];
    jobs.iter().flatten().for_each(|job| sequential_engine.decode_ahead(job));
}

/// Runs a prepared test on an engine, each module `repetitions` times.
pub fn run_test(
    prepared_test: &PreparedTest,
    executor: &mut dyn Executor,
    repetitions: NonZeroU32,
) -> Result<TestRun, CampaignError> {
    let executor = &mut TestEngine { executor, repetitions };
    let plan = match &prepared_test.job_plan {
        Ok(plan) => plan,
        Err(unsupported) => {
            return Ok(TestRun::ended_before_running(
                executor.name(),
                Verdict::Unsupported,
                unsupported,
            ));
        }
    };
    let job = variant_job(prepared_test, plan, ModuleVariant::Production, plan.job.checks);
    let job = job.expect("every kernel has a production module");
    let open = LeftOpen::of_test(prepared_test, plan);
    let pair_tracking = pair_tracking(prepared_test);
    let RunOutcome { run: ran, counts, variants, started } =
        executor.execute_following(&job, None, pair_tracking)?;
    let settled = open.settle_repetitions(ran, variants, executor.name())?;
    let SettledRun { run: mut production, judgement, deciding_repetition, notes: left_open } =
        settled;
    let mut run = TestRun {
        engine: executor.name(),
        verdict: judgement.verdict,
        reason: judgement.reason,
        repetitions: started,
        deciding_repetition,
        left_open,
        mismatches: judgement.mismatches,
        outputs: outputs_of(&plan.job, &production),
        findings: production.findings.clone(),
        notes: production.notes.clone(),
        race_scope: production.race_scope,
        printed: std::mem::take(&mut production.printed),
        records: Vec::new(),
        objects: Vec::new(),
        counts,
        schedule: prepared_test.replay,
        schedules: None,
        directed: Vec::new(),
        altered: Vec::new(),
        judged: JudgedParts::default(),
        rests_on_undefined: false,
    };
    let mut open_pairs = OpenPairs::default();
    if production.completion == Completion::Completed {
        match executor.name() {
            EngineName::Sequential => drop(measure_coverage(
                &open,
                executor,
                ModuleVariant::Marked,
                &production,
                &mut run,
            )?),
            EngineName::Vulkan => measure_on_device(&open, executor, &production, &mut run)?,
        }
        measure_objects(&open, executor, &production, &mut run)?;
        open_pairs = add_shown_pairs(&open, &mut run);
    } else {
        run.name_likely_cause(&open, &production.completion);
        let reason = format!(
            "the production run did not complete: {}",
            run.reason.as_deref().unwrap_or("no reason")
        );
        run.records = module_records(plan, &run.counts, |_| Err(reason.clone()));
    }
    schedules::run_schedules(&open, &job, &production, executor, &mut run)?;
    schedules::measure_directed(&open, executor, &mut run)?;
    schedules::show_open_pairs(&open, &job, open_pairs, executor, &mut run)?;
    for finding in &mut run.findings {
        prepared_test.kernels.iter().for_each(|kernel| kernel.place_exactly(finding));
        attribute_to_kernel(prepared_test, plan, finding);
        number_instructions(prepared_test, finding);
    }
    run.findings.sort_by(Finding::order);
    Ok(run)
}

/// Accesses are followed where coverage of coupling is asked for.
fn pair_tracking(prepared_test: &PreparedTest) -> PairTracking {
    let has_pairs = |kernel: &&Kernel| kernel.configurations.iter().any(|row| row.pairs.is_some());
    if prepared_test.kernels.iter().any(has_pairs) { PairTracking::On } else { PairTracking::Off }
}

/// Puts what the production run showed of coupling beside the records of each kernel; which pairs
/// it could show in another order.
fn add_shown_pairs(left_open: &LeftOpen<'_>, test_run: &mut TestRun) -> OpenPairs {
    let (prepared_test, job_plan) = (left_open.prepared_test, left_open.job_plan);
    let mut open_pairs = OpenPairs::default();
    let mut access_pairs = std::mem::take(&mut test_run.counts.access_pairs);
    drop_raced_pairs(left_open, &test_run.findings, &mut access_pairs);
    let modules = job_plan.job.modules.iter().zip(&job_plan.modules).zip(&prepared_test.kernels);
    for (row, ((module, module_use), kernel)) in test_run.records.iter_mut().zip(modules) {
        let mut configurations = kernel.configurations.iter();
        let configuration =
            configurations.find(|row| row.specialization == module_use.specialization);
        let Some(kernel_pairs) = configuration.and_then(|row| row.pairs.as_ref()) else { continue };
        if let Ok(records) = &mut row.records {
            let shown = shown_pairs(&access_pairs, &module.key, kernel_pairs);
            records.pairs = shown.map(|shown| name_configurations(prepared_test, job_plan, shown));
            if let AccessPairs::Tracked(by_module) = &access_pairs
                && let Some(module_pairs) = by_module.get(&module.key)
            {
                open_pairs.add_module(module.key, kernel_pairs, module_pairs);
            }
        }
    }
    open_pairs
}

/// Names earlier kernels by their configurations: the numbers of a job are its own.
fn name_configurations(
    prepared_test: &PreparedTest,
    job_plan: &Prepared,
    shown: ShownPairs,
) -> ShownPairs {
    let ShownPairs::Shown(pairs) = shown else { return shown };
    let modules = job_plan.job.modules.iter().zip(&job_plan.modules).zip(&prepared_test.kernels);
    let numbers: BTreeMap<ModuleKey, u32> = modules
        .map(|((module, module_use), kernel)| {
            let place = place_of_configuration(kernel, &module_use.specialization);
            (module.key, configuration_number(place))
        })
        .collect();
    let renamed = pairs.into_iter().map(|mut pair| {
        if let Passage::Dispatch { kernel, specialization, .. } = &mut pair.passage {
            let key = ModuleKey { kernel: *kernel, specialization: *specialization };
            *specialization = numbers.get(&key).copied().unwrap_or(0);
        }
        pair
    });
    ShownPairs::Shown(renamed.collect())
}

fn shown_pairs(
    access_pairs: &AccessPairs,
    module_key: &ModuleKey,
    kernel_pairs: &KernelPairs,
) -> Option<ShownPairs> {
    match access_pairs {
        AccessPairs::NotTracked => None,
        AccessPairs::Undetermined { reason } => Some(ShownPairs::NotFollowed(reason.clone())),
        AccessPairs::Tracked(by_module) => {
            let Some(module_pairs) = by_module.get(module_key) else {
                return Some(ShownPairs::Shown(BTreeSet::new()));
            };
            let mut pairs = module_pairs.pairs.clone();
            pairs.extend(executed_pairs(&kernel_pairs.obligations, |index| {
                module_pairs.has_executed(index)
            }));
            Some(ShownPairs::Shown(pairs))
        }
    }
}

impl TestRun {
    /// What the module `name` left varies: whatever production left, the test is no pass.
    fn doubt_varying_module(&mut self, name: &str, reason: &str) {
        self.doubt(format!("{name} module: {reason}"));
    }

    /// A device that is lost, or does not end, in a kernel whose invocations can wait for each other
    /// may never have run the one that is waited for.
    fn name_likely_cause(&mut self, left_open: &LeftOpen<'_>, completion: &Completion) {
        let stuck =
            matches!(completion, Completion::DeviceLost { .. } | Completion::Timeout { .. });
        if self.engine != EngineName::Vulkan || !stuck {
            return;
        }
        let waiting = &left_open.schedule_dependence(RecordedCode::Source).waiting;
        if let (Some(kernel), Some(reason)) = (waiting.first(), &mut self.reason) {
            reason.push_str(&format!(
                "; possible cause: kernel `{kernel}` has a loop that can wait for what another invocation writes, and Vulkan guarantees \
                 no forward progress between invocations, so that this one may never run (within a subgroup above all)"
            ));
        }
    }

    /// Compares what two modules of the test left.
    fn compare_modules(
        &mut self,
        left_open: &LeftOpen<'_>,
        module_runs: [&Run; 2],
        module_names: [&'static str; 2],
        expectations: Expectations,
    ) {
        let [left, right] = module_runs;
        if differing_contents(&left.buffers, &right.buffers).next().is_none() {
            return;
        }
        let [left_name, right_name] = module_names;
        let between = format!("{left_name} and {right_name} module on {}", self.engine);
        let differences = left_open.compare_contents(
            &left.buffers,
            &right.buffers,
            ComparedResults::Modules,
            expectations,
        );
        self.leave_open(left_open.notes_on_openings(&between, &differences.open));
        self.findings.extend(module_disagreement(
            left_open,
            module_runs,
            module_names,
            expectations,
        ));
    }
}

/// Names the kernel that a finding is of, and its configuration, by the module that an engine
/// found it in. What is of no single dispatch is of the kernel of all of them.
fn attribute_to_kernel(prepared_test: &PreparedTest, job_plan: &Prepared, finding: &mut Finding) {
    let found_in = finding.module.take();
    finding.kernel = None;
    let of_module = |module: &JobModule| found_in.as_ref().is_none_or(|key| module.key == *key);
    let of_schedule = match &finding.details {
        FindingDetails::ScheduleDependentOutput(details) => details.kernels(),
        _ => None,
    };
    let is_of =
        |module_use: &ModuleUse| of_schedule.is_none_or(|names| names.contains(&module_use.kernel));
    let modules =
        job_plan.job.modules.iter().zip(job_plan.modules.iter().zip(&prepared_test.kernels));
    let mut module_uses = modules
        .filter(|(module, (module_use, _))| of_module(module) && is_of(module_use))
        .map(|(_, found)| found);
    let Some((first_use, kernel)) = module_uses.next() else { return };
    let mut configuration = kernel.configuration_of(&first_use.specialization);
    for (other, _) in module_uses {
        if other.kernel != first_use.kernel {
            return;
        }
        configuration = None;
    }
    finding.kernel = Some(first_use.kernel);
    finding.configuration = configuration.map(str::to_owned);
}

/// Numbers the instructions of a finding of one kernel.
fn number_instructions(prepared_test: &PreparedTest, finding: &mut Finding) {
    let kernel = finding
        .kernel
        .as_ref()
        .and_then(|name| prepared_test.kernels.iter().find(|kernel| kernel.name == name.as_str()));
    let Some(kernel) = kernel else { return };
    finding.numbers = kernel.instruction_numbers(finding);
}

/// One entry per module of the job.
fn module_records(
    job_plan: &Prepared,
    counts: &Counts,
    records: impl Fn(&ModuleKey) -> Result<Records, String>,
) -> Vec<ModuleRecords> {
    let module_row = |(module, module_use): (&JobModule, &ModuleUse)| ModuleRecords {
        kernel: module_use.kernel.as_str().to_owned(),
        specialization: module_use.specialization.clone(),
        records: records(&module.key),
        lowering: counts.lowering.get(&module.key).cloned().unwrap_or_default(),
    };
    job_plan.job.modules.iter().zip(&job_plan.modules).map(module_row).collect()
}

fn measure_coverage(
    left_open: &LeftOpen<'_>,
    test_engine: &mut TestEngine<'_>,
    module_variant: ModuleVariant,
    production: &Run,
    test_run: &mut TestRun,
) -> Result<Option<Run>, CampaignError> {
    let (prepared, plan) = (left_open.prepared_test, left_open.job_plan);
    let Some(job) = variant_job(prepared, plan, module_variant, Checks::none()) else {
        test_run.records = module_records(plan, &test_run.counts, |_| Err("no-source".to_owned()));
        return Ok(None);
    };
    let measuring = MeasuringRun { job: &job, name: "measured", recorded: RecordedCode::Source };
    let (measured, records) =
        run_measuring_job(left_open, test_engine, &measuring, production, test_run)?;
    test_run.records = records;
    Ok(Some(measured))
}

/// Runs the production modules with their branches recorded, where the kernels have them.
fn measure_objects(
    left_open: &LeftOpen<'_>,
    test_engine: &mut TestEngine<'_>,
    production: &Run,
    test_run: &mut TestRun,
) -> Result<(), CampaignError> {
    let Some(job) = object_job(left_open.prepared_test, test_engine.name()) else { return Ok(()) };
    let measuring =
        MeasuringRun { job: &job, name: "object-instrumented", recorded: RecordedCode::Object };
    let (_, records) = run_measuring_job(left_open, test_engine, &measuring, production, test_run)?;
    test_run.objects = records;
    Ok(())
}

/// A job that records.
struct MeasuringRun<'a> {
    job: &'a Job,
    name: &'static str,
    recorded: RecordedCode,
}

/// Runs a measuring job; what it leaves must be what production left, but for what the test leaves
/// open.
fn run_measuring_job(
    left_open: &LeftOpen<'_>,
    test_engine: &mut TestEngine<'_>,
    measuring: &MeasuringRun<'_>,
    production: &Run,
    test_run: &mut TestRun,
) -> Result<(Run, Vec<ModuleRecords>), CampaignError> {
    let MeasuringRun { job, name, recorded } = *measuring;
    let (prepared, plan) = (left_open.prepared_test, left_open.job_plan);
    let between = format!("repetitions of the {name} module on {}", test_engine.name());
    let (measured, notes) = left_open.execute_united(test_engine, job, recorded, &between)?;
    test_run.leave_open(notes);
    let failure_reason = match &measured.completion {
        Completion::Completed => None,
        Completion::Varying { reason } => Some(format!("{name} module: {reason}")),
        other => Some(format!("the {name} run did not complete: {other}")),
    };
    let records = module_records(plan, &test_run.counts, |key| {
        match (&failure_reason, measured.records.get(key)) {
            (Some(reason), _) => Err(reason.clone()),
            (None, Some(records)) => Ok(records.clone()),
            (None, None) => Err("the engine gave no records back".to_owned()),
        }
    });
    if let Completion::Varying { reason } = &measured.completion {
        test_run.doubt_varying_module(name, reason);
    } else if let Some(reason) = &failure_reason {
        test_run.findings.push(Finding::new(FindingKind::EngineDisagreement, reason.clone()));
    } else {
        let verdict = judge_run(plan, &measured)?.verdict;
        let is_tolerated =
            prepared.contraction == Contraction::Allowed && verdict == test_run.verdict;
        let expectations = Expectations::of_verdicts(test_run.verdict, verdict);
        if !is_tolerated {
            test_run.compare_modules(
                left_open,
                [production, &measured],
                ["production", name],
                expectations,
            );
        }
    }
    Ok((measured, records))
}

fn measure_on_device(
    left_open: &LeftOpen<'_>,
    test_engine: &mut TestEngine<'_>,
    production: &Run,
    test_run: &mut TestRun,
) -> Result<(), CampaignError> {
    let Some(instrumented) = measure_coverage(
        left_open,
        test_engine,
        ModuleVariant::Instrumented,
        production,
        test_run,
    )?
    else {
        return Ok(());
    };
    if instrumented.completion != Completion::Completed {
        return Ok(());
    }
    let Some(job) = variant_job(
        left_open.prepared_test,
        left_open.job_plan,
        ModuleVariant::Traced,
        Checks::none(),
    ) else {
        return Ok(());
    };
    let between = format!("repetitions of the traced module on {}", test_engine.name());
    let (traced, notes) =
        left_open.execute_united(test_engine, &job, RecordedCode::Source, &between)?;
    test_run.leave_open(notes);
    match &traced.completion {
        Completion::Completed => {
            let verdicts = [
                judge_run(left_open.job_plan, &traced)?.verdict,
                judge_run(left_open.job_plan, &instrumented)?.verdict,
            ];
            let expectations = Expectations::of_verdicts(verdicts[0], verdicts[1]);
            test_run.compare_modules(
                left_open,
                [&traced, &instrumented],
                ["traced", "instrumented"],
                expectations,
            );
        }
        Completion::Varying { reason } => test_run.doubt_varying_module("traced", reason),
        other => {
            let message = format!("the traced run did not complete: {other}");
            test_run.findings.push(Finding::new(FindingKind::EngineDisagreement, message));
        }
    }
    Ok(())
}

/// A finding where two runs of one test left different bytes that must be the same.
fn module_disagreement(
    left_open: &LeftOpen<'_>,
    [left, right]: [&Run; 2],
    [left_name, right_name]: [&str; 2],
    expectations: Expectations,
) -> Option<Finding> {
    let closed_offsets = differing_contents(&left.buffers, &right.buffers).map(|difference| {
        let ContentsDifference { buffer, .. } = difference;
        let is_closed = move |offset: &usize| {
            left_open
                .opening_at(buffer, *offset as u64, ComparedResults::Modules, expectations)
                .is_none()
        };
        (buffer, difference.offsets().filter(is_closed))
    });
    let (buffer, offset, count) =
        closed_offsets.into_iter().find_map(|(buffer, mut offsets)| {
            let first_offset = offsets.next()?;
            Some((buffer, first_offset, 1 + offsets.count()))
        })?;
    let name = &left_open.job_plan.job.buffers[buffer].name;
    let message = format!(
        "{left_name} and {right_name} module leave different contents in buffer `{name}`: {count} bytes differ, the first at offset {offset}"
    );
    let details = DisagreementDetails::Modules(ModuleDisagreement {
        comparison: format!("{left_name}/{right_name}"),
        buffer: name.clone(),
        offset,
    });
    Some(Finding::engine_disagreement(message, details))
}
