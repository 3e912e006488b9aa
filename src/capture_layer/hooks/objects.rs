//! Devices, queues, shader modules and pipelines.

use super::{record_destroyed, record_unsupported};
use crate::chain::{bytes, elements, handle, text, unread_structures};
use crate::device_table::{below, device_of};
use crate::readback;
use crate::recorder::{flush, record, record_all};
use ash::vk;
use vkcert_capture::event::{
    ComputePipeline, Event, ObjectKind, OpenEffect, PipelineLayout, PushRange, Queue, ShaderModule,
    SpecializationValue, Unsupported,
};
use vkcert_capture::value::Bytes;

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

pub(crate) unsafe extern "system" fn destroy_device(device: vk::Device, allocator: Allocator<'_>) {
    if device == vk::Device::null() {
        return;
    }
    let Some(table) = device_of(device) else { return };
    unsafe { readback::destroy_own(table) };
    record_destroyed(ObjectKind::Device, device);
    flush();
    table.forget();
    if let Some(below) = table.functions.destroy_device {
        unsafe { below(device, allocator) }
    }
}

pub(crate) unsafe extern "system" fn get_device_queue(
    device: vk::Device,
    family: u32,
    index: u32,
    queue: *mut vk::Queue,
) {
    let below = below!(device, get_device_queue);
    unsafe { below(device, family, index, queue) };
    unsafe { record_queue(device, family, index, queue) };
}

pub(crate) unsafe extern "system" fn get_device_queue2(
    device: vk::Device,
    asked: *const vk::DeviceQueueInfo2<'_>,
    queue: *mut vk::Queue,
) {
    let below = below!(device, get_device_queue2);
    unsafe { below(device, asked, queue) };
    if let Some(asked) = unsafe { asked.as_ref() } {
        unsafe { record_queue(device, asked.queue_family_index, asked.queue_index, queue) };
    }
}

unsafe fn record_queue(device: vk::Device, family: u32, index: u32, queue: *const vk::Queue) {
    let Some(queue) = (unsafe { queue.as_ref() }).filter(|queue| **queue != vk::Queue::null())
    else {
        return;
    };
    let (device, queue) = (handle(device), handle(*queue));
    record(|| Event::Queue(Queue { device, queue, family, index }));
}

pub(crate) unsafe extern "system" fn create_shader_module(
    device: vk::Device,
    create: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: Allocator<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    let below = below!(device, create_shader_module, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, module) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let create = unsafe { &*create };
            let code = Bytes(unsafe { bytes(create.p_code.cast(), create.code_size) });
            Event::ShaderModule(ShaderModule { module: handle(unsafe { *module }), code })
        });
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_shader_module(
    device: vk::Device,
    module: vk::ShaderModule,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_shader_module);
    record_destroyed(ObjectKind::ShaderModule, module);
    unsafe { below(device, module, allocator) }
}

pub(crate) unsafe extern "system" fn create_pipeline_layout(
    device: vk::Device,
    create: *const vk::PipelineLayoutCreateInfo<'_>,
    allocator: Allocator<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    let below = below!(device, create_pipeline_layout, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, layout) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let create = unsafe { &*create };
            let sets = unsafe { elements(create.p_set_layouts, create.set_layout_count) };
            let ranges = unsafe {
                elements(create.p_push_constant_ranges, create.push_constant_range_count)
            };
            Event::PipelineLayout(PipelineLayout {
                layout: handle(unsafe { *layout }),
                sets: sets.iter().map(|set| handle(*set)).collect(),
                push_constants: ranges.iter().map(recorded_range).collect(),
            })
        });
    }
    result
}

fn recorded_range(range: &vk::PushConstantRange) -> PushRange {
    PushRange { stages: range.stage_flags.as_raw(), offset: range.offset, size: range.size }
}

pub(crate) unsafe extern "system" fn destroy_pipeline_layout(
    device: vk::Device,
    layout: vk::PipelineLayout,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_pipeline_layout);
    record_destroyed(ObjectKind::PipelineLayout, layout);
    unsafe { below(device, layout, allocator) }
}

pub(crate) unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    creates: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let below = below!(device, create_compute_pipelines, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, cache, count, creates, allocator, pipelines) };
    record_all(|_| {
        let creates = unsafe { elements(creates, count) };
        let made = unsafe { elements(pipelines.cast_const(), count) };
        // Where one pipeline fails, the others may still be made.
        let pairs = creates.iter().zip(made).filter(|(_, made)| **made != vk::Pipeline::null());
        pairs.flat_map(|(create, made)| unsafe { pipeline_events(create, *made) }).collect()
    });
    result
}

unsafe fn pipeline_events(
    create: &vk::ComputePipelineCreateInfo<'_>,
    made: vk::Pipeline,
) -> Vec<Event> {
    const CALL: &str = "vkCreateComputePipelines";
    let stage = &create.stage;
    let mut events = unsafe { unread_structures(create.p_next, CALL, CREATION_STRUCTURES) };
    events.extend(unsafe { unread_structures(stage.p_next, CALL, STAGE_STRUCTURES) });
    if stage.module == vk::ShaderModule::null() {
        let name = format!("{CALL} without a shader module");
        events.push(Event::Unsupported(Unsupported { name, effect: OpenEffect::Accesses }));
    }
    events.push(Event::ComputePipeline(ComputePipeline {
        pipeline: handle(made),
        layout: handle(create.layout),
        module: handle(stage.module),
        entry: unsafe { text(stage.p_name) },
        specialization: unsafe { specialization_values(stage.p_specialization_info) },
    }));
    events
}

/// Structures that change neither what a pipeline reads and writes nor its values.
const CREATION_STRUCTURES: &[vk::StructureType] = &[
    vk::StructureType::PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
    vk::StructureType::PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
    vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR,
];

const STAGE_STRUCTURES: &[vk::StructureType] = &[
    vk::StructureType::PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
    vk::StructureType::PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
    vk::StructureType::DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
];

unsafe fn specialization_values(
    info: *const vk::SpecializationInfo<'_>,
) -> Vec<SpecializationValue> {
    let Some(info) = (unsafe { info.as_ref() }) else { return Vec::new() };
    let data = unsafe { bytes(info.p_data, info.data_size) };
    let entries = unsafe { elements(info.p_map_entries, info.map_entry_count) };
    let value_of = |entry: &vk::SpecializationMapEntry| {
        let start = entry.offset as usize;
        let value = data.get(start..start.saturating_add(entry.size)).unwrap_or_default();
        SpecializationValue { id: entry.constant_id, value: Bytes(value.to_vec()) }
    };
    entries.iter().map(value_of).collect()
}

pub(crate) unsafe extern "system" fn create_graphics_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    creates: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: Allocator<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let below = below!(device, create_graphics_pipelines, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkCreateGraphicsPipelines", OpenEffect::Nothing);
    unsafe { below(device, cache, count, creates, allocator, pipelines) }
}

pub(crate) unsafe extern "system" fn destroy_pipeline(
    device: vk::Device,
    pipeline: vk::Pipeline,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_pipeline);
    record_destroyed(ObjectKind::Pipeline, pipeline);
    unsafe { below(device, pipeline, allocator) }
}
