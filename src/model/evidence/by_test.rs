//! Rows of evidence by the test that they are of.
//!
//! Knows: nothing of what rows say. Promises: where several rows are of one test, their order stays;
//! each row is looked at once, so that looking up the rows of every test costs what the rows are.
//! Does not cover: whether a test has too many rows or none.

use super::{KernelEvidence, TestEvidence, TestRecords};
use crate::id::TestId;
use std::collections::BTreeMap;

/// Rows by their test, in their order.
#[derive(Debug)]
pub struct RowsByTest<'e, R> {
    rows: BTreeMap<TestId, Vec<&'e R>>,
}

impl<'e, R> RowsByTest<'e, R> {
    /// Of all rows, by the test that `test_of` reads off a row; rows of no test are left out.
    pub fn new(
        rows: impl IntoIterator<Item = &'e R>,
        test_of: impl Fn(&R) -> Option<TestId>,
    ) -> Self {
        let mut rows_by_test: BTreeMap<TestId, Vec<&'e R>> = BTreeMap::new();
        for row in rows {
            if let Some(test) = test_of(row) {
                rows_by_test.entry(test).or_default().push(row);
            }
        }
        Self { rows: rows_by_test }
    }

    /// All rows of a test.
    pub fn of(&self, test: TestId) -> &[&'e R] {
        self.rows.get(&test).map_or(&[], Vec::as_slice)
    }

    /// The first row of a test.
    pub fn first(&self, test: TestId) -> Option<&'e R> {
        self.of(test).first().copied()
    }
}

impl<'e> RowsByTest<'e, TestEvidence> {
    /// Tests by their own id.
    pub fn of_tests(tests: &'e [TestEvidence]) -> Self {
        Self::new(tests, |test| Some(test.id))
    }
}

impl<'e> RowsByTest<'e, TestRecords> {
    /// What each test recorded of a kernel under one configuration on one engine.
    pub fn of_kernel(kernel: &'e KernelEvidence) -> Self {
        Self::new(&kernel.records, |row| Some(row.test))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_test_keep_their_order_and_rows_of_none_are_left_out() {
        let named = |name: &str| Some(TestId::from(name));
        let rows = [(named("b"), 1), (named("a"), 2), (None, 3), (named("b"), 4)];
        let rows_by_test = RowsByTest::new(&rows, |row| row.0);
        let numbers = |name: &str| -> Vec<u32> {
            rows_by_test.of(TestId::from(name)).iter().map(|row| row.1).collect()
        };
        assert_eq!([numbers("a"), numbers("b"), numbers("c")], [vec![2], vec![1, 4], vec![]]);
        assert_eq!(rows_by_test.first(TestId::from("b")), Some(&rows[0]));
    }
}
