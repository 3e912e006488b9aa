//! The copies in front of a dispatch, in the command buffer of the program.
//!
//! Promises: what stands before them is complete and visible to them, and what stands behind them
//! finds all as it was: images are in the layouts that they were in, and nothing of the program's is
//! written. Copies disturb nothing that is bound.
//! Does not cover: programs whose own barriers are missing, which these copies order, too.

use super::bound_places::{BoundRange, BoundTexels, GENERAL};
use crate::device_table::DeviceTable;
use ash::vk;
use ash::vk::Handle as _;

/// A copy and where it goes.
pub(super) struct DeviceCopy {
    pub(super) source: CopySource,
    pub(super) target: vk::Buffer,
    pub(super) offset: u64,
}

/// What is copied.
pub(super) enum CopySource {
    Range(BoundRange),
    /// All layers of a level.
    Level(BoundTexels, u32),
}

const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;
const TRANSFER: vk::PipelineStageFlags = vk::PipelineStageFlags::TRANSFER;

/// Records copies; nothing where the device does not have the functions.
///
/// # Safety
/// The command buffer is recorded, outside of a render pass, and the sources are valid in it.
pub(super) unsafe fn record_copies(
    table: &DeviceTable,
    command_buffer: vk::CommandBuffer,
    copies: &[DeviceCopy],
) -> Option<()> {
    let functions = &table.functions;
    let (copy_buffer, copy_image) =
        (functions.cmd_copy_buffer?, functions.cmd_copy_image_to_buffer?);
    let barrier = functions.cmd_barrier?;
    let before = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
    unsafe { memory_barrier(barrier, command_buffer, (ALL, TRANSFER), &before) };
    for copy in copies {
        match &copy.source {
            CopySource::Range(range) => {
                let region = vk::BufferCopy::default()
                    .src_offset(range.offset)
                    .dst_offset(copy.offset)
                    .size(range.size);
                let source = vk::Buffer::from_raw(range.buffer.0);
                unsafe { copy_buffer(command_buffer, source, copy.target, 1, &region) };
            }
            CopySource::Level(texels, level) => {
                let target = (copy.target, copy.offset);
                let functions = (barrier, copy_image);
                unsafe { record_level(functions, command_buffer, (texels, *level), target) };
            }
        }
    }
    let host = vk::AccessFlags::HOST_READ;
    let behind = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE | host);
    let stages = (TRANSFER, ALL | vk::PipelineStageFlags::HOST);
    unsafe { memory_barrier(barrier, command_buffer, stages, &behind) };
    Some(())
}

/// Copies a level, brought to another layout and back where it cannot be copied in its own.
unsafe fn record_level(
    (barrier, copy): (vk::PFN_vkCmdPipelineBarrier, vk::PFN_vkCmdCopyImageToBuffer),
    command_buffer: vk::CommandBuffer,
    (texels, level): (&BoundTexels, u32),
    (target, offset): (vk::Buffer, u64),
) {
    let region = region_of(texels, level, offset);
    let image = vk::Image::from_raw(texels.image.0);
    let own = vk::ImageLayout::from_raw(texels.layout);
    if texels.layout == GENERAL {
        unsafe { copy(command_buffer, image, own, target, 1, &region) };
        return;
    }
    let read = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    let access = (vk::AccessFlags::MEMORY_WRITE, vk::AccessFlags::TRANSFER_READ);
    let to_read = change(texels, level, (own, read), access);
    let any = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let back = change(texels, level, (read, own), (vk::AccessFlags::empty(), any));
    unsafe { image_barrier(barrier, command_buffer, (ALL, TRANSFER), &to_read) };
    unsafe { copy(command_buffer, image, read, target, 1, &region) };
    unsafe { image_barrier(barrier, command_buffer, (TRANSFER, ALL), &back) };
}

fn region_of(texels: &BoundTexels, level: u32, offset: u64) -> vk::BufferImageCopy {
    let [width, height, depth] = texels.level_extent(level);
    vk::BufferImageCopy::default()
        .buffer_offset(offset)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: level,
            base_array_layer: texels.layers.start,
            layer_count: texels.layers.end - texels.layers.start,
        })
        .image_extent(vk::Extent3D { width, height, depth })
}

/// A level that is brought from one layout to another.
fn change<'a>(
    texels: &BoundTexels,
    level: u32,
    (old, new): (vk::ImageLayout, vk::ImageLayout),
    (source, target): (vk::AccessFlags, vk::AccessFlags),
) -> vk::ImageMemoryBarrier<'a> {
    vk::ImageMemoryBarrier::default()
        .src_access_mask(source)
        .dst_access_mask(target)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(vk::Image::from_raw(texels.image.0))
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: level,
            level_count: 1,
            base_array_layer: texels.layers.start,
            layer_count: texels.layers.end - texels.layers.start,
        })
}

unsafe fn memory_barrier(
    barrier: vk::PFN_vkCmdPipelineBarrier,
    command_buffer: vk::CommandBuffer,
    (source, target): (vk::PipelineStageFlags, vk::PipelineStageFlags),
    memory: &vk::MemoryBarrier<'_>,
) {
    let (flags, none, no_images) =
        (vk::DependencyFlags::empty(), std::ptr::null(), std::ptr::null());
    unsafe { barrier(command_buffer, source, target, flags, 1, memory, 0, none, 0, no_images) };
}

unsafe fn image_barrier(
    barrier: vk::PFN_vkCmdPipelineBarrier,
    command_buffer: vk::CommandBuffer,
    (source, target): (vk::PipelineStageFlags, vk::PipelineStageFlags),
    image: &vk::ImageMemoryBarrier<'_>,
) {
    let (flags, none, no_buffers) =
        (vk::DependencyFlags::empty(), std::ptr::null(), std::ptr::null());
    unsafe { barrier(command_buffer, source, target, flags, 0, none, 0, no_buffers, 1, image) };
}
