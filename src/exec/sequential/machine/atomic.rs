//! Atomics on memory.

use super::access_step::{AtomicAccess, AtomicMark, LaneAccess};
use super::control_trace::{Stored, trace_stored};
use super::state::Machine;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::lane_mask::LaneMask;
use crate::ir::{Access, NumberRegisters, Scalar};
use crate::memory::access_sets::CommutativeUpdate;
use vkcert_spirv::operation::sized::NumberFormat;

impl Machine<'_> {
    /// `to`, value and comparator in this order.
    pub(super) fn atomic(
        &mut self,
        (op, form): (AtomicOperation, NumberFormat),
        access: &Access,
        [to, a, b]: [Option<NumberRegisters>; 3],
        place: u32,
    ) {
        if self.is_indirect(access) {
            let results = match to {
                None => &[][..],
                Some(NumberRegisters { low, high: None }) => &[Scalar::Word(low)],
                Some(NumberRegisters { low, high: Some(high) }) => {
                    &[Scalar::Word(low), Scalar::Word(high)]
                }
            };
            return self.gather_targets(access, results, place, &mut |machine, access| {
                machine.atomic((op, form), access, [to, a, b], place);
            });
        }
        let found = self.address(access, place);
        if self.settings.variation.is_some() {
            self.follow_read(access.root, &found.lanes, (found.first, found.limit), 0);
        }
        let mut out = [
            std::mem::take(&mut self.registers.staging),
            std::mem::take(&mut self.registers.staging_high),
        ];
        out.iter_mut().for_each(|half| half.fill(0));
        let moment = self.moment(access.root, place);
        let (mut undefined, mut changed) = (LaneMask::EMPTY, false);
        let passes = op.returns_old_value();
        let words = form.width().words();
        let combined = if to.is_none() { CommutativeUpdate::by(op, form) } else { None };
        let unit = access.unit.of_words(1);
        for lane in found.lanes.lanes() {
            let address = self.memory.addresses[lane];
            if !address.is_multiple_of(access.alignment.access) {
                continue;
            }
            if !address.is_multiple_of(unit) {
                self.report_range(access, lane, address, found.limit, place);
                continue;
            }
            let size = words as u32 * unit;
            let Some(address) = self.inside(access, &found, (lane, 0), size, place) else {
                continue;
            };
            let operand = |parts: Option<NumberRegisters>| {
                parts.map_or(0, |parts| self.registers.number(parts, lane))
            };
            let (value, comparator) = (operand(a), operand(b));
            let after =
                self.monitor.order.as_ref().map_or(0, |_| self.monitor.clock.advance_time());
            let trace = self.path(lane);
            let Some(store) = self.memory.store_of_mut(access.root) else { continue };
            let at = found.first + (address / unit) as usize;
            let high = if words == 2 { u64::from(store.words[at + 1]) << 32 } else { 0 };
            let old = u64::from(store.words[at]) | high;
            let new = op.apply(form, old, value, comparator);
            let unwritten =
                op.reads_memory() && (at..at + words).any(|word| store.is_undefined(word));
            if unwritten {
                undefined.insert(lane);
            }
            let mark = AtomicMark::ByOperation(combined.filter(|_| !unwritten));
            let one = LaneAccess {
                lane,
                bytes: 4 * at..4 * (at + words),
                touch: if new.is_some() { op.access_kind() } else { AccessKind::AtomicRead },
                values: [old, new.unwrap_or(old)].map(u128::from),
                atomic: Some(AtomicAccess { op, after, mark }),
            };
            self.monitor.observe(store, &moment, &one);
            trace_stored(store, trace, at..at + 1, Stored::Part);
            changed |= new.is_some_and(|new| new != old);
            if let Some(new) = new {
                for (half, word) in (at..at + words).enumerate() {
                    store.words[word] = (new >> (32 * half)) as u32;
                    store.set_defined(word, true);
                }
            }
            out[0][lane] = old as u32;
            out[1][lane] = (old >> 32) as u32;
        }
        self.tell_access((access.root, &access.name), place);
        if !undefined.is_empty() && self.monitor.track_undefined && !passes {
            let message =
                format!("an atomic operation reads an uninitialised element of `{}`", access.name);
            self.report_undefined(&undefined, place, &message);
        }
        self.watch_change(access.root, changed);
        self.watch_read(access.root, &found.lanes, &out[0], place, 0);
        for (reg, half) in to.iter().flat_map(|parts| parts.registers()).zip(&out) {
            self.registers.write(reg, |register, _| register.copy_from_slice(half));
            if passes {
                self.set_undefined(Scalar::Word(reg), &undefined.0);
            }
        }
        [self.registers.staging, self.registers.staging_high] = out;
    }
}
