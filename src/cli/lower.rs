//! `vkcert lower KERNEL`: the single-thread-equivalent sequential form.

use super::args::{Common, Lower, LoweredForm, OutputForm};
use super::failure::Failure;
use super::plan;
use super::{output, translated};
use crate::campaign::kernel::{self, Kernel, Wanted};
use crate::campaign::project;
use crate::exec::sequential;
use crate::glsl::KernelSource;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::project::{DecisionPolicy, Optimization};
use crate::requirement::document::{decode_text, read_bytes};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prints the lowering of a kernel of the project, or of a GLSL or SPIR-V file.
pub(super) fn command(common: &Common, asked: &Lower) -> Result<Exit, Failure> {
    match asked.emit {
        LoweredForm::Text => {}
        LoweredForm::Cpp => return cpp(common, asked),
    }
    let only_cpp = [("--test", asked.test.is_some()), ("--procedure", asked.procedure.is_some())];
    if let Some((option, _)) = only_cpp.iter().find(|(_, given)| *given) {
        return Err(Diagnostic::new("usage", format!("{option} needs `--emit cpp`")).into());
    }
    let path = PathBuf::from(&asked.kernel);
    let kernel = if path.is_file() { from_file(&path)? } else { from_project(asked)? };
    let lowered = sequential::lower(&kernel.module, &kernel.entry).map_err(|unsupported| {
        Failure::Unavailable { message: format!("unsupported: {unsupported}"), hint: None }
    })?;
    let text = lowered.to_string();
    match common.format {
        OutputForm::Text => output::print(&text)?,
        OutputForm::Json => {
            let document = serde_json::json!({ "schema": 1, "kernel": kernel.name, "text": text });
            output::print(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::Success)
}

/// Prints the kernel as a C++17 program.
fn cpp(common: &Common, asked: &Lower) -> Result<Exit, Failure> {
    let path = PathBuf::from(&asked.kernel);
    let program = if path.is_file() && asked.procedure.is_none() {
        if asked.test.is_some() {
            let message = "--test needs a kernel of a project or of `--procedure`";
            return Err(Diagnostic::new("usage", message).into());
        }
        let kernel = from_file(&path)?;
        let source =
            file_source(&path)?.ok_or_else(|| translated::refused(&translated::NO_SOURCE))?;
        translated::program(&kernel, &source, &BTreeMap::new(), "")?
    } else {
        let subject = translated::load(asked.procedure.as_deref().unwrap_or(&asked.project))?;
        let plan = plan::plan_of(common, "none")?;
        translated::asked_for(&subject, &plan, &asked.kernel, asked.test.as_deref())?
    };
    match common.format {
        OutputForm::Text => output::print(&program.text)?,
        OutputForm::Json => {
            let document =
                serde_json::json!({ "schema": 1, "kernel": asked.kernel, "text": program.text });
            output::print(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::Success)
}

fn from_project(asked: &Lower) -> Result<Kernel, Failure> {
    let mut loaded = project::load(&asked.project)?;
    let known: Vec<String> = loaded
        .settings
        .value
        .kernels
        .iter()
        .map(|kernel| kernel.name.as_str().to_owned())
        .collect();
    loaded.settings.value.kernels.retain(|kernel| kernel.name.as_str() == asked.kernel);
    let unknown = || {
        let diagnostic = Diagnostic::new(
            "unknown-id",
            format!("`{}` is no kernel of the project and no file", asked.kernel),
        );
        diagnostic.hint(format!("kernels: {}", known.join(", ")))
    };
    Ok(project::compile(&loaded)?.into_iter().next().ok_or_else(unknown)?)
}

fn from_file(path: &Path) -> Result<Kernel, Failure> {
    let shown = path.display().to_string();
    let name =
        path.file_stem().map_or_else(|| shown.clone(), |stem| stem.to_string_lossy().into_owned());
    match file_source(path)? {
        Some(source) => kernel::from_glsl(&name, &source, Wanted::Source),
        None => kernel::from_spirv(&name, &shown, &read_bytes(path, &shown)?, "main", "vulkan1.3"),
    }
}

/// The source that a file alone is; none for SPIR-V.
fn file_source(path: &Path) -> Result<Option<KernelSource>, Failure> {
    if path.extension().is_some_and(|extension| extension == "spv") {
        return Ok(None);
    }
    let shown = path.display().to_string();
    Ok(Some(KernelSource {
        text: decode_text(read_bytes(path, &shown)?, &shown)?,
        path: shown,
        include: Vec::new(),
        folder: path.parent().map(Path::to_owned),
        defines: BTreeMap::new(),
        entry: "main".to_owned(),
        target_env: "vulkan1.1".to_owned(),
        optimization: Optimization::Zero,
        policy: DecisionPolicy::Literal,
    }))
}
