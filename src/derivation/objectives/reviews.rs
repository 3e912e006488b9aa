//! Reviews of tests and of their results (DO-178C 6.4.5, table A-7, objectives 1 and 2).

use super::Showing;
use super::campaign_facts::{CampaignFacts, lacking};
use super::independence::are_different_people;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{Campaign, KernelEvidence, RejectedReview, TestEvidence};
use vkcert_model::id::TestId;
use vkcert_model::objective::{Objective, ObjectiveDemand};
use vkcert_model::project::SoftwareLevel;
use vkcert_model::requirement::{ReviewedTest, ReviewedThing, TestReview};
use vkcert_model::verdict::Verdict;
use vkcert_requirement::hash::{ProcedureBasis, procedure_hash, results_hash};

/// Puts to each review of which of its tests it does not count.
pub(super) fn judge_reviews(
    campaign: &mut Campaign,
    kernels: &[KernelEvidence],
    input_hashes: &BTreeMap<String, String>,
) {
    let mut test_reviews = std::mem::take(&mut campaign.test_reviews);
    let level = campaign.project.level;
    let basis = ProcedureBasis::of_evidence(campaign, kernels, input_hashes);
    let mut tests_by_id: BTreeMap<TestId, &TestEvidence> = BTreeMap::new();
    for test in &campaign.tests {
        tests_by_id.entry(test.id).or_insert(test);
    }
    for row in &mut test_reviews {
        let review = &row.review;
        let fault = |reviewed: &ReviewedTest| {
            let test = tests_by_id.get(&reviewed.id).copied();
            let current = test.zip(basis.as_ref()).map(|(test, basis)| {
                let current_hash = match review.of {
                    ReviewedThing::Procedures => procedure_hash(&test.definition, basis),
                    ReviewedThing::Results => results_hash(test, basis, &campaign.engines, kernels),
                };
                (test, current_hash)
            });
            let reason = review_fault(review, reviewed, current, level)?;
            Some(RejectedReview { test: reviewed.id, reason })
        };
        row.rejected = review.tests.iter().filter_map(fault).collect();
    }
    campaign.test_reviews = test_reviews;
}

fn review_fault(
    review: &TestReview,
    reviewed: &ReviewedTest,
    current: Option<(&TestEvidence, String)>,
    level: SoftwareLevel,
) -> Option<String> {
    let Some((test, current_hash)) = current else {
        return Some("the test did not run".to_owned());
    };
    let objective = match review.of {
        ReviewedThing::Procedures => Objective::ProceduresCorrect,
        ReviewedThing::Results => Objective::ResultsCorrect,
    };
    if current_hash != reviewed.hash {
        let what = match review.of {
            ReviewedThing::Procedures => "the test, or what it rests on, is another",
            ReviewedThing::Results => "the results, or what they come from, are others",
        };
        return Some(format!("stale: {what} now, with the hash {current_hash}"));
    }
    let needs_independence = objective.row().demand(level) == ObjectiveDemand::WithIndependence;
    let author = test.definition.author.as_deref();
    if needs_independence && !are_different_people(author, Some(&review.reviewer)) {
        return Some(match author {
            None => "the test names no author, and this level demands another person as reviewer"
                .to_owned(),
            Some(author) => format!(
                "author of the test and reviewer are the same ({author}); this level demands independence"
            ),
        });
    }
    None
}

/// Whether every test has been reviewed.
pub(super) fn procedures_correct(facts: &CampaignFacts) -> Showing {
    reviewed(facts, ReviewedThing::Procedures, Showing::default())
        .misses_all(facts.left_out_of_run())
}

/// Whether the results of every test have been reviewed, and every test passed.
pub(super) fn results_correct(facts: &CampaignFacts) -> Showing {
    let tests = &facts.campaign.tests;
    let has_discrepancy = |test: &&TestEvidence| {
        test.results.iter().any(|result| match result.verdict {
            Verdict::Pass | Verdict::NotRun => false,
            Verdict::Fail
            | Verdict::Error
            | Verdict::Unsupported
            | Verdict::Timeout
            | Verdict::Undetermined => true,
        })
    };
    let discrepant_tests: Vec<String> =
        tests.iter().filter(has_discrepancy).map(|test| test.id.to_string()).collect();
    let discrepancies =
        lacking(tests.len(), "tests", "did not pass on an engine that ran", &discrepant_tests);
    reviewed(facts, ReviewedThing::Results, Showing::default())
        .misses_all(discrepancies)
        .misses_all(facts.standing_findings(|_| true))
        .misses_all(facts.left_out_of_run())
}

fn reviewed(facts: &CampaignFacts, thing: ReviewedThing, showing: Showing) -> Showing {
    let reviewed_tests = reviewed_tests(facts.campaign, thing);
    let tests = &facts.campaign.tests;
    if tests.is_empty() {
        return showing.misses("There is no test.");
    }
    let unreviewed: Vec<String> = tests
        .iter()
        .filter(|test| !reviewed_tests.contains(&test.id))
        .map(|test| test.id.to_string())
        .collect();
    let showing = showing.shows(format!(
        "The {thing} of {} of {} tests have an accepted review.",
        tests.len() - unreviewed.len(),
        tests.len()
    ));
    let showing = showing.shows_all(document_caveats(facts.campaign, thing));
    let lack = format!("have no accepted review of their {thing}");
    showing.misses_all(lacking(tests.len(), "tests", &lack, &unreviewed))
}

/// What is not known of the documents that reviews which count are recorded in.
fn document_caveats(campaign: &Campaign, thing: ReviewedThing) -> Vec<String> {
    let reviews: Vec<&TestReview> = campaign
        .test_reviews
        .iter()
        .filter(|row| row.review.of == thing && row.rejected.len() < row.review.tests.len())
        .map(|row| &row.review)
        .collect();
    if reviews.is_empty() {
        return Vec::new();
    }
    let mut caveats = vec!["No document of a review was read by this tool.".to_owned()];
    caveats.extend(lacking_in_records(&reviews, "pin their document by no hash", |review| {
        review.document_hash.is_none()
    }));
    caveats.extend(lacking_in_records(&reviews, "have no date", |review| review.date.is_none()));
    caveats
}

/// `1 of 2 records of reviews have no date: “V-17”, 3.2.`
fn lacking_in_records(
    reviews: &[&TestReview],
    lack: &str,
    lacks: impl Fn(&TestReview) -> bool,
) -> Option<String> {
    let places: Vec<String> = reviews
        .iter()
        .filter(|review| lacks(review))
        .map(|review| format!("“{}”, {}", review.document, review.section))
        .collect();
    lacking(reviews.len(), "records of reviews", lack, &places)
}

/// Tests with a review that counts.
fn reviewed_tests(campaign: &Campaign, thing: ReviewedThing) -> BTreeSet<TestId> {
    let rows = campaign.test_reviews.iter().filter(|row| row.review.of == thing);
    rows.flat_map(|row| {
        let is_rejected = |id: &TestId| row.rejected.iter().any(|rejected| rejected.test == *id);
        row.review.tests.iter().map(|test| test.id).filter(move |id| !is_rejected(id))
    })
    .collect()
}
