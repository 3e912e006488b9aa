//! Bytes of buffers, as ranges.

use std::ops::Range;
use vkcert_exec::JobBuffer;
use vkcert_model::flow::BufferRange;

/// A range as bytes of its buffer.
pub(super) fn in_buffer(buffer_range: &BufferRange, buffer: &JobBuffer) -> Range<usize> {
    let length = buffer.bytes.len() as u64;
    let end = buffer_range.offset.saturating_add(buffer_range.bytes).min(length);
    buffer_range.offset.min(length) as usize..end as usize
}

/// The bytes of some ranges that are not in others, which are sorted and disjoint.
pub(super) fn subtract_ranges(
    ranges: &[Range<usize>],
    subtracted_ranges: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut remaining_ranges = Vec::new();
    for range in ranges {
        let mut start = range.start;
        let first_overlapping = subtracted_ranges
            .partition_point(|subtracted_range| subtracted_range.end <= range.start);
        for subtracted_range in subtracted_ranges[first_overlapping..]
            .iter()
            .take_while(|subtracted_range| subtracted_range.start < range.end)
        {
            if start < subtracted_range.start {
                remaining_ranges.push(start..subtracted_range.start);
            }
            start = start.max(subtracted_range.end);
        }
        if start < range.end {
            remaining_ranges.push(start..range.end);
        }
    }
    remaining_ranges
}

/// The bytes that are in two lists of ranges, each ascending and disjoint.
pub(super) fn common_ranges(
    left_ranges: &[Range<usize>],
    right_ranges: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut common = Vec::new();
    for one in left_ranges {
        let first_overlapping =
            right_ranges.partition_point(|right_range| right_range.end <= one.start);
        for right_range in right_ranges[first_overlapping..]
            .iter()
            .take_while(|right_range| right_range.start < one.end)
        {
            common.push(one.start.max(right_range.start)..one.end.min(right_range.end));
        }
    }
    common
}
