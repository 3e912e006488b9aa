//! Who a device is: names, versions, identifiers and the limits that decide what it can run.
//!
//! Knows: the answers of the physical-device queries, and how a user names a device.
//! Promises: asking never fails for want of a loader or a driver: [`NoVulkan`] says which of them
//! is missing.
//! Does not cover: opening a device (`device`).

use ash::vk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vkcert_exec::{DeviceAbsence, ExecError};
use vkcert_model::device_type::DeviceType;

/// A Vulkan device as reports and evidence identify it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// Place in the loader's enumeration; what `--device 0` means.
    pub index: usize,
    /// `VkPhysicalDeviceProperties::deviceName`.
    pub name: String,
    /// `VkPhysicalDeviceProperties::vendorID`.
    pub vendor_id: u32,
    /// `VkPhysicalDeviceProperties::deviceID`.
    pub device_id: u32,
    /// `VkPhysicalDeviceProperties::deviceType`.
    pub kind: DeviceType,
    /// `1.3.230`; the device's own.
    pub api_version: String,
    /// The version in use, at most what loader and engine know.
    pub api_in_use: String,
    /// `VkPhysicalDeviceDriverProperties::driverName`.
    pub driver_name: String,
    /// `VkPhysicalDeviceDriverProperties::driverInfo`.
    pub driver_info: String,
    /// As the driver packs it; its layout is the vendor's own.
    pub driver_version: u32,
    /// 32 hexadecimal digits.
    pub device_uuid: String,
    /// 32 hexadecimal digits.
    pub driver_uuid: String,
    /// Invocations of a subgroup where nothing else is asked for.
    pub subgroup_size: u32,
    /// Smallest and largest subgroup size that can be asked for; none: it cannot be chosen.
    pub subgroup_size_range: Option<[u32; 2]>,
    /// Classes of subgroup operations in compute shaders: `basic`, `vote`, `arithmetic` ...; empty
    /// where there are none.
    pub subgroup_operations: Vec<String>,
    /// Limits that kernels and tests are held to.
    pub limits: DeviceLimits,
}

/// Device limits that decide whether a job fits (Vulkan specification, "Required Limits").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceLimits {
    /// maxComputeWorkGroupCount
    pub workgroup_count: [u32; 3],
    /// maxComputeWorkGroupSize
    pub workgroup_size: [u32; 3],
    /// maxComputeWorkGroupInvocations
    pub workgroup_invocations: u32,
    /// maxComputeSharedMemorySize, bytes
    pub workgroup_memory: u32,
    /// maxPushConstantsSize, bytes
    pub push_constants: u32,
    /// maxStorageBufferRange, bytes
    pub storage_range: u32,
    /// maxUniformBufferRange, bytes
    pub uniform_range: u32,
    /// minStorageBufferOffsetAlignment, bytes
    pub storage_alignment: u64,
    /// minUniformBufferOffsetAlignment, bytes
    pub uniform_alignment: u64,
    /// maxBoundDescriptorSets
    pub descriptor_sets: u32,
    /// The smaller of maxPerStageDescriptorStorageBuffers and maxDescriptorSetStorageBuffers
    pub storage_buffers: u32,
    /// The smaller of maxPerStageDescriptorUniformBuffers and maxDescriptorSetUniformBuffers
    pub uniform_buffers: u32,
    /// maxDescriptorSetStorageBuffersDynamic
    pub dynamic_storage_buffers: u32,
    /// maxDescriptorSetUniformBuffersDynamic
    pub dynamic_uniform_buffers: u32,
    /// The smaller of maxPerStageDescriptorStorageImages and maxDescriptorSetStorageImages; storage
    /// texel buffers count.
    pub storage_images: u32,
    /// The smaller of maxPerStageDescriptorSampledImages and maxDescriptorSetSampledImages; uniform
    /// texel buffers count.
    pub sampled_images: u32,
    /// The smaller of maxPerStageDescriptorSamplers and maxDescriptorSetSamplers
    pub samplers: u32,
    /// maxPerStageResources
    pub resources: u32,
    /// minTexelBufferOffsetAlignment, bytes
    pub texel_alignment: u64,
    /// maxTexelBufferElements
    pub texel_elements: u32,
    /// maxSamplerLodBias
    pub sampler_lod_bias: f32,
    /// subTexelPrecisionBits: of a weight between two texels
    pub sub_texel_precision_bits: u32,
    /// mipmapPrecisionBits: of a weight between two levels
    pub mipmap_precision_bits: u32,
    /// maxComputeWorkgroupSubgroups; none where the subgroup size cannot be chosen.
    pub workgroup_subgroups: Option<u32>,
    /// Nanoseconds per timestamp step.
    pub timestamp_period: f32,
}

impl DeviceIdentity {
    /// Name and value pairs for evidence and tables.
    pub fn evidence_rows(&self) -> BTreeMap<String, String> {
        let limits = &self.limits;
        let identity_rows = [
            ("device", self.name.clone()),
            (DeviceType::KEY, self.kind.to_string()),
            ("vendor id", format!("{:#06x}", self.vendor_id)),
            ("device id", format!("{:#06x}", self.device_id)),
            ("api version", self.api_version.clone()),
            ("api version in use", self.api_in_use.clone()),
            ("driver", self.driver_name.clone()),
            ("driver info", self.driver_info.clone()),
            ("driver version", format!("{:#010x}", self.driver_version)),
            ("device uuid", self.device_uuid.clone()),
            ("driver uuid", self.driver_uuid.clone()),
            ("subgroup size", self.subgroup_size.to_string()),
            ("maxComputeWorkGroupCount", triple_text(limits.workgroup_count)),
            ("maxComputeWorkGroupSize", triple_text(limits.workgroup_size)),
            ("maxComputeWorkGroupInvocations", limits.workgroup_invocations.to_string()),
            ("maxComputeSharedMemorySize", limits.workgroup_memory.to_string()),
            ("maxPushConstantsSize", limits.push_constants.to_string()),
            ("maxStorageBufferRange", limits.storage_range.to_string()),
            ("maxUniformBufferRange", limits.uniform_range.to_string()),
        ];
        identity_rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn triple_text([x, y, z]: [u32; 3]) -> String {
    format!("{x} {y} {z}")
}

/// Why no Vulkan device can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum NoVulkan {
    /// The Vulkan loader is not installed, or cannot be loaded.
    #[error("no Vulkan loader: {reason}")]
    NoLoader {
        /// Why, by the loader library.
        reason: String,
    },
    /// No driver is installed.
    #[error("no device: the Vulkan loader found no driver")]
    NoDriver,
    /// Drivers are installed, and none has a device.
    #[error("no device: the installed drivers offer none")]
    NoDevice,
    /// Loader or device are older than Vulkan 1.1.
    #[error("Vulkan 1.1 or later is needed; {which} offers {found}")]
    TooOld {
        /// Which of the two.
        which: String,
        /// The version that it offers.
        found: String,
    },
    /// No device has the index or name that was asked for.
    #[error("no device matches `{wanted}`; there are: {present}")]
    NoSuchDevice {
        /// What was asked for.
        wanted: String,
        /// The devices that there are.
        present: String,
    },
    /// The name that was asked for fits several devices.
    #[error("several devices match `{wanted}`: {matching}")]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The devices that it fits.
        matching: String,
    },
    /// The device lacks what the engine needs of every device.
    #[error("the device `{device}` lacks {what}")]
    Incapable {
        /// Name of the device.
        device: String,
        /// What it lacks.
        what: String,
    },
    /// A call of the API failed.
    #[error("{call} failed: {result}")]
    Call {
        /// Name of the call.
        call: String,
        /// What it returned.
        result: String,
    },
    /// The device ran a trivial kernel and gave a wrong result.
    #[error("the device does not pass the canary dispatch: {reason}")]
    Canary {
        /// What was wrong.
        reason: String,
    },
    /// The process that runs the device could not be started.
    #[error("the device worker could not be started: {reason}")]
    Worker {
        /// Why.
        reason: String,
    },
}

impl NoVulkan {
    pub(super) fn device_absence(&self) -> DeviceAbsence {
        match self {
            Self::NoSuchDevice { .. } => DeviceAbsence::NoneMatches,
            Self::NoLoader { .. }
            | Self::NoDriver
            | Self::NoDevice
            | Self::TooOld { .. }
            | Self::Ambiguous { .. }
            | Self::Incapable { .. }
            | Self::Call { .. }
            | Self::Canary { .. }
            | Self::Worker { .. } => DeviceAbsence::NoneUsable,
        }
    }

    pub(super) fn to_exec_error(&self) -> ExecError {
        ExecError::NoDevice { reason: self.to_string(), absence: self.device_absence() }
    }
}

/// How a user names the device to run on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum DeviceChoice {
    /// The first by type (discrete, integrated, virtual, cpu), then by enumeration order.
    #[default]
    Best,
    /// Place in the loader's enumeration, from 0.
    Index(usize),
    /// A part of the device's name, in any case; must fit exactly one device.
    Name(String),
}

impl DeviceChoice {
    /// `--device NAME_OR_INDEX`
    pub fn parse(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Index)
    }

    /// The place of the chosen device in `devices`.
    pub fn choose_device(&self, devices: &[DeviceIdentity]) -> Result<usize, NoVulkan> {
        let all_devices: Vec<usize> = (0..devices.len()).collect();
        let no_such_device = |wanted_name: String| NoVulkan::NoSuchDevice {
            wanted: wanted_name,
            present: listed_devices(devices, &all_devices),
        };
        match self {
            Self::Best => all_devices
                .iter()
                .copied()
                .min_by_key(|device_index| preference_rank(&devices[*device_index]))
                .ok_or(NoVulkan::NoDevice),
            Self::Index(index) if *index < devices.len() => Ok(*index),
            Self::Index(index) => Err(no_such_device(index.to_string())),
            Self::Name(name) => {
                let wanted_name = name.to_lowercase();
                let matches_name = |device_index: &usize| {
                    devices[*device_index].name.to_lowercase().contains(&wanted_name)
                };
                let matching_devices: Vec<usize> =
                    all_devices.iter().copied().filter(matches_name).collect();
                match matching_devices.as_slice() {
                    [] => Err(no_such_device(name.clone())),
                    [device_index] => Ok(*device_index),
                    several => Err(NoVulkan::Ambiguous {
                        wanted: name.clone(),
                        matching: listed_devices(devices, several),
                    }),
                }
            }
        }
    }
}

/// `0 (llvmpipe), 1 (...)`
fn listed_devices(devices: &[DeviceIdentity], device_indices: &[usize]) -> String {
    let device_names: Vec<String> = device_indices
        .iter()
        .map(|device_index| format!("{device_index} ({})", devices[*device_index].name))
        .collect();
    device_names.join(", ")
}

fn preference_rank(device: &DeviceIdentity) -> usize {
    KINDS.iter().position(|(_, device_type)| *device_type == device.kind).unwrap_or(KINDS.len())
}

/// Device types in order of preference.
pub(super) const KINDS: &[(vk::PhysicalDeviceType, DeviceType)] = &[
    (vk::PhysicalDeviceType::DISCRETE_GPU, DeviceType::Discrete),
    (vk::PhysicalDeviceType::INTEGRATED_GPU, DeviceType::Integrated),
    (vk::PhysicalDeviceType::VIRTUAL_GPU, DeviceType::Virtual),
    (vk::PhysicalDeviceType::CPU, DeviceType::Cpu),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identification::device_limits;

    fn device(index: usize, name: &str, kind: DeviceType) -> DeviceIdentity {
        DeviceIdentity {
            index,
            name: name.to_owned(),
            vendor_id: 0,
            device_id: 0,
            kind,
            api_version: String::new(),
            api_in_use: String::new(),
            driver_name: String::new(),
            driver_info: String::new(),
            driver_version: 0,
            device_uuid: String::new(),
            driver_uuid: String::new(),
            subgroup_size: 0,
            subgroup_size_range: None,
            subgroup_operations: Vec::new(),
            limits: device_limits(&vk::PhysicalDeviceLimits::default(), None),
        }
    }

    #[test]
    fn a_device_is_chosen_by_type_index_or_part_of_its_name() {
        let devices = [
            device(0, "llvmpipe (LLVM)", DeviceType::Cpu),
            device(1, "Big GPU 1", DeviceType::Discrete),
            device(2, "Big GPU 2", DeviceType::Discrete),
        ];
        assert_eq!(DeviceChoice::Best.choose_device(&devices), Ok(1));
        assert_eq!(DeviceChoice::parse("0").choose_device(&devices), Ok(0));
        assert_eq!(DeviceChoice::parse("LLVMPIPE").choose_device(&devices), Ok(0));
        assert!(matches!(
            DeviceChoice::parse("big").choose_device(&devices),
            Err(NoVulkan::Ambiguous { .. })
        ));
        assert!(matches!(
            DeviceChoice::parse("7").choose_device(&devices),
            Err(NoVulkan::NoSuchDevice { .. })
        ));
        assert!(matches!(
            DeviceChoice::parse("mali").choose_device(&devices),
            Err(NoVulkan::NoSuchDevice { .. })
        ));
        assert_eq!(DeviceChoice::Best.choose_device(&[]), Err(NoVulkan::NoDevice));
    }
}
