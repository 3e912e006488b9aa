//! A page's drawing as operations of `printpdf`.

use super::canvas::{Anchors, Draw, Ink, PAGE_HEIGHT};
use super::face::Face;
use crate::document::Tone;
use printpdf::{
    Actions, BorderArray, Color, Destination, FontId, LinkAnnotation, Op, PdfFontHandle, Point, Pt,
    Rect, Rgb, TextItem, TextMatrix,
};

fn colour(ink: Ink) -> [f32; 3] {
    match ink {
        Ink::Tone(Tone::Neutral) => [0.07, 0.08, 0.10],
        Ink::Tone(Tone::Quiet) => [0.40, 0.42, 0.46],
        Ink::Tone(Tone::Good) => [0.05, 0.40, 0.20],
        Ink::Tone(Tone::Caution) => [0.58, 0.36, 0.0],
        Ink::Tone(Tone::Bad) => [0.70, 0.09, 0.11],
        Ink::Link => [0.09, 0.24, 0.49],
        Ink::Accent => [0.09, 0.24, 0.49],
        Ink::Hairline => [0.80, 0.82, 0.85],
        Ink::Rule => [0.25, 0.28, 0.33],
        Ink::Wash(Tone::Neutral | Tone::Quiet) => [0.945, 0.953, 0.965],
        Ink::Wash(Tone::Good) => [0.93, 0.97, 0.94],
        Ink::Wash(Tone::Caution) => [0.99, 0.96, 0.90],
        Ink::Wash(Tone::Bad) => [0.99, 0.94, 0.94],
    }
}

pub(super) fn font_id(face: Face) -> FontId {
    FontId(match face {
        Face::Text => "FText".into(),
        Face::Strong => "FStrong".into(),
        Face::Emphasis => "FEmphasis".into(),
        Face::Code => "FCode".into(),
    })
}

/// Hundredths of a point are far below what a printer resolves.
pub(super) fn round(value: f32) -> f32 {
    (value * 100.0).round() / 100.0
}

fn pt(value: f32) -> Pt {
    Pt(round(value))
}

/// A page's drawing operations: washes first, then rules, then text. Font and colour are set where
/// they change.
pub(super) fn operations(draws: &[Draw], anchors: &Anchors) -> Vec<Op> {
    let mut fills = Fills::default();
    let mut texts = Texts::new();
    let mut links = Vec::new();
    for draw in draws {
        match draw {
            Draw::Fill { x, y, width, height, ink } => {
                fills.push(*ink, rectangle(*x, *y, *width, *height))
            }
            Draw::Rule { x, y, length, thickness, ink } => {
                fills.push(*ink, rectangle(*x, *y - thickness / 2.0, *length, *thickness));
            }
            Draw::Text { x, y, face, size, ink, text } => {
                texts.push((*x, *y), (*face, *size), *ink, text)
            }
            Draw::Link { x, y, width, height, anchor } => {
                links.extend(link([*x, *y, *width, *height], anchor, anchors))
            }
            Draw::PageNumber { .. } => {}
        }
    }
    let texts = texts.operations.into_iter().chain([Op::EndTextSection]);
    fills.operations.into_iter().chain(texts).chain(links).collect()
}

/// Filled areas of a page.
#[derive(Default)]
struct Fills {
    operations: Vec<Op>,
    ink: Option<Ink>,
}

impl Fills {
    fn push(&mut self, ink: Ink, area: Op) {
        if self.ink.replace(ink) != Some(ink) {
            self.operations.push(fill_colour(ink));
        }
        self.operations.push(area);
    }
}

/// Texts of a page.
struct Texts {
    operations: Vec<Op>,
    font: Option<(Face, f32)>,
    ink: Option<Ink>,
}

impl Texts {
    fn new() -> Self {
        Self { operations: vec![Op::StartTextSection], font: None, ink: None }
    }

    fn push(&mut self, (x, y): (f32, f32), font: (Face, f32), ink: Ink, text: &str) {
        if self.font.replace(font) != Some(font) {
            let (face, size) = font;
            self.operations
                .push(Op::SetFont { font: PdfFontHandle::External(font_id(face)), size: pt(size) });
        }
        if self.ink.replace(ink) != Some(ink) {
            self.operations.push(fill_colour(ink));
        }
        self.operations
            .push(Op::SetTextMatrix { matrix: TextMatrix::Translate(pt(x), pt(PAGE_HEIGHT - y)) });
        self.operations.push(Op::ShowText { items: vec![TextItem::Text(text.to_owned())] });
    }
}

fn fill_colour(ink: Ink) -> Op {
    let [r, g, b] = colour(ink);
    Op::SetFillColor { col: Color::Rgb(Rgb { r, g, b, icc_profile: None }) }
}

fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Op {
    let corner = |x: f32, y: f32| printpdf::LinePoint {
        p: Point { x: pt(x), y: pt(PAGE_HEIGHT - y) },
        bezier: false,
    };
    let points = vec![
        corner(x, y),
        corner(x + width, y),
        corner(x + width, y + height),
        corner(x, y + height),
    ];
    Op::DrawPolygon {
        polygon: printpdf::Polygon {
            rings: vec![printpdf::PolygonRing { points }],
            mode: printpdf::PaintMode::Fill,
            winding_order: printpdf::WindingOrder::NonZero,
        },
    }
}

fn link([x, y, width, height]: [f32; 4], anchor: &str, anchors: &Anchors) -> Option<Op> {
    let (page, top) = anchors.get(anchor)?;
    let rect = Rect {
        x: pt(x),
        y: pt(PAGE_HEIGHT - y - height),
        width: pt(width),
        height: pt(height),
        mode: None,
        winding_order: None,
    };
    let target = Destination::Xyz {
        page: page + 1,
        left: Some(0.0),
        top: Some(round(PAGE_HEIGHT - top + 14.0)),
        zoom: None,
    };
    let border = BorderArray::Solid([0.0, 0.0, 0.0]);
    Some(Op::LinkAnnotation {
        link: LinkAnnotation::new(rect, Actions::go_to(target), Some(border), None, None),
    })
}
