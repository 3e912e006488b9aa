//! The size of a workgroup, as a module declares it.
//!
//! Knows: the three ways to declare it and which of them counts: the constant decorated
//! WorkgroupSize before an execution mode (SPIR-V specification, "BuiltIn" WorkgroupSize),
//! LocalSizeId and LocalSize in the order of the module.
//! Promises: engines, device checks, reflection and passes read it here, so that they agree on it.
//! Does not cover: which sizes are allowed; each reader has its own limits.

use super::super::constants::{ConstantValue, Constants};
use super::super::module::{Id, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

/// Where the size of a workgroup stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalSize {
    /// The constant decorated WorkgroupSize, a vector of three.
    WorkgroupSize(Id),
    /// One constant for each axis (execution mode LocalSizeId).
    Constants([Id; 3]),
    /// Invocations in x, y and z (execution mode LocalSize).
    Literals([u32; 3]),
}

impl LocalSize {
    /// The declaration that counts for the entry point whose function is `function`; none: it has
    /// no local size.
    pub fn of_entry_point(module: &Module, function_id: Id) -> Option<Self> {
        if let Some(constant) = workgroup_size_constant(module) {
            return Some(Self::WorkgroupSize(constant));
        }
        let modes =
            module.instructions.iter().filter(|instruction| instruction.id(0) == Some(function_id));
        let mut sizes = modes.filter_map(|mode| match (mode.op, mode.operands.get(1)?) {
            (Op::ExecutionMode, Operand::ExecutionMode(ExecutionMode::LocalSize)) => {
                Some(Self::Literals([mode.literal(2)?, mode.literal(3)?, mode.literal(4)?]))
            }
            (Op::ExecutionModeId, Operand::ExecutionMode(ExecutionMode::LocalSizeId)) => {
                Some(Self::Constants([mode.id(2)?, mode.id(3)?, mode.id(4)?]))
            }
            _ => None,
        });
        sizes.next()
    }

    /// Invocations in x, y and z; none: it depends on a constant whose value is not known.
    pub fn evaluated_size(self, constants: &Constants) -> Option<[u64; 3]> {
        match self {
            Self::Literals(sizes) => Some(sizes.map(u64::from)),
            Self::Constants([x, y, z]) => Some([
                constants.scalar_bits(x)?,
                constants.scalar_bits(y)?,
                constants.scalar_bits(z)?,
            ]),
            Self::WorkgroupSize(constant) => match constants.value(constant)? {
                ConstantValue::Composite(parts) => match parts.as_slice() {
                    [x, y, z] => Some([scalar_bits(x)?, scalar_bits(y)?, scalar_bits(z)?]),
                    _ => None,
                },
                ConstantValue::Scalar(_)
                | ConstantValue::Bool(_)
                | ConstantValue::Null
                | ConstantValue::Undef => None,
            },
        }
    }

    /// [`Self::evaluated_size`] in 32 bits; none also where a size takes more.
    pub fn evaluated_words(self, constants: &Constants) -> Option<[u32; 3]> {
        let [x, y, z] = self.evaluated_size(constants)?.map(u32::try_from);
        Some([x.ok()?, y.ok()?, z.ok()?])
    }
}

/// A constant: a module for other stages may decorate a variable so.
fn workgroup_size_constant(module: &Module) -> Option<Id> {
    let declarations =
        module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    let declared_constants =
        declarations.filter(|i| !matches!(i.op, Op::Variable | Op::UntypedVariableKHR));
    declared_constants.filter_map(|instruction| instruction.result).find(|id| {
        module.decorations(*id).iter().any(|decorated| {
            decorated.decoration == Decoration::BuiltIn
                && decorated.operands.first() == Some(&Operand::BuiltIn(BuiltIn::WorkgroupSize))
        })
    })
}

fn scalar_bits(value: &ConstantValue) -> Option<u64> {
    match value {
        ConstantValue::Scalar(bits) => Some(*bits),
        ConstantValue::Null => Some(0),
        ConstantValue::Bool(_) | ConstantValue::Composite(_) | ConstantValue::Undef => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DeviceNeeds, Reflection};
    use crate::module::Module;
    use std::collections::BTreeMap;
    use vkcert_glsl::{KernelSource, compile};

    /// Sizes by specialization make the compiler write WorkgroupSize or LocalSizeId beside
    /// LocalSize.
    #[test]
    fn reflection_and_device_needs_read_one_size() {
        for environment in ["vulkan1.0", "vulkan1.3"] {
            let text = "#version 450\nlayout(local_size_x_id = 3, local_size_y = 2) in;\n\
                        layout(constant_id = 4) const uint N = 5u;\n\
                        layout(binding = 0) buffer B { uint sizes[N]; };\n\
                        void main() { sizes[0] = gl_WorkGroupSize.x; }\n";
            let source = KernelSource::alone("k.comp", text.to_owned(), environment);
            let module =
                Module::parse(compile(&source).expect("compiles").production).expect("SPIR-V");
            for (given, size) in
                [(BTreeMap::new(), [1, 2, 1]), (BTreeMap::from([(3, 7)]), [7, 2, 1])]
            {
                let reflection =
                    Reflection::of_entry_point(&module, "main", &given).expect("describes");
                let needs = DeviceNeeds::of_entry_point(&module, "main", &given).expect("has main");
                assert_eq!(
                    (reflection.local_size, needs.local_size),
                    (size, Some(size)),
                    "{environment}"
                );
                assert_eq!(needs.descriptors[0].resource, reflection.resources[0]);
                assert_eq!(needs.specialization, BTreeMap::from([(3, 4), (4, 4)]));
            }
        }
    }
}
