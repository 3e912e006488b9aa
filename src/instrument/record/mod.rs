//! Adds coverage records to a module.
//!
//! Knows: the plan of what is recorded where (`plan`) and the modes in which bits reach the record
//! buffer (`mode`, `hand_over`). The entry point becomes a function of its own that prepares
//! recording, calls the kernel's, and hands over what was gathered: once per invocation, wherever
//! the kernel returns.
//! Promises: a decision evaluated inside another one, in a loop or in a function called from
//! several places records as it would alone. The buffer lies in a descriptor set that the module
//! does not use. No barrier stands in non-uniform control flow: the only one, of mode `workgroup`,
//! is passed before the kernel begins.
//! Does not cover: invocations that never reach the end of the entry point (endless loops); what
//! they gathered is lost.

mod access;
mod buffer;
mod hand_over;
mod mode;
mod plan;
mod tree;
mod witness;

#[cfg(test)]
pub(crate) use mode::copies;
pub use mode::{Ability, Parallelism, RecordRequest, RecordingDevice, RefusedMode};

use super::erase::{Recorder, declarations, rewrite_functions};
use super::markers::{MarkerCall, MarkerCalls};
use buffer::Storage;
use plan::{AtEntry, Gathering, Plan, SingleBits, Step};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use tree::VectorTree;
use vkcert_model::id::DecisionId;
use vkcert_model::records::{DecisionSlot, RecordBuffer, RecordLayout, RecordMode};
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::rewrite::{ModuleDraft, new_instruction};

/// A module with records.
pub(crate) struct RecordedModule {
    pub words: Vec<u32>,
    pub buffer: RecordBuffer,
    /// Capabilities that were added.
    pub capabilities: Vec<Capability>,
}

/// The marked module with records in place of its markers.
pub(crate) fn record(
    marked: &Module,
    markers: &MarkerCalls,
    layout: &RecordLayout,
    entry: Id,
    request: &RecordRequest,
) -> Result<RecordedModule, RefusedMode> {
    let gathered = Plan::make(marked, markers, layout, Gathering::PrivateWords);
    let name = marked
        .entry_points
        .iter()
        .find(|point| point.function == entry)
        .map_or("", |point| &point.name);
    let mode = mode::choose(request, marked, name, gathered.gathered.len())?;
    let plan = match mode {
        RecordMode::Direct => Plan::make(marked, markers, layout, Gathering::Nowhere),
        RecordMode::Private | RecordMode::Workgroup | RecordMode::Subgroup | RecordMode::Slots => {
            gathered
        }
    };
    let set = buffer::unused_set(marked);
    let witnesses = request.witnesses;
    let words = layout.words() as u32;
    let copies = mode::copies(mode, &request.device, words);
    let buffer =
        RecordBuffer { set, binding: 0, words, layout: layout.clone(), mode, witnesses, copies };
    let mut draft = declarations(marked, markers);
    let storage = Storage::declare(&mut draft, marked, &buffer, entry, &plan);
    let mut records = Records::new(&mut draft, &plan, storage);
    rewrite_functions(marked, markers, &mut draft, &mut records);
    records.define_entry(&mut draft, marked, entry);
    let capabilities = records.add_capabilities(&mut draft);
    Ok(RecordedModule { words: draft.finish(), buffer, capabilities })
}

/// Writes record code.
struct Records<'a> {
    plan: &'a Plan<'a>,
    storage: Storage,
    /// Function variable of each decision with a sum.
    sums: BTreeMap<DecisionId, Id>,
    /// Decisions with sums by the function that holds them.
    by_function: BTreeMap<Id, Vec<DecisionId>>,
    sum_pointer: Id,
    /// Function variable of each condition whose value is kept.
    kept: BTreeMap<(DecisionId, u32), Id>,
    /// The same by the function that holds them.
    kept_by_function: BTreeMap<Id, Vec<Id>>,
    kept_pointer: Id,
    /// The constant false, where values are kept.
    no: Option<Id>,
}

impl<'a> Records<'a> {
    fn new(draft: &mut ModuleDraft, plan: &'a Plan<'a>, storage: Storage) -> Self {
        let uint = storage.uint;
        let sum_pointer = draft.pointer_type(StorageClass::Function, uint);
        let mut sums = BTreeMap::new();
        let mut by_function: BTreeMap<Id, Vec<DecisionId>> = BTreeMap::new();
        for (decision, (_, function)) in &plan.sums {
            sums.insert(*decision, draft.fresh_id());
            by_function.entry(*function).or_default().push(*decision);
        }
        let no = (!plan.trees.is_empty())
            .then(|| draft.declare(Op::ConstantFalse, Some(storage.boolean), Vec::new()));
        let kept_pointer = draft.pointer_type(StorageClass::Function, storage.boolean);
        let mut kept = BTreeMap::new();
        let mut kept_by_function: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
        for (decision, (tree, function)) in &plan.trees {
            for condition in tree.conditions() {
                let variable = draft.fresh_id();
                kept.insert((*decision, condition), variable);
                kept_by_function.entry(*function).or_default().push(variable);
            }
        }
        Self {
            plan,
            storage,
            sums,
            by_function,
            sum_pointer,
            kept,
            kept_by_function,
            kept_pointer,
            no,
        }
    }

    /// Sets one bit.
    fn set(&self, draft: &mut ModuleDraft, bit: u32) {
        match self.storage.gathered.contains_key(&(bit / 32)) {
            true => {
                let bits = draft.uint_constant(1 << (bit % 32));
                self.gather(draft, bit / 32, bits);
            }
            false => {
                let number = draft.uint_constant(bit);
                self.set_now(draft, number);
            }
        }
    }

    /// Hands over the bit with a number.
    fn set_now(&self, draft: &mut ModuleDraft, number: Id) {
        let function = self.storage.set_one.expect("the plan has single bits");
        draft.emit(
            Op::FunctionCall,
            self.storage.void,
            vec![Operand::IdRef(function), Operand::IdRef(number)],
        );
    }

    /// `gathered[word] |= bits`
    fn gather(&self, draft: &mut ModuleDraft, word: u32, bits: Id) {
        let variable = self.storage.gathered[&word];
        let before = draft.emit(Op::Load, self.storage.uint, vec![Operand::IdRef(variable)]);
        let after = draft.emit(
            Op::BitwiseOr,
            self.storage.uint,
            vec![Operand::IdRef(before), Operand::IdRef(bits)],
        );
        draft.store(variable, after);
    }

    /// `value ? if_true : if_false`
    fn select(&self, draft: &mut ModuleDraft, value: Id, if_true: u32, if_false: u32) -> Id {
        let (if_true, if_false) = (draft.uint_constant(if_true), draft.uint_constant(if_false));
        draft.emit(
            Op::Select,
            self.storage.uint,
            [value, if_true, if_false].map(Operand::IdRef).to_vec(),
        )
    }

    /// Sets the bit for a value, where there is one.
    fn choose(
        &self,
        draft: &mut ModuleDraft,
        value: Id,
        if_true: Option<u32>,
        if_false: Option<u32>,
    ) {
        if let (Some(true_bit), Some(false_bit)) = (if_true, if_false)
            && !self.storage.gathered.contains_key(&(true_bit / 32))
        {
            let number = self.select(draft, value, true_bit, false_bit);
            return self.set_now(draft, number);
        }
        let mut words: Vec<u32> = if_true.into_iter().chain(if_false).map(|bit| bit / 32).collect();
        words.dedup();
        for word in words {
            let mask = |bit: Option<u32>| {
                bit.filter(|bit| bit / 32 == word).map_or(0, |bit| 1 << (bit % 32))
            };
            let bits = self.select(draft, value, mask(if_true), mask(if_false));
            self.gather(draft, word, bits);
        }
    }

    fn add(&self, draft: &mut ModuleDraft, decision: DecisionId, condition: u32, value: Id) {
        let (Some((slot, _)), Some(variable)) =
            (self.plan.sums.get(&decision), self.sums.get(&decision))
        else {
            return;
        };
        let [if_true, if_false] = slot.weights[condition as usize];
        // The leftmost condition is evaluated first and always: it begins the sum.
        let sum = if condition == 0 {
            let start = self.start_of(slot);
            self.select(draft, value, start + if_true, start + if_false)
        } else {
            let weight = self.select(draft, value, if_true, if_false);
            let before = draft.emit(Op::Load, self.storage.uint, vec![Operand::IdRef(*variable)]);
            draft.emit(
                Op::IAdd,
                self.storage.uint,
                vec![Operand::IdRef(before), Operand::IdRef(weight)],
            )
        };
        draft.store(*variable, sum);
    }

    /// Where sums start, so that they name a bit: in its word where the decision is gathered, else
    /// in the buffer.
    fn start_of(&self, slot: &DecisionSlot) -> u32 {
        if self.storage.gathered.contains_key(&(slot.base / 32)) && slot.size <= 32 {
            slot.base % 32
        } else {
            slot.base
        }
    }

    fn conclude(&self, draft: &mut ModuleDraft, decision: DecisionId) {
        let (Some((slot, _)), Some(variable)) =
            (self.plan.sums.get(&decision), self.sums.get(&decision))
        else {
            return;
        };
        let sum = draft.emit(Op::Load, self.storage.uint, vec![Operand::IdRef(*variable)]);
        if self.storage.gathered.contains_key(&(slot.base / 32)) && slot.size <= 32 {
            let one = draft.uint_constant(1);
            let operands = vec![Operand::IdRef(one), Operand::IdRef(sum)];
            let bit = draft.emit(Op::ShiftLeftLogical, self.storage.uint, operands);
            self.gather(draft, slot.base / 32, bit);
        } else {
            self.set_now(draft, sum);
        }
    }

    /// Keeps a condition's value. The leftmost is evaluated first and always: it makes the others
    /// false, so that no value lives on from one evaluation of the decision to the next.
    fn keep(&self, draft: &mut ModuleDraft, decision: DecisionId, condition: u32, value: Id) {
        if let (0, Some(no)) = (condition, self.no) {
            for (_, other) in self.kept.range((decision, 1)..=(decision, u32::MAX)) {
                draft.store(*other, no);
            }
        }
        if let Some(variable) = self.kept.get(&(decision, condition)) {
            draft.store(*variable, value);
        }
    }

    /// Sets the bit that the kept values of a decision name.
    fn pick(&self, draft: &mut ModuleDraft, decision: DecisionId) {
        let Some((tree, _)) = self.plan.trees.get(&decision) else { return };
        let mut values = BTreeMap::new();
        for (_, condition) in
            self.kept.range((decision, 0)..=(decision, u32::MAX)).map(|(key, _)| *key)
        {
            let variable = self.kept[&(decision, condition)];
            let value = draft.emit(Op::Load, self.storage.boolean, vec![Operand::IdRef(variable)]);
            values.insert(condition, value);
        }
        let words: BTreeSet<u32> = tree.bits().iter().map(|bit| bit / 32).collect();
        for word in words {
            let bits = self.picked(draft, tree, &values, word);
            self.gather(draft, word, bits);
        }
    }

    /// What the values name of a word: one bit or none.
    fn picked(
        &self,
        draft: &mut ModuleDraft,
        tree: &VectorTree,
        values: &BTreeMap<u32, Id>,
        word: u32,
    ) -> Id {
        match tree {
            VectorTree::Bit(bit) => {
                draft.uint_constant(if bit / 32 == word { 1 << (bit % 32) } else { 0 })
            }
            VectorTree::Ask { condition, if_true, if_false } => {
                let if_true = self.picked(draft, if_true, values, word);
                let if_false = self.picked(draft, if_false, values, word);
                let operands = [values[condition], if_true, if_false].map(Operand::IdRef).to_vec();
                draft.emit(Op::Select, self.storage.uint, operands)
            }
        }
    }

    /// The function that stands for the entry point: prepares, calls the kernel, hands over.
    fn define_entry(&mut self, draft: &mut ModuleDraft, marked: &Module, entry: Id) {
        let wrapper = draft.fresh_id();
        draft.begin_function(self.storage.void, wrapper, &[]);
        self.storage.prepare(draft);
        draft.emit(Op::FunctionCall, self.storage.void, vec![Operand::IdRef(entry)]);
        self.storage.hand_over(draft);
        draft.end_function();
        draft.add_name(wrapper, "vkcert_entry");
        if self.plan.single_bits == SingleBits::Used {
            self.storage.define_set_one(draft);
        }
        self.storage.define_witness(draft);
        let version = marked.header.version();
        for point in draft.preamble.iter_mut().filter(|i| i.id(1).or(i.id(0)) == Some(entry)) {
            match point.op {
                Op::EntryPoint => {
                    point.operands[1] = Operand::IdRef(wrapper);
                    point.operands.extend(self.storage.interface(version).map(Operand::IdRef));
                }
                Op::ExecutionMode | Op::ExecutionModeId => {
                    point.operands[0] = Operand::IdRef(wrapper)
                }
                _ => {}
            }
        }
    }

    /// Declares the capabilities of the record code that the module does not have.
    fn add_capabilities(&self, draft: &mut ModuleDraft) -> Vec<Capability> {
        let wanted = self.storage.capabilities().into_iter();
        wanted.filter(|capability| draft.add_capability(*capability)).collect()
    }
}

impl Recorder for Records<'_> {
    fn function_entered(&mut self, draft: &mut ModuleDraft, function: Id) {
        for decision in self.by_function.get(&function).into_iter().flatten() {
            let operands = vec![Operand::StorageClass(StorageClass::Function)];
            let declared = new_instruction(
                Op::Variable,
                Some(self.sum_pointer),
                Some(self.sums[decision]),
                operands,
            );
            draft.functions.push(declared);
        }
        for variable in self.kept_by_function.get(&function).into_iter().flatten() {
            let operands = vec![Operand::StorageClass(StorageClass::Function)];
            draft.functions.push(new_instruction(
                Op::Variable,
                Some(self.kept_pointer),
                Some(*variable),
                operands,
            ));
        }
    }

    fn before(&mut self, draft: &mut ModuleDraft, index: usize) {
        for recorded in self.plan.entries.get(&index).into_iter().flatten() {
            match *recorded {
                AtEntry::Set { bit } => self.set(draft, bit),
                AtEntry::Flag { bit } => {
                    let bits = draft.uint_constant(1 << (bit % 32));
                    draft.store(self.storage.flags[&bit], bits);
                }
                AtEntry::Choose { value, if_true, if_false } => {
                    self.choose(draft, value, Some(if_true), Some(if_false));
                }
            }
        }
    }

    fn marker(
        &mut self,
        draft: &mut ModuleDraft,
        index: usize,
        _call: &MarkerCall,
        value: Option<Id>,
    ) {
        let step = self.plan.steps.get(&index).copied().unwrap_or(Step::Nothing);
        match (step, value) {
            (Step::Nothing, _) => {}
            (Step::Set { bit }, _) => self.set(draft, bit),
            (Step::Choose { if_true, if_false }, Some(value)) => {
                self.choose(draft, value, if_true, if_false)
            }
            (Step::Add { condition, decision }, Some(value)) => {
                self.add(draft, decision, condition, value)
            }
            (Step::Conclude { decision }, _) => self.conclude(draft, decision),
            (Step::Keep { condition, decision }, Some(value)) => {
                self.keep(draft, decision, condition, value);
            }
            (Step::Pick { decision }, _) => self.pick(draft, decision),
            (Step::Choose { .. } | Step::Add { .. } | Step::Keep { .. }, None) => {
                unreachable!("a marker call with a value role has an operand")
            }
        }
    }
}
