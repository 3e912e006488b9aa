//! Comparison of the engines, test by test: outputs within the test's tolerance or the
//! specification's error bounds, vector sets exactly; what the test leaves open, what depends on
//! the schedule and which vectors follow undefined values is told apart (`left_open`).

mod coverage;
mod derived;
mod invocation;
mod outputs;
pub mod permitted;
pub mod undefined;

pub use derived::check_agreement as derive_from_modules;

use super::engines::{DeviceEngine, Engines};
use super::left_open::LeftOpen;
use super::test_run::{PreparedTest, TestRun};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::schedule::Following;
use vkcert_exec::{BufferContents, Completion, Executor, Job, RunRequest, Unobserved};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, ErrorBounds, KernelFinding};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::{DisagreementDetails, EngineComparison};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_requirement::trace;
use vkcert_sequential::{SequentialExecutor, SequentialRun, Variation};

/// What the comparison of two engines comes to.
#[derive(Debug, Clone, Default)]
pub struct AgreementComparison {
    /// One per test and kernel that two engines ran.
    pub rows: Vec<Agreement>,
    /// What differs.
    pub findings: Vec<KernelFinding>,
}

/// The engines on which a comparison runs tests once more, as the tests ran on them.
pub struct ComparisonEngines<'a> {
    /// The sequential engine.
    pub sequential: SequentialExecutor,
    /// None: there is no device.
    pub device: Option<&'a mut dyn Executor>,
}

impl<'a> ComparisonEngines<'a> {
    /// Borrows the engines of a run.
    pub fn of_engines(engines: &'a mut Engines) -> Self {
        let sequential = engines.sequential();
        let device = match &mut engines.vulkan {
            DeviceEngine::Ready(executor) => Some(&mut **executor as &mut dyn Executor),
            DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => None,
        };
        Self { sequential, device }
    }
}

/// Compares every test that two engines ran.
pub fn compare_engines(
    prepared_tests: &[PreparedTest],
    runs_by_test: &[Vec<TestRun>],
    comparison_engines: &mut ComparisonEngines,
) -> AgreementComparison {
    let mut comparison = AgreementComparison::default();
    for (test, row) in prepared_tests.iter().zip(runs_by_test) {
        let of_test = compare_test(test, row, comparison_engines);
        comparison.rows.extend(of_test.rows);
        comparison.findings.extend(of_test.findings);
    }
    comparison
}

/// Findings of one test alone, and remarks on differences that are none.
pub fn of_test(
    prepared_test: &PreparedTest,
    runs_of_test: &[TestRun],
    comparison_engines: &mut ComparisonEngines,
) -> (Vec<Finding>, Vec<String>) {
    let AgreementComparison { rows, findings } =
        compare_test(prepared_test, runs_of_test, comparison_engines);
    let mut notes = rows
        .first()
        .and_then(|agreement_row| agreement_row.bounds.as_ref())
        .map_or(Vec::new(), remarks_on_bounds);
    for note in rows.into_iter().flat_map(|agreement_row| agreement_row.left_open) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    (findings.into_iter().map(|kernel_finding| kernel_finding.finding).collect(), notes)
}

/// A sentence for each buffer whose elements all lie within the error bounds.
fn remarks_on_bounds(error_bounds: &ErrorBounds) -> Vec<String> {
    let within = error_bounds.buffers.iter().filter(|buffer| buffer.outside == 0);
    within
        .map(|buffer| format!("buffer `{}`: {}", buffer.buffer, error_bounds.in_words(buffer)))
        .collect()
}

/// One row per kernel of the test, that both engines could run.
fn compare_test(
    prepared_test: &PreparedTest,
    runs_of_test: &[TestRun],
    comparison_engines: &mut ComparisonEngines,
) -> AgreementComparison {
    // What one engine cannot run is a limit of that engine, reported as `unsupported`; there is
    // nothing to compare.
    let has_run = |run: &&TestRun| run.verdict.ran();
    let run_on =
        |name: EngineName| runs_of_test.iter().filter(has_run).find(|run| run.engine == name);
    let (Some(sequential), Some(vulkan)) =
        (run_on(EngineName::Sequential), run_on(EngineName::Vulkan))
    else {
        return AgreementComparison::default();
    };
    let test = &prepared_test.test.id;
    let Ok(plan) = &prepared_test.job_plan else { return AgreementComparison::default() };
    let open = LeftOpen::of_test(prepared_test, plan);
    let mut outputs =
        outputs::compare_outputs(&open, &comparison_engines.sequential, sequential, vulkan);
    let mut comparison = AgreementComparison::default();
    for name in trace::kernels_of(prepared_test.test) {
        let Some(kernel) = prepared_test.kernels.iter().find(|kernel| kernel.name == name.as_str())
        else {
            continue;
        };
        let coverage =
            coverage::compare_coverage(&open, comparison_engines, kernel, sequential, vulkan);
        let of_kernel = outputs
            .findings
            .extract_if(.., |(named_kernel, _)| *named_kernel == name)
            .map(|(_, finding)| finding);
        comparison.findings.extend(of_kernel.chain(coverage.findings).map(|finding| {
            KernelFinding { kernel: name, engine: None, test: Some(*test), finding }
        }));
        comparison.rows.push(Agreement {
            test: *test,
            kernel: name,
            outputs: outputs.outcome,
            coverage: coverage.outcome.unwrap_or(AgreementOutcome::NotCompared),
            differences: outputs.differences.iter().cloned().chain(coverage.differences).collect(),
            bounds: outputs.bounds.clone(),
            left_open: outputs.left_open.iter().cloned().chain(coverage.left_open).collect(),
        });
    }
    comparison
}

/// Of which the message says all but what was compared.
fn disagreement_finding(message: String) -> Finding {
    let comparison = EngineComparison::SequentialWithVulkan;
    Finding::engine_disagreement(message, DisagreementDetails::Engines { comparison })
}

/// Whether outputs that differ from the sequential engine's are those that the specification
/// permits. The engine is as the test ran on it.
pub fn is_permitted(
    prepared_test: &PreparedTest,
    sequential_engine: &SequentialExecutor,
    sequential_run: &TestRun,
    outputs: BTreeMap<String, BufferContents>,
) -> bool {
    let Ok(plan) = &prepared_test.job_plan else { return false };
    // Without a verdict of its own, so that no tolerance of the test stands in for the bounds.
    let permitted_run =
        TestRun { outputs, verdict: Verdict::Undetermined, ..sequential_run.clone() };
    let output_comparison = outputs::compare_outputs(
        &LeftOpen::of_test(prepared_test, plan),
        sequential_engine,
        sequential_run,
        &permitted_run,
    );
    output_comparison.outcome == AgreementOutcome::WithinErrorBounds
        && output_comparison.left_open.is_empty()
}

/// Whether the sequential engine used a value in a test that the specification leaves undefined, or
/// that nobody wrote.
fn uses_undefined(sequential_run: &TestRun) -> bool {
    sequential_run.findings.iter().any(is_of_undefined)
}

fn is_of_undefined(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::UndefinedValue | FindingKind::UninitializedRead)
}

/// Most places that a sentence names.
const NAMED: usize = 3;

/// Where findings tell of undefined values, as the end of a sentence.
fn places_of_undefined(findings: &[Finding]) -> String {
    let undefined_findings = findings.iter().filter(|finding| is_of_undefined(finding));
    let places: BTreeSet<String> = undefined_findings
        .map(|finding| finding.place.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string))
        .collect();
    let named_places = places.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match places.len() {
        0 | 1 => format!("an undefined value at {named_places}"),
        count if count > NAMED => {
            format!(
                "an undefined value at one or more of {count} places, the first at {named_places}"
            )
        }
        _ => format!("an undefined value at one or more of {named_places}"),
    }
}

/// A run of a job of a test that departs from the ordinary one.
fn varied_request<'j>(
    prepared_test: &PreparedTest,
    job: &'j Job,
    variation: Variation,
) -> RunRequest<'j> {
    RunRequest { variation: Some(variation), ..ordinary_request(prepared_test, job) }
}

/// A run of a job of a test as the test ran.
pub(crate) fn ordinary_request<'j>(prepared_test: &PreparedTest, job: &'j Job) -> RunRequest<'j> {
    let following = Following::from(prepared_test.replay.unwrap_or_default());
    RunRequest { following: Some(following), ..RunRequest::once(job) }
}

/// Runs a job of a test so that it departs from the ordinary run; none where that does not
/// complete.
fn run_varied(
    sequential_engine: &SequentialExecutor,
    prepared_test: &PreparedTest,
    job: &Job,
    variation: Variation,
) -> Option<SequentialRun> {
    let request = varied_request(prepared_test, job, variation);
    let run = sequential_engine.run_once(&request, &mut Unobserved).ok()?;
    (run.run.completion == Completion::Completed).then_some(run)
}
