//! The value of one constant from the values of those before it.
//!
//! Promises: what the specification leaves undefined is [`Value::Undef`]; an opcode that is not
//! evaluated is an error by name.

use super::{ConstantError, Constants, Value};
use crate::float_controls::{self, Denormals, FloatControls};
use crate::module::{Id, Instruction, Module};
use crate::operation::operator::Unary;
use crate::operation::sized::{Form, Operation, Relation, Sized, Width};
use crate::operation::{ScalarOperation, scalar_operation};
use crate::types::{Type, Types};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_oracle::float::{ExactReal, FloatFormat};

/// One instruction's evaluation in the context of those before it.
pub(super) struct Evaluation<'a> {
    pub(super) module: &'a Module,
    pub(super) types: &'a Types,
    pub(super) specialization: &'a BTreeMap<u32, u64>,
    pub(super) known: &'a Constants,
}

impl Evaluation<'_> {
    pub(super) fn of(&self, id: Id, instruction: &Instruction) -> Result<Value, ConstantError> {
        let ty = instruction.result_type.ok_or_else(|| malformed(id, "no type"))?;
        Ok(match instruction.op {
            Op::ConstantTrue => Value::Bool(true),
            Op::ConstantFalse => Value::Bool(false),
            Op::SpecConstantTrue => Value::Bool(self.override_of(id).is_none_or(|bits| bits != 0)),
            Op::SpecConstantFalse => {
                Value::Bool(self.override_of(id).is_some_and(|bits| bits != 0))
            }
            Op::Constant => Value::Scalar(self.literal(id, ty, instruction)?),
            Op::SpecConstant => {
                let default = self.literal(id, ty, instruction)?;
                Value::Scalar(
                    self.override_of(id).map_or(default, |bits| truncate(bits, self.width(ty))),
                )
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts = instruction.ids().map(|part| self.operand(id, part));
                Value::Composite(parts.collect::<Result<_, _>>()?)
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let part = instruction.id(0).ok_or_else(|| malformed(id, "no constituent"))?;
                let count = self.types.component_count(ty, self.known);
                let count = count.filter(|count| *count <= MAX_REPLICATED);
                let count = count.ok_or(ConstantError::Unsupported { op: instruction.op })?;
                Value::Composite(vec![self.operand(id, part)?; count as usize])
            }
            Op::ConstantNull => match self.types.get(ty) {
                Some(Type::Bool) => Value::Bool(false),
                Some(Type::Int { .. } | Type::Float { .. }) => Value::Scalar(0),
                _ => Value::Null,
            },
            Op::Undef => Value::Undef,
            Op::SpecConstantOp => self.operation(id, ty, instruction)?,
            op => return Err(ConstantError::Unsupported { op }),
        })
    }

    pub(super) fn override_of(&self, id: Id) -> Option<u64> {
        self.specialization.get(&self.module.specialization_id(id)?).copied()
    }

    pub(super) fn width(&self, ty: Id) -> u32 {
        self.types.scalar_of(ty).and_then(|scalar| self.types.scalar_width(scalar)).unwrap_or(64)
    }

    pub(super) fn literal(
        &self,
        id: Id,
        ty: Id,
        instruction: &Instruction,
    ) -> Result<u64, ConstantError> {
        match instruction.operands.first() {
            Some(Operand::LiteralBit32(bits)) => Ok(truncate(u64::from(*bits), self.width(ty))),
            Some(Operand::LiteralBit64(bits)) => Ok(truncate(*bits, self.width(ty))),
            _ => Err(malformed(id, "no literal")),
        }
    }

    pub(super) fn operand(&self, id: Id, operand: Id) -> Result<Value, ConstantError> {
        let value = self.known.value(operand).cloned();
        value.ok_or_else(|| {
            malformed(id, format!("operand %{operand} is no constant defined before it"))
        })
    }

    pub(super) fn operation(
        &self,
        id: Id,
        ty: Id,
        instruction: &Instruction,
    ) -> Result<Value, ConstantError> {
        let Some(Operand::LiteralSpecConstantOpInteger(op)) = instruction.operands.first() else {
            return Err(malformed(id, "no opcode"));
        };
        let values = instruction
            .ids()
            .map(|operand| self.operand(id, operand))
            .collect::<Result<Vec<_>, _>>()?;
        let literals: Vec<u32> = (0..instruction.operands.len())
            .filter_map(|index| instruction.literal(index))
            .collect();
        let operand_types: Vec<Id> =
            instruction.ids().map(|operand| self.type_of(operand).unwrap_or(ty)).collect();
        let need =
            |index: usize| values.get(index).ok_or_else(|| malformed(id, "too few operands"));
        match op {
            Op::CompositeExtract => self.extract(id, need(0)?.clone(), operand_types[0], &literals),
            Op::CompositeInsert => {
                self.insert(id, need(0)?.clone(), need(1)?.clone(), operand_types[1], &literals)
            }
            Op::VectorShuffle => {
                let mut pool = self.components(id, need(0)?, operand_types[0])?;
                pool.extend(self.components(id, need(1)?, operand_types[1])?);
                let pick = |index: &u32| match *index {
                    u32::MAX => Ok(Value::Undef),
                    index => pool
                        .get(index as usize)
                        .cloned()
                        .ok_or_else(|| malformed(id, "no such component")),
                };
                literals.iter().map(pick).collect::<Result<_, _>>().map(Value::Composite)
            }
            Op::Select if matches!(need(0)?, Value::Bool(_) | Value::Undef | Value::Null) => {
                Ok(match need(0)? {
                    Value::Bool(true) => need(1)?.clone(),
                    Value::Undef => Value::Undef,
                    _ => need(2)?.clone(),
                })
            }
            op => self.component_wise(id, *op, ty, &values, &operand_types),
        }
    }

    pub(super) fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(id)?.result_type
    }

    /// The components of a vector or other composite, nulls and undefined values spread out.
    pub(super) fn components(
        &self,
        id: Id,
        value: &Value,
        ty: Id,
    ) -> Result<Vec<Value>, ConstantError> {
        let count = || {
            let count =
                self.types.component_count(ty, self.known).filter(|count| *count <= MAX_REPLICATED);
            count.map(|count| count as usize).ok_or_else(|| malformed(id, "not a composite"))
        };
        match value {
            Value::Composite(parts) => Ok(parts.clone()),
            Value::Undef => Ok(vec![Value::Undef; count()?]),
            Value::Null => {
                let component =
                    self.types.component(ty, 0).and_then(|component| self.types.get(component));
                let zero = match component {
                    Some(Type::Bool) => Value::Bool(false),
                    Some(Type::Int { .. } | Type::Float { .. }) => Value::Scalar(0),
                    _ => Value::Null,
                };
                Ok(vec![zero; count()?])
            }
            Value::Scalar(_) | Value::Bool(_) => Err(malformed(id, "not a composite")),
        }
    }

    pub(super) fn extract(
        &self,
        id: Id,
        mut value: Value,
        mut ty: Id,
        path: &[u32],
    ) -> Result<Value, ConstantError> {
        for index in path {
            let parts = self.components(id, &value, ty)?;
            value = parts
                .get(*index as usize)
                .cloned()
                .ok_or_else(|| malformed(id, "no such component"))?;
            ty = self
                .types
                .component(ty, *index)
                .ok_or_else(|| malformed(id, "no such component"))?;
        }
        Ok(match (value, self.types.get(ty)) {
            (Value::Null, Some(Type::Bool)) => Value::Bool(false),
            (Value::Null, Some(Type::Int { .. } | Type::Float { .. })) => Value::Scalar(0),
            (value, _) => value,
        })
    }

    pub(super) fn insert(
        &self,
        id: Id,
        object: Value,
        into: Value,
        ty: Id,
        path: &[u32],
    ) -> Result<Value, ConstantError> {
        let Some((first, rest)) = path.split_first() else { return Ok(object) };
        let mut parts = self.components(id, &into, ty)?;
        let component =
            self.types.component(ty, *first).ok_or_else(|| malformed(id, "no such component"))?;
        let slot =
            parts.get_mut(*first as usize).ok_or_else(|| malformed(id, "no such component"))?;
        *slot = self.insert(id, object, slot.clone(), component, rest)?;
        Ok(Value::Composite(parts))
    }

    pub(super) fn component_wise(
        &self,
        id: Id,
        op: Op,
        ty: Id,
        values: &[Value],
        operand_types: &[Id],
    ) -> Result<Value, ConstantError> {
        let Some(Type::Vector { count, .. }) = self.types.get(ty) else {
            return self.scalar_operation(id, op, ty, values, operand_types);
        };
        let columns = values
            .iter()
            .zip(operand_types)
            .map(|(value, ty)| self.components(id, value, *ty))
            .collect::<Result<Vec<_>, _>>()?;
        let lane = |lane: usize| {
            let lanes: Option<Vec<Value>> =
                columns.iter().map(|column| column.get(lane).cloned()).collect();
            let lanes = lanes.ok_or_else(|| malformed(id, "operands differ in length"))?;
            self.scalar_operation(id, op, ty, &lanes, operand_types)
        };
        (0..*count as usize).map(lane).collect::<Result<_, _>>().map(Value::Composite)
    }

    pub(super) fn scalar_operation(
        &self,
        id: Id,
        op: Op,
        ty: Id,
        values: &[Value],
        operand_types: &[Id],
    ) -> Result<Value, ConstantError> {
        let operand_width = operand_types.first().map_or(32, |ty| self.width(*ty));
        let result_width = self.width(ty);
        let outcome = match values {
            // A value that is undefined makes every result of the table below undefined.
            _ if values.contains(&Value::Undef) => return self.known_op(op).map(|()| Value::Undef),
            [Value::Bool(a)] => logical(op, *a, None),
            [Value::Bool(a), Value::Bool(b)] => logical(op, *a, Some(*b)),
            [Value::Scalar(a)] if op == Op::FConvert => {
                self.converted(id, *a, operand_width, result_width)?
            }
            [Value::Scalar(a)] => unary(op, *a, operand_width, result_width),
            [Value::Scalar(a), Value::Scalar(b)] => binary(op, *a, *b, operand_width),
            [Value::Bool(condition), a, b] if op == Op::Select => {
                Some(if *condition { a.clone() } else { b.clone() })
            }
            _ => {
                return self
                    .known_op(op)
                    .and_then(|()| Err(malformed(id, "operands of the wrong type")));
            }
        };
        outcome.ok_or(ConstantError::Unsupported { op })
    }

    /// OpFConvert, rounded and flushed as the module says (VK_KHR_shader_float_controls, issue 3);
    /// refused where its entry points do not say the same.
    pub(super) fn converted(
        &self,
        id: Id,
        bits: u64,
        from: u32,
        to: u32,
    ) -> Result<Option<Value>, ConstantError> {
        let (Some(own), Some(new)) = (FloatFormat::with_width(from), FloatFormat::with_width(to))
        else {
            return Ok(None);
        };
        let all = self
            .module
            .entry_points
            .iter()
            .map(|entry| FloatControls::of(self.module, entry.function));
        let mut all = all.map(|controls| (controls.width(from).denormals, controls.width(to)));
        let first = all.next().unwrap_or_default();
        if all.any(|other| other != first) {
            return Err(ConstantError::Unsupported { op: Op::FConvert });
        }
        let (operand, result) = first;
        let flushed = |denormals: Denormals, format: FloatFormat, bits: u64| match denormals {
            Denormals::Flushed => format.flush_denormal(bits),
            Denormals::Kept => bits,
        };
        let direction = float_controls::decorated(self.module, id).unwrap_or(result.rounding);
        let rounded =
            ExactReal::from_bits(own, flushed(operand, own, bits)).rounded_bits(new, direction);
        Ok(Some(Value::Scalar(flushed(result.denormals, new, rounded))))
    }

    pub(super) fn known_op(&self, op: Op) -> Result<(), ConstantError> {
        let known = logical(op, false, Some(false)).is_some()
            || logical(op, false, None).is_some()
            || unary(op, 0, 32, 32).is_some()
            || op == Op::FConvert
            || binary(op, 1, 1, 32).is_some()
            || op == Op::Select;
        if known { Ok(()) } else { Err(ConstantError::Unsupported { op }) }
    }
}

/// Constants longer than this are not spread out.
pub(super) const MAX_REPLICATED: u64 = 1 << 20;

pub(super) fn malformed(id: Id, reason: impl Into<String>) -> ConstantError {
    ConstantError::Malformed { id, reason: reason.into() }
}

pub(super) fn truncate(bits: u64, width: u32) -> u64 {
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

/// Boolean operators; `None` where `op` is none.
pub(super) fn logical(op: Op, a: bool, b: Option<bool>) -> Option<Value> {
    Some(Value::Bool(match (op, b) {
        (Op::LogicalNot, None) => !a,
        (Op::LogicalAnd, Some(b)) => a && b,
        (Op::LogicalOr, Some(b)) => a || b,
        (Op::LogicalEqual, Some(b)) => a == b,
        (Op::LogicalNotEqual, Some(b)) => a != b,
        _ => return None,
    }))
}

/// The scalar operation of an instruction that is evaluated in constants.
pub(super) fn folded(op: Op) -> Option<ScalarOperation> {
    scalar_operation(op).filter(|operation| operation.folding(op).in_constants())
}

/// Operators on one number: from a value of `from` bits to one of `to` bits.
pub(super) fn unary(op: Op, a: u64, from: u32, to: u32) -> Option<Value> {
    let form = |width: u32| Width::of(width).map(Form::Integer);
    let bits = match folded(op)? {
        ScalarOperation::Unary(Unary::QuantizeToF16) if from == 32 => {
            let mut quantized = [0];
            Unary::QuantizeToF16.apply(&mut quantized, &[a as u32]);
            u64::from(quantized[0])
        }
        ScalarOperation::Unary(operation) => {
            Operation::new(Sized::Unary(operation), form(from)?, form(to)?).value(a, 0, 0)?
        }
        ScalarOperation::Convert(conversion @ (Sized::FromUnsigned | Sized::FromSigned)) => {
            Operation::new(conversion, form(from)?, form(to)?).value(a, 0, 0)?
        }
        _ => return None,
    };
    Some(Value::Scalar(bits))
}

/// Operators on two integers of `width` bits; undefined results are `Undef`, `None` where `op` is
/// no such operator.
pub(super) fn binary(op: Op, a: u64, b: u64, width: u32) -> Option<Value> {
    let form = Form::Integer(Width::of(width)?);
    match folded(op)? {
        ScalarOperation::Compare(relation) => {
            Some(Value::Bool(Relation::Compare(relation).holds(form, a, b)))
        }
        ScalarOperation::Binary(operation) => {
            let operation = Operation::new(Sized::Binary(operation), form, form);
            match operation.undefined(a, b, 0) {
                Some(_) => Some(Value::Undef),
                None => operation.value(a, b, 0).map(Value::Scalar),
            }
        }
        _ => None,
    }
}
