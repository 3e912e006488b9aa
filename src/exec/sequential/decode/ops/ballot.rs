//! Ballots: which lanes of a subgroup say yes, as words and as masks.

use super::number::{compute2, define};
use super::operand::id;
use super::subgroup_scope::{Scoped, first, partition_of, scan, scope};
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Value;
use crate::ir::subgroup_operation::{Combination, GroupOperation, Scan};
use crate::ir::{LaneInstruction, NumberRegisters, Reg, Scalar};
use std::sync::Arc;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::operator::Binary;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, SizedOperator, Width};

/// An operation from some scalars to one Boolean.
pub(super) fn to_mask(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: GroupOperation,
    from: Arc<[Scalar]>,
) -> Result<(), Unsupported> {
    let to = decoder.mask();
    decoder.push(LaneInstruction::Group {
        op,
        to: Arc::new([Scalar::Mask(to)]),
        from,
        index: None,
    });
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(to)])));
    Ok(())
}

/// An operation on a ballot to a number of 32 bits.
pub(super) fn from_ballot(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: GroupOperation,
    at: usize,
) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let from = decoder.scalars(id(instruction, at)?)?;
    let form = decoder.result_form(instruction)?;
    if !form.is_word() {
        return Err(unsupported(format!(
            "Op{:?} with a result that has not 32 bits",
            instruction.op
        )));
    }
    let to = decoder.word();
    decoder.push(LaneInstruction::Group {
        op,
        to: Arc::new([Scalar::Word(to)]),
        from,
        index: None,
    });
    define(decoder, instruction, &[to.into()]);
    Ok(())
}

pub(super) fn ballot(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scoped: Scoped,
) -> Result<(), Unsupported> {
    let at = first(decoder, instruction, scoped)?;
    let from = decoder.scalars(id(instruction, at)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("a ballot without a type"))?;
    let to = decoder.fresh(ty)?;
    if to.len() != 4 {
        return Err(unsupported("a ballot that is no vector of four numbers of 32 bits"));
    }
    decoder.push(LaneInstruction::Group {
        op: GroupOperation::Ballot,
        to: to.clone(),
        from,
        index: None,
    });
    decoder.define(instruction, Value::Scalars(to));
    Ok(())
}

pub(super) fn in_both(
    decoder: &mut Decoder<'_>,
    one: &[Scalar],
    two: &[Scalar],
) -> Result<Arc<[Scalar]>, Unsupported> {
    let mut both = Vec::new();
    for pair in one.iter().zip(two) {
        let (Scalar::Word(a), Scalar::Word(b)) = pair else {
            return Err(unsupported("a ballot of Booleans"));
        };
        let and =
            compute2(decoder, Binary::BitwiseAnd, NumberFormat::WORD, (*a).into(), (*b).into())?;
        both.push(Scalar::Word(and.low));
    }
    Ok(both.into())
}

pub(super) fn inverse_ballot(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let from = decoder.scalars(id(instruction, 1)?)?;
    to_mask(decoder, instruction, GroupOperation::InverseBallot, from)
}

pub(super) fn bit_extract(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    scope(decoder, instruction)?;
    let from = decoder.scalars(id(instruction, 1)?)?;
    let index = Some(index(decoder, instruction, 2)?);
    let to = decoder.mask();
    decoder.push(LaneInstruction::Group {
        op: GroupOperation::BitExtract,
        to: Arc::new([Scalar::Mask(to)]),
        from,
        index,
    });
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(to)])));
    Ok(())
}

pub(super) fn bit_count(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let scan = scan(decoder, instruction, 2)?;
    from_ballot(decoder, instruction, GroupOperation::BitCount(scan), 2)
}

pub(super) fn find(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: GroupOperation,
) -> Result<(), Unsupported> {
    from_ballot(decoder, instruction, op, 1)
}

/// An index operand: unsigned, as a word.
pub(super) fn index(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    at: usize,
) -> Result<Reg, Unsupported> {
    match decoder.number(id(instruction, at)?)? {
        (NumberFormat::Integer(_), NumberRegisters { low, high: None }) => Ok(low),
        _ => Err(unsupported(format!("Op{:?} with an index of 64 bits", instruction.op))),
    }
}

/// The Booleans of an operand, combined.
pub(super) fn of_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Binary,
    (scan, at): (Scan, usize),
) -> Result<(), Unsupported> {
    let form = NumberFormat::Integer(Width::W8);
    let operation = Operation::new(SizedOperator::Binary(op), form, form);
    let combination = Combination { operation, identity: u64::from(op == Binary::BitwiseAnd) };
    let sets = partition_of(decoder, instruction, scan, at + 1)?;
    let mut results = Vec::new();
    for from in decoder.masks(id(instruction, at)?)? {
        let to = Scalar::Mask(decoder.mask());
        let op = GroupOperation::Combine(combination, scan);
        let from = [vec![Scalar::Mask(from)], sets.clone()].concat();
        decoder.push(LaneInstruction::Group {
            op,
            to: Arc::new([to]),
            from: from.into(),
            index: None,
        });
        results.push(to);
    }
    decoder.define(instruction, Value::Scalars(results.into()));
    Ok(())
}
