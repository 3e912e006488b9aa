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
use measure::{columns, pad};
use page::{LABEL, LISTED, Page, symbol};
use rows::Row;
use vkcert_model::evidence::{Evidence, RequirementEvidence, RequirementStatus};

pub(super) struct Terminal;

impl Format for Terminal {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let mut page = Page { text: String::new(), presentation };
        page.stamp();
        page.title(evidence);
        page.coverage(evidence);
        page.tests(evidence);
        page.failures(evidence);
        page.figures(evidence);
        page.requirements(evidence);
        page.findings(evidence);
        page.uncovered(evidence);
        page.justified(evidence);
        page.open_items(evidence);
        page.not_looked_for(evidence);
        page.notes(evidence);
        page.next_steps(evidence);
        page.root(&evidence.root()?);
        page.conclusion(evidence);
        page.stamp();
        Ok(page.text.into_bytes())
    }
}

impl Page<'_> {
    fn title(&mut self, evidence: &Evidence) {
        let project = &evidence.campaign.project;
        let rest = format!(
            "DO-178C level {}  ·  {} {}",
            project.level, project.tool, project.tool_version
        );
        self.line("");
        let room = self.width() - 2;
        if columns(&project.name) + columns(&rest) + 2 <= room {
            let line =
                format!("  {}  {}", self.strong(&project.name), self.paint(&rest, Tone::Quiet));
            self.line(&line);
        } else {
            for name in wrap(&project.name, room) {
                let line = format!("  {}", self.strong(&name));
                self.line(&line);
            }
            self.quiet_lines(&rest);
        }
        self.line("");
    }

    fn tests(&mut self, evidence: &Evidence) {
        let total = evidence.campaign.tests.len();
        for (index, (engine, counts)) in facts::verdict_counts(evidence).into_iter().enumerate() {
            let mut parts = vec![(format!("{engine:<12}"), Tone::Neutral)];
            let identity =
                evidence.campaign.engines.iter().find(|identity| identity.engine == engine);
            for (verdict, n) in &counts {
                parts.push((format!("{n} {verdict}  "), verdict_tone(*verdict)));
            }
            let rest = total.saturating_sub(counts.values().sum::<u32>() as usize);
            if rest > 0 {
                parts.push((format!("{rest} not-run  "), Tone::Caution));
            }
            if let Some(identity) = identity.filter(|identity| !identity.ran) {
                let reason = identity.reason.as_deref().unwrap_or("no reason recorded");
                parts.push((format!("not run: {reason}"), Tone::Caution));
            }
            self.labelled(if index == 0 { "Tests" } else { "" }, &parts);
        }
        for engine in &evidence.campaign.engines {
            if let Some(counts) = facts::schedule_counts(evidence, engine.engine) {
                self.labelled(
                    "Orders",
                    &[(format!("{:<12}{counts}", engine.engine.to_string()), Tone::Neutral)],
                );
            }
        }
    }

    /// What stands for a whole chapter in a line: agreement of the engines, coupling, additional
    /// code.
    fn figures(&mut self, evidence: &Evidence) {
        let figures = [
            ("Agreement", figures::agreement(evidence).unwrap_or_default()),
            ("Coupling", figures::coupling(evidence)),
            ("Additional code", figures::additional_code(evidence).unwrap_or_default()),
        ];
        for (label, mut parts) in figures.into_iter().filter(|(_, parts)| !parts.is_empty()) {
            let last = parts.len() - 1;
            parts[..last].iter_mut().for_each(|(words, _)| words.push_str(", "));
            self.labelled(label, &parts);
        }
    }

    fn requirements(&mut self, evidence: &Evidence) {
        let all = &evidence.campaign.requirements;
        let mut parts = Vec::new();
        let statuses = [
            RequirementStatus::Verified,
            RequirementStatus::VerifiedByChildren,
            RequirementStatus::Failed,
            RequirementStatus::Untested,
            RequirementStatus::Open,
            RequirementStatus::ByOtherMeans,
        ];
        for status in statuses {
            let n = all.iter().filter(|requirement| requirement.status == status).count();
            if n > 0 {
                parts.push((format!("{n} {status}  "), requirement_tone(status)));
            }
        }
        let suspect =
            all.iter().filter(|requirement| !requirement.suspect_parents.is_empty()).count();
        if suspect > 0 {
            parts.push((format!("{suspect} with suspect links"), Tone::Bad));
        }
        if parts.is_empty() {
            parts.push(("none".into(), Tone::Quiet));
        }
        self.labelled("Requirements", &parts);
        let bad = all.iter().filter(|item| requirement_tone(item.status) == Tone::Bad);
        let row = |item: &RequirementEvidence| Row {
            group: Vec::new(),
            parts: vec![
                item.requirement.uid.to_string(),
                item.status.to_string(),
                item.requirement.title.clone(),
            ],
        };
        let shown: Vec<Row> = bad.clone().take(LISTED).map(row).collect();
        self.rows(&shown, Tone::Bad);
        self.more(bad.count());
    }

    fn findings(&mut self, evidence: &Evidence) {
        let findings = facts::findings(evidence);
        let (stand, accepted) = facts::finding_counts(&findings);
        let (none, tone) = statement::no_findings(evidence);
        let mut parts = vec![match stand {
            0 => (none.into(), tone),
            _ => (stand.to_string(), Tone::Bad),
        }];
        if accepted > 0 {
            parts.push((format!("  {accepted} accepted by justification"), Tone::Caution));
        }
        self.labelled("Findings", &parts);
        let standing = findings.iter().filter(|merged| merged.finding.stands());
        let shown: Vec<Row> = standing.take(LISTED).map(finding_row).collect();
        self.rows(&shown, Tone::Bad);
        self.more(stand);
        let unseen: Vec<_> = evidence
            .campaign
            .justifications
            .iter()
            .filter(|row| row.not_judged.is_some())
            .take(LISTED)
            .collect();
        if !unseen.is_empty() {
            self.labelled(
                "Not judged",
                &[("justifications of what did not run".into(), Tone::Caution)],
            );
        }
        for row in unseen {
            let why = row.not_judged.as_deref().unwrap_or_default();
            self.item(
                &format!("{} of {}: {why}", row.justification.subject, row.justification.kernel),
                Tone::Caution,
            );
        }
    }

    /// Obligations that people have signed for in place of tests.
    fn justified(&mut self, evidence: &Evidence) {
        let justified = statement::justified(evidence);
        if justified > 0 {
            let words =
                format!("{}, covered by no test", statement::counted(justified, "obligation"));
            self.labelled("Justified", &[(words, Tone::Caution)]);
        }
    }

    /// Where the evidence does not verify as a whole, at the top and at the end.
    fn stamp(&mut self) {
        if let Some(stamp) = self.presentation.standing.stamp() {
            for line in wrap(stamp, self.width() - 2) {
                let line = self.paint(&line, Tone::Bad);
                let line = format!("  {}", self.strong(&line));
                self.line(&line);
            }
        }
    }

    /// The hashes that evidence and reports are known by; not cut, so that they can be compared.
    fn root(&mut self, root: &str) {
        let written = self
            .presentation
            .written
            .as_ref()
            .map(|written| ("Report list", written.reports.clone()));
        for (label, hash) in std::iter::once(("Root", root.to_owned())).chain(written) {
            let width = self.width().saturating_sub(LABEL + 2).clamp(1, hash.len());
            for (index, part) in hash.as_bytes().chunks(width).enumerate() {
                let label = if index == 0 { label } else { "" };
                let line = format!(
                    "  {}{}",
                    self.strong(&pad(label, LABEL)),
                    String::from_utf8_lossy(part)
                );
                self.line(&line);
            }
        }
    }

    fn conclusion(&mut self, evidence: &Evidence) {
        if let Some(written) = &self.presentation.written {
            // A path that is cut leads nowhere.
            let width = self.width().saturating_sub(LABEL + 2);
            let mut lines: Vec<String> = Vec::new();
            for path in &written.files {
                match lines.last_mut() {
                    Some(line) if columns(line) + 2 + columns(path) <= width => {
                        *line = format!("{line}  {path}")
                    }
                    Some(_) | None => lines.push(path.clone()),
                }
            }
            for (index, line) in lines.into_iter().enumerate() {
                self.labelled(if index == 0 { "Reports" } else { "" }, &[(line, Tone::Neutral)]);
            }
        }
        let conclusion = &evidence.campaign.conclusion;
        let (tone, title) = statement::title(evidence);
        self.line("");
        for reason in statement::brief_reasons(evidence).uncut {
            self.item(&reason, tone);
        }
        for line in wrap(
            &format!("{} {title} (exit code {})", symbol(tone), conclusion.exit_code),
            self.width() - 2,
        ) {
            let line = self.strong(&line);
            let line = format!("  {}", self.paint(&line, tone));
            self.line(&line);
        }
    }
}

/// Its kind; its place, or its kernel where it has none, with its message and how often it was
/// seen.
fn finding_row(merged: &MergedFinding) -> Row {
    let finding = merged.finding;
    let kernel = || merged.kernels.first().map(ToString::to_string).unwrap_or_default();
    let place = finding.place.as_ref().map_or_else(kernel, ToString::to_string);
    let count = if merged.count > 1 { format!(" ({}×)", merged.count) } else { String::new() };
    let words = format!("{place}: {}{count}", finding.message);
    Row { group: Vec::new(), parts: vec![finding.kind.name().to_owned(), words] }
}
