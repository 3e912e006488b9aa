//! The trend of shares over runs: a strip per criterion with a mark per run, one above the other on
//! the same runs.
//!
//! Knows: points as fractions, and which runs are of one measure.
//! Promises: marks of two criteria differ by shape, not by colour, and never cover each other; lines
//! join runs that follow each other and are of the same measure, nothing else; each strip names
//! where its axis begins, and the last fraction stands beside it.
//! Does not cover: which runs there are, and what their fractions count.

use super::lettering::{fitted_label, label};
use super::{Dashes, Drawing, Paint, Shape, Spot};
use crate::document::{ColumnAlign, Text, Tone};
use crate::facts::percent_in_words;

/// Width of the figure.
const WIDTH: f32 = 476.0;
/// Where names of strips end.
const TITLE_WIDTH: f32 = 116.0;
/// Between these stand the runs.
const PLOT_LEFT: f32 = 156.0;
const PLOT_WIDTH: f32 = 228.0;
/// Where the last fraction stands.
const VALUE_LEFT: f32 = PLOT_LEFT + PLOT_WIDTH + 8.0;
/// Height of the axis of a strip.
const PLOT_HEIGHT: f32 = 32.0;
/// Distance of strips.
const STRIP_STEP: f32 = 48.0;
/// Height of the line that numbers the measures.
const HEAD_HEIGHT: f32 = 22.0;
/// Height of the line that numbers the runs.
const FOOT_HEIGHT: f32 = 14.0;
/// Strips of a figure at most, so that it fits on a page with its caption.
const MOST_STRIPS: usize = 8;
/// Numbers of runs stand so far apart at least.
const NUMBER_STEP: f32 = 15.0;
/// From the centre of a mark to its corners.
const MARK_REACH: f32 = 2.7;
const TITLE_SIZE: f32 = 8.5;
const LETTER_SIZE: f32 = 7.5;

/// What is covered of how many, of each run; none where a run was not measured.
pub(crate) struct TrendLine {
    pub title: String,
    pub fractions: Vec<Option<(u32, u32)>>,
}

/// The runs below the strips.
pub(crate) struct TrendRuns {
    /// The number of the measure of each run.
    pub measures: Vec<usize>,
    /// The index of the run of the report.
    pub present: usize,
}

/// The strips of all lines, on as many figures as it takes.
pub(crate) fn trend_drawings(lines: &[TrendLine], runs: &TrendRuns) -> Vec<Drawing> {
    let figure_count = lines.len().div_ceil(MOST_STRIPS);
    let parts = lines.chunks(MOST_STRIPS).enumerate();
    parts
        .map(|(index, lines_of_figure)| {
            let part_words = match figure_count {
                1 => String::new(),
                _ => format!(", part {} of {figure_count}", index + 1),
            };
            draw_strips(lines_of_figure, index * MOST_STRIPS, runs, &part_words)
        })
        .collect()
}

fn draw_strips(
    lines: &[TrendLine],
    first_shape: usize,
    runs: &TrendRuns,
    part_words: &str,
) -> Drawing {
    let bottom = HEAD_HEIGHT + lines.len() as f32 * STRIP_STEP - (STRIP_STEP - PLOT_HEIGHT);
    let mut shapes = Vec::new();
    add_measures(runs, bottom, &mut shapes);
    for (index, line) in lines.iter().enumerate() {
        let top = HEAD_HEIGHT + index as f32 * STRIP_STEP;
        add_strip(line, MarkShape::of_index(first_shape + index), runs, top, &mut shapes);
    }
    add_run_numbers(runs, bottom + FOOT_HEIGHT - 3.0, &mut shapes);
    let measure_words = if runs.measures.iter().all(|number| Some(number) == runs.measures.first())
    {
        ""
    } else {
        " Dashed lines part runs of different measures, whose numbers stand above; no line joins them."
    };
    let caption = format!(
        "Trend{part_words}: what is covered of all in each run, justified obligations not among them; where engines differ, the \
         lesser share. Runs stand at equal distances, with their numbers in the table below; that of this report is bold. \
         Each axis begins at the share at its foot.{measure_words}"
    );
    Drawing {
        caption: Text::plain(caption),
        description: description(lines, runs),
        width: WIDTH,
        height: bottom + FOOT_HEIGHT,
        shapes,
    }
}

/// The first and the last fraction of each line.
fn description(lines: &[TrendLine], runs: &TrendRuns) -> String {
    let told_lines = lines.iter().map(|line| {
        let mut measured = line.fractions.iter().enumerate().filter_map(|(index, fraction)| {
            fraction.map(|(covered, total)| format!("{covered}/{total} in run {}", index + 1))
        });
        match (measured.next(), measured.next_back()) {
            (None, _) => format!("{}: not measured", line.title),
            (Some(only), None) => format!("{}: {only}", line.title),
            (Some(first), Some(last)) => format!("{}: from {first} to {last}", line.title),
        }
    });
    let told_lines: Vec<String> = told_lines.collect();
    format!("Shares over {} runs. {}", runs.measures.len(), told_lines.join("; "))
}

/// Where a run stands.
fn run_x(index: usize, run_count: usize) -> f32 {
    PLOT_LEFT + (index as f32 + 0.5) * PLOT_WIDTH / run_count.max(1) as f32
}

/// A dashed line between runs of different measures, and the number of each measure above.
fn add_measures(runs: &TrendRuns, bottom: f32, shapes: &mut Vec<Shape>) {
    let run_count = runs.measures.len();
    let mut first_index = 0;
    let spans = runs.measures.chunk_by(|first, second| first == second);
    let spans: Vec<(usize, usize)> = spans
        .map(|span| {
            let begin = first_index;
            first_index += span.len();
            (begin, first_index)
        })
        .collect();
    if spans.len() < 2 {
        return;
    }
    let head = Text::quiet("measure");
    let head_spot = Spot { x: PLOT_LEFT - 6.0, y: 9.0 };
    shapes.push(label(head_spot, ColumnAlign::Right, LETTER_SIZE, head));
    for (begin, end) in spans {
        let run_width = PLOT_WIDTH / run_count as f32;
        let (left, right) =
            (PLOT_LEFT + begin as f32 * run_width, PLOT_LEFT + end as f32 * run_width);
        let number = runs.measures[begin].to_string();
        if right - left > number.len() as f32 * 0.6 * LETTER_SIZE {
            let spot = Spot { x: (left + right) / 2.0, y: 9.0 };
            shapes.push(label(spot, ColumnAlign::Centre, LETTER_SIZE, Text::quiet(number)));
        }
        if begin > 0 {
            let spots = vec![Spot { x: left, y: 2.0 }, Spot { x: left, y: bottom }];
            let paint = Paint::Ink(Tone::Quiet);
            shapes.push(Shape::Line { spots, thickness: 0.6, dashes: Dashes::Dashed, paint });
        }
    }
}

/// Numbers of runs as far as there is room, that of the report's run in any case.
fn add_run_numbers(runs: &TrendRuns, baseline: f32, shapes: &mut Vec<Shape>) {
    let run_count = runs.measures.len();
    let present_x = run_x(runs.present, run_count);
    let head_spot = Spot { x: PLOT_LEFT - 6.0, y: baseline };
    shapes.push(label(head_spot, ColumnAlign::Right, LETTER_SIZE, Text::quiet("run")));
    let mut last_x = f32::NEG_INFINITY;
    for index in 0..run_count {
        let x = run_x(index, run_count);
        let is_present = index == runs.present;
        let has_room = x - last_x >= NUMBER_STEP && (x - present_x).abs() >= NUMBER_STEP;
        if !(is_present || has_room) {
            continue;
        }
        last_x = x;
        let number = (index + 1).to_string();
        let number = if is_present { Text::strong(number) } else { Text::plain(number) };
        shapes.push(label(Spot { x, y: baseline }, ColumnAlign::Centre, LETTER_SIZE, number));
    }
}

/// Where the axis of a line begins, in percent: at the tens below its least share, and at most at
/// 90, so that small differences near the whole are seen and none is blown up further.
fn axis_begin(line: &TrendLine) -> f32 {
    let shares = line.fractions.iter().flatten().filter_map(|fraction| percent(*fraction));
    let least_share = shares.fold(100.0_f32, f32::min);
    ((least_share / 10.0).floor() * 10.0).clamp(0.0, 90.0)
}

fn percent((covered, total): (u32, u32)) -> Option<f32> {
    (total > 0).then(|| (f64::from(covered) / f64::from(total) * 100.0) as f32)
}

/// Name, axis, line, marks and last fraction of a criterion.
fn add_strip(
    line: &TrendLine,
    mark: MarkShape,
    runs: &TrendRuns,
    top: f32,
    shapes: &mut Vec<Shape>,
) {
    let (bottom, right) = (top + PLOT_HEIGHT, PLOT_LEFT + PLOT_WIDTH);
    let middle = top + PLOT_HEIGHT / 2.0;
    let begin = axis_begin(line);
    mark.add_at(Spot { x: MARK_REACH, y: middle }, shapes);
    let title_spot = Spot { x: 3.0 * MARK_REACH, y: middle + 3.0 };
    let title = Text::plain(line.title.as_str());
    shapes.push(fitted_label(title_spot, ColumnAlign::Left, TITLE_SIZE, TITLE_WIDTH, title));
    for (y, words) in [(top, "100 %".to_owned()), (bottom, format!("{begin} %"))] {
        let spots = vec![Spot { x: PLOT_LEFT, y }, Spot { x: right, y }];
        shapes.push(Shape::line(spots, 0.5, Paint::Hairline));
        let spot = Spot { x: PLOT_LEFT - 6.0, y: y + 2.5 };
        shapes.push(label(spot, ColumnAlign::Right, LETTER_SIZE, Text::quiet(words)));
    }
    let spots: Vec<Option<Spot>> = line
        .fractions
        .iter()
        .enumerate()
        .map(|(index, fraction)| {
            let share = percent((*fraction)?)?;
            let y = bottom - (share - begin) / (100.0 - begin) * PLOT_HEIGHT;
            Some(Spot { x: run_x(index, line.fractions.len()), y })
        })
        .collect();
    for (ends, measures) in spots.windows(2).zip(runs.measures.windows(2)) {
        if let [Some(start), Some(end)] = ends
            && measures[0] == measures[1]
        {
            shapes.push(Shape::line(vec![*start, *end], 1.0, Paint::Accent));
        }
    }
    spots.into_iter().flatten().for_each(|spot| mark.add_at(spot, shapes));
    let last_words = match line.fractions.last().copied().flatten() {
        Some((covered, total)) => match percent_in_words(covered, total) {
            Some(share_words) => format!("{covered}/{total} ({share_words})"),
            None => "none to cover".to_owned(),
        },
        None => "not measured".to_owned(),
    };
    let value_spot = Spot { x: VALUE_LEFT, y: middle + 3.0 };
    let value_width = WIDTH - VALUE_LEFT;
    let value = Text::plain(last_words);
    shapes.push(fitted_label(value_spot, ColumnAlign::Left, LETTER_SIZE, value_width, value));
}

/// Whether a mark is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkFill {
    Full,
    Hollow,
}

/// The mark of a line, by the corners of a polygon around its centre.
#[derive(Debug, Clone, Copy)]
struct MarkShape {
    corners: &'static [(f32, f32)],
    fill: MarkFill,
}

/// Circle, square, diamond and triangles.
const MARK_OUTLINES: &[&[(f32, f32)]] = &[
    &[
        (1.0, 0.0),
        (0.71, 0.71),
        (0.0, 1.0),
        (-0.71, 0.71),
        (-1.0, 0.0),
        (-0.71, -0.71),
        (0.0, -1.0),
        (0.71, -0.71),
    ],
    &[(0.85, 0.85), (-0.85, 0.85), (-0.85, -0.85), (0.85, -0.85)],
    &[(1.2, 0.0), (0.0, 1.2), (-1.2, 0.0), (0.0, -1.2)],
    &[(0.0, -1.1), (1.05, 0.8), (-1.05, 0.8)],
    &[(0.0, 1.1), (-1.05, -0.8), (1.05, -0.8)],
    &[(1.1, 0.0), (-0.8, 1.05), (-0.8, -1.05)],
    &[(-1.1, 0.0), (0.8, -1.05), (0.8, 1.05)],
];

impl MarkShape {
    /// All outlines filled, then all hollow; more lines than that begin again, in a strip of their
    /// own all the same.
    fn of_index(index: usize) -> Self {
        let outline = index % MARK_OUTLINES.len();
        let fill = match index / MARK_OUTLINES.len() % 2 {
            0 => MarkFill::Full,
            _ => MarkFill::Hollow,
        };
        Self { corners: MARK_OUTLINES[outline], fill }
    }

    fn add_at(self, centre: Spot, shapes: &mut Vec<Shape>) {
        let corners_at = |reach: f32| {
            let corners = self.corners.iter();
            corners
                .map(|(x, y)| Spot { x: centre.x + x * reach, y: centre.y + y * reach })
                .collect()
        };
        shapes.push(Shape::Area { corners: corners_at(MARK_REACH), paint: Paint::Accent });
        if self.fill == MarkFill::Hollow {
            shapes
                .push(Shape::Area { corners: corners_at(MARK_REACH * 0.55), paint: Paint::Paper });
        }
    }
}

#[cfg(test)]
mod tests;
