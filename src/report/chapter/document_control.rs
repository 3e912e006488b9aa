//! What the project says of the document: numbers, people, approval, history, references, acronyms.

use crate::DocumentName;
use crate::document::{Block, Outline, Table, Text};
use vkcert_model::document::DocumentIdentity;
use vkcert_model::evidence::Evidence;

/// What the project file states of the document; none where it states nothing.
fn stated_identity(evidence: &Evidence) -> Option<&DocumentIdentity> {
    evidence.campaign.settings.as_ref()?.document.as_ref()
}

/// Number and revision, for every page; of a part also which one it is.
pub(super) fn label(evidence: &Evidence, document: DocumentName) -> Option<String> {
    let identity = stated_identity(evidence)?;
    let part = match document {
        DocumentName::All => String::new(),
        part => format!(" ({part})"),
    };
    Some(format!("{}{part}, revision {}", identity.number, identity.revision))
}

/// Number, revision and date for page 1.
pub(super) fn identity_pairs(evidence: &Evidence) -> Vec<(String, Text)> {
    let Some(identity) = stated_identity(evidence) else { return Vec::new() };
    let date = identity.date.as_ref().map(|date| format!(", {date}")).unwrap_or_default();
    let label = format!("{}, revision {}{date}", identity.number, identity.revision);
    let mut pairs = vec![("Document".to_owned(), Text::strong(label))];
    pairs.extend(item_pairs(identity));
    pairs
}

/// What is verified, as configuration management has it.
fn item_pairs(identity: &DocumentIdentity) -> Vec<(String, Text)> {
    let items = [
        ("Part", &identity.part),
        ("Configuration item", &identity.configuration_item),
        ("Baseline", &identity.baseline),
    ];
    let given_items = items.into_iter().filter_map(|(title, text)| Some((title, text.as_ref()?)));
    given_items.map(|(title, text)| (title.to_owned(), Text::plain(text.as_str()))).collect()
}

/// Nothing where the project says nothing of its documents.
pub(super) fn control_chapter(evidence: &Evidence, outline: &mut Outline) {
    let Some(identity) = stated_identity(evidence) else { return };
    outline.add_heading(1, "Document control", "chapter/document");
    outline.add_paragraph(Text::quiet(
        "As the project file states it; this tool derives none of it. The evidence that the document is made of is known by its root.",
    ));
    let mut pairs = vec![
        ("Number".to_owned(), Text::plain(identity.number.as_str())),
        ("Revision".to_owned(), Text::plain(identity.revision.as_str())),
    ];
    pairs
        .extend(identity.date.as_ref().map(|date| ("Date".to_owned(), Text::plain(date.as_str()))));
    pairs.extend(item_pairs(identity));
    for (title, names) in [("Authors", &identity.authors), ("Reviewers", &identity.reviewers)] {
        if !names.is_empty() {
            pairs.push((title.to_owned(), Text::plain(names.join(", "))));
        }
    }
    outline.add_block(Block::Pairs(pairs));
    if !identity.approvals.is_empty() {
        outline.add_heading(2, "Approval", "chapter/document/approval");
        let mut table = Table::new("To be signed").columns(&["Role", "Name", "Signature", "Date"]);
        for approval in &identity.approvals {
            let blank = || Text::quiet("\u{2026}\u{2026}\u{2026}\u{2026}\u{2026}\u{2026}");
            table.add_row(vec![
                Text::plain(approval.role.as_str()),
                Text::plain(approval.name.as_str()),
                blank(),
                blank(),
            ]);
        }
        outline.add_table(table);
    }
    if !identity.history.is_empty() {
        outline.add_heading(2, "Revision history", "chapter/document/history");
        let mut table = Table::new("Revisions").columns(&["Revision", "Date", "Author", "Change"]);
        for row in &identity.history {
            let cells = [&row.revision, &row.date, &row.author, &row.change];
            table.add_row(cells.map(|cell| Text::plain(cell.as_str())).into());
        }
        outline.add_table(table);
    }
    add_references(identity, outline);
}

fn add_references(identity: &DocumentIdentity, outline: &mut Outline) {
    if !identity.references.is_empty() {
        outline.add_heading(2, "References", "chapter/document/references");
        let mut table =
            Table::new("Documents referred to").columns(&["Id", "Title", "Number", "Revision"]);
        for reference in &identity.references {
            let given = |text: &Option<String>| {
                text.as_deref().map_or_else(|| Text::quiet("not given"), Text::plain)
            };
            table.add_row(vec![
                Text::strong(reference.id.as_str()),
                Text::plain(reference.title.as_str()),
                given(&reference.number),
                given(&reference.revision),
            ]);
        }
        outline.add_table(table);
    }
    if !identity.acronyms.is_empty() {
        outline.add_heading(2, "Acronyms", "chapter/document/acronyms");
        let acronyms = identity.acronyms.iter();
        outline.add_block(Block::Pairs(
            acronyms.map(|(short, long)| (short.clone(), Text::plain(long.as_str()))).collect(),
        ));
    }
}
