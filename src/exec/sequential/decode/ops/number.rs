//! Values as numbers: number format and registers of their components.
//!
//! Promises: an operation on words becomes an instruction on words, any other one a sized
//! instruction; one that does not exist on its operands is unsupported by name.

use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{is_address, is_variable_pointer};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
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
pub(crate) struct NumberList {
    pub number_format: NumberFormat,
    pub parts: Vec<NumberRegisters>,
}

impl Decoder<'_> {
    /// Number format of the components of a type; none for Booleans and structures.
    pub(crate) fn form(&self, type_id: Id) -> Option<NumberFormat> {
        match self.types.get(type_id)? {
            Type::Int { width, .. } => Width::from_bits(*width).map(NumberFormat::Integer),
            Type::Float { width } => Width::from_bits(*width).map(NumberFormat::Float),
            Type::BFloat16 => Some(NumberFormat::Brain),
            Type::Vector { component: component_type, .. } => self.form(*component_type),
            Type::Matrix { column: column_type, .. } => self.form(*column_type),
            Type::CooperativeMatrix { component: component_type, .. } => self.form(*component_type),
            ty if is_address(ty) || is_variable_pointer(ty) => {
                Some(NumberFormat::Integer(Width::W64))
            }
            _ => None,
        }
    }

    /// The type of a value.
    pub(crate) fn type_of(&self, value_id: Id) -> Result<Id, Unsupported> {
        let type_id =
            self.module.definition(value_id).and_then(|definition| definition.result_type);
        type_id.ok_or_else(|| unsupported("a value without a type"))
    }

    /// The components of a value, at least one.
    pub(crate) fn numbers_of(&mut self, value_id: Id) -> Result<NumberList, Unsupported> {
        let type_id = self.type_of(value_id)?;
        let number_format =
            self.form(type_id).ok_or_else(|| unsupported("a value where a number is expected"))?;
        let words = self.words_of(value_id)?;
        if words.is_empty() || words.len() % number_format.width().words() != 0 {
            return Err(unsupported("a number without components"));
        }
        Ok(NumberList { number_format, parts: pair_up(&words, number_format) })
    }

    pub(crate) fn number_of(
        &mut self,
        value_id: Id,
    ) -> Result<(NumberFormat, NumberRegisters), Unsupported> {
        let numbers = self.numbers_of(value_id)?;
        Ok((numbers.number_format, numbers.parts[0]))
    }

    /// Fresh registers for a number.
    pub(crate) fn new_number(&mut self, number_format: NumberFormat) -> NumberRegisters {
        let low = self.new_word();
        NumberRegisters {
            low,
            high: (number_format.width() == Width::W64).then(|| self.new_word()),
        }
    }

    /// A constant number.
    pub(crate) fn constant_number(
        &mut self,
        number_format: NumberFormat,
        bits: u64,
    ) -> NumberRegisters {
        let low = self.constant_word(bits as u32);
        NumberRegisters {
            low,
            high: (number_format.width() == Width::W64)
                .then(|| self.constant_word((bits >> 32) as u32)),
        }
    }

    /// Number format of the components of an instruction's result.
    pub(crate) fn result_form(
        &self,
        instruction: &Instruction,
    ) -> Result<NumberFormat, Unsupported> {
        let number_format = instruction.result_type.and_then(|ty| self.form(ty));
        number_format.ok_or_else(|| unsupported(format!("Op{:?} with this type", instruction.op)))
    }
}

/// The registers of numbers from the words of a value.
fn pair_up(word_registers: &[Reg], number_format: NumberFormat) -> Vec<NumberRegisters> {
    word_registers.chunks(number_format.width().words()).map(from_words).collect()
}

/// The registers of a number from its one or two words.
fn from_words(words: &[Reg]) -> NumberRegisters {
    NumberRegisters { low: words[0], high: words.get(1).copied() }
}

/// Operand `index` as numbers.
pub(crate) fn number_operand(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operand_index: usize,
) -> Result<NumberList, Unsupported> {
    decoder.numbers_of(operand_id(instruction, operand_index)?)
}

/// Defines an instruction's result.
pub(crate) fn define_numbers(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    parts: &[NumberRegisters],
) {
    decoder.define_result(instruction, DecodedValue::Scalars(word_scalars(parts).into()));
}

/// Pushes one operation into new registers, with the rounding, flushing and assumptions that the
/// module declares.
pub(crate) fn compute_number(
    decoder: &mut Decoder<'_>,
    op: SizedOperator,
    [operand_format, result_format]: [NumberFormat; 2],
    operands: &[NumberRegisters],
) -> Result<NumberRegisters, Unsupported> {
    if decoder.float_treatment.is_plain() {
        return compute_with(
            decoder,
            op,
            [operand_format, result_format],
            operands,
            RoundingDirection::Nearest,
        );
    }
    let float_operands = op.float_operands().min(operands.len());
    let mut own_operands = operands.to_vec();
    for operand in &mut own_operands[..float_operands] {
        assume_operand(decoder, operand_format, *operand);
        *operand = flushed_number(decoder, operand_format, *operand);
    }
    let rounding = if op.is_rounded() {
        decoder.float_treatment.rounding(result_format)
    } else {
        RoundingDirection::Nearest
    };
    let result =
        compute_with(decoder, op, [operand_format, result_format], &own_operands, rounding)?;
    assume_operand(decoder, result_format, result);
    Ok(flushed_number(decoder, result_format, result))
}

/// A number with denormals flushed to zero, where the module declares so.
pub(crate) fn flushed_number(
    decoder: &mut Decoder<'_>,
    number_format: NumberFormat,
    number: NumberRegisters,
) -> NumberRegisters {
    if decoder.float_treatment.denormal_mode(number_format) != DenormalMode::Flushed {
        return number;
    }
    let flushed_number = decoder.new_number(number_format);
    let operation = Operation::new(SizedOperator::Flush, number_format, number_format);
    decoder.push_instruction(LaneInstruction::Sized {
        operation,
        to: flushed_number,
        from: [number].into(),
    });
    flushed_number
}

/// Pushes the assumption that a float is no NaN and no infinity, where its instruction may assume
/// that (FPFastMathMode).
fn assume_operand(decoder: &mut Decoder<'_>, number_format: NumberFormat, number: NumberRegisters) {
    if !number_format.is_float() {
        return;
    }
    let flags = decoder.float_treatment.assumed;
    for (math_flag, class_test, otherwise) in [
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
        if flags.contains(math_flag) {
            let is_assumed_absent =
                push_relation(decoder, Relation::Classify(class_test), number_format, &[number]);
            let condition = decoder.new_mask();
            decoder.push_instruction(LaneInstruction::Not { to: condition, a: is_assumed_absent });
            decoder.push_instruction(LaneInstruction::Assume { condition, otherwise });
        }
    }
}

/// Pushes one operation into new registers, rounded in a direction.
pub(crate) fn compute_with(
    decoder: &mut Decoder<'_>,
    op: SizedOperator,
    [operand_format, result_format]: [NumberFormat; 2],
    operands: &[NumberRegisters],
    rounding: RoundingDirection,
) -> Result<NumberRegisters, Unsupported> {
    let result_number = decoder.new_number(result_format);
    let all_words = operand_format.is_word()
        && result_format.is_word()
        && operands.iter().all(|parts| parts.high.is_none());
    let word_instruction = (all_words && rounding == RoundingDirection::Nearest).then(|| {
        word_instruction(op, [operand_format, result_format], result_number.low, operands)
    });
    let action = match word_instruction.flatten() {
        Some(action) => action,
        None => {
            let operation =
                Operation { rounding, ..Operation::new(op, operand_format, result_format) };
            if !operation.exists() {
                let format_bits = operand_format.width().bits();
                return Err(unsupported(format!("{op:?} on numbers of {format_bits} bits")));
            }
            LaneInstruction::Sized { operation, to: result_number, from: operands.into() }
        }
    };
    decoder.push_instruction(action);
    Ok(result_number)
}

/// The same operation as an instruction on words, if there is one.
fn word_instruction(
    op: SizedOperator,
    forms: [NumberFormat; 2],
    result_word: Reg,
    operands: &[NumberRegisters],
) -> Option<LaneInstruction> {
    let operand_at = |index: usize| operands.get(index).map(|parts| parts.low);
    let unary_on_words =
        |unary| Some(LaneInstruction::Unary { op: unary, to: result_word, a: operand_at(0)? });
    match (op, forms) {
        (SizedOperator::Unary(op), _) => unary_on_words(op),
        (SizedOperator::Binary(op), _) => Some(LaneInstruction::Binary {
            op,
            to: result_word,
            a: operand_at(0)?,
            b: operand_at(1)?,
        }),
        (SizedOperator::Ternary(op), _) => Some(LaneInstruction::Ternary {
            op,
            to: result_word,
            a: operand_at(0)?,
            b: operand_at(1)?,
            c: operand_at(2)?,
        }),
        (SizedOperator::FromUnsigned, [_, NumberFormat::Float(_)]) => {
            unary_on_words(Unary::ConvertUToF)
        }
        (SizedOperator::FromSigned, [_, NumberFormat::Float(_)]) => {
            unary_on_words(Unary::ConvertSToF)
        }
        (SizedOperator::ToUnsigned, _) => unary_on_words(Unary::ConvertFToU),
        (SizedOperator::ToSigned, _) => unary_on_words(Unary::ConvertFToS),
        (SizedOperator::FromUnsigned | SizedOperator::FromSigned | SizedOperator::Round, _) => {
            Some(LaneInstruction::Copy { to: result_word, from: operand_at(0)? })
        }
        (SizedOperator::Flush, _) => None,
    }
}

pub(crate) fn compute_unary(
    decoder: &mut Decoder<'_>,
    op: Unary,
    number_format: NumberFormat,
    a: NumberRegisters,
) -> Result<NumberRegisters, Unsupported> {
    compute_number(decoder, SizedOperator::Unary(op), [number_format, number_format], &[a])
}

pub(crate) fn compute_binary(
    decoder: &mut Decoder<'_>,
    op: Binary,
    number_format: NumberFormat,
    a: NumberRegisters,
    b: NumberRegisters,
) -> Result<NumberRegisters, Unsupported> {
    compute_number(decoder, SizedOperator::Binary(op), [number_format, number_format], &[a, b])
}

/// Pushes one relation into a new mask.
pub(crate) fn push_relation(
    decoder: &mut Decoder<'_>,
    relation: Relation,
    number_format: NumberFormat,
    operand_numbers: &[NumberRegisters],
) -> Reg {
    let result_mask = decoder.new_mask();
    let action = match (relation, operand_numbers) {
        (Relation::Compare(op), [a, b]) if number_format.is_word() => {
            LaneInstruction::Compare { op, to: result_mask, a: a.low, b: b.low }
        }
        (Relation::Classify(op), [a]) if number_format.is_word() => {
            LaneInstruction::Classify { op, to: result_mask, a: a.low }
        }
        _ => LaneInstruction::Relate {
            relation,
            form: number_format,
            to: result_mask,
            from: operand_numbers.into(),
        },
    };
    decoder.push_instruction(action);
    result_mask
}

/// Component by component: the result has as many components as the first operand; an operand with
/// one component goes with all.
pub(crate) fn compute_components(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: SizedOperator,
    operands: &[NumberList],
) -> Result<(), Unsupported> {
    let result_format = decoder.result_form(instruction)?;
    let Some(first_operand) = operands.first() else {
        return Err(unsupported("an operation without operands"));
    };
    let mut result_numbers = Vec::with_capacity(first_operand.parts.len());
    for component_index in 0..first_operand.parts.len() {
        let component_at = |numbers: &NumberList| {
            numbers.parts.get(component_index).or(numbers.parts.first()).copied()
        };
        let operand_numbers: Option<Vec<NumberRegisters>> =
            operands.iter().map(component_at).collect();
        let operand_numbers =
            operand_numbers.ok_or_else(|| unsupported("a number without components"))?;
        result_numbers.push(compute_number(
            decoder,
            op,
            [first_operand.number_format, result_format],
            &operand_numbers,
        )?);
    }
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("an operation without a type"))?;
    if decoder.scalar_kinds(result_type)?.len()
        != result_numbers.len() * result_format.width().words()
    {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    define_numbers(decoder, instruction, &result_numbers);
    Ok(())
}

/// Relations component by component.
pub(crate) fn relate_components(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    relation: Relation,
) -> Result<(), Unsupported> {
    let operands = (0..relation.operand_count())
        .map(|operand_index| number_operand(decoder, instruction, operand_index));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let number_format = operands[0].number_format;
    if let Relation::Compare(op) = relation {
        super::logic::remember_comparison(decoder, instruction, op, &operands);
    }
    let compares_floats = matches!(relation, Relation::Compare(op) if op.float_symbol().is_some());
    let mut masks = Vec::new();
    for component_index in 0..operands[0].parts.len() {
        let operand_numbers: Option<Vec<NumberRegisters>> =
            operands.iter().map(|numbers| numbers.parts.get(component_index).copied()).collect();
        let mut operand_numbers =
            operand_numbers.ok_or_else(|| unsupported("a comparison of different vectors"))?;
        if compares_floats && !decoder.float_treatment.is_plain() {
            for number in &mut operand_numbers {
                assume_operand(decoder, number_format, *number);
                *number = flushed_number(decoder, number_format, *number);
            }
        }
        masks.push(Scalar::Mask(push_relation(decoder, relation, number_format, &operand_numbers)));
    }
    decoder.define_result(instruction, DecodedValue::Scalars(masks.into()));
    Ok(())
}
