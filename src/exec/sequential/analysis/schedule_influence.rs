//! Which decisions of a dispatch depend on its schedule: what comes of atomics, of waiting, of
//! memory that those who wait for each other pass on, and of what such values decide.
//!
//! Knows: the forward may-analysis of `schedule_dependence`, with control added: what a block does
//! that runs only where such a value has decided so depends on the schedule, too.
//! Promises: a record bit that is not named here comes out alike in every schedule of a dispatch
//! without races.
//! Does not cover: races, whose values are told as findings; how often a bit is set.

use super::schedule_dependence::Flow;
use crate::ir::{BasicBlock, LaneInstruction, Program, Scalar, Terminator};
use crate::memory::store::Slot;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::records::RecordLayout;

/// The bits of a layout that depend on the schedule of a dispatch. `buffers` are those whose
/// contents do, before it and then behind it.
pub(crate) fn scheduled_bits(
    program: &Program,
    layout: Option<&RecordLayout>,
    slots: &[Option<Slot>],
    buffers: &mut BTreeSet<usize>,
) -> BTreeSet<u32> {
    let none = BTreeSet::new();
    let mut flow = Flow::new(program, slots, &none, buffers);
    flow.pass_on_by_waiting();
    let behind = Behind::of(program);
    // What such a branch decides makes more values depend on the schedule, until nothing is new.
    loop {
        let spread = flow.spread();
        let controlled: BTreeSet<usize> =
            flow.deciding().iter().flat_map(|block| behind.controlled(program, *block)).collect();
        if !flow.control(controlled) && !spread {
            break;
        }
    }
    flow.hand_over(buffers);
    let mut bits = BTreeSet::new();
    for mark in
        program.blocks.iter().enumerate().flat_map(|(index, block)| marked(&mut flow, index, block))
    {
        match mark {
            Marked::Decision(slot) => {
                let row = layout.and_then(|layout| layout.decisions.get(slot as usize));
                bits.extend(row.into_iter().flat_map(|row| row.base..row.base + row.size));
            }
            Marked::Bit(bit) => drop(bits.insert(bit)),
        }
    }
    bits
}

/// What is recorded.
enum Marked {
    /// Any vector of the decision in this slot of the layout.
    Decision(u32),
    Bit(u32),
}

/// What a block records that depends on the schedule.
fn marked(flow: &mut Flow<'_>, index: usize, block: &BasicBlock) -> Vec<Marked> {
    flow.enter(index);
    let controlled = flow.is_controlled();
    let mut found = Vec::new();
    for step in &block.steps {
        let depends = |flow: &Flow<'_>, reg| controlled || flow.has(Scalar::Mask(reg));
        match &step.instruction {
            LaneInstruction::Condition { slot, value, .. }
            | LaneInstruction::SingleCondition { slot, value, .. }
                if depends(flow, *value) =>
            {
                found.push(Marked::Decision(*slot));
            }
            LaneInstruction::Decision { slot, sum, .. }
                if controlled || flow.has(Scalar::Word(*sum)) =>
            {
                found.push(Marked::Decision(*slot));
            }
            LaneInstruction::RecordBit { bit } if controlled => found.push(Marked::Bit(*bit)),
            _ => {}
        }
        flow.step(&mut step.clone());
    }
    found
}

/// Where the ways from a block come together again: its immediate postdominators (Cooper, Harvey
/// and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph).
struct Behind {
    /// By block: the block that every way to an end passes next; none: no block does.
    next: Vec<Option<usize>>,
}

impl Behind {
    fn of(program: &Program) -> Self {
        let count = program.blocks.len();
        // The node behind all ends has the number `count`.
        let successors: Vec<Vec<usize>> =
            program.blocks.iter().map(|block| successors(block, count)).collect();
        let order = reverse_order(&successors, count);
        let mut rank = vec![usize::MAX; count + 1];
        order.iter().enumerate().for_each(|(place, node)| rank[*node] = place);
        let mut next: Vec<Option<usize>> = vec![None; count + 1];
        next[count] = Some(count);
        let mut changed = true;
        while changed {
            changed = false;
            for node in order.iter().filter(|node| **node != count) {
                let known = successors[*node].iter().copied().filter(|to| next[*to].is_some());
                let new = known.reduce(|left, right| meeting(&next, &rank, left, right));
                if new.is_some() && next[*node] != new {
                    next[*node] = new;
                    changed = true;
                }
            }
        }
        let inside = |to: Option<usize>| to.filter(|to| *to != count);
        Self { next: next.into_iter().take(count).map(inside).collect() }
    }

    /// Blocks that run or not, or how often, by what a block decides.
    fn controlled(&self, program: &Program, deciding: usize) -> BTreeSet<usize> {
        let end = self.next[deciding];
        let count = program.blocks.len();
        let mut found = BTreeSet::new();
        let mut open = successors(&program.blocks[deciding], count);
        while let Some(block) = open.pop() {
            if block < count && Some(block) != end && found.insert(block) {
                open.extend(successors(&program.blocks[block], count));
            }
        }
        found
    }
}

fn successors(block: &BasicBlock, end: usize) -> Vec<usize> {
    match &block.terminator {
        Terminator::Jump { to } | Terminator::Barrier { to, barrier: _ } => vec![*to as usize],
        Terminator::Branch { yes, no, condition: _ } => vec![*yes as usize, *no as usize],
        Terminator::Switch { cases, default, selector: _ } => {
            cases.iter().map(|(_, to)| *to as usize).chain([*default as usize]).collect()
        }
        Terminator::End | Terminator::Unreachable => vec![end],
    }
}

/// Nodes from the end on, each before the ones that lead to it alone (reverse postorder of the
/// reversed graph).
fn reverse_order(successors: &[Vec<usize>], end: usize) -> Vec<usize> {
    let mut leading: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, all) in successors.iter().enumerate() {
        all.iter().for_each(|to| leading.entry(*to).or_default().push(node));
    }
    let none = Vec::new();
    let (mut seen, mut order) = (BTreeSet::from([end]), Vec::new());
    let mut path = vec![(end, 0)];
    while let Some((node, tried)) = path.last_mut() {
        let all = leading.get(node).unwrap_or(&none);
        match all.get(*tried) {
            Some(from) => {
                *tried += 1;
                if seen.insert(*from) {
                    path.push((*from, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The first node behind both.
fn meeting(next: &[Option<usize>], rank: &[usize], left: usize, right: usize) -> usize {
    let (mut left, mut right) = (left, right);
    while left != right {
        while rank[left] > rank[right] {
            left = next[left].unwrap_or(left);
        }
        while rank[right] > rank[left] {
            right = next[right].unwrap_or(right);
        }
    }
    left
}
