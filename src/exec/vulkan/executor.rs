//! The engine as the rest of the program sees it: jobs in, runs out, a worker behind it.
//!
//! Knows: when a worker is replaced, and what of its answers is believed.
//! Promises: one job never costs another.
//! Does not cover: how a worker is spoken to (`conversation`).

use super::conversation::{Patience, after, describe_loss, start, tool, wait};
use super::identity::{DeviceChoice, DeviceIdentity, NoVulkan};
use super::process::Worker;
use super::protocol::{
    Ending, Fitness, Opened, Phase, Reply, Request, WireRuns, WireTime as RunTime,
};
use super::settings::{Settings, ValidationLayers};
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
pub(super) const TALKATIVE: u64 = 6;

/// Modules that a worker keeps.
pub(super) const KNOWN_MODULES: usize = 256;

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
    worker: Option<Worker>,
    pub(super) opened: Opened,
    /// Validation messages of the present worker.
    messages: u64,
}

impl VulkanExecutor {
    /// Starts a worker and opens the device; fails with the reason where there is none.
    pub fn new(device: DeviceChoice, settings: Settings) -> Result<Self, ExecError> {
        let (worker, opened) = start(&device, &settings)?;
        Ok(Self { device, settings, worker: Some(worker), opened, messages: 0 })
    }

    /// Every device of this machine, asked in a worker: a driver that crashes costs nothing but its
    /// answer.
    pub fn devices(settings: &Settings) -> Result<Vec<DeviceIdentity>, NoVulkan> {
        let failed = |reason: String| NoVulkan::Worker { reason };
        let mut worker = Worker::start(settings).map_err(|error| failed(error.to_string()))?;
        worker
            .ask(&Request::List, protocol::REPLY_SLACK)
            .map_err(|error| failed(error.to_string()))?;
        match worker.next(after(settings.start)) {
            Ok(Reply::Listed(devices)) => Ok(devices),
            Ok(Reply::Unavailable(reason)) => Err(reason),
            Ok(_) => Err(failed("it gave another answer than was asked for".to_owned())),
            Err(loss) => Err(failed(describe_loss(&loss))),
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
        let mut table = self.opened.identity.table();
        table.insert(ValidationLayer::KEY.to_owned(), self.validation_layer().to_string());
        table.extend(self.opened.robustness.table());
        let loops = self.opened.loop_limit.map_or_else(
            || "not cut off by the driver".to_owned(),
            |limit| format!("cut off by the driver after {limit} iterations; each test with loops is watched for it"),
        );
        table.insert("loops".to_owned(), loops);
        if !self.opened.messages.is_empty() {
            let texts: Vec<&str> =
                self.opened.messages.iter().map(|message| message.text.as_str()).collect();
            table.insert("messages at start".to_owned(), texts.join("\n"));
        }
        table
    }

    /// Runs jobs in turn (A, B, A, B ...) `repetitions` times in one worker and gives the time of
    /// each run; some runs before them warm the device up and do not count.
    pub fn measure(&mut self, jobs: &[&Job], repetitions: u32) -> Result<Measurement, ExecError> {
        let ended = |completion| Ok(Measurement { completion, times: Vec::new() });
        if let Some(completion) = jobs.iter().find_map(|job| self.refuse(job)) {
            return ended(completion);
        }
        let jobs_and_repetitions = f64::from(repetitions.max(4)) * jobs.len() as f64;
        let longest = jobs.iter().map(|job| job.limits.seconds).fold(0.0, f64::max);
        let patience = Patience {
            seconds: longest * jobs_and_repetitions,
            preparation: self.settings.preparation,
        };
        let worker = self.worker()?;
        let of = |job: &&Job| wire::job(job, &BTreeSet::new(), &mut worker.known, KNOWN_MODULES);
        let jobs: Vec<_> = jobs.iter().map(of).collect();
        let limit = protocol::REPLY_SLACK + jobs.len() as u64 * u64::from(repetitions) * 32;
        worker.ask(&Request::Measure { jobs, repetitions }, limit).map_err(tool)?;
        let mut phase = Phase::START;
        match wait(worker, &patience, &mut phase, &mut |_| {}) {
            Ok(Reply::Measured { ending, times, fitness }) => {
                self.part(fitness, 0);
                Ok(Measurement { completion: wire::completion(ending), times })
            }
            Ok(reply) => Err(self.wrong(&reply)),
            Err(loss) => {
                self.worker = None;
                ended(wire::lost(
                    loss,
                    phase.stage,
                    longest * jobs_and_repetitions,
                    "the measured kernels",
                )?)
            }
        }
    }

    /// Ends the worker in order and gives what the validation layer says about that (objects that
    /// were not destroyed).
    pub fn close(mut self) -> Result<Vec<vkcert_model::finding::Finding>, ExecError> {
        let Some(mut worker) = self.worker.take() else { return Ok(Vec::new()) };
        worker.ask(&Request::Close, protocol::REPLY_SLACK).map_err(tool)?;
        match worker.next(after(self.settings.start)) {
            Ok(Reply::Closed(messages)) => Ok(messages.into_iter().map(wire::validation).collect()),
            Ok(reply) => Err(self.wrong(&reply)),
            Err(loss) => Err(tool(describe_loss(&loss))),
        }
    }

    /// What is known of a job without asking the device.
    fn refuse(&self, job: &Job) -> Option<Completion> {
        let lack = || self.opened.robustness.lack(job).map(|what| Completion::Unsupported { what });
        wire::refuse(job).or_else(lack)
    }

    /// The present worker, or a fresh one.
    fn worker(&mut self) -> Result<&mut Worker, ExecError> {
        if self.worker.is_none() {
            // A second try, because a machine may be short of something just after a crash.
            let (worker, opened) = start(&self.device, &self.settings)
                .or_else(|_| start(&self.device, &self.settings))?;
            self.worker = Some(worker);
            self.opened = opened;
            self.messages = 0;
        }
        Ok(self.worker.as_mut().expect("just started"))
    }

    /// Parts with a worker that is spent or has said too much.
    fn part(&mut self, fitness: Fitness, messages: u64) {
        self.messages += messages;
        if fitness == Fitness::Spent || self.messages >= TALKATIVE {
            self.worker = None;
        }
    }

    fn wrong(&mut self, reply: &Reply) -> ExecError {
        self.worker = None;
        match reply {
            Reply::Failed(reason) => tool(reason),
            Reply::Unavailable(reason) => reason.to_exec_error(),
            Reply::Opened(_)
            | Reply::Listed(_)
            | Reply::Reached(_)
            | Reply::Ran(_)
            | Reply::Measured { .. }
            | Reply::Closed(_) => tool("the worker gave another answer than was asked for"),
        }
    }

    /// What the worker's answer says of a job.
    fn results(&mut self, job: &Job, runs: WireRuns, observer: &mut dyn Observer) -> Results {
        let said =
            runs.different.iter().flat_map(|run| &run.messages).map(|message| message.count).sum();
        self.part(runs.fitness, said);
        let mut different = runs.different.into_iter().map(|run| wire::run(job, run));
        let first = different.next().unwrap_or_else(|| Run::ended(wire::nothing()));
        first.findings.iter().for_each(|finding| observer.finding(finding));
        let (mut results, others) = (Results::new(first), different.collect::<Vec<_>>());
        for index in runs.of.iter().skip(1) {
            match (*index as usize).checked_sub(1) {
                None => results.again(),
                Some(other) => {
                    let other = others.get(other).cloned();
                    results.add(other.unwrap_or_else(|| Run::ended(wire::nothing())), observer);
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
        match self.ask(request.job, &BTreeSet::new(), request.repetitions, observer)? {
            Answer::Ran(runs) => Ok((self.results(request.job, runs, observer), Counts::default())),
            Answer::None(results) => Ok((results, Counts::default())),
        }
    }

    fn run_by_invocation(
        &mut self,
        request: &RunRequest<'_>,
        bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        let (job, once) = (request.job, NonZeroU32::MIN);
        let (results, found) = match self.ask(job, bits, once, &mut Unobserved)? {
            Answer::Ran(mut runs) => {
                let found = runs
                    .different
                    .iter_mut()
                    .flat_map(|run| std::mem::take(&mut run.invocations))
                    .collect();
                (self.results(job, runs, &mut Unobserved), wire::invocations(found))
            }
            Answer::None(results) => (results, InvocationRecords::new()),
        };
        Ok((results.outcome(job, once).0, found))
    }
}

/// What a worker makes of a job.
pub(super) enum Answer {
    Ran(WireRuns),
    /// It was refused, or the worker is lost.
    None(Results),
}

impl VulkanExecutor {
    /// Has the worker run a job; `asked` are bits of which it is asked who recorded them.
    fn ask(
        &mut self,
        job: &Job,
        asked: &BTreeSet<u32>,
        repetitions: NonZeroU32,
        observer: &mut dyn Observer,
    ) -> Result<Answer, ExecError> {
        if let Some(completion) = self.refuse(job) {
            return Ok(Answer::None(Results::new(Run::ended(completion))));
        }
        let patience =
            Patience { seconds: job.limits.seconds, preparation: self.settings.preparation };
        let worker = self.worker()?;
        let wire = wire::job(job, asked, &mut worker.known, KNOWN_MODULES);
        let request = Request::Run { job: wire, repetitions: repetitions.get() };
        worker.ask(&request, wire::reply_limit(job, asked, repetitions.get())).map_err(tool)?;
        let (mut phase, mut started) = (Phase::START, 0);
        let outcome = wait(worker, &patience, &mut phase, &mut |index| {
            started = started.max(index + 1);
            observer.dispatch_started(index);
        });
        match outcome {
            Ok(Reply::Ran(runs)) => {
                // Dispatches that were over before anyone could be told.
                if runs.different.first().is_some_and(|first| first.ending == Ending::Completed) {
                    (started..job.dispatches.len())
                        .for_each(|index| observer.dispatch_started(index));
                }
                Ok(Answer::Ran(runs))
            }
            Ok(reply) => Err(self.wrong(&reply)),
            Err(loss) => {
                self.worker = None;
                let kernel = wire::kernel_at(job, phase.stage);
                let completion = wire::lost(loss, phase.stage, job.limits.seconds, &kernel)?;
                Ok(Answer::None(Results::lost(phase.repetition, Run::ended(completion))))
            }
        }
    }
}
