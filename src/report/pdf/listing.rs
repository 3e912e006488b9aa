//! The listing of a source text: number, mark, text, obligations and tests of each line.
//!
//! Promises: indentation is kept; a line longer than its column goes on below, as do obligations
//! and tests; every page repeats the header.

use super::canvas::{DrawItem, InkColour, LEFT, PageFlow};
use super::line::TextLine;
use super::structure::{ElementId, ElementRole};
use super::table::add_row_cells;
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
    flow.within(ElementRole::Table, |flow| {
        flow.within(ElementRole::Caption, |flow| set_title(flow, file, ""));
        flow.within(ElementRole::TableHead, |flow| set_header(flow, &columns));
        flow.within(ElementRole::TableBody, |flow| {
            for (number, line) in (1..).zip(&file.lines) {
                set_listed_line(flow, file, &columns, (number, line));
            }
        });
    });
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

fn set_title(flow: &mut PageFlow, file: &ListedFile, suffix: &str) {
    let title =
        Text::strong("Source ").followed_by(file.path.clone()).followed_by(Text::quiet(suffix));
    flow.set_text(&title, 9.2, LEFT, flow.sheet.line_width());
    flow.y += 2.0;
}

fn set_header(flow: &mut PageFlow, columns: &ListingColumns) {
    flow.push_draw(DrawItem::Fill {
        x: LEFT,
        y: flow.y,
        width: flow.sheet.line_width(),
        height: LINE_HEIGHT + 3.0,
        ink: InkColour::Wash(Tone::Neutral),
    });
    flow.y += 1.5;
    let [_, source, obligations, tests] = columns.edges();
    let titles = [(LEFT, "Line"), (source, "Text"), (obligations, "Obligations"), (tests, "Tests")];
    let head_cells = add_row_cells(flow, &ElementRole::ColumnHeader, titles.len());
    for ((x, title), cell) in titles.into_iter().zip(head_cells) {
        flow.inside(cell, |flow| set_cell_line(flow, &Text::strong(title), x));
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

/// A line of the source as it is set: the lines of each cell below its number.
struct ListedRows {
    number: (f32, Text),
    mark: Option<(f32, Text)>,
    tone: Option<Tone>,
    /// Each with where it begins.
    source: Vec<(f32, TextLine)>,
    obligations: Vec<(f32, TextLine)>,
    tests: Vec<(f32, TextLine)>,
}

impl ListedRows {
    fn of_line(
        flow: &PageFlow,
        columns: &ListingColumns,
        (number, line): (u32, &ListedLine),
    ) -> Self {
        let breaker = flow.line_breaker(SIZE);
        let [mark_x, source_x, obligations_x, tests_x] = columns.edges();
        let number_text = Text::quiet(number.to_string());
        let number_x = LEFT + columns.number - breaker.natural_width(&number_text);
        let source_lines = breaker.source_lines(&line.source, columns.source).into_iter();
        let lines_at = |text: &Text, width: f32, x: f32| {
            breaker.text_lines(text, width).into_iter().map(|cell_line| (x, cell_line)).collect()
        };
        Self {
            number: (number_x, number_text),
            mark: line.mark.map(|(symbol, tone)| (mark_x, Text::code(symbol).with_tone(tone))),
            tone: line.mark.map(|(_, tone)| tone),
            source: source_lines.map(|(indent, text)| (source_x + indent, text)).collect(),
            obligations: lines_at(&line.obligations, columns.obligations, obligations_x),
            tests: lines_at(&line.tests, columns.tests, tests_x),
        }
    }

    fn height(&self) -> usize {
        self.source.len().max(self.obligations.len()).max(self.tests.len())
    }

    /// Sets the rows from `start` to `end`, cell by cell.
    fn set_part(
        &self,
        flow: &mut PageFlow,
        cells: &[Option<ElementId>],
        (start, end): (usize, usize),
    ) {
        let top = flow.y;
        if let Some(tone @ (Tone::Bad | Tone::Caution)) = self.tone {
            let (width, height) = (flow.sheet.line_width(), (end - start) as f32 * LINE_HEIGHT);
            let ink = InkColour::Wash(tone);
            flow.push_draw(DrawItem::Fill { x: LEFT, y: top, width, height, ink });
        }
        if start == 0 {
            let head_texts = std::iter::once(&self.number).chain(&self.mark);
            flow.inside(cells[0], |flow| {
                head_texts.for_each(|(x, text)| set_cell_line(flow, text, *x));
            });
        }
        let text_cells = [&self.source, &self.obligations, &self.tests];
        for (lines, cell) in text_cells.into_iter().zip(&cells[1..]) {
            flow.y = top;
            for (x, line) in lines.iter().take(end).skip(start) {
                flow.inside(*cell, |flow| set_at(flow, line, *x));
                flow.y += LINE_HEIGHT;
            }
        }
        flow.y = top + (end - start) as f32 * LINE_HEIGHT;
    }
}

fn set_listed_line(
    flow: &mut PageFlow,
    file: &ListedFile,
    columns: &ListingColumns,
    numbered_line: (u32, &ListedLine),
) {
    let rows = ListedRows::of_line(flow, columns, numbered_line);
    let row_cells = add_row_cells(flow, &ElementRole::Cell, 4);
    let mut start = 0;
    while start < rows.height() {
        let room_height = flow.sheet.bottom().min(flow.bottom) - flow.y - 2.0;
        let room_rows = (room_height / LINE_HEIGHT).max(0.0) as usize;
        if room_rows == 0 {
            end_rule(flow);
            flow.new_page();
            flow.repeated(|flow| {
                set_title(flow, file, " (continued)");
                set_header(flow, columns);
            });
            continue;
        }
        let end = rows.height().min(start + room_rows);
        rows.set_part(flow, &row_cells, (start, end));
        start = end;
    }
}
