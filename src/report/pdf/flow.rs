//! Blocks set on pages: headings stay with what follows them, tables repeat their header, nothing
//! is clipped.

use super::canvas::{BODY, BOTTOM, Draw, Flow, Ink, LEADING, LEFT, LINE_WIDTH, Mark, TOP};
use super::table;
use crate::document::{Block, Heading, Style, Text, Tone};

impl Flow<'_> {
    /// Height of blocks set one after the other on an endless page.
    pub(super) fn measure(&self, blocks: &[Block]) -> f32 {
        let mut scratch = Flow::new(self.faces);
        scratch.bottom = f32::INFINITY;
        // Not at the top of the page, where space above headings is left out.
        scratch.y = TOP + 1.0;
        scratch.blocks(blocks);
        scratch.y - TOP - 1.0
    }

    /// Height of what must not be parted from the beginning of `blocks`.
    fn lead(&self, blocks: &[Block]) -> f32 {
        let Some(first) = blocks.first() else { return 0.0 };
        let one = std::slice::from_ref(first);
        match first {
            Block::Heading(_) => self.measure(one) + self.lead(&blocks[1..]),
            Block::Paragraph(_) => {
                let whole = self.measure(one);
                match blocks.get(1) {
                    Some(Block::Table(_)) if whole < 60.0 => whole + self.lead(&blocks[1..]),
                    _ => whole.min(3.0 * BODY * LEADING),
                }
            }
            Block::Table(table) => table::lead(self, table),
            Block::List(items) => {
                self.measure(&[Block::List(items.iter().take(1).cloned().collect())])
            }
            Block::Pairs(pairs) => {
                self.measure(&[Block::Pairs(pairs.iter().take(2).cloned().collect())])
            }
            Block::Notice { .. } => self.measure(one),
            Block::Together(inner) => {
                let whole = self.measure(inner);
                if whole <= TOGETHER { whole } else { self.lead(inner) }
            }
            Block::Fitting { whole, brief } => self.lead(self.fitting(whole, brief)),
            Block::Source { .. } => self.lead(&blocks[1..]),
        }
    }

    pub(super) fn blocks(&mut self, blocks: &[Block]) {
        for (index, block) in blocks.iter().enumerate() {
            if self.bottom.is_finite() {
                self.keep(&blocks[index..]);
            }
            self.block(block);
        }
    }

    /// Starts a page where the beginning of `blocks` would be torn apart or a chapter would begin
    /// low on the page.
    fn keep(&mut self, blocks: &[Block]) {
        let Some(first) = blocks.first() else { return };
        let chapter = matches!(first, Block::Heading(heading) if heading.depth == 1);
        if chapter && self.room() < 0.38 * (BOTTOM - TOP) {
            self.new_page();
        }
        let lead = self.lead(blocks);
        if lead < BOTTOM - TOP {
            self.need(lead);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(heading) => self.heading(heading),
            Block::Paragraph(text) => {
                self.text(text, BODY, LEFT, LINE_WIDTH);
                self.y += 6.0;
            }
            Block::List(items) => self.list(items),
            Block::Pairs(pairs) => self.pairs(pairs),
            Block::Table(table) => table::set(self, table),
            Block::Notice { tone, title, lines } => self.notice(*tone, title, lines),
            Block::Together(blocks) => self.together(blocks),
            Block::Fitting { whole, brief } => self.blocks(self.fitting(whole, brief)),
            Block::Source { .. } => {}
        }
    }

    fn fitting<'b>(&self, whole: &'b [Block], brief: &'b [Block]) -> &'b [Block] {
        if self.measure(whole) <= self.room() { whole } else { brief }
    }

    /// What stands on this page as a whole need not be kept together part by part.
    fn together(&mut self, blocks: &[Block]) {
        if self.bottom.is_finite() && self.measure(blocks) > self.room() {
            self.blocks(blocks);
        } else {
            blocks.iter().for_each(|block| self.block(block));
        }
    }

    fn heading(&mut self, heading: &Heading) {
        let (size, above, below) = match heading.depth {
            1 => (17.0, 26.0, 8.0),
            2 => (13.0, 16.0, 5.0),
            _ => (10.8, 12.0, 3.0),
        };
        self.space(above);
        let page = self.pages.len() - 1;
        let plain = heading.text.0.iter().map(|run| run.text.as_str()).collect::<String>();
        let title =
            if heading.number.is_empty() { plain } else { format!("{} {plain}", heading.number) };
        self.anchors.insert(heading.anchor.clone(), (page, self.y));
        self.outline.push(Mark { depth: heading.depth, title, page, y: self.y });
        let mut text = heading.text.clone();
        for run in &mut text.0 {
            if run.style == Style::Plain {
                run.style = Style::Strong;
            }
        }
        let breaker = self.breaker(size);
        let number = Text::strong(heading.number.as_str());
        let indent =
            if heading.number.is_empty() { 0.0 } else { breaker.natural(&number) + 0.8 * size };
        if indent > 0.0 {
            let line = breaker.lines(&number, LINE_WIDTH).remove(0);
            self.line(&line, LEFT, self.y + size * 0.95, size, Some(Ink::Accent));
        }
        for line in breaker.lines(&text, LINE_WIDTH - indent) {
            self.line(&line, LEFT + indent, self.y + size * 0.95, size, None);
            self.y += size * 1.2;
        }
        if heading.depth == 1 {
            self.draw(Draw::Rule {
                x: LEFT,
                y: self.y + 3.0,
                length: LINE_WIDTH,
                thickness: 0.9,
                ink: Ink::Accent,
            });
            self.y += 5.0;
        }
        self.y += below;
    }

    fn list(&mut self, items: &[Text]) {
        for item in items {
            self.need(BODY * LEADING);
            let dot = self.breaker(BODY).lines(&Text::plain("•"), LINE_WIDTH).remove(0);
            self.line(&dot, LEFT + 4.0, self.y + BODY * 0.95, BODY, Some(Ink::Accent));
            self.text(item, BODY, LEFT + 16.0, LINE_WIDTH - 16.0);
            self.y += 2.0;
        }
        self.y += 5.0;
    }

    fn pairs(&mut self, pairs: &[(String, Text)]) {
        let breaker = self.breaker(BODY);
        let widest = pairs
            .iter()
            .map(|(name, _)| breaker.natural(&Text::plain(name.as_str())))
            .fold(0.0, f32::max);
        let indent = (widest + 16.0).max(96.0);
        for (name, value) in pairs {
            self.need(BODY * LEADING);
            let label = breaker.lines(&Text::quiet(name.as_str()), indent).remove(0);
            self.line(&label, LEFT, self.y + BODY * 0.95, BODY, None);
            self.text(value, BODY, LEFT + indent, LINE_WIDTH - indent);
            self.y += 1.6;
        }
        self.y += 6.0;
    }

    /// A framed statement with a bar of its tone; longer than a page, it goes on without the frame.
    fn notice(&mut self, tone: Tone, title: &Text, lines: &[Text]) {
        const INSET: f32 = 14.0;
        self.space(8.0);
        let inner = LINE_WIDTH - 2.0 * INSET;
        let count = |text: &Text, size: f32| {
            self.breaker(size).lines(text, inner).len() as f32 * size * LEADING
        };
        let heights: f32 = lines.iter().map(|line| count(line, BODY) + 3.0).sum();
        let height = count(title, 13.0) + heights + 2.0 * INSET;
        if self.bottom.is_finite() && height < BOTTOM - TOP {
            self.need(height);
        }
        let shown = height.min(self.room());
        self.draw(Draw::Fill {
            x: LEFT,
            y: self.y,
            width: LINE_WIDTH,
            height: shown,
            ink: Ink::Wash(tone),
        });
        self.draw(Draw::Fill {
            x: LEFT,
            y: self.y,
            width: 3.0,
            height: shown,
            ink: Ink::Tone(tone),
        });
        self.y += INSET - 2.0;
        self.text(&title.clone().tone(tone), 13.0, LEFT + INSET, inner);
        self.y += 4.0;
        for line in lines {
            self.text(line, BODY, LEFT + INSET, inner);
            self.y += 3.0;
        }
        self.y += INSET + 4.0;
    }
}

/// Blocks that belong together move to the next page as one, up to this height.
const TOGETHER: f32 = 0.34 * (BOTTOM - TOP);
