//! Asking the devices of a machine who they are.
//!
//! Knows: which properties identify a device, and which of them a version or an extension has.
//! Does not cover: which of them is used (`identity`), what it can do (`capability`).

use super::identity::{DeviceIdentity, DeviceLimits, KINDS, NoVulkan};
use super::instance::Instance;
use super::{ValidationLayers, describe, version};
use ash::{ext, khr, vk};
use vkcert_model::canonical::hexadecimal_digits;
use vkcert_model::device_type::DeviceType;

/// Every device of this machine, asked in this process. A driver that crashes takes the process
/// with it: commands that must survive that ask a worker instead
/// ([`super::VulkanExecutor::devices`]).
pub fn devices() -> Result<Vec<DeviceIdentity>, NoVulkan> {
    let instance = Instance::open(ValidationLayers::Off, version::NEWEST_VERSION)?;
    let physical_devices = instance.physical_devices()?;
    if physical_devices.is_empty() {
        return Err(NoVulkan::NoDevice);
    }
    Ok(physical_devices
        .into_iter()
        .enumerate()
        .map(|(index, device)| identify_device(&instance, index, device))
        .collect())
}

/// Asks a physical device who it is.
pub(super) fn identify_device(
    instance: &Instance,
    device_index: usize,
    physical_device: vk::PhysicalDevice,
) -> DeviceIdentity {
    let mut id_properties = vk::PhysicalDeviceIDProperties::default();
    let mut subgroup_properties = vk::PhysicalDeviceSubgroupProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut size_properties = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let device_features = instance.query_features(physical_device);
    let mut property_chain = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut id_properties)
        .push_next(&mut subgroup_properties);
    if device_features.has(khr::driver_properties::NAME) {
        property_chain = property_chain.push_next(&mut driver);
    }
    if device_features.has(ext::subgroup_size_control::NAME) {
        property_chain = property_chain.push_next(&mut size_properties);
    }
    instance.fill_properties(physical_device, &mut property_chain);
    let core_properties = property_chain.properties;
    let chooses_size = device_features.v13.subgroup_size_control == vk::TRUE
        && size_properties.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
    let device_kind = KINDS
        .iter()
        .find(|(device_kind, _)| *device_kind == core_properties.device_type)
        .map_or(DeviceType::Other, |(_, known_type)| *known_type);
    DeviceIdentity {
        index: device_index,
        name: describe::text_of_chars(&core_properties.device_name),
        vendor_id: core_properties.vendor_id,
        device_id: core_properties.device_id,
        kind: device_kind,
        api_version: describe::version_text(core_properties.api_version),
        api_in_use: describe::version_text(instance.api_version(physical_device)),
        driver_name: describe::text_of_chars(&driver.driver_name),
        driver_info: describe::text_of_chars(&driver.driver_info),
        driver_version: core_properties.driver_version,
        device_uuid: hexadecimal_digits(&id_properties.device_uuid),
        driver_uuid: hexadecimal_digits(&id_properties.driver_uuid),
        subgroup_size: subgroup_properties.subgroup_size,
        subgroup_size_range: chooses_size
            .then_some([size_properties.min_subgroup_size, size_properties.max_subgroup_size]),
        subgroup_operations: subgroup_operations(&subgroup_properties),
        limits: device_limits(
            &core_properties.limits,
            chooses_size.then_some(size_properties.max_compute_workgroup_subgroups),
        ),
    }
}

pub(super) fn subgroup_operations(
    subgroup_properties: &vk::PhysicalDeviceSubgroupProperties<'_>,
) -> Vec<String> {
    use vk::SubgroupFeatureFlags as Flags;
    let operation_names = [
        (Flags::BASIC, "basic"),
        (Flags::VOTE, "vote"),
        (Flags::ARITHMETIC, "arithmetic"),
        (Flags::BALLOT, "ballot"),
        (Flags::SHUFFLE, "shuffle"),
        (Flags::SHUFFLE_RELATIVE, "shuffle relative"),
        (Flags::CLUSTERED, "clustered"),
        (Flags::QUAD, "quad"),
    ];
    if !subgroup_properties.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        return Vec::new();
    }
    let offered_operations = operation_names
        .iter()
        .filter(|(class, _)| subgroup_properties.supported_operations.contains(*class));
    offered_operations.map(|(_, name)| (*name).to_owned()).collect()
}

pub(super) fn device_limits(
    core_limits: &vk::PhysicalDeviceLimits,
    workgroup_subgroups: Option<u32>,
) -> DeviceLimits {
    DeviceLimits {
        workgroup_count: core_limits.max_compute_work_group_count,
        workgroup_size: core_limits.max_compute_work_group_size,
        workgroup_invocations: core_limits.max_compute_work_group_invocations,
        workgroup_memory: core_limits.max_compute_shared_memory_size,
        push_constants: core_limits.max_push_constants_size,
        storage_range: core_limits.max_storage_buffer_range,
        uniform_range: core_limits.max_uniform_buffer_range,
        storage_alignment: core_limits.min_storage_buffer_offset_alignment,
        uniform_alignment: core_limits.min_uniform_buffer_offset_alignment,
        descriptor_sets: core_limits.max_bound_descriptor_sets,
        storage_buffers: core_limits
            .max_per_stage_descriptor_storage_buffers
            .min(core_limits.max_descriptor_set_storage_buffers),
        uniform_buffers: core_limits
            .max_per_stage_descriptor_uniform_buffers
            .min(core_limits.max_descriptor_set_uniform_buffers),
        dynamic_storage_buffers: core_limits.max_descriptor_set_storage_buffers_dynamic,
        dynamic_uniform_buffers: core_limits.max_descriptor_set_uniform_buffers_dynamic,
        storage_images: core_limits
            .max_per_stage_descriptor_storage_images
            .min(core_limits.max_descriptor_set_storage_images),
        sampled_images: core_limits
            .max_per_stage_descriptor_sampled_images
            .min(core_limits.max_descriptor_set_sampled_images),
        samplers: core_limits
            .max_per_stage_descriptor_samplers
            .min(core_limits.max_descriptor_set_samplers),
        resources: core_limits.max_per_stage_resources,
        texel_alignment: core_limits.min_texel_buffer_offset_alignment.max(1),
        texel_elements: core_limits.max_texel_buffer_elements,
        sampler_lod_bias: core_limits.max_sampler_lod_bias,
        sub_texel_precision_bits: core_limits.sub_texel_precision_bits,
        mipmap_precision_bits: core_limits.mipmap_precision_bits,
        workgroup_subgroups,
        timestamp_period: core_limits.timestamp_period,
    }
}
