//! Arithmetic, bit and conversion instructions (SPIR-V specification, sections "Conversion Instructions", "Arithmetic
//! Instructions", "Bit Instructions").

use super::element::{Binary, Ternary, Unary};
use super::{Meaning, Row, each_word, id, operand_words, row};
use crate::exec::sequential::decode::{Decoder, Unsupported, Value, unsupported};
use crate::exec::sequential::program::{Action, Reg, Scalar};
use crate::spirv::module::Instruction;
use rspirv::spirv::Op;

pub const TABLE: &[Row] = &[
    row(Op::SNegate, Meaning::Unary(Unary::SNegate)),
    row(Op::FNegate, Meaning::Unary(Unary::FNegate)),
    row(Op::Not, Meaning::Unary(Unary::Not)),
    row(Op::BitReverse, Meaning::Unary(Unary::BitReverse)),
    row(Op::BitCount, Meaning::Unary(Unary::BitCount)),
    row(Op::ConvertFToU, Meaning::Unary(Unary::ConvertFToU)),
    row(Op::ConvertFToS, Meaning::Unary(Unary::ConvertFToS)),
    row(Op::ConvertSToF, Meaning::Unary(Unary::ConvertSToF)),
    row(Op::ConvertUToF, Meaning::Unary(Unary::ConvertUToF)),
    row(Op::QuantizeToF16, Meaning::Unary(Unary::QuantizeToF16)),
    row(Op::Bitcast, Meaning::Special(same_bits)),
    row(Op::IAdd, Meaning::Binary(Binary::IAdd)),
    row(Op::ISub, Meaning::Binary(Binary::ISub)),
    row(Op::IMul, Meaning::Binary(Binary::IMul)),
    row(Op::UDiv, Meaning::Binary(Binary::UDiv)),
    row(Op::SDiv, Meaning::Binary(Binary::SDiv)),
    row(Op::UMod, Meaning::Binary(Binary::UMod)),
    row(Op::SRem, Meaning::Binary(Binary::SRem)),
    row(Op::SMod, Meaning::Binary(Binary::SMod)),
    row(Op::FAdd, Meaning::Binary(Binary::FAdd)),
    row(Op::FSub, Meaning::Binary(Binary::FSub)),
    row(Op::FMul, Meaning::Binary(Binary::FMul)),
    row(Op::FDiv, Meaning::Binary(Binary::FDiv)),
    row(Op::FRem, Meaning::Binary(Binary::FRem)),
    row(Op::FMod, Meaning::Binary(Binary::FMod)),
    row(Op::ShiftRightLogical, Meaning::Binary(Binary::ShiftRightLogical)),
    row(Op::ShiftRightArithmetic, Meaning::Binary(Binary::ShiftRightArithmetic)),
    row(Op::ShiftLeftLogical, Meaning::Binary(Binary::ShiftLeftLogical)),
    row(Op::BitwiseOr, Meaning::Binary(Binary::BitwiseOr)),
    row(Op::BitwiseXor, Meaning::Binary(Binary::BitwiseXor)),
    row(Op::BitwiseAnd, Meaning::Binary(Binary::BitwiseAnd)),
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

/// OpBitcast between 32-bit types: the same registers.
fn same_bits(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand_words(decoder, instruction, 0)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpBitcast without a type"))?;
    if decoder.kinds(ty)?.len() != a.len() {
        return Err(unsupported("OpBitcast between widths"));
    }
    decoder.define(instruction, Value::Scalars(a.into_iter().map(Scalar::Word).collect()));
    Ok(())
}

fn times_scalar(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand_words(decoder, instruction, 0)?;
    let b = operand_words(decoder, instruction, 1)?[0];
    each_word(decoder, instruction, a.len(), |to, index| Action::Binary { op: Binary::FMul, to, a: a[index], b })
}

/// Pushes one operation into a fresh register.
pub fn compute(decoder: &mut Decoder<'_>, op: Binary, a: Reg, b: Reg) -> Reg {
    let to = decoder.word();
    decoder.push(Action::Binary { op, to, a, b });
    to
}

pub fn compute1(decoder: &mut Decoder<'_>, op: Unary, a: Reg) -> Reg {
    let to = decoder.word();
    decoder.push(Action::Unary { op, to, a });
    to
}

/// Sum of products, from the first component to the last.
pub fn sum_of_products(decoder: &mut Decoder<'_>, a: &[Reg], b: &[Reg]) -> Reg {
    let mut sum = compute(decoder, Binary::FMul, a[0], b[0]);
    for (a, b) in a.iter().zip(b).skip(1) {
        let product = compute(decoder, Binary::FMul, *a, *b);
        sum = compute(decoder, Binary::FAdd, sum, product);
    }
    sum
}

pub fn define_words(decoder: &mut Decoder<'_>, instruction: &Instruction, words: Vec<Reg>) {
    decoder.define(instruction, Value::Scalars(words.into_iter().map(Scalar::Word).collect()));
}

fn dot(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let a = operand_words(decoder, instruction, 0)?;
    let b = operand_words(decoder, instruction, 1)?;
    let sum = sum_of_products(decoder, &a, &b);
    define_words(decoder, instruction, vec![sum]);
    Ok(())
}

/// Components of a column of the result type.
fn rows_of_result(decoder: &Decoder<'_>, instruction: &Instruction) -> Result<usize, Unsupported> {
    let ty = instruction.result_type.ok_or_else(|| unsupported("a matrix operation without a type"))?;
    let column = decoder.types.component(ty, 0).ok_or_else(|| unsupported("a matrix operation without columns"))?;
    Ok(decoder.kinds(column)?.len().max(1))
}

fn matrix_times_vector(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let matrix = operand_words(decoder, instruction, 0)?;
    let vector = operand_words(decoder, instruction, 1)?;
    let rows = matrix.len() / vector.len();
    let words = (0..rows)
        .map(|row| {
            let line: Vec<Reg> = (0..vector.len()).map(|column| matrix[column * rows + row]).collect();
            sum_of_products(decoder, &line, &vector)
        })
        .collect();
    define_words(decoder, instruction, words);
    Ok(())
}

fn vector_times_matrix(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let vector = operand_words(decoder, instruction, 0)?;
    let matrix = operand_words(decoder, instruction, 1)?;
    let words = matrix.chunks(vector.len()).map(|column| sum_of_products(decoder, &vector, column)).collect();
    define_words(decoder, instruction, words);
    Ok(())
}

fn matrix_times_matrix(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let left = operand_words(decoder, instruction, 0)?;
    let right = operand_words(decoder, instruction, 1)?;
    let rows = rows_of_result(decoder, instruction)?;
    let inner = left.len() / rows;
    let mut words = Vec::new();
    for column in right.chunks(inner) {
        for row in 0..rows {
            let line: Vec<Reg> = (0..inner).map(|at| left[at * rows + row]).collect();
            words.push(sum_of_products(decoder, &line, column));
        }
    }
    define_words(decoder, instruction, words);
    Ok(())
}

fn outer_product(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let column = operand_words(decoder, instruction, 0)?;
    let row = operand_words(decoder, instruction, 1)?;
    let mut words = Vec::new();
    for factor in &row {
        for value in &column {
            words.push(compute(decoder, Binary::FMul, *value, *factor));
        }
    }
    define_words(decoder, instruction, words);
    Ok(())
}

fn transpose(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let matrix = operand_words(decoder, instruction, 0)?;
    // A column of the result is a row of the operand.
    let columns = rows_of_result(decoder, instruction)?;
    let rows = matrix.len() / columns;
    let words =
        (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row)).map(|at| matrix[at]).collect();
    define_words(decoder, instruction, words);
    Ok(())
}

/// A structure of two values: the low ones, then the high ones.
fn pair(decoder: &mut Decoder<'_>, instruction: &Instruction, low: Binary, high: Binary) -> Result<(), Unsupported> {
    let a = operand_words(decoder, instruction, 0)?;
    let b = operand_words(decoder, instruction, 1)?;
    let mut words = Vec::new();
    for op in [low, high] {
        for (a, b) in a.iter().zip(&b) {
            words.push(compute(decoder, op, *a, *b));
        }
    }
    define_words(decoder, instruction, words);
    Ok(())
}

fn add_carry(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::IAdd, Binary::Carry)
}

fn sub_borrow(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::ISub, Binary::Borrow)
}

fn unsigned_extended(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::IMul, Binary::UMulHigh)
}

fn signed_extended(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    pair(decoder, instruction, Binary::IMul, Binary::SMulHigh)
}

fn bit_field_insert(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let base = operand_words(decoder, instruction, 0)?;
    let insert = operand_words(decoder, instruction, 1)?;
    let offset = operand_words(decoder, instruction, 2)?[0];
    let count = operand_words(decoder, instruction, 3)?[0];
    // Both are at most 32 in defined programs; a larger one stays larger than 32 in 16 bits.
    let most = decoder.constant_word(0x7fff);
    let offset = compute(decoder, Binary::UMin, offset, most);
    let count = compute(decoder, Binary::UMin, count, most);
    let sixteen = decoder.constant_word(16);
    let shifted = compute(decoder, Binary::ShiftLeftLogical, count, sixteen);
    let packed = compute(decoder, Binary::BitwiseOr, offset, shifted);
    each_word(decoder, instruction, base.len(), |to, index| Action::Ternary {
        op: Ternary::BitFieldInsert,
        to,
        a: base[index],
        b: insert[index],
        c: packed,
    })
}

fn bit_field_extract(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Ternary) -> Result<(), Unsupported> {
    let base = operand_words(decoder, instruction, 0)?;
    let b = decoder.words(id(instruction, 1)?)?[0];
    let c = decoder.words(id(instruction, 2)?)?[0];
    each_word(decoder, instruction, base.len(), |to, index| Action::Ternary { op, to, a: base[index], b, c })
}

fn bit_field_sextract(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    bit_field_extract(decoder, instruction, Ternary::BitFieldSExtract)
}

fn bit_field_uextract(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    bit_field_extract(decoder, instruction, Ternary::BitFieldUExtract)
}
