//! The control-flow graph of a function.
//!
//! Knows: blocks, their successors and their merge instructions (SPIR-V specification, "Structured
//! Control Flow").
//! Promises: block 0 is the entry block; orders are those of the module. Dominators come from
//! petgraph.
//! Does not cover: calls (`calls`) and what values branch on (`uniformity`).

use super::module::{Function, Id, Instruction, Module};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vkcert_model::index_range::IndexRange;

/// A function's blocks with their edges.
#[derive(Debug, Clone)]
pub struct ControlFlowGraph {
    /// Result id of the function.
    pub function: Id,
    /// Blocks in the order of the module; the first one is the entry.
    pub blocks: Vec<BasicBlock>,
    by_label: BTreeMap<Id, usize>,
}

/// One block; blocks are named by their index in [`ControlFlowGraph::blocks`].
#[derive(Debug, Clone)]
pub struct BasicBlock {
    /// Result id of OpLabel.
    pub label: Id,
    /// Instructions from OpLabel to the terminator.
    pub range: IndexRange,
    /// Without duplicates, in the order of the terminator's targets.
    pub successors: Vec<usize>,
    /// Blocks that have this one as a successor, without duplicates.
    pub predecessors: Vec<usize>,
    /// What it declares as a header; none where it is no header.
    pub merge: Option<MergeInstruction>,
}

impl BasicBlock {
    /// Indices of its instructions in the module's list.
    pub fn instruction_indices(&self) -> Range<usize> {
        self.range.range()
    }

    /// Index of the terminator in the module's instruction list.
    pub fn terminator(&self) -> usize {
        self.range.end - 1
    }
}

/// What a header block declares about its construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeInstruction {
    /// OpSelectionMerge.
    Selection {
        /// Block where the construct ends.
        merge: usize,
    },
    /// OpLoopMerge.
    Loop {
        /// Block where the construct ends.
        merge: usize,
        /// Block where the continue construct begins.
        continue_target: usize,
    },
}

/// A natural loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NaturalLoop {
    /// The block that the back edges lead to.
    pub header: usize,
    /// Header included.
    pub blocks: BTreeSet<usize>,
}

impl ControlFlowGraph {
    /// The blocks of a function with their edges.
    pub fn of_function(module: &Module, function: &Function) -> Self {
        let by_label: BTreeMap<Id, usize> =
            function.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        let index = |id: Id| by_label.get(&id).copied();
        let mut blocks: Vec<BasicBlock> = function
            .blocks
            .iter()
            .map(|block| BasicBlock {
                label: block.label,
                range: block.range,
                successors: without_duplicates(
                    branch_targets(&module.instructions[block.range.end - 1])
                        .into_iter()
                        .filter_map(index),
                ),
                predecessors: Vec::new(),
                merge: module.instructions_in(block.range).iter().rev().take(4).find_map(
                    |instruction| match instruction.op {
                        Op::SelectionMerge => {
                            Some(MergeInstruction::Selection { merge: index(instruction.id(0)?)? })
                        }
                        Op::LoopMerge => Some(MergeInstruction::Loop {
                            merge: index(instruction.id(0)?)?,
                            continue_target: index(instruction.id(1)?)?,
                        }),
                        _ => None,
                    },
                ),
            })
            .collect();
        for from in 0..blocks.len() {
            for successor_index in 0..blocks[from].successors.len() {
                let to = blocks[from].successors[successor_index];
                blocks[to].predecessors.push(from);
            }
        }
        Self { function: function.id, blocks, by_label }
    }

    /// Index of the block with this label; none where the function has none.
    pub fn block_with_label(&self, block_label: Id) -> Option<usize> {
        self.by_label.get(&block_label).copied()
    }

    /// Immediate dominator of each block; none for the entry block and for unreachable blocks.
    pub(crate) fn immediate_dominators(&self) -> Vec<Option<usize>> {
        let edges = (0..self.blocks.len())
            .flat_map(|from| self.blocks[from].successors.iter().map(move |to| (from, *to)));
        immediate_dominators(self.blocks.len(), edges, 0)
    }

    /// Immediate post-dominator of each block; none where it is the function's end. A block from
    /// which no end is reached counts as one that ends the function, so that what follows depends
    /// on it.
    pub(crate) fn immediate_post_dominators(&self) -> Vec<Option<usize>> {
        let virtual_end = self.blocks.len();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let ending_blocks = self.ending_blocks();
        for (from, block) in self.blocks.iter().enumerate() {
            edges.extend(block.successors.iter().map(|to| (*to, from)));
            if block.successors.is_empty() || !ending_blocks.contains(&from) {
                edges.push((virtual_end, from));
            }
        }
        let mut dominators = immediate_dominators(virtual_end + 1, edges.into_iter(), virtual_end);
        dominators.truncate(virtual_end);
        dominators
            .into_iter()
            .map(|dominator| dominator.filter(|block| *block != virtual_end))
            .collect()
    }

    /// Blocks from which a block without successors is reached.
    fn ending_blocks(&self) -> BTreeSet<usize> {
        let last_blocks =
            (0..self.blocks.len()).filter(|block| self.blocks[*block].successors.is_empty());
        let mut pending_blocks: Vec<usize> = last_blocks.collect();
        let mut reached_backwards = BTreeSet::new();
        while let Some(block) = pending_blocks.pop() {
            if reached_backwards.insert(block) {
                pending_blocks.extend(&self.blocks[block].predecessors);
            }
        }
        reached_backwards
    }

    /// For each block, the blocks whose branch decides whether it is executed (Ferrante,
    /// Ottenstein, Warren 1987).
    pub(crate) fn control_dependences(&self) -> Vec<BTreeSet<usize>> {
        let post_dominators = self.immediate_post_dominators();
        let mut dependences = vec![BTreeSet::new(); self.blocks.len()];
        for (branch_block, block) in self.blocks.iter().enumerate() {
            if block.successors.len() < 2 {
                continue;
            }
            for successor in &block.successors {
                let mut dependent = Some(*successor);
                while let Some(dependent_block) = dependent.filter(|dependent_block| {
                    Some(*dependent_block) != post_dominators[branch_block]
                }) {
                    dependences[dependent_block].insert(branch_block);
                    dependent = post_dominators[dependent_block];
                }
            }
        }
        dependences
    }

    /// Natural loops by header, in block order.
    pub fn natural_loops(&self) -> Vec<NaturalLoop> {
        let dominators = self.immediate_dominators();
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (back_edge_source, block) in self.blocks.iter().enumerate() {
            // A block stands behind those that dominate it (SPIR-V specification, "Universal
            // Validation Rules").
            let backwards =
                block.successors.iter().copied().filter(|header| *header <= back_edge_source);
            for header in
                backwards.filter(|header| dominates(&dominators, *header, back_edge_source))
            {
                let loop_blocks = loops.entry(header).or_insert_with(|| BTreeSet::from([header]));
                let mut pending_blocks = vec![back_edge_source];
                while let Some(inner_block) = pending_blocks.pop() {
                    if loop_blocks.insert(inner_block) {
                        pending_blocks.extend(&self.blocks[inner_block].predecessors);
                    }
                }
            }
        }
        loops.into_iter().map(|(header, blocks)| NaturalLoop { header, blocks }).collect()
    }
}

/// Whether a block dominates another, by the immediate dominator of each.
fn dominates(dominators: &[Option<usize>], outer_block: usize, mut block: usize) -> bool {
    while block != outer_block {
        match dominators[block] {
            Some(dominator) => block = dominator,
            None => return false,
        }
    }
    true
}

fn without_duplicates(items: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen_items = BTreeSet::new();
    items.filter(|item| seen_items.insert(*item)).collect()
}

/// Labels that a terminator can branch to, in operand order.
pub fn branch_targets(terminator: &Instruction) -> Vec<Id> {
    let label_operands = match terminator.op {
        Op::Branch => terminator.operands.get(..1),
        Op::BranchConditional => terminator.operands.get(1..3),
        Op::Switch => terminator.operands.get(1..),
        _ => None,
    };
    let ids = label_operands.unwrap_or(&[]).iter().filter_map(|operand| match operand {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    });
    ids.collect()
}

/// The cases of an OpSwitch: label value (none for the default) and target.
pub fn switch_targets(switch: &Instruction) -> Vec<(Option<u64>, Id)> {
    let default_target = switch.id(1).map(|target| (None, target));
    let case_targets =
        switch.operands.get(2..).unwrap_or(&[]).chunks_exact(2).filter_map(|pair| match pair {
            [Operand::LiteralBit32(value), Operand::IdRef(target)] => {
                Some((Some(u64::from(*value)), *target))
            }
            [Operand::LiteralBit64(value), Operand::IdRef(target)] => Some((Some(*value), *target)),
            _ => None,
        });
    default_target.into_iter().chain(case_targets).collect()
}

fn immediate_dominators(
    node_count: usize,
    edges: impl Iterator<Item = (usize, usize)>,
    root_node: usize,
) -> Vec<Option<usize>> {
    if node_count == 0 {
        return Vec::new();
    }
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(node_count, node_count);
    for _ in 0..node_count {
        graph.add_node(());
    }
    for (from, to) in edges {
        graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
    }
    let dominator_tree = dominators::simple_fast(&graph, NodeIndex::new(root_node));
    (0..node_count)
        .map(|node| dominator_tree.immediate_dominator(NodeIndex::new(node)).map(NodeIndex::index))
        .collect()
}
