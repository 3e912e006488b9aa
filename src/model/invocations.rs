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

/// How many of the ranks below `invocation_count` are in exactly which of some sets: by the indices
/// of the sets, ascending.
pub fn count_by_sets(sets: &[&Ranks], invocation_count: u64) -> BTreeMap<Vec<u32>, u64> {
    let mut counts: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for word_index in 0..invocation_count.div_ceil(64) {
        let lane_count = (invocation_count - 64 * word_index).min(64);
        let words: Vec<u64> = sets.iter().map(|set| set.word(word_index as usize)).collect();
        for lane in 0..lane_count {
            let members = (0u32..).zip(&words).filter(|(_, word)| **word >> lane & 1 == 1);
            let members: Vec<u32> = members.map(|(set_index, _)| set_index).collect();
            *counts.entry(members).or_default() += 1;
        }
    }
    counts
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
        let counts = count_by_sets(&[&one, &two, Ranks::NONE], 502);
        let (both, first, second, none) = (vec![0, 1], vec![0], vec![1], Vec::new());
        assert_eq!(
            counts.into_iter().collect::<Vec<_>>(),
            [(none, 498), (first, 1), (both, 2), (second, 1)]
        );
        assert_eq!((Ranks::NONE.count(), Ranks::NONE.lowest()), (0, None));
    }
}
