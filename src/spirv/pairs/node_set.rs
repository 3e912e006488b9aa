//! A set of small numbers, one bit each.

/// A set of numbers below a bound.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// The empty set of numbers below `bound`.
    pub(super) fn of(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)] }
    }

    /// The numbers below `bound`.
    pub(super) fn all_below(bound: usize) -> Self {
        let mut all = Self::of(bound);
        for number in 0..bound {
            all.insert(number);
        }
        all
    }

    /// The numbers in it, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|number| self.contains(*number))
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds a number; whether it is new.
    pub(super) fn insert(&mut self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        let is_new = self.words[number / 64] & bit == 0;
        self.words[number / 64] |= bit;
        is_new
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.words[number / 64] >> (number % 64) & 1 == 1
    }

    /// Adds all numbers of another set with the same bound.
    pub(super) fn unite(&mut self, other: &NodeSet) {
        for (own_word, other_word) in self.words.iter_mut().zip(&other.words) {
            *own_word |= other_word;
        }
    }
}
