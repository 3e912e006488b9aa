//! A PDF report in several volumes: an index with everything but the chapters of kernels, and files
//! with those.
//!
//! Knows: how many pages the chapter of each kernel has, and which volume it stands in.
//! Promises: volumes follow from the evidence and the limit of pages alone; each is made when it is
//! asked for, so that never more of them are in memory than there are cores; a reader of the index
//! finds the volume of every kernel, and every volume opens with the conclusion of the whole run.
//! Does not cover: writing the files (the commands do), reports without chapters of kernels, and
//! links between volumes, which stand as names.

use super::canvas::Sheet;
use super::face::FontFaces;
use super::{Pdf, identity, paper, set_blocks_alone};
use crate::chapter::{self, Chapter, KernelPlaces};
use crate::document::Document;
use crate::facts::{self, KernelUnit};
use crate::{Presentation, ReportError};
use rayon::prelude::*;
use std::ops::Range;
use vkcert_model::evidence::Evidence;

/// Pages of kernels that a volume holds where nobody says how many.
pub const PDF_VOLUME_PAGES: usize = 1000;

/// The folder of the volumes behind the first, beside that one.
pub const VOLUME_FOLDER: &str = "report-volumes";

/// A volume of kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelVolume {
    /// The index is volume 1.
    pub number: usize,
    /// Places of its kernels among those of the report.
    pub units: Range<usize>,
}

impl KernelVolume {
    /// Name of its file.
    pub(crate) fn file_name(&self) -> String {
        format!("volume-{}.pdf", self.number)
    }
}

/// A report in several volumes, made one by one.
pub struct PdfVolumes<'e> {
    evidence: &'e Evidence,
    presentation: &'e Presentation,
    units: Vec<KernelUnit<'e>>,
    volumes: Vec<KernelVolume>,
    root: String,
}

impl<'e> PdfVolumes<'e> {
    /// The report in volumes of at most `most_pages` pages of kernels, or of one kernel that has
    /// more; none where all kernels have as many or the report holds no chapters of kernels, so that
    /// it is one file.
    ///
    /// # Errors
    /// If the evidence has no root or a font cannot be read.
    pub fn of_report(
        evidence: &'e Evidence,
        presentation: &'e Presentation,
        most_pages: usize,
    ) -> Result<Option<Self>, ReportError> {
        let units = facts::kernel_units(evidence);
        let has_kernels = presentation.document.row().chapters.contains(&Chapter::Kernels);
        if units.len() < 2 || !has_kernels {
            return Ok(None);
        }
        let root = evidence.root()?;
        let page_counts = counted_pages(evidence, presentation, &units, &root)?;
        if page_counts.iter().sum::<usize>() <= most_pages {
            return Ok(None);
        }
        let volumes = volumes_of(&page_counts, most_pages);
        Ok(Some(Self { evidence, presentation, units, volumes, root }))
    }

    /// How many volumes there are, with the index.
    pub fn volume_count(&self) -> usize {
        self.volumes.len() + 1
    }

    /// The first volume, with everything but the chapters of kernels.
    ///
    /// # Errors
    /// As those of a report in one file.
    pub fn index_volume(&self) -> Result<Vec<u8>, ReportError> {
        let places = KernelPlaces::Volumes(&self.volumes);
        let (name, history) = (self.presentation.document, self.presentation.history.as_ref());
        let mut index = chapter::index_document(self.evidence, name, history, &places)?;
        index.drop_links_to_other_documents();
        self.volume_bytes(index, 1)
    }

    /// The other volumes by the names of their files, each made when it is asked for, on all cores.
    ///
    /// # Errors
    /// As those of a report in one file.
    pub fn kernel_volumes(
        &self,
    ) -> impl IndexedParallelIterator<Item = Result<(String, Vec<u8>), ReportError>> {
        let volumes = self.volumes.par_iter();
        volumes.map(|volume| Ok((volume.file_name(), self.kernel_volume(volume)?)))
    }

    fn kernel_volume(&self, volume: &KernelVolume) -> Result<Vec<u8>, ReportError> {
        let units = &self.units[volume.units.clone()];
        let mut document =
            chapter::kernel_document(self.evidence, self.presentation.document, units, &self.root);
        document.front = chapter::kernel_front(self.evidence, &self.root, units);
        document.drop_links_to_other_documents();
        self.volume_bytes(document, volume.number)
    }

    fn volume_bytes(&self, mut document: Document, number: usize) -> Result<Vec<u8>, ReportError> {
        let place = format!("volume {number} of {}", self.volume_count());
        document.title = format!("{}, {place}", document.title);
        let identity = format!("{} {place}", identity(&self.root, self.presentation));
        Pdf::document_bytes(&document, &identity, (self.evidence, self.presentation))
    }
}

/// Pages of the chapter of each kernel, where each begins on one.
fn counted_pages(
    evidence: &Evidence,
    presentation: &Presentation,
    units: &[KernelUnit],
    root: &str,
) -> Result<Vec<usize>, ReportError> {
    let faces = FontFaces::load()?;
    let sheet = Sheet::of_paper(paper(evidence, presentation));
    let name = presentation.document;
    let pages_of = |unit: &KernelUnit| {
        let document = chapter::kernel_document(evidence, name, std::slice::from_ref(unit), root);
        set_blocks_alone(&document.body, &faces, sheet).pages.len()
    };
    Ok(units.par_iter().map(pages_of).collect())
}

/// Neighbours in one volume as long as they have at most so many pages together.
fn volumes_of(page_counts: &[usize], most_pages: usize) -> Vec<KernelVolume> {
    let mut volumes: Vec<KernelVolume> = Vec::new();
    let mut pages_of_last = 0;
    for (place, pages) in page_counts.iter().enumerate() {
        match volumes.last_mut() {
            Some(last) if pages_of_last + pages <= most_pages => {
                last.units.end = place + 1;
                pages_of_last += pages;
            }
            Some(_) | None => {
                let number = volumes.len() + 2;
                volumes.push(KernelVolume { number, units: place..place + 1 });
                pages_of_last = *pages;
            }
        }
    }
    volumes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use std::collections::BTreeMap;
    use vkcert_sample as sample;

    #[test]
    fn volumes_hold_neighbours_up_to_the_limit() {
        let places = |counts: &[usize], most| -> Vec<Range<usize>> {
            volumes_of(counts, most).into_iter().map(|volume| volume.units).collect()
        };
        assert_eq!(places(&[3, 3, 3], 6), [0..2, 2..3]);
        assert_eq!(places(&[7, 1, 1, 9], 6), [0..1, 1..3, 3..4]);
        assert_eq!(places(&[], 6), []);
    }

    /// The sample evidence with its first kernel under several names.
    fn evidence_of(count: usize) -> Evidence {
        let mut evidence = sample::evidence();
        let first = evidence.kernels[0].clone();
        for number in 0..count {
            let mut kernel = first.clone();
            kernel.kernel = format!("copy{number}").as_str().into();
            evidence.kernels.push(kernel);
        }
        evidence
    }

    #[test]
    fn every_kernel_stands_in_one_volume_that_the_index_names() {
        let evidence = evidence_of(5);
        let presentation = Presentation::default();
        assert!(PdfVolumes::of_report(&evidence, &presentation, 10_000).unwrap().is_none());
        let volumes = PdfVolumes::of_report(&evidence, &presentation, 1).unwrap().unwrap();
        let unit_count = facts::kernel_units(&evidence).len();
        assert_eq!(volumes.volume_count(), unit_count + 1, "each has a page or more");
        let written: Result<BTreeMap<String, Vec<u8>>, ReportError> =
            volumes.kernel_volumes().collect();
        let written = written.unwrap();
        assert_eq!(written.len(), unit_count);
        assert!(written.values().all(|bytes| bytes.starts_with(b"%PDF-")));
        let index = volumes.index_volume().unwrap();
        let whole = Pdf.render(&evidence, &presentation).unwrap();
        assert!(index.len() < whole.len());
        assert_eq!(index, volumes.index_volume().unwrap(), "the same bytes twice");
    }
}
