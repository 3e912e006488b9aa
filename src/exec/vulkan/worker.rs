//! The device worker: the child process that holds the Vulkan device.
//!
//! Knows: requests on standard input, replies on a private copy of standard output (what drivers and layers print there
//! goes to the error stream instead).
//! Promises: it ends when its parent does, whatever the device is doing: an end of standard input ends the process at
//! once. A failed assertion ends it with [`PANICKED`], so that the parent can tell the tool's fault from the kernel's.
//! Does not cover: time limits; the parent kills.

use super::fault::Faults;
use super::identity;
use super::protocol::{self, Fitness, FrameError, Open, Phase, Reply, Request, WireJob};
use super::session::Session;
use super::watch;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

/// Exit status after a failed assertion of the tool.
pub const PANICKED: u8 = 101;
/// Exit status after more memory was taken than is allowed.
pub const EXHAUSTED: u8 = 102;
/// Exit status when the pipes to the parent are unusable.
const NO_PARENT: u8 = 3;

mod system {
    use std::ffi::c_int;
    unsafe extern "C" {
        // From the C library, which the standard library links: no crate is needed for three functions.
        pub fn _exit(status: c_int) -> !;
        pub fn dup2(old: c_int, new: c_int) -> c_int;
        pub fn atexit(handler: extern "C" fn()) -> c_int;
    }
}

/// Ends the process without running destructors: a driver's may wait for a dispatch that never ends.
pub fn exit_now(status: u8) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { system::_exit(status.into()) }
}

/// Ends the process in order, with a handler that never returns: what a driver's may do.
pub fn hang_in_exit() -> ! {
    extern "C" fn never_return() {
        loop {
            std::thread::park();
        }
    }
    // SAFETY: the handler is a function of this program, takes nothing and does not unwind.
    unsafe { system::atexit(never_return) };
    std::process::exit(0)
}

/// The whole life of a worker; returns its exit status. To be called first thing in a process of its own, as
/// `vkcert __vulkan-worker`.
pub fn worker_main() -> u8 {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "{panic}");
        exit_now(PANICKED)
    }));
    let Ok(mut pipe) = private_stdout() else { return NO_PARENT };
    let requests = requests();
    let mut worker = Worker { session: None, memory: 0, allowed: watch::start(), fault: Faults::from_environment() };
    while let Ok(request) = requests.recv() {
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
    0
}

/// A copy of standard output; the original then leads to the error stream.
fn private_stdout() -> io::Result<File> {
    let copy = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open, and nothing in this process has buffered output for the old one yet.
    let moved = unsafe { system::dup2(io::stderr().as_raw_fd(), io::stdout().as_raw_fd()) };
    if moved < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from(copy)) }
}

/// Reads requests beside the main line of execution, so that the end of the parent is noticed during a dispatch too.
fn requests() -> mpsc::Receiver<Request> {
    let (send, receive) = mpsc::channel();
    let read = move || {
        let mut pipe = io::stdin().lock();
        loop {
            match protocol::read(&mut pipe, || protocol::REQUEST_LIMIT) {
                Ok(request) => drop(send.send(request)),
                Err(FrameError::Closed) => exit_now(0),
                Err(error) => {
                    let _ = writeln!(io::stderr(), "the request cannot be read: {error}");
                    exit_now(NO_PARENT)
                }
            }
        }
    };
    std::thread::spawn(read);
    receive
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

    fn answer(&mut self, request: Request, pipe: &mut File) -> Result<Next, FrameError> {
        match request {
            Request::Open(open) => self.open(&open, pipe),
            Request::List => {
                let reply = identity::devices().map_or_else(Reply::Unavailable, Reply::Listed);
                protocol::write(pipe, &reply)?;
                Ok(Next::End)
            }
            Request::Run(job) => self.run(&job, pipe),
            Request::Measure { jobs, repetitions } => self.measure(&jobs, repetitions, pipe),
            Request::Close => {
                let instance = self.session.take().map(|session| Rc::clone(&session.device.instance));
                // The session, and with it the device, is gone; its instance has heard what the layer said about that.
                let messages = instance.map(|instance| instance.messages.take()).unwrap_or_default();
                protocol::write(pipe, &Reply::Closed(messages))?;
                Ok(Next::End)
            }
        }
    }

    fn open(&mut self, open: &Open, pipe: &mut File) -> Result<Next, FrameError> {
        self.memory = open.memory;
        self.allow(0);
        match Session::open(open, self.fault.clone()) {
            Ok((session, opened)) => {
                self.session = Some(session);
                protocol::write(pipe, &Reply::Opened(Box::new(opened)))?;
                Ok(Next::Request)
            }
            Err(reason) => {
                protocol::write(pipe, &Reply::Unavailable(reason))?;
                Ok(Next::Exit)
            }
        }
    }

    fn run(&mut self, job: &WireJob, pipe: &mut File) -> Result<Next, FrameError> {
        self.allow(job.memory_bytes);
        self.fault.strike_on_arrival(&job.name, pipe);
        let Some(session) = &mut self.session else { return unopened(pipe) };
        let mut announced = Ok(());
        let mut run = session.run(job, &mut |phase| announce(phase, pipe, &mut announced));
        announced?;
        self.fault.strike_after(&job.name, &mut run);
        let next = Next::from(run.fitness);
        protocol::write(pipe, &Reply::Ran(run))?;
        Ok(next)
    }

    fn measure(&mut self, jobs: &[WireJob], repetitions: u32, pipe: &mut File) -> Result<Next, FrameError> {
        self.allow(jobs.iter().map(|job| job.memory_bytes).sum());
        let Some(session) = &mut self.session else { return unopened(pipe) };
        let mut announced = Ok(());
        let (ending, fitness, times) =
            session.measure(jobs, repetitions, &mut |phase| announce(phase, pipe, &mut announced));
        announced?;
        protocol::write(pipe, &Reply::Measured { ending, times, fitness })?;
        Ok(Next::from(fitness))
    }
}

/// Tells the parent of a phase; the first failure is kept.
fn announce(phase: Phase, pipe: &mut File, outcome: &mut Result<(), FrameError>) {
    if outcome.is_ok() {
        *outcome = protocol::write(pipe, &Reply::Reached(phase));
    }
}

fn unopened(pipe: &mut File) -> Result<Next, FrameError> {
    protocol::write(pipe, &Reply::Failed("a job came before the device was opened".to_owned()))?;
    Ok(Next::Exit)
}
