//! What the host program declares and does with a kernel.

use crate::id::KernelName;
use crate::image::{ImageDim, ImageFormat};
use crate::procedure::DescriptorClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the host program declares and does with a kernel, for the coupling analysis.
///
/// Expressions are C-like integer expressions over the parameters and locals (`(m + 15) / 16`), evaluated with the
/// host's own widths: an operation of two `uint32` operands wraps at 32 bits before it is widened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    pub kernel: KernelName,
    /// Where this host code stands, for reports: a file and line, or a document.
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub parameters: Vec<HostParameter>,
    /// Intermediate host variables, evaluated in order.
    #[serde(default)]
    pub locals: Vec<HostLocal>,
    #[serde(default)]
    pub push_constants: Option<HostStruct>,
    #[serde(default)]
    pub buffers: Vec<HostBuffer>,
    /// Images and samplers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<HostImage>,
    /// Three expressions given to the dispatch command.
    pub groups: [String; 3],
    /// The local size that the host's arithmetic assumes.
    #[serde(default)]
    pub local_size: Option<[u32; 3]>,
    /// Three expressions: how many invocations the work needs in each dimension.
    #[serde(default)]
    pub domain: Option<[String; 3]>,
    #[serde(default)]
    pub specialization: Vec<HostSpecialization>,
}

/// A host parameter with the range of values that it can have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostParameter {
    pub name: String,
    #[serde(rename = "type")]
    pub width: HostType,
    pub min: i64,
    pub max: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostLocal {
    pub name: String,
    #[serde(rename = "type")]
    pub width: HostType,
    pub value: String,
}

/// Integer (and, for struct members, floating-point) types of the host.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum HostType {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
}

/// A struct as the host lays it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostStruct {
    /// Bytes; none: the end of the last member.
    #[serde(default)]
    pub size: Option<u32>,
    /// In declaration order.
    pub members: Vec<HostMember>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostMember {
    pub name: String,
    #[serde(rename = "type")]
    pub width: HostType,
    /// Bytes; none: placed after the previous member by C's alignment rules.
    #[serde(default)]
    pub offset: Option<u32>,
    /// What the host stores there; none: the parameter or local of the same name.
    #[serde(default)]
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostBuffer {
    pub set: u32,
    pub binding: u32,
    #[serde(default)]
    pub name: Option<String>,
    /// Size in bytes, as an expression.
    pub size: String,
}

/// An image or a sampler as the host binds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostImage {
    pub set: u32,
    pub binding: u32,
    #[serde(default)]
    pub name: Option<String>,
    /// `storage_image`, `sampled_image`, `combined` or `sampler`.
    pub class: DescriptorClass,
    /// Format of the view; of all but samplers.
    #[serde(default)]
    pub format: Option<ImageFormat>,
    /// Dimension of the view; of all but samplers.
    #[serde(default)]
    pub dimension: Option<ImageDim>,
    /// Whether the view shows an array of layers.
    #[serde(default)]
    pub layered: bool,
    /// Whether texels have several samples.
    #[serde(default)]
    pub multisampled: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpecialization {
    pub id: u32,
    pub value: String,
}
