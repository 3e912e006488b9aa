//! Dead-code elimination for checks: registers that no memory access, branch or other invocation
//! depends on.
//!
//! Knows: a program before its registers are assigned. Components of vectors are registers of their
//! own, so the optimiser leaves operations on vectors of which some components are `OpUndef`, and
//! nothing depends on those.
//! Promises: the checks of an instruction are dropped only if another instruction that was made
//! from the same SPIR-V instruction is needed; where a whole result is unused, all checks stay.
//! Does not cover: which write of a register reaches a read (no liveness by position).

use crate::ir::Program;
use crate::ir::{LaneInstruction, LocatedInstruction};
use crate::ir::{RegisterUse, Scalar};
use std::collections::{BTreeMap, BTreeSet};

/// Whether an instruction computes registers from registers and has no other effect.
fn only_computes(action: &LaneInstruction) -> bool {
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

/// The registers that an instruction reads, and those that it writes.
fn registers_used(step: &mut LocatedInstruction) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    step.instruction.visit_registers(&mut |scalar, register_use| match register_use {
        RegisterUse::Operand | RegisterUse::Forward => reads.push(*scalar),
        RegisterUse::Write => writes.push(*scalar),
        RegisterUse::Update => {
            reads.push(*scalar);
            writes.push(*scalar);
        }
    });
    (reads, writes)
}

/// Clears the operands to check of instructions whose result components nothing depends on.
pub(super) fn mark_dead_code(program: &mut Program) {
    if program
        .blocks
        .iter()
        .flat_map(|block| &block.steps)
        .all(|step| step.operands_to_check.is_empty())
    {
        return;
    }
    let needed = needed_registers(program);
    let mut needed_sources = BTreeSet::new();
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        let (_, writes) = registers_used(step);
        if writes.iter().any(|scalar| needed.contains(scalar)) {
            needed_sources.insert(step.source_index);
        }
    }
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        let is_candidate = !step.operands_to_check.is_empty()
            && only_computes(&step.instruction)
            && needed_sources.contains(&step.source_index);
        if is_candidate && !registers_used(step).1.iter().any(|scalar| needed.contains(scalar)) {
            step.operands_to_check = Box::default();
        }
    }
}

fn needed_registers(program: &mut Program) -> BTreeSet<Scalar> {
    let mut operands_of: BTreeMap<Scalar, Vec<Scalar>> = BTreeMap::new();
    let mut open_registers: Vec<Scalar> = Vec::new();
    for block in &mut program.blocks {
        for step in &mut block.steps {
            let (reads, writes) = registers_used(step);
            if only_computes(&step.instruction) {
                writes.into_iter().for_each(|to| operands_of.entry(to).or_default().extend(&reads));
            } else {
                open_registers.extend(reads);
            }
        }
        open_registers.extend(block.terminator.deciding_register());
    }
    for barrier in &program.barriers {
        open_registers.extend(barrier.counters.iter().map(|counter| Scalar::Word(*counter)));
    }
    let mut needed = BTreeSet::new();
    while let Some(scalar) = open_registers.pop() {
        if needed.insert(scalar) {
            open_registers.extend(operands_of.get(&scalar).into_iter().flatten());
        }
    }
    needed
}
