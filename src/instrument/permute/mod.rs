//! The order of workgroups: a module that asks a buffer which workgroup it is.
//!
//! Knows: the variables by which a kernel learns its workgroup (built-ins WorkgroupId and
//! GlobalInvocationId), and everything that reads them. No other built-in of a compute kernel tells
//! workgroups apart.
//! Promises: every entry point starts by writing private variables, from the hardware's id and the
//! buffer, and every function reads those in place of the built-ins. Nothing else changes: with the
//! buffer of the identity the kernel computes what it did. What cannot be rewritten is
//! [`NotPermuted`] by name.
//! Does not cover: which permutations there are (`model::schedule`), binding the buffer.
//!
//! | words of the buffer | contents |
//! | --- | --- |
//! | 0 to 2 | workgroup counts of the dispatch in x, y, z |
//! | 3 + n | linear index (x fastest) of the workgroup that the hardware's n-th runs |

mod prologue;

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::module::{Function, Id, Instruction, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft};
use vkcert_spirv::types::Types;

/// Words of the buffer before the permutation.
pub const PERMUTATION_HEADER: usize = 3;

/// The words of the buffer for a dispatch of `groups`; `permutation` has one entry for each
/// workgroup.
pub fn permutation_words(groups: [u32; 3], permutation: &[u32]) -> Vec<u32> {
    groups.iter().chain(permutation).copied().collect()
}

/// Why the workgroups of a module cannot be permuted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPermuted {
    /// An entry point is no compute shader.
    #[error("the module has the entry point `{name}` of model {model}")]
    Model {
        /// Name of the entry point.
        name: String,
        /// Its execution model.
        model: String,
    },
    /// A built-in is a member of a block, so that it cannot be replaced.
    #[error("the built-in {built_in} is a member of a block")]
    Member {
        /// The built-in.
        built_in: &'static str,
    },
    /// A built-in has another type than Vulkan gives it.
    #[error("the built-in {built_in} is no vector of three 32-bit integers")]
    Shape {
        /// The built-in.
        built_in: &'static str,
    },
    /// An instruction uses a built-in in a way that is not known here.
    #[error("the built-in {built_in} is used by Op{op}")]
    Use {
        /// The built-in.
        built_in: &'static str,
        /// The instruction, without `Op`.
        op: String,
    },
    /// An entry point declares no local size.
    #[error("the entry point `{name}` has no local size")]
    NoLocalSize {
        /// Name of the entry point.
        name: String,
    },
    /// An entry point's function has no block.
    #[error("the entry point `{name}` has no body")]
    NoBody {
        /// Name of the entry point.
        name: String,
    },
}

/// A built-in that tells which workgroup runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupId {
    Workgroup,
    Global,
}

impl GroupId {
    fn of_built_in(built_in: BuiltIn) -> Option<Self> {
        // The module says which built-ins it has; only two of them are of interest.
        match built_in {
            BuiltIn::WorkgroupId => Some(Self::Workgroup),
            BuiltIn::GlobalInvocationId => Some(Self::Global),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Workgroup => "WorkgroupId",
            Self::Global => "GlobalInvocationId",
        }
    }
}

/// A variable of the module that is read through a private one.
#[derive(Debug, Clone, Copy)]
struct ReplacedVariable {
    variable: Id,
    of: GroupId,
    /// The vector that it points to.
    vector: Id,
    private: Id,
}

/// The module with its workgroup ids read from a storage buffer at `set` and `binding`; none where
/// it reads no workgroup id, so that every workgroup does the same whatever its number.
pub fn permute_workgroups(
    module: &Module,
    set: u32,
    binding: u32,
) -> Result<Option<Vec<u32>>, NotPermuted> {
    if let Some(other_entry) = module
        .entry_points
        .iter()
        .find(|entry_point| entry_point.model != ExecutionModel::GLCompute)
    {
        return Err(NotPermuted::Model {
            name: other_entry.name.clone(),
            model: format!("{:?}", other_entry.model),
        });
    }
    let types = Types::of_module(module);
    let group_variables = group_variables(module, &types)?;
    let group_pointers = group_pointers(module, &group_variables)?;
    if !is_read(module, &group_pointers) {
        return Ok(None);
    }
    let mut draft = ModuleDraft::without_functions(module);
    let replaced_variables: Vec<ReplacedVariable> = (group_variables.into_iter())
        .map(|(variable, (group_id, vector))| {
            let pointer = draft.pointer_type(StorageClass::Private, vector);
            let private = draft.declare(
                Op::Variable,
                Some(pointer),
                vec![Operand::StorageClass(StorageClass::Private)],
            );
            ReplacedVariable { variable, of: group_id, vector, private }
        })
        .collect();
    let mut edits =
        prologue::entry_prologues(module, &types, &mut draft, &replaced_variables, (set, binding))?;
    read_private_variables(
        module,
        &types,
        &mut draft,
        &replaced_variables,
        &group_pointers,
        &mut edits,
    );
    draft.copy_functions(module, &mut edits);
    Ok(Some(draft.finish()))
}

/// The built-in that an id is decorated with. The validator refuses BuiltIn on a group of
/// decorations.
fn built_in(module: &Module, decorated_id: Id) -> Option<BuiltIn> {
    match module.decoration(decorated_id, Decoration::BuiltIn)?.operands.first()? {
        Operand::BuiltIn(built_in) => Some(*built_in),
        _ => None,
    }
}

/// The variables that tell which workgroup runs, each with the vector that it points to.
fn group_variables(
    module: &Module,
    types: &Types,
) -> Result<BTreeMap<Id, (GroupId, Id)>, NotPermuted> {
    let mut group_variables = BTreeMap::new();
    for instruction in &module.instructions {
        let member_built_in = match (instruction.op, instruction.operands.as_slice()) {
            (
                Op::MemberDecorate,
                [_, _, Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(group_id)],
            ) => Some(*group_id),
            _ => None,
        };
        if let Some(group_id) = member_built_in.and_then(GroupId::of_built_in) {
            return Err(NotPermuted::Member { built_in: group_id.name() });
        }
        let input = Operand::StorageClass(StorageClass::Input);
        let (Op::Variable, Some(variable_id)) = (instruction.op, instruction.result) else {
            continue;
        };
        let Some(group_id) = built_in(module, variable_id).and_then(GroupId::of_built_in) else {
            continue;
        };
        let vector = instruction.result_type.and_then(|pointer| types.pointee(pointer));
        let vector_of_three =
            vector.filter(|vector| prologue::vector_component(types, *vector).is_some());
        match vector_of_three {
            Some(vector) if instruction.operands.first() == Some(&input) => {
                group_variables.insert(variable_id, (group_id, vector))
            }
            Some(_) | None => return Err(NotPermuted::Shape { built_in: group_id.name() }),
        };
    }
    Ok(group_variables)
}

/// Every pointer to one of the variables or a component of it; an error where one is used otherwise
/// than to read.
fn group_pointers(
    module: &Module,
    variables: &BTreeMap<Id, (GroupId, Id)>,
) -> Result<BTreeMap<Id, GroupId>, NotPermuted> {
    let mut pointers: BTreeMap<Id, GroupId> =
        variables.iter().map(|(id, (group_id, _))| (*id, *group_id)).collect();
    // Blocks stand behind those that dominate them, so a pointer is made before it is used.
    for instruction in &module.instructions {
        let Some((operand_index, group_id)) = first_use(instruction, &pointers) else { continue };
        let refused_use =
            || NotPermuted::Use { built_in: group_id.name(), op: format!("{:?}", instruction.op) };
        match (instruction.op, operand_index) {
            (Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject, 0) => {
                pointers.extend(instruction.result.map(|result| (result, group_id)));
            }
            (Op::Load, 0) | (Op::CopyMemory, 1) => {}
            (op, _) if op.is_annotation() => {}
            (Op::Name | Op::EntryPoint, _) => {}
            (Op::ExtInst, _) if is_non_semantic(module, instruction) => {}
            _ => return Err(refused_use()),
        }
    }
    Ok(pointers)
}

fn first_use(
    instruction: &Instruction,
    pointers: &BTreeMap<Id, GroupId>,
) -> Option<(usize, GroupId)> {
    let known_pointer =
        |operand_index| Some((operand_index, *pointers.get(&instruction.id(operand_index)?)?));
    (0..instruction.operands.len()).find_map(known_pointer)
}

/// Debug information: it goes on naming the variables of the source.
fn is_non_semantic(module: &Module, instruction: &Instruction) -> bool {
    let set = instruction
        .id(0)
        .and_then(|set| module.definition(set))
        .and_then(|import| import.operands.first());
    matches!(set, Some(Operand::LiteralString(name)) if name.starts_with("NonSemantic.") || name.contains("DebugInfo"))
}

fn is_read(module: &Module, pointers: &BTreeMap<Id, GroupId>) -> bool {
    let reads = |instruction: &Instruction| {
        matches!(instruction.op, Op::Load | Op::CopyMemory)
            && first_use(instruction, pointers).is_some()
    };
    module.instructions.iter().any(reads)
}

/// Has every function read the private variables.
fn read_private_variables(
    module: &Module,
    types: &Types,
    draft: &mut ModuleDraft,
    replaced_variables: &[ReplacedVariable],
    pointers: &BTreeMap<Id, GroupId>,
    edits: &mut InstructionEdits,
) {
    let first_function =
        module.functions.first().map_or(module.instructions.len(), |function| function.range.start);
    for (instruction_index, original) in module.instructions.iter().enumerate().skip(first_function)
    {
        if first_use(original, pointers).is_none() || original.op == Op::ExtInst {
            continue;
        }
        let mut rewritten = original.clone();
        for operand in &mut rewritten.operands {
            let private_variable = |id: Id| {
                replaced_variables.iter().find(|row| row.variable == id).map(|row| row.private)
            };
            if let Operand::IdRef(id) = operand
                && let Some(private_variable) = private_variable(*id)
            {
                *id = private_variable;
            }
        }
        let is_pointer = original.result.is_some_and(|result| pointers.contains_key(&result));
        if let Some(pointee) =
            original.result_type.filter(|_| is_pointer).and_then(|ty| types.pointee(ty))
        {
            rewritten.result_type = Some(draft.pointer_type(StorageClass::Private, pointee));
        }
        edits.replace(instruction_index, rewritten);
    }
}

/// Where a function's own code begins: behind the variables of its first block.
fn first_instruction(module: &Module, function: &Function) -> Option<usize> {
    let block = function.blocks.first()?;
    let last_variable = block
        .instruction_indices()
        .rev()
        .find(|index| module.instructions[*index].op == Op::Variable);
    Some(last_variable.unwrap_or(block.range.start) + 1)
}

/// Adds what the entry points of `function` use to their interfaces: inputs, and from SPIR-V 1.4 on
/// every global variable.
fn extend_interfaces(draft: &mut ModuleDraft, function_id: Id, variables: &BTreeSet<Id>) {
    for point in draft.entry_points_of(function_id) {
        let listed: BTreeSet<Id> = point.ids().skip(1).collect();
        point.operands.extend(variables.difference(&listed).map(|id| Operand::IdRef(*id)));
    }
}
