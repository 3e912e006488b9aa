//! GLSL front end: source text to structure and to two SPIR-V modules, plain and marked.
//!
//! The way of a kernel: `compile` makes the production module from the untouched text (what it
//! rejects is a diagnostic); `preprocessor` makes tokens with origin and they are compared with the
//! compiler's own; `parser` makes an untyped tree; `outline` and `decisions` describe it; `marking`
//! writes the marked text, which `compile` compiles again.
//!
//! Promises: what the compiler accepts never fails here. Where this front end cannot follow, the
//! result says so: [`Accuracy::LinesOnly`], decisions that are [`Recording::Unmarked`] with a
//! reason, and notes for the report.
//! Does not cover: types of arithmetic expressions; whether a function is reached (the module
//! tells).

#![cfg_attr(not(feature = "compiler"), allow(dead_code))]

#[cfg(feature = "compiler")]
mod compile;
mod conditional;
#[cfg(feature = "compiler")]
pub mod cpp;
mod decisions;
mod demand;
#[cfg(feature = "compiler")]
mod digests;
mod folding;
mod include;
#[cfg(feature = "compiler")]
mod isolate;
#[cfg(feature = "compiler")]
mod kernel;
mod lexer;
mod lines;
mod macros;
#[cfg(feature = "compiler")]
mod marker_calls;
mod marking;
#[cfg(feature = "compiler")]
pub mod mutation;
mod names;
mod narrow;
mod outline;
mod parser;
#[cfg(feature = "compiler")]
mod positions;
mod preprocessor;
mod reference;
mod semantics;
mod syntax;
mod token;
mod unread;
mod value_types;

use preprocessor::PredefinedMacros;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
#[cfg(feature = "compiler")]
use std::sync::Arc;
use vkcert_deep_stack as deep_stack;
use vkcert_model::structure::{Decision, KernelStructure, RequestedMark};

pub use decisions::collapse_spaces;
pub use include::{IncludeLookup, finds_the_same};
#[cfg(feature = "compiler")]
pub use kernel::{
    PositionsWanted, RefusedIncludes, compile, compile_with, compiler_identity, includes_of_refused,
};
#[cfg(feature = "compiler")]
pub use positions::{StoredPositions, TokenPlace, TokenPositions};
pub use reference::reference_alignments;
pub use vkcert_model::project::{DecisionPolicy, Optimization};

/// A kernel's source and everything that decides what it compiles to.
#[derive(Debug, Clone)]
pub struct KernelSource {
    /// Path as reports show it (relative to the project).
    pub path: String,
    /// The text of the main file.
    pub text: String,
    /// Folders searched by `#include "..."` and `<...>` after the source file's own folder.
    pub include: Vec<PathBuf>,
    /// Folder of the source file, for relative includes; none: text without a file.
    pub folder: Option<PathBuf>,
    /// Macros defined before the first line, with their values.
    pub defines: BTreeMap<String, String>,
    /// Name of the entry point.
    pub entry: String,
    /// `vulkan1.0` ... `vulkan1.4`.
    pub target_env: String,
    /// `zero`, `performance` or `size`.
    pub optimization: Optimization,
    /// Which Boolean expressions are decisions.
    pub policy: DecisionPolicy,
    /// What is marked beyond what every kernel is marked for.
    pub requested: BTreeSet<RequestedMark>,
}

impl KernelSource {
    /// A text by itself: no file, nothing included or defined, entry point `main`, not optimised.
    pub fn alone(path: impl Into<String>, text: impl Into<String>, target_env: &str) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            include: Vec::new(),
            folder: None,
            defines: BTreeMap::new(),
            entry: "main".to_owned(),
            target_env: target_env.to_owned(),
            optimization: Optimization::Zero,
            policy: DecisionPolicy::Literal,
            requested: BTreeSet::new(),
        }
    }
}

/// What the front end makes of a kernel.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// Functions, statements, decisions and conditions with their places.
    pub structure: KernelStructure,
    /// SPIR-V of the untouched source, with debug lines.
    pub production: Vec<u32>,
    /// SPIR-V of the marked source (never optimised), with debug lines.
    pub marked: Vec<u32>,
    /// Where production's instructions come from.
    #[cfg(feature = "compiler")]
    pub positions: Arc<TokenPositions>,
    /// SHA-256 of the preprocessed text: of its tokens alone, whatever stands between them.
    pub text: String,
    /// Files read by `#include`, project-relative path to text.
    pub included: BTreeMap<String, String>,
    /// How its directives were resolved; none where one led to no file.
    pub lookups: Option<Vec<IncludeLookup>>,
    /// Remarks for the report (line accuracy only, decisions left unmarked and why).
    pub notes: Vec<String>,
}

/// Whether `name` is a built-in function without side effects, or the constructor of a built-in
/// type.
pub fn is_pure_function(name: &str) -> bool {
    names::is_pure_built_in(name)
}

/// What can be said of text alone, without asking the compiler whether it is GLSL.
#[derive(Debug, Clone)]
pub struct TextOutline {
    /// Decisions in source order.
    pub decisions: Vec<Decision>,
    /// The preprocessed text with all its markers.
    pub marked: String,
    /// What could not be read, and why.
    pub notes: Vec<String>,
}

/// Reads text as the front end does, but without the compiler: no macro is predefined, no file
/// included. For tests of robustness; any text has an outline or is refused with the reason.
pub fn outline_of_text(text: &str) -> Result<TextOutline, String> {
    deep_stack::run_deep(|| outline_here(text)).map_err(|error| error.to_string())?
}

fn outline_here(text: &str) -> Result<TextOutline, String> {
    let kernel = KernelSource {
        path: "text.comp".to_owned(),
        text: String::new(),
        include: Vec::new(),
        folder: None,
        defines: BTreeMap::new(),
        entry: "main".to_owned(),
        target_env: "vulkan1.3".to_owned(),
        optimization: Optimization::Zero,
        policy: DecisionPolicy::Literal,
        requested: BTreeSet::new(),
    };
    let includes = include::IncludeResolver::new(&kernel);
    let own_unit =
        preprocessor::preprocess(&kernel.path, text, &kernel.defines, &includes, &NoneDefined);
    let (unit, mut notes) = match own_unit {
        Ok(unit) => (unit, Vec::new()),
        Err(error) if error.cause == preprocessor::FailureCause::Limit => {
            return Err(error.to_string());
        }
        Err(error) => {
            let texts = BTreeMap::from([(kernel.path.as_str(), text)]);
            (lines::unit_of_preprocessed(text, &kernel.path, &texts), vec![error.to_string()])
        }
    };
    let items = parser::parse_unit(&unit.tokens);
    let outline = outline::outline_unit(&unit, &items, kernel.policy, &kernel.requested);
    notes.extend(outline.notes);
    let marker_names = marking::MarkerNames::unused_in(&unit.tokens);
    let marked_text =
        marking::render_marked(&unit, &outline.placements, &BTreeSet::new(), &marker_names);
    Ok(TextOutline { decisions: outline.decisions, marked: marked_text.text, notes })
}

/// No macro is predefined.
struct NoneDefined;

impl PredefinedMacros for NoneDefined {
    fn macro_values(
        &self,
        _version: &str,
        names: BTreeSet<String>,
    ) -> BTreeMap<String, Option<String>> {
        names.into_iter().map(|name| (name, None)).collect()
    }
}
