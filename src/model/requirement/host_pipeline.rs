//! Pipelines of a Vulkan SC host program, which are compiled offline from a description of their state.
//!
//! Does not cover: reading the description (`requirement`), and whether it matches the kernel
//! (`coupling`).

use crate::procedure::DescriptorClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pipeline that the host creates from the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostPipeline {
    /// The JSON file of the offline pipeline compiler, relative to the project.
    pub file: String,
}

/// The state of a compute pipeline, as far as host and kernel share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflinePipeline {
    /// 16 bytes; none where the description has none.
    pub identifier: Option<[u8; 16]>,
    /// Name of the shader's file, for people.
    pub shader_file: Option<String>,
    /// Name of the entry point.
    pub entry: String,
    /// Bindings of each set, by the number of the set.
    pub sets: Vec<Vec<PipelineBinding>>,
    /// In the order of the description.
    pub push_constant_ranges: Vec<PipelineRange>,
    /// Specialization constants that are set, with their little-endian bytes.
    pub constants: Vec<PipelineConstant>,
}

/// A binding of a descriptor set layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineBinding {
    /// Number of the binding.
    pub binding: u32,
    /// Descriptor type; none of types that no compute kernel of this tool has.
    pub class: Option<DescriptorClass>,
    /// The type's name in Vulkan.
    pub type_name: String,
    /// Number of descriptors.
    pub count: u32,
    /// Whether the compute stage sees it.
    pub stage: StageAccess,
}

/// Whether the compute stage sees something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageAccess {
    /// It does.
    Compute,
    /// Only other stages do.
    Others,
}

/// A range of push constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineRange {
    /// First byte.
    pub offset: u32,
    /// Number of bytes.
    pub size: u32,
    /// Whether the compute stage sees it.
    pub stage: StageAccess,
}

/// A specialization constant that a pipeline sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineConstant {
    /// `SpecId`.
    pub id: u32,
    /// As the pipeline hands them over.
    pub bytes: Vec<u8>,
}
