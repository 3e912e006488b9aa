//! Relational and logical instructions (SPIR-V specification, section "Relational and Logical
//! Instructions").

use super::meaning::{Meaning, Row, row};
use super::number::Numbers;
use super::operand::{each_mask, id, operand_masks};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::{LaneInstruction, RecordedComparison, Scalar};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::Compare;

pub(crate) const AND: u8 = 0b1000;
const OR: u8 = 0b1110;
const EQUAL: u8 = 0b1001;
const NOT_EQUAL: u8 = 0b0110;

pub(crate) const TABLE: &[Row] = &[
    row(Op::LogicalAnd, Meaning::Logic(AND)),
    row(Op::LogicalOr, Meaning::Logic(OR)),
    row(Op::LogicalEqual, Meaning::Logic(EQUAL)),
    row(Op::LogicalNotEqual, Meaning::Logic(NOT_EQUAL)),
    row(Op::LogicalNot, Meaning::Special(not)),
    row(Op::Any, Meaning::Special(any)),
    row(Op::All, Meaning::Special(all)),
    row(Op::Select, Meaning::Special(select)),
];

fn not(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand_masks(decoder, instruction, 0)?;
    each_mask(decoder, instruction, a.len(), |to, index| LaneInstruction::Not { to, a: a[index] })
}

fn fold(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    table: u8,
) -> Result<(), Unsupported> {
    let masks = operand_masks(decoder, instruction, 0)?;
    let mut result = masks[0];
    for b in &masks[1..] {
        let to = decoder.mask();
        decoder.push(LaneInstruction::Logic { table, to, a: result, b: *b });
        result = to;
    }
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(result)])));
    Ok(())
}

fn any(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    fold(decoder, instruction, OR)
}

fn all(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    fold(decoder, instruction, AND)
}

fn select(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let conditions = operand_masks(decoder, instruction, 0)?;
    let a = decoder.scalars(id(instruction, 1)?)?;
    let b = decoder.scalars(id(instruction, 2)?)?;
    let mut scalars = Vec::with_capacity(a.len());
    for (index, pair) in a.iter().zip(b.iter()).enumerate() {
        // One condition for all components (SPIR-V 1.4), or one for each.
        let condition = if conditions.len() == 1 {
            conditions[0]
        } else {
            conditions[index * conditions.len() / a.len()]
        };
        scalars.push(match pair {
            (Scalar::Word(a), Scalar::Word(b)) => {
                let to = decoder.word();
                decoder.push(LaneInstruction::Select { to, condition, a: *a, b: *b });
                Scalar::Word(to)
            }
            (Scalar::Mask(a), Scalar::Mask(b)) => {
                let to = decoder.mask();
                decoder.push(LaneInstruction::SelectMask { to, condition, a: *a, b: *b });
                Scalar::Mask(to)
            }
            _ => return Err(unsupported("OpSelect between a number and a Boolean")),
        });
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

/// Keeps a scalar float comparison, for markers that record what was compared.
pub(crate) fn remember_comparison(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Compare,
    operands: &[Numbers],
) {
    let (Some(symbol), [left, right], Some(result)) =
        (op.float_symbol(), operands, instruction.result)
    else {
        return;
    };
    let ([a], [b]) = (left.parts.as_slice(), right.parts.as_slice()) else { return };
    if decoder.markers.is_none() || !left.form.is_word() {
        return;
    }
    let names = [0, 1].map(|index| operand_name(decoder, instruction.id(index)));
    let depth = decoder.depth();
    let compared = RecordedComparison { condition: 0, symbol, left: a.low, right: b.low, names };
    decoder.comparisons.insert((depth, result), compared);
}

/// The variable that an operand was loaded from, its constant value, or its id.
fn operand_name(decoder: &Decoder<'_>, operand: Option<Id>) -> Arc<str> {
    let Some(id) = operand else { return "?".into() };
    let load = decoder.module.definition(id).filter(|definition| definition.op == Op::Load);
    let named = load
        .and_then(|load| load.id(0))
        .filter(|pointer| decoder.module.debug_name(*pointer).is_some_and(|name| !name.is_empty()));
    if let Some(pointer) = named {
        return decoder.name(pointer);
    }
    match decoder.constants.scalar_word(id) {
        Some(bits) => format!("{:?}", f32::from_bits(bits)).into(),
        None => decoder.name(id),
    }
}
