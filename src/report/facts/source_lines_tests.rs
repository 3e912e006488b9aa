use super::*;
use crate::facts::{criterion_summary, kernel_units, on_engines};
use std::collections::BTreeSet;
use vkcert_model::criterion::StoredCriterion;
use vkcert_sample as sample;

fn sides_of(evidence: &Evidence, unit: usize) -> Vec<&KernelEvidence> {
    let unit = kernel_units(evidence)[unit];
    on_engines(evidence, &unit).into_iter().map(|(_, side)| side).collect()
}

/// Every identifier of a kernel's source obligations, and of conditions.
fn expected_ids(side: &KernelEvidence) -> BTreeSet<String> {
    let coverage = &side.coverage;
    let outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let simple_items = coverage.statements.iter().chain(&coverage.branches);
    let simple_items = simple_items.chain(&coverage.points).chain(outcomes);
    let conditions = coverage.decisions.iter().flat_map(|decision| &decision.conditions);
    let simple_ids = simple_items.map(|item| item.id.to_string());
    simple_ids.chain(conditions.map(|condition| condition.id.to_string())).collect()
}

#[test]
fn every_obligation_stands_on_one_line() {
    let evidence = sample::evidence();
    for unit in 0..kernel_units(&evidence).len() {
        let sides = sides_of(&evidence, unit);
        let source_lines = source_lines(&evidence, &sides);
        let listed = source_lines.lines.values().flat_map(|line| &line.obligations);
        let listed: Vec<String> =
            listed.chain(&source_lines.without_line).map(|item| item.id.clone()).collect();
        let once: BTreeSet<String> = listed.iter().cloned().collect();
        assert_eq!(once.len(), listed.len());
        assert!(!listed.is_empty());
        assert_eq!(once, expected_ids(sides[0]));
    }
}

#[test]
fn sums_over_the_lines_are_the_shares_of_the_summary() {
    let evidence = sample::evidence();
    for unit in 0..kernel_units(&evidence).len() {
        for side in sides_of(&evidence, unit) {
            let source_lines = source_lines(&evidence, &[side]);
            assert!(source_lines.without_line.is_empty());
            let counted_criteria =
                [CriterionName::Statement, CriterionName::Branch, CriterionName::Decision];
            for criterion in counted_criteria.into_iter().chain(source_lines.mcdc) {
                let stored = StoredCriterion::from(criterion);
                let summary = criterion_summary(&side.coverage, &stored).unwrap();
                let counted = (summary.covered as usize, summary.total as usize);
                assert_eq!(source_lines.counted(criterion), counted, "{} {criterion}", side.kernel);
            }
        }
    }
}

#[test]
fn a_line_is_covered_only_where_it_is_on_every_engine() {
    let mut evidence = sample::evidence();
    let covered = evidence.kernels[0].coverage.statements[0].clone();
    assert_eq!(covered.status, Status::Covered);
    let twin = evidence.kernels.iter().skip(1).position(|row| {
        row.kernel == evidence.kernels[0].kernel
            && row.configuration.name == evidence.kernels[0].configuration.name
    });
    let twin = twin.unwrap() + 1;
    let status_of = |evidence: &Evidence| {
        let source_lines = source_lines(evidence, &sides_of(evidence, 0));
        let mut listed = source_lines.lines.into_values().flat_map(|line| line.obligations);
        listed.find(|item| item.id == covered.id.as_str()).unwrap().status
    };
    assert_eq!(status_of(&evidence), Status::Covered);
    for status in [Status::Uncovered, Status::Undetermined, Status::Justified] {
        evidence.kernels[twin].coverage.statements[0].status = status;
        assert_eq!(status_of(&evidence), status);
    }
    evidence.kernels[twin].coverage.statements.remove(0);
    assert_eq!(status_of(&evidence), Status::Undetermined);
}

#[test]
fn a_test_that_counts_on_one_engine_only_is_told_apart() {
    let merged = merged_tests(vec![(1, 1), (0, 0), (1, 0), (0, 0)], 2);
    assert_eq!(merged, [(0, false), (1, true)]);
}

#[test]
fn a_place_outside_the_text_is_not_dropped() {
    let mut evidence = sample::evidence();
    evidence.kernels[0].coverage.statements[0].line = 0;
    evidence.kernels[0].coverage.statements[1].line = 5_000_000;
    evidence.kernels[0].coverage.statements[2].file = "other.glsl".to_owned();
    let source_lines = source_lines(&evidence, &[&evidence.kernels[0]]);
    let without_line: Vec<&str> =
        source_lines.without_line.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(without_line, ["S1", "S2", "S3"]);
}
