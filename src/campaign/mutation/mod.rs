//! Mutation testing: whether the tests of a project would notice small faults in its kernels.
//!
//! Knows: prepared tests, the kernels' texts, the sequential engine. Promises: a mutant is judged by
//! the tests that run its kernel, as the kernel itself is; it is killed by an expectation that does
//! not hold, by a finding that the kernel does not have, by an error of the run, or by taking more
//! than [`STEP_FACTOR`] times the steps of the kernel, and which of these it was is told. What cannot
//! be judged is undecided, with the reason, and never killed.
//! What no test notices is equivalent only where there is a proof.
//! Does not cover: what follows from verdicts
//! (`derivation::mutation`).

mod device_run;
mod dispatch_mutants;
mod dispatch_run;
mod duplicates;
mod equivalence;
mod mutant_run;
mod plan;
mod reach;
mod second_order;
mod stored;
mod test_order;
mod unchanged;

use crate::CampaignError;
use crate::facts::MutationFacts;
use crate::kernel::Kernel;
use crate::test_run::PreparedTest;
use device_run::{KernelOnDevice, LoopEnd, judge_on_device};
use dispatch_mutants::files_of_tests;
use duplicates::{
    AlikeMutants, CompiledMutant, Duplicates, DuplicatesSought, Novelty, compile_chosen,
};
use equivalence::{ComparedText, prove_by_ranges};
use mutant_run::{MutantBench, MutantModule};
pub(crate) use plan::ids_of_text;
use plan::{KernelPlan, MutantFacts, MutationPlan, PlannedMutant, plan_mutation};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
pub(crate) use stored::{keep_device_facts, stored_mutation};
use test_order::{TestOrder, is_scout};
pub use unchanged::unchanged_kernels;
use vkcert_exec::Executor;
use vkcert_glsl::mutation::SelectionWanted;
use vkcert_model::evidence::{
    JudgingEngines, JudgingTests, MutantRuns, MutationEvidence, MutationExtent, MutationOrder,
};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::place::SourceFile;
use vkcert_requirement::Project;
use vkcert_sequential::SequentialExecutor;
use vkcert_vulkan::pool::{self, Workers};
use vkcert_vulkan::{LoopCounting, VulkanExecutor};

/// How many times the steps of the kernel itself a mutant may take.
pub const STEP_FACTOR: u64 = 10;

/// Steps that every mutant may take.
const STEP_ALLOWANCE: u64 = 100_000;

/// What is asked of mutation testing.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest {
    /// Which mutants, and by which tests.
    pub extent: MutationExtent,
    /// Which modules the mutants are in.
    pub modules: MutantModules,
    /// Kernels that are left out, since nothing of them has changed.
    pub unchanged: BTreeSet<KernelName>,
}

/// Which modules mutants are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MutantModules {
    /// One for each mutant, compiled of its own text.
    #[default]
    Each,
    /// One for all mutants of a kernel that can be selected when it runs. Not all of them are then
    /// what their text is: `ARCHITECTURE.md` lists how they differ.
    Together,
}

/// The engines that judge mutants.
pub struct MutationEngines<'e> {
    /// It decides what becomes of a mutant.
    pub sequential: &'e SequentialExecutor,
    /// What it makes of mutants is told beside that; none: no device runs.
    pub device: Option<MutationDevice<'e>>,
}

/// A device that judges mutants.
pub struct MutationDevice<'e> {
    /// The first worker.
    pub executor: &'e mut VulkanExecutor,
    /// How many workers share the kernels.
    pub workers: Workers,
}

/// What tests made of mutants, with the texts that these change.
pub struct ProjectMutation {
    /// The facts.
    pub facts: MutationFacts,
    /// The files that edits are of.
    pub files: Vec<SourceFile>,
}

/// Mutates the kernels of a project and judges the mutants by its tests, on all cores.
///
/// # Errors
/// A test that does not pass, or that has findings: mutants of a kernel that fails by itself mean
/// nothing. Names that the project does not have, kernels that cannot be read.
pub fn mutate_project(
    project: &Project,
    kernels: &[Kernel],
    prepared_tests: &[PreparedTest<'_>],
    MutationEngines { sequential, device }: MutationEngines<'_>,
    request: &MutationRequest,
) -> Result<ProjectMutation, CampaignError> {
    let selection = match (request.modules, &device) {
        (MutantModules::Each, None) => SelectionWanted::Left,
        (MutantModules::Together, _) | (_, Some(_)) => SelectionWanted::Compiled,
    };
    let MutationPlan { kernels: mut plans, extent: asked } =
        plan_mutation(project, kernels, prepared_tests, &request.extent, selection)?;
    let request = &MutationRequest { extent: asked.clone(), ..request.clone() };
    plans.retain(|plan| !request.unchanged.contains(&plan.name()));
    let (mut mutations, mut benches) = (Vec::new(), Vec::new());
    let kernels = plans.par_iter().with_max_len(1);
    let judged = kernels.map(|plan| judge_kernel(plan, sequential, request));
    for judged in judged.collect::<Result<Vec<JudgedKernel<'_>>, CampaignError>>()? {
        let JudgedKernel { evidence, bench } = judged;
        mutations.push(evidence);
        if device.is_some() {
            benches.push(bench);
        }
    }
    let engines = match device {
        Some(device) => {
            judge_kernels_on_device(&plans, &benches, &mut mutations, device)?;
            JudgingEngines::Both
        }
        None => JudgingEngines::Sequential,
    };
    drop(benches);
    let of_texts = plans.into_iter().flat_map(|plan| plan.mutated.files);
    let files = of_texts.chain(files_of_tests(project)).collect();
    let asked = MutationExtent { engines, ..asked };
    let facts = MutationFacts { asked, mutations };
    Ok(ProjectMutation { facts, files })
}

/// What tests made of the mutants of a kernel.
struct JudgedKernel<'p> {
    evidence: MutationEvidence,
    bench: MutantBench<'p>,
}

fn judge_kernel<'p>(
    plan: &'p KernelPlan<'p>,
    engine: &SequentialExecutor,
    request: &MutationRequest,
) -> Result<JudgedKernel<'p>, CampaignError> {
    let judges = request.extent.judges;
    let bench = MutantBench::begin(plan, engine, judges, request.modules)?;
    let sought = DuplicatesSought::of_extent(&request.extent);
    let judgement = KernelJudgement { plan, bench: &bench, modules: request.modules, sought };
    let mut facts = judgement.judge_scouts_first()?;
    prove_by_ranges(&mut facts, || bench.compared());
    let mut evidence = plan.evidence(facts);
    evidence.pairs = match request.extent.order {
        MutationOrder::First => Vec::new(),
        MutationOrder::Second => second_order::judge_pairs(plan, &bench, &evidence)?,
    };
    evidence.engine_notes.extend(bench.notes.iter().cloned());
    Ok(JudgedKernel { evidence, bench })
}

/// Mutants that are compiled, and then judged, before others are.
const MUTANTS_AT_ONCE: usize = 128;

/// Mutants in one compilation.
const COMPILED_TOGETHER: usize = 16;

/// The mutants of a kernel that are judged.
struct KernelJudgement<'a, 'p> {
    plan: &'a KernelPlan<'p>,
    bench: &'a MutantBench<'p>,
    modules: MutantModules,
    sought: DuplicatesSought,
}

impl KernelJudgement<'_, '_> {
    /// Judges mutants on all cores: scouts first, which tell the tests to ask first of the others. What became of
    /// them is in their own order. Of those with one module one is run.
    fn judge_scouts_first(&self) -> Result<Vec<MutantFacts>, CampaignError> {
        let (scouts, others): (Vec<usize>, Vec<usize>) =
            (0..self.plan.chosen.len()).partition(|index| is_scout(*index));
        let kernel = self.bench.compared().and_then(ComparedText::identity);
        let mut duplicates = Duplicates::of_kernel(kernel);
        let mut judged = self.judge_all(&scouts, &TestOrder::default(), &mut duplicates)?;
        let order = TestOrder::of_scouts(judged.iter().map(|(index, facts)| (*index, &facts.runs)));
        judged.extend(self.judge_all(&others, &order, &mut duplicates)?);
        let mut facts: BTreeMap<usize, MutantFacts> = judged.into_iter().collect();
        duplicates.groups().for_each(|alike| self.settle_alike(&mut facts, &alike));
        Ok(facts.into_values().collect())
    }

    /// Gives what became of the mutant that was run to the one that counts.
    fn settle_alike(&self, facts: &mut BTreeMap<usize, MutantFacts>, alike: &AlikeMutants) {
        if alike.first != alike.met_first
            && let Some(mut own) = facts.remove(&alike.met_first)
        {
            // The proof is of its own text.
            if let PlannedMutant::OfText(mutant) = self.plan.mutant(self.plan.chosen[alike.first])
                && own.runs.kill_cause().is_none()
            {
                own.difference = self.bench.difference(mutant);
            }
            facts.insert(alike.first, own);
        }
        let same = MutantRuns::SameAs(self.plan.number(alike.first));
        for index in &alike.duplicates {
            facts.insert(*index, MutantFacts::without_proof(same.clone()));
        }
    }

    fn judge_all(
        &self,
        indices: &[usize],
        order: &TestOrder,
        duplicates: &mut Duplicates,
    ) -> Result<Vec<(usize, MutantFacts)>, CampaignError> {
        let mut judged = Vec::new();
        for indices in indices.chunks(MUTANTS_AT_ONCE) {
            let mut compiled: Vec<CompiledMutant> = indices
                .par_chunks(COMPILED_TOGETHER)
                .flat_map_iter(|part| self.compile(part))
                .collect();
            compiled
                .retain(|mutant| duplicates.meet(mutant.index, mutant.identity) == Novelty::New);
            let rows = compiled.into_par_iter().with_max_len(1);
            let facts = rows.map(|CompiledMutant { index, module, .. }| {
                let facts = self.judge(index, module, &order.of_mutant(index))?;
                Ok((index, facts))
            });
            judged.extend(facts.collect::<Result<Vec<_>, CampaignError>>()?);
        }
        Ok(judged)
    }

    fn compile(&self, indices: &[usize]) -> Vec<CompiledMutant> {
        match self.modules {
            MutantModules::Each => compile_chosen(self.plan, indices, self.sought),
            MutantModules::Together => {
                indices.iter().copied().map(CompiledMutant::without_module).collect()
            }
        }
    }

    fn judge(
        &self,
        index: usize,
        module: Option<MutantModule>,
        first: &[TestId],
    ) -> Result<MutantFacts, CampaignError> {
        let place = self.plan.chosen[index];
        match (self.plan.mutant(place), module) {
            (PlannedMutant::OfDispatches(mutant), _) => {
                Ok(self.bench.judge_dispatches(mutant, first))
            }
            (PlannedMutant::OfText(mutant), Some(module)) => {
                self.bench.judge_module(mutant, module, first, self.bench.judges)
            }
            (PlannedMutant::OfText(_), None) => self.bench.judge(place, first),
        }
    }
}

/// What a device makes of the mutants that the sequential engine has judged, kernel by kernel. Where the device ends
/// loops by itself, they are counted in the run of the mutant, so that it is compiled and run once.
fn judge_kernels_on_device(
    plans: &[KernelPlan<'_>],
    benches: &[MutantBench<'_>],
    mutations: &mut [MutationEvidence],
    MutationDevice { executor, workers }: MutationDevice<'_>,
) -> Result<(), CampaignError> {
    let loops = match executor.loop_limit() {
        Some(_) => LoopEnd::Driver,
        None => LoopEnd::Clock,
    };
    // The longest first, so that no worker is left with one in the end.
    let mut kernels: Vec<usize> = (0..plans.len()).collect();
    kernels.sort_by_key(|kernel| std::cmp::Reverse(mutations[*kernel].mutants.len()));
    let judge = |kernel: &usize, executor: &mut dyn Executor| {
        let (plan, bench) = (&plans[*kernel], &benches[*kernel]);
        let judged = judge_on_device(plan, bench, executor, &mutations[*kernel], loops);
        (*kernel, judged)
    };
    executor.count_loops(LoopCounting::Within);
    let mut on_device = pool::share_items(executor, workers, &kernels, judge);
    executor.count_loops(LoopCounting::Ahead);
    on_device.sort_by_key(|(kernel, _)| *kernel);
    for (kernel, judged) in on_device {
        let KernelOnDevice { mutants: mut own, notes } = judged?;
        mutations[kernel].engine_notes.extend(notes);
        for mutant in &mut mutations[kernel].mutants {
            mutant.on_device = own.remove(&mutant.number);
        }
    }
    Ok(())
}
