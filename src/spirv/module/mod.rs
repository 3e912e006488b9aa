//! A parsed SPIR-V module: the flat instruction list with word offsets, and indexes into it.
//!
//! The list keeps every instruction in its place, so that a pass can copy, drop and insert
//! instructions and write the result with [`super::rewrite`]. Offsets count 32-bit words from the
//! magic number (SPIR-V specification, section 2.3).

mod annotations;
mod debug_lines;
mod functions;
mod reader;
mod words;

use super::opcodes;
use annotations::Annotations;
pub use annotations::{Decorated, EntryPoint};
pub use debug_lines::SourceLine;
pub use functions::{Function, FunctionBlock, is_terminator};
pub use reader::ModuleError;
use rspirv::dr::{self, Operand};
use rspirv::spirv::{Decoration, GlslStd450Op, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::index_range::IndexRange;
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
    /// Indices of the defining instructions, by id.
    definitions: Vec<(Id, usize)>,
    annotations: Annotations,
    lines: Vec<Option<SourceLine>>,
    /// By instruction: its line, or the next one in its function.
    lines_ahead: Vec<Option<SourceLine>>,
    /// Index in `functions` by id.
    function_numbers: BTreeMap<Id, usize>,
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
        let extended_instructions =
            self.instructions.iter().filter(|instruction| instruction.op == Op::ExtInst);
        extended_instructions
            .filter_map(|instruction| instruction.literal(1))
            .any(|instruction_number| matrix_functions.contains(&instruction_number))
    }

    /// The instructions of a function or block.
    pub fn instructions_in(&self, indices: IndexRange) -> &[Instruction] {
        &self.instructions[indices.range()]
    }

    /// The instruction that defines `id`.
    pub fn definition(&self, id: Id) -> Option<&Instruction> {
        self.definition_index(id).map(|instruction_index| &self.instructions[instruction_index])
    }

    /// The place of the defining instruction in [`Self::instructions`].
    pub fn definition_index(&self, id: Id) -> Option<usize> {
        let place = self.definitions.binary_search_by_key(&id, |(defined, _)| *defined).ok()?;
        Some(self.definitions[place].1)
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

    /// The words without debug information: the same for texts that differ in nothing but comments,
    /// lines and names.
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
    /// tell them. glslang's function names lose their `(...` suffix.
    pub fn place_of(&self, instruction_index: usize) -> vkcert_model::place::Place {
        // Compilers give no line to the headers of loops: the first one behind them stands in.
        let line = self
            .line_of(instruction_index)
            .or_else(|| self.lines_ahead.get(instruction_index).copied().flatten());
        let function = self.function_at(instruction_index).map(|function| {
            let debug_name = self.debug_name(function.id).unwrap_or_default();
            match debug_name.split('(').next() {
                Some(function_name) if !function_name.is_empty() => function_name.to_owned(),
                Some(_) | None => format!("%{}", function.id),
            }
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

pub(crate) fn is_atomic(op: Op) -> bool {
    let integers = Op::AtomicLoad as u32..=Op::AtomicXor as u32;
    integers.contains(&(op as u32))
        || matches!(op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT | Op::AtomicFAddEXT)
}

fn is_binding(instruction: &&Instruction) -> bool {
    instruction.op == Op::Decorate
        && instruction.operands.get(1) == Some(&Operand::Decoration(Decoration::Binding))
}
