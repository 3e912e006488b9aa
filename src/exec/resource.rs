//! What a job binds beside ranges of buffers: images, samplers, texel views, device addresses.
//!
//! Knows: how each refers to the job's buffers. An image's contents stand in the job's list of
//! buffers, so that outputs, expectations and evidence know one kind of contents. These types also
//! travel to the device worker: a change of them is a change of its protocol
//! (`vulkan::protocol::VERSION`).
//! Promises: an address stands in initial contents and in outputs as a symbol ([`address_symbol`])
//! that is the same in every run and on every engine; engines put real addresses in its place while
//! they run.
//! Does not cover: what is bound where (`JobBinding`).

use serde::{Deserialize, Serialize};
use vkcert_model::image::{
    AddressMode, BorderColor, CompareOperator, Coordinates, Filter, ImageFormat, ImageShape,
};

/// Images, samplers and addresses of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobResources {
    /// Images by index.
    pub images: Vec<JobImage>,
    /// Samplers by index.
    pub samplers: Vec<JobSampler>,
    /// Addresses that buffers and push constants hold.
    pub addresses: Vec<JobAddress>,
}

/// One of the job's buffers is the contents of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobImage {
    /// Index into `Job::buffers`.
    pub buffer: u32,
    /// Size and format of the image.
    pub shape: ImageShape,
}

/// A sampler with nothing left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSampler {
    /// Name in the test.
    pub name: String,
    /// Within a level.
    pub filter: Filter,
    /// Between levels.
    pub mipmap: Filter,
    /// What lies outside of the image, on every axis.
    pub address: AddressMode,
    /// Colour of the border, where `address` clamps to it.
    pub border: BorderColor,
    /// How the reference is compared with the texel; none: no comparison.
    pub compare: Option<CompareOperator>,
    /// Least level of detail.
    pub min_lod: f32,
    /// None: every level.
    pub max_lod: Option<f32>,
    /// Added to the level of detail.
    pub lod_bias: f32,
    /// Whether coordinates count texels or go from 0 to 1.
    pub coordinates: Coordinates,
}

/// A device address of a buffer, stored as 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobAddress {
    /// Where the address is stored.
    pub place: AddressPlace,
    /// Byte offset of the 8 bytes.
    pub at: u64,
    /// Index into `Job::buffers` of the buffer addressed.
    pub target: u32,
    /// Bytes added to its address; less than its size.
    pub offset: u64,
}

/// Where an address is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AddressPlace {
    /// In a buffer, by its index.
    Buffer(u32),
    /// In the push constants of a dispatch, by its index.
    PushConstants(u32),
}

/// What stands for an address: the number of the buffer, counted from 1, above 40 bits of offset.
pub fn address_symbol(target: u32, offset: u64) -> u64 {
    (u64::from(target) + 1) << 40 | (offset & ((1 << 40) - 1))
}

/// How a binding sees what it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum JobView {
    /// The bytes of a buffer range.
    #[default]
    Bytes,
    /// The texels of a buffer range.
    Texels(ImageFormat),
    /// The image whose contents the buffer is.
    Image(ImageView),
    /// A sampler, by its index; `buffer` and range mean nothing.
    Sampler(u32),
    /// An image with a sampler.
    Combined(ImageView, u32),
}

impl JobView {
    /// The image that it shows; none of buffers and of samplers alone.
    pub fn image(self) -> Option<ImageView> {
        match self {
            JobView::Image(view) | JobView::Combined(view, _) => Some(view),
            JobView::Bytes | JobView::Texels(_) | JobView::Sampler(_) => None,
        }
    }

    /// Index of the sampler; none of what has none.
    pub fn sampler(self) -> Option<u32> {
        match self {
            JobView::Sampler(sampler) | JobView::Combined(_, sampler) => Some(sampler),
            JobView::Bytes | JobView::Texels(_) | JobView::Image(_) => None,
        }
    }
}

/// Levels and layers of an image as a descriptor shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageView {
    /// Dimension that the kernel declares.
    pub kind: ViewKind,
    /// First mip level that it sees.
    pub level: u32,
    /// How many mip levels it sees.
    pub levels: u32,
    /// First array layer that it sees.
    pub layer: u32,
    /// How many array layers it sees.
    pub layers: u32,
}

/// The dimension that a kernel declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViewKind {
    /// `image1D`.
    One,
    /// `image1DArray`.
    OneArray,
    /// `image2D`.
    Two,
    /// `image2DArray`.
    TwoArray,
    /// `image3D`.
    Three,
    /// `imageCube`.
    Cube,
    /// `imageCubeArray`.
    CubeArray,
}

impl ViewKind {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            ViewKind::One => "1d",
            ViewKind::OneArray => "1d array",
            ViewKind::Two => "2d",
            ViewKind::TwoArray => "2d array",
            ViewKind::Three => "3d",
            ViewKind::Cube => "cube",
            ViewKind::CubeArray => "cube array",
        }
    }
}
