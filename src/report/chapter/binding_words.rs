//! What is bound to a descriptor of a kernel, in words.
//!
//! Promises: what a procedure leaves to the kernel or to its defaults is said, not filled in.

use crate::document::Text;
use vkcert_model::procedure::{Binding, DescriptorClass};

/// `set 0, binding 1 (storage): buffer values, all bytes`
pub(super) fn binding_text(binding: &Binding) -> Text {
    Text::plain(format!("{} (", descriptor_in_words(binding)))
        .followed_by(class_text(binding))
        .then_plain("): ")
        .followed_by(held_text(binding))
        .then_plain(part_in_words(binding).map(|words| format!(", {words}")).unwrap_or_default())
}

/// `set 0, binding 1`, with the index in an array of descriptors where that is not the first.
fn descriptor_in_words(binding: &Binding) -> String {
    let Binding { set, binding: number, array_index, .. } = binding;
    match array_index {
        0 => format!("set {set}, binding {number}"),
        index => format!("set {set}, binding {number}, element {index}"),
    }
}

fn held_text(binding: &Binding) -> Text {
    let named_parts =
        [("buffer", &binding.buffer), ("image", &binding.image), ("sampler", &binding.sampler)];
    let named_parts = named_parts.into_iter().filter_map(|(kind, name)| {
        Some(Text::plain(format!("{kind} ")).followed_by(Text::code(name.as_deref()?)))
    });
    Text::join(named_parts, ", ")
}

fn class_text(binding: &Binding) -> Text {
    binding
        .class
        .map_or_else(|| Text::quiet("the kernel's class"), |class| Text::plain(class.name()))
}

/// Which bytes of a buffer, or which levels and layers of an image; none of a sampler.
fn part_in_words(binding: &Binding) -> Option<String> {
    let mut parts = Vec::new();
    if binding.buffer.is_some() {
        parts.push(bytes_in_words(binding));
    }
    if binding.image.is_some() {
        parts.push(levels_in_words(binding));
        let layer = binding.layer.unwrap_or(0);
        parts.push(format!("layer {layer} (of a kernel's array its first one)"));
    }
    parts.extend(binding.format.map(|format| format!("read as {format}")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The bytes that the kernel sees, counted from the start of the buffer.
fn bytes_in_words(binding: &Binding) -> String {
    let first_byte = binding.offset.saturating_add(binding.dynamic_offset.unwrap_or(0));
    let bytes_words = match (first_byte, binding.range) {
        (0, None) => "all bytes".to_owned(),
        (_, None) => format!("from byte {first_byte} to the end"),
        (_, Some(range)) => format!("{range} bytes from byte {first_byte}"),
    };
    match binding.dynamic_offset {
        Some(dynamic_offset) => {
            format!("{bytes_words} (offset {}, dynamic offset {dynamic_offset})", binding.offset)
        }
        None => bytes_words,
    }
}

fn levels_in_words(binding: &Binding) -> String {
    let level = binding.level.unwrap_or(0);
    match binding.class {
        Some(DescriptorClass::StorageImage) => format!("level {level} alone"),
        Some(DescriptorClass::SampledImage | DescriptorClass::Combined) => {
            format!("levels from {level} on")
        }
        // These take no image; a binding of such a class is an error.
        Some(
            DescriptorClass::Storage
            | DescriptorClass::Uniform
            | DescriptorClass::StorageDynamic
            | DescriptorClass::UniformDynamic
            | DescriptorClass::Sampler
            | DescriptorClass::UniformTexel
            | DescriptorClass::StorageTexel,
        )
        | None => format!("level {level} (of a sampled image its first one)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(json: serde_json::Value) -> Binding {
        serde_json::from_value(json).expect("a binding")
    }

    #[test]
    fn a_binding_is_told_with_what_it_leaves_out() {
        let part = binding(serde_json::json!({
            "set": 1, "binding": 2, "buffer": "values", "array_index": 3, "offset": 16, "range": 48
        }));
        assert_eq!(descriptor_in_words(&part), "set 1, binding 2, element 3");
        assert_eq!(part_in_words(&part).unwrap(), "48 bytes from byte 16");
        assert_eq!(class_text(&part), Text::quiet("the kernel's class"));
        let whole =
            binding(serde_json::json!({ "binding": 0, "buffer": "values", "class": "storage" }));
        assert_eq!(descriptor_in_words(&whole), "set 0, binding 0");
        assert_eq!(part_in_words(&whole).unwrap(), "all bytes");
        assert_eq!(class_text(&whole), Text::plain("storage"));
        assert_eq!(
            binding_text(&whole).plain_words(),
            "set 0, binding 0 (storage): buffer values, all bytes"
        );
    }

    #[test]
    fn a_binding_is_told_no_larger_than_it_is() {
        let part = |json: serde_json::Value| part_in_words(&binding(json)).unwrap();
        assert_eq!(
            part(serde_json::json!({ "binding": 0, "buffer": "b", "dynamic_offset": 256 })),
            "from byte 256 to the end (offset 0, dynamic offset 256)"
        );
        assert_eq!(
            part(serde_json::json!({
                "binding": 0, "buffer": "b", "offset": 16, "range": 8, "dynamic_offset": 256
            })),
            "8 bytes from byte 272 (offset 16, dynamic offset 256)"
        );
        let layer = "layer 0 (of a kernel's array its first one)";
        assert_eq!(
            part(serde_json::json!({ "binding": 0, "image": "m" })),
            format!("level 0 (of a sampled image its first one), {layer}")
        );
        assert_eq!(
            part(serde_json::json!({ "binding": 0, "image": "m", "class": "storage_image" })),
            format!("level 0 alone, {layer}")
        );
        assert_eq!(
            part(serde_json::json!({
                "binding": 0, "image": "m", "sampler": "s", "class": "combined", "level": 2
            })),
            format!("levels from 2 on, {layer}")
        );
        let sampler = binding(serde_json::json!({ "binding": 4, "sampler": "s" }));
        assert_eq!(part_in_words(&sampler), None);
    }
}
