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
        MarkerRole::Mark { mark } | MarkerRole::MarkWhere { mark } => Some(mark.0 + 1),
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
pub(crate) fn marker_completeness(
    structure: &KernelStructure,
    presence: &Presence,
) -> BTreeMap<u32, MarkerCompleteness> {
    let mut marker_counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (marker_number, role) in structure.markers.iter().enumerate() {
        let decision = match role {
            MarkerRole::Condition { decision, .. }
            | MarkerRole::Decision { decision }
            | MarkerRole::Single { decision } => decision.0,
            MarkerRole::Mark { .. } | MarkerRole::MarkWhere { .. } => continue,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::parse;
    use vkcert_model::id::DecisionId;
    use vkcert_model::place::{FileIndex, Span};
    use vkcert_model::records::PresentMarker;
    use vkcert_model::structure::{
        Accuracy, Condition, Constness, DecisionContext, MarkIndex, RequestedParts, TextDigests,
    };

    const NOWHERE: Span = Span { file: FileIndex(0), start: 0, end: 0 };

    fn decision(number: u32, text: &str) -> Decision {
        let parsed = parse(text).unwrap();
        let condition = |index: usize| Condition {
            span: NOWHERE,
            text: parsed.conditions[index].text.clone(),
            coupling: parsed.conditions[index].coupling,
            constness: Constness::Runtime,
        };
        Decision {
            id: DecisionId(number),
            function: None,
            context: DecisionContext::If,
            span: NOWHERE,
            text: text.to_owned(),
            conditions: (0..parsed.conditions.len()).map(condition).collect(),
            expression: parsed.expression,
            constness: Constness::Runtime,
            recording: Recording::Marked,
            expansion: Vec::new(),
        }
    }

    /// A structure of these marks and decisions, each with all markers that it needs.
    fn structure(marks: u32, texts: &[&str]) -> KernelStructure {
        let mut markers: Vec<MarkerRole> =
            (0..marks).map(|mark| MarkerRole::Mark { mark: MarkIndex(mark) }).collect();
        let decisions: Vec<Decision> =
            (1..).zip(texts).map(|(number, text)| decision(number, text)).collect();
        for Decision { id: decision, conditions, .. } in &decisions {
            let decision = *decision;
            if conditions.len() == 1 {
                markers.push(MarkerRole::Single { decision });
                continue;
            }
            let roles = 0..conditions.len() as u32;
            markers.extend(roles.map(|condition| MarkerRole::Condition { decision, condition }));
            markers.push(MarkerRole::Decision { decision });
        }
        KernelStructure {
            files: Vec::new(),
            entry: "main".to_owned(),
            functions: Vec::new(),
            decisions,
            switches: Vec::new(),
            accuracy: Accuracy::Exact,
            markers,
            value_marker: String::new(),
            mark_marker: String::new(),
            texts: TextDigests::default(),
            requested: RequestedParts::default(),
        }
    }

    /// A module that holds all markers but these.
    fn presence_without(structure: &KernelStructure, absent: &[u32]) -> Presence {
        let markers = (0..).zip(structure.markers.iter());
        let present = markers.filter(|(number, _)| !absent.contains(number));
        Presence {
            markers: present
                .map(|(number, role)| (number, PresentMarker::runtime(*role)))
                .collect(),
        }
    }

    fn slots(structure: &KernelStructure, absent: &[u32]) -> Vec<(u32, u32, u32)> {
        let layout = record_layout(structure, &presence_without(structure, absent));
        assert_eq!(layout.bits, layout.decisions.last().map_or(0, |slot| slot.base + slot.size));
        layout.decisions.iter().map(|slot| (slot.decision.0, slot.base, slot.size)).collect()
    }

    #[test]
    fn decisions_follow_the_marks_and_cross_no_word() {
        let long = "a ^^ b ^^ c ^^ d";
        let texts =
            [long, "a && b", "a", "a || b", "a ^^ b ^^ c", long, "a", "a ^^ b ^^ c ^^ d ^^ e"];
        let expected = [
            (1, 3, 16),
            (2, 19, 3),
            (3, 22, 2),
            (4, 24, 3),
            // Five bits are left in the word, and eight are needed.
            (5, 32, 8),
            (6, 40, 16),
            (7, 56, 2),
            (8, 64, 32),
        ];
        assert_eq!(slots(&structure(3, &texts), &[]), expected);
        // Exactly what is left of a word is enough; a larger decision starts at a word.
        assert_eq!(slots(&structure(16, &[long, "a"]), &[]), [(1, 16, 16), (2, 32, 2)]);
        assert_eq!(slots(&structure(17, &[long]), &[]), [(1, 32, 16)]);
        let seven = "a ^^ b ^^ c ^^ d ^^ e ^^ f ^^ g";
        assert_eq!(slots(&structure(1, &[seven, "a"]), &[]), [(1, 32, 128), (2, 160, 2)]);
        assert_eq!(slots(&structure(0, &[seven]), &[]), [(1, 0, 128)]);
    }

    #[test]
    fn a_mark_has_the_bit_of_its_number_whatever_the_order_of_the_markers() {
        let mut structure = structure(3, &["a"]);
        structure.markers.reverse();
        let layout = record_layout(&structure, &presence_without(&structure, &[]));
        assert_eq!((layout.marks, layout.bits), (vec![0, 1, 2], 5));
        let layout = record_layout(
            &KernelStructure { markers: Vec::new(), ..structure },
            &Presence::default(),
        );
        assert_eq!((layout.marks.len(), layout.decisions.len(), layout.bits), (0, 1, 2));
    }

    #[test]
    fn the_vectors_of_a_slot_have_the_sums_of_its_weights() {
        let structure = structure(1, &["a && b || c"]);
        let layout = record_layout(&structure, &presence_without(&structure, &[]));
        let [slot] = layout.decisions.as_slice() else { panic!("one decision") };
        assert_eq!(slot.vectors.len(), 5);
        for row in &slot.vectors {
            let weights = row.vector.values.0.iter().zip(&slot.weights);
            let sum: u32 = weights
                .filter_map(|(value, weights)| Some(weights[usize::from(!value.as_bool()?)]))
                .sum();
            assert_eq!(row.sum, sum, "{}", row.vector.values);
        }
    }

    #[test]
    fn what_is_marked_in_part_or_not_at_all_has_no_slot() {
        // Markers 0 to 2 are of the first decision, 3 of the second, 4 to 6 of the third.
        let mut structure = structure(0, &["a && b", "c", "d || e"]);
        let numbers = |structure: &KernelStructure, absent: &[u32]| -> Vec<u32> {
            slots(structure, absent).iter().map(|(number, _, _)| *number).collect()
        };
        assert_eq!(numbers(&structure, &[]), [1, 2, 3]);
        for absent in [0, 1, 2] {
            assert_eq!(numbers(&structure, &[absent]), [2, 3]);
        }
        // What the compiler left out wholly keeps its bits.
        assert_eq!(numbers(&structure, &[3, 4, 5, 6]), [1, 2, 3]);
        let grades = marker_completeness(&structure, &presence_without(&structure, &[1, 3]));
        let expected = [
            (1, MarkerCompleteness::Partial),
            (2, MarkerCompleteness::None),
            (3, MarkerCompleteness::All),
        ];
        assert_eq!(grades, BTreeMap::from(expected));
        structure.decisions[1].recording = Recording::Unmarked { reason: "why".to_owned() };
        assert_eq!(numbers(&structure, &[]), [1, 3]);
    }

    #[test]
    fn a_decision_with_too_many_vectors_has_no_slot() {
        let long: Vec<String> = (0..17).map(|number| format!("c{number}")).collect();
        let structure = structure(2, &["a", &long.join(" ^^ "), "b"]);
        assert_eq!(slots(&structure, &[]), [(1, 2, 2), (3, 4, 2)]);
    }
}
