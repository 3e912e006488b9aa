//! Project, tool, inputs and kernel files, each of which manifest, campaign and kernels name.

use crate::Verification;
use std::collections::BTreeSet;
use vkcert_derivation::stated;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::document::is_calendar_date;
use vkcert_model::evidence::Evidence;
use vkcert_model::generation::Generation;
use vkcert_model::verdict::EngineName;

/// The file name under which the defines of a kernel are stored.
const DEFINES_TEXT_NAME: &str = "<defines>";

/// The source text that coverage is shown on is the input that the manifest names.
pub(super) fn check_inputs(evidence: &Evidence, verification: &mut Verification) {
    for kernel in &evidence.kernels {
        // Defines have a text of their own, which is no file of the project.
        let has_defines = !kernel.configuration.defines.is_empty();
        for file in kernel
            .structure
            .files
            .iter()
            .filter(|file| !(has_defines && file.path == DEFINES_TEXT_NAME))
        {
            let hash = evidence.manifest.inputs.get(&file.path);
            verification.check(hash == Some(&sha256_digits(file.text.as_bytes())), || {
                format!(
                    "{} on {}: the text of {} is not the input",
                    kernel.kernel, kernel.engine, file.path
                )
            });
        }
    }
}

/// The manifest names tool, compiler and devices as the campaign does.
pub(super) fn check_identity(stored: &Evidence, verification: &mut Verification) {
    let (manifest, campaign) = (&stored.manifest, &stored.campaign);
    verification.check(manifest.tool == stated::tool_label(campaign), || {
        "the manifest names another tool than the campaign".to_owned()
    });
    verification.check(manifest.compiler == campaign.project.compiler, || {
        "the manifest names another compiler than the campaign".to_owned()
    });
    verification.check(manifest.devices == stated::device_labels(&campaign.engines), || {
        "the manifest names other devices than the campaign".to_owned()
    });
    let date = campaign.project.date.as_deref();
    verification.check(date.is_none_or(is_date), || {
        "the date of the campaign is none of RFC 3339 in UTC".to_owned()
    });
}

/// `2026-01-31T12:00:00Z`: a day of the calendar, a time of the day.
fn is_date(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let Some(time) = time.strip_suffix('Z') else { return false };
    let parts: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else { return false };
    let is_below = |digits: &str, limit: u32| {
        let are_digits = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        are_digits && digits.parse::<u32>().is_ok_and(|number| number < limit)
    };
    is_calendar_date(date) && is_below(hour, 24) && is_below(minute, 60) && is_below(second, 60)
}

/// There is a file for every kernel that a test dispatches and every engine that ran, and no other.
pub(super) fn check_kernel_files(stored: &Evidence, verification: &mut Verification) {
    let campaign = &stored.campaign;
    let engines_that_ran: Vec<EngineName> =
        campaign.engines.iter().filter(|row| row.ran).map(|row| row.engine).collect();
    let tested_kernels = campaign
        .tests
        .iter()
        .flat_map(|test| &test.definition.dispatches)
        .map(|dispatch| &dispatch.kernel);
    let stated_kernels =
        campaign.settings.iter().flat_map(|settings| &settings.kernels).map(|kernel| &kernel.name);
    let expected_kernels: BTreeSet<_> = tested_kernels.chain(stated_kernels).collect();
    for (kernel, engine) in expected_kernels
        .iter()
        .flat_map(|kernel| engines_that_ran.iter().map(move |engine| (kernel, engine)))
    {
        let file_exists =
            stored.kernels.iter().any(|row| row.kernel == **kernel && row.engine == *engine);
        verification
            .check(file_exists, || format!("there is no file of kernel {kernel} on {engine}"));
    }
    for row in &stored.kernels {
        verification.check(engines_that_ran.contains(&row.engine), || {
            format!("{} on {}: that engine did not run", row.kernel, row.engine)
        });
        let is_known_kernel = campaign.settings.is_none() || expected_kernels.contains(&row.kernel);
        verification.check(is_known_kernel, || {
            format!("{} on {}: the project has no such kernel", row.kernel, row.engine)
        });
    }
    for test in &campaign.tests {
        let result_engines: Vec<EngineName> =
            test.results.iter().map(|result| result.engine).collect();
        let expected_engines: Vec<EngineName> =
            campaign.engines.iter().map(|row| row.engine).collect();
        verification.check(result_engines == expected_engines, || {
            format!("test {}: its results are not those of the engines", test.id)
        });
    }
}

/// The identity of the project repeats the project file.
pub(super) fn check_settings(stored: &Evidence, verification: &mut Verification) {
    let Some(settings) = &stored.campaign.settings else { return };
    let project = &stored.campaign.project;
    let generation = Generation::for_campaign(&stored.campaign);
    let criteria: Vec<StoredCriterion> =
        settings.criteria_in_force(generation).into_iter().map(StoredCriterion::from).collect();
    let identity_follows = project.name == settings.name
        && project.level == settings.level
        && project.decision_policy == settings.decision_policy
        && project.memory_model == settings.memory_model
        && project.criteria == criteria
        && project.metrics == settings.metrics;
    verification.check(identity_follows, || {
        "the identity of the project does not follow from its settings".to_owned()
    });
}

#[cfg(test)]
mod tests {
    use super::is_date;
    use crate::honest::{Forgery, assert_told, assert_told_without_inputs, honest, honest_with};
    use vkcert_model::criterion::{CriterionName, StoredCriterion};
    use vkcert_model::place::SourceFile;
    use vkcert_model::project::{DecisionPolicy, MemoryModel, SoftwareLevel};

    #[test]
    fn manifest_campaign_and_project_file_name_the_same() {
        const OTHER_IDENTITY: &str =
            "the identity of the project does not follow from its settings";
        let forgeries = [
            Forgery::new(
                "tool of the manifest",
                |forged| forged.manifest.tool = "vkcert 9.0.0".to_owned(),
                "the manifest names another tool than the campaign",
            ),
            Forgery::new(
                "compiler of the manifest",
                |forged| forged.manifest.compiler.push('2'),
                "the manifest names another compiler than the campaign",
            ),
            Forgery::new(
                "devices of the manifest",
                |forged| forged.manifest.devices.clear(),
                "the manifest names other devices than the campaign",
            ),
            Forgery::new(
                "date",
                |forged| forged.campaign.project.date = Some("yesterday".to_owned()),
                "the date of the campaign is none of RFC 3339 in UTC",
            ),
            Forgery::new(
                "date of no calendar",
                |forged| forged.campaign.project.date = Some("2099-99-99T99:99:99Z".to_owned()),
                "the date of the campaign is none of RFC 3339 in UTC",
            ),
            Forgery::new(
                "name of the project",
                |forged| forged.campaign.project.name.push('2'),
                OTHER_IDENTITY,
            ),
            Forgery::new(
                "level",
                |forged| forged.campaign.project.level = SoftwareLevel::A,
                OTHER_IDENTITY,
            ),
            Forgery::new(
                "decision policy",
                |forged| forged.campaign.project.decision_policy = DecisionPolicy::ControlFlow,
                OTHER_IDENTITY,
            ),
            Forgery::new(
                "memory model",
                |forged| forged.campaign.project.memory_model = MemoryModel::Spec,
                OTHER_IDENTITY,
            ),
            Forgery::new(
                "criteria",
                |forged| {
                    let criterion = StoredCriterion::from(CriterionName::McdcMasking);
                    forged.campaign.project.criteria.push(criterion);
                },
                OTHER_IDENTITY,
            ),
        ];
        assert_told(&honest(), &forgeries);
        assert_told_without_inputs(&honest(), &forgeries);
    }

    #[test]
    fn a_date_has_one_form() {
        assert!(is_date("2026-01-31T12:00:00Z"));
        for other in [
            "",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00ZZ",
            "2026-01-31 12:00:00Z",
            "2026-01-31T12:00:00+",
            "2026-O1-31T12:00:00Z",
            "d026-01-31T12:00:00Z",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn coverage_is_shown_on_the_text_of_the_input() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "the text of a kernel",
                    |forged| forged.kernels[1].structure.files[0].text.push('\n'),
                    "guard on vulkan: the text of glsl/guard.comp is not the input",
                ),
                Forgery::new(
                    "a text that is no input",
                    |forged| forged.kernels[0].structure.files[0].path = "other.comp".to_owned(),
                    "guard on sequential: the text of other.comp is not the input",
                ),
                Forgery::new(
                    "a text of defines where there are none",
                    |forged| forged.kernels[0].structure.files.push(text_of_defines()),
                    "guard on sequential: the text of <defines> is not the input",
                ),
            ],
        );
    }

    fn text_of_defines() -> SourceFile {
        SourceFile { path: "<defines>".to_owned(), text: "#define N 1\n".to_owned() }
    }

    #[test]
    fn defines_have_a_text_that_is_no_input() {
        let with_defines = honest_with(|facts| {
            for kernel in &mut facts.kernels {
                kernel.configuration.defines.insert("N".to_owned(), "1".to_owned());
                kernel.structure.files.push(text_of_defines());
            }
        });
        assert_told_without_inputs(
            &with_defines,
            &[Forgery::new(
                "a text beside that of the defines",
                |forged| forged.kernels[0].structure.files[0].text.push('\n'),
                "guard on sequential: the text of glsl/guard.comp is not the input",
            )],
        );
    }

    #[test]
    fn each_kernel_has_a_file_for_each_engine_that_ran() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "the file of the device left out",
                    |forged| forged.kernels.truncate(1),
                    "there is no file of kernel guard on vulkan",
                ),
                Forgery::new(
                    "another engine of a file",
                    |forged| forged.kernels[0].engine = forged.kernels[1].engine,
                    "there is no file of kernel guard on sequential",
                ),
                Forgery::new(
                    "a kernel that a test dispatches",
                    |forged| {
                        forged.campaign.tests[0].definition.dispatches[0].kernel = "other".into();
                    },
                    "there is no file of kernel other on sequential",
                ),
                Forgery::new(
                    "a kernel of the settings",
                    |forged| {
                        let settings = forged.campaign.settings.as_mut().unwrap();
                        settings.kernels[0].name = "stated".into();
                    },
                    "there is no file of kernel stated on vulkan",
                ),
                Forgery::new(
                    "an engine as if it had not run",
                    |forged| forged.campaign.engines[1].ran = false,
                    "guard on vulkan: that engine did not run",
                ),
                Forgery::new(
                    "a kernel that the project does not have",
                    |forged| forged.kernels[1].kernel = "other".into(),
                    "other on vulkan: the project has no such kernel",
                ),
                Forgery::new(
                    "a result left out",
                    |forged| forged.campaign.tests[1].results.truncate(1),
                    "test T2: its results are not those of the engines",
                ),
            ],
        );
    }
}
