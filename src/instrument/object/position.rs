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
    pub fn of(production: &Module, positions: &Arc<TokenPositions>) -> Result<Self, PositionError> {
        let relined = read(positions.relined_module())?;
        let (own, other) = (meaningful(production), meaningful(&relined));
        let mut ids = Renumbering::default();
        let mut tokens = vec![None; production.instructions.len()];
        for (number, index) in own.iter().enumerate() {
            let twin = other.get(number).ok_or(PositionError::Different(*index))?;
            if !ids.same(&production.instructions[*index], &relined.instructions[*twin]) {
                return Err(PositionError::Different(*index));
            }
            tokens[*index] = token_at(&relined, *twin, &positions.lines);
        }
        if own.len() != other.len() {
            return Err(PositionError::Different(production.instructions.len()));
        }
        let mut loops = vec![None; positions.tokens.len()];
        for [first, last] in &positions.loops {
            loops[*first as usize..=*last as usize].fill(Some(*first));
        }
        let mut decisions = vec![false; positions.tokens.len()];
        for [first, last] in &positions.decisions {
            decisions[*first as usize..=*last as usize].fill(true);
        }
        Ok(Self { positions: Arc::clone(positions), tokens, loops, decisions })
    }

    pub fn optimization(&self) -> Optimization {
        self.positions.optimization()
    }

    /// The re-lined marked module.
    pub fn marked(&self) -> Result<Module, PositionError> {
        read(self.positions.marked_module())
    }

    /// The token of an instruction of the marked module.
    pub fn marked_token(&self, marked: &Module, instruction: usize) -> Option<u32> {
        token_at(marked, instruction, &self.positions.lines)
    }

    pub fn token(&self, instruction: usize) -> Option<u32> {
        self.tokens.get(instruction).copied().flatten()
    }

    pub fn text(&self, token: u32) -> &str {
        self.positions.tokens.get(token as usize).map_or("", |place| &place.text)
    }

    /// Whether a token stands in a decision's text.
    pub fn in_decision(&self, token: u32) -> bool {
        self.decisions.get(token as usize).copied().unwrap_or(false)
    }

    /// The keyword of the innermost loop statement around a token.
    pub fn loop_of(&self, token: u32) -> Option<u32> {
        self.loops.get(token as usize).copied().flatten()
    }

    /// The 0-based index of the switch whose selector a token stands in.
    pub fn switch_of(&self, token: u32) -> Option<usize> {
        self.positions.switches.iter().position(|[first, last]| (*first..=*last).contains(&token))
    }

    /// `place` with the file, line and column of a token.
    pub fn at(&self, place: Place, token: u32, structure: &KernelStructure) -> Place {
        let Some(TokenPlace { file, line, column, .. }) = self.positions.tokens.get(token as usize)
        else {
            return place;
        };
        let path = structure.files.get(file.0 as usize).map(|file| file.path.clone());
        Place { file: path.or(place.file), line: Some(*line), column: *column, ..place }
    }

    /// The place of an instruction, with its column where the compiler gives it a line at all.
    pub fn place(
        &self,
        production: &Module,
        instruction: usize,
        structure: &KernelStructure,
    ) -> Place {
        let place = production.place_of(instruction);
        let here = production.line_of(instruction).map(|line| line.line);
        match self.token(instruction) {
            Some(token) if here.is_some() => self.at(place, token, structure),
            Some(_) | None => place,
        }
    }
}

fn read(words: Result<Vec<u32>, String>) -> Result<Module, PositionError> {
    let words = words.map_err(PositionError::Refused)?;
    Module::parse(words).map_err(|error| PositionError::Unreadable(error.to_string()))
}

fn token_at(module: &Module, index: usize, lines: &[Option<u32>]) -> Option<u32> {
    let line = module.line_of(index)?.line;
    lines.get(line.checked_sub(1)? as usize).copied().flatten()
}

/// Indexes of the instructions that are no debug information about files and lines.
fn meaningful(module: &Module) -> Vec<usize> {
    let skipped = |op| {
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
    };
    (0..module.instructions.len())
        .filter(|index| !skipped(module.instructions[*index].op))
        .collect()
}

/// Which id of one module is which of the other.
#[derive(Default)]
struct Renumbering {
    there: BTreeMap<Id, Id>,
    back: BTreeMap<Id, Id>,
}

impl Renumbering {
    fn pair(&mut self, own: Id, other: Id) -> bool {
        *self.there.entry(own).or_insert(other) == other
            && *self.back.entry(other).or_insert(own) == own
    }

    fn pair_optional(&mut self, own: Option<Id>, other: Option<Id>) -> bool {
        match (own, other) {
            (Some(own), Some(other)) => self.pair(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn same(&mut self, own: &Instruction, other: &Instruction) -> bool {
        own.op == other.op
            && own.operands.len() == other.operands.len()
            && self.pair_optional(own.result_type, other.result_type)
            && self.pair_optional(own.result, other.result)
            && own.operands.iter().zip(&other.operands).all(|operands| match operands {
                (Operand::IdRef(own), Operand::IdRef(other))
                | (Operand::IdScope(own), Operand::IdScope(other))
                | (Operand::IdMemorySemantics(own), Operand::IdMemorySemantics(other)) => {
                    self.pair(*own, *other)
                }
                (own, other) => own == other,
            })
    }
}
