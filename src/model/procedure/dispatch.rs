//! Dispatches: descriptors, push constants and specialization.

use crate::element::{Datum, ElementType};
use crate::id::KernelName;
use crate::image::ImageFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One dispatch command with what is bound to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// The kernel, by its name among the kernels.
    pub kernel: KernelName,
    /// Workgroup counts in x, y and z, each at least 1.
    pub groups: [u32; 3],
    /// None: the engine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroup_size: Option<u32>,
    /// What is bound to the kernel's descriptors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// An object by member name, an array by member index, or `{"bytes": base64}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_constants: Option<Datum>,
    /// By specialization id, written as a string.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub specialization: BTreeMap<String, SpecializationValue>,
}

/// A buffer range, image or sampler bound to a descriptor: exactly one of `buffer`, `image` and `sampler`; `combined`
/// takes an image and a sampler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Descriptor set; 0 where it is left out.
    #[serde(default)]
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Name of a buffer of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Name of an image of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Name of a sampler of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// None: the class that the kernel declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<DescriptorClass>,
    /// Index into an array of descriptors.
    #[serde(default)]
    pub array_index: u32,
    /// Bytes.
    #[serde(default)]
    pub offset: u64,
    /// Bytes; none: to the end of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<u64>,
    /// Bytes added to `offset`; only for the dynamic classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_offset: Option<u64>,
    /// Texel buffers: how the bytes are read; none: the format that the kernel declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ImageFormat>,
    /// Images: the level that a storage image writes, the first that a sampled one sees; 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Images: the layer that a kernel without arrays sees, the first of an array; 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
}

/// The value of a specialization constant: `value` or `bits`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecializationValue {
    /// A scalar type, which must be the one that the kernel declares; none: that one.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data_type: Option<ElementType>,
    /// The value as a number, Boolean or string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Datum>,
    /// Raw bits: an integer, or a string `"0x..."`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Datum>,
}

/// Descriptor types of the contract.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DescriptorClass {
    /// `buffer` block, `VK_DESCRIPTOR_TYPE_STORAGE_BUFFER`.
    Storage,
    /// `uniform` block, `VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER`.
    Uniform,
    /// `VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC`.
    StorageDynamic,
    /// `VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC`.
    UniformDynamic,
    /// `image2D` and the like, `VK_DESCRIPTOR_TYPE_STORAGE_IMAGE`.
    StorageImage,
    /// `texture2D` and the like, `VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE`.
    SampledImage,
    /// `sampler`, `samplerShadow`: `VK_DESCRIPTOR_TYPE_SAMPLER`.
    Sampler,
    /// `sampler2D` and the like, `VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER`.
    Combined,
    /// `samplerBuffer`, `textureBuffer`: `VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER`.
    UniformTexel,
    /// `imageBuffer` and the like, `VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER`.
    StorageTexel,
}

impl DescriptorClass {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            DescriptorClass::Storage => "storage",
            DescriptorClass::Uniform => "uniform",
            DescriptorClass::StorageDynamic => "storage_dynamic",
            DescriptorClass::UniformDynamic => "uniform_dynamic",
            DescriptorClass::StorageImage => "storage_image",
            DescriptorClass::SampledImage => "sampled_image",
            DescriptorClass::Sampler => "sampler",
            DescriptorClass::Combined => "combined",
            DescriptorClass::UniformTexel => "uniform_texel",
            DescriptorClass::StorageTexel => "storage_texel",
        }
    }

    /// The class by which a shader declares what is bound with this one: dynamic offsets are the
    /// host's alone.
    pub fn declared_in_shader(self) -> Self {
        match self {
            DescriptorClass::StorageDynamic => DescriptorClass::Storage,
            DescriptorClass::UniformDynamic => DescriptorClass::Uniform,
            DescriptorClass::Storage
            | DescriptorClass::Uniform
            | DescriptorClass::StorageImage
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined
            | DescriptorClass::UniformTexel
            | DescriptorClass::StorageTexel => self,
        }
    }
}
