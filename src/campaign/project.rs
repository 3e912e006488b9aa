//! A project with its kernels compiled.

use super::kernel::{self, CompiledKernel, MeasuredParts, TargetedKernel};
use super::profile::ProjectTarget;
use crate::CampaignError;
use rayon::prelude::*;
use std::path::Path;
use vkcert_cache::RunCache;
use vkcert_glsl::KernelSource;
use vkcert_model::procedure::Language;
use vkcert_model::project::{ProjectFile, ProjectKernel};
use vkcert_model::structure::requested_marks;
use vkcert_requirement::document::{read_bytes, read_text};
use vkcert_requirement::{self as requirement, Project};

/// Folder of the production modules.
pub const MODULES: &str = "spirv";

/// Reads and checks the project in a folder.
pub fn load_project(project_folder: &Path) -> Result<Project, CampaignError> {
    Ok(requirement::load_project(project_folder)?)
}

/// Path of a kernel's production module, relative to the project.
pub fn module_file(kernel: &str) -> String {
    format!("{MODULES}/{kernel}.spv")
}

/// Compiles every kernel of the project, in project order, and asks its target; all diagnostics of
/// all kernels together.
pub fn compile_kernels(project: &Project) -> Result<Vec<TargetedKernel>, CampaignError> {
    compile_or_take_kernels(project, None)
}

/// The same, with kernels that a cache has.
pub fn compile_or_take_kernels(
    project: &Project,
    cache: Option<&RunCache>,
) -> Result<Vec<TargetedKernel>, CampaignError> {
    all_or_diagnostics(compile_each(project, cache))
}

/// One entry per kernel, in project order.
pub(crate) fn compile_each(
    project: &Project,
    cache: Option<&RunCache>,
) -> Vec<Result<TargetedKernel, CampaignError>> {
    let settings = &project.settings.value;
    let target = ProjectTarget::of_project(settings);
    let compiled = settings.kernels.par_iter().with_max_len(1).map(|kernel| {
        let compiled = compile_kernel(&project.root, settings, kernel, cache)?;
        let refused = target.refusals_of_kernel(&compiled);
        Ok(TargetedKernel::new(compiled, refused))
    });
    compiled.collect()
}

/// The kernels, or the diagnostics of all of them together.
pub fn all_or_diagnostics<K>(
    results: Vec<Result<K, CampaignError>>,
) -> Result<Vec<K>, CampaignError> {
    let mut kernels = Vec::new();
    let mut diagnostics = Vec::new();
    for result in results {
        match result {
            Ok(kernel) => kernels.push(kernel),
            Err(CampaignError::Input(found)) => diagnostics.extend(found),
            Err(other) => return Err(other),
        }
    }
    if diagnostics.is_empty() { Ok(kernels) } else { Err(CampaignError::Input(diagnostics)) }
}

/// Compiles one kernel, or takes it from a cache.
pub(crate) fn compile_kernel(
    project_root: &Path,
    project_settings: &ProjectFile,
    kernel: &ProjectKernel,
    cache: Option<&RunCache>,
) -> Result<CompiledKernel, CampaignError> {
    let name = kernel.name.as_str();
    match source_of(project_root, project_settings, kernel)? {
        Some(source) => {
            kernel::from_glsl_or_cache(name, source, MeasuredParts::SourceAndObject, cache)
        }
        None => {
            let bytes = read_bytes(&project_root.join(&kernel.source), &kernel.source)?;
            kernel::from_spirv(
                name,
                &kernel.source,
                &bytes,
                &kernel.entry,
                kernel.target_env.name(),
            )
        }
    }
}

/// The text of a kernel with everything that decides what it compiles to; none for SPIR-V.
pub fn source_of(
    project_root: &Path,
    project_settings: &ProjectFile,
    kernel: &ProjectKernel,
) -> Result<Option<KernelSource>, CampaignError> {
    let path = project_root.join(&kernel.source);
    match kernel.language {
        Language::Glsl => Ok(Some(KernelSource {
            path: kernel.source.clone(),
            text: read_text(&path, &kernel.source)?,
            include: kernel.include.iter().map(|folder| project_root.join(folder)).collect(),
            folder: path.parent().map(Path::to_owned),
            defines: kernel.defines.clone(),
            entry: kernel.entry.clone(),
            target_env: kernel.target_env.name().to_owned(),
            optimization: kernel.optimization,
            policy: project_settings.decision_policy,
            requested: requested_marks(&project_settings.required_criteria()),
        })),
        Language::Spirv => Ok(None),
    }
}

/// A module as a file holds it.
pub fn module_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
