//! What the project's files state of a campaign, before any kernel is compiled: tests, records of
//! verification, compiler options; and what makes the evidence.

use super::derive;
use rayon::prelude::*;
use std::collections::BTreeMap;
use vkcert_model::evidence::{
    Campaign, EngineIdentity, RecordEvidence, TestEvidence, TestReviewEvidence,
};
use vkcert_model::project::ProjectFile;
use vkcert_model::requirement::VerificationMethod;
use vkcert_requirement::{Project, trace};

/// This program, as evidence names it.
pub const TOOL: &str = "vkcert";
/// Version of this program, as evidence names it.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Name and version of the tool, as a manifest has them.
pub fn tool_label(campaign: &Campaign) -> String {
    format!("{} {}", campaign.project.tool, campaign.project.tool_version)
}

/// The devices that ran, as a manifest has them.
pub fn device_labels(engines: &[EngineIdentity]) -> Vec<String> {
    let device_name = |engine: &EngineIdentity| {
        let name = |key: &str| engine.identity.get(key).cloned().unwrap_or_default();
        format!("{} ({} {})", name("device"), name("driver"), name("driver info"))
    };
    engines
        .iter()
        .filter(|row| row.ran && row.identity.contains_key("device"))
        .map(device_name)
        .collect()
}

/// Records of analyses and reviews, judged.
pub fn records_of_verification(project: &Project) -> Vec<RecordEvidence> {
    let level = project.settings.value.level;
    let lists_by_method = [
        (VerificationMethod::Analysis, &project.analyses),
        (VerificationMethod::Review, &project.reviews),
    ];
    let located_records = lists_by_method
        .into_iter()
        .flat_map(|(method, record_list)| record_list.iter().map(move |record| (method, record)));
    located_records
        .map(|(method, located)| {
            let record = located.value.clone();
            let requirement =
                project.requirements.iter().find(|found| found.uid == record.requirement);
            let reject_reason =
                derive::record_fault(method, &record, requirement.map(|found| &found.value), level);
            RecordEvidence {
                method,
                record,
                file: project.relative_file(located),
                rejected: reject_reason,
            }
        })
        .collect()
}

/// Reviews of tests, not yet judged.
pub fn stated_reviews(project: &Project) -> Vec<TestReviewEvidence> {
    let reviews = project.test_reviews.iter();
    reviews
        .map(|located| TestReviewEvidence {
            review: located.value.clone(),
            file: project.relative_file(located),
            rejected: Vec::new(),
        })
        .collect()
}

/// What production modules are compiled with, per kernel.
pub fn compiler_options(settings: &ProjectFile) -> String {
    let options = settings.kernels.iter().map(|kernel| {
        format!(
            "{}: {}, optimization {:?}, debug lines",
            kernel.name, kernel.target_env, kernel.optimization
        )
        .to_lowercase()
    });
    options.collect::<Vec<_>>().join("; ")
}

/// What tests are before they run, without what they expect.
pub fn tests_without_results(project: &Project) -> Vec<TestEvidence> {
    let tests = project.tests.par_iter();
    tests
        .map(|test| TestEvidence {
            id: test.id,
            title: test.title.clone(),
            kind: test.kind,
            requirements: test.requirements.clone(),
            kernels: trace::kernels_of(test),
            file: project.relative_file(test),
            hash: vkcert_requirement::hash::test_hash(test),
            procedure: trace::describe_test(test),
            definition: test.value.clone(),
            expected: Vec::new(),
            flows: Vec::new(),
            layouts: BTreeMap::new(),
            results: Vec::new(),
        })
        .collect()
}
