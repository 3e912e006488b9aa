//! Pages as they are drawn: text, rules, areas and links at places, each with what it belongs to.
//!
//! Coordinates are points from the upper left corner of the page.

use super::face::{FontFace, FontFaces};
use super::line::{LineBreaker, TextLine, TextSpan};
use super::structure::{ArtifactKind, DrawMark, ElementId, ElementRole, Scope, Structure};
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

    /// The same sheet, turned by a quarter.
    pub(super) fn turned(self) -> Self {
        Self { width: self.height, height: self.width }
    }

    pub(super) fn is_landscape(self) -> bool {
        self.width > self.height
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

/// A drawing and what it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MarkedDraw {
    pub item: DrawItem,
    pub mark: DrawMark,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Page {
    pub sheet: Sheet,
    pub draws: Vec<MarkedDraw>,
}

impl Page {
    fn blank(sheet: Sheet) -> Self {
        Self { sheet, draws: Vec::new() }
    }
}

/// Page (from 0), height and title of what is linked to, by name.
pub(super) type Anchors = BTreeMap<Anchor, AnchorPlace>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnchorPlace {
    pub page: usize,
    pub y: f32,
    pub title: String,
}

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

/// Whether sheets are turned for tables that are too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SheetTurning {
    Never,
    Wanted,
}

pub(super) struct PageFlow<'a> {
    pub faces: &'a FontFaces,
    /// That of the page which is being set.
    pub sheet: Sheet,
    pub pages: Vec<Page>,
    pub y: f32,
    /// Lower edge of the text area; infinite while measuring.
    pub bottom: f32,
    /// Whether sheets are turned for tables that are too wide.
    pub turning: SheetTurning,
    pub anchors: Anchors,
    pub outline: Vec<OutlineMark>,
    pub tables: u32,
    pub drawings: u32,
    pub structure: Structure,
}

impl<'a> PageFlow<'a> {
    pub(super) fn new(faces: &'a FontFaces, sheet: Sheet) -> Self {
        Self {
            faces,
            sheet,
            pages: vec![Page::blank(sheet)],
            y: TOP,
            bottom: sheet.bottom(),
            turning: SheetTurning::Never,
            anchors: BTreeMap::new(),
            outline: Vec::new(),
            tables: 0,
            drawings: 0,
            structure: Structure::new(),
        }
    }

    /// A page of its own of drawing outside the text.
    pub(super) fn of_artifacts(faces: &'a FontFaces, sheet: Sheet, kind: ArtifactKind) -> Self {
        Self { structure: Structure::of_artifacts(kind), ..Self::new(faces, sheet) }
    }

    /// Sets what `set` sets as a new element of a role.
    pub(super) fn within(&mut self, role: ElementRole, set: impl FnOnce(&mut Self)) {
        let element = self.structure.add_element(role);
        self.inside(element, set);
    }

    /// Sets what `set` sets as part of an element; without one, of what is being set.
    pub(super) fn inside(&mut self, element: Option<ElementId>, set: impl FnOnce(&mut Self)) {
        let scope = element.map_or(self.structure.scope, Scope::Element);
        self.in_scope(scope, set);
    }

    /// Sets what `set` sets once more on a page that goes on.
    pub(super) fn repeated(&mut self, set: impl FnOnce(&mut Self)) {
        self.in_scope(Scope::Artifact(ArtifactKind::Repeated), set);
    }

    fn in_scope(&mut self, scope: Scope, set: impl FnOnce(&mut Self)) {
        let outer_scope = std::mem::replace(&mut self.structure.scope, scope);
        set(self);
        self.structure.scope = outer_scope;
    }

    pub(super) fn room_below(&self) -> f32 {
        self.bottom - self.y
    }

    pub(super) fn push_draw(&mut self, item: DrawItem) {
        let page_index = self.pages.len() - 1;
        if let Some(mark) = self.structure.mark_of(&item, page_index) {
            self.pages[page_index].draws.push(MarkedDraw { item, mark });
        }
    }

    pub(super) fn new_page(&mut self) {
        self.pages.push(Page::blank(self.sheet));
        self.y = TOP;
    }

    /// Goes on on a sheet turned the other way: this one where nothing stands on it.
    pub(super) fn turn_sheet(&mut self) {
        if !self.at_top() {
            self.new_page();
        }
        self.sheet = self.sheet.turned();
        self.bottom = self.sheet.bottom();
        self.pages.last_mut().expect("there is always a page").sheet = self.sheet;
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
        let mut part_x = x;
        let is_line_end = |index: usize| index == line.spans.len();
        let mut part_start = 0;
        for index in 1..=line.spans.len() {
            if !is_line_end(index) && line.spans[index].link == line.spans[part_start].link {
                continue;
            }
            let part = LinePart {
                spans: &line.spans[part_start..index],
                x: part_x,
                baseline,
                size,
                ink,
                ends_word: line.ends_word && is_line_end(index),
            };
            part_x += part.width();
            part_start = index;
            match &part.spans[0].link {
                Some(anchor) => {
                    self.within(ElementRole::Link, |flow| flow.set_link(&part, anchor));
                }
                None => self.set_part(&part),
            }
        }
    }

    fn set_link(&mut self, part: &LinePart<'_>, anchor: &Anchor) {
        self.push_draw(DrawItem::Link {
            x: part.x,
            y: part.baseline - part.size * 0.75,
            width: part.width(),
            height: part.size,
            anchor: Arc::clone(anchor),
        });
        self.set_part(part);
    }

    fn set_part(&mut self, part: &LinePart<'_>) {
        let mut span_x = part.x;
        let mut pending_text: Option<PendingText> = None;
        for span in part.spans {
            let span_colour = part.ink.unwrap_or(span_ink(span));
            if span.text == " " {
                let fits_spaces = |text: &&mut PendingText| {
                    let space_width = self.faces.character_width(text.face, ' ', part.size);
                    (space_width - span.width).abs() < 0.001
                };
                match pending_text.as_mut().filter(fits_spaces) {
                    Some(text) => text.spaces += 1,
                    None => {
                        pending_text.iter_mut().for_each(|text| text.spaces += 1);
                        self.draw_pending(pending_text.take(), part);
                    }
                }
            } else if let Some(text) = pending_text
                .as_mut()
                .filter(|text| text.face == span.face && text.ink == span_colour)
            {
                text.push_word(&span.text);
            } else {
                self.draw_pending(pending_text.take(), part);
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
        if let Some(text) = pending_text.as_mut().filter(|_| part.ends_word) {
            text.spaces = 1;
        }
        self.draw_pending(pending_text, part);
    }

    fn draw_pending(&mut self, pending: Option<PendingText>, part: &LinePart<'_>) {
        let Some(mut pending) = pending else { return };
        // The space before a word of another face, and behind the last word of a line: what reads
        // the text aloud or copies it knows words by their spaces.
        pending.push_word("");
        let PendingText { x, face, ink, text, spaces: _ } = pending;
        self.push_draw(DrawItem::Text {
            x,
            y: part.baseline,
            face,
            size: part.size * face.size_scale(),
            ink,
            text,
        });
    }
}

/// Spans of a line that lead to the same place or to none.
struct LinePart<'l> {
    spans: &'l [TextSpan],
    x: f32,
    baseline: f32,
    size: f32,
    ink: Option<InkColour>,
    /// A word ends here, and the text goes on below.
    ends_word: bool,
}

impl LinePart<'_> {
    fn width(&self) -> f32 {
        self.spans.iter().map(|span| span.width).sum()
    }
}
