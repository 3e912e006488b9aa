//! Images and samplers: what the host binds against what the kernel declares.
//!
//! Knows: set, binding, class, format, dimension, layers and samples of both sides.
//! Promises: a row for every image and sampler that either side has; `holds` only where all that
//! the kernel declares agrees.
//! Does not cover: sizes of images (`checks::images`), settings of samplers, numbers of descriptors in
//! arrays of them.

use super::CouplingInput;
use super::checks::is_buffer;
use super::rows::CheckRows;
use rspirv::spirv::{Dim, ImageFormat as Declared};
use vkcert_exec::prepare::{declared_class, declared_format, image_type};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::image::ImageDim;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::HostImage;
use vkcert_spirv::interface::ReflectedResource;
use vkcert_spirv::types::{ImageType, Types};

const CHECK: CouplingCheckName = CouplingCheckName::ImageDescriptor;

/// Rows for every image and sampler.
pub(super) fn check_images(rows: &mut CheckRows, input: &CouplingInput<'_>) {
    let (interface, resources) = (input.interface, &input.reflection.resources);
    let types = Types::of_module(input.module);
    for resource in resources.iter().filter(|resource| !is_buffer(resource.class)) {
        let set_and_binding = (resource.set, resource.binding);
        let stated_image =
            interface.images.iter().find(|image| (image.set, image.binding) == set_and_binding);
        // A buffer that is stated there is refuted already.
        let is_stated_as_buffer =
            interface.buffers.iter().any(|buffer| (buffer.set, buffer.binding) == set_and_binding);
        let image_place = format!(
            "{}.{} ({})",
            set_and_binding.0,
            set_and_binding.1,
            resource.name.as_deref().unwrap_or("-")
        );
        match stated_image {
            Some(stated_image) => {
                rows.begin_subject(format!("{}.{}", set_and_binding.0, set_and_binding.1));
                compare_image(rows, stated_image, resource, &types, &image_place);
            }
            None if is_stated_as_buffer => {}
            None => {
                rows.begin_subject(format!(
                    "{}.{} is not stated",
                    set_and_binding.0, set_and_binding.1
                ));
                let class_name = resource.class.name();
                rows.add_undetermined(
                    CHECK,
                    format!("{image_place} is a {class_name}, which no interface states"),
                );
            }
        }
    }
    for stated_image in &interface.images {
        let image_place = format!("{}.{}", stated_image.set, stated_image.binding);
        rows.begin_subject(image_place.as_str());
        let declared_resource = resources.iter().find(|resource| {
            (resource.set, resource.binding) == (stated_image.set, stated_image.binding)
        });
        match declared_resource {
            None => rows.add_holding(
                CHECK,
                format!("the kernel does not use {} {image_place}", stated_image.class.name()),
            ),
            Some(resource) if is_buffer(resource.class) => {
                let (stated_class, kernel_class) =
                    (stated_image.class.name(), resource.class.name());
                let message = format!(
                    "the interface states a {stated_class} at {image_place}, where the kernel has a buffer ({kernel_class})"
                );
                rows.add_refuted(CHECK, message, None);
            }
            Some(_) => {}
        }
    }
    rows.end_subject();
}

fn compare_image(
    rows: &mut CheckRows,
    stated_image: &HostImage,
    resource: &ReflectedResource,
    types: &Types,
    image_place: &str,
) {
    if stated_image.class != resource.class {
        let (stated_class, kernel_class) = (stated_image.class.name(), resource.class.name());
        let message = format!(
            "the interface states a {stated_class} at {image_place}, where the kernel has a {kernel_class}"
        );
        return rows.add_refuted(CHECK, message, None);
    }
    let Some(image) = image_type(resource, types) else {
        return rows.add_holding(
            CHECK,
            format!("{image_place} is a {} on both sides", DescriptorClass::Sampler.name()),
        );
    };
    let Some(dimension) = image_dimension(image) else {
        return rows.add_undetermined(
            CHECK,
            format!("{image_place} is an image of dimension {:?}", image.dim),
        );
    };
    match image_fault(stated_image, image, dimension, types) {
        Some(fault_words) => rows.add_refuted(CHECK, format!("{image_place}: {fault_words}"), None),
        None => {
            let format = stated_image.format.map(|format| format.to_string()).unwrap_or_default();
            let message = format!(
                "{image_place}: {} of format {format} and dimension {}",
                stated_image.class.name(),
                dimension.name()
            );
            rows.add_holding(CHECK, format!("{message}, as the kernel declares"));
        }
    }
}

/// What of a stated image is not what the kernel declares.
fn image_fault(
    stated_image: &HostImage,
    image: &ImageType,
    dimension: ImageDim,
    types: &Types,
) -> Option<String> {
    if stated_image.dimension != Some(dimension) {
        let stated_property = stated_image.dimension.map_or("no", ImageDim::name);
        return Some(format!(
            "the interface states dimension {stated_property}, the kernel declares {}",
            dimension.name()
        ));
    }
    let compared_flags = [
        ("layered", stated_image.layered, image.arrayed),
        ("multisampled", stated_image.multisampled, image.multisampled),
    ];
    if let Some((name, stated_property, _)) = compared_flags
        .into_iter()
        .find(|(_, stated_property, kernel_property)| stated_property != kernel_property)
    {
        return Some(match stated_property {
            true => format!("the interface states that it is {name}, and the kernel's is not"),
            false => format!("the kernel's is {name}, and the interface does not state it"),
        });
    }
    let Some(format) = stated_image.format else {
        return Some("the interface states no format".to_owned());
    };
    let declared = declared_format(image);
    if image.sampled == 2 && image.format != Declared::Unknown && declared != Some(format) {
        let declared_words = declared
            .map_or_else(|| format!("{:?}", image.format), |known_format| known_format.to_string());
        return Some(format!(
            "the interface states format {format}, the kernel declares {declared_words}"
        ));
    }
    let declared_texels = declared_class(image, types)
        .filter(|declared_texels| *declared_texels != format.class())?;
    Some(format!(
        "texels of format {format} are {}, the kernel's are {}",
        format.class().name(),
        declared_texels.name()
    ))
}

fn image_dimension(image: &ImageType) -> Option<ImageDim> {
    match image.dim {
        Dim::Dim1D => Some(ImageDim::One),
        Dim::Dim2D => Some(ImageDim::Two),
        Dim::Dim3D => Some(ImageDim::Three),
        Dim::DimCube => Some(ImageDim::Cube),
        _ => None,
    }
}
