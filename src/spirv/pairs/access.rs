//! The accesses of a kernel to what it shares with its host, other kernels or other invocations.
//!
//! Knows: loads, stores, copies, atomics, image accesses and extended instructions that write
//! through a pointer; where their pointers lead, through chains, choices, parameters, results and
//! variables that keep pointers.
//! Promises: every such access that control can come to is listed, once for each part that it can
//! be to. An atomic is a read and a write.
//! Does not cover: sizes of buffers and images, samplers, subgroup operations.

use super::object::{ObjectPath, PathStep, SharedObject};
use crate::flow::access::{read_pointer, written_pointer};
use crate::flow::pointer::PointerAnalysis;
use crate::module::{Id, Instruction, Module};
use crate::opcodes::is_atomic;
use crate::types::{ImageType, Type};
use rspirv::dr::Operand;
use rspirv::spirv::MemoryModel as DeclaredModel;
use rspirv::spirv::{BuiltIn, Decoration, Dim, ImageOperands, Op, StorageClass};
use std::collections::{BTreeMap, HashSet};
use vkcert_model::access_pair::ReadDescriptor;

/// Whether other invocations see an access whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Atomicity {
    Plain,
    Atomic,
}

/// Whether what is written can be seen by other workgroups at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coherence {
    Ordinary,
    /// Declared coherent or volatile.
    Coherent,
}

/// One access to one part of an object.
#[derive(Debug, Clone)]
pub(super) struct SharedAccess {
    /// Its number among the accesses of the kernel; none of a use of what the host decides, which
    /// meets nothing.
    pub number: Option<usize>,
    /// Source index of the instruction.
    pub index: usize,
    pub path: ObjectPath,
    /// The whole coordinate of a texel, where an instruction has it.
    pub coordinate: Option<Id>,
    pub atomicity: Atomicity,
    pub coherence: Coherence,
}

/// The accesses of a kernel, in the order of the module.
#[derive(Debug, Default)]
pub(super) struct SharedAccesses {
    pub writes: Vec<SharedAccess>,
    pub reads: Vec<SharedAccess>,
}

/// Ways back from one pointer that are followed; behind them an object counts as a whole.
const MOST_WAYS: usize = 4096;

impl SharedAccesses {
    pub(super) fn of_kernel(pointers: &PointerAnalysis<'_>) -> Self {
        let mut accesses = Self::default();
        let mut instruction_indices: Vec<usize> = pointers.live.live_instructions().collect();
        instruction_indices.sort_unstable();
        for index in instruction_indices {
            let instruction = &pointers.module.instructions[index];
            if let Some(pointer) = written_pointer(pointers.module, instruction) {
                accesses.writes.extend(accesses_through(pointers, index, pointer));
            }
            if let Some(pointer) = read_pointer(pointers, instruction) {
                accesses.reads.extend(accesses_through(pointers, index, pointer));
            }
        }
        let numbered = accesses.writes.iter_mut().chain(&mut accesses.reads);
        numbered.enumerate().for_each(|(number, access)| access.number = Some(number));
        accesses
    }
}

fn accesses_through<'a>(
    pointers: &'a PointerAnalysis<'_>,
    index: usize,
    pointer: Id,
) -> impl Iterator<Item = SharedAccess> + 'a {
    let atomicity = if is_atomic(pointers.module.instructions[index].op) {
        Atomicity::Atomic
    } else {
        Atomicity::Plain
    };
    let coordinate = texel_coordinate(pointers, &pointers.module.instructions[index]);
    PathSearch { pointers }.paths_of(pointer).into_iter().map(move |path| {
        let coherence = coherence_of(pointers, &path);
        SharedAccess { number: None, index, path, coordinate, atomicity, coherence }
    })
}

/// The coordinate of a read or write of one texel that nothing else moves, with as many components as
/// its image has axes and layers.
fn texel_coordinate(pointers: &PointerAnalysis<'_>, instruction: &Instruction) -> Option<Id> {
    let moves = ImageOperands::CONST_OFFSET | ImageOperands::OFFSET | ImageOperands::CONST_OFFSETS;
    let is_moved = instruction.operands.iter().any(|operand| match operand {
        Operand::ImageOperands(operands) => operands.intersects(moves),
        _ => false,
    });
    let has_one = matches!(instruction.op, Op::ImageRead | Op::ImageWrite) && !is_moved;
    let coordinate = instruction.id(1).filter(|_| has_one)?;
    let type_of = |id: Id| pointers.types.get(pointers.module.definition(id)?.result_type?);
    let components = match type_of(coordinate)? {
        Type::Vector { count, .. } => *count,
        _ => 1,
    };
    let Type::Image(image) = type_of(instruction.id(0)?)? else { return None };
    (image_axes(image) == Some(components)).then_some(coordinate)
}

/// Numbers that name a texel (SPIR-V specification, OpImageRead): a cube's faces, and those of
/// several cubes, are counted by the third one.
fn image_axes(image: &ImageType) -> Option<u32> {
    match (image.dim, image.arrayed) {
        (Dim::Dim1D | Dim::DimBuffer, false) => Some(1),
        (Dim::Dim1D, true) | (Dim::Dim2D, false) => Some(2),
        (Dim::Dim2D, true) | (Dim::Dim3D, false) | (Dim::DimCube, _) => Some(3),
        _ => None,
    }
}

/// Whether accesses say one by one whether they are made available and visible.
pub(super) fn declares_vulkan_model(module: &Module) -> bool {
    module.instructions.iter().any(|instruction| {
        instruction.op == Op::MemoryModel
            && instruction.operands.contains(&Operand::MemoryModel(DeclaredModel::Vulkan))
    })
}

/// Accesses by the object that they are to.
pub(super) fn by_object(accesses: &[SharedAccess]) -> BTreeMap<SharedObject, Vec<&SharedAccess>> {
    let mut accesses_by_object: BTreeMap<SharedObject, Vec<&SharedAccess>> = BTreeMap::new();
    for access in accesses {
        accesses_by_object.entry(access.path.object).or_default().push(access);
    }
    accesses_by_object
}

/// Where a pointer was made that is followed back.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PointerWay {
    pointer: Id,
    /// From what the pointer leads to on to the part, first step first.
    steps: Vec<PathStep>,
    /// Whether the pointer was moved along an array.
    moved: bool,
}

struct PathSearch<'a, 'm> {
    pointers: &'a PointerAnalysis<'m>,
}

impl PathSearch<'_, '_> {
    /// The parts of shared objects that a pointer can lead to.
    fn paths_of(&self, pointer: Id) -> Vec<ObjectPath> {
        let mut paths = Vec::new();
        let mut visited_ways = HashSet::new();
        let mut pending_ways = vec![PointerWay { pointer, steps: Vec::new(), moved: false }];
        while let Some(mut way) = pending_ways.pop() {
            if visited_ways.len() >= MOST_WAYS {
                way.steps.clear();
            }
            if visited_ways.insert(way.clone())
                && let Some(definition) = self.pointers.module.definition(way.pointer)
            {
                match definition.op {
                    Op::Variable | Op::UntypedVariableKHR => paths.extend(self.variable_path(&way)),
                    _ if self.is_address(definition) => paths.push(self.address_path(&way)),
                    _ => self.follow(way, definition, &mut pending_ways),
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }

    /// One definition back.
    fn follow(&self, way: PointerWay, definition: &Instruction, pending: &mut Vec<PointerWay>) {
        let from = |pointer: Id| PointerWay { pointer, ..way.clone() };
        match definition.op {
            Op::AccessChain | Op::InBoundsAccessChain => pending.extend(self.before_chain(&way, 1)),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let before = self.before_chain(&way, 2);
                pending.extend(before.map(|before| PointerWay { moved: true, ..before }));
            }
            // What an untyped chain leads to is told by no type of the object.
            Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR
            | Op::UntypedPtrAccessChainKHR
            | Op::UntypedInBoundsPtrAccessChainKHR => {
                let base = definition.id(1).map(from);
                pending.extend(base.map(|base| PointerWay { steps: Vec::new(), ..base }));
            }
            Op::CopyObject
            | Op::CopyLogical
            | Op::ImageTexelPointer
            | Op::SampledImage
            | Op::Image => pending.extend(definition.id(0).map(from)),
            Op::Select => pending.extend(definition.ids().skip(1).take(2).map(from)),
            Op::Phi => {
                let values = definition.operands.iter().step_by(2);
                pending.extend(values.filter_map(Operand::id_ref_any).map(from));
            }
            Op::FunctionParameter => {
                pending.extend(self.pointers.passed_arguments(way.pointer).map(from));
            }
            Op::FunctionCall => {
                let callee = definition.id(0);
                let returns =
                    callee.map_or(&[][..], |callee| self.pointers.live.returns_of(callee));
                let instructions = &self.pointers.module.instructions;
                pending.extend(
                    returns.iter().filter_map(|index| instructions[*index].id(0)).map(from),
                );
            }
            Op::Load => pending.extend(self.pointers.loaded_from(definition).into_iter().map(from)),
            _ => {}
        }
    }

    /// What a chain of indices starts from; `first_index` is the operand of its first index.
    fn before_chain(&self, way: &PointerWay, first_index: usize) -> Option<PointerWay> {
        let chain = self.pointers.module.definition(way.pointer)?;
        let base = chain.id(0)?;
        let mut steps = self.chain_steps(base, chain.ids().skip(first_index))?;
        if way.moved
            && let Some(last_step @ PathStep::Element(_)) = steps.last_mut()
        {
            *last_step = PathStep::Element(None);
        }
        let moved = way.moved && steps.is_empty();
        steps.extend(&way.steps);
        Some(PointerWay { pointer: base, steps, moved })
    }

    fn chain_steps(&self, base: Id, indices: impl Iterator<Item = Id>) -> Option<Vec<PathStep>> {
        let pointers = self.pointers;
        let mut ty = pointers.types.pointee(pointers.module.definition(base)?.result_type?)?;
        let mut steps = Vec::new();
        for index in indices {
            match pointers.types.get(ty)? {
                Type::Structure { members, .. } => {
                    let member = pointers.constants.scalar_word(index)?;
                    steps.push(PathStep::Member(member));
                    ty = members.get(member as usize)?.ty;
                }
                _ => {
                    steps.push(PathStep::Element(Some(index)));
                    ty = pointers.types.component_type(ty, 0)?;
                }
            }
        }
        Some(steps)
    }

    fn variable_path(&self, way: &PointerWay) -> Option<ObjectPath> {
        let module = self.pointers.module;
        let storage_class = match module.definition(way.pointer)?.operands.first()? {
            Operand::StorageClass(storage_class) => *storage_class,
            _ => return None,
        };
        let object = match storage_class {
            StorageClass::Workgroup => SharedObject::Workgroup(way.pointer),
            StorageClass::PushConstant => SharedObject::PushConstants,
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant => {
                SharedObject::Descriptor(descriptor_place(module, way.pointer)?)
            }
            StorageClass::Input if is_group_count(module, way.pointer) => {
                SharedObject::NumWorkgroups
            }
            _ => return None,
        };
        Some(ObjectPath { object, declaration: way.pointer, steps: way.steps.clone() })
    }

    /// Whether a pointer is a number that names memory.
    fn is_address(&self, definition: &Instruction) -> bool {
        let class = definition.result_type.and_then(|ty| self.pointers.types.storage_class(ty));
        let leads_on = matches!(
            definition.op,
            Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::CopyObject
        );
        class == Some(StorageClass::PhysicalStorageBuffer) && !leads_on
    }

    fn address_path(&self, way: &PointerWay) -> ObjectPath {
        let definition = self.pointers.module.definition(way.pointer);
        let pointer_type = definition.and_then(|definition| definition.result_type);
        let pointee = pointer_type.and_then(|ty| self.pointers.types.pointee(ty));
        ObjectPath {
            object: SharedObject::Addressed,
            declaration: pointee.unwrap_or(way.pointer),
            steps: way.steps.clone(),
        }
    }
}

/// Where a variable is bound; none where it is not.
pub(super) fn descriptor_place(module: &Module, variable: Id) -> Option<ReadDescriptor> {
    let number = |decoration| match module.decoration(variable, decoration)?.operands.first() {
        Some(Operand::LiteralBit32(number)) => Some(*number),
        _ => None,
    };
    Some(ReadDescriptor {
        set: number(Decoration::DescriptorSet)?,
        binding: number(Decoration::Binding)?,
    })
}

fn is_group_count(module: &Module, variable: Id) -> bool {
    let builtin = module.decoration(variable, Decoration::BuiltIn);
    let count = Operand::BuiltIn(BuiltIn::NumWorkgroups);
    builtin.is_some_and(|builtin| builtin.operands.first() == Some(&count))
}

/// Whether a part, or one inside it, is declared coherent or volatile.
fn coherence_of(pointers: &PointerAnalysis<'_>, path: &ObjectPath) -> Coherence {
    let decorations = [Decoration::Coherent, Decoration::Volatile];
    let module = pointers.module;
    let variable =
        decorations.iter().any(|kind| module.decoration(path.declaration, *kind).is_some());
    let mut contents = match module.definition(path.declaration) {
        Some(declaration) => pointers
            .types
            .variable_contents(declaration)
            .map_or(path.declaration, |(_, contents)| contents),
        None => path.declaration,
    };
    let mut steps = path.steps.iter();
    let mut is_coherent = variable;
    loop {
        match (pointers.types.get(contents), steps.next()) {
            (Some(Type::Structure { members, .. }), step) => {
                let stepped = match step {
                    Some(PathStep::Member(member)) => Some(*member),
                    Some(PathStep::Element(_)) | None => None,
                };
                let members_meant = match stepped {
                    Some(member) => member..member + 1,
                    None => 0..members.len() as u32,
                };
                is_coherent |= members_meant.into_iter().any(|member| {
                    decorations
                        .iter()
                        .any(|kind| module.member_decoration(contents, member, *kind).is_some())
                });
                match stepped.and_then(|member| members.get(member as usize)) {
                    Some(member) => contents = member.ty,
                    None => break,
                }
            }
            (Some(_), Some(_)) => match pointers.types.component_type(contents, 0) {
                Some(element) => contents = element,
                None => break,
            },
            (Some(_) | None, _) => break,
        }
    }
    if is_coherent { Coherence::Coherent } else { Coherence::Ordinary }
}
