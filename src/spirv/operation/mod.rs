//! The scalar operations of SPIR-V and GLSL.std.450.
//!
//! Knows: for each operation a row (`table`): its instruction, operands and widths, when it is
//! undefined (`undefined` has the rules), whether its result depends on the direction of rounding,
//! how it jumps, its precision bound and whether constants are folded through it. `word` computes
//! 32 bits over all lanes, `sized` any width.
//! Promises: engines, constants, folding, variations and traces go by the same row, so that a rule
//! is edited in one place. A row that lacks a column does not compile; an instruction that is run
//! without a row fails a test.
//! Does not cover: operations on Booleans, memory and composites, and what is made of several
//! operations (`dot`, `reflect`).

mod integer;
mod number;
pub mod operator;
mod row;
mod rule_operand;
pub mod sized;
pub mod table;
pub mod undefined;
pub mod word;

pub use table::{
    CONVERSIONS, Conversion, FoldingScope, OperandKind, OperationRow, OperationSource,
    OperationWidths, ResultJump, ResultPrecision, ScalarOperation, extended_operation,
    scalar_operation,
};
