//! Numbers packed into words and taken out of them, halves among them.

use super::number::{
    NumberList, compute_binary, compute_number, compute_with, define_numbers, flushed_number,
};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
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
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    if decoder.float_treatment.denormal_mode(HALF) != DenormalMode::Flushed {
        return pack_pairs(decoder, instruction, operands, Binary::PackHalf);
    }
    let mut halves = Vec::new();
    for component in &operands[0].parts {
        let component = flushed_number(decoder, operands[0].number_format, *component);
        let forms = [operands[0].number_format, HALF];
        let half_number = compute_with(
            decoder,
            SizedOperator::Round,
            forms,
            &[component],
            RoundingDirection::Nearest,
        )?;
        halves.push(flushed_number(decoder, HALF, half_number).low);
    }
    let packed_word = super::arithmetic::join_bits(decoder, &halves, 16)?;
    define_numbers(decoder, instruction, &[packed_word.into()]);
    Ok(())
}

pub(super) fn unpack_halves(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    if decoder.float_treatment.denormal_mode(HALF) != DenormalMode::Flushed {
        return unpack_components(
            decoder,
            instruction,
            operands,
            &[Unary::UnpackHalfLow, Unary::UnpackHalfHigh],
        );
    }
    let result_format = decoder.result_form(instruction)?;
    let mut parts = Vec::new();
    for start_bit in [0, 16] {
        let half_register =
            super::arithmetic::extract_bits(decoder, operands[0].parts[0].low, start_bit, 16)?;
        parts.push(compute_number(
            decoder,
            SizedOperator::Round,
            [HALF, result_format],
            &[half_register.into()],
        )?);
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

/// A word from the components of a vector, two at a time.
pub(super) fn pack_pairs(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
    op: Binary,
) -> Result<(), Unsupported> {
    let result_format = decoder.result_form(instruction)?;
    let result = compute_number(
        decoder,
        SizedOperator::Binary(op),
        [operands[0].number_format, result_format],
        &operands[0].parts,
    )?;
    define_numbers(decoder, instruction, &[result]);
    Ok(())
}

/// Four bytes from four components.
pub(super) fn pack_four_bytes(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
    op: Unary,
) -> Result<(), Unsupported> {
    let word_format = NumberFormat::WORD;
    let mut result: Option<NumberRegisters> = None;
    for (component, byte_position) in operands[0].parts.iter().zip(0..) {
        let byte_number = compute_number(
            decoder,
            SizedOperator::Unary(op),
            [operands[0].number_format, word_format],
            &[*component],
        )?;
        let shift = decoder.constant_word(8 * byte_position).into();
        let shifted_byte =
            compute_binary(decoder, Binary::ShiftLeftLogical, word_format, byte_number, shift)?;
        result = Some(match result {
            None => shifted_byte,
            Some(other_bytes) => {
                compute_binary(decoder, Binary::BitwiseOr, word_format, other_bytes, shifted_byte)?
            }
        });
    }
    define_numbers(
        decoder,
        instruction,
        &[result.ok_or_else(|| unsupported("a pack of nothing"))?],
    );
    Ok(())
}

pub(super) fn unpack_components(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
    ops: &[Unary],
) -> Result<(), Unsupported> {
    let result_format = decoder.result_form(instruction)?;
    let packed_word = operands[0].parts[0];
    let parts = ops.iter().map(|op| {
        compute_number(
            decoder,
            SizedOperator::Unary(*op),
            [operands[0].number_format, result_format],
            &[packed_word],
        )
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

/// A float of 64 bits from two words, or back: the same bits.
pub(super) fn reuse_words(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let words = word_scalars(&operands[0].parts);
    decoder.define_result(instruction, DecodedValue::Scalars(words.into()));
    Ok(())
}
