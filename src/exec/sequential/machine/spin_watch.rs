//! Whether an invocation makes progress: reads that repeat while it changes nothing.

use crate::ir::SpinWaits;
use vkcert_model::schedule::Turns;

/// Steps without progress after which invocations yield. Loops that compute as long without reading
/// anything new from memory that the kernel writes are rare; they lose only that their invocations
/// stay together.
const QUIET_STEPS: u64 = 10_000;

/// Reads of the same value from common memory that may change, after which invocations yield.
const REPEAT_LIMIT: u32 = 128;

/// The same of invocations that have yielded before: fewer, because they probably wait again.
const REPEAT_LIMIT_AGAIN: u32 = 8;

/// Reads after which invocations yield in any case, because one that counts its rounds in common
/// memory changes something each time.
const READ_LIMIT: u32 = 20_000;

/// The same in directed runs, where waiting invocations run first.
const READ_LIMIT_DIRECTED: u32 = 512;

/// Rounds of all invocations of a workgroup, none of which has come to a barrier or an end, after
/// which the workgroup yields.
pub(super) const MOST_ROUNDS: u32 = 4;

/// How a workgroup's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    Ended,
    /// Every invocation waits for what another workgroup must do.
    Yielded,
}

/// Whether the lanes that run make progress.
#[derive(Debug, Default)]
pub(super) struct SpinWatch {
    /// Steps since the last progress.
    quiet_steps: u64,
    /// Reads since then that gave what they gave before.
    repeated_reads: u32,
    /// Reads in all.
    reads: u32,
    /// By reading instruction: its source index, and a hash of what it read last.
    last_reads: Vec<(u32, u64)>,
    /// Changes of common memory, arrivals at barriers, ends of invocations.
    pub changes: u64,
    /// Of these, arrivals and ends alone.
    pub arrivals: u64,
    /// Whether reads are looked at: plain ones only when a loop has run for long.
    pub(super) watches_reads: bool,
    /// Repeated reads after which the lanes yield.
    repeat_limit: u32,
    /// Reads of any value after which they do.
    read_limit: u32,
}

/// Whether invocations have waited for others before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum YieldHistory {
    #[default]
    Never,
    Yielded,
}

impl SpinWatch {
    /// Begins anew, because other lanes run.
    pub(super) fn restart_lanes(&mut self, yielded_before: YieldHistory, turns: Turns) {
        self.read_limit = match turns {
            Turns::AsReached => READ_LIMIT,
            Turns::WaitersFirst => READ_LIMIT_DIRECTED,
        };
        self.repeat_limit = match yielded_before {
            YieldHistory::Never => REPEAT_LIMIT,
            YieldHistory::Yielded => REPEAT_LIMIT_AGAIN,
        };
        (self.quiet_steps, self.repeated_reads, self.reads, self.watches_reads) = (0, 0, 0, false);
        self.last_reads.clear();
    }

    /// Notes that lanes have come to a barrier or to their end.
    pub(super) fn note_arrival(&mut self) {
        self.arrivals += 1;
        self.note_change();
    }

    pub(super) fn note_change(&mut self) {
        self.changes += 1;
        (self.quiet_steps, self.repeated_reads) = (0, 0);
    }

    /// Notes what an instruction has read, by a hash of values and addresses.
    pub(super) fn note_read(&mut self, source_index: u32, values_hash: u64) {
        self.reads = self.reads.saturating_add(1);
        match self.last_reads.iter_mut().find(|(known_index, _)| *known_index == source_index) {
            Some((_, last_hash)) if *last_hash == values_hash => {
                self.repeated_reads = self.repeated_reads.saturating_add(1)
            }
            Some((_, last_hash)) => {
                *last_hash = values_hash;
                (self.quiet_steps, self.repeated_reads) = (0, 0);
            }
            None => {
                self.last_reads.push((source_index, values_hash));
                (self.quiet_steps, self.repeated_reads) = (0, 0);
            }
        }
    }

    /// Whether the lanes that run must yield before they take so many steps more.
    pub(super) fn must_yield(&mut self, next_steps: u64, spin_waits: SpinWaits) -> bool {
        match spin_waits {
            SpinWaits::Never => false,
            SpinWaits::Plainly => {
                self.quiet_steps += next_steps;
                self.watches_reads |= self.quiet_steps > QUIET_STEPS / 2;
                self.quiet_steps > QUIET_STEPS && self.repeated_reads > 1
            }
            SpinWaits::Possibly => {
                self.repeated_reads > self.repeat_limit || self.reads > self.read_limit
            }
        }
    }
}
