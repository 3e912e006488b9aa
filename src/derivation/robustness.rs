//! Which tests count as robustness tests.
//!
//! Knows: the tests of a campaign as their files define them. Promises: a test that repeats a
//! normal one under another name is none, whatever its kind says.
//! Does not cover: whether its inputs are abnormal; that is for the review of test cases.

use vkcert_model::evidence::{Campaign, TestEvidence};
use vkcert_model::procedure::{Test, TestKind};

/// Whether a test is of robustness and does anything that no normal test does.
pub fn is_robustness_test(test: &TestEvidence, campaign: &Campaign) -> bool {
    let normal_tests = campaign.tests.iter().filter(|other| match other.definition.kind {
        TestKind::Normal => true,
        TestKind::Robustness => false,
    });
    match test.definition.kind {
        TestKind::Normal => false,
        TestKind::Robustness => {
            let mut normal_tests = normal_tests.filter(|other| other.kernels == test.kernels);
            !normal_tests.any(|other| does_the_same(&other.definition, &test.definition))
        }
    }
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
