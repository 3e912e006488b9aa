//! Where an access of each lane goes: addresses, bounds, alignment.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{Access, AccessRoot, AddressUnit, Alignment, DimensionBound};
use vkcert_exec::resource::address_symbol;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::OutOfBoundsDetails;

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferDirection {
    Load,
    Store,
}

/// What an access found about the lanes' addresses.
pub(super) struct AddressedLanes {
    /// Active lanes whose every index is inside its dimension.
    pub(super) lanes: LaneMask,
    /// Whether every lane, active or not, can be read without looking.
    pub(super) all_readable: bool,
    /// What the root holds, in units of the access.
    pub(super) root_limit: u32,
    /// Word of the store where the root begins.
    pub(super) first_word: usize,
}

impl Machine<'_> {
    /// How much a root holds, in units, and the word of its store where it begins.
    pub(super) fn root_range(
        &self,
        access_root: AccessRoot,
        window: Option<[u32; 2]>,
        unit: AddressUnit,
    ) -> (u32, usize) {
        match access_root {
            AccessRoot::Descriptor(descriptor_index) => self.memory.slots
                [descriptor_index as usize]
                .map_or((0, 0), |bound_slot| match unit {
                    AddressUnit::Word => (bound_slot.words, bound_slot.first),
                    AddressUnit::Byte => (bound_slot.bytes, bound_slot.first),
                }),
            AccessRoot::Workgroup if let Some([first_word, window_words]) = window => {
                let window_words = window_words
                    .min((self.memory.workgroup.words.len() as u32).saturating_sub(first_word));
                (unit.units_of_words(window_words), first_word as usize)
            }
            AccessRoot::Workgroup => {
                (unit.units_of_words(self.memory.workgroup.words.len() as u32), 0)
            }
            AccessRoot::Invocation => (unit.units_of_words(self.program.invocation_words), 0),
            AccessRoot::PushConstant => {
                (unit.units_of_words(self.memory.push_constants.words.len() as u32), 0)
            }
            AccessRoot::Buffer(descriptor_index) => (self.memory.buffer_bytes(descriptor_index), 0),
            // Taken apart before (`indirect`).
            AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => (0, 0),
        }
    }

    /// Fills `addresses` with the address of each lane, relative to the root, in units of the
    /// access.
    pub(super) fn address_lanes(&mut self, access: &Access, source_index: u32) -> AddressedLanes {
        let (root_limit, first_word) = self.root_range(access.root, access.window, access.unit);
        let mut inside_lanes = self.registers.active_lanes;
        let mut addresses = std::mem::take(&mut self.memory.addresses);
        match access.root {
            AccessRoot::Buffer(_) => {
                let buffer_starts = addresses.iter_mut().zip(&self.memory.offsets);
                buffer_starts
                    .for_each(|(address, offset)| *address = offset.saturating_add(access.base));
            }
            AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Pointer { .. }
            | AccessRoot::Address(_) => addresses.fill(access.base),
        }
        for (position, dimension) in access.dimensions.iter().enumerate() {
            let bound = match dimension.bound {
                DimensionBound::Fixed(bound) => bound,
                // Of a buffer that an address leads to only the end is known.
                DimensionBound::Runtime if matches!(access.root, AccessRoot::Buffer(_)) => u32::MAX,
                DimensionBound::Runtime => {
                    root_limit.saturating_sub(access.base).div_ceil(dimension.stride.max(1))
                }
            };
            let indices = &self.registers.words[dimension.index.0 as usize];
            let mut any_outside = 0;
            for (address, index) in addresses.iter_mut().zip(indices) {
                *address = address.wrapping_add(index.wrapping_mul(dimension.stride));
                any_outside |= u32::from(*index >= bound);
            }
            if any_outside != 0 {
                inside_lanes = self.lanes_inside_dimension(
                    access,
                    position,
                    bound,
                    inside_lanes,
                    source_index,
                );
            }
        }
        if access.alignment != Alignment::NONE {
            self.report_misaligned(access, &addresses, &inside_lanes, source_index);
        }
        let access_span = access.unit_span();
        let last_start = root_limit.checked_sub(access_span);
        let highest_address =
            addresses.iter().fold(0, |highest_address, address| highest_address.max(*address));
        let all_inside = last_start.is_some_and(|last_start| highest_address <= last_start);
        self.memory.addresses = addresses;
        if let AccessRoot::Descriptor(index) = access.root {
            self.memory.note_highest_unit(
                index as usize,
                &inside_lanes,
                highest_address.saturating_add(access_span),
                access_span,
                root_limit,
                access.unit,
            );
        }
        let unguarded = all_inside && inside_lanes == self.registers.active_lanes;
        AddressedLanes { lanes: inside_lanes, all_readable: unguarded, root_limit, first_word }
    }

    /// Reports active lanes whose index lies outside one dimension; gives the others.
    fn lanes_inside_dimension(
        &mut self,
        access: &Access,
        position: usize,
        element_count: u32,
        mut inside_lanes: LaneMask,
        source_index: u32,
    ) -> LaneMask {
        let dimension = access.dimensions[position];
        for lane in inside_lanes.lanes() {
            let index = self.registers.words[dimension.index.0 as usize][lane];
            if index < element_count {
                continue;
            }
            inside_lanes.0[lane / 64] &= !(1 << (lane % 64));
            let global_id = self.global_id(self.registers.first_lane + lane as u32);
            let describe = || {
                let shown_index =
                    if dimension.signed { (index as i32).to_string() } else { index.to_string() };
                let object_name = &access.name;
                let dimension_count = access.dimensions.len();
                let which_dimension = if dimension_count > 1 {
                    format!(" (index {} of {dimension_count})", position + 1)
                } else {
                    String::new()
                };
                let message = format!(
                    "index {shown_index} is outside the {element_count} elements of `{object_name}`{which_dimension}"
                );
                let details = OutOfBoundsDetails::Index {
                    dimension: position as u64 + 1,
                    object: object_name.to_string(),
                };
                Finding { invocations: vec![global_id], ..Finding::out_of_bounds(message, details) }
            };
            let places = [source_index, NOWHERE];
            let collector = &mut self.monitor.collector;
            collector.add_occurrence(FindingKind::OutOfBounds, places, position as u32, describe);
        }
        inside_lanes
    }

    /// Reports lanes whose device address is not aligned as the instruction or the block says.
    /// Every buffer begins at an address that is aligned for all.
    fn report_misaligned(
        &mut self,
        access: &Access,
        addresses: &[u32],
        lanes: &LaneMask,
        source_index: u32,
    ) {
        let AccessRoot::Buffer(buffer) = access.root else { return };
        let Alignment { access: access_alignment, block } = access.alignment;
        for lane in lanes.lanes() {
            let (byte_offset, buffer_offset) = (addresses[lane], self.memory.offsets[lane]);
            let (byte_offset, alignment) = match (
                buffer_offset.is_multiple_of(block),
                byte_offset.is_multiple_of(access_alignment),
            ) {
                (false, _) => (buffer_offset, block),
                (true, false) => (byte_offset, access_alignment),
                (true, true) => continue,
            };
            let global_id = self.global_id(self.registers.first_lane + lane as u32);
            self.monitor.collector.add_occurrence(FindingKind::OutOfBounds, [source_index, NOWHERE], u32::MAX - 2, || {
                let (object_name, device_address) = (&access.name, address_symbol(buffer, byte_offset.into()));
                let message = format!(
                    "the address {device_address:#x} of `{object_name}` (byte {byte_offset} of its buffer) is no multiple of {alignment}, \
                     its declared alignment"
                );
                let details = OutOfBoundsDetails::Alignment {
                    address: format!("{device_address:#x}"),
                    alignment,
                    object: object_name.to_string(),
                };
                Finding { invocations: vec![global_id], ..Finding::out_of_bounds(message, details) }
            });
        }
    }
}
