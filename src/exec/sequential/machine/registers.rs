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
    pub(super) private: Vec<u32>,
    pub(super) private_undefined: Vec<u64>,
    /// Local index of the first lane.
    pub(super) first_lane: u32,
    /// The active lanes, and whether every lane that can still run is active.
    pub(super) active: LaneMask,
    pub(super) full: bool,
    /// `active` as one word per lane; valid unless `full`.
    pub(super) lane_mask: Box<[u32]>,
    pub(super) scratch: Box<[u32]>,
    /// For loaded and stored values.
    pub(super) staging: Box<[u32]>,
    /// The same for numbers of 64 bits: their high halves.
    pub(super) staging_high: Box<[u32]>,
    /// Elements of a matrix while it is computed.
    pub(super) elements: Vec<u64>,
}

impl Registers {
    pub(super) fn new(program: &Program, width: usize) -> Self {
        let mask_words = width.div_ceil(64);
        Self {
            width,
            mask_words,
            shared_words: program.shared_words,
            shared_masks: program.shared_masks,
            words: vec![vec![0; width].into(); program.words as usize],
            masks: vec![0; program.masks as usize * mask_words],
            undefined_words: vec![0; program.words as usize * mask_words],
            undefined_masks: vec![0; program.masks as usize * mask_words],
            private: Vec::new(),
            private_undefined: Vec::new(),
            first_lane: 0,
            active: LaneMask::EMPTY,
            full: true,
            lane_mask: vec![0; width].into(),
            scratch: vec![0; width].into(),
            staging: vec![0; width].into(),
            staging_high: vec![0; width].into(),
            elements: Vec::new(),
        }
    }

    /// Exchanges the tile's registers with the machine's own.
    pub(super) fn exchange(&mut self, tile: &mut Tile) {
        let shared_words = self.shared_words as usize;
        let shared_masks = self.shared_masks as usize * self.mask_words;
        self.words[shared_words..].swap_with_slice(&mut tile.words);
        self.masks[shared_masks..].swap_with_slice(&mut tile.masks);
        self.undefined_words[shared_words * self.mask_words..]
            .swap_with_slice(&mut tile.undefined_words);
        self.undefined_masks[shared_masks..].swap_with_slice(&mut tile.undefined_masks);
        std::mem::swap(&mut self.private, &mut tile.memory);
        std::mem::swap(&mut self.private_undefined, &mut tile.memory_undefined);
    }

    /// The word of a scalar in a lane: of a Boolean 0 or 1.
    pub(super) fn word_of(&self, scalar: Scalar, lane: usize) -> u32 {
        match scalar {
            Scalar::Word(reg) => self.words[reg.0 as usize][lane],
            Scalar::Mask(reg) => (self.bits(reg)[lane / 64] >> (lane % 64)) as u32 & 1,
        }
    }

    /// The bits of a number in a lane.
    pub(super) fn number(&self, parts: NumberRegisters, lane: usize) -> u64 {
        let word = |reg: Reg| u64::from(self.words[reg.0 as usize][lane]);
        word(parts.low) | parts.high.map_or(0, |high| word(high) << 32)
    }

    /// The operands of an operation in a lane; those that it does not have are 0.
    pub(super) fn operands(&self, from: &[NumberRegisters], lane: usize) -> [u64; 3] {
        std::array::from_fn(|index| from.get(index).map_or(0, |parts| self.number(*parts, lane)))
    }

    #[inline]
    pub(super) fn bits(&self, reg: Reg) -> [u64; MASK_WORDS] {
        let mut bits = [0; MASK_WORDS];
        bits[..self.mask_words]
            .copy_from_slice(&self.masks[reg.0 as usize * self.mask_words..][..self.mask_words]);
        bits
    }

    /// Gives a scalar a word by lane; a Boolean is set where its word is not 0.
    pub(super) fn write_words(&mut self, scalar: Scalar, words: &[u32]) {
        match scalar {
            Scalar::Word(reg) => self.write(reg, |out, _| out.copy_from_slice(words)),
            Scalar::Mask(reg) => {
                let mut bits = [0; MASK_WORDS];
                vkcert_spirv::operation::word::pack_bits(
                    &mut bits[..self.mask_words],
                    words,
                    words,
                    |a, _| a != 0,
                );
                self.write_mask(reg, &bits);
            }
        }
    }

    /// Computes a register: in place where every lane may be written, else through the scratch
    /// register.
    #[inline]
    pub(super) fn write(&mut self, to: Reg, compute: impl FnOnce(&mut [u32], &[Box<[u32]>])) {
        let index = to.0 as usize;
        if self.full || to.0 < self.shared_words {
            let mut out = std::mem::take(&mut self.words[index]);
            compute(&mut out, &self.words);
            self.words[index] = out;
        } else {
            let mut out = std::mem::take(&mut self.scratch);
            compute(&mut out, &self.words);
            blend_lanes(&mut self.words[index], &out, &self.lane_mask);
            self.scratch = out;
        }
    }

    #[inline]
    pub(super) fn write_mask(&mut self, to: Reg, bits: &[u64; MASK_WORDS]) {
        let old = &mut self.masks[to.0 as usize * self.mask_words..][..self.mask_words];
        for ((old, new), active) in old.iter_mut().zip(bits).zip(&self.active.0) {
            *old = (*old & !active) | (new & active);
        }
    }

    pub(super) fn undefined_bits(&self, scalar: Scalar) -> [u64; MASK_WORDS] {
        let mut bits = [0; MASK_WORDS];
        let (all, reg) = match scalar {
            Scalar::Word(reg) => (&self.undefined_words, reg),
            Scalar::Mask(reg) => (&self.undefined_masks, reg),
        };
        bits[..self.mask_words]
            .copy_from_slice(&all[reg.0 as usize * self.mask_words..][..self.mask_words]);
        bits
    }

    pub(super) fn marks_of(&mut self, scalar: Scalar) -> &mut [u64] {
        let (all, reg) = match scalar {
            Scalar::Word(reg) => (&mut self.undefined_words, reg),
            Scalar::Mask(reg) => (&mut self.undefined_masks, reg),
        };
        &mut all[reg.0 as usize * self.mask_words..][..self.mask_words]
    }

    pub(super) fn lowest(&self, bits: &[u64; MASK_WORDS]) -> Option<usize> {
        let word = bits[..self.mask_words].iter().position(|word| *word != 0)?;
        Some(64 * word + bits[word].trailing_zeros() as usize)
    }

    pub(super) fn lanes_where(&self, test: impl Fn(usize) -> bool) -> LaneMask {
        let mut mask = LaneMask::EMPTY;
        for lane in self.active.lanes().filter(|lane| test(*lane)) {
            mask.insert(lane);
        }
        mask
    }

    pub(super) fn activate(&mut self, lanes: LaneMask, full: bool) {
        self.active = lanes;
        self.full = full;
        if !full {
            spread_bits(&mut self.lane_mask, &self.active.0[..self.mask_words]);
        }
    }

    pub(super) fn float(&self, reg: Reg, lane: usize) -> f32 {
        f32::from_bits(self.words[reg.0 as usize][lane])
    }

    pub(super) fn floats(&self, registers: &[Reg], lane: usize) -> [f32; 4] {
        std::array::from_fn(|at| registers.get(at).map_or(0.0, |reg| self.float(*reg, lane)))
    }
}
