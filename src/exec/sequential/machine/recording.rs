//! Records of decisions: which vector was seen, and by whom.

use super::registers::Registers;
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{RecordedComparison, Reg};

impl Registers {
    pub(super) fn condition(&mut self, sum: Reg, value: Reg, weights: [u32; 2]) {
        if weights == [0, 0] {
            return;
        }
        let bits = self.bits(value);
        let [when_true, when_false] = weights;
        for (word, value) in bits[..self.mask_words].iter().enumerate() {
            let sums = &mut self.words[sum.0 as usize];
            for (lanes, weight) in [
                (self.active.0[word] & value, when_true),
                (self.active.0[word] & !value, when_false),
            ] {
                if weight != 0 {
                    for lane in crate::ir::lane_mask::set_bits(lanes) {
                        let sum = &mut sums[64 * word + lane];
                        *sum = sum.wrapping_add(weight);
                    }
                }
            }
        }
    }
}

impl Machine<'_> {
    pub(super) fn decision(&mut self, slot: u32, sum: Reg, compared: &[RecordedComparison]) {
        let mut last = None;
        for lane in self.registers.active.lanes() {
            let value = std::mem::take(&mut self.registers.words[sum.0 as usize][lane]);
            // Lanes come in ascending order, so a sum that repeats cannot lower the witness.
            if last != Some(value) {
                last = Some(value);
                self.set_bit(slot, value, lane, compared);
            }
            if self.monitor.recorder.keeps_everyone()
                && let Some(bit) = self.monitor.recorder.bit(slot, value)
            {
                self.monitor.recorder.keep(bit, self.rank(lane));
            }
        }
    }

    pub(super) fn single(
        &mut self,
        slot: u32,
        value: Reg,
        weights: [u32; 2],
        compared: &[RecordedComparison],
    ) {
        let bits = self.registers.bits(value);
        let taken = std::array::from_fn(|word| self.registers.active.0[word] & bits[word]);
        let passed = std::array::from_fn(|word| self.registers.active.0[word] & !bits[word]);
        for (lanes, weight) in [(taken, weights[0]), (passed, weights[1])] {
            if let Some(lane) = self.registers.lowest(&lanes) {
                self.set_bit(slot, weight, lane, compared);
            }
            self.keep(self.monitor.recorder.bit(slot, weight), lanes);
        }
    }

    /// Keeps who sets a bit, where that is asked for.
    pub(super) fn keep(&mut self, bit: Option<u32>, lanes: [u64; MASK_WORDS]) {
        let (true, Some(bit)) = (self.monitor.recorder.keeps_everyone(), bit) else { return };
        for lane in LaneMask(lanes).lanes() {
            let rank = self.rank(lane);
            self.monitor.recorder.keep(bit, rank);
        }
    }

    fn set_bit(&mut self, slot: u32, sum: u32, lane: usize, compared: &[RecordedComparison]) {
        let rank = self.rank(lane);
        let Some(bit) = self.monitor.recorder.bit(slot, sum) else { return };
        if self.monitor.recorder.set(bit, rank) && !compared.is_empty() {
            let words = &self.registers.words;
            self.monitor.recorder.operands(bit, compared, |reg| words[reg.0 as usize][lane]);
        }
    }
}
