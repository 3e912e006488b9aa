//! Values that instructions of a function have because all they depend on is constant.
//!
//! Knows: constants under a specialization, and operations on them that GLSL compilers leave inside
//! functions because the specification does not allow them as OpSpecConstantOp in shaders
//! (comparisons of floats), or because an operand came through a call that is known
//! to return it.
//! Promises: a value is given only where every conforming implementation computes the same one.
//! Float arithmetic is left alone (Vulkan 1.3, appendix "Precision and Operation of SPIR-V
//! Instructions", leaves its rounding open), as are comparisons with denormal values, which an
//! implementation may flush to zero.
//! Does not cover: loads, phis, calls and extended instructions: their results have no value here.

use super::constants::{ConstantValue, Constants};
use super::module::{Id, Instruction, Module};
use super::operation::sized::{NumberFormat, Relation, Width};
use super::operation::{OperandKind, ScalarOperation, scalar_operation};
use super::types::{Type, Types};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// A module's constants under one specialization, with what is known of ids inside functions.
pub struct ConstantFolding<'a> {
    /// The module.
    pub module: &'a Module,
    /// Its types.
    pub types: &'a Types,
    /// Values of its constants under the specialization.
    pub constants: &'a Constants,
    /// Ids that stand for others (a marker call for its operand).
    pub stands_for: &'a BTreeMap<Id, Id>,
}

/// Deepest chain of operations that is followed.
const MAX_DEPTH: usize = 64;

impl ConstantFolding<'_> {
    /// The value of an id; none where it depends on anything but constants.
    pub fn constant_value(&self, id: Id) -> Option<ConstantValue> {
        self.value_at(id, 0)
    }

    /// The value of a scalar Boolean.
    pub fn constant_boolean(&self, id: Id) -> Option<bool> {
        match self.constant_value(id)? {
            ConstantValue::Bool(value) => Some(value),
            ConstantValue::Scalar(_)
            | ConstantValue::Composite(_)
            | ConstantValue::Null
            | ConstantValue::Undef => None,
        }
    }

    /// The bits of a scalar integer.
    pub fn constant_scalar(&self, id: Id) -> Option<u64> {
        match self.constant_value(id)? {
            ConstantValue::Scalar(bits) => Some(bits),
            ConstantValue::Bool(_)
            | ConstantValue::Composite(_)
            | ConstantValue::Null
            | ConstantValue::Undef => None,
        }
    }

    /// Specialization ids (SpecId) that the value of an id depends on.
    pub fn specialization_ids(&self, id: Id) -> BTreeSet<u32> {
        let (mut found_ids, mut visited_ids, mut pending_ids) =
            (BTreeSet::new(), BTreeSet::new(), vec![id]);
        while let Some(pending_id) = pending_ids.pop() {
            let own_id = self.stands_for.get(&pending_id).copied().unwrap_or(pending_id);
            if !visited_ids.insert(own_id) {
                continue;
            }
            found_ids.extend(self.module.specialization_id(own_id));
            let definition = self.module.definition(own_id);
            pending_ids.extend(definition.into_iter().flat_map(Instruction::ids));
        }
        found_ids
    }

    fn value_at(&self, id: Id, depth: usize) -> Option<ConstantValue> {
        let id = self.stands_for.get(&id).copied().unwrap_or(id);
        if let Some(value) = self.constants.value(id) {
            return match value {
                ConstantValue::Undef => None,
                known_value => Some(known_value.clone()),
            };
        }
        let instruction = self.module.definition(id)?;
        if depth == MAX_DEPTH || !is_foldable(instruction.op) {
            return None;
        }
        let operand_values: Vec<ConstantValue> = instruction
            .ids()
            .map(|operand| self.value_at(operand, depth + 1))
            .collect::<Option<_>>()?;
        let first_type = instruction.id(0).and_then(|operand| self.type_of(operand))?;
        let value = match self.types.get(self.types.scalar_of(first_type)?) {
            Some(Type::Float { width }) => {
                self.fold_floats(instruction, *width, &operand_values)?
            }
            _ => self.fold_by_constants(instruction, &operand_values)?,
        };
        (value != ConstantValue::Undef).then_some(value)
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(self.stands_for.get(&id).copied().unwrap_or(id))?.result_type
    }

    fn fold_by_constants(
        &self,
        instruction: &Instruction,
        operand_values: &[ConstantValue],
    ) -> Option<ConstantValue> {
        let operand_types: Vec<Id> =
            instruction.ids().map(|id| self.type_of(id)).collect::<Option<_>>()?;
        let (id, ty) = (instruction.result?, instruction.result_type?);
        self.constants.operation_value(
            self.module,
            self.types,
            (id, instruction.op, ty),
            operand_values,
            &operand_types,
        )
    }

    /// Comparisons of float scalars, by the relations of the operation table; conversions are
    /// constants (`constants`).
    fn fold_floats(
        &self,
        instruction: &Instruction,
        bit_width: u32,
        operand_values: &[ConstantValue],
    ) -> Option<ConstantValue> {
        if instruction.op == Op::Select {
            return self.fold_by_constants(instruction, operand_values);
        }
        let [ConstantValue::Scalar(a), ConstantValue::Scalar(b)] = operand_values else {
            return None;
        };
        let (a, b) = (exact_float(*a, bit_width)?, exact_float(*b, bit_width)?);
        compare_floats(instruction.op, a, b).map(ConstantValue::Bool)
    }
}

/// The number behind the bits of a 32- or 64-bit float; none for denormal ones and other widths.
fn exact_float(bits: u64, bit_width: u32) -> Option<f64> {
    let (exact_number, denormal) = match bit_width {
        32 => {
            let exact_number = f32::from_bits(bits as u32);
            (f64::from(exact_number), exact_number.is_subnormal())
        }
        64 => {
            let exact_number = f64::from_bits(bits);
            (exact_number, exact_number.is_subnormal())
        }
        _ => return None,
    };
    (!denormal).then_some(exact_number)
}

fn compare_floats(op: Op, a: f64, b: f64) -> Option<bool> {
    let form = NumberFormat::Float(Width::W64);
    match scalar_operation(op)? {
        ScalarOperation::Compare(relation) if relation.row().operands == OperandKind::Floats => {
            Some(Relation::Compare(relation).holds(form, a.to_bits(), b.to_bits()))
        }
        _ => None,
    }
}

/// Operations whose value follows from their operands; what else stands in a function has none
/// here.
fn is_foldable(op: Op) -> bool {
    let is_logical = matches!(
        op,
        Op::LogicalNot
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEqual
            | Op::LogicalNotEqual
            | Op::Select
    );
    // OpLessOrGreater is another name of a comparison that is folded; compilers of GLSL do not
    // write it.
    is_logical
        || (op != Op::LessOrGreater
            && scalar_operation(op)
                .is_some_and(|operation| operation.folding_scope(op).in_functions()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_follow_the_specification_for_not_a_number() {
        let nan = f64::NAN;
        assert_eq!(compare_floats(Op::FOrdNotEqual, nan, 1.0), Some(false));
        assert_eq!(compare_floats(Op::FUnordNotEqual, nan, 1.0), Some(true));
        assert_eq!(compare_floats(Op::FUnordLessThan, nan, 1.0), Some(true));
        assert_eq!(compare_floats(Op::FOrdLessThan, nan, 1.0), Some(false));
        assert_eq!(compare_floats(Op::FOrdGreaterThanEqual, 1.0, 1.0), Some(true));
        assert_eq!(compare_floats(Op::FAdd, 1.0, 1.0), None);
    }

    #[test]
    fn denormal_operands_have_no_value() {
        assert_eq!(exact_float(1, 32), None);
        assert_eq!(exact_float(u64::from(1.5_f32.to_bits()), 32), Some(1.5));
        assert_eq!(exact_float(1, 64), None);
        assert_eq!(exact_float(0x3c00, 16), None);
    }
}
