//! Copying the functions of a module with changes.

use super::super::module::{Function, Instruction, Module};
use super::draft::ModuleDraft;
use std::collections::BTreeMap;

/// What becomes of the functions of a module while they are copied into a draft.
pub trait Rewrite {
    /// Whether a function is copied at all.
    fn keeps_function(&self, _function: &Function) -> bool {
        true
    }

    /// Writes what stands for the instruction with an index in the module's list.
    fn rewrite_instruction(
        &mut self,
        draft: &mut ModuleDraft,
        index: usize,
        original: &Instruction,
    );
}

/// Changes that are known beforehand, by the index of the instruction that they concern.
#[derive(Debug, Default)]
pub struct InstructionEdits {
    before: BTreeMap<usize, Vec<Instruction>>,
    replaced: BTreeMap<usize, Instruction>,
}

impl InstructionEdits {
    /// Puts instructions before the instruction with an index, behind those that are there already.
    pub fn insert_before(
        &mut self,
        instruction_index: usize,
        new_instructions: impl IntoIterator<Item = Instruction>,
    ) {
        self.before.entry(instruction_index).or_default().extend(new_instructions);
    }

    /// Puts an instruction before the instruction with an index and before all that is there
    /// already.
    pub fn insert_first(&mut self, instruction_index: usize, new_instruction: Instruction) {
        self.before.entry(instruction_index).or_default().insert(0, new_instruction);
    }

    /// Puts `new` in the place of the instruction with an index.
    pub fn replace(&mut self, instruction_index: usize, new_instruction: Instruction) {
        self.replaced.insert(instruction_index, new_instruction);
    }
}

impl Rewrite for InstructionEdits {
    fn rewrite_instruction(
        &mut self,
        draft: &mut ModuleDraft,
        index: usize,
        original: &Instruction,
    ) {
        draft.functions.extend(self.before.remove(&index).into_iter().flatten());
        draft.functions.push(self.replaced.remove(&index).unwrap_or_else(|| original.clone()));
    }
}

impl ModuleDraft {
    /// Copies the functions of `module` through `rewrite`, and the debug lines between them as they
    /// are.
    pub fn copy_functions(&mut self, module: &Module, rewrite: &mut impl Rewrite) {
        let all_instructions = &module.instructions;
        let mut next_index = module
            .functions
            .first()
            .map_or(all_instructions.len(), |function| function.range.start);
        for function in &module.functions {
            self.functions.extend_from_slice(&all_instructions[next_index..function.range.start]);
            next_index = function.range.end;
            if rewrite.keeps_function(function) {
                for index in function.instruction_indices() {
                    rewrite.rewrite_instruction(self, index, &all_instructions[index]);
                }
            }
        }
        self.functions.extend_from_slice(&all_instructions[next_index..]);
    }
}
