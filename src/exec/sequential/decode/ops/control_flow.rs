//! Control flow, functions, debug information (SPIR-V specification, sections "Control-Flow
//! Instructions", "Function Instructions", "Debug Instructions"), and calls of the coverage
//! markers.

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::push_relation;
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
use crate::ir::{LaneInstruction, NumberRegisters, RecordedComparison, Reg, Scalar, Terminator};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_instrument::{MarkerArguments, MarkerFunction};
use vkcert_model::records::MarkerTable;
use vkcert_model::structure::MarkerRole;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::Compare;
use vkcert_spirv::operation::sized::{NumberFormat, Relation};

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::Nop, OpcodeMeaning::Nothing),
    opcode_row(Op::Line, OpcodeMeaning::Nothing),
    opcode_row(Op::NoLine, OpcodeMeaning::Nothing),
    opcode_row(Op::Label, OpcodeMeaning::Nothing),
    opcode_row(Op::LoopMerge, OpcodeMeaning::Nothing),
    opcode_row(Op::SelectionMerge, OpcodeMeaning::Nothing),
    // Phis are copies on the edges that lead to them.
    opcode_row(Op::Phi, OpcodeMeaning::Nothing),
    opcode_row(Op::Branch, OpcodeMeaning::Special(decode_branch)),
    opcode_row(Op::BranchConditional, OpcodeMeaning::Special(branch_conditional)),
    opcode_row(Op::Switch, OpcodeMeaning::Special(decode_switch)),
    opcode_row(Op::Return, OpcodeMeaning::Special(return_void)),
    opcode_row(Op::ReturnValue, OpcodeMeaning::Special(return_value)),
    opcode_row(Op::Kill, OpcodeMeaning::Special(end_invocation)),
    opcode_row(Op::TerminateInvocation, OpcodeMeaning::Special(end_invocation)),
    opcode_row(Op::Unreachable, OpcodeMeaning::Special(mark_unreachable)),
    opcode_row(Op::AssumeTrueKHR, OpcodeMeaning::Special(assume_true)),
    opcode_row(Op::FunctionCall, OpcodeMeaning::Special(decode_call)),
];

fn decode_branch(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut edges = Vec::new();
    let target_label = decoder.edge_label(operand_id(instruction, 0)?, &mut edges)?;
    decoder.finish_block(Terminator::Jump { to: target_label });
    decoder.emit_edges(edges);
    Ok(())
}

fn branch_conditional(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let condition = decoder.masks_of(operand_id(instruction, 0)?)?[0];
    let mut edges = Vec::new();
    let true_label = decoder.edge_label(operand_id(instruction, 1)?, &mut edges)?;
    let false_label = decoder.edge_label(operand_id(instruction, 2)?, &mut edges)?;
    decoder.finish_block(Terminator::Branch { condition, yes: true_label, no: false_label });
    decoder.emit_edges(edges);
    Ok(())
}

fn decode_switch(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let (selector_format, number) = decoder.number_of(operand_id(instruction, 0)?)?;
    let mut edges = Vec::new();
    let default_label = decoder.edge_label(operand_id(instruction, 1)?, &mut edges)?;
    let mut cases = Vec::new();
    for pair in instruction.operands[2..].chunks(2) {
        // Literals of fewer than 32 bits may be sign-extended (SPIR-V specification, "Literal").
        let (value, target) = match pair {
            [Operand::LiteralBit32(value), Operand::IdRef(target)] => {
                (u64::from(*value) & u64::MAX >> (64 - selector_format.width().bits()), *target)
            }
            [Operand::LiteralBit64(value), Operand::IdRef(target)] => (*value, *target),
            _ => return Err(unsupported("OpSwitch with a case that is no literal")),
        };
        cases.push((value, decoder.edge_label(target, &mut edges)?));
    }
    let (selector, cases) = match number.high {
        None => (number.low, cases.into_iter().map(|(value, to)| (value as u32, to)).collect()),
        Some(_) => selector_as_position(decoder, selector_format, number, &cases),
    };
    decoder.finish_block(Terminator::Switch { selector, cases, default: default_label });
    decoder.emit_edges(edges);
    Ok(())
}

/// A selector of 64 bits as the 1-based position of its case; 0 if no case matches.
fn selector_as_position(
    decoder: &mut Decoder<'_>,
    selector_format: NumberFormat,
    selector: NumberRegisters,
    cases: &[(u64, u32)],
) -> (Reg, Arc<[(u32, u32)]>) {
    let mut position = decoder.constant_word(0);
    for ((case_value, _), number) in cases.iter().zip(1..) {
        let case_value = decoder.constant_number(selector_format, *case_value);
        let condition = push_relation(
            decoder,
            Relation::Compare(Compare::IEqual),
            selector_format,
            &[selector, case_value],
        );
        let (next_position, case_position) = (decoder.new_word(), decoder.constant_word(number));
        decoder.push_instruction(LaneInstruction::Select {
            to: next_position,
            condition,
            a: case_position,
            b: position,
        });
        position = next_position;
    }
    (
        position,
        cases
            .iter()
            .zip(1..)
            .map(|((_, next_position), number)| (number, *next_position))
            .collect(),
    )
}

fn return_void(decoder: &mut Decoder<'_>, _: &Instruction) -> Result<(), Unsupported> {
    decoder.return_from(None)
}

fn return_value(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    decoder.return_from(Some(operand_id(instruction, 0)?))
}

fn end_invocation(decoder: &mut Decoder<'_>, _: &Instruction) -> Result<(), Unsupported> {
    decoder.finish_block(Terminator::End);
    Ok(())
}

fn mark_unreachable(decoder: &mut Decoder<'_>, _: &Instruction) -> Result<(), Unsupported> {
    decoder.finish_block(Terminator::Unreachable);
    Ok(())
}

/// OpAssumeTrueKHR: behaviour is undefined where the condition is false (SPV_KHR_expect_assume).
fn assume_true(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let condition = decoder.masks_of(operand_id(instruction, 0)?)?[0];
    let otherwise =
        "what the kernel assumes (OpAssumeTrueKHR) is false, so that its behaviour is undefined";
    decoder.push_instruction(LaneInstruction::Assume { condition, otherwise });
    Ok(())
}

fn decode_call(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let callee = operand_id(instruction, 0)?;
    if let Some(table) = decoder.markers {
        if table.value_function == Some(callee) {
            return value_marker(decoder, instruction, table);
        }
        if table.mark_function == Some(callee) {
            return mark_reached(decoder, instruction, table);
        }
    }
    let arguments =
        instruction.ids().skip(1).map(|id| decoder.value_of(id)).collect::<Result<Vec<_>, _>>()?;
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("a call without a type"))?;
    let result = decoder.new_registers(result_type)?;
    decoder.define_result(instruction, DecodedValue::Scalars(Arc::clone(&result)));
    let call_index = decoder.source_index;
    let return_label = decoder.new_label();
    let entry_label = decoder.new_label();
    decoder.finish_block(Terminator::Jump { to: entry_label });
    decoder.inline_function(entry_label, callee, arguments, Some(return_label), result)?;
    decoder.source_index = call_index;
    decoder.begin_block(return_label);
    Ok(())
}

/// The role of a marker call, by its constant number.
fn marker_role(
    decoder: &Decoder<'_>,
    arguments: &MarkerArguments,
    table: &MarkerTable,
) -> Result<MarkerRole, Unsupported> {
    let role = arguments
        .marker_number(&decoder.constants)
        .and_then(|number| table.roles.get(number as usize));
    role.copied().ok_or_else(|| unsupported("a coverage marker with an unknown number"))
}

fn mark_reached(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    table: &MarkerTable,
) -> Result<(), Unsupported> {
    let arguments = MarkerArguments::of_call(instruction, MarkerFunction::Mark);
    if let MarkerRole::Mark { mark } = marker_role(decoder, &arguments, table)?
        && let Some(bit) = table.layout.mark_bit(mark)
    {
        decoder.push_instruction(LaneInstruction::RecordBit { bit });
    }
    Ok(())
}

fn value_marker(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    table: &MarkerTable,
) -> Result<(), Unsupported> {
    let arguments = MarkerArguments::of_call(instruction, MarkerFunction::Value);
    let operand_id =
        arguments.value.ok_or_else(|| unsupported("a coverage marker without a value"))?;
    let value = decoder.masks_of(operand_id)?[0];
    decoder.define_result(instruction, DecodedValue::Scalars(Arc::new([Scalar::Mask(value)])));
    let role = marker_role(decoder, &arguments, table)?;
    let slot_of = |decision| table.layout.position(decision);
    match role {
        MarkerRole::Condition { decision, condition } => {
            let Some((slot, layout)) = slot_of(decision) else { return Ok(()) };
            let weights = *layout
                .weights
                .get(condition as usize)
                .ok_or_else(|| unsupported("an unknown condition"))?;
            let sum_register = decoder.sum_register(slot);
            if let Some(compared) = operand_comparison(decoder, operand_id) {
                let slot_comparisons = decoder.decision_comparisons.entry(slot).or_default();
                slot_comparisons.retain(|earlier| earlier.condition != condition);
                slot_comparisons.push(RecordedComparison { condition, ..compared });
            }
            decoder.push_instruction(LaneInstruction::Condition {
                slot,
                sum: sum_register,
                value,
                weights,
            });
        }
        MarkerRole::Decision { decision } => {
            let Some((slot, _)) = slot_of(decision) else { return Ok(()) };
            let sum_register = decoder.sum_register(slot);
            let compared = decoder.decision_comparisons.remove(&slot).unwrap_or_default();
            decoder.push_instruction(LaneInstruction::Decision {
                slot,
                sum: sum_register,
                compared: compared.into(),
            });
        }
        MarkerRole::Single { decision } => {
            let Some((slot, layout)) = slot_of(decision) else { return Ok(()) };
            let weights = *layout
                .weights
                .first()
                .ok_or_else(|| unsupported("a decision without conditions"))?;
            let compared: Vec<RecordedComparison> =
                operand_comparison(decoder, operand_id).into_iter().collect();
            decoder.push_instruction(LaneInstruction::SingleCondition {
                slot,
                value,
                weights,
                compared: compared.into(),
            });
        }
        MarkerRole::MarkWhere { mark } => {
            let Some(bit) = table.layout.mark_bit(mark) else { return Ok(()) };
            decoder.push_instruction(LaneInstruction::RecordBitWhere { bit, value });
        }
        MarkerRole::Mark { .. } => return Err(unsupported("a mark where a value is expected")),
    }
    Ok(())
}

/// The float comparison that a marker's operand is the result of, if it is one.
fn operand_comparison(decoder: &Decoder<'_>, operand_id: Id) -> Option<RecordedComparison> {
    decoder.comparisons.get(&(decoder.call_depth(), operand_id)).cloned()
}
