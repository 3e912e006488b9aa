//! The summary at the end of a run: what an engineer looks at first, in one screen.
//!
//! Promises: no line is wider than the terminal, and nothing is cut: long text goes on in the next
//! line; colour repeats what words and symbols say; the conclusion comes last.

mod failures;
mod items;
mod measure;
mod page;
mod rows;
mod shares;
mod titles;
mod uncovered;

use super::chapter::{requirement_tone, verdict_tone};
use super::document::Tone;
use super::facts::MergedFinding;
use super::{Format, Presentation, ReportError, facts, figures, statement};
pub use measure::wrap;
use measure::{column_width, pad_to};
use page::{LABEL, LISTED, SummaryPage, tone_symbol};
use rayon::prelude::*;
use rows::ListRow;
use vkcert_model::evidence::{
    Evidence, MutationScore, RelationPairs, RequirementEvidence, RequirementStatus,
};

pub(super) struct Terminal;

impl Format for Terminal {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let root = evidence.root()?;
        // Some look through all of the evidence: each is written on a core of its own.
        let sections = sections().into_par_iter().map(|write_section| {
            let mut page = SummaryPage { text: String::new(), presentation };
            write_section(&mut page, evidence);
            page.text
        });
        let text = sections.collect::<Vec<_>>().concat();
        let mut page = SummaryPage { text, presentation };
        page.write_hashes(&root);
        page.write_conclusion(evidence);
        page.write_stamp();
        Ok(page.text.into_bytes())
    }
}

/// What stands before the hashes, in this order.
fn sections<'p>() -> [fn(&mut SummaryPage<'p>, &Evidence); 17] {
    [
        |page, _| page.write_stamp(),
        SummaryPage::write_title,
        SummaryPage::write_set_aside,
        SummaryPage::write_coverage,
        SummaryPage::write_averages,
        SummaryPage::write_tests,
        SummaryPage::write_failures,
        SummaryPage::write_figures,
        SummaryPage::write_requirements,
        SummaryPage::write_findings,
        SummaryPage::write_uncovered,
        SummaryPage::write_justified,
        SummaryPage::write_mutation,
        SummaryPage::write_open_items,
        SummaryPage::write_not_looked_for,
        SummaryPage::write_notes,
        SummaryPage::write_next_steps,
    ]
}

impl SummaryPage<'_> {
    fn write_title(&mut self, evidence: &Evidence) {
        let project = &evidence.campaign.project;
        let project_details =
            format!("{}  ·  {} {}", project.level.in_words(), project.tool, project.tool_version);
        self.write_line("");
        let room_columns = self.page_width() - 2;
        if column_width(&project.name) + column_width(&project_details) + 2 <= room_columns {
            let line = format!(
                "  {}  {}",
                self.strong_text(&project.name),
                self.painted(&project_details, Tone::Quiet)
            );
            self.write_line(&line);
        } else {
            for name in wrap(&project.name, room_columns) {
                let line = format!("  {}", self.strong_text(&name));
                self.write_line(&line);
            }
            self.write_quiet(&project_details);
        }
        self.write_line("");
    }

    /// Kernels that nothing below is of.
    fn write_set_aside(&mut self, evidence: &Evidence) {
        if let Some(words) = statement::set_aside_kernels(evidence) {
            self.write_labelled("Kernels", &[(words, Tone::Bad)]);
            self.write_line("");
        }
    }

    fn write_tests(&mut self, evidence: &Evidence) {
        let test_count = evidence.campaign.tests.len();
        for (engine_index, (engine, counts)) in
            facts::verdict_counts(evidence).into_iter().enumerate()
        {
            let mut count_parts = vec![(format!("{engine:<12}"), Tone::Neutral)];
            let identity = evidence.campaign.engines.iter().find(|row| row.engine == engine);
            for (verdict, n) in &counts {
                count_parts.push((format!("{n} {verdict}  "), verdict_tone(*verdict)));
            }
            let not_run = test_count.saturating_sub(counts.values().sum::<u32>() as usize);
            if not_run > 0 {
                count_parts.push((format!("{not_run} not-run  "), Tone::Caution));
            }
            if let Some(identity) = identity.filter(|identity| !identity.ran) {
                let reason = identity.reason.as_deref().unwrap_or("no reason recorded");
                count_parts.push((format!("not run: {reason}"), Tone::Caution));
            }
            self.write_labelled(if engine_index == 0 { "Tests" } else { "" }, &count_parts);
        }
        for engine in &evidence.campaign.engines {
            if let Some(counts) = facts::schedule_counts(evidence, engine.engine) {
                self.write_labelled(
                    "Orders",
                    &[(format!("{:<12}{counts}", engine.engine.to_string()), Tone::Neutral)],
                );
            }
        }
    }

    /// Average statement coverage per kernel and engine, where the project asks for it.
    fn write_averages(&mut self, evidence: &Evidence) {
        let averages: Vec<_> = evidence
            .kernels
            .iter()
            .filter_map(|kernel| Some((kernel, kernel.coverage.average_statement.as_ref()?)))
            .collect();
        if averages.is_empty() {
            return;
        }
        self.write_quiet("Average statement coverage, a metric that no verdict depends on:");
        for (kernel, average) in averages.iter().take(LISTED) {
            let unit = facts::kernel_unit(evidence, &kernel.kernel, &kernel.configuration.name);
            let average_words = facts::average_in_words(average);
            let line = format!("{} on {}: {average_words}", unit.unit_label(), kernel.engine);
            self.write_item(&line, Tone::Neutral);
        }
        self.write_more(averages.len());
        self.write_line("");
    }

    /// What stands for a whole chapter in a line: agreement of the engines, coupling, additional
    /// code.
    fn write_figures(&mut self, evidence: &Evidence) {
        let figure_rows = [
            ("Agreement", figures::agreement_figure(evidence).unwrap_or_default()),
            ("Coupling", figures::coupling_figure(evidence)),
            ("Additional code", figures::additional_code_figure(evidence).unwrap_or_default()),
        ];
        for (label, mut parts) in figure_rows.into_iter().filter(|(_, parts)| !parts.is_empty()) {
            let last_part = parts.len() - 1;
            parts[..last_part].iter_mut().for_each(|(words, _)| words.push_str(", "));
            self.write_labelled(label, &parts);
        }
    }

    fn write_requirements(&mut self, evidence: &Evidence) {
        let all_requirements = &evidence.campaign.requirements;
        let mut count_parts = Vec::new();
        let statuses = [
            RequirementStatus::Verified,
            RequirementStatus::VerifiedByChildren,
            RequirementStatus::Failed,
            RequirementStatus::Untested,
            RequirementStatus::Open,
            RequirementStatus::ByOtherMeans,
        ];
        for status in statuses {
            let status_count =
                all_requirements.iter().filter(|requirement| requirement.status == status).count();
            if status_count > 0 {
                count_parts.push((format!("{status_count} {status}  "), requirement_tone(status)));
            }
        }
        let suspect_count = all_requirements
            .iter()
            .filter(|requirement| !requirement.suspect_parents.is_empty())
            .count();
        if suspect_count > 0 {
            count_parts.push((format!("{suspect_count} with suspect links"), Tone::Bad));
        }
        if count_parts.is_empty() {
            count_parts.push(("none".into(), Tone::Quiet));
        }
        self.write_labelled("Requirements", &count_parts);
        let bad_requirements =
            all_requirements.iter().filter(|item| requirement_tone(item.status) == Tone::Bad);
        let shown_rows: Vec<ListRow> =
            bad_requirements.clone().take(LISTED).map(requirement_row).collect();
        self.write_rows(&shown_rows, Tone::Bad);
        self.write_more(bad_requirements.count());
    }

    fn write_findings(&mut self, evidence: &Evidence) {
        let findings = facts::merged_findings(evidence);
        let (standing_count, accepted_count) = facts::finding_counts(&findings);
        let (none_words, tone) = statement::no_findings(evidence);
        let mut count_parts = vec![match standing_count {
            0 => (none_words.into(), tone),
            _ => (standing_count.to_string(), Tone::Bad),
        }];
        if accepted_count > 0 {
            count_parts
                .push((format!("  {accepted_count} accepted by justification"), Tone::Caution));
        }
        self.write_labelled("Findings", &count_parts);
        let standing_findings = findings.iter().filter(|merged| merged.finding.stands());
        let shown_rows: Vec<ListRow> = standing_findings.take(LISTED).map(finding_row).collect();
        self.write_rows(&shown_rows, Tone::Bad);
        self.write_more(standing_count);
        let rows = evidence.campaign.justifications.iter();
        let unjudged_rows = rows.filter(|row| row.not_judged.is_some());
        let (of_mutants, others): (Vec<_>, Vec<_>) =
            unjudged_rows.partition(|row| row.is_of_mutant());
        if !of_mutants.is_empty() || !others.is_empty() {
            self.write_labelled(
                "Not judged",
                &[("justifications of what did not run".into(), Tone::Caution)],
            );
        }
        if !of_mutants.is_empty() {
            let words = format!("{} of mutants that were not judged", of_mutants.len());
            self.write_item(&words, Tone::Caution);
        }
        for row in others.into_iter().take(LISTED) {
            let unjudged_reason = row.not_judged.as_deref().unwrap_or_default();
            self.write_item(
                &format!(
                    "{} of {}: {unjudged_reason}",
                    row.justification.subject, row.justification.kernel
                ),
                Tone::Caution,
            );
        }
    }

    /// Obligations that people have signed for in place of tests.
    fn write_justified(&mut self, evidence: &Evidence) {
        let justified = statement::justified_obligations(evidence);
        if justified > 0 {
            let words =
                format!("{}, covered by no test", statement::counted(justified, "obligation"));
            self.write_labelled("Justified", &[(words, Tone::Caution)]);
        }
    }

    /// What tests made of mutants, where these were asked for.
    fn write_mutation(&mut self, evidence: &Evidence) {
        let Some(summary) = &evidence.campaign.mutation else { return };
        let score = format!("score {}", summary.score_in_words());
        let by_expectation =
            format!("by expectations alone {}", MutationScore::by_expectation(summary));
        let counts = summary.counts;
        let open = counts.judged() - counts.killed;
        let tone = if open == 0 { Tone::Good } else { Tone::Caution };
        self.write_labelled("Mutants", &[(score, tone)]);
        self.write_labelled("", &[(by_expectation, Tone::Neutral)]);
        if let Some(words) = counts.uncounted_in_words() {
            self.write_labelled("", &[(format!("not counted: {words}"), Tone::Neutral)]);
        }
        if let Some(score) = summary.score_with_accepted() {
            self.write_labelled("", &[(format!("with the accepted ones {score}"), Tone::Neutral)]);
        }
        if open > 0 {
            let words = statement::counted(open as usize, "mutant");
            let words = format!(
                "{words} that no test noticed: `vkcert list mutants`, and the chapter on mutation testing"
            );
            self.write_labelled("", &[(words, Tone::Caution)]);
        }
        for row in &summary.by_relation {
            let RelationPairs { relation, counts } = row;
            let words = format!(
                "two at once, paired by {}: {} of {} killed",
                relation.words(),
                counts.killed,
                counts.judged()
            );
            self.write_labelled("", &[(words, Tone::Neutral)]);
        }
        self.write_line("");
    }

    /// Where the evidence does not verify as a whole, at the top and at the end.
    fn write_stamp(&mut self) {
        if let Some(stamp) = self.presentation.standing.stamp() {
            for line in wrap(stamp, self.page_width() - 2) {
                let line = self.painted(&line, Tone::Bad);
                let line = format!("  {}", self.strong_text(&line));
                self.write_line(&line);
            }
        }
    }

    /// The hashes that evidence and reports are known by; not cut, so that they can be compared.
    fn write_hashes(&mut self, root_hash: &str) {
        let written_hashes = self.presentation.written.iter().flat_map(|written| {
            [("Provenance", written.provenance.as_str()), ("Report list", written.reports.as_str())]
        });
        for (label, hash) in std::iter::once(("Root", root_hash)).chain(written_hashes) {
            let hash_width = self.page_width().saturating_sub(LABEL + 2).clamp(1, hash.len());
            for (part_index, hash_part) in hash.as_bytes().chunks(hash_width).enumerate() {
                let label = if part_index == 0 { label } else { "" };
                let line = format!(
                    "  {}{}",
                    self.strong_text(&pad_to(label, LABEL)),
                    String::from_utf8_lossy(hash_part)
                );
                self.write_line(&line);
            }
        }
    }

    fn write_conclusion(&mut self, evidence: &Evidence) {
        if let Some(written) = &self.presentation.written {
            // A path that is cut leads nowhere.
            let path_width = self.page_width().saturating_sub(LABEL + 2);
            let mut path_lines: Vec<String> = Vec::new();
            for path in &written.files {
                match path_lines.last_mut() {
                    Some(line) if column_width(line) + 2 + column_width(path) <= path_width => {
                        *line = format!("{line}  {path}")
                    }
                    Some(_) | None => path_lines.push(path.clone()),
                }
            }
            for (line_index, line) in path_lines.into_iter().enumerate() {
                self.write_labelled(
                    if line_index == 0 { "Reports" } else { "" },
                    &[(line, Tone::Neutral)],
                );
            }
        }
        let conclusion = &evidence.campaign.conclusion;
        let (tone, title) = statement::conclusion_title(evidence);
        self.write_line("");
        for reason in statement::brief_reasons(evidence).uncut {
            self.write_item(&reason, tone);
        }
        for line in wrap(
            &format!("{} {title} (exit code {})", tone_symbol(tone), conclusion.exit_code),
            self.page_width() - 2,
        ) {
            let line = self.strong_text(&line);
            let line = format!("  {}", self.painted(&line, tone));
            self.write_line(&line);
        }
    }
}

/// Its kind; its place, or its kernel where it has none, with its message and how often it was
/// seen.
fn requirement_row(item: &RequirementEvidence) -> ListRow {
    ListRow {
        group: Vec::new(),
        parts: vec![
            item.requirement.uid.to_string(),
            item.status.to_string(),
            item.requirement.title.clone(),
        ],
    }
}

fn finding_row(merged: &MergedFinding) -> ListRow {
    let finding = merged.finding;
    let first_kernel = || merged.kernels.first().map(ToString::to_string).unwrap_or_default();
    let place_words = finding.place.as_ref().map_or_else(first_kernel, ToString::to_string);
    let count_words =
        if merged.count > 1 { format!(" ({}×)", merged.count) } else { String::new() };
    let finding_words = format!("{place_words}: {}{count_words}", finding.message);
    ListRow { group: Vec::new(), parts: vec![finding.kind.name().to_owned(), finding_words] }
}
