//! What of the agreement of engines the modules tell: which differences depend on the schedule, and
//! which lie where the test leaves them open.
//!
//! Knows: a test as its project prepares it, and what its runs left and recorded, as stored.
//! Promises: a vector or mark that one engine alone recorded is told to depend on the schedule
//! exactly where its module says so, bytes are left open exactly where a comparison leaves them
//! open, and the outcomes follow. Where all records and outputs are stored, nothing else is told to
//! be left open.
//! Does not cover: permitted values, and which vectors follow undefined values
//! (`derivation::agreement`).

use super::is_of_undefined;
use super::outputs::unexcused_differences;
use crate::agreement::permitted::BoundBlocks;
use crate::kernel::ModuleVariant;
use crate::left_open::LeftOpen;
use crate::test_run::{PreparedTest, TestRun, job_of};
use std::collections::BTreeSet;
use vkcert_derivation::agreement::difference::{RecordDifference, record_differences};
use vkcert_derivation::agreement::{
    Derivation, EngineContents, StoredRows, contents_on_both, findings_of_row,
};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, Evidence, KernelEvidence, TestEvidence};
use vkcert_model::records::Records;
use vkcert_model::verdict::EngineName;

/// Derives the rows of every test that ran on both engines.
pub fn check_agreement(
    stored_evidence: &Evidence,
    prepared_tests: &[PreparedTest],
    runs_by_test: &[Vec<TestRun>],
) -> Derivation {
    let mut derivation = Derivation::default();
    let stored_rows = StoredRows::of(stored_evidence);
    for (test, runs_of_test) in prepared_tests.iter().zip(runs_by_test) {
        let id = &test.test.id;
        let evidence = stored_rows.tests.first(*id);
        let run_on =
            |engine| runs_of_test.iter().find(|run| run.engine == engine && run.verdict.ran());
        let both_runs = run_on(EngineName::Sequential).zip(run_on(EngineName::Vulkan));
        let (Some(evidence), Some((sequential, vulkan)), Ok(plan)) =
            (evidence, both_runs, &test.job_plan)
        else {
            continue;
        };
        let compared_test = ComparedTest {
            stored_rows: &stored_rows,
            evidence,
            left_open: LeftOpen::of_test(test, plan),
            sequential,
            vulkan,
        };
        for agreement_row in stored_rows.agreement.of(*id) {
            compared_test.check_row(agreement_row, &mut derivation);
        }
    }
    derivation
}

/// A test that ran on both engines.
struct ComparedTest<'a> {
    stored_rows: &'a StoredRows<'a>,
    evidence: &'a TestEvidence,
    left_open: LeftOpen<'a>,
    sequential: &'a TestRun,
    vulkan: &'a TestRun,
}

/// What a row may say to be left open.
struct ToldLines {
    /// Whole sentences, and beginnings of sentences.
    lines: Vec<String>,
    beginnings: Vec<String>,
    /// Whether there can be no others.
    complete: bool,
}

impl ComparedTest<'_> {
    fn check_row(&self, agreement_row: &Agreement, derivation: &mut Derivation) {
        let label = format!("agreement of {} on {}", agreement_row.kernel, agreement_row.test);
        let mut told = ToldLines { lines: Vec::new(), beginnings: Vec::new(), complete: true };
        self.check_outputs(agreement_row, &label, &mut told, derivation);
        self.check_coverage(agreement_row, &label, &mut told, derivation);
        for line in &told.lines {
            // Two configurations of a kernel may have the same vector.
            let count_lines =
                |lines: &[String]| lines.iter().filter(|other| *other == line).count();
            let (due, stored) = (count_lines(&told.lines), count_lines(&agreement_row.left_open));
            let is_right = if told.complete { due == stored } else { due <= stored };
            derivation.check(is_right, || {
                format!("{label}: told {stored} times instead of {due}: {line}")
            });
        }
        let follows = |line: &String| {
            told.lines.contains(line)
                || told.beginnings.iter().any(|beginning| line.starts_with(beginning))
        };
        for line in agreement_row.left_open.iter().filter(|_| told.complete) {
            derivation.check(follows(line), || {
                format!("{label}: told, and does not follow from the module: {line}")
            });
        }
    }

    /// Outputs that differ, and where these may.
    fn check_outputs(
        &self,
        agreement_row: &Agreement,
        label: &str,
        told_lines: &mut ToldLines,
        derivation: &mut Derivation,
    ) {
        let (ours, theirs) = (&self.sequential.outputs, &self.vulkan.outputs);
        let Some(job) = job_of(self.left_open.prepared_test, ModuleVariant::Production) else {
            return;
        };
        for buffer in &job.buffers {
            if let Some(EngineContents::OtherHash) = contents_on_both(self.evidence, &buffer.name) {
                told_lines.complete = false;
                let name = &buffer.name;
                derivation.not_derivable.push(format!(
                    "{label}: whether what differs in buffer {name} may differ; it is stored as a hash alone"
                ));
            }
        }
        let are_same =
            job.buffers.iter().all(|buffer| ours.get(&buffer.name) == theirs.get(&buffer.name));
        if !told_lines.complete || are_same || ours.is_empty() || theirs.is_empty() {
            return;
        }
        let left = unexcused_differences(
            &self.left_open,
            &BoundBlocks::of_job(&job),
            &job,
            self.sequential,
            self.vulkan,
        );
        told_lines.lines.extend(left.left_open);
        let right = match (left.differences.is_empty(), left.within_tolerance) {
            (true, true) => agreement_row.outputs == AgreementOutcome::WithinTolerance,
            (true, false) => agreement_row.outputs == AgreementOutcome::LeftOpen,
            (false, _) => matches!(
                agreement_row.outputs,
                AgreementOutcome::WithinErrorBounds | AgreementOutcome::Different
            ),
        };
        derivation.check(right, || {
            let count = left.differences.len();
            format!(
                "{label}: outputs told as {}, of which {count} elements differ that the test does not leave open",
                agreement_row.outputs
            )
        });
    }

    /// Vectors and marks that one engine alone recorded, and which of them depend on the schedule.
    fn check_coverage(
        &self,
        agreement_row: &Agreement,
        label: &str,
        told_lines: &mut ToldLines,
        derivation: &mut Derivation,
    ) {
        let kernels = &self.left_open.prepared_test.kernels;
        let Some(kernel) =
            kernels.iter().find(|kernel| kernel.name == agreement_row.kernel.as_str())
        else {
            return;
        };
        let (mut derived_outcome, mut all_stored) = (None, true);
        for of in
            self.left_open.job_plan.modules.iter().filter(|of| of.kernel == agreement_row.kernel)
        {
            let known = kernel
                .configurations
                .iter()
                .find(|known| known.specialization == of.specialization);
            let Some(known) = known else {
                // Of a specialization that is no configuration no records are stored.
                all_stored = false;
                continue;
            };
            let of_engine =
                |engine| self.stored_records(agreement_row, &known.configuration.name, engine);
            let (Some((evidence, ours)), Some((_, theirs))) =
                (of_engine(EngineName::Sequential), of_engine(EngineName::Vulkan))
            else {
                continue;
            };
            let differences = record_differences(&evidence.layout, [ours, theirs]);
            let scheduled = self.left_open.bits_by_schedule(kernel, &of.specialization);
            let outcome = self.check_differences(
                (agreement_row, label),
                evidence,
                (&differences, scheduled),
                told_lines,
                derivation,
            );
            derived_outcome = derived_outcome.max(Some(outcome));
        }
        told_lines.complete &= all_stored;
        let (is_right, least_outcome) = match derived_outcome {
            _ if all_stored => {
                let derived_outcome = derived_outcome.unwrap_or(AgreementOutcome::NotCompared);
                (agreement_row.coverage == derived_outcome, derived_outcome)
            }
            Some(least_outcome) => (agreement_row.coverage >= least_outcome, least_outcome),
            None => return,
        };
        derivation.check(is_right, || {
            format!("{label}: stored coverage {}, derived {least_outcome}", agreement_row.coverage)
        });
    }

    /// The stored records of a configuration of the row's kernel, in this test.
    fn stored_records(
        &self,
        agreement_row: &Agreement,
        configuration: &str,
        engine_name: EngineName,
    ) -> Option<(&KernelEvidence, &Records)> {
        let mut kernels = self.stored_rows.kernels.iter();
        let stored_kernel = kernels.find(|stored_kernel| {
            let kernel_row = stored_kernel.kernel;
            kernel_row.kernel == agreement_row.kernel
                && kernel_row.engine == engine_name
                && kernel_row.configuration.name == configuration
        })?;
        Some((stored_kernel.kernel, stored_kernel.records_of(agreement_row.test)?))
    }

    /// What the differences of one module come to, each as the row tells it.
    fn check_differences(
        &self,
        (agreement_row, label): (&Agreement, &str),
        kernel: &KernelEvidence,
        (record_differences, scheduled): (&[RecordDifference], Option<&BTreeSet<u32>>),
        told_lines: &mut ToldLines,
        derivation: &mut Derivation,
    ) -> AgreementOutcome {
        let findings = findings_of_row(&self.stored_rows.findings, agreement_row);
        let mut outcome = AgreementOutcome::Identical;
        for difference in record_differences {
            let words = difference.words(&kernel.structure, kernel.kernel.as_str());
            let has_finding = findings.iter().any(|finding| difference.is_told_by(finding));
            let of_difference = if scheduled.is_some_and(|bits| bits.contains(&difference.bit())) {
                told_lines.lines.push(format!("{words}: it depends on the schedule"));
                derivation.check(!has_finding, || {
                    format!(
                        "{label}: {words}: a finding, and by its module it depends on the schedule"
                    )
                });
                AgreementOutcome::ScheduleDependent
            } else if has_finding {
                AgreementOutcome::Different
            } else {
                if self.sequential.findings.iter().any(is_of_undefined) {
                    told_lines.beginnings.push(format!("{words}: it follows "));
                }
                AgreementOutcome::UndefinedValue
            };
            outcome = outcome.max(of_difference);
        }
        outcome
    }
}
