//! What is wrong with a test, gathered while it is prepared.

use vkcert_model::diagnostic::Diagnostic;
use vkcert_requirement::document::in_place_order;

/// A test that cannot be prepared.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PrepareError {
    /// The file is wrong (exit code 2).
    #[error("{} in the test procedure", match .0.len() { 1 => "a fault".to_owned(), n => format!("{n} faults") })]
    Input(Vec<Diagnostic>),
    /// No engine can run this (verdict `unsupported`).
    #[error("unsupported: {what}")]
    Unsupported {
        /// What is missing, by name.
        what: String,
    },
}

/// What is wrong with a test, gathered while it is prepared.
#[derive(Debug, Default)]
pub struct Problems {
    diagnostics: Vec<Diagnostic>,
    unsupported: Option<String>,
}

impl Problems {
    /// Adds a fault; faults are told together.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The first unsupported thing names the verdict.
    pub fn unsupported(&mut self, unsupported_thing: impl Into<String>) {
        self.unsupported.get_or_insert_with(|| unsupported_thing.into());
    }

    /// Number of problems so far, of either kind.
    pub(super) fn count(&self) -> usize {
        self.diagnostics.len() + usize::from(self.unsupported.is_some())
    }

    pub(super) fn into_result(self) -> Result<(), PrepareError> {
        match (self.diagnostics.is_empty(), self.unsupported) {
            (false, _) => Err(PrepareError::Input(in_place_order(self.diagnostics))),
            (true, Some(what)) => Err(PrepareError::Unsupported { what }),
            (true, None) => Ok(()),
        }
    }
}
