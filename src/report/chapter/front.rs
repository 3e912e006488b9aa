//! The title page: identification in brief, the conclusion with its reasons, open items, the run in
//! numbers, and shares.
//!
//! Promises: it is one page, as far as conclusion and open items leave room; what has no room is
//! named with its chapter.
//! Does not cover: how it is set.

use super::links::{joined, listed};
use super::tones::verdict_tone;
use super::{conclusion, findings as findings_chapter, identification, open_item, summary};
use crate::document::{Block, Table, Text, Tone};
use crate::figures::{self, Part};
use crate::{facts, statement};
use std::collections::BTreeMap;
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::{Evidence, RequirementStatus};
use vkcert_model::procedure::TestKind;
use vkcert_model::verdict::{EngineName, Verdict};

/// The blocks of page 1.
pub(super) fn front(evidence: &Evidence, root: &str) -> Vec<Block> {
    let project = &evidence.campaign.project;
    let known_by = Block::Pairs(vec![
        ("Software level".into(), Text::plain(format!("DO-178C level {}", project.level))),
        ("Date".into(), identification::date(project.date.as_deref())),
        ("Root".into(), Text::code(root)),
    ]);
    let mut blocks = vec![known_by, conclusion::notice(evidence)];
    blocks.extend(open_item::brief_table(evidence).map(Block::Table));
    let pairs: Vec<(String, Text)> =
        numbers(evidence).into_iter().chain(made_by(evidence)).collect();
    let mut brief = pairs.clone();
    brief.splice(2..2, coverage(evidence));
    let brief = vec![Block::Pairs(brief)];
    blocks.push(match shares(evidence) {
        Some(table) => {
            Block::Fitting { whole: vec![Block::Pairs(pairs), Block::Table(table)], brief }
        }
        None => Block::Together(brief),
    });
    blocks
}

fn shares(evidence: &Evidence) -> Option<Table> {
    (!evidence.campaign.conclusion.summary.is_empty()).then(|| summary::shares(evidence))
}

/// Shares of all kernels together, where a row for each has no room.
fn coverage(evidence: &Evidence) -> Option<(String, Text)> {
    if evidence.campaign.conclusion.summary.is_empty() {
        return None;
    }
    let names = facts::measured_criteria(evidence);
    let Some(rows) = facts::coverage_totals(evidence, &names) else {
        return Some((
            "Coverage".to_owned(),
            Text::plain("per kernel, in its chapter").link(summary::ANCHOR),
        ));
    };
    let of_engines = rows.iter().map(|row| {
        let shares = row.criteria.iter().map(|summary| share(evidence, summary));
        let engines = row.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        Text::join(shares, ", ").then(format!(" on {engines}"))
    });
    let basis = Text::plain(": covered by tests that passed, of all obligations of all kernels")
        .link(summary::ANCHOR);
    Some(("Coverage".to_owned(), Text::join(of_engines, "; ").and(basis)))
}

/// A criterion with its share; what nobody asked for does not count against the result, whatever
/// its share is.
fn share(evidence: &Evidence, summary: &CriterionSummary) -> Text {
    let title = facts::criterion_title(&summary.criterion);
    if facts::asked_for(evidence, &summary.criterion) {
        return Text::plain(format!("{title} ")).and(summary::share_text(evidence, summary));
    }
    Text::quiet(format!("{title} {} (not asked for)", facts::share(summary)))
}

/// Tool and engines.
fn made_by(evidence: &Evidence) -> [(String, Text); 2] {
    let project = &evidence.campaign.project;
    let engines = evidence.campaign.engines.iter().map(|engine| {
        let state =
            if engine.ran { Text::empty() } else { Text::plain(" (not run)").tone(Tone::Caution) };
        let software = engine.identity.get("device type").is_some_and(|kind| kind == "cpu");
        let software = if software { " (software device, not a GPU)" } else { "" };
        let device = engine
            .identity
            .get("device")
            .map(|device| format!(": {device}{software}"))
            .unwrap_or_default();
        Text::plain(format!("{}{device}", engine.engine)).and(state)
    });
    let tool = format!("{} {}; compiler: {}", project.tool, project.tool_version, project.compiler);
    let engines = joined(engines, "; ", Tone::Caution);
    [("Engines".into(), engines), ("Tool".into(), Text::plain(tool))]
}

/// The run in numbers: each with what it is a number of.
fn numbers(evidence: &Evidence) -> Vec<(String, Text)> {
    let mut rows = vec![requirements(evidence)];
    rows.extend(tests(evidence));
    rows.extend(
        figures::agreement(evidence).map(|parts| ("Agreement".to_owned(), figure(parts, "; "))),
    );
    rows.push(("Coupling".to_owned(), coupling(evidence)));
    rows.extend(
        figures::additional_code(evidence)
            .map(|parts| ("Additional code".to_owned(), figure(parts, "; "))),
    );
    rows.push(("Uncovered".to_owned(), uncovered(evidence)));
    let justified = statement::justified(evidence);
    if justified > 0 {
        let count = Text::plain(statement::counted(justified, "obligation")).tone(Tone::Caution);
        rows.push(("Justified".to_owned(), count.link("chapter/justifications")));
    }
    rows.push(("Findings".to_owned(), findings(evidence)));
    rows
}

fn figure(parts: Vec<Part>, separator: &str) -> Text {
    Text::join(parts.into_iter().map(|(words, tone)| Text::plain(words).tone(tone)), separator)
}

fn coupling(evidence: &Evidence) -> Text {
    match figures::coupling(evidence) {
        parts if parts.is_empty() => Text::quiet("no kernel"),
        parts => figure(parts, ", "),
    }
}

fn uncovered(evidence: &Evidence) -> Text {
    let uncovered = facts::uncovered_obligations(evidence).len();
    let tone = if uncovered == 0 { Tone::Good } else { Tone::Bad };
    let text = match uncovered {
        0 if evidence.campaign.project.criteria.is_empty() => {
            return Text::quiet("no criterion is asked for");
        }
        0 => Text::plain("no obligation of the criteria asked for"),
        count => Text::plain(format!(
            "{} of the criteria asked for, counted per engine",
            statement::counted(count, "obligation")
        )),
    };
    text.tone(tone).link(findings_chapter::ANCHOR)
}

fn findings(evidence: &Evidence) -> Text {
    let (stand, accepted) = facts::finding_counts(&facts::findings(evidence));
    let (none, tone) = statement::no_findings(evidence);
    let findings = match stand {
        0 => Text::plain(none).tone(tone),
        count => Text::plain(count.to_string()).tone(Tone::Bad),
    };
    let accepted = match accepted {
        0 => Text::empty(),
        _ => Text::plain(format!(" + {accepted} accepted by justification")).tone(Tone::Caution),
    };
    findings.link("chapter/findings").and(accepted)
}

/// Requirements by status.
fn requirements(evidence: &Evidence) -> (String, Text) {
    let requirements = &evidence.campaign.requirements;
    let count =
        |status| requirements.iter().filter(|requirement| requirement.status == status).count();
    let rows = [
        (RequirementStatus::Verified, Tone::Good),
        (RequirementStatus::VerifiedByChildren, Tone::Good),
        (RequirementStatus::Failed, Tone::Bad),
        (RequirementStatus::Untested, Tone::Bad),
        (RequirementStatus::Open, Tone::Bad),
        (RequirementStatus::ByOtherMeans, Tone::Quiet),
    ];
    let parts = rows.into_iter().filter(|(status, _)| count(*status) > 0);
    let parts =
        parts.map(|(status, tone)| Text::plain(format!("{} {status}", count(status))).tone(tone));
    let suspect =
        requirements.iter().filter(|requirement| !requirement.suspect_parents.is_empty()).count();
    let suspect =
        (suspect > 0).then(|| Text::plain(format!("{suspect} with suspect links")).tone(Tone::Bad));
    (format!("Requirements ({})", requirements.len()), listed(parts.chain(suspect), Tone::Caution))
}

/// Tests by kind and by verdict; engines with the same verdicts are told at once.
fn tests(evidence: &Evidence) -> Vec<(String, Text)> {
    let tests = &evidence.campaign.tests;
    let label = format!("Tests ({})", tests.len());
    if tests.is_empty() {
        return vec![(label, Text::plain("none").tone(Tone::Bad))];
    }
    let robustness =
        tests.iter().filter(|test| test.definition.kind == TestKind::Robustness).count();
    let kinds = format!("{} normal range, {robustness} robustness", tests.len() - robustness);
    let mut by_counts: Vec<(BTreeMap<Verdict, u32>, Vec<EngineName>)> = Vec::new();
    for (engine, counts) in facts::verdict_counts(evidence) {
        match by_counts.iter_mut().find(|(known, _)| *known == counts) {
            Some((_, engines)) => engines.push(engine),
            None => by_counts.push((counts, vec![engine])),
        }
    }
    let verdicts = by_counts.iter().map(|(counts, engines)| verdicts(counts, engines, tests.len()));
    let orders = evidence.campaign.engines.iter().filter_map(|engine| {
        let counts = facts::schedule_counts(evidence, engine.engine)?;
        Some((format!("Orders, {}", engine.engine), Text::plain(counts)))
    });
    let all = Text::plain(kinds).then("; ").and(Text::join(verdicts, "; "));
    std::iter::once((label, all)).chain(orders).collect()
}

/// `15 pass on sequential and vulkan`
fn verdicts(counts: &BTreeMap<Verdict, u32>, engines: &[EngineName], total: usize) -> Text {
    let absent = total.saturating_sub(counts.values().sum::<u32>() as usize);
    let absent = (absent > 0).then(|| Text::plain(format!("{absent} not-run")).tone(Tone::Caution));
    let parts = counts.iter().map(|(verdict, count)| {
        Text::plain(format!("{count} {verdict}")).tone(verdict_tone(*verdict))
    });
    let engines = engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    Text::join(parts.chain(absent), ", ").then(format!(" on {engines}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_sample as sample;

    #[test]
    fn shares_that_nobody_asked_for_are_marked_and_no_defect() {
        let evidence = sample::evidence();
        let rows = evidence.campaign.conclusion.summary.iter().flat_map(|row| &row.criteria);
        let mut seen = [false; 2];
        for summary in rows {
            let Text(runs) = share(&evidence, summary);
            let asked = facts::asked_for(&evidence, &summary.criterion);
            let words: String = runs.iter().map(|run| run.text.as_str()).collect();
            assert_eq!(words.ends_with("(not asked for)"), !asked, "{words}");
            assert!(asked || runs.iter().all(|run| run.tone == Tone::Quiet), "{words}");
            seen[usize::from(asked)] = true;
        }
        assert_eq!(seen, [true, true]);
    }
}
