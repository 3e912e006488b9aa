//! Pointers, loads and stores.
//!
//! Knows: variables of the invocation with what they hold, push constants by what the host stores
//! at their bytes, built-ins by the ids of workgroups and invocations.
//! Promises: a store to an element that is chosen at run time leaves the whole array unknown;
//! memory that others see is unknown at every load.
//! Does not cover: whether an access is within its variable (`access`).

use super::Walk;
use super::atom::Origin;
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::state::State;
use super::value::{ImageSource, IndexStep, PathStep, Pointer, Root, StepLength, Value};
use super::walk::Frame;
use crate::module::{Id, Instruction};
use crate::types::Type;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, StorageClass};
use std::rc::Rc;

impl Walk<'_> {
    /// The pointer that a variable is.
    pub(super) fn variable_pointer(&self, variable: Id, root: Root, type_id: Id) -> Value {
        let words = self.module.debug_name(variable).unwrap_or_default().to_owned();
        Value::Pointer(Rc::new(Pointer {
            root,
            offset: Some(0),
            steps: Vec::new(),
            path: Vec::new(),
            words,
            pointee: type_id,
            matrix_layout: None,
            matrix: None,
            is_of_descriptor_array: false,
        }))
    }

    /// The pointer of an access chain.
    pub(super) fn access_chain(&mut self, frame: &Frame, instruction: &Instruction) -> Value {
        let unknown = Value::Unknown(Origin::Instruction("a pointer".to_owned()));
        let Some(base) = instruction.id(0) else { return unknown };
        let Value::Pointer(base) = self.value_of(frame, base) else { return unknown };
        let mut pointer = (*base).clone();
        for index in instruction.ids().skip(1) {
            if self.extend_pointer(frame, &mut pointer, index).is_none() {
                pointer.root = Root::Unknown("a step on its way is not followed".to_owned());
                pointer.pointee = instruction
                    .result_type
                    .and_then(|type_id| self.types.pointee(type_id))
                    .unwrap_or(pointer.pointee);
                return Value::Pointer(Rc::new(pointer));
            }
        }
        Value::Pointer(Rc::new(pointer))
    }

    fn extend_pointer(&mut self, frame: &Frame, pointer: &mut Pointer, index: Id) -> Option<()> {
        let pointee_type = self.types.get(pointer.pointee)?.clone();
        if let Type::Structure { members, .. } = &pointee_type {
            let member_index = self.constants.scalar_word(index)?;
            let member = members.get(member_index as usize)?;
            let member_offset = member.offset.map(u64::from);
            pointer.offset =
                pointer.offset.zip(member_offset).map(|(offset, inner)| offset + inner);
            pointer.path.push(PathStep::Part(member_index));
            let separator = if pointer.words.is_empty() { "" } else { "." };
            let name = member.name.clone().unwrap_or_else(|| member_index.to_string());
            pointer.words.push_str(&format!("{separator}{name}"));
            pointer.matrix_layout = member.matrix;
            pointer.pointee = member.ty;
            return Some(());
        }
        let (element, length, stride) = self.element_of(pointer, &pointee_type)?;
        let index_type = self.type_of(index)?;
        let word = self.word_type(index_type)?;
        let value = self.value_of(frame, index);
        let number = self.integer_of(&value, index_type);
        let constant = number.number();
        let is_descriptor = pointer.steps.is_empty()
            && pointer.path.is_empty()
            && self.is_descriptor_variable(&pointer.root);
        pointer.is_of_descriptor_array |= is_descriptor;
        if let Type::Matrix { .. } = pointee_type {
            pointer.matrix = Some(pointer.pointee);
        }
        let is_array = !matches!(pointee_type, Type::Vector { .. });
        pointer.path.push(match constant {
            Some(part) if !is_array => PathStep::Part(u32::try_from(part).ok()?),
            Some(_) | None => PathStep::Any,
        });
        match constant {
            Some(number) => pointer.words.push_str(&format!("[{number}]")),
            None => pointer.words.push_str("[..]"),
        }
        pointer.steps.push(IndexStep {
            index: number,
            width: word.width,
            is_signed: word.is_signed,
            length,
            stride,
        });
        pointer.pointee = element;
        Some(())
    }

    /// Type, number and stride of the elements of an array, a vector or a matrix.
    fn element_of(
        &self,
        pointer: &Pointer,
        pointee: &Type,
    ) -> Option<(Id, StepLength, Option<u32>)> {
        match pointee {
            Type::Vector { component, count } => {
                let bytes = self.types.scalar_width(*component)? / 8;
                Some((*component, StepLength::Fixed(u64::from(*count)), Some(bytes)))
            }
            // The columns of a matrix lie apart by what its member says; the whole matrix is
            // taken, since the column is in it.
            Type::Matrix { column, count } => {
                Some((*column, StepLength::Fixed(u64::from(*count)), None))
            }
            Type::Array { element, length, stride } => {
                let known_length = match self.is_unsettled(*length) {
                    true => None,
                    false => self.constants.array_length(*length),
                };
                let length = match known_length {
                    Some(length) => StepLength::Fixed(length),
                    None => StepLength::Unknown(
                        "its length is a specialization constant of no one value".to_owned(),
                    ),
                };
                Some((*element, length, *stride))
            }
            Type::RuntimeArray { element, stride } => {
                let length = match pointer.path.is_empty() {
                    true => StepLength::Unknown("its number of descriptors is open".to_owned()),
                    false => StepLength::Bound,
                };
                Some((*element, length, *stride))
            }
            _ => None,
        }
    }

    fn is_descriptor_variable(&self, root: &Root) -> bool {
        match root {
            Root::Module(variable) => {
                self.module.decoration(*variable, Decoration::DescriptorSet).is_some()
            }
            Root::Own(_) | Root::Texel | Root::Unknown(_) => false,
        }
    }

    /// The storage class of a module's variable.
    pub(super) fn variable_storage(&self, variable: Id) -> Option<StorageClass> {
        let definition = self.module.definition(variable)?;
        self.types.variable_contents(definition).map(|(storage, _)| storage)
    }

    /// What a load gives.
    pub(super) fn loaded_value(&mut self, state: &State, pointer: &Pointer, type_id: Id) -> Value {
        match &pointer.root {
            Root::Own(key) => {
                let mut value = state.variables.get(key).cloned();
                let mut part_type = self.variable_types[key.0 as usize];
                for step in &pointer.path {
                    let whole = value.unwrap_or(Value::Unknown(Origin::Variable));
                    let part = match step {
                        PathStep::Part(part) => Some(*part),
                        PathStep::Any => None,
                    };
                    let next_type =
                        part.and_then(|part| self.types.component_type(part_type, part));
                    let (Some(part), Some(next_type)) = (part, next_type) else {
                        return self.fresh_value(type_id, &self.element_origin(&whole));
                    };
                    value = Some(self.part_of(&whole, next_type, part));
                    part_type = next_type;
                }
                match value {
                    Some(Value::Unknown(origin)) => self.fresh_value(type_id, &origin),
                    Some(value) => value,
                    None => self.fresh_value(type_id, &Origin::Variable),
                }
            }
            Root::Module(variable) => self.loaded_from_module(*variable, pointer, type_id),
            Root::Texel => self.fresh_value(type_id, &Origin::Memory("an image".to_owned())),
            Root::Unknown(reason) => self.fresh_value(type_id, &Origin::Memory(reason.clone())),
        }
    }

    fn loaded_from_module(&mut self, variable: Id, pointer: &Pointer, type_id: Id) -> Value {
        match self.variable_storage(variable) {
            Some(StorageClass::Input) => {
                let builtin = self.module.decoration(variable, Decoration::BuiltIn);
                let builtin = match builtin.and_then(|decorated| decorated.operands.first()) {
                    Some(Operand::BuiltIn(builtin)) => *builtin,
                    Some(_) | None => {
                        return self.fresh_value(type_id, &Origin::BuiltIn("an input".to_owned()));
                    }
                };
                self.builtin_value(builtin, &pointer.path, type_id)
            }
            Some(StorageClass::PushConstant) => {
                let is_fixed = pointer.steps.iter().all(|step| step.index.number().is_some());
                let offset = pointer.offset.filter(|_| is_fixed).and_then(|offset| {
                    pointer.steps.iter().try_fold(offset, |sum, step| {
                        let index = u64::try_from(step.index.number()?).ok()?;
                        sum.checked_add(index.checked_mul(u64::from(step.stride?))?)
                    })
                });
                self.push_constant_value(offset, type_id)
            }
            Some(StorageClass::UniformConstant) => match pointer.path.is_empty() {
                true => Value::Image(ImageSource::Variable(variable)),
                false => Value::Image(ImageSource::Other),
            },
            Some(_) | None => {
                let name = self.object_name(variable, pointer);
                self.fresh_value(type_id, &Origin::Memory(name))
            }
        }
    }

    /// A variable's name for people, with the members on the way.
    pub(super) fn object_name(&self, variable: Id, pointer: &Pointer) -> String {
        match pointer.words.is_empty() {
            true => format!("%{variable}"),
            false => pointer.words.clone(),
        }
    }

    /// What the host stores at a byte of the push constants.
    fn push_constant_value(&mut self, offset: Option<u64>, type_id: Id) -> Value {
        let not_stated = Origin::Host("what the host stores in a push constant".to_owned());
        let Some(offset) = offset else { return self.fresh_value(type_id, &not_stated) };
        if let Some(value) = self.push_constants.get(&(offset, type_id)) {
            return value.clone();
        }
        let value = match self.types.get(type_id).cloned() {
            Some(Type::Int { width, .. }) => match self.host.push_constants.get(&offset) {
                Some(member) if member.width == width => {
                    Value::integer(member.number.as_word(width))
                }
                Some(_) | None => self.fresh_value(type_id, &not_stated),
            },
            Some(Type::Vector { component, count }) => {
                let bytes = u64::from(self.types.scalar_width(component).unwrap_or(0) / 8);
                let parts = (0..u64::from(count))
                    .map(|part| self.push_constant_value(Some(offset + part * bytes), component));
                Value::Composite(Rc::new(parts.collect()))
            }
            Some(Type::Structure { members, .. }) if members.len() <= 64 => {
                let parts = members.iter().map(|member| {
                    let member_offset =
                        member.offset.map(|member_offset| offset + u64::from(member_offset));
                    self.push_constant_value(member_offset, member.ty)
                });
                Value::Composite(Rc::new(parts.collect()))
            }
            _ => self.fresh_value(type_id, &not_stated),
        };
        self.push_constants.insert((offset, type_id), value.clone());
        value
    }

    fn builtin_value(&mut self, builtin: BuiltIn, path: &[PathStep], type_id: Id) -> Value {
        let whole = match builtin {
            BuiltIn::GlobalInvocationId => self.ids.global.clone(),
            BuiltIn::LocalInvocationId => self.ids.local.clone(),
            BuiltIn::WorkgroupId => self.ids.workgroup.clone(),
            BuiltIn::NumWorkgroups => self.ids.groups.clone(),
            BuiltIn::LocalInvocationIndex => match path.is_empty() {
                true => return Value::integer(self.ids.local_index.clone()),
                false => return self.fresh_value(type_id, &Origin::Variable),
            },
            other => {
                let origin = Origin::BuiltIn(format!("gl_{other:?}"));
                return self.fresh_value(type_id, &origin);
            }
        };
        match path {
            [] => Value::Composite(Rc::new(whole.into_iter().map(Value::integer).collect())),
            [PathStep::Part(part)] if (*part as usize) < 3 => {
                Value::integer(whole[*part as usize].clone())
            }
            _ => {
                let symbol = self.atoms.new_symbol(
                    "",
                    Interval::new(0, i128::from(u32::MAX)),
                    Origin::BuiltIn(format!("gl_{builtin:?}")),
                );
                Value::integer(Polynomial::atom(symbol))
            }
        }
    }

    /// The state behind a store.
    pub(super) fn stored(&mut self, mut state: State, pointer: &Pointer, value: Value) -> State {
        match &pointer.root {
            Root::Own(key) => {
                let type_id = self.variable_types[key.0 as usize];
                let before =
                    state.variables.get(key).cloned().unwrap_or(Value::Unknown(Origin::Variable));
                let after = self.with_part(before, type_id, &pointer.path, value);
                state.variables.insert(*key, after);
            }
            Root::Unknown(_) => self.forget_variables(&mut state),
            Root::Module(_) | Root::Texel => {}
        }
        state
    }

    /// Leaves every variable of the invocation unknown.
    pub(super) fn forget_variables(&mut self, state: &mut State) {
        let keys: Vec<_> = state.variables.keys().copied().collect();
        for key in keys {
            let type_id = self.variable_types[key.0 as usize];
            let value = self.fresh_value(type_id, &Origin::Variable);
            state.variables.insert(key, value);
        }
    }

    /// A composite with another value in a part.
    pub(super) fn with_part(
        &mut self,
        whole: Value,
        type_id: Id,
        path: &[PathStep],
        value: Value,
    ) -> Value {
        let Some((step, rest)) = path.split_first() else { return value };
        let part_types: Vec<Id> = match (step, self.types.get(type_id)) {
            (PathStep::Part(_), Some(Type::Vector { component, count })) => {
                vec![*component; *count as usize]
            }
            (PathStep::Part(_), Some(Type::Structure { members, .. })) if members.len() <= 64 => {
                members.iter().map(|member| member.ty).collect()
            }
            _ => {
                let origin = self.worst_origin([&whole, &value]);
                return self.fresh_value(type_id, &origin);
            }
        };
        let PathStep::Part(changed) = *step else { return whole };
        let mut parts = Vec::new();
        for (position, part_type) in part_types.into_iter().enumerate() {
            let part = self.part_of(&whole, part_type, position as u32);
            parts.push(match position as u32 == changed {
                true => self.with_part(part, part_type, rest, value.clone()),
                false => part,
            });
        }
        Value::Composite(Rc::new(parts))
    }
}
