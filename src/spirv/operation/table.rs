//! The table of scalar operations: a row for each, a column for each question that is asked of it.

use super::operator::{Binary, Classify, Compare, Ternary, Unary};
pub use super::row::{
    FoldingScope, OperandKind, OperationRow, OperationSource, OperationWidths, ResultJump,
    ResultPrecision, RoundingDependence,
};
use super::sized::SizedOperator;
use super::undefined::{self as rule};
use crate::precision::{self, OperationBounds, formula};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::sync::LazyLock;

macro_rules! rows {
    ($operations:ident, $rule:ty; $($operation:ident $([$part:literal])?:
        $source:expr, $operands:expr, $widths:expr, $undefined:expr, $rounding:expr, $jump:expr, $precision:expr,
        $folding:expr;)*) => {
        impl $operations {
            /// Every operation, those with a number once.
            pub const ALL: &'static [Self] = &[$(Self::$operation $(($part))?),*];

            /// What is known of it.
            pub fn row(self) -> &'static OperationRow<$rule> {
                match self {
                    $(Self::$operation { .. } => const {
                        &OperationRow {
                            source: $source,
                            operands: $operands,
                            widths: $widths,
                            undefined: &$undefined,
                            rounding: $rounding,
                            jump: $jump,
                            precision: $precision,
                            folding: $folding,
                        }
                    },)*
                }
            }
        }
    };
}

use FoldingScope::{Both, Constants, Functions, Never};
use OperandKind::{Exponent, Field, Floats, Integers, Signed, Unsigned};
use OperationSource::{
    Contracted, Core, Extended, NormalizedComponent, PartOfCore, PartOfExtended,
};
use OperationWidths::{All, Word};
use ResultJump::{Floor, Result, Smooth};
use ResultPrecision::{Bounded, Fixed, Flushed};
use RoundingDependence::{Exact, Rounded};
use precision::ErrorBound::{self, Absolute, CorrectlyRounded, Inherited, Logarithm, Ulp, UlpBy};
use precision::{POWER_7, POWER_11, POWER_21};

const fn bound(exact: fn(&[f64]) -> f64, bound: ErrorBound) -> ResultPrecision {
    Bounded(OperationBounds { exact, single: bound, half: bound })
}

const fn by_width(
    exact: fn(&[f64]) -> f64,
    single: ErrorBound,
    half: ErrorBound,
) -> ResultPrecision {
    Bounded(OperationBounds { exact, single, half })
}

rows! { Unary, fn(u32) -> bool;
    // instruction, operands, widths, undefined, rounding, jump, precision, folding
    SNegate: Core(Op::SNegate), Integers, All, [], Exact, Result, Fixed, Both;
    FNegate: Core(Op::FNegate), Floats, All, [], Exact, Smooth, Flushed, Never;
    Not: Core(Op::Not), Integers, All, [], Exact, Result, Fixed, Both;
    BitReverse: Core(Op::BitReverse), Integers, All, [], Exact, Result, Fixed, Never;
    BitCount: Core(Op::BitCount), Integers, All, [], Exact, Result, Fixed, Never;
    ConvertFToU: Core(Op::ConvertFToU), Floats, Word, [rule::OUT_OF_UINT],
        Exact, Result, Fixed, Never;
    ConvertFToS: Core(Op::ConvertFToS), Floats, Word, [rule::OUT_OF_INT],
        Exact, Result, Fixed, Never;
    ConvertSToF: Core(Op::ConvertSToF), Signed, Word, [], Exact, Smooth,
        bound(|v| v[0], CorrectlyRounded), Never;
    ConvertUToF: Core(Op::ConvertUToF), Unsigned, Word, [], Exact, Smooth,
        bound(|v| v[0], CorrectlyRounded), Never;
    QuantizeToF16: Core(Op::QuantizeToF16), Floats, Word, [], Exact, Smooth, Fixed, Constants;
    Round: Extended(GLOp::Round), Floats, All, [], Exact, Result, Flushed, Never;
    RoundEven: Extended(GLOp::RoundEven), Floats, All, [], Exact, Result, Flushed, Never;
    Trunc: Extended(GLOp::Trunc), Floats, All, [], Exact, Result, Flushed, Never;
    FAbs: Extended(GLOp::FAbs), Floats, All, [], Exact, Smooth, Flushed, Never;
    SAbs: Extended(GLOp::SAbs), Integers, All, [], Exact, Result, Fixed, Never;
    FSign: Extended(GLOp::FSign), Floats, All, [rule::SIGN_OF_NAN], Exact, Result, Flushed, Never;
    SSign: Extended(GLOp::SSign), Integers, All, [], Exact, Result, Fixed, Never;
    Floor: Extended(GLOp::Floor), Floats, All, [], Exact, Result, Flushed, Never;
    Ceil: Extended(GLOp::Ceil), Floats, All, [], Exact, Result, Flushed, Never;
    Fract: Extended(GLOp::Fract), Floats, All, [], Rounded, Floor,
        bound(|v| v[0] - v[0].floor(), CorrectlyRounded), Never;
    Radians: Extended(GLOp::Radians), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] * (PI / 180.0), Inherited(formula::radians_formula)), Never;
    Degrees: Extended(GLOp::Degrees), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] * (180.0 / PI), Inherited(formula::degrees_formula)), Never;
    Sin: Extended(GLOp::Sin), Floats, All, [], Rounded, Smooth,
        by_width(|v| v[0].sin(), Absolute(POWER_11), Absolute(POWER_7)), Never;
    Cos: Extended(GLOp::Cos), Floats, All, [], Rounded, Smooth,
        by_width(|v| v[0].cos(), Absolute(POWER_11), Absolute(POWER_7)), Never;
    Tan: Extended(GLOp::Tan), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].tan(), Inherited(formula::tan_formula)), Never;
    Asin: Extended(GLOp::Asin), Floats, All, [rule::ARC_SINE], Rounded, Smooth,
        bound(|v| v[0].asin(), Inherited(formula::asin_formula)), Never;
    Acos: Extended(GLOp::Acos), Floats, All, [rule::ARC_COSINE], Rounded, Smooth,
        bound(|v| v[0].acos(), Inherited(formula::acos_formula)), Never;
    Atan: Extended(GLOp::Atan), Floats, All, [], Rounded, Smooth,
        by_width(|v| v[0].atan(), Ulp(4096.0), Ulp(5.0)), Never;
    Sinh: Extended(GLOp::Sinh), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].sinh(), Inherited(formula::sinh_formula)), Never;
    Cosh: Extended(GLOp::Cosh), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].cosh(), Inherited(formula::cosh_formula)), Never;
    Tanh: Extended(GLOp::Tanh), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].tanh(), Inherited(formula::tanh_formula)), Never;
    Asinh: Extended(GLOp::Asinh), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].asinh(), Inherited(formula::asinh_formula)), Never;
    Acosh: Extended(GLOp::Acosh), Floats, All, [rule::INVERSE_COSH], Rounded, Smooth,
        bound(|v| v[0].acosh(), Inherited(formula::acosh_formula)), Never;
    Atanh: Extended(GLOp::Atanh), Floats, All, [rule::INVERSE_TANH], Rounded, Smooth,
        bound(|v| v[0].atanh(), Inherited(formula::atanh_formula)), Never;
    Exp: Extended(GLOp::Exp), Floats, All, [], Rounded, Smooth,
        by_width(|v| v[0].exp(),
            UlpBy(|v| 3.0 + 2.0 * v[0].abs()), UlpBy(|v| 1.0 + 2.0 * v[0].abs())), Never;
    Log: Extended(GLOp::Log), Floats, All, [rule::LOGARITHM], Rounded, Smooth,
        by_width(|v| v[0].ln(), Logarithm(POWER_21), Logarithm(POWER_7)), Never;
    Exp2: Extended(GLOp::Exp2), Floats, All, [], Rounded, Smooth,
        by_width(|v| v[0].exp2(),
            UlpBy(|v| 3.0 + 2.0 * v[0].abs()), UlpBy(|v| 1.0 + 2.0 * v[0].abs())), Never;
    Log2: Extended(GLOp::Log2), Floats, All, [rule::LOGARITHM], Rounded, Smooth,
        by_width(|v| v[0].log2(), Logarithm(POWER_21), Logarithm(POWER_7)), Never;
    Sqrt: Extended(GLOp::Sqrt), Floats, All, [rule::ROOT], Rounded, Smooth,
        bound(|v| v[0].sqrt(), Inherited(formula::sqrt_formula)), Never;
    SqrtToNormalize: PartOfExtended(GLOp::Normalize), Floats, All, [],
        Rounded, Smooth, Fixed, Never;
    InverseSqrt: Extended(GLOp::InverseSqrt), Floats, All, [rule::INVERSE_ROOT], Rounded, Smooth,
        bound(|v| 1.0 / v[0].sqrt(), Ulp(2.0)), Never;
    FindILsb: Extended(GLOp::FindILsb), Integers, All, [], Exact, Result, Fixed, Never;
    FindSMsb: Extended(GLOp::FindSMsb), Integers, All, [], Exact, Result, Fixed, Never;
    FindUMsb: Extended(GLOp::FindUMsb), Integers, All, [], Exact, Result, Fixed, Never;
    ModfWhole: PartOfExtended(GLOp::Modf), Floats, All, [], Exact, Result, Flushed, Never;
    ModfFraction: PartOfExtended(GLOp::Modf), Floats, All, [], Exact, Floor, Flushed, Never;
    FrexpSignificand: PartOfExtended(GLOp::Frexp), Floats, All, [rule::SPLIT],
        Exact, Result, Fixed, Never;
    FrexpExponent: PartOfExtended(GLOp::Frexp), Floats, All, [rule::SPLIT],
        Exact, Result, Fixed, Never;
    UnpackHalfLow: PartOfExtended(GLOp::UnpackHalf2x16), Integers, Word, [],
        Exact, Smooth, Fixed, Never;
    UnpackHalfHigh: PartOfExtended(GLOp::UnpackHalf2x16), Integers, Word, [],
        Exact, Smooth, Fixed, Never;
    UnpackSnorm4 [0]: PartOfExtended(GLOp::UnpackSnorm4x8), Integers, Word, [],
        Exact, Smooth, Fixed, Never;
    UnpackUnorm4 [0]: PartOfExtended(GLOp::UnpackUnorm4x8), Integers, Word, [],
        Exact, Smooth, Fixed, Never;
    UnpackSnorm2 [0]: PartOfExtended(GLOp::UnpackSnorm2x16), Integers, Word, [],
        Exact, Smooth, Fixed, Never;
    UnpackUnorm2 [0]: PartOfExtended(GLOp::UnpackUnorm2x16), Integers, Word, [],
        Exact, Smooth, Fixed, Never;
    PackSnorm4: PartOfExtended(GLOp::PackSnorm4x8), Floats, Word, [rule::PACKED_NAN],
        Exact, Result, Fixed, Never;
    PackUnorm4: PartOfExtended(GLOp::PackUnorm4x8), Floats, Word, [rule::PACKED_NAN],
        Exact, Result, Fixed, Never;
}

rows! { Binary, fn(u32, u32) -> bool;
    IAdd: Core(Op::IAdd), Integers, All, [], Exact, Result, Fixed, Both;
    ISub: Core(Op::ISub), Integers, All, [], Exact, Result, Fixed, Both;
    IMul: Core(Op::IMul), Integers, All, [], Exact, Result, Fixed, Both;
    UDiv: Core(Op::UDiv), Integers, All, [rule::ZERO_DIVISOR], Exact, Result, Fixed, Both;
    SDiv: Core(Op::SDiv), Integers, All, [rule::SIGNED_DIVISION], Exact, Result, Fixed, Both;
    UMod: Core(Op::UMod), Integers, All, [rule::ZERO_DIVISOR], Exact, Result, Fixed, Both;
    SRem: Core(Op::SRem), Integers, All, [rule::SIGNED_REMAINDER, rule::NEGATIVE_REMAINDER],
        Exact, Result, Fixed, Both;
    SMod: Core(Op::SMod), Integers, All, [rule::SIGNED_REMAINDER, rule::NEGATIVE_REMAINDER],
        Exact, Result, Fixed, Both;
    FAdd: Core(Op::FAdd), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] + v[1], CorrectlyRounded), Never;
    FSub: Core(Op::FSub), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] - v[1], CorrectlyRounded), Never;
    FMul: Core(Op::FMul), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] * v[1], CorrectlyRounded), Never;
    FDiv: Core(Op::FDiv), Floats, All, [], Rounded, Smooth, bound(|v| v[0] / v[1], Ulp(2.5)), Never;
    NormalizedComponent: NormalizedComponent, Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] / v[1], Inherited(formula::normalized_formula)), Never;
    FRem: Core(Op::FRem), Floats, All, [rule::FLOAT_REMAINDER], Exact, Smooth,
        bound(|v| v[0] % v[1], Inherited(formula::remainder_formula)), Never;
    FMod: Core(Op::FMod), Floats, All, [rule::FLOAT_REMAINDER], Rounded, Smooth,
        bound(|v| v[0] - v[1] * (v[0] / v[1]).floor(), Inherited(formula::modulo_formula)), Never;
    ShiftRightLogical: Core(Op::ShiftRightLogical), Integers, All, [rule::SHIFT],
        Exact, Result, Fixed, Both;
    ShiftRightArithmetic: Core(Op::ShiftRightArithmetic), Integers, All, [rule::SHIFT],
        Exact, Result, Fixed, Both;
    ShiftLeftLogical: Core(Op::ShiftLeftLogical), Integers, All, [rule::SHIFT],
        Exact, Result, Fixed, Both;
    BitwiseOr: Core(Op::BitwiseOr), Integers, All, [], Exact, Result, Fixed, Both;
    BitwiseXor: Core(Op::BitwiseXor), Integers, All, [], Exact, Result, Fixed, Both;
    BitwiseAnd: Core(Op::BitwiseAnd), Integers, All, [], Exact, Result, Fixed, Both;
    UMulHigh: PartOfCore(Op::UMulExtended), Integers, All, [], Exact, Result, Fixed, Never;
    SMulHigh: PartOfCore(Op::SMulExtended), Integers, All, [], Exact, Result, Fixed, Never;
    Carry: PartOfCore(Op::IAddCarry), Integers, All, [], Exact, Result, Fixed, Never;
    Borrow: PartOfCore(Op::ISubBorrow), Integers, All, [], Exact, Result, Fixed, Never;
    Pow: Extended(GLOp::Pow), Floats, All, [rule::POWER], Rounded, Smooth,
        bound(|v| v[0].powf(v[1]), Inherited(formula::pow_formula)), Never;
    Atan2: Extended(GLOp::Atan2), Floats, All, [rule::ARC_TANGENT], Rounded, Smooth,
        by_width(|v| v[0].atan2(v[1]), Ulp(4096.0), Ulp(5.0)), Never;
    FMin: Extended(GLOp::FMin), Floats, All, [rule::EXTREMUM_OF_NAN], Exact, Smooth, Flushed, Never;
    UMin: Extended(GLOp::UMin), Integers, All, [], Exact, Result, Fixed, Never;
    SMin: Extended(GLOp::SMin), Integers, All, [], Exact, Result, Fixed, Never;
    FMax: Extended(GLOp::FMax), Floats, All, [rule::EXTREMUM_OF_NAN], Exact, Smooth, Flushed, Never;
    UMax: Extended(GLOp::UMax), Integers, All, [], Exact, Result, Fixed, Never;
    SMax: Extended(GLOp::SMax), Integers, All, [], Exact, Result, Fixed, Never;
    NMin: Extended(GLOp::NMin), Floats, All, [], Exact, Smooth, Flushed, Never;
    NMax: Extended(GLOp::NMax), Floats, All, [], Exact, Smooth, Flushed, Never;
    Step: Extended(GLOp::Step), Floats, All, [], Exact, Result, Flushed, Never;
    Ldexp: Extended(GLOp::Ldexp), Exponent, All, [rule::SCALED], Rounded, Smooth, Fixed, Never;
    PackHalf: PartOfExtended(GLOp::PackHalf2x16), Floats, Word, [], Exact, Result, Fixed, Never;
    PackSnorm2: PartOfExtended(GLOp::PackSnorm2x16), Floats, Word, [rule::PACKED_NANS],
        Exact, Result, Fixed, Never;
    PackUnorm2: PartOfExtended(GLOp::PackUnorm2x16), Floats, Word, [rule::PACKED_NANS],
        Exact, Result, Fixed, Never;
}

rows! { Ternary, fn(u32, u32, u32) -> bool;
    FClamp: Extended(GLOp::FClamp), Floats, All, [rule::CLAMPED_NAN], Exact, Smooth, Flushed, Never;
    UClamp: Extended(GLOp::UClamp), Integers, All, [rule::UNSIGNED_LIMITS],
        Exact, Result, Fixed, Never;
    SClamp: Extended(GLOp::SClamp), Integers, All, [rule::SIGNED_LIMITS],
        Exact, Result, Fixed, Never;
    NClamp: Extended(GLOp::NClamp), Floats, All, [rule::FLOAT_LIMITS],
        Exact, Smooth, Flushed, Never;
    FMix: Extended(GLOp::FMix), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0] * (1.0 - v[2]) + v[1] * v[2], Inherited(formula::mix_formula)), Never;
    SmoothStep: Extended(GLOp::SmoothStep), Floats, All, [rule::EDGES], Rounded, Smooth,
        bound(formula::smooth_step_exactly, Inherited(formula::smooth_step_formula)), Never;
    Fma: Extended(GLOp::Fma), Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].mul_add(v[1], v[2]), Inherited(formula::fma_formula)), Never;
    ContractedAdd: Contracted, Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].mul_add(v[1], v[2]), ErrorBound::Exact), Never;
    ContractedSub: Contracted, Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].mul_add(v[1], v[2]), ErrorBound::Exact), Never;
    ContractedSubFrom: Contracted, Floats, All, [], Rounded, Smooth,
        bound(|v| v[0].mul_add(v[1], v[2]), ErrorBound::Exact), Never;
    BitFieldSExtract: Core(Op::BitFieldSExtract), Field, All, [rule::FIELD],
        Exact, Result, Fixed, Never;
    BitFieldUExtract: Core(Op::BitFieldUExtract), Field, All, [rule::FIELD],
        Exact, Result, Fixed, Never;
    BitFieldInsert: Core(Op::BitFieldInsert), Field, All, [rule::PACKED_FIELD],
        Exact, Result, Fixed, Never;
}

/// What is known of a comparison: its result always jumps.
#[derive(Debug, Clone, Copy)]
pub struct RelationRow {
    /// The instruction.
    pub op: Op,
    /// How the operands are read.
    pub operands: OperandKind,
    /// Where a value is given for constant operands.
    pub folding: FoldingScope,
}

macro_rules! relations {
    ($relations:ident; $($relation:ident: $operands:expr, $folding:expr;)*) => {
        impl $relations {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$relation),*];

            /// What is known of it.
            pub fn row(self) -> RelationRow {
                match self {
                    $(Self::$relation => RelationRow {
                        op: Op::$relation,
                        operands: $operands,
                        folding: $folding,
                    },)*
                }
            }
        }
    };
}

relations! { Compare;
    IEqual: Integers, Both;
    INotEqual: Integers, Both;
    UGreaterThan: Unsigned, Both;
    SGreaterThan: Signed, Both;
    UGreaterThanEqual: Unsigned, Both;
    SGreaterThanEqual: Signed, Both;
    ULessThan: Unsigned, Both;
    SLessThan: Signed, Both;
    ULessThanEqual: Unsigned, Both;
    SLessThanEqual: Signed, Both;
    FOrdEqual: Floats, Functions;
    FUnordEqual: Floats, Functions;
    FOrdNotEqual: Floats, Functions;
    FUnordNotEqual: Floats, Functions;
    FOrdLessThan: Floats, Functions;
    FUnordLessThan: Floats, Functions;
    FOrdGreaterThan: Floats, Functions;
    FUnordGreaterThan: Floats, Functions;
    FOrdLessThanEqual: Floats, Functions;
    FUnordLessThanEqual: Floats, Functions;
    FOrdGreaterThanEqual: Floats, Functions;
    FUnordGreaterThanEqual: Floats, Functions;
    Ordered: Floats, Never;
    Unordered: Floats, Never;
}

relations! { Classify;
    IsNan: Floats, Never;
    IsInf: Floats, Never;
}

/// A conversion between numbers of any widths.
#[derive(Debug, Clone, Copy)]
pub struct Conversion {
    /// The instruction.
    pub op: Op,
    /// What it computes.
    pub conversion: SizedOperator,
    /// Where a value is given for constant operands.
    pub folding: FoldingScope,
}

/// All conversions. On words, `ConvertFToU` and its like of [`Unary`] say what is undefined of them
/// and how they jump.
pub const CONVERSIONS: &[Conversion] = &[
    Conversion { op: Op::ConvertFToU, conversion: SizedOperator::ToUnsigned, folding: Never },
    Conversion { op: Op::ConvertFToS, conversion: SizedOperator::ToSigned, folding: Never },
    Conversion { op: Op::ConvertSToF, conversion: SizedOperator::FromSigned, folding: Never },
    Conversion { op: Op::ConvertUToF, conversion: SizedOperator::FromUnsigned, folding: Never },
    Conversion { op: Op::UConvert, conversion: SizedOperator::FromUnsigned, folding: Constants },
    Conversion { op: Op::SConvert, conversion: SizedOperator::FromSigned, folding: Constants },
    Conversion { op: Op::FConvert, conversion: SizedOperator::Round, folding: Constants },
];

/// Any scalar operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarOperation {
    /// On one number.
    Unary(Unary),
    /// On two numbers.
    Binary(Binary),
    /// On three numbers.
    Ternary(Ternary),
    /// A comparison of two numbers.
    Compare(Compare),
    /// A question about one float.
    Classify(Classify),
    /// From one form of numbers to another.
    Convert(SizedOperator),
}

impl ScalarOperation {
    /// Where it is folded, as the instruction `op` (UConvert and ConvertUToF are one operation).
    pub(crate) fn folding_scope(self, op: Op) -> FoldingScope {
        match self {
            Self::Unary(operation) => operation.row().folding,
            Self::Binary(operation) => operation.row().folding,
            Self::Ternary(operation) => operation.row().folding,
            Self::Compare(relation) => relation.row().folding,
            Self::Classify(relation) => relation.row().folding,
            Self::Convert(_) => {
                let row = CONVERSIONS.iter().find(|row| row.op == op);
                row.map_or(FoldingScope::Never, |row| row.folding)
            }
        }
    }
}

/// Every operation with its source; comparisons and conversions are instructions of the core.
fn all_operations() -> impl Iterator<Item = (OperationSource, ScalarOperation)> {
    use ScalarOperation as S;
    let unary = Unary::ALL.iter().map(|operation| (operation.row().source, S::Unary(*operation)));
    let binary =
        Binary::ALL.iter().map(|operation| (operation.row().source, S::Binary(*operation)));
    let ternary =
        Ternary::ALL.iter().map(|operation| (operation.row().source, S::Ternary(*operation)));
    let compare =
        Compare::ALL.iter().map(|relation| (Core(relation.row().op), S::Compare(*relation)));
    let classify =
        Classify::ALL.iter().map(|relation| (Core(relation.row().op), S::Classify(*relation)));
    let convert = CONVERSIONS.iter().map(|row| (Core(row.op), S::Convert(row.conversion)));
    // Conversions go before the operations on words that they become.
    unary.chain(binary).chain(ternary).chain(compare).chain(classify).chain(convert)
}

static BY_OPCODE: LazyLock<HashMap<Op, ScalarOperation>> = LazyLock::new(|| {
    let core = all_operations().filter_map(|(source, operation)| match source {
        Core(op) => Some((op, operation)),
        _ => None,
    });
    core.chain([(Op::LessOrGreater, ScalarOperation::Compare(Compare::FOrdNotEqual))]).collect()
});

static BY_EXTENDED: LazyLock<HashMap<GLOp, ScalarOperation>> = LazyLock::new(|| {
    let extended = all_operations().filter_map(|(source, operation)| match source {
        Extended(op) => Some((op, operation)),
        _ => None,
    });
    extended.collect()
});

/// The operation that an instruction is, component by component; none for all others.
pub fn scalar_operation(op: Op) -> Option<ScalarOperation> {
    BY_OPCODE.get(&op).copied()
}

/// The same of GLSL.std.450.
pub fn extended_operation(op: GLOp) -> Option<ScalarOperation> {
    BY_EXTENDED.get(&op).copied()
}

/// All instructions of the core that are a scalar operation.
pub fn scalar_opcodes() -> impl Iterator<Item = Op> {
    BY_OPCODE.keys().copied()
}

/// The bounds of all operations that have some.
pub(crate) fn bounds_table() -> Vec<precision::BoundsRow> {
    let bounded_operations = all_operations().filter_map(|(source, operation)| match operation {
        ScalarOperation::Unary(operation) => row_with_bounds(operation.row().precision, source),
        ScalarOperation::Binary(operation) => row_with_bounds(operation.row().precision, source),
        ScalarOperation::Ternary(operation) => row_with_bounds(operation.row().precision, source),
        ScalarOperation::Compare(_)
        | ScalarOperation::Classify(_)
        | ScalarOperation::Convert(_) => None,
    });
    let mut rows: Vec<precision::BoundsRow> = Vec::new();
    for row in bounded_operations {
        if rows.iter().all(|earlier| earlier.operation != row.operation) {
            rows.push(row);
        }
    }
    rows
}

fn row_with_bounds(
    precision: ResultPrecision,
    source: OperationSource,
) -> Option<precision::BoundsRow> {
    match precision {
        Bounded(bounds) => {
            Some(precision::BoundsRow { operation: source.bounded_operation(), bounds })
        }
        Fixed | Flushed => None,
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
