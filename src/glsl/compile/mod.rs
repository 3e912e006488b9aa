//! The compiler: shaderc, with the options that every module is made with. Nothing else names it.
//!
//! Promises: production modules come from the untouched text; marked modules are never optimised;
//! both carry debug lines. The compiler's messages become diagnostics with file, line and source
//! span.
//! Does not cover: what the messages mean beyond a hint for the frequent ones.

mod diagnostics;

use crate::include::{IncludeForm, IncludeResolver};
use crate::marking::MarkerNames;
use crate::preprocessor::{self, PredefinedMacros};
use crate::{KernelSource, Optimization, deep_stack, marker_calls};
use diagnostics::error_diagnostics;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use vkcert_crash::{NativePart, NativeScope};
use vkcert_model::diagnostic::Diagnostic;

/// Version of the crate that builds and links the compiler.
pub(crate) const SHADERC_CRATE_VERSION: &str = "0.10.1";
/// Version of shaderc in that crate's source.
pub(crate) const SHADERC_VERSION: &str = "2025.3";
/// Version of glslang in that crate's source.
pub(crate) const GLSLANG_VERSION: &str = "15.3.0";

/// Macro definitions that a compilation starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MacroDefinitions {
    /// The kernel's own.
    OfKernel,
    /// None: the text is preprocessed already.
    None,
}

/// How the compiler gets the files that a text includes.
#[derive(Clone, Copy)]
enum IncludedFiles<'a> {
    /// The text includes nothing.
    Nothing,
    /// Files as they are.
    Exact(&'a IncludeResolver<'a>),
    /// With an end to the last line.
    LineEnded(&'a IncludeResolver<'a>),
}

/// Names of the API versions with what the compiler calls them.
const TARGET_ENVIRONMENTS: [(&str, shaderc::EnvVersion); 5] = [
    ("vulkan1.0", shaderc::EnvVersion::Vulkan1_0),
    ("vulkan1.1", shaderc::EnvVersion::Vulkan1_1),
    ("vulkan1.2", shaderc::EnvVersion::Vulkan1_2),
    ("vulkan1.3", shaderc::EnvVersion::Vulkan1_3),
    ("vulkan1.4", shaderc::EnvVersion::Vulkan1_4),
];

/// One compiler for the whole process: each first use builds the tables of built-in names anew.
fn shared_compiler() -> Result<&'static shaderc::Compiler, Box<Diagnostic>> {
    static COMPILER: OnceLock<Option<shaderc::Compiler>> = OnceLock::new();
    let started_compiler = COMPILER.get_or_init(|| shaderc::Compiler::new().ok());
    started_compiler.as_ref().ok_or_else(compiler_not_started)
}

fn compiler_not_started() -> Box<Diagnostic> {
    Box::new(Diagnostic::new("compiler", "the GLSL compiler cannot be started"))
}

fn compile_options<'a>(
    kernel: &KernelSource,
    included_files: IncludedFiles<'a>,
    defines: MacroDefinitions,
) -> Result<shaderc::CompileOptions<'a>, Box<Diagnostic>> {
    let mut options = shaderc::CompileOptions::new().map_err(|_| compiler_not_started())?;
    let target_row = TARGET_ENVIRONMENTS.iter().find(|(name, _)| *name == kernel.target_env);
    let (_, env_version) = target_row.ok_or_else(|| {
        let target_names: Vec<_> = TARGET_ENVIRONMENTS.iter().map(|(name, _)| *name).collect();
        let diagnostic =
            Diagnostic::new("usage", format!("`{}` is no target environment", kernel.target_env));
        Box::new(diagnostic.hint(format!("use one of {}", target_names.join(", "))))
    })?;
    options.set_target_env(shaderc::TargetEnv::Vulkan, *env_version as u32);
    options.set_generate_debug_info();
    if defines == MacroDefinitions::OfKernel {
        for (name, value) in &kernel.defines {
            options.add_macro_definition(name, Some(value));
        }
    }
    let includes = match included_files {
        IncludedFiles::Nothing => None,
        IncludedFiles::Exact(includes) | IncludedFiles::LineEnded(includes) => Some(includes),
    };
    if let Some(includes) = includes {
        options.set_include_callback(move |requested, kind, requesting, depth| {
            let include_form = match kind {
                shaderc::IncludeType::Relative => IncludeForm::Quoted,
                shaderc::IncludeType::Standard => IncludeForm::Angled,
            };
            let included_file = includes
                .resolve_include(requested, include_form, requesting, depth)
                .map_err(|error| error.to_string())?;
            let content = match included_files {
                IncludedFiles::Nothing | IncludedFiles::Exact(_) => included_file.text.to_string(),
                IncludedFiles::LineEnded(_) => {
                    crate::lines::line_ended(included_file.text.to_string())
                }
            };
            Ok(shaderc::ResolvedInclude { resolved_name: included_file.name.to_string(), content })
        });
    }
    Ok(options)
}

/// Refuses text that the compiler must not be given.
pub(crate) fn check_admissible(kernel: &KernelSource) -> Result<(), Box<Diagnostic>> {
    reject_nul(kernel)?;
    reject_byte_order_mark(kernel)?;
    reject_version(kernel)
}

/// The compiler takes a byte order mark for text before `#version`, and then prints to stdout,
/// where results go.
fn reject_byte_order_mark(kernel: &KernelSource) -> Result<(), Box<Diagnostic>> {
    if !kernel.text.starts_with('\u{feff}') {
        return Ok(());
    }
    let diagnostic = Diagnostic::new(
        "glsl-syntax",
        "the text begins with a byte order mark, which the compiler does not read",
    )
    .at_span(&kernel.path, kernel.text.as_str(), 0..3)
    .hint("save the file as UTF-8 without a byte order mark");
    Err(Box::new(diagnostic))
}

/// Compiles the untouched text, which must have been admitted, on memory that holds `rest` where it
/// was freed: what the compiler reads without having written it differs from one `rest` to the
/// next.
pub(crate) fn compile_production_on(
    kernel: &KernelSource,
    includes: &IncludeResolver,
    freed_byte: u8,
) -> Result<Vec<u32>, Vec<Diagnostic>> {
    fill_freed_memory(freed_byte);
    compile_production(kernel, includes, kernel.optimization)
}

/// Frees blocks full of one byte, of the sizes that the compiler asks for: its own pools and small
/// objects.
fn fill_freed_memory(freed_byte: u8) {
    const POOL_BYTES: usize = 8 << 10;
    const POOLS: usize = 192;
    const SMALL: [usize; 10] = [16, 32, 48, 64, 96, 128, 256, 512, 1024, 2048];
    let pools = (0..POOLS).map(|_| vec![freed_byte; POOL_BYTES]);
    let small_blocks = SMALL.iter().flat_map(|size| (0..64).map(move |_| vec![freed_byte; *size]));
    let blocks: Vec<Vec<u8>> = pools.chain(small_blocks).collect();
    std::hint::black_box(&blocks);
}

/// Compiles the untouched text, which must have been admitted, at a level of optimization.
pub(crate) fn compile_production(
    kernel: &KernelSource,
    includes: &IncludeResolver,
    optimization: Optimization,
) -> Result<Vec<u32>, Vec<Diagnostic>> {
    let compiled = compile_as_kernel(kernel, &kernel.text, includes, optimization)
        .map_err(|diagnostic| vec![*diagnostic])?;
    compiled.map_err(|error| error_diagnostics(kernel, includes, &error))
}

/// Compiles a text with the definitions and includes of a kernel.
fn compile_as_kernel(
    kernel: &KernelSource,
    text: &str,
    includes: &IncludeResolver,
    optimization: Optimization,
) -> Result<shaderc::Result<Vec<u32>>, Box<Diagnostic>> {
    let mut compile_options =
        compile_options(kernel, IncludedFiles::Exact(includes), MacroDefinitions::OfKernel)?;
    compile_options.set_optimization_level(optimization_level(optimization));
    Ok(compile_zeroed(shared_compiler()?, kernel, text, &compile_options))
}

/// Compiles on a stack that reads as zero: what the compiler reads there without having written it
/// is the same each time.
fn compile_zeroed(
    compiler: &shaderc::Compiler,
    kernel: &KernelSource,
    text: &str,
    options: &shaderc::CompileOptions,
) -> shaderc::Result<Vec<u32>> {
    let _inside = NativeScope::new(NativePart::Compiler, &kernel.path);
    let compilation = deep_stack::run_zeroed(|| {
        compiler.compile_into_spirv(
            text,
            shaderc::ShaderKind::Compute,
            &kernel.path,
            &kernel.entry,
            Some(options),
        )
    });
    let artifact = compilation.map_err(|error| {
        shaderc::Error::InternalError(format!("the compiler's stack cannot be cleared: {error}"))
    })??;
    Ok(artifact.as_binary().to_vec())
}

fn optimization_level(optimization: Optimization) -> shaderc::OptimizationLevel {
    match optimization {
        Optimization::Zero => shaderc::OptimizationLevel::Zero,
        Optimization::Performance => shaderc::OptimizationLevel::Performance,
        Optimization::Size => shaderc::OptimizationLevel::Size,
    }
}

fn reject_nul(kernel: &KernelSource) -> Result<(), Box<Diagnostic>> {
    let checked_names =
        [("the entry point's name", &kernel.entry), ("the file's name", &kernel.path)];
    if let Some((named_thing, _)) = checked_names.iter().find(|(_, text)| text.contains('\0')) {
        return Err(Box::new(Diagnostic::new("usage", format!("{named_thing} holds a NUL byte"))));
    }
    if kernel.defines.iter().any(|(name, value)| name.contains('\0') || value.contains('\0')) {
        let diagnostic = Diagnostic::new("usage", "a macro definition holds a NUL byte");
        return Err(Box::new(diagnostic.in_file(&kernel.path)));
    }
    match kernel.text.find('\0') {
        None => Ok(()),
        Some(nul_offset) => {
            let diagnostic = Diagnostic::new("glsl-syntax", "the text holds a NUL byte")
                .at_span(&kernel.path, kernel.text.as_str(), nul_offset..nul_offset + 1)
                .hint("GLSL source must be text; is this a binary file?");
            Err(Box::new(diagnostic))
        }
    }
}

/// Versions that have no compute shaders (GLSL 4.60, 3.3; GLSL ES 3.20, 3.4). The compiler is not
/// asked about them: for some it cannot build its own tables, and then prints to stdout, where
/// results go.
fn reject_version(kernel: &KernelSource) -> Result<(), Box<Diagnostic>> {
    let directive = preprocessor::version_directive(&kernel.text);
    let mut directive_words = directive.split_whitespace().skip(1);
    let version_number: Option<u32> = directive_words.next().and_then(|word| word.parse().ok());
    let first_with_compute = if directive_words.next() == Some("es") { 310 } else { 420 };
    let message = match version_number {
        Some(version_number) if version_number >= first_with_compute => return Ok(()),
        Some(version_number) => format!("GLSL version {version_number} has no compute shaders"),
        None if directive.is_empty() => {
            "the text does not begin with a `#version` directive".to_owned()
        }
        None => format!("`{directive}` names no version"),
    };
    let directive_start = if directive.is_empty() { None } else { kernel.text.find("version") };
    let span = directive_start.map_or(0..0, |directive_start| {
        directive_start
            ..directive_start + kernel.text[directive_start..].lines().next().map_or(0, str::len)
    });
    let diagnostic =
        Diagnostic::new("glsl-syntax", message).at_span(&kernel.path, kernel.text.as_str(), span);
    Err(Box::new(diagnostic.hint("start the file with `#version 450` (or higher)")))
}

/// Why the compiler does not accept rewritten text.
#[derive(Debug, Clone)]
pub(crate) struct RewriteError {
    /// The compiler's first message.
    pub reason: String,
    /// File and 1-based line of every message that names them.
    pub places: Vec<(String, u32)>,
}

/// Compiles text that is preprocessed already (marked, re-lined).
pub(crate) fn compile_rewritten(
    kernel: &KernelSource,
    text: &str,
    optimization: Optimization,
) -> Result<Vec<u32>, RewriteError> {
    let mut compile_options =
        compile_options(kernel, IncludedFiles::Nothing, MacroDefinitions::None)
            .map_err(not_compiled)?;
    compile_options.set_optimization_level(optimization_level(optimization));
    let compiler = shared_compiler().map_err(not_compiled)?;
    compile_zeroed(compiler, kernel, text, &compile_options).map_err(|error| rewrite_error(&error))
}

fn rewrite_error(error: &shaderc::Error) -> RewriteError {
    let message = error.to_string();
    let errors = message.lines().filter_map(|line| line.split_once("error:"));
    let places = errors.filter_map(|(place, _)| {
        let (file, line) = place.trim().trim_end_matches(':').rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    let places = places.collect();
    let error_line = message.lines().find(|line| line.contains("error:")).unwrap_or(&message);
    RewriteError {
        reason: error_line.split("error:").last().unwrap_or(error_line).trim().to_owned(),
        places,
    }
}

/// Compiles a changed text of a kernel as the kernel is compiled where it is not optimised.
pub(crate) fn compile_changed(
    kernel: &KernelSource,
    text: &str,
    includes: &IncludeResolver,
) -> Result<Vec<u32>, RewriteError> {
    let compiled = compile_as_kernel(kernel, text, includes, Optimization::Zero);
    compiled.map_err(not_compiled)?.map_err(|error| rewrite_error(&error))
}

fn not_compiled(error: Box<Diagnostic>) -> RewriteError {
    RewriteError { reason: error.to_string(), places: Vec::new() }
}

/// Compiles marked text, which is never optimised.
pub(crate) fn compile_marked(
    kernel: &KernelSource,
    text: &str,
    names: &MarkerNames,
) -> Result<Vec<u32>, RewriteError> {
    Ok(marker_calls::restore_calls(&compile_rewritten(kernel, text, Optimization::Zero)?, names))
}

/// The compiler's own preprocessed text of `text`, which is the kernel's or one with the same
/// tokens. No pragma in it may hold an operator or a string, and no string a byte that is no text
/// (see [`crate::lines::showable_text`]).
pub(crate) fn preprocess_by_compiler(
    kernel: &KernelSource,
    text: &str,
    includes: &IncludeResolver,
) -> Result<String, String> {
    let compile_options =
        compile_options(kernel, IncludedFiles::LineEnded(includes), MacroDefinitions::OfKernel)
            .map_err(|error| error.to_string())?;
    let compiler = shared_compiler().map_err(|error| error.to_string())?;
    let _inside = NativeScope::new(NativePart::Compiler, &kernel.path);
    let result = compiler.preprocess(text, &kernel.path, &kernel.entry, Some(&compile_options));
    result.map(|artifact| artifact.as_text()).map_err(|error| error.to_string())
}

/// Asks the compiler which names it defines as macros by itself: no list of ours can be out of
/// date.
pub(crate) struct CompilerMacros<'a> {
    pub kernel: &'a KernelSource,
}

impl PredefinedMacros for CompilerMacros<'_> {
    fn macro_values(
        &self,
        version: &str,
        names: BTreeSet<String>,
    ) -> BTreeMap<String, Option<String>> {
        const SIGN: &str = "vkcert_probe";
        let mut probe_text = format!("{version}\n");
        for (number, name) in names.iter().enumerate() {
            probe_text += &match name.as_str() {
                "__VERSION__" => format!("{SIGN} {number} {name}\n"),
                _ => format!("#ifdef {name}\n{SIGN} {number} {name}\n#endif\n"),
            };
        }
        let mut macro_values: BTreeMap<String, Option<String>> =
            names.into_iter().map(|name| (name, None)).collect();
        let Ok(options) =
            compile_options(self.kernel, IncludedFiles::Nothing, MacroDefinitions::None)
        else {
            return macro_values;
        };
        let Ok(compiler) = shared_compiler() else { return macro_values };
        let _inside = NativeScope::new(NativePart::Compiler, &self.kernel.path);
        let Ok(artifact) = compiler.preprocess(&probe_text, "probe", "main", Some(&options)) else {
            return macro_values;
        };
        let answer_text = crate::lexer::tokens_of(&artifact.as_text());
        for answer_tokens in answer_text.split(|token| token.is(SIGN)).skip(1) {
            let [number, value, ..] = answer_tokens else { continue };
            let index = number.text.parse::<usize>().ok();
            // Both sets are in the order of the names.
            if let Some(macro_value) = index.and_then(|index| macro_values.values_mut().nth(index))
            {
                *macro_value = Some(value.text.to_string());
            }
        }
        macro_values
    }
}

/// Identity of the pinned compiler, for evidence: versions of the sources it is built from, and the
/// SPIR-V version that the linked library itself names.
pub(crate) fn compiler_versions() -> String {
    let (version, revision) = shaderc::get_spirv_version();
    let (major, minor) = (version >> 16 & 0xff, version >> 8 & 0xff);
    format!(
        "shaderc {SHADERC_VERSION} with glslang {GLSLANG_VERSION} (crate shaderc {SHADERC_CRATE_VERSION}, built from \
         source); SPIR-V {major}.{minor} revision {revision}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_names_the_locked_crate() {
        let lock = include_str!("../../../Cargo.lock");
        for name in ["shaderc", "shaderc-sys"] {
            let entry = format!("name = \"{name}\"\nversion = \"{SHADERC_CRATE_VERSION}\"");
            assert!(
                lock.contains(&entry),
                "Cargo.lock locks another version of {name}: look up its versions again"
            );
        }
        assert!(compiler_versions().contains("SPIR-V 1."), "{}", compiler_versions());
    }
}
