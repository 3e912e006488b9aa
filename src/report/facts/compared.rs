//! What decisions compared: values of operands, as far as evidence has them.
//!
//! Knows: engines keep what a floating-point comparison compared, for the witness of a vector.
//! Does not cover: operands of integers and of engines that keep none: nothing is told of them.

use vkcert_model::coverage::{DecisionCoverage, ObservedVector};
use vkcert_model::evidence::KernelEvidence;

/// What the first test of a vector compared at its witness; empty where the evidence has nothing.
pub(crate) fn compared_operands<'e>(
    kernel: &'e KernelEvidence,
    decision: &DecisionCoverage,
    vector: &ObservedVector,
) -> &'e [String] {
    let mut slots = kernel.layout.decisions.iter();
    let slot = slots.find(|slot| slot.decision == decision.id);
    let numbered = slot.and_then(|slot| {
        let row = slot.vectors.iter().find(|row| row.vector.values == vector.values)?;
        slot.base.checked_add(row.sum)
    });
    let first_test = vector.tests.first();
    let mut counted_records = kernel.records.iter().filter(|records| records.counted);
    let records = counted_records.find(|records| Some(&records.test) == first_test);
    records
        .zip(numbered)
        .and_then(|(records, bit)| records.records.operands.get(&bit))
        .map_or(&[], Vec::as_slice)
}
