//! Atomics on memory.

use super::clash::Clash;
use super::races::{kinds_of, moment};
use super::state::Machine;
use crate::ir::atomic::{Atomic, Touch};
use crate::ir::lane_mask::Mask;
use crate::ir::{Access, Parts, Scalar};
use crate::memory::access_sets::Combined;
use crate::memory::vector_clocks::cell::Told;
use vkcert_model::random::mix_bits;
use vkcert_spirv::operation::sized::NumberFormat;

impl Machine<'_> {
    /// `to`, value and comparator in this order.
    pub(super) fn atomic(
        &mut self,
        (op, form): (Atomic, NumberFormat),
        access: &Access,
        [to, a, b]: [Option<Parts>; 3],
        place: u32,
    ) {
        if self.is_indirect(access) {
            let results = match to {
                None => &[][..],
                Some(Parts { low, high: None }) => &[Scalar::Word(low)],
                Some(Parts { low, high: Some(high) }) => &[Scalar::Word(low), Scalar::Word(high)],
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
        let clock = self.monitor.clock;
        let (mut undefined, mut changed) = (Mask::EMPTY, false);
        let (noting, mut users) = (self.monitor.notes_users(), Vec::new());
        let passes = op.gives_what_was_there();
        let words = form.width().words();
        let combined = if to.is_none() { Combined::by(op, form) } else { None };
        for lane in found.lanes.lanes() {
            let unit = access.unit.of_words(1);
            let (word, limit) = (self.memory.addresses[lane] / unit, found.limit / unit);
            if !self.memory.addresses[lane].is_multiple_of(access.alignment.access) {
                continue;
            }
            if word >= limit
                || limit - word < words as u32
                || !self.memory.addresses[lane].is_multiple_of(unit)
            {
                self.report_range(access, lane, self.memory.addresses[lane], found.limit, place);
                continue;
            }
            let operand =
                |parts: Option<Parts>| parts.map_or(0, |parts| self.registers.number(parts, lane));
            let (value, comparator) = (operand(a), operand(b));
            let local = self.registers.first_lane + lane as u32;
            let tracking = self.monitor.track_races;
            let after = self.monitor.order.as_ref().map_or(0, |_| self.monitor.clock.tick());
            let path = self.path(lane);
            let mut races = std::mem::take(&mut self.monitor.races);
            let Some(store) = self.memory.store_of_mut(access.root) else { continue };
            let at = found.first + word as usize;
            if let (Some(paths), Some(path)) = (&mut store.paths, path) {
                paths[at] = mix_bits(paths[at] ^ path);
            }
            let high = if words == 2 { u64::from(store.words[at + 1]) << 32 } else { 0 };
            let old = u64::from(store.words[at]) | high;
            let new = op.apply(form, old, value, comparator);
            let touch = if new.is_some() { op.touch() } else { Touch::AtomicRead };
            if noting {
                users.push((lane, 4 * at..4 * (at + words), touch));
            }
            if tracking && let Some(shadow) = &mut store.shadow {
                let now = moment(&clock, access.root, local, place);
                let values = ([old, new.unwrap_or(old)].map(u128::from), 4 * words as u32);
                shadow.touch_bytes(4 * at, 4 * words, touch, &now, values.0, |earlier| {
                    races.push(Clash::new(earlier, (local, touch), values));
                });
                shadow.tell(
                    at,
                    &Told {
                        invocation: local,
                        place,
                        memory: kinds_of(access.root),
                        op,
                        touch,
                        after,
                    },
                );
            }
            let unwritten = op.reads() && (at..at + words).any(|word| store.is_undefined(word));
            if unwritten {
                undefined.insert(lane);
            }
            if let Some(marks) = &mut store.marks {
                marks.atomic(op, at..at + words, combined.filter(|_| !unwritten));
            }
            changed |= new.is_some_and(|new| new != old);
            if let Some(new) = new {
                for (half, word) in (at..at + words).enumerate() {
                    store.words[word] = (new >> (32 * half)) as u32;
                    store.define(word, true);
                }
            }
            out[0][lane] = old as u32;
            out[1][lane] = (old >> 32) as u32;
            self.monitor.races = races;
        }
        for (lane, bytes, touch) in users {
            self.note_user(access.root, lane, bytes, touch, place);
        }
        if !undefined.is_empty() && self.monitor.track_undefined && !passes {
            let message =
                format!("an atomic operation reads an uninitialised element of `{}`", access.name);
            self.report_undefined(&undefined, place, &message);
        }
        self.report_races(access, place);
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
