//! A test that is prepared, the engine that is asked to run it, and what the run left.
//!
//! Knows: procedures, jobs, one executor. Promises: what the tool itself fails at on a device is
//! undetermined, never a verdict. Does not cover: which runs a test takes
//! ([`test_execution`](super::test_execution)).

use super::configuration::Specialization;
use super::kernel::{Kernel, ModuleVariant};
use super::object::ObjectVariant;
use crate::CampaignError;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use vkcert_exec::access_pairs::PairTracking;
use vkcert_exec::judge::{self, Judgement};
use vkcert_exec::prepare::Prepared;
use vkcert_exec::schedule::Following;
use vkcert_exec::{
    BufferContents, Completion, Counts, ExecError, Executor, Job, JobBuffer, JobModule, Run,
    RunOutcome, RunRequest, Unobserved,
};
use vkcert_model::altered::AlteredStores;
use vkcert_model::evidence::{LoweringDecision, Mismatch};
use vkcert_model::finding::{Checks, Finding, RaceScope};
use vkcert_model::judged::JudgedParts;
use vkcert_model::metric::MetricName;
use vkcert_model::printed::Printed;
use vkcert_model::procedure::Test;
use vkcert_model::project::Contraction;
use vkcert_model::records::Records;
use vkcert_model::schedule::{DirectedResult, Schedule, ScheduleResult, Schedules};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::contents::ContentsDifference;
use vkcert_sequential::SequentialExecutor;

/// A test that is checked and laid out, ready for any engine.
pub struct PreparedTest<'a> {
    /// The test as its file defines it.
    pub test: &'a Test,
    /// The job and what is expected of it, or what no engine can run of it, by name.
    pub job_plan: Result<Prepared, String>,
    /// The kernels of the job's modules, in the same order.
    pub kernels: Vec<&'a Kernel>,
    /// Whether production may differ from the traced module in floats.
    pub contraction: Contraction,
    /// Other schedules that it runs in.
    pub schedules: Schedules,
    /// Runs in place of the ordinary schedule.
    pub replay: Option<Schedule>,
    /// What is measured beside the criteria.
    pub metrics: &'a [MetricName],
    /// Tells what of a job depends on its schedule. Tests of a project share one, which decodes a
    /// kernel once for all of them.
    pub analyser: SequentialExecutor,
}

/// What a test did on one engine.
#[derive(Debug, Clone)]
pub struct TestRun {
    /// Which engine.
    pub engine: EngineName,
    /// What the run says of the expectations.
    pub verdict: Verdict,
    /// Why the verdict is no pass; none where nothing is to be said.
    pub reason: Option<String>,
    /// How often the production run was started.
    pub repetitions: u32,
    /// The repetition that gave the verdict, counted from 1, where others pass.
    pub deciding_repetition: Option<u32>,
    /// Elements that differ from what is expected, up to the limit.
    pub mismatches: Vec<Mismatch>,
    /// Findings that the runs of the test showed.
    pub findings: Vec<Finding>,
    /// Remarks that are no findings, such as an accepted memory-model idiom.
    pub notes: Vec<String>,
    /// What differed between results of the test that are all right (see `left_open`), in words;
    /// each once.
    pub left_open: Vec<String>,
    /// Whether the data races found are those of every schedule; of engines that look for races.
    pub race_scope: Option<RaceScope>,
    /// What the kernels printed.
    pub printed: Printed,
    /// Final contents by buffer name; empty where the run did not get that far.
    pub outputs: BTreeMap<String, BufferContents>,
    /// Per kernel and specialization: what was recorded, or why nothing was.
    pub records: Vec<ModuleRecords>,
    /// The same of the branches of the production modules; empty where they were not asked for.
    pub objects: Vec<ModuleRecords>,
    /// What only the sequential engine counts.
    pub counts: Counts,
    /// What the test ran in, where that is not the ordinary schedule.
    pub schedule: Option<Schedule>,
    /// Where any were asked for.
    pub schedules: Option<ScheduleResult>,
    /// What was measured again with who waits first.
    pub directed: Vec<DirectedResult>,
    /// What altered contents showed, of a pass on the sequential engine (`altered`).
    pub altered: Vec<AlteredStores>,
    /// How much of what its kernels store such a pass judges.
    pub judged: JudgedParts,
    /// Of a pass on the sequential engine: whether the test does not pass, or does not complete,
    /// with other undefined values.
    pub rests_on_undefined: bool,
}

/// What a test recorded of one kernel under one specialization.
#[derive(Debug, Clone)]
pub struct ModuleRecords {
    /// Name of the kernel.
    pub kernel: String,
    /// Raw bits of every specialization constant by id.
    pub specialization: Specialization,
    /// The records, or why there are none.
    pub records: Result<Records, String>,
    /// Counts of the lowering's own loop decisions.
    pub lowering: Vec<LoweringDecision>,
}

impl TestRun {
    /// An engine that was not there.
    pub fn not_run(engine_name: EngineName, reason: &str) -> Self {
        Self::ended_before_running(engine_name, Verdict::NotRun, reason)
    }

    /// Keeps what differed where it may.
    pub fn leave_open(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.left_open.contains(&note) {
                self.left_open.push(note);
            }
        }
    }

    /// Final contents by index of `Job::buffers`; none where the run left none of one.
    pub(crate) fn contents_of(&self, job: &Job) -> Option<Vec<BufferContents>> {
        job.buffers.iter().map(|buffer| self.outputs.get(&buffer.name).map(Arc::clone)).collect()
    }

    /// The buffers of which two runs of the test left different contents, ascending. What one run
    /// alone left differs from empty contents.
    pub(crate) fn differing_outputs<'r>(
        &'r self,
        other_run: &'r TestRun,
        job: &'r Job,
    ) -> impl Iterator<Item = ContentsDifference<'r>> {
        let contents_of = |run: &'r TestRun, name: &str| -> &'r [u8] {
            run.outputs.get(name).map_or(&[], |contents| contents.as_slice())
        };
        job.buffers.iter().enumerate().filter_map(move |(buffer, JobBuffer { name, .. })| {
            let (left, right) = (contents_of(self, name), contents_of(other_run, name));
            ContentsDifference::between(buffer, left, right)
        })
    }

    /// What is not known of the test: it is no pass.
    pub fn doubt(&mut self, reason: String) {
        match self.verdict {
            Verdict::Pass => {
                self.verdict = Verdict::Undetermined;
                self.reason = Some(reason);
            }
            // Verdicts that are no pass have their reason already.
            Verdict::Fail
            | Verdict::Error
            | Verdict::Timeout
            | Verdict::Undetermined
            | Verdict::Unsupported
            | Verdict::NotRun => self.notes.push(reason),
        }
    }

    /// A test that ended before anything ran.
    pub(crate) fn ended_before_running(
        engine_name: EngineName,
        verdict: Verdict,
        reason: &str,
    ) -> Self {
        Self {
            engine: engine_name,
            verdict,
            reason: Some(reason.to_owned()),
            repetitions: 0,
            deciding_repetition: None,
            mismatches: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
            left_open: Vec::new(),
            race_scope: None,
            printed: Printed::default(),
            outputs: BTreeMap::new(),
            records: Vec::new(),
            objects: Vec::new(),
            counts: Counts::default(),
            schedule: None,
            schedules: None,
            directed: Vec::new(),
            altered: Vec::new(),
            judged: JudgedParts::default(),
            rests_on_undefined: false,
        }
    }
}

/// The engine of a test.
pub struct TestEngine<'e> {
    /// Runs the test's jobs.
    pub executor: &'e mut dyn Executor,
    /// How often each job of the test runs.
    pub repetitions: NonZeroU32,
}

impl TestEngine<'_> {
    /// Which engine.
    pub fn name(&self) -> EngineName {
        self.executor.name()
    }

    /// Runs a job, in a schedule where one is given; what the tool itself fails at on a device is
    /// undetermined.
    pub fn execute(
        &mut self,
        job: &Job,
        following: Option<Following>,
    ) -> Result<RunOutcome, CampaignError> {
        self.execute_following(job, following, PairTracking::Off)
    }

    /// The same, with who reads what another side wrote where that is asked for.
    pub fn execute_following(
        &mut self,
        job: &Job,
        following: Option<Following>,
        pair_tracking: PairTracking,
    ) -> Result<RunOutcome, CampaignError> {
        let repetitions = self.repetitions;
        let request = RunRequest { following, repetitions, pair_tracking, ..RunRequest::once(job) };
        match self.executor.answer(&request, &mut Unobserved) {
            Ok(outcome) => Ok(outcome),
            // The worker is replaced: what the tool failed at is one test, of which nothing is
            // known.
            Err(error @ ExecError::Engine { engine: EngineName::Vulkan, .. }) => {
                let reason = format!("the tool failed, not the kernel: {error}");
                Ok(RunOutcome::ended(Completion::Undetermined { reason }))
            }
            Err(error @ ExecError::Engine { engine: EngineName::Sequential, .. }) => {
                Err(CampaignError::tool(error.to_string()))
            }
            Err(error @ ExecError::NoDevice { .. }) => {
                Err(CampaignError::Unavailable { message: error.to_string(), hint: None })
            }
        }
    }
}

/// The verdict that what a run has left comes to.
pub fn judge_run(job_plan: &Prepared, run: &Run) -> Result<Judgement, CampaignError> {
    let mut reference = |job: &Job| SequentialExecutor::default().run(job, &mut Unobserved);
    judge::judge_run(job_plan, run, &mut reference)
        .map_err(|error| CampaignError::tool(error.to_string()))
}

/// Contents that a run left, by the name of the buffer.
pub(crate) fn outputs_of(job: &Job, run: &Run) -> BTreeMap<String, BufferContents> {
    job.buffers
        .iter()
        .zip(&run.buffers)
        .map(|(buffer, bytes)| (buffer.name.clone(), Arc::clone(bytes)))
        .collect()
}

/// The job of a test with one variant of its kernels' modules and no checks, to be run beside the
/// ordinary runs; none where there is none.
pub fn job_of(prepared_test: &PreparedTest, module_variant: ModuleVariant) -> Option<Job> {
    variant_job(
        prepared_test,
        prepared_test.job_plan.as_ref().ok()?,
        module_variant,
        Checks::none(),
    )
}

/// The job of a test with the production modules whose branches an engine records; none where a
/// kernel has none.
pub fn object_job(prepared_test: &PreparedTest, engine_name: EngineName) -> Option<Job> {
    let plan = prepared_test.job_plan.as_ref().ok()?;
    let variant = match engine_name {
        EngineName::Sequential => ObjectVariant::Marked,
        EngineName::Vulkan => ObjectVariant::Instrumented,
    };
    let module = |(kernel, laid_out): (&&Kernel, &JobModule)| {
        Some(JobModule { key: laid_out.key, ..kernel.object_module(variant)? })
    };
    let modules = prepared_test
        .kernels
        .iter()
        .zip(&plan.job.modules)
        .map(module)
        .collect::<Option<Vec<_>>>()?;
    Some(Job { modules, checks: Checks::none(), ..plan.job.clone() })
}

/// The job with one variant of its kernels' modules; none where a kernel does not have it.
pub(crate) fn variant_job(
    prepared_test: &PreparedTest,
    job_plan: &Prepared,
    variant: ModuleVariant,
    checks: Checks,
) -> Option<Job> {
    let module = |(kernel, laid_out): (&&Kernel, &JobModule)| {
        Some(JobModule { key: laid_out.key, ..kernel.job_module(variant)? })
    };
    let modules = prepared_test
        .kernels
        .iter()
        .zip(&job_plan.job.modules)
        .map(module)
        .collect::<Option<Vec<_>>>()?;
    Some(Job { modules, checks, ..job_plan.job.clone() })
}
