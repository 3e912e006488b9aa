//! Speaking to a worker: starting it, waiting for each phase as long as it may take, and what its
//! loss means.

use super::identity::DeviceChoice;
use super::process::{WorkerLoss, WorkerProcess};
use super::protocol::{Open, Opened, Phase, Reply, Request, Stage};
use super::settings::Settings;
use super::{LOADER_DEBUG, PIPELINE_CACHE, protocol};
use std::time::{Duration, Instant};
use vkcert_exec::{DeviceAbsence, ExecError};
use vkcert_model::verdict::EngineName;

/// How long each phase may take.
pub(super) struct TimeLimits {
    /// All dispatches together.
    pub(super) dispatch_seconds: f64,
    pub(super) preparation_time: Duration,
}

/// Waits for the answer and follows the phases, which must come in order.
pub(super) fn wait_for_reply(
    worker: &mut WorkerProcess,
    time_limits: &TimeLimits,
    current_phase: &mut Phase,
    on_dispatch: &mut dyn FnMut(usize),
) -> Result<Reply, WorkerLoss> {
    let mut deadline = deadline_after(time_limits.preparation_time);
    let mut last_phase = None;
    loop {
        let reached_phase = match worker.next_reply(deadline)? {
            Reply::Reached(reached_phase) => reached_phase,
            reply => return Ok(reply),
        };
        if last_phase >= Some(reached_phase) {
            worker.kill_process();
            return Err(WorkerLoss::Garbage { reason: "phases out of order".to_owned() });
        }
        let is_next_repetition = reached_phase.repetition > current_phase.repetition;
        match (reached_phase.stage, current_phase.stage) {
            // The time limit runs from the first dispatch to the end of the last, and so for the
            // loop count.
            (Stage::Dispatched(_), Stage::Dispatched(_))
            | (Stage::Counting(_), Stage::Counting(_))
                if !is_next_repetition => {}
            (Stage::Dispatched(_) | Stage::Counting(_), _) => {
                deadline = deadline_after_seconds(time_limits.dispatch_seconds)
            }
            (Stage::Preparing, _) if !is_next_repetition => {}
            (Stage::Preparing | Stage::Collecting, _) => {
                deadline = deadline_after(time_limits.preparation_time)
            }
        }
        if let Phase { repetition: 0, stage: Stage::Dispatched(dispatch_index) } = reached_phase {
            on_dispatch(dispatch_index as usize);
        }
        last_phase = Some(reached_phase);
        *current_phase = reached_phase;
    }
}

pub(super) fn start_worker(
    device_choice: &DeviceChoice,
    settings: &Settings,
) -> Result<(WorkerProcess, Opened), ExecError> {
    let no_device =
        |reason: String| ExecError::NoDevice { reason, absence: DeviceAbsence::NoneUsable };
    let mut worker = WorkerProcess::start_process(settings).map_err(|error| {
        no_device(format!("the worker `{}` does not start: {error}", settings.worker.display()))
    })?;
    let (validation, robustness_level) = (settings.validation, settings.robustness);
    let (api_limit, memory_limit) = (settings.api_limit, settings.memory);
    let open_request = Open {
        device: device_choice.clone(),
        validation,
        robustness: robustness_level,
        api_limit,
        memory: memory_limit,
    };
    worker.send_request(&Request::Open(open_request), protocol::REPLY_SLACK).map_err(tool_error)?;
    match worker.next_reply(deadline_after(settings.start)) {
        Ok(Reply::Opened(opened)) => Ok((worker, *opened)),
        Ok(Reply::Unavailable(reason)) if settings.environment.contains_key(LOADER_DEBUG) => {
            let loader_sentences: Vec<String> =
                std::iter::once(reason.to_string()).chain(worker.loader_complaints()).collect();
            Err(ExecError::NoDevice {
                reason: loader_sentences.join("; the loader says: "),
                absence: reason.device_absence(),
            })
        }
        Ok(Reply::Unavailable(reason)) => Err(reason.to_exec_error()),
        Ok(_) => Err(tool_error("the worker gave another answer than was asked for")),
        // What a driver makes of its old cache must not keep it from starting.
        Err(_) if settings.environment.get(PIPELINE_CACHE).is_none_or(|value| value != "off") => {
            let mut settings = settings.clone();
            settings.environment.insert(PIPELINE_CACHE.to_owned(), "off".to_owned());
            start_worker(device_choice, &settings)
        }
        Err(loss) => {
            Err(no_device(format!("the worker did not come up: {}", describe_loss(&loss))))
        }
    }
}

pub(super) fn tool_error(message: impl ToString) -> ExecError {
    ExecError::Engine { engine: EngineName::Vulkan, message: message.to_string() }
}

pub(super) fn describe_loss(worker_loss: &WorkerLoss) -> String {
    let colon_words = |error_words: &str| {
        if error_words.is_empty() { String::new() } else { format!(": {error_words}") }
    };
    match worker_loss {
        WorkerLoss::TimedOut => "it does not answer".to_owned(),
        WorkerLoss::Died { how: exit_status, words: error_words } => {
            format!("it died ({exit_status}){}", colon_words(error_words))
        }
        WorkerLoss::Panicked { words: error_words } => {
            format!("it failed{}", colon_words(error_words))
        }
        WorkerLoss::Garbage { reason } => format!("it wrote {reason}"),
        WorkerLoss::Exhausted => "it took more memory than it may".to_owned(),
    }
}

pub(super) fn deadline_after(time_limit: Duration) -> Instant {
    let current_time = Instant::now();
    current_time
        .checked_add(time_limit)
        .unwrap_or_else(|| current_time + Duration::from_secs(365 * 24 * 3600))
}

/// A negative or unordered limit is none at all; one beyond any clock is a year.
pub(super) fn deadline_after_seconds(seconds: f64) -> Instant {
    deadline_after(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
}
