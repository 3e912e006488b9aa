//! Which bytes of a buffer are defined, and what the others hold.

use std::ops::Range;
use vkcert_oracle::scalar::Leaf;

/// What an uninitialised byte holds on a device.
pub const UNINITIALISED: u8 = 0xCD;

/// Writes scalars to their places and gives the byte ranges written; scalars beyond the end are
/// left out.
pub(super) fn place(leaves: &[Leaf], bytes: &mut [u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let range = leaf.offset as usize..leaf.offset as usize + leaf.scalar.size();
        if let Some(slot) = bytes.get_mut(range.clone()) {
            slot.copy_from_slice(&leaf.bits.to_le_bytes()[..leaf.scalar.size()]);
            ranges.push(range);
        }
    }
    merged(ranges)
}

/// All of `length` bytes.
pub(super) fn whole_range(length: usize) -> Vec<Range<usize>> {
    std::iter::once(0..length).filter(|range| !range.is_empty()).collect()
}

/// Ascending, disjoint, not touching, without empty ones.
pub fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
