//! The summary per kernel and criterion.

use super::links::unit_link;
use crate::document::{Align, Outline, Table, Text, Tone};
use crate::{facts, statement};
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::Evidence;

/// Where the summary stands.
pub(super) const ANCHOR: &str = "chapter/summary";

/// What shares count, where it is more than their name says.
pub(super) const COUNTED: &str = "Statement: each executable statement. Branch: each outcome of a decision that directs control flow and \
    each label of a switch; without source each outcome of a branch of the module. Decision: each outcome of a decision, and each \
    entry and exit point of a function that the entry point reaches. MC/DC: each condition.";

/// Shares per kernel, engine and criterion.
pub(super) fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Structural coverage in summary", ANCHOR);
    outline.paragraph(
        "Covered obligations of all obligations, per kernel, configuration and engine. Only tests that passed and \
         judge what the kernel stores count. An obligation \
         that cannot be measured is undetermined: it stays in the total and counts as not covered. Shares are rounded \
         down. The rows that each share counts stand in the chapter of the kernel.",
    );
    outline.table(shares(evidence));
    outline.paragraph(Text::quiet(COUNTED));
}

/// Shares per kernel, with engines that show the same as one row.
pub(super) fn shares(evidence: &Evidence) -> Table {
    let names = facts::measured_criteria(evidence);
    let caption = format!(
        "Coverage by kernel, engine and criterion. {}",
        statement::basis_of_shares(evidence)
    );
    let mut table = Table::new(caption).columns(&["Kernel", "Engine"]);
    for name in &names {
        let mark = if facts::asked_for(evidence, name) { "" } else { " (not asked for)" };
        table = table.column(format!("{}{mark}", facts::criterion_title(name)), Align::Right);
    }
    for row in facts::coverage_rows(evidence, &names) {
        let engines = row.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let mut cells = vec![unit_link(&row.unit), Text::plain(engines)];
        for name in &names {
            let summary = row.criteria.iter().find(|summary| summary.criterion == *name);
            cells.push(summary.map_or_else(
                || Text::quiet("not measured"),
                |summary| share_text(evidence, summary),
            ));
        }
        table.row(cells);
    }
    table
}

/// A share with the tone of its completeness; what nobody asked for does not count against the
/// result, whatever its share is.
pub(super) fn share_text(evidence: &Evidence, summary: &CriterionSummary) -> Text {
    let tone =
        match (summary.total, facts::asked_for(evidence, &summary.criterion), summary.complete()) {
            (0, _, _) | (_, false, _) => Tone::Quiet,
            (_, true, true) => Tone::Good,
            (_, true, false) => Tone::Bad,
        };
    let undetermined = match summary.undetermined {
        0 => String::new(),
        n => format!(", {n} undetermined"),
    };
    Text::plain(format!("{}{undetermined}", facts::share(summary))).tone(tone)
}
