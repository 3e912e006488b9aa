//! Which mutants are judged, and by which tests.
//!
//! Promises: follows from the project and what was asked for alone, so that `verify` finds the same
//! mutants again. Mutants are drawn of all kernels together.

use super::dispatch_mutants::{DispatchMutant, DispatchMutants, dispatch_mutants};
use super::equivalence::Difference;
use crate::CampaignError;
use crate::kernel::Kernel;
use crate::project;
use crate::test_run::PreparedTest;
use std::collections::BTreeSet;
use vkcert_coverage::acceptance::{acceptance_of_subject, mutant_acceptance};
use vkcert_glsl::KernelSource;
use vkcert_glsl::mutation::{MutatedKernel, SelectionWanted, SourceMutant, mutate};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{
    EVIDENCE_SCHEMA, MutantAcceptance, MutantEdit, MutantEvidence, MutantRuns, MutantSample,
    MutationEvidence, MutationExtent, mutant_id,
};
use vkcert_model::id::{KernelName, MutantId, RequirementId, TestId};
use vkcert_model::mutation::MutationOperator;
use vkcert_model::place::Position;
use vkcert_model::random::SplitMix64;
use vkcert_requirement::Project;

/// The mutants of one kernel that are to be judged.
pub(super) struct KernelPlan<'a> {
    project: &'a Project,
    kernels: &'a [Kernel],
    pub(super) kernel: &'a Kernel,
    /// What justifications of its mutants are bound to.
    code: String,
    /// None of one that is given as SPIR-V.
    pub(super) source: Option<KernelSource>,
    /// Mutants of its text.
    pub(super) mutated: MutatedKernel,
    /// Mutants of its dispatches, which are numbered behind those of the text.
    pub(super) dispatches: DispatchMutants,
    /// Those that run the kernel.
    pub(super) tests: Vec<&'a PreparedTest<'a>>,
    /// Places of the mutants to be judged among all of the kernel, from 0 on, in order.
    pub(super) chosen: Vec<usize>,
}

/// The mutants of a project that are to be judged.
pub(super) struct MutationPlan<'a> {
    /// In project order.
    pub(super) kernels: Vec<KernelPlan<'a>>,
    /// What is asked for; without a sample where this would be of all mutants.
    pub(super) extent: MutationExtent,
}

/// A mutant of a kernel.
#[derive(Clone, Copy)]
pub(super) enum PlannedMutant<'p> {
    /// Of its text.
    OfText(&'p SourceMutant),
    /// Of its dispatches.
    OfDispatches(&'p DispatchMutant),
}

impl PlannedMutant<'_> {
    fn operators(&self) -> &[MutationOperator] {
        match self {
            PlannedMutant::OfText(mutant) => &mutant.operators,
            PlannedMutant::OfDispatches(mutant) => std::slice::from_ref(&mutant.operator),
        }
    }
}

/// What became of a mutant, before anything is derived from it.
pub(super) struct MutantFacts {
    pub(super) runs: MutantRuns,
    /// From the kernel, asked of what no test noticed.
    pub(super) difference: Difference,
}

impl MutantFacts {
    /// Of a mutant that is not compared with its kernel.
    pub(super) fn without_proof(runs: MutantRuns) -> Self {
        Self { runs, difference: Difference::Unknown }
    }
}

/// Finds the mutants of the kernels and chooses those that are asked for.
///
/// # Errors
/// Names that the project does not have; kernels that cannot be read; kernels and requirements of which no test of the
/// latter runs any of the former.
pub(super) fn plan_mutation<'a>(
    project: &'a Project,
    kernels: &'a [Kernel],
    prepared_tests: &'a [PreparedTest<'a>],
    asked: &MutationExtent,
    selection: SelectionWanted,
) -> Result<MutationPlan<'a>, CampaignError> {
    check_names(project, kernels, asked)?;
    let settings = &project.settings.value;
    let mut plans = Vec::new();
    for (kernel, row) in kernels.iter().zip(&settings.kernels) {
        if !asked.kernels.is_empty() && !asked.kernels.contains(&row.name) {
            continue;
        }
        let judges = |test: &&PreparedTest| {
            let runs_kernel = test.kernels.iter().any(|own| own.name == kernel.name);
            runs_kernel && is_asked_of(&test.test.requirements, &asked.requirements)
        };
        let tests: Vec<&PreparedTest> = prepared_tests.iter().filter(judges).collect();
        if tests.is_empty() && !asked.requirements.is_empty() {
            continue;
        }
        let source = project::source_of(&project.root, settings, row)?;
        let mutated = match &source {
            Some(source) => mutate(source, selection)?,
            None => without_text(),
        };
        let dispatches = dispatch_mutants(project, kernels, row.name);
        let code = kernel.signed_hash();
        let chosen = Vec::new();
        let mut plan = KernelPlan {
            project,
            kernels,
            kernel,
            code,
            source,
            mutated,
            dispatches,
            tests,
            chosen,
        };
        plan.chosen = (0..plan.population()).filter(|place| plan.is_asked(*place, asked)).collect();
        plans.push(plan);
    }
    if plans.is_empty() && !asked.requirements.is_empty() {
        return Err(no_test_runs(asked).into());
    }
    let population: usize = plans.iter().map(|plan| plan.chosen.len()).sum();
    let mut extent = asked.clone();
    extent.sample = asked.sample.filter(|sample| (sample.count as usize) < population);
    if let Some(sample) = extent.sample {
        draw_sample(&mut plans, sample);
    }
    Ok(MutationPlan { kernels: plans, extent })
}

fn no_test_runs(asked: &MutationExtent) -> Diagnostic {
    let requirements: Vec<&str> = asked.requirements.iter().map(RequirementId::as_str).collect();
    let kernels: Vec<&str> = asked.kernels.iter().map(KernelName::as_str).collect();
    let kernels = match kernels.is_empty() {
        true => "a kernel".to_owned(),
        false => format!("kernel {}", kernels.join(" or ")),
    };
    Diagnostic::new("usage", format!("no test of {} runs {kernels}", requirements.join(" or ")))
}

/// The names of the mutants of a kernel's text; none of one that is given as SPIR-V.
pub(crate) fn ids_of_text(
    project: &Project,
    kernel: &Kernel,
) -> Result<BTreeSet<MutantId>, CampaignError> {
    let name = KernelName::from(&kernel.name);
    let settings = &project.settings.value;
    let source = match settings.kernels.iter().find(|row| row.name == name) {
        Some(row) => project::source_of(&project.root, settings, row)?,
        None => None,
    };
    let of_text = match &source {
        Some(source) => mutate(source, SelectionWanted::Left)?.mutants,
        None => Vec::new(),
    };
    let ids = of_text.iter().zip(1..).map(|(mutant, number)| mutant_id(&mutant.operators, number));
    Ok(ids.collect())
}

/// Whether a test of these requirements is one of those that are asked for.
fn is_asked_of(own: &[RequirementId], asked: &[RequirementId]) -> bool {
    asked.is_empty() || own.iter().any(|requirement| asked.contains(requirement))
}

fn without_text() -> MutatedKernel {
    let note = "it is given as SPIR-V: there are no mutants of its text".to_owned();
    MutatedKernel::without_mutants(Vec::new(), note)
}

fn check_names(
    project: &Project,
    kernels: &[Kernel],
    asked: &MutationExtent,
) -> Result<(), CampaignError> {
    let refused = |named_thing: &str, name: &str| {
        let message = format!("the project has no {named_thing} `{name}`");
        Err(Diagnostic::new("usage", message).into())
    };
    let is_kernel = |name: &&KernelName| kernels.iter().any(|kernel| kernel.name == name.as_str());
    if let Some(unknown) = asked.kernels.iter().find(|name| !is_kernel(name)) {
        return refused("kernel", unknown.as_str());
    }
    let is_requirement = |uid: &&RequirementId| {
        project.requirements.iter().any(|requirement| requirement.uid == **uid)
    };
    if let Some(unknown) = asked.requirements.iter().find(|uid| !is_requirement(uid)) {
        return refused("requirement", unknown.as_str());
    }
    Ok(())
}

/// Leaves so many of the chosen mutants as the sample has, each set of them as likely as any other
/// (the first draws of a Fisher-Yates shuffle).
fn draw_sample(plans: &mut [KernelPlan<'_>], sample: MutantSample) {
    let mut places: Vec<(usize, usize)> = plans
        .iter()
        .enumerate()
        .flat_map(|(kernel, plan)| plan.chosen.iter().map(move |mutant| (kernel, *mutant)))
        .collect();
    let count = places.len().min(sample.count as usize);
    let mut generator = SplitMix64::new(sample.seed);
    for index in 0..count {
        let other = generator.integer(index as i128, places.len() as i128 - 1) as usize;
        places.swap(index, other);
    }
    let drawn: BTreeSet<(usize, usize)> = places.into_iter().take(count).collect();
    for (kernel, plan) in plans.iter_mut().enumerate() {
        plan.chosen.retain(|mutant| drawn.contains(&(kernel, *mutant)));
    }
}

impl KernelPlan<'_> {
    pub(super) fn name(&self) -> KernelName {
        KernelName::from(&self.kernel.name)
    }

    /// How many mutants the kernel has.
    fn population(&self) -> usize {
        self.mutated.mutants.len() + self.dispatches.mutants.len()
    }

    /// The mutant at a place among all of the kernel, from 0 on.
    pub(super) fn mutant(&self, place: usize) -> PlannedMutant<'_> {
        match self.mutated.mutants.get(place) {
            Some(mutant) => PlannedMutant::OfText(mutant),
            None => {
                let behind_text = place - self.mutated.mutants.len();
                PlannedMutant::OfDispatches(&self.dispatches.mutants[behind_text])
            }
        }
    }

    /// The number of a chosen mutant.
    pub(super) fn number(&self, index: usize) -> u32 {
        self.chosen[index] as u32 + 1
    }

    /// Whether a mutant is asked for: by its operators, and where tests of some requirements are to judge, as a
    /// fault that one of these has.
    fn is_asked(&self, place: usize, asked: &MutationExtent) -> bool {
        let mutant = self.mutant(place);
        let is_of_operators = asked.operators.is_empty()
            || mutant.operators().iter().any(|made| asked.operators.contains(made));
        let has_test = match mutant {
            PlannedMutant::OfDispatches(mutant) if !asked.requirements.is_empty() => {
                self.tests.iter().any(|test| mutant.faults.contains_key(&test.test.id))
            }
            PlannedMutant::OfDispatches(_) | PlannedMutant::OfText(_) => true,
        };
        is_of_operators && has_test
    }

    /// The tests that can judge: an engine runs them.
    pub(super) fn judging_tests(&self) -> impl Iterator<Item = &PreparedTest<'_>> {
        self.tests.iter().copied().filter(|test| test.job_plan.is_ok())
    }

    /// The evidence that facts of the chosen mutants come to, one for each; statuses are still to be
    /// derived.
    pub(super) fn evidence(&self, facts: Vec<MutantFacts>) -> MutationEvidence {
        let rows = self.chosen.iter().zip(facts);
        let mutants = rows.map(|(place, facts)| self.mutant_evidence(*place, facts));
        MutationEvidence {
            schema: EVIDENCE_SCHEMA,
            kernel: self.name(),
            population: self.population() as u32,
            tests: self.judging_tests().map(|test| test.test.id).collect::<Vec<TestId>>(),
            notes: self.notes(),
            engine_notes: Vec::new(),
            mutants: mutants.collect(),
            pairs: Vec::new(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let unsupported = self.tests.iter().filter_map(|prepared| {
            let unsupported = prepared.job_plan.as_ref().err()?;
            let name = &prepared.test.id;
            Some(format!("test {name} judges no mutant: no engine runs it ({unsupported})"))
        });
        let notes = self.mutated.notes.iter().chain(&self.dispatches.notes);
        notes.cloned().chain(unsupported).collect()
    }

    fn mutant_evidence(&self, place: usize, facts: MutantFacts) -> MutantEvidence {
        let MutantFacts { runs, difference } = facts;
        let proof = difference.proof();
        let mutant = self.mutant(place);
        let status = runs.status(proof);
        let edits = match mutant {
            PlannedMutant::OfText(mutant) => self.edits(mutant),
            PlannedMutant::OfDispatches(mutant) => mutant.edits.clone(),
        };
        let signed = || match mutant {
            PlannedMutant::OfText(mutant) => self.acceptance_of_text(mutant, &edits),
            PlannedMutant::OfDispatches(mutant) => {
                let own = (self.name(), self.code.as_str());
                acceptance_of_subject(mutant.subject(own, self.project, self.kernels))
            }
        };
        let acceptance = status.can_be_accepted().then(signed);
        let (number, operators) = (place as u32 + 1, mutant.operators().to_vec());
        let on_device = None;
        MutantEvidence { number, operators, edits, runs, proof, acceptance, on_device, status }
    }

    /// What a justification of the mutant of the text with these edits signs.
    fn acceptance_of_text(&self, mutant: &SourceMutant, edits: &[MutantEdit]) -> MutantAcceptance {
        let files = &self.mutated.files;
        let texts = mutant.edits.iter().map(|edit| files[edit.span.file.0 as usize].text.as_str());
        mutant_acceptance(self.name(), &self.code, edits.iter().zip(texts))
    }

    fn edits(&self, mutant: &SourceMutant) -> Vec<MutantEdit> {
        let edits = mutant.edits.iter().map(|edit| {
            let file = &self.mutated.files[edit.span.file.0 as usize];
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            let Position { line, column } = Position::of(&file.text, start);
            MutantEdit {
                file: file.path.clone(),
                start: edit.span.start,
                line,
                column,
                old: file.text[start..end].to_owned(),
                new: edit.text.clone(),
            }
        });
        edits.collect()
    }
}
