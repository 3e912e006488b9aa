//! Speaking to a worker: starting it, waiting for each phase as long as it may take, and what its
//! loss means.

use super::identity::DeviceChoice;
use super::process::{Loss, Worker};
use super::protocol::{Open, Opened, Phase, Reply, Request, Stage};
use super::settings::Settings;
use super::{LOADER_DEBUG, PIPELINE_CACHE, protocol};
use std::time::{Duration, Instant};
use vkcert_exec::{DeviceAbsence, ExecError};
use vkcert_model::verdict::EngineName;

/// How long each phase may take.
pub(super) struct Patience {
    /// All dispatches together.
    pub(super) seconds: f64,
    pub(super) preparation: Duration,
}

/// Waits for the answer and follows the phases, which must come in order.
pub(super) fn wait(
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

pub(super) fn start(
    device: &DeviceChoice,
    settings: &Settings,
) -> Result<(Worker, Opened), ExecError> {
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

pub(super) fn tool(message: impl ToString) -> ExecError {
    ExecError::Engine { engine: EngineName::Vulkan, message: message.to_string() }
}

pub(super) fn describe_loss(loss: &Loss) -> String {
    let said = |words: &str| if words.is_empty() { String::new() } else { format!(": {words}") };
    match loss {
        Loss::TimedOut => "it does not answer".to_owned(),
        Loss::Died { how, words } => format!("it died ({how}){}", said(words)),
        Loss::Panicked { words } => format!("it failed{}", said(words)),
        Loss::Garbage { reason } => format!("it wrote {reason}"),
        Loss::Exhausted => "it took more memory than it may".to_owned(),
    }
}

pub(super) fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(duration).unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
}

/// A negative or unordered limit is none at all; one beyond any clock is a year.
pub(super) fn after_seconds(seconds: f64) -> Instant {
    after(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
}
