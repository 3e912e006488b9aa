//! The registers of the tile that runs: values, marks of undefined ones, which lanes are active.
//!
//! Knows: the registers that no block outlives come first and are shared by all tiles; behind them
//! stand those of the tile, exchanged with it when it is its turn.
//! Promises: a register that outlives its block changes in active lanes alone.
//! Does not cover: which operation left an undefined value (`undefined_origins`).

use super::tile::Tile;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS, blend_lanes, spread_bits};
use crate::ir::{NumberRegisters, Program, Reg, Scalar};

/// What the lanes of the tile that runs hold.
pub(crate) struct Registers {
    /// Lanes of a tile, and words of its masks.
    pub(super) width: usize,
    pub(super) mask_words: usize,
    /// Registers that no block outlives, of words and of Booleans.
    pub(super) shared_words: u32,
    pub(super) shared_masks: u32,
    pub(super) words: Vec<Box<[u32]>>,
    pub(super) masks: Vec<u64>,
    pub(super) undefined_words: Vec<u64>,
    pub(super) undefined_masks: Vec<u64>,
    /// Memory of the invocations, `width` of them word by word.
    pub(super) private_words: Vec<u32>,
    pub(super) private_undefined: Vec<u64>,
    /// Local index of the first lane.
    pub(super) first_lane: u32,
    /// The active lanes, and whether every lane that can still run is active.
    pub(super) active_lanes: LaneMask,
    pub(super) all_active: bool,
    /// `active_lanes` as one word per lane; valid unless `all_active`.
    pub(super) lane_mask: Box<[u32]>,
    pub(super) scratch_words: Box<[u32]>,
    /// For loaded and stored values.
    pub(super) staging_words: Box<[u32]>,
    /// The same for numbers of 64 bits: their high halves.
    pub(super) staging_high: Box<[u32]>,
    /// Elements of a matrix while it is computed.
    pub(super) matrix_elements: Vec<u64>,
}

impl Registers {
    pub(super) fn new(program: &Program, tile_width: usize) -> Self {
        let mask_words = tile_width.div_ceil(64);
        Self {
            width: tile_width,
            mask_words,
            shared_words: program.shared_words,
            shared_masks: program.shared_masks,
            words: vec![vec![0; tile_width].into(); program.words as usize],
            masks: vec![0; program.masks as usize * mask_words],
            undefined_words: vec![0; program.words as usize * mask_words],
            undefined_masks: vec![0; program.masks as usize * mask_words],
            private_words: Vec::new(),
            private_undefined: Vec::new(),
            first_lane: 0,
            active_lanes: LaneMask::EMPTY,
            all_active: true,
            lane_mask: vec![0; tile_width].into(),
            scratch_words: vec![0; tile_width].into(),
            staging_words: vec![0; tile_width].into(),
            staging_high: vec![0; tile_width].into(),
            matrix_elements: Vec::new(),
        }
    }

    /// Exchanges the tile's registers with the machine's own.
    pub(super) fn exchange_tile(&mut self, tile: &mut Tile) {
        let shared_words = self.shared_words as usize;
        let shared_masks = self.shared_masks as usize * self.mask_words;
        self.words[shared_words..].swap_with_slice(&mut tile.words);
        self.masks[shared_masks..].swap_with_slice(&mut tile.masks);
        self.undefined_words[shared_words * self.mask_words..]
            .swap_with_slice(&mut tile.undefined_words);
        self.undefined_masks[shared_masks..].swap_with_slice(&mut tile.undefined_masks);
        std::mem::swap(&mut self.private_words, &mut tile.private_words);
        std::mem::swap(&mut self.private_undefined, &mut tile.private_undefined);
    }

    /// The word of a scalar in a lane: of a Boolean 0 or 1.
    pub(super) fn word_of(&self, scalar: Scalar, lane: usize) -> u32 {
        match scalar {
            Scalar::Word(reg) => self.words[reg.0 as usize][lane],
            Scalar::Mask(reg) => (self.mask_bits(reg)[lane / 64] >> (lane % 64)) as u32 & 1,
        }
    }

    /// The bits of a number in a lane.
    pub(super) fn number_at(&self, parts: NumberRegisters, lane: usize) -> u64 {
        let word_bits = |register: Reg| u64::from(self.words[register.0 as usize][lane]);
        word_bits(parts.low) | parts.high.map_or(0, |high| word_bits(high) << 32)
    }

    /// The operands of an operation in a lane; those that it does not have are 0.
    pub(super) fn operands_at(&self, operand_parts: &[NumberRegisters], lane: usize) -> [u64; 3] {
        std::array::from_fn(|operand_index| {
            operand_parts.get(operand_index).map_or(0, |parts| self.number_at(*parts, lane))
        })
    }

    #[inline]
    pub(super) fn mask_bits(&self, register: Reg) -> [u64; MASK_WORDS] {
        let mut lane_bits = [0; MASK_WORDS];
        lane_bits[..self.mask_words].copy_from_slice(
            &self.masks[register.0 as usize * self.mask_words..][..self.mask_words],
        );
        lane_bits
    }

    /// Gives a scalar a word by lane; a Boolean is set where its word is not 0.
    pub(super) fn write_words(&mut self, scalar: Scalar, words: &[u32]) {
        match scalar {
            Scalar::Word(reg) => {
                self.write_register(reg, |lane_values, _| lane_values.copy_from_slice(words))
            }
            Scalar::Mask(reg) => {
                let mut lane_bits = [0; MASK_WORDS];
                vkcert_spirv::operation::word::pack_bits(
                    &mut lane_bits[..self.mask_words],
                    words,
                    words,
                    |a, _| a != 0,
                );
                self.write_mask(reg, &lane_bits);
            }
        }
    }

    /// Computes a register: in place where every lane may be written, else through the scratch
    /// register.
    #[inline]
    pub(super) fn write_register(
        &mut self,
        result_register: Reg,
        compute: impl FnOnce(&mut [u32], &[Box<[u32]>]),
    ) {
        let register_index = result_register.0 as usize;
        if self.all_active || result_register.0 < self.shared_words {
            let mut lane_values = std::mem::take(&mut self.words[register_index]);
            compute(&mut lane_values, &self.words);
            self.words[register_index] = lane_values;
        } else {
            let mut lane_values = std::mem::take(&mut self.scratch_words);
            compute(&mut lane_values, &self.words);
            blend_lanes(&mut self.words[register_index], &lane_values, &self.lane_mask);
            self.scratch_words = lane_values;
        }
    }

    #[inline]
    pub(super) fn write_mask(&mut self, result_register: Reg, lane_bits: &[u64; MASK_WORDS]) {
        let mask_words =
            &mut self.masks[result_register.0 as usize * self.mask_words..][..self.mask_words];
        for ((mask_word, new_bits), active) in
            mask_words.iter_mut().zip(lane_bits).zip(&self.active_lanes.0)
        {
            *mask_word = (*mask_word & !active) | (new_bits & active);
        }
    }

    pub(super) fn undefined_bits(&self, scalar: Scalar) -> [u64; MASK_WORDS] {
        let mut undefined_lanes = [0; MASK_WORDS];
        let (all_marks, reg) = match scalar {
            Scalar::Word(reg) => (&self.undefined_words, reg),
            Scalar::Mask(reg) => (&self.undefined_masks, reg),
        };
        undefined_lanes[..self.mask_words]
            .copy_from_slice(&all_marks[reg.0 as usize * self.mask_words..][..self.mask_words]);
        undefined_lanes
    }

    pub(super) fn undefined_marks(&mut self, scalar: Scalar) -> &mut [u64] {
        let (all_marks, reg) = match scalar {
            Scalar::Word(reg) => (&mut self.undefined_words, reg),
            Scalar::Mask(reg) => (&mut self.undefined_masks, reg),
        };
        &mut all_marks[reg.0 as usize * self.mask_words..][..self.mask_words]
    }

    pub(super) fn lowest_lane(&self, lane_bits: &[u64; MASK_WORDS]) -> Option<usize> {
        let mask_word =
            lane_bits[..self.mask_words].iter().position(|mask_word| *mask_word != 0)?;
        Some(64 * mask_word + lane_bits[mask_word].trailing_zeros() as usize)
    }

    pub(super) fn lanes_where(&self, is_chosen: impl Fn(usize) -> bool) -> LaneMask {
        let mut mask = LaneMask::EMPTY;
        for lane in self.active_lanes.lanes().filter(|lane| is_chosen(*lane)) {
            mask.insert(lane);
        }
        mask
    }

    pub(super) fn activate_lanes(&mut self, active_lanes: LaneMask, is_full: bool) {
        self.active_lanes = active_lanes;
        self.all_active = is_full;
        if !is_full {
            spread_bits(&mut self.lane_mask, &self.active_lanes.0[..self.mask_words]);
        }
    }

    pub(super) fn float_at(&self, register: Reg, lane: usize) -> f32 {
        f32::from_bits(self.words[register.0 as usize][lane])
    }

    pub(super) fn floats_at(&self, registers: &[Reg], lane: usize) -> [f32; 4] {
        std::array::from_fn(|component_index| {
            registers.get(component_index).map_or(0.0, |reg| self.float_at(*reg, lane))
        })
    }
}
