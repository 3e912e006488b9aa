//! A module as rows whose ids can be replaced word by word.

use super::Id;
use rspirv::binary::{Consumer, ParseAction};
use rspirv::dr::{self, Operand};
use rspirv::spirv::Op;
use vkcert_model::index_range::IndexRange;

/// An instruction: where its words stand, and which of them are ids.
pub(super) struct InstructionRow {
    pub(super) op: Op,
    pub(super) result: Option<Id>,
    pub(super) offset: usize,
    pub(super) length: usize,
    /// In [`ModuleRows::uses`].
    pub(super) uses: IndexRange,
}

#[derive(PartialEq, Eq)]
pub(super) enum Readability {
    Yes,
    No,
}

/// A module as instructions whose ids can be replaced word by word.
pub(super) struct ModuleRows<'a> {
    pub(super) words: &'a [u32],
    pub(super) rows: Vec<InstructionRow>,
    /// Word offset and id of every operand that is one; the result type is none of them.
    pub(super) uses: Vec<(usize, Id)>,
    pub(super) state: Readability,
}

impl<'a> ModuleRows<'a> {
    pub(super) fn new(words: &'a [u32]) -> Self {
        Self { words, rows: Vec::new(), uses: Vec::new(), state: Readability::Yes }
    }

    pub(super) fn uses(&self, row: usize) -> &[(usize, Id)] {
        &self.uses[self.rows[row].uses.range()]
    }

    /// From OpFunction up to and including OpFunctionEnd.
    pub(super) fn function_ranges(&self) -> Vec<IndexRange> {
        let mut function_ranges: Vec<IndexRange> = Vec::new();
        let mut function_start = None;
        for (index, row) in self.rows.iter().enumerate() {
            match (row.op, function_start) {
                (Op::Function, None) => function_start = Some(index),
                (Op::FunctionEnd, Some(first)) => {
                    function_ranges.push((first..index + 1).into());
                    function_start = None;
                }
                _ => {}
            }
        }
        function_ranges
    }

    pub(super) fn block_count(&self, function: IndexRange) -> usize {
        self.rows[function.range()].iter().filter(|row| row.op == Op::Label).count()
    }
}

impl Consumer for ModuleRows<'_> {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, _header: dr::ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, read: dr::Instruction) -> ParseAction {
        let offset = self.rows.last().map_or(5, |row| row.offset + row.length);
        let length = (self.words.get(offset).copied().unwrap_or(1 << 16) >> 16) as usize;
        let first_use = self.uses.len();
        let mut word_offset = offset
            + 1
            + usize::from(read.result_type.is_some())
            + usize::from(read.result_id.is_some());
        for operand in &read.operands {
            word_offset += match operand {
                Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => {
                    self.uses.push((word_offset, *id));
                    1
                }
                Operand::LiteralString(text) => text.len() / 4 + 1,
                Operand::LiteralBit64(_) => 2,
                _ => 1,
            };
        }
        let op = read.class.opcode;
        // What is not read as it stands (constant operations) has no use inside functions; group
        // decorations have two forms.
        let is_declaration = op == Op::SpecConstantComposite || op == Op::Source;
        let is_group =
            matches!(op, Op::DecorationGroup | Op::GroupDecorate | Op::GroupMemberDecorate);
        if is_group || (word_offset != offset + length && !is_declaration) {
            self.state = Readability::No;
        }
        self.rows.push(InstructionRow {
            op,
            result: read.result_id,
            offset,
            length,
            uses: (first_use..self.uses.len()).into(),
        });
        ParseAction::Continue
    }
}
