//! The title page of a document that holds a part of the report: what it is known by, the conclusion
//! of the whole run, and the other documents.
//!
//! Promises: a document whose own chapters are clean still tells that the run failed; cases and
//! procedures tell nothing of a run, and that they do not.

use super::{conclusion, document_control, front, open_item};
use crate::document::{Block, Table, Text, Tone};
use crate::documents::{DOCUMENTS, DocumentName, DocumentRow};
use crate::shortened::first_names;
use crate::statement::counted;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::TestId;
use vkcert_model::project::Standard;

/// The blocks of page 1.
pub(super) fn front_blocks(evidence: &Evidence, root: &str, row: &DocumentRow) -> Vec<Block> {
    let mut known_by = known_by_with_kind(evidence, root, row);
    known_by.extend(front::engines_and_tool(evidence));
    let lead = "The conclusion is that of the whole run, not of this document alone.";
    let mut blocks = vec![
        Block::Pairs(known_by),
        Block::Paragraph(Text::quiet(lead)),
        conclusion_notice(evidence, row),
    ];
    blocks.extend(open_item::brief_table(evidence).map(Block::Table));
    blocks.push(other_documents(evidence, row.name));
    blocks
}

/// Page 1 of cases and procedures: no result, and where they stand.
pub(super) fn case_front_blocks(evidence: &Evidence, root: &str) -> Vec<Block> {
    let mut known_by = known_by_with_kind(evidence, root, DocumentName::Svcp.row());
    known_by.push(front::tool_pair(evidence));
    let results = format!(
        "The results of these tests stand in the document `{}` (software verification results) of the evidence with the root \
         `{root}`. Nothing here says whether a test was run or has passed.",
        DocumentName::Svr
    );
    let says = Text::plain(
        "It says what each test is for, what it needs, how it is carried out step by step, and when it passes.",
    );
    let notice = Block::Notice {
        tone: Tone::Neutral,
        title: Text::strong("Cases and procedures only: this document holds no results"),
        lines: [says, Text::sentence(results)].into_iter().chain(left_out_line(evidence)).collect(),
    };
    vec![Block::Pairs(known_by), notice, other_documents(evidence, DocumentName::Svcp)]
}

/// Tests of the project of which this document knows nothing.
fn left_out_line(evidence: &Evidence) -> Option<Text> {
    let left_out = evidence.campaign.tests_not_in_run();
    let names: Vec<&str> = left_out.iter().map(TestId::as_str).collect();
    let line = format!(
        "Not in this document, since the evidence was made without: {} ({} of the project).",
        first_names(&names),
        counted(names.len(), "test")
    );
    (!names.is_empty()).then(|| Text::strong(line).with_tone(Tone::Caution))
}

fn known_by_with_kind(evidence: &Evidence, root: &str, row: &DocumentRow) -> Vec<(String, Text)> {
    let standard = evidence.campaign.project.level.standard();
    let kind = ("Kind of document".to_owned(), kind_text(row, standard));
    std::iter::once(kind).chain(front::known_by(evidence, row.name, root)).collect()
}

/// The other documents of the same evidence, in a table where it fits.
fn other_documents(evidence: &Evidence, this: DocumentName) -> Block {
    Block::Fitting {
        whole: vec![Block::Table(documents_table(evidence, this))],
        brief: vec![Block::Pairs(vec![other_documents_pair(this)])],
    }
}

fn kind_text(row: &DocumentRow, standard: Standard) -> Text {
    let section = row.section(standard).map(|section| format!(" ({standard} {section})"));
    Text::strong(row.title).then_plain(section.unwrap_or_default())
}

fn conclusion_notice(evidence: &Evidence, row: &DocumentRow) -> Block {
    if row.chapters.contains(&super::Chapter::Conclusion) {
        return conclusion::conclusion_notice(evidence);
    }
    let whole_place = format!("the document `{}` has all of it", DocumentName::Svr);
    conclusion::notice_of_the_whole_run(evidence, &whole_place)
}

fn other_documents_pair(this: DocumentName) -> (String, Text) {
    let others = DOCUMENTS.iter().filter(|row| row.name != this).map(|row| Text::code(row.word));
    let here = "; `vkcert list documents` tells what each holds";
    ("Other documents".to_owned(), Text::join(others, ", ").followed_by(Text::sentence(here)))
}

/// Every document that the same evidence makes, with its number where the project states some; a
/// reader sees what this one leaves to others.
fn documents_table(evidence: &Evidence, this: DocumentName) -> Table {
    let standard = evidence.campaign.project.level.standard();
    let labels: Vec<Option<String>> =
        DOCUMENTS.iter().map(|row| document_control::label(evidence, row.name)).collect();
    let has_labels = labels.iter().any(Option::is_some);
    let mut table =
        Table::new("Documents that this evidence makes").columns(&["Document", "Title"]);
    if has_labels {
        table = table.columns(&["Number"]);
    }
    let mut table = table.columns(&[standard.name(), "What it holds"]);
    for (row, label) in DOCUMENTS.iter().zip(labels) {
        let mark = if row.name == this { Text::quiet(" (this one)") } else { Text::empty() };
        let mut cells = vec![
            Text::code(row.word).followed_by(mark),
            Text::plain(document_control::title(evidence, row.name)),
        ];
        cells.extend(label.filter(|_| has_labels).map(Text::plain));
        cells.push(row.section(standard).map_or_else(|| Text::quiet("none"), Text::plain));
        cells.push(Text::plain(row.description));
        table.add_row(cells);
    }
    table
}
