//! Geometric functions on vectors: lengths, products, reflections.

use super::arithmetic::sum_of_products;
use super::number::{
    NumberList, compute_binary, compute_number, compute_unary, define_numbers, push_relation,
};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
use crate::ir::{LaneInstruction, NumberRegisters, Scalar};
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Compare, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, SizedOperator};

pub(super) fn vector_norm(
    decoder: &mut Decoder<'_>,
    number_format: NumberFormat,
    vector: &[NumberRegisters],
    root: Unary,
) -> Result<NumberRegisters, Unsupported> {
    if let [single] = vector {
        return compute_unary(decoder, Unary::FAbs, number_format, *single);
    }
    let squared_length = sum_of_products(decoder, number_format, vector, vector)?;
    compute_unary(decoder, root, number_format, squared_length)
}

pub(super) fn vector_length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let result = vector_norm(decoder, operands[0].number_format, &operands[0].parts, Unary::Sqrt)?;
    define_numbers(decoder, instruction, &[result]);
    Ok(())
}

/// Component by component of two vectors.
pub(super) fn component_wise(
    decoder: &mut Decoder<'_>,
    op: Binary,
    left_operand: &NumberList,
    right_operand: &NumberList,
) -> Result<Vec<NumberRegisters>, Unsupported> {
    left_operand
        .parts
        .iter()
        .zip(&right_operand.parts)
        .map(|(left_number, right_number)| {
            compute_binary(decoder, op, left_operand.number_format, *left_number, *right_number)
        })
        .collect()
}

pub(super) fn vector_distance(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let difference = component_wise(decoder, Binary::FSub, &operands[0], &operands[1])?;
    let result = vector_norm(decoder, operands[0].number_format, &difference, Unary::Sqrt)?;
    define_numbers(decoder, instruction, &[result]);
    Ok(())
}

pub(super) fn cross_product(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let (number_format, left_numbers, right_numbers) =
        (operands[0].number_format, &operands[0].parts, &operands[1].parts);
    let mut parts = Vec::new();
    for (first_index, second_index) in [(1, 2), (2, 0), (0, 1)] {
        let first_product = compute_binary(
            decoder,
            Binary::FMul,
            number_format,
            left_numbers[first_index],
            right_numbers[second_index],
        )?;
        let second_product = compute_binary(
            decoder,
            Binary::FMul,
            number_format,
            right_numbers[first_index],
            left_numbers[second_index],
        )?;
        parts.push(compute_binary(
            decoder,
            Binary::FSub,
            number_format,
            first_product,
            second_product,
        )?);
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

pub(super) fn normalized_vector(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let number_format = operands[0].number_format;
    let vector_length =
        vector_norm(decoder, number_format, &operands[0].parts, Unary::SqrtToNormalize)?;
    let component_operator = Binary::NormalizedComponent;
    let parts = operands[0].parts.iter().map(|value| {
        compute_binary(decoder, component_operator, number_format, *value, vector_length)
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

/// `Nref . I < 0 ? N : -N`, with operands N, I, Nref.
pub(super) fn face_forward(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let number_format = operands[0].number_format;
    let dot_product =
        sum_of_products(decoder, number_format, &operands[2].parts, &operands[1].parts)?;
    let zero_number = decoder.constant_number(number_format, 0);
    let condition = push_relation(
        decoder,
        Relation::Compare(Compare::FOrdLessThan),
        number_format,
        &[dot_product, zero_number],
    );
    let mut words = Vec::new();
    for value in &operands[0].parts {
        let negated_number = compute_unary(decoder, Unary::FNegate, number_format, *value)?;
        for (a, b) in value.words().zip(negated_number.words()) {
            let selected_word = decoder.new_word();
            decoder.push_instruction(LaneInstruction::Select {
                to: selected_word,
                condition,
                a,
                b,
            });
            words.push(Scalar::Word(selected_word));
        }
    }
    decoder.define_result(instruction, DecodedValue::Scalars(words.into()));
    Ok(())
}

/// `I - 2 * dot(N, I) * N`
pub(super) fn reflected_vector(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let (number_format, incident, normal) =
        (operands[0].number_format, &operands[0].parts, &operands[1].parts);
    let dot_product = sum_of_products(decoder, number_format, normal, incident)?;
    let two_number = decoder.constant_number(number_format, number_format.from_float(2.0));
    let scaled_product =
        compute_binary(decoder, Binary::FMul, number_format, two_number, dot_product)?;
    let mut parts = Vec::new();
    for (incident_component, normal_component) in incident.iter().zip(normal) {
        let scaled_normal = compute_binary(
            decoder,
            Binary::FMul,
            number_format,
            scaled_product,
            *normal_component,
        )?;
        parts.push(compute_binary(
            decoder,
            Binary::FSub,
            number_format,
            *incident_component,
            scaled_normal,
        )?);
    }
    define_numbers(decoder, instruction, &parts);
    Ok(())
}

/// `k = 1 - eta^2 * (1 - dot(N, I)^2); k < 0 ? 0 : eta * I - (eta * dot(N, I) + sqrt(k)) * N`, with
/// operands I, N, eta.
pub(super) fn refracted_vector(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let (number_format, incident, normal) =
        (operands[0].number_format, &operands[0].parts, &operands[1].parts);
    let mut eta = operands[2].parts[0];
    if operands[2].number_format != number_format {
        eta = compute_number(
            decoder,
            SizedOperator::Round,
            [operands[2].number_format, number_format],
            &[eta],
        )?;
    }
    let (zero_number, one_number) = (
        decoder.constant_number(number_format, 0),
        decoder.constant_number(number_format, number_format.from_float(1.0)),
    );
    let dot_product = sum_of_products(decoder, number_format, normal, incident)?;
    let squared_product =
        compute_binary(decoder, Binary::FMul, number_format, dot_product, dot_product)?;
    let one_minus_square =
        compute_binary(decoder, Binary::FSub, number_format, one_number, squared_product)?;
    let eta_square = compute_binary(decoder, Binary::FMul, number_format, eta, eta)?;
    let scaled_rest =
        compute_binary(decoder, Binary::FMul, number_format, eta_square, one_minus_square)?;
    let k = compute_binary(decoder, Binary::FSub, number_format, one_number, scaled_rest)?;
    let is_total_reflection = push_relation(
        decoder,
        Relation::Compare(Compare::FOrdLessThan),
        number_format,
        &[k, zero_number],
    );
    // Where k is negative its root is not used, so that it must not be a finding.
    let root_of_k = compute_binary(decoder, Binary::NMax, number_format, k, zero_number)?;
    let root_of_k = compute_unary(decoder, Unary::Sqrt, number_format, root_of_k)?;
    let normal_factor = compute_binary(decoder, Binary::FMul, number_format, eta, dot_product)?;
    let normal_factor =
        compute_binary(decoder, Binary::FAdd, number_format, normal_factor, root_of_k)?;
    let mut words = Vec::new();
    for (incident_component, normal_component) in incident.iter().zip(normal) {
        let scaled_incident =
            compute_binary(decoder, Binary::FMul, number_format, eta, *incident_component)?;
        let scaled_normal =
            compute_binary(decoder, Binary::FMul, number_format, normal_factor, *normal_component)?;
        let value =
            compute_binary(decoder, Binary::FSub, number_format, scaled_incident, scaled_normal)?;
        for (a, b) in zero_number.words().zip(value.words()) {
            let selected_word = decoder.new_word();
            decoder.push_instruction(LaneInstruction::Select {
                to: selected_word,
                condition: is_total_reflection,
                a,
                b,
            });
            words.push(Scalar::Word(selected_word));
        }
    }
    decoder.define_result(instruction, DecodedValue::Scalars(words.into()));
    Ok(())
}
