//! Metrics: measures that stand beside the criteria of structural coverage.
//!
//! Promises: a metric is exact (numbers of invocations, no rounded share) and says by name what is
//! not measured.
//! Does not cover: obligations, gaps, verdicts and objectives: no metric is a condition of any.

use super::id::{StatementId, TestId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Names of metrics, as project files have them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MetricName {
    /// The share of invocations that executed a statement, averaged over the statements.
    AverageStatement,
}

impl fmt::Display for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            MetricName::AverageStatement => "average-statement",
        })
    }
}

/// How many invocations of one kernel in one test executed each statement: a fact, which stands
/// beside the records of the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatementCounts {
    /// They were counted.
    Counted {
        /// Invocations of all dispatches of the kernel in the test, in the ordinary schedule.
        dispatched: u64,
        /// Those of them that executed the statement at least once; without the statements of
        /// which that is not known of every invocation.
        executed: BTreeMap<StatementId, u64>,
    },
    /// They were not, for this reason.
    NotMeasured(String),
}

/// Average statement coverage of one kernel under one configuration on one engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AverageStatementCoverage {
    /// A row per test that counts, in order of execution.
    pub tests: Vec<TestAverage>,
    /// A row per statement, in source order, over the tests of which all is measured.
    pub statements: Vec<StatementInvocations>,
    /// Over all tests that count; none where one of them is not measured, or there is nothing to
    /// measure.
    pub average: Option<InvocationShare>,
    /// Why there is no average over all tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
}

/// The average of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestAverage {
    /// The test.
    pub test: TestId,
    /// The average; none where it is not measured.
    pub average: Option<InvocationShare>,
    /// Why it is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
}

/// How many invocations executed a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementInvocations {
    /// The statement.
    pub statement: StatementId,
    /// Invocations that executed it, in all measured tests together.
    pub executed: u64,
    /// Tests in which that is not known of every invocation: there it counts as executed by none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_in: Vec<TestId>,
}

/// An average over statements as an exact fraction: the sum, over all statements, of the
/// invocations that executed it, of statements times invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationShare {
    /// Statements that the kernel has, whatever could be measured of them.
    pub statements: u64,
    /// Invocations that were dispatched.
    pub dispatched: u64,
    /// Numerator: pairs of a statement and an invocation that executed it.
    pub numerator: u64,
    /// Denominator: `statements` times `dispatched`; not reduced.
    pub denominator: u64,
    /// Statements that count as executed by none for want of records; while there are any, the
    /// average is at least this.
    pub unknown: u64,
}
