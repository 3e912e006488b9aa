//! A kernel as a C++17 program: a second implementation of the semantics, made from the GLSL text
//! alone.
//!
//! Knows: the syntax tree and the decisions of the front end, and what is told of the kernel's
//! interface ([`Interface`]). SPIR-V takes no part: a mistake of the compiler, of the sequential
//! engine or of a device shows as a difference.
//! Promises: expressions keep their operators and their order, so that a coverage tool for C++ sees
//! the decisions of the source; one loop nest over the invocations stands inside each barrier
//! region, loops around barriers stay outside, and variables that live across regions are kept per
//! invocation. [`Program::decisions`] says where each decision went; functions and variables that
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
mod layout;
mod needed;
mod order;
mod overload;
mod region;
mod statement;
mod types;
mod writer;

use super::outline::{self, Outline};
use super::preprocessor::TranslationUnit;
use super::syntax::{Declarator, DeclaredType, Item, TokenIndex};
use super::{KernelSource, STACK_BYTES, parser};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::structure::Accuracy;

use writer::Writer;

/// What the host sees of a kernel, under one specialization.
#[derive(Debug, Clone, Default)]
pub struct Interface {
    pub local_size: [u32; 3],
    /// Storage and uniform blocks that the entry point uses, by block name.
    pub blocks: BTreeMap<String, Block>,
    /// Layout of the push-constant block, where the entry point uses one.
    pub push_constants: Option<Layout>,
    /// Specialization constants by name.
    pub specialization: BTreeMap<String, Constant>,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u64,
}

/// Most workgroup memory of a program: no device has as much, and C++ compilers do not come to an
/// end on much more.
const WORKGROUP_LIMIT: u64 = 1 << 20;

/// A block that is bound.
#[derive(Debug, Clone)]
pub struct Block {
    pub set: u32,
    pub binding: u32,
    pub layout: Layout,
}

/// How the bytes of a value lie in a block.
#[derive(Debug, Clone)]
pub enum Layout {
    /// A number of so many bytes.
    Number(u32),
    /// `count` numbers of so many bytes each, without gaps.
    Vector { count: u32, bytes: u32 },
    /// Columns of `rows` numbers; `stride` in bytes from one column (of rows: row) to the next.
    Matrix { columns: u32, rows: u32, bytes: u32, stride: u32, order: MatrixOrder },
    /// `count` is none for a runtime array; `stride` in bytes.
    Array { stride: u32, count: Option<u64>, element: Box<Layout> },
    /// Members in order, each with its byte offset.
    Structure(Vec<(u32, Layout)>),
    /// What has no counterpart in the program, by name.
    Other(String),
}

/// Which numbers of a matrix lie beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixOrder {
    Columns,
    Rows,
}

/// A specialization constant: raw bits of its value.
#[derive(Debug, Clone, Copy)]
pub struct Constant {
    pub bits: u64,
}

/// A kernel in C++.
#[derive(Debug, Clone)]
pub struct Program {
    pub text: String,
    /// In order of the decisions' ids; decisions in constant expressions that the program does not
    /// hold are left out.
    pub decisions: Vec<PlacedDecision>,
}

/// Where a decision stands in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedDecision {
    pub id: DecisionId,
    pub whole: Extent,
    /// The decision without `!` and parentheses around all of it.
    pub root: Extent,
    /// Its leaves, in source order.
    pub conditions: Vec<Extent>,
}

/// A piece of one line of a program: 1-based line, 1-based columns in bytes, the last one
/// exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Extent {
    pub line: u32,
    pub start: u32,
    pub end: u32,
}

/// What cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at {file}:{line}")]
pub struct Unsupported {
    pub what: String,
    pub file: String,
    pub line: u32,
}

type Emitted = Result<(), Unsupported>;

/// Translates a kernel. `job` is embedded as what the program runs when it is started without a
/// file of its own.
pub fn emit(
    kernel: &KernelSource,
    interface: &Interface,
    job: &str,
) -> Result<Program, Unsupported> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let start_failure = |reason: &str| Unsupported {
            what: reason.to_owned(),
            file: kernel.path.clone(),
            line: 1,
        };
        let emitter_thread = builder.spawn_scoped(scope, || emit_here(kernel, interface, job));
        let emitter_thread =
            emitter_thread.map_err(|_| start_failure("a kernel for which no stack is left"))?;
        emitter_thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn emit_here(
    kernel: &KernelSource,
    interface: &Interface,
    job: &str,
) -> Result<Program, Unsupported> {
    let read_result = super::kernel::read_text(kernel);
    let unsupported_kernel =
        |reason: String| Unsupported { what: reason, file: kernel.path.clone(), line: 1 };
    let (unit, accuracy) = read_result.map_err(|error| unsupported_kernel(error.to_string()))?;
    if accuracy != Accuracy::Exact {
        return Err(unsupported_kernel(
            "text that this tool preprocesses otherwise than the compiler".to_owned(),
        ));
    }
    if interface.workgroup_bytes > WORKGROUP_LIMIT {
        return Err(unsupported_kernel(format!(
            "workgroup memory of {} bytes",
            interface.workgroup_bytes
        )));
    }
    let items = parser::parse(&unit.tokens);
    let outline = outline::outline(&unit.tokens, &unit.frames, &unit.files, &items, kernel.policy);
    let mut emitter = Emitter::new(kernel, &unit, &items, &outline, interface);
    emitter.program(job)?;
    Ok(emitter.finished())
}

/// What a name of the text stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Symbol {
    /// As expressions write it.
    text: String,
    place: Held,
    /// Of a variable that lives across regions: where it is kept.
    field: Option<String>,
    /// As far as the text declares it.
    shape: Option<types::Shape>,
}

/// Where the value of a name is held.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Held {
    /// Of the function that runs.
    Locally,
    /// In a buffer, in workgroup memory, or for the invocation: other functions reach it too.
    InMemory,
    /// A copy that the kernel only reads.
    Unwritten,
    /// Known when the program is compiled.
    Constant,
    /// The instance name of a block; what each member is.
    Block(BTreeMap<String, Symbol>),
}

/// A field of the record that holds an invocation's variables between regions.
#[derive(Debug, Clone)]
struct Field {
    name: String,
    declaration: String,
}

struct Emitter<'a> {
    kernel: &'a KernelSource,
    unit: &'a TranslationUnit,
    items: &'a [Item],
    outline: &'a Outline,
    interface: &'a Interface,
    out: Writer,
    /// Innermost last; the first is the file's.
    scopes: Vec<BTreeMap<String, Symbol>>,
    /// User-defined functions, with which of their parameters are written back.
    functions: BTreeMap<String, function::Signature>,
    structures: BTreeMap<String, Vec<global::StructureMember>>,
    /// How structures lie in storage blocks.
    layouts: BTreeMap<String, layout::StructureLayout>,
    /// Names that the entry point or what it needs mentions.
    needed: BTreeSet<&'a str>,
    /// Names of structure and block members: a swizzle of the same letters is ambiguous.
    members: BTreeSet<String>,
    /// What watched runs of tokens are, by first and last token.
    watched: BTreeMap<(TokenIndex, TokenIndex), Vec<Watched>>,
    placed: BTreeMap<DecisionId, PlacedDecision>,
    /// Workgroup variables.
    shared: Vec<(String, global::Fresh)>,
    /// Variables of the file that each invocation has for itself: name and type.
    private: Vec<Field>,
    /// Those of them whose values are calculated when an invocation begins.
    calculated: Vec<(DeclaredType, Declarator)>,
    /// Arrays in storage blocks, as expressions write them: the program sees them one element at a
    /// time.
    views: BTreeSet<String>,
    /// Lines that bind blocks before a dispatch.
    bindings: Vec<String>,
    /// Fields of the variables of the entry point that live across regions, by the token that
    /// declares each.
    fields: BTreeMap<TokenIndex, String>,
    /// Constants that several regions use, by the token that declares each: they stand before the
    /// loop nests.
    hoisted: BTreeSet<TokenIndex>,
    /// The innermost loop around barriers.
    around: Option<region::Around>,
    /// How `return`, `break` and `continue` leave what is being written.
    leaving: region::Leaving,
    /// Functions that hold a barrier, other than the entry point.
    collectives: Vec<collective::Collective<'a>>,
    /// How the one of them is left that is being written.
    returning: Option<collective::Returning>,
    /// How the values of calls are read that all have made together, by their first and last token.
    made: BTreeMap<(TokenIndex, TokenIndex), String>,
    numbers: u32,
}

/// What a run of tokens is to the decisions.
#[derive(Debug, Clone, Copy)]
enum Watched {
    Whole(DecisionId),
    Root(DecisionId),
    Condition(DecisionId, usize),
}

impl<'a> Emitter<'a> {
    fn new(
        kernel: &'a KernelSource,
        unit: &'a TranslationUnit,
        items: &'a [Item],
        outline: &'a Outline,
        interface: &'a Interface,
    ) -> Self {
        Self {
            kernel,
            unit,
            items,
            outline,
            interface,
            out: Writer::default(),
            scopes: vec![BTreeMap::new()],
            functions: function::signatures(&unit.tokens, items),
            structures: BTreeMap::new(),
            layouts: layout::of_structures(&unit.tokens, items, interface),
            needed: needed::names(&unit.tokens, items, &kernel.entry),
            members: types::member_names(&unit.tokens, items),
            watched: expression::watched(outline),
            placed: BTreeMap::new(),
            shared: Vec::new(),
            private: Vec::new(),
            calculated: Vec::new(),
            views: BTreeSet::new(),
            bindings: Vec::new(),
            fields: BTreeMap::new(),
            hoisted: BTreeSet::new(),
            around: None,
            leaving: region::Leaving::Function,
            collectives: Vec::new(),
            returning: None,
            made: BTreeMap::new(),
            numbers: 0,
        }
    }

    /// The whole program.
    fn program(&mut self, job: &str) -> Emitted {
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
                Item::Declaration(declaration) if !self.is_needed(declaration) => {}
                Item::Declaration(declaration) => self.global(declaration)?,
                Item::Prototype { name, .. } if !self.needed.contains(self.text(*name)) => {}
                Item::Prototype { name, .. } if self.is_collective(self.text(*name)) => {}
                Item::Prototype { returns, name, parameters } => {
                    self.prototype(returns, *name, parameters)?
                }
                Item::Function(function) if self.text(function.name) == self.kernel.entry => {
                    entry_function = Some(function)
                }
                Item::Function(function) if !self.needed.contains(self.text(function.name)) => {}
                Item::Function(function) if self.is_collective(self.text(function.name)) => {}
                Item::Function(function) => self.function(function)?,
                Item::Unread { first, error, .. } => {
                    return Err(
                        self.unsupported(format!("text that could not be read ({error})"), *first)
                    );
                }
            }
        }
        let Some(entry_function) = entry_function else {
            let reason = format!("a kernel without the function `{}`", self.kernel.entry);
            return Err(Unsupported { what: reason, file: self.kernel.path.clone(), line: 1 });
        };
        self.workgroup(entry_function)?;
        self.dispatch();
        self.out.line("} // namespace kernel");
        self.out.line("");
        self.main_function(job);
        Ok(())
    }

    /// Binding, the loops over workgroups.
    fn dispatch(&mut self) {
        let groups = "std::uint32_t groups_x, std::uint32_t groups_y, std::uint32_t groups_z";
        self.out.open(&format!("static void dispatch(const Job &job, {groups}) {{"));
        for line in std::mem::take(&mut self.bindings) {
            self.out.line(&line);
        }
        self.out.line("(void)job;");
        self.out.line("subgroup_size = job.subgroup_size;");
        self.out.line("gl_NumWorkGroups = uvec3(Uint(groups_x), Uint(groups_y), Uint(groups_z));");
        self.out.open("for (std::uint32_t group_z = 0; group_z < groups_z; ++group_z)");
        self.out.open("for (std::uint32_t group_y = 0; group_y < groups_y; ++group_y)");
        self.out.open("for (std::uint32_t group_x = 0; group_x < groups_x; ++group_x) {");
        self.out.line("gl_WorkGroupID = uvec3(Uint(group_x), Uint(group_y), Uint(group_z));");
        self.out.line("workgroup();");
        self.out.close("}");
        self.out.dedent();
        self.out.dedent();
        self.out.close("}");
        self.out.line("");
    }

    fn main_function(&mut self, job: &str) {
        self.out.line("// What runs when no file is named.");
        self.out.line("static const char *const EMBEDDED_JOB[] = {");
        for line in job.lines() {
            self.out.line(&format!("    \"{line}\\n\","));
        }
        self.out.line("    \"\"};");
        self.out.line("");
        self.out.open("int main(int count, char **arguments) {");
        self.out.open("if (count > 1) {");
        self.out.line("std::ifstream file(arguments[1]);");
        self.out.line("if (!file) vkcert::stop(\"the file with the job cannot be read\");");
        self.out.line("vkcert::run_job(file, kernel::dispatch);");
        self.out.line("return 0;");
        self.out.close("}");
        self.out.line("std::string text;");
        self.out.line("for (const char *line : EMBEDDED_JOB) text += line;");
        self.out.line("std::istringstream job(text);");
        self.out.line("vkcert::run_job(job, kernel::dispatch);");
        self.out.line("return 0;");
        self.out.close("}");
    }

    /// The text with the table of decisions behind it.
    fn finished(mut self) -> Program {
        self.out.line("");
        self.out.line("// Decisions (and their conditions): where they stand above, line:column, and in the source.");
        let line_starts =
            self.unit.files.iter().map(|file| vkcert_model::place::LineStarts::of(&file.text));
        let line_starts: Vec<_> = line_starts.collect();
        let decisions: Vec<PlacedDecision> = self.placed.values().cloned().collect();
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
        Program { text: self.out.finish(), decisions }
    }

    fn text(&self, token: TokenIndex) -> &'a str {
        self.unit.tokens.get(token).map_or("", |token| &*token.text)
    }

    fn unsupported(&self, reason: impl Into<String>, token: TokenIndex) -> Unsupported {
        let (file, line) = self.place(token);
        Unsupported { what: reason.into(), file, line }
    }

    /// File and line of a token.
    fn place(&self, token: TokenIndex) -> (String, u32) {
        let Some(token) = self.unit.tokens.get(token) else { return (self.kernel.path.clone(), 1) };
        let file_path =
            self.unit.files.get(token.line_file.0 as usize).map_or("", |file_path| &file_path.path);
        (file_path.to_owned(), token.line)
    }

    fn next_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    fn resolve(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn declare(
        &mut self,
        name: &str,
        spelled_text: String,
        value_place: Held,
        declared_shape: Option<types::Shape>,
    ) {
        let scope = self.scopes.last_mut().expect("the file's scope is never left");
        scope.insert(
            name.to_owned(),
            Symbol { text: spelled_text, place: value_place, field: None, shape: declared_shape },
        );
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}-{}", self.line, self.start, self.end)
    }
}
