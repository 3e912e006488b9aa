//! What a dispatch reads of what was there before it, and of what it stored itself, byte by byte.
//!
//! Knows: groups of instructions that store, and which instructions read on the way to what they
//! store (`spirv::flow`); the machine tells each access of a lane, in the order in which they
//! happen.
//! Promises: a byte that the dispatch left counts as read only where it is read after the last
//! store to it. Atomics read before they store.
//! Does not cover: accesses in other schedules; workgroup memory.

use crate::ir::atomic::AccessKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use vkcert_model::index_range::IndexRange;

/// Most groups of instructions: each has a bit of a word.
pub const MOST_GROUPS: usize = 32;

/// Bytes of memory that cells may take.
const MOST_BYTES: usize = 1 << 30;

/// Which reads and stores of a dispatch to track. Sets of groups have one bit per group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchedReads {
    /// By index of an instruction that reads: the groups that what it reads can come to.
    pub readers: HashMap<u32, u32>,
    /// By index of an instruction that stores: its group.
    pub storers: HashMap<u32, u8>,
    /// The buffers of the job whose bytes are watched.
    pub buffers: BTreeSet<usize>,
}

/// Bytes that were read for some groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadBytes {
    /// Byte range in the buffer.
    pub bytes: Range<usize>,
    /// The groups, one bit each.
    pub groups: u32,
}

/// Bytes that a group stored last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBytes {
    pub bytes: Range<usize>,
    pub group: u8,
}

/// What a dispatch did to one buffer; ranges ascending and disjoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferReads {
    /// What it left in the buffer, by the group that stored it last.
    pub left: Vec<LeftBytes>,
    /// What it read that it had not stored before.
    pub incoming: Vec<ReadBytes>,
    /// What it read after its last store to it.
    pub own: Vec<ReadBytes>,
}

/// What a dispatch did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DispatchReads {
    /// By buffer of the job.
    pub buffers: BTreeMap<usize, BufferReads>,
    /// By group: those for which something was read that it had stored, and that may be stored over
    /// since.
    pub followers: Vec<u32>,
}

impl DispatchReads {
    /// How many ranges it holds.
    pub fn ranges(&self) -> usize {
        self.buffers
            .values()
            .map(|reads| reads.left.len() + reads.incoming.len() + reads.own.len())
            .sum()
    }
}

/// What was done to some neighbouring bytes that are always accessed together.
#[derive(Debug, Clone, Copy, Default)]
struct TrackedCell {
    /// Groups that what stood there before was read for.
    incoming: u32,
    /// Groups that what stands there was read for since it was stored.
    own: u32,
    /// The group that stored it last.
    stored_by: Option<u8>,
}

#[derive(Debug)]
struct TrackedBuffer {
    /// Bytes of a cell, as a power of two.
    shift: u32,
    cells: Vec<TrackedCell>,
    bytes: usize,
}

/// Tracks the reads and stores of a dispatch.
#[derive(Debug)]
pub(crate) struct ReadTracker {
    readers: HashMap<u32, u32>,
    storers: HashMap<u32, u8>,
    buffers: BTreeMap<usize, TrackedBuffer>,
    followers: [u32; MOST_GROUPS],
    /// Whether an instruction stored that is in no group.
    is_incomplete: bool,
}

impl ReadTracker {
    /// None where that takes too much memory. `shape` gives the bytes of a buffer, and those of the
    /// least that is accessed there.
    pub(crate) fn for_watched(
        watched_reads: &WatchedReads,
        buffer_shape: impl Fn(usize) -> (usize, u32),
    ) -> Option<Self> {
        let mut bytes_left = MOST_BYTES;
        let mut buffers = BTreeMap::new();
        for buffer in &watched_reads.buffers {
            let (bytes, granule) = buffer_shape(*buffer);
            let shift = granule.clamp(1, 4).trailing_zeros();
            let cell_count = bytes.div_ceil(1 << shift);
            bytes_left = bytes_left.checked_sub(cell_count * size_of::<TrackedCell>())?;
            buffers.insert(
                *buffer,
                TrackedBuffer { shift, cells: vec![TrackedCell::default(); cell_count], bytes },
            );
        }
        let WatchedReads { readers, storers, buffers: _ } = watched_reads.clone();
        Some(Self { readers, storers, buffers, followers: [0; MOST_GROUPS], is_incomplete: false })
    }

    pub(crate) fn note_access(
        &mut self,
        buffer: usize,
        byte_range: IndexRange,
        access_kind: AccessKind,
        source_index: u32,
    ) {
        let Some(cells) = self.buffers.get_mut(&buffer) else { return };
        let (reads, writes) = match access_kind {
            AccessKind::Read | AccessKind::AtomicRead => (true, false),
            AccessKind::Write => (false, true),
            AccessKind::AtomicWrite => (true, true),
        };
        let reading_groups =
            self.readers.get(&source_index).copied().filter(|_| reads).unwrap_or_default();
        let storing_group = self.storers.get(&source_index).copied().filter(|_| writes);
        self.is_incomplete |= writes && storing_group.is_none();
        let (first_cell, end_cell) =
            (byte_range.start >> cells.shift, byte_range.end.div_ceil(1 << cells.shift));
        for cell in cells.cells.iter_mut().take(end_cell).skip(first_cell) {
            match cell.stored_by {
                None => cell.incoming |= reading_groups,
                Some(group) => {
                    cell.own |= reading_groups;
                    self.followers[usize::from(group)] |= reading_groups;
                }
            }
            if let Some(storing_group) = storing_group {
                (cell.own, cell.stored_by) = (0, Some(storing_group));
            }
        }
    }

    /// None where it is not known by whom something was stored.
    pub(crate) fn into_dispatch_reads(self) -> Option<DispatchReads> {
        if self.is_incomplete {
            return None;
        }
        let buffers = self
            .buffers
            .into_iter()
            .map(|(buffer, cells)| (buffer, cells.into_buffer_reads()))
            .collect();
        Some(DispatchReads { buffers, followers: self.followers.to_vec() })
    }
}

impl TrackedBuffer {
    fn into_buffer_reads(self) -> BufferReads {
        let mut buffer_reads = BufferReads::default();
        for (index, cell) in self.cells.iter().enumerate() {
            let byte_range = index << self.shift..((index + 1) << self.shift).min(self.bytes);
            if let Some(group) = cell.stored_by {
                match buffer_reads.left.last_mut() {
                    Some(last_range)
                        if last_range.bytes.end == byte_range.start
                            && last_range.group == group =>
                    {
                        last_range.bytes.end = byte_range.end
                    }
                    Some(_) | None => {
                        let bytes = byte_range.start..byte_range.end;
                        buffer_reads.left.push(LeftBytes { bytes, group })
                    }
                }
            }
            add_range(&mut buffer_reads.incoming, cell.incoming, &byte_range);
            add_range(&mut buffer_reads.own, cell.own, &byte_range);
        }
        buffer_reads
    }
}

fn add_range(ranges: &mut Vec<ReadBytes>, groups: u32, byte_range: &Range<usize>) {
    match ranges.last_mut() {
        _ if groups == 0 => {}
        Some(last_range)
            if last_range.bytes.end == byte_range.start && last_range.groups == groups =>
        {
            last_range.bytes.end = byte_range.end
        }
        Some(_) | None => {
            ranges.push(ReadBytes { bytes: byte_range.start..byte_range.end, groups })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions 1 and 2 read for groups 0 and 1; 2 and 7 store for them.
    fn tracked_reads(notes: &[(Range<usize>, AccessKind, u32)]) -> (BufferReads, Vec<u32>) {
        let watched_reads = WatchedReads {
            readers: HashMap::from([(1, 0b01), (2, 0b10)]),
            storers: HashMap::from([(7, 0), (2, 1)]),
            buffers: BTreeSet::from([3]),
        };
        let mut reads = ReadTracker::for_watched(&watched_reads, |_| (10, 4)).expect("it is small");
        for (byte_range, access_kind, source_index) in notes {
            let byte_range = IndexRange::from(byte_range.clone());
            reads.note_access(3, byte_range, *access_kind, *source_index);
            reads.note_access(0, byte_range, *access_kind, *source_index);
        }
        let mut dispatch_reads = reads.into_dispatch_reads().expect("every store is in a group");
        (
            dispatch_reads.buffers.remove(&3).expect("it is watched"),
            dispatch_reads.followers[..2].to_vec(),
        )
    }

    fn read(bytes: Range<usize>, groups: u32) -> Vec<ReadBytes> {
        vec![ReadBytes { bytes, groups }]
    }

    fn left(bytes: Range<usize>, group: u8) -> Vec<LeftBytes> {
        vec![LeftBytes { bytes, group }]
    }

    #[test]
    fn what_is_read_before_the_last_store_is_not_its_own() {
        use AccessKind::{AtomicRead, AtomicWrite, Read, Write};
        let (found, followers) =
            tracked_reads(&[(0..4, Read, 1), (0..4, Write, 7), (4..8, Write, 7), (4..8, Read, 1)]);
        assert_eq!(
            found,
            BufferReads { left: left(0..8, 0), incoming: read(0..4, 1), own: read(4..8, 1) }
        );
        assert_eq!(followers, [1, 0]);
        let (again, followers) =
            tracked_reads(&[(8..10, Write, 7), (8..10, Read, 2), (8..10, Write, 7)]);
        assert_eq!(again, BufferReads { left: left(8..10, 0), ..BufferReads::default() });
        assert_eq!(followers, [2, 0]);
        let (atomics, followers) =
            tracked_reads(&[(0..4, AtomicWrite, 2), (0..4, AtomicWrite, 2), (0..4, AtomicRead, 1)]);
        assert_eq!(
            atomics,
            BufferReads { left: left(0..4, 1), incoming: read(0..4, 2), own: read(0..4, 1) }
        );
        assert_eq!(followers, [0, 0b11]);
    }
}
