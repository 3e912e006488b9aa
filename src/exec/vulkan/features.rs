//! Device features: what a device has, and what of it is switched on.
//!
//! Knows: the feature structures of the API's versions and of the extensions that a compute kernel
//! may need.
//! Promises: only structures that the device knows are asked for and handed back; what it lacks is
//! false. A feature has one place here, whichever structure of the device's version it came from
//! (`older`).
//! Does not cover: which of them a module needs (`capability`).

use super::newer;
use super::older::{KHR_ROBUSTNESS2, Offered, Older};
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
    offered: Offered,
}

macro_rules! select {
    ($from:expr, $to:expr; $($field:ident),* $(,)?) => { $($to.$field = $from.$field;)* };
}

impl Features {
    /// Asks with a chain that holds only structures the device knows. `extensions` are all of the
    /// device's.
    pub(crate) fn query(
        version: u32,
        extensions: &[String],
        ask: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>),
    ) -> Self {
        let mut features = Self { offered: Offered::of(version, extensions), ..Self::default() };
        let mut chained = features.clone();
        let mut older = Older::default();
        let mut chain = chained.chain(&mut older);
        ask(&mut chain);
        features.core = chain.features;
        (features.v11, features.v12, features.v13) = (chained.v11, chained.v12, chained.v13);
        (features.atomic_float, features.clock) = (chained.atomic_float, chained.clock);
        (features.explicit_layout, features.cooperative_matrix) =
            (chained.explicit_layout, chained.cooperative_matrix);
        (features.atomic_float2, features.image_atomic64) =
            (chained.atomic_float2, chained.image_atomic64);
        (features.rotate, features.expect_assume) = (chained.rotate, chained.expect_assume);
        (features.uniform_flow, features.reconvergence) =
            (chained.uniform_flow, chained.reconvergence);
        (features.quad_control, features.float_controls2) =
            (chained.quad_control, chained.float_controls2);
        (features.untyped_pointers, features.bfloat16) =
            (chained.untyped_pointers, chained.bfloat16);
        features.robustness2 = chained.robustness2;
        older.merge_into(&mut features);
        features.imply();
        features.unlink();
        features
    }

    /// Chains the structures that the device's version and extensions allow.
    pub(crate) fn chain<'a>(&'a mut self, older: &'a mut Older) -> vk::PhysicalDeviceFeatures2<'a> {
        let version = self.version();
        let mut chain = vk::PhysicalDeviceFeatures2::default().features(self.core);
        if version >= vk::API_VERSION_1_2 {
            chain = chain.push_next(&mut self.v11).push_next(&mut self.v12);
        }
        if version >= vk::API_VERSION_1_3 {
            chain = chain.push_next(&mut self.v13);
        }
        chain = older.chain(&self.offered, chain);
        if self.offered.has(ext::robustness2::NAME) || self.offered.has(KHR_ROBUSTNESS2) {
            chain = chain.push_next(&mut self.robustness2);
        }
        let known = &self.offered;
        macro_rules! extend {
            ($($name:path, $structure:ident;)*) => {
                $(if known.has($name) { chain = chain.push_next(&mut self.$structure); })*
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
        chain
    }

    /// Features that below Vulkan 1.2 an extension has without a structure.
    fn imply(&mut self) {
        if self.version() < vk::API_VERSION_1_2 {
            let has = |name| if self.offered.has(name) { vk::TRUE } else { vk::FALSE };
            self.v12.descriptor_indexing = has(ext::descriptor_indexing::NAME);
            self.v12.sampler_mirror_clamp_to_edge = has(khr::sampler_mirror_clamp_to_edge::NAME);
        }
    }

    /// Cuts the pointers that a chain has left in the structures.
    fn unlink(&mut self) {
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
    pub(crate) fn extensions(&self) -> Vec<&'static CStr> {
        self.offered.to_switch_on()
    }

    /// What to switch on: everything a compute kernel may need and the device has; nothing else.
    pub(crate) fn for_compute(&self, robustness: &Granted) -> Self {
        let mut on = Self { offered: self.offered.clone(), ..Self::default() };
        select!(self.core, on.core; shader_float64, shader_int64, shader_int16,
            shader_uniform_buffer_array_dynamic_indexing, shader_storage_buffer_array_dynamic_indexing,
            shader_sampled_image_array_dynamic_indexing, shader_storage_image_array_dynamic_indexing,
            shader_storage_image_extended_formats, shader_storage_image_read_without_format,
            shader_storage_image_write_without_format, shader_image_gather_extended, shader_resource_min_lod,
            image_cube_array);
        robustness.switch_on(self, &mut on);
        select!(self.v11, on.v11; storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access,
            storage_push_constant16, variable_pointers_storage_buffer, variable_pointers);
        select!(self.v12, on.v12; storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access,
            storage_push_constant8, shader_buffer_int64_atomics, shader_shared_int64_atomics, shader_float16, shader_int8,
            descriptor_indexing, shader_uniform_buffer_array_non_uniform_indexing,
            shader_storage_buffer_array_non_uniform_indexing, shader_sampled_image_array_non_uniform_indexing,
            shader_storage_image_array_non_uniform_indexing, shader_uniform_texel_buffer_array_dynamic_indexing,
            shader_storage_texel_buffer_array_dynamic_indexing, shader_uniform_texel_buffer_array_non_uniform_indexing,
            shader_storage_texel_buffer_array_non_uniform_indexing, runtime_descriptor_array, scalar_block_layout,
            sampler_mirror_clamp_to_edge,
            uniform_buffer_standard_layout, shader_subgroup_extended_types, buffer_device_address, vulkan_memory_model,
            vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains);
        select!(self.v13, on.v13; subgroup_size_control, compute_full_subgroups, shader_demote_to_helper_invocation,
            shader_terminate_invocation, shader_zero_initialize_workgroup_memory, shader_integer_dot_product,
            maintenance4);
        select!(self.atomic_float, on.atomic_float; shader_buffer_float32_atomics, shader_buffer_float32_atomic_add,
            shader_buffer_float64_atomics, shader_buffer_float64_atomic_add, shader_shared_float32_atomics,
            shader_shared_float32_atomic_add, shader_shared_float64_atomics, shader_shared_float64_atomic_add,
            shader_image_float32_atomics, shader_image_float32_atomic_add);
        select!(self.atomic_float2, on.atomic_float2; shader_buffer_float16_atomics, shader_buffer_float16_atomic_add,
            shader_buffer_float16_atomic_min_max, shader_buffer_float32_atomic_min_max,
            shader_buffer_float64_atomic_min_max, shader_shared_float16_atomics, shader_shared_float16_atomic_add,
            shader_shared_float16_atomic_min_max, shader_shared_float32_atomic_min_max,
            shader_shared_float64_atomic_min_max, shader_image_float32_atomic_min_max);
        select!(self.image_atomic64, on.image_atomic64; shader_image_int64_atomics);
        select!(self.rotate, on.rotate; shader_subgroup_rotate, shader_subgroup_rotate_clustered);
        select!(self.expect_assume, on.expect_assume; shader_expect_assume);
        select!(self.uniform_flow, on.uniform_flow; shader_subgroup_uniform_control_flow);
        select!(self.reconvergence, on.reconvergence; shader_maximal_reconvergence);
        select!(self.quad_control, on.quad_control; shader_quad_control);
        select!(self.float_controls2, on.float_controls2; shader_float_controls2);
        select!(self.untyped_pointers, on.untyped_pointers; shader_untyped_pointers);
        select!(self.bfloat16, on.bfloat16; kind, dot_product, cooperative_matrix);
        select!(self.clock, on.clock; shader_subgroup_clock, shader_device_clock);
        select!(self.explicit_layout, on.explicit_layout; workgroup_memory_explicit_layout,
            workgroup_memory_explicit_layout_scalar_block_layout, workgroup_memory_explicit_layout8_bit_access,
            workgroup_memory_explicit_layout16_bit_access);
        select!(self.cooperative_matrix, on.cooperative_matrix; cooperative_matrix);
        on
    }
}
