//! Arithmetic, bit and conversion instructions (SPIR-V specification, sections "Conversion
//! Instructions", "Arithmetic Instructions", "Bit Instructions").

use super::meaning::{Meaning, Row, row};
use super::number::{Numbers, compute, compute2, define, each, operand};
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::{NumberRegisters, Reg};
use rspirv::spirv::Op;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Ternary};
use vkcert_spirv::operation::sized::{NumberFormat, SizedOperator, Width};

/// What is made of several operations; scalar ones stand in `spirv::operation`.
pub(crate) const TABLE: &[Row] = &[
    row(Op::Bitcast, Meaning::Special(same_bits)),
    row(Op::VectorTimesScalar, Meaning::Special(times_scalar)),
    row(Op::MatrixTimesScalar, Meaning::Special(times_scalar)),
    row(Op::VectorTimesMatrix, Meaning::Special(vector_times_matrix)),
    row(Op::MatrixTimesVector, Meaning::Special(matrix_times_vector)),
    row(Op::MatrixTimesMatrix, Meaning::Special(matrix_times_matrix)),
    row(Op::OuterProduct, Meaning::Special(outer_product)),
    row(Op::Transpose, Meaning::Special(transpose)),
    row(Op::Dot, Meaning::Special(dot)),
    row(Op::IAddCarry, Meaning::Special(add_carry)),
    row(Op::ISubBorrow, Meaning::Special(sub_borrow)),
    row(Op::UMulExtended, Meaning::Special(unsigned_extended)),
    row(Op::SMulExtended, Meaning::Special(signed_extended)),
    row(Op::BitFieldInsert, Meaning::Special(bit_field_insert)),
    row(Op::BitFieldSExtract, Meaning::Special(bit_field_sextract)),
    row(Op::BitFieldUExtract, Meaning::Special(bit_field_uextract)),
];

/// OpBitcast: the same bits, in other pieces where the widths differ; the first component has the
/// lowest bits.
fn same_bits(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let from = operand(decoder, instruction, 0)?;
    let to = decoder.result_form(instruction)?.width();
    let parts = if from.form.width() == to { from.parts } else { recast(decoder, &from, to)? };
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpBitcast without a type"))?;
    if decoder.kinds(ty)?.len() != parts.len() * to.words() {
        return Err(unsupported("OpBitcast between sizes"));
    }
    define(decoder, instruction, &parts);
    Ok(())
}

/// The bits of numbers as numbers of another width.
fn recast(
    decoder: &mut Decoder<'_>,
    from: &Numbers,
    to: Width,
) -> Result<Vec<NumberRegisters>, Unsupported> {
    let own = from.form.width().bits().min(32);
    let piece = own.min(to.bits());
    let mut pieces = Vec::new();
    for word in from.parts.iter().flat_map(|parts| parts.registers()) {
        for start in (0..own).step_by(piece as usize) {
            pieces.push(cut(decoder, word, start, piece)?);
        }
    }
    let word = to.bits().min(32);
    let mut words = Vec::new();
    for group in pieces.chunks((word / piece) as usize) {
        words.push(join(decoder, group, piece)?);
    }
    Ok(words
        .chunks(to.words())
        .map(|words| NumberRegisters { low: words[0], high: words.get(1).copied() })
        .collect())
}

/// Some bits of a word; all of them where there are 32.
pub(crate) fn cut(
    decoder: &mut Decoder<'_>,
    word: Reg,
    start: u32,
    bits: u32,
) -> Result<Reg, Unsupported> {
    if bits == 32 {
        return Ok(word);
    }
    let (start, mask) = (decoder.constant_word(start), decoder.constant_word((1 << bits) - 1));
    let shifted = compute2(
        decoder,
        Binary::ShiftRightLogical,
        NumberFormat::WORD,
        word.into(),
        start.into(),
    )?;
    Ok(compute2(decoder, Binary::BitwiseAnd, NumberFormat::WORD, shifted, mask.into())?.low)
}

/// A word of pieces, the lowest first.
pub(crate) fn join(
    decoder: &mut Decoder<'_>,
    pieces: &[Reg],
    bits: u32,
) -> Result<Reg, Unsupported> {
    let mut word = pieces[0];
    for (piece, place) in pieces.iter().zip(0..).skip(1) {
        let shift = decoder.constant_word(place * bits);
        let shifted = compute2(
            decoder,
            Binary::ShiftLeftLogical,
            NumberFormat::WORD,
            (*piece).into(),
            shift.into(),
        )?;
        word = compute2(decoder, Binary::BitwiseOr, NumberFormat::WORD, word.into(), shifted)?.low;
    }
    Ok(word)
}

fn times_scalar(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand(decoder, instruction, 0)?;
    let b = operand(decoder, instruction, 1)?;
    // A cooperative matrix may be one of integers.
    let op = if matches!(a.form, NumberFormat::Integer(_)) { Binary::IMul } else { Binary::FMul };
    each(decoder, instruction, SizedOperator::Binary(op), &[a, b])
}

/// Sum of products, from the first component to the last.
pub(crate) fn sum_of_products(
    decoder: &mut Decoder<'_>,
    form: NumberFormat,
    a: &[NumberRegisters],
    b: &[NumberRegisters],
) -> Result<NumberRegisters, Unsupported> {
    let mut sum = compute2(decoder, Binary::FMul, form, a[0], b[0])?;
    for (a, b) in a.iter().zip(b).skip(1) {
        let product = compute2(decoder, Binary::FMul, form, *a, *b)?;
        sum = compute2(decoder, Binary::FAdd, form, sum, product)?;
    }
    Ok(sum)
}

fn dot(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand(decoder, instruction, 0)?;
    let b = operand(decoder, instruction, 1)?;
    let sum = sum_of_products(decoder, a.form, &a.parts, &b.parts)?;
    define(decoder, instruction, &[sum]);
    Ok(())
}

/// Components of a column of the result type.
fn rows_of_result(decoder: &Decoder<'_>, instruction: &Instruction) -> Result<usize, Unsupported> {
    let ty =
        instruction.result_type.ok_or_else(|| unsupported("a matrix operation without a type"))?;
    let column = decoder
        .types
        .component_type(ty, 0)
        .ok_or_else(|| unsupported("a matrix operation without columns"))?;
    let words = decoder.form(column).map_or(1, |form| form.width().words());
    Ok((decoder.kinds(column)?.len() / words).max(1))
}

fn matrix_times_vector(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let matrix = operand(decoder, instruction, 0)?;
    let vector = operand(decoder, instruction, 1)?;
    let (columns, rows) = (vector.parts.len(), matrix.parts.len() / vector.parts.len());
    let mut parts = Vec::new();
    for row in 0..rows {
        let line: Vec<NumberRegisters> =
            (0..columns).map(|column| matrix.parts[column * rows + row]).collect();
        parts.push(sum_of_products(decoder, matrix.form, &line, &vector.parts)?);
    }
    define(decoder, instruction, &parts);
    Ok(())
}

fn vector_times_matrix(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let vector = operand(decoder, instruction, 0)?;
    let matrix = operand(decoder, instruction, 1)?;
    let mut parts = Vec::new();
    for column in matrix.parts.chunks(vector.parts.len()) {
        parts.push(sum_of_products(decoder, vector.form, &vector.parts, column)?);
    }
    define(decoder, instruction, &parts);
    Ok(())
}

fn matrix_times_matrix(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let left = operand(decoder, instruction, 0)?;
    let right = operand(decoder, instruction, 1)?;
    let rows = rows_of_result(decoder, instruction)?;
    let inner = left.parts.len() / rows;
    if inner == 0 {
        return Err(unsupported("a product of matrices that do not fit"));
    }
    let mut parts = Vec::new();
    for column in right.parts.chunks(inner) {
        for row in 0..rows {
            let line: Vec<NumberRegisters> =
                (0..inner).map(|at| left.parts[at * rows + row]).collect();
            parts.push(sum_of_products(decoder, left.form, &line, column)?);
        }
    }
    define(decoder, instruction, &parts);
    Ok(())
}

fn outer_product(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let column = operand(decoder, instruction, 0)?;
    let row = operand(decoder, instruction, 1)?;
    let mut parts = Vec::new();
    for factor in &row.parts {
        for value in &column.parts {
            parts.push(compute2(decoder, Binary::FMul, column.form, *value, *factor)?);
        }
    }
    define(decoder, instruction, &parts);
    Ok(())
}

fn transpose(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let matrix = operand(decoder, instruction, 0)?.parts;
    // A column of the result is a row of the operand.
    let columns = rows_of_result(decoder, instruction)?;
    let rows = matrix.len() / columns;
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    let parts: Vec<NumberRegisters> = places.map(|at| matrix[at]).collect();
    define(decoder, instruction, &parts);
    Ok(())
}

/// A structure of two values: the low ones, then the high ones.
fn pair(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    low: Binary,
    high: Binary,
) -> Result<(), Unsupported> {
    let a = operand(decoder, instruction, 0)?;
    let b = operand(decoder, instruction, 1)?;
    let mut parts = Vec::new();
    for op in [low, high] {
        for (one, other) in a.parts.iter().zip(&b.parts) {
            parts.push(compute2(decoder, op, a.form, *one, *other)?);
        }
    }
    define(decoder, instruction, &parts);
    Ok(())
}

fn add_carry(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::IAdd, Binary::Carry)
}

fn sub_borrow(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::ISub, Binary::Borrow)
}

fn unsigned_extended(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::IMul, Binary::UMulHigh)
}

fn signed_extended(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::IMul, Binary::SMulHigh)
}

/// Offset or count of a bit field, as a word.
fn position(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    index: usize,
) -> Result<NumberRegisters, Unsupported> {
    let (form, number) = decoder.number(id(instruction, index)?)?;
    match form.width() {
        Width::W32 => Ok(number),
        Width::W8 | Width::W16 => {
            compute(decoder, SizedOperator::FromUnsigned, [form, NumberFormat::WORD], &[number])
        }
        Width::W64 => {
            // What no word holds is beyond every number.
            let most = decoder.constant_number(form, u64::from(u32::MAX));
            Ok(compute2(decoder, Binary::UMin, form, number, most)?.low.into())
        }
    }
}

fn bit_field_insert(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let base = operand(decoder, instruction, 0)?;
    let insert = operand(decoder, instruction, 1)?;
    let offset = position(decoder, instruction, 2)?;
    let count = position(decoder, instruction, 3)?;
    // Both are at most the width in defined programs; a larger one stays larger in 16 bits.
    let most = decoder.constant_word(0x7fff).into();
    let offset = compute2(decoder, Binary::UMin, NumberFormat::WORD, offset, most)?;
    let count = compute2(decoder, Binary::UMin, NumberFormat::WORD, count, most)?;
    let sixteen = decoder.constant_word(16).into();
    let shifted = compute2(decoder, Binary::ShiftLeftLogical, NumberFormat::WORD, count, sixteen)?;
    let packed = compute2(decoder, Binary::BitwiseOr, NumberFormat::WORD, offset, shifted)?;
    let packed = Numbers { form: NumberFormat::WORD, parts: vec![packed] };
    each(
        decoder,
        instruction,
        SizedOperator::Ternary(Ternary::BitFieldInsert),
        &[base, insert, packed],
    )
}

fn bit_field_extract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Ternary,
) -> Result<(), Unsupported> {
    let base = operand(decoder, instruction, 0)?;
    let mut operands = vec![base];
    for index in [1, 2] {
        operands.push(Numbers {
            form: NumberFormat::WORD,
            parts: vec![position(decoder, instruction, index)?],
        });
    }
    each(decoder, instruction, SizedOperator::Ternary(op), &operands)
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
