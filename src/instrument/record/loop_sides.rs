//! The blocks that are entered for one outcome of a loop's decision alone.
//!
//! Knows: the natural loops of a function and the branches that leave them.
//! Promises: both sides of such a branch have one predecessor each, so that what is put at their
//! entries runs once for each time that the branch goes there.

use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_spirv::cfg::{ControlFlowGraph, NaturalLoop};
use vkcert_spirv::module::{Function, Id, Module};

/// One side of a branch that ends or goes on with a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BranchSide {
    /// The first place in the block where anything may stand: behind the label and the phis.
    pub place: usize,
    pub way: LoopWay,
}

/// Whether control stays in the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopWay {
    On,
    Out,
}

/// Block entries of a function with loops.
pub(super) struct BlockEntries<'a> {
    module: &'a Module,
    graph: ControlFlowGraph,
    loops: Vec<NaturalLoop>,
    /// By block, the smallest of the loops that it is in.
    innermost: BTreeMap<usize, usize>,
}

impl<'a> BlockEntries<'a> {
    pub(super) fn of_function(module: &'a Module, function: &Function) -> Option<Self> {
        let function_instructions = module.instructions_in(function.range);
        if !function_instructions.iter().any(|instruction| instruction.op == Op::LoopMerge) {
            return None;
        }
        let graph = ControlFlowGraph::of_function(module, function);
        let loops = graph.natural_loops();
        let mut by_size: Vec<usize> = (0..loops.len()).collect();
        by_size.sort_by_key(|index| std::cmp::Reverse(loops[*index].blocks.len()));
        let mut innermost_loops = BTreeMap::new();
        for index in by_size {
            innermost_loops.extend(loops[index].blocks.iter().map(|block| (*block, index)));
        }
        Some(Self { module, graph, loops, innermost: innermost_loops })
    }

    /// The sides for true and false where the block of instruction `index` branches on `value`, if
    /// one of them leaves the innermost loop around it and each is entered from there alone.
    pub(super) fn by_value(
        &self,
        instruction_index: usize,
        value_id: Id,
    ) -> Option<[BranchSide; 2]> {
        let block_index = self
            .graph
            .blocks
            .partition_point(|block| block.range.start <= instruction_index)
            .checked_sub(1)?;
        let innermost_loop = &self.loops[*self.innermost.get(&block_index)?];
        let branch = &self.module.instructions[self.graph.blocks[block_index].terminator()];
        if branch.op != Op::BranchConditional {
            return None;
        }
        let (mut condition, mut targets) = (branch.id(0)?, [branch.id(1)?, branch.id(2)?]);
        while condition != value_id {
            let negation = self
                .module
                .definition(condition)
                .filter(|instruction| instruction.op == Op::LogicalNot)?;
            condition = negation.id(0)?;
            targets.reverse();
        }
        let [true_side, false_side] = targets.map(|target| self.side_of(target, innermost_loop));
        let sides = [true_side?, false_side?];
        (sides[0].way != sides[1].way).then_some(sides)
    }

    /// The side that a label begins, seen from within a loop.
    fn side_of(&self, block_label: Id, enclosing_loop: &NaturalLoop) -> Option<BranchSide> {
        let block_index = self.graph.block_with_label(block_label)?;
        let block = &self.graph.blocks[block_index];
        if block.predecessors.len() != 1 {
            return None;
        }
        let behind_label = block.range.start + 1;
        let last_phi = (behind_label..block.range.end)
            .rev()
            .find(|instruction_index| self.module.instructions[*instruction_index].op == Op::Phi);
        let side_way =
            if enclosing_loop.blocks.contains(&block_index) { LoopWay::On } else { LoopWay::Out };
        Some(BranchSide { place: last_phi.map_or(behind_label, |phi| phi + 1), way: side_way })
    }
}
