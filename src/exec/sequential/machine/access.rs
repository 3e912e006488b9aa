//! Loads, stores and atomics of the machine, with bounds, definedness and races.
//!
//! Promises: a read out of bounds gives 0 and a write out of bounds is dropped, after the finding.

use super::Machine;
use super::finding_collector::NOWHERE;
use super::undefined_origins::Moved;
use crate::exec::resource::address_symbol;
use crate::exec::sequential::ir::atomic::{Atomic, Touch};
use crate::exec::sequential::ir::lane_mask::{MASK_WORDS, Mask};
use crate::exec::sequential::ir::memory_semantics::Kinds;
use crate::exec::sequential::ir::{Access, Alignment, Bound, Kept, Parts, Root, Scalar, Unit};
use crate::exec::sequential::memory::access_sets::Combined;
use crate::exec::sequential::memory::race_shadow::Stamp;
use crate::exec::sequential::memory::racing_accesses::Earlier;
use crate::exec::sequential::memory::store::{Clock, Store};
use crate::exec::sequential::memory::vector_clocks::Missing;
use crate::exec::sequential::memory::vector_clocks::cell::Told;
use crate::model::finding::{Finding, FindingKind};
use crate::model::random::mixed;
use crate::spirv::operation::sized::Form;
use std::sync::Arc;

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

/// What an access found about the lanes' addresses.
struct Addressed {
    /// Active lanes whose every index is inside its dimension.
    lanes: Mask,
    /// Whether every lane, active or not, can be read without looking.
    unguarded: bool,
    /// What the root holds, in units of the access.
    limit: u32,
    /// Word of the store where the root begins.
    first: usize,
}

impl Machine<'_> {
    /// How much a root holds, in units, and the word of its store where it begins.
    pub(super) fn range_of(&self, root: Root, window: Option<[u32; 2]>, unit: Unit) -> (u32, usize) {
        match root {
            Root::Descriptor(index) => self.slots[index as usize].map_or((0, 0), |slot| match unit {
                Unit::Word => (slot.words, slot.first),
                Unit::Byte => (slot.bytes, slot.first),
            }),
            Root::Workgroup if let Some([first, words]) = window => {
                let words = words.min((self.workgroup_memory.words.len() as u32).saturating_sub(first));
                (unit.of_words(words), first as usize)
            }
            Root::Workgroup => (unit.of_words(self.workgroup_memory.words.len() as u32), 0),
            Root::Invocation => (unit.of_words(self.program.invocation_words), 0),
            Root::PushConstant => (unit.of_words(self.push_constants.words.len() as u32), 0),
            Root::Buffer(index) => (self.buffer_bytes(index), 0),
            // Taken apart before (`indirect`).
            Root::Descriptors { .. } | Root::Address(_) | Root::Pointer { .. } => (0, 0),
        }
    }

    /// Fills `addresses` with the address of each lane, relative to the root, in units of the access.
    fn address(&mut self, access: &Access, place: u32) -> Addressed {
        let (limit, first) = self.range_of(access.root, access.window, access.unit);
        let mut lanes = self.active;
        let mut addresses = std::mem::take(&mut self.addresses);
        match access.root {
            Root::Buffer(_) => {
                let starts = addresses.iter_mut().zip(&self.offsets);
                starts.for_each(|(address, offset)| *address = offset.saturating_add(access.base));
            }
            Root::Descriptor(_)
            | Root::Workgroup
            | Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Pointer { .. }
            | Root::Address(_) => addresses.fill(access.base),
        }
        for (position, dimension) in access.dimensions.iter().enumerate() {
            let bound = match dimension.bound {
                Bound::Fixed(bound) => bound,
                // Of a buffer that an address leads to only the end is known.
                Bound::Runtime if matches!(access.root, Root::Buffer(_)) => u32::MAX,
                Bound::Runtime => limit.saturating_sub(access.base).div_ceil(dimension.stride.max(1)),
            };
            let indices = &self.words[dimension.index.0 as usize];
            let mut outside = 0;
            for (address, index) in addresses.iter_mut().zip(indices) {
                *address = address.wrapping_add(index.wrapping_mul(dimension.stride));
                outside |= u32::from(*index >= bound);
            }
            if outside != 0 {
                lanes = self.inside_dimension(access, position, bound, lanes, place);
            }
        }
        if access.alignment != Alignment::NONE {
            self.report_misaligned(access, &addresses, &lanes, place);
        }
        let span = access.span();
        let room = limit.checked_sub(span);
        let most = addresses.iter().fold(0, |most, address| most.max(*address));
        let inside = room.is_some_and(|room| most <= room);
        self.addresses = addresses;
        if let Root::Descriptor(index) = access.root {
            self.touch_range(index as usize, &lanes, most.saturating_add(span), span, limit, access.unit);
        }
        let unguarded = inside && lanes == self.active;
        Addressed { lanes, unguarded, limit, first }
    }

    /// Remembers the last word of a descriptor's range that was accessed. `most` bounds what any lane, active or not,
    /// could have accessed, so that the lanes are looked at only where it may be news.
    fn touch_range(&mut self, index: usize, lanes: &Mask, most: u32, span: u32, limit: u32, unit: Unit) {
        if most <= unit.of_words(self.touched[index]) {
            return;
        }
        let ends = lanes.lanes().map(|lane| self.addresses[lane].saturating_add(span));
        let last = ends.filter(|end| *end <= limit).max().unwrap_or(0);
        self.touched[index] = self.touched[index].max(last.div_ceil(unit.of_words(1)));
    }

    /// Reports active lanes whose index lies outside one dimension; gives the others.
    fn inside_dimension(&mut self, access: &Access, position: usize, bound: u32, mut lanes: Mask, place: u32) -> Mask {
        let dimension = access.dimensions[position];
        for lane in lanes.lanes() {
            let index = self.words[dimension.index.0 as usize][lane];
            if index < bound {
                continue;
            }
            lanes.0[lane / 64] &= !(1 << (lane % 64));
            let witness = self.invocation(self.first_lane + lane as u32);
            self.collector.add(FindingKind::OutOfBounds, [place, NOWHERE], position as u32, || {
                let shown = if dimension.signed { (index as i32).to_string() } else { index.to_string() };
                let name = &access.name;
                let total = access.dimensions.len();
                let which = if total > 1 { format!(" (index {} of {total})", position + 1) } else { String::new() };
                Finding {
                    invocations: vec![witness],
                    ..Finding::new(
                        FindingKind::OutOfBounds,
                        format!("index {shown} is outside the {bound} elements of `{name}`{which}"),
                    )
                    .detail("object", name.to_string())
                    .detail("dimension", position as u64 + 1)
                }
            });
        }
        lanes
    }

    /// Reports lanes whose device address is not aligned as the instruction or the block says. Every buffer begins at an address
    /// that is aligned for all.
    fn report_misaligned(&mut self, access: &Access, addresses: &[u32], lanes: &Mask, place: u32) {
        let Root::Buffer(buffer) = access.root else { return };
        let Alignment { access: own, block } = access.alignment;
        for lane in lanes.lanes() {
            let (byte, start) = (addresses[lane], self.offsets[lane]);
            let (byte, alignment) = match (start.is_multiple_of(block), byte.is_multiple_of(own)) {
                (false, _) => (start, block),
                (true, false) => (byte, own),
                (true, true) => continue,
            };
            let witness = self.invocation(self.first_lane + lane as u32);
            self.collector.add(FindingKind::OutOfBounds, [place, NOWHERE], u32::MAX - 2, || {
                let (name, address) = (&access.name, address_symbol(buffer, byte.into()));
                let message = format!(
                    "the address {address:#x} of `{name}` (byte {byte} of its buffer) is no multiple of {alignment}, \
                     its declared alignment"
                );
                let finding = Finding::new(FindingKind::OutOfBounds, message)
                    .detail("object", name.to_string())
                    .detail("address", format!("{address:#x}"))
                    .detail("alignment", alignment);
                Finding { invocations: vec![witness], ..finding }
            });
        }
    }

    fn report_range(&mut self, access: &Access, lane: usize, word: u32, limit: u32, place: u32) {
        let witness = self.invocation(self.first_lane + lane as u32);
        self.collector.add(FindingKind::OutOfBounds, [place, NOWHERE], u32::MAX, || {
            let (name, bytes) = (&access.name, |units: u32| u64::from(units) * u64::from(access.unit.bytes()));
            // A pointer can be moved to before the start; an offset that wraps around is one of these.
            let before = word.wrapping_neg();
            let message = if before < 1 << 28 {
                format!("the access is {} bytes before the start of `{name}`", bytes(before))
            } else {
                let (at, bound) = (bytes(word), bytes(limit));
                format!("the access at byte {at} of `{name}` ends behind the {bound} bytes that are bound")
            };
            let finding = Finding::new(FindingKind::OutOfBounds, message).detail("object", name.to_string());
            Finding { invocations: vec![witness], ..finding }
        });
    }

    pub(super) fn load(&mut self, access: &Access, to: &[Scalar], place: u32) {
        if self.is_indirect(access) {
            return self.load_indirectly(access, to, place);
        }
        let found = self.address(access, place);
        if access.unit == Unit::Byte {
            self.load_bytes(access, &found, to, place);
            return;
        }
        for (component, scalar) in access.components.iter().zip(to) {
            // A register that may be written in every lane is filled in place.
            let in_place = match scalar {
                Scalar::Word(reg) if self.full || reg.0 < self.program.shared_words => Some(reg.0 as usize),
                Scalar::Word(_) | Scalar::Mask(_) => None,
            };
            let mut out = match in_place {
                Some(register) => std::mem::take(&mut self.words[register]),
                None => std::mem::take(&mut self.staging),
            };
            if found.unguarded {
                self.gather(access.root, found.first, *component, &mut out);
            } else {
                self.gather_guarded(access, &found, *component, &mut out, place);
            }
            let undefined = self.undefined_at(access.root, &found, *component);
            self.mark_reads(access.root, &found, *component);
            self.note_users(access, &found, *component, Touch::Read, place);
            self.read_races(access, &found, *component, place);
            self.watch_read(access.root, &found.lanes, &out, place, *component);
            if self.variation.is_some() {
                self.follow_read(access.root, &found.lanes, (found.first, found.limit), *component);
            }
            match in_place {
                Some(register) => self.words[register] = out,
                None => {
                    self.write_words(*scalar, &out);
                    self.staging = out;
                }
            }
            self.set_undefined(*scalar, &undefined);
            self.pass_origins(Direction::Load, *scalar, (access, &undefined), &found, (*component, 1));
        }
    }

    /// Lets the origins of a register's marks go where its value goes: to words or bytes of memory, or from them.
    fn pass_origins(
        &mut self,
        direction: Direction,
        scalar: Scalar,
        (access, marks): (&Access, &[u64; MASK_WORDS]),
        found: &Addressed,
        (component, size): (u32, u32),
    ) {
        let (root, unit) = (access.root, access.unit);
        if self.origins.is_empty() || root.is_buffer() {
            return;
        }
        let addresses = std::mem::take(&mut self.addresses);
        let inside = |lane: &usize| addresses[*lane].wrapping_add(component) < found.limit;
        let mut lanes = Mask::EMPTY;
        found.lanes.lanes().filter(inside).for_each(|lane| lanes.insert(lane));
        let moved = Moved {
            root,
            lanes: &lanes.0,
            addresses: &|lane| addresses[lane].wrapping_add(component),
            first: found.first as u32,
            size,
            unit,
        };
        match direction {
            Direction::Load => self.carry_from_memory(scalar, marks, &moved),
            Direction::Store => self.carry_to_memory(scalar, marks, &moved),
        }
        self.addresses = addresses;
    }

    /// Reads one component of every lane; all addresses are inside.
    fn gather(&self, root: Root, first: usize, component: u32, out: &mut [u32]) {
        if root == Root::Invocation {
            for (lane, (out, address)) in out.iter_mut().zip(&self.addresses).enumerate() {
                *out = self.memory[(address + component) as usize * self.width + lane];
            }
            return;
        }
        let words = &self.store_of(root).words[first + component as usize..];
        for (out, address) in out.iter_mut().zip(&self.addresses) {
            *out = words[*address as usize];
        }
    }

    fn gather_guarded(&mut self, access: &Access, found: &Addressed, component: u32, out: &mut [u32], place: u32) {
        out.fill(0);
        for lane in found.lanes.lanes() {
            let word = self.addresses[lane].wrapping_add(component);
            if word >= found.limit {
                self.report_range(access, lane, word, found.limit, place);
            } else if access.root == Root::Invocation {
                out[lane] = self.memory[word as usize * self.width + lane];
            } else {
                out[lane] = self.store_of(access.root).words[found.first + word as usize];
            }
        }
    }

    /// Which lanes read an undefined word.
    fn undefined_at(&self, root: Root, found: &Addressed, component: u32) -> [u64; MASK_WORDS] {
        let mut undefined = [0; MASK_WORDS];
        if !self.track_undefined {
            return undefined;
        }
        if root == Root::Invocation {
            for lane in found.lanes.lanes() {
                let word = self.addresses[lane].wrapping_add(component);
                if word < found.limit {
                    undefined[lane / 64] |=
                        self.memory_undefined[word as usize * self.mask_words + lane / 64] & 1 << (lane % 64);
                }
            }
            return undefined;
        }
        let store = self.store_of(root);
        if store.undefined.is_none() {
            return undefined;
        }
        for lane in found.lanes.lanes() {
            let word = self.addresses[lane].wrapping_add(component);
            if word < found.limit && store.is_undefined(found.first + word as usize) {
                undefined[lane / 64] |= 1 << (lane % 64);
            }
        }
        undefined
    }

    /// Marks what is read, where workgroups run on several cores.
    fn mark_reads(&mut self, root: Root, found: &Addressed, component: u32) {
        if !self.marked || !root.is_buffer() {
            return;
        }
        let mut addresses = std::mem::take(&mut self.addresses);
        if let Some(marks) = self.store_of_mut(root).and_then(|store| store.marks.as_mut()) {
            let words = found.lanes.lanes().map(|lane| addresses[lane].wrapping_add(component));
            words.filter(|word| *word < found.limit).for_each(|word| marks.read(found.first + word as usize));
        }
        std::mem::swap(&mut self.addresses, &mut addresses);
    }

    /// Whether it is noted who accesses what.
    fn notes_users(&self) -> bool {
        self.aliasing.is_some() || self.reads.is_some()
    }

    /// Notes who accesses a component of every lane, where `restrict` variables overlap others or reads are watched.
    fn note_users(&mut self, access: &Access, found: &Addressed, component: u32, touch: Touch, place: u32) {
        if !self.notes_users() {
            return;
        }
        for lane in found.lanes.lanes() {
            let word = self.addresses[lane].wrapping_add(component);
            if word < found.limit {
                let first = 4 * (found.first + word as usize);
                self.note_user(access.root, lane, first..first + 4, touch, place);
            }
        }
    }

    fn read_races(&mut self, access: &Access, found: &Addressed, component: u32, place: u32) {
        if !self.track_races {
            return;
        }
        let (store, clock) = match access.root {
            Root::Descriptor(index) => match self.slots[index as usize] {
                Some(slot) => (&mut self.stores[slot.buffer], self.clock),
                None => return,
            },
            Root::Workgroup => (&mut self.workgroup_memory, self.clock),
            Root::Buffer(index) => (&mut self.stores[index as usize], self.clock),
            Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. } => {
                return;
            }
        };
        let Some(shadow) = &mut store.shadow else { return };
        let mut now = moment(&clock, access.root, self.first_lane, place);
        for lane in found.lanes.lanes() {
            let word = self.addresses[lane].wrapping_add(component);
            if word >= found.limit {
                continue;
            }
            let local = self.first_lane + lane as u32;
            now.stamp = Stamp::new(now.stamp.time(), local, place);
            let value = u128::from(store.words[found.first + word as usize]);
            shadow.touch(found.first + word as usize, Touch::Read, &now, [value; 2], |earlier| {
                self.races.push(Clash::new(earlier, (local, Touch::Read), ([value; 2], 4)));
            });
        }
        self.report_races(access, place);
    }

    pub(super) fn store(&mut self, access: &Access, from: &[Scalar], place: u32) {
        if self.is_indirect(access) {
            return self.each_target(access, place, &mut |machine, access| machine.store(access, from, place));
        }
        let found = self.address(access, place);
        if access.unit == Unit::Byte {
            self.store_bytes(access, &found, from, place);
            return;
        }
        for (component, scalar) in access.components.iter().zip(from) {
            let mut values = std::mem::take(&mut self.staging);
            match scalar {
                Scalar::Word(reg) => values.copy_from_slice(&self.words[reg.0 as usize]),
                Scalar::Mask(reg) => {
                    let bits = self.bits(*reg);
                    crate::exec::sequential::ir::lane_mask::spread(&mut values, &bits[..self.mask_words]);
                    values.iter_mut().for_each(|word| *word &= 1);
                }
            }
            let undefined = if self.track_undefined { self.undefined_bits(*scalar) } else { [0; MASK_WORDS] };
            self.scatter(access, &found, *component, &values, &undefined, place);
            self.staging = values;
            self.pass_origins(Direction::Store, *scalar, (access, &undefined), &found, (*component, 1));
        }
    }

    fn scatter(
        &mut self,
        access: &Access,
        found: &Addressed,
        component: u32,
        values: &[u32],
        undefined: &[u64; MASK_WORDS],
        place: u32,
    ) {
        self.note_users(access, found, component, Touch::Write, place);
        let (clock, mut changed) = (self.clock, false);
        for lane in found.lanes.lanes() {
            let word = self.addresses[lane].wrapping_add(component);
            if word >= found.limit {
                self.report_range(access, lane, word, found.limit, place);
                continue;
            }
            let is_undefined = undefined[lane / 64] >> (lane % 64) & 1 == 1;
            if access.root == Root::Invocation {
                self.memory[word as usize * self.width + lane] = values[lane];
                let bits = &mut self.memory_undefined[word as usize * self.mask_words + lane / 64];
                *bits = (*bits & !(1 << (lane % 64))) | u64::from(is_undefined) << (lane % 64);
                continue;
            }
            let local = self.first_lane + lane as u32;
            let path = self.path(lane);
            let mut races = std::mem::take(&mut self.races);
            let tracking = self.track_races;
            let Some(store) = self.store_of_mut(access.root) else { continue };
            let at = found.first + word as usize;
            if let (Some(paths), Some(path)) = (&mut store.paths, path) {
                paths[at] = path;
            }
            if tracking && let Some(shadow) = &mut store.shadow {
                let now = moment(&clock, access.root, local, place);
                let values = [store.words[at], values[lane]].map(u128::from);
                shadow.touch(at, Touch::Write, &now, values, |earlier| {
                    races.push(Clash::new(earlier, (local, Touch::Write), (values, 4)));
                });
            }
            if let Some(marks) = &mut store.marks {
                marks.write(at);
            }
            changed |= store.words[at] != values[lane];
            store.words[at] = values[lane];
            // An undefined value written to a buffer was reported where it was written.
            let defined = !is_undefined || access.root.is_buffer();
            store.define(at, defined);
            self.races = races;
        }
        self.report_races(access, place);
        self.watch_change(access.root, changed);
    }

    /// `to`, value and comparator in this order.
    pub(super) fn atomic(
        &mut self,
        (op, form): (Atomic, Form),
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
        if self.variation.is_some() {
            self.follow_read(access.root, &found.lanes, (found.first, found.limit), 0);
        }
        let mut out = [std::mem::take(&mut self.staging), std::mem::take(&mut self.staging_high)];
        out.iter_mut().for_each(|half| half.fill(0));
        let clock = self.clock;
        let (mut undefined, mut changed) = (Mask::EMPTY, false);
        let (noting, mut users) = (self.notes_users(), Vec::new());
        let passes = op.gives_what_was_there();
        let words = form.width().words();
        let combined = if to.is_none() { Combined::by(op, form) } else { None };
        for lane in found.lanes.lanes() {
            let unit = access.unit.of_words(1);
            let (word, limit) = (self.addresses[lane] / unit, found.limit / unit);
            if !self.addresses[lane].is_multiple_of(access.alignment.access) {
                continue;
            }
            if word >= limit || limit - word < words as u32 || !self.addresses[lane].is_multiple_of(unit) {
                self.report_range(access, lane, self.addresses[lane], found.limit, place);
                continue;
            }
            let operand = |parts: Option<Parts>| parts.map_or(0, |parts| self.number(parts, lane));
            let (value, comparator) = (operand(a), operand(b));
            let local = self.first_lane + lane as u32;
            let tracking = self.track_races;
            let after = self.order.as_ref().map_or(0, |_| self.clock.tick());
            let path = self.path(lane);
            let mut races = std::mem::take(&mut self.races);
            let Some(store) = self.store_of_mut(access.root) else { continue };
            let at = found.first + word as usize;
            if let (Some(paths), Some(path)) = (&mut store.paths, path) {
                paths[at] = mixed(paths[at] ^ path);
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
                shadow.tell(at, &Told { invocation: local, place, memory: kinds_of(access.root), op, touch, after });
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
            self.races = races;
        }
        for (lane, bytes, touch) in users {
            self.note_user(access.root, lane, bytes, touch, place);
        }
        if !undefined.is_empty() && self.track_undefined && !passes {
            let message = format!("an atomic operation reads an uninitialised element of `{}`", access.name);
            self.report_undefined(&undefined, place, &message);
        }
        self.report_races(access, place);
        self.watch_change(access.root, changed);
        self.watch_read(access.root, &found.lanes, &out[0], place, 0);
        for (reg, half) in to.iter().flat_map(|parts| parts.registers()).zip(&out) {
            self.write(reg, |register, _| register.copy_from_slice(half));
            if passes {
                self.set_undefined(Scalar::Word(reg), &undefined.0);
            }
        }
        [self.staging, self.staging_high] = out;
    }

    /// Reads numbers of any size, lane by lane.
    fn load_bytes(&mut self, access: &Access, found: &Addressed, to: &[Scalar], place: u32) {
        for ((component, bytes), scalar) in access.components.iter().zip(access.sizes.iter()).zip(to) {
            let mut out = std::mem::take(&mut self.staging);
            out.fill(0);
            let mut undefined = [0; MASK_WORDS];
            for lane in found.lanes.lanes() {
                let byte = self.addresses[lane].wrapping_add(*component);
                if byte >= found.limit || found.limit - byte < *bytes {
                    self.report_range(access, lane, byte, found.limit, place);
                    continue;
                }
                let first = 4 * found.first + byte as usize;
                let store = self.store_of(access.root);
                for (index, at) in (first..first + *bytes as usize).enumerate() {
                    out[lane] |= (store.words[at / 4] >> (at % 4 * 8) & 0xff) << (8 * index);
                    let part = at as u32 % 4;
                    if store.is_part_undefined(at / 4, part..part + 1) {
                        undefined[lane / 64] |= 1 << (lane % 64);
                    }
                }
                let values = [u128::from(out[lane]); 2];
                self.touch_part(access.root, lane, first..first + *bytes as usize, (Touch::Read, values), place);
                self.follow_part(access.root, lane, first / 4);
            }
            self.report_races(access, place);
            self.watch_read(access.root, &found.lanes, &out, place, *component);
            self.write_words(*scalar, &out);
            self.set_undefined(*scalar, &undefined);
            self.staging = out;
            self.pass_origins(Direction::Load, *scalar, (access, &undefined), found, (*component, *bytes));
        }
    }

    /// Writes numbers of any size, lane by lane.
    fn store_bytes(&mut self, access: &Access, found: &Addressed, from: &[Scalar], place: u32) {
        for ((component, bytes), scalar) in access.components.iter().zip(access.sizes.iter()).zip(from) {
            let undefined = if self.track_undefined { self.undefined_bits(*scalar) } else { [0; MASK_WORDS] };
            for lane in found.lanes.lanes() {
                let byte = self.addresses[lane].wrapping_add(*component);
                if byte >= found.limit || found.limit - byte < *bytes {
                    self.report_range(access, lane, byte, found.limit, place);
                    continue;
                }
                let first = 4 * found.first + byte as usize;
                let value = self.word_of(*scalar, lane);
                let store = self.store_of(access.root);
                let old = |at: usize| store.words[at / 4] >> (at % 4 * 8) & 0xff;
                let new = |index: usize| value >> (8 * index) & 0xff;
                let places = first..first + *bytes as usize;
                let before = places.clone().enumerate().fold(0, |all, (index, at)| all | old(at) << (8 * index));
                let after = (0..places.len()).fold(0, |all, index| all | new(index) << (8 * index));
                let values = [before, after].map(u128::from);
                self.touch_part(access.root, lane, places.clone(), (Touch::Write, values), place);
                self.watch_change(access.root, before != after);
                let is_undefined = undefined[lane / 64] >> (lane % 64) & 1 == 1;
                // An undefined value written to a buffer was reported where it was written.
                let defined = !is_undefined || access.root.is_buffer();
                let path = self.path(lane);
                let Some(store) = self.store_of_mut(access.root) else { continue };
                if let (Some(paths), Some(path)) = (&mut store.paths, path) {
                    // Others may have stored the rest of the word.
                    paths[first / 4] = mixed(paths[first / 4] ^ path);
                }
                for (index, at) in places.enumerate() {
                    let (shift, part) = (at % 4 * 8, at as u32 % 4);
                    store.words[at / 4] = (store.words[at / 4] & !(0xff << shift)) | new(index) << shift;
                    store.define_part(at / 4, part..part + 1, defined);
                }
            }
            self.report_races(access, place);
            self.pass_origins(Direction::Store, *scalar, (access, &undefined), found, (*component, *bytes));
        }
    }

    /// Notes an access of a lane to some bytes of a store.
    fn touch_part(
        &mut self,
        root: Root,
        lane: usize,
        bytes: std::ops::Range<usize>,
        (touch, values): (Touch, [u128; 2]),
        place: u32,
    ) {
        if self.marked
            && let Some(marks) = self.store_of_mut(root).and_then(|store| store.marks.as_mut())
        {
            marks.touch(touch, bytes.start, bytes.len());
        }
        self.note_user(root, lane, bytes.clone(), touch, place);
        if !self.track_races {
            return;
        }
        let (clock, local) = (self.clock, self.first_lane + lane as u32);
        let mut races = std::mem::take(&mut self.races);
        if let Some(shadow) = self.store_of_mut(root).and_then(|store| store.shadow.as_mut()) {
            let now = moment(&clock, root, local, place);
            let (first, length) = (bytes.start, bytes.len());
            shadow.touch_bytes(first, length, touch, &now, values, |earlier| {
                races.push(Clash::new(earlier, (local, touch), (values, length as u32)));
            });
        }
        self.races = races;
    }

    pub(super) fn store_of(&self, root: Root) -> &Store {
        match root {
            Root::Descriptor(index) => match self.slots[index as usize] {
                Some(slot) => &self.stores[slot.buffer],
                None => &self.push_constants,
            },
            Root::Workgroup => &self.workgroup_memory,
            Root::Buffer(index) => &self.stores[index as usize],
            Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. } => &self.push_constants,
        }
    }

    fn store_of_mut(&mut self, root: Root) -> Option<&mut Store> {
        match root {
            Root::Descriptor(index) => self.slots[index as usize].map(|slot| &mut self.stores[slot.buffer]),
            Root::Workgroup => Some(&mut self.workgroup_memory),
            Root::Buffer(index) => self.stores.get_mut(index as usize),
            Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. } => None,
        }
    }

    fn report_races(&mut self, access: &Access, place: u32) {
        self.report_races_at((access.root, &access.name), place);
    }

    /// Reports what was noted in `races`, of accesses to a variable.
    pub(super) fn report_races_at(&mut self, variable: (Root, &Arc<str>), place: u32) {
        if self.races.is_empty() {
            return;
        }
        for clash in std::mem::take(&mut self.races) {
            self.report_race(variable, &clash, place);
        }
    }

    fn report_race(&mut self, (root, name): (Root, &Arc<str>), clash: &Clash, place: u32) {
        let (memory, within) = match root {
            Root::Workgroup => ("workgroup", true),
            Root::Descriptor(_)
            | Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. }
            | Root::Buffer(_) => (self.kept_in(root), self.is_of_this_workgroup(clash.other)),
        };
        let reach = if within { "within-workgroup" } else { "across-workgroups" };
        let [earlier, later] = clash.touches;
        let class = (earlier as u32 * 8 + later as u32 * 2 + u32::from(within)) * 8 + clash.missing as u32;
        let pair = [place, clash.other.place()];
        for (touch, place) in clash.touches.into_iter().zip([pair[1], pair[0]]) {
            if touch == Touch::Read {
                self.collector.racy.insert(place);
            }
        }
        let same = clash.touches == [Touch::Write; 2] && clash.values[0] == clash.values[1];
        if clash.touches == [Touch::Write; 2] && !same {
            self.collector.racy.extend(pair);
        }
        let witnesses = [self.stamped(clash.other), self.invocation(clash.invocation)];
        let shown = clash.values.map(|value| format!("{value:#0width$x}", width = 2 + 2 * clash.bytes as usize));
        self.collector.add(FindingKind::DataRace, pair, class, || Finding {
            invocations: witnesses.to_vec(),
            ..Finding::new(
                FindingKind::DataRace,
                format!(
                    "`{name}`: invocation {:?} ({}) and invocation {:?} ({}) access the same element of {memory} memory {}",
                    witnesses[0],
                    earlier.name(),
                    witnesses[1],
                    later.name(),
                    clash.missing.sentence()
                ),
            )
            .detail("memory", memory)
            .detail("object", name.to_string())
            .detail("reach", reach)
            .detail("accesses", vec![earlier.name(), later.name()])
            .detail("missing", clash.missing.name())
            .detail("values", shown.to_vec())
            .detail("same_value", same)
        });
        if !same {
            self.collector.refute(FindingKind::DataRace, pair, class, "same_value");
        }
    }
}

/// Two accesses that race.
#[derive(Debug, Clone)]
pub(super) struct Clash {
    /// The earlier one.
    other: Stamp,
    /// Of the earlier and the later one.
    touches: [Touch; 2],
    /// Local index of the later one's invocation.
    invocation: u32,
    missing: Missing,
    /// What the element held before the later one, and what it read or left.
    values: [u128; 2],
    bytes: u32,
}

impl Clash {
    pub(super) fn new(
        earlier: Earlier,
        (invocation, later): (u32, Touch),
        ([held, left], bytes): ([u128; 2], u32),
    ) -> Self {
        let Earlier { stamp: other, touch, missing, left: wrote } = earlier;
        let values = [wrote.unwrap_or(held), left];
        Self { other, touches: [touch, later], invocation, missing, values, bytes }
    }
}

/// The kind of memory that buffers and workgroup variables are.
fn kinds_of(root: Root) -> Kinds {
    if root.is_buffer() { Kinds::BUFFERS } else { Kinds::WORKGROUP }
}

impl Machine<'_> {
    /// What memory behind a descriptor is called.
    fn kept_in(&self, root: Root) -> &'static str {
        let Root::Descriptor(index) = root else { return "buffer" };
        match self.program.descriptors[index as usize].kept {
            Kept::Buffer => "buffer",
            Kept::Image => "image",
        }
    }
}

fn moment(clock: &Clock, root: Root, local: u32, place: u32) -> crate::exec::sequential::memory::race_shadow::Now {
    match root {
        Root::Workgroup => clock.in_workgroup(local, place),
        Root::Descriptor(_)
        | Root::Invocation
        | Root::PushConstant
        | Root::Descriptors { .. }
        | Root::Address(_)
        | Root::Pointer { .. }
        | Root::Buffer(_) => clock.in_buffers(local, place),
    }
}
