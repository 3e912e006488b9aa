//! The device worker: the child process that holds the Vulkan device.
//!
//! Knows: requests on standard input, replies on a private copy of standard output (what drivers
//! and layers print there goes to the error stream instead).
//! Promises: it ends when its parent does, whatever the device is doing: an end of standard input
//! ends the process at once. A failed assertion ends it with [`PANICKED`], so that the parent can
//! tell the tool's fault from the kernel's.
//! Does not cover: time limits; the parent kills.

use super::fault::Faults;
use super::frame::{self, FrameError};
use super::protocol::{self, Fitness, Open, Phase, Reply, Request, Stage, WireJob};
use super::session::DeviceSession;
use super::system::{PANICKED, exit_now};
use super::{identification, system, watch};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Exit status when the pipes to the parent are unusable.
const NO_PARENT: u8 = 3;
/// Bytes of contents that are read back in no time.
const SHORT_CONTENTS: usize = 1 << 20;
/// Without a request for so long, there is time for other things.
const REQUEST_WAIT: Duration = Duration::from_millis(20);

/// The whole life of a worker; returns its exit status. To be called first thing in a process of
/// its own, as `vkcert __vulkan-worker`.
pub fn worker_main() -> u8 {
    std::panic::set_hook(Box::new(|panic_info| {
        let _ = writeln!(io::stderr(), "{panic_info}");
        exit_now(PANICKED)
    }));
    let Ok(mut reply_pipe) = private_stdout() else { return NO_PARENT };
    watch_parent();
    let mut request_stream = io::stdin().lock();
    let mut device_worker = DeviceWorker {
        session: None,
        own_bytes: 0,
        allowed_bytes: watch::start_watch(),
        fault: Faults::from_environment(),
    };
    loop {
        device_worker.use_pause();
        let request = match frame::read_frame(&mut request_stream, protocol::REQUEST_LIMIT) {
            Ok(request) => request,
            Err(FrameError::Closed) => exit_now(0),
            Err(error) => {
                let _ = writeln!(io::stderr(), "the request cannot be read: {error}");
                exit_now(NO_PARENT)
            }
        };
        match device_worker.answer_request(request, &mut reply_pipe) {
            Ok(NextStep::Request) => {}
            Ok(NextStep::End) => return 0,
            Ok(NextStep::Exit) => exit_now(0),
            Err(error) => {
                let _ = writeln!(io::stderr(), "the parent cannot be reached: {error}");
                exit_now(NO_PARENT)
            }
        }
    }
}

/// A copy of standard output; the original then leads to the error stream.
fn private_stdout() -> io::Result<BufWriter<File>> {
    let stdout_copy = io::stdout().as_fd().try_clone_to_owned()?;
    // Nothing in this process has buffered output for the old one yet.
    system::redirect_descriptor(io::stderr().as_fd(), io::stdout().as_fd())?;
    Ok(BufWriter::new(File::from(stdout_copy)))
}

/// Watches the pipe beside the main line of execution, so that the end of the parent is noticed
/// during a dispatch too.
fn watch_parent() {
    std::thread::spawn(|| {
        while !system::hangs_up(io::stdin().as_fd()) {}
        exit_now(0)
    });
}

/// What a worker does after an answer.
enum NextStep {
    Request,
    /// End in order.
    End,
    /// End at once: the device is out of order.
    Exit,
}

impl From<Fitness> for NextStep {
    fn from(fitness: Fitness) -> Self {
        match fitness {
            Fitness::Fit => Self::Request,
            Fitness::Spent => Self::Exit,
        }
    }
}

struct DeviceWorker {
    session: Option<DeviceSession>,
    /// Bytes that this process may take beside what a job needs.
    own_bytes: u64,
    /// Bytes that it may take now.
    allowed_bytes: Arc<AtomicU64>,
    fault: Faults,
}

impl DeviceWorker {
    /// Lets the process take what a job with so many bytes of buffers and records needs.
    fn allow_memory(&self, memory_bytes: u64) {
        let needed_bytes = memory_bytes.saturating_mul(watch::COPIES_IN_USE);
        self.allowed_bytes.store(self.own_bytes.saturating_add(needed_bytes), Ordering::SeqCst);
    }

    /// Between two requests: keeps the pipeline cache if there are enough new pipelines, or time.
    fn use_pause(&mut self) {
        let Some(session) = &mut self.session else { return };
        let is_idle = || !system::is_readable(io::stdin().as_fd(), REQUEST_WAIT);
        session.save_pipelines(is_idle);
    }

    fn answer_request(
        &mut self,
        request: Request,
        reply_pipe: &mut BufWriter<File>,
    ) -> Result<NextStep, FrameError> {
        match request {
            Request::Open(open) => self.open_session(&open, reply_pipe),
            Request::List => {
                let device_list =
                    identification::devices().map_or_else(Reply::Unavailable, Reply::Listed);
                frame::write_frame(reply_pipe, &device_list)?;
                Ok(NextStep::End)
            }
            Request::Run { job, repetitions } => self.run_job(&job, repetitions, reply_pipe),
            Request::Measure { jobs, repetitions } => {
                self.measure_jobs(&jobs, repetitions, reply_pipe)
            }
            Request::Close => {
                self.session.iter_mut().for_each(|session| session.save_pipelines(|| true));
                let closed_instance =
                    self.session.take().map(|session| Rc::clone(&session.device.instance));
                // The session, and with it the device, is gone; its instance has heard what the
                // layer said about that.
                let closing_messages = closed_instance
                    .map(|closed_instance| closed_instance.messages.take_messages())
                    .unwrap_or_default();
                frame::write_frame(reply_pipe, &Reply::Closed(closing_messages))?;
                Ok(NextStep::End)
            }
        }
    }

    fn open_session(
        &mut self,
        open_request: &Open,
        reply_pipe: &mut BufWriter<File>,
    ) -> Result<NextStep, FrameError> {
        self.own_bytes = open_request.memory;
        self.allow_memory(0);
        match DeviceSession::open(open_request, self.fault.clone()) {
            Ok((session, opened)) => {
                self.session = Some(session);
                frame::write_frame(reply_pipe, &Reply::Opened(Box::new(opened)))?;
                Ok(NextStep::Request)
            }
            Err(reason) => {
                frame::write_frame(reply_pipe, &Reply::Unavailable(reason))?;
                Ok(NextStep::Exit)
            }
        }
    }

    fn run_job(
        &mut self,
        job: &WireJob,
        repetition_count: u32,
        reply_pipe: &mut BufWriter<File>,
    ) -> Result<NextStep, FrameError> {
        self.allow_memory(job.memory_bytes);
        self.fault.strike_on_arrival(&job.name, reply_pipe);
        let Some(session) = &mut self.session else { return reply_unopened(reply_pipe) };
        let mut announce_result = Ok(());
        let read_back = ReadBack::for_job(job);
        let wire_runs = session.run_job(job, repetition_count, &mut |phase| {
            announce_phase(phase, read_back, reply_pipe, &mut announce_result)
        });
        announce_result?;
        let next_step = NextStep::from(wire_runs.fitness);
        frame::write_frame(reply_pipe, &Reply::Ran(wire_runs))?;
        Ok(next_step)
    }

    fn measure_jobs(
        &mut self,
        jobs: &[WireJob],
        repetition_count: u32,
        reply_pipe: &mut BufWriter<File>,
    ) -> Result<NextStep, FrameError> {
        self.allow_memory(
            jobs.iter().fold(0, |total_bytes, job| total_bytes.saturating_add(job.memory_bytes)),
        );
        let Some(session) = &mut self.session else { return reply_unopened(reply_pipe) };
        let mut announce_result = Ok(());
        let (ending, fitness, times) = session.measure_jobs(jobs, repetition_count, &mut |phase| {
            announce_phase(phase, ReadBack::Long, reply_pipe, &mut announce_result)
        });
        announce_result?;
        frame::write_frame(reply_pipe, &Reply::Measured { ending, times, fitness })?;
        Ok(NextStep::from(fitness))
    }
}

/// How long reading results back may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadBack {
    /// A copy of a few pages of memory.
    Short,
    /// Images, which the device copies first, or more bytes.
    Long,
}

impl ReadBack {
    fn for_job(job: &WireJob) -> Self {
        let content_bytes: usize = job.buffers.iter().map(|buffer| buffer.0.len()).sum();
        if job.images.is_empty() && content_bytes <= SHORT_CONTENTS {
            Self::Short
        } else {
            Self::Long
        }
    }
}

/// Tells the parent of a phase; the first failure is kept. What the parent needs not know at once
/// (that it prepares until it hears of something else; that short contents are read back) goes with
/// what follows: each message costs the parent a wake-up.
fn announce_phase(
    phase: Phase,
    read_back: ReadBack,
    reply_pipe: &mut impl Write,
    announce_result: &mut Result<(), FrameError>,
) {
    let is_urgent = match (phase.stage, read_back) {
        (Stage::Counting(_) | Stage::Dispatched(_), _) | (Stage::Collecting, ReadBack::Long) => {
            true
        }
        (Stage::Preparing, ReadBack::Long) if phase.repetition > 0 => true,
        (Stage::Preparing, _) | (Stage::Collecting, ReadBack::Short) => false,
    };
    if announce_result.is_ok() {
        let phase_reply = Reply::Reached(phase);
        *announce_result = if is_urgent {
            frame::write_frame(reply_pipe, &phase_reply)
        } else {
            frame::queue_frame(reply_pipe, &phase_reply)
        };
    }
}

fn reply_unopened(reply_pipe: &mut BufWriter<File>) -> Result<NextStep, FrameError> {
    frame::write_frame(
        reply_pipe,
        &Reply::Failed("a job came before the device was opened".to_owned()),
    )?;
    Ok(NextStep::Exit)
}
