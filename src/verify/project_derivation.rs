//! What the stored project comes to by itself, where its kernels cannot be compiled as they were.
//!
//! Knows: the project made of the stored inputs, in its folder. Promises: requirements with the
//! code that implements them, tests, justifications, records of verification, interfaces, settings
//! and where each kernel comes from are those of the project.
//! Does not cover: what modules decide: structure, records, coverage, coupling checks, contents
//! that a block lays out.

use super::Verification;
use super::VerifyError;
use super::difference::Differences;
use super::rebuild::LaidOutProject;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use vkcert_derivation::{derive, stated};
use vkcert_model::evidence::{
    Campaign, Evidence, KernelEvidence, RequirementEvidence, TestEvidence,
};
use vkcert_model::project::ProjectKernel;
use vkcert_requirement::{Project, trace};

/// Compares all of it with what is stored.
pub fn compare(
    stored: &Evidence,
    laid_out: &LaidOutProject,
    found: &mut Verification,
) -> Result<(), VerifyError> {
    let (campaign, project) = (&stored.campaign, &laid_out.project);
    let mut comparison = Comparison::default();
    let mut traced = Campaign {
        requirements: trace::trace_requirements(project),
        records: stated::records_of_verification(project),
        ..campaign.clone()
    };
    derive::settle_requirements(&mut traced, &stored.kernels);
    keep_absent_code(campaign, &laid_out.absent, &mut traced.requirements);
    comparison.of("campaign.json/requirements", &campaign.requirements, &traced.requirements)?;
    comparison.of("campaign.json/records", &campaign.records, &traced.records)?;
    comparison.of("campaign.json/settings", &campaign.settings, &Some(&project.settings.value))?;
    let tests: Vec<TestEvidence> = campaign.tests.iter().map(without_results).collect();
    comparison.of("campaign.json/tests", &tests, &stated::tests_without_results(project))?;
    let justified: Vec<_> =
        campaign.justifications.iter().map(|row| (&row.justification, &row.file)).collect();
    let stated: Vec<_> =
        project.justifications.iter().map(|row| (&row.value, project.relative_file(row))).collect();
    comparison.of("campaign.json/justifications", &justified, &stated)?;
    let definitions: Vec<_> = campaign.coupling.iter().map(|row| row.definition.as_ref()).collect();
    let interfaces: Vec<_> =
        project.interfaces.iter().map(|interface| Some(&interface.value)).collect();
    comparison.of("campaign.json/coupling", &definitions, &interfaces)?;
    let options = stated::compiler_options(&project.settings.value);
    comparison.of(
        "campaign.json/project/compiler_options",
        &campaign.project.compiler_options,
        &options,
    )?;
    comparison.kernels(&stored.kernels, &project.settings.value.kernels)?;
    found.checked += comparison.0.compared;
    found.problems.append(&mut comparison.0.found);
    left_out(campaign, project, found);
    Ok(())
}

/// Whether a file that is not there holds a function is not for this derivation to say.
fn keep_absent_code(
    campaign: &Campaign,
    absent: &BTreeSet<String>,
    derived: &mut [RequirementEvidence],
) {
    for (ours, theirs) in derived.iter_mut().zip(&campaign.requirements) {
        for (ours, theirs) in ours.code.iter_mut().zip(&theirs.code) {
            if absent.contains(&ours.file) {
                (ours.found, ours.line) = (theirs.found, theirs.line);
            }
        }
    }
}

/// A test as it stands in the project's files.
fn without_results(test: &TestEvidence) -> TestEvidence {
    TestEvidence { results: Vec::new(), expected: Vec::new(), flows: Vec::new(), ..test.clone() }
}

/// Tests that were left out are tests of the project.
fn left_out(campaign: &Campaign, project: &Project, found: &mut Verification) {
    let known: Vec<_> = project.left_out.iter().map(|test| &test.id).collect();
    found.check(campaign.left_out.iter().collect::<Vec<_>>() == known, || {
        "tests that were left out".to_owned()
    });
}

#[derive(Default)]
struct Comparison(Differences);

impl Comparison {
    fn of(
        &mut self,
        path: &str,
        stored: &impl Serialize,
        derived: &impl Serialize,
    ) -> Result<(), VerifyError> {
        self.0.compare(path, &json(stored)?, &json(derived)?);
        Ok(())
    }

    /// Where each kernel comes from, as the project file says.
    fn kernels(
        &mut self,
        stored: &[KernelEvidence],
        settings: &[ProjectKernel],
    ) -> Result<(), VerifyError> {
        for row in stored {
            // A kernel that the project does not have is told elsewhere.
            let Some(kernel) = settings.iter().find(|kernel| kernel.name == row.kernel) else {
                continue;
            };
            let path = format!("{} on {}", row.kernel, row.engine);
            let configuration = &row.configuration;
            self.of(&format!("{path}/source"), &row.source, &kernel.source)?;
            self.of(&format!("{path}/entry"), &configuration.entry, &kernel.entry)?;
            self.of(&format!("{path}/defines"), &configuration.defines, &kernel.defines)?;
            self.of(&format!("{path}/include"), &configuration.include, &kernel.include)?;
            self.of(
                &format!("{path}/target_env"),
                &configuration.target_env,
                &kernel.target_env.name(),
            )?;
        }
        Ok(())
    }
}

fn json(value: &impl Serialize) -> Result<Value, VerifyError> {
    Ok(serde_json::to_value(value)?)
}
