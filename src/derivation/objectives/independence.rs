//! Independence: a verification activity is done by somebody else than the developer of what is
//! verified (DO-178C, glossary).
//!
//! Knows: the authors and reviewers that the project states of kernels and tests. Promises:
//! whatever is not stated is not independent.

use super::campaign_facts::{CampaignFacts, lacking};
use vkcert_coverage::may_be_same_person;
use vkcert_model::evidence::TestEvidence;
use vkcert_model::objective::Objective;
use vkcert_model::project::ProjectKernel;

/// What is missing for the independence of an objective's verification, as sentences.
pub(super) fn lacking_independence(objective: Objective, facts: &CampaignFacts) -> Vec<String> {
    match objective {
        // Nothing of these is shown by evidence of this kind: who reviews or analyses is for the applicant to tell.
        Objective::CodeMeetsLowLevel
        | Objective::CodeMeetsArchitecture
        | Objective::CodeVerifiable
        | Objective::CodeMeetsStandards
        | Objective::CodeTraceable
        | Objective::CodeAccurate
        | Objective::IntegrationComplete
        | Objective::ParametersCorrect => Vec::new(),
        // These standards ask for no independence in what is assessed here.
        Objective::EcssCodeVerified
        | Objective::EcssStatements
        | Objective::EcssDecisions
        | Objective::EcssMcdc
        | Objective::EcssMeasuredByTests
        | Objective::EcssUncoveredAnalysed
        | Objective::EcssObjectCode
        | Objective::EcssCodeRobust
        | Objective::IsoRequirementsTested
        | Objective::IsoStatements
        | Objective::IsoBranches
        | Objective::IsoMcdc
        | Objective::IsoFunctions
        | Objective::IsoCalls => Vec::new(),
        // Reviews that lack it do not count.
        Objective::ProceduresCorrect | Objective::ResultsCorrect => Vec::new(),
        Objective::ParametersVerified
        | Objective::ObjectMeetsHighLevel
        | Objective::ObjectRobustHighLevel
        | Objective::ObjectMeetsLowLevel
        | Objective::ObjectRobustLowLevel
        | Objective::ObjectFitsTarget
        | Objective::HighLevelTested
        | Objective::LowLevelTested
        | Objective::McdcCovered
        | Objective::DecisionsCovered
        | Objective::StatementsCovered
        | Objective::CouplingCovered
        | Objective::AdditionalCodeVerified => dependent_kernels_and_tests(facts),
    }
}

/// Whether two names are given and of different people.
pub(super) fn are_different_people(author: Option<&str>, reviewer: Option<&str>) -> bool {
    let (Some(author), Some(reviewer)) = (author, reviewer) else { return false };
    let are_named = [author, reviewer].iter().all(|name| name.contains(char::is_alphanumeric));
    are_named && !may_be_same_person(author, reviewer)
}

fn dependent_kernels_and_tests(facts: &CampaignFacts) -> Vec<String> {
    let kernels = &facts.settings.kernels;
    let tests = &facts.campaign.tests;
    let is_reviewed_kernel = |kernel: &ProjectKernel| {
        are_different_people(kernel.author.as_deref(), kernel.reviewer.as_deref())
    };
    let is_reviewed_test = |test: &TestEvidence| {
        let definition = &test.definition;
        are_different_people(definition.author.as_deref(), definition.reviewer.as_deref())
    };
    let kernels_without: Vec<String> = kernels
        .iter()
        .filter(|kernel| !is_reviewed_kernel(kernel))
        .map(|kernel| kernel.name.to_string())
        .collect();
    let tests_without: Vec<String> = tests
        .iter()
        .filter(|test| !is_reviewed_test(test))
        .map(|test| test.id.to_string())
        .collect();
    let tests_of_developers: Vec<String> = tests
        .iter()
        .filter(|test| is_reviewed_test(test) && is_written_by_developer(test, facts))
        .map(|test| test.id.to_string())
        .collect();
    const NO_REVIEW: &str = "have no author with another person as reviewer";
    let mut sentences: Vec<String> = [
        lacking(kernels.len(), "kernels", NO_REVIEW, &kernels_without),
        lacking(tests.len(), "tests", NO_REVIEW, &tests_without),
        lacking(
            tests.len(),
            "tests",
            "have the author of a kernel that they dispatch",
            &tests_of_developers,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let Some(first_sentence) = sentences.first_mut() {
        first_sentence.insert_str(0, "Independence is not shown. ");
    }
    sentences
}

/// Whether the author of a test is the author of a kernel that it dispatches.
fn is_written_by_developer(test: &TestEvidence, facts: &CampaignFacts) -> bool {
    let kernels = test.kernels.iter().filter_map(|name| facts.settings.kernel(name));
    let mut authors = kernels.filter_map(|kernel| kernel.author.as_deref());
    authors.any(|author| !are_different_people(Some(author), test.definition.author.as_deref()))
}
