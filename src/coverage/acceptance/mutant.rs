//! Mutants that a justification can accept: what is signed, and what the justification says.

use crate::justification::{ApproverRule, justification_sentence, unsigned_fault};
use std::collections::BTreeMap;
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::evidence::{MutantAcceptance, MutantEdit, MutantSubject, SubjectChange};
use vkcert_model::id::KernelName;
use vkcert_model::requirement::Justification;

/// What a justification of a mutant of a text signs. `code` is the hash of its kernel's code and configurations; each edit
/// comes with the text of its file.
pub fn mutant_acceptance<'e>(
    kernel: KernelName,
    code: &str,
    edits: impl Iterator<Item = (&'e MutantEdit, &'e str)>,
) -> MutantAcceptance {
    let changes = edits.map(|(edit, text)| subject_change(edit, text)).collect();
    let (tests, kernels) = (BTreeMap::new(), BTreeMap::new());
    acceptance_of_subject(MutantSubject { kernel, code: code.to_owned(), changes, tests, kernels })
}

/// The acceptance of what is signed, before any justification.
pub fn acceptance_of_subject(subject: MutantSubject) -> MutantAcceptance {
    let hash = subject_hash(&subject);
    MutantAcceptance { subject, hash, justification: None }
}

/// The hash that justifications of a mutant state.
pub fn subject_hash(subject: &MutantSubject) -> String {
    let text = canonical_json(subject).expect("subjects are representable as JSON");
    content_hash(text.as_bytes())
}

fn subject_change(edit: &MutantEdit, file_text: &str) -> SubjectChange {
    let (start, end) = (edit.start as usize, edit.start as usize + edit.old.len());
    let first = file_text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let last = file_text[end..].find('\n').map_or(file_text.len(), |newline| end + newline);
    let text = on_one_line(&file_text[first..last]);
    let line_count = file_text[first..last].lines().count();
    let lines_above: Vec<&str> = file_text[..first].lines().collect();
    let windows = lines_above.windows(line_count.max(1));
    let same_above = windows.filter(|lines| on_one_line(&lines.join("\n")) == text).count() as u32;
    let before = on_one_line(&file_text[first..start]).chars().count() as u32;
    let (file, old, new) = (edit.file.clone(), edit.old.clone(), edit.new.clone());
    SubjectChange { file, text, same_above, before, old, new }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the justification of a mutant says, or why it is not accepted.
///
/// # Errors
/// The reason, as a sentence.
pub fn accepted_mutant_sentence(
    justification: &Justification,
    approval: ApproverRule,
) -> Result<String, String> {
    if !justification.class.can_accept_mutants() {
        let class = justification.class;
        return Err(format!("a mutant is accepted as infeasible or by analysis, not as {class}"));
    }
    if let Some(fault) = justification.statement_faults().into_iter().next() {
        return Err(fault.message);
    }
    match unsigned_fault(justification, approval) {
        Some(fault) => Err(fault),
        None => Ok(justification_sentence(justification)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, start: usize, old: &str) -> MutantEdit {
        assert_eq!(&text[start..start + old.len()], old);
        let (file, old, new) = ("k.comp".to_owned(), old.to_owned(), "new".to_owned());
        MutantEdit { file, start: start as u32, line: 1, column: 1, old, new }
    }

    fn change_at(text: &str, start: usize, old: &str) -> SubjectChange {
        subject_change(&edit(text, start, old), text)
    }

    #[test]
    fn a_change_is_known_by_its_line_wherever_that_stands() {
        let text = "a = b;\n  c =   d + d;\nc = d + d;\n";
        let first = change_at(text, 15, "d");
        let told = (first.text.as_str(), first.same_above, first.before);
        assert_eq!(told, ("c = d + d;", 0, 3));
        // The other operand, and the same line again.
        assert_eq!(change_at(text, 19, "d").before, 7);
        assert_eq!(change_at(text, 26, "d").same_above, 1);
        let moved = "// a comment\n\na = b;\nc = d + d; \n";
        assert_eq!(change_at(moved, 25, "d"), first);
    }

    #[test]
    fn a_change_of_several_lines_is_known_by_all_of_them() {
        let text = "{\nf();\n}\n{\nf();\n}\n";
        let block = "{\nf();\n}";
        assert_eq!(change_at(text, 0, block).same_above, 0);
        let second = change_at(text, 9, block);
        assert_eq!((second.text.as_str(), second.same_above), ("{ f(); }", 1));
    }
}
