//! Copy propagation: reads of a copy become reads of what was copied.

use super::occurrences::find_occurrences;
use crate::ir::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

fn as_copy(action: &LaneInstruction) -> Option<(Scalar, Scalar)> {
    match action {
        LaneInstruction::Copy { to, from } => Some((Scalar::Word(*to), Scalar::Word(*from))),
        LaneInstruction::CopyMask { to, from } => Some((Scalar::Mask(*to), Scalar::Mask(*from))),
        _ => None,
    }
}

/// Replaces reads of a copy's target by reads of its source, and removes the copy, where the target
/// is read only in its block and the source does not change before the last of these reads.
pub(crate) fn propagate_copies(program: &mut Program) {
    let occurrence_table = find_occurrences(program);
    for block in &mut program.blocks {
        let step_count = block.steps.len();
        let mut last_read: FxHashMap<Scalar, usize> = FxHashMap::default();
        let mut write_steps: FxHashMap<Scalar, Vec<usize>> = FxHashMap::default();
        for (step_index, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, register_use| {
                if matches!(register_use, RegisterUse::Write | RegisterUse::Update) {
                    write_steps.entry(*scalar).or_default().push(step_index);
                }
                if register_use != RegisterUse::Write {
                    last_read.insert(*scalar, step_index);
                }
            });
        }
        if let Some(decider) = block.terminator.deciding_register() {
            last_read.insert(decider, step_count);
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
            let last_use = last_read.get(&to).copied().unwrap_or(step_index);
            let source_changes = write_steps.get(&from).is_some_and(|source_writes| {
                is_written_between(source_writes, step_index, last_use)
            });
            if !source_changes {
                replacements.insert(to, from);
                let source_read = last_read.entry(from).or_insert(last_use);
                *source_read = (*source_read).max(last_use);
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
