//! What evidence stores of the tests of a campaign, by test.
//!
//! Knows: tests, rows of agreement, findings and records. Promises: rows are those of the evidence, in
//! its order. Does not cover: what they say.

use vkcert_model::evidence::{
    Agreement, Evidence, KernelEvidence, KernelFinding, RowsByTest, TestEvidence, TestRecords,
};
use vkcert_model::id::TestId;
use vkcert_model::records::Records;

/// Rows of a campaign by test.
pub struct StoredRows<'e> {
    /// The evidence that the rows are of.
    pub evidence: &'e Evidence,
    /// Tests.
    pub tests: RowsByTest<'e, TestEvidence>,
    /// What was told of the agreement of engines.
    pub agreement: RowsByTest<'e, Agreement>,
    /// Findings of kernels that a test showed.
    pub findings: RowsByTest<'e, KernelFinding>,
    /// Each kernel under one configuration on one engine, with what it recorded.
    pub kernels: Vec<StoredKernel<'e>>,
}

/// A kernel under one configuration on one engine.
pub struct StoredKernel<'e> {
    /// The kernel.
    pub kernel: &'e KernelEvidence,
    records: RowsByTest<'e, TestRecords>,
}

impl<'e> StoredRows<'e> {
    /// Looks at every row once.
    pub fn of(evidence: &'e Evidence) -> Self {
        let Evidence { campaign, kernels, mutations: _, inputs: _, manifest: _ } = evidence;
        let with_records = |kernel| StoredKernel { kernel, records: RowsByTest::of_kernel(kernel) };
        Self {
            evidence,
            tests: RowsByTest::of_tests(&campaign.tests),
            agreement: RowsByTest::new(&campaign.agreement, |row| Some(row.test)),
            findings: RowsByTest::new(&campaign.findings, |row| row.test),
            kernels: kernels.iter().map(with_records).collect(),
        }
    }
}

impl<'e> StoredKernel<'e> {
    /// What a test recorded of the kernel.
    pub fn records_of(&self, test: TestId) -> Option<&'e Records> {
        self.records.first(test).map(|row| &row.records)
    }
}
