//! The step budget that several machines share, and the deadline of a run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// A worker leases at most this part of the steps that are left, unless it needs more, because the
/// other workers need steps too.
const LEASE_SHARE: u64 = 64;

/// Most steps that a worker leases at once: after so many it looks whether it has to stop.
const MOST_LEASED: u64 = 1_000_000;

/// The step budget that workers share.
#[derive(Debug)]
pub(crate) struct StepBudget {
    pub(super) steps_left: AtomicU64,
    stopped: AtomicBool,
}

impl StepBudget {
    pub(super) fn new(steps: u64) -> Self {
        Self { steps_left: AtomicU64::new(steps), stopped: AtomicBool::new(false) }
    }

    /// Leases steps, if possible as many as are needed; none when all workers have to stop.
    pub(super) fn lease_steps(&self, needed_steps: u64) -> u64 {
        if self.is_stopped() {
            return 0;
        }
        let leased_steps = |steps_left: u64| {
            (steps_left / LEASE_SHARE).clamp(1, MOST_LEASED).max(needed_steps).min(steps_left)
        };
        let steps_after = |steps_left: u64| Some(steps_left - leased_steps(steps_left));
        leased_steps(
            self.steps_left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, steps_after)
                .unwrap_or_default(),
        )
    }

    pub(super) fn return_steps(&self, unused_steps: u64) {
        self.steps_left.fetch_add(unused_steps, Ordering::Relaxed);
    }

    pub(super) fn stop_workers(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Why a run stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EarlyStop {
    StepLimit {
        place: u32,
        invocation: [u32; 3],
    },
    /// The time limit was reached.
    TimeLimit,
}

/// Blocks that a machine runs between two looks at the clock: some milliseconds.
const BLOCKS_PER_LOOK: u32 = 1 << 12;

/// When a run has to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    end_time: Option<Instant>,
    blocks_until_look: u32,
}

impl Deadline {
    pub(crate) fn new(end_time: Option<Instant>) -> Self {
        Self { end_time, blocks_until_look: BLOCKS_PER_LOOK }
    }

    /// Counts a block; whether the time is over, as far as the clock was looked at.
    pub(super) fn has_passed(&mut self) -> bool {
        self.blocks_until_look -= 1;
        self.blocks_until_look == 0 && self.read_clock()
    }

    #[cold]
    fn read_clock(&mut self) -> bool {
        self.blocks_until_look = BLOCKS_PER_LOOK;
        self.end_time.is_some_and(|end_time| Instant::now() >= end_time)
    }

    /// The same deadline for another machine.
    pub(crate) fn restarted(self) -> Self {
        Self::new(self.end_time)
    }
}
