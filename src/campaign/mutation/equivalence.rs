//! Whether a mutant does what its kernel does.
//!
//! Knows: both as the compiler makes them. Promises: there is a proof, or nothing is said. What follows from the
//! ranges of values (`vkcert_spirv::range`) is asked of all mutants of a kernel in one walk through it.
//! Does not cover: mutants of dispatches.

use super::plan::MutantFacts;
use std::sync::Arc;
use vkcert_glsl::mutation::{MutatedKernel, SourceMutant, compile_with_optimization};
use vkcert_glsl::{KernelSource, Optimization};
use vkcert_model::evidence::EquivalenceProof;
use vkcert_spirv::identity::{ModuleIdentity, module_identity};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::normal_form::{NormalForm, normal_form, other_comparisons};
use vkcert_spirv::range::{OtherComparison, comparisons_agree};

/// What a kernel, or a mutant of it, is compiled to, as far as it decides what it does.
pub(super) struct ComparedText {
    /// Of the module that runs.
    identity: Option<ModuleIdentity>,
    /// The module without optimisation.
    unoptimised: Module,
    /// Of that; none where the rules do not read it.
    form: Option<NormalForm>,
    entry: String,
}

impl ComparedText {
    /// None of a text that is refused.
    pub(super) fn of_text(
        source: &KernelSource,
        mutated: &MutatedKernel,
        mutant: Option<&SourceMutant>,
    ) -> Option<Self> {
        let module = |optimization: Optimization| {
            let words = compile_with_optimization(source, mutated, mutant, optimization).ok()?;
            Module::parse(Arc::new(words)).ok()
        };
        let running = module(source.optimization)?;
        let identity = module_identity(&running);
        let unoptimised = match source.optimization {
            Optimization::Zero => running,
            Optimization::Performance | Optimization::Size => module(Optimization::Zero)?,
        };
        let form = normal_form(&unoptimised);
        Some(Self { identity, unoptimised, form, entry: source.entry.clone() })
    }

    /// Of the module that runs; none of one that has none.
    pub(super) fn identity(&self) -> Option<ModuleIdentity> {
        self.identity
    }

    fn entry_function(&self) -> Option<Id> {
        self.unoptimised.entry_point(&self.entry).map(|entry| entry.function)
    }
}

/// In what a mutant differs from its kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Difference {
    /// It does what the kernel does.
    Nothing(EquivalenceProof),
    /// In comparisons of integers alone.
    Comparisons(Vec<OtherComparison>),
    /// In something else, or it was not asked.
    Unknown,
}

impl Difference {
    pub(super) fn proof(&self) -> Option<EquivalenceProof> {
        match self {
            Difference::Nothing(proof) => Some(*proof),
            Difference::Comparisons(_) | Difference::Unknown => None,
        }
    }
}

/// Compares a mutant with its kernel.
pub(super) fn difference_of_mutant(
    source: &KernelSource,
    mutated: &MutatedKernel,
    mutant: &SourceMutant,
    of_kernel: &ComparedText,
) -> Difference {
    let Some(of_mutant) = ComparedText::of_text(source, mutated, Some(mutant)) else {
        return Difference::Unknown;
    };
    if of_kernel.identity.is_some() && of_kernel.identity == of_mutant.identity {
        Difference::Nothing(EquivalenceProof::SameModule)
    } else if of_kernel.form.is_some() && of_kernel.form == of_mutant.form {
        Difference::Nothing(EquivalenceProof::SameNormalForm)
    } else {
        let others = other_comparisons(&of_kernel.unoptimised, &of_mutant.unoptimised);
        others.map_or(Difference::Unknown, Difference::Comparisons)
    }
}

/// Finds the mutants whose comparisons come to what the kernel's do.
pub(super) fn prove_by_ranges<'k>(
    facts: &mut [MutantFacts],
    of_kernel: impl FnOnce() -> Option<&'k ComparedText>,
) {
    let asked = facts.iter_mut().filter_map(|facts| match &facts.difference {
        Difference::Comparisons(others) => {
            let others = others.clone();
            Some((&mut facts.difference, others))
        }
        Difference::Nothing(_) | Difference::Unknown => None,
    });
    let (differences, others): (Vec<&mut Difference>, Vec<Vec<OtherComparison>>) = asked.unzip();
    if others.is_empty() {
        return;
    }
    let entry = of_kernel().and_then(|of_kernel| Some((of_kernel, of_kernel.entry_function()?)));
    let Some((of_kernel, entry)) = entry else { return };
    let agree = comparisons_agree(&of_kernel.unoptimised, entry, &others);
    for (difference, agrees) in differences.into_iter().zip(agree) {
        if agrees {
            *difference = Difference::Nothing(EquivalenceProof::SameByRanges);
        }
    }
}
