//! Bytes of buffers, as ranges.

use std::ops::Range;
use vkcert_exec::JobBuffer;
use vkcert_model::flow::BufferRange;

/// A range as bytes of its buffer.
pub(super) fn in_buffer(range: &BufferRange, buffer: &JobBuffer) -> Range<usize> {
    let length = buffer.bytes.len() as u64;
    let end = range.offset.saturating_add(range.bytes).min(length);
    range.offset.min(length) as usize..end as usize
}

/// The bytes of some ranges that are not in others, which are sorted and disjoint.
pub(super) fn without(ranges: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut start = range.start;
        let first = others.partition_point(|other| other.end <= range.start);
        for other in others[first..].iter().take_while(|other| other.start < range.end) {
            if start < other.start {
                left.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < range.end {
            left.push(start..range.end);
        }
    }
    left
}

/// The bytes that are in two lists of ranges, each ascending and disjoint.
pub(super) fn common(ones: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut common = Vec::new();
    for one in ones {
        let first = others.partition_point(|other| other.end <= one.start);
        for other in others[first..].iter().take_while(|other| other.start < one.end) {
            common.push(one.start.max(other.start)..one.end.min(other.end));
        }
    }
    common
}
