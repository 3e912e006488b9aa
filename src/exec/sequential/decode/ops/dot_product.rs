//! Integer dot products (SPIR-V specification, section "Arithmetic Instructions": OpSDot and its
//! family).
//!
//! Knows: vectors of integers of any width, and four numbers of 8 bits packed into a word, the
//! first one lowest.
//! Promises: without an accumulator the result is the low bits of the exact one. With one, the last
//! addition saturates; a product or a sum before it that does not fit leaves an undefined value.
//! The specification gives no order of the additions, so a sum counts as not fitting where it would
//! not in some order; such a sum is reduced modulo 2^width here.

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::{define_numbers, number_operand};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::LaneInstruction;
use crate::ir::dot_product::{DotProduct, MIXED, SIGNED, SumKind, UNSIGNED};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, PackedVectorFormat};
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::sized::{NumberFormat, Width};
use vkcert_spirv::types::Signedness;

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(
        Op::SDot,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_dot_product(decoder, instruction, SIGNED, SumKind::Plain)
        }),
    ),
    opcode_row(
        Op::UDot,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_dot_product(decoder, instruction, UNSIGNED, SumKind::Plain)
        }),
    ),
    opcode_row(
        Op::SUDot,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_dot_product(decoder, instruction, MIXED, SumKind::Plain)
        }),
    ),
    opcode_row(
        Op::SDotAccSat,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_dot_product(decoder, instruction, SIGNED, SumKind::Accumulated)
        }),
    ),
    opcode_row(
        Op::UDotAccSat,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_dot_product(decoder, instruction, UNSIGNED, SumKind::Accumulated)
        }),
    ),
    opcode_row(
        Op::SUDotAccSat,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_dot_product(decoder, instruction, MIXED, SumKind::Accumulated)
        }),
    ),
];

pub(crate) fn decode_dot_product(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    signs: [Signedness; 3],
    sum_kind: SumKind,
) -> Result<(), Unsupported> {
    let first_operand = number_operand(decoder, instruction, 0)?;
    let second_operand = number_operand(decoder, instruction, 1)?;
    let result_format = decoder.result_form(instruction)?;
    if first_operand.parts.len() != second_operand.parts.len()
        || first_operand.number_format.width() != second_operand.number_format.width()
    {
        return Err(unsupported(format!("Op{:?} of different vectors", instruction.op)));
    }
    let packing = instruction.operands.iter().find_map(|operand| match operand {
        Operand::PackedVectorFormat(format) => Some(*format),
        _ => None,
    });
    let (component_width, packed_count) = match packing {
        None if first_operand.parts.len() > 1 => (first_operand.number_format.width(), 1),
        None => {
            return Err(unsupported(format!(
                "Op{:?} of scalars without a packed format",
                instruction.op
            )));
        }
        Some(PackedVectorFormat::PackedVectorFormat4x8Bit) => (Width::W8, 4),
    };
    let mut operand_numbers = first_operand.parts;
    operand_numbers.extend(second_operand.parts);
    if sum_kind == SumKind::Accumulated {
        operand_numbers.extend(number_operand(decoder, instruction, 2)?.parts);
    }
    let dot = DotProduct {
        signs,
        sum: sum_kind,
        components: [component_width; 2],
        packed: packed_count,
        result: result_format.width(),
    };
    let result_number = decoder.new_number(NumberFormat::Integer(result_format.width()));
    decoder.push_instruction(LaneInstruction::Dot {
        dot,
        to: result_number,
        from: operand_numbers.into(),
    });
    define_numbers(decoder, instruction, &[result_number]);
    Ok(())
}
