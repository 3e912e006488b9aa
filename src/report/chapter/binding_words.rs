//! What is bound to a descriptor of a kernel, in words.
//!
//! Promises: what a procedure leaves to the kernel or to its defaults is said, not filled in.

use crate::document::Text;
use vkcert_model::procedure::Binding;

/// `set 0, binding 1 (storage): buffer values, all bytes`
pub(super) fn binding_text(binding: &Binding) -> Text {
    Text::plain(format!("{} (", descriptor_in_words(binding)))
        .followed_by(class_text(binding))
        .then_plain("): ")
        .followed_by(held_text(binding))
        .then_plain(format!(", {}", part_in_words(binding)))
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

/// Which bytes of a buffer, or which level and layer of an image.
fn part_in_words(binding: &Binding) -> String {
    let mut parts = Vec::new();
    if binding.buffer.is_some() {
        parts.push(match (binding.offset, binding.range) {
            (0, None) => "all bytes".to_owned(),
            (offset, None) => format!("from byte {offset} to the end"),
            (offset, Some(range)) => format!("{range} bytes from byte {offset}"),
        });
    }
    let numbered_parts = [
        ("dynamic offset", binding.dynamic_offset),
        ("level", binding.level.map(u64::from)),
        ("layer", binding.layer.map(u64::from)),
    ];
    let numbered_parts = numbered_parts
        .into_iter()
        .filter_map(|(name, number)| number.map(|number| format!("{name} {number}")));
    parts.extend(numbered_parts);
    parts.extend(binding.format.map(|format| format!("read as {format}")));
    if parts.is_empty() { "whole".to_owned() } else { parts.join(", ") }
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
        assert_eq!(part_in_words(&part), "48 bytes from byte 16");
        assert_eq!(class_text(&part), Text::quiet("the kernel's class"));
        let whole =
            binding(serde_json::json!({ "binding": 0, "buffer": "values", "class": "storage" }));
        assert_eq!(descriptor_in_words(&whole), "set 0, binding 0");
        assert_eq!(part_in_words(&whole), "all bytes");
        assert_eq!(class_text(&whole), Text::plain("storage"));
        assert_eq!(
            binding_text(&whole).plain_words(),
            "set 0, binding 0 (storage): buffer values, all bytes"
        );
        let image = binding(serde_json::json!({ "binding": 4, "image": "frame", "level": 2 }));
        assert_eq!(part_in_words(&image), "level 2");
    }
}
