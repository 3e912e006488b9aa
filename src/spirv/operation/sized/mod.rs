//! Operations on numbers of any width: what each computes from the bits of its operands.
//!
//! Knows: integers of 8, 16, 32 and 64 bits, IEEE 754 floats of 16, 32 and 64 bits and bfloat16, as
//! bits in the low end of a 64-bit word whose other bits are 0.
//! Promises: every operation has a result for every operand. Basic float operations and conversions
//! are rounded once, to nearest even or where the operation says; what is undefined is named by
//! [`Operation::undefined_for`] and has the result that `word` documents, with the operand's width in
//! place of 32. On 32 bits both files compute the same (tested).
//! Does not cover: speed: the machine uses `word` for 32 bits.

mod floats;
mod integers;

pub use crate::operation::number::{NumberFormat, Width};
use crate::operation::operator::{Binary, Classify, Compare, Ternary, Unary};
use crate::operation::table::RoundingDependence;
use floats::{float_function, scale_by_power};
pub use floats::{frexp, is_too_large};
use integers::{binary_on_integers, ternary_on_integers, unary_on_integer};
use vkcert_oracle::float::{ExactReal, RoundingDirection};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizedOperator {
    /// Of one number.
    Unary(Unary),
    /// Of two numbers.
    Binary(Binary),
    /// Of three numbers.
    Ternary(Ternary),
    /// From one form to another: integers by their unsigned value.
    FromUnsigned,
    /// Integers by their signed value.
    FromSigned,
    /// From a float to an unsigned integer.
    ToUnsigned,
    /// From a float to a signed integer.
    ToSigned,
    /// Between floats.
    Round,
    /// A denormal float becomes a zero of its sign.
    Flush,
}

impl SizedOperator {
    /// Number of operands, 1 to 3.
    pub fn operand_count(self) -> usize {
        match self {
            SizedOperator::Binary(_) => 2,
            SizedOperator::Ternary(_) => 3,
            SizedOperator::Unary(_)
            | SizedOperator::FromUnsigned
            | SizedOperator::FromSigned
            | SizedOperator::ToUnsigned
            | SizedOperator::ToSigned
            | SizedOperator::Round
            | SizedOperator::Flush => 1,
        }
    }

    /// Whether the result depends on which way it is rounded.
    pub fn is_rounded(self) -> bool {
        match self {
            SizedOperator::Unary(op) => op.row().rounding == RoundingDependence::Rounded,
            SizedOperator::Binary(op) => op.row().rounding == RoundingDependence::Rounded,
            SizedOperator::Ternary(op) => op.row().rounding == RoundingDependence::Rounded,
            SizedOperator::FromUnsigned | SizedOperator::FromSigned | SizedOperator::Round => true,
            SizedOperator::ToUnsigned | SizedOperator::ToSigned | SizedOperator::Flush => false,
        }
    }

    /// How many of its operands, from the first on, are floats where the first one is; the others
    /// are integers.
    pub fn float_operands(self) -> usize {
        match self {
            SizedOperator::Unary(op) => op.row().float_operands(1),
            SizedOperator::Binary(op) => op.row().float_operands(2),
            SizedOperator::Ternary(op) => op.row().float_operands(3),
            SizedOperator::FromUnsigned
            | SizedOperator::FromSigned
            | SizedOperator::ToUnsigned
            | SizedOperator::ToSigned
            | SizedOperator::Round
            | SizedOperator::Flush => 1,
        }
    }
}

/// An operation with the forms of its first operand and of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// What is computed.
    pub op: SizedOperator,
    /// How the first operand is read.
    pub from: NumberFormat,
    /// How the result is read.
    pub to: NumberFormat,
    /// Which way a float result is rounded.
    pub rounding: RoundingDirection,
}

impl Operation {
    /// With float results rounded to the nearest.
    pub fn new(
        op: SizedOperator,
        operand_format: NumberFormat,
        result_format: NumberFormat,
    ) -> Self {
        Self { op, from: operand_format, to: result_format, rounding: RoundingDirection::Nearest }
    }

    /// The bits of a float result that was computed with twice the digits or more.
    fn float_bits(self, value: f64) -> u64 {
        match (self.rounding, self.to.float_format()) {
            (RoundingDirection::Nearest, _) | (_, None) => self.to.from_float(value),
            (direction, Some(format)) => {
                ExactReal::from_double(value).rounded_bits(format, direction)
            }
        }
    }

    /// The rounded result of basic operations; none of others, and where an ordinary one is as
    /// good.
    fn rounded_basic(self, first_bits: u64, second_bits: u64, third_bits: u64) -> Option<u64> {
        let (direction, fused) =
            (self.rounding, matches!(self.op, SizedOperator::Ternary(op) if op.is_fused()));
        if direction == RoundingDirection::Nearest
            && (!fused || self.from == NumberFormat::Float(Width::W64))
        {
            return None;
        }
        let (operand_format, result_format) = (self.from.float_format()?, self.to.float_format()?);
        let [x, y, z] = [first_bits, second_bits, third_bits]
            .map(|bits| ExactReal::from_bits(operand_format, bits));
        let exact_result = match self.op {
            SizedOperator::Binary(Binary::FAdd) => x.plus(y, direction),
            SizedOperator::Binary(Binary::FSub) => x.plus(y.negated(), direction),
            SizedOperator::Binary(Binary::FMul) => x.times(y),
            SizedOperator::Binary(Binary::FDiv | Binary::NormalizedComponent) => x.divided_by(y),
            SizedOperator::Binary(Binary::Ldexp) => {
                x.scaled_by_power(Width::W32.sign_extended(second_bits) as i32)
            }
            SizedOperator::Unary(Unary::Sqrt | Unary::SqrtToNormalize) => x.square_root(),
            SizedOperator::Ternary(Ternary::Fma | Ternary::ContractedAdd) => {
                x.times(y).plus(z, direction)
            }
            SizedOperator::Ternary(Ternary::ContractedSub) => {
                x.times(y).plus(z.negated(), direction)
            }
            SizedOperator::Ternary(Ternary::ContractedSubFrom) => {
                x.times(y).negated().plus(z, direction)
            }
            SizedOperator::Round => x,
            _ => return None,
        };
        Some(exact_result.rounded_bits(result_format, direction))
    }

    /// The result for operands given as bits; those that the operation does not have are ignored.
    /// None: there is no such operation on this form.
    pub fn result_bits(self, first_bits: u64, second_bits: u64, third_bits: u64) -> Option<u64> {
        if let Some(bits) = self.rounded_basic(first_bits, second_bits, third_bits) {
            return Some(bits);
        }
        let width = self.from.width();
        let bits = match self.op {
            SizedOperator::Unary(op) => match self.from {
                NumberFormat::Integer(_) => unary_on_integer(op, width, first_bits)?,
                NumberFormat::Float(_) | NumberFormat::Brain => {
                    self.unary_on_float(op, first_bits)?
                }
            },
            SizedOperator::Binary(op) => match self.from {
                NumberFormat::Integer(_) => binary_on_integers(op, width, first_bits, second_bits)?,
                NumberFormat::Float(_) | NumberFormat::Brain => {
                    self.binary_on_floats(op, first_bits, second_bits)?
                }
            },
            SizedOperator::Ternary(op) => match self.from {
                NumberFormat::Integer(_) => {
                    ternary_on_integers(op, width, first_bits, second_bits, third_bits)?
                }
                NumberFormat::Float(_) | NumberFormat::Brain => {
                    self.ternary_on_floats(op, first_bits, second_bits, third_bits)?
                }
            },
            SizedOperator::FromUnsigned => match (self.to.float_format(), self.rounding, self.to) {
                (None, _, _) => first_bits,
                (_, RoundingDirection::Nearest, NumberFormat::Float(Width::W32)) => {
                    u64::from((first_bits as f32).to_bits())
                }
                (_, RoundingDirection::Nearest, NumberFormat::Float(Width::W64)) => {
                    (first_bits as f64).to_bits()
                }
                (Some(format), direction, _) => {
                    ExactReal::from_unsigned(first_bits).rounded_bits(format, direction)
                }
            },
            SizedOperator::FromSigned => {
                match (
                    self.to.float_format(),
                    self.rounding,
                    self.to,
                    width.sign_extended(first_bits),
                ) {
                    (None, _, _, first_bits) => first_bits as u64,
                    (
                        _,
                        RoundingDirection::Nearest,
                        NumberFormat::Float(Width::W32),
                        first_bits,
                    ) => u64::from((first_bits as f32).to_bits()),
                    (
                        _,
                        RoundingDirection::Nearest,
                        NumberFormat::Float(Width::W64),
                        first_bits,
                    ) => (first_bits as f64).to_bits(),
                    (Some(format), direction, _, first_bits) => {
                        ExactReal::from_signed(first_bits).rounded_bits(format, direction)
                    }
                }
            }
            SizedOperator::ToUnsigned => {
                let largest_value = self.to.width().value_mask();
                (self.from.to_float(first_bits) as u64).min(largest_value)
            }
            SizedOperator::ToSigned => {
                let (least_value, largest_value) =
                    (self.to.width().least_signed(), (self.to.width().value_mask() >> 1) as i64);
                (self.from.to_float(first_bits) as i64).clamp(least_value, largest_value) as u64
            }
            SizedOperator::Round => self.float_bits(self.from.to_float(first_bits)),
            SizedOperator::Flush => self.from.float_format()?.flush_denormal(first_bits),
        };
        Some(bits & self.to.width().value_mask())
    }

    fn unary_on_float(self, op: Unary, operand_bits: u64) -> Option<u64> {
        let width = self.from.width();
        let sign_bit = 1 << (width.bits() - 1);
        match op {
            Unary::FNegate => return Some(operand_bits ^ sign_bit),
            Unary::FAbs => return Some(operand_bits & !sign_bit),
            Unary::FrexpExponent => return Some(frexp(self.from.to_float(operand_bits)).1 as u64),
            _ => {}
        }
        Some(self.float_bits(float_function(op)?(self.from.to_float(operand_bits))))
    }

    fn binary_on_floats(self, op: Binary, first_bits: u64, second_bits: u64) -> Option<u64> {
        if op == Binary::Ldexp {
            let exponent = Width::W32.sign_extended(second_bits).clamp(-4400, 4400) as i32;
            return Some(self.float_bits(scale_by_power(self.from.to_float(first_bits), exponent)));
        }
        let (x, y) = (self.from.to_float(first_bits), self.from.to_float(second_bits));
        // A comparison gives an operand back, bits and all.
        let pick_operand = |takes_first: bool| if takes_first { first_bits } else { second_bits };
        Some(match op {
            Binary::FMin => {
                if y < x {
                    second_bits
                } else {
                    first_bits
                }
            }
            Binary::FMax => {
                if x < y {
                    second_bits
                } else {
                    first_bits
                }
            }
            Binary::NMin => pick_operand(y.is_nan() || x < y || (x == y && x.is_sign_negative())),
            Binary::NMax => pick_operand(y.is_nan() || x > y || (x == y && x.is_sign_positive())),
            Binary::FAdd => self.float_bits(x + y),
            Binary::FSub => self.float_bits(x - y),
            Binary::FMul => self.float_bits(x * y),
            Binary::FDiv | Binary::NormalizedComponent => self.float_bits(x / y),
            Binary::FRem => self.float_bits(x % y),
            Binary::FMod => {
                let quotient = self
                    .to
                    .to_float(self.composed_step(Binary::FDiv, first_bits, second_bits)?)
                    .floor();
                self.composed_step(
                    Binary::FSub,
                    first_bits,
                    self.composed_step(Binary::FMul, second_bits, self.to.from_float(quotient))?,
                )?
            }
            Binary::Pow => self.float_bits(x.powf(y)),
            Binary::Atan2 => self.float_bits(x.atan2(y)),
            Binary::Step => self.float_bits(if y < x { 0.0 } else { 1.0 }),
            _ => return None,
        })
    }

    fn ternary_on_floats(
        self,
        op: Ternary,
        first_bits: u64,
        second_bits: u64,
        third_bits: u64,
    ) -> Option<u64> {
        let [x, y, z] = [first_bits, second_bits, third_bits].map(|bits| self.from.to_float(bits));
        let number_bits = |value: f64| self.to.from_float(value);
        let [sum_operator, difference_operator, product_operator] =
            [Binary::FAdd, Binary::FSub, Binary::FMul];
        Some(match op {
            Ternary::FClamp => {
                let (at_least_low, bits) = if x < y { (y, second_bits) } else { (x, first_bits) };
                if z < at_least_low { third_bits } else { bits }
            }
            Ternary::NClamp => {
                let at_least_low = x.max(y);
                self.float_bits(at_least_low.min(z))
            }
            Ternary::FMix => {
                let remaining_factor =
                    self.composed_step(difference_operator, number_bits(1.0), third_bits)?;
                self.composed_step(
                    sum_operator,
                    self.composed_step(product_operator, first_bits, remaining_factor)?,
                    self.composed_step(product_operator, second_bits, third_bits)?,
                )?
            }
            Ternary::SmoothStep => {
                let step_position = self.composed_step(
                    Binary::FDiv,
                    self.composed_step(difference_operator, third_bits, first_bits)?,
                    self.composed_step(difference_operator, second_bits, first_bits)?,
                )?;
                let step_position = number_bits(self.to.to_float(step_position).clamp(0.0, 1.0));
                let remaining_factor = self.composed_step(
                    difference_operator,
                    number_bits(3.0),
                    self.composed_step(product_operator, number_bits(2.0), step_position)?,
                )?;
                self.composed_step(
                    product_operator,
                    self.composed_step(product_operator, step_position, step_position)?,
                    remaining_factor,
                )?
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
    fn composed_step(self, op: Binary, first_bits: u64, second_bits: u64) -> Option<u64> {
        Operation { op: SizedOperator::Binary(op), from: self.to, ..self }.result_bits(
            first_bits,
            second_bits,
            0,
        )
    }

    /// Whether there is such an operation.
    pub fn exists(self) -> bool {
        self.result_bits(0, 1, 1).is_some()
    }
}

/// What is asked of one or two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// A comparison of two.
    Compare(Compare),
    /// A question about one.
    Classify(Classify),
}

impl Relation {
    /// Number of operands, 1 or 2.
    pub fn operand_count(self) -> usize {
        match self {
            Relation::Compare(_) => 2,
            Relation::Classify(_) => 1,
        }
    }

    /// Whether it holds for numbers of this format; the second is not looked at where one is asked
    /// about.
    pub fn holds(self, number_format: NumberFormat, first_bits: u64, second_bits: u64) -> bool {
        let width = number_format.width();
        let (first_signed, second_signed) =
            (width.sign_extended(first_bits), width.sign_extended(second_bits));
        let (first_float, second_float) =
            (number_format.to_float(first_bits), number_format.to_float(second_bits));
        let is_unordered = first_float.is_nan() || second_float.is_nan();
        match self {
            Relation::Classify(Classify::IsNan) => first_float.is_nan(),
            Relation::Classify(Classify::IsInf) => first_float.is_infinite(),
            Relation::Compare(op) => match op {
                Compare::IEqual => first_bits == second_bits,
                Compare::INotEqual => first_bits != second_bits,
                Compare::UGreaterThan => first_bits > second_bits,
                Compare::SGreaterThan => first_signed > second_signed,
                Compare::UGreaterThanEqual => first_bits >= second_bits,
                Compare::SGreaterThanEqual => first_signed >= second_signed,
                Compare::ULessThan => first_bits < second_bits,
                Compare::SLessThan => first_signed < second_signed,
                Compare::ULessThanEqual => first_bits <= second_bits,
                Compare::SLessThanEqual => first_signed <= second_signed,
                Compare::FOrdEqual => first_float == second_float,
                Compare::FUnordEqual => is_unordered || first_float == second_float,
                Compare::FOrdNotEqual => !is_unordered && first_float != second_float,
                Compare::FUnordNotEqual => first_float != second_float,
                Compare::FOrdLessThan => first_float < second_float,
                Compare::FUnordLessThan => is_unordered || first_float < second_float,
                Compare::FOrdGreaterThan => first_float > second_float,
                Compare::FUnordGreaterThan => is_unordered || first_float > second_float,
                Compare::FOrdLessThanEqual => first_float <= second_float,
                Compare::FUnordLessThanEqual => is_unordered || first_float <= second_float,
                Compare::FOrdGreaterThanEqual => first_float >= second_float,
                Compare::FUnordGreaterThanEqual => is_unordered || first_float >= second_float,
                Compare::Ordered => !is_unordered,
                Compare::Unordered => is_unordered,
            },
        }
    }
}

#[cfg(test)]
mod tests;
