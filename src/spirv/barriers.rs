//! The barriers of workgroups that an entry point reaches.
//!
//! Knows: OpControlBarrier with another execution scope than Subgroup; a barrier's number counts
//! the instructions of that kind in the whole module, so that it is the same whichever functions
//! are reached.
//! Promises: module order.
//! Does not cover: whether invocations come to one alike (`uniformity`).

use super::calls::reachable_functions;
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
