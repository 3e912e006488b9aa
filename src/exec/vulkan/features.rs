//! Device features: what a device has, what is switched on, and which of them a module's capabilities need.
//!
//! Knows: for each SPIR-V capability a compute module may declare, the Vulkan feature behind it (Vulkan specification,
//! appendix "Vulkan Environment for SPIR-V", "SPIR-V Capabilities"); for each float-control mode, its property.
//! Promises: a capability that is in no row is refused by name, never let through.
//! Does not cover: limits of sizes and counts (`fit`).

use super::BufferRobustness;
use ash::{ext, khr, vk};
use rspirv::spirv::Capability;
use std::ffi::CStr;

/// Feature structures of a device; those of extensions and versions that it lacks are all false.
#[derive(Clone, Default)]
pub struct Features {
    pub core: vk::PhysicalDeviceFeatures,
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    pub clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
    pub explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    pub cooperative_matrix: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>,
    /// Extensions of the device that this engine knows.
    extensions: Vec<&'static CStr>,
    version: u32,
}

/// Extensions with a feature structure in [`Features`].
const EXTENSIONS: &[&CStr] = &[
    ext::shader_atomic_float::NAME,
    khr::shader_clock::NAME,
    khr::workgroup_memory_explicit_layout::NAME,
    khr::cooperative_matrix::NAME,
];

macro_rules! select {
    ($from:expr, $to:expr; $($field:ident),* $(,)?) => { $($to.$field = $from.$field;)* };
}

impl Features {
    /// Asks with a chain that holds only structures the device knows.
    pub fn query(version: u32, offered: Vec<String>, ask: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>)) -> Self {
        let known = EXTENSIONS.iter().copied();
        let has = |name: &CStr| offered.iter().any(|offered| offered.as_bytes() == name.to_bytes());
        let mut features = Self { version, extensions: known.filter(|name| has(name)).collect(), ..Self::default() };
        let mut chained = features.clone();
        let mut older = Older::default();
        let mut chain = chained.chain(&mut older);
        ask(&mut chain);
        features.core = chain.features;
        (features.v11, features.v12, features.v13) = (chained.v11, chained.v12, chained.v13);
        (features.atomic_float, features.clock) = (chained.atomic_float, chained.clock);
        (features.explicit_layout, features.cooperative_matrix) = (chained.explicit_layout, chained.cooperative_matrix);
        older.merge_into(&mut features.v11);
        features.unlink();
        features
    }

    /// Chains the structures that the device's version and extensions allow.
    pub fn chain<'a>(&'a mut self, older: &'a mut Older) -> vk::PhysicalDeviceFeatures2<'a> {
        let mut chain = vk::PhysicalDeviceFeatures2::default().features(self.core);
        if self.version >= vk::API_VERSION_1_2 {
            chain = chain.push_next(&mut self.v11).push_next(&mut self.v12);
        } else {
            chain = chain.push_next(&mut older.storage16).push_next(&mut older.variable_pointers);
        }
        if self.version >= vk::API_VERSION_1_3 {
            chain = chain.push_next(&mut self.v13);
        }
        if self.extensions.contains(&ext::shader_atomic_float::NAME) {
            chain = chain.push_next(&mut self.atomic_float);
        }
        if self.extensions.contains(&khr::shader_clock::NAME) {
            chain = chain.push_next(&mut self.clock);
        }
        if self.extensions.contains(&khr::workgroup_memory_explicit_layout::NAME) {
            chain = chain.push_next(&mut self.explicit_layout);
        }
        if self.extensions.contains(&khr::cooperative_matrix::NAME) {
            chain = chain.push_next(&mut self.cooperative_matrix);
        }
        chain
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
    }

    /// The extensions to switch on.
    pub fn extensions(&self) -> &[&'static CStr] {
        &self.extensions
    }

    /// What to switch on: everything a compute kernel may need and the device has; nothing else.
    pub fn for_compute(&self, robustness: BufferRobustness) -> Self {
        let mut on = Self { version: self.version, extensions: self.extensions.clone(), ..Self::default() };
        select!(self.core, on.core; shader_float64, shader_int64, shader_int16,
            shader_uniform_buffer_array_dynamic_indexing, shader_storage_buffer_array_dynamic_indexing);
        if robustness == BufferRobustness::On {
            on.core.robust_buffer_access = self.core.robust_buffer_access;
        }
        select!(self.v11, on.v11; storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access,
            storage_push_constant16, variable_pointers_storage_buffer, variable_pointers);
        select!(self.v12, on.v12; storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access,
            storage_push_constant8, shader_buffer_int64_atomics, shader_shared_int64_atomics, shader_float16, shader_int8,
            descriptor_indexing, shader_uniform_buffer_array_non_uniform_indexing,
            shader_storage_buffer_array_non_uniform_indexing, runtime_descriptor_array, scalar_block_layout,
            uniform_buffer_standard_layout, shader_subgroup_extended_types, buffer_device_address, vulkan_memory_model,
            vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains);
        select!(self.v13, on.v13; subgroup_size_control, compute_full_subgroups, shader_demote_to_helper_invocation,
            shader_terminate_invocation, shader_zero_initialize_workgroup_memory, shader_integer_dot_product,
            maintenance4);
        select!(self.atomic_float, on.atomic_float; shader_buffer_float32_atomics, shader_buffer_float32_atomic_add,
            shader_buffer_float64_atomics, shader_buffer_float64_atomic_add, shader_shared_float32_atomics,
            shader_shared_float32_atomic_add, shader_shared_float64_atomics, shader_shared_float64_atomic_add);
        select!(self.clock, on.clock; shader_subgroup_clock, shader_device_clock);
        select!(self.explicit_layout, on.explicit_layout; workgroup_memory_explicit_layout,
            workgroup_memory_explicit_layout_scalar_block_layout, workgroup_memory_explicit_layout8_bit_access,
            workgroup_memory_explicit_layout16_bit_access);
        select!(self.cooperative_matrix, on.cooperative_matrix; cooperative_matrix);
        on
    }
}

/// Structures that say on a 1.1 device what `PhysicalDeviceVulkan11Features` says on a newer one.
#[derive(Default)]
pub struct Older {
    storage16: vk::PhysicalDevice16BitStorageFeatures<'static>,
    variable_pointers: vk::PhysicalDeviceVariablePointersFeatures<'static>,
}

impl Older {
    /// The structures that switch on what `v11` has on.
    pub fn of(v11: &vk::PhysicalDeviceVulkan11Features<'_>) -> Self {
        let mut older = Self::default();
        select!(v11, older.storage16; storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access,
            storage_push_constant16);
        select!(v11, older.variable_pointers; variable_pointers_storage_buffer, variable_pointers);
        older
    }

    /// A structure that was in no chain is all false and changes nothing.
    fn merge_into(&self, v11: &mut vk::PhysicalDeviceVulkan11Features<'_>) {
        v11.storage_buffer16_bit_access |= self.storage16.storage_buffer16_bit_access;
        v11.uniform_and_storage_buffer16_bit_access |= self.storage16.uniform_and_storage_buffer16_bit_access;
        v11.storage_push_constant16 |= self.storage16.storage_push_constant16;
        v11.variable_pointers_storage_buffer |= self.variable_pointers.variable_pointers_storage_buffer;
        v11.variable_pointers |= self.variable_pointers.variable_pointers;
    }
}

/// What decides whether a capability is there.
pub struct Abilities {
    pub features: Features,
    /// subgroupSupportedOperations, none where compute is not among the supported stages.
    pub subgroup: vk::SubgroupFeatureFlags,
    pub float_controls: vk::PhysicalDeviceFloatControlsProperties<'static>,
}

type Test = fn(&Abilities) -> bool;

macro_rules! rows {
    ($($capability:ident => $name:literal, |$a:ident| $test:expr;)*) => {
        &[$((Capability::$capability, $name, |$a: &Abilities| $test)),*]
    };
}

/// Capability, what Vulkan calls it, whether a device has it. `always` rows are part of Vulkan 1.1 for compute.
const CAPABILITIES: &[(Capability, &str, Test)] = rows! {
    Shader => "always", |_a| true;
    Matrix => "always", |_a| true;
    DeviceGroup => "always", |_a| true;
    ImageQuery => "always", |_a| true;
    Sampled1D => "always", |_a| true;
    Image1D => "always", |_a| true;
    SampledBuffer => "always", |_a| true;
    ImageBuffer => "always", |_a| true;
    Int64 => "shaderInt64", |a| a.features.core.shader_int64 != 0;
    Float64 => "shaderFloat64", |a| a.features.core.shader_float64 != 0;
    Int16 => "shaderInt16", |a| a.features.core.shader_int16 != 0;
    Float16 => "shaderFloat16", |a| a.features.v12.shader_float16 != 0;
    Int8 => "shaderInt8", |a| a.features.v12.shader_int8 != 0;
    UniformBufferArrayDynamicIndexing => "shaderUniformBufferArrayDynamicIndexing",
        |a| a.features.core.shader_uniform_buffer_array_dynamic_indexing != 0;
    StorageBufferArrayDynamicIndexing => "shaderStorageBufferArrayDynamicIndexing",
        |a| a.features.core.shader_storage_buffer_array_dynamic_indexing != 0;
    StorageBuffer16BitAccess => "storageBuffer16BitAccess", |a| a.features.v11.storage_buffer16_bit_access != 0;
    UniformAndStorageBuffer16BitAccess => "uniformAndStorageBuffer16BitAccess",
        |a| a.features.v11.uniform_and_storage_buffer16_bit_access != 0;
    StoragePushConstant16 => "storagePushConstant16", |a| a.features.v11.storage_push_constant16 != 0;
    StorageBuffer8BitAccess => "storageBuffer8BitAccess", |a| a.features.v12.storage_buffer8_bit_access != 0;
    UniformAndStorageBuffer8BitAccess => "uniformAndStorageBuffer8BitAccess",
        |a| a.features.v12.uniform_and_storage_buffer8_bit_access != 0;
    StoragePushConstant8 => "storagePushConstant8", |a| a.features.v12.storage_push_constant8 != 0;
    VariablePointersStorageBuffer => "variablePointersStorageBuffer",
        |a| a.features.v11.variable_pointers_storage_buffer != 0;
    VariablePointers => "variablePointers", |a| a.features.v11.variable_pointers != 0;
    Int64Atomics => "shaderBufferInt64Atomics or shaderSharedInt64Atomics",
        |a| a.features.v12.shader_buffer_int64_atomics != 0 || a.features.v12.shader_shared_int64_atomics != 0;
    VulkanMemoryModel => "vulkanMemoryModel", |a| a.features.v12.vulkan_memory_model != 0;
    VulkanMemoryModelDeviceScope => "vulkanMemoryModelDeviceScope",
        |a| a.features.v12.vulkan_memory_model_device_scope != 0;
    ShaderNonUniform => "descriptorIndexing", |a| a.features.v12.descriptor_indexing != 0;
    RuntimeDescriptorArray => "runtimeDescriptorArray", |a| a.features.v12.runtime_descriptor_array != 0;
    UniformBufferArrayNonUniformIndexing => "shaderUniformBufferArrayNonUniformIndexing",
        |a| a.features.v12.shader_uniform_buffer_array_non_uniform_indexing != 0;
    StorageBufferArrayNonUniformIndexing => "shaderStorageBufferArrayNonUniformIndexing",
        |a| a.features.v12.shader_storage_buffer_array_non_uniform_indexing != 0;
    DotProduct => "shaderIntegerDotProduct", |a| a.features.v13.shader_integer_dot_product != 0;
    DotProductInputAll => "shaderIntegerDotProduct", |a| a.features.v13.shader_integer_dot_product != 0;
    DotProductInput4x8Bit => "shaderIntegerDotProduct", |a| a.features.v13.shader_integer_dot_product != 0;
    DotProductInput4x8BitPacked => "shaderIntegerDotProduct", |a| a.features.v13.shader_integer_dot_product != 0;
    GroupNonUniform => "subgroup operation BASIC", |a| a.subgroup.contains(vk::SubgroupFeatureFlags::BASIC);
    GroupNonUniformVote => "subgroup operation VOTE", |a| a.subgroup.contains(vk::SubgroupFeatureFlags::VOTE);
    GroupNonUniformArithmetic => "subgroup operation ARITHMETIC",
        |a| a.subgroup.contains(vk::SubgroupFeatureFlags::ARITHMETIC);
    GroupNonUniformBallot => "subgroup operation BALLOT", |a| a.subgroup.contains(vk::SubgroupFeatureFlags::BALLOT);
    GroupNonUniformShuffle => "subgroup operation SHUFFLE", |a| a.subgroup.contains(vk::SubgroupFeatureFlags::SHUFFLE);
    GroupNonUniformShuffleRelative => "subgroup operation SHUFFLE_RELATIVE",
        |a| a.subgroup.contains(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE);
    GroupNonUniformClustered => "subgroup operation CLUSTERED",
        |a| a.subgroup.contains(vk::SubgroupFeatureFlags::CLUSTERED);
    GroupNonUniformQuad => "subgroup operation QUAD", |a| a.subgroup.contains(vk::SubgroupFeatureFlags::QUAD);
    AtomicFloat32AddEXT => "shaderBufferFloat32AtomicAdd or shaderSharedFloat32AtomicAdd",
        |a| a.features.atomic_float.shader_buffer_float32_atomic_add != 0
            || a.features.atomic_float.shader_shared_float32_atomic_add != 0;
    AtomicFloat64AddEXT => "shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd",
        |a| a.features.atomic_float.shader_buffer_float64_atomic_add != 0
            || a.features.atomic_float.shader_shared_float64_atomic_add != 0;
    ShaderClockKHR => "shaderSubgroupClock or shaderDeviceClock",
        |a| a.features.clock.shader_subgroup_clock != 0 || a.features.clock.shader_device_clock != 0;
    WorkgroupMemoryExplicitLayoutKHR => "workgroupMemoryExplicitLayout",
        |a| a.features.explicit_layout.workgroup_memory_explicit_layout != 0;
    WorkgroupMemoryExplicitLayout8BitAccessKHR => "workgroupMemoryExplicitLayout8BitAccess",
        |a| a.features.explicit_layout.workgroup_memory_explicit_layout8_bit_access != 0;
    WorkgroupMemoryExplicitLayout16BitAccessKHR => "workgroupMemoryExplicitLayout16BitAccess",
        |a| a.features.explicit_layout.workgroup_memory_explicit_layout16_bit_access != 0;
    CooperativeMatrixKHR => "cooperativeMatrix", |a| a.features.cooperative_matrix.cooperative_matrix != 0;
    // Property, not feature: decided per width by the execution modes (`Abilities::float_mode`).
    DenormPreserve => "float controls", |_a| true;
    DenormFlushToZero => "float controls", |_a| true;
    SignedZeroInfNanPreserve => "float controls", |_a| true;
    RoundingModeRTE => "float controls", |_a| true;
    RoundingModeRTZ => "float controls", |_a| true;
};

impl Abilities {
    /// Why `capability` cannot be used here; none: it can.
    pub fn lacks(&self, capability: Capability) -> Option<String> {
        match CAPABILITIES.iter().find(|(listed, _, _)| *listed == capability) {
            Some((_, _, has)) if has(self) => None,
            Some((_, feature, _)) => Some(format!("capability {capability:?} (feature {feature})")),
            None => Some(format!("capability {capability:?} (not known to this engine)")),
        }
    }

    /// Why float-control mode `mode` at `width` bits cannot be used here; none: it can.
    pub fn float_mode(&self, mode: rspirv::spirv::ExecutionMode, width: u32) -> Option<String> {
        use rspirv::spirv::ExecutionMode as Mode;
        let p = &self.float_controls;
        let (name, by_width) = match mode {
            Mode::SignedZeroInfNanPreserve => (
                "shaderSignedZeroInfNanPreserveFloat",
                [
                    p.shader_signed_zero_inf_nan_preserve_float16,
                    p.shader_signed_zero_inf_nan_preserve_float32,
                    p.shader_signed_zero_inf_nan_preserve_float64,
                ],
            ),
            Mode::DenormPreserve => (
                "shaderDenormPreserveFloat",
                [p.shader_denorm_preserve_float16, p.shader_denorm_preserve_float32, p.shader_denorm_preserve_float64],
            ),
            Mode::DenormFlushToZero => (
                "shaderDenormFlushToZeroFloat",
                [
                    p.shader_denorm_flush_to_zero_float16,
                    p.shader_denorm_flush_to_zero_float32,
                    p.shader_denorm_flush_to_zero_float64,
                ],
            ),
            Mode::RoundingModeRTE => (
                "shaderRoundingModeRTEFloat",
                [
                    p.shader_rounding_mode_rte_float16,
                    p.shader_rounding_mode_rte_float32,
                    p.shader_rounding_mode_rte_float64,
                ],
            ),
            Mode::RoundingModeRTZ => (
                "shaderRoundingModeRTZFloat",
                [
                    p.shader_rounding_mode_rtz_float16,
                    p.shader_rounding_mode_rtz_float32,
                    p.shader_rounding_mode_rtz_float64,
                ],
            ),
            _ => return None,
        };
        let held = match width {
            16 => by_width[0],
            32 => by_width[1],
            64 => by_width[2],
            _ => vk::FALSE,
        };
        (held == vk::FALSE).then(|| format!("execution mode {mode:?} {width} (property {name}{width})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_has_one_row() {
        for (index, (capability, _, _)) in CAPABILITIES.iter().enumerate() {
            assert!(CAPABILITIES[..index].iter().all(|(earlier, _, _)| earlier != capability), "{capability:?} twice");
        }
    }

    #[test]
    fn a_device_without_features_lacks_everything_but_the_basics() {
        let bare = Abilities {
            features: Features::default(),
            subgroup: vk::SubgroupFeatureFlags::empty(),
            float_controls: vk::PhysicalDeviceFloatControlsProperties::default(),
        };
        for (capability, feature, _) in CAPABILITIES {
            let needed = !matches!(*feature, "always" | "float controls");
            assert_eq!(bare.lacks(*capability).is_some(), needed, "{capability:?}");
        }
        assert_eq!(bare.lacks(Capability::Kernel).as_deref(), Some("capability Kernel (not known to this engine)"));
        let mode = rspirv::spirv::ExecutionMode::RoundingModeRTE;
        assert_eq!(
            bare.float_mode(mode, 16).as_deref(),
            Some("execution mode RoundingModeRTE 16 (property shaderRoundingModeRTEFloat16)")
        );
    }
}
