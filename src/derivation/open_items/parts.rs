//! Notes on what no test judges of an output that is judged, and on expectations that judge
//! nothing.
//!
//! Promises: a member is named unless some test judges every element of it that it changes, or one
//! where none changes any; and if a test that counts for the kernel changes it and judges none of
//! it.
//! Does not cover: outputs that no test judges at all (`notes`).

use super::Stored;
use super::notes::{listed, outputs};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{TestEvidence, TestResult};
use vkcert_model::flow::StorePlace;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::judged::{JudgedMember, MemberPlace};
use vkcert_model::open_item::{CampaignNote, NoteKind};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_model::wording::and_more;

/// Descriptors in arrays of which more than the first is bound.
type Arrays<'a> = BTreeSet<(&'a KernelName, Option<&'a StorePlace>)>;

/// What tests that passed judge of the members of judged outputs.
pub(super) struct Members<'a> {
    arrays: Arrays<'a>,
    rows: BTreeMap<MemberPlace, Vec<MemberOfTest<'a>>>,
}

struct MemberOfTest<'a> {
    test: &'a TestId,
    row: &'a JudgedMember,
}

impl<'a> Members<'a> {
    pub(super) fn of(stored: &'a Stored) -> Self {
        let outputs = outputs(stored);
        let mut members = Self { arrays: Arrays::new(), rows: BTreeMap::new() };
        for (test, result) in passed(stored) {
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
pub(super) fn in_part(members: &Members) -> Option<CampaignNote> {
    let mut kernels = OfKernels::default();
    for tests in members.rows.values() {
        let Some(row) = greatest(tests) else { continue };
        let place = members.in_words(row);
        match row.judged {
            0 => kernels.add(&row.kernel, format!("{place}: no test judges it")),
            judged if judged < row.stored => {
                let stored = row.stored;
                kernels.add(
                    &row.kernel,
                    format!(
                        "{place}: at most {judged} of {stored} stored elements judged by any test"
                    ),
                );
            }
            _ => {}
        }
    }
    let sentence = "Judged outputs of which no single test judges all, at the scale of each element, directly or through what else \
                    is made of them";
    kernels.note(sentence)
}

/// Members that a test with coverage of the kernel changes and does not judge, while another test
/// judges them: what the first one covers alone is not judged there.
pub(super) fn left_to_others(stored: &Stored, members: &Members) -> Option<CampaignNote> {
    let mut kernels = OfKernels::default();
    for tests in members.rows.values() {
        let Some(row) = greatest(tests).filter(|row| row.judged > 0) else { continue };
        let open = tests.iter().filter(|member| member.row.stored > 0 && member.row.judged == 0);
        let covering = open.filter(|member| covers(stored, member.test, &row.kernel));
        let ids: Vec<String> = covering.map(|member| member.test.to_string()).collect();
        if let Some((first, rest)) = ids.split_first() {
            let named = and_more(first, rest.len());
            kernels.add(
                &row.kernel,
                format!("{}: stored and not judged at all by test {named}", members.in_words(row)),
            );
        }
    }
    kernels.note(
        "Outputs that one test judges, and that another one with coverage of the same kernel stores and does not judge",
    )
}

/// Whether the records of a test count for a kernel, in some configuration.
fn covers(stored: &Stored, test: &TestId, kernel: &KernelName) -> bool {
    let of_kernel = stored.kernels.iter().filter(|row| row.kernel == *kernel);
    let mut records = of_kernel.flat_map(|row| row.records.iter().chain(&row.objects.records));
    records.any(|row| row.counted && row.test == *test)
}

/// The row of the test that judges the greatest share of a member.
fn greatest<'a>(tests: &[MemberOfTest<'a>]) -> Option<&'a JudgedMember> {
    let mut rows = tests.iter().map(|member| member.row);
    let first = rows.next()?;
    Some(rows.fold(first, |known, row| if share(row) > share(known) { row } else { known }))
}

/// How much of a member is judged, then how many elements that are, to be compared.
fn share(row: &JudgedMember) -> (u128, u64) {
    ((u128::from(row.judged) << 64) / u128::from(row.stored.max(1)), row.stored)
}

/// What a note says of members, by kernel.
#[derive(Default)]
struct OfKernels {
    kernels: BTreeMap<KernelName, Vec<String>>,
}

impl OfKernels {
    fn add(&mut self, kernel: &KernelName, member: String) {
        self.kernels.entry(*kernel).or_default().push(member);
    }

    fn note(&self, sentence: &str) -> Option<CampaignNote> {
        let named =
            self.kernels.iter().map(|(kernel, members)| format!("{kernel} ({})", listed(members)));
        let sentence = format!("{sentence}: {}.", listed(&named.collect::<Vec<_>>()));
        (!self.kernels.is_empty())
            .then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
    }
}

/// Tests that passed on the sequential engine, with their results there.
fn passed<'a>(stored: &'a Stored) -> impl Iterator<Item = (&'a TestEvidence, &'a TestResult)> {
    stored.campaign.tests.iter().flat_map(|test| {
        let passed = |result: &&TestResult| {
            result.engine == EngineName::Sequential && result.verdict == Verdict::Pass
        };
        test.results.iter().filter(passed).map(move |result| (test, result))
    })
}

/// Expectations beside others, which would let everything pass.
pub(super) fn idle(stored: &Stored) -> Option<CampaignNote> {
    let mut named = Vec::new();
    for (test, result) in passed(stored) {
        for number in &result.idle {
            let buffer =
                test.expected.get(*number as usize).map_or("", |expected| expected.buffer.as_str());
            let (number, all) = (u64::from(*number) + 1, test.expected.len());
            named.push(format!("test {}: expectation {number} of {all} (`{buffer}`)", test.id));
        }
    }
    let sentence = format!(
        "Expectations that none of the alterations tried on what the kernels of their test stored makes fail: {}.",
        listed(&named)
    );
    (!named.is_empty())
        .then_some(CampaignNote { kind: NoteKind::ExpectationJudgesNothing, sentence })
}
