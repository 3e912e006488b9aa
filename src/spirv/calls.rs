//! The call graph of a module.
//!
//! Knows: OpFunctionCall between the functions of one module. SPIR-V forbids recursion for shaders
//! (SPIR-V specification, "Universal Validation Rules": the static call graph from an entry point
//! has no cycles).
//! Promises: orders depend on the module alone.
//! Does not cover: function pointers, which shaders lack.

use super::module::{Function, Id, Instruction, Module};
use rspirv::spirv::Op;
use std::collections::BTreeSet;

/// Functions that `root` reaches, itself first, then callees in order of first call, depth first.
pub fn reachable_functions(module: &Module, root: Id) -> Vec<Id> {
    let mut call_order = Vec::new();
    let mut visited_ids = BTreeSet::new();
    let mut pending_ids = vec![root];
    while let Some(id) = pending_ids.pop() {
        let Some(function) = module.function_by_id(id) else { continue };
        if visited_ids.insert(id) {
            call_order.push(id);
            let callees: Vec<Id> =
                calls_in_function(module, function).filter_map(|(_, call)| call.id(0)).collect();
            pending_ids.extend(callees.into_iter().rev());
        }
    }
    call_order
}

/// The calls in a function, with their index in the instruction list.
pub fn calls_in_function<'a>(
    module: &'a Module,
    function: &Function,
) -> impl Iterator<Item = (usize, &'a Instruction)> {
    let instructions =
        function.instruction_indices().map(|index| (index, &module.instructions[index]));
    instructions.filter(|(_, instruction)| instruction.op == Op::FunctionCall)
}
