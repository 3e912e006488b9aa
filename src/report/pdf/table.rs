//! Tables: column widths from their content, header rows repeated on every page, rows never torn
//! unless one alone is higher than a page.

use super::canvas::{AnchorPlace, BODY, DrawItem, InkColour, LEADING, LEFT, PageFlow, TOP};
use super::line::{LineBreaker, TextBounds, TextLine};
use super::structure::{ElementId, ElementRole};
use crate::document::{Anchor, ColumnAlign, Table, TableExtent, Text};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::sync::Arc;

/// Space on each side of a cell's text.
const PAD: f32 = 4.0;
/// Space above and below a row's text.
const ROW_PAD: f32 = 2.4;
/// A word longer than this may be broken to make a column narrower.
const WORD: f32 = 74.0;
/// Sizes that are tried for a table too wide at the first, until it fits; smaller ones are hard to
/// read on paper.
const SIZES: [f32; 3] = [9.0, 8.2, 7.6];

/// A table with its widths decided.
struct TablePlan {
    size: f32,
    /// Text widths of the columns.
    widths: Vec<f32>,
    /// No column is narrower than reads well.
    fits: bool,
}

/// Whether the table is too wide for this sheet at the least size.
pub(super) fn is_too_wide(flow: &PageFlow, table: &Table) -> bool {
    !table_plan(flow, table).fits
}

type BrokenRow = Vec<Vec<TextLine>>;

fn table_plan(flow: &PageFlow, table: &Table) -> TablePlan {
    let text_room = flow.sheet.line_width() - 2.0 * PAD * table.columns.len() as f32;
    for (size_index, size) in SIZES.into_iter().enumerate() {
        let breaker = flow.line_breaker(size);
        let column_bounds = |column: usize| {
            let title = breaker.text_bounds(&table.columns[column].title.strengthened(), WORD);
            let cells = table.rows.par_iter().map(|row| breaker.text_bounds(&row[column], WORD));
            title.of_both(cells.reduce(TextBounds::default, TextBounds::of_both))
        };
        let all_bounds: Vec<TextBounds> = (0..table.columns.len()).map(column_bounds).collect();
        let least_width: f32 = all_bounds.iter().map(|bounds| bounds.least).sum();
        if least_width <= text_room || size_index + 1 == SIZES.len() {
            let widths = column_widths(&all_bounds, text_room, table.extent);
            return TablePlan { size, widths, fits: least_width <= text_room };
        }
    }
    unreachable!("the last size is always taken")
}

/// Shares `room` among columns: each gets at least its least and at most its natural width, and
/// between those in proportion to the square root of the natural one, so that long text gets more
/// without starving others.
fn column_widths(bounds: &[TextBounds], text_room: f32, extent: TableExtent) -> Vec<f32> {
    let natural_sum: f32 = bounds.iter().map(|column| column.natural).sum();
    let least_sum: f32 = bounds.iter().map(|column| column.least).sum();
    if least_sum > text_room {
        return bounds.iter().map(|column| column.least * text_room / least_sum.max(1.0)).collect();
    }
    if natural_sum <= text_room {
        let spare_share = match extent {
            TableExtent::Content => 0.0,
            TableExtent::Full => (text_room - natural_sum) / natural_sum.max(1.0),
        };
        return bounds.iter().map(|column| column.natural * (1.0 + spare_share)).collect();
    }
    let widths_at = |scale: f32| {
        let width = move |column: &TextBounds| {
            (scale * column.natural.sqrt()).clamp(column.least, column.natural.max(column.least))
        };
        bounds.iter().map(width)
    };
    let (mut low_scale, mut high_scale) = (0.0_f32, 200.0_f32);
    for _ in 0..40 {
        let middle_scale = (low_scale + high_scale) / 2.0;
        if widths_at(middle_scale).sum::<f32>() > text_room {
            high_scale = middle_scale
        } else {
            low_scale = middle_scale
        }
    }
    widths_at(low_scale).collect()
}

fn break_row<'a>(
    breaker: &LineBreaker<'_>,
    plan: &TablePlan,
    cells: impl Iterator<Item = &'a Text>,
) -> BrokenRow {
    // A hair more than planned, so that rounding does not break what was measured to fit.
    cells.zip(&plan.widths).map(|(cell, width)| breaker.text_lines(cell, width + 0.05)).collect()
}

fn row_height(row: &[Vec<TextLine>], size: f32) -> f32 {
    let lines = row.iter().map(Vec::len).max().unwrap_or(1).max(1);
    lines as f32 * size * LEADING + 2.0 * ROW_PAD
}

fn head_row(flow: &PageFlow, table: &Table, plan: &TablePlan) -> BrokenRow {
    let titles: Vec<Text> =
        table.columns.iter().map(|column| column.title.strengthened()).collect();
    break_row(&flow.line_breaker(plan.size), plan, titles.iter())
}

fn caption_height(table: &Table) -> f32 {
    if table.caption.is_some() { BODY * LEADING + 4.0 } else { 0.0 }
}

/// Tables up to this share of a page's height are not parted.
const SMALL: f32 = 0.24;

/// Height of the whole table where it is small, else of caption, header and the first two rows.
pub(super) fn lead_height(flow: &PageFlow, table: &Table) -> f32 {
    let plan = table_plan(flow, table);
    let breaker = flow.line_breaker(plan.size);
    let row_heights = |count: usize| -> f32 {
        table
            .rows
            .iter()
            .take(count)
            .map(|row| row_height(&break_row(&breaker, &plan, row.iter()), plan.size))
            .sum()
    };
    let top_height =
        6.0 + caption_height(table) + row_height(&head_row(flow, table, &plan), plan.size);
    // More rows than this are higher than a small table.
    let whole_height = if table.rows.len() <= 20 { row_heights(20) } else { f32::INFINITY };
    if top_height + whole_height <= SMALL * flow.sheet.text_height() {
        top_height + whole_height
    } else {
        top_height + row_heights(2).min(0.4 * flow.sheet.text_height())
    }
}

/// Sets the table from the flow's place on.
pub(super) fn set_table(flow: &mut PageFlow, table: &Table) {
    let plan = table_plan(flow, table);
    let head_row = head_row(flow, table, &plan);
    flow.tables += 1;
    let setting = TableSetting { table, number: flow.tables, plan, head_row };
    flow.add_space(4.0);
    flow.within(ElementRole::Table, |flow| {
        flow.within(ElementRole::Caption, |flow| setting.set_caption(flow, ""));
        flow.within(ElementRole::TableHead, |flow| setting.set_header(flow));
        flow.within(ElementRole::TableBody, |flow| setting.set_rows(flow));
    });
    end_rule(flow, &setting.plan, 0.9);
    flow.y += 10.0;
}

/// A table while it is set.
struct TableSetting<'t> {
    table: &'t Table,
    number: u32,
    plan: TablePlan,
    head_row: BrokenRow,
}

impl TableSetting<'_> {
    fn set_rows(&self, flow: &mut PageFlow) {
        let breaker = flow.line_breaker(self.plan.size);
        let rows: Vec<BrokenRow> = self
            .table
            .rows
            .par_iter()
            .map(|row| break_row(&breaker, &self.plan, row.iter()))
            .collect();
        let last_row = rows.len().saturating_sub(1);
        for (index, row) in rows.into_iter().enumerate() {
            let target = self.table.row_anchors.get(&index).map(|anchor| {
                (anchor, self.table.rows[index].first().map_or(String::new(), Text::plain_words))
            });
            self.set_body_row(flow, row, target);
            if index < last_row {
                let (y, length) = (flow.y, table_width(&self.plan));
                let ink = InkColour::Hairline;
                flow.push_draw(DrawItem::Rule { x: LEFT, y, length, thickness: 0.3, ink });
            }
        }
    }

    /// A row, on as many pages as it needs; its parts belong to the same cells.
    /// Links to `target`, an anchor with its title, lead to where the row begins.
    fn set_body_row(
        &self,
        flow: &mut PageFlow,
        row: BrokenRow,
        mut target: Option<(&Anchor, String)>,
    ) {
        let row_cells = add_row_cells(flow, &ElementRole::Cell, row.len());
        let mut remaining_row = row;
        loop {
            self.start_page(flow, row_height(&remaining_row, self.plan.size));
            if let Some((anchor, title)) = target.take() {
                let place = AnchorPlace { page: flow.pages.len() - 1, y: flow.y, title };
                flow.anchors.insert(Arc::clone(anchor), place);
            }
            let (fitting_part, remaining_part) =
                split_row(remaining_row, &self.plan, flow.room_below());
            self.set_row(flow, &fitting_part, &row_cells);
            match remaining_part {
                Some(remaining_part) => remaining_row = remaining_part,
                None => return,
            }
        }
    }

    /// Goes on on a new page where a row does not fit on this one and does on that.
    fn start_page(&self, flow: &mut PageFlow, row_height: f32) {
        if row_height > flow.room_below()
            && flow.y > TOP + 60.0
            && (row_height <= self.page_room(flow) || flow.room_below() < 60.0)
        {
            end_rule(flow, &self.plan, 0.5);
            flow.new_page();
            flow.repeated(|flow| {
                self.set_caption(flow, " (continued)");
                self.set_header(flow);
            });
        }
    }

    /// Room for rows on a fresh page.
    fn page_room(&self, flow: &PageFlow) -> f32 {
        let head_height = row_height(&self.head_row, self.plan.size);
        flow.sheet.text_height() - caption_height(self.table) - head_height - 4.0
    }

    fn set_caption(&self, flow: &mut PageFlow, suffix: &str) {
        let Some(text) = &self.table.caption else { return };
        let text = Text::strong(format!("Table {}. ", self.number))
            .followed_by(text.clone())
            .followed_by(Text::quiet(suffix));
        let size = 9.2;
        let lines = flow.line_breaker(size).text_lines(&text, flow.sheet.line_width());
        for line in lines {
            flow.set_line(&line, LEFT, flow.y + size * 0.95, size, None);
            flow.y += size * LEADING;
        }
        flow.y += 2.0;
    }

    fn set_header(&self, flow: &mut PageFlow) {
        let length = table_width(&self.plan);
        let y = flow.y;
        flow.push_draw(DrawItem::Fill {
            x: LEFT,
            y,
            width: length,
            height: row_height(&self.head_row, self.plan.size),
            ink: InkColour::Wash(crate::document::Tone::Neutral),
        });
        flow.push_draw(DrawItem::Rule { x: LEFT, y, length, thickness: 0.9, ink: InkColour::Rule });
        let head_cells = add_row_cells(flow, &ElementRole::ColumnHeader, self.head_row.len());
        self.set_row(flow, &self.head_row, &head_cells);
        let bottom = flow.y;
        let ink = InkColour::Rule;
        flow.push_draw(DrawItem::Rule { x: LEFT, y: bottom, length, thickness: 0.5, ink });
    }

    fn set_row(&self, flow: &mut PageFlow, row: &BrokenRow, row_cells: &[Option<ElementId>]) {
        let mut x = LEFT;
        let columns = self.table.columns.iter().zip(&self.plan.widths);
        for ((cell, cell_element), (column, width)) in row.iter().zip(row_cells).zip(columns) {
            flow.inside(*cell_element, |flow| self.set_cell(flow, cell, x, (column.align, *width)));
            x += width + 2.0 * PAD;
        }
        flow.y += row_height(row, self.plan.size);
    }

    fn set_cell(
        &self,
        flow: &mut PageFlow,
        lines: &[TextLine],
        x: f32,
        (align, width): (ColumnAlign, f32),
    ) {
        let size = self.plan.size;
        for (index, line) in lines.iter().enumerate() {
            let free_width = (width - line.width).max(0.0);
            let indent = match align {
                ColumnAlign::Left => 0.0,
                ColumnAlign::Centre => free_width / 2.0,
                ColumnAlign::Right => free_width,
            };
            let baseline = flow.y + ROW_PAD + index as f32 * size * LEADING + size * 0.93;
            flow.set_line(line, x + PAD + indent, baseline, size, None);
        }
    }
}

/// A row with its cells, as elements: also the empty ones, so that every row has as many.
pub(super) fn add_row_cells(
    flow: &mut PageFlow,
    role: &ElementRole,
    cell_count: usize,
) -> Vec<Option<ElementId>> {
    let mut row_cells = Vec::with_capacity(cell_count);
    flow.within(ElementRole::Row, |flow| {
        row_cells.extend((0..cell_count).map(|_| flow.structure.add_element(role.clone())));
    });
    row_cells
}

/// What of a row fits into `room`, and the rest of it.
fn split_row(row: BrokenRow, plan: &TablePlan, room_height: f32) -> (BrokenRow, Option<BrokenRow>) {
    if row_height(&row, plan.size) <= room_height {
        return (row, None);
    }
    let line_count = (((room_height - 2.0 * ROW_PAD) / (plan.size * LEADING)) as usize).max(1);
    let mut fitting_part = BrokenRow::new();
    let mut remaining_part = BrokenRow::new();
    for mut cell in row {
        let remaining_lines =
            if cell.len() > line_count { cell.split_off(line_count) } else { Vec::new() };
        fitting_part.push(cell);
        remaining_part.push(remaining_lines);
    }
    let is_done = remaining_part.iter().all(Vec::is_empty);
    (fitting_part, if is_done { None } else { Some(remaining_part) })
}

fn table_width(plan: &TablePlan) -> f32 {
    plan.widths.iter().map(|width| width + 2.0 * PAD).sum()
}

fn end_rule(flow: &mut PageFlow, plan: &TablePlan, thickness: f32) {
    let y = flow.y;
    flow.push_draw(DrawItem::Rule {
        x: LEFT,
        y,
        length: table_width(plan),
        thickness,
        ink: InkColour::Rule,
    });
}
