//! Relational and logical instructions (SPIR-V specification, section "Relational and Logical
//! Instructions").

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::NumberList;
use super::operand::{each_mask, operand_id, operand_masks};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
use crate::ir::{LaneInstruction, RecordedComparison, Scalar};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::Compare;

pub(crate) const AND: u8 = 0b1000;
const OR: u8 = 0b1110;
const EQUAL: u8 = 0b1001;
const NOT_EQUAL: u8 = 0b0110;

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::LogicalAnd, OpcodeMeaning::Logic(AND)),
    opcode_row(Op::LogicalOr, OpcodeMeaning::Logic(OR)),
    opcode_row(Op::LogicalEqual, OpcodeMeaning::Logic(EQUAL)),
    opcode_row(Op::LogicalNotEqual, OpcodeMeaning::Logic(NOT_EQUAL)),
    opcode_row(Op::LogicalNot, OpcodeMeaning::Special(logical_not)),
    opcode_row(Op::Any, OpcodeMeaning::Special(any_component)),
    opcode_row(Op::All, OpcodeMeaning::Special(all_components)),
    opcode_row(Op::Select, OpcodeMeaning::Special(select_scalars)),
];

fn logical_not(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand_masks(decoder, instruction, 0)?;
    each_mask(decoder, instruction, a.len(), |to, index| LaneInstruction::Not { to, a: a[index] })
}

fn fold_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    table: u8,
) -> Result<(), Unsupported> {
    let masks = operand_masks(decoder, instruction, 0)?;
    let mut folded_mask = masks[0];
    for next_mask in &masks[1..] {
        let result_mask = decoder.new_mask();
        decoder.push_instruction(LaneInstruction::Logic {
            table,
            to: result_mask,
            a: folded_mask,
            b: *next_mask,
        });
        folded_mask = result_mask;
    }
    decoder
        .define_result(instruction, DecodedValue::Scalars(Arc::new([Scalar::Mask(folded_mask)])));
    Ok(())
}

fn any_component(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    fold_masks(decoder, instruction, OR)
}

fn all_components(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    fold_masks(decoder, instruction, AND)
}

fn select_scalars(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let conditions = operand_masks(decoder, instruction, 0)?;
    let true_scalars = decoder.scalars_of(operand_id(instruction, 1)?)?;
    let false_scalars = decoder.scalars_of(operand_id(instruction, 2)?)?;
    let mut scalars = Vec::with_capacity(true_scalars.len());
    for (index, scalar_pair) in true_scalars.iter().zip(false_scalars.iter()).enumerate() {
        // One condition for all components (SPIR-V 1.4), or one for each.
        let condition = if conditions.len() == 1 {
            conditions[0]
        } else {
            conditions[index * conditions.len() / true_scalars.len()]
        };
        scalars.push(match scalar_pair {
            (Scalar::Word(when_true), Scalar::Word(when_false)) => {
                let selected_register = decoder.new_word();
                decoder.push_instruction(LaneInstruction::Select {
                    to: selected_register,
                    condition,
                    a: *when_true,
                    b: *when_false,
                });
                Scalar::Word(selected_register)
            }
            (Scalar::Mask(when_true), Scalar::Mask(when_false)) => {
                let selected_register = decoder.new_mask();
                decoder.push_instruction(LaneInstruction::SelectMask {
                    to: selected_register,
                    condition,
                    a: *when_true,
                    b: *when_false,
                });
                Scalar::Mask(selected_register)
            }
            _ => return Err(unsupported("OpSelect between a number and a Boolean")),
        });
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

/// Keeps a scalar float comparison, for markers that record what was compared.
pub(crate) fn remember_comparison(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operator: Compare,
    operands: &[NumberList],
) {
    let (Some(symbol), [left, right], Some(result)) =
        (operator.float_symbol(), operands, instruction.result)
    else {
        return;
    };
    let ([left_number], [right_number]) = (left.parts.as_slice(), right.parts.as_slice()) else {
        return;
    };
    if decoder.markers.is_none() || !left.number_format.is_word() {
        return;
    }
    let names = [0, 1].map(|index| operand_name(decoder, instruction.id(index)));
    let call_depth = decoder.call_depth();
    let compared = RecordedComparison {
        condition: 0,
        symbol,
        left: left_number.low,
        right: right_number.low,
        names,
    };
    decoder.comparisons.insert((call_depth, result), compared);
}

/// The variable that an operand was loaded from, its constant value, or its id.
fn operand_name(decoder: &Decoder<'_>, operand_id: Option<Id>) -> Arc<str> {
    let Some(value_id) = operand_id else { return "?".into() };
    let load_instruction =
        decoder.module.definition(value_id).filter(|definition| definition.op == Op::Load);
    let named_pointer = load_instruction
        .and_then(|load_instruction| load_instruction.id(0))
        .filter(|pointer| decoder.module.debug_name(*pointer).is_some_and(|name| !name.is_empty()));
    if let Some(pointer) = named_pointer {
        return decoder.variable_name(pointer);
    }
    match decoder.constants.scalar_word(value_id) {
        Some(bits) => format!("{:?}", f32::from_bits(bits)).into(),
        None => decoder.variable_name(value_id),
    }
}
