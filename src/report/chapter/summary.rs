//! The title page with the conclusion, and the summary per kernel and criterion.

use crate::model::evidence::{Evidence, RequirementStatus};
use crate::model::verdict::Verdict;
use crate::report::document::{Align, Block, Extent, Outline, Table, Text, Tone};
use crate::report::facts;

/// Rows of coverage that the title page has room for.
const FRONT_ROWS: usize = 14;

/// Identification in brief and the conclusion with its reasons.
pub fn front(evidence: &Evidence) -> Vec<Block> {
    let project = &evidence.campaign.project;
    let engines = evidence.campaign.engines.iter().map(|engine| {
        let state = if engine.ran { Text::empty() } else { Text::plain(" (not run)").tone(Tone::Caution) };
        let device = engine.identity.get("device").map(|device| format!(": {device}")).unwrap_or_default();
        Text::plain(format!("{}{device}", engine.engine)).and(state)
    });
    let mut blocks = vec![Block::Pairs(vec![
        ("Software level".into(), Text::plain(format!("DO-178C level {}", project.level))),
        ("Tool".into(), Text::plain(format!("{} {}", project.tool, project.tool_version))),
        ("Compiler".into(), Text::plain(project.compiler.as_str())),
        ("Engines".into(), Text::join(engines, "; ")),
        ("Date".into(), super::identification::date(project.date.as_deref())),
    ])];
    blocks.push(conclusion(evidence));
    blocks.push(Block::Table(overview(evidence)));
    if (1..=FRONT_ROWS).contains(&evidence.campaign.conclusion.summary.len()) {
        blocks.push(Block::Table(shares(evidence)));
    }
    blocks
}

/// Exit codes as the contract gives them, in words.
pub fn conclusion_title(evidence: &Evidence) -> (Tone, &'static str) {
    match evidence.campaign.conclusion.exit_code {
        0 => (Tone::Good, "All that was asked for holds"),
        1 => (Tone::Bad, "The evidence is not complete"),
        2 => (Tone::Bad, "An input is wrong"),
        3 => (Tone::Bad, "The tool failed"),
        4 => (Tone::Caution, "An engine, device or feature that was asked for is not available"),
        _ => (Tone::Bad, "Ended with an unknown exit code"),
    }
}

fn conclusion(evidence: &Evidence) -> Block {
    let conclusion = &evidence.campaign.conclusion;
    let (tone, title) = conclusion_title(evidence);
    let mut lines: Vec<Text> = conclusion.reasons.iter().map(|reason| Text::plain(reason.as_str())).collect();
    if lines.is_empty() && conclusion.exit_code == 0 {
        lines.push(
            "Every requirement to be verified by test has tests and they passed on every engine that ran; every \
             obligation of the criteria asked for is covered or justified; no finding stands."
                .into(),
        );
    }
    for engine in evidence.campaign.engines.iter().filter(|engine| !engine.ran) {
        let reason = engine.reason.as_deref().unwrap_or("no reason recorded");
        lines.push(format!("Not run on the engine {}: {reason}. Nothing is claimed for it.", engine.engine).into());
    }
    Block::Notice { tone, title: Text::strong(format!("{title} (exit code {})", conclusion.exit_code)), lines }
}

/// Counts of the run in one small table.
fn overview(evidence: &Evidence) -> Table {
    let mut table = Table::new("The run in numbers").column("Subject", Align::Left).column("Count", Align::Left);
    for (label, text) in requirement_counts(evidence).into_iter().chain(test_counts(evidence)) {
        table.row(vec![Text::plain(label), text]);
    }
    let open = facts::open_obligations(evidence).len();
    let tone = if open == 0 { Tone::Good } else { Tone::Bad };
    let open = Text::plain(if open == 0 { "none".to_owned() } else { open.to_string() }).tone(tone);
    table.row(vec!["Open obligations (per engine)".into(), open.link("chapter/open")]);
    let (stand, accepted) = facts::finding_counts(&facts::findings(evidence));
    let tone = if stand == 0 { Tone::Good } else { Tone::Bad };
    let findings = Text::plain(if stand == 0 { "none".to_owned() } else { stand.to_string() }).tone(tone);
    let accepted = match accepted {
        0 => Text::empty(),
        _ => Text::plain(format!(" + {accepted} accepted")).tone(Tone::Caution),
    };
    table.row(vec!["Findings".into(), findings.link("chapter/findings").and(accepted)]);
    table.extent(Extent::Full)
}

/// Label and counts of requirements by status.
fn requirement_counts(evidence: &Evidence) -> Vec<(String, Text)> {
    let requirements = &evidence.campaign.requirements;
    let count = |status| requirements.iter().filter(|requirement| requirement.status == status).count();
    let rows = [
        (RequirementStatus::Verified, Tone::Good),
        (RequirementStatus::VerifiedByChildren, Tone::Good),
        (RequirementStatus::Failed, Tone::Bad),
        (RequirementStatus::Untested, Tone::Bad),
        (RequirementStatus::ByOtherMeans, Tone::Quiet),
    ];
    let parts = rows.into_iter().filter(|(status, _)| count(*status) > 0);
    let parts = parts.map(|(status, tone)| Text::plain(format!("{} {status}", count(status))).tone(tone));
    let suspect = requirements.iter().filter(|requirement| !requirement.suspect_parents.is_empty()).count();
    let suspect = (suspect > 0).then(|| Text::plain(format!("{suspect} with suspect links")).tone(Tone::Bad));
    vec![(format!("Requirements ({})", requirements.len()), super::listed(parts.chain(suspect), Tone::Caution))]
}

fn test_counts(evidence: &Evidence) -> Vec<(String, Text)> {
    let total = evidence.campaign.tests.len();
    let row = |(engine, counts): (_, std::collections::BTreeMap<Verdict, u32>)| {
        let ran: u32 = counts.values().sum();
        let parts =
            counts.iter().map(|(verdict, n)| Text::plain(format!("{n} {verdict}")).tone(verdict_tone(*verdict)));
        let absent = (ran as usize) < total;
        let absent = absent.then(|| Text::plain(format!("{} not run", total - ran as usize)).tone(Tone::Caution));
        (format!("Tests ({total}) on {engine}"), Text::join(parts.chain(absent), ", "))
    };
    let orders = evidence.campaign.engines.iter().filter_map(|engine| {
        let counts = facts::schedule_counts(evidence, engine.engine)?;
        Some((format!("Orders of workgroups on {}", engine.engine), Text::plain(counts)))
    });
    facts::verdict_counts(evidence).into_iter().map(row).chain(orders).collect()
}

pub fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Pass => Tone::Good,
        Verdict::NotRun | Verdict::Unsupported => Tone::Caution,
        Verdict::Fail | Verdict::Error | Verdict::Timeout | Verdict::Undetermined => Tone::Bad,
    }
}

/// Shares per kernel, engine and criterion.
pub fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Structural coverage in summary", "chapter/summary");
    outline.paragraph(
        "Covered obligations of all obligations, per kernel, configuration and engine. Only tests that passed count. An obligation \
         that cannot be measured is undetermined: it stays in the total and counts as not covered. Shares are rounded \
         down. The rows that each share counts stand in the chapter of the kernel.",
    );
    outline.table(shares(evidence));
}

fn shares(evidence: &Evidence) -> Table {
    let names = facts::measured_criteria(evidence);
    let mut table = Table::new("Coverage by kernel, engine and criterion").columns(&["Kernel", "Engine"]);
    for name in &names {
        let mark = if facts::asked_for(evidence, name) { "" } else { " (not asked for)" };
        table = table.column(format!("{}{mark}", facts::criterion_title(name)), Align::Right);
    }
    for row in &evidence.campaign.conclusion.summary {
        let unit = facts::unit(evidence, &row.kernel, &row.configuration);
        let mut cells = vec![super::unit_link(&unit), Text::plain(row.engine.to_string())];
        for name in &names {
            let summary = row.criteria.iter().find(|summary| summary.criterion == *name);
            cells.push(summary.map_or_else(|| Text::quiet("not measured"), share_text));
        }
        table.row(cells);
    }
    table
}

/// A share with the tone of its completeness.
pub fn share_text(summary: &crate::model::coverage::CriterionSummary) -> Text {
    let tone = match (summary.total, summary.complete()) {
        (0, _) => Tone::Quiet,
        (_, true) => Tone::Good,
        (_, false) => Tone::Bad,
    };
    let undetermined = match summary.undetermined {
        0 => String::new(),
        n => format!(", {n} undetermined"),
    };
    Text::plain(format!("{}{undetermined}", facts::share(summary))).tone(tone)
}
