//! The loader and the instance: the way to physical devices, with the validation layer where it is
//! wanted and there.
//!
//! Knows: how to ask for the API version (`version`), and how to tell a missing loader from a
//! missing driver.
//! Promises: what is opened is closed in the right order; every query it offers is safe to call.
//! Does not cover: logical devices (`device`).

use super::features::Features;
use super::identity::NoVulkan;
use super::messages::Messages;
use super::settings::ValidationLayers;
use super::{describe, version};
use ash::{ext, vk};
use std::ffi::CStr;

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// An open instance.
pub(crate) struct Instance {
    pub raw: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    pub messages: Messages,
    /// Name and version of the validation layer in use.
    pub layer: Option<String>,
    /// The version asked for; a device's own may be lower.
    asked_version: u32,
    /// Holds the loader's library open.
    _entry: ash::Entry,
}

impl Instance {
    /// `newest` is the newest API version to ask for.
    pub(crate) fn open(
        validation: ValidationLayers,
        newest_version: u32,
    ) -> Result<Self, NoVulkan> {
        // SAFETY: loading the system's Vulkan loader runs its initialisers; it is the one library
        // meant for this.
        let loader_entry = unsafe { ash::Entry::load() }
            .map_err(|error| NoVulkan::NoLoader { reason: error.to_string() })?;
        let asked_version = offered_version(&loader_entry, newest_version)?;
        let layer_name = match validation {
            ValidationLayers::On => installed_layer(&loader_entry)?,
            ValidationLayers::Off => None,
        };
        let messages = Messages::default();
        let raw_instance = create_instance(
            &loader_entry,
            asked_version,
            layer_name.as_deref().map(|_| &messages),
        )?;
        let mut instance = Self {
            raw: raw_instance,
            messenger: None,
            messages,
            layer: layer_name,
            asked_version,
            _entry: loader_entry,
        };
        if instance.layer.is_some() {
            instance.create_messenger()?;
        }
        Ok(instance)
    }

    fn create_messenger(&mut self) -> Result<(), NoVulkan> {
        let debug_functions = ext::debug_utils::Instance::new(&self._entry, &self.raw);
        // SAFETY: the extension is enabled, and `messages`, which the user pointer leads to, lives
        // as long as `self`.
        let messenger = unsafe {
            debug_functions.create_debug_utils_messenger(&self.messages.messenger_info(), None)
        };
        self.messenger = Some((
            debug_functions,
            messenger.map_err(|error| call_failed("vkCreateDebugUtilsMessengerEXT", error))?,
        ));
        Ok(())
    }

    pub(crate) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>, NoVulkan> {
        // SAFETY: the instance is open.
        unsafe { self.raw.enumerate_physical_devices() }.map_err(|error| match error {
            vk::Result::ERROR_INITIALIZATION_FAILED => NoVulkan::NoDriver,
            error => call_failed("vkEnumeratePhysicalDevices", error),
        })
    }

    /// The version that may be used with `device`: its own, at most the instance's.
    pub(crate) fn api_version(&self, device: vk::PhysicalDevice) -> u32 {
        // SAFETY: the handle comes from this instance.
        let device_version = unsafe { self.raw.get_physical_device_properties(device) }.api_version;
        version::device_version(self.asked_version, device_version)
    }

    /// Fills a chain of property structures; `chain` must hold only structures of the device's
    /// version.
    pub(crate) fn fill_properties(
        &self,
        device: vk::PhysicalDevice,
        property_chain: &mut vk::PhysicalDeviceProperties2<'_>,
    ) {
        // SAFETY: the handle comes from this instance, and the chain is well-formed by the
        // builder's types.
        unsafe { self.raw.get_physical_device_properties2(device, property_chain) }
    }

    pub(crate) fn query_features(&self, device: vk::PhysicalDevice) -> Features {
        let device_extensions = self.device_extensions(device);
        Features::query_device(self.api_version(device), &device_extensions, |feature_chain| {
            // SAFETY: the handle comes from this instance, and the chain is well-formed by the
            // builder's types.
            unsafe { self.raw.get_physical_device_features2(device, feature_chain) }
        })
    }

    /// Names of the device's extensions; empty where the driver does not answer.
    fn device_extensions(&self, device: vk::PhysicalDevice) -> Vec<String> {
        // SAFETY: the handle comes from this instance.
        let extension_properties =
            unsafe { self.raw.enumerate_device_extension_properties(device) }.unwrap_or_default();
        extension_properties
            .iter()
            .map(|extension| describe::text_of_chars(&extension.extension_name))
            .collect()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: devices hold the instance by Rc and are gone when it drops; the messenger goes
        // before its instance.
        unsafe {
            if let Some((functions, messenger)) = self.messenger.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

pub(crate) fn call_failed(call: &str, result: vk::Result) -> NoVulkan {
    NoVulkan::Call { call: call.to_owned(), result: describe::result_name(result) }
}

fn offered_version(entry: &ash::Entry, newest_version: u32) -> Result<u32, NoVulkan> {
    // SAFETY: the entry is loaded.
    let loader_version = unsafe { entry.try_enumerate_instance_version() }
        .map_err(|error| call_failed("vkEnumerateInstanceVersion", error))?;
    version::instance_version(loader_version, newest_version)
}

fn installed_layer(entry: &ash::Entry) -> Result<Option<String>, NoVulkan> {
    // SAFETY: the entry is loaded.
    let instance_layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(|error| call_failed("vkEnumerateInstanceLayerProperties", error))?;
    let layer = instance_layers.iter().find(|layer| layer.layer_name_as_c_str() == Ok(LAYER));
    Ok(layer.map(|layer| {
        format!("{} {}", LAYER.to_string_lossy(), describe::version_text(layer.spec_version))
    }))
}

/// Creates the instance; with `messages`, the validation layer reports to them from the first call
/// on.
fn create_instance(
    entry: &ash::Entry,
    api_version: u32,
    messages: Option<&Messages>,
) -> Result<ash::Instance, NoVulkan> {
    let application_info =
        vk::ApplicationInfo::default().application_name(c"vkcert").api_version(api_version);
    let (layer_names, extension_names) = match messages {
        Some(_) => (vec![LAYER.as_ptr()], vec![ext::debug_utils::NAME.as_ptr()]),
        None => (Vec::new(), Vec::new()),
    };
    let mut messenger_info = messages.map(Messages::messenger_info).unwrap_or_default();
    let mut create_info = vk::InstanceCreateInfo::default()
        .application_info(&application_info)
        .enabled_layer_names(&layer_names)
        .enabled_extension_names(&extension_names);
    if messages.is_some() {
        create_info = create_info.push_next(&mut messenger_info);
    }
    // SAFETY: every pointer in `info` lives until the call returns; the messages outlive the
    // instance (see `open`).
    unsafe { entry.create_instance(&create_info, None) }.map_err(|error| match error {
        // What the loader says when it finds no driver at all.
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => NoVulkan::NoDriver,
        error => call_failed("vkCreateInstance", error),
    })
}
