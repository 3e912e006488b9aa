//! Copy propagation: reads of a copy become reads of what was copied.

use super::occurrences::occurrences;
use crate::ir::*;
use std::collections::{BTreeSet, HashMap};

fn as_copy(action: &LaneInstruction) -> Option<(Scalar, Scalar)> {
    match action {
        LaneInstruction::Copy { to, from } => Some((Scalar::Word(*to), Scalar::Word(*from))),
        LaneInstruction::CopyMask { to, from } => Some((Scalar::Mask(*to), Scalar::Mask(*from))),
        _ => None,
    }
}

/// A copy whose target is read in its block alone, while the source does not change, is not needed.
pub(crate) fn propagate_copies(program: &mut Program) {
    let table = occurrences(program);
    for block in &mut program.blocks {
        let end = block.steps.len();
        let mut last_read: HashMap<Scalar, usize> = HashMap::new();
        let mut writes: HashMap<Scalar, Vec<usize>> = HashMap::new();
        for (at, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, using| {
                if matches!(using, RegisterUse::Write | RegisterUse::Update) {
                    writes.entry(*scalar).or_default().push(at);
                }
                if using != RegisterUse::Write {
                    last_read.insert(*scalar, at);
                }
            });
        }
        if let Some(decider) = block.terminator.deciding_register() {
            last_read.insert(decider, end);
        }
        let mut replaced: HashMap<Scalar, Scalar> = HashMap::new();
        let mut dead: BTreeSet<usize> = BTreeSet::new();
        for (at, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, using| {
                if matches!(using, RegisterUse::Operand | RegisterUse::Forward)
                    && let Some(new) = replaced.get(scalar)
                {
                    *scalar = *new;
                }
            });
            let Some((to, from)) = as_copy(&step.instruction) else { continue };
            let target = table.get(to);
            if target.lasting || target.writes != 1 {
                continue;
            }
            let until = last_read.get(&to).copied().unwrap_or(at);
            let changed = writes.get(&from).is_some_and(|all| is_written(all, at, until));
            if !changed {
                replaced.insert(to, from);
                let read = last_read.entry(from).or_insert(until);
                *read = (*read).max(until);
                dead.insert(at);
            }
        }
        match &mut block.terminator {
            Terminator::Branch { condition: reg, yes: _, no: _ } => {
                if let Some(Scalar::Mask(new)) = replaced.get(&Scalar::Mask(*reg)) {
                    *reg = *new;
                }
            }
            Terminator::Switch { selector: reg, cases: _, default: _ } => {
                if let Some(Scalar::Word(new)) = replaced.get(&Scalar::Word(*reg)) {
                    *reg = *new;
                }
            }
            Terminator::Jump { .. }
            | Terminator::Barrier { .. }
            | Terminator::End
            | Terminator::Unreachable => {}
        }
        let mut at = 0..end;
        block.steps.retain(|_| at.next().is_some_and(|at| !dead.contains(&at)));
    }
}

/// Whether one of the `writes`, in ascending order, is behind step `at` and not behind `until`.
fn is_written(writes: &[usize], at: usize, until: usize) -> bool {
    let behind = writes.partition_point(|write| *write <= at);
    writes.get(behind).is_some_and(|write| *write <= until)
}

#[cfg(test)]
mod tests {
    use super::is_written;

    #[test]
    fn a_write_counts_behind_the_copy_up_to_the_last_read() {
        let writes = [1, 4, 4, 9];
        for at in 0..11 {
            for until in 0..11 {
                let listed = writes.iter().any(|write| *write > at && *write <= until);
                assert_eq!(is_written(&writes, at, until), listed, "behind {at}, up to {until}");
            }
        }
    }
}
