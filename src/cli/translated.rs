//! Kernels as C++ programs: their sources, and the data of a test in them.

use super::failure::Failure;
use super::run;
use crate::campaign::configuration;
use crate::campaign::engines::EngineSettings;
use crate::campaign::execution::{self, TestBench};
use crate::campaign::kernel::{CompiledKernel, Kernel};
use crate::campaign::plan::RunPlan;
use crate::campaign::profile::ProjectTarget;
use crate::campaign::project;
use crate::campaign::test_run::PreparedTest;
use crate::dissimilar::{interface, job};
use crate::glsl::KernelSource;
use crate::glsl::cpp::{self, CppProgram};
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
use std::sync::Arc;

/// Why a kernel that came as SPIR-V has no program.
pub(super) const NO_SOURCE: &str = "a kernel without GLSL source";

/// Kernels with their tests, of a project or of a procedure file.
pub(super) struct TranslationSubject {
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
    target: ProjectTarget,
    counted: CountedTests,
}

/// Which tests count for coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedTests {
    /// Those that passed.
    Passed,
    /// Those that passed and show a requirement.
    RequirementBased,
}

/// Reads and compiles a project (a folder) or a procedure file.
pub(super) fn load_subject(path: &Path) -> Result<TranslationSubject, Failure> {
    if path.is_dir() { subject_of_project(path) } else { subject_of_file(path) }
}

fn subject_of_project(path: &Path) -> Result<TranslationSubject, Failure> {
    let loaded = project::load_project(path)?;
    let kernels = configuration::configure_kernels(&loaded, project::compile_kernels(&loaded)?)?;
    let settings = loaded.settings.value;
    let mut sources = BTreeMap::new();
    for kernel in &settings.kernels {
        let source = project::source_of(&loaded.root, &settings, kernel)?;
        sources.extend(source.map(|source| (kernel.name.to_string(), source)));
    }
    let target = ProjectTarget::of_project(&settings);
    Ok(TranslationSubject {
        kernels,
        sources,
        engines: settings.engines,
        settings: EngineSettings {
            memory_model: settings.memory_model,
            validation: settings.validation,
            robustness: settings.robustness,
            repeat: settings.repeat,
            replay: None,
        },
        base: loaded.root,
        limits: settings.limits,
        contraction: settings.contraction,
        target,
        counted: CountedTests::RequirementBased,
        tests: loaded.tests,
    })
}

fn subject_of_file(path: &Path) -> Result<TranslationSubject, Failure> {
    let procedure_file = requirement::load_procedure(path)?;
    let kernels = run::compile_kernels(&procedure_file)?;
    let mut sources = BTreeMap::new();
    for (name, kernel) in &procedure_file.procedure.value.kernels {
        let source = run::source_of(name.as_str(), kernel, &procedure_file.base)?;
        sources.extend(source.map(|source| (name.to_string(), source)));
    }
    Ok(TranslationSubject {
        kernels,
        sources,
        engines: None,
        settings: EngineSettings::default(),
        base: procedure_file.base,
        limits: ProjectLimits::default(),
        contraction: Contraction::Forbidden,
        target: ProjectTarget::Vulkan,
        counted: CountedTests::Passed,
        tests: procedure_file.tests,
    })
}

impl TranslationSubject {
    /// Checks and lays out every test.
    pub(super) fn prepare_tests(&self, plan: &RunPlan) -> Result<Vec<PreparedTest<'_>>, Failure> {
        let bench = TestBench {
            kernels: &self.kernels,
            base: &self.base,
            limits: self.limits,
            contraction: self.contraction,
            target: self.target.clone(),
            schedules: Schedules::default(),
            replay: None,
            metrics: &[],
        };
        execution::prepare_tests(&self.tests, &bench, plan)
    }

    /// Whether what a test recorded counts.
    pub(super) fn counts_for_coverage(
        &self,
        verdict: Verdict,
        requirements: &[RequirementId],
    ) -> bool {
        match self.counted {
            CountedTests::Passed => verdict == Verdict::Pass,
            CountedTests::RequirementBased => verdict == Verdict::Pass && !requirements.is_empty(),
        }
    }

    pub(super) fn kernel_named(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// The failure of a command on a kernel or test that cannot be translated.
pub(super) fn unsupported_failure(unsupported_construct: &impl std::fmt::Display) -> Failure {
    Failure::Unavailable { message: format!("unsupported: {unsupported_construct}"), hint: None }
}

/// The program of a kernel under one specialization.
///
/// # Errors
/// The construct that is not supported.
pub(super) fn translate_kernel(
    kernel: &CompiledKernel,
    source: &KernelSource,
    specialization: &configuration::Specialization,
    job: &str,
) -> Result<CppProgram, String> {
    let module = configuration::kernel_for_preparing(kernel).module;
    let interface = interface::kernel_interface(&module, &kernel.entry, specialization)?;
    cpp::emit_program(source, &interface, job).map_err(|unsupported| unsupported.to_string())
}

/// As [`translate_kernel`], for a command.
pub(super) fn translated_program(
    kernel: &CompiledKernel,
    source: &KernelSource,
    specialization: &configuration::Specialization,
    job: &str,
) -> Result<CppProgram, Failure> {
    translate_kernel(kernel, source, specialization, job)
        .map_err(|unsupported_construct| unsupported_failure(&unsupported_construct))
}

/// What `lower --emit cpp` prints of a kernel by name.
pub(super) fn program_for_test(
    subject: &TranslationSubject,
    plan: &RunPlan,
    name: &str,
    test: Option<&str>,
) -> Result<CppProgram, Failure> {
    let unknown_name = |hint_subject: &str, hint: Vec<&str>| {
        let diagnostic = Diagnostic::new("unknown-id", hint_subject.to_owned());
        Failure::from(diagnostic.hint(format!("known are: {}", hint.join(", "))))
    };
    let Some(kernel) = subject.kernel_named(name) else {
        let known_names = subject.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        return Err(unknown_name(
            &format!("`{name}` is no kernel of the project and no file"),
            known_names,
        ));
    };
    let source = subject.sources.get(name).ok_or_else(|| unsupported_failure(&NO_SOURCE))?;
    let Some(test) = test else {
        return translated_program(kernel, source, &default_specialization(kernel), "");
    };
    let prepared = subject.prepare_tests(plan)?;
    let Some(prepared_test) = prepared.iter().find(|prepared| prepared.test.id.as_str() == test)
    else {
        let known_names = prepared.iter().map(|prepared| prepared.test.id.as_str()).collect();
        return Err(unknown_name(&format!("no test is named `{test}`"), known_names));
    };
    let laid_out_test = prepared_test.job_plan.as_ref().map_err(unsupported_failure)?;
    let [module_use] = laid_out_test.modules.as_slice() else {
        return Err(unsupported_failure(&format!(
            "the data of {test} in one program: it runs several kernels or specializations"
        )));
    };
    if module_use.kernel.as_str() != name {
        return Err(unknown_name(
            &format!("`{test}` does not run `{name}`"),
            vec![module_use.kernel.as_str()],
        ));
    }
    let contents: Vec<_> =
        laid_out_test.job.buffers.iter().map(|buffer| Arc::clone(&buffer.bytes)).collect();
    let dispatches = 0..laid_out_test.job.dispatches.len();
    let job = job::job_text(&laid_out_test.job, dispatches, &contents, job::SUBGROUP_SIZE)
        .map_err(|hint_subject| unsupported_failure(&hint_subject))?;
    translated_program(kernel, source, &module_use.specialization, &job)
}

/// The specialization of a kernel's only configuration, else the module's defaults.
fn default_specialization(kernel: &Kernel) -> configuration::Specialization {
    match kernel.configurations.as_slice() {
        [only_configuration] => only_configuration.specialization.clone(),
        _ => BTreeMap::new(),
    }
}

/// The name of a configuration, as reports have it.
pub(super) fn configuration_named(
    kernel: &Kernel,
    specialization: &configuration::Specialization,
) -> Result<Configuration, Failure> {
    let declared_configuration = kernel
        .configurations
        .iter()
        .find(|known_configuration| known_configuration.specialization == *specialization);
    match declared_configuration {
        Some(known_configuration) => Ok(known_configuration.configuration.clone()),
        None => Ok(configuration::configuration_under(kernel, specialization, None)?.configuration),
    }
}
