//! What a dispatch reads of what was there before it, and of what it stored itself, byte by byte.
//!
//! Knows: which instructions read on the way to which rows of what the kernel stores (`spirv::flow`); the machine tells each
//! access of a lane, in the order in which they happen.
//! Promises: a byte that the dispatch stored counts as read only where it is read after the last store to it. Atomics read before
//! they store.
//! Does not cover: accesses in other schedules; workgroup memory.

use super::machine::Machine;
use super::ops::element::Touch;
use super::program::Root;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Rows of a dispatch that can be told apart.
pub const MOST_ROWS: usize = 31;

/// Bytes of memory that cells may take.
const MOST_BYTES: usize = 1 << 30;

/// The bit of a cell that was stored to.
const STORED: u32 = 1 << MOST_ROWS;

/// What is asked of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchedReads {
    /// By index of the instruction: one bit per row that what it reads can come to.
    pub rows: HashMap<u32, u32>,
    /// The buffers of the job whose bytes are watched.
    pub buffers: BTreeSet<usize>,
}

/// Bytes that were read, with the rows that this was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadBytes {
    pub bytes: Range<usize>,
    /// One bit per row.
    pub rows: u32,
}

/// What a dispatch did to one buffer; ranges ascending and disjoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferReads {
    pub stored: Vec<Range<usize>>,
    /// What it read that it had not stored before.
    pub incoming: Vec<ReadBytes>,
    /// What it read after its last store to it.
    pub own: Vec<ReadBytes>,
}

impl BufferReads {
    pub fn ranges(&self) -> usize {
        self.stored.len() + self.incoming.len() + self.own.len()
    }
}

/// By buffer of the job.
pub type DispatchReads = BTreeMap<usize, BufferReads>;

/// What was done to some neighbouring bytes that are always accessed together.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// Rows that what stood there before was read for.
    incoming: u32,
    /// Rows that what stands there was read for since it was stored; whether it was.
    own: u32,
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
pub struct Reads {
    rows: HashMap<u32, u32>,
    buffers: BTreeMap<usize, Cells>,
}

impl Reads {
    /// None where that takes too much memory. `shape` gives the bytes of a buffer, and those of the least that is accessed there.
    pub fn of(watched: &WatchedReads, shape: impl Fn(usize) -> (usize, u32)) -> Option<Self> {
        let mut room = MOST_BYTES;
        let mut buffers = BTreeMap::new();
        for buffer in &watched.buffers {
            let (bytes, granule) = shape(*buffer);
            let shift = granule.clamp(1, 4).trailing_zeros();
            let count = bytes.div_ceil(1 << shift);
            room = room.checked_sub(count * size_of::<Cell>())?;
            buffers.insert(*buffer, Cells { shift, cells: vec![Cell::default(); count], bytes });
        }
        Some(Self { rows: watched.rows.clone(), buffers })
    }

    fn note(&mut self, buffer: usize, bytes: Range<usize>, touch: Touch, place: u32) {
        let Some(cells) = self.buffers.get_mut(&buffer) else { return };
        let rows = self.rows.get(&place).copied().unwrap_or_default();
        let (first, end) = (bytes.start >> cells.shift, bytes.end.div_ceil(1 << cells.shift));
        for cell in cells.cells.iter_mut().take(end).skip(first) {
            match touch {
                Touch::Read | Touch::AtomicRead => cell.read(rows),
                Touch::Write => cell.own = STORED,
                Touch::AtomicWrite => {
                    cell.read(rows);
                    cell.own = STORED;
                }
            }
        }
    }

    pub fn finish(self) -> DispatchReads {
        self.buffers.into_iter().map(|(buffer, cells)| (buffer, cells.finish())).collect()
    }
}

impl Cell {
    fn read(&mut self, rows: u32) {
        if self.own & STORED == 0 {
            self.incoming |= rows;
        } else {
            self.own |= rows;
        }
    }
}

impl Cells {
    fn finish(self) -> BufferReads {
        let mut found = BufferReads::default();
        for (index, cell) in self.cells.iter().enumerate() {
            let bytes = index << self.shift..((index + 1) << self.shift).min(self.bytes);
            if cell.own & STORED != 0 {
                match found.stored.last_mut() {
                    Some(last) if last.end == bytes.start => last.end = bytes.end,
                    Some(_) | None => found.stored.push(bytes.clone()),
                }
            }
            add(&mut found.incoming, cell.incoming, &bytes);
            add(&mut found.own, cell.own & !STORED, &bytes);
        }
        found
    }
}

fn add(to: &mut Vec<ReadBytes>, rows: u32, bytes: &Range<usize>) {
    match to.last_mut() {
        _ if rows == 0 => {}
        Some(last) if last.bytes.end == bytes.start && last.rows == rows => last.bytes.end = bytes.end,
        Some(_) | None => to.push(ReadBytes { bytes: bytes.clone(), rows }),
    }
}

impl Machine<'_> {
    /// Notes an access to some bytes of a store, where reads are watched.
    pub(super) fn note_read(&mut self, root: Root, bytes: Range<usize>, touch: Touch, place: u32) {
        let Some(reads) = &mut self.reads else { return };
        let buffer = match root {
            Root::Descriptor(index) => self.slots[index as usize].map(|slot| slot.buffer),
            Root::Buffer(index) => Some(index as usize),
            Root::Workgroup
            | Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. } => None,
        };
        if let Some(buffer) = buffer {
            reads.note(buffer, bytes, touch, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(notes: &[(Range<usize>, Touch, u32)]) -> BufferReads {
        let watched = WatchedReads { rows: HashMap::from([(1, 0b01), (2, 0b10)]), buffers: BTreeSet::from([3]) };
        let mut reads = Reads::of(&watched, |_| (10, 4)).expect("it is small");
        for (bytes, touch, place) in notes {
            reads.note(3, bytes.clone(), *touch, *place);
            reads.note(0, bytes.clone(), *touch, *place);
        }
        reads.finish().remove(&3).expect("it is watched")
    }

    #[test]
    fn what_is_read_before_the_last_store_is_not_its_own() {
        let found =
            told(&[(0..4, Touch::Read, 1), (0..4, Touch::Write, 7), (4..8, Touch::Write, 7), (4..8, Touch::Read, 1)]);
        assert_eq!(found.stored, std::slice::from_ref(&(0..8)));
        assert_eq!(found.incoming, [ReadBytes { bytes: 0..4, rows: 1 }]);
        assert_eq!(found.own, [ReadBytes { bytes: 4..8, rows: 1 }]);
        let again = told(&[(8..10, Touch::Write, 7), (8..10, Touch::Read, 2), (8..10, Touch::Write, 7)]);
        assert_eq!(again.stored, std::slice::from_ref(&(8..10)));
        assert_eq!((again.incoming, again.own), (Vec::new(), Vec::new()));
        let atomics =
            told(&[(0..4, Touch::AtomicWrite, 2), (0..4, Touch::AtomicWrite, 1), (0..4, Touch::AtomicRead, 1)]);
        let read = |rows| vec![ReadBytes { bytes: 0..4, rows }];
        assert_eq!((atomics.incoming, atomics.own), (read(2), read(1)));
    }
}
