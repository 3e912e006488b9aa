//! Copying the functions of a module with changes.

use super::super::module::{Function, Instruction, Module};
use super::draft::Draft;
use std::collections::BTreeMap;

/// What becomes of the functions of a module while they are copied into a draft.
pub trait Rewrite {
    /// Whether a function is copied at all.
    fn keeps(&self, _function: &Function) -> bool {
        true
    }

    /// Writes what stands for the instruction with an index in the module's list.
    fn instruction(&mut self, draft: &mut Draft, index: usize, original: &Instruction);
}

/// Changes that are known beforehand, by the index of the instruction that they concern.
#[derive(Debug, Default)]
pub struct Edits {
    before: BTreeMap<usize, Vec<Instruction>>,
    replaced: BTreeMap<usize, Instruction>,
}

impl Edits {
    /// Puts instructions before the instruction with an index, behind those that are there already.
    pub fn insert_before(&mut self, index: usize, new: impl IntoIterator<Item = Instruction>) {
        self.before.entry(index).or_default().extend(new);
    }

    /// Puts an instruction before the instruction with an index and before all that is there
    /// already.
    pub fn insert_first(&mut self, index: usize, new: Instruction) {
        self.before.entry(index).or_default().insert(0, new);
    }

    /// Puts `new` in the place of the instruction with an index.
    pub fn replace(&mut self, index: usize, new: Instruction) {
        self.replaced.insert(index, new);
    }
}

impl Rewrite for Edits {
    fn instruction(&mut self, draft: &mut Draft, index: usize, original: &Instruction) {
        draft.functions.extend(self.before.remove(&index).into_iter().flatten());
        draft.functions.push(self.replaced.remove(&index).unwrap_or_else(|| original.clone()));
    }
}

impl Draft {
    /// Copies the functions of `module` through `rewrite`, and the debug lines between them as they
    /// are.
    pub fn copy_functions(&mut self, module: &Module, rewrite: &mut impl Rewrite) {
        let all = &module.instructions;
        let mut next = module.functions.first().map_or(all.len(), |function| function.range.start);
        for function in &module.functions {
            self.functions.extend_from_slice(&all[next..function.range.start]);
            next = function.range.end;
            if rewrite.keeps(function) {
                for index in function.range.clone() {
                    rewrite.instruction(self, index, &all[index]);
                }
            }
        }
        self.functions.extend_from_slice(&all[next..]);
    }
}
