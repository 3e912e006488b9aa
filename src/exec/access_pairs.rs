//! What a run shows of values that passed from one side of a coupling to another.
//!
//! Knows: whether a run is asked for it, and what it comes to, by module of the job.
//! Promises: what was not observed wholly is [`AccessPairs::Undetermined`] with the reason, never a
//! set with a pair too few. A run that did not complete has what it showed until then.
//! Does not cover: which pairs there can be, and what a pair's object is; both follow from the
//! module.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vkcert_model::access_pair::AccessPair;
use vkcert_model::id::ModuleKey;

/// Whether a run is asked for access pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairTracking {
    /// Nothing is followed.
    #[default]
    Off,
    /// Every access is followed, by an engine that sees them.
    On,
}

/// What a run was asked for of access pairs, and what it showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AccessPairs {
    /// The run was not asked, or its engine does not see accesses.
    #[default]
    NotTracked,
    /// By module of the job that was dispatched.
    Tracked(BTreeMap<ModuleKey, ModulePairs>),
    /// Some of it was not followed.
    Undetermined {
        /// Which limit it was, in words.
        reason: String,
    },
}

/// What the invocations of one module read that another side had written, and what they executed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModulePairs {
    /// Every pair whose reading side is this module.
    pub pairs: BTreeSet<AccessPair>,
    /// Source indices of what at least one invocation executed; ascending, neither overlapping nor
    /// adjacent.
    pub executed: Vec<Range<u32>>,
}

impl ModulePairs {
    /// Whether an invocation executed the instruction.
    pub fn has_executed(&self, source_index: u32) -> bool {
        let ranges_begun = self.executed.partition_point(|range| range.start <= source_index);
        ranges_begun.checked_sub(1).is_some_and(|last| self.executed[last].contains(&source_index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_executed_is_looked_up_by_range() {
        let module_pairs = ModulePairs { executed: vec![2..4, 7..8], ..ModulePairs::default() };
        let executed: Vec<u32> =
            (0..10).filter(|source_index| module_pairs.has_executed(*source_index)).collect();
        assert_eq!(executed, [2, 3, 7]);
    }
}
