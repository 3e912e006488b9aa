//! Lines of the terminal's summary: labels, entries of lists, and what goes on below them.
//!
//! Promises: no line is wider than the terminal, and nothing is cut.

use super::measure::{columns, pad, wrap};
use crate::document::Tone;
use crate::{Colour, Presentation};
use owo_colors::{OwoColorize, Style};

/// Entries of a list that are printed one by one.
pub(super) const LISTED: usize = 10;
/// Width of the labels on the left.
pub(super) const LABEL: usize = 17;

pub(super) struct Page<'a> {
    pub text: String,
    pub presentation: &'a Presentation,
}

impl Page<'_> {
    pub(super) fn width(&self) -> usize {
        usize::from(self.presentation.width.max(40))
    }

    pub(super) fn paint(&self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Neutral => return text.to_owned(),
            Tone::Quiet => Style::new().dimmed(),
            Tone::Good => Style::new().green(),
            Tone::Caution => Style::new().yellow(),
            Tone::Bad => Style::new().red(),
        };
        self.styled(text, style)
    }

    pub(super) fn styled(&self, text: &str, style: Style) -> String {
        match self.presentation.colour {
            Colour::Plain => text.to_owned(),
            Colour::Ansi => text.style(style).to_string(),
        }
    }

    pub(super) fn strong(&self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// A label and parts in their tones; a part that does not fit behind the others goes on below
    /// them.
    pub(super) fn labelled(&mut self, label: &str, parts: &[(String, Tone)]) {
        let room = self.width().saturating_sub(LABEL + 2);
        let mut lines = vec![String::new()];
        let mut used = 0;
        for (text, tone) in parts {
            for (index, piece) in wrap(text, room).into_iter().enumerate() {
                if index > 0 || used + columns(piece.trim_end()) > room {
                    lines.push(String::new());
                    used = 0;
                }
                used += columns(&piece);
                let painted = self.paint(&piece, *tone);
                lines.last_mut().expect("there is always a line").push_str(&painted);
            }
        }
        for (index, line) in lines.into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let line = format!("  {}{line}", self.strong(&pad(label, LABEL)));
            self.line(&line);
        }
    }

    /// Text in its own lines, quiet.
    pub(super) fn quiet_lines(&mut self, text: &str) {
        for line in wrap(text, self.width() - 2) {
            let line = format!("  {}", self.paint(&line, Tone::Quiet));
            self.line(&line);
        }
    }

    /// An entry of a list: a line, and more where it takes more.
    pub(super) fn item(&mut self, text: &str, tone: Tone) {
        let symbol = self.paint(symbol(tone), tone);
        for (index, text) in wrap(text, self.width().saturating_sub(8)).into_iter().enumerate() {
            let line =
                if index == 0 { format!("    {symbol} {text}") } else { format!("        {text}") };
            self.line(&line);
        }
    }

    pub(super) fn more(&mut self, count: usize) {
        if count > LISTED {
            let text = format!("      … and {} more", count - LISTED);
            let text = self.paint(&text, Tone::Quiet);
            self.line(&text);
        }
    }

    /// A label and a text on as many lines as it takes.
    pub(super) fn wrapped(&mut self, label: &str, text: &str, tone: Tone) {
        for (index, line) in
            wrap(text, self.width().saturating_sub(LABEL + 2)).into_iter().enumerate()
        {
            self.labelled(if index == 0 { label } else { "" }, &[(line, tone)]);
        }
    }

    /// What belongs to the line above.
    pub(super) fn below(&mut self, text: &str) {
        for line in wrap(text, self.width().saturating_sub(8)) {
            let line = format!("        {}", self.paint(&line, Tone::Quiet));
            self.line(&line);
        }
    }
}

pub(super) fn symbol(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "✗",
        Tone::Good => "✓",
        Tone::Caution | Tone::Neutral | Tone::Quiet => "·",
    }
}
