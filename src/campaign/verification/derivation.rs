//! The evidence derived again from the stored inputs and from the facts that follow from nothing
//! else.
//!
//! Knows: which fields of evidence are facts (`runs`, `engines`): what engines left, found and
//! recorded. Promises: they go the way of a fresh run (`campaign::facts`), so that a field which
//! `certify` derives is derived here by the same code, and what is stored of it must be the same.
//! Does not cover: whether the facts are true; `--replay` runs the sequential engine again.

use super::{Rebuilt, replay, told};
use crate::agreement::{self, Comparison, undefined};
use crate::assemble::LaidOut;
use crate::configuration::KernelConfiguration;
use crate::coupling::{self, device_limits_of};
use crate::facts::{self, Facts, Request};
use crate::kernel::Kernel;
use crate::left_open::reason_of_repetition;
use crate::plan::Plan;
use crate::profile::Target;
use crate::test_run::{ModuleRecords, PreparedTest, TestRun};
use crate::{CampaignError, altered, execution, inputs, judged, recording};
use base64::Engine as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_derivation::agreement::tells_of_undefined;
use vkcert_derivation::files::kernel_files;
use vkcert_derivation::stated::TOOL_VERSION;
use vkcert_exec::judge::judge;
use vkcert_exec::prepare::{ExpectedContents, ModuleUse, Prepared};
use vkcert_exec::{BufferContents, Completion, Counts, ExecError, Executor, Job, Run, Unobserved};
use vkcert_model::evidence::{
    Campaign, EngineIdentity, Evidence, KernelEvidence, KernelFinding, LoweringDecision,
    OutputBytes, TestEvidence, TestRecords, TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::TestId;
use vkcert_model::judged::JudgedParts;
use vkcert_model::printed::Printed;
use vkcert_model::records::Records;
use vkcert_model::schedule::Schedules;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_requirement::Project;
use vkcert_sequential::{SequentialExecutor, loop_decisions};
use vkcert_verification::difference::Differences;
use vkcert_verification::{Replay, Verification};

/// Derives everything, and compares.
pub(super) fn derive(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    replay: Replay,
    found: &mut Verification,
) -> Result<(), CampaignError> {
    match derived(stored, rebuilt, replay, found)? {
        Some(derived) => compare(stored, &derived, found),
        None => Ok(()),
    }
}

/// The evidence that the stored facts come to; none where a problem is in the way.
pub fn derived(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    replay: Replay,
    found: &mut Verification,
) -> Result<Option<Evidence>, CampaignError> {
    let mut kernels = rebuilt.kernels.clone();
    if let Err(failure) =
        recording::restore(&mut kernels, stored, &Target::of(&rebuilt.project().settings.value))
    {
        found
            .problems
            .push(format!("the kernels cannot be recorded as stored: {}", told(&failure)));
        return Ok(None);
    }
    let schedules = match replay {
        Replay::No => Schedules::default(),
        Replay::Sequential => replay::schedules(stored),
    };
    let plan = Plan::for_verification(&stored.campaign.not_looked_for);
    let prepared = match execution::prepare(
        rebuilt.project(),
        &kernels,
        &plan,
        (schedules, request(&stored.campaign).replay),
    ) {
        Ok(prepared) => prepared,
        Err(failure) => {
            found.problems.push(format!("the stored tests cannot be prepared: {}", told(&failure)));
            return Ok(None);
        }
    };
    let mut runs = FactReader { stored, kernels: &kernels, replay, found }.runs(&prepared);
    let mut replayed = None;
    match replay {
        Replay::No => {}
        Replay::Sequential => {
            let (fresh, engine) = replay::run(stored, rebuilt, &prepared)?;
            for ((test, row), run) in prepared.iter().zip(&mut runs).zip(fresh) {
                let same = row.iter_mut().find(|stored| stored.engine == run.engine);
                same.into_iter().for_each(|stored| stored.clone_from(&run));
                undefined::mark(test, row, &engine);
            }
            replayed = Some(engine);
        }
    }
    let laid_out = judged::lay_open(&prepared, &kernels)?;
    match replayed {
        Some(engine) => altered::examine(&prepared, &laid_out, &kernels, &mut runs, &engine)?,
        None => {
            let unknown = altered::derive(&prepared, &laid_out, &kernels, &mut runs).into_iter();
            found.not_derivable.extend(unknown.map(|test| {
                format!("{test}: which altered contents of its kernels' stores fail it; `--replay` alters them again")
            }));
            found.not_derivable.extend(follows_undefined(&stored.campaign));
        }
    }
    judged::doubt_idle_tests(&prepared, &laid_out, &kernels, &mut runs);
    let compared = agreement::derive_from_modules(stored, &prepared, &runs);
    found.checked += compared.checked;
    found.problems.extend(compared.problems);
    found.not_derivable.extend(compared.not_derivable);
    match again(stored, rebuilt, &kernels, (&prepared, &laid_out), &runs) {
        Ok(mut derived) => {
            restore_omitted(stored, &mut derived);
            Ok(Some(derived))
        }
        Err(failure) => {
            found
                .problems
                .push(format!("the evidence cannot be derived again: {}", told(&failure)));
            Ok(None)
        }
    }
}

/// Tests whose records follow undefined values as stored.
fn follows_undefined(campaign: &Campaign) -> impl Iterator<Item = String> {
    let passed =
        |test: &&TestEvidence| test.results.iter().any(|result| result.verdict == Verdict::Pass);
    let tests = campaign.tests.iter().filter(|test| tells_of_undefined(test)).filter(passed);
    tests.map(|test| {
        format!(
            "test {}: whether it passes with other undefined values, and which of its records may follow them; `--replay` runs it \
             again with others",
            test.id
        )
    })
}

/// The evidence that the inputs and the facts come to.
fn again(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    kernels: &[Kernel],
    (prepared, laid_out): (&[PreparedTest], &LaidOut),
    runs: &[Vec<TestRun>],
) -> Result<Evidence, CampaignError> {
    let project = rebuilt.project();
    let engines = engines(&stored.campaign, project);
    let device = device_limits_of(&engines);
    let coupled =
        coupling::analyse(project, kernels, prepared, &coupling::touched(runs), device.as_ref())?;
    let facts = Facts {
        engines: &engines,
        runs,
        laid_out,
        agreement: &agreement(&stored.campaign),
        coupled: &coupled,
        inputs: &inputs::gather(project, kernels)?,
        request: &request(&stored.campaign),
        date: stored.campaign.project.date.clone(),
    };
    Ok(facts::evidence(project, kernels, &facts)?.evidence)
}

/// What the command line asked for.
fn request(campaign: &Campaign) -> Request {
    let results = campaign.tests.iter().flat_map(|test| &test.results);
    let kinds = FindingKind::ALL.iter().map(|(kind, _)| *kind);
    Request {
        left_out: campaign.left_out.clone(),
        not_looked_for: kinds.filter(|kind| campaign.not_looked_for.contains(kind)).collect(),
        replay: results.filter_map(|result| result.schedule).next(),
    }
}

/// Who ran: of the sequential engine, what the project sets; of a device, as stored.
fn engines(campaign: &Campaign, project: &Project) -> Vec<EngineIdentity> {
    let replayed =
        request(campaign).replay.map(|schedule| ("schedule".to_owned(), schedule.to_string()));
    let device = campaign.engines.iter().any(|row| row.engine == EngineName::Vulkan && row.ran);
    let sequential = SequentialExecutor::default().settings;
    let row = |row: &EngineIdentity| {
        let mut row = row.clone();
        match row.engine {
            EngineName::Sequential => {
                row.ran = true;
                row.reason = None;
                let mut identity = BTreeMap::from([
                    (
                        "memory model".to_owned(),
                        project.settings.value.memory_model.name().to_owned(),
                    ),
                    ("tile width".to_owned(), sequential.tile_width.to_string()),
                    ("version".to_owned(), TOOL_VERSION.to_owned()),
                ]);
                // A device's, where there is one.
                let size = row.identity.get("subgroup size").filter(|_| device).cloned();
                let size = size.unwrap_or_else(|| sequential.subgroup_size.to_string());
                identity.insert("subgroup size".to_owned(), size);
                identity.extend(replayed.clone());
                row.identity = identity;
            }
            EngineName::Vulkan if !row.ran => row.identity.clear(),
            EngineName::Vulkan => {}
        }
        row
    };
    campaign.engines.iter().map(row).collect()
}

/// The comparison of the engines, which needs runs of its own.
fn agreement(campaign: &Campaign) -> Comparison {
    let of_engines = |row: &&KernelFinding| {
        row.engine.is_none()
            && row.test.is_some()
            && row.finding.kind == FindingKind::EngineDisagreement
    };
    let bare =
        |row: &KernelFinding| KernelFinding { finding: unnamed(&row.finding), ..row.clone() };
    Comparison {
        rows: campaign.agreement.clone(),
        findings: campaign.findings.iter().filter(of_engines).map(bare).collect(),
    }
}

/// A finding as an engine tells it.
fn unnamed(finding: &Finding) -> Finding {
    Finding { acceptance: None, ..finding.clone() }
}

/// Contents above the limit are facts that are stored as hashes.
fn restore_omitted(stored: &Evidence, derived: &mut Evidence) {
    let limit =
        stored.campaign.settings.as_ref().map_or(0, |settings| settings.limits.output_bytes);
    for (ours, theirs) in derived.campaign.tests.iter_mut().zip(&stored.campaign.tests) {
        for (ours, theirs) in ours.results.iter_mut().zip(&theirs.results) {
            for (name, output) in &theirs.outputs {
                if let OutputBytes::Hash { bytes, .. } = output
                    && *bytes > limit
                {
                    ours.outputs.entry(name.clone()).or_insert_with(|| output.clone());
                }
            }
        }
    }
}

/// Every difference of two evidences, file by file.
fn compare(
    stored: &Evidence,
    derived: &Evidence,
    found: &mut Verification,
) -> Result<(), CampaignError> {
    let mut differences = Differences::default();
    differences.compare("campaign.json", &json(&stored.campaign)?, &json(&derived.campaign)?);
    let names = kernel_files(&derived.kernels);
    for (name, kernel) in names.iter().zip(&derived.kernels) {
        match stored.kernels.iter().find(|row| same_row(row, kernel)) {
            Some(row) => differences.compare(name, &json(row)?, &json(kernel)?),
            None => differences.messages.push(format!("{name} is missing")),
        }
    }
    for row in &stored.kernels {
        let times =
            |rows: &[KernelEvidence]| rows.iter().filter(|other| same_row(row, other)).count();
        if times(&derived.kernels) != 1 || times(&stored.kernels) != 1 {
            differences.messages.push(format!(
                "{} on {} is in the evidence, and nothing asks for it",
                row.kernel, row.engine
            ));
        }
    }
    differences.compare("inputs.json", &json(&stored.inputs)?, &json(&derived.inputs)?);
    let mut manifest = derived.manifest.clone();
    // What the files hold was compared; their hashes are those of the files.
    for (name, hash) in &mut manifest.outputs {
        hash.clone_from(stored.manifest.outputs.get(name).unwrap_or(&String::new()));
    }
    differences.compare("manifest.json", &json(&stored.manifest)?, &json(&manifest)?);
    found.checked += differences.compared;
    found.problems.append(&mut differences.messages);
    Ok(())
}

fn same_row(one: &KernelEvidence, other: &KernelEvidence) -> bool {
    one.kernel == other.kernel
        && one.configuration.name == other.configuration.name
        && one.engine == other.engine
}

fn json(value: &impl serde::Serialize) -> Result<Value, CampaignError> {
    serde_json::to_value(value).map_err(|error| CampaignError::tool(error.to_string()))
}

/// Reads from evidence what the engines left.
struct FactReader<'a> {
    stored: &'a Evidence,
    kernels: &'a [Kernel],
    replay: Replay,
    found: &'a mut Verification,
}

impl FactReader<'_> {
    /// One row per prepared test, one entry per stored result.
    fn runs(&mut self, prepared: &[PreparedTest]) -> Vec<Vec<TestRun>> {
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
        let mut outputs = BTreeMap::new();
        for (name, output) in &result.outputs {
            match output {
                OutputBytes::Bytes(text) => {
                    match base64::engine::general_purpose::STANDARD.decode(text) {
                        Ok(bytes) => drop(outputs.insert(name.clone(), Arc::new(bytes))),
                        Err(error) => self
                            .found
                            .problems
                            .push(format!("test {id}: buffer {name} is not base64: {error}")),
                    }
                }
                OutputBytes::Hash { .. } => {}
            }
        }
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
