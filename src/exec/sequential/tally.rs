//! What an engine did beside its runs, counted; no part of evidence.

use std::sync::atomic::{AtomicU64, Ordering};

/// What an engine did beside its runs; no part of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Modules that were parsed, and programs that were decoded.
    pub parsed: u64,
    /// Programs that were decoded.
    pub decoded: u64,
    /// Programs that were there already.
    pub reused: u64,
    /// Dispatches that several cores ran.
    pub shared: u64,
    /// Dispatches that several cores ran in vain, since workgroups depend on each other.
    pub dependent: u64,
}

/// One of the counts of [`Tally`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    Parsed,
    Decoded,
    Reused,
    Shared,
    Dependent,
}

/// Counts of everything that an engine and its clones did.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    counts: [AtomicU64; 5],
}

impl Counters {
    pub(crate) fn count_event(&self, counter: Counter) {
        self.counts[counter as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn current_tally(&self) -> Tally {
        let count_of = |counter: Counter| self.counts[counter as usize].load(Ordering::Relaxed);
        Tally {
            parsed: count_of(Counter::Parsed),
            decoded: count_of(Counter::Decoded),
            reused: count_of(Counter::Reused),
            shared: count_of(Counter::Shared),
            dependent: count_of(Counter::Dependent),
        }
    }
}
