//! Extended instructions: GLSL.std.450 (its specification), and non-semantic sets, which have no effect.

use super::arith::{compute, compute1, define_words, sum_of_products};
use super::element::{Binary, Ternary, Unary};
use super::memory::store_to;
use super::{Meaning, Row, each_word, id, row};
use crate::exec::sequential::decode::{Decoder, Unsupported, unsupported};
use crate::exec::sequential::program::{Action, Reg, Scalar};
use crate::spirv::module::Instruction;
use rspirv::dr::Operand;
use rspirv::spirv::{GlslStd450Op as GLOp, Op};

pub const TABLE: &[Row] = &[row(Op::ExtInst, Meaning::Special(extended))];

/// Gets the operands behind the number, as registers.
type ExtendedHandler = fn(&mut Decoder<'_>, &Instruction, &[Vec<Reg>]) -> Result<(), Unsupported>;

/// What an extended instruction means.
#[derive(Clone, Copy)]
enum Extended {
    Unary(Unary),
    Binary(Binary),
    Ternary(Ternary),
    Special(ExtendedHandler),
}

use Extended as E;

const GLSL: &[(GLOp, Extended)] = &[
    (GLOp::Round, E::Unary(Unary::Round)),
    (GLOp::RoundEven, E::Unary(Unary::RoundEven)),
    (GLOp::Trunc, E::Unary(Unary::Trunc)),
    (GLOp::FAbs, E::Unary(Unary::FAbs)),
    (GLOp::SAbs, E::Unary(Unary::SAbs)),
    (GLOp::FSign, E::Unary(Unary::FSign)),
    (GLOp::SSign, E::Unary(Unary::SSign)),
    (GLOp::Floor, E::Unary(Unary::Floor)),
    (GLOp::Ceil, E::Unary(Unary::Ceil)),
    (GLOp::Fract, E::Unary(Unary::Fract)),
    (GLOp::Radians, E::Unary(Unary::Radians)),
    (GLOp::Degrees, E::Unary(Unary::Degrees)),
    (GLOp::Sin, E::Unary(Unary::Sin)),
    (GLOp::Cos, E::Unary(Unary::Cos)),
    (GLOp::Tan, E::Unary(Unary::Tan)),
    (GLOp::Asin, E::Unary(Unary::Asin)),
    (GLOp::Acos, E::Unary(Unary::Acos)),
    (GLOp::Atan, E::Unary(Unary::Atan)),
    (GLOp::Sinh, E::Unary(Unary::Sinh)),
    (GLOp::Cosh, E::Unary(Unary::Cosh)),
    (GLOp::Tanh, E::Unary(Unary::Tanh)),
    (GLOp::Asinh, E::Unary(Unary::Asinh)),
    (GLOp::Acosh, E::Unary(Unary::Acosh)),
    (GLOp::Atanh, E::Unary(Unary::Atanh)),
    (GLOp::Atan2, E::Binary(Binary::Atan2)),
    (GLOp::Pow, E::Binary(Binary::Pow)),
    (GLOp::Exp, E::Unary(Unary::Exp)),
    (GLOp::Log, E::Unary(Unary::Log)),
    (GLOp::Exp2, E::Unary(Unary::Exp2)),
    (GLOp::Log2, E::Unary(Unary::Log2)),
    (GLOp::Sqrt, E::Unary(Unary::Sqrt)),
    (GLOp::InverseSqrt, E::Unary(Unary::InverseSqrt)),
    (GLOp::FMin, E::Binary(Binary::FMin)),
    (GLOp::UMin, E::Binary(Binary::UMin)),
    (GLOp::SMin, E::Binary(Binary::SMin)),
    (GLOp::FMax, E::Binary(Binary::FMax)),
    (GLOp::UMax, E::Binary(Binary::UMax)),
    (GLOp::SMax, E::Binary(Binary::SMax)),
    (GLOp::NMin, E::Binary(Binary::NMin)),
    (GLOp::NMax, E::Binary(Binary::NMax)),
    (GLOp::FClamp, E::Ternary(Ternary::FClamp)),
    (GLOp::UClamp, E::Ternary(Ternary::UClamp)),
    (GLOp::SClamp, E::Ternary(Ternary::SClamp)),
    (GLOp::NClamp, E::Ternary(Ternary::NClamp)),
    (GLOp::FMix, E::Ternary(Ternary::FMix)),
    (GLOp::Step, E::Binary(Binary::Step)),
    (GLOp::SmoothStep, E::Ternary(Ternary::SmoothStep)),
    (GLOp::Fma, E::Ternary(Ternary::Fma)),
    (GLOp::Ldexp, E::Binary(Binary::Ldexp)),
    (GLOp::FindILsb, E::Unary(Unary::FindILsb)),
    (GLOp::FindSMsb, E::Unary(Unary::FindSMsb)),
    (GLOp::FindUMsb, E::Unary(Unary::FindUMsb)),
    (GLOp::Length, E::Special(length)),
    (GLOp::Distance, E::Special(distance)),
    (GLOp::Cross, E::Special(cross)),
    (GLOp::Normalize, E::Special(normalize)),
    (GLOp::FaceForward, E::Special(face_forward)),
    (GLOp::Reflect, E::Special(reflect)),
    (GLOp::Determinant, E::Special(determinant)),
    (GLOp::Modf, E::Special(modf)),
    (GLOp::ModfStruct, E::Special(modf_struct)),
    (GLOp::Frexp, E::Special(frexp)),
    (GLOp::FrexpStruct, E::Special(frexp_struct)),
    (GLOp::PackHalf2x16, E::Special(|d, i, o| pack2(d, i, o, Binary::PackHalf))),
    (GLOp::PackSnorm2x16, E::Special(|d, i, o| pack2(d, i, o, Binary::PackSnorm2))),
    (GLOp::PackUnorm2x16, E::Special(|d, i, o| pack2(d, i, o, Binary::PackUnorm2))),
    (GLOp::UnpackHalf2x16, E::Special(|d, i, o| unpack(d, i, o, &[Unary::UnpackHalfLow, Unary::UnpackHalfHigh]))),
    (GLOp::UnpackSnorm2x16, E::Special(|d, i, o| unpack(d, i, o, &[Unary::UnpackSnorm2(0), Unary::UnpackSnorm2(1)]))),
    (GLOp::UnpackUnorm2x16, E::Special(|d, i, o| unpack(d, i, o, &[Unary::UnpackUnorm2(0), Unary::UnpackUnorm2(1)]))),
    (GLOp::UnpackSnorm4x8, E::Special(|d, i, o| unpack(d, i, o, &[0, 1, 2, 3].map(Unary::UnpackSnorm4)))),
    (GLOp::UnpackUnorm4x8, E::Special(|d, i, o| unpack(d, i, o, &[0, 1, 2, 3].map(Unary::UnpackUnorm4)))),
];

fn extended(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let set = decoder.module.definition(id(instruction, 0)?);
    let name = set.and_then(|set| match set.operands.first() {
        Some(Operand::LiteralString(name)) => Some(name.as_str()),
        _ => None,
    });
    match name {
        Some(name) if name.starts_with("NonSemantic.") => return Ok(()),
        Some("GLSL.std.450") => {}
        other => return Err(unsupported(format!("extended instruction set {}", other.unwrap_or("without a name")))),
    }
    let number = instruction.literal(1).ok_or_else(|| unsupported("OpExtInst without a number"))?;
    let op = GLOp::from_u32(number).ok_or_else(|| unsupported(format!("GLSL.std.450 instruction {number}")))?;
    let meaning = GLSL.iter().find(|(known, _)| *known == op).map(|(_, meaning)| *meaning);
    let meaning = meaning.ok_or_else(|| unsupported(format!("GLSL.std.450 {op:?}")))?;
    let pointer_last = matches!(op, GLOp::Modf | GLOp::Frexp);
    let ids: Vec<u32> = instruction.ids().skip(1).collect();
    let values = if pointer_last { &ids[..1] } else { &ids[..] };
    let operands = values.iter().map(|id| decoder.words(*id)).collect::<Result<Vec<_>, _>>()?;
    let first = operands.first().map_or(0, Vec::len);
    match meaning {
        E::Unary(op) => each_word(decoder, instruction, first, |to, at| Action::Unary { op, to, a: operands[0][at] }),
        E::Binary(op) => each_word(decoder, instruction, first, |to, at| Action::Binary {
            op,
            to,
            a: operands[0][at],
            b: operands[1][at],
        }),
        E::Ternary(op) => each_word(decoder, instruction, first, |to, at| Action::Ternary {
            op,
            to,
            a: operands[0][at],
            b: operands[1][at],
            c: operands[2][at],
        }),
        E::Special(handler) => handler(decoder, instruction, &operands),
    }
}

fn norm(decoder: &mut Decoder<'_>, vector: &[Reg], root: Unary) -> Reg {
    if let [single] = vector {
        return compute1(decoder, Unary::FAbs, *single);
    }
    let square = sum_of_products(decoder, vector, vector);
    compute1(decoder, root, square)
}

fn length(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    let result = norm(decoder, &operands[0], Unary::Sqrt);
    define_words(decoder, instruction, vec![result]);
    Ok(())
}

fn distance(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    let pairs: Vec<_> = operands[0].iter().zip(&operands[1]).collect();
    let difference: Vec<Reg> = pairs.into_iter().map(|(a, b)| compute(decoder, Binary::FSub, *a, *b)).collect();
    let result = norm(decoder, &difference, Unary::Sqrt);
    define_words(decoder, instruction, vec![result]);
    Ok(())
}

fn cross(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    let (a, b) = (&operands[0], &operands[1]);
    let words = [(1, 2), (2, 0), (0, 1)]
        .into_iter()
        .map(|(one, two)| {
            let left = compute(decoder, Binary::FMul, a[one], b[two]);
            let right = compute(decoder, Binary::FMul, b[one], a[two]);
            compute(decoder, Binary::FSub, left, right)
        })
        .collect();
    define_words(decoder, instruction, words);
    Ok(())
}

fn normalize(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    let length = norm(decoder, &operands[0], Unary::SqrtToNormalize);
    let component = Binary::NormalizedComponent;
    let words = operands[0].iter().map(|value| compute(decoder, component, *value, length)).collect();
    define_words(decoder, instruction, words);
    Ok(())
}

/// `Nref . I < 0 ? N : -N`, with operands N, I, Nref.
fn face_forward(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Vec<Reg>],
) -> Result<(), Unsupported> {
    let product = sum_of_products(decoder, &operands[2], &operands[1]);
    let zero = decoder.constant_word(0);
    let condition = decoder.mask();
    decoder.push(Action::Compare { op: super::element::Compare::FOrdLessThan, to: condition, a: product, b: zero });
    let mut words = Vec::new();
    for value in &operands[0] {
        let negative = compute1(decoder, Unary::FNegate, *value);
        let to = decoder.word();
        decoder.push(Action::Select { to, condition, a: *value, b: negative });
        words.push(to);
    }
    define_words(decoder, instruction, words);
    Ok(())
}

/// `I - 2 * dot(N, I) * N`
fn reflect(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    let product = sum_of_products(decoder, &operands[1], &operands[0]);
    let two = decoder.constant_word(2.0f32.to_bits());
    let factor = compute(decoder, Binary::FMul, two, product);
    let mut words = Vec::new();
    for (incident, normal) in operands[0].iter().zip(&operands[1]) {
        let scaled = compute(decoder, Binary::FMul, factor, *normal);
        words.push(compute(decoder, Binary::FSub, *incident, scaled));
    }
    define_words(decoder, instruction, words);
    Ok(())
}

fn determinant(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    let size = match operands[0].len() {
        4 => 2,
        9 => 3,
        _ => return Err(unsupported("GLSL.std.450 Determinant of a 4x4 matrix")),
    };
    let at = |column: usize, row: usize| operands[0][column * size + row];
    let minor = |decoder: &mut Decoder<'_>, columns: [usize; 2], rows: [usize; 2]| {
        let left = compute(decoder, Binary::FMul, at(columns[0], rows[0]), at(columns[1], rows[1]));
        let right = compute(decoder, Binary::FMul, at(columns[1], rows[0]), at(columns[0], rows[1]));
        compute(decoder, Binary::FSub, left, right)
    };
    let result = if size == 2 {
        minor(decoder, [0, 1], [0, 1])
    } else {
        let terms = [[1, 2], [0, 2], [0, 1]].map(|columns| minor(decoder, columns, [1, 2]));
        let products: Vec<Reg> =
            (0..3).map(|column| compute(decoder, Binary::FMul, at(column, 0), terms[column])).collect();
        let first = compute(decoder, Binary::FSub, products[0], products[1]);
        compute(decoder, Binary::FAdd, first, products[2])
    };
    define_words(decoder, instruction, vec![result]);
    Ok(())
}

/// A fraction or significand as the result, the other part through the pointer.
fn split(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Vec<Reg>],
    ops: [Unary; 2],
) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 3)?)?;
    let other: Vec<Scalar> = operands[0].iter().map(|value| Scalar::Word(compute1(decoder, ops[1], *value))).collect();
    let words = operands[0].iter().map(|value| compute1(decoder, ops[0], *value)).collect();
    store_to(decoder, &pointer, &other)?;
    define_words(decoder, instruction, words);
    Ok(())
}

fn modf(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    split(decoder, instruction, operands, [Unary::ModfFraction, Unary::ModfWhole])
}

fn frexp(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    split(decoder, instruction, operands, [Unary::FrexpSignificand, Unary::FrexpExponent])
}

/// A structure of two parts of each operand component.
fn parts(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Vec<Reg>],
    ops: [Unary; 2],
) -> Result<(), Unsupported> {
    let mut words = Vec::new();
    for op in ops {
        for value in &operands[0] {
            words.push(compute1(decoder, op, *value));
        }
    }
    define_words(decoder, instruction, words);
    Ok(())
}

fn modf_struct(decoder: &mut Decoder<'_>, instruction: &Instruction, operands: &[Vec<Reg>]) -> Result<(), Unsupported> {
    parts(decoder, instruction, operands, [Unary::ModfFraction, Unary::ModfWhole])
}

fn frexp_struct(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Vec<Reg>],
) -> Result<(), Unsupported> {
    parts(decoder, instruction, operands, [Unary::FrexpSignificand, Unary::FrexpExponent])
}

fn pack2(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Vec<Reg>],
    op: Binary,
) -> Result<(), Unsupported> {
    let result = compute(decoder, op, operands[0][0], operands[0][1]);
    define_words(decoder, instruction, vec![result]);
    Ok(())
}

fn unpack(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Vec<Reg>],
    ops: &[Unary],
) -> Result<(), Unsupported> {
    let words = ops.iter().map(|op| compute1(decoder, *op, operands[0][0])).collect();
    define_words(decoder, instruction, words);
    Ok(())
}
