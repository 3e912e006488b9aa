//! The table of shares per kernel, engine and criterion.

use super::measure::{column_width, wrap};
use super::page::SummaryPage;
use super::titles::short_title;
use crate::document::Tone;
use crate::facts::{CoverageRow, KernelUnit};
use crate::{Colour, facts, statement};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::evidence::Evidence;

/// Named in the table of shares where engines show the same.
const BOTH: &str = "both";

/// Where the name of a kernel stands in the table of shares.
#[derive(Clone, Copy)]
enum KernelLayout {
    /// In a column of its own.
    Beside,
    /// On a line of its own, where names are long.
    Above,
}

fn coloured_cell(cell: Cell, tone: Tone) -> Cell {
    match tone {
        Tone::Neutral => cell,
        Tone::Quiet => cell.fg(comfy_table::Color::DarkGrey),
        Tone::Good => cell.fg(comfy_table::Color::Green),
        Tone::Caution => cell.fg(comfy_table::Color::Yellow),
        Tone::Bad => cell.fg(comfy_table::Color::Red),
    }
}

impl SummaryPage<'_> {
    pub(super) fn write_coverage(&mut self, evidence: &Evidence) {
        let criteria = facts::measured_criteria(evidence);
        if evidence.campaign.conclusion.summary.is_empty() {
            return self.write_line("  No kernel was measured.");
        }
        let rows = facts::coverage_rows(evidence, &criteria);
        let beside_table = share_table(evidence, &rows, &criteria, KernelLayout::Beside, 3);
        if table_width(&beside_table) <= self.page_width() {
            self.write_shares(&rows, beside_table, KernelLayout::Beside);
        } else {
            let above_table = |columns: &[StoredCriterion], column_gap: u16| {
                share_table(evidence, &rows, columns, KernelLayout::Above, column_gap)
            };
            let column_gap =
                if table_width(&above_table(&criteria, 3)) <= self.page_width() { 3 } else { 1 };
            for columns in fitting_columns(&criteria, |tried_columns| {
                table_width(&above_table(tried_columns, column_gap)) <= self.page_width()
            }) {
                self.write_shares(&rows, above_table(columns, column_gap), KernelLayout::Above);
            }
        }
        self.write_quiet(&statement::basis_of_shares(evidence));
        if let Some(row) = rows.iter().find(|row| row.engines.len() > 1) {
            let engines =
                row.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            self.write_quiet(&format!("{BOTH}: {engines}, the same figures on each"));
        }
        if rows.iter().flat_map(|row| &row.criteria).any(|criterion| criterion.justified > 0) {
            self.write_quiet("J: justified, not covered");
        }
        if criteria.iter().any(|criterion| !facts::is_asked_for(evidence, criterion)) {
            self.write_quiet("* not asked for");
        }
        self.write_line("");
    }

    /// The lines of a table of shares, with the names of kernels above theirs.
    fn write_shares(
        &mut self,
        rows: &[CoverageRow<KernelUnit>],
        mut share_table: Table,
        layout: KernelLayout,
    ) {
        match self.presentation.colour {
            Colour::Plain => {}
            Colour::Ansi => {
                share_table.enforce_styling();
            }
        }
        let mut last_unit = None;
        for (line_index, line) in share_table.lines().collect::<Vec<_>>().into_iter().enumerate() {
            // Header and its rule come first.
            let row_unit =
                line_index.checked_sub(2).and_then(|row| rows.get(row)).map(|row| row.unit);
            match (layout, row_unit) {
                (KernelLayout::Above, Some(row_unit)) if last_unit != Some(row_unit) => {
                    last_unit = Some(row_unit);
                    for name in wrap(&row_unit.unit_label(), self.page_width() - 2) {
                        self.write_line(&format!("  {name}"));
                    }
                }
                (KernelLayout::Above | KernelLayout::Beside, _) => {}
            }
            self.write_line(&format!("  {line}"));
        }
    }
}

/// Columns that a table takes with the page's margin.
fn table_width(table: &Table) -> usize {
    table.lines().map(|line| column_width(line.trim_end())).max().unwrap_or(0) + 2
}

/// The criteria in as many tables as the width takes, each with at least one.
fn fitting_columns(
    criterion_names: &[StoredCriterion],
    fits_width: impl Fn(&[StoredCriterion]) -> bool,
) -> Vec<&[StoredCriterion]> {
    let mut tables = Vec::new();
    let mut remaining_names = criterion_names;
    while !remaining_names.is_empty() {
        let fitting_count = (1..=remaining_names.len())
            .rev()
            .find(|count| fits_width(&remaining_names[..*count]))
            .unwrap_or(1);
        let (table, others) = remaining_names.split_at(fitting_count);
        tables.push(table);
        remaining_names = others;
    }
    tables
}

/// Shares per kernel, engine and criterion, uncoloured; `gap` columns stand between two columns.
fn share_table(
    evidence: &Evidence,
    rows: &[CoverageRow<KernelUnit>],
    criterion_names: &[StoredCriterion],
    layout: KernelLayout,
    column_gap: u16,
) -> Table {
    let mut share_table = Table::new();
    share_table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    share_table
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─');
    let right_cell = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let name_columns = match layout {
        KernelLayout::Beside => vec![Cell::new("Kernel"), Cell::new("Engine")],
        KernelLayout::Above => vec![Cell::new("Kernel, engine")],
    };
    let titles = criterion_names.iter().map(|name| {
        let asked_mark = if facts::is_asked_for(evidence, name) { "" } else { "*" };
        right_cell(&format!("{}{asked_mark}", short_title(name)))
    });
    share_table.set_header(name_columns.into_iter().chain(titles));
    let mut last_unit = None;
    for row in rows {
        let kernel_label =
            if last_unit == Some(row.unit) { String::new() } else { row.unit.unit_label() };
        last_unit = Some(row.unit);
        let engine_label = match row.engines.as_slice() {
            [engine_label] => engine_label.to_string(),
            _ => BOTH.to_owned(),
        };
        let mut row_cells = match layout {
            KernelLayout::Beside => vec![Cell::new(kernel_label), Cell::new(engine_label)],
            KernelLayout::Above => vec![Cell::new(format!("  {engine_label}"))],
        };
        for name in criterion_names {
            let summary = row.criteria.iter().find(|summary| summary.criterion == *name);
            let tone = match summary {
                Some(summary) if summary.complete() => Tone::Good,
                Some(_) if facts::is_asked_for(evidence, name) => Tone::Bad,
                Some(_) | None => Tone::Quiet,
            };
            row_cells.push(coloured_cell(
                right_cell(&summary.map_or_else(|| "-".to_owned(), short_share)),
                tone,
            ));
        }
        share_table.add_row(row_cells);
    }
    share_table.column_iter_mut().for_each(|column| {
        column.set_padding((0, column_gap));
    });
    share_table.force_no_tty();
    share_table
}

/// `11/12 91.6%`, rounded as everywhere; `+1J` for a justified one among the rest.
fn short_share(summary: &CriterionSummary) -> String {
    let percent_words = facts::percent_in_words(summary.covered, summary.total);
    let percent_words =
        percent_words.map_or_else(|| "none".to_owned(), |words| words.replace('\u{a0}', ""));
    let justified_words =
        if summary.justified > 0 { format!("+{}J", summary.justified) } else { String::new() };
    format!("{}{justified_words}/{} {percent_words}", summary.covered, summary.total)
}
