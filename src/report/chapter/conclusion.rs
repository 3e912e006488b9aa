//! The conclusion: on page 1 in few lines, and in a chapter of its own with every reason, open item
//! and note.
//!
//! Promises: page 1 has a bounded number of lines, and says where the rest stands. Does not cover:
//! what is stated (`statement`).

use super::open_item;
use crate::document::{Block, Outline, Text};
use crate::shortened::{LINE, shortened};
use crate::statement;
use std::collections::BTreeSet;
use vkcert_model::evidence::Evidence;

/// Lines of page 1 for reasons and notes together, of which one note has some in any case but one:
const LINES: usize = 12;
/// of more kinds of open items page 1 has no room for notes.
const KINDS: usize = 17;
/// Lines of one of them at most. What was not looked for has four at its longest.
const REMARK_LINES: usize = 4;
/// Where the whole of it stands.
const ANCHOR: &str = "chapter/conclusion";

/// What page 1 says, whatever the number of reasons.
pub(super) fn conclusion_notice(evidence: &Evidence) -> Block {
    notice(evidence, &format!("the chapter “{TITLE}” has all of it"))
}

/// The same where the chapter stands in another document, which `whole_place` names.
pub(super) fn notice_of_the_whole_run(evidence: &Evidence, whole_place: &str) -> Block {
    notice(evidence, whole_place)
}

fn notice(evidence: &Evidence, whole_place: &str) -> Block {
    let conclusion = &evidence.campaign.conclusion;
    let (tone, title) = statement::conclusion_title(evidence);
    let shortened_reasons = statement::brief_reasons(evidence);
    let brief_lines: usize =
        shortened_reasons.lines.iter().map(|line| line.chars().count().div_ceil(LINE)).sum();
    let mut notice_lines: Vec<Text> =
        shortened_reasons.lines.into_iter().map(Text::sentence).collect();
    if conclusion.exit_code == 0 && notice_lines.is_empty() {
        notice_lines
            .extend(statement::achieved_statements(evidence).into_iter().map(Text::sentence));
    }
    let remarks = all_remarks(evidence);
    let kinds: BTreeSet<_> = evidence.campaign.open_items.iter().map(|item| item.kind).collect();
    let mut lines_left = match kinds.len() > KINDS {
        true => 0,
        false => LINES.saturating_sub(brief_lines).max(2),
    };
    let mut shown_remarks = Vec::new();
    for remark in &remarks {
        let remark = shortened(remark, REMARK_LINES * LINE);
        let line_count = remark.chars().count().div_ceil(LINE);
        if line_count > lines_left {
            break;
        }
        lines_left -= line_count;
        shown_remarks.push(remark);
    }
    let is_whole = shortened_reasons.whole && shown_remarks == remarks;
    notice_lines.extend(shown_remarks.into_iter().map(Text::sentence));
    if !is_whole {
        let reason_count = statement::counted(statement::told_reasons(evidence).len(), "reason");
        let pointer_words = format!(
            "Told in brief: {whole_place} ({reason_count}, {}).",
            statement::counted(remarks.len(), "note")
        );
        notice_lines.push(Text::sentence(pointer_words).with_link(ANCHOR));
    }
    let title = Text::strong(format!("{title} (exit code {})", conclusion.exit_code));
    Block::Notice { tone, title, lines: notice_lines }
}

const TITLE: &str = "Conclusion in full";

/// What was not looked for, and the notes.
fn all_remarks(evidence: &Evidence) -> Vec<String> {
    let unsought_remark = statement::unsought_kinds(evidence);
    let unsought_remark = (!unsought_remark.is_empty()).then(|| {
        format!("Findings not looked for, or not everywhere: {}.", unsought_remark.join("; "))
    });
    unsought_remark.into_iter().chain(statement::page_notes(evidence)).collect()
}

/// Every reason, open item and note.
pub(super) fn conclusion_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, TITLE, ANCHOR);
    let (_, title) = statement::conclusion_title(evidence);
    outline.add_paragraph(Text::strong(format!(
        "{title} (exit code {}).",
        evidence.campaign.conclusion.exit_code
    )));
    outline.add_heading(2, "Reasons", "chapter/conclusion/reasons");
    let reasons: Vec<Text> = statement::told_reasons(evidence)
        .into_iter()
        .map(|reason| Text::sentence(reason.sentence))
        .collect();
    if reasons.is_empty() {
        outline.add_paragraph("None: nothing counts against the result.");
    } else {
        outline.add_block(Block::List(reasons));
    }
    outline.add_heading(2, "Open items", "chapter/conclusion/items");
    match open_item::item_table(evidence) {
        Some(table) => outline.add_table(table),
        None if statement::holds_items(&evidence.campaign) => {
            outline.add_paragraph("None of the kinds that the tool looks for. What the objectives still need is told with them.");
        }
        None => outline.add_paragraph(statement::NO_ITEMS),
    }
    outline.add_heading(2, "Notes", "chapter/conclusion/notes");
    let all_remarks: Vec<Text> = all_remarks(evidence).into_iter().map(Text::sentence).collect();
    if all_remarks.is_empty() {
        outline.add_paragraph("None.");
    } else {
        outline.add_block(Block::List(all_remarks));
    }
}
