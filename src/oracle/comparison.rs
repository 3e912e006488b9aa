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
    /// As evidence stores it: bytes of a record; none: in place.
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
    /// Of the actual one, bytes.
    pub offset: u64,
    pub expected: Vec<(ScalarType, u64)>,
    /// None: the contents end before.
    pub actual: Option<Vec<(ScalarType, u64)>>,
}

/// What a comparison comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Elements, or records, that disagree.
    pub wrong: u64,
    /// All of them.
    pub all: u64,
    pub listed: Vec<Disagreement>,
}

/// Compares contents with what is expected of them; an error says why it cannot be told.
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
    let expected = records(leaves, record);
    let found = |leaf: &Leaf| {
        Some(Leaf { bits: read(actual, leaf.scalar, leaf.offset as usize)?, ..*leaf })
    };
    let found: Vec<Leaf> = leaves.iter().map_while(found).collect();
    let found = records(&found, record);
    let unmatched = matching::unmatched(&expected, &found, tolerance)?;
    let mut outcome = Outcome {
        wrong: unmatched.expected.len() as u64,
        all: expected.len() as u64,
        ..Outcome::default()
    };
    let theirs =
        unmatched.actual.iter().map(|index| Some(&found[*index])).chain(std::iter::repeat(None));
    for (index, theirs) in unmatched.expected.iter().zip(theirs).take(most) {
        let ours = &expected[*index];
        outcome.listed.push(Disagreement {
            offset: theirs.map_or(ours.offset, |theirs| theirs.offset),
            expected: ours.scalars.clone(),
            actual: theirs.map(|theirs| theirs.scalars.clone()),
        });
    }
    Ok(outcome)
}

/// Leaves by the record that they stand in; a record is as long as the bytes say, whatever of it is
/// expected.
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
