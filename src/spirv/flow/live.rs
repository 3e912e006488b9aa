//! What control can come to from an entry point.
//!
//! Knows: branches and switches whose condition depends on constants alone, under one
//! specialization.
//! Promises: what is left out is executed under no input. Does not cover: what follows from values
//! that are not constant.

use crate::cfg::{ControlFlowGraph, branch_targets, switch_targets};
use crate::fold::ConstantFolding;
use crate::module::{Function, Id, Instruction, Module};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A block: the id of its function, and its index there.
pub(crate) type BlockOf = (Id, usize);

/// The blocks that control can come to, with what connects functions.
pub(crate) struct LiveCode<'a> {
    module: &'a Module,
    functions: BTreeMap<Id, LiveFunction>,
    /// Indexes of the calls of a function.
    calls: HashMap<Id, Vec<usize>>,
    /// Indexes of the instructions that return from a function.
    returns: HashMap<Id, Vec<usize>>,
}

struct LiveFunction {
    blocks: BTreeSet<usize>,
    /// Per block, those whose branch decides whether it is executed.
    dependences: Vec<BTreeSet<usize>>,
}

impl<'a> LiveCode<'a> {
    pub(crate) fn from_entry_point(folding: &ConstantFolding<'a>, entry_function: Id) -> Self {
        let module = folding.module;
        let mut live = Self {
            module,
            functions: BTreeMap::new(),
            calls: HashMap::new(),
            returns: HashMap::new(),
        };
        let mut pending_ids = vec![entry_function];
        while let Some(id) = pending_ids.pop() {
            let Some(function) =
                module.function_by_id(id).filter(|_| !live.functions.contains_key(&id))
            else {
                continue;
            };
            let reached_blocks = live_blocks(folding, function);
            for index in reached_blocks
                .iter()
                .flat_map(|block| function.blocks[*block].instruction_indices())
            {
                let instruction = &module.instructions[index];
                match instruction.op {
                    Op::FunctionCall => {
                        if let Some(callee) = instruction.id(0) {
                            live.calls.entry(callee).or_default().push(index);
                            pending_ids.push(callee);
                        }
                    }
                    Op::ReturnValue => live.returns.entry(id).or_default().push(index),
                    _ => {}
                }
            }
            let dependences = ControlFlowGraph::of_function(module, function).control_dependences();
            live.functions.insert(id, LiveFunction { blocks: reached_blocks, dependences });
        }
        live
    }

    /// Indexes of all instructions that control can come to.
    pub(crate) fn live_instructions(&self) -> impl Iterator<Item = usize> + '_ {
        self.functions.iter().flat_map(|(function_id, live)| {
            let function = self.module.function_by_id(*function_id);
            let blocks = function.into_iter().flat_map(|function| {
                live.blocks.iter().map(|block_index| &function.blocks[*block_index])
            });
            blocks.flat_map(|block| block.instruction_indices())
        })
    }

    /// The functions that control can come to, with the indexes of their blocks that it can.
    pub(crate) fn live_functions(&self) -> impl Iterator<Item = (&'a Function, &BTreeSet<usize>)> {
        self.functions.iter().filter_map(|(function_id, live)| {
            Some((self.module.function_by_id(*function_id)?, &live.blocks))
        })
    }

    pub(crate) fn calls_of(&self, function_id: Id) -> &[usize] {
        self.calls.get(&function_id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn returns_of(&self, function_id: Id) -> &[usize] {
        self.returns.get(&function_id).map_or(&[], Vec::as_slice)
    }

    /// The block that holds instruction `index`.
    pub(crate) fn block_of(&self, instruction_index: usize) -> Option<BlockOf> {
        let function = self.module.function_at(instruction_index)?;
        let block_index =
            function.blocks.partition_point(|block| block.range.end <= instruction_index);
        function
            .blocks
            .get(block_index)
            .filter(|block| block.range.contains(instruction_index))
            .map(|_| (function.id, block_index))
    }

    /// The block of a function with this label.
    pub(crate) fn block_labelled(&self, function_id: Id, block_label: Id) -> Option<BlockOf> {
        let index = self.module.definition_index(block_label)?;
        self.block_of(index).filter(|(function_of_block, _)| *function_of_block == function_id)
    }

    /// Blocks whose branch decides whether a block is executed.
    pub(crate) fn deciding_blocks(
        &self,
        (function, block): BlockOf,
    ) -> impl Iterator<Item = BlockOf> + '_ {
        let dependences =
            self.functions.get(&function).and_then(|live| live.dependences.get(block));
        dependences.into_iter().flatten().map(move |deciding_block| (function, *deciding_block))
    }

    /// What the end of a block branches on.
    pub(crate) fn branch_condition(&self, block: BlockOf) -> Option<Id> {
        self.module.instructions[self.branch_index(block)?].id(0)
    }

    /// The index of the branch or switch at the end of a block.
    pub(super) fn branch_index(&self, (function, block): BlockOf) -> Option<usize> {
        let range = &self.module.function_by_id(function)?.blocks.get(block)?.range;
        let is_branch = |index: &usize| {
            matches!(self.module.instructions[*index].op, Op::BranchConditional | Op::Switch)
        };
        Some(range.end - 1).filter(is_branch)
    }
}

/// Indexes of the blocks of a function that control can come to.
fn live_blocks(folding: &ConstantFolding, function: &Function) -> BTreeSet<usize> {
    let labels: HashMap<Id, usize> =
        function.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
    let (mut reached_blocks, mut pending_blocks) = (BTreeSet::new(), vec![0]);
    while let Some(block) = pending_blocks.pop() {
        if block < function.blocks.len() && reached_blocks.insert(block) {
            let terminator = &folding.module.instructions[function.blocks[block].range.end - 1];
            pending_blocks.extend(
                possible_targets(folding, terminator).iter().filter_map(|label| labels.get(label)),
            );
        }
    }
    reached_blocks
}

/// The labels that a terminator can go to.
pub(crate) fn possible_targets(folding: &ConstantFolding, terminator: &Instruction) -> Vec<Id> {
    let all_targets = branch_targets(terminator);
    let only_target = match terminator.op {
        Op::BranchConditional => {
            let condition =
                terminator.id(0).and_then(|condition| folding.constant_boolean(condition));
            condition.and_then(|value| all_targets.get(usize::from(!value)).copied())
        }
        Op::Switch => terminator
            .id(0)
            .and_then(|selector| folding.constant_scalar(selector))
            .and_then(|selector| {
                let cases = switch_targets(terminator);
                let case =
                    cases.iter().find(|(value, _)| *value == Some(selector)).or(cases.first());
                case.map(|(_, target)| *target)
            }),
        _ => None,
    };
    only_target.map_or(all_targets, |label| vec![label])
}
