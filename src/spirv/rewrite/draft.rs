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
pub struct ModuleDraft {
    writer: ModuleWriter,
    /// Capabilities up to and including debug names.
    pub preamble: Vec<Instruction>,
    /// Decorations.
    pub annotations: Vec<Instruction>,
    /// Types, constants, global variables.
    pub declarations: Vec<Instruction>,
    /// Functions, in the order of the module.
    pub functions: Vec<Instruction>,
    constants: BTreeMap<u32, Id>,
    uint: Option<Id>,
}

/// A storage buffer that was declared.
#[derive(Debug, Clone, Copy)]
pub struct StorageBlock {
    /// Result id of the variable.
    pub variable: Id,
    /// Storage class of pointers to it.
    pub class: StorageClass,
}

/// Whether storage buffers have a storage class of their own, which is core from SPIR-V 1.3 on;
/// before, a storage buffer is a BufferBlock in Uniform.
pub fn has_own_storage_class(version: (u8, u8)) -> bool {
    version >= (1, 3)
}

/// An instruction without a place yet.
pub fn new_instruction(
    op: Op,
    result_type: Option<Id>,
    result: Option<Id>,
    operands: Vec<Operand>,
) -> Instruction {
    Instruction { op, result_type, result, operands, offset: 0 }
}

impl ModuleDraft {
    /// Splits the declarations of `module` into sections; function bodies are the caller's to add.
    pub fn without_functions(module: &Module) -> Self {
        let all_instructions = &module.instructions;
        let functions_start = module
            .functions
            .first()
            .map_or(all_instructions.len(), |function| function.range.start);
        let preamble_end = all_instructions[..functions_start]
            .iter()
            .position(|instruction| !belongs_to_preamble(instruction.op))
            .unwrap_or(functions_start);
        let annotations_end = all_instructions[preamble_end..functions_start]
            .iter()
            .position(|instruction| !instruction.op.is_annotation());
        let annotations_end =
            annotations_end.map_or(functions_start, |length| preamble_end + length);
        Self {
            writer: ModuleWriter::for_module(module),
            preamble: all_instructions[..preamble_end].to_vec(),
            annotations: all_instructions[preamble_end..annotations_end].to_vec(),
            declarations: all_instructions[annotations_end..functions_start].to_vec(),
            functions: Vec::new(),
            constants: BTreeMap::new(),
            uint: None,
        }
    }

    /// A compute module without functions yet: capability Shader, logical addressing, memory model
    /// GLSL450.
    pub fn new_kernel(version: (u8, u8)) -> Self {
        let capability = vec![Operand::Capability(Capability::Shader)];
        let memory_model = vec![
            Operand::AddressingModel(AddressingModel::Logical),
            Operand::MemoryModel(MemoryModel::GLSL450),
        ];
        Self {
            writer: ModuleWriter::new(version),
            preamble: vec![
                new_instruction(Op::Capability, None, None, capability),
                new_instruction(Op::MemoryModel, None, None, memory_model),
            ],
            annotations: Vec::new(),
            declarations: Vec::new(),
            functions: Vec::new(),
            constants: BTreeMap::new(),
            uint: None,
        }
    }

    /// Makes a function the entry point `main` of a kernel that [`Self::new_kernel`] began.
    pub fn entry_point(&mut self, function_id: Id, interface: &[Id], local_size: [u32; 3]) {
        let mut entry_operands = vec![
            Operand::ExecutionModel(ExecutionModel::GLCompute),
            Operand::IdRef(function_id),
            Operand::LiteralString("main".to_owned()),
        ];
        entry_operands.extend(interface.iter().copied().map(Operand::IdRef));
        self.preamble.push(new_instruction(Op::EntryPoint, None, None, entry_operands));
        let mut mode_operands =
            vec![Operand::IdRef(function_id), Operand::ExecutionMode(ExecutionMode::LocalSize)];
        mode_operands.extend(local_size.map(Operand::LiteralBit32));
        self.preamble.push(new_instruction(Op::ExecutionMode, None, None, mode_operands));
    }

    /// An id that nothing uses yet.
    pub fn fresh_id(&mut self) -> Id {
        self.writer.fresh_id()
    }

    /// The id of a type, declared once: SPIR-V forbids two declarations of the same non-aggregate
    /// type.
    pub fn declare_type(&mut self, op: Op, operands: Vec<Operand>) -> Id {
        let declared_before = self
            .declarations
            .iter()
            .find(|instruction| instruction.op == op && instruction.operands == operands);
        declared_before
            .and_then(|instruction| instruction.result)
            .unwrap_or_else(|| self.declare(op, None, operands))
    }

    /// The id of the unsigned 32-bit integer type, declared where it is not yet.
    pub fn uint_type(&mut self) -> Id {
        if let Some(known_type) = self.uint {
            return known_type;
        }
        let uint_type = self
            .declare_type(Op::TypeInt, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(0)]);
        self.uint = Some(uint_type);
        uint_type
    }

    /// The id of a new pointer type.
    pub fn pointer_type(&mut self, storage_class: StorageClass, pointee: Id) -> Id {
        self.declare_type(
            Op::TypePointer,
            vec![Operand::StorageClass(storage_class), Operand::IdRef(pointee)],
        )
    }

    /// The id of an unsigned 32-bit constant.
    pub fn uint_constant(&mut self, constant_value: u32) -> Id {
        if let Some(constant_id) = self.constants.get(&constant_value) {
            return *constant_id;
        }
        let uint = self.uint_type();
        let constant_id =
            self.declare(Op::Constant, Some(uint), vec![Operand::LiteralBit32(constant_value)]);
        self.constants.insert(constant_value, constant_id);
        constant_id
    }

    /// Appends a declaration with a new result id.
    pub fn declare(&mut self, op: Op, result_type: Option<Id>, operands: Vec<Operand>) -> Id {
        let declared_id = self.fresh_id();
        self.declarations.push(new_instruction(op, result_type, Some(declared_id), operands));
        declared_id
    }

    /// Gives an id a name for debugging.
    pub fn add_name(&mut self, named_id: Id, name: &str) {
        let operands = vec![Operand::IdRef(named_id), Operand::LiteralString(name.to_owned())];
        // OpModuleProcessed is the last of the debug instructions (section 2.4, item 7c).
        let names_end = self
            .preamble
            .iter()
            .position(|i| i.op == Op::ModuleProcessed)
            .unwrap_or(self.preamble.len());
        self.preamble.insert(names_end, new_instruction(Op::Name, None, None, operands));
    }

    /// Adds a decoration to an id; the operands begin with the decoration.
    pub fn decorate(&mut self, decorated_id: Id, operands: Vec<Operand>) {
        let operands = std::iter::once(Operand::IdRef(decorated_id)).chain(operands).collect();
        self.annotations.push(new_instruction(Op::Decorate, None, None, operands));
    }

    /// Decorates a member of a structure.
    pub(crate) fn decorate_member(
        &mut self,
        structure_type: Id,
        member_index: u32,
        operands: Vec<Operand>,
    ) {
        let target = [Operand::IdRef(structure_type), Operand::LiteralBit32(member_index)];
        let operands = target.into_iter().chain(operands).collect();
        self.annotations.push(new_instruction(Op::MemberDecorate, None, None, operands));
    }

    /// A runtime array of unsigned words, of its own: the layout must not fall on types of the
    /// kernel.
    pub fn word_array(&mut self) -> Id {
        let uint = self.uint_type();
        let array_type = self.declare(Op::TypeRuntimeArray, None, vec![Operand::IdRef(uint)]);
        self.decorate(
            array_type,
            vec![Operand::Decoration(Decoration::ArrayStride), Operand::LiteralBit32(4)],
        );
        array_type
    }

    /// A storage buffer at `set` and `binding` whose only member has the type `contents`.
    pub fn storage_block(&mut self, contents: Id, set: u32, binding: u32) -> StorageBlock {
        let (storage_class, block_decoration) = match has_own_storage_class(self.writer.version()) {
            true => (StorageClass::StorageBuffer, Decoration::Block),
            false => (StorageClass::Uniform, Decoration::BufferBlock),
        };
        let structure = self.declare(Op::TypeStruct, None, vec![Operand::IdRef(contents)]);
        self.decorate(structure, vec![Operand::Decoration(block_decoration)]);
        let offset = vec![Operand::Decoration(Decoration::Offset), Operand::LiteralBit32(0)];
        self.decorate_member(structure, 0, offset);
        let pointer = self.pointer_type(storage_class, structure);
        let variable =
            self.declare(Op::Variable, Some(pointer), vec![Operand::StorageClass(storage_class)]);
        let descriptor_numbers = [(Decoration::DescriptorSet, set), (Decoration::Binding, binding)];
        for (decoration, number) in descriptor_numbers {
            self.decorate(
                variable,
                vec![Operand::Decoration(decoration), Operand::LiteralBit32(number)],
            );
        }
        StorageBlock { variable, class: storage_class }
    }

    /// A new input variable for a built-in of the type `ty`.
    pub fn built_in(&mut self, built_in: BuiltIn, type_id: Id) -> Id {
        let pointer = self.pointer_type(StorageClass::Input, type_id);
        let storage_class = vec![Operand::StorageClass(StorageClass::Input)];
        let variable = self.declare(Op::Variable, Some(pointer), storage_class);
        let decoration = vec![Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)];
        self.decorate(variable, decoration);
        variable
    }

    /// The entry points of `function`, to be changed.
    pub fn entry_points_of(&mut self, function_id: Id) -> impl Iterator<Item = &mut Instruction> {
        self.preamble.iter_mut().filter(move |instruction| {
            instruction.op == Op::EntryPoint && instruction.id(1) == Some(function_id)
        })
    }

    /// Declares a capability unless the module has it; whether it was added.
    pub fn add_capability(&mut self, capability: Capability) -> bool {
        let operands = vec![Operand::Capability(capability)];
        if self.preamble.iter().any(|i| i.op == Op::Capability && i.operands == operands) {
            return false;
        }
        let capabilities_end =
            self.preamble.iter().rposition(|i| i.op == Op::Capability).map_or(0, |last| last + 1);
        self.preamble
            .insert(capabilities_end, new_instruction(Op::Capability, None, None, operands));
        true
    }

    // ---- code, at the end of the functions ----

    /// Appends an instruction without a result.
    pub fn push(&mut self, op: Op, operands: Vec<Operand>) {
        self.functions.push(new_instruction(op, None, None, operands));
    }

    /// Appends an instruction with a new result id.
    pub fn emit(&mut self, op: Op, result_type: Id, operands: Vec<Operand>) -> Id {
        let result = self.fresh_id();
        self.functions.push(new_instruction(op, Some(result_type), Some(result), operands));
        result
    }

    /// The id of a function type.
    pub fn function_type(
        &mut self,
        result_type: Id,
        parameter_types: impl IntoIterator<Item = Id>,
    ) -> Id {
        let operands =
            std::iter::once(result_type).chain(parameter_types).map(Operand::IdRef).collect();
        self.declare_type(Op::TypeFunction, operands)
    }

    /// Begins a function and its first block. Parameters are pairs of type and id.
    pub fn begin_function(&mut self, result_type: Id, function_id: Id, parameters: &[(Id, Id)]) {
        let function_type = self.function_type(result_type, parameters.iter().map(|(ty, _)| *ty));
        let operands =
            vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(function_type)];
        self.functions.push(new_instruction(
            Op::Function,
            Some(result_type),
            Some(function_id),
            operands,
        ));
        for (ty, parameter) in parameters {
            let parameter_declaration =
                new_instruction(Op::FunctionParameter, Some(*ty), Some(*parameter), Vec::new());
            self.functions.push(parameter_declaration);
        }
        let first_block = self.fresh_id();
        self.begin_block(first_block);
    }

    /// Ends a function without a result.
    pub fn end_function(&mut self) {
        self.push(Op::Return, Vec::new());
        self.push(Op::FunctionEnd, Vec::new());
    }

    /// Begins a block.
    pub fn begin_block(&mut self, block_label: Id) {
        self.functions.push(new_instruction(Op::Label, None, Some(block_label), Vec::new()));
    }

    /// Stores a value in a variable or at another pointer.
    pub fn store(&mut self, pointer: Id, value_id: Id) {
        self.push(Op::Store, vec![Operand::IdRef(pointer), Operand::IdRef(value_id)]);
    }

    /// Ends a block with a branch to `target`.
    pub fn branch(&mut self, target: Id) {
        self.push(Op::Branch, vec![Operand::IdRef(target)]);
    }

    /// Appends `if (condition) { then }`.
    pub fn branch_if(&mut self, condition: Id, then_code: impl FnOnce(&mut Self)) {
        let (then_block, merge_block) = (self.fresh_id(), self.fresh_id());
        let merge =
            vec![Operand::IdRef(merge_block), Operand::SelectionControl(SelectionControl::NONE)];
        self.push(Op::SelectionMerge, merge);
        self.push(
            Op::BranchConditional,
            [condition, then_block, merge_block].map(Operand::IdRef).to_vec(),
        );
        self.begin_block(then_block);
        then_code(self);
        self.branch(merge_block);
        self.begin_block(merge_block);
    }

    /// The finished word stream.
    pub fn finish(mut self) -> Vec<u32> {
        for section in [&self.preamble, &self.annotations, &self.declarations, &self.functions] {
            section.iter().for_each(|instruction| self.writer.copy_instruction(instruction));
        }
        self.writer.finish()
    }
}

fn belongs_to_preamble(op: Op) -> bool {
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
