//! Functions and blocks as ranges of the instruction list.

use super::{Id, Instruction};
use rspirv::spirv::Op;
use std::ops::Range;
use vkcert_model::index_range::IndexRange;

/// A function's extent in the instruction list.
#[derive(Debug, Clone)]
pub struct Function {
    /// Result id of OpFunction.
    pub id: Id,
    /// Result ids of OpFunctionParameter.
    pub parameters: Vec<Id>,
    /// From OpFunction up to and including OpFunctionEnd.
    pub range: IndexRange,
    /// Its blocks, in the order of the module; none of a declaration.
    pub blocks: Vec<FunctionBlock>,
}

/// A block's extent: from OpLabel up to and including its terminator. Debug lines stay inside.
#[derive(Debug, Clone)]
pub struct FunctionBlock {
    /// Result id of OpLabel.
    pub label: Id,
    /// Indices of its instructions in the module.
    pub range: IndexRange,
}

pub(super) fn find_functions(instructions: &[Instruction]) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut block_start = None;
    for (index, instruction) in instructions.iter().enumerate() {
        match instruction.op {
            Op::Function => functions.push(Function {
                id: instruction.result.expect("OpFunction has a result"),
                parameters: Vec::new(),
                range: (index..index + 1).into(),
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
                    function.blocks.push(FunctionBlock { label, range: (start..index + 1).into() });
                }
            }
            _ => {}
        }
    }
    functions
}

impl Function {
    /// Indices of its instructions in the module's list.
    pub fn instruction_indices(&self) -> Range<usize> {
        self.range.range()
    }
}

impl FunctionBlock {
    /// Indices of its instructions in the module's list.
    pub fn instruction_indices(&self) -> Range<usize> {
        self.range.range()
    }
}

/// Whether an instruction ends a block (SPIR-V specification, "Block Termination Instruction").
pub fn is_terminator(op: Op) -> bool {
    rspirv::grammar::reflect::is_block_terminator(op)
}
