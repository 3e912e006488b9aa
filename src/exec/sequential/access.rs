//! Loads, stores and atomics of the machine, with bounds, definedness and races.
//!
//! Promises: a read out of bounds gives 0 and a write out of bounds is dropped, after the finding.

use super::findings::NOWHERE;
use super::lanes::{MASK_WORDS, Mask};
use super::machine::Machine;
use super::memory::{Clock, Store};
use super::ops::element::{Atomic, Touch};
use super::program::{Access, Bound, Reg, Root, Scalar};
use super::shadow::Stamp;
use crate::model::finding::{Finding, FindingKind};

/// What an access found about the lanes' addresses.
struct Addressed {
    /// Active lanes whose every index is inside its dimension.
    lanes: Mask,
    /// Whether every lane, active or not, can be read without looking.
    unguarded: bool,
    /// Words that the root holds.
    limit: u32,
    /// Word of the store where the root begins.
    first: usize,
}

impl Machine<'_> {
    /// Fills `addresses` with the word address of each lane, relative to the root.
    fn address(&mut self, access: &Access, place: u32) -> Addressed {
        let (limit, first) = match access.root {
            Root::Descriptor(index) => self.slots[index as usize].map_or((0, 0), |slot| (slot.words, slot.first)),
            Root::Workgroup => (self.workgroup_memory.words.len() as u32, 0),
            Root::Invocation => (self.program.invocation_words, 0),
            Root::PushConstant => (self.push_constants.words.len() as u32, 0),
        };
        let mut lanes = self.active;
        let mut addresses = std::mem::take(&mut self.addresses);
        addresses.fill(access.base);
        for (position, dimension) in access.dimensions.iter().enumerate() {
            let bound = match dimension.bound {
                Bound::Fixed(bound) => bound,
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
        let span = access.components.iter().max().map_or(0, |last| last + 1);
        let room = limit.checked_sub(span);
        let most = addresses.iter().fold(0, |most, address| most.max(*address));
        let inside = room.is_some_and(|room| most <= room);
        self.addresses = addresses;
        if let Root::Descriptor(index) = access.root {
            self.touch_range(index as usize, &lanes, most.saturating_add(span), span, limit);
        }
        let unguarded = inside && lanes == self.active;
        Addressed { lanes, unguarded, limit, first }
    }

    /// Remembers the last word of a descriptor's range that was accessed. `most` bounds what any lane, active or not,
    /// could have accessed, so that the lanes are looked at only where it may be news.
    fn touch_range(&mut self, index: usize, lanes: &Mask, most: u32, span: u32, limit: u32) {
        if most <= self.touched[index] {
            return;
        }
        let ends = lanes.lanes().map(|lane| self.addresses[lane].saturating_add(span));
        let last = ends.filter(|end| *end <= limit).max().unwrap_or(0);
        self.touched[index] = self.touched[index].max(last);
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
                }
            });
        }
        lanes
    }

    fn report_range(&mut self, access: &Access, lane: usize, word: u32, limit: u32, place: u32) {
        let witness = self.invocation(self.first_lane + lane as u32);
        self.collector.add(FindingKind::OutOfBounds, [place, NOWHERE], u32::MAX, || Finding {
            invocations: vec![witness],
            ..Finding::new(
                FindingKind::OutOfBounds,
                format!(
                    "the access at byte {} of `{}` ends behind the {} bytes that are bound",
                    u64::from(word) * 4,
                    access.name,
                    u64::from(limit) * 4
                ),
            )
        });
    }

    pub(super) fn load(&mut self, access: &Access, to: &[Scalar], place: u32) {
        let found = self.address(access, place);
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
            self.read_races(access, &found, *component, place);
            if self.variation.is_some() {
                self.follow_read(access.root, &found.lanes, (found.first, found.limit), *component);
            }
            if let Some(register) = in_place {
                self.words[register] = out;
                self.set_undefined(*scalar, &undefined);
                continue;
            }
            match scalar {
                Scalar::Word(reg) => self.write(*reg, |register, _| register.copy_from_slice(&out)),
                Scalar::Mask(reg) => {
                    let mut bits = [0; MASK_WORDS];
                    super::ops::element::pack(&mut bits[..self.mask_words], &out, &out, |a, _| a != 0);
                    self.write_mask(*reg, &bits);
                }
            }
            self.set_undefined(*scalar, &undefined);
            self.staging = out;
        }
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
            Root::Invocation | Root::PushConstant => return,
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
            shadow.touch(found.first + word as usize, Touch::Read, &now, |other, touch| {
                self.races.push((other, touch, local, false));
            });
        }
        self.report_races(access, Touch::Read, place);
    }

    pub(super) fn store(&mut self, access: &Access, from: &[Scalar], place: u32) {
        let found = self.address(access, place);
        for (component, scalar) in access.components.iter().zip(from) {
            let mut values = std::mem::take(&mut self.staging);
            match scalar {
                Scalar::Word(reg) => values.copy_from_slice(&self.words[reg.0 as usize]),
                Scalar::Mask(reg) => {
                    let bits = self.bits(*reg);
                    super::lanes::spread(&mut values, &bits[..self.mask_words]);
                    values.iter_mut().for_each(|word| *word &= 1);
                }
            }
            let undefined = if self.track_undefined { self.undefined_bits(*scalar) } else { [0; MASK_WORDS] };
            self.scatter(access, &found, *component, &values, &undefined, place);
            self.staging = values;
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
        let clock = self.clock;
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
                let same = store.words[at] == values[lane];
                shadow.touch(at, Touch::Write, &now, |other, touch| races.push((other, touch, local, same)));
            }
            store.words[at] = values[lane];
            // An undefined value written to a buffer was reported where it was written.
            let defined = !is_undefined || matches!(access.root, Root::Descriptor(_));
            store.define(at, defined);
            self.races = races;
        }
        self.report_races(access, Touch::Write, place);
    }

    /// `to`, value and comparator in this order.
    pub(super) fn atomic(&mut self, op: Atomic, access: &Access, [to, a, b]: [Option<Reg>; 3], place: u32) {
        let found = self.address(access, place);
        if self.variation.is_some() {
            self.follow_read(access.root, &found.lanes, (found.first, found.limit), 0);
        }
        let mut out = std::mem::take(&mut self.staging);
        out.fill(0);
        let clock = self.clock;
        let mut undefined = Mask::EMPTY;
        for lane in found.lanes.lanes() {
            let word = self.addresses[lane];
            if word >= found.limit {
                self.report_range(access, lane, word, found.limit, place);
                continue;
            }
            let operand = |reg: Option<Reg>, words: &[Box<[u32]>]| reg.map_or(0, |reg| words[reg.0 as usize][lane]);
            let (value, comparator) = (operand(a, &self.words), operand(b, &self.words));
            let local = self.first_lane + lane as u32;
            let tracking = self.track_races;
            let path = self.path(lane);
            let mut races = std::mem::take(&mut self.races);
            let Some(store) = self.store_of_mut(access.root) else { continue };
            let at = found.first + word as usize;
            if let (Some(paths), Some(path)) = (&mut store.paths, path) {
                paths[at] = super::path::mixed(paths[at] ^ path);
            }
            if tracking && let Some(shadow) = &mut store.shadow {
                let now = moment(&clock, access.root, local, place);
                shadow.touch(at, op.touch(), &now, |other, touch| races.push((other, touch, local, false)));
            }
            let old = store.words[at];
            if op.reads() && store.is_undefined(at) {
                undefined.0[lane / 64] |= 1 << (lane % 64);
            }
            if let Some(new) = op.apply(old, value, comparator) {
                store.words[at] = new;
                store.define(at, true);
            }
            out[lane] = old;
            self.races = races;
        }
        if !undefined.is_empty() && self.track_undefined {
            let message = format!("an atomic operation reads an uninitialised element of `{}`", access.name);
            self.report_undefined(&undefined, place, &message);
        }
        self.report_races(access, op.touch(), place);
        if let Some(to) = to {
            self.write(to, |register, _| register.copy_from_slice(&out));
        }
        self.staging = out;
    }

    pub(super) fn store_of(&self, root: Root) -> &Store {
        match root {
            Root::Descriptor(index) => match self.slots[index as usize] {
                Some(slot) => &self.stores[slot.buffer],
                None => &self.push_constants,
            },
            Root::Workgroup => &self.workgroup_memory,
            Root::Invocation | Root::PushConstant => &self.push_constants,
        }
    }

    fn store_of_mut(&mut self, root: Root) -> Option<&mut Store> {
        match root {
            Root::Descriptor(index) => self.slots[index as usize].map(|slot| &mut self.stores[slot.buffer]),
            Root::Workgroup => Some(&mut self.workgroup_memory),
            Root::Invocation | Root::PushConstant => None,
        }
    }

    fn report_races(&mut self, access: &Access, touch: Touch, place: u32) {
        if self.races.is_empty() {
            return;
        }
        for (other, earlier, local, same) in std::mem::take(&mut self.races) {
            self.report_race(access, [earlier, touch], other, local, same, place);
        }
    }

    fn report_race(
        &mut self,
        access: &Access,
        [earlier, touch]: [Touch; 2],
        other: Stamp,
        local: u32,
        same: bool,
        place: u32,
    ) {
        let (memory, reach) = match access.root {
            Root::Workgroup => ("workgroup", "within-workgroup"),
            Root::Descriptor(_) | Root::Invocation | Root::PushConstant => {
                let within = other.time() >= self.first_time();
                ("buffer", if within { "within-workgroup" } else { "across-workgroups" })
            }
        };
        let class = earlier as u32 * 8 + touch as u32 * 2 + u32::from(reach == "within-workgroup");
        let pair = [place, other.place()];
        let both_write = earlier == Touch::Write && touch == Touch::Write;
        let witnesses = [self.stamped(other), self.invocation(local)];
        let name = access.name.clone();
        self.collector.add(FindingKind::DataRace, pair, class, || Finding {
            invocations: witnesses.to_vec(),
            ..Finding::new(
                FindingKind::DataRace,
                format!(
                    "`{name}`: invocation {:?} ({}) and invocation {:?} ({}) access the same element of {memory} memory \
                     with nothing to order them",
                    witnesses[0], earlier.name(), witnesses[1], touch.name()
                ),
            )
            .detail("memory", memory)
            .detail("reach", reach)
            .detail("accesses", vec![earlier.name(), touch.name()])
            .detail("same_value", both_write && same)
        });
        if !(both_write && same) {
            self.collector.refute(FindingKind::DataRace, pair, class, "same_value");
        }
    }
}

fn moment(clock: &Clock, root: Root, local: u32, place: u32) -> super::shadow::Now {
    match root {
        Root::Workgroup => clock.in_workgroup(local, place),
        Root::Descriptor(_) | Root::Invocation | Root::PushConstant => clock.in_buffers(local, place),
    }
}
