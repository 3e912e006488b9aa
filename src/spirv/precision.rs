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

use super::float_controls::{FloatControls, decorates_results};
use super::module::{Id, Module};
use super::operation::table::bounds;
use super::types::{Type, Types};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, ExecutionMode, FPFastMathMode, GlslStd450Op as GLOp, Op};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::sync::LazyLock;
use vkcert_oracle::difference::Zeros;

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

/// A formula over operands, each of whose operations goes through the evaluation.
pub type Formula = fn(&mut Evaluation, &[f64]) -> f64;

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
use Operation::{Core, Extended};

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

/// Most choices of an evaluation: 1024 evaluations of a formula.
const MOST_CHOICES: u32 = 10;

/// How far from `x` evaluations of a formula come; none where one is no finite number (then
/// anything is permitted).
fn farthest(formula: Formula, operands: &[f64], width: Width, x: f64) -> Option<f64> {
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
    width: Width,
    /// By operation, in order: the upper end where the bit is set.
    choices: u32,
    asked: u32,
}

impl Evaluation {
    /// An operation with an end of its permitted results.
    fn of(&mut self, operation: Operation, operands: &[f64]) -> f64 {
        let Some(row) = row_of(operation) else { return f64::NAN };
        match row.range(operands, self.width) {
            Some(Range { low, high }) => self.choose(low, high),
            None => (row.exact)(operands),
        }
    }

    fn choose(&mut self, low: f64, high: f64) -> f64 {
        if low == high {
            return low;
        }
        let upper = self.choices >> self.asked.min(31) & 1 == 1;
        self.asked += 1;
        if upper { high } else { low }
    }

    fn core(&mut self, op: Op, a: f64, b: f64) -> f64 {
        self.of(Core(op), &[a, b])
    }

    fn function(&mut self, op: GLOp, operand: f64) -> f64 {
        self.of(Extended(op), &[operand])
    }
}

pub(super) fn remainder(e: &mut Evaluation, v: &[f64]) -> f64 {
    let quotient = e.core(Op::FDiv, v[0], v[1]).trunc();
    let product = e.core(Op::FMul, v[1], quotient);
    e.core(Op::FSub, v[0], product)
}

pub(super) fn modulo(e: &mut Evaluation, v: &[f64]) -> f64 {
    let quotient = e.core(Op::FDiv, v[0], v[1]).floor();
    let product = e.core(Op::FMul, v[1], quotient);
    e.core(Op::FSub, v[0], product)
}

pub(super) fn fma(e: &mut Evaluation, v: &[f64]) -> f64 {
    let product = e.core(Op::FMul, v[0], v[1]);
    e.core(Op::FAdd, product, v[2])
}

pub(super) fn pow(e: &mut Evaluation, v: &[f64]) -> f64 {
    let logarithm = e.function(GLOp::Log2, v[0]);
    let exponent = e.core(Op::FMul, v[1], logarithm);
    e.function(GLOp::Exp2, exponent)
}

pub(super) fn sqrt(e: &mut Evaluation, v: &[f64]) -> f64 {
    let inverse = e.function(GLOp::InverseSqrt, v[0]);
    e.core(Op::FDiv, 1.0, inverse)
}

/// `factor` rounded to the format, times `x`.
fn scaled(e: &mut Evaluation, x: f64, factor: f64) -> f64 {
    let factor = e.choose(e.width.at_most(factor), e.width.at_least(factor));
    e.core(Op::FMul, x, factor)
}

pub(super) fn radians(e: &mut Evaluation, v: &[f64]) -> f64 {
    scaled(e, v[0], PI / 180.0)
}

pub(super) fn degrees(e: &mut Evaluation, v: &[f64]) -> f64 {
    scaled(e, v[0], 180.0 / PI)
}

pub(super) fn sinh(e: &mut Evaluation, v: &[f64]) -> f64 {
    half_of_exponentials(e, Op::FSub, v[0])
}

pub(super) fn cosh(e: &mut Evaluation, v: &[f64]) -> f64 {
    half_of_exponentials(e, Op::FAdd, v[0])
}

pub(super) fn asinh(e: &mut Evaluation, v: &[f64]) -> f64 {
    inverse_hyperbolic(e, Op::FAdd, v[0])
}

pub(super) fn acosh(e: &mut Evaluation, v: &[f64]) -> f64 {
    inverse_hyperbolic(e, Op::FSub, v[0])
}

pub(super) fn tan(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (sine, cosine) = (e.function(GLOp::Sin, v[0]), e.function(GLOp::Cos, v[0]));
    e.core(Op::FDiv, sine, cosine)
}

/// `sqrt(1.0 - x * x)`
fn other_leg(e: &mut Evaluation, x: f64) -> f64 {
    let square = e.core(Op::FMul, x, x);
    let rest = e.core(Op::FSub, 1.0, square);
    e.function(GLOp::Sqrt, rest)
}

pub(super) fn asin(e: &mut Evaluation, v: &[f64]) -> f64 {
    let leg = other_leg(e, v[0]);
    e.of(Extended(GLOp::Atan2), &[v[0], leg])
}

pub(super) fn acos(e: &mut Evaluation, v: &[f64]) -> f64 {
    let leg = other_leg(e, v[0]);
    e.of(Extended(GLOp::Atan2), &[leg, v[0]])
}

fn half_of_exponentials(e: &mut Evaluation, op: Op, x: f64) -> f64 {
    let (up, down) = (e.function(GLOp::Exp, x), e.function(GLOp::Exp, -x));
    let both = e.core(op, up, down);
    e.core(Op::FMul, both, 0.5)
}

pub(super) fn tanh(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (sine, cosine) = (e.function(GLOp::Sinh, v[0]), e.function(GLOp::Cosh, v[0]));
    e.core(Op::FDiv, sine, cosine)
}

/// `log(x + sqrt(x * x + 1.0))` or `- 1.0`
fn inverse_hyperbolic(e: &mut Evaluation, op: Op, x: f64) -> f64 {
    let square = e.core(Op::FMul, x, x);
    let inner = e.core(op, square, 1.0);
    let root = e.function(GLOp::Sqrt, inner);
    let sum = e.core(Op::FAdd, x, root);
    e.function(GLOp::Log, sum)
}

pub(super) fn atanh(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (above, below) = (e.core(Op::FAdd, 1.0, v[0]), e.core(Op::FSub, 1.0, v[0]));
    let quotient = e.core(Op::FDiv, above, below);
    let logarithm = e.function(GLOp::Log, quotient);
    e.core(Op::FMul, logarithm, 0.5)
}

pub(super) fn mix(e: &mut Evaluation, v: &[f64]) -> f64 {
    let rest = e.core(Op::FSub, 1.0, v[2]);
    let (left, right) = (e.core(Op::FMul, v[0], rest), e.core(Op::FMul, v[1], v[2]));
    e.core(Op::FAdd, left, right)
}

pub(super) fn smooth_step_exactly(v: &[f64]) -> f64 {
    let t = ((v[2] - v[0]) / (v[1] - v[0])).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

pub(super) fn smooth_step(e: &mut Evaluation, v: &[f64]) -> f64 {
    let (above, wide) = (e.core(Op::FSub, v[2], v[0]), e.core(Op::FSub, v[1], v[0]));
    let t = e.core(Op::FDiv, above, wide).clamp(0.0, 1.0);
    let square = e.core(Op::FMul, t, t);
    let double = e.core(Op::FMul, 2.0, t);
    let rest = e.core(Op::FSub, 3.0, double);
    e.core(Op::FMul, square, rest)
}

/// `x * inversesqrt(dot)`, where `v[1]` is the length whose square is `dot`.
pub(super) fn normalized(e: &mut Evaluation, v: &[f64]) -> f64 {
    let x = 1.0 / v[1];
    let distance = 2.0 * e.width.ulp(x);
    let inverse = e.choose(e.width.at_least(x - distance), e.width.at_most(x + distance));
    e.core(Op::FMul, v[0], inverse)
}

/// What a module leaves to an implementation, beside the bounds of single operations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Freedom {
    /// Whether the entry point fixes how correctly rounded results are rounded (RoundingModeRTE,
    /// RoundingModeRTZ).
    pub rounding: Rounding,
    pub denormals: Denormals,
    pub zeros: Zeros,
    /// Indices of instructions whose result must not be combined with another (NoContraction, or no
    /// AllowContract where the module says what is allowed).
    pub separate: BTreeSet<u32>,
    /// Indices of instructions that may be carried out in half precision (RelaxedPrecision).
    pub relaxed: BTreeSet<u32>,
}

/// Which way correctly rounded results may be rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    TowardZero,
    /// Up or down.
    #[default]
    Any,
}

/// Whether denormal numbers may become zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Denormals {
    Preserved,
    /// They must become zeros.
    Flushed,
    #[default]
    MayBeFlushed,
}

impl Freedom {
    /// What an entry point (the id of its function) declares for 32-bit floats, and the decorations
    /// of the module.
    pub fn of(module: &Module, entry: Id) -> Self {
        let declares = |wanted: ExecutionMode| {
            module.instructions.iter().take_while(|instruction| instruction.op != Op::Function).any(
                |instruction| {
                    instruction.op == Op::ExecutionMode
                        && instruction.operands.as_slice()
                            == [
                                Operand::IdRef(entry),
                                Operand::ExecutionMode(wanted),
                                Operand::LiteralBit32(32),
                            ]
                },
            )
        };
        let decorated = |wanted: Decoration| {
            let all = module.instructions.iter().enumerate();
            let all = all.filter(|(_, one)| {
                one.result.is_some_and(|id| module.decoration(id, wanted).is_some())
            });
            all.map(|(index, _)| index as u32).collect()
        };
        let mut separate: BTreeSet<u32> = decorated(Decoration::NoContraction);
        let fast_math = FastMath::of(module, entry);
        separate.extend(fast_math.separate);
        Self {
            rounding: match (
                declares(ExecutionMode::RoundingModeRTE),
                declares(ExecutionMode::RoundingModeRTZ),
            ) {
                (true, _) => Rounding::Nearest,
                (false, true) => Rounding::TowardZero,
                (false, false) => Rounding::Any,
            },
            denormals: match (
                declares(ExecutionMode::DenormPreserve),
                declares(ExecutionMode::DenormFlushToZero),
            ) {
                (true, _) => Denormals::Preserved,
                (false, true) => Denormals::Flushed,
                (false, false) => Denormals::MayBeFlushed,
            },
            zeros: match declares(ExecutionMode::SignedZeroInfNanPreserve) {
                true => Zeros::Signed,
                false => fast_math.zeros,
            },
            separate,
            relaxed: decorated(Decoration::RelaxedPrecision),
        }
    }
}

/// What a module says of the liberties of single operations (SPV_KHR_float_controls2).
#[derive(Default)]
struct FastMath {
    zeros: Zeros,
    separate: BTreeSet<u32>,
}

impl FastMath {
    fn of(module: &Module, entry: Id) -> Self {
        let controls = FloatControls::of(module, entry);
        if !controls.has_fast_math() && !decorates_results(module) {
            return Self::default();
        }
        let types = Types::of(module);
        let of_floats = |ty: Id| {
            types
                .scalar_of(ty)
                .and_then(|ty| types.get(ty))
                .map(|ty| matches!(ty, Type::Float { .. }))
        };
        let mut found = Self::default();
        for (index, instruction) in module.instructions.iter().enumerate() {
            if instruction.result_type.and_then(of_floats) != Some(true) {
                continue;
            }
            let Some(flags) = controls.fast_math(module, &types, instruction) else { continue };
            if !flags.contains(FPFastMathMode::ALLOW_CONTRACT) {
                found.separate.insert(index as u32);
            }
            if !flags.contains(FPFastMathMode::NSZ) {
                found.zeros = Zeros::Signed;
            }
        }
        found
    }
}

#[cfg(test)]
#[path = "precision_tests.rs"]
mod tests;
