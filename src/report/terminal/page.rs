//! Lines of the terminal's summary: labels, entries of lists, and what goes on below them.
//!
//! Promises: no line is wider than the terminal, and nothing is cut.

use super::measure::{column_width, pad_to, wrap};
use crate::document::Tone;
use crate::{Colour, Presentation};
use owo_colors::{OwoColorize, Style};

/// Entries of a list that are printed one by one.
pub(super) const LISTED: usize = 10;
/// Width of the labels on the left.
pub(super) const LABEL: usize = 17;

pub(super) struct SummaryPage<'a> {
    pub text: String,
    pub presentation: &'a Presentation,
}

impl SummaryPage<'_> {
    pub(super) fn page_width(&self) -> usize {
        usize::from(self.presentation.width.max(40))
    }

    pub(super) fn painted(&self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Neutral => return text.to_owned(),
            Tone::Quiet => Style::new().dimmed(),
            Tone::Good => Style::new().green(),
            Tone::Caution => Style::new().yellow(),
            Tone::Bad => Style::new().red(),
        };
        self.with_style(text, style)
    }

    pub(super) fn with_style(&self, text: &str, style: Style) -> String {
        match self.presentation.colour {
            Colour::Plain => text.to_owned(),
            Colour::Ansi => text.style(style).to_string(),
        }
    }

    pub(super) fn strong_text(&self, text: &str) -> String {
        self.with_style(text, Style::new().bold())
    }

    pub(super) fn write_line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// A label and parts in their tones; a part that does not fit behind the others goes on below
    /// them.
    pub(super) fn write_labelled(&mut self, label: &str, parts: &[(String, Tone)]) {
        let room_columns = self.page_width().saturating_sub(LABEL + 2);
        let mut label_lines = vec![String::new()];
        let mut used_columns = 0;
        for (text, tone) in parts {
            for (piece_index, piece) in wrap(text, room_columns).into_iter().enumerate() {
                if piece_index > 0 || used_columns + column_width(piece.trim_end()) > room_columns {
                    label_lines.push(String::new());
                    used_columns = 0;
                }
                used_columns += column_width(&piece);
                let painted_piece = self.painted(&piece, *tone);
                label_lines.last_mut().expect("there is always a line").push_str(&painted_piece);
            }
        }
        for (piece_index, line) in label_lines.into_iter().enumerate() {
            let label = if piece_index == 0 { label } else { "" };
            let line = format!("  {}{line}", self.strong_text(&pad_to(label, LABEL)));
            self.write_line(&line);
        }
    }

    /// Text in its own lines, quiet.
    pub(super) fn write_quiet(&mut self, text: &str) {
        for line in wrap(text, self.page_width() - 2) {
            let line = format!("  {}", self.painted(&line, Tone::Quiet));
            self.write_line(&line);
        }
    }

    /// An entry of a list: a line, and more where it takes more.
    pub(super) fn write_item(&mut self, text: &str, tone: Tone) {
        let symbol = self.painted(tone_symbol(tone), tone);
        for (line_index, line_text) in
            wrap(text, self.page_width().saturating_sub(8)).into_iter().enumerate()
        {
            let line = if line_index == 0 {
                format!("    {symbol} {line_text}")
            } else {
                format!("        {line_text}")
            };
            self.write_line(&line);
        }
    }

    pub(super) fn write_more(&mut self, count: usize) {
        if count > LISTED {
            let text = format!("      … and {} more", count - LISTED);
            let text = self.painted(&text, Tone::Quiet);
            self.write_line(&text);
        }
    }

    /// A label and a text on as many lines as it takes.
    pub(super) fn write_wrapped(&mut self, label: &str, text: &str, tone: Tone) {
        for (index, line) in
            wrap(text, self.page_width().saturating_sub(LABEL + 2)).into_iter().enumerate()
        {
            self.write_labelled(if index == 0 { label } else { "" }, &[(line, tone)]);
        }
    }

    /// What belongs to the line above.
    pub(super) fn write_below(&mut self, text: &str) {
        for line in wrap(text, self.page_width().saturating_sub(8)) {
            let line = format!("        {}", self.painted(&line, Tone::Quiet));
            self.write_line(&line);
        }
    }
}

pub(super) fn tone_symbol(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "✗",
        Tone::Good => "✓",
        Tone::Caution | Tone::Neutral | Tone::Quiet => "·",
    }
}
