//! Why evidence cannot be verified at all.

use std::path::Path;
use vkcert_model::diagnostic::Diagnostic;

/// Why evidence cannot be verified. Evidence that does not hold is no error: it is a result.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The evidence, or a project that it is compared with, cannot be read; never empty.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Input(Vec<Diagnostic>),
    /// The tool itself failed: unwritable output, a defect.
    #[error("{message}")]
    Tool {
        /// What went wrong, in one sentence.
        message: String,
        /// The file that it is about; none where it is about none.
        path: Option<String>,
    },
}

impl VerifyError {
    /// A failure of the tool without a file.
    pub fn tool(message: impl Into<String>) -> Self {
        VerifyError::Tool { message: message.into(), path: None }
    }

    /// An output file that cannot be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let shown = path.display().to_string();
        VerifyError::Tool { message: format!("cannot write {shown}: {error}"), path: Some(shown) }
    }
}

impl From<Diagnostic> for VerifyError {
    fn from(diagnostic: Diagnostic) -> Self {
        VerifyError::Input(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for VerifyError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        VerifyError::Input(diagnostics)
    }
}

/// A value that cannot be written as JSON is a defect of the tool.
impl From<serde_json::Error> for VerifyError {
    fn from(error: serde_json::Error) -> Self {
        VerifyError::tool(error.to_string())
    }
}
