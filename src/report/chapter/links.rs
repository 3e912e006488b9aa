//! Links to the chapters and entries of a report, and lists of them.

use crate::document::{Text, Tone};
use crate::facts::KernelUnit;
use vkcert_model::id::{KernelName, RequirementId, TestId};

pub(super) fn requirement_link(uid: &RequirementId) -> Text {
    Text::code(uid.as_str()).with_link(format!("requirement/{uid}"))
}

pub(super) fn test_link(id: &TestId) -> Text {
    Text::code(id.as_str()).with_link(format!("test/{id}"))
}

pub(super) fn kernel_link(name: &KernelName) -> Text {
    Text::code(name.as_str()).with_link(format!("kernel/{name}"))
}

pub(super) fn unit_link(unit: &KernelUnit) -> Text {
    Text::code(unit.unit_label()).with_link(unit.chapter_anchor())
}

/// A list of links, or `none` in the tone given.
pub(super) fn listed_texts(items: impl IntoIterator<Item = Text>, none_tone: Tone) -> Text {
    joined_texts(items, ", ", none_tone)
}

pub(super) fn joined_texts(
    items: impl IntoIterator<Item = Text>,
    separator: &str,
    none_tone: Tone,
) -> Text {
    let joined_text = Text::join(items, separator);
    if joined_text.0.is_empty() { Text::plain("none").with_tone(none_tone) } else { joined_text }
}

/// A sentence, or `none`.
pub(super) fn text_or_none(sentence: &str) -> Text {
    if sentence.is_empty() { Text::quiet("none") } else { Text::sentence(sentence) }
}
