//! The value of one constant from the values of those before it.
//!
//! Promises: what the specification leaves undefined is [`ConstantValue::Undef`]; an opcode that is
//! not evaluated is an error by name.

use super::{ConstantError, ConstantValue, Constants};
use crate::float_controls::{self, DenormalMode, FloatControls};
use crate::module::{Id, Instruction, Module};
use crate::operation::operator::Unary;
use crate::operation::sized::{NumberFormat, Operation, Relation, SizedOperator, Width};
use crate::operation::{ScalarOperation, scalar_operation};
use crate::types::{Type, Types};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_oracle::float::{ExactReal, FloatFormat};

/// One instruction's evaluation in the context of those before it.
pub(super) struct ConstantEvaluation<'a> {
    pub(super) module: &'a Module,
    pub(super) types: &'a Types,
    pub(super) specialization: &'a BTreeMap<u32, u64>,
    pub(super) known: &'a Constants,
}

impl ConstantEvaluation<'_> {
    pub(super) fn constant_value(
        &self,
        id: Id,
        instruction: &Instruction,
    ) -> Result<ConstantValue, ConstantError> {
        let ty = instruction.result_type.ok_or_else(|| malformed(id, "no type"))?;
        Ok(match instruction.op {
            Op::ConstantTrue => ConstantValue::Bool(true),
            Op::ConstantFalse => ConstantValue::Bool(false),
            Op::SpecConstantTrue => {
                ConstantValue::Bool(self.override_of(id).is_none_or(|bits| bits != 0))
            }
            Op::SpecConstantFalse => {
                ConstantValue::Bool(self.override_of(id).is_some_and(|bits| bits != 0))
            }
            Op::Constant => ConstantValue::Scalar(self.literal_bits(id, ty, instruction)?),
            Op::SpecConstant => {
                let default_bits = self.literal_bits(id, ty, instruction)?;
                ConstantValue::Scalar(
                    self.override_of(id)
                        .map_or(default_bits, |bits| truncate_bits(bits, self.scalar_width(ty))),
                )
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts = instruction.ids().map(|part| self.operand_value(id, part));
                ConstantValue::Composite(parts.collect::<Result<_, _>>()?)
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let part = instruction.id(0).ok_or_else(|| malformed(id, "no constituent"))?;
                let part_count = self.types.component_count(ty, self.known);
                let part_count = part_count.filter(|part_count| *part_count <= MAX_REPLICATED);
                let part_count =
                    part_count.ok_or(ConstantError::Unsupported { op: instruction.op })?;
                ConstantValue::Composite(vec![self.operand_value(id, part)?; part_count as usize])
            }
            Op::ConstantNull => match self.types.get(ty) {
                Some(Type::Bool) => ConstantValue::Bool(false),
                Some(Type::Int { .. } | Type::Float { .. }) => ConstantValue::Scalar(0),
                _ => ConstantValue::Null,
            },
            Op::Undef => ConstantValue::Undef,
            Op::SpecConstantOp => self.operation_value(id, ty, instruction)?,
            op => return Err(ConstantError::Unsupported { op }),
        })
    }

    fn override_of(&self, id: Id) -> Option<u64> {
        self.specialization.get(&self.module.specialization_id(id)?).copied()
    }

    fn scalar_width(&self, type_id: Id) -> u32 {
        self.types
            .scalar_of(type_id)
            .and_then(|scalar| self.types.scalar_width(scalar))
            .unwrap_or(64)
    }

    fn literal_bits(
        &self,
        id: Id,
        type_id: Id,
        instruction: &Instruction,
    ) -> Result<u64, ConstantError> {
        match instruction.operands.first() {
            Some(Operand::LiteralBit32(bits)) => {
                Ok(truncate_bits(u64::from(*bits), self.scalar_width(type_id)))
            }
            Some(Operand::LiteralBit64(bits)) => {
                Ok(truncate_bits(*bits, self.scalar_width(type_id)))
            }
            _ => Err(malformed(id, "no literal")),
        }
    }

    fn operand_value(&self, id: Id, operand: Id) -> Result<ConstantValue, ConstantError> {
        let value = self.known.value(operand).cloned();
        value.ok_or_else(|| {
            malformed(id, format!("operand %{operand} is no constant defined before it"))
        })
    }

    pub(super) fn operation_value(
        &self,
        id: Id,
        type_id: Id,
        instruction: &Instruction,
    ) -> Result<ConstantValue, ConstantError> {
        let Some(Operand::LiteralSpecConstantOpInteger(op)) = instruction.operands.first() else {
            return Err(malformed(id, "no opcode"));
        };
        let mut operand_values = instruction
            .ids()
            .map(|operand| self.operand_value(id, operand))
            .collect::<Result<Vec<_>, _>>()?;
        let literals: Vec<u32> = (0..instruction.operands.len())
            .filter_map(|index| instruction.literal(index))
            .collect();
        let operand_types: Vec<Id> =
            instruction.ids().map(|operand| self.type_of(operand).unwrap_or(type_id)).collect();
        let needed_operand = |index: usize| {
            operand_values.get(index).ok_or_else(|| malformed(id, "too few operands"))
        };
        match op {
            Op::CompositeExtract => {
                let composite = take_operand(id, &mut operand_values, 0)?;
                self.extract_part(id, composite, operand_types[0], &literals)
            }
            Op::CompositeInsert => {
                let object = take_operand(id, &mut operand_values, 0)?;
                let composite = take_operand(id, &mut operand_values, 1)?;
                self.insert_part(id, object, composite, operand_types[1], &literals)
            }
            Op::VectorShuffle => {
                let mut shuffled_parts =
                    self.composite_parts(id, needed_operand(0)?, operand_types[0])?;
                shuffled_parts.extend(self.composite_parts(
                    id,
                    needed_operand(1)?,
                    operand_types[1],
                )?);
                let pick_component = |index: &u32| match *index {
                    u32::MAX => Ok(ConstantValue::Undef),
                    index => shuffled_parts
                        .get(index as usize)
                        .cloned()
                        .ok_or_else(|| malformed(id, "no such component")),
                };
                literals
                    .iter()
                    .map(pick_component)
                    .collect::<Result<_, _>>()
                    .map(ConstantValue::Composite)
            }
            Op::Select
                if matches!(
                    needed_operand(0)?,
                    ConstantValue::Bool(_) | ConstantValue::Undef | ConstantValue::Null
                ) =>
            {
                let chosen_operand = match needed_operand(0)? {
                    ConstantValue::Bool(true) => 1,
                    ConstantValue::Undef => return Ok(ConstantValue::Undef),
                    _ => 2,
                };
                take_operand(id, &mut operand_values, chosen_operand)
            }
            op => self.component_wise(id, *op, type_id, &operand_values, &operand_types),
        }
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(id)?.result_type
    }

    fn part_count(&self, id: Id, type_id: Id) -> Result<usize, ConstantError> {
        match self.types.component_count(type_id, self.known) {
            Some(count) if count <= MAX_REPLICATED => Ok(count as usize),
            Some(_) | None => Err(malformed(id, "not a composite")),
        }
    }

    /// The components of a vector or other composite, nulls and undefined values spread out.
    fn composite_parts(
        &self,
        id: Id,
        value: &ConstantValue,
        type_id: Id,
    ) -> Result<Vec<ConstantValue>, ConstantError> {
        match value {
            ConstantValue::Composite(parts) => Ok(parts.clone()),
            ConstantValue::Undef => Ok(vec![ConstantValue::Undef; self.part_count(id, type_id)?]),
            ConstantValue::Null => {
                let component = self
                    .types
                    .component_type(type_id, 0)
                    .and_then(|component| self.types.get(component));
                let zero_part = match component {
                    Some(Type::Bool) => ConstantValue::Bool(false),
                    Some(Type::Int { .. } | Type::Float { .. }) => ConstantValue::Scalar(0),
                    _ => ConstantValue::Null,
                };
                Ok(vec![zero_part; self.part_count(id, type_id)?])
            }
            ConstantValue::Scalar(_) | ConstantValue::Bool(_) => {
                Err(malformed(id, "not a composite"))
            }
        }
    }

    fn extract_part(
        &self,
        id: Id,
        mut value: ConstantValue,
        mut type_id: Id,
        index_path: &[u32],
    ) -> Result<ConstantValue, ConstantError> {
        for index in index_path {
            let parts = self.composite_parts(id, &value, type_id)?;
            value = parts
                .get(*index as usize)
                .cloned()
                .ok_or_else(|| malformed(id, "no such component"))?;
            type_id = self
                .types
                .component_type(type_id, *index)
                .ok_or_else(|| malformed(id, "no such component"))?;
        }
        Ok(match (value, self.types.get(type_id)) {
            (ConstantValue::Null, Some(Type::Bool)) => ConstantValue::Bool(false),
            (ConstantValue::Null, Some(Type::Int { .. } | Type::Float { .. })) => {
                ConstantValue::Scalar(0)
            }
            (value, _) => value,
        })
    }

    fn insert_part(
        &self,
        id: Id,
        object: ConstantValue,
        composite: ConstantValue,
        type_id: Id,
        path: &[u32],
    ) -> Result<ConstantValue, ConstantError> {
        let Some((first_index, rest_of_path)) = path.split_first() else { return Ok(object) };
        let mut parts = self.composite_parts(id, &composite, type_id)?;
        let component = self
            .types
            .component_type(type_id, *first_index)
            .ok_or_else(|| malformed(id, "no such component"))?;
        let part_slot = parts
            .get_mut(*first_index as usize)
            .ok_or_else(|| malformed(id, "no such component"))?;
        let replaced_part = std::mem::replace(part_slot, ConstantValue::Undef);
        *part_slot = self.insert_part(id, object, replaced_part, component, rest_of_path)?;
        Ok(ConstantValue::Composite(parts))
    }

    pub(super) fn component_wise(
        &self,
        id: Id,
        op: Op,
        type_id: Id,
        operand_values: &[ConstantValue],
        operand_types: &[Id],
    ) -> Result<ConstantValue, ConstantError> {
        let Some(Type::Vector { count, .. }) = self.types.get(type_id) else {
            return self.scalar_operation(id, op, type_id, operand_values, operand_types);
        };
        let operand_lanes = operand_values
            .iter()
            .zip(operand_types)
            .map(|(value, operand_type)| self.composite_parts(id, value, *operand_type))
            .collect::<Result<Vec<_>, _>>()?;
        let lane_value = |lane: usize| {
            let lane_operands: Option<Vec<ConstantValue>> =
                operand_lanes.iter().map(|column| column.get(lane).cloned()).collect();
            let lane_operands =
                lane_operands.ok_or_else(|| malformed(id, "operands differ in length"))?;
            self.scalar_operation(id, op, type_id, &lane_operands, operand_types)
        };
        (0..*count as usize).map(lane_value).collect::<Result<_, _>>().map(ConstantValue::Composite)
    }

    fn scalar_operation(
        &self,
        id: Id,
        op: Op,
        type_id: Id,
        operand_values: &[ConstantValue],
        operand_types: &[Id],
    ) -> Result<ConstantValue, ConstantError> {
        let operand_width =
            operand_types.first().map_or(32, |operand_type| self.scalar_width(*operand_type));
        let result_width = self.scalar_width(type_id);
        let outcome = match operand_values {
            // A value that is undefined makes every result of the table below undefined.
            _ if operand_values.contains(&ConstantValue::Undef) => {
                return self.check_evaluated(op).map(|()| ConstantValue::Undef);
            }
            [ConstantValue::Bool(a)] => logical_value(op, *a, None),
            [ConstantValue::Bool(a), ConstantValue::Bool(b)] => logical_value(op, *a, Some(*b)),
            [ConstantValue::Scalar(a)] if op == Op::FConvert => {
                self.convert_float(id, *a, operand_width, result_width)?
            }
            [ConstantValue::Scalar(a)] => unary_value(op, *a, operand_width, result_width),
            [ConstantValue::Scalar(a), ConstantValue::Scalar(b)] => {
                binary_value(op, *a, *b, operand_width)
            }
            [ConstantValue::Bool(condition), a, b] if op == Op::Select => {
                Some(if *condition { a } else { b }.clone())
            }
            _ => {
                return self
                    .check_evaluated(op)
                    .and_then(|()| Err(malformed(id, "operands of the wrong type")));
            }
        };
        outcome.ok_or(ConstantError::Unsupported { op })
    }

    /// OpFConvert, rounded and flushed as the module says (VK_KHR_shader_float_controls, issue 3);
    /// refused where its entry points do not say the same.
    ///
    /// By exact numbers and not by the operation table, because that keeps sign and payload of a
    /// NaN as hardware does, while a constant must be one value: the quiet NaN.
    fn convert_float(
        &self,
        id: Id,
        bits: u64,
        from_width: u32,
        to_width: u32,
    ) -> Result<Option<ConstantValue>, ConstantError> {
        let (Some(source_format), Some(result_format)) =
            (FloatFormat::with_width(from_width), FloatFormat::with_width(to_width))
        else {
            return Ok(None);
        };
        let entry_controls = self
            .module
            .entry_points
            .iter()
            .map(|entry| FloatControls::of_entry_point(self.module, entry.function));
        let mut entry_controls = entry_controls.map(|controls| {
            (controls.for_width(from_width).denormals, controls.for_width(to_width))
        });
        let first_controls = entry_controls.next().unwrap_or_default();
        if entry_controls.any(|other_controls| other_controls != first_controls) {
            return Err(ConstantError::Unsupported { op: Op::FConvert });
        }
        let (source_denormals, result) = first_controls;
        let direction =
            float_controls::decorated_rounding(self.module, id).unwrap_or(result.rounding);
        let source_bits = flushed_as_declared(source_denormals, source_format, bits);
        let rounded_bits =
            ExactReal::from_bits(source_format, source_bits).rounded_bits(result_format, direction);
        let result_bits = flushed_as_declared(result.denormals, result_format, rounded_bits);
        Ok(Some(ConstantValue::Scalar(result_bits)))
    }

    fn check_evaluated(&self, op: Op) -> Result<(), ConstantError> {
        let is_evaluated = logical_value(op, false, Some(false)).is_some()
            || logical_value(op, false, None).is_some()
            || unary_value(op, 0, 32, 32).is_some()
            || op == Op::FConvert
            || binary_value(op, 1, 1, 32).is_some()
            || op == Op::Select;
        if is_evaluated { Ok(()) } else { Err(ConstantError::Unsupported { op }) }
    }
}

/// Constants longer than this are not spread out.
const MAX_REPLICATED: u64 = 1 << 20;

/// Moves an operand out of the values of an operation that needs it once.
fn take_operand(
    id: Id,
    operand_values: &mut [ConstantValue],
    operand_index: usize,
) -> Result<ConstantValue, ConstantError> {
    let operand = operand_values.get_mut(operand_index);
    let operand = operand.ok_or_else(|| malformed(id, "too few operands"))?;
    Ok(std::mem::replace(operand, ConstantValue::Undef))
}

fn malformed(id: Id, reason: impl Into<String>) -> ConstantError {
    ConstantError::Malformed { id, reason: reason.into() }
}

fn flushed_as_declared(denormals: DenormalMode, format: FloatFormat, bits: u64) -> u64 {
    match denormals {
        DenormalMode::Flushed => format.flush_denormal(bits),
        DenormalMode::Kept => bits,
    }
}

fn truncate_bits(bits: u64, bit_width: u32) -> u64 {
    if bit_width >= 64 { bits } else { bits & ((1 << bit_width) - 1) }
}

/// Boolean operators; `None` where `op` is none.
fn logical_value(op: Op, left: bool, right: Option<bool>) -> Option<ConstantValue> {
    Some(ConstantValue::Bool(match (op, right) {
        (Op::LogicalNot, None) => !left,
        (Op::LogicalAnd, Some(right)) => left && right,
        (Op::LogicalOr, Some(right)) => left || right,
        (Op::LogicalEqual, Some(right)) => left == right,
        (Op::LogicalNotEqual, Some(right)) => left != right,
        _ => return None,
    }))
}

/// The scalar operation of an instruction that is evaluated in constants.
fn folded_operation(op: Op) -> Option<ScalarOperation> {
    scalar_operation(op).filter(|operation| operation.folding_scope(op).in_constants())
}

/// Operators on one number: from a value of `from` bits to one of `to` bits.
fn unary_value(op: Op, operand_bits: u64, from_width: u32, to_width: u32) -> Option<ConstantValue> {
    let bits = match folded_operation(op)? {
        ScalarOperation::Unary(Unary::QuantizeToF16) if from_width == 32 => {
            let mut quantized = [0];
            Unary::QuantizeToF16.apply_to_lanes(&mut quantized, &[operand_bits as u32]);
            u64::from(quantized[0])
        }
        ScalarOperation::Unary(operation) => Operation::new(
            SizedOperator::Unary(operation),
            integer_format(from_width)?,
            integer_format(to_width)?,
        )
        .result_bits(operand_bits, 0, 0)?,
        ScalarOperation::Convert(
            conversion @ (SizedOperator::FromUnsigned | SizedOperator::FromSigned),
        ) => Operation::new(conversion, integer_format(from_width)?, integer_format(to_width)?)
            .result_bits(operand_bits, 0, 0)?,
        _ => return None,
    };
    Some(ConstantValue::Scalar(bits))
}

fn integer_format(bit_width: u32) -> Option<NumberFormat> {
    Width::from_bits(bit_width).map(NumberFormat::Integer)
}

/// Operators on two integers of `width` bits; undefined results are `Undef`, `None` where `op` is
/// no such operator.
fn binary_value(op: Op, left_bits: u64, right_bits: u64, bit_width: u32) -> Option<ConstantValue> {
    let form = NumberFormat::Integer(Width::from_bits(bit_width)?);
    match folded_operation(op)? {
        ScalarOperation::Compare(relation) => Some(ConstantValue::Bool(
            Relation::Compare(relation).holds(form, left_bits, right_bits),
        )),
        ScalarOperation::Binary(operation) => {
            let operation = Operation::new(SizedOperator::Binary(operation), form, form);
            match operation.undefined_for(left_bits, right_bits, 0) {
                Some(_) => Some(ConstantValue::Undef),
                None => operation.result_bits(left_bits, right_bits, 0).map(ConstantValue::Scalar),
            }
        }
        _ => None,
    }
}
