//! Subgroup operations (SPIR-V specification, "Non-Uniform Instructions"; SPV_KHR_shader_ballot,
//! SPV_KHR_subgroup_vote, SPV_KHR_subgroup_rotate, SPV_KHR_quad_control,
//! SPV_NV_shader_subgroup_partitioned).
//!
//! Knows: what each operation gives to every active invocation of one subgroup. Invocations are
//! numbered within their subgroup; a ballot is a number of 128 bits.
//! Promises: sums and products are taken in ascending order of the invocations, from the first
//! value on. What is undefined has the result that [`UndefinedGroupResult`] documents.
//! Does not cover: operations over scopes other than Subgroup.

use super::ballot::{
    ballot, bit_count, bit_extract, find, in_both, index, inverse_ballot, of_masks, to_mask,
};
use super::logic::AND;
use super::meaning::{Meaning, Row, row};
use super::number::{Numbers, define, flushed, operand};
use super::operand::id;
use super::subgroup_scope::{Scoped, cluster, first, partition_of, scan, scope, works_together};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::subgroup_operation::{Combination, GroupOperation, LaneExchange, Scan};
use crate::ir::{LaneInstruction, Reg, Scalar, word_scalars};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator};

/// Reads rows as `op => meaning`.
macro_rules! rows {
    ($($op:ident => $handler:expr),* $(,)?) => { &[$(row(Op::$op, Meaning::Special($handler))),*] };
}

pub(crate) const TABLE: &[Row] = rows! {
    GroupNonUniformElect => |decoder, instruction| {
        scope(decoder, instruction)?;
        to_mask(decoder, instruction, GroupOperation::Elect, Arc::new([]))
    },
    GroupNonUniformAll => |decoder, instruction| vote(decoder, instruction, GroupOperation::All, Scoped::Yes),
    GroupNonUniformAny => |decoder, instruction| vote(decoder, instruction, GroupOperation::Any, Scoped::Yes),
    GroupNonUniformAllEqual => |decoder, instruction| equal(decoder, instruction, Scoped::Yes),
    GroupNonUniformQuadAllKHR => |decoder, instruction| quad_vote(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformQuadAnyKHR => |decoder, instruction| quad_vote(decoder, instruction, Binary::BitwiseOr),
    SubgroupAllKHR => |decoder, instruction| vote(decoder, instruction, GroupOperation::All, Scoped::No),
    SubgroupAnyKHR => |decoder, instruction| vote(decoder, instruction, GroupOperation::Any, Scoped::No),
    SubgroupAllEqualKHR => |decoder, instruction| equal(decoder, instruction, Scoped::No),
    GroupNonUniformBroadcast => |decoder, instruction| exchange(decoder, instruction, LaneExchange::Broadcast, Scoped::Yes),
    SubgroupReadInvocationKHR => |decoder, instruction| exchange(decoder, instruction, LaneExchange::Broadcast, Scoped::No),
    GroupNonUniformBroadcastFirst => |decoder, instruction| exchange(decoder, instruction, LaneExchange::First, Scoped::Yes),
    SubgroupFirstInvocationKHR => |decoder, instruction| exchange(decoder, instruction, LaneExchange::First, Scoped::No),
    GroupNonUniformShuffle => |decoder, instruction| exchange(decoder, instruction, LaneExchange::Index, Scoped::Yes),
    GroupNonUniformShuffleXor => |decoder, instruction| exchange(decoder, instruction, LaneExchange::Xor, Scoped::Yes),
    GroupNonUniformShuffleUp => |decoder, instruction| exchange(decoder, instruction, LaneExchange::Up, Scoped::Yes),
    GroupNonUniformShuffleDown => |decoder, instruction| exchange(decoder, instruction, LaneExchange::Down, Scoped::Yes),
    GroupNonUniformQuadBroadcast => |decoder, instruction| exchange(decoder, instruction, LaneExchange::QuadBroadcast, Scoped::Yes),
    GroupNonUniformQuadSwap => quad_swap,
    GroupNonUniformRotateKHR => rotate,
    GroupNonUniformPartitionEXT => partition,
    GroupNonUniformBallot => |decoder, instruction| ballot(decoder, instruction, Scoped::Yes),
    SubgroupBallotKHR => |decoder, instruction| ballot(decoder, instruction, Scoped::No),
    GroupNonUniformInverseBallot => inverse_ballot,
    GroupNonUniformBallotBitExtract => bit_extract,
    GroupNonUniformBallotBitCount => bit_count,
    GroupNonUniformBallotFindLSB => |decoder, instruction| find(decoder, instruction, GroupOperation::FindLowest),
    GroupNonUniformBallotFindMSB => |decoder, instruction| find(decoder, instruction, GroupOperation::FindHighest),
    GroupNonUniformIAdd => |decoder, instruction| arithmetic(decoder, instruction, Binary::IAdd),
    GroupNonUniformFAdd => |decoder, instruction| arithmetic(decoder, instruction, Binary::FAdd),
    GroupNonUniformIMul => |decoder, instruction| arithmetic(decoder, instruction, Binary::IMul),
    GroupNonUniformFMul => |decoder, instruction| arithmetic(decoder, instruction, Binary::FMul),
    GroupNonUniformSMin => |decoder, instruction| arithmetic(decoder, instruction, Binary::SMin),
    GroupNonUniformUMin => |decoder, instruction| arithmetic(decoder, instruction, Binary::UMin),
    GroupNonUniformFMin => |decoder, instruction| arithmetic(decoder, instruction, Binary::NMin),
    GroupNonUniformSMax => |decoder, instruction| arithmetic(decoder, instruction, Binary::SMax),
    GroupNonUniformUMax => |decoder, instruction| arithmetic(decoder, instruction, Binary::UMax),
    GroupNonUniformFMax => |decoder, instruction| arithmetic(decoder, instruction, Binary::NMax),
    GroupNonUniformBitwiseAnd => |decoder, instruction| arithmetic(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformBitwiseOr => |decoder, instruction| arithmetic(decoder, instruction, Binary::BitwiseOr),
    GroupNonUniformBitwiseXor => |decoder, instruction| arithmetic(decoder, instruction, Binary::BitwiseXor),
    GroupNonUniformLogicalAnd => |decoder, instruction| logical(decoder, instruction, Binary::BitwiseAnd),
    GroupNonUniformLogicalOr => |decoder, instruction| logical(decoder, instruction, Binary::BitwiseOr),
    GroupNonUniformLogicalXor => |decoder, instruction| logical(decoder, instruction, Binary::BitwiseXor),
};

fn vote(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: GroupOperation,
    scoped: Scoped,
) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let from = decoder.scalars(id(instruction, at)?)?;
    to_mask(decoder, instruction, op, from)
}

/// All components must be equal.
fn equal(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scoped: Scoped,
) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let value = id(instruction, at)?;
    let ty = decoder.type_of(value)?;
    let (form, each): (_, Vec<Vec<Scalar>>) = match decoder.form(ty) {
        Some(form) => (
            Some(form),
            decoder.numbers(value)?.parts.iter().map(|one| word_scalars(&[*one])).collect(),
        ),
        None => {
            (None, decoder.masks(value)?.into_iter().map(|mask| vec![Scalar::Mask(mask)]).collect())
        }
    };
    let mut sum: Option<Reg> = None;
    for from in each {
        let to = decoder.mask();
        let (op, to_list) = (GroupOperation::AllEqual(form), Arc::new([Scalar::Mask(to)]));
        decoder.push(LaneInstruction::Group { op, to: to_list, from: from.into(), index: None });
        sum = Some(match sum {
            None => to,
            Some(sum) => {
                let both = decoder.mask();
                decoder.push(LaneInstruction::Logic { table: AND, to: both, a: sum, b: to });
                both
            }
        });
    }
    let sum = sum.ok_or_else(|| unsupported("a vote on no components"))?;
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(sum)])));
    Ok(())
}

/// Invocations with the same value: of a vector, with the same of each component.
fn partition(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    works_together(decoder);
    let value = decoder.scalars(id(instruction, 0)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("a partition without a type"))?;
    let mut sum: Option<Arc<[Scalar]>> = None;
    for from in value.iter() {
        let to = decoder.fresh(ty)?;
        if to.len() != 4 {
            return Err(unsupported("a partition that is no vector of four numbers of 32 bits"));
        }
        decoder.push(LaneInstruction::Group {
            op: GroupOperation::Partition,
            to: to.clone(),
            from: Arc::new([*from]),
            index: None,
        });
        sum = Some(match sum {
            None => to,
            Some(sum) => in_both(decoder, &sum, &to)?,
        });
    }
    let sum = sum.ok_or_else(|| unsupported("a partition by no value"))?;
    decoder.define(instruction, Value::Scalars(sum));
    Ok(())
}

fn exchange(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    way: LaneExchange,
    scoped: Scoped,
) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let index = match way {
        LaneExchange::First | LaneExchange::QuadSwap(_) => None,
        LaneExchange::Index
        | LaneExchange::Xor
        | LaneExchange::Up
        | LaneExchange::Down
        | LaneExchange::Broadcast
        | LaneExchange::QuadBroadcast
        | LaneExchange::Rotate(_) => Some(index(decoder, instruction, at + 1)?),
    };
    let from = decoder.scalars(id(instruction, at)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("an exchange without a type"))?;
    let to = decoder.fresh(ty)?;
    if to.len() != from.len() {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    decoder.push(LaneInstruction::Exchange { way, to: to.clone(), from, index });
    decoder.define(instruction, Value::Scalars(to));
    Ok(())
}

fn quad_swap(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    // Horizontal, vertical, diagonal.
    match decoder.constants.scalar_word(id(instruction, 2)?) {
        Some(direction @ 0..=2) => {
            exchange(decoder, instruction, LaneExchange::QuadSwap(direction + 1), Scoped::Yes)
        }
        _ => Err(unsupported(
            "OpGroupNonUniformQuadSwap with a direction that is no constant up to 2",
        )),
    }
}

fn rotate(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let cluster = match instruction.id(3) {
        Some(_) => Some(cluster(decoder, instruction, 3)?),
        None => None,
    };
    exchange(decoder, instruction, LaneExchange::Rotate(cluster), Scoped::Yes)
}

fn arithmetic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Binary,
) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let scan = scan(decoder, instruction, 2)?;
    let Numbers { form, parts } = operand(decoder, instruction, 2)?;
    let rounding = decoder.floats.rounding(form);
    let operation = Operation { rounding, ..Operation::new(SizedOperator::Binary(op), form, form) };
    let identity = identity(op, form).filter(|_| operation.exists());
    let identity =
        identity.ok_or_else(|| unsupported(format!("Op{:?} with this type", instruction.op)))?;
    let sets = partition_of(decoder, instruction, scan, 3)?;
    let mut results = Vec::with_capacity(parts.len());
    for from in parts {
        let to = decoder.parts(form);
        let op = GroupOperation::Combine(Combination { operation, identity }, scan);
        let from = flushed(decoder, form, from);
        let (to_list, from) =
            (word_scalars(&[to]).into(), [word_scalars(&[from]), sets.clone()].concat().into());
        decoder.push(LaneInstruction::Group { op, to: to_list, from, index: None });
        results.push(flushed(decoder, form, to));
    }
    define(decoder, instruction, &results);
    Ok(())
}

/// Booleans as the numbers 0 and 1.
fn logical(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Binary,
) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let scan = scan(decoder, instruction, 2)?;
    of_masks(decoder, instruction, op, (scan, 2))
}

/// A vote of the active invocations of a quad, which is a cluster of four.
fn quad_vote(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Binary,
) -> Result<(), Unsupported> {
    works_together(decoder);
    of_masks(decoder, instruction, op, (Scan::Clustered(4), 0))
}

/// What changes nothing: the first result of an exclusive scan (SPIR-V, "Group Operation").
fn identity(op: Binary, form: NumberFormat) -> Option<u64> {
    let ones = u64::MAX >> (64 - form.width().bits());
    let integer = matches!(form, NumberFormat::Integer(_));
    Some(match op {
        Binary::IAdd | Binary::BitwiseOr | Binary::BitwiseXor | Binary::UMax if integer => 0,
        Binary::IMul if integer => 1,
        Binary::UMin | Binary::BitwiseAnd if integer => ones,
        Binary::SMin if integer => ones >> 1,
        Binary::SMax if integer => (ones >> 1) + 1,
        Binary::FAdd if !integer => form.from_float(0.0),
        Binary::FMul if !integer => form.from_float(1.0),
        Binary::NMin if !integer => form.from_float(f64::INFINITY),
        Binary::NMax if !integer => form.from_float(f64::NEG_INFINITY),
        _ => return None,
    })
}
