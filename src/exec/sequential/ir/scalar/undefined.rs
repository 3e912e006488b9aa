//! What the specification leaves undefined about operations on numbers, as rules over their operands.
//!
//! Knows: the sentences of SPIR-V (arithmetic, bit and conversion instructions), of Vulkan's environment for SPIR-V and of
//! GLSL.std.450 that say "undefined"; `docs/undefined.md` lists them all.
//! Promises: the rules on words (`rules` of each operation of `word`) and those on numbers of any width
//! ([`Operation::undefined`]) say the same of 32 bits (tested in `sized`).
//! Does not cover: instructions that are no operation on numbers; inverse matrices, which are made of several operations.

use super::sized::{Form, Operation, Sized, is_too_large};
use super::word::{Binary, Ternary, Unary};

/// How much is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// The result alone: told where it is used.
    Value,
    /// What the program does from here on: told at once.
    Behaviour,
}

/// That something is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undefined {
    pub extent: Extent,
    pub why: &'static str,
}

/// A condition on the words of operands under which something is undefined.
pub struct Rule<Test> {
    pub is_met: Test,
    pub then: Undefined,
}

pub type Rule1 = Rule<fn(u32) -> bool>;
pub type Rule2 = Rule<fn(u32, u32) -> bool>;
pub type Rule3 = Rule<fn(u32, u32, u32) -> bool>;

const fn value(why: &'static str) -> Undefined {
    Undefined { extent: Extent::Value, why }
}

const fn behaviour(why: &'static str) -> Undefined {
    Undefined { extent: Extent::Behaviour, why }
}

const TO_UNSIGNED: Undefined = behaviour("a float outside the range of uint is converted");
const TO_SIGNED: Undefined = behaviour("a float outside the range of int is converted");
const TO_INTEGER: Undefined = behaviour("a float outside the range of the integer is converted");
const ROOT: Undefined = value("square root of a negative number");
const INVERSE_ROOT: Undefined = value("inverse square root of a number that is not positive");
const LOGARITHM: Undefined = value("logarithm of a number that is not positive");
const ARC_SINE: Undefined = value("arc sine of a number outside -1 to 1");
const ARC_COSINE: Undefined = value("arc cosine of a number outside -1 to 1");
const INVERSE_COSH: Undefined = value("inverse hyperbolic cosine of a number below 1");
const INVERSE_TANH: Undefined = value("inverse hyperbolic tangent of a number outside -1 to 1");
const SIGN: Undefined = value("sign of a NaN");
const SPLIT: Undefined = value("frexp of an infinity or NaN");
const PACKED: Undefined = value("a NaN is packed as a normalised integer");
const ZERO_DIVISOR: Undefined = behaviour("division by zero");
const SIGNED_DIVISION: Undefined = behaviour("division by zero, or of the most negative integer by -1");
const SIGNED_REMAINDER: Undefined = behaviour("remainder by zero, or of the most negative integer by -1");
const NEGATIVE_REMAINDER: Undefined = value("remainder of or by a negative number");
const FLOAT_REMAINDER: Undefined = value("remainder of a float by zero");
const WORD_SHIFT: Undefined = value("a shift by 32 or more");
const SHIFT: Undefined = value("a shift by the number's width or more");
const POWER: Undefined = value("pow of a negative base, or of zero to an exponent that is not positive");
const ARC_TANGENT: Undefined = value("atan of zero by zero");
const EXTREMUM: Undefined = value("minimum or maximum with a NaN");
const SCALED: Undefined = value("ldexp by more than the type's largest exponent, or with a result that is too large");
const LIMITS: Undefined = value("clamp whose lower limit is above the upper");
const CLAMPED_NAN: Undefined = value("clamp with a NaN, or whose lower limit is above the upper");
const EDGES: Undefined = value("smoothstep with a NaN, or whose lower edge is not below the upper");
const WORD_FIELD: Undefined = value("a bit field that reaches beyond 32 bits");
const FIELD: Undefined = value("a bit field that reaches beyond the number");

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

impl Unary {
    pub fn rules(self) -> &'static [Rule1] {
        match self {
            // The bounds are exact: a float truncates into the range exactly if it lies strictly between them.
            Unary::ConvertFToU => {
                const { &[Rule { is_met: |a| !(f(a) > -1.0 && f(a) < 4_294_967_296.0), then: TO_UNSIGNED }] }
            }
            Unary::ConvertFToS => {
                const { &[Rule { is_met: |a| !(f(a) >= -2_147_483_648.0 && f(a) < 2_147_483_648.0), then: TO_SIGNED }] }
            }
            Unary::Sqrt => const { &[Rule { is_met: |a| f(a) < 0.0, then: ROOT }] },
            Unary::InverseSqrt => const { &[Rule { is_met: |a| f(a) <= 0.0, then: INVERSE_ROOT }] },
            Unary::Log | Unary::Log2 => const { &[Rule { is_met: |a| f(a) <= 0.0, then: LOGARITHM }] },
            Unary::Asin => const { &[Rule { is_met: |a| f(a).abs() > 1.0, then: ARC_SINE }] },
            Unary::Acos => const { &[Rule { is_met: |a| f(a).abs() > 1.0, then: ARC_COSINE }] },
            Unary::Acosh => const { &[Rule { is_met: |a| f(a) < 1.0, then: INVERSE_COSH }] },
            Unary::Atanh => const { &[Rule { is_met: |a| f(a).abs() >= 1.0, then: INVERSE_TANH }] },
            Unary::FSign => const { &[Rule { is_met: |a| f(a).is_nan(), then: SIGN }] },
            Unary::FrexpSignificand | Unary::FrexpExponent => {
                const { &[Rule { is_met: |a| !f(a).is_finite(), then: SPLIT }] }
            }
            Unary::PackSnorm4 | Unary::PackUnorm4 => const { &[Rule { is_met: |a| f(a).is_nan(), then: PACKED }] },
            _ => &[],
        }
    }
}

impl Binary {
    pub fn rules(self) -> &'static [Rule2] {
        match self {
            Binary::UDiv | Binary::UMod => const { &[Rule { is_met: |_, b| b == 0, then: ZERO_DIVISOR }] },
            Binary::SDiv => const { &[Rule { is_met: does_not_divide, then: SIGNED_DIVISION }] },
            // Vulkan's environment for SPIR-V leaves more undefined than SPIR-V does.
            Binary::SRem | Binary::SMod => {
                const {
                    &[
                        Rule { is_met: does_not_divide, then: SIGNED_REMAINDER },
                        Rule { is_met: |a, b| ((a | b) as i32) < 0 && b != 0, then: NEGATIVE_REMAINDER },
                    ]
                }
            }
            Binary::FRem | Binary::FMod => const { &[Rule { is_met: |_, b| f(b) == 0.0, then: FLOAT_REMAINDER }] },
            Binary::ShiftRightLogical | Binary::ShiftRightArithmetic | Binary::ShiftLeftLogical => {
                const { &[Rule { is_met: |_, b| b >= 32, then: WORD_SHIFT }] }
            }
            Binary::Pow => const { &[Rule { is_met: |a, b| f(a) < 0.0 || (f(a) == 0.0 && f(b) <= 0.0), then: POWER }] },
            Binary::Atan2 => const { &[Rule { is_met: |a, b| f(a) == 0.0 && f(b) == 0.0, then: ARC_TANGENT }] },
            Binary::FMin | Binary::FMax => {
                const { &[Rule { is_met: |a, b| f(a).is_nan() || f(b).is_nan(), then: EXTREMUM }] }
            }
            Binary::Ldexp => {
                const { &[Rule { is_met: |a, b| is_too_large(Form::FLOAT, a.into(), b.into()), then: SCALED }] }
            }
            Binary::PackSnorm2 | Binary::PackUnorm2 => {
                const { &[Rule { is_met: |a, b| f(a).is_nan() || f(b).is_nan(), then: PACKED }] }
            }
            _ => &[],
        }
    }

    /// Whether a left operand can decide that the rules are met, other than 0 and the most negative integer.
    pub fn asks_left_operand(self) -> bool {
        matches!(
            self,
            Binary::Pow
                | Binary::Atan2
                | Binary::FMin
                | Binary::FMax
                | Binary::Ldexp
                | Binary::PackSnorm2
                | Binary::PackUnorm2
        )
    }
}

fn does_not_divide(a: u32, b: u32) -> bool {
    b == 0 || (a == 0x8000_0000 && b == u32::MAX)
}

impl Ternary {
    pub fn rules(self) -> &'static [Rule3] {
        match self {
            Ternary::FClamp => const { &[Rule { is_met: |x, low, high| no_clamp(x, low, high), then: CLAMPED_NAN }] },
            Ternary::NClamp => const { &[Rule { is_met: |_, low, high| f(low) > f(high), then: LIMITS }] },
            Ternary::UClamp => const { &[Rule { is_met: |_, low, high| low > high, then: LIMITS }] },
            Ternary::SClamp => const { &[Rule { is_met: |_, low, high| low as i32 > high as i32, then: LIMITS }] },
            Ternary::SmoothStep => const { &[Rule { is_met: |low, high, x| no_step(low, high, x), then: EDGES }] },
            Ternary::BitFieldUExtract | Ternary::BitFieldSExtract => {
                const { &[Rule { is_met: |_, offset, count| u64::from(offset) + u64::from(count) > 32, then: WORD_FIELD }] }
            }
            Ternary::BitFieldInsert => {
                const { &[Rule { is_met: |_, _, packed| (packed & 0xffff) + (packed >> 16) > 32, then: WORD_FIELD }] }
            }
            Ternary::FMix
            | Ternary::Fma
            | Ternary::ContractedAdd
            | Ternary::ContractedSub
            | Ternary::ContractedSubFrom => &[],
        }
    }

    /// Whether the first operand has no part in the rules.
    pub fn ignores_first_operand(self) -> bool {
        matches!(
            self,
            Ternary::NClamp
                | Ternary::UClamp
                | Ternary::SClamp
                | Ternary::BitFieldUExtract
                | Ternary::BitFieldSExtract
                | Ternary::BitFieldInsert
        )
    }
}

fn no_clamp(x: u32, low: u32, high: u32) -> bool {
    f(low) > f(high) || f(x).is_nan() || f(low).is_nan() || f(high).is_nan()
}

/// The edges, or the clamp of which the function is made.
fn no_step(low: u32, high: u32, x: u32) -> bool {
    let (low, high, x) = (f(low), f(high), f(x));
    low >= high || ((x - low) / (high - low)).is_nan()
}

impl Operation {
    /// Whether something can be undefined at all.
    pub fn may_be_undefined(self) -> bool {
        match self.op {
            Sized::Unary(op) => !op.rules().is_empty(),
            Sized::Binary(op) => !op.rules().is_empty(),
            Sized::Ternary(op) => !op.rules().is_empty(),
            Sized::ToUnsigned | Sized::ToSigned => true,
            _ => false,
        }
    }

    /// What is undefined for operands given as bits, if anything.
    pub fn undefined(self, a: u64, b: u64, c: u64) -> Option<Undefined> {
        match self.op {
            Sized::Unary(op) => self.undefined1(op, self.from.float(a)),
            Sized::Binary(op) => self.undefined2(op, a, b),
            Sized::Ternary(op) => self.undefined3(op, [a, b, c]),
            Sized::ToUnsigned => {
                let x = self.from.float(a).trunc();
                // 2^width is exact in 64 bits.
                let fits = x > -1.0 && x < 2f64.powi(self.to.width().bits() as i32);
                (!fits).then_some(TO_INTEGER)
            }
            Sized::ToSigned => {
                let x = self.from.float(a).trunc();
                let limit = 2f64.powi(self.to.width().bits() as i32 - 1);
                let fits = x >= -limit && x < limit;
                (!fits).then_some(TO_INTEGER)
            }
            _ => None,
        }
    }

    fn undefined1(self, op: Unary, x: f64) -> Option<Undefined> {
        let (is_met, then) = match op {
            Unary::Sqrt => (x < 0.0, ROOT),
            Unary::InverseSqrt => (x <= 0.0, INVERSE_ROOT),
            Unary::Log | Unary::Log2 => (x <= 0.0, LOGARITHM),
            Unary::Asin => (x.abs() > 1.0, ARC_SINE),
            Unary::Acos => (x.abs() > 1.0, ARC_COSINE),
            Unary::Acosh => (x < 1.0, INVERSE_COSH),
            Unary::Atanh => (x.abs() >= 1.0, INVERSE_TANH),
            Unary::FSign => (x.is_nan(), SIGN),
            Unary::FrexpSignificand | Unary::FrexpExponent => (!x.is_finite(), SPLIT),
            Unary::PackSnorm4 | Unary::PackUnorm4 => (x.is_nan(), PACKED),
            _ => return None,
        };
        is_met.then_some(then)
    }

    fn undefined2(self, op: Binary, a: u64, b: u64) -> Option<Undefined> {
        let width = self.from.width();
        let (x, y) = (self.from.float(a), self.from.float(b));
        let (signed, divisor) = (width.signed(a), width.signed(b));
        let overflows = signed == width.least() && divisor == -1;
        let (is_met, then) = match op {
            Binary::UDiv | Binary::UMod => (b == 0, ZERO_DIVISOR),
            Binary::SDiv => (b == 0 || overflows, SIGNED_DIVISION),
            Binary::SRem | Binary::SMod if b == 0 || overflows => (true, SIGNED_REMAINDER),
            Binary::SRem | Binary::SMod => (signed < 0 || divisor < 0, NEGATIVE_REMAINDER),
            Binary::FRem | Binary::FMod => (y == 0.0, FLOAT_REMAINDER),
            Binary::ShiftRightLogical | Binary::ShiftRightArithmetic | Binary::ShiftLeftLogical => {
                (b >= u64::from(width.bits()), SHIFT)
            }
            Binary::Pow => (x < 0.0 || (x == 0.0 && y <= 0.0), POWER),
            Binary::Atan2 => (x == 0.0 && y == 0.0, ARC_TANGENT),
            Binary::FMin | Binary::FMax => (x.is_nan() || y.is_nan(), EXTREMUM),
            Binary::Ldexp => (is_too_large(self.from, a, b), SCALED),
            Binary::PackSnorm2 | Binary::PackUnorm2 => (x.is_nan() || y.is_nan(), PACKED),
            _ => return None,
        };
        is_met.then_some(then)
    }

    fn undefined3(self, op: Ternary, [a, b, c]: [u64; 3]) -> Option<Undefined> {
        let width = self.from.width();
        let bits = u64::from(width.bits());
        let [x, y, z] = [a, b, c].map(|bits| self.from.float(bits));
        let (is_met, then) = match op {
            Ternary::FClamp => (y > z || [x, y, z].iter().any(|value| value.is_nan()), CLAMPED_NAN),
            Ternary::NClamp => (y > z, LIMITS),
            Ternary::UClamp => (b > c, LIMITS),
            Ternary::SClamp => (width.signed(b) > width.signed(c), LIMITS),
            Ternary::SmoothStep => (x >= y || ((z - x) / (y - x)).is_nan(), EDGES),
            Ternary::BitFieldUExtract | Ternary::BitFieldSExtract => (b.saturating_add(c) > bits, FIELD),
            Ternary::BitFieldInsert => ((c & 0xffff) + (c >> 16) > bits, FIELD),
            Ternary::FMix
            | Ternary::Fma
            | Ternary::ContractedAdd
            | Ternary::ContractedSub
            | Ternary::ContractedSubFrom => return None,
        };
        is_met.then_some(then)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sized::Width;
    use super::*;

    fn on_halves(op: Binary, a: f64, b: u64) -> Option<Undefined> {
        let form = Form::Float(Width::W16);
        Operation::new(Sized::Binary(op), form, form).undefined(form.of_float(a), b, 0)
    }

    /// GLSL.std.450, Ldexp: the largest exponent is that of the type.
    #[test]
    fn ldexp_is_undefined_beyond_the_exponents_of_its_type() {
        let met = |a: f32, b: i32| Binary::Ldexp.rules().iter().any(|rule| (rule.is_met)(a.to_bits(), b as u32));
        assert!(met(1e-20, 129) && met(0.0, 129) && !met(0.25, 128) && met(2.0, 127) && !met(1.0, 127));
        assert!(!met(f32::INFINITY, 3) && !met(f32::NAN, 3) && !met(1.0, -400));
        assert_eq!(on_halves(Binary::Ldexp, 0.0, 17), Some(SCALED));
        assert_eq!(on_halves(Binary::Ldexp, 0.25, 16), None);
        assert_eq!(on_halves(Binary::Ldexp, 2.0, 15), Some(SCALED));
    }

    /// GLSL.std.450, NClamp: of a NaN and a number the number counts.
    #[test]
    fn a_clamp_of_numbers_asks_its_limits_alone() {
        let met = |operands: [f32; 3]| {
            let [x, low, high] = operands.map(f32::to_bits);
            Ternary::NClamp.rules().iter().any(|rule| (rule.is_met)(x, low, high))
        };
        assert!(met([1.0, 3.0, 2.0]) && !met([f32::NAN, 2.0, 2.0]) && !met([1.0, f32::NAN, 2.0]));
    }

    #[test]
    fn a_negative_remainder_has_no_value_and_one_by_zero_no_behaviour() {
        let extents = |a: i32, b: i32| {
            let rules = Binary::SRem.rules().iter().filter(|rule| (rule.is_met)(a as u32, b as u32));
            rules.map(|rule| rule.then.extent).collect::<Vec<_>>()
        };
        assert_eq!(extents(7, 2), []);
        assert_eq!(extents(-7, 2), [Extent::Value]);
        assert_eq!(extents(7, -2), [Extent::Value]);
        assert_eq!(extents(7, 0), [Extent::Behaviour]);
        assert_eq!(extents(-7, 0), [Extent::Behaviour]);
    }
}
