//! Records of reviews of tests: of their procedures and of their results (DO-178C 6.4.5).

use crate::id::TestId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A `[[review]]` with the key `of`: the review of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestReview {
    /// What of the tests was reviewed.
    pub of: ReviewedThing,
    /// The tests that were reviewed; at least one.
    pub tests: Vec<ReviewedTest>,
    /// The document that holds the review.
    pub document: String,
    /// Where in the document.
    pub section: String,
    /// When it was reviewed, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// `sha256:` hash of the document's file; it is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_hash: Option<String>,
    /// Who reviewed; at level A another person than the author of each test.
    pub reviewer: String,
}

/// What of a test was reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewedThing {
    /// That the test is correct (DO-178C 6.4.5.b).
    Procedures,
    /// That its results are correct and discrepancies explained (DO-178C 6.4.5.c).
    Results,
}

impl std::fmt::Display for ReviewedThing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            ReviewedThing::Procedures => "procedures",
            ReviewedThing::Results => "results",
        })
    }
}

/// A test as it was reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewedTest {
    /// The test.
    pub id: TestId,
    /// `sha256:` hash of what was reviewed, the test or its results; another content makes the review of it stale.
    pub hash: String,
}
