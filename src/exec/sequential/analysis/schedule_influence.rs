//! Which decisions of a dispatch depend on its schedule: what comes of atomics, of waiting, of
//! memory that those who wait for each other pass on, and of what such values decide.
//!
//! Knows: the forward may-analysis of `schedule_dependence`, with control added: what a block does
//! that runs only where such a value has decided so depends on the schedule, too.
//! Promises: a record bit that is not named here comes out alike in every schedule of a dispatch
//! without races.
//! Does not cover: races, whose values are told as findings; how often a bit is set.

use super::schedule_dependence::ScheduleFlow;
use crate::ir::{BasicBlock, LaneInstruction, Program, Scalar};
use crate::memory::store::BoundRange;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::records::RecordLayout;

/// The bits of a layout that depend on the schedule of a dispatch. `buffers` are those whose
/// contents do, before it and then behind it.
pub(crate) fn scheduled_bits(
    program: &Program,
    layout: Option<&RecordLayout>,
    slots: &[Option<BoundRange>],
    dependent_buffers: &mut BTreeSet<usize>,
) -> BTreeSet<u32> {
    let no_races = BTreeSet::new();
    let mut flow = ScheduleFlow::new(program, slots, &no_races, dependent_buffers);
    flow.add_regions_passed_by_waiting();
    let postdominators = PostDominators::of_program(program);
    // Blocks controlled by such a branch make more values depend on the schedule: to a fix point.
    loop {
        let has_spread = flow.propagate();
        let controlled_blocks: BTreeSet<usize> = flow
            .deciding()
            .iter()
            .flat_map(|block| postdominators.control_dependent_blocks(program, *block))
            .collect();
        if !flow.add_controlled(controlled_blocks) && !has_spread {
            break;
        }
    }
    flow.add_dependent_buffers(dependent_buffers);
    let mut record_bits = BTreeSet::new();
    for mark in program
        .blocks
        .iter()
        .enumerate()
        .flat_map(|(index, block)| dependent_marks(&mut flow, index, block))
    {
        match mark {
            DependentMark::Decision(slot) => {
                let layout_row = layout.and_then(|layout| layout.decisions.get(slot as usize));
                record_bits.extend(
                    layout_row
                        .into_iter()
                        .flat_map(|layout_row| layout_row.base..layout_row.base + layout_row.size),
                );
            }
            DependentMark::Bit(bit) => drop(record_bits.insert(bit)),
        }
    }
    record_bits
}

/// A record that depends on the schedule.
enum DependentMark {
    /// Any vector of the decision in this slot of the layout.
    Decision(u32),
    Bit(u32),
}

/// The records of a block that depend on the schedule.
fn dependent_marks(
    flow: &mut ScheduleFlow<'_>,
    block_index: usize,
    block: &BasicBlock,
) -> Vec<DependentMark> {
    flow.enter_block(block_index);
    let in_controlled = flow.is_controlled();
    let mut recorded_marks = Vec::new();
    for step in &block.steps {
        match &step.instruction {
            LaneInstruction::Condition { slot, value, .. }
            | LaneInstruction::SingleCondition { slot, value, .. }
                if in_controlled || flow.register_depends(Scalar::Mask(*value)) =>
            {
                recorded_marks.push(DependentMark::Decision(*slot));
            }
            LaneInstruction::Decision { slot, sum, .. }
                if in_controlled || flow.register_depends(Scalar::Word(*sum)) =>
            {
                recorded_marks.push(DependentMark::Decision(*slot));
            }
            LaneInstruction::RecordBitWhere { bit, value }
                if in_controlled || flow.register_depends(Scalar::Mask(*value)) =>
            {
                recorded_marks.push(DependentMark::Bit(*bit))
            }
            LaneInstruction::RecordBit { bit } if in_controlled => {
                recorded_marks.push(DependentMark::Bit(*bit))
            }
            _ => {}
        }
        flow.transfer(&mut step.clone());
    }
    recorded_marks
}

/// The immediate postdominator of each block (Cooper, Harvey
/// and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph).
struct PostDominators {
    /// By block: the first block that is on every path from it to an end; none: no block is.
    immediate: Vec<Option<usize>>,
}

impl PostDominators {
    fn of_program(program: &Program) -> Self {
        let block_count = program.blocks.len();
        // The node behind all ends has the number `count`.
        let successors: Vec<Vec<usize>> =
            program.blocks.iter().map(|block| block_successors(block, block_count)).collect();
        let order = reverse_postorder(&successors, block_count);
        let mut order_rank = vec![usize::MAX; block_count + 1];
        order.iter().enumerate().for_each(|(position, node)| order_rank[*node] = position);
        let mut immediate: Vec<Option<usize>> = vec![None; block_count + 1];
        immediate[block_count] = Some(block_count);
        let mut changed = true;
        while changed {
            changed = false;
            for node in order.iter().filter(|node| **node != block_count) {
                let processed =
                    successors[*node].iter().copied().filter(|to| immediate[*to].is_some());
                let postdominator = processed.reduce(|left, right| {
                    common_postdominator(&immediate, &order_rank, left, right)
                });
                if postdominator.is_some() && immediate[*node] != postdominator {
                    immediate[*node] = postdominator;
                    changed = true;
                }
            }
        }
        let within_program = |to: Option<usize>| to.filter(|to| *to != block_count);
        Self { immediate: immediate.into_iter().take(block_count).map(within_program).collect() }
    }

    /// The blocks that are control dependent on a block: they lie on paths to its postdominator.
    fn control_dependent_blocks(&self, program: &Program, deciding: usize) -> BTreeSet<usize> {
        let postdominator = self.immediate[deciding];
        let block_count = program.blocks.len();
        let mut controlled_blocks = BTreeSet::new();
        let mut open_blocks = block_successors(&program.blocks[deciding], block_count);
        while let Some(block) = open_blocks.pop() {
            if block < block_count
                && Some(block) != postdominator
                && controlled_blocks.insert(block)
            {
                open_blocks.extend(block_successors(&program.blocks[block], block_count));
            }
        }
        controlled_blocks
    }
}

fn block_successors(block: &BasicBlock, end: usize) -> Vec<usize> {
    let successors = block.terminator.successors();
    if successors.is_empty() {
        return vec![end];
    }
    successors.into_iter().map(|successor| successor as usize).collect()
}

/// The nodes in reverse postorder of the reversed graph, from the end on.
fn reverse_postorder(successors: &[Vec<usize>], end: usize) -> Vec<usize> {
    let mut predecessors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, adjacent_nodes) in successors.iter().enumerate() {
        adjacent_nodes.iter().for_each(|to| predecessors.entry(*to).or_default().push(node));
    }
    let no_nodes = Vec::new();
    let (mut seen_nodes, mut order) = (BTreeSet::from([end]), Vec::new());
    let mut visit_path = vec![(end, 0)];
    while let Some((node, tried_count)) = visit_path.last_mut() {
        let adjacent_nodes = predecessors.get(node).unwrap_or(&no_nodes);
        match adjacent_nodes.get(*tried_count) {
            Some(predecessor) => {
                *tried_count += 1;
                if seen_nodes.insert(*predecessor) {
                    visit_path.push((*predecessor, 0));
                }
            }
            None => {
                order.push(*node);
                visit_path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The nearest common postdominator of two nodes.
fn common_postdominator(
    next: &[Option<usize>],
    rank: &[usize],
    left: usize,
    right: usize,
) -> usize {
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
