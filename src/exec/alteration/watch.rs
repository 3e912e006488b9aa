//! What each expectation of a test looks at: which bytes of which buffer, as numbers of which type,
//! and whether it expects zeros.
//!
//! Knows: a prepared test, and the final contents that buffers are compared with.
//! Promises: every byte that can decide an expectation is among those that it looks at; a checker
//! looks at all that is bound to it.
//! Does not cover: what a value must be (`compare`); whether a kernel stores it.

use crate::BufferContents;
use crate::prepare::{Expected, ExpectedContents, Prepared, merged_ranges};
use std::ops::Range;
use vkcert_model::element::ScalarType;
use vkcert_model::image::ImageFormat;
use vkcert_model::index_range::IndexRange;
use vkcert_oracle::compare::is_taken_for_zero;
use vkcert_oracle::comparison::Placement;
use vkcert_oracle::scalar::{Leaf, read_scalar};
use vkcert_oracle::texel::{compared_contents, stored_range};

/// What the expectations of a test look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watches {
    /// By buffer of the job, then in the order of the expectations.
    buffers: Vec<Vec<BufferWatch>>,
}

/// What one expectation looks at in one buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BufferWatch {
    expectation: usize,
    /// Ascending and disjoint.
    looks: Vec<WatchedBytes>,
}

/// Bytes that an expectation looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchedBytes {
    bytes: IndexRange,
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
pub enum WantedValues {
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
    pub fn of_test(plan: &Prepared, final_contents: &[BufferContents]) -> Self {
        let mut watches = Self { buffers: vec![Vec::new(); plan.job.buffers.len()] };
        for (expectation_index, expected) in plan.expected.iter().enumerate() {
            watches.add_expectation(expectation_index, expected, final_contents);
        }
        watches
    }

    /// Of one expectation, which is number 0.
    pub fn of_expectation(
        plan: &Prepared,
        expected: &Expected,
        final_contents: &[BufferContents],
    ) -> Self {
        let mut watches = Self { buffers: vec![Vec::new(); plan.job.buffers.len()] };
        watches.add_expectation(0, expected, final_contents);
        watches
    }

    /// The bytes of a buffer that expectations look at, ascending and disjoint.
    pub fn watched_ranges(&self, buffer_index: usize) -> Vec<Range<usize>> {
        let all_looks = self.buffers[buffer_index].iter().flat_map(|watch| &watch.looks);
        merged_ranges(all_looks.map(|look| look.bytes.range()).collect())
    }

    fn add_expectation(
        &mut self,
        expectation_index: usize,
        expected: &Expected,
        final_contents: &[BufferContents],
    ) {
        match &expected.contents {
            ExpectedContents::Values(leaves) => {
                self.add_watch(expectation_index, expected.buffer, looks_of(expected, leaves))
            }
            ExpectedContents::Buffer { other, scalar, offset, length: buffer_length } => {
                let compared_leaves = |buffer: usize, bound_start: usize, first_offset: usize| {
                    let compared_bytes =
                        compared_contents(expected.format, &final_contents[buffer]);
                    leaves_of(
                        compared_bytes
                            .get(bound_start..bound_start + *buffer_length)
                            .unwrap_or(&[]),
                        *scalar,
                        first_offset,
                    )
                };
                self.add_watch(
                    expectation_index,
                    expected.buffer,
                    looks_of(expected, &compared_leaves(*other, 0, *offset)),
                );
                self.add_watch(
                    expectation_index,
                    *other,
                    looks_of(expected, &compared_leaves(expected.buffer, *offset, 0)),
                );
            }
            ExpectedContents::Reference { scalar, offset, length: buffer_length, job: _ } => {
                let compared_range = IndexRange { start: *offset, end: *offset + *buffer_length };
                let compared_bytes = in_stored_bytes(expected.format, compared_range);
                let reading = Some(Reading { scalar: *scalar, zeros: false });
                self.add_watch(
                    expectation_index,
                    expected.buffer,
                    vec![WatchedBytes { bytes: compared_bytes, reading }],
                );
            }
            ExpectedContents::Check { job } => {
                let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
                for binding in bindings.filter(|binding| binding.buffer != expected.buffer) {
                    let buffer_length = final_contents[binding.buffer].len();
                    let bound_start =
                        ((binding.offset + binding.dynamic_offset) as usize).min(buffer_length);
                    let bound_bytes = usize::try_from(binding.range).unwrap_or(usize::MAX);
                    let bound_end = if bound_bytes > 0 {
                        bound_start.saturating_add(bound_bytes).min(buffer_length)
                    } else {
                        buffer_length
                    };
                    self.add_watch(
                        expectation_index,
                        binding.buffer,
                        vec![WatchedBytes {
                            bytes: IndexRange { start: bound_start, end: bound_end },
                            reading: None,
                        }],
                    );
                }
            }
        }
    }

    fn add_watch(
        &mut self,
        expectation_index: usize,
        buffer_index: usize,
        looks: Vec<WatchedBytes>,
    ) {
        let buffer_watches = &mut self.buffers[buffer_index];
        match buffer_watches.last_mut() {
            Some(last_watch) if last_watch.expectation == expectation_index => {
                last_watch.looks.extend(looks);
                last_watch.looks = unite_looks(std::mem::take(&mut last_watch.looks));
            }
            Some(_) | None => buffer_watches
                .push(BufferWatch { expectation: expectation_index, looks: unite_looks(looks) }),
        }
    }

    fn looks_at(
        &self,
        buffer: usize,
        bytes: IndexRange,
    ) -> impl Iterator<Item = (usize, &WatchedBytes)> {
        let watches = self.buffers.get(buffer).into_iter().flatten();
        watches.flat_map(move |watch| watch.looks_in(bytes).map(|look| (watch.expectation, look)))
    }

    /// The expectations that look at some of these bytes of a buffer, ascending.
    pub fn expectations_at(&self, buffer: usize, bytes: IndexRange) -> Vec<usize> {
        let mut expectation_indices: Vec<usize> =
            self.looks_at(buffer, bytes).map(|(expectation, _)| expectation).collect();
        expectation_indices.dedup();
        expectation_indices
    }

    /// What is wanted of these bytes.
    pub fn wanted_at(&self, buffer: usize, bytes: IndexRange) -> WantedValues {
        let readings = self.looks_at(buffer, bytes).filter_map(|(_, look)| look.reading);
        let wanted_by_reading = |reading: Reading| {
            if reading.zeros { WantedValues::Zeros } else { WantedValues::Values }
        };
        readings.map(wanted_by_reading).max().unwrap_or(WantedValues::Unknown)
    }

    /// The types of the numbers that expectations read at some of these bytes.
    pub fn scalars_read_in(
        &self,
        buffer: usize,
        bytes: IndexRange,
    ) -> impl Iterator<Item = ScalarType> {
        self.looks_at(buffer, bytes).filter_map(|(_, look)| Some(look.reading?.scalar))
    }

    /// The numbers that expectations read at a byte, in their order; of a checker it is not known.
    pub fn readings_at(&self, buffer: usize, byte: usize) -> Vec<ReadNumber> {
        let number_of_look = |(_, look): (usize, &WatchedBytes)| {
            let scalar = look.reading?.scalar;
            let byte_in_number = (byte - look.bytes.start) % scalar.size();
            Some(ReadNumber { offset: byte - byte_in_number, scalar })
        };
        let one_byte = IndexRange { start: byte, end: byte + 1 };
        self.looks_at(buffer, one_byte).filter_map(number_of_look).collect()
    }
}

impl BufferWatch {
    /// Its looks at some of these bytes.
    fn looks_in(&self, bytes: IndexRange) -> impl Iterator<Item = &WatchedBytes> {
        let first_look = self.looks.partition_point(|look| look.bytes.end <= bytes.start);
        self.looks[first_look..].iter().take_while(move |look| look.bytes.start < bytes.end)
    }
}

fn looks_of(expected: &Expected, leaves: &[Leaf]) -> Vec<WatchedBytes> {
    // Of records that may stand anywhere each value may be wanted everywhere.
    let expects_zeros = match expected.placement {
        Placement::InPlace => None,
        Placement::AnyOrder { .. } => Some(leaves.iter().all(|leaf| is_zero(expected, leaf))),
    };
    let look_of_leaf = |leaf: &Leaf| WatchedBytes {
        bytes: in_stored_bytes(
            expected.format,
            IndexRange {
                start: leaf.offset as usize,
                end: leaf.offset as usize + leaf.scalar.size(),
            },
        ),
        reading: Some(Reading {
            scalar: leaf.scalar,
            zeros: expects_zeros.unwrap_or_else(|| is_zero(expected, leaf)),
        }),
    };
    leaves.iter().map(look_of_leaf).collect()
}

fn is_zero(expected: &Expected, leaf: &Leaf) -> bool {
    is_taken_for_zero(leaf.scalar, leaf.bits, &expected.tolerance)
}

/// Every whole scalar of `bytes`, which stand at byte `offset`.
pub(super) fn leaves_of(bytes: &[u8], component_type: ScalarType, offset: usize) -> Vec<Leaf> {
    let leaf_at = |byte_index: usize| {
        Some(Leaf {
            offset: (offset + byte_index) as u64,
            scalar: component_type,
            bits: read_scalar(bytes, component_type, byte_index)?,
        })
    };
    (0..bytes.len()).step_by(component_type.size()).filter_map(leaf_at).collect()
}

/// Compared bytes as bytes of what is stored.
pub(super) fn in_stored_bytes(format: Option<ImageFormat>, bytes: IndexRange) -> IndexRange {
    match format {
        None => bytes,
        Some(format) => {
            let stored_bytes = stored_range(format, bytes.start as u64..bytes.end as u64);
            IndexRange { start: stored_bytes.start as usize, end: stored_bytes.end as usize }
        }
    }
}

/// The same looks, ascending and disjoint; neighbours that read alike are one.
fn unite_looks(mut looks: Vec<WatchedBytes>) -> Vec<WatchedBytes> {
    looks.sort_by_key(|look| (look.bytes.start, look.bytes.end));
    let mut disjoint_looks: Vec<WatchedBytes> = Vec::new();
    for mut look in looks {
        if let Some(last_look) = disjoint_looks.last_mut() {
            if look.bytes.end <= last_look.bytes.end {
                last_look.reading = joined_reading(last_look.reading, look.reading);
                continue;
            }
            if last_look.reading == look.reading && look.bytes.start <= last_look.bytes.end {
                last_look.bytes.end = look.bytes.end;
                continue;
            }
            look.bytes.start = look.bytes.start.max(last_look.bytes.end);
        }
        disjoint_looks.push(look);
    }
    disjoint_looks
}

/// Two readings of the same bytes, by one expectation: components of one texel.
fn joined_reading(
    first_reading: Option<Reading>,
    second_reading: Option<Reading>,
) -> Option<Reading> {
    match (first_reading, second_reading) {
        (Some(first_reading), Some(second_reading)) => {
            Some(Reading { zeros: first_reading.zeros && second_reading.zeros, ..first_reading })
        }
        (reading, None) | (None, reading) => reading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(bytes: Range<usize>, zeros: bool) -> WatchedBytes {
        let reading = Some(Reading { scalar: ScalarType::Float32, zeros });
        WatchedBytes { bytes: bytes.into(), reading }
    }

    #[test]
    fn expectations_are_told_by_the_bytes_that_they_look_at() {
        let mut watches = Watches { buffers: vec![Vec::new(); 2] };
        watches.add_watch(0, 1, vec![look(8..12, false), look(0..4, true), look(4..8, true)]);
        watches.add_watch(1, 1, vec![look(8..16, true)]);
        watches.add_watch(2, 1, vec![WatchedBytes { bytes: (12..24).into(), reading: None }]);
        assert_eq!(watches.buffers[1][0].looks, [look(0..8, true), look(8..12, false)]);
        let at = |bytes: Range<usize>| {
            let bytes = IndexRange::from(bytes);
            (watches.expectations_at(1, bytes), watches.wanted_at(1, bytes))
        };
        assert_eq!(at(0..4), (vec![0], WantedValues::Zeros));
        assert_eq!(at(8..12), (vec![0, 1], WantedValues::Values));
        assert_eq!(at(12..16), (vec![1, 2], WantedValues::Zeros));
        assert_eq!(at(16..20), (vec![2], WantedValues::Unknown));
        assert_eq!(at(24..28), (vec![], WantedValues::Unknown));
        assert_eq!(watches.expectations_at(0, (0..64).into()), [0_usize; 0]);
        assert_eq!(
            watches.readings_at(1, 14),
            [ReadNumber { offset: 12, scalar: ScalarType::Float32 }]
        );
    }

    #[test]
    fn a_texel_wants_zeros_where_all_of_its_components_do() {
        let looks = unite_looks(vec![
            look(0..4, true),
            look(0..4, false),
            look(4..8, true),
            look(4..8, true),
        ]);
        assert_eq!(looks, [look(0..4, false), look(4..8, true)]);
    }
}
