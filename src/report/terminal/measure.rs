//! How wide text is on a terminal, and text in lines of a width.
//!
//! Promises: nothing is dropped; a line is never wider than the width, words that are wider go on
//! in the next line.

/// Columns of a character on a terminal: East Asian wide ones take two (Unicode Standard Annex 11),
/// combining ones none.
fn column_count(character: char) -> usize {
    match u32::from(character) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

pub(super) fn column_width(text: &str) -> usize {
    text.chars().map(column_count).sum()
}

pub(super) fn pad_to(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(column_width(text))))
}

/// The text in lines of at most `width` columns, broken between words. What fits on one line keeps
/// its spaces. Control characters become spaces.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let text: String = text
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if column_width(&text) <= width {
        return vec![text];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| word_pieces(word, width)) {
        match lines.last_mut() {
            Some(line) if column_width(line) + 1 + column_width(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) | None => lines.push(word),
        }
    }
    lines
}

/// A word in pieces of at most `width` columns.
fn word_pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used_columns = 0;
    for character in word.chars() {
        let character_columns = column_count(character);
        if used_columns + character_columns > width {
            pieces.push(String::new());
            used_columns = 0;
        }
        used_columns += character_columns;
        pieces.last_mut().expect("there is always a piece").push(character);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_text_loses_nothing() {
        let text = "a name_that_is_wider_than_the_line 中文中文中文 end";
        for width in 2..60 {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| column_width(line) <= width), "{width}: {lines:?}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&lines.concat()), bare(text), "{width}");
        }
        assert_eq!(wrap("a   b", 10), ["a   b"]);
    }
}
