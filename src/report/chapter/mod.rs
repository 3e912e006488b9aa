//! The content of the report, chapter by chapter, as a [`Document`]; formats only set it.
//!
//! Promises: conclusions come first, in plain words; what was not run, not covered or not decided
//! is named; a reader finds every row that a percentage counts.

mod conclusion;
mod contents;
mod coupling;
mod decision;
mod document_control;
mod findings;
mod front;
mod identification;
mod identifiers;
mod kernel;
mod links;
mod object;
mod objectives;
mod open_item;
mod requirement;
mod source;
mod summary;
mod test;
mod tones;

use super::ReportError;
use super::document::{Block, ColumnAlign, Document, Outline, Table, Text};
use super::facts;
use vkcert_model::evidence::Evidence;

pub(super) use tones::{requirement_tone, verdict_tone};

/// Builds the whole document.
pub(super) fn report_document(evidence: &Evidence) -> Result<Document, ReportError> {
    let root = evidence.root()?;
    let mut outline = Outline::default();
    document_control::control_chapter(evidence, &mut outline);
    identification::identification_chapter(evidence, &mut outline);
    conclusion::conclusion_chapter(evidence, &mut outline);
    objectives::objectives_chapter(evidence, &mut outline);
    summary::summary_chapter(evidence, &mut outline);
    findings::uncovered_chapter(evidence, &mut outline);
    findings::findings_chapter(evidence, &mut outline);
    requirement::requirement_chapter(evidence, &mut outline);
    test::test_chapter(evidence, &mut outline);
    for unit in facts::kernel_units(evidence) {
        kernel::kernel_chapter(evidence, &unit, &mut outline);
    }
    findings::justifications_chapter(evidence, &mut outline);
    coupling::coupling_chapter(evidence, &mut outline);
    coupling::agreement_chapter(evidence, &mut outline);
    limits_chapter(evidence, &mut outline);
    manifest_chapter(evidence, &root, &mut outline);
    let project = &evidence.campaign.project;
    Ok(Document {
        project: project.name.clone(),
        label: document_control::label(evidence),
        level: project.level.to_string(),
        tool: format!("{} {}", project.tool, project.tool_version),
        date: project.date.clone(),
        front: front::front_blocks(evidence, &root),
        body: outline.blocks,
        root,
    })
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
