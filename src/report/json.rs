//! The evidence as one JSON document, in the canonical form of all stored files, with its root hash beside it.

use super::{Format, Presentation, ReportError, Standing};
use crate::model::canonical::canonical_lines;
use crate::model::evidence::Evidence;
use serde::Serialize;

pub(super) struct Json;

#[derive(Serialize)]
struct Document<'e> {
    #[serde(flatten)]
    evidence: &'e Evidence,
    root: String,
    /// False where the evidence does not verify; else not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'e [String]>,
}

impl Format for Json {
    fn render(&self, evidence: &Evidence, presentation: &Presentation) -> Result<Vec<u8>, ReportError> {
        let problems = match &presentation.standing {
            Standing::Verified => None,
            Standing::Unverified(problems) => Some(problems.as_slice()),
        };
        let verified = problems.map(|_| false);
        let document = Document { evidence, root: evidence.root()?, verified, problems };
        Ok(canonical_lines(&document)?.into_bytes())
    }
}
