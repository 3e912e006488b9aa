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
use super::outputs::unexcused;
use crate::agreement::permitted::Blocks;
use crate::kernel::Variant;
use crate::left_open::LeftOpen;
use crate::test_run::{PreparedTest, TestRun, job_of};
use std::collections::BTreeSet;
use vkcert_derivation::agreement::difference::{RecordDifference, differing};
use vkcert_derivation::agreement::{Contents, Derivation, contents, findings_of};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, Evidence, KernelEvidence, TestEvidence};
use vkcert_model::records::Records;
use vkcert_model::verdict::EngineName;

/// Derives the rows of every test that ran on both engines.
pub fn derive(stored: &Evidence, prepared: &[PreparedTest], runs: &[Vec<TestRun>]) -> Derivation {
    let mut derivation = Derivation::default();
    for (test, row) in prepared.iter().zip(runs) {
        let id = &test.test.id;
        let evidence = stored.campaign.tests.iter().find(|known| known.id == *id);
        let ran = |engine| row.iter().find(|run| run.engine == engine && run.verdict.ran());
        let both = ran(EngineName::Sequential).zip(ran(EngineName::Vulkan));
        let (Some(evidence), Some((sequential, vulkan)), Ok(plan)) = (evidence, both, &test.plan)
        else {
            continue;
        };
        let compared =
            ComparedTest { stored, evidence, open: LeftOpen::of(test, plan), sequential, vulkan };
        for row in stored.campaign.agreement.iter().filter(|row| row.test == *id) {
            compared.row(row, &mut derivation);
        }
    }
    derivation
}

/// A test that ran on both engines.
struct ComparedTest<'a> {
    stored: &'a Evidence,
    evidence: &'a TestEvidence,
    open: LeftOpen<'a>,
    sequential: &'a TestRun,
    vulkan: &'a TestRun,
}

/// What a row may say to be left open.
struct Told {
    /// Whole sentences, and beginnings of sentences.
    lines: Vec<String>,
    beginnings: Vec<String>,
    /// Whether there can be no others.
    complete: bool,
}

impl ComparedTest<'_> {
    fn row(&self, row: &Agreement, derivation: &mut Derivation) {
        let label = format!("agreement of {} on {}", row.kernel, row.test);
        let mut told = Told { lines: Vec::new(), beginnings: Vec::new(), complete: true };
        self.outputs(row, &label, &mut told, derivation);
        self.coverage(row, &label, &mut told, derivation);
        for line in &told.lines {
            // Two configurations of a kernel may have the same vector.
            let count = |lines: &[String]| lines.iter().filter(|other| *other == line).count();
            let (due, stored) = (count(&told.lines), count(&row.left_open));
            let right = if told.complete { due == stored } else { due <= stored };
            derivation
                .check(right, || format!("{label}: told {stored} times instead of {due}: {line}"));
        }
        let follows = |line: &String| {
            told.lines.contains(line)
                || told.beginnings.iter().any(|beginning| line.starts_with(beginning))
        };
        for line in row.left_open.iter().filter(|_| told.complete) {
            derivation.check(follows(line), || {
                format!("{label}: told, and does not follow from the module: {line}")
            });
        }
    }

    /// Outputs that differ, and where these may.
    fn outputs(&self, row: &Agreement, label: &str, told: &mut Told, derivation: &mut Derivation) {
        let (ours, theirs) = (&self.sequential.outputs, &self.vulkan.outputs);
        let Some(job) = job_of(self.open.prepared, Variant::Production) else { return };
        for buffer in &job.buffers {
            if let Some(Contents::OtherHash) = contents(self.evidence, &buffer.name) {
                told.complete = false;
                let name = &buffer.name;
                derivation.not_derivable.push(format!(
                    "{label}: whether what differs in buffer {name} may differ; it is stored as a hash alone"
                ));
            }
        }
        let same =
            job.buffers.iter().all(|buffer| ours.get(&buffer.name) == theirs.get(&buffer.name));
        if !told.complete || same || ours.is_empty() || theirs.is_empty() {
            return;
        }
        let left = unexcused(&self.open, &Blocks::of(&job), &job, self.sequential, self.vulkan);
        told.lines.extend(left.left_open);
        let right = match (left.differences.is_empty(), left.within_tolerance) {
            (true, true) => row.outputs == AgreementOutcome::WithinTolerance,
            (true, false) => row.outputs == AgreementOutcome::LeftOpen,
            (false, _) => matches!(
                row.outputs,
                AgreementOutcome::WithinErrorBounds | AgreementOutcome::Different
            ),
        };
        derivation.check(right, || {
            let count = left.differences.len();
            format!(
                "{label}: outputs told as {}, of which {count} elements differ that the test does not leave open",
                row.outputs
            )
        });
    }

    /// Vectors and marks that one engine alone recorded, and which of them depend on the schedule.
    fn coverage(&self, row: &Agreement, label: &str, told: &mut Told, derivation: &mut Derivation) {
        let kernels = &self.open.prepared.kernels;
        let Some(kernel) = kernels.iter().find(|kernel| kernel.name == row.kernel.as_str()) else {
            return;
        };
        let (mut derived, mut all_stored) = (None, true);
        for of in self.open.plan.modules.iter().filter(|of| of.kernel == row.kernel) {
            let known = kernel
                .configurations
                .iter()
                .find(|known| known.specialization == of.specialization);
            let Some(known) = known else {
                // Of a specialization that is no configuration no records are stored.
                all_stored = false;
                continue;
            };
            let of_engine = |engine| self.recorded(row, &known.configuration.name, engine);
            let (Some((evidence, ours)), Some((_, theirs))) =
                (of_engine(EngineName::Sequential), of_engine(EngineName::Vulkan))
            else {
                continue;
            };
            let differences = differing(&evidence.layout, [ours, theirs]);
            let scheduled = self.open.scheduled(kernel, &of.specialization);
            let outcome = self.differences(
                (row, label),
                evidence,
                (&differences, scheduled),
                told,
                derivation,
            );
            derived = derived.max(Some(outcome));
        }
        told.complete &= all_stored;
        let (right, least) = match derived {
            _ if all_stored => {
                let derived = derived.unwrap_or(AgreementOutcome::NotCompared);
                (row.coverage == derived, derived)
            }
            Some(least) => (row.coverage >= least, least),
            None => return,
        };
        derivation
            .check(right, || format!("{label}: stored coverage {}, derived {least}", row.coverage));
    }

    /// The stored records of a configuration of the row's kernel, in this test.
    fn recorded(
        &self,
        row: &Agreement,
        configuration: &str,
        engine: EngineName,
    ) -> Option<(&KernelEvidence, &Records)> {
        let mut kernels = self.stored.kernels.iter();
        let kernel = kernels.find(|one| {
            one.kernel == row.kernel
                && one.engine == engine
                && one.configuration.name == configuration
        })?;
        let records = kernel.records.iter().find(|records| records.test == row.test)?;
        Some((kernel, &records.records))
    }

    /// What the differences of one module come to, each as the row tells it.
    fn differences(
        &self,
        (row, label): (&Agreement, &str),
        kernel: &KernelEvidence,
        (differences, scheduled): (&[RecordDifference], Option<&BTreeSet<u32>>),
        told: &mut Told,
        derivation: &mut Derivation,
    ) -> AgreementOutcome {
        let findings = findings_of(self.stored, row);
        let mut outcome = AgreementOutcome::Identical;
        for difference in differences {
            let words = difference.words(&kernel.structure, kernel.kernel.as_str());
            let found = findings.iter().any(|finding| difference.is_told_by(finding));
            let of_difference = if scheduled.is_some_and(|bits| bits.contains(&difference.bit())) {
                told.lines.push(format!("{words}: it depends on the schedule"));
                derivation.check(!found, || {
                    format!(
                        "{label}: {words}: a finding, and by its module it depends on the schedule"
                    )
                });
                AgreementOutcome::ScheduleDependent
            } else if found {
                AgreementOutcome::Different
            } else {
                if self.sequential.findings.iter().any(is_of_undefined) {
                    told.beginnings.push(format!("{words}: it follows "));
                }
                AgreementOutcome::UndefinedValue
            };
            outcome = outcome.max(of_difference);
        }
        outcome
    }
}
