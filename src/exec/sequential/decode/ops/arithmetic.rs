//! Arithmetic, bit and conversion instructions (SPIR-V specification, sections "Conversion
//! Instructions", "Arithmetic Instructions", "Bit Instructions").

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::{
    NumberList, compute_binary, compute_components, compute_number, define_numbers, number_operand,
};
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::{NumberRegisters, Reg};
use rspirv::spirv::Op;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Ternary};
use vkcert_spirv::operation::sized::{NumberFormat, SizedOperator, Width};

/// Instructions of several operations; scalar operations have their rows in `spirv::operation`.
pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::Bitcast, OpcodeMeaning::Special(bitcast)),
    opcode_row(Op::VectorTimesScalar, OpcodeMeaning::Special(times_scalar)),
    opcode_row(Op::MatrixTimesScalar, OpcodeMeaning::Special(times_scalar)),
    opcode_row(Op::VectorTimesMatrix, OpcodeMeaning::Special(vector_times_matrix)),
    opcode_row(Op::MatrixTimesVector, OpcodeMeaning::Special(matrix_times_vector)),
    opcode_row(Op::MatrixTimesMatrix, OpcodeMeaning::Special(matrix_times_matrix)),
    opcode_row(Op::OuterProduct, OpcodeMeaning::Special(outer_product)),
    opcode_row(Op::Transpose, OpcodeMeaning::Special(transpose_matrix)),
    opcode_row(Op::Dot, OpcodeMeaning::Special(dot_product)),
    opcode_row(Op::IAddCarry, OpcodeMeaning::Special(add_with_carry)),
    opcode_row(Op::ISubBorrow, OpcodeMeaning::Special(sub_borrow)),
    opcode_row(Op::UMulExtended, OpcodeMeaning::Special(unsigned_extended)),
    opcode_row(Op::SMulExtended, OpcodeMeaning::Special(signed_extended)),
    opcode_row(Op::BitFieldInsert, OpcodeMeaning::Special(bit_field_insert)),
    opcode_row(Op::BitFieldSExtract, OpcodeMeaning::Special(bit_field_sextract)),
    opcode_row(Op::BitFieldUExtract, OpcodeMeaning::Special(bit_field_uextract)),
];

/// OpBitcast: the same bits, in other pieces where the widths differ; the first component has the
/// lowest bits.
fn bitcast(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let source_numbers = number_operand(decoder, instruction, 0)?;
    let result_width = decoder.result_form(instruction)?.width();
    let parts = if source_numbers.number_format.width() == result_width {
        source_numbers.parts
    } else {
        recast_bits(decoder, &source_numbers, result_width)?
    };
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("OpBitcast without a type"))?;
    if decoder.scalar_kinds(result_type)?.len() != parts.len() * result_width.words() {
        return Err(unsupported("OpBitcast between sizes"));
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

/// The bits of numbers as numbers of another width.
fn recast_bits(
    decoder: &mut Decoder<'_>,
    source_numbers: &NumberList,
    result_width: Width,
) -> Result<Vec<NumberRegisters>, Unsupported> {
    let word_bits = source_numbers.number_format.width().bits().min(32);
    let piece_bits = word_bits.min(result_width.bits());
    let mut pieces = Vec::new();
    for result_word_bits in source_numbers.parts.iter().flat_map(|parts| parts.words()) {
        for start_bit in (0..word_bits).step_by(piece_bits as usize) {
            pieces.push(extract_bits(decoder, result_word_bits, start_bit, piece_bits)?);
        }
    }
    let result_word_bits = result_width.bits().min(32);
    let mut words = Vec::new();
    for piece_group in pieces.chunks((result_word_bits / piece_bits) as usize) {
        words.push(join_bits(decoder, piece_group, piece_bits)?);
    }
    Ok(words
        .chunks(result_width.words())
        .map(|words| NumberRegisters { low: words[0], high: words.get(1).copied() })
        .collect())
}

/// Some bits of a word; all of them where there are 32.
pub(crate) fn extract_bits(
    decoder: &mut Decoder<'_>,
    word: Reg,
    start_bit: u32,
    bit_count: u32,
) -> Result<Reg, Unsupported> {
    if bit_count == 32 {
        return Ok(word);
    }
    let (start_bit, bit_mask) =
        (decoder.constant_word(start_bit), decoder.constant_word((1 << bit_count) - 1));
    let shifted = compute_binary(
        decoder,
        Binary::ShiftRightLogical,
        NumberFormat::WORD,
        word.into(),
        start_bit.into(),
    )?;
    Ok(compute_binary(decoder, Binary::BitwiseAnd, NumberFormat::WORD, shifted, bit_mask.into())?
        .low)
}

/// A word of pieces, the lowest first.
pub(crate) fn join_bits(
    decoder: &mut Decoder<'_>,
    pieces: &[Reg],
    piece_bits: u32,
) -> Result<Reg, Unsupported> {
    let mut word = pieces[0];
    for (piece, position) in pieces.iter().zip(0..).skip(1) {
        let shift = decoder.constant_word(position * piece_bits);
        let shifted = compute_binary(
            decoder,
            Binary::ShiftLeftLogical,
            NumberFormat::WORD,
            (*piece).into(),
            shift.into(),
        )?;
        word =
            compute_binary(decoder, Binary::BitwiseOr, NumberFormat::WORD, word.into(), shifted)?
                .low;
    }
    Ok(word)
}

fn times_scalar(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let first_operand = number_operand(decoder, instruction, 0)?;
    let second_operand = number_operand(decoder, instruction, 1)?;
    // A cooperative matrix may be one of integers.
    let op = if matches!(first_operand.number_format, NumberFormat::Integer(_)) {
        Binary::IMul
    } else {
        Binary::FMul
    };
    compute_components(
        decoder,
        instruction,
        SizedOperator::Binary(op),
        &[first_operand, second_operand],
    )
}

/// Sum of products, from the first component to the last.
pub(crate) fn sum_of_products(
    decoder: &mut Decoder<'_>,
    number_format: NumberFormat,
    left_numbers: &[NumberRegisters],
    right_numbers: &[NumberRegisters],
) -> Result<NumberRegisters, Unsupported> {
    let mut sum =
        compute_binary(decoder, Binary::FMul, number_format, left_numbers[0], right_numbers[0])?;
    for (left_number, right_number) in left_numbers.iter().zip(right_numbers).skip(1) {
        let product =
            compute_binary(decoder, Binary::FMul, number_format, *left_number, *right_number)?;
        sum = compute_binary(decoder, Binary::FAdd, number_format, sum, product)?;
    }
    Ok(sum)
}

fn dot_product(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let first_operand = number_operand(decoder, instruction, 0)?;
    let second_operand = number_operand(decoder, instruction, 1)?;
    let sum = sum_of_products(
        decoder,
        first_operand.number_format,
        &first_operand.parts,
        &second_operand.parts,
    )?;
    define_numbers(decoder, instruction, &[sum]);
    Ok(())
}

/// Components of a column of the result type.
fn rows_of_result(decoder: &Decoder<'_>, instruction: &Instruction) -> Result<usize, Unsupported> {
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("a matrix operation without a type"))?;
    let column_type = decoder
        .types
        .component_type(result_type, 0)
        .ok_or_else(|| unsupported("a matrix operation without columns"))?;
    let words = decoder.form(column_type).map_or(1, |form| form.width().words());
    Ok((decoder.scalar_kinds(column_type)?.len() / words).max(1))
}

fn matrix_times_vector(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let matrix = number_operand(decoder, instruction, 0)?;
    let vector = number_operand(decoder, instruction, 1)?;
    let (columns, rows) = (vector.parts.len(), matrix.parts.len() / vector.parts.len());
    let mut parts = Vec::new();
    for row in 0..rows {
        let row_numbers: Vec<NumberRegisters> =
            (0..columns).map(|column| matrix.parts[column * rows + row]).collect();
        parts.push(sum_of_products(decoder, matrix.number_format, &row_numbers, &vector.parts)?);
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

fn vector_times_matrix(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let vector = number_operand(decoder, instruction, 0)?;
    let matrix = number_operand(decoder, instruction, 1)?;
    let mut parts = Vec::new();
    for column in matrix.parts.chunks(vector.parts.len()) {
        parts.push(sum_of_products(decoder, vector.number_format, &vector.parts, column)?);
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

fn matrix_times_matrix(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let left = number_operand(decoder, instruction, 0)?;
    let right = number_operand(decoder, instruction, 1)?;
    let rows = rows_of_result(decoder, instruction)?;
    let inner_size = left.parts.len() / rows;
    if inner_size == 0 {
        return Err(unsupported("a product of matrices that do not fit"));
    }
    let mut parts = Vec::new();
    for column in right.parts.chunks(inner_size) {
        for row in 0..rows {
            let row_numbers: Vec<NumberRegisters> =
                (0..inner_size).map(|position| left.parts[position * rows + row]).collect();
            parts.push(sum_of_products(decoder, left.number_format, &row_numbers, column)?);
        }
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

fn outer_product(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let column_vector = number_operand(decoder, instruction, 0)?;
    let row_vector = number_operand(decoder, instruction, 1)?;
    let mut parts = Vec::new();
    for factor in &row_vector.parts {
        for value in &column_vector.parts {
            parts.push(compute_binary(
                decoder,
                Binary::FMul,
                column_vector.number_format,
                *value,
                *factor,
            )?);
        }
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

fn transpose_matrix(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let matrix = number_operand(decoder, instruction, 0)?.parts;
    // A column of the result is a row of the operand.
    let columns = rows_of_result(decoder, instruction)?;
    let rows = matrix.len() / columns;
    let row_positions =
        (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    let parts: Vec<NumberRegisters> = row_positions.map(|position| matrix[position]).collect();
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

/// A structure of two values: the low ones, then the high ones.
fn low_and_high(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    low_operator: Binary,
    high_operator: Binary,
) -> Result<(), Unsupported> {
    let first_operand = number_operand(decoder, instruction, 0)?;
    let second_operand = number_operand(decoder, instruction, 1)?;
    let mut parts = Vec::new();
    for operator in [low_operator, high_operator] {
        for (first_number, second_number) in first_operand.parts.iter().zip(&second_operand.parts) {
            parts.push(compute_binary(
                decoder,
                operator,
                first_operand.number_format,
                *first_number,
                *second_number,
            )?);
        }
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

fn add_with_carry(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    low_and_high(decoder, instruction, Binary::IAdd, Binary::Carry)
}

fn sub_borrow(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    low_and_high(decoder, instruction, Binary::ISub, Binary::Borrow)
}

fn unsigned_extended(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    low_and_high(decoder, instruction, Binary::IMul, Binary::UMulHigh)
}

fn signed_extended(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    low_and_high(decoder, instruction, Binary::IMul, Binary::SMulHigh)
}

/// Offset or count of a bit field, as a word.
fn bit_position(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operand_index: usize,
) -> Result<NumberRegisters, Unsupported> {
    let (number_format, number) = decoder.number_of(operand_id(instruction, operand_index)?)?;
    match number_format.width() {
        Width::W32 => Ok(number),
        Width::W8 | Width::W16 => compute_number(
            decoder,
            SizedOperator::FromUnsigned,
            [number_format, NumberFormat::WORD],
            &[number],
        ),
        Width::W64 => {
            // A value that no word holds exceeds the width of every number.
            let greatest_word = decoder.constant_number(number_format, u64::from(u32::MAX));
            Ok(compute_binary(decoder, Binary::UMin, number_format, number, greatest_word)?
                .low
                .into())
        }
    }
}

fn bit_field_insert(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let base_numbers = number_operand(decoder, instruction, 0)?;
    let inserted_numbers = number_operand(decoder, instruction, 1)?;
    let bit_offset = bit_position(decoder, instruction, 2)?;
    let bit_count = bit_position(decoder, instruction, 3)?;
    // Both are at most the width in defined programs; a larger one stays larger in 16 bits.
    let greatest_count = decoder.constant_word(0x7fff).into();
    let bit_offset =
        compute_binary(decoder, Binary::UMin, NumberFormat::WORD, bit_offset, greatest_count)?;
    let bit_count =
        compute_binary(decoder, Binary::UMin, NumberFormat::WORD, bit_count, greatest_count)?;
    let sixteen = decoder.constant_word(16).into();
    let shifted_count =
        compute_binary(decoder, Binary::ShiftLeftLogical, NumberFormat::WORD, bit_count, sixteen)?;
    let packed_range =
        compute_binary(decoder, Binary::BitwiseOr, NumberFormat::WORD, bit_offset, shifted_count)?;
    let packed_range = NumberList { number_format: NumberFormat::WORD, parts: vec![packed_range] };
    compute_components(
        decoder,
        instruction,
        SizedOperator::Ternary(Ternary::BitFieldInsert),
        &[base_numbers, inserted_numbers, packed_range],
    )
}

fn bit_field_extract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Ternary,
) -> Result<(), Unsupported> {
    let base_numbers = number_operand(decoder, instruction, 0)?;
    let mut operands = vec![base_numbers];
    for operand_index in [1, 2] {
        operands.push(NumberList {
            number_format: NumberFormat::WORD,
            parts: vec![bit_position(decoder, instruction, operand_index)?],
        });
    }
    compute_components(decoder, instruction, SizedOperator::Ternary(op), &operands)
}

fn bit_field_sextract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    bit_field_extract(decoder, instruction, Ternary::BitFieldSExtract)
}

fn bit_field_uextract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    bit_field_extract(decoder, instruction, Ternary::BitFieldUExtract)
}
