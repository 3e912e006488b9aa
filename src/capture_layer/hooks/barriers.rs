//! Pipeline barriers of both versions of synchronization, recorded in the form of the second.

use super::commands::record_command;
use super::images::{is_known, recorded_range};
use crate::chain::{elements, handle};
use crate::device_table::below;
use ash::vk;
use vkcert_capture::command::{Command, Dependency, DependencyScope, QueueTransfer};
use vkcert_capture::image::ImageScope;

pub(crate) unsafe extern "system" fn pipeline_barrier(
    command_buffer: vk::CommandBuffer,
    source_stages: vk::PipelineStageFlags,
    target_stages: vk::PipelineStageFlags,
    flags: vk::DependencyFlags,
    memory_count: u32,
    memories: *const vk::MemoryBarrier<'_>,
    buffer_count: u32,
    buffers: *const vk::BufferMemoryBarrier<'_>,
    image_count: u32,
    images: *const vk::ImageMemoryBarrier<'_>,
) {
    let below = below!(command_buffer, cmd_barrier);
    record_command(command_buffer, || {
        let stages = (u64::from(source_stages.as_raw()), u64::from(target_stages.as_raw()));
        let memories = unsafe { elements(memories, memory_count) }.iter();
        let buffers = unsafe { elements(buffers, buffer_count) }.iter();
        let images = unsafe { elements(images, image_count) }.iter();
        let mut dependencies: Vec<Dependency> = memories
            .map(|barrier| {
                let access = (barrier.src_access_mask, barrier.dst_access_mask);
                first_version(stages, access, DependencyScope::All)
            })
            .chain(buffers.map(|barrier| {
                let access = (barrier.src_access_mask, barrier.dst_access_mask);
                first_version(
                    stages,
                    access,
                    DependencyScope::Buffer {
                        buffer: handle(barrier.buffer),
                        offset: barrier.offset,
                        size: barrier.size,
                        transfer: queue_transfer(
                            barrier.src_queue_family_index,
                            barrier.dst_queue_family_index,
                        ),
                    },
                )
            }))
            .chain(images.map(|barrier| {
                let access = (barrier.src_access_mask, barrier.dst_access_mask);
                let families = (barrier.src_queue_family_index, barrier.dst_queue_family_index);
                let layouts = [barrier.old_layout, barrier.new_layout];
                let scope =
                    image_scope(barrier.image, &barrier.subresource_range, layouts, families);
                first_version(stages, access, scope)
            }))
            .collect();
        if dependencies.is_empty() {
            let none = (vk::AccessFlags::empty(), vk::AccessFlags::empty());
            dependencies.push(first_version(stages, none, DependencyScope::Execution));
        }
        Command::Barrier(dependencies)
    });
    unsafe {
        below(
            command_buffer,
            source_stages,
            target_stages,
            flags,
            memory_count,
            memories,
            buffer_count,
            buffers,
            image_count,
            images,
        )
    }
}

fn first_version(
    (source_stages, target_stages): (u64, u64),
    (source_access, target_access): (vk::AccessFlags, vk::AccessFlags),
    scope: DependencyScope,
) -> Dependency {
    Dependency {
        source_stages,
        source_access: u64::from(source_access.as_raw()),
        target_stages,
        target_access: u64::from(target_access.as_raw()),
        scope,
    }
}

fn image_scope(
    image: vk::Image,
    range: &vk::ImageSubresourceRange,
    layouts: [vk::ImageLayout; 2],
    (source_family, target_family): (u32, u32),
) -> DependencyScope {
    match is_known(image) {
        false => DependencyScope::Image(handle(image)),
        true => DependencyScope::ImagePart(ImageScope {
            image: handle(image),
            range: recorded_range(range),
            layouts: layouts.map(vk::ImageLayout::as_raw),
            transfer: queue_transfer(source_family, target_family),
        }),
    }
}

fn queue_transfer(source_family: u32, target_family: u32) -> QueueTransfer {
    if source_family == target_family {
        QueueTransfer::None
    } else {
        QueueTransfer::BetweenFamilies
    }
}

pub(crate) unsafe extern "system" fn pipeline_barrier2(
    command_buffer: vk::CommandBuffer,
    dependency: *const vk::DependencyInfo<'_>,
) {
    let below = below!(command_buffer, cmd_barrier2);
    record_command(command_buffer, || Command::Barrier(unsafe { second_version(&*dependency) }));
    unsafe { below(command_buffer, dependency) }
}

unsafe fn second_version(info: &vk::DependencyInfo<'_>) -> Vec<Dependency> {
    let memories = unsafe { elements(info.p_memory_barriers, info.memory_barrier_count) };
    let buffers =
        unsafe { elements(info.p_buffer_memory_barriers, info.buffer_memory_barrier_count) };
    let images = unsafe { elements(info.p_image_memory_barriers, info.image_memory_barrier_count) };
    let of_memory = memories.iter().map(|barrier| Dependency {
        source_stages: barrier.src_stage_mask.as_raw(),
        source_access: barrier.src_access_mask.as_raw(),
        target_stages: barrier.dst_stage_mask.as_raw(),
        target_access: barrier.dst_access_mask.as_raw(),
        scope: DependencyScope::All,
    });
    let of_buffers = buffers.iter().map(|barrier| Dependency {
        source_stages: barrier.src_stage_mask.as_raw(),
        source_access: barrier.src_access_mask.as_raw(),
        target_stages: barrier.dst_stage_mask.as_raw(),
        target_access: barrier.dst_access_mask.as_raw(),
        scope: DependencyScope::Buffer {
            buffer: handle(barrier.buffer),
            offset: barrier.offset,
            size: barrier.size,
            transfer: queue_transfer(
                barrier.src_queue_family_index,
                barrier.dst_queue_family_index,
            ),
        },
    });
    let of_images = images.iter().map(|barrier| Dependency {
        source_stages: barrier.src_stage_mask.as_raw(),
        source_access: barrier.src_access_mask.as_raw(),
        target_stages: barrier.dst_stage_mask.as_raw(),
        target_access: barrier.dst_access_mask.as_raw(),
        scope: image_scope(
            barrier.image,
            &barrier.subresource_range,
            [barrier.old_layout, barrier.new_layout],
            (barrier.src_queue_family_index, barrier.dst_queue_family_index),
        ),
    });
    of_memory.chain(of_buffers).chain(of_images).collect()
}
