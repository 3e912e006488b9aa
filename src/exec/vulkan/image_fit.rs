//! Whether images, samplers, texel buffers and addresses fit a device, asked before anything runs.
//!
//! Knows: which feature of a format each use needs (Vulkan specification, "Formats",
//! VkFormatFeatureFlagBits), what the device answers for one image
//! (vkGetPhysicalDeviceImageFormatProperties), alignments and element limits of texel buffers.
//! Promises: what the device lacks is `Unsupported` with format and feature; a job that contradicts
//! itself is `Error`.
//! Does not cover: whether what is bound agrees with the module (`fit`), rules that the validation
//! layer alone checks.

use super::device::Device;
use super::fit::{error, place, unsupported};
use super::image::{format, image_info};
use super::protocol::{Ending, WireBinding, WireImage, WireJob};
use ash::vk;
use vkcert_exec::resource::{ImageView, JobSampler, JobView};
use vkcert_model::image::{AddressMode, Filter, ImageFormat};
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::{Atomicity, DeviceNeeds};

/// Everything an image is used for in a job.
pub(crate) fn usage(job: &WireJob, buffer: u32) -> vk::ImageUsageFlags {
    let copied = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
    let own = bindings.filter(|binding| binding.view.image().is_some() && binding.buffer == buffer);
    own.fold(copied, |usage, binding| match binding.class {
        DescriptorClass::StorageImage => usage | vk::ImageUsageFlags::STORAGE,
        DescriptorClass::SampledImage | DescriptorClass::Combined => {
            usage | vk::ImageUsageFlags::SAMPLED
        }
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic
        | DescriptorClass::Sampler
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => usage,
    })
}

/// Checks what a job brings, whatever binds it.
pub(crate) fn check_job(device: &Device, job: &WireJob) -> Result<(), Ending> {
    for image in &job.images {
        check_image(device, job, image)?;
    }
    for sampler in &job.samplers {
        check_sampler(device, sampler)?;
    }
    if !job.addresses.is_empty() && device.abilities.features.v12.buffer_device_address == vk::FALSE
    {
        return unsupported("device addresses (feature bufferDeviceAddress)");
    }
    for address in &job.addresses {
        let length = job.buffers.get(address.target as usize).map(|buffer| buffer.0.len() as u64);
        if length.is_none_or(|length| address.offset >= length) {
            return error(format!(
                "an address points {} bytes into a buffer that has fewer",
                address.offset
            ));
        }
    }
    Ok(())
}

fn check_image(device: &Device, job: &WireJob, image: &WireImage) -> Result<(), Ending> {
    let WireImage { name, buffer, shape } = image;
    let held = job.buffers.get(*buffer as usize).map(|contents| contents.0.len() as u64);
    if held.is_none()
        || shape.bytes() != held
        || shape.levels == 0
        || shape.levels > shape.most_levels()
    {
        return error(format!(
            "the contents of image `{name}` are not those of its levels and layers"
        ));
    }
    if shape.samples != 1 {
        return error(format!("the image `{name}` is multisampled"));
    }
    let usage = usage(job, *buffer);
    let features = device.format_features(format(shape.format)).optimal_tiling_features;
    for (wanted, feature, what) in [
        (vk::ImageUsageFlags::STORAGE, vk::FormatFeatureFlags::STORAGE_IMAGE, "STORAGE_IMAGE"),
        (vk::ImageUsageFlags::SAMPLED, vk::FormatFeatureFlags::SAMPLED_IMAGE, "SAMPLED_IMAGE"),
        (vk::ImageUsageFlags::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_SRC, "TRANSFER_SRC"),
        (vk::ImageUsageFlags::TRANSFER_DST, vk::FormatFeatureFlags::TRANSFER_DST, "TRANSFER_DST"),
    ] {
        if usage.contains(wanted) && !features.contains(feature) {
            return unsupported(lacking(shape.format, name, what));
        }
    }
    if shape.format.is_depth() {
        check_depth(device, image)?;
    }
    let info = image_info(shape, usage);
    let Some(offered) = device.image_format(&info) else {
        return unsupported(format!(
            "image `{name}`: a {} image of format {}",
            shape.dim.name(),
            shape.format
        ));
    };
    let most = [offered.max_extent.width, offered.max_extent.height, offered.max_extent.depth];
    if let Some(axis) = (0..3).find(|axis| shape.extent[*axis] > most[*axis]) {
        let (given, most) = (shape.extent[axis], most[axis]);
        return unsupported(format!(
            "image `{name}`: {given} texels in {} (maxExtent is {most})",
            ["x", "y", "z"][axis]
        ));
    }
    for (given, most, what, limit) in [
        (shape.layers, offered.max_array_layers, "layers", "maxArrayLayers"),
        (shape.levels, offered.max_mip_levels, "levels", "maxMipLevels"),
    ] {
        if given > most {
            return unsupported(format!("image `{name}`: {given} {what} ({limit} is {most})"));
        }
    }
    match held {
        Some(bytes) if bytes > offered.max_resource_size => unsupported(format!(
            "image `{name}`: {bytes} bytes (maxResourceSize is {})",
            offered.max_resource_size
        )),
        Some(_) | None => Ok(()),
    }
}

/// Copies of depths (Vulkan specification, VkBufferImageCopy): by a queue with graphics, from
/// multiples of 4 bytes.
fn check_depth(device: &Device, image: &WireImage) -> Result<(), Ending> {
    let WireImage { name, shape, .. } = image;
    if !device.family.flags.contains(vk::QueueFlags::GRAPHICS) {
        return unsupported(format!(
            "image `{name}`: contents of format {} on a queue without graphics",
            shape.format
        ));
    }
    let start = (0..shape.levels)
        .filter_map(|level| shape.layer_start(level, 0))
        .find(|start| !start.is_multiple_of(4));
    match start {
        Some(start) => unsupported(format!(
            "image `{name}`: a level of format {} that starts at byte {start}, no multiple of 4",
            shape.format
        )),
        None => Ok(()),
    }
}

fn lacking(texels: ImageFormat, name: &str, feature: &str) -> String {
    format!(
        "image `{name}`: format {texels} (format feature {feature} of VK_FORMAT_{:?})",
        format(texels)
    )
}

fn check_sampler(device: &Device, sampler: &JobSampler) -> Result<(), Ending> {
    let name = &sampler.name;
    let mirror = device.abilities.features.v12.sampler_mirror_clamp_to_edge == vk::TRUE;
    if sampler.address == AddressMode::MirrorClampToEdge && !mirror {
        return unsupported(format!(
            "sampler `{name}`: mirror_clamp_to_edge (feature samplerMirrorClampToEdge)"
        ));
    }
    let most = device.identity.limits.sampler_lod_bias;
    if sampler.lod_bias.abs() > most {
        return unsupported(format!(
            "sampler `{name}`: lod_bias {} (maxSamplerLodBias is {most})",
            sampler.lod_bias
        ));
    }
    Ok(())
}

/// Checks how the bindings of one dispatch see images and texel buffers.
pub(crate) fn check_views(
    device: &Device,
    needs: &DeviceNeeds,
    job: &WireJob,
    bindings: &[WireBinding],
) -> Result<(), Ending> {
    for bound in bindings {
        check_kind(bound)?;
        let at = place(bound.set, bound.binding);
        if bound.view.sampler().is_some_and(|sampler| sampler as usize >= job.samplers.len()) {
            return error(format!("{at} names a sampler that the job does not have"));
        }
        let atomic = needs.descriptors.iter().any(|descriptor| {
            let resource = &descriptor.resource;
            descriptor.atomicity == Atomicity::Atomic
                && (resource.set, resource.binding) == (bound.set, bound.binding)
        });
        match bound.view {
            JobView::Texels(texels) => check_texels(device, bound, texels, atomic)?,
            JobView::Image(view) | JobView::Combined(view, _) => {
                let image = job.images.iter().find(|image| image.buffer == bound.buffer);
                let Some(image) = image.filter(|image| lies_within(&view, image)) else {
                    return error(format!(
                        "{at} shows levels and layers that the job does not have"
                    ));
                };
                let features =
                    device.format_features(format(image.shape.format)).optimal_tiling_features;
                if atomic && !features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE_ATOMIC) {
                    return unsupported(lacking(
                        image.shape.format,
                        &image.name,
                        "STORAGE_IMAGE_ATOMIC",
                    ));
                }
                let compares = |sampler: &JobSampler| sampler.compare.is_some();
                if !image.shape.format.is_depth() && meets(needs, job, bindings, bound, compares) {
                    return unsupported(lacking(
                        image.shape.format,
                        &image.name,
                        "SAMPLED_IMAGE_DEPTH_COMPARISON",
                    ));
                }
                let filters = |sampler: &JobSampler| {
                    sampler.filter == Filter::Linear || sampler.mipmap == Filter::Linear
                };
                if !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR)
                    && meets(needs, job, bindings, bound, filters)
                {
                    return unsupported(lacking(
                        image.shape.format,
                        &image.name,
                        "SAMPLED_IMAGE_FILTER_LINEAR",
                    ));
                }
            }
            JobView::Bytes | JobView::Sampler(_) => {}
        }
    }
    Ok(())
}

/// Whether a sampler of a kind meets the image: its own, or one that the module combines with it.
fn meets(
    needs: &DeviceNeeds,
    job: &WireJob,
    bindings: &[WireBinding],
    image: &WireBinding,
    kind: impl Fn(&JobSampler) -> bool,
) -> bool {
    let is_of_kind = |sampler: u32| job.samplers.get(sampler as usize).is_some_and(&kind);
    if let JobView::Combined(_, sampler) = image.view {
        return is_of_kind(sampler);
    }
    let place = |binding: &WireBinding| (binding.set, binding.binding);
    let combined = |sampler: &WireBinding| needs.combined.contains(&(place(image), place(sampler)));
    bindings.iter().any(|other| match other.view {
        JobView::Sampler(sampler) => is_of_kind(sampler) && combined(other),
        JobView::Bytes | JobView::Texels(_) | JobView::Image(_) | JobView::Combined(..) => false,
    })
}

/// That class and view are of one kind.
fn check_kind(bound: &WireBinding) -> Result<(), Ending> {
    let agrees = match bound.class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic => bound.view == JobView::Bytes,
        DescriptorClass::UniformTexel | DescriptorClass::StorageTexel => {
            matches!(bound.view, JobView::Texels(_))
        }
        DescriptorClass::StorageImage | DescriptorClass::SampledImage => {
            matches!(bound.view, JobView::Image(_))
        }
        DescriptorClass::Sampler => matches!(bound.view, JobView::Sampler(_)),
        DescriptorClass::Combined => matches!(bound.view, JobView::Combined(..)),
    };
    if agrees {
        return Ok(());
    }
    let at = place(bound.set, bound.binding);
    error(format!(
        "{at} is bound as {}, and the job binds something else there",
        bound.class.name()
    ))
}

fn lies_within(view: &ImageView, image: &WireImage) -> bool {
    let fits = |first: u32, count: u32, all: u32| {
        count > 0 && first.checked_add(count).is_some_and(|end| end <= all)
    };
    fits(view.level, view.levels, image.shape.levels)
        && fits(view.layer, view.layers, image.shape.layers)
}

fn check_texels(
    device: &Device,
    bound: &WireBinding,
    texels: ImageFormat,
    atomic: bool,
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    let at = place(bound.set, bound.binding);
    let offered = device.format_features(format(texels)).buffer_features;
    let (wanted, name) = if bound.class == DescriptorClass::StorageTexel {
        (vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER, "STORAGE_TEXEL_BUFFER")
    } else {
        (vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER, "UNIFORM_TEXEL_BUFFER")
    };
    let atomics =
        (vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER_ATOMIC, "STORAGE_TEXEL_BUFFER_ATOMIC");
    let needed = [Some((wanted, name)), atomic.then_some(atomics)];
    if let Some((_, name)) =
        needed.into_iter().flatten().find(|(feature, _)| !offered.contains(*feature))
    {
        return unsupported(format!(
            "{at}: format {texels} (format feature {name} of VK_FORMAT_{:?})",
            format(texels)
        ));
    }
    let size = texels.texel_size() as u64;
    if !bound.range.is_multiple_of(size) {
        return error(format!(
            "{at}: {} bytes are no whole number of {texels} texels",
            bound.range
        ));
    }
    let (elements, most) = (bound.range / size, limits.texel_elements);
    if elements > u64::from(most) {
        return unsupported(format!("{elements} texels ({at}; maxTexelBufferElements is {most})"));
    }
    if !bound.offset.is_multiple_of(limits.texel_alignment) {
        let (offset, alignment) = (bound.offset, limits.texel_alignment);
        return unsupported(format!(
            "offset {offset} ({at}; minTexelBufferOffsetAlignment is {alignment})"
        ));
    }
    Ok(())
}
