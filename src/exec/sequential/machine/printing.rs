//! Debug printf on the machine.

use super::state::Machine;
use crate::ir::{PrintedLine, Scalar, print_format};

impl Machine<'_> {
    pub(super) fn print(&mut self, what: &PrintedLine, place: u32) {
        let mut printer = std::mem::take(&mut self.monitor.printer);
        for lane in self.registers.active.lanes() {
            let number = |parts| self.registers.number(parts, lane);
            let boolean = |reg| u64::from(self.registers.word_of(Scalar::Mask(reg), lane));
            printer
                .add(self.rank(lane), place, || print_format::format_line(what, number, boolean));
        }
        self.monitor.printer = printer;
    }
}
