//! The barriers of workgroups that an entry point reaches.
//!
//! Knows: OpControlBarrier with another execution scope than Subgroup; a barrier's number counts
//! the instructions of that kind in the whole module, so that it is the same whichever functions
//! are reached.
//! Promises: module order.
//! Does not cover: whether invocations come to one alike (`uniformity`), and which memory their
//! semantics order (`memory_semantics`).

use super::calls::reachable_functions;
use super::constants::Constants;
use super::memory_semantics::{BarrierFences, BarrierReach, Fence};
use super::module::{Id, Instruction, Module};
use rspirv::spirv::{Op, Scope};
use std::collections::BTreeSet;
use vkcert_model::place::Place;

/// A barrier of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkgroupBarrier {
    /// Its number, from 0.
    pub number: u32,
    /// Where it stands in the source.
    pub place: Place,
}

/// Whether an instruction is a barrier at which a whole workgroup waits.
pub fn holds_workgroup(module: &Module, instruction: &Instruction) -> bool {
    let scope = instruction
        .id(0)
        .and_then(|scope| module.definition(scope))
        .and_then(|scope| scope.literal(0));
    instruction.op == Op::ControlBarrier && scope != Some(Scope::Subgroup as u32)
}

/// How many control barriers stand before an instruction: the number of the barrier that it is.
pub fn barrier_number(module: &Module, instruction_index: usize) -> u32 {
    let before = module.instructions[..instruction_index].iter();
    before.filter(|instruction| instruction.op == Op::ControlBarrier).count() as u32
}

/// The barriers that the function of an entry point reaches.
pub fn workgroup_barriers(module: &Module, entry_function: Id) -> Vec<WorkgroupBarrier> {
    let reachable_ids: BTreeSet<Id> =
        reachable_functions(module, entry_function).into_iter().collect();
    let functions = module.functions.iter().filter(|function| reachable_ids.contains(&function.id));
    let blocks = functions.flat_map(|function| &function.blocks);
    let instruction_indices = blocks.flat_map(|block| block.instruction_indices());
    let barrier_indices =
        instruction_indices.filter(|index| holds_workgroup(module, &module.instructions[*index]));
    barrier_indices
        .map(|index| WorkgroupBarrier {
            number: barrier_number(module, index),
            place: module.place_of(index),
        })
        .collect()
}

/// The OpMemoryBarriers that come first; debug lines do not count.
pub fn memory_barriers<'m>(
    instructions: impl Iterator<Item = &'m Instruction>,
) -> impl Iterator<Item = &'m Instruction> {
    let without_lines =
        instructions.filter(|instruction| !matches!(instruction.op, Op::Line | Op::NoLine));
    without_lines.take_while(|instruction| instruction.op == Op::MemoryBarrier)
}

/// What a control barrier orders for its participants, with the memory barriers directly beside it;
/// none where scope or semantics are no constants.
pub fn barrier_fences(
    module: &Module,
    constants: &Constants,
    barrier_index: usize,
) -> Option<BarrierFences> {
    let instructions = &module.instructions;
    let fence_at = |instruction: &Instruction, [scope, semantics]: [usize; 2]| {
        Some(Fence {
            scope: constants.scalar_word(instruction.id(scope)?)?,
            semantics: constants.scalar_word(instruction.id(semantics)?)?,
        })
    };
    let memory_fence = |instruction: &Instruction| fence_at(instruction, [0, 1]);
    let fences_before = memory_barriers(instructions[..barrier_index].iter().rev());
    let fences_after = memory_barriers(instructions[barrier_index + 1..].iter());
    let reach = match holds_workgroup(module, &instructions[barrier_index]) {
        true => BarrierReach::Workgroup,
        false => BarrierReach::Subgroup,
    };
    Some(BarrierFences::new(
        reach,
        fence_at(&instructions[barrier_index], [1, 2])?,
        fences_before.map(memory_fence).collect::<Option<Vec<_>>>()?,
        fences_after.map(memory_fence).collect::<Option<Vec<_>>>()?,
    ))
}

/// Whether some OpMemoryBarrier of a module stands beside no barrier of the workgroup.
pub fn has_standalone_fence(module: &Module) -> bool {
    let all_instructions = &module.instructions;
    let barriers = all_instructions
        .iter()
        .enumerate()
        .filter(|(_, instruction)| holds_workgroup(module, instruction));
    let beside_barriers = barriers.flat_map(|(position, _)| {
        memory_barriers(all_instructions[..position].iter().rev())
            .chain(memory_barriers(all_instructions[position + 1..].iter()))
            .map(|instruction| instruction.offset)
    });
    let beside_barriers: BTreeSet<u32> = beside_barriers.collect();
    all_instructions.iter().any(|instruction| {
        instruction.op == Op::MemoryBarrier && !beside_barriers.contains(&instruction.offset)
    })
}
