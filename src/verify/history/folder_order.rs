//! Names of folders in the order that people count them: `run-2` before `run-10`.
//!
//! Promises: a total order; names that differ are never equal.

use std::cmp::Ordering;

/// A name that is ordered by the numbers in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NumberedName {
    parts: Vec<NamePart>,
    /// Decides where the parts are equal: `run-02` and `run-2`.
    name: String,
}

/// Numbers come before letters, as digits do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart {
    /// Number of digits without leading zeros, then the digits: any size is in order.
    Number(usize, String),
    Letters(String),
}

impl NumberedName {
    pub(super) fn of(name: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = name;
        while let Some(first) = rest.chars().next() {
            let is_number = first.is_ascii_digit();
            let end = rest.find(|letter: char| letter.is_ascii_digit() != is_number);
            let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
            parts.push(if is_number {
                let digits = part.trim_start_matches('0');
                NamePart::Number(digits.len(), digits.to_owned())
            } else {
                NamePart::Letters(part.to_owned())
            });
            rest = behind;
        }
        Self { parts, name: name.to_owned() }
    }
}

impl Ord for NumberedName {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.parts, &self.name).cmp(&(&other.parts, &other.name))
    }
}

impl PartialOrd for NumberedName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::NumberedName;

    #[test]
    fn numbers_in_names_are_ordered_by_value() {
        let in_order = [
            "",
            "2026-9/evidence",
            "2026-11-05",
            "2026-11-25",
            "18446744073709551616",
            "18446744073709551617",
            "a",
            "run-02",
            "run-2",
            "run-10",
            "run-x",
            "é7",
        ];
        let mut names = in_order.to_vec();
        names.reverse();
        names.sort_by_key(|name| NumberedName::of(name));
        assert_eq!(names, in_order);
    }
}
