//! Blocks set on pages: headings stay with what follows them, tables repeat their header, nothing
//! is clipped.

use super::canvas::{
    AnchorPlace, BODY, DrawItem, InkColour, LEADING, LEFT, OutlineMark, PageFlow, SheetTurning, TOP,
};
use super::line::TextLine;
use super::structure::{ArtifactKind, ElementRole};
use super::{drawing, listing, table};
use crate::document::{Block, Heading, Table, Text, Tone};
use std::sync::Arc;

impl PageFlow<'_> {
    /// Height of blocks set one after the other on an endless page.
    pub(super) fn measured_height(&self, blocks: &[Block]) -> f32 {
        let mut endless_flow = PageFlow::of_artifacts(self.faces, self.sheet, ArtifactKind::Layout);
        endless_flow.bottom = f32::INFINITY;
        // Not at the top of the page, where space above headings is left out.
        endless_flow.y = TOP + 1.0;
        endless_flow.set_blocks(blocks);
        endless_flow.y - TOP - 1.0
    }

    /// Height of what must not be parted from the beginning of `blocks`.
    fn lead_height(&self, blocks: &[Block]) -> f32 {
        let Some(first_block) = blocks.first() else { return 0.0 };
        let single_block = std::slice::from_ref(first_block);
        match first_block {
            Block::Heading(_) => {
                self.measured_height(single_block) + self.lead_height(&blocks[1..])
            }
            Block::Paragraph(_) => {
                let whole_height = self.measured_height(single_block);
                match blocks.get(1) {
                    Some(Block::Table(_) | Block::Drawing(_)) if whole_height < SHORT_TEXT => {
                        whole_height + self.lead_height(&blocks[1..])
                    }
                    _ => whole_height.min(3.0 * BODY * LEADING),
                }
            }
            Block::Table(table) => table::lead_height(self, table),
            Block::Drawing(_) => self.measured_height(single_block),
            Block::List(items) => {
                self.measured_height(&[Block::List(items.iter().take(1).cloned().collect())])
            }
            Block::Lines(lines) => {
                self.measured_height(&[Block::Lines(lines.iter().take(8).cloned().collect())])
            }
            Block::Tree { .. } => self.lead_height(&blocks[1..]),
            Block::Pairs(pairs) => {
                self.measured_height(&[Block::Pairs(pairs.iter().take(2).cloned().collect())])
            }
            Block::Notice { .. } => self.measured_height(single_block),
            Block::Together(inner) => {
                let whole_height = self.measured_height(inner);
                if whole_height <= TOGETHER * self.sheet.text_height() {
                    whole_height
                } else {
                    self.lead_height(inner)
                }
            }
            Block::Fitting { whole: whole_height, brief } => {
                self.lead_height(self.fitting_blocks(whole_height, brief))
            }
            Block::Source { listing, .. } => self.lead_height(&listing.lead),
        }
    }

    pub(super) fn set_blocks(&mut self, blocks: &[Block]) {
        for (index, block) in blocks.iter().enumerate() {
            if self.bottom.is_finite() {
                self.keep_together(&blocks[index..]);
            }
            self.set_block(block);
        }
    }

    /// Starts a page where the beginning of `blocks` would be torn apart or a chapter would begin
    /// low on the page.
    fn keep_together(&mut self, blocks: &[Block]) {
        let Some(first_block) = blocks.first() else { return };
        if self.turns_sheet(blocks) {
            self.turn_sheet();
        }
        let is_chapter = matches!(first_block, Block::Heading(heading) if heading.depth == 1);
        if is_chapter && self.room_below() < 0.38 * self.sheet.text_height() {
            self.new_page();
        }
        let lead_height = self.lead_height(blocks);
        if lead_height < self.sheet.text_height() {
            self.need_height(lead_height);
        }
        // A new page begins upright again.
        if self.y <= TOP && self.turns_sheet(blocks) {
            self.turn_sheet();
        }
    }

    /// Whether `blocks` begin on a sheet turned the other way: a table too wide for an upright one
    /// does, with the heading and the short text before it, and what comes behind it goes back
    /// unless the turned sheet is still mostly empty and has room for all of it.
    fn turns_sheet(&self, blocks: &[Block]) -> bool {
        match (self.turning, self.sheet.is_landscape()) {
            (SheetTurning::Never, _) => false,
            (SheetTurning::Wanted, false) => {
                let wide_table = self.leading_table(blocks);
                wide_table.is_some_and(|table| table::is_too_wide(self, table))
            }
            (SheetTurning::Wanted, true) => {
                let upright_flow = PageFlow::new(self.faces, self.sheet.turned());
                let wide_table = self.leading_table(blocks);
                let is_wide =
                    wide_table.is_some_and(|table| table::is_too_wide(&upright_flow, table));
                let is_filled = self.y - TOP > MOSTLY_EMPTY * self.sheet.text_height();
                !is_wide && (is_filled || self.y <= TOP || !self.fits_below(blocks))
            }
        }
    }

    /// Whether the first of `blocks` fits on what is left of the page, with what must stay with it.
    fn fits_below(&self, blocks: &[Block]) -> bool {
        let first_height = self.measured_height(&blocks[..1]);
        first_height.max(self.lead_height(blocks)) <= self.room_below()
    }

    /// The table that `blocks` begin with, headings and short text before it included.
    fn leading_table<'b>(&self, blocks: &'b [Block]) -> Option<&'b Table> {
        let first_block = blocks.first()?;
        match first_block {
            Block::Heading(_) => self.leading_table(&blocks[1..]),
            Block::Paragraph(_) => {
                let Some(Block::Table(table)) = blocks.get(1) else { return None };
                let height = self.measured_height(std::slice::from_ref(first_block));
                (height < SHORT_TEXT).then_some(table)
            }
            Block::Table(table) => Some(table),
            Block::Together(inner) => self.leading_table(inner),
            Block::Source { listing, .. } => self.leading_table(&listing.lead),
            Block::List(_)
            | Block::Lines(_)
            | Block::Tree { .. }
            | Block::Pairs(_)
            | Block::Drawing(_)
            | Block::Notice { .. }
            | Block::Fitting { .. } => None,
        }
    }

    fn set_block(&mut self, block: &Block) {
        match block {
            Block::Heading(heading) => self.set_heading(heading),
            Block::Paragraph(text) => {
                self.set_paragraph(text, BODY, (LEFT, self.sheet.line_width()));
                self.y += 6.0;
            }
            Block::List(items) => self.within(ElementRole::List, |flow| flow.set_list(items)),
            Block::Lines(lines) => {
                self.within(ElementRole::Paragraph, |flow| flow.set_lines(lines));
            }
            Block::Tree { .. } => {}
            Block::Pairs(pairs) => self.within(ElementRole::List, |flow| flow.set_pairs(pairs)),
            Block::Table(table) => table::set_table(self, table),
            Block::Drawing(drawing) => drawing::set_drawing(self, drawing),
            Block::Notice { tone, title, lines } => {
                self.within(ElementRole::Group, |flow| flow.set_notice(*tone, title, lines));
            }
            Block::Together(blocks) => self.set_together(blocks),
            Block::Fitting { whole, brief } => self.set_blocks(self.fitting_blocks(whole, brief)),
            Block::Source { listing, .. } => listing::set_listing(self, listing),
        }
    }

    fn fitting_blocks<'b>(&self, whole: &'b [Block], brief: &'b [Block]) -> &'b [Block] {
        if self.measured_height(whole) <= self.room_below() { whole } else { brief }
    }

    /// What stands on this page as a whole need not be kept together part by part.
    fn set_together(&mut self, blocks: &[Block]) {
        let turns = (0..blocks.len()).any(|start| self.turns_sheet(&blocks[start..]));
        if self.bottom.is_finite() && (turns || self.measured_height(blocks) > self.room_below()) {
            self.set_blocks(blocks);
        } else {
            blocks.iter().for_each(|block| self.set_block(block));
        }
    }

    fn set_heading(&mut self, heading: &Heading) {
        let (size, space_above, space_below) = match heading.depth {
            1 => (17.0, 26.0, 8.0),
            2 => (13.0, 16.0, 5.0),
            _ => (10.8, 12.0, 3.0),
        };
        self.add_space(space_above);
        let page = self.pages.len() - 1;
        let plain_title = heading.text.0.iter().map(|run| run.text.as_str()).collect::<String>();
        let title = if heading.number.is_empty() {
            plain_title
        } else {
            format!("{} {plain_title}", heading.number)
        };
        let place = AnchorPlace { page, y: self.y, title: title.clone() };
        self.anchors.insert(Arc::clone(&heading.anchor), place);
        let role = ElementRole::Heading { depth: heading.depth, title: title.clone() };
        self.outline.push(OutlineMark { depth: heading.depth, title, page, y: self.y });
        self.within(role, |flow| flow.set_heading_lines(heading, size));
        if heading.depth == 1 {
            self.push_draw(DrawItem::Rule {
                x: LEFT,
                y: self.y + 3.0,
                length: self.sheet.line_width(),
                thickness: 0.9,
                ink: InkColour::Accent,
            });
            self.y += 5.0;
        }
        self.y += space_below;
    }

    fn set_heading_lines(&mut self, heading: &Heading, size: f32) {
        let breaker = self.line_breaker(size);
        let number = Text::strong(heading.number.as_str());
        let indent = if heading.number.is_empty() {
            0.0
        } else {
            breaker.natural_width(&number) + 0.8 * size
        };
        if indent > 0.0 {
            let mut line = breaker.text_lines(&number, self.sheet.line_width()).remove(0);
            line.ends_word = true;
            self.set_line(&line, LEFT, self.y + size * 0.95, size, Some(InkColour::Accent));
        }
        let text = heading.text.strengthened();
        for line in breaker.text_lines(&text, self.sheet.line_width() - indent) {
            self.set_line(&line, LEFT + indent, self.y + size * 0.95, size, None);
            self.y += size * 1.2;
        }
    }

    fn set_paragraph(&mut self, text: &Text, size: f32, (x, width): (f32, f32)) {
        self.within(ElementRole::Paragraph, |flow| flow.set_text(text, size, x, width));
    }

    fn set_list(&mut self, items: &[Text]) {
        for item in items {
            self.need_height(BODY * LEADING);
            let mut bullet_line = self
                .line_breaker(BODY)
                .text_lines(&Text::plain("•"), self.sheet.line_width())
                .remove(0);
            bullet_line.ends_word = true;
            let bullet_ink = Some(InkColour::Accent);
            self.set_item((LEFT + 4.0, &bullet_line, bullet_ink), LEFT + 16.0, item);
            self.y += 2.0;
        }
        self.y += 5.0;
    }

    /// Lines as they are; one that is too long goes on below.
    fn set_lines(&mut self, lines: &[Text]) {
        const SIZE: f32 = 7.8;
        const INDENT: f32 = 8.0;
        for line in lines {
            let width = self.sheet.line_width() - INDENT;
            for (indent, part) in self.line_breaker(SIZE).source_lines(line, width) {
                self.need_height(SIZE * LEADING);
                self.set_line(&part, LEFT + INDENT + indent, self.y + SIZE * 0.95, SIZE, None);
                self.y += SIZE * LEADING;
            }
        }
        self.y += 6.0;
    }

    fn set_pairs(&mut self, pairs: &[(String, Text)]) {
        let breaker = self.line_breaker(BODY);
        let widest_name = pairs
            .iter()
            .map(|(name, _)| breaker.natural_width(&Text::plain(name.as_str())))
            .fold(0.0, f32::max);
        let value_indent = (widest_name + 16.0).max(96.0);
        for (name, value) in pairs {
            self.need_height(BODY * LEADING);
            let mut name_line =
                breaker.text_lines(&Text::quiet(name.as_str()), value_indent).remove(0);
            name_line.ends_word = true;
            self.set_item((LEFT, &name_line, None), LEFT + value_indent, value);
            self.y += 1.6;
        }
        self.y += 6.0;
    }

    /// An item of a list: its label on the first line, its text from `text_x` on.
    fn set_item(
        &mut self,
        (label_x, label, ink): (f32, &TextLine, Option<InkColour>),
        text_x: f32,
        text: &Text,
    ) {
        let text_width = self.sheet.right() - text_x;
        self.within(ElementRole::ListItem, |flow| {
            flow.within(ElementRole::Label, |flow| {
                flow.set_line(label, label_x, flow.y + BODY * 0.95, BODY, ink);
            });
            flow.within(ElementRole::ListBody, |flow| {
                flow.set_text(text, BODY, text_x, text_width);
            });
        });
    }

    /// A framed statement with a bar of its tone; longer than a page, it goes on without the frame.
    fn set_notice(&mut self, tone: Tone, title: &Text, lines: &[Text]) {
        const INSET: f32 = 14.0;
        self.add_space(8.0);
        let inner_width = self.sheet.line_width() - 2.0 * INSET;
        let text_height = |text: &Text, size: f32| {
            self.line_breaker(size).text_lines(text, inner_width).len() as f32 * size * LEADING
        };
        let line_heights: f32 = lines.iter().map(|line| text_height(line, BODY) + 3.0).sum();
        let frame_height = text_height(title, 13.0) + line_heights + 2.0 * INSET;
        if self.bottom.is_finite() && frame_height < self.sheet.text_height() {
            self.need_height(frame_height);
        }
        let shown_height = frame_height.min(self.room_below());
        self.push_draw(DrawItem::Fill {
            x: LEFT,
            y: self.y,
            width: self.sheet.line_width(),
            height: shown_height,
            ink: InkColour::Wash(tone),
        });
        self.push_draw(DrawItem::Fill {
            x: LEFT,
            y: self.y,
            width: 3.0,
            height: shown_height,
            ink: InkColour::Tone(tone),
        });
        self.y += INSET - 2.0;
        let inner_part = (LEFT + INSET, inner_width);
        self.set_paragraph(&title.clone().with_tone(tone), 13.0, inner_part);
        self.y += 4.0;
        for line in lines {
            self.set_paragraph(line, BODY, inner_part);
            self.y += 3.0;
        }
        self.y += INSET + 4.0;
    }
}

/// Text up to this height stays with the table or figure behind it.
const SHORT_TEXT: f32 = 60.0;

/// A turned sheet filled up to this share has room for what comes behind its table.
const MOSTLY_EMPTY: f32 = 0.5;

/// Blocks that belong together move to the next page as one, up to this share of its height.
const TOGETHER: f32 = 0.34;
