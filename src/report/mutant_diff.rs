//! The change that a mutant makes, as a unified diff of the files that it changes.

use crate::unified_diff::unified_diff;
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, MutantEdit, StoredFile};

/// The difference of each file that the edits change; `text_of` gives a file's text. A file whose
/// text is not known, or is another one, is shown by the words that change.
pub fn mutant_diff<'t>(edits: &[MutantEdit], text_of: impl Fn(&str) -> Option<&'t str>) -> String {
    let mut by_file: BTreeMap<&str, Vec<&MutantEdit>> = BTreeMap::new();
    for edit in edits {
        by_file.entry(&edit.file).or_default().push(edit);
    }
    let diffs = by_file.iter().map(|(file, edits)| {
        let changed = text_of(file).and_then(|text| Some((text, changed_text(text, edits)?)));
        match changed {
            Some((text, changed)) => unified_diff(file, text, &changed),
            None => words_alone(file, edits),
        }
    });
    diffs.collect()
}

/// The part of a text from the first edit to the last one, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPart {
    /// What stands there.
    pub old: String,
    /// What a mutant has in its place.
    pub new: String,
}

/// Characters up to which what stands between edits is shown with them in a table.
const LONGEST_PART: usize = 120;

/// What edits of one file, in its order, change of its text. Where the text is not known, or is another one, the words of
/// the edits alone, with `…` between them.
pub(crate) fn changed_part(edits: &[&MutantEdit], text: Option<&str>) -> ChangedPart {
    let known = text.and_then(|text| known_part(edits, text));
    known.unwrap_or_else(|| {
        let words = |of_edit: fn(&MutantEdit) -> &str| {
            edits.iter().map(|edit| of_edit(edit)).collect::<Vec<_>>().join(" … ")
        };
        ChangedPart { old: words(|edit| &edit.old), new: words(|edit| &edit.new) }
    })
}

fn known_part(edits: &[&MutantEdit], text: &str) -> Option<ChangedPart> {
    let (first, last) = (edits.first()?, edits.last()?);
    let (start, end) = (first.start as usize, last.start as usize + last.old.len());
    let unchanged_behind = text.len().checked_sub(end)?;
    let changed = changed_text(text, edits)?;
    let new = changed.get(start..changed.len() - unchanged_behind)?.to_owned();
    Some(ChangedPart { old: text.get(start..end)?.to_owned(), new })
}

/// What a mutant changes, file by file, on one line each: for tables. Of changes far from each other their words alone,
/// those that are alike once.
pub fn changes_on_one_line<'t>(
    edits: &[MutantEdit],
    text_of: impl Fn(&str) -> Option<&'t str>,
) -> ChangedPart {
    let parts = edits.chunk_by(|edit, next| edit.file == next.file).map(|edits| {
        let text = edits.first().and_then(|edit| text_of(&edit.file));
        let edits: Vec<&MutantEdit> = edits.iter().collect();
        let part = changed_part(&edits, text);
        match edits.len() > 1 && part.old.len() > LONGEST_PART {
            true => changed_part(&different_edits(edits), None),
            false => part,
        }
    });
    let parts: Vec<ChangedPart> = parts.collect();
    let on_one_line = |of_part: fn(&ChangedPart) -> &str| {
        let words = parts.iter().map(|part| of_part(part).split_whitespace().collect::<Vec<_>>());
        words.map(|words| words.join(" ")).collect::<Vec<_>>().join(" … ")
    };
    ChangedPart { old: on_one_line(|part| &part.old), new: on_one_line(|part| &part.new) }
}

/// The first of each edits that put the same text in the place of the same one.
fn different_edits(edits: Vec<&MutantEdit>) -> Vec<&MutantEdit> {
    let mut different: Vec<&MutantEdit> = Vec::new();
    for edit in edits {
        if !different.iter().any(|own| (&own.old, &own.new) == (&edit.old, &edit.new)) {
            different.push(edit);
        }
    }
    different
}

/// A text with edits, which are in its order; none where it is not the text that they are of.
fn changed_text(text: &str, edits: &[&MutantEdit]) -> Option<String> {
    let mut changed = String::with_capacity(text.len() + 16);
    let mut written = 0;
    for MutantEdit { start, old, new, .. } in edits {
        let (start, end) = (*start as usize, *start as usize + old.len());
        if text.get(start..end)? != old {
            return None;
        }
        changed.push_str(text.get(written..start)?);
        changed.push_str(new);
        written = end;
    }
    changed.push_str(text.get(written..)?);
    Some(changed)
}

fn words_alone(file: &str, edits: &[&MutantEdit]) -> String {
    let mut diff = format!("--- {file}\n+++ {file}\n");
    for MutantEdit { line, column, old, new, .. } in edits {
        diff.push_str(&format!("@@ line {line}, column {column} @@\n"));
        old.lines().for_each(|line| diff.push_str(&format!("-{line}\n")));
        new.lines().for_each(|line| diff.push_str(&format!("+{line}\n")));
    }
    diff
}

/// The text of a file as evidence has it.
pub fn stored_text<'e>(evidence: &'e Evidence, file: &str) -> Option<&'e str> {
    let input = evidence.inputs.as_ref().and_then(|inputs| inputs.files.get(file));
    if let Some(StoredFile::Text(text)) = input {
        return Some(text);
    }
    let mut files = evidence.kernels.iter().flat_map(|kernel| &kernel.structure.files);
    files.find(|row| row.path == file).map(|row| row.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u32, old: &str, new: &str) -> MutantEdit {
        let (file, old, new) = ("k.comp".to_owned(), old.to_owned(), new.to_owned());
        MutantEdit { file, start, line: 2, column: 1, old, new }
    }

    #[test]
    fn edits_are_shown_in_the_text_they_are_of_and_else_by_their_words() {
        let text = "a;\nb + c;\nd;\n";
        let edits = [edit(3, "b", "x"), edit(7, "c", "y")];
        let diff = mutant_diff(&edits, |_| Some(text));
        assert_eq!(diff, "--- k.comp\n+++ k.comp\n@@ -1,3 +1,3 @@\n a;\n-b + c;\n+x + y;\n d;\n");
        let unknown = "--- k.comp\n+++ k.comp\n@@ line 2, column 1 @@\n-b\n+x\n";
        assert_eq!(mutant_diff(&edits[..1], |_| None), unknown);
        assert_eq!(mutant_diff(&edits[..1], |_| Some("other text")), unknown);
        let part = |text: Option<&str>| changes_on_one_line(&edits, |_| text);
        let told = |old: &str, new: &str| ChangedPart { old: old.to_owned(), new: new.to_owned() };
        assert_eq!(part(Some(text)), told("b + c", "x + y"));
        assert_eq!(part(None), told("b … c", "x … y"));
        assert_eq!(part(Some("other text")), told("b … c", "x … y"));
        let far = format!("a;\nb{}b;\nc\n", "\n;".repeat(100));
        let edits = [edit(3, "b", "x"), edit(204, "b", "x"), edit(207, "c", "y")];
        assert_eq!(changes_on_one_line(&edits, |_| Some(&far)), told("b … c", "x … y"));
    }
}
