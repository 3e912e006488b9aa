//! GLSL front end (stub).

use crate::model::diagnostic::Diagnostic;
use crate::model::structure::KernelStructure;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which Boolean expressions are decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionPolicy {
    /// Every Boolean expression (CAST-10).
    #[default]
    Literal,
    /// Those that direct control flow.
    ControlFlow,
}

/// A kernel's source and everything that decides what it compiles to.
#[derive(Debug, Clone)]
pub struct KernelSource {
    /// Path as reports show it (relative to the project).
    pub path: String,
    pub text: String,
    /// Folders searched by `#include "..."` and `<...>` after the source file's own folder.
    pub include: Vec<PathBuf>,
    /// Folder of the source file, for relative includes; none: text without a file.
    pub folder: Option<PathBuf>,
    pub defines: BTreeMap<String, String>,
    pub entry: String,
    /// `vulkan1.0` ... `vulkan1.4`.
    pub target_env: String,
    /// `zero`, `performance` or `size`.
    pub optimization: Optimization,
    pub policy: DecisionPolicy,
}

/// Optimisation level of the compiler for production modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Optimization {
    #[default]
    Zero,
    Performance,
    Size,
}

/// What the front end makes of a kernel.
#[derive(Debug, Clone)]
pub struct Compiled {
    pub structure: KernelStructure,
    /// SPIR-V of the untouched source, with debug lines.
    pub production: Vec<u32>,
    /// SPIR-V of the marked source (never optimised), with debug lines.
    pub marked: Vec<u32>,
    /// Files read by `#include`, project-relative path to text.
    pub included: BTreeMap<String, String>,
    /// Remarks for the report (line accuracy only, decisions left unmarked and why).
    pub notes: Vec<String>,
}

/// Compiles a kernel twice and describes its structure.
pub fn compile(_kernel: &KernelSource) -> Result<Compiled, Vec<Diagnostic>> {
    unimplemented!("front end")
}

/// Identity of the pinned compiler, for evidence.
pub fn compiler_identity() -> String {
    unimplemented!("front end")
}
