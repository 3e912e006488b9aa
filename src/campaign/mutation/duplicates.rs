//! Mutants of a kernel that are compiled to one module.
//!
//! Promises: only the first of them by its number counts; the others name it and are not run. Which one is run
//! follows from the kernel alone. Mutants with the module of the kernel itself are proved equivalent instead.
//! Does not cover: mutants of dispatches, kernels whose mutants are not compiled each for itself, and samples, where
//! each mutant that is drawn counts, as it does among all that the sample stands for.

use super::mutant_run::MutantModule;
use std::collections::BTreeMap;
use vkcert_model::evidence::MutationExtent;
use vkcert_spirv::identity::{ModuleIdentity, module_identity};

/// A mutant with its module.
pub(super) struct CompiledMutant {
    /// Among those that are judged.
    pub(super) index: usize,
    /// None where it has none of its own.
    pub(super) module: Option<MutantModule>,
    identity: Option<ModuleIdentity>,
}

impl CompiledMutant {
    pub(super) fn new(index: usize, module: Option<MutantModule>) -> Self {
        let compiled = module.as_ref().and_then(|module| module.as_ref().ok());
        let identity = compiled.and_then(|module| module_identity(module));
        Self { index, module, identity }
    }
}

/// Which mutants have one module, as they are met.
pub(super) struct Duplicates {
    sought: DuplicatesSought,
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

/// Whether duplicates are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DuplicatesSought {
    Yes,
    No,
}

impl Duplicates {
    /// Of mutants of a kernel, as far as the extent of mutation testing has them.
    pub(super) fn of_kernel(kernel: Option<ModuleIdentity>, extent: &MutationExtent) -> Self {
        let sought = match extent.sample {
            Some(_) => DuplicatesSought::No,
            None => DuplicatesSought::Yes,
        };
        Self { sought, kernel, met: BTreeMap::new(), alike: BTreeMap::new() }
    }

    /// Takes note of a mutant; whether none with its module was met before.
    pub(super) fn meet(&mut self, mutant: &CompiledMutant) -> Novelty {
        let is_other = |identity: &ModuleIdentity| {
            self.sought == DuplicatesSought::Yes && self.kernel != Some(*identity)
        };
        let Some(identity) = mutant.identity.filter(is_other) else { return Novelty::New };
        match self.met.get(&identity) {
            Some(met_first) => {
                self.alike.entry(*met_first).or_default().push(mutant.index);
                Novelty::Duplicate
            }
            None => {
                self.met.insert(identity, mutant.index);
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
