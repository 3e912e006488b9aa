//! Mutants of a kernel that are compiled to one module.
//!
//! Promises: only the first of them by its number counts; the others name it and are not run. Which one is run
//! follows from the kernel alone. Mutants with the module of the kernel itself are proved equivalent instead.
//! Does not cover: mutants of dispatches, kernels whose mutants are not compiled each for itself, and samples, where
//! each mutant that is drawn counts, as it does among all that the sample stands for.

use super::mutant_run::{MutantModule, modules_of};
use super::plan::{KernelPlan, PlannedMutant};
use std::collections::BTreeMap;
use vkcert_glsl::mutation::SourceMutant;
use vkcert_model::evidence::MutationExtent;
use vkcert_spirv::identity::{ModuleIdentity, module_identity};

/// Whether duplicates are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicatesSought {
    /// Among all mutants that were asked for.
    Yes,
    /// Each mutant counts.
    No,
}

impl DuplicatesSought {
    pub(super) fn of_extent(extent: &MutationExtent) -> Self {
        match extent.sample {
            Some(_) => DuplicatesSought::No,
            None => DuplicatesSought::Yes,
        }
    }
}

/// A mutant with its module.
pub(super) struct CompiledMutant {
    /// Among those that are judged.
    pub(super) index: usize,
    /// None where it has none of its own.
    pub(super) module: Option<MutantModule>,
    /// None where it is not asked, and of a module that has none.
    pub(super) identity: Option<ModuleIdentity>,
}

impl CompiledMutant {
    pub(super) fn without_module(index: usize) -> Self {
        Self { index, module: None, identity: None }
    }

    fn with_module(index: usize, module: MutantModule, sought: DuplicatesSought) -> Self {
        let identity = match (&module, sought) {
            (Ok(module), DuplicatesSought::Yes) => module_identity(module),
            (Ok(_), DuplicatesSought::No) | (Err(_), _) => None,
        };
        Self { index, module: Some(module), identity }
    }
}

/// Some of the chosen mutants with their modules; those of dispatches have none of their own.
pub(super) fn compile_chosen(
    plan: &KernelPlan<'_>,
    indices: &[usize],
    sought: DuplicatesSought,
) -> Vec<CompiledMutant> {
    let mutant = |index: &usize| plan.mutant(plan.chosen[*index]);
    let of_text: Vec<&SourceMutant> = indices
        .iter()
        .filter_map(|index| match mutant(index) {
            PlannedMutant::OfText(mutant) => Some(mutant),
            PlannedMutant::OfDispatches(_) => None,
        })
        .collect();
    let mut modules = modules_of(plan.source.as_ref(), &plan.mutated, &of_text).into_iter();
    let compiled = indices.iter().map(|index| match mutant(index) {
        PlannedMutant::OfText(_) => {
            let module = modules.next().expect("one module of each mutant of the text");
            CompiledMutant::with_module(*index, module, sought)
        }
        PlannedMutant::OfDispatches(_) => CompiledMutant::without_module(*index),
    });
    compiled.collect()
}

/// Which mutants have one module, as they are met.
pub(super) struct Duplicates {
    kernel: Option<ModuleIdentity>,
    met: BTreeMap<ModuleIdentity, usize>,
    /// By the one that was met first: the others.
    alike: BTreeMap<usize, Vec<usize>>,
}

/// Mutants that are compiled to one module, by index.
pub(super) struct AlikeMutants {
    /// The one of the lowest index, which counts.
    pub(super) first: usize,
    /// The one that was met first.
    pub(super) met_first: usize,
    /// All but the one that counts.
    pub(super) duplicates: Vec<usize>,
}

impl Duplicates {
    /// Of mutants of the kernel whose own module has this identity.
    pub(super) fn of_kernel(kernel: Option<ModuleIdentity>) -> Self {
        Self { kernel, met: BTreeMap::new(), alike: BTreeMap::new() }
    }

    /// Takes note of a mutant; whether none with its module was met before.
    pub(super) fn meet(&mut self, index: usize, identity: Option<ModuleIdentity>) -> Novelty {
        let is_other = |identity: &ModuleIdentity| self.kernel != Some(*identity);
        let Some(identity) = identity.filter(is_other) else { return Novelty::New };
        match self.met.get(&identity) {
            Some(met_first) => {
                self.alike.entry(*met_first).or_default().push(index);
                Novelty::Duplicate
            }
            None => {
                self.met.insert(identity, index);
                Novelty::New
            }
        }
    }

    pub(super) fn groups(self) -> impl Iterator<Item = AlikeMutants> {
        self.alike.into_iter().map(|(met_first, others)| {
            let mut all = others;
            all.push(met_first);
            all.sort_unstable();
            AlikeMutants { first: all[0], met_first, duplicates: all.split_off(1) }
        })
    }
}

/// Whether a module was met before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Novelty {
    /// It was not.
    New,
    /// It was.
    Duplicate,
}
