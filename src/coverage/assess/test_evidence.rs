//! The records of one test as evidence of execution.
//!
//! Promises: records of a decision that cannot be are taken for nothing.

use super::super::resolution::Resolution;
use super::super::statement::{DecisionOutcomes, ExecutionEvidence};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::records::{DecisionSlot, RecordLayout, Records};
use vkcert_model::structure::{Decision, KernelStructure, MarkIndex, Recording};
use vkcert_model::vector::Outcome;

/// The records of one test as evidence of execution.
pub(super) struct TestEvidence<'a> {
    pub structure: &'a KernelStructure,
    pub layout: &'a RecordLayout,
    pub slots: &'a BTreeMap<DecisionId, &'a DecisionSlot>,
    pub resolution: &'a Resolution<'a>,
    pub records: &'a Records,
}

impl ExecutionEvidence for TestEvidence<'_> {
    fn decision_outcomes(&self, decision: DecisionId) -> DecisionOutcomes {
        if let Recording::Unmarked { .. } = self.structure.decision(decision).recording {
            return DecisionOutcomes::Unrecorded;
        }
        if !self.resolution.outcome_markers.contains_key(&decision) {
            return DecisionOutcomes::Recorded { true_seen: false, false_seen: false };
        }
        let Some(slot) = self.slots.get(&decision) else { return DecisionOutcomes::Unrecorded };
        let structure = self.structure.decision(decision);
        if has_impossible_record(slot, self.records)
            || first_contradiction(self.resolution, structure, slot, self.records).is_some()
        {
            return DecisionOutcomes::Unrecorded;
        }
        let seen = |outcome: Outcome| {
            let vectors = slot.vectors.iter().filter(|row| row.vector.outcome == outcome);
            vectors.into_iter().any(|row| self.records.has(slot.base + row.sum))
        };
        DecisionOutcomes::Recorded {
            true_seen: seen(Outcome::True),
            false_seen: seen(Outcome::False),
        }
    }

    fn mark_passed(&self, mark: MarkIndex) -> Option<bool> {
        if !self.resolution.marks.contains(&mark) {
            return Some(false);
        }
        self.layout.mark_bit(mark).map(|bit| self.records.has(bit))
    }
}

/// Whether a bit is set that belongs to no vector: then the records of the decision cannot be
/// trusted.
pub(super) fn has_impossible_record(slot: &DecisionSlot, records: &Records) -> bool {
    let vector_sums: BTreeSet<u32> = slot.vectors.iter().map(|row| row.sum).collect();
    (0..slot.size).any(|sum| records.has(slot.base + sum) && !vector_sums.contains(&sum))
}

/// The first vector of a decision that contradicts what is fixed.
pub(super) fn first_contradiction(
    resolution: &Resolution,
    decision: &Decision,
    slot: &DecisionSlot,
    records: &Records,
) -> Option<String> {
    let recorded_vectors = slot.vectors.iter().filter(|row| records.has(slot.base + row.sum));
    recorded_vectors
        .into_iter()
        .find_map(|row| resolution.contradiction(decision, &row.vector.values))
}
