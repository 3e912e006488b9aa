//! The run of a mutant in the place of its kernel.
//!
//! Promises: with no mutant selected, the module with all mutants, where it is used, leaves what the
//! kernel leaves, bit for bit, and has no other findings; where it does not, each mutant is compiled
//! for itself.

use super::equivalence::{ComparedText, Difference, difference_of_mutant};
use super::plan::{KernelPlan, MutantFacts};
use super::reach::{ExecutedCode, MutantReach};
use super::{JudgingTests, MutantModules, STEP_ALLOWANCE, STEP_FACTOR};
use crate::CampaignError;
use crate::kernel::{Kernel, ModuleVariant};
use crate::left_open::LeftOpen;
use crate::test_run::{PreparedTest, variant_job};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use vkcert_exec::access_pairs::PairTracking;
use vkcert_exec::comparison::differing_contents;
use vkcert_exec::judge::{self, judge_run};
use vkcert_exec::prepare::Prepared;
use vkcert_exec::{
    Completion, ExecError, Job, JobBinding, JobBuffer, ModuleRecording, Run, RunRequest, Unobserved,
};
use vkcert_glsl::KernelSource;
use vkcert_glsl::mutation::{
    MutantForm, MutatedKernel, NotCompiled, SourceMutant, compile_mutants,
};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{MutantRuns, MutantVerdict, Notice};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::TestId;
use vkcert_model::verdict::Verdict;
use vkcert_sequential::{Jobs, RaceScopeWanted, SequentialExecutor, SequentialRun};
use vkcert_spirv::changed_code::ComparedModule;
use vkcert_spirv::module::Module;

/// The tests of a kernel as the kernel itself passes them.
pub(super) struct MutantBench<'a> {
    /// None of a kernel that is given as SPIR-V, which has no mutants of its text.
    source: Option<&'a KernelSource>,
    mutated: &'a MutatedKernel,
    /// None where it does not do what the kernel does.
    selection: Option<Arc<Vec<u32>>>,
    /// The cheapest first.
    pub(super) tests: Vec<TestBaseline<'a>>,
    pub(super) judges: JudgingTests,
    pub(super) engine: SequentialExecutor,
    /// The kernel's own module; none where it cannot be compared with mutants.
    own_module: Option<ComparedModule<'a>>,
    /// The kernel itself; none where it is not known.
    compared: OnceLock<Option<ComparedText>>,
    pub(super) notes: Vec<String>,
}

/// A test with what the kernel itself does in it.
pub(super) struct TestBaseline<'a> {
    pub(super) prepared: &'a PreparedTest<'a>,
    /// With what references compute.
    plan: Prepared,
    /// Of the production modules.
    job: Job,
    /// Places of the kernel's modules in the job.
    modules: Vec<usize>,
    findings: BTreeSet<FindingKey>,
    run: Run,
    steps: u64,
    executed: ExecutedCode,
}

/// A mutant's module, or why there is none.
pub(super) type MutantModule = Result<Arc<Module>, NotCompiled>;

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
        kernel_plan: &'a KernelPlan<'a>,
        engine: &SequentialExecutor,
        judges: JudgingTests,
        modules: MutantModules,
    ) -> Result<Self, CampaignError> {
        let mutated = &kernel_plan.mutated;
        // What is decoded of a mutant no other one needs.
        let mut engine = engine.keeping_little_of_its_own(rayon::current_num_threads());
        engine.settings.jobs = Jobs::One;
        engine.settings.race_scope = RaceScopeWanted::Left;
        let mut baselines = Vec::new();
        for prepared in kernel_plan.judging_tests() {
            let Ok(plan) = &prepared.job_plan else { continue };
            let baseline = TestBaseline::of_test(kernel_plan.kernel, prepared, plan, &engine)?;
            baselines.push(baseline);
        }
        baselines.sort_by_key(|baseline| baseline.steps);
        let selection = match modules {
            MutantModules::Together => mutated.selection.as_ref(),
            MutantModules::Each => None,
        };
        let selection = selection.map(|module| Arc::new(module.words.clone()));
        let notes = baselines.iter().filter_map(TestBaseline::note_of_reach).collect();
        let mut bench = Self {
            source: kernel_plan.source.as_ref(),
            mutated,
            selection,
            tests: baselines,
            judges,
            engine,
            own_module: ComparedModule::of_module(&kernel_plan.kernel.module),
            compared: OnceLock::new(),
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
            if let Some(difference) = difference_of_contents(&baseline.run, &run) {
                return Ok(Some(format!("test {name}: {difference}")));
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

    /// Runs the tests with a mutant, in the module with all mutants where it can be selected there; `first` are
    /// asked before the others.
    pub(super) fn judge(
        &self,
        place: usize,
        first: &[TestId],
    ) -> Result<MutantFacts, CampaignError> {
        let mutant = &self.mutated.mutants[place];
        let number = place as u32 + 1;
        match self.selection.as_ref().filter(|_| mutant.form == MutantForm::Selected) {
            Some(words) => {
                let runs = self.judge_in_turn(first, self.judges, |baseline| {
                    let job = baseline.selection_job(self.mutated, words, number)?;
                    Some(baseline.judge(&self.engine, &job))
                });
                Ok(self.compare(mutant, runs))
            }
            None => self.judge_alone(mutant, first, self.judges),
        }
    }

    /// Runs the tests that reach it with a module of the mutant's own text; `first` are asked before the others.
    pub(super) fn judge_module(
        &self,
        mutant: &SourceMutant,
        module: MutantModule,
        first: &[TestId],
        judges: JudgingTests,
    ) -> Result<MutantFacts, CampaignError> {
        match module {
            Ok(module) => {
                self.engine.keep_module(&module);
                let reach = MutantReach::of_module(self.own_module.as_ref(), &module);
                let runs = self.judge_in_turn(first, judges, |baseline| {
                    let run = || baseline.judge(&self.engine, &baseline.job_with(&module.words));
                    Some(reach.verdict_of_test(&baseline.executed, run))
                });
                Ok(self.compare(mutant, runs))
            }
            Err(not_compiled) => Ok(MutantFacts::without_proof(runs_of_refused(not_compiled))),
        }
    }

    /// The same of a mutant that is compiled by itself, by the tests that are told.
    pub(super) fn judge_alone(
        &self,
        mutant: &SourceMutant,
        first: &[TestId],
        judges: JudgingTests,
    ) -> Result<MutantFacts, CampaignError> {
        let mut modules = modules_of(self.source, self.mutated, &[mutant]);
        let module = modules.pop().expect("one module of one mutant");
        self.judge_module(mutant, module, first, judges)
    }

    /// What tests made of a mutant, and how it differs from the kernel where none noticed it.
    fn compare(&self, mutant: &SourceMutant, runs: MutantRuns) -> MutantFacts {
        let difference = match runs.kill_cause() {
            Some(_) => Difference::Unknown,
            None => self.difference(mutant),
        };
        MutantFacts { runs, difference }
    }

    /// The verdicts of the tests, `first` before the others and of these the cheapest one first, up to an expectation
    /// that does not hold where `judges` asks for no more; a test without one is left out.
    pub(super) fn judge_in_turn(
        &self,
        first: &[TestId],
        judges: JudgingTests,
        verdict_of: impl Fn(&TestBaseline<'_>) -> Option<MutantVerdict>,
    ) -> MutantRuns {
        let mut verdicts = BTreeMap::new();
        let rank = |baseline: &&TestBaseline<'_>| {
            first.iter().position(|test| *test == baseline.prepared.test.id).unwrap_or(first.len())
        };
        let mut tests: Vec<&TestBaseline<'_>> = self.tests.iter().collect();
        tests.sort_by_key(rank);
        for baseline in tests {
            let Some(verdict) = verdict_of(baseline) else { continue };
            let is_last = verdict.notices().contains(&Notice::Expectation)
                && judges == JudgingTests::UntilKilled;
            verdicts.insert(baseline.prepared.test.id, verdict);
            if is_last {
                break;
            }
        }
        MutantRuns::Judged(verdicts)
    }

    /// In what a mutant differs from the kernel.
    pub(super) fn difference(&self, mutant: &SourceMutant) -> Difference {
        match (self.source, self.compared()) {
            (Some(source), Some(of_kernel)) => {
                difference_of_mutant(source, self.mutated, mutant, of_kernel)
            }
            (None, _) | (_, None) => Difference::Unknown,
        }
    }

    /// The kernel itself, to compare mutants with.
    pub(super) fn compared(&self) -> Option<&ComparedText> {
        let of_kernel = || ComparedText::of_text(self.source?, self.mutated, None);
        self.compared.get_or_init(of_kernel).as_ref()
    }
}

/// What a run of the module with all mutants left otherwise than one of the kernel, where none is selected.
pub(super) fn difference_of_contents(of_kernel: &Run, with_all: &Run) -> Option<String> {
    if with_all.completion != Completion::Completed {
        return Some(format!("{:?}", with_all.completion));
    }
    // The buffer that selects stands behind those of the kernel.
    let own_count = of_kernel.buffers.len().min(with_all.buffers.len());
    (with_all.buffers[..own_count] != of_kernel.buffers[..]).then(|| "other contents".to_owned())
}

/// Modules of mutants' own texts, one for each.
pub(super) fn modules_of(
    source: Option<&KernelSource>,
    mutated: &MutatedKernel,
    mutants: &[&SourceMutant],
) -> Vec<MutantModule> {
    let Some(source) = source else {
        return mutants.iter().map(|_| Err(NotCompiled::Elsewhere)).collect();
    };
    let modules = compile_mutants(source, mutated, mutants).into_iter().map(|words| {
        let module = Module::parse(Arc::new(words?));
        module.map(Arc::new).map_err(|error| NotCompiled::Unreadable(error.to_string()))
    });
    modules.collect()
}

/// What becomes of a mutant for which there is no module.
pub(super) fn runs_of_refused(not_compiled: NotCompiled) -> MutantRuns {
    match not_compiled {
        NotCompiled::Refused(reason) => MutantRuns::NotCompiled(reason),
        other @ (NotCompiled::Unreadable(_) | NotCompiled::Elsewhere) => {
            MutantRuns::NotRun(other.to_string())
        }
    }
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
        let request = RunRequest { pair_tracking: PairTracking::On, ..RunRequest::once(&job) };
        let SequentialRun { run, steps, access_pairs, .. } =
            engine.run_once(&request, &mut Unobserved).map_err(tool_failure)?;
        let executed = ExecutedCode::of_run(&access_pairs, kernel);
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
        Ok(Self { prepared, plan, job, modules, findings, run, steps, executed })
    }

    /// That it is not known which mutants the test reaches.
    fn note_of_reach(&self) -> Option<String> {
        match &self.executed {
            ExecutedCode::Known(_) | ExecutedCode::All => None,
            ExecutedCode::Unknown(reason) => Some(format!(
                "test {} runs with every mutant, since it is not known which ones it reaches ({reason})",
                self.prepared.test.id
            )),
        }
    }

    /// The job with another module of the kernel, and a limit of steps.
    pub(super) fn job_with(&self, words: &Arc<Vec<u32>>) -> Job {
        let mut job = self.limited_job();
        for index in &self.modules {
            let module = &mut job.modules[*index];
            (module.words, module.recording) = (Arc::clone(words), ModuleRecording::None);
        }
        job
    }

    /// The job of the kernel itself, with the limit of steps of a mutant.
    pub(super) fn limited_job(&self) -> Job {
        let mut job = self.job.clone();
        let steps = self.steps.saturating_mul(STEP_FACTOR).saturating_add(STEP_ALLOWANCE);
        job.limits.steps = job.limits.steps.min(steps);
        job
    }

    /// The job with the module with all mutants, of which one is selected; none where nothing is.
    pub(super) fn selection_job(
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

    /// What the test makes of a job on the sequential engine.
    pub(super) fn judge(&self, engine: &SequentialExecutor, job: &Job) -> MutantVerdict {
        let outcome = engine.run_once(&RunRequest::once(job), &mut Unobserved);
        self.verdict_of(engine, outcome.map(|outcome| outcome.run), &self.run)
    }

    /// What the test makes of a run with a mutant, on whatever engine, on which the kernel itself left `of_kernel`;
    /// references run on the engine that is given. A failure of the tool costs one mutant.
    pub(super) fn verdict_of(
        &self,
        engine: &SequentialExecutor,
        run: Result<Run, ExecError>,
        of_kernel: &Run,
    ) -> MutantVerdict {
        let judged = run.and_then(|mut run| {
            run.buffers.truncate(self.plan.job.buffers.len());
            let mut reference = |job: &Job| run_reference(engine, job);
            Ok((judge_run(&self.plan, &run, &mut reference)?, run))
        });
        let (judgement, run) = match judged {
            Ok(judged) => judged,
            Err(error) => {
                return MutantVerdict::Undecided(format!("the tool failed: {error}"));
            }
        };
        let is_new =
            |finding: &&Finding| finding.stands() && !self.findings.contains(&finding_key(finding));
        // That a mutant does not come to its end is told by its time.
        let new_kinds: BTreeSet<FindingKind> = run
            .findings
            .iter()
            .filter(is_new)
            .map(|finding| finding.kind)
            .filter(|kind| *kind != FindingKind::NoTermination)
            .collect();
        let ending = match judgement.verdict {
            Verdict::Fail => Some(Notice::Expectation),
            Verdict::Timeout => Some(Notice::Time),
            Verdict::Error => Some(Notice::Error),
            Verdict::Pass | Verdict::NotRun | Verdict::Unsupported | Verdict::Undetermined => None,
        };
        let mut notices: Vec<Notice> = new_kinds.into_iter().map(Notice::Finding).collect();
        notices.extend(ending);
        notices.sort();
        match judgement.verdict {
            _ if !notices.is_empty() => MutantVerdict::Noticed(notices),
            Verdict::Pass => self.verdict_of_contents(&run, of_kernel),
            verdict => MutantVerdict::Undecided(format!(
                "{verdict}{}",
                judgement.reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
            )),
        }
    }

    /// What is to be said of a run in which nothing was noticed.
    fn verdict_of_contents(&self, run: &Run, of_kernel: &Run) -> MutantVerdict {
        let mut others = differing_contents(&of_kernel.buffers, &run.buffers).peekable();
        if others.peek().is_none() {
            return MutantVerdict::NotNoticed;
        }
        let open = LeftOpen::of_test(self.prepared, &self.plan);
        let others = others.filter(|other| open.is_closed_difference(other));
        let names: Vec<String> =
            others.map(|other| self.plan.job.buffers[other.buffer].name.clone()).collect();
        match names.is_empty() {
            true => MutantVerdict::NotNoticed,
            false => MutantVerdict::OtherContents(names),
        }
    }
}

fn run_reference(engine: &SequentialExecutor, job: &Job) -> Result<Run, vkcert_exec::ExecError> {
    Ok(engine.run_once(&RunRequest::once(job), &mut Unobserved)?.run)
}
