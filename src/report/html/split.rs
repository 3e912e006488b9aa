//! An HTML report in several files: an index and one file per kernel, each without any outside
//! reference but to the others.
//!
//! Knows: which kernels have a file, and how the files are called.
//! Promises: every page is made when it is asked for, so that never all of them are in memory;
//! links lead both ways and to nothing that no file holds; each page opens with the conclusion of
//! the whole run.
//! Does not cover: writing the files (the commands do), and reports without chapters of kernels.

use super::links::{PageLinks, ReportFiles};
use super::{Page, page_bytes, toolbar};
use crate::chapter::{self, Chapter, KernelPlaces};
use crate::document::{Block, Document};
use crate::facts::{self, KernelUnit};
use crate::{Presentation, ReportError};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use vkcert_model::evidence::Evidence;

/// Kernels, each under each of its configurations, that one page holds where nobody says how many: a
/// browser takes seconds and about a gigabyte for as many.
pub const HTML_SPLIT_ABOVE: usize = 1000;

/// The folder of the kernels' pages beside the index of a run.
pub const KERNEL_FOLDER: &str = "report-kernels";

/// How the file of every kernel's page begins, by which old ones are known.
pub const KERNEL_PAGE_START: &str = "<!DOCTYPE html><html lang=\"en\" data-vkcert-page=\"kernel\">";

/// A report in several pages, made one by one.
pub struct PagedHtml<'e> {
    evidence: &'e Evidence,
    presentation: &'e Presentation,
    units: Vec<KernelUnit<'e>>,
    index: Document,
    files: ReportFiles,
    folder: OsString,
    kernel_front: Vec<Block>,
}

impl<'e> PagedHtml<'e> {
    /// The report in several pages; none where it has at most `split_above` kernels or holds no
    /// chapters of kernels, so that it is one page. `index_name` is the name of its index file.
    ///
    /// # Errors
    /// If the evidence has no root.
    pub fn of_report(
        evidence: &'e Evidence,
        presentation: &'e Presentation,
        split_above: usize,
        index_name: &OsStr,
    ) -> Result<Option<Self>, ReportError> {
        let units = facts::kernel_units(evidence);
        let has_kernels = presentation.document.row().chapters.contains(&Chapter::Kernels);
        if units.len() <= split_above || !has_kernels {
            return Ok(None);
        }
        let mut index = chapter::index_document(
            evidence,
            presentation.document,
            presentation.history.as_ref(),
            &KernelPlaces::OwnFiles,
        )?;
        // All shares stand in the chapter of the summary; the front has their sums.
        index.front = index.front.into_iter().flat_map(brief_block).collect();
        let folder = kernel_folder(index_name);
        let files = ReportFiles::new(&units, &index, index_name.as_bytes(), folder.as_bytes());
        let kernel_front = chapter::kernel_front(evidence, &index.root, &units[..1]);
        Ok(Some(Self { evidence, presentation, units, index, files, folder, kernel_front }))
    }

    /// Name of the folder of the kernels' files, beside the index.
    pub fn folder(&self) -> &OsStr {
        &self.folder
    }

    /// How many kernels have a page.
    pub fn kernel_count(&self) -> usize {
        self.units.len()
    }

    /// The index.
    pub fn index_page(&self) -> Vec<u8> {
        let page = Page {
            evidence: self.evidence,
            standing: &self.presentation.standing,
            links: PageLinks::Index(&self.files),
            heading: self.index.project.clone(),
            known_names: toolbar::names_of_run(self.evidence),
        };
        page_bytes(&self.index, &page)
    }

    /// Makes the pages of all kernels, on all cores, and hands each to `write` with the name of its
    /// file; what `write` gives, in the order of the kernels. Each core holds one page at a time.
    ///
    /// # Errors
    /// An error of `write`.
    pub fn write_kernel_pages<T: Send, E: Send>(
        &self,
        write: impl Fn(&str, &[u8]) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let numbered_files = self.files.kernel_files.par_iter().with_max_len(1).enumerate();
        numbered_files.map(|(number, file)| write(file, &self.kernel_page(number))).collect()
    }

    fn kernel_page(&self, number: usize) -> Vec<u8> {
        let unit = &self.units[number];
        let name = self.presentation.document;
        let mut document = chapter::kernel_document(
            self.evidence,
            name,
            std::slice::from_ref(unit),
            &self.index.root,
        );
        document.front = self.kernel_front.clone();
        let links =
            PageLinks::Kernel { files: &self.files, number, own_anchors: document.anchors() };
        let page = Page {
            evidence: self.evidence,
            standing: &self.presentation.standing,
            links,
            heading: format!("Kernel {}", unit.unit_label()),
            known_names: toolbar::names_of_kernel(self.evidence, unit.kernel),
        };
        page_bytes(&document, &page)
    }
}

/// What a block is where room is short.
fn brief_block(block: Block) -> Vec<Block> {
    if let Block::Fitting { whole: _, brief } = block { brief } else { vec![block] }
}

/// Name of the folder of the kernels' pages beside an index: `report-kernels` of `report.html`.
pub fn kernel_folder(index_name: &OsStr) -> OsString {
    crate::folder_of_others(index_name, "-kernels")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DOCUMENTS, FormatName};
    use std::collections::{BTreeMap, BTreeSet};
    use vkcert_sample as sample;

    #[test]
    fn the_folder_of_a_run_is_that_of_its_index() {
        let index_name = FormatName::Html.row().file.unwrap();
        assert_eq!(kernel_folder(OsStr::new(index_name)), KERNEL_FOLDER);
        assert_eq!(kernel_folder(OsStr::new("a.b.htm")), "a.b-kernels");
    }

    /// Pages of all files by their paths.
    fn pages_of(evidence: &Evidence, presentation: &Presentation) -> BTreeMap<String, String> {
        let index_name = OsStr::new("report.html");
        let pages = PagedHtml::of_report(evidence, presentation, 0, index_name).unwrap();
        let Some(pages) = pages else { return BTreeMap::new() };
        let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let page_of = |name: &str, bytes: &[u8]| {
            Ok::<_, ()>((format!("report-kernels/{name}"), text_of(bytes)))
        };
        let mut files: BTreeMap<_, _> =
            pages.write_kernel_pages(page_of).unwrap().into_iter().collect();
        files.insert("report.html".to_owned(), text_of(&pages.index_page()));
        files
    }

    fn values(page: &str, attribute: &str) -> Vec<String> {
        let parts = page.split(attribute).skip(1);
        parts.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_link_of_every_page_has_its_target() {
        let evidence = sample::evidence();
        for row in DOCUMENTS {
            let presentation = Presentation { document: row.name, ..Presentation::default() };
            let files = pages_of(&evidence, &presentation);
            assert_eq!(files.is_empty(), !row.chapters.contains(&Chapter::Kernels));
            let ids: BTreeMap<&str, BTreeSet<String>> = files
                .iter()
                .map(|(file, page)| (file.as_str(), values(page, " id=\"").into_iter().collect()))
                .collect();
            let mut seen_ways = BTreeSet::new();
            for (file, page) in &files {
                for link in values(page, " href=\"") {
                    let (target, id) = link.split_once('#').unwrap_or((&link, ""));
                    let target = match (target, target.strip_prefix("../")) {
                        ("", _) => file.clone(),
                        (_, Some(above)) => above.to_owned(),
                        (target, None) if file.contains('/') => format!("report-kernels/{target}"),
                        (target, None) => target.to_owned(),
                    };
                    let target_ids = &ids[target.as_str()];
                    assert!(id.is_empty() || target_ids.contains(id), "{file}: {link}");
                    seen_ways.insert((file == "report.html", target == "report.html"));
                }
            }
            assert!(files.is_empty() || seen_ways.len() == 4, "{seen_ways:?}");
        }
    }

    #[test]
    fn a_report_is_several_files_above_the_number_of_kernels_alone() {
        let evidence = sample::evidence();
        let presentation = Presentation::default();
        let is_paged = |split_above| {
            let index_name = OsStr::new("report.html");
            let pages = PagedHtml::of_report(&evidence, &presentation, split_above, index_name);
            pages.unwrap().map(|pages| pages.kernel_count())
        };
        assert_eq!([0, 1, 2, HTML_SPLIT_ABOVE].map(is_paged), [Some(2), Some(2), None, None]);
    }

    #[test]
    fn all_of_the_report_stands_in_one_of_its_files() {
        let evidence = sample::evidence();
        let presentation = Presentation::default();
        let whole = crate::render(&evidence, FormatName::Html, &presentation).unwrap();
        let whole_ids = values(std::str::from_utf8(&whole).unwrap(), " id=\"");
        let files = pages_of(&evidence, &presentation);
        for id in whole_ids {
            assert!(files.values().any(|page| page.contains(&format!(" id=\"{id}\""))), "{id}");
        }
        for (file, page) in files {
            let is_index = file == "report.html";
            assert_eq!(page.starts_with(KERNEL_PAGE_START), !is_index, "{file}");
            for word in ["http:", "https:", "src=", "@import", "url("] {
                assert!(!page.contains(word), "{file}: {word}");
            }
        }
    }
}
