//! A worker process as its parent sees it: started, asked, waited for, killed.
//!
//! Knows: pipes, deadlines and exit statuses.
//! Promises: no call blocks past its deadline, whatever the worker does (it may hang, die, write nonsense or too much);
//! a dropped worker is killed; at most [`STDERR`] bytes of its error stream are kept.
//! Does not cover: what an answer means (`mod`).

use super::protocol::{self, Digest, FrameError, Reply, Request};
use super::worker::{EXHAUSTED, PANICKED};
use super::{Settings, WORKER_COMMAND};
use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes kept of the error stream: the last ones.
const STDERR: usize = 8 << 10;
/// How long a killed or ended process may take to be gone.
const GONE: Duration = Duration::from_secs(5);

/// How a worker was lost.
#[derive(Debug)]
pub enum Loss {
    TimedOut,
    /// Died by a signal or with an unexpected status.
    Died {
        how: String,
        /// The last lines of its error stream.
        words: String,
    },
    /// A failed assertion of the tool.
    Panicked {
        words: String,
    },
    /// Took more memory than it may.
    Exhausted,
    /// Wrote what is no reply.
    Garbage {
        reason: String,
    },
}

enum Incoming {
    Reply(Box<Reply>),
    Broken(FrameError),
}

pub struct Worker {
    child: Child,
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Incoming>,
    /// Longest reply that is allowed now.
    limit: Arc<AtomicU64>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_ended: Receiver<()>,
    /// Modules that it has been sent.
    pub known: BTreeSet<Digest>,
}

impl Worker {
    pub fn start(settings: &Settings) -> io::Result<Self> {
        let mut child = Command::new(&settings.worker)
            .arg(WORKER_COMMAND)
            // The layer stops repeating a message after a few times, over all jobs of a worker: later jobs would seem
            // to be free of it.
            .env("VK_LAYER_DUPLICATE_MESSAGE_LIMIT", "1000000000")
            .envs(&settings.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        let limit = Arc::new(AtomicU64::new(protocol::REPLY_SLACK));
        let kept = Arc::default();
        Ok(Self {
            child,
            outgoing: writer(stdin),
            incoming: reader(stdout, limit.clone()),
            limit,
            stderr_ended: listener(stderr, Arc::clone(&kept)),
            stderr: kept,
            known: BTreeSet::new(),
        })
    }

    /// Sends a request whose replies are at most `limit` bytes long.
    pub fn ask(&mut self, request: &Request, limit: u64) -> Result<(), FrameError> {
        self.limit.store(limit, Ordering::SeqCst);
        // A worker that is gone is noticed when its answer is waited for.
        let _ = self.outgoing.send(protocol::frame(request)?);
        Ok(())
    }

    /// The next reply; after a loss the worker is gone.
    pub fn next(&mut self, deadline: Instant) -> Result<Reply, Loss> {
        let patience = deadline.saturating_duration_since(Instant::now());
        match self.incoming.recv_timeout(patience) {
            Ok(Incoming::Reply(reply)) => Ok(*reply),
            Ok(Incoming::Broken(FrameError::Closed)) => Err(self.death()),
            Ok(Incoming::Broken(error)) => {
                self.kill();
                Err(Loss::Garbage { reason: error.to_string() })
            }
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(Loss::TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.death()),
        }
    }

    /// Kills the process and waits until it is gone, but not for ever: a driver can hold a process.
    pub fn kill(&mut self) {
        // It fails only for a process that has ended.
        let _ = self.child.kill();
        self.wait();
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + GONE;
        let mut pause = Duration::from_micros(100);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(pause),
                Ok(None) | Err(_) => return None,
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Its output has ended: find out why.
    fn death(&mut self) -> Loss {
        let status = self.wait();
        if status.is_none() {
            self.kill();
        }
        let words = self.last_words();
        match status {
            Some(status) if status.code() == Some(PANICKED.into()) => Loss::Panicked { words },
            Some(status) if status.code() == Some(EXHAUSTED.into()) => Loss::Exhausted,
            Some(status) => Loss::Died { how: status.to_string(), words },
            None => Loss::Died { how: "it closed its output".to_owned(), words },
        }
    }

    /// The end of its error stream, on one line.
    fn last_words(&self) -> String {
        let _ = self.stderr_ended.recv_timeout(Duration::from_secs(1));
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(3)..].join("; ");
        let excess = last.chars().count().saturating_sub(500);
        last.chars().skip(excess).collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes frames beside the caller, which must not block on a worker that does not read.
fn writer(mut pipe: ChildStdin) -> Sender<Vec<u8>> {
    let (send, receive) = mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || {
        for frame in receive {
            if pipe.write_all(&frame).and_then(|()| pipe.flush()).is_err() {
                return;
            }
        }
    });
    send
}

fn reader(pipe: ChildStdout, limit: Arc<AtomicU64>) -> Receiver<Incoming> {
    // Bounded, so that a worker that talks without end fills a pipe and not our memory.
    let (send, receive) = mpsc::sync_channel(16);
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let incoming = match protocol::read::<Reply>(&mut pipe, || limit.load(Ordering::SeqCst)) {
                Ok(reply) => Incoming::Reply(Box::new(reply)),
                Err(error) => Incoming::Broken(error),
            };
            let is_last = matches!(incoming, Incoming::Broken(_));
            if send.send(incoming).is_err() || is_last {
                return;
            }
        }
    });
    receive
}

/// Keeps the end of the error stream; the receiver hears when the stream has ended.
fn listener(mut pipe: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) -> Receiver<()> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..count]);
            let excess = kept.len().saturating_sub(STDERR);
            kept.drain(..excess);
        }
        drop(send);
    });
    receive
}
