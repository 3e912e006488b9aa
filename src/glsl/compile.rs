//! The compiler: shaderc, with the options that every module is made with. Nothing else names it.
//!
//! Promises: production modules come from the untouched text; marked modules are never optimised;
//! both carry debug lines. The compiler's messages become diagnostics with file, line and source
//! span.
//! Does not cover: what the messages mean beyond a hint for the frequent ones.

use super::include::{IncludeForm, Includes};
use super::marking::MarkerNames;
use super::preprocessor::{self, Predefined};
use super::{KernelSource, Optimization, marker_calls};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use vkcert_crash::{NativePart, NativeScope};
use vkcert_model::diagnostic::{Diagnostic, Location};
use vkcert_model::place::Position;

/// Version of the crate that builds and links the compiler.
pub(crate) const SHADERC_CRATE_VERSION: &str = "0.10.1";
/// Version of shaderc in that crate's source.
pub(crate) const SHADERC_VERSION: &str = "2025.3";
/// Version of glslang in that crate's source.
pub(crate) const GLSLANG_VERSION: &str = "15.3.0";

/// Which macro definitions a compilation starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defines {
    /// The kernel's own.
    Given,
    /// None: the text is preprocessed already.
    None,
}

/// How the compiler is given what a text includes.
#[derive(Clone, Copy)]
enum Included<'a> {
    /// The text includes nothing.
    Nothing,
    /// Files as they are.
    Exact(&'a Includes),
    /// With an end to the last line.
    LineEnded(&'a Includes),
}

/// Names of the API versions with what the compiler calls them.
const TARGETS: [(&str, shaderc::EnvVersion); 5] = [
    ("vulkan1.0", shaderc::EnvVersion::Vulkan1_0),
    ("vulkan1.1", shaderc::EnvVersion::Vulkan1_1),
    ("vulkan1.2", shaderc::EnvVersion::Vulkan1_2),
    ("vulkan1.3", shaderc::EnvVersion::Vulkan1_3),
    ("vulkan1.4", shaderc::EnvVersion::Vulkan1_4),
];

/// One compiler for the whole process: each first use builds the tables of built-in names anew.
fn compiler() -> Result<&'static shaderc::Compiler, Box<Diagnostic>> {
    static COMPILER: OnceLock<Option<shaderc::Compiler>> = OnceLock::new();
    let started_compiler = COMPILER.get_or_init(|| shaderc::Compiler::new().ok());
    started_compiler.as_ref().ok_or_else(not_started)
}

fn not_started() -> Box<Diagnostic> {
    Box::new(Diagnostic::new("compiler", "the GLSL compiler cannot be started"))
}

fn options<'a>(
    kernel: &KernelSource,
    included_files: Included<'a>,
    defines: Defines,
) -> Result<shaderc::CompileOptions<'a>, Box<Diagnostic>> {
    let mut options = shaderc::CompileOptions::new().map_err(|_| not_started())?;
    let target_row = TARGETS.iter().find(|(name, _)| *name == kernel.target_env);
    let (_, env_version) = target_row.ok_or_else(|| {
        let target_names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        let diagnostic =
            Diagnostic::new("usage", format!("`{}` is no target environment", kernel.target_env));
        Box::new(diagnostic.hint(format!("use one of {}", target_names.join(", "))))
    })?;
    options.set_target_env(shaderc::TargetEnv::Vulkan, *env_version as u32);
    options.set_generate_debug_info();
    if defines == Defines::Given {
        for (name, value) in &kernel.defines {
            options.add_macro_definition(name, Some(value));
        }
    }
    let includes = match included_files {
        Included::Nothing => None,
        Included::Exact(includes) | Included::LineEnded(includes) => Some(includes),
    };
    if let Some(includes) = includes {
        options.set_include_callback(move |requested, kind, requesting, depth| {
            let include_form = match kind {
                shaderc::IncludeType::Relative => IncludeForm::Quoted,
                shaderc::IncludeType::Standard => IncludeForm::Angled,
            };
            let included_file = includes
                .resolve(requested, include_form, requesting, depth)
                .map_err(|error| error.to_string())?;
            let content = match included_files {
                Included::Nothing | Included::Exact(_) => included_file.text.to_string(),
                Included::LineEnded(_) => super::lines::line_ended(included_file.text.to_string()),
            };
            Ok(shaderc::ResolvedInclude { resolved_name: included_file.name, content })
        });
    }
    Ok(options)
}

/// Refuses text that the compiler must not be given.
pub(crate) fn admit(kernel: &KernelSource) -> Result<(), Box<Diagnostic>> {
    reject_nul(kernel)?;
    reject_mark(kernel)?;
    reject_version(kernel)
}

/// The compiler takes a byte order mark for text before `#version`, and then prints to stdout,
/// where results go.
fn reject_mark(kernel: &KernelSource) -> Result<(), Box<Diagnostic>> {
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
pub(crate) fn production_on(
    kernel: &KernelSource,
    includes: &Includes,
    freed_byte: u8,
) -> Result<Vec<u32>, Vec<Diagnostic>> {
    leave_behind(freed_byte);
    production(kernel, includes)
}

/// Frees blocks full of one byte, of the sizes that the compiler asks for: its own pools and small
/// objects.
fn leave_behind(freed_byte: u8) {
    const POOL_BYTES: usize = 8 << 10;
    const POOLS: usize = 192;
    const SMALL: [usize; 10] = [16, 32, 48, 64, 96, 128, 256, 512, 1024, 2048];
    let pools = (0..POOLS).map(|_| vec![freed_byte; POOL_BYTES]);
    let small_blocks = SMALL.iter().flat_map(|size| (0..64).map(move |_| vec![freed_byte; *size]));
    let blocks: Vec<Vec<u8>> = pools.chain(small_blocks).collect();
    std::hint::black_box(&blocks);
}

/// Compiles the untouched text, which must have been admitted.
pub(crate) fn production(
    kernel: &KernelSource,
    includes: &Includes,
) -> Result<Vec<u32>, Vec<Diagnostic>> {
    let single_diagnostic = |diagnostic: Box<Diagnostic>| vec![*diagnostic];
    let mut compile_options =
        options(kernel, Included::Exact(includes), Defines::Given).map_err(single_diagnostic)?;
    compile_options.set_optimization_level(level(kernel.optimization));
    let _inside = NativeScope::new(NativePart::Compiler, &kernel.path);
    let result = compiler().map_err(single_diagnostic)?.compile_into_spirv(
        &kernel.text,
        shaderc::ShaderKind::Compute,
        &kernel.path,
        &kernel.entry,
        Some(&compile_options),
    );
    result
        .map(|artifact| artifact.as_binary().to_vec())
        .map_err(|error| diagnostics(kernel, includes, &error))
}

fn level(optimization: Optimization) -> shaderc::OptimizationLevel {
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
pub(crate) fn rewritten(
    kernel: &KernelSource,
    text: &str,
    optimization: Optimization,
) -> Result<Vec<u32>, RewriteError> {
    let not_compiled =
        |error: Box<Diagnostic>| RewriteError { reason: error.to_string(), places: Vec::new() };
    let mut compile_options =
        options(kernel, Included::Nothing, Defines::None).map_err(not_compiled)?;
    compile_options.set_optimization_level(level(optimization));
    let compiler = compiler().map_err(not_compiled)?;
    let _inside = NativeScope::new(NativePart::Compiler, &kernel.path);
    let result = compiler.compile_into_spirv(
        text,
        shaderc::ShaderKind::Compute,
        &kernel.path,
        &kernel.entry,
        Some(&compile_options),
    );
    result.map(|artifact| artifact.as_binary().to_vec()).map_err(|error| {
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
    })
}

/// Compiles marked text, which is never optimised.
pub(crate) fn marked(
    kernel: &KernelSource,
    text: &str,
    names: &MarkerNames,
) -> Result<Vec<u32>, RewriteError> {
    Ok(marker_calls::restore(&rewritten(kernel, text, Optimization::Zero)?, names))
}

/// The compiler's own preprocessed text of `text`, which is the kernel's or one with the same
/// tokens. No pragma in it may hold an operator or a string, and no string a byte that is no text
/// (see [`super::lines::showable`]).
pub(crate) fn preprocessed(
    kernel: &KernelSource,
    text: &str,
    includes: &Includes,
) -> Result<String, String> {
    let compile_options = options(kernel, Included::LineEnded(includes), Defines::Given)
        .map_err(|error| error.to_string())?;
    let compiler = compiler().map_err(|error| error.to_string())?;
    let _inside = NativeScope::new(NativePart::Compiler, &kernel.path);
    let result = compiler.preprocess(text, &kernel.path, &kernel.entry, Some(&compile_options));
    result.map(|artifact| artifact.as_text()).map_err(|error| error.to_string())
}

/// Asks the compiler which names it defines as macros by itself: no list of ours can be out of
/// date.
pub(crate) struct CompilerMacros<'a> {
    pub kernel: &'a KernelSource,
}

impl Predefined for CompilerMacros<'_> {
    fn values(&self, version: &str, names: &BTreeSet<String>) -> BTreeMap<String, Option<String>> {
        const SIGN: &str = "vkcert_probe";
        let mut probe_text = format!("{version}\n");
        for (number, name) in names.iter().enumerate() {
            probe_text += &match name.as_str() {
                "__VERSION__" => format!("{SIGN} {number} {name}\n"),
                _ => format!("#ifdef {name}\n{SIGN} {number} {name}\n#endif\n"),
            };
        }
        let mut macro_values: BTreeMap<String, Option<String>> =
            names.iter().map(|name| (name.clone(), None)).collect();
        let Ok(options) = options(self.kernel, Included::Nothing, Defines::None) else {
            return macro_values;
        };
        let Ok(compiler) = compiler() else { return macro_values };
        let _inside = NativeScope::new(NativePart::Compiler, &self.kernel.path);
        let Ok(artifact) = compiler.preprocess(&probe_text, "probe", "main", Some(&options)) else {
            return macro_values;
        };
        let answer_text = super::lexer::tokens_of(&artifact.as_text());
        for answer_tokens in answer_text.split(|token| token.is(SIGN)).skip(1) {
            let [number, value, ..] = answer_tokens else { continue };
            if let Some(name) =
                number.text.parse::<usize>().ok().and_then(|number| names.iter().nth(number))
            {
                macro_values.insert(name.clone(), Some(value.text.to_string()));
            }
        }
        macro_values
    }
}

/// Identity of the pinned compiler, for evidence: versions of the sources it is built from, and the
/// SPIR-V version that the linked library itself names.
pub(crate) fn identity() -> String {
    let (version, revision) = shaderc::get_spirv_version();
    let (major, minor) = (version >> 16 & 0xff, version >> 8 & 0xff);
    format!(
        "shaderc {SHADERC_VERSION} with glslang {GLSLANG_VERSION} (crate shaderc {SHADERC_CRATE_VERSION}, built from \
         source); SPIR-V {major}.{minor} revision {revision}"
    )
}

/// Turns `file:line: error: message` lines into diagnostics.
fn diagnostics(
    kernel: &KernelSource,
    includes: &Includes,
    error: &shaderc::Error,
) -> Vec<Diagnostic> {
    let message = match error {
        shaderc::Error::CompilationError(_, text)
        | shaderc::Error::InternalError(text)
        | shaderc::Error::InvalidStage(text)
        | shaderc::Error::InvalidAssembly(text)
        | shaderc::Error::NullResultObject(text)
        | shaderc::Error::InitializationError(text)
        | shaderc::Error::ParseError(text) => text.clone(),
    };
    let mut texts_by_file = includes.found();
    texts_by_file.insert(kernel.path.clone(), kernel.text.clone());
    let diagnostic_of = |line| own_fault(kernel, line).or_else(|| diagnostic(&texts_by_file, line));
    let line_diagnostics: Vec<Diagnostic> = message.lines().filter_map(diagnostic_of).collect();
    if line_diagnostics.is_empty() {
        let trimmed_message = message.trim();
        let trimmed_message = if trimmed_message.is_empty() {
            "the compiler rejects the text without saying why"
        } else {
            trimmed_message
        };
        return vec![Diagnostic::new("glsl-syntax", trimmed_message).in_file(&kernel.path)];
    }
    line_diagnostics
}

/// What the compiler says of itself: the text may be right.
fn own_fault(kernel: &KernelSource, message: &str) -> Option<Diagnostic> {
    let compiler_words = message.strip_prefix("shaderc: internal error:")?.trim();
    let diagnostic = Diagnostic::new(
        "compiler-fault",
        format!("the linked compiler failed on its own: {compiler_words}"),
    );
    let hint = match kernel.optimization {
        Optimization::Zero => "write the text otherwise; it may be right",
        Optimization::Performance | Optimization::Size => {
            "compile with `optimization = \"zero\"`; the text may be right"
        }
    };
    Some(diagnostic.in_file(&kernel.path).hint(hint))
}

fn diagnostic(texts_by_file: &BTreeMap<String, String>, message: &str) -> Option<Diagnostic> {
    let (place, message) = message.split_once("error:")?;
    let message = message.trim();
    let place = place.trim().trim_end_matches(':');
    let mut made = Diagnostic::new("glsl-syntax", message);
    made.hint = Some(hint(message));
    let Some((file, line)) =
        place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)))
    else {
        return Some(if place.is_empty() { made } else { made.in_file(place) });
    };
    let Some(text) = texts_by_file.get(file) else {
        return Some(made.at_position(file, Position { line, column: 1 }));
    };
    let line_start: usize =
        text.split_inclusive('\n').take(line as usize - usize::from(line > 0)).map(str::len).sum();
    let line_content = text[line_start..].lines().next().unwrap_or("");
    let indent = line_content.len() - line_content.trim_start().len();
    let span = line_start + indent..line_start + line_content.trim_end().len().max(indent);
    let position = Some(Position::of(text, span.start));
    made.location = Some(Location {
        file: file.to_owned(),
        text: Some(Arc::from(text.as_str())),
        span: Some(narrowed(text, span, message)),
        position,
        label: None,
    });
    if let Some(location) = &mut made.location {
        location.position = location.span.as_ref().map(|span| Position::of(text, span.start));
    }
    Some(made)
}

/// The word that the message quotes first, where the line holds it once; else the whole line.
fn narrowed(text: &str, line: std::ops::Range<usize>, message: &str) -> std::ops::Range<usize> {
    let Some(quoted_word) = message.strip_prefix('\'').and_then(|rest| rest.split('\'').next())
    else {
        return line;
    };
    let line_content = &text[line.clone()];
    let mut word_places = line_content.match_indices(quoted_word.trim());
    match (word_places.next(), word_places.next()) {
        (Some((match_start, matched_word)), None) if !matched_word.is_empty() => {
            line.start + match_start..line.start + match_start + matched_word.len()
        }
        _ => line,
    }
}

fn hint(message: &str) -> String {
    let hints = [
        (
            "undeclared identifier",
            "declare the name before its use, or check its spelling and the kernel's defines",
        ),
        ("#include", "check the file's name and the kernel's `include` folders"),
        ("extension", "enable the extension with `#extension NAME : require` below `#version`"),
        ("not supported for this version", "raise the `#version` or the kernel's `target_env`"),
        ("#version", "start the file with `#version 450` (or higher)"),
        ("unexpected", "look for a missing `;`, bracket or operator at or before this line"),
        ("no matching overloaded function", "check the number and types of the arguments"),
        ("cannot convert", "convert explicitly with a constructor such as `uint(x)`"),
        ("SPIR-V", "raise the kernel's `target_env`"),
    ];
    let matching_hint = hints.iter().find(|(part, _)| message.contains(part));
    matching_hint
        .map_or("correct the source line; the message is the compiler's own", |(_, hint)| hint)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_names_the_locked_crate() {
        let lock = include_str!("../../Cargo.lock");
        for name in ["shaderc", "shaderc-sys"] {
            let entry = format!("name = \"{name}\"\nversion = \"{SHADERC_CRATE_VERSION}\"");
            assert!(
                lock.contains(&entry),
                "Cargo.lock locks another version of {name}: look up its versions again"
            );
        }
        assert!(identity().contains("SPIR-V 1."), "{}", identity());
    }
}
