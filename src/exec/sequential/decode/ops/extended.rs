//! Extended instructions: GLSL.std.450 (its specification), and non-semantic sets, which have no
//! effect but that debug printf prints.

use super::arithmetic::sum_of_products;
use super::meaning::{Meaning, Row, row};
use super::memory::store_to;
use super::number::{
    Numbers, compute, compute_with, compute1, compute2, define, each, flushed, relate,
};
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::scalars;
use crate::ir::{Action, Parts, Reg, Scalar};
use crate::settings::variation::Expansion;
use rspirv::dr::Operand;
use rspirv::spirv::{GlslStd450Op as GLOp, Op};
use vkcert_oracle::float::RoundingDirection;
use vkcert_spirv::float_controls::DenormalMode;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::{Binary, Compare, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, SizedOperator, Width};
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

fn norm(
    decoder: &mut Decoder<'_>,
    form: NumberFormat,
    vector: &[Parts],
    root: Unary,
) -> Result<Parts, Unsupported> {
    if let [single] = vector {
        return compute1(decoder, Unary::FAbs, form, *single);
    }
    let square = sum_of_products(decoder, form, vector, vector)?;
    compute1(decoder, root, form, square)
}

fn length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let result = norm(decoder, operands[0].form, &operands[0].parts, Unary::Sqrt)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

/// Component by component of two vectors.
fn zip(
    decoder: &mut Decoder<'_>,
    op: Binary,
    a: &Numbers,
    b: &Numbers,
) -> Result<Vec<Parts>, Unsupported> {
    a.parts
        .iter()
        .zip(&b.parts)
        .map(|(one, other)| compute2(decoder, op, a.form, *one, *other))
        .collect()
}

fn distance(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let difference = zip(decoder, Binary::FSub, &operands[0], &operands[1])?;
    let result = norm(decoder, operands[0].form, &difference, Unary::Sqrt)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

fn cross(
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

fn normalize(
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
fn face_forward(
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
            decoder.push(Action::Select { to, condition, a, b });
            words.push(Scalar::Word(to));
        }
    }
    decoder.define(instruction, Value::Scalars(words.into()));
    Ok(())
}

/// `I - 2 * dot(N, I) * N`
fn reflect(
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
fn refract(
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
            decoder.push(Action::Select { to, condition: total, a, b });
            words.push(Scalar::Word(to));
        }
    }
    decoder.define(instruction, Value::Scalars(words.into()));
    Ok(())
}

/// A square matrix by columns, as an expansion looks at it: turned, or from its other end. Its
/// determinant stays the same, and its inverse is the inverse looked at in the same way.
struct Square<'a> {
    form: NumberFormat,
    parts: &'a [Parts],
    size: usize,
    expansion: Expansion,
}

impl Square<'_> {
    fn of(numbers: &Numbers, expansion: Expansion) -> Result<Square<'_>, Unsupported> {
        let size = (2..=4).find(|size| size * size == numbers.parts.len());
        let size =
            size.ok_or_else(|| unsupported("a determinant of a matrix that is not square"))?;
        Ok(Square { form: numbers.form, parts: &numbers.parts, size, expansion })
    }

    /// Where an element stands in the matrix itself.
    fn place(&self, column: usize, row: usize) -> usize {
        let last = self.size - 1;
        let (column, row) = match self.expansion {
            Expansion::Columns | Expansion::Pairs => (column, row),
            Expansion::LastColumns => (last - column, last - row),
            Expansion::Rows | Expansion::RowPairs => (row, column),
            Expansion::LastRows => (last - row, last - column),
        };
        column * self.size + row
    }

    fn at(&self, column: usize, row: usize) -> Parts {
        self.parts[self.place(column, row)]
    }

    fn determinant(&self, decoder: &mut Decoder<'_>) -> Result<Parts, Unsupported> {
        let all: Vec<usize> = (0..self.size).collect();
        match (self.expansion, self.size) {
            (Expansion::Pairs | Expansion::RowPairs, 3) => self.by_products(decoder),
            (Expansion::Pairs | Expansion::RowPairs, 4) => self.by_pairs(decoder),
            (
                Expansion::Columns | Expansion::LastColumns | Expansion::Rows | Expansion::LastRows,
                _,
            )
            | (Expansion::Pairs | Expansion::RowPairs, _) => self.minor(decoder, &all, &all),
        }
    }

    /// The determinant of some columns and as many rows, by the first of these columns.
    fn minor(
        &self,
        decoder: &mut Decoder<'_>,
        columns: &[usize],
        rows: &[usize],
    ) -> Result<Parts, Unsupported> {
        self.expand(decoder, columns, rows, [Binary::FAdd, Binary::FSub])
    }

    /// The same sum of products, whose terms are added in turn by these operations.
    fn expand(
        &self,
        decoder: &mut Decoder<'_>,
        columns: &[usize],
        rows: &[usize],
        signs: [Binary; 2],
    ) -> Result<Parts, Unsupported> {
        let form = self.form;
        let ([first, others @ ..], [_, ..]) = (columns, rows) else {
            return Err(unsupported("a determinant of nothing"));
        };
        let mut terms = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let element = self.at(*first, *row);
            let term = if others.is_empty() {
                element
            } else {
                let rest: Vec<usize> = rows.iter().copied().filter(|other| other != row).collect();
                let minor = self.expand(decoder, others, &rest, signs)?;
                compute2(decoder, Binary::FMul, form, element, minor)?
            };
            terms.push((Sign::of(index), term));
        }
        self.sum_by(decoder, &terms, signs)
    }

    /// Three rows: six products of three elements.
    fn by_products(&self, decoder: &mut Decoder<'_>) -> Result<Parts, Unsupported> {
        let orders = [
            (Sign::Plus, [0, 1, 2]),
            (Sign::Plus, [1, 2, 0]),
            (Sign::Plus, [2, 0, 1]),
            (Sign::Minus, [2, 1, 0]),
            (Sign::Minus, [1, 0, 2]),
            (Sign::Minus, [0, 2, 1]),
        ];
        let mut terms = Vec::new();
        for (sign, [first, second, third]) in orders {
            let pair =
                compute2(decoder, Binary::FMul, self.form, self.at(0, first), self.at(1, second))?;
            terms
                .push((sign, compute2(decoder, Binary::FMul, self.form, pair, self.at(2, third))?));
        }
        self.sum(decoder, &terms)
    }

    /// Four rows: minors of the first two columns with those of the other two.
    fn by_pairs(&self, decoder: &mut Decoder<'_>) -> Result<Parts, Unsupported> {
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let mut terms = Vec::new();
        for (index, rows) in pairs.iter().enumerate() {
            let others = pairs[pairs.len() - 1 - index];
            let left = self.minor(decoder, &[0, 1], rows)?;
            let right = self.minor(decoder, &[2, 3], &others)?;
            let product = compute2(decoder, Binary::FMul, self.form, left, right)?;
            terms.push((Sign::of(rows[0] + rows[1] + 1), product));
        }
        self.sum(decoder, &terms)
    }

    fn sum(
        &self,
        decoder: &mut Decoder<'_>,
        terms: &[(Sign, Parts)],
    ) -> Result<Parts, Unsupported> {
        self.sum_by(decoder, terms, [Binary::FAdd, Binary::FSub])
    }

    /// Terms with the operations that stand for plus and minus.
    fn sum_by(
        &self,
        decoder: &mut Decoder<'_>,
        terms: &[(Sign, Parts)],
        [plus, minus]: [Binary; 2],
    ) -> Result<Parts, Unsupported> {
        let mut sum: Option<Parts> = None;
        for (sign, term) in terms {
            let op = match sign {
                Sign::Plus => plus,
                Sign::Minus => minus,
            };
            sum = Some(match sum {
                None => *term,
                Some(sum) => compute2(decoder, op, self.form, sum, *term)?,
            });
        }
        sum.ok_or_else(|| unsupported("a determinant of nothing"))
    }
}

/// Of a term; the first of a sum has a plus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn of(place: usize) -> Self {
        if place.is_multiple_of(2) { Sign::Plus } else { Sign::Minus }
    }
}

fn determinant(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let matrix = Square::of(&operands[0], decoder.expansion)?;
    let result = matrix.determinant(decoder)?;
    define(decoder, instruction, &[result]);
    Ok(())
}

/// A square matrix whose elements are all positive: the determinant's products, summed up.
fn permanent(decoder: &mut Decoder<'_>, matrix: &Square<'_>) -> Result<Parts, Unsupported> {
    let (form, all) = (matrix.form, (0..matrix.size).collect::<Vec<_>>());
    let absolute = matrix.parts.iter().map(|part| compute1(decoder, Unary::FAbs, form, *part));
    let absolute = absolute.collect::<Result<Vec<_>, _>>()?;
    Square { parts: &absolute, ..*matrix }.expand(decoder, &all, &all, [Binary::FAdd; 2])
}

/// Whether a matrix cannot be told from a singular one: the determinant is not above its own
/// rounding errors.
fn is_singular(
    decoder: &mut Decoder<'_>,
    matrix: &Square<'_>,
    determinant: Parts,
) -> Result<Reg, Unsupported> {
    let form = matrix.form;
    let digits = match form {
        NumberFormat::Float(Width::W16) => 11,
        NumberFormat::Brain => 8,
        NumberFormat::Float(Width::W64) => 53,
        NumberFormat::Float(Width::W8 | Width::W32) | NumberFormat::Integer(_) => 24,
    };
    // Each product of the determinant is rounded so often, and each of their sums.
    let roundings = 2.0 * matrix.size as f64;
    let error = decoder.constant_number(form, form.from_float(roundings * 2f64.powi(-digits)));
    let products = permanent(decoder, matrix)?;
    let bound = compute2(decoder, Binary::FMul, form, products, error)?;
    let size = compute1(decoder, Unary::FAbs, form, determinant)?;
    Ok(relate(decoder, Relation::Compare(Compare::FOrdLessThanEqual), form, &[size, bound]))
}

/// A number that is undefined where a condition holds.
fn doubted(decoder: &mut Decoder<'_>, number: Parts, condition: Reg, why: &'static str) -> Parts {
    let mut doubt = |value: Reg| {
        let to = decoder.word();
        decoder.push(Action::Doubt { to, value, condition, why });
        to
    };
    Parts { low: doubt(number.low), high: number.high.map(doubt) }
}

/// The adjugate divided by the determinant.
fn inverse(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let matrix = Square::of(&operands[0], decoder.expansion)?;
    let (form, size) = (matrix.form, matrix.size);
    let all: Vec<usize> = (0..size).collect();
    let determinant = matrix.determinant(decoder)?;
    let singular = is_singular(decoder, &matrix, determinant)?;
    let one = decoder.constant_number(form, form.from_float(1.0));
    let (op, factor) = match matrix.expansion {
        Expansion::Columns | Expansion::LastColumns | Expansion::RowPairs => {
            (Binary::FDiv, determinant)
        }
        Expansion::Rows | Expansion::LastRows | Expansion::Pairs => {
            (Binary::FMul, compute2(decoder, Binary::FDiv, form, one, determinant)?)
        }
    };
    let without =
        |index: usize| all.iter().copied().filter(|other| *other != index).collect::<Vec<_>>();
    let mut parts = vec![determinant; size * size];
    for column in 0..size {
        for row in 0..size {
            // Element (row, column) of the inverse is the cofactor of (column, row).
            let minor = matrix.minor(decoder, &without(row), &without(column))?;
            let signed = match Sign::of(column + row) {
                Sign::Plus => minor,
                Sign::Minus => compute1(decoder, Unary::FNegate, form, minor)?,
            };
            let element = compute2(decoder, op, form, signed, factor)?;
            let why = "inverse of a matrix that is singular, or nearly so";
            parts[matrix.place(column, row)] = doubted(decoder, element, singular, why);
        }
    }
    define(decoder, instruction, &parts);
    Ok(())
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
    store_to(decoder, &pointer, &scalars(&others))?;
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

const HALF: NumberFormat = NumberFormat::Float(Width::W16);

/// Two floats of 16 bits in a word; rounding modes are not for it (VK_KHR_shader_float_controls,
/// issue 5).
fn pack_halves(
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

fn unpack_halves(
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
fn pack2(
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
fn pack4(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
    op: Unary,
) -> Result<(), Unsupported> {
    let word = NumberFormat::WORD;
    let mut result: Option<Parts> = None;
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

fn unpack(
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
fn same_words(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let words = scalars(&operands[0].parts);
    decoder.define(instruction, Value::Scalars(words.into()));
    Ok(())
}
