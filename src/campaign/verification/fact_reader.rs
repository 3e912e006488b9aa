//! What engines left, read from evidence as a run tells it.
//!
//! Knows: which fields of a test's result are facts.
//! Promises: verdict, reason and mismatches follow from the stored outputs once more where these
//! can be judged; what is missing of outputs and records is a problem.
//! Does not cover: what follows from all runs together (`derivation`).

use super::derivation::as_found;
use crate::configuration::KernelConfiguration;
use crate::kernel::Kernel;
use crate::left_open::reason_of_repetition;
use crate::test_run::{ModuleRecords, PreparedTest, TestRun};
use base64::Engine as _;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::judge::judge_run;
use vkcert_exec::prepare::{ExpectedContents, ModuleUse, Prepared};
use vkcert_exec::{BufferContents, Completion, Counts, ExecError, Executor, Job, Run, Unobserved};
use vkcert_model::evidence::{
    Evidence, KernelEvidence, LoweringDecision, OutputBytes, TestEvidence, TestRecords, TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::TestId;
use vkcert_model::judged::JudgedParts;
use vkcert_model::printed::Printed;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sequential::{SequentialExecutor, loop_decisions};
use vkcert_verification::{Replay, Verification};

/// Reads from evidence what the engines left.
pub(super) struct FactReader<'a> {
    stored_evidence: &'a Evidence,
    kernels: &'a [Kernel],
    replay: Replay,
    verification: &'a mut Verification,
    tests_by_id: BTreeMap<TestId, &'a TestEvidence>,
    rows: Vec<StoredRow<'a>>,
}

/// A kernel's row of the evidence, with what it holds of each test: there may be many.
struct StoredRow<'a> {
    evidence: &'a KernelEvidence,
    source_records: RecordsByTest<'a>,
    object_records: RecordsByTest<'a>,
    /// The first test that recorded and passed.
    first_passed: Option<TestId>,
}

impl<'a> StoredRow<'a> {
    fn new(evidence: &'a KernelEvidence, tests: &[TestEvidence]) -> Self {
        let source_records = records_by_test(&evidence.records);
        let object_records = records_by_test(&evidence.objects.records);
        let has_passed = |test: &&TestEvidence| {
            let mut results = test.results.iter().filter(|result| result.engine == evidence.engine);
            let is_recorded =
                source_records.contains_key(&test.id) || object_records.contains_key(&test.id);
            is_recorded && results.any(|result| result.verdict == Verdict::Pass)
        };
        let first_passed = tests.iter().find(has_passed).map(|test| test.id);
        Self { evidence, source_records, object_records, first_passed }
    }
}

type RecordsByTest<'a> = BTreeMap<TestId, &'a TestRecords>;

/// Of a test that is there twice, which no honest evidence has, the first.
fn records_by_test(records: &[TestRecords]) -> RecordsByTest<'_> {
    let mut by_test = RecordsByTest::new();
    for test_records in records {
        by_test.entry(test_records.test).or_insert(test_records);
    }
    by_test
}

impl<'a> FactReader<'a> {
    pub(super) fn of_evidence(
        stored_evidence: &'a Evidence,
        kernels: &'a [Kernel],
        replay: Replay,
        verification: &'a mut Verification,
    ) -> Self {
        let mut tests_by_id = BTreeMap::new();
        for test in &stored_evidence.campaign.tests {
            tests_by_id.entry(test.id).or_insert(test);
        }
        let tests = &stored_evidence.campaign.tests;
        let rows = stored_evidence.kernels.iter().map(|kernel| StoredRow::new(kernel, tests));
        let rows = rows.collect();
        Self { stored_evidence, kernels, replay, verification, tests_by_id, rows }
    }

    /// One row per prepared test, one entry per stored result.
    pub(super) fn read_runs(&mut self, prepared_tests: &[PreparedTest]) -> Vec<Vec<TestRun>> {
        prepared_tests.iter().map(|test| self.runs_of_test(test)).collect()
    }

    fn runs_of_test(&mut self, prepared_test: &PreparedTest) -> Vec<TestRun> {
        let stored = self.tests_by_id.get(&prepared_test.test.id).copied();
        stored
            .into_iter()
            .flat_map(|row| &row.results)
            .map(|result| self.run_of_result(prepared_test, result))
            .collect()
    }

    fn run_of_result(
        &mut self,
        prepared_test: &PreparedTest,
        stored_result: &TestResult,
    ) -> TestRun {
        let id = &prepared_test.test.id;
        let stored_outputs = self.verification.stored_outputs(id, stored_result).into_iter();
        let outputs: BTreeMap<String, BufferContents> =
            stored_outputs.map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        let mut run = TestRun {
            verdict: stored_result.verdict,
            reason: stored_result.reason.clone(),
            repetitions: stored_result.repetitions,
            deciding_repetition: stored_result.deciding_repetition,
            mismatches: stored_result.mismatches.clone(),
            findings: stored_result
                .findings
                .iter()
                .cloned()
                .map(|finding| self.with_places(finding))
                .collect(),
            notes: stored_result.notes.clone(),
            race_scope: stored_result.race_scope,
            printed: Printed { lines: Vec::new(), omitted: stored_result.printed_lines },
            counts: touched_bytes(stored_result),
            schedule: stored_result.schedule,
            schedules: stored_result.schedules.clone(),
            left_open: stored_result.left_open.clone(),
            directed: stored_result.directed.clone(),
            altered: stored_result.altered.clone(),
            rests_on_undefined: stored_result.rests_on_undefined,
            judged: JudgedParts {
                members: stored_result.judged.clone(),
                idle: stored_result.idle.clone(),
            },
            ..TestRun::not_run(stored_result.engine, "")
        };
        if let Ok(plan) = &prepared_test.job_plan {
            self.check_completeness(prepared_test, plan, stored_result);
            self.judge_outputs(id, plan, stored_result, &outputs, &mut run);
            if stored_result.verdict != Verdict::NotRun {
                run.records =
                    self.stored_records(id, plan, stored_result.engine, |row| &row.source_records);
                run.objects =
                    self.stored_records(id, plan, stored_result.engine, |row| &row.object_records);
                run.objects.retain(|row| row.records.is_ok());
            }
        }
        run.outputs = outputs;
        run
    }

    /// A finding as an engine tells it, with the places of its instructions.
    fn with_places(&self, finding: Finding) -> Finding {
        let mut finding = as_found(finding);
        let kernel = self.kernels.iter().find(|kernel| {
            finding.kernel.as_ref().is_some_and(|name| name.as_str() == kernel.name)
        });
        let Some(kernel) = kernel.filter(|_| !finding.numbers.is_empty()) else { return finding };
        for place in finding.place.iter_mut().chain(&mut finding.other_place) {
            if let Some(exact) = place.instruction.and_then(|word| kernel.place_of(word)) {
                *place = exact;
            }
        }
        finding.numbers = kernel.instruction_numbers(&finding);
        finding
    }

    /// A test that completed has left every buffer, and has recorded every kernel, unless a finding
    /// says why not.
    fn check_completeness(
        &mut self,
        prepared_test: &PreparedTest,
        job_plan: &Prepared,
        stored_result: &TestResult,
    ) {
        if !stored_result.verdict.completed() {
            return;
        }
        let test_name = || format!("test {} on {}", prepared_test.test.id, stored_result.engine);
        let byte_limit = self
            .stored_evidence
            .campaign
            .settings
            .as_ref()
            .map_or(0, |settings| settings.limits.output_bytes);
        let sizes =
            job_plan.job.buffers.iter().map(|buffer| (&buffer.name, buffer.bytes.len() as u64));
        let due_sizes: BTreeMap<&String, (u64, bool)> =
            sizes.map(|(buffer_name, size)| (buffer_name, (size, size > byte_limit))).collect();
        let left_sizes = stored_result.outputs.iter().map(|(buffer_name, output)| match output {
            OutputBytes::Bytes(text) => (buffer_name, (decoded_size(text), false)),
            OutputBytes::Hash { bytes, .. } => (buffer_name, (*bytes, true)),
        });
        self.verification.check(left_sizes.collect::<BTreeMap<_, _>>() == due_sizes, || {
            format!("{}: its outputs are not the buffers of the test", test_name())
        });
        let is_unmeasured = stored_result
            .findings
            .iter()
            .any(|finding| finding.kind == FindingKind::EngineDisagreement);
        let has_sources = prepared_test.kernels.iter().all(|kernel| kernel.measured().is_some());
        let has_objects =
            prepared_test.kernels.iter().all(|kernel| kernel.object.modules.is_some());
        let has_records =
            |records: &RecordsByTest<'_>| records.contains_key(&prepared_test.test.id);
        let is_recorded = |module_use: &ModuleUse| {
            let row = self.row_of(module_use, stored_result.engine);
            row.is_none_or(|row| {
                (!has_sources || has_records(&row.source_records))
                    && (!has_objects || has_records(&row.object_records))
            })
        };
        // What fails in one repetition alone is not measured.
        let is_unmeasured = is_unmeasured || stored_result.deciding_repetition.is_some();
        let missing_kernel = job_plan
            .modules
            .iter()
            .find(|module_use| !is_unmeasured && !is_recorded(module_use))
            .map(|module_use| module_use.kernel);
        self.verification.check(missing_kernel.is_none(), || {
            format!(
                "{}: its records of {} are missing",
                test_name(),
                missing_kernel.map(|kernel| kernel.as_str()).unwrap_or_default()
            )
        });
    }

    /// Verdict, reason and mismatches from the outputs.
    fn judge_outputs(
        &mut self,
        id: &TestId,
        job_plan: &Prepared,
        stored_result: &TestResult,
        outputs: &BTreeMap<String, BufferContents>,
        test_run: &mut TestRun,
    ) {
        // Else there are no outputs to judge, or what is not known of them outweighs them.
        if !stored_result.verdict.completed() {
            return;
        }
        let test_name = || format!("test {id} on {}", stored_result.engine);
        if let Some(reason) = self.reason_not_judged(job_plan, outputs) {
            return self.verification.not_derivable.push(format!("{}: {reason}", test_name()));
        }
        let bytes_of = |buffer: &vkcert_exec::JobBuffer| {
            outputs.get(&buffer.name).cloned().unwrap_or_default()
        };
        let left_run = Run {
            buffers: job_plan.job.buffers.iter().map(bytes_of).collect(),
            ..Run::ended(Completion::Completed)
        };
        let mut reference = |job: &Job| -> Result<Run, ExecError> {
            SequentialExecutor::default().run(job, &mut Unobserved)
        };
        match judge_run(job_plan, &left_run, &mut reference) {
            Ok(judged) => {
                (test_run.verdict, test_run.reason, test_run.mismatches) =
                    (judged.verdict, judged.reason, judged.mismatches);
                // Which of the repetitions it was is a fact; what became of it follows.
                if let Some(repetition) = stored_result.deciding_repetition {
                    test_run.reason =
                        Some(reason_of_repetition(repetition, test_run.reason.as_deref()));
                }
            }
            Err(error) => self.verification.not_derivable.push(format!("{}: {error}", test_name())),
        }
    }

    /// Why outputs cannot be judged again.
    fn reason_not_judged(
        &self,
        job_plan: &Prepared,
        outputs: &BTreeMap<String, BufferContents>,
    ) -> Option<String> {
        let missing_contents = |index: usize| {
            let name = &job_plan.job.buffers.get(index)?.name;
            (!outputs.contains_key(name))
                .then(|| format!("the contents of buffer {name} are stored as a hash alone"))
        };
        job_plan.expected.iter().find_map(|expected| {
            let missing_other = match &expected.contents {
                ExpectedContents::Values(_) => None,
                ExpectedContents::Buffer { other: missing_other, .. } => {
                    missing_contents(*missing_other)
                }
                ExpectedContents::Reference { job, .. } => {
                    self.needs_engine("comes from the reference", job)
                }
                ExpectedContents::Check { job } => {
                    self.needs_engine("is judged by the checker", job)
                }
            };
            missing_contents(expected.buffer).or(missing_other)
        })
    }

    /// What only an engine can tell.
    fn needs_engine(&self, verb: &str, job: &Job) -> Option<String> {
        match self.replay {
            Replay::No => {
                let kernels: Vec<String> =
                    job.modules.iter().map(|module| module.key.to_string()).collect();
                Some(format!(
                    "its expectation {verb} kernel {}; `--replay` runs it",
                    kernels.join(", ")
                ))
            }
            Replay::Sequential => None,
        }
    }

    /// What the kernel files hold of a test, per module that it dispatches.
    fn stored_records(
        &self,
        id: &TestId,
        job_plan: &Prepared,
        engine_name: EngineName,
        kind: for<'r> fn(&'r StoredRow<'a>) -> &'r RecordsByTest<'a>,
    ) -> Vec<ModuleRecords> {
        let module_records = |module_use: &ModuleUse| {
            let row = self.row_of(module_use, engine_name);
            let records = row.and_then(|row| kind(row).get(id).copied());
            let records: Result<Records, String> = records
                .map(|test_records| test_records.records.clone())
                .ok_or_else(|| "none are stored".to_owned());
            // Counts are stored as sums over all passed tests: the first of them stands for all.
            let counted_row = row.filter(|row| row.first_passed == Some(*id));
            ModuleRecords {
                kernel: module_use.kernel.as_str().to_owned(),
                specialization: module_use.specialization.clone(),
                records,
                lowering: counted_row
                    .map(|row| self.stored_lowering(module_use, row.evidence))
                    .unwrap_or_default(),
            }
        };
        job_plan.modules.iter().map(module_records).collect()
    }

    /// The loop decisions of the lowering, with the counts that are stored.
    fn stored_lowering(
        &self,
        module_use: &ModuleUse,
        kernel_row: &KernelEvidence,
    ) -> Vec<LoweringDecision> {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == module_use.kernel.as_str());
        let decisions = kernel.and_then(|kernel| {
            loop_decisions(&kernel.module, &kernel.entry, &module_use.specialization).ok()
        });
        let with_counts = |mut decision: LoweringDecision| {
            let stored_counts =
                kernel_row.lowering.iter().find(|known_decision| known_decision.id == decision.id);
            (decision.true_count, decision.false_count) = stored_counts
                .map_or((0, 0), |known_decision| {
                    (known_decision.true_count, known_decision.false_count)
                });
            decision
        };
        match (decisions, kernel_row.engine) {
            (Some(decisions), EngineName::Sequential) => {
                decisions.into_iter().map(with_counts).collect()
            }
            (None, _) | (_, EngineName::Vulkan) => kernel_row.lowering.clone(),
        }
    }

    /// The stored row of a module.
    fn row_of(&self, module_use: &ModuleUse, engine_name: EngineName) -> Option<&StoredRow<'a>> {
        let kernel =
            self.kernels.iter().find(|kernel| kernel.name == module_use.kernel.as_str())?;
        let is_same = |known_configuration: &&KernelConfiguration| {
            known_configuration.specialization == module_use.specialization
        };
        let configuration = kernel.configurations.iter().find(is_same)?;
        self.rows.iter().find(|StoredRow { evidence: row, .. }| {
            row.kernel == module_use.kernel
                && row.engine == engine_name
                && row.configuration.name == configuration.configuration.name
        })
    }
}

/// Bytes that a base64 text stands for; no size that a buffer has where it stands for none.
fn decoded_size(text: &str) -> u64 {
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_or(u64::MAX, |bytes| bytes.len() as u64)
}

fn touched_bytes(stored_result: &TestResult) -> Counts {
    let dispatch = |buffers: &Vec<vkcert_model::evidence::TouchedBuffer>| {
        buffers.iter().map(|buffer| ((buffer.set, buffer.binding), buffer.bytes)).collect()
    };
    Counts { touched: stored_result.touched.iter().map(dispatch).collect(), ..Counts::default() }
}
