//! Which branches choose the value that a variable, a phi or a call comes to.
//!
//! Knows: where a value is stored, returned or handed to a phi, and which branches decide whether
//! control comes there.
//! Promises: every branch that decides which of several values it is; branches around the use of
//! the value choose nothing for it, because they decide whether it is used.
//! Does not cover: what the branches depend on.

use super::DependenceSearch;
use crate::flow::live::BlockOf;
use crate::module::Id;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::collections::BTreeSet;

impl DependenceSearch<'_> {
    /// The branches that decide whether instructions which store to a variable are executed: those
    /// of their function alone, if the variable is of it.
    pub(super) fn choices_of_contents(&self, variable: Id, store_index: usize) -> BTreeSet<usize> {
        let is_local = self.analysis.storage_class(variable) == Some(StorageClass::Function)
            && self.function_of(variable) == self.function_at(store_index);
        match is_local {
            true => self.branches_at(store_index),
            false => self.deciding_branches(store_index),
        }
    }

    /// The branches that decide which value a phi has, or which of its returns a call comes to.
    pub(super) fn choices_of_value(&self, value_id: Id) -> BTreeSet<usize> {
        let module = self.analysis.module;
        let Some(index) = module.definition_index(value_id) else { return BTreeSet::new() };
        let live = &self.analysis.pointers.live;
        let instruction = &module.instructions[index];
        match instruction.op {
            Op::Phi => {
                let function = self.function_at(index);
                let labels = instruction.operands.iter().skip(1).step_by(2);
                let sources = labels.filter_map(Operand::id_ref_any);
                let sources = sources.filter_map(|label| live.block_labelled(function?, label));
                sources.flat_map(|source| self.branches_into_phi(source)).collect()
            }
            Op::FunctionCall => {
                let callee = instruction.id(0);
                let returns = callee.map_or(&[][..], |callee| live.returns_of(callee));
                returns.iter().flat_map(|index| self.branches_at(*index)).collect()
            }
            _ => BTreeSet::new(),
        }
    }

    /// `choices` without the branches around an instruction, near and far.
    pub(super) fn without_enclosing(
        &self,
        mut choices: BTreeSet<usize>,
        index: usize,
    ) -> BTreeSet<usize> {
        let live = &self.analysis.pointers.live;
        let mut visited_blocks: BTreeSet<BlockOf> = BTreeSet::new();
        let mut pending_blocks: Vec<BlockOf> = live.block_of(index).into_iter().collect();
        while let Some(block) = pending_blocks.pop() {
            if choices.is_empty() || !visited_blocks.insert(block) {
                continue;
            }
            for decider in live.deciding_blocks(block) {
                live.branch_index(decider).map(|branch| choices.remove(&branch));
                pending_blocks.push(decider);
            }
            let calls = live.calls_of(block.0).iter();
            pending_blocks.extend(calls.filter_map(|call| live.block_of(*call)));
        }
        choices
    }

    /// The branch at the end of a block that leads to a phi, and those around the block.
    fn branches_into_phi(&self, source: BlockOf) -> BTreeSet<usize> {
        let live = &self.analysis.pointers.live;
        let around = live.deciding_blocks(source).filter_map(|block| live.branch_index(block));
        around.chain(live.branch_index(source)).collect()
    }

    /// The branches right around an instruction in its function.
    fn branches_at(&self, index: usize) -> BTreeSet<usize> {
        let live = &self.analysis.pointers.live;
        let deciders = live.block_of(index).into_iter();
        let deciders = deciders.flat_map(|block| live.deciding_blocks(block));
        deciders.filter_map(|block| live.branch_index(block)).collect()
    }

    fn function_of(&self, variable: Id) -> Option<Id> {
        self.function_at(self.analysis.module.definition_index(variable)?)
    }

    fn function_at(&self, index: usize) -> Option<Id> {
        self.analysis.module.function_at(index).map(|function| function.id)
    }
}
