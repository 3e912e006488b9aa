//! The words of a module, one instruction after the other.

use super::super::module::{Id, Instruction, Module};
use rspirv::binary::Assemble;
use rspirv::dr;

/// Writes a module word by word.
pub struct ModuleWriter {
    header: dr::ModuleHeader,
    words: Vec<u32>,
    next: Id,
}

impl ModuleWriter {
    /// Starts a module with the header of `module`; new ids start at its bound.
    pub fn for_module(module: &Module) -> Self {
        Self {
            header: module.header.clone(),
            words: Vec::with_capacity(module.words.len()),
            next: module.header.bound,
        }
    }

    /// Starts a module of a SPIR-V version; new ids start at 1.
    pub fn new((major, minor): (u8, u8)) -> Self {
        let mut header = dr::ModuleHeader::new(1);
        header.set_version(major, minor);
        Self { header, words: Vec::new(), next: 1 }
    }

    /// Starts a module with the header of `module` but for the bound, for one that gives up the ids
    /// from there on.
    pub fn with_bound(module: &Module, bound: Id) -> Self {
        Self { next: bound, ..Self::for_module(module) }
    }

    /// The version of SPIR-V that the header names.
    pub fn version(&self) -> (u8, u8) {
        self.header.version()
    }

    /// An id that nothing uses yet.
    pub fn fresh_id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// Copies an instruction as it is.
    pub fn copy_instruction(&mut self, instruction: &Instruction) {
        let Instruction { op, result_type, result, operands, .. } = instruction;
        dr::Instruction::new(*op, *result_type, *result, operands.clone())
            .assemble_into(&mut self.words);
    }

    /// The finished word stream.
    pub fn finish(mut self) -> Vec<u32> {
        self.header.bound = self.next;
        let mut words = self.header.assemble();
        words.append(&mut self.words);
        words
    }
}
