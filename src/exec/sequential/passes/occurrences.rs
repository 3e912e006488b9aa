//! Occurrences of registers: in one block, in several blocks, or set before the first block.

use crate::ir::*;

/// How a register occurs in the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence {
    block: Option<u32>,
    /// In more than one block, or read before it is written, or set before the first block.
    pub(crate) outlives_block: bool,
    pub(crate) writes: u32,
}

const NEVER: Occurrence = Occurrence { block: None, outlives_block: false, writes: 0 };

#[derive(Debug, Clone)]
pub(crate) struct RegisterTable<T> {
    pub(crate) words: Vec<T>,
    pub(crate) masks: Vec<T>,
}

impl<T: Copy> RegisterTable<T> {
    pub(crate) fn new(program: &Program, value: T) -> Self {
        Self {
            words: vec![value; program.words as usize],
            masks: vec![value; program.masks as usize],
        }
    }
    pub(crate) fn get_mut(&mut self, scalar: Scalar) -> &mut T {
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

pub(crate) fn find_occurrences(program: &mut Program) -> RegisterTable<Occurrence> {
    let mut occurrence_table = RegisterTable::new(program, NEVER);
    let external_scalars: Vec<Scalar> = externally_set(program);
    for scalar in external_scalars {
        occurrence_table.get_mut(scalar).outlives_block = true;
    }
    for (block_index, block) in program.blocks.iter_mut().enumerate() {
        let block_index = block_index as u32;
        let mut note_use = |scalar: Scalar, is_write: bool| {
            let occurrence = occurrence_table.get_mut(scalar);
            match occurrence.block {
                None => {
                    occurrence.block = Some(block_index);
                    occurrence.outlives_block |= !is_write;
                }
                Some(using_block) if using_block != block_index => occurrence.outlives_block = true,
                Some(_) => {}
            }
            occurrence.writes += u32::from(is_write);
        };
        for step in &mut block.steps {
            step.instruction.visit_registers(&mut |scalar, register_use| {
                note_use(*scalar, register_use == RegisterUse::Write)
            });
        }
        if let Some(decider) = block.terminator.deciding_register() {
            note_use(decider, false);
        }
    }
    occurrence_table
}

pub(crate) fn externally_set(program: &Program) -> Vec<Scalar> {
    let word_registers = program.per_lane.iter().map(|(_, reg)| *reg);
    let word_registers = word_registers
        .chain(program.zeroed_words.iter().copied())
        .chain(program.undefined_words.iter().copied());
    let word_registers = word_registers
        .chain(program.barriers.iter().flat_map(|barrier| barrier.counters.iter().copied()));
    word_registers
        .map(Scalar::Word)
        .chain(program.undefined_masks.iter().map(|reg| Scalar::Mask(*reg)))
        .collect()
}
