//! Drawings as an SVG file of its own (SVG 1.1): colours and faces stand in it, links do not.

use super::{dash_pattern, set_raster, svg_points};
use crate::document::{ColumnAlign, Style, Text, TextRun, Tone};
use crate::drawing::{Drawing, Paint, Shape, Spot};
use maud::{Markup, html};

/// Around the drawings.
const MARGIN: f32 = 12.0;
/// Height of a heading with the space below it.
const HEADING: f32 = 16.0;
const HEADING_SIZE: f32 = 9.0;
/// Width of the least file, which a heading alone may need.
const LEAST_WIDTH: f32 = 400.0;
const SERIF: &str = "Libertinus Serif, Times New Roman, Liberation Serif, serif";

/// Drawings below each other, each with its heading above; `title` is the name of the file for
/// readers who do not see it.
pub(crate) fn svg_document(title: &str, headed_drawings: &[(String, Drawing)]) -> String {
    let drawings = || headed_drawings.iter().map(|(_, drawing)| drawing);
    let widest = drawings().map(|drawing| drawing.width).fold(LEAST_WIDTH, f32::max);
    let width = widest + 2.0 * MARGIN;
    let mut height = MARGIN;
    let mut groups = Vec::new();
    for (heading, drawing) in headed_drawings {
        let heading = Text::strong(heading.as_str());
        let spot = Spot { x: 0.0, y: HEADING_SIZE };
        groups.push(html! {
            g transform=(format!("translate({MARGIN} {height})")) {
                @for run in &heading.0 { (set_label(spot, ColumnAlign::Left, HEADING_SIZE, run)) }
                g transform=(format!("translate(0 {HEADING})")) {
                    @for shape in &drawing.shapes { (set_shape(shape)) }
                }
            }
        });
        height += HEADING + drawing.height + MARGIN;
    }
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}"))
            width=(format!("{width}pt")) height=(format!("{height}pt")) {
            title { (title) }
            desc { @for drawing in drawings() { (drawing.description) " " } }
            rect width="100%" height="100%" fill=(paint_colour(Paint::Paper)) {}
            @for group in &groups { (group) }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", markup.into_string())
}

fn set_shape(shape: &Shape) -> Markup {
    match shape {
        Shape::Area { corners, paint } => html! {
            polygon points=(svg_points(corners)) fill=(paint_colour(*paint)) {}
        },
        Shape::Line { spots, thickness, dashes, paint } => html! {
            polyline points=(svg_points(spots)) fill="none" stroke-width=(thickness)
                stroke-dasharray=[dash_pattern(*dashes)] stroke=(paint_colour(*paint)) {}
        },
        Shape::Label { spot, align, size, text } => set_label(*spot, *align, *size, text),
        Shape::Raster { corner, width, height, raster } => {
            set_raster(*corner, *width, *height, raster)
        }
    }
}

/// As on paper.
fn paint_colour(paint: Paint) -> &'static str {
    match paint {
        Paint::Ink(Tone::Neutral) => "#12141a",
        Paint::Ink(Tone::Quiet) => "#666b75",
        Paint::Ink(Tone::Good) => "#0d6633",
        Paint::Ink(Tone::Caution) => "#945c00",
        Paint::Ink(Tone::Bad) => "#b3171c",
        Paint::Wash(Tone::Neutral | Tone::Quiet) => "#f1f3f6",
        Paint::Wash(Tone::Good) => "#edf7f0",
        Paint::Wash(Tone::Caution) => "#fcf5e6",
        Paint::Wash(Tone::Bad) => "#fcf0f0",
        Paint::Accent => "#173d7d",
        Paint::Hairline => "#ccd1d9",
        Paint::Paper => "#ffffff",
    }
}

fn set_label(spot: Spot, align: ColumnAlign, size: f32, run: &TextRun) -> Markup {
    let text_anchor = match align {
        ColumnAlign::Left => "start",
        ColumnAlign::Centre => "middle",
        ColumnAlign::Right => "end",
    };
    let (family, weight, slant) = match run.style {
        Style::Plain => (SERIF, "normal", "normal"),
        Style::Strong => (SERIF, "bold", "normal"),
        Style::Emphasis => (SERIF, "normal", "italic"),
        Style::Code => ("monospace", "normal", "normal"),
    };
    html! {
        text x=(spot.x) y=(spot.y) font-size=(size) font-family=(family) font-weight=(weight)
            font-style=(slant) text-anchor=(text_anchor)
            fill=(paint_colour(Paint::Ink(run.tone))) { (run.text) }
    }
}
