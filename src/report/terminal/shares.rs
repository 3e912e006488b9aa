//! The table of shares per kernel, engine and criterion.

use super::measure::{columns, wrap};
use super::page::Page;
use super::titles::short_title;
use crate::document::Tone;
use crate::facts::{CoverageRow, Unit};
use crate::{Colour, facts, statement};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::Evidence;

/// Named in the table of shares where engines show the same.
const BOTH: &str = "both";

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

impl Page<'_> {
    pub(super) fn coverage(&mut self, evidence: &Evidence) {
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
