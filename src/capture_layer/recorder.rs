//! The one recorder of the process: events in the order in which they come, into one file.
//!
//! Knows: the file (`capture_file`), what is not yet written of it, and which thread calls.
//! Promises: nothing that fails here reaches the program: a record that panics is counted as lost, a
//! file that cannot be written ends with its last whole record, and no thread is canceled in here.
//! What was submitted is in the file before the submission goes on. A process that was forked has a
//! capture of its own once it makes an instance. What is called behind the end of the capture takes
//! the end back.
//! Does not cover: a process that is killed, whose capture ends with its last submission.

use crate::capture_file::CaptureFile;
use crate::hooks::images::forget_known;
use crate::hooks::memory::forget_mapped;
use crate::{CONTENTS_VARIABLE, FOLDER_VARIABLE, readback};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, TryLockError};
use std::time::Duration;
use vkcert_capture::event::{ContentsMode, End, Event, Record, Start};
use vkcert_capture::file::{append_frame, head};

/// Bytes that wait for being written at most.
const MOST_PENDING_BYTES: usize = 1 << 18;

/// Whether there is a file; asked before anything is made for it.
static RECORDING: AtomicBool = AtomicBool::new(false);

/// Records that were lost since the last one that was written.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Whether the recorder was in use when this process was forked, and stays so for ever.
static UNUSABLE: AtomicBool = AtomicBool::new(false);

/// Milliseconds that a fork waits for the recorder at most.
const MOST_WAITS_OF_A_FORK: u32 = 200;

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
    /// Held while this thread forks, so that the recorder of the new process is whole.
    static FORKING: RefCell<Option<MutexGuard<'static, Option<Recorder>>>> =
        const { RefCell::new(None) };
}

/// The file and what is not yet in it.
pub(crate) struct Recorder {
    file: CaptureFile,
    process: u32,
    pending: Vec<u8>,
    records: u64,
    contents: ContentsMode,
    state: FileState,
}

/// Whether the file still takes records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Open,
    /// It was closed; its last record begins at this byte.
    Ended(u64),
    /// It could not be written, and ends with its last whole record.
    Failed,
}

unsafe extern "C" {
    safe fn pthread_setcancelstate(state: c_int, earlier: &mut c_int) -> c_int;
    safe fn pthread_atfork(
        before: extern "C" fn(),
        in_parent: extern "C" fn(),
        in_child: extern "C" fn(),
    ) -> c_int;
}

/// PTHREAD_CANCEL_DISABLE of Linux.
const NO_CANCELING: c_int = 1;

/// Does something that a thread which is asked to end does not end in: writing a file is a point at
/// which threads end, and the program's submissions have no such point of ours.
fn uncanceled<T>(action: impl FnOnce() -> T) -> T {
    let mut earlier = 0;
    pthread_setcancelstate(NO_CANCELING, &mut earlier);
    let result = action();
    let mut own = 0;
    pthread_setcancelstate(earlier, &mut own);
    result
}

/// Begins the capture, once in a process.
pub(crate) fn begin() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        // A message of a panic would stand among the program's own output.
        std::panic::set_hook(Box::new(|_| {}));
        pthread_atfork(before_fork, in_parent, in_child);
    });
    if UNUSABLE.load(Ordering::Acquire) {
        return;
    }
    let opened = catch_unwind(|| {
        let mut recorder = locked();
        if recorder.is_none() {
            *recorder = uncanceled(Recorder::open);
            RECORDING.store(recorder.is_some(), Ordering::Release);
        }
    });
    // Without a file there is no capture, which whoever asked for it sees.
    drop(opened);
}

/// Waits for a record of another thread. A signal handler may fork in the middle of a record of its
/// own thread, for which nobody can wait: its child then has no capture.
extern "C" fn before_fork() {
    let mut recorder = None;
    for _ in 0..MOST_WAITS_OF_A_FORK {
        match RECORDER.try_lock() {
            Ok(locked) => recorder = Some(locked),
            Err(TryLockError::Poisoned(poisoned)) => recorder = Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
        }
        break;
    }
    let _ = FORKING.try_with(|forking| *forking.borrow_mut() = recorder);
}

extern "C" fn in_parent() {
    let _ = FORKING.try_with(|forking| drop(forking.borrow_mut().take()));
}

/// The file, and the memory that is mapped, are those of the process that forked.
extern "C" fn in_child() {
    RECORDING.store(false, Ordering::Release);
    LOST.store(0, Ordering::Relaxed);
    let recorder = FORKING.try_with(|forking| forking.borrow_mut().take()).ok().flatten();
    match recorder {
        Some(mut recorder) => *recorder = None,
        None => UNUSABLE.store(true, Ordering::Release),
    }
    forget_mapped();
    forget_known();
    readback::forget();
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
        readback::turn_off();
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
        readback::turn_off();
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

/// Called when this library ends: behind what the program does at its exit, objects that it destroys
/// there among it.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = end;

/// The process ends by itself.
extern "C" fn end() {
    let ended = catch_unwind(|| {
        let mut recorder = match RECORDER.try_lock() {
            Ok(recorder) => recorder,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread is in the middle of a record: the capture stays open.
            Err(TryLockError::WouldBlock) => return,
        };
        if let Some(recorder) = recorder.as_mut() {
            recorder.end();
        }
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
        let file = CaptureFile::create(&folder, process).ok()?;
        let contents = match std::env::var_os(CONTENTS_VARIABLE) {
            Some(_) => ContentsMode::Recorded,
            None => ContentsMode::Omitted,
        };
        match contents {
            ContentsMode::Recorded => readback::turn_on(),
            ContentsMode::Omitted => {}
        }
        let (pending, state) = (head().to_vec(), FileState::Open);
        let mut recorder = Self { file, process, pending, records: 0, contents, state };
        recorder.push(Event::Start(Start {
            layer: env!("CARGO_PKG_VERSION").to_owned(),
            program: program_name(),
            contents,
        }));
        recorder.flush();
        Some(recorder)
    }

    fn push(&mut self, event: Event) {
        if let FileState::Ended(before_end) = self.state {
            // What goes away behind the end changes nothing that was done.
            if !matches!(event, Event::Destroyed(_)) {
                let _ = uncanceled(|| self.file.cut(before_end));
                self.give_up();
            }
            return;
        }
        self.note_lost();
        self.append(event);
        if self.pending.len() >= MOST_PENDING_BYTES {
            self.flush();
        }
    }

    fn end(&mut self) {
        if self.state != FileState::Open {
            return;
        }
        self.note_lost();
        self.flush();
        let before_end = self.file.written_bytes();
        let records = self.records;
        self.append(Event::End(End { records }));
        self.flush();
        if self.state == FileState::Open {
            self.state = FileState::Ended(before_end);
        }
    }

    /// Takes no more records.
    fn give_up(&mut self) {
        self.state = FileState::Failed;
        self.pending.clear();
        RECORDING.store(false, Ordering::Release);
    }

    fn note_lost(&mut self) {
        if LOST.load(Ordering::Relaxed) > 0 {
            self.append(Event::Lost(LOST.swap(0, Ordering::Relaxed)));
        }
    }

    fn append(&mut self, event: Event) {
        let record = Record { thread: thread_number(), event };
        match append_frame(&record, &mut self.pending) {
            Ok(()) => {
                self.records += 1;
                readback::take(self.records, &record.event);
            }
            Err(_) => {
                LOST.fetch_add(1, Ordering::Relaxed);
                readback::turn_off();
            }
        }
    }

    fn flush(&mut self) {
        // A process that was made without notice shares the file with the one that it came from.
        if self.process != std::process::id() {
            self.give_up();
            return;
        }
        if self.state == FileState::Open && uncanceled(|| self.file.append(&self.pending)).is_err()
        {
            self.give_up();
        }
        self.pending.clear();
    }
}

fn program_name() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
