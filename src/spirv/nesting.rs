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
struct Held {
    levels: u32,
    parts: u64,
}

const LEAF: Held = Held { levels: 1, parts: 1 };

/// Checks the declarations of a module.
pub(crate) fn check(instructions: &[Instruction]) -> Result<(), ModuleError> {
    let mut held: HashMap<Id, Held> = HashMap::new();
    let mut defined = HashSet::with_capacity(instructions.len());
    for id in instructions.iter().filter_map(|instruction| instruction.result) {
        if !defined.insert(id) {
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
            held.extend(instruction.id(0).map(|id| (id, LEAF)));
        }
        let Some(id) = instruction.result else { continue };
        let (what, parts) = match instruction.op {
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
                held.insert(id, LEAF);
                continue;
            }
        };
        let mut all = LEAF;
        for part in parts {
            let problem = |problem: String| ModuleError::Nesting { what, id, problem };
            let one = held.get(&part).ok_or_else(|| {
                problem(format!("holds %{part}, which is not declared before it"))
            })?;
            all.levels = all.levels.max(one.levels + 1);
            all.parts = all.parts.saturating_add(one.parts);
            if all.levels > MOST_LEVELS {
                return Err(problem(format!("is nested deeper than {MOST_LEVELS} levels")));
            }
            if all.parts > MOST_PARTS {
                return Err(problem(format!("holds more than {MOST_PARTS} parts")));
            }
        }
        held.insert(id, all);
    }
    Ok(())
}

#[cfg(test)]
#[path = "nesting_tests.rs"]
mod tests;
