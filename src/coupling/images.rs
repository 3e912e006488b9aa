//! Images and samplers: what the host binds against what the kernel declares.
//!
//! Knows: set, binding, class, format, dimension, layers and samples of both sides.
//! Promises: a row for every image and sampler that either side has; `holds` only where all that
//! the kernel declares agrees.
//! Does not cover: sizes of images, settings of samplers, numbers of descriptors in arrays of them.

use super::CouplingInput;
use super::checks::is_buffer;
use super::rows::Rows;
use rspirv::spirv::{Dim, ImageFormat as Declared};
use vkcert_exec::prepare::{declared_class, declared_format, image_type};
use vkcert_model::image::ImageDim;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::HostImage;
use vkcert_spirv::interface::ReflectedResource;
use vkcert_spirv::types::{ImageType, Types};

const CHECK: &str = "image-descriptor";

/// Rows for every image and sampler.
pub(super) fn compare(rows: &mut Rows, input: &CouplingInput<'_>) {
    let (interface, resources) = (input.interface, &input.reflection.resources);
    let types = Types::of_module(input.module);
    for resource in resources.iter().filter(|resource| !is_buffer(resource.class)) {
        let at = (resource.set, resource.binding);
        let stated = interface.images.iter().find(|image| (image.set, image.binding) == at);
        // A buffer that is stated there is refuted already.
        let as_buffer = interface.buffers.iter().any(|buffer| (buffer.set, buffer.binding) == at);
        let place = format!("{}.{} ({})", at.0, at.1, resource.name.as_deref().unwrap_or("-"));
        match stated {
            Some(stated) => {
                rows.about(format!("{}.{}", at.0, at.1));
                one(rows, stated, resource, &types, &place);
            }
            None if as_buffer => {}
            None => {
                rows.about(format!("{}.{} is not stated", at.0, at.1));
                let class = resource.class.name();
                rows.undetermined(
                    CHECK,
                    format!("{place} is a {class}, which no interface states"),
                );
            }
        }
    }
    for stated in &interface.images {
        let place = format!("{}.{}", stated.set, stated.binding);
        rows.about(place.as_str());
        let found = resources
            .iter()
            .find(|resource| (resource.set, resource.binding) == (stated.set, stated.binding));
        match found {
            None => rows
                .holds(CHECK, format!("the kernel does not use {} {place}", stated.class.name())),
            Some(resource) if is_buffer(resource.class) => {
                let (theirs, ours) = (stated.class.name(), resource.class.name());
                let message = format!(
                    "the interface states a {theirs} at {place}, where the kernel has a buffer ({ours})"
                );
                rows.refuted(CHECK, message, None);
            }
            Some(_) => {}
        }
    }
    rows.about_all();
}

fn one(
    rows: &mut Rows,
    stated: &HostImage,
    resource: &ReflectedResource,
    types: &Types,
    place: &str,
) {
    if stated.class != resource.class {
        let (theirs, ours) = (stated.class.name(), resource.class.name());
        let message =
            format!("the interface states a {theirs} at {place}, where the kernel has a {ours}");
        return rows.refuted(CHECK, message, None);
    }
    let Some(image) = image_type(resource, types) else {
        return rows.holds(
            CHECK,
            format!("{place} is a {} on both sides", DescriptorClass::Sampler.name()),
        );
    };
    let Some(dimension) = dimension(image) else {
        return rows
            .undetermined(CHECK, format!("{place} is an image of dimension {:?}", image.dim));
    };
    match disagreement(stated, image, dimension, types) {
        Some(words) => rows.refuted(CHECK, format!("{place}: {words}"), None),
        None => {
            let format = stated.format.map(|format| format.to_string()).unwrap_or_default();
            let message = format!(
                "{place}: {} of format {format} and dimension {}",
                stated.class.name(),
                dimension.name()
            );
            rows.holds(CHECK, format!("{message}, as the kernel declares"));
        }
    }
}

/// What of a stated image is not what the kernel declares.
fn disagreement(
    stated: &HostImage,
    image: &ImageType,
    dimension: ImageDim,
    types: &Types,
) -> Option<String> {
    if stated.dimension != Some(dimension) {
        let theirs = stated.dimension.map_or("no", ImageDim::name);
        return Some(format!(
            "the interface states dimension {theirs}, the kernel declares {}",
            dimension.name()
        ));
    }
    let flags = [
        ("layered", stated.layered, image.arrayed),
        ("multisampled", stated.multisampled, image.multisampled),
    ];
    if let Some((name, theirs, _)) = flags.into_iter().find(|(_, theirs, ours)| theirs != ours) {
        return Some(match theirs {
            true => format!("the interface states that it is {name}, and the kernel's is not"),
            false => format!("the kernel's is {name}, and the interface does not state it"),
        });
    }
    let Some(format) = stated.format else {
        return Some("the interface states no format".to_owned());
    };
    let declared = declared_format(image);
    if image.sampled == 2 && image.format != Declared::Unknown && declared != Some(format) {
        let declared =
            declared.map_or_else(|| format!("{:?}", image.format), |declared| declared.to_string());
        return Some(format!(
            "the interface states format {format}, the kernel declares {declared}"
        ));
    }
    let class = declared_class(image, types).filter(|class| *class != format.class())?;
    Some(format!(
        "texels of format {format} are {}, the kernel's are {}",
        format.class().name(),
        class.name()
    ))
}

fn dimension(image: &ImageType) -> Option<ImageDim> {
    match image.dim {
        Dim::Dim1D => Some(ImageDim::One),
        Dim::Dim2D => Some(ImageDim::Two),
        Dim::Dim3D => Some(ImageDim::Three),
        Dim::DimCube => Some(ImageDim::Cube),
        _ => None,
    }
}
