//! What objectives come to in small campaigns, and what is told of forged ones.

use crate::honest::{Forgery, KERNEL_PATH, assert_told, conclude, honest, honest_with};
use serde_json::json;
use vkcert_model::device_type::DeviceType;
use vkcert_model::evidence::{Campaign, Evidence, TestReviewEvidence};
use vkcert_model::objective::{ObjectiveAssessment, ObjectiveStatus};
use vkcert_model::open_item::NoteKind;
use vkcert_model::procedure::{Test, TestKind};
use vkcert_model::project::{ProjectFile, RequirementLevels, SoftwareLevel, TargetComputer};
use vkcert_model::requirement::{
    RequirementLevel, ReviewedTest, ReviewedThing, SignedReason, TestReview,
};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_requirement::hash::{ProcedureBasis, procedure_hash, results_hash, test_hash};

fn assessment<'e>(evidence: &'e Evidence, number: &str) -> &'e ObjectiveAssessment {
    let mut rows = evidence.campaign.objectives.iter();
    rows.find(|row| row.objective.row().number == number).expect("every objective is assessed")
}

fn status(evidence: &Evidence, number: &str) -> ObjectiveStatus {
    assessment(evidence, number).status
}

fn missing(evidence: &Evidence, number: &str) -> String {
    assessment(evidence, number).missing.join(" ")
}

fn settings(campaign: &mut Campaign) -> &mut ProjectFile {
    campaign.settings.as_mut().expect("the project file is stored")
}

/// The device of the honest evidence as the target.
fn name_target(evidence: &mut Evidence) {
    settings(&mut evidence.campaign).target = Some(TargetComputer {
        device: "a device".to_owned(),
        driver: "its driver".to_owned(),
        driver_info: "1.0".to_owned(),
    });
}

/// On the named target, with no schedule or check left out.
fn on_target(change: impl FnOnce(&mut Evidence)) -> Evidence {
    honest_with(|evidence| {
        name_target(evidence);
        change(evidence);
    })
}

fn at_level(evidence: &mut Evidence, level: SoftwareLevel) {
    settings(&mut evidence.campaign).level = level;
    evidence.campaign.project.level = level;
}

#[test]
fn object_code_complies_only_on_the_target_that_the_project_names() {
    let without_target = honest();
    assert_eq!(status(&without_target, "A-6.1"), ObjectiveStatus::Open);
    assert!(missing(&without_target, "A-6.1").contains("names no target computer"));

    let met = on_target(|_| {});
    assert_eq!(missing(&met, "A-6.1"), "");
    assert_eq!(status(&met, "A-6.1"), ObjectiveStatus::Met);

    for (key, value) in [("device", "another"), ("driver", "another"), ("driver info", "1.1")] {
        let elsewhere = on_target(|evidence| {
            let identity = &mut evidence.campaign.engines[1].identity;
            identity.insert(key.to_owned(), value.to_owned());
        });
        assert_eq!(status(&elsewhere, "A-6.1"), ObjectiveStatus::Open, "{key}");
        assert!(missing(&elsewhere, "A-6.1").contains(value), "{key}");
    }

    let software = on_target(|evidence| {
        let identity = &mut evidence.campaign.engines[1].identity;
        identity.insert(DeviceType::KEY.to_owned(), "cpu".to_owned());
    });
    assert_eq!(status(&software, "A-6.1"), ObjectiveStatus::Open);
    assert!(missing(&software, "A-6.1").contains("software device"));

    let not_run = on_target(|evidence| evidence.campaign.engines[1].ran = false);
    assert!(missing(&not_run, "A-6.1").contains("No test ran on a device."));
}

#[test]
fn a_test_that_did_not_pass_on_the_device_shows_nothing_of_the_target() {
    for verdict in [Verdict::NotRun, Verdict::Fail, Verdict::Undetermined] {
        let evidence = on_target(|evidence| {
            evidence.campaign.tests[0].results[1].verdict = verdict;
        });
        assert_eq!(status(&evidence, "A-6.1"), ObjectiveStatus::Open, "{verdict}");
    }
}

fn make_robustness(evidence: &mut Evidence, index: usize) {
    let test = &mut evidence.campaign.tests[index];
    (test.kind, test.definition.kind) = (TestKind::Robustness, TestKind::Robustness);
}

#[test]
fn a_robustness_test_that_repeats_a_normal_one_is_none() {
    let repeated = on_target(|evidence| {
        let normal = evidence.campaign.tests[1].definition.clone();
        let test = &mut evidence.campaign.tests[0];
        test.definition = Test { id: test.id, title: Some("Abnormal".to_owned()), ..normal };
        make_robustness(evidence, 0);
    });
    for number in ["A-6.2", "A-7.3"] {
        assert!(missing(&repeated, number).contains("no robustness test that passed"), "{number}");
    }
    let notes = &repeated.campaign.notes;
    assert!(notes.iter().any(|note| note.kind == NoteKind::RobustnessTests), "{notes:?}");
}

#[test]
fn requirements_are_covered_by_normal_and_robustness_tests_that_passed() {
    let without_robustness = honest();
    assert_eq!(status(&without_robustness, "A-7.3"), ObjectiveStatus::Open);
    assert_eq!(
        missing(&without_robustness, "A-7.3"),
        "1 of 1 high-level requirements to be verified by test have no robustness test that passed, and no approved reason \
         why none is needed: R."
    );
    let both = honest_with(|evidence| make_robustness(evidence, 0));
    assert_eq!(missing(&both, "A-7.3"), "");
    assert_eq!(status(&both, "A-7.3"), ObjectiveStatus::Met);
    let without_normal = honest_with(|evidence| {
        make_robustness(evidence, 0);
        make_robustness(evidence, 1);
    });
    assert_eq!(missing(&without_normal, "A-7.3"), "");
    assert_eq!(status(&without_normal, "A-7.3"), ObjectiveStatus::Applicant);
    let applicant = assessment(&without_normal, "A-7.3").applicant.join(" ");
    assert!(applicant.contains("have robustness tests alone: show that they are about abnormal"));
    let none_passed = honest_with(|evidence| {
        for test in &mut evidence.campaign.tests {
            test.results.iter_mut().for_each(|result| result.verdict = Verdict::Fail);
        }
    });
    assert!(missing(&none_passed, "A-7.3").contains("have no normal test that passed"));
    let failed = honest_with(|evidence| {
        make_robustness(evidence, 0);
        evidence.campaign.tests[0].results[1].verdict = Verdict::Fail;
    });
    assert!(missing(&failed, "A-7.3").contains("have no robustness test that passed"));
}

#[test]
fn robustness_needs_a_passed_test_or_a_signed_reason() {
    assert_eq!(status(&on_target(|_| {}), "A-6.2"), ObjectiveStatus::Open);
    let tested = on_target(|evidence| {
        make_robustness(evidence, 0);
    });
    assert_eq!(missing(&tested, "A-6.2"), "");
    assert_eq!(status(&tested, "A-6.2"), ObjectiveStatus::Met);

    let exempt = |approver: &str, level: SoftwareLevel| {
        on_target(|evidence| {
            at_level(evidence, level);
            evidence.campaign.requirements[0].requirement.no_robustness_test = Some(SignedReason {
                reason: "every input is in the normal range".to_owned(),
                author: "A. Author".to_owned(),
                approver: approver.to_owned(),
            });
        })
    };
    assert_eq!(status(&exempt("A. Author", SoftwareLevel::C), "A-6.2"), ObjectiveStatus::Met);
    let own_approval = exempt("a author", SoftwareLevel::A);
    assert!(missing(&own_approval, "A-6.2").contains("no approved reason"));
    let approved = exempt("B. Reviewer", SoftwareLevel::A);
    assert!(!missing(&approved, "A-6.2").contains("no approved reason"));
}

#[test]
fn a_single_level_of_requirements_is_both() {
    let two_levels = on_target(|_| {});
    assert!(missing(&two_levels, "A-7.4").contains("The project has no low-level requirements."));
    let single = on_target(|evidence| {
        settings(&mut evidence.campaign).requirement_levels = RequirementLevels::Single;
        make_robustness(evidence, 0);
    });
    assert_eq!(missing(&single, "A-7.4"), "");
    assert_eq!(status(&single, "A-6.3"), ObjectiveStatus::Met);
}

/// A review of both tests, with the hashes that they have.
fn review(evidence: &Evidence, of: ReviewedThing, reviewer: &str) -> TestReviewEvidence {
    let Evidence { campaign, kernels, manifest, .. } = evidence;
    let basis = ProcedureBasis::of_evidence(campaign, kernels, &manifest.inputs).unwrap();
    let tests = campaign.tests.iter().map(|test| ReviewedTest {
        id: test.id,
        hash: match of {
            ReviewedThing::Procedures => procedure_hash(&test.definition, &basis),
            ReviewedThing::Results => {
                results_hash(test, &basis, &evidence.campaign.engines, &evidence.kernels)
            }
        },
    });
    TestReviewEvidence {
        review: TestReview {
            of,
            tests: tests.collect(),
            document: "V-17".to_owned(),
            section: "3".to_owned(),
            date: Some("2026-01-31".to_owned()),
            document_hash: None,
            reviewer: reviewer.to_owned(),
        },
        file: "requirements/all.toml".to_owned(),
        rejected: Vec::new(),
    }
}

#[test]
fn tests_and_results_are_correct_by_reviews_of_what_they_are_now() {
    let things = [(ReviewedThing::Procedures, "A-7.1"), (ReviewedThing::Results, "A-7.2")];
    for (of, number) in things {
        assert_eq!(status(&honest(), number), ObjectiveStatus::Open);
        let reviewed = honest_with(|evidence| {
            evidence.campaign.test_reviews = vec![review(evidence, of, "B. Reviewer")];
        });
        assert_eq!(missing(&reviewed, number), "");
        assert_eq!(status(&reviewed, number), ObjectiveStatus::Met);

        let mut stale = reviewed.clone();
        match of {
            ReviewedThing::Procedures => {
                stale.campaign.tests[1].definition.title = Some("new".into())
            }
            ReviewedThing::Results => {
                stale.campaign.tests[1].results[0].reason = Some("new".into())
            }
        }
        conclude(&mut stale);
        assert_eq!(status(&stale, number), ObjectiveStatus::Open);
        let rejected = &stale.campaign.test_reviews[0].rejected;
        assert_eq!(rejected.len(), 1);
        assert!(rejected[0].reason.contains("stale"), "{}", rejected[0].reason);

        let other = match of {
            ReviewedThing::Procedures => "A-7.2",
            ReviewedThing::Results => "A-7.1",
        };
        assert_eq!(status(&reviewed, other), ObjectiveStatus::Open, "a review is of one thing");
    }
}

#[test]
fn a_review_of_procedures_is_bound_to_what_they_rest_on() {
    let reviewed = honest_with(|evidence| {
        for test in &mut evidence.campaign.tests {
            test.definition.buffers.get_mut("i").unwrap().file = Some("data/i.bin".to_owned());
            let reference = json!({ "kernel": "guard", "groups": [1, 1, 1], "bindings": [] });
            test.definition.expect[0].reference = serde_json::from_value(reference).unwrap();
        }
        evidence.manifest.inputs.insert("data/i.bin".to_owned(), "0".repeat(64));
        evidence.campaign.test_reviews =
            vec![review(evidence, ReviewedThing::Procedures, "B. Reviewer")];
    });
    assert_eq!(status(&reviewed, "A-7.1"), ObjectiveStatus::Met);
    let changes: [fn(&mut Evidence); 4] = [
        |evidence| {
            evidence.manifest.inputs.insert("data/i.bin".to_owned(), "1".repeat(64));
        },
        |evidence| {
            evidence.manifest.inputs.insert(KERNEL_PATH.to_owned(), "1".repeat(64));
        },
        |evidence| {
            let defines = &mut settings(&mut evidence.campaign).kernels[0].defines;
            defines.insert("TILE".to_owned(), "1".to_owned());
        },
        |evidence| evidence.campaign.requirements[0].hash = format!("sha256:{}", "1".repeat(64)),
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut changed = reviewed.clone();
        change(&mut changed);
        conclude(&mut changed);
        assert_eq!(status(&changed, "A-7.1"), ObjectiveStatus::Open, "change {index}");
        assert_eq!(changed.campaign.test_reviews[0].rejected.len(), 2, "change {index}");
    }
}

#[test]
fn a_review_of_results_is_bound_to_module_engine_and_device() {
    let reviewed = honest_with(|evidence| {
        evidence.campaign.test_reviews =
            vec![review(evidence, ReviewedThing::Results, "B. Reviewer")];
    });
    assert_eq!(status(&reviewed, "A-7.2"), ObjectiveStatus::Met);
    let changes: [fn(&mut Evidence); 3] = [
        |evidence| {
            for kernel in &mut evidence.kernels {
                kernel.modules.production = "f".repeat(64);
            }
        },
        |evidence| {
            let identity = &mut evidence.campaign.engines[1].identity;
            identity.insert("driver info".to_owned(), "1.1".to_owned());
        },
        |evidence| {
            let identity = &mut evidence.campaign.engines[0].identity;
            identity.insert("tile width".to_owned(), "3".to_owned());
        },
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut changed = reviewed.clone();
        change(&mut changed);
        conclude(&mut changed);
        assert_eq!(status(&changed, "A-7.2"), ObjectiveStatus::Open, "change {index}");
    }
}

#[test]
fn what_is_not_known_of_a_reviewed_document_is_told() {
    let shown = |date: Option<&str>, hash: Option<String>| {
        let evidence = honest_with(|evidence| {
            let mut row = review(evidence, ReviewedThing::Procedures, "B. Reviewer");
            (row.review.date, row.review.document_hash) = (date.map(str::to_owned), hash);
            evidence.campaign.test_reviews = vec![row];
        });
        assert_eq!(status(&evidence, "A-7.1"), ObjectiveStatus::Met);
        assessment(&evidence, "A-7.1").shown.join(" ")
    };
    let bare = shown(None, None);
    assert!(bare.contains("1 of 1 records of reviews pin their document by no hash"), "{bare}");
    assert!(bare.contains("1 of 1 records of reviews have no date"), "{bare}");
    let whole = shown(Some("2026-01-31"), Some(format!("sha256:{}", "0".repeat(64))));
    assert!(whole.contains("No document of a review was read by this tool."), "{whole}");
    assert!(!whole.contains("no hash") && !whole.contains("no date"), "{whole}");
}

#[test]
fn who_wrote_a_test_does_not_change_what_was_reviewed() {
    let mut evidence = honest();
    let hash = test_hash(&evidence.campaign.tests[0].definition);
    evidence.campaign.tests[0].definition.author = Some("A. Author".to_owned());
    assert_eq!(test_hash(&evidence.campaign.tests[0].definition), hash);
}

#[test]
fn level_a_demands_another_reviewer_than_the_author_of_the_test() {
    let reviewed_by = |reviewer: &str, author: Option<&str>| {
        let evidence = honest_with(|evidence| {
            at_level(evidence, SoftwareLevel::A);
            for test in &mut evidence.campaign.tests {
                test.definition.author = author.map(str::to_owned);
            }
            evidence.campaign.test_reviews =
                vec![review(evidence, ReviewedThing::Procedures, reviewer)];
        });
        status(&evidence, "A-7.1")
    };
    assert_eq!(reviewed_by("B. Reviewer", Some("A. Author")), ObjectiveStatus::Met);
    for spelling in ["A Author", "Author, A.", "\u{410}. Author", "A. Author (QA)"] {
        assert_eq!(reviewed_by(spelling, Some("A. Author")), ObjectiveStatus::Open, "{spelling}");
    }
    assert_eq!(reviewed_by("B. Reviewer", None), ObjectiveStatus::Open);
}

#[test]
fn structure_is_covered_where_every_obligation_of_the_criterion_is() {
    let covered = honest();
    assert_eq!(missing(&covered, "A-7.7"), "");
    assert_eq!(status(&covered, "A-7.7"), ObjectiveStatus::Met);
    assert_eq!(status(&covered, "A-7.6"), ObjectiveStatus::NotRequired);
    let uncovered = honest_with(|evidence| {
        for record in &mut evidence.kernels[0].records {
            record.records.words[0] = 0;
        }
    });
    assert_eq!(status(&uncovered, "A-7.7"), ObjectiveStatus::Open);
    assert!(missing(&uncovered, "A-7.7").contains("guard on the sequential engine"));
    let not_measured = honest_with(|evidence| evidence.kernels.clear());
    assert!(missing(&not_measured, "A-7.7").contains("The kernel guard was not measured."));
}

#[test]
fn independence_needs_an_author_and_another_reviewer_of_kernels_and_tests() {
    let people = |kernel: [&str; 2], test: [&str; 2]| {
        let evidence = honest_with(|evidence| {
            at_level(evidence, SoftwareLevel::A);
            let name = |name: &str| Some(name.to_owned());
            let row = &mut settings(&mut evidence.campaign).kernels[0];
            (row.author, row.reviewer) = (name(kernel[0]), name(kernel[1]));
            for row in &mut evidence.campaign.tests {
                let definition = &mut row.definition;
                (definition.author, definition.reviewer) = (name(test[0]), name(test[1]));
            }
        });
        missing(&evidence, "A-7.7")
    };
    let unnamed = honest_with(|evidence| at_level(evidence, SoftwareLevel::A));
    assert!(missing(&unnamed, "A-7.7").contains("1 of 1 kernels have no author"));
    assert!(missing(&unnamed, "A-7.7").contains("All 2 tests have no author"));
    assert_eq!(people(["A", "B"], ["C", "D"]), "");
    assert!(people(["A", "a."], ["C", "D"]).contains("1 of 1 kernels have no author"));
    assert!(people(["A", "B"], ["C", "C"]).contains("All 2 tests have no author"));
    assert!(people(["A", "B"], ["A", "D"]).contains("have the author of a kernel"));
}

#[test]
fn what_did_not_run_measured_nothing() {
    let on_device_alone = honest_with(|evidence| {
        at_level(evidence, SoftwareLevel::A);
        evidence.campaign.engines[0].ran = false;
        evidence.kernels.retain(|kernel| kernel.engine == EngineName::Vulkan);
    });
    let shown = assessment(&on_device_alone, "A-5.3").shown.join(" ");
    assert!(
        shown.contains("on the vulkan engine") || shown.contains("The vulkan engine"),
        "{shown}"
    );
    assert!(!shown.contains("sequential"), "{shown}");
    let nothing = honest_with(|evidence| {
        at_level(evidence, SoftwareLevel::A);
        evidence.campaign.engines.iter_mut().for_each(|row| row.ran = false);
        evidence.kernels.clear();
    });
    assert_eq!(status(&nothing, "A-5.3"), ObjectiveStatus::Open);
}

#[test]
fn what_refutes_source_code_leaves_its_objectives_open() {
    let single = |change: fn(&mut Evidence)| {
        honest_with(|evidence| {
            settings(&mut evidence.campaign).requirement_levels = RequirementLevels::Single;
            change(evidence);
        })
    };
    assert_eq!(missing(&single(|_| {}), "A-5.1"), "");
    let failed = single(|evidence| {
        evidence.campaign.tests[0].results[1].verdict = Verdict::Fail;
    });
    assert!(missing(&failed, "A-5.1").contains("1 of 1 requirements failed in tests"));
    assert_eq!(status(&failed, "A-5.1"), ObjectiveStatus::Open);
    let without_interface = missing(&honest(), "A-5.2");
    assert!(without_interface.contains("the project states no interface"), "{without_interface}");
}

#[test]
fn integration_tells_which_modules_were_compared() {
    let applicant = |evidence: &Evidence| assessment(evidence, "A-5.7").applicant.join(" ");
    let shown = |evidence: &Evidence| assessment(evidence, "A-5.7").shown.join(" ");
    assert!(applicant(&honest()).contains("none of 1 production modules is on disk"));
    assert!(applicant(&honest()).contains("validation layer"), "{}", applicant(&honest()));
    let on_disk = honest_with(|evidence| {
        for kernel in &mut evidence.kernels {
            kernel.modules.production_file = Some("spirv/guard.spv".to_owned());
        }
    });
    assert!(
        shown(&on_disk).contains("1 of 1 production modules are on disk"),
        "{}",
        shown(&on_disk)
    );
}

#[test]
fn a_file_that_is_named_as_a_whole_names_no_function() {
    let by_file = honest_with(|evidence| {
        evidence.campaign.requirements[0].code[0].symbol = None;
    });
    let shown = assessment(&by_file, "A-5.5").shown.join(" ");
    assert!(shown.contains("(1 by its file alone: main in glsl/guard.comp)"), "{shown}");
    let by_name = assessment(&honest(), "A-5.5").shown.join(" ");
    assert!(by_name.contains("Each function that a kernel reaches is named by a requirement."));
}

#[test]
fn low_level_requirements_are_not_held_open_by_high_level_ones() {
    let evidence = honest_with(|evidence| {
        let mut low_level = evidence.campaign.requirements[0].clone();
        low_level.requirement.uid = "L".into();
        low_level.requirement.level = RequirementLevel::Llr;
        evidence.campaign.requirements[0].tests.clear();
        evidence.campaign.requirements.push(low_level);
    });
    let about_high_level = "no test case names the high-level requirement";
    let lowered = |number| missing(&evidence, number).to_lowercase();
    assert!(lowered("A-7.3").contains(about_high_level), "{}", lowered("A-7.3"));
    assert!(!lowered("A-7.4").contains(about_high_level), "{}", lowered("A-7.4"));
}

#[test]
fn limits_of_no_device_are_those_that_every_device_has() {
    let with_device = assessment(&honest(), "A-6.5").shown.join(" ");
    assert!(with_device.contains("checks of the device's limits"), "{with_device}");
    let without_device = honest_with(|evidence| evidence.campaign.engines[1].ran = false);
    let shown = assessment(&without_device, "A-6.5").shown.join(" ");
    assert!(shown.contains("limits that every Vulkan device has"), "{shown}");
}

#[test]
fn what_cannot_be_shown_is_never_met() {
    let evidence = on_target(|evidence| at_level(evidence, SoftwareLevel::A));
    for number in ["A-5.1", "A-5.2", "A-5.3", "A-5.4", "A-5.5", "A-5.6", "A-5.7", "A-6.5"] {
        assert_ne!(status(&evidence, number), ObjectiveStatus::Met, "{number}");
        assert!(!assessment(&evidence, number).applicant.is_empty(), "{number}");
    }
    for number in ["A-5.8", "A-5.9"] {
        assert_eq!(status(&evidence, number), ObjectiveStatus::NotApplicable, "{number}");
    }
    for number in ["A-7.8", "A-7.9"] {
        assert_eq!(status(&evidence, number), ObjectiveStatus::Open, "{number}");
    }
}

#[test]
fn a_run_that_left_something_out_meets_nothing_that_tests_show() {
    let evidence = on_target(|evidence| {
        evidence.campaign.not_looked_for = vec![vkcert_model::finding::FindingKind::DataRace];
    });
    for number in ["A-6.1", "A-7.3", "A-7.7"] {
        assert_eq!(status(&evidence, number), ObjectiveStatus::Open, "{number}");
        assert!(missing(&evidence, number).contains("This run left something out"), "{number}");
    }
}

#[test]
fn forged_objectives_and_reviews_are_told() {
    let with_review = honest_with(|evidence| {
        let mut stale = review(evidence, ReviewedThing::Procedures, "B. Reviewer");
        stale.review.tests[0].hash = format!("sha256:{}", "0".repeat(64));
        evidence.campaign.test_reviews = vec![stale];
    });
    assert_eq!(with_review.campaign.test_reviews[0].rejected.len(), 1);
    assert_told(
        &honest(),
        &[
            Forgery::new(
                "an objective said to be met",
                |forged| {
                    let row = &mut forged.campaign.objectives[9];
                    (row.status, row.missing) = (ObjectiveStatus::Met, Vec::new());
                },
                "objective A-6.1: stored as met, derived open",
            ),
            Forgery::new(
                "objectives left out",
                |forged| forged.campaign.objectives.clear(),
                "number of objectives",
            ),
        ],
    );
    let mut forged = with_review.clone();
    forged.campaign.test_reviews[0].rejected.clear();
    let verification = crate::honest::verified(&forged);
    assert!(
        verification
            .problems
            .iter()
            .any(|problem| problem.contains("which reviews of tests count")),
        "{:?}",
        verification.problems
    );
    let engine = with_review.campaign.tests[0].results[1].engine;
    assert_eq!(engine, EngineName::Vulkan);
}
