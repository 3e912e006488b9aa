//! Operations on numbers of any width: what each computes from the bits of its operands.
//!
//! Knows: integers of 8, 16, 32 and 64 bits, IEEE 754 floats of 16, 32 and 64 bits and bfloat16, as
//! bits in the low end of a 64-bit word whose other bits are 0.
//! Promises: every operation has a result for every operand. Basic float operations and conversions
//! are rounded once, to nearest even or where the operation says; what is undefined is named by
//! [`Operation::undefined`] and has the result that `word` documents, with the operand's width in
//! place of 32. On 32 bits both files compute the same (tested).
//! Does not cover: speed: the machine uses `word` for 32 bits.

mod floats;
mod integers;

pub use crate::operation::number::{Form, Width};
use crate::operation::operator::{Binary, Classify, Compare, Ternary, Unary};
use crate::operation::table::Rounding;
use floats::{float_function, scale};
pub use floats::{frexp, is_too_large};
use integers::{integer1, integer2, integer3};
use vkcert_oracle::float::{ExactReal, RoundingDirection};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sized {
    Unary(Unary),
    Binary(Binary),
    Ternary(Ternary),
    /// From one form to another: integers by their unsigned value.
    FromUnsigned,
    /// Integers by their signed value.
    FromSigned,
    ToUnsigned,
    ToSigned,
    /// Between floats.
    Round,
    /// A denormal float becomes a zero of its sign.
    Flush,
}

impl Sized {
    pub fn operands(self) -> usize {
        match self {
            Sized::Binary(_) => 2,
            Sized::Ternary(_) => 3,
            Sized::Unary(_)
            | Sized::FromUnsigned
            | Sized::FromSigned
            | Sized::ToUnsigned
            | Sized::ToSigned
            | Sized::Round
            | Sized::Flush => 1,
        }
    }

    /// Whether the result depends on which way it is rounded.
    pub fn rounds(self) -> bool {
        match self {
            Sized::Unary(op) => op.row().rounding == Rounding::Rounded,
            Sized::Binary(op) => op.row().rounding == Rounding::Rounded,
            Sized::Ternary(op) => op.row().rounding == Rounding::Rounded,
            Sized::FromUnsigned | Sized::FromSigned | Sized::Round => true,
            Sized::ToUnsigned | Sized::ToSigned | Sized::Flush => false,
        }
    }

    /// How many of its operands, from the first on, are floats where the first one is; the others
    /// are integers.
    pub fn float_operands(self) -> usize {
        match self {
            Sized::Unary(op) => op.row().float_operands(1),
            Sized::Binary(op) => op.row().float_operands(2),
            Sized::Ternary(op) => op.row().float_operands(3),
            Sized::FromUnsigned
            | Sized::FromSigned
            | Sized::ToUnsigned
            | Sized::ToSigned
            | Sized::Round
            | Sized::Flush => 1,
        }
    }
}

/// An operation with the forms of its first operand and of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub op: Sized,
    pub from: Form,
    pub to: Form,
    /// Which way a float result is rounded.
    pub rounding: RoundingDirection,
}

impl Operation {
    /// With float results rounded to the nearest.
    pub fn new(op: Sized, from: Form, to: Form) -> Self {
        Self { op, from, to, rounding: RoundingDirection::Nearest }
    }

    /// The bits of a float result that was computed with twice the digits or more.
    fn float_bits(self, value: f64) -> u64 {
        match (self.rounding, self.to.format()) {
            (RoundingDirection::Nearest, _) | (_, None) => self.to.of_float(value),
            (direction, Some(format)) => {
                ExactReal::from_double(value).rounded_bits(format, direction)
            }
        }
    }

    /// The rounded result of basic operations; none of others, and where an ordinary one is as
    /// good.
    fn basic(self, a: u64, b: u64, c: u64) -> Option<u64> {
        let (direction, fused) =
            (self.rounding, matches!(self.op, Sized::Ternary(op) if op.is_fused()));
        if direction == RoundingDirection::Nearest
            && (!fused || self.from == Form::Float(Width::W64))
        {
            return None;
        }
        let (from, to) = (self.from.format()?, self.to.format()?);
        let [x, y, z] = [a, b, c].map(|bits| ExactReal::from_bits(from, bits));
        let real = match self.op {
            Sized::Binary(Binary::FAdd) => x.plus(y, direction),
            Sized::Binary(Binary::FSub) => x.plus(y.negated(), direction),
            Sized::Binary(Binary::FMul) => x.times(y),
            Sized::Binary(Binary::FDiv | Binary::NormalizedComponent) => x.divided_by(y),
            Sized::Binary(Binary::Ldexp) => x.scaled_by_power(Width::W32.signed(b) as i32),
            Sized::Unary(Unary::Sqrt | Unary::SqrtToNormalize) => x.square_root(),
            Sized::Ternary(Ternary::Fma | Ternary::ContractedAdd) => x.times(y).plus(z, direction),
            Sized::Ternary(Ternary::ContractedSub) => x.times(y).plus(z.negated(), direction),
            Sized::Ternary(Ternary::ContractedSubFrom) => x.times(y).negated().plus(z, direction),
            Sized::Round => x,
            _ => return None,
        };
        Some(real.rounded_bits(to, direction))
    }

    /// The result for operands given as bits; those that the operation does not have are ignored.
    /// None: there is no such operation on this form.
    pub fn value(self, a: u64, b: u64, c: u64) -> Option<u64> {
        if let Some(bits) = self.basic(a, b, c) {
            return Some(bits);
        }
        let width = self.from.width();
        let bits = match self.op {
            Sized::Unary(op) => match self.from {
                Form::Integer(_) => integer1(op, width, a)?,
                Form::Float(_) | Form::Brain => self.float1(op, a)?,
            },
            Sized::Binary(op) => match self.from {
                Form::Integer(_) => integer2(op, width, a, b)?,
                Form::Float(_) | Form::Brain => self.float2(op, a, b)?,
            },
            Sized::Ternary(op) => match self.from {
                Form::Integer(_) => integer3(op, width, a, b, c)?,
                Form::Float(_) | Form::Brain => self.float3(op, a, b, c)?,
            },
            Sized::FromUnsigned => match (self.to.format(), self.rounding, self.to) {
                (None, _, _) => a,
                (_, RoundingDirection::Nearest, Form::Float(Width::W32)) => {
                    u64::from((a as f32).to_bits())
                }
                (_, RoundingDirection::Nearest, Form::Float(Width::W64)) => (a as f64).to_bits(),
                (Some(format), direction, _) => {
                    ExactReal::from_unsigned(a).rounded_bits(format, direction)
                }
            },
            Sized::FromSigned => {
                match (self.to.format(), self.rounding, self.to, width.signed(a)) {
                    (None, _, _, a) => a as u64,
                    (_, RoundingDirection::Nearest, Form::Float(Width::W32), a) => {
                        u64::from((a as f32).to_bits())
                    }
                    (_, RoundingDirection::Nearest, Form::Float(Width::W64), a) => {
                        (a as f64).to_bits()
                    }
                    (Some(format), direction, _, a) => {
                        ExactReal::from_signed(a).rounded_bits(format, direction)
                    }
                }
            }
            Sized::ToUnsigned => {
                let most = self.to.width().mask();
                (self.from.float(a) as u64).min(most)
            }
            Sized::ToSigned => {
                let (least, most) = (self.to.width().least(), (self.to.width().mask() >> 1) as i64);
                (self.from.float(a) as i64).clamp(least, most) as u64
            }
            Sized::Round => self.float_bits(self.from.float(a)),
            Sized::Flush => self.from.format()?.flush_denormal(a),
        };
        Some(bits & self.to.width().mask())
    }

    fn float1(self, op: Unary, a: u64) -> Option<u64> {
        let width = self.from.width();
        let sign = 1 << (width.bits() - 1);
        match op {
            Unary::FNegate => return Some(a ^ sign),
            Unary::FAbs => return Some(a & !sign),
            Unary::FrexpExponent => return Some(frexp(self.from.float(a)).1 as u64),
            _ => {}
        }
        Some(self.float_bits(float_function(op)?(self.from.float(a))))
    }

    fn float2(self, op: Binary, a: u64, b: u64) -> Option<u64> {
        if op == Binary::Ldexp {
            let exponent = Width::W32.signed(b).clamp(-4400, 4400) as i32;
            return Some(self.float_bits(scale(self.from.float(a), exponent)));
        }
        let (x, y) = (self.from.float(a), self.from.float(b));
        // A comparison gives an operand back, bits and all.
        let pick = |first: bool| if first { a } else { b };
        Some(match op {
            Binary::FMin => {
                if y < x {
                    b
                } else {
                    a
                }
            }
            Binary::FMax => {
                if x < y {
                    b
                } else {
                    a
                }
            }
            Binary::NMin => pick(y.is_nan() || x < y || (x == y && x.is_sign_negative())),
            Binary::NMax => pick(y.is_nan() || x > y || (x == y && x.is_sign_positive())),
            Binary::FAdd => self.float_bits(x + y),
            Binary::FSub => self.float_bits(x - y),
            Binary::FMul => self.float_bits(x * y),
            Binary::FDiv | Binary::NormalizedComponent => self.float_bits(x / y),
            Binary::FRem => self.float_bits(x % y),
            Binary::FMod => {
                let quotient = self.to.float(self.step(Binary::FDiv, a, b)?).floor();
                self.step(Binary::FSub, a, self.step(Binary::FMul, b, self.to.of_float(quotient))?)?
            }
            Binary::Pow => self.float_bits(x.powf(y)),
            Binary::Atan2 => self.float_bits(x.atan2(y)),
            Binary::Step => self.float_bits(if y < x { 0.0 } else { 1.0 }),
            _ => return None,
        })
    }

    fn float3(self, op: Ternary, a: u64, b: u64, c: u64) -> Option<u64> {
        let [x, y, z] = [a, b, c].map(|bits| self.from.float(bits));
        let number = |value: f64| self.to.of_float(value);
        let [add, sub, mul] = [Binary::FAdd, Binary::FSub, Binary::FMul];
        Some(match op {
            Ternary::FClamp => {
                let (least, bits) = if x < y { (y, b) } else { (x, a) };
                if z < least { c } else { bits }
            }
            Ternary::NClamp => {
                let least = x.max(y);
                self.float_bits(least.min(z))
            }
            Ternary::FMix => {
                let rest = self.step(sub, number(1.0), c)?;
                self.step(add, self.step(mul, a, rest)?, self.step(mul, b, c)?)?
            }
            Ternary::SmoothStep => {
                let t = self.step(Binary::FDiv, self.step(sub, c, a)?, self.step(sub, b, a)?)?;
                let t = number(self.to.float(t).clamp(0.0, 1.0));
                let rest = self.step(sub, number(3.0), self.step(mul, number(2.0), t)?)?;
                self.step(mul, self.step(mul, t, t)?, rest)?
            }
            Ternary::UClamp
            | Ternary::SClamp
            | Ternary::BitFieldSExtract
            | Ternary::BitFieldUExtract
            | Ternary::BitFieldInsert => return None,
            // What is left to the processor; others are computed before (`basic`).
            Ternary::Fma | Ternary::ContractedAdd => self.float_bits(x.mul_add(y, z)),
            Ternary::ContractedSub => self.float_bits(x.mul_add(y, -z)),
            Ternary::ContractedSubFrom => self.float_bits((-x).mul_add(y, z)),
        })
    }

    /// A step of a composed function, rounded by itself.
    fn step(self, op: Binary, a: u64, b: u64) -> Option<u64> {
        Operation { op: Sized::Binary(op), from: self.to, ..self }.value(a, b, 0)
    }

    /// Whether there is such an operation.
    pub fn exists(self) -> bool {
        self.value(0, 1, 1).is_some()
    }
}

/// What is asked of one or two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Compare(Compare),
    Classify(Classify),
}

impl Relation {
    pub fn operands(self) -> usize {
        match self {
            Relation::Compare(_) => 2,
            Relation::Classify(_) => 1,
        }
    }

    pub fn holds(self, form: Form, a: u64, b: u64) -> bool {
        let width = form.width();
        let (x, y) = (width.signed(a), width.signed(b));
        let (p, q) = (form.float(a), form.float(b));
        let unordered = p.is_nan() || q.is_nan();
        match self {
            Relation::Classify(Classify::IsNan) => p.is_nan(),
            Relation::Classify(Classify::IsInf) => p.is_infinite(),
            Relation::Compare(op) => match op {
                Compare::IEqual => a == b,
                Compare::INotEqual => a != b,
                Compare::UGreaterThan => a > b,
                Compare::SGreaterThan => x > y,
                Compare::UGreaterThanEqual => a >= b,
                Compare::SGreaterThanEqual => x >= y,
                Compare::ULessThan => a < b,
                Compare::SLessThan => x < y,
                Compare::ULessThanEqual => a <= b,
                Compare::SLessThanEqual => x <= y,
                Compare::FOrdEqual => p == q,
                Compare::FUnordEqual => unordered || p == q,
                Compare::FOrdNotEqual => !unordered && p != q,
                Compare::FUnordNotEqual => p != q,
                Compare::FOrdLessThan => p < q,
                Compare::FUnordLessThan => unordered || p < q,
                Compare::FOrdGreaterThan => p > q,
                Compare::FUnordGreaterThan => unordered || p > q,
                Compare::FOrdLessThanEqual => p <= q,
                Compare::FUnordLessThanEqual => unordered || p <= q,
                Compare::FOrdGreaterThanEqual => p >= q,
                Compare::FUnordGreaterThanEqual => unordered || p >= q,
                Compare::Ordered => !unordered,
                Compare::Unordered => unordered,
            },
        }
    }
}

#[cfg(test)]
mod tests;
