//! The structures by which loader and layers find each other (loader interface, version 2).
//!
//! Knows: the layout of these structures, which are no part of the Vulkan specification but of the
//! loader's own ("LoaderLayerInterface").
//! Does not cover: what is done with the functions (`entry`).

use ash::vk;
use std::ffi::{c_char, c_void};

/// vkGetPhysicalDeviceProcAddr of a layer.
pub(crate) type GetPhysicalDeviceFunction =
    unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;

/// `LAYER_NEGOTIATE_INTERFACE_STRUCT`.
pub(crate) const NEGOTIATE_STRUCTURE: i32 = 1;

/// The version of the interface that this layer has.
pub(crate) const INTERFACE_VERSION: u32 = 2;

/// `VK_LAYER_LINK_INFO`.
const LINK: i32 = 0;

/// What loader and layer agree on (`VkNegotiateLayerInterface`).
#[repr(C)]
#[derive(Debug)]
pub struct NegotiateLayerInterface {
    /// `LAYER_NEGOTIATE_INTERFACE_STRUCT`.
    pub structure: i32,
    /// Nothing yet.
    pub next: *mut c_void,
    /// The newest version that both have.
    pub version: u32,
    /// The layer's vkGetInstanceProcAddr.
    pub get_instance_function: Option<vk::PFN_vkGetInstanceProcAddr>,
    /// The layer's vkGetDeviceProcAddr.
    pub get_device_function: Option<vk::PFN_vkGetDeviceProcAddr>,
    /// The layer's own functions of physical devices.
    pub(crate) get_physical_device_function: Option<GetPhysicalDeviceFunction>,
}

/// The next layer of an instance (`VkLayerInstanceLink`).
#[repr(C)]
pub(crate) struct InstanceLink {
    next: *mut InstanceLink,
    pub(crate) get_instance_function: vk::PFN_vkGetInstanceProcAddr,
    get_physical_device_function: Option<GetPhysicalDeviceFunction>,
}

/// The next layer of a device (`VkLayerDeviceLink`).
#[repr(C)]
pub(crate) struct DeviceLink {
    next: *mut DeviceLink,
    pub(crate) get_instance_function: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) get_device_function: vk::PFN_vkGetDeviceProcAddr,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, which differ in their links alone.
#[repr(C)]
struct LinkInfo<L> {
    structure: vk::StructureType,
    next: *const c_void,
    function: i32,
    link: *mut L,
}

/// A link that advances to the one below it.
pub(crate) trait Link {
    /// What a chain of structures calls it.
    const STRUCTURE: vk::StructureType;
    /// The link below.
    fn below(&self) -> *mut Self;
}

impl Link for InstanceLink {
    const STRUCTURE: vk::StructureType = vk::StructureType::LOADER_INSTANCE_CREATE_INFO;
    fn below(&self) -> *mut Self {
        self.next
    }
}

impl Link for DeviceLink {
    const STRUCTURE: vk::StructureType = vk::StructureType::LOADER_DEVICE_CREATE_INFO;
    fn below(&self) -> *mut Self {
        self.next
    }
}

/// Takes this layer's link out of a chain of structures, so that the layer below finds its own.
///
/// # Safety
/// `chain` is what the loader gave in `pNext` of an instance's or a device's create info.
pub(crate) unsafe fn take_link<L: Link>(chain: *const c_void) -> Option<&'static L> {
    let mut structure = chain.cast::<vk::BaseInStructure<'_>>();
    // Every structure of a chain begins with its type and the next one.
    while let Some(base) = unsafe { structure.as_ref() } {
        if base.s_type == L::STRUCTURE {
            let info = unsafe { &mut *structure.cast_mut().cast::<LinkInfo<L>>() };
            if info.function == LINK {
                let link = unsafe { info.link.as_ref() }?;
                info.link = link.below();
                return Some(link);
            }
        }
        structure = base.p_next;
    }
    None
}
