//! Loads and stores of words, with bounds, definedness and races.
//!
//! Promises: a read out of bounds gives 0 and a write out of bounds is dropped, after the finding.
//! Does not cover: atomics (`atomic`), numbers of one byte or two (`byte_access`).

use super::access_step::{LaneAccess, word_bytes};
use super::addressing::{AddressedLanes, TransferDirection};
use super::control_trace::{StoredExtent, trace_stored};
use super::registers::Registers;
use super::state::Machine;
use super::undefined_origins::MovedValue;
use crate::ir::atomic::AccessKind;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{Access, AccessRoot, AddressUnit, MemoryClass, Scalar};
use vkcert_model::finding_details::AccessedMemory;

impl Machine<'_> {
    pub(super) fn load_memory(
        &mut self,
        access: &Access,
        result_scalars: &[Scalar],
        source_index: u32,
    ) {
        if self.is_indirect(access) {
            return self.load_indirectly(access, result_scalars, source_index);
        }
        let addressed = self.address_lanes(access, source_index);
        if access.unit == AddressUnit::Byte {
            self.load_bytes(access, &addressed, result_scalars, source_index);
            return;
        }
        for (component, scalar) in access.components.iter().zip(result_scalars) {
            // A register that may be written in every lane is filled in place.
            let register_in_place = match scalar {
                Scalar::Word(reg)
                    if self.registers.all_active || reg.0 < self.program.shared_words =>
                {
                    Some(reg.0 as usize)
                }
                Scalar::Word(_) | Scalar::Mask(_) => None,
            };
            let mut lane_values = match register_in_place {
                Some(register) => std::mem::take(&mut self.registers.words[register]),
                None => std::mem::take(&mut self.registers.staging_words),
            };
            if addressed.all_readable {
                self.gather_words(access.root, addressed.first_word, *component, &mut lane_values);
            } else {
                self.gather_guarded_words(
                    access,
                    &addressed,
                    *component,
                    &mut lane_values,
                    source_index,
                );
            }
            let undefined = self.undefined_words_at(access.root, &addressed, *component);
            self.observe_reads(access, &addressed, *component, source_index);
            self.watch_read(access.root, &addressed.lanes, &lane_values, source_index, *component);
            if self.settings.variation.is_some() {
                self.trace_reads(
                    access.root,
                    &addressed.lanes,
                    (addressed.first_word, addressed.root_limit),
                    *component,
                );
            }
            match register_in_place {
                Some(register) => self.registers.words[register] = lane_values,
                None => {
                    self.registers.write_words(*scalar, &lane_values);
                    self.registers.staging_words = lane_values;
                }
            }
            self.set_undefined_lanes(*scalar, &undefined);
            self.pass_origins(
                TransferDirection::Load,
                *scalar,
                (access, &undefined),
                &addressed,
                (*component, 1),
            );
        }
    }

    /// Lets the origins of a register's marks go where its value goes: to words or bytes of memory,
    /// or from them.
    pub(super) fn pass_origins(
        &mut self,
        direction: TransferDirection,
        scalar: Scalar,
        (access, marks): (&Access, &[u64; MASK_WORDS]),
        addressed: &AddressedLanes,
        (component, unit_count): (u32, u32),
    ) {
        let (root, unit) = (access.root, access.unit);
        if self.monitor.origins.is_empty() || root.is_buffer() {
            return;
        }
        let addresses = std::mem::take(&mut self.memory.addresses);
        let is_inside =
            |lane: &usize| addresses[*lane].wrapping_add(component) < addressed.root_limit;
        let mut lanes = LaneMask::EMPTY;
        addressed.lanes.lanes().filter(is_inside).for_each(|lane| lanes.insert(lane));
        let moved_value = MovedValue {
            root,
            lanes: &lanes.0,
            addresses: &|lane| addresses[lane].wrapping_add(component),
            first_word: addressed.first_word as u32,
            unit_count,
            unit,
        };
        match direction {
            TransferDirection::Load => self.carry_from_memory(scalar, marks, &moved_value),
            TransferDirection::Store => self.carry_to_memory(scalar, marks, &moved_value),
        }
        self.memory.addresses = addresses;
    }

    /// Reads one component of every lane; all addresses are inside.
    fn gather_words(
        &self,
        access_root: AccessRoot,
        first_word: usize,
        component: u32,
        lane_values: &mut [u32],
    ) {
        if access_root == AccessRoot::Invocation {
            for (lane, (lane_values, address)) in
                lane_values.iter_mut().zip(&self.memory.addresses).enumerate()
            {
                *lane_values = self.registers.private_words
                    [(address + component) as usize * self.registers.width + lane];
            }
            return;
        }
        let root_words =
            &self.memory.store_of(access_root).words[first_word + component as usize..];
        for (lane_values, address) in lane_values.iter_mut().zip(&self.memory.addresses) {
            *lane_values = root_words[*address as usize];
        }
    }

    fn gather_guarded_words(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        component: u32,
        lane_values: &mut [u32],
        source_index: u32,
    ) {
        lane_values.fill(0);
        for lane in addressed.lanes.lanes() {
            let Some(word_index) =
                self.checked_address(access, addressed, (lane, component), 1, source_index)
            else {
                continue;
            };
            if access.root == AccessRoot::Invocation {
                lane_values[lane] =
                    self.registers.private_words[word_index as usize * self.registers.width + lane];
            } else {
                lane_values[lane] = self.memory.store_of(access.root).words
                    [addressed.first_word + word_index as usize];
            }
        }
    }

    /// Which lanes read an undefined word.
    fn undefined_words_at(
        &self,
        access_root: AccessRoot,
        addressed: &AddressedLanes,
        component: u32,
    ) -> [u64; MASK_WORDS] {
        let mut undefined_lanes = [0; MASK_WORDS];
        if !self.monitor.track_undefined {
            return undefined_lanes;
        }
        if access_root == AccessRoot::Invocation {
            for lane in addressed.lanes.lanes() {
                let word_index = self.memory.addresses[lane].wrapping_add(component);
                if word_index < addressed.root_limit {
                    undefined_lanes[lane / 64] |= self.registers.private_undefined
                        [word_index as usize * self.registers.mask_words + lane / 64]
                        & 1 << (lane % 64);
                }
            }
            return undefined_lanes;
        }
        let store = self.memory.store_of(access_root);
        if store.undefined.is_none() {
            return undefined_lanes;
        }
        for lane in addressed.lanes.lanes() {
            let word_index = self.memory.addresses[lane].wrapping_add(component);
            if word_index < addressed.root_limit
                && store.is_undefined(addressed.first_word + word_index as usize)
            {
                undefined_lanes[lane / 64] |= 1 << (lane % 64);
            }
        }
        undefined_lanes
    }

    pub(super) fn store_memory(
        &mut self,
        access: &Access,
        source_scalars: &[Scalar],
        source_index: u32,
    ) {
        if self.is_indirect(access) {
            return self.run_each_target(access, source_index, &mut |machine, access| {
                machine.store_memory(access, source_scalars, source_index)
            });
        }
        let addressed = self.address_lanes(access, source_index);
        if access.unit == AddressUnit::Byte {
            self.store_bytes(access, &addressed, source_scalars, source_index);
            return;
        }
        for (component, scalar) in access.components.iter().zip(source_scalars) {
            let mut lane_values = std::mem::take(&mut self.registers.staging_words);
            match scalar {
                Scalar::Word(reg) => {
                    lane_values.copy_from_slice(&self.registers.words[reg.0 as usize])
                }
                Scalar::Mask(reg) => {
                    let lane_bits = self.registers.mask_bits(*reg);
                    crate::ir::lane_mask::spread_bits(
                        &mut lane_values,
                        &lane_bits[..self.registers.mask_words],
                    );
                    lane_values.iter_mut().for_each(|word| *word &= 1);
                }
            }
            let undefined = if self.monitor.track_undefined {
                self.registers.undefined_bits(*scalar)
            } else {
                [0; MASK_WORDS]
            };
            self.scatter_words(
                access,
                &addressed,
                *component,
                &lane_values,
                &undefined,
                source_index,
            );
            self.registers.staging_words = lane_values;
            self.pass_origins(
                TransferDirection::Store,
                *scalar,
                (access, &undefined),
                &addressed,
                (*component, 1),
            );
        }
    }

    fn scatter_words(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        component: u32,
        lane_values: &[u32],
        undefined_lanes: &[u64; MASK_WORDS],
        source_index: u32,
    ) {
        let access_moment = self.access_moment(access.root, source_index);
        let is_watched = self.monitor.watches_accesses();
        let mut memory_changed = false;
        for lane in addressed.lanes.lanes() {
            let Some(word_index) =
                self.checked_address(access, addressed, (lane, component), 1, source_index)
            else {
                continue;
            };
            let is_undefined = undefined_lanes[lane / 64] >> (lane % 64) & 1 == 1;
            if access.root == AccessRoot::Invocation {
                self.store_private_word(word_index, lane, lane_values[lane], is_undefined);
                continue;
            }
            let lane_trace = self.lane_trace(lane);
            let Some(store) = self.memory.store_of_mut(access.root) else { continue };
            let store_index = addressed.first_word + word_index as usize;
            if is_watched {
                let lane_access = LaneAccess {
                    lane,
                    bytes: word_bytes(store_index, 1),
                    touch: AccessKind::Write,
                    values: [store.words[store_index], lane_values[lane]].map(u128::from),
                    atomic: None,
                };
                self.monitor.observe_access(store, &access_moment, &lane_access);
            }
            trace_stored(store, lane_trace, store_index..store_index + 1, StoredExtent::Whole);
            memory_changed |= store.words[store_index] != lane_values[lane];
            store.words[store_index] = lane_values[lane];
            // An undefined value written to a buffer was reported where it was written.
            let is_defined = !is_undefined || access.root.is_buffer();
            store.set_defined(store_index, is_defined);
        }
        self.report_access((access.root, &access.name), source_index);
        self.watch_change(access.root, memory_changed);
    }

    /// Writes a word of an invocation's memory.
    #[inline]
    fn store_private_word(
        &mut self,
        word_index: u32,
        lane: usize,
        new_value: u32,
        is_undefined: bool,
    ) {
        let Registers { width, mask_words, private_words: private, private_undefined, .. } =
            &mut self.registers;
        private[word_index as usize * *width + lane] = new_value;
        let undefined_word = &mut private_undefined[word_index as usize * *mask_words + lane / 64];
        *undefined_word =
            (*undefined_word & !(1 << (lane % 64))) | u64::from(is_undefined) << (lane % 64);
    }
}

impl Machine<'_> {
    /// What memory behind a descriptor is called.
    pub(super) fn memory_name(&self, access_root: AccessRoot) -> AccessedMemory {
        let AccessRoot::Descriptor(descriptor_index) = access_root else {
            return AccessedMemory::Buffer;
        };
        match self.program.descriptors[descriptor_index as usize].kept {
            MemoryClass::Buffer => AccessedMemory::Buffer,
            MemoryClass::Image => AccessedMemory::Image,
        }
    }
}
