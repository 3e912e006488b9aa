//! Findings of one dispatch, gathered by kind and pair of places.
//!
//! Promises: each pair of places is one finding with a count and its first witness; nothing is kept for a kind that is
//! not asked for.

use crate::model::finding::{Checks, Finding, FindingKind};
use crate::spirv::module::Module;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// Findings by instruction index; turned into [`Finding`]s with the module at hand.
#[derive(Debug)]
pub struct Collector {
    pub checks: Checks,
    index: HashMap<Key, usize>,
    found: Vec<(u32, u32, Finding)>,
}

impl Collector {
    pub fn new(checks: Checks) -> Self {
        Self { checks, index: HashMap::new(), found: Vec::new() }
    }

    /// Adds an occurrence; `describe` is called for the first of its kind and places.
    pub fn add(&mut self, kind: FindingKind, [place, other]: [u32; 2], class: u32, describe: impl FnOnce() -> Finding) {
        if !self.checks.has(kind) {
            return;
        }
        match self.index.entry(Key { kind, place, other, class }) {
            Entry::Occupied(entry) => {
                let finding = &mut self.found[*entry.get()].2;
                finding.count = finding.count.saturating_add(1);
            }
            Entry::Vacant(entry) => {
                entry.insert(self.found.len());
                self.found.push((place, other, describe()));
            }
        }
    }

    /// A detail that must hold of every occurrence: false once, false for ever.
    pub fn refute(&mut self, kind: FindingKind, [place, other]: [u32; 2], class: u32, detail: &str) {
        if let Some(index) = self.index.get(&Key { kind, place, other, class }) {
            self.found[*index].2.details.insert(detail.to_owned(), false.into());
        }
    }

    /// The findings with their places.
    pub fn finish(self, module: &Module) -> Vec<Finding> {
        let place = |index: u32| (index as usize) < module.instructions.len();
        let mut findings: Vec<Finding> = self
            .found
            .into_iter()
            .map(|(here, other, mut finding)| {
                finding.place = place(here).then(|| module.place(here as usize));
                finding.other_place = place(other).then(|| module.place(other as usize));
                finding
            })
            .collect();
        findings.sort_by(Finding::order);
        findings
    }
}

/// Adds `new` to `all`: a finding that is there already is counted up.
pub fn merge(all: &mut Vec<Finding>, new: Vec<Finding>) {
    for finding in new {
        let same = |other: &&mut Finding| {
            other.kind == finding.kind
                && other.place == finding.place
                && other.other_place == finding.other_place
                && other.details.get("accesses") == finding.details.get("accesses")
                && other.details.get("memory") == finding.details.get("memory")
                && other.details.get("reach") == finding.details.get("reach")
        };
        match all.iter_mut().find(same) {
            Some(other) => other.count = other.count.saturating_add(finding.count),
            None => all.push(finding),
        }
    }
    all.sort_by(Finding::order);
}
