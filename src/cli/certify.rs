//! `vkcert certify`: the main job, from a project folder to evidence, reports and an exit code.

use super::args::{Certify, Common, OutputForm};
use super::conclusion::conclude;
use super::engines::{EngineSettings, Engines};
use super::evidence;
use super::exit::Exit;
use super::failure::Failure;
use super::kernel::Kernel;
use super::output::{self, PendingFolder};
use super::plan::Plan;
use super::profile::{self, Target};
use super::report::presentation;
use super::save;
use super::test_run::TestRun;
use super::{
    agreement, assemble, campaign, configuration, coupling, judged, justifications, open_items, project, recording,
};
use crate::model::canonical::{canonical_lines, sha256_digits};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{EVIDENCE_SCHEMA, Evidence, Manifest};
use crate::model::finding::{Checks, FindingKind};
use crate::model::id::TestId;
use crate::model::procedure::Language;
use crate::model::vulkan_sc::Profile;
use crate::report::{self, FORMATS, FormatName};
use crate::requirement::Project;
use crate::requirement::document::read_bytes;
use std::path::Path;

/// The limits of the tool itself, in every report.
const LIMITS: &[&str] = &[
    "Kernels (device code) and their coupling with the host are measured. MC/DC of the host program is for existing qualified tools.",
    "Coverage belongs to a production configuration of a kernel: its defines, entry point, specialization values and local size. Records of one configuration count for no other.",
    "Vectors of an engine without witnesses (Vulkan) name the test case, not the invocation.",
    "Data races are those of the executed tests; a clean run is no proof for other sizes or values.",
    "This version of the tool is not qualified under DO-330.",
];

/// The sub-folder of the output folder that a run writes.
const SECTION: &str = "latest";

/// Runs the whole campaign, writes evidence and reports, prints the summary.
pub fn command(common: &Common, certify: &Certify) -> Result<Exit, Failure> {
    let plan = Plan::new(common, &certify.check)?;
    let mut project = project::load(&certify.dir)?;
    leave_out(&mut project, certify)?;
    let mut kernels = project::compile(&project)?;
    profile::check_modules(&project, &kernels)?;
    configuration::configure(&project, &mut kernels)?;
    justifications::check(&project, &kernels)?;
    let settings = &project.settings.value;
    let engine_settings = EngineSettings {
        memory_model: settings.memory_model,
        validation: settings.validation,
        robustness: settings.robustness,
        repeat: certify.repetition.repeat.or(settings.repeat),
        replay: certify.schedules.replay,
    };
    let opened = Engines::open(&plan, settings.engines.as_deref(), engine_settings);
    let recorded = opened.as_ref().map_or(Ok(()), |engines| {
        let (mode, witnesses) = (certify.recording.record_mode, certify.recording.witnesses());
        recording::apply_for(&mut kernels, engines, mode, witnesses, &Target::of(settings))
    });
    let prepared = campaign::prepare(&project, &kernels, &plan, certify.schedules.over(settings.schedules)?)?;
    // What is wrong with the input is told before what the machine lacks.
    let out = certify.out.clone().unwrap_or_else(|| project.root.join("reports"));
    let folder = PendingFolder::start(&out, SECTION)?;
    let mut engines = opened?;
    recorded?;
    let mut runs = campaign::run(&prepared, &mut engines, &plan, common)?;
    let laid_out = judged::lay_open(&prepared, &kernels)?;
    judged::doubt_idle_tests(&prepared, &laid_out, &kernels, &mut runs);
    let device = coupling::device_limits(&engines);
    let touched = coupling::touched(&runs);
    let coupled = coupling::analyse(&project, &kernels, &prepared, &touched, device.as_ref())?;
    let agreement = agreement::compare(&prepared, &runs);
    if let Some(folder) = &certify.save_outputs {
        save::outputs(folder, &prepared, &runs)?;
    }
    drop(prepared);
    let request = Request { certify, checks: &plan.checks };
    let evidence = gather(&project, &kernels, &engines, &runs, (&laid_out, &agreement), &coupled, &request)?;
    let written = write(&evidence, folder, &out)?;
    match common.format {
        OutputForm::Json => output::print(&canonical(&evidence.campaign)?)?,
        OutputForm::Text => {
            let summary = report::render(&evidence, FormatName::Terminal, &presentation(common, written));
            output::print_bytes(&summary.map_err(|error| Failure::tool(error.to_string()))?)?;
        }
    }
    Ok(exit(evidence.campaign.conclusion.exit_code))
}

fn exit(code: u8) -> Exit {
    let all = [Exit::Success, Exit::Failed, Exit::Usage, Exit::Tool, Exit::Unavailable];
    all.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Tool)
}

/// Removes the tests that `--without` names and those that `--only` does not; an unknown id is an error.
fn leave_out(project: &mut Project, certify: &Certify) -> Result<(), Failure> {
    let options = [("--without", &certify.without), ("--only", &certify.only)];
    let asked = options.iter().flat_map(|(option, ids)| ids.iter().map(move |id| (option, id)));
    for (option, id) in asked {
        if !project.tests.iter().any(|test| test.id.as_str() == id) {
            let known: Vec<&str> = project.tests.iter().map(|test| test.id.as_str()).collect();
            let diagnostic = Diagnostic::new("unknown-id", format!("{option}: no test is named `{id}`"));
            let hint = crate::requirement::nearest::did_you_mean(id, &known);
            return Err(Diagnostic { hint: hint.or(Some("see `vkcert list tests`".to_owned())), ..diagnostic }.into());
        }
    }
    let named = |ids: &[String], test: &TestId| ids.iter().any(|id| test.as_str() == id);
    let stays = |test: &TestId| match certify.only.is_empty() {
        true => !named(&certify.without, test),
        false => named(&certify.only, test),
    };
    project.left_out = project.tests.extract_if(.., |test| !stays(&test.id)).collect();
    Ok(())
}

/// What the command line asks for beside the project.
struct Request<'a> {
    certify: &'a Certify,
    checks: &'a Checks,
}

fn gather(
    project: &Project,
    kernels: &[Kernel],
    engines: &Engines,
    runs: &[Vec<TestRun>],
    compared: (&assemble::LaidOut, &agreement::Comparison),
    coupled: &[coupling::KernelCoupling],
    request: &Request,
) -> Result<Evidence, Failure> {
    let Request { certify, checks } = request;
    let mut limits: Vec<String> = LIMITS.iter().map(|limit| (*limit).to_owned()).collect();
    if !project.left_out.is_empty() {
        let names: Vec<&str> = project.left_out.iter().map(|test| test.id.as_str()).collect();
        limits.push(format!("Left out on request (--without, --only): {}.", names.join(", ")));
    }
    if let Some(schedule) = certify.schedules.replay {
        limits.push(format!("Run in another schedule than the ordinary one on request (--replay): {schedule}."));
    }
    let mut campaign = assemble::campaign(project, kernels, engines, runs, compared, coupled, limits)?;
    campaign.left_out = project.left_out.iter().map(|test| test.id.clone()).collect();
    let all = FindingKind::ALL.iter().map(|(kind, _)| *kind);
    campaign.not_looked_for = all.filter(|kind| !checks.has(*kind)).collect();
    let kernel_evidence = assemble::kernels(project, kernels, engines, runs, &mut campaign);
    open_items::derive(&mut campaign, &kernel_evidence);
    campaign.conclusion = conclude(&campaign, &kernel_evidence);
    let manifest = manifest(project, kernels, &campaign, &kernel_evidence)?;
    Ok(Evidence { campaign, kernels: kernel_evidence, manifest })
}

fn manifest(
    project: &Project,
    kernels: &[Kernel],
    campaign: &crate::model::evidence::Campaign,
    kernel_evidence: &[crate::model::evidence::KernelEvidence],
) -> Result<Manifest, Failure> {
    let bare = |hash: &String| hash.trim_start_matches("sha256:").to_owned();
    let profile = project.settings.value.profile;
    let mut inputs: std::collections::BTreeMap<_, _> =
        project.inputs.iter().map(|(path, hash)| (path.clone(), bare(hash))).collect();
    for (kernel, settings) in kernels.iter().zip(&project.settings.value.kernels) {
        inputs.insert(
            settings.source.clone(),
            sha256_digits(&read_bytes(&project.root.join(&settings.source), &settings.source)?),
        );
        let included = kernel.included.iter();
        inputs.extend(included.map(|(path, text)| (path.clone(), sha256_digits(text.as_bytes()))));
        // `check_modules` has found each of them equal to what is made now.
        if profile == Profile::VulkanSc && settings.language == Language::Glsl {
            inputs
                .insert(project::module_file(&kernel.name), sha256_digits(&evidence::module_bytes(&kernel.production)));
        }
    }
    let outputs = evidence::files(campaign, kernel_evidence)?;
    let device = |engine: &crate::model::evidence::EngineIdentity| {
        let name = |key: &str| engine.identity.get(key).cloned().unwrap_or_default();
        format!("{} ({} {})", name("device"), name("driver"), name("driver info"))
    };
    Ok(Manifest {
        schema: EVIDENCE_SCHEMA,
        tool: format!("vkcert {}", env!("CARGO_PKG_VERSION")),
        compiler: campaign.project.compiler.clone(),
        devices: campaign.engines.iter().filter(|e| e.ran && e.identity.contains_key("device")).map(device).collect(),
        inputs,
        outputs: outputs.iter().map(|(name, bytes)| (name.clone(), sha256_digits(bytes))).collect(),
    })
}

fn canonical(value: &impl serde::Serialize) -> Result<String, Failure> {
    canonical_lines(value).map_err(|error| Failure::tool(error.to_string()))
}

/// Writes evidence and reports; gives the paths of what a person opens.
fn write(evidence: &Evidence, folder: PendingFolder, out: &Path) -> Result<Vec<String>, Failure> {
    for (name, bytes) in evidence::files(&evidence.campaign, &evidence.kernels)? {
        folder.write(&format!("evidence/{name}"), &bytes)?;
    }
    folder.write(&format!("evidence/{}", evidence::MANIFEST), canonical(&evidence.manifest)?.as_bytes())?;
    let mut names = vec!["evidence"];
    for row in FORMATS {
        let Some(file) = row.file else { continue };
        let bytes = report::render(evidence, row.name, &report::Presentation::default());
        folder.write(file, &bytes.map_err(|error| Failure::tool(error.to_string()))?)?;
        names.push(file);
    }
    folder.finish(&names)?;
    Ok(names.iter().map(|name| out.join(name).display().to_string()).collect())
}
