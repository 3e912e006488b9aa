//! Open items: what makes the result say less than the level asks for, accepted or not.

use crate::document::{Table, TableExtent, Text, Tone};
use crate::shortened::shortened;
use vkcert_model::evidence::Evidence;
use vkcert_model::open_item::{Acceptability, OpenItem, OpenItemKind};
use vkcert_model::wording::and_more;

/// Items that page 1 has one by one; more of them are a row per kind.
const ONE_BY_ONE: usize = 6;
/// Characters of a cell on page 1.
const CELL: usize = 150;
/// Subjects that page 1 names of a kind, and characters of them all.
const SUBJECTS: usize = 3;
const LINE: usize = 34;

/// Those that count, then those that the project accepts.
fn standing_first(evidence: &Evidence) -> Vec<&OpenItem> {
    let items = &evidence.campaign.open_items;
    let accepted_items = items.iter().filter(|item| !item.stands());
    items.iter().filter(|item| item.stands()).chain(accepted_items).collect()
}

/// Every item; none where there are none.
pub(super) fn item_table(evidence: &Evidence) -> Option<Table> {
    let items = standing_first(evidence);
    let mut table = Table::new(CAPTION).columns(&["Item", "What", "State"]);
    for item in &items {
        table.add_row(vec![
            Text::code(item.name.as_str()),
            Text::sentence(item.sentence.as_str()),
            item_state(item),
        ]);
    }
    (!items.is_empty()).then(|| table.extent(TableExtent::Full))
}

const CAPTION: &str = "Open items: less than the level asks for";

/// For the title page, with a bounded number of rows; none where there are no items.
pub(super) fn brief_table(evidence: &Evidence) -> Option<Table> {
    let items = standing_first(evidence);
    let mut table = Table::new(CAPTION).columns(&["Item", "What", "State"]);
    if items.len() > ONE_BY_ONE {
        for (kind, _) in OpenItemKind::ALL {
            let of_kind: Vec<&OpenItem> =
                items.iter().copied().filter(|item| item.kind == *kind).collect();
            table.rows.extend(kind_row(&of_kind));
        }
        return Some(table.extent(TableExtent::Full));
    }
    for item in &items {
        let state_text = match &item.acceptance {
            None => item_state(item),
            Some(approval) => Text::plain("accepted").with_tone(Tone::Caution).then_plain(format!(
                ": {} (author {}, approver {})",
                shortened(&approval.reason, CELL),
                shortened(&approval.author, CELL / 3),
                shortened(&approval.approver, CELL / 3)
            )),
        };
        let short_name = Text::code(shortened(&item.name, CELL));
        table.add_row(vec![
            short_name,
            Text::sentence(shortened(&item.sentence, CELL)),
            state_text,
        ]);
    }
    (!items.is_empty()).then(|| table.extent(TableExtent::Full))
}

/// All items of one kind in a row; none where there are none.
fn kind_row(items: &[&OpenItem]) -> Option<Vec<Text>> {
    let [item] = items else { return joint_kind_row(items) };
    let sentence = Text::sentence(shortened(&item.sentence, CELL / 2));
    let short_state = match &item.acceptance {
        Some(_) => Text::plain("accepted").with_tone(Tone::Caution),
        None => item_state(item),
    };
    Some(vec![Text::code(shortened(&item.name, CELL / 2)), sentence, short_state])
}

fn joint_kind_row(items: &[&OpenItem]) -> Option<Vec<Text>> {
    let first_item = items.first()?;
    let distinct_subjects =
        items.iter().filter_map(|item| item.subject.as_ref()).map(|subject| subject.to_string());
    let shown_subjects: Vec<String> = distinct_subjects.take(SUBJECTS).collect();
    let open = items.iter().filter(|item| item.stands()).count();
    let open_count = (open > 0).then(|| Text::plain(format!("✗ {open} open")).with_tone(Tone::Bad));
    let accepted_count = items.len() - open;
    let accepted_count = (accepted_count > 0)
        .then(|| Text::plain(format!("{accepted_count} accepted")).with_tone(Tone::Caution));
    let subject_words =
        and_more(&shortened(&shown_subjects.join(", "), LINE), items.len() - shown_subjects.len());
    let kind_words = Text::plain(format!("{} items: {subject_words}", items.len()));
    let state_text = Text::join(open_count.into_iter().chain(accepted_count), ", ");
    Some(vec![Text::code(first_item.kind.name()), kind_words, state_text])
}

fn item_state(item: &OpenItem) -> Text {
    match (&item.acceptance, item.acceptable) {
        (Some(approval), _) => {
            let signed = format!(
                ": {} (author {}, approver {})",
                approval.reason, approval.author, approval.approver
            );
            Text::plain("accepted").with_tone(Tone::Caution).then_plain(signed)
        }
        (None, Acceptability::ByProject) => Text::plain("✗\u{a0}open").with_tone(Tone::Bad),
        (None, Acceptability::Never) => {
            Text::plain("✗\u{a0}open, cannot be accepted").with_tone(Tone::Bad)
        }
    }
}
