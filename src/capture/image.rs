//! Events and parts of commands about images: what they are, how they are seen, which texels a
//! command names.
//!
//! Promises: enumerations and flags are the numbers of the Vulkan specification. Floating-point
//! numbers are recorded by their bits, so that a record equals itself.

use crate::command::QueueTransfer;
use crate::value::{Bytes, Handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// vkCreateImage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// What was made.
    pub image: Handle,
    /// VkImageCreateFlags.
    pub flags: u32,
    /// VkImageType.
    pub image_type: i32,
    /// VkFormat.
    pub format: i32,
    /// Texels of the largest level.
    pub extent: [u32; 3],
    /// Mip levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
    /// VkSampleCountFlagBits.
    pub samples: u32,
    /// VkImageTiling.
    pub tiling: i32,
    /// VkImageUsageFlags.
    pub usage: u32,
    /// VkImageLayout.
    pub initial_layout: i32,
    /// Bytes of memory that it takes (vkGetImageMemoryRequirements); 0 where that is not known.
    pub memory_bytes: u64,
}

/// vkCreateImageView.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageView {
    /// What was made.
    pub view: Handle,
    /// Of which image.
    pub image: Handle,
    /// VkImageViewType.
    pub view_type: i32,
    /// VkFormat.
    pub format: i32,
    /// VkComponentSwizzle of red, green, blue and alpha.
    pub components: [i32; 4],
    /// What of the image it sees.
    pub range: SubresourceRange,
}

/// vkCreateSampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sampler {
    /// What was made.
    pub sampler: Handle,
    /// VkFilter where texels are enlarged and where they are reduced.
    pub filters: [i32; 2],
    /// VkSamplerMipmapMode.
    pub mipmap: i32,
    /// VkSamplerAddressMode of each axis.
    pub address: [i32; 3],
    /// VkBorderColor.
    pub border: i32,
    /// Anisotropy; none where it is off.
    pub anisotropy: Option<FloatBits>,
    /// VkCompareOp; none where nothing is compared.
    pub compare: Option<i32>,
    /// mipLodBias, minLod and maxLod.
    pub lod: [FloatBits; 3],
    /// Whether coordinates count texels.
    pub coordinates: Coordinates,
    /// Whether flags or chained structures (pNext) say more of it, such as how texels are reduced.
    pub extended: bool,
}

/// A floating-point number by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FloatBits(pub u32);

impl FloatBits {
    /// The number.
    pub fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// How coordinates of a sampler count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coordinates {
    /// From 0 to 1.
    Normalized,
    /// Texels.
    Unnormalized,
}

/// Immutable samplers of a descriptor set layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImmutableSamplers {
    /// Which layout.
    pub layout: Handle,
    /// Samplers by binding.
    pub bindings: Vec<(u32, Vec<Handle>)>,
}

/// VkDescriptorBindingFlags of a descriptor set layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingFlags {
    /// Which layout.
    pub layout: Handle,
    /// Each binding that has flags, with them.
    pub bindings: Vec<(u32, u32)>,
}

/// What a layer of a level of an image holds where the next event happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageContents {
    /// Which image.
    pub image: Handle,
    /// Its level.
    pub level: u32,
    /// Its layer.
    pub layer: u32,
    /// Its texels, tightly, row by row.
    pub bytes: Bytes,
}

/// An image whose contents were asked for and not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadImage {
    /// Which image.
    pub image: Handle,
    /// Why, in words.
    pub reason: String,
}

/// VkImageSubresourceRange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubresourceRange {
    /// VkImageAspectFlags.
    pub aspects: u32,
    /// First level.
    pub level: u32,
    /// Levels; all bits set for VK_REMAINING_MIP_LEVELS.
    pub levels: u32,
    /// First layer.
    pub layer: u32,
    /// Layers; all bits set for VK_REMAINING_ARRAY_LAYERS.
    pub layers: u32,
}

/// The texels of an image that a command names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TexelBox {
    /// VkImageAspectFlags.
    pub aspects: u32,
    /// Level.
    pub level: u32,
    /// First layer.
    pub layer: u32,
    /// Layers.
    pub layers: u32,
    /// First texel.
    pub offset: [i32; 3],
    /// Texels.
    pub extent: [u32; 3],
}

/// VkBufferImageCopy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferImageRegion {
    /// First byte in the buffer.
    pub buffer_offset: u64,
    /// Texels of a row in the buffer; 0: as many as are copied.
    pub row_length: u32,
    /// Rows of a slice in the buffer; 0: as many as are copied.
    pub image_height: u32,
    /// The texels of the image.
    pub texels: TexelBox,
}

/// VkImageCopy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageRegion {
    /// What is read.
    pub from: TexelBox,
    /// What is written.
    pub to: TexelBox,
}

/// An image and the layout that a command names for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageInLayout {
    /// Which image.
    pub image: Handle,
    /// VkImageLayout.
    pub layout: i32,
}

/// The image of a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageScope {
    /// Which image.
    pub image: Handle,
    /// What of it.
    pub range: SubresourceRange,
    /// VkImageLayout before and behind.
    pub layouts: [i32; 2],
    /// Whether it passes from one queue family to another.
    pub transfer: QueueTransfer,
}
