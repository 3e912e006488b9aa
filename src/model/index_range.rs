//! A range of indexes that is copied like a number.
//!
//! Knows: `std::ops::Range` is an iterator and therefore not `Copy`, so that whatever keeps one
//! must clone it for each use.

use std::ops::Range;

/// From `start` up to, but not including, `end`: of bytes of a text, instructions of a module, rows
/// of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IndexRange {
    /// First index.
    pub start: usize,
    /// Index behind the last one.
    pub end: usize,
}

impl IndexRange {
    /// As the standard library slices with it.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// How many indexes there are.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Whether it has no index; also where `end` lies before `start`.
    pub fn is_empty(self) -> bool {
        self.range().is_empty()
    }

    /// Whether the index is one of them.
    pub fn contains(self, index: usize) -> bool {
        self.range().contains(&index)
    }
}

impl From<Range<usize>> for IndexRange {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, end: range.end }
    }
}

impl From<IndexRange> for Range<usize> {
    fn from(range: IndexRange) -> Self {
        range.range()
    }
}

impl IntoIterator for IndexRange {
    type Item = usize;
    type IntoIter = Range<usize>;

    fn into_iter(self) -> Range<usize> {
        self.range()
    }
}
