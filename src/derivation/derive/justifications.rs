//! Which justifications count, and what they are bound to.
//!
//! Knows: coverage of all kernels, the campaign's justifications and its level.
//! Promises: what any engine's records refute, or is bound to other contents, is rejected with the
//! reason; a justification is superfluous only if no engine needs it.
//! Does not cover: acceptances of findings (`acceptance`) and of mutants (`mutation`).

use super::{RecordChoice, coverage_by, has_source, summary_without_source};
use crate::acceptance;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::coupling::class_summaries;
use vkcert_coverage::justification::{
    BoundConfiguration, BoundContents, BoundKernel, GivenJustification, Rejection, ShownObligations,
};
use vkcert_coverage::{self as coverage, HashBinding, JustificationStandard, justification};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{Campaign, Configuration, KernelEvidence};
use vkcert_model::id::{KernelName, ObligationId};
use vkcert_model::requirement::{Justification, JustificationClass, JustificationSubject};

/// What a justification that no row of evidence is about names.
pub fn missing_subject(justification: &Justification) -> String {
    match &justification.configuration {
        None => format!("the project has no kernel {}", justification.kernel),
        Some(configuration) => {
            format!("{} has no configuration {configuration}", justification.kernel)
        }
    }
}

/// Applies the campaign's justifications to every kernel and to the findings, and notes which are
/// rejected; counts classes of coupling. A justification of an obligation counts where that is open; it is superfluous only if
/// no engine needs it.
pub fn apply_justifications(evidence: &mut [KernelEvidence], campaign: &mut Campaign) {
    let justifications: Vec<_> =
        campaign.justifications.iter().map(|kernel_row| kernel_row.justification.clone()).collect();
    let standard = JustificationStandard::for_level(campaign.project.level, campaign.schema);
    let refuting_sentences = refuting_sentences(evidence, &justifications, &standard);
    let given_justifications: Vec<GivenJustification> = justifications
        .iter()
        .zip(refuting_sentences)
        .map(|(justification, refuted)| GivenJustification { justification, refuted })
        .collect();
    let configurations = bound_configurations(evidence);
    let mut rejections: Vec<Vec<Option<Rejection>>> = vec![Vec::new(); justifications.len()];
    for kernel_row in evidence.iter_mut().filter(|kernel_row| {
        given_justifications.iter().any(|given| given.justification.kernel == kernel_row.kernel)
    }) {
        let bound_kernel = bound_kernel(kernel_row, &configurations[&kernel_row.kernel]);
        let justified = coverage::apply_justifications(
            bound_kernel,
            &kernel_row.coverage,
            &given_justifications,
            &standard,
        );
        for (index, rejection) in justified.rejected.into_iter().enumerate() {
            if justification::claimed_obligation(
                &justifications[index],
                &kernel_row.kernel,
                &kernel_row.coverage,
            )
            .is_some()
            {
                rejections[index].push(rejection);
            }
        }
        match (has_source(kernel_row), standard.binding) {
            (true, _) => kernel_row.coverage = justified.coverage,
            (false, HashBinding::Content) => {
                kernel_row.coverage = justified.coverage;
                kernel_row.coverage.summary = summary_without_source(&kernel_row.coverage);
            }
            // It did not count there.
            (false, HashBinding::DisplayedText) => {}
        }
    }
    let kernels_following_tests: BTreeSet<KernelName> =
        configured_by_tests(campaign).cloned().collect();
    for (kernel_row, kernel_rejections) in campaign.justifications.iter_mut().zip(rejections) {
        let first_rejection = kernel_rejections
            .iter()
            .all(Option::is_some)
            .then(|| kernel_rejections.into_iter().next().flatten());
        (kernel_row.rejected, kernel_row.not_judged) = match first_rejection {
            None => (None, None),
            Some(None) => (Some(missing_subject(&kernel_row.justification)), None),
            // Configurations that tests make are not all there.
            Some(Some(Rejection::Stale(_)))
                if kernels_following_tests.contains(&kernel_row.justification.kernel) =>
            {
                (
                    None,
                    Some(
                        "tests were left out, and with them configurations that it is bound to"
                            .to_owned(),
                    ),
                )
            }
            Some(Some(rejection)) => (Some(rejection.reason().to_owned()), None),
        };
    }
    evidence.iter_mut().for_each(count_coupling_classes);
    acceptance::accept_findings(evidence, campaign);
}

/// Classes of coupling are counted when no status changes any more.
fn count_coupling_classes(kernel_row: &mut KernelEvidence) {
    kernel_row.coverage.coupling_classes = match &kernel_row.pairs {
        Some(pairs) if kernel_row.coverage.coupling.is_some() => {
            class_summaries(pairs, &kernel_row.coverage)
        }
        Some(_) | None => Vec::new(),
    };
}

/// Kernels whose configurations are those that tests use, where tests were left out.
fn configured_by_tests(campaign: &Campaign) -> impl Iterator<Item = &KernelName> {
    let settings = campaign.settings.as_ref().filter(|_| campaign.lacks_tests());
    let project_kernels = settings.into_iter().flat_map(|settings| &settings.kernels);
    project_kernels.filter(|kernel| kernel.configurations.is_empty()).map(|kernel| &kernel.name)
}

fn bound_configurations(
    evidence: &[KernelEvidence],
) -> BTreeMap<KernelName, Vec<BoundConfiguration>> {
    let mut configurations_by_kernel: BTreeMap<KernelName, Vec<&Configuration>> = BTreeMap::new();
    for kernel_row in evidence {
        configurations_by_kernel
            .entry(kernel_row.kernel)
            .or_default()
            .push(&kernel_row.configuration);
    }
    configurations_by_kernel
        .into_iter()
        .map(|(kernel, kernel_configurations)| {
            (kernel, BoundConfiguration::of_all(kernel_configurations.into_iter()))
        })
        .collect()
}

/// What justifications of mutants, and of pairs with a kernel as the earlier one, are bound to of every kernel.
pub fn signed_kernel_hashes(evidence: &[KernelEvidence]) -> BTreeMap<KernelName, String> {
    let configurations = bound_configurations(evidence);
    let hashes = evidence.iter().map(|row| {
        let hash =
            justification::signed_kernel_hash(&row.modules.code, &configurations[&row.kernel]);
        (row.kernel, hash)
    });
    hashes.collect()
}

fn bound_kernel<'a>(
    kernel_row: &'a KernelEvidence,
    configurations: &'a [BoundConfiguration],
) -> BoundKernel<'a> {
    BoundKernel {
        kernel: &kernel_row.kernel,
        structure: has_source(kernel_row).then_some(&kernel_row.structure),
        objects: &kernel_row.objects.structure,
        pairs: kernel_row.pairs.as_ref(),
        code: &kernel_row.modules.code,
        configurations,
    }
}

/// What the records of any engine say against each justification that claims that something cannot
/// happen.
fn refuting_sentences(
    evidence: &[KernelEvidence],
    justifications: &[Justification],
    standard: &JustificationStandard,
) -> Vec<Option<String>> {
    let mut refuting_sentences = vec![None; justifications.len()];
    if standard.binding == HashBinding::DisplayedText {
        return refuting_sentences;
    }
    for kernel_row in evidence {
        let mut shown_obligations = None;
        for (justification, refuting_sentence) in justifications.iter().zip(&mut refuting_sentences)
        {
            let Some(obligation_id) = claimed_impossible(justification, kernel_row)
                .filter(|_| refuting_sentence.is_none())
            else {
                continue;
            };
            let shown_obligations = shown_obligations.get_or_insert_with(|| {
                ShownObligations::from_coverage(&coverage_by(
                    kernel_row,
                    RecordChoice::All,
                    &[
                        CriterionName::Function,
                        CriterionName::Call,
                        CriterionName::LoopBoundary,
                        CriterionName::Boundary,
                        CriterionName::Coupling,
                    ]
                    .map(StoredCriterion::from),
                ))
            });
            let shown = shown_obligations.refuting_sentence(obligation_id, kernel_row.engine);
            *refuting_sentence = shown.map(|sentence| {
                let has_several = configuration_count(evidence, &kernel_row.kernel) > 1;
                let configuration_words = has_several
                    .then(|| format!(" under configuration {}", kernel_row.configuration.name));
                let class = justification.class;
                format!(
                    "contradicted: {sentence}{}, which class {class} says cannot be",
                    configuration_words.unwrap_or_default()
                )
            });
        }
    }
    refuting_sentences
}

fn configuration_count(evidence: &[KernelEvidence], kernel: &KernelName) -> usize {
    let kernel_rows = evidence.iter().filter(|row| row.kernel == *kernel);
    kernel_rows.map(|row| row.configuration.name.as_str()).collect::<BTreeSet<_>>().len()
}

/// The obligation of a kernel that a justification says cannot be met there. What is dead is in no
/// configuration.
fn claimed_impossible<'a>(
    justification: &'a Justification,
    kernel_row: &KernelEvidence,
) -> Option<&'a ObligationId> {
    let JustificationSubject::Obligation(obligation_id) = &justification.subject else {
        return None;
    };
    let is_dead_everywhere = justification.class == JustificationClass::Dead;
    let configuration = justification.configuration.as_ref().filter(|_| !is_dead_everywhere);
    let is_of_kernel = justification.kernel == kernel_row.kernel
        && configuration.is_none_or(|name| *name == kernel_row.configuration.name);
    (is_of_kernel && justification.class.claims_impossibility()).then_some(obligation_id)
}

/// The contents that justifications of the obligations of each of the stored kernels, which are all
/// of the evidence, are bound to.
pub fn stored_contents(
    kernels: &[KernelEvidence],
    mut read: impl FnMut(&KernelEvidence, &BoundContents),
) {
    let configurations = bound_configurations(kernels);
    for kernel_row in kernels {
        read(
            kernel_row,
            &BoundContents::from_coverage(
                bound_kernel(kernel_row, &configurations[&kernel_row.kernel]),
                &kernel_row.coverage,
            ),
        );
    }
}
