//! The Vulkan SC profile of a project: which optional features its target device declares.
//!
//! Knows: every feature and property that Vulkan SC 1.0 leaves to the implementation and that a compute kernel can need
//! (Vulkan SC 1.0 specification, "Features", "Limits", and the structure types of its header `vulkan_sc_core.h`), each by the
//! name that the API gives it.
//! Promises: names of the API and of the project file are the same.
//! Does not cover: what of a module needs which of them (`exec::vulkan`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every profile for Vulkan SC says of the run, beside what it says of kernels and modules.
pub const NO_VULKAN_SC_RAN: &str =
    "The device that tests ran on is a Vulkan device; no Vulkan SC implementation took part.";

/// Which API the kernels are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Vulkan; what a module needs is asked of the device that tests run on.
    #[default]
    Vulkan,
    /// Vulkan SC 1.0; what a module needs is also asked of `sc_features`.
    VulkanSc,
}

impl Profile {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Vulkan => "vulkan",
            Profile::VulkanSc => "vulkan-sc",
        }
    }
}

macro_rules! features {
    ($($variant:ident $name:literal;)*) => {
        /// Something optional of Vulkan SC 1.0 that a compute kernel can need, by the API's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ScFeature {
            $(
                #[doc = concat!("`", $name, "` of the Vulkan SC API.")]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl ScFeature {
            /// Every feature, in the order of the specification's structures.
            pub const ALL: &'static [ScFeature] = &[$(ScFeature::$variant,)*];

            /// The API's name, which the project file uses too.
            pub fn name(self) -> &'static str {
                match self {
                    $(ScFeature::$variant => $name,)*
                }
            }
        }
    };
}

features! {
    // VkPhysicalDeviceVulkanSC10Features
    ShaderAtomicInstructions "shaderAtomicInstructions";
    // VkPhysicalDeviceFeatures
    ShaderFloat64 "shaderFloat64";
    ShaderInt64 "shaderInt64";
    ShaderInt16 "shaderInt16";
    ShaderStorageImageExtendedFormats "shaderStorageImageExtendedFormats";
    ShaderStorageImageReadWithoutFormat "shaderStorageImageReadWithoutFormat";
    ShaderStorageImageWriteWithoutFormat "shaderStorageImageWriteWithoutFormat";
    ShaderImageGatherExtended "shaderImageGatherExtended";
    ShaderResourceMinLod "shaderResourceMinLod";
    ImageCubeArray "imageCubeArray";
    ShaderUniformBufferArrayDynamicIndexing "shaderUniformBufferArrayDynamicIndexing";
    ShaderSampledImageArrayDynamicIndexing "shaderSampledImageArrayDynamicIndexing";
    ShaderStorageBufferArrayDynamicIndexing "shaderStorageBufferArrayDynamicIndexing";
    ShaderStorageImageArrayDynamicIndexing "shaderStorageImageArrayDynamicIndexing";
    // VkPhysicalDeviceVulkan11Features
    StorageBuffer16BitAccess "storageBuffer16BitAccess";
    UniformAndStorageBuffer16BitAccess "uniformAndStorageBuffer16BitAccess";
    StoragePushConstant16 "storagePushConstant16";
    VariablePointersStorageBuffer "variablePointersStorageBuffer";
    VariablePointers "variablePointers";
    // VkPhysicalDeviceVulkan12Features
    StorageBuffer8BitAccess "storageBuffer8BitAccess";
    UniformAndStorageBuffer8BitAccess "uniformAndStorageBuffer8BitAccess";
    StoragePushConstant8 "storagePushConstant8";
    ShaderBufferInt64Atomics "shaderBufferInt64Atomics";
    ShaderSharedInt64Atomics "shaderSharedInt64Atomics";
    ShaderFloat16 "shaderFloat16";
    ShaderInt8 "shaderInt8";
    SamplerMirrorClampToEdge "samplerMirrorClampToEdge";
    ShaderUniformTexelBufferArrayDynamicIndexing "shaderUniformTexelBufferArrayDynamicIndexing";
    ShaderStorageTexelBufferArrayDynamicIndexing "shaderStorageTexelBufferArrayDynamicIndexing";
    ShaderUniformBufferArrayNonUniformIndexing "shaderUniformBufferArrayNonUniformIndexing";
    ShaderSampledImageArrayNonUniformIndexing "shaderSampledImageArrayNonUniformIndexing";
    ShaderStorageBufferArrayNonUniformIndexing "shaderStorageBufferArrayNonUniformIndexing";
    ShaderStorageImageArrayNonUniformIndexing "shaderStorageImageArrayNonUniformIndexing";
    ShaderUniformTexelBufferArrayNonUniformIndexing "shaderUniformTexelBufferArrayNonUniformIndexing";
    ShaderStorageTexelBufferArrayNonUniformIndexing "shaderStorageTexelBufferArrayNonUniformIndexing";
    RuntimeDescriptorArray "runtimeDescriptorArray";
    ScalarBlockLayout "scalarBlockLayout";
    BufferDeviceAddress "bufferDeviceAddress";
    VulkanMemoryModel "vulkanMemoryModel";
    VulkanMemoryModelDeviceScope "vulkanMemoryModelDeviceScope";
    // VK_EXT_subgroup_size_control
    SubgroupSizeControl "subgroupSizeControl";
    // VK_EXT_shader_demote_to_helper_invocation, VK_KHR_shader_terminate_invocation
    ShaderDemoteToHelperInvocation "shaderDemoteToHelperInvocation";
    ShaderTerminateInvocation "shaderTerminateInvocation";
    // VK_KHR_shader_clock
    ShaderSubgroupClock "shaderSubgroupClock";
    ShaderDeviceClock "shaderDeviceClock";
    // VK_EXT_shader_atomic_float
    ShaderBufferFloat32Atomics "shaderBufferFloat32Atomics";
    ShaderBufferFloat32AtomicAdd "shaderBufferFloat32AtomicAdd";
    ShaderBufferFloat64Atomics "shaderBufferFloat64Atomics";
    ShaderBufferFloat64AtomicAdd "shaderBufferFloat64AtomicAdd";
    ShaderSharedFloat32Atomics "shaderSharedFloat32Atomics";
    ShaderSharedFloat32AtomicAdd "shaderSharedFloat32AtomicAdd";
    ShaderSharedFloat64Atomics "shaderSharedFloat64Atomics";
    ShaderSharedFloat64AtomicAdd "shaderSharedFloat64AtomicAdd";
    ShaderImageFloat32Atomics "shaderImageFloat32Atomics";
    ShaderImageFloat32AtomicAdd "shaderImageFloat32AtomicAdd";
    // VK_EXT_shader_image_atomic_int64
    ShaderImageInt64Atomics "shaderImageInt64Atomics";
    // VkPhysicalDeviceSubgroupProperties::supportedOperations; BASIC is part of every device.
    SubgroupVote "VK_SUBGROUP_FEATURE_VOTE_BIT";
    SubgroupArithmetic "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT";
    SubgroupBallot "VK_SUBGROUP_FEATURE_BALLOT_BIT";
    SubgroupShuffle "VK_SUBGROUP_FEATURE_SHUFFLE_BIT";
    SubgroupShuffleRelative "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT";
    SubgroupClustered "VK_SUBGROUP_FEATURE_CLUSTERED_BIT";
    SubgroupQuad "VK_SUBGROUP_FEATURE_QUAD_BIT";
    // VkPhysicalDeviceFloatControlsProperties
    ShaderSignedZeroInfNanPreserveFloat16 "shaderSignedZeroInfNanPreserveFloat16";
    ShaderSignedZeroInfNanPreserveFloat32 "shaderSignedZeroInfNanPreserveFloat32";
    ShaderSignedZeroInfNanPreserveFloat64 "shaderSignedZeroInfNanPreserveFloat64";
    ShaderDenormPreserveFloat16 "shaderDenormPreserveFloat16";
    ShaderDenormPreserveFloat32 "shaderDenormPreserveFloat32";
    ShaderDenormPreserveFloat64 "shaderDenormPreserveFloat64";
    ShaderDenormFlushToZeroFloat16 "shaderDenormFlushToZeroFloat16";
    ShaderDenormFlushToZeroFloat32 "shaderDenormFlushToZeroFloat32";
    ShaderDenormFlushToZeroFloat64 "shaderDenormFlushToZeroFloat64";
    ShaderRoundingModeRteFloat16 "shaderRoundingModeRTEFloat16";
    ShaderRoundingModeRteFloat32 "shaderRoundingModeRTEFloat32";
    ShaderRoundingModeRteFloat64 "shaderRoundingModeRTEFloat64";
    ShaderRoundingModeRtzFloat16 "shaderRoundingModeRTZFloat16";
    ShaderRoundingModeRtzFloat32 "shaderRoundingModeRTZFloat32";
    ShaderRoundingModeRtzFloat64 "shaderRoundingModeRTZFloat64";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for feature in ScFeature::ALL {
            let text = serde_json::to_string(feature).unwrap();
            assert_eq!(text, format!("\"{}\"", feature.name()));
            assert_eq!(serde_json::from_str::<ScFeature>(&text).unwrap(), *feature);
        }
    }
}
