//! The source line of every instruction.
//!
//! Knows: OpLine, and DebugLine of the instruction set NonSemantic.Shader.DebugInfo.100.
//! Promises: a line applies up to the end of its block or function, as the specification has it.

use super::functions::{Function, is_terminator};
use super::{Id, Instruction};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;

/// Debug line that applies to an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLine {
    /// Id of the OpString with the file name.
    pub file: Id,
    /// Line in that file, from 1.
    pub line: u32,
    /// Column, from 1; 0 where the compiler gives none.
    pub column: u32,
}

/// Lines by OpLine, and by DebugLine of the instruction set NonSemantic.Shader.DebugInfo.100 where
/// a compiler writes those instead (DebugLine = 103, DebugNoLine = 104, DebugSource = 35; their
/// numbers are ids of constants).
pub(super) fn instruction_lines(instructions: &[Instruction]) -> Vec<Option<SourceLine>> {
    let debug_lines = DebugLines::from_instructions(instructions);
    let mut current_line = None;
    instructions
        .iter()
        .map(|instruction| {
            match instruction.op {
                Op::Line => {
                    current_line =
                        match (instruction.id(0), instruction.literal(1), instruction.literal(2)) {
                            (Some(file), Some(line), Some(column)) => {
                                Some(SourceLine { file, line, column })
                            }
                            _ => None,
                        }
                }
                Op::NoLine | Op::FunctionEnd => current_line = None,
                Op::ExtInst
                    if instruction.id(0).is_some_and(|set| debug_lines.set == Some(set)) =>
                {
                    match instruction.literal(1) {
                        Some(103) => current_line = debug_lines.line_of(instruction),
                        Some(104) => current_line = None,
                        _ => {}
                    }
                }
                _ => {}
            }
            let line_here = current_line;
            if is_terminator(instruction.op) {
                current_line = None;
            }
            line_here
        })
        .collect()
}

/// What DebugLine refers to.
pub(super) struct DebugLines {
    pub(super) set: Option<Id>,
    /// The file name of each DebugSource.
    pub(super) sources: BTreeMap<Id, Id>,
    pub(super) numbers: BTreeMap<Id, u32>,
}

impl DebugLines {
    pub(super) fn from_instructions(instructions: &[Instruction]) -> Self {
        let instruction_set = instructions.iter().find(|instruction| {
            let set_name = [Operand::LiteralString("NonSemantic.Shader.DebugInfo.100".to_owned())];
            instruction.op == Op::ExtInstImport && instruction.operands == set_name
        });
        let instruction_set = instruction_set.and_then(|instruction| instruction.result);
        let mut debug_lines =
            Self { set: instruction_set, sources: BTreeMap::new(), numbers: BTreeMap::new() };
        if instruction_set.is_none() {
            return debug_lines;
        }
        for instruction in instructions {
            match (instruction.op, instruction.result) {
                (Op::Constant, Some(id)) => {
                    debug_lines.numbers.extend(instruction.literal(0).map(|number| (id, number)));
                }
                (Op::ExtInst, Some(id))
                    if instruction.id(0) == instruction_set
                        && instruction.literal(1) == Some(35) =>
                {
                    debug_lines.sources.extend(instruction.id(2).map(|file| (id, file)));
                }
                _ => {}
            }
        }
        debug_lines
    }

    pub(super) fn line_of(&self, instruction: &Instruction) -> Option<SourceLine> {
        let constant_number = |index| self.numbers.get(&instruction.id(index)?).copied();
        let file_name = *self.sources.get(&instruction.id(2)?)?;
        Some(SourceLine {
            file: file_name,
            line: constant_number(3)?,
            column: constant_number(5).unwrap_or(0),
        })
    }
}

/// By instruction: its own line or the first one behind it in its function; none outside functions.
pub(super) fn lines_ahead(
    functions: &[Function],
    lines: &[Option<SourceLine>],
) -> Vec<Option<SourceLine>> {
    let mut line_ahead = vec![None; lines.len()];
    for function in functions {
        let mut next_line = None;
        for index in function.instruction_indices().rev() {
            next_line = lines[index].or(next_line);
            line_ahead[index] = next_line;
        }
    }
    line_ahead
}
