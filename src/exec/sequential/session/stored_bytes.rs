//! The bytes that dispatches of a job stored.

use crate::memory::store::Store;
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_exec::BufferContents;

/// By buffer of the job: the bytes that a dispatch stored to, ascending and disjoint.
pub type StoredBytes = Vec<Vec<Range<usize>>>;

/// What the dispatches of a job stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DispatchedStores {
    /// By dispatch.
    pub stored: Vec<StoredBytes>,
    /// Contents by buffer, before the dispatches of these numbers; behind the last one: at the end.
    pub contents: BTreeMap<usize, Vec<BufferContents>>,
}

/// The bytes of a buffer that a dispatch stored to, whose marks were forgotten before it.
pub(crate) fn stored_bytes(
    store: &Store,
    bytes_before: &[u8],
    bytes_after: &[u8],
) -> Vec<Range<usize>> {
    byte_ranges(bytes_before.len(), |byte| {
        bytes_before[byte] != bytes_after[byte]
            || !store.are_bytes_undefined(byte / 4, byte as u32 % 4..byte as u32 % 4 + 1)
    })
}

/// The bytes of so many that are chosen, as ranges.
pub fn byte_ranges(length: usize, is_chosen: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for byte in (0..length).filter(|byte| is_chosen(*byte)) {
        match ranges.last_mut() {
            Some(last_range) if last_range.end == byte => last_range.end += 1,
            Some(_) | None => ranges.push(byte..byte + 1),
        }
    }
    ranges
}
