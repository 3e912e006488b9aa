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
pub(crate) const COPIES_IN_USE: u64 = 8;

/// Bytes of a page where nobody says otherwise; only ever too small, so that a watch on larger
/// pages is too lenient.
const PAGE_BYTES: u64 = 4096;
const WATCH_PAUSE: Duration = Duration::from_millis(20);

/// Starts the watch; the bytes that are allowed can be changed at any time.
pub(crate) fn start_watch() -> Arc<AtomicU64> {
    // A user may make the own process more likely to be ended; that it fails elsewhere is no harm.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let allowed_bytes = Arc::new(AtomicU64::new(u64::MAX));
    let thread_limit = Arc::clone(&allowed_bytes);
    std::thread::spawn(move || {
        while let Some(resident_bytes) = resident_bytes() {
            if resident_bytes > thread_limit.load(Ordering::SeqCst) {
                exit_now(EXHAUSTED);
            }
            std::thread::sleep(WATCH_PAUSE);
        }
    });
    allowed_bytes
}

/// Bytes in use; none: this system does not tell.
fn resident_bytes() -> Option<u64> {
    let statm_text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm_text.split_whitespace().nth(1)?.parse::<u64>().ok()? * PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set in the process in which the test measures.
    const MEASURES_HERE: &str = "VKCERT_TEST_RESIDENT_BYTES";

    /// Measured in a process of its own, because the other tests of this one take and return memory
    /// between the two measurements.
    #[test]
    fn memory_that_is_written_to_is_in_use() {
        if std::env::var_os(MEASURES_HERE).is_some() {
            let Some(bytes_before) = resident_bytes() else { return };
            let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
            assert!(resident_bytes() >= Some(bytes_before + (48 << 20)));
            drop(taken);
            return;
        }
        let this_test = "watch::tests::memory_that_is_written_to_is_in_use";
        let output = std::process::Command::new(std::env::current_exe().expect("a program"))
            .args(["--exact", this_test])
            .env(MEASURES_HERE, "1")
            .output()
            .expect("the test program starts once more");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}
