//! Uses of memory and images in the functions that an entry point reaches, and that a device may
//! lack.
//!
//! Knows: the atomics of a module with type and memory, texels that are operands of atomics, images
//! and samplers that are combined. Names are traced through loads, access chains and copies to a
//! variable.
//! Promises: what is found is used; an image or sampler that comes through a function parameter is
//! not traced.
//! Does not cover: whether the device has it (`exec::vulkan`).

use super::super::module::{Id, Instruction, Module};
use super::declaration::descriptor_place;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::collections::BTreeSet;

/// What an atomic asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AtomicUse {
    /// What is done.
    pub kind: AtomicKind,
    /// Bits.
    pub width: u32,
    /// Which memory it is done in.
    pub memory: AtomicMemory,
}

/// What an atomic does, as features of devices tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AtomicKind {
    /// Any atomic on integers.
    Integer,
    /// Loads, stores, exchanges.
    FloatExchange,
    /// Addition of floats.
    FloatAdd,
    /// Minimum or maximum of floats.
    FloatMinMax,
}

impl AtomicKind {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            AtomicKind::Integer => "integer",
            AtomicKind::FloatExchange => "float exchange",
            AtomicKind::FloatAdd => "float add",
            AtomicKind::FloatMinMax => "float min and max",
        }
    }
}

/// Which memory an atomic is done in, as features of devices tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AtomicMemory {
    /// Storage buffers and what device addresses name.
    Buffer,
    /// Workgroup memory.
    Workgroup,
    /// Texels of images.
    Image,
}

impl AtomicMemory {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            AtomicMemory::Buffer => "buffers",
            AtomicMemory::Workgroup => "workgroup memory",
            AtomicMemory::Image => "images",
        }
    }
}

fn function_instructions<'a>(
    module: &'a Module,
    function_ids: &[Id],
) -> impl Iterator<Item = &'a Instruction> {
    let function_ranges = function_ids
        .iter()
        .filter_map(|id| module.function_by_id(*id))
        .map(|function| function.instruction_indices());
    function_ranges.flatten().map(|index| &module.instructions[index])
}

/// Every kind of atomic in `functions`.
pub(super) fn atomic_uses(module: &Module, function_ids: &[Id]) -> BTreeSet<AtomicUse> {
    function_instructions(module, function_ids)
        .filter_map(|instruction| atomic_use(module, instruction))
        .collect()
}

fn atomic_use(module: &Module, instruction: &Instruction) -> Option<AtomicUse> {
    let float_kind = match instruction.op {
        Op::AtomicFAddEXT => AtomicKind::FloatAdd,
        Op::AtomicFMinEXT | Op::AtomicFMaxEXT => AtomicKind::FloatMinMax,
        Op::AtomicLoad
        | Op::AtomicStore
        | Op::AtomicExchange
        | Op::AtomicCompareExchange
        | Op::AtomicIIncrement
        | Op::AtomicIDecrement
        | Op::AtomicIAdd
        | Op::AtomicISub
        | Op::AtomicSMin
        | Op::AtomicUMin
        | Op::AtomicSMax
        | Op::AtomicUMax
        | Op::AtomicAnd
        | Op::AtomicOr
        | Op::AtomicXor => AtomicKind::FloatExchange,
        _ => return None,
    };
    let pointer = module.definition(instruction.id(0)?)?;
    let pointer = module.definition(pointer.result_type?)?;
    let memory = match pointer.operands.first()? {
        Operand::StorageClass(StorageClass::Workgroup) => AtomicMemory::Workgroup,
        Operand::StorageClass(StorageClass::Image) => AtomicMemory::Image,
        _ => AtomicMemory::Buffer,
    };
    let value_type = match (pointer.op, instruction.result_type) {
        // What it points to is what the instruction takes it for.
        (Op::TypeUntypedPointerKHR, Some(ty)) => module.definition(ty)?,
        (Op::TypeUntypedPointerKHR, None) => {
            module.definition(module.definition(instruction.id(3)?)?.result_type?)?
        }
        _ => module.definition(pointer.id(1)?)?,
    };
    let atomic_kind = if value_type.op == Op::TypeFloat { float_kind } else { AtomicKind::Integer };
    Some(AtomicUse { kind: atomic_kind, width: value_type.literal(0)?, memory })
}

/// Variables of images whose texels are operands of atomics.
pub(super) fn pointed_texels(module: &Module, function_ids: &[Id]) -> BTreeSet<Id> {
    let pointers = function_instructions(module, function_ids)
        .filter(|instruction| instruction.op == Op::ImageTexelPointer);
    pointers.filter_map(|pointer| source_variable(module, pointer.id(0)?)).collect()
}

fn is_constant(module: &Module, index: Id) -> bool {
    let constant_opcodes = [Op::Constant, Op::ConstantNull, Op::SpecConstant, Op::SpecConstantOp];
    module.definition(index).is_some_and(|definition| constant_opcodes.contains(&definition.op))
}

/// Variables of descriptor arrays that are indexed by what is no constant. A compiler need not
/// declare the capability for that, the device needs the feature all the same (Vulkan
/// specification, shaderSampledImageArrayDynamicIndexing and the features beside it).
pub(super) fn dynamic_arrays(module: &Module, function_ids: &[Id]) -> BTreeSet<Id> {
    let typed_chains = function_instructions(module, function_ids).filter(|chain| {
        matches!(
            chain.op,
            Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
        )
    });
    let untyped_arrays = function_instructions(module, function_ids)
        .filter(|chain| is_untyped_chain(chain.op))
        .filter_map(move |chain| {
            let (base, array) = (chain.id(1)?, module.definition(chain.id(0)?)?);
            let is_variable = module
                .definition(base)
                .is_some_and(|definition| definition.op == Op::UntypedVariableKHR);
            let is_array = is_variable && matches!(array.op, Op::TypeArray | Op::TypeRuntimeArray);
            (is_array && !is_constant(module, chain.id(2)?)).then_some(base)
        });
    typed_chains
        .filter_map(|chain| {
            let base = chain.id(0)?;
            let pointer = module.definition(
                module
                    .definition(base)
                    .filter(|definition| definition.op == Op::Variable)?
                    .result_type?,
            )?;
            let array = module.definition(pointer.id(1)?)?;
            let is_array = matches!(array.op, Op::TypeArray | Op::TypeRuntimeArray);
            (is_array && !is_constant(module, chain.id(1)?)).then_some(base)
        })
        .chain(untyped_arrays)
        .collect()
}

fn is_untyped_chain(op: Op) -> bool {
    matches!(op, Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR)
}

/// Set and binding of images with those of the samplers that are combined with them.
pub(super) fn combined_images(
    module: &Module,
    function_ids: &[Id],
) -> BTreeSet<((u32, u32), (u32, u32))> {
    let combinations = function_instructions(module, function_ids)
        .filter(|instruction| instruction.op == Op::SampledImage);
    combinations
        .filter_map(|combination| {
            let [image, sampler] = [
                source_variable(module, combination.id(0)?)?,
                source_variable(module, combination.id(1)?)?,
            ];
            Some((descriptor_place(module, image)?, descriptor_place(module, sampler)?))
        })
        .collect()
}

/// The module-scope variable that a value was loaded from.
fn source_variable(module: &Module, mut value_id: Id) -> Option<Id> {
    // Longer than any chain of loads and accesses; a module that is not valid may have a cycle.
    for _ in 0..64 {
        let definition = module.definition(value_id)?;
        match definition.op {
            Op::Variable | Op::UntypedVariableKHR => return Some(value_id),
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => {
                value_id = definition.id(1)?
            }
            Op::Load
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::CopyObject
            | Op::ImageTexelPointer => {
                value_id = definition.id(0)?;
            }
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::super::calls::reachable_functions;
    use super::*;
    use vkcert_glsl::{KernelSource, compile};

    fn module(body: &str) -> (Module, Vec<Id>) {
        let text = format!(
            "#version 460\n#extension GL_EXT_shader_atomic_float : enable\n#extension GL_EXT_shader_atomic_int64 : enable\n\
             #extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable\n\
             layout(local_size_x = 1) in;\n{body}\n"
        );
        let source = KernelSource::alone("k.comp", text, "vulkan1.2");
        let compiled = compile(&source).expect("compiles");
        let module = Module::parse(compiled.production).expect("SPIR-V");
        let entry = module.entry_point("main").expect("main").function;
        let functions = reachable_functions(&module, entry);
        (module, functions)
    }

    #[test]
    fn atomics_are_told_apart_by_type_and_memory() {
        let (module, functions) = module(
            "layout(binding = 0) buffer B { float f; uint64_t wide; uint narrow; };\nshared float s; shared uint64_t sw;\n\
             layout(binding = 1, r32f) uniform image2D img;\nlayout(binding = 2) buffer U { uint64_t idle; };\n\
             void unused() { atomicAdd(idle, 1ul); }\n\
             void main() { atomicAdd(f, 1.0); atomicExchange(s, 2.0); atomicAdd(narrow, 1u); atomicMax(sw, 3ul);\n\
             imageAtomicAdd(img, ivec2(0), 1.0); }",
        );
        let found: Vec<(AtomicKind, u32, AtomicMemory)> = atomic_uses(&module, &functions)
            .into_iter()
            .map(|one| (one.kind, one.width, one.memory))
            .collect();
        let expected = [
            (AtomicKind::Integer, 32, AtomicMemory::Buffer),
            (AtomicKind::Integer, 64, AtomicMemory::Workgroup),
            (AtomicKind::FloatExchange, 32, AtomicMemory::Workgroup),
            (AtomicKind::FloatAdd, 32, AtomicMemory::Buffer),
            (AtomicKind::FloatAdd, 32, AtomicMemory::Image),
        ];
        assert_eq!(found, expected);
        assert_eq!(pointed_texels(&module, &functions).len(), 1);
    }

    #[test]
    fn dynamic_indices_and_combinations_are_found() {
        let (module, functions) = module(
            "layout(binding = 0) uniform texture2D pictures[2];\nlayout(binding = 1) uniform sampler ways[2];\n\
             layout(binding = 2) buffer B { float seen; } blocks[2];\nlayout(constant_id = 0) const int N = 1;\n\
             void main() { blocks[N].seen = textureLod(sampler2D(pictures[gl_WorkGroupID.x], ways[1]), vec2(0), 0.0).x; }",
        );
        let binding = |id: Id| match module
            .decoration(id, rspirv::spirv::Decoration::Binding)?
            .operands
            .first()?
        {
            Operand::LiteralBit32(number) => Some((0, *number)),
            _ => None,
        };
        assert_eq!(combined_images(&module, &functions), BTreeSet::from([((0, 0), (0, 1))]));
        let dynamic: Vec<_> =
            dynamic_arrays(&module, &functions).into_iter().filter_map(binding).collect();
        assert_eq!(dynamic, [(0, 0)]);
    }
}
