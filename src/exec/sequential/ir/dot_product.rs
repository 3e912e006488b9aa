//! Integer dot products (SPIR-V specification, section "Arithmetic Instructions": OpSDot and its
//! family).
//!
//! Knows: vectors of integers of any width, and four numbers of 8 bits packed into a word, the
//! first one lowest.
//! Promises: without an accumulator the result is the low bits of the exact one. With one, the last
//! addition saturates; a product or a sum before it that does not fit leaves an undefined value.
//! The specification gives no order of the additions, so a sum counts as not fitting where it would
//! not in some order; such a sum is reduced modulo 2^width here.

use vkcert_spirv::operation::sized::Width;
use vkcert_spirv::types::Signedness;

/// What the products are added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumKind {
    Plain,
    /// An accumulator; the addition saturates.
    Accumulated,
}

/// A dot product of two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotProduct {
    /// Of the first vector's components, of the second's, of the result.
    pub signs: [Signedness; 3],
    pub sum: SumKind,
    /// Components of the first vector and of the second.
    pub components: [Width; 2],
    /// How many components a word holds; 1 where they are not packed.
    pub packed: usize,
    pub result: Width,
}

pub(crate) const SIGNED: [Signedness; 3] = [Signedness::Signed; 3];

pub(crate) const UNSIGNED: [Signedness; 3] = [Signedness::Unsigned; 3];

pub(crate) const MIXED: [Signedness; 3] =
    [Signedness::Signed, Signedness::Unsigned, Signedness::Signed];

impl DotProduct {
    /// Whether the result is undefined where a product or a sum does not fit.
    pub fn may_be_undefined(self) -> bool {
        self.sum == SumKind::Accumulated
    }

    /// Result for `operands`: the first vector's numbers, the second's, the accumulator; and
    /// whether it is defined.
    pub fn result_value(self, operands: usize, operand_at: impl Fn(usize) -> u64) -> (u64, bool) {
        let vector_length = (operands - usize::from(self.sum == SumKind::Accumulated)) / 2;
        let packed = self.packed;
        let (mut sum, mut positive_sum, mut negative_sum) = (0i128, Some(0i128), Some(0i128));
        for index in 0..vector_length * packed {
            let component_value = |vector: usize| {
                let width = self.components[vector];
                let bits = operand_at(vector * vector_length + index / packed)
                    >> (index % packed * width.bits() as usize);
                extend_number(bits, width, self.signs[vector])
            };
            let (first, second) = (component_value(0), component_value(1));
            sum = sum.wrapping_add(first.wrapping_mul(second));
            let product = first.checked_mul(second).filter(|product| self.fits_result(*product));
            let checked_sum = |total: Option<i128>, part: i128| total?.checked_add(part);
            positive_sum = product.and_then(|product| checked_sum(positive_sum, product.max(0)));
            negative_sum = product.and_then(|product| checked_sum(negative_sum, product.min(0)));
        }
        if self.sum == SumKind::Plain {
            return (low_bits(sum, self.result), true);
        }
        let is_defined = [positive_sum, negative_sum]
            .iter()
            .all(|total| total.is_some_and(|total| self.fits_result(total)));
        let read_result = |bits: u64| extend_number(bits, self.result, self.signs[2]);
        let total =
            read_result(low_bits(sum, self.result)) + read_result(operand_at(2 * vector_length));
        let (least, most) = self.result_range();
        (low_bits(total.clamp(least, most), self.result), is_defined)
    }

    fn fits_result(self, value: i128) -> bool {
        let (least, most) = self.result_range();
        (least..=most).contains(&value)
    }

    /// The least and the greatest result.
    fn result_range(self) -> (i128, i128) {
        let bits = self.result.bits();
        match self.signs[2] {
            Signedness::Unsigned => (0, (1 << bits) - 1),
            Signedness::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        }
    }
}

/// Sign-extends or zero-extends a number of a width.
pub(crate) fn extend_number(bits: u64, width: Width, signedness: Signedness) -> i128 {
    let unused_bits = 64 - width.bits();
    let bits = bits << unused_bits;
    match signedness {
        Signedness::Signed => i128::from(bits as i64 >> unused_bits),
        Signedness::Unsigned => i128::from(bits >> unused_bits),
    }
}

/// The low bits of a whole number, as many as the width has.
pub(crate) fn low_bits(value: i128, width: Width) -> u64 {
    value as u64 & u64::MAX >> (64 - width.bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dot_product_of(
        signs: [Signedness; 3],
        sum: SumKind,
        component: Width,
        result: Width,
    ) -> DotProduct {
        DotProduct { signs, sum, components: [component; 2], packed: 1, result }
    }

    #[test]
    fn hand_derived_values() {
        let value_of = |dot: DotProduct, operands: &[u64]| {
            dot.result_value(operands.len(), |index| operands[index])
        };
        let wide = dot_product_of(SIGNED, SumKind::Plain, Width::W8, Width::W32);
        // -1 * 127 + 2 * -128 = -383
        assert_eq!(value_of(wide, &[0xff, 2, 0x7f, 0x80]), (-383i32 as u32 as u64, true));
        let narrow = dot_product_of(SIGNED, SumKind::Plain, Width::W8, Width::W8);
        assert_eq!(value_of(narrow, &[0xff, 2, 0x7f, 0x80]), (0x81, true));
        let mixed = dot_product_of(MIXED, SumKind::Plain, Width::W16, Width::W32);
        // -1 * 65535 + 1 * 2
        assert_eq!(value_of(mixed, &[0xffff, 1, 0xffff, 2]), (-65533i32 as u32 as u64, true));
        // 100 * 1 + 27 * 1 = 127; with 5 more it stays there. 100 + 28 does not fit.
        let saturated = dot_product_of(SIGNED, SumKind::Accumulated, Width::W8, Width::W8);
        assert_eq!(value_of(saturated, &[100, 27, 1, 1, 5]), (127, true));
        assert!(!value_of(saturated, &[100, 28, 1, 1, 5]).1);
        // In one order 100 + 100 - 100 does not fit, in another it does.
        assert!(!value_of(saturated, &[100, 100, 0x9c, 1, 1, 1, 0]).1);
        let most = dot_product_of(UNSIGNED, SumKind::Accumulated, Width::W64, Width::W64);
        assert_eq!(value_of(most, &[u64::MAX, 0, 1, 9, 1]), (u64::MAX, true));
        assert!(!value_of(most, &[u64::MAX, 1, 1, 1, 1]).1);
        assert!(!value_of(most, &[u64::MAX, 1, u64::MAX, 1, 0]).1);
        let words = DotProduct { packed: 4, ..wide };
        // 1 * 4 + 2 * 3 + -3 * 2 + -4 * -1 = 8
        assert_eq!(value_of(words, &[0xfcfd_0201, 0xff02_0304]), (8, true));
    }

    proptest! {
        /// Against sums of whole numbers.
        #[test]
        fn a_dot_product_is_the_sum_of_products(a in any::<[i16; 3]>(), b in any::<[i16; 3]>(), c in any::<i32>()) {
            let exact: i64 = a.iter().zip(&b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
            let mut operands: Vec<u64> = a.iter().chain(&b).map(|value| *value as u16 as u64).collect();
            let plain = dot_product_of(SIGNED, SumKind::Plain, Width::W16, Width::W32);
            prop_assert_eq!(plain.result_value(6, |index| operands[index]), (exact as u32 as u64, true));
            operands.push(c as u32 as u64);
            let saturated = dot_product_of(SIGNED, SumKind::Accumulated, Width::W16, Width::W32);
            let (value, defined) = saturated.result_value(7, |index| operands[index]);
            if defined {
                prop_assert!(i32::try_from(exact).is_ok());
                let due = (exact + i64::from(c)).clamp(i32::MIN.into(), i32::MAX.into());
                prop_assert_eq!(value, due as i32 as u32 as u64);
            }
        }
    }
}
