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
    /// Where the compute stage's code comes from.
    pub shader: PipelineShader,
    /// Structures that say of themselves that they are another one.
    pub structure_faults: Vec<StructureFault>,
    /// Name of the entry point.
    pub entry: String,
    /// Bindings of each set, by the number of the set.
    pub sets: Vec<Vec<PipelineBinding>>,
    /// In the order of the description.
    pub push_constant_ranges: Vec<PipelineRange>,
    /// Specialization constants that are set, with their little-endian bytes.
    pub constants: Vec<PipelineConstant>,
}

/// The shader of a pipeline's compute stage, as its description names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipelineShader {
    /// The description names no files of shaders.
    Unlisted,
    /// It has an empty list of them.
    EmptyList,
    /// It names files of other stages alone.
    OtherStages,
    /// The file as it is written there, and what is in it.
    Named(String, ShaderContents),
}

/// What is in the file of a shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShaderContents {
    /// The path of the file in the project, and its bytes.
    Read(String, Vec<u8>),
    /// The project has no such file, neither beside the description nor from its root on.
    Absent,
    /// The name leads out of the project.
    Outside,
}

/// A structure whose `sType` is not the one that Vulkan demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructureFault {
    /// Where it stands in the description: `ComputePipeline`.
    pub place: String,
    /// The `sType` of the description.
    pub stated: String,
    /// The one that Vulkan demands.
    pub needed: &'static str,
    /// What the structure is a part of.
    pub part: PipelinePart,
}

/// A part of a pipeline that has a check of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelinePart {
    /// Stage and entry point.
    Stage,
    /// Set layouts and push constants.
    Layout,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineRange {
    /// First byte.
    pub offset: u32,
    /// Number of bytes.
    pub size: u32,
    /// Names of the stages that see it.
    pub stages: Vec<String>,
    /// Whether the compute stage is one of them.
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
