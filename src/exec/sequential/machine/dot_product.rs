//! Integer dot products on the machine, lane by lane.

use super::state::Machine;
use crate::ir::dot_product::DotProduct;
use crate::ir::{NumberRegisters, word_scalars};
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

impl Machine<'_> {
    pub(super) fn dot(
        &mut self,
        dot: DotProduct,
        to: NumberRegisters,
        from: &[NumberRegisters],
        place: u32,
    ) {
        self.write_number(to, |machine, lane| {
            dot.value(from.len(), |index| machine.registers.number(from[index], lane)).0
        });
        if dot.may_be_undefined() {
            let lanes = self.registers.lanes_where(|lane| {
                !dot.value(from.len(), |index| self.registers.number(from[index], lane)).1
            });
            let why =
                "a product or sum of a dot product with an accumulator does not fit the result";
            let undefined = Undefined { extent: UndefinedExtent::Value, why };
            self.leave(&word_scalars(&[to]), [Some((undefined, lanes)), None], place);
        }
    }
}
