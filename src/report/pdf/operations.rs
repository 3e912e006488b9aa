//! A page's drawing as operations of `printpdf`.

use super::canvas::{Anchors, DrawItem, InkColour, Sheet};
use super::face::FontFace;
use crate::document::Tone;
use printpdf::{
    Actions, BorderArray, Color, Destination, FontId, LinkAnnotation, Op, PdfFontHandle, Point, Pt,
    Rect, Rgb, TextItem, TextMatrix,
};

fn ink_colour(ink: InkColour) -> [f32; 3] {
    match ink {
        InkColour::Tone(Tone::Neutral) => [0.07, 0.08, 0.10],
        InkColour::Tone(Tone::Quiet) => [0.40, 0.42, 0.46],
        InkColour::Tone(Tone::Good) => [0.05, 0.40, 0.20],
        InkColour::Tone(Tone::Caution) => [0.58, 0.36, 0.0],
        InkColour::Tone(Tone::Bad) => [0.70, 0.09, 0.11],
        InkColour::Link => [0.09, 0.24, 0.49],
        InkColour::Accent => [0.09, 0.24, 0.49],
        InkColour::Hairline => [0.80, 0.82, 0.85],
        InkColour::Rule => [0.25, 0.28, 0.33],
        InkColour::Wash(Tone::Neutral | Tone::Quiet) => [0.945, 0.953, 0.965],
        InkColour::Wash(Tone::Good) => [0.93, 0.97, 0.94],
        InkColour::Wash(Tone::Caution) => [0.99, 0.96, 0.90],
        InkColour::Wash(Tone::Bad) => [0.99, 0.94, 0.94],
        InkColour::Paper => [1.0, 1.0, 1.0],
        InkColour::Pixel(levels) => levels.map(|level| f32::from(level) / 255.0),
    }
}

pub(super) fn font_id(face: FontFace) -> FontId {
    FontId(match face {
        FontFace::Text => "FText".into(),
        FontFace::Strong => "FStrong".into(),
        FontFace::Emphasis => "FEmphasis".into(),
        FontFace::Code => "FCode".into(),
    })
}

/// Hundredths of a point are far below what a printer resolves.
pub(super) fn round_to_hundredth(value: f32) -> f32 {
    (value * 100.0).round() / 100.0
}

fn points(value: f32) -> Pt {
    Pt(round_to_hundredth(value))
}

/// A page's drawing operations: washes first, then rules, then text. Font and colour are set where
/// they change.
pub(super) fn page_operations(draws: &[DrawItem], anchors: &Anchors, sheet: Sheet) -> Vec<Op> {
    let mut page_fills = PageFills::default();
    let mut page_texts = PageTexts::new(sheet);
    let mut page_links = Vec::new();
    for draw in draws {
        match draw {
            DrawItem::Fill { x, y, width, height, ink } => {
                page_fills.push_fill(*ink, fill_rectangle(sheet, [*x, *y, *width, *height]))
            }
            DrawItem::Rule { x, y, length, thickness, ink } => {
                let area = [*x, *y - thickness / 2.0, *length, *thickness];
                page_fills.push_fill(*ink, fill_rectangle(sheet, area));
            }
            DrawItem::Area { corners, ink } => {
                page_fills.push_fill(*ink, fill_polygon(sheet, corners));
            }
            DrawItem::Text { x, y, face, size, ink, text } => {
                page_texts.push_text((*x, *y), (*face, *size), *ink, text)
            }
            DrawItem::Link { x, y, width, height, anchor } => {
                let area = [*x, *y, *width, *height];
                page_links.extend(link_annotation(area, anchor, anchors, sheet))
            }
            DrawItem::PageNumber { .. } => {}
        }
    }
    let page_texts = page_texts.operations.into_iter().chain([Op::EndTextSection]);
    page_fills.operations.into_iter().chain(page_texts).chain(page_links).collect()
}

/// Filled areas of a page.
#[derive(Default)]
struct PageFills {
    operations: Vec<Op>,
    ink: Option<InkColour>,
}

impl PageFills {
    fn push_fill(&mut self, ink: InkColour, area: Op) {
        if self.ink.replace(ink) != Some(ink) {
            self.operations.push(fill_colour(ink));
        }
        self.operations.push(area);
    }
}

/// Texts of a page.
struct PageTexts {
    sheet: Sheet,
    operations: Vec<Op>,
    font: Option<(FontFace, f32)>,
    ink: Option<InkColour>,
}

impl PageTexts {
    fn new(sheet: Sheet) -> Self {
        Self { sheet, operations: vec![Op::StartTextSection], font: None, ink: None }
    }

    fn push_text(&mut self, (x, y): (f32, f32), font: (FontFace, f32), ink: InkColour, text: &str) {
        if self.font.replace(font) != Some(font) {
            let (face, size) = font;
            self.operations.push(Op::SetFont {
                font: PdfFontHandle::External(font_id(face)),
                size: points(size),
            });
        }
        if self.ink.replace(ink) != Some(ink) {
            self.operations.push(fill_colour(ink));
        }
        self.operations.push(Op::SetTextMatrix {
            matrix: TextMatrix::Translate(points(x), points(self.sheet.above_edge(y))),
        });
        self.operations.push(Op::ShowText { items: vec![TextItem::Text(text.to_owned())] });
    }
}

fn fill_colour(ink: InkColour) -> Op {
    let [r, g, b] = ink_colour(ink);
    Op::SetFillColor { col: Color::Rgb(Rgb { r, g, b, icc_profile: None }) }
}

fn corner(sheet: Sheet, x: f32, y: f32) -> printpdf::LinePoint {
    let p = Point { x: points(x), y: points(sheet.above_edge(y)) };
    printpdf::LinePoint { p, bezier: false }
}

fn fill_rectangle(sheet: Sheet, [x, y, width, height]: [f32; 4]) -> Op {
    let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
    fill_polygon(sheet, &corners)
}

fn fill_polygon(sheet: Sheet, corners: &[(f32, f32)]) -> Op {
    let points = corners.iter().map(|(x, y)| corner(sheet, *x, *y)).collect();
    Op::DrawPolygon {
        polygon: printpdf::Polygon {
            rings: vec![printpdf::PolygonRing { points }],
            mode: printpdf::PaintMode::Fill,
            winding_order: printpdf::WindingOrder::NonZero,
        },
    }
}

fn link_annotation(
    [x, y, width, height]: [f32; 4],
    anchor: &str,
    anchors: &Anchors,
    sheet: Sheet,
) -> Option<Op> {
    let (page, page_top) = anchors.get(anchor)?;
    let rect = Rect {
        x: points(x),
        y: points(sheet.above_edge(y + height)),
        width: points(width),
        height: points(height),
        mode: None,
        winding_order: None,
    };
    let target = Destination::Xyz {
        page: page + 1,
        left: Some(0.0),
        top: Some(round_to_hundredth(sheet.above_edge(*page_top) + 14.0)),
        zoom: None,
    };
    let border = BorderArray::Solid([0.0, 0.0, 0.0]);
    Some(Op::LinkAnnotation {
        link: LinkAnnotation::new(rect, Actions::go_to(target), Some(border), None, None),
    })
}
