//! Random numbers that are the same on every machine.
//!
//! The generator is SplitMix64: the state starts at the seed; each draw adds 0x9e3779b97f4a7c15 and
//! mixes the sum (`z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; z = (z ^ z >> 27) * 0x94d049bb133111eb;
//! z ^ z >> 31`, all wrapping). An integer from `min` to `max` is `min + (draw * (max - min + 1) >>
//! 64)`.

/// The generator.
pub struct SplitMix64 {
    state: u64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The first draw of a generator with this seed: a hash of it.
pub fn mix_bits(seed: u64) -> u64 {
    let mixed_bits = seed.wrapping_add(STEP);
    let mixed_bits = (mixed_bits ^ mixed_bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed_bits = (mixed_bits ^ mixed_bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed_bits ^ mixed_bits >> 31
}

impl SplitMix64 {
    /// A generator whose draws depend on the seed alone.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        let drawn_bits = mix_bits(self.state);
        self.state = self.state.wrapping_add(STEP);
        drawn_bits
    }

    /// An integer from `least` to `most`, both included; at most 2^64 different values.
    pub fn integer(&mut self, least: i128, most: i128) -> i128 {
        let value_count = (most - least + 1) as u128;
        let drawn_bits = u128::from(self.draw());
        // At most 2^64 values times a 64-bit draw: the full 2^64 needs no product.
        let value_index =
            if value_count == 1 << 64 { drawn_bits } else { (drawn_bits * value_count) >> 64 };
        least + value_index as i128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_published_generator() {
        let mut generator = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| generator.draw()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut generator = SplitMix64::new(7);
        let drawn: Vec<i128> = (0..1000).map(|_| generator.integer(-3, 3)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-3), Some(&3)));
        assert!((0..1000).all(|_| {
            (i64::MIN as i128..=i64::MAX as i128)
                .contains(&generator.integer(i64::MIN.into(), i64::MAX.into()))
        }));
    }
}
