//! Whether a dispatch stays within the limits of a device: numbers of descriptors, ranges, sizes.

use super::device::Device;
use super::fit::{LayoutSlot, binding_name, error, push_constant_size, unsupported};
use super::protocol::{Ending, WireBinding, WireDispatch};
use std::collections::BTreeMap;
use vkcert_exec::resource::JobView;
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::DeviceNeeds;

pub(super) fn check_sizes(
    device: &Device,
    device_needs: &DeviceNeeds,
    dispatch: &WireDispatch,
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    for (axis, axis_name) in ["x", "y", "z"].into_iter().enumerate() {
        let (workgroup_count, most_workgroups) =
            (dispatch.groups[axis], limits.workgroup_count[axis]);
        if workgroup_count > most_workgroups {
            return unsupported(format!(
                "{workgroup_count} workgroups in {axis_name} (maxComputeWorkGroupCount is {most_workgroups})"
            ));
        }
        let (axis_size, most_invocations) = (
            device_needs.local_size.map_or(1, |local_size| local_size[axis]),
            limits.workgroup_size[axis],
        );
        if axis_size > most_invocations {
            return unsupported(format!(
                "local size {axis_size} in {axis_name} (maxComputeWorkGroupSize is {most_invocations})"
            ));
        }
        if axis_size == 0 {
            return error(format!("local size 0 in {axis_name}"));
        }
    }
    let invocation_count = device_needs
        .local_size
        .map_or(1, |axis_size| axis_size.iter().map(|axis| u64::from(*axis)).product());
    let bounded_values = [
        (
            invocation_count,
            u64::from(limits.workgroup_invocations),
            "invocations in a workgroup",
            "maxComputeWorkGroupInvocations",
        ),
        (
            device_needs.workgroup_memory.unwrap_or(0),
            u64::from(limits.workgroup_memory),
            "bytes of workgroup memory",
            "maxComputeSharedMemorySize",
        ),
        (
            u64::from(push_constant_size(device_needs, dispatch)),
            u64::from(limits.push_constants),
            "bytes of push constants",
            "maxPushConstantsSize",
        ),
    ];
    match bounded_values.into_iter().find(|(value, most_allowed, ..)| value > most_allowed) {
        Some((value, most_allowed, bounded_quantity, limit_name)) => {
            unsupported(format!("{value} {bounded_quantity} ({limit_name} is {most_allowed})"))
        }
        None => Ok(()),
    }
}

pub(super) fn check_counts(
    device: &Device,
    sets: &[BTreeMap<u32, LayoutSlot>],
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    let descriptor_count = |classes: &[DescriptorClass]| -> u64 {
        let all_slots = sets.iter().flat_map(BTreeMap::values);
        all_slots
            .filter(|slot| classes.contains(&slot.class))
            .map(|slot| u64::from(slot.count))
            .sum()
    };
    use DescriptorClass as Class;
    let total_count =
        sets.iter().flat_map(BTreeMap::values).map(|slot| u64::from(slot.count)).sum::<u64>();
    if total_count > u64::from(limits.resources) {
        return unsupported(format!(
            "{total_count} descriptors (maxPerStageResources is {})",
            limits.resources
        ));
    }
    let limit_rows: [(&[Class], u32, &str, &str); 7] = [
        (
            &[Class::Storage, Class::StorageDynamic],
            limits.storage_buffers,
            "storage",
            "maxPerStageDescriptorStorageBuffers",
        ),
        (
            &[Class::Uniform, Class::UniformDynamic],
            limits.uniform_buffers,
            "uniform",
            "maxPerStageDescriptorUniformBuffers",
        ),
        (
            &[Class::StorageDynamic],
            limits.dynamic_storage_buffers,
            "storage_dynamic",
            "maxDescriptorSetStorageBuffersDynamic",
        ),
        (
            &[Class::UniformDynamic],
            limits.dynamic_uniform_buffers,
            "uniform_dynamic",
            "maxDescriptorSetUniformBuffersDynamic",
        ),
        (
            &[Class::StorageImage, Class::StorageTexel],
            limits.storage_images,
            "storage_image and storage_texel",
            "maxPerStageDescriptorStorageImages",
        ),
        (
            &[Class::SampledImage, Class::Combined, Class::UniformTexel],
            limits.sampled_images,
            "sampled_image, combined and uniform_texel",
            "maxPerStageDescriptorSampledImages",
        ),
        (
            &[Class::Sampler, Class::Combined],
            limits.samplers,
            "sampler and combined",
            "maxPerStageDescriptorSamplers",
        ),
    ];
    for (classes, most, class, limit) in limit_rows {
        let descriptor_count = descriptor_count(classes);
        if descriptor_count > u64::from(most) {
            return unsupported(format!(
                "{descriptor_count} descriptors of class {class} ({limit} is {most})"
            ));
        }
    }
    Ok(())
}

/// Checks range and alignment of each binding against the lengths of the job's buffers.
pub(crate) fn check_ranges(
    device: &Device,
    bindings: &[WireBinding],
    buffer_lengths: &[usize],
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    for binding in bindings {
        let binding_place = binding_name(binding.set, binding.binding);
        if matches!(binding.view, JobView::Image(_) | JobView::Combined(..) | JobView::Sampler(_)) {
            // Images are held to their own sizes (`image_fit`).
            continue;
        }
        let Some(buffer_length) = buffer_lengths.get(binding.buffer as usize) else {
            return error(format!("{binding_place} names a buffer that the job does not have"));
        };
        let (alignment, alignment_limit, most_bytes, most_limit, is_dynamic) = match binding.class {
            DescriptorClass::Uniform | DescriptorClass::UniformDynamic => (
                limits.uniform_alignment,
                "minUniformBufferOffsetAlignment",
                limits.uniform_range,
                "maxUniformBufferRange",
                binding.class == DescriptorClass::UniformDynamic,
            ),
            DescriptorClass::Storage | DescriptorClass::StorageDynamic => (
                limits.storage_alignment,
                "minStorageBufferOffsetAlignment",
                limits.storage_range,
                "maxStorageBufferRange",
                binding.class == DescriptorClass::StorageDynamic,
            ),
            // Texel buffers have limits of their own (`image_fit`).
            DescriptorClass::UniformTexel
            | DescriptorClass::StorageTexel
            | DescriptorClass::StorageImage
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined => (1, "", u32::MAX, "", false),
        };
        let dynamic_offset = if is_dynamic { binding.dynamic_offset } else { 0 };
        let range_end = [binding.offset, dynamic_offset, binding.range]
            .into_iter()
            .try_fold(0_u64, u64::checked_add);
        if range_end.is_none_or(|range_end| range_end > *buffer_length as u64) {
            return error(format!(
                "{binding_place} reaches beyond its buffer of {buffer_length} bytes"
            ));
        }
        if binding.range == 0 {
            return unsupported(format!("a descriptor range of 0 bytes ({binding_place})"));
        }
        if binding.range > u64::from(most_bytes) {
            return unsupported(format!(
                "a range of {} bytes ({binding_place}; {most_limit} is {most_bytes})",
                binding.range
            ));
        }
        if let Some(offset) =
            [binding.offset, dynamic_offset].into_iter().find(|offset| offset % alignment != 0)
        {
            return unsupported(format!(
                "offset {offset} ({binding_place}; {alignment_limit} is {alignment})"
            ));
        }
    }
    Ok(())
}
