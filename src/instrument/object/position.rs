//! The token that each instruction of a production module comes from.
//!
//! Knows: `glsl::Positions`, whose module has one token on every line.
//! Promises: a table is made only if that module and production are the same instruction by
//! instruction, but for debug instructions and the numbers of ids. A token is the one whose line
//! the compiler wrote last: that of the operation itself or of one of its operands.

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_glsl::{Optimization, TokenPlace, TokenPositions};
use vkcert_model::place::Place;
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::{Id, Instruction, Module};

/// Positions cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("the re-lined text does not compile: {0}")]
    Refused(String),
    #[error("the re-lined module cannot be read: {0}")]
    Unreadable(String),
    #[error("the re-lined text compiles to another module (instruction {0})")]
    Different(usize),
}

/// Tokens of a production module's instructions.
#[derive(Debug, Clone)]
pub struct PositionTable {
    positions: Arc<TokenPositions>,
    /// By index in production's instruction list: index of the token.
    tokens: Vec<Option<u32>>,
    /// By token: the keyword of the innermost loop statement around it.
    loops: Vec<Option<u32>>,
    /// By token: whether it stands in a decision.
    decisions: Vec<bool>,
}

impl PositionTable {
    /// Compares the modules and reads the lines.
    pub fn compare_modules(
        production_module: &Module,
        positions: &Arc<TokenPositions>,
    ) -> Result<Self, PositionError> {
        let relined_module = read_module(positions.relined_module())?;
        let (own_instructions, relined_instructions) =
            (meaningful_instructions(production_module), meaningful_instructions(&relined_module));
        let mut id_pairs = IdRenumbering::default();
        let mut instruction_tokens = vec![None; production_module.instructions.len()];
        for (number, index) in own_instructions.iter().enumerate() {
            let relined_index =
                relined_instructions.get(number).ok_or(PositionError::Different(*index))?;
            if !id_pairs.same_instruction(
                &production_module.instructions[*index],
                &relined_module.instructions[*relined_index],
            ) {
                return Err(PositionError::Different(*index));
            }
            instruction_tokens[*index] =
                token_at(&relined_module, *relined_index, &positions.lines);
        }
        if own_instructions.len() != relined_instructions.len() {
            return Err(PositionError::Different(production_module.instructions.len()));
        }
        Ok(Self::from_tokens(positions, instruction_tokens))
    }

    /// The table that [`tokens`](Self::tokens) were taken of.
    pub fn from_tokens(positions: &Arc<TokenPositions>, tokens: Vec<Option<u32>>) -> Self {
        let mut loop_keywords = vec![None; positions.tokens.len()];
        for [first, last] in &positions.loops {
            loop_keywords[*first as usize..=*last as usize].fill(Some(*first));
        }
        let mut in_decisions = vec![false; positions.tokens.len()];
        for [first, last] in &positions.decisions {
            in_decisions[*first as usize..=*last as usize].fill(true);
        }
        Self {
            positions: Arc::clone(positions),
            tokens,
            loops: loop_keywords,
            decisions: in_decisions,
        }
    }

    /// By index in production's instruction list: index of the token.
    pub fn tokens(&self) -> &[Option<u32>] {
        &self.tokens
    }

    /// Optimisation level that the module was compiled at.
    pub fn optimization(&self) -> Optimization {
        self.positions.optimization()
    }

    /// The re-lined marked module.
    pub fn marked_module(&self) -> Result<Module, PositionError> {
        read_module(self.positions.marked_module())
    }

    /// The token of an instruction of the marked module.
    pub(crate) fn marked_token(&self, marked_module: &Module, instruction: usize) -> Option<u32> {
        token_at(marked_module, instruction, &self.positions.lines)
    }

    /// Index of the token that an instruction comes from; none where none is known.
    pub(crate) fn token_of(&self, instruction: usize) -> Option<u32> {
        self.tokens.get(instruction).copied().flatten()
    }

    /// The token as it stands after preprocessing.
    pub fn token_text(&self, token: u32) -> &str {
        self.positions.tokens.get(token as usize).map_or("", |place| &place.text)
    }

    /// Whether a token stands in a decision's text.
    pub(crate) fn in_decision(&self, token: u32) -> bool {
        self.decisions.get(token as usize).copied().unwrap_or(false)
    }

    /// The keyword of the innermost loop statement around a token.
    pub(crate) fn loop_of(&self, token: u32) -> Option<u32> {
        self.loops.get(token as usize).copied().flatten()
    }

    /// The 0-based index of the switch whose selector a token stands in.
    pub(crate) fn switch_of(&self, token: u32) -> Option<usize> {
        self.positions.switches.iter().position(|[first, last]| (*first..=*last).contains(&token))
    }

    /// `place` with the file, line and column of a token.
    pub(crate) fn place_of_token(
        &self,
        production_place: Place,
        token: u32,
        kernel_structure: &KernelStructure,
    ) -> Place {
        let Some(TokenPlace { file, line, column, .. }) = self.positions.tokens.get(token as usize)
        else {
            return production_place;
        };
        let path = kernel_structure.files.get(file.0 as usize).map(|file| file.path.clone());
        Place {
            file: path.or(production_place.file),
            line: Some(*line),
            column: *column,
            ..production_place
        }
    }

    /// The place of an instruction, with its column where the compiler gives it a line at all.
    pub fn place_of_instruction(
        &self,
        production_module: &Module,
        instruction: usize,
        kernel_structure: &KernelStructure,
    ) -> Place {
        let production_place = production_module.place_of(instruction);
        let production_line = production_module.line_of(instruction).map(|line| line.line);
        match self.token_of(instruction) {
            Some(token) if production_line.is_some() => {
                self.place_of_token(production_place, token, kernel_structure)
            }
            Some(_) | None => production_place,
        }
    }
}

fn read_module(words: Result<Vec<u32>, String>) -> Result<Module, PositionError> {
    let words = words.map_err(PositionError::Refused)?;
    Module::parse(words).map_err(|error| PositionError::Unreadable(error.to_string()))
}

fn token_at(
    module: &Module,
    instruction_index: usize,
    tokens_by_line: &[Option<u32>],
) -> Option<u32> {
    let line_number = module.line_of(instruction_index)?.line;
    tokens_by_line.get(line_number.checked_sub(1)? as usize).copied().flatten()
}

fn is_debug_information(op: Op) -> bool {
    matches!(
        op,
        Op::Line
            | Op::NoLine
            | Op::String
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::ModuleProcessed
            | Op::Name
            | Op::MemberName
    )
}

/// Indexes of the instructions that are no debug information about files and lines.
fn meaningful_instructions(module: &Module) -> Vec<usize> {
    (0..module.instructions.len())
        .filter(|index| !is_debug_information(module.instructions[*index].op))
        .collect()
}

/// Which id of one module is which of the other.
#[derive(Default)]
struct IdRenumbering {
    there: BTreeMap<Id, Id>,
    back: BTreeMap<Id, Id>,
}

impl IdRenumbering {
    fn pair_ids(&mut self, own_id: Id, other_id: Id) -> bool {
        *self.there.entry(own_id).or_insert(other_id) == other_id
            && *self.back.entry(other_id).or_insert(own_id) == own_id
    }

    fn pair_optional(&mut self, own_id: Option<Id>, other_id: Option<Id>) -> bool {
        match (own_id, other_id) {
            (Some(own_id), Some(other_id)) => self.pair_ids(own_id, other_id),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn same_instruction(
        &mut self,
        own_instruction: &Instruction,
        other_instruction: &Instruction,
    ) -> bool {
        own_instruction.op == other_instruction.op
            && own_instruction.operands.len() == other_instruction.operands.len()
            && self.pair_optional(own_instruction.result_type, other_instruction.result_type)
            && self.pair_optional(own_instruction.result, other_instruction.result)
            && own_instruction.operands.iter().zip(&other_instruction.operands).all(|operands| {
                match operands {
                    (Operand::IdRef(own_id), Operand::IdRef(other_id))
                    | (Operand::IdScope(own_id), Operand::IdScope(other_id))
                    | (
                        Operand::IdMemorySemantics(own_id),
                        Operand::IdMemorySemantics(other_id),
                    ) => self.pair_ids(*own_id, *other_id),
                    (own_operand, other_operand) => own_operand == other_operand,
                }
            })
    }
}
