//! Images, their views, and samplers.
//!
//! Knows: which images and views the program made itself: of those of a swapchain nothing is
//! recorded but their handles.

use super::record_destroyed;
use crate::chain::{elements, handle, unread_structures};
use crate::device_table::{below, device_of};
use crate::readback::{self, ReadableCreation};
use crate::recorder::{record, record_all};
use ash::vk;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use vkcert_capture::event::{
    Binding, Descriptor, Event, Image, ImageView, ObjectKind, Sampler, UnreadImage,
};
use vkcert_capture::image::{Coordinates, FloatBits, SubresourceRange};
use vkcert_capture::value::Handle;

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

/// Images and views that were recorded as they were made.
struct Known {
    images: BTreeSet<Handle>,
    views: BTreeSet<Handle>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known { images: BTreeSet::new(), views: BTreeSet::new() });

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether the program made an image.
pub(super) fn is_known(image: vk::Image) -> bool {
    known().images.contains(&handle(image))
}

/// Forgets all of them: the capture of a process that was forked does not have them.
pub(crate) fn forget_known() {
    if let Ok(mut known) = KNOWN.try_lock() {
        known.images.clear();
        known.views.clear();
    }
}

pub(crate) unsafe extern "system" fn create_image(
    device: vk::Device,
    create: *const vk::ImageCreateInfo<'_>,
    allocator: Allocator<'_>,
    image: *mut vk::Image,
) -> vk::Result {
    let below = below!(device, create_image, vk::Result::ERROR_UNKNOWN);
    let readable = unsafe { create.as_ref() }
        .map(|create| unsafe { readback::readable_image(device, create) });
    let readable = readable.unwrap_or(ReadableCreation::AsAsked);
    let (result, unread) =
        readable.make(create, |create| unsafe { below(device, create, allocator, image) });
    if result == vk::Result::SUCCESS {
        let made = unsafe { *image };
        known().images.insert(handle(made));
        record_all(|_| {
            let create = unsafe { &*create };
            let mut events =
                unsafe { unread_structures(create.p_next, "vkCreateImage", IMAGE_STRUCTURES) };
            let is_plain =
                events.is_empty() && !create.flags.contains(vk::ImageCreateFlags::DISJOINT);
            let memory_bytes = if is_plain { unsafe { memory_bytes(device, made) } } else { 0 };
            events.push(Event::ImageMade(Box::new(recorded_image(create, made, memory_bytes))));
            let image = handle(made);
            let unread = unread.map(|reason| UnreadImage { image, reason: reason.to_owned() });
            events.extend(unread.map(Event::UnreadImage));
            events
        });
        if let Some(reason) = unread {
            readback::note_unread(handle(made), reason);
        }
    }
    result
}

/// Structures that change neither what an image holds nor where.
const IMAGE_STRUCTURES: &[vk::StructureType] = &[
    vk::StructureType::IMAGE_FORMAT_LIST_CREATE_INFO,
    vk::StructureType::IMAGE_STENCIL_USAGE_CREATE_INFO,
    vk::StructureType::EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
];

/// The bytes of memory that an image takes: a question, which changes nothing of the program's.
unsafe fn memory_bytes(device: vk::Device, image: vk::Image) -> u64 {
    let Some(table) = device_of(device) else { return 0 };
    let name = c"vkGetImageMemoryRequirements";
    let Some(function) = (unsafe { (table.get_device_function)(device, name.as_ptr()) }) else {
        return 0;
    };
    // Safety: the function that goes by this name is of this type.
    let ask = unsafe {
        std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkGetImageMemoryRequirements>(
            function,
        )
    };
    let mut needs = vk::MemoryRequirements::default();
    unsafe { ask(device, image, &mut needs) };
    needs.size
}

fn recorded_image(create: &vk::ImageCreateInfo<'_>, image: vk::Image, memory_bytes: u64) -> Image {
    let vk::Extent3D { width, height, depth } = create.extent;
    Image {
        image: handle(image),
        flags: create.flags.as_raw(),
        image_type: create.image_type.as_raw(),
        format: create.format.as_raw(),
        extent: [width, height, depth],
        levels: create.mip_levels,
        layers: create.array_layers,
        samples: create.samples.as_raw(),
        tiling: create.tiling.as_raw(),
        usage: create.usage.as_raw(),
        initial_layout: create.initial_layout.as_raw(),
        memory_bytes,
    }
}

/// What an image needs that is not made yet: of one that is made so that it can be read.
pub(crate) unsafe extern "system" fn device_image_needs(
    device: vk::Device,
    asked: *const vk::DeviceImageMemoryRequirements<'_>,
    needs: *mut vk::MemoryRequirements2<'_>,
) {
    let below = below!(device, device_image_needs);
    let create = unsafe { asked.as_ref().and_then(|asked| asked.p_create_info.as_ref()) };
    match create.map(|create| unsafe { readback::readable_image(device, create) }) {
        Some(ReadableCreation::With(readable)) => {
            let asked =
                vk::DeviceImageMemoryRequirements { p_create_info: &readable, ..unsafe { *asked } };
            unsafe { below(device, &asked, needs) }
        }
        Some(ReadableCreation::AsAsked | ReadableCreation::Unread(_)) | None => unsafe {
            below(device, asked, needs)
        },
    }
}

pub(crate) unsafe extern "system" fn destroy_image(
    device: vk::Device,
    image: vk::Image,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_image);
    known().images.remove(&handle(image));
    record_destroyed(ObjectKind::Image, image);
    unsafe { below(device, image, allocator) }
}

pub(crate) unsafe extern "system" fn bind_image(
    device: vk::Device,
    image: vk::Image,
    memory: vk::DeviceMemory,
    offset: u64,
) -> vk::Result {
    let below = below!(device, bind_image, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, image, memory, offset) };
    if result == vk::Result::SUCCESS {
        let (resource, memory) = (handle(image), handle(memory));
        record(|| Event::BindImage(Binding { resource, memory, offset }));
    }
    result
}

pub(crate) unsafe extern "system" fn bind_image2(
    device: vk::Device,
    count: u32,
    binds: *const vk::BindImageMemoryInfo<'_>,
) -> vk::Result {
    let below = below!(device, bind_image2, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, count, binds) };
    if result == vk::Result::SUCCESS {
        record_all(|_| {
            let binds = unsafe { elements(binds, count) };
            let event = |bind: &vk::BindImageMemoryInfo<'_>| {
                let (resource, memory) = (handle(bind.image), handle(bind.memory));
                Event::BindImage(Binding { resource, memory, offset: bind.memory_offset })
            };
            binds.iter().map(event).collect()
        });
    }
    result
}

pub(crate) unsafe extern "system" fn create_image_view(
    device: vk::Device,
    create: *const vk::ImageViewCreateInfo<'_>,
    allocator: Allocator<'_>,
    view: *mut vk::ImageView,
) -> vk::Result {
    let below = below!(device, create_image_view, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, view) };
    if result == vk::Result::SUCCESS {
        let create = unsafe { &*create };
        if !is_known(create.image) {
            return result;
        }
        let made = handle(unsafe { *view });
        known().views.insert(made);
        record_all(|_| {
            let read = [vk::StructureType::IMAGE_VIEW_USAGE_CREATE_INFO];
            let mut events =
                unsafe { unread_structures(create.p_next, "vkCreateImageView", &read) };
            let vk::ComponentMapping { r, g, b, a } = create.components;
            events.push(Event::ImageView(ImageView {
                view: made,
                image: handle(create.image),
                view_type: create.view_type.as_raw(),
                format: create.format.as_raw(),
                components: [r, g, b, a].map(vk::ComponentSwizzle::as_raw),
                range: recorded_range(&create.subresource_range),
            }));
            events
        });
    }
    result
}

pub(super) fn recorded_range(range: &vk::ImageSubresourceRange) -> SubresourceRange {
    SubresourceRange {
        aspects: range.aspect_mask.as_raw(),
        level: range.base_mip_level,
        levels: range.level_count,
        layer: range.base_array_layer,
        layers: range.layer_count,
    }
}

pub(crate) unsafe extern "system" fn destroy_image_view(
    device: vk::Device,
    view: vk::ImageView,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_image_view);
    if known().views.remove(&handle(view)) {
        record_destroyed(ObjectKind::ImageView, view);
    }
    unsafe { below(device, view, allocator) }
}

/// What a descriptor of an image or a sampler holds; members that its type does not take may be
/// anything.
pub(super) fn image_descriptor(
    descriptor_type: vk::DescriptorType,
    info: &vk::DescriptorImageInfo,
) -> Descriptor {
    let (takes_view, takes_sampler) = match descriptor_type {
        vk::DescriptorType::SAMPLER => (false, true),
        vk::DescriptorType::COMBINED_IMAGE_SAMPLER => (true, true),
        _ => (true, false),
    };
    let view = if takes_view { handle(info.image_view) } else { Handle(0) };
    if !view.is_null() && !known().views.contains(&view) {
        return Descriptor::Image;
    }
    let sampler = if takes_sampler { handle(info.sampler) } else { Handle(0) };
    let layout = if takes_view { info.image_layout.as_raw() } else { 0 };
    Descriptor::View { view, sampler, layout }
}

pub(crate) unsafe extern "system" fn create_sampler(
    device: vk::Device,
    create: *const vk::SamplerCreateInfo<'_>,
    allocator: Allocator<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    let below = below!(device, create_sampler, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, sampler) };
    if result == vk::Result::SUCCESS {
        record_all(|_| {
            let create = unsafe { &*create };
            let mut events = unsafe { unread_structures(create.p_next, "vkCreateSampler", &[]) };
            events.push(Event::Sampler(recorded_sampler(create, unsafe { *sampler })));
            events
        });
    }
    result
}

fn recorded_sampler(create: &vk::SamplerCreateInfo<'_>, sampler: vk::Sampler) -> Sampler {
    let bits = |number: f32| FloatBits(number.to_bits());
    let anisotropic = create.anisotropy_enable != vk::FALSE;
    let compared = create.compare_enable != vk::FALSE;
    let coordinates = match create.unnormalized_coordinates != vk::FALSE {
        true => Coordinates::Unnormalized,
        false => Coordinates::Normalized,
    };
    Sampler {
        sampler: handle(sampler),
        filters: [create.mag_filter.as_raw(), create.min_filter.as_raw()],
        mipmap: create.mipmap_mode.as_raw(),
        address: [create.address_mode_u, create.address_mode_v, create.address_mode_w]
            .map(vk::SamplerAddressMode::as_raw),
        border: create.border_color.as_raw(),
        anisotropy: anisotropic.then(|| bits(create.max_anisotropy)),
        compare: compared.then(|| create.compare_op.as_raw()),
        lod: [create.mip_lod_bias, create.min_lod, create.max_lod].map(bits),
        coordinates,
        extended: !create.p_next.is_null() || !create.flags.is_empty(),
    }
}

pub(crate) unsafe extern "system" fn destroy_sampler(
    device: vk::Device,
    sampler: vk::Sampler,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_sampler);
    record_destroyed(ObjectKind::Sampler, sampler);
    unsafe { below(device, sampler, allocator) }
}
