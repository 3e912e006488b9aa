//! What a run leaves in its output folder: evidence, reports, the list of both hashes, and where all
//! of it is from.
//!
//! Promises: a report is written as soon as it is rendered; what the list names has the hashes that
//! stand in it. Does not cover: how the folder takes the place of an earlier one (`cli::output`).

use super::super::args::ReportOptions;
use super::super::baseline::BASELINE;
use super::super::failure::Failure;
use super::super::output::{PendingFolder, SectionRemoval};
use super::super::provenance::RunStart;
use super::super::shard::SHARD;
use crate::campaign::CampaignError;
use crate::campaign::facts::EvidenceTarget;
use crate::derivation::files::{
    CAMPAIGN, INPUTS, MANIFEST, PROVENANCE, REPORTS, UnmadeFile, canonical_bytes, kernel_files,
    write_campaign_bytes,
};
use crate::model::canonical::{CheckingReader, HashingWriter, sha256_digits};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{Evidence, ReportList};
use crate::model::provenance::RunReuse;
use crate::model::shard::{Shard, ShardFile};
use crate::report::{
    self, EvidencePart, EvidenceTexts, FORMATS, FormatName, FormatRow, HTML_SPLIT_ABOVE,
    KERNEL_FOLDER, PDF_VOLUME_PAGES, PagedHtml, PdfVolumes, Presentation, ReportError,
    VOLUME_FOLDER, Written, render_json_from,
};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;

/// A value that cannot be written as JSON is a defect of the tool.
pub(super) fn unwritable_json(error: serde_json::Error) -> Failure {
    Failure::tool(error.to_string())
}

/// What stands beside evidence and reports: where they are from.
pub(in crate::cli) struct FileOrigin {
    pub(in crate::cli) start: RunStart,
    /// None: nothing was taken from elsewhere.
    pub(in crate::cli) reuse: Option<RunReuse>,
    /// None: the run is no part of a campaign, but a whole one.
    pub(in crate::cli) shard_file: Option<ShardFile>,
}

/// The folder of evidence in the section of a run.
const EVIDENCE_FOLDER: &str = "evidence";

impl EvidenceTarget for PendingFolder {
    fn store(&self, name: &str, file: UnmadeFile<'_>) -> Result<String, CampaignError> {
        let path = format!("{EVIDENCE_FOLDER}/{name}");
        match file {
            UnmadeFile::Campaign(campaign) => {
                let mut target = HashingWriter::new(self.create(&path)?);
                let unwritten = |error: std::io::Error| self.unwritable(&path, &error);
                write_campaign_bytes(campaign, &mut |piece: &[u8]| {
                    target.write_all(piece).map_err(unwritten)
                })?;
                Ok(target.finish().map_err(unwritten)?.1)
            }
            UnmadeFile::Kernel(_) | UnmadeFile::Mutation(_) | UnmadeFile::Inputs(_) => {
                let bytes = file.bytes()?;
                self.write(&path, &bytes)?;
                Ok(sha256_digits(&bytes))
            }
        }
    }
}

/// The files of evidence that a run has written.
struct WrittenEvidence<'r> {
    evidence: &'r Evidence,
    folder: &'r PendingFolder,
    kernel_files: Vec<String>,
}

impl<'r> WrittenEvidence<'r> {
    fn of_run(evidence: &'r Evidence, folder: &'r PendingFolder) -> Self {
        Self { evidence, folder, kernel_files: kernel_files(&evidence.kernels) }
    }
}

impl EvidenceTexts for WrittenEvidence<'_> {
    /// Whoever changes a file between the two writes fails the run: a report says nothing that the
    /// evidence does not.
    fn open(&self, part: EvidencePart) -> io::Result<Box<dyn Read + Send>> {
        let name = match part {
            EvidencePart::Campaign => CAMPAIGN,
            EvidencePart::Inputs => INPUTS,
            EvidencePart::Kernel(number) => &self.kernel_files[number],
        };
        let path = format!("{EVIDENCE_FOLDER}/{name}");
        let unreadable =
            |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        let file = self.folder.open(&path).map_err(unreadable)?;
        let expected = self.evidence.manifest.outputs.get(name).cloned();
        let expected = expected.ok_or_else(|| {
            io::Error::other(format!("{path} is none of the files of the manifest"))
        })?;
        Ok(Box::new(CheckingReader::new(file, path, expected)))
    }
}

/// Results that are written, and not yet in the place where they are looked for.
pub(in crate::cli) struct UnplacedResults {
    written: Written,
    folder: PendingFolder,
    /// Entries of the section that links are to lead to.
    linked_names: Vec<&'static str>,
}

/// Results in their place.
pub(in crate::cli) struct PlacedResults {
    pub(in crate::cli) written: Written,
    /// What is to be printed of them.
    pub(in crate::cli) printed: String,
    /// What stood there before.
    pub(in crate::cli) replaced: SectionRemoval,
}

impl UnplacedResults {
    /// Waits until all of it is on the disk, and puts it in its place; what is to be printed of it is made
    /// meanwhile.
    pub(in crate::cli) fn place_beside(
        self,
        make_printed: impl FnOnce(&Written) -> Result<String, Failure>,
    ) -> Result<PlacedResults, Failure> {
        let Self { written, folder, linked_names } = self;
        // Who waits for the disk takes no core from who makes what is printed.
        let (printed, replaced) = std::thread::scope(|scope| {
            let place = || folder.finish(&linked_names);
            let placing = std::thread::Builder::new().spawn_scoped(scope, place);
            let placing = placing
                .map_err(|error| Failure::tool(format!("no thread can be started: {error}")))?;
            let printed = make_printed(&written);
            let replaced =
                placing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok::<_, Failure>((printed?, replaced))
        })?;
        Ok(PlacedResults { written, printed, replaced })
    }
}

/// Writes the manifest of evidence whose files are there, reports, the list of both hashes, and where
/// all of it is from.
pub(in crate::cli) fn write_results(
    evidence: &Evidence,
    reports: &WantedReports,
    origin: FileOrigin,
    folder: PendingFolder,
    output_folder: &Path,
) -> Result<UnplacedResults, Failure> {
    let manifest_bytes = canonical_bytes(&evidence.manifest).map_err(unwritable_json)?;
    folder.write(&format!("{EVIDENCE_FOLDER}/{MANIFEST}"), &manifest_bytes)?;
    let reports_written = write_reports(evidence, reports, &folder)?;
    let mut linked_names = vec![EVIDENCE_FOLDER];
    linked_names.extend(reports_written.iter().flat_map(|report| &report.linked_names));
    let mut report_hashes: BTreeMap<String, String> =
        reports_written.iter().flat_map(|report| report.hashes.clone()).collect();
    if let Some(bytes) = &reports.comparison {
        folder.write(BASELINE, bytes)?;
        linked_names.push(BASELINE);
        report_hashes.insert(BASELINE.to_owned(), sha256_digits(bytes));
    }
    let evidence_root = evidence.root().map_err(unwritable_json)?;
    let report_list = ReportList { schema: 1, root: evidence_root, reports: report_hashes };
    let list_bytes = canonical_bytes(&report_list).map_err(unwritable_json)?;
    folder.write(REPORTS, &list_bytes)?;
    if let Some(shard_file) = &origin.shard_file {
        folder.write(SHARD, &canonical_bytes(shard_file).map_err(unwritable_json)?)?;
        linked_names.push(SHARD);
    }
    let provenance_bytes = origin.start.finish(&report_list.root, origin.reuse)?;
    folder.write(PROVENANCE, &provenance_bytes)?;
    let shown_name = |name: &str| crate::model::path::display_path(&output_folder.join(name));
    let shown_names = linked_names.iter().copied().chain([PROVENANCE]);
    let shown_files = shown_names.map(shown_name).collect();
    linked_names.extend([REPORTS, PROVENANCE]);
    let written = Written {
        root: report_list.root,
        provenance: sha256_digits(&provenance_bytes),
        reports: sha256_digits(&list_bytes),
        files: shown_files,
    };
    Ok(UnplacedResults { written, folder, linked_names })
}

/// The reports of a run, and what they are rendered with.
pub(in crate::cli) struct WantedReports {
    /// Those that are files, in the order of the table.
    pub(super) rows: Vec<&'static FormatRow>,
    /// Kernels above which the HTML report is several files.
    split_above: usize,
    /// Pages of kernels above which the PDF report is several volumes.
    volume_pages: usize,
    pub(super) presentation: Presentation,
    /// The comparison with the baseline as its file has it.
    pub(super) comparison: Option<Vec<u8>>,
}

/// The reports asked for; of a part of a campaign those of its tests, where none are.
pub(in crate::cli) fn wanted_reports(
    options: &ReportOptions,
    part: Option<Shard>,
) -> Result<WantedReports, Failure> {
    let mut wanted_names = Vec::new();
    for word in &options.report {
        let name: FormatName = word.parse().map_err(|error: ReportError| {
            Diagnostic::new("usage", error.to_string()).hint("see `vkcert list formats`")
        })?;
        if name.row().file.is_none() {
            let message = format!("--report: `{name}` is for standard output alone, no file");
            return Err(Diagnostic::new("usage", message).into());
        }
        wanted_names.push(name);
    }
    if options.html_split_above.is_some()
        && !(wanted_names.is_empty() || wanted_names.contains(&FormatName::Html))
    {
        let message = "--html-split-above goes with the report html, which --report leaves out";
        return Err(Diagnostic::new("usage", message).into());
    }
    if options.pdf_volume_pages.is_some()
        && !(wanted_names.is_empty() || wanted_names.contains(&FormatName::Pdf))
    {
        let message = "--pdf-volume-pages goes with the report pdf, which --report leaves out";
        return Err(Diagnostic::new("usage", message).into());
    }
    let is_wanted = |row: &&FormatRow| match wanted_names.as_slice() {
        [] if part.is_some() => row.name == FormatName::Junit,
        [] => row.by_default,
        names => names.contains(&row.name),
    };
    let rows: Vec<&FormatRow> = FORMATS.iter().filter(is_wanted).collect();
    let split_above = options.html_split_above.unwrap_or(HTML_SPLIT_ABOVE);
    let volume_pages = options.pdf_volume_pages.and_then(|pages| usize::try_from(pages).ok());
    let volume_pages = volume_pages.unwrap_or(PDF_VOLUME_PAGES);
    let presentation = Presentation { part, ..Presentation::default() };
    Ok(WantedReports { rows, split_above, volume_pages, presentation, comparison: None })
}

/// What one format has written.
struct WrittenReport {
    /// Entries of the section that links are to lead to.
    linked_names: Vec<&'static str>,
    /// SHA-256 of every file, by its name in the section.
    hashes: Vec<(String, String)>,
}

/// Renders the reports on all cores and writes each as soon as it is there.
fn write_reports(
    evidence: &Evidence,
    reports: &WantedReports,
    folder: &PendingFolder,
) -> Result<Vec<WrittenReport>, Failure> {
    let named_files = reports.rows.par_iter().filter_map(|row| Some((row.name, row.file?)));
    named_files.map(|(name, file)| write_report(evidence, reports, (name, file), folder)).collect()
}

/// A report as it is written.
enum ReportParts<'e> {
    OneFile,
    /// An index and a page for each kernel.
    Pages(Box<PagedHtml<'e>>),
    /// A first volume and further ones.
    Volumes(Box<PdfVolumes<'e>>),
}

impl<'e> ReportParts<'e> {
    fn of_report(
        evidence: &'e Evidence,
        reports: &'e WantedReports,
        (format, file): (FormatName, &'static str),
    ) -> Result<Self, ReportError> {
        let WantedReports { presentation, split_above, volume_pages, .. } = reports;
        Ok(match format {
            FormatName::Html => {
                PagedHtml::of_report(evidence, presentation, *split_above, OsStr::new(file))?
                    .map_or(ReportParts::OneFile, |pages| ReportParts::Pages(Box::new(pages)))
            }
            FormatName::Pdf => {
                PdfVolumes::of_report(evidence, presentation, *volume_pages, OsStr::new(file))?
                    .map_or(ReportParts::OneFile, |volumes| ReportParts::Volumes(Box::new(volumes)))
            }
            FormatName::Terminal
            | FormatName::Json
            | FormatName::Lcov
            | FormatName::Cobertura
            | FormatName::Junit
            | FormatName::Sarif
            | FormatName::Mutants => ReportParts::OneFile,
        })
    }
}

fn write_report(
    evidence: &Evidence,
    reports: &WantedReports,
    (format, file): (FormatName, &'static str),
    folder: &PendingFolder,
) -> Result<WrittenReport, Failure> {
    let unrendered = |error: ReportError| match error {
        ReportError::Target(error) => folder.unwritable(file, &error),
        ReportError::UnknownFormat { .. }
        | ReportError::UnknownDocument { .. }
        | ReportError::NothingStored(_)
        | ReportError::Json(_)
        | ReportError::Texts(_)
        | ReportError::Font { .. }
        | ReportError::Pdf(_) => Failure::tool(error.to_string()),
    };
    let unwritten = |error: std::io::Error| folder.unwritable(file, &error);
    let write_part = |path: String, bytes: &[u8]| {
        folder.write(&path, bytes)?;
        Ok::<_, Failure>((path, sha256_digits(bytes)))
    };
    let parts = ReportParts::of_report(evidence, reports, (format, file)).map_err(unrendered)?;
    let mut report = WrittenReport { linked_names: vec![file], hashes: Vec::new() };
    let mut target = HashingWriter::new(folder.create(file)?);
    match &parts {
        ReportParts::OneFile if format == FormatName::Json => {
            let texts = WrittenEvidence::of_run(evidence, folder);
            render_json_from(&texts, evidence, &reports.presentation, &mut target)
                .map_err(unrendered)?;
        }
        ReportParts::OneFile => {
            report::render_to(evidence, format, &reports.presentation, &mut target)
                .map_err(unrendered)?;
        }
        ReportParts::Pages(pages) => {
            report.linked_names.push(KERNEL_FOLDER);
            report.hashes = pages.write_kernel_pages(|page, bytes| {
                write_part(format!("{KERNEL_FOLDER}/{page}"), bytes)
            })?;
            target.write_all(&pages.index_page()).map_err(unwritten)?;
        }
        ReportParts::Volumes(volumes) => {
            report.linked_names.push(VOLUME_FOLDER);
            let write_further = || {
                let written = volumes.further_volumes().map(|volume| {
                    let (name, bytes) = volume.map_err(unrendered)?;
                    write_part(format!("{VOLUME_FOLDER}/{name}"), &bytes)
                });
                written.collect::<Result<_, Failure>>()
            };
            let (first, further_hashes) = rayon::join(|| volumes.first_volume(), write_further);
            report.hashes = further_hashes?;
            let first = first.map_err(unrendered)?;
            target.write_all(&first).map_err(unwritten)?;
        }
    }
    let (_, hash) = target.finish().map_err(unwritten)?;
    report.hashes.push((file.to_owned(), hash));
    Ok(report)
}
