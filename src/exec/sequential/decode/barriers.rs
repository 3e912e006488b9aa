//! Functions that hold barriers.

use crate::decode::ops;
use rspirv::spirv::Op;
use std::collections::HashSet;
use vkcert_spirv::module::{Id, Module};

/// Functions that reach an OpControlBarrier of the workgroup.
pub(crate) fn functions_with_barrier(module: &Module) -> HashSet<Id> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for function in &module.functions {
            let has =
                module.instructions_in(function.range).iter().any(
                    |instruction| match instruction.op {
                        Op::ControlBarrier => {
                            ops::synchronization::holds_workgroup(module, instruction)
                        }
                        Op::FunctionCall => {
                            instruction.id(0).is_some_and(|callee| found.contains(&callee))
                        }
                        _ => false,
                    },
                );
            if has {
                found.insert(function.id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
