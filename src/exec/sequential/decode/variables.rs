//! Variables: descriptors, workgroup memory, inputs, and what lives in registers or in memory per
//! invocation.

use super::decoder::Decoder;
use super::layout::Arrangement;
use super::unsupported::{Unsupported, unsupported};
use super::value::{Location, Pointer, Value};
use crate::decode::{layout, ops};
use crate::ir::{RestrictQualifier, *};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::sync::Arc;
use vkcert_spirv::constants::ConstantValue;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::types::{BlockKind, Type};

/// Most scalars of a variable that is kept in registers.
const MOST_EXPANDED: usize = 64;

/// The initial value of a variable, where it has one.
fn initializer(variable: &Instruction) -> Option<Id> {
    // An untyped one says before what type it holds.
    variable.id(if variable.op == Op::UntypedVariableKHR { 2 } else { 1 })
}

impl<'a> Decoder<'a> {
    /// A constant, an undefined value or a variable at module scope.
    pub(crate) fn global(&mut self, id: Id) -> Result<Value, Unsupported> {
        let module = self.module;
        let instruction =
            module.definition(id).ok_or_else(|| unsupported(format!("the undefined id %{id}")))?;
        if matches!(instruction.op, Op::Variable | Op::UntypedVariableKHR) {
            return Ok(Value::Pointer(self.variable(instruction)?));
        }
        let (Some(value), Some(ty)) = (self.constants.value(id).cloned(), instruction.result_type)
        else {
            return Err(unsupported(format!("Op{:?} as an operand", instruction.op)));
        };
        if value == ConstantValue::Undef
            && let Some(value) = ops::composite::undefined_opaque(self, ty)
        {
            return Ok(value);
        }
        let mut scalars = Vec::new();
        self.constant(&value, ty, &mut scalars)?;
        Ok(Value::Scalars(scalars.into()))
    }

    /// The pointer that an OpVariable gives; function variables get fresh storage each time.
    pub(crate) fn variable(&mut self, instruction: &Instruction) -> Result<Pointer, Unsupported> {
        let id = instruction.result.expect("OpVariable has a result");
        let Some((storage, pointee)) = self.types.variable_contents(instruction) else {
            return Err(unsupported(format!(
                "Op{:?} without the type of what it holds",
                instruction.op
            )));
        };
        let to = match storage {
            StorageClass::Input => self.input(id)?,
            StorageClass::Uniform | StorageClass::StorageBuffer => match self.types.get(pointee) {
                Some(Type::Array { length, .. }) => {
                    let length = layout::elements_of(&self.constants, *length)?;
                    Location::Descriptors { variable: id, length }
                }
                Some(Type::RuntimeArray { .. }) => {
                    Location::Descriptors { variable: id, length: self.bound_length(id) }
                }
                _ => self.descriptor(id, 0),
            },
            StorageClass::UniformConstant => ops::image::variable(self, id, pointee)?,
            StorageClass::PushConstant => {
                self.memory(AccessRoot::PushConstant, 0, Arrangement::Explicit(None), id)
            }
            StorageClass::Workgroup => return self.workgroup_variable(instruction, pointee),
            StorageClass::Private | StorageClass::Function
                if instruction.op == Op::UntypedVariableKHR =>
            {
                return Err(unsupported(format!(
                    "an untyped variable in storage class {storage:?}"
                )));
            }
            StorageClass::Private | StorageClass::Function => {
                return self.own_variable(instruction, storage, pointee);
            }
            other => return Err(unsupported(format!("storage class {other:?}"))),
        };
        if initializer(instruction).is_some() {
            return Err(unsupported(format!(
                "an initializer of a variable in storage class {storage:?}"
            )));
        }
        Ok(Pointer { to, ty: pointee })
    }

    /// A variable in workgroup memory: one word per scalar, or laid out by its decorations where it
    /// is a block.
    fn workgroup_variable(
        &mut self,
        instruction: &Instruction,
        pointee: Id,
    ) -> Result<Pointer, Unsupported> {
        let id = instruction.result.expect("OpVariable has a result");
        let is_block = matches!(self.types.get(pointee), Some(Type::Structure { block, .. }) if *block != BlockKind::None);
        let explicit = is_block || instruction.op == Op::UntypedVariableKHR;
        let (base, words, arrangement) = if explicit {
            // All blocks lie over each other (SPV_KHR_workgroup_memory_explicit_layout).
            let bytes = self.types.byte_size(pointee, None, &self.constants);
            let bytes = bytes
                .map_err(|error| unsupported(format!("a layout in workgroup memory: {error}")))?;
            let base = if is_block { 0 } else { self.program.workgroup_words };
            (
                base,
                u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX),
                Arrangement::Explicit(None),
            )
        } else {
            let words = layout::flat_size(&self.types, &self.constants, pointee)?;
            (self.program.workgroup_words, words, Arrangement::Flat)
        };
        let end = base.checked_add(words).filter(|words| *words < 1 << 30);
        let end = end.ok_or_else(|| unsupported("workgroup memory of 4 GiB"))?;
        self.program.workgroup_words = self.program.workgroup_words.max(end);
        self.program
            .workgroup_variables
            .push(VariableScalars { name: self.name(id).to_string(), scalars: words });
        self.workgroup_places.push([base * 4, if is_block { u32::MAX } else { words }]);
        if let Some(initializer) = initializer(instruction) {
            let zero = [ConstantValue::Null, ConstantValue::Scalar(0), ConstantValue::Bool(false)];
            if !self.constants.value(initializer).is_some_and(|value| zero.contains(value)) {
                return Err(unsupported("an initializer of a variable in storage class Workgroup"));
            }
            self.program.workgroup_zeroed.push(base..end);
        }
        Ok(Pointer {
            to: self.memory(AccessRoot::Workgroup, base * 4, arrangement, id),
            ty: pointee,
        })
    }

    fn memory(&self, root: AccessRoot, base: u32, arrangement: Arrangement, id: Id) -> Location {
        Location::Memory { root, base, dimensions: Vec::new(), arrangement, name: self.name(id) }
    }

    /// One descriptor of a variable, by its index in the program.
    pub(crate) fn descriptor_index(
        &mut self,
        variable: Id,
        array_index: u32,
        kept: MemoryClass,
    ) -> u32 {
        let descriptor = Descriptor {
            set: self.number_of(variable, Decoration::DescriptorSet),
            binding: self.number_of(variable, Decoration::Binding),
            array_index,
            name: self.block_name(variable),
            kept,
            written: false,
            atomics: false,
            exclusive: self.exclusive(variable),
            may_be_unbound: false,
        };
        let key = (descriptor.set, descriptor.binding, array_index, descriptor.name.clone());
        let descriptors = &mut self.program.descriptors;
        *self.descriptor_numbers.entry(key).or_insert_with(|| {
            descriptors.push(descriptor);
            descriptors.len() as u32 - 1
        })
    }

    /// Whether a variable, or a member of its block, is `restrict`; compilers put the decoration on
    /// either.
    fn exclusive(&self, variable: Id) -> RestrictQualifier {
        let held = self
            .module
            .definition(variable)
            .and_then(|one| self.types.variable_contents(one))
            .map(|(_, ty)| ty);
        let block = held.map(|ty| match self.types.get(ty) {
            Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => *element,
            Some(_) | None => ty,
        });
        let members = block.and_then(|block| Some((block, self.types.get(block)?)));
        let of_member = members.is_some_and(|(block, ty)| match ty {
            Type::Structure { members, .. } => (0..members.len() as u32).any(|member| {
                self.module.member_decoration(block, member, Decoration::Restrict).is_some()
            }),
            _ => false,
        });
        match of_member || self.module.decoration(variable, Decoration::Restrict).is_some() {
            true => RestrictQualifier::Declared,
            false => RestrictQualifier::No,
        }
    }

    /// The location of one descriptor of a buffer variable.
    pub(crate) fn descriptor(&mut self, variable: Id, array_index: u32) -> Location {
        let index = self.descriptor_index(variable, array_index, MemoryClass::Buffer);
        let name: Arc<str> = self.program.descriptors[index as usize].name.as_str().into();
        Location::Memory {
            root: AccessRoot::Descriptor(index),
            base: 0,
            dimensions: Vec::new(),
            arrangement: Arrangement::Explicit(None),
            name,
        }
    }

    /// Descriptors of a runtime array: up to the last that is bound.
    pub(crate) fn bound_length(&self, variable: Id) -> u32 {
        let decorated = |decoration| self.number_of(variable, decoration);
        let place = (decorated(Decoration::DescriptorSet), decorated(Decoration::Binding));
        self.bound.get(&place).copied().unwrap_or(0)
    }

    /// A number that decorates a variable; 0 where none does.
    fn number_of(&self, variable: Id, decoration: Decoration) -> u32 {
        match self
            .module
            .decoration(variable, decoration)
            .and_then(|decorated| decorated.operands.first())
        {
            Some(Operand::LiteralBit32(value)) => *value,
            _ => 0,
        }
    }

    /// The location behind an index that is not known yet: all descriptors stand one after the
    /// other.
    pub(crate) fn any_descriptor(
        &mut self,
        variable: Id,
        length: u32,
        index: Reg,
    ) -> Result<Location, Unsupported> {
        let mut places = Vec::new();
        for array_index in 0..length {
            let Location::Memory { root: AccessRoot::Descriptor(place), name, .. } =
                self.descriptor(variable, array_index)
            else {
                return Err(unsupported("an array of descriptors of no buffers"));
            };
            places.push((place, name));
        }
        let Some((first, name)) = places.first().cloned() else {
            return Err(unsupported("an array of descriptors, none of which is bound"));
        };
        if places.iter().zip(first..).any(|((place, _), due)| *place != due) {
            return Err(unsupported(
                "an array of descriptors, some of which were used before it was indexed",
            ));
        }
        for (place, _) in &places {
            self.program.descriptors[*place as usize].may_be_unbound = true;
        }
        let root = AccessRoot::Descriptors { first, length, index };
        Ok(Location::Memory {
            root,
            base: 0,
            dimensions: Vec::new(),
            arrangement: Arrangement::Explicit(None),
            name,
        })
    }

    fn input(&mut self, id: Id) -> Result<Location, Unsupported> {
        let builtin = self
            .module
            .decoration(id, Decoration::BuiltIn)
            .and_then(|decorated| decorated.operands.first());
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
                axes.map(|axis| self.uniform(UniformValue::WorkgroupId(axis))).to_vec()
            }
            BuiltIn::NumWorkgroups => {
                axes.map(|axis| self.uniform(UniformValue::NumWorkgroups(axis))).to_vec()
            }
            BuiltIn::SubgroupSize => vec![self.uniform(UniformValue::SubgroupSize)],
            BuiltIn::NumSubgroups => vec![self.uniform(UniformValue::NumSubgroups)],
            BuiltIn::SubgroupId => vec![self.lane_register(PerLaneValue::SubgroupId)],
            BuiltIn::SubgroupLocalInvocationId => {
                vec![self.lane_register(PerLaneValue::SubgroupInvocation)]
            }
            BuiltIn::SubgroupEqMask => self.subgroup_mask(SubgroupMask::Equal),
            BuiltIn::SubgroupGeMask => self.subgroup_mask(SubgroupMask::AtLeast),
            BuiltIn::SubgroupGtMask => self.subgroup_mask(SubgroupMask::Above),
            BuiltIn::SubgroupLeMask => self.subgroup_mask(SubgroupMask::AtMost),
            BuiltIn::SubgroupLtMask => self.subgroup_mask(SubgroupMask::Below),
            other => return Err(unsupported(format!("BuiltIn {other:?}"))),
        };
        Ok(Location::Constant(registers.into_iter().map(Scalar::Word).collect()))
    }

    fn subgroup_mask(&mut self, mask: SubgroupMask) -> Vec<Reg> {
        [0, 1, 2, 3].map(|word| self.lane_register(PerLaneValue::SubgroupMask(mask, word))).to_vec()
    }

    /// A private or function variable: registers where no index is dynamic, else memory of the
    /// invocation.
    fn own_variable(
        &mut self,
        instruction: &Instruction,
        storage: StorageClass,
        ty: Id,
    ) -> Result<Pointer, Unsupported> {
        let id = instruction.result.expect("OpVariable has a result");
        let scalars = layout::flat_size(&self.types, &self.constants, ty)?;
        self.program.expanded.push(VariableScalars { name: self.name(id).to_string(), scalars });
        let pointer = if self.addressed.contains(&id) || scalars as usize > MOST_EXPANDED {
            let base = self.program.invocation_words;
            self.program.invocation_words = base
                .checked_add(scalars)
                .filter(|words| *words < 1 << 28)
                .ok_or_else(|| unsupported("invocation memory of more than 1 GiB"))?;
            if storage == StorageClass::Function {
                self.push(LaneInstruction::UndefineMemory { base, words: scalars });
            }
            Pointer { to: self.memory(AccessRoot::Invocation, base * 4, Arrangement::Flat, id), ty }
        } else {
            let registers = self.fresh(ty)?;
            for scalar in registers.iter() {
                match (storage, scalar) {
                    (StorageClass::Function, Scalar::Word(reg)) => {
                        self.push(LaneInstruction::Undefine { to: *reg })
                    }
                    (StorageClass::Function, Scalar::Mask(reg)) => {
                        self.push(LaneInstruction::UndefineMask { to: *reg })
                    }
                    (_, Scalar::Word(reg)) => self.program.undefined_words.push(*reg),
                    (_, Scalar::Mask(reg)) => self.program.undefined_masks.push(*reg),
                }
            }
            Pointer { to: Location::Registers(registers), ty }
        };
        if let Some(initializer) = instruction.id(1) {
            if storage == StorageClass::Function {
                let value = self.scalars(initializer)?;
                ops::memory::store_to(self, &pointer, &value)?;
            } else {
                self.initializers.push((pointer.clone(), initializer));
            }
        }
        Ok(pointer)
    }

    /// Private variables with initial values start with them: a block before the entry point's
    /// first.
    pub(crate) fn entry_initializers(&mut self) -> Result<(), Unsupported> {
        let module = self.module;
        for instruction in
            module.instructions.iter().take_while(|instruction| instruction.op != Op::Function)
        {
            if let (Op::Variable, Some(id), Some(_)) =
                (instruction.op, instruction.result, instruction.id(1))
            {
                self.value(id)?;
            }
        }
        if self.initializers.is_empty() {
            return Ok(());
        }
        let label = self.new_label();
        self.begin(label);
        for (pointer, initializer) in std::mem::take(&mut self.initializers) {
            let value = self.scalars(initializer)?;
            ops::memory::store_to(self, &pointer, &value)?;
        }
        let first = self.frame().block;
        let to = self.frame().labels[&first];
        self.finish(Terminator::Jump { to });
        Ok(())
    }
}
