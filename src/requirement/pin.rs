//! Links to parent requirements and the hashes that pin them: what state each is in, and files in
//! which they are pinned.
//!
//! Knows: where a link stands in the text of its file. Promises: of a text nothing changes but the
//! hashes of the links that are pinned: comments, order and layout stay; pinning twice changes
//! nothing the second time.
//! Does not cover: writing files, and whether a parent's change is one that the child has to
//! follow.

use super::document::{Node, Value};
use super::hash::requirement_hash;
use super::load::Project;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use vkcert_model::id::RequirementId;
use vkcert_model::requirement::Requirement;

/// Whether a link goes with the present content of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// Its hash is that of the parent's present content.
    Pinned,
    /// It has no hash: whether the parent has changed is not known.
    NotPinned,
    /// Its hash is of another content of the parent.
    Suspect,
}

/// Which links are to be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pinning {
    /// None.
    None,
    /// Those without a hash.
    Missing,
    /// Suspect ones too: whoever asks for it has reviewed them.
    MissingAndSuspect,
}

/// A link from a requirement to a parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The requirement that states the link.
    pub requirement: RequirementId,
    /// The parent that it names.
    pub parent: RequirementId,
    /// Relative to the project.
    pub file: String,
    /// After pinning.
    pub state: LinkState,
    /// Whether it is pinned anew.
    pub changed: bool,
    /// Of the parent's present content.
    pub hash: String,
}

/// Every link of a project, and the files that change, by path relative to it, with their new
/// texts.
pub fn pin_links(project: &Project, pinning: Pinning) -> (Vec<Link>, BTreeMap<String, String>) {
    let by_uid: BTreeMap<&RequirementId, &Requirement> = project
        .requirements
        .iter()
        .map(|requirement| (&requirement.uid, &requirement.value))
        .collect();
    let mut links = Vec::new();
    let mut edits_by_file: BTreeMap<String, FileEdits> = BTreeMap::new();
    for requirement in &project.requirements {
        for (index, parent) in requirement.parents.iter().enumerate() {
            let hash = requirement_hash(by_uid[&parent.uid]);
            let (state_before, is_to_be_pinned) = match &parent.hash {
                None => (LinkState::NotPinned, pinning != Pinning::None),
                Some(own_hash) if *own_hash == hash => (LinkState::Pinned, false),
                Some(_) => (LinkState::Suspect, pinning == Pinning::MissingAndSuspect),
            };
            let file = project.relative_file(requirement);
            let link_place = requirement.origin.at("parents").at(index);
            if is_to_be_pinned
                && let (Some(document), Some(node)) = (link_place.document(), link_place.value())
            {
                let file_edits = edits_by_file
                    .entry(file.clone())
                    .or_insert_with(|| FileEdits::for_text(&document.text));
                file_edits.replacements.extend(hash_replacement(&document.text, node, &hash));
            }
            let state = if is_to_be_pinned { LinkState::Pinned } else { state_before };
            let (requirement, parent) = (requirement.uid, parent.uid);
            links.push(Link { requirement, parent, file, state, changed: is_to_be_pinned, hash });
        }
    }
    (
        links,
        edits_by_file.into_iter().map(|(file, edits)| (file, edits.apply_replacements())).collect(),
    )
}

/// Bytes of a text with what replaces them.
struct TextReplacement {
    range: Range<usize>,
    text: String,
}

/// A text and the replacements to make in it.
struct FileEdits {
    text: Arc<str>,
    replacements: Vec<TextReplacement>,
}

impl FileEdits {
    fn for_text(text: &Arc<str>) -> Self {
        Self { text: Arc::clone(text), replacements: Vec::new() }
    }

    fn apply_replacements(mut self) -> String {
        self.replacements.sort_by_key(|replacement| replacement.range.start);
        let mut edited_text = String::with_capacity(self.text.len());
        let mut copied_to = 0;
        for replacement in &self.replacements {
            edited_text.push_str(&self.text[copied_to..replacement.range.start]);
            edited_text.push_str(&replacement.text);
            copied_to = replacement.range.end;
        }
        edited_text.push_str(&self.text[copied_to..]);
        edited_text
    }
}

/// Writes the hash over the present one; where there is none, behind the parent's uid: on the same
/// line in an inline table, on a line of its own under a header.
fn hash_replacement(text: &str, link: &Node, hash: &str) -> Option<TextReplacement> {
    if let Some(entry) = link.entry("hash") {
        let range = entry.node.span.range();
        return Some(TextReplacement { range, text: format!("\"{hash}\"") });
    }
    let uid = link.entry("uid")?;
    debug_assert!(matches!(uid.node.value, Value::Text(_)));
    let uid_end = uid.node.span.end;
    if text[link.span.start..].starts_with('{') {
        return Some(TextReplacement {
            range: uid_end..uid_end,
            text: format!(", hash = \"{hash}\""),
        });
    }
    let line_start = text[..uid.key_span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let indent: String = text[line_start..]
        .chars()
        .take_while(|character| matches!(character, ' ' | '\t'))
        .collect();
    let text_behind = &text[uid_end..];
    let line_end = text_behind.find('\n').map_or(text.len(), |newline| uid_end + newline);
    let carriage_return = if text[..line_end].ends_with('\r') { "\r" } else { "" };
    let insert_at = line_end - carriage_return.len();
    Some(TextReplacement {
        range: insert_at..insert_at,
        text: format!("{carriage_return}\n{indent}hash = \"{hash}\""),
    })
}

#[cfg(test)]
mod tests {
    use super::super::document::{Document, FileSyntax};
    use super::*;

    const HASH: &str = "sha256:00";

    /// The first parent of the first requirement of a text is pinned.
    fn pinned(text: &str) -> String {
        let document = Document::parse("r.toml", text, FileSyntax::Toml).unwrap();
        let requirement = &document.root().entry("requirement").unwrap().node.elements()[0];
        let link = &requirement.entry("parents").unwrap().node.elements()[0];
        let mut edits = FileEdits::for_text(&document.text);
        edits.replacements.extend(hash_replacement(text, link, HASH));
        let made = edits.apply_replacements();
        let again = Document::parse("r.toml", &made, FileSyntax::Toml).unwrap();
        let link = &again.root().entry("requirement").unwrap().node.elements()[0]
            .entry("parents")
            .unwrap()
            .node
            .elements()[0];
        assert_eq!(link.entry("hash").unwrap().node.value, Value::Text(HASH.to_owned()), "{made}");
        made
    }

    #[test]
    fn nothing_changes_but_the_hash() {
        let cases = [
            (
                "[[requirement]] # first\nparents = [ {uid=\"A\"} , { uid = \"B\" } ] # why\n",
                "[[requirement]] # first\nparents = [ {uid=\"A\", hash = \"sha256:00\"} , { uid = \"B\" } ] # why\n",
            ),
            (
                "[[requirement]]\nparents = [\n  # of the sum\n  { hash = \"sha256:11\", uid = 'A' }, # é\n]\n",
                "[[requirement]]\nparents = [\n  # of the sum\n  { hash = \"sha256:00\", uid = 'A' }, # é\n]\n",
            ),
            (
                "[[requirement]]\n  [[requirement.parents]]\n  uid = \"A\" # why\n\n[[requirement]]\n",
                "[[requirement]]\n  [[requirement.parents]]\n  uid = \"A\" # why\n  hash = \"sha256:00\"\n\n[[requirement]]\n",
            ),
            (
                "[[requirement]]\r\n[[requirement.parents]]\r\nuid = \"A\"\r\n",
                "[[requirement]]\r\n[[requirement.parents]]\r\nuid = \"A\"\r\nhash = \"sha256:00\"\r\n",
            ),
            (
                "[[requirement]]\n[[requirement.parents]]\nuid = \"A\"",
                "[[requirement]]\n[[requirement.parents]]\nuid = \"A\"\nhash = \"sha256:00\"",
            ),
        ];
        for (before, after) in cases {
            assert_eq!(pinned(before), after);
        }
    }
}
