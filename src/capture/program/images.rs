//! Images, their views and samplers, and which texels a command names.
//!
//! Knows: the texels of an image in one row of numbers: level by level from the largest, in it layer
//! by layer, slice by slice, row by row (Vulkan specification, "Image Mip Level Sizing").
//! Promises: what a command names lies inside of its image; a level or a layer that is not there ends
//! in a diagnostic. Numbers of texels are bounded by [`MOST_TEXELS`].
//! Does not cover: how texels lie in memory, planes, blocks of compressed formats.

use super::ObjectEnd;
use super::build::Builder;
use crate::event::{Binding, Image, ImageContents, ImageView, ObjectKind, Sampler};
use crate::image::{SubresourceRange, TexelBox};
use crate::value::Handle;
use std::ops::Range;

/// Texels of an image at most.
pub const MOST_TEXELS: u64 = 1 << 40;

/// Layers of levels of an image at most.
const MOST_SUBRESOURCES: u64 = 1 << 20;

/// Layers of levels of a range that are told apart at most: of more, whole levels are.
const MOST_TOLD_APART: u64 = 256;

/// VK_IMAGE_TYPE_3D.
const IMAGE_3D: i32 = 2;

/// The index of an image of which nothing is recorded but its handle.
const UNDESCRIBED: usize = usize::MAX;

/// An image.
#[derive(Debug, Clone)]
pub struct ImageObject {
    /// As it was made.
    pub made: Image,
    /// Index of its memory and where it begins there; none where it was never bound.
    pub memory: Option<(usize, u64)>,
    /// When it was destroyed.
    pub end: ObjectEnd,
}

/// A view of an image.
#[derive(Debug, Clone)]
pub struct ViewObject {
    /// Index of the image.
    pub image: usize,
    /// As it was made.
    pub made: ImageView,
    /// When it was destroyed.
    pub end: ObjectEnd,
}

/// A sampler.
#[derive(Debug, Clone)]
pub struct SamplerObject {
    /// As it was made.
    pub made: Sampler,
    /// When it was destroyed.
    pub end: ObjectEnd,
}

/// Levels and layers of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subresources {
    /// Levels.
    pub levels: Range<u32>,
    /// Layers.
    pub layers: Range<u32>,
}

/// The rows of texels of a box, layer by layer, slice by slice.
#[derive(Debug, Clone, Copy)]
pub struct BoxRows {
    /// Texels of a row.
    pub width: u64,
    lines: u64,
    slices: u64,
    layers: u64,
    first: u64,
    row_texels: u64,
    slice_texels: u64,
    layer_texels: u64,
}

impl BoxRows {
    /// How many there are.
    pub fn count(&self) -> u64 {
        if self.width == 0 { 0 } else { self.lines * self.slices * self.layers }
    }

    /// The number of the first texel of a row.
    pub fn start(&self, row: u64) -> u64 {
        let (lines, slices) = (self.lines.max(1), self.slices.max(1));
        self.first
            + row % lines * self.row_texels
            + row / lines % slices * self.slice_texels
            + row / lines / slices * self.layer_texels
    }
}

impl ImageObject {
    /// Whether its layers are slices of a volume.
    pub fn is_volume(&self) -> bool {
        self.made.image_type == IMAGE_3D
    }

    /// Texels of a level in x, y, z.
    pub fn level_extent(&self, level: u32) -> [u32; 3] {
        self.made.extent.map(|axis| (axis >> level.min(31)).max(1))
    }

    /// Texels of a layer of a level.
    pub fn layer_texels(&self, level: u32) -> u64 {
        self.level_extent(level).iter().fold(1, |product, axis| product * u64::from(*axis))
    }

    /// The number of the first texel of a layer of a level.
    pub fn first_texel(&self, level: u32, layer: u32) -> u64 {
        let layers = u64::from(self.made.layers);
        let before: u64 = (0..level).map(|level| self.layer_texels(level) * layers).sum();
        before + self.layer_texels(level) * u64::from(layer)
    }

    /// The level and the layer of the texel with a number.
    pub fn subresource_at(&self, texel: u64) -> (u32, u32) {
        let is_reached = |level: &u32| self.first_texel(*level, 0) <= texel;
        let level = (0..self.made.levels).take_while(is_reached).last().unwrap_or(0);
        let behind = texel.saturating_sub(self.first_texel(level, 0));
        (level, (behind / self.layer_texels(level)) as u32)
    }

    /// Texels of all levels and layers.
    pub fn texels(&self) -> u64 {
        self.first_texel(self.made.levels, 0)
    }

    /// The levels and layers of a range, as far as the image has them.
    pub fn subresources(&self, range: &SubresourceRange) -> Subresources {
        let last = |first: u32, count: u32, all: u32| first.saturating_add(count).min(all);
        // A view of a volume's slices may name them as layers.
        let layers = match self.is_volume() {
            true => 0..1,
            false => range.layer..last(range.layer, range.layers, self.made.layers),
        };
        Subresources {
            levels: range.level..last(range.level, range.levels, self.made.levels),
            layers,
        }
    }

    /// The numbers of texels of levels and layers: a span for each layer of each level, or for each
    /// level where these are many.
    pub fn spans(&self, part: &Subresources) -> Vec<(u64, u64)> {
        let span = |level: u32, layers: &Range<u32>| {
            (self.first_texel(level, layers.start), self.first_texel(level, layers.end))
        };
        let (levels, layers) = (part.levels.clone(), part.layers.clone());
        let count = levels.len() as u64 * layers.len() as u64;
        let spans: Vec<(u64, u64)> = if count <= MOST_TOLD_APART {
            let pairs = levels.flat_map(|level| layers.clone().map(move |layer| (level, layer)));
            pairs.map(|(level, layer)| span(level, &(layer..layer + 1))).collect()
        } else {
            levels.map(|level| span(level, &layers)).collect()
        };
        spans.into_iter().filter(|(start, end)| start < end).collect()
    }

    /// The rows of a box. What it names behind the end of its level is left out.
    pub fn rows(&self, texels: &TexelBox) -> BoxRows {
        let extent = self.level_extent(texels.level);
        let first = texels.offset.map(|axis| u32::try_from(axis).unwrap_or(0));
        let inside = |axis: usize| {
            let start = first[axis].min(extent[axis]);
            (start, first[axis].saturating_add(texels.extent[axis]).min(extent[axis]) - start)
        };
        let [(column, width), (line, lines), (slice, slices)] = [0, 1, 2].map(inside);
        let layers = self.box_layers(texels);
        let row_texels = u64::from(extent[0]);
        let slice_texels = row_texels * u64::from(extent[1]);
        let offset = u64::from(column) + u64::from(line) * row_texels;
        BoxRows {
            width: u64::from(width),
            lines: u64::from(lines),
            slices: u64::from(slices),
            layers: layers.len() as u64,
            first: self.first_texel(texels.level, layers.start)
                + u64::from(slice) * slice_texels
                + offset,
            row_texels,
            slice_texels,
            layer_texels: self.layer_texels(texels.level),
        }
    }

    fn box_layers(&self, texels: &TexelBox) -> Range<u32> {
        match self.is_volume() {
            true => 0..1,
            false => texels.layer..texels.layer.saturating_add(texels.layers).min(self.made.layers),
        }
    }

    /// Whether a box holds all of the levels and layers that it names.
    pub fn is_whole(&self, texels: &TexelBox) -> bool {
        let extent = self.level_extent(texels.level);
        texels.offset == [0; 3] && (0..3).all(|axis| texels.extent[axis] >= extent[axis])
    }

    /// The levels and layers that a box names.
    pub fn subresources_of(&self, texels: &TexelBox) -> Subresources {
        Subresources { levels: texels.level..texels.level + 1, layers: self.box_layers(texels) }
    }
}

impl Builder {
    /// An image of which captures of version 1 tell no more than its handle.
    pub(super) fn take_undescribed_image(&mut self, image: Handle) {
        self.live.insert(ObjectKind::Image, image, UNDESCRIBED);
    }

    pub(super) fn take_image(&mut self, made: Image) -> Result<(), String> {
        let sizes = [made.extent[0], made.extent[1], made.extent[2], made.levels, made.layers];
        if sizes.contains(&0) || made.levels > 32 {
            return Err("an image has no texels or more than 32 levels".to_owned());
        }
        // Each level has at most as many texels as the largest one.
        let texels = sizes.iter();
        let texels = texels.fold(1, |product: u64, size| product.saturating_mul(u64::from(*size)));
        if texels > MOST_TEXELS {
            return Err(format!("an image has more than {MOST_TEXELS} texels"));
        }
        if u64::from(made.levels) * u64::from(made.layers) > MOST_SUBRESOURCES {
            return Err(format!("an image has more than {MOST_SUBRESOURCES} layers of levels"));
        }
        self.live.insert(ObjectKind::Image, made.image, self.images.len());
        self.images.push(ImageObject { made, memory: None, end: ObjectEnd::Never });
        Ok(())
    }

    /// The image of a handle.
    pub(super) fn image(&self, handle: Handle) -> Result<usize, String> {
        match self.live.find(ObjectKind::Image, handle)? {
            UNDESCRIBED => Err(format!("what the image {handle} is was not recorded")),
            index => Ok(index),
        }
    }

    pub(super) fn bind_image(&mut self, binding: &Binding) -> Result<(), String> {
        // An image of a swapchain is bound to no memory that the program knows of.
        let memory = self.live.find_or_null(ObjectKind::Memory, binding.memory)?;
        let Some(memory) = memory else { return Ok(()) };
        let image = self.live.find(ObjectKind::Image, binding.resource)?;
        let Some(image) = self.images.get_mut(image) else { return Ok(()) };
        let end = binding.offset.checked_add(image.made.memory_bytes);
        if end.is_none_or(|end| end > self.memories[memory].size) {
            return Err("an image reaches beyond the memory that it is bound to".to_owned());
        }
        image.memory = Some((memory, binding.offset));
        Ok(())
    }

    pub(super) fn take_image_view(&mut self, made: ImageView) -> Result<(), String> {
        let image = self.image(made.image)?;
        let part = self.images[image].subresources(&made.range);
        if part.levels.is_empty() || part.layers.is_empty() {
            return Err("a view sees no level or no layer of its image".to_owned());
        }
        self.live.insert(ObjectKind::ImageView, made.view, self.image_views.len());
        self.image_views.push(ViewObject { image, made, end: ObjectEnd::Never });
        Ok(())
    }

    pub(super) fn take_sampler(&mut self, made: Sampler) {
        self.live.insert(ObjectKind::Sampler, made.sampler, self.samplers.len());
        self.samplers.push(SamplerObject { made, end: ObjectEnd::Never });
    }

    /// The image of contents, whose level and layer it has.
    pub(super) fn image_of_contents(&self, contents: &ImageContents) -> Result<usize, String> {
        let image = self.image(contents.image)?;
        self.check_layer(image, (contents.level, contents.layer)).map(|()| image)
    }

    /// That an image has a level and a layer.
    pub(super) fn check_layer(
        &self,
        image: usize,
        (level, layer): (u32, u32),
    ) -> Result<(), String> {
        let made = &self.images[image].made;
        match level < made.levels && layer < made.layers {
            true => Ok(()),
            false => {
                Err("contents are of a level or a layer that the image does not have".to_owned())
            }
        }
    }

    /// That the level and the layers of a box are there.
    pub(super) fn check_box(&self, image: usize, texels: &TexelBox) -> Result<(), String> {
        let object = &self.images[image];
        let layers = object.is_volume()
            || texels
                .layer
                .checked_add(texels.layers)
                .is_some_and(|last| last <= object.made.layers)
            || (texels.layer < object.made.layers && texels.layers == u32::MAX);
        let is_inside = texels.level < object.made.levels && layers;
        match is_inside && texels.offset.iter().all(|axis| *axis >= 0) {
            true => Ok(()),
            false => Err("texels are named that their image does not have".to_owned()),
        }
    }
}
