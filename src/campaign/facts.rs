//! What a campaign has shown, and the evidence that it comes to.
//!
//! Knows: the project, its kernels, and the facts: who ran, what each test did, what was asked for
//! on the command line.
//! Promises: everything of the evidence that is no fact follows from these by [`evidence`], which
//! `certify` calls when it makes evidence and `verify` when it derives it again.

use super::agreement::Comparison;
use super::assemble::{self, LaidOut};
use super::coupling::KernelCoupling;
use super::inputs::Inputs;
use super::kernel::Kernel;
use super::test_run::TestRun;
use crate::CampaignError;
use std::collections::BTreeMap;
use vkcert_derivation::conclusion::conclude;
use vkcert_derivation::files::files;
use vkcert_derivation::stated::{devices, tool};
use vkcert_derivation::{derive, open_items};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{Campaign, EVIDENCE_SCHEMA, EngineIdentity, Evidence, Manifest};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::TestId;
use vkcert_model::schedule::Schedule;
use vkcert_model::verdict::EngineName;
use vkcert_requirement::Project;

/// The limits of the tool itself, in every report.
const LIMITS: &[&str] = &[
    "Kernels (device code) and their coupling with the host are measured. MC/DC of the host program is for existing qualified tools.",
    "Coverage belongs to a production configuration of a kernel: its defines, entry point, specialization values and local size. Records of one configuration count for no other.",
    "Object code is the SPIR-V of the production module. What the device driver's own compiler makes of it is not looked at.",
    "Vectors of an engine without witnesses (Vulkan) name the test case, not the invocation.",
    "Data races are those of the executed tests; a clean run is no proof for other sizes or values.",
    "This version of the tool is not qualified under DO-330.",
];

/// What follows from nothing else.
pub struct Facts<'a> {
    /// Who ran, or why not.
    pub engines: &'a [EngineIdentity],
    /// One row per test of the project, one entry per engine.
    pub runs: &'a [Vec<TestRun>],
    /// The tests as they were laid out for the engines.
    pub laid_out: &'a LaidOut,
    /// What differs between the engines.
    pub agreement: &'a Comparison,
    /// Coupling of kernels with an interface, in project order.
    pub coupled: &'a [KernelCoupling],
    /// The files that the run read.
    pub inputs: &'a Inputs,
    /// What the command line asked for beside the project.
    pub request: &'a Request,
    /// RFC 3339; none where SOURCE_DATE_EPOCH does not say it.
    pub date: Option<String>,
}

/// What the command line asked for beside the project.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Tests left out, in project order.
    pub left_out: Vec<TestId>,
    /// Kinds of findings that were not looked for.
    pub not_looked_for: Vec<FindingKind>,
    /// The schedule that all tests ran in, where it is not the ordinary one.
    pub replay: Option<Schedule>,
}

impl Request {
    fn limits(&self) -> Vec<String> {
        let mut limits: Vec<String> = LIMITS.iter().map(|limit| (*limit).to_owned()).collect();
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(TestId::as_str).collect();
            limits.push(format!("Left out on request (--without, --only): {}.", names.join(", ")));
        }
        if let Some(schedule) = self.replay {
            limits.push(format!(
                "Run in another schedule than the ordinary one on request (--replay): {schedule}."
            ));
        }
        limits
    }
}

impl Facts<'_> {
    /// The engines that ran, in order.
    pub fn engine_names(&self) -> Vec<EngineName> {
        self.engines.iter().filter(|row| row.ran).map(|row| row.engine).collect()
    }
}

/// Evidence whose manifest has the hashes of its files, with those files.
pub struct SealedEvidence {
    /// The evidence with its manifest.
    pub evidence: Evidence,
    /// Every file but the manifest, by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// All evidence of a campaign.
pub fn evidence(
    project: &Project,
    kernels: &[Kernel],
    facts: &Facts,
) -> Result<SealedEvidence, CampaignError> {
    let mut campaign = assemble::campaign(project, kernels, facts, facts.request.limits())?;
    campaign.left_out.clone_from(&facts.request.left_out);
    campaign.not_looked_for.clone_from(&facts.request.not_looked_for);
    let kernel_evidence = assemble::kernels(project, kernels, facts, &mut campaign);
    derive::settle_requirements(&mut campaign, &kernel_evidence);
    open_items::derive(&mut campaign, &kernel_evidence);
    campaign.conclusion = conclude(&campaign, &kernel_evidence);
    let manifest = manifest(&campaign, facts.inputs);
    let inputs = Some(facts.inputs.stored());
    let mut evidence = Evidence { campaign, kernels: kernel_evidence, inputs, manifest };
    let files = files(&evidence).map_err(|error| CampaignError::tool(error.to_string()))?;
    evidence.manifest.outputs =
        files.iter().map(|(name, bytes)| (name.clone(), sha256_digits(bytes))).collect();
    Ok(SealedEvidence { evidence, files })
}

/// The manifest without the files of the evidence.
fn manifest(campaign: &Campaign, inputs: &Inputs) -> Manifest {
    Manifest {
        schema: EVIDENCE_SCHEMA,
        tool: tool(campaign),
        compiler: campaign.project.compiler.clone(),
        devices: devices(&campaign.engines),
        inputs: inputs.hashes(),
        outputs: Default::default(),
    }
}
