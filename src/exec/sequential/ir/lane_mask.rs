//! Activity masks: one bit per lane of a tile, 64 lanes to a word.

/// Most lanes of a tile.
pub(crate) const MOST_LANES: usize = 1024;

/// Words of a mask.
pub(crate) const MASK_WORDS: usize = MOST_LANES / 64;

/// One bit per lane; bits behind the last lane of the tile are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneMask(pub [u64; MASK_WORDS]);

impl LaneMask {
    pub(crate) const EMPTY: LaneMask = LaneMask([0; MASK_WORDS]);

    /// The first `lanes` lanes.
    pub(crate) fn first_lanes(lanes: usize) -> Self {
        let mut mask = Self::EMPTY;
        for (word_index, word) in mask.0.iter_mut().enumerate() {
            *word = match lanes.saturating_sub(64 * word_index) {
                0 => 0,
                lanes_left if lanes_left >= 64 => u64::MAX,
                lanes_left => (1 << lanes_left) - 1,
            };
        }
        mask
    }

    pub(crate) fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn count_lanes(&self, word_count: usize) -> u32 {
        self.0[..word_count].iter().map(|word| word.count_ones()).sum()
    }

    /// The lanes, ascending.
    #[inline]
    pub(crate) fn lanes(&self) -> Lanes {
        Lanes { words: self.0, word_index: 0, remaining_bits: self.0[0] }
    }

    pub(crate) fn merge(&mut self, other_mask: &LaneMask) {
        for (own_word, other_word) in self.0.iter_mut().zip(&other_mask.0) {
            *own_word |= other_word;
        }
    }
}

/// The lanes of a mask, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    words: [u64; MASK_WORDS],
    word_index: usize,
    /// Those bits of the word that have not been given.
    remaining_bits: u64,
}

impl Iterator for Lanes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.remaining_bits == 0 {
            self.remaining_bits = *self.words.get(self.word_index + 1)?;
            self.word_index += 1;
        }
        let bit = self.remaining_bits.trailing_zeros() as usize;
        self.remaining_bits &= self.remaining_bits - 1;
        Some(64 * self.word_index + bit)
    }

    // Word by word, because `next` asks for the next word at every lane.
    #[inline]
    fn fold<B, F: FnMut(B, usize) -> B>(self, initial: B, mut combine: F) -> B {
        let mut combined = initial;
        let mut word_bits = self.remaining_bits;
        for word_index in self.word_index..MASK_WORDS {
            if word_index > self.word_index {
                word_bits = self.words[word_index];
            }
            while word_bits != 0 {
                combined = combine(combined, 64 * word_index + word_bits.trailing_zeros() as usize);
                word_bits &= word_bits - 1;
            }
        }
        combined
    }
}

/// The set bits of a word, ascending.
pub(crate) fn set_bits(word: u64) -> impl Iterator<Item = usize> {
    let mut remaining_bits = word;
    std::iter::from_fn(move || {
        if remaining_bits == 0 {
            return None;
        }
        let bit = remaining_bits.trailing_zeros() as usize;
        remaining_bits &= remaining_bits - 1;
        Some(bit)
    })
}

/// For each byte, eight words that are all ones where its bit is set.
const SPREAD: [[u32; 8]; 256] = spread_table();

const fn spread_table() -> [[u32; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte_value = 0;
    while byte_value < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte_value >> bit & 1 == 1 {
                table[byte_value][bit] = u32::MAX;
            }
            bit += 1;
        }
        byte_value += 1;
    }
    table
}

/// Writes all ones for each set bit, zero for the others.
pub(crate) fn spread_bits(lane_words: &mut [u32], mask: &[u64]) {
    for (lanes_of_word, mask_word) in lane_words.chunks_mut(64).zip(mask) {
        for (lanes_of_byte, mask_byte) in lanes_of_word.chunks_mut(8).zip(mask_word.to_le_bytes()) {
            let spread_byte = &SPREAD[mask_byte as usize];
            if let Ok(eight_lanes) = <&mut [u32; 8]>::try_from(&mut *lanes_of_byte) {
                *eight_lanes = *spread_byte;
            } else {
                let lane_count = lanes_of_byte.len();
                lanes_of_byte.copy_from_slice(&spread_byte[..lane_count]);
            }
        }
    }
}

/// `to = from` where `lanes` is all ones.
pub(crate) fn blend_lanes(to: &mut [u32], from: &[u32], lanes: &[u32]) {
    for ((to_word, from_word), lane) in to.iter_mut().zip(from).zip(lanes) {
        *to_word = (*from_word & lane) | (*to_word & !lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_are_the_set_bits_from_whichever_lane_on(
            words in prop::array::uniform16(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]),
            skipped_lanes in 0..MOST_LANES,
        ) {
            let is_set = |lane: &usize| words[lane / 64] >> (lane % 64) & 1 == 1;
            let expected: Vec<usize> =
                (0..MOST_LANES).filter(is_set).skip(skipped_lanes).collect();
            let mut one_by_one = LaneMask(words).lanes();
            for _ in 0..skipped_lanes {
                one_by_one.next();
            }
            let mut folded = Vec::new();
            one_by_one.clone().for_each(|lane| folded.push(lane));
            prop_assert_eq!(&folded, &expected);
            let mut given = Vec::new();
            for lane in one_by_one {
                given.push(lane);
            }
            prop_assert_eq!(given, expected);
        }
    }
}
