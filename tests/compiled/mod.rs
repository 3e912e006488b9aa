//! Kernels of test procedures compiled with the real compiler, for tests of what stands behind the
//! front end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use vkcert::exec::ModuleRecording;
use vkcert::exec::prepare::{PreparedKernel, Setting};
use vkcert::model::finding::Checks;
use vkcert::model::id::KernelName;
use vkcert::model::procedure::{KernelText, TestLimits};
use vkcert::model::project::ProjectLimits;
use vkcert::requirement::ProcedureFile;
use vkcert::spirv::module::Module;

static LIMITS: LazyLock<ProjectLimits> = LazyLock::new(ProjectLimits::default);

/// Compiles GLSL text, each text once.
pub(crate) fn module(text: &str) -> Arc<Module> {
    static COMPILED: Mutex<BTreeMap<String, Arc<Module>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap();
    compiled.entry(text.to_owned()).or_insert_with(|| compile(text)).clone()
}

fn compile(text: &str) -> Arc<Module> {
    let compiler = shaderc::Compiler::new().unwrap();
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_1 as u32);
    let artifact = compiler
        .compile_into_spirv(text, shaderc::ShaderKind::Compute, "test.comp", "main", Some(&options))
        .unwrap_or_else(|error| panic!("{error}"));
    Arc::new(Module::parse(artifact.as_binary().to_vec()).unwrap())
}

/// The GLSL kernels of a procedure.
pub(crate) fn kernels(procedure: &ProcedureFile) -> BTreeMap<KernelName, PreparedKernel> {
    let compiled = procedure.procedure.kernels.iter().map(|(name, kernel)| {
        let text = match &kernel.source {
            KernelText::Path(path) => std::fs::read_to_string(procedure.base.join(path)).unwrap(),
            KernelText::Contents(contents) => contents.text.clone().unwrap(),
        };
        let prepared = PreparedKernel {
            entry: kernel.entry.clone(),
            module: module(&text),
            recording: ModuleRecording::None,
        };
        (*name, prepared)
    });
    compiled.collect()
}

/// Default limits, all checks.
pub(crate) fn setting<'a>(
    kernels: &'a BTreeMap<KernelName, PreparedKernel>,
    base: &'a Path,
) -> Setting<'a> {
    Setting {
        kernels,
        base,
        limits: &LIMITS,
        overrides: TestLimits::default(),
        checks: Checks::all(),
    }
}
