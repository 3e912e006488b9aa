//! The bindings of a dispatch against the descriptors that its kernel declares.
//!
//! Knows: the descriptors of a kernel, and the buffers, images and samplers that a test can bind.
//! Promises: every descriptor that the kernel uses is bound, once per element of an array; ranges
//! lie within their buffers and hold the kernel's block. An image or sampler bound to a descriptor
//! that the kernel does not use is left out.
//! Does not cover: the class of a binding (`binding_class`), how an image or texel buffer is seen
//! (`view`), limits of a device.

use super::binding_class::{binding_class, is_buffer, takes_what_it_names};
use super::call::ResolvedCall;
use super::problems::Problems;
use super::view;
use super::view::descriptor_text;
use crate::resource::{JobResources, JobView};
use crate::{JobBinding, JobBuffer};
use std::collections::BTreeSet;
use vkcert_model::procedure::{Binding, DescriptorClass, KernelCall};
use vkcert_requirement::Origin;
use vkcert_spirv::interface::{DescriptorCount, ReflectedResource};

/// What bindings can name.
pub(super) struct BindingTargets<'a> {
    pub buffers: &'a [JobBuffer],
    pub resources: &'a JobResources,
}

pub(super) fn job_bindings(
    call: &KernelCall<'_>,
    called: &ResolvedCall,
    bound_targets: &BindingTargets<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Vec<JobBinding> {
    let mut job_bindings = Vec::new();
    for (binding_index, binding) in call.bindings.iter().enumerate() {
        let binding_origin = origin.at(binding_index);
        let reflected_resource = called.descriptor_at(binding.set, binding.binding);
        let is_declared = called.declared.iter().any(|declared_descriptor| {
            (declared_descriptor.set, declared_descriptor.binding) == (binding.set, binding.binding)
        });
        if reflected_resource.is_none() && !is_declared {
            report_unknown_binding(call, called, binding, &binding_origin, problems);
            continue;
        }
        let Some(descriptor_class) =
            binding_class(binding, reflected_resource, &binding_origin, problems)
        else {
            continue;
        };
        if !takes_what_it_names(binding, descriptor_class, &binding_origin, problems)
            || !element_exists(binding, reflected_resource, &binding_origin, problems)
        {
            continue;
        }
        if reflected_resource.is_none() && !is_buffer(descriptor_class) {
            continue;
        }
        job_bindings.extend(match descriptor_class {
            DescriptorClass::Storage
            | DescriptorClass::Uniform
            | DescriptorClass::StorageDynamic
            | DescriptorClass::UniformDynamic => {
                bound_range(binding, descriptor_class, bound_targets, &binding_origin, problems)
            }
            DescriptorClass::UniformTexel | DescriptorClass::StorageTexel => {
                let reflected_resource =
                    reflected_resource.expect("unused texel buffers are left out");
                bound_range(binding, descriptor_class, bound_targets, &binding_origin, problems)
                    .and_then(|job_binding| {
                        let texel_view = view::texel_view(
                            binding,
                            reflected_resource,
                            &called.layout.types,
                            &job_binding,
                            &binding_origin,
                            problems,
                        )?;
                        Some(JobBinding { view: texel_view, ..job_binding })
                    })
            }
            DescriptorClass::StorageImage
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined => {
                let reflected_resource =
                    reflected_resource.expect("unused images and samplers are left out");
                opaque_binding(
                    binding,
                    reflected_resource,
                    descriptor_class,
                    called,
                    bound_targets,
                    &binding_origin,
                    problems,
                )
            }
        });
    }
    job_bindings
}

fn report_unknown_binding(
    call: &KernelCall<'_>,
    called: &ResolvedCall,
    binding: &Binding,
    value_origin: &Origin,
    problems: &mut Problems,
) {
    let known_descriptors: Vec<String> = called
        .declared
        .iter()
        .map(|declared_descriptor| {
            descriptor_text(
                declared_descriptor.set,
                declared_descriptor.binding,
                declared_descriptor.name.as_deref(),
            )
        })
        .collect();
    let message = format!(
        "the kernel `{}` has nothing at {}",
        call.kernel,
        descriptor_text(binding.set, binding.binding, None)
    );
    let hint = if known_descriptors.is_empty() {
        "it declares no resource".to_owned()
    } else {
        format!("it declares {}", known_descriptors.join(", "))
    };
    problems.push(value_origin.at("binding").error("unknown-binding", message).hint(hint));
}

/// Whether the array element exists.
fn element_exists(
    binding: &Binding,
    reflected_resource: Option<&ReflectedResource>,
    origin: &Origin,
    problems: &mut Problems,
) -> bool {
    let is_within = match reflected_resource
        .map_or(DescriptorCount::Runtime, |reflected_resource| reflected_resource.count)
    {
        DescriptorCount::One => binding.array_index == 0,
        DescriptorCount::Array(count) => binding.array_index < count,
        DescriptorCount::Runtime => true,
    };
    if !is_within {
        let message = format!(
            "{} has no element {}",
            descriptor_text(binding.set, binding.binding, None),
            binding.array_index
        );
        problems.push(origin.at("array_index").error("size", message));
    }
    is_within
}

/// An image, a sampler, or both.
fn opaque_binding(
    binding: &Binding,
    reflected_resource: &ReflectedResource,
    descriptor_class: DescriptorClass,
    called: &ResolvedCall,
    bound_targets: &BindingTargets<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobBinding> {
    let bound_image = match &binding.image {
        Some(resource_name) => Some(bound_image_view(
            resource_name,
            binding,
            reflected_resource,
            descriptor_class,
            called,
            bound_targets,
            origin,
            problems,
        )?),
        None => None,
    };
    let sampler_index = match &binding.sampler {
        Some(resource_name) => {
            let sampler_index = bound_targets
                .resources
                .samplers
                .iter()
                .position(|sampler| sampler.name == *resource_name);
            let Some(sampler_index) = sampler_index else {
                let message = format!("there is no sampler `{resource_name}`");
                problems.push(origin.at("sampler").error("unknown-id", message));
                return None;
            };
            Some(sampler_index as u32)
        }
        None => None,
    };
    let (buffer, view) = match (bound_image, sampler_index) {
        (Some((buffer, view)), Some(sampler_index)) => {
            let combined_sampler = &bound_targets.resources.samplers[sampler_index as usize];
            let view = view::combined_view(
                reflected_resource,
                &called.layout.types,
                view,
                combined_sampler,
                origin,
                problems,
            )?;
            (buffer, JobView::Combined(view, sampler_index))
        }
        (Some((buffer, view)), None) => (buffer, JobView::Image(view)),
        (None, Some(sampler_index)) => (0, JobView::Sampler(sampler_index)),
        (None, None) => return None,
    };
    let (set, array_index) = (binding.set, binding.array_index);
    let (offset, range, dynamic_offset) = (0, 0, 0);
    Some(JobBinding {
        set,
        binding: binding.binding,
        array_index,
        class: descriptor_class,
        view,
        buffer,
        offset,
        range,
        dynamic_offset,
    })
}

#[expect(clippy::too_many_arguments, reason = "a binding with all that it refers to")]
fn bound_image_view(
    image_name: &str,
    binding: &Binding,
    reflected_resource: &ReflectedResource,
    descriptor_class: DescriptorClass,
    called: &ResolvedCall,
    bound_targets: &BindingTargets<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<(usize, crate::resource::ImageView)> {
    let has_name = |job_image: &&crate::resource::JobImage| {
        bound_targets.buffers[job_image.buffer as usize].name == image_name
    };
    let Some(job_image) = bound_targets.resources.images.iter().find(has_name) else {
        problems.push(
            origin.at("image").error("unknown-id", format!("there is no image `{image_name}`")),
        );
        return None;
    };
    let image_view = view::image_view(
        binding,
        reflected_resource,
        descriptor_class,
        &called.layout.types,
        (image_name, &job_image.shape),
        origin,
        problems,
    )?;
    Some((job_image.buffer as usize, image_view))
}

/// The bytes that a binding covers, checked against its buffer. The block may be larger: accesses
/// must stay inside, which engines look at.
fn bound_range(
    binding: &Binding,
    descriptor_class: DescriptorClass,
    bound_targets: &BindingTargets<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<JobBinding> {
    let buffer_name = binding.buffer.as_ref()?;
    let is_image_buffer = |buffer_index| {
        bound_targets.resources.images.iter().any(|image| image.buffer as usize == buffer_index)
    };
    let named_buffer = bound_targets.buffers.iter().enumerate().find(|(buffer_index, buffer)| {
        buffer.name == *buffer_name && !is_image_buffer(*buffer_index)
    });
    let Some((buffer_index, buffer)) = named_buffer else {
        problems.push(
            origin
                .at("buffer")
                .error("unknown-buffer", format!("there is no buffer `{buffer_name}`")),
        );
        return None;
    };
    let buffer_size = buffer.bytes.len() as u64;
    let dynamic_offset = binding.dynamic_offset.unwrap_or(0);
    let range_start =
        binding.offset.checked_add(dynamic_offset).filter(|range_start| *range_start < buffer_size);
    let Some(range_start) = range_start else {
        let message = format!(
            "offset {} lies beyond the {buffer_size} bytes of `{buffer_name}`",
            binding.offset.saturating_add(dynamic_offset)
        );
        let fault_key = if binding.offset < buffer_size { "dynamic_offset" } else { "offset" };
        problems.push(origin.at(fault_key).error("size", message));
        return None;
    };
    if !range_start.is_multiple_of(4) {
        // The smallest alignment that any device asks for; a device that asks for more says so
        // itself.
        let message = format!("offset {range_start} of `{buffer_name}` is no multiple of 4");
        let fault_key = if binding.offset.is_multiple_of(4) { "dynamic_offset" } else { "offset" };
        problems.push(origin.at(fault_key).error("size", message));
        return None;
    }
    let range_bytes = binding.range.unwrap_or(buffer_size - range_start);
    if range_bytes == 0 || range_bytes > buffer_size - range_start {
        let message = format!(
            "a range of {range_bytes} bytes from byte {range_start} on does not lie within the {buffer_size} bytes of `{buffer_name}`"
        );
        problems.push(origin.at("range").error("size", message));
        return None;
    }
    Some(JobBinding {
        set: binding.set,
        binding: binding.binding,
        array_index: binding.array_index,
        class: descriptor_class,
        view: JobView::Bytes,
        buffer: buffer_index,
        offset: binding.offset,
        range: range_bytes,
        dynamic_offset,
    })
}

/// Reports descriptors that the kernel uses and nothing is bound to.
pub(super) fn report_missing_bindings(
    call: &KernelCall<'_>,
    called: &ResolvedCall,
    origin: &Origin,
    problems: &mut Problems,
) {
    let bound_elements: BTreeSet<(u32, u32, u32)> = call
        .bindings
        .iter()
        .map(|binding| (binding.set, binding.binding, binding.array_index))
        .collect();
    for resource in &called.reflection.resources {
        let element_count = match resource.count {
            // Of a runtime array any element.
            DescriptorCount::Runtime
                if bound_elements.iter().any(|bound_element| {
                    (bound_element.0, bound_element.1) == (resource.set, resource.binding)
                }) =>
            {
                0
            }
            DescriptorCount::One | DescriptorCount::Runtime => 1,
            DescriptorCount::Array(element_count) => element_count,
        };
        let absent_elements: Vec<u32> = (0..element_count)
            .filter(|element_index| {
                !bound_elements.contains(&(resource.set, resource.binding, *element_index))
            })
            .collect();
        let Some(first_absent) = absent_elements.first() else { continue };
        let element_text = match resource.count {
            DescriptorCount::Array(_) => format!(" element {first_absent}"),
            DescriptorCount::One | DescriptorCount::Runtime => String::new(),
        };
        let descriptor_text =
            descriptor_text(resource.set, resource.binding, resource.name.as_deref());
        let message = format!(
            "the kernel `{}` uses {descriptor_text}{element_text}, and nothing is bound to it",
            call.kernel
        );
        let needed_keys = match resource.class {
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
        let hint = format!(
            "add {{ set = {}, binding = {}, {needed_keys} }}",
            resource.set, resource.binding
        );
        problems.push(origin.error("missing-binding", message).hint(hint));
    }
}
