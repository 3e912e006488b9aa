//! The content of the report, chapter by chapter, as a [`Document`]; formats only set it.
//!
//! Promises: conclusions come first, in plain words; what was not run, not covered or not decided
//! is named; a reader finds every row that a percentage counts.

mod agreement;
mod average;
mod binding_words;
mod captured;
mod conclusion;
mod conduct;
mod contents;
mod coupled_pairs;
mod coupling;
mod coupling_coverage;
mod decision;
mod document_control;
mod fill_rule;
mod findings;
mod front;
mod hand_over;
mod identification;
mod identifiers;
mod justifications;
mod kernel;
mod kernel_list;
mod links;
mod members;
mod mutation;
mod object;
mod objectives;
mod open_item;
mod part_front;
mod pictures;
mod procedure;
mod requirement;
mod requirement_tree;
mod source;
mod summary;
mod test;
mod test_case;
mod test_environment;
mod tones;
mod trend;

use super::document::{Block, ColumnAlign, Document, Outline, Table, Text};
use super::facts;
use super::pdf::KernelVolume;
use super::{DocumentName, History, ReportError};
use vkcert_model::evidence::Evidence;

use test::TestPart;
pub(super) use tones::{requirement_tone, verdict_tone};

/// What a document can hold; `kernels` is a chapter per kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Chapter {
    Control,
    Identification,
    Conclusion,
    Objectives,
    Summary,
    Uncovered,
    Findings,
    Requirements,
    /// What tests need, without what a run had of it.
    TestEnvironment,
    /// Cases and procedures with their results.
    Tests,
    /// Results of the test cases alone.
    TestResults,
    /// Cases and procedures alone.
    TestCases,
    Kernels,
    Justifications,
    Coupling,
    /// What tests made of mutants; nothing where these were not asked for.
    Mutation,
    Agreement,
    Limits,
    Manifest,
    /// Stored runs beside this one; nothing without a history.
    Trend,
}

/// What chapters are made of.
#[derive(Clone, Copy)]
struct Sources<'s> {
    evidence: &'s Evidence,
    /// The document that the chapters are of.
    name: DocumentName,
    root: &'s str,
    history: Option<&'s History>,
}

impl Chapter {
    fn add(self, sources: Sources, outline: &mut Outline) {
        let Sources { evidence, name, root, history } = sources;
        match self {
            Chapter::Control => document_control::control_chapter(evidence, name, outline),
            Chapter::Identification => {
                identification::identification_chapter(evidence, root, outline);
            }
            Chapter::Conclusion => conclusion::conclusion_chapter(evidence, outline),
            Chapter::Objectives => objectives::objectives_chapter(evidence, outline),
            Chapter::Summary => summary::summary_chapter(evidence, outline),
            Chapter::Uncovered => findings::uncovered_chapter(evidence, outline),
            Chapter::Findings => findings::findings_chapter(evidence, outline),
            Chapter::Requirements => requirement::requirement_chapter(evidence, outline),
            Chapter::TestEnvironment => {
                test_environment::environment_chapter(evidence, outline);
            }
            Chapter::Tests => test::test_chapter(evidence, TestPart::CasesAndResults, outline),
            Chapter::TestResults => test::test_chapter(evidence, TestPart::Results, outline),
            Chapter::TestCases => test_case::test_case_chapter(evidence, outline),
            Chapter::Kernels => {
                outline.add_parts(facts::kernel_units(evidence), |unit, outline| {
                    kernel::kernel_chapter(evidence, &unit, outline);
                });
            }
            Chapter::Justifications => justifications::justifications_chapter(evidence, outline),
            Chapter::Coupling => coupling::coupling_chapter(evidence, outline),
            Chapter::Mutation => mutation::mutation_chapter(evidence, outline),
            Chapter::Agreement => agreement::agreement_chapter(evidence, outline),
            Chapter::Limits => limits_chapter(evidence, outline),
            Chapter::Manifest => manifest_chapter(evidence, root, outline),
            Chapter::Trend => {
                history.into_iter().for_each(|history| trend::trend_chapter(history, outline));
            }
        }
    }
}

/// Builds a document of [`DOCUMENTS`](crate::DOCUMENTS).
pub(super) fn report_document(
    evidence: &Evidence,
    name: DocumentName,
    history: Option<&History>,
) -> Result<Document, ReportError> {
    let root = evidence.root()?;
    let sources = Sources { evidence, name, root: &root, history };
    let mut outline = Outline::default();
    outline.add_parts(name.row().chapters, |chapter, outline| chapter.add(sources, outline));
    let mut document = document_of(evidence, name, &root, outline);
    document.front = front_of(evidence, name, &root);
    if name != DocumentName::All {
        document.drop_links_to_other_documents();
    }
    Ok(document)
}

/// Where the chapters of kernels stand that are not in the document which lists them.
pub(super) enum KernelPlaces<'p> {
    /// Each in a file of its own.
    OwnFiles,
    /// In these volumes.
    Volumes(&'p [KernelVolume]),
}

/// The same document with a list of the kernels in the place of their chapters, which stand
/// elsewhere. Its links to them stay.
pub(super) fn index_document(
    evidence: &Evidence,
    name: DocumentName,
    history: Option<&History>,
    places: &KernelPlaces,
) -> Result<Document, ReportError> {
    let root = evidence.root()?;
    let sources = Sources { evidence, name, root: &root, history };
    let mut outline = Outline::default();
    outline.add_parts(name.row().chapters, |chapter, outline| {
        if *chapter == Chapter::Kernels {
            kernel_list::kernel_list_chapter(evidence, places, outline);
        } else {
            chapter.add(sources, outline);
        }
    });
    let mut document = document_of(evidence, name, &root, outline);
    document.front = front_of(evidence, name, &root);
    Ok(document)
}

/// The chapters of some kernels as a document of its own; the caller gives it a front.
pub(super) fn kernel_document(
    evidence: &Evidence,
    name: DocumentName,
    units: &[facts::KernelUnit],
    root: &str,
) -> Document {
    let mut outline = Outline::default();
    units.iter().for_each(|unit| kernel::kernel_chapter(evidence, unit, &mut outline));
    document_of(evidence, name, root, outline)
}

/// What opens the file of kernels, or of other chapters where there are none: what the report is known by, and the conclusion of the whole run,
/// so that kernels without defects do not look like a run without any.
pub(super) fn kernel_front(
    evidence: &Evidence,
    root: &str,
    units: &[facts::KernelUnit],
) -> Vec<Block> {
    let lead = match units {
        [] => "The conclusion is that of the whole run, not of this volume alone.",
        [_] => "The conclusion is that of the whole run, not of this kernel alone.",
        _ => "The conclusion is that of the whole run, not of these kernels alone.",
    };
    vec![
        Block::Pairs(front::known_by(evidence, DocumentName::All, root)),
        Block::Paragraph(Text::quiet(lead)),
        conclusion::notice_of_the_whole_run(evidence, "the index of this report has all of it"),
    ]
}

/// A document without a front.
fn document_of(evidence: &Evidence, name: DocumentName, root: &str, outline: Outline) -> Document {
    let project = &evidence.campaign.project;
    Document {
        project: project.name.clone(),
        title: document_control::title(evidence, name),
        label: document_control::label(evidence, name),
        level: project.level.in_words(),
        tool: format!("{} {}", project.tool, project.tool_version),
        date: project.date.clone(),
        root: root.to_owned(),
        front: Vec::new(),
        body: outline.blocks,
    }
}

fn front_of(evidence: &Evidence, name: DocumentName, root: &str) -> Vec<Block> {
    match name {
        DocumentName::All => front::front_blocks(evidence, root),
        DocumentName::Svcp => part_front::case_front_blocks(evidence, root),
        DocumentName::Svr
        | DocumentName::Coverage
        | DocumentName::Trace
        | DocumentName::Coupling
        | DocumentName::Tool => part_front::front_blocks(evidence, root, name.row()),
    }
}

fn limits_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Limits of the tool", "chapter/limits");
    outline.add_paragraph(
        "This report covers device code and its coupling with the host. MC/DC of the host program itself is for \
         existing qualified tools.",
    );
    if !evidence.campaign.limits.is_empty() {
        outline.add_block(Block::List(
            evidence.campaign.limits.iter().map(|limit| Text::plain(limit.as_str())).collect(),
        ));
    }
}

fn manifest_chapter(evidence: &Evidence, root: &str, outline: &mut Outline) {
    outline.add_heading(1, "Manifest", "chapter/manifest");
    let manifest = &evidence.manifest;
    outline.add_paragraph(format!(
        "SHA-256 of every input that the run read and of every evidence file that it wrote. Tool: {}. Compiler: {}.",
        manifest.tool, manifest.compiler
    ));
    outline.add_paragraph(
        Text::plain("Root: the SHA-256 of the manifest, by which all of the evidence is known: ")
            .followed_by(Text::code(root))
            .then_plain(
                ". Compare it with one that reached you another way; `vkcert verify --root` does.",
            ),
    );
    for (caption, files) in [("Inputs", &manifest.inputs), ("Evidence files", &manifest.outputs)] {
        if files.is_empty() {
            outline.add_paragraph(Text::quiet(format!("{caption}: none recorded.")));
            continue;
        }
        let mut table = Table::new(caption)
            .with_column("File", ColumnAlign::Left)
            .with_column("SHA-256", ColumnAlign::Left);
        for (file, hash) in files {
            table.add_row(vec![
                Text::code(file.as_str()),
                Text::code(hash.trim_start_matches("sha256:")),
            ]);
        }
        outline.add_table(table);
    }
}
