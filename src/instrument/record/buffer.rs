//! What record code declares: the record buffer, private words, workgroup words, built-in inputs.
//!
//! Promises: only what the mode uses is declared. Nothing that the module declares is changed.

use super::plan::{RecordPlan, SingleBits};
use crate::form::copy_stride;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Decoration, MemoryModel, Op, Scope, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::records::{RecordBuffer, RecordMode, Witnesses};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::rewrite::ModuleDraft;

/// Declared ids that the record code needs.
pub(super) struct RecordStorage {
    pub mode: RecordMode,
    pub witnesses: Witnesses,
    /// Data words.
    pub words: u32,
    pub uint: Id,
    pub boolean: Id,
    pub void: Id,
    /// Pointer from the buffer to one word.
    pub word_pointer: Id,
    pub buffer: Id,
    /// Private variable per data word that has gathered bits.
    pub gathered: BTreeMap<u32, Id>,
    /// Private variable per bit that has one of its own.
    pub flags: BTreeMap<u32, Id>,
    /// The function that hands over one bit.
    pub set_one: Option<Id>,
    /// The function that tells the witness of the bits of a word.
    pub tell_witnesses: Option<Id>,
    /// The copy of the data words that is the workgroup's, where there are several.
    pub copy: Option<GroupCopy>,
    /// The invocation's rank, where slots or witnesses need it.
    pub rank: Option<InvocationRank>,
    /// Array in workgroup memory, with the pointer type of an element.
    pub shared: Option<SharedWords>,
    /// Where each gathered word stands in the workgroup's array.
    pub shared_places: BTreeMap<u32, u32>,
    pub scope: Id,
    pub workgroup_scope: Id,
    pub relaxed: Id,
    /// The word with the bit that every invocation sets, if there is one: its first new bits write
    /// the canary.
    pub canary_word: Option<u32>,
    /// Whether single bits share words with gathered ones.
    pub single_bits: SingleBits,
}

/// A workgroup's copy of the data words.
#[derive(Clone, Copy)]
pub(super) struct GroupCopy {
    /// Private variable: the index of its first word in the buffer.
    pub first: Id,
    pub workgroup: BuiltInInput,
    pub triple: Id,
    pub copies: u32,
    pub stride: u32,
}

/// Inputs that a rank is computed of.
#[derive(Clone, Copy)]
pub(super) struct InvocationRank {
    /// Private variables: the rank, and for slots the number of invocations.
    pub value: Id,
    pub invocations: Id,
    pub workgroup: BuiltInInput,
    pub local: BuiltInInput,
    pub triple: Id,
}

/// A built-in input variable.
#[derive(Clone, Copy)]
pub(super) struct BuiltInInput {
    pub variable: Id,
    /// The type it is declared with.
    pub ty: Id,
    /// Whether it has been declared for the records.
    pub added: InputOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InputOrigin {
    Yes,
    No,
}

#[derive(Clone, Copy)]
pub(super) struct SharedWords {
    pub array: Id,
    pub element_pointer: Id,
    pub local: BuiltInInput,
}

impl RecordStorage {
    pub(super) fn declare_all(
        draft: &mut ModuleDraft,
        marked_module: &Module,
        record_buffer: &RecordBuffer,
        entry_function: Id,
        plan: &RecordPlan,
    ) -> Self {
        let uint = draft.uint_type();
        let (buffer_variable, word_pointer) = declare_buffer(draft, uint, record_buffer.set);
        let gathered = declare_gathered(draft, uint, plan);
        let flags = plan.flags.iter().map(|bit| (*bit, private_word(draft, uint))).collect();
        let witnesses_recorded = record_buffer.witnesses == Witnesses::Recorded
            && record_buffer.mode != RecordMode::Slots;
        let needs_rank = witnesses_recorded || record_buffer.mode == RecordMode::Slots;
        let declared_rank =
            needs_rank.then(|| declare_rank(draft, marked_module, uint, entry_function));
        let needs_shared = record_buffer.mode == RecordMode::Workgroup && !gathered.is_empty();
        let shared_words = needs_shared.then(|| {
            declare_shared(
                draft,
                marked_module,
                uint,
                gathered.len() as u32,
                entry_function,
                declared_rank.map(|rank| rank.local),
            )
        });
        let group_copy = (record_buffer.copies > 1).then(|| {
            declare_copy(
                draft,
                marked_module,
                uint,
                record_buffer,
                entry_function,
                declared_rank.map(|rank| rank.workgroup),
            )
        });
        let single_bits = plan.single_bits;
        Self {
            copy: group_copy,
            mode: record_buffer.mode,
            witnesses: record_buffer.witnesses,
            words: record_buffer.words,
            uint,
            boolean: draft.declare_type(Op::TypeBool, Vec::new()),
            void: draft.declare_type(Op::TypeVoid, Vec::new()),
            word_pointer,
            buffer: buffer_variable,
            set_one: (single_bits == SingleBits::Used).then(|| draft.fresh_id()),
            tell_witnesses: (witnesses_recorded && !gathered.is_empty()).then(|| draft.fresh_id()),
            rank: declared_rank,
            shared: shared_words,
            shared_places: gathered.keys().copied().zip(0..).collect(),
            scope: draft.uint_constant(device_scope(marked_module)),
            workgroup_scope: draft.uint_constant(Scope::Workgroup as u32),
            relaxed: draft.uint_constant(0),
            canary_word: plan.certain_word(marked_module, entry_function),
            gathered,
            flags,
            single_bits,
        }
    }

    /// Global variables of the record code that the entry point's interface lists: from SPIR-V 1.4
    /// on all of them, before only inputs and outputs (SPIR-V specification, OpEntryPoint).
    pub(super) fn interface_variables(
        &self,
        version: (u8, u8),
    ) -> impl Iterator<Item = Id> + use<> {
        let mut interface_variables: Vec<Id> = Vec::new();
        let inputs_of_rank = self.rank.iter().flat_map(|rank| [rank.workgroup, rank.local]);
        let inputs_of_copy = self.copy.iter().map(|copy| copy.workgroup);
        for input in inputs_of_rank
            .chain(self.shared.iter().map(|shared| shared.local))
            .chain(inputs_of_copy)
        {
            if input.added == InputOrigin::Yes && !interface_variables.contains(&input.variable) {
                interface_variables.push(input.variable);
            }
        }
        if version >= (1, 4) {
            interface_variables.push(self.buffer);
            interface_variables.extend(self.gathered.values().chain(self.flags.values()));
            interface_variables
                .extend(self.rank.iter().flat_map(|rank| [rank.value, rank.invocations]));
            interface_variables.extend(self.shared.iter().map(|shared| shared.array));
            interface_variables.extend(self.copy.iter().map(|copy| copy.first));
        }
        interface_variables.into_iter()
    }

    pub(super) fn needed_capabilities(&self) -> Vec<Capability> {
        match self.mode {
            RecordMode::Subgroup => {
                vec![Capability::GroupNonUniform, Capability::GroupNonUniformArithmetic]
            }
            RecordMode::Private
            | RecordMode::Workgroup
            | RecordMode::Direct
            | RecordMode::Slots => Vec::new(),
        }
    }
}

/// The first descriptor set that no variable of the module is in.
pub(super) fn unused_set(module: &Module) -> u32 {
    let decorations =
        module.instructions.iter().filter(|instruction| instruction.op == Op::Decorate);
    let used_sets: BTreeSet<u32> = decorations
        .filter_map(|instruction| match instruction.operands.as_slice() {
            [_, Operand::Decoration(Decoration::DescriptorSet), Operand::LiteralBit32(set)] => {
                Some(*set)
            }
            _ => None,
        })
        .collect();
    (0..).find(|set| !used_sets.contains(set)).expect("finitely many sets are used")
}

/// Device scope, or queue family scope where the Vulkan memory model would ask for a capability to
/// use Device.
fn device_scope(module: &Module) -> u32 {
    let is_vulkan_model = module.instructions.iter().any(|instruction| {
        instruction.op == Op::MemoryModel
            && instruction.operands.get(1) == Some(&Operand::MemoryModel(MemoryModel::Vulkan))
    });
    if is_vulkan_model { Scope::QueueFamily as u32 } else { Scope::Device as u32 }
}

/// Declares `buffer { uint words[]; }`; returns the variable and the type of a pointer to one word.
fn declare_buffer(draft: &mut ModuleDraft, uint_type: Id, set: u32) -> (Id, Id) {
    let array_type = draft.word_array();
    let storage_block = draft.storage_block(array_type, set, 0);
    draft.add_name(storage_block.variable, "vkcert_records");
    (storage_block.variable, draft.pointer_type(storage_block.class, uint_type))
}

/// Declares one private variable for each data word that bits are gathered in.
fn declare_gathered(
    draft: &mut ModuleDraft,
    uint_type: Id,
    plan: &RecordPlan,
) -> BTreeMap<u32, Id> {
    plan.gathered.iter().map(|word| (*word, private_word(draft, uint_type))).collect()
}

/// A private word that starts as zero.
fn private_word(draft: &mut ModuleDraft, uint_type: Id) -> Id {
    let pointer = draft.pointer_type(StorageClass::Private, uint_type);
    let zero = draft.uint_constant(0);
    let operands = vec![Operand::StorageClass(StorageClass::Private), Operand::IdRef(zero)];
    draft.declare(Op::Variable, Some(pointer), operands)
}

fn declare_rank(
    draft: &mut ModuleDraft,
    marked_module: &Module,
    uint_type: Id,
    entry_function: Id,
) -> InvocationRank {
    let vector_type = draft
        .declare_type(Op::TypeVector, vec![Operand::IdRef(uint_type), Operand::LiteralBit32(3)]);
    InvocationRank {
        value: private_word(draft, uint_type),
        invocations: private_word(draft, uint_type),
        workgroup: built_in_input(
            draft,
            marked_module,
            entry_function,
            BuiltIn::WorkgroupId,
            vector_type,
        ),
        local: built_in_input(
            draft,
            marked_module,
            entry_function,
            BuiltIn::LocalInvocationIndex,
            uint_type,
        ),
        triple: vector_type,
    }
}

fn declare_copy(
    draft: &mut ModuleDraft,
    marked_module: &Module,
    uint_type: Id,
    record_buffer: &RecordBuffer,
    entry_function: Id,
    known_input: Option<BuiltInInput>,
) -> GroupCopy {
    let vector_type = draft
        .declare_type(Op::TypeVector, vec![Operand::IdRef(uint_type), Operand::LiteralBit32(3)]);
    GroupCopy {
        first: private_word(draft, uint_type),
        workgroup: known_input.unwrap_or_else(|| {
            built_in_input(draft, marked_module, entry_function, BuiltIn::WorkgroupId, vector_type)
        }),
        triple: vector_type,
        copies: record_buffer.copies,
        stride: copy_stride(record_buffer.words, record_buffer.copies),
    }
}

fn declare_shared(
    draft: &mut ModuleDraft,
    marked_module: &Module,
    uint_type: Id,
    word_count: u32,
    entry_function: Id,
    known_input: Option<BuiltInInput>,
) -> SharedWords {
    let length_constant = draft.uint_constant(word_count);
    let array_type = draft.declare(
        Op::TypeArray,
        None,
        vec![Operand::IdRef(uint_type), Operand::IdRef(length_constant)],
    );
    let array_pointer = draft.pointer_type(StorageClass::Workgroup, array_type);
    let shared_array = draft.declare(
        Op::Variable,
        Some(array_pointer),
        vec![Operand::StorageClass(StorageClass::Workgroup)],
    );
    draft.add_name(shared_array, "vkcert_workgroup_records");
    SharedWords {
        array: shared_array,
        element_pointer: draft.pointer_type(StorageClass::Workgroup, uint_type),
        local: known_input.unwrap_or_else(|| {
            built_in_input(
                draft,
                marked_module,
                entry_function,
                BuiltIn::LocalInvocationIndex,
                uint_type,
            )
        }),
    }
}

/// The input variable of a built-in: an entry point may have only one.
fn built_in_input(
    draft: &mut ModuleDraft,
    marked_module: &Module,
    entry_function: Id,
    built_in: BuiltIn,
    type_id: Id,
) -> BuiltInInput {
    let entry_points = marked_module
        .entry_points
        .iter()
        .filter(|entry_point| entry_point.function == entry_function);
    let mut interface_variables =
        entry_points.flat_map(|entry_point| entry_point.interface.iter().copied());
    let wanted_operands = [Operand::BuiltIn(built_in)];
    let existing_input = interface_variables.find_map(|variable| {
        let decorated = marked_module.decoration(variable, Decoration::BuiltIn)?;
        let pointer = marked_module.definition(marked_module.definition(variable)?.result_type?)?;
        (decorated.operands == wanted_operands).then_some((variable, pointer.id(1)?))
    });
    match existing_input {
        Some((variable, declared_type)) => {
            BuiltInInput { variable, ty: declared_type, added: InputOrigin::No }
        }
        None => {
            let variable = draft.built_in(built_in, type_id);
            BuiltInInput { variable, ty: type_id, added: InputOrigin::Yes }
        }
    }
}
