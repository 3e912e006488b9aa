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

/// Groups of instructions that can be told apart.
pub const MOST_GROUPS: usize = 32;

/// Bytes of memory that cells may take.
const MOST_BYTES: usize = 1 << 30;

/// What is asked of a dispatch. Sets of groups have one bit per group.
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
    pub bytes: Range<usize>,
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
struct Cell {
    /// Groups that what stood there before was read for.
    incoming: u32,
    /// Groups that what stands there was read for since it was stored.
    own: u32,
    /// Who stored it last.
    by: Option<u8>,
}

#[derive(Debug)]
struct Cells {
    /// Bytes of a cell, as a power of two.
    shift: u32,
    cells: Vec<Cell>,
    bytes: usize,
}

/// A dispatch that is watched.
#[derive(Debug)]
pub(crate) struct Reads {
    readers: HashMap<u32, u32>,
    storers: HashMap<u32, u8>,
    buffers: BTreeMap<usize, Cells>,
    followers: [u32; MOST_GROUPS],
    /// Whether an instruction stored that is in no group.
    is_incomplete: bool,
}

impl Reads {
    /// None where that takes too much memory. `shape` gives the bytes of a buffer, and those of the
    /// least that is accessed there.
    pub(crate) fn of(
        watched: &WatchedReads,
        shape: impl Fn(usize) -> (usize, u32),
    ) -> Option<Self> {
        let mut room = MOST_BYTES;
        let mut buffers = BTreeMap::new();
        for buffer in &watched.buffers {
            let (bytes, granule) = shape(*buffer);
            let shift = granule.clamp(1, 4).trailing_zeros();
            let count = bytes.div_ceil(1 << shift);
            room = room.checked_sub(count * size_of::<Cell>())?;
            buffers.insert(*buffer, Cells { shift, cells: vec![Cell::default(); count], bytes });
        }
        let WatchedReads { readers, storers, buffers: _ } = watched.clone();
        Some(Self { readers, storers, buffers, followers: [0; MOST_GROUPS], is_incomplete: false })
    }

    pub(crate) fn note(
        &mut self,
        buffer: usize,
        bytes: Range<usize>,
        touch: AccessKind,
        place: u32,
    ) {
        let Some(cells) = self.buffers.get_mut(&buffer) else { return };
        let (reads, writes) = match touch {
            AccessKind::Read | AccessKind::AtomicRead => (true, false),
            AccessKind::Write => (false, true),
            AccessKind::AtomicWrite => (true, true),
        };
        let groups = self.readers.get(&place).copied().filter(|_| reads).unwrap_or_default();
        let by = self.storers.get(&place).copied().filter(|_| writes);
        self.is_incomplete |= writes && by.is_none();
        let (first, end) = (bytes.start >> cells.shift, bytes.end.div_ceil(1 << cells.shift));
        for cell in cells.cells.iter_mut().take(end).skip(first) {
            match cell.by {
                None => cell.incoming |= groups,
                Some(group) => {
                    cell.own |= groups;
                    self.followers[usize::from(group)] |= groups;
                }
            }
            if let Some(by) = by {
                (cell.own, cell.by) = (0, Some(by));
            }
        }
    }

    /// None where it is not known by whom something was stored.
    pub(crate) fn finish(self) -> Option<DispatchReads> {
        if self.is_incomplete {
            return None;
        }
        let buffers =
            self.buffers.into_iter().map(|(buffer, cells)| (buffer, cells.finish())).collect();
        Some(DispatchReads { buffers, followers: self.followers.to_vec() })
    }
}

impl Cells {
    fn finish(self) -> BufferReads {
        let mut found = BufferReads::default();
        for (index, cell) in self.cells.iter().enumerate() {
            let bytes = index << self.shift..((index + 1) << self.shift).min(self.bytes);
            if let Some(group) = cell.by {
                match found.left.last_mut() {
                    Some(last) if last.bytes.end == bytes.start && last.group == group => {
                        last.bytes.end = bytes.end
                    }
                    Some(_) | None => found.left.push(LeftBytes { bytes: bytes.clone(), group }),
                }
            }
            add(&mut found.incoming, cell.incoming, &bytes);
            add(&mut found.own, cell.own, &bytes);
        }
        found
    }
}

fn add(to: &mut Vec<ReadBytes>, groups: u32, bytes: &Range<usize>) {
    match to.last_mut() {
        _ if groups == 0 => {}
        Some(last) if last.bytes.end == bytes.start && last.groups == groups => {
            last.bytes.end = bytes.end
        }
        Some(_) | None => to.push(ReadBytes { bytes: bytes.clone(), groups }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions 1 and 2 read for groups 0 and 1; 2 and 7 store for them.
    fn told(notes: &[(Range<usize>, AccessKind, u32)]) -> (BufferReads, Vec<u32>) {
        let watched = WatchedReads {
            readers: HashMap::from([(1, 0b01), (2, 0b10)]),
            storers: HashMap::from([(7, 0), (2, 1)]),
            buffers: BTreeSet::from([3]),
        };
        let mut reads = Reads::of(&watched, |_| (10, 4)).expect("it is small");
        for (bytes, touch, place) in notes {
            reads.note(3, bytes.clone(), *touch, *place);
            reads.note(0, bytes.clone(), *touch, *place);
        }
        let mut found = reads.finish().expect("every store is in a group");
        (found.buffers.remove(&3).expect("it is watched"), found.followers[..2].to_vec())
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
            told(&[(0..4, Read, 1), (0..4, Write, 7), (4..8, Write, 7), (4..8, Read, 1)]);
        assert_eq!(
            found,
            BufferReads { left: left(0..8, 0), incoming: read(0..4, 1), own: read(4..8, 1) }
        );
        assert_eq!(followers, [1, 0]);
        let (again, followers) = told(&[(8..10, Write, 7), (8..10, Read, 2), (8..10, Write, 7)]);
        assert_eq!(again, BufferReads { left: left(8..10, 0), ..BufferReads::default() });
        assert_eq!(followers, [2, 0]);
        let (atomics, followers) =
            told(&[(0..4, AtomicWrite, 2), (0..4, AtomicWrite, 2), (0..4, AtomicRead, 1)]);
        assert_eq!(
            atomics,
            BufferReads { left: left(0..4, 1), incoming: read(0..4, 2), own: read(0..4, 1) }
        );
        assert_eq!(followers, [0, 0b11]);
    }
}
