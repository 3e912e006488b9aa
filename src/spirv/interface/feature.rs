//! What Vulkan calls the feature behind a SPIR-V capability.
//!
//! Knows: Vulkan specification, appendix "Vulkan Environment for SPIR-V", "SPIR-V Capabilities",
//! for compute kernels.
//! Promises: one row for each capability that the tool knows; the device engine tests the feature
//! of each row.
//! Does not cover: whether a device has it (`exec::vulkan`).

use rspirv::spirv::Capability;

macro_rules! rows {
    ($($capability:ident => $name:literal;)*) => {
        &[$((Capability::$capability, $name)),*]
    };
}

/// Capabilities with the feature, property or extension behind each. `always` is part of Vulkan 1.1
/// for compute; `float controls` are properties by width, decided by the execution modes.
pub const FEATURES: &[(Capability, &str)] = rows! {
    Shader => "always";
    Matrix => "always";
    DeviceGroup => "always";
    ImageQuery => "always";
    Sampled1D => "always";
    Image1D => "always";
    SampledBuffer => "always";
    ImageBuffer => "always";
    Int64 => "shaderInt64";
    Float64 => "shaderFloat64";
    Int16 => "shaderInt16";
    Float16 => "shaderFloat16";
    Int8 => "shaderInt8";
    StorageImageExtendedFormats => "shaderStorageImageExtendedFormats";
    StorageImageReadWithoutFormat => "shaderStorageImageReadWithoutFormat";
    StorageImageWriteWithoutFormat => "shaderStorageImageWriteWithoutFormat";
    ImageCubeArray => "imageCubeArray";
    SampledCubeArray => "imageCubeArray";
    ImageGatherExtended => "shaderImageGatherExtended";
    MinLod => "shaderResourceMinLod";
    SampledImageArrayDynamicIndexing => "shaderSampledImageArrayDynamicIndexing";
    StorageImageArrayDynamicIndexing => "shaderStorageImageArrayDynamicIndexing";
    UniformTexelBufferArrayDynamicIndexing => "shaderUniformTexelBufferArrayDynamicIndexing";
    StorageTexelBufferArrayDynamicIndexing => "shaderStorageTexelBufferArrayDynamicIndexing";
    SampledImageArrayNonUniformIndexing => "shaderSampledImageArrayNonUniformIndexing";
    StorageImageArrayNonUniformIndexing => "shaderStorageImageArrayNonUniformIndexing";
    UniformTexelBufferArrayNonUniformIndexing =>
        "shaderUniformTexelBufferArrayNonUniformIndexing";
    StorageTexelBufferArrayNonUniformIndexing =>
        "shaderStorageTexelBufferArrayNonUniformIndexing";
    PhysicalStorageBufferAddresses => "bufferDeviceAddress";
    Int64ImageEXT => "shaderImageInt64Atomics";
    DemoteToHelperInvocation => "shaderDemoteToHelperInvocation";
    ExpectAssumeKHR => "shaderExpectAssume";
    GroupNonUniformRotateKHR => "shaderSubgroupRotate";
    AtomicFloat16AddEXT => "shaderBufferFloat16AtomicAdd or shaderSharedFloat16AtomicAdd";
    AtomicFloat16MinMaxEXT =>
        "shaderBufferFloat16AtomicMinMax or shaderSharedFloat16AtomicMinMax";
    AtomicFloat32MinMaxEXT =>
        "shaderBufferFloat32AtomicMinMax, shaderSharedFloat32AtomicMinMax or shaderImageFloat32AtomicMinMax";
    AtomicFloat64MinMaxEXT =>
        "shaderBufferFloat64AtomicMinMax or shaderSharedFloat64AtomicMinMax";
    UniformBufferArrayDynamicIndexing => "shaderUniformBufferArrayDynamicIndexing";
    StorageBufferArrayDynamicIndexing => "shaderStorageBufferArrayDynamicIndexing";
    StorageBuffer16BitAccess => "storageBuffer16BitAccess";
    UniformAndStorageBuffer16BitAccess => "uniformAndStorageBuffer16BitAccess";
    StoragePushConstant16 => "storagePushConstant16";
    StorageBuffer8BitAccess => "storageBuffer8BitAccess";
    UniformAndStorageBuffer8BitAccess => "uniformAndStorageBuffer8BitAccess";
    StoragePushConstant8 => "storagePushConstant8";
    VariablePointersStorageBuffer => "variablePointersStorageBuffer";
    VariablePointers => "variablePointers";
    Int64Atomics => "shaderBufferInt64Atomics or shaderSharedInt64Atomics";
    VulkanMemoryModel => "vulkanMemoryModel";
    VulkanMemoryModelDeviceScope => "vulkanMemoryModelDeviceScope";
    ShaderNonUniform => "Vulkan 1.2 or VK_EXT_descriptor_indexing";
    RuntimeDescriptorArray => "runtimeDescriptorArray";
    UniformBufferArrayNonUniformIndexing => "shaderUniformBufferArrayNonUniformIndexing";
    StorageBufferArrayNonUniformIndexing => "shaderStorageBufferArrayNonUniformIndexing";
    DotProduct => "shaderIntegerDotProduct";
    DotProductInputAll => "shaderIntegerDotProduct";
    DotProductInput4x8Bit => "shaderIntegerDotProduct";
    DotProductInput4x8BitPacked => "shaderIntegerDotProduct";
    GroupNonUniform => "subgroup operation BASIC";
    GroupNonUniformVote => "subgroup operation VOTE";
    GroupNonUniformArithmetic => "subgroup operation ARITHMETIC";
    GroupNonUniformBallot => "subgroup operation BALLOT";
    GroupNonUniformShuffle => "subgroup operation SHUFFLE";
    GroupNonUniformShuffleRelative => "subgroup operation SHUFFLE_RELATIVE";
    GroupNonUniformClustered => "subgroup operation CLUSTERED";
    GroupNonUniformPartitionedEXT =>
        "subgroup operation PARTITIONED (VK_NV_shader_subgroup_partitioned)";
    SubgroupBallotKHR => "VK_EXT_shader_subgroup_ballot";
    SubgroupVoteKHR => "VK_EXT_shader_subgroup_vote";
    QuadControlKHR => "shaderQuadControl";
    UntypedPointersKHR => "shaderUntypedPointers";
    BFloat16TypeKHR => "shaderBFloat16Type";
    BFloat16DotProductKHR => "shaderBFloat16DotProduct";
    BFloat16CooperativeMatrixKHR => "shaderBFloat16CooperativeMatrix";
    FloatControls2 => "shaderFloatControls2";
    GroupNonUniformQuad => "subgroup operation QUAD";
    AtomicFloat32AddEXT =>
        "shaderBufferFloat32AtomicAdd, shaderSharedFloat32AtomicAdd or shaderImageFloat32AtomicAdd";
    AtomicFloat64AddEXT => "shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd";
    ShaderClockKHR => "shaderSubgroupClock or shaderDeviceClock";
    WorkgroupMemoryExplicitLayoutKHR => "workgroupMemoryExplicitLayout";
    WorkgroupMemoryExplicitLayout8BitAccessKHR => "workgroupMemoryExplicitLayout8BitAccess";
    WorkgroupMemoryExplicitLayout16BitAccessKHR => "workgroupMemoryExplicitLayout16BitAccess";
    CooperativeMatrixKHR => "cooperativeMatrix";
    DenormPreserve => "float controls";
    DenormFlushToZero => "float controls";
    SignedZeroInfNanPreserve => "float controls";
    RoundingModeRTE => "float controls";
    RoundingModeRTZ => "float controls";
};

/// What Vulkan calls the feature behind a capability; none: the capability is not known to this
/// tool.
pub fn feature_of(capability: Capability) -> Option<&'static str> {
    FEATURES.iter().find(|(listed, _)| *listed == capability).map(|(_, feature)| *feature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_has_one_row() {
        for (index, (capability, _)) in FEATURES.iter().enumerate() {
            assert!(
                FEATURES[..index].iter().all(|(earlier, _)| earlier != capability),
                "{capability:?} twice"
            );
        }
    }
}
