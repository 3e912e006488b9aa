//! Which registers anything depends on: memory, control flow, other invocations.
//!
//! Knows: a program before its registers are assigned. Components of vectors are registers of their
//! own, so the optimiser leaves operations on vectors of which some components are `OpUndef`, and
//! nothing depends on those.
//! Promises: a step is dispensable only if another step of the same instruction is needed; of an
//! instruction whose whole result is unused every step counts as ever.
//! Does not cover: which write of a register a read sees.

use crate::ir::Program;
use crate::ir::{Action, Step};
use crate::ir::{Scalar, Use};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a step does nothing but write registers, from registers.
fn computes(action: &Action) -> bool {
    matches!(
        action,
        Action::Copy { .. }
            | Action::CopyMask { .. }
            | Action::Unary { .. }
            | Action::Binary { .. }
            | Action::Ternary { .. }
            | Action::Compare { .. }
            | Action::Classify { .. }
            | Action::Sized { .. }
            | Action::Relate { .. }
            | Action::Logic { .. }
            | Action::Not { .. }
            | Action::Select { .. }
            | Action::SelectMask { .. }
            | Action::Doubt { .. }
            | Action::ToWord { .. }
            | Action::ToMask { .. }
    )
}

/// Registers that a step reads, and that it writes.
fn registers(step: &mut Step) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    step.action.registers(&mut |scalar, using| match using {
        Use::Operand | Use::Travel => reads.push(*scalar),
        Use::Write => writes.push(*scalar),
        Use::Update => {
            reads.push(*scalar);
            writes.push(*scalar);
        }
    });
    (reads, writes)
}

/// Clears the suspects of steps that compute components which nothing depends on.
pub(super) fn mark_dead_code(program: &mut Program) {
    if program.blocks.iter().flat_map(|block| &block.steps).all(|step| step.suspects.is_empty()) {
        return;
    }
    let needed = needed(program);
    let mut places = BTreeSet::new();
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        let (_, writes) = registers(step);
        if writes.iter().any(|scalar| needed.contains(scalar)) {
            places.insert(step.place);
        }
    }
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        let spared =
            !step.suspects.is_empty() && computes(&step.action) && places.contains(&step.place);
        if spared && !registers(step).1.iter().any(|scalar| needed.contains(scalar)) {
            step.suspects = Box::default();
        }
    }
}

fn needed(program: &mut Program) -> BTreeSet<Scalar> {
    let mut sources: BTreeMap<Scalar, Vec<Scalar>> = BTreeMap::new();
    let mut open: Vec<Scalar> = Vec::new();
    for block in &mut program.blocks {
        for step in &mut block.steps {
            let (reads, writes) = registers(step);
            if computes(&step.action) {
                writes.into_iter().for_each(|to| sources.entry(to).or_default().extend(&reads));
            } else {
                open.extend(reads);
            }
        }
        open.extend(block.terminator.decider());
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
