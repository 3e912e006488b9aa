//! Consistency of justifications: subjects, hashes, and texts that say something.
//!
//! Does not cover: whether the obligation, finding or mutant exists, which takes its kernel or a run.

use super::check::{hash_error, unknown_name};
use super::check_document::check_date;
use super::check_test::KernelNames;
use super::document::{Located, Origin};
use std::collections::BTreeSet;
use vkcert_model::canonical::is_content_hash;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::FindingKind;
use vkcert_model::id::FindingId;
use vkcert_model::requirement::{Justification, JustificationClass, JustificationSubject};

pub(super) fn check_justifications(
    justifications: &[Located<Justification>],
    kernels: &KernelNames<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut seen_subjects = BTreeSet::new();
    for justification in justifications {
        let origin = &justification.origin;
        problems.extend(kernels.check_kernel_name(&origin.at("kernel"), &justification.kernel));
        if !is_content_hash(&justification.hash) {
            problems.push(hash_error(&origin.at("hash"), &justification.hash));
        }
        let required_texts = [
            ("reason", &justification.reason),
            ("author", &justification.author),
            ("approver", &justification.approver),
        ];
        for (key, _) in
            required_texts.iter().filter(|(_, text)| !text.contains(char::is_alphanumeric))
        {
            problems.push(
                origin
                    .at(*key)
                    .error("bad-value", format!("the {key} of a justification is empty")),
            );
        }
        for fault in justification.statement_faults() {
            problems.push(origin.at(fault.key).error("bad-value", fault.message));
        }
        if let Some(date) = &justification.date {
            check_date(&origin.at("date"), date, problems);
        }
        let subject = &justification.subject;
        let finding_hash = match subject {
            JustificationSubject::Obligation(_) => None,
            JustificationSubject::Finding(id) => {
                problems.extend(check_finding(origin, id, justification.class));
                // Statements can be in several findings of one kind.
                Some(&justification.hash)
            }
            JustificationSubject::Mutant(_) => {
                problems.extend(check_mutant(origin, justification));
                None
            }
        };
        if !seen_subjects.insert((
            &justification.kernel,
            subject,
            &justification.configuration,
            finding_hash,
        )) {
            let message = format!("{subject} of `{}` is justified twice", justification.kernel);
            problems.push(origin.at(subject.key()).error("duplicate-id", message));
        }
    }
}

/// What is wrong with a justification of a finding, as far as its name and class tell.
fn check_finding(
    origin: &Origin,
    finding_id: &FindingId,
    class: JustificationClass,
) -> Option<Diagnostic> {
    let place = origin.at("finding");
    let Some(kind) = finding_id.kind() else {
        let kind = finding_id.as_str().split('@').next().unwrap_or_default();
        return Some(unknown_name(
            &place,
            "unknown-id",
            "kind of finding",
            kind,
            acceptable_kinds(),
        ));
    };
    if !kind.can_be_accepted() {
        let message = format!("no justification can accept a finding of the kind `{kind}`");
        let hint = format!(
            "those that can be accepted: {}",
            acceptable_kinds().collect::<Vec<_>>().join(", ")
        );
        return Some(place.error("bad-value", message).hint(hint));
    }
    if finding_id.name_suffix().is_none() {
        let message = format!("`{finding_id}` does not say which finding is meant");
        return Some(
            place
                .error("bad-value", message)
                .hint("`vkcert list findings` prints the names of findings"),
        );
    }
    (class != JustificationClass::Analysis).then(|| {
        let message = format!("a finding is accepted by analysis, not as {class}");
        origin.at("class").error("bad-value", message).hint("class = \"analysis\"")
    })
}

/// What is wrong with a justification of a mutant, as far as its class and its configuration tell.
fn check_mutant(origin: &Origin, justification: &Justification) -> Option<Diagnostic> {
    if justification.configuration.is_some() {
        let message = "a mutant is one of all configurations of its kernel";
        return Some(origin.at("configuration").error("bad-value", message));
    }
    let class = justification.class;
    (!class.can_accept_mutants()).then(|| {
        let message = format!("a mutant is accepted as infeasible or by analysis, not as {class}");
        origin.at("class").error("bad-value", message).hint("class = \"infeasible\"")
    })
}

fn acceptable_kinds() -> impl Iterator<Item = &'static str> {
    FindingKind::ALL.iter().filter(|(kind, _)| kind.can_be_accepted()).map(|(_, name)| *name)
}
