//! The summary at the end of a run: what an engineer looks at first, in one screen.
//!
//! Promises: no line is wider than the terminal, and nothing is cut: long text goes on in the next
//! line; colour repeats what words and symbols say; the conclusion comes last.

mod failures;
mod items;
mod measure;
mod rows;
mod uncovered;

use super::chapter::{requirement_tone, verdict_tone};
use super::document::Tone;
use super::facts::{CoverageRow, MergedFinding, Unit};
use super::{Colour, Format, Presentation, ReportError, facts, figures, statement};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
pub use measure::wrap;
use measure::{columns, pad};
use owo_colors::{OwoColorize, Style};
use rows::Row;
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::{Evidence, RequirementEvidence, RequirementStatus};

/// Entries of a list that are printed one by one.
const LISTED: usize = 10;
/// Named in the table of shares where engines show the same.
const BOTH: &str = "both";
/// Width of the labels on the left.
const LABEL: usize = 17;

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

struct Page<'a> {
    text: String,
    presentation: &'a Presentation,
}

/// Where the name of a kernel stands in the table of shares.
#[derive(Clone, Copy)]
enum Layout {
    /// In a column of its own.
    Beside,
    /// On a line of its own, where names are long.
    Above,
}

fn colour(cell: Cell, tone: Tone) -> Cell {
    match tone {
        Tone::Neutral => cell,
        Tone::Quiet => cell.fg(comfy_table::Color::DarkGrey),
        Tone::Good => cell.fg(comfy_table::Color::Green),
        Tone::Caution => cell.fg(comfy_table::Color::Yellow),
        Tone::Bad => cell.fg(comfy_table::Color::Red),
    }
}

/// Short titles, so that five criteria fit beside kernel and engine.
fn short_title(criterion: &str) -> &str {
    match criterion {
        "mcdc-masking" => "MC/DC mask.",
        "mcdc-unique-cause" => "MC/DC uniq.",
        "multiple-condition" => "Mult.-cond.",
        "object-branch" => "Object br.",
        "additional-code" => "Add. code",
        other => facts::criterion_title(other),
    }
}

impl Page<'_> {
    fn width(&self) -> usize {
        usize::from(self.presentation.width.max(40))
    }

    fn paint(&self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Neutral => return text.to_owned(),
            Tone::Quiet => Style::new().dimmed(),
            Tone::Good => Style::new().green(),
            Tone::Caution => Style::new().yellow(),
            Tone::Bad => Style::new().red(),
        };
        self.styled(text, style)
    }

    fn styled(&self, text: &str, style: Style) -> String {
        match self.presentation.colour {
            Colour::Plain => text.to_owned(),
            Colour::Ansi => text.style(style).to_string(),
        }
    }

    fn strong(&self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// A label and parts in their tones; a part that does not fit behind the others goes on below
    /// them.
    fn labelled(&mut self, label: &str, parts: &[(String, Tone)]) {
        let room = self.width().saturating_sub(LABEL + 2);
        let mut lines = vec![String::new()];
        let mut used = 0;
        for (text, tone) in parts {
            for (index, piece) in wrap(text, room).into_iter().enumerate() {
                if index > 0 || used + columns(piece.trim_end()) > room {
                    lines.push(String::new());
                    used = 0;
                }
                used += columns(&piece);
                let painted = self.paint(&piece, *tone);
                lines.last_mut().expect("there is always a line").push_str(&painted);
            }
        }
        for (index, line) in lines.into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let line = format!("  {}{line}", self.strong(&pad(label, LABEL)));
            self.line(&line);
        }
    }

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

    /// Text in its own lines, quiet.
    fn quiet_lines(&mut self, text: &str) {
        for line in wrap(text, self.width() - 2) {
            let line = format!("  {}", self.paint(&line, Tone::Quiet));
            self.line(&line);
        }
    }

    fn coverage(&mut self, evidence: &Evidence) {
        let names = facts::measured_criteria(evidence);
        if evidence.campaign.conclusion.summary.is_empty() {
            return self.line("  No kernel was measured.");
        }
        let rows = facts::coverage_rows(evidence, &names);
        let beside = shares(evidence, &rows, &names, Layout::Beside, 3);
        if table_width(&beside) <= self.width() {
            self.shares_table(&rows, beside, Layout::Beside);
        } else {
            let above =
                |names: &[String], gap: u16| shares(evidence, &rows, names, Layout::Above, gap);
            let gap = if table_width(&above(&names, 3)) <= self.width() { 3 } else { 1 };
            for names in
                fitting_columns(&names, |names| table_width(&above(names, gap)) <= self.width())
            {
                self.shares_table(&rows, above(names, gap), Layout::Above);
            }
        }
        self.quiet_lines(statement::basis_of_shares(evidence));
        if let Some(row) = rows.iter().find(|row| row.engines.len() > 1) {
            let engines =
                row.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            self.quiet_lines(&format!("{BOTH}: {engines}, the same figures on each"));
        }
        if rows.iter().flat_map(|row| &row.criteria).any(|criterion| criterion.justified > 0) {
            self.quiet_lines("J: justified, not covered");
        }
        if names.iter().any(|name| !facts::asked_for(evidence, name)) {
            self.quiet_lines("* not asked for");
        }
        self.line("");
    }

    /// The lines of a table of shares, with the names of kernels above theirs.
    fn shares_table(&mut self, rows: &[CoverageRow<Unit>], mut table: Table, layout: Layout) {
        match self.presentation.colour {
            Colour::Plain => {}
            Colour::Ansi => {
                table.enforce_styling();
            }
        }
        let mut last = None;
        for (index, line) in table.lines().collect::<Vec<_>>().into_iter().enumerate() {
            // Header and its rule come first.
            let unit = index.checked_sub(2).and_then(|row| rows.get(row)).map(|row| row.unit);
            match (layout, unit) {
                (Layout::Above, Some(unit)) if last != Some(unit) => {
                    last = Some(unit);
                    for name in wrap(&unit.label(), self.width() - 2) {
                        self.line(&format!("  {name}"));
                    }
                }
                (Layout::Above | Layout::Beside, _) => {}
            }
            self.line(&format!("  {line}"));
        }
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

    /// An entry of a list: a line, and more where it takes more.
    fn item(&mut self, text: &str, tone: Tone) {
        let symbol = self.paint(symbol(tone), tone);
        for (index, text) in wrap(text, self.width().saturating_sub(8)).into_iter().enumerate() {
            let line =
                if index == 0 { format!("    {symbol} {text}") } else { format!("        {text}") };
            self.line(&line);
        }
    }

    fn more(&mut self, count: usize) {
        if count > LISTED {
            let text = format!("      … and {} more", count - LISTED);
            let text = self.paint(&text, Tone::Quiet);
            self.line(&text);
        }
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

fn symbol(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "✗",
        Tone::Good => "✓",
        Tone::Caution | Tone::Neutral | Tone::Quiet => "·",
    }
}

/// Columns that a table takes with the page's margin.
fn table_width(table: &Table) -> usize {
    table.lines().map(|line| columns(line.trim_end())).max().unwrap_or(0) + 2
}

/// The criteria in as many tables as the width takes, each with at least one.
fn fitting_columns(names: &[String], fits: impl Fn(&[String]) -> bool) -> Vec<&[String]> {
    let mut tables = Vec::new();
    let mut rest = names;
    while !rest.is_empty() {
        let count = (1..=rest.len()).rev().find(|count| fits(&rest[..*count])).unwrap_or(1);
        let (table, others) = rest.split_at(count);
        tables.push(table);
        rest = others;
    }
    tables
}

/// Shares per kernel, engine and criterion, uncoloured; `gap` columns stand between two columns.
fn shares(
    evidence: &Evidence,
    rows: &[CoverageRow<Unit>],
    names: &[String],
    layout: Layout,
    gap: u16,
) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─');
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let first = match layout {
        Layout::Beside => vec![Cell::new("Kernel"), Cell::new("Engine")],
        Layout::Above => vec![Cell::new("Kernel, engine")],
    };
    let titles = names.iter().map(|name| {
        let mark = if facts::asked_for(evidence, name) { "" } else { "*" };
        right(&format!("{}{mark}", short_title(name)))
    });
    table.set_header(first.into_iter().chain(titles));
    let mut last = None;
    for row in rows {
        let kernel = if last == Some(row.unit) { String::new() } else { row.unit.label() };
        last = Some(row.unit);
        let engine = match row.engines.as_slice() {
            [engine] => engine.to_string(),
            _ => BOTH.to_owned(),
        };
        let mut cells = match layout {
            Layout::Beside => vec![Cell::new(kernel), Cell::new(engine)],
            Layout::Above => vec![Cell::new(format!("  {engine}"))],
        };
        for name in names {
            let summary = row.criteria.iter().find(|summary| summary.criterion == *name);
            let tone = match summary {
                Some(summary) if summary.complete() => Tone::Good,
                Some(_) if facts::asked_for(evidence, name) => Tone::Bad,
                Some(_) | None => Tone::Quiet,
            };
            cells.push(colour(right(&summary.map_or_else(|| "-".to_owned(), short_share)), tone));
        }
        table.add_row(cells);
    }
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, gap));
    });
    table.force_no_tty();
    table
}

/// `11/12 91.6%`, rounded as everywhere; `+1J` for a justified one among the rest.
fn short_share(summary: &CriterionSummary) -> String {
    let percent = facts::percent(summary.covered, summary.total);
    let percent =
        percent.map_or_else(|| "none".to_owned(), |percent| percent.replace('\u{a0}', ""));
    let justified =
        if summary.justified > 0 { format!("+{}J", summary.justified) } else { String::new() };
    format!("{}{justified}/{} {percent}", summary.covered, summary.total)
}
