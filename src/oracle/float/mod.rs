//! Floating-point numbers without a loss, and their rounding in any direction.
//!
//! Knows: binary formats of IEEE 754 with 16, 32 and 64 bits, and bfloat16, as bits in the low end
//! of a 64-bit word.
//! Promises: a result is rounded once, from the exact one; overflow gives an infinity or the
//! largest finite number as the direction says (IEEE 754, sections 4.3 and 7.4); a zero that is the
//! sum of opposite numbers is positive, but for rounding down; the result that no number is, is the
//! quiet NaN.
//! Does not cover: flags and traps; payloads of NaNs; functions other than the basic ones.

mod rounding;

/// A binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    /// Digits of the significand, the leading one included.
    digits: u32,
    exponent_bits: u32,
}

impl FloatFormat {
    /// IEEE 754 binary16.
    pub const HALF: FloatFormat = FloatFormat { digits: 11, exponent_bits: 5 };
    /// bfloat16: the upper half of a binary32.
    pub const BRAIN: FloatFormat = FloatFormat { digits: 8, exponent_bits: 8 };
    /// IEEE 754 binary32.
    pub(crate) const SINGLE: FloatFormat = FloatFormat { digits: 24, exponent_bits: 8 };
    /// IEEE 754 binary64.
    pub(crate) const DOUBLE: FloatFormat = FloatFormat { digits: 53, exponent_bits: 11 };

    /// The IEEE 754 format of so many bits.
    pub fn with_width(bit_width: u32) -> Option<Self> {
        match bit_width {
            16 => Some(Self::HALF),
            32 => Some(Self::SINGLE),
            64 => Some(Self::DOUBLE),
            _ => None,
        }
    }

    /// Exponent of the least normal number: it is `2^least`.
    fn least_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    fn sign_bit(self) -> u64 {
        1 << (self.digits + self.exponent_bits - 1)
    }

    fn infinity_bits(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.digits - 1)
    }

    fn quiet_nan(self) -> u64 {
        self.infinity_bits() | 1 << (self.digits - 2)
    }

    /// A denormal number as a zero of its sign, every other one as it is.
    pub fn flush_denormal(self, bits: u64) -> u64 {
        if bits & self.infinity_bits() == 0 { bits & self.sign_bit() } else { bits }
    }
}

/// Rounding direction of a result that lies between two numbers of a format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoundingDirection {
    /// To the nearest, ties to the even one.
    #[default]
    Nearest,
    /// Toward zero: truncation.
    TowardZero,
    /// Toward positive infinity.
    Up,
    /// Toward negative infinity.
    Down,
}

/// An exact result before rounding: a number, an infinity, or NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactReal {
    /// Not a number.
    Nan,
    /// An infinity with its sign.
    Infinity(Sign),
    /// A number, zeros with their sign.
    Finite(FiniteNumber),
}

/// Sign of a number, zeros and infinities included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Positive.
    Plus,
    /// Negative.
    Minus,
}

impl Sign {
    fn from_negative(is_negative: bool) -> Self {
        if is_negative { Sign::Minus } else { Sign::Plus }
    }

    fn times(self, other_sign: Sign) -> Sign {
        Sign::from_negative(self != other_sign)
    }
}

/// `significand * 2^exponent` with a sign; a zero has one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FiniteNumber {
    sign: Sign,
    significand: u128,
    exponent: i32,
    sticky: StickyBit,
}

/// The sticky bit: whether something smaller than one in the last place of the significand was cut
/// off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StickyBit {
    Clear,
    Set,
}

impl StickyBit {
    fn from_cut(is_cut: bool) -> Self {
        if is_cut { StickyBit::Set } else { StickyBit::Clear }
    }
}

/// Place of the leading digit of significands that are added.
const LEADING_PLACE: u32 = 120;

impl FiniteNumber {
    fn zero(sign: Sign) -> Self {
        Self { sign, significand: 0, exponent: 0, sticky: StickyBit::Clear }
    }

    /// The same number with its leading digit at [`LEADING_PLACE`], where it has one.
    fn normalized(self) -> Self {
        let Some(leading_place) = self.significand.checked_ilog2() else { return self };
        let shift = LEADING_PLACE.saturating_sub(leading_place);
        Self {
            significand: self.significand << shift,
            exponent: self.exponent - shift as i32,
            ..self
        }
    }

    /// The sum with a number of no larger magnitude's exponent; both normalised and not zero.
    fn plus_smaller(self, smaller: FiniteNumber, direction: RoundingDirection) -> FiniteNumber {
        let exponent_distance = (self.exponent - smaller.exponent) as u32;
        let kept_digits = smaller.significand.checked_shr(exponent_distance).unwrap_or(0);
        let is_cut = if exponent_distance < 128 {
            kept_digits << exponent_distance != smaller.significand
        } else {
            true
        };
        let sticky_bit = StickyBit::from_cut(is_cut);
        if self.sign == smaller.sign {
            return FiniteNumber {
                significand: self.significand + kept_digits,
                sticky: sticky_bit,
                ..self
            };
        }
        match (self.significand.cmp(&kept_digits), sticky_bit) {
            (std::cmp::Ordering::Equal, StickyBit::Clear) => {
                FiniteNumber::zero(Sign::from_negative(direction == RoundingDirection::Down))
            }
            // Of equal exponents nothing is cut off.
            (std::cmp::Ordering::Less, _) => FiniteNumber {
                significand: kept_digits - self.significand,
                sticky: sticky_bit,
                ..smaller
            },
            (_, StickyBit::Clear) => FiniteNumber {
                significand: self.significand - kept_digits,
                sticky: sticky_bit,
                ..self
            },
            (_, StickyBit::Set) => FiniteNumber {
                significand: self.significand - kept_digits - 1,
                sticky: sticky_bit,
                ..self
            },
        }
    }
}

impl ExactReal {
    /// The number behind bits of a format.
    pub fn from_bits(format: FloatFormat, bits: u64) -> Self {
        let sign = Sign::from_negative(bits & format.sign_bit() != 0);
        let fraction = bits & ((1 << (format.digits - 1)) - 1);
        let biased_exponent = (bits & format.infinity_bits()) >> (format.digits - 1);
        let least_exponent = format.least_exponent() - format.digits as i32 + 1;
        if bits & format.infinity_bits() == format.infinity_bits() {
            return if fraction == 0 { ExactReal::Infinity(sign) } else { ExactReal::Nan };
        }
        let (significand, exponent) = match biased_exponent {
            0 => (fraction, least_exponent),
            biased_exponent => {
                (fraction | 1 << (format.digits - 1), least_exponent + biased_exponent as i32 - 1)
            }
        };
        ExactReal::Finite(FiniteNumber {
            sign,
            significand: significand.into(),
            exponent,
            sticky: StickyBit::Clear,
        })
    }

    /// The exact value of a binary64.
    pub fn from_double(value: f64) -> Self {
        Self::from_bits(FloatFormat::DOUBLE, value.to_bits())
    }

    /// The exact value of an unsigned integer.
    pub fn from_unsigned(value: u64) -> Self {
        let finite = FiniteNumber {
            sign: Sign::Plus,
            significand: value.into(),
            exponent: 0,
            sticky: StickyBit::Clear,
        };
        ExactReal::Finite(finite)
    }

    /// The exact value of a signed integer.
    pub fn from_signed(value: i64) -> Self {
        let significand = value.unsigned_abs().into();
        ExactReal::Finite(FiniteNumber {
            sign: Sign::from_negative(value < 0),
            significand,
            exponent: 0,
            sticky: StickyBit::Clear,
        })
    }

    /// The same with the other sign; NaN stays NaN.
    pub fn negated(self) -> Self {
        match self {
            ExactReal::Nan => ExactReal::Nan,
            ExactReal::Infinity(sign) => ExactReal::Infinity(sign.times(Sign::Minus)),
            ExactReal::Finite(finite_number) => ExactReal::Finite(FiniteNumber {
                sign: finite_number.sign.times(Sign::Minus),
                ..finite_number
            }),
        }
    }

    /// The sum; the direction decides the sign of a zero alone.
    pub fn plus(self, other_number: ExactReal, direction: RoundingDirection) -> ExactReal {
        match (self, other_number) {
            (ExactReal::Nan, _) | (_, ExactReal::Nan) => ExactReal::Nan,
            (ExactReal::Infinity(augend), ExactReal::Infinity(addend)) if augend != addend => {
                ExactReal::Nan
            }
            (ExactReal::Infinity(sign), _) | (_, ExactReal::Infinity(sign)) => {
                ExactReal::Infinity(sign)
            }
            (ExactReal::Finite(augend), ExactReal::Finite(addend)) => {
                ExactReal::Finite(match (augend.significand, addend.significand) {
                    (0, 0) if augend.sign == addend.sign => augend,
                    (0, 0) => FiniteNumber::zero(Sign::from_negative(
                        direction == RoundingDirection::Down,
                    )),
                    (0, _) => addend,
                    (_, 0) => augend,
                    (_, _) => {
                        let [augend, addend] = [augend, addend].map(FiniteNumber::normalized);
                        if augend.exponent >= addend.exponent {
                            augend.plus_smaller(addend, direction)
                        } else {
                            addend.plus_smaller(augend, direction)
                        }
                    }
                })
            }
        }
    }

    /// The product of numbers that are exact.
    pub fn times(self, other_number: ExactReal) -> ExactReal {
        match (self, other_number) {
            (ExactReal::Nan, _) | (_, ExactReal::Nan) => ExactReal::Nan,
            (ExactReal::Infinity(left_factor), ExactReal::Infinity(right_factor)) => {
                ExactReal::Infinity(left_factor.times(right_factor))
            }
            (ExactReal::Infinity(sign), ExactReal::Finite(finite))
            | (ExactReal::Finite(finite), ExactReal::Infinity(sign)) => {
                if finite.significand == 0 {
                    ExactReal::Nan
                } else {
                    ExactReal::Infinity(sign.times(finite.sign))
                }
            }
            (ExactReal::Finite(left_factor), ExactReal::Finite(right_factor)) => {
                ExactReal::Finite(FiniteNumber {
                    sign: left_factor.sign.times(right_factor.sign),
                    significand: left_factor.significand * right_factor.significand,
                    exponent: left_factor.exponent + right_factor.exponent,
                    sticky: StickyBit::Clear,
                })
            }
        }
    }

    /// The quotient of numbers that are exact.
    pub fn divided_by(self, divisor_real: ExactReal) -> ExactReal {
        match (self, divisor_real) {
            (ExactReal::Nan, _)
            | (_, ExactReal::Nan)
            | (ExactReal::Infinity(_), ExactReal::Infinity(_)) => ExactReal::Nan,
            (ExactReal::Infinity(sign), ExactReal::Finite(divisor_number)) => {
                ExactReal::Infinity(sign.times(divisor_number.sign))
            }
            (ExactReal::Finite(dividend), ExactReal::Infinity(sign)) => {
                ExactReal::Finite(FiniteNumber::zero(dividend.sign.times(sign)))
            }
            (ExactReal::Finite(dividend), ExactReal::Finite(divisor_number)) => {
                let sign = dividend.sign.times(divisor_number.sign);
                match (dividend.significand, divisor_number.significand) {
                    (0, 0) => ExactReal::Nan,
                    (_, 0) => ExactReal::Infinity(sign),
                    (0, _) => ExactReal::Finite(FiniteNumber::zero(sign)),
                    (_, divisor) => {
                        let dividend = dividend.normalized();
                        let quotient = dividend.significand / divisor;
                        let sticky_bit =
                            StickyBit::from_cut(!dividend.significand.is_multiple_of(divisor));
                        let exponent = dividend.exponent - divisor_number.exponent;
                        ExactReal::Finite(FiniteNumber {
                            sign,
                            significand: quotient,
                            exponent,
                            sticky: sticky_bit,
                        })
                    }
                }
            }
        }
    }

    /// The square root of a number that is exact.
    pub fn square_root(self) -> ExactReal {
        match self {
            ExactReal::Nan | ExactReal::Infinity(Sign::Minus) => ExactReal::Nan,
            ExactReal::Infinity(Sign::Plus) => self,
            ExactReal::Finite(radicand) if radicand.significand == 0 => self,
            ExactReal::Finite(radicand) if radicand.sign == Sign::Minus => ExactReal::Nan,
            ExactReal::Finite(radicand) => {
                let mut radicand = radicand.normalized();
                if radicand.exponent % 2 != 0 {
                    radicand = FiniteNumber {
                        significand: radicand.significand << 1,
                        exponent: radicand.exponent - 1,
                        ..radicand
                    };
                }
                let significand = radicand.significand.isqrt();
                let sticky_bit =
                    StickyBit::from_cut(significand * significand != radicand.significand);
                ExactReal::Finite(FiniteNumber {
                    significand,
                    exponent: radicand.exponent / 2,
                    sticky: sticky_bit,
                    ..radicand
                })
            }
        }
    }

    /// Times a power of two.
    pub fn scaled_by_power(self, power_of_two: i32) -> ExactReal {
        match self {
            ExactReal::Finite(finite_number) => ExactReal::Finite(FiniteNumber {
                exponent: finite_number
                    .exponent
                    .saturating_add(power_of_two.clamp(-1 << 20, 1 << 20)),
                ..finite_number
            }),
            ExactReal::Nan | ExactReal::Infinity(_) => self,
        }
    }

    /// The bits of the number of a format that it is rounded to.
    pub fn rounded_bits(self, format: FloatFormat, direction: RoundingDirection) -> u64 {
        let with_sign = |sign: Sign, bits: u64| {
            if sign == Sign::Minus { bits | format.sign_bit() } else { bits }
        };
        match self {
            ExactReal::Nan => format.quiet_nan(),
            ExactReal::Infinity(sign) => with_sign(sign, format.infinity_bits()),
            ExactReal::Finite(finite_number) => {
                with_sign(finite_number.sign, finite_number.rounded_magnitude(format, direction))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Floats of 64 bits, also of the kinds that chance seldom makes.
    fn any_double() -> impl Strategy<Value = f64> {
        let corners = [
            0.0,
            -0.0,
            1.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::INFINITY,
            f64::NAN,
            1.5,
            -3.0,
        ];
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            proptest::sample::select(corners.to_vec()),
            -4.0..4.0
        ]
    }

    fn same_double(ours: u64, theirs: f64) -> bool {
        ours == theirs.to_bits() || (f64::from_bits(ours).is_nan() && theirs.is_nan())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// To the nearest, as the machine computes.
        #[test]
        fn basic_operations_are_those_of_the_machine(a in any_double(), b in any_double(), c in any_double()) {
            let [x, y, z] = [a, b, c].map(ExactReal::from_double);
            let nearest = |real: ExactReal| real.rounded_bits(FloatFormat::DOUBLE, RoundingDirection::Nearest);
            prop_assert!(same_double(nearest(x.plus(y, RoundingDirection::Nearest)), a + b), "{a:e} + {b:e}");
            prop_assert!(same_double(nearest(x.times(y)), a * b), "{a:e} * {b:e}");
            prop_assert!(same_double(nearest(x.divided_by(y)), a / b), "{a:e} / {b:e}");
            prop_assert!(same_double(nearest(x.square_root()), a.sqrt()), "root of {a:e}");
            prop_assert!(same_double(nearest(x.times(y).plus(z, RoundingDirection::Nearest)), a.mul_add(b, c)), "{a:e} {b:e} {c:e}");
            let single = x.rounded_bits(FloatFormat::SINGLE, RoundingDirection::Nearest) as u32;
            prop_assert!(f32::from_bits(single) == a as f32 || (a.is_nan() && f32::from_bits(single).is_nan()));
        }

        /// Toward zero and the two other ways lie around the exact number, next to each other.
        #[test]
        fn directions_enclose(a in any_double(), b in any_double()) {
            let exact = ExactReal::from_double(a).times(ExactReal::from_double(b));
            let [down, up, zero, nearest] =
                [RoundingDirection::Down, RoundingDirection::Up, RoundingDirection::TowardZero, RoundingDirection::Nearest]
                    .map(|direction| f32::from_bits(exact.rounded_bits(FloatFormat::SINGLE, direction) as u32));
            prop_assume!(!nearest.is_nan());
            prop_assert!(down <= up && (nearest == down || nearest == up));
            prop_assert!(zero.abs() <= up.abs() && zero.abs() <= down.abs());
            prop_assert!(down == up || down.next_up() == up, "{down:e} {up:e}");
        }
    }

    #[test]
    fn integers_are_rounded_once() {
        // Between two numbers of 8 digits, a little above the middle: 64 bits hold less than that.
        let value = (1u64 << 60) + (1 << 52) + 1;
        let bits = ExactReal::from_unsigned(value)
            .rounded_bits(FloatFormat::BRAIN, RoundingDirection::Nearest);
        assert_eq!(
            half::bf16::from_bits(bits as u16).to_f64(),
            (1u64 << 60) as f64 + (1u64 << 53) as f64
        );
        assert_eq!(
            ExactReal::from_signed(-1).rounded_bits(FloatFormat::HALF, RoundingDirection::Nearest),
            0xbc00
        );
        assert_eq!(
            ExactReal::from_unsigned(65520)
                .rounded_bits(FloatFormat::HALF, RoundingDirection::Nearest),
            0x7c00
        );
        assert_eq!(
            ExactReal::from_unsigned(65520)
                .rounded_bits(FloatFormat::HALF, RoundingDirection::TowardZero),
            0x7bff
        );
        assert_eq!(
            ExactReal::from_signed(-65520).rounded_bits(FloatFormat::HALF, RoundingDirection::Up),
            0xfbff
        );
    }
}
