//! Operations on values of an invocation: numbers and composites.
//!
//! Promises: whatever has no rule here is not known.

use super::invocation::InvocationRun;
use super::value::{RunValue, part_of};
use crate::constants::ConstantValue;
use crate::module::{Id, Instruction};
use rspirv::dr::Operand;
use rspirv::spirv::Op;

impl InvocationRun<'_> {
    /// What an operation on values comes to.
    pub(super) fn computed(&self, instruction: &Instruction) -> RunValue {
        let literals: Vec<u64> =
            instruction.operands.iter().filter_map(literal_of).map(u64::from).collect();
        let type_id = instruction.result_type.unwrap_or(0);
        let data = match instruction.op {
            Op::CopyObject | Op::CopyLogical => return self.operand(instruction, 0),
            Op::CompositeExtract => part_of(&self.data(instruction, 0), &literals),
            Op::CompositeConstruct => self.constructed(instruction, type_id),
            Op::CompositeInsert => {
                let mut composite = self.data(instruction, 1);
                let part = self.data(instruction, 0);
                self.kernel.put_part(&mut composite, type_id, &literals, part);
                composite
            }
            Op::Any => any_of(&self.data(instruction, 0), true),
            Op::All => any_of(&self.data(instruction, 0), false),
            Op::VectorShuffle => self.shuffled(instruction, &literals),
            Op::Bitcast if self.is_same_shape(instruction, type_id) => self.data(instruction, 0),
            _ => self.operation(instruction, type_id),
        };
        RunValue::Data(self.kernel.spelled_out(data, type_id))
    }

    /// Constituents, one for each component; a vector may be made of vectors, which is not followed.
    fn constructed(&self, instruction: &Instruction, type_id: Id) -> ConstantValue {
        let count = self.kernel.types.component_count(type_id, &self.kernel.constants);
        if count != Some(instruction.operands.len() as u64) {
            return ConstantValue::Undef;
        }
        let parts = (0..instruction.operands.len()).map(|index| self.data(instruction, index));
        ConstantValue::Composite(parts.collect())
    }

    fn shuffled(&self, instruction: &Instruction, literals: &[u64]) -> ConstantValue {
        let mut parts = Vec::new();
        for index in [0, 1] {
            match self.data(instruction, index) {
                ConstantValue::Composite(own) => parts.extend(own),
                _ => return ConstantValue::Undef,
            }
        }
        let chosen = literals
            .iter()
            .map(|index| parts.get(*index as usize).cloned().unwrap_or(ConstantValue::Undef));
        ConstantValue::Composite(chosen.collect())
    }

    pub(super) fn type_of(&self, id: Id) -> Id {
        self.kernel.module.definition(id).and_then(|made| made.result_type).unwrap_or(0)
    }

    /// Whether both sides of a cast have as many components of as many bits.
    fn is_same_shape(&self, instruction: &Instruction, type_id: Id) -> bool {
        let from = instruction.id(0).map_or(0, |id| self.type_of(id));
        let types = &self.kernel.types;
        let shape = |type_id: Id| {
            let scalar = types.scalar_of(type_id)?;
            let count = types.component_count(type_id, &self.kernel.constants);
            Some((types.scalar_width(scalar)?, count))
        };
        shape(from).is_some() && shape(from) == shape(type_id)
    }

    fn operation(&self, instruction: &Instruction, type_id: Id) -> ConstantValue {
        let operands: Vec<Id> = instruction.ids().collect();
        let values: Vec<ConstantValue> =
            (0..operands.len()).map(|index| self.data(instruction, index)).collect();
        let operand_types: Vec<Id> = operands.iter().map(|id| self.type_of(*id)).collect();
        let kernel = self.kernel;
        let named = (instruction.result.unwrap_or(0), instruction.op, type_id);
        let value = kernel.constants.operation_value(
            &kernel.module,
            &kernel.types,
            named,
            &values,
            &operand_types,
        );
        value.unwrap_or(ConstantValue::Undef)
    }
}

/// Whether some component is true (OpAny), or all are: none is false.
fn any_of(value: &ConstantValue, sought: bool) -> ConstantValue {
    let ConstantValue::Composite(parts) = value else { return ConstantValue::Undef };
    if parts.contains(&ConstantValue::Bool(sought)) {
        return ConstantValue::Bool(sought);
    }
    match parts.iter().all(|part| *part == ConstantValue::Bool(!sought)) {
        true => ConstantValue::Bool(!sought),
        false => ConstantValue::Undef,
    }
}

fn literal_of(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(number) => Some(*number),
        _ => None,
    }
}
