//! Where an access of each lane goes: addresses, bounds, alignment.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{Access, AccessRoot, AddressUnit, Alignment, DimensionBound};
use vkcert_exec::resource::address_symbol;
use vkcert_model::finding::{Finding, FindingKind};

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Load,
    Store,
}

/// What an access found about the lanes' addresses.
pub(super) struct Addressed {
    /// Active lanes whose every index is inside its dimension.
    pub(super) lanes: LaneMask,
    /// Whether every lane, active or not, can be read without looking.
    pub(super) unguarded: bool,
    /// What the root holds, in units of the access.
    pub(super) limit: u32,
    /// Word of the store where the root begins.
    pub(super) first: usize,
}

impl Machine<'_> {
    /// How much a root holds, in units, and the word of its store where it begins.
    pub(super) fn range_of(
        &self,
        root: AccessRoot,
        window: Option<[u32; 2]>,
        unit: AddressUnit,
    ) -> (u32, usize) {
        match root {
            AccessRoot::Descriptor(index) => {
                self.memory.slots[index as usize].map_or((0, 0), |slot| match unit {
                    AddressUnit::Word => (slot.words, slot.first),
                    AddressUnit::Byte => (slot.bytes, slot.first),
                })
            }
            AccessRoot::Workgroup if let Some([first, words]) = window => {
                let words =
                    words.min((self.memory.workgroup.words.len() as u32).saturating_sub(first));
                (unit.of_words(words), first as usize)
            }
            AccessRoot::Workgroup => (unit.of_words(self.memory.workgroup.words.len() as u32), 0),
            AccessRoot::Invocation => (unit.of_words(self.program.invocation_words), 0),
            AccessRoot::PushConstant => {
                (unit.of_words(self.memory.push_constants.words.len() as u32), 0)
            }
            AccessRoot::Buffer(index) => (self.memory.buffer_bytes(index), 0),
            // Taken apart before (`indirect`).
            AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => (0, 0),
        }
    }

    /// Fills `addresses` with the address of each lane, relative to the root, in units of the
    /// access.
    pub(super) fn address(&mut self, access: &Access, place: u32) -> Addressed {
        let (limit, first) = self.range_of(access.root, access.window, access.unit);
        let mut lanes = self.registers.active;
        let mut addresses = std::mem::take(&mut self.memory.addresses);
        match access.root {
            AccessRoot::Buffer(_) => {
                let starts = addresses.iter_mut().zip(&self.memory.offsets);
                starts.for_each(|(address, offset)| *address = offset.saturating_add(access.base));
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
                    limit.saturating_sub(access.base).div_ceil(dimension.stride.max(1))
                }
            };
            let indices = &self.registers.words[dimension.index.0 as usize];
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
        self.memory.addresses = addresses;
        if let AccessRoot::Descriptor(index) = access.root {
            self.memory.touch_range(
                index as usize,
                &lanes,
                most.saturating_add(span),
                span,
                limit,
                access.unit,
            );
        }
        let unguarded = inside && lanes == self.registers.active;
        Addressed { lanes, unguarded, limit, first }
    }

    /// Reports active lanes whose index lies outside one dimension; gives the others.
    fn inside_dimension(
        &mut self,
        access: &Access,
        position: usize,
        bound: u32,
        mut lanes: LaneMask,
        place: u32,
    ) -> LaneMask {
        let dimension = access.dimensions[position];
        for lane in lanes.lanes() {
            let index = self.registers.words[dimension.index.0 as usize][lane];
            if index < bound {
                continue;
            }
            lanes.0[lane / 64] &= !(1 << (lane % 64));
            let witness = self.invocation(self.registers.first_lane + lane as u32);
            self.monitor.collector.add(
                FindingKind::OutOfBounds,
                [place, NOWHERE],
                position as u32,
                || {
                    let shown = if dimension.signed {
                        (index as i32).to_string()
                    } else {
                        index.to_string()
                    };
                    let name = &access.name;
                    let total = access.dimensions.len();
                    let which = if total > 1 {
                        format!(" (index {} of {total})", position + 1)
                    } else {
                        String::new()
                    };
                    Finding {
                        invocations: vec![witness],
                        ..Finding::new(
                            FindingKind::OutOfBounds,
                            format!(
                                "index {shown} is outside the {bound} elements of `{name}`{which}"
                            ),
                        )
                        .detail("object", name.to_string())
                        .detail("dimension", position as u64 + 1)
                    }
                },
            );
        }
        lanes
    }

    /// Reports lanes whose device address is not aligned as the instruction or the block says.
    /// Every buffer begins at an address that is aligned for all.
    fn report_misaligned(
        &mut self,
        access: &Access,
        addresses: &[u32],
        lanes: &LaneMask,
        place: u32,
    ) {
        let AccessRoot::Buffer(buffer) = access.root else { return };
        let Alignment { access: own, block } = access.alignment;
        for lane in lanes.lanes() {
            let (byte, start) = (addresses[lane], self.memory.offsets[lane]);
            let (byte, alignment) = match (start.is_multiple_of(block), byte.is_multiple_of(own)) {
                (false, _) => (start, block),
                (true, false) => (byte, own),
                (true, true) => continue,
            };
            let witness = self.invocation(self.registers.first_lane + lane as u32);
            self.monitor.collector.add(FindingKind::OutOfBounds, [place, NOWHERE], u32::MAX - 2, || {
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
}
