//! What engines left, read from evidence as a run tells it.
//!
//! Knows: which fields of a test's result are facts.
//! Promises: verdict, reason and mismatches follow from the stored outputs once more where these
//! can be judged; what is missing of outputs and records is a problem.
//! Does not cover: what follows from all runs together (`derivation`).

use super::derivation::unnamed;
use crate::configuration::KernelConfiguration;
use crate::kernel::Kernel;
use crate::left_open::reason_of_repetition;
use crate::test_run::{ModuleRecords, PreparedTest, TestRun};
use base64::Engine as _;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::judge::judge;
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
    pub stored: &'a Evidence,
    pub kernels: &'a [Kernel],
    pub replay: Replay,
    pub found: &'a mut Verification,
}

impl FactReader<'_> {
    /// One row per prepared test, one entry per stored result.
    pub(super) fn runs(&mut self, prepared: &[PreparedTest]) -> Vec<Vec<TestRun>> {
        prepared.iter().map(|test| self.row(test)).collect()
    }

    fn row(&mut self, test: &PreparedTest) -> Vec<TestRun> {
        let stored = self.stored.campaign.tests.iter().find(|row| row.id == test.test.id);
        stored
            .into_iter()
            .flat_map(|row| &row.results)
            .map(|result| self.run(test, result))
            .collect()
    }

    fn run(&mut self, test: &PreparedTest, result: &TestResult) -> TestRun {
        let id = &test.test.id;
        let stored_outputs = self.found.stored_outputs(id, result).into_iter();
        let outputs: BTreeMap<String, BufferContents> =
            stored_outputs.map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        let mut run = TestRun {
            verdict: result.verdict,
            reason: result.reason.clone(),
            repetitions: result.repetitions,
            deciding_repetition: result.deciding_repetition,
            mismatches: result.mismatches.clone(),
            findings: result.findings.iter().map(|finding| self.located(finding)).collect(),
            notes: result.notes.clone(),
            race_scope: result.race_scope,
            printed: Printed { lines: Vec::new(), omitted: result.printed_lines },
            counts: touched(result),
            schedule: result.schedule,
            schedules: result.schedules.clone(),
            left_open: result.left_open.clone(),
            directed: result.directed.clone(),
            altered: result.altered.clone(),
            rests_on_undefined: result.rests_on_undefined,
            judged: JudgedParts { members: result.judged.clone(), idle: result.idle.clone() },
            ..TestRun::not_run(result.engine, "")
        };
        if let Ok(plan) = &test.plan {
            self.complete(test, plan, result);
            self.judge(id, plan, result, &outputs, &mut run);
            if result.verdict != Verdict::NotRun {
                run.records = self.records(id, plan, result.engine, |row| &row.records);
                run.objects = self.records(id, plan, result.engine, |row| &row.objects.records);
                run.objects.retain(|row| row.records.is_ok());
            }
        }
        run.outputs = outputs;
        run
    }

    /// A finding as an engine tells it, with the places of its instructions.
    fn located(&self, finding: &Finding) -> Finding {
        let mut finding = unnamed(finding);
        let kernel = self.kernels.iter().find(|kernel| {
            finding.kernel.as_ref().is_some_and(|name| name.as_str() == kernel.name)
        });
        let Some(kernel) = kernel.filter(|_| !finding.numbers.is_empty()) else { return finding };
        for place in finding.place.iter_mut().chain(&mut finding.other_place) {
            if let Some(exact) = place.instruction.and_then(|word| kernel.place_of(word)) {
                *place = exact;
            }
        }
        finding.numbers = kernel.numbers(&finding);
        finding
    }

    /// A test that completed has left every buffer, and has recorded every kernel, unless a finding
    /// says why not.
    fn complete(&mut self, test: &PreparedTest, plan: &Prepared, result: &TestResult) {
        if !result.verdict.completed() {
            return;
        }
        let name = || format!("test {} on {}", test.test.id, result.engine);
        let limit = self
            .stored
            .campaign
            .settings
            .as_ref()
            .map_or(0, |settings| settings.limits.output_bytes);
        let sizes = plan.job.buffers.iter().map(|buffer| (&buffer.name, buffer.bytes.len() as u64));
        let due: BTreeMap<&String, (u64, bool)> =
            sizes.map(|(name, size)| (name, (size, size > limit))).collect();
        let left = result.outputs.iter().map(|(name, output)| match output {
            OutputBytes::Bytes(text) => (name, (decoded_size(text), false)),
            OutputBytes::Hash { bytes, .. } => (name, (*bytes, true)),
        });
        self.found.check(left.collect::<BTreeMap<_, _>>() == due, || {
            format!("{}: its outputs are not the buffers of the test", name())
        });
        let unmeasured =
            result.findings.iter().any(|finding| finding.kind == FindingKind::EngineDisagreement);
        let sources = test.kernels.iter().all(|kernel| kernel.measured().is_some());
        let objects = test.kernels.iter().all(|kernel| kernel.object.modules.is_some());
        let has = |rows: &[TestRecords]| rows.iter().any(|records| records.test == test.test.id);
        let recorded = |of: &ModuleUse| {
            let row = self.row_of(of, result.engine);
            row.is_none_or(|row| {
                (!sources || has(&row.records)) && (!objects || has(&row.objects.records))
            })
        };
        // What fails in one repetition alone is not measured.
        let unmeasured = unmeasured || result.deciding_repetition.is_some();
        let missing =
            plan.modules.iter().find(|of| !unmeasured && !recorded(of)).map(|of| of.kernel);
        self.found.check(missing.is_none(), || {
            format!(
                "{}: its records of {} are missing",
                name(),
                missing.map(|kernel| kernel.as_str()).unwrap_or_default()
            )
        });
    }

    /// Verdict, reason and mismatches from the outputs.
    fn judge(
        &mut self,
        id: &TestId,
        plan: &Prepared,
        result: &TestResult,
        outputs: &BTreeMap<String, BufferContents>,
        run: &mut TestRun,
    ) {
        // Else there are no outputs to judge, or what is not known of them outweighs them.
        if !result.verdict.completed() {
            return;
        }
        let name = || format!("test {id} on {}", result.engine);
        if let Some(reason) = self.hindrance(plan, outputs) {
            return self.found.not_derivable.push(format!("{}: {reason}", name()));
        }
        let bytes = |buffer: &vkcert_exec::JobBuffer| {
            outputs.get(&buffer.name).cloned().unwrap_or_default()
        };
        let left = Run {
            buffers: plan.job.buffers.iter().map(bytes).collect(),
            ..Run::ended(Completion::Completed)
        };
        let mut reference = |job: &Job| -> Result<Run, ExecError> {
            SequentialExecutor::default().run(job, &mut Unobserved)
        };
        match judge(plan, &left, &mut reference) {
            Ok(judged) => {
                (run.verdict, run.reason, run.mismatches) =
                    (judged.verdict, judged.reason, judged.mismatches);
                // Which of the repetitions it was is a fact; what became of it follows.
                if let Some(repetition) = result.deciding_repetition {
                    run.reason = Some(reason_of_repetition(repetition, run.reason.as_deref()));
                }
            }
            Err(error) => self.found.not_derivable.push(format!("{}: {error}", name())),
        }
    }

    /// Why outputs cannot be judged again.
    fn hindrance(
        &self,
        plan: &Prepared,
        outputs: &BTreeMap<String, BufferContents>,
    ) -> Option<String> {
        let missing = |index: usize| {
            let name = &plan.job.buffers.get(index)?.name;
            (!outputs.contains_key(name))
                .then(|| format!("the contents of buffer {name} are stored as a hash alone"))
        };
        plan.expected.iter().find_map(|expected| {
            let other = match &expected.contents {
                ExpectedContents::Values(_) => None,
                ExpectedContents::Buffer { other, .. } => missing(*other),
                ExpectedContents::Reference { job, .. } => {
                    self.needs_engine("comes from the reference", job)
                }
                ExpectedContents::Check { job } => {
                    self.needs_engine("is judged by the checker", job)
                }
            };
            missing(expected.buffer).or(other)
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
    fn records(
        &self,
        id: &TestId,
        plan: &Prepared,
        engine: EngineName,
        kind: fn(&KernelEvidence) -> &Vec<TestRecords>,
    ) -> Vec<ModuleRecords> {
        let row = |of: &ModuleUse| {
            let row = self.row_of(of, engine);
            let records = row.and_then(|row| kind(row).iter().find(|records| records.test == *id));
            let records: Result<Records, String> = records
                .map(|found| found.records.clone())
                .ok_or_else(|| "none are stored".to_owned());
            // Counts are stored as sums over all passed tests: the first of them stands for all.
            let counted = row.filter(|row| self.first_passed(row) == Some(id));
            ModuleRecords {
                kernel: of.kernel.as_str().to_owned(),
                specialization: of.specialization.clone(),
                records,
                lowering: counted.map(|row| self.lowering(of, row)).unwrap_or_default(),
            }
        };
        plan.modules.iter().map(row).collect()
    }

    /// The loop decisions of the lowering, with the counts that are stored.
    fn lowering(&self, of: &ModuleUse, row: &KernelEvidence) -> Vec<LoweringDecision> {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == of.kernel.as_str());
        let decisions = kernel.and_then(|kernel| {
            loop_decisions(&kernel.module, &kernel.entry, &of.specialization).ok()
        });
        let counted = |mut decision: LoweringDecision| {
            let stored = row.lowering.iter().find(|known| known.id == decision.id);
            (decision.true_count, decision.false_count) =
                stored.map_or((0, 0), |known| (known.true_count, known.false_count));
            decision
        };
        match (decisions, row.engine) {
            (Some(decisions), EngineName::Sequential) => {
                decisions.into_iter().map(counted).collect()
            }
            (None, _) | (_, EngineName::Vulkan) => row.lowering.clone(),
        }
    }

    /// The stored row of a module.
    fn row_of(&self, of: &ModuleUse, engine: EngineName) -> Option<&KernelEvidence> {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == of.kernel.as_str())?;
        let same = |known: &&KernelConfiguration| known.specialization == of.specialization;
        let configuration = kernel.configurations.iter().find(same)?;
        self.stored.kernels.iter().find(|row| {
            row.kernel == of.kernel
                && row.engine == engine
                && row.configuration.name == configuration.configuration.name
        })
    }

    /// The first test that recorded a row and passed.
    fn first_passed(&self, row: &KernelEvidence) -> Option<&TestId> {
        let passed = |test: &&TestEvidence| {
            let mut results = test.results.iter().filter(|result| result.engine == row.engine);
            let recorded = row
                .records
                .iter()
                .chain(&row.objects.records)
                .any(|records| records.test == test.id);
            recorded && results.any(|result| result.verdict == Verdict::Pass)
        };
        self.stored.campaign.tests.iter().find(passed).map(|test| &test.id)
    }
}

/// Bytes that a base64 text stands for; no size that a buffer has where it stands for none.
fn decoded_size(text: &str) -> u64 {
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_or(u64::MAX, |bytes| bytes.len() as u64)
}

fn touched(result: &TestResult) -> Counts {
    let dispatch = |buffers: &Vec<vkcert_model::evidence::TouchedBuffer>| {
        buffers.iter().map(|buffer| ((buffer.set, buffer.binding), buffer.bytes)).collect()
    };
    Counts { touched: result.touched.iter().map(dispatch).collect(), ..Counts::default() }
}
