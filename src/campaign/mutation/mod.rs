//! Mutation testing: whether the tests of a project would notice small faults in its kernels.
//!
//! Knows: prepared tests, the kernels' texts, the sequential engine. Promises: a mutant is judged by
//! the tests that run its kernel, as the kernel itself is; it is killed by an expectation that does
//! not hold, by a finding that the kernel does not have, by an error of the run, or by taking more
//! than [`STEP_FACTOR`] times the steps of the kernel, and which of these it was is told. What cannot
//! be judged is undecided, with the reason, and never killed.
//! What no test notices is equivalent only where there is a proof.
//! Does not cover: mutants of dispatches, devices.

mod mutant_run;

use crate::CampaignError;
use crate::kernel::Kernel;
use crate::project;
use crate::test_run::PreparedTest;
use mutant_run::MutantBench;
use rayon::prelude::*;
use std::collections::BTreeSet;
use vkcert_glsl::mutation::{MutatedKernel, SelectionWanted, SourceMutant, mutate};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::mutation::MutationOperator;
use vkcert_requirement::Project;
use vkcert_sequential::SequentialExecutor;

/// How many times the steps of the kernel itself a mutant may take.
pub const STEP_FACTOR: u64 = 10;

/// Steps that every mutant may take.
const STEP_ALLOWANCE: u64 = 100_000;

/// What is asked of mutation testing.
#[derive(Debug, Clone, Default)]
pub struct MutationRequest {
    /// Operators to apply; none: all.
    pub operators: BTreeSet<MutationOperator>,
    /// Kernels to mutate; none: all.
    pub kernels: BTreeSet<KernelName>,
    /// Which modules the mutants are in.
    pub modules: MutantModules,
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

impl MutationRequest {
    fn asks_for(&self, mutant: &SourceMutant) -> bool {
        self.operators.is_empty()
            || mutant.operators.iter().any(|operator| self.operators.contains(operator))
    }
}

/// The mutants of one kernel with what became of them.
pub struct KernelMutation {
    /// The kernel.
    pub kernel: KernelName,
    /// Its text with its mutants.
    pub mutated: MutatedKernel,
    /// One for each mutant; none of one that was not asked for.
    pub results: Vec<Option<MutantResult>>,
    /// What could not be mutated, or not in the ordinary way, and why.
    pub notes: Vec<String>,
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantResult {
    /// A test noticed it.
    Killed(Kill),
    /// No test noticed it.
    Survived,
    /// No test noticed it, and none can: it does what the kernel does.
    Equivalent(EquivalenceProof),
    /// No test runs its kernel.
    NoTest,
    /// The compiler refuses it, for this reason.
    NotCompiled(String),
    /// No test noticed it, and it is not known whether one would have, for this reason.
    Undecided(String),
}

/// Why a mutant does what its kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EquivalenceProof {
    /// The optimiser makes one module of both: they do the same wherever they read no value that
    /// nobody has written.
    SameOptimisedModule,
}

impl EquivalenceProof {
    /// As documents have it.
    pub fn name(self) -> &'static str {
        match self {
            EquivalenceProof::SameOptimisedModule => "same-optimised-module",
        }
    }
}

/// How tests noticed a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    /// The first test that did, the cheapest one first.
    pub test: TestId,
    /// The first one of which an expectation does not hold; none: no expectation of any test fails.
    pub by_expectation: Option<TestId>,
    /// What the kernel itself does not have in the first test.
    pub by_finding: Option<FindingKind>,
    /// Whether it took too many steps in that test.
    pub by_time: bool,
    /// Whether the run of that test ended in an error.
    pub by_error: bool,
}

/// Mutates the kernels of a project and judges the mutants by its tests, on all cores.
///
/// # Errors
/// A test that does not pass, or that has findings: mutants of a kernel that fails by itself mean
/// nothing. Kernels that are not there, or do not compile.
pub fn mutate_project(
    project: &Project,
    kernels: &[Kernel],
    prepared_tests: &[PreparedTest<'_>],
    engine: &SequentialExecutor,
    request: &MutationRequest,
) -> Result<Vec<KernelMutation>, CampaignError> {
    check_names(request, kernels)?;
    let settings = &project.settings.value;
    let mut mutations = Vec::new();
    for (kernel, row) in kernels.iter().zip(&settings.kernels) {
        let name = KernelName::from(&kernel.name);
        if !request.kernels.is_empty() && !request.kernels.contains(&name) {
            continue;
        }
        let tests: Vec<&PreparedTest> = prepared_tests
            .iter()
            .filter(|test| test.kernels.iter().any(|own| own.name == kernel.name))
            .collect();
        let Some(source) = project::source_of(&project.root, settings, row)? else {
            let notes = vec!["it is given as SPIR-V: without a text it has no mutants".to_owned()];
            let mutated = MutatedKernel {
                files: Vec::new(),
                mutants: Vec::new(),
                selection: None,
                notes: Vec::new(),
            };
            mutations.push(KernelMutation { kernel: name, mutated, results: Vec::new(), notes });
            continue;
        };
        let wanted = match request.modules {
            MutantModules::Each => SelectionWanted::Left,
            MutantModules::Together => SelectionWanted::Compiled,
        };
        let mutated = mutate(&source, wanted)?;
        let bench = MutantBench::begin(kernel, &source, &mutated, &tests, engine)?;
        let judge = |(index, mutant): (usize, &SourceMutant)| {
            let number = index as u32 + 1;
            let judge = || match request.modules {
                MutantModules::Together => bench.judge(mutant, number),
                MutantModules::Each => bench.judge_alone(mutant),
            };
            request.asks_for(mutant).then(judge).transpose()
        };
        let rows = mutated.mutants.par_iter().with_max_len(1).enumerate();
        let results = rows.map(judge).collect::<Result<Vec<_>, CampaignError>>()?;
        let mut notes = mutated.notes.clone();
        notes.extend(bench.notes);
        mutations.push(KernelMutation { kernel: name, mutated, results, notes });
    }
    Ok(mutations)
}

fn check_names(request: &MutationRequest, kernels: &[Kernel]) -> Result<(), CampaignError> {
    let is_known = |name: &&KernelName| kernels.iter().any(|kernel| kernel.name == name.as_str());
    match request.kernels.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => {
            let message = format!("the project has no kernel `{unknown}`");
            Err(Diagnostic::new("usage", message).into())
        }
    }
}

/// How often mutants of a list came to each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MutantCounts {
    /// Killed, in whatever way.
    pub killed: usize,
    /// Of these, by an expectation.
    pub by_expectation: usize,
    /// Of those that no expectation killed, by a finding.
    pub by_finding: usize,
    /// Of those that neither killed, by time or by an error.
    pub by_ending: usize,
    /// That no test noticed.
    pub survived: usize,
    /// That no test can notice.
    pub equivalent: usize,
    /// Of kernels that no test runs.
    pub no_test: usize,
    /// That do not compile.
    pub not_compiled: usize,
    /// Of which it is not known.
    pub undecided: usize,
}

impl MutantCounts {
    /// Counts results.
    pub fn of_results<'r>(results: impl IntoIterator<Item = &'r MutantResult>) -> Self {
        let mut counts = Self::default();
        for result in results {
            match result {
                MutantResult::Killed(kill) => {
                    counts.killed += 1;
                    match kill {
                        Kill { by_expectation: Some(_), .. } => counts.by_expectation += 1,
                        Kill { by_finding: Some(_), .. } => counts.by_finding += 1,
                        Kill { .. } => counts.by_ending += 1,
                    }
                }
                MutantResult::Survived => counts.survived += 1,
                MutantResult::Equivalent(_) => counts.equivalent += 1,
                MutantResult::NoTest => counts.no_test += 1,
                MutantResult::NotCompiled(_) => counts.not_compiled += 1,
                MutantResult::Undecided(_) => counts.undecided += 1,
            }
        }
        counts
    }

    /// Mutants that tests could notice, as far as is known: all that compile and are not proved to do
    /// what the kernel does.
    pub fn judged(&self) -> usize {
        self.killed + self.survived + self.no_test + self.undecided
    }
}
