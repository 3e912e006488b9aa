//! Memory, buffers, and what the host has in mapped memory.
//!
//! Knows: which memory is mapped where, to record its contents where that is asked for.
//! Does not cover: single reads and writes of the host, which are no calls.

use super::record_destroyed;
use crate::chain::{elements, handle, unread_structures};
use crate::device_table::below;
use crate::readback::{self, ReadableCreation};
use crate::recorder::{record, record_all};
use ash::vk;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};
use vkcert_capture::event::{
    Binding, Buffer, BufferView, Contents, ContentsMode, Event, Memory, MemoryRange, ObjectKind,
};
use vkcert_capture::value::{Bytes, Handle};

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

/// Bytes that are compared and recorded as one.
const CHUNK_BYTES: usize = 1 << 12;

/// Bytes of one event of contents at most.
const MOST_CONTENT_BYTES: usize = 1 << 20;

/// Memory that is mapped.
struct Mapped {
    address: usize,
    offset: u64,
    size: usize,
    /// What was recorded last, from the first byte that is mapped; shorter where nothing was.
    recorded: Vec<u8>,
}

struct HostMemory {
    sizes: BTreeMap<Handle, u64>,
    mapped: BTreeMap<Handle, Mapped>,
}

static HOST_MEMORY: Mutex<HostMemory> =
    Mutex::new(HostMemory { sizes: BTreeMap::new(), mapped: BTreeMap::new() });

fn host_memory() -> MutexGuard<'static, HostMemory> {
    HOST_MEMORY.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Forgets what is mapped: in a process that was forked it need not be there.
pub(crate) fn forget_mapped() {
    if let Ok(mut host) = HOST_MEMORY.try_lock() {
        host.mapped.clear();
    }
}

/// What changed in mapped memory since it was recorded; of one memory, or of all.
pub(crate) fn changed_contents(mode: ContentsMode, only: Option<Handle>) -> Vec<Event> {
    match mode {
        ContentsMode::Omitted => Vec::new(),
        ContentsMode::Recorded => {
            let mut host = host_memory();
            let chosen = host.mapped.iter_mut();
            let chosen = chosen.filter(|(memory, _)| only.is_none_or(|only| only == **memory));
            chosen.flat_map(|(memory, mapped)| mapped.changed(*memory)).collect()
        }
    }
}

impl Mapped {
    fn changed(&mut self, memory: Handle) -> Vec<Event> {
        // Safety: the program has not unmapped it, or this would not be kept.
        let now = unsafe { std::slice::from_raw_parts(self.address as *const u8, self.size) };
        let mut events: Vec<Event> = Vec::new();
        for (index, chunk) in now.chunks(CHUNK_BYTES).enumerate() {
            let start = index * CHUNK_BYTES;
            if self.recorded.get(start..start + chunk.len()) == Some(chunk) {
                continue;
            }
            let offset = self.offset + start as u64;
            match events.last_mut() {
                Some(Event::Contents(last))
                    if last.offset + last.bytes.0.len() as u64 == offset
                        && last.bytes.0.len() + chunk.len() <= MOST_CONTENT_BYTES =>
                {
                    last.bytes.0.extend_from_slice(chunk);
                }
                _ => {
                    let bytes = Bytes(chunk.to_vec());
                    events.push(Event::Contents(Contents { memory, offset, bytes }));
                }
            }
            self.recorded.truncate(self.recorded.len().max(start));
            if self.recorded.len() == start {
                self.recorded.extend_from_slice(chunk);
            } else {
                self.recorded[start..start + chunk.len()].copy_from_slice(chunk);
            }
        }
        events
    }
}

pub(crate) unsafe extern "system" fn allocate_memory(
    device: vk::Device,
    allocate: *const vk::MemoryAllocateInfo<'_>,
    allocator: Allocator<'_>,
    memory: *mut vk::DeviceMemory,
) -> vk::Result {
    let below = below!(device, allocate_memory, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, allocate, allocator, memory) };
    if result == vk::Result::SUCCESS {
        let allocate = unsafe { &*allocate };
        let made = handle(unsafe { *memory });
        host_memory().sizes.insert(made, allocate.allocation_size);
        record_all(|_| {
            let call = "vkAllocateMemory";
            let mut events =
                unsafe { unread_structures(allocate.p_next, call, ALLOCATION_STRUCTURES) };
            events.push(Event::Memory(Memory {
                device: handle(device),
                memory: made,
                size: allocate.allocation_size,
                memory_type: allocate.memory_type_index,
            }));
            events
        });
    }
    result
}

/// Structures that leave memory to the program alone. Others share it with somebody.
const ALLOCATION_STRUCTURES: &[vk::StructureType] = &[
    vk::StructureType::MEMORY_DEDICATED_ALLOCATE_INFO,
    vk::StructureType::MEMORY_ALLOCATE_FLAGS_INFO,
    vk::StructureType::MEMORY_PRIORITY_ALLOCATE_INFO_EXT,
    vk::StructureType::MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO,
];

pub(crate) unsafe extern "system" fn free_memory(
    device: vk::Device,
    memory: vk::DeviceMemory,
    allocator: Allocator<'_>,
) {
    let below = below!(device, free_memory);
    let gone = handle(memory);
    let mut host = host_memory();
    host.sizes.remove(&gone);
    host.mapped.remove(&gone);
    drop(host);
    record_destroyed(ObjectKind::Memory, memory);
    unsafe { below(device, memory, allocator) }
}

pub(crate) unsafe extern "system" fn map_memory(
    device: vk::Device,
    memory: vk::DeviceMemory,
    offset: u64,
    size: u64,
    flags: vk::MemoryMapFlags,
    address: *mut *mut c_void,
) -> vk::Result {
    let below = below!(device, map_memory, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, memory, offset, size, flags, address) };
    if result == vk::Result::SUCCESS {
        unsafe { note_mapped(memory, offset, size, address) };
    }
    result
}

pub(crate) unsafe extern "system" fn map_memory2(
    device: vk::Device,
    map: *const vk::MemoryMapInfoKHR<'_>,
    address: *mut *mut c_void,
) -> vk::Result {
    let below = below!(device, map_memory2, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, map, address) };
    if result == vk::Result::SUCCESS {
        let map = unsafe { &*map };
        unsafe { note_mapped(map.memory, map.offset, map.size, address) };
    }
    result
}

unsafe fn note_mapped(
    memory: vk::DeviceMemory,
    offset: u64,
    size: u64,
    address: *const *mut c_void,
) {
    let memory = handle(memory);
    let address = unsafe { address.as_ref() }.map_or(0, |address| *address as usize);
    let mut host = host_memory();
    let whole = host.sizes.get(&memory).copied().unwrap_or(0).saturating_sub(offset);
    let bytes = if size == vk::WHOLE_SIZE { whole } else { size };
    if address != 0 {
        let size = usize::try_from(bytes).unwrap_or(0);
        host.mapped.insert(memory, Mapped { address, offset, size, recorded: Vec::new() });
    }
    drop(host);
    record(|| Event::Map(MemoryRange { memory, offset, size }));
}

pub(crate) unsafe extern "system" fn unmap_memory(device: vk::Device, memory: vk::DeviceMemory) {
    let below = below!(device, unmap_memory);
    note_unmapped(memory);
    unsafe { below(device, memory) }
}

pub(crate) unsafe extern "system" fn unmap_memory2(
    device: vk::Device,
    unmap: *const vk::MemoryUnmapInfoKHR<'_>,
) -> vk::Result {
    let below = below!(device, unmap_memory2, vk::Result::ERROR_UNKNOWN);
    if let Some(unmap) = unsafe { unmap.as_ref() } {
        note_unmapped(unmap.memory);
    }
    unsafe { below(device, unmap) }
}

fn note_unmapped(memory: vk::DeviceMemory) {
    let memory = handle(memory);
    record_all(|mode| {
        let mut events = changed_contents(mode, Some(memory));
        events.push(Event::Unmap(memory));
        events
    });
    host_memory().mapped.remove(&memory);
}

pub(crate) unsafe extern "system" fn flush_ranges(
    device: vk::Device,
    count: u32,
    ranges: *const vk::MappedMemoryRange<'_>,
) -> vk::Result {
    let below = below!(device, flush_ranges, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, count, ranges) };
    if result == vk::Result::SUCCESS {
        record(|| Event::Flush(unsafe { recorded_ranges(ranges, count) }));
    }
    result
}

pub(crate) unsafe extern "system" fn invalidate_ranges(
    device: vk::Device,
    count: u32,
    ranges: *const vk::MappedMemoryRange<'_>,
) -> vk::Result {
    let below = below!(device, invalidate_ranges, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, count, ranges) };
    if result == vk::Result::SUCCESS {
        record(|| Event::Invalidate(unsafe { recorded_ranges(ranges, count) }));
    }
    result
}

unsafe fn recorded_ranges(
    ranges: *const vk::MappedMemoryRange<'_>,
    count: u32,
) -> Vec<MemoryRange> {
    let ranges = unsafe { elements(ranges, count) };
    let recorded = |range: &vk::MappedMemoryRange<'_>| MemoryRange {
        memory: handle(range.memory),
        offset: range.offset,
        size: range.size,
    };
    ranges.iter().map(recorded).collect()
}

pub(crate) unsafe extern "system" fn create_buffer(
    device: vk::Device,
    create: *const vk::BufferCreateInfo<'_>,
    allocator: Allocator<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    let below = below!(device, create_buffer, vk::Result::ERROR_UNKNOWN);
    let readable = unsafe { create.as_ref() }.map(readback::readable_buffer);
    let readable = readable.unwrap_or(ReadableCreation::AsAsked);
    let (result, unread) =
        readable.make(create, |create| unsafe { below(device, create, allocator, buffer) });
    if result == vk::Result::SUCCESS {
        record_all(|_| {
            let create = unsafe { &*create };
            let read = [
                vk::StructureType::BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO,
                vk::StructureType::EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
            ];
            let mut events = unsafe { unread_structures(create.p_next, "vkCreateBuffer", &read) };
            let made = handle(unsafe { *buffer });
            let (size, usage) = (create.size, create.usage.as_raw());
            events.push(Event::Buffer(Buffer { buffer: made, size, usage }));
            events
        });
        if let Some(reason) = unread {
            readback::note_unread(handle(unsafe { *buffer }), reason);
        }
    }
    result
}

/// What a buffer needs that is not made yet: of one that is made so that it can be read.
pub(crate) unsafe extern "system" fn device_buffer_needs(
    device: vk::Device,
    asked: *const vk::DeviceBufferMemoryRequirements<'_>,
    needs: *mut vk::MemoryRequirements2<'_>,
) {
    let below = below!(device, device_buffer_needs);
    let create = unsafe { asked.as_ref().and_then(|asked| asked.p_create_info.as_ref()) };
    match create.map(readback::readable_buffer) {
        Some(ReadableCreation::With(readable)) => {
            let asked = vk::DeviceBufferMemoryRequirements {
                p_create_info: &readable,
                ..unsafe { *asked }
            };
            unsafe { below(device, &asked, needs) }
        }
        Some(ReadableCreation::AsAsked | ReadableCreation::Unread(_)) | None => unsafe {
            below(device, asked, needs)
        },
    }
}

pub(crate) unsafe extern "system" fn destroy_buffer(
    device: vk::Device,
    buffer: vk::Buffer,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_buffer);
    record_destroyed(ObjectKind::Buffer, buffer);
    unsafe { below(device, buffer, allocator) }
}

pub(crate) unsafe extern "system" fn bind_buffer(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: u64,
) -> vk::Result {
    let below = below!(device, bind_buffer, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, buffer, memory, offset) };
    if result == vk::Result::SUCCESS {
        let (resource, memory) = (handle(buffer), handle(memory));
        record(|| Event::BindBuffer(Binding { resource, memory, offset }));
    }
    result
}

pub(crate) unsafe extern "system" fn bind_buffer2(
    device: vk::Device,
    count: u32,
    binds: *const vk::BindBufferMemoryInfo<'_>,
) -> vk::Result {
    let below = below!(device, bind_buffer2, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, count, binds) };
    if result == vk::Result::SUCCESS {
        record_all(|_| {
            let binds = unsafe { elements(binds, count) };
            let event = |bind: &vk::BindBufferMemoryInfo<'_>| {
                let (resource, memory) = (handle(bind.buffer), handle(bind.memory));
                Event::BindBuffer(Binding { resource, memory, offset: bind.memory_offset })
            };
            binds.iter().map(event).collect()
        });
    }
    result
}

pub(crate) unsafe extern "system" fn buffer_address(
    device: vk::Device,
    asked: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    let below = below!(device, buffer_address, 0);
    if let Some(asked) = unsafe { asked.as_ref() } {
        record(|| Event::BufferAddress(handle(asked.buffer)));
    }
    unsafe { below(device, asked) }
}

pub(crate) unsafe extern "system" fn create_buffer_view(
    device: vk::Device,
    create: *const vk::BufferViewCreateInfo<'_>,
    allocator: Allocator<'_>,
    view: *mut vk::BufferView,
) -> vk::Result {
    let below = below!(device, create_buffer_view, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, view) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let create = unsafe { &*create };
            Event::BufferView(BufferView {
                view: handle(unsafe { *view }),
                buffer: handle(create.buffer),
                offset: create.offset,
                range: create.range,
            })
        });
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_buffer_view(
    device: vk::Device,
    view: vk::BufferView,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_buffer_view);
    record_destroyed(ObjectKind::BufferView, view);
    unsafe { below(device, view, allocator) }
}
