//! How a kernel's image types see the images and texel buffers of a test.
//!
//! Knows: which image types go with which views (Vulkan specification, "Instruction/Sampler/Image
//! View Validation" and the table "Image and Image View Parameter Compatibility Requirements").
//! Promises: the declared dimension, texel class and format agree with what is bound; levels and
//! layers exist.
//! Does not cover: whether a device has the format (`exec::vulkan`).

use super::problems::Problems;
use crate::JobBinding;
use crate::resource::{ImageView, JobSampler, JobView, ViewKind};
use rspirv::spirv::{Dim, ImageFormat as Declared};
use vkcert_model::image::{Coordinates, ImageDim, ImageFormat, ImageShape, TexelClass};
use vkcert_model::procedure::{Binding, DescriptorClass};
use vkcert_requirement::Origin;
use vkcert_spirv::interface::ReflectedResource;
use vkcert_spirv::types::{ImageType, Signedness, Type, Types};

/// The image type of a resource; none of samplers and buffers.
pub fn image_type<'t>(
    reflected_resource: &ReflectedResource,
    types: &'t Types,
) -> Option<&'t ImageType> {
    let resource_type = match types.get(reflected_resource.block_type)? {
        Type::SampledImage { image: image_id } => types.get(*image_id)?,
        other_type => other_type,
    };
    match resource_type {
        Type::Image(image_id) => Some(image_id),
        _ => None,
    }
}

/// The texel view of a buffer range; none after a problem.
pub(super) fn texel_view(
    binding: &Binding,
    reflected_resource: &ReflectedResource,
    types: &Types,
    job_binding: &JobBinding,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobView> {
    let image = image_type(reflected_resource, types)?;
    let descriptor_text =
        descriptor_text(binding.set, binding.binding, reflected_resource.name.as_deref());
    let Some(format) = binding.format.or_else(|| model_format(image.format)) else {
        let message = format!("the kernel does not say which format {descriptor_text} has");
        problems.push(
            origin.error("missing-key", message).hint("add `format`, for example \"rgba32f\""),
        );
        return None;
    };
    let place = if binding.format.is_some() { origin.at("format") } else { origin.at("binding") };
    format_agrees(image, types, format, &descriptor_text, &place, problems)?;
    let texel_bytes = format.texel_size() as u64;
    if !job_binding.range.is_multiple_of(texel_bytes) {
        let message = format!(
            "{} bytes are no whole number of {format} texels ({texel_bytes} bytes each)",
            job_binding.range
        );
        let fault_key = if binding.range.is_some() { "range" } else { "buffer" };
        problems.push(origin.at(fault_key).error("size", message));
        return None;
    }
    Some(JobView::Texels(format))
}

/// The view of an image (by name and shape); none after a problem.
pub(super) fn image_view(
    binding: &Binding,
    reflected_resource: &ReflectedResource,
    descriptor_class: DescriptorClass,
    types: &Types,
    (image_name, image_shape): (&str, &ImageShape),
    origin: &Origin,
    problems: &mut Problems,
) -> Option<ImageView> {
    let image = image_type(reflected_resource, types)?;
    let descriptor_text =
        descriptor_text(binding.set, binding.binding, reflected_resource.name.as_deref());
    let Some(view_kind) = view_kind(image) else {
        problems.unsupported(format!("an image of dimension {:?} ({descriptor_text})", image.dim));
        return None;
    };
    let dimension_fits = match view_kind {
        ViewKind::One | ViewKind::OneArray => image_shape.dim == ImageDim::One,
        // The faces of a cube are layers of two dimensions.
        ViewKind::Two | ViewKind::TwoArray => {
            matches!(image_shape.dim, ImageDim::Two | ImageDim::Cube)
        }
        ViewKind::Three => image_shape.dim == ImageDim::Three,
        ViewKind::Cube | ViewKind::CubeArray => image_shape.dim == ImageDim::Cube,
    };
    if !dimension_fits {
        let message = format!(
            "{descriptor_text} is a {} image, and `{image_name}` is {}",
            view_kind.name(),
            image_shape.dim.name()
        );
        problems.push(origin.at("image").error("wrong-class", message));
        return None;
    }
    samples_agree(image, (image_name, image_shape), &descriptor_text, origin, problems)?;
    format_agrees(
        image,
        types,
        image_shape.format,
        &descriptor_text,
        &origin.at("image"),
        problems,
    )?;
    let first_level = binding.level.unwrap_or(0);
    if first_level >= image_shape.levels {
        let message =
            format!("`{image_name}` has {} levels, and no level {first_level}", image_shape.levels);
        problems.push(origin.at("level").error("size", message));
        return None;
    }
    let level_count = if descriptor_class == DescriptorClass::StorageImage {
        1
    } else {
        image_shape.levels - first_level
    };
    let (first_layer, layers) =
        viewed_layers(binding, view_kind, (image_name, image_shape), origin, problems)?;
    Some(ImageView {
        kind: view_kind,
        level: first_level,
        levels: level_count,
        layer: first_layer,
        layers,
    })
}

/// Multisampled images are bound to multisampled types, and others to others; none after a problem.
fn samples_agree(
    image: &ImageType,
    (image_name, image_shape): (&str, &ImageShape),
    descriptor_text: &str,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<()> {
    let sample_count = image_shape.samples;
    let samples_problem = match (image.multisampled, sample_count) {
        (true, 1) => {
            let message = format!(
                "{descriptor_text} is a multisampled image, and `{image_name}` has one sample per texel"
            );
            origin
                .at("image")
                .error("wrong-class", message)
                .hint("give the image `samples`, for example 4")
        }
        (false, 2..) => {
            let message = format!(
                "{descriptor_text} is no multisampled image, and `{image_name}` has {sample_count} samples per texel"
            );
            origin.at("image").error("wrong-class", message)
        }
        (true | false, _) => return Some(()),
    };
    problems.push(samples_problem);
    None
}

/// The view of an image that is combined with a sampler; none after a problem.
pub(super) fn combined_view(
    reflected_resource: &ReflectedResource,
    types: &Types,
    view: ImageView,
    sampler: &JobSampler,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<ImageView> {
    let sampler_name = &sampler.name;
    let compares_depth =
        image_type(reflected_resource, types).is_some_and(|image| image.depth == 1);
    let sampler_fault = match (compares_depth, sampler.compare, sampler.coordinates, view.kind) {
        (true, None, ..) => Some(format!(
            "the kernel compares with a reference, and the sampler `{sampler_name}` has no `compare`"
        )),
        (false, Some(_), ..) => Some(format!(
            "the kernel does not compare with a reference, and the sampler `{sampler_name}` has a `compare`"
        )),
        (_, _, Coordinates::Unnormalized, ViewKind::One | ViewKind::Two)
        | (_, _, Coordinates::Normalized, _) => None,
        (_, _, Coordinates::Unnormalized, kind) => Some(format!(
            "`{sampler_name}` has unnormalized coordinates, which a {} image does not take",
            kind.name()
        )),
    };
    if let Some(message) = sampler_fault {
        problems.push(origin.at("sampler").error("contradiction", message));
        return None;
    }
    Some(match sampler.coordinates {
        Coordinates::Normalized => view,
        // Such a sampler sees one level (Vulkan specification, VkSamplerCreateInfo).
        Coordinates::Unnormalized => ImageView { levels: 1, ..view },
    })
}

/// First layer and number of layers that a view shows.
fn viewed_layers(
    binding: &Binding,
    view_kind: ViewKind,
    (image_name, image_shape): (&str, &ImageShape),
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(u32, u32)> {
    let first_layer = binding.layer.unwrap_or(0);
    let layers_left = image_shape.layers.saturating_sub(first_layer);
    let layer_count = match view_kind {
        ViewKind::One | ViewKind::Two | ViewKind::Three => 1,
        ViewKind::Cube => 6,
        ViewKind::OneArray | ViewKind::TwoArray => layers_left.max(1),
        ViewKind::CubeArray => (layers_left / 6).max(1) * 6,
    };
    if layers_left < layer_count {
        let message = format!(
            "`{image_name}` has {} layers: none from {first_layer} on for a {} view",
            image_shape.layers,
            view_kind.name()
        );
        problems.push(origin.at("layer").error("size", message));
        return None;
    }
    Some((first_layer, layer_count))
}

/// The view that an image type shows; none of what images of tests cannot be.
pub fn view_kind(image: &ImageType) -> Option<ViewKind> {
    match (image.dim, image.arrayed) {
        (Dim::Dim1D, false) => Some(ViewKind::One),
        (Dim::Dim1D, true) => Some(ViewKind::OneArray),
        (Dim::Dim2D, false) => Some(ViewKind::Two),
        (Dim::Dim2D, true) => Some(ViewKind::TwoArray),
        (Dim::Dim3D, false) => Some(ViewKind::Three),
        (Dim::DimCube, false) => Some(ViewKind::Cube),
        (Dim::DimCube, true) => Some(ViewKind::CubeArray),
        _ => None,
    }
}

/// The declared format, where there is one, is the bound one; the texels are of the declared class.
fn format_agrees(
    image: &ImageType,
    types: &Types,
    texel_format: ImageFormat,
    descriptor_text: &str,
    fault_origin: &Origin,
    problems: &mut Problems,
) -> Option<()> {
    // What the kernel declares is binding for storage; sampled images are declared without a
    // format.
    if image.sampled == 2
        && image.format != Declared::Unknown
        && model_format(image.format) != Some(texel_format)
    {
        let declared_format = model_format(image.format)
            .map_or_else(|| format!("{:?}", image.format), |f| f.to_string());
        let message = format!(
            "{descriptor_text} has texels of format {declared_format}, and what is bound has {texel_format}"
        );
        problems.push(fault_origin.error("wrong-format", message));
        return None;
    }
    if let Some(declared_format) = declared_class(image, types)
        .filter(|declared_format| *declared_format != texel_format.class())
    {
        let message = format!(
            "{descriptor_text} has {} texels, and those of format {texel_format} are {}",
            declared_format.name(),
            texel_format.class().name()
        );
        problems.push(fault_origin.error("wrong-format", message));
        return None;
    }
    Some(())
}

/// What a kernel reads texels of an image type as.
pub fn declared_class(image: &ImageType, types: &Types) -> Option<TexelClass> {
    match types.get(image.sampled_type) {
        Some(Type::Float { .. }) => Some(TexelClass::Float),
        Some(Type::Int { signedness: Signedness::Signed, .. }) => Some(TexelClass::Signed),
        Some(Type::Int { signedness: Signedness::Unsigned, .. }) => Some(TexelClass::Unsigned),
        _ => None,
    }
}

/// The format that an image type declares; none where it declares none.
pub fn declared_format(image: &ImageType) -> Option<ImageFormat> {
    model_format(image.format)
}

/// Our format for the one that a module declares; none where it declares none.
fn model_format(wanted_format: Declared) -> Option<ImageFormat> {
    FORMATS
        .iter()
        .find(|(declared_format, _)| *declared_format == wanted_format)
        .map(|(_, model_format)| *model_format)
}

const FORMATS: &[(Declared, ImageFormat)] = &[
    (Declared::Rgba32f, ImageFormat::Rgba32f),
    (Declared::Rgba16f, ImageFormat::Rgba16f),
    (Declared::Rg32f, ImageFormat::Rg32f),
    (Declared::Rg16f, ImageFormat::Rg16f),
    (Declared::R11fG11fB10f, ImageFormat::R11fG11fB10f),
    (Declared::R32f, ImageFormat::R32f),
    (Declared::R16f, ImageFormat::R16f),
    (Declared::Rgba16, ImageFormat::Rgba16),
    (Declared::Rgb10A2, ImageFormat::Rgb10A2),
    (Declared::Rgba8, ImageFormat::Rgba8),
    (Declared::Rg16, ImageFormat::Rg16),
    (Declared::Rg8, ImageFormat::Rg8),
    (Declared::R16, ImageFormat::R16),
    (Declared::R8, ImageFormat::R8),
    (Declared::Rgba16Snorm, ImageFormat::Rgba16Snorm),
    (Declared::Rgba8Snorm, ImageFormat::Rgba8Snorm),
    (Declared::Rg16Snorm, ImageFormat::Rg16Snorm),
    (Declared::Rg8Snorm, ImageFormat::Rg8Snorm),
    (Declared::R16Snorm, ImageFormat::R16Snorm),
    (Declared::R8Snorm, ImageFormat::R8Snorm),
    (Declared::Rgba32i, ImageFormat::Rgba32i),
    (Declared::Rgba16i, ImageFormat::Rgba16i),
    (Declared::Rgba8i, ImageFormat::Rgba8i),
    (Declared::Rg32i, ImageFormat::Rg32i),
    (Declared::Rg16i, ImageFormat::Rg16i),
    (Declared::Rg8i, ImageFormat::Rg8i),
    (Declared::R32i, ImageFormat::R32i),
    (Declared::R16i, ImageFormat::R16i),
    (Declared::R8i, ImageFormat::R8i),
    (Declared::Rgba32ui, ImageFormat::Rgba32ui),
    (Declared::Rgba16ui, ImageFormat::Rgba16ui),
    (Declared::Rgb10a2ui, ImageFormat::Rgb10A2ui),
    (Declared::Rgba8ui, ImageFormat::Rgba8ui),
    (Declared::Rg32ui, ImageFormat::Rg32ui),
    (Declared::Rg16ui, ImageFormat::Rg16ui),
    (Declared::Rg8ui, ImageFormat::Rg8ui),
    (Declared::R32ui, ImageFormat::R32ui),
    (Declared::R16ui, ImageFormat::R16ui),
    (Declared::R8ui, ImageFormat::R8ui),
    (Declared::R64i, ImageFormat::R64i),
    (Declared::R64ui, ImageFormat::R64ui),
];

/// A descriptor in words.
pub(super) fn descriptor_text(set: u32, binding: u32, name_text: Option<&str>) -> String {
    let name_text = name_text.map(|name_text| format!(" (`{name_text}`)")).unwrap_or_default();
    format!("set {set} binding {binding}{name_text}")
}
