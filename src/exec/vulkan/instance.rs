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
    version: u32,
    /// Holds the loader's library open.
    _entry: ash::Entry,
}

impl Instance {
    /// `newest` is the newest API version to ask for.
    pub(crate) fn open(validation: ValidationLayers, newest: u32) -> Result<Self, NoVulkan> {
        // SAFETY: loading the system's Vulkan loader runs its initialisers; it is the one library
        // meant for this.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|error| NoVulkan::NoLoader { reason: error.to_string() })?;
        let version = offered_version(&entry, newest)?;
        let layer = match validation {
            ValidationLayers::On => installed_layer(&entry)?,
            ValidationLayers::Off => None,
        };
        let messages = Messages::default();
        let raw = create(&entry, version, layer.as_deref().map(|_| &messages))?;
        let mut instance = Self { raw, messenger: None, messages, layer, version, _entry: entry };
        if instance.layer.is_some() {
            instance.listen()?;
        }
        Ok(instance)
    }

    fn listen(&mut self) -> Result<(), NoVulkan> {
        let functions = ext::debug_utils::Instance::new(&self._entry, &self.raw);
        // SAFETY: the extension is enabled, and `messages`, which the user pointer leads to, lives
        // as long as `self`.
        let messenger =
            unsafe { functions.create_debug_utils_messenger(&self.messages.messenger(), None) };
        self.messenger = Some((
            functions,
            messenger.map_err(|error| failed("vkCreateDebugUtilsMessengerEXT", error))?,
        ));
        Ok(())
    }

    pub(crate) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>, NoVulkan> {
        // SAFETY: the instance is open.
        unsafe { self.raw.enumerate_physical_devices() }.map_err(|error| match error {
            vk::Result::ERROR_INITIALIZATION_FAILED => NoVulkan::NoDriver,
            error => failed("vkEnumeratePhysicalDevices", error),
        })
    }

    /// The version that may be used with `device`: its own, at most the instance's.
    pub(crate) fn api_version(&self, device: vk::PhysicalDevice) -> u32 {
        // SAFETY: the handle comes from this instance.
        let own = unsafe { self.raw.get_physical_device_properties(device) }.api_version;
        version::of_device(self.version, own)
    }

    /// Fills a chain of property structures; `chain` must hold only structures of the device's
    /// version.
    pub(crate) fn properties(
        &self,
        device: vk::PhysicalDevice,
        chain: &mut vk::PhysicalDeviceProperties2<'_>,
    ) {
        // SAFETY: the handle comes from this instance, and the chain is well-formed by the
        // builder's types.
        unsafe { self.raw.get_physical_device_properties2(device, chain) }
    }

    pub(crate) fn features(&self, device: vk::PhysicalDevice) -> Features {
        let extensions = self.extensions(device);
        Features::query(self.api_version(device), &extensions, |chain| {
            // SAFETY: the handle comes from this instance, and the chain is well-formed by the
            // builder's types.
            unsafe { self.raw.get_physical_device_features2(device, chain) }
        })
    }

    /// Names of the device's extensions; empty where the driver does not answer.
    fn extensions(&self, device: vk::PhysicalDevice) -> Vec<String> {
        // SAFETY: the handle comes from this instance.
        let found =
            unsafe { self.raw.enumerate_device_extension_properties(device) }.unwrap_or_default();
        found.iter().map(|extension| describe::text(&extension.extension_name)).collect()
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

pub(crate) fn failed(call: &str, result: vk::Result) -> NoVulkan {
    NoVulkan::Call { call: call.to_owned(), result: describe::result(result) }
}

fn offered_version(entry: &ash::Entry, newest: u32) -> Result<u32, NoVulkan> {
    // SAFETY: the entry is loaded.
    let offered = unsafe { entry.try_enumerate_instance_version() }
        .map_err(|error| failed("vkEnumerateInstanceVersion", error))?;
    version::of_instance(offered, newest)
}

fn installed_layer(entry: &ash::Entry) -> Result<Option<String>, NoVulkan> {
    // SAFETY: the entry is loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(|error| failed("vkEnumerateInstanceLayerProperties", error))?;
    let layer = layers.iter().find(|layer| layer.layer_name_as_c_str() == Ok(LAYER));
    Ok(layer.map(|layer| {
        format!("{} {}", LAYER.to_string_lossy(), describe::version(layer.spec_version))
    }))
}

/// Creates the instance; with `messages`, the validation layer reports to them from the first call
/// on.
fn create(
    entry: &ash::Entry,
    version: u32,
    messages: Option<&Messages>,
) -> Result<ash::Instance, NoVulkan> {
    let application =
        vk::ApplicationInfo::default().application_name(c"vkcert").api_version(version);
    let (layers, extensions) = match messages {
        Some(_) => (vec![LAYER.as_ptr()], vec![ext::debug_utils::NAME.as_ptr()]),
        None => (Vec::new(), Vec::new()),
    };
    let mut messenger = messages.map(Messages::messenger).unwrap_or_default();
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    if messages.is_some() {
        info = info.push_next(&mut messenger);
    }
    // SAFETY: every pointer in `info` lives until the call returns; the messages outlive the
    // instance (see `open`).
    unsafe { entry.create_instance(&info, None) }.map_err(|error| match error {
        // What the loader says when it finds no driver at all.
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => NoVulkan::NoDriver,
        error => failed("vkCreateInstance", error),
    })
}
