//! Feature structures that the pinned binding does not have.
//!
//! Knows: their layout and type (Vulkan registry, VK_KHR_shader_untyped_pointers and
//! VK_KHR_shader_bfloat16).
//! Promises: a structure is chained only where the device offers its extension (`features`).

use ash::vk;
use std::ffi::{CStr, c_void};
use std::ptr;

pub(crate) const UNTYPED_POINTERS: &CStr = c"VK_KHR_shader_untyped_pointers";
pub(crate) const BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";

/// VkPhysicalDeviceShaderUntypedPointersFeaturesKHR
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UntypedPointers {
    s_type: vk::StructureType,
    pub p_next: *mut c_void,
    pub shader_untyped_pointers: vk::Bool32,
}

impl Default for UntypedPointers {
    fn default() -> Self {
        let s_type = vk::StructureType::from_raw(1_000_387_000);
        Self { s_type, p_next: ptr::null_mut(), shader_untyped_pointers: vk::FALSE }
    }
}

// SAFETY: the structure begins as all that extend another one do, and extends this one.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for UntypedPointers {}

/// VkPhysicalDeviceShaderBfloat16FeaturesKHR
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Bfloat16 {
    s_type: vk::StructureType,
    pub p_next: *mut c_void,
    pub kind: vk::Bool32,
    pub dot_product: vk::Bool32,
    pub cooperative_matrix: vk::Bool32,
}

impl Default for Bfloat16 {
    fn default() -> Self {
        let s_type = vk::StructureType::from_raw(1_000_141_000);
        let (kind, dot_product, cooperative_matrix) = (vk::FALSE, vk::FALSE, vk::FALSE);
        Self { s_type, p_next: ptr::null_mut(), kind, dot_product, cooperative_matrix }
    }
}

// SAFETY: as above.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Bfloat16 {}
