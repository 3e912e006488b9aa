//! What a dispatch prints.
//!
//! Promises: lines stand by workgroup, then local index, then the order in which the invocation
//! printed them, whatever the tile width and the order in which tiles run; of more than are kept,
//! the first ones in that order are kept.

use super::recorder::Rank;
use std::collections::BTreeMap;

/// Lines that a run keeps.
pub(crate) const MOST_LINES: usize = 1000;

/// Printed lines of a dispatch with the instruction that printed each.
#[derive(Debug, Default)]
pub(crate) struct Printer {
    /// By invocation, then arrival.
    kept: BTreeMap<(Rank, u64), (u32, String)>,
    arrivals: u64,
}

impl Printer {
    /// Adds a line where it is among those to keep.
    pub(super) fn add(&mut self, rank: Rank, place: u32, line: impl FnOnce() -> String) {
        let key = (rank, self.arrivals);
        self.arrivals += 1;
        let full = self.kept.len() == MOST_LINES;
        if full && self.kept.last_key_value().is_some_and(|(last, _)| *last < key) {
            return;
        }
        if full {
            self.kept.pop_last();
        }
        self.kept.insert(key, (place, line()));
    }

    /// Adds what was printed in other workgroups.
    pub(crate) fn join(&mut self, other: Printer) {
        self.arrivals += other.arrivals;
        self.kept.extend(other.kept);
        while self.kept.len() > MOST_LINES {
            self.kept.pop_last();
        }
    }

    /// Invocation (linear workgroup index and local index), instruction and text of each line, and
    /// how many more there were.
    pub(crate) fn finish(self) -> (Vec<(Rank, u32, String)>, u64) {
        let omitted = self.arrivals - self.kept.len() as u64;
        (
            self.kept.into_iter().map(|((rank, _), (place, text))| (rank, place, text)).collect(),
            omitted,
        )
    }
}
