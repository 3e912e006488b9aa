//! The evidence derived again from the stored inputs and from the facts that follow from nothing
//! else.
//!
//! Knows: which fields of evidence are facts (`fact_reader`, `engines_that_ran`): what engines left,
//! found and recorded.
//! Promises: they go the way of a fresh run (`campaign::facts`), so that a field which `certify`
//! derives is derived here by the same code, and what is stored of it must be the same.
//! Does not cover: whether the facts are true; `--replay` runs the sequential engine again.

use super::fact_reader::FactReader;
use super::{RebuiltProject, pair_instructions, replay};
use crate::agreement::{self, AgreementComparison};
use crate::assemble::LaidOut;
use crate::coupling::{self, CouplingSources, HostReadings, device_limits_of};
use crate::facts::{self, CampaignFacts, CampaignSetting, MutationFacts, NoFiles};
use crate::kernel::Kernel;
use crate::mutation::{
    MutationEngines, MutationRequest, keep_device_facts, mutate_project, stored_mutation,
};
use crate::plan::RunPlan;
use crate::profile::ProjectTarget;
use crate::set_aside::BrokenKernel;
use crate::test_run::{PreparedTest, TestRun};
use crate::{
    CampaignError, altered, captures, configuration, execution, headers, inputs, judged, recording,
};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use vkcert_derivation::agreement::tells_of_undefined;
use vkcert_derivation::files::{kernel_files, mutation_files};
use vkcert_derivation::stated::TOOL_VERSION;
use vkcert_model::evidence::{
    Campaign, EngineIdentity, Evidence, JudgingEngines, KernelEvidence, KernelFinding,
    MutationEvidence, OutputBytes, TestEvidence,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::Schedules;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_requirement::Project;
use vkcert_sequential::SequentialExecutor;
use vkcert_verification::difference::Differences;
use vkcert_verification::{Replay, Verification};

/// Derives everything, and compares.
pub(super) fn derive_and_compare(
    stored_evidence: &Evidence,
    rebuilt: &RebuiltProject,
    (replay, program): (Replay, Option<&Path>),
    verification: &mut Verification,
) -> Result<(), CampaignError> {
    let stored_headers = headers::stored_headers(&stored_evidence.campaign);
    headers::compare_readings(&stored_headers, rebuilt.project(), program, verification);
    pair_instructions::check_instructions(stored_evidence, &rebuilt.kernels, verification);
    match derived_evidence(stored_evidence, rebuilt, replay, verification)? {
        Some(derived) => compare_evidence(stored_evidence, derived, verification),
        None => Ok(()),
    }
}

/// The evidence that the stored facts come to; none where a problem is in the way.
pub fn derived_evidence(
    stored_evidence: &Evidence,
    rebuilt: &RebuiltProject,
    replay: Replay,
    verification: &mut Verification,
) -> Result<Option<Evidence>, CampaignError> {
    check_set_aside(rebuilt, verification);
    let mut kernels = rebuilt.kernels.clone();
    let stored_headers = headers::stored_headers(&stored_evidence.campaign);
    configuration::add_header_boundaries(rebuilt.project(), &mut kernels, &stored_headers);
    if let Err(failure) = recording::restore_recording(
        &mut kernels,
        stored_evidence,
        &ProjectTarget::of_project(&rebuilt.project().settings.value),
    ) {
        verification
            .problems
            .push(format!("the kernels cannot be recorded as stored: {}", failure.sentence()));
        return Ok(None);
    }
    let schedules = match replay {
        Replay::No => Schedules::default(),
        Replay::Sequential => replay::stored_schedules(stored_evidence),
    };
    let plan = RunPlan::for_verification(&stored_evidence.campaign.not_looked_for);
    let prepared_tests = match execution::prepare_project(
        rebuilt.project(),
        &kernels,
        &plan,
        (schedules, stored_request(&stored_evidence.campaign).replay),
    ) {
        Ok(prepared_tests) => prepared_tests,
        Err(failure) => {
            verification
                .problems
                .push(format!("the stored tests cannot be prepared: {}", failure.sentence()));
            return Ok(None);
        }
    };
    let mut runs = FactReader::of_evidence(stored_evidence, &kernels, replay, verification)
        .read_runs(&prepared_tests);
    let mut replayed_engine = None;
    match replay {
        Replay::No => {}
        Replay::Sequential => {
            let (fresh_runs, engine) =
                replay::run_again(stored_evidence, rebuilt, &prepared_tests)?;
            for ((test, row), run) in prepared_tests.iter().zip(&mut runs).zip(fresh_runs) {
                let same_engine_run =
                    row.iter_mut().find(|stored_run| stored_run.engine == run.engine);
                // What did not begin left nothing to compare.
                let same_engine_run =
                    same_engine_run.filter(|stored_run| stored_run.verdict != Verdict::NotRun);
                if let Some(stored_run) = same_engine_run {
                    *stored_run = run;
                }
                execution::complete_records_of_test(test, row, &engine);
            }
            replayed_engine = Some(engine);
        }
    }
    let laid_out = judged::lay_open(&prepared_tests, &kernels)?;
    match replayed_engine {
        Some(ref engine) => {
            altered::examine_tests(&prepared_tests, &laid_out, &kernels, &mut runs, engine)?
        }
        None => {
            let unknown_tests =
                altered::derive_from_stored(&prepared_tests, &laid_out, &kernels, &mut runs)
                    .into_iter();
            verification.not_derivable.extend(unknown_tests.map(|test| {
                format!("{test}: which altered contents of its kernels' stores fail it; `--replay` alters them again")
            }));
            verification.not_derivable.extend(follows_undefined(&stored_evidence.campaign));
        }
    }
    judged::doubt_idle_tests(&prepared_tests, &laid_out, &kernels, &mut runs);
    let agreement_derivation =
        agreement::derive_from_modules(stored_evidence, &prepared_tests, &runs);
    verification.checked += agreement_derivation.checked;
    verification.problems.extend(agreement_derivation.problems);
    verification.not_derivable.extend(agreement_derivation.not_derivable);
    let mutation = match mutation_facts(
        stored_evidence,
        (rebuilt.project(), &kernels, &prepared_tests),
        replayed_engine.as_ref(),
        verification,
    ) {
        Ok(mutation) => mutation,
        Err(failure) => {
            let sentence = failure.sentence();
            verification.problems.push(format!("the mutants cannot be made again: {sentence}"));
            return Ok(None);
        }
    };
    let laid_out = (&prepared_tests[..], laid_out);
    match evidence_from_facts(stored_evidence, rebuilt, &kernels, laid_out, (runs, mutation)) {
        Ok(mut derived) => {
            restore_omitted(stored_evidence, &mut derived);
            Ok(Some(derived))
        }
        Err(failure) => {
            verification
                .problems
                .push(format!("the evidence cannot be derived again: {}", failure.sentence()));
            Ok(None)
        }
    }
}

/// What tests made of mutants: as stored, or judged again by the engine of a replay.
fn mutation_facts(
    stored_evidence: &Evidence,
    (project, kernels, prepared_tests): (&Project, &[Kernel], &[PreparedTest]),
    replayed_engine: Option<&SequentialExecutor>,
    verification: &mut Verification,
) -> Result<Option<MutationFacts>, CampaignError> {
    let Some(summary) = &stored_evidence.campaign.mutation else { return Ok(None) };
    if replayed_engine.is_none() {
        let verdicts = "mutants: what tests made of them, and what the engine noted of that; `--replay` judges them again";
        verification.not_derivable.push(verdicts.to_owned());
    }
    if summary.asked.engines == JudgingEngines::Both {
        let on_device = "mutants: what the device made of them, and what it noted, which no replay judges again";
        verification.not_derivable.push(on_device.to_owned());
    }
    match replayed_engine {
        Some(engine) => {
            let extent = summary.asked.clone();
            let request = MutationRequest { extent, ..MutationRequest::default() };
            let engines = MutationEngines { sequential: engine, device: None };
            let judged = mutate_project(project, kernels, prepared_tests, engines, &request)?;
            let mut facts = judged.facts;
            keep_device_facts(&mut facts, stored_evidence);
            Ok(Some(facts))
        }
        None => stored_mutation(stored_evidence, project, kernels, prepared_tests, verification),
    }
}

/// What is set aside does not compile; what the compiler says against it is compared with the rest.
fn check_set_aside(rebuilt: &RebuiltProject, verification: &mut Verification) {
    for (row, broken) in rebuilt.project().set_aside.iter().zip(&rebuilt.set_aside) {
        verification.check(broken.is_some(), || {
            format!("kernel {} is set aside, and it compiles", row.settings.name)
        });
    }
}

/// Tests whose records follow undefined values as stored.
fn follows_undefined(stored_campaign: &Campaign) -> impl Iterator<Item = String> {
    let has_passed =
        |test: &&TestEvidence| test.results.iter().any(|result| result.verdict == Verdict::Pass);
    let passed_tests =
        stored_campaign.tests.iter().filter(|test| tells_of_undefined(test)).filter(has_passed);
    passed_tests.map(|test| {
        format!(
            "test {}: whether it passes with other undefined values, and which of its records may follow them; `--replay` runs it \
             again with others",
            test.id
        )
    })
}

/// The evidence that the inputs and the facts come to.
fn evidence_from_facts(
    stored_evidence: &Evidence,
    rebuilt: &RebuiltProject,
    kernels: &[Kernel],
    (prepared_tests, laid_out): (&[PreparedTest], LaidOut),
    (runs_by_test, mutation): (Vec<Vec<TestRun>>, Option<MutationFacts>),
) -> Result<Evidence, CampaignError> {
    let project = rebuilt.project();
    let engines = engines_that_ran(&stored_evidence.campaign, project);
    let device = device_limits_of(&engines);
    let host_readings = HostReadings {
        headers: headers::stored_headers(&stored_evidence.campaign),
        captures: captures::read_captures(project, kernels)?,
    };
    let sources = CouplingSources {
        project,
        kernels,
        prepared_tests,
        test_facts: &coupling::facts_of_runs(&runs_by_test),
        device: device.as_ref(),
        host_readings: &host_readings,
    };
    let coupled = sources.analyse_or_take(rebuilt.cache.as_deref())?;
    let mut inputs = inputs::gather_inputs(project, kernels)?;
    inputs::add_host_files(&mut inputs, project, &host_readings)?;
    let broken_kernels: Vec<BrokenKernel> = rebuilt.set_aside.iter().flatten().cloned().collect();
    inputs::add_set_aside(&mut inputs, project, &broken_kernels)?;
    let request = CampaignSetting {
        set_aside: broken_kernels.iter().map(|kernel| kernel.stored(project)).collect(),
        ..stored_request(&stored_evidence.campaign)
    };
    let facts = CampaignFacts {
        engines,
        runs_by_test,
        laid_out,
        agreement: stored_agreement(&stored_evidence.campaign),
        coupled,
        inputs,
        mutation,
        request,
        date: stored_evidence.campaign.project.date.clone(),
    };
    facts::derive_evidence(project, Cow::Borrowed(kernels), facts, &NoFiles)
}

/// What the command line asked for; which kernels do not compile is found out again.
fn stored_request(stored_campaign: &Campaign) -> CampaignSetting {
    let stored_results = stored_campaign.tests.iter().flat_map(|test| &test.results);
    let finding_kinds = FindingKind::ALL.iter().map(|(kind, _)| *kind);
    CampaignSetting {
        left_out: stored_campaign.left_out.clone(),
        set_aside: Vec::new(),
        not_looked_for: finding_kinds
            .filter(|kind| stored_campaign.not_looked_for.contains(kind))
            .collect(),
        replay: stored_results.filter_map(|result| result.schedule).next(),
    }
}

/// Who ran: of the sequential engine, what the project sets; of a device, as stored.
fn engines_that_ran(stored_campaign: &Campaign, project: &Project) -> Vec<EngineIdentity> {
    let replayed_schedule = stored_request(stored_campaign)
        .replay
        .map(|schedule| ("schedule".to_owned(), schedule.to_string()));
    let has_device =
        stored_campaign.engines.iter().any(|row| row.engine == EngineName::Vulkan && row.ran);
    let sequential = SequentialExecutor::default().settings;
    let row = |row: &EngineIdentity| {
        let mut row = row.clone();
        match row.engine {
            EngineName::Sequential => {
                row.ran = true;
                row.reason = None;
                let mut identity = BTreeMap::from([
                    (
                        "memory model".to_owned(),
                        project.settings.value.memory_model.name().to_owned(),
                    ),
                    ("tile width".to_owned(), sequential.tile_width.to_string()),
                    ("version".to_owned(), TOOL_VERSION.to_owned()),
                ]);
                // A device's, where there is one.
                let subgroup_size =
                    row.identity.get("subgroup size").filter(|_| has_device).cloned();
                let subgroup_size =
                    subgroup_size.unwrap_or_else(|| sequential.subgroup_size.to_string());
                identity.insert("subgroup size".to_owned(), subgroup_size);
                identity.extend(replayed_schedule.clone());
                row.identity = identity;
            }
            EngineName::Vulkan if !row.ran => row.identity.clear(),
            EngineName::Vulkan => {}
        }
        row
    };
    stored_campaign.engines.iter().map(row).collect()
}

/// The comparison of the engines, which needs runs of its own.
fn stored_agreement(stored_campaign: &Campaign) -> AgreementComparison {
    let of_engines = |row: &&KernelFinding| {
        row.engine.is_none()
            && row.test.is_some()
            && row.finding.kind == FindingKind::EngineDisagreement
    };
    let findings_of_engines = stored_campaign.findings.iter().filter(of_engines);
    AgreementComparison {
        rows: stored_campaign.agreement.clone(),
        findings: findings_of_engines.cloned().map(as_told_by_engine).collect(),
    }
}

fn as_told_by_engine(row: KernelFinding) -> KernelFinding {
    KernelFinding { finding: as_found(row.finding), ..row }
}

/// A finding as an engine tells it.
pub(super) fn as_found(finding: Finding) -> Finding {
    Finding { acceptance: None, ..finding }
}

/// Contents above the limit are facts that are stored as hashes.
fn restore_omitted(stored_evidence: &Evidence, derived: &mut Evidence) {
    let byte_limit = stored_evidence
        .campaign
        .settings
        .as_ref()
        .map_or(0, |settings| settings.limits.output_bytes);
    let stored_tests = &stored_evidence.campaign.tests;
    for (derived_test, stored_test) in derived.campaign.tests.iter_mut().zip(stored_tests) {
        for (derived_result, stored_result) in
            derived_test.results.iter_mut().zip(&stored_test.results)
        {
            for (name, output) in &stored_result.outputs {
                if let OutputBytes::Hash { bytes, .. } = output
                    && *bytes > byte_limit
                {
                    derived_result.outputs.entry(name.clone()).or_insert_with(|| output.clone());
                }
            }
        }
    }
}

/// Every difference of two evidences, file by file.
fn compare_evidence(
    stored_evidence: &Evidence,
    mut derived_evidence: Evidence,
    verification: &mut Verification,
) -> Result<(), CampaignError> {
    let mut differences = Differences::default();
    // Test by test, because the JSON values of all tests take several times what the tests take.
    let derived_tests = std::mem::take(&mut derived_evidence.campaign.tests);
    let stored_campaign = Campaign { tests: Vec::new(), ..stored_evidence.campaign.clone() };
    differences.compare(
        "campaign.json",
        &json_value(&stored_campaign)?,
        &json_value(&derived_evidence.campaign)?,
    );
    differences
        .compare_rows("campaign.json/tests", &stored_evidence.campaign.tests, &derived_tests)
        .map_err(|error| CampaignError::tool(error.to_string()))?;
    drop(derived_tests);
    let file_names = kernel_files(&derived_evidence.kernels);
    for (name, kernel) in file_names.iter().zip(&derived_evidence.kernels) {
        match stored_evidence.kernels.iter().find(|row| same_row(row, kernel)) {
            Some(row) => differences.compare(name, &json_value(row)?, &json_value(kernel)?),
            None => differences.messages.push(format!("{name} is missing")),
        }
    }
    for row in &stored_evidence.kernels {
        let count_alike = |rows: &[KernelEvidence]| {
            rows.iter().filter(|other_row| same_row(row, other_row)).count()
        };
        if count_alike(&derived_evidence.kernels) != 1 || count_alike(&stored_evidence.kernels) != 1
        {
            differences.messages.push(format!(
                "{} on {} is in the evidence, and nothing asks for it",
                row.kernel, row.engine
            ));
        }
    }
    differences.compare(
        "inputs.json",
        &json_value(&stored_evidence.inputs)?,
        &json_value(&derived_evidence.inputs)?,
    );
    compare_mutations(&stored_evidence.mutations, &derived_evidence.mutations, &mut differences)?;
    let mut manifest = derived_evidence.manifest;
    // What the files hold was compared; their hashes are those of the files.
    for (name, hash) in &mut manifest.outputs {
        hash.clone_from(stored_evidence.manifest.outputs.get(name).unwrap_or(&String::new()));
    }
    differences.compare(
        "manifest.json",
        &json_value(&stored_evidence.manifest)?,
        &json_value(&manifest)?,
    );
    verification.checked += differences.compared;
    verification.problems.append(&mut differences.messages);
    Ok(())
}

/// Kernel by kernel, and mutant by mutant of each.
fn compare_mutations(
    stored: &[MutationEvidence],
    derived: &[MutationEvidence],
    differences: &mut Differences,
) -> Result<(), CampaignError> {
    let unreadable = |error: serde_json::Error| CampaignError::tool(error.to_string());
    let without_rows = |rows: &[MutationEvidence]| -> Vec<MutationEvidence> {
        let row = |row: &MutationEvidence| MutationEvidence {
            mutants: Vec::new(),
            pairs: Vec::new(),
            ..row.clone()
        };
        rows.iter().map(row).collect()
    };
    let heads = (json_value(&without_rows(stored))?, json_value(&without_rows(derived))?);
    differences.compare("mutations", &heads.0, &heads.1);
    for (name, (row, other)) in mutation_files(derived).iter().zip(stored.iter().zip(derived)) {
        differences.compare_rows(name, &row.mutants, &other.mutants).map_err(unreadable)?;
        let pairs = differences.compare_rows(&format!("{name}/pairs"), &row.pairs, &other.pairs);
        pairs.map_err(unreadable)?;
    }
    Ok(())
}

fn same_row(kernel_row: &KernelEvidence, other_row: &KernelEvidence) -> bool {
    kernel_row.kernel == other_row.kernel
        && kernel_row.configuration.name == other_row.configuration.name
        && kernel_row.engine == other_row.engine
}

fn json_value(value: &impl serde::Serialize) -> Result<Value, CampaignError> {
    serde_json::to_value(value).map_err(|error| CampaignError::tool(error.to_string()))
}
