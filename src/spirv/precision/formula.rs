//! Formulas that bounds are inherited from, evaluated at the ends of what is permitted for each of
//! their steps.
//!
//! Promises: see [`precision`](super): a range may be too narrow and is never too wide.

use super::Operation::{Core, Extended};
use super::{Operation, Range, Width, row_of};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use std::f64::consts::PI;

/// A formula over operands, each of whose operations goes through the evaluation.
pub type Formula = fn(&mut Evaluation, &[f64]) -> f64;

/// Most choices of an evaluation: 1024 evaluations of a formula.
pub(super) const MOST_CHOICES: u32 = 10;

/// How far from `x` evaluations of a formula come; none where one is no finite number (then
/// anything is permitted).
pub(super) fn farthest(formula: Formula, operands: &[f64], width: Width, x: f64) -> Option<f64> {
    let mut farthest: f64 = 0.0;
    let mut choices = 0;
    loop {
        let mut evaluation = Evaluation { width, choices, asked: 0 };
        let value = formula(&mut evaluation, operands);
        if !value.is_finite() {
            return None;
        }
        farthest = farthest.max((value - x).abs());
        choices += 1;
        if choices >> evaluation.asked.min(MOST_CHOICES) != 0 {
            return Some(farthest);
        }
    }
}

/// One evaluation of a formula: which end of its permitted results each operation gives.
pub struct Evaluation {
    pub(super) width: Width,
    /// By operation, in order: the upper end where the bit is set.
    pub(super) choices: u32,
    pub(super) asked: u32,
}

impl Evaluation {
    /// An operation with an end of its permitted results.
    pub(super) fn of(&mut self, operation: Operation, operands: &[f64]) -> f64 {
        let Some(row) = row_of(operation) else { return f64::NAN };
        match row.range(operands, self.width) {
            Some(Range { low, high }) => self.choose(low, high),
            None => (row.exact)(operands),
        }
    }

    pub(super) fn choose(&mut self, low: f64, high: f64) -> f64 {
        if low == high {
            return low;
        }
        let upper = self.choices >> self.asked.min(31) & 1 == 1;
        self.asked += 1;
        if upper { high } else { low }
    }

    pub(super) fn core(&mut self, op: Op, a: f64, b: f64) -> f64 {
        self.of(Core(op), &[a, b])
    }

    pub(super) fn function(&mut self, op: GLOp, operand: f64) -> f64 {
        self.of(Extended(op), &[operand])
    }
}

pub(crate) fn remainder(e: &mut Evaluation, v: &[f64]) -> f64 {
    let quotient = e.core(Op::FDiv, v[0], v[1]).trunc();
    let product = e.core(Op::FMul, v[1], quotient);
    e.core(Op::FSub, v[0], product)
}

pub(crate) fn modulo(e: &mut Evaluation, v: &[f64]) -> f64 {
    let quotient = e.core(Op::FDiv, v[0], v[1]).floor();
    let product = e.core(Op::FMul, v[1], quotient);
    e.core(Op::FSub, v[0], product)
}

pub(crate) fn fma(e: &mut Evaluation, v: &[f64]) -> f64 {
    let product = e.core(Op::FMul, v[0], v[1]);
    e.core(Op::FAdd, product, v[2])
}

pub(crate) fn pow(e: &mut Evaluation, v: &[f64]) -> f64 {
    let logarithm = e.function(GLOp::Log2, v[0]);
    let exponent = e.core(Op::FMul, v[1], logarithm);
    e.function(GLOp::Exp2, exponent)
}

pub(crate) fn sqrt(e: &mut Evaluation, v: &[f64]) -> f64 {
    let inverse = e.function(GLOp::InverseSqrt, v[0]);
    e.core(Op::FDiv, 1.0, inverse)
}

/// `factor` rounded to the format, times `x`.
pub(super) fn scaled(e: &mut Evaluation, x: f64, factor: f64) -> f64 {
    let factor = e.choose(e.width.at_most(factor), e.width.at_least(factor));
    e.core(Op::FMul, x, factor)
}

pub(crate) fn radians(e: &mut Evaluation, v: &[f64]) -> f64 {
    scaled(e, v[0], PI / 180.0)
}

pub(crate) fn degrees(e: &mut Evaluation, v: &[f64]) -> f64 {
    scaled(e, v[0], 180.0 / PI)
}

pub(crate) fn sinh(e: &mut Evaluation, v: &[f64]) -> f64 {
    half_of_exponentials(e, Op::FSub, v[0])
}

pub(crate) fn cosh(e: &mut Evaluation, v: &[f64]) -> f64 {
    half_of_exponentials(e, Op::FAdd, v[0])
}

pub(crate) fn asinh(e: &mut Evaluation, v: &[f64]) -> f64 {
    inverse_hyperbolic(e, Op::FAdd, v[0])
}

pub(crate) fn acosh(e: &mut Evaluation, v: &[f64]) -> f64 {
    inverse_hyperbolic(e, Op::FSub, v[0])
}

pub(crate) fn tan(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (sine, cosine) = (e.function(GLOp::Sin, v[0]), e.function(GLOp::Cos, v[0]));
    e.core(Op::FDiv, sine, cosine)
}

/// `sqrt(1.0 - x * x)`
pub(super) fn other_leg(e: &mut Evaluation, x: f64) -> f64 {
    let square = e.core(Op::FMul, x, x);
    let rest = e.core(Op::FSub, 1.0, square);
    e.function(GLOp::Sqrt, rest)
}

pub(crate) fn asin(e: &mut Evaluation, v: &[f64]) -> f64 {
    let leg = other_leg(e, v[0]);
    e.of(Extended(GLOp::Atan2), &[v[0], leg])
}

pub(crate) fn acos(e: &mut Evaluation, v: &[f64]) -> f64 {
    let leg = other_leg(e, v[0]);
    e.of(Extended(GLOp::Atan2), &[leg, v[0]])
}

pub(super) fn half_of_exponentials(e: &mut Evaluation, op: Op, x: f64) -> f64 {
    let (up, down) = (e.function(GLOp::Exp, x), e.function(GLOp::Exp, -x));
    let both = e.core(op, up, down);
    e.core(Op::FMul, both, 0.5)
}

pub(crate) fn tanh(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (sine, cosine) = (e.function(GLOp::Sinh, v[0]), e.function(GLOp::Cosh, v[0]));
    e.core(Op::FDiv, sine, cosine)
}

/// `log(x + sqrt(x * x + 1.0))` or `- 1.0`
pub(super) fn inverse_hyperbolic(e: &mut Evaluation, op: Op, x: f64) -> f64 {
    let square = e.core(Op::FMul, x, x);
    let inner = e.core(op, square, 1.0);
    let root = e.function(GLOp::Sqrt, inner);
    let sum = e.core(Op::FAdd, x, root);
    e.function(GLOp::Log, sum)
}

pub(crate) fn atanh(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (above, below) = (e.core(Op::FAdd, 1.0, v[0]), e.core(Op::FSub, 1.0, v[0]));
    let quotient = e.core(Op::FDiv, above, below);
    let logarithm = e.function(GLOp::Log, quotient);
    e.core(Op::FMul, logarithm, 0.5)
}

pub(crate) fn mix(e: &mut Evaluation, v: &[f64]) -> f64 {
    let rest = e.core(Op::FSub, 1.0, v[2]);
    let (left, right) = (e.core(Op::FMul, v[0], rest), e.core(Op::FMul, v[1], v[2]));
    e.core(Op::FAdd, left, right)
}

pub(crate) fn smooth_step_exactly(v: &[f64]) -> f64 {
    let t = ((v[2] - v[0]) / (v[1] - v[0])).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

pub(crate) fn smooth_step(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (above, wide) = (e.core(Op::FSub, v[2], v[0]), e.core(Op::FSub, v[1], v[0]));
    let t = e.core(Op::FDiv, above, wide).clamp(0.0, 1.0);
    let square = e.core(Op::FMul, t, t);
    let double = e.core(Op::FMul, 2.0, t);
    let rest = e.core(Op::FSub, 3.0, double);
    e.core(Op::FMul, square, rest)
}

/// `x * inversesqrt(dot)`, where `v[1]` is the length whose square is `dot`.
pub(crate) fn normalized(e: &mut Evaluation, v: &[f64]) -> f64 {
    let x = 1.0 / v[1];
    let distance = 2.0 * e.width.ulp(x);
    let inverse = e.choose(e.width.at_least(x - distance), e.width.at_most(x + distance));
    e.core(Op::FMul, v[0], inverse)
}
