//! Records of decisions: which vector was seen, and by whom.

use super::registers::Registers;
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{RecordedComparison, Reg};

impl Registers {
    pub(super) fn add_condition_weight(
        &mut self,
        sum_register: Reg,
        value_register: Reg,
        weights: [u32; 2],
    ) {
        if weights == [0, 0] {
            return;
        }
        let bits = self.mask_bits(value_register);
        let [when_true, when_false] = weights;
        for (mask_word, value_bits) in bits[..self.mask_words].iter().enumerate() {
            let lane_sums = &mut self.words[sum_register.0 as usize];
            for (lanes, weight) in [
                (self.active_lanes.0[mask_word] & value_bits, when_true),
                (self.active_lanes.0[mask_word] & !value_bits, when_false),
            ] {
                if weight != 0 {
                    for lane in crate::ir::lane_mask::set_bits(lanes) {
                        let lane_sum = &mut lane_sums[64 * mask_word + lane];
                        *lane_sum = lane_sum.wrapping_add(weight);
                    }
                }
            }
        }
    }
}

impl Machine<'_> {
    pub(super) fn record_decision(
        &mut self,
        decision_slot: u32,
        sum_register: Reg,
        compared_operands: &[RecordedComparison],
    ) {
        let mut last_sum = None;
        for lane in self.registers.active_lanes.lanes() {
            let vector_sum =
                std::mem::take(&mut self.registers.words[sum_register.0 as usize][lane]);
            // Lanes come in ascending order, so a sum that repeats cannot lower the witness.
            if last_sum != Some(vector_sum) {
                last_sum = Some(vector_sum);
                self.set_bit(decision_slot, vector_sum, lane, compared_operands);
            }
            if self.monitor.recorder.keeps_everyone()
                && let Some(record_bit) =
                    self.monitor.recorder.record_bit(decision_slot, vector_sum)
            {
                self.monitor.recorder.keep_invocation(record_bit, self.rank_of_lane(lane));
            }
        }
    }

    pub(super) fn record_single_condition(
        &mut self,
        decision_slot: u32,
        value_register: Reg,
        weights: [u32; 2],
        compared_operands: &[RecordedComparison],
    ) {
        let lane_bits = self.registers.mask_bits(value_register);
        let true_lanes =
            std::array::from_fn(|word| self.registers.active_lanes.0[word] & lane_bits[word]);
        let false_lanes =
            std::array::from_fn(|word| self.registers.active_lanes.0[word] & !lane_bits[word]);
        for (lanes, weight) in [(true_lanes, weights[0]), (false_lanes, weights[1])] {
            if let Some(lane) = self.registers.lowest_lane(&lanes) {
                self.set_bit(decision_slot, weight, lane, compared_operands);
            }
            self.keep_setters(self.monitor.recorder.record_bit(decision_slot, weight), lanes);
        }
    }

    /// Sets the bit of a mark for these lanes.
    pub(super) fn record_mark(&mut self, mark_bit: u32, setting_lanes: [u64; MASK_WORDS]) {
        if let Some(lane) = self.registers.lowest_lane(&setting_lanes) {
            let rank = self.rank_of_lane(lane);
            self.monitor.recorder.lower_witness(mark_bit, rank);
        }
        self.keep_setters(Some(mark_bit), setting_lanes);
    }

    /// Sets the bit of a mark for those of the active lanes for which the value holds.
    pub(super) fn record_mark_where(&mut self, mark_bit: u32, value_register: Reg) {
        let lane_bits = self.registers.mask_bits(value_register);
        let true_lanes =
            std::array::from_fn(|word| self.registers.active_lanes.0[word] & lane_bits[word]);
        self.record_mark(mark_bit, true_lanes);
    }

    /// Keeps who sets a bit, where that is asked for.
    pub(super) fn keep_setters(
        &mut self,
        record_bit: Option<u32>,
        setting_lanes: [u64; MASK_WORDS],
    ) {
        let (true, Some(record_bit)) = (self.monitor.recorder.keeps_everyone(), record_bit) else {
            return;
        };
        for lane in LaneMask(setting_lanes).lanes() {
            let rank = self.rank_of_lane(lane);
            self.monitor.recorder.keep_invocation(record_bit, rank);
        }
    }

    fn set_bit(
        &mut self,
        decision_slot: u32,
        vector_sum: u32,
        lane: usize,
        compared_operands: &[RecordedComparison],
    ) {
        let rank = self.rank_of_lane(lane);
        let Some(record_bit) = self.monitor.recorder.record_bit(decision_slot, vector_sum) else {
            return;
        };
        if self.monitor.recorder.lower_witness(record_bit, rank) && !compared_operands.is_empty() {
            let register_words = &self.registers.words;
            self.monitor.recorder.operands(record_bit, compared_operands, |reg| {
                register_words[reg.0 as usize][lane]
            });
        }
    }
}
