//! The words of a store: its own, or read from another store until they are first written.
//!
//! Promises: a writer copies lent words before its first write, so that the lender's stay as they
//! are.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Words of a store, or the bits that tell which of their bytes are undefined.
#[derive(Debug)]
pub(crate) enum CopyOnWrite<T> {
    Own(Vec<T>),
    Lent(Arc<Vec<T>>),
}

impl<T> Default for CopyOnWrite<T> {
    fn default() -> Self {
        CopyOnWrite::Own(Vec::new())
    }
}

impl<T> From<Vec<T>> for CopyOnWrite<T> {
    fn from(own: Vec<T>) -> Self {
        CopyOnWrite::Own(own)
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            CopyOnWrite::Own(own) => own,
            CopyOnWrite::Lent(lent) => lent,
        }
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.own_mut()
    }
}

impl<T: Clone> CopyOnWrite<T> {
    /// Shares the contents as they are now with a reader.
    pub(crate) fn lend(&mut self) -> Arc<Vec<T>> {
        let lent = match std::mem::take(self) {
            CopyOnWrite::Own(own) => Arc::new(own),
            CopyOnWrite::Lent(lent) => lent,
        };
        *self = CopyOnWrite::Lent(Arc::clone(&lent));
        lent
    }

    /// The contents for writing, copied first where they are lent.
    #[inline]
    pub(crate) fn own_mut(&mut self) -> &mut Vec<T> {
        if let CopyOnWrite::Lent(_) = self {
            self.take_back();
        }
        match self {
            CopyOnWrite::Own(own) => own,
            CopyOnWrite::Lent(_) => unreachable!("taken back"),
        }
    }

    /// Copies the contents if a reader still shares them.
    #[cold]
    fn take_back(&mut self) {
        if let CopyOnWrite::Lent(lent) = std::mem::take(self) {
            *self = CopyOnWrite::Own(Arc::try_unwrap(lent).unwrap_or_else(|lent| lent.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_seen_by_the_writer_alone() {
        let mut first = CopyOnWrite::from(vec![1, 2, 3]);
        let mut second = CopyOnWrite::Lent(first.lend());
        second[1] = 7;
        assert_eq!((&*first, &*second), (&[1, 2, 3][..], &[1, 7, 3][..]));
        first[0] = 5;
        assert_eq!((&*first, &*second), (&[5, 2, 3][..], &[1, 7, 3][..]));
    }
}
