//! Which justifications count, and what they are bound to.
//!
//! Knows: coverage of all kernels, the campaign's justifications and its level.
//! Promises: what any engine's records refute, or is bound to other contents, is rejected with the
//! reason; a justification is superfluous only if no engine needs it.
//! Does not cover: acceptances of findings (`acceptance`).

use super::{Chosen, coverage_by, has_source, summary_without_source};
use crate::acceptance;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::justification::{
    BoundConfiguration, BoundContents, BoundKernel, GivenJustification, Rejection, ShownObligations,
};
use vkcert_coverage::{self as coverage, HashBinding, JustificationStandard, justification};
use vkcert_model::evidence::{Campaign, Configuration, KernelEvidence};
use vkcert_model::id::{KernelName, ObligationId};
use vkcert_model::requirement::{Justification, JustificationClass, JustificationSubject};

/// What a justification that no row of evidence is about names.
pub fn nothing(justification: &Justification) -> String {
    match &justification.configuration {
        None => format!("the project has no kernel {}", justification.kernel),
        Some(configuration) => {
            format!("{} has no configuration {configuration}", justification.kernel)
        }
    }
}

/// Applies the campaign's justifications to every kernel and to the findings, and notes which are
/// rejected. A justification of an obligation counts where that is open; it is superfluous only if
/// no engine needs it.
pub fn justify(evidence: &mut [KernelEvidence], campaign: &mut Campaign) {
    let justifications: Vec<_> =
        campaign.justifications.iter().map(|row| row.justification.clone()).collect();
    let standard = JustificationStandard::for_level(campaign.project.level, campaign.schema);
    let refuted = refutations(evidence, &justifications, &standard);
    let given: Vec<GivenJustification> = justifications
        .iter()
        .zip(refuted)
        .map(|(justification, refuted)| GivenJustification { justification, refuted })
        .collect();
    let configurations = bound_configurations(evidence);
    let mut rejections: Vec<Vec<Option<Rejection>>> = vec![Vec::new(); justifications.len()];
    for row in evidence
        .iter_mut()
        .filter(|row| given.iter().any(|given| given.justification.kernel == row.kernel))
    {
        let bound = bound(row, &configurations[&row.kernel]);
        let justified = coverage::apply_justifications(bound, &row.coverage, &given, &standard);
        for (index, rejection) in justified.rejected.iter().enumerate() {
            if justification::claimed_obligation(&justifications[index], &row.kernel, &row.coverage)
                .is_some()
            {
                rejections[index].push(rejection.clone());
            }
        }
        match (has_source(row), standard.binding) {
            (true, _) => row.coverage = justified.coverage,
            (false, HashBinding::Content) => {
                row.coverage = justified.coverage;
                row.coverage.summary = summary_without_source(&row.coverage);
            }
            // It did not count there.
            (false, HashBinding::DisplayedText) => {}
        }
    }
    let followed: BTreeSet<KernelName> = configured_by_tests(campaign).cloned().collect();
    for (row, found) in campaign.justifications.iter_mut().zip(rejections) {
        let first = found.iter().all(Option::is_some).then(|| found.into_iter().next().flatten());
        (row.rejected, row.not_judged) = match first {
            None => (None, None),
            Some(None) => (Some(nothing(&row.justification)), None),
            // Configurations that tests make are not all there.
            Some(Some(Rejection::Stale(_))) if followed.contains(&row.justification.kernel) => (
                None,
                Some(
                    "tests were left out, and with them configurations that it is bound to"
                        .to_owned(),
                ),
            ),
            Some(Some(rejection)) => (Some(rejection.reason().to_owned()), None),
        };
    }
    acceptance::accept(evidence, campaign);
}

/// Kernels whose configurations are those that tests use, where tests were left out.
fn configured_by_tests(campaign: &Campaign) -> impl Iterator<Item = &KernelName> {
    let settings = campaign.settings.as_ref().filter(|_| !campaign.left_out.is_empty());
    let kernels = settings.into_iter().flat_map(|settings| &settings.kernels);
    kernels.filter(|kernel| kernel.configurations.is_empty()).map(|kernel| &kernel.name)
}

fn bound_configurations(
    evidence: &[KernelEvidence],
) -> BTreeMap<KernelName, Vec<BoundConfiguration>> {
    let mut all: BTreeMap<KernelName, Vec<&Configuration>> = BTreeMap::new();
    for row in evidence {
        all.entry(row.kernel).or_default().push(&row.configuration);
    }
    all.into_iter()
        .map(|(kernel, found)| (kernel, BoundConfiguration::of_all(found.into_iter())))
        .collect()
}

fn bound<'a>(row: &'a KernelEvidence, configurations: &'a [BoundConfiguration]) -> BoundKernel<'a> {
    BoundKernel {
        kernel: &row.kernel,
        structure: has_source(row).then_some(&row.structure),
        objects: &row.objects.structure,
        code: &row.modules.code,
        configurations,
    }
}

/// What the records of any engine say against each justification that claims that something cannot
/// happen.
fn refutations(
    evidence: &[KernelEvidence],
    justifications: &[Justification],
    standard: &JustificationStandard,
) -> Vec<Option<String>> {
    let mut refuted = vec![None; justifications.len()];
    if standard.binding == HashBinding::DisplayedText {
        return refuted;
    }
    for row in evidence {
        let mut shown = None;
        for (justification, refuted) in justifications.iter().zip(&mut refuted) {
            let Some(id) = claimed_impossible(justification, row).filter(|_| refuted.is_none())
            else {
                continue;
            };
            let shown = shown.get_or_insert_with(|| {
                ShownObligations::from_coverage(&coverage_by(row, Chosen::All))
            });
            *refuted = shown.refuting_sentence(id, row.engine).map(|sentence| {
                let under = configurations_of(evidence, &row.kernel) > 1;
                let under =
                    under.then(|| format!(" under configuration {}", row.configuration.name));
                let class = justification.class;
                format!(
                    "contradicted: {sentence}{}, which class {class} says cannot be",
                    under.unwrap_or_default()
                )
            });
        }
    }
    refuted
}

fn configurations_of(evidence: &[KernelEvidence], kernel: &KernelName) -> usize {
    let of_kernel = evidence.iter().filter(|row| row.kernel == *kernel);
    of_kernel.map(|row| row.configuration.name.as_str()).collect::<BTreeSet<_>>().len()
}

/// The obligation of a kernel that a justification says cannot be met there. What is dead is in no
/// configuration.
fn claimed_impossible<'a>(
    justification: &'a Justification,
    row: &KernelEvidence,
) -> Option<&'a ObligationId> {
    let JustificationSubject::Obligation(id) = &justification.subject else { return None };
    let everywhere = justification.class == JustificationClass::Dead;
    let configuration = justification.configuration.as_ref().filter(|_| !everywhere);
    let here = justification.kernel == row.kernel
        && configuration.is_none_or(|name| *name == row.configuration.name);
    (here && justification.class.claims_impossibility()).then_some(id)
}

/// The contents that justifications of the obligations of each of the stored kernels, which are all
/// of the evidence, are bound to.
pub fn stored_contents(
    kernels: &[KernelEvidence],
    mut read: impl FnMut(&KernelEvidence, &BoundContents),
) {
    let configurations = bound_configurations(kernels);
    for row in kernels {
        read(
            row,
            &BoundContents::from_coverage(bound(row, &configurations[&row.kernel]), &row.coverage),
        );
    }
}
