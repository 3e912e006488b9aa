//! Links to the chapters and entries of a report, and lists of them.

use crate::document::{Text, Tone};
use crate::facts::Unit;
use vkcert_model::id::{KernelName, RequirementId, TestId};

pub(super) fn requirement_link(uid: &RequirementId) -> Text {
    Text::code(uid.as_str()).link(format!("requirement/{uid}"))
}

pub(super) fn test_link(id: &TestId) -> Text {
    Text::code(id.as_str()).link(format!("test/{id}"))
}

pub(super) fn kernel_link(name: &KernelName) -> Text {
    Text::code(name.as_str()).link(format!("kernel/{name}"))
}

pub(super) fn unit_link(unit: &Unit) -> Text {
    Text::code(unit.label()).link(unit.anchor())
}

/// A list of links, or `none` in the tone given.
pub(super) fn listed(items: impl IntoIterator<Item = Text>, none: Tone) -> Text {
    joined(items, ", ", none)
}

pub(super) fn joined(items: impl IntoIterator<Item = Text>, separator: &str, none: Tone) -> Text {
    let line = Text::join(items, separator);
    if line.0.is_empty() { Text::plain("none").tone(none) } else { line }
}

/// A sentence, or `none`.
pub(super) fn text_or_none(sentence: &str) -> Text {
    if sentence.is_empty() { Text::quiet("none") } else { Text::sentence(sentence) }
}
