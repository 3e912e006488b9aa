//! What stands around the text: title, contents, running header and footer, page numbers.

use super::canvas::{DrawItem, InkColour, LEFT, MarkedDraw, PageFlow, Sheet, TOP};
use super::face::{FontFace, FontFaces};
use super::line::{LineBreaker, TextLine};
use super::structure::{ArtifactKind, DrawMark, ElementRole, Scope};
use crate::Standing;
use crate::document::{Block, Document, Heading, Text, Tone};
use std::sync::Arc;

/// What is repeated between a title of the contents and its page number.
const LEADER: &str = ". ";

pub(super) fn set_title(flow: &mut PageFlow, document: &Document) {
    flow.y = 96.0;
    flow.push_draw(DrawItem::Rule {
        x: LEFT,
        y: flow.y - 14.0,
        length: 54.0,
        thickness: 3.0,
        ink: InkColour::Accent,
    });
    const SUBJECT: &str =
        "Requirement-based tests, structural coverage and coupling of Vulkan compute kernels";
    let project = Text::strong(document.project.as_str());
    for (text, size, role) in [
        (Text::quiet(document.title.as_str()), 13.0, ElementRole::Paragraph),
        (project, 27.0, ElementRole::Title),
        (Text::emphasis(SUBJECT), 12.0, ElementRole::Paragraph),
    ] {
        flow.within(role, |flow| flow.set_text(&text, size, LEFT, flow.sheet.line_width()));
        flow.y += 4.0;
    }
    flow.y += 18.0;
}

/// So many entries of the contents stay on one page, so that none is left with one line.
const LAST_ENTRIES: usize = 10;
/// Height of an entry of the contents at most: a chapter with the space above it.
const CONTENTS_ENTRY: f32 = 19.0;

/// All headings of chapters, and of sections where that is not too many, with page numbers.
pub(super) fn set_contents(flow: &mut PageFlow, document: &Document) {
    let headings: Vec<&Heading> = document.body.iter().filter_map(heading_of).collect();
    let deepest =
        if headings.iter().filter(|heading| heading.depth <= 2).count() <= 90 { 2 } else { 1 };
    let title_size = 15.0;
    let line = flow
        .line_breaker(title_size)
        .text_lines(&Text::strong("Contents"), flow.sheet.line_width())
        .remove(0);
    flow.within(ElementRole::Title, |flow| {
        flow.set_line(&line, LEFT, flow.y + title_size, title_size, Some(InkColour::Accent));
    });
    flow.y += 2.0 * title_size;
    let headings: Vec<&Heading> =
        headings.into_iter().filter(|heading| heading.depth <= deepest).collect();
    let first_of_last = headings.len().saturating_sub(LAST_ENTRIES);
    flow.within(ElementRole::Contents, |flow| {
        for (index, heading) in headings.into_iter().enumerate() {
            if index == first_of_last {
                flow.need_height(LAST_ENTRIES as f32 * CONTENTS_ENTRY);
            }
            flow.within(ElementRole::ContentsEntry, |flow| {
                flow.within(ElementRole::Link, |flow| set_contents_entry(flow, heading));
            });
        }
    });
}

fn set_contents_entry(flow: &mut PageFlow, heading: &Heading) {
    let is_chapter = heading.depth == 1;
    let font_size = if is_chapter { 10.5 } else { 9.6 };
    let indent = if is_chapter { 0.0 } else { 20.0 };
    flow.y += if is_chapter { 4.0 } else { 0.0 };
    flow.need_height(font_size * 1.4);
    let number_width = if is_chapter { 20.0 } else { 28.0 };
    let entry_style = |text: &str| if is_chapter { Text::strong(text) } else { Text::plain(text) };
    let plain_title = heading.text.0.iter().map(|run| run.text.as_str()).collect::<String>();
    let baseline = flow.y + font_size;
    let breaker = flow.line_breaker(font_size);
    let mut number_line =
        breaker.text_lines(&entry_style(&heading.number), flow.sheet.line_width()).remove(0);
    number_line.ends_word = true;
    flow.set_line(&number_line, LEFT + indent, baseline, font_size, None);
    // One line per entry; a longer title is cut here, never in its place.
    let mut title_line = breaker
        .text_lines(
            &entry_style(&plain_title),
            flow.sheet.line_width() - indent - number_width - 40.0,
        )
        .remove(0);
    title_line.ends_word = true;
    flow.set_line(&title_line, LEFT + indent + number_width, baseline, font_size, None);
    let leader_start = LEFT + indent + number_width + title_line.width + 6.0;
    flow.push_draw(DrawItem::Link {
        x: LEFT,
        y: flow.y,
        width: flow.sheet.line_width(),
        height: font_size * 1.3,
        anchor: Arc::clone(&heading.anchor),
    });
    flow.push_draw(DrawItem::PageNumber {
        left: leader_start,
        right: flow.sheet.right(),
        y: baseline,
        size: font_size,
        anchor: Arc::clone(&heading.anchor),
    });
    flow.y += font_size * 1.42;
}

fn heading_of(block: &Block) -> Option<&Heading> {
    match block {
        Block::Heading(heading) => Some(heading),
        Block::Paragraph(_)
        | Block::List(_)
        | Block::Lines(_)
        | Block::Tree { .. }
        | Block::Pairs(_)
        | Block::Table(_)
        | Block::Drawing(_)
        | Block::Notice { .. }
        | Block::Together(_)
        | Block::Fitting { .. }
        | Block::Source { .. } => None,
    }
}

fn shortened_name(name_characters: &[char]) -> Text {
    Text::plain(format!("{}…", name_characters.iter().collect::<String>().trim_end()))
}

/// The project's name with the title of the report behind it, where that fits; a longer name is
/// shortened with `…`.
pub(super) fn header_left(
    breaker: &LineBreaker,
    sheet: Sheet,
    project: &str,
    title: &str,
) -> TextLine {
    let room_width = sheet.line_width() * 0.8;
    let whole_text = Text::plain(project).followed_by(Text::quiet(format!("   {title}")));
    if breaker.natural_width(&whole_text) <= room_width {
        return breaker.text_lines(&whole_text, sheet.line_width()).remove(0);
    }
    let mut name_characters: Vec<char> = project.chars().collect();
    let mut text = Text::plain(project);
    while breaker.natural_width(&text) > room_width && !name_characters.is_empty() {
        name_characters.pop();
        text = shortened_name(&name_characters);
    }
    breaker.text_lines(&text, sheet.line_width()).remove(0)
}

/// What every header and footer says, as lines.
struct RunningLines {
    left: TextLine,
    right: TextLine,
    level: TextLine,
    root: TextLine,
    date: TextLine,
}

const RUNNING_SIZE: f32 = 8.6;
const ROOT_SIZE: f32 = 6.6;

impl RunningLines {
    fn of_document(flow: &PageFlow, document: &Document) -> Self {
        // All sheets are as wide as the first one or wider.
        let sheet = flow.pages[0].sheet;
        let breaker = flow.line_breaker(RUNNING_SIZE);
        let label = document.label.as_ref().map(|label| format!(" · {label}")).unwrap_or_default();
        let level = Text::quiet(format!("{}{label}", document.level));
        let root = Text::quiet("Evidence ")
            .followed_by(Text::code(document.root.as_str()).with_tone(Tone::Quiet));
        let date = document.date.as_ref().map(|date| format!("SOURCE_DATE_EPOCH {date}"));
        let date = Text::quiet(date.unwrap_or_default());
        Self {
            left: header_left(&breaker, sheet, &document.project, &document.title),
            right: running_line(&breaker, sheet, &Text::quiet(document.tool.as_str())),
            level: running_line(&breaker, sheet, &level),
            root: flow.line_breaker(ROOT_SIZE).text_lines(&root, sheet.line_width()).remove(0),
            date: running_line(&breaker, sheet, &date),
        }
    }
}

fn running_line(breaker: &LineBreaker, sheet: Sheet, text: &Text) -> TextLine {
    breaker.text_lines(text, sheet.line_width() * 0.62).remove(0)
}

/// Running header and footer.
pub(super) fn add_furniture(flow: &mut PageFlow, document: &Document) {
    let page_count = flow.pages.len();
    let lines = RunningLines::of_document(flow, document);
    for index in 0..page_count {
        if index > 0 {
            append_artifacts(flow, index, ArtifactKind::Header, |furniture| {
                set_running_header(furniture, &lines);
            });
        }
        append_artifacts(flow, index, ArtifactKind::Footer, |furniture| {
            set_running_footer(furniture, &lines, (index + 1, page_count));
        });
    }
}

/// Adds to a page what `set` sets on a page of its own.
fn append_artifacts(
    flow: &mut PageFlow,
    index: usize,
    kind: ArtifactKind,
    set: impl FnOnce(&mut PageFlow),
) {
    let mut furniture = PageFlow::of_artifacts(flow.faces, flow.pages[index].sheet, kind);
    set(&mut furniture);
    flow.pages[index].draws.append(&mut furniture.pages[0].draws);
}

fn set_running_header(furniture: &mut PageFlow, lines: &RunningLines) {
    let sheet = furniture.sheet;
    furniture.set_line(&lines.left, LEFT, TOP - 32.0, RUNNING_SIZE, None);
    let right_x = sheet.right() - lines.right.width;
    furniture.set_line(&lines.right, right_x, TOP - 32.0, RUNNING_SIZE, None);
    furniture.push_draw(running_rule(sheet, TOP - 25.0));
}

fn set_running_footer(
    furniture: &mut PageFlow,
    lines: &RunningLines,
    (page_number, page_count): (usize, usize),
) {
    let sheet = furniture.sheet;
    let y = sheet.bottom() + 16.0;
    furniture.push_draw(running_rule(sheet, y));
    furniture.set_line(&lines.level, LEFT, y + 13.0, RUNNING_SIZE, None);
    let date_left = LEFT + (sheet.line_width() - lines.date.width) / 2.0;
    // A long number of the document leaves no room in the middle.
    let date_left = date_left.max(LEFT + lines.level.width + 12.0);
    furniture.set_line(&lines.date, date_left, y + 13.0, RUNNING_SIZE, None);
    let page_text = Text::quiet(format!("Page {page_number} of {page_count}"));
    let page_line = running_line(&furniture.line_breaker(RUNNING_SIZE), sheet, &page_text);
    let page_x = sheet.right() - page_line.width;
    furniture.set_line(&page_line, page_x, y + 13.0, RUNNING_SIZE, None);
    furniture.set_line(&lines.root, LEFT, y + 24.0, ROOT_SIZE, None);
}

fn running_rule(sheet: Sheet, y: f32) -> DrawItem {
    DrawItem::Rule { x: LEFT, y, length: sheet.line_width(), thickness: 0.4, ink: InkColour::Rule }
}

/// What stands at the top of every page where the evidence does not verify; read aloud once, before
/// all else.
pub(super) fn add_stamp(flow: &mut PageFlow, standing: &Standing) {
    let Some(stamp) = standing.stamp() else { return };
    let size = 12.0;
    let line = flow
        .line_breaker(size)
        .text_lines(&Text::strong(stamp).with_tone(Tone::Bad), flow.pages[0].sheet.line_width())
        .remove(0);
    let stamp_start = flow.pages[0].draws.len();
    for index in 0..flow.pages.len() {
        append_artifacts(flow, index, ArtifactKind::Header, |furniture| {
            let stamp_x = LEFT + (furniture.sheet.line_width() - line.width) / 2.0;
            furniture.set_line(&line, stamp_x, TOP - 48.0, size, None);
        });
    }
    let stamp_element = flow.structure.add_first(ElementRole::Paragraph);
    flow.structure.scope = Scope::Element(stamp_element);
    let stamp_mark = flow.structure.single_content();
    flow.pages[0].draws[stamp_start..].iter_mut().for_each(|draw| draw.mark = stamp_mark);
}

/// Page numbers of the contents, once all anchors have their place.
pub(super) fn resolve_page_numbers(flow: &mut PageFlow) {
    let PageFlow { anchors, faces, pages, .. } = flow;
    for page in pages {
        let mut resolved_draws = Vec::with_capacity(page.draws.len());
        for draw in page.draws.drain(..) {
            let DrawItem::PageNumber { left, right, y, size, anchor } = draw.item else {
                resolved_draws.push(draw);
                continue;
            };
            let Some(place) = anchors.get(&anchor) else { continue };
            let number = (place.page + 1).to_string();
            let number_width = text_width(faces, &number, size);
            let leader_pitch = text_width(faces, LEADER, size);
            let leader_count =
                ((right - number_width - 6.0 - left) / leader_pitch).max(0.0) as usize;
            if leader_count > 0 {
                let leader_x = right - number_width - 6.0 - leader_count as f32 * leader_pitch;
                let ink = InkColour::Tone(Tone::Quiet);
                let item = plain_item((leader_x, y), size, ink, LEADER.repeat(leader_count));
                let mark = DrawMark::Artifact(ArtifactKind::Layout);
                resolved_draws.push(MarkedDraw { item, mark });
            }
            let ink = InkColour::Tone(Tone::Neutral);
            let item = plain_item((right - number_width, y), size, ink, number);
            resolved_draws.push(MarkedDraw { item, mark: draw.mark });
        }
        page.draws = resolved_draws;
    }
}

fn text_width(faces: &FontFaces, text: &str, size: f32) -> f32 {
    text.chars().map(|character| faces.character_width(FontFace::Text, character, size)).sum()
}

fn plain_item((x, y): (f32, f32), size: f32, ink: InkColour, text: String) -> DrawItem {
    DrawItem::Text { x, y, face: FontFace::Text, size, ink, text }
}
