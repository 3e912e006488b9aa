//! What the last value of a decision says about its vector.
//!
//! Knows: decisions that each end with one vector for each value of a condition that ends them.
//! Promises: for a decision with two conditions, what to record where its outcome is all that is
//! known: a bit, or one of two by the value of the first condition.

use super::plan::AtEntry;
use crate::markers::MarkerCall;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::records::DecisionSlot;
use vkcert_model::structure::MarkerRole;
use vkcert_model::vector::{ConditionValue, Outcome};
use vkcert_spirv::module::Id;

/// The vector that ends with a condition (by number) having a value.
pub(super) type DecisionEnds = BTreeMap<(u32, bool), VectorEnd>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VectorEnd {
    bit: u32,
    outcome: bool,
    /// Value of the decision's first condition.
    first: bool,
}

/// The ends of a decision, if each condition that ends it with a value always ends it so, and with
/// one vector alone: `a && b && c`, `a || b && c`, but neither `(a && b) || c` nor `a ^^ b`.
pub(super) fn decision_ends(decision_slot: &DecisionSlot) -> Option<DecisionEnds> {
    let mut ends_by_value = DecisionEnds::new();
    let mut inner_values: BTreeSet<(u32, bool)> = BTreeSet::new();
    for row in &decision_slot.vectors {
        let evaluated_values =
            (0..).zip(&row.vector.values.0).filter_map(|(condition, value)| match value {
                ConditionValue::True => Some((condition, true)),
                ConditionValue::False => Some((condition, false)),
                ConditionValue::NotEvaluated => None,
            });
        let mut evaluated: Vec<(u32, bool)> = evaluated_values.collect();
        let (_, first_value) = *evaluated.first()?;
        let last_value = evaluated.pop()?;
        inner_values.extend(evaluated);
        let vector_end = VectorEnd {
            bit: decision_slot.base + row.sum,
            outcome: row.vector.outcome == Outcome::True,
            first: first_value,
        };
        if ends_by_value.insert(last_value, vector_end).is_some() {
            return None;
        }
    }
    ends_by_value
        .keys()
        .all(|vector_end| !inner_values.contains(vector_end))
        .then_some(ends_by_value)
}

/// What to record for the outcomes true and false of a decision with two conditions, each evaluated
/// at one place.
pub(super) fn by_outcome(
    decision_ends: &DecisionEnds,
    calls: &[(usize, &MarkerCall)],
    operands: &BTreeMap<Id, Id>,
) -> Option<[AtEntry; 2]> {
    let [(_, first_condition), _] = calls else { return None };
    if !matches!(first_condition.role, MarkerRole::Condition { condition: 0, .. }) {
        return None;
    }
    let first_condition = first_condition.result.and_then(|value| operands.get(&value)).copied()?;
    Some([
        entry_for_outcome(decision_ends, first_condition, true)?,
        entry_for_outcome(decision_ends, first_condition, false)?,
    ])
}

fn entry_for_outcome(
    decision_ends: &DecisionEnds,
    first_condition: Id,
    outcome: bool,
) -> Option<AtEntry> {
    let mut vectors = decision_ends.values().filter(|end| end.outcome == outcome);
    match (vectors.next(), vectors.next(), vectors.next()) {
        (Some(first_end), None, _) => Some(AtEntry::Set { bit: first_end.bit }),
        (Some(first_end), Some(second_end), None) if first_end.first != second_end.first => {
            let [if_true, if_false] = if first_end.first {
                [first_end.bit, second_end.bit]
            } else {
                [second_end.bit, first_end.bit]
            };
            Some(AtEntry::Choose { value: first_condition, if_true, if_false })
        }
        _ => None,
    }
}
