//! What a module's capabilities, extensions and atomics need of a device.
//!
//! Knows: how to ask a device for the feature behind each SPIR-V capability that a compute module
//! may declare (named in `spirv::interface`); for each float-control mode, its property; for each
//! SPIR-V extension what lets it be used; for each atomic on 64-bit integers and floats, the
//! feature of the memory it is in.
//! Promises: a capability or extension that is in no row is refused by name, never let through.
//! Does not cover: limits of sizes and counts (`fit`), formats of images (`image_fit`).

use super::features::Features;
use super::robustness::Granted;
use ash::{ext, khr, nv, vk};
use rspirv::spirv::Capability;
use vkcert_spirv::interface::{AtomicKind, AtomicMemory, AtomicUse, feature_of};

/// What decides whether a capability is there.
pub(crate) struct Abilities {
    pub features: Features,
    /// subgroupSupportedOperations, none where compute is not among the supported stages.
    pub subgroup: vk::SubgroupFeatureFlags,
    pub float_controls: vk::PhysicalDeviceFloatControlsProperties<'static>,
    pub robustness: Granted,
}

type Test = fn(&Abilities) -> bool;

macro_rules! rows {
    ($($capability:ident => |$a:ident| $test:expr;)*) => {
        &[$((Capability::$capability, |$a: &Abilities| $test)),*]
    };
}

/// Capability, whether a device has it: a row for each of [`FEATURES`].
const CAPABILITIES: &[(Capability, Test)] = rows! {
    Shader => |_a| true;
    Matrix => |_a| true;
    DeviceGroup => |_a| true;
    ImageQuery => |_a| true;
    Sampled1D => |_a| true;
    Image1D => |_a| true;
    SampledBuffer => |_a| true;
    ImageBuffer => |_a| true;
    Int64 => |a| a.features.core.shader_int64 != 0;
    Float64 => |a| a.features.core.shader_float64 != 0;
    Int16 => |a| a.features.core.shader_int16 != 0;
    Float16 => |a| a.features.v12.shader_float16 != 0;
    Int8 => |a| a.features.v12.shader_int8 != 0;
    StorageImageExtendedFormats => |a| a.features.core.shader_storage_image_extended_formats != 0;
    StorageImageReadWithoutFormat => |a| a.features.core.shader_storage_image_read_without_format != 0;
    StorageImageWriteWithoutFormat => |a| a.features.core.shader_storage_image_write_without_format != 0;
    ImageCubeArray => |a| a.features.core.image_cube_array != 0;
    SampledCubeArray => |a| a.features.core.image_cube_array != 0;
    ImageGatherExtended => |a| a.features.core.shader_image_gather_extended != 0;
    MinLod => |a| a.features.core.shader_resource_min_lod != 0;
    SampledImageArrayDynamicIndexing => |a| a.features.core.shader_sampled_image_array_dynamic_indexing != 0;
    StorageImageArrayDynamicIndexing => |a| a.features.core.shader_storage_image_array_dynamic_indexing != 0;
    UniformTexelBufferArrayDynamicIndexing => |a| a.features.v12.shader_uniform_texel_buffer_array_dynamic_indexing != 0;
    StorageTexelBufferArrayDynamicIndexing => |a| a.features.v12.shader_storage_texel_buffer_array_dynamic_indexing != 0;
    SampledImageArrayNonUniformIndexing => |a| a.features.v12.shader_sampled_image_array_non_uniform_indexing != 0;
    StorageImageArrayNonUniformIndexing => |a| a.features.v12.shader_storage_image_array_non_uniform_indexing != 0;
    UniformTexelBufferArrayNonUniformIndexing => |a| a.features.v12.shader_uniform_texel_buffer_array_non_uniform_indexing != 0;
    StorageTexelBufferArrayNonUniformIndexing => |a| a.features.v12.shader_storage_texel_buffer_array_non_uniform_indexing != 0;
    PhysicalStorageBufferAddresses => |a| a.features.v12.buffer_device_address != 0;
    Int64ImageEXT => |a| a.features.image_atomic64.shader_image_int64_atomics != 0;
    DemoteToHelperInvocation => |a| a.features.v13.shader_demote_to_helper_invocation != 0;
    ExpectAssumeKHR => |a| a.features.expect_assume.shader_expect_assume != 0;
    GroupNonUniformRotateKHR => |a| a.features.rotate.shader_subgroup_rotate != 0;
    AtomicFloat16AddEXT => |a| a.features.atomic_float2.shader_buffer_float16_atomic_add != 0
            || a.features.atomic_float2.shader_shared_float16_atomic_add != 0;
    AtomicFloat16MinMaxEXT => |a| a.features.atomic_float2.shader_buffer_float16_atomic_min_max != 0
            || a.features.atomic_float2.shader_shared_float16_atomic_min_max != 0;
    AtomicFloat32MinMaxEXT => |a| a.features.atomic_float2.shader_buffer_float32_atomic_min_max != 0
            || a.features.atomic_float2.shader_shared_float32_atomic_min_max != 0
            || a.features.atomic_float2.shader_image_float32_atomic_min_max != 0;
    AtomicFloat64MinMaxEXT => |a| a.features.atomic_float2.shader_buffer_float64_atomic_min_max != 0
            || a.features.atomic_float2.shader_shared_float64_atomic_min_max != 0;
    UniformBufferArrayDynamicIndexing => |a| a.features.core.shader_uniform_buffer_array_dynamic_indexing != 0;
    StorageBufferArrayDynamicIndexing => |a| a.features.core.shader_storage_buffer_array_dynamic_indexing != 0;
    StorageBuffer16BitAccess => |a| a.features.v11.storage_buffer16_bit_access != 0;
    UniformAndStorageBuffer16BitAccess => |a| a.features.v11.uniform_and_storage_buffer16_bit_access != 0;
    StoragePushConstant16 => |a| a.features.v11.storage_push_constant16 != 0;
    StorageBuffer8BitAccess => |a| a.features.v12.storage_buffer8_bit_access != 0;
    UniformAndStorageBuffer8BitAccess => |a| a.features.v12.uniform_and_storage_buffer8_bit_access != 0;
    StoragePushConstant8 => |a| a.features.v12.storage_push_constant8 != 0;
    VariablePointersStorageBuffer => |a| a.features.v11.variable_pointers_storage_buffer != 0;
    VariablePointers => |a| a.features.v11.variable_pointers != 0;
    Int64Atomics => |a| a.features.v12.shader_buffer_int64_atomics != 0 || a.features.v12.shader_shared_int64_atomics != 0;
    VulkanMemoryModel => |a| a.features.v12.vulkan_memory_model != 0;
    VulkanMemoryModelDeviceScope => |a| a.features.v12.vulkan_memory_model_device_scope != 0;
    ShaderNonUniform => |a| a.features.has(ext::descriptor_indexing::NAME);
    RuntimeDescriptorArray => |a| a.features.v12.runtime_descriptor_array != 0;
    UniformBufferArrayNonUniformIndexing => |a| a.features.v12.shader_uniform_buffer_array_non_uniform_indexing != 0;
    StorageBufferArrayNonUniformIndexing => |a| a.features.v12.shader_storage_buffer_array_non_uniform_indexing != 0;
    DotProduct => |a| a.features.v13.shader_integer_dot_product != 0;
    DotProductInputAll => |a| a.features.v13.shader_integer_dot_product != 0;
    DotProductInput4x8Bit => |a| a.features.v13.shader_integer_dot_product != 0;
    DotProductInput4x8BitPacked => |a| a.features.v13.shader_integer_dot_product != 0;
    GroupNonUniform => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::BASIC);
    GroupNonUniformVote => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::VOTE);
    GroupNonUniformArithmetic => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::ARITHMETIC);
    GroupNonUniformBallot => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::BALLOT);
    GroupNonUniformShuffle => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::SHUFFLE);
    GroupNonUniformShuffleRelative => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE);
    GroupNonUniformClustered => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::CLUSTERED);
    GroupNonUniformPartitionedEXT => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::PARTITIONED_NV)
            && a.features.has(nv::shader_subgroup_partitioned::NAME);
    SubgroupBallotKHR => |a| a.features.has(ext::shader_subgroup_ballot::NAME);
    SubgroupVoteKHR => |a| a.features.has(ext::shader_subgroup_vote::NAME);
    QuadControlKHR => |a| a.features.quad_control.shader_quad_control != 0;
    UntypedPointersKHR => |a| a.features.untyped_pointers.shader_untyped_pointers != 0;
    BFloat16TypeKHR => |a| a.features.bfloat16.kind != 0;
    BFloat16DotProductKHR => |a| a.features.bfloat16.dot_product != 0;
    BFloat16CooperativeMatrixKHR => |a| a.features.bfloat16.cooperative_matrix != 0;
    FloatControls2 => |a| a.features.float_controls2.shader_float_controls2 != 0;
    GroupNonUniformQuad => |a| a.subgroup.contains(vk::SubgroupFeatureFlags::QUAD);
    AtomicFloat32AddEXT => |a| a.features.atomic_float.shader_buffer_float32_atomic_add != 0
            || a.features.atomic_float.shader_image_float32_atomic_add != 0
            || a.features.atomic_float.shader_shared_float32_atomic_add != 0;
    AtomicFloat64AddEXT => |a| a.features.atomic_float.shader_buffer_float64_atomic_add != 0
            || a.features.atomic_float.shader_shared_float64_atomic_add != 0;
    ShaderClockKHR => |a| a.features.clock.shader_subgroup_clock != 0 || a.features.clock.shader_device_clock != 0;
    WorkgroupMemoryExplicitLayoutKHR => |a| a.features.explicit_layout.workgroup_memory_explicit_layout != 0;
    WorkgroupMemoryExplicitLayout8BitAccessKHR => |a| a.features.explicit_layout.workgroup_memory_explicit_layout8_bit_access != 0;
    WorkgroupMemoryExplicitLayout16BitAccessKHR => |a| a.features.explicit_layout.workgroup_memory_explicit_layout16_bit_access != 0;
    CooperativeMatrixKHR => |a| a.features.cooperative_matrix.cooperative_matrix != 0;
    // Property, not feature: decided per width by the execution modes (`Abilities::float_mode`).
    DenormPreserve => |_a| true;
    DenormFlushToZero => |_a| true;
    SignedZeroInfNanPreserve => |_a| true;
    RoundingModeRTE => |_a| true;
    RoundingModeRTZ => |_a| true;
};

/// SPIR-V extensions: name, what lets it be used, whether it may be. Those that declare a
/// capability are decided by it.
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
    ("SPV_KHR_no_integer_wrap_decoration", "Vulkan 1.2", |a| {
        a.features.version() >= vk::API_VERSION_1_2
    }),
    ("SPV_KHR_non_semantic_info", "Vulkan 1.3 or VK_KHR_shader_non_semantic_info", |a| {
        a.features.has(khr::shader_non_semantic_info::NAME)
    }),
    ("SPV_KHR_terminate_invocation", "shaderTerminateInvocation", |a| {
        a.features.v13.shader_terminate_invocation != 0
    }),
    ("SPV_KHR_subgroup_uniform_control_flow", "shaderSubgroupUniformControlFlow", |a| {
        a.features.uniform_flow.shader_subgroup_uniform_control_flow != 0
    }),
    ("SPV_KHR_maximal_reconvergence", "shaderMaximalReconvergence", |a| {
        a.features.reconvergence.shader_maximal_reconvergence != 0
    }),
];

/// Atomics with the feature of their memory (Vulkan specification,
/// "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT" and the structures beside it): what is atomic,
/// bits, where, feature, whether it is on.
type AtomicRow = (AtomicKind, u32, AtomicMemory, &'static str, Test);
const ATOMICS: &[AtomicRow] = {
    use AtomicKind::{FloatAdd, FloatExchange, FloatMinMax, Integer};
    use AtomicMemory::{Buffer, Image, Workgroup};
    &[
        (Integer, 64, Buffer, "shaderBufferInt64Atomics", |a| {
            a.features.v12.shader_buffer_int64_atomics != 0
        }),
        (Integer, 64, Workgroup, "shaderSharedInt64Atomics", |a| {
            a.features.v12.shader_shared_int64_atomics != 0
        }),
        (Integer, 64, Image, "shaderImageInt64Atomics", |a| {
            a.features.image_atomic64.shader_image_int64_atomics != 0
        }),
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

impl Abilities {
    /// Why a module with this extension cannot be used here; none: it can.
    pub(crate) fn lacks_extension(&self, extension: &str) -> Option<String> {
        match EXTENSIONS.iter().find(|(listed_extension, _, _)| *listed_extension == extension) {
            Some((_, _, has)) if has(self) => None,
            Some((_, needs, _)) => Some(format!("extension {extension} (needs {needs})")),
            None => Some(format!("extension {extension} (not known to this engine)")),
        }
    }

    /// Why an atomic cannot be used here; none: it can. Every device has those on 32-bit integers.
    pub(crate) fn lacks_atomic(&self, atomic_use: &AtomicUse) -> Option<String> {
        let AtomicUse { kind, width: bit_width, memory } = *atomic_use;
        if kind == AtomicKind::Integer && bit_width == 32 {
            return None;
        }
        let atomic_description =
            format!("{bit_width}-bit {} atomics in {}", kind.name(), memory.name());
        match ATOMICS.iter().find(|atomic_row| {
            (atomic_row.0, atomic_row.1, atomic_row.2) == (kind, bit_width, memory)
        }) {
            Some((.., has)) if has(self) => None,
            Some((_, _, _, feature, _)) => {
                Some(format!("{atomic_description} (feature {feature})"))
            }
            None => Some(format!("{atomic_description} (not known to this engine)")),
        }
    }

    /// Why `capability` cannot be used here; none: it can.
    pub(crate) fn lacks_capability(&self, capability: Capability) -> Option<String> {
        let capability_row =
            CAPABILITIES.iter().find(|(listed_capability, _)| *listed_capability == capability);
        match (capability_row, feature_of(capability)) {
            (Some((_, has)), _) if has(self) => None,
            (Some(_), Some(feature)) => {
                Some(format!("capability {capability:?} (feature {feature})"))
            }
            (_, _) => Some(format!("capability {capability:?} (not known to this engine)")),
        }
    }

    /// Why float-control mode `mode` at `width` bits cannot be used here; none: it can.
    pub(crate) fn lacks_float_mode(
        &self,
        mode: rspirv::spirv::ExecutionMode,
        bit_width: u32,
    ) -> Option<String> {
        use rspirv::spirv::ExecutionMode as Mode;
        let float_properties = &self.float_controls;
        let (property_name, by_width) = match mode {
            Mode::SignedZeroInfNanPreserve => (
                "shaderSignedZeroInfNanPreserveFloat",
                [
                    float_properties.shader_signed_zero_inf_nan_preserve_float16,
                    float_properties.shader_signed_zero_inf_nan_preserve_float32,
                    float_properties.shader_signed_zero_inf_nan_preserve_float64,
                ],
            ),
            Mode::DenormPreserve => (
                "shaderDenormPreserveFloat",
                [
                    float_properties.shader_denorm_preserve_float16,
                    float_properties.shader_denorm_preserve_float32,
                    float_properties.shader_denorm_preserve_float64,
                ],
            ),
            Mode::DenormFlushToZero => (
                "shaderDenormFlushToZeroFloat",
                [
                    float_properties.shader_denorm_flush_to_zero_float16,
                    float_properties.shader_denorm_flush_to_zero_float32,
                    float_properties.shader_denorm_flush_to_zero_float64,
                ],
            ),
            Mode::RoundingModeRTE => (
                "shaderRoundingModeRTEFloat",
                [
                    float_properties.shader_rounding_mode_rte_float16,
                    float_properties.shader_rounding_mode_rte_float32,
                    float_properties.shader_rounding_mode_rte_float64,
                ],
            ),
            Mode::RoundingModeRTZ => (
                "shaderRoundingModeRTZFloat",
                [
                    float_properties.shader_rounding_mode_rtz_float16,
                    float_properties.shader_rounding_mode_rtz_float32,
                    float_properties.shader_rounding_mode_rtz_float64,
                ],
            ),
            _ => return None,
        };
        let is_supported = match bit_width {
            16 => by_width[0],
            32 => by_width[1],
            64 => by_width[2],
            _ => vk::FALSE,
        };
        (is_supported == vk::FALSE).then(|| {
            format!("execution mode {mode:?} {bit_width} (property {property_name}{bit_width})")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::robustness::{self, Robustness};
    use super::*;
    use vkcert_spirv::interface::FEATURES;

    #[test]
    fn each_feature_is_tested_once() {
        let tested: Vec<Capability> =
            CAPABILITIES.iter().map(|(capability, _)| *capability).collect();
        let named: Vec<Capability> = FEATURES.iter().map(|(capability, _)| *capability).collect();
        assert_eq!(tested, named);
    }

    #[test]
    fn a_device_without_features_lacks_everything_but_the_basics() {
        let bare = Abilities {
            features: Features::default(),
            subgroup: vk::SubgroupFeatureFlags::empty(),
            float_controls: vk::PhysicalDeviceFloatControlsProperties::default(),
            robustness: robustness::grant_robustness(Robustness::Off, &Features::default()),
        };
        for (extension, needs, _) in EXTENSIONS {
            let needed = !matches!(*needs, "always" | "by capability");
            assert_eq!(bare.lacks_extension(extension).is_some(), needed, "{extension}");
        }
        for (kind, width, memory, feature, _) in ATOMICS {
            let lack =
                bare.lacks_atomic(&AtomicUse { kind: *kind, width: *width, memory: *memory });
            assert!(lack.is_some_and(|lack| lack.contains(feature)), "{feature}");
        }
        assert_eq!(
            bare.lacks_extension("SPV_INTEL_subgroups").as_deref(),
            Some("extension SPV_INTEL_subgroups (not known to this engine)")
        );
        for (capability, feature) in FEATURES {
            let needed = !matches!(*feature, "always" | "float controls");
            assert_eq!(bare.lacks_capability(*capability).is_some(), needed, "{capability:?}");
        }
        assert_eq!(
            bare.lacks_capability(Capability::Kernel).as_deref(),
            Some("capability Kernel (not known to this engine)")
        );
        let mode = rspirv::spirv::ExecutionMode::RoundingModeRTE;
        assert_eq!(
            bare.lacks_float_mode(mode, 16).as_deref(),
            Some("execution mode RoundingModeRTE 16 (property shaderRoundingModeRTEFloat16)")
        );
    }
}
