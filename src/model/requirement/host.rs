//! What the host program declares and does with a kernel.

use super::host_capture::HostCapture;
use super::host_earlier::EarlierDispatch;
use super::host_header::HostHeader;
use super::host_pipeline::HostPipeline;
use super::host_struct::{HostStruct, MemberType, NamedStruct};
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
    /// The kernel that the host dispatches.
    pub kernel: KernelName,
    /// Where this host code stands, for reports: a file and line, or a document.
    #[serde(default)]
    pub source: Option<String>,
    /// Host parameters that all expressions range over.
    #[serde(default)]
    pub parameters: Vec<HostParameter>,
    /// Intermediate host variables, evaluated in order.
    #[serde(default)]
    pub locals: Vec<HostLocal>,
    /// The struct that the host pushes; none where it pushes nothing.
    #[serde(default)]
    pub push_constants: Option<HostStruct>,
    /// C and C++ headers that declare structs which host and kernel share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<HostHeader>,
    /// Pipelines of a Vulkan SC host, which are compiled offline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipeline: Vec<HostPipeline>,
    /// Captures of the host program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<HostCapture>,
    /// Structs that members and buffers name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub structs: Vec<NamedStruct>,
    /// Buffers as the host binds them.
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
    /// Specialization constants that the host sets.
    #[serde(default)]
    pub specialization: Vec<HostSpecialization>,
    /// Kernels that the host dispatches before, whose results this one reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierDispatch>,
}

/// A host parameter with the range of values that it can have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostParameter {
    /// Name of the variable in expressions.
    pub name: String,
    /// Integer type; operations wrap at its width.
    #[serde(rename = "type")]
    pub width: HostType,
    /// Least value that it can have.
    pub min: i64,
    /// Greatest value that it can have.
    pub max: i64,
}

/// A host variable that is computed from those before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostLocal {
    /// Name of the variable in expressions.
    pub name: String,
    /// Integer type, at whose width the value wraps.
    #[serde(rename = "type")]
    pub width: HostType,
    /// Expression over parameters and the locals before it.
    pub value: String,
}

/// Integer (and, for struct members, floating-point) types of the host.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum HostType {
    /// Signed, 8 bits.
    Int8,
    /// Unsigned, 8 bits.
    Uint8,
    /// Signed, 16 bits.
    Int16,
    /// Unsigned, 16 bits.
    Uint16,
    /// Signed, 32 bits.
    Int32,
    /// Unsigned, 32 bits.
    Uint32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 64 bits.
    Uint64,
    /// IEEE 754 binary16; of struct members alone.
    Float16,
    /// IEEE 754 binary32; of struct members alone.
    Float32,
    /// IEEE 754 binary64; of struct members alone.
    Float64,
}

impl HostType {
    /// Each type with its name in interfaces.
    pub const ALL: &'static [(&'static str, HostType)] = &[
        ("int8", HostType::Int8),
        ("uint8", HostType::Uint8),
        ("int16", HostType::Int16),
        ("uint16", HostType::Uint16),
        ("int32", HostType::Int32),
        ("uint32", HostType::Uint32),
        ("int64", HostType::Int64),
        ("uint64", HostType::Uint64),
        ("float16", HostType::Float16),
        ("float32", HostType::Float32),
        ("float64", HostType::Float64),
    ];

    /// The type's name in interfaces.
    pub fn name(self) -> &'static str {
        let row = HostType::ALL.iter().find(|(_, host_type)| *host_type == self);
        row.map_or("float", |(name, _)| name)
    }

    /// The type of that name.
    pub fn of_name(type_name: &str) -> Option<Self> {
        let row = HostType::ALL.iter().find(|(name, _)| *name == type_name);
        row.map(|(_, host_type)| *host_type)
    }

    /// Bytes that a value takes, which is also its alignment.
    pub fn size_in_bytes(self) -> u32 {
        match self {
            HostType::Int8 | HostType::Uint8 => 1,
            HostType::Int16 | HostType::Uint16 | HostType::Float16 => 2,
            HostType::Int32 | HostType::Uint32 | HostType::Float32 => 4,
            HostType::Int64 | HostType::Uint64 | HostType::Float64 => 8,
        }
    }
}

/// A buffer as the host binds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostBuffer {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Name on the host, for people.
    #[serde(default)]
    pub name: Option<String>,
    /// Size in bytes, as an expression.
    pub size: String,
    /// What the host stores one behind the other from the start on: a scalar type or the name of a
    /// struct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub element: Option<MemberType>,
    /// Name of the struct that the host stores at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// `false`: the host never writes the contents, kernels alone do.
    #[serde(default = "writes", skip_serializing_if = "is_written")]
    pub host_writes: bool,
}

fn writes() -> bool {
    true
}

fn is_written(host_writes: &bool) -> bool {
    *host_writes
}

/// An image or a sampler as the host binds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostImage {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Name on the host, for people.
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
    /// Texels of the view's largest level, an expression for each axis; a cube has two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extent: Vec<String>,
    /// Layers of the view, as an expression, each face of a cube counted; of layered views alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<String>,
    /// Mip levels of the view, as an expression; 1 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<String>,
    /// `false`: the host never writes the contents, kernels alone do.
    #[serde(default = "writes", skip_serializing_if = "is_written")]
    pub host_writes: bool,
}

/// A specialization constant that the host sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpecialization {
    /// The constant's `SpecId`.
    pub id: u32,
    /// Expression that the constant is set to.
    pub value: String,
}
