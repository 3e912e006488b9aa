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
use super::fit::{binding_name, error, unsupported};
use super::image::{image_create_info, vulkan_format};
use super::protocol::{Ending, WireBinding, WireImage, WireJob};
use ash::vk;
use vkcert_exec::resource::{ImageView, JobSampler, JobView};
use vkcert_model::image::{AddressMode, Filter, ImageFormat};
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::{Atomicity, DeviceNeeds};

/// Everything an image is used for in a job.
pub(crate) fn image_usage(job: &WireJob, buffer_index: u32) -> vk::ImageUsageFlags {
    let copy_usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
    let own_bindings =
        bindings.filter(|binding| binding.view.image().is_some() && binding.buffer == buffer_index);
    own_bindings.fold(copy_usage, |joined_usage, binding| match binding.class {
        DescriptorClass::StorageImage => joined_usage | vk::ImageUsageFlags::STORAGE,
        DescriptorClass::SampledImage | DescriptorClass::Combined => {
            joined_usage | vk::ImageUsageFlags::SAMPLED
        }
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic
        | DescriptorClass::Sampler
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => joined_usage,
    })
}

/// Checks what a job brings, whatever binds it.
pub(crate) fn check_resources(device: &Device, job: &WireJob) -> Result<(), Ending> {
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
        let buffer_length =
            job.buffers.get(address.target as usize).map(|buffer| buffer.0.len() as u64);
        if buffer_length.is_none_or(|buffer_length| address.offset >= buffer_length) {
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
    let content_bytes = job.buffers.get(*buffer as usize).map(|contents| contents.0.len() as u64);
    if content_bytes.is_none()
        || shape.bytes() != content_bytes
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
    let usage_flags = image_usage(job, *buffer);
    let format_features =
        device.format_features(vulkan_format(shape.format)).optimal_tiling_features;
    for (wanted_usage, feature, feature_name) in [
        (vk::ImageUsageFlags::STORAGE, vk::FormatFeatureFlags::STORAGE_IMAGE, "STORAGE_IMAGE"),
        (vk::ImageUsageFlags::SAMPLED, vk::FormatFeatureFlags::SAMPLED_IMAGE, "SAMPLED_IMAGE"),
        (vk::ImageUsageFlags::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_SRC, "TRANSFER_SRC"),
        (vk::ImageUsageFlags::TRANSFER_DST, vk::FormatFeatureFlags::TRANSFER_DST, "TRANSFER_DST"),
    ] {
        if usage_flags.contains(wanted_usage) && !format_features.contains(feature) {
            return unsupported(missing_format_feature(shape.format, name, feature_name));
        }
    }
    if shape.format.is_depth() {
        check_depth(device, image)?;
    }
    let create_info = image_create_info(shape, usage_flags);
    let Some(format_limits) = device.image_format_limits(&create_info) else {
        return unsupported(format!(
            "image `{name}`: a {} image of format {}",
            shape.dim.name(),
            shape.format
        ));
    };
    let most_texels = [
        format_limits.max_extent.width,
        format_limits.max_extent.height,
        format_limits.max_extent.depth,
    ];
    if let Some(axis_index) =
        (0..3).find(|axis_index| shape.extent[*axis_index] > most_texels[*axis_index])
    {
        let (given_count, most_texels) = (shape.extent[axis_index], most_texels[axis_index]);
        return unsupported(format!(
            "image `{name}`: {given_count} texels in {} (maxExtent is {most_texels})",
            ["x", "y", "z"][axis_index]
        ));
    }
    for (given_count, most_allowed, count_noun, limit_name) in [
        (shape.layers, format_limits.max_array_layers, "layers", "maxArrayLayers"),
        (shape.levels, format_limits.max_mip_levels, "levels", "maxMipLevels"),
    ] {
        if given_count > most_allowed {
            return unsupported(format!(
                "image `{name}`: {given_count} {count_noun} ({limit_name} is {most_allowed})"
            ));
        }
    }
    match content_bytes {
        Some(bytes) if bytes > format_limits.max_resource_size => unsupported(format!(
            "image `{name}`: {bytes} bytes (maxResourceSize is {})",
            format_limits.max_resource_size
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
    let misaligned_start = (0..shape.levels)
        .filter_map(|level| shape.layer_start(level, 0))
        .find(|misaligned_start| !misaligned_start.is_multiple_of(4));
    match misaligned_start {
        Some(misaligned_start) => unsupported(format!(
            "image `{name}`: a level of format {} that starts at byte {misaligned_start}, no multiple of 4",
            shape.format
        )),
        None => Ok(()),
    }
}

fn missing_format_feature(texel_format: ImageFormat, image_name: &str, feature: &str) -> String {
    format!(
        "image `{image_name}`: format {texel_format} (format feature {feature} of VK_FORMAT_{:?})",
        vulkan_format(texel_format)
    )
}

fn check_sampler(device: &Device, sampler: &JobSampler) -> Result<(), Ending> {
    let sampler_name = &sampler.name;
    let has_mirror_clamp = device.abilities.features.v12.sampler_mirror_clamp_to_edge == vk::TRUE;
    if sampler.address == AddressMode::MirrorClampToEdge && !has_mirror_clamp {
        return unsupported(format!(
            "sampler `{sampler_name}`: mirror_clamp_to_edge (feature samplerMirrorClampToEdge)"
        ));
    }
    let most_bias = device.identity.limits.sampler_lod_bias;
    if sampler.lod_bias.abs() > most_bias {
        return unsupported(format!(
            "sampler `{sampler_name}`: lod_bias {} (maxSamplerLodBias is {most_bias})",
            sampler.lod_bias
        ));
    }
    Ok(())
}

/// Checks how the bindings of one dispatch see images and texel buffers.
pub(crate) fn check_views(
    device: &Device,
    device_needs: &DeviceNeeds,
    job: &WireJob,
    bindings: &[WireBinding],
) -> Result<(), Ending> {
    for binding in bindings {
        check_kind(binding)?;
        let binding_place = binding_name(binding.set, binding.binding);
        if binding.view.sampler().is_some_and(|sampler| sampler as usize >= job.samplers.len()) {
            return error(format!("{binding_place} names a sampler that the job does not have"));
        }
        let is_atomic = device_needs.descriptors.iter().any(|descriptor| {
            let resource = &descriptor.resource;
            descriptor.atomicity == Atomicity::Atomic
                && (resource.set, resource.binding) == (binding.set, binding.binding)
        });
        match binding.view {
            JobView::Texels(texel_format) => {
                check_texels(device, binding, texel_format, is_atomic)?
            }
            JobView::Image(view) | JobView::Combined(view, _) => {
                let image = job.images.iter().find(|image| image.buffer == binding.buffer);
                let Some(image) = image.filter(|image| lies_within(&view, image)) else {
                    return error(format!(
                        "{binding_place} shows levels and layers that the job does not have"
                    ));
                };
                let format_features = device
                    .format_features(vulkan_format(image.shape.format))
                    .optimal_tiling_features;
                if is_atomic
                    && !format_features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE_ATOMIC)
                {
                    return unsupported(missing_format_feature(
                        image.shape.format,
                        &image.name,
                        "STORAGE_IMAGE_ATOMIC",
                    ));
                }
                let compares_depth = |sampler: &JobSampler| sampler.compare.is_some();
                if !image.shape.format.is_depth()
                    && meets_sampler(device_needs, job, bindings, binding, compares_depth)
                {
                    return unsupported(missing_format_feature(
                        image.shape.format,
                        &image.name,
                        "SAMPLED_IMAGE_DEPTH_COMPARISON",
                    ));
                }
                let filters_linearly = |sampler: &JobSampler| {
                    sampler.filter == Filter::Linear || sampler.mipmap == Filter::Linear
                };
                if !format_features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR)
                    && meets_sampler(device_needs, job, bindings, binding, filters_linearly)
                {
                    return unsupported(missing_format_feature(
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
fn meets_sampler(
    device_needs: &DeviceNeeds,
    job: &WireJob,
    bindings: &[WireBinding],
    image_binding: &WireBinding,
    sampler_test: impl Fn(&JobSampler) -> bool,
) -> bool {
    let has_kind = |sampler: u32| job.samplers.get(sampler as usize).is_some_and(&sampler_test);
    if let JobView::Combined(_, sampler) = image_binding.view {
        return has_kind(sampler);
    }
    let binding_numbers = |binding: &WireBinding| (binding.set, binding.binding);
    let is_combined = |sampler: &WireBinding| {
        device_needs.combined.contains(&(binding_numbers(image_binding), binding_numbers(sampler)))
    };
    bindings.iter().any(|other_binding| match other_binding.view {
        JobView::Sampler(sampler) => has_kind(sampler) && is_combined(other_binding),
        JobView::Bytes | JobView::Texels(_) | JobView::Image(_) | JobView::Combined(..) => false,
    })
}

/// That class and view are of one kind.
fn check_kind(binding: &WireBinding) -> Result<(), Ending> {
    let kind_agrees = match binding.class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic => binding.view == JobView::Bytes,
        DescriptorClass::UniformTexel | DescriptorClass::StorageTexel => {
            matches!(binding.view, JobView::Texels(_))
        }
        DescriptorClass::StorageImage | DescriptorClass::SampledImage => {
            matches!(binding.view, JobView::Image(_))
        }
        DescriptorClass::Sampler => matches!(binding.view, JobView::Sampler(_)),
        DescriptorClass::Combined => matches!(binding.view, JobView::Combined(..)),
    };
    if kind_agrees {
        return Ok(());
    }
    let binding_place = binding_name(binding.set, binding.binding);
    error(format!(
        "{binding_place} is bound as {}, and the job binds something else there",
        binding.class.name()
    ))
}

fn lies_within(view: &ImageView, image: &WireImage) -> bool {
    let is_inside = |first_index: u32, item_count: u32, total_count: u32| {
        item_count > 0 && first_index.checked_add(item_count).is_some_and(|end| end <= total_count)
    };
    is_inside(view.level, view.levels, image.shape.levels)
        && is_inside(view.layer, view.layers, image.shape.layers)
}

fn check_texels(
    device: &Device,
    binding: &WireBinding,
    texel_format: ImageFormat,
    is_atomic: bool,
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    let binding_place = binding_name(binding.set, binding.binding);
    let buffer_features = device.format_features(vulkan_format(texel_format)).buffer_features;
    let (wanted_feature, feature_name) = if binding.class == DescriptorClass::StorageTexel {
        (vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER, "STORAGE_TEXEL_BUFFER")
    } else {
        (vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER, "UNIFORM_TEXEL_BUFFER")
    };
    let atomic_feature =
        (vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER_ATOMIC, "STORAGE_TEXEL_BUFFER_ATOMIC");
    let needed_features =
        [Some((wanted_feature, feature_name)), is_atomic.then_some(atomic_feature)];
    if let Some((_, missing_feature)) = needed_features
        .into_iter()
        .flatten()
        .find(|(feature, _)| !buffer_features.contains(*feature))
    {
        return unsupported(format!(
            "{binding_place}: format {texel_format} (format feature {missing_feature} of VK_FORMAT_{:?})",
            vulkan_format(texel_format)
        ));
    }
    let texel_size = texel_format.texel_size() as u64;
    if !binding.range.is_multiple_of(texel_size) {
        return error(format!(
            "{binding_place}: {} bytes are no whole number of {texel_format} texels",
            binding.range
        ));
    }
    let (element_count, most_elements) = (binding.range / texel_size, limits.texel_elements);
    if element_count > u64::from(most_elements) {
        return unsupported(format!(
            "{element_count} texels ({binding_place}; maxTexelBufferElements is {most_elements})"
        ));
    }
    if !binding.offset.is_multiple_of(limits.texel_alignment) {
        let (offset, alignment) = (binding.offset, limits.texel_alignment);
        return unsupported(format!(
            "offset {offset} ({binding_place}; minTexelBufferOffsetAlignment is {alignment})"
        ));
    }
    Ok(())
}
