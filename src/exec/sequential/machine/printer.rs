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
    kept_lines: BTreeMap<(Rank, u64), (u32, String)>,
    arrivals: u64,
}

impl Printer {
    /// Adds a line where it is among those to keep.
    pub(super) fn add_line(
        &mut self,
        rank: Rank,
        source_index: u32,
        line: impl FnOnce() -> String,
    ) {
        let key = (rank, self.arrivals);
        self.arrivals += 1;
        let is_full = self.kept_lines.len() == MOST_LINES;
        if is_full && self.kept_lines.last_key_value().is_some_and(|(last_key, _)| *last_key < key)
        {
            return;
        }
        if is_full {
            self.kept_lines.pop_last();
        }
        self.kept_lines.insert(key, (source_index, line()));
    }

    /// Adds what was printed in other workgroups.
    pub(crate) fn join_workgroups(&mut self, other_printer: Printer) {
        self.arrivals += other_printer.arrivals;
        self.kept_lines.extend(other_printer.kept_lines);
        while self.kept_lines.len() > MOST_LINES {
            self.kept_lines.pop_last();
        }
    }

    /// Invocation (linear workgroup index and local index), instruction and text of each line, and
    /// how many more there were.
    pub(crate) fn into_lines(self) -> (Vec<(Rank, u32, String)>, u64) {
        let omitted_lines = self.arrivals - self.kept_lines.len() as u64;
        (
            self.kept_lines
                .into_iter()
                .map(|((rank, _), (place, text))| (rank, place, text))
                .collect(),
            omitted_lines,
        )
    }
}
