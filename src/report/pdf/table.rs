//! Tables: column widths from their content, header rows repeated on every page, rows never torn
//! unless one alone is higher than a page.

use super::canvas::{BODY, BOTTOM, Draw, Flow, Ink, LEADING, LEFT, LINE_WIDTH, TOP};
use super::line::{Bounds, Breaker, Line};
use crate::document::{Align, Extent, Table, Text};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Space on each side of a cell's text.
const PAD: f32 = 4.0;
/// Space above and below a row's text.
const ROW_PAD: f32 = 2.4;
/// A word longer than this may be broken to make a column narrower.
const WORD: f32 = 74.0;
/// Sizes that are tried for a table too wide at the first, until it fits.
const SIZES: [f32; 4] = [9.0, 8.2, 7.4, 6.6];

/// A table with its widths decided.
struct Plan {
    size: f32,
    /// Text widths of the columns.
    widths: Vec<f32>,
}

type Row = Vec<Vec<Line>>;

fn plan(flow: &Flow, table: &Table) -> Plan {
    let room = LINE_WIDTH - 2.0 * PAD * table.columns.len() as f32;
    for (index, size) in SIZES.into_iter().enumerate() {
        let breaker = flow.breaker(size);
        let column = |index: usize| {
            let title = breaker.bounds(&heading(&table.columns[index].title), WORD);
            let cells = table.rows.par_iter().map(|row| breaker.bounds(&row[index], WORD));
            title.of_both(cells.reduce(Bounds::default, Bounds::of_both))
        };
        let bounds: Vec<Bounds> = (0..table.columns.len()).map(column).collect();
        let least: f32 = bounds.iter().map(|column| column.least).sum();
        if least <= room || index + 1 == SIZES.len() {
            return Plan { size, widths: widths(&bounds, room, table.extent) };
        }
    }
    unreachable!("the last size is always taken")
}

/// Shares `room` among columns: each gets at least its least and at most its natural width, and
/// between those in proportion to the square root of the natural one, so that long text gets more
/// without starving others.
fn widths(bounds: &[Bounds], room: f32, extent: Extent) -> Vec<f32> {
    let natural: f32 = bounds.iter().map(|column| column.natural).sum();
    let least: f32 = bounds.iter().map(|column| column.least).sum();
    if least > room {
        return bounds.iter().map(|column| column.least * room / least.max(1.0)).collect();
    }
    if natural <= room {
        let spare = match extent {
            Extent::Content => 0.0,
            Extent::Full => (room - natural) / natural.max(1.0),
        };
        return bounds.iter().map(|column| column.natural * (1.0 + spare)).collect();
    }
    let at = |scale: f32| {
        let width = move |column: &Bounds| {
            (scale * column.natural.sqrt()).clamp(column.least, column.natural.max(column.least))
        };
        bounds.iter().map(width)
    };
    let (mut low, mut high) = (0.0_f32, 200.0_f32);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if at(middle).sum::<f32>() > room { high = middle } else { low = middle }
    }
    at(low).collect()
}

fn heading(title: &Text) -> Text {
    let mut title = title.clone();
    for run in &mut title.0 {
        if run.style == crate::document::Style::Plain {
            run.style = crate::document::Style::Strong;
        }
    }
    title
}

fn break_row<'a>(breaker: &Breaker<'_>, plan: &Plan, cells: impl Iterator<Item = &'a Text>) -> Row {
    // A hair more than planned, so that rounding does not break what was measured to fit.
    cells.zip(&plan.widths).map(|(cell, width)| breaker.lines(cell, width + 0.05)).collect()
}

fn height(row: &[Vec<Line>], size: f32) -> f32 {
    let lines = row.iter().map(Vec::len).max().unwrap_or(1).max(1);
    lines as f32 * size * LEADING + 2.0 * ROW_PAD
}

fn head(flow: &Flow, table: &Table, plan: &Plan) -> Row {
    let titles: Vec<Text> = table.columns.iter().map(|column| heading(&column.title)).collect();
    break_row(&flow.breaker(plan.size), plan, titles.iter())
}

fn caption_height(table: &Table) -> f32 {
    if table.caption.is_some() { BODY * LEADING + 4.0 } else { 0.0 }
}

/// Tables up to this height are not parted.
const SMALL: f32 = 0.24 * (BOTTOM - TOP);

/// Height of the whole table where it is small, else of caption, header and the first two rows.
pub(super) fn lead(flow: &Flow, table: &Table) -> f32 {
    let plan = plan(flow, table);
    let breaker = flow.breaker(plan.size);
    let heights = |count: usize| -> f32 {
        table
            .rows
            .iter()
            .take(count)
            .map(|row| height(&break_row(&breaker, &plan, row.iter()), plan.size))
            .sum()
    };
    let top = 6.0 + caption_height(table) + height(&head(flow, table, &plan), plan.size);
    // More rows than this are higher than a small table.
    let whole = if table.rows.len() <= 20 { heights(20) } else { f32::INFINITY };
    if top + whole <= SMALL { top + whole } else { top + heights(2).min(0.4 * (BOTTOM - TOP)) }
}

/// Sets the table from the flow's place on.
pub(super) fn set(flow: &mut Flow, table: &Table) {
    let plan = plan(flow, table);
    let head = head(flow, table, &plan);
    flow.tables += 1;
    let number = flow.tables;
    flow.space(4.0);
    caption(flow, table, number, "");
    header(flow, table, &plan, &head);
    let breaker = flow.breaker(plan.size);
    let rows: Vec<Row> =
        table.rows.par_iter().map(|row| break_row(&breaker, &plan, row.iter())).collect();
    let last = rows.len().saturating_sub(1);
    for (index, row) in rows.into_iter().enumerate() {
        let mut rest = row;
        loop {
            let whole = height(&rest, plan.size);
            if whole > flow.room()
                && flow.y > TOP + 60.0
                && (whole <= page_room(table, &head, &plan) || flow.room() < 60.0)
            {
                end(flow, &plan, 0.5);
                flow.new_page();
                caption(flow, table, number, " (continued)");
                header(flow, table, &plan, &head);
            }
            let (now, later) = split(rest, &plan, flow.room());
            body_row(flow, table, &plan, &now);
            match later {
                Some(later) => rest = later,
                None => break,
            }
        }
        if index < last {
            let y = flow.y;
            flow.draw(Draw::Rule {
                x: LEFT,
                y,
                length: extent(&plan),
                thickness: 0.3,
                ink: Ink::Hairline,
            });
        }
    }
    end(flow, &plan, 0.9);
    flow.y += 10.0;
}

/// Room for rows on a fresh page.
fn page_room(table: &Table, head: &Row, plan: &Plan) -> f32 {
    BOTTOM - TOP - caption_height(table) - height(head, plan.size) - 4.0
}

/// What of a row fits into `room`, and the rest of it.
fn split(row: Row, plan: &Plan, room: f32) -> (Row, Option<Row>) {
    if height(&row, plan.size) <= room {
        return (row, None);
    }
    let lines = (((room - 2.0 * ROW_PAD) / (plan.size * LEADING)) as usize).max(1);
    let mut now = Row::new();
    let mut later = Row::new();
    for mut cell in row {
        let rest = if cell.len() > lines { cell.split_off(lines) } else { Vec::new() };
        now.push(cell);
        later.push(rest);
    }
    let done = later.iter().all(Vec::is_empty);
    (now, if done { None } else { Some(later) })
}

fn extent(plan: &Plan) -> f32 {
    plan.widths.iter().map(|width| width + 2.0 * PAD).sum()
}

fn caption(flow: &mut Flow, table: &Table, number: u32, suffix: &str) {
    let Some(text) = &table.caption else { return };
    let text = Text::strong(format!("Table {number}. ")).and(text.clone()).and(Text::quiet(suffix));
    let size = 9.2;
    let line = flow.breaker(size).lines(&text, LINE_WIDTH);
    for line in line {
        flow.line(&line, LEFT, flow.y + size * 0.95, size, None);
        flow.y += size * LEADING;
    }
    flow.y += 2.0;
}

fn header(flow: &mut Flow, table: &Table, plan: &Plan, head: &Row) {
    let length = extent(plan);
    let y = flow.y;
    let tall = height(head, plan.size);
    flow.draw(Draw::Fill {
        x: LEFT,
        y,
        width: length,
        height: tall,
        ink: Ink::Wash(crate::document::Tone::Neutral),
    });
    flow.draw(Draw::Rule { x: LEFT, y, length, thickness: 0.9, ink: Ink::Rule });
    body_row(flow, table, plan, head);
    let y = flow.y;
    flow.draw(Draw::Rule { x: LEFT, y, length, thickness: 0.5, ink: Ink::Rule });
}

fn body_row(flow: &mut Flow, table: &Table, plan: &Plan, row: &Row) {
    let mut x = LEFT;
    for ((cell, column), width) in row.iter().zip(&table.columns).zip(&plan.widths) {
        for (index, line) in cell.iter().enumerate() {
            let free = (width - line.width).max(0.0);
            let indent = match column.align {
                Align::Left => 0.0,
                Align::Centre => free / 2.0,
                Align::Right => free,
            };
            let baseline = flow.y + ROW_PAD + index as f32 * plan.size * LEADING + plan.size * 0.93;
            flow.line(line, x + PAD + indent, baseline, plan.size, None);
        }
        x += width + 2.0 * PAD;
    }
    flow.y += height(row, plan.size);
}

fn end(flow: &mut Flow, plan: &Plan, thickness: f32) {
    let y = flow.y;
    flow.draw(Draw::Rule { x: LEFT, y, length: extent(plan), thickness, ink: Ink::Rule });
}
