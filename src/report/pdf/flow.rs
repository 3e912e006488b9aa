//! Blocks set on pages: headings stay with what follows them, tables repeat their header, nothing
//! is clipped.

use super::canvas::{BODY, DrawItem, InkColour, LEADING, LEFT, OutlineMark, PageFlow, TOP};
use super::{drawing, listing, table};
use crate::document::{Block, Heading, Text, Tone};
use std::sync::Arc;

impl PageFlow<'_> {
    /// Height of blocks set one after the other on an endless page.
    pub(super) fn measured_height(&self, blocks: &[Block]) -> f32 {
        let mut endless_flow = PageFlow::new(self.faces, self.sheet);
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
                    Some(Block::Table(_) | Block::Drawing(_)) if whole_height < 60.0 => {
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
        let is_chapter = matches!(first_block, Block::Heading(heading) if heading.depth == 1);
        if is_chapter && self.room_below() < 0.38 * self.sheet.text_height() {
            self.new_page();
        }
        let lead_height = self.lead_height(blocks);
        if lead_height < self.sheet.text_height() {
            self.need_height(lead_height);
        }
    }

    fn set_block(&mut self, block: &Block) {
        match block {
            Block::Heading(heading) => self.set_heading(heading),
            Block::Paragraph(text) => {
                self.set_text(text, BODY, LEFT, self.sheet.line_width());
                self.y += 6.0;
            }
            Block::List(items) => self.set_list(items),
            Block::Tree { .. } => {}
            Block::Pairs(pairs) => self.set_pairs(pairs),
            Block::Table(table) => table::set_table(self, table),
            Block::Drawing(drawing) => drawing::set_drawing(self, drawing),
            Block::Notice { tone, title, lines } => self.set_notice(*tone, title, lines),
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
        if self.bottom.is_finite() && self.measured_height(blocks) > self.room_below() {
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
        self.anchors.insert(Arc::clone(&heading.anchor), (page, self.y));
        self.outline.push(OutlineMark { depth: heading.depth, title, page, y: self.y });
        let text = heading.text.strengthened();
        let breaker = self.line_breaker(size);
        let number = Text::strong(heading.number.as_str());
        let indent = if heading.number.is_empty() {
            0.0
        } else {
            breaker.natural_width(&number) + 0.8 * size
        };
        if indent > 0.0 {
            let line = breaker.text_lines(&number, self.sheet.line_width()).remove(0);
            self.set_line(&line, LEFT, self.y + size * 0.95, size, Some(InkColour::Accent));
        }
        for line in breaker.text_lines(&text, self.sheet.line_width() - indent) {
            self.set_line(&line, LEFT + indent, self.y + size * 0.95, size, None);
            self.y += size * 1.2;
        }
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

    fn set_list(&mut self, items: &[Text]) {
        for item in items {
            self.need_height(BODY * LEADING);
            let bullet_line = self
                .line_breaker(BODY)
                .text_lines(&Text::plain("•"), self.sheet.line_width())
                .remove(0);
            self.set_line(
                &bullet_line,
                LEFT + 4.0,
                self.y + BODY * 0.95,
                BODY,
                Some(InkColour::Accent),
            );
            self.set_text(item, BODY, LEFT + 16.0, self.sheet.line_width() - 16.0);
            self.y += 2.0;
        }
        self.y += 5.0;
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
            let name_line = breaker.text_lines(&Text::quiet(name.as_str()), value_indent).remove(0);
            self.set_line(&name_line, LEFT, self.y + BODY * 0.95, BODY, None);
            self.set_text(value, BODY, LEFT + value_indent, self.sheet.line_width() - value_indent);
            self.y += 1.6;
        }
        self.y += 6.0;
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
        self.set_text(&title.clone().with_tone(tone), 13.0, LEFT + INSET, inner_width);
        self.y += 4.0;
        for line in lines {
            self.set_text(line, BODY, LEFT + INSET, inner_width);
            self.y += 3.0;
        }
        self.y += INSET + 4.0;
    }
}

/// Blocks that belong together move to the next page as one, up to this share of its height.
const TOGETHER: f32 = 0.34;
