//! Reports: what a run showed, for a terminal, a browser, a certification reviewer and other
//! programs.
//!
//! Knows: [`Evidence`], for a trend also the [`History`] before it, and nothing else; a report renders again from stored evidence with no GPU
//! and no compiler.
//! Promises: the same evidence and [`Presentation`] give the same bytes (no clock, no chance);
//! every percentage is printed with its numerator and denominator, and the rows it counts stand in
//! the same report; all text of the project is escaped for the format. A new format is a
//! row of [`FORMATS`] and a variant of [`FormatName`].
//! Does not cover: where reports are written (`cli`), whether the evidence is true (`vkcert
//! verify`).

mod baseline;
mod chapter;
mod document;
mod documents;
mod drawing;
mod expectation;
mod facts;
mod figures;
mod history;
mod html;
mod json;
mod mutant_diff;
mod pdf;
mod pipeline;
mod places;
mod scalars;
mod shortened;
mod side_by_side;
mod statement;
mod terminal;
mod unified_diff;

pub use baseline::{baseline_in_words, baseline_sentence, compare_with_baseline};
pub use documents::{DOCUMENTS, DocumentName, DocumentRow};
pub use facts::obligations::{condition_explanation, open_reason};
pub use facts::{is_asked_for, is_told_elsewhere};
pub use history::{
    CriterionShares, History, ItemCounts, LeftOutRun, MOST_SHOWN_RUNS, RunMeasure, RunOrder,
    RunRecord, RunStanding,
};
pub use html::{HTML_SPLIT_ABOVE, KERNEL_FOLDER, KERNEL_PAGE_START, PagedHtml, kernel_folder};
pub use json::{EvidencePart, EvidenceTexts, render_json_from};
pub use mutant_diff::{ChangedPart, changes_on_one_line, mutant_diff, stored_text};
pub use pdf::{PDF_VOLUME_PAGES, PdfVolumes, VOLUME_FOLDER, VOLUME_START, volume_folder};
pub use pipeline::{
    DiagnosticLine, InterfacePlaces, LineForm, LineLevel, ProcedurePlaces, coupling_lines,
    outcome_lines, result_lines,
};
pub use places::{Places, ProjectPlace, shell_word};
pub use side_by_side::{
    NamedCampaign, side_by_side, side_by_side_in_words, side_by_side_page, what_keeps_apart,
};
pub use terminal::wrap;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use vkcert_model::document::Paper;
use vkcert_model::evidence::{CouplingEvidence, Evidence};
use vkcert_model::shard::Shard;

/// What a format is rendered with; only the terminal summary looks at more than `standing`,
/// `document` and `history`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presentation {
    /// Whether colours are shown.
    pub colour: Colour,
    /// Columns of the terminal; never used beyond this width.
    pub width: u16,
    /// What the run has written; none: nothing.
    pub written: Option<Written>,
    /// Whether the evidence verifies, which every page says where it does not.
    pub standing: Standing,
    /// Which document; formats without documents have all of the evidence.
    pub document: DocumentName,
    /// Paper of a PDF; none: that of the project, else A4.
    pub paper: Option<Paper>,
    /// Runs that were stored earlier; formats without documents have none. None: no trend is shown.
    pub history: Option<History>,
    /// How commands that are advised name project and evidence.
    pub places: Places,
    /// Which part of a campaign the evidence is of; none: of all of it.
    pub part: Option<Shard>,
}

/// What a run has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// SHA-256 of the evidence manifest.
    pub root: String,
    /// SHA-256 of `provenance.json`.
    pub provenance: String,
    /// SHA-256 of `reports.json`.
    pub reports: String,
    /// Evidence and reports, as the user would name them.
    pub files: Vec<String>,
}

/// Whether the evidence is known to be as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It has just been made, or verified.
    Verified,
    /// Nothing differs, but project or kernels could not be made again, for these reasons: every
    /// page says so.
    InPart(Vec<String>),
    /// It does not verify, for these reasons: every page says so.
    Unverified(Vec<String>),
}

impl Standing {
    /// What stands on every page of a report; nothing where the evidence is verified.
    pub fn stamp(&self) -> Option<&'static str> {
        match self {
            Standing::Verified => None,
            Standing::InPart(_) => {
                Some("VERIFIED IN PART: much of this evidence could not be derived again")
            }
            Standing::Unverified(_) => Some("NOT VERIFIED: this evidence does not verify"),
        }
    }
}

impl Default for Presentation {
    fn default() -> Self {
        Self {
            colour: Colour::Plain,
            width: 100,
            written: None,
            standing: Standing::Verified,
            document: DocumentName::All,
            paper: None,
            history: None,
            places: Places::default(),
            part: None,
        }
    }
}

/// The coupling graphs of kernels as one SVG file, drawn as reports draw them; the checks say what
/// of them does not hold.
pub fn coupling_svg(couplings: &[CouplingEvidence]) -> String {
    let mut headed_drawings = Vec::new();
    for coupling in couplings {
        let drawings = drawing::graph::coupling_drawings(coupling);
        let part_count = drawings.len();
        if drawings.is_empty() {
            let heading = format!("kernel {}: a graph without edges", coupling.kernel);
            headed_drawings.push((heading, drawing::Drawing::default()));
        }
        headed_drawings.extend(drawings.into_iter().enumerate().map(|(index, drawing)| {
            (format!("kernel {}, part {} of {part_count}", coupling.kernel, index + 1), drawing)
        }));
    }
    if couplings.is_empty() {
        let heading = "the project describes no host: no [[interface]] in requirements/";
        headed_drawings.push((heading.to_owned(), drawing::Drawing::default()));
    }
    html::svg_document("Coupling of host and kernels", &headed_drawings)
}

/// Whether a terminal shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// No colours.
    Plain,
    /// Colours by ANSI escape sequences.
    Ansi,
}

/// Renders evidence in one format.
pub trait Format: Sync {
    /// The bytes of the report. Fails where the format's library does, never for what evidence
    /// holds.
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError>;

    /// Writes the same to `target`; formats that can do so never hold all of it.
    fn render_to(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
        target: &mut (dyn Write + Send),
    ) -> Result<(), ReportError> {
        Ok(target.write_all(&self.render(evidence, presentation)?)?)
    }
}

/// The bytes of a report, of a format that writes it piece by piece.
fn rendered_bytes(
    format: &dyn Format,
    evidence: &Evidence,
    presentation: &Presentation,
) -> Result<Vec<u8>, ReportError> {
    let mut bytes = Vec::new();
    format.render_to(evidence, presentation, &mut bytes)?;
    Ok(bytes)
}

/// Names of the formats, as `--report-format` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormatName {
    /// Summary for a terminal.
    Terminal,
    /// One JSON document.
    Json,
    /// One HTML file; [`PagedHtml`] makes several of it.
    Html,
    /// One PDF file; [`PdfVolumes`] makes several of it.
    Pdf,
    /// Coverage of lines, branches and conditions, as LCOV has it.
    Lcov,
    /// The same, as Cobertura has it.
    Cobertura,
    /// Tests and all else that counts, as JUnit has it.
    Junit,
    /// Gaps, findings and failures with their places, as SARIF has them.
    Sarif,
    /// Mutants, in the schema of mutation-testing reports.
    Mutants,
}

/// A row of [`FORMATS`].
pub struct FormatRow {
    /// The name.
    pub name: FormatName,
    /// As typed on the command line.
    pub word: &'static str,
    /// Name of the file below the output folder; none: for standard output alone.
    pub file: Option<&'static str>,
    /// Whether it sets a document of [`DOCUMENTS`], not all of the evidence alone.
    pub has_documents: bool,
    /// Whether a run writes it where nobody says which reports are wanted.
    pub by_default: bool,
    /// One line for help texts and documents.
    pub description: &'static str,
    /// Renders the format.
    pub format: &'static dyn Format,
}

/// Every format. Help texts, `vkcert list formats` and the documents iterate this table.
pub const FORMATS: &[FormatRow] = &[
    FormatRow {
        name: FormatName::Terminal,
        word: "terminal",
        file: None,
        has_documents: false,
        by_default: false,
        description: "summary for a terminal",
        format: &terminal::Terminal,
    },
    FormatRow {
        name: FormatName::Json,
        word: "json",
        file: Some("report.json"),
        has_documents: false,
        by_default: true,
        description: "the whole evidence as one canonical JSON document",
        format: &json::Json,
    },
    FormatRow {
        name: FormatName::Html,
        word: "html",
        file: Some("report.html"),
        has_documents: true,
        by_default: true,
        description: "one self-contained page with marked source text",
        format: &html::Html,
    },
    FormatRow {
        name: FormatName::Pdf,
        word: "pdf",
        file: Some("report.pdf"),
        has_documents: true,
        by_default: true,
        description: "verification report for a certification reviewer (A4 or Letter)",
        format: &pdf::Pdf,
    },
    FormatRow {
        name: FormatName::Lcov,
        word: "lcov",
        file: Some("lcov.info"),
        has_documents: false,
        by_default: false,
        description: "lines, branches and MC/DC by source file, for genhtml and editors (LCOV 2)",
        format: &pipeline::Lcov,
    },
    FormatRow {
        name: FormatName::Cobertura,
        word: "cobertura",
        file: Some("cobertura.xml"),
        has_documents: false,
        by_default: false,
        description: "the same for build servers (Cobertura XML)",
        format: &pipeline::Cobertura,
    },
    FormatRow {
        name: FormatName::Junit,
        word: "junit",
        file: Some("junit.xml"),
        has_documents: false,
        by_default: false,
        description: "tests by engine, and all else that counts, for build servers (JUnit XML)",
        format: &pipeline::Junit,
    },
    FormatRow {
        name: FormatName::Sarif,
        word: "sarif",
        file: Some("report.sarif"),
        has_documents: false,
        by_default: false,
        description: "gaps, findings and failures at their places (SARIF 2.1.0)",
        format: &pipeline::Sarif,
    },
    FormatRow {
        name: FormatName::Mutants,
        word: "mutants",
        file: Some("mutants.json"),
        has_documents: false,
        by_default: false,
        description: "mutants that `--mutation` asked for (schema of mutation-testing reports)",
        format: &pipeline::Mutants,
    },
];

/// A folder beside the reports with further files of one.
pub struct ReportFolder {
    /// Its name below the output folder.
    pub name: &'static str,
    /// What a file in it is, one and several.
    pub file_words: [&'static str; 2],
}

/// Every such folder.
pub const REPORT_FOLDERS: &[ReportFolder] = &[
    ReportFolder { name: KERNEL_FOLDER, file_words: ["page", "pages"] },
    ReportFolder { name: VOLUME_FOLDER, file_words: ["volume", "volumes"] },
];

/// Name of the folder for the further files of a report, beside the first of them: `report` and the
/// ending, of `report.html`.
fn folder_of_others(first_name: &OsStr, ending: &str) -> OsString {
    let mut folder = Path::new(first_name).file_stem().unwrap_or(first_name).to_owned();
    folder.push(ending);
    folder
}

impl ReportFolder {
    /// Whether a file is in this folder, by its path below the output folder.
    pub fn holds(&self, path: &str) -> bool {
        path.strip_prefix(self.name).is_some_and(|name| name.starts_with('/'))
    }
}

impl FormatName {
    /// The format's row in [`FORMATS`].
    pub fn row(self) -> &'static FormatRow {
        FORMATS.iter().find(|row| row.name == self).expect("FORMATS has a row for every name")
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().word)
    }
}

impl FromStr for FormatName {
    type Err = ReportError;
    fn from_str(word: &str) -> Result<Self, ReportError> {
        let row = FORMATS.iter().find(|row| row.word == word);
        row.map(|row| row.name).ok_or_else(|| ReportError::UnknownFormat {
            word: word.to_owned(),
            known: FORMATS.iter().map(|format| format.word).collect::<Vec<_>>().join(", "),
        })
    }
}

/// The tool failed to make a report; evidence by itself is never at fault.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The word of a command line names no format.
    #[error("`{word}` is no report format; there are {known}")]
    UnknownFormat {
        /// The word.
        word: String,
        /// The names that there are.
        known: String,
    },
    /// The word of a command line names no document.
    #[error("`{word}` is no document; there are {known}")]
    UnknownDocument {
        /// The word.
        word: String,
        /// The names that there are.
        known: String,
    },
    /// The evidence has nothing of what the report is of.
    #[error("the evidence has no {0}")]
    NothingStored(&'static str),
    /// The evidence cannot be written as JSON.
    #[error("the evidence cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The files of the evidence cannot be read again.
    #[error("the evidence cannot be read again: {0}")]
    Texts(std::io::Error),
    /// The report cannot be written to where it is to go.
    #[error("the report cannot be written: {0}")]
    Target(#[from] std::io::Error),
    /// A font cannot be embedded.
    #[error("the font {name} cannot be embedded: {reason}")]
    Font {
        /// Name of the font.
        name: String,
        /// Why, by the library.
        reason: String,
    },
    /// The PDF document cannot be written: why, by the library.
    #[error("the PDF document cannot be written: {0}")]
    Pdf(String),
}

/// Renders evidence in the format asked for.
pub fn render(
    evidence: &Evidence,
    format: FormatName,
    presentation: &Presentation,
) -> Result<Vec<u8>, ReportError> {
    format.row().format.render(evidence, presentation)
}

/// Renders evidence in the format asked for and writes it to `target`.
pub fn render_to(
    evidence: &Evidence,
    format: FormatName,
    presentation: &Presentation,
    target: &mut (dyn Write + Send),
) -> Result<(), ReportError> {
    format.row().format.render_to(evidence, presentation, target)
}

#[cfg(test)]
mod chapter_tests;
#[cfg(test)]
mod contents_tests;
#[cfg(test)]
mod page_1_tests;
#[cfg(test)]
mod procedure_tests;
#[cfg(test)]
mod terminal_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trend_tests;
