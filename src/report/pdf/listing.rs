//! The listing of a source text: number, mark, text, obligations and tests of each line.
//!
//! Promises: indentation is kept; a line longer than its column goes on below, as do obligations
//! and tests; every page repeats the header.

use super::canvas::{DrawItem, InkColour, LEFT, PageFlow};
use super::line::TextLine;
use crate::document::{ListedFile, ListedLine, SourceListing, Text, Tone};

const SIZE: f32 = 7.4;
const LINE_HEIGHT: f32 = SIZE * 1.24;
/// Space between columns.
const GAP: f32 = 6.0;
const MARK: f32 = 9.0;
/// The most that obligations and tests take of the width.
const OBLIGATIONS: f32 = 104.0;
const TESTS: f32 = 52.0;

/// Where the columns of a file begin, and how wide they are.
struct ListingColumns {
    number: f32,
    source: f32,
    obligations: f32,
    tests: f32,
}

impl ListingColumns {
    fn of_file(flow: &PageFlow, file: &ListedFile) -> Self {
        let breaker = flow.line_breaker(SIZE);
        let width_of = |text: &Text| breaker.natural_width(text);
        let widest = |title: &str, texts: &mut dyn Iterator<Item = &Text>, most: f32| {
            texts.map(width_of).fold(width_of(&Text::strong(title)), f32::max).min(most) + 0.1
        };
        let number = width_of(&Text::plain(file.lines.len().to_string()))
            .max(width_of(&Text::strong("Line")))
            + 0.1;
        let mut obligations = file.lines.iter().map(|line| &line.obligations);
        let obligations = widest("Obligations", &mut obligations, OBLIGATIONS);
        let tests = widest("Tests", &mut file.lines.iter().map(|line| &line.tests), TESTS);
        let source = flow.sheet.line_width() - number - MARK - obligations - tests - 4.0 * GAP;
        Self { number, source, obligations, tests }
    }

    /// Left edges of mark, source, obligations and tests.
    fn edges(&self) -> [f32; 4] {
        let mark = LEFT + self.number + GAP;
        let source = mark + MARK + GAP;
        let obligations = source + self.source + GAP;
        [mark, source, obligations, obligations + self.obligations + GAP]
    }
}

pub(super) fn set_listing(flow: &mut PageFlow, listing: &SourceListing) {
    flow.set_blocks(&listing.lead);
    listing.files.iter().for_each(|file| set_file(flow, file));
}

fn set_file(flow: &mut PageFlow, file: &ListedFile) {
    let columns = ListingColumns::of_file(flow, file);
    flow.add_space(4.0);
    flow.need_height(8.0 * LINE_HEIGHT);
    set_header(flow, file, &columns, "");
    for (number, line) in (1..).zip(&file.lines) {
        set_listed_line(flow, file, &columns, (number, line));
    }
    end_rule(flow);
    flow.y += 10.0;
}

fn end_rule(flow: &mut PageFlow) {
    let (y, ink) = (flow.y + 1.0, InkColour::Rule);
    flow.push_draw(DrawItem::Rule {
        x: LEFT,
        y,
        length: flow.sheet.line_width(),
        thickness: 0.5,
        ink,
    });
}

fn set_header(flow: &mut PageFlow, file: &ListedFile, columns: &ListingColumns, suffix: &str) {
    let title =
        Text::strong("Source ").followed_by(file.path.clone()).followed_by(Text::quiet(suffix));
    flow.set_text(&title, 9.2, LEFT, flow.sheet.line_width());
    flow.y += 2.0;
    flow.push_draw(DrawItem::Fill {
        x: LEFT,
        y: flow.y,
        width: flow.sheet.line_width(),
        height: LINE_HEIGHT + 3.0,
        ink: InkColour::Wash(Tone::Neutral),
    });
    flow.y += 1.5;
    let [_, source, obligations, tests] = columns.edges();
    for (x, title) in
        [(LEFT, "Line"), (source, "Text"), (obligations, "Obligations"), (tests, "Tests")]
    {
        set_cell_line(flow, &Text::strong(title), x);
    }
    flow.y += LINE_HEIGHT + 3.0;
}

/// A text of one line at the flow's place.
fn set_cell_line(flow: &mut PageFlow, text: &Text, x: f32) {
    let lines = flow.line_breaker(SIZE).text_lines(text, flow.sheet.line_width());
    lines.first().into_iter().for_each(|line| set_at(flow, line, x));
}

fn set_at(flow: &mut PageFlow, line: &TextLine, x: f32) {
    flow.set_line(line, x, flow.y + SIZE * 0.95, SIZE, None);
}

fn set_listed_line(
    flow: &mut PageFlow,
    file: &ListedFile,
    columns: &ListingColumns,
    (number, line): (u32, &ListedLine),
) {
    let breaker = flow.line_breaker(SIZE);
    let source_lines = breaker.source_lines(&line.source, columns.source);
    let obligation_lines = breaker.text_lines(&line.obligations, columns.obligations);
    let test_lines = breaker.text_lines(&line.tests, columns.tests);
    let number_text = Text::quiet(number.to_string());
    let number_x = LEFT + columns.number - breaker.natural_width(&number_text);
    let [mark_x, source_x, obligations_x, tests_x] = columns.edges();
    let height = source_lines.len().max(obligation_lines.len()).max(test_lines.len());
    for row in 0..height {
        if flow.y + LINE_HEIGHT + 2.0 > flow.sheet.bottom().min(flow.bottom) {
            end_rule(flow);
            flow.new_page();
            set_header(flow, file, columns, " (continued)");
        }
        if let Some((_, tone @ (Tone::Bad | Tone::Caution))) = line.mark {
            let (y, ink) = (flow.y, InkColour::Wash(tone));
            let (width, height) = (flow.sheet.line_width(), LINE_HEIGHT);
            flow.push_draw(DrawItem::Fill { x: LEFT, y, width, height, ink });
        }
        if row == 0 {
            set_cell_line(flow, &number_text, number_x);
            if let Some((symbol, tone)) = line.mark {
                set_cell_line(flow, &Text::code(symbol).with_tone(tone), mark_x);
            }
        }
        if let Some((indent, source_line)) = source_lines.get(row) {
            set_at(flow, source_line, source_x + indent);
        }
        for (cell_lines, x) in [(&obligation_lines, obligations_x), (&test_lines, tests_x)] {
            cell_lines.get(row).into_iter().for_each(|cell_line| set_at(flow, cell_line, x));
        }
        flow.y += LINE_HEIGHT;
    }
}
