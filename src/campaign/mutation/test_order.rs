//! Which tests are asked first of a mutant, where the first that kills it ends it.
//!
//! Knows: what tests made of scouts, mutants that are spread evenly over those of a kernel. Promises: the order
//! follows from the kernel and its tests alone, never from which core was faster, and decides only how many
//! tests are asked: what becomes of a mutant does not depend on it.

use std::collections::BTreeMap;
use vkcert_model::evidence::{MutantRuns, Notice};
use vkcert_model::id::TestId;

/// One in so many mutants is a scout.
const SCOUT_STRIDE: usize = 12;

/// Scouts nearest to a mutant whose tests are asked first.
const NEAREST: usize = 3;

/// Whether a mutant is a scout, by its place among those that are judged.
pub(super) fn is_scout(place: usize) -> bool {
    place.is_multiple_of(SCOUT_STRIDE)
}

/// What tests made of scouts.
#[derive(Debug, Default)]
pub(super) struct TestOrder {
    /// By place of the scout: the test whose expectation failed.
    killers: BTreeMap<usize, TestId>,
    /// All of these tests, the one that killed most scouts first.
    by_kills: Vec<TestId>,
}

impl TestOrder {
    pub(super) fn of_scouts<'r>(scouts: impl Iterator<Item = (usize, &'r MutantRuns)>) -> Self {
        let killers: BTreeMap<usize, TestId> =
            scouts.filter_map(|(place, runs)| Some((place, killer(runs)?))).collect();
        let mut kills: BTreeMap<TestId, usize> = BTreeMap::new();
        killers.values().for_each(|test| *kills.entry(*test).or_default() += 1);
        let mut by_kills: Vec<TestId> = kills.keys().copied().collect();
        by_kills.sort_by_key(|test| std::cmp::Reverse(kills[test]));
        Self { killers, by_kills }
    }

    /// The tests to ask first of a mutant: those that killed the scouts next to it, then the others that killed
    /// any.
    pub(super) fn of_mutant(&self, place: usize) -> Vec<TestId> {
        let mut near: Vec<(usize, TestId)> =
            self.killers.iter().map(|(scout, test)| (scout.abs_diff(place), *test)).collect();
        near.sort_by_key(|(distance, _)| *distance);
        let mut first = Vec::new();
        let nearest = near.into_iter().take(NEAREST).map(|(_, test)| test);
        for test in nearest.chain(self.by_kills.iter().copied()) {
            if !first.contains(&test) {
                first.push(test);
            }
        }
        first
    }
}

/// The test whose expectation failed.
pub(super) fn killer(runs: &MutantRuns) -> Option<TestId> {
    let mut verdicts = runs.verdicts();
    let killer = verdicts.find(|(_, verdict)| verdict.notices().contains(&Notice::Expectation));
    killer.map(|(test, _)| *test)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::evidence::MutantVerdict;

    fn killed_by(test: &str) -> MutantRuns {
        let verdict = MutantVerdict::Noticed(vec![Notice::Expectation]);
        MutantRuns::Judged(BTreeMap::from([(TestId::from(test), verdict)]))
    }

    #[test]
    fn the_nearest_scouts_are_asked_first_then_those_that_killed_most() {
        let runs = [
            (0, killed_by("A")),
            (12, killed_by("B")),
            (24, killed_by("C")),
            (36, killed_by("D")),
            (48, killed_by("D")),
            (60, MutantRuns::NotRun("unread".to_owned())),
        ];
        let order = TestOrder::of_scouts(runs.iter().map(|(place, runs)| (*place, runs)));
        let names = |place: usize| -> String {
            order.of_mutant(place).iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(1), "ABCD");
        assert_eq!(names(13), "BCAD");
        assert_eq!(names(47), "DCAB");
        assert_eq!(names(100), "DCAB");
        assert!(TestOrder::default().of_mutant(5).is_empty());
    }
}
