//! Parts of vectors and structures.
//!
//! Promises: a part that is not followed is a value of which nothing is known.
//! Does not cover: arrays and matrices, whose elements are not followed.

use super::Walk;
use super::atom::Origin;
use super::value::{PathStep, Value};
use super::walk::Frame;
use crate::module::{Id, Instruction};
use crate::types::Type;
use std::rc::Rc;

impl Walk<'_> {
    /// The literal operands of an instruction from a position on.
    fn literals(instruction: &Instruction, from: usize) -> Vec<u32> {
        let positions = from..instruction.operands.len();
        positions.filter_map(|position| instruction.literal(position)).collect()
    }

    pub(super) fn extracted(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let Some(composite) = instruction.id(0) else { return Value::Unknown(Origin::Variable) };
        let mut value = self.value_of(frame, composite);
        let mut value_type = self.type_of(composite);
        for part in Self::literals(instruction, 1) {
            let part_type = value_type.and_then(|ty| self.types.component_type(ty, part));
            let is_array = value_type
                .and_then(|ty| self.types.get(ty))
                .is_some_and(|ty| matches!(ty, Type::Array { .. } | Type::Matrix { .. }));
            let (Some(part_type), false) = (part_type, is_array) else {
                return self.fresh_value(type_id, &self.element_origin(&value));
            };
            value = self.part_of(&value, part_type, part);
            value_type = Some(part_type);
        }
        value
    }

    pub(super) fn inserted(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let (Some(object), Some(composite)) = (instruction.id(0), instruction.id(1)) else {
            return Value::Unknown(Origin::Variable);
        };
        let object = self.value_of(frame, object);
        let whole = self.value_of(frame, composite);
        let path: Vec<PathStep> =
            Self::literals(instruction, 2).into_iter().map(PathStep::Part).collect();
        self.with_part(whole, type_id, &path, object)
    }

    pub(super) fn constructed(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let part_ids: Vec<Id> = instruction.ids().collect();
        match self.types.get(type_id) {
            Some(Type::Structure { .. }) if part_ids.len() <= 64 => {
                let parts = part_ids.into_iter().map(|part| self.value_of(frame, part));
                Value::Composite(Rc::new(parts.collect()))
            }
            Some(Type::Vector { .. }) => {
                // Constituents may be vectors.
                let mut parts = Vec::new();
                for part in part_ids {
                    let value = self.value_of(frame, part);
                    let part_type = self.type_of(part);
                    match part_type.and_then(|ty| self.types.get(ty)).cloned() {
                        Some(Type::Vector { component, count }) => {
                            for position in 0..count {
                                parts.push(self.part_of(&value, component, position));
                            }
                        }
                        _ => parts.push(value),
                    }
                }
                Value::Composite(Rc::new(parts))
            }
            _ => {
                let mut parts = Vec::new();
                for part in part_ids {
                    parts.push(self.value_of(frame, part));
                }
                let origin = self.worst_origin(&parts);
                self.fresh_value(type_id, &origin)
            }
        }
    }

    /// Where an element of a value comes from that is not followed.
    pub(super) fn element_origin(&self, whole: &Value) -> Origin {
        match whole {
            Value::Unknown(origin) => origin.clone(),
            Value::Integer(number) => {
                self.atoms.undefined_cause(number).cloned().unwrap_or(Origin::Element)
            }
            Value::Composite(parts) => self.worst_origin(parts.iter()),
            Value::Boolean(_) | Value::Pointer(_) | Value::Image(_) => Origin::Element,
        }
    }

    /// Where any one of several values comes from: from what may be undefined, if one does.
    pub(super) fn worst_origin<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Origin {
        let mut origins = values.into_iter().map(|value| self.element_origin(value));
        origins.find(Origin::may_be_undefined).unwrap_or(Origin::Element)
    }

    pub(super) fn shuffled(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let (Some(first), Some(second), Some(part_type)) =
            (instruction.id(0), instruction.id(1), self.types.component_type(type_id, 0))
        else {
            return self.fresh_value(type_id, &Origin::Variable);
        };
        let first_count = match self.type_of(first).and_then(|ty| self.types.get(ty)) {
            Some(Type::Vector { count, .. }) => *count,
            _ => return self.fresh_value(type_id, &Origin::Variable),
        };
        let (first, second) = (self.value_of(frame, first), self.value_of(frame, second));
        let mut parts = Vec::new();
        for index in Self::literals(instruction, 2) {
            parts.push(match index {
                u32::MAX => self.fresh_value(part_type, &Origin::Variable),
                index if index < first_count => self.part_of(&first, part_type, index),
                index => self.part_of(&second, part_type, index - first_count),
            });
        }
        Value::Composite(Rc::new(parts))
    }
}
