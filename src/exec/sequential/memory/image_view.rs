//! What a descriptor shows of a buffer's bytes: themselves, texels, levels and layers of an image;
//! or a sampler.
//!
//! Knows: where a texel lies among the bytes, which texels there are, and what the specification
//! rules out before anything runs (Vulkan specification, "Image Operations" and the valid usage of
//! VkSamplerCreateInfo and of image instructions).
//! Promises: [`check_binding`] names what an instruction cannot do with what is bound to it, with
//! the names of the device's format features where there are such.
//! Does not cover: levels, layers and dimensions that do not fit the image or the kernel;
//! `exec::prepare` checks those.

use crate::ir::atomic::AtomicOperation;
use crate::ir::image::{ImageInstruction, ImageOperation, LevelOperand, Projection};
use vkcert_exec::resource::{ImageView, JobSampler, ViewKind};
use vkcert_model::image::{
    Coordinates, Filter, ImageFormat, ImageShape, TexelClass, TexelEncoding,
};
use vkcert_spirv::operation::sized::{NumberFormat, Width};

/// What a descriptor shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DescriptorView {
    #[default]
    Bytes,
    /// So many texels.
    Texels(ImageFormat, u32),
    /// With the sampler that is combined with it.
    Image(ImageSubresource, Option<u32>),
    /// By its index in the job.
    Sampler(u32),
}

/// Levels and layers of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageSubresource {
    pub shape: ImageShape,
    pub view: ImageView,
}

/// A texel by whole numbers: the axes x, y, z, the layer (of a cube: the face, of an array of cubes
/// layer and face), the sample (0 in images that are not multisampled).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TexelPosition {
    pub level: i64,
    pub layer: i64,
    pub coordinates: [i64; 3],
    pub sample: i64,
}

impl DescriptorView {
    pub(crate) fn format(&self) -> Option<ImageFormat> {
        match self {
            DescriptorView::Bytes | DescriptorView::Sampler(_) => None,
            DescriptorView::Texels(format, _) => Some(*format),
            DescriptorView::Image(picture, _) => Some(picture.shape.format),
        }
    }

    /// Of a texel by whole numbers: how many are axes, and how many (none or one) a layer or face.
    pub(crate) fn coordinate_counts(&self) -> (usize, usize) {
        match self {
            DescriptorView::Bytes | DescriptorView::Sampler(_) | DescriptorView::Texels(..) => {
                (1, 0)
            }
            DescriptorView::Image(picture, _) => match picture.view.kind {
                ViewKind::One => (1, 0),
                ViewKind::OneArray => (1, 1),
                ViewKind::Two => (2, 0),
                ViewKind::TwoArray | ViewKind::Cube | ViewKind::CubeArray => (2, 1),
                ViewKind::Three => (3, 0),
            },
        }
    }

    /// Bytes from the start of the range to a texel; none: there is no such texel.
    pub(crate) fn texel_offset(&self, position: &TexelPosition) -> Option<usize> {
        match self {
            DescriptorView::Bytes | DescriptorView::Sampler(_) => None,
            DescriptorView::Texels(format, texels) => {
                let is_inside = (0..i64::from(*texels)).contains(&position.coordinates[0]);
                is_inside.then(|| position.coordinates[0] as usize * format.texel_size())
            }
            DescriptorView::Image(picture, _) => picture.texel_offset(position),
        }
    }

    /// The texels that there are at a level, for messages.
    pub(crate) fn level_bounds(&self, level: i64) -> String {
        match self {
            DescriptorView::Bytes | DescriptorView::Sampler(_) => "no texels".to_owned(),
            DescriptorView::Texels(_, texels) => format!("{texels} texels"),
            DescriptorView::Image(picture, _) => picture.level_bounds(level),
        }
    }
}

impl ImageSubresource {
    /// Texels of a level of the view in x, y, z.
    pub(crate) fn level_extent(&self, level: u32) -> [u32; 3] {
        self.shape.level_extent(self.view.level.saturating_add(level))
    }

    fn texel_offset(&self, position: &TexelPosition) -> Option<usize> {
        let level = u32::try_from(position.level).ok().filter(|level| *level < self.view.levels)?;
        let layer = u32::try_from(position.layer).ok().filter(|layer| *layer < self.view.layers)?;
        let [width, height, depth] = self.level_extent(level);
        let [x, y, z] = [
            (position.coordinates[0], width),
            (position.coordinates[1], height),
            (position.coordinates[2], depth),
        ]
        .map(|(coordinate, size)| {
            u64::try_from(coordinate).ok().filter(|coordinate| *coordinate < u64::from(size))
        });
        let samples = u64::from(self.shape.samples);
        let sample = u64::try_from(position.sample).ok().filter(|sample| *sample < samples)?;
        let texel_index =
            ((z? * u64::from(height) + y?) * u64::from(width) + x?) * samples + sample;
        let layer_start =
            self.shape.layer_start(self.view.level + level, self.view.layer + layer)?;
        usize::try_from(layer_start + texel_index * self.shape.format.texel_size() as u64).ok()
    }

    fn level_bounds(&self, level: i64) -> String {
        let levels = self.view.levels;
        let Some(level) = u32::try_from(level).ok().filter(|level| *level < levels) else {
            return format!("{levels} levels");
        };
        let level_extent = self.level_extent(level);
        let size_texts = level_extent.iter().take(axis_count(self.view.kind)).map(u32::to_string);
        let layers = match self.view.kind {
            ViewKind::One | ViewKind::Two | ViewKind::Three => String::new(),
            ViewKind::OneArray | ViewKind::TwoArray => format!(" in {} layers", self.view.layers),
            ViewKind::Cube | ViewKind::CubeArray => format!(" on {} faces", self.view.layers),
        };
        let samples = match self.shape.samples {
            1 => String::new(),
            samples => format!(" of {samples} samples"),
        };
        format!(
            "{} texels{samples}{layers} of level {level}",
            size_texts.collect::<Vec<_>>().join(" x ")
        )
    }
}

/// Axes of a level: of a cube's face two.
pub(crate) fn axis_count(kind: ViewKind) -> usize {
    match kind {
        ViewKind::One | ViewKind::OneArray => 1,
        ViewKind::Two | ViewKind::TwoArray | ViewKind::Cube | ViewKind::CubeArray => 2,
        ViewKind::Three => 3,
    }
}

/// Coordinates of a sampled image without its layer: of a cube a direction.
pub(crate) fn direction_count(kind: ViewKind) -> usize {
    match kind {
        ViewKind::Cube | ViewKind::CubeArray => 3,
        ViewKind::One
        | ViewKind::OneArray
        | ViewKind::Two
        | ViewKind::TwoArray
        | ViewKind::Three => axis_count(kind),
    }
}

/// Whether a coordinate names the layer.
pub(crate) fn is_arrayed(kind: ViewKind) -> bool {
    match kind {
        ViewKind::OneArray | ViewKind::TwoArray | ViewKind::CubeArray => true,
        ViewKind::One | ViewKind::Two | ViewKind::Three | ViewKind::Cube => false,
    }
}

/// Why an instruction cannot go to what is bound.
pub(crate) fn check_binding(
    step: &ImageInstruction,
    view: &DescriptorView,
    sampler: Option<&JobSampler>,
) -> Result<(), String> {
    let name = &step.image.name;
    let Some(format) = view.format() else {
        return Err(format!("`{name}` is used as an image, and something else is bound to it"));
    };
    check_texel_format(step, format)?;
    check_sample(step, view)?;
    let missing_feature =
        |feature: &str| Err(format!("`{name}`: format {format} (format feature {feature})"));
    let is_storable = match format.encoding() {
        TexelEncoding::Srgb => false,
        _ => !format.is_depth(),
    };
    match step.operation {
        ImageOperation::Write if !is_storable => missing_feature("STORAGE_IMAGE"),
        ImageOperation::Atomic(op) if !takes_atomics(format, op) => {
            missing_feature("STORAGE_IMAGE_ATOMIC")
        }
        ImageOperation::Sample | ImageOperation::Gather { .. } => {
            check_sampled(step, view, sampler)
        }
        ImageOperation::Read
        | ImageOperation::Write
        | ImageOperation::Atomic(_)
        | ImageOperation::Size
        | ImageOperation::Levels
        | ImageOperation::Samples => Ok(()),
    }
}

/// The kernel's texels are of the format's class and size.
fn check_texel_format(step: &ImageInstruction, format: ImageFormat) -> Result<(), String> {
    let format_fits = match step.operation {
        ImageOperation::Size | ImageOperation::Levels | ImageOperation::Samples => true,
        _ if step.reference.is_some() => true,
        ImageOperation::Read
        | ImageOperation::Write
        | ImageOperation::Atomic(_)
        | ImageOperation::Sample
        | ImageOperation::Gather { .. } => match step.texel_format {
            NumberFormat::Float(Width::W32) => format.class() == TexelClass::Float,
            NumberFormat::Integer(width @ (Width::W32 | Width::W64)) => {
                let is_wide = matches!(format, ImageFormat::R64i | ImageFormat::R64ui);
                format.class() != TexelClass::Float && is_wide == (width == Width::W64)
            }
            NumberFormat::Integer(Width::W8 | Width::W16)
            | NumberFormat::Float(Width::W8 | Width::W16 | Width::W64)
            | NumberFormat::Brain => false,
        },
    };
    if format_fits {
        return Ok(());
    }
    let texel_bits = step.texel_format.width().bits();
    let texel_class = if matches!(step.texel_format, NumberFormat::Float(_)) {
        "floating-point"
    } else {
        "integer"
    };
    Err(format!(
        "`{}`: {texel_class} texels of {texel_bits} bits where format {format} is bound",
        step.image.name
    ))
}

/// Instructions on texels name a sample where there are several, and there alone.
fn check_sample(step: &ImageInstruction, view: &DescriptorView) -> Result<(), String> {
    let sample_count = match view {
        DescriptorView::Image(picture, _) => picture.shape.samples,
        DescriptorView::Bytes | DescriptorView::Texels(..) | DescriptorView::Sampler(_) => 1,
    };
    match step.operation {
        ImageOperation::Size | ImageOperation::Levels | ImageOperation::Samples => Ok(()),
        ImageOperation::Read
        | ImageOperation::Write
        | ImageOperation::Atomic(_)
        | ImageOperation::Sample
        | ImageOperation::Gather { .. } => {
            if step.sample.is_some() == (sample_count > 1) {
                return Ok(());
            }
            let sample_text = if step.sample.is_some() { "a sample" } else { "no sample" };
            Err(format!(
                "`{}`: an access that names {sample_text}, of texels with {sample_count}",
                step.image.name
            ))
        }
    }
}

fn takes_atomics(format: ImageFormat, op: AtomicOperation) -> bool {
    let is_float_operation =
        matches!(op, AtomicOperation::FAdd | AtomicOperation::FMin | AtomicOperation::FMax);
    let is_plain_transfer =
        matches!(op, AtomicOperation::Load | AtomicOperation::Store | AtomicOperation::Exchange);
    match format {
        ImageFormat::R32f => is_float_operation || is_plain_transfer,
        ImageFormat::R32i | ImageFormat::R32ui | ImageFormat::R64i | ImageFormat::R64ui => {
            !is_float_operation
        }
        _ => false,
    }
}

fn check_sampled(
    step: &ImageInstruction,
    view: &DescriptorView,
    sampler: Option<&JobSampler>,
) -> Result<(), String> {
    let image_name = &step.image.name;
    let (DescriptorView::Image(picture, _), Some(sampler)) = (view, sampler) else {
        return Err(format!(
            "`{image_name}` is sampled, and no image with a sampler is bound to it"
        ));
    };
    let (format, sampler_name) = (picture.shape.format, &sampler.name);
    let is_linear = sampler.filter == Filter::Linear || sampler.mipmap == Filter::Linear;
    if is_linear && format.class() != TexelClass::Float {
        return Err(format!(
            "`{image_name}`: format {format} (format feature SAMPLED_IMAGE_FILTER_LINEAR)"
        ));
    }
    match (step.reference.is_some(), sampler.compare.is_some()) {
        (true, false) => {
            return Err(format!(
                "`{image_name}` is compared with a reference, and the sampler `{sampler_name}` has no `compare`"
            ));
        }
        (false, true) => {
            return Err(format!(
                "`{image_name}` is not compared with a reference, and the sampler `{sampler_name}` has a `compare`"
            ));
        }
        (true, true) if !format.is_depth() => {
            return Err(format!(
                "`{image_name}`: format {format} (format feature SAMPLED_IMAGE_DEPTH_COMPARISON)"
            ));
        }
        (true, true) | (false, false) => {}
    }
    match sampler.coordinates {
        Coordinates::Normalized => Ok(()),
        Coordinates::Unnormalized => check_unnormalized(step, picture, sampler_name),
    }
}

/// What samplers with unnormalised coordinates may do (valid usage of VkSampler and of image
/// instructions).
fn check_unnormalized(
    step: &ImageInstruction,
    picture: &ImageSubresource,
    sampler_name: &str,
) -> Result<(), String> {
    let misuse = if !matches!(picture.view.kind, ViewKind::One | ViewKind::Two) {
        "on an image that is neither 1d nor 2d"
    } else if picture.view.levels != 1 {
        "on an image with several levels"
    } else if step.reference.is_some() {
        "in a comparison"
    } else if matches!(step.operation, ImageOperation::Gather { .. }) {
        "in a gathering instruction"
    } else if step.projection == Projection::Divided {
        "in a projection"
    } else if !step.offsets.is_empty() {
        "with an offset"
    } else if matches!(step.level, LevelOperand::Gradient(_)) {
        "with derivatives"
    } else {
        return Ok(());
    };
    Err(format!(
        "`{}`: the unnormalized coordinates of the sampler `{sampler_name}` {misuse}",
        step.image.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::image::ImageDim;

    #[test]
    fn a_texel_lies_where_the_contents_have_it() {
        let extent = [5, 3, 1];
        let shape = ImageShape {
            dim: ImageDim::Two,
            format: ImageFormat::Rg8,
            extent,
            layers: 4,
            levels: 3,
            samples: 1,
        };
        let view = ImageView { kind: ViewKind::TwoArray, level: 1, levels: 2, layer: 1, layers: 3 };
        let shown = DescriptorView::Image(ImageSubresource { shape, view }, None);
        let start = |level, layer, x, y| {
            shown.texel_offset(&TexelPosition { level, layer, coordinates: [x, y, 0], sample: 0 })
        };
        // Level 0: 4 layers of 15 texels; level 1: 4 layers of 2 texels; 2 bytes each.
        assert_eq!(start(0, 0, 1, 0), Some(2 * (60 + 2 + 1)));
        assert_eq!(start(0, 2, 0, 0), Some(2 * (60 + 6)));
        assert_eq!(start(1, 2, 0, 0), Some(2 * (68 + 3)));
        for outside in [
            start(0, 0, 2, 0),
            start(0, 0, 0, 1),
            start(0, 0, -1, 0),
            start(0, 3, 0, 0),
            start(2, 0, 0, 0),
        ] {
            assert_eq!(outside, None);
        }
        assert_eq!(shown.level_bounds(0), "2 x 1 texels in 3 layers of level 0");
        assert_eq!(shown.level_bounds(5), "2 levels");
    }

    #[test]
    fn a_sample_lies_within_its_texel() {
        let (format, extent) = (ImageFormat::Rg8, [5, 3, 1]);
        let shape =
            ImageShape { dim: ImageDim::Two, format, extent, layers: 4, levels: 1, samples: 8 };
        let view = ImageView { kind: ViewKind::TwoArray, level: 0, levels: 1, layer: 1, layers: 3 };
        let shown = DescriptorView::Image(ImageSubresource { shape, view }, None);
        let start = |layer, x, y, sample| {
            shown.texel_offset(&TexelPosition { level: 0, layer, coordinates: [x, y, 0], sample })
        };
        assert_eq!(start(0, 0, 0, 0), Some(2 * 8 * 15));
        assert_eq!(start(2, 4, 1, 7), Some(2 * (8 * (3 * 15 + 9) + 7)));
        assert_eq!((start(0, 0, 0, 8), start(0, 0, 0, -1)), (None, None));
        assert_eq!(shown.level_bounds(0), "5 x 3 texels of 8 samples in 3 layers of level 0");
    }
}
