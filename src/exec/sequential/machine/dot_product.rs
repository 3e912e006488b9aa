//! Integer dot products on the machine, lane by lane.

use super::state::Machine;
use crate::ir::dot_product::DotProduct;
use crate::ir::{NumberRegisters, word_scalars};
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

impl Machine<'_> {
    pub(super) fn multiply_dot(
        &mut self,
        dot: DotProduct,
        result_parts: NumberRegisters,
        operand_parts: &[NumberRegisters],
        source_index: u32,
    ) {
        self.write_number(result_parts, |machine, lane| {
            dot.result_value(operand_parts.len(), |index| {
                machine.registers.number_at(operand_parts[index], lane)
            })
            .0
        });
        if dot.may_be_undefined() {
            let undefined_lanes = self.registers.lanes_where(|lane| {
                !dot.result_value(operand_parts.len(), |index| {
                    self.registers.number_at(operand_parts[index], lane)
                })
                .1
            });
            let why =
                "a product or sum of a dot product with an accumulator does not fit the result";
            let undefined = Undefined { extent: UndefinedExtent::Value, why };
            self.leave_undefined_lanes(
                &word_scalars(&[result_parts]),
                [Some((undefined, undefined_lanes)), None],
                source_index,
            );
        }
    }
}
