//! From words to a module with its indexes.
//!
//! Knows: the binary form of SPIR-V, as `rspirv` reads it.
//! Promises: words that do not follow the grammar, or whose functions and blocks do not begin and
//! end as they must, are an error.
//! Does not cover: the rules that the validator checks.

use super::annotations::{Annotations, entry_points};
use super::debug_lines::{instruction_lines, lines_ahead};
use super::functions::find_functions;
use super::words::constant_operation;
use super::{Id, Instruction, Module, disguise_constant_operations, whole_instructions};
use crate::nesting;
use rspirv::binary::{Consumer, ParseAction};
use rspirv::dr;
use rspirv::spirv::Op;
use std::sync::Arc;

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
        nesting::check_nesting(&instructions)?;
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
        // Of an id that is defined twice, the last definition counts.
        let rows = instructions.iter().enumerate().rev();
        let mut definitions: Vec<(Id, usize)> =
            rows.filter_map(|(index, row)| Some((row.result?, index))).collect();
        definitions.sort_by_key(|(id, _)| *id);
        definitions.dedup_by_key(|(id, _)| *id);
        Self {
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
            entry_points: entry_points(&instructions),
            definitions,
            annotations: Annotations::of_instructions(&instructions),
            lines,
            instructions,
        }
    }
}
