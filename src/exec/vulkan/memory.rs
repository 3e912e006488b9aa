//! Buffers in host-visible memory, each between two guard zones.
//!
//! Knows: the layout of one buffer (guard zone, contents, guard zone) and the pattern of the
//! guards.
//! Promises: a changed guard byte is found; memory goes back when its owner drops.
//! Does not cover: writes that miss the guard zones, and reads: neither leaves a trace here.

use super::device::{CallFailure, Device, during};
use super::protocol::Side;
use ash::vk;
use std::rc::Rc;

/// A buffer that gets the contents of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestoredBuffer {
    pub source_buffer: vk::Buffer,
    pub target_buffer: vk::Buffer,
    pub bytes: u64,
}

/// Bytes of a guard zone. No device wants a greater offset alignment than 256 (Vulkan
/// specification, "Required Limits"), so the contents start aligned.
pub(crate) const GUARD: usize = 256;

/// Smallest block that is allocated.
const LEAST_BLOCK: u64 = 1 << 20;

/// The guard byte at a place; it varies so that no constant fill looks like it.
const fn guard_byte(byte_index: usize) -> u8 {
    (byte_index as u8).wrapping_mul(0x6D) ^ 0xA5
}

/// A guard zone as it is written.
const GUARDS: [u8; GUARD] = {
    let mut bytes = [0; GUARD];
    let mut place = 0;
    while place < GUARD {
        bytes[place] = guard_byte(place);
        place += 1;
    }
    bytes
};

/// Where a block lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Where the host reads fast.
    ReadBack,
    /// In the device's own memory, where the host can write to it: for measurements, so that they
    /// are of the device and not of its bus.
    Near,
}

/// A mapped allocation.
pub(crate) struct MemoryBlock {
    memory: vk::DeviceMemory,
    start: *mut u8,
    pub size: u64,
    device: Rc<Device>,
}

impl MemoryBlock {
    /// A block of at least `least` bytes.
    pub(crate) fn allocate(
        device: &Rc<Device>,
        least_bytes: u64,
        placement: Placement,
    ) -> Result<Self, CallFailure> {
        let block_size = least_bytes.max(LEAST_BLOCK).next_power_of_two();
        let memory_type = match placement {
            Placement::ReadBack => device.memory_type,
            Placement::Near => device.near_memory_type,
        };
        let mut allocate_flags =
            vk::MemoryAllocateFlagsInfo::default().flags(device.address_allocate_flags());
        let allocate_info = vk::MemoryAllocateInfo::default()
            .allocation_size(block_size)
            .memory_type_index(memory_type)
            .push_next(&mut allocate_flags);
        // SAFETY: the memory type is one of the device's.
        let memory = unsafe { device.raw.allocate_memory(&allocate_info, None) }
            .map_err(during("vkAllocateMemory"))?;
        let mut new_block = Self {
            memory,
            start: std::ptr::null_mut(),
            size: block_size,
            device: Rc::clone(device),
        };
        // SAFETY: the memory is host-visible and not mapped yet; freeing it on drop unmaps it.
        let mapped_start = unsafe {
            device.raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
        };
        new_block.start = mapped_start.map_err(during("vkMapMemory"))?.cast();
        Ok(new_block)
    }

    /// The bytes `offset .. offset + length`. The device must be idle: callers wait for the fence
    /// first.
    fn mapped_bytes(&mut self, byte_offset: u64, byte_count: usize) -> &mut [u8] {
        assert!(byte_offset + byte_count as u64 <= self.size, "a buffer lies within its block");
        // SAFETY: the range lies in the mapping (checked above), which lives as long as `self`;
        // `&mut self` makes this the only reference, and no submitted work is pending while the
        // host reads or writes.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(byte_offset as usize), byte_count) }
    }
}

impl Drop for MemoryBlock {
    fn drop(&mut self) {
        // SAFETY: buffers bound to the block are destroyed before it (see `Storage`), and no work
        // is pending.
        unsafe { self.device.raw.free_memory(self.memory, None) }
    }
}

/// A buffer without memory yet.
struct BufferSlot {
    buffer: vk::Buffer,
    /// In the block.
    offset: u64,
    /// Bytes of contents, without guards.
    content_length: usize,
}

/// The buffers of one prepared job in one block.
pub(crate) struct BufferStorage {
    buffer_slots: Vec<BufferSlot>,
    block: Option<MemoryBlock>,
    device: Rc<Device>,
}

/// A change in a guard zone: side, distance of the nearest changed byte from the contents, number
/// of changed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GuardChange {
    pub side: Side,
    pub distance: u64,
    pub bytes: u64,
}

impl BufferStorage {
    /// Creates buffers of the given content lengths, in `spare` where it is large enough. The block
    /// of a spare lies where it lay.
    pub(crate) fn create_buffers(
        device: &Rc<Device>,
        buffer_lengths: &[usize],
        placement: Placement,
        spare_block: Option<MemoryBlock>,
    ) -> Result<Self, CallFailure> {
        let mut storage = Self {
            buffer_slots: Vec::with_capacity(buffer_lengths.len()),
            block: None,
            device: Rc::clone(device),
        };
        let mut block_end = 0_u64;
        for content_length in buffer_lengths {
            let buffer_size = (content_length + 2 * GUARD) as u64;
            let create_info =
                vk::BufferCreateInfo::default().size(buffer_size).usage(device.buffer_usage());
            // SAFETY: the device is open; the buffer is destroyed when `storage` drops.
            let buffer = unsafe { device.raw.create_buffer(&create_info, None) }
                .map_err(during("vkCreateBuffer"))?;
            storage.buffer_slots.push(BufferSlot {
                buffer,
                offset: 0,
                content_length: *content_length,
            });
            // SAFETY: the buffer is alive.
            let requirements = unsafe { device.raw.get_buffer_memory_requirements(buffer) };
            let buffer_offset = block_end.next_multiple_of(requirements.alignment.max(1));
            storage.buffer_slots.last_mut().expect("just pushed").offset = buffer_offset;
            block_end = buffer_offset + requirements.size;
        }
        let used_block = match spare_block {
            Some(spare_block) if spare_block.size >= block_end => spare_block,
            Some(_) | None => MemoryBlock::allocate(device, block_end, placement)?,
        };
        for slot in &storage.buffer_slots {
            // SAFETY: the buffer has no memory yet, and alignment, size and type are as its
            // requirements say.
            unsafe { device.raw.bind_buffer_memory(slot.buffer, used_block.memory, slot.offset) }
                .map_err(during("vkBindBufferMemory"))?;
        }
        storage.block = Some(used_block);
        Ok(storage)
    }

    /// Bytes of contents of each buffer.
    pub(crate) fn content_lengths(&self) -> Vec<usize> {
        self.buffer_slots.iter().map(|slot| slot.content_length).collect()
    }

    pub(crate) fn has_lengths(&self, buffer_lengths: &[usize]) -> bool {
        self.buffer_slots.iter().map(|slot| slot.content_length).eq(buffer_lengths.iter().copied())
    }

    /// Bytes of the block that the buffers lie in.
    pub(crate) fn block_bytes(&self) -> u64 {
        self.block.as_ref().map_or(0, |block| block.size)
    }

    /// What makes the buffers of `self` those of `original`, guards included. Both were created
    /// with the same lengths.
    pub(crate) fn restored_from(&self, original: &BufferStorage) -> Vec<RestoredBuffer> {
        let buffer_pairs = self.buffer_slots.iter().zip(&original.buffer_slots);
        let restored_buffer = |(target_slot, source_slot): (&BufferSlot, &BufferSlot)| {
            let byte_count =
                (target_slot.content_length.min(source_slot.content_length) + 2 * GUARD) as u64;
            RestoredBuffer {
                source_buffer: source_slot.buffer,
                target_buffer: target_slot.buffer,
                bytes: byte_count,
            }
        };
        buffer_pairs.map(restored_buffer).collect()
    }

    pub(crate) fn buffer(&self, buffer_index: usize) -> vk::Buffer {
        self.buffer_slots[buffer_index].buffer
    }

    /// Writes contents and guards anew.
    pub(crate) fn fill_buffer(&mut self, buffer_index: usize, contents: &[u8]) {
        self.guarded_contents(buffer_index).copy_from_slice(contents);
    }

    /// Writes zero and guards anew.
    pub(crate) fn clear_buffer(&mut self, buffer_index: usize) {
        self.guarded_contents(buffer_index).fill(0);
    }

    /// The contents of a buffer whose guards have just been written.
    fn guarded_contents(&mut self, buffer_index: usize) -> &mut [u8] {
        let content_length = self.buffer_slots[buffer_index].content_length;
        let (guard_before, after_guard) = self.guarded_bytes(buffer_index).split_at_mut(GUARD);
        let (content_bytes, guard_behind) = after_guard.split_at_mut(content_length);
        guard_before.copy_from_slice(&GUARDS);
        guard_behind.copy_from_slice(&GUARDS);
        content_bytes
    }

    pub(crate) fn buffer_contents(&mut self, buffer_index: usize) -> &mut [u8] {
        let content_length = self.buffer_slots[buffer_index].content_length;
        &mut self.guarded_bytes(buffer_index)[GUARD..GUARD + content_length]
    }

    /// Guards of a buffer that are not as they were written.
    pub(crate) fn guard_changes(&mut self, buffer_index: usize) -> Vec<GuardChange> {
        let content_length = self.buffer_slots[buffer_index].content_length;
        guard_changes(self.guarded_bytes(buffer_index), content_length)
    }

    /// Changes a guard byte, so that a test can show that the change is found.
    pub(crate) fn disturb_guard(&mut self, buffer_index: usize) {
        let content_length = self.buffer_slots[buffer_index].content_length;
        self.guarded_bytes(buffer_index)[GUARD + content_length + 4] ^= 0xFF;
    }

    /// Contents with both guards.
    fn guarded_bytes(&mut self, buffer_index: usize) -> &mut [u8] {
        let buffer_slot = &self.buffer_slots[buffer_index];
        let block = self.block.as_mut().expect("storage has a block until it is taken apart");
        block.mapped_bytes(buffer_slot.offset, buffer_slot.content_length + 2 * GUARD)
    }

    /// Destroys the buffers and hands the block on.
    pub(crate) fn into_block(mut self) -> Option<MemoryBlock> {
        self.destroy_buffers();
        self.block.take()
    }

    fn destroy_buffers(&mut self) {
        for slot in self.buffer_slots.drain(..) {
            // SAFETY: no submitted work is pending, and the buffer is destroyed once.
            unsafe { self.device.raw.destroy_buffer(slot.buffer, None) };
        }
    }
}

impl Drop for BufferStorage {
    fn drop(&mut self) {
        self.destroy_buffers();
    }
}

fn changed_bytes(guard: &[u8]) -> Vec<usize> {
    if guard == GUARDS {
        return Vec::new();
    }
    let indexed_bytes = guard.iter().enumerate();
    indexed_bytes
        .filter(|(byte_index, byte)| **byte != guard_byte(*byte_index))
        .map(|(byte_index, _)| byte_index)
        .collect()
}

fn guard_changes(guarded_bytes: &[u8], content_length: usize) -> Vec<GuardChange> {
    let changes_before = changed_bytes(&guarded_bytes[..GUARD]);
    let changes_behind = changed_bytes(&guarded_bytes[GUARD + content_length..]);
    let changes_before = changes_before.last().map(|nearest| GuardChange {
        side: Side::Before,
        distance: (GUARD - 1 - nearest) as u64,
        bytes: changes_before.len() as u64,
    });
    let changes_behind = changes_behind.first().map(|nearest| GuardChange {
        side: Side::Behind,
        distance: *nearest as u64,
        bytes: changes_behind.len() as u64,
    });
    changes_before.into_iter().chain(changes_behind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_guard_byte_is_found() {
        let length = 10;
        let mut zone: Vec<u8> = (0..GUARD).map(guard_byte).collect();
        zone.extend([0xCD; 10]);
        zone.extend((0..GUARD).map(guard_byte));
        assert_eq!(guard_changes(&zone, length), []);
        for place in 0..zone.len() {
            zone[place] ^= 1;
            let changes = guard_changes(&zone, length);
            match place {
                inside if (GUARD..GUARD + length).contains(&inside) => assert_eq!(changes, []),
                before if before < GUARD => {
                    let distance = (GUARD - 1 - before) as u64;
                    assert_eq!(changes, [GuardChange { side: Side::Before, distance, bytes: 1 }]);
                }
                behind => {
                    let distance = (behind - GUARD - length) as u64;
                    assert_eq!(changes, [GuardChange { side: Side::Behind, distance, bytes: 1 }]);
                }
            }
            zone[place] ^= 1;
        }
    }
}
