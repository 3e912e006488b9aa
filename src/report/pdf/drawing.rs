//! Figures on pages: every shape becomes areas, labels become text.
//!
//! Promises: a figure stands whole on one page with its caption below; one wider than the line is
//! made smaller, labels with it.

use super::canvas::{BODY, DrawItem, InkColour, LEFT, PageFlow};
use super::line::TextLine;
use super::structure::ElementRole;
use crate::document::{ColumnAlign, Text, TextRun};
use crate::drawing::{Dashes, Drawing, Paint, Raster, Shape, Spot};
use std::sync::Arc;

/// Space above a figure and between it and its caption.
const SPACE: f32 = 7.0;
/// Size of captions.
const CAPTION: f32 = 9.0;
/// Lengths of a dash and of the gap behind it.
const DASH: (f32, f32) = (3.0, 2.0);

pub(super) fn set_drawing(flow: &mut PageFlow, drawing: &Drawing) {
    flow.drawings += 1;
    let scale = (flow.sheet.line_width() / drawing.width).min(1.0);
    let caption =
        Text::strong(format!("Figure {}. ", flow.drawings)).followed_by(drawing.caption.clone());
    let caption_lines = flow.line_breaker(CAPTION).text_lines(&caption, flow.sheet.line_width());
    let caption_height = caption_lines.len() as f32 * CAPTION * super::canvas::LEADING;
    flow.need_height(drawing.height * scale + caption_height + 2.0 * SPACE);
    flow.add_space(SPACE);
    let frame = Frame { left: LEFT, top: flow.y, scale };
    let description = drawing.description.clone();
    flow.within(ElementRole::Figure { description }, |flow| {
        drawing.shapes.iter().for_each(|shape| set_shape(flow, frame, shape));
    });
    flow.y += drawing.height * scale + SPACE;
    flow.within(ElementRole::Caption, |flow| {
        flow.set_text(&caption, CAPTION, LEFT, flow.sheet.line_width());
    });
    flow.y += BODY;
}

/// Where on its page a figure stands.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: f32,
    top: f32,
    /// Points of the page per point of the figure.
    scale: f32,
}

impl Frame {
    fn on_page(self, spot: Spot) -> (f32, f32) {
        (self.left + spot.x * self.scale, self.top + spot.y * self.scale)
    }
}

fn set_shape(flow: &mut PageFlow, frame: Frame, shape: &Shape) {
    match shape {
        Shape::Area { corners, paint } => {
            let corners = corners.iter().map(|corner| frame.on_page(*corner)).collect();
            flow.push_draw(DrawItem::Area { corners, ink: paint_ink(*paint) });
        }
        Shape::Line { spots, thickness, dashes, paint } => {
            for ends in spots.windows(2) {
                for (start, end) in strokes(ends[0], ends[1], *dashes) {
                    let corners = stroke_corners(start, end, *thickness);
                    let corners = corners.map(|corner| frame.on_page(corner)).to_vec();
                    flow.push_draw(DrawItem::Area { corners, ink: paint_ink(*paint) });
                }
            }
        }
        Shape::Label { spot, align, size, text } => {
            set_label(flow, frame.on_page(*spot), *align, size * frame.scale, text);
        }
        Shape::Raster { corner, width, height, raster } => {
            set_raster(flow, frame, *corner, (*width, *height), raster)
        }
    }
}

fn paint_ink(paint: Paint) -> InkColour {
    match paint {
        Paint::Ink(tone) => InkColour::Tone(tone),
        Paint::Wash(tone) => InkColour::Wash(tone),
        Paint::Accent => InkColour::Accent,
        Paint::Hairline => InkColour::Hairline,
        Paint::Paper => InkColour::Paper,
    }
}

/// The parts of a line that are drawn.
fn strokes(start: Spot, end: Spot, dashes: Dashes) -> Vec<(Spot, Spot)> {
    match dashes {
        Dashes::Solid => vec![(start, end)],
        Dashes::Dashed => {
            let length = (end.x - start.x).hypot(end.y - start.y);
            let (dash, gap) = DASH;
            let count = (length / (dash + gap)).ceil() as usize;
            (0..count)
                .map(|index| {
                    let begin = index as f32 * (dash + gap);
                    let share = |at: f32| spot_between(start, end, at.min(length) / length);
                    (share(begin), share(begin + dash))
                })
                .collect()
        }
    }
}

fn spot_between(start: Spot, end: Spot, share: f32) -> Spot {
    Spot { x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share }
}

/// The rectangle that a stroke covers.
fn stroke_corners(start: Spot, end: Spot, thickness: f32) -> [Spot; 4] {
    let (run, rise) = (end.x - start.x, end.y - start.y);
    let length = run.hypot(rise).max(f32::MIN_POSITIVE);
    let (across_x, across_y) = (-rise / length * thickness / 2.0, run / length * thickness / 2.0);
    [
        Spot { x: start.x + across_x, y: start.y + across_y },
        Spot { x: end.x + across_x, y: end.y + across_y },
        Spot { x: end.x - across_x, y: end.y - across_y },
        Spot { x: start.x - across_x, y: start.y - across_y },
    ]
}

fn set_label(
    flow: &mut PageFlow,
    (x, baseline): (f32, f32),
    align: ColumnAlign,
    size: f32,
    run: &TextRun,
) {
    let breaker = flow.line_breaker(size);
    let mut lines = breaker.text_lines(&Text(vec![run.clone()]), f32::INFINITY);
    let line: TextLine = lines.remove(0);
    let left = match align {
        ColumnAlign::Left => x,
        ColumnAlign::Centre => x - line.width / 2.0,
        ColumnAlign::Right => x - line.width,
    };
    flow.set_line(&line, left, baseline, size, None);
}

fn set_raster(
    flow: &mut PageFlow,
    frame: Frame,
    corner: Spot,
    (width, height): (f32, f32),
    raster: &Arc<Raster>,
) {
    let pixel_width = width / raster.columns.max(1) as f32;
    let pixel_height = height / raster.rows.max(1) as f32;
    for run in raster.pixel_runs() {
        let upper_left = Spot {
            x: corner.x + run.column as f32 * pixel_width,
            y: corner.y + run.row as f32 * pixel_height,
        };
        let (x, y) = frame.on_page(upper_left);
        flow.push_draw(DrawItem::Fill {
            x,
            y,
            width: run.length as f32 * pixel_width * frame.scale,
            height: pixel_height * frame.scale,
            ink: InkColour::Pixel(run.colour),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_a_line_from_its_start_and_never_pass_its_end() {
        let (start, end) = (Spot { x: 0.0, y: 0.0 }, Spot { x: 0.0, y: 11.0 });
        let dashes = strokes(start, end, Dashes::Dashed);
        let ends: Vec<(f32, f32)> = dashes.iter().map(|(start, end)| (start.y, end.y)).collect();
        assert_eq!(ends, [(0.0, 3.0), (5.0, 8.0), (10.0, 11.0)]);
        assert_eq!(strokes(start, end, Dashes::Solid), [(start, end)]);
    }

    #[test]
    fn a_stroke_is_as_wide_as_its_thickness() {
        let corners = stroke_corners(Spot { x: 0.0, y: 0.0 }, Spot { x: 10.0, y: 0.0 }, 2.0);
        let heights: Vec<f32> = corners.iter().map(|corner| corner.y).collect();
        assert_eq!(heights, [1.0, 1.0, -1.0, -1.0]);
    }
}
