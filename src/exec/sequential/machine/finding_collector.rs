//! Findings of one dispatch, gathered by kind and pair of places.
//!
//! Promises: each pair of places is one finding with a count and its first witness; nothing is kept
//! for a kind that is not asked for.

use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_model::finding_details::{AccessKind, AccessedMemory, FindingDetails, RaceReach};
use vkcert_model::finding_index::FindingIndex;
use vkcert_spirv::module::Module;

/// No other place.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FindingKey {
    kind: FindingKind,
    source_index: u32,
    other_index: u32,
    /// Tells findings of the same kind and places apart (memory, accesses).
    class: u32,
}

/// A finding in the making.
#[derive(Debug)]
struct GatheredFinding {
    source_index: u32,
    other_index: u32,
    finding: Finding,
    /// Linear index of the workgroup in which it was first made.
    workgroup_index: u64,
}

/// Findings by instruction index; turned into [`Finding`]s with the module at hand.
#[derive(Debug)]
pub(crate) struct FindingCollector {
    pub checks: Checks,
    index_by_key: FxHashMap<FindingKey, usize>,
    gathered_findings: Vec<GatheredFinding>,
    /// Linear index of the workgroup that runs.
    pub workgroup_index: u64,
    /// Places of accesses whose values depend on who comes first: reads that race, and writes that
    /// race and differ.
    pub racing_places: BTreeSet<u32>,
}

impl FindingCollector {
    pub(crate) fn new(checks: Checks) -> Self {
        Self {
            checks,
            index_by_key: FxHashMap::default(),
            gathered_findings: Vec::new(),
            workgroup_index: 0,
            racing_places: BTreeSet::new(),
        }
    }

    /// Adds an occurrence; `describe` is called for the first of its kind and places.
    pub(crate) fn add_occurrence(
        &mut self,
        kind: FindingKind,
        [place, other_index]: [u32; 2],
        finding_class: u32,
        describe: impl FnOnce() -> Finding,
    ) {
        if !self.checks.has(kind) {
            return;
        }
        match self.index_by_key.entry(FindingKey {
            kind,
            source_index: place,
            other_index,
            class: finding_class,
        }) {
            Entry::Occupied(entry) => {
                let finding = &mut self.gathered_findings[*entry.get()].finding;
                finding.count = finding.count.saturating_add(1);
            }
            Entry::Vacant(entry) => {
                entry.insert(self.gathered_findings.len());
                let (finding, workgroup_index) = (describe(), self.workgroup_index);
                self.gathered_findings.push(GatheredFinding {
                    source_index: place,
                    other_index,
                    finding,
                    workgroup_index,
                });
            }
        }
    }

    /// An occurrence of a race did not write the same value: that must hold of every one.
    pub(crate) fn refute_same_value(
        &mut self,
        [source_index, other_index]: [u32; 2],
        finding_class: u32,
    ) {
        let kind = FindingKind::DataRace;
        let finding_key = FindingKey { kind, source_index, other_index, class: finding_class };
        if let Some(index) = self.index_by_key.get(&finding_key) {
            refute_same_value(&mut self.gathered_findings[*index].finding);
        }
    }

    pub(crate) fn has_race(&self) -> bool {
        self.gathered_findings
            .iter()
            .any(|gathered_finding| gathered_finding.finding.kind == FindingKind::DataRace)
    }

    /// Adds what others gathered in other workgroups: what is left is what one would have gathered
    /// in all of them.
    pub(crate) fn join_workgroups(&mut self, other_collectors: Vec<FindingCollector>) {
        for other_collector in other_collectors {
            self.racing_places.extend(other_collector.racing_places);
            let keys_by_index: FxHashMap<usize, FindingKey> =
                other_collector.index_by_key.into_iter().map(|(key, index)| (index, key)).collect();
            for (index, new_finding) in other_collector.gathered_findings.into_iter().enumerate() {
                match self.index_by_key.entry(keys_by_index[&index]) {
                    Entry::Occupied(entry) => {
                        self.gathered_findings[*entry.get()].join_occurrences(new_finding)
                    }
                    Entry::Vacant(entry) => {
                        entry.insert(self.gathered_findings.len());
                        self.gathered_findings.push(new_finding);
                    }
                }
            }
        }
        // What is of one workgroup has its order already.
        let mut workgroup_order: Vec<usize> = (0..self.gathered_findings.len()).collect();
        workgroup_order.sort_by_key(|index| self.gathered_findings[*index].workgroup_index);
        let mut new_places = vec![0; workgroup_order.len()];
        workgroup_order
            .iter()
            .enumerate()
            .for_each(|(new_place, old_place)| new_places[*old_place] = new_place);
        self.index_by_key.values_mut().for_each(|index| *index = new_places[*index]);
        self.gathered_findings.sort_by_key(|gathered_finding| gathered_finding.workgroup_index);
    }

    /// The findings with their places.
    pub(crate) fn into_findings(self, module: &Module) -> Vec<Finding> {
        let is_instruction = |index: u32| (index as usize) < module.instructions.len();
        let mut findings: Vec<Finding> = self
            .gathered_findings
            .into_iter()
            .map(
                |GatheredFinding {
                     source_index: this_index,
                     other_index,
                     mut finding,
                     workgroup_index: _,
                 }| {
                    finding.place =
                        is_instruction(this_index).then(|| module.place_of(this_index as usize));
                    finding.other_place =
                        is_instruction(other_index).then(|| module.place_of(other_index as usize));
                    finding
                },
            )
            .collect();
        findings.sort_by(Finding::order);
        findings
    }
}

impl GatheredFinding {
    /// Adds the same finding of other workgroups.
    fn join_occurrences(&mut self, mut other_finding: GatheredFinding) {
        let joined_count = self.finding.count.saturating_add(other_finding.finding.count);
        let is_refuted = [&self.finding, &other_finding.finding]
            .iter()
            .any(|finding| finding.same_value() == Some(false));
        if other_finding.workgroup_index < self.workgroup_index {
            std::mem::swap(self, &mut other_finding);
        }
        self.finding.count = joined_count;
        if is_refuted {
            refute_same_value(&mut self.finding);
        }
    }
}

/// Not every occurrence of a race wrote the same value.
fn refute_same_value(finding: &mut Finding) {
    if let FindingDetails::DataRace(race) = &mut finding.details {
        race.same_value = false;
    }
}

/// What tells races of the same places apart.
fn race_form(finding: &Finding) -> Option<([AccessKind; 2], AccessedMemory, RaceReach)> {
    finding.details.race().map(|race| (race.accesses, race.memory, race.reach))
}

/// The same for findings of the same kind and places.
fn places_digest(finding: &Finding) -> u64 {
    let mut hasher = DefaultHasher::new();
    (finding.kind, &finding.place, &finding.other_place).hash(&mut hasher);
    hasher.finish()
}

/// Adds `new_findings` to `all_findings`: a finding that is there already is counted up. Gives the
/// number of findings that it compared.
pub(crate) fn merge_findings(all_findings: &mut Vec<Finding>, new_findings: Vec<Finding>) -> u64 {
    let mut finding_index = FindingIndex::default();
    all_findings
        .iter()
        .enumerate()
        .for_each(|(finding_row, finding)| finding_index.add(places_digest(finding), finding_row));
    for finding in new_findings {
        let places_key = places_digest(&finding);
        let is_same_finding = |finding_row: usize| {
            let known_finding = &all_findings[finding_row];
            known_finding.kind == finding.kind
                && known_finding.place == finding.place
                && known_finding.other_place == finding.other_place
                && known_finding.kernel == finding.kernel
                && known_finding.module == finding.module
                && race_form(known_finding) == race_form(&finding)
        };
        match finding_index.find(&places_key, is_same_finding) {
            Some(finding_row) => {
                let known_finding = &mut all_findings[finding_row];
                known_finding.count = known_finding.count.saturating_add(finding.count);
                // It must hold of every occurrence.
                if finding.same_value() == Some(false) {
                    refute_same_value(known_finding);
                }
            }
            None => {
                finding_index.add(places_key, all_findings.len());
                all_findings.push(finding);
            }
        }
    }
    all_findings.sort_by(Finding::order);
    finding_index.looked_at
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::finding_details::{DataRaceDetails, MissingOrdering};
    use vkcert_model::place::Place;

    /// A race between two instructions, of which one of two kinds of accesses.
    fn race(here: u32, other: u32, later_access: AccessKind) -> Finding {
        let place = |instruction| Place { instruction: Some(instruction), ..Place::default() };
        let details = DataRaceDetails {
            accesses: [AccessKind::Write, later_access],
            memory: AccessedMemory::Buffer,
            missing: MissingOrdering::Order,
            object: "out".to_owned(),
            reach: RaceReach::AcrossWorkgroups,
            same_value: later_access == AccessKind::Write,
            values: ["0x00000001".to_owned(), "0x00000001".to_owned()],
        };
        let mut finding = Finding::data_race("a race".to_owned(), details).at(place(here));
        finding.other_place = Some(place(other));
        finding
    }

    #[test]
    fn merging_looks_at_findings_of_the_same_places_alone() {
        let pairs = || (0..200).flat_map(|here| (0..16).map(move |other| (here, here + other)));
        let races =
            |accesses| pairs().map(|(here, other)| race(here, other, accesses)).collect::<Vec<_>>();
        let mut all = Vec::new();
        assert_eq!(merge_findings(&mut all, races(AccessKind::Write)), 0);
        let number = all.len() as u64;
        assert_eq!(merge_findings(&mut all, races(AccessKind::Read)), number);
        // Those that are told apart stay apart, and what is the same is counted.
        assert_eq!(merge_findings(&mut all, races(AccessKind::Write)), number);
        assert_eq!(all.len() as u64, 2 * number);
        let times = |count| all.iter().filter(|finding| finding.count == count).count() as u64;
        assert_eq!((times(1), times(2)), (number, number));
    }

    #[test]
    fn what_is_the_same_in_one_list_is_one() {
        let mut all = Vec::new();
        let mut of_two_values = race(1, 2, AccessKind::Write);
        refute_same_value(&mut of_two_values);
        merge_findings(
            &mut all,
            vec![race(1, 2, AccessKind::Write), of_two_values, race(1, 3, AccessKind::Write)],
        );
        assert_eq!(all.iter().map(|finding| finding.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(all[0].same_value(), Some(false));
    }
}
