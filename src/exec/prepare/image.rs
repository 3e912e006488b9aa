//! Images and samplers of a test: checked, laid out, filled.
//!
//! Knows: which extents, layers and levels a dimension allows (Vulkan specification,
//! VkImageCreateInfo), and what a sampler with unnormalised coordinates may not do
//! (VkSamplerCreateInfo).
//! Promises: contents have exactly the bytes of all levels and layers; everything that contradicts
//! itself is reported with its place. What only a device can refuse (its limits, its formats) is
//! left to it.
//! Does not cover: how a kernel sees an image (`view`).

use super::contents::Source;
use super::definedness::{UNINITIALISED, whole_range};
use super::elements::{decode_base64, elements, filled};
use super::file_contents::FilePlace;
use super::problems::Problems;
use super::texel_elements::stored;
use crate::JobBuffer;
use crate::resource::JobSampler;
use std::sync::Arc;
use vkcert_model::element::ElementType;
use vkcert_model::image::{AddressMode, Coordinates, Filter, Image, ImageDim, ImageShape, Sampler};
use vkcert_requirement::Origin;

/// The image with its initial contents; none after a problem.
pub fn image(
    source: &Source<'_>,
    name: &str,
    image: &Image,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(ImageShape, JobBuffer)> {
    let shape = shape(image, origin, problems)?;
    let Some(size) = shape.bytes().filter(|size| *size <= source.limit) else {
        let message =
            format!("the image `{name}` exceeds the memory limit of {} bytes", source.limit);
        problems
            .push(origin.at("extent").error("limit", message).hint("raise `limits.memory_bytes`"));
        return None;
    };
    let whole = |bytes: Vec<u8>| JobBuffer {
        name: name.to_owned(),
        defined: whole_range(bytes.len()),
        bytes: Arc::new(bytes),
    };
    let Some((key, bytes)) = contents(source, image, &shape, origin, problems)? else {
        let bytes = Arc::new(vec![UNINITIALISED; size as usize]);
        return Some((shape, JobBuffer { name: name.to_owned(), bytes, defined: Vec::new() }));
    };
    if bytes.len() as u64 != size {
        let texel = shape.format.texel_size() as u64;
        let message = format!(
            "`{name}` has {} {} over all levels and layers ({size} bytes), and {} are given ({} bytes)",
            size / texel,
            if shape.samples > 1 { "samples of texels" } else { "texels" },
            bytes.len() as u64 / texel,
            bytes.len()
        );
        problems.push(origin.at(key).error("size", message));
        return None;
    }
    Some((shape, whole(bytes)))
}

fn shape(image: &Image, origin: &Origin, problems: &mut Problems) -> Option<ImageShape> {
    let axes = image.dim.axes();
    if image.extent.len() != axes {
        let message = format!(
            "a {} image has an extent of {axes} numbers, and {} are given",
            image.dim.name(),
            image.extent.len()
        );
        problems.push(origin.at("extent").error("size", message));
        return None;
    }
    let mut extent = [1; 3];
    for (axis, texels) in image.extent.iter().enumerate() {
        if *texels == 0 {
            problems.push(origin.at("extent").at(axis).error("size", "an image of no texels"));
            return None;
        }
        extent[axis] = *texels;
    }
    if image.dim == ImageDim::Cube && extent[0] != extent[1] {
        let message = format!("the faces of a cube are square, not {} by {}", extent[0], extent[1]);
        problems.push(origin.at("extent").error("size", message));
        return None;
    }
    let usual = if image.dim == ImageDim::Cube { 6 } else { 1 };
    let layers = image.layers.unwrap_or(usual);
    let wrong = match image.dim {
        ImageDim::One | ImageDim::Two if layers == 0 => Some("an image has at least one layer"),
        ImageDim::Three if layers != 1 => Some("a 3d image has one layer"),
        ImageDim::Cube if layers == 0 || !layers.is_multiple_of(6) => {
            Some("a cube has 6 layers, an array of them 6 each")
        }
        ImageDim::One | ImageDim::Two | ImageDim::Three | ImageDim::Cube => None,
    };
    if let Some(message) = wrong {
        problems.push(origin.at("layers").error("size", message));
        return None;
    }
    let levels = image.levels.unwrap_or(1);
    let samples = image.samples.unwrap_or(1);
    let shape =
        ImageShape { dim: image.dim, format: image.format, extent, layers, levels, samples };
    if levels == 0 || levels > shape.most_levels() {
        let message = format!(
            "an image of this extent has 1 to {} levels, not {levels}",
            shape.most_levels()
        );
        problems.push(origin.at("levels").error("size", message));
        return None;
    }
    if let Some(message) = samples_fault(&shape) {
        problems.push(origin.at("samples").error("size", message));
        return None;
    }
    Some(shape)
}

/// Why an image cannot have so many samples (Vulkan specification, VkImageCreateInfo).
fn samples_fault(shape: &ImageShape) -> Option<String> {
    let samples = shape.samples;
    if !SAMPLES.contains(&samples) {
        return Some(format!("a texel has 1, 2, 4 or 8 samples, not {samples}"));
    }
    if samples > 1 && shape.dim != ImageDim::Two {
        return Some(format!("a {} image has 1 sample per texel, not {samples}", shape.dim.name()));
    }
    (samples > 1 && shape.levels > 1).then(|| {
        format!("an image with {} levels has 1 sample per texel, not {samples}", shape.levels)
    })
}

/// Numbers of samples that a texel may have.
const SAMPLES: [u32; 4] = [1, 2, 4, 8];

/// Key and bytes of the contents given; none: uninitialised. The outer none: a problem.
#[expect(clippy::option_option, reason = "no contents are not a problem")]
fn contents(
    source: &Source<'_>,
    image: &Image,
    shape: &ImageShape,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Option<(&'static str, Vec<u8>)>> {
    let element =
        ElementType { scalar: image.format.component(), components: image.format.components() };
    if let Some(data) = &image.data {
        let components = elements(element, data, &origin.at("data"), problems)?;
        return Some(Some((
            "data",
            stored(image.format, &components, &origin.at("data"), problems)?,
        )));
    }
    if let Some(fill) = &image.fill {
        let texels = shape.bytes()? / image.format.texel_size() as u64;
        let components = filled(element, fill, texels, &origin.at("fill"), problems)?;
        return Some(Some((
            "fill",
            stored(image.format, &components, &origin.at("fill"), problems)?,
        )));
    }
    if let Some(text) = &image.bytes {
        return Some(Some(("bytes", decode_base64(text, &origin.at("bytes"), problems)?)));
    }
    if let Some(path) = &image.file {
        let (_, bytes) =
            source.file(path, FilePlace::Texels(shape), &origin.at("file"), problems)?;
        return Some(Some(("file", bytes)));
    }
    Some(None)
}

/// The sampler with its defaults filled in; none after a problem.
pub fn sampler(
    name: &str,
    sampler: &Sampler,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobSampler> {
    let (min_lod, max_lod) = (sampler.min_lod.unwrap_or(0.0), sampler.max_lod);
    let numbers =
        [("min_lod", Some(min_lod)), ("max_lod", max_lod), ("lod_bias", sampler.lod_bias)];
    for (key, number) in numbers {
        if number.is_some_and(|number| !number.is_finite()) {
            problems.push(origin.at(key).error("bad-value", format!("`{key}` is a finite number")));
            return None;
        }
    }
    if max_lod.is_some_and(|most| most < min_lod) {
        let message = format!("`max_lod` is below `min_lod`, which is {min_lod}");
        problems.push(origin.at("max_lod").error("bad-value", message));
        return None;
    }
    let made = JobSampler {
        name: name.to_owned(),
        filter: sampler.filter.unwrap_or_default(),
        mipmap: sampler.mipmap.unwrap_or_default(),
        address: sampler.address.unwrap_or_default(),
        border: sampler.border.unwrap_or_default(),
        compare: sampler.compare,
        min_lod,
        max_lod,
        lod_bias: sampler.lod_bias.unwrap_or(0.0),
        coordinates: sampler.coordinates.unwrap_or_default(),
    };
    let wrong = match made.coordinates {
        Coordinates::Normalized => None,
        Coordinates::Unnormalized => unnormalized(&made),
    };
    match wrong {
        Some((key, message)) => {
            problems.push(origin.at(key).error("contradiction", message));
            None
        }
        None => Some(made),
    }
}

/// Key and message of what unnormalised coordinates exclude.
fn unnormalized(sampler: &JobSampler) -> Option<(&'static str, &'static str)> {
    if sampler.mipmap != Filter::Nearest {
        return Some(("mipmap", "unnormalized coordinates see level 0 alone"));
    }
    if sampler.min_lod != 0.0
        || sampler.max_lod.is_some_and(|most| most != 0.0)
        || sampler.lod_bias != 0.0
    {
        return Some((
            "coordinates",
            "unnormalized coordinates see level 0 alone: leave `min_lod` and `max_lod` out",
        ));
    }
    if sampler.compare.is_some() {
        return Some(("compare", "unnormalized coordinates exclude a comparison"));
    }
    match sampler.address {
        AddressMode::ClampToEdge | AddressMode::ClampToBorder => None,
        AddressMode::Repeat | AddressMode::MirroredRepeat | AddressMode::MirrorClampToEdge => {
            Some((
                "address",
                "unnormalized coordinates go with `clamp_to_edge` and `clamp_to_border` alone",
            ))
        }
    }
}
