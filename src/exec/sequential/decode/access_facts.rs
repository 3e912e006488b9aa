//! What a module says of its accesses beside where they go: scopes, semantics, coherence,
//! availability and visibility.
//!
//! Knows: memory operands and image operands of accesses, scope and semantics of atomics, the
//! decorations Coherent and Volatile of variables and members (SPIR-V specification, "Memory
//! Operands", "Scope", "Decoration"; Vulkan specification, "Memory Model").
//! Promises: in a module of the Vulkan memory model an access is private unless it says otherwise;
//! in other modules none is, and fences make writes available and visible themselves.
//! Does not cover: the source of OpCopyMemory, which counts as its target; pointers that come
//! through parameters of functions, of which only the parameter's own decorations count.

use crate::ir::access_facts::{AccessFacts, Atomicity, DeclaredModel, FactsByInstruction, Privacy};
use crate::ir::memory_semantics::{Fence, Scope};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, ImageOperands, MemoryAccess, MemoryModel, Op};
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::{Id, Instruction, Module};
use vkcert_spirv::opcodes::{self, Effect};
use vkcert_spirv::types::{Type, Types};

pub(crate) fn declared(module: &Module) -> DeclaredModel {
    let vulkan = module.instructions.iter().any(|one| {
        one.op == Op::MemoryModel
            && one.operands.contains(&Operand::MemoryModel(MemoryModel::Vulkan))
    });
    if vulkan { DeclaredModel::Vulkan } else { DeclaredModel::Implicit }
}

struct Reader<'a> {
    module: &'a Module,
    types: &'a Types,
    constants: &'a Constants,
    declared: DeclaredModel,
}

impl Reader<'_> {
    /// Of an instruction that accesses memory.
    pub(crate) fn facts(&self, instruction: &Instruction) -> Option<AccessFacts> {
        let pointer = match instruction.op {
            Op::Load
            | Op::Store
            | Op::CopyMemory
            | Op::ImageRead
            | Op::ImageWrite
            | Op::ImageFetch => instruction.id(0)?,
            Op::CooperativeMatrixLoadKHR | Op::CooperativeMatrixStoreKHR => instruction.id(0)?,
            op if is_atomic(op) => instruction.id(0)?,
            _ => return None,
        };
        let coherent = self.coherent(pointer);
        if is_atomic(instruction.op) {
            let fence = self.fence_at(instruction, [1, 2])?;
            let bytes = self.atomic_width(instruction).unwrap_or(32) / 8;
            let reach = Some(fence.reach());
            let atomic = Some(Atomicity { fence, bytes });
            return Some(AccessFacts {
                coherent: true,
                available: reach,
                visible: reach,
                atomic,
                ..AccessFacts::default()
            });
        }
        let (nonprivate, available, visible) = self.operands(instruction);
        let private = self.declared == DeclaredModel::Vulkan && !nonprivate;
        let privacy = if private { Privacy::Private } else { Privacy::NonPrivate };
        Some(AccessFacts { privacy, coherent, available, visible, atomic: None })
    }

    /// Bits of what an atomic accesses.
    fn atomic_width(&self, instruction: &Instruction) -> Option<u32> {
        let ty = match instruction.op {
            Op::AtomicStore => self.type_of(instruction.id(3)?)?,
            _ => instruction.result_type?,
        };
        self.types.scalar_width(ty)
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(id).and_then(|definition| definition.result_type)
    }

    /// The scope and semantics at two operands.
    fn fence_at(&self, instruction: &Instruction, [scope, semantics]: [usize; 2]) -> Option<Fence> {
        let word = |at: usize| instruction.id(at).and_then(|id| self.constants.scalar_word(id));
        Some(Fence { scope: word(scope)?, semantics: word(semantics)? })
    }

    /// Of a barrier that orders something.
    pub(crate) fn fence(&self, instruction: &Instruction) -> Option<Fence> {
        let fence = match instruction.op {
            Op::MemoryBarrier => self.fence_at(instruction, [0, 1]),
            Op::ControlBarrier => self.fence_at(instruction, [1, 2]),
            _ => None,
        };
        fence.filter(|fence| fence.orders_anything())
    }

    /// NonPrivate, and the scopes of MakeAvailable and MakeVisible.
    fn operands(&self, instruction: &Instruction) -> (bool, Option<Scope>, Option<Scope>) {
        let scope = |at: usize| match instruction.operands.get(at) {
            Some(Operand::IdScope(id) | Operand::IdRef(id)) => {
                self.constants.scalar_word(*id).map(Scope::from_number)
            }
            _ => None,
        };
        for (at, operand) in instruction.operands.iter().enumerate() {
            match operand {
                Operand::MemoryAccess(flags) => {
                    let mut next = at + 1 + usize::from(flags.contains(MemoryAccess::ALIGNED));
                    let mut taken = |flag: MemoryAccess| {
                        let has = flags.contains(flag);
                        let taken = if has { scope(next) } else { None };
                        next += usize::from(has);
                        taken
                    };
                    let available = taken(MemoryAccess::MAKE_POINTER_AVAILABLE);
                    let visible = taken(MemoryAccess::MAKE_POINTER_VISIBLE);
                    return (flags.contains(MemoryAccess::NON_PRIVATE_POINTER), available, visible);
                }
                Operand::ImageOperands(flags) => {
                    // One id each, but for the two of Grad, in the order of the bits.
                    let before = flags.bits() & (ImageOperands::MAKE_TEXEL_AVAILABLE.bits() - 1);
                    let grad = usize::from(flags.contains(ImageOperands::GRAD));
                    let first = at + 1 + before.count_ones() as usize + grad;
                    let has = flags.contains(ImageOperands::MAKE_TEXEL_AVAILABLE);
                    let available = if has { scope(first) } else { None };
                    let visible = if flags.contains(ImageOperands::MAKE_TEXEL_VISIBLE) {
                        scope(first + usize::from(has))
                    } else {
                        None
                    };
                    return (flags.contains(ImageOperands::NON_PRIVATE_TEXEL), available, visible);
                }
                _ => {}
            }
        }
        (false, None, None)
    }

    /// Whether a pointer, or an image that was loaded through one, is of something coherent or
    /// volatile.
    fn coherent(&self, id: Id) -> bool {
        let decorated = |of: Id| {
            let decorations = [Decoration::Coherent, Decoration::Volatile];
            decorations
                .into_iter()
                .any(|decoration| self.module.decoration(of, decoration).is_some())
        };
        let mut at = id;
        loop {
            if decorated(at) {
                return true;
            }
            let Some(definition) = self.module.definition(at) else { return false };
            let untyped = is_untyped_chain(definition.op);
            let chained = untyped
                || matches!(
                    definition.op,
                    Op::AccessChain
                        | Op::InBoundsAccessChain
                        | Op::PtrAccessChain
                        | Op::InBoundsPtrAccessChain
                );
            if chained && self.coherent_member(definition) {
                return true;
            }
            // What a pointer points to is not what holds the pointer.
            let loaded = definition.op == Op::Load && !self.is_pointer(definition.result_type);
            let onwards = chained
                || loaded
                || matches!(
                    definition.op,
                    Op::CopyObject | Op::ImageTexelPointer | Op::SampledImage
                );
            match definition.id(usize::from(untyped)) {
                Some(from) if onwards => at = from,
                _ => return false,
            }
        }
    }

    fn is_pointer(&self, ty: Option<Id>) -> bool {
        matches!(
            ty.and_then(|ty| self.types.get(ty)),
            Some(Type::Pointer { .. } | Type::UntypedPointer { .. })
        )
    }

    /// Whether an access chain goes through a member that is coherent or volatile.
    fn coherent_member(&self, chain: &Instruction) -> bool {
        let base = match is_untyped_chain(chain.op) {
            true => chain.id(0),
            false => chain
                .id(0)
                .and_then(|base| self.type_of(base))
                .and_then(|ty| self.types.pointee(ty)),
        };
        let skipped = match chain.op {
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => 3,
            Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR => 2,
            _ => 1,
        };
        let Some(mut ty) = base else { return false };
        for index in chain.ids().skip(skipped) {
            let member = self.constants.scalar_word(index).unwrap_or(0);
            let inner = match self.types.get(ty) {
                Some(Type::Structure { members, .. }) => {
                    let decorations = self.module.member_decorations(ty, member);
                    let coherent = |one: Decoration| {
                        matches!(one, Decoration::Coherent | Decoration::Volatile)
                    };
                    if decorations.iter().any(|one| coherent(one.decoration)) {
                        return true;
                    }
                    members.get(member as usize).map(|member| member.ty)
                }
                _ => self.types.component_type(ty, 0),
            };
            match inner {
                Some(inner) => ty = inner,
                None => return false,
            }
        }
        false
    }
}

/// Whether an access chain has the type of its base before the base.
fn is_untyped_chain(op: Op) -> bool {
    matches!(
        op,
        Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR
            | Op::UntypedPtrAccessChainKHR
            | Op::UntypedInBoundsPtrAccessChainKHR
    )
}

fn is_atomic(op: Op) -> bool {
    opcodes::effect_of(op) == Some(Effect::Atomic)
}

impl FactsByInstruction {
    pub fn of(module: &Module, types: &Types, constants: &Constants) -> Self {
        let declared = declared(module);
        let reader = Reader { module, types, constants, declared };
        let accesses = module.instructions.iter().enumerate();
        let facts = accesses.filter_map(|(index, one)| Some((index as u32, reader.facts(one)?)));
        let mut found = Self::from_facts(declared, facts);
        let atomics = || found.atomics();
        let width = atomics().next().map(|atomic| atomic.bytes);
        let device = |fence: Fence| fence.reach() == Scope::Device;
        let fences = module.instructions.iter().filter_map(|one| reader.fence(one));
        let wide = fences.into_iter().all(device) && atomics().all(|atomic| device(atomic.fence));
        let alike = atomics().all(|atomic| Some(atomic.bytes) == width && device(atomic.fence));
        (found.all_reach_device, found.atomics_uniform) = (wide, alike);
        found
    }
}
