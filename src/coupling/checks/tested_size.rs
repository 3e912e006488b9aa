//! Rows about what tests bind against a size that the host states: the same words for buffers and
//! images.
//!
//! Does not cover: how a test is compared (`buffers`, `images`).

use crate::layout::counted;
use crate::rows::CheckRows;
use vkcert_model::evidence::CouplingCheckName;

/// What a size is of, and what tests do with it.
pub(super) struct SizeWords {
    /// `buffer 0.1`
    pub(super) place: String,
    /// `use` or `bind`
    pub(super) verb: &'static str,
    /// `used` or `bound`
    pub(super) participle: &'static str,
}

/// What the tests come to that refute nothing.
#[derive(Default)]
pub(super) struct TestedSizes {
    pub(super) covered_count: u64,
    /// Tests that bind more, in words.
    pub(super) larger: Vec<String>,
    /// Tests that cannot be compared, in words.
    pub(super) open: Vec<String>,
}

impl TestedSizes {
    pub(super) fn add_covered(
        &self,
        rows: &mut CheckRows,
        check: CouplingCheckName,
        words: &SizeWords,
    ) {
        if self.covered_count > 0 {
            let SizeWords { place, participle, .. } = words;
            let tests = counted(self.covered_count, "test");
            let message =
                format!("{place}: the host's size covers what is {participle} in {tests}");
            rows.add_holding(check, message);
        }
    }

    pub(super) fn add_undecided(
        &self,
        rows: &mut CheckRows,
        check: CouplingCheckName,
        words: &SizeWords,
    ) {
        let SizeWords { place, verb, .. } = words;
        if !self.larger.is_empty() {
            let message = format!(
                "{place}: tests bind more than the host allocates for the same parameters, and whether the kernel uses the rest is not known: {}",
                self.larger.join(", ")
            );
            rows.add_undetermined(check.clone(), message);
        }
        if !self.open.is_empty() {
            let message = format!(
                "{place}: whether the host's size covers what tests {verb} is not known: {}",
                self.open.join("; ")
            );
            rows.add_undetermined(check, message);
        }
    }
}
