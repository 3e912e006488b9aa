//! The title page: identification in brief, the conclusion with its reasons, open items, the run in
//! numbers, and shares.
//!
//! Promises: it is one page, as far as conclusion and open items leave room; what has no room is
//! named with its chapter.
//! Does not cover: how it is set.

use super::links::{joined_texts, listed_texts};
use super::tones::verdict_tone;
use super::{
    conclusion, document_control, findings as findings_chapter, identification, mutation,
    objectives, open_item, summary,
};
use crate::DocumentName;
use crate::document::{Block, Table, Text, Tone};
use crate::figures::{self, FigurePart};
use crate::{facts, statement};
use std::collections::BTreeMap;
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::device_type::DeviceType;
use vkcert_model::evidence::{Evidence, MutationScore, RequirementStatus};
use vkcert_model::procedure::TestKind;
use vkcert_model::verdict::{EngineName, Verdict};

/// The blocks of page 1.
pub(super) fn front_blocks(evidence: &Evidence, root: &str) -> Vec<Block> {
    let known_by = Block::Pairs(known_by(evidence, DocumentName::All, root));
    let mut front_blocks = vec![known_by, conclusion::conclusion_notice(evidence)];
    front_blocks.extend(open_item::brief_table(evidence).map(Block::Table));
    let all_pairs: Vec<(String, Text)> =
        run_in_numbers(evidence).into_iter().chain(engines_and_tool(evidence)).collect();
    let mut brief_pairs = all_pairs.clone();
    brief_pairs.splice(2..2, coverage_pair(evidence));
    let brief_pairs = vec![Block::Pairs(brief_pairs)];
    front_blocks.push(match share_table(evidence) {
        Some(table) => Block::Fitting {
            whole: vec![Block::Pairs(all_pairs), Block::Table(table)],
            brief: brief_pairs,
        },
        None => Block::Together(brief_pairs),
    });
    front_blocks
}

/// What the document and its evidence are known by.
pub(super) fn known_by(
    evidence: &Evidence,
    document: DocumentName,
    root: &str,
) -> Vec<(String, Text)> {
    let project = &evidence.campaign.project;
    let mut known_by = document_control::identity_pairs(evidence, document);
    known_by.extend([
        (project.level.standard().level_label().into(), Text::plain(project.level.in_words())),
        (identification::DATE.into(), identification::date_text(project.date.as_deref())),
        ("Root".into(), Text::code(root)),
    ]);
    known_by
}

fn share_table(evidence: &Evidence) -> Option<Table> {
    (!evidence.campaign.conclusion.summary.is_empty()).then(|| summary::share_table(evidence))
}

/// Shares of all kernels together, where a row for each has no room.
fn coverage_pair(evidence: &Evidence) -> Option<(String, Text)> {
    if evidence.campaign.conclusion.summary.is_empty() {
        return None;
    }
    let criterion_names = facts::measured_criteria(evidence);
    let Some(rows) = facts::coverage_totals(evidence, &criterion_names) else {
        return Some((
            "Coverage".to_owned(),
            Text::plain("per kernel, in its chapter").with_link(summary::ANCHOR),
        ));
    };
    let of_engines = rows.iter().map(|row| {
        let shares = row.criteria.iter().map(|summary| criterion_share(evidence, summary));
        let engine_words =
            row.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        Text::join(shares, ", ").then_plain(format!(" on {engine_words}"))
    });
    let kernels = statement::all_kernels(evidence);
    let basis = format!(": covered by tests that passed, of all obligations of {kernels}");
    let basis = Text::plain(basis).with_link(summary::ANCHOR);
    Some(("Coverage".to_owned(), Text::join(of_engines, "; ").followed_by(basis)))
}

/// A criterion with its share; what nobody asked for does not count against the result, whatever
/// its share is.
fn criterion_share(evidence: &Evidence, summary: &CriterionSummary) -> Text {
    let title = facts::criterion_title(&summary.criterion);
    if facts::is_asked_for(evidence, &summary.criterion) {
        return Text::plain(format!("{title} "))
            .followed_by(summary::share_text(evidence, summary));
    }
    Text::quiet(format!("{title} {} (not asked for)", facts::share_in_words(summary)))
}

/// Tool and engines.
pub(super) fn engines_and_tool(evidence: &Evidence) -> [(String, Text); 2] {
    let engine_texts = evidence.campaign.engines.iter().map(|engine| {
        let engine_state = if engine.ran {
            Text::empty()
        } else {
            Text::plain(" (not run)").with_tone(Tone::Caution)
        };
        let software_words = match DeviceType::of_identity(&engine.identity) {
            Some(DeviceType::Cpu) => " (software device, not a GPU)",
            _ => "",
        };
        let device_words = engine
            .identity
            .get("device")
            .map(|device| format!(": {device}{software_words}"))
            .unwrap_or_default();
        Text::plain(format!("{}{device_words}", engine.engine)).followed_by(engine_state)
    });
    let engine_texts = joined_texts(engine_texts, "; ", Tone::Caution);
    [("Engines".into(), engine_texts), tool_pair(evidence)]
}

pub(super) fn tool_pair(evidence: &Evidence) -> (String, Text) {
    let project = &evidence.campaign.project;
    let words =
        format!("{} {}; compiler: {}", project.tool, project.tool_version, project.compiler);
    ("Tool".to_owned(), Text::plain(words))
}

/// The run in numbers: each with what it is a number of.
fn run_in_numbers(evidence: &Evidence) -> Vec<(String, Text)> {
    let mut number_rows = vec![requirements_pair(evidence)];
    let set_aside = statement::set_aside_kernels(evidence);
    number_rows.extend(set_aside.map(|words| {
        let text = Text::plain(words).with_tone(Tone::Bad);
        ("Kernels".to_owned(), text.with_link(identification::SET_ASIDE))
    }));
    number_rows.extend(test_pairs(evidence));
    number_rows.extend(
        figures::agreement_figure(evidence)
            .map(|parts| ("Agreement".to_owned(), figure_text(parts, "; "))),
    );
    number_rows.push(("Coupling".to_owned(), coupling_text(evidence)));
    number_rows.extend(
        figures::additional_code_figure(evidence)
            .map(|parts| ("Additional code".to_owned(), figure_text(parts, "; "))),
    );
    number_rows.push(("Uncovered".to_owned(), uncovered_text(evidence)));
    let justified_count = statement::justified_obligations(evidence);
    if justified_count > 0 {
        let justified_text =
            Text::plain(statement::counted(justified_count, "obligation")).with_tone(Tone::Caution);
        number_rows
            .push(("Justified".to_owned(), justified_text.with_link("chapter/justifications")));
    }
    number_rows.push(("Findings".to_owned(), findings_text(evidence)));
    let objectives = objectives::objectives_in_brief(evidence);
    number_rows.extend(objectives.map(|brief| ("Objectives".to_owned(), brief)));
    number_rows.extend(mutation_text(evidence).map(|text| ("Mutants".to_owned(), text)));
    number_rows
}

fn figure_text(parts: Vec<FigurePart>, separator: &str) -> Text {
    Text::join(parts.into_iter().map(|(words, tone)| Text::plain(words).with_tone(tone)), separator)
}

/// Beside the objectives, of which it changes none; none where mutants were not asked for.
fn mutation_text(evidence: &Evidence) -> Option<Text> {
    let summary = evidence.campaign.mutation.as_ref()?;
    let score = MutationScore::of_summary(summary);
    let is_whole = summary.asked.is_of_whole_project() && score.killed == score.judged;
    let tone = if is_whole { Tone::Good } else { Tone::Caution };
    let text = Text::plain(format!("score {}", summary.score_in_words())).with_tone(tone);
    let by_expectation = MutationScore::by_expectation(summary);
    let mut words = format!("; by expectations alone {by_expectation}");
    if let Some(uncounted) = summary.counts.uncounted_in_words() {
        words.push_str(&format!("; not counted: {uncounted}"));
    }
    if let Some(score) = summary.score_with_accepted() {
        words.push_str(&format!("; with the accepted ones {score}"));
    }
    Some(text.with_link(mutation::ANCHOR).then_plain(words))
}

fn coupling_text(evidence: &Evidence) -> Text {
    match figures::coupling_figure(evidence) {
        parts if parts.is_empty() => Text::quiet("no kernel"),
        parts => figure_text(parts, ", "),
    }
}

fn uncovered_text(evidence: &Evidence) -> Text {
    let uncovered_count = facts::uncovered_obligations(evidence).len();
    let tone = if uncovered_count == 0 { Tone::Good } else { Tone::Bad };
    let text = match uncovered_count {
        0 if evidence.campaign.project.criteria.is_empty() => {
            return Text::quiet("no criterion is asked for");
        }
        0 => Text::plain("no obligation of the criteria asked for"),
        count => Text::plain(format!(
            "{} of the criteria asked for, counted per engine",
            statement::counted(count, "obligation")
        )),
    };
    text.with_tone(tone).with_link(findings_chapter::ANCHOR)
}

fn findings_text(evidence: &Evidence) -> Text {
    let (standing_count, accepted_count) = facts::finding_counts(&facts::merged_findings(evidence));
    let (none_words, tone) = statement::no_findings(evidence);
    let findings_text = match standing_count {
        0 => Text::plain(none_words).with_tone(tone),
        count => Text::plain(count.to_string()).with_tone(Tone::Bad),
    };
    let accepted_count = match accepted_count {
        0 => Text::empty(),
        _ => Text::plain(format!(" + {accepted_count} accepted by justification"))
            .with_tone(Tone::Caution),
    };
    findings_text.with_link("chapter/findings").followed_by(accepted_count)
}

/// Requirements by status.
fn requirements_pair(evidence: &Evidence) -> (String, Text) {
    let requirements = &evidence.campaign.requirements;
    let status_count =
        |status| requirements.iter().filter(|requirement| requirement.status == status).count();
    let status_tones = [
        (RequirementStatus::Verified, Tone::Good),
        (RequirementStatus::VerifiedByChildren, Tone::Good),
        (RequirementStatus::Failed, Tone::Bad),
        (RequirementStatus::Untested, Tone::Bad),
        (RequirementStatus::Open, Tone::Bad),
        (RequirementStatus::ByOtherMeans, Tone::Quiet),
    ];
    let status_parts = status_tones.into_iter().filter(|(status, _)| status_count(*status) > 0);
    let status_parts = status_parts.map(|(status, tone)| {
        Text::plain(format!("{} {status}", status_count(status))).with_tone(tone)
    });
    let suspect_part =
        requirements.iter().filter(|requirement| !requirement.suspect_parents.is_empty()).count();
    let suspect_part = (suspect_part > 0)
        .then(|| Text::plain(format!("{suspect_part} with suspect links")).with_tone(Tone::Bad));
    (
        format!("Requirements ({})", requirements.len()),
        listed_texts(status_parts.chain(suspect_part), Tone::Caution),
    )
}

/// Tests by kind and by verdict; engines with the same verdicts are told at once.
fn test_pairs(evidence: &Evidence) -> Vec<(String, Text)> {
    let tests = &evidence.campaign.tests;
    let row_label = format!("Tests ({})", tests.len());
    if tests.is_empty() {
        return vec![(row_label, Text::plain("none").with_tone(Tone::Bad))];
    }
    let robustness_count =
        tests.iter().filter(|test| test.definition.kind == TestKind::Robustness).count();
    let kind_words =
        format!("{} normal range, {robustness_count} robustness", tests.len() - robustness_count);
    let mut by_counts: Vec<(BTreeMap<Verdict, u32>, Vec<EngineName>)> = Vec::new();
    for (engine, counts) in facts::verdict_counts(evidence) {
        match by_counts.iter_mut().find(|(known_counts, _)| *known_counts == counts) {
            Some((_, engines)) => engines.push(engine),
            None => by_counts.push((counts, vec![engine])),
        }
    }
    let verdict_parts =
        by_counts.iter().map(|(counts, engines)| verdicts_text(counts, engines, tests.len()));
    let order_rows = evidence.campaign.engines.iter().filter_map(|engine| {
        let counts = facts::schedule_counts(evidence, engine.engine)?;
        Some((format!("Orders, {}", engine.engine), Text::plain(counts)))
    });
    let all_words =
        Text::plain(kind_words).then_plain("; ").followed_by(Text::join(verdict_parts, "; "));
    std::iter::once((row_label, all_words)).chain(order_rows).collect()
}

/// `15 pass on sequential and vulkan`
fn verdicts_text(
    counts: &BTreeMap<Verdict, u32>,
    engine_words: &[EngineName],
    test_count: usize,
) -> Text {
    let absent_part = test_count.saturating_sub(counts.values().sum::<u32>() as usize);
    let absent_part = (absent_part > 0)
        .then(|| Text::plain(format!("{absent_part} not-run")).with_tone(Tone::Caution));
    let verdict_parts = counts.iter().map(|(verdict, count)| {
        Text::plain(format!("{count} {verdict}")).with_tone(verdict_tone(*verdict))
    });
    let engine_words =
        engine_words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    Text::join(verdict_parts.chain(absent_part), ", ").then_plain(format!(" on {engine_words}"))
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
            let Text(runs) = criterion_share(&evidence, summary);
            let asked = facts::is_asked_for(&evidence, &summary.criterion);
            let words: String = runs.iter().map(|run| run.text.as_str()).collect();
            assert_eq!(words.ends_with("(not asked for)"), !asked, "{words}");
            assert!(asked || runs.iter().all(|run| run.tone == Tone::Quiet), "{words}");
            seen[usize::from(asked)] = true;
        }
        assert_eq!(seen, [true, true]);
    }
}
