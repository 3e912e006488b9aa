//! What record code declares: the record buffer, private words, workgroup words, built-in inputs.
//!
//! Promises: only what the mode uses is declared. Nothing that the module declares is changed.

use super::plan::{Plan, SingleBits};
use crate::form::stride;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Decoration, MemoryModel, Op, Scope, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::records::{RecordBuffer, RecordMode, Witnesses};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::rewrite::ModuleDraft;

/// Declared ids that the record code needs.
pub(super) struct Storage {
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
    pub rank: Option<Rank>,
    /// Array in workgroup memory, with the pointer type of an element.
    pub shared: Option<Shared>,
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
    pub workgroup: Input,
    pub triple: Id,
    pub copies: u32,
    pub stride: u32,
}

/// Inputs that a rank is computed of.
#[derive(Clone, Copy)]
pub(super) struct Rank {
    /// Private variables: the rank, and for slots the number of invocations.
    pub value: Id,
    pub invocations: Id,
    pub workgroup: Input,
    pub local: Input,
    pub triple: Id,
}

/// A built-in input variable.
#[derive(Clone, Copy)]
pub(super) struct Input {
    pub variable: Id,
    /// The type it is declared with.
    pub ty: Id,
    /// Whether it has been declared for the records.
    pub added: Added,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Yes,
    No,
}

#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub array: Id,
    pub element_pointer: Id,
    pub local: Input,
}

impl Storage {
    pub(super) fn declare(
        draft: &mut ModuleDraft,
        marked: &Module,
        buffer: &RecordBuffer,
        entry: Id,
        plan: &Plan,
    ) -> Self {
        let uint = draft.uint_type();
        let (variable, word_pointer) = declare_buffer(draft, uint, buffer.set);
        let gathered = declare_gathered(draft, uint, plan);
        let flags = plan.flags.iter().map(|bit| (*bit, private_word(draft, uint))).collect();
        let recorded = buffer.witnesses == Witnesses::Recorded && buffer.mode != RecordMode::Slots;
        let ranked = recorded || buffer.mode == RecordMode::Slots;
        let rank = ranked.then(|| declare_rank(draft, marked, uint, entry));
        let shared = buffer.mode == RecordMode::Workgroup && !gathered.is_empty();
        let known = rank.map(|rank| rank.local);
        let shared = shared
            .then(|| declare_shared(draft, marked, uint, gathered.len() as u32, entry, known));
        let known = rank.map(|rank| rank.workgroup);
        let copy =
            (buffer.copies > 1).then(|| declare_copy(draft, marked, uint, buffer, entry, known));
        let single_bits = plan.single_bits;
        Self {
            copy,
            mode: buffer.mode,
            witnesses: buffer.witnesses,
            words: buffer.words,
            uint,
            boolean: draft.declare_type(Op::TypeBool, Vec::new()),
            void: draft.declare_type(Op::TypeVoid, Vec::new()),
            word_pointer,
            buffer: variable,
            set_one: (single_bits == SingleBits::Used).then(|| draft.fresh_id()),
            tell_witnesses: (recorded && !gathered.is_empty()).then(|| draft.fresh_id()),
            rank,
            shared,
            shared_places: gathered.keys().copied().zip(0..).collect(),
            scope: draft.uint_constant(device_scope(marked)),
            workgroup_scope: draft.uint_constant(Scope::Workgroup as u32),
            relaxed: draft.uint_constant(0),
            canary_word: plan.certain_word(marked, entry),
            gathered,
            flags,
            single_bits,
        }
    }

    /// Global variables of the record code that the entry point's interface lists: from SPIR-V 1.4
    /// on all of them, before only inputs and outputs (SPIR-V specification, OpEntryPoint).
    pub(super) fn interface(&self, version: (u8, u8)) -> impl Iterator<Item = Id> + use<> {
        let mut inputs: Vec<Id> = Vec::new();
        let inputs_of_rank = self.rank.iter().flat_map(|rank| [rank.workgroup, rank.local]);
        let of_copy = self.copy.iter().map(|copy| copy.workgroup);
        for input in
            inputs_of_rank.chain(self.shared.iter().map(|shared| shared.local)).chain(of_copy)
        {
            if input.added == Added::Yes && !inputs.contains(&input.variable) {
                inputs.push(input.variable);
            }
        }
        if version >= (1, 4) {
            inputs.push(self.buffer);
            inputs.extend(self.gathered.values().chain(self.flags.values()));
            inputs.extend(self.rank.iter().flat_map(|rank| [rank.value, rank.invocations]));
            inputs.extend(self.shared.iter().map(|shared| shared.array));
            inputs.extend(self.copy.iter().map(|copy| copy.first));
        }
        inputs.into_iter()
    }

    pub(super) fn capabilities(&self) -> Vec<Capability> {
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
    let decorations = module.instructions.iter().filter(|i| i.op == Op::Decorate);
    let used: BTreeSet<u32> = decorations
        .filter_map(|i| match i.operands.as_slice() {
            [_, Operand::Decoration(Decoration::DescriptorSet), Operand::LiteralBit32(set)] => {
                Some(*set)
            }
            _ => None,
        })
        .collect();
    (0..).find(|set| !used.contains(set)).expect("finitely many sets are used")
}

/// Device scope, or queue family scope where the Vulkan memory model would ask for a capability to
/// use Device.
fn device_scope(module: &Module) -> u32 {
    let vulkan = module.instructions.iter().any(|i| {
        i.op == Op::MemoryModel
            && i.operands.get(1) == Some(&Operand::MemoryModel(MemoryModel::Vulkan))
    });
    if vulkan { Scope::QueueFamily as u32 } else { Scope::Device as u32 }
}

/// Declares `buffer { uint words[]; }`; returns the variable and the type of a pointer to one word.
fn declare_buffer(draft: &mut ModuleDraft, uint: Id, set: u32) -> (Id, Id) {
    let words = draft.word_array();
    let block = draft.storage_block(words, set, 0);
    draft.add_name(block.variable, "vkcert_records");
    (block.variable, draft.pointer_type(block.class, uint))
}

/// Declares one private variable for each data word that bits are gathered in.
fn declare_gathered(draft: &mut ModuleDraft, uint: Id, plan: &Plan) -> BTreeMap<u32, Id> {
    plan.gathered.iter().map(|word| (*word, private_word(draft, uint))).collect()
}

/// A private word that starts as zero.
fn private_word(draft: &mut ModuleDraft, uint: Id) -> Id {
    let pointer = draft.pointer_type(StorageClass::Private, uint);
    let zero = draft.uint_constant(0);
    let operands = vec![Operand::StorageClass(StorageClass::Private), Operand::IdRef(zero)];
    draft.declare(Op::Variable, Some(pointer), operands)
}

fn declare_rank(draft: &mut ModuleDraft, marked: &Module, uint: Id, entry: Id) -> Rank {
    let triple =
        draft.declare_type(Op::TypeVector, vec![Operand::IdRef(uint), Operand::LiteralBit32(3)]);
    Rank {
        value: private_word(draft, uint),
        invocations: private_word(draft, uint),
        workgroup: input(draft, marked, entry, BuiltIn::WorkgroupId, triple),
        local: input(draft, marked, entry, BuiltIn::LocalInvocationIndex, uint),
        triple,
    }
}

fn declare_copy(
    draft: &mut ModuleDraft,
    marked: &Module,
    uint: Id,
    buffer: &RecordBuffer,
    entry: Id,
    known: Option<Input>,
) -> GroupCopy {
    let triple =
        draft.declare_type(Op::TypeVector, vec![Operand::IdRef(uint), Operand::LiteralBit32(3)]);
    GroupCopy {
        first: private_word(draft, uint),
        workgroup: known
            .unwrap_or_else(|| input(draft, marked, entry, BuiltIn::WorkgroupId, triple)),
        triple,
        copies: buffer.copies,
        stride: stride(buffer.words, buffer.copies),
    }
}

fn declare_shared(
    draft: &mut ModuleDraft,
    marked: &Module,
    uint: Id,
    words: u32,
    entry: Id,
    known: Option<Input>,
) -> Shared {
    let length = draft.uint_constant(words);
    let array =
        draft.declare(Op::TypeArray, None, vec![Operand::IdRef(uint), Operand::IdRef(length)]);
    let pointer = draft.pointer_type(StorageClass::Workgroup, array);
    let array = draft.declare(
        Op::Variable,
        Some(pointer),
        vec![Operand::StorageClass(StorageClass::Workgroup)],
    );
    draft.add_name(array, "vkcert_workgroup_records");
    Shared {
        array,
        element_pointer: draft.pointer_type(StorageClass::Workgroup, uint),
        local: known
            .unwrap_or_else(|| input(draft, marked, entry, BuiltIn::LocalInvocationIndex, uint)),
    }
}

/// The input variable of a built-in: an entry point may have only one.
fn input(draft: &mut ModuleDraft, marked: &Module, entry: Id, builtin: BuiltIn, ty: Id) -> Input {
    let points = marked.entry_points.iter().filter(|point| point.function == entry);
    let mut listed = points.flat_map(|point| point.interface.iter().copied());
    let wanted = [Operand::BuiltIn(builtin)];
    let existing = listed.find_map(|variable| {
        let decorated = marked.decoration(variable, Decoration::BuiltIn)?;
        let pointer = marked.definition(marked.definition(variable)?.result_type?)?;
        (decorated.operands == wanted).then_some((variable, pointer.id(1)?))
    });
    match existing {
        Some((variable, ty)) => Input { variable, ty, added: Added::No },
        None => {
            let variable = draft.built_in(builtin, ty);
            Input { variable, ty, added: Added::Yes }
        }
    }
}
