//! The descriptors that a module declares, used or not.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op};
use vkcert_spirv::module::{Id, Instruction, Module};

/// A descriptor that the module declares, used or not.
pub(super) struct Declared {
    pub(super) set: u32,
    pub(super) binding: u32,
    pub(super) name: Option<String>,
}

pub(super) fn declared(module: &Module) -> Vec<Declared> {
    let number = |id: Id, decoration| match module.decoration(id, decoration)?.operands.first()? {
        Operand::LiteralBit32(number) => Some(*number),
        _ => None,
    };
    let globals =
        module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    let is_variable = |instruction: &&Instruction| {
        matches!(instruction.op, Op::Variable | Op::UntypedVariableKHR)
    };
    let variables = globals.filter(is_variable).filter_map(|found| found.result);
    variables
        .filter_map(|id| {
            let name = module.debug_name(id).filter(|name| !name.is_empty()).map(str::to_owned);
            Some(Declared {
                set: number(id, Decoration::DescriptorSet)?,
                binding: number(id, Decoration::Binding)?,
                name,
            })
        })
        .collect()
}
