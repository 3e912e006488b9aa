//! What stands against the evidence: uncovered obligations and findings.

use super::identifiers::compact_ids;
use super::justifications::class_words;
use super::links::{kernel_link, listed_texts, test_link, unit_link};
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::facts::{self, UncoveredObligation};
use crate::statement;
use std::collections::BTreeMap;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::Evidence;
use vkcert_model::finding::{Acceptance, FindingKind};

/// Where the chapter on uncovered obligations begins.
pub(super) const ANCHOR: &str = "chapter/uncovered";

pub(super) fn uncovered_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Uncovered obligations", ANCHOR);
    let open_obligations = facts::uncovered_obligations(evidence);
    if evidence.campaign.project.criteria.is_empty() {
        outline.add_paragraph(
            "No criterion of structural coverage is asked for, so that none is uncovered.",
        );
        return;
    }
    if open_obligations.is_empty() {
        outline.add_paragraph(
            "None: every obligation of the criteria asked for is covered or justified.",
        );
        return;
    }
    outline.add_paragraph(format!(
        "{} of the criteria asked for, counted per engine: neither covered nor justified; undetermined ones are among them.",
        statement::counted(open_obligations.len(), "obligation")
    ));
    let proposal_count = open_obligations.iter().filter(|item| item.proposal.is_some()).count();
    if proposal_count > 0 {
        outline.add_paragraph(Text::sentence(format!(
            "{proposal_count} of them cannot be covered under their configuration; `vkcert list obligations --propose` prints a \
             justification to review for each.",
        )));
    }
    for unit in facts::kernel_units(evidence) {
        let merged_rows = facts::merged_obligations(
            open_obligations.iter().filter(|obligation| obligation.unit == unit),
        );
        let title = Text::plain("Uncovered in kernel ").followed_by(unit_link(&unit));
        match merged_rows.len() {
            0 => {}
            1..=LISTED_IN_FULL => outline.add_table(obligation_table(title, merged_rows)),
            _ => outline.add_table(reason_table(title, merged_rows)),
        }
    }
}

/// A kernel with more uncovered obligations than this has them by reason here; its chapter has
/// each.
const LISTED_IN_FULL: usize = 400;

fn obligation_table(title: Text, rows: Vec<(&UncoveredObligation, Vec<String>)>) -> Table {
    let column_titles =
        ["Obligation", "Criterion", "Engines", "Line:column", "Text", "Status and reason"];
    let mut table = Table::new(title).columns(&column_titles);
    for (obligation, engines) in rows {
        table.add_row(uncovered_row(obligation, engines));
    }
    table
}

/// One row for all obligations of a criterion that are uncovered for the same reason. What a test
/// of MC/DC lacks is told with the decision alone.
fn reason_table(title: Text, rows: Vec<(&UncoveredObligation, Vec<String>)>) -> Table {
    let mut obligations_by_group: BTreeMap<(usize, String, String), Vec<&str>> = BTreeMap::new();
    let mut criterion_names: Vec<CriterionName> = Vec::new();
    for (item, engines) in &rows {
        let criterion_index =
            criterion_names.iter().position(|name| *name == item.criterion).unwrap_or_else(|| {
                criterion_names.push(item.criterion);
                criterion_names.len() - 1
            });
        let reason = match item.explained_by_decision {
            true => "see the decision",
            false => item.reason.as_str(),
        };
        let status_words = format!("{} {}", facts::status_symbol(item.status), item.status);
        let status_words =
            if reason.is_empty() { status_words } else { format!("{status_words}: {reason}") };
        obligations_by_group
            .entry((criterion_index, engines.join(", "), status_words))
            .or_default()
            .push(&item.obligation);
    }
    let title = title.then_plain(", by reason; each stands with its place in the kernel's chapter");
    let mut table = Table::new(title).columns(&["Criterion", "Engines", "Status and reason"]);
    table = table
        .with_column("Count", ColumnAlign::Right)
        .with_column("Obligations", ColumnAlign::Left);
    for ((criterion_index, engines, status_words), obligations) in obligations_by_group {
        table.add_row(vec![
            Text::plain(facts::column_title(criterion_names[criterion_index])),
            Text::plain(engines),
            Text::sentence(status_words).with_tone(Tone::Bad),
            Text::plain(obligations.len().to_string()),
            Text::code(compact_ids(obligations.into_iter())),
        ]);
    }
    table
}

fn uncovered_row(item: &UncoveredObligation, engines: Vec<String>) -> Vec<Text> {
    let obligation_anchor = match item.decision {
        Some(decision) => format!("{}/{}", item.unit.chapter_anchor(), decision.id),
        None => format!("{}/{}", item.unit.chapter_anchor(), item.criterion),
    };
    let reason_words =
        if item.reason.is_empty() { String::new() } else { format!(": {}", item.reason) };
    let proposal_words = match item.proposal {
        None => Text::empty(),
        Some(proposal_words) => {
            Text::plain(format!(" (proposed: {})", class_words(proposal_words.class)))
                .with_tone(Tone::Caution)
        }
    };
    vec![
        Text::code(item.obligation.as_str()).with_link(obligation_anchor),
        Text::plain(facts::column_title(item.criterion)),
        Text::plain(engines.join(", ")),
        Text::code(facts::source_place(item.source, item.file, item.line, item.column)),
        Text::code(item.shown_text()),
        Text::plain(format!("{}\u{a0}{}", facts::status_symbol(item.status), item.status))
            .with_tone(Tone::Bad)
            .followed_by(Text::sentence(reason_words))
            .followed_by(proposal_words),
    ]
}

/// Who looks for a kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindSource {
    /// It watches every access and value. Of a device the same is seen by chance at best: guard zones
    /// around buffers, a run that does not end.
    SequentialEngine,
    /// Compiled modules, host interfaces, the device's validation layers, outputs side by side.
    ModulesHostAndComparison,
}

fn kind_source(kind: FindingKind) -> KindSource {
    match kind {
        FindingKind::DataRace
        | FindingKind::BarrierDivergence
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::NoTermination => KindSource::SequentialEngine,
        FindingKind::UntracedBranch
        | FindingKind::ScheduleDependentOutput
        | FindingKind::EngineDisagreement
        | FindingKind::Validation
        | FindingKind::Coupling => KindSource::ModulesHostAndComparison,
    }
}

/// Which kinds of a source were looked for everywhere; none where no kind was.
fn sought_sentence(evidence: &Evidence, source: KindSource) -> Option<String> {
    let is_unsought = |kind: FindingKind| {
        evidence.campaign.unsought.iter().any(|unsought_row| unsought_row.kind == kind)
    };
    let sought_kinds: Vec<&str> = FindingKind::ALL
        .iter()
        .filter(|(kind, _)| kind_source(*kind) == source && !is_unsought(*kind))
        .map(|(_, name)| *name)
        .collect();
    let source_words = match source {
        KindSource::SequentialEngine => "Looked for in what the sequential engine executed",
        KindSource::ModulesHostAndComparison => {
            "Looked for in modules, host interfaces and what was compared"
        }
    };
    (!sought_kinds.is_empty()).then(|| format!("{source_words}: {}.", sought_kinds.join(", ")))
}

pub(super) fn findings_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Findings", "chapter/findings");
    let findings = facts::merged_findings(evidence);
    for kinds in statement::unsought_kinds(evidence) {
        outline.add_paragraph(
            Text::plain(format!("Not looked for, or not everywhere: {kinds}."))
                .with_tone(Tone::Caution),
        );
    }
    if statement::holds_items(&evidence.campaign) {
        [KindSource::SequentialEngine, KindSource::ModulesHostAndComparison]
            .into_iter()
            .filter_map(|source| sought_sentence(evidence, source))
            .for_each(|sentence| outline.add_paragraph(sentence));
    }
    if findings.is_empty() {
        outline.add_paragraph("None: no check that the run made found a defect.");
        return;
    }
    outline.add_paragraph(
        "Defects that a run or a check showed, beside the verdicts. Equal ones are merged over tests and engines.",
    );
    let accepted_count =
        findings.iter().filter(|merged_finding| !merged_finding.finding.stands()).count();
    if accepted_count > 0 {
        outline.add_paragraph(format!(
            "{accepted_count} of {} are accepted by a justification (J) and do not count against the result.",
            findings.len()
        ));
    }
    let mut table = Table::new("Findings")
        .columns(&["Kind", "Finding"])
        .with_column("Count", ColumnAlign::Right)
        .columns(&["Place", "Shown by"]);
    for merged_finding in findings {
        let finding = merged_finding.finding;
        let place_text = |place: &vkcert_model::place::Place| Text::code(place.to_string());
        let other_place =
            finding.other_place.iter().filter(|place| finding.place.as_ref() != Some(place));
        let places = finding.place.iter().chain(other_place).map(place_text);
        let witness_words = match finding.invocations.len() {
            0 => String::new(),
            1 => {
                format!(
                    " Invocation {}.",
                    facts::invocation_in_words(finding.invocations.first().copied())
                )
            }
            _ => {
                let invocation_ids = finding
                    .invocations
                    .iter()
                    .map(|id| facts::invocation_in_words(Some(*id)))
                    .collect::<Vec<_>>();
                format!(" Invocations {}.", invocation_ids.join(" and "))
            }
        };
        let stored_details = finding.stored_details();
        let detail_words =
            stored_details.iter().map(|(name, value)| format!("{name} {}", value_in_words(value)));
        let detail_words = detail_words.collect::<Vec<_>>().join("; ");
        let detail_words = if detail_words.is_empty() {
            Text::empty()
        } else {
            Text::quiet(format!(" ({detail_words})"))
        };
        let has_several = |name: &&String| {
            merged_finding
                .kernels
                .iter()
                .any(|kernel| facts::kernel_unit(evidence, kernel, name).configuration.is_some())
        };
        let configuration_words = finding.configuration.as_ref().filter(has_several);
        let configuration_words =
            configuration_words.map(|name| format!(" [{name}]")).unwrap_or_default();
        let acceptance_words = match &finding.acceptance {
            None => Text::empty(),
            Some(Acceptance { id, justification: None, .. }) => {
                Text::plain(" Name: ").followed_by(Text::code(id.as_str()))
            }
            Some(Acceptance { id, justification: Some(reason), .. }) => Text::plain(" ")
                .followed_by(Text::code(id.as_str()))
                .followed_by(Text::strong(" J accepted").with_tone(Tone::Caution))
                .then_plain(format!(": {reason}")),
        };
        let engine_words = match merged_finding.engines.is_empty() {
            true => Text::quiet("analysis"),
            false => Text::join(
                merged_finding.engines.iter().map(|engine| Text::plain(engine.to_string())),
                ", ",
            ),
        };
        let test_links = merged_finding.tests.iter().map(|id| test_link(id));
        let shown_by = Text::join(std::iter::once(engine_words).chain(test_links), ", ");
        table.add_row(vec![
            Text::strong(finding.kind.name()).with_tone(if finding.stands() {
                Tone::Bad
            } else {
                Tone::Caution
            }),
            Text::sentence(format!("{}.{witness_words}", finding.message.trim_end_matches('.')))
                .followed_by(detail_words)
                .followed_by(acceptance_words),
            Text::plain(merged_finding.count.to_string()),
            listed_texts(places, Tone::Quiet),
            listed_texts(merged_finding.kernels.iter().map(|name| kernel_link(name)), Tone::Quiet)
                .then_plain(configuration_words)
                .then_plain(": ")
                .followed_by(shown_by),
        ]);
    }
    outline.add_table(table);
}

fn value_in_words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(values) => {
            values.iter().map(value_in_words).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
