//! Command buffers and what is recorded into them.

use super::descriptors::{recorded_write, writes_of_template};
use crate::chain::{bytes, elements, handle};
use crate::device_table::{below, device_of};
use crate::readback;
use crate::recorder::record;
use ash::vk;
use std::ffi::c_void;
use vkcert_capture::command::{Command, CopyRegion};
use vkcert_capture::event::{
    Begin, CommandBuffers, DescriptorWrite, Event, OpenEffect, RecordedCommand,
};
use vkcert_capture::value::{Bytes, Handle};

pub(crate) unsafe extern "system" fn create_command_pool(
    device: vk::Device,
    create: *const vk::CommandPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::CommandPool,
) -> vk::Result {
    let below = below!(device, create_command_pool, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, pool) };
    if result == vk::Result::SUCCESS {
        readback::note_pool(unsafe { *pool }, unsafe { &*create }.flags);
    }
    result
}

pub(crate) unsafe extern "system" fn allocate_command_buffers(
    device: vk::Device,
    allocate: *const vk::CommandBufferAllocateInfo<'_>,
    command_buffers: *mut vk::CommandBuffer,
) -> vk::Result {
    let below = below!(device, allocate_command_buffers, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, allocate, command_buffers) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let allocate = unsafe { &*allocate };
            let made =
                unsafe { elements(command_buffers.cast_const(), allocate.command_buffer_count) };
            Event::CommandBuffers(CommandBuffers {
                pool: handle(allocate.command_pool),
                command_buffers: made.iter().map(|made| handle(*made)).collect(),
            })
        });
        let allocate = unsafe { &*allocate };
        if allocate.level == vk::CommandBufferLevel::SECONDARY {
            let count = allocate.command_buffer_count;
            readback::note_secondary(unsafe { elements(command_buffers.cast_const(), count) });
        }
    }
    result
}

pub(crate) unsafe extern "system" fn free_command_buffers(
    device: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    command_buffers: *const vk::CommandBuffer,
) {
    let below = below!(device, free_command_buffers);
    let gone: Vec<Handle> =
        unsafe { elements(command_buffers, count) }.iter().map(|gone| handle(*gone)).collect();
    unsafe { readback::collect_of(&gone, device) };
    record(|| Event::FreeCommandBuffers(gone.into_iter().filter(|gone| !gone.is_null()).collect()));
    unsafe { below(device, pool, count, command_buffers) }
}

pub(crate) unsafe extern "system" fn reset_command_pool(
    device: vk::Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> vk::Result {
    let below = below!(device, reset_command_pool, vk::Result::ERROR_UNKNOWN);
    unsafe { readback::collect_of_pool(device, pool) };
    record(|| Event::ResetCommandPool(handle(pool)));
    unsafe { below(device, pool, flags) }
}

pub(crate) unsafe extern "system" fn destroy_command_pool(
    device: vk::Device,
    pool: vk::CommandPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let below = below!(device, destroy_command_pool);
    unsafe { readback::collect_of_pool(device, pool) };
    record(|| Event::DestroyCommandPool(handle(pool)));
    unsafe { below(device, pool, allocator) }
}

pub(crate) unsafe extern "system" fn begin_command_buffer(
    command_buffer: vk::CommandBuffer,
    begin: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    let below = below!(command_buffer, begin_command_buffer, vk::Result::ERROR_UNKNOWN);
    unsafe { collect_of(command_buffer) };
    let result = unsafe { below(command_buffer, begin) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let flags = unsafe { begin.as_ref() }.map_or(0, |begin| begin.flags.as_raw());
            Event::Begin(Begin { command_buffer: handle(command_buffer), flags })
        });
    }
    result
}

pub(crate) unsafe extern "system" fn end_command_buffer(
    command_buffer: vk::CommandBuffer,
) -> vk::Result {
    let below = below!(command_buffer, end_command_buffer, vk::Result::ERROR_UNKNOWN);
    record(|| Event::EndRecording(handle(command_buffer)));
    unsafe { below(command_buffer) }
}

pub(crate) unsafe extern "system" fn reset_command_buffer(
    command_buffer: vk::CommandBuffer,
    flags: vk::CommandBufferResetFlags,
) -> vk::Result {
    let below = below!(command_buffer, reset_command_buffer, vk::Result::ERROR_UNKNOWN);
    unsafe { collect_of(command_buffer) };
    record(|| Event::ResetCommandBuffer(handle(command_buffer)));
    unsafe { below(command_buffer, flags) }
}

/// Records what was read in front of the dispatches of a command buffer that goes away or begins anew.
unsafe fn collect_of(command_buffer: vk::CommandBuffer) {
    if let Some(table) = device_of(command_buffer) {
        unsafe { readback::collect_of(&[handle(command_buffer)], table.device) };
    }
}

pub(super) fn record_command(command_buffer: vk::CommandBuffer, command: impl FnOnce() -> Command) {
    record(|| {
        let command_buffer = handle(command_buffer);
        Event::Command(RecordedCommand { command_buffer, command: command() })
    });
}

/// Records a command by its name.
pub(crate) fn record_unmodelled(command_buffer: vk::CommandBuffer, name: &str, effect: OpenEffect) {
    record_command(command_buffer, || Command::Unsupported { name: name.to_owned(), effect });
}

pub(crate) unsafe extern "system" fn bind_pipeline(
    command_buffer: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    let below = below!(command_buffer, cmd_bind_pipeline);
    if bind_point == vk::PipelineBindPoint::COMPUTE {
        record_command(command_buffer, || Command::BindPipeline(handle(pipeline)));
    } else {
        record_other_bind_point(command_buffer, "vkCmdBindPipeline", bind_point);
    }
    unsafe { below(command_buffer, bind_point, pipeline) }
}

fn record_other_bind_point(
    command_buffer: vk::CommandBuffer,
    name: &str,
    bind_point: vk::PipelineBindPoint,
) {
    record_command(command_buffer, || Command::Unsupported {
        name: format!("{name} at the bind point {bind_point:?}"),
        effect: OpenEffect::Nothing,
    });
}

pub(crate) unsafe extern "system" fn bind_sets(
    command_buffer: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    let below = below!(command_buffer, cmd_bind_sets);
    if bind_point == vk::PipelineBindPoint::COMPUTE {
        record_command(command_buffer, || {
            let sets = unsafe { elements(sets, count) };
            Command::BindSets {
                layout: handle(layout),
                first,
                sets: sets.iter().map(|set| handle(*set)).collect(),
                dynamic_offsets: unsafe { elements(offsets, offset_count) }.to_vec(),
            }
        });
    } else {
        record_other_bind_point(command_buffer, "vkCmdBindDescriptorSets", bind_point);
    }
    unsafe { below(command_buffer, bind_point, layout, first, count, sets, offset_count, offsets) }
}

pub(crate) unsafe extern "system" fn push_descriptors(
    command_buffer: vk::CommandBuffer,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    let below = below!(command_buffer, cmd_push_descriptors);
    if bind_point == vk::PipelineBindPoint::COMPUTE {
        record_command(command_buffer, || {
            let writes = unsafe { elements(writes, count) }.iter();
            let writes = writes.map(|write| {
                // The set of a write is ignored here, so it may be anything.
                let recorded = unsafe { recorded_write(write) };
                DescriptorWrite { set: Handle(0), ..recorded }
            });
            Command::PushDescriptors { layout: handle(layout), set, writes: writes.collect() }
        });
    } else {
        record_other_bind_point(command_buffer, "vkCmdPushDescriptorSetKHR", bind_point);
    }
    unsafe { below(command_buffer, bind_point, layout, set, count, writes) }
}

pub(crate) unsafe extern "system" fn push_descriptors_with_template(
    command_buffer: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    let below = below!(command_buffer, cmd_push_descriptors_with_template);
    // A template for another bind point would be recorded as if for compute, where no dispatch
    // could be valid without its own push.
    record_command(command_buffer, || Command::PushDescriptors {
        layout: handle(layout),
        set,
        writes: unsafe { writes_of_template(Handle(0), template, data) },
    });
    unsafe { below(command_buffer, template, layout, set, data) }
}

pub(crate) unsafe extern "system" fn push_constants(
    command_buffer: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    stages: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    values: *const c_void,
) {
    let below = below!(command_buffer, cmd_push_constants);
    record_command(command_buffer, || Command::PushConstants {
        layout: handle(layout),
        stages: stages.as_raw(),
        offset,
        values: Bytes(unsafe { bytes(values, size as usize) }),
    });
    unsafe { below(command_buffer, layout, stages, offset, size, values) }
}

pub(crate) unsafe extern "system" fn dispatch(
    command_buffer: vk::CommandBuffer,
    x: u32,
    y: u32,
    z: u32,
) {
    let below = below!(command_buffer, cmd_dispatch);
    unsafe { readback::before_dispatch(command_buffer, None) };
    record_command(command_buffer, || Command::Dispatch { base: [0; 3], groups: [x, y, z] });
    unsafe { below(command_buffer, x, y, z) }
}

pub(crate) unsafe extern "system" fn dispatch_base(
    command_buffer: vk::CommandBuffer,
    base_x: u32,
    base_y: u32,
    base_z: u32,
    x: u32,
    y: u32,
    z: u32,
) {
    let below = below!(command_buffer, cmd_dispatch_base);
    unsafe { readback::before_dispatch(command_buffer, None) };
    let base = [base_x, base_y, base_z];
    record_command(command_buffer, || Command::Dispatch { base, groups: [x, y, z] });
    unsafe { below(command_buffer, base_x, base_y, base_z, x, y, z) }
}

pub(crate) unsafe extern "system" fn dispatch_indirect(
    command_buffer: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
) {
    let below = below!(command_buffer, cmd_dispatch_indirect);
    unsafe { readback::before_dispatch(command_buffer, Some((buffer, offset))) };
    record_command(command_buffer, || Command::DispatchIndirect { buffer: handle(buffer), offset });
    unsafe { below(command_buffer, buffer, offset) }
}

pub(crate) unsafe extern "system" fn copy_buffer(
    command_buffer: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Buffer,
    count: u32,
    regions: *const vk::BufferCopy,
) {
    let below = below!(command_buffer, cmd_copy_buffer);
    record_command(command_buffer, || {
        let regions = unsafe { elements(regions, count) }.iter().map(|region| CopyRegion {
            from: region.src_offset,
            to: region.dst_offset,
            size: region.size,
        });
        let regions = regions.collect();
        Command::CopyBuffer { from: handle(from), to: handle(to), regions }
    });
    unsafe { below(command_buffer, from, to, count, regions) }
}

pub(crate) unsafe extern "system" fn copy_buffer2(
    command_buffer: vk::CommandBuffer,
    copy: *const vk::CopyBufferInfo2<'_>,
) {
    let below = below!(command_buffer, cmd_copy_buffer2);
    record_command(command_buffer, || {
        let copy = unsafe { &*copy };
        let regions = unsafe { elements(copy.p_regions, copy.region_count) };
        let regions = regions.iter().map(|region| CopyRegion {
            from: region.src_offset,
            to: region.dst_offset,
            size: region.size,
        });
        let regions = regions.collect();
        Command::CopyBuffer { from: handle(copy.src_buffer), to: handle(copy.dst_buffer), regions }
    });
    unsafe { below(command_buffer, copy) }
}

pub(crate) unsafe extern "system" fn fill_buffer(
    command_buffer: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    size: u64,
    word: u32,
) {
    let below = below!(command_buffer, cmd_fill_buffer);
    record_command(command_buffer, || Command::FillBuffer {
        buffer: handle(buffer),
        offset,
        size,
        word,
    });
    unsafe { below(command_buffer, buffer, offset, size, word) }
}

pub(crate) unsafe extern "system" fn update_buffer(
    command_buffer: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    size: u64,
    content: *const c_void,
) {
    let below = below!(command_buffer, cmd_update_buffer);
    record_command(command_buffer, || {
        let count = usize::try_from(size).unwrap_or(0);
        let bytes = Bytes(unsafe { bytes(content, count) });
        Command::UpdateBuffer { buffer: handle(buffer), offset, bytes }
    });
    unsafe { below(command_buffer, buffer, offset, size, content) }
}

pub(crate) unsafe extern "system" fn execute_commands(
    command_buffer: vk::CommandBuffer,
    count: u32,
    command_buffers: *const vk::CommandBuffer,
) {
    let below = below!(command_buffer, cmd_execute);
    record_command(command_buffer, || {
        let executed = unsafe { elements(command_buffers, count) };
        Command::Execute(executed.iter().map(|executed| handle(*executed)).collect())
    });
    unsafe { below(command_buffer, count, command_buffers) }
}
