//! The order in which a function's blocks are laid out: reverse postorder that keeps constructs
//! together.
//!
//! Promises: a block stands before every block it reaches without a back edge; the blocks of a loop
//! stand before its merge block, those of a selection before its merge block (SPIR-V specification,
//! section 2.11, "Structured Control Flow"). Blocks that cannot be reached are left out.

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use vkcert_spirv::module::{Function, Id, Instruction, Module};

/// Labels in order, the entry block first.
pub(crate) fn structured_order(module: &Module, function: &Function) -> Vec<Id> {
    let blocks: FxHashMap<Id, &[Instruction]> = function
        .blocks
        .iter()
        .map(|block| (block.label, module.instructions_in(block.range)))
        .collect();
    let Some(entry_label) = function.blocks.first().map(|block| block.label) else {
        return Vec::new();
    };
    let reachable_blocks = reachable_blocks(&blocks, entry_label);
    let mut block_order = Vec::with_capacity(reachable_blocks.len());
    let mut seen_blocks = FxHashSet::from_iter([entry_label]);
    // Each entry: a block and the successors still to visit, the last one first.
    let mut visit_stack = vec![(entry_label, successors_to_visit(&blocks, entry_label))];
    while let Some((label, open_successors)) = visit_stack.last_mut() {
        match open_successors.pop() {
            Some(next_block)
                if reachable_blocks.contains(&next_block) && seen_blocks.insert(next_block) =>
            {
                let successors = successors_to_visit(&blocks, next_block);
                visit_stack.push((next_block, successors));
            }
            Some(_) => {}
            None => {
                block_order.push(*label);
                visit_stack.pop();
            }
        }
    }
    block_order.reverse();
    block_order
}

fn reachable_blocks(blocks: &FxHashMap<Id, &[Instruction]>, entry_label: Id) -> FxHashSet<Id> {
    let mut reached_blocks = FxHashSet::from_iter([entry_label]);
    let mut open_blocks = vec![entry_label];
    while let Some(label) = open_blocks.pop() {
        for successor in blocks.get(&label).into_iter().flat_map(|block| branch_targets(block)) {
            if reached_blocks.insert(successor) {
                open_blocks.push(successor);
            }
        }
    }
    reached_blocks
}

/// The labels that a block branches to, in operand order.
pub(crate) fn branch_targets(block: &[Instruction]) -> Vec<Id> {
    let Some(terminator) = block.last() else { return Vec::new() };
    match terminator.op {
        Op::Branch => terminator.ids().collect(),
        Op::BranchConditional => terminator.ids().skip(1).take(2).collect(),
        Op::Switch => terminator
            .operands
            .iter()
            .skip(1)
            .filter_map(|operand| match operand {
                Operand::IdRef(id) => Some(*id),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Successors in stack order, the next to visit last. Visited first, and so laid out last, is the
/// merge block, then the continue target, then the branch targets from the last to the first.
fn successors_to_visit(blocks: &FxHashMap<Id, &[Instruction]>, label: Id) -> Vec<Id> {
    let Some(block) = blocks.get(&label) else { return Vec::new() };
    let mut visit_order = branch_targets(block);
    for instruction in *block {
        match instruction.op {
            Op::SelectionMerge => visit_order.extend(instruction.id(0)),
            Op::LoopMerge => {
                visit_order.extend(instruction.id(1));
                visit_order.extend(instruction.id(0));
            }
            _ => {}
        }
    }
    visit_order
}
