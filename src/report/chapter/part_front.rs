//! The title page of a document that holds a part of the report: what it is known by, the conclusion
//! of the whole run, and the other documents.
//!
//! Promises: a document whose own chapters are clean still tells that the run failed.

use super::{conclusion, front, open_item};
use crate::document::{Block, Table, Text};
use crate::documents::{DOCUMENTS, DocumentName, DocumentRow};
use vkcert_model::evidence::Evidence;
use vkcert_model::project::Standard;

/// The blocks of page 1.
pub(super) fn front_blocks(evidence: &Evidence, root: &str, row: &DocumentRow) -> Vec<Block> {
    let mut known_by = front::known_by(evidence, root);
    let standard = evidence.campaign.project.level.standard();
    known_by.insert(0, ("Kind of document".to_owned(), kind_text(row, standard)));
    known_by.extend(front::engines_and_tool(evidence));
    let lead = "The conclusion is that of the whole run, not of this document alone.";
    let mut blocks = vec![
        Block::Pairs(known_by),
        Block::Paragraph(Text::quiet(lead)),
        conclusion_notice(evidence, row),
    ];
    blocks.extend(open_item::brief_table(evidence).map(Block::Table));
    blocks.push(Block::Fitting {
        whole: vec![Block::Table(documents_table(row.name, standard))],
        brief: vec![Block::Pairs(vec![other_documents(row.name)])],
    });
    blocks
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

fn other_documents(this: DocumentName) -> (String, Text) {
    let others = DOCUMENTS.iter().filter(|row| row.name != this).map(|row| Text::code(row.word));
    let here = "; `vkcert list documents` tells what each holds";
    ("Other documents".to_owned(), Text::join(others, ", ").followed_by(Text::sentence(here)))
}

/// Every document that the same evidence makes; a reader sees what this one leaves to others.
fn documents_table(this: DocumentName, standard: Standard) -> Table {
    let mut table = Table::new("Documents that this evidence makes").columns(&[
        "Document",
        "Title",
        standard.name(),
        "What it holds",
    ]);
    for row in DOCUMENTS {
        let mark = if row.name == this { Text::quiet(" (this one)") } else { Text::empty() };
        table.add_row(vec![
            Text::code(row.word).followed_by(mark),
            Text::plain(row.title),
            row.section(standard).map_or_else(|| Text::quiet("none"), Text::plain),
            Text::plain(row.description),
        ]);
    }
    table
}
