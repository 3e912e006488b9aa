//! Whether an invocation makes progress: reads that repeat while it changes nothing.

use crate::ir::SpinWaits;
use vkcert_model::schedule::Turns;

/// Steps without progress after which others go on. Loops that compute as long without reading
/// anything new from memory that the kernel writes are rare; they lose only that their invocations
/// stay together.
const QUIET: u64 = 10_000;

/// Reads from common memory that may change, of the same value, after which others go on.
const PATIENCE: u32 = 128;

/// The same of invocations that have waited before: who waits for long is looked at often.
const PATIENCE_AGAIN: u32 = 8;

/// Reads after which others go on in any case: who counts its rounds in common memory changes
/// something each time.
const TURN: u32 = 20_000;

/// The same where who waits goes first.
const TURN_OF_WAITERS: u32 = 512;

/// Rounds of all invocations of a workgroup, none of which has come to a barrier or an end, after
/// which other workgroups go on.
pub(super) const ROUNDS: u32 = 4;

/// How a workgroup's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Ended,
    /// Every invocation waits for what another workgroup must do.
    Rests,
}

/// Whether the lanes that run make progress.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Steps since the last progress.
    quiet: u64,
    /// Reads since then that gave what they gave before.
    repeats: u32,
    /// Reads in all.
    reads: u32,
    /// What each reading instruction got last: its place, and a hash.
    seen: Vec<(u32, u64)>,
    /// Changes of common memory, arrivals at barriers, ends of invocations.
    pub changes: u64,
    /// Of these, arrivals and ends alone.
    pub arrivals: u64,
    /// Whether reads are looked at: plain ones only when a loop has run for long.
    pub(super) awake: bool,
    /// Reads of the same that are one too many.
    patience: u32,
    /// Reads of whatever that are.
    turn: u32,
}

/// Whether invocations have waited for others before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Before {
    #[default]
    Never,
    Waited,
}

impl Watch {
    /// Other lanes run.
    pub(super) fn restart(&mut self, before: Before, turns: Turns) {
        self.turn = match turns {
            Turns::AsReached => TURN,
            Turns::WaitersFirst => TURN_OF_WAITERS,
        };
        self.patience = match before {
            Before::Never => PATIENCE,
            Before::Waited => PATIENCE_AGAIN,
        };
        (self.quiet, self.repeats, self.reads, self.awake) = (0, 0, 0, false);
        self.seen.clear();
    }

    /// Somebody has come to a barrier or to its end.
    pub(super) fn arrive(&mut self) {
        self.arrivals += 1;
        self.change();
    }

    pub(super) fn change(&mut self) {
        self.changes += 1;
        (self.quiet, self.repeats) = (0, 0);
    }

    /// An instruction has read something, given by a hash of values and addresses.
    pub(super) fn read(&mut self, place: u32, hash: u64) {
        self.reads = self.reads.saturating_add(1);
        match self.seen.iter_mut().find(|(other, _)| *other == place) {
            Some((_, last)) if *last == hash => self.repeats = self.repeats.saturating_add(1),
            Some((_, last)) => {
                *last = hash;
                (self.quiet, self.repeats) = (0, 0);
            }
            None => {
                self.seen.push((place, hash));
                (self.quiet, self.repeats) = (0, 0);
            }
        }
    }

    /// Whether it is time for others, before so many steps more.
    pub(super) fn is_tired(&mut self, steps: u64, waits: SpinWaits) -> bool {
        match waits {
            SpinWaits::Never => false,
            SpinWaits::Plainly => {
                self.quiet += steps;
                self.awake |= self.quiet > QUIET / 2;
                self.quiet > QUIET && self.repeats > 1
            }
            SpinWaits::Possibly => self.repeats > self.patience || self.reads > self.turn,
        }
    }
}
