//! What reports derive from evidence, each in a file of its own: shares, results of tests, the
//! trace from code to requirements, uncovered obligations, findings merged over tests.
//!
//! Promises: nothing is dropped.

mod averages;
mod code_trace;
mod compared;
mod coverage_mark;
mod criteria;
mod difference;
mod distinct;
mod findings;
pub(crate) mod obligations;
mod results;
mod shares;
mod source_lines;
mod texels;
mod unit;

pub(crate) use averages::{average_in_words, invocation_share_percent};
pub(crate) use code_trace::code_rows;
pub(crate) use compared::compared_operands;
pub(crate) use coverage_mark::CoverageMark;
pub(crate) use criteria::{CRITERIA_COLUMNS, column_title, criterion_title, measured_criteria};
pub use criteria::{is_asked_for, is_told_elsewhere};
pub(crate) use difference::{ToldDifference, differences_in_words};
pub(crate) use findings::{
    MergedFinding, finding_counts, merged_findings, merged_outcome_findings,
};
pub(crate) use obligations::{
    Occurrences, UncoveredObligation, exercised_only_by_few, justified_conditions,
    justified_obligations, merged_obligations, of_passed_tests, uncovered_obligations,
};
pub(crate) use results::{Failure, merged_failures, result_on, schedule_counts, verdict_counts};
pub(crate) use shares::{
    CoverageRow, counts_in_words, coverage_rows, coverage_totals, criterion_summary,
    obligations_of, percent_in_words, share_in_words,
};
pub(crate) use source_lines::{LineFacts, ListedObligation, SourceLines, source_lines};
pub(crate) use texels::{ImageFacts, NOTHING_EXPECTED, TexelValues, image_facts};
pub(crate) use unit::{KernelUnit, kernel_unit, kernel_units, on_engines};

use vkcert_model::coverage::{DecisionCoverage, Independence, ObservedVector, Status};
use vkcert_model::schedule::Schedule;
use vkcert_model::vector::Values;

/// Symbol and word of a status, for text that must not rely on colour.
pub(crate) fn status_symbol(status: Status) -> &'static str {
    match status {
        Status::Covered => "✓",
        Status::Uncovered => "✗",
        Status::Justified => "J",
        Status::Undetermined => "?",
    }
}

/// 1-based row of a vector in the table of its decision.
pub(crate) fn vector_row(decision: &DecisionCoverage, values: &Values) -> Option<usize> {
    decision.vectors.iter().position(|vector| vector.values == *values).map(|index| index + 1)
}

/// Whether two engines show the same of a decision: vectors with their tests, and every status.
pub(crate) fn same_decision(
    first_decision: &DecisionCoverage,
    second_decision: &DecisionCoverage,
) -> bool {
    same_items(&first_decision.vectors, &second_decision.vectors, |first, second| {
        (&first.values, first.outcome, &first.tests)
            == (&second.values, second.outcome, &second.tests)
    }) && same_items(&first_decision.mcdc, &second_decision.mcdc, |first, second| {
        same_independence(&first.unique_cause, &second.unique_cause)
            && same_independence(&first.masking, &second.masking)
    }) && same_items(&first_decision.outcomes, &second_decision.outcomes, |first, second| {
        (first.id, first.status) == (second.id, second.status)
    })
}

fn same_independence(first_form: &Independence, second_form: &Independence) -> bool {
    (first_form.status, &first_form.pair) == (second_form.status, &second_form.pair)
}

/// Whether two lists are as long and their items the same, one by one.
fn same_items<T>(first_items: &[T], second_items: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    first_items.len() == second_items.len()
        && first_items.iter().zip(second_items).all(|(first, second)| is_same(first, second))
}

/// A place in a kernel's source: the file is named only where it is not the main one.
pub(crate) fn source_place(main_file: &str, file: &str, line: u32, column: u32) -> String {
    let line_and_column = if column == 0 { line.to_string() } else { format!("{line}:{column}") };
    if file == main_file { line_and_column } else { format!("{file}:{line_and_column}") }
}

/// `x,y,z` of an invocation, or `-`.
pub(crate) fn invocation_in_words(id: Option<[u32; 3]>) -> String {
    id.map_or("-".to_owned(), |[x, y, z]| format!("{x},{y},{z}"))
}

/// The same, with the directed schedule that it is seen in, where the ordinary one does not show
/// it.
pub(crate) fn invocation_with_schedule(id: Option<[u32; 3]>, directed: Option<Schedule>) -> String {
    match directed {
        None => invocation_in_words(id),
        Some(schedule) => format!("{} in {schedule}", invocation_in_words(id)),
    }
}

/// Who showed a vector first, and that undefined values may have done so.
pub(crate) fn witness_of(vector: &ObservedVector) -> String {
    let witness = invocation_with_schedule(vector.witness, vector.first_directed());
    if vector.undefined { format!("{witness}, may follow an undefined value") } else { witness }
}
