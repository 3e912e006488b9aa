//! From runs to evidence.
//!
//! Knows: the project, its kernels and what the runs left. Promises: results are moved into the
//! evidence, each once.
//! Does not cover: requirements, open items and the conclusion, which follow from the evidence
//! (`derivation`).

mod kernel_evidence;

pub use kernel_evidence::assemble_kernels;

use super::agreement::AgreementComparison;
use super::configuration;
use super::coupling::StoredCoupling;
use super::facts::{CampaignFacts, engines_that_ran};
use super::kernel::Kernel;
use super::profile::ProjectTarget;
use super::project::{module_bytes, module_file};
use super::test_run::TestRun;
use crate::CampaignError;
use base64::Engine as _;
use kernel_evidence::{RecordedTests, device_recording};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_derivation::derive::{self, CodeIdentity};
use vkcert_derivation::stated::{
    TOOL, TOOL_VERSION, compiler_options, records_of_verification, stated_reviews,
    tests_without_results,
};
use vkcert_glsl as glsl;
use vkcert_model::block_layout::BlockLayout;
use vkcert_model::canonical::content_hash;
use vkcert_model::criterion::StoredCriterion;
use vkcert_model::evidence::*;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::flow::DispatchFlow;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::procedure::Language;
use vkcert_model::provenance::utc_date_time;
use vkcert_model::records::Witnesses;
use vkcert_model::verdict::EngineName;
use vkcert_oracle::judged::KernelCodes;
use vkcert_requirement::{Project, trace};

/// What evidence stores of a test that can run, before it does.
#[derive(Debug)]
pub struct LaidOutTest {
    /// What it expects, with values resolved.
    pub expected: Vec<StoredExpectation>,
    /// What its dispatches store.
    pub flows: Vec<DispatchFlow>,
    /// How kernels lay out its buffers.
    pub layouts: BTreeMap<String, Vec<BlockLayout>>,
}

/// The tests that can run.
pub type LaidOut = BTreeMap<TestId, LaidOutTest>;

/// Everything of a campaign but the conclusion.
pub fn assemble_campaign(
    project: &Project,
    kernels: &[Kernel],
    campaign_facts: &mut CampaignFacts,
) -> Result<Campaign, CampaignError> {
    let runs = &campaign_facts.runs_by_test;
    let strangers = undeclared_specializations(project, kernels, runs)?;
    let records = records_of_verification(project);
    let mut findings = kernel_findings(project, kernels);
    let mut coupling = Vec::new();
    for StoredCoupling { row, findings: refuted } in std::mem::take(&mut campaign_facts.coupled) {
        coupling.push(row);
        findings.extend(refuted);
    }
    let AgreementComparison { rows: agreement, findings: of_engines } =
        std::mem::take(&mut campaign_facts.agreement);
    findings.extend(of_engines);
    let limits = campaign_facts
        .request
        .limits_in_words(project.settings.value.level.standard())
        .into_iter()
        .chain(kernel_notes(kernels))
        .chain(strangers)
        .chain(recording_notes(kernels, &campaign_facts.engines))
        .chain(run_notes(runs))
        .chain(printed_notes(runs))
        .collect();
    Ok(Campaign {
        schema: EVIDENCE_SCHEMA,
        project: project_identity(project, kernels, campaign_facts.date.take()),
        settings: Some(project.settings.value.clone()),
        engines: std::mem::take(&mut campaign_facts.engines),
        requirements: trace::trace_requirements(project),
        tests: assemble_tests(project, std::mem::take(&mut campaign_facts.laid_out)),
        justifications: stored_justifications(project),
        records,
        test_reviews: stated_reviews(project),
        coupling,
        findings,
        agreement,
        left_out: Vec::new(),
        not_looked_for: Vec::new(),
        set_aside: Vec::new(),
        open_items: Vec::new(),
        rejected_acceptances: Vec::new(),
        notes: Vec::new(),
        unsought: Vec::new(),
        objectives: Vec::new(),
        mutation: None,
        limits,
        conclusion: Conclusion {
            exit_code: 0,
            reasons: Vec::new(),
            grounds: Vec::new(),
            summary: Vec::new(),
            coupling_classes: Vec::new(),
        },
    })
}

fn stored_justifications(project: &Project) -> Vec<JustificationEvidence> {
    let row = |located: &vkcert_requirement::Located<vkcert_model::requirement::Justification>| {
        JustificationEvidence {
            justification: located.value.clone(),
            file: project.relative_file(located),
            rejected: None,
            not_judged: None,
        }
    };
    project.justifications.iter().map(row).collect()
}

fn kernel_notes(kernels: &[Kernel]) -> Vec<String> {
    kernels
        .iter()
        .flat_map(|kernel| kernel.notes.iter().map(|note| format!("{}: {note}", kernel.name)))
        .collect()
}

/// How much kernels printed: evidence holds no such text.
fn printed_notes(runs_by_test: &[Vec<TestRun>]) -> Option<String> {
    let lines: u64 =
        runs_by_test.iter().flatten().map(|run| run.printed.count()).fold(0, u64::saturating_add);
    (lines > 0).then(|| {
        format!(
            "debug printf wrote {lines} lines on the sequential engine (devices print none); `vkcert run` shows them"
        )
    })
}

/// Remarks of the runs, each once.
fn run_notes(runs_by_test: &[Vec<TestRun>]) -> BTreeSet<String> {
    runs_by_test.iter().flatten().flat_map(|run| run.notes.iter().cloned()).collect()
}

fn project_identity(
    project: &Project,
    kernels: &[Kernel],
    date: Option<String>,
) -> ProjectIdentity {
    let settings = &project.settings.value;
    ProjectIdentity {
        name: settings.name.clone(),
        level: settings.level,
        profile: ProjectTarget::of_project(settings).profile_evidence(kernels),
        decision_policy: settings.decision_policy,
        memory_model: settings.memory_model,
        criteria: settings.required_criteria().into_iter().map(StoredCriterion::from).collect(),
        metrics: settings.metrics.clone(),
        tool: TOOL.to_owned(),
        tool_version: TOOL_VERSION.to_owned(),
        compiler: glsl::compiler_identity(),
        compiler_options: compiler_options(settings),
        date,
    }
}

/// SOURCE_DATE_EPOCH as a UTC date and time; the only clock that evidence knows.
pub fn source_date() -> Option<String> {
    let seconds: i64 = std::env::var("SOURCE_DATE_EPOCH").ok()?.trim().parse().ok()?;
    Some(utc_date_time(seconds))
}

/// Findings of the modules themselves: untraced branches, and production modules on disk that are
/// not what is made now.
fn kernel_findings(project: &Project, kernels: &[Kernel]) -> Vec<KernelFinding> {
    let mut module_findings = Vec::new();
    for (kernel, settings) in kernels.iter().zip(&project.settings.value.kernels) {
        let mut add = |finding| {
            module_findings.push(KernelFinding {
                kernel: settings.name,
                engine: None,
                test: None,
                finding,
            });
        };
        kernel.findings.iter().cloned().for_each(&mut add);
        if settings.language == Language::Spirv {
            continue;
        }
        let module_path = module_file(&kernel.name);
        if let Ok(bytes) = std::fs::read(project.root.join(&module_path))
            && module_bytes(&kernel.production) != bytes
        {
            let message = format!(
                "{module_path} is not what the compiler makes of {} now; run `vkcert build`",
                kernel.source
            );
            let place =
                vkcert_model::place::Place { file: Some(module_path), ..Default::default() };
            add(Finding::new(FindingKind::Validation, message).at(place));
        }
    }
    module_findings
}

/// The tests without what came of them.
fn assemble_tests(project: &Project, mut laid_out: LaidOut) -> Vec<TestEvidence> {
    let mut tests = tests_without_results(project);
    for test in &mut tests {
        if let Some(LaidOutTest { expected, flows, layouts }) = laid_out.remove(&test.id) {
            (test.expected, test.flows, test.layouts) = (expected, flows, layouts);
        }
    }
    tests
}

/// Adds to each test what came of it on each engine.
pub fn add_results(project: &Project, campaign: &mut Campaign, runs_by_test: Vec<Vec<TestRun>>) {
    let limit = project.settings.value.limits.output_bytes;
    let rows = campaign.tests.par_iter_mut().zip(runs_by_test);
    rows.for_each(|(test, runs_of_test)| {
        test.results = runs_of_test.into_iter().map(|run| test_result(run, limit)).collect();
    });
}

fn test_result(test_run: TestRun, limit: u64) -> TestResult {
    let output = |bytes: &Vec<u8>| {
        if bytes.len() as u64 <= limit {
            OutputBytes::Bytes(base64::engine::general_purpose::STANDARD.encode(bytes))
        } else {
            OutputBytes::Hash { sha256: content_hash(bytes), bytes: bytes.len() as u64 }
        }
    };
    TestResult {
        engine: test_run.engine,
        verdict: test_run.verdict,
        reason: test_run.reason,
        mismatches: test_run.mismatches,
        findings: test_run.findings,
        race_scope: test_run.race_scope,
        left_open: test_run.left_open,
        repetitions: test_run.repetitions,
        deciding_repetition: test_run.deciding_repetition,
        schedule: test_run.schedule,
        schedules: test_run.schedules,
        directed: test_run.directed,
        altered: test_run.altered,
        judged: test_run.judged.members,
        idle: test_run.judged.idle,
        rests_on_undefined: test_run.rests_on_undefined,
        notes: test_run.notes,
        printed_lines: test_run.printed.count(),
        touched: test_run.counts.touched.iter().map(touched_buffers).collect(),
        outputs: test_run.outputs.into_iter().map(|(name, bytes)| (name, output(&bytes))).collect(),
    }
}

fn touched_buffers(dispatch: &BTreeMap<(u32, u32), u64>) -> Vec<TouchedBuffer> {
    dispatch
        .iter()
        .map(|((set, binding), bytes)| TouchedBuffer {
            set: *set,
            binding: *binding,
            bytes: *bytes,
        })
        .collect()
}

/// Identities of the kernels' code.
pub fn kernel_codes(kernels: &[Kernel]) -> KernelCodes {
    derive::code_classes(kernels.iter().map(|kernel| CodeIdentity {
        kernel: KernelName::from(&kernel.name),
        code: kernel.code_digits().into(),
        text: kernel.text.as_deref(),
        entry: &kernel.entry,
    }))
}

/// Tests that run a kernel under no configuration of it.
fn undeclared_specializations(
    project: &Project,
    kernels: &[Kernel],
    runs_by_test: &[Vec<TestRun>],
) -> Result<Vec<String>, CampaignError> {
    let mut sentences = Vec::new();
    let recorded_tests = RecordedTests::of_runs(runs_by_test);
    for kernel in kernels {
        let rows = recorded_tests
            .of_kernel(&kernel.name)
            .map(|place| (&project.tests[place], &runs_by_test[place]));
        let specializations_run = rows.flat_map(|(test, row)| {
            row.iter().flat_map(|run| &run.records).map(move |records| (test, records))
        });
        let specializations_run =
            specializations_run.filter(|(_, records)| records.kernel == kernel.name);
        let specializations_run: Vec<_> = specializations_run
            .map(|(test, records)| (test.id.as_str(), &records.specialization))
            .collect();
        sentences.extend(configuration::undeclared_specializations(kernel, &specializations_run)?);
    }
    Ok(sentences)
}

/// The same as sentences for the report.
fn recording_notes(kernels: &[Kernel], engines: &[EngineIdentity]) -> Vec<String> {
    if !engines_that_ran(engines).contains(&EngineName::Vulkan) {
        return Vec::new();
    }
    let recording_note = |kernel: &Kernel| {
        let recorded = device_recording(kernel, EngineName::Vulkan)?;
        let witnesses = match recorded.witnesses {
            Witnesses::Omitted => "",
            Witnesses::Recorded => ", with the lowest invocation that showed each vector",
        };
        Some(format!(
            "{}: recorded on the device in mode `{}`{witnesses}",
            kernel.name, recorded.mode
        ))
    };
    kernels.iter().filter_map(recording_note).collect()
}
