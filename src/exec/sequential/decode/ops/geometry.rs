//! Geometric functions on vectors: lengths, products, reflections.

use super::arithmetic::sum_of_products;
use super::number::{Numbers, compute, compute1, compute2, define, relate};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::{LaneInstruction, NumberRegisters, Scalar};
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Compare, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, SizedOperator};

pub(super) fn norm(
    decoder: &mut Decoder<'_>,
    form: NumberFormat,
    vector: &[NumberRegisters],
    root: Unary,
) -> Result<NumberRegisters, Unsupported> {
    if let [single] = vector {
        return compute1(decoder, Unary::FAbs, form, *single);
    }
    let square = sum_of_products(decoder, form, vector, vector)?;
    compute1(decoder, root, form, square)
}

pub(super) fn length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let result = norm(decoder, operands[0].form, &operands[0].parts, Unary::Sqrt)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

/// Component by component of two vectors.
pub(super) fn zip(
    decoder: &mut Decoder<'_>,
    op: Binary,
    a: &Numbers,
    b: &Numbers,
) -> Result<Vec<NumberRegisters>, Unsupported> {
    a.parts
        .iter()
        .zip(&b.parts)
        .map(|(one, other)| compute2(decoder, op, a.form, *one, *other))
        .collect()
}

pub(super) fn distance(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let difference = zip(decoder, Binary::FSub, &operands[0], &operands[1])?;
    let result = norm(decoder, operands[0].form, &difference, Unary::Sqrt)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

pub(super) fn cross(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let (form, a, b) = (operands[0].form, &operands[0].parts, &operands[1].parts);
    let mut parts = Vec::new();
    for (one, two) in [(1, 2), (2, 0), (0, 1)] {
        let left = compute2(decoder, Binary::FMul, form, a[one], b[two])?;
        let right = compute2(decoder, Binary::FMul, form, b[one], a[two])?;
        parts.push(compute2(decoder, Binary::FSub, form, left, right)?);
    }
    define(decoder, instruction, &parts);
    Ok(())
}

pub(super) fn normalize(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let form = operands[0].form;
    let length = norm(decoder, form, &operands[0].parts, Unary::SqrtToNormalize)?;
    let component = Binary::NormalizedComponent;
    let parts =
        operands[0].parts.iter().map(|value| compute2(decoder, component, form, *value, length));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    define(decoder, instruction, &parts);
    Ok(())
}

/// `Nref . I < 0 ? N : -N`, with operands N, I, Nref.
pub(super) fn face_forward(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let form = operands[0].form;
    let product = sum_of_products(decoder, form, &operands[2].parts, &operands[1].parts)?;
    let zero = decoder.constant_number(form, 0);
    let condition =
        relate(decoder, Relation::Compare(Compare::FOrdLessThan), form, &[product, zero]);
    let mut words = Vec::new();
    for value in &operands[0].parts {
        let negative = compute1(decoder, Unary::FNegate, form, *value)?;
        for (a, b) in value.registers().zip(negative.registers()) {
            let to = decoder.word();
            decoder.push(LaneInstruction::Select { to, condition, a, b });
            words.push(Scalar::Word(to));
        }
    }
    decoder.define(instruction, Value::Scalars(words.into()));
    Ok(())
}

/// `I - 2 * dot(N, I) * N`
pub(super) fn reflect(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let (form, incident, normal) = (operands[0].form, &operands[0].parts, &operands[1].parts);
    let product = sum_of_products(decoder, form, normal, incident)?;
    let two = decoder.constant_number(form, form.from_float(2.0));
    let factor = compute2(decoder, Binary::FMul, form, two, product)?;
    let mut parts = Vec::new();
    for (incident, normal) in incident.iter().zip(normal) {
        let scaled = compute2(decoder, Binary::FMul, form, factor, *normal)?;
        parts.push(compute2(decoder, Binary::FSub, form, *incident, scaled)?);
    }
    define(decoder, instruction, &parts);
    Ok(())
}

/// `k = 1 - eta^2 * (1 - dot(N, I)^2); k < 0 ? 0 : eta * I - (eta * dot(N, I) + sqrt(k)) * N`, with
/// operands I, N, eta.
pub(super) fn refract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let (form, incident, normal) = (operands[0].form, &operands[0].parts, &operands[1].parts);
    let mut eta = operands[2].parts[0];
    if operands[2].form != form {
        eta = compute(decoder, SizedOperator::Round, [operands[2].form, form], &[eta])?;
    }
    let (zero, one) =
        (decoder.constant_number(form, 0), decoder.constant_number(form, form.from_float(1.0)));
    let product = sum_of_products(decoder, form, normal, incident)?;
    let square = compute2(decoder, Binary::FMul, form, product, product)?;
    let rest = compute2(decoder, Binary::FSub, form, one, square)?;
    let eta_square = compute2(decoder, Binary::FMul, form, eta, eta)?;
    let scaled = compute2(decoder, Binary::FMul, form, eta_square, rest)?;
    let k = compute2(decoder, Binary::FSub, form, one, scaled)?;
    let total = relate(decoder, Relation::Compare(Compare::FOrdLessThan), form, &[k, zero]);
    // Where k is negative its root is not used, and must not be a finding.
    let root = compute2(decoder, Binary::NMax, form, k, zero)?;
    let root = compute1(decoder, Unary::Sqrt, form, root)?;
    let along = compute2(decoder, Binary::FMul, form, eta, product)?;
    let along = compute2(decoder, Binary::FAdd, form, along, root)?;
    let mut words = Vec::new();
    for (incident, normal) in incident.iter().zip(normal) {
        let left = compute2(decoder, Binary::FMul, form, eta, *incident)?;
        let right = compute2(decoder, Binary::FMul, form, along, *normal)?;
        let value = compute2(decoder, Binary::FSub, form, left, right)?;
        for (a, b) in zero.registers().zip(value.registers()) {
            let to = decoder.word();
            decoder.push(LaneInstruction::Select { to, condition: total, a, b });
            words.push(Scalar::Word(to));
        }
    }
    decoder.define(instruction, Value::Scalars(words.into()));
    Ok(())
}
