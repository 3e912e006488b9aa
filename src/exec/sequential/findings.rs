//! Findings of one dispatch, gathered by kind and pair of places.
//!
//! Promises: each pair of places is one finding with a count and its first witness; nothing is kept for a kind that is
//! not asked for.

use crate::model::finding::{Checks, Finding, FindingKind};
use crate::spirv::module::Module;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// No other place.
pub const NOWHERE: u32 = u32::MAX;

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
pub struct Collector {
    pub checks: Checks,
    index: HashMap<Key, usize>,
    found: Vec<Gathered>,
    /// Linear index of the workgroup that runs.
    pub workgroup: u64,
    /// Places of accesses whose values depend on who comes first: reads that race, and writes that race and differ.
    pub racy: BTreeSet<u32>,
}

impl Collector {
    pub fn new(checks: Checks) -> Self {
        Self { checks, index: HashMap::new(), found: Vec::new(), workgroup: 0, racy: BTreeSet::new() }
    }

    /// Adds an occurrence; `describe` is called for the first of its kind and places.
    pub fn add(&mut self, kind: FindingKind, [place, other]: [u32; 2], class: u32, describe: impl FnOnce() -> Finding) {
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
    pub fn refute(&mut self, kind: FindingKind, [place, other]: [u32; 2], class: u32, detail: &'static str) {
        if let Some(index) = self.index.get(&Key { kind, place, other, class }) {
            self.found[*index].refute(detail);
        }
    }

    pub fn found_a_race(&self) -> bool {
        self.found.iter().any(|one| one.finding.kind == FindingKind::DataRace)
    }

    /// Adds what others gathered in other workgroups: what is left is what one would have gathered in all of them.
    pub fn gather(&mut self, others: Vec<Collector>) {
        for other in others {
            self.racy.extend(other.racy);
            let keys: HashMap<usize, Key> = other.index.into_iter().map(|(key, index)| (index, key)).collect();
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
    pub fn finish(self, module: &Module) -> Vec<Finding> {
        let place = |index: u32| (index as usize) < module.instructions.len();
        let mut findings: Vec<Finding> = self
            .found
            .into_iter()
            .map(|Gathered { place: here, other, mut finding, workgroup: _, refuted: _ }| {
                finding.place = place(here).then(|| module.place(here as usize));
                finding.other_place = place(other).then(|| module.place(other as usize));
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

/// Adds `new` to `all`: a finding that is there already is counted up.
pub fn merge(all: &mut Vec<Finding>, new: Vec<Finding>) {
    for finding in new {
        let same = |other: &&mut Finding| {
            other.kind == finding.kind
                && other.kernel == finding.kernel
                && other.place == finding.place
                && other.other_place == finding.other_place
                && other.details.get("accesses") == finding.details.get("accesses")
                && other.details.get("memory") == finding.details.get("memory")
                && other.details.get("reach") == finding.details.get("reach")
        };
        match all.iter_mut().find(same) {
            Some(other) => {
                other.count = other.count.saturating_add(finding.count);
                // It must hold of every occurrence.
                if finding.details.get("same_value") == Some(&false.into()) {
                    other.details.insert("same_value".to_owned(), false.into());
                }
            }
            None => all.push(finding),
        }
    }
    all.sort_by(Finding::order);
}
