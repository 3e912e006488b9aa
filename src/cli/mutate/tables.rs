//! What became of mutants, counted by kernel, operator, requirement and test.

use crate::model::evidence::{MutantCounts, MutationSummary};
use comfy_table::{CellAlignment, Table, presets};

/// A column with what it counts.
struct CountColumn {
    title: &'static str,
    count: fn(&MutantCounts) -> u32,
    /// It is left out where it counts nothing at all.
    is_rare: bool,
}

const fn column(title: &'static str, count: fn(&MutantCounts) -> u32) -> CountColumn {
    CountColumn { title, count, is_rare: false }
}

const fn rare(title: &'static str, count: fn(&MutantCounts) -> u32) -> CountColumn {
    CountColumn { title, count, is_rare: true }
}

const COLUMNS: &[CountColumn] = &[
    column("COUNTED", MutantCounts::judged),
    column("KILLED", |counts| counts.killed),
    column("EXPECTATION", |counts| counts.by_expectation),
    column("FINDING", |counts| counts.by_finding),
    column("TIME, ERROR", |counts| counts.by_ending),
    column("SURVIVED", |counts| counts.survived),
    rare("EQUIVALENT", |counts| counts.equivalent),
    rare("DUPLICATE", |counts| counts.duplicate),
    rare("ACCEPTED", |counts| counts.accepted),
    rare("NO COVERAGE", |counts| counts.no_coverage),
    rare("NO TEST", |counts| counts.no_test),
    rare("UNDECIDED", |counts| counts.undecided),
    rare("NOT COMPILED", |counts| counts.not_compiled),
];

const PAIR_COLUMNS: &[CountColumn] = &[
    column("COUNTED", MutantCounts::judged),
    column("KILLED", |counts| counts.killed),
    column("SURVIVED", |counts| counts.survived),
    column("UNDECIDED", |counts| counts.undecided),
    column("EQUIVALENT", |counts| counts.equivalent),
    column("NOT COMPILED", |counts| counts.not_compiled),
    rare("NO COVERAGE", |counts| counts.no_coverage),
    rare("NO TEST", |counts| counts.no_test),
];

/// Columns of what each test noticed.
const NOTICED_BY_TEST: [&str; 4] = ["JUDGED", "KILLED", "EXPECTATION", "BY NO OTHER TEST"];

/// Columns of what the tests of each requirement noticed. A test can be of several.
const NOTICED_BY_REQUIREMENT: [&str; 4] = ["JUDGED", "KILLED", "EXPECTATION", "BY ITS TESTS ALONE"];

/// Those that the summary has.
pub(super) fn all_tables(summary: &MutationSummary) -> Vec<String> {
    let operators = summary.by_operator.iter();
    let operators = operators.map(|row| (row.operator.code().to_owned(), row.counts)).collect();
    let mut tables = vec![table_of_counts("OPERATOR", COLUMNS, operators)];
    let kernels = summary.by_kernel.iter();
    let mut kernels: Vec<(String, MutantCounts)> =
        kernels.map(|row| (row.kernel.to_string(), row.counts)).collect();
    if kernels.len() > 1 {
        kernels.push(("all".to_owned(), summary.counts));
    }
    tables.push(table_of_counts("KERNEL", COLUMNS, kernels));
    let tests = summary
        .by_test
        .iter()
        .map(|row| (row.test.to_string(), [row.judged, row.killed, row.by_expectation, row.alone]));
    tables.extend(table_of_noticed("TEST", &NOTICED_BY_TEST, tests.collect()));
    let requirements = summary.by_requirement.iter().map(|row| {
        (row.requirement.to_string(), [row.judged, row.killed, row.by_expectation, row.alone])
    });
    tables.extend(table_of_noticed("REQUIREMENT", &NOTICED_BY_REQUIREMENT, requirements.collect()));
    tables
}

/// What became of pairs of mutants, by why they are pairs.
pub(super) fn table_of_pairs(summary: &MutationSummary) -> String {
    let relations = summary.by_relation.iter();
    let rows = relations.map(|row| (row.relation.words().to_owned(), row.counts));
    table_of_counts("PAIRED BY", PAIR_COLUMNS, rows.collect())
}

fn table_of_counts(
    title: &str,
    columns: &[CountColumn],
    rows: Vec<(String, MutantCounts)>,
) -> String {
    let counts_something =
        |column: &&CountColumn| rows.iter().any(|(_, counts)| (column.count)(counts) > 0);
    let is_shown = |column: &&CountColumn| !column.is_rare || counts_something(column);
    let columns: Vec<&CountColumn> = columns.iter().filter(is_shown).collect();
    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let cells = rows.into_iter().map(|(name, counts)| {
        (name, columns.iter().map(|column| (column.count)(&counts)).collect())
    });
    table(title, &titles, cells.collect())
}

/// None where nothing was counted.
fn table_of_noticed(
    title: &str,
    columns: &[&str],
    rows: Vec<(String, [u32; 4])>,
) -> Option<String> {
    let cells: Vec<(String, Vec<u32>)> =
        rows.into_iter().map(|(name, numbers)| (name, numbers.to_vec())).collect();
    (!cells.is_empty()).then(|| table(title, columns, cells))
}

fn table(title: &str, columns: &[&str], rows: Vec<(String, Vec<u32>)>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(std::iter::once(&title).chain(columns));
    for (name, numbers) in rows {
        let cells = numbers.iter().map(u32::to_string);
        table.add_row(std::iter::once(name).chain(cells));
    }
    for index in 1..=columns.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end().trim_start_matches(' ')));
    lines.collect()
}
