//! What each expectation of a test looks at: which bytes of which buffer, as numbers of which type,
//! and whether it expects zeros.
//!
//! Knows: a prepared test, and the final contents that buffers are compared with.
//! Promises: every byte that can decide an expectation is among those that it looks at; a checker
//! looks at all that is bound to it.
//! Does not cover: what a value must be (`compare`); whether a kernel stores it.

use crate::BufferContents;
use crate::prepare::{Expected, ExpectedContents, Prepared, merged};
use std::ops::Range;
use vkcert_model::element::ScalarType;
use vkcert_model::image::ImageFormat;
use vkcert_oracle::compare::is_taken_for_zero;
use vkcert_oracle::comparison::Placement;
use vkcert_oracle::scalar::{Leaf, read_scalar};
use vkcert_oracle::texel::{compared_contents, stored_range};

/// What the expectations of a test look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watches {
    /// By buffer of the job, then in the order of the expectations.
    buffers: Vec<Vec<Watch>>,
}

/// What one expectation looks at in one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Watch {
    expectation: usize,
    /// Ascending and disjoint.
    looks: Vec<Look>,
}

/// Bytes that an expectation looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    bytes: Range<usize>,
    /// None of a checker: what it expects there is not known.
    reading: Option<Reading>,
}

/// What an expectation reads numbers as, and what it expects of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    scalar: ScalarType,
    /// Whether all of them are expected to be zero, or as good as zero to the tolerance.
    zeros: bool,
}

/// What is known of the values that expectations want some bytes to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// Nothing: no expectation looks there, or checkers alone do.
    Unknown,
    /// Zeros alone.
    Zeros,
    /// Values, of which at least one is not 0.
    Values,
}

/// A number as an expectation reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadNumber {
    /// Bytes.
    pub offset: usize,
    pub scalar: ScalarType,
}

impl Watches {
    /// Of a test; `left` are final contents by buffer of its job, which buffers are compared with.
    pub fn of(plan: &Prepared, left: &[BufferContents]) -> Self {
        let mut watches = Self { buffers: vec![Vec::new(); plan.job.buffers.len()] };
        for (number, expected) in plan.expected.iter().enumerate() {
            watches.add(number, expected, left);
        }
        watches
    }

    /// Of one expectation, which is number 0.
    pub fn of_one(plan: &Prepared, expected: &Expected, left: &[BufferContents]) -> Self {
        let mut watches = Self { buffers: vec![Vec::new(); plan.job.buffers.len()] };
        watches.add(0, expected, left);
        watches
    }

    /// The bytes of a buffer that expectations look at, ascending and disjoint.
    pub fn looked_at(&self, buffer: usize) -> Vec<Range<usize>> {
        let looks = self.buffers[buffer].iter().flat_map(|watch| &watch.looks);
        merged(looks.map(|look| look.bytes.clone()).collect())
    }

    fn add(&mut self, number: usize, expected: &Expected, left: &[BufferContents]) {
        match &expected.contents {
            ExpectedContents::Values(leaves) => {
                self.watch(number, expected.buffer, looks_of(expected, leaves))
            }
            ExpectedContents::Buffer { other, scalar, offset, length } => {
                let side = |buffer: usize, start: usize, offset: usize| {
                    let bytes = compared_contents(expected.format, &left[buffer]);
                    leaves_of(bytes.get(start..start + *length).unwrap_or(&[]), *scalar, offset)
                };
                self.watch(number, expected.buffer, looks_of(expected, &side(*other, 0, *offset)));
                self.watch(number, *other, looks_of(expected, &side(expected.buffer, *offset, 0)));
            }
            ExpectedContents::Reference { scalar, offset, length, job: _ } => {
                let bytes = in_stored_bytes(expected.format, *offset..*offset + *length);
                let reading = Some(Reading { scalar: *scalar, zeros: false });
                self.watch(number, expected.buffer, vec![Look { bytes, reading }]);
            }
            ExpectedContents::Check { job } => {
                let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
                for binding in bindings.filter(|binding| binding.buffer != expected.buffer) {
                    let length = left[binding.buffer].len();
                    let start = ((binding.offset + binding.dynamic_offset) as usize).min(length);
                    let range = usize::try_from(binding.range).unwrap_or(usize::MAX);
                    let end =
                        if range > 0 { start.saturating_add(range).min(length) } else { length };
                    self.watch(
                        number,
                        binding.buffer,
                        vec![Look { bytes: start..end, reading: None }],
                    );
                }
            }
        }
    }

    fn watch(&mut self, expectation: usize, buffer: usize, looks: Vec<Look>) {
        let watches = &mut self.buffers[buffer];
        match watches.last_mut() {
            Some(last) if last.expectation == expectation => {
                last.looks.extend(looks);
                last.looks = united(std::mem::take(&mut last.looks));
            }
            Some(_) | None => watches.push(Watch { expectation, looks: united(looks) }),
        }
    }

    fn looks(&self, buffer: usize, bytes: &Range<usize>) -> impl Iterator<Item = (usize, &Look)> {
        let watches = self.buffers.get(buffer).into_iter().flatten();
        watches.flat_map(|watch| watch.at(bytes).map(|look| (watch.expectation, look)))
    }

    /// The expectations that look at some of these bytes of a buffer, ascending.
    pub fn expectations(&self, buffer: usize, bytes: &Range<usize>) -> Vec<usize> {
        let mut found: Vec<usize> =
            self.looks(buffer, bytes).map(|(expectation, _)| expectation).collect();
        found.dedup();
        found
    }

    /// What is wanted of these bytes.
    pub fn wanted(&self, buffer: usize, bytes: &Range<usize>) -> Wanted {
        let readings = self.looks(buffer, bytes).filter_map(|(_, look)| look.reading);
        let wanted = |reading: Reading| if reading.zeros { Wanted::Zeros } else { Wanted::Values };
        readings.map(wanted).max().unwrap_or(Wanted::Unknown)
    }

    /// The numbers that expectations read at a byte, in their order; of a checker it is not known.
    pub fn readings(&self, buffer: usize, byte: usize) -> Vec<ReadNumber> {
        let number = |(_, look): (usize, &Look)| {
            let scalar = look.reading?.scalar;
            let within = (byte - look.bytes.start) % scalar.size();
            Some(ReadNumber { offset: byte - within, scalar })
        };
        self.looks(buffer, &(byte..byte + 1)).filter_map(number).collect()
    }
}

impl Watch {
    /// Its looks at some of these bytes.
    fn at(&self, bytes: &Range<usize>) -> impl Iterator<Item = &Look> {
        let first = self.looks.partition_point(|look| look.bytes.end <= bytes.start);
        let end = bytes.end;
        self.looks[first..].iter().take_while(move |look| look.bytes.start < end)
    }
}

fn looks_of(expected: &Expected, leaves: &[Leaf]) -> Vec<Look> {
    // Of records that may stand anywhere each value may be wanted everywhere.
    let all = match expected.placement {
        Placement::InPlace => None,
        Placement::AnyOrder { .. } => Some(leaves.iter().all(|leaf| is_zero(expected, leaf))),
    };
    let look = |leaf: &Leaf| Look {
        bytes: in_stored_bytes(
            expected.format,
            leaf.offset as usize..leaf.offset as usize + leaf.scalar.size(),
        ),
        reading: Some(Reading {
            scalar: leaf.scalar,
            zeros: all.unwrap_or_else(|| is_zero(expected, leaf)),
        }),
    };
    leaves.iter().map(look).collect()
}

fn is_zero(expected: &Expected, leaf: &Leaf) -> bool {
    is_taken_for_zero(leaf.scalar, leaf.bits, &expected.tolerance)
}

/// Every whole scalar of `bytes`, which stand at byte `offset`.
pub(super) fn leaves_of(bytes: &[u8], scalar: ScalarType, offset: usize) -> Vec<Leaf> {
    let leaf = |at: usize| {
        Some(Leaf { offset: (offset + at) as u64, scalar, bits: read_scalar(bytes, scalar, at)? })
    };
    (0..bytes.len()).step_by(scalar.size()).filter_map(leaf).collect()
}

/// Compared bytes as bytes of what is stored.
pub(super) fn in_stored_bytes(format: Option<ImageFormat>, bytes: Range<usize>) -> Range<usize> {
    match format {
        None => bytes,
        Some(format) => {
            let stored = stored_range(format, bytes.start as u64..bytes.end as u64);
            stored.start as usize..stored.end as usize
        }
    }
}

/// The same looks, ascending and disjoint; neighbours that read alike are one.
fn united(mut looks: Vec<Look>) -> Vec<Look> {
    looks.sort_by_key(|look| (look.bytes.start, look.bytes.end));
    let mut united: Vec<Look> = Vec::new();
    for mut look in looks {
        if let Some(last) = united.last_mut() {
            if look.bytes.end <= last.bytes.end {
                last.reading = both(last.reading, look.reading);
                continue;
            }
            if last.reading == look.reading && look.bytes.start <= last.bytes.end {
                last.bytes.end = look.bytes.end;
                continue;
            }
            look.bytes.start = look.bytes.start.max(last.bytes.end);
        }
        united.push(look);
    }
    united
}

/// Two readings of the same bytes, by one expectation: components of one texel.
fn both(one: Option<Reading>, other: Option<Reading>) -> Option<Reading> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Reading { zeros: one.zeros && other.zeros, ..one }),
        (reading, None) | (None, reading) => reading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(bytes: Range<usize>, zeros: bool) -> Look {
        Look { bytes, reading: Some(Reading { scalar: ScalarType::Float32, zeros }) }
    }

    #[test]
    fn expectations_are_told_by_the_bytes_that_they_look_at() {
        let mut watches = Watches { buffers: vec![Vec::new(); 2] };
        watches.watch(0, 1, vec![look(8..12, false), look(0..4, true), look(4..8, true)]);
        watches.watch(1, 1, vec![look(8..16, true)]);
        watches.watch(2, 1, vec![Look { bytes: 12..24, reading: None }]);
        assert_eq!(watches.buffers[1][0].looks, [look(0..8, true), look(8..12, false)]);
        let at = |bytes: Range<usize>| (watches.expectations(1, &bytes), watches.wanted(1, &bytes));
        assert_eq!(at(0..4), (vec![0], Wanted::Zeros));
        assert_eq!(at(8..12), (vec![0, 1], Wanted::Values));
        assert_eq!(at(12..16), (vec![1, 2], Wanted::Zeros));
        assert_eq!(at(16..20), (vec![2], Wanted::Unknown));
        assert_eq!(at(24..28), (vec![], Wanted::Unknown));
        assert_eq!(watches.expectations(0, &(0..64)), [0_usize; 0]);
        assert_eq!(
            watches.readings(1, 14),
            [ReadNumber { offset: 12, scalar: ScalarType::Float32 }]
        );
    }

    #[test]
    fn a_texel_wants_zeros_where_all_of_its_components_do() {
        let looks =
            united(vec![look(0..4, true), look(0..4, false), look(4..8, true), look(4..8, true)]);
        assert_eq!(looks, [look(0..4, false), look(4..8, true)]);
    }
}
