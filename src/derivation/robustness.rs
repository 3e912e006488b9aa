//! Which tests count as robustness tests.
//!
//! Knows: the tests of a campaign as their files define them. Promises: a test that repeats a
//! normal one under another name is none, whatever its kind says.
//! Does not cover: whether its inputs are abnormal; that is for the review of test cases.

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{Campaign, TestEvidence};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::procedure::{Test, TestKind};

/// The tests of robustness that do something which no normal test does. Tests can be many: normal
/// ones are looked up by the kernels that they dispatch.
pub fn robustness_tests(campaign: &Campaign) -> BTreeSet<TestId> {
    let mut normal_tests: BTreeMap<&[KernelName], Vec<&Test>> = BTreeMap::new();
    let mut candidates = Vec::new();
    for test in &campaign.tests {
        match test.definition.kind {
            TestKind::Normal => {
                normal_tests.entry(&test.kernels).or_default().push(&test.definition);
            }
            TestKind::Robustness => candidates.push(test),
        }
    }
    let repeats_a_normal_test = |test: &TestEvidence| {
        let of_same_kernels = normal_tests.get(test.kernels.as_slice()).into_iter().flatten();
        of_same_kernels.into_iter().any(|normal| does_the_same(normal, &test.definition))
    };
    candidates.retain(|test| !repeats_a_normal_test(test));
    candidates.into_iter().map(|test| test.id).collect()
}

/// Whether two tests dispatch and expect the same, whatever they are called and verify.
fn does_the_same(test: &Test, other: &Test) -> bool {
    if test.dispatches != other.dispatches || test.expect != other.expect {
        return false;
    }
    let renamed = Test {
        id: test.id,
        title: test.title.clone(),
        requirements: test.requirements.clone(),
        kind: test.kind,
        author: test.author.clone(),
        reviewer: test.reviewer.clone(),
        ..other.clone()
    };
    renamed == *test
}
