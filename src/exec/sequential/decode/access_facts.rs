//! Facts of accesses from a module: scopes, semantics, coherence, availability and visibility.
//!
//! Knows: memory operands and image operands of accesses, scope and semantics of atomics, the
//! decorations Coherent and Volatile of variables and members (SPIR-V specification, "Memory
//! Operands", "Scope", "Decoration"; Vulkan specification, "Memory Model").
//! Promises: in a module of the Vulkan memory model an access is private unless it is marked
//! NonPrivate; in other modules none is private, and fences make writes available and visible
//! themselves.
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

pub(crate) fn declared_model(module: &Module) -> DeclaredModel {
    let is_vulkan = module.instructions.iter().any(|instruction| {
        instruction.op == Op::MemoryModel
            && instruction.operands.contains(&Operand::MemoryModel(MemoryModel::Vulkan))
    });
    if is_vulkan { DeclaredModel::Vulkan } else { DeclaredModel::Implicit }
}

struct FactsReader<'a> {
    module: &'a Module,
    types: &'a Types,
    constants: &'a Constants,
    declared: DeclaredModel,
}

impl FactsReader<'_> {
    /// The facts of an instruction that accesses memory; none for any other.
    pub(crate) fn access_facts(&self, instruction: &Instruction) -> Option<AccessFacts> {
        let pointer_id = match instruction.op {
            Op::Load
            | Op::Store
            | Op::CopyMemory
            | Op::ImageRead
            | Op::ImageWrite
            | Op::ImageFetch => instruction.id(0)?,
            Op::CooperativeMatrixLoadKHR | Op::CooperativeMatrixStoreKHR => instruction.id(0)?,
            op if is_atomic_opcode(op) => instruction.id(0)?,
            _ => return None,
        };
        let is_coherent = self.is_coherent(pointer_id);
        if is_atomic_opcode(instruction.op) {
            let fence = self.fence_at(instruction, [1, 2])?;
            let byte_width = self.atomic_width(instruction).unwrap_or(32) / 8;
            let scope_reach = Some(fence.reach());
            let atomic = Some(Atomicity { fence, bytes: byte_width });
            return Some(AccessFacts {
                coherent: true,
                available: scope_reach,
                visible: scope_reach,
                atomic,
                ..AccessFacts::default()
            });
        }
        let (is_non_private, available_scope, visible_scope) = self.scopes_of_operands(instruction);
        let is_private = self.declared == DeclaredModel::Vulkan && !is_non_private;
        let privacy = if is_private { Privacy::Private } else { Privacy::NonPrivate };
        Some(AccessFacts {
            privacy,
            coherent: is_coherent,
            available: available_scope,
            visible: visible_scope,
            atomic: None,
        })
    }

    /// Width in bits of the number that an atomic accesses.
    fn atomic_width(&self, instruction: &Instruction) -> Option<u32> {
        let type_id = match instruction.op {
            Op::AtomicStore => self.type_of(instruction.id(3)?)?,
            _ => instruction.result_type?,
        };
        self.types.scalar_width(type_id)
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.module.definition(id).and_then(|definition| definition.result_type)
    }

    /// The scope and semantics at two operands.
    fn fence_at(
        &self,
        instruction: &Instruction,
        [scope_operand, semantics_operand]: [usize; 2],
    ) -> Option<Fence> {
        let constant_at = |operand_index: usize| {
            instruction.id(operand_index).and_then(|id| self.constants.scalar_word(id))
        };
        Some(Fence {
            scope: constant_at(scope_operand)?,
            semantics: constant_at(semantics_operand)?,
        })
    }

    /// The fence of a barrier; none if it orders nothing.
    pub(crate) fn ordering_fence(&self, instruction: &Instruction) -> Option<Fence> {
        let fence = match instruction.op {
            Op::MemoryBarrier => self.fence_at(instruction, [0, 1]),
            Op::ControlBarrier => self.fence_at(instruction, [1, 2]),
            _ => None,
        };
        fence.filter(|fence| fence.orders_anything())
    }

    /// NonPrivate, and the scopes of MakeAvailable and MakeVisible.
    fn scopes_of_operands(
        &self,
        instruction: &Instruction,
    ) -> (bool, Option<Scope>, Option<Scope>) {
        let scope_at = |operand_index: usize| match instruction.operands.get(operand_index) {
            Some(Operand::IdScope(id) | Operand::IdRef(id)) => {
                self.constants.scalar_word(*id).map(Scope::from_number)
            }
            _ => None,
        };
        for (operand_index, operand) in instruction.operands.iter().enumerate() {
            match operand {
                Operand::MemoryAccess(flags) => {
                    let mut next_operand =
                        operand_index + 1 + usize::from(flags.contains(MemoryAccess::ALIGNED));
                    let mut scope_taken = |flag: MemoryAccess| {
                        let has_flag = flags.contains(flag);
                        let scope = if has_flag { scope_at(next_operand) } else { None };
                        next_operand += usize::from(has_flag);
                        scope
                    };
                    let available_scope = scope_taken(MemoryAccess::MAKE_POINTER_AVAILABLE);
                    let visible_scope = scope_taken(MemoryAccess::MAKE_POINTER_VISIBLE);
                    return (
                        flags.contains(MemoryAccess::NON_PRIVATE_POINTER),
                        available_scope,
                        visible_scope,
                    );
                }
                Operand::ImageOperands(flags) => {
                    // One id each, but for the two of Grad, in the order of the bits.
                    let lower_flags =
                        flags.bits() & (ImageOperands::MAKE_TEXEL_AVAILABLE.bits() - 1);
                    let gradient_operand = usize::from(flags.contains(ImageOperands::GRAD));
                    let first_scope =
                        operand_index + 1 + lower_flags.count_ones() as usize + gradient_operand;
                    let has_flag = flags.contains(ImageOperands::MAKE_TEXEL_AVAILABLE);
                    let available_scope = if has_flag { scope_at(first_scope) } else { None };
                    let visible_scope = if flags.contains(ImageOperands::MAKE_TEXEL_VISIBLE) {
                        scope_at(first_scope + usize::from(has_flag))
                    } else {
                        None
                    };
                    return (
                        flags.contains(ImageOperands::NON_PRIVATE_TEXEL),
                        available_scope,
                        visible_scope,
                    );
                }
                _ => {}
            }
        }
        (false, None, None)
    }

    /// Whether a pointer, or an image that was loaded through one, leads to memory that is declared
    /// coherent or volatile.
    fn is_coherent(&self, id: Id) -> bool {
        let is_decorated = |decorated_id: Id| {
            let decorations = [Decoration::Coherent, Decoration::Volatile];
            decorations
                .into_iter()
                .any(|decoration| self.module.decoration(decorated_id, decoration).is_some())
        };
        let mut current_id = id;
        loop {
            if is_decorated(current_id) {
                return true;
            }
            let Some(definition) = self.module.definition(current_id) else { return false };
            let is_untyped = is_untyped_chain(definition.op);
            let is_chain = is_untyped
                || matches!(
                    definition.op,
                    Op::AccessChain
                        | Op::InBoundsAccessChain
                        | Op::PtrAccessChain
                        | Op::InBoundsPtrAccessChain
                );
            if is_chain && self.has_coherent_member(definition) {
                return true;
            }
            // A loaded pointer leads elsewhere than the pointer that it was loaded through.
            let is_loaded_value =
                definition.op == Op::Load && !self.is_pointer(definition.result_type);
            let leads_onwards = is_chain
                || is_loaded_value
                || matches!(
                    definition.op,
                    Op::CopyObject | Op::ImageTexelPointer | Op::SampledImage
                );
            match definition.id(usize::from(is_untyped)) {
                Some(base_id) if leads_onwards => current_id = base_id,
                _ => return false,
            }
        }
    }

    fn is_pointer(&self, type_id: Option<Id>) -> bool {
        matches!(
            type_id.and_then(|ty| self.types.get(ty)),
            Some(Type::Pointer { .. } | Type::UntypedPointer { .. })
        )
    }

    /// Whether an access chain goes through a member that is coherent or volatile.
    fn has_coherent_member(&self, chain: &Instruction) -> bool {
        let base_type = match is_untyped_chain(chain.op) {
            true => chain.id(0),
            false => chain
                .id(0)
                .and_then(|base_type| self.type_of(base_type))
                .and_then(|type_id| self.types.pointee(type_id)),
        };
        let skipped_operands = match chain.op {
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => 3,
            Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR => 2,
            _ => 1,
        };
        let Some(mut type_id) = base_type else { return false };
        for index_id in chain.ids().skip(skipped_operands) {
            let member_index = self.constants.scalar_word(index_id).unwrap_or(0);
            let inner_type = match self.types.get(type_id) {
                Some(Type::Structure { members, .. }) => {
                    let decorations = self.module.member_decorations(type_id, member_index);
                    let is_coherent = |decoration: Decoration| {
                        matches!(decoration, Decoration::Coherent | Decoration::Volatile)
                    };
                    if decorations.iter().any(|decoration| is_coherent(decoration.decoration)) {
                        return true;
                    }
                    members.get(member_index as usize).map(|member| member.ty)
                }
                _ => self.types.component_type(type_id, 0),
            };
            match inner_type {
                Some(inner_type) => type_id = inner_type,
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

fn is_atomic_opcode(op: Op) -> bool {
    opcodes::effect_of(op) == Some(Effect::Atomic)
}

impl FactsByInstruction {
    pub fn from_module(module: &Module, types: &Types, constants: &Constants) -> Self {
        let declared = declared_model(module);
        let reader = FactsReader { module, types, constants, declared };
        let accesses = module.instructions.iter().enumerate();
        let facts = accesses.filter_map(|(index, instruction)| {
            Some((index as u32, reader.access_facts(instruction)?))
        });
        let mut facts_table = Self::from_facts(declared, facts);
        let atomics = || facts_table.atomics();
        let first_width = atomics().next().map(|atomic| atomic.bytes);
        let reaches_device = |fence: Fence| fence.reach() == Scope::Device;
        let fences =
            module.instructions.iter().filter_map(|instruction| reader.ordering_fence(instruction));
        let all_device = fences.into_iter().all(reaches_device)
            && atomics().all(|atomic| reaches_device(atomic.fence));
        let all_alike = atomics()
            .all(|atomic| Some(atomic.bytes) == first_width && reaches_device(atomic.fence));
        (facts_table.all_reach_device, facts_table.atomics_uniform) = (all_device, all_alike);
        facts_table
    }
}
