//! Comparison of the engines, test by test: outputs within the test's tolerance or the
//! specification's error bounds, vector sets exactly; what the test leaves open, what depends on
//! the schedule and which vectors follow undefined values is told apart (`left_open`).

mod coverage;
mod derived;
mod invocation;
mod outputs;
pub mod permitted;
pub mod undefined;

pub use derived::derive as derive_from_modules;

use super::engines::{Engines, Vulkan};
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
pub struct Comparison {
    /// One per test and kernel that two engines ran.
    pub rows: Vec<Agreement>,
    /// What differs.
    pub findings: Vec<KernelFinding>,
}

/// The engines on which a comparison runs tests once more, as the tests ran on them.
pub struct Means<'a> {
    /// The sequential engine.
    pub sequential: SequentialExecutor,
    /// None: there is no device.
    pub device: Option<&'a mut dyn Executor>,
}

impl<'a> Means<'a> {
    /// Borrows the engines of a run.
    pub fn of(engines: &'a mut Engines) -> Self {
        let sequential = engines.sequential();
        let device = match &mut engines.vulkan {
            Vulkan::Ready(executor) => Some(&mut **executor as &mut dyn Executor),
            Vulkan::NotRun { .. } | Vulkan::NotAsked => None,
        };
        Self { sequential, device }
    }
}

/// Compares every test that two engines ran.
pub fn compare(prepared: &[PreparedTest], runs: &[Vec<TestRun>], means: &mut Means) -> Comparison {
    let mut comparison = Comparison::default();
    for (test, row) in prepared.iter().zip(runs) {
        let of_test = compare_test(test, row, means);
        comparison.rows.extend(of_test.rows);
        comparison.findings.extend(of_test.findings);
    }
    comparison
}

/// Findings of one test alone, and remarks on differences that are none.
pub fn of_test(
    test: &PreparedTest,
    row: &[TestRun],
    means: &mut Means,
) -> (Vec<Finding>, Vec<String>) {
    let Comparison { rows, findings } = compare_test(test, row, means);
    let mut notes = rows.first().and_then(|row| row.bounds.as_ref()).map_or(Vec::new(), remarks);
    for note in rows.into_iter().flat_map(|row| row.left_open) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    (findings.into_iter().map(|one| one.finding).collect(), notes)
}

/// A sentence for each buffer whose elements all lie within the error bounds.
fn remarks(bounds: &ErrorBounds) -> Vec<String> {
    let within = bounds.buffers.iter().filter(|buffer| buffer.outside == 0);
    within
        .map(|buffer| format!("buffer `{}`: {}", buffer.buffer, bounds.in_words(buffer)))
        .collect()
}

/// One row per kernel of the test, that both engines could run.
fn compare_test(prepared: &PreparedTest, row: &[TestRun], means: &mut Means) -> Comparison {
    // What one engine cannot run is a limit of that engine, reported as `unsupported`; there is
    // nothing to compare.
    let ran = |run: &&TestRun| run.verdict.ran();
    let run_on = |name: EngineName| row.iter().filter(ran).find(|run| run.engine == name);
    let (Some(sequential), Some(vulkan)) =
        (run_on(EngineName::Sequential), run_on(EngineName::Vulkan))
    else {
        return Comparison::default();
    };
    let test = &prepared.test.id;
    let Ok(plan) = &prepared.plan else { return Comparison::default() };
    let open = LeftOpen::of(prepared, plan);
    let outputs = outputs::compare(&open, &means.sequential, sequential, vulkan);
    let mut comparison = Comparison::default();
    for name in trace::kernels_of(prepared.test) {
        let Some(kernel) = prepared.kernels.iter().find(|kernel| kernel.name == name.as_str())
        else {
            continue;
        };
        let coverage = coverage::compare(&open, means, kernel, sequential, vulkan);
        let of_kernel = outputs
            .findings
            .iter()
            .filter(|(kernel, _)| *kernel == name)
            .map(|(_, finding)| finding.clone());
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
fn disagreement(message: String) -> Finding {
    let comparison = EngineComparison::SequentialWithVulkan;
    Finding::engine_disagreement(message, DisagreementDetails::Engines { comparison })
}

/// Whether outputs that differ from the sequential engine's are those that the specification
/// permits. `engine` is as the test ran on it.
pub fn is_permitted(
    prepared: &PreparedTest,
    engine: &SequentialExecutor,
    ours: &TestRun,
    outputs: BTreeMap<String, BufferContents>,
) -> bool {
    let Ok(plan) = &prepared.plan else { return false };
    // Without a verdict of its own, so that no tolerance of the test stands in for the bounds.
    let theirs = TestRun { outputs, verdict: Verdict::Undetermined, ..ours.clone() };
    let compared = outputs::compare(&LeftOpen::of(prepared, plan), engine, ours, &theirs);
    compared.outcome == AgreementOutcome::WithinErrorBounds && compared.left_open.is_empty()
}

/// Whether the sequential engine used a value in a test that the specification leaves undefined, or
/// that nobody wrote.
fn uses_undefined(sequential: &TestRun) -> bool {
    sequential.findings.iter().any(is_of_undefined)
}

fn is_of_undefined(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::UndefinedValue | FindingKind::UninitializedRead)
}

/// Most places that a sentence names.
const NAMED: usize = 3;

/// Where findings tell of undefined values, as the end of a sentence.
fn places_of_undefined(findings: &[Finding]) -> String {
    let told = findings.iter().filter(|finding| is_of_undefined(finding));
    let places: BTreeSet<String> = told
        .map(|finding| finding.place.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string))
        .collect();
    let named = places.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match places.len() {
        0 | 1 => format!("an undefined value at {named}"),
        count if count > NAMED => {
            format!("an undefined value at one or more of {count} places, the first at {named}")
        }
        _ => format!("an undefined value at one or more of {named}"),
    }
}

/// A run of a job of a test that departs from the ordinary one.
fn varied_request<'j>(
    prepared: &PreparedTest,
    job: &'j Job,
    variation: Variation,
) -> RunRequest<'j> {
    RunRequest { variation: Some(variation), ..ordinary_request(prepared, job) }
}

/// A run of a job of a test as the test ran.
fn ordinary_request<'j>(prepared: &PreparedTest, job: &'j Job) -> RunRequest<'j> {
    let following = Following::from(prepared.replay.unwrap_or_default());
    RunRequest { following: Some(following), ..RunRequest::once(job) }
}

/// Runs a job of a test so that it departs from the ordinary run; none where that does not
/// complete.
fn run_varied(
    engine: &SequentialExecutor,
    prepared: &PreparedTest,
    job: &Job,
    variation: Variation,
) -> Option<SequentialRun> {
    let request = varied_request(prepared, job, variation);
    let run = engine.run_once(&request, &mut Unobserved).ok()?;
    (run.run.completion == Completion::Completed).then_some(run)
}
