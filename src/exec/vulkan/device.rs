//! An open device: one queue (`queue`), one kind of memory, the features a compute kernel may need.
//!
//! Knows: which memory type serves; what the device is able to do ([`Abilities`]).
//! Promises: everything that is created from a device holds it by [`Rc`], so it closes last.
//! Does not cover: what runs on it (`session`).

use super::capability::Abilities;
use super::features::Features;
use super::identification::identify_device;
use super::identity::{DeviceChoice, DeviceIdentity, NoVulkan};
use super::instance::{Instance, call_failed};
use super::older::Older;
use super::pipeline_cache::CacheOwner;
use super::queue::{self, QueueFamily};
use super::robustness::{self, Granted, Level, Robustness};
use super::{describe, version};
use ash::{khr, vk};
use std::ffi::c_char;
use std::rc::Rc;

/// Everything a buffer of this engine is used for on every device; `Device::buffer_usage` adds
/// addresses.
const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// A call of the API that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallFailure {
    pub call: &'static str,
    pub result: vk::Result,
}

/// Names the call in a failure: `device.create_fence(..).map_err(during("vkCreateFence"))`.
pub(crate) fn during(call: &'static str) -> impl FnOnce(vk::Result) -> CallFailure {
    move |result| CallFailure { call, result }
}

impl std::fmt::Display for CallFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.call, describe::result_name(self.result))
    }
}

pub(crate) struct Device {
    pub raw: ash::Device,
    pub queue: vk::Queue,
    pub family: QueueFamily,
    /// Host-visible and coherent; cached where there is such a type.
    pub memory_type: u32,
    /// Host-visible and coherent; in the device's own memory where there is such a type.
    pub near_memory_type: u32,
    pub identity: DeviceIdentity,
    pub abilities: Abilities,
    /// The API version in use.
    pub version: u32,
    physical_device: vk::PhysicalDevice,
    pub instance: Rc<Instance>,
}

impl Device {
    pub(crate) fn open(
        instance: Rc<Instance>,
        device_choice: &DeviceChoice,
        robustness: Robustness,
    ) -> Result<Self, NoVulkan> {
        let physical_devices = instance.physical_devices()?;
        let mut identities: Vec<DeviceIdentity> = physical_devices
            .iter()
            .enumerate()
            .map(|(index, new_device)| identify_device(&instance, index, *new_device))
            .collect();
        let chosen_index = device_choice.choose_device(&identities)?;
        let (physical_device, identity) =
            (physical_devices[chosen_index], identities.swap_remove(chosen_index));
        let usable_version =
            version::usable_version(instance.api_version(physical_device), &identity.name)?;
        let queue_family = choose_family(&instance, physical_device, &identity)?;
        let offered_features = instance.query_features(physical_device);
        let granted_robustness = robustness::grant_robustness(robustness, &offered_features);
        let enabled_features = offered_features.for_compute(&granted_robustness);
        let raw_device =
            create_device(&instance, physical_device, queue_family.index, &enabled_features)?;
        // SAFETY: the device was created with one queue of this family.
        let device_queue = unsafe { raw_device.get_device_queue(queue_family.index, 0) };
        let device_abilities =
            query_abilities(&instance, physical_device, enabled_features, granted_robustness);
        let mut new_device = Self {
            raw: raw_device,
            queue: device_queue,
            family: queue_family,
            memory_type: 0,
            near_memory_type: 0,
            identity,
            abilities: device_abilities,
            version: usable_version,
            physical_device,
            instance,
        };
        [new_device.memory_type, new_device.near_memory_type] =
            new_device.choose_memory(physical_device)?;
        Ok(new_device)
    }

    /// Everything a buffer is used for.
    pub(crate) fn buffer_usage(&self) -> vk::BufferUsageFlags {
        match self.address_allocate_flags() {
            vk::MemoryAllocateFlags::DEVICE_ADDRESS => {
                BUFFER_USAGE | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            }
            _ => BUFFER_USAGE,
        }
    }

    /// How memory for buffers is allocated: for device addresses where the feature is on.
    pub(crate) fn address_allocate_flags(&self) -> vk::MemoryAllocateFlags {
        if self.abilities.features.v12.buffer_device_address == vk::TRUE {
            vk::MemoryAllocateFlags::DEVICE_ADDRESS
        } else {
            vk::MemoryAllocateFlags::empty()
        }
    }

    /// Whom pipeline cache data of this device belong to.
    pub(crate) fn cache_owner(&self) -> CacheOwner {
        // SAFETY: the handle comes from this instance.
        let device_properties =
            unsafe { self.instance.raw.get_physical_device_properties(self.physical_device) };
        CacheOwner {
            vendor_id: device_properties.vendor_id,
            device_id: device_properties.device_id,
            driver_version: device_properties.driver_version,
            uuid: device_properties.pipeline_cache_uuid,
        }
    }

    pub(crate) fn format_features(&self, format: vk::Format) -> vk::FormatProperties {
        // SAFETY: the handle comes from this instance.
        unsafe {
            self.instance.raw.get_physical_device_format_properties(self.physical_device, format)
        }
    }

    /// What the device takes of such images; none: nothing.
    pub(crate) fn image_format_limits(
        &self,
        create_info: &vk::ImageCreateInfo<'_>,
    ) -> Option<vk::ImageFormatProperties> {
        // SAFETY: the handle comes from this instance.
        let format_limits = unsafe {
            self.instance.raw.get_physical_device_image_format_properties(
                self.physical_device,
                create_info.format,
                create_info.image_type,
                create_info.tiling,
                create_info.usage,
                create_info.flags,
            )
        };
        format_limits.ok()
    }

    /// The type of memory for an image: the device's own where it can be.
    pub(crate) fn image_memory_type(&self, usable_types: u32) -> u32 {
        // SAFETY: the handle comes from this instance.
        let memory_properties = unsafe {
            self.instance.raw.get_physical_device_memory_properties(self.physical_device)
        };
        let local_type = memory_properties.memory_types_as_slice().iter().enumerate().find(
            |(type_index, memory_type)| {
                usable_types >> type_index & 1 == 1
                    && memory_type.property_flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
            },
        );
        local_type.map_or(usable_types.trailing_zeros(), |(type_index, _)| type_index as u32)
    }

    /// All buffers have the same usage and flags, so one buffer's memory types are every buffer's
    /// (Vulkan specification, VkMemoryRequirements).
    fn choose_memory(&self, physical_device: vk::PhysicalDevice) -> Result<[u32; 2], NoVulkan> {
        use vk::MemoryPropertyFlags as Property;
        let create_info = vk::BufferCreateInfo::default().size(256).usage(self.buffer_usage());
        // SAFETY: the device is open; the buffer is destroyed before anything else can use it.
        let usable_types = unsafe {
            let probe_buffer = self
                .raw
                .create_buffer(&create_info, None)
                .map_err(|error| call_failed("vkCreateBuffer", error))?;
            let requirements = self.raw.get_buffer_memory_requirements(probe_buffer);
            self.raw.destroy_buffer(probe_buffer, None);
            requirements.memory_type_bits
        };
        // SAFETY: the handle comes from this instance.
        let memory_properties =
            unsafe { self.instance.raw.get_physical_device_memory_properties(physical_device) };
        let plain_properties = Property::HOST_VISIBLE | Property::HOST_COHERENT;
        let find_type = |wanted_properties: Property| {
            let memory_types = memory_properties.memory_types_as_slice().iter().enumerate();
            let mut fitting_types = memory_types.filter(|(type_index, memory_type)| {
                usable_types >> type_index & 1 == 1
                    && memory_type.property_flags.contains(wanted_properties)
            });
            fitting_types.next().map(|(type_index, _)| type_index as u32)
        };
        let read_back_type = find_type(plain_properties | Property::HOST_CACHED)
            .or_else(|| find_type(plain_properties));
        let near_type = find_type(plain_properties | Property::DEVICE_LOCAL).or(read_back_type);
        read_back_type
            .zip(near_type)
            .map(|(read_back_type, near_type)| [read_back_type, near_type])
            .ok_or_else(|| NoVulkan::Incapable {
                device: self.identity.name.clone(),
                what: "host-visible, coherent memory for buffers".to_owned(),
            })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: whatever was created from the device held it by Rc and is gone.
        unsafe { self.raw.destroy_device(None) }
    }
}

fn choose_family(
    instance: &Instance,
    physical_device: vk::PhysicalDevice,
    identity: &DeviceIdentity,
) -> Result<QueueFamily, NoVulkan> {
    // SAFETY: the handle comes from this instance.
    let queue_families =
        unsafe { instance.raw.get_physical_device_queue_family_properties(physical_device) };
    queue::choose_queue_family(&queue_families).ok_or_else(|| NoVulkan::Incapable {
        device: identity.name.clone(),
        what: "a queue family with compute".to_owned(),
    })
}

fn create_device(
    instance: &Instance,
    physical_device: vk::PhysicalDevice,
    family_index: u32,
    features: &Features,
) -> Result<ash::Device, NoVulkan> {
    let queue_infos = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family_index)
        .queue_priorities(&[1.0])];
    let extension_names: Vec<*const c_char> =
        features.enabled_extensions().iter().map(|name| name.as_ptr()).collect();
    let mut switched_on = features.clone();
    let mut older_structures = Older::of(features);
    let mut feature_chain = switched_on.chain_structures(&mut older_structures);
    let create_info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queue_infos)
        .enabled_extension_names(&extension_names)
        .push_next(&mut feature_chain);
    // SAFETY: every pointer in `info` lives until the call returns; features and extensions are the
    // device's own.
    unsafe { instance.raw.create_device(physical_device, &create_info, None) }
        .map_err(|error| call_failed("vkCreateDevice", error))
}

fn query_abilities(
    instance: &Instance,
    physical_device: vk::PhysicalDevice,
    features: Features,
    mut robustness: Granted,
) -> Abilities {
    let mut subgroup_properties = vk::PhysicalDeviceSubgroupProperties::default();
    let mut float_controls = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut robustness_properties = vk::PhysicalDeviceRobustness2PropertiesEXT::default();
    let mut property_chain =
        vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup_properties);
    if features.has(khr::shader_float_controls::NAME) {
        property_chain = property_chain.push_next(&mut float_controls);
    }
    if robustness.buffers == Level::Strict {
        property_chain = property_chain.push_next(&mut robustness_properties);
    }
    instance.fill_properties(physical_device, &mut property_chain);
    let in_compute_stage =
        subgroup_properties.supported_stages.contains(vk::ShaderStageFlags::COMPUTE);
    float_controls.p_next = std::ptr::null_mut();
    if robustness.buffers == Level::Strict {
        let storage_alignment = robustness_properties.robust_storage_buffer_access_size_alignment;
        robustness.alignments = Some([
            storage_alignment,
            robustness_properties.robust_uniform_buffer_access_size_alignment,
        ]);
    }
    Abilities {
        features,
        subgroup: if in_compute_stage {
            subgroup_properties.supported_operations
        } else {
            vk::SubgroupFeatureFlags::empty()
        },
        float_controls,
        robustness,
    }
}
