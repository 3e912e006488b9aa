//! The title page, and the summary per kernel and criterion.

use crate::model::evidence::{Evidence, RequirementStatus};
use crate::model::procedure::TestKind;
use crate::model::verdict::Verdict;
use crate::report::document::{Align, Block, Extent, Outline, Table, Text, Tone};
use crate::report::{facts, statement};

/// What shares count, where it is more than their name says.
pub const COUNTED: &str = "Statement: each executable statement. Branch: each outcome of a decision that directs control flow and \
    each label of a switch; without source each outcome of a branch of the module. Decision: each outcome of a decision, and each \
    entry and exit point of a function that the entry point reaches. MC/DC: each condition.";

/// Rows of coverage that the title page has room for.
const FRONT_ROWS: usize = 14;

/// Identification in brief and the conclusion with its reasons.
pub fn front(evidence: &Evidence, root: &str) -> Vec<Block> {
    let project = &evidence.campaign.project;
    let engines = evidence.campaign.engines.iter().map(|engine| {
        let state = if engine.ran { Text::empty() } else { Text::plain(" (not run)").tone(Tone::Caution) };
        let software = engine.identity.get("device type").is_some_and(|kind| kind == "cpu");
        let software = if software { " (software device, not a GPU)" } else { "" };
        let device = engine.identity.get("device").map(|device| format!(": {device}{software}")).unwrap_or_default();
        Text::plain(format!("{}{device}", engine.engine)).and(state)
    });
    let mut blocks = vec![Block::Pairs(vec![
        ("Software level".into(), Text::plain(format!("DO-178C level {}", project.level))),
        ("Date".into(), super::identification::date(project.date.as_deref())),
        ("Root".into(), Text::code(root)),
    ])];
    blocks.push(super::conclusion::notice(evidence));
    blocks.extend(super::open_item::brief_table(evidence).map(Block::Table));
    blocks.push(Block::Pairs(vec![
        ("Tool".into(), Text::plain(format!("{} {}", project.tool, project.tool_version))),
        ("Compiler".into(), Text::plain(project.compiler.as_str())),
        ("Engines".into(), Text::join(engines, "; ")),
    ]));
    blocks.push(Block::Table(overview(evidence)));
    if (1..=FRONT_ROWS).contains(&evidence.campaign.conclusion.summary.len()) {
        blocks.push(Block::Table(shares(evidence)));
    }
    blocks
}

/// Counts of the run in one small table.
fn overview(evidence: &Evidence) -> Table {
    let mut table = Table::new("The run in numbers").column("Subject", Align::Left).column("Count", Align::Left);
    for (label, text) in requirement_counts(evidence).into_iter().chain(test_counts(evidence)) {
        table.row(vec![Text::plain(label), text]);
    }
    let open = facts::open_obligations(evidence).len();
    let tone = if open == 0 { Tone::Good } else { Tone::Bad };
    let open = match open {
        0 if evidence.campaign.project.criteria.is_empty() => Text::quiet("no criterion asked for"),
        0 => Text::plain("none").tone(tone),
        n => Text::plain(n.to_string()).tone(tone),
    };
    table.row(vec!["Open obligations (per engine)".into(), open.link("chapter/open")]);
    if statement::justified(evidence) > 0 {
        let count = Text::plain(statement::justified(evidence).to_string()).tone(Tone::Caution);
        table.row(vec!["Justified obligations".into(), count.link("chapter/justifications")]);
    }
    let (stand, accepted) = facts::finding_counts(&facts::findings(evidence));
    let (none, tone) = statement::no_findings(evidence);
    let findings = match stand {
        0 => Text::plain(none).tone(tone),
        n => Text::plain(n.to_string()).tone(Tone::Bad),
    };
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
        (RequirementStatus::Open, Tone::Bad),
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
    let robustness = evidence.campaign.tests.iter().filter(|test| test.definition.kind == TestKind::Robustness).count();
    let kinds = Text::plain(format!("{} normal range, {robustness} robustness", total - robustness));
    let kinds = (total > 0).then(|| ("Test cases by kind".to_owned(), kinds));
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
    kinds.into_iter().chain(facts::verdict_counts(evidence).into_iter().map(row)).chain(orders).collect()
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
        "Covered obligations of all obligations, per kernel, configuration and engine. Only tests that passed and \
         judge what the kernel stores count. An obligation \
         that cannot be measured is undetermined: it stays in the total and counts as not covered. Shares are rounded \
         down. The rows that each share counts stand in the chapter of the kernel.",
    );
    outline.table(shares(evidence));
    outline.paragraph(Text::quiet(COUNTED));
}

fn shares(evidence: &Evidence) -> Table {
    let names = facts::measured_criteria(evidence);
    let caption = format!("Coverage by kernel, engine and criterion. {}", statement::basis_of_shares(evidence));
    let mut table = Table::new(caption).columns(&["Kernel", "Engine"]);
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
