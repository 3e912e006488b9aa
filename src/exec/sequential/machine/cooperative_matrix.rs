//! Products of cooperative matrices on the machine, subgroup by subgroup.

use super::state::Machine;
use crate::ir::cooperative_product::MatrixProduct;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{MatrixFactors, NumberRegisters};
use vkcert_model::finding::FindingKind;

impl Machine<'_> {
    /// Reports lanes whose subgroup is not wholly active.
    pub(super) fn check_converged(&mut self, place: u32) {
        let mut lanes = LaneMask::EMPTY;
        for (first, members) in self.subgroups() {
            if members.active.count_ones() < members.size {
                members.ids().map(|id| (first + id) as usize).for_each(|lane| lanes.insert(lane));
            }
        }
        let message =
            "a cooperative matrix is used where not all invocations of the subgroup are active";
        self.report_value(&lanes, place, FindingKind::UndefinedValue, message);
    }

    pub(super) fn product(&mut self, factors: &MatrixFactors, place: u32) {
        let mut results = std::mem::take(&mut self.registers.elements);
        results.clear();
        results.resize(factors.to.len() * self.registers.width, 0);
        let mut undefined = LaneMask::EMPTY;
        for (first, members) in self.subgroups() {
            let (first, size) = (first as usize, members.size as usize);
            let held = |parts: &[NumberRegisters], element: usize| {
                self.registers.number(parts[element / size], first + element % size)
            };
            let MatrixProduct { inner, columns, .. } = factors.product;
            for element in 0..factors.to.len() * size {
                let (row, column) = (element / columns, element % columns);
                let a = |at: usize| held(&factors.a, row * inner + at);
                let b = |at: usize| held(&factors.b, at * columns + column);
                let (value, defined) = factors.product.element(a, b, held(&factors.c, element));
                let lane = first + element % size;
                results[element / size * self.registers.width + lane] = value;
                if !defined && members.has((element % size) as u32) {
                    undefined.insert(lane);
                }
            }
        }
        for (parts, values) in factors.to.iter().zip(results.chunks(self.registers.width)) {
            self.write_number(*parts, |_, lane| values[lane]);
        }
        self.registers.elements = results;
        let message =
            "a product or sum of matrices whose accumulation saturates does not fit the result";
        self.report_value(&undefined, place, FindingKind::UndefinedValue, message);
    }
}
