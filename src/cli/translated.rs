//! Kernels as C++ programs: what they are made from, and the data of a test in them.

use super::failure::Failure;
use super::run;
use crate::campaign::configuration;
use crate::campaign::engines::EngineSettings;
use crate::campaign::execution::{self, Bench};
use crate::campaign::kernel::Kernel;
use crate::campaign::plan::Plan;
use crate::campaign::profile::Target;
use crate::campaign::project;
use crate::campaign::test_run::PreparedTest;
use crate::dissimilar::{interface, job};
use crate::glsl::KernelSource;
use crate::glsl::cpp::{self, Program};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::Configuration;
use crate::model::id::RequirementId;
use crate::model::procedure::Test;
use crate::model::project::{Contraction, ProjectLimits};
use crate::model::schedule::Schedules;
use crate::model::verdict::{EngineName, Verdict};
use crate::requirement::{self, Located};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why a kernel that came as SPIR-V has no program.
pub(super) const NO_SOURCE: &str = "a kernel without GLSL source";

/// Kernels with their tests, of a project or of a procedure file.
pub(super) struct Subject {
    pub kernels: Vec<Kernel>,
    /// By kernel; kernels without source are left out.
    pub sources: BTreeMap<String, KernelSource>,
    pub tests: Vec<Located<Test>>,
    /// Engines that the project asks for.
    pub engines: Option<Vec<EngineName>>,
    pub settings: EngineSettings,
    base: PathBuf,
    limits: ProjectLimits,
    contraction: Contraction,
    target: Target,
    counted: Counted,
}

/// Which tests count for coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Those that passed.
    Passed,
    /// Those that passed and show a requirement.
    RequirementBased,
}

/// Reads and compiles a project (a folder) or a procedure file.
pub(super) fn load(path: &Path) -> Result<Subject, Failure> {
    if path.is_dir() { of_project(path) } else { of_file(path) }
}

fn of_project(path: &Path) -> Result<Subject, Failure> {
    let loaded = project::load(path)?;
    let mut kernels = project::compile(&loaded)?;
    configuration::configure(&loaded, &mut kernels)?;
    let settings = &loaded.settings.value;
    let mut sources = BTreeMap::new();
    for kernel in &settings.kernels {
        let source = project::source_of(&loaded.root, settings, kernel)?;
        sources.extend(source.map(|source| (kernel.name.to_string(), source)));
    }
    Ok(Subject {
        kernels,
        sources,
        engines: settings.engines.clone(),
        settings: EngineSettings {
            memory_model: settings.memory_model,
            validation: settings.validation,
            robustness: settings.robustness,
            repeat: settings.repeat,
            replay: None,
        },
        base: loaded.root.clone(),
        limits: settings.limits,
        contraction: settings.contraction,
        target: Target::of(settings),
        counted: Counted::RequirementBased,
        tests: loaded.tests,
    })
}

fn of_file(path: &Path) -> Result<Subject, Failure> {
    let file = requirement::load_procedure(path)?;
    let kernels = run::compile(&file)?;
    let mut sources = BTreeMap::new();
    for (name, kernel) in &file.procedure.value.kernels {
        let source = run::source_of(name.as_str(), kernel, &file.base)?;
        sources.extend(source.map(|source| (name.to_string(), source)));
    }
    Ok(Subject {
        kernels,
        sources,
        engines: None,
        settings: EngineSettings::default(),
        base: file.base,
        limits: ProjectLimits::default(),
        contraction: Contraction::Forbidden,
        target: Target::Vulkan,
        counted: Counted::Passed,
        tests: file.tests,
    })
}

impl Subject {
    /// Checks and lays out every test.
    pub(super) fn prepare(&self, plan: &Plan) -> Result<Vec<PreparedTest<'_>>, Failure> {
        let bench = Bench {
            kernels: &self.kernels,
            base: &self.base,
            limits: self.limits,
            contraction: self.contraction,
            target: self.target.clone(),
            schedules: Schedules::default(),
            replay: None,
        };
        execution::prepare_tests(&self.tests, &bench, plan)
    }

    /// Whether what a test recorded counts.
    pub(super) fn counts(&self, verdict: Verdict, requirements: &[RequirementId]) -> bool {
        match self.counted {
            Counted::Passed => verdict == Verdict::Pass,
            Counted::RequirementBased => verdict == Verdict::Pass && !requirements.is_empty(),
        }
    }

    pub(super) fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// What cannot be translated, as the end of a command.
pub(super) fn refused(what: &impl std::fmt::Display) -> Failure {
    Failure::Unavailable { message: format!("unsupported: {what}"), hint: None }
}

/// The program of a kernel under one specialization, or what stands in its way.
pub(super) fn translate(
    kernel: &Kernel,
    source: &KernelSource,
    specialization: &configuration::Specialization,
    job: &str,
) -> Result<Program, String> {
    let module = configuration::prepared(kernel).module;
    let interface = interface::interface(&module, &kernel.entry, specialization)?;
    cpp::emit(source, &interface, job).map_err(|unsupported| unsupported.to_string())
}

/// As [`translate`], for a command.
pub(super) fn program(
    kernel: &Kernel,
    source: &KernelSource,
    specialization: &configuration::Specialization,
    job: &str,
) -> Result<Program, Failure> {
    translate(kernel, source, specialization, job).map_err(|what| refused(&what))
}

/// What `lower --emit cpp` prints of a kernel by name.
pub(super) fn asked_for(
    subject: &Subject,
    plan: &Plan,
    name: &str,
    test: Option<&str>,
) -> Result<Program, Failure> {
    let unknown = |what: &str, hint: Vec<&str>| {
        let diagnostic = Diagnostic::new("unknown-id", what.to_owned());
        Failure::from(diagnostic.hint(format!("known are: {}", hint.join(", "))))
    };
    let Some(kernel) = subject.kernel(name) else {
        let known = subject.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        return Err(unknown(&format!("`{name}` is no kernel of the project and no file"), known));
    };
    let source = subject.sources.get(name).ok_or_else(|| refused(&NO_SOURCE))?;
    let Some(test) = test else { return program(kernel, source, &default_of(kernel), "") };
    let prepared = subject.prepare(plan)?;
    let Some(found) = prepared.iter().find(|prepared| prepared.test.id.as_str() == test) else {
        let known = prepared.iter().map(|prepared| prepared.test.id.as_str()).collect();
        return Err(unknown(&format!("no test is named `{test}`"), known));
    };
    let laid_out = found.plan.as_ref().map_err(refused)?;
    let [used] = laid_out.modules.as_slice() else {
        return Err(refused(&format!(
            "the data of {test} in one program: it runs several kernels or specializations"
        )));
    };
    if used.kernel.as_str() != name {
        return Err(unknown(
            &format!("`{test}` does not run `{name}`"),
            vec![used.kernel.as_str()],
        ));
    }
    let contents: Vec<_> = laid_out.job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
    let dispatches = 0..laid_out.job.dispatches.len();
    let job = job::text(&laid_out.job, dispatches, &contents, job::SUBGROUP_SIZE)
        .map_err(|what| refused(&what))?;
    program(kernel, source, &used.specialization, &job)
}

/// The specialization of a kernel's only configuration, else the module's defaults.
fn default_of(kernel: &Kernel) -> configuration::Specialization {
    match kernel.configurations.as_slice() {
        [only] => only.specialization.clone(),
        _ => BTreeMap::new(),
    }
}

/// The name of a configuration, as reports have it.
pub(super) fn configuration_name(
    kernel: &Kernel,
    specialization: &configuration::Specialization,
) -> Result<Configuration, Failure> {
    let declared =
        kernel.configurations.iter().find(|known| known.specialization == *specialization);
    match declared {
        Some(known) => Ok(known.configuration.clone()),
        None => Ok(configuration::under(kernel, specialization, None)?.configuration),
    }
}
