//! An open device: one queue (`queue`), one kind of memory, the features a compute kernel may need.
//!
//! Knows: which memory type serves; what the device is able to do ([`Abilities`]).
//! Promises: everything that is created from a device holds it by [`Rc`], so it closes last.
//! Does not cover: what runs on it (`session`).

use super::capability::Abilities;
use super::features::Features;
use super::identification::identify;
use super::identity::{DeviceChoice, DeviceIdentity, NoVulkan};
use super::instance::{Instance, failed};
use super::older::Older;
use super::pipeline_cache::CacheOwner;
use super::queue::{self, Family};
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
        write!(f, "{}: {}", self.call, describe::result(self.result))
    }
}

pub(crate) struct Device {
    pub raw: ash::Device,
    pub queue: vk::Queue,
    pub family: Family,
    /// Host-visible and coherent; cached where there is such a type.
    pub memory_type: u32,
    /// Host-visible and coherent; in the device's own memory where there is such a type.
    pub near_memory_type: u32,
    pub identity: DeviceIdentity,
    pub abilities: Abilities,
    /// The API version in use.
    pub version: u32,
    physical: vk::PhysicalDevice,
    pub instance: Rc<Instance>,
}

impl Device {
    pub(crate) fn open(
        instance: Rc<Instance>,
        choice: &DeviceChoice,
        robustness: Robustness,
    ) -> Result<Self, NoVulkan> {
        let physical = instance.physical_devices()?;
        let identities: Vec<DeviceIdentity> = physical
            .iter()
            .enumerate()
            .map(|(index, device)| identify(&instance, index, *device))
            .collect();
        let place = choice.choose(&identities)?;
        let (physical, identity) = (physical[place], identities[place].clone());
        let version = version::usable(instance.api_version(physical), &identity.name)?;
        let family = family(&instance, physical, &identity)?;
        let offered = instance.features(physical);
        let granted = robustness::grant(robustness, &offered);
        let features = offered.for_compute(&granted);
        let raw = create(&instance, physical, family.index, &features)?;
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { raw.get_device_queue(family.index, 0) };
        let abilities = abilities(&instance, physical, features, granted);
        let mut device = Self {
            raw,
            queue,
            family,
            memory_type: 0,
            near_memory_type: 0,
            identity,
            abilities,
            version,
            physical,
            instance,
        };
        [device.memory_type, device.near_memory_type] = device.choose_memory(physical)?;
        Ok(device)
    }

    /// Everything a buffer is used for.
    pub(crate) fn buffer_usage(&self) -> vk::BufferUsageFlags {
        match self.addresses() {
            vk::MemoryAllocateFlags::DEVICE_ADDRESS => {
                BUFFER_USAGE | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            }
            _ => BUFFER_USAGE,
        }
    }

    /// How memory for buffers is allocated: for device addresses where the feature is on.
    pub(crate) fn addresses(&self) -> vk::MemoryAllocateFlags {
        if self.abilities.features.v12.buffer_device_address == vk::TRUE {
            vk::MemoryAllocateFlags::DEVICE_ADDRESS
        } else {
            vk::MemoryAllocateFlags::empty()
        }
    }

    /// Whom pipeline cache data of this device belong to.
    pub(crate) fn cache_owner(&self) -> CacheOwner {
        // SAFETY: the handle comes from this instance.
        let own = unsafe { self.instance.raw.get_physical_device_properties(self.physical) };
        CacheOwner {
            vendor_id: own.vendor_id,
            device_id: own.device_id,
            driver_version: own.driver_version,
            uuid: own.pipeline_cache_uuid,
        }
    }

    pub(crate) fn format_features(&self, format: vk::Format) -> vk::FormatProperties {
        // SAFETY: the handle comes from this instance.
        unsafe { self.instance.raw.get_physical_device_format_properties(self.physical, format) }
    }

    /// What the device takes of such images; none: nothing.
    pub(crate) fn image_format(
        &self,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Option<vk::ImageFormatProperties> {
        // SAFETY: the handle comes from this instance.
        let offered = unsafe {
            self.instance.raw.get_physical_device_image_format_properties(
                self.physical,
                info.format,
                info.image_type,
                info.tiling,
                info.usage,
                info.flags,
            )
        };
        offered.ok()
    }

    /// The type of memory for an image: the device's own where it can be.
    pub(crate) fn image_memory_type(&self, usable: u32) -> u32 {
        // SAFETY: the handle comes from this instance.
        let memory =
            unsafe { self.instance.raw.get_physical_device_memory_properties(self.physical) };
        let own = memory.memory_types_as_slice().iter().enumerate().find(|(index, kind)| {
            usable >> index & 1 == 1
                && kind.property_flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
        });
        own.map_or(usable.trailing_zeros(), |(index, _)| index as u32)
    }

    /// All buffers have the same usage and flags, so one buffer's memory types are every buffer's
    /// (Vulkan specification, VkMemoryRequirements).
    fn choose_memory(&self, physical: vk::PhysicalDevice) -> Result<[u32; 2], NoVulkan> {
        use vk::MemoryPropertyFlags as Property;
        let info = vk::BufferCreateInfo::default().size(256).usage(self.buffer_usage());
        // SAFETY: the device is open; the buffer is destroyed before anything else can use it.
        let usable = unsafe {
            let probe = self
                .raw
                .create_buffer(&info, None)
                .map_err(|error| failed("vkCreateBuffer", error))?;
            let requirements = self.raw.get_buffer_memory_requirements(probe);
            self.raw.destroy_buffer(probe, None);
            requirements.memory_type_bits
        };
        // SAFETY: the handle comes from this instance.
        let memory = unsafe { self.instance.raw.get_physical_device_memory_properties(physical) };
        let plain = Property::HOST_VISIBLE | Property::HOST_COHERENT;
        let find = |wanted: Property| {
            let types = memory.memory_types_as_slice().iter().enumerate();
            let mut fitting = types.filter(|(index, kind)| {
                usable >> index & 1 == 1 && kind.property_flags.contains(wanted)
            });
            fitting.next().map(|(index, _)| index as u32)
        };
        let read_back = find(plain | Property::HOST_CACHED).or_else(|| find(plain));
        let near = find(plain | Property::DEVICE_LOCAL).or(read_back);
        read_back.zip(near).map(|(read_back, near)| [read_back, near]).ok_or_else(|| {
            NoVulkan::Incapable {
                device: self.identity.name.clone(),
                what: "host-visible, coherent memory for buffers".to_owned(),
            }
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: whatever was created from the device held it by Rc and is gone.
        unsafe { self.raw.destroy_device(None) }
    }
}

fn family(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    identity: &DeviceIdentity,
) -> Result<Family, NoVulkan> {
    // SAFETY: the handle comes from this instance.
    let families = unsafe { instance.raw.get_physical_device_queue_family_properties(physical) };
    queue::choose(&families).ok_or_else(|| NoVulkan::Incapable {
        device: identity.name.clone(),
        what: "a queue family with compute".to_owned(),
    })
}

fn create(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    features: &Features,
) -> Result<ash::Device, NoVulkan> {
    let queues =
        [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let extensions: Vec<*const c_char> =
        features.extensions().iter().map(|name| name.as_ptr()).collect();
    let mut switched_on = features.clone();
    let mut older = Older::of(features);
    let mut chain = switched_on.chain(&mut older);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut chain);
    // SAFETY: every pointer in `info` lives until the call returns; features and extensions are the
    // device's own.
    unsafe { instance.raw.create_device(physical, &info, None) }
        .map_err(|error| failed("vkCreateDevice", error))
}

fn abilities(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    features: Features,
    mut robustness: Granted,
) -> Abilities {
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut float_controls = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut alignments = vk::PhysicalDeviceRobustness2PropertiesEXT::default();
    let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup);
    if features.has(khr::shader_float_controls::NAME) {
        chain = chain.push_next(&mut float_controls);
    }
    if robustness.buffers == Level::Strict {
        chain = chain.push_next(&mut alignments);
    }
    instance.properties(physical, &mut chain);
    let in_compute = subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE);
    float_controls.p_next = std::ptr::null_mut();
    if robustness.buffers == Level::Strict {
        let storage = alignments.robust_storage_buffer_access_size_alignment;
        robustness.alignments =
            Some([storage, alignments.robust_uniform_buffer_access_size_alignment]);
    }
    Abilities {
        features,
        subgroup: if in_compute {
            subgroup.supported_operations
        } else {
            vk::SubgroupFeatureFlags::empty()
        },
        float_controls,
        robustness,
    }
}
