//! What the project says of the document: numbers, people, approval, history, references, acronyms.
//!
//! Promises: whatever the project states is said to be stated by it; two documents of one set of
//! evidence never carry the same number.

use crate::DocumentName;
use crate::document::{Block, Outline, Table, Text};
use vkcert_model::document::{DocumentIdentity, PartIdentity};
use vkcert_model::evidence::Evidence;

/// What the project file states of the document; none where it states nothing.
fn stated_identity(evidence: &Evidence) -> Option<&DocumentIdentity> {
    evidence.campaign.settings.as_ref()?.document.as_ref()
}

/// What the project states and this tool does not look into.
pub(super) fn stated_text(words: &str) -> Text {
    Text::plain(words).followed_by(Text::quiet(AS_STATED))
}

const AS_STATED: &str = " (as stated by the project)";

/// The title of a document: what the project calls it, or its kind.
pub(super) fn title(evidence: &Evidence, document: DocumentName) -> String {
    let own_title = stated_identity(evidence)
        .and_then(|identity| own_identity(identity, document).and_then(|own| own.title.clone()));
    own_title.unwrap_or_else(|| document.row().title.to_owned())
}

fn own_identity(identity: &DocumentIdentity, document: DocumentName) -> Option<&PartIdentity> {
    identity.own_identity(document.part()?)
}

/// `D-1-SVCP, revision A`
fn number_and_revision(identity: &DocumentIdentity, document: DocumentName) -> String {
    match document.part() {
        None => format!("{}, revision {}", identity.number, identity.revision),
        Some(part) => {
            format!("{}, revision {}", identity.number_of(part), identity.revision_of(part))
        }
    }
}

/// Number and revision, for every page.
pub(super) fn label(evidence: &Evidence, document: DocumentName) -> Option<String> {
    stated_identity(evidence).map(|identity| number_and_revision(identity, document))
}

/// Date of the revision, which is the document's own where its number is.
fn stated_date(identity: &DocumentIdentity, document: DocumentName) -> Option<&str> {
    match own_identity(identity, document) {
        Some(own) => own.date.as_deref(),
        None => identity.date.as_deref(),
    }
}

/// What a document without number of its own is a part of.
fn whole_words(identity: &DocumentIdentity, document: DocumentName) -> Option<String> {
    let is_part = document.part().is_some() && own_identity(identity, document).is_none();
    is_part.then(|| {
        let whole = number_and_revision(identity, DocumentName::All);
        format!("{whole} (as stated by the project, which gives this part no number of its own)")
    })
}

/// Number, revision and date for page 1.
pub(super) fn identity_pairs(evidence: &Evidence, document: DocumentName) -> Vec<(String, Text)> {
    let Some(identity) = stated_identity(evidence) else { return Vec::new() };
    let date = stated_date(identity, document).map(|date| format!(", {date}")).unwrap_or_default();
    let known_by = format!("{}{date}", number_and_revision(identity, document));
    let whole = whole_words(identity, document);
    // A number that is made of that of the report is not stated.
    let stated_words = if whole.is_some() { "" } else { AS_STATED };
    let known_by = Text::strong(known_by).followed_by(Text::quiet(stated_words));
    let mut pairs = vec![("Document".to_owned(), known_by)];
    pairs.extend(whole.map(part_pair));
    pairs.extend(item_pairs(identity, stated_text));
    pairs
}

fn part_pair(words: String) -> (String, Text) {
    ("Part of".to_owned(), Text::plain(words))
}

/// What is verified, as configuration management has it.
fn item_pairs(identity: &DocumentIdentity, text_of: impl Fn(&str) -> Text) -> Vec<(String, Text)> {
    let items = [
        ("Part", &identity.part),
        ("Configuration item", &identity.configuration_item),
        ("Baseline", &identity.baseline),
    ];
    let given_items = items.into_iter().filter_map(|(title, text)| Some((title, text.as_ref()?)));
    given_items.map(|(title, text)| (title.to_owned(), text_of(text))).collect()
}

/// Nothing where the project says nothing of its documents.
pub(super) fn control_chapter(evidence: &Evidence, document: DocumentName, outline: &mut Outline) {
    let Some(identity) = stated_identity(evidence) else { return };
    outline.add_heading(1, "Document control", "chapter/document");
    outline.add_paragraph(
        "All of this chapter is as stated by the project file: numbers, dates, names, approvals, history and references.          This tool derives and checks none of it. The evidence that the document is made of is known by its root.",
    );
    outline.add_block(Block::Pairs(control_pairs(identity, document)));
    if !identity.approvals.is_empty() {
        outline.add_heading(2, "Approval", "chapter/document/approval");
        outline.add_table(approval_table(identity));
    }
    let history = own_identity(identity, document).map_or(&identity.history, |own| &own.history);
    if !history.is_empty() {
        outline.add_heading(2, "Revision history", "chapter/document/history");
        let mut table = Table::new("Revisions, as stated by the project")
            .columns(&["Revision", "Date", "Author", "Change"]);
        for row in history {
            let cells = [&row.revision, &row.date, &row.author, &row.change];
            table.add_row(cells.map(|cell| Text::plain(cell.as_str())).into());
        }
        outline.add_table(table);
    }
    add_references(identity, outline);
}

fn control_pairs(identity: &DocumentIdentity, document: DocumentName) -> Vec<(String, Text)> {
    let (number, revision) = match document.part() {
        None => (identity.number.clone(), identity.revision.as_str()),
        Some(part) => (identity.number_of(part), identity.revision_of(part)),
    };
    let mut pairs = vec![("Number".to_owned(), Text::plain(number))];
    pairs.extend(whole_words(identity, document).map(part_pair));
    pairs.push(("Revision".to_owned(), Text::plain(revision)));
    let date = stated_date(identity, document);
    pairs.extend(date.map(|date| ("Date of the revision".to_owned(), Text::plain(date))));
    pairs.extend(item_pairs(identity, |text| Text::plain(text)));
    for (title, names) in [("Authors", &identity.authors), ("Reviewers", &identity.reviewers)] {
        if !names.is_empty() {
            pairs.push((title.to_owned(), Text::plain(names.join(", "))));
        }
    }
    pairs
}

fn approval_table(identity: &DocumentIdentity) -> Table {
    let mut table = Table::new("To be signed; roles and names as stated by the project")
        .columns(&["Role", "Name", "Signature", "Date"]);
    for approval in &identity.approvals {
        let blank = || Text::quiet("\u{2026}\u{2026}\u{2026}\u{2026}\u{2026}\u{2026}");
        table.add_row(vec![
            Text::plain(approval.role.as_str()),
            Text::plain(approval.name.as_str()),
            blank(),
            blank(),
        ]);
    }
    table
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
