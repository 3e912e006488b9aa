//! `vkcert verify --project DIR`: the kernels of a project whose files are the inputs of the
//! evidence.
//!
//! Promises: every kernel is compiled once more in the project, so that each `#include` is looked
//! up there: which files it leads to must be those of the evidence, and no run there may read a
//! file that this one did not. Modules are compared if this is the program with the compiler that
//! made the evidence.

use super::other_compiler;
use crate::inputs;
use crate::kernel::{CompiledKernel, Measurement, TargetedKernel};
use crate::project::{self, module_bytes, module_file};
use crate::set_aside::{BrokenKernel, compile_set_aside};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::SourceFile;
use vkcert_requirement::Project;
use vkcert_verification::{ComparedKernels, KernelCheck, Verification};

/// What the kernels of a project with the same inputs come to.
pub(super) fn compare_project_kernels(
    stored_evidence: &Evidence,
    project_folder: &Path,
    verification: &mut Verification,
) -> KernelCheck {
    let compiled = project::load_project(project_folder).and_then(|mut project| {
        let set_aside = stored_evidence.campaign.set_aside.iter().map(|row| row.kernel).collect();
        project.set_kernels_aside(&set_aside);
        let kernels = project::compile_kernels(&project)?;
        let mut read_inputs = inputs::gather_inputs(&project, &kernels)?;
        let broken_kernels: Vec<BrokenKernel> =
            compile_set_aside(&project)?.into_iter().flatten().collect();
        inputs::add_set_aside(&mut read_inputs, &project, &broken_kernels)?;
        check_set_aside(stored_evidence, (&project, &broken_kernels), verification);
        Ok((kernels, broken_kernels.len(), read_inputs.hashes()))
    });
    let shown = project_folder.display();
    let (kernels, set_aside, read_hashes) = match compiled {
        Ok(compiled) => compiled,
        Err(failure) => {
            verification
                .problems
                .push(format!("the kernels in {shown} cannot be compiled: {}", failure.sentence()));
            return KernelCheck::NotCompared { reason: "they cannot be compiled".to_owned() };
        }
    };
    check_files_read(stored_evidence, (&kernels, &read_hashes), project_folder, verification);
    let other_compiler = other_compiler(stored_evidence);
    let mut compared =
        ComparedKernels { kernels: kernels.len(), set_aside, ..ComparedKernels::default() };
    for kernel in &kernels {
        let rows =
            || stored_evidence.kernels.iter().filter(|row| row.kernel.as_str() == kernel.name);
        let files_elsewhere = rows().find_map(|row| leads_elsewhere(row, kernel));
        compared.same_files += usize::from(files_elsewhere.is_none());
        verification.check(files_elsewhere.is_none(), || {
            format!("kernel {} in {shown}: {}", kernel.name, files_elsewhere.unwrap_or_default())
        });
        let production = sha256_digits(&module_bytes(&kernel.production));
        let is_same_module = rows().all(|row| row.modules.production == production);
        if other_compiler.is_none() {
            compared.same_modules += usize::from(is_same_module);
            verification.check(is_same_module, || {
                format!(
                    "kernel {} in {shown} compiles to another production module than that of the evidence",
                    kernel.name
                )
            });
        }
    }
    compared.other_compiler = other_compiler;
    KernelCheck::Compared(compared)
}

/// Kernels that the evidence sets aside do not compile in the project either, with the same said
/// against them where this is the compiler that made the evidence.
fn check_set_aside(
    stored_evidence: &Evidence,
    (project, broken_kernels): (&Project, &[BrokenKernel]),
    verification: &mut Verification,
) {
    let is_same_compiler = other_compiler(stored_evidence).is_none();
    for row in &stored_evidence.campaign.set_aside {
        let shown = project.root.display();
        let broken = broken_kernels.iter().find(|kernel| kernel.name == row.kernel);
        verification.check(broken.is_some(), || {
            format!("kernel {} is set aside, and it compiles in {shown}", row.kernel)
        });
        if let Some(broken) = broken.filter(|_| is_same_compiler) {
            verification.check(broken.stored(project).diagnostics == row.diagnostics, || {
                format!(
                    "kernel {} is set aside, and the compiler says something else against it in {shown}",
                    row.kernel
                )
            });
        }
    }
}

/// Files that a run in the project reads and this one did not. A production module on disk may be
/// there by now if it is what the compiler makes.
fn check_files_read(
    stored_evidence: &Evidence,
    (kernels, read_hashes): (&[TargetedKernel], &BTreeMap<String, String>),
    project_folder: &Path,
    verification: &mut Verification,
) {
    let module_hashes: BTreeMap<String, String> = kernels
        .iter()
        .map(|kernel| (module_file(&kernel.name), sha256_digits(&module_bytes(&kernel.production))))
        .collect();
    for (path, hash) in
        read_hashes.iter().filter(|(path, _)| !stored_evidence.manifest.inputs.contains_key(*path))
    {
        let shown = project_folder.display();
        match module_hashes.get(path) {
            Some(due) => verification.check(due == hash, || {
                format!("{path} is in {shown}, the run did not read it, and it is not what its kernel compiles to")
            }),
            None => verification.check(false, || format!("{path} is in {shown}, and the run did not read it")),
        }
    }
}

/// Paths of files that are not among others, each once, with commas.
fn paths_outside(files: &[SourceFile], other_files: &[SourceFile]) -> String {
    let is_other = |path: &&str| other_files.iter().all(|other_file| other_file.path != *path);
    let outside: BTreeSet<&str> =
        files.iter().map(|file| file.path.as_str()).filter(is_other).collect();
    outside.into_iter().collect::<Vec<_>>().join(", ")
}

/// How the files of a kernel differ from those that stored evidence has of it; none where they are
/// the same.
fn leads_elsewhere(kernel_row: &KernelEvidence, kernel: &CompiledKernel) -> Option<String> {
    let structure = match &kernel.measurement {
        Measurement::Markers(measured) => &measured.structure,
        Measurement::Failed { structure } => structure,
        Measurement::NoSource => return None,
    };
    let (files_before, files_now) = (&kernel_row.structure.files, &structure.files);
    let (paths_added, paths_gone) =
        (paths_outside(files_now, files_before), paths_outside(files_before, files_now));
    match (paths_added.is_empty(), paths_gone.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("its includes lead to {paths_added} besides")),
        (true, false) => Some(format!("its includes do not lead to {paths_gone}")),
        (false, false) => {
            Some(format!("its includes lead to {paths_added} instead of {paths_gone}"))
        }
    }
}
