//! Expected elements against final contents: in their places, or in any order.
//!
//! Knows: leaves (expected scalars at byte offsets) and the contents that they are compared with.
//! Promises: the same answer for a run (`judge`) and for stored outputs (`stored`); disagreements
//! are counted in full and listed up to a bound, in the order of offsets.
//! Does not cover: where leaves come from.

use super::compare::agrees;
use super::matching::{self, Record};
use super::scalar::{Leaf, read};
use vkcert_model::element::ScalarType;
use vkcert_model::procedure::Tolerance;

/// Whether elements stand in their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    InPlace,
    /// Records of so many bytes stand in any order, counted from the first element.
    AnyOrder {
        record: u64,
    },
}

impl Placement {
    /// As evidence stores it: the length of a record in bytes; none: in place.
    pub fn stored(self) -> Option<u64> {
        match self {
            Placement::InPlace => None,
            Placement::AnyOrder { record } => Some(record),
        }
    }

    pub fn of_stored(record: Option<u64>) -> Self {
        record.map_or(Placement::InPlace, |record| Placement::AnyOrder { record })
    }
}

/// An element, or a record, that is not what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// First byte of the actual one; of the expected one where no actual one is left.
    pub offset: u64,
    pub expected: Vec<(ScalarType, u64)>,
    /// None: the contents end before it.
    pub actual: Option<Vec<(ScalarType, u64)>>,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Number of elements, or of records, that disagree.
    pub wrong: u64,
    /// Number of elements, or of records, that were compared.
    pub all: u64,
    /// The first of those that disagree.
    pub listed: Vec<Disagreement>,
}

/// Compares contents with what is expected of them and lists at most `most` disagreements; an
/// error says why records could not be matched.
pub fn compare(
    actual: &[u8],
    leaves: &[Leaf],
    tolerance: &Tolerance,
    placement: Placement,
    most: usize,
) -> Result<Outcome, String> {
    match placement {
        Placement::InPlace => Ok(in_place(actual, leaves, tolerance, most)),
        Placement::AnyOrder { record } => in_any_order(actual, leaves, tolerance, record, most),
    }
}

fn in_place(actual: &[u8], leaves: &[Leaf], tolerance: &Tolerance, most: usize) -> Outcome {
    let mut outcome = Outcome { all: leaves.len() as u64, ..Outcome::default() };
    for leaf in leaves {
        let found = read(actual, leaf.scalar, leaf.offset as usize);
        if found.is_some_and(|found| agrees(leaf.scalar, leaf.bits, found, tolerance)) {
            continue;
        }
        outcome.wrong += 1;
        if outcome.listed.len() < most {
            outcome.listed.push(Disagreement {
                offset: leaf.offset,
                expected: vec![(leaf.scalar, leaf.bits)],
                actual: found.map(|bits| vec![(leaf.scalar, bits)]),
            });
        }
    }
    outcome
}

fn in_any_order(
    actual: &[u8],
    leaves: &[Leaf],
    tolerance: &Tolerance,
    record: u64,
    most: usize,
) -> Result<Outcome, String> {
    let mut expected_records = records(leaves, record);
    let mut actual_records = records(&actual_leaves(actual, leaves), record);
    let unmatched = matching::unmatched(&expected_records, &actual_records, tolerance)?;
    let mut outcome = Outcome {
        wrong: unmatched.expected.len() as u64,
        all: expected_records.len() as u64,
        ..Outcome::default()
    };
    for (position, expected_index) in unmatched.expected.iter().take(most).enumerate() {
        let expected_record = &mut expected_records[*expected_index];
        let actual_record = match unmatched.actual.get(position) {
            Some(actual_index) => Some(&mut actual_records[*actual_index]),
            None => None,
        };
        outcome.listed.push(Disagreement {
            offset: actual_record.as_ref().map_or(expected_record.offset, |record| record.offset),
            expected: std::mem::take(&mut expected_record.scalars),
            actual: actual_record.map(|record| std::mem::take(&mut record.scalars)),
        });
    }
    Ok(outcome)
}

/// What the contents hold at the places of the expected leaves, up to the first leaf that they end
/// before.
fn actual_leaves(contents: &[u8], expected_leaves: &[Leaf]) -> Vec<Leaf> {
    let mut leaves = Vec::with_capacity(expected_leaves.len());
    for leaf in expected_leaves {
        let Some(bits) = read(contents, leaf.scalar, leaf.offset as usize) else { break };
        leaves.push(Leaf { bits, ..*leaf });
    }
    leaves
}

/// Leaves by the record that they belong to; `record` is the length of a record in bytes, of which
/// a test need not expect all.
pub fn records(leaves: &[Leaf], record: u64) -> Vec<Record> {
    let start = leaves.first().map_or(0, |leaf| leaf.offset);
    let mut records: Vec<(u64, Record)> = Vec::new();
    for leaf in leaves {
        let number = leaf.offset.saturating_sub(start) / record.max(1);
        match records.last_mut() {
            Some((last, record)) if *last == number => {
                record.scalars.push((leaf.scalar, leaf.bits))
            }
            Some(_) | None => {
                records.push((
                    number,
                    Record { offset: leaf.offset, scalars: vec![(leaf.scalar, leaf.bits)] },
                ));
            }
        }
    }
    records.into_iter().map(|(_, record)| record).collect()
}
