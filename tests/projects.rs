//! The projects of this repository, certified by the program as a user would: the demonstration
//! holds, each of its tests is needed, each requirement has a robustness test, and the projects
//! with known defects fail for the reasons they were written for.

use std::path::{Path, PathBuf};
use std::process::Command;
use vkcert::model::coverage::CriterionSummary;
use vkcert::model::evidence::{Campaign, KernelSummary, RequirementStatus, TestResult};
use vkcert::model::finding::{Finding, FindingKind};
use vkcert::model::objective::Objective;
use vkcert::model::verdict::{EngineName, Verdict};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn project(name: &str) -> PathBuf {
    root().join("tests/projects").join(name)
}

/// Criteria that are measured, and asked for by projects that name them.
const ON_REQUEST: [&str; 6] =
    ["multiple-condition", "object-branch", "additional-code", "barrier", "call", "coupling"];

/// What one run of `vkcert certify` left behind.
struct Certification {
    exit_code: Option<i32>,
    campaign: Campaign,
}

fn certify(project: &Path, options: &[&str]) -> Certification {
    let out = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_vkcert"))
        .env("VKCERT_CACHE", "off")
        .arg("certify")
        .arg(project)
        .arg("--out")
        .arg(out.path().join("reports"))
        .args(options)
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = std::fs::read_to_string(out.path().join("reports/evidence/campaign.json"))
        .unwrap_or_else(|error| panic!("no evidence of {}: {error}\n{errors}", project.display()));
    let campaign = serde_json::from_str(&text).expect("the evidence has the form of the model");
    Certification { exit_code: output.status.code(), campaign }
}

impl Certification {
    fn results(&self, test: &str) -> &[TestResult] {
        let found = self.campaign.tests.iter().find(|evidence| evidence.id.as_str() == test);
        &found.unwrap_or_else(|| panic!("no evidence of {test}")).results
    }

    fn verdict(&self, test: &str, engine: EngineName) -> Verdict {
        let result = self.results(test).iter().find(|result| result.engine == engine);
        result.unwrap_or_else(|| panic!("{test} has no result of the {engine} engine")).verdict
    }

    /// Findings of a kind in all results of a test.
    fn findings(&self, test: &str, kind: FindingKind) -> Vec<&Finding> {
        self.results(test)
            .iter()
            .flat_map(|result| &result.findings)
            .filter(|finding| finding.kind == kind)
            .collect()
    }

    fn untested(&self) -> Vec<&str> {
        let untested = |status| status == RequirementStatus::Untested;
        let requirements =
            self.campaign.requirements.iter().filter(|evidence| untested(evidence.status));
        requirements.map(|evidence| evidence.requirement.uid.as_str()).collect()
    }

    /// Sentences on requirements that lack a normal or a robustness test which passed (objectives
    ///
    fn cases_lacking(&self) -> Vec<&str> {
        let of_tested = [Objective::HighLevelTested, Objective::LowLevelTested];
        let assessments = self.campaign.objectives.iter();
        assessments
            .filter(|assessment| of_tested.contains(&assessment.objective))
            .flat_map(|assessment| assessment.missing.iter().chain(&assessment.applicant))
            .map(String::as_str)
            .filter(|sentence| {
                sentence.contains(" test that passed")
                    || sentence.contains("robustness tests alone")
            })
            .collect()
    }

    fn uncovered(&self) -> u32 {
        self.uncovered_where(|_| true)
    }

    fn uncovered_of(&self, kernel: &str) -> u32 {
        self.uncovered_where(|summary| summary.kernel.as_str() == kernel)
    }

    fn uncovered_where(&self, is_counted: impl Fn(&KernelSummary) -> bool) -> u32 {
        let summaries = self.campaign.conclusion.summary.iter();
        let criteria =
            summaries.filter(|summary| is_counted(summary)).flat_map(|summary| &summary.criteria);
        criteria
            .filter(|row| {
                let name = row.criterion.as_str();
                name == "coupling" || !ON_REQUEST.contains(&name)
            })
            .map(|criterion| criterion.uncovered)
            .sum()
    }

    /// Names of the coupling checks with this status.
    fn checks(&self, status: &str) -> Vec<&str> {
        let checks = self.campaign.coupling.iter().flat_map(|evidence| &evidence.checks);
        checks
            .filter(|check| check.status.to_string() == status)
            .map(|check| check.check.as_str())
            .collect()
    }
}

#[test]
fn the_demonstration_is_verified_and_fully_covered_on_both_engines() {
    let certification = certify(&root(), &["--engine", "both"]);
    let conclusion = &certification.campaign.conclusion;
    assert_eq!(certification.exit_code, Some(0), "{:?}", conclusion.reasons);
    let settings = std::fs::read_to_string(root().join("vkcert.toml")).expect("readable");
    let kernels = settings.matches("[[kernel]]").count();
    assert!(kernels >= 4, "{settings}");
    assert_eq!(conclusion.summary.len(), 2 * kernels, "every kernel on two engines");
    for summary in &conclusion.summary {
        let source = summary
            .criteria
            .iter()
            .filter(|criterion| !ON_REQUEST.contains(&criterion.criterion.as_str()));
        let source: Vec<_> = source.collect();
        assert_eq!(source.len(), 5, "{summary:?}");
        for criterion in source {
            assert!(criterion.total > 0, "{summary:?}");
            assert_eq!(criterion.covered, criterion.total, "{summary:?}");
        }
        let of_coupling = |row: &&CriterionSummary| row.criterion.as_str() == "coupling";
        let coupling = summary.criteria.iter().find(of_coupling).expect("coupling coverage");
        let is_told = summary.engine == EngineName::Sequential;
        assert!(coupling.total > 0 && (!is_told || coupling.complete()), "{summary:?}");
    }
    for evidence in &certification.campaign.requirements {
        let verified = matches!(
            evidence.status,
            RequirementStatus::Verified | RequirementStatus::VerifiedByChildren
        );
        assert!(verified, "{}: {}", evidence.requirement.uid, evidence.status);
        assert!(evidence.suspect_parents.is_empty(), "{}", evidence.requirement.uid);
    }
    assert_eq!(certification.checks("refuted"), [""; 0]);
    // Accesses of one kernel, which the project file accepts with a reason.
    assert_eq!(certification.checks("undetermined"), ["index-bounds"; 5]);
}

/// A test of the demonstration, with what would miss it.
struct DemonstrationTest {
    id: String,
    /// Those that it dispatches.
    kernels: Vec<String>,
    /// Identifiers of the requirements that it verifies.
    requirements: Vec<String>,
}

impl DemonstrationTest {
    fn read(entry: &toml::Value) -> Self {
        let requirements = entry["requirements"].as_array().expect("a list").iter();
        Self {
            id: entry["id"].as_str().expect("a text").to_owned(),
            kernels: dispatched_kernels(entry),
            requirements: requirements
                .map(|uid| uid.as_str().expect("a text").to_owned())
                .collect(),
        }
    }

    fn shares_with(&self, other: &Self) -> bool {
        self.kernels.iter().any(|kernel| other.kernels.contains(kernel))
            || self.requirements.iter().any(|uid| other.requirements.contains(uid))
    }

    /// Whether a kernel or a requirement of it lacks something in a run that it has in the
    /// complete one.
    fn is_missed(&self, without: &Certification, complete: &Certification) -> bool {
        let untested = without.untested();
        let lacking = without.cases_lacking();
        let lacking_before = complete.cases_lacking();
        let names_requirement = |sentence: &&&str| {
            let mut words = sentence.split([' ', ',', '.']);
            words.any(|word| self.requirements.iter().any(|uid| uid == word))
        };
        self.kernels.iter().any(|kernel| without.uncovered_of(kernel) > 0)
            || self.requirements.iter().any(|uid| untested.contains(&uid.as_str()))
            || lacking.iter().filter(names_requirement).count()
                > lacking_before.iter().filter(names_requirement).count()
    }
}

/// Every kernel that a test names, itself or in its dispatches.
fn dispatched_kernels(entry: &toml::Value) -> Vec<String> {
    match entry {
        toml::Value::Table(table) => {
            let own = table.get("kernel").and_then(toml::Value::as_str).map(str::to_owned);
            own.into_iter().chain(table.values().flat_map(dispatched_kernels)).collect()
        }
        toml::Value::Array(entries) => entries.iter().flat_map(dispatched_kernels).collect(),
        _ => Vec::new(),
    }
}

/// The tests of the demonstration in groups, of each of which no two share a kernel or a requirement:
/// what is missed by a run without one group tells of which test.
fn demonstration_tests() -> Vec<Vec<DemonstrationTest>> {
    let mut groups: Vec<Vec<DemonstrationTest>> = Vec::new();
    for entry in walkdir::WalkDir::new(root().join("requirements")).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.file_type().is_file() {
            let text = std::fs::read_to_string(entry.path()).expect("readable");
            let document: toml::Table = text.parse().expect("TOML");
            let tests = document.get("test").and_then(toml::Value::as_array).into_iter().flatten();
            for test in tests.map(DemonstrationTest::read) {
                let shares_nothing =
                    |group: &&mut Vec<_>| group.iter().all(|other| !test.shares_with(other));
                match groups.iter_mut().find(shares_nothing) {
                    Some(group) => group.push(test),
                    None => groups.push(vec![test]),
                }
            }
        }
    }
    groups
}

/// Copies the demonstration project without some of its tests.
fn demonstration_without(left_out: &[DemonstrationTest]) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder");
    let inputs = ["vkcert.toml", "glsl", "spirv", "requirements"];
    for input in inputs.iter().map(|input| root().join(input)).filter(|input| input.exists()) {
        for entry in walkdir::WalkDir::new(&input) {
            let entry = entry.expect("readable");
            let target =
                copy.path().join(entry.path().strip_prefix(root()).expect("below the root"));
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(&target).expect("writable");
            } else {
                std::fs::copy(entry.path(), &target).expect("writable");
            }
        }
    }
    let mut removed = 0;
    for entry in walkdir::WalkDir::new(copy.path().join("requirements")) {
        let entry = entry.expect("readable");
        if entry.file_type().is_file() {
            removed += remove_tests(entry.path(), left_out);
        }
    }
    assert_eq!(removed, left_out.len(), "each stands in one file, once");
    copy
}

fn remove_tests(file: &Path, left_out: &[DemonstrationTest]) -> usize {
    let text = std::fs::read_to_string(file).expect("readable");
    let mut document: toml::Table = text.parse().expect("TOML");
    let Some(tests) = document.get_mut("test").and_then(toml::Value::as_array_mut) else {
        return 0;
    };
    let before = tests.len();
    tests.retain(|entry| !left_out.iter().any(|test| entry["id"].as_str() == Some(&test.id)));
    let removed = before - tests.len();
    if removed > 0 {
        std::fs::write(file, toml::to_string(&document).expect("TOML")).expect("writable");
    }
    removed
}

#[test]
fn no_test_of_the_demonstration_can_be_deleted() {
    let groups = demonstration_tests();
    assert!(groups.iter().flatten().count() >= 12);
    let complete = certify(&root(), &["--engine", "sequential"]);
    for left_out in &groups {
        let copy = demonstration_without(left_out);
        let without = certify(copy.path(), &["--engine", "sequential", "--report", "json"]);
        let is_open = without.uncovered() > 0 || !without.untested().is_empty();
        let reasons = &without.campaign.conclusion.reasons;
        assert_eq!(without.exit_code, Some(i32::from(is_open)), "{reasons:?}");
        for test in left_out {
            assert!(test.is_missed(&without, &complete), "{} can be deleted", test.id);
        }
    }
}

/// Each requirement has a robustness test, or a reason why none is needed.
#[test]
fn no_requirement_of_the_demonstration_lacks_a_robustness_test() {
    let certification = certify(&root(), &["--engine", "sequential"]);
    let mut lacking = certification.cases_lacking();
    lacking.retain(|sentence| sentence.contains("no robustness test"));
    assert_eq!(lacking, [""; 0]);
}

/// 1-based numbers of the lines of the guarded kernel that contain a text.
fn lines_with(text: &str) -> Vec<u32> {
    let source = std::fs::read_to_string(project("paper_defects").join("glsl/matmul_guarded.comp"))
        .expect("readable");
    let lines =
        source.lines().enumerate().filter(|(_, line)| line.contains(text) && !line.contains("//"));
    lines.map(|(index, _)| index as u32 + 1).collect()
}

fn line(finding: &Finding) -> Option<u32> {
    finding.place.as_ref().and_then(|place| place.line)
}

#[test]
fn the_defects_of_the_published_figures_are_found_each_at_its_place() {
    let certification = certify(&project("paper_defects"), &["--engine", "sequential"]);
    assert_eq!(certification.exit_code, Some(1));
    let refuted = certification.checks("refuted");

    // Defect 1: the dispatch.
    for check in ["dispatch-covers-domain", "host-overflow", "device-limits"] {
        assert!(refuted.contains(&check), "{check} is not refuted: {refuted:?}");
    }
    assert_eq!(certification.verdict("TC-FIG-04", EngineName::Sequential), Verdict::Fail);

    // Defect 2: the order of the push constants.
    assert!(refuted.contains(&"push-constant-layout"), "{refuted:?}");

    // Defect 3: barriers under the guard, and the dropped tile.
    assert!(refuted.contains(&"uniform-barrier"), "{refuted:?}");
    let divergence = certification.findings("TC-FIG-02", FindingKind::BarrierDivergence);
    let barriers = lines_with("barrier();");
    assert!(
        divergence.iter().any(|finding| line(finding).is_some_and(|line| barriers.contains(&line)))
    );
    assert_eq!(certification.verdict("TC-FIG-02", EngineName::Sequential), Verdict::Error);
    assert_eq!(certification.verdict("TC-FIG-03", EngineName::Sequential), Verdict::Fail);

    // Defect 5: tile elements that nobody wrote.
    let unwritten = certification.findings("TC-FIG-02", FindingKind::UninitializedRead);
    let sums = lines_with("sum +=");
    assert!(unwritten.iter().any(|finding| line(finding).is_some_and(|line| sums.contains(&line))));

    // The one case that the figures do handle.
    assert_eq!(certification.verdict("TC-FIG-01", EngineName::Sequential), Verdict::Pass);
}

#[test]
fn the_minimal_project_is_certified() {
    let certification = certify(&project("minimal"), &["--engine", "sequential"]);
    assert_eq!(certification.exit_code, Some(0), "{:?}", certification.campaign.conclusion.reasons);
    assert_eq!(certification.uncovered(), 0);
}

#[test]
fn a_wrong_expected_value_is_a_failure_with_both_values() {
    let certification = certify(&project("failing"), &["--engine", "both"]);
    assert_eq!(certification.exit_code, Some(1));
    for result in certification.results("TC-DBL-01") {
        assert_eq!(result.verdict, Verdict::Fail, "{}", result.engine);
        let [mismatch] = result.mismatches.as_slice() else { panic!("{:?}", result.mismatches) };
        assert_eq!((mismatch.buffer.as_str(), mismatch.offset), ("values", 12));
        assert_eq!((&mismatch.expected, &mismatch.actual), (&8.into(), &4.into()));
    }
}

#[test]
fn an_endless_kernel_ends_and_the_next_test_still_passes() {
    let certification = certify(&project("endless"), &["--engine", "both"]);
    assert_eq!(certification.exit_code, Some(1));
    for engine in [EngineName::Sequential, EngineName::Vulkan] {
        assert_eq!(certification.verdict("TC-STR-01", engine), Verdict::Timeout, "{engine}");
        assert_eq!(certification.verdict("TC-STR-02", engine), Verdict::Pass, "{engine}");
    }
    assert!(!certification.findings("TC-STR-01", FindingKind::NoTermination).is_empty());
}
