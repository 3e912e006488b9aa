//! Expected elements against final contents: in their places, or in any order.
//!
//! Knows: leaves (expected scalars at byte offsets) and the contents that they are compared with.
//! Promises: the same answer for a run (`judge`) and for stored outputs (`stored`); disagreements
//! are counted in full and listed up to a bound, in the order of offsets.
//! Does not cover: where leaves come from.

use super::compare::values_agree;
use super::matching::{self, ScalarRecord};
use super::scalar::{Leaf, read_scalar};
use vkcert_model::element::ScalarType;
use vkcert_model::procedure::Tolerance;

/// Whether elements stand in their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Each element stands in its place.
    InPlace,
    /// Records of so many bytes stand in any order, counted from the first element.
    AnyOrder {
        /// Bytes of a record.
        record: u64,
    },
}

impl Placement {
    /// As evidence stores it: the length of a record in bytes; none: in place.
    pub fn stored_record_length(self) -> Option<u64> {
        match self {
            Placement::InPlace => None,
            Placement::AnyOrder { record } => Some(record),
        }
    }

    /// From the bytes of a record as evidence stores them; none: every element in its place.
    pub(crate) fn from_stored(record: Option<u64>) -> Self {
        record.map_or(Placement::InPlace, |record| Placement::AnyOrder { record })
    }
}

/// An element, or a record, that is not what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// First byte of the actual one; of the expected one where no actual one is left.
    pub offset: u64,
    /// Type and raw bits of each expected scalar.
    pub expected: Vec<(ScalarType, u64)>,
    /// None: the contents end before it.
    pub actual: Option<Vec<(ScalarType, u64)>>,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComparisonOutcome {
    /// Number of elements, or of records, that disagree.
    pub disagreeing: u64,
    /// Number of elements, or of records, that were compared.
    pub compared: u64,
    /// The first of those that disagree.
    pub listed: Vec<Disagreement>,
}

/// Compares contents with what is expected of them and lists at most `most` disagreements; an
/// error says why records could not be matched.
pub fn compare_contents(
    actual_bytes: &[u8],
    expected_leaves: &[Leaf],
    tolerance: &Tolerance,
    placement: Placement,
    listing_limit: usize,
) -> Result<ComparisonOutcome, String> {
    match placement {
        Placement::InPlace => {
            Ok(compare_in_place(actual_bytes, expected_leaves, tolerance, listing_limit))
        }
        Placement::AnyOrder { record } => {
            compare_in_any_order(actual_bytes, expected_leaves, tolerance, record, listing_limit)
        }
    }
}

fn compare_in_place(
    actual_bytes: &[u8],
    expected_leaves: &[Leaf],
    tolerance: &Tolerance,
    listing_limit: usize,
) -> ComparisonOutcome {
    let mut outcome = ComparisonOutcome {
        compared: expected_leaves.len() as u64,
        ..ComparisonOutcome::default()
    };
    for leaf in expected_leaves {
        let actual_bits = read_scalar(actual_bytes, leaf.scalar, leaf.offset as usize);
        if actual_bits.is_some_and(|bits| values_agree(leaf.scalar, leaf.bits, bits, tolerance)) {
            continue;
        }
        outcome.disagreeing += 1;
        if outcome.listed.len() < listing_limit {
            outcome.listed.push(Disagreement {
                offset: leaf.offset,
                expected: vec![(leaf.scalar, leaf.bits)],
                actual: actual_bits.map(|bits| vec![(leaf.scalar, bits)]),
            });
        }
    }
    outcome
}

fn compare_in_any_order(
    actual_bytes: &[u8],
    expected_leaves: &[Leaf],
    tolerance: &Tolerance,
    record_length: u64,
    listing_limit: usize,
) -> Result<ComparisonOutcome, String> {
    let mut expected_records = group_into_records(expected_leaves, record_length);
    let mut actual_records =
        group_into_records(&actual_leaves(actual_bytes, expected_leaves), record_length);
    let unmatched = matching::find_unmatched(&expected_records, &actual_records, tolerance)?;
    let mut outcome = ComparisonOutcome {
        disagreeing: unmatched.expected.len() as u64,
        compared: expected_records.len() as u64,
        ..ComparisonOutcome::default()
    };
    for (position, expected_index) in unmatched.expected.iter().take(listing_limit).enumerate() {
        let expected_record = &mut expected_records[*expected_index];
        let actual_index = unmatched.actual.get(position).copied();
        outcome.listed.push(Disagreement {
            offset: actual_index
                .map_or(expected_record.offset, |index| actual_records[index].offset),
            expected: std::mem::take(&mut expected_record.scalars),
            actual: actual_index.map(|index| std::mem::take(&mut actual_records[index].scalars)),
        });
    }
    Ok(outcome)
}

/// What the contents hold at the places of the expected leaves, up to the first leaf that they end
/// before.
fn actual_leaves(contents: &[u8], expected_leaves: &[Leaf]) -> Vec<Leaf> {
    let mut leaves = Vec::with_capacity(expected_leaves.len());
    for leaf in expected_leaves {
        let Some(bits) = read_scalar(contents, leaf.scalar, leaf.offset as usize) else { break };
        leaves.push(Leaf { bits, ..*leaf });
    }
    leaves
}

/// Leaves by the record that they belong to; `record` is the length of a record in bytes, of which
/// a test need not expect all.
pub fn group_into_records(leaves: &[Leaf], record_length: u64) -> Vec<ScalarRecord> {
    let first_offset = leaves.first().map_or(0, |leaf| leaf.offset);
    let mut records: Vec<(u64, ScalarRecord)> = Vec::new();
    for leaf in leaves {
        let record_number = leaf.offset.saturating_sub(first_offset) / record_length.max(1);
        match records.last_mut() {
            Some((last_number, record)) if *last_number == record_number => {
                record.scalars.push((leaf.scalar, leaf.bits))
            }
            Some(_) | None => {
                records.push((
                    record_number,
                    ScalarRecord { offset: leaf.offset, scalars: vec![(leaf.scalar, leaf.bits)] },
                ));
            }
        }
    }
    records.into_iter().map(|(_, record)| record).collect()
}
