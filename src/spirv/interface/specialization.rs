//! The specialization constants of a module.

use super::super::constants::Constants;
use super::super::module::{Id, Instruction, Module};
use super::super::types::{Type, Types};
use super::declaration::debug_name;

/// A specialization constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecializationConstant {
    /// Result id of the constant.
    pub id: Id,
    /// `SpecId` that the host sets it by.
    pub spec_id: u32,
    /// OpName of the constant.
    pub name: Option<String>,
    /// Id of its type.
    pub ty: Id,
    /// Name of its type in GLSL: `uint`, `bool` ...
    pub type_name: String,
    /// Raw bits; Booleans are 0 or 1.
    pub default: u64,
    /// Bits of the type; Booleans are 32-bit at the interface (VkBool32).
    pub width: u32,
}

/// A declaration with a SpecId, as the API sees it.
pub(super) struct SpecializationEntry<'a> {
    pub constant: &'a Instruction,
    pub spec_id: u32,
    /// Bits at the interface.
    pub width: u32,
}

/// Every specialization constant of a module, in its order.
pub(super) fn specialization_entries<'a>(
    module: &'a Module,
    types: &Types,
) -> impl Iterator<Item = SpecializationEntry<'a>> {
    module.instructions.iter().filter_map(|constant| {
        let spec_id = module.specialization_id(constant.result?)?;
        let ty = constant.result_type?;
        // Vulkan specification, VkSpecializationMapEntry: a Boolean takes the bytes of VkBool32.
        let width = match types.get(ty) {
            Some(Type::Bool) => 32,
            _ => types.scalar_width(ty)?,
        };
        Some(SpecializationEntry { constant, spec_id, width })
    })
}

/// All specialization constants with their defaults, by SpecId.
pub(super) fn specialization_constants(
    module: &Module,
    types: &Types,
    defaults: &Constants,
) -> Vec<SpecializationConstant> {
    let described_constants = specialization_entries(module, types).filter_map(|entry| {
        let (id, ty) = (entry.constant.result?, entry.constant.result_type?);
        Some(SpecializationConstant {
            id,
            spec_id: entry.spec_id,
            name: debug_name(module, id),
            ty,
            type_name: types.glsl_name(ty),
            default: defaults
                .scalar_bits(id)
                .or_else(|| defaults.boolean_value(id).map(u64::from))?,
            width: entry.width,
        })
    });
    let mut constants: Vec<_> = described_constants.collect();
    constants.sort_by_key(|constant| (constant.spec_id, constant.id));
    constants
}
