//! Which invocations recorded a bit, dispatch by dispatch.
//!
//! Knows: the ranks of a dispatch's invocations: the linear index of the workgroup times its
//! invocations plus the local index.
//! Does not cover: what a bit stands for (`records`).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Some invocations of one dispatch, by rank.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ranks {
    /// Bit `rank % 64` of word `rank / 64`; the last word is not zero.
    words: Vec<u64>,
}

impl Ranks {
    /// No invocation.
    pub const NONE: &'static Ranks = &Ranks { words: Vec::new() };

    /// Adds an invocation.
    pub fn insert(&mut self, rank: u32) {
        let word_index = rank as usize / 64;
        if self.words.len() <= word_index {
            self.words.resize(word_index + 1, 0);
        }
        self.words[word_index] |= 1 << (rank % 64);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The lowest rank; none of the empty set.
    pub fn lowest(&self) -> Option<u32> {
        let word_index = self.words.iter().position(|word| *word != 0)?;
        Some(64 * word_index as u32 + self.words[word_index].trailing_zeros())
    }

    /// Those that are in one of the two alone.
    pub fn differing(&self, other: &Ranks) -> Ranks {
        let word_count = self.words.len().max(other.words.len());
        Self::trimmed(
            (0..word_count)
                .map(|word_index| self.word(word_index) ^ other.word(word_index))
                .collect(),
        )
    }

    /// Those that are in one of the two or both.
    pub fn united(&self, other: &Ranks) -> Ranks {
        let word_count = self.words.len().max(other.words.len());
        Self::trimmed(
            (0..word_count)
                .map(|word_index| self.word(word_index) | other.word(word_index))
                .collect(),
        )
    }

    /// Those that are in both.
    pub fn shared(&self, other: &Ranks) -> Ranks {
        Self::trimmed(
            self.words
                .iter()
                .zip(&other.words)
                .map(|(own_word, other_word)| own_word & other_word)
                .collect(),
        )
    }

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or_default()
    }

    fn trimmed(mut words: Vec<u64>) -> Self {
        words.truncate(
            words.iter().rposition(|word| *word != 0).map_or(0, |last_index| last_index + 1),
        );
        Self { words }
    }
}

/// Who recorded some bits in one dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DispatchInvocations {
    /// Invocations of a workgroup in x, y and z.
    pub local_size: [u32; 3],
    /// Of every bit that was asked for.
    pub by_bit: BTreeMap<u32, Ranks>,
    /// By number of a barrier: indices of the workgroups whose invocations all executed it
    /// together. Of engines that see it.
    pub barriers: BTreeMap<u32, Ranks>,
}

/// Who recorded some bits in a run, by the index of the dispatch; of dispatches whose module
/// records.
pub type InvocationRecords = BTreeMap<u32, DispatchInvocations>;

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(of: &[u32]) -> Ranks {
        let mut ranks = Ranks::default();
        of.iter().for_each(|rank| ranks.insert(*rank));
        ranks
    }

    #[test]
    fn sets_of_ranks_are_the_same_however_they_came_to_be() {
        let (one, two) = (ranks(&[3, 64, 500]), ranks(&[3, 500, 65]));
        assert_eq!(one.differing(&two), ranks(&[65, 64]));
        assert_eq!(one.shared(&two), ranks(&[3, 500]));
        assert_eq!(one.united(&two), ranks(&[3, 64, 65, 500]));
        assert_eq!(one.shared(&ranks(&[4])), Ranks::default());
        assert!(one.differing(&one).is_empty());
        assert_eq!(
            (one.count(), one.lowest(), two.differing(&one).lowest()),
            (3, Some(3), Some(64))
        );
        assert_eq!((Ranks::NONE.count(), Ranks::NONE.lowest()), (0, None));
    }
}
