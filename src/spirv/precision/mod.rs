//! How far the result of a floating-point operation may lie from the exact one.
//!
//! Knows: the tables of the Vulkan specification, appendix "Vulkan Environment for SPIR-V", section
//! "Precision and Operation of SPIR-V Instructions", for single and half precision: what its bounds
//! mean and the formulas that bounds are inherited from. Which operation has which bound stands in
//! the row of the operation (`operation::table`).
//! Promises: every value of a [`Range`] is one that the specification permits. Where a bound is
//! inherited from a formula, its ends come from evaluations of that formula whose every step is at
//! an end of what is permitted for it, so that the range may be too narrow and is never too wide.
//! Does not cover: double precision (the specification asks for single precision at least),
//! formulas equivalent to the one given, expressions that are rearranged (`docs/agreement.md`).
//! Exact values are 64-bit floats: their own error is less than 2^-28 units in the last place of
//! single precision.

pub(crate) mod formula;
mod freedom;

use super::operation::table::bounds;
use formula::farthest;
pub use formula::{Evaluation, Formula};
pub use freedom::{Denormals, Freedom, Rounding};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use std::sync::LazyLock;

/// A binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    Half,
    Single,
}

impl Width {
    /// Digits of the significand, and the exponent of the least normal number.
    fn shape(self) -> (i32, i32) {
        match self {
            Width::Half => (11, -14),
            Width::Single => (24, -126),
        }
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        match self {
            Width::Half => 65504.0,
            Width::Single => f64::from(f32::MAX),
        }
    }

    /// Distance of the numbers of this format around a finite `x`.
    fn quantum(self, x: f64) -> f64 {
        let (digits, least) = self.shape();
        2f64.powi(exponent(x).max(least) - digits + 1)
    }

    /// The largest number of this format that is not above `x`.
    pub fn at_most(self, x: f64) -> f64 {
        if !x.is_finite() {
            return x;
        }
        let quantum = self.quantum(x);
        let below = (x / quantum).floor() * quantum;
        if below > self.largest() {
            self.largest()
        } else if below < -self.largest() {
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
    pub fn ulp(self, x: f64) -> f64 {
        let largest = self.largest();
        let x = x.abs().min(largest);
        let (_, least) = self.shape();
        let quantum = self.quantum(x);
        let power_of_two = x == 2f64.powi(exponent(x));
        if power_of_two && exponent(x) > least { quantum / 2.0 } else { quantum }
    }
}

/// The exponent of a finite number: `1 <= |x| / 2^exponent < 2`; far below any format's for zero.
fn exponent(x: f64) -> i32 {
    match (x.to_bits() >> 52 & 0x7ff) as i32 {
        0 => -1023,
        biased => biased - 1023,
    }
}

/// A floating-point operation on scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
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
pub enum Bound {
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
    Inherited(Formula),
}

/// The exact result of an operation and what it may return instead.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// The infinitely precise result.
    pub exact: fn(&[f64]) -> f64,
    pub single: Bound,
    pub half: Bound,
}

/// A row of the specification's table.
pub struct Row {
    pub operation: Operation,
    pub bounds: Bounds,
}

/// Permitted results: numbers of the format from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

use Bound::{Absolute, CorrectlyRounded, Exact, Inherited, Logarithm, Ulp, UlpBy};

/// The specification's table, from the rows of the operations. An operation without a row has one
/// permitted result: the exact one.
pub static TABLE: LazyLock<Vec<Row>> = LazyLock::new(bounds);

pub const POWER_7: f64 = 1.0 / 128.0;
pub const POWER_11: f64 = 1.0 / 2048.0;
pub const POWER_21: f64 = 1.0 / 2_097_152.0;

/// The bounds of an operation.
pub fn row_of(operation: Operation) -> Option<&'static Bounds> {
    TABLE.iter().find(|row| row.operation == operation).map(|row| &row.bounds)
}

impl Bounds {
    /// The permitted results on operands of the format. None where there is but one, where the
    /// exact result is no finite number or not defined, and where the bound permits any.
    pub fn range(&self, operands: &[f64], width: Width) -> Option<Range> {
        let x = (self.exact)(operands);
        if !x.is_finite() || operands.iter().any(|operand| !operand.is_finite()) {
            return None;
        }
        let bound = match width {
            Width::Single => self.single,
            Width::Half => self.half,
        };
        let around = |distance: f64| Some((x - distance, x + distance));
        let (low, high) = match bound {
            Exact => return None,
            CorrectlyRounded => {
                return Some(Range { low: width.at_most(x), high: width.at_least(x) });
            }
            Ulp(n) => around(n * width.ulp(x)),
            UlpBy(n) => around(n(operands) * width.ulp(x)),
            Absolute(distance) => around(distance),
            Logarithm(distance) if (0.5..=2.0).contains(&operands[0]) => around(distance),
            Logarithm(_) => around(3.0 * width.ulp(x)),
            Inherited(formula) => around(farthest(formula, operands, width, x)?),
        }?;
        Some(Range { low: inward(-low, width).map(|low| -low)?, high: inward(high, width)? })
    }
}

/// The largest number of the format not above an upper end; an infinity where the end is beyond the
/// largest finite number.
fn inward(high: f64, width: Width) -> Option<f64> {
    if high.is_nan() {
        None
    } else if high > width.largest() {
        Some(f64::INFINITY)
    } else {
        Some(width.at_most(high))
    }
}

#[cfg(test)]
mod tests;
