//! Control flow, functions, debug information (SPIR-V specification, sections "Control-Flow
//! Instructions", "Function Instructions", "Debug Instructions"), and calls of the coverage
//! markers.

use super::meaning::{Meaning, Row, row};
use super::number::relate;
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
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

pub(crate) const TABLE: &[Row] = &[
    row(Op::Nop, Meaning::Nothing),
    row(Op::Line, Meaning::Nothing),
    row(Op::NoLine, Meaning::Nothing),
    row(Op::Label, Meaning::Nothing),
    row(Op::LoopMerge, Meaning::Nothing),
    row(Op::SelectionMerge, Meaning::Nothing),
    // Phis are copies on the edges that lead to them.
    row(Op::Phi, Meaning::Nothing),
    row(Op::Branch, Meaning::Special(branch)),
    row(Op::BranchConditional, Meaning::Special(branch_conditional)),
    row(Op::Switch, Meaning::Special(switch)),
    row(Op::Return, Meaning::Special(return_void)),
    row(Op::ReturnValue, Meaning::Special(return_value)),
    row(Op::Kill, Meaning::Special(end)),
    row(Op::TerminateInvocation, Meaning::Special(end)),
    row(Op::Unreachable, Meaning::Special(unreachable)),
    row(Op::AssumeTrueKHR, Meaning::Special(assume)),
    row(Op::FunctionCall, Meaning::Special(call)),
];

fn branch(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut edges = Vec::new();
    let to = decoder.edge(id(instruction, 0)?, &mut edges)?;
    decoder.finish(Terminator::Jump { to });
    decoder.emit_edges(edges);
    Ok(())
}

fn branch_conditional(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let condition = decoder.masks(id(instruction, 0)?)?[0];
    let mut edges = Vec::new();
    let yes = decoder.edge(id(instruction, 1)?, &mut edges)?;
    let no = decoder.edge(id(instruction, 2)?, &mut edges)?;
    decoder.finish(Terminator::Branch { condition, yes, no });
    decoder.emit_edges(edges);
    Ok(())
}

fn switch(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let (form, number) = decoder.number(id(instruction, 0)?)?;
    let mut edges = Vec::new();
    let default = decoder.edge(id(instruction, 1)?, &mut edges)?;
    let mut cases = Vec::new();
    for pair in instruction.operands[2..].chunks(2) {
        // Literals of fewer than 32 bits may be sign-extended (SPIR-V specification, "Literal").
        let (value, target) = match pair {
            [Operand::LiteralBit32(value), Operand::IdRef(target)] => {
                (u64::from(*value) & u64::MAX >> (64 - form.width().bits()), *target)
            }
            [Operand::LiteralBit64(value), Operand::IdRef(target)] => (*value, *target),
            _ => return Err(unsupported("OpSwitch with a case that is no literal")),
        };
        cases.push((value, decoder.edge(target, &mut edges)?));
    }
    let (selector, cases) = match number.high {
        None => (number.low, cases.into_iter().map(|(value, to)| (value as u32, to)).collect()),
        Some(_) => by_position(decoder, form, number, &cases),
    };
    decoder.finish(Terminator::Switch { selector, cases, default });
    decoder.emit_edges(edges);
    Ok(())
}

/// A selector of 64 bits as the position of its case, from 1 on; 0: none.
fn by_position(
    decoder: &mut Decoder<'_>,
    form: NumberFormat,
    selector: NumberRegisters,
    cases: &[(u64, u32)],
) -> (Reg, Arc<[(u32, u32)]>) {
    let mut position = decoder.constant_word(0);
    for ((value, _), number) in cases.iter().zip(1..) {
        let value = decoder.constant_number(form, *value);
        let condition =
            relate(decoder, Relation::Compare(Compare::IEqual), form, &[selector, value]);
        let (to, a) = (decoder.word(), decoder.constant_word(number));
        decoder.push(LaneInstruction::Select { to, condition, a, b: position });
        position = to;
    }
    (position, cases.iter().zip(1..).map(|((_, to), number)| (number, *to)).collect())
}

fn return_void(decoder: &mut Decoder<'_>, _: &Instruction) -> Result<(), Unsupported> {
    decoder.return_from(None)
}

fn return_value(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    decoder.return_from(Some(id(instruction, 0)?))
}

fn end(decoder: &mut Decoder<'_>, _: &Instruction) -> Result<(), Unsupported> {
    decoder.finish(Terminator::End);
    Ok(())
}

fn unreachable(decoder: &mut Decoder<'_>, _: &Instruction) -> Result<(), Unsupported> {
    decoder.finish(Terminator::Unreachable);
    Ok(())
}

/// OpAssumeTrueKHR: behaviour is undefined where the condition is false (SPV_KHR_expect_assume).
fn assume(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let condition = decoder.masks(id(instruction, 0)?)?[0];
    let otherwise =
        "what the kernel assumes (OpAssumeTrueKHR) is false, so that its behaviour is undefined";
    decoder.push(LaneInstruction::Assume { condition, otherwise });
    Ok(())
}

fn call(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let callee = id(instruction, 0)?;
    if let Some(table) = decoder.markers {
        if table.value_function == Some(callee) {
            return value_marker(decoder, instruction, table);
        }
        if table.mark_function == Some(callee) {
            return mark(decoder, instruction, table);
        }
    }
    let arguments =
        instruction.ids().skip(1).map(|id| decoder.value(id)).collect::<Result<Vec<_>, _>>()?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("a call without a type"))?;
    let result = decoder.fresh(ty)?;
    decoder.define(instruction, Value::Scalars(result.clone()));
    let place = decoder.place;
    let back = decoder.new_label();
    let into = decoder.new_label();
    decoder.finish(Terminator::Jump { to: into });
    decoder.inline(into, callee, arguments, Some(back), result)?;
    decoder.place = place;
    decoder.begin(back);
    Ok(())
}

/// The role of a marker call, by its constant number.
fn role(
    decoder: &Decoder<'_>,
    arguments: &MarkerArguments,
    table: &MarkerTable,
) -> Result<MarkerRole, Unsupported> {
    let role = arguments
        .marker_number(&decoder.constants)
        .and_then(|number| table.roles.get(number as usize));
    role.copied().ok_or_else(|| unsupported("a coverage marker with an unknown number"))
}

fn mark(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    table: &MarkerTable,
) -> Result<(), Unsupported> {
    let arguments = MarkerArguments::of_call(instruction, MarkerFunction::Mark);
    if let MarkerRole::Mark { mark } = role(decoder, &arguments, table)?
        && let Some(bit) = table.layout.mark_bit(mark)
    {
        decoder.push(LaneInstruction::RecordBit { bit });
    }
    Ok(())
}

fn value_marker(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    table: &MarkerTable,
) -> Result<(), Unsupported> {
    let arguments = MarkerArguments::of_call(instruction, MarkerFunction::Value);
    let operand =
        arguments.value.ok_or_else(|| unsupported("a coverage marker without a value"))?;
    let value = decoder.masks(operand)?[0];
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(value)])));
    let role = role(decoder, &arguments, table)?;
    let slot_of = |decision| table.layout.position(decision);
    match role {
        MarkerRole::Condition { decision, condition } => {
            let Some((slot, layout)) = slot_of(decision) else { return Ok(()) };
            let weights = *layout
                .weights
                .get(condition as usize)
                .ok_or_else(|| unsupported("an unknown condition"))?;
            let sum = decoder.sum(slot);
            if let Some(compared) = comparison(decoder, operand) {
                let all = decoder.compared.entry(slot).or_default();
                all.retain(|one| one.condition != condition);
                all.push(RecordedComparison { condition, ..compared });
            }
            decoder.push(LaneInstruction::Condition { slot, sum, value, weights });
        }
        MarkerRole::Decision { decision } => {
            let Some((slot, _)) = slot_of(decision) else { return Ok(()) };
            let sum = decoder.sum(slot);
            let compared = decoder.compared.remove(&slot).unwrap_or_default();
            decoder.push(LaneInstruction::Decision { slot, sum, compared: compared.into() });
        }
        MarkerRole::Single { decision } => {
            let Some((slot, layout)) = slot_of(decision) else { return Ok(()) };
            let weights = *layout
                .weights
                .first()
                .ok_or_else(|| unsupported("a decision without conditions"))?;
            let compared: Vec<RecordedComparison> =
                comparison(decoder, operand).into_iter().collect();
            decoder.push(LaneInstruction::SingleCondition {
                slot,
                value,
                weights,
                compared: compared.into(),
            });
        }
        MarkerRole::Mark { .. } => return Err(unsupported("a mark where a value is expected")),
    }
    Ok(())
}

/// The float comparison that a marker's operand is, with operands that outlive the block.
fn comparison(decoder: &Decoder<'_>, operand: Id) -> Option<RecordedComparison> {
    decoder.comparisons.get(&(decoder.depth(), operand)).cloned()
}
