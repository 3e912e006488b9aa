//! The memory watch of a device worker.
//!
//! Knows: how much memory this process has in use, from Linux' `/proc/self/statm`.
//! Promises: a process that takes more than it is allowed ends with [`EXHAUSTED`] within some tens
//! of milliseconds, whatever it is doing then. Where the machine runs short first, its kernel ends
//! this process before any other.
//! Does not cover: a device's own memory; systems without `/proc`. A limit of the address space
//! would be exact, but drivers of real devices reserve far more addresses than memory.

use super::system::{EXHAUSTED, exit_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A job's bytes are in use so many times at most: as a frame, decoded, on a software device,
/// collected, as a reply.
pub(crate) const COPIES: u64 = 8;

/// Bytes of a page where nobody says otherwise; only ever too small, so that a watch on larger
/// pages is too lenient.
const PAGE: u64 = 4096;
const PAUSE: Duration = Duration::from_millis(20);

/// Starts the watch; the bytes that are allowed can be changed at any time.
pub(crate) fn start() -> Arc<AtomicU64> {
    // A user may make the own process more likely to be ended; that it fails elsewhere is no harm.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let allowed = Arc::new(AtomicU64::new(u64::MAX));
    let limit = Arc::clone(&allowed);
    std::thread::spawn(move || {
        while let Some(bytes) = resident() {
            if bytes > limit.load(Ordering::SeqCst) {
                exit_now(EXHAUSTED);
            }
            std::thread::sleep(PAUSE);
        }
    });
    allowed
}

/// Bytes in use; none: this system does not tell.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<u64>().ok()? * PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_written_to_is_in_use() {
        let Some(before) = resident() else { return };
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(resident() >= Some(before + (48 << 20)));
        drop(taken);
    }
}
