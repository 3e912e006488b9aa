//! Where two contents of one buffer differ.
//!
//! Knows: bytes.
//! Promises: every byte that differs is named; contents of which one begins the other differ where
//! the shorter ends.
//! Does not cover: what the bytes stand for ([`difference`](super::difference)), and whether they
//! may differ.

/// Two contents of one buffer that are not the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentsDifference<'c> {
    /// Index of the buffer in its job.
    pub buffer: usize,
    /// The one, as bytes.
    pub left: &'c [u8],
    /// The other, as bytes; its length may be another.
    pub right: &'c [u8],
}

impl<'c> ContentsDifference<'c> {
    /// None where the contents are the same.
    pub fn between(buffer: usize, left: &'c [u8], right: &'c [u8]) -> Option<Self> {
        (left != right).then_some(Self { buffer, left, right })
    }

    /// Offsets in bytes of what differs, ascending, as far as both contents reach.
    pub fn offsets(self) -> impl Iterator<Item = usize> + 'c {
        let pairs = self.left.iter().zip(self.right).enumerate();
        pairs.filter(|(_, (left, right))| left != right).map(|(offset, _)| offset)
    }

    /// Offset in bytes of the first difference: the length of the shorter where it begins the
    /// longer.
    pub fn first_offset(self) -> usize {
        self.offsets().next().unwrap_or(self.left.len().min(self.right.len()))
    }

    /// Whether one of the contents is longer.
    pub fn lengths_differ(self) -> bool {
        self.left.len() != self.right.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_that_begin_others_differ_where_they_end() {
        let difference = ContentsDifference::between(1, &[1, 2], &[1, 2, 3]).expect("they differ");
        assert!(difference.lengths_differ());
        assert_eq!((difference.first_offset(), difference.offsets().count()), (2, 0));
        assert_eq!(ContentsDifference::between(1, &[1, 2], &[1, 2]), None);
    }

    #[test]
    fn every_offset_that_differs_is_named() {
        let difference = ContentsDifference::between(0, &[0, 1, 2, 3], &[9, 1, 9, 3, 4]);
        let offsets = difference.map(|difference| difference.offsets().collect::<Vec<_>>());
        assert_eq!(offsets, Some(vec![0, 2]));
    }
}
