//! Definitions: for each cell of a store the access that wrote it last.
//!
//! Knows: a cell is a word, or one byte or two where a kernel accesses numbers of that size. A
//! definition is one word: time, whether it was atomic, source index, invocation.
//! Promises: a store that nobody has written takes no memory. Cells can become finer and keep what
//! they hold.
//! Does not cover: what a time means (`pair_tracking`).

use super::copy_on_write::CopyOnWrite;
use std::ops::Range;
use vkcert_model::index_range::IndexRange;

/// Who wrote a cell last; zero where nobody did, since times start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Definition(u64);

const INVOCATION_BITS: u32 = 12;
const SOURCE_INDEX_BITS: u32 = 20;
const TIME_SHIFT: u32 = INVOCATION_BITS + SOURCE_INDEX_BITS + 1;

/// Times behind this one have no room in a definition.
pub(crate) const LATEST_TIME: u32 = u32::MAX >> 1;

/// Instructions from this index on have no room in a definition.
pub(crate) const SOURCE_INDEX_END: usize = 1 << SOURCE_INDEX_BITS;

/// Whether a write is one step for all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Atomicity {
    Plain,
    Atomic,
}

impl Definition {
    /// `invocation` is a local index.
    #[inline]
    pub(crate) fn new(time: u32, atomicity: Atomicity, source_index: u32, invocation: u32) -> Self {
        let atomic_bit = u64::from(atomicity == Atomicity::Atomic);
        Self(
            u64::from(time) << TIME_SHIFT
                | atomic_bit << (TIME_SHIFT - 1)
                | u64::from(source_index) << INVOCATION_BITS
                | u64::from(invocation),
        )
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn time(self) -> u32 {
        (self.0 >> TIME_SHIFT) as u32
    }

    pub(crate) fn atomicity(self) -> Atomicity {
        if self.0 >> (TIME_SHIFT - 1) & 1 == 1 { Atomicity::Atomic } else { Atomicity::Plain }
    }

    pub(crate) fn source_index(self) -> u32 {
        (self.0 >> INVOCATION_BITS) as u32 & ((1 << SOURCE_INDEX_BITS) - 1)
    }

    /// Local index of the invocation.
    #[inline]
    pub(crate) fn invocation(self) -> u32 {
        self.0 as u32 & ((1 << INVOCATION_BITS) - 1)
    }

    /// All but the invocation.
    #[inline]
    pub(crate) fn without_invocation(self) -> u64 {
        self.0 >> INVOCATION_BITS
    }
}

/// Who wrote what a store holds before any kernel writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstWriter {
    Host,
    /// Workgroup memory starts undefined, or with the initial value of a variable.
    Nobody,
}

/// The definitions of a store.
#[derive(Debug)]
pub(crate) struct Definitions {
    /// Empty until somebody writes.
    cells: Vec<Definition>,
    /// Cells of a word, as a power of two.
    cell_shift: u32,
    pub(crate) first_writer: FirstWriter,
}

impl Definitions {
    /// For cells of `granule` bytes: 1, 2 or 4.
    pub(crate) fn new(first_writer: FirstWriter, granule: u32) -> Self {
        Self { cells: Vec::new(), cell_shift: shift_of_granule(granule), first_writer }
    }

    pub(crate) fn is_unwritten(&self) -> bool {
        self.cells.is_empty()
    }

    /// Makes cells at most `granule` bytes large; gives the bytes of memory that this adds.
    pub(crate) fn refine(&mut self, granule: u32) -> usize {
        let finer = shift_of_granule(granule).saturating_sub(self.cell_shift);
        self.cell_shift += finer;
        if finer == 0 || self.cells.is_empty() {
            return 0;
        }
        let cells_before = self.cells.len();
        self.cells = std::mem::take(&mut self.cells)
            .into_iter()
            .flat_map(|definition| std::iter::repeat_n(definition, 1 << finer))
            .collect();
        (self.cells.len() - cells_before) * size_of::<Definition>()
    }

    /// Bytes that the cells of so many words take.
    pub(crate) fn bytes_of_cells(&self, word_count: usize) -> usize {
        (word_count << self.cell_shift) * size_of::<Definition>()
    }

    /// Makes the cells of so many words, which nobody has written.
    pub(crate) fn make_cells(&mut self, word_count: usize) {
        self.cells = vec![Definition::default(); word_count << self.cell_shift];
    }

    /// Forgets all definitions.
    pub(crate) fn clear(&mut self) {
        self.cells.fill(Definition::default());
    }

    fn cell_range(&self, bytes: IndexRange) -> Range<usize> {
        let shift = 2 - self.cell_shift;
        let cell_end = bytes.end.div_ceil(1 << shift).min(self.cells.len());
        (bytes.start >> shift).min(cell_end)..cell_end
    }

    /// The definitions of some bytes; none while the store is unwritten.
    #[inline]
    pub(crate) fn of_bytes(&self, bytes: IndexRange) -> &[Definition] {
        &self.cells[self.cell_range(bytes)]
    }

    /// All cells that some bytes lie in have been written.
    #[inline]
    pub(crate) fn define(&mut self, bytes: IndexRange, definition: Definition) {
        let cell_range = self.cell_range(bytes);
        self.cells[cell_range].fill(definition);
    }

    /// Those of some bytes that lie in the cell at a place among theirs.
    pub(crate) fn bytes_in_cell(&self, bytes: IndexRange, position: usize) -> IndexRange {
        let shift = 2 - self.cell_shift;
        let first_byte = ((bytes.start >> shift) + position) << shift;
        IndexRange {
            start: first_byte.max(bytes.start),
            end: (first_byte + (1 << shift)).min(bytes.end),
        }
    }
}

fn shift_of_granule(granule: u32) -> u32 {
    2 - granule.trailing_zeros().min(2)
}

/// Whether a byte is undefined, by the bits of a store.
pub(crate) fn has_undefined_byte(undefined: Option<&CopyOnWrite<u64>>, bytes: IndexRange) -> bool {
    undefined
        .is_some_and(|bits| bytes.into_iter().any(|byte| bits[byte / 64] >> (byte % 64) & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_keeps_the_largest_of_everything() {
        let largest = (LATEST_TIME, SOURCE_INDEX_END as u32 - 1, (1 << INVOCATION_BITS) - 1);
        for (time, source_index, invocation) in [largest, (1, 0, 0), (7, 9, 11)] {
            for atomicity in [Atomicity::Plain, Atomicity::Atomic] {
                let definition = Definition::new(time, atomicity, source_index, invocation);
                assert_eq!(
                    (definition.time(), definition.source_index(), definition.invocation()),
                    (time, source_index, invocation)
                );
                assert_eq!(definition.atomicity(), atomicity);
                assert!(!definition.is_none());
            }
        }
    }

    #[test]
    fn finer_cells_keep_their_definitions() {
        let mut definitions = Definitions::new(FirstWriter::Host, 4);
        definitions.make_cells(2);
        let writer = Definition::new(1, Atomicity::Plain, 5, 0);
        definitions.define((4..8).into(), writer);
        assert_eq!(definitions.refine(2), 2 * size_of::<Definition>());
        let other_writer = Definition::new(2, Atomicity::Plain, 6, 0);
        definitions.define((4..6).into(), other_writer);
        assert_eq!(definitions.of_bytes((0..8).into())[2..], [other_writer, writer]);
        assert_eq!(definitions.bytes_in_cell((5..8).into(), 0), (5..6).into());
        assert_eq!(definitions.bytes_in_cell((5..8).into(), 1), (6..8).into());
    }
}
