//! `vkcert build`: the production modules, into `spirv/`.

use super::args::{Common, OutputForm, ProjectFolder};
use super::failure::Failure;
use super::output;
use crate::campaign::project;
use crate::campaign::project::module_bytes;
use crate::model::canonical::sha256_digits;
use crate::model::exit::Exit;
use crate::model::procedure::Language;
use std::fs;

/// Compiles every GLSL kernel and writes its production module; modules that are there already and
/// equal stay untouched. What the profile refuses is written and told, with the exit code of what
/// is unsupported.
pub(super) fn command(common: &Common, folder: &ProjectFolder) -> Result<Exit, Failure> {
    let loaded = project::load(&folder.dir)?;
    let kernels = project::compile(&loaded)?;
    let modules = loaded.root.join(project::MODULES);
    fs::create_dir_all(&modules).map_err(|error| Failure::unwritable(&modules, &error))?;
    let mut rows = Vec::new();
    let mut exit = Exit::Success;
    for (kernel, settings) in kernels.iter().zip(&loaded.settings.value.kernels) {
        if !kernel.refused.is_empty() {
            exit = exit.and(Exit::Unavailable);
        }
        if settings.language == Language::Spirv {
            for reason in &kernel.refused {
                super::output::tell(format_args!("refused: kernel `{}`: {reason}\n", kernel.name));
            }
            continue;
        }
        let file = project::module_file(&kernel.name);
        let path = loaded.root.join(&file);
        let bytes = module_bytes(&kernel.production);
        let state = match fs::read(&path) {
            Ok(old) if old == bytes => "unchanged",
            Ok(_) => "replaced",
            Err(_) => "new",
        };
        if state != "unchanged" {
            output::write_file(&path, &bytes)?;
        }
        rows.push((
            kernel.name.clone(),
            file,
            state,
            bytes.len(),
            sha256_digits(&bytes),
            &kernel.refused,
        ));
    }
    match common.format {
        OutputForm::Json => {
            let modules: Vec<_> = rows
                .iter()
                .map(|(kernel, file, state, bytes, hash, refused)| {
                    serde_json::json!({
                        "kernel": kernel, "file": file, "state": state, "bytes": bytes, "sha256": hash, "refused": refused,
                    })
                })
                .collect();
            output::print(&format!(
                "{:#}\n",
                serde_json::json!({ "schema": 1, "modules": modules })
            ))?;
        }
        OutputForm::Text => {
            let lines: String = rows
                .iter()
                .map(|(_, file, state, bytes, hash, refused)| {
                    let refused: String =
                        refused.iter().map(|reason| format!("    refused: {reason}\n")).collect();
                    format!("{file}  {bytes} bytes  sha256 {}  {state}\n{refused}", &hash[..16])
                })
                .collect();
            output::print(&lines)?;
        }
    }
    Ok(exit)
}
