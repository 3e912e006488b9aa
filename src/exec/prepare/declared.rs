//! The descriptors that a module declares, used or not.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op};
use vkcert_spirv::module::{Id, Instruction, Module};

/// A descriptor that the module declares, used or not.
pub(super) struct DeclaredDescriptor {
    pub(super) set: u32,
    pub(super) binding: u32,
    pub(super) name: Option<String>,
}

pub(super) fn declared_descriptors(module: &Module) -> Vec<DeclaredDescriptor> {
    let decorated_number =
        |id: Id, decoration| match module.decoration(id, decoration)?.operands.first()? {
            Operand::LiteralBit32(decorated_number) => Some(*decorated_number),
            _ => None,
        };
    let global_instructions =
        module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    let is_variable = |instruction: &&Instruction| {
        matches!(instruction.op, Op::Variable | Op::UntypedVariableKHR)
    };
    let variables = global_instructions
        .filter(is_variable)
        .filter_map(|variable_declaration| variable_declaration.result);
    variables
        .filter_map(|id| {
            let name = module.debug_name(id).filter(|name| !name.is_empty()).map(str::to_owned);
            Some(DeclaredDescriptor {
                set: decorated_number(id, Decoration::DescriptorSet)?,
                binding: decorated_number(id, Decoration::Binding)?,
                name,
            })
        })
        .collect()
}
