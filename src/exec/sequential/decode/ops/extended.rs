//! Extended instructions: GLSL.std.450 (its specification), and non-semantic sets, which have no
//! effect but that debug printf prints.

use super::geometry::{cross, distance, face_forward, length, normalize, reflect, refract};
use super::matrix::{determinant, inverse};
use super::meaning::{Meaning, Row, row};
use super::memory::store_to;
use super::number::{Numbers, compute, compute1, compute2, define, each};
use super::operand::id;
use super::packing::{pack_halves, pack2, pack4, same_words, unpack, unpack_halves};
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

pub(crate) const TABLE: &[Row] = &[row(Op::ExtInst, Meaning::Special(extended))];

/// Gets the operands behind the number, as registers.
type ExtendedHandler = fn(&mut Decoder<'_>, &Instruction, &[Numbers]) -> Result<(), Unsupported>;

/// Instructions that are made of several operations, or that do not take their operands component
/// by component; all others stand in `spirv::operation`.
const COMPOSED: &[(GLOp, ExtendedHandler)] = &[
    (GLOp::Ldexp, ldexp),
    (GLOp::Length, length),
    (GLOp::Distance, distance),
    (GLOp::Cross, cross),
    (GLOp::Normalize, normalize),
    (GLOp::FaceForward, face_forward),
    (GLOp::Reflect, reflect),
    (GLOp::Refract, refract),
    (GLOp::Determinant, determinant),
    (GLOp::MatrixInverse, inverse),
    (GLOp::PackSnorm4x8, |d, i, o| pack4(d, i, o, Unary::PackSnorm4)),
    (GLOp::PackUnorm4x8, |d, i, o| pack4(d, i, o, Unary::PackUnorm4)),
    (GLOp::PackDouble2x32, same_words),
    (GLOp::UnpackDouble2x32, same_words),
    (GLOp::Modf, modf),
    (GLOp::ModfStruct, modf_struct),
    (GLOp::Frexp, frexp),
    (GLOp::FrexpStruct, frexp_struct),
    (GLOp::PackHalf2x16, pack_halves),
    (GLOp::PackSnorm2x16, |d, i, o| pack2(d, i, o, Binary::PackSnorm2)),
    (GLOp::PackUnorm2x16, |d, i, o| pack2(d, i, o, Binary::PackUnorm2)),
    (GLOp::UnpackHalf2x16, unpack_halves),
    (GLOp::UnpackSnorm2x16, |d, i, o| {
        unpack(d, i, o, &[Unary::UnpackSnorm2(0), Unary::UnpackSnorm2(1)])
    }),
    (GLOp::UnpackUnorm2x16, |d, i, o| {
        unpack(d, i, o, &[Unary::UnpackUnorm2(0), Unary::UnpackUnorm2(1)])
    }),
    (GLOp::UnpackSnorm4x8, |d, i, o| unpack(d, i, o, &[0, 1, 2, 3].map(Unary::UnpackSnorm4))),
    (GLOp::UnpackUnorm4x8, |d, i, o| unpack(d, i, o, &[0, 1, 2, 3].map(Unary::UnpackUnorm4))),
];

/// Instructions of GLSL.std.450 that have a row, and those that have none, by name.
pub(crate) fn names() -> (Vec<String>, Vec<String>) {
    let all = (0..=u8::MAX).filter_map(|number| GLOp::from_u32(number.into()));
    let (run, missing): (Vec<GLOp>, Vec<GLOp>) = all.partition(|op| {
        extended_operation(*op).is_some() || COMPOSED.iter().any(|(known, _)| known == op)
    });
    let named = |ops: Vec<GLOp>| {
        let mut names: Vec<String> = ops.iter().map(|op| format!("{op:?}")).collect();
        names.sort();
        names
    };
    (named(run), named(missing))
}

fn extended(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let set = decoder.module.definition(id(instruction, 0)?);
    let name = set.and_then(|set| match set.operands.first() {
        Some(Operand::LiteralString(name)) => Some(name.as_str()),
        _ => None,
    });
    match name {
        Some("NonSemantic.DebugPrintf") => {
            return super::debug_printf::debug_printf(decoder, instruction);
        }
        Some(name) if name.starts_with("NonSemantic.") => return Ok(()),
        Some("GLSL.std.450") => {}
        other => {
            return Err(unsupported(format!(
                "extended instruction set {}",
                other.unwrap_or("without a name")
            )));
        }
    }
    let number = instruction.literal(1).ok_or_else(|| unsupported("OpExtInst without a number"))?;
    let op = GLOp::from_u32(number)
        .ok_or_else(|| unsupported(format!("GLSL.std.450 instruction {number}")))?;
    let composed = COMPOSED.iter().find(|(known, _)| *known == op).map(|(_, handler)| *handler);
    let scalar = extended_operation(op);
    if composed.is_none() && scalar.is_none() {
        return Err(unsupported(format!("GLSL.std.450 {op:?}")));
    }
    let pointer_last = matches!(op, GLOp::Modf | GLOp::Frexp);
    let ids: Vec<u32> = instruction.ids().skip(1).collect();
    let values = if pointer_last { &ids[..1] } else { &ids[..] };
    let operands = values.iter().map(|id| decoder.numbers(*id)).collect::<Result<Vec<_>, _>>()?;
    if let Some(handler) = composed {
        return handler(decoder, instruction, &operands);
    }
    match scalar {
        Some(ScalarOperation::Unary(op)) => {
            each(decoder, instruction, SizedOperator::Unary(op), &operands)
        }
        Some(ScalarOperation::Binary(op)) => {
            each(decoder, instruction, SizedOperator::Binary(op), &operands)
        }
        Some(ScalarOperation::Ternary(op)) => {
            each(decoder, instruction, SizedOperator::Ternary(op), &operands)
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
fn ldexp(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let [values, exponents] = operands else {
        return Err(unsupported("Ldexp without two operands"));
    };
    let form = exponents.form;
    let mut words = Vec::with_capacity(exponents.parts.len());
    for exponent in &exponents.parts {
        words.push(match form.width() {
            Width::W32 => *exponent,
            Width::W8 | Width::W16 => compute(
                decoder,
                SizedOperator::FromSigned,
                [form, NumberFormat::WORD],
                &[*exponent],
            )?,
            Width::W64 => {
                // What no word holds is far beyond every exponent of a float.
                let [least, most] = [i32::MIN, i32::MAX]
                    .map(|end| decoder.constant_number(form, i64::from(end) as u64));
                let above = compute2(decoder, Binary::SMax, form, *exponent, least)?;
                compute2(decoder, Binary::SMin, form, above, most)?.low.into()
            }
        });
    }
    let exponents = Numbers { form: NumberFormat::WORD, parts: words };
    each(decoder, instruction, SizedOperator::Binary(Binary::Ldexp), &[values.clone(), exponents])
}

/// A fraction or significand as the result, the other part through the pointer.
fn split(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
    ops: [Unary; 2],
) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 3)?)?;
    let form = operands[0].form;
    let other = decoder.form(pointer.ty).ok_or_else(|| unsupported("a pointer to no number"))?;
    let (mut results, mut others) = (Vec::new(), Vec::new());
    for value in &operands[0].parts {
        others.push(compute(decoder, SizedOperator::Unary(ops[1]), [form, other], &[*value])?);
        results.push(compute1(decoder, ops[0], form, *value)?);
    }
    store_to(decoder, &pointer, &word_scalars(&others))?;
    define(decoder, instruction, &results);
    Ok(())
}

fn modf(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    split(decoder, instruction, operands, [Unary::ModfFraction, Unary::ModfWhole])
}

fn frexp(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    split(decoder, instruction, operands, [Unary::FrexpSignificand, Unary::FrexpExponent])
}

/// A structure of two parts of each operand component.
fn halves(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
    ops: [Unary; 2],
) -> Result<(), Unsupported> {
    let form = operands[0].form;
    let mut parts = Vec::new();
    for (op, member) in ops.into_iter().zip(0..) {
        let ty = instruction.result_type.and_then(|ty| decoder.types.component_type(ty, member));
        let to = ty
            .and_then(|ty| decoder.form(ty))
            .ok_or_else(|| unsupported("a structure without two numbers"))?;
        for value in &operands[0].parts {
            parts.push(compute(decoder, SizedOperator::Unary(op), [form, to], &[*value])?);
        }
    }
    define(decoder, instruction, &parts);
    Ok(())
}

fn modf_struct(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    halves(decoder, instruction, operands, [Unary::ModfFraction, Unary::ModfWhole])
}

fn frexp_struct(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    halves(decoder, instruction, operands, [Unary::FrexpSignificand, Unary::FrexpExponent])
}
