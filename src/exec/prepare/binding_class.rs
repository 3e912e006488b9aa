//! The descriptor class of a binding, and the keys that the class takes.
//!
//! Knows: which classes a descriptor can be bound as (Vulkan specification, "Shader Resource and
//! Descriptor Type Correspondence").
//! Does not cover: whether what the keys name exists (`binding`).

use super::problems::Problems;
use vkcert_model::procedure::{Binding, DescriptorClass};
use vkcert_requirement::Origin;
use vkcert_spirv::interface::ReflectedResource;

pub(super) fn is_buffer(descriptor_class: DescriptorClass) -> bool {
    without_dynamic_offset(descriptor_class).is_some()
}

/// The class of a buffer descriptor without its dynamic offset; none for every other class.
fn without_dynamic_offset(descriptor_class: DescriptorClass) -> Option<DescriptorClass> {
    match descriptor_class {
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
pub(super) fn binding_class(
    binding: &Binding,
    reflected_resource: Option<&ReflectedResource>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<DescriptorClass> {
    // What the kernel does not use has no class of its own: it is what is bound to it.
    let unused_class = match (&binding.image, &binding.sampler) {
        (Some(_), Some(_)) => DescriptorClass::Combined,
        (Some(_), None) => DescriptorClass::StorageImage,
        (None, Some(_)) => DescriptorClass::Sampler,
        (None, None) if binding.format.is_some() => DescriptorClass::StorageTexel,
        (None, None) => DescriptorClass::Storage,
    };
    let declared_class =
        reflected_resource.map_or(unused_class, |reflected_resource| reflected_resource.class);
    let chosen_class = binding.class.unwrap_or(declared_class);
    let class_fits =
        match (without_dynamic_offset(declared_class), without_dynamic_offset(chosen_class)) {
            (Some(declared_class), Some(chosen_class)) => declared_class == chosen_class,
            _ => declared_class == chosen_class,
        };
    if reflected_resource.is_some() && !class_fits {
        let message = format!(
            "the kernel declares a `{}` here, not a `{}`",
            declared_class.name(),
            chosen_class.name()
        );
        let fault_origin =
            if binding.class.is_some() { origin.at("class") } else { origin.at("binding") };
        problems.push(fault_origin.error("wrong-class", message));
        return None;
    }
    let is_dynamic =
        matches!(chosen_class, DescriptorClass::StorageDynamic | DescriptorClass::UniformDynamic);
    if binding.dynamic_offset.is_some() && !is_dynamic {
        let message = format!("a `{}` descriptor has no dynamic offset", chosen_class.name());
        problems.push(
            origin
                .at("dynamic_offset")
                .key_error("wrong-class", message)
                .hint("use `storage_dynamic` or `uniform_dynamic`"),
        );
        return None;
    }
    Some(chosen_class)
}

/// Whether a binding names what its class takes, and nothing else.
pub(super) fn takes_what_it_names(
    binding: &Binding,
    descriptor_class: DescriptorClass,
    origin: &Origin,
    problems: &mut Problems,
) -> bool {
    let wanted_keys: &[&str] = match descriptor_class {
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
    let given_keys = [
        ("buffer", binding.buffer.is_some()),
        ("image", binding.image.is_some()),
        ("sampler", binding.sampler.is_some()),
        ("offset", binding.offset != 0),
        ("range", binding.range.is_some()),
        ("format", binding.format.is_some()),
        ("level", binding.level.is_some()),
        ("layer", binding.layer.is_some()),
    ];
    let names_resource = |key: &&str| ["buffer", "image", "sampler"].contains(key);
    let is_given =
        |key: &str| given_keys.iter().any(|(name, is_present)| *is_present && *name == key);
    if let Some(missing_key) =
        wanted_keys.iter().filter(|key| names_resource(key)).find(|key| !is_given(key))
    {
        let message = format!(
            "a `{}` descriptor needs {}",
            descriptor_class.name(),
            with_article(missing_key)
        );
        problems.push(origin.error("contradiction", message));
        return false;
    }
    let extra_key =
        given_keys.iter().find(|(key, is_present)| *is_present && !wanted_keys.contains(key));
    if let Some((key, _)) = extra_key {
        let message = format!("a `{}` descriptor takes no `{key}`", descriptor_class.name());
        problems.push(origin.at(*key).key_error("contradiction", message));
    }
    extra_key.is_none()
}

fn with_article(key: &str) -> String {
    let article = if key == "image" { "an" } else { "a" };
    format!("{article} `{key}`")
}
