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
pub fn image_type<'t>(resource: &ReflectedResource, types: &'t Types) -> Option<&'t ImageType> {
    let ty = match types.get(resource.block_type)? {
        Type::SampledImage { image } => types.get(*image)?,
        other => other,
    };
    match ty {
        Type::Image(image) => Some(image),
        _ => None,
    }
}

/// The texel view of a buffer range; none after a problem.
pub(super) fn texels(
    binding: &Binding,
    resource: &ReflectedResource,
    types: &Types,
    range: &JobBinding,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobView> {
    let image = image_type(resource, types)?;
    let what = described(binding.set, binding.binding, resource.name.as_deref());
    let Some(format) = binding.format.or_else(|| format_of(image.format)) else {
        let message = format!("the kernel does not say which format {what} has");
        problems.push(
            origin.error("missing-key", message).hint("add `format`, for example \"rgba32f\""),
        );
        return None;
    };
    let place = if binding.format.is_some() { origin.at("format") } else { origin.at("binding") };
    agrees(image, types, format, &what, &place, problems)?;
    let texel = format.texel_size() as u64;
    if !range.range.is_multiple_of(texel) {
        let message = format!(
            "{} bytes are no whole number of {format} texels ({texel} bytes each)",
            range.range
        );
        let key = if binding.range.is_some() { "range" } else { "buffer" };
        problems.push(origin.at(key).error("size", message));
        return None;
    }
    Some(JobView::Texels(format))
}

/// The view of an image (by name and shape); none after a problem.
pub(super) fn image(
    binding: &Binding,
    resource: &ReflectedResource,
    class: DescriptorClass,
    types: &Types,
    (name, shape): (&str, &ImageShape),
    origin: &Origin,
    problems: &mut Problems,
) -> Option<ImageView> {
    let image = image_type(resource, types)?;
    let what = described(binding.set, binding.binding, resource.name.as_deref());
    let Some(kind) = kind(image) else {
        problems.unsupported(format!("an image of dimension {:?} ({what})", image.dim));
        return None;
    };
    let fits = match kind {
        ViewKind::One | ViewKind::OneArray => shape.dim == ImageDim::One,
        // The faces of a cube are layers of two dimensions.
        ViewKind::Two | ViewKind::TwoArray => matches!(shape.dim, ImageDim::Two | ImageDim::Cube),
        ViewKind::Three => shape.dim == ImageDim::Three,
        ViewKind::Cube | ViewKind::CubeArray => shape.dim == ImageDim::Cube,
    };
    if !fits {
        let message =
            format!("{what} is a {} image, and `{name}` is {}", kind.name(), shape.dim.name());
        problems.push(origin.at("image").error("wrong-class", message));
        return None;
    }
    samples_agree(image, (name, shape), &what, origin, problems)?;
    agrees(image, types, shape.format, &what, &origin.at("image"), problems)?;
    let level = binding.level.unwrap_or(0);
    if level >= shape.levels {
        let message = format!("`{name}` has {} levels, and no level {level}", shape.levels);
        problems.push(origin.at("level").error("size", message));
        return None;
    }
    let levels = if class == DescriptorClass::StorageImage { 1 } else { shape.levels - level };
    let (layer, layers) = layers(binding, kind, (name, shape), origin, problems)?;
    Some(ImageView { kind, level, levels, layer, layers })
}

/// Multisampled images are bound to multisampled types, and others to others; none after a problem.
fn samples_agree(
    image: &ImageType,
    (name, shape): (&str, &ImageShape),
    what: &str,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<()> {
    let samples = shape.samples;
    let problem = match (image.multisampled, samples) {
        (true, 1) => {
            let message =
                format!("{what} is a multisampled image, and `{name}` has one sample per texel");
            origin
                .at("image")
                .error("wrong-class", message)
                .hint("give the image `samples`, for example 4")
        }
        (false, 2..) => {
            let message = format!(
                "{what} is no multisampled image, and `{name}` has {samples} samples per texel"
            );
            origin.at("image").error("wrong-class", message)
        }
        (true | false, _) => return Some(()),
    };
    problems.push(problem);
    None
}

/// The view of an image that is combined with a sampler; none after a problem.
pub(super) fn combined(
    resource: &ReflectedResource,
    types: &Types,
    view: ImageView,
    sampler: &JobSampler,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<ImageView> {
    let name = &sampler.name;
    let shadow = image_type(resource, types).is_some_and(|image| image.depth == 1);
    let wrong = match (shadow, sampler.compare, sampler.coordinates, view.kind) {
        (true, None, ..) => Some(format!(
            "the kernel compares with a reference, and the sampler `{name}` has no `compare`"
        )),
        (false, Some(_), ..) => Some(format!(
            "the kernel does not compare with a reference, and the sampler `{name}` has a `compare`"
        )),
        (_, _, Coordinates::Unnormalized, ViewKind::One | ViewKind::Two)
        | (_, _, Coordinates::Normalized, _) => None,
        (_, _, Coordinates::Unnormalized, kind) => Some(format!(
            "`{name}` has unnormalized coordinates, which a {} image does not take",
            kind.name()
        )),
    };
    if let Some(message) = wrong {
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
fn layers(
    binding: &Binding,
    kind: ViewKind,
    (name, shape): (&str, &ImageShape),
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(u32, u32)> {
    let layer = binding.layer.unwrap_or(0);
    let rest = shape.layers.saturating_sub(layer);
    let layers = match kind {
        ViewKind::One | ViewKind::Two | ViewKind::Three => 1,
        ViewKind::Cube => 6,
        ViewKind::OneArray | ViewKind::TwoArray => rest.max(1),
        ViewKind::CubeArray => (rest / 6).max(1) * 6,
    };
    if rest < layers {
        let message = format!(
            "`{name}` has {} layers: none from {layer} on for a {} view",
            shape.layers,
            kind.name()
        );
        problems.push(origin.at("layer").error("size", message));
        return None;
    }
    Some((layer, layers))
}

fn kind(image: &ImageType) -> Option<ViewKind> {
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
fn agrees(
    image: &ImageType,
    types: &Types,
    format: ImageFormat,
    what: &str,
    place: &Origin,
    problems: &mut Problems,
) -> Option<()> {
    // What the kernel declares is binding for storage; sampled images are declared without a
    // format.
    if image.sampled == 2
        && image.format != Declared::Unknown
        && format_of(image.format) != Some(format)
    {
        let declared = format_of(image.format)
            .map_or_else(|| format!("{:?}", image.format), |f| f.to_string());
        let message =
            format!("{what} has texels of format {declared}, and what is bound has {format}");
        problems.push(place.error("wrong-format", message));
        return None;
    }
    if let Some(declared) =
        declared_class(image, types).filter(|declared| *declared != format.class())
    {
        let message = format!(
            "{what} has {} texels, and those of format {format} are {}",
            declared.name(),
            format.class().name()
        );
        problems.push(place.error("wrong-format", message));
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
    format_of(image.format)
}

/// Our format for the one that a module declares; none where it declares none.
fn format_of(declared: Declared) -> Option<ImageFormat> {
    FORMATS.iter().find(|(theirs, _)| *theirs == declared).map(|(_, ours)| *ours)
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
pub(super) fn described(set: u32, binding: u32, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" (`{name}`)")).unwrap_or_default();
    format!("set {set} binding {binding}{name}")
}
