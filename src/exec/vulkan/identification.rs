//! Asking the devices of a machine who they are.
//!
//! Knows: which properties identify a device, and which of them a version or an extension has.
//! Does not cover: which of them is used (`identity`), what it can do (`capability`).

use super::identity::{DeviceIdentity, DeviceLimits, KINDS, NoVulkan};
use super::instance::Instance;
use super::{ValidationLayers, describe, version};
use ash::{ext, khr, vk};

/// Every device of this machine, asked in this process. A driver that crashes takes the process
/// with it: commands that must survive that ask a worker instead
/// ([`super::VulkanExecutor::devices`]).
pub fn devices() -> Result<Vec<DeviceIdentity>, NoVulkan> {
    let instance = Instance::open(ValidationLayers::Off, version::NEWEST)?;
    let physical = instance.physical_devices()?;
    if physical.is_empty() {
        return Err(NoVulkan::NoDevice);
    }
    Ok(physical
        .into_iter()
        .enumerate()
        .map(|(index, device)| identify(&instance, index, device))
        .collect())
}

/// Asks a physical device who it is.
pub(super) fn identify(
    instance: &Instance,
    index: usize,
    physical: vk::PhysicalDevice,
) -> DeviceIdentity {
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let features = instance.features(physical);
    let mut chain =
        vk::PhysicalDeviceProperties2::default().push_next(&mut id).push_next(&mut subgroup);
    if features.has(khr::driver_properties::NAME) {
        chain = chain.push_next(&mut driver);
    }
    if features.has(ext::subgroup_size_control::NAME) {
        chain = chain.push_next(&mut sizes);
    }
    instance.properties(physical, &mut chain);
    let core = chain.properties;
    let chooses = features.v13.subgroup_size_control == vk::TRUE
        && sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
    let kind =
        KINDS.iter().find(|(kind, _)| *kind == core.device_type).map_or("other", |(_, name)| name);
    DeviceIdentity {
        index,
        name: describe::text(&core.device_name),
        vendor_id: core.vendor_id,
        device_id: core.device_id,
        kind: kind.to_owned(),
        api_version: describe::version(core.api_version),
        api_in_use: describe::version(instance.api_version(physical)),
        driver_name: describe::text(&driver.driver_name),
        driver_info: describe::text(&driver.driver_info),
        driver_version: core.driver_version,
        device_uuid: describe::hexadecimal(&id.device_uuid),
        driver_uuid: describe::hexadecimal(&id.driver_uuid),
        subgroup_size: subgroup.subgroup_size,
        subgroup_size_range: chooses.then_some([sizes.min_subgroup_size, sizes.max_subgroup_size]),
        subgroup_operations: subgroup_operations(&subgroup),
        limits: limits(&core.limits, chooses.then_some(sizes.max_compute_workgroup_subgroups)),
    }
}

pub(super) fn subgroup_operations(
    subgroup: &vk::PhysicalDeviceSubgroupProperties<'_>,
) -> Vec<String> {
    use vk::SubgroupFeatureFlags as Flags;
    let classes = [
        (Flags::BASIC, "basic"),
        (Flags::VOTE, "vote"),
        (Flags::ARITHMETIC, "arithmetic"),
        (Flags::BALLOT, "ballot"),
        (Flags::SHUFFLE, "shuffle"),
        (Flags::SHUFFLE_RELATIVE, "shuffle relative"),
        (Flags::CLUSTERED, "clustered"),
        (Flags::QUAD, "quad"),
    ];
    if !subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        return Vec::new();
    }
    let offered =
        classes.iter().filter(|(class, _)| subgroup.supported_operations.contains(*class));
    offered.map(|(_, name)| (*name).to_owned()).collect()
}

pub(super) fn limits(
    core: &vk::PhysicalDeviceLimits,
    workgroup_subgroups: Option<u32>,
) -> DeviceLimits {
    DeviceLimits {
        workgroup_count: core.max_compute_work_group_count,
        workgroup_size: core.max_compute_work_group_size,
        workgroup_invocations: core.max_compute_work_group_invocations,
        workgroup_memory: core.max_compute_shared_memory_size,
        push_constants: core.max_push_constants_size,
        storage_range: core.max_storage_buffer_range,
        uniform_range: core.max_uniform_buffer_range,
        storage_alignment: core.min_storage_buffer_offset_alignment,
        uniform_alignment: core.min_uniform_buffer_offset_alignment,
        descriptor_sets: core.max_bound_descriptor_sets,
        storage_buffers: core
            .max_per_stage_descriptor_storage_buffers
            .min(core.max_descriptor_set_storage_buffers),
        uniform_buffers: core
            .max_per_stage_descriptor_uniform_buffers
            .min(core.max_descriptor_set_uniform_buffers),
        dynamic_storage_buffers: core.max_descriptor_set_storage_buffers_dynamic,
        dynamic_uniform_buffers: core.max_descriptor_set_uniform_buffers_dynamic,
        storage_images: core
            .max_per_stage_descriptor_storage_images
            .min(core.max_descriptor_set_storage_images),
        sampled_images: core
            .max_per_stage_descriptor_sampled_images
            .min(core.max_descriptor_set_sampled_images),
        samplers: core.max_per_stage_descriptor_samplers.min(core.max_descriptor_set_samplers),
        resources: core.max_per_stage_resources,
        texel_alignment: core.min_texel_buffer_offset_alignment.max(1),
        texel_elements: core.max_texel_buffer_elements,
        sampler_lod_bias: core.max_sampler_lod_bias,
        sub_texel_precision_bits: core.sub_texel_precision_bits,
        mipmap_precision_bits: core.mipmap_precision_bits,
        workgroup_subgroups,
        timestamp_period: core.timestamp_period,
    }
}
