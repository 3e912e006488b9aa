//! Kernels that do not compile, and a run that goes on without them.
//!
//! Knows: what the compiler says against each, and the files that it looked into.
//! Promises: what is set aside does not compile, and with the files that were read here in place it
//! does not compile again, with the same diagnostics; the diagnostics hold no absolute path. Where no
//! kernel compiles, where the tool failed or where something that this version does not support is in
//! the way, the run ends.
//! Does not cover: what the project is without them (`vkcert_requirement`), and what counts against
//! the result (`vkcert_derivation`).

use super::kernel::TargetedKernel;
use super::project::{all_or_diagnostics, compile_each, compile_kernel, source_of};
use crate::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_cache::RunCache;
use vkcert_glsl::{RefusedIncludes, includes_of_refused};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{SetAsideKernel, StoredDiagnostic};
use vkcert_model::id::KernelName;
use vkcert_model::project::ProjectKernel;
use vkcert_requirement::Project;
use vkcert_requirement::document::read_bytes;

/// What a kernel that does not compile does to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnBrokenKernel {
    /// The run ends.
    #[default]
    End,
    /// They are certified without it.
    SetAside,
}

/// A kernel that does not compile.
#[derive(Debug, Clone)]
pub struct BrokenKernel {
    /// Name as in the project file.
    pub name: KernelName,
    /// What is wrong with it; never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// Path of its source, relative to the project.
    pub source: String,
    /// What that file holds.
    pub source_bytes: Vec<u8>,
    /// The files that it includes, as far as they were found, by path relative to the project.
    pub included: BTreeMap<String, IncludedInput>,
}

/// A file that a kernel which does not compile includes.
#[derive(Debug, Clone)]
pub enum IncludedInput {
    /// Its text was included.
    Text(String),
    /// It is no text that can be included.
    Unreadable(Vec<u8>),
}

/// Diagnostics of this kind are of the compiler, which could not be started, and not of a kernel.
const COMPILER_NOT_STARTED: &str = "compiler";

/// Compiles the kernels; those that do not are set aside, with all that names them.
pub(crate) fn compile_what_compiles(
    project: &mut Project,
    cache: Option<&RunCache>,
) -> Result<(Vec<TargetedKernel>, Vec<BrokenKernel>), CampaignError> {
    let results = compile_each(project, cache);
    let is_of_kernel = |result: &Result<TargetedKernel, CampaignError>| match result {
        Ok(_) => true,
        Err(CampaignError::Input(found)) => {
            found.iter().all(|diagnostic| diagnostic.kind != COMPILER_NOT_STARTED)
        }
        Err(CampaignError::Tool { .. } | CampaignError::Unavailable { .. }) => false,
    };
    if !results.iter().all(is_of_kernel) || !results.iter().any(Result::is_ok) {
        return Ok((all_or_diagnostics(results)?, Vec::new()));
    }
    let (mut kernels, mut broken) = (Vec::new(), Vec::new());
    for (settings, result) in project.settings.value.kernels.iter().zip(results) {
        match result {
            Ok(kernel) => kernels.push(kernel),
            Err(CampaignError::Input(diagnostics)) => {
                broken.push(BrokenKernel::new(project, settings, diagnostics)?);
            }
            Err(other) => return Err(other),
        }
    }
    let names: BTreeSet<KernelName> = broken.iter().map(|kernel| kernel.name).collect();
    project.set_kernels_aside(&names);
    Ok((kernels, broken))
}

/// Compiles the kernels that a project is without; none in place of one that compiles, or of which
/// it cannot be told.
pub(crate) fn compile_set_aside(
    project: &Project,
) -> Result<Vec<Option<BrokenKernel>>, CampaignError> {
    let compiled_again = project.set_aside.iter().map(|row| {
        match compile_kernel(&project.root, &project.settings.value, &row.settings, None) {
            Ok(_) => Ok(None),
            Err(CampaignError::Input(diagnostics)) => {
                BrokenKernel::new(project, &row.settings, diagnostics).map(Some)
            }
            Err(other) => Err(other),
        }
    });
    compiled_again.collect()
}

impl BrokenKernel {
    fn new(
        project: &Project,
        settings: &ProjectKernel,
        diagnostics: Vec<Diagnostic>,
    ) -> Result<Self, CampaignError> {
        Ok(Self {
            name: settings.name,
            diagnostics,
            source: settings.source.clone(),
            source_bytes: read_bytes(&project.root.join(&settings.source), &settings.source)?,
            included: included_files(project, settings)?,
        })
    }

    /// What evidence tells of it; `project` is without it.
    pub fn stored(&self, project: &Project) -> SetAsideKernel {
        let own_row = project.set_aside.iter().find(|row| row.settings.name == self.name);
        SetAsideKernel {
            kernel: self.name,
            source: self.source.clone(),
            included: self.included.keys().cloned().collect(),
            tests: own_row.map(|row| row.tests.clone()).unwrap_or_default(),
            diagnostics: self.diagnostics.iter().map(StoredDiagnostic::of).collect(),
        }
    }
}

fn included_files(
    project: &Project,
    settings: &ProjectKernel,
) -> Result<BTreeMap<String, IncludedInput>, CampaignError> {
    // A source that is no text includes nothing.
    let Ok(Some(source)) = source_of(&project.root, &project.settings.value, settings) else {
        return Ok(BTreeMap::new());
    };
    let RefusedIncludes { found, unreadable } = includes_of_refused(&source).map_err(|error| {
        CampaignError::tool(format!("{}: its includes cannot be looked into: {error}", source.path))
    })?;
    let mut included: BTreeMap<String, IncludedInput> =
        found.into_iter().map(|(path, text)| (path, IncludedInput::Text(text))).collect();
    for (name, path) in unreadable {
        let bytes = read_bytes(&path, &name)?;
        included.insert(name, IncludedInput::Unreadable(bytes));
    }
    Ok(included)
}
