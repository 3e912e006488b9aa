//! What stands below this layer for each device, and which functions this layer stands in front of.

use crate::hooks::{
    barriers, commands, descriptors, image_commands, images, memory, objects, submission,
};
use crate::unmodelled::{self, UnmodelledCommands};
use ash::vk;
use std::ffi::CString;
use std::sync::RwLock;

/// What loader and layers know a dispatchable object by: the first word that it leads to. A device
/// shares it with its queues and command buffers, an instance with its physical devices.
pub(crate) fn dispatch_key<H: vk::Handle>(object: H) -> usize {
    let object = object.as_raw() as *const usize;
    if object.is_null() {
        return 0;
    }
    // Safety: every dispatchable object begins with this word ("LoaderLayerInterface").
    unsafe { object.read() }
}

/// What this layer keeps of a device.
pub(crate) struct DeviceTable {
    key: usize,
    pub(crate) device: vk::Device,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) get_device_function: vk::PFN_vkGetDeviceProcAddr,
    pub(crate) functions: DeviceFunctions,
    pub(crate) unmodelled: UnmodelledCommands,
}

/// Devices are few and their tables stay for the life of the process.
static DEVICES: RwLock<Vec<&'static DeviceTable>> = RwLock::new(Vec::new());

impl DeviceTable {
    /// Asks the layer below for its functions and keeps them.
    ///
    /// # Safety
    /// `device` was made just now of `physical` by the layer below, whose function `get` is.
    pub(crate) unsafe fn keep(
        device: vk::Device,
        physical: vk::PhysicalDevice,
        get: vk::PFN_vkGetDeviceProcAddr,
    ) {
        let first_of = |names: &[&'static str]| {
            names.iter().find_map(|name| {
                let name = CString::new(*name).ok()?;
                unsafe { get(device, name.as_ptr()) }
            })
        };
        let table = Self {
            key: dispatch_key(device),
            device,
            physical,
            get_device_function: get,
            functions: DeviceFunctions::load(&first_of),
            unmodelled: UnmodelledCommands::load(&first_of),
        };
        let mut devices = DEVICES.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        devices.retain(|other| other.key != table.key);
        devices.push(Box::leak(Box::new(table)));
    }

    /// Forgets a device.
    pub(crate) fn forget(&self) {
        let mut devices = DEVICES.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        devices.retain(|other| other.key != self.key);
    }
}

/// The table of a device, a queue or a command buffer.
pub(crate) fn device_of<H: vk::Handle>(object: H) -> Option<&'static DeviceTable> {
    let key = dispatch_key(object);
    let devices = DEVICES.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    devices.iter().copied().find(|table| table.key == key)
}

/// The hook of a function of devices; none of a function that is only passed on.
pub(crate) fn hook_of(name: &str) -> Option<unsafe extern "system" fn()> {
    modelled_hook_of(name).or_else(|| unmodelled::hook_of(name))
}

/// A field, a loader and a hook for every row: the name of the field, the type of the function, the
/// names that it goes by, and the hook.
macro_rules! device_functions {
    ($($field:ident $pfn:ident [$($name:literal)|+] $hook:path;)+) => {
        /// What stands below for each function that is watched.
        pub(crate) struct DeviceFunctions {
            $(pub(crate) $field: Option<vk::$pfn>,)+
        }

        impl DeviceFunctions {
            fn load(
                get: &dyn Fn(&[&'static str]) -> Option<unsafe extern "system" fn()>,
            ) -> Self {
                // Safety: a function that goes by one of these names is of this type.
                Self { $($field: get(&[$($name),+]).map(|function| unsafe {
                    std::mem::transmute::<unsafe extern "system" fn(), vk::$pfn>(function)
                }),)+ }
            }
        }

        fn modelled_hook_of(name: &str) -> Option<unsafe extern "system" fn()> {
            match name {
                $($($name)|+ => Some(unsafe {
                    std::mem::transmute::<vk::$pfn, unsafe extern "system" fn()>($hook)
                }),)+
                _ => None,
            }
        }
    };
}

/// The function below; where there is none, the hook ends, with a result where it has one.
macro_rules! below {
    ($object:expr, $field:ident $(, $otherwise:expr)?) => {
        match crate::device_table::device_of($object).and_then(|device| device.functions.$field) {
            Some(below) => below,
            None => return $($otherwise)?,
        }
    };
}
pub(crate) use below;

device_functions! {
    destroy_device PFN_vkDestroyDevice ["vkDestroyDevice"] objects::destroy_device;
    get_device_queue PFN_vkGetDeviceQueue ["vkGetDeviceQueue"] objects::get_device_queue;
    get_device_queue2 PFN_vkGetDeviceQueue2 ["vkGetDeviceQueue2"] objects::get_device_queue2;
    create_shader_module PFN_vkCreateShaderModule ["vkCreateShaderModule"]
        objects::create_shader_module;
    destroy_shader_module PFN_vkDestroyShaderModule ["vkDestroyShaderModule"]
        objects::destroy_shader_module;
    create_pipeline_layout PFN_vkCreatePipelineLayout ["vkCreatePipelineLayout"]
        objects::create_pipeline_layout;
    destroy_pipeline_layout PFN_vkDestroyPipelineLayout ["vkDestroyPipelineLayout"]
        objects::destroy_pipeline_layout;
    create_compute_pipelines PFN_vkCreateComputePipelines ["vkCreateComputePipelines"]
        objects::create_compute_pipelines;
    create_graphics_pipelines PFN_vkCreateGraphicsPipelines ["vkCreateGraphicsPipelines"]
        objects::create_graphics_pipelines;
    destroy_pipeline PFN_vkDestroyPipeline ["vkDestroyPipeline"] objects::destroy_pipeline;

    create_set_layout PFN_vkCreateDescriptorSetLayout ["vkCreateDescriptorSetLayout"]
        descriptors::create_set_layout;
    destroy_set_layout PFN_vkDestroyDescriptorSetLayout ["vkDestroyDescriptorSetLayout"]
        descriptors::destroy_set_layout;
    allocate_sets PFN_vkAllocateDescriptorSets ["vkAllocateDescriptorSets"]
        descriptors::allocate_sets;
    free_sets PFN_vkFreeDescriptorSets ["vkFreeDescriptorSets"] descriptors::free_sets;
    reset_descriptor_pool PFN_vkResetDescriptorPool ["vkResetDescriptorPool"]
        descriptors::reset_pool;
    destroy_descriptor_pool PFN_vkDestroyDescriptorPool ["vkDestroyDescriptorPool"]
        descriptors::destroy_pool;
    update_sets PFN_vkUpdateDescriptorSets ["vkUpdateDescriptorSets"] descriptors::update_sets;
    create_update_template PFN_vkCreateDescriptorUpdateTemplate
        ["vkCreateDescriptorUpdateTemplate" | "vkCreateDescriptorUpdateTemplateKHR"]
        descriptors::create_update_template;
    destroy_update_template PFN_vkDestroyDescriptorUpdateTemplate
        ["vkDestroyDescriptorUpdateTemplate" | "vkDestroyDescriptorUpdateTemplateKHR"]
        descriptors::destroy_update_template;
    update_set_with_template PFN_vkUpdateDescriptorSetWithTemplate
        ["vkUpdateDescriptorSetWithTemplate" | "vkUpdateDescriptorSetWithTemplateKHR"]
        descriptors::update_set_with_template;

    allocate_memory PFN_vkAllocateMemory ["vkAllocateMemory"] memory::allocate_memory;
    free_memory PFN_vkFreeMemory ["vkFreeMemory"] memory::free_memory;
    map_memory PFN_vkMapMemory ["vkMapMemory"] memory::map_memory;
    map_memory2 PFN_vkMapMemory2KHR ["vkMapMemory2" | "vkMapMemory2KHR"] memory::map_memory2;
    unmap_memory PFN_vkUnmapMemory ["vkUnmapMemory"] memory::unmap_memory;
    unmap_memory2 PFN_vkUnmapMemory2KHR ["vkUnmapMemory2" | "vkUnmapMemory2KHR"]
        memory::unmap_memory2;
    flush_ranges PFN_vkFlushMappedMemoryRanges ["vkFlushMappedMemoryRanges"] memory::flush_ranges;
    invalidate_ranges PFN_vkInvalidateMappedMemoryRanges ["vkInvalidateMappedMemoryRanges"]
        memory::invalidate_ranges;
    create_buffer PFN_vkCreateBuffer ["vkCreateBuffer"] memory::create_buffer;
    destroy_buffer PFN_vkDestroyBuffer ["vkDestroyBuffer"] memory::destroy_buffer;
    bind_buffer PFN_vkBindBufferMemory ["vkBindBufferMemory"] memory::bind_buffer;
    bind_buffer2 PFN_vkBindBufferMemory2 ["vkBindBufferMemory2" | "vkBindBufferMemory2KHR"]
        memory::bind_buffer2;
    buffer_address PFN_vkGetBufferDeviceAddress
        ["vkGetBufferDeviceAddress" | "vkGetBufferDeviceAddressKHR" | "vkGetBufferDeviceAddressEXT"]
        memory::buffer_address;
    device_buffer_needs PFN_vkGetDeviceBufferMemoryRequirements
        ["vkGetDeviceBufferMemoryRequirements" | "vkGetDeviceBufferMemoryRequirementsKHR"]
        memory::device_buffer_needs;
    create_buffer_view PFN_vkCreateBufferView ["vkCreateBufferView"] memory::create_buffer_view;
    destroy_buffer_view PFN_vkDestroyBufferView ["vkDestroyBufferView"]
        memory::destroy_buffer_view;
    create_image PFN_vkCreateImage ["vkCreateImage"] images::create_image;
    destroy_image PFN_vkDestroyImage ["vkDestroyImage"] images::destroy_image;
    bind_image PFN_vkBindImageMemory ["vkBindImageMemory"] images::bind_image;
    bind_image2 PFN_vkBindImageMemory2 ["vkBindImageMemory2" | "vkBindImageMemory2KHR"]
        images::bind_image2;
    device_image_needs PFN_vkGetDeviceImageMemoryRequirements
        ["vkGetDeviceImageMemoryRequirements" | "vkGetDeviceImageMemoryRequirementsKHR"]
        images::device_image_needs;
    create_image_view PFN_vkCreateImageView ["vkCreateImageView"] images::create_image_view;
    destroy_image_view PFN_vkDestroyImageView ["vkDestroyImageView"]
        images::destroy_image_view;
    create_sampler PFN_vkCreateSampler ["vkCreateSampler"] images::create_sampler;
    destroy_sampler PFN_vkDestroySampler ["vkDestroySampler"] images::destroy_sampler;

    create_command_pool PFN_vkCreateCommandPool ["vkCreateCommandPool"]
        commands::create_command_pool;
    allocate_command_buffers PFN_vkAllocateCommandBuffers ["vkAllocateCommandBuffers"]
        commands::allocate_command_buffers;
    free_command_buffers PFN_vkFreeCommandBuffers ["vkFreeCommandBuffers"]
        commands::free_command_buffers;
    reset_command_pool PFN_vkResetCommandPool ["vkResetCommandPool"] commands::reset_command_pool;
    destroy_command_pool PFN_vkDestroyCommandPool ["vkDestroyCommandPool"]
        commands::destroy_command_pool;
    begin_command_buffer PFN_vkBeginCommandBuffer ["vkBeginCommandBuffer"]
        commands::begin_command_buffer;
    end_command_buffer PFN_vkEndCommandBuffer ["vkEndCommandBuffer"] commands::end_command_buffer;
    reset_command_buffer PFN_vkResetCommandBuffer ["vkResetCommandBuffer"]
        commands::reset_command_buffer;
    cmd_bind_pipeline PFN_vkCmdBindPipeline ["vkCmdBindPipeline"] commands::bind_pipeline;
    cmd_bind_sets PFN_vkCmdBindDescriptorSets ["vkCmdBindDescriptorSets"] commands::bind_sets;
    cmd_push_descriptors PFN_vkCmdPushDescriptorSetKHR
        ["vkCmdPushDescriptorSet" | "vkCmdPushDescriptorSetKHR"]
        commands::push_descriptors;
    cmd_push_descriptors_with_template PFN_vkCmdPushDescriptorSetWithTemplateKHR
        ["vkCmdPushDescriptorSetWithTemplate" | "vkCmdPushDescriptorSetWithTemplateKHR"]
        commands::push_descriptors_with_template;
    cmd_push_constants PFN_vkCmdPushConstants ["vkCmdPushConstants"] commands::push_constants;
    cmd_dispatch PFN_vkCmdDispatch ["vkCmdDispatch"] commands::dispatch;
    cmd_dispatch_base PFN_vkCmdDispatchBase ["vkCmdDispatchBase" | "vkCmdDispatchBaseKHR"]
        commands::dispatch_base;
    cmd_dispatch_indirect PFN_vkCmdDispatchIndirect ["vkCmdDispatchIndirect"]
        commands::dispatch_indirect;
    cmd_copy_buffer PFN_vkCmdCopyBuffer ["vkCmdCopyBuffer"] commands::copy_buffer;
    cmd_copy_buffer2 PFN_vkCmdCopyBuffer2 ["vkCmdCopyBuffer2" | "vkCmdCopyBuffer2KHR"]
        commands::copy_buffer2;
    cmd_fill_buffer PFN_vkCmdFillBuffer ["vkCmdFillBuffer"] commands::fill_buffer;
    cmd_update_buffer PFN_vkCmdUpdateBuffer ["vkCmdUpdateBuffer"] commands::update_buffer;
    cmd_copy_buffer_to_image PFN_vkCmdCopyBufferToImage ["vkCmdCopyBufferToImage"]
        image_commands::copy_buffer_to_image;
    cmd_copy_image_to_buffer PFN_vkCmdCopyImageToBuffer ["vkCmdCopyImageToBuffer"]
        image_commands::copy_image_to_buffer;
    cmd_copy_buffer_to_image2 PFN_vkCmdCopyBufferToImage2
        ["vkCmdCopyBufferToImage2" | "vkCmdCopyBufferToImage2KHR"]
        image_commands::copy_buffer_to_image2;
    cmd_copy_image_to_buffer2 PFN_vkCmdCopyImageToBuffer2
        ["vkCmdCopyImageToBuffer2" | "vkCmdCopyImageToBuffer2KHR"]
        image_commands::copy_image_to_buffer2;
    cmd_copy_image PFN_vkCmdCopyImage ["vkCmdCopyImage"] image_commands::copy_image;
    cmd_copy_image2 PFN_vkCmdCopyImage2 ["vkCmdCopyImage2" | "vkCmdCopyImage2KHR"]
        image_commands::copy_image2;
    cmd_clear_color_image PFN_vkCmdClearColorImage ["vkCmdClearColorImage"]
        image_commands::clear_color_image;
    cmd_barrier PFN_vkCmdPipelineBarrier ["vkCmdPipelineBarrier"] barriers::pipeline_barrier;
    cmd_barrier2 PFN_vkCmdPipelineBarrier2 ["vkCmdPipelineBarrier2" | "vkCmdPipelineBarrier2KHR"]
        barriers::pipeline_barrier2;
    cmd_execute PFN_vkCmdExecuteCommands ["vkCmdExecuteCommands"] commands::execute_commands;

    create_fence PFN_vkCreateFence ["vkCreateFence"] submission::create_fence;
    destroy_fence PFN_vkDestroyFence ["vkDestroyFence"] submission::destroy_fence;
    reset_fences PFN_vkResetFences ["vkResetFences"] submission::reset_fences;
    wait_for_fences PFN_vkWaitForFences ["vkWaitForFences"] submission::wait_for_fences;
    fence_status PFN_vkGetFenceStatus ["vkGetFenceStatus"] submission::fence_status;
    create_semaphore PFN_vkCreateSemaphore ["vkCreateSemaphore"] submission::create_semaphore;
    destroy_semaphore PFN_vkDestroySemaphore ["vkDestroySemaphore"] submission::destroy_semaphore;
    wait_semaphores PFN_vkWaitSemaphores ["vkWaitSemaphores" | "vkWaitSemaphoresKHR"]
        submission::wait_semaphores;
    signal_semaphore PFN_vkSignalSemaphore ["vkSignalSemaphore" | "vkSignalSemaphoreKHR"]
        submission::signal_semaphore;
    semaphore_value PFN_vkGetSemaphoreCounterValue
        ["vkGetSemaphoreCounterValue" | "vkGetSemaphoreCounterValueKHR"]
        submission::semaphore_value;
    submit PFN_vkQueueSubmit ["vkQueueSubmit"] submission::submit;
    submit2 PFN_vkQueueSubmit2 ["vkQueueSubmit2" | "vkQueueSubmit2KHR"] submission::submit2;
    queue_wait_idle PFN_vkQueueWaitIdle ["vkQueueWaitIdle"] submission::queue_wait_idle;
    device_wait_idle PFN_vkDeviceWaitIdle ["vkDeviceWaitIdle"] submission::device_wait_idle;
    bind_sparse PFN_vkQueueBindSparse ["vkQueueBindSparse"] submission::bind_sparse;
    present PFN_vkQueuePresentKHR ["vkQueuePresentKHR"] submission::present;
    acquire_image PFN_vkAcquireNextImageKHR ["vkAcquireNextImageKHR"] submission::acquire_image;
    set_event PFN_vkSetEvent ["vkSetEvent"] submission::set_event;
    import_semaphore PFN_vkImportSemaphoreFdKHR ["vkImportSemaphoreFdKHR"]
        submission::import_semaphore;
    import_fence PFN_vkImportFenceFdKHR ["vkImportFenceFdKHR"] submission::import_fence;
}
