//! What registers and memory hold that nobody wrote.
//!
//! Promises: the documented value without a variation of undefined values. With one by chance no
//! two words need be the same, as nothing makes them so; of the same place of the same job they
//! are.
//! Does not cover: who is told of their use (`undefined_origins`).

use crate::memory::store::{Store, UNDEFINED_WORD};
use crate::settings::variation::{Arbitrary, Variation};
use vkcert_model::random::mix_bits;

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
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
pub(crate) struct Unwritten {
    chosen: Arbitrary,
    salt: u64,
}

impl Unwritten {
    pub(crate) fn of(variation: Option<Variation>, whose: Whose, number: u64) -> Self {
        let chosen = variation.map_or(Arbitrary::Documented, |variation| variation.undefined);
        let seed = match chosen {
            Arbitrary::Chosen { seed } | Arbitrary::Sized { seed } => seed,
            Arbitrary::Documented | Arbitrary::Always { .. } | Arbitrary::Operand { .. } => 0,
        };
        Self { chosen, salt: mix_bits(mix_bits(u64::from(seed) << 8 | whose as u64) ^ number) }
    }

    /// Whether every word has another value than the documented one, or may have.
    fn is_other(self) -> bool {
        !matches!(self.chosen, Arbitrary::Documented | Arbitrary::Operand { .. })
    }

    /// The word at a place.
    pub(crate) fn word(self, at: u64) -> u32 {
        match self.chosen {
            Arbitrary::Documented | Arbitrary::Operand { .. } => UNDEFINED_WORD,
            Arbitrary::Always { word } => word,
            chosen @ (Arbitrary::Chosen { .. } | Arbitrary::Sized { .. }) => {
                chosen.by_chance(self.salt ^ mix_bits(at)).unwrap_or(UNDEFINED_WORD)
            }
        }
    }

    /// The word of an invocation of the workgroup at a place of its registers or memory.
    pub(crate) fn of_invocation(self, at: u32, local: u32) -> u32 {
        self.word(u64::from(at) << 32 | u64::from(local))
    }

    /// The words of invocations from `first` on at a place.
    pub(crate) fn fill_lanes(self, words: &mut [u32], at: u32, first: u32) {
        if !self.is_other() {
            return words.fill(UNDEFINED_WORD);
        }
        for (lane, word) in words.iter_mut().enumerate() {
            *word = self.of_invocation(at, first + lane as u32);
        }
    }

    /// The memory of invocations from `first` on, `width` of them word by word.
    pub(crate) fn fill_memory(self, memory: &mut [u32], width: usize, first: u32) {
        if !self.is_other() {
            return memory.fill(UNDEFINED_WORD);
        }
        for (at, words) in memory.chunks_mut(width).enumerate() {
            self.fill_lanes(words, at as u32, first);
        }
    }

    /// The Boolean of an invocation; false as documented.
    fn bit_of_invocation(self, at: u32, local: u32) -> bool {
        self.is_other() && self.of_invocation(at, local) & 1 == 1
    }

    /// Booleans of invocations from `first` on, 64 in a word.
    pub(crate) fn fill_masks(self, masks: &mut [u64], at: u32, first: u32) {
        masks.fill(0);
        if !self.is_other() {
            return;
        }
        for lane in 0..masks.len() * 64 {
            masks[lane / 64] |=
                u64::from(self.bit_of_invocation(at, first + lane as u32)) << (lane % 64);
        }
    }

    /// Gives other values to the bytes of a store that nobody wrote, where the run asks for them.
    pub(crate) fn fill(self, store: &mut Store) {
        if !self.is_other() {
            return;
        }
        for word in 0..store.words.len() {
            let bytes = store.undefined_bytes(word);
            if bytes != 0 {
                let other = self.word(word as u64);
                store.words[word] = store.words[word] & !bytes | other & bytes;
            }
        }
    }
}
