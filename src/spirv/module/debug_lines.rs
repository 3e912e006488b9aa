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
pub struct Line {
    /// Id of the OpString with the file name.
    pub file: Id,
    pub line: u32,
    pub column: u32,
}

/// Lines by OpLine, and by DebugLine of the instruction set NonSemantic.Shader.DebugInfo.100 where
/// a compiler writes those instead (DebugLine = 103, DebugNoLine = 104, DebugSource = 35; their
/// numbers are ids of constants).
pub(super) fn lines(instructions: &[Instruction]) -> Vec<Option<Line>> {
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
pub(super) struct DebugLines {
    pub(super) set: Option<Id>,
    /// The file name of each DebugSource.
    pub(super) sources: BTreeMap<Id, Id>,
    pub(super) numbers: BTreeMap<Id, u32>,
}

impl DebugLines {
    pub(super) fn of(instructions: &[Instruction]) -> Self {
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

    pub(super) fn line(&self, instruction: &Instruction) -> Option<Line> {
        let number = |index| self.numbers.get(&instruction.id(index)?).copied();
        let file = *self.sources.get(&instruction.id(2)?)?;
        Some(Line { file, line: number(3)?, column: number(5).unwrap_or(0) })
    }
}

/// By instruction: its own line or the first one behind it in its function; none outside functions.
pub(super) fn lines_ahead(functions: &[Function], lines: &[Option<Line>]) -> Vec<Option<Line>> {
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
