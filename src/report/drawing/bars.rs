//! Coverage as bars: what of a criterion's obligations is covered, justified, undetermined and
//! uncovered.
//!
//! Knows: summaries of coverage. Promises: the parts of a bar are as long as their shares of all
//! obligations, but none that stands for some is too short to be seen; parts differ by pattern and
//! the numbers stand beside the bar; where there are more kernels than figures have room for, the
//! caption says which are drawn. Does not cover: which obligations a share counts.

use super::lettering::{fitted_label, label};
use super::{Dashes, Drawing, Paint, Shape, Spot};
use crate::document::{ColumnAlign, Text, Tone};
use crate::facts::{self, CoverageRow};
use crate::statement;
use vkcert_model::coverage::{CriterionSummary, Status};
use vkcert_model::evidence::Evidence;
use vkcert_model::verdict::EngineName;

/// Width of the figure.
const WIDTH: f32 = 476.0;
/// Where bars begin.
const BAR_LEFT: f32 = 132.0;
/// Length of a bar.
const BAR_WIDTH: f32 = 150.0;
const BAR_HEIGHT: f32 = 7.0;
/// Where the numbers begin.
const NUMBERS_LEFT: f32 = BAR_LEFT + BAR_WIDTH + 8.0;
/// Distance of bars of one kernel.
const BAR_STEP: f32 = 12.0;
/// Height of the line that names a kernel.
const NAME_STEP: f32 = 13.0;
/// Space between kernels.
const GROUP_GAP: f32 = 6.0;
/// Height of the key above the bars.
const KEY_HEIGHT: f32 = 18.0;
const NAME_SIZE: f32 = 8.5;
const NUMBER_SIZE: f32 = 8.0;
/// Length of a part that would be shorter.
const LEAST_PART: f32 = 2.0;
/// Bars of a kernel and what is named with them are drawn for so many rows of the table.
const MOST_ROWS: usize = 16;
/// A figure has room for so much below its key.
const MOST_HEIGHT: f32 = 520.0;

/// The parts of a bar, in order.
const PARTS: [Status; 4] =
    [Status::Covered, Status::Justified, Status::Undetermined, Status::Uncovered];

/// The bars of kernels and of all of them together, on as many figures as it takes.
pub(crate) fn coverage_bars(evidence: &Evidence) -> Vec<Drawing> {
    let criteria = facts::measured_criteria(evidence);
    let rows = facts::coverage_rows(evidence, &criteria);
    let mut groups: Vec<BarGroup> = Vec::new();
    if rows.len() > 1 {
        let totals = facts::coverage_totals(evidence, &criteria).unwrap_or_default();
        let name = statement::all_kernels_title(evidence);
        groups.extend(totals.into_iter().map(|row| BarGroup::of(Text::strong(name), row)));
    }
    let row_count = rows.len();
    let drawn_rows = most_open_rows(rows);
    let selection_words = if drawn_rows.len() < row_count {
        format!(
            " Drawn are the {} of {row_count} rows of the table with the most obligations that are neither covered nor justified.",
            drawn_rows.len()
        )
    } else {
        String::new()
    };
    groups.extend(drawn_rows.into_iter().map(|row| {
        let name = Text::code(row.unit.unit_label()).with_link(row.unit.chapter_anchor());
        BarGroup::of(name, row)
    }));
    let figures = groups_by_figure(groups);
    let figure_count = figures.len();
    let drawn = figures.into_iter().enumerate();
    drawn
        .map(|(index, groups)| {
            let part_words = match figure_count {
                1 => String::new(),
                _ => format!(", part {} of {figure_count}", index + 1),
            };
            draw_groups(evidence, &groups, &part_words, &selection_words)
        })
        .collect()
}

/// What is drawn below one name.
struct BarGroup {
    name: Text,
    engines: Vec<EngineName>,
    criteria: Vec<CriterionSummary>,
}

impl BarGroup {
    fn of<U>(name: Text, row: CoverageRow<U>) -> Self {
        Self { name, engines: row.engines, criteria: row.criteria }
    }

    fn height(&self) -> f32 {
        NAME_STEP + self.criteria.len() as f32 * BAR_STEP + GROUP_GAP
    }
}

/// Obligations that are neither covered nor justified.
fn open_count(criteria: &[CriterionSummary]) -> u64 {
    criteria.iter().map(|row| u64::from(row.uncovered) + u64::from(row.undetermined)).sum()
}

/// Those with the most open obligations where there are too many, in the order of the table.
fn most_open_rows<U>(rows: Vec<CoverageRow<U>>) -> Vec<CoverageRow<U>> {
    let mut by_need: Vec<(usize, CoverageRow<U>)> = rows.into_iter().enumerate().collect();
    by_need.sort_by_key(|(index, row)| (std::cmp::Reverse(open_count(&row.criteria)), *index));
    by_need.truncate(MOST_ROWS);
    by_need.sort_by_key(|(index, _)| *index);
    by_need.into_iter().map(|(_, row)| row).collect()
}

fn groups_by_figure(groups: Vec<BarGroup>) -> Vec<Vec<BarGroup>> {
    let mut figures: Vec<Vec<BarGroup>> = Vec::new();
    let mut height = f32::INFINITY;
    for group in groups {
        if height + group.height() > MOST_HEIGHT {
            figures.push(Vec::new());
            height = 0.0;
        }
        height += group.height();
        figures.last_mut().expect("a figure was begun").push(group);
    }
    figures
}

fn draw_groups(
    evidence: &Evidence,
    groups: &[BarGroup],
    part_words: &str,
    selection_words: &str,
) -> Drawing {
    let mut shapes = key_shapes();
    let mut top = KEY_HEIGHT;
    let mut told_bars = Vec::new();
    for group in groups {
        let engines =
            group.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        let baseline = top + NAME_SIZE;
        let (name_spot, engine_spot) =
            (Spot { x: 0.0, y: baseline }, Spot { x: NUMBERS_LEFT, y: baseline });
        let name_width = NUMBERS_LEFT - 8.0;
        told_bars.push(format!("{}, {engines}", group.name.0[0].text));
        shapes.push(fitted_label(
            name_spot,
            ColumnAlign::Left,
            NAME_SIZE,
            name_width,
            group.name.clone(),
        ));
        let engine_text = Text::quiet(format!("on {engines}"));
        shapes.push(label(engine_spot, ColumnAlign::Left, NUMBER_SIZE, engine_text));
        top += NAME_STEP;
        for summary in &group.criteria {
            add_bar(evidence, summary, top, &mut shapes);
            top += BAR_STEP;
        }
        top += GROUP_GAP;
    }
    let caption = format!(
        "Coverage as bars{part_words}: obligations of each criterion, by kernel and engine. The numbers beside a bar are covered \
         obligations of all; the rest of the bar is named by the key. A part that stands for an obligation is never shorter \
         than {LEAST_PART} points.{selection_words}"
    );
    Drawing {
        caption: Text::plain(caption),
        description: format!("Bars of coverage: {}", told_bars.join("; ")),
        width: WIDTH,
        height: top,
        shapes,
    }
}

/// What the patterns mean.
fn key_shapes() -> Vec<Shape> {
    const SAMPLE: f32 = 26.0;
    const STEP: f32 = 104.0;
    let mut shapes = Vec::new();
    for (index, status) in PARTS.into_iter().enumerate() {
        let left = index as f32 * STEP;
        add_part(status, left, SAMPLE, 3.0, &mut shapes);
        let spot = Spot { x: left + SAMPLE + 5.0, y: 3.0 + BAR_HEIGHT };
        let words = Text::plain(status.to_string());
        shapes.push(label(spot, ColumnAlign::Left, NUMBER_SIZE, words));
    }
    shapes
}

/// Name, parts and numbers of a criterion.
fn add_bar(evidence: &Evidence, summary: &CriterionSummary, top: f32, shapes: &mut Vec<Shape>) {
    let baseline = top + BAR_HEIGHT;
    let title = Text::plain(facts::criterion_title(&summary.criterion));
    let title_spot = Spot { x: BAR_LEFT - 6.0, y: baseline };
    let title_width = BAR_LEFT - 6.0;
    shapes.push(fitted_label(title_spot, ColumnAlign::Right, NUMBER_SIZE, title_width, title));
    let mut left = BAR_LEFT;
    for (status, width) in PARTS.into_iter().zip(part_widths(part_counts(summary))) {
        if width > 0.0 {
            add_part(status, left, width, top + 1.0, shapes);
        }
        left += width;
    }
    let numbers_spot = Spot { x: NUMBERS_LEFT, y: baseline };
    let numbers = Text::plain(numbers_in_words(evidence, summary));
    shapes.push(label(numbers_spot, ColumnAlign::Left, NUMBER_SIZE, numbers));
}

/// `11/12 (91.6 %) + 1 justified, 2 undetermined, not asked for`
fn numbers_in_words(evidence: &Evidence, summary: &CriterionSummary) -> String {
    let undetermined_words = match summary.undetermined {
        0 => String::new(),
        count => format!(", {count} undetermined"),
    };
    let asked_words =
        if facts::is_asked_for(evidence, &summary.criterion) { "" } else { ", not asked for" };
    format!("{}{undetermined_words}{asked_words}", facts::share_in_words(summary))
}

/// In the order of [`PARTS`].
fn part_counts(summary: &CriterionSummary) -> [u32; 4] {
    [summary.covered, summary.justified, summary.undetermined, summary.uncovered]
}

/// Lengths of the parts of a bar; all of them together are as long as the bar, unless there is
/// nothing to cover.
fn part_widths(counts: [u32; 4]) -> [f32; 4] {
    let total: f64 = counts.iter().copied().map(f64::from).sum();
    if total == 0.0 {
        return [0.0; 4];
    }
    let exact_widths = counts.map(|count| (f64::from(count) / total * f64::from(BAR_WIDTH)) as f32);
    let mut widths = exact_widths;
    for (width, count) in widths.iter_mut().zip(counts) {
        *width = if count > 0 { width.max(LEAST_PART) } else { 0.0 };
    }
    let excess = widths.iter().sum::<f32>() - BAR_WIDTH;
    if let Some(longest) = widths.iter_mut().max_by(|first, second| first.total_cmp(second)) {
        *longest -= excess;
    }
    widths
}

/// Where it stands between the left and the right edge of a part.
fn add_part(status: Status, left: f32, width: f32, top: f32, shapes: &mut Vec<Shape>) {
    let (right, bottom) = (left + width, top + BAR_HEIGHT);
    let corner = Spot { x: left, y: top };
    let rectangle = |paint: Paint| Shape::rectangle(corner, width, BAR_HEIGHT, paint);
    let paint = match status {
        Status::Covered => {
            shapes.push(rectangle(Paint::Ink(Tone::Good)));
            return;
        }
        Status::Justified => Paint::Ink(Tone::Caution),
        Status::Undetermined | Status::Uncovered => Paint::Ink(Tone::Bad),
    };
    shapes.push(rectangle(match status {
        Status::Undetermined => Paint::Wash(Tone::Bad),
        Status::Covered | Status::Justified | Status::Uncovered => Paint::Paper,
    }));
    match status {
        Status::Justified => add_hatch(corner, width, paint, shapes),
        Status::Undetermined => {
            for share in [0.33, 0.67] {
                let y = top + share * BAR_HEIGHT;
                let spots = vec![Spot { x: left, y }, Spot { x: right, y }];
                shapes.push(Shape::Line { spots, thickness: 1.0, dashes: Dashes::Dashed, paint });
            }
        }
        Status::Covered | Status::Uncovered => {}
    }
    let inset = 0.3;
    let (left, right, top, bottom) = (left + inset, right - inset, top + inset, bottom - inset);
    let frame = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    let spots = frame.map(|(x, y)| Spot { x, y }).to_vec();
    shapes.push(Shape::line(spots, 0.6, paint));
}

/// Slanted lines within a part.
fn add_hatch(corner: Spot, width: f32, paint: Paint, shapes: &mut Vec<Shape>) {
    const STEP: f32 = 3.0;
    let line_count = ((width + BAR_HEIGHT) / STEP).floor() as usize;
    for index in 1..=line_count {
        // Where the line through the lower edge begins, from the left edge.
        let begin = index as f32 * STEP - BAR_HEIGHT;
        let (from, to) = ((-begin).max(0.0), (width - begin).min(BAR_HEIGHT));
        let spot =
            |risen: f32| Spot { x: corner.x + begin + risen, y: corner.y + BAR_HEIGHT - risen };
        if to > from {
            shapes.push(Shape::line(vec![spot(from), spot(to)], 0.7, paint));
        }
    }
}

#[cfg(test)]
mod tests;
