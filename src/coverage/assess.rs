//! From records to obligations: the coverage of one kernel under one configuration by the tests
//! that passed.
//!
//! Knows: structure, layout, presence and the records of passed tests, in order of execution.
//! Promises: every statement, outcome, label, entry and exit point, and condition of every function
//! that the module holds is an obligation, whatever could be measured of it; functions that it does
//! not hold are named in `not_reached`. A decision that cannot be recorded is undetermined with the
//! reason; one that the compiler removed is uncovered ("no code generated"): its place was never
//! executed. A constant decision keeps both outcomes as obligations; what the configuration rules
//! out carries a proposal. Records that contradict what is fixed are trusted in nothing.

mod assessment;
mod calls;
mod combinations;
mod decisions;
mod functions;
mod independence;
mod loops;
mod obligations;
mod points;
mod statement_counts;
mod test_evidence;

use super::criteria;
use super::resolution::Resolution;
use super::subject::CoverageSubject;
use assessment::Assessment;
pub use statement_counts::{
    CountedDispatch, counts_contradiction, statement_counts, unexecuted_statements,
};
use test_evidence::first_contradiction;
use vkcert_model::coverage::KernelCoverage;
use vkcert_model::id::TestId;
use vkcert_model::records::Records;
use vkcert_model::structure::MarkIndex;

/// Assesses one kernel; `tests` are those that passed, in order of execution.
pub fn assess(subject: &CoverageSubject, counted_tests: &[(TestId, &Records)]) -> KernelCoverage {
    let assessment = Assessment::new(subject, counted_tests);
    let mut kernel_coverage = KernelCoverage {
        configuration: subject.configuration.name.clone(),
        statements: assessment.statement_obligations(),
        branches: Vec::new(),
        points: assessment.point_obligations(),
        decisions: assessment.decision_coverages(),
        objects: Vec::new(),
        additional: Vec::new(),
        barriers: Vec::new(),
        functions: Some(assessment.function_obligations()),
        calls: assessment.call_obligations(),
        boundaries: None,
        coupling: None,
        coupling_classes: Vec::new(),
        loops: assessment.loop_obligations(),
        average_statement: None,
        not_reached: assessment.not_reached(),
        summary: Vec::new(),
    };
    kernel_coverage.branches = assessment.branch_obligations(&kernel_coverage.decisions);
    kernel_coverage.summary = criteria::criterion_summaries(&kernel_coverage);
    kernel_coverage
}

/// Records that cannot be, as what the configuration fixes rules them out: sentences that begin
/// with the test. Each is a defect of the tool, the compiler or the device.
pub fn contradictions(
    subject: &CoverageSubject,
    counted_tests: &[(TestId, &Records)],
) -> Vec<String> {
    let resolution = Resolution::new(subject);
    let mut contradicting_records = Vec::new();
    for (test, records) in counted_tests {
        for slot in &subject.layout.decisions {
            let first_contradiction = first_contradiction(
                &resolution,
                subject.structure.decision(slot.decision),
                slot,
                records,
            );
            contradicting_records.extend(
                first_contradiction
                    .map(|sentence| format!("the records of {test} cannot be: {sentence}")),
            );
        }
        for (mark, bit) in subject.layout.marks.iter().enumerate() {
            if records.has(*bit) && !resolution.is_passed(MarkIndex(mark as u32)) {
                contradicting_records.push(format!(
                    "the records of {test} cannot be: mark {mark} is passed, though control cannot come to it"
                ));
            }
        }
    }
    contradicting_records
}
