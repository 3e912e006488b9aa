//! Text of a bounded length.

use vkcert_model::wording::and_more;

/// About so many characters are one line of page 1.
pub(crate) const LINE: usize = 92;
/// Names in a line that stands for several reasons, and characters of each.
const NAMES: usize = 3;
const NAME: usize = 40;

/// The text, up to so many characters, with `…` where it goes on.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept_text: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept_text.trim_end())
}

/// `a, b and 3 more`
pub(crate) fn first_names(names: &[&str]) -> String {
    let shown_names: Vec<String> =
        names.iter().take(NAMES).map(|name| shortened(name, NAME)).collect();
    and_more(&shown_names.join(", "), names.len() - shown_names.len())
}
