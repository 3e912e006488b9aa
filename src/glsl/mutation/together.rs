//! Mutants of function bodies, compiled together: each as a copy of its function.
//!
//! Knows: that every compilation reads the compiler's tables of built-in names anew, which costs as much as
//! the text of a kernel; that a function of SPIR-V stands for itself, so that a copy can be put in the place
//! of the function that it is a copy of; that the compiler leaves out what nothing calls, so that an entry point
//! of its own calls the kernel's and each copy.
//! Promises: what comes out is what the mutant's own text is compiled to, but for the numbers of ids, names,
//! the text of the source in debug information, and declarations and functions that nothing uses. To that end a
//! copy is the function's text as it is written, with the mutant's change of its body, right behind the function,
//! where macros, extensions and declarations are the same. What else a function could change is looked for
//! ([`Eligibility`]), as is what the compiler declares of the module as a whole.
//! Everything else is compiled by itself ([`super::compile_alone`]), as is what the compiler refuses.
//! Does not cover: functions of included files; optimised modules, in which a function stands for nothing by
//! itself.

mod extraction;

use super::{MutatedKernel, NotCompiled, SourceEdit, SourceMutant, compile_alone};
use crate::compile as compiler;
use crate::include::IncludeResolver;
use crate::marking::unused_beginning;
use crate::preprocessor::TranslationUnit;
use crate::syntax::{Declaration, FileLevelItem, FunctionDefinition, ParameterSyntax};
use crate::token::{FrameId, Token};
use crate::{KernelSource, Optimization, deep_stack};
use extraction::{ModuleParts, module_declarations};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use vkcert_model::place::FileIndex;

/// Rounds of leaving out what the compiler refuses: an error can hide others.
const MOST_ROUNDS: usize = 3;

/// The file with the entry point.
const MAIN_FILE: FileIndex = FileIndex(0);

const PRECISE: &str = "precise";

/// The entry point's name in GLSL.
const ENTRY: &str = "main";

/// Begins what stands behind the path of a file in a copy.
const MARK: &str = "<copy ";

/// The functions of a kernel of which copies can be compiled.
#[derive(Debug)]
pub(super) struct CopiedFunctions {
    functions: Vec<FunctionText>,
    /// What the compiler declares of the kernel's module as a whole; none where it refuses the text.
    declarations: OnceLock<Option<Vec<u32>>>,
    /// Names of functions and macros: a change that brings one in may make a function call itself, which the compiler
    /// does not see of a copy.
    called_names: BTreeSet<String>,
    /// Names of what functions share.
    shared_names: BTreeSet<String>,
    /// Begins the names of copies; no word of the text begins so.
    copy_name: String,
}

/// Shared by the clones of a kernel with its mutants.
pub(super) type SharedFunctions = Option<Arc<CopiedFunctions>>;

/// Where a function is written, in bytes of the main file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FunctionText {
    name: String,
    whole: Range<usize>,
    name_bytes: Range<usize>,
    /// Between the braces.
    body: Range<usize>,
    first_line: u32,
    last_line: u32,
    /// Types of its parameters.
    parameters: Vec<String>,
    /// Whether something in it is precise.
    is_precise: bool,
}

impl CopiedFunctions {
    /// None of a text in which no function has copies.
    pub(super) fn of_unit(unit: &TranslationUnit, items: &[FileLevelItem]) -> Option<Self> {
        let eligibility = Eligibility { unit, items };
        if !eligibility.is_text_eligible() {
            return None;
        }
        let functions = items.iter().filter_map(|item| match item {
            FileLevelItem::Function(function) => eligibility.text_of(function),
            FileLevelItem::Declaration(_)
            | FileLevelItem::Prototype { .. }
            | FileLevelItem::Unread { .. } => None,
        });
        let functions: Vec<FunctionText> = functions.collect();
        functions.iter().find(|function| function.name == ENTRY)?;
        let words = unit.files.iter().flat_map(|file| words_of(&file.text));
        let words: BTreeSet<&str> =
            words.chain(unit.tokens.iter().map(|token| &*token.text)).collect();
        let copy_name = unused_beginning("vkcert_copy", &words);
        let called_names = eligibility.called_names();
        let shared_names = eligibility.shared_names();
        let declarations = OnceLock::new();
        Some(Self { functions, declarations, called_names, shared_names, copy_name })
    }

    fn name_of_copy(&self, index: usize) -> String {
        format!("{}_{index}_", self.copy_name)
    }

    /// What the kernel's entry point is called among the copies.
    fn kernel_name(&self) -> String {
        format!("{}_kernel_", self.copy_name)
    }

    /// What the compiler declares of the kernel's module as a whole.
    fn declarations(&self, kernel: &KernelSource) -> Option<&[u32]> {
        let declarations = self.declarations.get_or_init(|| {
            let includes = IncludeResolver::new(kernel);
            let words = compiler::compile_changed(kernel, &kernel.text, &includes).ok()?;
            Some(module_declarations(&words))
        });
        declarations.as_deref()
    }

    /// The function whose body a mutant changes, and nothing else.
    fn changed_function(&self, mutant: &SourceMutant) -> Option<usize> {
        let contains = |function: &FunctionText| {
            mutant.edits.iter().all(|edit| {
                let (start, end) = (edit.span.start as usize, edit.span.end as usize);
                edit.span.file == MAIN_FILE
                    && function.body.start <= start
                    && end <= function.body.end
            })
        };
        self.functions.iter().position(contains)
    }
}

/// Compiles mutants, each as [`compile_alone`] does.
///
/// # Errors
/// Of each, as [`NotCompiled`] has them.
pub fn compile_mutants(
    kernel: &KernelSource,
    mutated: &MutatedKernel,
    mutants: &[&SourceMutant],
) -> Vec<Result<Vec<u32>, NotCompiled>> {
    let mut compiled = match (&mutated.functions, kernel.optimization) {
        (Some(functions), Optimization::Zero) => {
            let together = Together { kernel, functions };
            deep_stack::run_deep(|| together.compile(mutants)).unwrap_or_default()
        }
        (None, _) | (_, Optimization::Performance | Optimization::Size) => BTreeMap::new(),
    };
    let rows = mutants.iter().enumerate();
    rows.map(|(index, mutant)| match compiled.remove(&index) {
        Some(words) => Ok(words),
        None => compile_alone(kernel, mutated, mutant),
    })
    .collect()
}

/// Mutants of a kernel on their way through one compilation.
struct Together<'a> {
    kernel: &'a KernelSource,
    functions: &'a CopiedFunctions,
}

/// A function as a mutant has it.
struct FunctionCopy {
    /// Place of the function among those that have copies.
    function: usize,
    /// The copy under its own name, with the lines of the mutant's text.
    text: String,
}

impl Together<'_> {
    /// Modules by index of the mutant, of those that can be compiled together.
    fn compile(&self, mutants: &[&SourceMutant]) -> BTreeMap<usize, Vec<u32>> {
        let copies = mutants.iter().enumerate();
        let mut copies: BTreeMap<usize, FunctionCopy> = copies
            .filter_map(|(index, mutant)| Some((index, self.copy_of(index, mutant)?)))
            .collect();
        // One alone has nothing to share.
        if copies.len() < 2 {
            return BTreeMap::new();
        }
        let includes = IncludeResolver::new(self.kernel);
        for _ in 0..MOST_ROUNDS {
            let Some(text) = self.text(&copies) else { break };
            match compiler::compile_changed(self.kernel, &text, &includes) {
                Ok(words) => return self.modules_of(&words, &copies),
                Err(error) => {
                    let files = error.places.iter().map(|(file, _)| file);
                    let refused: BTreeSet<usize> =
                        files.filter_map(|file| index_of_mark(file)).collect();
                    let count = copies.len();
                    copies.retain(|index, _| !refused.contains(index));
                    if copies.len() == count {
                        break;
                    }
                }
            }
        }
        BTreeMap::new()
    }

    fn modules_of(
        &self,
        words: &[u32],
        copies: &BTreeMap<usize, FunctionCopy>,
    ) -> BTreeMap<usize, Vec<u32>> {
        let declarations = self.functions.declarations(self.kernel);
        let is_as_declared = declarations == Some(&*module_declarations(words));
        let parts = is_as_declared.then(|| ModuleParts::of_module(words)).flatten();
        let Some(parts) = parts else { return BTreeMap::new() };
        let modules = copies.iter().filter_map(|(index, copy)| {
            let bodies = BTreeMap::from([
                (ENTRY.to_owned(), self.functions.kernel_name()),
                (
                    self.functions.functions[copy.function].name.clone(),
                    self.functions.name_of_copy(*index),
                ),
            ]);
            Some((*index, parts.with_bodies(&bodies, &mark_of(*index))?))
        });
        modules.collect()
    }

    /// The copy of the function whose body a mutant changes; none where the change is more than that.
    fn copy_of(&self, index: usize, mutant: &SourceMutant) -> Option<FunctionCopy> {
        let text = &self.kernel.text;
        let is_change = |edit: &SourceEdit| {
            text.get(edit.span.start as usize..edit.span.end as usize) != Some(&edit.text)
        };
        let brings_in_call = |edit: &SourceEdit| {
            words_of(&edit.text).any(|word| self.functions.called_names.contains(word))
        };
        let place = self.functions.changed_function(mutant)?;
        let function = &self.functions.functions[place];
        let carries_precise = |edit: &SourceEdit| {
            words_of(&edit.text).any(|word| {
                word == PRECISE || function.is_precise && self.functions.shared_names.contains(word)
            })
        };
        let makes_others = |edit: &SourceEdit| brings_in_call(edit) || carries_precise(edit);
        if !mutant.edits.iter().any(is_change) || mutant.edits.iter().any(makes_others) {
            return None;
        }
        let mut copy = self.line_directive(function.first_line, &mark_of(index));
        copy.push_str(text.get(function.whole.start..function.name_bytes.start)?);
        copy.push_str(&self.functions.name_of_copy(index));
        let mut written = function.name_bytes.end;
        for edit in &mutant.edits {
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            copy.push_str(text.get(written..start)?);
            let (before, behind) = (copy.chars().next_back()?, text.get(end..)?.chars().next()?);
            if touches_comment(&format!("{before}{}{behind}", edit.text)) {
                return None;
            }
            copy.push_str(&edit.text);
            written = end;
        }
        copy.push_str(text.get(written..function.whole.end)?);
        Some(FunctionCopy { function: place, text: copy })
    }

    fn line_directive(&self, line: u32, mark: &str) -> String {
        format!("\n#line {line} \"{}{mark}\"\n", self.kernel.path)
    }

    /// The kernel's text with copies behind their functions, and an entry point that calls all of them.
    fn text(&self, copies: &BTreeMap<usize, FunctionCopy>) -> Option<String> {
        let source = &self.kernel.text;
        let mut calls = String::new();
        let (mut text, mut written) = (String::new(), 0);
        for (place, function) in self.functions.functions.iter().enumerate() {
            if function.name == ENTRY {
                text.push_str(source.get(written..function.name_bytes.start)?);
                text.push_str(&self.functions.kernel_name());
                written = function.name_bytes.end;
            }
            text.push_str(source.get(written..function.whole.end)?);
            written = function.whole.end;
            for (index, copy) in copies.iter().filter(|(_, copy)| copy.function == place) {
                text.push_str(&copy.text);
                calls.push_str(&self.call_text(function, &self.functions.name_of_copy(*index)));
            }
            text.push_str(&self.line_directive(function.last_line, ""));
        }
        text.push_str(source.get(written..)?);
        text.push_str(&self.line_directive(1, ""));
        let kernel = self.functions.kernel_name();
        text.push_str(&format!("void {ENTRY}() {{ {kernel}(); {calls}}}\n"));
        Some(text)
    }

    /// A call of a function with variables of its parameters' types.
    fn call_text(&self, function: &FunctionText, name: &str) -> String {
        let variable = |place: usize| format!("{}_{place}", self.functions.copy_name);
        let variables = function.parameters.iter().enumerate();
        let declarations: String = variables
            .map(|(place, type_name)| format!("{type_name} {}; ", variable(place)))
            .collect();
        let arguments: Vec<String> = (0..function.parameters.len()).map(variable).collect();
        format!("{{ {declarations}{name}({}); }} ", arguments.join(", "))
    }
}

/// What stands behind the path of the file in a copy, so that messages and lines tell whose they are.
fn mark_of(index: usize) -> String {
    format!("{MARK}{index}>")
}

/// The mutant on whose copy the compiler's message is.
fn index_of_mark(file: &str) -> Option<usize> {
    let (_, mark) = file.rsplit_once(MARK)?;
    mark.trim_end_matches('>').parse().ok()
}

/// Whether a comment could begin or end in a text, or a line go on.
fn touches_comment(text: &str) -> bool {
    ["//", "/*", "*/", "\\"].iter().any(|sign| text.contains(sign))
}

/// The words of a text: runs of letters and digits.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_break = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    text.split(is_break).filter(|word| !word.is_empty())
}

/// Whether copies of functions mean in a text what the functions mean.
struct Eligibility<'u> {
    unit: &'u TranslationUnit,
    items: &'u [FileLevelItem],
}

impl Eligibility<'_> {
    fn is_text_eligible(&self) -> bool {
        let is_read = |item: &FileLevelItem| !matches!(item, FileLevelItem::Unread { .. });
        // Of a module or of its entry point.
        let is_of_whole = |token: &Token| {
            token.text.starts_with("spirv_")
                || token.text.starts_with("maximally_reconverges")
                || token.text.starts_with("subgroup_uniform_control_flow")
        };
        let is_macro = |word: &str| self.unit.macro_names.contains(word);
        self.items.iter().all(is_read)
            && !self.unit.tokens.iter().any(is_of_whole)
            && self.keeps_precise_to_functions()
            && self.unit.files.iter().all(|file| has_fixed_lines(&file.text))
            // The greatest index that any function has would be its size.
            && !self.declarations().any(has_size_of_use)
            // The entry point sets what is declared with a value.
            && !self.declarations().any(has_initial_value)
            // The entry point behind the text is written with these.
            && !["void", ENTRY].into_iter().any(is_macro)
    }

    /// Whether nothing precise makes something so in another function, which it does through what they share (GLSL 4.60, 4.9:
    /// what is assigned to a precise variable, and what that is computed from).
    fn keeps_precise_to_functions(&self) -> bool {
        let shared = self.shared_names();
        let mut precise_in_functions = 0;
        for item in self.items {
            let FileLevelItem::Function(function) = item else { continue };
            let tokens = &self.unit.tokens[function.first..=function.last];
            let count = tokens.iter().filter(|token| token.is(PRECISE)).count();
            if count > 0 && tokens.iter().any(|token| shared.contains(&*token.text)) {
                return false;
            }
            precise_in_functions += count;
        }
        precise_in_functions == self.unit.tokens.iter().filter(|token| token.is(PRECISE)).count()
    }

    /// Names of variables and members that are declared beside functions.
    fn shared_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut open: Vec<&Declaration> = self.declarations().collect();
        while let Some(declaration) = open.pop() {
            let declarators = declaration.declarators.iter();
            names.extend(declarators.map(|own| self.unit.tokens[own.name].text.to_string()));
            open.extend(&declaration.declared.members);
        }
        names
    }

    /// Names of functions and macros.
    fn called_names(&self) -> BTreeSet<String> {
        let names = self.items.iter().filter_map(|item| match item {
            FileLevelItem::Function(function) => Some(function.name),
            FileLevelItem::Prototype { name, .. } => Some(*name),
            FileLevelItem::Declaration(_) | FileLevelItem::Unread { .. } => None,
        });
        let names = names.map(|token| self.unit.tokens[token].text.to_string());
        names.chain(self.unit.macro_names.iter().map(ToString::to_string)).collect()
    }

    /// None of a function that has no copies.
    fn text_of(&self, function: &FunctionDefinition) -> Option<FunctionText> {
        let tokens = &self.unit.tokens;
        let name = &tokens[function.name];
        let is_namesake = |item: &&FileLevelItem| match item {
            FileLevelItem::Function(other) => tokens[other.name].text == name.text,
            FileLevelItem::Declaration(_)
            | FileLevelItem::Prototype { .. }
            | FileLevelItem::Unread { .. } => false,
        };
        let is_only_one = self.items.iter().filter(is_namesake).count() == 1;
        let marks = [function.first, function.name, function.open, function.last];
        let is_written = marks.iter().all(|token| {
            let token = &tokens[*token];
            token.origin == FrameId::FILE
                && token.span.file == MAIN_FILE
                && token.line_file == MAIN_FILE
        });
        let bytes = |token: &Token| token.span.start as usize..token.span.end as usize;
        let (first, last) = (&tokens[function.first], &tokens[function.last]);
        let whole = bytes(first).start..bytes(last).end;
        let written = self.unit.files.first()?.text.get(whole.clone())?;
        if !is_only_one || !is_written || written.contains('#') {
            return None;
        }
        let parameters = function.parameters.iter().map(|parameter| self.variable_type(parameter));
        Some(FunctionText {
            name: name.text.to_string(),
            whole,
            name_bytes: bytes(name),
            body: bytes(&tokens[function.open]).end..bytes(last).start,
            first_line: first.line,
            last_line: last.line,
            parameters: parameters.collect::<Option<Vec<String>>>()?,
            is_precise: tokens[function.first..=function.last]
                .iter()
                .any(|token| token.is(PRECISE)),
        })
    }

    /// The type of a variable that a parameter takes; none where there are no such variables, or the type is
    /// more than a name.
    fn variable_type(&self, parameter: &ParameterSyntax) -> Option<String> {
        const OPAQUE: [&str; 6] =
            ["image", "sampler", "texture", "subpass", "accelerationStructure", "atomic_uint"];
        let declared = &parameter.declared;
        let name = &self.unit.tokens[declared.name?].text;
        let is_plain = declared.sizes.is_empty()
            && parameter.sizes.is_empty()
            && declared.template.is_empty()
            && !declared.has_body
            && !self.unit.macro_names.contains(name)
            && !OPAQUE.iter().any(|opaque| name.contains(opaque));
        is_plain.then(|| name.to_string())
    }

    fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.items.iter().filter_map(|item| match item {
            FileLevelItem::Declaration(declaration) => Some(declaration),
            FileLevelItem::Function(_)
            | FileLevelItem::Prototype { .. }
            | FileLevelItem::Unread { .. } => None,
        })
    }
}

/// Whether nothing in a text asks for lines and files or gives them other numbers, so that lines can be put in; and
/// no string in it looks like a copy's file.
fn has_fixed_lines(text: &str) -> bool {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let numbers_lines = |line: &str| {
        line.split_once('#').is_some_and(|(_, directive)| {
            directive.trim_start().starts_with("/*")
                || words_of(directive).any(|word| word == "line")
        })
    };
    !["__LINE__", "__FILE__", "##", MARK].iter().any(|sign| joined.contains(sign))
        && !joined.lines().any(numbers_lines)
        && !text.ends_with('\\')
}

/// Whether something is declared whose size the compiler takes from its uses: an array without one, but for the last
/// of a storage buffer.
fn has_size_of_use(declaration: &Declaration) -> bool {
    let declared = &declaration.declared;
    let lacks_size = |declaration: &Declaration| {
        declaration.declarators.iter().any(|declarator| {
            let mut sizes = declaration.declared.sizes.iter().chain(&declarator.sizes);
            declarator.initialiser.is_none() && sizes.any(Option::is_none)
        })
    };
    let sized_members = match (declared.has_qualifier("buffer"), declared.members.split_last()) {
        (true, Some((_, others))) => others,
        (true, None) | (false, _) => &declared.members,
    };
    lacks_size(declaration) || sized_members.iter().any(lacks_size)
}

fn has_initial_value(declaration: &Declaration) -> bool {
    !declaration.declared.has_qualifier("const")
        && declaration.declarators.iter().any(|declarator| declarator.initialiser.is_some())
}
