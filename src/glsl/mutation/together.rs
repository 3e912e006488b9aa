//! Mutants of function bodies, compiled together: each as a copy of its function.
//!
//! Knows: that every compilation reads the compiler's tables of built-in names anew, which costs as much as
//! the text of a kernel; that a function of SPIR-V stands for itself, so that a copy can be put in the place
//! of the function that it is a copy of; that the compiler leaves out what nothing calls, so that an entry point
//! of its own calls the kernel's and each copy.
//! Promises: what comes out is what the mutant's own text is compiled to, but for the numbers of ids, names,
//! the text of the source in debug information, and declarations that nothing uses. To that end the mutant's
//! own text is preprocessed, and it is compiled with others only where its tokens differ from the kernel's
//! within the body of one function; where that function has no macros and no directives, its written text is
//! taken. What else a function could change is looked for ([`Eligibility`]), as is what the compiler declares of
//! the module as a whole.
//! Everything else is compiled by itself ([`super::compile_alone`]), as is what the compiler refuses.
//! Does not cover: optimised modules, in which a function stands for nothing by itself.

mod extraction;

use super::{MutatedKernel, NotCompiled, SourceEdit, SourceMutant, compile_alone, mutant_source};
use crate::compile as compiler;
use crate::include::IncludeResolver;
use crate::marking::{MarkerInsertions, render_inserted, unused_name};
use crate::preprocessor::{
    self, DEFINES_PATH, PredefinedMacros, TranslationUnit, may_be_predefined,
};
use crate::syntax::{Declaration, FileLevelItem, FunctionDefinition, ParameterSyntax, TokenIndex};
use crate::token::{FrameId, Token};
use crate::{KernelSource, Optimization, deep_stack};
use extraction::{ModuleParts, module_declarations};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use vkcert_model::place::{FileIndex, SourceFile};

/// Rounds of leaving out what the compiler refuses: an error can hide others.
const MOST_ROUNDS: usize = 3;

/// Lines between tokens that are written as ends of lines.
const MOST_LINE_ENDS: u32 = 8;

/// The text of a kernel with the functions of which copies can be compiled.
#[derive(Debug)]
pub(super) struct FunctionTexts {
    unit: TranslationUnit,
    /// The same with another name for the entry point.
    renamed: TranslationUnit,
    functions: Vec<FunctionExtent>,
    /// What the compiler was asked of its own macros.
    macros: Mutex<BTreeMap<String, Option<String>>>,
    /// What the compiler declares of the kernel's module as a whole; none where it refuses the text.
    declarations: OnceLock<Option<Vec<u32>>>,
    /// Names that any directive may define.
    macro_names: BTreeSet<String>,
    /// Begins the names of copies; nothing in the text does.
    copy_name: String,
}

/// The tokens of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FunctionExtent {
    name: TokenIndex,
    first: TokenIndex,
    open: TokenIndex,
    last: TokenIndex,
    /// Types of its parameters.
    parameters: Vec<String>,
    /// The bytes of the file from its first to its last token, where these are written in one.
    written: Option<(FileIndex, Range<usize>)>,
    /// Where it is written, if the compiler's preprocessor leaves that as it is.
    plain: Option<PlainText>,
}

/// Where a function without directives and macros is written, in bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlainText {
    file: FileIndex,
    line: u32,
    whole: Range<usize>,
    name: Range<usize>,
    /// Between the braces.
    body: Range<usize>,
}

impl FunctionTexts {
    /// None of a text in which no function has copies.
    pub(super) fn of_unit(unit: &TranslationUnit, items: &[FileLevelItem]) -> Option<Self> {
        let macro_names = defined_names(&unit.files);
        let eligibility = Eligibility { unit, items, macro_names: &macro_names };
        if !eligibility.is_text_eligible() {
            return None;
        }
        let functions = items.iter().filter_map(|item| match item {
            FileLevelItem::Function(function) => eligibility.extent_of(function),
            FileLevelItem::Declaration(_)
            | FileLevelItem::Prototype { .. }
            | FileLevelItem::Unread { .. } => None,
        });
        let functions: Vec<FunctionExtent> = functions.collect();
        let used_words: BTreeSet<&str> = unit.tokens.iter().map(|token| &*token.text).collect();
        let copy_name = unused_name("vkcert_copy", &used_words);
        let entry = functions.iter().find(|extent| unit.tokens[extent.name].is(ENTRY))?.name;
        let mut renamed = unit.clone();
        renamed.tokens[entry].text = kernel_name(&copy_name).into();
        Some(Self {
            unit: unit.clone(),
            renamed,
            functions,
            macros: Mutex::default(),
            declarations: OnceLock::new(),
            macro_names,
            copy_name,
        })
    }
}

/// The entry point's name in GLSL.
const ENTRY: &str = "main";

/// What the kernel's entry point is called among its copies.
fn kernel_name(copy_name: &str) -> String {
    format!("{copy_name}_kernel_")
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
        (Some(texts), Optimization::Zero) => {
            let together = Together { kernel, mutated, texts };
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
    mutated: &'a MutatedKernel,
    texts: &'a FunctionTexts,
}

/// A function as a mutant has it.
struct FunctionCopy {
    /// Place of the function in the text.
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
        for _ in 0..MOST_ROUNDS {
            match compiler::compile_rewritten(self.kernel, &self.text(&copies), Optimization::Zero)
            {
                Ok(words) => return self.modules_of(&words, &copies),
                Err(error) => {
                    let refused: BTreeSet<usize> = error
                        .places
                        .iter()
                        .filter_map(|(file, _)| self.texts.copy_of_file(file))
                        .collect();
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
        let is_as_declared =
            self.texts.declarations(self.kernel) == Some(&*module_declarations(words));
        let parts = is_as_declared.then(|| ModuleParts::of_module(words)).flatten();
        let Some(parts) = parts else { return BTreeMap::new() };
        let modules = copies.iter().filter_map(|(index, copy)| {
            let function = &self.texts.functions[copy.function];
            let own_name = &self.texts.unit.tokens[function.name].text;
            let bodies = BTreeMap::from([
                (ENTRY.to_owned(), kernel_name(&self.texts.copy_name)),
                (own_name.to_string(), self.texts.name_of_copy(*index)),
            ]);
            Some((*index, parts.with_bodies(&bodies, &mark_of(*index))?))
        });
        modules.collect()
    }

    /// The function that a mutant changes, where it changes nothing but one body.
    fn copy_of(&self, index: usize, mutant: &SourceMutant) -> Option<FunctionCopy> {
        if let Some(copy) = self.texts.plain_copy(index, mutant) {
            return Some(copy);
        }
        if mutant.edits.iter().any(|edit| self.texts.is_in_declaration(edit)) {
            return None;
        }
        let source = mutant_source(self.kernel, self.mutated, mutant).ok()?;
        let includes = IncludeResolver::with_texts(&source.kernel, source.texts);
        let macros = RememberedMacros { kernel: self.kernel, answers: &self.texts.macros };
        let own = preprocessor::preprocess(
            &source.kernel.path,
            &source.kernel.text,
            &source.kernel.defines,
            &includes,
            &macros,
        )
        .ok()?;
        let (function, extent) = self.texts.changed_function(&own)?;
        let text = copy_text(&own, &extent, &self.texts.name_of_copy(index), &mark_of(index));
        Some(FunctionCopy { function, text })
    }

    /// The kernel's text with copies behind their functions, and an entry point that calls all of them.
    fn text(&self, copies: &BTreeMap<usize, FunctionCopy>) -> String {
        let mut insertions = MarkerInsertions::default();
        let (mut at_end, mut calls) = (String::new(), String::new());
        for (index, copy) in copies {
            let function = &self.texts.functions[copy.function];
            calls.push_str(&call_text(function, &self.texts.name_of_copy(*index)));
            match function.last + 1 < self.texts.unit.tokens.len() {
                true => {
                    insertions.before.entry(function.last + 1).or_default().push_str(&copy.text);
                }
                false => at_end.push_str(&copy.text),
            }
        }
        let kernel = kernel_name(&self.texts.copy_name);
        let text = render_inserted(&self.texts.renamed, &insertions);
        format!("{text}{at_end}\n#line 1\nvoid {ENTRY}() {{ {kernel}(); {calls}}}\n")
    }
}

/// A call of a function with variables of its parameters' types.
fn call_text(function: &FunctionExtent, name: &str) -> String {
    let variables = function.parameters.iter().enumerate();
    let declarations: String =
        variables.map(|(place, type_name)| format!("{type_name} a{place}; ")).collect();
    let arguments: Vec<String> =
        (0..function.parameters.len()).map(|place| format!("a{place}")).collect();
    format!("{{ {declarations}{name}({}); }} ", arguments.join(", "))
}

impl FunctionTexts {
    /// The copy as it is written, where nothing but that is to be known: the mutant changes the body of a function
    /// without directives and macros, and brings none in.
    fn plain_copy(&self, index: usize, mutant: &SourceMutant) -> Option<FunctionCopy> {
        let contains = |plain: &PlainText| {
            mutant.edits.iter().all(|edit| {
                let (start, end) = (edit.span.start as usize, edit.span.end as usize);
                edit.span.file == plain.file && plain.body.start <= start && end <= plain.body.end
            })
        };
        let is_changed = |extent: &FunctionExtent| extent.plain.as_ref().is_some_and(contains);
        let function = self.functions.iter().position(is_changed)?;
        let plain = self.functions[function].plain.as_ref()?;
        let file = &self.unit.files[plain.file.0 as usize];
        let is_change = |edit: &SourceEdit| {
            let range = edit.span.start as usize..edit.span.end as usize;
            file.text.get(range) != Some(&edit.text)
        };
        if !mutant.edits.iter().any(is_change) {
            return None;
        }
        let mark = mark_of(index);
        let mut text = format!("\n#line {} \"{}{mark}\"\n", plain.line, file.path);
        text.push_str(file.text.get(plain.whole.start..plain.name.start)?);
        text.push_str(&self.name_of_copy(index));
        let mut written = plain.name.end;
        for edit in &mutant.edits {
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            text.push_str(file.text.get(written..start)?);
            let (before, behind) =
                (text.chars().next_back()?, file.text.get(end..)?.chars().next()?);
            if !self.stays_apart(before, &edit.text, behind) {
                return None;
            }
            text.push_str(&edit.text);
            written = end;
        }
        text.push_str(file.text.get(written..plain.whole.end)?);
        text.push('\n');
        Some(FunctionCopy { function, text })
    }

    /// Whether an edit is of what is declared beside functions: neither in one of them nor in a directive.
    fn is_in_declaration(&self, edit: &SourceEdit) -> bool {
        let (file, start) = (edit.span.file, edit.span.start as usize);
        let is_around = |extent: &FunctionExtent| {
            let written = extent.written.as_ref();
            written.is_none_or(|(own_file, range)| *own_file == file && range.contains(&start))
        };
        let Some(source) = self.unit.files.get(file.0 as usize) else { return false };
        let Some(before) = source.text.get(..start) else { return false };
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_directive = source.path == DEFINES_PATH
            || line.contains('#')
            || before.trim_end_matches(line).trim_end_matches(['\n', '\r']).ends_with('\\');
        !is_directive && !self.functions.iter().any(is_around)
    }

    /// Whether an inserted text is whole tokens, no comments and no macros between these characters.
    fn stays_apart(&self, before: char, text: &str, behind: char) -> bool {
        const OPENING: [&str; 4] = ["//", "/*", "*/", "\\"];
        let joined = format!("{before}{text}{behind}");
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
        let first = text.chars().next().unwrap_or(behind);
        let last = text.chars().next_back().unwrap_or(before);
        let joins = is_letter(before) && is_letter(first) || is_letter(last) && is_letter(behind);
        let words = words_of(text);
        !joins
            && !OPENING.iter().any(|sign| joined.contains(sign))
            && !text.contains(['#', '"'])
            && words.into_iter().all(|word| !self.is_macro(word))
    }

    fn is_macro(&self, word: &str) -> bool {
        is_macro_name(&self.macro_names, word)
    }

    fn name_of_copy(&self, index: usize) -> String {
        format!("{}_{index}_", self.copy_name)
    }

    /// The mutant on whose copy the compiler's message is.
    fn copy_of_file(&self, file: &str) -> Option<usize> {
        let (_, mark) = file.rsplit_once(MARK)?;
        mark.trim_end_matches('>').parse().ok()
    }

    /// What the compiler declares of the kernel's module as a whole.
    fn declarations(&self, kernel: &KernelSource) -> Option<&[u32]> {
        let declarations = self.declarations.get_or_init(|| {
            let text = render_inserted(&self.unit, &MarkerInsertions::default());
            let words = compiler::compile_rewritten(kernel, &text, Optimization::Zero).ok()?;
            Some(module_declarations(&words))
        });
        declarations.as_deref()
    }

    /// The function in whose body alone a text differs from the kernel's, with the tokens that it has there.
    fn changed_function(&self, own: &TranslationUnit) -> Option<(usize, FunctionExtent)> {
        let (kernel_tokens, own_tokens) = (&self.unit.tokens, &own.tokens);
        let is_same =
            |(kernel, own): &(&Token, &Token)| kernel.kind == own.kind && kernel.text == own.text;
        let shorter = kernel_tokens.len().min(own_tokens.len());
        let before = kernel_tokens.iter().zip(own_tokens).take_while(is_same).count();
        let from_end = kernel_tokens.iter().rev().zip(own_tokens.iter().rev());
        let behind = from_end.take(shorter - before).take_while(is_same).count();
        let changed_end = kernel_tokens.len() - behind;
        let is_inside =
            |extent: &FunctionExtent| extent.open < before && changed_end <= extent.last;
        let function = self.functions.iter().position(is_inside)?;
        let extent = &self.functions[function];
        let own_last = (extent.last + own_tokens.len()).checked_sub(kernel_tokens.len())?;
        let moved = |place: usize| match place > extent.last {
            true => place - extent.last + own_last,
            false => place,
        };
        let has_same_directives = self.unit.directives.len() == own.directives.len()
            && self.unit.directives.iter().zip(&own.directives).all(|(kernel, own)| {
                let is_outside = kernel.before <= extent.first || kernel.before > extent.last;
                is_outside && kernel.text == own.text && moved(kernel.before) == own.before
            });
        has_same_directives.then(|| (function, FunctionExtent { last: own_last, ..extent.clone() }))
    }
}

/// Begins what stands behind the path of a file in a copy.
const MARK: &str = "<copy ";

/// What stands behind the path of each file in a copy, so that messages and lines tell whose they are.
fn mark_of(index: usize) -> String {
    format!("{MARK}{index}>")
}

/// The tokens of a function under another name, each on its line.
fn copy_text(unit: &TranslationUnit, extent: &FunctionExtent, name: &str, mark: &str) -> String {
    let mut text = String::new();
    let mut written = None;
    for index in extent.first..=extent.last {
        let token = &unit.tokens[index];
        let place = (token.line_file, token.line);
        match written {
            Some((file, line)) if (file, line) == place => text.push(' '),
            Some((file, line))
                if file == place.0 && line < place.1 && place.1 - line <= MOST_LINE_ENDS =>
            {
                (line..place.1).for_each(|_| text.push('\n'));
            }
            Some(_) | None => {
                let path = &unit.files[place.0.0 as usize].path;
                let _ = write!(text, "\n#line {} \"{path}{mark}\"\n", place.1);
            }
        }
        written = Some(place);
        text.push_str(if index == extent.name { name } else { &token.text });
    }
    text.push('\n');
    text
}

/// Whether a word may be a macro's name: of the text, or of the compiler.
fn is_macro_name(macro_names: &BTreeSet<String>, word: &str) -> bool {
    macro_names.contains(word) || may_be_predefined(word) || word.contains("__")
}

/// The words of a text: runs of letters and digits.
fn words_of(text: &str) -> Vec<&str> {
    let is_break = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    text.split(is_break).filter(|word| !word.is_empty()).collect()
}

/// The word behind each `define` of files, whatever that stands in.
fn defined_names(files: &[SourceFile]) -> BTreeSet<String> {
    let of_file = |file: &SourceFile| -> Vec<String> {
        let words = words_of(&file.text);
        let pairs = words.windows(2).filter(|pair| pair[0].ends_with("define"));
        pairs.map(|pair| pair[1].to_owned()).collect()
    };
    files.iter().flat_map(of_file).collect()
}

/// Whether copies of functions mean in a text what the functions mean.
struct Eligibility<'u> {
    unit: &'u TranslationUnit,
    items: &'u [FileLevelItem],
    macro_names: &'u BTreeSet<String>,
}

impl Eligibility<'_> {
    fn is_text_eligible(&self) -> bool {
        let is_read = |item: &FileLevelItem| !matches!(item, FileLevelItem::Unread { .. });
        // `precise` goes from one function to others through what they share; the others are of a module or
        // of its entry point.
        let is_of_whole = |token: &Token| {
            token.is("precise")
                || token.text.starts_with("spirv_")
                || token.text.starts_with("maximally_reconverges")
                || token.text.starts_with("subgroup_uniform_control_flow")
        };
        self.items.iter().all(is_read)
            && !self.unit.tokens.iter().any(is_of_whole)
            // The greatest index that any function has would be its size.
            && !self.declarations().any(has_size_of_use)
            // The entry point sets what is declared with a value.
            && !self.declarations().any(has_initial_value)
    }

    /// None of a function that has no copies.
    fn extent_of(&self, function: &FunctionDefinition) -> Option<FunctionExtent> {
        let name_of = |token: TokenIndex| &self.unit.tokens[token].text;
        let name = name_of(function.name);
        let namesakes = self.items.iter().filter(|item| match item {
            FileLevelItem::Function(other) => name_of(other.name) == name,
            FileLevelItem::Declaration(_)
            | FileLevelItem::Prototype { .. }
            | FileLevelItem::Unread { .. } => false,
        });
        let is_only_one = namesakes.count() == 1;
        let parameters: Option<Vec<String>> =
            function.parameters.iter().map(|parameter| self.variable_type(parameter)).collect();
        Some(FunctionExtent {
            name: function.name,
            first: function.first,
            open: function.open,
            last: function.last,
            parameters: parameters.filter(|_| is_only_one)?,
            written: self.written_range(function),
            plain: self.plain_text(function),
        })
    }

    fn written_range(&self, function: &FunctionDefinition) -> Option<(FileIndex, Range<usize>)> {
        let (first, last) = (&self.unit.tokens[function.first], &self.unit.tokens[function.last]);
        let is_in_one_file = first.span.file == last.span.file
            && [first, last].iter().all(|token| token.origin == FrameId::FILE);
        let range = first.span.start as usize..last.span.end as usize;
        is_in_one_file.then_some((first.span.file, range))
    }

    fn plain_text(&self, function: &FunctionDefinition) -> Option<PlainText> {
        let tokens = &self.unit.tokens[function.first..=function.last];
        let (first, last) = (tokens.first()?, tokens.last()?);
        let (file, whole) = self.written_range(function)?;
        let is_plain = |token: &Token| {
            token.origin == FrameId::FILE
                && token.span.file == file
                && !is_macro_name(self.macro_names, &token.text)
        };
        let bytes = |token: &Token| token.span.start as usize..token.span.end as usize;
        let written = self.unit.files.get(file.0 as usize)?.text.get(whole.clone())?;
        let is_whole = first.line_file == file
            && tokens.iter().all(is_plain)
            && !written.contains(['#', '\\', '\r']);
        let body = bytes(&self.unit.tokens[function.open]).end..bytes(last).start;
        let name = bytes(&self.unit.tokens[function.name]);
        is_whole.then_some(PlainText { file, line: first.line, whole, name, body })
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

/// The compiler's answers about its own macros, each asked for once.
struct RememberedMacros<'a> {
    kernel: &'a KernelSource,
    answers: &'a Mutex<BTreeMap<String, Option<String>>>,
}

impl PredefinedMacros for RememberedMacros<'_> {
    fn macro_values(
        &self,
        version: &str,
        names: BTreeSet<String>,
    ) -> BTreeMap<String, Option<String>> {
        let macros = compiler::CompilerMacros { kernel: self.kernel };
        if version != preprocessor::version_directive(&self.kernel.text) {
            return macros.macro_values(version, names);
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |name: &&String| !answers.contains_key(*name);
        let new_names: BTreeSet<String> = names.iter().filter(is_new).cloned().collect();
        if !new_names.is_empty() {
            answers.extend(macros.macro_values(version, new_names));
        }
        let of_name = |name: String| {
            let answer = answers.get(&name).cloned().flatten();
            (name, answer)
        };
        names.into_iter().map(of_name).collect()
    }
}

/// Shared by the clones of a kernel with its mutants.
pub(super) type SharedTexts = Option<Arc<FunctionTexts>>;
