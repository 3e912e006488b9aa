//! Operands that select invocations of a subgroup instruction: scope, clusters, partitions.

use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::memory_semantics::SUBGROUP_SCOPE;
use crate::ir::subgroup_operation::{PartitionRange, Scan};
use crate::ir::{Scalar, SubgroupUse};
use rspirv::dr::Operand;
use rspirv::spirv::GroupOperation;
use vkcert_spirv::module::Instruction;

/// Whether an instruction has a scope operand; the instructions of the older extensions have none.
#[derive(Clone, Copy)]
pub(super) enum ScopeOperand {
    Yes,
    No,
}

/// Checks the scope in operand 0 and notes that the program has subgroup operations.
pub(super) fn check_subgroup_scope(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    if decoder.constants.scalar_word(operand_id(instruction, 0)?) != Some(SUBGROUP_SCOPE) {
        return Err(unsupported(format!(
            "Op{:?} with a scope other than Subgroup",
            instruction.op
        )));
    }
    note_subgroup_operation(decoder);
    Ok(())
}

pub(super) fn note_subgroup_operation(decoder: &mut Decoder<'_>) {
    decoder.program.subgroups = decoder.program.subgroups.max(SubgroupUse::Operations);
}

/// The position of the first operand behind the scope.
pub(super) fn first_operand_index(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scoped: ScopeOperand,
) -> Result<usize, Unsupported> {
    match scoped {
        ScopeOperand::Yes => {
            check_subgroup_scope(decoder, instruction)?;
            Ok(1)
        }
        ScopeOperand::No => {
            note_subgroup_operation(decoder);
            Ok(0)
        }
    }
}

pub(super) fn cluster_size(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operand_index: usize,
) -> Result<u32, Unsupported> {
    let cluster_size = decoder
        .constants
        .scalar_word(operand_id(instruction, operand_index)?)
        .filter(|cluster_size| cluster_size.is_power_of_two());
    cluster_size.ok_or_else(|| {
        unsupported(format!(
            "Op{:?} with a cluster size that is no constant power of two",
            instruction.op
        ))
    })
}

/// The group operation in operand 1; the value stands at `value`.
pub(super) fn scan_kind(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    value_index: usize,
) -> Result<Scan, Unsupported> {
    match instruction.operands.get(1) {
        Some(Operand::GroupOperation(GroupOperation::Reduce)) => Ok(Scan::Reduce),
        Some(Operand::GroupOperation(GroupOperation::InclusiveScan)) => Ok(Scan::Inclusive),
        Some(Operand::GroupOperation(GroupOperation::ExclusiveScan)) => Ok(Scan::Exclusive),
        Some(Operand::GroupOperation(GroupOperation::ClusteredReduce)) => {
            cluster_size(decoder, instruction, value_index + 1).map(Scan::Clustered)
        }
        Some(Operand::GroupOperation(GroupOperation::PartitionedReduceEXT)) => {
            Ok(Scan::Partitioned(PartitionRange::All))
        }
        Some(Operand::GroupOperation(GroupOperation::PartitionedInclusiveScanEXT)) => {
            Ok(Scan::Partitioned(PartitionRange::UpToOwn))
        }
        Some(Operand::GroupOperation(GroupOperation::PartitionedExclusiveScanEXT)) => {
            Ok(Scan::Partitioned(PartitionRange::BelowOwn))
        }
        _ => Err(unsupported(format!("Op{:?} without a group operation", instruction.op))),
    }
}

/// The ballots of a partition; none where there is none.
pub(super) fn partition_ballots(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scan: Scan,
    operand_index: usize,
) -> Result<Vec<Scalar>, Unsupported> {
    match scan {
        Scan::Partitioned(_) => {
            match decoder.scalars_of(operand_id(instruction, operand_index)?)? {
                ballot if ballot.len() == 4 => Ok(ballot.to_vec()),
                _ => Err(unsupported("a ballot that is no vector of four numbers of 32 bits")),
            }
        }
        Scan::Reduce | Scan::Inclusive | Scan::Exclusive | Scan::Clustered(_) => Ok(Vec::new()),
    }
}
