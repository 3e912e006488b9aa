//! Counts of invocations per statement that no run of the tests could have left.

use crate::honest::{Forgery, assert_told, honest_at_level, verified};
use std::collections::BTreeMap;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::StatementId;
use vkcert_model::metric::{InvocationShare, StatementCounts};

const SETTINGS: &str = "level = \"C\"\nmetrics = [\"average-statement\"]";

/// Of four invocations; `S3` stands under the decision.
fn counts(of_guarded: u64) -> StatementCounts {
    let executed = [4, 4, of_guarded, 4].into_iter().zip(1..);
    let executed = executed.map(|(count, number)| (StatementId(number), count)).collect();
    StatementCounts::Counted { dispatched: 4, executed }
}

/// Evidence of two tests with counts.
fn counted() -> Evidence {
    honest_at_level(SETTINGS, |facts| {
        // The second test does not enter what the decision guards.
        facts.kernels[0].records[0].records.statement_counts = Some(counts(2));
        facts.kernels[0].records[1].records.statement_counts = Some(counts(0));
    })
}

/// Gives a statement of the first test another count, or none.
fn set_count(evidence: &mut Evidence, statement: u32, count: Option<u64>) {
    let (_, executed) = counted_parts(evidence);
    match count {
        Some(count) => executed.insert(StatementId(statement), count),
        None => executed.remove(&StatementId(statement)),
    };
}

/// What the first test's counts hold: invocations, and those that executed each statement.
fn counted_parts(evidence: &mut Evidence) -> (&mut u64, &mut BTreeMap<StatementId, u64>) {
    match &mut evidence.kernels[0].records[0].records.statement_counts {
        Some(StatementCounts::Counted { dispatched, executed }) => (dispatched, executed),
        other => panic!("no counts: {other:?}"),
    }
}

#[test]
fn averages_follow_from_counts() {
    let evidence = counted();
    assert_eq!(verified(&evidence).problems, Vec::<String>::new());
    let of_engines = [0, 1].map(|index| {
        let coverage = &evidence.kernels[index].coverage;
        coverage.average_statement.as_ref().and_then(|average| average.average)
    });
    let share = InvocationShare {
        statements: 4,
        dispatched: 8,
        numerator: 26,
        denominator: 32,
        unknown: 0,
    };
    assert_eq!(of_engines, [Some(share), None]);
}

#[test]
fn a_statement_without_a_count_makes_the_average_a_least_one() {
    let mut evidence = counted();
    set_count(&mut evidence, 3, None);
    crate::honest::conclude(&mut evidence);
    assert_eq!(verified(&evidence).problems, Vec::<String>::new());
    let average = evidence.kernels[0].coverage.average_statement.as_ref().unwrap();
    let share = average.average.unwrap();
    assert_eq!((share.numerator, share.denominator, share.unknown), (24, 32, 1));
    assert_eq!(average.statements[2].unknown_in.len(), 1);
}

#[test]
fn counts_that_records_or_dispatches_contradict_are_told() {
    const OTHER_INVOCATIONS: &str =
        "guard on sequential: records of T1: counts of other invocations than the test dispatches";
    const PRESENCE: &str =
        "guard on sequential: records of T1: whether invocations were counted per statement";
    assert_told(
        &counted(),
        &[
            Forgery::new(
                "nobody",
                |forged| set_count(forged, 3, Some(0)),
                "guard on sequential: records of T1: no invocation executed S3, which the records show",
            ),
            Forgery::new(
                "more than there are",
                |forged| set_count(forged, 3, Some(5)),
                "guard on sequential: records of T1: S3 is executed by 5 invocations of 4 that were dispatched",
            ),
            Forgery::new(
                "a statement that there is not",
                |forged| set_count(forged, 9, Some(1)),
                "guard on sequential: records of T1: S9 is no statement of the kernel",
            ),
            Forgery::new(
                "more invocations",
                |forged| *counted_parts(forged).0 = 5,
                OTHER_INVOCATIONS,
            ),
            Forgery::new(
                "no counts",
                |forged| forged.kernels[0].records[0].records.statement_counts = None,
                PRESENCE,
            ),
            Forgery::new(
                "counts of a device",
                |forged| {
                    forged.kernels[1].records[0].records.statement_counts = Some(counts(2));
                },
                "guard on vulkan: records of T1: whether invocations were counted per statement",
            ),
            Forgery::new(
                "counts of object code",
                |forged| {
                    forged.kernels[0].objects.records[0].records.statement_counts = Some(counts(2));
                },
                "guard on sequential: records of T1: counts of statements beside records of object code",
            ),
            Forgery::new(
                "an average",
                |forged| {
                    let average = forged.kernels[0].coverage.average_statement.as_mut().unwrap();
                    average.average.as_mut().unwrap().numerator += 1;
                },
                "guard on sequential: average statement coverage",
            ),
            Forgery::new(
                "another metric in the identity",
                |forged| forged.campaign.project.metrics.clear(),
                "the identity of the project does not follow from its settings",
            ),
        ],
    );
}
