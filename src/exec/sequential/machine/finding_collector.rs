//! Findings of one dispatch, gathered by kind and pair of places.
//!
//! Promises: each pair of places is one finding with a count and its first witness; nothing is kept
//! for a kind that is not asked for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_index::FindingIndex;
use vkcert_spirv::module::Module;

/// No other place.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    kind: FindingKind,
    place: u32,
    other: u32,
    /// Tells findings of the same kind and places apart (memory, accesses).
    class: u32,
}

/// A finding in the making.
#[derive(Debug)]
struct Gathered {
    place: u32,
    other: u32,
    finding: Finding,
    /// Linear index of the workgroup in which it was first made.
    workgroup: u64,
    /// Details that did not hold of some occurrence.
    refuted: BTreeSet<&'static str>,
}

/// Findings by instruction index; turned into [`Finding`]s with the module at hand.
#[derive(Debug)]
pub(crate) struct Collector {
    pub checks: Checks,
    index: HashMap<Key, usize>,
    found: Vec<Gathered>,
    /// Linear index of the workgroup that runs.
    pub workgroup: u64,
    /// Places of accesses whose values depend on who comes first: reads that race, and writes that
    /// race and differ.
    pub racy: BTreeSet<u32>,
}

impl Collector {
    pub(crate) fn new(checks: Checks) -> Self {
        Self {
            checks,
            index: HashMap::new(),
            found: Vec::new(),
            workgroup: 0,
            racy: BTreeSet::new(),
        }
    }

    /// Adds an occurrence; `describe` is called for the first of its kind and places.
    pub(crate) fn add(
        &mut self,
        kind: FindingKind,
        [place, other]: [u32; 2],
        class: u32,
        describe: impl FnOnce() -> Finding,
    ) {
        if !self.checks.has(kind) {
            return;
        }
        match self.index.entry(Key { kind, place, other, class }) {
            Entry::Occupied(entry) => {
                let finding = &mut self.found[*entry.get()].finding;
                finding.count = finding.count.saturating_add(1);
            }
            Entry::Vacant(entry) => {
                entry.insert(self.found.len());
                let (finding, workgroup, refuted) = (describe(), self.workgroup, BTreeSet::new());
                self.found.push(Gathered { place, other, finding, workgroup, refuted });
            }
        }
    }

    /// A detail that must hold of every occurrence: false once, false for ever.
    pub(crate) fn refute(
        &mut self,
        kind: FindingKind,
        [place, other]: [u32; 2],
        class: u32,
        detail: &'static str,
    ) {
        if let Some(index) = self.index.get(&Key { kind, place, other, class }) {
            self.found[*index].refute(detail);
        }
    }

    pub(crate) fn found_a_race(&self) -> bool {
        self.found.iter().any(|one| one.finding.kind == FindingKind::DataRace)
    }

    /// Adds what others gathered in other workgroups: what is left is what one would have gathered
    /// in all of them.
    pub(crate) fn gather(&mut self, others: Vec<Collector>) {
        for other in others {
            self.racy.extend(other.racy);
            let keys: HashMap<usize, Key> =
                other.index.into_iter().map(|(key, index)| (index, key)).collect();
            for (index, new) in other.found.into_iter().enumerate() {
                match self.index.entry(keys[&index]) {
                    Entry::Occupied(entry) => self.found[*entry.get()].join(new),
                    Entry::Vacant(entry) => {
                        entry.insert(self.found.len());
                        self.found.push(new);
                    }
                }
            }
        }
        // What is of one workgroup has its order already.
        let mut order: Vec<usize> = (0..self.found.len()).collect();
        order.sort_by_key(|index| self.found[*index].workgroup);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| places[*old] = new);
        self.index.values_mut().for_each(|index| *index = places[*index]);
        self.found.sort_by_key(|one| one.workgroup);
    }

    /// The findings with their places.
    pub(crate) fn finish(self, module: &Module) -> Vec<Finding> {
        let place = |index: u32| (index as usize) < module.instructions.len();
        let mut findings: Vec<Finding> = self
            .found
            .into_iter()
            .map(|Gathered { place: here, other, mut finding, workgroup: _, refuted: _ }| {
                finding.place = place(here).then(|| module.place_of(here as usize));
                finding.other_place = place(other).then(|| module.place_of(other as usize));
                finding
            })
            .collect();
        findings.sort_by(Finding::order);
        findings
    }
}

impl Gathered {
    fn refute(&mut self, detail: &'static str) {
        self.refuted.insert(detail);
        self.finding.details.insert(detail.to_owned(), false.into());
    }

    /// Adds the same finding of other workgroups.
    fn join(&mut self, mut other: Gathered) {
        let count = self.finding.count.saturating_add(other.finding.count);
        let refuted: Vec<&'static str> = self.refuted.union(&other.refuted).copied().collect();
        if other.workgroup < self.workgroup {
            std::mem::swap(self, &mut other);
        }
        self.finding.count = count;
        refuted.into_iter().for_each(|detail| self.refute(detail));
    }
}

/// Adds `new` to `all`: a finding that is there already is counted up. Gives the number of findings
/// that it looked at.
pub(crate) fn merge(all: &mut Vec<Finding>, new: Vec<Finding>) -> u64 {
    let key =
        |finding: &Finding| (finding.kind, finding.place.clone(), finding.other_place.clone());
    let mut index = FindingIndex::default();
    all.iter().enumerate().for_each(|(row, finding)| index.add(key(finding), row));
    for finding in new {
        let place = key(&finding);
        let same = |row: usize| {
            let other = &all[row];
            other.kernel == finding.kernel
                && other.module == finding.module
                && other.details.get("accesses") == finding.details.get("accesses")
                && other.details.get("memory") == finding.details.get("memory")
                && other.details.get("reach") == finding.details.get("reach")
        };
        match index.find(&place, same) {
            Some(row) => {
                let other = &mut all[row];
                other.count = other.count.saturating_add(finding.count);
                // It must hold of every occurrence.
                if finding.details.get("same_value") == Some(&false.into()) {
                    other.details.insert("same_value".to_owned(), false.into());
                }
            }
            None => {
                index.add(place, all.len());
                all.push(finding);
            }
        }
    }
    all.sort_by(Finding::order);
    index.looked_at
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::place::Place;

    /// A race between two instructions, of which one of two kinds of accesses.
    fn race(here: u32, other: u32, accesses: &str) -> Finding {
        let place = |instruction| Place { instruction: Some(instruction), ..Place::default() };
        let mut finding = Finding::new(FindingKind::DataRace, "a race")
            .at(place(here))
            .detail("accesses", accesses);
        finding.other_place = Some(place(other));
        finding
    }

    #[test]
    fn merging_looks_at_findings_of_the_same_places_alone() {
        let pairs = || (0..200).flat_map(|here| (0..16).map(move |other| (here, here + other)));
        let races =
            |accesses| pairs().map(|(here, other)| race(here, other, accesses)).collect::<Vec<_>>();
        let mut all = Vec::new();
        assert_eq!(merge(&mut all, races("write")), 0);
        let number = all.len() as u64;
        assert_eq!(merge(&mut all, races("read")), number);
        // Those that are told apart stay apart, and what is the same is counted.
        assert_eq!(merge(&mut all, races("write")), number);
        assert_eq!(all.len() as u64, 2 * number);
        let times = |count| all.iter().filter(|finding| finding.count == count).count() as u64;
        assert_eq!((times(1), times(2)), (number, number));
    }

    #[test]
    fn what_is_the_same_in_one_list_is_one() {
        let mut all = Vec::new();
        merge(
            &mut all,
            vec![
                race(1, 2, "write"),
                race(1, 2, "write").detail("same_value", false),
                race(1, 3, "write"),
            ],
        );
        assert_eq!(all.iter().map(|finding| finding.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(all[0].details["same_value"], false);
    }
}
