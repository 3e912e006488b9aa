//! Coverage, justifications, open items and the conclusion, derived from the stored records.

use crate::Verification;
use vkcert_derivation::conclusion::conclude;
use vkcert_derivation::derive;
use vkcert_derivation::open_items as items;
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::{Campaign, Evidence, KernelEvidence};
use vkcert_model::finding::Acceptance;
use vkcert_oracle::judged::KernelCodes;

/// Whether records count follows from their test's verdict, and which configuration they belong to
/// from the specialization that it dispatches.
pub(super) fn check_record_counting(stored: &Evidence, verification: &mut Verification) {
    let codes: KernelCodes = derive::kernel_codes(&stored.kernels);
    for kernel in &stored.kernels {
        for row in kernel.records.iter().chain(&kernel.objects.records) {
            let test = stored.campaign.tests.iter().find(|test| test.id == row.test);
            let result = test
                .and_then(|test| test.results.iter().find(|result| result.engine == kernel.engine));
            let verdict = result.map(|result| result.verdict);
            let is_counted = test.is_some_and(|test| {
                let observation = derive::test_observation(stored.campaign.schema, test, &codes);
                let kernel_configuration = (&kernel.kernel, &kernel.configuration);
                derive::records_count(
                    row.verdict,
                    &test.definition,
                    &observation,
                    kernel_configuration,
                )
            });
            let is_consistent = verdict == Some(row.verdict) && row.counted == is_counted;
            verification.check(is_consistent, || {
                format!(
                    "{} on {}: records of {} do not go with its verdict",
                    kernel.kernel, kernel.engine, row.test
                )
            });
            let dispatches = test.iter().flat_map(|test| &test.definition.dispatches);
            let mut dispatches = dispatches.filter(|dispatch| dispatch.kernel == kernel.kernel);
            verification.check(
                dispatches.any(|dispatch| {
                    derive::leads_to_configuration(&kernel.configuration, &dispatch.specialization)
                }),
                || {
                    let name = &kernel.configuration.name;
                    format!(
                        "{} on {}: {} never runs it under {name}",
                        kernel.kernel, kernel.engine, row.test
                    )
                },
            );
        }
    }
}

/// Coverage, justifications and the conclusion, derived again and compared.
pub(super) fn check_derived(stored: &Evidence, verification: &mut Verification) {
    let mut kernels = stored.kernels.clone();
    let mut campaign = stored.campaign.clone();
    for kernel in &mut kernels {
        kernel.coverage = derive::derived_coverage(kernel);
    }
    derive::apply_justifications(&mut kernels, &mut campaign);
    for (derived, kernel) in kernels.iter().zip(&stored.kernels) {
        let (derived_coverage, stored_coverage) = (&derived.coverage, &kernel.coverage);
        let kernel_name = format!("{} on {}", kernel.kernel, kernel.engine);
        verification.check(derived_coverage.statements == stored_coverage.statements, || {
            format!("{kernel_name}: statement coverage")
        });
        verification.check(derived_coverage.branches == stored_coverage.branches, || {
            format!("{kernel_name}: branch coverage")
        });
        verification.check(derived_coverage.points == stored_coverage.points, || {
            format!("{kernel_name}: entry and exit points")
        });
        verification.check(derived_coverage.barriers == stored_coverage.barriers, || {
            format!("{kernel_name}: barrier coverage")
        });
        verification.check(
            derived_coverage.objects == stored_coverage.objects
                && derived_coverage.additional == stored_coverage.additional,
            || format!("{kernel_name}: coverage of object code"),
        );
        verification.check(derived_coverage.not_reached == stored_coverage.not_reached, || {
            format!("{kernel_name}: functions that are not reached")
        });
        verification
            .check(derived_coverage.decisions.len() == stored_coverage.decisions.len(), || {
                format!("{kernel_name}: number of decisions")
            });
        for (derived_decision, stored_decision) in
            derived_coverage.decisions.iter().zip(&stored_coverage.decisions)
        {
            verification.check(derived_decision == stored_decision, || {
                format!("{kernel_name}: decision {}", stored_decision.id)
            });
        }
        for (derived_row, stored_row) in
            derived_coverage.summary.iter().zip(&stored_coverage.summary)
        {
            verification.check(derived_row == stored_row, || {
                format!(
                    "{kernel_name}: {} is stored as {}, derived {}",
                    stored_row.criterion,
                    coverage_share(stored_row),
                    coverage_share(derived_row)
                )
            });
        }
    }
    verification.check(campaign.justifications == stored.campaign.justifications, || {
        "justifications".to_owned()
    });
    verification.check(acceptances(&campaign).eq(acceptances(&stored.campaign)), || {
        "names of findings, or which of them are accepted".to_owned()
    });
    check_open_items(&mut campaign, &kernels, &stored.campaign, verification);
    let conclusion = conclude(&campaign, &kernels);
    verification.check(conclusion.exit_code == stored.campaign.conclusion.exit_code, || {
        format!(
            "exit code: stored {}, derived {}",
            stored.campaign.conclusion.exit_code, conclusion.exit_code
        )
    });
    verification.check(conclusion.reasons == stored.campaign.conclusion.reasons, || {
        "reasons of the conclusion".to_owned()
    });
    verification.check(conclusion.grounds == stored.campaign.conclusion.grounds, || {
        "grounds of the conclusion".to_owned()
    });
    verification.check(conclusion.summary == stored.campaign.conclusion.summary, || {
        "summary of the conclusion".to_owned()
    });
}

fn coverage_share(row: &CriterionSummary) -> String {
    format!("{}/{}", row.covered, row.total)
}

/// Names and acceptances of all findings, in their order.
fn acceptances(campaign: &Campaign) -> impl Iterator<Item = Option<&Acceptance>> {
    campaign.all_findings().map(|(_, _, finding)| finding.acceptance.as_ref())
}

/// Open items, notes and what was not looked for; format 1 holds none of them, nor the settings
/// that they follow from.
fn check_open_items(
    campaign: &mut Campaign,
    kernels: &[KernelEvidence],
    stored: &Campaign,
    verification: &mut Verification,
) {
    verification.check(campaign.settings.is_some() == (campaign.schema > 1), || {
        "the project file as it was read is missing".to_owned()
    });
    let left_out = campaign.requirements.iter().flat_map(|row| &row.left_out_tests);
    verification.check(left_out.into_iter().all(|id| campaign.left_out.contains(id)), || {
        "tests that were left out".to_owned()
    });
    items::derive_open_items(campaign, kernels);
    verification.check(campaign.open_items == stored.open_items, || "open items".to_owned());
    verification.check(campaign.rejected_acceptances == stored.rejected_acceptances, || {
        "which acceptances of open items are rejected".to_owned()
    });
    verification.check(campaign.notes == stored.notes, || "notes of page 1".to_owned());
    verification.check(campaign.unsought == stored.unsought, || {
        "what findings were not looked for".to_owned()
    });
}
