//! Average statement coverage of a kernel: the metric, test by test and statement by statement.
//!
//! Promises: each average is derived again by hand from the numbers of the section; what is not
//! measured stands there with the reason.
//! Does not cover: evidence of projects that do not ask for the metric: it has no such section.

use super::identifiers::compact_ids;
use super::links::test_link;
use crate::document::{ColumnAlign, Outline, Table, Text};
use crate::facts::{self, KernelUnit};
use std::collections::BTreeMap;
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::id::{StatementId, TestId};
use vkcert_model::metric::{AverageStatementCoverage, InvocationShare, StatementInvocations};

/// What the metric is, and what it is not.
const WHAT_IS_AVERAGED: &str = "A metric beside the criteria: the share of dispatched invocations that executed a statement, averaged over \
    the statements of the kernel, dead ones included. Executed counts pairs of a statement and an invocation that executed it at least \
    once, of statements times invocations. Invocations are those of every dispatch of the tests that count. No verdict, gap or objective \
    depends on it, and a high average does not show that tests are good: what must be covered, the criteria above say.";

pub(super) fn average_section(unit: &KernelUnit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let averages: Vec<(&KernelEvidence, &AverageStatementCoverage)> = sides
        .iter()
        .filter_map(|side| Some((*side, side.coverage.average_statement.as_ref()?)))
        .collect();
    if averages.is_empty() {
        return;
    }
    let anchor = format!("{}/average-statement", unit.chapter_anchor());
    outline.add_heading(2, "Average statement coverage", anchor);
    outline.add_paragraph(WHAT_IS_AVERAGED);
    for (side, average) in averages {
        let total_words = facts::average_in_words(average);
        outline.add_paragraph(Text::plain(format!("On {}: {total_words}.", side.engine)));
        if average.tests.iter().any(|test| test.average.is_some()) {
            outline.add_table(test_table(side, average));
            statement_rows(side, average, outline);
        }
    }
}

fn test_table(side: &KernelEvidence, average: &AverageStatementCoverage) -> Table {
    let caption = format!("Average statement coverage by test, {}", side.engine);
    let mut table = Table::new(caption)
        .with_column("Test", ColumnAlign::Left)
        .with_column("Invocations", ColumnAlign::Right)
        .with_column("Executed", ColumnAlign::Right)
        .with_column("Average", ColumnAlign::Right);
    for test in &average.tests {
        let cells = match test.average {
            Some(share) => share_cells(&share),
            None => {
                let reason = test.not_measured.as_deref().unwrap_or_default();
                let not_measured = Text::sentence(format!("not measured: {reason}"));
                [Text::quiet("-"), Text::quiet("-"), not_measured]
            }
        };
        table.add_row([test_link(&test.test)].into_iter().chain(cells).collect());
    }
    if let Some(share) = &average.average {
        table.add_row([Text::plain("All")].into_iter().chain(share_cells(share)).collect());
    }
    table
}

/// Invocations, numerator of denominator, percentage.
fn share_cells(share: &InvocationShare) -> [Text; 3] {
    [
        Text::plain(share.dispatched.to_string()),
        Text::plain(format!("{} of {}", share.numerator, share.denominator)),
        Text::plain(facts::invocation_share_percent(share)),
    ]
}

/// Statements that some measured invocation did not execute, each; the others by identifier.
fn statement_rows(
    side: &KernelEvidence,
    average: &AverageStatementCoverage,
    outline: &mut Outline,
) {
    let measured_shares = average.tests.iter().filter_map(|test| test.average);
    let dispatched = measured_shares.fold(0u64, |sum, share| sum.saturating_add(share.dispatched));
    let (by_all, by_some): (Vec<_>, Vec<_>) =
        average.statements.iter().partition(|row| row.executed == dispatched);
    if !by_some.is_empty() {
        outline.add_table(statement_table(side, &by_some, dispatched));
    }
    let statement_names: Vec<String> = by_all.iter().map(|row| row.statement.to_string()).collect();
    outline.add_paragraph(match by_all.len() {
        0 => Text::plain(format!("Executed by all {dispatched} invocations: none.")),
        count => Text::plain(format!(
            "Executed by all {dispatched} invocations ({count} of {}): ",
            average.statements.len()
        ))
        .followed_by(Text::code(compact_ids(statement_names.iter().map(String::as_str)))),
    });
}

fn statement_table(
    side: &KernelEvidence,
    rows: &[&StatementInvocations],
    dispatched: u64,
) -> Table {
    let caption = format!("Statements that not every invocation executed, {}", side.engine);
    let mut table = Table::new(caption)
        .columns(&["Statement", "Line:column", "Text"])
        .with_column(format!("Executed of {dispatched}"), ColumnAlign::Right)
        .with_column("Share", ColumnAlign::Right);
    let obligations: BTreeMap<StatementId, _> = side
        .coverage
        .statements
        .iter()
        .filter_map(|item| Some((item.id.as_str().parse().ok()?, item)))
        .collect();
    for row in rows {
        let (place, text) = obligations.get(&row.statement).map_or_else(Default::default, |item| {
            let place = facts::source_place(&side.source, &item.file, item.line, item.column);
            (place, item.text.clone())
        });
        table.add_row(vec![
            Text::code(row.statement.to_string()),
            Text::code(place),
            Text::code(text),
            Text::plain(executed_words(row)),
            Text::plain(facts::percent_in_words(row.executed, dispatched).unwrap_or_default()),
        ]);
    }
    table
}

fn executed_words(row: &StatementInvocations) -> String {
    if row.unknown_in.is_empty() {
        return row.executed.to_string();
    }
    let tests: Vec<&str> = row.unknown_in.iter().map(TestId::as_str).collect();
    format!("at least {}, not known in {}", row.executed, tests.join(", "))
}
