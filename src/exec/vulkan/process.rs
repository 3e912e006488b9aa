//! A worker process as its parent sees it: started, asked, waited for, killed.
//!
//! Knows: pipes, deadlines and exit statuses.
//! Promises: no call blocks past its deadline, whatever the worker does (it may hang, die, write
//! nonsense or too much); a dropped worker is killed; at most [`MOST_STDERR`] bytes of its error
//! stream are kept.
//! Does not cover: what an answer means (`executor`).

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
const MOST_STDERR: usize = 8 << 10;
/// How long a killed or ended process may take to be gone.
const EXIT_WAIT: Duration = Duration::from_secs(5);
/// Bytes read at once.
const READ_CHUNK: usize = 64 << 10;

/// How a worker was lost.
#[derive(Debug)]
pub(crate) enum WorkerLoss {
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
enum ReceiveOutcome {
    Something,
    Nothing,
    End,
}

pub(crate) struct WorkerProcess {
    child_process: Child,
    requests: OutgoingRequests,
    replies: ChildStdout,
    /// What has been read and is no whole frame yet.
    received: Vec<u8>,
    /// Longest reply that is allowed now.
    reply_limit: u64,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    stderr_ended: Receiver<()>,
    /// Modules that it has been sent.
    pub known_modules: KnownModules,
}

/// Requests on their way. Neither side waits for the other while it has something to say, so that a
/// worker that does not read, or writes without end, blocks nobody.
struct OutgoingRequests {
    /// None: the worker has closed its end.
    request_pipe: Option<ChildStdin>,
    waiting_bytes: Vec<u8>,
    written_bytes: usize,
}

impl OutgoingRequests {
    /// Writes what goes into the pipe without waiting. A worker that is gone is noticed when its
    /// answer is waited for.
    fn write_waiting(&mut self) {
        while let Some(pipe) =
            self.request_pipe.as_mut().filter(|_| self.written_bytes < self.waiting_bytes.len())
        {
            match pipe.write(&self.waiting_bytes[self.written_bytes..]) {
                Ok(written_bytes) => self.written_bytes += written_bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.request_pipe = None,
            }
        }
        self.waiting_bytes.clear();
        self.written_bytes = 0;
    }

    fn send_frame(&mut self, frame_bytes: Vec<u8>) {
        match self.waiting_bytes.is_empty() {
            true => self.waiting_bytes = frame_bytes,
            false => self.waiting_bytes.extend(frame_bytes),
        }
        self.write_waiting();
    }
}

impl WorkerProcess {
    pub(crate) fn start_process(settings: &Settings) -> io::Result<Self> {
        let mut child_process = Command::new(&settings.worker)
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
            (child_process.stdin.take(), child_process.stdout.take(), child_process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        // These are the parent's own ends; the worker's still wait.
        system::set_non_blocking(stdin.as_fd())?;
        system::set_non_blocking(stdout.as_fd())?;
        let stderr_tail = Arc::default();
        Ok(Self {
            child_process,
            requests: OutgoingRequests {
                request_pipe: Some(stdin),
                waiting_bytes: Vec::new(),
                written_bytes: 0,
            },
            replies: stdout,
            received: Vec::new(),
            reply_limit: protocol::REPLY_SLACK,
            stderr_ended: keep_stderr(stderr, Arc::clone(&stderr_tail)),
            stderr_tail,
            known_modules: KnownModules::default(),
        })
    }

    /// Sends a request whose replies are at most `limit` bytes long.
    pub(crate) fn send_request(
        &mut self,
        request: &Request,
        reply_limit: u64,
    ) -> Result<(), FrameError> {
        self.reply_limit = reply_limit;
        self.requests.send_frame(frame::encode_frame(request)?);
        Ok(())
    }

    /// The next reply; after a loss the worker is gone.
    pub(crate) fn next_reply(&mut self, deadline: Instant) -> Result<Reply, WorkerLoss> {
        loop {
            match frame::take_frame(&mut self.received, self.reply_limit) {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                Err(error) => {
                    self.kill_process();
                    return Err(WorkerLoss::Garbage { reason: error.to_string() });
                }
            }
            self.requests.write_waiting();
            // What has come by the deadline counts, so the pipe is looked at before the clock.
            match self.receive_bytes() {
                Ok(ReceiveOutcome::Something) => {}
                Ok(ReceiveOutcome::End) => return Err(self.loss_after_end()),
                Ok(ReceiveOutcome::Nothing) if Instant::now() >= deadline => {
                    self.kill_process();
                    return Err(WorkerLoss::TimedOut);
                }
                Ok(ReceiveOutcome::Nothing) => {
                    let request_pipe = self
                        .requests
                        .request_pipe
                        .as_ref()
                        .filter(|_| !self.requests.waiting_bytes.is_empty());
                    // A wait that fails is as one that ends early: the pipes tell what is the
                    // matter.
                    let _ = system::wait_until_ready(
                        self.replies.as_fd(),
                        request_pipe.map(AsFd::as_fd),
                        deadline,
                    );
                }
                Err(error) => {
                    self.kill_process();
                    return Err(WorkerLoss::Garbage {
                        reason: FrameError::Pipe(error).to_string(),
                    });
                }
            }
        }
    }

    /// Reads what there is, without waiting.
    fn receive_bytes(&mut self) -> io::Result<ReceiveOutcome> {
        let old_length = self.received.len();
        self.received.resize(old_length + READ_CHUNK, 0);
        let read_result = self.replies.read(&mut self.received[old_length..]);
        self.received.truncate(old_length + *read_result.as_ref().unwrap_or(&0));
        match read_result {
            Ok(0) => Ok(ReceiveOutcome::End),
            Ok(_) => Ok(ReceiveOutcome::Something),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(ReceiveOutcome::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Kills the process and waits until it is gone, but not for ever: a driver can hold a process.
    pub(crate) fn kill_process(&mut self) {
        // It fails only for a process that has ended.
        let _ = self.child_process.kill();
        self.wait_for_exit();
    }

    fn wait_for_exit(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + EXIT_WAIT;
        let mut poll_pause = Duration::from_micros(100);
        loop {
            match self.child_process.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(poll_pause),
                Ok(None) | Err(_) => return None,
            }
            poll_pause = (poll_pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Its output has ended: find out why.
    fn loss_after_end(&mut self) -> WorkerLoss {
        let exit_status = self.wait_for_exit();
        if exit_status.is_none() {
            self.kill_process();
        }
        let error_words = self.last_words();
        match exit_status {
            Some(exit_status) if exit_status.code() == Some(PANICKED.into()) => {
                WorkerLoss::Panicked { words: error_words }
            }
            Some(exit_status) if exit_status.code() == Some(EXHAUSTED.into()) => {
                WorkerLoss::Exhausted
            }
            Some(exit_status) => {
                WorkerLoss::Died { how: exit_status.to_string(), words: error_words }
            }
            None => WorkerLoss::Died { how: "it closed its output".to_owned(), words: error_words },
        }
    }

    /// What the Vulkan loader has complained of on its error stream, each sentence once; the worker
    /// is gone then.
    pub(crate) fn loader_complaints(&mut self) -> Vec<String> {
        self.kill_process();
        let _ = self.stderr_ended.recv_timeout(Duration::from_secs(1));
        let stderr_tail = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
        loader_complaints(&String::from_utf8_lossy(&stderr_tail))
    }

    /// The end of its error stream, on one line.
    fn last_words(&self) -> String {
        let _ = self.stderr_ended.recv_timeout(Duration::from_secs(1));
        let stderr_tail = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
        let error_text = String::from_utf8_lossy(&stderr_tail);
        let error_lines: Vec<&str> =
            error_text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last_lines = error_lines[error_lines.len().saturating_sub(3)..].join("; ");
        let excess_characters = last_lines.chars().count().saturating_sub(500);
        last_lines.chars().skip(excess_characters).collect()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill_process();
    }
}

/// Most complaints of the loader that are told, and characters of each.
const COMPLAINTS: (usize, usize) = (8, 300);

/// The errors and warnings among the loader's lines: `ERROR: ...`, `[Vulkan Loader] WARNING: ...`.
fn loader_complaints(text: &str) -> Vec<String> {
    let mut complaint_list: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("[Vulkan Loader]").trim_start();
        let after_level = ["ERROR", "WARNING"].iter().find_map(|level| line.strip_prefix(level));
        let Some((level_words, complaint_text)) = after_level.and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        let complaint_text: String = complaint_text.trim().chars().take(COMPLAINTS.1).collect();
        // `ERROR | DRIVER:` and the like.
        let is_level = level_words
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || letter == ' ' || letter == '|');
        if is_level && !complaint_text.is_empty() && !complaint_list.contains(&complaint_text) {
            complaint_list.push(complaint_text);
        }
    }
    complaint_list.truncate(COMPLAINTS.0);
    complaint_list
}

/// Keeps the end of the error stream; the receiver hears when the stream has ended.
fn keep_stderr(mut pipe: ChildStderr, stderr_tail: Arc<Mutex<Vec<u8>>>) -> Receiver<()> {
    let (end_sender, end_receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut read_chunk = [0; 4096];
        while let Ok(read_bytes @ 1..) = pipe.read(&mut read_chunk) {
            let mut stderr_tail = stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
            stderr_tail.extend_from_slice(&read_chunk[..read_bytes]);
            let excess_bytes = stderr_tail.len().saturating_sub(MOST_STDERR);
            stderr_tail.drain(..excess_bytes);
        }
        drop(end_sender);
    });
    end_receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_errors_and_warnings_are_told_once() {
        let text = "INFO:              Found manifest\nERROR:             a.so: cannot open\n[Vulkan Loader] WARNING | DRIVER:  \
                    old version\nERROR: a.so: cannot open\nERRORS are many\n";
        assert_eq!(loader_complaints(text), ["a.so: cannot open", "old version"]);
    }
}
