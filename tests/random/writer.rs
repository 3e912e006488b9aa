//! What the writer of a random kernel knows while it writes.

use super::types::{Dice, Scalar, Type};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Which values the floats of a variable have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Floats {
    /// Zero, or of a magnitude that `tame` lets pass.
    Tame,
    /// Normal numbers of any magnitude.
    Wild,
}

/// Something with a type that an expression can name.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub name: String,
    pub ty: Type,
    pub access: Access,
    pub floats: Floats,
    /// Of a function, so that nothing else names it.
    pub local: bool,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    ConstIn,
    Out,
    InOut,
}

impl Way {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Way::Out | Way::InOut)
    }

    pub(crate) fn glsl(self) -> &'static str {
        match self {
            Way::In => "",
            Way::ConstIn => "const in ",
            Way::Out => "out ",
            Way::InOut => "inout ",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub result: Option<Type>,
    pub parameters: Vec<(Way, Type)>,
}

/// Which jumps may stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Jumps {
    pub leave: bool,
    pub next: bool,
    pub end: bool,
}

/// Whether all invocations of the workgroup come here together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Uniform,
    /// Behind conditions that differ, in no loop.
    Branched,
    /// Anywhere else.
    Any,
}

pub(crate) struct Writer {
    pub dice: Dice,
    /// Lines of the function that is being written.
    pub text: String,
    pub indent: usize,
    pub names: usize,
    pub scope: Vec<Variable>,
    /// What all functions see.
    pub globals: Vec<Variable>,
    /// Types of the members of each structure.
    pub structs: Vec<Vec<Type>>,
    pub functions: Vec<Function>,
    /// Result of the function that is being written.
    pub result: Option<Type>,
    /// Calls that may still be written: drivers inline every one.
    pub calls: usize,
    /// Statements that may still be written.
    pub budget: usize,
    /// Above 0: no calls, no assignments.
    pub pure: u32,
    /// Above 0: within a computed index.
    pub indices: u32,
    pub jumps: Jumps,
    pub flow: Flow,
    /// Types that `tame` is called with, by name.
    pub tamed: BTreeMap<String, Type>,
    /// Places in memory of one type, to and from.
    pub copies: Option<(String, String)>,
    /// Declarations that statements need at file level.
    pub declarations: Vec<String>,
    pub shape: Shape,
}

/// How a kernel is dispatched, and what is bound to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    pub local_size: u32,
    pub groups: u32,
    /// Bits of specialization constants that the dispatch sets.
    pub specialization: BTreeMap<u32, u64>,
    /// Words of each storage buffer by binding; whether its words may be any.
    pub buffers: Vec<BoundBuffer>,
    pub images: Vec<BoundImage>,
    /// Bytes of push constants; with an address in the last 8.
    pub push: Option<Vec<u8>>,
    /// The buffer whose address stands in the push constants.
    pub addressed: Option<usize>,
    pub barriers: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct BoundBuffer {
    pub binding: u32,
    pub array_index: u32,
    pub words: usize,
    pub contents: Contents,
    pub use_of: Use,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Storage,
    Uniform,
    /// By its address alone.
    Addressed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    Zero,
    Any,
    /// A float at any even place is a normal number.
    NormalFloats,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundImage {
    pub binding: u32,
    pub format: &'static str,
    pub extent: [u32; 2],
    pub sampled: bool,
    pub contents: Contents,
}

impl Writer {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            text: String::new(),
            indent: 0,
            names: 0,
            scope: Vec::new(),
            globals: Vec::new(),
            structs: Vec::new(),
            functions: Vec::new(),
            result: None,
            calls: 5,
            budget: 0,
            pure: 0,
            indices: 0,
            jumps: Jumps { leave: false, next: false, end: false },
            flow: Flow::Any,
            tamed: BTreeMap::new(),
            copies: None,
            declarations: Vec::new(),
            shape: Shape::default(),
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        let indent = 4 * self.indent;
        self.text += &format!("{:indent$}{text}\n", "");
    }

    pub(crate) fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    pub(crate) fn has_floats(&self, ty: &Type) -> bool {
        match ty {
            Type::Numbers(scalar, _) => scalar.is_float(),
            Type::Matrix(..) => true,
            Type::Array(element, _) => self.has_floats(element),
            Type::Struct(number) => {
                self.structs[*number].iter().any(|member| self.has_floats(member))
            }
        }
    }

    /// Bytes that a value takes in any layout, at most.
    pub(crate) fn most_bytes(&self, ty: &Type) -> usize {
        match ty {
            Type::Numbers(_, n) => 8 * n.next_power_of_two() as usize,
            Type::Matrix(_, columns, rows) => 32 * (*columns).max(*rows) as usize,
            Type::Array(element, length) => {
                self.most_bytes(element).next_multiple_of(16) * *length as usize
            }
            Type::Struct(number) => {
                let members = self.structs[*number].iter();
                members
                    .map(|member| self.most_bytes(member).next_multiple_of(16) + 32)
                    .sum::<usize>()
                    .next_multiple_of(32)
            }
        }
    }

    /// A type of numbers; now and then a matrix.
    pub(crate) fn random_numbers(&mut self) -> Type {
        if self.dice.one_in(8) {
            let scalar = self.dice.pick(&[Scalar::F16, Scalar::F32, Scalar::F32, Scalar::F64]);
            return Type::Matrix(
                scalar,
                2 + self.dice.below(3) as u32,
                2 + self.dice.below(3) as u32,
            );
        }
        let n = self.dice.pick(&[1, 1, 1, 2, 3, 4]);
        Type::Numbers(Scalar::random(&mut self.dice), n)
    }

    /// Any type.
    pub(crate) fn random_type(&mut self) -> Type {
        match self.dice.below(8) {
            0 => {
                let length = 2 + self.dice.below(3) as u32;
                let element = self.random_numbers();
                let row = Type::Array(Box::new(element), length);
                if self.dice.one_in(4) { Type::Array(Box::new(row), 2) } else { row }
            }
            1 if !self.structs.is_empty() => {
                Type::Struct(self.dice.below(self.structs.len() as u64) as usize)
            }
            _ => self.random_numbers(),
        }
    }

    pub(crate) fn declare(&mut self, name: &str, ty: Type) {
        let (name, access, floats) = (name.to_owned(), Access::Write, Floats::Tame);
        self.scope.push(Variable { name, ty, access, floats, local: true });
    }

    pub(crate) fn constant(&mut self, name: &str, ty: Type) {
        let (name, access, floats) = (name.to_owned(), Access::Read, Floats::Tame);
        self.scope.push(Variable { name, ty, access, floats, local: true });
    }
}
