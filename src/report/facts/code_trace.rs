//! The trace from code to requirements.

use super::distinct::add_new;
use vkcert_model::evidence::{CodeTrace, Evidence, KernelEvidence};
use vkcert_model::id::{KernelName, ObligationId, RequirementId};
use vkcert_model::place::Position;
use vkcert_model::structure::Function;

/// Functions of the kernels' sources, as file, name and line, with the requirements that name them.
pub(crate) struct CodeRow<'a> {
    pub file: &'a str,
    pub function: &'a str,
    pub line: u32,
    pub requirements: Vec<&'a RequirementId>,
    /// Those that reach it.
    pub kernels: Vec<&'a KernelName>,
}

/// The trace from code to requirements: every function of every kernel, also those that no
/// requirement names.
pub(crate) fn code_rows(evidence: &Evidence) -> Vec<CodeRow<'_>> {
    let mut rows: Vec<CodeRow> = Vec::new();
    for kernel in &evidence.kernels {
        for function in &kernel.structure.functions {
            let Some(file) = kernel.structure.files.get(function.span.file.0 as usize) else {
                continue;
            };
            let line = Position::of(&file.text, function.span.start as usize).line;
            let is_same_row = |row: &&mut CodeRow| {
                row.file == file.path && row.function == function.name && row.line == line
            };
            let names_function =
                |code: &CodeTrace| code.names(&file.path, &function.name, &kernel.kernel);
            let naming_requirements = evidence
                .campaign
                .requirements
                .iter()
                .filter(|row| row.code.iter().any(names_function));
            let naming_requirements = naming_requirements.map(|row| &row.requirement.uid);
            let reaching_kernel = is_reached(kernel, function).then_some(&kernel.kernel);
            if let Some(row) = rows.iter_mut().find(is_same_row) {
                add_new(&mut row.kernels, reaching_kernel);
                naming_requirements.for_each(|uid| add_new(&mut row.requirements, Some(uid)));
                continue;
            }
            let kernels = reaching_kernel.into_iter().collect();
            let requirements = naming_requirements.collect();
            rows.push(CodeRow {
                file: &file.path,
                function: &function.name,
                line,
                requirements,
                kernels,
            });
        }
    }
    rows
}

/// Whether the entry point of a kernel reaches a function: of several with the same name, the one
/// that has an entry to be measured.
fn is_reached(kernel: &KernelEvidence, function: &Function) -> bool {
    let entry = ObligationId::from(format!("{}.entry", function.id));
    !kernel.coverage.not_reached.contains(&function.name)
        || kernel.coverage.points.iter().any(|point| point.id == entry)
}
