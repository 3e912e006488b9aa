//! The run of a mutant in the place of its kernel.
//!
//! Promises: with no mutant selected, the module with all mutants, where it is used, leaves what the
//! kernel leaves, bit for bit, and has no other findings; where it does not, each mutant is compiled
//! for itself.

use super::{EquivalenceProof, Kill, MutantResult, STEP_ALLOWANCE, STEP_FACTOR};
use crate::CampaignError;
use crate::kernel::{Kernel, ModuleVariant};
use crate::test_run::{PreparedTest, variant_job};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use vkcert_exec::judge::{self, judge_run};
use vkcert_exec::prepare::Prepared;
use vkcert_exec::{
    Completion, Job, JobBinding, JobBuffer, ModuleRecording, Run, RunRequest, Unobserved,
};
use vkcert_glsl::KernelSource;
use vkcert_glsl::mutation::{
    MutantForm, MutatedKernel, NotCompiled, SourceMutant, compile_alone, optimised_module,
};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::verdict::Verdict;
use vkcert_sequential::{Jobs, RaceScopeWanted, SequentialExecutor, SequentialRun};
use vkcert_spirv::module::Module;

/// The tests of a kernel as the kernel itself passes them.
pub(super) struct MutantBench<'a> {
    source: &'a KernelSource,
    mutated: &'a MutatedKernel,
    /// None where it does not do what the kernel does.
    selection: Option<Arc<Vec<u32>>>,
    /// The cheapest first.
    tests: Vec<TestBaseline<'a>>,
    engine: SequentialExecutor,
    /// The kernel's own module as the optimiser leaves it; none where it is not known.
    optimised: OnceLock<Option<Vec<u32>>>,
    pub(super) notes: Vec<String>,
}

/// A test with what the kernel itself does in it.
pub(super) struct TestBaseline<'a> {
    prepared: &'a PreparedTest<'a>,
    /// With what references compute.
    plan: Prepared,
    /// Of the production modules.
    job: Job,
    /// Places of the kernel's modules in the job.
    modules: Vec<usize>,
    findings: BTreeSet<FindingKey>,
    run: Run,
    steps: u64,
}

/// What tells a finding from another one.
type FindingKey = (FindingKind, String);

fn finding_key(finding: &Finding) -> FindingKey {
    (finding.kind, finding.place.as_ref().map(ToString::to_string).unwrap_or_default())
}

impl<'a> MutantBench<'a> {
    /// Runs every test of a kernel.
    ///
    /// # Errors
    /// A test that does not pass, or has findings that count.
    pub(super) fn begin(
        kernel: &Kernel,
        source: &'a KernelSource,
        mutated: &'a MutatedKernel,
        tests: &[&'a PreparedTest<'a>],
        engine: &SequentialExecutor,
    ) -> Result<Self, CampaignError> {
        let mut engine = engine.clone();
        engine.settings.jobs = Jobs::One;
        engine.settings.race_scope = RaceScopeWanted::Left;
        let (mut baselines, mut notes) = (Vec::new(), Vec::new());
        for prepared in tests {
            match &prepared.job_plan {
                Ok(plan) => {
                    baselines.push(TestBaseline::of_test(kernel, prepared, plan, &engine)?);
                }
                Err(unsupported) => notes.push(format!(
                    "test {} judges no mutant: no engine runs it ({unsupported})",
                    prepared.test.id
                )),
            }
        }
        baselines.sort_by_key(|baseline| baseline.steps);
        let mut bench = Self {
            source,
            mutated,
            selection: mutated.selection.as_ref().map(|module| Arc::new(module.words.clone())),
            tests: baselines,
            engine,
            optimised: OnceLock::new(),
            notes,
        };
        if let Some(difference) = bench.difference_of_selection()? {
            bench.notes.push(format!(
                "each mutant is compiled for itself: the text with all of them does not do what the kernel \
                 does ({difference})"
            ));
            bench.selection = None;
        }
        Ok(bench)
    }

    /// What the module with all mutants does otherwise than the kernel where none is selected.
    fn difference_of_selection(&mut self) -> Result<Option<String>, CampaignError> {
        let Some(words) = self.selection.clone() else { return Ok(None) };
        for baseline in &mut self.tests {
            let Some(job) = baseline.selection_job(self.mutated, &words, 0) else { continue };
            let SequentialRun { run, steps, .. } = run_once(&self.engine, &job)?;
            let name = &baseline.prepared.test.id;
            if run.completion != Completion::Completed {
                return Ok(Some(format!("test {name}: {:?}", run.completion)));
            }
            let count = baseline.run.buffers.len();
            if run.buffers[..count.min(run.buffers.len())] != baseline.run.buffers[..] {
                return Ok(Some(format!("test {name}: other contents")));
            }
            let kinds = |run: &Run| -> BTreeSet<FindingKind> {
                run.findings.iter().map(|finding| finding.kind).collect()
            };
            if kinds(&run) != kinds(&baseline.run) {
                return Ok(Some(format!("test {name}: other findings")));
            }
            baseline.findings.extend(run.findings.iter().map(finding_key));
            baseline.steps = baseline.steps.max(steps);
        }
        Ok(None)
    }

    /// Runs the tests with a mutant until one notices it.
    pub(super) fn judge(
        &self,
        mutant: &SourceMutant,
        number: u32,
    ) -> Result<MutantResult, CampaignError> {
        let selection = self.selection.as_ref().filter(|_| mutant.form == MutantForm::Selected);
        match selection {
            Some(words) => self
                .judge_by(mutant, |baseline| baseline.selection_job(self.mutated, words, number)),
            None => self.judge_alone(mutant),
        }
    }

    /// The same with a module of the mutant's own text.
    pub(super) fn judge_alone(&self, mutant: &SourceMutant) -> Result<MutantResult, CampaignError> {
        let words = match compile_alone(self.source, self.mutated, mutant) {
            Ok(words) => Arc::new(words),
            Err(NotCompiled::Refused(reason)) => return Ok(MutantResult::NotCompiled(reason)),
            Err(elsewhere @ NotCompiled::Elsewhere) => {
                return Ok(MutantResult::Undecided(elsewhere.to_string()));
            }
        };
        self.judge_by(mutant, |baseline| Some(baseline.job_with(&words)))
    }

    fn judge_by(
        &self,
        mutant: &SourceMutant,
        job_of: impl Fn(&TestBaseline<'_>) -> Option<Job>,
    ) -> Result<MutantResult, CampaignError> {
        if self.tests.is_empty() {
            return Ok(MutantResult::NoTest);
        }
        let (mut first_kill, mut undecided): (Option<Kill>, _) = (None, None);
        for baseline in &self.tests {
            let Some(job) = job_of(baseline) else { continue };
            match baseline.judge(&self.engine, &job) {
                TestVerdict::Noticed(kill) => {
                    let by_expectation = kill.by_expectation;
                    let first = first_kill.get_or_insert(kill);
                    // Whether an expectation fails is asked of all tests.
                    if by_expectation.is_some() {
                        first.by_expectation = by_expectation;
                        break;
                    }
                }
                TestVerdict::NotNoticed => {}
                TestVerdict::Undecided(reason) => undecided = undecided.or(Some(reason)),
            }
        }
        Ok(match (first_kill, undecided) {
            (Some(kill), _) => MutantResult::Killed(kill),
            (None, Some(reason)) => MutantResult::Undecided(reason),
            (None, None) => match self.equivalence(mutant) {
                Some(proof) => MutantResult::Equivalent(proof),
                None => MutantResult::Survived,
            },
        })
    }

    /// Why a mutant does what the kernel does, where there is a proof. The optimiser may give a
    /// variable that nobody has written any value: where a write may be left out it is no proof.
    fn equivalence(&self, mutant: &SourceMutant) -> Option<EquivalenceProof> {
        if mutant.operators.iter().any(|operator| operator.skips_statements()) {
            return None;
        }
        let of_kernel = self.optimised.get_or_init(|| self.optimised_code(None)).as_ref()?;
        let of_mutant = self.optimised_code(Some(mutant))?;
        (*of_kernel == of_mutant).then_some(EquivalenceProof::SameOptimisedModule)
    }

    /// What the optimiser makes of a text, without debug information; none of one that is refused.
    fn optimised_code(&self, mutant: Option<&SourceMutant>) -> Option<Vec<u32>> {
        let words = optimised_module(self.source, self.mutated, mutant).ok()?;
        Some(Module::parse(Arc::new(words)).ok()?.code_words())
    }
}

enum TestVerdict {
    Noticed(Kill),
    NotNoticed,
    Undecided(String),
}

fn run_once(engine: &SequentialExecutor, job: &Job) -> Result<SequentialRun, CampaignError> {
    let run = engine.run_once(&RunRequest::once(job), &mut Unobserved);
    run.map_err(|error| CampaignError::tool(error.to_string()))
}

impl<'a> TestBaseline<'a> {
    fn of_test(
        kernel: &Kernel,
        prepared: &'a PreparedTest<'a>,
        plan: &Prepared,
        engine: &SequentialExecutor,
    ) -> Result<Self, CampaignError> {
        let job = variant_job(prepared, plan, ModuleVariant::Production, plan.job.checks);
        let job = job.expect("every kernel has a production module");
        let tool_failure = |error: vkcert_exec::ExecError| CampaignError::tool(error.to_string());
        let mut reference = |job: &Job| run_reference(engine, job);
        let resolved =
            judge::with_resolved_references(plan, &mut reference).map_err(tool_failure)?;
        let plan = resolved.unwrap_or_else(|| plan.clone());
        let SequentialRun { run, steps, .. } = run_once(engine, &job)?;
        let judgement = judge_run(&plan, &run, &mut reference).map_err(tool_failure)?;
        let standing = run.findings.iter().find(|finding| finding.stands());
        let fault = match (judgement.verdict, standing) {
            (Verdict::Pass, None) => None,
            (Verdict::Pass, Some(finding)) => {
                Some(format!("has a finding by itself ({})", finding.kind))
            }
            (verdict, _) => Some(format!("does not pass by itself ({verdict})")),
        };
        if let Some(fault) = fault {
            let message = format!(
                "test {} {fault}: mutants of kernel `{}` would mean nothing",
                prepared.test.id, kernel.name
            );
            let hint = "run `vkcert certify`, and mend the kernel or the test first";
            return Err(Diagnostic::new("mutation-baseline", message).hint(hint).into());
        }
        let modules = prepared.kernels.iter().enumerate();
        let modules = modules.filter(|(_, own)| own.name == kernel.name).map(|(index, _)| index);
        let findings = run.findings.iter().map(finding_key).collect();
        let modules = modules.collect();
        Ok(Self { prepared, plan, job, modules, findings, run, steps })
    }

    /// The job with another module of the kernel, and a limit of steps.
    fn job_with(&self, words: &Arc<Vec<u32>>) -> Job {
        let mut job = self.job.clone();
        for index in &self.modules {
            let module = &mut job.modules[*index];
            (module.words, module.recording) = (Arc::clone(words), ModuleRecording::None);
        }
        let steps = self.steps.saturating_mul(STEP_FACTOR).saturating_add(STEP_ALLOWANCE);
        job.limits.steps = job.limits.steps.min(steps);
        job
    }

    /// The job with the module with all mutants, of which one is selected; none where nothing is.
    fn selection_job(
        &self,
        mutated: &MutatedKernel,
        words: &Arc<Vec<u32>>,
        number: u32,
    ) -> Option<Job> {
        let selection = mutated.selection.as_ref()?;
        let mut job = self.job_with(words);
        let bytes = Arc::new(number.to_le_bytes().to_vec());
        let buffer = job.buffers.len();
        let name = "vkcert_selection".to_owned();
        let defined = std::iter::once(0..bytes.len()).collect();
        job.buffers.push(JobBuffer { name, bytes, defined });
        for dispatch in &mut job.dispatches {
            if self.modules.contains(&dispatch.module) {
                let (set, binding) = (selection.set, selection.binding);
                dispatch.bindings.push(JobBinding::storage(set, binding, buffer, 4));
            }
        }
        Some(job)
    }

    /// A failure of the tool costs one mutant.
    fn judge(&self, engine: &SequentialExecutor, job: &Job) -> TestVerdict {
        let judged = engine.run_once(&RunRequest::once(job), &mut Unobserved).and_then(|outcome| {
            let mut run = outcome.run;
            run.buffers.truncate(self.plan.job.buffers.len());
            let mut reference = |job: &Job| run_reference(engine, job);
            Ok((judge_run(&self.plan, &run, &mut reference)?, run))
        });
        let (judgement, run) = match judged {
            Ok(judged) => judged,
            Err(error) => {
                let reason = format!("test {}: the tool failed: {error}", self.prepared.test.id);
                return TestVerdict::Undecided(reason);
            }
        };
        let new_finding = run
            .findings
            .iter()
            .find(|finding| finding.stands() && !self.findings.contains(&finding_key(finding)));
        let kill = Kill {
            test: self.prepared.test.id,
            by_expectation: (judgement.verdict == Verdict::Fail).then_some(self.prepared.test.id),
            by_finding: new_finding.map(|finding| finding.kind),
            by_time: judgement.verdict == Verdict::Timeout,
            by_error: judgement.verdict == Verdict::Error,
        };
        let is_noticed = kill.by_expectation.is_some()
            || kill.by_finding.is_some()
            || kill.by_time
            || kill.by_error;
        match judgement.verdict {
            _ if is_noticed => TestVerdict::Noticed(kill),
            Verdict::Pass => TestVerdict::NotNoticed,
            verdict => TestVerdict::Undecided(format!(
                "test {}: {verdict}{}",
                self.prepared.test.id,
                judgement.reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
            )),
        }
    }
}

fn run_reference(engine: &SequentialExecutor, job: &Job) -> Result<Run, vkcert_exec::ExecError> {
    Ok(engine.run_once(&RunRequest::once(job), &mut Unobserved)?.run)
}
