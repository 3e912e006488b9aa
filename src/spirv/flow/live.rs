//! What control can come to from an entry point.
//!
//! Knows: branches and switches whose condition depends on constants alone, under one
//! specialization.
//! Promises: what is left out is executed under no input. Does not cover: what follows from values
//! that are not constant.

use crate::cfg::{Graph, switch_targets, targets};
use crate::fold::Folding;
use crate::module::{Function, Id, Instruction, Module};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A block: the id of its function, and its index there.
pub(super) type BlockOf = (Id, usize);

/// The blocks that control can come to, with what connects functions.
pub(super) struct Live<'a> {
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

impl<'a> Live<'a> {
    pub(super) fn of(folding: &Folding<'a>, entry: Id) -> Self {
        let module = folding.module;
        let mut live = Self {
            module,
            functions: BTreeMap::new(),
            calls: HashMap::new(),
            returns: HashMap::new(),
        };
        let mut open = vec![entry];
        while let Some(id) = open.pop() {
            let Some(function) = module.function(id).filter(|_| !live.functions.contains_key(&id))
            else {
                continue;
            };
            let blocks = live_blocks(folding, function);
            for index in blocks.iter().flat_map(|block| function.blocks[*block].range.clone()) {
                let instruction = &module.instructions[index];
                match instruction.op {
                    Op::FunctionCall => {
                        if let Some(callee) = instruction.id(0) {
                            live.calls.entry(callee).or_default().push(index);
                            open.push(callee);
                        }
                    }
                    Op::ReturnValue => live.returns.entry(id).or_default().push(index),
                    _ => {}
                }
            }
            let dependences = Graph::of(module, function).control_dependences();
            live.functions.insert(id, LiveFunction { blocks, dependences });
        }
        live
    }

    /// Indexes of all instructions that control can come to.
    pub(super) fn instructions(&self) -> impl Iterator<Item = usize> + '_ {
        self.functions.iter().flat_map(|(id, live)| {
            let function = self.module.function(*id);
            let blocks = function
                .into_iter()
                .flat_map(|function| live.blocks.iter().map(|at| &function.blocks[*at]));
            blocks.flat_map(|block| block.range.clone())
        })
    }

    pub(super) fn calls(&self, function: Id) -> &[usize] {
        self.calls.get(&function).map_or(&[], Vec::as_slice)
    }

    pub(super) fn returns(&self, function: Id) -> &[usize] {
        self.returns.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The block that holds instruction `index`.
    pub(super) fn block_of(&self, index: usize) -> Option<BlockOf> {
        let function = self.module.function_at(index)?;
        let at = function.blocks.partition_point(|block| block.range.end <= index);
        function
            .blocks
            .get(at)
            .filter(|block| block.range.contains(&index))
            .map(|_| (function.id, at))
    }

    /// The block of a function with this label.
    pub(super) fn labelled(&self, function: Id, label: Id) -> Option<BlockOf> {
        let index = self.module.definition_index(label)?;
        self.block_of(index).filter(|(of, _)| *of == function)
    }

    /// Blocks whose branch decides whether a block is executed.
    pub(super) fn deciders(
        &self,
        (function, block): BlockOf,
    ) -> impl Iterator<Item = BlockOf> + '_ {
        let dependences =
            self.functions.get(&function).and_then(|live| live.dependences.get(block));
        dependences.into_iter().flatten().map(move |at| (function, *at))
    }

    /// What the end of a block branches on.
    pub(super) fn condition(&self, (function, block): BlockOf) -> Option<Id> {
        let range = &self.module.function(function)?.blocks.get(block)?.range;
        let end = &self.module.instructions[range.end - 1];
        matches!(end.op, Op::BranchConditional | Op::Switch).then(|| end.id(0)).flatten()
    }
}

/// Indexes of the blocks of a function that control can come to.
fn live_blocks(folding: &Folding, function: &Function) -> BTreeSet<usize> {
    let labels: HashMap<Id, usize> =
        function.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
    let (mut seen, mut open) = (BTreeSet::new(), vec![0]);
    while let Some(block) = open.pop() {
        if block < function.blocks.len() && seen.insert(block) {
            let end = &folding.module.instructions[function.blocks[block].range.end - 1];
            open.extend(
                possible_targets(folding, end).iter().filter_map(|label| labels.get(label)),
            );
        }
    }
    seen
}

/// The labels that a terminator can go to.
fn possible_targets(folding: &Folding, end: &Instruction) -> Vec<Id> {
    let all = targets(end);
    let only = match end.op {
        Op::BranchConditional => {
            let condition = end.id(0).and_then(|condition| folding.boolean(condition));
            condition.and_then(|value| all.get(usize::from(!value)).copied())
        }
        Op::Switch => {
            end.id(0).and_then(|selector| folding.scalar(selector)).and_then(|selector| {
                let cases = switch_targets(end);
                let case =
                    cases.iter().find(|(value, _)| *value == Some(selector)).or(cases.first());
                case.map(|(_, target)| *target)
            })
        }
        _ => None,
    };
    only.map_or(all, |label| vec![label])
}
