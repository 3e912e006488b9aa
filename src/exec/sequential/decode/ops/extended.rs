//! Extended instructions: GLSL.std.450 (its specification), and non-semantic sets, which have no
//! effect but that debug printf prints.

use super::geometry::{
    cross_product, face_forward, normalized_vector, reflected_vector, refracted_vector,
    vector_distance, vector_length,
};
use super::matrix::{matrix_determinant, matrix_inverse};
use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::memory::store_to;
use super::number::{
    NumberList, compute_binary, compute_components, compute_number, compute_unary, define_numbers,
};
use super::operand::operand_id;
use super::packing::{
    pack_four_bytes, pack_halves, pack_pairs, reuse_words, unpack_components, unpack_halves,
};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::word_scalars;
use rspirv::dr::Operand;
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, SizedOperator, Width};
use vkcert_spirv::operation::{ScalarOperation, extended_operation};

pub(crate) const TABLE: &[OpcodeRow] =
    &[opcode_row(Op::ExtInst, OpcodeMeaning::Special(extended_instruction))];

/// Handler of an instruction with the operands behind its number.
type ExtendedHandler = fn(&mut Decoder<'_>, &Instruction, &[NumberList]) -> Result<(), Unsupported>;

/// Instructions that are made of several operations, or that do not take their operands component
/// by component; all others stand in `spirv::operation`.
const COMPOSED: &[(GLOp, ExtendedHandler)] = &[
    (GLOp::Ldexp, load_exponent),
    (GLOp::Length, vector_length),
    (GLOp::Distance, vector_distance),
    (GLOp::Cross, cross_product),
    (GLOp::Normalize, normalized_vector),
    (GLOp::FaceForward, face_forward),
    (GLOp::Reflect, reflected_vector),
    (GLOp::Refract, refracted_vector),
    (GLOp::Determinant, matrix_determinant),
    (GLOp::MatrixInverse, matrix_inverse),
    (GLOp::PackSnorm4x8, |d, i, o| pack_four_bytes(d, i, o, Unary::PackSnorm4)),
    (GLOp::PackUnorm4x8, |d, i, o| pack_four_bytes(d, i, o, Unary::PackUnorm4)),
    (GLOp::PackDouble2x32, reuse_words),
    (GLOp::UnpackDouble2x32, reuse_words),
    (GLOp::Modf, modf_through_pointer),
    (GLOp::ModfStruct, modf_struct),
    (GLOp::Frexp, frexp_through_pointer),
    (GLOp::FrexpStruct, frexp_struct),
    (GLOp::PackHalf2x16, pack_halves),
    (GLOp::PackSnorm2x16, |d, i, o| pack_pairs(d, i, o, Binary::PackSnorm2)),
    (GLOp::PackUnorm2x16, |d, i, o| pack_pairs(d, i, o, Binary::PackUnorm2)),
    (GLOp::UnpackHalf2x16, unpack_halves),
    (GLOp::UnpackSnorm2x16, |d, i, o| {
        unpack_components(d, i, o, &[Unary::UnpackSnorm2(0), Unary::UnpackSnorm2(1)])
    }),
    (GLOp::UnpackUnorm2x16, |d, i, o| {
        unpack_components(d, i, o, &[Unary::UnpackUnorm2(0), Unary::UnpackUnorm2(1)])
    }),
    (GLOp::UnpackSnorm4x8, |d, i, o| {
        unpack_components(d, i, o, &[0, 1, 2, 3].map(Unary::UnpackSnorm4))
    }),
    (GLOp::UnpackUnorm4x8, |d, i, o| {
        unpack_components(d, i, o, &[0, 1, 2, 3].map(Unary::UnpackUnorm4))
    }),
];

/// Instructions of GLSL.std.450 that have a row, and those that have none, by name.
pub(crate) fn supported_names() -> (Vec<String>, Vec<String>) {
    let all_operations = (0..=u8::MAX).filter_map(|number| GLOp::from_u32(number.into()));
    let (run_operations, missing_operations): (Vec<GLOp>, Vec<GLOp>) =
        all_operations.partition(|op| {
            extended_operation(*op).is_some()
                || COMPOSED.iter().any(|(known_operation, _)| known_operation == op)
        });
    (sorted_names(run_operations), sorted_names(missing_operations))
}

fn sorted_names(operations: Vec<GLOp>) -> Vec<String> {
    let mut names: Vec<String> = operations.iter().map(|op| format!("{op:?}")).collect();
    names.sort();
    names
}

fn extended_instruction(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let set_import = decoder.module.definition(operand_id(instruction, 0)?);
    let set_name = set_import.and_then(|import| match import.operands.first() {
        Some(Operand::LiteralString(set_name)) => Some(set_name.as_str()),
        _ => None,
    });
    match set_name {
        Some("NonSemantic.DebugPrintf") => {
            return super::debug_printf::debug_printf(decoder, instruction);
        }
        Some(set_name) if set_name.starts_with("NonSemantic.") => return Ok(()),
        Some("GLSL.std.450") => {}
        other_set => {
            return Err(unsupported(format!(
                "extended instruction set {}",
                other_set.unwrap_or("without a name")
            )));
        }
    }
    let instruction_number =
        instruction.literal(1).ok_or_else(|| unsupported("OpExtInst without a number"))?;
    let op = GLOp::from_u32(instruction_number)
        .ok_or_else(|| unsupported(format!("GLSL.std.450 instruction {instruction_number}")))?;
    let composed_handler = COMPOSED
        .iter()
        .find(|(known_operation, _)| *known_operation == op)
        .map(|(_, handler)| *handler);
    let scalar_operation = extended_operation(op);
    if composed_handler.is_none() && scalar_operation.is_none() {
        return Err(unsupported(format!("GLSL.std.450 {op:?}")));
    }
    let pointer_last = matches!(op, GLOp::Modf | GLOp::Frexp);
    let operand_ids: Vec<u32> = instruction.ids().skip(1).collect();
    let value_ids = if pointer_last { &operand_ids[..1] } else { &operand_ids[..] };
    let operands = value_ids
        .iter()
        .map(|operand_id| decoder.numbers_of(*operand_id))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(handler) = composed_handler {
        return handler(decoder, instruction, &operands);
    }
    match scalar_operation {
        Some(ScalarOperation::Unary(unary)) => {
            compute_components(decoder, instruction, SizedOperator::Unary(unary), &operands)
        }
        Some(ScalarOperation::Binary(binary)) => {
            compute_components(decoder, instruction, SizedOperator::Binary(binary), &operands)
        }
        Some(ScalarOperation::Ternary(ternary)) => {
            compute_components(decoder, instruction, SizedOperator::Ternary(ternary), &operands)
        }
        Some(
            ScalarOperation::Compare(_)
            | ScalarOperation::Classify(_)
            | ScalarOperation::Convert(_),
        )
        | None => Err(unsupported(format!("GLSL.std.450 {op:?}"))),
    }
}

/// The exponent is an integer of any width, read as a signed one: the operation has no unsigned
/// form (SPIR-V, "OpTypeInt").
fn load_exponent(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let [values, exponents] = operands else {
        return Err(unsupported("Ldexp without two operands"));
    };
    let exponent_format = exponents.number_format;
    let mut exponent_words = Vec::with_capacity(exponents.parts.len());
    for exponent in &exponents.parts {
        exponent_words.push(match exponent_format.width() {
            Width::W32 => *exponent,
            Width::W8 | Width::W16 => compute_number(
                decoder,
                SizedOperator::FromSigned,
                [exponent_format, NumberFormat::WORD],
                &[*exponent],
            )?,
            Width::W64 => {
                // A value that no word holds exceeds every exponent of a float.
                let [least_word, greatest_word] = [i32::MIN, i32::MAX].map(|word_bound| {
                    decoder.constant_number(exponent_format, i64::from(word_bound) as u64)
                });
                let bounded_below =
                    compute_binary(decoder, Binary::SMax, exponent_format, *exponent, least_word)?;
                compute_binary(
                    decoder,
                    Binary::SMin,
                    exponent_format,
                    bounded_below,
                    greatest_word,
                )?
                .low
                .into()
            }
        });
    }
    let word_exponents = NumberList { number_format: NumberFormat::WORD, parts: exponent_words };
    compute_components(
        decoder,
        instruction,
        SizedOperator::Binary(Binary::Ldexp),
        &[values.clone(), word_exponents],
    )
}

/// A fraction or significand as the result, the other part through the pointer.
fn split_through_pointer(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
    ops: [Unary; 2],
) -> Result<(), Unsupported> {
    let pointer = decoder.pointer_of(operand_id(instruction, 3)?)?;
    let number_format = operands[0].number_format;
    let other_format =
        decoder.form(pointer.pointee_type).ok_or_else(|| unsupported("a pointer to no number"))?;
    let (mut result_numbers, mut other_numbers) = (Vec::new(), Vec::new());
    for value in &operands[0].parts {
        other_numbers.push(compute_number(
            decoder,
            SizedOperator::Unary(ops[1]),
            [number_format, other_format],
            &[*value],
        )?);
        result_numbers.push(compute_unary(decoder, ops[0], number_format, *value)?);
    }
    store_to(decoder, &pointer, &word_scalars(&other_numbers))?;
    define_numbers(decoder, instruction, &result_numbers);
    Ok(())
}

fn modf_through_pointer(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    split_through_pointer(decoder, instruction, operands, [Unary::ModfFraction, Unary::ModfWhole])
}

fn frexp_through_pointer(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    split_through_pointer(
        decoder,
        instruction,
        operands,
        [Unary::FrexpSignificand, Unary::FrexpExponent],
    )
}

/// A structure of two parts of each operand component.
fn split_into_structure(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
    ops: [Unary; 2],
) -> Result<(), Unsupported> {
    let number_format = operands[0].number_format;
    let mut parts = Vec::new();
    for (op, member_index) in ops.into_iter().zip(0..) {
        let member_type = instruction
            .result_type
            .and_then(|member_type| decoder.types.component_type(member_type, member_index));
        let member_format = member_type
            .and_then(|member_type| decoder.form(member_type))
            .ok_or_else(|| unsupported("a structure without two numbers"))?;
        for value in &operands[0].parts {
            parts.push(compute_number(
                decoder,
                SizedOperator::Unary(op),
                [number_format, member_format],
                &[*value],
            )?);
        }
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

fn modf_struct(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    split_into_structure(decoder, instruction, operands, [Unary::ModfFraction, Unary::ModfWhole])
}

fn frexp_struct(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    split_into_structure(
        decoder,
        instruction,
        operands,
        [Unary::FrexpSignificand, Unary::FrexpExponent],
    )
}
