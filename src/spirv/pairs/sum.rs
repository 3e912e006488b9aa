//! Polynomials over what symbols stand for, modulo 2 to the power of 32.
//!
//! Knows: products of up to three factors; ranges of what factors stand for, and their lowest bits.
//! Promises: what is said of the zeros of a polynomial holds for all values of its factors in their
//! ranges. Does not cover: what conditions say of several factors together.

use super::word::Symbol;
use crate::module::Id;
use std::collections::BTreeMap;

/// Most factors of a product.
const MOST_FACTORS: usize = 3;

/// Most products of a polynomial.
const MOST_PRODUCTS: usize = 16;

/// The number of values of a word.
const WORD_VALUES: i128 = 1 << 32;

/// Numbers from a least to a greatest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordRange {
    /// The least number.
    pub low: u32,
    /// The greatest number.
    pub high: u32,
}

impl WordRange {
    /// All numbers.
    pub const ANY: Self = Self { low: 0, high: u32::MAX };

    /// Those of some integers; all where words do not hold each of them.
    pub fn of_integers([low, high]: [i128; 2]) -> Self {
        let bounds = u32::try_from(low).ok().zip(u32::try_from(high).ok());
        bounds.map_or(Self::ANY, |(low, high)| Self { low, high })
    }
}

/// A number that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Factor {
    /// The same on both sides of a comparison.
    Common(Symbol),
    /// What a variable or phi holds for the invocation at one side, with its lowest bits.
    Own { side: usize, held: Id, low_value: u32, low_bits: u32 },
}

impl Factor {
    /// How many of the lowest bits are known, and what they are.
    fn known_bits(self) -> (u32, u32) {
        match self {
            Factor::Common(_) => (0, 0),
            Factor::Own { low_value, low_bits, .. } => (low_bits, low_value),
        }
    }
}

/// Factors in ascending order, behind places that are free.
type Product = [Option<Factor>; MOST_FACTORS];

/// Products times numbers, and a constant, modulo 2 to the power of 32.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sum {
    terms: BTreeMap<Product, u32>,
    constant: u32,
}

/// Whether a polynomial is zero for some values of its factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zeros {
    /// It never is.
    None,
    /// It is for one value of a symbol alone.
    Only(Symbol, u32),
    /// Nothing more is known.
    Possible,
}

impl Sum {
    pub(super) fn constant(value: u32) -> Self {
        Self { terms: BTreeMap::new(), constant: value }
    }

    pub(super) fn of(factor: Factor) -> Self {
        Self { terms: BTreeMap::from([([None, None, Some(factor)], 1)]), constant: 0 }
    }

    pub(super) fn plus(&self, other: &Sum, count: u32) -> Sum {
        let mut sum = self.clone();
        for (product, other_count) in &other.terms {
            sum.add(*product, other_count.wrapping_mul(count));
        }
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(count));
        sum
    }

    fn add(&mut self, product: Product, count: u32) {
        let own_count = self.terms.entry(product).or_default();
        *own_count = own_count.wrapping_add(count);
        if *own_count == 0 {
            self.terms.remove(&product);
        }
    }

    /// The product; none where it has too many factors or terms.
    pub(super) fn times(&self, other: &Sum) -> Option<Sum> {
        let mut result = Sum::constant(0).plus(self, other.constant).plus(other, self.constant);
        // Both of these count the product of the constants.
        result.constant = self.constant.wrapping_mul(other.constant);
        for (product, count) in &self.terms {
            for (other_product, other_count) in &other.terms {
                let joined = joined(product, other_product)?;
                result.add(joined, count.wrapping_mul(*other_count));
            }
        }
        (result.terms.len() <= MOST_PRODUCTS).then_some(result)
    }

    /// The number where no factor counts.
    pub(super) fn constant_value(&self) -> Option<u32> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The least and the greatest integer that the sum can be, each count read with sign: modulo
    /// 2 to the power of 32 that is the same sum.
    fn integers(&self, range_of: &impl Fn(Factor) -> WordRange) -> [i128; 2] {
        let constant = i128::from(self.constant as i32);
        self.terms.iter().fold([constant; 2], |[low, high], (product, count)| {
            let count = i128::from(*count as i32);
            let factors = product.iter().flatten();
            let [least, greatest] = factors.fold([1, 1], |[least, greatest], factor| {
                let range = range_of(*factor);
                [least * i128::from(range.low), greatest * i128::from(range.high)]
            });
            let ends = [least * count, greatest * count];
            let (least, greatest) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            [low.saturating_add(least), high.saturating_add(greatest)]
        })
    }

    /// The numbers that the sum can be.
    pub(super) fn range(&self, range_of: &impl Fn(Factor) -> WordRange) -> WordRange {
        match self.constant_value() {
            Some(value) => WordRange { low: value, high: value },
            None => WordRange::of_integers(self.integers(range_of)),
        }
    }

    /// Whether the lowest bits of the factors make a sum that is not zero.
    fn is_odd_by_bits(&self) -> bool {
        let mut known_bits = 32;
        let mut sum = self.constant;
        for (product, count) in &self.terms {
            let (mut product_bits, mut product_value) = (32, *count);
            for factor in product.iter().flatten() {
                let (bits, value) = factor.known_bits();
                product_bits = product_bits.min(bits);
                product_value = product_value.wrapping_mul(value);
            }
            known_bits = known_bits.min(product_bits + count.trailing_zeros());
            sum = sum.wrapping_add(product_value);
        }
        sum.checked_shl(32 - known_bits.min(32)).is_some_and(|bits| bits != 0)
    }

    /// What the sum is made of that is multiplied by one factor; none where not all is.
    fn divided_by(&self, factor: Factor) -> Option<Sum> {
        let mut quotient = Sum::constant(0);
        for (product, count) in &self.terms {
            let place = product.iter().position(|own_factor| *own_factor == Some(factor))?;
            let mut rest = *product;
            rest[place] = None;
            rest.sort_unstable();
            match rest == [None; MOST_FACTORS] {
                true => quotient.constant = quotient.constant.wrapping_add(*count),
                false => quotient.add(rest, *count),
            }
        }
        (self.constant == 0).then_some(quotient)
    }

    /// Where the sum is zero modulo 2 to the power of 32, factors being in their ranges.
    pub(super) fn zeros(&self, range_of: &impl Fn(Factor) -> WordRange) -> Zeros {
        if let Some(constant) = self.constant_value() {
            return if constant == 0 { Zeros::Possible } else { Zeros::None };
        }
        let [low, high] = self.integers(range_of);
        let holds_multiple = high.div_euclid(WORD_VALUES) * WORD_VALUES >= low;
        if !holds_multiple || self.is_odd_by_bits() {
            return Zeros::None;
        }
        if let Some(zeros) = self.zeros_of_line(low > -WORD_VALUES && high < WORD_VALUES) {
            return zeros;
        }
        let first_product = self.terms.keys().next();
        for factor in first_product.into_iter().flat_map(|product| product.iter().flatten()) {
            let Some(quotient) = self.divided_by(*factor) else { continue };
            let range = range_of(*factor);
            let ends =
                quotient.integers(range_of).map(|end| end.saturating_mul(i128::from(range.high)));
            // The integers are a product without a factor that is zero.
            if range.low > 0 && ends[0] > -WORD_VALUES && ends[1] < WORD_VALUES {
                return quotient.zeros(range_of);
            }
        }
        Zeros::Possible
    }

    /// The zeros of a symbol times a number, and a constant.
    fn zeros_of_line(&self, is_integer: bool) -> Option<Zeros> {
        let mut terms = self.terms.iter();
        let ([None, None, Some(Factor::Common(symbol))], count) = terms.next()? else {
            return None;
        };
        if terms.next().is_some() {
            return None;
        }
        if count % 2 == 1 {
            let value = self.constant.wrapping_neg().wrapping_mul(inverse(*count));
            return Some(Zeros::Only(*symbol, value));
        }
        let (count, constant) = (i64::from(*count as i32), i64::from(self.constant as i32));
        match (is_integer, -constant % count) {
            (false, _) => None,
            (true, 0) => {
                let value = u32::try_from(-constant / count);
                Some(value.map_or(Zeros::None, |value| Zeros::Only(*symbol, value)))
            }
            (true, _) => Some(Zeros::None),
        }
    }
}

/// The factors of two products; none where they are too many.
fn joined(first: &Product, second: &Product) -> Option<Product> {
    let mut factors: Vec<Option<Factor>> = first.iter().chain(second).copied().collect();
    factors.sort_unstable();
    let (beyond, kept) = factors.split_at(factors.len() - MOST_FACTORS);
    let kept = Product::try_from(kept).ok()?;
    beyond.iter().all(Option::is_none).then_some(kept)
}

/// The inverse of an odd number modulo 2 to the power of 32: each step doubles the bits that are
/// right, of which there are three at first.
fn inverse(odd: u32) -> u32 {
    (0..4)
        .fold(odd, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTORS: [Factor; 3] = [
        Factor::Common(Symbol::Term(0)),
        Factor::Common(Symbol::Term(1)),
        Factor::Own { side: 0, held: 7, low_value: 1, low_bits: 1 },
    ];

    /// SplitMix64.
    fn below(state: &mut u64, count: u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % count
    }

    fn random_sum(dice: &mut u64) -> Sum {
        let mut sum = Sum::constant(below(dice, 9) as u32).plus(&Sum::constant(4), u32::MAX);
        for _ in 0..1 + below(dice, 3) {
            let factors = 1 + below(dice, 2);
            let product = (0..factors).fold(Sum::constant(1), |product, _| {
                product.times(&Sum::of(FACTORS[below(dice, 3) as usize])).expect("few factors")
            });
            // Counts near 0 on both sides, and such that wrap.
            let count = match below(dice, 4) {
                0 => 1 << (28 + below(dice, 4)),
                _ => (below(dice, 9) as u32).wrapping_sub(4),
            };
            sum = sum.plus(&product, count);
        }
        sum
    }

    fn value(sum: &Sum, values: [u32; 3]) -> u32 {
        sum.terms.iter().fold(sum.constant, |total, (product, count)| {
            let factors = product.iter().flatten().map(|factor| {
                values[FACTORS.iter().position(|known| known == factor).expect("a known factor")]
            });
            total.wrapping_add(factors.fold(*count, u32::wrapping_mul))
        })
    }

    #[test]
    fn no_zero_is_missed_of_random_sums() {
        let mut dice = 1;
        let (mut without_zero, mut with_only) = (0, 0);
        for _ in 0..4000 {
            let sum = random_sum(&mut dice);
            let ranges = [0, 1, 2].map(|_| {
                let low = below(&mut dice, 5) as u32;
                WordRange { low, high: low + 1 + below(&mut dice, 6) as u32 }
            });
            let range_of = |factor: Factor| {
                ranges[FACTORS.iter().position(|known| *known == factor).expect("a known factor")]
            };
            let zeros = sum.zeros(&range_of);
            without_zero += usize::from(zeros == Zeros::None);
            with_only += usize::from(matches!(zeros, Zeros::Only(..)));
            let all = |place: usize| ranges[place].low..=ranges[place].high;
            for first in all(0) {
                for second in all(1) {
                    for own in all(2).filter(|own| own % 2 == 1) {
                        let values = [first, second, own];
                        if value(&sum, values) == 0 {
                            let is_told = match zeros {
                                Zeros::None => false,
                                Zeros::Only(Symbol::Term(term), only) => values[term] == only,
                                Zeros::Only(Symbol::Held(_), _) => false,
                                Zeros::Possible => true,
                            };
                            assert!(is_told, "{sum:?} {ranges:?} {values:?} {zeros:?}");
                        }
                    }
                }
            }
        }
        assert!(without_zero > 500 && with_only > 50, "{without_zero} {with_only}");
    }
}
