//! The engine as the rest of the program sees it: jobs in, runs out, a worker behind it.
//!
//! Knows: when a worker is replaced, and what of its answers is believed.
//! Promises: one job never costs another.
//! Does not cover: how a worker is spoken to (`conversation`).

use super::conversation::{
    TimeLimits, deadline_after, describe_loss, start_worker, tool_error, wait_for_reply,
};
use super::identity::{DeviceChoice, DeviceIdentity, NoVulkan};
use super::process::{WorkerLoss, WorkerProcess};
use super::protocol::{
    Ending, Fitness, Opened, Phase, Reply, Request, WireRuns, WireTime as RunTime,
};
use super::settings::{LoopCounting, Settings, ValidationLayers};
use super::{protocol, wire};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use vkcert_exec::repeat::Results;
use vkcert_exec::{
    Completion, Counts, ExecError, Executor, Job, Observer, Run, RunRequest, Unobserved,
};
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::validation_layer::ValidationLayer;
use vkcert_model::verdict::EngineName;

/// Validation messages after which a worker is replaced, so that a layer that stops repeating
/// itself (ten times by default) never hides a message from a later job.
pub(super) const MOST_MESSAGES: u64 = 6;

/// Times of several jobs that were run in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// How the runs ended.
    pub completion: Completion,
    /// By job, then by repetition; empty unless completed.
    pub times: Vec<Vec<RunTime>>,
}

/// Runs jobs on one device.
pub struct VulkanExecutor {
    pub(super) device: DeviceChoice,
    pub(super) settings: Settings,
    worker: Option<WorkerProcess>,
    pub(super) opened: Opened,
    /// Validation messages of the present worker.
    message_count: u64,
    /// How the last job went by the clock.
    pub(super) clock: Clock,
}

/// How a job went by the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// It ended in its time.
    InTime,
    /// It was ended after it.
    RanOut,
}

/// Beginnings of the names of environment variables by which loaders, layers, drivers and workers
/// are told what to do.
const DRIVER_VARIABLES: [&str; 19] = [
    "VK_", "VKCERT_", "VN_", "DISABLE_", "ENABLE_", "MESA_", "GALLIUM_", "LP_", "LVP_", "LIBGL_",
    "ACO_", "RADV_", "AMD_", "NIR_", "ANV_", "INTEL_", "NVK_", "__GL_", "__NV_",
];

/// The variables of this process that can change what a device does.
fn variables_of_drivers() -> impl Iterator<Item = (String, String)> {
    let is_told = |name: &str| {
        name != "VKCERT_CACHE" && DRIVER_VARIABLES.iter().any(|begin| name.starts_with(begin))
    };
    std::env::vars_os().filter_map(move |(name, value)| {
        let name = name.to_string_lossy().into_owned();
        is_told(&name).then(|| (format!("variable {name}"), format!("{value:?}")))
    })
}

impl VulkanExecutor {
    /// Starts a worker and opens the device; fails with the reason where there is none.
    pub fn new(device_choice: DeviceChoice, settings: Settings) -> Result<Self, ExecError> {
        let (worker, opened) = start_worker(&device_choice, &settings)?;
        Ok(Self {
            device: device_choice,
            settings,
            worker: Some(worker),
            opened,
            message_count: 0,
            clock: Clock::InTime,
        })
    }

    /// Every device of this machine, asked in a worker: a driver that crashes costs nothing but its
    /// answer.
    pub fn devices(settings: &Settings) -> Result<Vec<DeviceIdentity>, NoVulkan> {
        let worker_error = |reason: String| NoVulkan::Worker { reason };
        let mut worker = WorkerProcess::start_process(settings)
            .map_err(|error| worker_error(error.to_string()))?;
        worker
            .send_request(&Request::List, protocol::REPLY_SLACK)
            .map_err(|error| worker_error(error.to_string()))?;
        match worker.next_reply(deadline_after(settings.start)) {
            Ok(Reply::Listed(devices)) => Ok(devices),
            Ok(Reply::Unavailable(reason)) => Err(reason),
            Ok(_) => Err(worker_error("it gave another answer than was asked for".to_owned())),
            Err(loss) => Err(worker_error(describe_loss(&loss))),
        }
    }

    /// What the user may want to know and no result depends on, such as a pipeline cache that is
    /// not used.
    pub fn notes(&self) -> &[String] {
        &self.opened.notes
    }

    /// The device that runs, as it is identified.
    pub fn device(&self) -> &DeviceIdentity {
        &self.opened.identity
    }

    /// Chooses where loops are counted from now on.
    pub fn count_loops(&mut self, loop_counting: LoopCounting) {
        self.settings.loop_counting = loop_counting;
    }

    /// Iterations, over all loops of an invocation, after which the driver ends them by itself. A
    /// job to which that happens ends as [`Completion::Timeout`].
    pub fn loop_limit(&self) -> Option<u32> {
        self.opened.loop_limit
    }

    /// Whether a validation layer watches the device.
    pub fn validation_layer(&self) -> ValidationLayer {
        match (self.settings.validation, &self.opened.layer) {
            (ValidationLayers::Off, _) => ValidationLayer::Off,
            (ValidationLayers::On, None) => ValidationLayer::NotInstalled,
            (ValidationLayers::On, Some(layer)) => ValidationLayer::InUse(layer.clone()),
        }
    }

    /// Device, driver and settings, for evidence.
    pub fn identity(&self) -> BTreeMap<String, String> {
        let mut table = self.opened.identity.evidence_rows();
        table.insert(ValidationLayer::KEY.to_owned(), self.validation_layer().to_string());
        table.extend(self.opened.robustness.evidence_rows());
        let loop_sentence = self.opened.loop_limit.map_or_else(|| "not cut off by the driver".to_owned(), |loop_limit| format!("cut off by the driver after {loop_limit} iterations; each test with loops is watched for it"));
        table.insert("loops".to_owned(), loop_sentence);
        if !self.opened.messages.is_empty() {
            let message_texts: Vec<&str> =
                self.opened.messages.iter().map(|message| message.text.as_str()).collect();
            table.insert("messages at start".to_owned(), message_texts.join("\n"));
        }
        table
    }

    /// Everything that the result of a run can depend on beside its job: device, driver and layers,
    /// and how the engine is set up.
    pub fn result_settings(&self) -> BTreeMap<String, String> {
        let Settings {
            worker: _,
            validation,
            robustness,
            api_limit,
            start: _,
            preparation,
            memory,
            loop_counting,
            environment,
        } = &self.settings;
        let mut table = self.identity();
        let rows = [
            ("device in full", format!("{:?}", self.opened.identity)),
            ("validation asked for", format!("{validation:?}")),
            ("robustness asked for", format!("{robustness:?}")),
            ("api limit", format!("{api_limit:?}")),
            ("preparation", format!("{preparation:?}")),
            ("memory", memory.to_string()),
            ("loop counting", format!("{loop_counting:?}")),
            ("environment", format!("{environment:?}")),
        ];
        table.extend(rows.map(|(name, value)| (name.to_owned(), value)));
        table.extend(variables_of_drivers());
        table
    }

    /// Runs jobs in turn (A, B, A, B ...) `repetitions` times in one worker and gives the time of
    /// each run; some runs before them warm the device up and do not count.
    pub fn measure(
        &mut self,
        measured_jobs: &[&Job],
        repetition_count: u32,
    ) -> Result<Measurement, ExecError> {
        let ended_measurement = |completion| Ok(Measurement { completion, times: Vec::new() });
        if let Some(completion) = measured_jobs.iter().find_map(|job| self.refusal(job)) {
            return ended_measurement(completion);
        }
        let jobs_and_repetitions = f64::from(repetition_count.max(4)) * measured_jobs.len() as f64;
        let longest_seconds =
            measured_jobs.iter().map(|job| job.limits.seconds).fold(0.0, f64::max);
        let time_limits = TimeLimits {
            dispatch_seconds: longest_seconds * jobs_and_repetitions,
            preparation_time: self.settings.preparation,
        };
        let worker = self.worker()?;
        let wire_job = |job: &&Job| {
            wire::wire_job(job, &BTreeSet::new(), LoopCounting::Ahead, &mut worker.known_modules)
        };
        let measured_jobs: Vec<_> = measured_jobs.iter().map(wire_job).collect();
        let reply_limit =
            protocol::REPLY_SLACK + measured_jobs.len() as u64 * u64::from(repetition_count) * 32;
        worker
            .send_request(
                &Request::Measure { jobs: measured_jobs, repetitions: repetition_count },
                reply_limit,
            )
            .map_err(tool_error)?;
        let mut current_phase = Phase::START;
        match wait_for_reply(worker, &time_limits, &mut current_phase, &mut |_| {}) {
            Ok(Reply::Measured { ending, times, fitness }) => {
                self.note_answer(fitness, 0);
                Ok(Measurement { completion: wire::completion_of(ending), times })
            }
            Ok(reply) => Err(self.unexpected_reply(&reply)),
            Err(loss) => {
                self.worker = None;
                ended_measurement(wire::completion_after_loss(
                    loss,
                    current_phase.stage,
                    longest_seconds * jobs_and_repetitions,
                    "the measured kernels",
                )?)
            }
        }
    }

    /// Ends the worker in order and gives what the validation layer says about that (objects that
    /// were not destroyed).
    pub fn close(mut self) -> Result<Vec<vkcert_model::finding::Finding>, ExecError> {
        let Some(mut worker) = self.worker.take() else { return Ok(Vec::new()) };
        worker.send_request(&Request::Close, protocol::REPLY_SLACK).map_err(tool_error)?;
        match worker.next_reply(deadline_after(self.settings.start)) {
            Ok(Reply::Closed(messages)) => {
                Ok(messages.into_iter().map(wire::validation_finding).collect())
            }
            Ok(reply) => Err(self.unexpected_reply(&reply)),
            Err(loss) => Err(tool_error(describe_loss(&loss))),
        }
    }

    /// What is known of a job without asking the device.
    fn refusal(&self, job: &Job) -> Option<Completion> {
        let robustness_lack = || {
            self.opened
                .robustness
                .lack_for(job)
                .map(|missing_feature| Completion::Unsupported { what: missing_feature })
        };
        wire::refusal(job).or_else(robustness_lack)
    }

    /// The present worker, or a fresh one.
    fn worker(&mut self) -> Result<&mut WorkerProcess, ExecError> {
        if self.worker.is_none() {
            // A second try, because a machine may be short of something just after a crash.
            let (worker, opened) = start_worker(&self.device, &self.settings)
                .or_else(|_| start_worker(&self.device, &self.settings))?;
            self.worker = Some(worker);
            self.opened = opened;
            self.message_count = 0;
        }
        Ok(self.worker.as_mut().expect("just started"))
    }

    /// Parts with a worker that is spent or has said too much.
    fn note_answer(&mut self, worker_fitness: Fitness, message_count: u64) {
        self.message_count += message_count;
        if worker_fitness == Fitness::Spent || self.message_count >= MOST_MESSAGES {
            self.worker = None;
        }
    }

    fn unexpected_reply(&mut self, reply: &Reply) -> ExecError {
        self.worker = None;
        match reply {
            Reply::Failed(reason) => tool_error(reason),
            Reply::Unavailable(reason) => reason.to_exec_error(),
            Reply::Opened(_)
            | Reply::Listed(_)
            | Reply::Reached(_)
            | Reply::Ran(_)
            | Reply::Measured { .. }
            | Reply::Closed(_) => tool_error("the worker gave another answer than was asked for"),
        }
    }

    /// What the worker's answer says of a job.
    fn results_of(&mut self, job: &Job, runs: WireRuns, observer: &mut dyn Observer) -> Results {
        let message_count =
            runs.different.iter().flat_map(|run| &run.messages).map(|message| message.count).sum();
        self.note_answer(runs.fitness, message_count);
        let mut different_runs =
            runs.different.into_iter().map(|run| wire::run_of_answer(job, run));
        let first_run = different_runs.next().unwrap_or_else(|| Run::ended(wire::no_run()));
        first_run.findings.iter().for_each(|finding| observer.finding(finding));
        let (mut results, other_runs) =
            (Results::new(first_run), different_runs.collect::<Vec<_>>());
        for run_index in runs.of.iter().skip(1) {
            match (*run_index as usize).checked_sub(1) {
                None => results.add_first_again(),
                Some(other_index) => {
                    let other_index = other_runs.get(other_index).cloned();
                    results.add_run(
                        other_index.unwrap_or_else(|| Run::ended(wire::no_run())),
                        observer,
                    );
                }
            }
        }
        results
    }
}

impl Executor for VulkanExecutor {
    fn name(&self) -> EngineName {
        EngineName::Vulkan
    }

    /// The worker repeats the job by itself and answers once.
    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        match self.run_in_worker(request.job, &BTreeSet::new(), request.repetitions, observer)? {
            WorkerAnswer::Ran(runs) => {
                Ok((self.results_of(request.job, runs, observer), Counts::default()))
            }
            WorkerAnswer::None(results) => Ok((results, Counts::default())),
        }
    }

    fn run_by_invocation(
        &mut self,
        request: &RunRequest<'_>,
        record_bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        let (job, one_repetition) = (request.job, NonZeroU32::MIN);
        let (all_results, invocation_records) =
            match self.run_in_worker(job, record_bits, one_repetition, &mut Unobserved)? {
                WorkerAnswer::Ran(mut runs) => {
                    let invocation_records = runs
                        .different
                        .iter_mut()
                        .flat_map(|run| std::mem::take(&mut run.invocations))
                        .collect();
                    (
                        self.results_of(job, runs, &mut Unobserved),
                        wire::invocation_records(invocation_records),
                    )
                }
                WorkerAnswer::None(all_results) => (all_results, InvocationRecords::new()),
            };
        Ok((all_results.into_outcome(job, one_repetition).0, invocation_records))
    }
}

/// What a worker makes of a job.
pub(super) enum WorkerAnswer {
    Ran(WireRuns),
    /// It was refused, or the worker is lost.
    None(Results),
}

impl VulkanExecutor {
    /// Has the worker run a job; `asked` are bits of which it is asked who recorded them.
    fn run_in_worker(
        &mut self,
        job: &Job,
        asked_bits: &BTreeSet<u32>,
        repetitions: NonZeroU32,
        observer: &mut dyn Observer,
    ) -> Result<WorkerAnswer, ExecError> {
        self.clock = Clock::InTime;
        if let Some(completion) = self.refusal(job) {
            return Ok(WorkerAnswer::None(Results::new(Run::ended(completion))));
        }
        let time_limits = TimeLimits {
            dispatch_seconds: job.limits.seconds,
            preparation_time: self.settings.preparation,
        };
        let loop_counting = self.settings.loop_counting;
        let worker = self.worker()?;
        let wire_job = wire::wire_job(job, asked_bits, loop_counting, &mut worker.known_modules);
        let run_request = Request::Run { job: wire_job, repetitions: repetitions.get() };
        worker
            .send_request(&run_request, wire::reply_limit(job, asked_bits, repetitions.get()))
            .map_err(tool_error)?;
        let (mut current_phase, mut started_dispatches) = (Phase::START, 0);
        let reply_outcome =
            wait_for_reply(worker, &time_limits, &mut current_phase, &mut |dispatch_index| {
                started_dispatches = started_dispatches.max(dispatch_index + 1);
                observer.dispatch_started(dispatch_index);
            });
        match reply_outcome {
            Ok(Reply::Ran(runs)) => {
                // Dispatches that were over before anyone could be told.
                if runs
                    .different
                    .first()
                    .is_some_and(|first_run| first_run.ending == Ending::Completed)
                {
                    (started_dispatches..job.dispatches.len())
                        .for_each(|dispatch_index| observer.dispatch_started(dispatch_index));
                }
                Ok(WorkerAnswer::Ran(runs))
            }
            Ok(reply) => Err(self.unexpected_reply(&reply)),
            Err(loss) => {
                self.worker = None;
                if matches!(loss, WorkerLoss::TimedOut) {
                    self.clock = Clock::RanOut;
                }
                let kernel = wire::kernel_at(job, current_phase.stage);
                let completion = wire::completion_after_loss(
                    loss,
                    current_phase.stage,
                    job.limits.seconds,
                    &kernel,
                )?;
                Ok(WorkerAnswer::None(Results::after_lost(
                    current_phase.repetition,
                    Run::ended(completion),
                )))
            }
        }
    }
}
