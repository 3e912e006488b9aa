//! Average statement coverage: the share of invocations that executed a statement, averaged over
//! the statements.
//!
//! Knows: how many invocations of each test executed each statement. The measure is that of Liu,
//! "Testing and Mutation Testing for GPU Kernels", 5.2, with statements for lines of code.
//! Promises: exact fractions; a statement or test that is not measured is named and adds nothing.
//! Does not cover: verdicts and obligations, which depend on no average.

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::SimpleObligation;
use vkcert_model::id::{StatementId, TestId};
use vkcert_model::metric::{
    AverageStatementCoverage, InvocationShare, StatementCounts, StatementInvocations, TestAverage,
};

/// Why a test or kernel is not measured.
type NotMeasured = String;

/// Averages of a kernel with these statements by the tests that count, in order of execution.
pub fn average_statement(
    statements: &[SimpleObligation],
    counted_tests: &[(TestId, Result<&StatementCounts, NotMeasured>)],
) -> AverageStatementCoverage {
    let statement_ids: Vec<StatementId> =
        statements.iter().filter_map(|statement| statement.id.as_str().parse().ok()).collect();
    let measured_tests: Vec<MeasuredTest> =
        counted_tests.iter().map(|(test, counts)| MeasuredTest::of_counts(*test, counts)).collect();
    let tests: Vec<TestAverage> =
        measured_tests.iter().map(|test| test.average(&statement_ids)).collect();
    let statements: Vec<StatementInvocations> =
        statement_ids.iter().map(|id| statement_row(*id, &measured_tests)).collect();
    let (average, not_measured) = match united_average(&tests, &statements) {
        Ok(average) => (Some(average), None),
        Err(reason) => (None, Some(reason)),
    };
    AverageStatementCoverage { tests, statements, average, not_measured }
}

/// A test with its counts, or why there are none.
struct MeasuredTest<'a> {
    test: TestId,
    counts: Result<(u64, &'a BTreeMap<StatementId, u64>), NotMeasured>,
}

impl<'a> MeasuredTest<'a> {
    fn of_counts(test: TestId, counts: &Result<&'a StatementCounts, NotMeasured>) -> Self {
        let counts = match counts {
            Ok(StatementCounts::Counted { dispatched, executed }) => Ok((*dispatched, executed)),
            Ok(StatementCounts::NotMeasured(reason)) | Err(reason) => Err(reason.clone()),
        };
        Self { test, counts }
    }

    fn average(&self, statement_ids: &[StatementId]) -> TestAverage {
        let average = self.counts.clone().and_then(|(dispatched, executed)| {
            let counts = statement_ids.iter().filter_map(|id| executed.get(id));
            let unknown_count =
                statement_ids.iter().filter(|id| !executed.contains_key(id)).count();
            share_of(
                (statement_ids.len() as u64, dispatched),
                counts.copied(),
                unknown_count as u64,
            )
        });
        let (average, not_measured) = match average {
            Ok(average) => (Some(average), None),
            Err(reason) => (None, Some(reason)),
        };
        TestAverage { test: self.test, average, not_measured }
    }
}

fn share_of(
    (statements, dispatched): (u64, u64),
    mut numerators: impl Iterator<Item = u64>,
    unknown: u64,
) -> Result<InvocationShare, NotMeasured> {
    let numerator = numerators.try_fold(0u64, u64::checked_add);
    match (numerator, statements.checked_mul(dispatched)) {
        (_, Some(0)) => Err("the kernel has no statement that is measured".to_owned()),
        (Some(numerator), Some(denominator)) => {
            Ok(InvocationShare { statements, dispatched, numerator, denominator, unknown })
        }
        (None, _) | (_, None) => Err("its numbers do not fit in 64 bits".to_owned()),
    }
}

fn statement_row(statement: StatementId, measured_tests: &[MeasuredTest]) -> StatementInvocations {
    let mut row = StatementInvocations { statement, executed: 0, unknown_in: Vec::new() };
    for MeasuredTest { test, counts } in measured_tests {
        let Ok((_, executed)) = counts else { continue };
        match executed.get(&statement) {
            Some(count) => row.executed = row.executed.saturating_add(*count),
            None => row.unknown_in.push(*test),
        }
    }
    row
}

/// The average over all tests: every invocation weighs the same, whichever test it is of.
fn united_average(
    tests: &[TestAverage],
    statements: &[StatementInvocations],
) -> Result<InvocationShare, NotMeasured> {
    if tests.is_empty() {
        return Err("no test counts".to_owned());
    }
    let reasons: BTreeSet<&String> =
        tests.iter().filter_map(|test| test.not_measured.as_ref()).collect();
    if let Some(reason) = reasons.first() {
        let unmeasured_count = tests.iter().filter(|test| test.average.is_none()).count();
        return Err(match (unmeasured_count == tests.len(), reasons.len()) {
            (true, 1) => (*reason).clone(),
            _ => format!("{unmeasured_count} of {} tests are not measured", tests.len()),
        });
    }
    let shares = tests.iter().filter_map(|test| test.average);
    let dispatched = shares.clone().try_fold(0u64, |sum, share| sum.checked_add(share.dispatched));
    let dispatched = dispatched.ok_or_else(|| "its numbers do not fit in 64 bits".to_owned())?;
    let unknown_count = statements.iter().filter(|row| !row.unknown_in.is_empty()).count();
    share_of(
        (statements.len() as u64, dispatched),
        shares.map(|share| share.numerator),
        unknown_count as u64,
    )
}
