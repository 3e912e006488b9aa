//! Coverage, justifications, open items and the conclusion, derived from the stored records.

use crate::Verification;
use vkcert_derivation::conclusion::conclude;
use vkcert_derivation::derive;
use vkcert_derivation::open_items as items;
use vkcert_model::evidence::{Campaign, Evidence, KernelEvidence};
use vkcert_oracle::judged::KernelCodes;

/// Whether records count is for their test's verdict to say; whose they are, for the specialization
/// that it dispatches.
pub(super) fn records(stored: &Evidence, found: &mut Verification) {
    let codes: KernelCodes = derive::codes(&stored.kernels);
    for kernel in &stored.kernels {
        for row in kernel.records.iter().chain(&kernel.objects.records) {
            let test = stored.campaign.tests.iter().find(|test| test.id == row.test);
            let result = test
                .and_then(|test| test.results.iter().find(|result| result.engine == kernel.engine));
            let verdict = result.map(|result| result.verdict);
            let counts = test.is_some_and(|test| {
                let observation = derive::observation(stored.campaign.schema, test, &codes);
                let of = (&kernel.kernel, &kernel.configuration);
                derive::counts(row.verdict, &test.definition, &observation, of)
            });
            let right = verdict == Some(row.verdict) && row.counted == counts;
            found.check(right, || {
                format!(
                    "{} on {}: records of {} do not go with its verdict",
                    kernel.kernel, kernel.engine, row.test
                )
            });
            let dispatches = test.iter().flat_map(|test| &test.definition.dispatches);
            let mut dispatches = dispatches.filter(|dispatch| dispatch.kernel == kernel.kernel);
            found.check(
                dispatches
                    .any(|dispatch| derive::is_of(&kernel.configuration, &dispatch.specialization)),
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

/// Coverage, justifications and the conclusion.
pub(super) fn derived(stored: &Evidence, found: &mut Verification) {
    let mut kernels = stored.kernels.clone();
    let mut campaign = stored.campaign.clone();
    for kernel in &mut kernels {
        kernel.coverage = derive::coverage(kernel);
    }
    derive::justify(&mut kernels, &mut campaign);
    for (derived, kernel) in kernels.iter().zip(&stored.kernels) {
        let (ours, theirs) = (&derived.coverage, &kernel.coverage);
        let name = format!("{} on {}", kernel.kernel, kernel.engine);
        found.check(ours.statements == theirs.statements, || format!("{name}: statement coverage"));
        found.check(ours.branches == theirs.branches, || format!("{name}: branch coverage"));
        found.check(ours.points == theirs.points, || format!("{name}: entry and exit points"));
        found.check(ours.barriers == theirs.barriers, || format!("{name}: barrier coverage"));
        found.check(ours.objects == theirs.objects && ours.additional == theirs.additional, || {
            format!("{name}: coverage of object code")
        });
        found.check(ours.not_reached == theirs.not_reached, || {
            format!("{name}: functions that are not reached")
        });
        found.check(ours.decisions.len() == theirs.decisions.len(), || {
            format!("{name}: number of decisions")
        });
        for (ours, theirs) in ours.decisions.iter().zip(&theirs.decisions) {
            found.check(ours == theirs, || format!("{name}: decision {}", theirs.id));
        }
        for (ours, theirs) in ours.summary.iter().zip(&theirs.summary) {
            found.check(ours == theirs, || {
                let shown = |row: &vkcert_model::coverage::CriterionSummary| {
                    format!("{}/{}", row.covered, row.total)
                };
                format!(
                    "{name}: {} is stored as {}, derived {}",
                    theirs.criterion,
                    shown(theirs),
                    shown(ours)
                )
            });
        }
    }
    found.check(campaign.justifications == stored.campaign.justifications, || {
        "justifications".to_owned()
    });
    let accepted = |campaign: &Campaign| {
        campaign
            .all_findings()
            .map(|(_, _, finding)| finding.acceptance.clone())
            .collect::<Vec<_>>()
    };
    found.check(accepted(&campaign) == accepted(&stored.campaign), || {
        "names of findings, or which of them are accepted".to_owned()
    });
    open_items(&mut campaign, &kernels, &stored.campaign, found);
    let conclusion = conclude(&campaign, &kernels);
    found.check(conclusion.exit_code == stored.campaign.conclusion.exit_code, || {
        format!(
            "exit code: stored {}, derived {}",
            stored.campaign.conclusion.exit_code, conclusion.exit_code
        )
    });
    found.check(conclusion.reasons == stored.campaign.conclusion.reasons, || {
        "reasons of the conclusion".to_owned()
    });
    found.check(conclusion.grounds == stored.campaign.conclusion.grounds, || {
        "grounds of the conclusion".to_owned()
    });
    found.check(conclusion.summary == stored.campaign.conclusion.summary, || {
        "summary of the conclusion".to_owned()
    });
}

/// Open items, notes and what was not looked for; format 1 holds none of them, nor the settings
/// that they follow from.
fn open_items(
    campaign: &mut Campaign,
    kernels: &[KernelEvidence],
    stored: &Campaign,
    found: &mut Verification,
) {
    found.check(campaign.settings.is_some() == (campaign.schema > 1), || {
        "the project file as it was read is missing".to_owned()
    });
    let left_out = campaign.requirements.iter().flat_map(|row| &row.left_out_tests);
    found.check(left_out.into_iter().all(|id| campaign.left_out.contains(id)), || {
        "tests that were left out".to_owned()
    });
    items::derive(campaign, kernels);
    found.check(campaign.open_items == stored.open_items, || "open items".to_owned());
    found.check(campaign.rejected_acceptances == stored.rejected_acceptances, || {
        "which acceptances of open items are rejected".to_owned()
    });
    found.check(campaign.notes == stored.notes, || "notes of page 1".to_owned());
    found.check(campaign.unsought == stored.unsought, || {
        "what findings were not looked for".to_owned()
    });
}
