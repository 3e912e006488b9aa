//! Ballots: one bit per invocation of a subgroup, as words and as masks.

use super::number::{compute_binary, define_numbers};
use super::operand::operand_id;
use super::subgroup_scope::{
    ScopeOperand, check_subgroup_scope, first_operand_index, partition_ballots, scan_kind,
};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
use crate::ir::subgroup_operation::{Combination, GroupOperation, Scan};
use crate::ir::{LaneInstruction, NumberRegisters, Reg, Scalar};
use std::sync::Arc;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator, Width};

/// An operation from some scalars to one Boolean.
pub(super) fn push_mask_operation(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: GroupOperation,
    source_scalars: Arc<[Scalar]>,
) -> Result<(), Unsupported> {
    let result_mask = decoder.new_mask();
    decoder.push_instruction(LaneInstruction::Group {
        op: operation,
        to: Arc::new([Scalar::Mask(result_mask)]),
        from: source_scalars,
        index: None,
    });
    decoder
        .define_result(instruction, DecodedValue::Scalars(Arc::new([Scalar::Mask(result_mask)])));
    Ok(())
}

/// An operation on a ballot to a number of 32 bits.
pub(super) fn push_ballot_operation(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: GroupOperation,
    operand_index: usize,
) -> Result<(), Unsupported> {
    check_subgroup_scope(decoder, instruction)?;
    let ballot_scalars = decoder.scalars_of(operand_id(instruction, operand_index)?)?;
    let result_format = decoder.result_form(instruction)?;
    if !result_format.is_word() {
        return Err(unsupported(format!(
            "Op{:?} with a result that has not 32 bits",
            instruction.op
        )));
    }
    let result_word = decoder.new_word();
    decoder.push_instruction(LaneInstruction::Group {
        op: operation,
        to: Arc::new([Scalar::Word(result_word)]),
        from: ballot_scalars,
        index: None,
    });
    define_numbers(decoder, instruction, &[result_word.into()]);
    Ok(())
}

pub(super) fn decode_ballot(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scoped: ScopeOperand,
) -> Result<(), Unsupported> {
    let operand_index = first_operand_index(decoder, instruction, scoped)?;
    let source_scalars = decoder.scalars_of(operand_id(instruction, operand_index)?)?;
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("a ballot without a type"))?;
    let ballot_scalars = decoder.new_registers(result_type)?;
    if ballot_scalars.len() != 4 {
        return Err(unsupported("a ballot that is no vector of four numbers of 32 bits"));
    }
    decoder.push_instruction(LaneInstruction::Group {
        op: GroupOperation::Ballot,
        to: Arc::clone(&ballot_scalars),
        from: source_scalars,
        index: None,
    });
    decoder.define_result(instruction, DecodedValue::Scalars(ballot_scalars));
    Ok(())
}

pub(super) fn ballot_intersection(
    decoder: &mut Decoder<'_>,
    first_ballot: &[Scalar],
    second_ballot: &[Scalar],
) -> Result<Arc<[Scalar]>, Unsupported> {
    let mut common_scalars = Vec::new();
    for pair in first_ballot.iter().zip(second_ballot) {
        let (Scalar::Word(a), Scalar::Word(b)) = pair else {
            return Err(unsupported("a ballot of Booleans"));
        };
        let common_word = compute_binary(
            decoder,
            Binary::BitwiseAnd,
            NumberFormat::WORD,
            (*a).into(),
            (*b).into(),
        )?;
        common_scalars.push(Scalar::Word(common_word.low));
    }
    Ok(common_scalars.into())
}

pub(super) fn inverse_ballot(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    check_subgroup_scope(decoder, instruction)?;
    let ballot_scalars = decoder.scalars_of(operand_id(instruction, 1)?)?;
    push_mask_operation(decoder, instruction, GroupOperation::InverseBallot, ballot_scalars)
}

pub(super) fn bit_extract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    check_subgroup_scope(decoder, instruction)?;
    let ballot_scalars = decoder.scalars_of(operand_id(instruction, 1)?)?;
    let index_register = Some(index_register(decoder, instruction, 2)?);
    let result_mask = decoder.new_mask();
    decoder.push_instruction(LaneInstruction::Group {
        op: GroupOperation::BitExtract,
        to: Arc::new([Scalar::Mask(result_mask)]),
        from: ballot_scalars,
        index: index_register,
    });
    decoder
        .define_result(instruction, DecodedValue::Scalars(Arc::new([Scalar::Mask(result_mask)])));
    Ok(())
}

pub(super) fn bit_count(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let scan = scan_kind(decoder, instruction, 2)?;
    push_ballot_operation(decoder, instruction, GroupOperation::BitCount(scan), 2)
}

pub(super) fn find_bit(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: GroupOperation,
) -> Result<(), Unsupported> {
    push_ballot_operation(decoder, instruction, operation, 1)
}

/// An index operand: unsigned, as a word.
pub(super) fn index_register(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operand_index: usize,
) -> Result<Reg, Unsupported> {
    match decoder.number_of(operand_id(instruction, operand_index)?)? {
        (NumberFormat::Integer(_), NumberRegisters { low, high: None }) => Ok(low),
        _ => Err(unsupported(format!("Op{:?} with an index of 64 bits", instruction.op))),
    }
}

/// The Booleans of an operand, combined.
pub(super) fn combine_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operator: Binary,
    (scan, operand_index): (Scan, usize),
) -> Result<(), Unsupported> {
    let number_format = NumberFormat::Integer(Width::W8);
    let operation = Operation::new(SizedOperator::Binary(operator), number_format, number_format);
    let combination =
        Combination { operation, identity: u64::from(operator == Binary::BitwiseAnd) };
    let partition_ballots = partition_ballots(decoder, instruction, scan, operand_index + 1)?;
    let mut results = Vec::new();
    for source_mask in decoder.masks_of(operand_id(instruction, operand_index)?)? {
        let result_mask = Scalar::Mask(decoder.new_mask());
        let mut source_scalars = vec![Scalar::Mask(source_mask)];
        source_scalars.extend_from_slice(&partition_ballots);
        decoder.push_instruction(LaneInstruction::Group {
            op: GroupOperation::Combine(combination, scan),
            to: Arc::new([result_mask]),
            from: source_scalars.into(),
            index: None,
        });
        results.push(result_mask);
    }
    decoder.define_result(instruction, DecodedValue::Scalars(results.into()));
    Ok(())
}
