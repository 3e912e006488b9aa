//! The evidence as one JSON document, in the canonical form of all stored files, with its root hash beside it.

use super::{Format, Presentation, ReportError, Standing};
use crate::model::canonical::canonical_lines;
use crate::model::evidence::Evidence;

pub(super) struct Json;

impl Format for Json {
    fn render(&self, evidence: &Evidence, presentation: &Presentation) -> Result<Vec<u8>, ReportError> {
        let mut document = serde_json::to_value(evidence)?;
        document["root"] = evidence.root()?.into();
        match &presentation.standing {
            Standing::Verified => {}
            Standing::Unverified(problems) => {
                document["verified"] = false.into();
                document["problems"] = problems.as_slice().into();
            }
        }
        Ok(canonical_lines(&document)?.into_bytes())
    }
}
