//! The agreement of engines, derived again from stored outputs and records.
//!
//! Knows: evidence alone. Promises: whether outputs and vectors differ, which listed elements hold
//! what, and that the outcome follows; a disagreement has its finding. Does not cover: the
//! permitted values themselves, which come from runs of the sequential engine. Rows of older
//! evidence, without bounds, are held to what they say.

mod coverage;
pub mod difference;
mod elements;
mod outputs;
mod stored_rows;
#[cfg(test)]
mod tests;
mod tolerated;

pub use coverage::findings_of_row;
pub use outputs::{EngineContents, contents_on_both, tells_of_undefined};
pub use stored_rows::StoredRows;

use coverage::check_coverage;
use outputs::check_outputs;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::Evidence;
use vkcert_model::finding::FindingKind;
use vkcert_model::verdict::EngineName;

/// What follows from the stored outputs and records.
#[derive(Debug, Default)]
pub struct Derivation {
    /// Statements that were derived again.
    pub checked: u64,
    /// What does not follow, one sentence each.
    pub problems: Vec<String>,
    /// What cannot be derived again, and why.
    pub not_derivable: Vec<String>,
    /// What the modules tell (`campaign::agreement::derived`): not derivable without them.
    pub of_modules: Vec<String>,
}

impl Derivation {
    /// Counts a statement, and adds the problem where it does not hold.
    pub fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.problems.push(problem());
        }
    }
}

/// Derives every row of the comparison again.
pub fn derive_agreement(stored: &Evidence) -> Derivation {
    let mut derivation = Derivation::default();
    let stored_rows = StoredRows::of(stored);
    for agreement_row in &stored.campaign.agreement {
        let label = format!("agreement of {} on {}", agreement_row.kernel, agreement_row.test);
        if let Some(test) = stored_rows.tests.first(agreement_row.test) {
            check_outputs(test, agreement_row, &label, &mut derivation);
        } else {
            derivation.problems.push(format!("{label}: there is no such test"));
        }
        check_coverage(&stored_rows, agreement_row, &label, &mut derivation);
        let differs = agreement_row.outputs == AgreementOutcome::Different
            || agreement_row.coverage == AgreementOutcome::Different;
        let mut findings = stored_rows.findings.of(agreement_row.test).iter();
        let has_finding =
            findings.any(|finding_row| finding_row.finding.kind == FindingKind::EngineDisagreement);
        derivation
            .check(!differs || has_finding, || format!("{label}: a difference without a finding"));
    }
    check_all_compared(&stored_rows, &mut derivation);
    derivation
}

/// Every test that came to its end on both engines is compared, with each of its kernels, once.
fn check_all_compared(stored_rows: &StoredRows, derivation: &mut Derivation) {
    for test in &stored_rows.evidence.campaign.tests {
        let completed_on = |engine| {
            let mut results = test.results.iter().filter(|result| result.engine == engine);
            results.any(|result| result.verdict.completed())
        };
        let rows_due =
            u32::from(completed_on(EngineName::Sequential) && completed_on(EngineName::Vulkan));
        for kernel in &test.kernels {
            let rows_of_test = stored_rows.agreement.of(test.id).iter();
            let rows = rows_of_test.filter(|row| row.kernel == *kernel);
            let rows = rows.count() as u32;
            derivation.check(rows == 1 || rows == 0 && rows_due == 0, || {
                format!(
                    "agreement of {kernel} on {}: {rows} rows where both engines ended",
                    test.id
                )
            });
        }
    }
}
