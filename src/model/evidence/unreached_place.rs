//! Where mutants are that no test reaches.

use super::{MutantEdit, MutantStatus, MutationEvidence};
use serde::Serialize;
use std::fmt;

/// Lines of a file with mutants that change what no test executes: each line or the one in front of it has one, and no
/// other mutant that was judged is between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreachedPlace {
    /// The file, as the project names it.
    pub file: String,
    /// Line of the first one, from 1 on.
    pub first_line: u32,
    /// Column of it, from 1 on, in characters.
    pub first_column: u32,
    /// Line of the last one.
    pub last_line: u32,
    /// How many there are.
    pub mutants: u32,
}

impl UnreachedPlace {
    /// In the order of the texts. What is not counted whoever executes it parts no place.
    pub fn of_kernel(kernel: &MutationEvidence) -> Vec<UnreachedPlace> {
        let told = kernel.mutants.iter().filter(|mutant| {
            !matches!(
                mutant.status,
                MutantStatus::Duplicate | MutantStatus::NotCompiled | MutantStatus::Equivalent
            )
        });
        let mut rows: Vec<(&MutantEdit, MutantStatus)> =
            told.filter_map(|mutant| Some((mutant.edits.first()?, mutant.status))).collect();
        rows.sort_by_key(|(edit, _)| (&edit.file, edit.start));
        let runs = rows.chunk_by(|(edit, status), (next, next_status)| {
            edit.file == next.file && status == next_status && next.line <= edit.line + 1
        });
        let unreached = runs.filter(|run| run[0].1 == MutantStatus::NoCoverage);
        unreached.map(UnreachedPlace::of_run).collect()
    }

    fn of_run(run: &[(&MutantEdit, MutantStatus)]) -> Self {
        let ((first, _), (last, _)) = (run[0], run[run.len() - 1]);
        Self {
            file: first.file.clone(),
            first_line: first.line,
            first_column: first.column,
            last_line: last.line,
            mutants: run.len() as u32,
        }
    }
}

impl fmt::Display for UnreachedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, first_line, first_column, last_line, mutants: _ } = self;
        match last_line == first_line {
            true => write!(f, "{file}:{first_line}:{first_column}"),
            false => write!(f, "{file}:{first_line}-{last_line}"),
        }
    }
}
