//! How loader and programs ask this layer for its functions, and how instances and devices are made.

use crate::chain::{handle, text, texts};
use crate::device_table::{self, DeviceTable, device_of};
use crate::hooks::record_unsupported;
use crate::instance_table::{InstanceTable, instance_of};
use crate::loader::{
    DeviceLink, INTERFACE_VERSION, InstanceLink, NEGOTIATE_STRUCTURE, NegotiateLayerInterface,
    take_link,
};
use crate::{LAYER_NAME, recorder};
use ash::vk;
use std::ffi::{CStr, c_char};
use vkcert_capture::event::{Destroyed, Device, Event, Instance, Limits, ObjectKind, OpenEffect};

/// The function that the loader knows by name (`vkNegotiateLoaderLayerInterfaceVersion`).
///
/// # Safety
/// The loader calls it with a structure that holds what its type says.
#[unsafe(export_name = "vkNegotiateLoaderLayerInterfaceVersion")]
pub unsafe extern "system" fn negotiate_layer_interface(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    let Some(interface) = (unsafe { interface.as_mut() }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    if interface.structure != NEGOTIATE_STRUCTURE || interface.version < INTERFACE_VERSION {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.version = INTERFACE_VERSION;
    interface.get_instance_function = Some(get_instance_function);
    interface.get_device_function = Some(get_device_function);
    interface.get_physical_device_function = None;
    vk::Result::SUCCESS
}

/// A hook without its type, as functions are asked for.
macro_rules! untyped {
    ($hook:ident as $pfn:ident) => {
        // Safety: whoever asks for it by name calls it as what it is.
        Some(unsafe { std::mem::transmute::<vk::$pfn, unsafe extern "system" fn()>($hook) })
    };
}

unsafe extern "system" fn get_instance_function(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    let shown_name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    let own = match shown_name {
        "vkGetInstanceProcAddr" => untyped!(get_instance_function as PFN_vkGetInstanceProcAddr),
        "vkCreateInstance" => untyped!(create_instance as PFN_vkCreateInstance),
        "vkDestroyInstance" => untyped!(destroy_instance as PFN_vkDestroyInstance),
        "vkCreateDevice" => untyped!(create_device as PFN_vkCreateDevice),
        "vkGetDeviceProcAddr" => untyped!(get_device_function as PFN_vkGetDeviceProcAddr),
        "vkEnumerateDeviceExtensionProperties" => {
            untyped!(device_extensions as PFN_vkEnumerateDeviceExtensionProperties)
        }
        _ => None,
    };
    if own.is_some() {
        return own;
    }
    let table = instance_of(instance)?;
    let below = unsafe { (table.get_instance_function)(table.instance, name) };
    below.and_then(|below| device_table::hook_of(shown_name).or(Some(below)))
}

unsafe extern "system" fn get_device_function(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    let shown_name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    if shown_name == "vkGetDeviceProcAddr" {
        return untyped!(get_device_function as PFN_vkGetDeviceProcAddr);
    }
    let table = device_of(device)?;
    let below = unsafe { (table.get_device_function)(table.device, name) }?;
    let hook = device_table::hook_of(shown_name);
    if hook.is_none() && shown_name.starts_with("vkCmd") {
        // A command that is younger than the binding: whether it is called is not seen.
        let name = format!("{shown_name}, asked for by name, whose calls are not seen");
        record_unsupported(&name, OpenEffect::Nothing);
    }
    hook.or(Some(below))
}

unsafe extern "system" fn create_instance(
    create: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let failed = vk::Result::ERROR_INITIALIZATION_FAILED;
    let Some(create_info) = (unsafe { create.as_ref() }) else { return failed };
    let Some(link) = (unsafe { take_link::<InstanceLink>(create_info.p_next) }) else {
        return failed;
    };
    let get = link.get_instance_function;
    let below = unsafe { get(vk::Instance::null(), c"vkCreateInstance".as_ptr()) };
    let Some(below) = below else { return failed };
    // Safety: the function goes by the name of this type.
    let below: vk::PFN_vkCreateInstance = unsafe { std::mem::transmute(below) };
    let result = unsafe { below(create, allocator, instance) };
    if result == vk::Result::SUCCESS {
        unsafe { InstanceTable::keep(*instance, asked_version(create_info), get) };
        recorder::begin();
        recorder::record(|| Event::Instance(unsafe { described_instance(*instance, create_info) }));
    }
    result
}

/// The version of Vulkan that a program asks for.
unsafe fn asked_version(create: &vk::InstanceCreateInfo<'_>) -> u32 {
    let application = unsafe { create.p_application_info.as_ref() };
    let version = application.map_or(0, |application| application.api_version);
    if version == 0 { vk::API_VERSION_1_0 } else { version }
}

unsafe fn described_instance(
    instance: vk::Instance,
    create: &vk::InstanceCreateInfo<'_>,
) -> Instance {
    let application = unsafe { create.p_application_info.as_ref() };
    let name_of = |name: fn(&vk::ApplicationInfo<'_>) -> *const c_char| {
        application.map(|application| unsafe { text(name(application)) }).unwrap_or_default()
    };
    Instance {
        instance: handle(instance),
        api_version: shown_version(unsafe { asked_version(create) }),
        application: name_of(|application| application.p_application_name),
        engine: name_of(|application| application.p_engine_name),
        extensions: unsafe {
            texts(create.pp_enabled_extension_names, create.enabled_extension_count)
        },
    }
}

unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if instance == vk::Instance::null() {
        return;
    }
    let Some(table) = instance_of(instance) else { return };
    recorder::record(|| {
        Event::Destroyed(Destroyed { kind: ObjectKind::Instance, handle: handle(instance) })
    });
    recorder::flush();
    table.forget();
    if let Some(below) = table.destroy_instance {
        unsafe { below(instance, allocator) }
    }
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    create: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    let failed = vk::Result::ERROR_INITIALIZATION_FAILED;
    let (Some(create_info), Some(table)) = (unsafe { create.as_ref() }, instance_of(physical))
    else {
        return failed;
    };
    let Some(link) = (unsafe { take_link::<DeviceLink>(create_info.p_next) }) else {
        return failed;
    };
    let get = link.get_device_function;
    let below = unsafe { (link.get_instance_function)(table.instance, c"vkCreateDevice".as_ptr()) };
    let Some(below) = below else { return failed };
    // Safety: the function goes by the name of this type.
    let below: vk::PFN_vkCreateDevice = unsafe { std::mem::transmute(below) };
    let result = unsafe { below(physical, create, allocator, device) };
    if result == vk::Result::SUCCESS {
        unsafe { DeviceTable::keep(*device, physical, get) };
        recorder::record(|| {
            let described = unsafe { described_device(*device, physical, create_info, table) };
            Event::Device(Box::new(described))
        });
    }
    result
}

unsafe fn described_device(
    device: vk::Device,
    physical: vk::PhysicalDevice,
    create: &vk::DeviceCreateInfo<'_>,
    table: &InstanceTable,
) -> Device {
    let mut properties = vk::PhysicalDeviceProperties::default();
    if let Some(get) = table.properties {
        unsafe { get(physical, &mut properties) };
    }
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    // The function is part of version 1.1, the structure of version 1.2.
    let is_told =
        table.api_version >= vk::API_VERSION_1_1 && properties.api_version >= vk::API_VERSION_1_2;
    if let Some(get) = table.properties2.filter(|_| is_told) {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        unsafe { get(physical, &mut all) };
    }
    Device {
        device: handle(device),
        name: unsafe { text(properties.device_name.as_ptr()) },
        ids: [properties.vendor_id, properties.device_id],
        api_version: shown_version(properties.api_version),
        driver_version: properties.driver_version,
        driver_name: unsafe { text(driver.driver_name.as_ptr()) },
        driver_info: unsafe { text(driver.driver_info.as_ptr()) },
        memory_types: unsafe { memory_types(physical, table) },
        queue_families: unsafe { queue_families(physical, table) },
        extensions: unsafe {
            texts(create.pp_enabled_extension_names, create.enabled_extension_count)
        },
        limits: recorded_limits(&properties.limits),
    }
}

fn recorded_limits(limits: &vk::PhysicalDeviceLimits) -> Limits {
    Limits {
        groups: limits.max_compute_work_group_count,
        local_size: limits.max_compute_work_group_size,
        invocations: limits.max_compute_work_group_invocations,
        workgroup_bytes: limits.max_compute_shared_memory_size,
        push_constant_bytes: limits.max_push_constants_size,
        storage_range: limits.max_storage_buffer_range,
        uniform_range: limits.max_uniform_buffer_range,
        non_coherent_atom: limits.non_coherent_atom_size,
    }
}

unsafe fn memory_types(physical: vk::PhysicalDevice, table: &InstanceTable) -> Vec<u32> {
    let mut properties = vk::PhysicalDeviceMemoryProperties::default();
    if let Some(get) = table.memory_properties {
        unsafe { get(physical, &mut properties) };
    }
    let count = properties.memory_type_count as usize;
    let types = properties.memory_types.iter().take(count);
    types.map(|memory_type| memory_type.property_flags.as_raw()).collect()
}

unsafe fn queue_families(physical: vk::PhysicalDevice, table: &InstanceTable) -> Vec<u32> {
    let Some(get) = table.queue_families else { return Vec::new() };
    let mut count = 0;
    unsafe { get(physical, &mut count, std::ptr::null_mut()) };
    let mut families = vec![vk::QueueFamilyProperties::default(); count as usize];
    unsafe { get(physical, &mut count, families.as_mut_ptr()) };
    families.truncate(count as usize);
    families.iter().map(|family| family.queue_flags.as_raw()).collect()
}

fn shown_version(version: u32) -> String {
    let (major, minor, patch) = (
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version),
    );
    format!("{major}.{minor}.{patch}")
}

/// This layer has no extensions of its own.
unsafe extern "system" fn device_extensions(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    let is_own =
        !layer.is_null() && unsafe { CStr::from_ptr(layer) }.to_bytes() == LAYER_NAME.as_bytes();
    if is_own && !count.is_null() {
        unsafe { *count = 0 };
        return vk::Result::SUCCESS;
    }
    match instance_of(physical).and_then(|table| table.device_extensions) {
        Some(below) => unsafe { below(physical, layer, count, properties) },
        None => vk::Result::ERROR_LAYER_NOT_PRESENT,
    }
}
