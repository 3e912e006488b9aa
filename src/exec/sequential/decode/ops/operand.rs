//! Operands and results that the families of instructions share.

use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::{LaneInstruction, Reg, Scalar};
use vkcert_spirv::module::Instruction;

/// The id in operand `index`.
pub(crate) fn id(instruction: &Instruction, index: usize) -> Result<u32, Unsupported> {
    instruction
        .id(index)
        .ok_or_else(|| unsupported(format!("Op{:?} without operand {index}", instruction.op)))
}

pub(crate) fn operand_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    index: usize,
) -> Result<Vec<Reg>, Unsupported> {
    decoder.masks(id(instruction, index)?)
}

pub(crate) fn each_mask(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    count: usize,
    action: impl Fn(Reg, usize) -> LaneInstruction,
) -> Result<(), Unsupported> {
    check_result(decoder, instruction, count)?;
    let mut scalars = Vec::with_capacity(count);
    for index in 0..count {
        let to = decoder.mask();
        decoder.push(action(to, index));
        scalars.push(Scalar::Mask(to));
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

/// The result type must have as many scalars.
fn check_result(
    decoder: &Decoder<'_>,
    instruction: &Instruction,
    count: usize,
) -> Result<(), Unsupported> {
    let Some(ty) = instruction.result_type else { return Ok(()) };
    let kinds = decoder.kinds(ty)?;
    if kinds.len() == count {
        Ok(())
    } else {
        Err(unsupported(format!("Op{:?} with this type", instruction.op)))
    }
}
