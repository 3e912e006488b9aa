//! `vkcert build`: the production modules, into `spirv/`.

use super::args::{Common, OutputForm, ProjectFolder};
use super::failure::Failure;
use super::output;
use crate::campaign::project;
use crate::campaign::project::module_bytes;
use crate::model::canonical::sha256_digits;
use crate::model::exit::Exit;
use crate::model::procedure::Language;
use serde::Serialize;
use std::fs;

/// Compiles every GLSL kernel and writes its production module; modules that are there already and
/// equal stay untouched. What the profile refuses is written and told, with the exit code of what
/// is unsupported.
pub(super) fn build_modules(common: &Common, folder: &ProjectFolder) -> Result<Exit, Failure> {
    let loaded = project::load_project(&folder.dir)?;
    let kernels = project::compile_kernels(&loaded)?;
    let modules = loaded.root.join(project::MODULES);
    fs::create_dir_all(&modules).map_err(|error| Failure::unwritable(&modules, &error))?;
    let mut built_modules = Vec::new();
    let mut exit_status = Exit::Success;
    for (kernel, settings) in kernels.iter().zip(&loaded.settings.value.kernels) {
        if !kernel.refused.is_empty() {
            exit_status = exit_status.and(Exit::Unavailable);
        }
        if settings.language == Language::Spirv {
            for reason in &kernel.refused {
                super::output::print_to_stderr(format_args!(
                    "refused: kernel `{}`: {reason}\n",
                    kernel.name
                ));
            }
            continue;
        }
        let file = project::module_file(&kernel.name);
        let path = loaded.root.join(&file);
        let bytes = module_bytes(&kernel.production);
        let state = match fs::read(&path) {
            Ok(old_bytes) if old_bytes == bytes => "unchanged",
            Ok(_) => "replaced",
            Err(_) => "new",
        };
        if state != "unchanged" {
            output::write_file(&path, &bytes)?;
        }
        built_modules.push(BuiltModule {
            kernel: &kernel.name,
            file,
            state,
            bytes: bytes.len(),
            sha256: sha256_digits(&bytes),
            refused: &kernel.refused,
        });
    }
    match common.form() {
        OutputForm::Json => {
            let document = serde_json::json!({ "schema": 1, "modules": built_modules });
            output::print_text(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => {
            let lines: String = built_modules.iter().map(BuiltModule::in_words).collect();
            output::print_text(&lines)?;
        }
    }
    Ok(exit_status)
}

/// A production module as the result of the command names it.
#[derive(Serialize)]
struct BuiltModule<'a> {
    kernel: &'a str,
    file: String,
    /// `new`, `replaced` or `unchanged`.
    state: &'static str,
    bytes: usize,
    sha256: String,
    /// Why the profile refuses the kernel; empty where it does not.
    refused: &'a [String],
}

impl BuiltModule<'_> {
    fn in_words(&self) -> String {
        let Self { file, state, bytes, sha256, refused, .. } = self;
        let refused: String =
            refused.iter().map(|reason| format!("    refused: {reason}\n")).collect();
        format!("{file}  {bytes} bytes  sha256 {}  {state}\n{refused}", &sha256[..16])
    }
}
