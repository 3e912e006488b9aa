//! What verification of evidence needs kernels for: compiling them again, deriving all of the
//! evidence, running tests again.

mod derivation;
mod fact_reader;
mod kernels;
mod pair_instructions;
mod replay;

pub use derivation::derived_evidence;

use super::kernel::Kernel;
use super::set_aside::{BrokenKernel, compile_set_aside};
use super::{CampaignError, configuration, project};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vkcert_cache::RunCache;
use vkcert_derivation::stated::{TOOL, TOOL_VERSION};
use vkcert_glsl as glsl;
use vkcert_model::evidence::Evidence;
use vkcert_requirement::Project;
use vkcert_verification::{
    KernelCheck, LaidOutProject, Replay, Toolchain, Verification, maker_of_modules,
};

/// The compiler that is built in, and the sequential engine.
#[derive(Debug, Clone, Default)]
pub struct Compiling {
    /// The program that reads headers in a process of its own (`vkcert`); none: none is read again.
    pub program: Option<PathBuf>,
    /// Where compiled kernels and their coupling are taken from and left; none: every kernel is compiled
    /// and analysed, as a verification must.
    pub cache: Option<Arc<RunCache>>,
}

/// A project with its kernels.
pub struct RebuiltProject {
    /// The project in a temporary folder.
    pub laid_out: LaidOutProject,
    /// Its kernels, compiled there, in project order.
    pub kernels: Vec<Kernel>,
    /// The kernels that the evidence sets aside, compiled there; none in place of one that compiles.
    pub(super) set_aside: Vec<Option<BrokenKernel>>,
    /// Where the coupling of its kernels is taken from and left.
    pub(super) cache: Option<Arc<RunCache>>,
}

impl RebuiltProject {
    /// The project.
    pub fn project(&self) -> &Project {
        &self.laid_out.project
    }
}

impl Toolchain for Compiling {
    type Compiled = RebuiltProject;
    type Error = CampaignError;

    fn other_maker(&self, stored_evidence: &Evidence) -> Option<String> {
        other_compiler(stored_evidence)
    }

    fn compile(&self, laid_out: LaidOutProject) -> Result<RebuiltProject, String> {
        let compiled = project::compile_or_take_kernels(&laid_out.project, self.cache.as_deref())
            .and_then(|kernels| configuration::configure_kernels(&laid_out.project, kernels))
            .and_then(|kernels| Ok((kernels, compile_set_aside(&laid_out.project)?)));
        match compiled {
            Ok((kernels, set_aside)) => {
                Ok(RebuiltProject { laid_out, kernels, set_aside, cache: self.cache.clone() })
            }
            Err(failure) => Err(failure.sentence().to_owned()),
        }
    }

    fn derive(
        &self,
        stored_evidence: &Evidence,
        compiled: &RebuiltProject,
        replay: Replay,
        verification: &mut Verification,
    ) -> Result<(), CampaignError> {
        let how = (replay, self.program.as_deref());
        derivation::derive_and_compare(stored_evidence, compiled, how, verification)
    }

    fn compare_kernels(
        &self,
        stored_evidence: &Evidence,
        project_folder: &Path,
        verification: &mut Verification,
    ) -> KernelCheck {
        kernels::compare_project_kernels(stored_evidence, project_folder, verification)
    }
}

/// Who made the modules, where it is not this program with its compiler.
pub fn other_compiler(stored_evidence: &Evidence) -> Option<String> {
    let stored_project = &stored_evidence.campaign.project;
    let this_compiler = glsl::compiler_identity();
    let this_program = (TOOL, TOOL_VERSION, this_compiler.as_str());
    let is_same = (
        stored_project.tool.as_str(),
        stored_project.tool_version.as_str(),
        stored_project.compiler.as_str(),
    ) == this_program;
    (!is_same).then(|| maker_of_modules(stored_evidence))
}
