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
use super::session::Session;
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
const SHORT: usize = 1 << 20;
/// Without a request for so long, there is time for other things.
const PAUSE: Duration = Duration::from_millis(20);

/// The whole life of a worker; returns its exit status. To be called first thing in a process of
/// its own, as `vkcert __vulkan-worker`.
pub fn worker_main() -> u8 {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "{panic}");
        exit_now(PANICKED)
    }));
    let Ok(mut pipe) = private_stdout() else { return NO_PARENT };
    watch_parent();
    let mut requests = io::stdin().lock();
    let mut worker = Worker {
        session: None,
        memory: 0,
        allowed: watch::start(),
        fault: Faults::from_environment(),
    };
    loop {
        worker.use_pause();
        let request = match frame::read(&mut requests, protocol::REQUEST_LIMIT) {
            Ok(request) => request,
            Err(FrameError::Closed) => exit_now(0),
            Err(error) => {
                let _ = writeln!(io::stderr(), "the request cannot be read: {error}");
                exit_now(NO_PARENT)
            }
        };
        match worker.answer(request, &mut pipe) {
            Ok(Next::Request) => {}
            Ok(Next::End) => return 0,
            Ok(Next::Exit) => exit_now(0),
            Err(error) => {
                let _ = writeln!(io::stderr(), "the parent cannot be reached: {error}");
                exit_now(NO_PARENT)
            }
        }
    }
}

/// A copy of standard output; the original then leads to the error stream.
fn private_stdout() -> io::Result<BufWriter<File>> {
    let copy = io::stdout().as_fd().try_clone_to_owned()?;
    // Nothing in this process has buffered output for the old one yet.
    system::redirect(io::stderr().as_fd(), io::stdout().as_fd())?;
    Ok(BufWriter::new(File::from(copy)))
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
enum Next {
    Request,
    /// End in order.
    End,
    /// End at once: the device is out of order.
    Exit,
}

impl From<Fitness> for Next {
    fn from(fitness: Fitness) -> Self {
        match fitness {
            Fitness::Fit => Self::Request,
            Fitness::Spent => Self::Exit,
        }
    }
}

struct Worker {
    session: Option<Session>,
    /// Bytes that this process may take beside what a job needs.
    memory: u64,
    /// Bytes that it may take now.
    allowed: Arc<AtomicU64>,
    fault: Faults,
}

impl Worker {
    /// Lets the process take what a job with so many bytes of buffers and records needs.
    fn allow(&self, memory_bytes: u64) {
        let needed = memory_bytes.saturating_mul(watch::COPIES);
        self.allowed.store(self.memory.saturating_add(needed), Ordering::SeqCst);
    }

    /// Between two requests: keeps the pipeline cache if there are enough new pipelines, or time.
    fn use_pause(&mut self) {
        let Some(session) = &mut self.session else { return };
        let idle = || !system::is_readable(io::stdin().as_fd(), PAUSE);
        session.save_pipelines(idle);
    }

    fn answer(&mut self, request: Request, pipe: &mut BufWriter<File>) -> Result<Next, FrameError> {
        match request {
            Request::Open(open) => self.open(&open, pipe),
            Request::List => {
                let reply =
                    identification::devices().map_or_else(Reply::Unavailable, Reply::Listed);
                frame::write(pipe, &reply)?;
                Ok(Next::End)
            }
            Request::Run { job, repetitions } => self.run(&job, repetitions, pipe),
            Request::Measure { jobs, repetitions } => self.measure(&jobs, repetitions, pipe),
            Request::Close => {
                self.session.iter_mut().for_each(|session| session.save_pipelines(|| true));
                let instance =
                    self.session.take().map(|session| Rc::clone(&session.device.instance));
                // The session, and with it the device, is gone; its instance has heard what the
                // layer said about that.
                let messages =
                    instance.map(|instance| instance.messages.take()).unwrap_or_default();
                frame::write(pipe, &Reply::Closed(messages))?;
                Ok(Next::End)
            }
        }
    }

    fn open(&mut self, open: &Open, pipe: &mut BufWriter<File>) -> Result<Next, FrameError> {
        self.memory = open.memory;
        self.allow(0);
        match Session::open(open, self.fault.clone()) {
            Ok((session, opened)) => {
                self.session = Some(session);
                frame::write(pipe, &Reply::Opened(Box::new(opened)))?;
                Ok(Next::Request)
            }
            Err(reason) => {
                frame::write(pipe, &Reply::Unavailable(reason))?;
                Ok(Next::Exit)
            }
        }
    }

    fn run(
        &mut self,
        job: &WireJob,
        repetitions: u32,
        pipe: &mut BufWriter<File>,
    ) -> Result<Next, FrameError> {
        self.allow(job.memory_bytes);
        self.fault.strike_on_arrival(&job.name, pipe);
        let Some(session) = &mut self.session else { return unopened(pipe) };
        let mut announced = Ok(());
        let reading = Reading::of(job);
        let runs = session
            .run(job, repetitions, &mut |phase| announce(phase, reading, pipe, &mut announced));
        announced?;
        let next = Next::from(runs.fitness);
        frame::write(pipe, &Reply::Ran(runs))?;
        Ok(next)
    }

    fn measure(
        &mut self,
        jobs: &[WireJob],
        repetitions: u32,
        pipe: &mut BufWriter<File>,
    ) -> Result<Next, FrameError> {
        self.allow(jobs.iter().fold(0, |all, job| all.saturating_add(job.memory_bytes)));
        let Some(session) = &mut self.session else { return unopened(pipe) };
        let mut announced = Ok(());
        let (ending, fitness, times) = session.measure(jobs, repetitions, &mut |phase| {
            announce(phase, Reading::Long, pipe, &mut announced)
        });
        announced?;
        frame::write(pipe, &Reply::Measured { ending, times, fitness })?;
        Ok(Next::from(fitness))
    }
}

/// How long reading results back may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// A copy of a few pages of memory.
    Short,
    /// Images, which the device copies first, or more bytes.
    Long,
}

impl Reading {
    fn of(job: &WireJob) -> Self {
        let bytes: usize = job.buffers.iter().map(|buffer| buffer.0.len()).sum();
        if job.images.is_empty() && bytes <= SHORT { Self::Short } else { Self::Long }
    }
}

/// Tells the parent of a phase; the first failure is kept. What the parent needs not know at once
/// (that it prepares until it hears of something else; that short contents are read back) goes with
/// what follows: each message costs the parent a wake-up.
fn announce(
    phase: Phase,
    reading: Reading,
    pipe: &mut impl Write,
    outcome: &mut Result<(), FrameError>,
) {
    let at_once = match (phase.stage, reading) {
        (Stage::Counting(_) | Stage::Dispatched(_), _) | (Stage::Collecting, Reading::Long) => true,
        (Stage::Preparing, Reading::Long) if phase.repetition > 0 => true,
        (Stage::Preparing, _) | (Stage::Collecting, Reading::Short) => false,
    };
    if outcome.is_ok() {
        let reached = Reply::Reached(phase);
        *outcome =
            if at_once { frame::write(pipe, &reached) } else { frame::queue(pipe, &reached) };
    }
}

fn unopened(pipe: &mut BufWriter<File>) -> Result<Next, FrameError> {
    frame::write(pipe, &Reply::Failed("a job came before the device was opened".to_owned()))?;
    Ok(Next::Exit)
}
