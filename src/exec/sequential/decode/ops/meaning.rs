//! What an opcode means to the decoder: a row of the table of instructions.

use crate::decode::decoder::Decoder;
use crate::decode::unsupported::Unsupported;
use rspirv::spirv::Op;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::ScalarOperation;

/// A handler's signature.
pub(crate) type Handler = fn(&mut Decoder<'_>, &Instruction) -> Result<(), Unsupported>;

/// What an opcode means to the decoder.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meaning {
    /// No effect on execution (labels, debug lines, merge declarations).
    Nothing,
    /// Component by component.
    Scalar(ScalarOperation),
    /// Of two Booleans, by truth table: bit `2a + b`.
    Logic(u8),
    Special(Handler),
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub op: Op,
    pub meaning: Meaning,
}

pub(crate) const fn row(op: Op, meaning: Meaning) -> Row {
    Row { op, meaning }
}
