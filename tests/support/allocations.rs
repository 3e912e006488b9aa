//! Counts what a piece of work allocates, in a program whose allocator is [`Counting`]. A count is
//! the same on every machine and under any load, which a time is not; work that grows faster than
//! its input mostly copies on the way.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counted.
pub(crate) struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What was allocated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocated {
    pub allocations: u64,
    pub bytes: u64,
}

/// What everything in this process allocates while `work` is done. Callers run alone in their
/// program.
pub(crate) fn count<R>(work: impl FnOnce() -> R) -> (R, Allocated) {
    let now = || (ALLOCATIONS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    let before = now();
    let result = work();
    let after = now();
    (result, Allocated { allocations: after.0 - before.0, bytes: after.1 - before.1 })
}

impl Allocated {
    /// Whether this grew at most as the input did, which is `times` as large, with half as much
    /// again for what rounds up.
    pub(crate) fn is_linear(self, small: Allocated, times: u64) -> bool {
        let within = |large: u64, small: u64| large * 2 <= small.max(1) * times * 3;
        within(self.allocations, small.allocations) && within(self.bytes, small.bytes)
    }
}
