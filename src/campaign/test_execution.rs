//! Running one test on one engine: the production run that is judged, and the runs that measure.
//!
//! Production gives verdict, outputs and findings. The measured module (marked on the sequential
//! engine, instrumented on the device) gives coverage records; its outputs must be production's. On
//! the device the traced module runs too: recording must change no output bit. Each of these runs
//! is repeated as asked for; what varies is no pass.

use super::kernel::{Kernel, Variant};
use super::left_open::{Between, Expectations, LeftOpen, Recorded, Settled};
use super::schedules;
use super::test_run::{
    ModuleRecords, PreparedTest, TestEngine, TestRun, job_of, judge, object_job, outputs_of,
    variant_job,
};
use crate::CampaignError;
use std::num::NonZeroU32;
use vkcert_exec::comparison::differing_contents;
use vkcert_exec::prepare::{ModuleUse, Prepared};
use vkcert_exec::{Completion, Counts, Executor, Job, JobModule, Run, RunOutcome};
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_details::{DisagreementDetails, FindingDetails, ModuleDisagreement};
use vkcert_model::id::ModuleKey;
use vkcert_model::judged::JudgedParts;
use vkcert_model::project::Contraction;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::contents::ContentsDifference;
use vkcert_sequential::SequentialExecutor;

/// Words of a module whose decoding takes longer than starting another thread for it.
const LARGE_MODULE: usize = 100_000;

/// Decodes the large modules that a test records by, while its production modules run.
pub fn decode_ahead(prepared: &PreparedTest, engine: &SequentialExecutor) {
    let is_large = |kernel: &&Kernel| kernel.production.len() > LARGE_MODULE;
    if !prepared.kernels.iter().any(is_large) {
        return;
    }
    let jobs = [job_of(prepared, Variant::Marked), object_job(prepared, EngineName::Sequential)];
    jobs.iter().flatten().for_each(|job| engine.decode_ahead(job));
}

/// Runs a prepared test on an engine, each module `repetitions` times.
pub fn run_test(
    prepared: &PreparedTest,
    engine: &mut dyn Executor,
    repetitions: NonZeroU32,
) -> Result<TestRun, CampaignError> {
    let engine = &mut TestEngine { executor: engine, repetitions };
    let plan = match &prepared.plan {
        Ok(plan) => plan,
        Err(unsupported) => {
            return Ok(TestRun::ended(engine.name(), Verdict::Unsupported, unsupported));
        }
    };
    let job = variant_job(prepared, plan, Variant::Production, plan.job.checks.clone());
    let job = job.expect("every kernel has a production module");
    let open = LeftOpen::of(prepared, plan);
    let RunOutcome { run: ran, counts, variants, started } = engine.execute(&job, None)?;
    let settled = open.settle(ran, variants, engine.name())?;
    let Settled { run: production, judgement, deciding_repetition, notes: left_open } = settled;
    let mut run = TestRun {
        engine: engine.name(),
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
        printed: production.printed.clone(),
        records: Vec::new(),
        objects: Vec::new(),
        counts,
        schedule: prepared.replay,
        schedules: None,
        directed: Vec::new(),
        altered: Vec::new(),
        judged: JudgedParts::default(),
        rests_on_undefined: false,
    };
    if production.completion == Completion::Completed {
        match engine.name() {
            EngineName::Sequential => {
                drop(measure(&open, engine, Variant::Marked, &production, &mut run)?)
            }
            EngineName::Vulkan => measure_on_device(&open, engine, &production, &mut run)?,
        }
        measure_objects(&open, engine, &production, &mut run)?;
    } else {
        run.name_likely_cause(&open, &production.completion);
        let reason = format!(
            "the production run did not complete: {}",
            run.reason.as_deref().unwrap_or("no reason")
        );
        run.records = module_records(plan, &run.counts, |_| Err(reason.clone()));
    }
    schedules::amplify(&open, &job, &production, engine, &mut run)?;
    schedules::direct(&open, engine, &mut run)?;
    for finding in &mut run.findings {
        prepared.kernels.iter().for_each(|kernel| kernel.place_exactly(finding));
        attribute(prepared, plan, finding);
        number(prepared, finding);
    }
    run.findings.sort_by(Finding::order);
    Ok(run)
}

impl TestRun {
    /// What the module `name` left varies: whatever production left, the test is no pass.
    fn vary(&mut self, name: &str, reason: &str) {
        self.doubt(format!("{name} module: {reason}"));
    }

    /// A device that is lost, or does not end, in a kernel whose invocations wait for each other
    /// has most likely never run the one that is waited for.
    fn name_likely_cause(&mut self, open: &LeftOpen<'_>, completion: &Completion) {
        let stuck =
            matches!(completion, Completion::DeviceLost { .. } | Completion::Timeout { .. });
        if self.engine != EngineName::Vulkan || !stuck {
            return;
        }
        let waiting = &open.dependence(Recorded::Source).waiting;
        if let (Some(kernel), Some(reason)) = (waiting.first(), &mut self.reason) {
            reason.push_str(&format!(
                "; likely cause: kernel `{kernel}` waits in a loop for what another invocation writes, and Vulkan guarantees \
                 no forward progress between invocations, so that this one may never run (within a subgroup above all)"
            ));
        }
    }

    /// Compares what two modules of the test left.
    fn compare(
        &mut self,
        open: &LeftOpen<'_>,
        runs: [&Run; 2],
        names: [&'static str; 2],
        expectations: Expectations,
    ) {
        let [left, right] = runs;
        if differing_contents(&left.buffers, &right.buffers).next().is_none() {
            return;
        }
        let [left_name, right_name] = names;
        let between = format!("{left_name} and {right_name} module on {}", self.engine);
        let differences =
            open.contents(&left.buffers, &right.buffers, Between::Modules, expectations);
        self.leave_open(open.notes(&between, &differences.open));
        self.findings.extend(difference(open, runs, names, expectations));
    }
}

/// Names the kernel that a finding is of, and its configuration, by the module that an engine
/// found it in. What is of no single dispatch is of the kernel of all of them.
fn attribute(prepared: &PreparedTest, plan: &Prepared, finding: &mut Finding) {
    let found_in = finding.module.take();
    finding.kernel = None;
    let of_module = |module: &JobModule| found_in.as_ref().is_none_or(|key| module.key == *key);
    let of_schedule = match &finding.details {
        FindingDetails::ScheduleDependentOutput(details) => details.kernels(),
        _ => None,
    };
    let is_of = |of: &ModuleUse| of_schedule.is_none_or(|names| names.contains(&of.kernel));
    let modules = plan.job.modules.iter().zip(plan.modules.iter().zip(&prepared.kernels));
    let mut uses =
        modules.filter(|(module, (of, _))| of_module(module) && is_of(of)).map(|(_, found)| found);
    let Some((first, kernel)) = uses.next() else { return };
    let mut configuration = kernel.configuration_of(&first.specialization);
    for (other, _) in uses {
        if other.kernel != first.kernel {
            return;
        }
        configuration = None;
    }
    finding.kernel = Some(first.kernel);
    finding.configuration = configuration.map(str::to_owned);
}

/// Numbers the instructions of a finding of one kernel.
fn number(prepared: &PreparedTest, finding: &mut Finding) {
    let kernel = finding
        .kernel
        .as_ref()
        .and_then(|name| prepared.kernels.iter().find(|kernel| kernel.name == name.as_str()));
    let Some(kernel) = kernel else { return };
    finding.numbers = kernel.numbers(finding);
}

/// One entry per module of the job.
fn module_records(
    plan: &Prepared,
    counts: &Counts,
    records: impl Fn(&ModuleKey) -> Result<Records, String>,
) -> Vec<ModuleRecords> {
    let row = |(module, of): (&JobModule, &ModuleUse)| ModuleRecords {
        kernel: of.kernel.as_str().to_owned(),
        specialization: of.specialization.clone(),
        records: records(&module.key),
        lowering: counts.lowering.get(&module.key).cloned().unwrap_or_default(),
    };
    plan.job.modules.iter().zip(&plan.modules).map(row).collect()
}

fn measure(
    open: &LeftOpen<'_>,
    engine: &mut TestEngine<'_>,
    which: Variant,
    production: &Run,
    run: &mut TestRun,
) -> Result<Option<Run>, CampaignError> {
    let (prepared, plan) = (open.prepared, open.plan);
    let Some(job) = variant_job(prepared, plan, which, Checks::none()) else {
        run.records = module_records(plan, &run.counts, |_| Err("no-source".to_owned()));
        return Ok(None);
    };
    let measuring = Measuring { job: &job, name: "measured", recorded: Recorded::Source };
    let (measured, records) = record(open, engine, &measuring, production, run)?;
    run.records = records;
    Ok(Some(measured))
}

/// Runs the production modules with their branches recorded, where the kernels have them.
fn measure_objects(
    open: &LeftOpen<'_>,
    engine: &mut TestEngine<'_>,
    production: &Run,
    run: &mut TestRun,
) -> Result<(), CampaignError> {
    let Some(job) = object_job(open.prepared, engine.name()) else { return Ok(()) };
    let measuring =
        Measuring { job: &job, name: "object-instrumented", recorded: Recorded::Object };
    let (_, records) = record(open, engine, &measuring, production, run)?;
    run.objects = records;
    Ok(())
}

/// A job that records.
struct Measuring<'a> {
    job: &'a Job,
    name: &'static str,
    recorded: Recorded,
}

/// Runs a measuring job; what it leaves must be what production left, but for what the test leaves
/// open.
fn record(
    open: &LeftOpen<'_>,
    engine: &mut TestEngine<'_>,
    measuring: &Measuring<'_>,
    production: &Run,
    run: &mut TestRun,
) -> Result<(Run, Vec<ModuleRecords>), CampaignError> {
    let Measuring { job, name, recorded } = *measuring;
    let (prepared, plan) = (open.prepared, open.plan);
    let between = format!("repetitions of the {name} module on {}", engine.name());
    let (measured, notes) = open.execute(engine, job, recorded, &between)?;
    run.leave_open(notes);
    let failed = match &measured.completion {
        Completion::Completed => None,
        Completion::Varying { reason } => Some(format!("{name} module: {reason}")),
        other => Some(format!("the {name} run did not complete: {other}")),
    };
    let records =
        module_records(plan, &run.counts, |key| match (&failed, measured.records.get(key)) {
            (Some(reason), _) => Err(reason.clone()),
            (None, Some(records)) => Ok(records.clone()),
            (None, None) => Err("the engine gave no records back".to_owned()),
        });
    if let Completion::Varying { reason } = &measured.completion {
        run.vary(name, reason);
    } else if let Some(reason) = &failed {
        run.findings.push(Finding::new(FindingKind::EngineDisagreement, reason.clone()));
    } else {
        let verdict = judge(plan, &measured)?.verdict;
        let tolerated = prepared.contraction == Contraction::Allowed && verdict == run.verdict;
        let expectations = Expectations::of(run.verdict, verdict);
        if !tolerated {
            run.compare(open, [production, &measured], ["production", name], expectations);
        }
    }
    Ok((measured, records))
}

fn measure_on_device(
    open: &LeftOpen<'_>,
    engine: &mut TestEngine<'_>,
    production: &Run,
    run: &mut TestRun,
) -> Result<(), CampaignError> {
    let Some(instrumented) = measure(open, engine, Variant::Instrumented, production, run)? else {
        return Ok(());
    };
    if instrumented.completion != Completion::Completed {
        return Ok(());
    }
    let Some(job) = variant_job(open.prepared, open.plan, Variant::Traced, Checks::none()) else {
        return Ok(());
    };
    let between = format!("repetitions of the traced module on {}", engine.name());
    let (traced, notes) = open.execute(engine, &job, Recorded::Source, &between)?;
    run.leave_open(notes);
    match &traced.completion {
        Completion::Completed => {
            let verdicts =
                [judge(open.plan, &traced)?.verdict, judge(open.plan, &instrumented)?.verdict];
            let expectations = Expectations::of(verdicts[0], verdicts[1]);
            run.compare(open, [&traced, &instrumented], ["traced", "instrumented"], expectations);
        }
        Completion::Varying { reason } => run.vary("traced", reason),
        other => {
            let message = format!("the traced run did not complete: {other}");
            run.findings.push(Finding::new(FindingKind::EngineDisagreement, message));
        }
    }
    Ok(())
}

/// A finding where two runs of one test left different bytes that must be the same.
fn difference(
    open: &LeftOpen<'_>,
    [left, right]: [&Run; 2],
    [left_name, right_name]: [&str; 2],
    expectations: Expectations,
) -> Option<Finding> {
    let closed_offsets = differing_contents(&left.buffers, &right.buffers).map(|difference| {
        let ContentsDifference { buffer, .. } = difference;
        let is_closed = move |offset: &usize| {
            open.opening(buffer, *offset as u64, Between::Modules, expectations).is_none()
        };
        (buffer, difference.offsets().filter(is_closed))
    });
    let (buffer, offset, count) =
        closed_offsets.into_iter().find_map(|(buffer, mut offsets)| {
            let first_offset = offsets.next()?;
            Some((buffer, first_offset, 1 + offsets.count()))
        })?;
    let name = &open.plan.job.buffers[buffer].name;
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
