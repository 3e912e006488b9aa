//! Reads a test-procedure file.
//!
//! Promises: what is read has been checked, each test with its place in the file.

use super::check_test::{KernelNames, check_tests};
use super::document::{Document, FileSyntax, Located, Origin, in_place_order};
use super::load::check_schema;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Procedure, Test};

/// A test-procedure file that has been read and checked.
#[derive(Debug, Clone)]
pub struct ProcedureFile {
    /// Paths in the file are relative to this folder.
    pub base: PathBuf,
    /// The file as a whole.
    pub procedure: Located<Procedure>,
    /// The tests again, each with its place.
    pub tests: Vec<Located<Test>>,
}

/// Reads and checks the test-procedure file at `path` (TOML or JSON).
pub fn load_procedure(path: &Path) -> Result<ProcedureFile, Vec<Diagnostic>> {
    let document = Document::load(path, path.display().to_string())?;
    let base_folder = path.parent().map(Path::to_owned).unwrap_or_default();
    checked_procedure(&document, base_folder)
}

/// Checks a test procedure in a text, whose paths are relative to `base`.
pub fn parse_procedure(
    file: &str,
    text: &str,
    syntax: FileSyntax,
    base_folder: &Path,
) -> Result<ProcedureFile, Vec<Diagnostic>> {
    checked_procedure(&Document::parse(file, text, syntax)?, base_folder.to_owned())
}

fn checked_procedure(
    document: &Arc<Document>,
    base_folder: PathBuf,
) -> Result<ProcedureFile, Vec<Diagnostic>> {
    let origin = Origin::of(document);
    check_schema(&origin, document).map_err(|problem| vec![problem])?;
    let procedure: Procedure = origin.read().map_err(in_place_order)?;
    let place = origin.at("tests");
    let tests: Vec<_> = procedure
        .tests
        .iter()
        .enumerate()
        .map(|(index, test)| Located { value: test.clone(), origin: place.at(index) })
        .collect();
    let kernel_names: Vec<&KernelName> = procedure.kernels.keys().collect();
    let mut problems = super::check::check_procedure(&origin, &procedure);
    problems.extend(check_tests(&tests, &KernelNames { names: kernel_names, table: "kernels" }));
    if problems.is_empty() {
        Ok(ProcedureFile {
            base: base_folder,
            procedure: Located { value: procedure, origin },
            tests,
        })
    } else {
        Err(in_place_order(problems))
    }
}
