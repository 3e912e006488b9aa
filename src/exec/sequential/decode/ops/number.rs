//! Values as numbers: how each is read, and the registers of its components.
//!
//! Promises: an operation on words becomes an action of `word`, any other one of `sized`; one that
//! does not exist on its operands is unsupported by name.

use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{is_address, is_variable};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::word_scalars;
use crate::ir::{LaneInstruction, NumberRegisters, Reg, Scalar};
use rspirv::spirv::FPFastMathMode;
use vkcert_oracle::float::RoundingDirection;
use vkcert_spirv::float_controls::DenormalMode;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::{Binary, Classify, Unary};
use vkcert_spirv::operation::sized::{NumberFormat, Operation, Relation, SizedOperator, Width};
use vkcert_spirv::types::Type;

/// The components of a scalar, vector or matrix.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub form: NumberFormat,
    pub parts: Vec<NumberRegisters>,
}

impl Decoder<'_> {
    /// How the components of a type are read; none for Booleans and structures.
    pub(crate) fn form(&self, ty: Id) -> Option<NumberFormat> {
        match self.types.get(ty)? {
            Type::Int { width, .. } => Width::from_bits(*width).map(NumberFormat::Integer),
            Type::Float { width } => Width::from_bits(*width).map(NumberFormat::Float),
            Type::BFloat16 => Some(NumberFormat::Brain),
            Type::Vector { component, .. } => self.form(*component),
            Type::Matrix { column, .. } => self.form(*column),
            Type::CooperativeMatrix { component, .. } => self.form(*component),
            ty if is_address(ty) || is_variable(ty) => Some(NumberFormat::Integer(Width::W64)),
            _ => None,
        }
    }

    /// The type of a value.
    pub(crate) fn type_of(&self, id: Id) -> Result<Id, Unsupported> {
        let ty = self.module.definition(id).and_then(|one| one.result_type);
        ty.ok_or_else(|| unsupported("a value without a type"))
    }

    /// The components of a value, at least one.
    pub(crate) fn numbers(&mut self, id: Id) -> Result<Numbers, Unsupported> {
        let ty = self.type_of(id)?;
        let form =
            self.form(ty).ok_or_else(|| unsupported("a value where a number is expected"))?;
        let words = self.words(id)?;
        if words.is_empty() || words.len() % form.width().words() != 0 {
            return Err(unsupported("a number without components"));
        }
        Ok(Numbers { form, parts: pair_up(&words, form) })
    }

    pub(crate) fn number(
        &mut self,
        id: Id,
    ) -> Result<(NumberFormat, NumberRegisters), Unsupported> {
        let numbers = self.numbers(id)?;
        Ok((numbers.form, numbers.parts[0]))
    }

    /// Fresh registers for a number.
    pub(crate) fn parts(&mut self, form: NumberFormat) -> NumberRegisters {
        let low = self.word();
        NumberRegisters { low, high: (form.width() == Width::W64).then(|| self.word()) }
    }

    /// A constant number.
    pub(crate) fn constant_number(&mut self, form: NumberFormat, bits: u64) -> NumberRegisters {
        let low = self.constant_word(bits as u32);
        NumberRegisters {
            low,
            high: (form.width() == Width::W64).then(|| self.constant_word((bits >> 32) as u32)),
        }
    }

    /// How the components of an instruction's result are read.
    pub(crate) fn result_form(
        &self,
        instruction: &Instruction,
    ) -> Result<NumberFormat, Unsupported> {
        let form = instruction.result_type.and_then(|ty| self.form(ty));
        form.ok_or_else(|| unsupported(format!("Op{:?} with this type", instruction.op)))
    }
}

/// The registers of numbers from the words of a value.
fn pair_up(words: &[Reg], form: NumberFormat) -> Vec<NumberRegisters> {
    let number = |words: &[Reg]| NumberRegisters { low: words[0], high: words.get(1).copied() };
    words.chunks(form.width().words()).map(number).collect()
}

/// Operand `index` as numbers.
pub(crate) fn operand(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    index: usize,
) -> Result<Numbers, Unsupported> {
    decoder.numbers(id(instruction, index)?)
}

/// Defines an instruction's result.
pub(crate) fn define(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    parts: &[NumberRegisters],
) {
    decoder.define(instruction, Value::Scalars(word_scalars(parts).into()));
}

/// One operation into fresh registers, as the module wants float operands and results treated.
pub(crate) fn compute(
    decoder: &mut Decoder<'_>,
    op: SizedOperator,
    [from, to]: [NumberFormat; 2],
    operands: &[NumberRegisters],
) -> Result<NumberRegisters, Unsupported> {
    if decoder.floats.is_plain() {
        return compute_with(decoder, op, [from, to], operands, RoundingDirection::Nearest);
    }
    let floats = op.float_operands().min(operands.len());
    let mut own = operands.to_vec();
    for operand in &mut own[..floats] {
        assume_operand(decoder, from, *operand);
        *operand = flushed(decoder, from, *operand);
    }
    let rounding =
        if op.is_rounded() { decoder.floats.rounding(to) } else { RoundingDirection::Nearest };
    let result = compute_with(decoder, op, [from, to], &own, rounding)?;
    assume_operand(decoder, to, result);
    Ok(flushed(decoder, to, result))
}

/// A number whose denormals are zeros, where the module wants them so.
pub(crate) fn flushed(
    decoder: &mut Decoder<'_>,
    form: NumberFormat,
    number: NumberRegisters,
) -> NumberRegisters {
    if decoder.floats.denormals(form) != DenormalMode::Flushed {
        return number;
    }
    let to = decoder.parts(form);
    let operation = Operation::new(SizedOperator::Flush, form, form);
    decoder.push(LaneInstruction::Sized { operation, to, from: [number].into() });
    to
}

/// That a float is none of what its instruction may assume it is not (FPFastMathMode).
fn assume_operand(decoder: &mut Decoder<'_>, form: NumberFormat, number: NumberRegisters) {
    if !form.is_float() {
        return;
    }
    let flags = decoder.floats.assumed;
    for (flag, kind, otherwise) in [
        (
            FPFastMathMode::NOT_NAN,
            Classify::IsNan,
            "a NaN in an operation that is told there is none (NotNaN)",
        ),
        (
            FPFastMathMode::NOT_INF,
            Classify::IsInf,
            "an infinity in an operation that is told there is none (NotInf)",
        ),
    ] {
        if flags.contains(flag) {
            let holds = relate(decoder, Relation::Classify(kind), form, &[number]);
            let condition = decoder.mask();
            decoder.push(LaneInstruction::Not { to: condition, a: holds });
            decoder.push(LaneInstruction::Assume { condition, otherwise });
        }
    }
}

/// One operation into fresh registers, rounded in a direction.
pub(crate) fn compute_with(
    decoder: &mut Decoder<'_>,
    op: SizedOperator,
    [from, to]: [NumberFormat; 2],
    operands: &[NumberRegisters],
    rounding: RoundingDirection,
) -> Result<NumberRegisters, Unsupported> {
    let result = decoder.parts(to);
    let words = from.is_word() && to.is_word() && operands.iter().all(|parts| parts.high.is_none());
    let quick = (words && rounding == RoundingDirection::Nearest)
        .then(|| on_words(op, [from, to], result.low, operands));
    let action = match quick.flatten() {
        Some(action) => action,
        None => {
            let operation = Operation { rounding, ..Operation::new(op, from, to) };
            if !operation.exists() {
                let bits = from.width().bits();
                return Err(unsupported(format!("{op:?} on numbers of {bits} bits")));
            }
            LaneInstruction::Sized { operation, to: result, from: operands.into() }
        }
    };
    decoder.push(action);
    Ok(result)
}

/// The same as an action on words, where there is one.
fn on_words(
    op: SizedOperator,
    forms: [NumberFormat; 2],
    to: Reg,
    operands: &[NumberRegisters],
) -> Option<LaneInstruction> {
    let at = |index: usize| operands.get(index).map(|parts| parts.low);
    let convert = |op| Some(LaneInstruction::Unary { op, to, a: at(0)? });
    match (op, forms) {
        (SizedOperator::Unary(op), _) => Some(LaneInstruction::Unary { op, to, a: at(0)? }),
        (SizedOperator::Binary(op), _) => {
            Some(LaneInstruction::Binary { op, to, a: at(0)?, b: at(1)? })
        }
        (SizedOperator::Ternary(op), _) => {
            Some(LaneInstruction::Ternary { op, to, a: at(0)?, b: at(1)?, c: at(2)? })
        }
        (SizedOperator::FromUnsigned, [_, NumberFormat::Float(_)]) => convert(Unary::ConvertUToF),
        (SizedOperator::FromSigned, [_, NumberFormat::Float(_)]) => convert(Unary::ConvertSToF),
        (SizedOperator::ToUnsigned, _) => convert(Unary::ConvertFToU),
        (SizedOperator::ToSigned, _) => convert(Unary::ConvertFToS),
        (SizedOperator::FromUnsigned | SizedOperator::FromSigned | SizedOperator::Round, _) => {
            Some(LaneInstruction::Copy { to, from: at(0)? })
        }
        (SizedOperator::Flush, _) => None,
    }
}

pub(crate) fn compute1(
    decoder: &mut Decoder<'_>,
    op: Unary,
    form: NumberFormat,
    a: NumberRegisters,
) -> Result<NumberRegisters, Unsupported> {
    compute(decoder, SizedOperator::Unary(op), [form, form], &[a])
}

pub(crate) fn compute2(
    decoder: &mut Decoder<'_>,
    op: Binary,
    form: NumberFormat,
    a: NumberRegisters,
    b: NumberRegisters,
) -> Result<NumberRegisters, Unsupported> {
    compute(decoder, SizedOperator::Binary(op), [form, form], &[a, b])
}

/// One relation into a fresh mask.
pub(crate) fn relate(
    decoder: &mut Decoder<'_>,
    relation: Relation,
    form: NumberFormat,
    from: &[NumberRegisters],
) -> Reg {
    let to = decoder.mask();
    let action = match (relation, from) {
        (Relation::Compare(op), [a, b]) if form.is_word() => {
            LaneInstruction::Compare { op, to, a: a.low, b: b.low }
        }
        (Relation::Classify(op), [a]) if form.is_word() => {
            LaneInstruction::Classify { op, to, a: a.low }
        }
        _ => LaneInstruction::Relate { relation, form, to, from: from.into() },
    };
    decoder.push(action);
    to
}

/// Component by component: the result has as many components as the first operand; an operand with
/// one component goes with all.
pub(crate) fn each(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: SizedOperator,
    operands: &[Numbers],
) -> Result<(), Unsupported> {
    let to = decoder.result_form(instruction)?;
    let Some(first) = operands.first() else {
        return Err(unsupported("an operation without operands"));
    };
    let mut results = Vec::with_capacity(first.parts.len());
    for index in 0..first.parts.len() {
        let at = |numbers: &Numbers| numbers.parts.get(index).or(numbers.parts.first()).copied();
        let parts: Option<Vec<NumberRegisters>> = operands.iter().map(at).collect();
        let parts = parts.ok_or_else(|| unsupported("a number without components"))?;
        results.push(compute(decoder, op, [first.form, to], &parts)?);
    }
    let ty = instruction.result_type.ok_or_else(|| unsupported("an operation without a type"))?;
    if decoder.kinds(ty)?.len() != results.len() * to.width().words() {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    define(decoder, instruction, &results);
    Ok(())
}

/// Relations component by component.
pub(crate) fn each_relation(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    relation: Relation,
) -> Result<(), Unsupported> {
    let operands = (0..relation.operand_count()).map(|index| operand(decoder, instruction, index));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let form = operands[0].form;
    if let Relation::Compare(op) = relation {
        super::logic::remember_comparison(decoder, instruction, op, &operands);
    }
    let compares_floats = matches!(relation, Relation::Compare(op) if op.float_symbol().is_some());
    let mut masks = Vec::new();
    for index in 0..operands[0].parts.len() {
        let parts: Option<Vec<NumberRegisters>> =
            operands.iter().map(|one| one.parts.get(index).copied()).collect();
        let mut parts = parts.ok_or_else(|| unsupported("a comparison of different vectors"))?;
        if compares_floats && !decoder.floats.is_plain() {
            for number in &mut parts {
                assume_operand(decoder, form, *number);
                *number = flushed(decoder, form, *number);
            }
        }
        masks.push(Scalar::Mask(relate(decoder, relation, form, &parts)));
    }
    decoder.define(instruction, Value::Scalars(masks.into()));
    Ok(())
}
