//! `vkcert lower KERNEL`: the single-thread-equivalent sequential form.

use super::args::{Common, Lower, LoweredForm, OutputForm};
use super::failure::Failure;
use super::plan;
use super::{output, translated};
use crate::campaign::kernel::{self, CompiledKernel, MeasuredParts};
use crate::campaign::project;
use crate::exec::sequential;
use crate::glsl::KernelSource;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::project::{DecisionPolicy, Optimization};
use crate::requirement::document::{decode_text, read_bytes};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Prints the lowering of a kernel of the project, or of a GLSL or SPIR-V file.
pub(super) fn lower_kernel(common: &Common, lower_arguments: &Lower) -> Result<Exit, Failure> {
    match lower_arguments.emit {
        LoweredForm::Text => {}
        LoweredForm::Cpp => return lower_to_cpp(common, lower_arguments),
    }
    let cpp_options = [
        ("--test", lower_arguments.test.is_some()),
        ("--procedure", lower_arguments.procedure.is_some()),
    ];
    if let Some((option, _)) = cpp_options.iter().find(|(_, is_given)| *is_given) {
        return Err(Diagnostic::new("usage", format!("{option} needs `--emit cpp`")).into());
    }
    let kernel_path = PathBuf::from(&lower_arguments.kernel);
    let kernel = if kernel_path.is_file() {
        kernel_from_file(&kernel_path)?
    } else {
        kernel_from_project(lower_arguments)?
    };
    let lowered =
        sequential::lower_kernel(&kernel.module, &kernel.entry).map_err(|unsupported| {
            Failure::Unavailable { message: format!("unsupported: {unsupported}"), hint: None }
        })?;
    let text = lowered.to_string();
    match common.form() {
        OutputForm::Text => output::print_text(&text)?,
        OutputForm::Json => {
            let document = serde_json::json!({ "schema": 1, "kernel": kernel.name, "text": text });
            output::print_text(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::Success)
}

/// Prints the kernel as a C++17 program.
fn lower_to_cpp(common: &Common, lower_arguments: &Lower) -> Result<Exit, Failure> {
    let kernel_path = PathBuf::from(&lower_arguments.kernel);
    let cpp_program = if kernel_path.is_file() && lower_arguments.procedure.is_none() {
        if lower_arguments.test.is_some() {
            let message = "--test needs a kernel of a project or of `--procedure`";
            return Err(Diagnostic::new("usage", message).into());
        }
        let kernel = kernel_from_file(&kernel_path)?;
        let source = source_of_file(&kernel_path)?
            .ok_or_else(|| translated::unsupported_failure(&translated::NO_SOURCE))?;
        translated::translated_program(&kernel, &source, &BTreeMap::new(), "")?
    } else {
        let subject = translated::load_subject(
            lower_arguments.procedure.as_deref().unwrap_or(&lower_arguments.project),
        )?;
        let plan = plan::plan_of(common, "none")?;
        translated::program_for_test(
            &subject,
            &plan,
            &lower_arguments.kernel,
            lower_arguments.test.as_deref(),
        )?
    };
    match common.form() {
        OutputForm::Text => output::print_text(&cpp_program.text)?,
        OutputForm::Json => {
            let document = serde_json::json!({ "schema": 1, "kernel": lower_arguments.kernel, "text": cpp_program.text });
            output::print_text(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::Success)
}

fn kernel_from_project(lower_arguments: &Lower) -> Result<CompiledKernel, Failure> {
    let mut loaded = project::load_project(&lower_arguments.project)?;
    let kernel_names: Vec<String> = loaded
        .settings
        .value
        .kernels
        .iter()
        .map(|kernel| kernel.name.as_str().to_owned())
        .collect();
    loaded.settings.value.kernels.retain(|kernel| kernel.name.as_str() == lower_arguments.kernel);
    let unknown_kernel = || {
        let diagnostic = Diagnostic::new(
            "unknown-id",
            format!("`{}` is no kernel of the project and no file", lower_arguments.kernel),
        );
        diagnostic.hint(format!("kernels: {}", kernel_names.join(", ")))
    };
    let kernel =
        project::compile_kernels(&loaded)?.into_iter().next().ok_or_else(unknown_kernel)?;
    Ok(kernel.into_compiled())
}

fn kernel_from_file(path: &Path) -> Result<CompiledKernel, Failure> {
    let shown_path = path.display().to_string();
    let kernel_name =
        path.file_stem().map_or(Cow::Borrowed(shown_path.as_str()), |stem| stem.to_string_lossy());
    match source_of_file(path)? {
        Some(source) => kernel::from_glsl(&kernel_name, source, MeasuredParts::Source),
        None => kernel::from_spirv(
            &kernel_name,
            &shown_path,
            &read_bytes(path, &shown_path)?,
            "main",
            "vulkan1.3",
        ),
    }
}

/// The source that a file alone is; none for SPIR-V.
fn source_of_file(path: &Path) -> Result<Option<KernelSource>, Failure> {
    if path.extension().is_some_and(|extension| extension == "spv") {
        return Ok(None);
    }
    let shown_path = path.display().to_string();
    Ok(Some(KernelSource {
        text: decode_text(read_bytes(path, &shown_path)?, &shown_path)?,
        path: shown_path,
        include: Vec::new(),
        folder: path.parent().map(Path::to_owned),
        defines: BTreeMap::new(),
        entry: "main".to_owned(),
        target_env: "vulkan1.1".to_owned(),
        optimization: Optimization::Zero,
        policy: DecisionPolicy::Literal,
        requested: BTreeSet::new(),
    }))
}
