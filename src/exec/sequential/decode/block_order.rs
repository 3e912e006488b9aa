//! The order in which a function's blocks are laid out: reverse postorder that keeps constructs
//! together.
//!
//! Promises: a block stands before every block it reaches without a back edge; the blocks of a loop
//! stand before its merge block, those of a selection before its merge block (SPIR-V specification,
//! section 2.11, "Structured Control Flow"). Blocks that cannot be reached are left out.

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};
use vkcert_spirv::module::{Function, Id, Instruction, Module};

/// Labels in order, the entry block first.
pub(crate) fn structured(module: &Module, function: &Function) -> Vec<Id> {
    let blocks: HashMap<Id, &[Instruction]> = function
        .blocks
        .iter()
        .map(|block| (block.label, module.instructions_in(block.range)))
        .collect();
    let Some(entry) = function.blocks.first().map(|block| block.label) else { return Vec::new() };
    let reachable = reachable(&blocks, entry);
    let mut order = Vec::with_capacity(reachable.len());
    let mut seen = HashSet::from([entry]);
    // Each entry: a block and the successors still to visit, the last one first.
    let mut stack = vec![(entry, preferred(&blocks, entry))];
    while let Some((label, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if reachable.contains(&next) && seen.insert(next) => {
                let successors = preferred(&blocks, next);
                stack.push((next, successors));
            }
            Some(_) => {}
            None => {
                order.push(*label);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn reachable(blocks: &HashMap<Id, &[Instruction]>, entry: Id) -> HashSet<Id> {
    let mut reached = HashSet::from([entry]);
    let mut open = vec![entry];
    while let Some(label) = open.pop() {
        for next in blocks.get(&label).into_iter().flat_map(|block| targets(block)) {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

/// What the block branches to, in operand order.
pub(crate) fn targets(block: &[Instruction]) -> Vec<Id> {
    let Some(last) = block.last() else { return Vec::new() };
    match last.op {
        Op::Branch => last.ids().collect(),
        Op::BranchConditional => last.ids().skip(1).take(2).collect(),
        Op::Switch => last
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

/// Successors in the order of a stack: what is visited first (and so laid out last) stands last,
/// the merge block before all, then the continue target, then the targets from the last to the
/// first.
fn preferred(blocks: &HashMap<Id, &[Instruction]>, label: Id) -> Vec<Id> {
    let Some(block) = blocks.get(&label) else { return Vec::new() };
    let mut all = targets(block);
    for instruction in *block {
        match instruction.op {
            Op::SelectionMerge => all.extend(instruction.id(0)),
            Op::LoopMerge => {
                all.extend(instruction.id(1));
                all.extend(instruction.id(0));
            }
            _ => {}
        }
    }
    all
}
