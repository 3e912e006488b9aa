//! Register allocation: a register that lives in one block shares its place with others.

use super::occurrences::{Table, lasting_from_outside, occurrences};
use crate::ir::*;
use std::collections::HashMap;

/// Places of registers that live in one block: of those that may be undefined, and of the others.
#[derive(Default)]
struct Pool {
    free: Vec<u32>,
    size: u32,
}

impl Pool {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.size += 1;
            self.size - 1
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Unused,
    /// Uniform register by number.
    Uniform(u32),
    /// In the pool for values that are always defined, or for those that may not be.
    Defined(u32),
    Maybe(u32),
    Lasting(u32),
}

/// Gives every register its final number.
pub(crate) fn allocate(program: &mut Program, may: &Table<bool>) {
    let table = occurrences(program);
    let mut places = Table::new(program, Place::Unused);
    for (index, (_, reg)) in program.uniforms.iter().enumerate() {
        places.words[reg.0 as usize] = Place::Uniform(index as u32);
    }
    for (index, (_, reg)) in program.uniform_masks.iter().enumerate() {
        places.masks[reg.0 as usize] = Place::Uniform(index as u32);
    }
    let mut lasting = [0u32; 2];
    let mut place_lasting = |scalar: Scalar, places: &mut Table<Place>| {
        let count = &mut lasting[usize::from(matches!(scalar, Scalar::Mask(_)))];
        if matches!(places.get(scalar), Place::Unused) {
            *places.at(scalar) = Place::Lasting(*count);
            *count += 1;
        }
    };
    for scalar in lasting_from_outside(program) {
        place_lasting(scalar, &mut places);
    }
    let mut pools: [[Pool; 2]; 2] = Default::default();
    for block in &mut program.blocks {
        let mut last: HashMap<Scalar, usize> = HashMap::new();
        for (at, step) in block.steps.iter_mut().enumerate() {
            step.instruction.visit_registers(&mut |scalar, _| {
                last.insert(*scalar, at);
            });
        }
        let decider = block.terminator.deciding_register();
        last.extend(decider.map(|decider| (decider, usize::MAX)));
        for pool in pools.iter_mut().flatten() {
            pool.free = (0..pool.size).rev().collect();
        }
        for (at, step) in block.steps.iter_mut().enumerate() {
            let mut ending: Vec<(Scalar, Place)> = Vec::new();
            step.instruction.visit_registers(&mut |scalar, _| {
                if matches!(places.get(*scalar), Place::Unused) {
                    if table.get(*scalar).lasting {
                        place_lasting(*scalar, &mut places);
                    } else {
                        let kind = usize::from(matches!(scalar, Scalar::Mask(_)));
                        let maybe = *may.get(*scalar);
                        let place = pools[kind][usize::from(maybe)].take();
                        *places.at(*scalar) =
                            if maybe { Place::Maybe(place) } else { Place::Defined(place) };
                    }
                }
                if last.get(scalar) == Some(&at) && !ending.iter().any(|(other, _)| other == scalar)
                {
                    ending.push((*scalar, *places.get(*scalar)));
                }
            });
            for (scalar, place) in ending {
                let kind = usize::from(matches!(scalar, Scalar::Mask(_)));
                match place {
                    Place::Defined(index) => pools[kind][0].free.push(index),
                    Place::Maybe(index) => pools[kind][1].free.push(index),
                    Place::Unused | Place::Uniform(_) | Place::Lasting(_) => {}
                }
            }
        }
        if let Some(decider) = decider
            && matches!(places.get(decider), Place::Unused)
        {
            place_lasting(decider, &mut places);
        }
    }
    let sizes = pools.map(|[defined, maybe]| [defined.size, maybe.size]);
    let uniforms = [program.uniforms.len() as u32, program.uniform_masks.len() as u32];
    let shared = [0, 1].map(|kind: usize| uniforms[kind] + sizes[kind][0] + sizes[kind][1]);
    let number = |scalar: Scalar| {
        let kind = usize::from(matches!(scalar, Scalar::Mask(_)));
        match places.get(scalar) {
            Place::Unused => 0,
            Place::Uniform(index) => *index,
            Place::Defined(index) => uniforms[kind] + index,
            Place::Maybe(index) => uniforms[kind] + sizes[kind][0] + index,
            Place::Lasting(index) => shared[kind] + index,
        }
    };
    renumber(program, &number);
    [program.shared_words, program.shared_masks] = shared;
    program.words = shared[0] + lasting[0];
    program.masks = shared[1] + lasting[1];
}

fn renumber(program: &mut Program, number: &dyn Fn(Scalar) -> u32) {
    let rename = |scalar: Scalar| match scalar {
        Scalar::Word(_) => Scalar::Word(Reg(number(scalar))),
        Scalar::Mask(_) => Scalar::Mask(Reg(number(scalar))),
    };
    let word = |reg: &mut Reg| *reg = Reg(number(Scalar::Word(*reg)));
    let mask = |reg: &mut Reg| *reg = Reg(number(Scalar::Mask(*reg)));
    for block in &mut program.blocks {
        for step in &mut block.steps {
            step.instruction.visit_registers(&mut |scalar, _| *scalar = rename(*scalar));
            step.operands_to_check.iter_mut().for_each(|scalar| *scalar = rename(*scalar));
        }
        block.operands_to_check.iter_mut().for_each(|scalar| *scalar = rename(*scalar));
        match &mut block.terminator {
            Terminator::Branch { condition, yes: _, no: _ } => mask(condition),
            Terminator::Switch { selector, cases: _, default: _ } => word(selector),
            Terminator::Jump { .. }
            | Terminator::Barrier { .. }
            | Terminator::End
            | Terminator::Unreachable => {}
        }
    }
    for barrier in &mut program.barriers {
        let mut counters = barrier.counters.to_vec();
        counters.iter_mut().for_each(word);
        barrier.counters = counters.into();
    }
    program.uniforms.iter_mut().for_each(|(_, reg)| word(reg));
    program.uniform_masks.iter_mut().for_each(|(_, reg)| mask(reg));
    program.per_lane.iter_mut().for_each(|(_, reg)| word(reg));
    program.zeroed.iter_mut().for_each(word);
    program.undefined_words.iter_mut().for_each(word);
    program.undefined_masks.iter_mut().for_each(mask);
}
