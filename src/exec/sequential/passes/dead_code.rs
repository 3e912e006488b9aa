//! Which registers anything depends on: memory, control flow, other invocations.
//!
//! Knows: a program before its registers are assigned. Components of vectors are registers of their
//! own, so the optimiser leaves operations on vectors of which some components are `OpUndef`, and
//! nothing depends on those.
//! Promises: a step is dispensable only if another step of the same instruction is needed; of an
//! instruction whose whole result is unused every step counts as ever.
//! Does not cover: which write of a register a read sees.

use crate::ir::Program;
use crate::ir::{LaneInstruction, LocatedInstruction};
use crate::ir::{RegisterUse, Scalar};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a step does nothing but write registers, from registers.
fn computes(action: &LaneInstruction) -> bool {
    matches!(
        action,
        LaneInstruction::Copy { .. }
            | LaneInstruction::CopyMask { .. }
            | LaneInstruction::Unary { .. }
            | LaneInstruction::Binary { .. }
            | LaneInstruction::Ternary { .. }
            | LaneInstruction::Compare { .. }
            | LaneInstruction::Classify { .. }
            | LaneInstruction::Sized { .. }
            | LaneInstruction::Relate { .. }
            | LaneInstruction::Logic { .. }
            | LaneInstruction::Not { .. }
            | LaneInstruction::Select { .. }
            | LaneInstruction::SelectMask { .. }
            | LaneInstruction::UndefinedWhere { .. }
            | LaneInstruction::ToWord { .. }
            | LaneInstruction::ToMask { .. }
    )
}

/// Registers that a step reads, and that it writes.
fn registers(step: &mut LocatedInstruction) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    step.instruction.visit_registers(&mut |scalar, using| match using {
        RegisterUse::Operand | RegisterUse::Forward => reads.push(*scalar),
        RegisterUse::Write => writes.push(*scalar),
        RegisterUse::Update => {
            reads.push(*scalar);
            writes.push(*scalar);
        }
    });
    (reads, writes)
}

/// Clears the suspects of steps that compute components which nothing depends on.
pub(super) fn mark_dead_code(program: &mut Program) {
    if program
        .blocks
        .iter()
        .flat_map(|block| &block.steps)
        .all(|step| step.operands_to_check.is_empty())
    {
        return;
    }
    let needed = needed(program);
    let mut places = BTreeSet::new();
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        let (_, writes) = registers(step);
        if writes.iter().any(|scalar| needed.contains(scalar)) {
            places.insert(step.source_index);
        }
    }
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        let spared = !step.operands_to_check.is_empty()
            && computes(&step.instruction)
            && places.contains(&step.source_index);
        if spared && !registers(step).1.iter().any(|scalar| needed.contains(scalar)) {
            step.operands_to_check = Box::default();
        }
    }
}

fn needed(program: &mut Program) -> BTreeSet<Scalar> {
    let mut sources: BTreeMap<Scalar, Vec<Scalar>> = BTreeMap::new();
    let mut open: Vec<Scalar> = Vec::new();
    for block in &mut program.blocks {
        for step in &mut block.steps {
            let (reads, writes) = registers(step);
            if computes(&step.instruction) {
                writes.into_iter().for_each(|to| sources.entry(to).or_default().extend(&reads));
            } else {
                open.extend(reads);
            }
        }
        open.extend(block.terminator.deciding_register());
    }
    for barrier in &program.barriers {
        open.extend(barrier.counters.iter().map(|counter| Scalar::Word(*counter)));
    }
    let mut needed = BTreeSet::new();
    while let Some(scalar) = open.pop() {
        if needed.insert(scalar) {
            open.extend(sources.get(&scalar).into_iter().flatten());
        }
    }
    needed
}
