//! Rounding of an exact number to a format (IEEE 754, sections 4.3 and 7.4).
//!
//! Promises: the digits that are cut off decide exactly, with the sticky bit for those below them.

use super::{FiniteNumber, FloatFormat, RoundingDirection, Sign, StickyBit};

impl FiniteNumber {
    /// The bits of the rounded number without its sign.
    pub(super) fn rounded_magnitude(
        self,
        format: FloatFormat,
        direction: RoundingDirection,
    ) -> u64 {
        let Some(leading_place) = self.significand.checked_ilog2() else { return 0 };
        let digits = format.digits as i32;
        // Exponent of the last digit that is kept.
        let last_exponent =
            (self.exponent + leading_place as i32).max(format.least_exponent()) - digits + 1;
        let shift = last_exponent - self.exponent;
        let (kept_digits, cut_part) = match u32::try_from(shift) {
            Ok(shift) => self.cut_after(shift),
            Err(_) => {
                (self.significand << -shift, CutDigits::compared_with_half(0, 1, self.sticky))
            }
        };
        let rounds_away = match direction {
            RoundingDirection::Nearest => {
                cut_part == CutDigits::AboveHalf
                    || (cut_part == CutDigits::ExactHalf && kept_digits & 1 == 1)
            }
            RoundingDirection::TowardZero => false,
            RoundingDirection::Up => cut_part != CutDigits::Zero && self.sign == Sign::Plus,
            RoundingDirection::Down => cut_part != CutDigits::Zero && self.sign == Sign::Minus,
        };
        let hidden_bit = 1u64 << (digits - 1);
        let biased_exponent = last_exponent + digits - format.least_exponent();
        if biased_exponent >= (1 << format.exponent_bits) - 1 {
            return format.overflow_bits(direction, self.sign);
        }
        // A significand that becomes one digit longer carries into the exponent.
        let bits = (biased_exponent as u64) * hidden_bit
            + (kept_digits as u64 + u64::from(rounds_away))
            - hidden_bit;
        if bits >= format.infinity_bits() {
            format.overflow_bits(direction, self.sign)
        } else {
            bits
        }
    }

    /// The significand without its last `shift` digits, and what was cut off.
    fn cut_after(self, shift: u32) -> (u128, CutDigits) {
        if shift == 0 {
            return (self.significand, CutDigits::compared_with_half(0, 1, self.sticky));
        }
        let Some(kept_digits) = self.significand.checked_shr(shift) else {
            return (0, CutDigits::BelowHalf);
        };
        let cut_digits = self.significand & ((1 << shift) - 1);
        (kept_digits, CutDigits::compared_with_half(cut_digits, 1 << (shift - 1), self.sticky))
    }
}

/// What was cut off, compared with half of one in the last place that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutDigits {
    Zero,
    BelowHalf,
    ExactHalf,
    AboveHalf,
}

impl CutDigits {
    fn compared_with_half(cut_digits: u128, half_place: u128, sticky_bit: StickyBit) -> Self {
        match (cut_digits.cmp(&half_place), sticky_bit) {
            (std::cmp::Ordering::Less, StickyBit::Clear) if cut_digits == 0 => CutDigits::Zero,
            (std::cmp::Ordering::Less, _) => CutDigits::BelowHalf,
            (std::cmp::Ordering::Equal, StickyBit::Clear) => CutDigits::ExactHalf,
            (std::cmp::Ordering::Equal, StickyBit::Set) | (std::cmp::Ordering::Greater, _) => {
                CutDigits::AboveHalf
            }
        }
    }
}

impl FloatFormat {
    /// What a number beyond the largest finite one becomes, without its sign.
    fn overflow_bits(self, direction: RoundingDirection, sign: Sign) -> u64 {
        let becomes_infinite = match direction {
            RoundingDirection::Nearest => true,
            RoundingDirection::TowardZero => false,
            RoundingDirection::Up => sign == Sign::Plus,
            RoundingDirection::Down => sign == Sign::Minus,
        };
        if becomes_infinite { self.infinity_bits() } else { self.infinity_bits() - 1 }
    }
}
