//! The conclusion: on page 1 in few lines, and in a chapter of its own with every reason, open item
//! and note.
//!
//! Promises: page 1 has a bounded number of lines, and says where the rest stands. Does not cover:
//! what is stated (`statement`).

use super::open_item;
use crate::document::{Block, Outline, Text};
use crate::shortened::{LINE, shortened};
use crate::statement;
use vkcert_model::evidence::Evidence;

/// Lines of page 1 for reasons and notes together, of which one note has some in any case.
const LINES: usize = 13;
/// Lines of one of them at most. What was not looked for has four at its longest.
const REMARK_LINES: usize = 4;
/// Where the whole of it stands.
const ANCHOR: &str = "chapter/conclusion";

/// What page 1 says, whatever the number of reasons.
pub(super) fn notice(evidence: &Evidence) -> Block {
    let conclusion = &evidence.campaign.conclusion;
    let (tone, title) = statement::title(evidence);
    let brief = statement::brief_reasons(evidence);
    let brief_lines: usize =
        brief.lines.iter().map(|line| line.chars().count().div_ceil(LINE)).sum();
    let mut lines: Vec<Text> = brief.lines.into_iter().map(Text::sentence).collect();
    if conclusion.exit_code == 0 && lines.is_empty() {
        lines.extend(statement::achieved(evidence).into_iter().map(Text::sentence));
    }
    let remarks = remarks(evidence);
    let mut room = LINES.saturating_sub(brief_lines).max(2);
    let mut shown = Vec::new();
    for remark in &remarks {
        let remark = shortened(remark, REMARK_LINES * LINE);
        let height = remark.chars().count().div_ceil(LINE);
        if height > room {
            break;
        }
        room -= height;
        shown.push(remark);
    }
    let whole = brief.whole && shown == remarks;
    lines.extend(shown.into_iter().map(Text::sentence));
    if !whole {
        let count = statement::counted(conclusion.reasons.len(), "reason");
        let all = format!(
            "Told in brief: the chapter “{TITLE}” has all of it ({count}, {}).",
            statement::counted(remarks.len(), "note")
        );
        lines.push(Text::plain(all).link(ANCHOR));
    }
    let title = Text::strong(format!("{title} (exit code {})", conclusion.exit_code));
    Block::Notice { tone, title, lines }
}

const TITLE: &str = "Conclusion in full";

/// What was not looked for, and the notes.
fn remarks(evidence: &Evidence) -> Vec<String> {
    let unsought = statement::unsought(evidence);
    let unsought = (!unsought.is_empty())
        .then(|| format!("Findings not looked for, or not everywhere: {}.", unsought.join("; ")));
    unsought.into_iter().chain(statement::notes(evidence)).collect()
}

/// Every reason, open item and note.
pub(super) fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, TITLE, ANCHOR);
    let (_, title) = statement::title(evidence);
    outline.paragraph(Text::strong(format!(
        "{title} (exit code {}).",
        evidence.campaign.conclusion.exit_code
    )));
    outline.heading(2, "Reasons", "chapter/conclusion/reasons");
    let reasons: Vec<Text> = statement::reasons(evidence)
        .into_iter()
        .map(|reason| Text::sentence(reason.sentence))
        .collect();
    if reasons.is_empty() {
        outline.paragraph("None: nothing counts against the result.");
    } else {
        outline.push(Block::List(reasons));
    }
    outline.heading(2, "Open items", "chapter/conclusion/items");
    match open_item::table(evidence) {
        Some(table) => outline.table(table),
        None if statement::holds_items(&evidence.campaign) => {
            outline.paragraph("None: nothing is less than the level asks for.");
        }
        None => outline.paragraph(statement::NO_ITEMS),
    }
    outline.heading(2, "Notes", "chapter/conclusion/notes");
    let remarks: Vec<Text> = remarks(evidence).into_iter().map(Text::sentence).collect();
    if remarks.is_empty() {
        outline.paragraph("None.");
    } else {
        outline.push(Block::List(remarks));
    }
}
