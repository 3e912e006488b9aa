//! The bindings of a dispatch against the descriptors that its kernel declares.
//!
//! Knows: which classes a descriptor can be bound as (Vulkan specification, "Shader Resource and
//! Descriptor Type Correspondence"), and what each class takes: a buffer, an image, a sampler.
//! Promises: every descriptor that the kernel uses is bound, once per element of an array; ranges
//! lie within their buffers and hold the kernel's block. An image or sampler bound to a descriptor
//! that the kernel does not use is left out.
//! Does not cover: how an image or texel buffer is seen (`view`), limits of a device.

use super::call::{Call, Dispatched};
use super::problems::Problems;
use super::view;
use super::view::described;
use crate::resource::{JobResources, JobView};
use crate::{JobBinding, JobBuffer};
use std::collections::BTreeSet;
use vkcert_model::procedure::{Binding, DescriptorClass};
use vkcert_requirement::Origin;
use vkcert_spirv::interface::{DescriptorCount, ReflectedResource};

/// What bindings can name.
pub(super) struct Bound<'a> {
    pub buffers: &'a [JobBuffer],
    pub resources: &'a JobResources,
}

pub(super) fn bindings(
    call: &Call<'_>,
    called: &Dispatched,
    bound: &Bound<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Vec<JobBinding> {
    let mut made = Vec::new();
    for (index, binding) in call.bindings.iter().enumerate() {
        let place = origin.at(index);
        let resource = called.resource(binding.set, binding.binding);
        let declared = called
            .declared
            .iter()
            .any(|found| (found.set, found.binding) == (binding.set, binding.binding));
        if resource.is_none() && !declared {
            unknown(call, called, binding, &place, problems);
            continue;
        }
        let Some(class) = class(binding, resource, &place, problems) else { continue };
        if !takes(binding, class, &place, problems) || !within(binding, resource, &place, problems)
        {
            continue;
        }
        if resource.is_none() && !is_buffer(class) {
            continue;
        }
        made.extend(match class {
            DescriptorClass::Storage
            | DescriptorClass::Uniform
            | DescriptorClass::StorageDynamic
            | DescriptorClass::UniformDynamic => range(binding, class, bound, &place, problems),
            DescriptorClass::UniformTexel | DescriptorClass::StorageTexel => {
                let resource = resource.expect("unused texel buffers are left out");
                range(binding, class, bound, &place, problems).and_then(|made| {
                    let view = view::texels(
                        binding,
                        resource,
                        &called.layout.types,
                        &made,
                        &place,
                        problems,
                    )?;
                    Some(JobBinding { view, ..made })
                })
            }
            DescriptorClass::StorageImage
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined => {
                let resource = resource.expect("unused images and samplers are left out");
                opaque(binding, resource, class, called, bound, &place, problems)
            }
        });
    }
    made
}

fn unknown(
    call: &Call<'_>,
    called: &Dispatched,
    binding: &Binding,
    place: &Origin,
    problems: &mut Problems,
) {
    let known: Vec<String> = called
        .declared
        .iter()
        .map(|found| described(found.set, found.binding, found.name.as_deref()))
        .collect();
    let message = format!(
        "the kernel `{}` has nothing at {}",
        call.kernel,
        described(binding.set, binding.binding, None)
    );
    let hint = if known.is_empty() {
        "it declares no resource".to_owned()
    } else {
        format!("it declares {}", known.join(", "))
    };
    problems.push(place.at("binding").error("unknown-binding", message).hint(hint));
}

fn is_buffer(class: DescriptorClass) -> bool {
    plain(class).is_some()
}

/// The class of a buffer descriptor without its dynamic offset; none for every other class.
fn plain(class: DescriptorClass) -> Option<DescriptorClass> {
    match class {
        DescriptorClass::Storage | DescriptorClass::StorageDynamic => {
            Some(DescriptorClass::Storage)
        }
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => {
            Some(DescriptorClass::Uniform)
        }
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => None,
    }
}

/// The class of a binding: the one given if it fits, or the module's own.
fn class(
    binding: &Binding,
    resource: Option<&ReflectedResource>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<DescriptorClass> {
    // What the kernel does not use has no class of its own: it is what is bound to it.
    let unused = match (&binding.image, &binding.sampler) {
        (Some(_), Some(_)) => DescriptorClass::Combined,
        (Some(_), None) => DescriptorClass::StorageImage,
        (None, Some(_)) => DescriptorClass::Sampler,
        (None, None) if binding.format.is_some() => DescriptorClass::StorageTexel,
        (None, None) => DescriptorClass::Storage,
    };
    let own = resource.map_or(unused, |resource| resource.class);
    let class = binding.class.unwrap_or(own);
    let fits = match (plain(own), plain(class)) {
        (Some(own), Some(class)) => own == class,
        _ => own == class,
    };
    if resource.is_some() && !fits {
        let message =
            format!("the kernel declares a `{}` here, not a `{}`", own.name(), class.name());
        let place = if binding.class.is_some() { origin.at("class") } else { origin.at("binding") };
        problems.push(place.error("wrong-class", message));
        return None;
    }
    let dynamic =
        matches!(class, DescriptorClass::StorageDynamic | DescriptorClass::UniformDynamic);
    if binding.dynamic_offset.is_some() && !dynamic {
        let message = format!("a `{}` descriptor has no dynamic offset", class.name());
        problems.push(
            origin
                .at("dynamic_offset")
                .key_error("wrong-class", message)
                .hint("use `storage_dynamic` or `uniform_dynamic`"),
        );
        return None;
    }
    Some(class)
}

/// Whether a binding names what its class takes, and nothing else.
fn takes(
    binding: &Binding,
    class: DescriptorClass,
    origin: &Origin,
    problems: &mut Problems,
) -> bool {
    let wanted: &[&str] = match class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic => &["buffer", "offset", "range"],
        DescriptorClass::UniformTexel | DescriptorClass::StorageTexel => {
            &["buffer", "offset", "range", "format"]
        }
        DescriptorClass::StorageImage | DescriptorClass::SampledImage => {
            &["image", "level", "layer"]
        }
        DescriptorClass::Sampler => &["sampler"],
        DescriptorClass::Combined => &["image", "sampler", "level", "layer"],
    };
    let given = [
        ("buffer", binding.buffer.is_some()),
        ("image", binding.image.is_some()),
        ("sampler", binding.sampler.is_some()),
        ("offset", binding.offset != 0),
        ("range", binding.range.is_some()),
        ("format", binding.format.is_some()),
        ("level", binding.level.is_some()),
        ("layer", binding.layer.is_some()),
    ];
    let named = |key: &&str| ["buffer", "image", "sampler"].contains(key);
    let is_given = |key: &str| given.iter().any(|(name, given)| *given && *name == key);
    if let Some(lacking) = wanted.iter().filter(|key| named(key)).find(|key| !is_given(key)) {
        let message = format!("a `{}` descriptor needs {}", class.name(), article(lacking));
        problems.push(origin.error("contradiction", message));
        return false;
    }
    let extra = given.iter().find(|(key, given)| *given && !wanted.contains(key));
    if let Some((key, _)) = extra {
        let message = format!("a `{}` descriptor takes no `{key}`", class.name());
        problems.push(origin.at(*key).key_error("contradiction", message));
    }
    extra.is_none()
}

fn article(key: &str) -> String {
    let article = if key == "image" { "an" } else { "a" };
    format!("{article} `{key}`")
}

/// Whether the array element exists.
fn within(
    binding: &Binding,
    resource: Option<&ReflectedResource>,
    origin: &Origin,
    problems: &mut Problems,
) -> bool {
    let within = match resource.map_or(DescriptorCount::Runtime, |resource| resource.count) {
        DescriptorCount::One => binding.array_index == 0,
        DescriptorCount::Array(count) => binding.array_index < count,
        DescriptorCount::Runtime => true,
    };
    if !within {
        let message = format!(
            "{} has no element {}",
            described(binding.set, binding.binding, None),
            binding.array_index
        );
        problems.push(origin.at("array_index").error("size", message));
    }
    within
}

/// An image, a sampler, or both.
fn opaque(
    binding: &Binding,
    resource: &ReflectedResource,
    class: DescriptorClass,
    called: &Dispatched,
    bound: &Bound<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobBinding> {
    let image = match &binding.image {
        Some(name) => Some(image(name, binding, resource, class, called, bound, origin, problems)?),
        None => None,
    };
    let sampler = match &binding.sampler {
        Some(name) => {
            let found = bound.resources.samplers.iter().position(|sampler| sampler.name == *name);
            let Some(found) = found else {
                let message = format!("there is no sampler `{name}`");
                problems.push(origin.at("sampler").error("unknown-id", message));
                return None;
            };
            Some(found as u32)
        }
        None => None,
    };
    let (buffer, view) = match (image, sampler) {
        (Some((buffer, view)), Some(sampler)) => {
            let with = &bound.resources.samplers[sampler as usize];
            let view =
                view::combined(resource, &called.layout.types, view, with, origin, problems)?;
            (buffer, JobView::Combined(view, sampler))
        }
        (Some((buffer, view)), None) => (buffer, JobView::Image(view)),
        (None, Some(sampler)) => (0, JobView::Sampler(sampler)),
        (None, None) => return None,
    };
    let (set, array_index) = (binding.set, binding.array_index);
    let (offset, range, dynamic_offset) = (0, 0, 0);
    Some(JobBinding {
        set,
        binding: binding.binding,
        array_index,
        class,
        view,
        buffer,
        offset,
        range,
        dynamic_offset,
    })
}

#[expect(clippy::too_many_arguments, reason = "a binding with all that it refers to")]
fn image(
    name: &str,
    binding: &Binding,
    resource: &ReflectedResource,
    class: DescriptorClass,
    called: &Dispatched,
    bound: &Bound<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(usize, crate::resource::ImageView)> {
    let named =
        |image: &&crate::resource::JobImage| bound.buffers[image.buffer as usize].name == name;
    let Some(image) = bound.resources.images.iter().find(named) else {
        problems
            .push(origin.at("image").error("unknown-id", format!("there is no image `{name}`")));
        return None;
    };
    let view = view::image(
        binding,
        resource,
        class,
        &called.layout.types,
        (name, &image.shape),
        origin,
        problems,
    )?;
    Some((image.buffer as usize, view))
}

/// The bytes that a binding covers, checked against its buffer. The block may be larger: accesses
/// must stay inside, which engines look at.
fn range(
    binding: &Binding,
    class: DescriptorClass,
    bound: &Bound<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobBinding> {
    let name = binding.buffer.as_ref()?;
    let is_image =
        |index| bound.resources.images.iter().any(|image| image.buffer as usize == index);
    let found = bound
        .buffers
        .iter()
        .enumerate()
        .find(|(index, buffer)| buffer.name == *name && !is_image(*index));
    let Some((index, buffer)) = found else {
        problems.push(
            origin.at("buffer").error("unknown-buffer", format!("there is no buffer `{name}`")),
        );
        return None;
    };
    let size = buffer.bytes.len() as u64;
    let dynamic_offset = binding.dynamic_offset.unwrap_or(0);
    let start = binding.offset.checked_add(dynamic_offset).filter(|start| *start < size);
    let Some(start) = start else {
        let message = format!(
            "offset {} lies beyond the {size} bytes of `{name}`",
            binding.offset.saturating_add(dynamic_offset)
        );
        let key = if binding.offset < size { "dynamic_offset" } else { "offset" };
        problems.push(origin.at(key).error("size", message));
        return None;
    };
    if !start.is_multiple_of(4) {
        // The smallest alignment that any device asks for; a device that asks for more says so
        // itself.
        let message = format!("offset {start} of `{name}` is no multiple of 4");
        let key = if binding.offset.is_multiple_of(4) { "dynamic_offset" } else { "offset" };
        problems.push(origin.at(key).error("size", message));
        return None;
    }
    let range = binding.range.unwrap_or(size - start);
    if range == 0 || range > size - start {
        let message = format!(
            "a range of {range} bytes from byte {start} on does not lie within the {size} bytes of `{name}`"
        );
        problems.push(origin.at("range").error("size", message));
        return None;
    }
    Some(JobBinding {
        set: binding.set,
        binding: binding.binding,
        array_index: binding.array_index,
        class,
        view: JobView::Bytes,
        buffer: index,
        offset: binding.offset,
        range,
        dynamic_offset,
    })
}

/// Reports descriptors that the kernel uses and nothing is bound to.
pub(super) fn missing(
    call: &Call<'_>,
    called: &Dispatched,
    origin: &Origin,
    problems: &mut Problems,
) {
    let bound: BTreeSet<(u32, u32, u32)> = call
        .bindings
        .iter()
        .map(|binding| (binding.set, binding.binding, binding.array_index))
        .collect();
    for resource in &called.reflection.resources {
        let count = match resource.count {
            // Of a runtime array any element.
            DescriptorCount::Runtime
                if bound.iter().any(|one| (one.0, one.1) == (resource.set, resource.binding)) =>
            {
                0
            }
            DescriptorCount::One | DescriptorCount::Runtime => 1,
            DescriptorCount::Array(count) => count,
        };
        let absent: Vec<u32> = (0..count)
            .filter(|element| !bound.contains(&(resource.set, resource.binding, *element)))
            .collect();
        let Some(first) = absent.first() else { continue };
        let element = match resource.count {
            DescriptorCount::Array(_) => format!(" element {first}"),
            DescriptorCount::One | DescriptorCount::Runtime => String::new(),
        };
        let what = described(resource.set, resource.binding, resource.name.as_deref());
        let message = format!(
            "the kernel `{}` uses {what}{element}, and nothing is bound to it",
            call.kernel
        );
        let takes = match resource.class {
            DescriptorClass::Storage
            | DescriptorClass::Uniform
            | DescriptorClass::StorageDynamic
            | DescriptorClass::UniformDynamic => "buffer = ...",
            DescriptorClass::UniformTexel | DescriptorClass::StorageTexel => {
                "buffer = ..., format = ..."
            }
            DescriptorClass::StorageImage | DescriptorClass::SampledImage => "image = ...",
            DescriptorClass::Sampler => "sampler = ...",
            DescriptorClass::Combined => "image = ..., sampler = ...",
        };
        let hint =
            format!("add {{ set = {}, binding = {}, {takes} }}", resource.set, resource.binding);
        problems.push(origin.error("missing-binding", message).hint(hint));
    }
}
