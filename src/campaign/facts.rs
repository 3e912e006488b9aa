//! What a campaign has shown, and the evidence that it comes to.
//!
//! Knows: the project, its kernels, and the facts: who ran, what each test did, what was asked for
//! on the command line.
//! Promises: everything of the evidence that is no fact follows from these by [`derive_evidence`],
//! which `certify` calls when it makes evidence and `verify` when it derives it again.

use super::agreement::AgreementComparison;
use super::assemble::{self, LaidOut};
use super::coupling::StoredCoupling;
use super::inputs::ProjectInputs;
use super::kernel::Kernel;
use super::test_run::TestRun;
use crate::CampaignError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use vkcert_derivation::conclusion::conclude;
use vkcert_derivation::files::{
    UnmadeFile, store_campaign_files, store_kernel_files, store_mutation_files,
};
use vkcert_derivation::mutation::Traces;
use vkcert_derivation::stated::{device_labels, tool_label};
use vkcert_derivation::{derive, mutation, objectives, open_items};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{
    Campaign, EVIDENCE_SCHEMA, EngineIdentity, Evidence, Manifest, MutationEvidence,
    MutationExtent, SetAsideKernel,
};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::TestId;
use vkcert_model::project::Standard;
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
];

/// How far results of the tool may stand unchecked, in the words of a standard.
fn qualification_limit(standard: Standard) -> &'static str {
    match standard {
        Standard::Do178c => "This version of the tool is not qualified under DO-330.",
        Standard::EcssE40 => "This version of the tool is not qualified for any use.",
        Standard::Iso26262 => {
            "This version of the tool is not qualified; which confidence in it is needed is not determined (ISO 26262-8, clause 11)."
        }
    }
}

/// What follows from nothing else.
pub struct CampaignFacts {
    /// Who ran, or why not.
    pub engines: Vec<EngineIdentity>,
    /// One row per test of the project, one entry per engine.
    pub runs_by_test: Vec<Vec<TestRun>>,
    /// The tests as they were laid out for the engines.
    pub laid_out: LaidOut,
    /// What differs between the engines.
    pub agreement: AgreementComparison,
    /// Coupling of kernels with an interface, in project order.
    pub coupled: Vec<StoredCoupling>,
    /// The files that the run read.
    pub inputs: ProjectInputs,
    /// What tests made of mutants; none where that was not asked for.
    pub mutation: Option<MutationFacts>,
    /// What the command line asked for beside the project.
    pub request: CampaignSetting,
    /// RFC 3339; none where SOURCE_DATE_EPOCH does not say it.
    pub date: Option<String>,
}

/// What tests made of mutants, and what was asked of them.
#[derive(Debug, Clone)]
pub struct MutationFacts {
    /// What was asked for.
    pub asked: MutationExtent,
    /// Of each kernel that was mutated, in project order.
    pub mutations: Vec<MutationEvidence>,
}

/// What the command line asked for beside the project.
#[derive(Debug, Clone, Default)]
pub struct CampaignSetting {
    /// Tests left out, in project order.
    pub left_out: Vec<TestId>,
    /// Kernels that do not compile and that the run went on without, in project order.
    pub set_aside: Vec<SetAsideKernel>,
    /// Kinds of findings that were not looked for.
    pub not_looked_for: Vec<FindingKind>,
    /// The schedule that all tests ran in, where it is not the ordinary one.
    pub replay: Option<Schedule>,
}

impl CampaignSetting {
    /// The limits of the tool, and those of what was asked for, as sentences.
    pub fn limits_in_words(&self, standard: Standard) -> Vec<String> {
        let mut limits: Vec<String> = LIMITS.iter().map(|limit| (*limit).to_owned()).collect();
        limits.push(qualification_limit(standard).to_owned());
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(TestId::as_str).collect();
            limits.push(format!("Left out on request (--without, --only): {}.", names.join(", ")));
        }
        if !self.set_aside.is_empty() {
            let names: Vec<&str> = self.set_aside.iter().map(|row| row.kernel.as_str()).collect();
            limits.push(format!(
                "Set aside, because they do not compile (--keep-going): {}. Nothing of them is certified.",
                names.join(", ")
            ));
        }
        if let Some(schedule) = self.replay {
            limits.push(format!(
                "Run in another schedule than the ordinary one on request (--replay): {schedule}."
            ));
        }
        limits
    }
}

/// The engines that ran, in order.
pub fn engines_that_ran(engines: &[EngineIdentity]) -> Vec<EngineName> {
    engines.iter().filter(|row| row.ran).map(|row| row.engine).collect()
}

/// Evidence whose manifest has the hashes of its files, with those files.
pub struct SealedEvidence {
    /// The evidence with its manifest.
    pub evidence: Evidence,
    /// Every file but the manifest, by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Where the files of evidence go, each as soon as it is made.
pub trait EvidenceTarget: Sync {
    /// Makes a file and keeps it, of several cores at once; the SHA-256 of what it holds.
    fn store(&self, name: &str, file: UnmadeFile<'_>) -> Result<String, CampaignError>;
}

/// Makes no file: the evidence alone is wanted, and its manifest has names without hashes.
pub struct NoFiles;

impl EvidenceTarget for NoFiles {
    fn store(&self, _: &str, _: UnmadeFile<'_>) -> Result<String, CampaignError> {
        Ok(String::new())
    }
}

/// Keeps the files in memory.
#[derive(Default)]
pub struct FilesInMemory(Mutex<BTreeMap<String, Vec<u8>>>);

impl FilesInMemory {
    /// The evidence with what was kept of it.
    pub fn sealed(self, evidence: Evidence) -> SealedEvidence {
        let files = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        SealedEvidence { evidence, files }
    }
}

impl EvidenceTarget for FilesInMemory {
    fn store(&self, name: &str, file: UnmadeFile<'_>) -> Result<String, CampaignError> {
        let bytes = file.bytes()?;
        let hash = sha256_digits(&bytes);
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(name.to_owned(), bytes);
        Ok(hash)
    }
}

/// Makes the files of evidence, and the list of their hashes in its manifest.
pub fn seal_evidence(
    evidence: &mut Evidence,
    target: &dyn EvidenceTarget,
) -> Result<(), CampaignError> {
    let store = |name: &str, file: UnmadeFile<'_>| target.store(name, file);
    let Evidence { campaign, kernels, mutations, inputs, manifest } = evidence;
    manifest.outputs = store_campaign_files(campaign, inputs.as_ref(), store)?;
    manifest.outputs.extend(store_kernel_files(kernels, store)?);
    manifest.outputs.extend(store_mutation_files(mutations, store)?);
    Ok(())
}

/// All evidence of a campaign; its files go to `target`. What a kernel was compiled to is not needed
/// any more once its evidence is there, so that who hands kernels over has their memory back.
pub fn derive_evidence(
    project: &Project,
    kernels: Cow<'_, [Kernel]>,
    mut campaign_facts: CampaignFacts,
    target: &dyn EvidenceTarget,
) -> Result<Evidence, CampaignError> {
    let mut campaign = assemble::assemble_campaign(project, &kernels, &mut campaign_facts)?;
    let CampaignFacts { runs_by_test, inputs, mutation, request, .. } = campaign_facts;
    campaign.left_out = request.left_out;
    campaign.not_looked_for = request.not_looked_for;
    campaign.set_aside = request.set_aside;
    let mut kernel_evidence =
        assemble::assemble_kernels(project, kernels, &runs_by_test, &mut campaign);
    assemble::add_results(project, &mut campaign, runs_by_test);
    derive::apply_justifications(&mut kernel_evidence, &mut campaign);
    let mutations = settle_mutation(&mut campaign, mutation);
    // Evidence of kernels is whole from here on, and its files are made beside what follows from it.
    let kernels = kernel_evidence;
    let store = |name: &str, file: UnmadeFile<'_>| target.store(name, file);
    let (kernel_hashes, mut manifest) = rayon::join(
        || store_kernel_files(&kernels, store),
        || {
            derive::settle_requirements(&mut campaign, &kernels);
            open_items::derive_open_items(&mut campaign, &kernels);
            campaign.conclusion = conclude(&campaign, &kernels);
            let manifest = manifest_of(&campaign, &inputs);
            objectives::derive_objectives(&mut campaign, &kernels, &manifest.inputs);
            manifest
        },
    );
    manifest.outputs = kernel_hashes?;
    manifest.outputs.extend(store_mutation_files(&mutations, store)?);
    let inputs = inputs.stored_inputs();
    manifest.outputs.extend(store_campaign_files(&campaign, Some(&inputs), store)?);
    Ok(Evidence { campaign, kernels, mutations, inputs: Some(inputs), manifest })
}

/// Mutants with their statuses, counted in the campaign.
fn settle_mutation(campaign: &mut Campaign, facts: Option<MutationFacts>) -> Vec<MutationEvidence> {
    let Some(MutationFacts { asked, mut mutations }) = facts else {
        mutation::settle_mutants(&mut [], campaign);
        return Vec::new();
    };
    mutation::settle_mutants(&mut mutations, campaign);
    let summary = mutation::summarize(asked, &mutations, &Traces::of_campaign(campaign));
    campaign.mutation = Some(summary);
    mutations
}

/// The manifest without the files of the evidence.
fn manifest_of(campaign: &Campaign, inputs: &ProjectInputs) -> Manifest {
    Manifest {
        schema: EVIDENCE_SCHEMA,
        tool: tool_label(campaign),
        compiler: campaign.project.compiler.clone(),
        devices: device_labels(&campaign.engines),
        inputs: inputs.hashes(),
        outputs: Default::default(),
    }
}
