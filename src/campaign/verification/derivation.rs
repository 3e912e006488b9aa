//! The evidence derived again from the stored inputs and from the facts that follow from nothing
//! else.
//!
//! Knows: which fields of evidence are facts (`runs`, `engines`): what engines left, found and
//! recorded. Promises: they go the way of a fresh run (`campaign::facts`), so that a field which
//! `certify` derives is derived here by the same code, and what is stored of it must be the same.
//! Does not cover: whether the facts are true; `--replay` runs the sequential engine again.

use super::fact_reader::FactReader;
use super::{Rebuilt, replay, told};
use crate::agreement::{self, Comparison, undefined};
use crate::assemble::LaidOut;
use crate::coupling::{self, device_limits_of};
use crate::facts::{self, Facts, Request};
use crate::kernel::Kernel;
use crate::plan::Plan;
use crate::profile::Target;
use crate::test_run::{PreparedTest, TestRun};
use crate::{CampaignError, altered, execution, inputs, judged, recording};
use serde_json::Value;
use std::collections::BTreeMap;
use vkcert_derivation::agreement::tells_of_undefined;
use vkcert_derivation::files::kernel_files;
use vkcert_derivation::stated::TOOL_VERSION;
use vkcert_model::evidence::{
    Campaign, EngineIdentity, Evidence, KernelEvidence, KernelFinding, OutputBytes, TestEvidence,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::Schedules;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_requirement::Project;
use vkcert_sequential::SequentialExecutor;
use vkcert_verification::difference::Differences;
use vkcert_verification::{Replay, Verification};

/// Derives everything, and compares.
pub(super) fn derive(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    replay: Replay,
    found: &mut Verification,
) -> Result<(), CampaignError> {
    match derived(stored, rebuilt, replay, found)? {
        Some(derived) => compare(stored, &derived, found),
        None => Ok(()),
    }
}

/// The evidence that the stored facts come to; none where a problem is in the way.
pub fn derived(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    replay: Replay,
    found: &mut Verification,
) -> Result<Option<Evidence>, CampaignError> {
    let mut kernels = rebuilt.kernels.clone();
    if let Err(failure) =
        recording::restore(&mut kernels, stored, &Target::of(&rebuilt.project().settings.value))
    {
        found
            .problems
            .push(format!("the kernels cannot be recorded as stored: {}", told(&failure)));
        return Ok(None);
    }
    let schedules = match replay {
        Replay::No => Schedules::default(),
        Replay::Sequential => replay::schedules(stored),
    };
    let plan = Plan::for_verification(&stored.campaign.not_looked_for);
    let prepared = match execution::prepare(
        rebuilt.project(),
        &kernels,
        &plan,
        (schedules, request(&stored.campaign).replay),
    ) {
        Ok(prepared) => prepared,
        Err(failure) => {
            found.problems.push(format!("the stored tests cannot be prepared: {}", told(&failure)));
            return Ok(None);
        }
    };
    let mut runs = FactReader { stored, kernels: &kernels, replay, found }.runs(&prepared);
    let mut replayed = None;
    match replay {
        Replay::No => {}
        Replay::Sequential => {
            let (fresh, engine) = replay::run(stored, rebuilt, &prepared)?;
            for ((test, row), run) in prepared.iter().zip(&mut runs).zip(fresh) {
                let same = row.iter_mut().find(|stored| stored.engine == run.engine);
                same.into_iter().for_each(|stored| stored.clone_from(&run));
                undefined::mark(test, row, &engine);
            }
            replayed = Some(engine);
        }
    }
    let laid_out = judged::lay_open(&prepared, &kernels)?;
    match replayed {
        Some(engine) => altered::examine(&prepared, &laid_out, &kernels, &mut runs, &engine)?,
        None => {
            let unknown = altered::derive(&prepared, &laid_out, &kernels, &mut runs).into_iter();
            found.not_derivable.extend(unknown.map(|test| {
                format!("{test}: which altered contents of its kernels' stores fail it; `--replay` alters them again")
            }));
            found.not_derivable.extend(follows_undefined(&stored.campaign));
        }
    }
    judged::doubt_idle_tests(&prepared, &laid_out, &kernels, &mut runs);
    let compared = agreement::derive_from_modules(stored, &prepared, &runs);
    found.checked += compared.checked;
    found.problems.extend(compared.problems);
    found.not_derivable.extend(compared.not_derivable);
    match again(stored, rebuilt, &kernels, (&prepared, &laid_out), &runs) {
        Ok(mut derived) => {
            restore_omitted(stored, &mut derived);
            Ok(Some(derived))
        }
        Err(failure) => {
            found
                .problems
                .push(format!("the evidence cannot be derived again: {}", told(&failure)));
            Ok(None)
        }
    }
}

/// Tests whose records follow undefined values as stored.
fn follows_undefined(campaign: &Campaign) -> impl Iterator<Item = String> {
    let passed =
        |test: &&TestEvidence| test.results.iter().any(|result| result.verdict == Verdict::Pass);
    let tests = campaign.tests.iter().filter(|test| tells_of_undefined(test)).filter(passed);
    tests.map(|test| {
        format!(
            "test {}: whether it passes with other undefined values, and which of its records may follow them; `--replay` runs it \
             again with others",
            test.id
        )
    })
}

/// The evidence that the inputs and the facts come to.
fn again(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    kernels: &[Kernel],
    (prepared, laid_out): (&[PreparedTest], &LaidOut),
    runs: &[Vec<TestRun>],
) -> Result<Evidence, CampaignError> {
    let project = rebuilt.project();
    let engines = engines(&stored.campaign, project);
    let device = device_limits_of(&engines);
    let coupled =
        coupling::analyse(project, kernels, prepared, &coupling::touched(runs), device.as_ref())?;
    let facts = Facts {
        engines: &engines,
        runs,
        laid_out,
        agreement: &agreement(&stored.campaign),
        coupled: &coupled,
        inputs: &inputs::gather(project, kernels)?,
        request: &request(&stored.campaign),
        date: stored.campaign.project.date.clone(),
    };
    Ok(facts::evidence(project, kernels, &facts)?.evidence)
}

/// What the command line asked for.
fn request(campaign: &Campaign) -> Request {
    let results = campaign.tests.iter().flat_map(|test| &test.results);
    let kinds = FindingKind::ALL.iter().map(|(kind, _)| *kind);
    Request {
        left_out: campaign.left_out.clone(),
        not_looked_for: kinds.filter(|kind| campaign.not_looked_for.contains(kind)).collect(),
        replay: results.filter_map(|result| result.schedule).next(),
    }
}

/// Who ran: of the sequential engine, what the project sets; of a device, as stored.
fn engines(campaign: &Campaign, project: &Project) -> Vec<EngineIdentity> {
    let replayed =
        request(campaign).replay.map(|schedule| ("schedule".to_owned(), schedule.to_string()));
    let device = campaign.engines.iter().any(|row| row.engine == EngineName::Vulkan && row.ran);
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
                let size = row.identity.get("subgroup size").filter(|_| device).cloned();
                let size = size.unwrap_or_else(|| sequential.subgroup_size.to_string());
                identity.insert("subgroup size".to_owned(), size);
                identity.extend(replayed.clone());
                row.identity = identity;
            }
            EngineName::Vulkan if !row.ran => row.identity.clear(),
            EngineName::Vulkan => {}
        }
        row
    };
    campaign.engines.iter().map(row).collect()
}

/// The comparison of the engines, which needs runs of its own.
fn agreement(campaign: &Campaign) -> Comparison {
    let of_engines = |row: &&KernelFinding| {
        row.engine.is_none()
            && row.test.is_some()
            && row.finding.kind == FindingKind::EngineDisagreement
    };
    let bare =
        |row: &KernelFinding| KernelFinding { finding: unnamed(&row.finding), ..row.clone() };
    Comparison {
        rows: campaign.agreement.clone(),
        findings: campaign.findings.iter().filter(of_engines).map(bare).collect(),
    }
}

/// A finding as an engine tells it.
pub(super) fn unnamed(finding: &Finding) -> Finding {
    Finding { acceptance: None, ..finding.clone() }
}

/// Contents above the limit are facts that are stored as hashes.
fn restore_omitted(stored: &Evidence, derived: &mut Evidence) {
    let limit =
        stored.campaign.settings.as_ref().map_or(0, |settings| settings.limits.output_bytes);
    for (ours, theirs) in derived.campaign.tests.iter_mut().zip(&stored.campaign.tests) {
        for (ours, theirs) in ours.results.iter_mut().zip(&theirs.results) {
            for (name, output) in &theirs.outputs {
                if let OutputBytes::Hash { bytes, .. } = output
                    && *bytes > limit
                {
                    ours.outputs.entry(name.clone()).or_insert_with(|| output.clone());
                }
            }
        }
    }
}

/// Every difference of two evidences, file by file.
fn compare(
    stored: &Evidence,
    derived: &Evidence,
    found: &mut Verification,
) -> Result<(), CampaignError> {
    let mut differences = Differences::default();
    differences.compare("campaign.json", &json(&stored.campaign)?, &json(&derived.campaign)?);
    let names = kernel_files(&derived.kernels);
    for (name, kernel) in names.iter().zip(&derived.kernels) {
        match stored.kernels.iter().find(|row| same_row(row, kernel)) {
            Some(row) => differences.compare(name, &json(row)?, &json(kernel)?),
            None => differences.messages.push(format!("{name} is missing")),
        }
    }
    for row in &stored.kernels {
        let times =
            |rows: &[KernelEvidence]| rows.iter().filter(|other| same_row(row, other)).count();
        if times(&derived.kernels) != 1 || times(&stored.kernels) != 1 {
            differences.messages.push(format!(
                "{} on {} is in the evidence, and nothing asks for it",
                row.kernel, row.engine
            ));
        }
    }
    differences.compare("inputs.json", &json(&stored.inputs)?, &json(&derived.inputs)?);
    let mut manifest = derived.manifest.clone();
    // What the files hold was compared; their hashes are those of the files.
    for (name, hash) in &mut manifest.outputs {
        hash.clone_from(stored.manifest.outputs.get(name).unwrap_or(&String::new()));
    }
    differences.compare("manifest.json", &json(&stored.manifest)?, &json(&manifest)?);
    found.checked += differences.compared;
    found.problems.append(&mut differences.messages);
    Ok(())
}

fn same_row(one: &KernelEvidence, other: &KernelEvidence) -> bool {
    one.kernel == other.kernel
        && one.configuration.name == other.configuration.name
        && one.engine == other.engine
}

fn json(value: &impl serde::Serialize) -> Result<Value, CampaignError> {
    serde_json::to_value(value).map_err(|error| CampaignError::tool(error.to_string()))
}
