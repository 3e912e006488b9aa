//! `vkcert verify --project DIR`: the kernels of a project whose files are the inputs of the
//! evidence.
//!
//! Promises: every kernel is compiled once more in the project, so that each `#include` is looked
//! up there: which files it leads to must be those of the evidence, and no run there may read a
//! file that this one did not. Modules are compared if this is the program with the compiler that
//! made the evidence.

use super::{other_compiler, told};
use crate::inputs;
use crate::kernel::{CompiledKernel, Measurement, TargetedKernel};
use crate::project::{self, module_bytes, module_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::SourceFile;
use vkcert_verification::{ComparedKernels, KernelCheck, Verification};

/// What the kernels of a project with the same inputs come to.
pub(super) fn compare(stored: &Evidence, folder: &Path, found: &mut Verification) -> KernelCheck {
    let compiled = project::load(folder).and_then(|project| {
        let kernels = project::compile(&project)?;
        let read = inputs::gather(&project, &kernels)?.hashes();
        Ok((kernels, read))
    });
    let shown = folder.display();
    let (kernels, read) = match compiled {
        Ok(compiled) => compiled,
        Err(failure) => {
            found
                .problems
                .push(format!("the kernels in {shown} cannot be compiled: {}", told(&failure)));
            return KernelCheck::NotCompared { reason: "they cannot be compiled".to_owned() };
        }
    };
    unread(stored, (&kernels, &read), folder, found);
    let other_compiler = other_compiler(stored);
    let mut compared = ComparedKernels { kernels: kernels.len(), ..ComparedKernels::default() };
    for kernel in &kernels {
        let rows = || stored.kernels.iter().filter(|row| row.kernel.as_str() == kernel.name);
        let leads = rows().find_map(|row| leads_elsewhere(row, kernel));
        compared.same_files += usize::from(leads.is_none());
        found.check(leads.is_none(), || {
            format!("kernel {} in {shown}: {}", kernel.name, leads.unwrap_or_default())
        });
        let production = sha256_digits(&module_bytes(&kernel.production));
        let same = rows().all(|row| row.modules.production == production);
        if other_compiler.is_none() {
            compared.same_modules += usize::from(same);
            found.check(same, || {
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

/// Files that a run in the project reads and this one did not. A production module on disk may be
/// there by now if it is what the compiler makes.
fn unread(
    stored: &Evidence,
    (kernels, read): (&[TargetedKernel], &BTreeMap<String, String>),
    folder: &Path,
    found: &mut Verification,
) {
    let modules: BTreeMap<String, String> = kernels
        .iter()
        .map(|kernel| (module_file(&kernel.name), sha256_digits(&module_bytes(&kernel.production))))
        .collect();
    for (path, hash) in read.iter().filter(|(path, _)| !stored.manifest.inputs.contains_key(*path))
    {
        let shown = folder.display();
        match modules.get(path) {
            Some(due) => found.check(due == hash, || {
                format!("{path} is in {shown}, the run did not read it, and it is not what its kernel compiles to")
            }),
            None => found.check(false, || format!("{path} is in {shown}, and the run did not read it")),
        }
    }
}

/// How the files of a kernel differ from those that stored evidence has of it; none where they are
/// the same.
fn leads_elsewhere(row: &KernelEvidence, kernel: &CompiledKernel) -> Option<String> {
    let structure = match &kernel.measurement {
        Measurement::Markers(measured) => &measured.structure,
        Measurement::Failed { structure } => structure,
        Measurement::NoSource => return None,
    };
    let paths = |files: &[SourceFile]| -> BTreeSet<String> {
        files.iter().map(|file| file.path.clone()).collect()
    };
    let (before, now) = (paths(&row.structure.files), paths(&structure.files));
    let list =
        |paths: &mut dyn Iterator<Item = &String>| paths.cloned().collect::<Vec<_>>().join(", ");
    let (more, gone) = (list(&mut now.difference(&before)), list(&mut before.difference(&now)));
    match (more.is_empty(), gone.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("its includes lead to {more} besides")),
        (true, false) => Some(format!("its includes do not lead to {gone}")),
        (false, false) => Some(format!("its includes lead to {more} instead of {gone}")),
    }
}
