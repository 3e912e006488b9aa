//! Copy propagation: reads of a copy become reads of what was copied.

use super::occurrences::{RegisterTable, find_occurrences};
use crate::ir::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

fn as_copy(action: &LaneInstruction) -> Option<(Scalar, Scalar)> {
    match action {
        LaneInstruction::Copy { to, from } => Some((Scalar::Word(*to), Scalar::Word(*from))),
        LaneInstruction::CopyMask { to, from } => Some((Scalar::Mask(*to), Scalar::Mask(*from))),
        _ => None,
    }
}

/// The last step of a block that reads each register; the terminator stands behind all steps.
struct LastReads {
    /// By steps of all blocks up to this one, so that what is told of other blocks stands ahead of `block_start`.
    steps: RegisterTable<usize>,
    block_start: usize,
    block_end: usize,
}

impl LastReads {
    fn of_no_block(program: &Program) -> Self {
        Self { steps: RegisterTable::new(program, 0), block_start: 1, block_end: 1 }
    }

    fn begin_block(&mut self, step_count: usize) {
        self.block_start = self.block_end;
        self.block_end += step_count + 1;
    }

    fn note(&mut self, scalar: Scalar, step: usize) {
        let last = self.steps.get_mut(scalar);
        *last = (*last).max(self.block_start + step);
    }

    fn of(&self, scalar: Scalar) -> Option<usize> {
        self.steps.get(scalar).checked_sub(self.block_start)
    }
}

/// Replaces reads of a copy's target by reads of its source, and removes the copy, where the target
/// is read only in its block and the source does not change before the last of these reads.
pub(crate) fn propagate_copies(program: &mut Program) {
    let occurrence_table = find_occurrences(program);
    let mut last_reads = LastReads::of_no_block(program);
    for block in &mut program.blocks {
        let copies = block.steps.iter().filter_map(|step| as_copy(&step.instruction));
        let copied: FxHashSet<Scalar> = copies.map(|(_, from)| from).collect();
        if copied.is_empty() {
            continue;
        }
        let step_count = block.steps.len();
        last_reads.begin_block(step_count);
        let mut write_steps: FxHashMap<Scalar, Vec<usize>> = FxHashMap::default();
        for (step_index, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, register_use| {
                let is_write = matches!(register_use, RegisterUse::Write | RegisterUse::Update);
                if is_write && copied.contains(scalar) {
                    write_steps.entry(*scalar).or_default().push(step_index);
                }
                if register_use != RegisterUse::Write {
                    last_reads.note(*scalar, step_index);
                }
            });
        }
        if let Some(decider) = block.terminator.deciding_register() {
            last_reads.note(decider, step_count);
        }
        let mut replacements: FxHashMap<Scalar, Scalar> = FxHashMap::default();
        let mut dead_copies: BTreeSet<usize> = BTreeSet::new();
        for (step_index, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, register_use| {
                if matches!(register_use, RegisterUse::Operand | RegisterUse::Forward)
                    && let Some(replacement) = replacements.get(scalar)
                {
                    *scalar = *replacement;
                }
            });
            let Some((to, from)) = as_copy(&step.instruction) else { continue };
            let target_occurrence = occurrence_table.get(to);
            if target_occurrence.outlives_block || target_occurrence.writes != 1 {
                continue;
            }
            let last_use = last_reads.of(to).unwrap_or(step_index);
            let source_changes = write_steps.get(&from).is_some_and(|source_writes| {
                is_written_between(source_writes, step_index, last_use)
            });
            if !source_changes {
                replacements.insert(to, from);
                last_reads.note(from, last_use);
                dead_copies.insert(step_index);
            }
        }
        match &mut block.terminator {
            Terminator::Branch { condition: reg, yes: _, no: _ } => {
                if let Some(Scalar::Mask(replacement)) = replacements.get(&Scalar::Mask(*reg)) {
                    *reg = *replacement;
                }
            }
            Terminator::Switch { selector: reg, cases: _, default: _ } => {
                if let Some(Scalar::Word(replacement)) = replacements.get(&Scalar::Word(*reg)) {
                    *reg = *replacement;
                }
            }
            Terminator::Jump { .. }
            | Terminator::Barrier { .. }
            | Terminator::End
            | Terminator::Unreachable => {}
        }
        let mut step_index = 0..step_count;
        block.steps.retain(|_| {
            step_index.next().is_some_and(|step_index| !dead_copies.contains(&step_index))
        });
    }
}

/// Whether one of the `write_steps`, which are ascending, is after `copy_step` and not after
/// `last_use`.
fn is_written_between(write_steps: &[usize], copy_step: usize, last_use: usize) -> bool {
    let first_later = write_steps.partition_point(|write| *write <= copy_step);
    write_steps.get(first_later).is_some_and(|write| *write <= last_use)
}

#[cfg(test)]
mod tests {
    use super::is_written_between;

    #[test]
    fn a_write_counts_behind_the_copy_up_to_the_last_read() {
        let writes = [1, 4, 4, 9];
        for at in 0..11 {
            for until in 0..11 {
                let listed = writes.iter().any(|write| *write > at && *write <= until);
                assert_eq!(
                    is_written_between(&writes, at, until),
                    listed,
                    "behind {at}, up to {until}"
                );
            }
        }
    }
}
