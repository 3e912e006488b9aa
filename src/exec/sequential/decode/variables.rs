//! Variables: descriptors, workgroup memory, inputs, and what lives in registers or in memory per
//! invocation.

use super::decoder::Decoder;
use super::layout::MemoryArrangement;
use super::unsupported::{Unsupported, unsupported};
use super::value::{DecodedValue, Pointer, PointerTarget};
use crate::decode::{layout, ops};
use crate::ir::{RestrictQualifier, *};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::sync::Arc;
use vkcert_spirv::constants::ConstantValue;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::types::Type;

/// Most scalars of a variable in registers.
const MOST_EXPANDED: usize = 64;

/// The initial value of a variable, where it has one.
fn initializer_of(variable: &Instruction) -> Option<Id> {
    // An untyped variable has its data type as an operand before.
    variable.id(if variable.op == Op::UntypedVariableKHR { 2 } else { 1 })
}

impl<'a> Decoder<'a> {
    /// A constant, an undefined value or a variable at module scope.
    pub(crate) fn global_value(&mut self, global_id: Id) -> Result<DecodedValue, Unsupported> {
        let module = self.module;
        let instruction = module
            .definition(global_id)
            .ok_or_else(|| unsupported(format!("the undefined id %{global_id}")))?;
        if matches!(instruction.op, Op::Variable | Op::UntypedVariableKHR) {
            return Ok(DecodedValue::Pointer(self.variable_pointer(instruction)?));
        }
        let (Some(value), Some(type_id)) =
            (self.constants.value(global_id).cloned(), instruction.result_type)
        else {
            return Err(unsupported(format!("Op{:?} as an operand", instruction.op)));
        };
        if value == ConstantValue::Undef
            && let Some(undefined_value) = ops::composite::undefined_opaque(self, type_id)
        {
            return Ok(undefined_value);
        }
        let mut scalars = Vec::new();
        self.push_constant_scalars(&value, type_id, &mut scalars)?;
        Ok(DecodedValue::Scalars(scalars.into()))
    }

    /// The pointer that an OpVariable gives; function variables get fresh storage each time.
    pub(crate) fn variable_pointer(
        &mut self,
        instruction: &Instruction,
    ) -> Result<Pointer, Unsupported> {
        let variable_id = instruction.result.expect("OpVariable has a result");
        let Some((storage_class, pointee_type)) = self.types.variable_contents(instruction) else {
            return Err(unsupported(format!(
                "Op{:?} without the type of what it holds",
                instruction.op
            )));
        };
        let target = match storage_class {
            StorageClass::Input => self.built_in_input(variable_id)?,
            StorageClass::Uniform | StorageClass::StorageBuffer => {
                match self.types.get(pointee_type) {
                    Some(Type::Array { length, .. }) => {
                        let length = layout::element_count(&self.constants, *length)?;
                        PointerTarget::Descriptors { variable: variable_id, length }
                    }
                    Some(Type::RuntimeArray { .. }) => PointerTarget::Descriptors {
                        variable: variable_id,
                        length: self.bound_length(variable_id),
                    },
                    _ => self.buffer_descriptor(variable_id, 0),
                }
            }
            StorageClass::UniformConstant => {
                ops::opaque::opaque_variable(self, variable_id, pointee_type)?
            }
            StorageClass::PushConstant => self.memory_target(
                AccessRoot::PushConstant,
                0,
                MemoryArrangement::Explicit(None),
                variable_id,
            ),
            StorageClass::Workgroup => return self.workgroup_variable(instruction, pointee_type),
            StorageClass::Private | StorageClass::Function
                if instruction.op == Op::UntypedVariableKHR =>
            {
                return Err(unsupported(format!(
                    "an untyped variable in storage class {storage_class:?}"
                )));
            }
            StorageClass::Private | StorageClass::Function => {
                return self.invocation_variable(instruction, storage_class, pointee_type);
            }
            other_class => return Err(unsupported(format!("storage class {other_class:?}"))),
        };
        if initializer_of(instruction).is_some() {
            return Err(unsupported(format!(
                "an initializer of a variable in storage class {storage_class:?}"
            )));
        }
        Ok(Pointer { target, pointee_type })
    }

    /// A variable in workgroup memory: one word per scalar, or laid out by its decorations where it
    /// is a block.
    fn workgroup_variable(
        &mut self,
        instruction: &Instruction,
        pointee_type: Id,
    ) -> Result<Pointer, Unsupported> {
        let variable_id = instruction.result.expect("OpVariable has a result");
        let is_block = layout::is_block(&self.types, pointee_type);
        let has_layout = is_block || instruction.op == Op::UntypedVariableKHR;
        let (base_word, word_count, arrangement) = if has_layout {
            // All blocks start at offset 0 and overlap (SPV_KHR_workgroup_memory_explicit_layout).
            let byte_size = self.types.byte_size(pointee_type, None, &self.constants);
            let byte_size = byte_size
                .map_err(|error| unsupported(format!("a layout in workgroup memory: {error}")))?;
            let base_word = if is_block { 0 } else { self.program.workgroup_words };
            (
                base_word,
                u32::try_from(byte_size.div_ceil(4)).unwrap_or(u32::MAX),
                MemoryArrangement::Explicit(None),
            )
        } else {
            let word_count = layout::flat_size(&self.types, &self.constants, pointee_type)?;
            (self.program.workgroup_words, word_count, MemoryArrangement::Flat)
        };
        let end_word = base_word.checked_add(word_count).filter(|end_word| *end_word < 1 << 30);
        let end_word = end_word.ok_or_else(|| unsupported("workgroup memory of 4 GiB or more"))?;
        self.program.workgroup_words = self.program.workgroup_words.max(end_word);
        self.program.workgroup_variables.push(VariableScalars {
            name: self.variable_name(variable_id).to_string(),
            scalars: word_count,
        });
        self.workgroup_variables
            .push([base_word * 4, if is_block { u32::MAX } else { word_count }]);
        if let Some(initializer) = initializer_of(instruction) {
            let zero_constants =
                [ConstantValue::Null, ConstantValue::Scalar(0), ConstantValue::Bool(false)];
            if !self
                .constants
                .value(initializer)
                .is_some_and(|value| zero_constants.contains(value))
            {
                return Err(unsupported("an initializer of a variable in storage class Workgroup"));
            }
            self.program.workgroup_zeroed.push(base_word..end_word);
        }
        Ok(Pointer {
            target: self.memory_target(
                AccessRoot::Workgroup,
                base_word * 4,
                arrangement,
                variable_id,
            ),
            pointee_type,
        })
    }

    fn memory_target(
        &self,
        root: AccessRoot,
        base_offset: u32,
        arrangement: MemoryArrangement,
        variable_id: Id,
    ) -> PointerTarget {
        PointerTarget::Memory {
            root,
            base: base_offset,
            dimensions: Vec::new(),
            arrangement,
            name: self.variable_name(variable_id),
        }
    }

    /// One descriptor of a variable, by its index in the program.
    pub(crate) fn descriptor_index(
        &mut self,
        variable_id: Id,
        array_index: u32,
        memory_class: MemoryClass,
    ) -> u32 {
        let descriptor = Descriptor {
            set: self.decorated_number(variable_id, Decoration::DescriptorSet),
            binding: self.decorated_number(variable_id, Decoration::Binding),
            array_index,
            name: self.block_name(variable_id),
            kept: memory_class,
            written: false,
            atomics: false,
            exclusive: self.restrict_qualifier(variable_id),
            may_be_unbound: false,
        };
        let descriptor_key =
            (descriptor.set, descriptor.binding, array_index, descriptor.name.clone());
        let descriptors = &mut self.program.descriptors;
        *self.descriptor_numbers.entry(descriptor_key).or_insert_with(|| {
            descriptors.push(descriptor);
            descriptors.len() as u32 - 1
        })
    }

    /// Whether a variable, or a member of its block, is `restrict`; compilers put the decoration on
    /// either.
    fn restrict_qualifier(&self, variable_id: Id) -> RestrictQualifier {
        let contents_type = self
            .module
            .definition(variable_id)
            .and_then(|definition| self.types.variable_contents(definition))
            .map(|(_, ty)| ty);
        let block_type = contents_type.map(|ty| match self.types.get(ty) {
            Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => *element,
            Some(_) | None => ty,
        });
        let block =
            block_type.and_then(|block_type| Some((block_type, self.types.get(block_type)?)));
        let is_member_restrict = block.is_some_and(|(block_type, ty)| match ty {
            Type::Structure { members, .. } => (0..members.len() as u32).any(|member| {
                self.module.member_decoration(block_type, member, Decoration::Restrict).is_some()
            }),
            _ => false,
        });
        match is_member_restrict
            || self.module.decoration(variable_id, Decoration::Restrict).is_some()
        {
            true => RestrictQualifier::Declared,
            false => RestrictQualifier::No,
        }
    }

    /// The location of one descriptor of a buffer variable.
    pub(crate) fn buffer_descriptor(&mut self, variable_id: Id, array_index: u32) -> PointerTarget {
        let descriptor_index = self.descriptor_index(variable_id, array_index, MemoryClass::Buffer);
        let name: Arc<str> =
            self.program.descriptors[descriptor_index as usize].name.as_str().into();
        PointerTarget::Memory {
            root: AccessRoot::Descriptor(descriptor_index),
            base: 0,
            dimensions: Vec::new(),
            arrangement: MemoryArrangement::Explicit(None),
            name,
        }
    }

    /// Descriptors of a runtime array: up to the last that is bound.
    pub(crate) fn bound_length(&self, variable_id: Id) -> u32 {
        let decorated_number = |decoration| self.decorated_number(variable_id, decoration);
        let set_and_binding =
            (decorated_number(Decoration::DescriptorSet), decorated_number(Decoration::Binding));
        let length = self.bound_lengths.and_then(|lengths| lengths.get(&set_and_binding));
        length.copied().unwrap_or(0)
    }

    /// A number that decorates a variable; 0 where none does.
    fn decorated_number(&self, variable_id: Id, decoration: Decoration) -> u32 {
        match self
            .module
            .decoration(variable_id, decoration)
            .and_then(|decoration_words| decoration_words.operands.first())
        {
            Some(Operand::LiteralBit32(value)) => *value,
            _ => 0,
        }
    }

    /// The location behind a dynamic index: the descriptors of the array must be consecutive.
    pub(crate) fn any_descriptor(
        &mut self,
        variable_id: Id,
        length: u32,
        index: Reg,
    ) -> Result<PointerTarget, Unsupported> {
        let mut array_descriptors = Vec::new();
        for array_index in 0..length {
            let PointerTarget::Memory { root: AccessRoot::Descriptor(descriptor), name, .. } =
                self.buffer_descriptor(variable_id, array_index)
            else {
                return Err(unsupported("an array of descriptors of no buffers"));
            };
            array_descriptors.push((descriptor, name));
        }
        let Some((first_descriptor, name)) = array_descriptors.first().cloned() else {
            return Err(unsupported("an array of descriptors, none of which is bound"));
        };
        if array_descriptors
            .iter()
            .zip(first_descriptor..)
            .any(|((descriptor, _), expected_descriptor)| *descriptor != expected_descriptor)
        {
            return Err(unsupported(
                "an array of descriptors, some of which were used before it was indexed",
            ));
        }
        for (descriptor, _) in &array_descriptors {
            self.program.descriptors[*descriptor as usize].may_be_unbound = true;
        }
        let root = AccessRoot::Descriptors { first: first_descriptor, length, index };
        Ok(PointerTarget::Memory {
            root,
            base: 0,
            dimensions: Vec::new(),
            arrangement: MemoryArrangement::Explicit(None),
            name,
        })
    }

    fn built_in_input(&mut self, variable_id: Id) -> Result<PointerTarget, Unsupported> {
        let builtin = self
            .module
            .decoration(variable_id, Decoration::BuiltIn)
            .and_then(|decoration_words| decoration_words.operands.first());
        let Some(Operand::BuiltIn(builtin)) = builtin else {
            return Err(unsupported("an input variable that is no built-in"));
        };
        let axes = [0u8, 1, 2];
        let registers: Vec<Reg> = match builtin {
            BuiltIn::GlobalInvocationId => {
                axes.map(|axis| self.lane_register(PerLaneValue::GlobalId(axis))).to_vec()
            }
            BuiltIn::LocalInvocationId => {
                axes.map(|axis| self.lane_register(PerLaneValue::LocalId(axis))).to_vec()
            }
            BuiltIn::LocalInvocationIndex => vec![self.lane_register(PerLaneValue::LocalIndex)],
            BuiltIn::WorkgroupId => {
                axes.map(|axis| self.uniform_register(UniformValue::WorkgroupId(axis))).to_vec()
            }
            BuiltIn::NumWorkgroups => {
                axes.map(|axis| self.uniform_register(UniformValue::NumWorkgroups(axis))).to_vec()
            }
            BuiltIn::SubgroupSize => vec![self.uniform_register(UniformValue::SubgroupSize)],
            BuiltIn::NumSubgroups => vec![self.uniform_register(UniformValue::NumSubgroups)],
            BuiltIn::SubgroupId => vec![self.lane_register(PerLaneValue::SubgroupId)],
            BuiltIn::SubgroupLocalInvocationId => {
                vec![self.lane_register(PerLaneValue::SubgroupInvocation)]
            }
            BuiltIn::SubgroupEqMask => self.subgroup_mask(SubgroupMask::Equal),
            BuiltIn::SubgroupGeMask => self.subgroup_mask(SubgroupMask::AtLeast),
            BuiltIn::SubgroupGtMask => self.subgroup_mask(SubgroupMask::Above),
            BuiltIn::SubgroupLeMask => self.subgroup_mask(SubgroupMask::AtMost),
            BuiltIn::SubgroupLtMask => self.subgroup_mask(SubgroupMask::Below),
            other_built_in => return Err(unsupported(format!("BuiltIn {other_built_in:?}"))),
        };
        Ok(PointerTarget::Constant(registers.into_iter().map(Scalar::Word).collect()))
    }

    fn subgroup_mask(&mut self, mask: SubgroupMask) -> Vec<Reg> {
        [0, 1, 2, 3].map(|word| self.lane_register(PerLaneValue::SubgroupMask(mask, word))).to_vec()
    }

    /// A private or function variable: registers where no index is dynamic, else memory of the
    /// invocation.
    fn invocation_variable(
        &mut self,
        instruction: &Instruction,
        storage_class: StorageClass,
        type_id: Id,
    ) -> Result<Pointer, Unsupported> {
        let variable_id = instruction.result.expect("OpVariable has a result");
        let scalar_count = layout::flat_size(&self.types, &self.constants, type_id)?;
        self.program.expanded.push(VariableScalars {
            name: self.variable_name(variable_id).to_string(),
            scalars: scalar_count,
        });
        let pointer = if self.addressed_variables.contains(&variable_id)
            || scalar_count as usize > MOST_EXPANDED
        {
            let base_word = self.program.invocation_words;
            self.program.invocation_words = base_word
                .checked_add(scalar_count)
                .filter(|words| *words < 1 << 28)
                .ok_or_else(|| unsupported("invocation memory of more than 1 GiB"))?;
            if storage_class == StorageClass::Function {
                self.push_instruction(LaneInstruction::UndefineMemory {
                    base: base_word,
                    words: scalar_count,
                });
            }
            Pointer {
                target: self.memory_target(
                    AccessRoot::Invocation,
                    base_word * 4,
                    MemoryArrangement::Flat,
                    variable_id,
                ),
                pointee_type: type_id,
            }
        } else {
            let registers = self.new_registers(type_id)?;
            for scalar in registers.iter() {
                match (storage_class, scalar) {
                    (StorageClass::Function, Scalar::Word(reg)) => {
                        self.push_instruction(LaneInstruction::Undefine { to: *reg })
                    }
                    (StorageClass::Function, Scalar::Mask(reg)) => {
                        self.push_instruction(LaneInstruction::UndefineMask { to: *reg })
                    }
                    (_, Scalar::Word(reg)) => self.program.undefined_words.push(*reg),
                    (_, Scalar::Mask(reg)) => self.program.undefined_masks.push(*reg),
                }
            }
            Pointer { target: PointerTarget::Registers(registers), pointee_type: type_id }
        };
        if let Some(initializer_id) = instruction.id(1) {
            if storage_class == StorageClass::Function {
                let value = self.scalars_of(initializer_id)?;
                ops::memory::store_to(self, &pointer, &value)?;
            } else {
                self.initializers.push((pointer.clone(), initializer_id));
            }
        }
        Ok(pointer)
    }

    /// Private variables with initial values start with them: a block before the entry point's
    /// first.
    pub(crate) fn initialize_private_variables(&mut self) -> Result<(), Unsupported> {
        let module = self.module;
        for instruction in
            module.instructions.iter().take_while(|instruction| instruction.op != Op::Function)
        {
            if let (Op::Variable, Some(variable_id), Some(_)) =
                (instruction.op, instruction.result, instruction.id(1))
            {
                self.value_of(variable_id)?;
            }
        }
        if self.initializers.is_empty() {
            return Ok(());
        }
        let label = self.new_label();
        self.begin_block(label);
        for (pointer, initializer_id) in std::mem::take(&mut self.initializers) {
            let value = self.scalars_of(initializer_id)?;
            ops::memory::store_to(self, &pointer, &value)?;
        }
        let first_block = self.current_frame().current_block;
        let first_label = self.current_frame().labels[&first_block];
        self.finish_block(Terminator::Jump { to: first_label });
        Ok(())
    }
}
