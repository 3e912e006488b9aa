//! Dead-code elimination for checks: registers that no memory access, branch or other invocation
//! depends on.
//!
//! Knows: a program before its registers are assigned. Components of vectors are registers of their
//! own, so the optimiser leaves operations on vectors of which some components are `OpUndef`, and
//! nothing depends on those.
//! Promises: the checks of an instruction are dropped only if another instruction that was made
//! from the same SPIR-V instruction is needed; where a whole result is unused, all checks stay.
//! Does not cover: which write of a register reaches a read (no liveness by position).

use super::occurrences::RegisterTable;
use crate::ir::{LaneInstruction, LocatedInstruction, Program, RegisterUse, Scalar};
use rustc_hash::FxHashSet;

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

/// Whether the checks of an instruction are dropped where nothing depends on its results.
fn is_candidate(step: &LocatedInstruction) -> bool {
    !step.operands_to_check.is_empty() && only_computes(&step.instruction)
}

/// Clears the operands to check of instructions whose result components nothing depends on.
pub(super) fn mark_dead_code(program: &mut Program) {
    if !program.blocks.iter().flat_map(|block| &block.steps).any(is_candidate) {
        return;
    }
    let uses = RegisterUses::of_program(program);
    let needed = needed_registers(program, &uses);
    let is_needed = |step: usize| uses.writes(step).iter().any(|scalar| *needed.get(*scalar));
    let steps = || program.blocks.iter().flat_map(|block| &block.steps).enumerate();
    let needed_sources: FxHashSet<u32> =
        steps().filter(|(index, _)| is_needed(*index)).map(|(_, step)| step.source_index).collect();
    let steps = program.blocks.iter_mut().flat_map(|block| &mut block.steps).enumerate();
    for (index, step) in steps {
        if is_candidate(step) && needed_sources.contains(&step.source_index) && !is_needed(index) {
            step.operands_to_check = Box::default();
        }
    }
}

/// The registers that each instruction reads and writes, in the order of the program.
#[derive(Default)]
struct RegisterUses {
    /// Of all instructions, one behind the other; of each, those that it reads first.
    scalars: Vec<Scalar>,
    steps: Vec<StepUses>,
}

/// Where the registers of one instruction end.
struct StepUses {
    reads_end: usize,
    writes_end: usize,
    only_computes: bool,
}

impl RegisterUses {
    fn of_program(program: &mut Program) -> Self {
        let mut uses = Self::default();
        let mut writes = Vec::new();
        for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
            let only_computes = only_computes(&step.instruction);
            step.instruction.visit_registers(&mut |scalar, register_use| match register_use {
                RegisterUse::Operand | RegisterUse::Forward => uses.scalars.push(*scalar),
                RegisterUse::Write => writes.push(*scalar),
                RegisterUse::Update => {
                    uses.scalars.push(*scalar);
                    writes.push(*scalar);
                }
            });
            let reads_end = uses.scalars.len();
            uses.scalars.append(&mut writes);
            uses.steps.push(StepUses { reads_end, writes_end: uses.scalars.len(), only_computes });
        }
        uses
    }

    fn reads(&self, step: usize) -> &[Scalar] {
        let start = step.checked_sub(1).map_or(0, |ahead| self.steps[ahead].writes_end);
        &self.scalars[start..self.steps[step].reads_end]
    }

    fn writes(&self, step: usize) -> &[Scalar] {
        &self.scalars[self.steps[step].reads_end..self.steps[step].writes_end]
    }
}

/// The computations that write each register, as lists in one vector.
struct Computations {
    /// The last row of the register's list.
    last_rows: RegisterTable<Option<usize>>,
    /// A step, and the row ahead of this one in the same list.
    rows: Vec<(usize, Option<usize>)>,
}

impl Computations {
    fn of_uses(program: &Program, uses: &RegisterUses) -> Self {
        let mut last_rows = RegisterTable::new(program, None);
        let mut rows = Vec::new();
        let computing = uses.steps.iter().enumerate().filter(|(_, step)| step.only_computes);
        for (index, _) in computing {
            for to in uses.writes(index) {
                let last = last_rows.get_mut(*to);
                rows.push((index, *last));
                *last = Some(rows.len() - 1);
            }
        }
        Self { last_rows, rows }
    }

    /// The steps that compute a register.
    fn of_register(&self, scalar: Scalar) -> impl Iterator<Item = usize> {
        let first = *self.last_rows.get(scalar);
        let rows = std::iter::successors(first, |row| self.rows[*row].1);
        rows.map(|row| self.rows[row].0)
    }
}

/// The registers that anything but a computation depends on.
fn needed_registers(program: &Program, uses: &RegisterUses) -> RegisterTable<bool> {
    let deciding = program.blocks.iter().filter_map(|block| block.terminator.deciding_register());
    let counters = program.barriers.iter().flat_map(|barrier| barrier.counters.iter());
    let mut open_registers: Vec<Scalar> =
        deciding.chain(counters.map(|counter| Scalar::Word(*counter))).collect();
    let acting = uses.steps.iter().enumerate().filter(|(_, step)| !step.only_computes);
    acting.for_each(|(index, _)| open_registers.extend(uses.reads(index)));
    let computations = Computations::of_uses(program, uses);
    let mut needed = RegisterTable::new(program, false);
    while let Some(scalar) = open_registers.pop() {
        if !std::mem::replace(needed.get_mut(scalar), true) {
            let steps = computations.of_register(scalar);
            steps.for_each(|index| open_registers.extend(uses.reads(index)));
        }
    }
    needed
}
