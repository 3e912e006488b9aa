//! Which variables and pointer parameters a kernel writes.
//!
//! Knows: instructions that write through pointers, calls that pass pointers on.
//! Promises: what is not listed is never written under its own name. Does not cover: what is
//! written where, and whether one memory has two names.

use super::UniformityAnalysis;
use crate::module::{Id, Instruction};
use crate::opcodes::is_atomic;
use rspirv::spirv::{Op, StorageClass};

impl UniformityAnalysis<'_> {
    /// What is written through a variable pointer may be any storage buffer.
    pub(super) fn find_pointed_buffers(&mut self) {
        let writes_variable_buffer = self.written.iter().any(|root| {
            self.storage_class(*root) == Some(StorageClass::StorageBuffer)
                && self.is_variable_pointer(*root)
        });
        if writes_variable_buffer {
            let globals = self
                .module
                .instructions
                .iter()
                .take_while(|instruction| instruction.op != Op::Function);
            let variables =
                globals.filter(is_variable).filter_map(|instruction| instruction.result);
            let buffers =
                variables.filter(|id| self.storage_class(*id) == Some(StorageClass::StorageBuffer));
            let buffers: Vec<Id> = buffers.collect();
            self.written.extend(buffers);
        }
    }

    /// Whether a root is a pointer that was chosen at run time.
    pub(super) fn is_variable_pointer(&self, root: Id) -> bool {
        self.module.definition(root).is_some_and(|definition| !is_fixed_root(definition.op))
    }

    /// Variables and pointer parameters that are written, parameters carried over to what is passed
    /// for them.
    pub(super) fn find_written(&mut self) {
        loop {
            let count_before = self.written.len();
            for index in self.body_indices() {
                let instruction = &self.module.instructions[index];
                for pointer in written_pointers(instruction) {
                    self.written.extend(self.pointer_root(pointer));
                }
                for (parameter, argument) in self.passed_arguments(instruction) {
                    if self.written.contains(&parameter) {
                        self.written.extend(self.pointer_root(argument));
                    }
                }
            }
            if self.written.len() == count_before {
                return;
            }
        }
    }

    /// Pairs of parameter and argument of a call.
    pub(super) fn passed_arguments(&self, call: &Instruction) -> Vec<(Id, Id)> {
        if call.op != Op::FunctionCall {
            return Vec::new();
        }
        let callee = call.id(0).and_then(|id| self.module.function_by_id(id));
        let parameters = callee.map_or(&[][..], |function| function.parameters.as_slice());
        parameters.iter().copied().zip(call.ids().skip(1)).collect()
    }

    /// The variable or parameter that a pointer leads into.
    pub(super) fn pointer_root(&self, pointer: Id) -> Option<Id> {
        let definition = self.module.definition(pointer)?;
        match definition.op {
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::CopyObject
            | Op::ImageTexelPointer => self.pointer_root(definition.id(0)?),
            Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR
            | Op::UntypedPtrAccessChainKHR
            | Op::UntypedInBoundsPtrAccessChainKHR => self.pointer_root(definition.id(1)?),
            _ => Some(pointer),
        }
    }
}

fn is_fixed_root(op: Op) -> bool {
    matches!(op, Op::Variable | Op::UntypedVariableKHR | Op::FunctionParameter)
}

fn is_variable(instruction: &&Instruction) -> bool {
    matches!(instruction.op, Op::Variable | Op::UntypedVariableKHR)
}

/// Pointers that an instruction writes through.
pub(super) fn written_pointers(instruction: &Instruction) -> Vec<Id> {
    let target = match instruction.op {
        Op::Store | Op::CopyMemory | Op::CopyMemorySized => instruction.id(0),
        Op::ImageWrite | Op::CooperativeMatrixStoreKHR => instruction.id(0),
        Op::AtomicLoad => None,
        op if is_atomic(op) => instruction.id(0),
        // Modf and Frexp write through their last operand; a pointer there is the only one an
        // extended instruction has.
        Op::ExtInst => instruction.ids().last(),
        _ => None,
    };
    target.into_iter().collect()
}
