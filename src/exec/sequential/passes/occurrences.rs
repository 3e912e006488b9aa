//! Where registers occur: in one block, in several, set from outside.

use crate::ir::*;

/// How a register occurs in the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence {
    block: Option<u32>,
    /// In more than one block, or read before written, or set from outside.
    pub(crate) lasting: bool,
    pub(crate) writes: u32,
}

const NEVER: Occurrence = Occurrence { block: None, lasting: false, writes: 0 };

#[derive(Debug, Clone)]
pub(crate) struct Table<T> {
    pub(crate) words: Vec<T>,
    pub(crate) masks: Vec<T>,
}

impl<T: Clone> Table<T> {
    pub(crate) fn new(program: &Program, value: T) -> Self {
        Self {
            words: vec![value.clone(); program.words as usize],
            masks: vec![value; program.masks as usize],
        }
    }
    pub(crate) fn at(&mut self, scalar: Scalar) -> &mut T {
        match scalar {
            Scalar::Word(reg) => &mut self.words[reg.0 as usize],
            Scalar::Mask(reg) => &mut self.masks[reg.0 as usize],
        }
    }
    pub(crate) fn get(&self, scalar: Scalar) -> &T {
        match scalar {
            Scalar::Word(reg) => &self.words[reg.0 as usize],
            Scalar::Mask(reg) => &self.masks[reg.0 as usize],
        }
    }
}

pub(crate) fn occurrences(program: &mut Program) -> Table<Occurrence> {
    let mut table = Table::new(program, NEVER);
    let outside: Vec<Scalar> = lasting_from_outside(program);
    for scalar in outside {
        table.at(scalar).lasting = true;
    }
    for (index, block) in program.blocks.iter_mut().enumerate() {
        let index = index as u32;
        let mut note = |scalar: Scalar, write: bool| {
            let one = table.at(scalar);
            match one.block {
                None => {
                    one.block = Some(index);
                    one.lasting |= !write;
                }
                Some(block) if block != index => one.lasting = true,
                Some(_) => {}
            }
            one.writes += u32::from(write);
        };
        for step in &mut block.steps {
            step.instruction
                .visit_registers(&mut |scalar, using| note(*scalar, using == RegisterUse::Write));
        }
        if let Some(decider) = block.terminator.deciding_register() {
            note(decider, false);
        }
    }
    table
}

pub(crate) fn lasting_from_outside(program: &Program) -> Vec<Scalar> {
    let words = program.per_lane.iter().map(|(_, reg)| *reg);
    let words =
        words.chain(program.zeroed.iter().copied()).chain(program.undefined_words.iter().copied());
    let words =
        words.chain(program.barriers.iter().flat_map(|barrier| barrier.counters.iter().copied()));
    words
        .map(Scalar::Word)
        .chain(program.undefined_masks.iter().map(|reg| Scalar::Mask(*reg)))
        .collect()
}
