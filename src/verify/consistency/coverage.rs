//! Coverage, justifications, open items and the conclusion, derived from the stored records.

use crate::Verification;
use std::collections::BTreeSet;
use vkcert_derivation::conclusion::conclude;
use vkcert_derivation::derive;
use vkcert_derivation::mutation::settle_mutants;
use vkcert_derivation::objectives::derive_objectives;
use vkcert_derivation::open_items as items;
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::evidence::{Campaign, Evidence, KernelEvidence};
use vkcert_model::finding::Acceptance;
use vkcert_model::generation::Generation;
use vkcert_model::id::TestId;
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
        kernel.coverage = derive::derived_coverage(kernel, &campaign.project);
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
        verification.check(derived_coverage.functions == stored_coverage.functions, || {
            format!("{kernel_name}: function coverage")
        });
        verification.check(derived_coverage.calls == stored_coverage.calls, || {
            format!("{kernel_name}: call coverage")
        });
        verification.check(derived_coverage.loops == stored_coverage.loops, || {
            format!("{kernel_name}: loop boundary coverage")
        });
        verification.check(derived_coverage.coupling == stored_coverage.coupling, || {
            format!("{kernel_name}: coupling coverage")
        });
        verification
            .check(derived_coverage.coupling_classes == stored_coverage.coupling_classes, || {
                format!("{kernel_name}: classes of coupling coverage")
            });
        verification.check(derived_coverage.boundaries == stored_coverage.boundaries, || {
            format!("{kernel_name}: boundary value coverage")
        });
        verification
            .check(derived_coverage.average_statement == stored_coverage.average_statement, || {
                format!("{kernel_name}: average statement coverage")
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
        verification.check(derived_coverage.summary.len() == stored_coverage.summary.len(), || {
            format!("{kernel_name}: number of criteria")
        });
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
    let mut mutations = stored.mutations.clone();
    settle_mutants(&mut mutations, &mut campaign);
    verification.check(mutations == stored.mutations, || {
        "which mutants justifications accept, or the statuses of mutants".to_owned()
    });
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
    let (derived_classes, stored_classes) =
        (&conclusion.coupling_classes, &stored.campaign.conclusion.coupling_classes);
    verification.check(derived_classes == stored_classes, || {
        "coupling by class in the conclusion".to_owned()
    });
    campaign.conclusion = conclusion;
    check_objectives(campaign, &kernels, stored, verification);
}

/// Reviews of tests and objectives, derived again and compared.
fn check_objectives(
    mut derived: Campaign,
    kernels: &[KernelEvidence],
    stored: &Evidence,
    verification: &mut Verification,
) {
    derived.objectives.clear();
    derive_objectives(&mut derived, kernels, &stored.manifest.inputs);
    let stored = &stored.campaign;
    verification.check(derived.test_reviews == stored.test_reviews, || {
        "which reviews of tests count".to_owned()
    });
    if Generation::for_campaign(stored) == Generation::Third {
        return verification.not_derivable.push(format!(
            "objectives: version {} assessed them by rules of its own",
            stored.project.tool_version
        ));
    }
    verification.check(derived.objectives.len() == stored.objectives.len(), || {
        "number of objectives".to_owned()
    });
    for (derived_row, stored_row) in derived.objectives.iter().zip(&stored.objectives) {
        verification.check(derived_row == stored_row, || {
            format!(
                "objective {}: stored as {}, derived {}",
                stored_row.objective.row().number,
                stored_row.status,
                derived_row.status
            )
        });
    }
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
    let mut left_out = campaign.requirements.iter().flat_map(|row| &row.left_out_tests);
    let not_in_run: BTreeSet<TestId> = campaign.tests_not_in_run().into_iter().collect();
    verification.check(left_out.all(|id| not_in_run.contains(id)), || {
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

#[cfg(test)]
mod tests {
    use crate::honest::{
        Forgery, assert_permitted, assert_told, assert_told_without_inputs, finding, honest,
        honest_with, result_of,
    };
    use vkcert_model::coverage::Status;
    use vkcert_model::evidence::{Evidence, JustificationEvidence};
    use vkcert_model::finding::FindingKind;
    use vkcert_model::open_item::RejectedAcceptance;
    use vkcert_model::verdict::{EngineName, Verdict};

    #[test]
    fn records_count_as_their_tests_verdict_says() {
        let forgeries = [
            Forgery::new(
                "a verdict beside source records",
                |forged| forged.kernels[0].records[0].verdict = Verdict::Fail,
                "guard on sequential: records of T1 do not go with its verdict",
            ),
            Forgery::new(
                "a verdict beside object records",
                |forged| forged.kernels[1].objects.records[1].verdict = Verdict::Fail,
                "guard on vulkan: records of T2 do not go with its verdict",
            ),
            Forgery::new(
                "records of a passed test that do not count",
                |forged| forged.kernels[0].records[1].counted = false,
                "guard on sequential: records of T2 do not go with its verdict",
            ),
            Forgery::new(
                "a test of a row that there is none of",
                |forged| forged.kernels[0].records[0].test = "T3".into(),
                "guard on sequential: T3 never runs it under default",
            ),
            Forgery::new(
                "the kernel of a dispatch",
                |forged| forged.campaign.tests[0].definition.dispatches[0].kernel = "other".into(),
                "guard on sequential: T1 never runs it under default",
            ),
        ];
        assert_told(&honest(), &forgeries);
        assert_told_without_inputs(&honest(), &forgeries);
    }

    /// The second test did not come to its end on the device.
    fn with_timeout(facts: &mut Evidence) {
        result_of(facts, 1, EngineName::Vulkan).verdict = Verdict::Timeout;
        facts.campaign.agreement.truncate(1);
        let rows = &mut facts.kernels[1];
        for row in [&mut rows.records[1], &mut rows.objects.records[1]] {
            (row.verdict, row.counted) = (Verdict::Timeout, false);
        }
    }

    #[test]
    fn each_engine_has_its_own_verdicts() {
        assert_permitted(with_timeout);
        let counting = Forgery::new(
            "records of a test that timed out",
            |forged| forged.kernels[1].records[1].counted = true,
            "guard on vulkan: records of T2 do not go with its verdict",
        );
        assert_told(&honest_with(with_timeout), &[counting]);
    }

    #[test]
    fn coverage_follows_from_the_records() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "statement coverage",
                    |forged| forged.kernels[0].coverage.statements[0].status = Status::Uncovered,
                    "guard on sequential: statement coverage",
                ),
                Forgery::new(
                    "branch coverage",
                    |forged| forged.kernels[0].coverage.branches[0].tests.clear(),
                    "guard on sequential: branch coverage",
                ),
                Forgery::new(
                    "entry points",
                    |forged| forged.kernels[1].coverage.points[0].status = Status::Uncovered,
                    "guard on vulkan: entry and exit points",
                ),
                Forgery::new(
                    "barriers",
                    |forged| forged.kernels[1].coverage.barriers[0].status = Status::Covered,
                    "guard on vulkan: barrier coverage",
                ),
                Forgery::new(
                    "functions that nobody asks for",
                    |forged| forged.kernels[0].coverage.functions = Some(Vec::new()),
                    "guard on sequential: function coverage",
                ),
                Forgery::new(
                    "calls that nobody asks for",
                    |forged| forged.kernels[0].coverage.calls = Some(Vec::new()),
                    "guard on sequential: call coverage",
                ),
                Forgery::new(
                    "loops that nobody asks for",
                    |forged| forged.kernels[0].coverage.loops = Some(Vec::new()),
                    "guard on sequential: loop boundary coverage",
                ),
                Forgery::new(
                    "object code",
                    |forged| forged.kernels[0].coverage.objects[0].status = Status::Uncovered,
                    "guard on sequential: coverage of object code",
                ),
                Forgery::new(
                    "additional code",
                    |forged| forged.kernels[0].coverage.additional.push("B1.T".into()),
                    "guard on sequential: coverage of object code",
                ),
                Forgery::new(
                    "functions that are not reached",
                    |forged| forged.kernels[0].coverage.not_reached.push("main".to_owned()),
                    "guard on sequential: functions that are not reached",
                ),
                Forgery::new(
                    "a criterion left out",
                    |forged| drop(forged.kernels[0].coverage.summary.pop()),
                    "guard on sequential: number of criteria",
                ),
                Forgery::new(
                    "a decision left out",
                    |forged| forged.kernels[0].coverage.decisions.clear(),
                    "guard on sequential: number of decisions",
                ),
                Forgery::new(
                    "a vector of a decision",
                    |forged| drop(forged.kernels[0].coverage.decisions[0].vectors.pop()),
                    "guard on sequential: decision D1",
                ),
                Forgery::new(
                    "a share",
                    |forged| forged.kernels[0].coverage.summary[0].covered = 3,
                    "guard on sequential: statement is stored as 3/4, derived 4/4",
                ),
            ],
        );
    }

    #[test]
    fn the_conclusion_follows_from_coverage_and_tests() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "exit code",
                    |forged| forged.campaign.conclusion.exit_code = 0,
                    "exit code: stored 0, derived 1",
                ),
                Forgery::new(
                    "a reason left out",
                    |forged| drop(forged.campaign.conclusion.reasons.pop()),
                    "reasons of the conclusion",
                ),
                Forgery::new(
                    "a ground left out",
                    |forged| drop(forged.campaign.conclusion.grounds.pop()),
                    "grounds of the conclusion",
                ),
                Forgery::new(
                    "a share of the conclusion",
                    |forged| {
                        forged.campaign.conclusion.summary[1].criteria[2].covered = 0;
                    },
                    "summary of the conclusion",
                ),
            ],
        );
    }

    #[test]
    fn open_items_follow_from_the_settings() {
        let forgeries = [
            Forgery::new(
                "no settings",
                |forged| forged.campaign.settings = None,
                "the project file as it was read is missing",
            ),
            Forgery::new(
                "a test of a requirement that was left out",
                |forged| forged.campaign.requirements[0].left_out_tests.push("T3".into()),
                "tests that were left out",
            ),
            Forgery::new(
                "an open item left out",
                |forged| drop(forged.campaign.open_items.pop()),
                "open items",
            ),
            Forgery::new(
                "a rejected acceptance",
                |forged| {
                    let rejected = RejectedAcceptance { item: "i".into(), reason: "r".into() };
                    forged.campaign.rejected_acceptances.push(rejected);
                },
                "which acceptances of open items are rejected",
            ),
            Forgery::new(
                "a note left out",
                |forged| forged.campaign.notes.clear(),
                "notes of page 1",
            ),
            Forgery::new(
                "a kind of finding as if it had been looked for",
                |forged| forged.campaign.unsought.truncate(2),
                "what findings were not looked for",
            ),
        ];
        assert_told(&honest(), &forgeries);
        assert_told_without_inputs(&honest(), &forgeries);
    }

    #[test]
    fn findings_stand_unless_a_justification_accepts_them() {
        let race = honest_with(|facts| {
            let result = result_of(facts, 0, EngineName::Sequential);
            result.findings.push(finding(FindingKind::DataRace));
        });
        let acceptance = race.campaign.tests[0].results[0].findings[0].acceptance.as_ref();
        assert_eq!(acceptance.map(|acceptance| &acceptance.justification), Some(&None));
        assert_told(
            &race,
            &[
                Forgery::new(
                    "a finding accepted without a justification",
                    |forged| {
                        let finding = &mut forged.campaign.tests[0].results[0].findings[0];
                        finding.acceptance.as_mut().unwrap().justification = Some("J".to_owned());
                    },
                    "names of findings, or which of them are accepted",
                ),
                Forgery::new(
                    "a finding without a name",
                    |forged| forged.campaign.tests[0].results[0].findings[0].acceptance = None,
                    "names of findings, or which of them are accepted",
                ),
            ],
        );
    }

    #[test]
    fn whether_a_justification_is_accepted_follows_from_what_it_signs() {
        let justified = honest_with(|facts| {
            let justification = serde_json::json!({
                "justification": {
                    "kernel": "guard", "obligation": "D1.C1", "class": "defensive", "reason": "r",
                    "author": "a", "approver": "b", "hash": "sha256:0",
                },
                "file": "requirements/all.toml", "rejected": null,
            });
            let justification: JustificationEvidence =
                serde_json::from_value(justification).unwrap();
            facts.campaign.justifications.push(justification);
        });
        assert!(justified.campaign.justifications[0].rejected.is_some());
        assert_told_without_inputs(
            &justified,
            &[Forgery::new(
                "a justification as if it were accepted",
                |forged| forged.campaign.justifications[0].rejected = None,
                "justifications",
            )],
        );
    }
}
