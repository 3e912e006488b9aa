//! Loads, stores and atomics of the machine, with bounds, definedness and races.
//!
//! Promises: a read out of bounds gives 0 and a write out of bounds is dropped, after the finding.

use super::access_step::LaneAccess;
use super::addressing::{Addressed, Direction};
use super::control_trace::{Stored, trace_stored};
use super::registers::Registers;
use super::state::Machine;
use super::undefined_origins::Moved;
use crate::ir::atomic::AccessKind;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{Access, AccessRoot, AddressUnit, MemoryClass, Scalar};

impl Machine<'_> {
    pub(super) fn load(&mut self, access: &Access, to: &[Scalar], place: u32) {
        if self.is_indirect(access) {
            return self.load_indirectly(access, to, place);
        }
        let found = self.address(access, place);
        if access.unit == AddressUnit::Byte {
            self.load_bytes(access, &found, to, place);
            return;
        }
        for (component, scalar) in access.components.iter().zip(to) {
            // A register that may be written in every lane is filled in place.
            let in_place = match scalar {
                Scalar::Word(reg) if self.registers.full || reg.0 < self.program.shared_words => {
                    Some(reg.0 as usize)
                }
                Scalar::Word(_) | Scalar::Mask(_) => None,
            };
            let mut out = match in_place {
                Some(register) => std::mem::take(&mut self.registers.words[register]),
                None => std::mem::take(&mut self.registers.staging),
            };
            if found.unguarded {
                self.gather(access.root, found.first, *component, &mut out);
            } else {
                self.gather_guarded(access, &found, *component, &mut out, place);
            }
            let undefined = self.undefined_at(access.root, &found, *component);
            self.observe_reads(access, &found, *component, place);
            self.watch_read(access.root, &found.lanes, &out, place, *component);
            if self.settings.variation.is_some() {
                self.follow_read(access.root, &found.lanes, (found.first, found.limit), *component);
            }
            match in_place {
                Some(register) => self.registers.words[register] = out,
                None => {
                    self.registers.write_words(*scalar, &out);
                    self.registers.staging = out;
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
        if self.monitor.origins.is_empty() || root.is_buffer() {
            return;
        }
        let addresses = std::mem::take(&mut self.memory.addresses);
        let inside = |lane: &usize| addresses[*lane].wrapping_add(component) < found.limit;
        let mut lanes = LaneMask::EMPTY;
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
        self.memory.addresses = addresses;
    }

    /// Reads one component of every lane; all addresses are inside.
    fn gather(&self, root: AccessRoot, first: usize, component: u32, out: &mut [u32]) {
        if root == AccessRoot::Invocation {
            for (lane, (out, address)) in out.iter_mut().zip(&self.memory.addresses).enumerate() {
                *out = self.registers.private
                    [(address + component) as usize * self.registers.width + lane];
            }
            return;
        }
        let words = &self.memory.store_of(root).words[first + component as usize..];
        for (out, address) in out.iter_mut().zip(&self.memory.addresses) {
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
            let Some(word) = self.inside(access, found, (lane, component), 1, place) else {
                continue;
            };
            if access.root == AccessRoot::Invocation {
                out[lane] = self.registers.private[word as usize * self.registers.width + lane];
            } else {
                out[lane] = self.memory.store_of(access.root).words[found.first + word as usize];
            }
        }
    }

    /// Which lanes read an undefined word.
    fn undefined_at(
        &self,
        root: AccessRoot,
        found: &Addressed,
        component: u32,
    ) -> [u64; MASK_WORDS] {
        let mut undefined = [0; MASK_WORDS];
        if !self.monitor.track_undefined {
            return undefined;
        }
        if root == AccessRoot::Invocation {
            for lane in found.lanes.lanes() {
                let word = self.memory.addresses[lane].wrapping_add(component);
                if word < found.limit {
                    undefined[lane / 64] |= self.registers.private_undefined
                        [word as usize * self.registers.mask_words + lane / 64]
                        & 1 << (lane % 64);
                }
            }
            return undefined;
        }
        let store = self.memory.store_of(root);
        if store.undefined.is_none() {
            return undefined;
        }
        for lane in found.lanes.lanes() {
            let word = self.memory.addresses[lane].wrapping_add(component);
            if word < found.limit && store.is_undefined(found.first + word as usize) {
                undefined[lane / 64] |= 1 << (lane % 64);
            }
        }
        undefined
    }

    pub(super) fn store(&mut self, access: &Access, from: &[Scalar], place: u32) {
        if self.is_indirect(access) {
            return self.each_target(access, place, &mut |machine, access| {
                machine.store(access, from, place)
            });
        }
        let found = self.address(access, place);
        if access.unit == AddressUnit::Byte {
            self.store_bytes(access, &found, from, place);
            return;
        }
        for (component, scalar) in access.components.iter().zip(from) {
            let mut values = std::mem::take(&mut self.registers.staging);
            match scalar {
                Scalar::Word(reg) => values.copy_from_slice(&self.registers.words[reg.0 as usize]),
                Scalar::Mask(reg) => {
                    let bits = self.registers.bits(*reg);
                    crate::ir::lane_mask::spread_bits(
                        &mut values,
                        &bits[..self.registers.mask_words],
                    );
                    values.iter_mut().for_each(|word| *word &= 1);
                }
            }
            let undefined = if self.monitor.track_undefined {
                self.registers.undefined_bits(*scalar)
            } else {
                [0; MASK_WORDS]
            };
            self.scatter(access, &found, *component, &values, &undefined, place);
            self.registers.staging = values;
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
        let moment = self.moment(access.root, place);
        let watched = self.monitor.watches_accesses();
        let mut changed = false;
        for lane in found.lanes.lanes() {
            let Some(word) = self.inside(access, found, (lane, component), 1, place) else {
                continue;
            };
            let is_undefined = undefined[lane / 64] >> (lane % 64) & 1 == 1;
            if access.root == AccessRoot::Invocation {
                self.store_private(word, lane, values[lane], is_undefined);
                continue;
            }
            let trace = self.path(lane);
            let Some(store) = self.memory.store_of_mut(access.root) else { continue };
            let at = found.first + word as usize;
            if watched {
                let one = LaneAccess {
                    lane,
                    bytes: 4 * at..4 * at + 4,
                    touch: AccessKind::Write,
                    values: [store.words[at], values[lane]].map(u128::from),
                    atomic: None,
                };
                self.monitor.observe(store, &moment, &one);
            }
            trace_stored(store, trace, at..at + 1, Stored::Whole);
            changed |= store.words[at] != values[lane];
            store.words[at] = values[lane];
            // An undefined value written to a buffer was reported where it was written.
            let defined = !is_undefined || access.root.is_buffer();
            store.set_defined(at, defined);
        }
        self.tell_access((access.root, &access.name), place);
        self.watch_change(access.root, changed);
    }

    /// Writes a word of an invocation's memory.
    #[inline]
    fn store_private(&mut self, word: u32, lane: usize, value: u32, is_undefined: bool) {
        let Registers { width, mask_words, private, private_undefined, .. } = &mut self.registers;
        private[word as usize * *width + lane] = value;
        let bits = &mut private_undefined[word as usize * *mask_words + lane / 64];
        *bits = (*bits & !(1 << (lane % 64))) | u64::from(is_undefined) << (lane % 64);
    }
}

impl Machine<'_> {
    /// What memory behind a descriptor is called.
    pub(super) fn kept_in(&self, root: AccessRoot) -> &'static str {
        let AccessRoot::Descriptor(index) = root else { return "buffer" };
        match self.program.descriptors[index as usize].kept {
            MemoryClass::Buffer => "buffer",
            MemoryClass::Image => "image",
        }
    }
}
