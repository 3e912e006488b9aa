//! What stands around the text: title, contents, running header and footer, page numbers.

use super::canvas::{DrawItem, InkColour, LEFT, PageFlow, Sheet, TOP};
use super::face::FontFace;
use super::line::{LineBreaker, TextLine};
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
    for (text, size) in
        [(Text::quiet(document.title), 13.0), (Text::strong(document.project.as_str()), 27.0)]
    {
        flow.set_text(&text, size, LEFT, flow.sheet.line_width());
        flow.y += 4.0;
    }
    flow.set_text(
        &Text::emphasis(
            "Requirement-based tests, structural coverage and coupling of Vulkan compute kernels",
        ),
        12.0,
        LEFT,
        flow.sheet.line_width(),
    );
    flow.y += 22.0;
}

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
    flow.set_line(&line, LEFT, flow.y + title_size, title_size, Some(InkColour::Accent));
    flow.y += 2.0 * title_size;
    for heading in headings.into_iter().filter(|heading| heading.depth <= deepest) {
        let is_chapter = heading.depth == 1;
        let font_size = if is_chapter { 10.5 } else { 9.6 };
        let indent = if is_chapter { 0.0 } else { 20.0 };
        flow.y += if is_chapter { 4.0 } else { 0.0 };
        flow.need_height(font_size * 1.4);
        let number_width = if is_chapter { 20.0 } else { 28.0 };
        let entry_style =
            |text: &str| if is_chapter { Text::strong(text) } else { Text::plain(text) };
        let plain_title = heading.text.0.iter().map(|run| run.text.as_str()).collect::<String>();
        let baseline = flow.y + font_size;
        let breaker = flow.line_breaker(font_size);
        let number_line =
            breaker.text_lines(&entry_style(&heading.number), flow.sheet.line_width()).remove(0);
        flow.set_line(&number_line, LEFT + indent, baseline, font_size, None);
        // One line per entry; a longer title is cut here, never in its place.
        let title_line = breaker
            .text_lines(
                &entry_style(&plain_title),
                flow.sheet.line_width() - indent - number_width - 40.0,
            )
            .remove(0);
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
}

fn heading_of(block: &Block) -> Option<&Heading> {
    match block {
        Block::Heading(heading) => Some(heading),
        Block::Paragraph(_)
        | Block::List(_)
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

/// Running header and footer.
pub(super) fn add_furniture(flow: &mut PageFlow, document: &Document) {
    let page_count = flow.pages.len();
    let font_size = 8.6;
    let breaker = flow.line_breaker(font_size);
    let set_line = |text: Text| breaker.text_lines(&text, flow.sheet.line_width() * 0.62).remove(0);
    let left_line = header_left(&breaker, flow.sheet, &document.project, document.title);
    let right_line = set_line(Text::quiet(document.tool.as_str()));
    let label = document.label.as_ref().map(|label| format!("   {label}")).unwrap_or_default();
    let level_line = set_line(Text::quiet(format!("DO-178C level {}{label}", document.level)));
    let root_size = 6.6;
    let root_text = Text::quiet("Evidence ")
        .followed_by(Text::code(document.root.as_str()).with_tone(Tone::Quiet));
    let root_line =
        flow.line_breaker(root_size).text_lines(&root_text, flow.sheet.line_width()).remove(0);
    let date_line = set_line(Text::quiet(document.date.as_deref().unwrap_or_default()));
    for index in 0..page_count {
        let page_line = set_line(Text::quiet(format!("Page {} of {page_count}", index + 1)));
        let mut furniture = PageFlow::new(flow.faces, flow.sheet);
        let right_edge = flow.sheet.right();
        if index > 0 {
            furniture.set_line(&left_line, LEFT, TOP - 32.0, font_size, None);
            furniture.set_line(
                &right_line,
                right_edge - right_line.width,
                TOP - 32.0,
                font_size,
                None,
            );
            let y = TOP - 25.0;
            furniture.push_draw(DrawItem::Rule {
                x: LEFT,
                y,
                length: flow.sheet.line_width(),
                thickness: 0.4,
                ink: InkColour::Rule,
            });
        }
        let y = flow.sheet.bottom() + 16.0;
        furniture.push_draw(DrawItem::Rule {
            x: LEFT,
            y,
            length: flow.sheet.line_width(),
            thickness: 0.4,
            ink: InkColour::Rule,
        });
        furniture.set_line(&level_line, LEFT, y + 13.0, font_size, None);
        let date_left = LEFT + (flow.sheet.line_width() - date_line.width) / 2.0;
        // A long number of the document leaves no room in the middle.
        let date_left = date_left.max(LEFT + level_line.width + 12.0);
        furniture.set_line(&date_line, date_left, y + 13.0, font_size, None);
        furniture.set_line(&page_line, right_edge - page_line.width, y + 13.0, font_size, None);
        furniture.set_line(&root_line, LEFT, y + 24.0, root_size, None);
        flow.pages[index].append(&mut furniture.pages[0]);
    }
}

/// What stands at the top of every page where the evidence does not verify.
pub(super) fn add_stamp(flow: &mut PageFlow, standing: &Standing) {
    let Some(stamp) = standing.stamp() else { return };
    let size = 12.0;
    let line = flow
        .line_breaker(size)
        .text_lines(&Text::strong(stamp).with_tone(Tone::Bad), flow.sheet.line_width())
        .remove(0);
    for index in 0..flow.pages.len() {
        let mut furniture = PageFlow::new(flow.faces, flow.sheet);
        furniture.set_line(
            &line,
            LEFT + (flow.sheet.line_width() - line.width) / 2.0,
            TOP - 48.0,
            size,
            None,
        );
        flow.pages[index].append(&mut furniture.pages[0]);
    }
}

/// Page numbers of the contents, once all anchors have their place.
pub(super) fn resolve_page_numbers(flow: &mut PageFlow) {
    let PageFlow { anchors, faces, pages, .. } = flow;
    for page in pages {
        let mut resolved_draws = Vec::with_capacity(page.len());
        for draw in page.drain(..) {
            let DrawItem::PageNumber { left, right, y, size, anchor } = draw else {
                resolved_draws.push(draw);
                continue;
            };
            let Some((number, _)) = anchors.get(&anchor) else { continue };
            let text = (number + 1).to_string();
            let number_width: f32 = text
                .chars()
                .map(|character| faces.character_width(FontFace::Text, character, size))
                .sum();
            let leader_pitch: f32 = LEADER
                .chars()
                .map(|character| faces.character_width(FontFace::Text, character, size))
                .sum();
            let leader_count =
                ((right - number_width - 6.0 - left) / leader_pitch).max(0.0) as usize;
            resolved_draws.push(DrawItem::Text {
                x: right - number_width - 6.0 - leader_count as f32 * leader_pitch,
                y,
                face: FontFace::Text,
                size,
                ink: InkColour::Tone(Tone::Quiet),
                text: LEADER.repeat(leader_count),
            });
            resolved_draws.push(DrawItem::Text {
                x: right - number_width,
                y,
                face: FontFace::Text,
                size,
                ink: InkColour::Tone(Tone::Neutral),
                text,
            });
        }
        *page = resolved_draws;
    }
}
