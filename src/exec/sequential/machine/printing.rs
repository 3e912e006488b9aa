//! Debug printf on the machine.

use super::state::Machine;
use crate::ir::{PrintedLine, Scalar, print_format};

impl Machine<'_> {
    pub(super) fn print_lines(&mut self, print_instruction: &PrintedLine, source_index: u32) {
        let mut printer = std::mem::take(&mut self.monitor.printer);
        for lane in self.registers.active_lanes.lanes() {
            let number_bits = |parts| self.registers.number_at(parts, lane);
            let boolean_bits = |reg| u64::from(self.registers.word_of(Scalar::Mask(reg), lane));
            printer.add_line(self.rank_of_lane(lane), source_index, || {
                print_format::format_line(print_instruction, number_bits, boolean_bits)
            });
        }
        self.monitor.printer = printer;
    }
}
