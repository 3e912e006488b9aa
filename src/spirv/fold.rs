//! Values that instructions of a function have because all they depend on is constant.
//!
//! Knows: constants under a specialization, and operations on them that GLSL compilers leave inside
//! functions because the specification does not allow them as OpSpecConstantOp in shaders
//! (comparisons and conversions of floats), or because an operand came through a call that is known
//! to return it.
//! Promises: a value is given only where every conforming implementation computes the same one.
//! Float arithmetic is left alone (Vulkan 1.3, appendix "Precision and Operation of SPIR-V
//! Instructions", leaves its rounding open), as are comparisons with denormal values, which an
//! implementation may flush to zero.
//! Does not cover: loads, phis, calls and extended instructions: their results have no value here.

use super::constants::{Constants, Value};
use super::module::{Id, Instruction, Module};
use super::operation::sized::{Form, Relation, Width};
use super::operation::{Operands, ScalarOperation, scalar_operation};
use super::types::{Type, Types};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// A module's constants under one specialization, with what is known of ids inside functions.
pub struct Folding<'a> {
    pub module: &'a Module,
    pub types: &'a Types,
    pub constants: &'a Constants,
    /// Ids that stand for others (a marker call for its operand).
    pub stands_for: &'a BTreeMap<Id, Id>,
}

/// Deepest chain of operations that is followed.
const MAX_DEPTH: usize = 64;

impl Folding<'_> {
    /// The value of an id; none where it depends on anything but constants.
    pub fn value(&self, id: Id) -> Option<Value> {
        self.value_at(id, 0)
    }

    /// The value of a scalar Boolean.
    pub fn boolean(&self, id: Id) -> Option<bool> {
        match self.value(id)? {
            Value::Bool(value) => Some(value),
            Value::Scalar(_) | Value::Composite(_) | Value::Null | Value::Undef => None,
        }
    }

    /// The bits of a scalar integer.
    pub fn scalar(&self, id: Id) -> Option<u64> {
        match self.value(id)? {
            Value::Scalar(bits) => Some(bits),
            Value::Bool(_) | Value::Composite(_) | Value::Null | Value::Undef => None,
        }
    }

    /// Specialization ids (SpecId) that the value of an id depends on.
    pub fn specialization_ids(&self, id: Id) -> BTreeSet<u32> {
        let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![id]);
        while let Some(id) = open.pop().map(|id| self.stands_for.get(&id).copied().unwrap_or(id)) {
            if !seen.insert(id) {
                continue;
            }
            found.extend(self.module.specialization_id(id));
            open.extend(self.module.definition(id).into_iter().flat_map(Instruction::ids));
        }
        found
    }

    fn value_at(&self, id: Id, depth: usize) -> Option<Value> {
        let id = self.stands_for.get(&id).copied().unwrap_or(id);
        if let Some(value) = self.constants.value(id) {
            return match value {
                Value::Undef => None,
                known => Some(known.clone()),
            };
        }
        let instruction = self.module.definition(id)?;
        if depth == MAX_DEPTH || !foldable(instruction.op) {
            return None;
        }
        let values: Vec<Value> = instruction
            .ids()
            .map(|operand| self.value_at(operand, depth + 1))
            .collect::<Option<_>>()?;
        let first_type = instruction.id(0).and_then(|operand| self.type_of(operand))?;
        let value = match self.types.get(self.types.scalar_of(first_type)?) {
            Some(Type::Float { width }) => self.float(instruction, *width, &values)?,
            _ => self.integer(instruction, &values)?,
        };
        (value != Value::Undef).then_some(value)
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(self.stands_for.get(&id).copied().unwrap_or(id))?.result_type
    }

    fn integer(&self, instruction: &Instruction, values: &[Value]) -> Option<Value> {
        let types: Vec<Id> = instruction.ids().map(|id| self.type_of(id)).collect::<Option<_>>()?;
        let (id, ty) = (instruction.result?, instruction.result_type?);
        self.constants.operate(self.module, self.types, (id, instruction.op, ty), values, &types)
    }

    /// Comparisons and exact conversions of float scalars.
    fn float(&self, instruction: &Instruction, width: u32, values: &[Value]) -> Option<Value> {
        if instruction.op == Op::Select {
            return self.integer(instruction, values);
        }
        let number = |value: &Value| match value {
            Value::Scalar(bits) => exact(*bits, width),
            Value::Bool(_) | Value::Composite(_) | Value::Null | Value::Undef => None,
        };
        match values {
            [a, b] => compare(instruction.op, number(a)?, number(b)?).map(Value::Bool),
            _ => None,
        }
    }
}

/// The number behind the bits of a 32- or 64-bit float; none for denormal ones and other widths.
fn exact(bits: u64, width: u32) -> Option<f64> {
    let (number, denormal) = match width {
        32 => {
            let number = f32::from_bits(bits as u32);
            (f64::from(number), number.is_subnormal())
        }
        64 => {
            let number = f64::from_bits(bits);
            (number, number.is_subnormal())
        }
        _ => return None,
    };
    (!denormal).then_some(number)
}

fn compare(op: Op, a: f64, b: f64) -> Option<bool> {
    let form = Form::Float(Width::W64);
    match scalar_operation(op)? {
        ScalarOperation::Compare(relation) if relation.row().operands == Operands::Floats => {
            Some(Relation::Compare(relation).holds(form, a.to_bits(), b.to_bits()))
        }
        _ => None,
    }
}

/// Operations whose value follows from their operands; what else stands in a function has none
/// here.
fn foldable(op: Op) -> bool {
    let logic = matches!(
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
    logic
        || (op != Op::LessOrGreater
            && scalar_operation(op).is_some_and(|found| found.folding(op).in_functions()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_follow_the_specification_for_not_a_number() {
        let nan = f64::NAN;
        assert_eq!(compare(Op::FOrdNotEqual, nan, 1.0), Some(false));
        assert_eq!(compare(Op::FUnordNotEqual, nan, 1.0), Some(true));
        assert_eq!(compare(Op::FUnordLessThan, nan, 1.0), Some(true));
        assert_eq!(compare(Op::FOrdLessThan, nan, 1.0), Some(false));
        assert_eq!(compare(Op::FOrdGreaterThanEqual, 1.0, 1.0), Some(true));
        assert_eq!(compare(Op::FAdd, 1.0, 1.0), None);
    }

    #[test]
    fn denormal_operands_have_no_value() {
        assert_eq!(exact(1, 32), None);
        assert_eq!(exact(u64::from(1.5_f32.to_bits()), 32), Some(1.5));
        assert_eq!(exact(1, 64), None);
        assert_eq!(exact(0x3c00, 16), None);
    }
}
