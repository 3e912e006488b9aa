//! Adds coverage records to a module.
//!
//! Knows: `RecordLayout`. Each invocation gathers its bits in private words, one variable per data word, and hands them
//! over once, when it ends: with an atomic or, only if a bit is new. Decisions with more than 32 numbers go to the
//! buffer at once. Each such decision has a variable of its own for the sum of its edge weights; the first condition
//! sets it, so that no evaluation sees another's.
//! Promises: a decision evaluated inside another one, in a loop or in a function called from several places records as
//! it would alone. The buffer lies in a descriptor set that the module does not use.
//! Does not cover: invocations that never reach the end of the entry point (endless loops); they hand nothing over.

use super::draft::{Draft, instruction};
use super::erase::{Recorder, declarations, emit, rewrite_functions};
use super::markers::{MarkerCall, MarkerCalls};
use crate::model::id::DecisionId;
use crate::model::records::{CANARY, DecisionSlot, RecordBuffer, RecordLayout};
use crate::model::structure::MarkerRole;
use crate::spirv::module::{Id, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, FunctionControl, Op, SelectionControl, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Words before the data words: nonce and canary.
const HEADER_WORDS: u32 = 2;
/// Decisions with more numbers than a word has bits are recorded in the buffer at once.
const GATHERED_SIZE: u32 = 32;

/// The marked module with records in place of its markers, and where it expects their buffer.
pub fn record(marked: &Module, markers: &MarkerCalls, layout: &RecordLayout, entry: Id) -> (Vec<u32>, RecordBuffer) {
    let mut draft = declarations(marked, markers);
    let set = unused_set(marked);
    let mut records = Records::declare(&mut draft, marked, layout, markers, entry, set);
    rewrite_functions(marked, markers, &mut draft, &mut records);
    records.define_flush(&mut draft);
    records.define_direct(&mut draft);
    records.extend_interface(&mut draft, marked);
    let buffer = RecordBuffer { set, binding: 0, words: layout.words() as u32, layout: layout.clone() };
    (draft.finish(), buffer)
}

/// The first descriptor set that no variable of the module is in.
fn unused_set(module: &Module) -> u32 {
    let decorations = module.instructions.iter().filter(|i| i.op == Op::Decorate);
    let used: BTreeSet<u32> = decorations
        .filter_map(|i| match i.operands.as_slice() {
            [_, Operand::Decoration(Decoration::DescriptorSet), Operand::LiteralBit32(set)] => Some(*set),
            _ => None,
        })
        .collect();
    (0..).find(|set| !used.contains(set)).expect("finitely many sets are used")
}

/// Declared ids that the record code needs.
struct Records<'a> {
    layout: &'a RecordLayout,
    entry: Id,
    uint: Id,
    boolean: Id,
    void: Id,
    /// Pointer from the buffer to one word.
    word_pointer: Id,
    buffer: Id,
    /// Private variable per data word that has gathered bits.
    gathered: BTreeMap<u32, Id>,
    /// Function variable per decision with several conditions, and the function it belongs to.
    sums: BTreeMap<DecisionId, (Id, Id)>,
    sum_pointer: Id,
    flush: Id,
    /// The function that records large decisions, where there is one.
    direct: Option<Id>,
    scope: Id,
    relaxed: Id,
}

impl<'a> Records<'a> {
    fn declare(
        draft: &mut Draft,
        marked: &Module,
        layout: &'a RecordLayout,
        markers: &MarkerCalls,
        entry: Id,
        set: u32,
    ) -> Self {
        let uint = draft.uint();
        let (buffer, word_pointer) = declare_buffer(draft, marked, uint, set);
        let gathered = declare_gathered(draft, uint, layout, markers);
        let sum_pointer = draft.pointer(StorageClass::Function, uint);
        let mut sums = BTreeMap::new();
        let mut direct = None;
        for call in markers.calls.values() {
            if let MarkerRole::Decision { decision } = call.role
                && let Some(slot) = layout.slot(decision)
                && !sums.contains_key(&decision)
            {
                sums.insert(decision, (draft.fresh(), call.function));
                if slot.size > GATHERED_SIZE {
                    direct = direct.or_else(|| Some(draft.fresh()));
                }
            }
        }
        Self {
            layout,
            entry,
            uint,
            boolean: draft.ty(Op::TypeBool, Vec::new()),
            void: draft.ty(Op::TypeVoid, Vec::new()),
            word_pointer,
            buffer,
            gathered,
            sums,
            sum_pointer,
            flush: draft.fresh(),
            direct,
            scope: draft.constant(device_scope(marked)),
            relaxed: draft.constant(0),
        }
    }

    /// `gathered[word] |= bits`
    fn gather(&self, draft: &mut Draft, word: u32, bits: Id) {
        let variable = self.gathered[&word];
        let before = emit(draft, Op::Load, self.uint, vec![Operand::IdRef(variable)]);
        let after = emit(draft, Op::BitwiseOr, self.uint, vec![Operand::IdRef(before), Operand::IdRef(bits)]);
        store(draft, variable, after);
    }

    /// `value ? if_true : if_false`
    fn select(&self, draft: &mut Draft, value: Id, if_true: u32, if_false: u32) -> Id {
        let (if_true, if_false) = (draft.constant(if_true), draft.constant(if_false));
        emit(draft, Op::Select, self.uint, [value, if_true, if_false].map(Operand::IdRef).to_vec())
    }

    fn condition(&self, draft: &mut Draft, slot: &DecisionSlot, condition: u32, value: Id) {
        let Some((variable, _)) = self.sums.get(&slot.decision) else { return };
        let [if_true, if_false] = slot.weights[condition as usize];
        // The leftmost condition is evaluated first and always: it begins the sum.
        let sum = if condition == 0 {
            let start = start_of(slot);
            self.select(draft, value, start + if_true, start + if_false)
        } else {
            let weight = self.select(draft, value, if_true, if_false);
            let before = emit(draft, Op::Load, self.uint, vec![Operand::IdRef(*variable)]);
            emit(draft, Op::IAdd, self.uint, vec![Operand::IdRef(before), Operand::IdRef(weight)])
        };
        store(draft, *variable, sum);
    }

    fn decision(&self, draft: &mut Draft, slot: &DecisionSlot) {
        let Some((variable, _)) = self.sums.get(&slot.decision) else { return };
        let sum = emit(draft, Op::Load, self.uint, vec![Operand::IdRef(*variable)]);
        match self.direct {
            Some(direct) if slot.size > GATHERED_SIZE => {
                let base = draft.constant(slot.base);
                let bit = emit(draft, Op::IAdd, self.uint, vec![Operand::IdRef(sum), Operand::IdRef(base)]);
                emit(draft, Op::FunctionCall, self.void, vec![Operand::IdRef(direct), Operand::IdRef(bit)]);
            }
            Some(_) | None => {
                let one = draft.constant(1);
                let operands = vec![Operand::IdRef(one), Operand::IdRef(sum)];
                let bit = emit(draft, Op::ShiftLeftLogical, self.uint, operands);
                self.gather(draft, slot.base / 32, bit);
            }
        }
    }

    fn word(&self, draft: &mut Draft, index: Id) -> Id {
        let member = draft.constant(0);
        emit(draft, Op::AccessChain, self.word_pointer, [self.buffer, member, index].map(Operand::IdRef).to_vec())
    }

    fn atomic_load(&self, draft: &mut Draft, word: Id) -> Id {
        let operands =
            vec![Operand::IdRef(word), Operand::IdScope(self.scope), Operand::IdMemorySemantics(self.relaxed)];
        emit(draft, Op::AtomicLoad, self.uint, operands)
    }

    fn atomic_or(&self, draft: &mut Draft, word: Id, bits: Id) {
        let mut operands = self.atomic_operands(word);
        operands.push(Operand::IdRef(bits));
        emit(draft, Op::AtomicOr, self.uint, operands);
    }

    fn atomic_operands(&self, word: Id) -> Vec<Operand> {
        vec![Operand::IdRef(word), Operand::IdScope(self.scope), Operand::IdMemorySemantics(self.relaxed)]
    }

    /// Emits `if (a != b) { then }`.
    fn if_different(&self, draft: &mut Draft, a: Id, b: Id, then: impl FnOnce(&mut Draft)) {
        let differs = emit(draft, Op::INotEqual, self.boolean, vec![Operand::IdRef(a), Operand::IdRef(b)]);
        let (inside, behind) = (draft.fresh(), draft.fresh());
        let merge = vec![Operand::IdRef(behind), Operand::SelectionControl(SelectionControl::NONE)];
        draft.functions.push(instruction(Op::SelectionMerge, None, None, merge));
        let targets = [differs, inside, behind].map(Operand::IdRef).to_vec();
        draft.functions.push(instruction(Op::BranchConditional, None, None, targets));
        draft.functions.push(instruction(Op::Label, None, Some(inside), Vec::new()));
        then(draft);
        draft.functions.push(instruction(Op::Branch, None, None, vec![Operand::IdRef(behind)]));
        draft.functions.push(instruction(Op::Label, None, Some(behind), Vec::new()));
    }

    /// The function that hands an invocation's bits over and writes the canary.
    fn define_flush(&self, draft: &mut Draft) {
        self.begin_function(draft, self.flush, &[]);
        let (zero, one, canary) = (draft.constant(0), draft.constant(1), draft.constant(CANARY));
        let nonce_word = self.word(draft, zero);
        let nonce = emit(draft, Op::Load, self.uint, vec![Operand::IdRef(nonce_word)]);
        let proof = emit(draft, Op::BitwiseXor, self.uint, vec![Operand::IdRef(nonce), Operand::IdRef(canary)]);
        let canary_word = self.word(draft, one);
        let present = self.atomic_load(draft, canary_word);
        self.if_different(draft, present, proof, |draft| {
            let mut operands = self.atomic_operands(canary_word);
            operands.push(Operand::IdRef(proof));
            draft.functions.push(instruction(Op::AtomicStore, None, None, operands));
        });
        for (index, variable) in &self.gathered {
            let index = draft.constant(index + HEADER_WORDS);
            let mine = emit(draft, Op::Load, self.uint, vec![Operand::IdRef(*variable)]);
            self.add_bits(draft, index, mine);
        }
        end_function(draft);
        draft.name(self.flush, "vkcert_flush");
    }

    /// `if (bits & ~words[index]) atomicOr(words[index], bits)`
    fn add_bits(&self, draft: &mut Draft, index: Id, bits: Id) {
        let zero = draft.constant(0);
        let word = self.word(draft, index);
        let known = self.atomic_load(draft, word);
        let unknown = emit(draft, Op::Not, self.uint, vec![Operand::IdRef(known)]);
        let new = emit(draft, Op::BitwiseAnd, self.uint, vec![Operand::IdRef(bits), Operand::IdRef(unknown)]);
        self.if_different(draft, new, zero, |draft| self.atomic_or(draft, word, new));
    }

    /// The function that sets bit `number` in the buffer, for decisions too large to be gathered.
    fn define_direct(&self, draft: &mut Draft) {
        let Some(direct) = self.direct else { return };
        let number = draft.fresh();
        self.begin_function(draft, direct, &[number]);
        let constants = [5, 31, 1, HEADER_WORDS].map(|value| draft.constant(value));
        let [five, low, one, header] = constants;
        let mut binary = |op, a, b| emit(draft, op, self.uint, vec![Operand::IdRef(a), Operand::IdRef(b)]);
        let word = binary(Op::ShiftRightLogical, number, five);
        let index = binary(Op::IAdd, word, header);
        let place = binary(Op::BitwiseAnd, number, low);
        let bit = binary(Op::ShiftLeftLogical, one, place);
        self.add_bits(draft, index, bit);
        end_function(draft);
        draft.name(direct, "vkcert_record");
    }

    fn begin_function(&self, draft: &mut Draft, id: Id, parameters: &[Id]) {
        let mut signature = vec![Operand::IdRef(self.void)];
        signature.extend(parameters.iter().map(|_| Operand::IdRef(self.uint)));
        let signature = draft.ty(Op::TypeFunction, signature);
        let operands = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(signature)];
        draft.functions.push(instruction(Op::Function, Some(self.void), Some(id), operands));
        for parameter in parameters {
            draft.functions.push(instruction(Op::FunctionParameter, Some(self.uint), Some(*parameter), Vec::new()));
        }
        let label = draft.fresh();
        draft.functions.push(instruction(Op::Label, None, Some(label), Vec::new()));
    }

    /// From SPIR-V 1.4 an entry point lists every global variable it uses (OpEntryPoint); before, only inputs and outputs.
    fn extend_interface(&self, draft: &mut Draft, marked: &Module) {
        if marked.header.version() < (1, 4) {
            return;
        }
        let entry = self.entry;
        let points = draft.preamble.iter_mut().filter(|i| i.op == Op::EntryPoint && i.id(1) == Some(entry));
        for point in points {
            let added = self.gathered.values().chain([&self.buffer]);
            point.operands.extend(added.map(|id| Operand::IdRef(*id)));
        }
    }
}

impl Recorder for Records<'_> {
    fn function_entered(&mut self, draft: &mut Draft, function: Id) {
        for (variable, owner) in self.sums.values() {
            if *owner == function {
                let operands = vec![Operand::StorageClass(StorageClass::Function)];
                let declared = instruction(Op::Variable, Some(self.sum_pointer), Some(*variable), operands);
                draft.functions.push(declared);
            }
        }
    }

    fn marker(&mut self, draft: &mut Draft, call: &MarkerCall, value: Option<Id>) {
        match (call.role, value) {
            (MarkerRole::Mark { mark }, _) => {
                if let Some(bit) = self.layout.mark_bit(mark) {
                    let bits = draft.constant(1 << (bit % 32));
                    self.gather(draft, bit / 32, bits);
                }
            }
            (MarkerRole::Single { decision }, Some(value)) => {
                if let Some(slot) = self.layout.slot(decision) {
                    let start = start_of(slot);
                    let [if_true, if_false] = slot.weights[0].map(|weight| 1 << (start + weight));
                    let bits = self.select(draft, value, if_true, if_false);
                    self.gather(draft, slot.base / 32, bits);
                }
            }
            (MarkerRole::Condition { decision, condition }, Some(value)) => {
                if let Some(slot) = self.layout.slot(decision) {
                    self.condition(draft, slot, condition, value);
                }
            }
            (MarkerRole::Decision { decision }, _) => {
                if let Some(slot) = self.layout.slot(decision) {
                    self.decision(draft, slot);
                }
            }
            (MarkerRole::Single { .. } | MarkerRole::Condition { .. }, None) => {
                unreachable!("a marker call with a value role has an operand")
            }
        }
    }

    fn returning(&mut self, draft: &mut Draft, function: Id) {
        if function == self.entry {
            emit(draft, Op::FunctionCall, self.void, vec![Operand::IdRef(self.flush)]);
        }
    }
}

/// Where sums start: gathered decisions count from their place in the word, so that the sum is the bit's own place.
fn start_of(slot: &DecisionSlot) -> u32 {
    if slot.size > GATHERED_SIZE { 0 } else { slot.base % 32 }
}

fn store(draft: &mut Draft, variable: Id, value: Id) {
    let operands = vec![Operand::IdRef(variable), Operand::IdRef(value)];
    draft.functions.push(instruction(Op::Store, None, None, operands));
}

fn end_function(draft: &mut Draft) {
    draft.functions.push(instruction(Op::Return, None, None, Vec::new()));
    draft.functions.push(instruction(Op::FunctionEnd, None, None, Vec::new()));
}

/// Device scope, or queue family scope where the Vulkan memory model would ask for a capability to use Device.
fn device_scope(module: &Module) -> u32 {
    let vulkan = module.instructions.iter().any(|i| {
        i.op == Op::MemoryModel && i.operands.get(1) == Some(&Operand::MemoryModel(rspirv::spirv::MemoryModel::Vulkan))
    });
    if vulkan { rspirv::spirv::Scope::QueueFamily as u32 } else { rspirv::spirv::Scope::Device as u32 }
}

/// Declares `buffer { uint words[]; }`; returns the variable and the type of a pointer to one word.
fn declare_buffer(draft: &mut Draft, marked: &Module, uint: Id, set: u32) -> (Id, Id) {
    // Storage class StorageBuffer is core from SPIR-V 1.3; before, a storage buffer is a BufferBlock in Uniform.
    let (storage, block) = if marked.header.version() >= (1, 3) {
        (StorageClass::StorageBuffer, Decoration::Block)
    } else {
        (StorageClass::Uniform, Decoration::BufferBlock)
    };
    let words = draft.declare(Op::TypeRuntimeArray, None, vec![Operand::IdRef(uint)]);
    draft.decorate(words, vec![Operand::Decoration(Decoration::ArrayStride), Operand::LiteralBit32(4)]);
    let structure = draft.declare(Op::TypeStruct, None, vec![Operand::IdRef(words)]);
    draft.decorate(structure, vec![Operand::Decoration(block)]);
    let offset = vec![
        Operand::IdRef(structure),
        Operand::LiteralBit32(0),
        Operand::Decoration(Decoration::Offset),
        Operand::LiteralBit32(0),
    ];
    draft.annotations.push(instruction(Op::MemberDecorate, None, None, offset));
    let pointer = draft.pointer(storage, structure);
    let buffer = draft.declare(Op::Variable, Some(pointer), vec![Operand::StorageClass(storage)]);
    draft.decorate(buffer, vec![Operand::Decoration(Decoration::DescriptorSet), Operand::LiteralBit32(set)]);
    draft.decorate(buffer, vec![Operand::Decoration(Decoration::Binding), Operand::LiteralBit32(0)]);
    draft.name(buffer, "vkcert_records");
    let word_pointer = draft.pointer(storage, uint);
    (buffer, word_pointer)
}

/// Declares one private variable for each data word that a marker in the module can set a bit of.
fn declare_gathered(draft: &mut Draft, uint: Id, layout: &RecordLayout, markers: &MarkerCalls) -> BTreeMap<u32, Id> {
    let words = markers.calls.values().filter_map(|call| match call.role {
        MarkerRole::Mark { mark } => layout.mark_bit(mark).map(|bit| bit / 32),
        MarkerRole::Single { decision } | MarkerRole::Decision { decision } => {
            layout.slot(decision).filter(|slot| slot.size <= GATHERED_SIZE).map(|slot| slot.base / 32)
        }
        MarkerRole::Condition { .. } => None,
    });
    let words: BTreeSet<u32> = words.collect();
    let pointer = draft.pointer(StorageClass::Private, uint);
    let zero = draft.constant(0);
    let variable = |draft: &mut Draft| {
        let operands = vec![Operand::StorageClass(StorageClass::Private), Operand::IdRef(zero)];
        draft.declare(Op::Variable, Some(pointer), operands)
    };
    words.into_iter().map(|word| (word, variable(draft))).collect()
}
