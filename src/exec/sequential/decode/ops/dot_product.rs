//! Integer dot products (SPIR-V specification, section "Arithmetic Instructions": OpSDot and its
//! family).
//!
//! Knows: vectors of integers of any width, and four numbers of 8 bits packed into a word, the
//! first one lowest.
//! Promises: without an accumulator the result is the low bits of the exact one. With one, the last
//! addition saturates; a product or a sum before it that does not fit leaves an undefined value.
//! The specification gives no order of the additions, so a sum counts as not fitting where it would
//! not in some order; such a sum is reduced modulo 2^width here.

use super::meaning::{Meaning, Row, row};
use super::number::{define, operand};
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

pub(crate) const TABLE: &[Row] = &[
    row(
        Op::SDot,
        Meaning::Special(|decoder, instruction| dot(decoder, instruction, SIGNED, SumKind::Plain)),
    ),
    row(
        Op::UDot,
        Meaning::Special(|decoder, instruction| {
            dot(decoder, instruction, UNSIGNED, SumKind::Plain)
        }),
    ),
    row(
        Op::SUDot,
        Meaning::Special(|decoder, instruction| dot(decoder, instruction, MIXED, SumKind::Plain)),
    ),
    row(
        Op::SDotAccSat,
        Meaning::Special(|decoder, instruction| {
            dot(decoder, instruction, SIGNED, SumKind::Accumulated)
        }),
    ),
    row(
        Op::UDotAccSat,
        Meaning::Special(|decoder, instruction| {
            dot(decoder, instruction, UNSIGNED, SumKind::Accumulated)
        }),
    ),
    row(
        Op::SUDotAccSat,
        Meaning::Special(|decoder, instruction| {
            dot(decoder, instruction, MIXED, SumKind::Accumulated)
        }),
    ),
];

pub(crate) fn dot(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    signs: [Signedness; 3],
    sum: SumKind,
) -> Result<(), Unsupported> {
    let first = operand(decoder, instruction, 0)?;
    let second = operand(decoder, instruction, 1)?;
    let result = decoder.result_form(instruction)?;
    if first.parts.len() != second.parts.len() || first.form.width() != second.form.width() {
        return Err(unsupported(format!("Op{:?} of different vectors", instruction.op)));
    }
    let packing = instruction.operands.iter().find_map(|operand| match operand {
        Operand::PackedVectorFormat(format) => Some(*format),
        _ => None,
    });
    let (component, packed) = match packing {
        None if first.parts.len() > 1 => (first.form.width(), 1),
        None => {
            return Err(unsupported(format!(
                "Op{:?} of scalars without a packed format",
                instruction.op
            )));
        }
        Some(PackedVectorFormat::PackedVectorFormat4x8Bit) => (Width::W8, 4),
    };
    let mut from = first.parts;
    from.extend(second.parts);
    if sum == SumKind::Accumulated {
        from.extend(operand(decoder, instruction, 2)?.parts);
    }
    let dot = DotProduct { signs, sum, components: [component; 2], packed, result: result.width() };
    let to = decoder.parts(NumberFormat::Integer(result.width()));
    decoder.push(LaneInstruction::Dot { dot, to, from: from.into() });
    define(decoder, instruction, &[to]);
    Ok(())
}
