//! A worker process as its parent sees it: started, asked, waited for, killed.
//!
//! Knows: pipes, deadlines and exit statuses.
//! Promises: no call blocks past its deadline, whatever the worker does (it may hang, die, write
//! nonsense or too much); a dropped worker is killed; at most [`STDERR`] bytes of its error stream
//! are kept.
//! Does not cover: what an answer means (`mod`).

use super::frame::{self, FrameError};
use super::protocol::{self, Reply, Request};
use super::settings::{Settings, WORKER_COMMAND};
use super::system;
use super::system::{EXHAUSTED, PANICKED};
use super::wire::KnownModules;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes kept of the error stream: the last ones.
const STDERR: usize = 8 << 10;
/// How long a killed or ended process may take to be gone.
const GONE: Duration = Duration::from_secs(5);
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// How a worker was lost.
#[derive(Debug)]
pub(crate) enum Loss {
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

/// What a look into the pipe came to.
enum Received {
    Something,
    Nothing,
    End,
}

pub(crate) struct Worker {
    child: Child,
    requests: Outgoing,
    replies: ChildStdout,
    /// What has been read and is no whole frame yet.
    received: Vec<u8>,
    /// Longest reply that is allowed now.
    limit: u64,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_ended: Receiver<()>,
    /// Modules that it has been sent.
    pub known: KnownModules,
}

/// Requests on their way. Neither side waits for the other while it has something to say, so that a
/// worker that does not read, or writes without end, blocks nobody.
struct Outgoing {
    /// None: the worker has closed its end.
    pipe: Option<ChildStdin>,
    waiting: Vec<u8>,
    written: usize,
}

impl Outgoing {
    /// Writes what goes into the pipe without waiting. A worker that is gone is noticed when its
    /// answer is waited for.
    fn advance(&mut self) {
        while let Some(pipe) = self.pipe.as_mut().filter(|_| self.written < self.waiting.len()) {
            match pipe.write(&self.waiting[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
        self.waiting.clear();
        self.written = 0;
    }

    fn send(&mut self, frame: Vec<u8>) {
        match self.waiting.is_empty() {
            true => self.waiting = frame,
            false => self.waiting.extend(frame),
        }
        self.advance();
    }
}

impl Worker {
    pub(crate) fn start(settings: &Settings) -> io::Result<Self> {
        let mut child = Command::new(&settings.worker)
            .arg(WORKER_COMMAND)
            // The layer stops repeating a message after a few times, over all jobs of a worker:
            // later jobs would seem to be free of it.
            .env("VK_LAYER_DUPLICATE_MESSAGE_LIMIT", "1000000000")
            .envs(&settings.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        // These are the parent's own ends; the worker's still wait.
        system::never_wait(stdin.as_fd())?;
        system::never_wait(stdout.as_fd())?;
        let kept = Arc::default();
        Ok(Self {
            child,
            requests: Outgoing { pipe: Some(stdin), waiting: Vec::new(), written: 0 },
            replies: stdout,
            received: Vec::new(),
            limit: protocol::REPLY_SLACK,
            stderr_ended: listener(stderr, Arc::clone(&kept)),
            stderr: kept,
            known: KnownModules::default(),
        })
    }

    /// Sends a request whose replies are at most `limit` bytes long.
    pub(crate) fn ask(&mut self, request: &Request, limit: u64) -> Result<(), FrameError> {
        self.limit = limit;
        self.requests.send(frame::frame(request)?);
        Ok(())
    }

    /// The next reply; after a loss the worker is gone.
    pub(crate) fn next(&mut self, deadline: Instant) -> Result<Reply, Loss> {
        loop {
            match frame::take(&mut self.received, self.limit) {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                Err(error) => {
                    self.kill();
                    return Err(Loss::Garbage { reason: error.to_string() });
                }
            }
            self.requests.advance();
            // What has come by the deadline counts, so the pipe is looked at before the clock.
            match self.receive() {
                Ok(Received::Something) => {}
                Ok(Received::End) => return Err(self.death()),
                Ok(Received::Nothing) if Instant::now() >= deadline => {
                    self.kill();
                    return Err(Loss::TimedOut);
                }
                Ok(Received::Nothing) => {
                    let pipe =
                        self.requests.pipe.as_ref().filter(|_| !self.requests.waiting.is_empty());
                    // A wait that fails is as one that ends early: the pipes tell what is the
                    // matter.
                    let _ = system::wait(self.replies.as_fd(), pipe.map(AsFd::as_fd), deadline);
                }
                Err(error) => {
                    self.kill();
                    return Err(Loss::Garbage { reason: FrameError::Pipe(error).to_string() });
                }
            }
        }
    }

    /// Reads what there is, without waiting.
    fn receive(&mut self) -> io::Result<Received> {
        let start = self.received.len();
        self.received.resize(start + CHUNK, 0);
        let read = self.replies.read(&mut self.received[start..]);
        self.received.truncate(start + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Ok(Received::End),
            Ok(_) => Ok(Received::Something),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(Received::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Kills the process and waits until it is gone, but not for ever: a driver can hold a process.
    pub(crate) fn kill(&mut self) {
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

    /// What the Vulkan loader has complained of on its error stream, each sentence once; the worker
    /// is gone then.
    pub(crate) fn loader_complaints(&mut self) -> Vec<String> {
        self.kill();
        let _ = self.stderr_ended.recv_timeout(Duration::from_secs(1));
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        complaints(&String::from_utf8_lossy(&kept))
    }

    /// The end of its error stream, on one line.
    fn last_words(&self) -> String {
        let _ = self.stderr_ended.recv_timeout(Duration::from_secs(1));
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
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

/// Most complaints of the loader that are told, and characters of each.
const COMPLAINTS: (usize, usize) = (8, 300);

/// The errors and warnings among the loader's lines: `ERROR: ...`, `[Vulkan Loader] WARNING: ...`.
fn complaints(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("[Vulkan Loader]").trim_start();
        let said = ["ERROR", "WARNING"].iter().find_map(|level| line.strip_prefix(level));
        let Some((about, words)) = said.and_then(|rest| rest.split_once(':')) else { continue };
        let words: String = words.trim().chars().take(COMPLAINTS.1).collect();
        // `ERROR | DRIVER:` and the like.
        let is_level = about
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || letter == ' ' || letter == '|');
        if is_level && !words.is_empty() && !found.contains(&words) {
            found.push(words);
        }
    }
    found.truncate(COMPLAINTS.0);
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_errors_and_warnings_are_told_once() {
        let text = "INFO:              Found manifest\nERROR:             a.so: cannot open\n[Vulkan Loader] WARNING | DRIVER:  \
                    old version\nERROR: a.so: cannot open\nERRORS are many\n";
        assert_eq!(complaints(text), ["a.so: cannot open", "old version"]);
    }
}
