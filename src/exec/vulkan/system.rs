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
struct WatchedDescriptor {
    descriptor: c_int,
    wanted_events: c_short,
    found_events: c_short,
}

unsafe extern "C" {
    fn _exit(status: c_int) -> !;
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn dup2(old: c_int, new: c_int) -> c_int;
    fn poll(watched: *mut WatchedDescriptor, count: c_ulong, milliseconds: c_int) -> c_int;
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

/// Ends the process without running destructors: a driver's may wait for a dispatch that never
/// ends.
pub(crate) fn exit_now(exit_status: u8) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { _exit(exit_status.into()) }
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
pub(crate) fn redirect_descriptor(
    old_descriptor: BorrowedFd<'_>,
    new_descriptor: BorrowedFd<'_>,
) -> io::Result<()> {
    // SAFETY: both descriptors are open, which their types say.
    call_result(unsafe { dup2(old_descriptor.as_raw_fd(), new_descriptor.as_raw_fd()) }).map(drop)
}

/// Reads and writes that would wait fail with `WouldBlock` from now on.
pub(crate) fn set_non_blocking(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let descriptor = descriptor.as_raw_fd();
    // SAFETY: the descriptor is open; the command takes no further argument.
    let status_flags = call_result(unsafe { fcntl(descriptor, GET_FLAGS) })?;
    // SAFETY: the descriptor is open; the command takes one integer.
    call_result(unsafe { fcntl(descriptor, SET_FLAGS, status_flags | NON_BLOCKING) }).map(drop)
}

/// Waits until something can be read, or something be written where `writable` is given, or a pipe
/// has lost its other end, or the deadline has come.
pub(crate) fn wait_until_ready(
    readable: BorrowedFd<'_>,
    writable: Option<BorrowedFd<'_>>,
    deadline: Instant,
) -> io::Result<()> {
    let poll_entry = |descriptor: BorrowedFd<'_>, wanted_events| WatchedDescriptor {
        descriptor: descriptor.as_raw_fd(),
        wanted_events,
        found_events: 0,
    };
    let mut watched_descriptors = vec![poll_entry(readable, POLL_IN)];
    watched_descriptors.extend(writable.map(|pipe| poll_entry(pipe, POLL_OUT)));
    let time_left = deadline.saturating_duration_since(Instant::now());
    poll_all(
        &mut watched_descriptors,
        time_left.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(c_int::MAX),
    )
}

/// Whether something can be read, or the other end is gone, before `patience` is over.
pub(crate) fn is_readable(descriptor: BorrowedFd<'_>, wait_limit: Duration) -> bool {
    let mut watched_descriptors = [WatchedDescriptor {
        descriptor: descriptor.as_raw_fd(),
        wanted_events: POLL_IN,
        found_events: 0,
    }];
    let milliseconds = wait_limit.as_millis().try_into().unwrap_or(c_int::MAX);
    poll_all(&mut watched_descriptors, milliseconds).is_err()
        || watched_descriptors[0].found_events != 0
}

/// Waits until the other end of a pipe is closed, whatever is in the pipe; false: the wait was
/// interrupted.
pub(crate) fn hangs_up(descriptor: BorrowedFd<'_>) -> bool {
    let mut watched_descriptors = [WatchedDescriptor {
        descriptor: descriptor.as_raw_fd(),
        wanted_events: 0,
        found_events: 0,
    }];
    poll_all(&mut watched_descriptors, -1).is_err() || watched_descriptors[0].found_events != 0
}

fn poll_all(watched_descriptors: &mut [WatchedDescriptor], milliseconds: c_int) -> io::Result<()> {
    // SAFETY: the pointer leads to as many entries as are told, alive until the call returns.
    match call_result(unsafe {
        poll(watched_descriptors.as_mut_ptr(), watched_descriptors.len() as c_ulong, milliseconds)
    }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn call_result(return_value: c_int) -> io::Result<c_int> {
    if return_value < 0 { Err(io::Error::last_os_error()) } else { Ok(return_value) }
}
