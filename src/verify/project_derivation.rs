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
use std::collections::{BTreeMap, BTreeSet};
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
    let stored_reviews: Vec<_> =
        campaign.test_reviews.iter().map(|row| (&row.review, &row.file)).collect();
    let project_reviews = stated::stated_reviews(project);
    let project_reviews: Vec<_> =
        project_reviews.iter().map(|row| (&row.review, &row.file)).collect();
    comparison.compare_values("campaign.json/test_reviews", &stored_reviews, &project_reviews)?;
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
    check_set_aside_kernels(campaign, project, verification);
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
    TestEvidence {
        results: Vec::new(),
        expected: Vec::new(),
        flows: Vec::new(),
        layouts: BTreeMap::new(),
        ..test.clone()
    }
}

/// Tests that were left out are tests of the project.
fn check_left_out_tests(campaign: &Campaign, project: &Project, verification: &mut Verification) {
    verification.check(campaign.left_out == project.left_out_on_request(), || {
        "tests that were left out".to_owned()
    });
}

/// Kernels that were set aside are kernels of the project, with their sources and the tests that name
/// them. Whether they compile only a compiler can tell.
fn check_set_aside_kernels(
    campaign: &Campaign,
    project: &Project,
    verification: &mut Verification,
) {
    let stored = campaign.set_aside.iter().map(|row| (row.kernel, &row.source, &row.tests));
    let of_project = project.set_aside.iter();
    let of_project = of_project.map(|row| (row.settings.name, &row.settings.source, &row.tests));
    verification.check(stored.eq(of_project), || "kernels that were set aside".to_owned());
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

#[cfg(test)]
mod tests {
    use super::compare_project;
    use crate::honest::{Forgery, KERNEL_PATH, assert_told, honest, result_of};
    use crate::{LaidOutProject, NoToolchain, RebuildOutcome, Verification, rebuild};
    use serde_json::json;
    use vkcert_model::evidence::Evidence;
    use vkcert_model::verdict::EngineName;

    fn laid_out(evidence: &Evidence) -> Box<LaidOutProject> {
        match rebuild::rebuild_project(evidence, None, &NoToolchain) {
            RebuildOutcome::ProjectAlone(project, _) => project,
            _ => panic!("the project is rebuilt without its kernels"),
        }
    }

    fn compared(evidence: &Evidence, project: &LaidOutProject) -> Verification {
        let mut verification = Verification::default();
        compare_project(evidence, project, &mut verification).unwrap();
        verification
    }

    #[test]
    fn what_the_projects_files_state_is_derived_from_them() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "a requirement",
                    |forged| forged.campaign.requirements[0].requirement.title.push('!'),
                    "campaign.json/requirements/0/requirement/title: \
                     stored \"Guard!\", derived \"Guard\"",
                ),
                Forgery::new(
                    "the code of a requirement",
                    |forged| forged.campaign.requirements[0].code[0].line = Some(9),
                    "campaign.json/requirements/0/code/0/line: stored 9, derived 5",
                ),
                Forgery::new(
                    "a setting",
                    |forged| {
                        forged.campaign.settings.as_mut().unwrap().limits.mismatches = 17;
                    },
                    "campaign.json/settings/limits/mismatches: stored 17, derived 16",
                ),
                Forgery::new(
                    "a test",
                    |forged| forged.campaign.tests[0].definition.dispatches[0].groups[1] = 2,
                    "campaign.json/tests/0/definition/dispatches/0/groups/1: stored 2, derived 1",
                ),
                Forgery::new(
                    "a test left out",
                    |forged| {
                        forged.campaign.tests.pop();
                        forged.campaign.left_out.push("T2".into());
                    },
                    "campaign.json/requirements/0/left_out_tests: not stored, derived [\"T2\"]",
                ),
                Forgery::new(
                    "a test left out that there is none of",
                    |forged| forged.campaign.left_out.push("T3".into()),
                    "tests that were left out",
                ),
                Forgery::new(
                    "compiler options",
                    |forged| forged.campaign.project.compiler_options.clear(),
                    "campaign.json/project/compiler_options: stored \"\", \
                     derived \"guard: vulkan1.1, optimization zero, debug lines\"",
                ),
            ],
        );
    }

    #[test]
    fn a_kernel_comes_from_where_the_project_file_says() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "source",
                    |forged| forged.kernels[0].source = "other.comp".to_owned(),
                    "guard on sequential/source: \
                     stored \"other.comp\", derived \"glsl/guard.comp\"",
                ),
                Forgery::new(
                    "entry",
                    |forged| forged.kernels[1].configuration.entry = "other".to_owned(),
                    "guard on vulkan/entry: stored \"other\", derived \"main\"",
                ),
                Forgery::new(
                    "defines",
                    |forged| {
                        let defines = &mut forged.kernels[0].configuration.defines;
                        defines.insert("N".to_owned(), "1".to_owned());
                    },
                    "guard on sequential/defines/N: stored \"1\", and nothing is derived",
                ),
                Forgery::new(
                    "include folders",
                    |forged| forged.kernels[0].configuration.include.push("inc".to_owned()),
                    "guard on sequential/include/0: stored \"inc\", and nothing is derived",
                ),
                Forgery::new(
                    "target",
                    |forged| forged.kernels[0].configuration.target_env = "vulkan1.3".to_owned(),
                    "guard on sequential/target_env: stored \"vulkan1.3\", derived \"vulkan1.1\"",
                ),
            ],
        );
    }

    #[test]
    fn signatures_are_those_of_the_projects_files() {
        let mut forged = honest();
        forged.campaign.justifications.push(
            serde_json::from_value(json!({
                "justification": {
                    "kernel": "guard", "obligation": "D1.C1", "class": "defensive", "reason": "r",
                    "author": "a", "approver": "b", "hash": "sha256:0",
                },
                "file": "requirements/all.toml", "rejected": null,
            }))
            .unwrap(),
        );
        forged.campaign.records.push(
            serde_json::from_value(json!({
                "method": "review", "file": "f", "rejected": null,
                "record": {
                    "requirement": "R", "document": "D", "section": "1", "author": "a",
                    "reviewer": "b", "hash": "sha256:0",
                },
            }))
            .unwrap(),
        );
        forged.campaign.coupling.push(
            serde_json::from_value(json!({
                "kernel": "guard", "nodes": [], "edges": [], "checks": [],
            }))
            .unwrap(),
        );
        let problems = compared(&forged, &laid_out(&honest())).problems;
        for place in ["records/0", "justifications/0", "coupling/0"] {
            let start = format!("campaign.json/{place}: stored ");
            let is_told = |problem: &String| {
                problem.starts_with(&start) && problem.ends_with(", and nothing is derived")
            };
            assert!(problems.iter().any(is_told), "{place}: {problems:#?}");
        }
    }

    #[test]
    fn what_a_run_left_is_not_compared_with_the_project() {
        let mut evidence = honest();
        let project = laid_out(&evidence);
        let checked = compared(&evidence, &project).checked;
        assert!(checked > 50, "{checked}");
        let test = &mut evidence.campaign.tests[0];
        test.expected.clear();
        test.flows.clear();
        test.layouts.insert("o".to_owned(), Vec::new());
        result_of(&mut evidence, 0, EngineName::Sequential).printed_lines = 7;
        let again = compared(&evidence, &project);
        assert_eq!((again.problems.len(), again.checked), (0, checked));
        // It adds to what was compared before.
        let mut verification = Verification { checked: 10, ..Verification::default() };
        compare_project(&evidence, &project, &mut verification).unwrap();
        assert_eq!(verification.checked, checked + 10);
    }

    /// Of a file that was too large to store it cannot be told whether it holds `main`.
    #[test]
    fn the_code_of_absent_files_is_taken_over() {
        let mut forged = honest();
        forged.campaign.requirements[0].code[0].found = false;
        let mut project = laid_out(&forged);
        let told = "campaign.json/requirements/0/code/0/found: stored false, derived true";
        assert_eq!(compared(&forged, &project).problems, [told]);
        forged.campaign.requirements[0].code[0].line = None;
        project.absent.insert(KERNEL_PATH.to_owned());
        assert_eq!(compared(&forged, &project).problems, Vec::<String>::new());
    }
}
