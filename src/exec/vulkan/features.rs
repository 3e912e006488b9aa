//! Device features: what a device has, and what of it is switched on.
//!
//! Knows: the feature structures of the API's versions and of the extensions that a compute kernel
//! may need.
//! Promises: only structures that the device knows are asked for and handed back; what it lacks is
//! false. A feature has one place here, whichever structure of the device's version it came from
//! (`older`).
//! Does not cover: which of them a module needs (`capability`).

use super::newer;
use super::older::{KHR_ROBUSTNESS2, OfferedExtensions, Older};
use super::robustness::Granted;
use ash::{ext, khr, vk};
use std::ffi::CStr;

/// Feature structures of a device; those of extensions and versions that it lacks are all false.
#[derive(Clone, Default)]
pub(crate) struct Features {
    pub core: vk::PhysicalDeviceFeatures,
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    pub clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
    pub explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    pub cooperative_matrix: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>,
    pub atomic_float2: vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT<'static>,
    pub image_atomic64: vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT<'static>,
    pub rotate: vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR<'static>,
    pub expect_assume: vk::PhysicalDeviceShaderExpectAssumeFeaturesKHR<'static>,
    pub uniform_flow: vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR<'static>,
    pub reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR<'static>,
    pub quad_control: vk::PhysicalDeviceShaderQuadControlFeaturesKHR<'static>,
    pub float_controls2: vk::PhysicalDeviceShaderFloatControls2FeaturesKHR<'static>,
    pub untyped_pointers: newer::UntypedPointers,
    pub bfloat16: newer::Bfloat16,
    pub robustness2: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    /// Version in use, and extensions of the device that this engine knows.
    offered: OfferedExtensions,
}

macro_rules! select {
    ($from:expr, $to:expr; $($field:ident),* $(,)?) => { $($to.$field = $from.$field;)* };
}

impl Features {
    /// Asks with a chain that holds only structures the device knows. `extensions` are all of the
    /// device's.
    pub(crate) fn query_device(
        version: u32,
        device_extensions: &[String],
        ask_device: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>),
    ) -> Self {
        let mut features = Self {
            offered: OfferedExtensions::from_extensions(version, device_extensions),
            ..Self::default()
        };
        let mut chained_features = features.clone();
        let mut older_structures = Older::default();
        let mut feature_chain = chained_features.chain_structures(&mut older_structures);
        ask_device(&mut feature_chain);
        features.core = feature_chain.features;
        (features.v11, features.v12, features.v13) =
            (chained_features.v11, chained_features.v12, chained_features.v13);
        (features.atomic_float, features.clock) =
            (chained_features.atomic_float, chained_features.clock);
        (features.explicit_layout, features.cooperative_matrix) =
            (chained_features.explicit_layout, chained_features.cooperative_matrix);
        (features.atomic_float2, features.image_atomic64) =
            (chained_features.atomic_float2, chained_features.image_atomic64);
        (features.rotate, features.expect_assume) =
            (chained_features.rotate, chained_features.expect_assume);
        (features.uniform_flow, features.reconvergence) =
            (chained_features.uniform_flow, chained_features.reconvergence);
        (features.quad_control, features.float_controls2) =
            (chained_features.quad_control, chained_features.float_controls2);
        (features.untyped_pointers, features.bfloat16) =
            (chained_features.untyped_pointers, chained_features.bfloat16);
        features.robustness2 = chained_features.robustness2;
        older_structures.merge_into(&mut features);
        features.imply_features();
        features.clear_chain_pointers();
        features
    }

    /// Chains the structures that the device's version and extensions allow.
    pub(crate) fn chain_structures<'a>(
        &'a mut self,
        older_structures: &'a mut Older,
    ) -> vk::PhysicalDeviceFeatures2<'a> {
        let version = self.version();
        let mut feature_chain = vk::PhysicalDeviceFeatures2::default().features(self.core);
        if version >= vk::API_VERSION_1_2 {
            feature_chain = feature_chain.push_next(&mut self.v11).push_next(&mut self.v12);
        }
        if version >= vk::API_VERSION_1_3 {
            feature_chain = feature_chain.push_next(&mut self.v13);
        }
        feature_chain = older_structures.chain(&self.offered, feature_chain);
        if self.offered.has(ext::robustness2::NAME) || self.offered.has(KHR_ROBUSTNESS2) {
            feature_chain = feature_chain.push_next(&mut self.robustness2);
        }
        let offered_extensions = &self.offered;
        macro_rules! extend {
            ($($name:path, $structure:ident;)*) => {
                $(if offered_extensions.has($name) { feature_chain = feature_chain.push_next(&mut self.$structure); })*
            };
        }
        extend! {
            ext::shader_atomic_float::NAME, atomic_float;
            khr::shader_clock::NAME, clock;
            khr::workgroup_memory_explicit_layout::NAME, explicit_layout;
            khr::cooperative_matrix::NAME, cooperative_matrix;
            ext::shader_atomic_float2::NAME, atomic_float2;
            ext::shader_image_atomic_int64::NAME, image_atomic64;
            khr::shader_subgroup_rotate::NAME, rotate;
            khr::shader_expect_assume::NAME, expect_assume;
            khr::shader_subgroup_uniform_control_flow::NAME, uniform_flow;
            khr::shader_maximal_reconvergence::NAME, reconvergence;
            khr::shader_quad_control::NAME, quad_control;
            khr::shader_float_controls2::NAME, float_controls2;
            newer::UNTYPED_POINTERS, untyped_pointers;
            newer::BFLOAT16, bfloat16;
        }
        feature_chain
    }

    /// Features that below Vulkan 1.2 an extension has without a structure.
    fn imply_features(&mut self) {
        if self.version() < vk::API_VERSION_1_2 {
            let feature_flag = |name| if self.offered.has(name) { vk::TRUE } else { vk::FALSE };
            self.v12.descriptor_indexing = feature_flag(ext::descriptor_indexing::NAME);
            self.v12.sampler_mirror_clamp_to_edge =
                feature_flag(khr::sampler_mirror_clamp_to_edge::NAME);
        }
    }

    /// Cuts the pointers that a chain has left in the structures.
    fn clear_chain_pointers(&mut self) {
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        self.atomic_float.p_next = std::ptr::null_mut();
        self.clock.p_next = std::ptr::null_mut();
        self.explicit_layout.p_next = std::ptr::null_mut();
        self.cooperative_matrix.p_next = std::ptr::null_mut();
        self.atomic_float2.p_next = std::ptr::null_mut();
        self.image_atomic64.p_next = std::ptr::null_mut();
        self.rotate.p_next = std::ptr::null_mut();
        self.expect_assume.p_next = std::ptr::null_mut();
        self.uniform_flow.p_next = std::ptr::null_mut();
        self.reconvergence.p_next = std::ptr::null_mut();
        self.quad_control.p_next = std::ptr::null_mut();
        self.float_controls2.p_next = std::ptr::null_mut();
        self.untyped_pointers.p_next = std::ptr::null_mut();
        self.bfloat16.p_next = std::ptr::null_mut();
        self.robustness2.p_next = std::ptr::null_mut();
    }

    /// The API version in use.
    pub(crate) fn version(&self) -> u32 {
        self.offered.version()
    }

    /// Whether what an extension brings is there, by itself or as part of the version.
    pub(crate) fn has(&self, extension: &CStr) -> bool {
        self.offered.has(extension)
    }

    /// The extensions to switch on.
    pub(crate) fn enabled_extensions(&self) -> Vec<&'static CStr> {
        self.offered.to_switch_on()
    }

    /// What to switch on: everything a compute kernel may need and the device has; nothing else.
    pub(crate) fn for_compute(&self, robustness: &Granted) -> Self {
        let mut enabled_features = Self { offered: self.offered.clone(), ..Self::default() };
        select!(self.core, enabled_features.core; shader_float64, shader_int64, shader_int16,
            shader_uniform_buffer_array_dynamic_indexing, shader_storage_buffer_array_dynamic_indexing,
            shader_sampled_image_array_dynamic_indexing, shader_storage_image_array_dynamic_indexing,
            shader_storage_image_extended_formats, shader_storage_image_read_without_format,
            shader_storage_image_write_without_format, shader_image_gather_extended, shader_resource_min_lod,
            image_cube_array);
        robustness.switch_on(self, &mut enabled_features);
        select!(self.v11, enabled_features.v11; storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access,
            storage_push_constant16, variable_pointers_storage_buffer, variable_pointers);
        select!(self.v12, enabled_features.v12; storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access,
            storage_push_constant8, shader_buffer_int64_atomics, shader_shared_int64_atomics, shader_float16, shader_int8,
            descriptor_indexing, shader_uniform_buffer_array_non_uniform_indexing,
            shader_storage_buffer_array_non_uniform_indexing, shader_sampled_image_array_non_uniform_indexing,
            shader_storage_image_array_non_uniform_indexing, shader_uniform_texel_buffer_array_dynamic_indexing,
            shader_storage_texel_buffer_array_dynamic_indexing, shader_uniform_texel_buffer_array_non_uniform_indexing,
            shader_storage_texel_buffer_array_non_uniform_indexing, runtime_descriptor_array, scalar_block_layout,
            sampler_mirror_clamp_to_edge,
            uniform_buffer_standard_layout, shader_subgroup_extended_types, buffer_device_address, vulkan_memory_model,
            vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains);
        select!(self.v13, enabled_features.v13; subgroup_size_control, compute_full_subgroups, shader_demote_to_helper_invocation,
            shader_terminate_invocation, shader_zero_initialize_workgroup_memory, shader_integer_dot_product,
            maintenance4);
        select!(self.atomic_float, enabled_features.atomic_float; shader_buffer_float32_atomics, shader_buffer_float32_atomic_add,
            shader_buffer_float64_atomics, shader_buffer_float64_atomic_add, shader_shared_float32_atomics,
            shader_shared_float32_atomic_add, shader_shared_float64_atomics, shader_shared_float64_atomic_add,
            shader_image_float32_atomics, shader_image_float32_atomic_add);
        select!(self.atomic_float2, enabled_features.atomic_float2; shader_buffer_float16_atomics, shader_buffer_float16_atomic_add,
            shader_buffer_float16_atomic_min_max, shader_buffer_float32_atomic_min_max,
            shader_buffer_float64_atomic_min_max, shader_shared_float16_atomics, shader_shared_float16_atomic_add,
            shader_shared_float16_atomic_min_max, shader_shared_float32_atomic_min_max,
            shader_shared_float64_atomic_min_max, shader_image_float32_atomic_min_max);
        select!(self.image_atomic64, enabled_features.image_atomic64; shader_image_int64_atomics);
        select!(self.rotate, enabled_features.rotate; shader_subgroup_rotate, shader_subgroup_rotate_clustered);
        select!(self.expect_assume, enabled_features.expect_assume; shader_expect_assume);
        select!(self.uniform_flow, enabled_features.uniform_flow; shader_subgroup_uniform_control_flow);
        select!(self.reconvergence, enabled_features.reconvergence; shader_maximal_reconvergence);
        select!(self.quad_control, enabled_features.quad_control; shader_quad_control);
        select!(self.float_controls2, enabled_features.float_controls2; shader_float_controls2);
        select!(self.untyped_pointers, enabled_features.untyped_pointers; shader_untyped_pointers);
        select!(self.bfloat16, enabled_features.bfloat16; kind, dot_product, cooperative_matrix);
        select!(self.clock, enabled_features.clock; shader_subgroup_clock, shader_device_clock);
        select!(self.explicit_layout, enabled_features.explicit_layout; workgroup_memory_explicit_layout,
            workgroup_memory_explicit_layout_scalar_block_layout, workgroup_memory_explicit_layout8_bit_access,
            workgroup_memory_explicit_layout16_bit_access);
        select!(self.cooperative_matrix, enabled_features.cooperative_matrix; cooperative_matrix);
        enabled_features
    }
}
