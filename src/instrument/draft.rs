//! A module while it is being rewritten: its sections as instruction lists, in the order that SPIR-V demands.
//!
//! Knows: the logical layout of a module (SPIR-V specification, section 2.4).
//! Promises: ids of the original keep their numbers; new ones start at its bound.

use crate::spirv::module::{Builder, Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;

/// The sections of a module under construction.
pub struct Draft {
    builder: Builder,
    /// Capabilities up to and including debug names.
    pub preamble: Vec<Instruction>,
    pub annotations: Vec<Instruction>,
    /// Types, constants, global variables.
    pub declarations: Vec<Instruction>,
    pub functions: Vec<Instruction>,
    constants: BTreeMap<u32, Id>,
    uint: Option<Id>,
}

/// An instruction without a place yet.
pub fn instruction(op: Op, result_type: Option<Id>, result: Option<Id>, operands: Vec<Operand>) -> Instruction {
    Instruction { op, result_type, result, operands, offset: 0 }
}

impl Draft {
    /// Splits the declarations of `module` into sections; function bodies are the caller's to add.
    pub fn without_functions(module: &Module) -> Self {
        let all = &module.instructions;
        let functions = module.functions.first().map_or(all.len(), |function| function.range.start);
        let preamble = all[..functions].iter().position(|i| !in_preamble(i.op)).unwrap_or(functions);
        let annotations = all[preamble..functions].iter().position(|i| !i.op.is_annotation());
        let annotations = annotations.map_or(functions, |length| preamble + length);
        Self {
            builder: Builder::like(module),
            preamble: all[..preamble].to_vec(),
            annotations: all[preamble..annotations].to_vec(),
            declarations: all[annotations..functions].to_vec(),
            functions: Vec::new(),
            constants: BTreeMap::new(),
            uint: None,
        }
    }

    pub fn fresh(&mut self) -> Id {
        self.builder.fresh()
    }

    /// The id of a type, declared once: SPIR-V forbids two declarations of the same non-aggregate type.
    pub fn ty(&mut self, op: Op, operands: Vec<Operand>) -> Id {
        let known = self.declarations.iter().find(|i| i.op == op && i.operands == operands);
        known.and_then(|i| i.result).unwrap_or_else(|| self.declare(op, None, operands))
    }

    pub fn uint(&mut self) -> Id {
        if let Some(known) = self.uint {
            return known;
        }
        let uint = self.ty(Op::TypeInt, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(0)]);
        self.uint = Some(uint);
        uint
    }

    pub fn pointer(&mut self, storage: rspirv::spirv::StorageClass, pointee: Id) -> Id {
        self.ty(Op::TypePointer, vec![Operand::StorageClass(storage), Operand::IdRef(pointee)])
    }

    /// The id of an unsigned 32-bit constant.
    pub fn constant(&mut self, value: u32) -> Id {
        if let Some(id) = self.constants.get(&value) {
            return *id;
        }
        let uint = self.uint();
        let id = self.declare(Op::Constant, Some(uint), vec![Operand::LiteralBit32(value)]);
        self.constants.insert(value, id);
        id
    }

    /// Appends a declaration with a new result id.
    pub fn declare(&mut self, op: Op, result_type: Option<Id>, operands: Vec<Operand>) -> Id {
        let id = self.fresh();
        self.declarations.push(instruction(op, result_type, Some(id), operands));
        id
    }

    pub fn name(&mut self, id: Id, name: &str) {
        let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.to_owned())];
        // OpModuleProcessed is the last of the debug instructions (section 2.4, item 7c).
        let end = self.preamble.iter().position(|i| i.op == Op::ModuleProcessed).unwrap_or(self.preamble.len());
        self.preamble.insert(end, instruction(Op::Name, None, None, operands));
    }

    pub fn decorate(&mut self, id: Id, operands: Vec<Operand>) {
        let operands = std::iter::once(Operand::IdRef(id)).chain(operands).collect();
        self.annotations.push(instruction(Op::Decorate, None, None, operands));
    }

    /// The finished word stream.
    pub fn finish(mut self) -> Vec<u32> {
        for section in [&self.preamble, &self.annotations, &self.declarations, &self.functions] {
            section.iter().for_each(|instruction| self.builder.copy(instruction));
        }
        self.builder.finish()
    }
}

fn in_preamble(op: Op) -> bool {
    matches!(
        op,
        Op::Capability
            | Op::Extension
            | Op::ExtInstImport
            | Op::MemoryModel
            | Op::EntryPoint
            | Op::ExecutionMode
            | Op::ExecutionModeId
            | Op::String
            | Op::SourceExtension
            | Op::Source
            | Op::SourceContinued
            | Op::Name
            | Op::MemberName
            | Op::ModuleProcessed
    )
}
