//! Products of cooperative matrices on the machine, subgroup by subgroup.

use super::state::Machine;
use crate::ir::cooperative_product::MatrixProduct;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{MatrixFactors, NumberRegisters};
use vkcert_model::finding::FindingKind;

impl Machine<'_> {
    /// Reports lanes whose subgroup is not wholly active.
    pub(super) fn check_converged(&mut self, source_index: u32) {
        let mut partial_lanes = LaneMask::EMPTY;
        for (first, members) in self.subgroups_of_tile() {
            if members.active.count_ones() < members.size {
                members
                    .active_ids()
                    .map(|id| (first + id) as usize)
                    .for_each(|lane| partial_lanes.insert(lane));
            }
        }
        let message =
            "a cooperative matrix is used where not all invocations of the subgroup are active";
        self.report_lanes(&partial_lanes, source_index, FindingKind::UndefinedValue, message);
    }

    pub(super) fn multiply_matrices(&mut self, factors: &MatrixFactors, source_index: u32) {
        let mut result_elements = std::mem::take(&mut self.registers.matrix_elements);
        result_elements.clear();
        result_elements.resize(factors.to.len() * self.registers.width, 0);
        let mut undefined = LaneMask::EMPTY;
        for (first_lane, members) in self.subgroups_of_tile() {
            let (first_lane, subgroup_size) = (first_lane as usize, members.size as usize);
            let element_bits = |parts: &[NumberRegisters], element: usize| {
                self.registers
                    .number_at(parts[element / subgroup_size], first_lane + element % subgroup_size)
            };
            let MatrixProduct { inner, columns, .. } = factors.product;
            for element in 0..factors.to.len() * subgroup_size {
                let (row, column) = (element / columns, element % columns);
                let a = |inner_index: usize| element_bits(&factors.a, row * inner + inner_index);
                let b =
                    |inner_index: usize| element_bits(&factors.b, inner_index * columns + column);
                let (value, defined) =
                    factors.product.result_element(a, b, element_bits(&factors.c, element));
                let lane = first_lane + element % subgroup_size;
                result_elements[element / subgroup_size * self.registers.width + lane] = value;
                if !defined && members.is_active((element % subgroup_size) as u32) {
                    undefined.insert(lane);
                }
            }
        }
        for (parts, values) in factors.to.iter().zip(result_elements.chunks(self.registers.width)) {
            self.write_number(*parts, |_, lane| values[lane]);
        }
        self.registers.matrix_elements = result_elements;
        let message =
            "a product or sum of matrices whose accumulation saturates does not fit the result";
        self.report_lanes(&undefined, source_index, FindingKind::UndefinedValue, message);
    }
}
