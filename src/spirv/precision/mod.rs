//! How far the result of a floating-point operation may lie from the exact one.
//!
//! Knows: the tables of the Vulkan specification, appendix "Vulkan Environment for SPIR-V", section
//! "Precision and Operation of SPIR-V Instructions", for single and half precision: what its bounds
//! mean and the formulas that bounds are inherited from. Which operation has which bound stands in
//! the row of the operation (`operation::table`).
//! Promises: every value of a [`PermittedRange`] is one that the specification permits. Where a bound is
//! inherited from a formula, its ends come from evaluations of that formula whose every step is at
//! an end of what is permitted for it, so that the range may be too narrow and is never too wide.
//! Does not cover: double precision (the specification asks for single precision at least),
//! formulas equivalent to the one given, expressions that are rearranged (`docs/agreement.md`).
//! Exact values are 64-bit floats: their own error is less than 2^-28 units in the last place of
//! single precision.

pub(crate) mod formula;
mod freedom;

use super::operation::table::bounds_table;
use formula::farthest_distance;
pub use formula::{BoundFormula, FormulaEvaluation};
pub use freedom::{ImplementationFreedom, PermittedDenormals, PermittedRounding};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use std::sync::LazyLock;

/// A binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatWidth {
    /// 16 bits.
    Half,
    /// 32 bits.
    Single,
}

impl FloatWidth {
    /// Digits of the significand, and the exponent of the least normal number.
    fn digits_and_exponent(self) -> (i32, i32) {
        match self {
            FloatWidth::Half => (11, -14),
            FloatWidth::Single => (24, -126),
        }
    }

    /// The largest finite number.
    pub fn largest_finite(self) -> f64 {
        match self {
            FloatWidth::Half => 65504.0,
            FloatWidth::Single => f64::from(f32::MAX),
        }
    }

    /// Distance of the numbers of this format around a finite `x`.
    fn spacing_at(self, value: f64) -> f64 {
        let (digits, least_exponent) = self.digits_and_exponent();
        2f64.powi(binary_exponent(value).max(least_exponent) - digits + 1)
    }

    /// The largest number of this format that is not above `x`.
    pub(crate) fn at_most(self, x: f64) -> f64 {
        if !x.is_finite() {
            return x;
        }
        let quantum = self.spacing_at(x);
        let below = (x / quantum).floor() * quantum;
        if below > self.largest_finite() {
            self.largest_finite()
        } else if below < -self.largest_finite() {
            f64::NEG_INFINITY
        } else {
            below
        }
    }

    /// The least number of this format that is not below `x`.
    pub fn at_least(self, x: f64) -> f64 {
        -self.at_most(-x)
    }

    /// `ulp(x)` of the specification: the least distance of two finite numbers of this format with
    /// `x` between or at them.
    pub(crate) fn ulp_at(self, x: f64) -> f64 {
        let largest = self.largest_finite();
        let x = x.abs().min(largest);
        let (_, least_exponent) = self.digits_and_exponent();
        let spacing = self.spacing_at(x);
        let power_of_two = x == 2f64.powi(binary_exponent(x));
        if power_of_two && binary_exponent(x) > least_exponent { spacing / 2.0 } else { spacing }
    }
}

/// The exponent of a finite number: `1 <= |x| / 2^exponent < 2`; far below any format's for zero.
fn binary_exponent(x: f64) -> i32 {
    match (x.to_bits() >> 52 & 0x7ff) as i32 {
        0 => -1023,
        biased_exponent => biased_exponent - 1023,
    }
}

/// A floating-point operation on scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundedOperation {
    /// Of the core instructions.
    Core(Op),
    /// Of GLSL.std.450.
    Extended(GLOp),
    /// A component of `normalize`: the component, and the length of the vector.
    NormalizedComponent,
    /// A product and a sum rounded once, as contraction makes it of OpFMul and OpFAdd or OpFSub.
    Contracted,
}

/// What an operation may return.
#[derive(Clone, Copy)]
pub enum ErrorBound {
    /// The exact result, which is always representable, or which the specification gives no other
    /// bound for.
    Exact,
    /// One of the two representable numbers around the exact result.
    CorrectlyRounded,
    /// Units in the last place of the exact result.
    Ulp(f64),
    /// The same, by the operands.
    UlpBy(fn(&[f64]) -> f64),
    /// Distance from the exact result. The specification gives it for [-pi, pi] and none elsewhere;
    /// it is taken for everywhere.
    Absolute(f64),
    /// A distance where the operand is in [0.5, 2], elsewhere 3 units in the last place.
    Logarithm(f64),
    /// As far from the exact result as evaluations of a formula are.
    Inherited(BoundFormula),
}

/// The exact result of an operation and what it may return instead.
#[derive(Clone, Copy)]
pub struct OperationBounds {
    /// The infinitely precise result.
    pub exact: fn(&[f64]) -> f64,
    /// What it may return instead with 32 bits.
    pub single: ErrorBound,
    /// The same with 16 bits.
    pub half: ErrorBound,
}

/// A row of the specification's table.
pub struct BoundsRow {
    /// The operation.
    pub operation: BoundedOperation,
    /// Its exact result and its bounds.
    pub bounds: OperationBounds,
}

/// Permitted results: numbers of the format from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermittedRange {
    /// The least one.
    pub low: f64,
    /// The greatest one.
    pub high: f64,
}

use ErrorBound::{Absolute, CorrectlyRounded, Exact, Inherited, Logarithm, Ulp, UlpBy};

/// The specification's table, from the rows of the operations. An operation without a row has one
/// permitted result: the exact one.
pub static TABLE: LazyLock<Vec<BoundsRow>> = LazyLock::new(bounds_table);

/// 2 to the power of -7.
pub(crate) const POWER_7: f64 = 1.0 / 128.0;
/// 2 to the power of -11.
pub(crate) const POWER_11: f64 = 1.0 / 2048.0;
/// 2 to the power of -21.
pub(crate) const POWER_21: f64 = 1.0 / 2_097_152.0;

/// The bounds of an operation.
pub fn bounds_of(operation: BoundedOperation) -> Option<&'static OperationBounds> {
    TABLE.iter().find(|row| row.operation == operation).map(|row| &row.bounds)
}

impl OperationBounds {
    /// The permitted results on operands of the format. None where there is but one, where the
    /// exact result is no finite number or not defined, and where the bound permits any.
    pub fn permitted_range(
        &self,
        operands: &[f64],
        float_width: FloatWidth,
    ) -> Option<PermittedRange> {
        let exact_result = (self.exact)(operands);
        if !exact_result.is_finite() || operands.iter().any(|operand| !operand.is_finite()) {
            return None;
        }
        let error_bound = match float_width {
            FloatWidth::Single => self.single,
            FloatWidth::Half => self.half,
        };
        let around_exact = |distance: f64| Some((exact_result - distance, exact_result + distance));
        let (low_end, high_end) = match error_bound {
            Exact => return None,
            CorrectlyRounded => {
                return Some(PermittedRange {
                    low: float_width.at_most(exact_result),
                    high: float_width.at_least(exact_result),
                });
            }
            Ulp(n) => around_exact(n * float_width.ulp_at(exact_result)),
            UlpBy(n) => around_exact(n(operands) * float_width.ulp_at(exact_result)),
            Absolute(distance) => around_exact(distance),
            Logarithm(distance) if (0.5..=2.0).contains(&operands[0]) => around_exact(distance),
            Logarithm(_) => around_exact(3.0 * float_width.ulp_at(exact_result)),
            Inherited(formula) => {
                around_exact(farthest_distance(formula, operands, float_width, exact_result)?)
            }
        }?;
        Some(PermittedRange {
            low: rounded_inward(-low_end, float_width).map(|low_end| -low_end)?,
            high: rounded_inward(high_end, float_width)?,
        })
    }
}

/// The largest number of the format not above an upper end; an infinity where the end is beyond the
/// largest finite number.
fn rounded_inward(upper_end: f64, float_width: FloatWidth) -> Option<f64> {
    if upper_end.is_nan() {
        None
    } else if upper_end > float_width.largest_finite() {
        Some(f64::INFINITY)
    } else {
        Some(float_width.at_most(upper_end))
    }
}

#[cfg(test)]
mod tests;
