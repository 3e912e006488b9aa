//! What a test is prepared against: kernels, folder, limits.

use crate::{JobModule, ModuleRecording};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use vkcert_model::finding::Checks;
use vkcert_model::id::{KernelName, ModuleKey};
use vkcert_model::project::ProjectLimits;
use vkcert_spirv::module::Module;

/// A kernel whose module is at hand. Use a module that no optimiser has run over (the marked or
/// traced one): bindings are checked against what the module declares, and an optimiser drops what
/// is not used.
#[derive(Debug, Clone)]
pub struct PreparedKernel {
    /// Entry point.
    pub entry: String,
    /// The module.
    pub module: Arc<Module>,
    /// How its coverage is recorded.
    pub recording: ModuleRecording,
}

/// What a test is prepared against.
pub struct Setting<'a> {
    /// Kernels that tests may dispatch, by name.
    pub kernels: &'a BTreeMap<KernelName, PreparedKernel>,
    /// Folder of the file that holds the test.
    pub base: &'a Path,
    /// Limits of the project.
    pub limits: &'a ProjectLimits,
    /// Limits from the command line, over those of the test.
    pub overrides: vkcert_model::procedure::TestLimits,
    /// Findings that runs look for.
    pub checks: Checks,
}

pub(super) fn job_module(name: &KernelName, kernel: &PreparedKernel) -> JobModule {
    JobModule {
        key: ModuleKey::only(*name),
        words: Arc::clone(&kernel.module.words),
        recording: kernel.recording.clone(),
    }
}
