//! The summary at the end of a run: what an engineer looks at first, in one screen.
//!
//! Promises: no line is wider than the terminal (long text is cut with `…`; what open items and notes say is wrapped); colour repeats what words
//! and symbols say; the conclusion is the last line.

mod failures;
mod items;

use super::chapter::{requirement_tone, verdict_tone};
use super::document::Tone;
use super::facts::{OpenObligation, Unit};
use super::{Colour, Format, Presentation, ReportError, Standing, UNVERIFIED, facts, statement};
use crate::model::coverage::{CriterionSummary, DecisionCoverage};
use crate::model::evidence::{Evidence, RequirementStatus};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
use owo_colors::{OwoColorize, Style};

/// Open obligations and findings printed one by one.
const LISTED: usize = 10;
/// Width of the labels on the left.
const LABEL: usize = 14;

pub(super) struct Terminal;

impl Format for Terminal {
    fn render(&self, evidence: &Evidence, presentation: &Presentation) -> Result<Vec<u8>, ReportError> {
        let mut page = Page { text: String::new(), presentation };
        page.stamp();
        page.title(evidence);
        page.coverage(evidence);
        page.tests(evidence);
        page.failures(evidence);
        page.agreement(evidence);
        page.requirements(evidence);
        page.findings(evidence);
        page.open(evidence);
        page.open_items(evidence);
        page.not_looked_for(evidence);
        page.notes(evidence);
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

    /// A label and parts in their tones, cut at the width.
    fn labelled(&mut self, label: &str, parts: &[(String, Tone)]) {
        let mut left = self.width().saturating_sub(LABEL + 2);
        let mut line = format!("  {}", self.strong(&pad(label, LABEL)));
        for (text, tone) in parts {
            let text = cut(text, left);
            left -= columns(&text).min(left);
            line.push_str(&self.paint(&text, *tone));
        }
        self.line(&line);
    }

    fn title(&mut self, evidence: &Evidence) {
        let project = &evidence.campaign.project;
        let rest = format!("  DO-178C level {}  ·  {} {}", project.level, project.tool, project.tool_version);
        let name = cut(&project.name, self.width().saturating_sub(columns(&rest) + 2));
        let line = format!("  {}{}", self.strong(&name), self.paint(&rest, Tone::Quiet));
        self.line("");
        self.line(&line);
        self.line("");
    }

    fn coverage(&mut self, evidence: &Evidence) {
        let names = facts::measured_criteria(evidence);
        let rows = &evidence.campaign.conclusion.summary;
        if rows.is_empty() {
            return self.line("  No kernel was measured.");
        }
        let width = |table: &Table| table.lines().map(|line| columns(line.trim_end())).max().unwrap_or(0) + 2;
        let beside = shares(evidence, &names, Layout::Beside, 3);
        let stacked = width(&beside) > self.width();
        let mut table = if stacked { shares(evidence, &names, Layout::Above, 3) } else { beside };
        if width(&table) > self.width() {
            table = shares(evidence, &names, Layout::Above, 1);
        }
        match self.presentation.colour {
            Colour::Plain => {}
            Colour::Ansi => {
                table.enforce_styling();
            }
        }
        let mut last = None;
        for (index, line) in table.lines().collect::<Vec<_>>().into_iter().enumerate() {
            // Header and its rule come first.
            let row = index.checked_sub(2).and_then(|row| rows.get(row));
            let unit = row.map(|row| facts::unit(evidence, &row.kernel, &row.configuration));
            if let Some(unit) = unit.filter(|unit| stacked && last != Some(*unit)) {
                last = Some(unit);
                let name = cut(&unit.label(), self.width() - 2);
                self.line(&format!("  {name}"));
            }
            self.line(&format!("  {line}"));
        }
        let basis = self.paint(&cut(statement::basis_of_shares(evidence), self.width() - 2), Tone::Quiet);
        self.line(&format!("  {basis}"));
        if names.iter().any(|name| !facts::asked_for(evidence, name)) {
            let unasked = self.paint("* not asked for", Tone::Quiet);
            self.line(&format!("  {unasked}"));
        }
        self.line("");
    }

    fn tests(&mut self, evidence: &Evidence) {
        let total = evidence.campaign.tests.len();
        for (index, (engine, counts)) in facts::verdict_counts(evidence).into_iter().enumerate() {
            let mut parts = vec![(format!("{engine:<12}"), Tone::Neutral)];
            let identity = evidence.campaign.engines.iter().find(|identity| identity.engine == engine);
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
                self.labelled("Orders", &[(format!("{:<12}{counts}", engine.engine.to_string()), Tone::Neutral)]);
            }
        }
    }

    /// How many tests, with their kernels, the engines agree on.
    fn agreement(&mut self, evidence: &Evidence) {
        let rows = &evidence.campaign.agreement;
        let count =
            |wanted: &str| rows.iter().filter(|row| row.outputs == wanted && row.coverage != "different").count();
        let outcomes = ["identical", "within-tolerance", "left-open", "within-error-bounds", "not compared"];
        let mut parts: Vec<_> = outcomes.iter().map(|outcome| (count(outcome), *outcome, Tone::Good)).collect();
        let different = rows.len() - parts.iter().map(|(n, _, _)| n).sum::<usize>();
        parts.push((different, "different", Tone::Bad));
        parts.retain(|(n, _, _)| *n > 0);
        let buffers = rows.iter().filter_map(|row| row.bounds.as_ref()).flat_map(|bounds| &bounds.buffers);
        let worst = buffers.filter(|buffer| buffer.outside == 0).filter_map(|buffer| buffer.worst_ulp).max();
        let mut parts: Vec<_> = parts.into_iter().map(|(n, word, tone)| (format!("{n} {word}  "), tone)).collect();
        parts.extend(worst.map(|ulp| (format!("(by {ulp} ULP at most)"), Tone::Quiet)));
        if !rows.is_empty() {
            self.labelled("Agreement", &parts);
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
        let suspect = all.iter().filter(|requirement| !requirement.suspect_parents.is_empty()).count();
        if suspect > 0 {
            parts.push((format!("{suspect} suspect"), Tone::Bad));
        }
        if parts.is_empty() {
            parts.push(("none".into(), Tone::Quiet));
        }
        self.labelled("Requirements", &parts);
        for item in all.iter().filter(|item| requirement_tone(item.status) == Tone::Bad).take(LISTED) {
            let line = format!("{:<16} {:<9} {}", item.requirement.uid, item.status, item.requirement.title);
            self.item(&line, Tone::Bad);
        }
    }

    /// A line of a list.
    fn item(&mut self, text: &str, tone: Tone) {
        let text = cut(text, self.width().saturating_sub(6));
        let symbol = match tone {
            Tone::Bad => "✗",
            Tone::Good => "✓",
            Tone::Caution | Tone::Neutral | Tone::Quiet => "·",
        };
        let line = format!("    {} {text}", self.paint(symbol, tone));
        self.line(&line);
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
        for merged in findings.iter().filter(|merged| merged.finding.stands()).take(LISTED) {
            let finding = merged.finding;
            let place = finding.place.as_ref().map(|place| place.to_string());
            let place =
                place.unwrap_or_else(|| merged.kernels.first().map(|name| name.to_string()).unwrap_or_default());
            let count = if merged.count > 1 { format!(" ({}×)", merged.count) } else { String::new() };
            self.item(&format!("{:<19} {}: {}{count}", finding.kind.name(), place, finding.message), Tone::Bad);
        }
        self.more(stand);
        let unseen: Vec<_> =
            evidence.campaign.justifications.iter().filter(|row| row.not_judged.is_some()).take(LISTED).collect();
        if !unseen.is_empty() {
            self.labelled("Not judged", &[("justifications of what did not run".into(), Tone::Caution)]);
        }
        for row in unseen {
            let why = row.not_judged.as_deref().unwrap_or_default();
            self.item(&format!("{} of {}: {why}", row.justification.subject, row.justification.kernel), Tone::Caution);
        }
    }

    fn open(&mut self, evidence: &Evidence) {
        let open = facts::open_obligations(evidence);
        if evidence.campaign.project.criteria.is_empty() {
            return self.labelled("Uncovered", &[("no criterion is asked for".into(), Tone::Quiet)]);
        }
        if open.is_empty() {
            return self.labelled("Uncovered", &[("none".into(), Tone::Good)]);
        }
        let plural = if open.len() == 1 { "obligation" } else { "obligations" };
        self.labelled("Uncovered", &[(format!("{} {plural}, counted per engine", open.len()), Tone::Bad)]);
        let open = self.consequences(evidence, open);
        for item in open.iter().take(LISTED) {
            let kernel = cut(&item.unit.label(), 18);
            let file = item.file.rsplit('/').next().unwrap_or(item.file);
            let place = format!("{}:{}", cut(file, 20), item.line);
            let line = format!(
                "{:<18} {:<10} {:<8} {:<11} {}  {}",
                kernel,
                item.engine.to_string(),
                item.obligation,
                short_title(item.criterion),
                place,
                item.text
            );
            self.item(&line, Tone::Bad);
        }
        self.more(open.len());
        self.proposals(&open);
        self.additions(&open);
    }

    /// What no test can cover under its configuration.
    fn proposals(&mut self, open: &[OpenObligation]) {
        let proposed = open.iter().filter(|item| item.proposal.is_some()).count();
        if proposed > 0 {
            let text = format!("{proposed} of these; review them with `vkcert list obligations --propose`");
            self.labelled("Ruled out", &[(text, Tone::Caution)]);
        }
    }

    /// The vectors that complete MC/DC of each open decision, and how many it takes in all.
    fn additions(&mut self, open: &[OpenObligation]) {
        let mut rows: Vec<(Unit, &DecisionCoverage)> = Vec::new();
        for item in open {
            let Some(decision) = item.decision.filter(|decision| !decision.closing_set.is_empty()) else { continue };
            if !rows.iter().any(|(unit, other)| *unit == item.unit && other.id == decision.id) {
                rows.push((item.unit, decision));
            }
        }
        if rows.is_empty() {
            return;
        }
        self.labelled("Add vectors", &[("to complete MC/DC of a decision".into(), Tone::Neutral)]);
        for (unit, decision) in rows.iter().take(LISTED) {
            let vectors = decision.closing_set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let fewest = decision.minimum.as_ref().filter(|_| decision.conditions.len() > 1).map(|minimum| {
                let plus_one = minimum.conditions_plus_one;
                format!(" (fewest in all {}, n + 1 is {plus_one})", minimum.masking)
            });
            let (kernel, fewest) = (cut(&unit.label(), 18), fewest.unwrap_or_default());
            let line = format!("{kernel:<18} {:<4} {vectors}{fewest}  {}", decision.id, decision.text);
            self.item(&line, Tone::Caution);
        }
        self.more(rows.len());
    }

    /// Where the evidence does not verify, at the top and at the end.
    fn stamp(&mut self) {
        match &self.presentation.standing {
            Standing::Verified => {}
            Standing::Unverified(_) => {
                let line = self.paint(&cut(UNVERIFIED, self.width() - 2), Tone::Bad);
                let line = format!("  {}", self.strong(&line));
                self.line(&line);
            }
        }
    }

    /// The hashes that evidence and reports are known by; not cut, so that they can be compared.
    fn root(&mut self, root: &str) {
        let written = self.presentation.written.as_ref().map(|written| ("Report list", written.reports.clone()));
        for (label, hash) in std::iter::once(("Root", root.to_owned())).chain(written) {
            let width = self.width().saturating_sub(LABEL + 2).clamp(1, hash.len());
            for (index, part) in hash.as_bytes().chunks(width).enumerate() {
                let label = if index == 0 { label } else { "" };
                let line = format!("  {}{}", self.strong(&pad(label, LABEL)), String::from_utf8_lossy(part));
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
                    Some(line) if columns(line) + 2 + columns(path) <= width => *line = format!("{line}  {path}"),
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
        let reasons = statement::reasons(evidence);
        for reason in reasons.iter().take(LISTED) {
            self.item(reason, tone);
        }
        self.more(reasons.len());
        let symbol = match tone {
            Tone::Good => "✓",
            Tone::Bad => "✗",
            Tone::Caution | Tone::Neutral | Tone::Quiet => "·",
        };
        let line = cut(&format!("{symbol} {title} (exit code {})", conclusion.exit_code), self.width() - 2);
        let line = self.strong(&line);
        let line = format!("  {}", self.paint(&line, tone));
        self.line(&line);
    }
}

/// Shares per kernel, engine and criterion, uncoloured; `gap` columns stand between two columns.
fn shares(evidence: &Evidence, names: &[String], layout: Layout, gap: u16) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_style(TableComponent::HeaderLines, '─').set_style(TableComponent::MiddleHeaderIntersections, '─');
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
    for row in &evidence.campaign.conclusion.summary {
        let unit = facts::unit(evidence, &row.kernel, &row.configuration);
        let kernel = if last == Some(unit) { String::new() } else { unit.label() };
        last = Some(unit);
        let mut cells = match layout {
            Layout::Beside => vec![Cell::new(kernel), Cell::new(row.engine.to_string())],
            Layout::Above => vec![Cell::new(format!("  {}", row.engine))],
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

/// `11/12  91%`, rounded down; `+1J` for a justified one among the rest.
fn short_share(summary: &CriterionSummary) -> String {
    let percent = (u64::from(summary.covered) * 100).checked_div(u64::from(summary.total));
    let percent = percent.map_or_else(|| "none".to_owned(), |percent| format!("{percent}%"));
    let justified = if summary.justified > 0 { format!("+{}J", summary.justified) } else { String::new() };
    format!("{}{justified}/{} {percent:>4}", summary.covered, summary.total)
}

/// Columns of a character on a terminal: East Asian wide ones take two (Unicode Standard Annex 11), combining ones none.
fn column_count(character: char) -> usize {
    match u32::from(character) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

fn columns(text: &str) -> usize {
    text.chars().map(column_count).sum()
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The text on one line, cut with `…` where it is wider than `width`. Control characters become spaces.
fn cut(text: &str, width: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if columns(&text) <= width {
        return text;
    }
    let mut kept = String::new();
    for character in text.chars() {
        if columns(&kept) + column_count(character) + 1 > width {
            break;
        }
        kept.push(character);
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}
