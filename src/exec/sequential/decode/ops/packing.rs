//! Numbers packed into words and taken out of them, halves among them.

use super::number::{Numbers, compute, compute_with, compute2, define, flushed};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::{NumberRegisters, word_scalars};
use vkcert_oracle::float::RoundingDirection;
use vkcert_spirv::float_controls::DenormalMode;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, SizedOperator, Width};

pub(super) const HALF: NumberFormat = NumberFormat::Float(Width::W16);

/// Two floats of 16 bits in a word; rounding modes are not for it (VK_KHR_shader_float_controls,
/// issue 5).
pub(super) fn pack_halves(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    if decoder.floats.denormals(HALF) != DenormalMode::Flushed {
        return pack2(decoder, instruction, operands, Binary::PackHalf);
    }
    let mut halves = Vec::new();
    for component in &operands[0].parts {
        let component = flushed(decoder, operands[0].form, *component);
        let forms = [operands[0].form, HALF];
        let half = compute_with(
            decoder,
            SizedOperator::Round,
            forms,
            &[component],
            RoundingDirection::Nearest,
        )?;
        halves.push(flushed(decoder, HALF, half).low);
    }
    let word = super::arithmetic::join(decoder, &halves, 16)?;
    define(decoder, instruction, &[word.into()]);
    Ok(())
}

pub(super) fn unpack_halves(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    if decoder.floats.denormals(HALF) != DenormalMode::Flushed {
        return unpack(
            decoder,
            instruction,
            operands,
            &[Unary::UnpackHalfLow, Unary::UnpackHalfHigh],
        );
    }
    let to = decoder.result_form(instruction)?;
    let mut parts = Vec::new();
    for start in [0, 16] {
        let half = super::arithmetic::cut(decoder, operands[0].parts[0].low, start, 16)?;
        parts.push(compute(decoder, SizedOperator::Round, [HALF, to], &[half.into()])?);
    }
    define(decoder, instruction, &parts);
    Ok(())
}

/// A word from the components of a vector, two at a time.
pub(super) fn pack2(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
    op: Binary,
) -> Result<(), Unsupported> {
    let to = decoder.result_form(instruction)?;
    let result =
        compute(decoder, SizedOperator::Binary(op), [operands[0].form, to], &operands[0].parts)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

/// Four bytes from four components.
pub(super) fn pack4(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
    op: Unary,
) -> Result<(), Unsupported> {
    let word = NumberFormat::WORD;
    let mut result: Option<NumberRegisters> = None;
    for (component, place) in operands[0].parts.iter().zip(0..) {
        let byte =
            compute(decoder, SizedOperator::Unary(op), [operands[0].form, word], &[*component])?;
        let shift = decoder.constant_word(8 * place).into();
        let shifted = compute2(decoder, Binary::ShiftLeftLogical, word, byte, shift)?;
        result = Some(match result {
            None => shifted,
            Some(others) => compute2(decoder, Binary::BitwiseOr, word, others, shifted)?,
        });
    }
    define(decoder, instruction, &[result.ok_or_else(|| unsupported("a pack of nothing"))?]);
    Ok(())
}

pub(super) fn unpack(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
    ops: &[Unary],
) -> Result<(), Unsupported> {
    let to = decoder.result_form(instruction)?;
    let word = operands[0].parts[0];
    let parts = ops
        .iter()
        .map(|op| compute(decoder, SizedOperator::Unary(*op), [operands[0].form, to], &[word]));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    define(decoder, instruction, &parts);
    Ok(())
}

/// A float of 64 bits from two words, or back: the same bits.
pub(super) fn same_words(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let words = word_scalars(&operands[0].parts);
    decoder.define(instruction, Value::Scalars(words.into()));
    Ok(())
}
