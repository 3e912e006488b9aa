//! The words of a store: its own, or read from another store until they are first written.
//!
//! Promises: whoever writes has words of its own; the one who lent them sees nothing of it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Words, or the bits beside them.
#[derive(Debug)]
pub(crate) enum Contents<T> {
    Own(Vec<T>),
    Lent(Arc<Vec<T>>),
}

impl<T> Default for Contents<T> {
    fn default() -> Self {
        Contents::Own(Vec::new())
    }
}

impl<T> From<Vec<T>> for Contents<T> {
    fn from(own: Vec<T>) -> Self {
        Contents::Own(own)
    }
}

impl<T> Deref for Contents<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Contents::Own(own) => own,
            Contents::Lent(lent) => lent,
        }
    }
}

impl<T: Clone> DerefMut for Contents<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.own()
    }
}

impl<T: Clone> Contents<T> {
    /// Others read what is there now.
    pub(crate) fn lend(&mut self) -> Arc<Vec<T>> {
        let lent = match std::mem::take(self) {
            Contents::Own(own) => Arc::new(own),
            Contents::Lent(lent) => lent,
        };
        *self = Contents::Lent(lent.clone());
        lent
    }

    /// The words, to be changed.
    #[inline]
    pub(crate) fn own(&mut self) -> &mut Vec<T> {
        if let Contents::Lent(_) = self {
            self.take_back();
        }
        match self {
            Contents::Own(own) => own,
            Contents::Lent(_) => unreachable!("taken back"),
        }
    }

    /// Copies what others still read.
    #[cold]
    fn take_back(&mut self) {
        if let Contents::Lent(lent) = std::mem::take(self) {
            *self = Contents::Own(Arc::try_unwrap(lent).unwrap_or_else(|lent| lent.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_seen_by_the_writer_alone() {
        let mut first = Contents::from(vec![1, 2, 3]);
        let mut second = Contents::Lent(first.lend());
        second[1] = 7;
        assert_eq!((&*first, &*second), (&[1, 2, 3][..], &[1, 7, 3][..]));
        first[0] = 5;
        assert_eq!((&*first, &*second), (&[5, 2, 3][..], &[1, 7, 3][..]));
    }
}
