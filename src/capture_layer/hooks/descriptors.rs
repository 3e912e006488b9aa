//! Descriptor sets, their layouts, and how they are written.
//!
//! Knows: templates, which tell where in the program's own structure descriptors lie, so that an
//! update with a template is recorded as the writes that it stands for.

use super::images::image_descriptor;
use super::record_destroyed;
use crate::chain::{bytes, elements, handle, in_chain, unread_structures};
use crate::device_table::below;
use crate::recorder::{record, record_all};
use ash::vk;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};
use vkcert_capture::event::{
    BindingFlags, Descriptor, DescriptorCopy, DescriptorSets, DescriptorWrite, Event,
    ImmutableSamplers, LayoutBinding, ObjectKind, SetLayout,
};
use vkcert_capture::value::{Bytes, Handle};

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

static TEMPLATES: Mutex<BTreeMap<Handle, Vec<vk::DescriptorUpdateTemplateEntry>>> =
    Mutex::new(BTreeMap::new());

fn templates() -> MutexGuard<'static, BTreeMap<Handle, Vec<vk::DescriptorUpdateTemplateEntry>>> {
    TEMPLATES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(crate) unsafe extern "system" fn create_set_layout(
    device: vk::Device,
    create: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    allocator: Allocator<'_>,
    layout: *mut vk::DescriptorSetLayout,
) -> vk::Result {
    let below = below!(device, create_set_layout, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, layout) };
    if result == vk::Result::SUCCESS {
        record_all(|_| {
            let create = unsafe { &*create };
            let read = [vk::StructureType::DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO];
            let call = "vkCreateDescriptorSetLayout";
            let mut events = unsafe { unread_structures(create.p_next, call, &read) };
            let bindings = unsafe { elements(create.p_bindings, create.binding_count) };
            events.push(Event::SetLayout(SetLayout {
                layout: handle(unsafe { *layout }),
                flags: create.flags.as_raw(),
                bindings: bindings.iter().map(recorded_binding).collect(),
            }));
            let layout = handle(unsafe { *layout });
            events.extend(unsafe { binding_flags(create, layout) });
            events.extend(unsafe { immutable_samplers(bindings, layout) });
            events
        });
    }
    result
}

/// The flags of bindings that have some.
unsafe fn binding_flags(
    create: &vk::DescriptorSetLayoutCreateInfo<'_>,
    layout: Handle,
) -> Option<Event> {
    let info = unsafe {
        in_chain::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>(
            create.p_next,
            vk::StructureType::DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        )
    }?;
    let flags = unsafe { elements(info.p_binding_flags, info.binding_count) };
    let bindings = unsafe { elements(create.p_bindings, create.binding_count) };
    let flagged = bindings.iter().zip(flags).filter(|(_, flags)| !flags.is_empty());
    let bindings = flagged.map(|(binding, flags)| (binding.binding, flags.as_raw()));
    Some(Event::BindingFlags(BindingFlags { layout, bindings: bindings.collect() }))
}

/// The samplers that a layout has for good.
unsafe fn immutable_samplers(
    bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    layout: Handle,
) -> Option<Event> {
    // Of other types the member is ignored and may be anything.
    let of_samplers = bindings.iter().filter(|binding| {
        matches!(
            binding.descriptor_type,
            vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER
        )
    });
    let own = of_samplers.filter_map(|binding| {
        let samplers = unsafe { elements(binding.p_immutable_samplers, binding.descriptor_count) };
        let samplers: Vec<Handle> = samplers.iter().map(|sampler| handle(*sampler)).collect();
        (!samplers.is_empty()).then_some((binding.binding, samplers))
    });
    let bindings: Vec<(u32, Vec<Handle>)> = own.collect();
    (!bindings.is_empty())
        .then_some(Event::ImmutableSamplers(ImmutableSamplers { layout, bindings }))
}

fn recorded_binding(binding: &vk::DescriptorSetLayoutBinding<'_>) -> LayoutBinding {
    LayoutBinding {
        binding: binding.binding,
        descriptor_type: binding.descriptor_type.as_raw(),
        count: binding.descriptor_count,
        stages: binding.stage_flags.as_raw(),
    }
}

pub(crate) unsafe extern "system" fn destroy_set_layout(
    device: vk::Device,
    layout: vk::DescriptorSetLayout,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_set_layout);
    record_destroyed(ObjectKind::SetLayout, layout);
    unsafe { below(device, layout, allocator) }
}

pub(crate) unsafe extern "system" fn allocate_sets(
    device: vk::Device,
    allocate: *const vk::DescriptorSetAllocateInfo<'_>,
    sets: *mut vk::DescriptorSet,
) -> vk::Result {
    let below = below!(device, allocate_sets, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, allocate, sets) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let allocate = unsafe { &*allocate };
            let count = allocate.descriptor_set_count;
            let layouts = unsafe { elements(allocate.p_set_layouts, count) };
            let made = unsafe { elements(sets.cast_const(), count) };
            let pairs = made.iter().zip(layouts);
            Event::DescriptorSets(DescriptorSets {
                pool: handle(allocate.descriptor_pool),
                sets: pairs.map(|(set, layout)| (handle(*set), handle(*layout))).collect(),
            })
        });
    }
    result
}

pub(crate) unsafe extern "system" fn free_sets(
    device: vk::Device,
    pool: vk::DescriptorPool,
    count: u32,
    sets: *const vk::DescriptorSet,
) -> vk::Result {
    let below = below!(device, free_sets, vk::Result::ERROR_UNKNOWN);
    record(|| {
        let sets = unsafe { elements(sets, count) }.iter().map(|set| handle(*set));
        Event::FreeDescriptorSets(sets.filter(|set| !set.is_null()).collect())
    });
    unsafe { below(device, pool, count, sets) }
}

pub(crate) unsafe extern "system" fn reset_pool(
    device: vk::Device,
    pool: vk::DescriptorPool,
    flags: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    let below = below!(device, reset_descriptor_pool, vk::Result::ERROR_UNKNOWN);
    record(|| Event::EmptyDescriptorPool(handle(pool)));
    unsafe { below(device, pool, flags) }
}

pub(crate) unsafe extern "system" fn destroy_pool(
    device: vk::Device,
    pool: vk::DescriptorPool,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_descriptor_pool);
    record(|| Event::EmptyDescriptorPool(handle(pool)));
    unsafe { below(device, pool, allocator) }
}

pub(crate) unsafe extern "system" fn update_sets(
    device: vk::Device,
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    let below = below!(device, update_sets);
    record_all(|_| {
        let writes = unsafe { elements(writes, write_count) };
        let copies = unsafe { elements(copies, copy_count) };
        let mut events = Vec::new();
        if !writes.is_empty() {
            let writes = writes.iter().map(|write| unsafe { recorded_write(write) });
            events.push(Event::WriteDescriptors(writes.collect()));
        }
        if !copies.is_empty() {
            events.push(Event::CopyDescriptors(copies.iter().map(recorded_copy).collect()));
        }
        events
    });
    unsafe { below(device, write_count, writes, copy_count, copies) }
}

fn recorded_copy(copy: &vk::CopyDescriptorSet<'_>) -> DescriptorCopy {
    DescriptorCopy {
        from: (handle(copy.src_set), copy.src_binding, copy.src_array_element),
        to: (handle(copy.dst_set), copy.dst_binding, copy.dst_array_element),
        count: copy.descriptor_count,
    }
}

/// What a write holds.
///
/// # Safety
/// The write is a valid parameter of vkUpdateDescriptorSets.
pub(crate) unsafe fn recorded_write(write: &vk::WriteDescriptorSet<'_>) -> DescriptorWrite {
    let count = write.descriptor_count;
    let descriptors = match DescriptorContent::of_type(write.descriptor_type) {
        DescriptorContent::Buffer => {
            unsafe { elements(write.p_buffer_info, count) }.iter().map(buffer_descriptor).collect()
        }
        DescriptorContent::View => {
            let views = unsafe { elements(write.p_texel_buffer_view, count) };
            views.iter().map(|view| Descriptor::BufferView(handle(*view))).collect()
        }
        DescriptorContent::Image => {
            let infos = unsafe { elements(write.p_image_info, count) }.iter();
            infos.map(|info| image_descriptor(write.descriptor_type, info)).collect()
        }
        DescriptorContent::Inline => {
            let block = unsafe {
                in_chain::<vk::WriteDescriptorSetInlineUniformBlock<'_>>(
                    write.p_next,
                    vk::StructureType::WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK,
                )
            };
            let content =
                block.map(|block| unsafe { bytes(block.p_data, block.data_size as usize) });
            vec![Descriptor::Inline(Bytes(content.unwrap_or_default()))]
        }
        DescriptorContent::Other => vec![Descriptor::Other; count as usize],
    };
    DescriptorWrite {
        set: handle(write.dst_set),
        binding: write.dst_binding,
        element: write.dst_array_element,
        descriptor_type: write.descriptor_type.as_raw(),
        descriptors,
    }
}

/// Which member of a write its descriptors are in.
enum DescriptorContent {
    Buffer,
    View,
    Image,
    Inline,
    Other,
}

impl DescriptorContent {
    fn of_type(descriptor_type: vk::DescriptorType) -> Self {
        match descriptor_type {
            vk::DescriptorType::UNIFORM_BUFFER
            | vk::DescriptorType::STORAGE_BUFFER
            | vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
            | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC => DescriptorContent::Buffer,
            vk::DescriptorType::UNIFORM_TEXEL_BUFFER | vk::DescriptorType::STORAGE_TEXEL_BUFFER => {
                DescriptorContent::View
            }
            vk::DescriptorType::SAMPLER
            | vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            | vk::DescriptorType::SAMPLED_IMAGE
            | vk::DescriptorType::STORAGE_IMAGE
            | vk::DescriptorType::INPUT_ATTACHMENT => DescriptorContent::Image,
            vk::DescriptorType::INLINE_UNIFORM_BLOCK => DescriptorContent::Inline,
            // The type is open: extensions add to it.
            _ => DescriptorContent::Other,
        }
    }
}

fn buffer_descriptor(info: &vk::DescriptorBufferInfo) -> Descriptor {
    Descriptor::Buffer { buffer: handle(info.buffer), offset: info.offset, range: info.range }
}

pub(crate) unsafe extern "system" fn create_update_template(
    device: vk::Device,
    create: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
    allocator: Allocator<'_>,
    template: *mut vk::DescriptorUpdateTemplate,
) -> vk::Result {
    let below = below!(device, create_update_template, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, template) };
    if result == vk::Result::SUCCESS {
        let create = unsafe { &*create };
        let entries = unsafe {
            elements(create.p_descriptor_update_entries, create.descriptor_update_entry_count)
        };
        templates().insert(handle(unsafe { *template }), entries.to_vec());
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_update_template(
    device: vk::Device,
    template: vk::DescriptorUpdateTemplate,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_update_template);
    templates().remove(&handle(template));
    unsafe { below(device, template, allocator) }
}

pub(crate) unsafe extern "system" fn update_set_with_template(
    device: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    let below = below!(device, update_set_with_template);
    record(|| Event::WriteDescriptors(unsafe { writes_of_template(handle(set), template, data) }));
    unsafe { below(device, set, template, data) }
}

/// The writes that an update with a template stands for.
///
/// # Safety
/// `data` leads to the structure that the template describes.
pub(crate) unsafe fn writes_of_template(
    set: Handle,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) -> Vec<DescriptorWrite> {
    let entries = templates().get(&handle(template)).cloned().unwrap_or_default();
    entries.iter().map(|entry| unsafe { write_of_entry(set, entry, data) }).collect()
}

unsafe fn write_of_entry(
    set: Handle,
    entry: &vk::DescriptorUpdateTemplateEntry,
    data: *const c_void,
) -> DescriptorWrite {
    let element = |index: u32| unsafe {
        data.cast::<u8>().add(entry.offset + index as usize * entry.stride).cast::<c_void>()
    };
    let elements = 0..entry.descriptor_count;
    let descriptors = match DescriptorContent::of_type(entry.descriptor_type) {
        DescriptorContent::Buffer => elements
            .map(|index| {
                let info = element(index).cast::<vk::DescriptorBufferInfo>();
                buffer_descriptor(&unsafe { info.read_unaligned() })
            })
            .collect(),
        DescriptorContent::View => elements
            .map(|index| {
                let view = element(index).cast::<vk::BufferView>();
                Descriptor::BufferView(handle(unsafe { view.read_unaligned() }))
            })
            .collect(),
        DescriptorContent::Image => elements
            .map(|index| {
                let info = element(index).cast::<vk::DescriptorImageInfo>();
                image_descriptor(entry.descriptor_type, &unsafe { info.read_unaligned() })
            })
            .collect(),
        DescriptorContent::Inline => {
            let content = unsafe { bytes(element(0), entry.descriptor_count as usize) };
            vec![Descriptor::Inline(Bytes(content))]
        }
        DescriptorContent::Other => elements.map(|_| Descriptor::Other).collect(),
    };
    DescriptorWrite {
        set,
        binding: entry.dst_binding,
        element: entry.dst_array_element,
        descriptor_type: entry.descriptor_type.as_raw(),
        descriptors,
    }
}
