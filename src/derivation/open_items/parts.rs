//! Notes on what no test judges of an output that is judged, and on expectations that judge
//! nothing.
//!
//! Promises: a member is named unless some test judges every element of it that it changes, or one
//! where none changes any; and if a test that counts for the kernel changes it and judges none of
//! it.
//! Does not cover: outputs that no test judges at all (`notes`).

use super::StoredCampaign;
use super::notes::{Outputs, listed_names};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{TestEvidence, TestResult};
use vkcert_model::flow::StorePlace;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::judged::{JudgedMember, MemberPlace};
use vkcert_model::open_item::{CampaignNote, NoteKind};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_model::wording::and_more;

/// Descriptors in arrays of which more than the first is bound.
type BoundArrays<'a> = BTreeSet<(&'a KernelName, Option<&'a StorePlace>)>;

/// What tests that passed judge of the members of judged outputs.
pub(super) struct JudgedMembers<'a> {
    arrays: BoundArrays<'a>,
    rows: BTreeMap<MemberPlace, Vec<MemberOfTest<'a>>>,
}

struct MemberOfTest<'a> {
    test: &'a TestId,
    row: &'a JudgedMember,
}

impl<'a> JudgedMembers<'a> {
    pub(super) fn of_outputs(stored: &'a StoredCampaign, outputs: &Outputs) -> Self {
        let mut members = Self { arrays: BoundArrays::new(), rows: BTreeMap::new() };
        for (test, result) in passed_tests(stored) {
            for row in &result.judged {
                if outputs.get(&(&row.kernel, row.place.as_ref())) == Some(&true) {
                    members.add(MemberOfTest { test: &test.id, row });
                }
            }
        }
        members
    }

    fn add(&mut self, member: MemberOfTest<'a>) {
        let row = member.row;
        if row.array_index > 0 {
            self.arrays.insert((&row.kernel, row.place.as_ref()));
        }
        self.rows.entry(row.place()).or_default().push(member);
    }

    /// `binding 2 `Results.values[]``
    fn in_words(&self, row: &JudgedMember) -> String {
        row.place_in_words(self.arrays.contains(&(&row.kernel, row.place.as_ref())))
    }
}

/// Members of judged outputs of which no test judges all elements.
pub(super) fn members_judged_in_part(members: &JudgedMembers) -> Option<CampaignNote> {
    let mut words_by_kernel = MembersByKernel::default();
    for tests_of_member in members.rows.values() {
        let Some(best_row) = greatest_share(tests_of_member) else { continue };
        let place_words = members.in_words(best_row);
        match best_row.judged {
            0 => words_by_kernel.add(&best_row.kernel, format!("{place_words}: no test judges it")),
            judged_count if judged_count < best_row.stored => {
                let stored = best_row.stored;
                words_by_kernel.add(
                    &best_row.kernel,
                    format!(
                        "{place_words}: at most {judged_count} of {stored} stored elements judged by any test"
                    ),
                );
            }
            _ => {}
        }
    }
    let sentence = "Judged outputs of which no single test judges all, at the scale of each element, directly or through what else \
                    is made of them";
    words_by_kernel.note(sentence)
}

/// Members that a test with coverage of the kernel changes and does not judge, while another test
/// judges them: what the first one covers alone is not judged there.
pub(super) fn members_left_to_others(
    stored: &StoredCampaign,
    members: &JudgedMembers,
) -> Option<CampaignNote> {
    let mut words_by_kernel = MembersByKernel::default();
    for tests_of_member in members.rows.values() {
        let Some(row) = greatest_share(tests_of_member).filter(|row| row.judged > 0) else {
            continue;
        };
        let not_judging =
            tests_of_member.iter().filter(|member| member.row.stored > 0 && member.row.judged == 0);
        let covering_tests =
            not_judging.filter(|member| counts_for_kernel(stored, member.test, &row.kernel));
        let test_ids: Vec<String> = covering_tests.map(|member| member.test.to_string()).collect();
        if let Some((first_id, other_ids)) = test_ids.split_first() {
            let test_words = and_more(first_id, other_ids.len());
            words_by_kernel.add(
                &row.kernel,
                format!(
                    "{}: stored and not judged at all by test {test_words}",
                    members.in_words(row)
                ),
            );
        }
    }
    words_by_kernel.note(
        "Outputs that one test judges, and that another one with coverage of the same kernel stores and does not judge",
    )
}

/// Whether the records of a test count for a kernel, in some configuration.
fn counts_for_kernel(stored: &StoredCampaign, test: &TestId, kernel: &KernelName) -> bool {
    let kernel_rows = stored.kernels.iter().filter(|row| row.kernel == *kernel);
    let mut records = kernel_rows.flat_map(|row| row.records.iter().chain(&row.objects.records));
    records.any(|row| row.counted && row.test == *test)
}

/// The row of the test that judges the greatest share of a member.
fn greatest_share<'a>(tests: &[MemberOfTest<'a>]) -> Option<&'a JudgedMember> {
    let mut member_rows = tests.iter().map(|member| member.row);
    let first_row = member_rows.next()?;
    Some(member_rows.fold(first_row, |greatest_row, row| {
        if judged_share(row) > judged_share(greatest_row) { row } else { greatest_row }
    }))
}

/// How much of a member is judged, then how many elements that are, to be compared.
fn judged_share(row: &JudgedMember) -> (u128, u64) {
    ((u128::from(row.judged) << 64) / u128::from(row.stored.max(1)), row.stored)
}

/// What a note says of members, by kernel.
#[derive(Default)]
struct MembersByKernel {
    kernels: BTreeMap<KernelName, Vec<String>>,
}

impl MembersByKernel {
    fn add(&mut self, kernel: &KernelName, member: String) {
        self.kernels.entry(*kernel).or_default().push(member);
    }

    fn note(&self, sentence: &str) -> Option<CampaignNote> {
        let kernel_words = self
            .kernels
            .iter()
            .map(|(kernel, members)| format!("{kernel} ({})", listed_names(members)));
        let sentence = format!("{sentence}: {}.", listed_names(&kernel_words.collect::<Vec<_>>()));
        (!self.kernels.is_empty())
            .then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
    }
}

/// Tests that passed on the sequential engine, with their results there.
fn passed_tests<'a>(
    stored: &'a StoredCampaign,
) -> impl Iterator<Item = (&'a TestEvidence, &'a TestResult)> {
    stored.campaign.tests.iter().flat_map(|test| {
        let passed_in_engine = |result: &&TestResult| {
            result.engine == EngineName::Sequential && result.verdict == Verdict::Pass
        };
        test.results.iter().filter(passed_in_engine).map(move |result| (test, result))
    })
}

/// Expectations beside others, which would let everything pass.
pub(super) fn idle_expectations(stored: &StoredCampaign) -> Option<CampaignNote> {
    let mut expectation_words = Vec::new();
    for (test, result) in passed_tests(stored) {
        for expectation_number in &result.idle {
            let buffer_name = test
                .expected
                .get(*expectation_number as usize)
                .map_or("", |expected| expected.buffer.as_str());
            let (expectation_number, expectation_count) =
                (u64::from(*expectation_number) + 1, test.expected.len());
            expectation_words
                .push(format!("test {}: expectation {expectation_number} of {expectation_count} (`{buffer_name}`)", test.id));
        }
    }
    let sentence = format!(
        "Expectations that none of the alterations tried on what the kernels of their test stored makes fail: {}.",
        listed_names(&expectation_words)
    );
    (!expectation_words.is_empty())
        .then_some(CampaignNote { kind: NoteKind::ExpectationJudgesNothing, sentence })
}
