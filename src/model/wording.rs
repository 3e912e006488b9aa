//! Turns of phrase that sentences of several layers share.

use std::borrow::Cow;

/// Whether a character makes a text show something else than it holds: a control character that is neither tab nor line end, or one
/// that turns the direction of the text around it (Unicode Standard Annex 9).
pub fn is_deceptive(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => character.is_control(),
    }
}

/// The text with a sign of as many bytes in the place of each deceptive character, so that places in it stay.
pub fn without_deception(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let sign_for = |character: char| match (is_deceptive(character), character.len_utf8()) {
        (false, _) => character,
        (true, 1) => '?',
        (true, 2) => '\u{bf}',
        (true, _) => char::REPLACEMENT_CHARACTER,
    };
    Cow::Owned(text.chars().map(sign_for).collect())
}

/// The same in one line: a value of somebody else's file must not look like a line of the program.
pub fn in_one_line(text: &str) -> String {
    without_deception(text).replace(['\r', '\n'], " ")
}

/// `a, b and 3 more`
pub fn and_more(shown: &str, more: usize) -> String {
    if more == 0 { shown.to_owned() } else { format!("{shown} and {more} more") }
}

/// `1 branch`, `2 branches`
pub fn plural(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deception_is_shown_in_as_many_bytes() {
        for (text, shown) in [
            ("a\u{202e}b\u{2066}", "a\u{fffd}b\u{fffd}"),
            ("\u{1b}[2J\u{0}\u{7f}", "?[2J??"),
            ("\u{85}\t\n", "\u{bf}\t\n"),
            ("\u{e4}\u{5d0}\u{200f}", "\u{e4}\u{5d0}\u{200f}"),
        ] {
            assert_eq!(without_deception(text), shown);
            assert_eq!(without_deception(text).len(), text.len());
        }
        assert_eq!(in_one_line("a\r\nverified\u{1b}"), "a  verified?");
    }
}
