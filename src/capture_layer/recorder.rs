//! The one recorder of the process: events in the order in which they come, into one file.
//!
//! Knows: the file, what is not yet written of it, and which thread calls.
//! Promises: nothing that fails here reaches the program: a record that panics is counted as lost, a
//! file that cannot be written ends with its last whole record. What was submitted is in the file
//! before the submission goes on.
//! Does not cover: a process that is killed, whose capture ends with its last submission.

use crate::{CONTENTS_VARIABLE, FOLDER_VARIABLE};
use std::cell::Cell;
use std::ffi::c_int;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use vkcert_capture::event::{ContentsMode, End, Event, Record, Start};
use vkcert_capture::file::{append_frame, head};

/// Bytes that wait for being written at most.
const MOST_PENDING_BYTES: usize = 1 << 18;

/// Whether there is a file; asked before anything is made for it.
static RECORDING: AtomicBool = AtomicBool::new(false);

/// Records that were lost since the last one that was written.
static LOST: AtomicU64 = AtomicU64::new(0);

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The file and what is not yet in it.
pub(crate) struct Recorder {
    file: File,
    process: u32,
    written_bytes: u64,
    pending: Vec<u8>,
    records: u64,
    contents: ContentsMode,
    state: FileState,
}

/// Whether the file still takes records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Open,
    /// It could not be written, and ends with its last whole record.
    Failed,
}

/// `struct rlimit` of the C library.
#[repr(C)]
struct ResourceLimit {
    soft: u64,
    hard: u64,
}

/// RLIMIT_FSIZE of Linux.
const FILE_SIZE_LIMIT: c_int = 1;

/// Bytes that a file of this process may have: to write more would end the process by a signal.
fn most_file_bytes() -> u64 {
    unsafe extern "C" {
        safe fn getrlimit(resource: c_int, limit: &mut ResourceLimit) -> c_int;
    }
    let mut limit = ResourceLimit { soft: u64::MAX, hard: u64::MAX };
    if getrlimit(FILE_SIZE_LIMIT, &mut limit) == 0 { limit.soft } else { u64::MAX }
}

/// Begins the capture, once in a process.
pub(crate) fn begin() {
    // A message of a panic would stand among the program's own output.
    std::panic::set_hook(Box::new(|_| {}));
    let opened = catch_unwind(|| {
        let mut recorder = locked();
        if recorder.is_some() {
            return;
        }
        *recorder = Recorder::open();
        if recorder.is_some() {
            unsafe extern "C" {
                safe fn atexit(handler: extern "C" fn()) -> c_int;
            }
            RECORDING.store(true, Ordering::Release);
            atexit(end);
        }
    });
    // Without a file there is no capture, which whoever asked for it sees.
    drop(opened);
}

/// Whether anything is recorded.
pub(crate) fn is_recording() -> bool {
    RECORDING.load(Ordering::Acquire)
}

/// Records one event.
pub(crate) fn record(event: impl FnOnce() -> Event) {
    if !is_recording() {
        return;
    }
    let recorded = catch_unwind(AssertUnwindSafe(|| {
        let event = event();
        if let Some(recorder) = locked().as_mut() {
            recorder.push(event);
        }
    }));
    if recorded.is_err() {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Records several events with nothing between them.
pub(crate) fn record_all(events: impl FnOnce(ContentsMode) -> Vec<Event>) {
    if !is_recording() {
        return;
    }
    let recorded = catch_unwind(AssertUnwindSafe(|| {
        if let Some(recorder) = locked().as_mut() {
            let contents = recorder.contents;
            events(contents).into_iter().for_each(|event| recorder.push(event));
        }
    }));
    if recorded.is_err() {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes what waits.
pub(crate) fn flush() {
    let flushed = catch_unwind(|| {
        if let Some(recorder) = locked().as_mut() {
            recorder.flush();
        }
    });
    drop(flushed);
}

/// The process ends by itself.
extern "C" fn end() {
    let ended = catch_unwind(|| {
        let mut recorder = match RECORDER.try_lock() {
            Ok(recorder) => recorder,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread is in the middle of a record: the capture stays open.
            Err(TryLockError::WouldBlock) => return,
        };
        if let Some(mut recorder) = recorder.take() {
            recorder.note_lost();
            let records = recorder.records;
            recorder.append(Event::End(End { records }));
            recorder.flush();
        }
        RECORDING.store(false, Ordering::Release);
    });
    drop(ended);
}

fn locked() -> MutexGuard<'static, Option<Recorder>> {
    RECORDER.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn thread_number() -> u32 {
    let number = THREAD.try_with(|thread| {
        thread.get().unwrap_or_else(|| {
            let number = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
            thread.set(Some(number));
            number
        })
    });
    // A thread whose own variables are gone already is at its end.
    number.unwrap_or(u32::MAX)
}

impl Recorder {
    fn open() -> Option<Self> {
        let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE)?);
        let process = std::process::id();
        let file = File::create_new(folder.join(format!("{process}.capture"))).ok()?;
        let contents = match std::env::var_os(CONTENTS_VARIABLE) {
            Some(_) => ContentsMode::Recorded,
            None => ContentsMode::Omitted,
        };
        let mut recorder = Self {
            file,
            process,
            written_bytes: 0,
            pending: Vec::new(),
            records: 0,
            contents,
            state: FileState::Open,
        };
        recorder.pending.extend_from_slice(&head());
        recorder.push(Event::Start(Start {
            layer: env!("CARGO_PKG_VERSION").to_owned(),
            program: program_name(),
            contents,
        }));
        recorder.flush();
        Some(recorder)
    }

    fn push(&mut self, event: Event) {
        self.note_lost();
        self.append(event);
        if self.pending.len() >= MOST_PENDING_BYTES {
            self.flush();
        }
    }

    fn note_lost(&mut self) {
        if LOST.load(Ordering::Relaxed) > 0 {
            self.append(Event::Lost(LOST.swap(0, Ordering::Relaxed)));
        }
    }

    fn append(&mut self, event: Event) {
        let record = Record { thread: thread_number(), event };
        match append_frame(&record, &mut self.pending) {
            Ok(()) => self.records += 1,
            Err(_) => {
                LOST.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn flush(&mut self) {
        // A process that was forked shares the file with the one that it came from.
        if self.process != std::process::id() {
            RECORDING.store(false, Ordering::Release);
            self.pending.clear();
            return;
        }
        if self.state == FileState::Open && self.write_pending().is_err() {
            // What is whole stays readable; if even that fails, the reader says so.
            let _ = self.file.set_len(self.written_bytes);
            self.state = FileState::Failed;
            RECORDING.store(false, Ordering::Release);
        }
        self.pending.clear();
    }

    fn write_pending(&mut self) -> std::io::Result<()> {
        let end = self.written_bytes + self.pending.len() as u64;
        if end > most_file_bytes() {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.file.write_all(&self.pending)?;
        self.written_bytes = end;
        Ok(())
    }
}

fn program_name() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
