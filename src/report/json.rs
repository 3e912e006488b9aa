//! The evidence as one JSON document, in the canonical form of all stored files, with its root hash
//! beside it.

use super::{Format, Presentation, ReportError, Standing};
use serde::Serialize;
use vkcert_model::canonical::canonical_lines;
use vkcert_model::evidence::Evidence;

pub(super) struct Json;

#[derive(Serialize)]
struct Document<'e> {
    #[serde(flatten)]
    evidence: &'e Evidence,
    root: String,
    /// False where the evidence does not verify, or in part; else not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'e [String]>,
    /// Where project or kernels could not be made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_rederivable: Option<&'e [String]>,
}

impl Format for Json {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let (problems, not_rederivable) = match &presentation.standing {
            Standing::Verified => (None, None),
            Standing::InPart(reasons) => (None, Some(reasons.as_slice())),
            Standing::Unverified(problems) => (Some(problems.as_slice()), None),
        };
        let verified = problems.or(not_rederivable).map(|_| false);
        let document =
            Document { evidence, root: evidence.root()?, verified, problems, not_rederivable };
        Ok(canonical_lines(&document)?.into_bytes())
    }
}
