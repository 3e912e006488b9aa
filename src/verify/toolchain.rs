//! The part of verification that needs a compiler or an engine.

use super::{KernelCheck, LaidOutProject, Replay, Verification, VerifyError};
use std::path::Path;
use vkcert_model::evidence::Evidence;

/// A compiler with an engine: recompiles kernels and derives what follows from modules and from
/// runs.
pub trait Toolchain {
    /// A project with its kernels.
    type Compiled;
    /// Errors of compiling and running, beside those of verification.
    type Error: From<VerifyError>;

    /// The toolchain that made the modules of the evidence, where it is another one.
    fn other_maker(&self, stored: &Evidence) -> Option<String>;

    /// Compiles the kernels of the project under their configurations.
    ///
    /// # Errors
    /// A sentence that says why they cannot be compiled.
    fn compile(&self, laid_out: LaidOutProject) -> Result<Self::Compiled, String>;

    /// Derives the whole evidence again and notes every field that differs.
    fn derive(
        &self,
        stored: &Evidence,
        compiled: &Self::Compiled,
        replay: Replay,
        verification: &mut Verification,
    ) -> Result<(), Self::Error>;

    /// Compiles the kernels of a project in `folder`, whose files are the inputs of the evidence,
    /// and compares them.
    fn compare_kernels(
        &self,
        stored: &Evidence,
        folder: &Path,
        verification: &mut Verification,
    ) -> KernelCheck;
}

/// Neither compiler nor engine: what follows from modules is not derived, and reported as such.
#[derive(Debug, Clone, Copy)]
pub struct NoToolchain;

/// There are no kernels without a compiler.
#[derive(Debug)]
pub enum NeverCompiled {}

impl Toolchain for NoToolchain {
    type Compiled = NeverCompiled;
    type Error = VerifyError;

    fn other_maker(&self, stored: &Evidence) -> Option<String> {
        Some(maker_of_modules(stored))
    }

    fn compile(&self, _laid_out: LaidOutProject) -> Result<NeverCompiled, String> {
        Err("there is no compiler".to_owned())
    }

    fn derive(
        &self,
        _stored: &Evidence,
        compiled: &NeverCompiled,
        _replay: Replay,
        _found: &mut Verification,
    ) -> Result<(), VerifyError> {
        match *compiled {}
    }

    fn compare_kernels(
        &self,
        stored: &Evidence,
        _folder: &Path,
        _found: &mut Verification,
    ) -> KernelCheck {
        KernelCheck::NotCompared {
            reason: format!("they were made by {}", maker_of_modules(stored)),
        }
    }
}

/// The tool and the compiler that made the modules of the evidence.
pub fn maker_of_modules(stored: &Evidence) -> String {
    let project_identity = &stored.campaign.project;
    format!(
        "{} {} with {}",
        project_identity.tool, project_identity.tool_version, project_identity.compiler
    )
}
