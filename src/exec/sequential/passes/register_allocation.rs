//! Register allocation: a register that lives in one block shares its place with others.

use super::occurrences::{RegisterTable, externally_set, find_occurrences};
use crate::ir::*;

/// A pool of places for registers that live in one block.
#[derive(Default)]
struct RegisterPool {
    free: Vec<u32>,
    size: u32,
}

impl RegisterPool {
    fn take_register(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.size += 1;
            self.size - 1
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum RegisterPlace {
    Unused,
    /// Uniform register by number.
    Uniform(u32),
    /// In the pool for values that are always defined, or in the one for values that may be
    /// undefined.
    Defined(u32),
    MaybeUndefined(u32),
    AcrossBlocks(u32),
}

/// Gives a register without a place one of those that keep their value across blocks;
/// `lasting_counts` counts these, of words and of masks.
fn place_across_blocks(
    scalar: Scalar,
    register_places: &mut RegisterTable<RegisterPlace>,
    lasting_counts: &mut [u32; 2],
) {
    let lasting_count = &mut lasting_counts[usize::from(matches!(scalar, Scalar::Mask(_)))];
    if matches!(register_places.get(scalar), RegisterPlace::Unused) {
        *register_places.get_mut(scalar) = RegisterPlace::AcrossBlocks(*lasting_count);
        *lasting_count += 1;
    }
}

/// Gives every register its final number.
pub(crate) fn allocate_registers(program: &mut Program, maybe_undefined: &RegisterTable<bool>) {
    let occurrence_table = find_occurrences(program);
    let mut register_places = RegisterTable::new(program, RegisterPlace::Unused);
    for (index, (_, reg)) in program.uniforms.iter().enumerate() {
        register_places.words[reg.0 as usize] = RegisterPlace::Uniform(index as u32);
    }
    for (index, (_, reg)) in program.uniform_masks.iter().enumerate() {
        register_places.masks[reg.0 as usize] = RegisterPlace::Uniform(index as u32);
    }
    let mut lasting_counts = [0u32; 2];
    for scalar in externally_set(program) {
        place_across_blocks(scalar, &mut register_places, &mut lasting_counts);
    }
    let mut pools: [[RegisterPool; 2]; 2] = Default::default();
    for block in &mut program.blocks {
        let mut last_steps: FxHashMap<Scalar, usize> = FxHashMap::default();
        for (step_index, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, _| {
                last_steps.insert(*scalar, step_index);
            });
        }
        let decider = block.terminator.deciding_register();
        last_steps.extend(decider.map(|decider| (decider, usize::MAX)));
        for pool in pools.iter_mut().flatten() {
            pool.free = (0..pool.size).rev().collect();
        }
        for (step_index, step) in block.steps.iter_mut().enumerate() {
            let mut ending_registers: Vec<(Scalar, RegisterPlace)> = Vec::new();
            step.instruction.visit_registers(&mut |scalar, _| {
                if matches!(register_places.get(*scalar), RegisterPlace::Unused) {
                    if occurrence_table.get(*scalar).outlives_block {
                        place_across_blocks(*scalar, &mut register_places, &mut lasting_counts);
                    } else {
                        let pool_kind = usize::from(matches!(scalar, Scalar::Mask(_)));
                        let is_maybe = *maybe_undefined.get(*scalar);
                        let place = pools[pool_kind][usize::from(is_maybe)].take_register();
                        *register_places.get_mut(*scalar) = if is_maybe {
                            RegisterPlace::MaybeUndefined(place)
                        } else {
                            RegisterPlace::Defined(place)
                        };
                    }
                }
                if last_steps.get(scalar) == Some(&step_index)
                    && !ending_registers.iter().any(|(ending_scalar, _)| ending_scalar == scalar)
                {
                    ending_registers.push((*scalar, *register_places.get(*scalar)));
                }
            });
            for (scalar, place) in ending_registers {
                let pool_kind = usize::from(matches!(scalar, Scalar::Mask(_)));
                match place {
                    RegisterPlace::Defined(index) => pools[pool_kind][0].free.push(index),
                    RegisterPlace::MaybeUndefined(index) => pools[pool_kind][1].free.push(index),
                    RegisterPlace::Unused
                    | RegisterPlace::Uniform(_)
                    | RegisterPlace::AcrossBlocks(_) => {}
                }
            }
        }
        if let Some(decider) = decider
            && matches!(register_places.get(decider), RegisterPlace::Unused)
        {
            place_across_blocks(decider, &mut register_places, &mut lasting_counts);
        }
    }
    let pool_sizes = pools.map(|[defined, maybe_undefined]| [defined.size, maybe_undefined.size]);
    let uniforms = [program.uniforms.len() as u32, program.uniform_masks.len() as u32];
    let shared_counts = [0, 1].map(|pool_kind: usize| {
        uniforms[pool_kind] + pool_sizes[pool_kind][0] + pool_sizes[pool_kind][1]
    });
    let final_number = |scalar: Scalar| {
        let pool_kind = usize::from(matches!(scalar, Scalar::Mask(_)));
        match register_places.get(scalar) {
            RegisterPlace::Unused => 0,
            RegisterPlace::Uniform(index) => *index,
            RegisterPlace::Defined(index) => uniforms[pool_kind] + index,
            RegisterPlace::MaybeUndefined(index) => {
                uniforms[pool_kind] + pool_sizes[pool_kind][0] + index
            }
            RegisterPlace::AcrossBlocks(index) => shared_counts[pool_kind] + index,
        }
    };
    renumber_registers(program, &final_number);
    [program.shared_words, program.shared_masks] = shared_counts;
    program.words = shared_counts[0] + lasting_counts[0];
    program.masks = shared_counts[1] + lasting_counts[1];
}

fn renumber_registers(program: &mut Program, final_number: &dyn Fn(Scalar) -> u32) {
    let renamed_scalar = |scalar: Scalar| match scalar {
        Scalar::Word(_) => Scalar::Word(Reg(final_number(scalar))),
        Scalar::Mask(_) => Scalar::Mask(Reg(final_number(scalar))),
    };
    let renumber_word = |reg: &mut Reg| *reg = Reg(final_number(Scalar::Word(*reg)));
    let renumber_mask = |reg: &mut Reg| *reg = Reg(final_number(Scalar::Mask(*reg)));
    for block in &mut program.blocks {
        for step in &mut block.steps {
            step.instruction.visit_registers(&mut |scalar, _| *scalar = renamed_scalar(*scalar));
            step.operands_to_check.iter_mut().for_each(|scalar| *scalar = renamed_scalar(*scalar));
        }
        block.operands_to_check.iter_mut().for_each(|scalar| *scalar = renamed_scalar(*scalar));
        match &mut block.terminator {
            Terminator::Branch { condition, yes: _, no: _ } => renumber_mask(condition),
            Terminator::Switch { selector, cases: _, default: _ } => renumber_word(selector),
            Terminator::Jump { .. }
            | Terminator::Barrier { .. }
            | Terminator::End
            | Terminator::Unreachable => {}
        }
    }
    for barrier in &mut program.barriers {
        let mut counters = barrier.counters.to_vec();
        counters.iter_mut().for_each(renumber_word);
        barrier.counters = counters.into();
    }
    program.uniforms.iter_mut().for_each(|(_, reg)| renumber_word(reg));
    program.uniform_masks.iter_mut().for_each(|(_, reg)| renumber_mask(reg));
    program.per_lane.iter_mut().for_each(|(_, reg)| renumber_word(reg));
    program.zeroed_words.iter_mut().for_each(renumber_word);
    program.undefined_words.iter_mut().for_each(renumber_word);
    program.undefined_masks.iter_mut().for_each(renumber_mask);
}
use rustc_hash::FxHashMap;
