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
    pub(crate) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        words
            .into_iter()
            .enumerate()
            .filter(|(_, word)| *word != 0)
            .flat_map(|(word_index, word)| set_bits(word).map(move |bit| 64 * word_index + bit))
    }

    pub(crate) fn merge(&mut self, other_mask: &LaneMask) {
        for (own_word, other_word) in self.0.iter_mut().zip(&other_mask.0) {
            *own_word |= other_word;
        }
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
