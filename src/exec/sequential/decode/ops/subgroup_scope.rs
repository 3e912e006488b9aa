//! Which lanes a subgroup instruction is about: its scope, clusters, partitions.

use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::memory_semantics::SUBGROUP_SCOPE;
use crate::ir::subgroup_operation::{PartitionRange, Scan};
use crate::ir::{Scalar, SubgroupUse};
use rspirv::dr::Operand;
use rspirv::spirv::GroupOperation;
use vkcert_spirv::module::Instruction;

/// Whether an instruction names its scope, as the older ones do not; operands follow.
#[derive(Clone, Copy)]
pub(super) enum Scoped {
    Yes,
    No,
}

/// Checks the scope in operand 0, notes that invocations work together.
pub(super) fn scope(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    if decoder.constants.scalar_word(id(instruction, 0)?) != Some(SUBGROUP_SCOPE) {
        return Err(unsupported(format!(
            "Op{:?} with a scope other than Subgroup",
            instruction.op
        )));
    }
    works_together(decoder);
    Ok(())
}

pub(super) fn works_together(decoder: &mut Decoder<'_>) {
    decoder.program.subgroups = decoder.program.subgroups.max(SubgroupUse::Operations);
}

/// The position of the first operand behind the scope.
pub(super) fn first(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scoped: Scoped,
) -> Result<usize, Unsupported> {
    match scoped {
        Scoped::Yes => {
            scope(decoder, instruction)?;
            Ok(1)
        }
        Scoped::No => {
            works_together(decoder);
            Ok(0)
        }
    }
}

pub(super) fn cluster(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    at: usize,
) -> Result<u32, Unsupported> {
    let size =
        decoder.constants.scalar_word(id(instruction, at)?).filter(|size| size.is_power_of_two());
    size.ok_or_else(|| {
        unsupported(format!(
            "Op{:?} with a cluster size that is no constant power of two",
            instruction.op
        ))
    })
}

/// The group operation in operand 1; the value stands at `value`.
pub(super) fn scan(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    value: usize,
) -> Result<Scan, Unsupported> {
    match instruction.operands.get(1) {
        Some(Operand::GroupOperation(GroupOperation::Reduce)) => Ok(Scan::Reduce),
        Some(Operand::GroupOperation(GroupOperation::InclusiveScan)) => Ok(Scan::Inclusive),
        Some(Operand::GroupOperation(GroupOperation::ExclusiveScan)) => Ok(Scan::Exclusive),
        Some(Operand::GroupOperation(GroupOperation::ClusteredReduce)) => {
            cluster(decoder, instruction, value + 1).map(Scan::Clustered)
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
pub(super) fn partition_of(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    scan: Scan,
    at: usize,
) -> Result<Vec<Scalar>, Unsupported> {
    match scan {
        Scan::Partitioned(_) => match decoder.scalars(id(instruction, at)?)? {
            ballot if ballot.len() == 4 => Ok(ballot.to_vec()),
            _ => Err(unsupported("a ballot that is no vector of four numbers of 32 bits")),
        },
        Scan::Reduce | Scan::Inclusive | Scan::Exclusive | Scan::Clustered(_) => Ok(Vec::new()),
    }
}
