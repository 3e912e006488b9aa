//! Operands as the rules of `undefined` see them: words, or numbers of any width.

use crate::operation::sized::NumberFormat;
use std::ops::{Div, Sub};

/// A number of any width, as its bits.
#[derive(Debug, Clone, Copy)]
pub struct SizedNumber {
    /// How the bits are read.
    pub form: NumberFormat,
    /// The bits; those above the width are 0.
    pub bits: u64,
}

/// An operand as a rule sees it.
pub(super) trait RuleOperand: Copy {
    type Real: RuleFloat;
    fn form(self) -> NumberFormat;
    /// Zero-extended.
    fn bits(self) -> u64;
    /// The float that the bits are.
    fn real(self) -> Self::Real;

    fn signed(self) -> i64 {
        self.form().width().sign_extended(self.bits())
    }
}

/// A float as a rule compares it.
pub(super) trait RuleFloat:
    Copy + PartialOrd + Sub<Output = Self> + Div<Output = Self>
{
    fn of(value: f32) -> Self;
    /// For an exponent of a normal number.
    fn power_of_two(exponent: u32) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
    fn abs(self) -> Self;
    fn trunc(self) -> Self;
}

macro_rules! real {
    ($float:ident, $bits:ident, $digits:literal) => {
        impl RuleFloat for $float {
            fn of(value: f32) -> Self {
                value.into()
            }
            fn power_of_two(exponent: u32) -> Self {
                let bias = $float::MAX_EXP - 1;
                $float::from_bits(<$bits>::from(bias as u32 + exponent) << ($digits - 1))
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            fn abs(self) -> Self {
                self.abs()
            }
            fn trunc(self) -> Self {
                self.trunc()
            }
        }
    };
}

real!(f32, u32, 24);

real!(f64, u64, 53);

impl RuleOperand for u32 {
    type Real = f32;
    fn form(self) -> NumberFormat {
        NumberFormat::FLOAT
    }
    fn bits(self) -> u64 {
        self.into()
    }
    fn real(self) -> f32 {
        f32::from_bits(self)
    }
    fn signed(self) -> i64 {
        (self as i32).into()
    }
}

impl RuleOperand for SizedNumber {
    type Real = f64;
    fn form(self) -> NumberFormat {
        self.form
    }
    fn bits(self) -> u64 {
        self.bits
    }
    fn real(self) -> f64 {
        self.form.to_float(self.bits)
    }
}
