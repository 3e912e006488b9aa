//! The evidence as one JSON document, in the canonical form of all stored files.

use super::{Format, Presentation, ReportError};
use crate::model::canonical::canonical_lines;
use crate::model::evidence::Evidence;

pub(super) struct Json;

impl Format for Json {
    fn render(&self, evidence: &Evidence, _: &Presentation) -> Result<Vec<u8>, ReportError> {
        Ok(canonical_lines(evidence)?.into_bytes())
    }
}
