//! What is proved and what is refuted, against the demonstration kernels and against runs.

mod contradictions;
mod demonstration;
mod images;
mod large;
mod pairs;
mod random;
mod ways;

use crate::{Coupling, CouplingInput, KernelFlow, TestUse, analyse_coupling};
use std::collections::BTreeMap;
use vkcert_exec::{ExecError, Executor, Job, Run, Unobserved};
use vkcert_model::evidence::{CheckStatus, CouplingCheck};
use vkcert_model::project::MemoryModel;
use vkcert_model::requirement::Interface;
use vkcert_sequential::SequentialExecutor;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::module::Module;

/// A run on the sequential engine.
pub(crate) fn run_job(job: &Job, memory_model: MemoryModel) -> Result<Run, ExecError> {
    let mut engine = SequentialExecutor::default();
    engine.settings.memory_model = memory_model;
    engine.run(job, &mut Unobserved)
}

/// The rows of `index-bounds` of a module with its host.
fn bounds_rows(module: &Module, interface: &Interface) -> Vec<CouplingCheck> {
    coupled_rows(module, interface, &[], "index-bounds")
}

/// The rows of one check of a module with its host.
pub(crate) fn rows_of_check(
    module: &Module,
    interface: &Interface,
    check_name: &str,
) -> Vec<CouplingCheck> {
    coupled_rows(module, interface, &[], check_name)
}

/// The same where tests use the kernel.
fn coupled_rows(
    module: &Module,
    interface: &Interface,
    tests: &[TestUse],
    check_name: &str,
) -> Vec<CouplingCheck> {
    let by_default = Reflection::of_entry_point(module, "main", &BTreeMap::new()).unwrap();
    let specialization = crate::host_constants(interface, &by_default.specialization);
    let reflection = Reflection::of_entry_point(module, "main", &specialization).unwrap();
    let flow = KernelFlow::of_production(module, "main", &specialization).unwrap();
    let place = vkcert_model::place::Place::default();
    let barriers = crate::kernel_barriers(module, &reflection);
    let input = CouplingInput {
        interface,
        stated: crate::StatedStructs { interface, place: &place, readings: &[] },
        pipelines: &[],
        earlier: &[],
        captures: &[],
        module,
        reflection: &reflection,
        structure: None,
        flow: &flow,
        barriers: &barriers,
        tests,
        device: None,
        replay: Some(run_job),
        memory_model: MemoryModel::Idiom,
    };
    let Coupling { checks, .. } = analyse_coupling(&input).unwrap();
    checks.into_iter().filter(|row| row.check.as_str() == check_name).collect()
}

/// The module of a GLSL text, as the compiler leaves it.
pub(crate) fn compiled(text: &str) -> Module {
    let compiler = shaderc::Compiler::new().unwrap();
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_generate_debug_info();
    let kind = shaderc::ShaderKind::Compute;
    let artifact = compiler.compile_into_spirv(text, kind, "k.comp", "main", Some(&options));
    let artifact = artifact.unwrap_or_else(|error| panic!("{error}\n{text}"));
    Module::parse(artifact.as_binary().to_vec()).unwrap()
}

/// Access places by what is said of them.
fn counted(rows: &[CouplingCheck]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(row.status.to_string()).or_default() += row.accesses.unwrap_or(0);
    }
    counts
}

fn is_open(row: &CouplingCheck) -> bool {
    row.status != CheckStatus::Holds
}
