//! Bit numbers for a kernel's vectors and marks.
//!
//! Knows: which decisions of a structure can be recorded: those that are marked, whose vectors can
//! be numbered, and whose markers are all in the module or all absent from it.
//! Promises: a decision of up to 32 numbers never crosses a data word, and a larger one starts at a
//! word's first bit. A decision without a slot is not recorded, and coverage reports it as
//! undetermined.
//! Does not cover: where bits are gathered (`instrument`).

use super::numbering;
use std::collections::BTreeMap;
use vkcert_model::records::{DecisionSlot, NumberedVector, Presence, RecordLayout};
use vkcert_model::structure::{Decision, KernelStructure, MarkerRole, Recording};

/// Lays out the records of a kernel whose module holds the markers in `presence`.
pub fn record_layout(structure: &KernelStructure, presence: &Presence) -> RecordLayout {
    let marks = structure.markers.iter().filter_map(|role| match role {
        MarkerRole::Mark { mark } => Some(mark.0 + 1),
        MarkerRole::Condition { .. } | MarkerRole::Decision { .. } | MarkerRole::Single { .. } => {
            None
        }
    });
    // Mark n has bit n.
    let marks: Vec<u32> = (0..marks.max().unwrap_or(0)).collect();
    let mut bit_count = marks.len() as u32;
    let marker_completeness = marker_completeness(structure, presence);
    let mut decisions = Vec::new();
    for decision in &structure.decisions {
        if marker_completeness.get(&decision.id.0) == Some(&MarkerCompleteness::Partial) {
            continue;
        }
        if let Some(slot) = decision_slot(decision, bit_count) {
            bit_count = slot.base + slot.size;
            decisions.push(slot);
        }
    }
    RecordLayout { decisions, marks, bits: bit_count }
}

fn decision_slot(decision: &Decision, first_free: u32) -> Option<DecisionSlot> {
    match &decision.recording {
        Recording::Marked => {}
        Recording::Unmarked { .. } => return None,
    }
    let numbering =
        numbering::number_vectors(&decision.expression, decision.conditions.len()).ok()?;
    let fits_word = numbering.size <= 32 - first_free % 32;
    let base = if fits_word { first_free } else { first_free.next_multiple_of(32) };
    let vectors = numbering::numbered_vectors(&decision.expression, &numbering);
    Some(DecisionSlot {
        decision: decision.id,
        base,
        size: numbering.size,
        weights: numbering.weights,
        vectors: vectors.into_iter().map(|(sum, vector)| NumberedVector { sum, vector }).collect(),
    })
}

/// How many of a decision's markers a module holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerCompleteness {
    /// The module holds all of them: the decision is recorded.
    All,
    /// Some, so that sums would be wrong.
    Partial,
    /// The module holds none of them.
    None,
}

/// Completeness of every decision that has markers, by decision number.
pub fn marker_completeness(
    structure: &KernelStructure,
    presence: &Presence,
) -> BTreeMap<u32, MarkerCompleteness> {
    let mut marker_counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (marker_number, role) in structure.markers.iter().enumerate() {
        let decision = match role {
            MarkerRole::Condition { decision, .. }
            | MarkerRole::Decision { decision }
            | MarkerRole::Single { decision } => decision.0,
            MarkerRole::Mark { .. } => continue,
        };
        let (present_markers, all_markers) = marker_counts.entry(decision).or_default();
        *all_markers += 1;
        *present_markers += usize::from(presence.markers.contains_key(&(marker_number as u32)));
    }
    marker_counts
        .into_iter()
        .map(|(decision, (present_markers, all_markers))| match present_markers {
            0 => (decision, MarkerCompleteness::None),
            present if present == all_markers => (decision, MarkerCompleteness::All),
            _ => (decision, MarkerCompleteness::Partial),
        })
        .collect()
}
