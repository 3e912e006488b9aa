//! Subgroup operations (SPIR-V specification, "Non-Uniform Instructions"; SPV_KHR_shader_ballot,
//! SPV_KHR_subgroup_vote, SPV_KHR_subgroup_rotate, SPV_KHR_quad_control,
//! SPV_NV_shader_subgroup_partitioned).
//!
//! Knows: the result of each operation for every active invocation of one subgroup. Invocations are
//! numbered within their subgroup; a ballot is a number of 128 bits.
//! Promises: sums and products are taken in ascending order of the invocations, from the first
//! value on. What is undefined has the result that [`UndefinedGroupResult`] documents.
//! Does not cover: operations over scopes other than Subgroup.

use super::ballot::{
    ballot_intersection, bit_count, bit_extract, combine_masks, decode_ballot, find_bit,
    index_register, inverse_ballot, push_mask_operation,
};
use super::logic::AND;
use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::{NumberList, define_numbers, flushed_number, number_operand};
use super::operand::operand_id;
use super::subgroup_scope::{
    ScopeOperand, check_subgroup_scope, cluster_size, first_operand_index, note_subgroup_operation,
    partition_ballots, scan_kind,
};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::DecodedValue;
use crate::ir::lane_exchange::LaneExchange;
use crate::ir::subgroup_operation::{Combination, GroupOperation, Scan};
use crate::ir::{LaneInstruction, Reg, Scalar, word_scalars};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator};

/// Reads rows as `op => meaning`.
macro_rules! rows {
    ($($op:ident => $handler:expr),* $(,)?) => { &[$(opcode_row(Op::$op, OpcodeMeaning::Special($handler))),*] };
}

pub(crate) const TABLE: &[OpcodeRow] = rows! {
    GroupNonUniformElect => |decoder, instruction| {
        check_subgroup_scope(decoder, instruction)?;
        push_mask_operation(decoder, instruction, GroupOperation::Elect, Arc::new([]))
    },
    GroupNonUniformAll => |decoder, instruction| decode_vote(decoder, instruction, GroupOperation::All, ScopeOperand::Yes),
    GroupNonUniformAny => |decoder, instruction| decode_vote(decoder, instruction, GroupOperation::Any, ScopeOperand::Yes),
    GroupNonUniformAllEqual => |decoder, instruction| vote_all_equal(decoder, instruction, ScopeOperand::Yes),
    GroupNonUniformQuadAllKHR => |decoder, instruction| quad_vote(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformQuadAnyKHR => |decoder, instruction| quad_vote(decoder, instruction, Binary::BitwiseOr),
    SubgroupAllKHR => |decoder, instruction| decode_vote(decoder, instruction, GroupOperation::All, ScopeOperand::No),
    SubgroupAnyKHR => |decoder, instruction| decode_vote(decoder, instruction, GroupOperation::Any, ScopeOperand::No),
    SubgroupAllEqualKHR => |decoder, instruction| vote_all_equal(decoder, instruction, ScopeOperand::No),
    GroupNonUniformBroadcast => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::Broadcast, ScopeOperand::Yes),
    SubgroupReadInvocationKHR => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::Broadcast, ScopeOperand::No),
    GroupNonUniformBroadcastFirst => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::First, ScopeOperand::Yes),
    SubgroupFirstInvocationKHR => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::First, ScopeOperand::No),
    GroupNonUniformShuffle => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::Index, ScopeOperand::Yes),
    GroupNonUniformShuffleXor => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::Xor, ScopeOperand::Yes),
    GroupNonUniformShuffleUp => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::Up, ScopeOperand::Yes),
    GroupNonUniformShuffleDown => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::Down, ScopeOperand::Yes),
    GroupNonUniformQuadBroadcast => |decoder, instruction| push_exchange(decoder, instruction, LaneExchange::QuadBroadcast, ScopeOperand::Yes),
    GroupNonUniformQuadSwap => quad_swap,
    GroupNonUniformRotateKHR => rotate_values,
    GroupNonUniformPartitionEXT => partition_by_value,
    GroupNonUniformBallot => |decoder, instruction| decode_ballot(decoder, instruction, ScopeOperand::Yes),
    SubgroupBallotKHR => |decoder, instruction| decode_ballot(decoder, instruction, ScopeOperand::No),
    GroupNonUniformInverseBallot => inverse_ballot,
    GroupNonUniformBallotBitExtract => bit_extract,
    GroupNonUniformBallotBitCount => bit_count,
    GroupNonUniformBallotFindLSB => |decoder, instruction| find_bit(decoder, instruction, GroupOperation::FindLowest),
    GroupNonUniformBallotFindMSB => |decoder, instruction| find_bit(decoder, instruction, GroupOperation::FindHighest),
    GroupNonUniformIAdd => |decoder, instruction| combine_numbers(decoder, instruction, Binary::IAdd),
    GroupNonUniformFAdd => |decoder, instruction| combine_numbers(decoder, instruction, Binary::FAdd),
    GroupNonUniformIMul => |decoder, instruction| combine_numbers(decoder, instruction, Binary::IMul),
    GroupNonUniformFMul => |decoder, instruction| combine_numbers(decoder, instruction, Binary::FMul),
    GroupNonUniformSMin => |decoder, instruction| combine_numbers(decoder, instruction, Binary::SMin),
    GroupNonUniformUMin => |decoder, instruction| combine_numbers(decoder, instruction, Binary::UMin),
    GroupNonUniformFMin => |decoder, instruction| combine_numbers(decoder, instruction, Binary::NMin),
    GroupNonUniformSMax => |decoder, instruction| combine_numbers(decoder, instruction, Binary::SMax),
    GroupNonUniformUMax => |decoder, instruction| combine_numbers(decoder, instruction, Binary::UMax),
    GroupNonUniformFMax => |decoder, instruction| combine_numbers(decoder, instruction, Binary::NMax),
    GroupNonUniformBitwiseAnd => |decoder, instruction| combine_numbers(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformBitwiseOr => |decoder, instruction| combine_numbers(decoder, instruction, Binary::BitwiseOr),
    GroupNonUniformBitwiseXor => |decoder, instruction| combine_numbers(decoder, instruction, Binary::BitwiseXor),
    GroupNonUniformLogicalAnd => |decoder, instruction| combine_booleans(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformLogicalOr => |decoder, instruction| combine_booleans(decoder, instruction, Binary::BitwiseOr),
    GroupNonUniformLogicalXor => |decoder, instruction| combine_booleans(decoder, instruction, Binary::BitwiseXor),
};

fn decode_vote(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: GroupOperation,
    scoped: ScopeOperand,
) -> Result<(), Unsupported> {
    let operand_index = first_operand_index(decoder, instruction, scoped)?;
    let source_scalars = decoder.scalars_of(operand_id(instruction, operand_index)?)?;
    push_mask_operation(decoder, instruction, operation, source_scalars)
}

/// All components must be equal.
fn vote_all_equal(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scoped: ScopeOperand,
) -> Result<(), Unsupported> {
    let operand_index = first_operand_index(decoder, instruction, scoped)?;
    let value_id = operand_id(instruction, operand_index)?;
    let value_type = decoder.type_of(value_id)?;
    let (number_format, component_scalars): (_, Vec<Vec<Scalar>>) = match decoder.form(value_type) {
        Some(number_format) => (
            Some(number_format),
            decoder
                .numbers_of(value_id)?
                .parts
                .iter()
                .map(|number| word_scalars(&[*number]))
                .collect(),
        ),
        None => (
            None,
            decoder.masks_of(value_id)?.into_iter().map(|mask| vec![Scalar::Mask(mask)]).collect(),
        ),
    };
    let mut all_equal: Option<Reg> = None;
    for component in component_scalars {
        let component_mask = decoder.new_mask();
        let (op, to_list) =
            (GroupOperation::AllEqual(number_format), Arc::new([Scalar::Mask(component_mask)]));
        decoder.push_instruction(LaneInstruction::Group {
            op,
            to: to_list,
            from: component.into(),
            index: None,
        });
        all_equal = Some(match all_equal {
            None => component_mask,
            Some(all_equal) => {
                let combined_mask = decoder.new_mask();
                decoder.push_instruction(LaneInstruction::Logic {
                    table: AND,
                    to: combined_mask,
                    a: all_equal,
                    b: component_mask,
                });
                combined_mask
            }
        });
    }
    let all_equal = all_equal.ok_or_else(|| unsupported("a vote on no components"))?;
    decoder.define_result(instruction, DecodedValue::Scalars(Arc::new([Scalar::Mask(all_equal)])));
    Ok(())
}

/// Invocations with the same value: of a vector, with the same of each component.
fn partition_by_value(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    note_subgroup_operation(decoder);
    let value_scalars = decoder.scalars_of(operand_id(instruction, 0)?)?;
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("a partition without a type"))?;
    let mut common_ballot: Option<Arc<[Scalar]>> = None;
    for component_scalar in value_scalars.iter() {
        let component_ballot = decoder.new_registers(result_type)?;
        if component_ballot.len() != 4 {
            return Err(unsupported("a partition that is no vector of four numbers of 32 bits"));
        }
        decoder.push_instruction(LaneInstruction::Group {
            op: GroupOperation::Partition,
            to: Arc::clone(&component_ballot),
            from: Arc::new([*component_scalar]),
            index: None,
        });
        common_ballot = Some(match common_ballot {
            None => component_ballot,
            Some(common_ballot) => ballot_intersection(decoder, &common_ballot, &component_ballot)?,
        });
    }
    let common_ballot = common_ballot.ok_or_else(|| unsupported("a partition by no value"))?;
    decoder.define_result(instruction, DecodedValue::Scalars(common_ballot));
    Ok(())
}

fn push_exchange(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    lane_exchange: LaneExchange,
    scoped: ScopeOperand,
) -> Result<(), Unsupported> {
    let operand_index = first_operand_index(decoder, instruction, scoped)?;
    let index = match lane_exchange {
        LaneExchange::First | LaneExchange::QuadSwap(_) => None,
        LaneExchange::Index
        | LaneExchange::Xor
        | LaneExchange::Up
        | LaneExchange::Down
        | LaneExchange::Broadcast
        | LaneExchange::QuadBroadcast
        | LaneExchange::Rotate(_) => Some(index_register(decoder, instruction, operand_index + 1)?),
    };
    let source_scalars = decoder.scalars_of(operand_id(instruction, operand_index)?)?;
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("an exchange without a type"))?;
    let result_scalars = decoder.new_registers(result_type)?;
    if result_scalars.len() != source_scalars.len() {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    decoder.push_instruction(LaneInstruction::Exchange {
        way: lane_exchange,
        to: Arc::clone(&result_scalars),
        from: source_scalars,
        index,
    });
    decoder.define_result(instruction, DecodedValue::Scalars(result_scalars));
    Ok(())
}

fn quad_swap(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    // Horizontal, vertical, diagonal.
    match decoder.constants.scalar_word(operand_id(instruction, 2)?) {
        Some(direction @ 0..=2) => push_exchange(
            decoder,
            instruction,
            LaneExchange::QuadSwap(direction + 1),
            ScopeOperand::Yes,
        ),
        _ => Err(unsupported(
            "OpGroupNonUniformQuadSwap with a direction that is no constant up to 2",
        )),
    }
}

fn rotate_values(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let cluster_size = match instruction.id(3) {
        Some(_) => Some(cluster_size(decoder, instruction, 3)?),
        None => None,
    };
    push_exchange(decoder, instruction, LaneExchange::Rotate(cluster_size), ScopeOperand::Yes)
}

fn combine_numbers(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operator: Binary,
) -> Result<(), Unsupported> {
    check_subgroup_scope(decoder, instruction)?;
    let scan = scan_kind(decoder, instruction, 2)?;
    let NumberList { number_format, parts } = number_operand(decoder, instruction, 2)?;
    let rounding = decoder.float_treatment.rounding(number_format);
    let operation = Operation {
        rounding,
        ..Operation::new(SizedOperator::Binary(operator), number_format, number_format)
    };
    let identity = identity_element(operator, number_format).filter(|_| operation.exists());
    let identity =
        identity.ok_or_else(|| unsupported(format!("Op{:?} with this type", instruction.op)))?;
    let partition_ballots = partition_ballots(decoder, instruction, scan, 3)?;
    let mut results = Vec::with_capacity(parts.len());
    for source_number in parts {
        let result_number = decoder.new_number(number_format);
        let source_number = flushed_number(decoder, number_format, source_number);
        let mut source_scalars = word_scalars(&[source_number]);
        source_scalars.extend_from_slice(&partition_ballots);
        decoder.push_instruction(LaneInstruction::Group {
            op: GroupOperation::Combine(Combination { operation, identity }, scan),
            to: word_scalars(&[result_number]).into(),
            from: source_scalars.into(),
            index: None,
        });
        results.push(flushed_number(decoder, number_format, result_number));
    }
    define_numbers(decoder, instruction, &results);
    Ok(())
}

/// Booleans as the numbers 0 and 1.
fn combine_booleans(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operator: Binary,
) -> Result<(), Unsupported> {
    check_subgroup_scope(decoder, instruction)?;
    let scan = scan_kind(decoder, instruction, 2)?;
    combine_masks(decoder, instruction, operator, (scan, 2))
}

/// A vote of the active invocations of a quad, which is a cluster of four.
fn quad_vote(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operator: Binary,
) -> Result<(), Unsupported> {
    note_subgroup_operation(decoder);
    combine_masks(decoder, instruction, operator, (Scan::Clustered(4), 0))
}

/// The identity element: the first result of an exclusive scan (SPIR-V, "Group Operation").
fn identity_element(operator: Binary, number_format: NumberFormat) -> Option<u64> {
    let all_ones = u64::MAX >> (64 - number_format.width().bits());
    let is_integer = matches!(number_format, NumberFormat::Integer(_));
    Some(match operator {
        Binary::IAdd | Binary::BitwiseOr | Binary::BitwiseXor | Binary::UMax if is_integer => 0,
        Binary::IMul if is_integer => 1,
        Binary::UMin | Binary::BitwiseAnd if is_integer => all_ones,
        Binary::SMin if is_integer => all_ones >> 1,
        Binary::SMax if is_integer => (all_ones >> 1) + 1,
        Binary::FAdd if !is_integer => number_format.from_float(0.0),
        Binary::FMul if !is_integer => number_format.from_float(1.0),
        Binary::NMin if !is_integer => number_format.from_float(f64::INFINITY),
        Binary::NMax if !is_integer => number_format.from_float(f64::NEG_INFINITY),
        _ => return None,
    })
}
