//! What a descriptor shows of a buffer's bytes: themselves, texels, levels and layers of an image;
//! or a sampler.
//!
//! Knows: where a texel lies among the bytes, which texels there are, and what the specification
//! rules out before anything runs (Vulkan specification, "Image Operations" and the valid usage of
//! VkSamplerCreateInfo and of image instructions).
//! Promises: [`check`] names what an instruction cannot do with what is bound to it, with the names
//! of the device's format features where there are such.
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
pub(crate) enum View {
    #[default]
    Bytes,
    /// So many texels.
    Texels(ImageFormat, u32),
    /// With the sampler that is combined with it.
    Image(Picture, Option<u32>),
    /// By its index in the job.
    Sampler(u32),
}

/// Levels and layers of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Picture {
    pub shape: ImageShape,
    pub view: ImageView,
}

/// A texel by whole numbers: the axes x, y, z, the layer (of a cube: the face, of an array of cubes
/// layer and face), the sample (0 in images that are not multisampled).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub level: i64,
    pub layer: i64,
    pub at: [i64; 3],
    pub sample: i64,
}

impl View {
    pub(crate) fn format(&self) -> Option<ImageFormat> {
        match self {
            View::Bytes | View::Sampler(_) => None,
            View::Texels(format, _) => Some(*format),
            View::Image(picture, _) => Some(picture.shape.format),
        }
    }

    /// Of a texel by whole numbers: how many are axes, and how many (none or one) a layer or face.
    pub(crate) fn coordinates(&self) -> (usize, usize) {
        match self {
            View::Bytes | View::Sampler(_) | View::Texels(..) => (1, 0),
            View::Image(picture, _) => match picture.view.kind {
                ViewKind::One => (1, 0),
                ViewKind::OneArray => (1, 1),
                ViewKind::Two => (2, 0),
                ViewKind::TwoArray | ViewKind::Cube | ViewKind::CubeArray => (2, 1),
                ViewKind::Three => (3, 0),
            },
        }
    }

    /// Bytes from the start of the range to a texel; none: there is no such texel.
    pub(crate) fn start(&self, place: &Place) -> Option<usize> {
        match self {
            View::Bytes | View::Sampler(_) => None,
            View::Texels(format, texels) => {
                let inside = (0..i64::from(*texels)).contains(&place.at[0]);
                inside.then(|| place.at[0] as usize * format.texel_size())
            }
            View::Image(picture, _) => picture.start(place),
        }
    }

    /// The texels that there are at a level, for messages.
    pub(crate) fn bounds(&self, level: i64) -> String {
        match self {
            View::Bytes | View::Sampler(_) => "no texels".to_owned(),
            View::Texels(_, texels) => format!("{texels} texels"),
            View::Image(picture, _) => picture.bounds(level),
        }
    }
}

impl Picture {
    /// Texels of a level of the view in x, y, z.
    pub(crate) fn extent(&self, level: u32) -> [u32; 3] {
        self.shape.level_extent(self.view.level.saturating_add(level))
    }

    fn start(&self, place: &Place) -> Option<usize> {
        let level = u32::try_from(place.level).ok().filter(|level| *level < self.view.levels)?;
        let layer = u32::try_from(place.layer).ok().filter(|layer| *layer < self.view.layers)?;
        let [width, height, depth] = self.extent(level);
        let [x, y, z] = [(place.at[0], width), (place.at[1], height), (place.at[2], depth)]
            .map(|(at, size)| u64::try_from(at).ok().filter(|at| *at < u64::from(size)));
        let samples = u64::from(self.shape.samples);
        let sample = u64::try_from(place.sample).ok().filter(|sample| *sample < samples)?;
        let texel = ((z? * u64::from(height) + y?) * u64::from(width) + x?) * samples + sample;
        let start = self.shape.layer_start(self.view.level + level, self.view.layer + layer)?;
        usize::try_from(start + texel * self.shape.format.texel_size() as u64).ok()
    }

    fn bounds(&self, level: i64) -> String {
        let levels = self.view.levels;
        let Some(level) = u32::try_from(level).ok().filter(|level| *level < levels) else {
            return format!("{levels} levels");
        };
        let extent = self.extent(level);
        let sizes = extent.iter().take(axes(self.view.kind)).map(u32::to_string);
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
            sizes.collect::<Vec<_>>().join(" x ")
        )
    }
}

/// Axes of a level: of a cube's face two.
pub(crate) fn axes(kind: ViewKind) -> usize {
    match kind {
        ViewKind::One | ViewKind::OneArray => 1,
        ViewKind::Two | ViewKind::TwoArray | ViewKind::Cube | ViewKind::CubeArray => 2,
        ViewKind::Three => 3,
    }
}

/// Coordinates of a sampled image without its layer: of a cube a direction.
pub(crate) fn directions(kind: ViewKind) -> usize {
    match kind {
        ViewKind::Cube | ViewKind::CubeArray => 3,
        ViewKind::One
        | ViewKind::OneArray
        | ViewKind::Two
        | ViewKind::TwoArray
        | ViewKind::Three => axes(kind),
    }
}

/// Whether a coordinate names the layer.
pub(crate) fn arrayed(kind: ViewKind) -> bool {
    match kind {
        ViewKind::OneArray | ViewKind::TwoArray | ViewKind::CubeArray => true,
        ViewKind::One | ViewKind::Two | ViewKind::Three | ViewKind::Cube => false,
    }
}

/// Why an instruction cannot go to what is bound.
pub(crate) fn check(
    step: &ImageInstruction,
    view: &View,
    sampler: Option<&JobSampler>,
) -> Result<(), String> {
    let name = &step.image.name;
    let Some(format) = view.format() else {
        return Err(format!("`{name}` is used as an image, and something else is bound to it"));
    };
    check_form(step, format)?;
    check_sample(step, view)?;
    let lacking =
        |feature: &str| Err(format!("`{name}`: format {format} (format feature {feature})"));
    let stored = match format.encoding() {
        TexelEncoding::Srgb => false,
        _ => !format.is_depth(),
    };
    match step.operation {
        ImageOperation::Write if !stored => lacking("STORAGE_IMAGE"),
        ImageOperation::Atomic(op) if !takes_atomics(format, op) => lacking("STORAGE_IMAGE_ATOMIC"),
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
fn check_form(step: &ImageInstruction, format: ImageFormat) -> Result<(), String> {
    let fits = match step.operation {
        ImageOperation::Size | ImageOperation::Levels | ImageOperation::Samples => true,
        _ if step.reference.is_some() => true,
        ImageOperation::Read
        | ImageOperation::Write
        | ImageOperation::Atomic(_)
        | ImageOperation::Sample
        | ImageOperation::Gather { .. } => match step.form {
            NumberFormat::Float(Width::W32) => format.class() == TexelClass::Float,
            NumberFormat::Integer(width @ (Width::W32 | Width::W64)) => {
                let wide = matches!(format, ImageFormat::R64i | ImageFormat::R64ui);
                format.class() != TexelClass::Float && wide == (width == Width::W64)
            }
            NumberFormat::Integer(Width::W8 | Width::W16)
            | NumberFormat::Float(Width::W8 | Width::W16 | Width::W64)
            | NumberFormat::Brain => false,
        },
    };
    if fits {
        return Ok(());
    }
    let bits = step.form.width().bits();
    let class =
        if matches!(step.form, NumberFormat::Float(_)) { "floating-point" } else { "integer" };
    Err(format!(
        "`{}`: {class} texels of {bits} bits where format {format} is bound",
        step.image.name
    ))
}

/// Instructions on texels name a sample where there are several, and there alone.
fn check_sample(step: &ImageInstruction, view: &View) -> Result<(), String> {
    let samples = match view {
        View::Image(picture, _) => picture.shape.samples,
        View::Bytes | View::Texels(..) | View::Sampler(_) => 1,
    };
    match step.operation {
        ImageOperation::Size | ImageOperation::Levels | ImageOperation::Samples => Ok(()),
        ImageOperation::Read
        | ImageOperation::Write
        | ImageOperation::Atomic(_)
        | ImageOperation::Sample
        | ImageOperation::Gather { .. } => {
            if step.sample.is_some() == (samples > 1) {
                return Ok(());
            }
            let named = if step.sample.is_some() { "a sample" } else { "no sample" };
            Err(format!(
                "`{}`: an access that names {named}, of texels with {samples}",
                step.image.name
            ))
        }
    }
}

fn takes_atomics(format: ImageFormat, op: AtomicOperation) -> bool {
    let float = matches!(op, AtomicOperation::FAdd | AtomicOperation::FMin | AtomicOperation::FMax);
    let either =
        matches!(op, AtomicOperation::Load | AtomicOperation::Store | AtomicOperation::Exchange);
    match format {
        ImageFormat::R32f => float || either,
        ImageFormat::R32i | ImageFormat::R32ui | ImageFormat::R64i | ImageFormat::R64ui => !float,
        _ => false,
    }
}

fn check_sampled(
    step: &ImageInstruction,
    view: &View,
    sampler: Option<&JobSampler>,
) -> Result<(), String> {
    let name = &step.image.name;
    let (View::Image(picture, _), Some(sampler)) = (view, sampler) else {
        return Err(format!("`{name}` is sampled, and no image with a sampler is bound to it"));
    };
    let (format, with) = (picture.shape.format, &sampler.name);
    let linear = sampler.filter == Filter::Linear || sampler.mipmap == Filter::Linear;
    if linear && format.class() != TexelClass::Float {
        return Err(format!(
            "`{name}`: format {format} (format feature SAMPLED_IMAGE_FILTER_LINEAR)"
        ));
    }
    match (step.reference.is_some(), sampler.compare.is_some()) {
        (true, false) => {
            return Err(format!(
                "`{name}` is compared with a reference, and the sampler `{with}` has no `compare`"
            ));
        }
        (false, true) => {
            return Err(format!(
                "`{name}` is not compared with a reference, and the sampler `{with}` has a `compare`"
            ));
        }
        (true, true) if !format.is_depth() => {
            return Err(format!(
                "`{name}`: format {format} (format feature SAMPLED_IMAGE_DEPTH_COMPARISON)"
            ));
        }
        (true, true) | (false, false) => {}
    }
    match sampler.coordinates {
        Coordinates::Normalized => Ok(()),
        Coordinates::Unnormalized => check_unnormalized(step, picture, with),
    }
}

/// What samplers with unnormalised coordinates may do (valid usage of VkSampler and of image
/// instructions).
fn check_unnormalized(
    step: &ImageInstruction,
    picture: &Picture,
    with: &str,
) -> Result<(), String> {
    let why = if !matches!(picture.view.kind, ViewKind::One | ViewKind::Two) {
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
        "`{}`: the unnormalized coordinates of the sampler `{with}` {why}",
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
        let shown = View::Image(Picture { shape, view }, None);
        let start =
            |level, layer, x, y| shown.start(&Place { level, layer, at: [x, y, 0], sample: 0 });
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
        assert_eq!(shown.bounds(0), "2 x 1 texels in 3 layers of level 0");
        assert_eq!(shown.bounds(5), "2 levels");
    }

    #[test]
    fn a_sample_lies_within_its_texel() {
        let (format, extent) = (ImageFormat::Rg8, [5, 3, 1]);
        let shape =
            ImageShape { dim: ImageDim::Two, format, extent, layers: 4, levels: 1, samples: 8 };
        let view = ImageView { kind: ViewKind::TwoArray, level: 0, levels: 1, layer: 1, layers: 3 };
        let shown = View::Image(Picture { shape, view }, None);
        let start =
            |layer, x, y, sample| shown.start(&Place { level: 0, layer, at: [x, y, 0], sample });
        assert_eq!(start(0, 0, 0, 0), Some(2 * 8 * 15));
        assert_eq!(start(2, 4, 1, 7), Some(2 * (8 * (3 * 15 + 9) + 7)));
        assert_eq!((start(0, 0, 0, 8), start(0, 0, 0, -1)), (None, None));
        assert_eq!(shown.bounds(0), "5 x 3 texels of 8 samples in 3 layers of level 0");
    }
}
