//! A kernel as a C++17 program: a second implementation of the semantics, made from the GLSL text
//! alone.
//!
//! Knows: the syntax tree and the decisions of the front end, and what is told of the kernel's
//! interface ([`KernelInterface`]). SPIR-V takes no part: a mistake of the compiler, of the
//! sequential engine or of a device shows as a difference.
//! Promises: expressions keep their operators and their order, so that a coverage tool for C++ sees
//! the decisions of the source; one loop nest over the invocations stands inside each barrier
//! region, loops around barriers stay outside, and variables that live across regions are kept per
//! invocation. [`CppProgram::decisions`] says where each decision went; functions and variables that
//! the entry point does not come to are left out. What cannot be translated is [`Unsupported`] by
//! name and place; it never becomes another program.
//! Does not cover: running the program (`dissimilar`), races and other findings, speed.

mod block;
mod built_in;
mod built_in_tables;
mod collective;
mod expression;
mod function;
mod global;
mod interface;
mod layout;
mod needed;
mod order;
mod overload;
mod region;
mod statement;
mod types;
mod writer;

use super::outline::{self, UnitOutline};
use super::preprocessor::TranslationUnit;
use super::syntax::{FileLevelItem, TokenIndex};
use super::{KernelSource, deep_stack, parser};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vkcert_model::id::DecisionId;
use vkcert_model::structure::Accuracy;

use writer::ProgramWriter;

pub use interface::{BoundBlock, KernelInterface, MatrixOrder, SpecializationBits, ValueLayout};

/// Most workgroup memory of a program: no device has as much, and C++ compilers do not come to an
/// end on much more.
const WORKGROUP_LIMIT: u64 = 1 << 20;

/// A kernel in C++.
#[derive(Debug, Clone)]
pub struct CppProgram {
    /// The program's text.
    pub text: String,
    /// In order of the decisions' ids; decisions in constant expressions that the program does not
    /// hold are left out.
    pub decisions: Vec<PlacedDecision>,
}

/// Where a decision stands in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedDecision {
    /// The decision of the kernel.
    pub id: DecisionId,
    /// The whole expression.
    pub whole: LineExtent,
    /// The decision without `!` and parentheses around all of it.
    pub root: LineExtent,
    /// Its leaves, in source order.
    pub conditions: Vec<LineExtent>,
}

/// A piece of one line of a program: 1-based line, 1-based columns in bytes, the last one
/// exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LineExtent {
    /// Line, from 1.
    pub line: u32,
    /// First column in bytes, from 1.
    pub start: u32,
    /// Column behind the last one.
    pub end: u32,
}

/// What cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at {file}:{line}")]
pub struct Unsupported {
    /// The construct, in words.
    pub what: String,
    /// Path of the source file.
    pub file: String,
    /// Line in it, from 1.
    pub line: u32,
}

impl Unsupported {
    /// Of what has no place of its own in the text.
    fn kernel(kernel: &KernelSource, reason: impl Into<String>) -> Self {
        Self { what: reason.into(), file: kernel.path.clone(), line: 1 }
    }
}

type Emitted = Result<(), Unsupported>;

/// Translates a kernel. `job` is embedded as what the program runs when it is started without a
/// file of its own.
pub fn emit_program(
    kernel: &KernelSource,
    interface: &KernelInterface,
    job: &str,
) -> Result<CppProgram, Unsupported> {
    deep_stack::run_deep(|| emit_here(kernel, interface, job))
        .map_err(|_| Unsupported::kernel(kernel, "a kernel for which no stack is left"))?
}

fn emit_here(
    kernel: &KernelSource,
    interface: &KernelInterface,
    job: &str,
) -> Result<CppProgram, Unsupported> {
    let read_result = super::kernel::read_text(kernel);
    let (unit, accuracy) =
        read_result.map_err(|error| Unsupported::kernel(kernel, error.to_string()))?;
    if accuracy != Accuracy::Exact {
        return Err(Unsupported::kernel(
            kernel,
            "text that this tool preprocesses otherwise than the compiler".to_owned(),
        ));
    }
    if interface.workgroup_bytes > WORKGROUP_LIMIT {
        return Err(Unsupported::kernel(
            kernel,
            format!("workgroup memory of {} bytes", interface.workgroup_bytes),
        ));
    }
    let items = parser::parse_unit(&unit.tokens);
    let outline = outline::outline_unit(&unit, &items, kernel.policy, &BTreeSet::new());
    let mut emitter = Emitter::new(kernel, &unit, &items, &outline, interface);
    emitter.emit_whole_program(job)?;
    Ok(emitter.finish_program())
}

/// The meaning of a name of the text in the program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NameSymbol<'a> {
    /// As expressions write it.
    text: Rc<str>,
    place: ValuePlace<'a>,
    /// Of a variable that lives across regions: where it is kept.
    field: Option<Rc<str>>,
    /// As far as the text declares it.
    shape: Option<types::DeclaredShape<'a>>,
}

/// Where the value of a name is held.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ValuePlace<'a> {
    /// Of the function that runs.
    Locally,
    /// In a buffer, in workgroup memory, or for the invocation: other functions reach it too.
    InMemory,
    /// A copy that the kernel only reads.
    Unwritten,
    /// Known when the program is compiled.
    Constant,
    /// The instance name of a block; what each member is.
    Block(BTreeMap<String, NameSymbol<'a>>),
}

/// A field of the record that holds an invocation's variables between regions.
#[derive(Debug, Clone)]
struct RecordField {
    name: String,
    declaration: String,
}

struct Emitter<'a> {
    kernel: &'a KernelSource,
    unit: &'a TranslationUnit,
    items: &'a [FileLevelItem],
    outline: &'a UnitOutline,
    interface: &'a KernelInterface,
    out: ProgramWriter,
    /// Innermost last; the first is the file's.
    scopes: Vec<BTreeMap<String, NameSymbol<'a>>>,
    /// User-defined functions, with which of their parameters are written back.
    functions: BTreeMap<&'a str, function::FunctionEffects>,
    structures: BTreeMap<String, Rc<[global::StructureMember<'a>]>>,
    /// How structures lie in storage blocks.
    layouts: BTreeMap<String, layout::StructureLayout>,
    /// Names that the entry point or what it needs mentions.
    needed: BTreeSet<&'a str>,
    /// Names of structure and block members: a swizzle of the same letters is ambiguous.
    members: BTreeSet<String>,
    /// What watched runs of tokens are, by first and last token.
    watched: BTreeMap<(TokenIndex, TokenIndex), Vec<WatchedRole>>,
    placed_decisions: BTreeMap<DecisionId, PlacedDecision>,
    /// Workgroup variables.
    shared: Vec<(String, global::InitialContents)>,
    /// Variables of the file that each invocation has for itself: name and type.
    private: Vec<RecordField>,
    /// Those of them whose values are calculated when an invocation begins.
    calculated: Vec<global::CalculatedVariable<'a>>,
    /// Arrays in storage blocks, as expressions write them: the program sees them one element at a
    /// time.
    views: BTreeSet<Rc<str>>,
    /// Lines that bind blocks before a dispatch.
    bindings: Vec<String>,
    /// Fields of the variables of the entry point that live across regions, by the token that
    /// declares each.
    fields: BTreeMap<TokenIndex, Rc<str>>,
    /// Constants that several regions use, by the token that declares each: they stand before the
    /// loop nests.
    hoisted: BTreeSet<TokenIndex>,
    /// The innermost loop around barriers.
    enclosing_loop: Option<region::LoopPoints>,
    /// How `return`, `break` and `continue` leave what is being written.
    exit_mode: region::ExitMode,
    /// Functions that hold a barrier, other than the entry point.
    collectives: Vec<Rc<collective::CollectiveFunction<'a>>>,
    /// The one of them that is being written.
    returning: Option<Rc<collective::CollectiveFunction<'a>>>,
    /// How the values of calls are read that all have made together, by their first and last token.
    gathered_calls: BTreeMap<(TokenIndex, TokenIndex), String>,
    numbers: u32,
}

/// The part that a run of tokens plays in a decision.
#[derive(Debug, Clone, Copy)]
enum WatchedRole {
    Whole(DecisionId),
    Root(DecisionId),
    Condition(DecisionId, usize),
}

impl<'a> Emitter<'a> {
    fn new(
        kernel: &'a KernelSource,
        unit: &'a TranslationUnit,
        items: &'a [FileLevelItem],
        outline: &'a UnitOutline,
        interface: &'a KernelInterface,
    ) -> Self {
        Self {
            kernel,
            unit,
            items,
            outline,
            interface,
            out: ProgramWriter::default(),
            scopes: vec![BTreeMap::new()],
            functions: function::function_effects(&unit.tokens, items),
            structures: BTreeMap::new(),
            layouts: layout::structure_layouts(&unit.tokens, items, interface),
            needed: needed::needed_names(&unit.tokens, items, &kernel.entry),
            members: types::member_names(&unit.tokens, items),
            watched: expression::watched_ranges(outline),
            placed_decisions: BTreeMap::new(),
            shared: Vec::new(),
            private: Vec::new(),
            calculated: Vec::new(),
            views: BTreeSet::new(),
            bindings: Vec::new(),
            fields: BTreeMap::new(),
            hoisted: BTreeSet::new(),
            enclosing_loop: None,
            exit_mode: region::ExitMode::Function,
            collectives: Vec::new(),
            returning: None,
            gathered_calls: BTreeMap::new(),
            numbers: 0,
        }
    }

    /// The whole program.
    fn emit_whole_program(&mut self, job: &str) -> Emitted {
        self.out.line(&format!(
            "// {} as a C++17 program, one invocation after the other. Made by vkcert.",
            self.kernel.path
        ));
        self.out.line("// The table at the end says where each decision of the kernel stands.");
        self.out.line("");
        include_str!("header.hpp").lines().for_each(|line| self.out.line(line));
        self.out.line("");
        self.out.line("namespace kernel {");
        self.out.line("");
        self.out.line("using namespace vkcert;");
        self.out.line("");
        let [x, y, z] = self.interface.local_size;
        self.out
            .line(&format!("constexpr std::uint32_t SIZE_X = {x}, SIZE_Y = {y}, SIZE_Z = {z};"));
        self.out.line("constexpr std::size_t INVOCATIONS = std::size_t{SIZE_X} * SIZE_Y * SIZE_Z;");
        self.out.line(
            "constexpr uvec3 gl_WorkGroupSize = uvec3(Uint(SIZE_X), Uint(SIZE_Y), Uint(SIZE_Z));",
        );
        self.out.line("");
        let mut entry_function = None;
        for item in self.items {
            match item {
                FileLevelItem::Declaration(declaration) if !self.is_needed(declaration) => {}
                FileLevelItem::Declaration(declaration) => self.emit_global(declaration)?,
                FileLevelItem::Prototype { name, .. }
                    if !self.needed.contains(self.token_text(*name)) => {}
                FileLevelItem::Prototype { name, .. }
                    if self.is_collective(self.token_text(*name)) => {}
                FileLevelItem::Prototype { returns, name, parameters } => {
                    self.emit_prototype(returns, *name, parameters)?
                }
                FileLevelItem::Function(function)
                    if self.token_text(function.name) == self.kernel.entry =>
                {
                    entry_function = Some(function)
                }
                FileLevelItem::Function(function)
                    if !self.needed.contains(self.token_text(function.name)) => {}
                FileLevelItem::Function(function)
                    if self.is_collective(self.token_text(function.name)) => {}
                FileLevelItem::Function(function) => self.emit_function(function)?,
                FileLevelItem::Unread { first, error, .. } => {
                    return Err(self
                        .unsupported_at(format!("text that could not be read ({error})"), *first));
                }
            }
        }
        let Some(entry_function) = entry_function else {
            let reason = format!("a kernel without the function `{}`", self.kernel.entry);
            return Err(Unsupported::kernel(self.kernel, reason));
        };
        self.emit_workgroup(entry_function)?;
        self.emit_dispatch();
        self.out.line("} // namespace kernel");
        self.out.line("");
        self.emit_main_function(job);
        Ok(())
    }

    /// Binding, the loops over workgroups.
    fn emit_dispatch(&mut self) {
        let groups = "std::uint32_t groups_x, std::uint32_t groups_y, std::uint32_t groups_z";
        self.out.open_block(&format!("static void dispatch(const Job &job, {groups}) {{"));
        for line in std::mem::take(&mut self.bindings) {
            self.out.line(&line);
        }
        self.out.line("(void)job;");
        self.out.line("subgroup_size = job.subgroup_size;");
        self.out.line("gl_NumWorkGroups = uvec3(Uint(groups_x), Uint(groups_y), Uint(groups_z));");
        self.out.open_block("for (std::uint32_t group_z = 0; group_z < groups_z; ++group_z)");
        self.out.open_block("for (std::uint32_t group_y = 0; group_y < groups_y; ++group_y)");
        self.out.open_block("for (std::uint32_t group_x = 0; group_x < groups_x; ++group_x) {");
        self.out.line("gl_WorkGroupID = uvec3(Uint(group_x), Uint(group_y), Uint(group_z));");
        self.out.line("workgroup();");
        self.out.close_block("}");
        self.out.dedent();
        self.out.dedent();
        self.out.close_block("}");
        self.out.line("");
    }

    fn emit_main_function(&mut self, job: &str) {
        self.out.line("// What runs when no file is named.");
        self.out.line("static const char *const EMBEDDED_JOB[] = {");
        for line in job.lines() {
            self.out.line(&format!("    \"{line}\\n\","));
        }
        self.out.line("    \"\"};");
        self.out.line("");
        self.out.open_block("int main(int count, char **arguments) {");
        self.out.open_block("if (count > 1) {");
        self.out.line("std::ifstream file(arguments[1]);");
        self.out.line("if (!file) vkcert::stop(\"the file with the job cannot be read\");");
        self.out.line("vkcert::run_job(file, kernel::dispatch);");
        self.out.line("return 0;");
        self.out.close_block("}");
        self.out.line("std::string text;");
        self.out.line("for (const char *line : EMBEDDED_JOB) text += line;");
        self.out.line("std::istringstream job(text);");
        self.out.line("vkcert::run_job(job, kernel::dispatch);");
        self.out.line("return 0;");
        self.out.close_block("}");
    }

    /// The text with the table of decisions behind it.
    fn finish_program(mut self) -> CppProgram {
        self.out.line("");
        self.out.line("// Decisions (and their conditions): where they stand above, line:column, and in the source.");
        let line_starts =
            self.unit.files.iter().map(|file| vkcert_model::place::LineStarts::of(&file.text));
        let line_starts: Vec<_> = line_starts.collect();
        let decisions: Vec<PlacedDecision> = self.placed_decisions.values().cloned().collect();
        for placed_decision in &decisions {
            let decision = &self.outline.decisions[placed_decision.id.0 as usize - 1];
            let file_index = decision.span.file.0 as usize;
            let source_position = self.unit.files.get(file_index).zip(line_starts.get(file_index));
            let source_position = source_position.map(|(file, lines)| {
                let line_position = lines.position(&file.text, decision.span.start as usize);
                format!("{}:{}:{}", file.path, line_position.line, line_position.column)
            });
            let source_position = source_position.unwrap_or_default();
            self.out.line(&format!(
                "//   {} {} {source_position} {}",
                placed_decision.id, placed_decision.whole, decision.text
            ));
            for (condition_index, extent) in placed_decision.conditions.iter().enumerate() {
                let text = &decision.conditions[condition_index].text;
                self.out.line(&format!(
                    "//     {}.C{} {extent} {text}",
                    placed_decision.id,
                    condition_index + 1
                ));
            }
        }
        CppProgram { text: self.out.into_text(), decisions }
    }

    fn token_text(&self, token: TokenIndex) -> &'a str {
        self.unit.tokens.get(token).map_or("", |token| &*token.text)
    }

    fn unsupported_at(&self, reason: impl Into<String>, token: TokenIndex) -> Unsupported {
        let (file, line) = self.token_place(token);
        Unsupported { what: reason.into(), file: file.to_owned(), line }
    }

    /// File and line of a token.
    fn token_place(&self, token: TokenIndex) -> (&'a str, u32) {
        let Some(token) = self.unit.tokens.get(token) else { return (&self.kernel.path, 1) };
        let file_path =
            self.unit.files.get(token.line_file.0 as usize).map_or("", |file_path| &file_path.path);
        (file_path, token.line)
    }

    fn next_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    fn resolve_name(&self, name: &str) -> Option<&NameSymbol<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn declare_name(
        &mut self,
        name: &str,
        spelled_text: impl Into<Rc<str>>,
        value_place: ValuePlace<'a>,
        declared_shape: Option<types::DeclaredShape<'a>>,
    ) {
        let scope = self.scopes.last_mut().expect("the file's scope is never left");
        scope.insert(
            name.to_owned(),
            NameSymbol {
                text: spelled_text.into(),
                place: value_place,
                field: None,
                shape: declared_shape,
            },
        );
    }
}

impl std::fmt::Display for LineExtent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}-{}", self.line, self.start, self.end)
    }
}
