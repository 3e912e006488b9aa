//! What follows from the stored project alone, where its kernels cannot be compiled as they were.
//!
//! Knows: the project that was rebuilt from the stored inputs, in its folder. Promises:
//! requirements with the code that implements them, tests, justifications, records of verification,
//! interfaces, settings and the source of each kernel are those of the project.
//! Does not cover: what depends on modules: structure, records, coverage, coupling checks, contents
//! laid out by reflection.

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

/// Derives all of it and compares it with the evidence.
///
/// # Errors
/// If a value cannot be written as JSON, which is a defect of the tool.
pub fn compare_project(
    stored: &Evidence,
    laid_out: &LaidOutProject,
    verification: &mut Verification,
) -> Result<(), VerifyError> {
    let (campaign, project) = (&stored.campaign, &laid_out.project);
    let mut comparison = ProjectComparison::default();
    let mut derived_campaign = Campaign {
        requirements: trace::trace_requirements(project),
        records: stated::records_of_verification(project),
        ..campaign.clone()
    };
    derive::settle_requirements(&mut derived_campaign, &stored.kernels);
    keep_absent_code(campaign, &laid_out.absent, &mut derived_campaign.requirements);
    comparison.compare_values(
        "campaign.json/requirements",
        &campaign.requirements,
        &derived_campaign.requirements,
    )?;
    comparison.compare_values(
        "campaign.json/records",
        &campaign.records,
        &derived_campaign.records,
    )?;
    comparison.compare_values(
        "campaign.json/settings",
        &campaign.settings,
        &Some(&project.settings.value),
    )?;
    let stored_tests: Vec<TestEvidence> = campaign.tests.iter().map(without_results).collect();
    comparison.compare_values(
        "campaign.json/tests",
        &stored_tests,
        &stated::tests_without_results(project),
    )?;
    let stored_justifications: Vec<_> =
        campaign.justifications.iter().map(|row| (&row.justification, &row.file)).collect();
    let project_justifications: Vec<_> =
        project.justifications.iter().map(|row| (&row.value, project.relative_file(row))).collect();
    comparison.compare_values(
        "campaign.json/justifications",
        &stored_justifications,
        &project_justifications,
    )?;
    let stored_interfaces: Vec<_> =
        campaign.coupling.iter().map(|row| row.definition.as_ref()).collect();
    let project_interfaces: Vec<_> =
        project.interfaces.iter().map(|interface| Some(&interface.value)).collect();
    comparison.compare_values("campaign.json/coupling", &stored_interfaces, &project_interfaces)?;
    let options = stated::compiler_options(&project.settings.value);
    comparison.compare_values(
        "campaign.json/project/compiler_options",
        &campaign.project.compiler_options,
        &options,
    )?;
    comparison.compare_kernels(&stored.kernels, &project.settings.value.kernels)?;
    verification.checked += comparison.0.compared;
    verification.problems.append(&mut comparison.0.messages);
    check_left_out_tests(campaign, project, verification);
    Ok(())
}

/// Takes over from the evidence whether absent files hold the functions that requirements name,
/// because this derivation cannot tell.
fn keep_absent_code(
    campaign: &Campaign,
    absent_files: &BTreeSet<String>,
    derived: &mut [RequirementEvidence],
) {
    for (derived_requirement, stored_requirement) in derived.iter_mut().zip(&campaign.requirements)
    {
        for (derived_code, stored_code) in
            derived_requirement.code.iter_mut().zip(&stored_requirement.code)
        {
            if absent_files.contains(&derived_code.file) {
                (derived_code.found, derived_code.line) = (stored_code.found, stored_code.line);
            }
        }
    }
}

/// A test as the project's files define it.
fn without_results(test: &TestEvidence) -> TestEvidence {
    TestEvidence { results: Vec::new(), expected: Vec::new(), flows: Vec::new(), ..test.clone() }
}

/// Tests that were left out are tests of the project.
fn check_left_out_tests(campaign: &Campaign, project: &Project, verification: &mut Verification) {
    let project_left_out: Vec<_> = project.left_out.iter().map(|test| &test.id).collect();
    verification.check(campaign.left_out.iter().collect::<Vec<_>>() == project_left_out, || {
        "tests that were left out".to_owned()
    });
}

#[derive(Default)]
struct ProjectComparison(Differences);

impl ProjectComparison {
    fn compare_values(
        &mut self,
        path: &str,
        stored: &impl Serialize,
        derived: &impl Serialize,
    ) -> Result<(), VerifyError> {
        self.0.compare(path, &json_value(stored)?, &json_value(derived)?);
        Ok(())
    }

    /// Where each kernel comes from, as the project file says.
    fn compare_kernels(
        &mut self,
        stored: &[KernelEvidence],
        project_kernels: &[ProjectKernel],
    ) -> Result<(), VerifyError> {
        for row in stored {
            // Kernels that the project does not have are reported by the consistency checks.
            let Some(kernel) = project_kernels.iter().find(|kernel| kernel.name == row.kernel)
            else {
                continue;
            };
            let path = format!("{} on {}", row.kernel, row.engine);
            let configuration = &row.configuration;
            self.compare_values(&format!("{path}/source"), &row.source, &kernel.source)?;
            self.compare_values(&format!("{path}/entry"), &configuration.entry, &kernel.entry)?;
            self.compare_values(
                &format!("{path}/defines"),
                &configuration.defines,
                &kernel.defines,
            )?;
            self.compare_values(
                &format!("{path}/include"),
                &configuration.include,
                &kernel.include,
            )?;
            self.compare_values(
                &format!("{path}/target_env"),
                &configuration.target_env,
                &kernel.target_env.name(),
            )?;
        }
        Ok(())
    }
}

fn json_value(value: &impl Serialize) -> Result<Value, VerifyError> {
    Ok(serde_json::to_value(value)?)
}
