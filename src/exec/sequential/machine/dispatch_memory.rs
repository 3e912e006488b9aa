//! The memory that a dispatch reaches: buffers, images, workgroup memory, push constants.
//!
//! Knows: which store stands behind a root of an access, and how much of it is bound.
//! Does not cover: the memory of invocations, which stands with their registers (`registers`).

use super::image::workspace::ImageWorkspace;
use super::indirect_targets::IndirectTargets;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{AccessRoot, AddressUnit};
use crate::memory::image_view::DescriptorView;
use crate::memory::store::{BoundRange, Store};
use vkcert_exec::resource::JobSampler;
use vkcert_model::image::ImageFormat;

/// Bits of an address below the buffer's number.
const OFFSET_BITS: u32 = 40;

/// What a dispatch can read and write.
pub(crate) struct DispatchMemory<'a> {
    pub stores: &'a mut [Store],
    /// By descriptor: what is bound to it.
    pub slots: Vec<Option<BoundRange>>,
    /// By descriptor: words from the start of its range up to the last one accessed.
    pub touched_words: Vec<u32>,
    pub workgroup: Store,
    pub push_constants: Store,
    /// Bytes of the job's buffers, which are the first of the stores.
    pub(super) buffer_lengths: Vec<usize>,
    /// The job's samplers.
    pub(super) samplers: &'a [JobSampler],
    /// Where the access at hand goes in each lane.
    pub(super) addresses: Box<[u32]>,
    /// Where each lane's device address lies in its buffer, while it is followed.
    pub(super) offsets: Box<[u32]>,
    pub(super) indirect_targets: IndirectTargets,
    pub(super) workspace: ImageWorkspace,
}

impl DispatchMemory<'_> {
    pub(super) fn store_of(&self, access_root: AccessRoot) -> &Store {
        match access_root {
            AccessRoot::Descriptor(index) => match self.slots[index as usize] {
                Some(slot) => &self.stores[slot.buffer],
                None => &self.push_constants,
            },
            AccessRoot::Workgroup => &self.workgroup,
            AccessRoot::Buffer(index) => &self.stores[index as usize],
            AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => &self.push_constants,
        }
    }

    pub(super) fn store_of_mut(&mut self, access_root: AccessRoot) -> Option<&mut Store> {
        match access_root {
            AccessRoot::Descriptor(index) => {
                self.slots[index as usize].map(|slot| &mut self.stores[slot.buffer])
            }
            AccessRoot::Workgroup => Some(&mut self.workgroup),
            AccessRoot::Buffer(index) => self.stores.get_mut(index as usize),
            AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => None,
        }
    }

    /// Bytes of a buffer of the job.
    pub(super) fn buffer_bytes(&self, buffer_index: u32) -> u32 {
        let byte_count =
            self.buffer_lengths.get(buffer_index as usize).copied().unwrap_or_default();
        u32::try_from(byte_count).unwrap_or(u32::MAX)
    }

    /// The buffer that a device address leads into, and the byte in it.
    pub(super) fn buffer_at_address(&self, device_address: u64) -> Option<(u32, u32)> {
        let buffer_index = (device_address >> OFFSET_BITS)
            .checked_sub(1)
            .filter(|buffer_index| *buffer_index < self.buffer_lengths.len() as u64)?;
        let byte_offset = u32::try_from(device_address & ((1 << OFFSET_BITS) - 1)).ok()?;
        Some((buffer_index as u32, byte_offset))
    }

    /// Remembers the last word of a descriptor's range that was accessed. `most` bounds what any
    /// lane, active or not, could have accessed, so that the lanes are looked at only where it may
    /// be news.
    pub(super) fn note_highest_unit(
        &mut self,
        descriptor_index: usize,
        lanes: &LaneMask,
        highest_end: u32,
        access_span: u32,
        access_limit: u32,
        unit: AddressUnit,
    ) {
        if highest_end <= unit.units_of_words(self.touched_words[descriptor_index]) {
            return;
        }
        let lane_ends = lanes.lanes().map(|lane| self.addresses[lane].saturating_add(access_span));
        let last_end = lane_ends.filter(|end| *end <= access_limit).max().unwrap_or(0);
        self.touched_words[descriptor_index] =
            self.touched_words[descriptor_index].max(last_end.div_ceil(unit.units_of_words(1)));
    }

    /// Remembers the last word of a descriptor's range that was accessed, by the byte at which a
    /// texel starts.
    pub(super) fn note_texel_extent(
        &mut self,
        descriptor: u32,
        view: &DescriptorView,
        first_byte: usize,
    ) {
        let size = view.format().map_or(0, ImageFormat::texel_size);
        let touched_words = &mut self.touched_words[descriptor as usize];
        *touched_words = (*touched_words).max((first_byte + size).div_ceil(4) as u32);
    }
}
