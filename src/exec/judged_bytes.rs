//! What of a test's final contents its expectations look at, and how.
//!
//! Knows: a prepared test. Promises: a byte is judged in its place if any expectation asks what
//! stands there, else in any order if one asks for it somewhere or a checker binds it; a test
//! without expectations leaves nothing to look away from: all of it counts as judged in place.
//! Does not cover: whether what is judged is written by a kernel; verdicts (`judge`).

use super::prepare::{Expected, ExpectedContents, Prepared};
use std::ops::Range;
use vkcert_model::image::ImageFormat;
use vkcert_oracle::comparison::Placement;
use vkcert_oracle::texel::stored_range;

/// How a byte is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judging {
    /// No expectation looks at it.
    Outside,
    /// As one of several that may stand in any order, or by a checker.
    InAnyOrder,
    /// In its place.
    InPlace,
}

/// The bytes that are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// By buffer of the job; each ascending and disjoint.
    in_place: Vec<Vec<Range<u64>>>,
    in_any_order: Vec<Vec<Range<u64>>>,
}

impl Judged {
    /// How the bytes of each buffer are judged, by its expectations.
    pub fn of_test(prepared: &Prepared) -> Self {
        let buffer_count = prepared.job.buffers.len();
        let mut judged_bytes = Self {
            in_place: vec![Vec::new(); buffer_count],
            in_any_order: vec![Vec::new(); buffer_count],
        };
        if prepared.expected.is_empty() {
            let whole_buffers = prepared
                .job
                .buffers
                .iter()
                .map(|buffer| std::iter::once(0..buffer.bytes.len() as u64).collect());
            judged_bytes.in_place = whole_buffers.collect();
        }
        prepared.expected.iter().for_each(|expected| judged_bytes.add_expected(expected));
        judged_bytes
            .in_place
            .iter_mut()
            .chain(&mut judged_bytes.in_any_order)
            .for_each(unite_ranges);
        judged_bytes
    }

    fn add_expected(&mut self, expected: &Expected) {
        let judged_ranges = match expected.placement {
            Placement::InPlace => &mut self.in_place,
            Placement::AnyOrder { .. } => &mut self.in_any_order,
        };
        let stored_bytes = |range: Range<u64>| in_stored_bytes(expected.format, range);
        match &expected.contents {
            ExpectedContents::Values(leaves) => {
                let leaf_ranges = leaves
                    .iter()
                    .map(|leaf| stored_bytes(leaf.offset..leaf.offset + leaf.scalar.size() as u64));
                judged_ranges[expected.buffer].extend(leaf_ranges);
            }
            ExpectedContents::Buffer { other, offset, length, scalar: _ } => {
                let (offset, length) = (*offset as u64, *length as u64);
                judged_ranges[expected.buffer].push(stored_bytes(offset..offset + length));
                judged_ranges[*other].push(stored_bytes(0..length));
            }
            ExpectedContents::Reference { offset, length, scalar: _, job: _ } => {
                judged_ranges[expected.buffer]
                    .push(stored_bytes(*offset as u64..(*offset + *length) as u64));
            }
            ExpectedContents::Check { job } => {
                let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
                for binding in bindings.filter(|binding| binding.buffer != expected.buffer) {
                    let bound_start = binding.offset + binding.dynamic_offset;
                    let bound_end =
                        if binding.range > 0 { bound_start + binding.range } else { u64::MAX };
                    self.in_any_order[binding.buffer].push(bound_start..bound_end);
                }
            }
        }
    }

    /// How a byte of a buffer is judged.
    pub fn judging_at(&self, buffer: usize, byte: u64) -> Judging {
        let is_within = |ranges: &[Vec<Range<u64>>]| {
            ranges.get(buffer).is_some_and(|ranges| holds_byte(ranges, byte))
        };
        if is_within(&self.in_place) {
            Judging::InPlace
        } else if is_within(&self.in_any_order) {
            Judging::InAnyOrder
        } else {
            Judging::Outside
        }
    }

    /// Whether anything of a buffer is judged.
    pub fn looks_at(&self, buffer: usize) -> bool {
        let has_ranges = |ranges: &[Vec<Range<u64>>]| {
            ranges.get(buffer).is_some_and(|ranges| !ranges.is_empty())
        };
        has_ranges(&self.in_place) || has_ranges(&self.in_any_order)
    }
}

/// Ranges of compared components as bytes of the stored texels.
fn in_stored_bytes(format: Option<ImageFormat>, range: Range<u64>) -> Range<u64> {
    match format {
        Some(format) => stored_range(format, range),
        None => range,
    }
}

fn unite_ranges(ranges: &mut Vec<Range<u64>>) {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut disjoint_ranges: Vec<Range<u64>> = Vec::new();
    for range in ranges.drain(..) {
        match disjoint_ranges.last_mut() {
            Some(last_range) if range.start <= last_range.end => {
                last_range.end = last_range.end.max(range.end)
            }
            Some(_) | None => disjoint_ranges.push(range),
        }
    }
    *ranges = disjoint_ranges;
}

fn holds_byte(ranges: &[Range<u64>], byte: u64) -> bool {
    let range_index = ranges.partition_point(|range| range.end <= byte);
    ranges.get(range_index).is_some_and(|range| range.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_asked_for_outweighs_free_order() {
        let mut judged =
            Judged { in_place: vec![vec![0..4, 4..8, 16..20]], in_any_order: vec![vec![6..18]] };
        judged.in_place.iter_mut().chain(&mut judged.in_any_order).for_each(unite_ranges);
        assert_eq!(judged.in_place[0], [0..8, 16..20]);
        let at = [0, 7, 8, 15, 16, 19, 20].map(|byte| judged.judging_at(0, byte));
        use Judging::{InAnyOrder, InPlace, Outside};
        assert_eq!(at, [InPlace, InPlace, InAnyOrder, InAnyOrder, InPlace, InPlace, Outside]);
        assert!(judged.looks_at(0) && !judged.looks_at(1));
    }
}
