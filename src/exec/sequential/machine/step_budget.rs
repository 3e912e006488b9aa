//! Steps that several machines share, and when a run has to end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// The part of what is left that a worker takes at most, unless it needs more: others need some
/// too.
const PART: u64 = 64;

/// Most steps that a worker takes from the allowance at once: so often it looks whether it shall
/// stop.
const LEASE: u64 = 1_000_000;

/// Steps that workers share.
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(super) left: AtomicU64,
    stopped: AtomicBool,
}

impl Allowance {
    pub(super) fn new(steps: u64) -> Self {
        Self { left: AtomicU64::new(steps), stopped: AtomicBool::new(false) }
    }

    /// Steps, if possible as many as are needed; none when all shall stop.
    pub(super) fn take(&self, needed: u64) -> u64 {
        if self.is_stopped() {
            return 0;
        }
        let taken = |left: u64| (left / PART).clamp(1, LEASE).max(needed).min(left);
        let less = |left: u64| Some(left - taken(left));
        taken(
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_default(),
        )
    }

    pub(super) fn give_back(&self, steps: u64) {
        self.left.fetch_add(steps, Ordering::Relaxed);
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Why a run stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Steps {
        place: u32,
        invocation: [u32; 3],
    },
    /// The time limit was reached.
    Time,
}

/// Blocks that a machine runs between two looks at the clock: some milliseconds.
const BLOCKS_PER_LOOK: u32 = 1 << 12;

/// When a run has to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Option<Instant>,
    blocks_until_look: u32,
}

impl Deadline {
    pub(crate) fn new(at: Option<Instant>) -> Self {
        Self { at, blocks_until_look: BLOCKS_PER_LOOK }
    }

    /// Counts a block; whether the time is over, as far as the clock was looked at.
    pub(super) fn has_passed(&mut self) -> bool {
        self.blocks_until_look -= 1;
        self.blocks_until_look == 0 && self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.blocks_until_look = BLOCKS_PER_LOOK;
        self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// The same deadline for another machine.
    pub(crate) fn again(self) -> Self {
        Self::new(self.at)
    }
}
