//! A parsed SPIR-V module: the flat instruction list with word offsets, and indexes into it.
//!
//! The list keeps every instruction in its place, so that a pass can copy, drop and insert
//! instructions and write the result with [`super::rewrite`]. Offsets count 32-bit words from the
//! magic number (SPIR-V specification, section 2.3).

mod debug_lines;
mod functions;
mod words;

use super::opcodes;
pub use debug_lines::SourceLine;
use debug_lines::{instruction_lines, lines_ahead};
use functions::find_functions;
pub use functions::{Function, FunctionBlock, is_terminator};
use rspirv::binary::{Consumer, ParseAction};
use rspirv::dr::{self, Operand};
use rspirv::spirv::{Decoration, GlslStd450Op, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::index_range::IndexRange;
use words::constant_operation;
pub(crate) use words::{disguise_constant_operations, whole_instructions};
pub use words::{unknown_capabilities, without_unknown_capabilities};

/// An id of a module.
pub type Id = u32;

/// One instruction with its place.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// The opcode.
    pub op: Op,
    /// Id of the result's type; none without result, and of results without type.
    pub result_type: Option<Id>,
    /// Result id; none without result.
    pub result: Option<Id>,
    /// The operands behind result type and result.
    pub operands: Vec<Operand>,
    /// Word offset in the module.
    pub offset: u32,
}

impl Instruction {
    /// The id in operand `index`; `None` where the operand is no id.
    pub fn id(&self, operand_index: usize) -> Option<Id> {
        match self.operands.get(operand_index)? {
            Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
            _ => None,
        }
    }

    /// The 32-bit literal in operand `index`.
    pub fn literal(&self, operand_index: usize) -> Option<u32> {
        match self.operands.get(operand_index)? {
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

/// An entry point.
#[derive(Debug, Clone)]
pub struct EntryPoint {
    /// The name that hosts select it by.
    pub name: String,
    /// Result id of its function.
    pub function: Id,
    /// Its execution model.
    pub model: rspirv::spirv::ExecutionModel,
    /// Ids of the variables in its interface.
    pub interface: Vec<Id>,
}

/// A decoration with its operands behind the decoration word.
#[derive(Debug, Clone)]
pub struct Decorated {
    /// The decoration.
    pub decoration: Decoration,
    /// Its operands, as ids or literals.
    pub operands: Vec<Operand>,
}

/// A parsed module.
#[derive(Debug, Clone)]
pub struct Module {
    /// The words that it was parsed from.
    pub words: Arc<Vec<u32>>,
    /// Version, generator and bound of ids.
    pub header: dr::ModuleHeader,
    /// Instructions in the order of the module.
    pub instructions: Vec<Instruction>,
    /// Functions in the order of the module, declarations too.
    pub functions: Vec<Function>,
    /// Entry points in the order of the module.
    pub entry_points: Vec<EntryPoint>,
    definitions: BTreeMap<Id, usize>,
    names: BTreeMap<Id, String>,
    member_names: BTreeMap<(Id, u32), String>,
    decorations: BTreeMap<Id, Vec<Decorated>>,
    member_decorations: BTreeMap<(Id, u32), Vec<Decorated>>,
    strings: BTreeMap<Id, String>,
    lines: Vec<Option<SourceLine>>,
    /// By instruction: its line, or the next one in its function.
    lines_ahead: Vec<Option<SourceLine>>,
    /// Index in `functions` by id.
    function_numbers: BTreeMap<Id, usize>,
}

/// A word stream that is no SPIR-V module.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModuleError {
    /// The words do not follow the binary form of SPIR-V.
    #[error("not a SPIR-V module: {reason}")]
    Parse {
        /// What is wrong, by the parser.
        reason: String,
    },
    /// Functions and blocks do not begin and end as they must.
    #[error("{what} %{id} {problem}")]
    Nesting {
        /// What it is: a function or a block.
        what: &'static str,
        /// Its result id.
        id: Id,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes are no whole number of words.
    #[error("a SPIR-V module has a whole number of 4-byte words; this one has {bytes} bytes")]
    PartialWord {
        /// How many bytes there are.
        bytes: usize,
    },
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
        let first_word = self.words.get(self.offset as usize).copied().unwrap_or(1 << 16);
        let (op, mut operands) = match first_word & 0xFFFF {
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
        self.offset += first_word >> 16;
        ParseAction::Continue
    }
}

impl Module {
    /// Binding numbers that the module declares, of any set.
    pub fn binding_numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.instructions.iter().filter(is_binding).filter_map(|instruction| instruction.literal(2))
    }

    /// Whether it has atomic instructions.
    pub fn has_atomics(&self) -> bool {
        self.instructions.iter().any(|instruction| is_atomic(instruction.op))
    }

    /// Whether it may compute determinants or inverses of matrices (GLSL.std.450; instructions of
    /// other sets count, too).
    pub fn computes_determinants(&self) -> bool {
        let matrix_functions =
            [GlslStd450Op::Determinant as u32, GlslStd450Op::MatrixInverse as u32];
        let computes_determinant = |instruction: &Instruction| {
            instruction.op == Op::ExtInst
                && instruction.literal(1).is_some_and(|instruction_number| {
                    matrix_functions.contains(&instruction_number)
                })
        };
        self.instructions.iter().any(computes_determinant)
    }

    /// Parses a word stream. Run the validator first: this reader checks the grammar, not the
    /// rules.
    pub fn parse(words: impl Into<Arc<Vec<u32>>>) -> Result<Self, ModuleError> {
        let words = words.into();
        whole_instructions(&words)?;
        let readable_words = disguise_constant_operations(&words);
        let instructions = Vec::with_capacity(words.len() / 4);
        let mut collector =
            Collector { words: &words, header: None, instructions, offset: 5, failure: None };
        let parse_result = rspirv::binary::parse_words(
            readable_words.as_deref().unwrap_or(words.as_slice()),
            &mut collector,
        );
        let Collector { header, mut instructions, failure, .. } = collector;
        if let Some(failure) = failure {
            return Err(failure);
        }
        parse_result.map_err(|state| ModuleError::Parse { reason: state.to_string() })?;
        let header = header.ok_or_else(|| ModuleError::Parse { reason: "no header".to_owned() })?;
        instructions.shrink_to_fit();
        super::nesting::check_nesting(&instructions)?;
        Ok(Self::from_instructions(words, header, instructions))
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

    fn from_instructions(
        words: Arc<Vec<u32>>,
        header: dr::ModuleHeader,
        instructions: Vec<Instruction>,
    ) -> Self {
        let functions = find_functions(&instructions);
        let lines = instruction_lines(&instructions);
        let mut module = Self {
            words,
            header,
            lines_ahead: lines_ahead(&functions, &lines),
            function_numbers: functions
                .iter()
                .enumerate()
                .rev()
                .map(|(function_index, function)| (function.id, function_index))
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
                let decorated_id = Decorated { decoration: *decoration, operands: rest.to_vec() };
                self.decorations.entry(*id).or_default().push(decorated_id);
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
                let decorated_id = Decorated { decoration: *decoration, operands: rest.to_vec() };
                self.member_decorations.entry((*id, *member)).or_default().push(decorated_id);
            }
            // The group's own decorations come before it is used (SPIR-V, 2.4 and OpGroupDecorate).
            (Op::GroupDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let group_decorations = self.decorations(*group).to_vec();
                for id in targets.iter().filter_map(Operand::id_ref_any) {
                    self.decorations
                        .entry(id)
                        .or_default()
                        .extend(group_decorations.iter().cloned());
                }
            }
            (Op::GroupMemberDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let group_decorations = self.decorations(*group).to_vec();
                for pair in targets.chunks(2) {
                    if let [Operand::IdRef(id), Operand::LiteralBit32(member)] = pair {
                        self.member_decorations
                            .entry((*id, *member))
                            .or_default()
                            .extend(group_decorations.iter().cloned());
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

    /// The instructions of a function or block.
    pub fn instructions_in(&self, indices: IndexRange) -> &[Instruction] {
        &self.instructions[indices.range()]
    }

    /// The instruction that defines `id`.
    pub fn definition(&self, id: Id) -> Option<&Instruction> {
        self.definitions.get(&id).map(|instruction_index| &self.instructions[*instruction_index])
    }

    /// The place of the defining instruction in [`Self::instructions`].
    pub fn definition_index(&self, id: Id) -> Option<usize> {
        self.definitions.get(&id).copied()
    }

    /// The OpName of `id`.
    pub fn debug_name(&self, id: Id) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }

    /// OpMemberName of a structure's member; none where it has none.
    pub fn member_name(&self, structure_type: Id, member_index: u32) -> Option<&str> {
        self.member_names.get(&(structure_type, member_index)).map(String::as_str)
    }

    /// Decorations of an id, in the order of the module.
    pub fn decorations(&self, id: Id) -> &[Decorated] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Decorations of a structure's member, in the order of the module.
    pub fn member_decorations(&self, structure_type: Id, member_index: u32) -> &[Decorated] {
        self.member_decorations.get(&(structure_type, member_index)).map_or(&[], Vec::as_slice)
    }

    /// The first such decoration of an id; none where it lacks it.
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

    /// The first such decoration of a structure's member; none where it lacks it.
    pub fn member_decoration(
        &self,
        structure_type: Id,
        member_index: u32,
        decoration: Decoration,
    ) -> Option<&Decorated> {
        self.member_decorations(structure_type, member_index)
            .iter()
            .find(|decorated| decorated.decoration == decoration)
    }

    /// Text of an OpString; none where the id is none.
    pub(crate) fn debug_string(&self, id: Id) -> Option<&str> {
        self.strings.get(&id).map(String::as_str)
    }

    /// The debug line that applies to instruction `index`.
    pub fn line_of(&self, instruction_index: usize) -> Option<SourceLine> {
        self.lines.get(instruction_index).copied().flatten()
    }

    /// The function with this result id; none where there is none.
    pub fn function_by_id(&self, function_id: Id) -> Option<&Function> {
        self.function_numbers
            .get(&function_id)
            .map(|function_index| &self.functions[*function_index])
    }

    /// The function that instruction `index` belongs to.
    pub fn function_at(&self, instruction_index: usize) -> Option<&Function> {
        let functions_begun =
            self.functions.partition_point(|function| function.range.start <= instruction_index);
        self.functions[..functions_begun]
            .last()
            .filter(|function| function.range.contains(instruction_index))
    }

    /// The first entry point with this name; none where there is none.
    pub fn entry_point(&self, name: &str) -> Option<&EntryPoint> {
        self.entry_points.iter().find(|entry| entry.name == name)
    }

    /// Where instruction `index` stands, for findings: glslang's function names lose their `(...`
    /// suffix. The words without debug information: the same for texts that differ in nothing but
    /// comments, lines and names.
    pub fn code_words(&self) -> Vec<u32> {
        let mut words = self.words[..5].to_vec();
        let end_offsets = self
            .instructions
            .iter()
            .skip(1)
            .map(|next_instruction| next_instruction.offset as usize)
            .chain([self.words.len()]);
        for (instruction, end_offset) in self.instructions.iter().zip(end_offsets) {
            if !opcodes::is_debug(instruction.op) {
                words.extend(&self.words[instruction.offset as usize..end_offset]);
            }
        }
        words
    }

    /// The number of an instruction in [`Module::code_words`], from 0.
    pub fn number_in_code(&self, instruction_index: usize) -> u32 {
        self.instructions[..instruction_index]
            .iter()
            .filter(|earlier_instruction| !opcodes::is_debug(earlier_instruction.op))
            .count() as u32
    }

    /// Where an instruction stands: function and word offset, with file and line where debug lines
    /// tell them.
    pub fn place_of(&self, instruction_index: usize) -> vkcert_model::place::Place {
        // Compilers give no line to the headers of loops: the first one behind them stands in.
        let line = self
            .line_of(instruction_index)
            .or_else(|| self.lines_ahead.get(instruction_index).copied().flatten());
        let function = self.function_at(instruction_index).map(|function| {
            let function_name = self.debug_name(function.id).map(|function_name| {
                function_name.split('(').next().unwrap_or(function_name).to_owned()
            });
            function_name
                .filter(|function_name| !function_name.is_empty())
                .unwrap_or_else(|| format!("%{}", function.id))
        });
        vkcert_model::place::Place {
            file: line.and_then(|line| self.debug_string(line.file)).map(str::to_owned),
            line: line.map(|line| line.line),
            column: line.map(|line| line.column).filter(|column| *column > 0),
            function,
            instruction: Some(self.instructions[instruction_index].offset),
        }
    }
}

fn is_atomic(op: Op) -> bool {
    let integers = Op::AtomicLoad as u32..=Op::AtomicXor as u32;
    integers.contains(&(op as u32))
        || matches!(op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT | Op::AtomicFAddEXT)
}

fn is_binding(instruction: &&Instruction) -> bool {
    instruction.op == Op::Decorate
        && instruction.operands.get(1) == Some(&Operand::Decoration(Decoration::Binding))
}
