//! The few calls of the C library that pipes and processes need beyond the standard library.
//!
//! Knows: `poll`, `fcntl`, `dup2`, `atexit` and `_exit`, which the standard library links anyway:
//! no crate is needed for them.
//! Promises: every function here is safe to call; an interrupted wait is an early return, not a
//! failure.
//! Does not cover: what is read or written (`process`, `worker`).

use std::ffi::{c_int, c_short, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Exit status after a failed assertion of the tool.
pub(crate) const PANICKED: u8 = 101;
/// Exit status after more memory was taken than is allowed.
pub(crate) const EXHAUSTED: u8 = 102;

const POLL_IN: c_short = 1;
const POLL_OUT: c_short = 4;
const GET_FLAGS: c_int = 3;
const SET_FLAGS: c_int = 4;
const NON_BLOCKING: c_int =
    if cfg!(any(target_os = "linux", target_os = "android")) { 0o4000 } else { 4 };

/// `struct pollfd` (POSIX, <poll.h>).
#[repr(C)]
struct Watched {
    descriptor: c_int,
    wanted: c_short,
    found: c_short,
}

unsafe extern "C" {
    fn _exit(status: c_int) -> !;
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn dup2(old: c_int, new: c_int) -> c_int;
    fn poll(watched: *mut Watched, count: c_ulong, milliseconds: c_int) -> c_int;
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

/// Ends the process without running destructors: a driver's may wait for a dispatch that never
/// ends.
pub(crate) fn exit_now(status: u8) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { _exit(status.into()) }
}

/// Ends the process in order, with a handler that never returns: what a driver's may do.
pub(crate) fn hang_in_exit() -> ! {
    extern "C" fn never_return() {
        loop {
            std::thread::park();
        }
    }
    // SAFETY: the handler is a function of this program, takes nothing and does not unwind.
    unsafe { atexit(never_return) };
    std::process::exit(0)
}

/// Makes `new` lead to where `old` leads.
pub(crate) fn redirect(old: BorrowedFd<'_>, new: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: both descriptors are open, which their types say.
    succeeded(unsafe { dup2(old.as_raw_fd(), new.as_raw_fd()) }).map(drop)
}

/// Reads and writes that would wait fail with `WouldBlock` from now on.
pub(crate) fn never_wait(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let descriptor = descriptor.as_raw_fd();
    // SAFETY: the descriptor is open; the command takes no further argument.
    let flags = succeeded(unsafe { fcntl(descriptor, GET_FLAGS) })?;
    // SAFETY: the descriptor is open; the command takes one integer.
    succeeded(unsafe { fcntl(descriptor, SET_FLAGS, flags | NON_BLOCKING) }).map(drop)
}

/// Waits until something can be read, or something be written where `writable` is given, or a pipe
/// has lost its other end, or the deadline has come.
pub(crate) fn wait(
    readable: BorrowedFd<'_>,
    writable: Option<BorrowedFd<'_>>,
    deadline: Instant,
) -> io::Result<()> {
    let row = |descriptor: BorrowedFd<'_>, wanted| Watched {
        descriptor: descriptor.as_raw_fd(),
        wanted,
        found: 0,
    };
    let mut watched = vec![row(readable, POLL_IN)];
    watched.extend(writable.map(|pipe| row(pipe, POLL_OUT)));
    let left = deadline.saturating_duration_since(Instant::now());
    poll_all(&mut watched, left.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(c_int::MAX))
}

/// Whether something can be read, or the other end is gone, before `patience` is over.
pub(crate) fn is_readable(descriptor: BorrowedFd<'_>, patience: Duration) -> bool {
    let mut watched = [Watched { descriptor: descriptor.as_raw_fd(), wanted: POLL_IN, found: 0 }];
    let milliseconds = patience.as_millis().try_into().unwrap_or(c_int::MAX);
    poll_all(&mut watched, milliseconds).is_err() || watched[0].found != 0
}

/// Waits until the other end of a pipe is closed, whatever is in the pipe; false: the wait was
/// interrupted.
pub(crate) fn hangs_up(descriptor: BorrowedFd<'_>) -> bool {
    let mut watched = [Watched { descriptor: descriptor.as_raw_fd(), wanted: 0, found: 0 }];
    poll_all(&mut watched, -1).is_err() || watched[0].found != 0
}

fn poll_all(watched: &mut [Watched], milliseconds: c_int) -> io::Result<()> {
    // SAFETY: the pointer leads to as many entries as are told, alive until the call returns.
    match succeeded(unsafe { poll(watched.as_mut_ptr(), watched.len() as c_ulong, milliseconds) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn succeeded(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
