//! Why a campaign, or anything that it is made of, cannot be carried out.

use std::path::Path;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_verification::VerifyError;

/// Why a campaign cannot be carried out. A test that fails is no error: it is a result.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Input files or the settings of the run are wrong; never empty.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Input(Vec<Diagnostic>),
    /// The tool itself failed: unwritable output, a broken worker, a defect.
    #[error("{message}")]
    Tool {
        /// What went wrong, in one sentence.
        message: String,
        /// The file that it is about; none where it is about none.
        path: Option<String>,
    },
    /// An engine or device that was asked for is not there.
    #[error("{message}")]
    Unavailable {
        /// What is not there, in one sentence.
        message: String,
        /// What to do about it; none where nothing is known.
        hint: Option<String>,
    },
}

/// A value of the tool that cannot be written as JSON is a defect.
impl From<serde_json::Error> for CampaignError {
    fn from(error: serde_json::Error) -> Self {
        CampaignError::tool(error.to_string())
    }
}

impl CampaignError {
    /// A failure of the tool without a file.
    pub fn tool(message: impl Into<String>) -> Self {
        CampaignError::Tool { message: message.into(), path: None }
    }

    /// The failure as one sentence: of several diagnostics the first.
    pub fn sentence(&self) -> &str {
        match self {
            CampaignError::Input(found) => {
                found.first().map_or("", |diagnostic| &diagnostic.message)
            }
            CampaignError::Tool { message, .. } | CampaignError::Unavailable { message, .. } => {
                message
            }
        }
    }

    /// An output file or folder that cannot be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let shown = path.display().to_string();
        CampaignError::Tool { message: format!("cannot write {shown}: {error}"), path: Some(shown) }
    }
}

impl From<Diagnostic> for CampaignError {
    fn from(diagnostic: Diagnostic) -> Self {
        CampaignError::Input(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for CampaignError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        CampaignError::Input(diagnostics)
    }
}

impl From<VerifyError> for CampaignError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Input(diagnostics) => CampaignError::Input(diagnostics),
            VerifyError::Tool { message, path } => CampaignError::Tool { message, path },
        }
    }
}
