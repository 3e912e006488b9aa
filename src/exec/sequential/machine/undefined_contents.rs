//! What registers and memory hold that nobody wrote.
//!
//! Promises: the documented value without a variation of undefined values. With one by chance no
//! two words need be the same, as nothing makes them so; of the same place of the same job they
//! are.
//! Does not cover: who is told of their use (`undefined_origins`).

use crate::memory::store::{Store, UNDEFINED_WORD};
use crate::settings::variation::{Arbitrary, Variation};
use vkcert_model::random::mix_bits;

/// The owner of words that nobody wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordOwner {
    /// A buffer or image of the test, by its number.
    Test,
    /// A dispatch, by its number.
    PushConstants,
    /// A workgroup, by its index.
    Workgroup,
    /// The memory of a workgroup's invocations, by the index of the workgroup.
    Invocations,
    /// Their registers of words, and of Booleans.
    Words,
    Masks,
    /// An execution of an instruction.
    Execution,
}

/// Unwritten words of one owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnwrittenWords {
    chosen_values: Arbitrary,
    salt: u64,
}

impl UnwrittenWords {
    pub(crate) fn for_owner(
        variation: Option<Variation>,
        word_owner: WordOwner,
        owner_number: u64,
    ) -> Self {
        let chosen_values =
            variation.map_or(Arbitrary::Documented, |variation| variation.undefined);
        let seed = match chosen_values {
            Arbitrary::Chosen { seed } | Arbitrary::Sized { seed } => seed,
            Arbitrary::Documented | Arbitrary::Always { .. } | Arbitrary::Operand { .. } => 0,
        };
        Self {
            chosen_values,
            salt: mix_bits(mix_bits(u64::from(seed) << 8 | word_owner as u64) ^ owner_number),
        }
    }

    /// Whether every word has another value than the documented one, or may have.
    fn is_varied(self) -> bool {
        !matches!(self.chosen_values, Arbitrary::Documented | Arbitrary::Operand { .. })
    }

    /// The word at a place.
    pub(crate) fn word_at(self, word_place: u64) -> u32 {
        match self.chosen_values {
            Arbitrary::Documented | Arbitrary::Operand { .. } => UNDEFINED_WORD,
            Arbitrary::Always { word } => word,
            seeded_values @ (Arbitrary::Chosen { .. } | Arbitrary::Sized { .. }) => {
                seeded_values.by_chance(self.salt ^ mix_bits(word_place)).unwrap_or(UNDEFINED_WORD)
            }
        }
    }

    /// The word of an invocation of the workgroup at a place of its registers or memory.
    pub(crate) fn word_of_invocation(self, word_place: u32, local_index: u32) -> u32 {
        self.word_at(u64::from(word_place) << 32 | u64::from(local_index))
    }

    /// Fills the words of invocations from `first_lane` on at one place.
    pub(crate) fn fill_lanes(self, lane_words: &mut [u32], word_place: u32, first_lane: u32) {
        if !self.is_varied() {
            return lane_words.fill(UNDEFINED_WORD);
        }
        for (lane, word) in lane_words.iter_mut().enumerate() {
            *word = self.word_of_invocation(word_place, first_lane + lane as u32);
        }
    }

    /// Fills the memory of invocations from `first_lane` on, `tile_width` of them word by word.
    pub(crate) fn fill_memory(self, memory: &mut [u32], tile_width: usize, first_lane: u32) {
        if !self.is_varied() {
            return memory.fill(UNDEFINED_WORD);
        }
        for (word_place, words) in memory.chunks_mut(tile_width).enumerate() {
            self.fill_lanes(words, word_place as u32, first_lane);
        }
    }

    /// The Boolean of an invocation; false as documented.
    fn bit_of_invocation(self, word_place: u32, local_index: u32) -> bool {
        self.is_varied() && self.word_of_invocation(word_place, local_index) & 1 == 1
    }

    /// Fills Booleans of invocations from `first_lane` on, 64 in a word.
    pub(crate) fn fill_masks(self, masks: &mut [u64], word_place: u32, first_lane: u32) {
        masks.fill(0);
        if !self.is_varied() {
            return;
        }
        for lane in 0..masks.len() * 64 {
            masks[lane / 64] |=
                u64::from(self.bit_of_invocation(word_place, first_lane + lane as u32))
                    << (lane % 64);
        }
    }

    /// Gives other values to the bytes of a store that nobody wrote, where the run asks for them.
    pub(crate) fn fill_store(self, store: &mut Store) {
        if !self.is_varied() {
            return;
        }
        for word_index in 0..store.words.len() {
            let undefined_bytes = store.undefined_bytes(word_index);
            if undefined_bytes != 0 {
                let varied_word = self.word_at(word_index as u64);
                store.words[word_index] =
                    store.words[word_index] & !undefined_bytes | varied_word & undefined_bytes;
            }
        }
    }
}
