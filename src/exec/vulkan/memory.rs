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
pub(crate) struct Restored {
    pub from: vk::Buffer,
    pub to: vk::Buffer,
    pub bytes: u64,
}

/// Bytes of a guard zone. No device wants a greater offset alignment than 256 (Vulkan
/// specification, "Required Limits"), so the contents start aligned.
pub(crate) const GUARD: usize = 256;

/// Smallest block that is allocated.
const LEAST_BLOCK: u64 = 1 << 20;

/// The guard byte at a place; it varies so that no constant fill looks like it.
const fn guard_byte(place: usize) -> u8 {
    (place as u8).wrapping_mul(0x6D) ^ 0xA5
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
pub(crate) struct Block {
    memory: vk::DeviceMemory,
    start: *mut u8,
    pub size: u64,
    device: Rc<Device>,
}

impl Block {
    /// A block of at least `least` bytes.
    pub(crate) fn allocate(
        device: &Rc<Device>,
        least: u64,
        placement: Placement,
    ) -> Result<Self, CallFailure> {
        let size = least.max(LEAST_BLOCK).next_power_of_two();
        let memory_type = match placement {
            Placement::ReadBack => device.memory_type,
            Placement::Near => device.near_memory_type,
        };
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(device.addresses());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(memory_type)
            .push_next(&mut flags);
        // SAFETY: the memory type is one of the device's.
        let memory = unsafe { device.raw.allocate_memory(&info, None) }
            .map_err(during("vkAllocateMemory"))?;
        let mut block = Self { memory, start: std::ptr::null_mut(), size, device: device.clone() };
        // SAFETY: the memory is host-visible and not mapped yet; freeing it on drop unmaps it.
        let start = unsafe {
            device.raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
        };
        block.start = start.map_err(during("vkMapMemory"))?.cast();
        Ok(block)
    }

    /// The bytes `offset .. offset + length`. The device must be idle: callers wait for the fence
    /// first.
    fn bytes(&mut self, offset: u64, length: usize) -> &mut [u8] {
        assert!(offset + length as u64 <= self.size, "a buffer lies within its block");
        // SAFETY: the range lies in the mapping (checked above), which lives as long as `self`;
        // `&mut self` makes this the only reference, and no submitted work is pending while the
        // host reads or writes.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(offset as usize), length) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: buffers bound to the block are destroyed before it (see `Storage`), and no work
        // is pending.
        unsafe { self.device.raw.free_memory(self.memory, None) }
    }
}

/// A buffer without memory yet.
struct Slot {
    buffer: vk::Buffer,
    /// In the block.
    offset: u64,
    /// Bytes of contents, without guards.
    length: usize,
}

/// The buffers of one prepared job in one block.
pub(crate) struct Storage {
    slots: Vec<Slot>,
    block: Option<Block>,
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

impl Storage {
    /// Creates buffers of the given content lengths, in `spare` where it is large enough. The block
    /// of a spare lies where it lay.
    pub(crate) fn create(
        device: &Rc<Device>,
        lengths: &[usize],
        placement: Placement,
        spare: Option<Block>,
    ) -> Result<Self, CallFailure> {
        let mut storage =
            Self { slots: Vec::with_capacity(lengths.len()), block: None, device: device.clone() };
        let mut end = 0_u64;
        for length in lengths {
            let size = (length + 2 * GUARD) as u64;
            let info = vk::BufferCreateInfo::default().size(size).usage(device.buffer_usage());
            // SAFETY: the device is open; the buffer is destroyed when `storage` drops.
            let buffer = unsafe { device.raw.create_buffer(&info, None) }
                .map_err(during("vkCreateBuffer"))?;
            storage.slots.push(Slot { buffer, offset: 0, length: *length });
            // SAFETY: the buffer is alive.
            let requirements = unsafe { device.raw.get_buffer_memory_requirements(buffer) };
            let offset = end.next_multiple_of(requirements.alignment.max(1));
            storage.slots.last_mut().expect("just pushed").offset = offset;
            end = offset + requirements.size;
        }
        let block = match spare {
            Some(spare) if spare.size >= end => spare,
            Some(_) | None => Block::allocate(device, end, placement)?,
        };
        for slot in &storage.slots {
            // SAFETY: the buffer has no memory yet, and alignment, size and type are as its
            // requirements say.
            unsafe { device.raw.bind_buffer_memory(slot.buffer, block.memory, slot.offset) }
                .map_err(during("vkBindBufferMemory"))?;
        }
        storage.block = Some(block);
        Ok(storage)
    }

    /// Bytes of contents of each buffer.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.slots.iter().map(|slot| slot.length).collect()
    }

    pub(crate) fn has_lengths(&self, lengths: &[usize]) -> bool {
        self.slots.iter().map(|slot| slot.length).eq(lengths.iter().copied())
    }

    /// Bytes of the block that the buffers lie in.
    pub(crate) fn bytes(&self) -> u64 {
        self.block.as_ref().map_or(0, |block| block.size)
    }

    /// What makes the buffers of `self` those of `original`, guards included. Both were created
    /// with the same lengths.
    pub(crate) fn restored_from(&self, original: &Storage) -> Vec<Restored> {
        let pairs = self.slots.iter().zip(&original.slots);
        let restored = |(to, from): (&Slot, &Slot)| {
            let bytes = (to.length.min(from.length) + 2 * GUARD) as u64;
            Restored { from: from.buffer, to: to.buffer, bytes }
        };
        pairs.map(restored).collect()
    }

    pub(crate) fn buffer(&self, index: usize) -> vk::Buffer {
        self.slots[index].buffer
    }

    /// Writes contents and guards anew.
    pub(crate) fn fill(&mut self, index: usize, contents: &[u8]) {
        self.guarded(index).copy_from_slice(contents);
    }

    /// Writes zero and guards anew.
    pub(crate) fn clear(&mut self, index: usize) {
        self.guarded(index).fill(0);
    }

    /// The contents of a buffer whose guards have just been written.
    fn guarded(&mut self, index: usize) -> &mut [u8] {
        let length = self.slots[index].length;
        let (before, rest) = self.zone(index).split_at_mut(GUARD);
        let (inside, behind) = rest.split_at_mut(length);
        before.copy_from_slice(&GUARDS);
        behind.copy_from_slice(&GUARDS);
        inside
    }

    pub(crate) fn contents(&mut self, index: usize) -> &mut [u8] {
        let length = self.slots[index].length;
        &mut self.zone(index)[GUARD..GUARD + length]
    }

    /// Guards of a buffer that are not as they were written.
    pub(crate) fn guard_changes(&mut self, index: usize) -> Vec<GuardChange> {
        let length = self.slots[index].length;
        guard_changes(self.zone(index), length)
    }

    /// Changes a guard byte, so that a test can show that the change is found.
    pub(crate) fn disturb_guard(&mut self, index: usize) {
        let length = self.slots[index].length;
        self.zone(index)[GUARD + length + 4] ^= 0xFF;
    }

    /// Contents with both guards.
    fn zone(&mut self, index: usize) -> &mut [u8] {
        let slot = &self.slots[index];
        let block = self.block.as_mut().expect("storage has a block until it is taken apart");
        block.bytes(slot.offset, slot.length + 2 * GUARD)
    }

    /// Destroys the buffers and hands the block on.
    pub(crate) fn into_block(mut self) -> Option<Block> {
        self.destroy_buffers();
        self.block.take()
    }

    fn destroy_buffers(&mut self) {
        for slot in self.slots.drain(..) {
            // SAFETY: no submitted work is pending, and the buffer is destroyed once.
            unsafe { self.device.raw.destroy_buffer(slot.buffer, None) };
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.destroy_buffers();
    }
}

fn guard_changes(zone: &[u8], length: usize) -> Vec<GuardChange> {
    let changed = |guard: &[u8]| -> Vec<usize> {
        if guard == GUARDS {
            return Vec::new();
        }
        let places = guard.iter().enumerate();
        places
            .filter(|(place, byte)| **byte != guard_byte(*place))
            .map(|(place, _)| place)
            .collect()
    };
    let before = changed(&zone[..GUARD]);
    let behind = changed(&zone[GUARD + length..]);
    let before = before.last().map(|nearest| GuardChange {
        side: Side::Before,
        distance: (GUARD - 1 - nearest) as u64,
        bytes: before.len() as u64,
    });
    let behind = behind.first().map(|nearest| GuardChange {
        side: Side::Behind,
        distance: *nearest as u64,
        bytes: behind.len() as u64,
    });
    before.into_iter().chain(behind).collect()
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
