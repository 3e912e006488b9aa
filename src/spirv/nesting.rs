//! How deep types and constants are nested, and how much they hold.
//!
//! Promises: behind this check, an id has one definition, a type or constant holds only what is
//! declared before it, at most [`MOST_LEVELS`] deep, and walking through everything that it holds
//! takes at most [`MOST_PARTS`] steps. A pointer that is declared forward ends the walk.
//! Does not cover: how many elements arrays have.

use super::module::{Id, Instruction, ModuleError};
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};

/// Deepest nesting (SPIR-V specification, "Universal Limits", structure nesting depth).
pub(crate) const MOST_LEVELS: u32 = 255;
/// Most parts of a type or constant, parts of parts included.
pub(crate) const MOST_PARTS: u64 = 1 << 22;

/// What a type or constant holds.
#[derive(Clone, Copy)]
struct NestingSize {
    levels: u32,
    parts: u64,
}

const LEAF: NestingSize = NestingSize { levels: 1, parts: 1 };

/// Checks the declarations of a module.
pub(crate) fn check_nesting(instructions: &[Instruction]) -> Result<(), ModuleError> {
    let mut nesting_sizes: HashMap<Id, NestingSize> = HashMap::new();
    let mut defined_ids = HashSet::with_capacity(instructions.len());
    for id in instructions.iter().filter_map(|instruction| instruction.result) {
        if !defined_ids.insert(id) {
            return Err(ModuleError::Nesting {
                what: "id",
                id,
                problem: "is defined twice".to_owned(),
            });
        }
    }
    for instruction in instructions.iter().take_while(|instruction| instruction.op != Op::Function)
    {
        if instruction.op == Op::TypeForwardPointer {
            nesting_sizes.extend(instruction.id(0).map(|id| (id, LEAF)));
        }
        let Some(id) = instruction.result else { continue };
        let (declaration_kind, parts) = match instruction.op {
            Op::TypeStruct => ("type", instruction.ids().collect::<Vec<_>>()),
            Op::TypePointer
            | Op::TypeArray
            | Op::TypeRuntimeArray
            | Op::TypeVector
            | Op::TypeMatrix
            | Op::TypeSampledImage
            | Op::TypeImage => ("type", instruction.ids().take(1).collect()),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                ("constant", instruction.ids().collect())
            }
            _ => {
                nesting_sizes.insert(id, LEAF);
                continue;
            }
        };
        let mut total_size = LEAF;
        for part in parts {
            let nesting_error =
                |problem: String| ModuleError::Nesting { what: declaration_kind, id, problem };
            let part_size = nesting_sizes.get(&part).ok_or_else(|| {
                nesting_error(format!("holds %{part}, which is not declared before it"))
            })?;
            total_size.levels = total_size.levels.max(part_size.levels + 1);
            total_size.parts = total_size.parts.saturating_add(part_size.parts);
            if total_size.levels > MOST_LEVELS {
                return Err(nesting_error(format!("is nested deeper than {MOST_LEVELS} levels")));
            }
            if total_size.parts > MOST_PARTS {
                return Err(nesting_error(format!("holds more than {MOST_PARTS} parts")));
            }
        }
        nesting_sizes.insert(id, total_size);
    }
    Ok(())
}

#[cfg(test)]
#[path = "nesting_tests.rs"]
mod tests;
