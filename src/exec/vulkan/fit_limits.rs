//! Whether a dispatch stays within the limits of a device: numbers of descriptors, ranges, sizes.

use super::device::Device;
use super::fit::{Slot, error, place, push_size, unsupported};
use super::protocol::{Ending, WireBinding, WireDispatch};
use std::collections::BTreeMap;
use vkcert_exec::resource::JobView;
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::DeviceNeeds;

pub(super) fn check_sizes(
    device: &Device,
    needs: &DeviceNeeds,
    dispatch: &WireDispatch,
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let (groups, most) = (dispatch.groups[axis], limits.workgroup_count[axis]);
        if groups > most {
            return unsupported(format!(
                "{groups} workgroups in {name} (maxComputeWorkGroupCount is {most})"
            ));
        }
        let (size, most) =
            (needs.local_size.map_or(1, |size| size[axis]), limits.workgroup_size[axis]);
        if size > most {
            return unsupported(format!(
                "local size {size} in {name} (maxComputeWorkGroupSize is {most})"
            ));
        }
        if size == 0 {
            return error(format!("local size 0 in {name}"));
        }
    }
    let invocations =
        needs.local_size.map_or(1, |size| size.iter().map(|axis| u64::from(*axis)).product());
    let bounded = [
        (
            invocations,
            u64::from(limits.workgroup_invocations),
            "invocations in a workgroup",
            "maxComputeWorkGroupInvocations",
        ),
        (
            needs.workgroup_memory.unwrap_or(0),
            u64::from(limits.workgroup_memory),
            "bytes of workgroup memory",
            "maxComputeSharedMemorySize",
        ),
        (
            u64::from(push_size(needs, dispatch)),
            u64::from(limits.push_constants),
            "bytes of push constants",
            "maxPushConstantsSize",
        ),
    ];
    match bounded.into_iter().find(|(value, most, ..)| value > most) {
        Some((value, most, what, limit)) => {
            unsupported(format!("{value} {what} ({limit} is {most})"))
        }
        None => Ok(()),
    }
}

pub(super) fn check_counts(device: &Device, sets: &[BTreeMap<u32, Slot>]) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    let count = |classes: &[DescriptorClass]| -> u64 {
        let slots = sets.iter().flat_map(BTreeMap::values);
        slots.filter(|slot| classes.contains(&slot.class)).map(|slot| u64::from(slot.count)).sum()
    };
    use DescriptorClass as Class;
    let all = sets.iter().flat_map(BTreeMap::values).map(|slot| u64::from(slot.count)).sum::<u64>();
    if all > u64::from(limits.resources) {
        return unsupported(format!(
            "{all} descriptors (maxPerStageResources is {})",
            limits.resources
        ));
    }
    let rows: [(&[Class], u32, &str, &str); 7] = [
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
    for (classes, most, class, limit) in rows {
        let count = count(classes);
        if count > u64::from(most) {
            return unsupported(format!(
                "{count} descriptors of class {class} ({limit} is {most})"
            ));
        }
    }
    Ok(())
}

/// Checks range and alignment of each binding against the lengths of the job's buffers.
pub(crate) fn check_ranges(
    device: &Device,
    bindings: &[WireBinding],
    lengths: &[usize],
) -> Result<(), Ending> {
    let limits = &device.identity.limits;
    for bound in bindings {
        let place = place(bound.set, bound.binding);
        if matches!(bound.view, JobView::Image(_) | JobView::Combined(..) | JobView::Sampler(_)) {
            // Images are held to their own sizes (`image_fit`).
            continue;
        }
        let Some(length) = lengths.get(bound.buffer as usize) else {
            return error(format!("{place} names a buffer that the job does not have"));
        };
        let (alignment, alignment_limit, most, most_limit, dynamic) = match bound.class {
            DescriptorClass::Uniform | DescriptorClass::UniformDynamic => (
                limits.uniform_alignment,
                "minUniformBufferOffsetAlignment",
                limits.uniform_range,
                "maxUniformBufferRange",
                bound.class == DescriptorClass::UniformDynamic,
            ),
            DescriptorClass::Storage | DescriptorClass::StorageDynamic => (
                limits.storage_alignment,
                "minStorageBufferOffsetAlignment",
                limits.storage_range,
                "maxStorageBufferRange",
                bound.class == DescriptorClass::StorageDynamic,
            ),
            // Texel buffers have limits of their own (`image_fit`).
            DescriptorClass::UniformTexel
            | DescriptorClass::StorageTexel
            | DescriptorClass::StorageImage
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined => (1, "", u32::MAX, "", false),
        };
        let dynamic_offset = if dynamic { bound.dynamic_offset } else { 0 };
        let end = [bound.offset, dynamic_offset, bound.range]
            .into_iter()
            .try_fold(0_u64, u64::checked_add);
        if end.is_none_or(|end| end > *length as u64) {
            return error(format!("{place} reaches beyond its buffer of {length} bytes"));
        }
        if bound.range == 0 {
            return unsupported(format!("a descriptor range of 0 bytes ({place})"));
        }
        if bound.range > u64::from(most) {
            return unsupported(format!(
                "a range of {} bytes ({place}; {most_limit} is {most})",
                bound.range
            ));
        }
        if let Some(offset) =
            [bound.offset, dynamic_offset].into_iter().find(|offset| offset % alignment != 0)
        {
            return unsupported(format!(
                "offset {offset} ({place}; {alignment_limit} is {alignment})"
            ));
        }
    }
    Ok(())
}
