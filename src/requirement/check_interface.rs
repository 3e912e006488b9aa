//! Consistency of the `[[interface]]` tables: host variables, buffers and images.
//!
//! Does not cover: the expressions in them (`host::check_expressions`), and whether they match the kernel
//! (`coupling`).

use super::check_headers::{check_headers, is_inside};
use super::check_structs::check_structs;
use super::check_test::KernelNames;
use super::document::{Located, Origin};
use super::host::check_expressions;
use std::collections::BTreeSet;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{HostImage, Interface, SharedBinding};

pub(super) fn check_interfaces(
    interfaces: &[Located<Interface>],
    kernels: &KernelNames<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen_kernels = BTreeSet::new();
    for interface in interfaces {
        let origin = &interface.origin;
        problems.extend(kernels.check_kernel_name(&origin.at("kernel"), &interface.kernel));
        if !seen_kernels.insert(&interface.kernel) {
            let message = format!("the kernel `{}` has two interfaces", interface.kernel);
            problems.push(origin.at("kernel").error("duplicate-id", message));
        }
        let mut variable_names = BTreeSet::new();
        for (index, parameter) in interface.parameters.iter().enumerate() {
            let place = origin.at("parameters").at(index);
            if !variable_names.insert(parameter.name.as_str()) {
                let message = format!("the host variable `{}` is declared twice", parameter.name);
                problems.push(place.at("name").error("duplicate-id", message));
            }
            if parameter.min > parameter.max {
                let message = format!(
                    "`{}` ranges from {} down to {}",
                    parameter.name, parameter.min, parameter.max
                );
                problems
                    .push(place.at("max").error("bad-value", message).hint("min is at most max"));
            }
        }
        for (index, local) in interface.locals.iter().enumerate() {
            if !variable_names.insert(local.name.as_str()) {
                let message = format!("the host variable `{}` is declared twice", local.name);
                problems
                    .push(origin.at("locals").at(index).at("name").error("duplicate-id", message));
            }
        }
        if variable_names.len() == interface.parameters.len() + interface.locals.len() {
            check_expressions(interface, problems);
        }
        check_structs(origin, interface, problems);
        check_headers(origin, interface, problems);
        for (index, capture) in interface.capture.iter().enumerate() {
            if !is_inside(&capture.file) {
                let place = origin.at("capture").at(index).at("file");
                let message = format!("`{}` is no file of the project", capture.file);
                problems.push(place.error("bad-value", message));
            }
        }
        let mut bound_slots = BTreeSet::new();
        for (index, buffer) in interface.buffers.iter().enumerate() {
            if !bound_slots.insert((buffer.set, buffer.binding)) {
                let message =
                    format!("set {} binding {} is described twice", buffer.set, buffer.binding);
                problems.push(
                    origin.at("buffers").at(index).at("binding").error("duplicate-id", message),
                );
            }
        }
        for (index, image) in interface.images.iter().enumerate() {
            let place = origin.at("images").at(index);
            if !bound_slots.insert((image.set, image.binding)) {
                let message =
                    format!("set {} binding {} is described twice", image.set, image.binding);
                problems.push(place.at("binding").error("duplicate-id", message));
            }
            problems.extend(check_host_image(&place, image));
            check_extent(&place, image, problems);
        }
        check_earlier(interface, kernels, problems);
    }
}

/// Earlier kernels exist, are named once and share something, each binding pair once.
fn check_earlier(
    interface: &Located<Interface>,
    kernels: &KernelNames<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen_kernels = BTreeSet::new();
    for (index, earlier) in interface.earlier.iter().enumerate() {
        let place = interface.origin.at("earlier").at(index);
        problems.extend(kernels.check_kernel_name(&place.at("kernel"), &earlier.kernel));
        if !seen_kernels.insert(earlier.kernel) {
            let message = format!("the earlier kernel `{}` is described twice", earlier.kernel);
            problems.push(place.at("kernel").error("duplicate-id", message));
        }
        if earlier.shared.is_empty() {
            let message = format!("`{}` shares nothing with the kernel", earlier.kernel);
            let hint = "name where both bind what it leaves: { from = { binding = 1 }, to = { binding = 0 } }";
            problems.push(place.at("shared").error("missing-key", message).hint(hint));
        }
        let mut seen_pairs: BTreeSet<SharedBinding> = BTreeSet::new();
        for (number, shared) in earlier.shared.iter().enumerate() {
            if !seen_pairs.insert(*shared) {
                let message = format!("{} as {} is described twice", shared.from, shared.to);
                problems.push(place.at("shared").at(number).error("duplicate-id", message));
            }
        }
    }
}

/// The greatest number that a kernel can ask for as the size of an image.
const GREATEST_SIZE: i128 = i32::MAX as i128;

/// An extent has a number for each axis, and layers and levels go with it.
fn check_extent(place: &Origin, image: &HostImage, problems: &mut Vec<Diagnostic>) {
    let Some(dimension) = image.dimension else { return };
    let (axis_count, stated_count) = (dimension.axes(), image.extent.len());
    if image.extent.is_empty() {
        for (key, stated) in [("layers", &image.layers), ("levels", &image.levels)] {
            if stated.is_some() {
                let message = format!("`{key}` is stated, and no `extent`");
                problems.push(place.at(key).error("missing-key", message));
            }
        }
        return;
    }
    if stated_count != axis_count {
        let name = dimension.name();
        let message =
            format!("a {name} image has an extent of {axis_count} numbers, not {stated_count}");
        problems.push(place.at("extent").error("size", message));
    }
    match (image.layered, &image.layers) {
        (true, None) => {
            let message = "a layered image with an `extent` has `layers`";
            problems.push(place.error("missing-key", message));
        }
        (false, Some(_)) => {
            let message = "`layers` go with `layered = true`";
            problems.push(place.at("layers").error("bad-value", message));
        }
        (true, Some(_)) | (false, None) => {}
    }
    if image.multisampled && image.levels.is_some() {
        let message = "a multisampled image has one level";
        problems.push(place.at("levels").error("bad-value", message));
    }
    check_sizes(place, image, problems);
}

/// What is written as a number is one that an image can have.
fn check_sizes(place: &Origin, image: &HostImage, problems: &mut Vec<Diagnostic>) {
    let axes = image.extent.iter().enumerate();
    let numbers = axes.map(|(axis, text)| (place.at("extent").at(axis), text));
    let counts = [("layers", &image.layers), ("levels", &image.levels)];
    let counts = counts.into_iter().filter_map(|(key, text)| Some((place.at(key), text.as_ref()?)));
    for (number_place, text) in numbers.chain(counts) {
        let Ok(number) = text.trim().parse::<i128>() else { continue };
        if !(1..=GREATEST_SIZE).contains(&number) {
            let message = format!("an image has 1 to {GREATEST_SIZE} of these, not {number}");
            problems.push(number_place.error("bad-value", message));
        }
    }
}

/// An image has a format and a dimension, and a sampler has neither.
fn check_host_image(place: &Origin, image: &HostImage) -> Option<Diagnostic> {
    let is_complete = image.format.is_some() && image.dimension.is_some();
    let has_no_format = image.format.is_none()
        && image.dimension.is_none()
        && !image.layered
        && !image.multisampled
        && image.extent.is_empty()
        && image.layers.is_none()
        && image.levels.is_none();
    match image.class {
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Combined
            if is_complete =>
        {
            None
        }
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Combined => {
            Some(place.error("missing-key", "an image has a `format` and a `dimension`"))
        }
        DescriptorClass::Sampler if has_no_format => None,
        DescriptorClass::Sampler => {
            Some(place.error("bad-value", "a sampler has no format, no dimension and no extent"))
        }
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => {
            let message = format!("{} is the class of a buffer", image.class.name());
            Some(place.at("class").error("wrong-class", message).hint("buffers stand in `buffers`"))
        }
    }
}
