//! Values of constants under a specialization.
//!
//! Knows: every OpConstant*, OpSpecConstant*, OpSpecConstantOp and OpUndef, evaluated with given
//! values for specialization ids (SPIR-V specification, "Constant-Creation Instructions" and
//! "Specialization").
//! Promises: a value is exact for its width; what the specification leaves undefined (division by
//! zero, a remainder of negative numbers, a shift by the width or more) is
//! [`ConstantValue::Undef`], never a guess. An opcode that is not evaluated is an error by name.
//! Does not cover: whether a specialization id exists; ids that the module lacks are ignored, as
//! Vulkan does (VkSpecializationMapEntry); `reflect` lists those that exist.

mod evaluation;

use super::module::{Id, Instruction, Module};
use super::types::{Signedness, Type, Types};
use evaluation::ConstantEvaluation;
use rspirv::spirv::{Decoration, Op};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::Constness;

/// The value of a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConstantValue {
    /// The bits of an integer or float; bits above the type's width are 0.
    Scalar(u64),
    /// A Boolean.
    Bool(bool),
    /// The constituents, in order.
    Composite(Vec<ConstantValue>),
    /// Zero of any type (OpConstantNull).
    Null,
    /// OpUndef: any value.
    Undef,
}

/// Constants cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstantError {
    /// An instruction in a constant that is not evaluated here.
    #[error("Op{op:?} in a constant is not supported")]
    Unsupported {
        /// The instruction.
        op: Op,
    },
    /// A constant that contradicts its type or its operands.
    #[error("constant %{id}: {reason}")]
    Malformed {
        /// Result id of the constant.
        id: Id,
        /// What is wrong.
        reason: String,
    },
}

/// All constants of a module under one specialization.
#[derive(Debug, Clone, Default)]
pub struct Constants {
    values: BTreeMap<Id, (ConstantValue, Constness)>,
    /// Signed integers below 0.
    negative: BTreeSet<Id>,
}

impl Constants {
    /// Evaluates every constant; `specialization` maps a SpecId to raw bits (Booleans: any bit set
    /// is true).
    pub fn evaluate(
        module: &Module,
        types: &Types,
        specialization_values: &BTreeMap<u32, u64>,
    ) -> Result<Self, ConstantError> {
        let mut constants = Self::default();
        for instruction in &module.instructions {
            if let (true, Some(id)) = (makes_constant(instruction.op), instruction.result) {
                let value = ConstantEvaluation {
                    module,
                    types,
                    specialization: specialization_values,
                    known: &constants,
                }
                .constant_value(id, instruction)?;
                let constness = constants.constness_of(module, instruction);
                if is_negative(&value, instruction, types) {
                    constants.negative.insert(id);
                }
                constants.values.insert(id, (value, constness));
            }
        }
        Ok(constants)
    }

    /// Those alone that no specialization changes.
    pub(crate) fn without_specialization(&self) -> Self {
        let fixed_values =
            self.values.iter().filter(|(_, (_, constness))| *constness == Constness::Constant);
        let values = fixed_values.map(|(id, value)| (*id, value.clone())).collect();
        Self { values, negative: self.negative.clone() }
    }

    /// The value of a constant; none where the id is no constant.
    pub fn value(&self, id: Id) -> Option<&ConstantValue> {
        self.values.get(&id).map(|(value, _)| value)
    }

    /// What the value of `id` depends on; ids that are no constants are `Runtime`.
    pub fn constness(&self, id: Id) -> Constness {
        self.values.get(&id).map_or(Constness::Runtime, |(_, constness)| *constness)
    }

    /// The bits of every specialization constant by its id (SpecId); a Boolean is 0 or 1.
    pub fn specialization_values(&self, module: &Module) -> BTreeMap<u32, u64> {
        let mut specialization_values = BTreeMap::new();
        for (id, (value, _)) in &self.values {
            let Some(spec_id) = module.specialization_id(*id) else { continue };
            match value {
                ConstantValue::Scalar(bits) => drop(specialization_values.insert(spec_id, *bits)),
                ConstantValue::Bool(value) => {
                    specialization_values.insert(spec_id, u64::from(*value));
                }
                ConstantValue::Composite(_) | ConstantValue::Null | ConstantValue::Undef => {}
            }
        }
        specialization_values
    }

    /// The value of an operation (result id, opcode, result type) on values of the given types;
    /// none where it is not evaluated.
    pub(crate) fn operation_value(
        &self,
        module: &Module,
        types: &Types,
        (id, op, ty): (Id, Op, Id),
        operand_values: &[ConstantValue],
        operand_types: &[Id],
    ) -> Option<ConstantValue> {
        let evaluation =
            ConstantEvaluation { module, types, specialization: &BTreeMap::new(), known: self };
        match (op, operand_values) {
            (Op::Select, [ConstantValue::Bool(condition), true_value, false_value]) => {
                Some(if *condition { true_value } else { false_value }.clone())
            }
            _ => evaluation.component_wise(id, op, ty, operand_values, operand_types).ok(),
        }
    }

    /// Bits of a scalar constant, zero-extended; `None` for Booleans, composites, undefined and
    /// unknown ids.
    pub fn scalar_bits(&self, id: Id) -> Option<u64> {
        match self.value(id)? {
            ConstantValue::Scalar(bits) => Some(*bits),
            ConstantValue::Null => Some(0),
            ConstantValue::Bool(_) | ConstantValue::Composite(_) | ConstantValue::Undef => None,
        }
    }

    /// A scalar constant's low 32 bits (scopes, memory semantics, indices).
    pub fn scalar_word(&self, id: Id) -> Option<u32> {
        self.scalar_bits(id).map(|bits| bits as u32)
    }

    /// The value of a Boolean constant; none of all else.
    pub fn boolean_value(&self, id: Id) -> Option<bool> {
        match self.value(id)? {
            ConstantValue::Bool(value) => Some(*value),
            ConstantValue::Null => Some(false),
            ConstantValue::Scalar(_) | ConstantValue::Composite(_) | ConstantValue::Undef => None,
        }
    }

    /// The length of an array type, by the id of its length constant; none of one that is not at
    /// least 1 (SPIR-V specification, OpTypeArray).
    pub fn array_length(&self, length: Id) -> Option<u64> {
        let is_negative = self.negative.contains(&length);
        self.scalar_bits(length).filter(|bits| *bits > 0 && !is_negative)
    }

    fn constness_of(&self, module: &Module, instruction: &Instruction) -> Constness {
        let own_constness = match instruction.op {
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                // Without a SpecId nothing outside the module can change it.
                match instruction.result.and_then(|id| module.decoration(id, Decoration::SpecId)) {
                    Some(_) => Constness::Specialization,
                    None => Constness::Constant,
                }
            }
            _ => Constness::Constant,
        };
        instruction.ids().map(|id| self.constness(id)).fold(own_constness, Constness::max)
    }
}

fn is_negative(value: &ConstantValue, instruction: &Instruction, types: &Types) -> bool {
    let result_type = instruction.result_type.and_then(|id| types.get(id));
    match (value, result_type) {
        (
            ConstantValue::Scalar(bits),
            Some(Type::Int { width, signedness: Signedness::Signed }),
        ) => bits >> (width - 1) & 1 == 1,
        (_, _) => false,
    }
}

fn makes_constant(op: Op) -> bool {
    op.is_constant()
        || matches!(
            op,
            Op::Undef | Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT
        )
}
