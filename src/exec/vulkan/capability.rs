//! What a module's capabilities, extensions and atomics need of a device.
//!
//! Knows: for each SPIR-V capability a compute module may declare, the Vulkan feature behind it (Vulkan specification,
//! appendix "Vulkan Environment for SPIR-V", "SPIR-V Capabilities"); for each float-control mode, its property; for each
//! SPIR-V extension what lets it be used; for each atomic on 64-bit integers and floats, the feature of the memory it is in.
//! Promises: a capability or extension that is in no row is refused by name, never let through.
//! Does not cover: limits of sizes and counts (`fit`), formats of images (`image_fit`).

use super::features::Features;
use super::needs::{AtomicKind, AtomicMemory, AtomicUse};
use super::robustness::Granted;
use ash::{ext, khr, nv, vk};
use rspirv::spirv::Capability;

/// What decides whether a capability is there.
pub struct Abilities {
    pub features: Features,
    /// subgroupSupportedOperations, none where compute is not among the supported stages.
    pub subgroup: vk::SubgroupFeatureFlags,
    pub float_controls: vk::PhysicalDeviceFloatControlsProperties<'static>,
    pub robustness: Granted,
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
    StorageImageExtendedFormats => "shaderStorageImageExtendedFormats",
        |a| a.features.core.shader_storage_image_extended_formats != 0;
    StorageImageReadWithoutFormat => "shaderStorageImageReadWithoutFormat",
        |a| a.features.core.shader_storage_image_read_without_format != 0;
    StorageImageWriteWithoutFormat => "shaderStorageImageWriteWithoutFormat",
        |a| a.features.core.shader_storage_image_write_without_format != 0;
    ImageCubeArray => "imageCubeArray", |a| a.features.core.image_cube_array != 0;
    SampledCubeArray => "imageCubeArray", |a| a.features.core.image_cube_array != 0;
    ImageGatherExtended => "shaderImageGatherExtended", |a| a.features.core.shader_image_gather_extended != 0;
    MinLod => "shaderResourceMinLod", |a| a.features.core.shader_resource_min_lod != 0;
    SampledImageArrayDynamicIndexing => "shaderSampledImageArrayDynamicIndexing",
        |a| a.features.core.shader_sampled_image_array_dynamic_indexing != 0;
    StorageImageArrayDynamicIndexing => "shaderStorageImageArrayDynamicIndexing",
        |a| a.features.core.shader_storage_image_array_dynamic_indexing != 0;
    UniformTexelBufferArrayDynamicIndexing => "shaderUniformTexelBufferArrayDynamicIndexing",
        |a| a.features.v12.shader_uniform_texel_buffer_array_dynamic_indexing != 0;
    StorageTexelBufferArrayDynamicIndexing => "shaderStorageTexelBufferArrayDynamicIndexing",
        |a| a.features.v12.shader_storage_texel_buffer_array_dynamic_indexing != 0;
    SampledImageArrayNonUniformIndexing => "shaderSampledImageArrayNonUniformIndexing",
        |a| a.features.v12.shader_sampled_image_array_non_uniform_indexing != 0;
    StorageImageArrayNonUniformIndexing => "shaderStorageImageArrayNonUniformIndexing",
        |a| a.features.v12.shader_storage_image_array_non_uniform_indexing != 0;
    UniformTexelBufferArrayNonUniformIndexing => "shaderUniformTexelBufferArrayNonUniformIndexing",
        |a| a.features.v12.shader_uniform_texel_buffer_array_non_uniform_indexing != 0;
    StorageTexelBufferArrayNonUniformIndexing => "shaderStorageTexelBufferArrayNonUniformIndexing",
        |a| a.features.v12.shader_storage_texel_buffer_array_non_uniform_indexing != 0;
    PhysicalStorageBufferAddresses => "bufferDeviceAddress", |a| a.features.v12.buffer_device_address != 0;
    Int64ImageEXT => "shaderImageInt64Atomics", |a| a.features.image_atomic64.shader_image_int64_atomics != 0;
    DemoteToHelperInvocation => "shaderDemoteToHelperInvocation",
        |a| a.features.v13.shader_demote_to_helper_invocation != 0;
    ExpectAssumeKHR => "shaderExpectAssume", |a| a.features.expect_assume.shader_expect_assume != 0;
    GroupNonUniformRotateKHR => "shaderSubgroupRotate", |a| a.features.rotate.shader_subgroup_rotate != 0;
    AtomicFloat16AddEXT => "shaderBufferFloat16AtomicAdd or shaderSharedFloat16AtomicAdd",
        |a| a.features.atomic_float2.shader_buffer_float16_atomic_add != 0
            || a.features.atomic_float2.shader_shared_float16_atomic_add != 0;
    AtomicFloat16MinMaxEXT => "shaderBufferFloat16AtomicMinMax or shaderSharedFloat16AtomicMinMax",
        |a| a.features.atomic_float2.shader_buffer_float16_atomic_min_max != 0
            || a.features.atomic_float2.shader_shared_float16_atomic_min_max != 0;
    AtomicFloat32MinMaxEXT => "shaderBufferFloat32AtomicMinMax, shaderSharedFloat32AtomicMinMax or shaderImageFloat32AtomicMinMax",
        |a| a.features.atomic_float2.shader_buffer_float32_atomic_min_max != 0
            || a.features.atomic_float2.shader_shared_float32_atomic_min_max != 0
            || a.features.atomic_float2.shader_image_float32_atomic_min_max != 0;
    AtomicFloat64MinMaxEXT => "shaderBufferFloat64AtomicMinMax or shaderSharedFloat64AtomicMinMax",
        |a| a.features.atomic_float2.shader_buffer_float64_atomic_min_max != 0
            || a.features.atomic_float2.shader_shared_float64_atomic_min_max != 0;
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
    ShaderNonUniform => "Vulkan 1.2 or VK_EXT_descriptor_indexing", |a| a.features.has(ext::descriptor_indexing::NAME);
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
    GroupNonUniformPartitionedEXT => "subgroup operation PARTITIONED (VK_NV_shader_subgroup_partitioned)",
        |a| a.subgroup.contains(vk::SubgroupFeatureFlags::PARTITIONED_NV)
            && a.features.has(nv::shader_subgroup_partitioned::NAME);
    SubgroupBallotKHR => "VK_EXT_shader_subgroup_ballot", |a| a.features.has(ext::shader_subgroup_ballot::NAME);
    SubgroupVoteKHR => "VK_EXT_shader_subgroup_vote", |a| a.features.has(ext::shader_subgroup_vote::NAME);
    QuadControlKHR => "shaderQuadControl", |a| a.features.quad_control.shader_quad_control != 0;
    UntypedPointersKHR => "shaderUntypedPointers", |a| a.features.untyped_pointers.shader_untyped_pointers != 0;
    BFloat16TypeKHR => "shaderBFloat16Type", |a| a.features.bfloat16.kind != 0;
    BFloat16DotProductKHR => "shaderBFloat16DotProduct", |a| a.features.bfloat16.dot_product != 0;
    BFloat16CooperativeMatrixKHR => "shaderBFloat16CooperativeMatrix",
        |a| a.features.bfloat16.cooperative_matrix != 0;
    FloatControls2 => "shaderFloatControls2", |a| a.features.float_controls2.shader_float_controls2 != 0;
    GroupNonUniformQuad => "subgroup operation QUAD", |a| a.subgroup.contains(vk::SubgroupFeatureFlags::QUAD);
    AtomicFloat32AddEXT => "shaderBufferFloat32AtomicAdd, shaderSharedFloat32AtomicAdd or shaderImageFloat32AtomicAdd",
        |a| a.features.atomic_float.shader_buffer_float32_atomic_add != 0
            || a.features.atomic_float.shader_image_float32_atomic_add != 0
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

/// SPIR-V extensions: name, what lets it be used, whether it may be. Those that declare a capability are decided by it.
const EXTENSIONS: &[(&str, &str, Test)] = &[
    ("SPV_KHR_storage_buffer_storage_class", "always", |_| true),
    ("SPV_KHR_variable_pointers", "by capability", |_| true),
    ("SPV_KHR_16bit_storage", "by capability", |_| true),
    ("SPV_KHR_8bit_storage", "by capability", |_| true),
    ("SPV_KHR_device_group", "always", |_| true),
    ("SPV_KHR_multiview", "always", |_| true),
    ("SPV_KHR_shader_draw_parameters", "always", |_| true),
    ("SPV_GOOGLE_decorate_string", "always", |_| true),
    ("SPV_GOOGLE_hlsl_functionality1", "always", |_| true),
    ("SPV_GOOGLE_user_type", "always", |_| true),
    ("SPV_KHR_physical_storage_buffer", "by capability", |_| true),
    ("SPV_EXT_physical_storage_buffer", "by capability", |_| true),
    ("SPV_EXT_descriptor_indexing", "by capability", |_| true),
    ("SPV_KHR_vulkan_memory_model", "by capability", |_| true),
    ("SPV_KHR_shader_clock", "by capability", |_| true),
    ("SPV_EXT_shader_atomic_float_add", "by capability", |_| true),
    ("SPV_EXT_shader_atomic_float_min_max", "by capability", |_| true),
    ("SPV_EXT_shader_atomic_float16_add", "by capability", |_| true),
    ("SPV_EXT_shader_image_int64", "by capability", |_| true),
    ("SPV_EXT_demote_to_helper_invocation", "by capability", |_| true),
    ("SPV_KHR_integer_dot_product", "by capability", |_| true),
    ("SPV_KHR_workgroup_memory_explicit_layout", "by capability", |_| true),
    ("SPV_KHR_cooperative_matrix", "by capability", |_| true),
    ("SPV_KHR_expect_assume", "by capability", |_| true),
    ("SPV_KHR_subgroup_rotate", "by capability", |_| true),
    ("SPV_KHR_shader_ballot", "by capability", |_| true),
    ("SPV_KHR_subgroup_vote", "by capability", |_| true),
    ("SPV_KHR_quad_control", "by capability", |_| true),
    ("SPV_KHR_float_controls2", "by capability", |_| true),
    ("SPV_KHR_untyped_pointers", "by capability", |_| true),
    ("SPV_KHR_bfloat16", "by capability", |_| true),
    ("SPV_NV_shader_subgroup_partitioned", "by capability", |_| true),
    ("SPV_KHR_float_controls", "Vulkan 1.2 or VK_KHR_shader_float_controls", |a| {
        a.features.has(khr::shader_float_controls::NAME)
    }),
    ("SPV_KHR_no_integer_wrap_decoration", "Vulkan 1.2", |a| a.features.version() >= vk::API_VERSION_1_2),
    ("SPV_KHR_non_semantic_info", "Vulkan 1.3 or VK_KHR_shader_non_semantic_info", |a| {
        a.features.has(khr::shader_non_semantic_info::NAME)
    }),
    ("SPV_KHR_terminate_invocation", "shaderTerminateInvocation", |a| a.features.v13.shader_terminate_invocation != 0),
    ("SPV_KHR_subgroup_uniform_control_flow", "shaderSubgroupUniformControlFlow", |a| {
        a.features.uniform_flow.shader_subgroup_uniform_control_flow != 0
    }),
    ("SPV_KHR_maximal_reconvergence", "shaderMaximalReconvergence", |a| {
        a.features.reconvergence.shader_maximal_reconvergence != 0
    }),
];

/// Atomics with the feature of their memory (Vulkan specification, "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT" and the
/// structures beside it): what is atomic, bits, where, feature, whether it is on.
type AtomicRow = (AtomicKind, u32, AtomicMemory, &'static str, Test);
const ATOMICS: &[AtomicRow] = {
    use AtomicKind::{FloatAdd, FloatExchange, FloatMinMax, Integer};
    use AtomicMemory::{Buffer, Image, Workgroup};
    &[
        (Integer, 64, Buffer, "shaderBufferInt64Atomics", |a| a.features.v12.shader_buffer_int64_atomics != 0),
        (Integer, 64, Workgroup, "shaderSharedInt64Atomics", |a| a.features.v12.shader_shared_int64_atomics != 0),
        (Integer, 64, Image, "shaderImageInt64Atomics", |a| a.features.image_atomic64.shader_image_int64_atomics != 0),
        (FloatExchange, 16, Buffer, "shaderBufferFloat16Atomics", |a| {
            a.features.atomic_float2.shader_buffer_float16_atomics != 0
        }),
        (FloatExchange, 16, Workgroup, "shaderSharedFloat16Atomics", |a| {
            a.features.atomic_float2.shader_shared_float16_atomics != 0
        }),
        (FloatExchange, 32, Buffer, "shaderBufferFloat32Atomics", |a| {
            a.features.atomic_float.shader_buffer_float32_atomics != 0
        }),
        (FloatExchange, 32, Workgroup, "shaderSharedFloat32Atomics", |a| {
            a.features.atomic_float.shader_shared_float32_atomics != 0
        }),
        (FloatExchange, 32, Image, "shaderImageFloat32Atomics", |a| {
            a.features.atomic_float.shader_image_float32_atomics != 0
        }),
        (FloatExchange, 64, Buffer, "shaderBufferFloat64Atomics", |a| {
            a.features.atomic_float.shader_buffer_float64_atomics != 0
        }),
        (FloatExchange, 64, Workgroup, "shaderSharedFloat64Atomics", |a| {
            a.features.atomic_float.shader_shared_float64_atomics != 0
        }),
        (FloatAdd, 16, Buffer, "shaderBufferFloat16AtomicAdd", |a| {
            a.features.atomic_float2.shader_buffer_float16_atomic_add != 0
        }),
        (FloatAdd, 16, Workgroup, "shaderSharedFloat16AtomicAdd", |a| {
            a.features.atomic_float2.shader_shared_float16_atomic_add != 0
        }),
        (FloatAdd, 32, Buffer, "shaderBufferFloat32AtomicAdd", |a| {
            a.features.atomic_float.shader_buffer_float32_atomic_add != 0
        }),
        (FloatAdd, 32, Workgroup, "shaderSharedFloat32AtomicAdd", |a| {
            a.features.atomic_float.shader_shared_float32_atomic_add != 0
        }),
        (FloatAdd, 32, Image, "shaderImageFloat32AtomicAdd", |a| {
            a.features.atomic_float.shader_image_float32_atomic_add != 0
        }),
        (FloatAdd, 64, Buffer, "shaderBufferFloat64AtomicAdd", |a| {
            a.features.atomic_float.shader_buffer_float64_atomic_add != 0
        }),
        (FloatAdd, 64, Workgroup, "shaderSharedFloat64AtomicAdd", |a| {
            a.features.atomic_float.shader_shared_float64_atomic_add != 0
        }),
        (FloatMinMax, 16, Buffer, "shaderBufferFloat16AtomicMinMax", |a| {
            a.features.atomic_float2.shader_buffer_float16_atomic_min_max != 0
        }),
        (FloatMinMax, 16, Workgroup, "shaderSharedFloat16AtomicMinMax", |a| {
            a.features.atomic_float2.shader_shared_float16_atomic_min_max != 0
        }),
        (FloatMinMax, 32, Buffer, "shaderBufferFloat32AtomicMinMax", |a| {
            a.features.atomic_float2.shader_buffer_float32_atomic_min_max != 0
        }),
        (FloatMinMax, 32, Workgroup, "shaderSharedFloat32AtomicMinMax", |a| {
            a.features.atomic_float2.shader_shared_float32_atomic_min_max != 0
        }),
        (FloatMinMax, 32, Image, "shaderImageFloat32AtomicMinMax", |a| {
            a.features.atomic_float2.shader_image_float32_atomic_min_max != 0
        }),
        (FloatMinMax, 64, Buffer, "shaderBufferFloat64AtomicMinMax", |a| {
            a.features.atomic_float2.shader_buffer_float64_atomic_min_max != 0
        }),
        (FloatMinMax, 64, Workgroup, "shaderSharedFloat64AtomicMinMax", |a| {
            a.features.atomic_float2.shader_shared_float64_atomic_min_max != 0
        }),
    ]
};

/// What Vulkan calls the feature behind a capability; none: the capability is not known to this engine.
pub fn feature_of(capability: Capability) -> Option<&'static str> {
    CAPABILITIES.iter().find(|(listed, _, _)| *listed == capability).map(|(_, feature, _)| *feature)
}

impl Abilities {
    /// Why a module with this extension cannot be used here; none: it can.
    pub fn lacks_extension(&self, extension: &str) -> Option<String> {
        match EXTENSIONS.iter().find(|(listed, _, _)| *listed == extension) {
            Some((_, _, has)) if has(self) => None,
            Some((_, needs, _)) => Some(format!("extension {extension} (needs {needs})")),
            None => Some(format!("extension {extension} (not known to this engine)")),
        }
    }

    /// Why an atomic cannot be used here; none: it can. Every device has those on 32-bit integers.
    pub fn lacks_atomic(&self, wanted: &AtomicUse) -> Option<String> {
        let AtomicUse { kind, width, memory } = *wanted;
        if kind == AtomicKind::Integer && width == 32 {
            return None;
        }
        let what = format!("{width}-bit {} atomics in {}", kind.name(), memory.name());
        match ATOMICS.iter().find(|row| (row.0, row.1, row.2) == (kind, width, memory)) {
            Some((.., has)) if has(self) => None,
            Some((_, _, _, feature, _)) => Some(format!("{what} (feature {feature})")),
            None => Some(format!("{what} (not known to this engine)")),
        }
    }

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
    use super::super::robustness::{self, Robustness};
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
            robustness: robustness::grant(Robustness::Off, &Features::default()),
        };
        for (extension, needs, _) in EXTENSIONS {
            let needed = !matches!(*needs, "always" | "by capability");
            assert_eq!(bare.lacks_extension(extension).is_some(), needed, "{extension}");
        }
        for (kind, width, memory, feature, _) in ATOMICS {
            let lack = bare.lacks_atomic(&AtomicUse { kind: *kind, width: *width, memory: *memory });
            assert!(lack.is_some_and(|lack| lack.contains(feature)), "{feature}");
        }
        assert_eq!(
            bare.lacks_extension("SPV_INTEL_subgroups").as_deref(),
            Some("extension SPV_INTEL_subgroups (not known to this engine)")
        );
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
