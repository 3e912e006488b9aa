//! Debug printf on the machine.

use super::state::Machine;
use crate::ir::{Print, Scalar, print_format};

impl Machine<'_> {
    pub(super) fn print(&mut self, what: &Print, place: u32) {
        let mut printer = std::mem::take(&mut self.printer);
        for lane in self.active.lanes() {
            let number = |parts| self.number(parts, lane);
            let boolean = |reg| u64::from(self.word_of(Scalar::Mask(reg), lane));
            printer.add(self.rank(lane), place, || print_format::line(what, number, boolean));
        }
        self.printer = printer;
    }
}
