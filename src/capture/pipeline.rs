//! Events about shader modules, pipelines and descriptors.

use crate::value::{Bytes, Handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// vkCreateShaderModule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShaderModule {
    /// What was made.
    pub module: Handle,
    /// SPIR-V, in the byte order of the machine.
    pub code: Bytes,
}

/// vkCreateDescriptorSetLayout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetLayout {
    /// What was made.
    pub layout: Handle,
    /// VkDescriptorSetLayoutCreateFlags.
    pub flags: u32,
    /// Its bindings.
    pub bindings: Vec<LayoutBinding>,
}

/// A binding of a set's layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutBinding {
    /// Number of the binding.
    pub binding: u32,
    /// VkDescriptorType.
    pub descriptor_type: i32,
    /// Descriptors; bytes of an inline uniform block.
    pub count: u32,
    /// VkShaderStageFlags.
    pub stages: u32,
}

/// vkCreatePipelineLayout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineLayout {
    /// What was made.
    pub layout: Handle,
    /// Layouts of its sets.
    pub sets: Vec<Handle>,
    /// Ranges of push constants.
    pub push_constants: Vec<PushRange>,
}

/// A range of push constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushRange {
    /// VkShaderStageFlags.
    pub stages: u32,
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// One pipeline of vkCreateComputePipelines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputePipeline {
    /// What was made.
    pub pipeline: Handle,
    /// Its layout.
    pub layout: Handle,
    /// Its module; 0 where the module came another way, which is then named as unsupported.
    pub module: Handle,
    /// Name of the entry point.
    pub entry: String,
    /// What is given for specialization constants.
    pub specialization: Vec<SpecializationValue>,
}

/// What is given for a specialization constant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecializationValue {
    /// SpecId.
    pub id: u32,
    /// Its bytes.
    pub value: Bytes,
}

/// vkAllocateDescriptorSets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescriptorSets {
    /// Of which pool.
    pub pool: Handle,
    /// Each set with its layout.
    pub sets: Vec<(Handle, Handle)>,
}

/// Descriptors that are written to a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescriptorWrite {
    /// The set; 0 for descriptors that are pushed.
    pub set: Handle,
    /// First binding.
    pub binding: u32,
    /// First element of it.
    pub element: u32,
    /// VkDescriptorType.
    pub descriptor_type: i32,
    /// What is written, element by element and on into the bindings that follow.
    pub descriptors: Vec<Descriptor>,
}

/// What a descriptor leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Descriptor {
    /// A range of a buffer.
    Buffer {
        /// The buffer; 0 for VK_NULL_HANDLE.
        buffer: Handle,
        /// First byte.
        offset: u64,
        /// Bytes; all of 64 bits set for VK_WHOLE_SIZE.
        range: u64,
    },
    /// A view of a buffer with texels.
    BufferView(Handle),
    /// An image or a sampler, of which captures of version 1 tell no more.
    Image,
    /// Bytes of an inline uniform block.
    Inline(Bytes),
    /// Something else.
    Other,
    /// An image, a sampler or both; 0 for what the descriptor type does not take.
    View {
        /// The view of an image.
        view: Handle,
        /// The sampler.
        sampler: Handle,
        /// VkImageLayout that the image is to be in.
        layout: i32,
    },
}

/// Descriptors that are copied between sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescriptorCopy {
    /// Set, binding and element that are read.
    pub from: (Handle, u32, u32),
    /// Set, binding and element that are written.
    pub to: (Handle, u32, u32),
    /// Descriptors.
    pub count: u32,
}
