//! The report as PDF, A4 or Letter. This folder alone names `krilla`, which writes the file, and
//! `skrifa`, which reads the fonts.
//!
//! Promises: equal evidence gives equal bytes (the document identifier follows from the root hash
//! and the roots of runs beside it, dates come from the evidence); the file is PDF/UA-1 (ISO 14289-1), and PDF/A-2a (ISO
//! 19005-2) where the evidence is dated:
//! every font is embedded as a subset with its characters, every drawing belongs to an element of the
//! structure or is an artifact; every page has a header and `Page n of N`; chapters, sections,
//! decisions and requirements are bookmarks.
//! Does not cover: what of both standards only a person can judge, such as whether an alternative
//! text says what its figure shows.

mod bookmarks;
mod canvas;
mod drawing;
mod face;
mod file;
mod flow;
mod furniture;
mod line;
mod listing;
mod packed;
mod page;
mod structure;
mod table;
mod tags;
mod volumes;

use super::document::{Block, Document};
use super::{DocumentName, Format, Presentation, ReportError};
use canvas::{PageFlow, Sheet, SheetTurning};
use face::FontFaces;
use furniture::{add_furniture, add_stamp, resolve_page_numbers, set_contents, set_title};
use sha2::{Digest, Sha256};
use vkcert_model::document::Paper;
use vkcert_model::evidence::Evidence;

pub(crate) use volumes::KernelVolume;
pub use volumes::{PDF_VOLUME_PAGES, PdfVolumes, VOLUME_FOLDER, VOLUME_START, volume_folder};

pub(super) struct Pdf;

impl Format for Pdf {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let document = super::chapter::report_document(
            evidence,
            presentation.document,
            presentation.history.as_ref(),
        )?;
        let identity = identity(&document.root, presentation);
        Self::document_bytes(&document, &identity, (evidence, presentation))
    }
}

impl Pdf {
    /// A document as a file; `identity` is what its identifier follows from.
    fn document_bytes(
        document: &Document,
        identity: &str,
        (evidence, presentation): (&Evidence, &Presentation),
    ) -> Result<Vec<u8>, ReportError> {
        let faces = FontFaces::load()?;
        let mut flow =
            set_document(document, &faces, Sheet::of_paper(paper(evidence, presentation)));
        add_furniture(&mut flow, document);
        add_stamp(&mut flow, &presentation.standing);
        resolve_page_numbers(&mut flow);
        let identifier = Sha256::digest(identity);
        file::pdf_bytes(flow, document, &identifier[..16])
    }
}

/// Blocks of a body as they are set from the top of a page on, with nothing around them.
fn set_blocks_alone<'a>(blocks: &[Block], faces: &'a FontFaces, sheet: Sheet) -> PageFlow<'a> {
    let mut flow = PageFlow::new(faces, sheet);
    flow.turning = SheetTurning::Wanted;
    flow.set_blocks(blocks);
    flow
}

/// The paper asked for, else that of the project, else A4.
fn paper(evidence: &Evidence, presentation: &Presentation) -> Paper {
    let settings = evidence.campaign.settings.as_ref();
    let stated = settings.and_then(|settings| settings.document.as_ref()?.paper);
    presentation.paper.or(stated).unwrap_or_default()
}

/// What the identifier of the file follows from: two files that differ have two.
fn identity(root: &str, presentation: &Presentation) -> String {
    let mut identity = format!("{root} {:?}", presentation.standing);
    if presentation.document != DocumentName::All {
        identity.push_str(&format!(" {}", presentation.document));
    }
    if let Some(paper) = presentation.paper {
        identity.push_str(&format!(" {paper:?}"));
    }
    if let Some(history) = &presentation.history {
        // Roots of the runs, and what else a trend shows.
        identity.push_str(&format!(" {history:?}"));
    }
    identity
}

/// Sets title page, contents and body.
fn set_document<'a>(document: &Document, faces: &'a FontFaces, sheet: Sheet) -> PageFlow<'a> {
    let mut flow = PageFlow::new(faces, sheet);
    set_title(&mut flow, document);
    flow.set_blocks(&document.front);
    // What page 1 had no room for need not stand alone.
    if flow.pages.len() > 1 && flow.room_below() > 0.5 * flow.sheet.text_height() {
        flow.add_space(24.0);
    } else {
        flow.new_page();
    }
    set_contents(&mut flow, document);
    flow.new_page();
    flow.turning = SheetTurning::Wanted;
    flow.set_blocks(&document.body);
    flow
}

#[cfg(test)]
mod reader_tests;
#[cfg(test)]
mod tests;
