//! Operands and results that the families of instructions share.

use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
use crate::ir::{LaneInstruction, Reg, Scalar};
use vkcert_spirv::module::Instruction;

/// The id in operand `index`.
pub(crate) fn operand_id(
    instruction: &Instruction,
    operand_index: usize,
) -> Result<u32, Unsupported> {
    instruction.id(operand_index).ok_or_else(|| {
        unsupported(format!("Op{:?} without operand {operand_index}", instruction.op))
    })
}

pub(crate) fn operand_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operand_index: usize,
) -> Result<Vec<Reg>, Unsupported> {
    decoder.masks_of(operand_id(instruction, operand_index)?)
}

pub(crate) fn each_mask(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    count: usize,
    instruction_for: impl Fn(Reg, usize) -> LaneInstruction,
) -> Result<(), Unsupported> {
    check_result_size(decoder, instruction, count)?;
    let mut scalars = Vec::with_capacity(count);
    for operand_index in 0..count {
        let result_mask = decoder.new_mask();
        decoder.push_instruction(instruction_for(result_mask, operand_index));
        scalars.push(Scalar::Mask(result_mask));
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

/// The result type must have as many scalars.
fn check_result_size(
    decoder: &Decoder<'_>,
    instruction: &Instruction,
    count: usize,
) -> Result<(), Unsupported> {
    let Some(ty) = instruction.result_type else { return Ok(()) };
    let kinds = decoder.scalar_kinds(ty)?;
    if kinds.len() == count {
        Ok(())
    } else {
        Err(unsupported(format!("Op{:?} with this type", instruction.op)))
    }
}
