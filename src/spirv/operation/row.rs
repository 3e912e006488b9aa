//! The columns of the table of scalar operations.

use crate::operation::undefined::Rule;
use crate::precision::{self, Bounds};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};

/// What is known of an operation.
pub struct Row<Test: 'static> {
    pub source: Source,
    pub operands: Operands,
    pub widths: Widths,
    /// When something is undefined, the most severe first.
    pub undefined: &'static [Rule<Test>],
    pub rounding: Rounding,
    pub jump: Jump,
    pub precision: Precision,
    pub folding: Folding,
}

/// Which instruction an operation is, or is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Core(Op),
    /// Of GLSL.std.450.
    Extended(GLOp),
    /// One of several operations that an instruction is made of.
    PartOfCore(Op),
    PartOfExtended(GLOp),
    /// A component of `normalize`: the component, and the length of the vector.
    NormalizedComponent,
    /// A product and a sum that are rounded once.
    Contracted,
}

/// How the operands are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// As integers of either sign.
    Integers,
    /// A signed integer, as opposed to an unsigned one.
    Signed,
    Unsigned,
    Floats,
    /// A float and an exponent.
    Exponent,
    /// An integer and the position of a bit field in it.
    Field,
}

/// Which widths an operation exists on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widths {
    /// All of its kind of number.
    All,
    /// 32 bits alone; conversions have a form of their own for others.
    Word,
}

/// Whether the result depends on which way it is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    Exact,
    Rounded,
}

/// What of an operation jumps while its operands move little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    Smooth,
    Result,
    /// The whole number below the operand.
    Floor,
}

/// What an implementation may make of the exact result.
#[derive(Clone, Copy)]
pub enum Precision {
    /// Nothing.
    Fixed,
    /// Its denormal operands and results may be flushed.
    Flushed,
    /// The same, and it may lie within bounds.
    Bounded(Bounds),
}

/// Where a value is given for constant operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    Never,
    /// In OpSpecConstantOp.
    Constants,
    /// In functions, where compilers leave it.
    Functions,
    Both,
}

impl Folding {
    /// Whether OpSpecConstantOp is evaluated with it.
    pub fn in_constants(self) -> bool {
        matches!(self, Self::Constants | Self::Both)
    }

    /// Whether instructions of functions are folded.
    pub fn in_functions(self) -> bool {
        matches!(self, Self::Functions | Self::Both)
    }
}

impl<Test> Row<Test> {
    /// The operation of the specification's table of bounds; none where its result is fixed.
    pub fn bounded_operation(&self) -> Option<precision::Operation> {
        match self.precision {
            Precision::Fixed => None,
            Precision::Flushed | Precision::Bounded(_) => Some(self.source.bounded_operation()),
        }
    }

    /// How many operands, from the first on, are floats where the first one is.
    pub fn float_operands(&self, count: usize) -> usize {
        match self.operands {
            Operands::Floats => count,
            Operands::Exponent => 1,
            Operands::Integers | Operands::Signed | Operands::Unsigned | Operands::Field => 0,
        }
    }
}

impl Source {
    pub(super) fn bounded_operation(self) -> precision::Operation {
        match self {
            Self::Core(op) | Self::PartOfCore(op) => precision::Operation::Core(op),
            Self::Extended(op) | Self::PartOfExtended(op) => precision::Operation::Extended(op),
            Self::NormalizedComponent => precision::Operation::NormalizedComponent,
            Self::Contracted => precision::Operation::Contracted,
        }
    }
}
