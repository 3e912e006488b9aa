//! What stands around the text: title, contents, running header and footer, page numbers.

use super::canvas::{BOTTOM, Draw, Flow, Ink, LEFT, LINE_WIDTH, TOP};
use super::face::Face;
use super::line::{Breaker, Line};
use crate::Standing;
use crate::document::{Block, Document, Heading, Text, Tone};

/// What is repeated between a title of the contents and its page number.
const LEADER: &str = ". ";

pub(super) fn title(flow: &mut Flow, document: &Document) {
    flow.y = 96.0;
    flow.draw(Draw::Rule {
        x: LEFT,
        y: flow.y - 14.0,
        length: 54.0,
        thickness: 3.0,
        ink: Ink::Accent,
    });
    for (text, size) in [
        (Text::quiet("Software verification report"), 13.0),
        (Text::strong(document.project.as_str()), 27.0),
    ] {
        flow.text(&text, size, LEFT, LINE_WIDTH);
        flow.y += 4.0;
    }
    flow.text(
        &Text::emphasis(
            "Requirement-based tests, structural coverage and coupling of Vulkan compute kernels",
        ),
        12.0,
        LEFT,
        LINE_WIDTH,
    );
    flow.y += 22.0;
}

/// All headings of chapters, and of sections where that is not too many, with page numbers.
pub(super) fn contents(flow: &mut Flow, document: &Document) {
    let headings: Vec<&Heading> = document.body.iter().filter_map(heading).collect();
    let depth =
        if headings.iter().filter(|heading| heading.depth <= 2).count() <= 90 { 2 } else { 1 };
    let size = 15.0;
    let line = flow.breaker(size).lines(&Text::strong("Contents"), LINE_WIDTH).remove(0);
    flow.line(&line, LEFT, flow.y + size, size, Some(Ink::Accent));
    flow.y += 2.0 * size;
    for heading in headings.into_iter().filter(|heading| heading.depth <= depth) {
        let chapter = heading.depth == 1;
        let size = if chapter { 10.5 } else { 9.6 };
        let indent = if chapter { 0.0 } else { 20.0 };
        flow.y += if chapter { 4.0 } else { 0.0 };
        flow.need(size * 1.4);
        let number = if chapter { 20.0 } else { 28.0 };
        let style = |text: &str| if chapter { Text::strong(text) } else { Text::plain(text) };
        let plain = heading.text.0.iter().map(|run| run.text.as_str()).collect::<String>();
        let baseline = flow.y + size;
        let breaker = flow.breaker(size);
        let label = breaker.lines(&style(&heading.number), LINE_WIDTH).remove(0);
        flow.line(&label, LEFT + indent, baseline, size, None);
        // One line per entry; a longer title is cut here, never in its place.
        let title = breaker.lines(&style(&plain), LINE_WIDTH - indent - number - 40.0).remove(0);
        flow.line(&title, LEFT + indent + number, baseline, size, None);
        let left = LEFT + indent + number + title.width + 6.0;
        let anchor = heading.anchor.clone();
        flow.draw(Draw::Link {
            x: LEFT,
            y: flow.y,
            width: LINE_WIDTH,
            height: size * 1.3,
            anchor: anchor.clone(),
        });
        flow.draw(Draw::PageNumber { left, right: LEFT + LINE_WIDTH, y: baseline, size, anchor });
        flow.y += size * 1.42;
    }
}

fn heading(block: &Block) -> Option<&Heading> {
    match block {
        Block::Heading(heading) => Some(heading),
        Block::Paragraph(_)
        | Block::List(_)
        | Block::Pairs(_)
        | Block::Table(_)
        | Block::Notice { .. }
        | Block::Together(_)
        | Block::Fitting { .. }
        | Block::Source { .. } => None,
    }
}

/// The project's name with the title of the report behind it, where that fits; a longer name is
/// shortened with `…`.
pub(super) fn header_left(breaker: &Breaker, project: &str) -> Line {
    let room = LINE_WIDTH * 0.8;
    let title = "   Software verification report";
    let whole = Text::plain(project).and(Text::quiet(title));
    if breaker.natural(&whole) <= room {
        return breaker.lines(&whole, LINE_WIDTH).remove(0);
    }
    let mut name: Vec<char> = project.chars().collect();
    let shown =
        |name: &[char]| Text::plain(format!("{}…", name.iter().collect::<String>().trim_end()));
    let mut text = Text::plain(project);
    while breaker.natural(&text) > room && !name.is_empty() {
        name.pop();
        text = shown(&name);
    }
    breaker.lines(&text, LINE_WIDTH).remove(0)
}

/// Running header and footer.
pub(super) fn furnish(flow: &mut Flow, document: &Document) {
    let total = flow.pages.len();
    let size = 8.6;
    let breaker = flow.breaker(size);
    let set = |text: Text| breaker.lines(&text, LINE_WIDTH * 0.62).remove(0);
    let left = header_left(&breaker, &document.project);
    let right = set(Text::quiet(document.tool.as_str()));
    let level = set(Text::quiet(format!("DO-178C level {}", document.level)));
    let date = set(Text::quiet(document.date.clone().unwrap_or_default()));
    for index in 0..total {
        let page = set(Text::quiet(format!("Page {} of {total}", index + 1)));
        let mut furniture = Flow::new(flow.faces);
        let end = LEFT + LINE_WIDTH;
        if index > 0 {
            furniture.line(&left, LEFT, TOP - 32.0, size, None);
            furniture.line(&right, end - right.width, TOP - 32.0, size, None);
            let y = TOP - 25.0;
            furniture.draw(Draw::Rule {
                x: LEFT,
                y,
                length: LINE_WIDTH,
                thickness: 0.4,
                ink: Ink::Rule,
            });
        }
        let y = BOTTOM + 16.0;
        furniture.draw(Draw::Rule {
            x: LEFT,
            y,
            length: LINE_WIDTH,
            thickness: 0.4,
            ink: Ink::Rule,
        });
        furniture.line(&level, LEFT, y + 13.0, size, None);
        furniture.line(&date, LEFT + (LINE_WIDTH - date.width) / 2.0, y + 13.0, size, None);
        furniture.line(&page, end - page.width, y + 13.0, size, None);
        flow.pages[index].append(&mut furniture.pages[0]);
    }
}

/// What stands at the top of every page where the evidence does not verify.
pub(super) fn stamp(flow: &mut Flow, standing: &Standing) {
    let Some(stamp) = standing.stamp() else { return };
    let size = 12.0;
    let line = flow.breaker(size).lines(&Text::strong(stamp).tone(Tone::Bad), LINE_WIDTH).remove(0);
    for index in 0..flow.pages.len() {
        let mut furniture = Flow::new(flow.faces);
        furniture.line(&line, LEFT + (LINE_WIDTH - line.width) / 2.0, TOP - 48.0, size, None);
        flow.pages[index].append(&mut furniture.pages[0]);
    }
}

/// Page numbers of the contents, once all anchors have their place.
pub(super) fn resolve_page_numbers(flow: &mut Flow) {
    let anchors = flow.anchors.clone();
    let faces = flow.faces;
    for page in &mut flow.pages {
        let mut resolved = Vec::with_capacity(page.len());
        for draw in page.drain(..) {
            let Draw::PageNumber { left, right, y, size, anchor } = draw else {
                resolved.push(draw);
                continue;
            };
            let Some((number, _)) = anchors.get(&anchor) else { continue };
            let text = (number + 1).to_string();
            let width: f32 = text.chars().map(|c| faces.width(Face::Text, c, size)).sum();
            let pitch: f32 = LEADER.chars().map(|c| faces.width(Face::Text, c, size)).sum();
            let count = ((right - width - 6.0 - left) / pitch).max(0.0) as usize;
            let (x, ink) = (right - width - 6.0 - count as f32 * pitch, Ink::Tone(Tone::Quiet));
            resolved.push(Draw::Text {
                x,
                y,
                face: Face::Text,
                size,
                ink,
                text: LEADER.repeat(count),
            });
            let ink = Ink::Tone(Tone::Neutral);
            resolved.push(Draw::Text { x: right - width, y, face: Face::Text, size, ink, text });
        }
        *page = resolved;
    }
}
