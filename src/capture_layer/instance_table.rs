//! What stands below this layer for each instance.

use crate::device_table::dispatch_key;
use ash::vk;
use std::ffi::CStr;
use std::sync::RwLock;

/// The functions of an instance that this layer needs.
pub(crate) struct InstanceTable {
    key: usize,
    pub(crate) instance: vk::Instance,
    /// The version that the program asks for.
    pub(crate) api_version: u32,
    pub(crate) get_instance_function: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) destroy_instance: Option<vk::PFN_vkDestroyInstance>,
    pub(crate) properties: Option<vk::PFN_vkGetPhysicalDeviceProperties>,
    pub(crate) properties2: Option<vk::PFN_vkGetPhysicalDeviceProperties2>,
    pub(crate) memory_properties: Option<vk::PFN_vkGetPhysicalDeviceMemoryProperties>,
    pub(crate) queue_families: Option<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties>,
    pub(crate) image_format_properties: Option<vk::PFN_vkGetPhysicalDeviceImageFormatProperties>,
    pub(crate) device_extensions: Option<vk::PFN_vkEnumerateDeviceExtensionProperties>,
}

/// Instances are few and their tables stay for the life of the process; a key that is 0 is of none.
static INSTANCES: RwLock<Vec<&'static InstanceTable>> = RwLock::new(Vec::new());

/// A function of the instance below, as the type that it has.
///
/// # Safety
/// `F` is the type of the function that goes by `name`.
unsafe fn function<F>(
    get: vk::PFN_vkGetInstanceProcAddr,
    instance: vk::Instance,
    name: &CStr,
) -> Option<F> {
    let function = unsafe { get(instance, name.as_ptr()) }?;
    Some(unsafe { std::mem::transmute_copy::<unsafe extern "system" fn(), F>(&function) })
}

impl InstanceTable {
    /// Asks the layer below for its functions and keeps them.
    ///
    /// # Safety
    /// `instance` was made just now by the layer below, whose function `get` is.
    pub(crate) unsafe fn keep(
        instance: vk::Instance,
        api_version: u32,
        get: vk::PFN_vkGetInstanceProcAddr,
    ) {
        let table = unsafe {
            Self {
                key: dispatch_key(instance),
                instance,
                api_version,
                get_instance_function: get,
                destroy_instance: function(get, instance, c"vkDestroyInstance"),
                properties: function(get, instance, c"vkGetPhysicalDeviceProperties"),
                properties2: function(get, instance, c"vkGetPhysicalDeviceProperties2"),
                memory_properties: function(get, instance, c"vkGetPhysicalDeviceMemoryProperties"),
                queue_families: function(
                    get,
                    instance,
                    c"vkGetPhysicalDeviceQueueFamilyProperties",
                ),
                image_format_properties: function(
                    get,
                    instance,
                    c"vkGetPhysicalDeviceImageFormatProperties",
                ),
                device_extensions: function(get, instance, c"vkEnumerateDeviceExtensionProperties"),
            }
        };
        let mut instances = INSTANCES.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        instances.retain(|other| other.key != table.key);
        instances.push(Box::leak(Box::new(table)));
    }

    /// Forgets an instance.
    pub(crate) fn forget(&self) {
        let mut instances = INSTANCES.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        instances.retain(|other| other.key != self.key);
    }
}

/// The table of an instance or of a physical device of it.
pub(crate) fn instance_of<H: vk::Handle>(object: H) -> Option<&'static InstanceTable> {
    let key = dispatch_key(object);
    let instances = INSTANCES.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    instances.iter().copied().find(|table| table.key == key)
}
