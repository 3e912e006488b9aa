//! Single instructions.
//!
//! Promises: an instruction without a rule here gives a value of which nothing is known, and leaves
//! unknown what its pointers into memory of the invocation point to.
//! Does not cover: integer arithmetic (`arithmetic`).

use super::Walk;
use super::access::{AccessKind, AccessTarget, access_kind};
use super::atom::Origin;
use super::condition::Condition;
use super::polynomial::Polynomial;
use super::state::State;
use super::texel::image_source;
use super::value::{ImageSource, Root, Value};
use super::walk::Frame;
use crate::constants::ConstantValue;
use crate::module::{Id, Instruction};
use crate::types::Type;
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::rc::Rc;

impl Walk<'_> {
    /// The state behind an instruction; none: control does not come behind it.
    pub(super) fn step(&mut self, frame: &mut Frame, state: State, index: usize) -> Option<State> {
        let module = self.module;
        let instruction = &module.instructions[index];
        match instruction.op {
            Op::FunctionCall => return self.call(frame, state, instruction),
            Op::Store => return Some(self.store(frame, state, index)),
            Op::CopyMemory | Op::CopyMemorySized => return Some(self.copy(frame, state, index)),
            Op::Phi | Op::Variable | Op::Label | Op::Line | Op::NoLine => return Some(state),
            _ => {}
        }
        if let Some(kind) = access_kind(instruction.op) {
            self.record_access(frame, &state, index, kind);
        }
        self.record_comparison(frame, &state, index);
        let state = self.without_written_variables(frame, state, instruction);
        if let (Some(result), Some(type_id)) = (instruction.result, instruction.result_type) {
            let value = self.result_value(frame, &state, instruction, type_id);
            frame.values.insert(result, value);
        }
        Some(state)
    }

    fn record_access(&mut self, frame: &Frame, state: &State, index: usize, kind: AccessKind) {
        let instruction = &self.module.instructions[index];
        let Some(operand) = instruction.id(0) else { return };
        let value = self.value_of(frame, operand);
        let is_texel = matches!(
            instruction.op,
            Op::ImageRead | Op::ImageFetch | Op::ImageWrite | Op::ImageTexelPointer
        );
        if is_texel {
            let source = image_source(&value);
            let operand_type = self.type_of(operand).unwrap_or(0);
            let image_type = self.types.pointee(operand_type).unwrap_or(operand_type);
            self.record_texel(frame, state, index, (image_type, source), kind);
            return;
        }
        let is_of_one_object =
            instruction.op == Op::Load || crate::module::is_atomic(instruction.op);
        match value {
            Value::Pointer(pointer) if is_of_one_object => {
                self.record_pointed(state, index, kind, &pointer);
            }
            Value::Pointer(_)
            | Value::Integer(_)
            | Value::Boolean(_)
            | Value::Composite(_)
            | Value::Image(_)
            | Value::Unknown(_) => self.record_unmodelled(state, index, kind),
        }
    }

    fn record_unmodelled(&mut self, state: &State, index: usize, kind: AccessKind) {
        let target = AccessTarget::Unmodelled {
            words: "memory".to_owned(),
            reason: format!("Op{:?} is not followed here", self.module.instructions[index].op),
        };
        self.record(state, index, kind, target);
    }

    fn call(
        &mut self,
        frame: &mut Frame,
        state: State,
        instruction: &Instruction,
    ) -> Option<State> {
        let arguments: Vec<Value> =
            instruction.ids().skip(1).map(|argument| self.value_of(frame, argument)).collect();
        let function = instruction.id(0)?;
        let (state, returned) = self.walk_call(state, function, arguments, frame.nesting + 1)?;
        if let (Some(result), Some(value)) = (instruction.result, returned) {
            frame.values.insert(result, value);
        }
        Some(state)
    }

    fn store(&mut self, frame: &Frame, state: State, index: usize) -> State {
        let module = self.module;
        let instruction = &module.instructions[index];
        let (Some(pointer_id), Some(object)) = (instruction.id(0), instruction.id(1)) else {
            return state;
        };
        let value = self.value_of(frame, object);
        self.store_to(frame, state, index, pointer_id, value)
    }

    fn store_to(
        &mut self,
        frame: &Frame,
        mut state: State,
        index: usize,
        pointer_id: Id,
        value: Value,
    ) -> State {
        match self.value_of(frame, pointer_id) {
            Value::Pointer(pointer) => {
                self.record_pointed(&state, index, AccessKind::Write, &pointer);
                let is_elsewhere = match &pointer.root {
                    Root::Unknown(_) => !self
                        .type_of(pointer_id)
                        .is_some_and(|type_id| self.points_into_own_memory(type_id)),
                    Root::Own(_) | Root::Module(_) | Root::Texel => false,
                };
                if is_elsewhere { state } else { self.stored(state, &pointer, value) }
            }
            Value::Integer(_)
            | Value::Boolean(_)
            | Value::Composite(_)
            | Value::Image(_)
            | Value::Unknown(_) => {
                self.record_unmodelled(&state, index, AccessKind::Write);
                let may_be_own = self
                    .type_of(pointer_id)
                    .is_none_or(|type_id| self.points_into_own_memory(type_id));
                if may_be_own {
                    self.forget_variables(&mut state);
                }
                state
            }
        }
    }

    fn copy(&mut self, frame: &Frame, state: State, index: usize) -> State {
        let module = self.module;
        let instruction = &module.instructions[index];
        let (Some(target), Some(source)) = (instruction.id(0), instruction.id(1)) else {
            return state;
        };
        if instruction.op == Op::CopyMemorySized {
            self.record_unmodelled(&state, index, AccessKind::Write);
        }
        let pointee = self.type_of(target).and_then(|type_id| self.types.pointee(type_id));
        let value = match (self.value_of(frame, source), pointee) {
            (Value::Pointer(pointer), Some(pointee)) => {
                self.record_pointed(&state, index, AccessKind::Read, &pointer);
                self.loaded_value(&state, &pointer, pointee)
            }
            (_, _) => Value::Unknown(Origin::Variable),
        };
        self.store_to(frame, state, index, target, value)
    }

    /// Instructions without a rule may write through their pointers.
    fn without_written_variables(
        &mut self,
        frame: &Frame,
        mut state: State,
        instruction: &Instruction,
    ) -> State {
        let only_reads = matches!(
            instruction.op,
            Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::ArrayLength
        );
        if only_reads {
            return state;
        }
        for operand in instruction.ids() {
            let key = match (frame.values.get(&operand), self.private_variables.get(&operand)) {
                (Some(Value::Pointer(pointer)), _) => match pointer.root {
                    Root::Own(key) => Some(key),
                    Root::Module(_) | Root::Texel | Root::Unknown(_) => None,
                },
                (_, private_variable) => private_variable.copied(),
            };
            if let Some(key) = key {
                let type_id = self.variable_types[key.0 as usize];
                let value = self.fresh_value(type_id, &Origin::Variable);
                state.variables.insert(key, value);
            }
        }
        state
    }

    /// The type of what an id stands for.
    pub(super) fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(id)?.result_type
    }

    /// What an id stands for here.
    pub(super) fn value_of(&mut self, frame: &Frame, id: Id) -> Value {
        if let Some(value) = frame.values.get(&id) {
            return value.clone();
        }
        if let Some(value) = self.constant_value(id) {
            return value;
        }
        if let Some(key) = self.private_variables.get(&id).copied() {
            let type_id = self.variable_types[key.0 as usize];
            return self.variable_pointer(id, Root::Own(key), type_id);
        }
        let definition = self.module.definition(id);
        match definition.and_then(|definition| self.types.variable_contents(definition)) {
            Some((_, type_id)) => self.variable_pointer(id, Root::Module(id), type_id),
            None => Value::Unknown(Origin::Variable),
        }
    }

    /// Whether a constant depends on a specialization constant of no one value.
    pub(super) fn is_unsettled(&self, constant: Id) -> bool {
        self.unsettled_constants.contains(&constant)
    }

    /// The value of a constant; none where the id is none.
    pub(super) fn constant_value(&mut self, id: Id) -> Option<Value> {
        let definition = self.module.definition(id)?;
        let type_id = definition.result_type?;
        if self.is_unsettled(id) {
            let spec_id = self.module.specialization_id(id);
            let number = spec_id.and_then(|spec_id| self.host.specialization.get(&spec_id));
            if let (Some(number), Some(word)) = (number, self.word_type(type_id)) {
                return Some(Value::integer(number.as_word(word.width)));
            }
            let origin = Origin::Host("the value of a specialization constant".to_owned());
            return Some(self.fresh_value(type_id, &origin));
        }
        let value = self.constants.value(id)?.clone();
        Some(self.value_of_constant(&value, type_id))
    }

    fn value_of_constant(&mut self, value: &ConstantValue, type_id: Id) -> Value {
        let word = self.word_type(type_id);
        match (value, word) {
            (ConstantValue::Scalar(bits), Some(word)) => {
                Value::integer(Polynomial::constant(i128::from(*bits)).as_word(word.width))
            }
            (ConstantValue::Null, Some(_)) => Value::number(0),
            (ConstantValue::Bool(value), _) => Value::boolean(Condition::Known(*value)),
            (ConstantValue::Composite(parts), _) if parts.len() <= 64 => {
                let mut values = Vec::new();
                for (position, part) in parts.iter().enumerate() {
                    let part_type = self.types.component_type(type_id, position as u32);
                    values.push(match part_type {
                        Some(part_type) => self.value_of_constant(part, part_type),
                        None => Value::Unknown(Origin::Variable),
                    });
                }
                Value::Composite(Rc::new(values))
            }
            (
                ConstantValue::Scalar(_)
                | ConstantValue::Composite(_)
                | ConstantValue::Null
                | ConstantValue::Undef,
                _,
            ) => self.fresh_value(type_id, &constant_origin(value)),
        }
    }

    fn result_value(
        &mut self,
        frame: &Frame,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        match instruction.op {
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(frame, instruction),
            Op::Load => self.load(frame, state, instruction, type_id),
            Op::ImageTexelPointer => {
                let pointee = self.types.pointee(type_id).unwrap_or(type_id);
                self.variable_pointer(0, Root::Texel, pointee)
            }
            Op::CopyObject | Op::CopyLogical => match instruction.id(0) {
                Some(source) => self.value_of(frame, source),
                None => Value::Unknown(Origin::Variable),
            },
            Op::CompositeExtract => self.extracted(frame, instruction, type_id),
            Op::CompositeInsert => self.inserted(frame, instruction, type_id),
            Op::CompositeConstruct => self.constructed(frame, instruction, type_id),
            Op::VectorShuffle => self.shuffled(frame, instruction, type_id),
            Op::ArrayLength => self.array_length(frame, state, instruction, type_id),
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                self.image_size_value(frame, state, instruction, type_id)
            }
            Op::Image | Op::SampledImage => match instruction.id(0) {
                Some(image) => self.value_of(frame, image),
                None => Value::Unknown(Origin::Variable),
            },
            op if crate::module::is_atomic(op) => {
                self.fresh_value(type_id, &Origin::Memory("an atomic".to_owned()))
            }
            Op::ImageRead | Op::ImageFetch => {
                self.fresh_value(type_id, &Origin::Memory("an image".to_owned()))
            }
            _ => self.computed(frame, state, instruction, type_id),
        }
    }

    fn load(
        &mut self,
        frame: &Frame,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        match instruction.id(0).map(|pointer| self.value_of(frame, pointer)) {
            Some(Value::Pointer(pointer)) => self.loaded_value(state, &pointer, type_id),
            Some(_) | None => self.fresh_value(type_id, &Origin::Variable),
        }
    }

    /// `arr.length()`: what the bound bytes have room for (SPIR-V specification, OpArrayLength).
    fn array_length(
        &mut self,
        frame: &Frame,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let length = self.bound_length(frame, state, instruction);
        match (length, self.word_type(type_id)) {
            (Some(length), Some(word)) => Value::integer(length.as_word(word.width)),
            (_, _) => {
                let origin = Origin::Host("the length of an array".to_owned());
                self.fresh_value(type_id, &origin)
            }
        }
    }

    fn bound_length(
        &mut self,
        frame: &Frame,
        state: &State,
        instruction: &Instruction,
    ) -> Option<Polynomial> {
        let Value::Pointer(pointer) = self.value_of(frame, instruction.id(0)?) else { return None };
        let Root::Module(variable) = pointer.root else { return None };
        if !pointer.path.is_empty() {
            return None;
        }
        let member_index = instruction.literal(1)?;
        let Type::Structure { members, .. } = self.types.get(pointer.pointee)? else { return None };
        let member = members.get(member_index as usize)?;
        let Type::RuntimeArray { stride: Some(stride), .. } = self.types.get(member.ty)? else {
            return None;
        };
        let (offset, stride) = (i128::from(member.offset?), i128::from(*stride));
        let place = (
            self.decorated_number(variable, Decoration::DescriptorSet)?,
            self.decorated_number(variable, Decoration::Binding)?,
        );
        let room = self.host.buffer_sizes.get(&place)?.plus_number(-offset);
        if !self.is_at_least_zero(&state.facts, &room) {
            return None;
        }
        self.atoms.quotient(&room, &Polynomial::constant(stride))
    }

    fn image_size_value(
        &mut self,
        frame: &Frame,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let source = match instruction.id(0) {
            Some(image) => image_source(&self.value_of(frame, image)),
            None => ImageSource::Other,
        };
        let level = match instruction.id(1) {
            Some(level) => match (self.value_of(frame, level), instruction.op) {
                (Value::Integer(number), Op::ImageQuerySizeLod) => Some((*number).clone()),
                (_, _) => return self.fresh_value(type_id, &Origin::Joined),
            },
            None => None,
        };
        let ImageSource::Variable(variable) = source else {
            return self.fresh_value(type_id, &Origin::Joined);
        };
        let count = match self.types.get(type_id) {
            Some(Type::Vector { count, .. }) => *count,
            Some(_) | None => 1,
        };
        let image = (variable, count);
        let is_followed = level
            .as_ref()
            .is_none_or(|level| level.number() == Some(0) || self.has_level(state, image, level));
        let mut parts = Vec::new();
        for part in 0..count {
            let size = match is_followed {
                true => self.image_size(image, level.as_ref(), part),
                false => self.atoms.image_size(variable, level.clone(), part),
            };
            parts.push(Value::integer(size));
        }
        match parts.len() {
            1 => parts.remove(0),
            _ => Value::Composite(Rc::new(parts)),
        }
    }

    /// Whether an instruction may access memory that others see, told without walking.
    pub(super) fn is_access_place(&self, index: usize) -> bool {
        let instruction = &self.module.instructions[index];
        if access_kind(instruction.op).is_none() || instruction.op == Op::ImageTexelPointer {
            return instruction.op == Op::ImageTexelPointer;
        }
        let Some(pointer) = instruction.id(0) else { return false };
        let storage = self.type_of(pointer).and_then(|type_id| self.types.storage_class(type_id));
        match storage {
            Some(
                StorageClass::Uniform
                | StorageClass::StorageBuffer
                | StorageClass::PhysicalStorageBuffer,
            ) => true,
            Some(StorageClass::Workgroup) => self
                .module
                .definition(pointer)
                .is_some_and(|definition| definition.op == Op::AccessChain),
            Some(_) => false,
            None => instruction.operands.first().is_some_and(|operand| {
                matches!(operand, Operand::IdRef(_))
                    && matches!(instruction.op, Op::ImageRead | Op::ImageFetch | Op::ImageWrite)
            }),
        }
    }
}

/// A constant that is not followed is defined, but for those that OpUndef makes.
fn constant_origin(value: &ConstantValue) -> Origin {
    match value {
        ConstantValue::Undef => Origin::Variable,
        ConstantValue::Composite(parts) => {
            let mut origins = parts.iter().map(constant_origin);
            origins.find(Origin::may_be_undefined).unwrap_or(Origin::Element)
        }
        ConstantValue::Scalar(_) | ConstantValue::Null | ConstantValue::Bool(_) => Origin::Element,
    }
}
