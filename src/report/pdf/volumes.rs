//! A PDF report in several volumes.
//!
//! Knows: how many pages each section and the chapter of each kernel takes, and which volume it
//! stands in: the first chapters in volume 1, then kernels, then the other chapters.
//! Promises: volumes follow from the evidence and the limit of pages alone; each is set when it is
//! asked for, so that never more of them are in memory as pages than there are cores; page 1 of the
//! report names what each volume holds, and every volume opens with the conclusion of the whole run.
//! Does not cover: writing the files (the commands do), reports without chapters of kernels, and
//! links between volumes, which stand as names.

use super::canvas::{PageFlow, Sheet};
use super::face::FontFaces;
use super::{Pdf, identity, paper, set_blocks_alone};
use crate::chapter::{self, Chapter, KernelPlaces};
use crate::document::{Block, ColumnAlign, Document, Heading, Table, Text};
use crate::facts::{self, KernelUnit};
use crate::{Presentation, ReportError};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use vkcert_model::evidence::Evidence;

/// Pages that a volume holds where nobody says how many.
pub const PDF_VOLUME_PAGES: usize = 1000;

/// The folder of the volumes behind the first, beside that one, in a run's results.
pub const VOLUME_FOLDER: &str = "report-volumes";

/// What every volume begins with.
pub const VOLUME_START: &str = "%PDF-";

/// Name of the folder of the volumes behind a first one: `report-volumes` of `report.pdf`.
pub fn volume_folder(first_name: &OsStr) -> OsString {
    crate::folder_of_others(first_name, "-volumes")
}

/// Headings to this depth begin a section, before which a volume can end.
const SECTION_DEPTH: u8 = 3;

/// A volume of kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelVolume {
    /// Of the volume in the report, from 2 on.
    pub number: usize,
    /// Places of its kernels among those of the report.
    pub units: Range<usize>,
}

/// A report in several volumes, set one by one.
pub struct PdfVolumes<'e> {
    evidence: &'e Evidence,
    presentation: &'e Presentation,
    units: Vec<KernelUnit<'e>>,
    kernel_volumes: Vec<KernelVolume>,
    /// Volume 1, then those behind the volumes of kernels.
    chapters: Vec<Document>,
    root: String,
    /// Of the file of the first volume.
    first_name: String,
}

/// What a volume behind the first holds.
#[derive(Clone, Copy)]
enum VolumeBody<'v> {
    Kernels(&'v KernelVolume),
    Chapters(&'v Document),
}

impl<'e> PdfVolumes<'e> {
    /// The report in volumes of about `most_pages` pages at most, or of one section or kernel that
    /// has more; none where the chapters of all kernels have no more or the report holds none, so
    /// that it is one file. `first_name`: what the file of the first volume is called.
    ///
    /// # Errors
    /// If the evidence has no root or a font cannot be read.
    pub fn of_report(
        evidence: &'e Evidence,
        presentation: &'e Presentation,
        most_pages: usize,
        first_name: &OsStr,
    ) -> Result<Option<Self>, ReportError> {
        let units = facts::kernel_units(evidence);
        let name = presentation.document;
        if units.len() < 2 || !name.row().chapters.contains(&Chapter::Kernels) {
            return Ok(None);
        }
        let root = evidence.root()?;
        let faces = FontFaces::load()?;
        let sheet = Sheet::of_paper(paper(evidence, presentation));
        let pages_of_unit = |unit: &KernelUnit| {
            let document =
                chapter::kernel_document(evidence, name, std::slice::from_ref(unit), &root);
            taken_pages(&set_blocks_alone(&document.body, &faces, sheet))
        };
        let unit_pages: Vec<f32> = units.par_iter().map(pages_of_unit).collect();
        let most_pages = most_pages as f32;
        if unit_pages.iter().sum::<f32>() <= most_pages {
            return Ok(None);
        }
        let runs = runs_within(&unit_pages, most_pages);
        let kernel_volumes: Vec<KernelVolume> = runs
            .into_iter()
            .zip(2..)
            .map(|(units, number)| KernelVolume { number, units })
            .collect();
        let places = KernelPlaces::Volumes(&kernel_volumes);
        let history = presentation.history.as_ref();
        let mut index = chapter::index_document(evidence, name, history, &places)?;
        let sections = sections_of(std::mem::take(&mut index.body));
        let pages_of_section =
            |section: &Vec<Block>| taken_pages(&set_blocks_alone(section, &faces, sheet));
        let section_pages: Vec<f32> = sections.par_iter().map(pages_of_section).collect();
        let runs = runs_within(&section_pages, most_pages);
        let mut chapters = documents_of_runs(&index, sections, &runs);
        for document in &mut chapters[1..] {
            document.front = chapter::kernel_front(evidence, &root, &[]);
        }
        let first_name = first_name.to_string_lossy().into_owned();
        let mut volumes =
            Self { evidence, presentation, units, kernel_volumes, chapters, root, first_name };
        let table = volumes.table_of_volumes();
        volumes.chapters[0].front.push(Block::Table(table));
        let numbers = std::iter::once(1).chain(volumes.kernel_volumes.len() + 2..);
        let places: Vec<String> = numbers
            .take(volumes.chapters.len())
            .map(|number| volumes.place_in_words(number))
            .collect();
        for (document, place) in volumes.chapters.iter_mut().zip(places) {
            document.title = format!("{}, {place}", document.title);
            document.drop_links_to_other_documents();
        }
        Ok(Some(volumes))
    }

    /// How many volumes there are, with the first.
    pub fn volume_count(&self) -> usize {
        self.kernel_volumes.len() + self.chapters.len()
    }

    /// The first volume.
    ///
    /// # Errors
    /// As those of a report in one file.
    pub fn first_volume(&self) -> Result<Vec<u8>, ReportError> {
        self.volume_bytes(&self.chapters[0], 1)
    }

    /// The other volumes by the names of their files, each set when it is asked for, on all cores.
    ///
    /// # Errors
    /// As those of a report in one file.
    pub fn further_volumes(
        &self,
    ) -> impl ParallelIterator<Item = Result<(String, Vec<u8>), ReportError>> {
        let volumes: Vec<(usize, VolumeBody)> = self.further_bodies().collect();
        let set_volume = |(number, body)| {
            let bytes = match body {
                VolumeBody::Kernels(volume) => self.kernel_volume(volume),
                VolumeBody::Chapters(document) => self.volume_bytes(document, number),
            };
            Ok((file_name(number), bytes?))
        };
        volumes.into_par_iter().map(set_volume)
    }

    /// What the volumes behind the first hold, by their numbers.
    fn further_bodies(&self) -> impl Iterator<Item = (usize, VolumeBody<'_>)> {
        let kernels = self.kernel_volumes.iter().map(VolumeBody::Kernels);
        let chapters = self.chapters[1..].iter().map(VolumeBody::Chapters);
        (2..).zip(kernels.chain(chapters))
    }

    fn kernel_volume(&self, volume: &KernelVolume) -> Result<Vec<u8>, ReportError> {
        let units = &self.units[volume.units.clone()];
        let mut document =
            chapter::kernel_document(self.evidence, self.presentation.document, units, &self.root);
        document.front = chapter::kernel_front(self.evidence, &self.root, units);
        document.title = format!("{}, {}", document.title, self.place_in_words(volume.number));
        document.drop_links_to_other_documents();
        self.volume_bytes(&document, volume.number)
    }

    fn volume_bytes(&self, document: &Document, number: usize) -> Result<Vec<u8>, ReportError> {
        let place = self.place_in_words(number);
        let identity = format!("{} {place}", identity(&self.root, self.presentation));
        Pdf::document_bytes(document, &identity, (self.evidence, self.presentation))
    }

    fn place_in_words(&self, number: usize) -> String {
        format!("volume {number} of {}", self.volume_count())
    }

    /// What each volume holds.
    fn table_of_volumes(&self) -> Table {
        let mut table = Table::new("Volumes of this report")
            .with_column("Volume", ColumnAlign::Right)
            .columns(&["File", "From", "To"]);
        let mut add_row = |number: usize, file: String, (first, last): (Text, Text)| {
            table.add_row(vec![Text::plain(number.to_string()), Text::code(file), first, last]);
        };
        let folder = volume_folder(OsStr::new(&self.first_name));
        let folder = folder.to_string_lossy();
        add_row(1, self.first_name.clone(), ends_of_chapters(&self.chapters[0]));
        for (number, body) in self.further_bodies() {
            let ends = match body {
                VolumeBody::Kernels(volume) => self.ends_of_kernels(volume),
                VolumeBody::Chapters(document) => ends_of_chapters(document),
            };
            add_row(number, format!("{folder}/{}", file_name(number)), ends);
        }
        table
    }

    fn ends_of_kernels(&self, volume: &KernelVolume) -> (Text, Text) {
        let name =
            |unit: &KernelUnit| Text::plain("Kernel ").followed_by(Text::code(unit.unit_label()));
        let units = &self.units[volume.units.clone()];
        let end = |unit: Option<&KernelUnit>| unit.map_or_else(Text::empty, name);
        (end(units.first()), end(units.last()))
    }
}

/// Name of the file of a volume behind the first.
fn file_name(number: usize) -> String {
    format!("volume-{number}.pdf")
}

/// Pages that were set, the last one as far as it is filled.
fn taken_pages(flow: &PageFlow) -> f32 {
    let filled = 1.0 - (flow.room_below() / flow.sheet.text_height()).clamp(0.0, 1.0);
    (flow.pages.len() - 1) as f32 + filled
}

/// Neighbours that have at most so many pages together, or one that has more.
fn runs_within(pages: &[f32], most_pages: f32) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut pages_of_last = 0.0;
    for (place, pages) in pages.iter().enumerate() {
        match runs.last_mut() {
            Some(last) if pages_of_last + pages <= most_pages => {
                last.end = place + 1;
                pages_of_last += pages;
            }
            Some(_) | None => {
                runs.push(place..place + 1);
                pages_of_last = *pages;
            }
        }
    }
    runs
}

/// Blocks up to the next heading of a section.
fn sections_of(blocks: Vec<Block>) -> Vec<Vec<Block>> {
    let mut sections: Vec<Vec<Block>> = Vec::new();
    for block in blocks {
        let begins_section =
            block.leading_heading().is_some_and(|heading| heading.depth <= SECTION_DEPTH);
        // A heading alone stays with what it heads.
        let is_headed = sections
            .last()
            .is_some_and(|section| section.iter().all(|block| matches!(block, Block::Heading(_))));
        match sections.last_mut() {
            Some(section) if !begins_section || is_headed => section.push(block),
            Some(_) | None => sections.push(vec![block]),
        }
    }
    sections
}

/// A document for each run of sections. Chapters and sections that are torn apart are headed anew.
fn documents_of_runs(
    index: &Document,
    sections: Vec<Vec<Block>>,
    runs: &[Range<usize>],
) -> Vec<Document> {
    let mut sections = sections.into_iter();
    let mut open_headings: Vec<Heading> = Vec::new();
    let mut documents = Vec::new();
    for run in runs {
        let blocks: Vec<Block> = sections.by_ref().take(run.len()).flatten().collect();
        let first_depth =
            blocks.first().and_then(Block::leading_heading).map_or(u8::MAX, |row| row.depth);
        let repeated = open_headings.iter().filter(|heading| heading.depth < first_depth);
        let mut body: Vec<Block> = repeated.map(continued_heading).map(Block::Heading).collect();
        for heading in blocks.iter().filter_map(Block::leading_heading) {
            open_headings.retain(|open| open.depth < heading.depth);
            open_headings.push(heading.clone());
        }
        body.extend(blocks);
        let front = if documents.is_empty() { index.front.clone() } else { Vec::new() };
        documents.push(Document { front, body, ..index.clone() });
    }
    documents
}

fn continued_heading(heading: &Heading) -> Heading {
    let text = heading.text.clone().then_plain(" (continued)");
    Heading { text, anchor: format!("{}/continued", heading.anchor).into(), ..heading.clone() }
}

/// The first heading of a document and the last.
fn ends_of_chapters(document: &Document) -> (Text, Text) {
    let in_words = |heading: &Heading| {
        Text::plain(format!("{} ", heading.number)).followed_by(heading.text.clone())
    };
    let mut headings = document.body.iter().filter_map(Block::leading_heading);
    let first = headings.next().map_or_else(Text::empty, in_words);
    let last = headings.next_back().map_or_else(|| first.clone(), in_words);
    (first, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use std::collections::BTreeMap;
    use vkcert_sample as sample;

    #[test]
    fn volumes_hold_neighbours_up_to_the_limit() {
        assert_eq!(runs_within(&[3.0, 3.0, 3.0], 6.0), [0..2, 2..3]);
        assert_eq!(runs_within(&[7.0, 1.0, 1.0, 9.0], 6.0), [0..1, 1..3, 3..4]);
        assert_eq!(runs_within(&[], 6.0), []);
    }

    fn of_report<'e>(
        evidence: &'e Evidence,
        presentation: &'e Presentation,
        most_pages: usize,
    ) -> Result<Option<PdfVolumes<'e>>, ReportError> {
        PdfVolumes::of_report(evidence, presentation, most_pages, OsStr::new("report.pdf"))
    }

    #[test]
    fn the_folder_has_the_name_of_the_first_file() {
        assert_eq!(volume_folder(OsStr::new("report.pdf")), VOLUME_FOLDER);
        assert_eq!(volume_folder(OsStr::new("a.b.pdf")), "a.b-volumes");
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
        assert!(of_report(&evidence, &presentation, 10_000).unwrap().is_none());
        let volumes = of_report(&evidence, &presentation, 1).unwrap().unwrap();
        let unit_count = facts::kernel_units(&evidence).len();
        let held: Vec<Range<usize>> =
            volumes.kernel_volumes.iter().map(|volume| volume.units.clone()).collect();
        assert!(held.iter().cloned().flatten().eq(0..unit_count), "each once: {held:?}");
        let written: Result<BTreeMap<String, Vec<u8>>, ReportError> =
            volumes.further_volumes().collect();
        let written = written.unwrap();
        assert_eq!(written.len() + 1, volumes.volume_count());
        assert!(written.values().all(|bytes| bytes.starts_with(b"%PDF-")));
        let first = volumes.first_volume().unwrap();
        let whole = Pdf.render(&evidence, &presentation).unwrap();
        assert!(first.len() < whole.len());
        assert_eq!(first, volumes.first_volume().unwrap(), "the same bytes twice");
    }

    #[test]
    fn every_block_of_the_chapters_stands_in_one_volume() {
        let evidence = evidence_of(5);
        let presentation = Presentation::default();
        let volumes = of_report(&evidence, &presentation, 1).unwrap().unwrap();
        assert!(volumes.chapters.len() > 3);
        let places = KernelPlaces::Volumes(&volumes.kernel_volumes);
        let index =
            chapter::index_document(&evidence, presentation.document, None, &places).unwrap();
        let is_own = |block: &&Block| match block.leading_heading() {
            Some(heading) => !heading.anchor.ends_with("/continued"),
            None => true,
        };
        let own_blocks = volumes.chapters.iter().flat_map(|row| row.body.iter().filter(is_own));
        assert_eq!(own_blocks.count(), index.body.len());
        for document in &volumes.chapters {
            let depth_of_first =
                document.body.first().and_then(Block::leading_heading).unwrap().depth;
            assert_eq!(depth_of_first, 1, "a file begins with a chapter");
        }
    }
}
