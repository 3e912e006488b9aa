//! What stands against the evidence: uncovered obligations and findings; and the justifications
//! that were given.

use super::identifiers::compact;
use super::links::{kernel_link, listed, test_link, unit_link};
use crate::document::{Align, Block, Outline, Table, Text, Tone};
use crate::facts::{self, UncoveredObligation};
use crate::statement;
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, JustificationEvidence};
use vkcert_model::finding::{Acceptance, FindingKind};
use vkcert_model::requirement::JustificationClass;

/// Where the chapter on uncovered obligations begins.
pub(super) const ANCHOR: &str = "chapter/uncovered";

pub(super) fn uncovered_obligations(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Uncovered obligations", ANCHOR);
    let open = facts::uncovered_obligations(evidence);
    if evidence.campaign.project.criteria.is_empty() {
        outline.paragraph(
            "No criterion of structural coverage is asked for, so that none is uncovered.",
        );
        return;
    }
    if open.is_empty() {
        outline
            .paragraph("None: every obligation of the criteria asked for is covered or justified.");
        return;
    }
    outline.paragraph(format!(
        "{} of the criteria asked for, counted per engine: neither covered nor justified; undetermined ones are among them.",
        statement::counted(open.len(), "obligation")
    ));
    let proposals = open.iter().filter(|item| item.proposal.is_some()).count();
    if proposals > 0 {
        outline.paragraph(Text::sentence(format!(
            "{proposals} of them cannot be covered under their configuration; `vkcert list obligations --propose` prints a \
             justification to review for each.",
        )));
    }
    for unit in facts::units(evidence) {
        let rows = facts::merged_obligations(open.iter().filter(|o| o.unit == unit));
        let title = Text::plain("Uncovered in kernel ").and(unit_link(&unit));
        match rows.len() {
            0 => {}
            1..=LISTED_IN_FULL => outline.table(each_obligation(title, rows)),
            _ => outline.table(obligations_by_reason(title, rows)),
        }
    }
}

/// A kernel with more uncovered obligations than this has them by reason here; its chapter has
/// each.
const LISTED_IN_FULL: usize = 400;

fn each_obligation(title: Text, rows: Vec<(&UncoveredObligation, Vec<String>)>) -> Table {
    let columns =
        ["Obligation", "Criterion", "Engines", "Line:column", "Text", "Status and reason"];
    let mut table = Table::new(title).columns(&columns);
    for (obligation, engines) in rows {
        table.row(row(obligation, engines));
    }
    table
}

/// One row for all obligations of a criterion that are uncovered for the same reason. What a test
/// of MC/DC lacks is told with the decision alone.
fn obligations_by_reason(title: Text, rows: Vec<(&UncoveredObligation, Vec<String>)>) -> Table {
    let mut groups: BTreeMap<(usize, String, String), Vec<&str>> = BTreeMap::new();
    let mut criteria: Vec<&'static str> = Vec::new();
    for (item, engines) in &rows {
        let place = criteria.iter().position(|name| *name == item.criterion).unwrap_or_else(|| {
            criteria.push(item.criterion);
            criteria.len() - 1
        });
        let reason = match item.explained_by_decision {
            true => "see the decision",
            false => item.reason.as_str(),
        };
        let status = format!("{} {}", facts::status_symbol(item.status), item.status);
        let status = if reason.is_empty() { status } else { format!("{status}: {reason}") };
        groups.entry((place, engines.join(", "), status)).or_default().push(&item.obligation);
    }
    let title = title.then(", by reason; each stands with its place in the kernel's chapter");
    let mut table = Table::new(title).columns(&["Criterion", "Engines", "Status and reason"]);
    table = table.column("Count", Align::Right).column("Obligations", Align::Left);
    for ((place, engines, status), obligations) in groups {
        table.row(vec![
            Text::plain(facts::criterion_title(criteria[place])),
            Text::plain(engines),
            Text::sentence(status).tone(Tone::Bad),
            Text::plain(obligations.len().to_string()),
            Text::code(compact(obligations.into_iter())),
        ]);
    }
    table
}

fn row(item: &UncoveredObligation, engines: Vec<String>) -> Vec<Text> {
    let anchor = match item.decision {
        Some(decision) => format!("{}/{}", item.unit.anchor(), decision.id),
        None => format!("{}/{}", item.unit.anchor(), item.criterion),
    };
    let reason = if item.reason.is_empty() { String::new() } else { format!(": {}", item.reason) };
    let proposal = match item.proposal {
        None => Text::empty(),
        Some(proposal) => {
            Text::plain(format!(" (proposed: {})", class(proposal.class))).tone(Tone::Caution)
        }
    };
    vec![
        Text::code(item.obligation.as_str()).link(anchor),
        Text::plain(facts::criterion_title(item.criterion)),
        Text::plain(engines.join(", ")),
        Text::code(facts::place(item.source, item.file, item.line, item.column)),
        Text::code(item.text),
        Text::plain(format!("{}\u{a0}{}", facts::status_symbol(item.status), item.status))
            .tone(Tone::Bad)
            .and(Text::sentence(reason))
            .and(proposal),
    ]
}

pub(super) fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Findings", "chapter/findings");
    let findings = facts::findings(evidence);
    for kinds in statement::unsought(evidence) {
        outline.paragraph(
            Text::plain(format!("Not looked for, or not everywhere: {kinds}.")).tone(Tone::Caution),
        );
    }
    let unsought =
        |kind: &FindingKind| evidence.campaign.unsought.iter().any(|row| row.kind == *kind);
    let sought = FindingKind::ALL.iter().map(|(kind, _)| kind).filter(|kind| !unsought(kind));
    let sought: Vec<&str> = sought.map(|kind| kind.name()).collect();
    if statement::holds_items(&evidence.campaign) && !sought.is_empty() {
        outline.paragraph(format!(
            "Looked for in all that ran and was compared: {}.",
            sought.join(", ")
        ));
    }
    if findings.is_empty() {
        outline.paragraph("None: no check that the run made found a defect.");
        return;
    }
    outline.paragraph(
        "Defects that a run or a check showed, beside the verdicts. Equal ones are merged over tests and engines.",
    );
    let accepted = findings.iter().filter(|merged| !merged.finding.stands()).count();
    if accepted > 0 {
        outline.paragraph(format!(
            "{accepted} of {} are accepted by a justification (J) and do not count against the result.",
            findings.len()
        ));
    }
    let mut table = Table::new("Findings")
        .columns(&["Kind", "Finding"])
        .column("Count", Align::Right)
        .columns(&["Place", "Shown by"]);
    for merged in findings {
        let finding = merged.finding;
        let place = |place: &vkcert_model::place::Place| Text::code(place.to_string());
        let other =
            finding.other_place.iter().filter(|other| finding.place.as_ref() != Some(other));
        let places = finding.place.iter().chain(other).map(place);
        let witness = match finding.invocations.len() {
            0 => String::new(),
            1 => {
                format!(" Invocation {}.", facts::invocation(finding.invocations.first().copied()))
            }
            _ => {
                let ids = finding
                    .invocations
                    .iter()
                    .map(|id| facts::invocation(Some(*id)))
                    .collect::<Vec<_>>();
                format!(" Invocations {}.", ids.join(" and "))
            }
        };
        let details =
            finding.details.iter().map(|(name, value)| format!("{name} {}", shown(value)));
        let details = details.collect::<Vec<_>>().join("; ");
        let details =
            if details.is_empty() { Text::empty() } else { Text::quiet(format!(" ({details})")) };
        let several = |name: &&String| {
            merged
                .kernels
                .iter()
                .any(|kernel| facts::unit(evidence, kernel, name).configuration.is_some())
        };
        let configuration = finding.configuration.as_ref().filter(several);
        let configuration = configuration.map(|name| format!(" [{name}]")).unwrap_or_default();
        let acceptance = match &finding.acceptance {
            None => Text::empty(),
            Some(Acceptance { id, justification: None, .. }) => {
                Text::plain(" Name: ").and(Text::code(id.as_str()))
            }
            Some(Acceptance { id, justification: Some(reason), .. }) => Text::plain(" ")
                .and(Text::code(id.as_str()))
                .and(Text::strong(" J accepted").tone(Tone::Caution))
                .then(format!(": {reason}")),
        };
        let engines = match merged.engines.is_empty() {
            true => Text::quiet("analysis"),
            false => Text::join(
                merged.engines.iter().map(|engine| Text::plain(engine.to_string())),
                ", ",
            ),
        };
        let tests = merged.tests.iter().map(|id| test_link(id));
        let shown = Text::join(std::iter::once(engines).chain(tests), ", ");
        table.row(vec![
            Text::strong(finding.kind.name()).tone(if finding.stands() {
                Tone::Bad
            } else {
                Tone::Caution
            }),
            Text::sentence(format!("{}.{witness}", finding.message.trim_end_matches('.')))
                .and(details)
                .and(acceptance),
            Text::plain(merged.count.to_string()),
            listed(places, Tone::Quiet),
            listed(merged.kernels.iter().map(|name| kernel_link(name)), Tone::Quiet)
                .then(configuration)
                .then(": ")
                .and(shown),
        ]);
    }
    outline.table(table);
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

pub(super) fn justifications(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Justifications", "chapter/justifications");
    let list = &evidence.campaign.justifications;
    if list.is_empty() {
        outline.paragraph("None were given.");
        return;
    }
    for item in list {
        let justification = &item.justification;
        let state = match (&item.rejected, &item.not_judged) {
            (Some(reason), _) => {
                Text::strong("✗ rejected").tone(Tone::Bad).then(format!(": {reason}"))
            }
            (None, Some(reason)) => {
                Text::plain("– not judged").tone(Tone::Caution).then(format!(": {reason}"))
            }
            (None, None) => Text::plain("✓ accepted").tone(Tone::Good),
        };
        let configuration = justification.configuration.as_ref();
        let configuration =
            configuration.map(|name| format!(", configuration {name}")).unwrap_or_default();
        outline.push(Block::Together(vec![
            Block::Paragraph(
                Text::strong(justification.subject.to_string())
                    .then(" of kernel ")
                    .and(kernel_link(&justification.kernel))
                    .then(configuration.clone())
                    .then(format!(": {}. ", class(justification.class)))
                    .and(state),
            ),
            Block::Pairs(stated(item)),
        ]));
    }
}

/// What a justification states, with names.
fn stated(item: &JustificationEvidence) -> Vec<(String, Text)> {
    let justification = &item.justification;
    let category = justification.category.map(|category| category.to_string());
    let optional = [
        ("Meant to run", category.as_deref()),
        ("Means", justification.means.as_deref()),
        ("Argument", justification.argument.as_deref()),
    ];
    let optional =
        optional.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Text::plain(text?))));
    let signed = [
        ("Author".to_owned(), Text::plain(justification.author.as_str())),
        ("Approver".to_owned(), Text::plain(justification.approver.as_str())),
        ("File".to_owned(), Text::code(item.file.as_str())),
        ("Hash".to_owned(), Text::code(justification.hash.as_str())),
    ];
    let reason = ("Reason".to_owned(), Text::plain(justification.reason.as_str()));
    std::iter::once(reason).chain(optional).chain(signed).collect()
}

fn class(class: JustificationClass) -> &'static str {
    match class {
        JustificationClass::MissingTest => "missing test",
        JustificationClass::MissingRequirement => "missing requirement",
        JustificationClass::Extraneous => "extraneous code",
        JustificationClass::Dead => "dead code",
        JustificationClass::Deactivated => "deactivated code",
        JustificationClass::Defensive => "defensive code",
        JustificationClass::Infeasible => "infeasible",
        JustificationClass::Analysis => "shown by analysis",
    }
}
