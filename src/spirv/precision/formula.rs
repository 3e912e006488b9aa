//! Formulas that bounds are inherited from, evaluated at the ends of what is permitted for each of
//! their steps.
//!
//! Promises: see [`precision`](super): a range may be too narrow and is never too wide.

use super::BoundedOperation::{Core, Extended};
use super::{BoundedOperation, FloatWidth, PermittedRange, bounds_of};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use std::f64::consts::PI;

/// A formula over operands, each of whose operations goes through the evaluation.
pub type BoundFormula = fn(&mut FormulaEvaluation, &[f64]) -> f64;

/// Most choices of an evaluation: 1024 evaluations of a formula.
const MOST_CHOICES: u32 = 10;

/// How far from `x` evaluations of a formula come; none where one is no finite number (then
/// anything is permitted).
pub(super) fn farthest_distance(
    formula: BoundFormula,
    operands: &[f64],
    width: FloatWidth,
    exact_result: f64,
) -> Option<f64> {
    let mut largest_distance: f64 = 0.0;
    let mut choices = 0;
    loop {
        let mut evaluation = FormulaEvaluation { width, choices, asked: 0 };
        let formula_result = formula(&mut evaluation, operands);
        if !formula_result.is_finite() {
            return None;
        }
        largest_distance = largest_distance.max((formula_result - exact_result).abs());
        choices += 1;
        if choices >> evaluation.asked.min(MOST_CHOICES) != 0 {
            return Some(largest_distance);
        }
    }
}

/// One evaluation of a formula: which end of its permitted results each operation gives.
pub struct FormulaEvaluation {
    pub(super) width: FloatWidth,
    /// By operation, in order: the upper end where the bit is set.
    pub(super) choices: u32,
    pub(super) asked: u32,
}

impl FormulaEvaluation {
    /// An operation with an end of its permitted results.
    fn operation_result(&mut self, operation: BoundedOperation, operands: &[f64]) -> f64 {
        let Some(row) = bounds_of(operation) else { return f64::NAN };
        match row.permitted_range(operands, self.width) {
            Some(PermittedRange { low, high }) => self.choose_end(low, high),
            None => (row.exact)(operands),
        }
    }

    fn choose_end(&mut self, low_end: f64, high_end: f64) -> f64 {
        if low_end == high_end {
            return low_end;
        }
        let takes_upper = self.choices >> self.asked.min(31) & 1 == 1;
        self.asked += 1;
        if takes_upper { high_end } else { low_end }
    }

    fn core_result(&mut self, op: Op, first_operand: f64, second_operand: f64) -> f64 {
        self.operation_result(Core(op), &[first_operand, second_operand])
    }

    fn extended_result(&mut self, op: GLOp, operand: f64) -> f64 {
        self.operation_result(Extended(op), &[operand])
    }
}

pub(crate) fn remainder_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let quotient = evaluation.core_result(Op::FDiv, operands[0], operands[1]).trunc();
    let product = evaluation.core_result(Op::FMul, operands[1], quotient);
    evaluation.core_result(Op::FSub, operands[0], product)
}

pub(crate) fn modulo_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let quotient = evaluation.core_result(Op::FDiv, operands[0], operands[1]).floor();
    let product = evaluation.core_result(Op::FMul, operands[1], quotient);
    evaluation.core_result(Op::FSub, operands[0], product)
}

pub(crate) fn fma_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let product = evaluation.core_result(Op::FMul, operands[0], operands[1]);
    evaluation.core_result(Op::FAdd, product, operands[2])
}

pub(crate) fn pow_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let logarithm = evaluation.extended_result(GLOp::Log2, operands[0]);
    let exponent = evaluation.core_result(Op::FMul, operands[1], logarithm);
    evaluation.extended_result(GLOp::Exp2, exponent)
}

pub(crate) fn sqrt_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let inverse = evaluation.extended_result(GLOp::InverseSqrt, operands[0]);
    evaluation.core_result(Op::FDiv, 1.0, inverse)
}

/// `factor` rounded to the format, times `x`.
fn scaled_by_factor(evaluation: &mut FormulaEvaluation, x: f64, factor: f64) -> f64 {
    let factor =
        evaluation.choose_end(evaluation.width.at_most(factor), evaluation.width.at_least(factor));
    evaluation.core_result(Op::FMul, x, factor)
}

pub(crate) fn radians_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    scaled_by_factor(evaluation, operands[0], PI / 180.0)
}

pub(crate) fn degrees_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    scaled_by_factor(evaluation, operands[0], 180.0 / PI)
}

pub(crate) fn sinh_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    half_of_exponentials(evaluation, Op::FSub, operands[0])
}

pub(crate) fn cosh_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    half_of_exponentials(evaluation, Op::FAdd, operands[0])
}

pub(crate) fn asinh_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    inverse_hyperbolic(evaluation, Op::FAdd, operands[0])
}

pub(crate) fn acosh_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    inverse_hyperbolic(evaluation, Op::FSub, operands[0])
}

pub(crate) fn tan_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let (sine, cosine) = (
        evaluation.extended_result(GLOp::Sin, operands[0]),
        evaluation.extended_result(GLOp::Cos, operands[0]),
    );
    evaluation.core_result(Op::FDiv, sine, cosine)
}

/// `sqrt(1.0 - x * x)`
fn other_leg(evaluation: &mut FormulaEvaluation, x: f64) -> f64 {
    let square = evaluation.core_result(Op::FMul, x, x);
    let difference = evaluation.core_result(Op::FSub, 1.0, square);
    evaluation.extended_result(GLOp::Sqrt, difference)
}

pub(crate) fn asin_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let leg = other_leg(evaluation, operands[0]);
    evaluation.operation_result(Extended(GLOp::Atan2), &[operands[0], leg])
}

pub(crate) fn acos_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let leg = other_leg(evaluation, operands[0]);
    evaluation.operation_result(Extended(GLOp::Atan2), &[leg, operands[0]])
}

fn half_of_exponentials(evaluation: &mut FormulaEvaluation, op: Op, x: f64) -> f64 {
    let (exponential, inverse_exponential) =
        (evaluation.extended_result(GLOp::Exp, x), evaluation.extended_result(GLOp::Exp, -x));
    let combined_exponentials = evaluation.core_result(op, exponential, inverse_exponential);
    evaluation.core_result(Op::FMul, combined_exponentials, 0.5)
}

pub(crate) fn tanh_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let (sine, cosine) = (
        evaluation.extended_result(GLOp::Sinh, operands[0]),
        evaluation.extended_result(GLOp::Cosh, operands[0]),
    );
    evaluation.core_result(Op::FDiv, sine, cosine)
}

/// `log(x + sqrt(x * x + 1.0))` or `- 1.0`
fn inverse_hyperbolic(evaluation: &mut FormulaEvaluation, op: Op, x: f64) -> f64 {
    let square = evaluation.core_result(Op::FMul, x, x);
    let under_root = evaluation.core_result(op, square, 1.0);
    let root = evaluation.extended_result(GLOp::Sqrt, under_root);
    let sum = evaluation.core_result(Op::FAdd, x, root);
    evaluation.extended_result(GLOp::Log, sum)
}

pub(crate) fn atanh_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let (one_plus, one_minus) = (
        evaluation.core_result(Op::FAdd, 1.0, operands[0]),
        evaluation.core_result(Op::FSub, 1.0, operands[0]),
    );
    let quotient = evaluation.core_result(Op::FDiv, one_plus, one_minus);
    let logarithm = evaluation.extended_result(GLOp::Log, quotient);
    evaluation.core_result(Op::FMul, logarithm, 0.5)
}

pub(crate) fn mix_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let first_weight = evaluation.core_result(Op::FSub, 1.0, operands[2]);
    let (first_part, second_part) = (
        evaluation.core_result(Op::FMul, operands[0], first_weight),
        evaluation.core_result(Op::FMul, operands[1], operands[2]),
    );
    evaluation.core_result(Op::FAdd, first_part, second_part)
}

pub(crate) fn smooth_step_exactly(operands: &[f64]) -> f64 {
    let t = ((operands[2] - operands[0]) / (operands[1] - operands[0])).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

pub(crate) fn smooth_step_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let (above_edge, edge_distance) = (
        evaluation.core_result(Op::FSub, operands[2], operands[0]),
        evaluation.core_result(Op::FSub, operands[1], operands[0]),
    );
    let step_position = evaluation.core_result(Op::FDiv, above_edge, edge_distance).clamp(0.0, 1.0);
    let square = evaluation.core_result(Op::FMul, step_position, step_position);
    let twice_step = evaluation.core_result(Op::FMul, 2.0, step_position);
    let last_factor = evaluation.core_result(Op::FSub, 3.0, twice_step);
    evaluation.core_result(Op::FMul, square, last_factor)
}

/// `x * inversesqrt(dot)`, where `v[1]` is the length whose square is `dot`.
pub(crate) fn normalized_formula(evaluation: &mut FormulaEvaluation, operands: &[f64]) -> f64 {
    let inverse_length = 1.0 / operands[1];
    let distance = 2.0 * evaluation.width.ulp_at(inverse_length);
    let chosen_inverse = evaluation.choose_end(
        evaluation.width.at_least(inverse_length - distance),
        evaluation.width.at_most(inverse_length + distance),
    );
    evaluation.core_result(Op::FMul, operands[0], chosen_inverse)
}
