//! A module while it is being written: its sections as instruction lists, in the order that SPIR-V
//! demands.
//!
//! Knows: the logical layout of a module (SPIR-V specification, section 2.4).
//! Promises: ids of the original keep their numbers; new ones start at its bound.

use super::super::module::{Id, Instruction, Module};
use super::writer::ModuleWriter;
use rspirv::dr::Operand;
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, MemoryModel, Op, SelectionControl, StorageClass,
};
use std::collections::BTreeMap;

/// The sections of a module under construction.
pub struct Draft {
    writer: ModuleWriter,
    /// Capabilities up to and including debug names.
    pub preamble: Vec<Instruction>,
    pub annotations: Vec<Instruction>,
    /// Types, constants, global variables.
    pub declarations: Vec<Instruction>,
    pub functions: Vec<Instruction>,
    constants: BTreeMap<u32, Id>,
    uint: Option<Id>,
}

/// A storage buffer that was declared.
#[derive(Debug, Clone, Copy)]
pub struct StorageBlock {
    pub variable: Id,
    pub class: StorageClass,
}

/// Whether storage buffers have a storage class of their own, which is core from SPIR-V 1.3 on;
/// before, a storage buffer is a BufferBlock in Uniform.
pub fn has_own_storage_class(version: (u8, u8)) -> bool {
    version >= (1, 3)
}

/// An instruction without a place yet.
pub fn instruction(
    op: Op,
    result_type: Option<Id>,
    result: Option<Id>,
    operands: Vec<Operand>,
) -> Instruction {
    Instruction { op, result_type, result, operands, offset: 0 }
}

impl Draft {
    /// Splits the declarations of `module` into sections; function bodies are the caller's to add.
    pub fn without_functions(module: &Module) -> Self {
        let all = &module.instructions;
        let functions = module.functions.first().map_or(all.len(), |function| function.range.start);
        let preamble =
            all[..functions].iter().position(|i| !in_preamble(i.op)).unwrap_or(functions);
        let annotations = all[preamble..functions].iter().position(|i| !i.op.is_annotation());
        let annotations = annotations.map_or(functions, |length| preamble + length);
        Self {
            writer: ModuleWriter::like(module),
            preamble: all[..preamble].to_vec(),
            annotations: all[preamble..annotations].to_vec(),
            declarations: all[annotations..functions].to_vec(),
            functions: Vec::new(),
            constants: BTreeMap::new(),
            uint: None,
        }
    }

    /// A compute module without functions yet: capability Shader, logical addressing, memory model
    /// GLSL450.
    pub fn kernel(version: (u8, u8)) -> Self {
        let capability = vec![Operand::Capability(Capability::Shader)];
        let model = vec![
            Operand::AddressingModel(AddressingModel::Logical),
            Operand::MemoryModel(MemoryModel::GLSL450),
        ];
        Self {
            writer: ModuleWriter::new(version),
            preamble: vec![
                instruction(Op::Capability, None, None, capability),
                instruction(Op::MemoryModel, None, None, model),
            ],
            annotations: Vec::new(),
            declarations: Vec::new(),
            functions: Vec::new(),
            constants: BTreeMap::new(),
            uint: None,
        }
    }

    /// Makes a function the entry point `main` of a kernel that [`Self::kernel`] began.
    pub fn entry_point(&mut self, function: Id, interface: &[Id], local_size: [u32; 3]) {
        let mut point = vec![
            Operand::ExecutionModel(ExecutionModel::GLCompute),
            Operand::IdRef(function),
            Operand::LiteralString("main".to_owned()),
        ];
        point.extend(interface.iter().copied().map(Operand::IdRef));
        self.preamble.push(instruction(Op::EntryPoint, None, None, point));
        let mut mode =
            vec![Operand::IdRef(function), Operand::ExecutionMode(ExecutionMode::LocalSize)];
        mode.extend(local_size.map(Operand::LiteralBit32));
        self.preamble.push(instruction(Op::ExecutionMode, None, None, mode));
    }

    /// An id that nothing uses yet.
    pub fn fresh(&mut self) -> Id {
        self.writer.fresh()
    }

    /// The id of a type, declared once: SPIR-V forbids two declarations of the same non-aggregate
    /// type.
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

    pub fn pointer(&mut self, storage: StorageClass, pointee: Id) -> Id {
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
        let end = self
            .preamble
            .iter()
            .position(|i| i.op == Op::ModuleProcessed)
            .unwrap_or(self.preamble.len());
        self.preamble.insert(end, instruction(Op::Name, None, None, operands));
    }

    pub fn decorate(&mut self, id: Id, operands: Vec<Operand>) {
        let operands = std::iter::once(Operand::IdRef(id)).chain(operands).collect();
        self.annotations.push(instruction(Op::Decorate, None, None, operands));
    }

    /// Decorates a member of a structure.
    pub fn decorate_member(&mut self, structure: Id, member: u32, operands: Vec<Operand>) {
        let target = [Operand::IdRef(structure), Operand::LiteralBit32(member)];
        let operands = target.into_iter().chain(operands).collect();
        self.annotations.push(instruction(Op::MemberDecorate, None, None, operands));
    }

    /// A runtime array of unsigned words, of its own: the layout must not fall on types of the
    /// kernel.
    pub fn word_array(&mut self) -> Id {
        let uint = self.uint();
        let words = self.declare(Op::TypeRuntimeArray, None, vec![Operand::IdRef(uint)]);
        self.decorate(
            words,
            vec![Operand::Decoration(Decoration::ArrayStride), Operand::LiteralBit32(4)],
        );
        words
    }

    /// A storage buffer at `set` and `binding` whose only member has the type `contents`.
    pub fn storage_block(&mut self, contents: Id, set: u32, binding: u32) -> StorageBlock {
        let (class, kind) = match has_own_storage_class(self.writer.version()) {
            true => (StorageClass::StorageBuffer, Decoration::Block),
            false => (StorageClass::Uniform, Decoration::BufferBlock),
        };
        let structure = self.declare(Op::TypeStruct, None, vec![Operand::IdRef(contents)]);
        self.decorate(structure, vec![Operand::Decoration(kind)]);
        let offset = vec![Operand::Decoration(Decoration::Offset), Operand::LiteralBit32(0)];
        self.decorate_member(structure, 0, offset);
        let pointer = self.pointer(class, structure);
        let variable =
            self.declare(Op::Variable, Some(pointer), vec![Operand::StorageClass(class)]);
        let place = [(Decoration::DescriptorSet, set), (Decoration::Binding, binding)];
        for (decoration, number) in place {
            self.decorate(
                variable,
                vec![Operand::Decoration(decoration), Operand::LiteralBit32(number)],
            );
        }
        StorageBlock { variable, class }
    }

    /// A new input variable for a built-in of the type `ty`.
    pub fn built_in(&mut self, built_in: BuiltIn, ty: Id) -> Id {
        let pointer = self.pointer(StorageClass::Input, ty);
        let class = vec![Operand::StorageClass(StorageClass::Input)];
        let variable = self.declare(Op::Variable, Some(pointer), class);
        let decoration = vec![Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)];
        self.decorate(variable, decoration);
        variable
    }

    /// The entry points of `function`, to be changed.
    pub fn entry_points_of(&mut self, function: Id) -> impl Iterator<Item = &mut Instruction> {
        self.preamble
            .iter_mut()
            .filter(move |i| i.op == Op::EntryPoint && i.id(1) == Some(function))
    }

    /// Declares a capability unless the module has it; whether it was added.
    pub fn add_capability(&mut self, capability: Capability) -> bool {
        let operands = vec![Operand::Capability(capability)];
        if self.preamble.iter().any(|i| i.op == Op::Capability && i.operands == operands) {
            return false;
        }
        let end =
            self.preamble.iter().rposition(|i| i.op == Op::Capability).map_or(0, |last| last + 1);
        self.preamble.insert(end, instruction(Op::Capability, None, None, operands));
        true
    }

    // ---- code, at the end of the functions ----

    /// Appends an instruction without a result.
    pub fn push(&mut self, op: Op, operands: Vec<Operand>) {
        self.functions.push(instruction(op, None, None, operands));
    }

    /// Appends an instruction with a new result id.
    pub fn emit(&mut self, op: Op, result_type: Id, operands: Vec<Operand>) -> Id {
        let result = self.fresh();
        self.functions.push(instruction(op, Some(result_type), Some(result), operands));
        result
    }

    /// The id of a function type.
    pub fn function_type(&mut self, result: Id, parameters: impl IntoIterator<Item = Id>) -> Id {
        let operands = std::iter::once(result).chain(parameters).map(Operand::IdRef).collect();
        self.ty(Op::TypeFunction, operands)
    }

    /// Begins a function and its first block. Parameters are pairs of type and id.
    pub fn begin_function(&mut self, result: Id, id: Id, parameters: &[(Id, Id)]) {
        let signature = self.function_type(result, parameters.iter().map(|(ty, _)| *ty));
        let operands =
            vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(signature)];
        self.functions.push(instruction(Op::Function, Some(result), Some(id), operands));
        for (ty, parameter) in parameters {
            let declared =
                instruction(Op::FunctionParameter, Some(*ty), Some(*parameter), Vec::new());
            self.functions.push(declared);
        }
        let first = self.fresh();
        self.label(first);
    }

    /// Ends a function without a result.
    pub fn end_function(&mut self) {
        self.push(Op::Return, Vec::new());
        self.push(Op::FunctionEnd, Vec::new());
    }

    /// Begins a block.
    pub fn label(&mut self, id: Id) {
        self.functions.push(instruction(Op::Label, None, Some(id), Vec::new()));
    }

    /// Stores a value in a variable or at another pointer.
    pub fn store(&mut self, pointer: Id, value: Id) {
        self.push(Op::Store, vec![Operand::IdRef(pointer), Operand::IdRef(value)]);
    }

    /// Ends a block with a branch to `target`.
    pub fn branch(&mut self, target: Id) {
        self.push(Op::Branch, vec![Operand::IdRef(target)]);
    }

    /// Appends `if (condition) { then }`.
    pub fn branch_if(&mut self, condition: Id, then: impl FnOnce(&mut Self)) {
        let (inside, behind) = (self.fresh(), self.fresh());
        let merge = vec![Operand::IdRef(behind), Operand::SelectionControl(SelectionControl::NONE)];
        self.push(Op::SelectionMerge, merge);
        self.push(Op::BranchConditional, [condition, inside, behind].map(Operand::IdRef).to_vec());
        self.label(inside);
        then(self);
        self.branch(behind);
        self.label(behind);
    }

    /// The finished word stream.
    pub fn finish(mut self) -> Vec<u32> {
        for section in [&self.preamble, &self.annotations, &self.declarations, &self.functions] {
            section.iter().for_each(|instruction| self.writer.copy(instruction));
        }
        self.writer.finish()
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
