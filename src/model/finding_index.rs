//! Findings by what tells them apart, so that an equal one is found without looking at all of them.
//!
//! Promises: of rows with one key the first that is the same, in the order in which they were
//! added; rows with other keys are not looked at. Does not cover: what makes two findings the same,
//! which differs from list to list.

use std::collections::HashMap;
use std::hash::Hash;

/// Indices of rows, by key.
#[derive(Debug)]
pub struct FindingIndex<K> {
    rows: HashMap<K, Vec<usize>>,
    /// How many rows were looked at.
    pub looked_at: u64,
}

impl<K> Default for FindingIndex<K> {
    fn default() -> Self {
        Self { rows: HashMap::new(), looked_at: 0 }
    }
}

impl<K: Hash + Eq> FindingIndex<K> {
    /// The first row of a key that is the same.
    pub fn find(&mut self, key: &K, is_same: impl Fn(usize) -> bool) -> Option<usize> {
        let same_key_rows = self.rows.get(key)?;
        let row_position = same_key_rows.iter().position(|row| is_same(*row));
        self.looked_at += row_position.map_or(same_key_rows.len(), |at| at + 1) as u64;
        row_position.map(|at| same_key_rows[at])
    }

    /// Notes a row.
    pub fn add(&mut self, key: K, row: usize) {
        self.rows.entry(key).or_default().push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_is_the_same_is_found_and_others_are_not_looked_at() {
        let mut index = FindingIndex::default();
        (0..1_000).for_each(|row| index.add(row / 2, row));
        assert_eq!(index.find(&7, |row| row >= 15), Some(15));
        assert_eq!(index.find(&7, |row| row >= 14), Some(14));
        assert_eq!(index.find(&7, |_| false), None);
        assert_eq!(index.find(&500, |_| true), None);
        assert_eq!(index.looked_at, 5);
    }
}
