//! Memory of the layer's own that the device copies contents into.
//!
//! Promises: it is mapped and coherent as long as it is there; what a command buffer of the program
//! needs no more is used again for the next one. More than [`MOST_DEVICE_BYTES`] is not taken.

use crate::device_table::{DeviceFunctions, DeviceTable};
use ash::vk;

/// Bytes that are read in front of the dispatches of one command buffer at most.
pub(super) const MOST_PLAN_BYTES: u64 = 64 << 20;

/// Bytes of all staging buffers of a device at most.
const MOST_DEVICE_BYTES: u64 = 512 << 20;

/// Bytes of a staging buffer at least, and how many there are of a device at most: devices limit
/// allocations (maxMemoryAllocationCount).
const LEAST_BUFFER_BYTES: u64 = 256 << 10;
const MOST_BUFFERS: usize = 512;

/// Alignment of what is copied: a multiple of the bytes of every texel.
const ALIGNMENT: u64 = 16;

/// A buffer that the device writes and the layer reads.
pub(super) struct StagingBuffer {
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    address: usize,
    size: u64,
    used: u64,
}

/// Staging buffers of a device.
#[derive(Default)]
pub(super) struct OwnMemory {
    free: Vec<StagingBuffer>,
    /// What the device may still write: never used again.
    given_up: Vec<StagingBuffer>,
    bytes: u64,
    buffers: usize,
}

impl StagingBuffer {
    /// Bytes that the device has written.
    ///
    /// # Safety
    /// The device writes them no more, and they are in range.
    pub(super) unsafe fn bytes(&self, offset: u64, size: u64) -> &[u8] {
        unsafe {
            std::slice::from_raw_parts(
                (self.address as *const u8).add(offset as usize),
                size as usize,
            )
        }
    }

    fn take(&mut self, size: u64) -> Option<u64> {
        let offset = self.used.next_multiple_of(ALIGNMENT);
        let end = offset.checked_add(size).filter(|end| *end <= self.size)?;
        self.used = end;
        Some(offset)
    }

    unsafe fn destroy(&self, table: &DeviceTable) {
        let functions = &table.functions;
        let (Some(destroy), Some(free)) = (functions.destroy_buffer, functions.free_memory) else {
            return;
        };
        unsafe { destroy(table.device, self.buffer, std::ptr::null()) };
        unsafe { free(table.device, self.memory, std::ptr::null()) };
    }
}

impl OwnMemory {
    /// Room for so many bytes behind what is used of staging buffers: the number of a buffer and the
    /// place in it. In words why there is none.
    ///
    /// # Safety
    /// `memory_types` are the property flags of the device's memory types.
    pub(super) unsafe fn room(
        &mut self,
        table: &DeviceTable,
        memory_types: &[u32],
        staging: &mut Vec<StagingBuffer>,
        size: u64,
    ) -> Result<(usize, u64), String> {
        if let Some(last) = staging.last_mut()
            && let Some(offset) = last.take(size)
        {
            return Ok((staging.len() - 1, offset));
        }
        let own = self.free.iter().position(|free| free.size >= size);
        let mut buffer = match own {
            Some(index) => self.free.swap_remove(index),
            None => {
                let twice = staging.last().map_or(0, |last| last.size.saturating_mul(2));
                let wanted = size.max(twice.min(MOST_PLAN_BYTES)).max(LEAST_BUFFER_BYTES);
                unsafe { self.made(table, memory_types, wanted) }?
            }
        };
        let offset = buffer.take(size).unwrap_or(0);
        staging.push(buffer);
        Ok((staging.len() - 1, offset))
    }

    unsafe fn made(
        &mut self,
        table: &DeviceTable,
        memory_types: &[u32],
        size: u64,
    ) -> Result<StagingBuffer, String> {
        if self.buffers >= MOST_BUFFERS || self.bytes + size > MOST_DEVICE_BYTES {
            return Err("the memory that the layer takes for readings is used up".to_owned());
        }
        let made = unsafe { staging_buffer(table, memory_types, size) };
        let made = made.ok_or("the device gives the layer no memory for readings")?;
        self.buffers += 1;
        self.bytes += size;
        Ok(made)
    }

    /// Takes back what a command buffer needs no more.
    pub(super) fn take_back(&mut self, staging: Vec<StagingBuffer>) {
        self.free.extend(staging.into_iter().map(|buffer| StagingBuffer { used: 0, ..buffer }));
    }

    /// Leaves alone what the device may still write.
    pub(super) fn give_up(&mut self, staging: Vec<StagingBuffer>) {
        self.given_up.extend(staging);
    }

    /// Destroys all that command buffers do not have.
    ///
    /// # Safety
    /// The device uses it no more.
    pub(super) unsafe fn destroy(&mut self, table: &DeviceTable) {
        for buffer in self.free.drain(..).chain(self.given_up.drain(..)) {
            unsafe { buffer.destroy(table) };
        }
    }
}

/// A new staging buffer; none where the device has no room for it.
unsafe fn staging_buffer(
    table: &DeviceTable,
    memory_types: &[u32],
    size: u64,
) -> Option<StagingBuffer> {
    let (device, functions) = (table.device, &table.functions);
    let (destroy, none) = (functions.destroy_buffer?, std::ptr::null());
    let create =
        vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
    let mut buffer = vk::Buffer::null();
    if unsafe { functions.create_buffer?(device, &create, none, &mut buffer) }
        != vk::Result::SUCCESS
    {
        return None;
    }
    match unsafe { mapped_memory(table, memory_types, buffer) } {
        Some((memory, address)) => Some(StagingBuffer { buffer, memory, address, size, used: 0 }),
        None => {
            unsafe { destroy(device, buffer, none) };
            None
        }
    }
}

/// Mapped memory that a buffer is bound to.
unsafe fn mapped_memory(
    table: &DeviceTable,
    memory_types: &[u32],
    buffer: vk::Buffer,
) -> Option<(vk::DeviceMemory, usize)> {
    let (device, functions, none) = (table.device, &table.functions, std::ptr::null());
    let needs = unsafe { buffer_needs(table, buffer) }?;
    let allocate = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(suitable_type(memory_types, needs.memory_type_bits)?);
    let mut memory = vk::DeviceMemory::null();
    let made = unsafe { functions.allocate_memory?(device, &allocate, none, &mut memory) };
    if made != vk::Result::SUCCESS {
        return None;
    }
    let address = unsafe { bound_and_mapped(functions, device, buffer, memory) };
    if address.is_none()
        && let Some(free) = functions.free_memory
    {
        unsafe { free(device, memory, none) };
    }
    address.map(|address| (memory, address))
}

unsafe fn bound_and_mapped(
    functions: &DeviceFunctions,
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
) -> Option<usize> {
    let bound = unsafe { functions.bind_buffer?(device, buffer, memory, 0) };
    let mut address = std::ptr::null_mut();
    let no_flags = vk::MemoryMapFlags::empty();
    let is_mapped = bound == vk::Result::SUCCESS
        && unsafe {
            functions.map_memory?(device, memory, 0, vk::WHOLE_SIZE, no_flags, &mut address)
        } == vk::Result::SUCCESS;
    (is_mapped && !address.is_null()).then_some(address as usize)
}

unsafe fn buffer_needs(table: &DeviceTable, buffer: vk::Buffer) -> Option<vk::MemoryRequirements> {
    let name = c"vkGetBufferMemoryRequirements";
    let ask = unsafe { (table.get_device_function)(table.device, name.as_ptr()) }?;
    // Safety: the function goes by the name of this type.
    let ask: vk::PFN_vkGetBufferMemoryRequirements = unsafe { std::mem::transmute(ask) };
    let mut needs = vk::MemoryRequirements::default();
    unsafe { ask(table.device, buffer, &mut needs) };
    Some(needs)
}

/// A memory type that the host sees without flushes, one that it reads fast before others.
fn suitable_type(memory_types: &[u32], allowed: u32) -> Option<u32> {
    let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let cached = coherent | vk::MemoryPropertyFlags::HOST_CACHED;
    [cached, coherent].into_iter().find_map(|wanted| {
        let suits = |(index, flags): (u32, &u32)| {
            let has_flags = vk::MemoryPropertyFlags::from_raw(*flags).contains(wanted);
            (has_flags && allowed >> index & 1 == 1).then_some(index)
        };
        (0..32).zip(memory_types).find_map(suits)
    })
}
