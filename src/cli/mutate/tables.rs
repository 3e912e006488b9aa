//! What became of mutants, counted by kernel and by operator.

use super::{JudgedMutant, judged_mutants};
use crate::campaign::mutation::{KernelMutation, MutantCounts};
use crate::model::mutation::MUTATION_OPERATORS;
use comfy_table::{CellAlignment, Table, presets};

/// A column with what it counts.
struct CountColumn {
    title: &'static str,
    count: fn(&MutantCounts) -> usize,
    /// It is left out where it counts nothing at all.
    is_rare: bool,
}

const fn column(title: &'static str, count: fn(&MutantCounts) -> usize) -> CountColumn {
    CountColumn { title, count, is_rare: false }
}

const fn rare(title: &'static str, count: fn(&MutantCounts) -> usize) -> CountColumn {
    CountColumn { title, count, is_rare: true }
}

const COLUMNS: &[CountColumn] = &[
    column("MUTANTS", MutantCounts::judged),
    column("KILLED", |counts| counts.killed),
    column("EXPECTATION", |counts| counts.by_expectation),
    column("FINDING", |counts| counts.by_finding),
    column("TIME, ERROR", |counts| counts.by_ending),
    column("SURVIVED", |counts| counts.survived),
    rare("EQUIVALENT", |counts| counts.equivalent),
    rare("NO TEST", |counts| counts.no_test),
    rare("UNDECIDED", |counts| counts.undecided),
    rare("NOT COMPILED", |counts| counts.not_compiled),
];

/// The counts of each kernel, and of all together.
pub(super) fn table_by_kernel(mutations: &[KernelMutation]) -> String {
    let mut rows: Vec<(String, MutantCounts)> = mutations
        .iter()
        .map(|mutation| {
            let results = mutation.results.iter().flatten();
            (mutation.kernel.to_string(), MutantCounts::of_results(results))
        })
        .collect();
    if rows.len() > 1 {
        rows.push(("all".to_owned(), counts_of_all(mutations)));
    }
    table("KERNEL", &rows)
}

/// The counts of each operator that made a mutant; one that several made counts for each.
pub(super) fn table_by_operator(mutations: &[KernelMutation]) -> String {
    let judged: Vec<JudgedMutant> = mutations.iter().flat_map(judged_mutants).collect();
    let rows = MUTATION_OPERATORS.iter().filter_map(|row| {
        let made = judged.iter().filter(|judged| judged.mutant.operators.contains(&row.operator));
        let counts = MutantCounts::of_results(made.map(|judged| judged.result));
        let is_made = counts.judged() + counts.equivalent + counts.not_compiled > 0;
        is_made.then(|| (row.code.to_owned(), counts))
    });
    table("OPERATOR", &rows.collect::<Vec<_>>())
}

/// Of all kernels together.
pub(super) fn counts_of_all(mutations: &[KernelMutation]) -> MutantCounts {
    MutantCounts::of_results(
        mutations.iter().flat_map(|mutation| mutation.results.iter().flatten()),
    )
}

fn table(title: &str, rows: &[(String, MutantCounts)]) -> String {
    let counts_something =
        |column: &&CountColumn| rows.iter().any(|(_, counts)| (column.count)(counts) > 0);
    let is_shown = |column: &&CountColumn| !column.is_rare || counts_something(column);
    let columns: Vec<&CountColumn> = COLUMNS.iter().filter(is_shown).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let titles = columns.iter().map(|column| column.title.to_owned());
    table.set_header(std::iter::once(title.to_owned()).chain(titles));
    for (name, counts) in rows {
        let cells = columns.iter().map(|column| (column.count)(counts).to_string());
        table.add_row(std::iter::once(name.clone()).chain(cells));
    }
    for index in 1..=columns.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end().trim_start_matches(' ')));
    lines.collect()
}
