//! A parsed SPIR-V module: the flat instruction list with word offsets, and indexes into it.
//!
//! The list keeps every instruction in its place, so that a pass can copy, drop and insert
//! instructions and write the result with [`super::rewrite`]. Offsets count 32-bit words from the
//! magic number (SPIR-V specification, section 2.3).

use super::opcodes;
use rspirv::binary::{Consumer, ParseAction};
use rspirv::dr::{self, Operand};
use rspirv::spirv::{Capability, Decoration, GlslStd450Op, Op};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// An id of a module.
pub type Id = u32;

/// One instruction with its place.
#[derive(Debug, Clone)]
pub struct Instruction {
    pub op: Op,
    pub result_type: Option<Id>,
    pub result: Option<Id>,
    pub operands: Vec<Operand>,
    /// Word offset in the module.
    pub offset: u32,
}

impl Instruction {
    /// The id in operand `index`; `None` where the operand is no id.
    pub fn id(&self, index: usize) -> Option<Id> {
        match self.operands.get(index)? {
            Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
            _ => None,
        }
    }

    /// The 32-bit literal in operand `index`.
    pub fn literal(&self, index: usize) -> Option<u32> {
        match self.operands.get(index)? {
            Operand::LiteralBit32(value) | Operand::LiteralExtInstInteger(value) => Some(*value),
            _ => None,
        }
    }

    /// All ids among the operands, in order.
    pub fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
            _ => None,
        })
    }
}

/// A function's extent in the instruction list.
#[derive(Debug, Clone)]
pub struct Function {
    pub id: Id,
    /// Result ids of OpFunctionParameter.
    pub parameters: Vec<Id>,
    /// From OpFunction up to and including OpFunctionEnd.
    pub range: Range<usize>,
    pub blocks: Vec<Block>,
}

/// A block's extent: from OpLabel up to and including its terminator. Debug lines stay inside.
#[derive(Debug, Clone)]
pub struct Block {
    pub label: Id,
    pub range: Range<usize>,
}

/// An entry point.
#[derive(Debug, Clone)]
pub struct EntryPoint {
    pub name: String,
    pub function: Id,
    pub model: rspirv::spirv::ExecutionModel,
    pub interface: Vec<Id>,
}

/// A decoration with its operands behind the decoration word.
#[derive(Debug, Clone)]
pub struct Decorated {
    pub decoration: Decoration,
    pub operands: Vec<Operand>,
}

/// Debug line that applies to an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Id of the OpString with the file name.
    pub file: Id,
    pub line: u32,
    pub column: u32,
}

/// A parsed module.
#[derive(Debug, Clone)]
pub struct Module {
    pub words: Arc<Vec<u32>>,
    pub header: dr::ModuleHeader,
    pub instructions: Vec<Instruction>,
    pub functions: Vec<Function>,
    pub entry_points: Vec<EntryPoint>,
    definitions: BTreeMap<Id, usize>,
    names: BTreeMap<Id, String>,
    member_names: BTreeMap<(Id, u32), String>,
    decorations: BTreeMap<Id, Vec<Decorated>>,
    member_decorations: BTreeMap<(Id, u32), Vec<Decorated>>,
    strings: BTreeMap<Id, String>,
    lines: Vec<Option<Line>>,
    /// By instruction: its line, or the next one in its function.
    lines_ahead: Vec<Option<Line>>,
    /// Index in `functions` by id.
    function_numbers: BTreeMap<Id, usize>,
}

/// A word stream that is no SPIR-V module.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModuleError {
    #[error("not a SPIR-V module: {reason}")]
    Parse { reason: String },
    #[error("{what} %{id} {problem}")]
    Nesting { what: &'static str, id: Id, problem: String },
    #[error("a SPIR-V module has a whole number of 4-byte words; this one has {bytes} bytes")]
    PartialWord { bytes: usize },
}

/// Instructions as they are read, in the form that is kept.
struct Collector<'a> {
    words: &'a [u32],
    header: Option<dr::ModuleHeader>,
    instructions: Vec<Instruction>,
    offset: u32,
    failure: Option<ModuleError>,
}

impl Consumer for Collector<'_> {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, header: dr::ModuleHeader) -> ParseAction {
        self.header = Some(header);
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, parsed: dr::Instruction) -> ParseAction {
        let word = self.words.get(self.offset as usize).copied().unwrap_or(1 << 16);
        let (op, mut operands) = match word & 0xFFFF {
            opcode if opcode == Op::SpecConstantOp as u32 => {
                match constant_operation(&parsed.operands) {
                    Ok(operands) => (Op::SpecConstantOp, operands),
                    Err(error) => {
                        self.failure.get_or_insert(error);
                        return ParseAction::Stop;
                    }
                }
            }
            _ => (parsed.class.opcode, parsed.operands),
        };
        // Operands are kept as long as the module: the reader leaves room for four.
        operands.shrink_to_fit();
        let (result_type, result) = (parsed.result_type, parsed.result_id);
        self.instructions.push(Instruction {
            op,
            result_type,
            result,
            operands,
            offset: self.offset,
        });
        self.offset += word >> 16;
        ParseAction::Continue
    }
}

impl Module {
    /// Binding numbers that the module declares, of any set.
    pub fn binding_numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let is_binding = |i: &&Instruction| {
            i.op == Op::Decorate
                && i.operands.get(1) == Some(&Operand::Decoration(Decoration::Binding))
        };
        self.instructions.iter().filter(is_binding).filter_map(|instruction| instruction.literal(2))
    }

    /// Whether it has atomic instructions.
    pub fn has_atomics(&self) -> bool {
        let is_atomic = |op: Op| {
            let integers = Op::AtomicLoad as u32..=Op::AtomicXor as u32;
            integers.contains(&(op as u32))
                || matches!(op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT | Op::AtomicFAddEXT)
        };
        self.instructions.iter().any(|instruction| is_atomic(instruction.op))
    }

    /// Whether it may compute determinants or inverses of matrices (GLSL.std.450; instructions of
    /// other sets count, too).
    pub fn computes_determinants(&self) -> bool {
        let numbers = [GlslStd450Op::Determinant as u32, GlslStd450Op::MatrixInverse as u32];
        let computes = |one: &Instruction| {
            one.op == Op::ExtInst && one.literal(1).is_some_and(|it| numbers.contains(&it))
        };
        self.instructions.iter().any(computes)
    }

    /// Parses a word stream. Run the validator first: this reader checks the grammar, not the
    /// rules.
    pub fn parse(words: impl Into<Arc<Vec<u32>>>) -> Result<Self, ModuleError> {
        let words = words.into();
        whole_instructions(&words)?;
        let readable = disguise_constant_operations(&words);
        let instructions = Vec::with_capacity(words.len() / 4);
        let mut collector =
            Collector { words: &words, header: None, instructions, offset: 5, failure: None };
        let read = rspirv::binary::parse_words(
            readable.as_deref().unwrap_or(words.as_slice()),
            &mut collector,
        );
        let Collector { header, mut instructions, failure, .. } = collector;
        if let Some(failure) = failure {
            return Err(failure);
        }
        read.map_err(|state| ModuleError::Parse { reason: state.to_string() })?;
        let header = header.ok_or_else(|| ModuleError::Parse { reason: "no header".to_owned() })?;
        instructions.shrink_to_fit();
        super::nesting::check(&instructions)?;
        Ok(Self::index(words, header, instructions))
    }

    /// Parses a little-endian byte stream.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, ModuleError> {
        if !bytes.len().is_multiple_of(4) {
            return Err(ModuleError::PartialWord { bytes: bytes.len() });
        }
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|chunk| u32::from_le_bytes(chunk.try_into().expect("4 bytes")))
            .collect();
        Self::parse(words)
    }

    fn index(
        words: Arc<Vec<u32>>,
        header: dr::ModuleHeader,
        instructions: Vec<Instruction>,
    ) -> Self {
        let functions = functions(&instructions);
        let lines = lines(&instructions);
        let mut module = Self {
            words,
            header,
            lines_ahead: lines_ahead(&functions, &lines),
            function_numbers: functions
                .iter()
                .enumerate()
                .rev()
                .map(|(at, function)| (function.id, at))
                .collect(),
            functions,
            entry_points: Vec::new(),
            definitions: BTreeMap::new(),
            names: BTreeMap::new(),
            member_names: BTreeMap::new(),
            decorations: BTreeMap::new(),
            member_decorations: BTreeMap::new(),
            strings: BTreeMap::new(),
            lines,
            instructions: Vec::new(),
        };
        for (index, instruction) in instructions.iter().enumerate() {
            if let Some(result) = instruction.result {
                module.definitions.insert(result, index);
            }
            module.index_declaration(instruction);
        }
        module.instructions = instructions;
        module
    }

    fn index_declaration(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands;
        match (instruction.op, operands.as_slice()) {
            (Op::Name, [Operand::IdRef(id), Operand::LiteralString(name)]) => {
                self.names.insert(*id, name.clone());
            }
            (
                Op::MemberName,
                [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::LiteralString(name)],
            ) => {
                self.member_names.insert((*id, *member), name.clone());
            }
            (Op::String, [Operand::LiteralString(text)]) => {
                self.strings.extend(instruction.result.map(|id| (id, text.clone())));
            }
            (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(decoration), rest @ ..]) => {
                let decorated = Decorated { decoration: *decoration, operands: rest.to_vec() };
                self.decorations.entry(*id).or_default().push(decorated);
            }
            (
                Op::MemberDecorate,
                [
                    Operand::IdRef(id),
                    Operand::LiteralBit32(member),
                    Operand::Decoration(decoration),
                    rest @ ..,
                ],
            ) => {
                let decorated = Decorated { decoration: *decoration, operands: rest.to_vec() };
                self.member_decorations.entry((*id, *member)).or_default().push(decorated);
            }
            // The group's own decorations come before it is used (SPIR-V, 2.4 and OpGroupDecorate).
            (Op::GroupDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let shared = self.decorations(*group).to_vec();
                for id in targets.iter().filter_map(Operand::id_ref_any) {
                    self.decorations.entry(id).or_default().extend(shared.iter().cloned());
                }
            }
            (Op::GroupMemberDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let shared = self.decorations(*group).to_vec();
                for pair in targets.chunks(2) {
                    if let [Operand::IdRef(id), Operand::LiteralBit32(member)] = pair {
                        self.member_decorations
                            .entry((*id, *member))
                            .or_default()
                            .extend(shared.iter().cloned());
                    }
                }
            }
            (
                Op::EntryPoint,
                [
                    Operand::ExecutionModel(model),
                    Operand::IdRef(function),
                    Operand::LiteralString(name),
                    interface @ ..,
                ],
            ) => {
                let interface = interface
                    .iter()
                    .filter_map(|operand| match operand {
                        Operand::IdRef(id) => Some(*id),
                        _ => None,
                    })
                    .collect();
                self.entry_points.push(EntryPoint {
                    name: name.clone(),
                    function: *function,
                    model: *model,
                    interface,
                });
            }
            _ => {}
        }
    }

    /// The instruction that defines `id`.
    pub fn definition(&self, id: Id) -> Option<&Instruction> {
        self.definitions.get(&id).map(|index| &self.instructions[*index])
    }

    /// The place of the defining instruction in [`Self::instructions`].
    pub fn definition_index(&self, id: Id) -> Option<usize> {
        self.definitions.get(&id).copied()
    }

    /// The OpName of `id`.
    pub fn name(&self, id: Id) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    pub fn member_name(&self, structure: Id, member: u32) -> Option<&str> {
        self.member_names.get(&(structure, member)).map(String::as_str)
    }

    pub fn decorations(&self, id: Id) -> &[Decorated] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    pub fn member_decorations(&self, structure: Id, member: u32) -> &[Decorated] {
        self.member_decorations.get(&(structure, member)).map_or(&[], Vec::as_slice)
    }

    pub fn decoration(&self, id: Id, decoration: Decoration) -> Option<&Decorated> {
        self.decorations(id).iter().find(|decorated| decorated.decoration == decoration)
    }

    /// The number by which a host names a specialization constant (`SpecId`).
    pub fn specialization_id(&self, constant: Id) -> Option<u32> {
        match self.decoration(constant, Decoration::SpecId)?.operands.first()? {
            Operand::LiteralBit32(number) => Some(*number),
            _ => None,
        }
    }

    pub fn member_decoration(
        &self,
        structure: Id,
        member: u32,
        decoration: Decoration,
    ) -> Option<&Decorated> {
        self.member_decorations(structure, member)
            .iter()
            .find(|decorated| decorated.decoration == decoration)
    }

    pub fn string(&self, id: Id) -> Option<&str> {
        self.strings.get(&id).map(String::as_str)
    }

    /// The debug line that applies to instruction `index`.
    pub fn line(&self, index: usize) -> Option<Line> {
        self.lines.get(index).copied().flatten()
    }

    pub fn function(&self, id: Id) -> Option<&Function> {
        self.function_numbers.get(&id).map(|at| &self.functions[*at])
    }

    /// The function that instruction `index` belongs to.
    pub fn function_at(&self, index: usize) -> Option<&Function> {
        let before = self.functions.partition_point(|function| function.range.start <= index);
        self.functions[..before].last().filter(|function| function.range.contains(&index))
    }

    pub fn entry_point(&self, name: &str) -> Option<&EntryPoint> {
        self.entry_points.iter().find(|entry| entry.name == name)
    }

    /// Where instruction `index` stands, for findings: glslang's function names lose their `(...`
    /// suffix. The words without debug information: the same for texts that differ in nothing but
    /// comments, lines and names.
    pub fn code(&self) -> Vec<u32> {
        let mut words = self.words[..5].to_vec();
        let ends = self
            .instructions
            .iter()
            .skip(1)
            .map(|next| next.offset as usize)
            .chain([self.words.len()]);
        for (instruction, end) in self.instructions.iter().zip(ends) {
            if !opcodes::is_debug(instruction.op) {
                words.extend(&self.words[instruction.offset as usize..end]);
            }
        }
        words
    }

    /// The number of an instruction in [`Module::code`], from 0.
    pub fn number_in_code(&self, index: usize) -> u32 {
        self.instructions[..index].iter().filter(|before| !opcodes::is_debug(before.op)).count()
            as u32
    }

    pub fn place(&self, index: usize) -> vkcert_model::place::Place {
        // Compilers give no line to the headers of loops: the first one behind them stands in.
        let line = self.line(index).or_else(|| self.lines_ahead.get(index).copied().flatten());
        let function = self.function_at(index).map(|function| {
            let name = self
                .name(function.id)
                .map(|name| name.split('(').next().unwrap_or(name).to_owned());
            name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("%{}", function.id))
        });
        vkcert_model::place::Place {
            file: line.and_then(|line| self.string(line.file)).map(str::to_owned),
            line: line.map(|line| line.line),
            column: line.map(|line| line.column).filter(|column| *column > 0),
            function,
            instruction: Some(self.instructions[index].offset),
        }
    }
}

/// Numbers of declared capabilities that the grammar does not have.
pub fn unknown_capabilities(words: &[u32]) -> Vec<u32> {
    let declared = capabilities(words).map(|(_, number)| number);
    declared.filter(|number| Capability::from_u32(*number).is_none()).collect()
}

/// The module without these declarations.
pub fn without_unknown_capabilities(words: &[u32]) -> Vec<u32> {
    let unknown = |number: u32| Capability::from_u32(number).is_none();
    let dropped: Vec<usize> =
        capabilities(words).filter(|one| unknown(one.1)).map(|(at, _)| at).collect();
    let kept = |at: usize| !dropped.iter().any(|start| (*start..start + 2).contains(&at));
    words.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, word)| *word).collect()
}

/// Where each OpCapability stands, and its number; they come before everything else.
fn capabilities(words: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let first = 5;
    let declared = words.get(first..).unwrap_or_default().chunks_exact(2);
    let declared = declared.take_while(|pair| pair[0] == 2 << 16 | Op::Capability as u32);
    declared.enumerate().map(move |(at, pair)| (first + 2 * at, pair[1]))
}

/// Instructions must end within the module: rspirv 0.13 reads strings up to the end that an
/// instruction claims.
pub(super) fn whole_instructions(words: &[u32]) -> Result<(), ModuleError> {
    let mut offset = 5;
    while let Some(word) = words.get(offset) {
        let length = (word >> 16) as usize;
        if length == 0 || offset + length > words.len() {
            let reason = format!("the instruction at word {offset} claims {length} words");
            return Err(ModuleError::Parse { reason });
        }
        offset += length;
    }
    Ok(())
}

/// rspirv 0.13 reads exactly one operand per entry of the grammar behind the opcode of an
/// OpSpecConstantOp, so that a shuffle or an extraction with several indices fails. In its eyes
/// they become OpSpecConstantComposite, whose operands are plain words; [`constant_operation`]
/// gives them their meaning. `None` where the module has none.
pub(super) fn disguise_constant_operations(words: &[u32]) -> Option<Vec<u32>> {
    let mut disguised: Option<Vec<u32>> = None;
    let mut offset = 5;
    while let Some(word) = words.get(offset) {
        if word & 0xFFFF == Op::SpecConstantOp as u32 {
            let copy = disguised.get_or_insert_with(|| words.to_vec());
            copy[offset] = word & 0xFFFF_0000 | Op::SpecConstantComposite as u32;
        }
        offset += (word >> 16).max(1) as usize;
    }
    disguised
}

/// The operands of an OpSpecConstantOp from its plain words: opcode, then ids and literals as that
/// opcode has them.
fn constant_operation(words: &[Operand]) -> Result<Vec<Operand>, ModuleError> {
    let mut words = words.iter().filter_map(|word| match word {
        Operand::IdRef(word) => Some(*word),
        _ => None,
    });
    let opcode = words.next().and_then(Op::from_u32);
    let op = opcode.ok_or_else(|| ModuleError::Parse {
        reason: "OpSpecConstantOp without an opcode".to_owned(),
    })?;
    let ids = match op {
        Op::CompositeExtract => 1,
        Op::CompositeInsert | Op::VectorShuffle => 2,
        _ => usize::MAX,
    };
    let operands = words.enumerate().map(|(index, word)| match index {
        index if index < ids => Operand::IdRef(word),
        _ => Operand::LiteralBit32(word),
    });
    Ok(std::iter::once(Operand::LiteralSpecConstantOpInteger(op)).chain(operands).collect())
}

fn functions(instructions: &[Instruction]) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut block_start = None;
    for (index, instruction) in instructions.iter().enumerate() {
        match instruction.op {
            Op::Function => functions.push(Function {
                id: instruction.result.expect("OpFunction has a result"),
                parameters: Vec::new(),
                range: index..index + 1,
                blocks: Vec::new(),
            }),
            Op::FunctionParameter => {
                if let (Some(function), Some(result)) = (functions.last_mut(), instruction.result) {
                    function.parameters.push(result);
                }
            }
            Op::Label => {
                block_start = Some((instruction.result.expect("OpLabel has a result"), index))
            }
            Op::FunctionEnd => {
                if let Some(function) = functions.last_mut() {
                    function.range.end = index + 1;
                }
            }
            op if is_terminator(op) => {
                if let (Some((label, start)), Some(function)) =
                    (block_start.take(), functions.last_mut())
                {
                    function.blocks.push(Block { label, range: start..index + 1 });
                }
            }
            _ => {}
        }
    }
    functions
}

/// Whether an instruction ends a block (SPIR-V specification, "Block Termination Instruction").
pub fn is_terminator(op: Op) -> bool {
    rspirv::grammar::reflect::is_block_terminator(op)
}

/// Lines by OpLine, and by DebugLine of the instruction set NonSemantic.Shader.DebugInfo.100 where
/// a compiler writes those instead (DebugLine = 103, DebugNoLine = 104, DebugSource = 35; their
/// numbers are ids of constants).
fn lines(instructions: &[Instruction]) -> Vec<Option<Line>> {
    let debug = DebugLines::of(instructions);
    let mut current = None;
    instructions
        .iter()
        .map(|instruction| {
            match instruction.op {
                Op::Line => {
                    current =
                        match (instruction.id(0), instruction.literal(1), instruction.literal(2)) {
                            (Some(file), Some(line), Some(column)) => {
                                Some(Line { file, line, column })
                            }
                            _ => None,
                        }
                }
                Op::NoLine | Op::FunctionEnd => current = None,
                Op::ExtInst if instruction.id(0).is_some_and(|set| debug.set == Some(set)) => {
                    match instruction.literal(1) {
                        Some(103) => current = debug.line(instruction),
                        Some(104) => current = None,
                        _ => {}
                    }
                }
                _ => {}
            }
            let here = current;
            if is_terminator(instruction.op) {
                current = None;
            }
            here
        })
        .collect()
}

/// What DebugLine refers to.
struct DebugLines {
    set: Option<Id>,
    /// The file name of each DebugSource.
    sources: BTreeMap<Id, Id>,
    numbers: BTreeMap<Id, u32>,
}

impl DebugLines {
    fn of(instructions: &[Instruction]) -> Self {
        let set = instructions.iter().find(|instruction| {
            let name = [Operand::LiteralString("NonSemantic.Shader.DebugInfo.100".to_owned())];
            instruction.op == Op::ExtInstImport && instruction.operands == name
        });
        let set = set.and_then(|instruction| instruction.result);
        let mut found = Self { set, sources: BTreeMap::new(), numbers: BTreeMap::new() };
        if set.is_none() {
            return found;
        }
        for instruction in instructions {
            match (instruction.op, instruction.result) {
                (Op::Constant, Some(id)) => {
                    found.numbers.extend(instruction.literal(0).map(|number| (id, number)));
                }
                (Op::ExtInst, Some(id))
                    if instruction.id(0) == set && instruction.literal(1) == Some(35) =>
                {
                    found.sources.extend(instruction.id(2).map(|file| (id, file)));
                }
                _ => {}
            }
        }
        found
    }

    fn line(&self, instruction: &Instruction) -> Option<Line> {
        let number = |index| self.numbers.get(&instruction.id(index)?).copied();
        let file = *self.sources.get(&instruction.id(2)?)?;
        Some(Line { file, line: number(3)?, column: number(5).unwrap_or(0) })
    }
}

/// By instruction: its own line or the first one behind it in its function; none outside functions.
fn lines_ahead(functions: &[Function], lines: &[Option<Line>]) -> Vec<Option<Line>> {
    let mut ahead = vec![None; lines.len()];
    for function in functions {
        let mut next = None;
        for index in function.range.clone().rev() {
            next = lines[index].or(next);
            ahead[index] = next;
        }
    }
    ahead
}
