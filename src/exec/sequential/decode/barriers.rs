//! Functions that hold barriers.

use crate::decode::ops;
use rspirv::spirv::Op;
use rustc_hash::FxHashSet;
use vkcert_spirv::module::{Id, Module};

/// Functions that reach an OpControlBarrier of the workgroup.
pub(crate) fn functions_with_barrier(module: &Module) -> FxHashSet<Id> {
    let mut with_barrier = FxHashSet::default();
    loop {
        let earlier_count = with_barrier.len();
        for function in &module.functions {
            let has_barrier =
                module.instructions_in(function.range).iter().any(
                    |instruction| match instruction.op {
                        Op::ControlBarrier => {
                            ops::synchronization::holds_workgroup(module, instruction)
                        }
                        Op::FunctionCall => {
                            instruction.id(0).is_some_and(|callee| with_barrier.contains(&callee))
                        }
                        _ => false,
                    },
                );
            if has_barrier {
                with_barrier.insert(function.id);
            }
        }
        if with_barrier.len() == earlier_count {
            return with_barrier;
        }
    }
}
