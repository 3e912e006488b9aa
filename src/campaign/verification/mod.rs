//! What verification of evidence needs kernels for: compiling them again, deriving all of the
//! evidence, running tests again.

mod derivation;
mod fact_reader;
mod kernels;
mod replay;

pub use derivation::derived;

use super::kernel::Kernel;
use super::{CampaignError, configuration, project};
use std::path::Path;
use vkcert_derivation::stated::{TOOL, TOOL_VERSION};
use vkcert_glsl as glsl;
use vkcert_model::evidence::Evidence;
use vkcert_requirement::Project;
use vkcert_verification::{
    KernelCheck, LaidOutProject, Replay, Toolchain, Verification, maker_of_modules,
};

/// The compiler that is built in, and the sequential engine.
#[derive(Debug, Clone, Copy)]
pub struct Compiling;

/// A project with its kernels.
pub struct Rebuilt {
    /// The project in a temporary folder.
    pub laid_out: LaidOutProject,
    /// Its kernels, compiled there, in project order.
    pub kernels: Vec<Kernel>,
}

impl Rebuilt {
    /// The project.
    pub fn project(&self) -> &Project {
        &self.laid_out.project
    }
}

impl Toolchain for Compiling {
    type Compiled = Rebuilt;
    type Error = CampaignError;

    fn other_maker(&self, stored: &Evidence) -> Option<String> {
        other_compiler(stored)
    }

    fn compile(&self, laid_out: LaidOutProject) -> Result<Rebuilt, String> {
        let kernels = project::compile(&laid_out.project)
            .and_then(|kernels| configuration::configure(&laid_out.project, kernels));
        match kernels {
            Ok(kernels) => Ok(Rebuilt { laid_out, kernels }),
            Err(failure) => Err(told(&failure)),
        }
    }

    fn derive(
        &self,
        stored: &Evidence,
        compiled: &Rebuilt,
        replay: Replay,
        found: &mut Verification,
    ) -> Result<(), CampaignError> {
        derivation::derive(stored, compiled, replay, found)
    }

    fn compare_kernels(
        &self,
        stored: &Evidence,
        folder: &Path,
        found: &mut Verification,
    ) -> KernelCheck {
        kernels::compare(stored, folder, found)
    }
}

/// Who made the modules, where it is not this program with its compiler.
pub fn other_compiler(stored: &Evidence) -> Option<String> {
    let made = &stored.campaign.project;
    let here = (TOOL, TOOL_VERSION, glsl::compiler_identity());
    let same = (made.tool.as_str(), made.tool_version.as_str(), made.compiler.clone()) == here;
    (!same).then(|| maker_of_modules(stored))
}

/// A failure as one sentence.
fn told(failure: &CampaignError) -> String {
    match failure {
        CampaignError::Input(found) => {
            found.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default()
        }
        CampaignError::Tool { message, .. } | CampaignError::Unavailable { message, .. } => {
            message.clone()
        }
    }
}
