//! Which bytes of a buffer are defined, and what the others hold.

use crate::JobBuffer;
use std::ops::Range;
use std::sync::Arc;
use vkcert_model::index_range::IndexRange;
use vkcert_oracle::scalar::Leaf;

/// What an uninitialised byte holds on a device.
pub const UNINITIALISED: u8 = 0xCD;

/// Writes scalars to their places and gives the byte ranges written; scalars beyond the end are
/// left out.
pub(super) fn place_scalars(scalar_leaves: &[Leaf], bytes: &mut [u8]) -> Vec<Range<usize>> {
    let mut written_ranges = Vec::with_capacity(scalar_leaves.len());
    for leaf in scalar_leaves {
        let (first_byte, byte_count) = (leaf.offset as usize, leaf.scalar.size());
        let byte_range = IndexRange { start: first_byte, end: first_byte + byte_count };
        if let Some(byte_slot) = bytes.get_mut(byte_range.range()) {
            byte_slot.copy_from_slice(&leaf.bits.to_le_bytes()[..byte_count]);
            written_ranges.push(byte_range.range());
        }
    }
    merged_ranges(written_ranges)
}

/// All of `length` bytes.
pub(super) fn whole_range(byte_count: usize) -> Vec<Range<usize>> {
    std::iter::once(0..byte_count).filter(|range| !range.is_empty()).collect()
}

/// A buffer of which every byte is defined.
pub(super) fn defined_buffer(name: &str, bytes: Vec<u8>) -> JobBuffer {
    JobBuffer { name: name.to_owned(), defined: whole_range(bytes.len()), bytes: Arc::new(bytes) }
}

/// Ascending, disjoint, not touching, without empty ones.
pub fn merged_ranges(mut byte_ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    byte_ranges.sort_by_key(|range| range.start);
    let mut disjoint_ranges: Vec<Range<usize>> = Vec::new();
    for range in byte_ranges.into_iter().filter(|range| !range.is_empty()) {
        match disjoint_ranges.last_mut() {
            Some(last_range) if range.start <= last_range.end => {
                last_range.end = last_range.end.max(range.end)
            }
            _ => disjoint_ranges.push(range),
        }
    }
    disjoint_ranges
}
