//! Consistency of what a project says of its documents.

use super::check_requirements::check_texts;
use super::document::Origin;
use std::collections::BTreeSet;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::document::{
    DocumentApproval, DocumentIdentity, DocumentPart, DocumentReference, DocumentRevision,
    PartIdentity, is_calendar_date,
};

pub(super) fn check_document(
    origin: &Origin,
    document: &DocumentIdentity,
    problems: &mut Vec<Diagnostic>,
) {
    let required_texts = [("number", &document.number), ("revision", &document.revision)];
    check_texts(origin, "the document", &required_texts, problems);
    check_number(&origin.at("number"), &document.number, problems);
    let optional_texts = [
        ("part", &document.part),
        ("configuration_item", &document.configuration_item),
        ("baseline", &document.baseline),
    ];
    let given_texts =
        optional_texts.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
    check_texts(origin, "the document", &given_texts.collect::<Vec<_>>(), problems);
    if let Some(date) = &document.date {
        check_date(&origin.at("date"), date, problems);
    }
    for (key, names) in [("authors", &document.authors), ("reviewers", &document.reviewers)] {
        let unnamed = |name: &String| !name.contains(char::is_alphanumeric);
        for (index, _) in names.iter().enumerate().filter(|(_, name)| unnamed(name)) {
            let message = format!("a name of the document's {key} is empty");
            problems.push(origin.at(key).at(index).error("bad-value", message));
        }
    }
    for (index, DocumentApproval { role, name }) in document.approvals.iter().enumerate() {
        let place = origin.at("approval").at(index);
        check_texts(&place, "an approval", &[("role", role), ("name", name)], problems);
    }
    check_history(origin, "the document", (&document.revision, &document.history), problems);
    check_references(origin, document, problems);
    check_parts(origin, document, problems);
}

/// What is stated of single documents. No two documents have the same number, made ones included.
fn check_parts(origin: &Origin, document: &DocumentIdentity, problems: &mut Vec<Diagnostic>) {
    for part in DocumentPart::ALL {
        let Some(own) = document.own_identity(part) else { continue };
        let place = origin.at(part.word());
        let PartIdentity { number, revision, title, date, history } = own;
        let subject = format!("the document `{}`", part.word());
        let required_texts = [("number", number), ("revision", revision)];
        let title_text = title.as_ref().map(|title| ("title", title));
        let stated_texts: Vec<_> = required_texts.into_iter().chain(title_text).collect();
        check_texts(&place, &subject, &stated_texts, problems);
        check_number(&place.at("number"), number, problems);
        if let Some(date) = date {
            check_date(&place.at("date"), date, problems);
        }
        check_history(&place, &subject, (revision, history), problems);
        if let Some(other) = document_with_number(document, number, part) {
            let message = format!("the number `{number}` is also that of {other}");
            problems.push(place.at("number").error("duplicate-id", message));
        }
    }
}

/// What prints as nothing or as a space makes two numbers that look the same.
fn check_number(place: &Origin, number: &str, problems: &mut Vec<Diagnostic>) {
    let is_visible = |character: char| {
        character == ' ' || character.is_ascii_graphic() || character.is_alphanumeric()
    };
    if let Some(hidden) = number.chars().find(|character| !is_visible(*character)) {
        let message = format!(
            "the number holds U+{:04X}, which is neither letter, digit nor mark of ASCII",
            u32::from(hidden)
        );
        problems.push(place.error("bad-value", message));
    }
}

/// Another document that has the number; letters count as the same in both cases.
fn document_with_number(
    document: &DocumentIdentity,
    number: &str,
    part: DocumentPart,
) -> Option<String> {
    let same_number = |other: &str| other.trim().eq_ignore_ascii_case(number.trim());
    if same_number(&document.number) {
        return Some("the whole report".to_owned());
    }
    let others = DocumentPart::ALL.into_iter().filter(|other| *other != part);
    let other = others.into_iter().find(|other| same_number(&document.number_of(*other)))?;
    Some(format!("the document `{}`", other.word()))
}

pub(super) fn check_date(origin: &Origin, date: &str, problems: &mut Vec<Diagnostic>) {
    if !is_calendar_date(date) {
        let problem = origin.error("bad-value", format!("`{date}` is no date of the calendar"));
        problems.push(problem.hint("write year, month and day: \"2026-01-31\""));
    }
}

/// The last revision is that of the document.
fn check_history(
    origin: &Origin,
    subject: &str,
    (stated_revision, history): (&str, &[DocumentRevision]),
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen_revisions = BTreeSet::new();
    for (index, row) in history.iter().enumerate() {
        let place = origin.at("history").at(index);
        let DocumentRevision { revision, date, author, change } = row;
        let required_texts = [("revision", revision), ("author", author), ("change", change)];
        check_texts(&place, "a revision", &required_texts, problems);
        check_date(&place.at("date"), date, problems);
        if !seen_revisions.insert(revision) {
            let message = format!("the revision `{revision}` is there twice");
            problems.push(place.at("revision").error("duplicate-id", message));
        }
    }
    if let Some(last) = history.last()
        && last.revision != stated_revision
    {
        let message = format!(
            "the history ends with revision `{}`, and {subject} is revision `{stated_revision}`",
            last.revision
        );
        let place = origin.at("history").at(history.len() - 1).at("revision");
        problems.push(place.error("bad-value", message));
    }
}

fn check_references(origin: &Origin, document: &DocumentIdentity, problems: &mut Vec<Diagnostic>) {
    let mut seen_ids = BTreeSet::new();
    for (index, reference) in document.references.iter().enumerate() {
        let place = origin.at("reference").at(index);
        let DocumentReference { id, title, number: _, revision: _ } = reference;
        check_texts(&place, "a reference", &[("id", id), ("title", title)], problems);
        if !seen_ids.insert(id) {
            let message = format!("the reference `{id}` is there twice");
            problems.push(place.at("id").error("duplicate-id", message));
        }
    }
}
