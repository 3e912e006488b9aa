//! Open items: what makes the result say less than the level asks for, accepted or not.

use crate::model::evidence::Evidence;
use crate::model::open_item::{Acceptability, OpenItem};
use crate::report::document::{Block, Extent, Table, Text, Tone};

/// For the title page; none where there are no items.
pub fn table(evidence: &Evidence) -> Option<Block> {
    let items = &evidence.campaign.open_items;
    if items.is_empty() {
        return None;
    }
    let mut table = Table::new("Open items: less than the level asks for").columns(&["Item", "What", "State"]);
    let standing = items.iter().filter(|item| item.stands());
    for item in standing.chain(items.iter().filter(|item| !item.stands())) {
        table.row(vec![Text::code(item.name.as_str()), Text::plain(item.sentence.as_str()), state(item)]);
    }
    Some(Block::Table(table.extent(Extent::Full)))
}

fn state(item: &OpenItem) -> Text {
    match (&item.acceptance, item.acceptable) {
        (Some(approval), _) => {
            let signed = format!(": {} (author {}, approver {})", approval.reason, approval.author, approval.approver);
            Text::plain("accepted").tone(Tone::Caution).then(signed)
        }
        (None, Acceptability::ByProject) => Text::plain("✗ open").tone(Tone::Bad),
        (None, Acceptability::Never) => Text::plain("✗ open, cannot be accepted").tone(Tone::Bad),
    }
}
