//! Labels of figures, and the room that they take.
//!
//! Knows: about how wide letters are in the faces of both formats. Promises: a label that was cut
//! to a width does not pass it, in PDF and in browsers. Does not cover: exact widths; a drawing is
//! made before its format is known.

use super::{Shape, Spot};
use crate::document::{ColumnAlign, Style, Text, TextRun};

/// The least size of letters on paper, in points.
pub(crate) const LEAST_SIZE: f32 = 7.0;

/// Width of a letter as a share of its size, on the safe side: capitals are wider, most letters
/// narrower.
fn letter_width(style: Style) -> f32 {
    match style {
        Style::Plain | Style::Emphasis => 0.53,
        Style::Strong => 0.58,
        Style::Code => 0.61,
    }
}

/// The same of one letter, for labels that are capitals alone.
fn width_of(letter: char, style: Style) -> f32 {
    match style {
        Style::Code => letter_width(style),
        Style::Plain | Style::Emphasis | Style::Strong => match letter {
            'M' | 'W' | '%' | '@' => 1.05,
            'A'..='Z' | 'm' | 'w' | '&' | '—' | '…' => 0.86,
            '\0'..='~' => letter_width(style),
            _ => letter_width(style).max(0.6),
        },
    }
}

/// The text, cut to a width with `…` where it is longer; never wider than its capitals allow.
fn shortened_to_width(text: &str, width: f32, style: Style, size: f32) -> String {
    let mut letters = fitting_letters(width, style, size);
    let is_too_wide = |text: &str| {
        let ems: f32 = text.chars().map(|letter| width_of(letter, style)).sum();
        // Words with some capitals are narrower on the whole than their letters one by one.
        let share_of_capitals = text.chars().filter(char::is_ascii_uppercase).count() * 2;
        share_of_capitals > text.chars().count() && ems * size > width
    };
    let mut shown = crate::shortened::shortened(text, letters);
    while letters > 1 && is_too_wide(&shown) {
        letters -= 1;
        shown = crate::shortened::shortened(text, letters);
    }
    shown
}

/// Letters that a width has room for, at least one.
pub(crate) fn fitting_letters(width: f32, style: Style, size: f32) -> usize {
    (width / (letter_width(style) * size)).floor().max(1.0) as usize
}

/// The first run of a text as a label, cut to a width with `…` where it is longer.
pub(crate) fn fitted_label(
    spot: Spot,
    align: ColumnAlign,
    size: f32,
    width: f32,
    text: Text,
) -> Shape {
    let mut run = first_run(text);
    run.text = shortened_to_width(&run.text, width, run.style, size);
    Shape::Label { spot, align, size, text: run }
}

/// The first run of a text as a label.
pub(crate) fn label(spot: Spot, align: ColumnAlign, size: f32, text: Text) -> Shape {
    Shape::Label { spot, align, size, text: first_run(text) }
}

/// A label is set in one style and leads to one place.
fn first_run(text: Text) -> TextRun {
    let is_single = text.0.len() <= 1;
    debug_assert!(is_single, "a label is one run: {text:?}");
    text.0.into_iter().next().unwrap_or_else(|| Text::plain("").0.remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_is_too_long_ends_within_its_width() {
        let spot = Spot { x: 0.0, y: 0.0 };
        let name = "a".repeat(100);
        for style in [Text::plain(name.as_str()), Text::code(name.as_str())] {
            let Shape::Label { text, .. } =
                fitted_label(spot, ColumnAlign::Left, 8.0, 90.0, style.with_link("kernel/a"))
            else {
                panic!("a label");
            };
            assert!(text.text.ends_with('…') && text.link.is_some());
            let width = text.text.chars().count() as f32 * letter_width(text.style) * 8.0;
            assert!(width <= 90.0 && width > 80.0, "{width}");
        }
    }
}
