//! The summary per kernel and criterion.

use super::links::unit_link;
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::drawing::bars::coverage_bars;
use crate::{facts, statement};
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::Evidence;

/// Where the summary stands.
pub(super) const ANCHOR: &str = "chapter/summary";

/// What shares count, where it is more than their name says.
pub(super) const WHAT_SHARES_COUNT: &str = "Statement: each executable statement. Branch: each outcome of a decision that directs control flow and \
    each label of a switch; without source each outcome of a branch of the module. Decision: each outcome of a decision, and each \
    entry and exit point of a function that the entry point reaches. MC/DC: each condition.";

/// Shares per kernel, engine and criterion.
pub(super) fn summary_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Structural coverage in summary", ANCHOR);
    outline.add_paragraph(
        "Covered obligations of all obligations, per kernel, configuration and engine. Only tests that passed and \
         judge what the kernel stores count. An obligation \
         that cannot be measured is undetermined: it stays in the total and counts as not covered. Shares are rounded \
         down. The rows that each share counts stand in the chapter of the kernel.",
    );
    outline.add_drawings(coverage_bars(evidence));
    outline.add_table(share_table(evidence));
    outline.add_paragraph(Text::quiet(WHAT_SHARES_COUNT));
}

/// Shares per kernel, with engines that show the same as one row.
pub(super) fn share_table(evidence: &Evidence) -> Table {
    let criterion_names = facts::measured_criteria(evidence);
    let caption = format!(
        "Coverage by kernel, engine and criterion. {}",
        statement::basis_of_shares(evidence)
    );
    let mut table = Table::new(caption).columns(&["Kernel", "Engine"]);
    for name in &criterion_names {
        let asked_mark = if facts::is_asked_for(evidence, name) { "" } else { " (not asked for)" };
        table = table.with_column(
            format!("{}{asked_mark}", facts::criterion_title(name)),
            ColumnAlign::Right,
        );
    }
    for row in facts::coverage_rows(evidence, &criterion_names) {
        let engine_words =
            row.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let mut row_cells = vec![unit_link(&row.unit), Text::plain(engine_words)];
        for name in &criterion_names {
            let summary = row.criteria.iter().find(|summary| summary.criterion == *name);
            row_cells.push(summary.map_or_else(
                || Text::quiet("not measured"),
                |summary| share_text(evidence, summary),
            ));
        }
        table.add_row(row_cells);
    }
    table
}

/// A share with the tone of its completeness; what nobody asked for does not count against the
/// result, whatever its share is.
pub(super) fn share_text(evidence: &Evidence, summary: &CriterionSummary) -> Text {
    let tone = match (
        summary.total,
        facts::is_asked_for(evidence, &summary.criterion),
        summary.complete(),
    ) {
        (0, _, _) | (_, false, _) => Tone::Quiet,
        (_, true, true) => Tone::Good,
        (_, true, false) => Tone::Bad,
    };
    let undetermined_words = match summary.undetermined {
        0 => String::new(),
        n => format!(", {n} undetermined"),
    };
    Text::plain(format!("{}{undetermined_words}", facts::share_in_words(summary))).with_tone(tone)
}
