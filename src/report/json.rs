//! The evidence as one JSON document, in the canonical form of all stored files, with its root hash
//! beside it.

use super::{Format, Presentation, ReportError, Standing, rendered_bytes};
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, Read, Write};
use vkcert_model::canonical::{nest_lines, nested_lines};
use vkcert_model::evidence::{Evidence, write_campaign_text};
use vkcert_model::pipelined::write_while_making;

pub(super) struct Json;

/// Kernels that are in memory as text at a time.
const KERNELS_AT_A_TIME: usize = 64;

/// Bytes of a large file that are in memory at a time, before and behind its indentation.
const PIECE_BYTES: usize = 1 << 20;

/// A part of evidence that has a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidencePart {
    /// The run without kernels and inputs.
    Campaign,
    /// What the run read.
    Inputs,
    /// The kernel at this place of the evidence.
    Kernel(usize),
}

/// The files of evidence that has been written: their text is that of the JSON report, but for its
/// indentation.
pub trait EvidenceTexts: Sync {
    /// Opens the file of a part. Its end must be an error where it does not hold what was written.
    fn open(&self, part: EvidencePart) -> io::Result<Box<dyn Read + Send>>;
}

impl Format for Json {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        rendered_bytes(self, evidence, presentation)
    }

    fn render_to(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
        target: &mut (dyn Write + Send),
    ) -> Result<(), ReportError> {
        render_json(evidence, presentation, PartTexts::Made(evidence), target)
    }
}

/// Renders the JSON report of evidence whose files have been written, from their text.
///
/// # Errors
/// Files that cannot be read or hold something else, and those of `target`.
pub fn render_json_from(
    texts: &dyn EvidenceTexts,
    evidence: &Evidence,
    presentation: &Presentation,
    target: &mut (dyn Write + Send),
) -> Result<(), ReportError> {
    let texts = PartTexts::Stored { files: texts, piece_bytes: PIECE_BYTES };
    render_json(evidence, presentation, texts, target)
}

/// Member by member, in the order of their keys, so that the whole is never in memory.
fn render_json(
    evidence: &Evidence,
    presentation: &Presentation,
    texts: PartTexts<'_>,
    target: &mut (dyn Write + Send),
) -> Result<(), ReportError> {
    let (problems, not_rederivable) = match &presentation.standing {
        Standing::Verified => (None, None),
        Standing::InPart(reasons) => (None, Some(reasons)),
        Standing::Unverified(problems) => (Some(problems), None),
    };
    let Evidence { campaign: _, kernels, mutations, inputs, manifest } = evidence;
    let mut document = OpenDocument { target, is_empty: true };
    document.write_part("campaign", EvidencePart::Campaign, texts)?;
    if inputs.is_some() {
        document.write_part("inputs", EvidencePart::Inputs, texts)?;
    }
    document.write_kernels(kernels.len(), texts)?;
    document.write_member("manifest", manifest)?;
    if !mutations.is_empty() {
        document.write_member("mutations", mutations)?;
    }
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

/// Takes a part's text piece by piece.
type WritePiece<'w> = &'w mut (dyn FnMut(&[u8]) -> Result<(), ReportError> + Send);

/// Where the canonical text of the parts of evidence comes from.
#[derive(Clone, Copy)]
enum PartTexts<'t> {
    /// It is made of the evidence.
    Made(&'t Evidence),
    /// It is read.
    Stored {
        files: &'t dyn EvidenceTexts,
        /// Bytes of a file that are in memory at a time.
        piece_bytes: usize,
    },
}

impl PartTexts<'_> {
    /// Hands a part to `write`, behind `depth` steps of indentation, piece by piece.
    fn write(
        self,
        part: EvidencePart,
        depth: usize,
        write: WritePiece<'_>,
    ) -> Result<(), ReportError> {
        match self {
            PartTexts::Made(Evidence { campaign, kernels, mutations: _, inputs, manifest: _ }) => {
                match part {
                    EvidencePart::Campaign => {
                        write_campaign_text(campaign, depth, &mut |piece: &str| {
                            write(piece.as_bytes())
                        })
                    }
                    EvidencePart::Inputs => write(nested_lines(inputs, depth)?.as_bytes()),
                    EvidencePart::Kernel(number) => {
                        write(nested_lines(&kernels[number], depth)?.as_bytes())
                    }
                }
            }
            PartTexts::Stored { files, piece_bytes } => {
                let mut file = files.open(part).map_err(ReportError::Texts)?;
                write_nested_file(&mut file, piece_bytes, depth, write)
            }
        }
    }
}

/// Hands the text of a file to `write`, behind more indentation and without the end of its last line.
fn write_nested_file(
    file: &mut (dyn Read + Send),
    piece_bytes: usize,
    depth: usize,
    write: WritePiece<'_>,
) -> Result<(), ReportError> {
    let pieces = std::iter::from_fn(|| next_piece(file, piece_bytes).transpose());
    let nest =
        |piece: io::Result<Vec<u8>>| Ok(nest_lines(&piece.map_err(ReportError::Texts)?, depth));
    // White space at the end of a piece is written with what follows it; behind the last one nothing
    // does.
    let mut line_end = Vec::new();
    write_while_making(pieces, nest, |piece: Vec<u8>| {
        write(&line_end)?;
        let end = piece.iter().rposition(|byte| !byte.is_ascii_whitespace());
        let (text, behind) = piece.split_at(end.map_or(0, |end| end + 1));
        line_end = behind.to_vec();
        write(text)
    })
}

/// The next bytes of a file, at most so many; none at its end.
fn next_piece(file: &mut dyn Read, most_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let mut piece = Vec::with_capacity(most_bytes.min(1 << 16));
    file.take(most_bytes as u64).read_to_end(&mut piece)?;
    Ok((!piece.is_empty()).then_some(piece))
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

    fn write_part(
        &mut self,
        key: &str,
        part: EvidencePart,
        texts: PartTexts<'_>,
    ) -> Result<(), ReportError> {
        self.begin_member(key)?;
        texts.write(part, 1, &mut |piece| Ok(self.target.write_all(piece)?))
    }

    fn write_kernels(&mut self, count: usize, texts: PartTexts<'_>) -> Result<(), ReportError> {
        self.begin_member("kernels")?;
        if count == 0 {
            return Ok(self.target.write_all(b"[]")?);
        }
        let text_of_kernel = |number: usize| -> Result<Vec<u8>, ReportError> {
            let mut text = Vec::new();
            texts.write(EvidencePart::Kernel(number), 2, &mut |piece| {
                text.extend_from_slice(piece);
                Ok(())
            })?;
            Ok(text)
        };
        let text_of_kernels = |first: usize| -> Result<Vec<u8>, ReportError> {
            let kernels = first..count.min(first + KERNELS_AT_A_TIME);
            let texts = kernels.into_par_iter().with_max_len(1).map(text_of_kernel);
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join(&b",\n    "[..]))
        };
        let mut before = "[";
        let first_ones = (0..count).step_by(KERNELS_AT_A_TIME);
        write_while_making(first_ones, text_of_kernels, |text| {
            write!(self.target, "{before}\n    ")?;
            self.target.write_all(&text)?;
            before = ",";
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

    /// Files as a run has written them.
    struct TextsInMemory<'e>(&'e Evidence);

    impl EvidenceTexts for TextsInMemory<'_> {
        fn open(&self, part: EvidencePart) -> io::Result<Box<dyn Read + Send>> {
            let text = match part {
                EvidencePart::Campaign => canonical_lines(&self.0.campaign),
                EvidencePart::Inputs => canonical_lines(&self.0.inputs),
                EvidencePart::Kernel(number) => canonical_lines(&self.0.kernels[number]),
            };
            Ok(Box::new(io::Cursor::new(text?)))
        }
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
                for piece_bytes in [1, 7, PIECE_BYTES] {
                    let files = &TextsInMemory(&evidence);
                    let texts = PartTexts::Stored { files, piece_bytes };
                    let mut rendered = Vec::new();
                    render_json(&evidence, &presentation, texts, &mut rendered).unwrap();
                    assert_eq!(String::from_utf8(rendered).unwrap(), expected);
                }
            }
            assert!(!evidence.kernels.is_empty() || !evidence_has_kernels);
            evidence.kernels.clear();
            evidence.inputs = None;
        }
    }
}
