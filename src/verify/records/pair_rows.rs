//! Whether the pairs of accesses that a test showed can be so.
//!
//! Knows: the obligations of the kernel, and what the test tells of directed schedules.
//! Promises: a pair is of an obligation, or the kernel says where it stands.
//! Does not cover: which obligations there are (`pairs`).

use super::KernelRecords;
use crate::Verification;
use std::collections::BTreeSet;
use vkcert_coverage::coupling::{indices_of_pairs, pairs_outside};
use vkcert_model::access_pair::ShownPairs;
use vkcert_model::evidence::{KernelEvidence, TestRecords};
use vkcert_model::schedule::MeasuredCode;
use vkcert_model::verdict::EngineName;

impl KernelRecords<'_> {
    /// Pairs of accesses are there where they are asked for, each of an obligation or with its place.
    pub(super) fn check_pairs(&self, row: &TestRecords, verification: &mut Verification) {
        let pairs = row.records.pairs.as_ref();
        let are_asked_for =
            self.kernel.engine == EngineName::Sequential && self.kernel.pairs.is_some();
        let must_be_there = are_asked_for && row.counted;
        verification.check(if pairs.is_some() { are_asked_for } else { !must_be_there }, || {
            self.problem_sentence(row, "whether pairs of accesses were followed")
        });
        let Some(kernel_pairs) = &self.kernel.pairs else { return };
        let outside = pairs_outside(kernel_pairs, [&row.records]);
        verification.check(outside.is_subset(&kernel_pairs.pairs_outside), || {
            self.problem_sentence(row, "a pair of accesses that the kernel does not have")
        });
    }

    /// Pairs outside the obligations are those that records show, each with its places.
    pub(super) fn check_pairs_outside(&self, verification: &mut Verification) {
        let Some(kernel_pairs) = &self.kernel.pairs else { return };
        let records = self.kernel.records.iter().map(|row| &row.records);
        let outside = pairs_outside(kernel_pairs, records);
        let placed_indices: BTreeSet<u32> = kernel_pairs.places_outside.keys().copied().collect();
        let are_shown =
            kernel_pairs.pairs_outside == outside && placed_indices == indices_of_pairs(&outside);
        verification.check(are_shown, || {
            let KernelEvidence { kernel, engine, .. } = self.kernel;
            format!("{kernel} on {engine}: pairs of accesses outside the obligations")
        });
    }

    /// Pairs that directed schedules alone have shown are among those of the row, and its test says
    /// that they did.
    pub(super) fn check_directed_pairs(&self, row: &TestRecords, verification: &mut Verification) {
        let shown_pairs = match &row.records.pairs {
            Some(ShownPairs::Shown(pairs)) => Some(pairs),
            Some(ShownPairs::NotFollowed(_)) | None => None,
        };
        let are_right = row.records.directed_pairs.iter().all(|(schedule, directed_pairs)| {
            let is_told = self.told(row, MeasuredCode::Accesses).any(|directed_result| {
                directed_result.schedule == *schedule && directed_result.reason.is_none()
            });
            is_told && shown_pairs.is_some_and(|pairs| directed_pairs.is_subset(pairs))
        });
        verification.check(are_right, || {
            self.problem_sentence(
                row,
                "pairs that a directed schedule has shown, which its test does not tell",
            )
        });
    }
}
