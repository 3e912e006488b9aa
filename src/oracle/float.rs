//! Floating-point numbers without a loss, and their rounding in any direction.
//!
//! Knows: binary formats of IEEE 754 with 16, 32 and 64 bits, and bfloat16, as bits in the low end
//! of a 64-bit word.
//! Promises: a result is rounded once, from the exact one; overflow gives an infinity or the
//! largest finite number as the direction says (IEEE 754, sections 4.3 and 7.4); a zero that is the
//! sum of opposite numbers is positive, but for rounding down; the result that no number is, is the
//! quiet NaN.
//! Does not cover: flags and traps; payloads of NaNs; functions other than the basic ones.

/// A binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Digits of the significand, the leading one included.
    digits: u32,
    exponent_bits: u32,
}

impl Format {
    pub const HALF: Format = Format { digits: 11, exponent_bits: 5 };
    pub const BRAIN: Format = Format { digits: 8, exponent_bits: 8 };
    pub const SINGLE: Format = Format { digits: 24, exponent_bits: 8 };
    pub const DOUBLE: Format = Format { digits: 53, exponent_bits: 11 };

    /// The IEEE 754 format of so many bits.
    pub fn of_width(bits: u32) -> Option<Self> {
        match bits {
            16 => Some(Self::HALF),
            32 => Some(Self::SINGLE),
            64 => Some(Self::DOUBLE),
            _ => None,
        }
    }

    /// Exponent of the least normal number: it is `2^least`.
    fn least(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    fn sign(self) -> u64 {
        1 << (self.digits + self.exponent_bits - 1)
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.digits - 1)
    }

    fn quiet_nan(self) -> u64 {
        self.infinity() | 1 << (self.digits - 2)
    }

    /// A denormal number as a zero of its sign, every other one as it is.
    pub fn flushed(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 { bits & self.sign() } else { bits }
    }
}

/// Rounding direction of a result that lies between two numbers of a format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To the nearest, ties to the even one.
    #[default]
    Nearest,
    TowardZero,
    Up,
    Down,
}

/// An exact result before rounding: a number, an infinity, or NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Real {
    Nan,
    Infinity(Sign),
    Finite(Finite),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn of(negative: bool) -> Self {
        if negative { Sign::Minus } else { Sign::Plus }
    }

    fn times(self, other: Sign) -> Sign {
        Sign::of(self != other)
    }
}

/// `significand * 2^exponent` with a sign; a zero has one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finite {
    sign: Sign,
    significand: u128,
    exponent: i32,
    rest: Rest,
}

/// The sticky bit: whether something smaller than one in the last place of the significand was cut
/// off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    Some,
}

impl Rest {
    fn of(cut: bool) -> Self {
        if cut { Rest::Some } else { Rest::None }
    }
}

/// Place of the leading digit of significands that are added.
const LEADING: u32 = 120;

impl Finite {
    fn zero(sign: Sign) -> Self {
        Self { sign, significand: 0, exponent: 0, rest: Rest::None }
    }

    /// The same number with its leading digit at [`LEADING`], where it has one.
    fn normalized(self) -> Self {
        let Some(leading) = self.significand.checked_ilog2() else { return self };
        let shift = LEADING.saturating_sub(leading);
        Self {
            significand: self.significand << shift,
            exponent: self.exponent - shift as i32,
            ..self
        }
    }

    /// The sum with a number of no larger magnitude's exponent; both normalised and not zero.
    fn plus_smaller(self, smaller: Finite, direction: Direction) -> Finite {
        let distance = (self.exponent - smaller.exponent) as u32;
        let kept = smaller.significand.checked_shr(distance).unwrap_or(0);
        let cut = if distance < 128 { kept << distance != smaller.significand } else { true };
        let rest = Rest::of(cut);
        if self.sign == smaller.sign {
            return Finite { significand: self.significand + kept, rest, ..self };
        }
        match (self.significand.cmp(&kept), rest) {
            (std::cmp::Ordering::Equal, Rest::None) => {
                Finite::zero(Sign::of(direction == Direction::Down))
            }
            // Of equal exponents nothing is cut off.
            (std::cmp::Ordering::Less, _) => {
                Finite { significand: kept - self.significand, rest, ..smaller }
            }
            (_, Rest::None) => Finite { significand: self.significand - kept, rest, ..self },
            (_, Rest::Some) => Finite { significand: self.significand - kept - 1, rest, ..self },
        }
    }
}

impl Real {
    /// The number behind bits of a format.
    pub fn of_bits(format: Format, bits: u64) -> Self {
        let sign = Sign::of(bits & format.sign() != 0);
        let fraction = bits & ((1 << (format.digits - 1)) - 1);
        let biased = (bits & format.infinity()) >> (format.digits - 1);
        let last = format.least() - format.digits as i32 + 1;
        if bits & format.infinity() == format.infinity() {
            return if fraction == 0 { Real::Infinity(sign) } else { Real::Nan };
        }
        let (significand, exponent) = match biased {
            0 => (fraction, last),
            biased => (fraction | 1 << (format.digits - 1), last + biased as i32 - 1),
        };
        Real::Finite(Finite { sign, significand: significand.into(), exponent, rest: Rest::None })
    }

    pub fn of_float(value: f64) -> Self {
        Self::of_bits(Format::DOUBLE, value.to_bits())
    }

    pub fn of_unsigned(value: u64) -> Self {
        let finite =
            Finite { sign: Sign::Plus, significand: value.into(), exponent: 0, rest: Rest::None };
        Real::Finite(finite)
    }

    pub fn of_signed(value: i64) -> Self {
        let significand = value.unsigned_abs().into();
        Real::Finite(Finite {
            sign: Sign::of(value < 0),
            significand,
            exponent: 0,
            rest: Rest::None,
        })
    }

    pub fn negated(self) -> Self {
        match self {
            Real::Nan => Real::Nan,
            Real::Infinity(sign) => Real::Infinity(sign.times(Sign::Minus)),
            Real::Finite(one) => Real::Finite(Finite { sign: one.sign.times(Sign::Minus), ..one }),
        }
    }

    /// The sum; the direction decides the sign of a zero alone.
    pub fn plus(self, other: Real, direction: Direction) -> Real {
        match (self, other) {
            (Real::Nan, _) | (_, Real::Nan) => Real::Nan,
            (Real::Infinity(one), Real::Infinity(two)) if one != two => Real::Nan,
            (Real::Infinity(sign), _) | (_, Real::Infinity(sign)) => Real::Infinity(sign),
            (Real::Finite(one), Real::Finite(two)) => {
                Real::Finite(match (one.significand, two.significand) {
                    (0, 0) if one.sign == two.sign => one,
                    (0, 0) => Finite::zero(Sign::of(direction == Direction::Down)),
                    (0, _) => two,
                    (_, 0) => one,
                    (_, _) => {
                        let [one, two] = [one, two].map(Finite::normalized);
                        if one.exponent >= two.exponent {
                            one.plus_smaller(two, direction)
                        } else {
                            two.plus_smaller(one, direction)
                        }
                    }
                })
            }
        }
    }

    /// The product of numbers that are exact.
    pub fn times(self, other: Real) -> Real {
        match (self, other) {
            (Real::Nan, _) | (_, Real::Nan) => Real::Nan,
            (Real::Infinity(one), Real::Infinity(two)) => Real::Infinity(one.times(two)),
            (Real::Infinity(sign), Real::Finite(finite))
            | (Real::Finite(finite), Real::Infinity(sign)) => {
                if finite.significand == 0 {
                    Real::Nan
                } else {
                    Real::Infinity(sign.times(finite.sign))
                }
            }
            (Real::Finite(one), Real::Finite(two)) => Real::Finite(Finite {
                sign: one.sign.times(two.sign),
                significand: one.significand * two.significand,
                exponent: one.exponent + two.exponent,
                rest: Rest::None,
            }),
        }
    }

    /// The quotient of numbers that are exact.
    pub fn over(self, other: Real) -> Real {
        match (self, other) {
            (Real::Nan, _) | (_, Real::Nan) | (Real::Infinity(_), Real::Infinity(_)) => Real::Nan,
            (Real::Infinity(sign), Real::Finite(two)) => Real::Infinity(sign.times(two.sign)),
            (Real::Finite(one), Real::Infinity(sign)) => {
                Real::Finite(Finite::zero(one.sign.times(sign)))
            }
            (Real::Finite(one), Real::Finite(two)) => {
                let sign = one.sign.times(two.sign);
                match (one.significand, two.significand) {
                    (0, 0) => Real::Nan,
                    (_, 0) => Real::Infinity(sign),
                    (0, _) => Real::Finite(Finite::zero(sign)),
                    (_, divisor) => {
                        let one = one.normalized();
                        let quotient = one.significand / divisor;
                        let rest = Rest::of(!one.significand.is_multiple_of(divisor));
                        let exponent = one.exponent - two.exponent;
                        Real::Finite(Finite { sign, significand: quotient, exponent, rest })
                    }
                }
            }
        }
    }

    /// The square root of a number that is exact.
    pub fn root(self) -> Real {
        match self {
            Real::Nan | Real::Infinity(Sign::Minus) => Real::Nan,
            Real::Infinity(Sign::Plus) => self,
            Real::Finite(one) if one.significand == 0 => self,
            Real::Finite(one) if one.sign == Sign::Minus => Real::Nan,
            Real::Finite(one) => {
                let mut one = one.normalized();
                if one.exponent % 2 != 0 {
                    one = Finite {
                        significand: one.significand << 1,
                        exponent: one.exponent - 1,
                        ..one
                    };
                }
                let significand = one.significand.isqrt();
                let rest = Rest::of(significand * significand != one.significand);
                Real::Finite(Finite { significand, exponent: one.exponent / 2, rest, ..one })
            }
        }
    }

    /// Times a power of two.
    pub fn scaled(self, power: i32) -> Real {
        match self {
            Real::Finite(one) => Real::Finite(Finite {
                exponent: one.exponent.saturating_add(power.clamp(-1 << 20, 1 << 20)),
                ..one
            }),
            Real::Nan | Real::Infinity(_) => self,
        }
    }

    /// The bits of the number of a format that it is rounded to.
    pub fn rounded(self, format: Format, direction: Direction) -> u64 {
        let signed =
            |sign: Sign, bits: u64| if sign == Sign::Minus { bits | format.sign() } else { bits };
        match self {
            Real::Nan => format.quiet_nan(),
            Real::Infinity(sign) => signed(sign, format.infinity()),
            Real::Finite(one) => signed(one.sign, one.magnitude(format, direction)),
        }
    }
}

impl Finite {
    /// The bits of the rounded number without its sign.
    fn magnitude(self, format: Format, direction: Direction) -> u64 {
        let Some(leading) = self.significand.checked_ilog2() else { return 0 };
        let digits = format.digits as i32;
        // Exponent of the last digit that is kept.
        let last = (self.exponent + leading as i32).max(format.least()) - digits + 1;
        let shift = last - self.exponent;
        let (kept, cut) = match u32::try_from(shift) {
            Ok(shift) => self.cut(shift),
            Err(_) => (self.significand << -shift, Cut::of(0, 1, self.rest)),
        };
        let away = match direction {
            Direction::Nearest => cut == Cut::More || (cut == Cut::Half && kept & 1 == 1),
            Direction::TowardZero => false,
            Direction::Up => cut != Cut::Nothing && self.sign == Sign::Plus,
            Direction::Down => cut != Cut::Nothing && self.sign == Sign::Minus,
        };
        let hidden = 1u64 << (digits - 1);
        let biased = last + digits - format.least();
        if biased >= (1 << format.exponent_bits) - 1 {
            return format.overflow(direction, self.sign);
        }
        // A significand that becomes one digit longer carries into the exponent.
        let bits = (biased as u64) * hidden + (kept as u64 + u64::from(away)) - hidden;
        if bits >= format.infinity() { format.overflow(direction, self.sign) } else { bits }
    }

    /// The significand without its last `shift` digits, and what was cut off.
    fn cut(self, shift: u32) -> (u128, Cut) {
        if shift == 0 {
            return (self.significand, Cut::of(0, 1, self.rest));
        }
        let Some(kept) = self.significand.checked_shr(shift) else { return (0, Cut::Less) };
        let below = self.significand & ((1 << shift) - 1);
        (kept, Cut::of(below, 1 << (shift - 1), self.rest))
    }
}

/// What was cut off, compared with half of one in the last place that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Nothing,
    Less,
    Half,
    More,
}

impl Cut {
    fn of(below: u128, half: u128, rest: Rest) -> Self {
        match (below.cmp(&half), rest) {
            (std::cmp::Ordering::Less, Rest::None) if below == 0 => Cut::Nothing,
            (std::cmp::Ordering::Less, _) => Cut::Less,
            (std::cmp::Ordering::Equal, Rest::None) => Cut::Half,
            (std::cmp::Ordering::Equal, Rest::Some) | (std::cmp::Ordering::Greater, _) => Cut::More,
        }
    }
}

impl Format {
    /// What a number beyond the largest finite one becomes, without its sign.
    fn overflow(self, direction: Direction, sign: Sign) -> u64 {
        let infinite = match direction {
            Direction::Nearest => true,
            Direction::TowardZero => false,
            Direction::Up => sign == Sign::Plus,
            Direction::Down => sign == Sign::Minus,
        };
        if infinite { self.infinity() } else { self.infinity() - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Floats of 64 bits, also of the kinds that chance seldom makes.
    fn numbers() -> impl Strategy<Value = f64> {
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

    fn same(ours: u64, theirs: f64) -> bool {
        ours == theirs.to_bits() || (f64::from_bits(ours).is_nan() && theirs.is_nan())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// To the nearest, as the machine computes.
        #[test]
        fn basic_operations_are_those_of_the_machine(a in numbers(), b in numbers(), c in numbers()) {
            let [x, y, z] = [a, b, c].map(Real::of_float);
            let nearest = |real: Real| real.rounded(Format::DOUBLE, Direction::Nearest);
            prop_assert!(same(nearest(x.plus(y, Direction::Nearest)), a + b), "{a:e} + {b:e}");
            prop_assert!(same(nearest(x.times(y)), a * b), "{a:e} * {b:e}");
            prop_assert!(same(nearest(x.over(y)), a / b), "{a:e} / {b:e}");
            prop_assert!(same(nearest(x.root()), a.sqrt()), "root of {a:e}");
            prop_assert!(same(nearest(x.times(y).plus(z, Direction::Nearest)), a.mul_add(b, c)), "{a:e} {b:e} {c:e}");
            let single = x.rounded(Format::SINGLE, Direction::Nearest) as u32;
            prop_assert!(f32::from_bits(single) == a as f32 || (a.is_nan() && f32::from_bits(single).is_nan()));
        }

        /// Toward zero and the two other ways lie around the exact number, next to each other.
        #[test]
        fn directions_enclose(a in numbers(), b in numbers()) {
            let exact = Real::of_float(a).times(Real::of_float(b));
            let [down, up, zero, nearest] =
                [Direction::Down, Direction::Up, Direction::TowardZero, Direction::Nearest]
                    .map(|direction| f32::from_bits(exact.rounded(Format::SINGLE, direction) as u32));
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
        let bits = Real::of_unsigned(value).rounded(Format::BRAIN, Direction::Nearest);
        assert_eq!(
            half::bf16::from_bits(bits as u16).to_f64(),
            (1u64 << 60) as f64 + (1u64 << 53) as f64
        );
        assert_eq!(Real::of_signed(-1).rounded(Format::HALF, Direction::Nearest), 0xbc00);
        assert_eq!(Real::of_unsigned(65520).rounded(Format::HALF, Direction::Nearest), 0x7c00);
        assert_eq!(Real::of_unsigned(65520).rounded(Format::HALF, Direction::TowardZero), 0x7bff);
        assert_eq!(Real::of_signed(-65520).rounded(Format::HALF, Direction::Up), 0xfbff);
    }
}
