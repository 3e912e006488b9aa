//! The evidence as one JSON document, in the canonical form of all stored files, with its root hash
//! beside it.

use super::{Format, Presentation, ReportError, Standing};
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use vkcert_model::canonical::nested_lines;
use vkcert_model::evidence::{Campaign, Evidence, KernelEvidence, write_campaign_text};
use vkcert_model::pipelined::write_while_making;

pub(super) struct Json;

/// Kernels that are in memory as text at a time.
const KERNELS_AT_A_TIME: usize = 64;

impl Format for Json {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let mut bytes = Vec::new();
        self.render_to(evidence, presentation, &mut bytes)?;
        Ok(bytes)
    }

    /// Member by member, in the order of their keys, so that the whole is never in memory.
    fn render_to(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
        target: &mut (dyn Write + Send),
    ) -> Result<(), ReportError> {
        let (problems, not_rederivable) = match &presentation.standing {
            Standing::Verified => (None, None),
            Standing::InPart(reasons) => (None, Some(reasons)),
            Standing::Unverified(problems) => (Some(problems), None),
        };
        let Evidence { campaign, kernels, inputs, manifest } = evidence;
        let mut document = OpenDocument { target, is_empty: true };
        document.write_campaign(campaign)?;
        if let Some(inputs) = inputs {
            document.write_member("inputs", inputs)?;
        }
        document.write_kernels(kernels)?;
        document.write_member("manifest", manifest)?;
        // Where project or kernels could not be made again.
        if let Some(reasons) = not_rederivable {
            document.write_member("not_rederivable", reasons)?;
        }
        if let Some(problems) = problems {
            document.write_member("problems", problems)?;
        }
        document.write_member("root", &evidence.root()?)?;
        // Where the evidence does not verify, or in part.
        if problems.or(not_rederivable).is_some() {
            document.write_member("verified", &false)?;
        }
        document.close()
    }
}

/// An object whose members are written one after the other, in the order of their keys.
struct OpenDocument<'t> {
    target: &'t mut (dyn Write + Send),
    is_empty: bool,
}

impl OpenDocument<'_> {
    fn begin_member(&mut self, key: &str) -> Result<(), ReportError> {
        let before = if self.is_empty { "{" } else { "," };
        self.is_empty = false;
        Ok(write!(self.target, "{before}\n  \"{key}\": ")?)
    }

    fn write_member(&mut self, key: &str, value: &impl Serialize) -> Result<(), ReportError> {
        self.begin_member(key)?;
        Ok(self.target.write_all(nested_lines(value, 1)?.as_bytes())?)
    }

    fn write_campaign(&mut self, campaign: &Campaign) -> Result<(), ReportError> {
        self.begin_member("campaign")?;
        write_campaign_text(campaign, 1, &mut |piece: &str| {
            Ok::<_, ReportError>(self.target.write_all(piece.as_bytes())?)
        })
    }

    fn write_kernels(&mut self, kernels: &[KernelEvidence]) -> Result<(), ReportError> {
        self.begin_member("kernels")?;
        if kernels.is_empty() {
            return Ok(self.target.write_all(b"[]")?);
        }
        let mut before = "[";
        let texts_of_kernels = |kernels: &[KernelEvidence]| -> Result<Vec<String>, ReportError> {
            let texts = kernels.par_iter().map(|kernel| nested_lines(kernel, 2));
            Ok(texts.collect::<Result<_, _>>()?)
        };
        write_while_making(kernels.chunks(KERNELS_AT_A_TIME), texts_of_kernels, |texts| {
            for text in texts {
                write!(self.target, "{before}\n    ")?;
                self.target.write_all(text.as_bytes())?;
                before = ",";
            }
            Ok(())
        })?;
        Ok(self.target.write_all(b"\n  ]")?)
    }

    fn close(self) -> Result<(), ReportError> {
        Ok(self.target.write_all(b"\n}\n")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::canonical::canonical_lines;

    #[derive(Serialize)]
    struct Document<'e> {
        #[serde(flatten)]
        evidence: &'e Evidence,
        root: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        verified: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        problems: Option<&'e [String]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        not_rederivable: Option<&'e [String]>,
    }

    #[test]
    fn the_document_is_the_canonical_form_of_the_whole() {
        let reasons = ["a reason\n".to_owned(), "another".to_owned()];
        let mut evidence = vkcert_sample::evidence();
        for evidence_has_kernels in [true, false] {
            for standing in [
                Standing::Verified,
                Standing::InPart(reasons.to_vec()),
                Standing::Unverified(reasons.to_vec()),
            ] {
                let (problems, not_rederivable) = match &standing {
                    Standing::Verified => (None, None),
                    Standing::InPart(_) => (None, Some(&reasons[..])),
                    Standing::Unverified(_) => (Some(&reasons[..]), None),
                };
                let document = Document {
                    evidence: &evidence,
                    root: evidence.root().unwrap(),
                    verified: (standing != Standing::Verified).then_some(false),
                    problems,
                    not_rederivable,
                };
                let expected = canonical_lines(&document).unwrap();
                let presentation = Presentation { standing, ..Presentation::default() };
                let rendered = Json.render(&evidence, &presentation).unwrap();
                assert_eq!(String::from_utf8(rendered).unwrap(), expected);
            }
            assert!(!evidence.kernels.is_empty() || !evidence_has_kernels);
            evidence.kernels.clear();
            evidence.inputs = None;
        }
    }
}
