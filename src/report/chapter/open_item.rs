//! Open items: what makes the result say less than the level asks for, accepted or not.

use crate::document::{Extent, Table, Text, Tone};
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
fn in_order(evidence: &Evidence) -> Vec<&OpenItem> {
    let items = &evidence.campaign.open_items;
    let accepted = items.iter().filter(|item| !item.stands());
    items.iter().filter(|item| item.stands()).chain(accepted).collect()
}

/// Every item; none where there are none.
pub(super) fn table(evidence: &Evidence) -> Option<Table> {
    let items = in_order(evidence);
    let mut table = Table::new(CAPTION).columns(&["Item", "What", "State"]);
    for item in &items {
        table.row(vec![
            Text::code(item.name.as_str()),
            Text::sentence(item.sentence.as_str()),
            state(item),
        ]);
    }
    (!items.is_empty()).then(|| table.extent(Extent::Full))
}

const CAPTION: &str = "Open items: less than the level asks for";

/// For the title page, with a bounded number of rows; none where there are no items.
pub(super) fn brief_table(evidence: &Evidence) -> Option<Table> {
    let items = in_order(evidence);
    let mut table = Table::new(CAPTION).columns(&["Item", "What", "State"]);
    if items.len() > ONE_BY_ONE {
        for (kind, _) in OpenItemKind::ALL {
            let of_kind: Vec<&OpenItem> =
                items.iter().copied().filter(|item| item.kind == *kind).collect();
            table.rows.extend(kind_row(&of_kind));
        }
        return Some(table.extent(Extent::Full));
    }
    for item in &items {
        let state = match &item.acceptance {
            None => state(item),
            Some(approval) => Text::plain("accepted").tone(Tone::Caution).then(format!(
                ": {} (author {}, approver {})",
                shortened(&approval.reason, CELL),
                shortened(&approval.author, CELL / 3),
                shortened(&approval.approver, CELL / 3)
            )),
        };
        let name = Text::code(shortened(&item.name, CELL));
        table.row(vec![name, Text::sentence(shortened(&item.sentence, CELL)), state]);
    }
    (!items.is_empty()).then(|| table.extent(Extent::Full))
}

/// All items of one kind in a row; none where there are none.
fn kind_row(items: &[&OpenItem]) -> Option<Vec<Text>> {
    let [item] = items else { return kind_together(items) };
    let sentence = Text::sentence(shortened(&item.sentence, CELL / 2));
    let short_state = match &item.acceptance {
        Some(_) => Text::plain("accepted").tone(Tone::Caution),
        None => state(item),
    };
    Some(vec![Text::code(shortened(&item.name, CELL / 2)), sentence, short_state])
}

fn kind_together(items: &[&OpenItem]) -> Option<Vec<Text>> {
    let first = items.first()?;
    let subjects =
        items.iter().filter_map(|item| item.subject.as_ref()).map(|subject| subject.to_string());
    let shown: Vec<String> = subjects.take(SUBJECTS).collect();
    let open = items.iter().filter(|item| item.stands()).count();
    let open_count = (open > 0).then(|| Text::plain(format!("✗ {open} open")).tone(Tone::Bad));
    let accepted = items.len() - open;
    let accepted =
        (accepted > 0).then(|| Text::plain(format!("{accepted} accepted")).tone(Tone::Caution));
    let named = and_more(&shortened(&shown.join(", "), LINE), items.len() - shown.len());
    let what = Text::plain(format!("{} items: {named}", items.len()));
    let state = Text::join(open_count.into_iter().chain(accepted), ", ");
    Some(vec![Text::code(first.kind.name()), what, state])
}

fn state(item: &OpenItem) -> Text {
    match (&item.acceptance, item.acceptable) {
        (Some(approval), _) => {
            let signed = format!(
                ": {} (author {}, approver {})",
                approval.reason, approval.author, approval.approver
            );
            Text::plain("accepted").tone(Tone::Caution).then(signed)
        }
        (None, Acceptability::ByProject) => Text::plain("✗\u{a0}open").tone(Tone::Bad),
        (None, Acceptability::Never) => {
            Text::plain("✗\u{a0}open, cannot be accepted").tone(Tone::Bad)
        }
    }
}
