//! Images and samplers of a test: checked, laid out, filled.
//!
//! Knows: which extents, layers and levels a dimension allows (Vulkan specification,
//! VkImageCreateInfo), and what a sampler with unnormalised coordinates may not do
//! (VkSamplerCreateInfo).
//! Promises: contents have exactly the bytes of all levels and layers; everything that contradicts
//! itself is reported with its place. What only a device can refuse (its limits, its formats) is
//! left to it.
//! Does not cover: how a kernel sees an image (`view`).

use super::contents::ContentsSource;
use super::definedness::{UNINITIALISED, defined_buffer};
use super::elements::{decode_base64, encode_elements, fill_elements};
use super::file_contents::FilePlace;
use super::problems::Problems;
use super::texel_elements::stored_texels;
use crate::JobBuffer;
use crate::resource::JobSampler;
use std::sync::Arc;
use vkcert_model::element::ElementType;
use vkcert_model::image::{AddressMode, Coordinates, Filter, Image, ImageDim, ImageShape, Sampler};
use vkcert_requirement::Origin;

/// The image with its initial contents; none after a problem.
pub fn initial_image(
    source: &ContentsSource<'_>,
    image_name: &str,
    image: &Image,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(ImageShape, JobBuffer)> {
    let image_shape = checked_shape(image, origin, problems)?;
    let Some(image_bytes) =
        image_shape.bytes().filter(|image_bytes| *image_bytes <= source.byte_limit)
    else {
        let message = format!(
            "the image `{image_name}` exceeds the memory limit of {} bytes",
            source.byte_limit
        );
        problems
            .push(origin.at("extent").error("limit", message).hint("raise `limits.memory_bytes`"));
        return None;
    };
    let Some((key, bytes)) = image_contents(source, image, &image_shape, origin, problems)? else {
        let bytes = Arc::new(vec![UNINITIALISED; image_bytes as usize]);
        return Some((
            image_shape,
            JobBuffer { name: image_name.to_owned(), bytes, defined: Vec::new() },
        ));
    };
    if bytes.len() as u64 != image_bytes {
        let texel_bytes = image_shape.format.texel_size() as u64;
        let message = format!(
            "`{image_name}` has {} {} over all levels and layers ({image_bytes} bytes), and {} are given ({} bytes)",
            image_bytes / texel_bytes,
            if image_shape.samples > 1 { "samples of texels" } else { "texels" },
            bytes.len() as u64 / texel_bytes,
            bytes.len()
        );
        problems.push(origin.at(key).error("size", message));
        return None;
    }
    Some((image_shape, defined_buffer(image_name, bytes)))
}

fn checked_shape(image: &Image, origin: &Origin, problems: &mut Problems) -> Option<ImageShape> {
    let axis_count = image.dim.axes();
    if image.extent.len() != axis_count {
        let message = format!(
            "a {} image has an extent of {axis_count} numbers, and {} are given",
            image.dim.name(),
            image.extent.len()
        );
        problems.push(origin.at("extent").error("size", message));
        return None;
    }
    let mut full_extent = [1; 3];
    for (axis_index, texel_count) in image.extent.iter().enumerate() {
        if *texel_count == 0 {
            problems
                .push(origin.at("extent").at(axis_index).error("size", "an image of no texels"));
            return None;
        }
        full_extent[axis_index] = *texel_count;
    }
    if image.dim == ImageDim::Cube && full_extent[0] != full_extent[1] {
        let message =
            format!("the faces of a cube are square, not {} by {}", full_extent[0], full_extent[1]);
        problems.push(origin.at("extent").error("size", message));
        return None;
    }
    let usual_layers = if image.dim == ImageDim::Cube { 6 } else { 1 };
    let layer_count = image.layers.unwrap_or(usual_layers);
    let layers_fault = match image.dim {
        ImageDim::One | ImageDim::Two if layer_count == 0 => {
            Some("an image has at least one layer")
        }
        ImageDim::Three if layer_count != 1 => Some("a 3d image has one layer"),
        ImageDim::Cube if layer_count == 0 || !layer_count.is_multiple_of(6) => {
            Some("a cube has 6 layers, an array of them 6 each")
        }
        ImageDim::One | ImageDim::Two | ImageDim::Three | ImageDim::Cube => None,
    };
    if let Some(message) = layers_fault {
        problems.push(origin.at("layers").error("size", message));
        return None;
    }
    let level_count = image.levels.unwrap_or(1);
    let sample_count = image.samples.unwrap_or(1);
    let image_shape = ImageShape {
        dim: image.dim,
        format: image.format,
        extent: full_extent,
        layers: layer_count,
        levels: level_count,
        samples: sample_count,
    };
    if level_count == 0 || level_count > image_shape.most_levels() {
        let message = format!(
            "an image of this extent has 1 to {} levels, not {level_count}",
            image_shape.most_levels()
        );
        problems.push(origin.at("levels").error("size", message));
        return None;
    }
    if let Some(message) = samples_fault(&image_shape) {
        problems.push(origin.at("samples").error("size", message));
        return None;
    }
    Some(image_shape)
}

/// Why an image cannot have so many samples (Vulkan specification, VkImageCreateInfo).
fn samples_fault(image_shape: &ImageShape) -> Option<String> {
    let sample_count = image_shape.samples;
    if !SAMPLE_COUNTS.contains(&sample_count) {
        return Some(format!("a texel has 1, 2, 4 or 8 samples, not {sample_count}"));
    }
    if sample_count > 1 && image_shape.dim != ImageDim::Two {
        return Some(format!(
            "a {} image has 1 sample per texel, not {sample_count}",
            image_shape.dim.name()
        ));
    }
    (sample_count > 1 && image_shape.levels > 1).then(|| {
        format!(
            "an image with {} levels has 1 sample per texel, not {sample_count}",
            image_shape.levels
        )
    })
}

/// Numbers of samples that a texel may have.
const SAMPLE_COUNTS: [u32; 4] = [1, 2, 4, 8];

/// Key and bytes of the contents given; none: uninitialised. The outer none: a problem.
#[expect(clippy::option_option, reason = "no contents are not a problem")]
fn image_contents(
    source: &ContentsSource<'_>,
    image: &Image,
    image_shape: &ImageShape,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Option<(&'static str, Vec<u8>)>> {
    let element_type =
        ElementType { scalar: image.format.component(), components: image.format.components() };
    if let Some(data) = &image.data {
        let component_bytes = encode_elements(element_type, data, &origin.at("data"), problems)?;
        return Some(Some((
            "data",
            stored_texels(image.format, &component_bytes, &origin.at("data"), problems)?,
        )));
    }
    if let Some(fill) = &image.fill {
        let texel_count = image_shape.bytes()? / image.format.texel_size() as u64;
        let component_bytes =
            fill_elements(element_type, fill, texel_count, &origin.at("fill"), problems)?;
        return Some(Some((
            "fill",
            stored_texels(image.format, &component_bytes, &origin.at("fill"), problems)?,
        )));
    }
    if let Some(base64_text) = &image.bytes {
        return Some(Some(("bytes", decode_base64(base64_text, &origin.at("bytes"), problems)?)));
    }
    if let Some(file_path) = &image.file {
        let (_, bytes) = source.file_contents(
            file_path,
            FilePlace::Texels(image_shape),
            &origin.at("file"),
            problems,
        )?;
        return Some(Some(("file", bytes)));
    }
    Some(None)
}

/// The sampler with its defaults filled in; none after a problem.
pub fn job_sampler(
    sampler_name: &str,
    sampler: &Sampler,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobSampler> {
    let (min_lod, max_lod) = (sampler.min_lod.unwrap_or(0.0), sampler.max_lod);
    let lod_numbers =
        [("min_lod", Some(min_lod)), ("max_lod", max_lod), ("lod_bias", sampler.lod_bias)];
    for (fault_key, lod_number) in lod_numbers {
        if lod_number.is_some_and(|lod_number| !lod_number.is_finite()) {
            problems.push(
                origin
                    .at(fault_key)
                    .error("bad-value", format!("`{fault_key}` is a finite number")),
            );
            return None;
        }
    }
    if max_lod.is_some_and(|greatest_lod| greatest_lod < min_lod) {
        let message = format!("`max_lod` is below `min_lod`, which is {min_lod}");
        problems.push(origin.at("max_lod").error("bad-value", message));
        return None;
    }
    let new_sampler = JobSampler {
        name: sampler_name.to_owned(),
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
    let sampler_fault = match new_sampler.coordinates {
        Coordinates::Normalized => None,
        Coordinates::Unnormalized => unnormalized_fault(&new_sampler),
    };
    match sampler_fault {
        Some((fault_key, message)) => {
            problems.push(origin.at(fault_key).error("contradiction", message));
            None
        }
        None => Some(new_sampler),
    }
}

/// Key and message of what unnormalised coordinates exclude.
fn unnormalized_fault(sampler: &JobSampler) -> Option<(&'static str, &'static str)> {
    if sampler.mipmap != Filter::Nearest {
        return Some(("mipmap", "unnormalized coordinates see level 0 alone"));
    }
    if sampler.min_lod != 0.0
        || sampler.max_lod.is_some_and(|greatest_lod| greatest_lod != 0.0)
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
