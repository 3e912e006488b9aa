//! What counts against the result, one notice for each thing behind a ground.

use super::super::rules::Rule;
use super::{Notice, NoticePlace, PROJECT_FILE, Sources, Weight, joined};
use crate::facts::{
    MergedFinding, UncoveredObligation, column_title, merged_findings, merged_obligations,
    uncovered_obligations,
};
use std::collections::BTreeSet;
use vkcert_model::coverage::Status;
use vkcert_model::evidence::{Evidence, JustificationEvidence, Mismatch, TestEvidence, TestResult};
use vkcert_model::finding::FindingKind;
use vkcert_model::open_item::{OpenItem, OpenItemSubject};
use vkcert_model::reason::{Ground, Reason, ReasonKind};

/// Adds a notice for all that counts, in the order of the conclusion's grounds; what stands against
/// the result and has no ground, as in evidence that does not verify, comes behind.
pub(super) fn add_grounds(evidence: &Evidence, sources: &Sources, notices: &mut Vec<Notice>) {
    let conclusion = &evidence.campaign.conclusion;
    let mut results = test_notices(evidence, sources);
    let mut obligations = obligation_notices(evidence, sources);
    let mut findings = finding_notices(evidence, sources);
    let mut told_units = BTreeSet::new();
    for (index, sentence) in conclusion.reasons.iter().enumerate() {
        // Older evidence stores no grounds.
        let Some(ground) = conclusion.grounds.get(index) else {
            notices.push(Notice::new(Rule::counts(), Weight::Counts, "", sentence));
            continue;
        };
        let behind: Vec<Notice> = match ground.kind {
            ReasonKind::ObligationsOpen => {
                let is_behind = |row: &mut ObligationNotice| row.is_of(&ground.about);
                let rows: Vec<_> = obligations.extract_if(.., is_behind).collect();
                told_units.extend(rows.iter().flat_map(|row| row.grounds.clone()));
                if rows.is_empty() && told_units.contains(&ground.about) {
                    continue;
                }
                rows.into_iter().map(|row| row.notice).collect()
            }
            ReasonKind::FindingStands => {
                let is_behind = |row: &mut (FindingKind, Notice)| {
                    ground.about.ends_with(&format!(" {}", row.0))
                };
                findings.extract_if(.., is_behind).map(|(_, notice)| notice).collect()
            }
            kind => {
                let rule = Rule::of_reason(kind);
                let is_behind = |row: &Notice| row.rule == rule && row.about == ground.about;
                results
                    .iter()
                    .position(is_behind)
                    .map(|row| results.remove(row))
                    .into_iter()
                    .collect()
            }
        };
        match behind.is_empty() {
            true => notices.push(of_sentence(ground, sentence, evidence, sources)),
            false => notices.extend(behind),
        }
    }
    notices.extend(obligations.into_iter().map(|row| row.notice));
    notices.extend(findings.into_iter().map(|(_, notice)| notice));
    notices.extend(results);
}

/// Of a ground whose sentence says it all.
fn of_sentence(ground: &Ground, sentence: &str, evidence: &Evidence, sources: &Sources) -> Notice {
    let campaign = &evidence.campaign;
    let about = ground.about.as_str();
    let open_item = campaign.open_items.iter().find(|item| item.stands() && item.name == about);
    if let (ReasonKind::OpenItemStands, Some(item)) = (ground.kind, open_item) {
        return open_item_notice(item, Weight::Counts, evidence, sources);
    }
    let notice = Notice::new(Rule::of_reason(ground.kind), Weight::Counts, about, sentence);
    let place = place_of_ground(ground, evidence, sources);
    let notice = Notice { place: place.unwrap_or(NoticePlace::file(PROJECT_FILE)), ..notice };
    match ground.kind {
        // Several of them can be about one thing.
        ReasonKind::LinkSuspect | ReasonKind::CodeMissing | ReasonKind::CouplingUndetermined => {
            notice.known_by(vec![about.to_owned(), sentence.to_owned()])
        }
        _ => notice,
    }
}

fn place_of_ground(ground: &Ground, evidence: &Evidence, sources: &Sources) -> Option<NoticePlace> {
    let campaign = &evidence.campaign;
    let about = ground.about.as_str();
    match ground.kind {
        ReasonKind::RequirementUntested
        | ReasonKind::RequirementFailed
        | ReasonKind::RequirementOpen
        | ReasonKind::LinkSuspect
        | ReasonKind::CodeMissing => requirement_place(about, sources),
        ReasonKind::RecordRejected => {
            let is_meant = |requirement: &str, rejected: bool| rejected && requirement == about;
            let mut rows = campaign.records.iter();
            let row =
                rows.find(|row| is_meant(row.record.requirement.as_str(), row.rejected.is_some()))?;
            Some(NoticePlace::file(&row.file))
        }
        ReasonKind::JustificationRejected => {
            let mut rows = campaign.justifications.iter();
            let row = rows.find(|row| {
                let justification = &row.justification;
                row.rejected.is_some()
                    && format!("{} {}", justification.kernel, justification.subject) == about
            })?;
            Some(justification_place(row, sources))
        }
        ReasonKind::AcceptanceRejected => {
            let position = sources.declared.position(PROJECT_FILE, "accept", &[("item", about)]);
            Some(NoticePlace::declared(PROJECT_FILE, position))
        }
        ReasonKind::MutationScore => Some(NoticePlace::file(PROJECT_FILE)),
        ReasonKind::ProfileRefusal | ReasonKind::CouplingUndetermined => {
            kernel_place(about, evidence)
        }
        ReasonKind::TestFailed
        | ReasonKind::TestError
        | ReasonKind::TestTimeout
        | ReasonKind::TestUndetermined
        | ReasonKind::TestUnsupported
        | ReasonKind::NoTest
        | ReasonKind::NoRequirement
        | ReasonKind::ObligationsOpen
        | ReasonKind::FindingStands
        | ReasonKind::OpenItemStands => None,
    }
}

fn justification_place(row: &JustificationEvidence, sources: &Sources) -> NoticePlace {
    let justification = &row.justification;
    let subject = justification.subject.to_string();
    let key = justification.subject.key();
    let wanted = [("kernel", justification.kernel.as_str()), (key, subject.as_str())];
    let position = sources.declared.position(&row.file, "justification", &wanted);
    NoticePlace::declared(&row.file, position)
}

fn requirement_place(uid: &str, sources: &Sources) -> Option<NoticePlace> {
    let file = sources.requirement_files.get(uid)?;
    let position = sources.declared.position(file, "requirement", &[("uid", uid)]);
    Some(NoticePlace::declared(file, position))
}

/// The kernel's main file, as a whole; of a kernel that does not compile where the compiler says so.
fn kernel_place(name: &str, evidence: &Evidence) -> Option<NoticePlace> {
    let mut set_aside = evidence.campaign.set_aside.iter();
    if let Some(row) = set_aside.find(|row| row.kernel.as_str() == name) {
        let place = row.diagnostics.iter().find_map(|told| {
            let line = told.line?;
            Some(NoticePlace::at(told.file.as_ref()?, line, told.column.unwrap_or(0)))
        });
        return Some(place.unwrap_or(NoticePlace::file(&row.source)));
    }
    let mut measured = evidence.kernels.iter();
    if let Some(kernel) = measured.find(|kernel| kernel.kernel.as_str() == name) {
        return Some(NoticePlace::file(&kernel.source));
    }
    let mut kernels = evidence.campaign.settings.iter().flat_map(|settings| &settings.kernels);
    let kernel = kernels.find(|kernel| kernel.name.as_str() == name)?;
    Some(NoticePlace::file(&kernel.source))
}

/// Where the project states what the host does with a kernel: what it calls the host's source need
/// be no file.
fn interface_place(kernel: &str, sources: &Sources) -> Option<NoticePlace> {
    sources.texts.keys().find_map(|file| {
        let position = sources.declared.position(file, "interface", &[("kernel", kernel)])?;
        Some(NoticePlace::declared(file, Some(position)))
    })
}

/// Where a test is defined.
pub(in crate::pipeline) fn test_place(
    test: &TestEvidence,
    declared: &super::DeclaredPlaces,
) -> NoticePlace {
    let position = declared.position(&test.file, "test", &[("id", test.id.as_str())]);
    NoticePlace::declared(&test.file, position)
}

fn test_notices(evidence: &Evidence, sources: &Sources) -> Vec<Notice> {
    let mut notices = Vec::new();
    for test in &evidence.campaign.tests {
        for result in &test.results {
            let Some(kind) = ReasonKind::of_verdict(result.verdict) else { continue };
            let notice = Notice::new(
                Rule::of_reason(kind),
                Weight::Counts,
                test.id.as_str(),
                result_in_words(test, result),
            );
            let identity = vec![test.id.to_string(), result.engine.to_string()];
            notices.push(notice.known_by(identity).at(test_place(test, &sources.declared)));
        }
    }
    notices
}

/// `test TC-1 on sequential: fail: 1 of 4 elements differ; result, byte 0: expected 1.5, actual 2`
fn result_in_words(test: &TestEvidence, result: &TestResult) -> String {
    let (engines, reason) = (vec![result.engine], result.reason.clone());
    let kind = ReasonKind::of_verdict(result.verdict).unwrap_or(ReasonKind::TestUndetermined);
    let verdict = result.verdict;
    let sentence = Reason::Test { kind, test: test.id, engines, verdict, reason }.to_string();
    match result.mismatches.first() {
        Some(mismatch) => format!("{sentence}; {}", mismatch_in_words(mismatch)),
        None => sentence,
    }
}

/// `result, byte 0: expected 1.5, actual 2`
pub(in crate::pipeline) fn mismatch_in_words(mismatch: &Mismatch) -> String {
    let Mismatch { buffer, expected, actual, bits, .. } = mismatch;
    format!("{buffer}, {}: expected {expected}, actual {actual} ({bits})", mismatch.place())
}

/// An obligation that is open, with the units and engines behind it.
struct ObligationNotice {
    /// As grounds name them: `matmul on sequential`.
    grounds: Vec<String>,
    notice: Notice,
}

impl ObligationNotice {
    fn is_of(&self, about: &str) -> bool {
        self.grounds.iter().any(|ground| ground == about)
    }
}

/// Every open obligation of the criteria asked for; one counts where a ground is of its kernel on
/// one of its engines.
fn obligation_notices(evidence: &Evidence, sources: &Sources) -> Vec<ObligationNotice> {
    let conclusion = &evidence.campaign.conclusion;
    let has_no_grounds = conclusion.grounds.is_empty() && !conclusion.reasons.is_empty();
    let is_ground = |about: &String| {
        let mut grounds = conclusion.grounds.iter();
        grounds.any(|ground| ground.kind == ReasonKind::ObligationsOpen && ground.about == *about)
    };
    let open_obligations = uncovered_obligations(evidence);
    let rows = merged_obligations(open_obligations.iter());
    let rows = rows.into_iter().map(|(obligation, engines)| {
        let label = obligation.unit.unit_label();
        let grounds: Vec<String> =
            engines.iter().map(|engine| format!("{label} on {engine}")).collect();
        let weight = match has_no_grounds || grounds.iter().any(is_ground) {
            true => Weight::Counts,
            false => Weight::Told,
        };
        let notice = obligation_notice(obligation, &engines, weight, sources);
        ObligationNotice { grounds, notice }
    });
    rows.collect()
}

/// Of an obligation on these engines, whatever its status.
pub(super) fn obligation_notice(
    obligation: &UncoveredObligation,
    engines: &[String],
    weight: Weight,
    sources: &Sources,
) -> Notice {
    let UncoveredObligation { criterion, status, text, .. } = obligation;
    let about = format!("{} on {}", obligation.unit.unit_label(), engines.join(" and "));
    let mut message = format!(
        "{} obligation {} `{}` of {about} is {status}",
        column_title(*criterion),
        obligation.obligation,
        obligation.shown_text(),
    );
    // What is justified has the text of the justification beside it.
    if !obligation.reason.is_empty() && *status != Status::Justified {
        message.push_str(&format!(": {}", obligation.reason));
    }
    let place = NoticePlace::at(obligation.file, obligation.line, obligation.column);
    // The number in an id counts what stands above; what follows it does not.
    let part = obligation.obligation.split_once('.').map_or("", |(_, part)| part);
    let decision = obligation.decision.map_or("", |decision| decision.text.as_str());
    let identity = [&obligation.unit.unit_label(), obligation.file, decision, text, part];
    let mut identity: Vec<String> = identity.map(str::to_owned).into();
    if text.is_empty() {
        identity.push(sources.line_text(Some(&place)));
    }
    let function = obligation.decision.and_then(|decision| decision.function.clone());
    let rule = Rule::of_obligation(*criterion, *status);
    let notice = Notice::new(rule, weight, about, message).known_by(identity).at(place);
    Notice { function, ..notice }
}

fn finding_notices(evidence: &Evidence, sources: &Sources) -> Vec<(FindingKind, Notice)> {
    let standing = merged_findings(evidence).into_iter().filter(|row| row.finding.stands());
    let notices = standing
        .map(|row| (row.finding.kind, finding_notice(&row, Weight::Counts, evidence, sources)));
    notices.collect()
}

/// The message of a finding with what shows it: `... (kernel mm, in TC-1, on sequential; count 3)`
pub(in crate::pipeline) fn shown_by_in_words(merged: &MergedFinding) -> String {
    let kernels = kernels_in_words(merged);
    let (tests, engines) = (joined(merged.tests.iter()), joined(merged.engines.iter()));
    let shown_by = [("kernel", &kernels), ("in", &tests), ("on", &engines)];
    let shown_by = shown_by.into_iter().filter(|(_, names)| !names.is_empty());
    let shown_by: Vec<String> = shown_by.map(|(word, names)| format!("{word} {names}")).collect();
    format!("{} ({}; count {})", merged.finding.message, shown_by.join(", "), merged.count)
}

fn kernels_in_words(merged: &MergedFinding) -> String {
    match &merged.finding.kernel {
        Some(kernel) => kernel.to_string(),
        None => joined(merged.kernels.iter()),
    }
}

/// Of a finding, with the tests and engines that show it.
pub(super) fn finding_notice(
    merged: &MergedFinding,
    weight: Weight,
    evidence: &Evidence,
    sources: &Sources,
) -> Notice {
    let finding = merged.finding;
    let kernels = kernels_in_words(merged);
    let message = shown_by_in_words(merged);
    let place = NoticePlace::of_finding(finding.place.as_ref());
    let other_place = NoticePlace::of_finding(finding.other_place.as_ref());
    let line_texts = [place.as_ref(), other_place.as_ref()].map(|place| sources.line_text(place));
    let functions = [finding.place.as_ref(), finding.other_place.as_ref()]
        .map(|place| place.and_then(|place| place.function.clone()).unwrap_or_default());
    let mut identity = vec![kernels.clone(), finding.configuration.clone().unwrap_or_default()];
    identity.extend(line_texts.iter().chain(&functions).cloned());
    identity.extend(finding.coupling_check().map(|check| check.to_string()));
    let subject = finding.acceptance.as_ref().and_then(|acceptance| acceptance.subject.as_ref());
    match subject {
        Some(subject) => identity.push(serde_json::json!(subject.facts).to_string()),
        None if place.is_none() => identity.push(finding.message.clone()),
        None => {}
    }
    let function = Some(functions[0].clone()).filter(|name| !name.is_empty());
    let is_coupling = finding.kind == FindingKind::Coupling;
    let first_kernel = merged.kernels.first().map_or("", |name| name.as_str());
    let place = place
        .filter(|place| place.line.is_some() || sources.texts.contains_key(place.file.as_str()))
        .or_else(|| interface_place(first_kernel, sources).filter(|_| is_coupling))
        .or_else(|| kernel_place(first_kernel, evidence))
        .unwrap_or(NoticePlace::file(PROJECT_FILE));
    let rule = Rule::of_finding(finding.kind);
    let notice = Notice::new(rule, weight, kernels, message).known_by(identity).at(place);
    Notice { other_place, function, ..notice }
}

/// Of an open item, accepted or not.
pub(super) fn open_item_notice(
    item: &OpenItem,
    weight: Weight,
    evidence: &Evidence,
    sources: &Sources,
) -> Notice {
    let place = item.subject.as_ref().and_then(|subject| match subject {
        OpenItemSubject::Kernel(kernel) | OpenItemSubject::Accesses { kernel, .. } => {
            kernel_place(kernel.as_str(), evidence)
        }
        OpenItemSubject::Requirement(uid) => requirement_place(uid.as_str(), sources),
        OpenItemSubject::Function { file, name } => {
            let rows = crate::facts::code_rows(evidence);
            let row = rows.iter().find(|row| row.file == file && row.function == name);
            Some(NoticePlace::at(file, row.map_or(0, |row| row.line), 0))
        }
        OpenItemSubject::Criterion(_) | OpenItemSubject::Test(_) | OpenItemSubject::Engine(_) => {
            None
        }
    });
    let message = item.reason().to_string();
    let notice = Notice::new(Rule::of_open_item(item.kind), weight, &item.name, message);
    notice.at(place.unwrap_or(NoticePlace::file(PROJECT_FILE)))
}
