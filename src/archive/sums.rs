//! The list of hashes of an archive, in the form of `sha256sum`.
//!
//! Promises: a list that this module writes is read by `sha256sum --check`, and back by this module
//! as it was.
//! Does not cover: names with line breaks or backslashes, for which that program has a form of its
//! own.

use std::collections::BTreeMap;

/// Lower-case digits of a SHA-256 by path.
pub type Sums = BTreeMap<String, String>;

/// One line per file, sorted by path.
pub fn to_text(sums: &Sums) -> String {
    sums.iter().map(|(path, digits)| format!("{digits}  {path}\n")).collect()
}

/// Whether a path can stand in a list.
pub fn is_listable(path: &str) -> bool {
    !path.contains(['\n', '\r', '\\'])
}

/// Reads a list.
///
/// # Errors
/// The number of the first line (from 1) that is no hash and path, or names a path again.
pub fn of_text(text: &str) -> Result<Sums, usize> {
    let mut sums = Sums::new();
    for (index, line) in text.lines().enumerate() {
        let is_digit = |letter: char| matches!(letter, '0'..='9' | 'a'..='f');
        let (digits, path) = line.split_once("  ").ok_or(index + 1)?;
        let is_hash = digits.len() == 64 && digits.chars().all(is_digit);
        if !is_hash || path.is_empty() || !is_listable(path) || sums.contains_key(path) {
            return Err(index + 1);
        }
        sums.insert(path.to_owned(), digits.to_owned());
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::{Sums, of_text, to_text};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_is_read_back_as_it_was(
            sums in proptest::collection::btree_map("[a-z ./]{1,20}", "[0-9a-f]{64}", 0..20)
        ) {
            prop_assert_eq!(of_text(&to_text(&sums)), Ok(sums));
        }
    }

    #[test]
    fn the_first_line_that_is_none_is_told() {
        let digits = "0".repeat(64);
        let line = |path: &str| format!("{digits}  {path}\n");
        assert_eq!(of_text(""), Ok(Sums::new()));
        assert_eq!(of_text(&(line("a") + &line("b") + &line("a"))), Err(3));
        assert_eq!(of_text(&(line("a") + "\n")), Err(2));
        assert_eq!(of_text(&line("")), Err(1));
        assert_eq!(of_text(&line("a\\nb")), Err(1));
        assert_eq!(of_text(&line("a").to_uppercase().replace('0', "F")), Err(1));
        assert_eq!(of_text(&line("a")[1..]), Err(1));
    }
}
