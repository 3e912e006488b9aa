//! The Vulkan engine: runs jobs on a device, in a child process.
//!
//! Knows: how a job travels to the worker, how long each phase may take, what the loss of a worker
//! means for the job.
//! Promises: one job never costs another: after a time-out, a crash, nonsense or a lost device the
//! worker is replaced, and a fresh one has passed a canary dispatch before it gets a job. What the
//! device lacks is `Unsupported` by name before anything runs. Same job, same device: same bytes,
//! records and findings. A kernel that the driver cuts off in a loop does not pass as completed.
//! Does not cover: multisampled and sparse images (`Unsupported` by name); which invocation set a
//! record bit first unless the module records witnesses; out-of-bounds accesses that neither the
//! validation layer nor a guard zone sees. See `docs/vulkan-engine.md`.
//!
//! Only this folder names `ash`. Each `unsafe` block states why it holds.

mod address;
mod canary;
mod capability;

mod commands;
mod describe;
mod descriptors;
mod device;
mod fault;
mod features;
mod fit;
mod identity;
mod image;
mod image_fit;
mod instance;
mod kept;
mod loop_count;
mod memory;
mod messages;
mod newer;
mod older;
mod pass;
mod pipeline;
mod pipeline_cache;
pub mod pool;
mod process;
mod protocol;
mod queue;
mod records;
mod resources;
mod robustness;
mod sampler;
mod session;
mod shape;
mod system;
mod version;
mod view;
mod watch;
mod wire;
mod worker;

pub use identity::{DeviceChoice, DeviceIdentity, DeviceLimits, NoVulkan, devices};
/// The form in which a device that cuts loops off runs a module first: public so that it can be
/// inspected.
pub use loop_count::count_loops as loop_counting_form;
pub use protocol::WireTime as RunTime;
pub use robustness::Robustness;
pub use worker::worker_main;

use process::{Loss, Worker};
use protocol::{Ending, Fitness, Open, Opened, Phase, Reply, Request, Stage, WireRuns};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use vkcert_exec::repeat::Results;
use vkcert_exec::{
    Completion, Counts, DeviceAbsence, ExecError, Executor, Job, Observer, Run, RunRequest,
    Unobserved,
};
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::validation_layer::ValidationLayer;
use vkcert_model::verdict::EngineName;

/// The hidden subcommand that a worker is started with.
pub const WORKER_COMMAND: &str = "__vulkan-worker";

/// The environment variable by which tests make a worker misbehave: `abort`, `panic`, `garbage`,
/// `hang`, `flood`, `truncate`, `hang-exit`, `allocate`, `guard`, `stray`, `waver`, `waver-records`
/// or `canary`, each with `@TEST` for one job only, several with commas between them.
pub const WORKER_FAULT: &str = fault::VARIABLE;

/// The environment variable by which the Vulkan loader is asked to say what it refuses, and why.
/// Set in [`Settings::environment`], its errors and warnings become part of the reason why there is
/// no device.
pub const LOADER_DEBUG: &str = "VK_LOADER_DEBUG";

/// The environment variable that, set to `off`, keeps workers from reading and writing a pipeline
/// cache. Without it the cache lies in `$XDG_CACHE_HOME/vkcert` or `~/.cache/vkcert`; a user with
/// neither has none.
pub const PIPELINE_CACHE: &str = pipeline_cache::VARIABLE;

/// Validation messages after which a worker is replaced, so that a layer that stops repeating
/// itself (ten times by default) never hides a message from a later job.
const TALKATIVE: u64 = 6;

/// Modules that a worker keeps.
const KNOWN_MODULES: usize = 256;

/// Whether VK_LAYER_KHRONOS_validation is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ValidationLayers {
    /// Where it is installed; the identity says whether it is.
    #[default]
    On,
    Off,
}

/// How the engine runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The vkcert program; started with [`WORKER_COMMAND`].
    pub worker: PathBuf,
    pub validation: ValidationLayers,
    pub robustness: Robustness,
    /// The newest API version to use, major and minor; none: the newest that this engine knows. For
    /// tests of older versions.
    pub api_limit: Option<(u32, u32)>,
    /// Until a fresh worker has passed its canary dispatch.
    pub start: Duration,
    /// For checking and compiling a job's pipelines, and again for reading results back.
    pub preparation: Duration,
    /// Bytes of memory that a worker may take beside eight times a job's `memory_bytes`; more ends
    /// it.
    pub memory: u64,
    /// Added to the worker's environment.
    pub environment: BTreeMap<String, String>,
}

impl Settings {
    pub fn new(worker: impl Into<PathBuf>) -> Self {
        Self {
            worker: worker.into(),
            validation: ValidationLayers::default(),
            robustness: Robustness::default(),
            api_limit: None,
            start: Duration::from_secs(60),
            preparation: Duration::from_secs(60),
            memory: 4 << 30,
            environment: BTreeMap::new(),
        }
    }
}

/// Times of several jobs that were run in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    pub completion: Completion,
    /// By job, then by repetition; empty unless completed.
    pub times: Vec<Vec<RunTime>>,
}

/// Runs jobs on one device.
pub struct VulkanExecutor {
    device: DeviceChoice,
    settings: Settings,
    worker: Option<Worker>,
    opened: Opened,
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
enum Answer {
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

/// How long each phase may take.
struct Patience {
    /// All dispatches together.
    seconds: f64,
    preparation: Duration,
}

/// Waits for the answer and follows the phases, which must come in order.
fn wait(
    worker: &mut Worker,
    patience: &Patience,
    phase: &mut Phase,
    started: &mut dyn FnMut(usize),
) -> Result<Reply, Loss> {
    let mut deadline = after(patience.preparation);
    let mut last = None;
    loop {
        let reached = match worker.next(deadline)? {
            Reply::Reached(reached) => reached,
            reply => return Ok(reply),
        };
        if last >= Some(reached) {
            worker.kill();
            return Err(Loss::Garbage { reason: "phases out of order".to_owned() });
        }
        let repeats = reached.repetition > phase.repetition;
        match (reached.stage, phase.stage) {
            // The time limit runs from the first dispatch to the end of the last, and so for the
            // loop count.
            (Stage::Dispatched(_), Stage::Dispatched(_))
            | (Stage::Counting(_), Stage::Counting(_))
                if !repeats => {}
            (Stage::Dispatched(_) | Stage::Counting(_), _) => {
                deadline = after_seconds(patience.seconds)
            }
            (Stage::Preparing, _) if !repeats => {}
            (Stage::Preparing | Stage::Collecting, _) => deadline = after(patience.preparation),
        }
        if let Phase { repetition: 0, stage: Stage::Dispatched(index) } = reached {
            started(index as usize);
        }
        last = Some(reached);
        *phase = reached;
    }
}

fn start(device: &DeviceChoice, settings: &Settings) -> Result<(Worker, Opened), ExecError> {
    let no_device =
        |reason: String| ExecError::NoDevice { reason, absence: DeviceAbsence::NoneUsable };
    let mut worker = Worker::start(settings).map_err(|error| {
        no_device(format!("the worker `{}` does not start: {error}", settings.worker.display()))
    })?;
    let (validation, robustness) = (settings.validation, settings.robustness);
    let (api_limit, memory) = (settings.api_limit, settings.memory);
    let open = Open { device: device.clone(), validation, robustness, api_limit, memory };
    worker.ask(&Request::Open(open), protocol::REPLY_SLACK).map_err(tool)?;
    match worker.next(after(settings.start)) {
        Ok(Reply::Opened(opened)) => Ok((worker, *opened)),
        Ok(Reply::Unavailable(reason)) if settings.environment.contains_key(LOADER_DEBUG) => {
            let told: Vec<String> =
                std::iter::once(reason.to_string()).chain(worker.loader_complaints()).collect();
            Err(ExecError::NoDevice {
                reason: told.join("; the loader says: "),
                absence: reason.absence(),
            })
        }
        Ok(Reply::Unavailable(reason)) => Err(reason.to_exec_error()),
        Ok(_) => Err(tool("the worker gave another answer than was asked for")),
        // What a driver makes of its old cache must not keep it from starting.
        Err(_) if settings.environment.get(PIPELINE_CACHE).is_none_or(|value| value != "off") => {
            let mut settings = settings.clone();
            settings.environment.insert(PIPELINE_CACHE.to_owned(), "off".to_owned());
            start(device, &settings)
        }
        Err(loss) => {
            Err(no_device(format!("the worker did not come up: {}", describe_loss(&loss))))
        }
    }
}

fn tool(message: impl ToString) -> ExecError {
    ExecError::Engine { engine: EngineName::Vulkan, message: message.to_string() }
}

fn describe_loss(loss: &Loss) -> String {
    let said = |words: &str| if words.is_empty() { String::new() } else { format!(": {words}") };
    match loss {
        Loss::TimedOut => "it does not answer".to_owned(),
        Loss::Died { how, words } => format!("it died ({how}){}", said(words)),
        Loss::Panicked { words } => format!("it failed{}", said(words)),
        Loss::Garbage { reason } => format!("it wrote {reason}"),
        Loss::Exhausted => "it took more memory than it may".to_owned(),
    }
}

fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(duration).unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
}

/// A negative or unordered limit is none at all; one beyond any clock is a year.
fn after_seconds(seconds: f64) -> Instant {
    after(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
}
