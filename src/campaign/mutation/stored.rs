//! The facts of mutation testing that evidence stores, for the mutants that its project has.
//!
//! Promises: mutants, their edits, the tests that judge them and the notes are found anew in the
//! stored texts; of the evidence come the verdicts alone. Duplicates are found and proofs of equivalence are made
//! again, and what is said not to compile is compiled again.
//! Does not cover: whether the verdicts are true (`verify --replay` judges every mutant again).

use super::duplicates::{Duplicates, DuplicatesSought, compile_chosen};
use super::equivalence::{ComparedText, Difference, difference_of_mutant, prove_by_ranges};
use super::mutant_run::runs_of_refused;
use super::plan::{KernelPlan, MutantFacts, MutationPlan, PlannedMutant, plan_mutation};
use super::second_order::{PairedPlaces, pairs_of_killed};
use super::{COMPILED_TOGETHER, MutationFacts};
use crate::CampaignError;
use crate::kernel::Kernel;
use crate::test_run::PreparedTest;
use rayon::prelude::*;
use std::collections::BTreeMap;
use vkcert_glsl::KernelSource;
use vkcert_glsl::mutation::{SelectionWanted, SourceMutant, compile_alone};
use vkcert_model::evidence::{
    Evidence, JudgingEngines, MutantEvidence, MutantPair, MutantRuns, MutationEvidence,
    MutationExtent, MutationOrder,
};
use vkcert_requirement::Project;
use vkcert_spirv::identity::ModuleIdentity;
use vkcert_verification::Verification;

/// The facts of stored evidence; none where mutants were not asked for.
pub(crate) fn stored_mutation(
    stored_evidence: &Evidence,
    project: &Project,
    kernels: &[Kernel],
    prepared_tests: &[PreparedTest<'_>],
    verification: &mut Verification,
) -> Result<Option<MutationFacts>, CampaignError> {
    let Some(summary) = &stored_evidence.campaign.mutation else { return Ok(None) };
    let asked = &summary.asked;
    let MutationPlan { kernels: plans, extent } =
        plan_mutation(project, kernels, prepared_tests, asked, SelectionWanted::Left)?;
    verification.check(extent == *asked, || {
        "what is called a sample of the mutants is all of them".to_owned()
    });
    let mut mutations = Vec::new();
    for plan in &plans {
        let rows = &stored_evidence.mutations;
        let stored = rows.iter().find(|row| row.kernel == plan.name());
        verification.check(stored.is_some(), || {
            format!("there is no file of the mutants of kernel {}", plan.name())
        });
        let Some(stored) = stored else { continue };
        mutations.push(evidence_of_kernel(plan, stored, asked, verification));
    }
    Ok(Some(MutationFacts { asked: asked.clone(), mutations }))
}

fn evidence_of_kernel(
    plan: &KernelPlan<'_>,
    stored: &MutationEvidence,
    asked: &MutationExtent,
    verification: &mut Verification,
) -> MutationEvidence {
    let numbers: Vec<u32> = stored.mutants.iter().map(|mutant| mutant.number).collect();
    let due: Vec<u32> = plan.chosen.iter().map(|place| *place as u32 + 1).collect();
    verification.check(numbers == due, || {
        format!("the mutants of kernel {} are not those that were asked for", stored.kernel)
    });
    if numbers != due {
        return stored.clone();
    }
    let source = plan.source.as_ref();
    let of_kernel = source.and_then(|source| ComparedText::of_text(source, &plan.mutated, None));
    let of_kernel = of_kernel.as_ref();
    let mut evidence = plan.evidence(stored_facts(plan, stored, asked, of_kernel));
    evidence.pairs = match asked.order {
        MutationOrder::First => Vec::new(),
        MutationOrder::Second => stored_pairs(plan, stored, &evidence, of_kernel),
    };
    evidence.engine_notes.clone_from(&stored.engine_notes);
    if asked.engines == JudgingEngines::Both {
        keep_verdicts_of_device(&mut evidence, stored);
    }
    evidence
}

/// Takes over what a device made of mutants that the sequential engine has judged again.
pub(crate) fn keep_device_facts(facts: &mut MutationFacts, stored_evidence: &Evidence) {
    let Some(summary) = &stored_evidence.campaign.mutation else { return };
    if summary.asked.engines == JudgingEngines::Sequential {
        return;
    }
    facts.asked.engines = summary.asked.engines;
    for kernel in &mut facts.mutations {
        let mut rows = stored_evidence.mutations.iter();
        let Some(stored) = rows.find(|row| row.kernel == kernel.kernel) else { continue };
        let own = kernel.engine_notes.clone();
        let of_device = stored.engine_notes.iter().filter(|note| !own.contains(note));
        kernel.engine_notes.extend(of_device.cloned());
        keep_verdicts_of_device(kernel, stored);
    }
}

fn keep_verdicts_of_device(kernel: &mut MutationEvidence, stored: &MutationEvidence) {
    let by_number: BTreeMap<u32, &MutantEvidence> =
        stored.mutants.iter().map(|mutant| (mutant.number, mutant)).collect();
    for mutant in &mut kernel.mutants {
        let stored = by_number.get(&mutant.number);
        mutant.on_device = stored.and_then(|stored| stored.on_device.clone());
    }
}

/// The numbers of the mutants that others have the module of, by the index of these.
fn duplicates_of(
    plan: &KernelPlan<'_>,
    of_kernel: Option<&ComparedText>,
    asked: &MutationExtent,
) -> BTreeMap<usize, u32> {
    let sought = DuplicatesSought::of_extent(asked);
    if sought == DuplicatesSought::No {
        return BTreeMap::new();
    }
    let indices: Vec<usize> = (0..plan.chosen.len()).collect();
    // Modules are dropped as soon as they are compared.
    let identities = |part: &[usize]| -> Vec<(usize, Option<ModuleIdentity>)> {
        let compiled = compile_chosen(plan, part, sought).into_iter();
        compiled.map(|mutant| (mutant.index, mutant.identity)).collect()
    };
    let identities: Vec<_> =
        indices.par_chunks(COMPILED_TOGETHER).flat_map_iter(identities).collect();
    let mut duplicates = Duplicates::of_kernel(of_kernel.and_then(ComparedText::identity));
    for (index, identity) in identities {
        duplicates.meet(index, identity);
    }
    let alike = duplicates.groups();
    let rows = alike.flat_map(|alike| {
        let first = plan.number(alike.first);
        alike.duplicates.into_iter().map(move |index| (index, first))
    });
    rows.collect()
}

/// Verdicts as they are stored. What no test noticed is compared with the kernel again, and what did not
/// run is compiled again.
fn stored_facts(
    plan: &KernelPlan<'_>,
    stored: &MutationEvidence,
    asked: &MutationExtent,
    of_kernel: Option<&ComparedText>,
) -> Vec<MutantFacts> {
    let duplicates = duplicates_of(plan, of_kernel, asked);
    let facts_of = |(index, (place, stored)): (usize, (&usize, &MutantEvidence))| {
        if let Some(first) = duplicates.get(&index) {
            return MutantFacts::without_proof(MutantRuns::SameAs(*first));
        }
        match (plan.mutant(*place), &plan.source) {
            (PlannedMutant::OfText(mutant), Some(source)) => {
                facts_of_text(plan, (source, mutant), &stored.runs, of_kernel)
            }
            // There is nothing to compile.
            (PlannedMutant::OfText(_) | PlannedMutant::OfDispatches(_), _) => {
                MutantFacts::without_proof(stored.runs.clone())
            }
        }
    };
    let rows = plan.chosen.par_iter().zip(&stored.mutants).enumerate().with_max_len(1);
    let mut facts: Vec<MutantFacts> = rows.map(facts_of).collect();
    prove_by_ranges(&mut facts, || of_kernel);
    facts
}

/// What is stored of a mutant of a kernel's text, or of two at once.
fn facts_of_text(
    plan: &KernelPlan<'_>,
    (source, mutant): (&KernelSource, &SourceMutant),
    stored: &MutantRuns,
    of_kernel: Option<&ComparedText>,
) -> MutantFacts {
    let runs = match stored {
        MutantRuns::Judged(_) => stored.clone(),
        // It is not, and nobody knows what the tests make of it.
        MutantRuns::SameAs(_) => MutantRuns::Judged(BTreeMap::new()),
        MutantRuns::NotCompiled(_) | MutantRuns::NotRun(_) => {
            match compile_alone(source, &plan.mutated, mutant) {
                // It would have run, and nobody knows how.
                Ok(_) => MutantRuns::Judged(BTreeMap::new()),
                Err(not_compiled) => runs_of_refused(not_compiled),
            }
        }
    };
    let is_compared =
        matches!(runs, MutantRuns::Judged(_)) && runs.noticing_tests().next().is_none();
    let difference = match of_kernel {
        Some(of_kernel) if is_compared => {
            difference_of_mutant(source, &plan.mutated, mutant, of_kernel)
        }
        Some(_) | None => Difference::Unknown,
    };
    MutantFacts { runs, difference }
}

/// The pairs of the mutants that are killed by what is stored. Of a pair that is not stored nobody knows what the tests
/// make of it.
fn stored_pairs(
    plan: &KernelPlan<'_>,
    stored: &MutationEvidence,
    judged: &MutationEvidence,
    of_kernel: Option<&ComparedText>,
) -> Vec<MutantPair> {
    let due = pairs_of_killed(plan, judged);
    let runs_of_pair = |places: PairedPlaces| {
        let (parts, relation) = places.name();
        let mut rows = stored.pairs.iter();
        let row = rows.find(|row| row.parts == parts && row.relation == relation);
        row.map_or_else(|| MutantRuns::Judged(BTreeMap::new()), |row| row.runs.clone())
    };
    let facts_of = |places: &PairedPlaces| match &plan.source {
        Some(source) => {
            let both = places.mutant(plan);
            facts_of_text(plan, (source, &both), &runs_of_pair(*places), of_kernel)
        }
        None => MutantFacts::without_proof(runs_of_pair(*places)),
    };
    let mut facts: Vec<MutantFacts> = due.par_iter().with_max_len(1).map(facts_of).collect();
    prove_by_ranges(&mut facts, || of_kernel);
    due.into_iter().zip(facts).map(|(places, facts)| places.evidence(facts)).collect()
}
