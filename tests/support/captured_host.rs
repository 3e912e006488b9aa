//! Host programs in C that tests capture: built here, run on the device of this machine.

use crate::support::{root, write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds `tests/capture/NAME.c`; in words why it cannot be built.
pub(crate) fn built_program(folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let program = folder.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror"]).args(flags).arg("-o").arg(&program);
    compiler.arg(root().join(format!("tests/capture/{name}.c"))).arg("-lvulkan");
    completed(&mut compiler).map(|_| program)
}

/// Compiles `tests/capture/NAME.comp`.
pub(crate) fn built_kernel(folder: &Path, name: &str) -> PathBuf {
    let file = format!("{name}.comp");
    let text = std::fs::read_to_string(root().join("tests/capture").join(&file)).unwrap();
    let (kind, compiler) = (shaderc::ShaderKind::Compute, shaderc::Compiler::new().unwrap());
    let module = compiler.compile_into_spirv(&text, kind, &file, "main", None).unwrap();
    write(folder, &format!("{name}.spv"), module.as_binary_u8())
}

/// Runs a command that has to succeed; in words why it does not.
pub(crate) fn completed(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(output),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// What was built; none where it cannot be built or run and nobody demands it, which is told.
pub(crate) fn unless_missing<T>(built: &Result<T, String>) -> Option<&T> {
    match built {
        Ok(built) => Some(built),
        Err(missing) => {
            assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "{missing}");
            eprintln!("NOT RUN: {missing}");
            None
        }
    }
}
