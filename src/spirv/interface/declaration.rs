//! Declarations of a module that stand for the module as a whole, and the places that variables are
//! bound to.
//!
//! Knows: OpCapability, OpExtension, OpExecutionMode, decorations of variables.
//! Promises: lists are in the order of the module.
//! Does not cover: what a declaration needs of a device (`device_needs`).

use super::super::module::{Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, ExecutionMode, Op};

/// The capabilities that a module declares.
pub fn declared_capabilities(module: &Module) -> Vec<Capability> {
    let capabilities =
        module.instructions.iter().filter_map(|instruction| match instruction.operands.first() {
            Some(Operand::Capability(capability)) if instruction.op == Op::Capability => {
                Some(*capability)
            }
            _ => None,
        });
    capabilities.collect()
}

/// The SPIR-V extensions that a module declares.
pub fn declared_extensions(module: &Module) -> Vec<String> {
    let names =
        module.instructions.iter().filter_map(|instruction| match instruction.operands.first() {
            Some(Operand::LiteralString(name)) if instruction.op == Op::Extension => {
                Some(name.clone())
            }
            _ => None,
        });
    names.collect()
}

/// The execution modes of an entry point's function.
pub(super) fn execution_modes(
    module: &Module,
    function_id: Id,
) -> impl Iterator<Item = &Instruction> {
    let modes = module.instructions.iter();
    modes.filter(move |instruction| {
        matches!(instruction.op, Op::ExecutionMode | Op::ExecutionModeId)
            && instruction.id(0) == Some(function_id)
    })
}

/// Which mode an OpExecutionMode sets.
pub(super) fn mode_of(instruction: &Instruction) -> Option<ExecutionMode> {
    match instruction.operands.get(1) {
        Some(Operand::ExecutionMode(mode)) => Some(*mode),
        _ => None,
    }
}

/// The number that a decoration of `id` carries.
pub(super) fn decorated_number(
    module: &Module,
    decorated_id: Id,
    decoration: Decoration,
) -> Option<u32> {
    match module.decoration(decorated_id, decoration)?.operands.first() {
        Some(Operand::LiteralBit32(value)) => Some(*value),
        _ => None,
    }
}

/// Set and binding of a variable.
pub(super) fn descriptor_place(module: &Module, variable: Id) -> Option<(u32, u32)> {
    let set = decorated_number(module, variable, Decoration::DescriptorSet)?;
    Some((set, decorated_number(module, variable, Decoration::Binding)?))
}

/// The name that OpName gives to `id`, unless it is empty.
pub(super) fn debug_name(module: &Module, id: Id) -> Option<String> {
    module.debug_name(id).filter(|name| !name.is_empty()).map(str::to_owned)
}
