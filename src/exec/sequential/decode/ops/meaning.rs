//! How an opcode is decoded: a row of the table of instructions.

use crate::decode::decoder::Decoder;
use crate::decode::unsupported::Unsupported;
use rspirv::spirv::Op;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::ScalarOperation;

/// A handler's signature.
pub(crate) type InstructionHandler = fn(&mut Decoder<'_>, &Instruction) -> Result<(), Unsupported>;

/// How an opcode is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OpcodeMeaning {
    /// No effect on execution (labels, debug lines, merge declarations).
    Nothing,
    /// A scalar operation, component by component.
    Scalar(ScalarOperation),
    /// An operation on two Booleans by truth table: bit `2a + b` is the result.
    Logic(u8),
    Special(InstructionHandler),
}

/// A row of the table of instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpcodeRow {
    pub op: Op,
    pub meaning: OpcodeMeaning,
}

pub(crate) const fn opcode_row(op: Op, meaning: OpcodeMeaning) -> OpcodeRow {
    OpcodeRow { op, meaning }
}
