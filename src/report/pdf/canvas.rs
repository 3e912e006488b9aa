//! Pages as they are drawn: text, rules, areas and links at places.
//!
//! Coordinates are points from the upper left corner of the page.

use super::face::{FontFace, FontFaces};
use super::line::{LineBreaker, TextLine, TextSpan};
use crate::document::{Anchor, Text, Tone};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::document::Paper;

/// Left and right margin.
pub(super) const LEFT: f32 = 59.0;
/// Upper edge of the text area.
pub(super) const TOP: f32 = 74.0;
/// Height below the text area.
const FOOT: f32 = 64.0;
/// Size of running text.
pub(super) const BODY: f32 = 10.0;
/// Distance of baselines as a multiple of the size.
pub(super) const LEADING: f32 = 1.27;

/// A sheet of paper, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sheet {
    pub width: f32,
    pub height: f32,
}

impl Sheet {
    pub(super) fn of_paper(paper: Paper) -> Self {
        match paper {
            Paper::A4 => Self { width: 595.28, height: 841.89 },
            Paper::Letter => Self { width: 612.0, height: 792.0 },
        }
    }

    /// Width of the text area.
    pub(super) fn line_width(self) -> f32 {
        self.width - 2.0 * LEFT
    }

    /// Right edge of the text area.
    pub(super) fn right(self) -> f32 {
        LEFT + self.line_width()
    }

    /// Lower edge of the text area.
    pub(super) fn bottom(self) -> f32 {
        self.height - FOOT
    }

    /// As PDF has it, from the lower edge (ISO 32000-1, 8.3.2.3).
    pub(super) fn above_edge(self, y: f32) -> f32 {
        self.height - y
    }

    /// Height of the text area.
    pub(super) fn text_height(self) -> f32 {
        self.bottom() - TOP
    }
}

/// Colours of the report; every tone is legible in black and white as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum InkColour {
    Tone(Tone),
    Link,
    Accent,
    Hairline,
    Rule,
    Wash(Tone),
    /// White, whatever lies below.
    Paper,
    /// A pixel of a picture: red, green, blue.
    Pixel([u8; 3]),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DrawItem {
    /// `y` is the baseline.
    Text {
        x: f32,
        y: f32,
        face: FontFace,
        size: f32,
        ink: InkColour,
        text: String,
    },
    Rule {
        x: f32,
        y: f32,
        length: f32,
        thickness: f32,
        ink: InkColour,
    },
    Fill {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        ink: InkColour,
    },
    /// A filled polygon.
    Area {
        corners: Vec<(f32, f32)>,
        ink: InkColour,
    },
    Link {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        anchor: Anchor,
    },
    /// The page number of an anchor, ending at `right`, with dots from `left`.
    PageNumber {
        left: f32,
        right: f32,
        y: f32,
        size: f32,
        anchor: Anchor,
    },
}

/// Page (from 0) and height of what is linked to, by name.
pub(super) type Anchors = BTreeMap<Anchor, (usize, f32)>;

/// An entry of the document outline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OutlineMark {
    pub depth: u8,
    pub title: String,
    pub page: usize,
    pub y: f32,
}

/// The text of neighbouring words that are drawn at once.
struct PendingText {
    x: f32,
    face: FontFace,
    ink: InkColour,
    text: String,
    /// Spaces behind the text, drawn only where a word follows.
    spaces: usize,
}

impl PendingText {
    fn push_word(&mut self, word: &str) {
        self.text.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.spaces)));
        self.text.push_str(word);
    }
}

fn span_ink(span: &TextSpan) -> InkColour {
    match (&span.link, span.tone) {
        (Some(_), Tone::Neutral) => InkColour::Link,
        (_, tone) => InkColour::Tone(tone),
    }
}

pub(super) struct PageFlow<'a> {
    pub faces: &'a FontFaces,
    pub sheet: Sheet,
    pub pages: Vec<Vec<DrawItem>>,
    pub y: f32,
    /// Lower edge of the text area; infinite while measuring.
    pub bottom: f32,
    pub anchors: Anchors,
    pub outline: Vec<OutlineMark>,
    pub tables: u32,
    pub drawings: u32,
}

impl<'a> PageFlow<'a> {
    pub(super) fn new(faces: &'a FontFaces, sheet: Sheet) -> Self {
        Self {
            faces,
            sheet,
            pages: vec![Vec::new()],
            y: TOP,
            bottom: sheet.bottom(),
            anchors: BTreeMap::new(),
            outline: Vec::new(),
            tables: 0,
            drawings: 0,
        }
    }

    pub(super) fn room_below(&self) -> f32 {
        self.bottom - self.y
    }

    pub(super) fn push_draw(&mut self, draw: DrawItem) {
        self.pages.last_mut().expect("there is always a page").push(draw);
    }

    pub(super) fn new_page(&mut self) {
        self.pages.push(Vec::new());
        self.y = TOP;
    }

    /// Starts a page unless `height` fits on this one.
    pub(super) fn need_height(&mut self, height: f32) {
        if height > self.room_below() && self.y > TOP {
            self.new_page();
        }
    }

    fn at_top(&self) -> bool {
        self.y <= TOP
    }

    pub(super) fn add_space(&mut self, height: f32) {
        if !self.at_top() {
            self.y += height;
        }
    }

    pub(super) fn line_breaker(&self, size: f32) -> LineBreaker<'a> {
        LineBreaker { faces: self.faces, size }
    }

    /// Sets text in lines, on as many pages as it needs.
    pub(super) fn set_text(&mut self, text: &Text, size: f32, x: f32, width: f32) {
        for line in self.line_breaker(size).text_lines(text, width) {
            self.need_height(size * LEADING);
            self.set_line(&line, x, self.y + size * 0.95, size, None);
            self.y += size * LEADING;
        }
    }

    /// One line at a baseline, with its links. Neighbouring words of one face and colour are one
    /// text, so that they are found and copied as they are read.
    pub(super) fn set_line(
        &mut self,
        line: &TextLine,
        x: f32,
        baseline: f32,
        size: f32,
        ink: Option<InkColour>,
    ) {
        let mut span_x = x;
        let mut pending_text: Option<PendingText> = None;
        for span in &line.spans {
            if let Some(anchor) = &span.link {
                let (y, height) = (baseline - size * 0.75, size);
                self.push_draw(DrawItem::Link {
                    x: span_x,
                    y,
                    width: span.width,
                    height,
                    anchor: Arc::clone(anchor),
                });
            }
            let span_colour = ink.unwrap_or(span_ink(span));
            if span.text == " " {
                let fits_spaces = |text: &&mut PendingText| {
                    (self.faces.character_width(text.face, ' ', size) - span.width).abs() < 0.001
                };
                match pending_text.as_mut().filter(fits_spaces) {
                    Some(text) => text.spaces += 1,
                    None => self.draw_pending(pending_text.take(), baseline, size),
                }
            } else if let Some(text) = pending_text
                .as_mut()
                .filter(|text| text.face == span.face && text.ink == span_colour)
            {
                text.push_word(&span.text);
            } else {
                self.draw_pending(pending_text.take(), baseline, size);
                pending_text = Some(PendingText {
                    x: span_x,
                    face: span.face,
                    ink: span_colour,
                    text: span.text.clone(),
                    spaces: 0,
                });
            }
            span_x += span.width;
        }
        self.draw_pending(pending_text, baseline, size);
    }

    fn draw_pending(&mut self, pending: Option<PendingText>, baseline: f32, size: f32) {
        let Some(PendingText { x, face, ink, text, spaces: _ }) = pending else { return };
        self.push_draw(DrawItem::Text {
            x,
            y: baseline,
            face,
            size: size * face.size_scale(),
            ink,
            text,
        });
    }
}
