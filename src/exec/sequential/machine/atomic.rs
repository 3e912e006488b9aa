//! Atomics on memory.

use super::access_step::{AtomicAccess, AtomicOrder, LaneAccess, word_bytes};
use super::control_trace::{StoredExtent, trace_stored};
use super::state::Machine;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::lane_mask::LaneMask;
use crate::ir::{Access, NumberRegisters, Scalar};
use crate::memory::access_sets::CommutativeUpdate;
use vkcert_spirv::operation::sized::NumberFormat;

impl Machine<'_> {
    /// Runs an atomic in all active lanes. The parts are the result, the value and the comparator.
    pub(super) fn run_atomic(
        &mut self,
        (op, form): (AtomicOperation, NumberFormat),
        access: &Access,
        [result_parts, a, b]: [Option<NumberRegisters>; 3],
        source_index: u32,
    ) {
        if self.is_indirect(access) {
            let result_scalars = match result_parts {
                None => &[][..],
                Some(NumberRegisters { low, high: None }) => &[Scalar::Word(low)],
                Some(NumberRegisters { low, high: Some(high_half) }) => {
                    &[Scalar::Word(low), Scalar::Word(high_half)]
                }
            };
            return self.gather_targets(
                access,
                result_scalars,
                source_index,
                &mut |machine, access| {
                    machine.run_atomic((op, form), access, [result_parts, a, b], source_index);
                },
            );
        }
        let addressed = self.address_lanes(access, source_index);
        if self.settings.variation.is_some() {
            self.trace_reads(
                access.root,
                &addressed.lanes,
                (addressed.first_word, addressed.root_limit),
                0,
            );
        }
        let mut lane_values = [
            std::mem::take(&mut self.registers.staging_words),
            std::mem::take(&mut self.registers.staging_high),
        ];
        lane_values.iter_mut().for_each(|half| half.fill(0));
        let access_moment = self.access_moment(access.root, source_index);
        let (mut undefined, mut memory_changed) = (LaneMask::EMPTY, false);
        let passes_undefined = op.returns_old_value();
        let word_count = form.width().words();
        let combined_operations =
            if result_parts.is_none() { CommutativeUpdate::by(op, form) } else { None };
        let unit_size = access.unit.units_of_words(1);
        for lane in addressed.lanes.lanes() {
            let address = self.memory.addresses[lane];
            if !address.is_multiple_of(access.alignment.access) {
                continue;
            }
            if !address.is_multiple_of(unit_size) {
                self.report_out_of_range(access, lane, address, addressed.root_limit, source_index);
                continue;
            }
            let byte_size = word_count as u32 * unit_size;
            let Some(inside_address) =
                self.checked_address(access, &addressed, (lane, 0), byte_size, source_index)
            else {
                continue;
            };
            let operand = |parts: Option<NumberRegisters>| {
                parts.map_or(0, |parts| self.registers.number_at(parts, lane))
            };
            let (operand_value, comparator) = (operand(a), operand(b));
            let time_after =
                self.monitor.order.as_ref().map_or(0, |_| self.monitor.clock.advance_time());
            let lane_trace = self.lane_trace(lane);
            let Some(store) = self.memory.store_of_mut(access.root) else { continue };
            let store_index = addressed.first_word + (inside_address / unit_size) as usize;
            let high_half =
                if word_count == 2 { u64::from(store.words[store_index + 1]) << 32 } else { 0 };
            let old_value = u64::from(store.words[store_index]) | high_half;
            let new_value = op.new_value(form, old_value, operand_value, comparator);
            let is_undefined = op.reads_memory()
                && (store_index..store_index + word_count).any(|word| store.is_undefined(word));
            if is_undefined {
                undefined.insert(lane);
            }
            let atomic_order =
                AtomicOrder::ByOperation(combined_operations.filter(|_| !is_undefined));
            let lane_access = LaneAccess {
                lane,
                bytes: word_bytes(store_index, word_count),
                touch: if new_value.is_some() { op.access_kind() } else { AccessKind::AtomicRead },
                values: [old_value, new_value.unwrap_or(old_value)].map(u128::from),
                atomic: Some(AtomicAccess { op, time_after, atomic_order }),
            };
            self.monitor.observe_access(store, &access_moment, &lane_access);
            trace_stored(store, lane_trace, store_index..store_index + 1, StoredExtent::Part);
            memory_changed |= new_value.is_some_and(|new_value| new_value != old_value);
            if let Some(new_value) = new_value {
                for (half, word) in (store_index..store_index + word_count).enumerate() {
                    store.words[word] = (new_value >> (32 * half)) as u32;
                    store.set_defined(word, true);
                }
            }
            lane_values[0][lane] = old_value as u32;
            lane_values[1][lane] = (old_value >> 32) as u32;
        }
        self.report_access((access.root, &access.name), source_index);
        if !undefined.is_empty() && self.monitor.track_undefined && !passes_undefined {
            let message =
                format!("an atomic operation reads an uninitialised element of `{}`", access.name);
            self.report_undefined(&undefined, source_index, &message);
        }
        self.watch_change(access.root, memory_changed);
        self.watch_read(access.root, &addressed.lanes, &lane_values[0], source_index, 0);
        for (reg, half) in result_parts.iter().flat_map(|parts| parts.words()).zip(&lane_values) {
            self.registers.write_register(reg, |register, _| register.copy_from_slice(half));
            if passes_undefined {
                self.set_undefined_lanes(Scalar::Word(reg), &undefined.0);
            }
        }
        [self.registers.staging_words, self.registers.staging_high] = lane_values;
    }
}
