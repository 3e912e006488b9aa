//! The columns of the table of scalar operations.

use crate::operation::undefined::UndefinedRule;
use crate::precision::{self, OperationBounds};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};

/// What is known of an operation.
pub struct OperationRow<Test: 'static> {
    /// Which instruction it is, or is a part of.
    pub source: OperationSource,
    /// How the operands are read.
    pub operands: OperandKind,
    /// Which widths of numbers it takes.
    pub widths: OperationWidths,
    /// When something is undefined, the most severe first.
    pub undefined: &'static [UndefinedRule<Test>],
    /// Whether the result depends on which way it is rounded.
    pub rounding: RoundingDependence,
    /// What jumps while the operands move little.
    pub jump: ResultJump,
    /// What an implementation may do to the result.
    pub precision: ResultPrecision,
    /// Where a value is given for constant operands.
    pub folding: FoldingScope,
}

/// Which instruction an operation is, or is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationSource {
    /// Of the core instructions.
    Core(Op),
    /// Of GLSL.std.450.
    Extended(GLOp),
    /// One of several operations that an instruction is made of.
    PartOfCore(Op),
    /// The same of GLSL.std.450.
    PartOfExtended(GLOp),
    /// A component of `normalize`: the component, and the length of the vector.
    NormalizedComponent,
    /// A product and a sum that are rounded once.
    Contracted,
}

/// How the operands are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// As integers of either sign.
    Integers,
    /// A signed integer, as opposed to an unsigned one.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// Floats.
    Floats,
    /// A float and an exponent.
    Exponent,
    /// An integer and the position of a bit field in it.
    Field,
}

/// Which widths an operation exists on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationWidths {
    /// All of its kind of number.
    All,
    /// 32 bits alone; conversions have a form of their own for others.
    Word,
}

/// Whether the result depends on which way it is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundingDependence {
    /// It does not.
    Exact,
    /// It does.
    Rounded,
}

/// What of an operation jumps while its operands move little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultJump {
    /// Nothing: the result moves little, too.
    Smooth,
    /// The result.
    Result,
    /// The whole number below the operand.
    Floor,
}

/// What an implementation may make of the exact result.
#[derive(Clone, Copy)]
pub enum ResultPrecision {
    /// Nothing.
    Fixed,
    /// Its denormal operands and results may be flushed.
    Flushed,
    /// The same, and it may lie within bounds.
    Bounded(OperationBounds),
}

/// Where a value is given for constant operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldingScope {
    /// Nowhere.
    Never,
    /// In OpSpecConstantOp.
    Constants,
    /// In functions, where compilers leave it.
    Functions,
    /// In OpSpecConstantOp and in functions.
    Both,
}

impl FoldingScope {
    /// Whether OpSpecConstantOp is evaluated with it.
    pub(crate) fn in_constants(self) -> bool {
        matches!(self, Self::Constants | Self::Both)
    }

    /// Whether instructions of functions are folded.
    pub(crate) fn in_functions(self) -> bool {
        matches!(self, Self::Functions | Self::Both)
    }
}

impl<Test> OperationRow<Test> {
    /// The operation of the specification's table of bounds; none where its result is fixed.
    pub fn bounded_operation(&self) -> Option<precision::BoundedOperation> {
        match self.precision {
            ResultPrecision::Fixed => None,
            ResultPrecision::Flushed | ResultPrecision::Bounded(_) => {
                Some(self.source.bounded_operation())
            }
        }
    }

    /// How many operands, from the first on, are floats where the first one is.
    pub fn float_operands(&self, operand_count: usize) -> usize {
        match self.operands {
            OperandKind::Floats => operand_count,
            OperandKind::Exponent => 1,
            OperandKind::Integers
            | OperandKind::Signed
            | OperandKind::Unsigned
            | OperandKind::Field => 0,
        }
    }
}

impl OperationSource {
    pub(super) fn bounded_operation(self) -> precision::BoundedOperation {
        match self {
            Self::Core(op) | Self::PartOfCore(op) => precision::BoundedOperation::Core(op),
            Self::Extended(op) | Self::PartOfExtended(op) => {
                precision::BoundedOperation::Extended(op)
            }
            Self::NormalizedComponent => precision::BoundedOperation::NormalizedComponent,
            Self::Contracted => precision::BoundedOperation::Contracted,
        }
    }
}
