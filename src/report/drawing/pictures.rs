//! Images of a test as pictures: input, expected, actual and their difference side by side.
//!
//! Knows: the values that evidence holds. Promises: one texel is a whole number of points; the
//! caption states how values become grey or colour, which texels are drawn and how many differ;
//! what has no picture says why in its place. Does not cover: multisampled images and components
//! of 64 bits, which are named instead.

use super::lettering::{LEAST_SIZE, fitted_label};
use super::{Drawing, Paint, Raster, Shape, Spot};
use crate::document::{ColumnAlign, Text, Tone};
use crate::facts::{ImageFacts, NOTHING_EXPECTED, TexelValues};
use crate::scalars::float_in_words;
use std::sync::Arc;
use vkcert_model::id::TestId;
use vkcert_model::image::{ImageShape, TexelEncoding};

/// Pictures beside each other, and the room of each.
const COLUMNS: usize = 4;
const PICTURE_WIDTH: f32 = 113.0;
const GAP: f32 = 8.0;
const TITLE_HEIGHT: f32 = 12.0;
/// Texels that are drawn of each axis.
const MOST_TEXELS: u32 = 48;
/// Points per texel of small images.
const LARGEST_TEXEL: u32 = 12;
/// Grey of a difference that is not zero, so that none looks like none.
const LEAST_DIFFERENCE: f64 = 0.25;

/// Why an image has no picture at all.
pub(crate) fn unpictured_reason(shape: &ImageShape) -> Option<&'static str> {
    if shape.samples > 1 {
        Some("multisampled images are not pictured")
    } else if shape.format.component().size() > 4 {
        Some("components of 64 bits are not pictured")
    } else {
        None
    }
}

/// The pictures of an image that [`unpictured_reason`] says nothing of; none where none of its
/// values is known.
pub(crate) fn picture_drawing(test: &TestId, image: &ImageFacts) -> Option<Drawing> {
    let is_known = |values: &TexelValues| matches!(values, TexelValues::Known(_));
    let actual = || image.actual.iter().map(|(_, values)| values);
    if ![&image.input, &image.expected].into_iter().chain(actual()).any(is_known) {
        return None;
    }
    let is_left_alone = is_left_alone(image);
    let window = Window::of(image);
    let scale = ValueScale::of(image, &window);
    let mut cells = vec![Cell::values("input".to_owned(), &image.input)];
    if !is_left_alone {
        cells.push(Cell::values("expected".to_owned(), &image.expected));
    }
    let mut difference_words = Vec::new();
    let drawn_outputs = image.actual.iter().filter(|_| !is_left_alone);
    for (row, (engines, values)) in drawn_outputs.enumerate() {
        let engines = engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        if row > 0 {
            cells.extend([Cell::empty(), Cell::empty()]);
        }
        cells.push(Cell::values(format!("actual, {engines}"), values));
        let difference = Difference::of(image, values);
        difference_words.extend(difference.as_ref().map(|known| known.in_words(&engines)));
        cells.push(Cell {
            title: "difference".to_owned(),
            content: match difference {
                Some(difference) => CellContent::Difference(difference),
                None => CellContent::Words("not known"),
            },
        });
    }
    let mut drawn = DrawnCells::default();
    let texel_points = window.texel_points();
    let picture_height = (window.rows * texel_points) as f32;
    let row_height = TITLE_HEIGHT + picture_height + GAP;
    for (index, cell) in cells.iter().enumerate() {
        let corner = Spot {
            x: (index % COLUMNS) as f32 * (PICTURE_WIDTH + GAP),
            y: (index / COLUMNS) as f32 * row_height,
        };
        drawn.add_cell(corner, cell, &window, &scale);
    }
    let row_count = cells.len().div_ceil(COLUMNS) as f32;
    Some(Drawing {
        caption: caption(test, image, &window, &scale, &drawn, &difference_words)
            .then_plain(if is_left_alone { LEFT_ALONE } else { "" }),
        description: format!(
            "Pictures of image {} of test {test}: {}. {}",
            image.name,
            if is_left_alone { "input" } else { "input, expected, actual and difference" },
            difference_words.join(" ")
        ),
        width: COLUMNS as f32 * (PICTURE_WIDTH + GAP) - GAP,
        height: row_count * row_height - GAP,
        shapes: drawn.shapes,
    })
}

/// Said of an image that a test only reads.
const LEFT_ALONE: &str = " Nothing is expected of it, and every engine left it as it was.";

/// Whether nothing is expected of an image that stayed as it was, so that its input says all.
fn is_left_alone(image: &ImageFacts) -> bool {
    let is_unjudged = matches!(image.expected, TexelValues::Unknown(NOTHING_EXPECTED));
    let stayed =
        |values: &TexelValues| matches!(values, TexelValues::Known(_)) && *values == image.input;
    is_unjudged && !image.actual.is_empty() && image.actual.iter().all(|(_, values)| stayed(values))
}

/// The texels that are drawn: of level 0, one layer and slice.
struct Window {
    /// Texel of the contents at which the layer's slice begins.
    start: usize,
    layer: u32,
    slice: u32,
    left: u32,
    top: u32,
    columns: u32,
    rows: u32,
    image_columns: u32,
}

impl Window {
    /// Around the first difference, where there is one.
    fn of(image: &ImageFacts) -> Self {
        let [image_columns, image_rows, slices] = image.shape.extent.map(|axis| axis.max(1));
        let plane = image_columns as usize * image_rows as usize;
        let plane_count = image.shape.layers.max(1) as usize * slices as usize;
        let differences =
            image.actual.iter().filter_map(|(_, values)| Difference::of(image, values));
        let firsts = differences.filter_map(|difference| difference.first_texel());
        let first = firsts.min().filter(|texel| *texel < plane * plane_count).unwrap_or(0);
        let (plane_index, in_plane) = (first / plane, first % plane);
        let (x, y) = (in_plane as u32 % image_columns, in_plane as u32 / image_columns);
        let begin = |at: u32, extent: u32| {
            let last_begin = extent.saturating_sub(MOST_TEXELS);
            at.saturating_sub(MOST_TEXELS / 2).min(last_begin)
        };
        Self {
            start: plane_index * plane,
            layer: (plane_index / slices as usize) as u32,
            slice: (plane_index % slices as usize) as u32,
            left: begin(x, image_columns),
            top: begin(y, image_rows),
            columns: image_columns.min(MOST_TEXELS),
            rows: image_rows.min(MOST_TEXELS),
            image_columns,
        }
    }

    fn texel_points(&self) -> u32 {
        (PICTURE_WIDTH as u32 / self.columns.max(self.rows)).clamp(1, LARGEST_TEXEL)
    }

    /// Numbers of the drawn texels in the contents, row by row.
    fn texels(&self) -> impl Iterator<Item = usize> + '_ {
        (self.top..self.top + self.rows).flat_map(move |y| {
            (self.left..self.left + self.columns)
                .map(move |x| self.start + y as usize * self.image_columns as usize + x as usize)
        })
    }

    /// `texels (0, 0) to (47, 47) of 64 × 64, layer 1 of 2`
    fn in_words(&self, shape: &ImageShape) -> String {
        let [columns, rows, slices] = shape.extent;
        let mut words = match (columns, rows) == (self.columns, self.rows) {
            true => format!("{columns} × {rows} texels"),
            false => format!(
                "texels ({}, {}) to ({}, {}) of {columns} × {rows}",
                self.left,
                self.top,
                self.left + self.columns - 1,
                self.top + self.rows - 1
            ),
        };
        let parts = [
            ("layer", self.layer, shape.layers),
            ("slice", self.slice, slices),
            ("level", 0, shape.levels),
        ];
        for (part, drawn, count) in parts.into_iter().filter(|(_, _, count)| *count > 1) {
            words.push_str(&format!(", {part} {drawn} of {count} (counted from 0)"));
        }
        words
    }
}

/// Values that stand for black and white, or for none and all of a colour.
struct ValueScale {
    least: f64,
    greatest: f64,
    /// Of a texel.
    components: usize,
}

impl ValueScale {
    /// Of a normalised format its range, else from the least to the greatest value that is drawn.
    fn of(image: &ImageFacts, window: &Window) -> Self {
        let components = usize::from(image.shape.format.components());
        let (least, greatest) = match image.shape.format.encoding() {
            TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => (0.0, 1.0),
            TexelEncoding::Snorm(_) => (-1.0, 1.0),
            TexelEncoding::Plain(_) | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {
                drawn_range(image, window, components)
            }
        };
        Self { least, greatest, components }
    }

    fn level(&self, value: f64) -> u8 {
        let range = self.greatest - self.least;
        if range > 0.0 { ((value - self.least) / range * 255.0).round() as u8 } else { 128 }
    }

    fn pixel(&self, texel: &[f64]) -> [u8; 3] {
        match *texel {
            [grey] => [self.level(grey); 3],
            [red, green] => [self.level(red), self.level(green), 0],
            [red, green, blue, ..] => [red, green, blue].map(|value| self.level(value)),
            [] => [255; 3],
        }
    }

    fn in_words(&self) -> String {
        let [least, greatest] = [self.least, self.greatest].map(float_in_words);
        let channels = match self.components {
            1 => "grey",
            2 => "red and green, each",
            3 => "red, green and blue, each",
            _ => "red, green and blue (alpha is not shown), each",
        };
        if self.least == self.greatest {
            return format!("every value drawn is {least}");
        }
        format!("{channels} from {least} (dark) to {greatest} (light)")
    }
}

/// Least and greatest finite value of the drawn texels; 0 where there is none.
fn drawn_range(image: &ImageFacts, window: &Window, components: usize) -> (f64, f64) {
    let actual = image.actual.iter().map(|(_, values)| values);
    let mut range: Option<(f64, f64)> = None;
    for values in [&image.input, &image.expected].into_iter().chain(actual) {
        let TexelValues::Known(values) = values else { continue };
        let drawn = window.texels().flat_map(|texel| texel_components(values, texel, components));
        for value in drawn.flatten().copied().filter(|value| value.is_finite()) {
            let (least, greatest) = range.unwrap_or((value, value));
            range = Some((value.min(least), value.max(greatest)));
        }
    }
    range.unwrap_or((0.0, 0.0))
}

fn texel_components(values: &[Option<f64>], texel: usize, components: usize) -> &[Option<f64>] {
    values.get(texel * components..(texel + 1) * components).unwrap_or_default()
}

/// How far each texel that is judged lies from what is expected.
struct Difference {
    /// None of texels of which nothing is expected.
    distances: Vec<Option<f64>>,
}

impl Difference {
    fn of(image: &ImageFacts, actual: &TexelValues) -> Option<Self> {
        let (TexelValues::Known(expected), TexelValues::Known(actual)) = (&image.expected, actual)
        else {
            return None;
        };
        let components = usize::from(image.shape.format.components());
        let texels = expected.chunks(components).zip(actual.chunks(components));
        let distances = texels.map(|(expected, actual)| {
            let judged = expected.iter().zip(actual).filter_map(|pair| match pair {
                (Some(expected), Some(actual)) => Some(value_distance(*expected, *actual)),
                (None, _) | (_, None) => None,
            });
            judged.reduce(f64::max)
        });
        Some(Self { distances: distances.collect() })
    }

    fn first_texel(&self) -> Option<usize> {
        self.distances.iter().position(|distance| distance.is_some_and(|distance| distance > 0.0))
    }

    /// None: nothing differs by a finite distance.
    fn greatest(&self) -> Option<f64> {
        let finite =
            self.distances.iter().flatten().copied().filter(|distance| distance.is_finite());
        finite.filter(|distance| *distance > 0.0).reduce(f64::max)
    }

    /// `sequential: 3 of 64 judged texels differ, by 12 at most.`
    fn in_words(&self, engines: &str) -> String {
        let judged = self.distances.iter().flatten().count();
        let differing = self.distances.iter().flatten().filter(|distance| **distance > 0.0).count();
        let most_words = self
            .greatest()
            .map(|greatest| format!(", by {} at most", float_in_words(greatest)))
            .unwrap_or_default();
        format!("On {engines} {differing} of {judged} judged texels differ{most_words}.")
    }

    /// White where nothing differs.
    fn pixel(&self, distance: f64) -> [u8; 3] {
        let darkness = match self.greatest() {
            _ if distance == 0.0 => 0.0,
            Some(greatest) if distance.is_finite() => {
                LEAST_DIFFERENCE + (1.0 - LEAST_DIFFERENCE) * distance / greatest
            }
            Some(_) | None => 1.0,
        };
        [(255.0 * (1.0 - darkness)).round() as u8; 3]
    }
}

/// Two values that are no numbers are the same; one that is none lies infinitely far away.
fn value_distance(expected: f64, actual: f64) -> f64 {
    if expected == actual || (expected.is_nan() && actual.is_nan()) {
        return 0.0;
    }
    let distance = (expected - actual).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}

struct Cell<'a> {
    title: String,
    content: CellContent<'a>,
}

enum CellContent<'a> {
    Values(&'a [Option<f64>]),
    Difference(Difference),
    /// Why there is no picture.
    Words(&'static str),
}

impl<'a> Cell<'a> {
    fn values(title: String, values: &'a TexelValues) -> Self {
        let content = match values {
            TexelValues::Known(values) => CellContent::Values(values),
            TexelValues::Unknown(words) => CellContent::Words(words),
        };
        Self { title, content }
    }

    fn empty() -> Self {
        Self { title: String::new(), content: CellContent::Words("") }
    }
}

/// What a texel of a picture shows.
enum TexelMark {
    Plain,
    /// Crossed out.
    NotFinite,
    /// Struck through.
    NotJudged,
}

#[derive(Default)]
struct DrawnCells {
    shapes: Vec<Shape>,
    has_not_finite: bool,
    has_not_judged: bool,
}

impl DrawnCells {
    fn add_cell(&mut self, corner: Spot, cell: &Cell, window: &Window, scale: &ValueScale) {
        let title_spot = Spot { x: corner.x, y: corner.y + LEAST_SIZE };
        let title = Text::plain(cell.title.as_str());
        self.shapes.push(fitted_label(
            title_spot,
            ColumnAlign::Left,
            LEAST_SIZE,
            PICTURE_WIDTH,
            title,
        ));
        let picture_corner = Spot { x: corner.x, y: corner.y + TITLE_HEIGHT };
        let texels: Vec<([u8; 3], TexelMark)> = match &cell.content {
            CellContent::Words(words) => {
                let spot = Spot { x: corner.x, y: picture_corner.y + LEAST_SIZE + 2.0 };
                let words = Text::quiet(*words);
                self.shapes.push(fitted_label(
                    spot,
                    ColumnAlign::Left,
                    LEAST_SIZE,
                    PICTURE_WIDTH,
                    words,
                ));
                return;
            }
            CellContent::Values(values) => {
                window.texels().map(|texel| value_texel(values, texel, scale)).collect()
            }
            CellContent::Difference(difference) => {
                window.texels().map(|texel| difference_texel(difference, texel)).collect()
            }
        };
        self.add_picture(picture_corner, window, &texels);
    }

    fn add_picture(&mut self, corner: Spot, window: &Window, texels: &[([u8; 3], TexelMark)]) {
        let points = window.texel_points() as f32;
        let (width, height) = (window.columns as f32 * points, window.rows as f32 * points);
        let raster = Raster {
            columns: window.columns,
            rows: window.rows,
            pixels: texels.iter().map(|(pixel, _)| *pixel).collect(),
        };
        self.shapes.push(Shape::Raster { corner, width, height, raster: Arc::new(raster) });
        let (right, bottom) = (corner.x + width, corner.y + height);
        let frame = [
            (corner.x, corner.y),
            (right, corner.y),
            (right, bottom),
            (corner.x, bottom),
            (corner.x, corner.y),
        ];
        let frame = frame.map(|(x, y)| Spot { x, y }).to_vec();
        self.shapes.push(Shape::line(frame, 0.5, Paint::Hairline));
        for (index, (_, mark)) in (0..).zip(texels) {
            let x = corner.x + (index % window.columns) as f32 * points;
            let y = corner.y + (index / window.columns) as f32 * points;
            let falling = vec![Spot { x, y }, Spot { x: x + points, y: y + points }];
            let rising = vec![Spot { x, y: y + points }, Spot { x: x + points, y }];
            let strokes = match mark {
                TexelMark::Plain => Vec::new(),
                TexelMark::NotFinite => vec![falling, rising],
                TexelMark::NotJudged => vec![rising],
            };
            self.has_not_finite |= strokes.len() == 2;
            self.has_not_judged |= strokes.len() == 1;
            let lines = strokes.into_iter();
            self.shapes.extend(lines.map(|spots| Shape::line(spots, 0.5, Paint::Ink(Tone::Quiet))));
        }
    }
}

fn value_texel(values: &[Option<f64>], texel: usize, scale: &ValueScale) -> ([u8; 3], TexelMark) {
    let components = texel_components(values, texel, scale.components);
    let known: Option<Vec<f64>> = components.iter().copied().collect();
    match known {
        Some(known) if !known.is_empty() && known.iter().all(|value| value.is_finite()) => {
            (scale.pixel(&known), TexelMark::Plain)
        }
        Some(known) if !known.is_empty() => ([255; 3], TexelMark::NotFinite),
        Some(_) | None => ([255; 3], TexelMark::NotJudged),
    }
}

fn difference_texel(difference: &Difference, texel: usize) -> ([u8; 3], TexelMark) {
    match difference.distances.get(texel).copied().flatten() {
        Some(distance) => (difference.pixel(distance), TexelMark::Plain),
        None => ([255; 3], TexelMark::NotJudged),
    }
}

fn caption(
    test: &TestId,
    image: &ImageFacts,
    window: &Window,
    scale: &ValueScale,
    drawn: &DrawnCells,
    difference_words: &[String],
) -> Text {
    let format = image.shape.format;
    let mut words = format!(
        " of {test}, {}, {}. Values of {format}: {}.",
        window.in_words(&image.shape),
        match window.texel_points() {
            1 => "1 point per texel".to_owned(),
            points => format!("{points} points per texel"),
        },
        scale.in_words(),
    );
    if drawn.has_not_finite {
        words.push_str(" Crossed out: not finite.");
    }
    if drawn.has_not_judged {
        words.push_str(" Struck through: nothing is expected there.");
    }
    if !difference_words.is_empty() {
        words.push_str(&format!(
            " Difference: white where nothing differs, the darker the further apart, whatever the tolerance. {}",
            difference_words.join(" ")
        ));
    }
    Text::plain("Image ").followed_by(Text::code(image.name)).then_plain(words)
}

#[cfg(test)]
mod tests;
