//! Coverage of coupling of one kernel from what evidence stores.
//!
//! Knows: the obligations of the kernel, and beside the records of each test the pairs that it
//! showed.
//! Promises: pairs that were not told, or not followed, leave undetermined what no test shows.
//! Does not cover: which tests count.

use super::assess::{CouplingSubject, PairRecords, assess_coupling};
use std::collections::BTreeSet;
use vkcert_model::access_pair::{AccessPair, ShownPairs};
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::pair_obligation::KernelPairs;
use vkcert_model::place::Place;
use vkcert_model::records::Records;

/// Assesses the coupling of a kernel; `counted_tests` are those that count, in order of execution,
/// `source` is the kernel's file.
pub fn assess_kernel_pairs(
    source: &str,
    kernel_pairs: &KernelPairs,
    pair_records: PairRecords<'_>,
    counted_tests: &[(TestId, &Records)],
) -> Vec<SimpleObligation> {
    if let Some(reason) = &kernel_pairs.unknown {
        return vec![unknown_pairs(source, reason)];
    }
    let place_of = |index: u32| place_outside(kernel_pairs, index);
    let subject = CouplingSubject { kernel_pairs, place_of: &place_of };
    let shown_pairs: Vec<(TestId, &BTreeSet<AccessPair>)> = counted_tests
        .iter()
        .filter_map(|(test, records)| match &records.pairs {
            Some(ShownPairs::Shown(pairs)) => Some((*test, pairs)),
            Some(ShownPairs::NotFollowed(_)) | None => None,
        })
        .collect();
    let mut rows = assess_coupling(&subject, pair_records, &shown_pairs);
    if let Some(reason) = reason_not_followed(counted_tests) {
        for row in rows.iter_mut().filter(|row| row.status == Status::Uncovered) {
            (row.status, row.reason) = (Status::Undetermined, Some(reason.clone()));
        }
    }
    rows
}

/// The name of the row of a kernel whose pairs are not known.
pub const UNKNOWN_PAIRS: &str = "P1";

/// One row for all that cannot be told.
fn unknown_pairs(source: &str, reason: &str) -> SimpleObligation {
    SimpleObligation {
        id: ObligationId::from(UNKNOWN_PAIRS),
        file: source.to_owned(),
        line: 1,
        column: 1,
        text: "values that pass between host, kernels and invocations".to_owned(),
        status: Status::Undetermined,
        reason: Some(reason.to_owned()),
        tests: Vec::new(),
        uncounted: Vec::new(),
        proposal: None,
        object: None,
    }
}

fn place_outside(kernel_pairs: &KernelPairs, index: u32) -> Place {
    kernel_pairs.places_outside.get(&index).cloned().unwrap_or_default()
}

/// Why what no test shows may have been shown; none: every test was followed.
fn reason_not_followed(counted_tests: &[(TestId, &Records)]) -> Option<String> {
    counted_tests.iter().find_map(|(test, records)| match &records.pairs {
        Some(ShownPairs::Shown(_)) => None,
        Some(ShownPairs::NotFollowed(reason)) => Some(format!("{test}: {reason}")),
        None => Some(format!("{test}: what it read was not followed")),
    })
}
