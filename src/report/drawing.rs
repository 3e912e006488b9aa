//! Figures of a report: areas, lines, labels and pictures, before any format.
//!
//! Knows shapes in points from the upper left corner of the figure; later shapes cover earlier
//! ones, labels stand above all. Promises: a figure carries words that say what it shows, for
//! readers who do not see it. Does not cover: where shapes stand; who makes a figure decides that.

pub(crate) mod bars;
pub(crate) mod graph;
mod layers;
pub(crate) mod lettering;
pub(crate) mod pictures;
pub(crate) mod tree;
pub(crate) mod trend;

use super::document::{ColumnAlign, Text, TextRun, Tone};
use std::sync::Arc;

/// A figure with its caption. Formats on paper set it whole on one page, so its height must be less
/// than that of a page; wider ones than the line are made smaller.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Drawing {
    /// Set below the figure, behind its number.
    pub caption: Text,
    /// What the figure shows, in words.
    pub description: String,
    /// In points.
    pub width: f32,
    /// In points.
    pub height: f32,
    pub shapes: Vec<Shape>,
}

/// A place in a figure, in points from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spot {
    pub x: f32,
    pub y: f32,
}

/// What an area or a line is coloured with. Colour alone must never tell two things apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Paint {
    /// The colour of text of a tone.
    Ink(Tone),
    /// The light background of a tone.
    Wash(Tone),
    /// The colour of headings.
    Accent,
    /// A faint line.
    Hairline,
    /// The colour of the paper.
    Paper,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A filled polygon.
    Area { corners: Vec<Spot>, paint: Paint },
    /// A line through spots, `thickness` points wide.
    Line { spots: Vec<Spot>, thickness: f32, dashes: Dashes, paint: Paint },
    /// A line of text; `spot` is on its baseline, at the end that `align` names.
    Label { spot: Spot, align: ColumnAlign, size: f32, text: TextRun },
    /// Pixels, stretched to the area below and right of `corner`.
    Raster { corner: Spot, width: f32, height: f32, raster: Arc<Raster> },
}

/// Whether a line is drawn through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dashes {
    Solid,
    Dashed,
}

/// Pixels by rows from the upper left one: red, green, blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raster {
    pub columns: u32,
    pub rows: u32,
    /// `columns * rows` pixels.
    pub pixels: Vec<[u8; 3]>,
}

/// Pixels of one row and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PixelRun {
    pub column: u32,
    pub row: u32,
    pub length: u32,
    pub colour: [u8; 3],
}

impl Raster {
    /// The pixels as runs of equal ones within their row.
    pub(crate) fn pixel_runs(&self) -> Vec<PixelRun> {
        let mut pixel_runs: Vec<PixelRun> = Vec::new();
        for (index, colour) in (0..).zip(&self.pixels) {
            let (row, column) = (index / self.columns.max(1), index % self.columns.max(1));
            match pixel_runs.last_mut() {
                Some(run) if run.row == row && run.colour == *colour => run.length += 1,
                _ => pixel_runs.push(PixelRun { column, row, length: 1, colour: *colour }),
            }
        }
        pixel_runs
    }
}

impl Shape {
    /// A filled rectangle with its upper left corner at `corner`.
    pub(crate) fn rectangle(corner: Spot, width: f32, height: f32, paint: Paint) -> Self {
        let Spot { x, y } = corner;
        let corners = vec![
            corner,
            Spot { x: x + width, y },
            Spot { x: x + width, y: y + height },
            Spot { x, y: y + height },
        ];
        Self::Area { corners, paint }
    }

    /// A line that is drawn through.
    pub(crate) fn line(spots: Vec<Spot>, thickness: f32, paint: Paint) -> Self {
        Self::Line { spots, thickness, dashes: Dashes::Solid, paint }
    }
}

impl Drawing {
    /// What links within the figure lead to, and its caption's.
    pub(crate) fn for_each_run(&mut self, change: &mut impl FnMut(&mut TextRun)) {
        self.caption.0.iter_mut().for_each(&mut *change);
        for shape in &mut self.shapes {
            match shape {
                Shape::Label { text, .. } => change(text),
                Shape::Area { .. } | Shape::Line { .. } | Shape::Raster { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pixels_of_a_row_are_one_run() {
        let (black, white) = ([0; 3], [255; 3]);
        let pixels = vec![black, black, white, white, white, white];
        let runs = Raster { columns: 3, rows: 2, pixels }.pixel_runs();
        let run = |column, row, length, colour| PixelRun { column, row, length, colour };
        assert_eq!(runs, [run(0, 0, 2, black), run(2, 0, 1, white), run(0, 1, 3, white)]);
    }
}
