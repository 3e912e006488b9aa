//! Loads, stores and atomics of the machine, with bounds, definedness and races.
//!
//! Promises: a read out of bounds gives 0 and a write out of bounds is dropped, after the finding.

use super::addressing::{Addressed, Direction};
use super::clash::Clash;
use super::races::moment;
use super::state::Machine;
use super::undefined_origins::Moved;
use crate::ir::atomic::Touch;
use crate::ir::lane_mask::{MASK_WORDS, Mask};
use crate::ir::{Access, Kept, Root, Scalar, Unit};
use crate::memory::store::Store;

impl Machine<'_> {
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
                Scalar::Word(reg) if self.full || reg.0 < self.program.shared_words => {
                    Some(reg.0 as usize)
                }
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
            self.pass_origins(
                Direction::Load,
                *scalar,
                (access, &undefined),
                &found,
                (*component, 1),
            );
        }
    }

    /// Lets the origins of a register's marks go where its value goes: to words or bytes of memory,
    /// or from them.
    pub(super) fn pass_origins(
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

    fn gather_guarded(
        &mut self,
        access: &Access,
        found: &Addressed,
        component: u32,
        out: &mut [u32],
        place: u32,
    ) {
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
                    undefined[lane / 64] |= self.memory_undefined
                        [word as usize * self.mask_words + lane / 64]
                        & 1 << (lane % 64);
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
            words
                .filter(|word| *word < found.limit)
                .for_each(|word| marks.read(found.first + word as usize));
        }
        std::mem::swap(&mut self.addresses, &mut addresses);
    }

    /// Whether it is noted who accesses what.
    pub(super) fn notes_users(&self) -> bool {
        self.aliasing.is_some() || self.reads.is_some()
    }

    /// Notes who accesses a component of every lane, where `restrict` variables overlap others or
    /// reads are watched.
    fn note_users(
        &mut self,
        access: &Access,
        found: &Addressed,
        component: u32,
        touch: Touch,
        place: u32,
    ) {
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

    pub(super) fn store(&mut self, access: &Access, from: &[Scalar], place: u32) {
        if self.is_indirect(access) {
            return self.each_target(access, place, &mut |machine, access| {
                machine.store(access, from, place)
            });
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
                    crate::ir::lane_mask::spread(&mut values, &bits[..self.mask_words]);
                    values.iter_mut().for_each(|word| *word &= 1);
                }
            }
            let undefined =
                if self.track_undefined { self.undefined_bits(*scalar) } else { [0; MASK_WORDS] };
            self.scatter(access, &found, *component, &values, &undefined, place);
            self.staging = values;
            self.pass_origins(
                Direction::Store,
                *scalar,
                (access, &undefined),
                &found,
                (*component, 1),
            );
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

    pub(super) fn store_of_mut(&mut self, root: Root) -> Option<&mut Store> {
        match root {
            Root::Descriptor(index) => {
                self.slots[index as usize].map(|slot| &mut self.stores[slot.buffer])
            }
            Root::Workgroup => Some(&mut self.workgroup_memory),
            Root::Buffer(index) => self.stores.get_mut(index as usize),
            Root::Invocation
            | Root::PushConstant
            | Root::Descriptors { .. }
            | Root::Address(_)
            | Root::Pointer { .. } => None,
        }
    }
}

impl Machine<'_> {
    /// What memory behind a descriptor is called.
    pub(super) fn kept_in(&self, root: Root) -> &'static str {
        let Root::Descriptor(index) = root else { return "buffer" };
        match self.program.descriptors[index as usize].kept {
            Kept::Buffer => "buffer",
            Kept::Image => "image",
        }
    }
}
