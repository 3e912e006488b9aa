//! What a run leaves in its output folder: evidence, reports, the list of both hashes, and where all
//! of it is from.
//!
//! Promises: a report is written as soon as it is rendered; what the list names has the hashes that
//! stand in it. Does not cover: how the folder takes the place of an earlier one (`cli::output`).

use super::super::args::ReportOptions;
use super::super::baseline::BASELINE;
use super::super::failure::Failure;
use super::super::output::PendingFolder;
use super::super::provenance::RunStart;
use super::super::shard::SHARD;
use crate::campaign::facts::SealedEvidence;
use crate::derivation::files::{MANIFEST, PROVENANCE, REPORTS, canonical_bytes};
use crate::model::canonical::sha256_digits;
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{Evidence, ReportList};
use crate::model::provenance::RunReuse;
use crate::model::shard::{Shard, ShardFile};
use crate::report::{
    self, FORMATS, FormatName, FormatRow, HTML_SPLIT_ABOVE, KERNEL_FOLDER, PagedHtml, Presentation,
    Written,
};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
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

/// Writes evidence and reports, the list of both hashes, and where all of it is from.
pub(in crate::cli) fn write_results(
    sealed_evidence: &SealedEvidence,
    reports: &WantedReports,
    origin: FileOrigin,
    folder: PendingFolder,
    output_folder: &Path,
) -> Result<Written, Failure> {
    let SealedEvidence { evidence, files } = sealed_evidence;
    let write_evidence = || {
        for (name, bytes) in files {
            folder.write(&format!("evidence/{name}"), bytes)?;
        }
        folder.write(
            &format!("evidence/{MANIFEST}"),
            &canonical_bytes(&evidence.manifest).map_err(unwritable_json)?,
        )
    };
    let (reports_written, evidence_written) =
        rayon::join(|| write_reports(evidence, reports, &folder), write_evidence);
    evidence_written?;
    let reports_written = reports_written?;
    let mut linked_names = vec!["evidence"];
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
    folder.finish(&linked_names)?;
    Ok(Written {
        root: report_list.root,
        provenance: sha256_digits(&provenance_bytes),
        reports: sha256_digits(&list_bytes),
        files: shown_files,
    })
}

/// The reports of a run, and what they are rendered with.
pub(in crate::cli) struct WantedReports {
    /// Those that are files, in the order of the table.
    pub(super) rows: Vec<&'static FormatRow>,
    /// Kernels above which the HTML report is several files.
    split_above: usize,
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
        let name: FormatName = word.parse().map_err(|error: report::ReportError| {
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
    let is_wanted = |row: &&FormatRow| match wanted_names.as_slice() {
        [] if part.is_some() => row.name == FormatName::Junit,
        [] => row.by_default,
        names => names.contains(&row.name),
    };
    let rows: Vec<&FormatRow> = FORMATS.iter().filter(is_wanted).collect();
    let split_above = options.html_split_above.unwrap_or(HTML_SPLIT_ABOVE);
    let presentation = Presentation { part, ..Presentation::default() };
    Ok(WantedReports { rows, split_above, presentation, comparison: None })
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

fn write_report(
    evidence: &Evidence,
    reports: &WantedReports,
    (format, file): (FormatName, &'static str),
    folder: &PendingFolder,
) -> Result<WrittenReport, Failure> {
    let presentation = &reports.presentation;
    let unrendered = |error: report::ReportError| Failure::tool(error.to_string());
    let pages = match format {
        FormatName::Html => {
            PagedHtml::of_report(evidence, presentation, reports.split_above, OsStr::new(file))
                .map_err(unrendered)?
        }
        FormatName::Terminal
        | FormatName::Json
        | FormatName::Pdf
        | FormatName::Lcov
        | FormatName::Cobertura
        | FormatName::Junit
        | FormatName::Sarif => None,
    };
    let mut report = WrittenReport { linked_names: vec![file], hashes: Vec::new() };
    let bytes = match &pages {
        Some(pages) => {
            report.linked_names.push(KERNEL_FOLDER);
            report.hashes = pages.write_kernel_pages(|page, bytes| {
                let path = format!("{KERNEL_FOLDER}/{page}");
                folder.write(&path, bytes)?;
                Ok::<_, Failure>((path, sha256_digits(bytes)))
            })?;
            pages.index_page()
        }
        None => report::render(evidence, format, presentation).map_err(unrendered)?,
    };
    folder.write(file, &bytes)?;
    report.hashes.push((file.to_owned(), sha256_digits(&bytes)));
    Ok(report)
}
