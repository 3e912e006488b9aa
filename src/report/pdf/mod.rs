//! The report as PDF, A4. This folder alone names `printpdf` (and `lopdf`, which it hands its
//! documents over as).
//!
//! Promises: equal evidence gives equal bytes (the document identifier follows from the root hash,
//! dates come from the evidence); every font is embedded as a subset; every page has a header and
//! `Page n of N`; chapters, sections, decisions and requirements are bookmarks.
//! Does not cover: tagged structure (PDF/UA).

mod bookmarks;
mod canvas;
mod face;
mod file;
mod flow;
mod furniture;
mod line;
mod operations;
mod table;

use super::document::Document;
use super::{Format, Presentation, ReportError};
use canvas::Flow;
use face::Faces;
use furniture::{contents, furnish, resolve_page_numbers, stamp, title};
use sha2::{Digest, Sha256};
use vkcert_model::evidence::Evidence;

pub(super) struct Pdf;

impl Format for Pdf {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let document = super::chapter::document(evidence)?;
        let faces = Faces::load()?;
        let mut flow = set(&document, &faces);
        furnish(&mut flow, &document);
        stamp(&mut flow, &presentation.standing);
        resolve_page_numbers(&mut flow);
        let identifier =
            Sha256::digest(format!("{} {:?}", evidence.root()?, presentation.standing));
        file::write(flow, &document, &identifier[..16])
    }
}

/// Sets title page, contents and body.
fn set<'a>(document: &Document, faces: &'a Faces) -> Flow<'a> {
    let mut flow = Flow::new(faces);
    title(&mut flow, document);
    flow.blocks(&document.front);
    flow.new_page();
    contents(&mut flow, document);
    flow.new_page();
    flow.blocks(&document.body);
    flow
}

#[cfg(test)]
mod tests;
