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
mod decision_ends;
mod hand_over;
mod loop_sides;
mod mode;
mod plan;
mod tree;
mod witness;

#[cfg(test)]
pub(crate) use mode::copy_count;
pub use mode::{DeviceAbility, DeviceParallelism, RecordRequest, RecordingDevice, RefusedMode};

use super::erase::{Recorder, declarations_without_markers, rewrite_functions};
use super::markers::{MarkerCall, MarkerCalls};
use buffer::RecordStorage;
use plan::{AtEntry, BitGathering, RecordPlan, RecordStep, SingleBits};
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
pub(crate) fn record_coverage(
    marked_module: &Module,
    marker_calls: &MarkerCalls,
    record_layout: &RecordLayout,
    entry_function: Id,
    record_request: &RecordRequest,
) -> Result<RecordedModule, RefusedMode> {
    let gathering_plan = RecordPlan::make_plan(
        marked_module,
        marker_calls,
        record_layout,
        BitGathering::PrivateWords,
    );
    let entry_name = marked_module
        .entry_points
        .iter()
        .find(|entry_point| entry_point.function == entry_function)
        .map_or("", |entry_point| &entry_point.name);
    let mode = mode::choose_mode(
        record_request,
        marked_module,
        entry_name,
        gathering_plan.gathered.len(),
    )?;
    let plan = match mode {
        RecordMode::Direct => {
            RecordPlan::make_plan(marked_module, marker_calls, record_layout, BitGathering::Nowhere)
        }
        RecordMode::Private | RecordMode::Workgroup | RecordMode::Subgroup | RecordMode::Slots => {
            gathering_plan
        }
    };
    let descriptor_set = buffer::unused_set(marked_module);
    let witnesses = record_request.witnesses;
    let word_count = record_layout.words() as u32;
    let copy_count = mode::copy_count(mode, &record_request.device, word_count);
    let record_buffer = RecordBuffer {
        set: descriptor_set,
        binding: 0,
        words: word_count,
        layout: record_layout.clone(),
        mode,
        witnesses,
        copies: copy_count,
    };
    let mut draft = declarations_without_markers(marked_module, marker_calls);
    let storage = RecordStorage::declare_all(
        &mut draft,
        marked_module,
        &record_buffer,
        entry_function,
        &plan,
    );
    let mut records = RecordWriter::new(&mut draft, &plan, storage);
    rewrite_functions(marked_module, marker_calls, &mut draft, &mut records);
    records.define_entry(&mut draft, marked_module, entry_function);
    let capabilities = records.add_capabilities(&mut draft);
    Ok(RecordedModule { words: draft.finish(), buffer: record_buffer, capabilities })
}

/// Writes record code.
struct RecordWriter<'a> {
    plan: &'a RecordPlan<'a>,
    storage: RecordStorage,
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

impl<'a> RecordWriter<'a> {
    fn new(draft: &mut ModuleDraft, plan: &'a RecordPlan<'a>, storage: RecordStorage) -> Self {
        let uint = storage.uint;
        let sum_pointer = draft.pointer_type(StorageClass::Function, uint);
        let mut sums = BTreeMap::new();
        let mut by_function: BTreeMap<Id, Vec<DecisionId>> = BTreeMap::new();
        for (decision, (_, holding_function)) in &plan.sums {
            sums.insert(*decision, draft.fresh_id());
            by_function.entry(*holding_function).or_default().push(*decision);
        }
        let false_constant = (!plan.trees.is_empty())
            .then(|| draft.declare(Op::ConstantFalse, Some(storage.boolean), Vec::new()));
        let kept_pointer = draft.pointer_type(StorageClass::Function, storage.boolean);
        let mut kept_values = BTreeMap::new();
        let mut kept_by_function: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
        for (decision, (tree, holding_function)) in &plan.trees {
            for condition in tree.conditions() {
                let variable = draft.fresh_id();
                kept_values.insert((*decision, condition), variable);
                kept_by_function.entry(*holding_function).or_default().push(variable);
            }
        }
        Self {
            plan,
            storage,
            sums,
            by_function,
            sum_pointer,
            kept: kept_values,
            kept_by_function,
            kept_pointer,
            no: false_constant,
        }
    }

    /// Sets one bit.
    fn set_bit(&self, draft: &mut ModuleDraft, bit: u32) {
        match self.storage.gathered.contains_key(&(bit / 32)) {
            true => {
                let bits = draft.uint_constant(1 << (bit % 32));
                self.gather_bits(draft, bit / 32, bits);
            }
            false => {
                let bit_number = draft.uint_constant(bit);
                self.set_now(draft, bit_number);
            }
        }
    }

    /// Hands over the bit with a number.
    fn set_now(&self, draft: &mut ModuleDraft, bit_number: Id) {
        let function = self.storage.set_one.expect("the plan has single bits");
        draft.emit(
            Op::FunctionCall,
            self.storage.void,
            vec![Operand::IdRef(function), Operand::IdRef(bit_number)],
        );
    }

    /// `gathered[word] |= bits`
    fn gather_bits(&self, draft: &mut ModuleDraft, word_index: u32, bits: Id) {
        let variable = self.storage.gathered[&word_index];
        let bits_before = draft.emit(Op::Load, self.storage.uint, vec![Operand::IdRef(variable)]);
        let bits_after = draft.emit(
            Op::BitwiseOr,
            self.storage.uint,
            vec![Operand::IdRef(bits_before), Operand::IdRef(bits)],
        );
        draft.store(variable, bits_after);
    }

    /// `value ? if_true : if_false`
    fn select_word(
        &self,
        draft: &mut ModuleDraft,
        value_id: Id,
        if_true: u32,
        if_false: u32,
    ) -> Id {
        let (if_true, if_false) = (draft.uint_constant(if_true), draft.uint_constant(if_false));
        draft.emit(
            Op::Select,
            self.storage.uint,
            [value_id, if_true, if_false].map(Operand::IdRef).to_vec(),
        )
    }

    /// Sets the bit for a value, where there is one.
    fn choose_bit(
        &self,
        draft: &mut ModuleDraft,
        value_id: Id,
        if_true: Option<u32>,
        if_false: Option<u32>,
    ) {
        if let (Some(true_bit), Some(false_bit)) = (if_true, if_false)
            && !self.storage.gathered.contains_key(&(true_bit / 32))
        {
            let bit_number = self.select_word(draft, value_id, true_bit, false_bit);
            return self.set_now(draft, bit_number);
        }
        let mut word_indices: Vec<u32> =
            if_true.into_iter().chain(if_false).map(|bit| bit / 32).collect();
        word_indices.dedup();
        for word in word_indices {
            let bit_mask = |bit: Option<u32>| {
                bit.filter(|bit| bit / 32 == word).map_or(0, |bit| 1 << (bit % 32))
            };
            let bits = self.select_word(draft, value_id, bit_mask(if_true), bit_mask(if_false));
            self.gather_bits(draft, word, bits);
        }
    }

    fn add_weight(
        &self,
        draft: &mut ModuleDraft,
        decision: DecisionId,
        condition: u32,
        value_id: Id,
    ) {
        let (Some((slot, _)), Some(variable)) =
            (self.plan.sums.get(&decision), self.sums.get(&decision))
        else {
            return;
        };
        let [if_true, if_false] = slot.weights[condition as usize];
        // The leftmost condition is evaluated first and always: it begins the sum.
        let sum = if condition == 0 {
            let sum_start = self.start_of(slot);
            self.select_word(draft, value_id, sum_start + if_true, sum_start + if_false)
        } else {
            let weight = self.select_word(draft, value_id, if_true, if_false);
            let sum_before =
                draft.emit(Op::Load, self.storage.uint, vec![Operand::IdRef(*variable)]);
            draft.emit(
                Op::IAdd,
                self.storage.uint,
                vec![Operand::IdRef(sum_before), Operand::IdRef(weight)],
            )
        };
        draft.store(*variable, sum);
    }

    /// Where sums start, so that they name a bit: in its word where the decision is gathered, else
    /// in the buffer.
    fn start_of(&self, decision_slot: &DecisionSlot) -> u32 {
        if self.storage.gathered.contains_key(&(decision_slot.base / 32))
            && decision_slot.size <= 32
        {
            decision_slot.base % 32
        } else {
            decision_slot.base
        }
    }

    fn conclude_sum(&self, draft: &mut ModuleDraft, decision: DecisionId) {
        let (Some((slot, _)), Some(variable)) =
            (self.plan.sums.get(&decision), self.sums.get(&decision))
        else {
            return;
        };
        let sum = draft.emit(Op::Load, self.storage.uint, vec![Operand::IdRef(*variable)]);
        if self.storage.gathered.contains_key(&(slot.base / 32)) && slot.size <= 32 {
            let one_constant = draft.uint_constant(1);
            let operands = vec![Operand::IdRef(one_constant), Operand::IdRef(sum)];
            let bit = draft.emit(Op::ShiftLeftLogical, self.storage.uint, operands);
            self.gather_bits(draft, slot.base / 32, bit);
        } else {
            self.set_now(draft, sum);
        }
    }

    /// Keeps a condition's value. The leftmost is evaluated first and always: it makes the others
    /// false, so that no value lives on from one evaluation of the decision to the next.
    fn keep_value(
        &self,
        draft: &mut ModuleDraft,
        decision: DecisionId,
        condition: u32,
        value_id: Id,
    ) {
        if let (0, Some(false_constant)) = (condition, self.no) {
            for (_, other_variable) in self.kept.range((decision, 1)..=(decision, u32::MAX)) {
                draft.store(*other_variable, false_constant);
            }
        }
        if let Some(variable) = self.kept.get(&(decision, condition)) {
            draft.store(*variable, value_id);
        }
    }

    /// Sets the bit that the kept values of a decision name.
    fn pick_bit(&self, draft: &mut ModuleDraft, decision: DecisionId) {
        let Some((tree, _)) = self.plan.trees.get(&decision) else { return };
        let mut condition_values = BTreeMap::new();
        for (_, condition) in
            self.kept.range((decision, 0)..=(decision, u32::MAX)).map(|(key, _)| *key)
        {
            let variable = self.kept[&(decision, condition)];
            let loaded_value =
                draft.emit(Op::Load, self.storage.boolean, vec![Operand::IdRef(variable)]);
            condition_values.insert(condition, loaded_value);
        }
        let word_indices: BTreeSet<u32> = tree.bits().iter().map(|bit| bit / 32).collect();
        for word in word_indices {
            let bits = self.picked_bits(draft, tree, &condition_values, word);
            self.gather_bits(draft, word, bits);
        }
    }

    /// What the values name of a word: one bit or none.
    fn picked_bits(
        &self,
        draft: &mut ModuleDraft,
        tree: &VectorTree,
        condition_values: &BTreeMap<u32, Id>,
        word_index: u32,
    ) -> Id {
        match tree {
            VectorTree::Bit(bit) => {
                draft.uint_constant(if bit / 32 == word_index { 1 << (bit % 32) } else { 0 })
            }
            VectorTree::Ask { condition, if_true, if_false } => {
                let if_true = self.picked_bits(draft, if_true, condition_values, word_index);
                let if_false = self.picked_bits(draft, if_false, condition_values, word_index);
                let operands =
                    [condition_values[condition], if_true, if_false].map(Operand::IdRef).to_vec();
                draft.emit(Op::Select, self.storage.uint, operands)
            }
        }
    }

    /// The function that stands for the entry point: prepares, calls the kernel, hands over.
    fn define_entry(
        &mut self,
        draft: &mut ModuleDraft,
        marked_module: &Module,
        entry_function: Id,
    ) {
        let wrapper_function = draft.fresh_id();
        draft.begin_function(self.storage.void, wrapper_function, &[]);
        self.storage.prepare_recording(draft);
        draft.emit(Op::FunctionCall, self.storage.void, vec![Operand::IdRef(entry_function)]);
        self.storage.hand_over(draft);
        draft.end_function();
        draft.add_name(wrapper_function, "vkcert_entry");
        if self.plan.single_bits == SingleBits::Used {
            self.storage.define_set_one(draft);
        }
        self.storage.define_witness(draft);
        let version = marked_module.header.version();
        for point in draft
            .preamble
            .iter_mut()
            .filter(|instruction| instruction.id(1).or(instruction.id(0)) == Some(entry_function))
        {
            match point.op {
                Op::EntryPoint => {
                    point.operands[1] = Operand::IdRef(wrapper_function);
                    point
                        .operands
                        .extend(self.storage.interface_variables(version).map(Operand::IdRef));
                }
                Op::ExecutionMode | Op::ExecutionModeId => {
                    point.operands[0] = Operand::IdRef(wrapper_function)
                }
                _ => {}
            }
        }
    }

    /// Declares the capabilities of the record code that the module does not have.
    fn add_capabilities(&self, draft: &mut ModuleDraft) -> Vec<Capability> {
        let wanted = self.storage.needed_capabilities().into_iter();
        wanted.filter(|capability| draft.add_capability(*capability)).collect()
    }
}

impl Recorder for RecordWriter<'_> {
    fn function_entered(&mut self, draft: &mut ModuleDraft, function_id: Id) {
        for decision in self.by_function.get(&function_id).into_iter().flatten() {
            let operands = vec![Operand::StorageClass(StorageClass::Function)];
            let sum_declaration = new_instruction(
                Op::Variable,
                Some(self.sum_pointer),
                Some(self.sums[decision]),
                operands,
            );
            draft.functions.push(sum_declaration);
        }
        for variable in self.kept_by_function.get(&function_id).into_iter().flatten() {
            let operands = vec![Operand::StorageClass(StorageClass::Function)];
            draft.functions.push(new_instruction(
                Op::Variable,
                Some(self.kept_pointer),
                Some(*variable),
                operands,
            ));
        }
    }

    fn before_instruction(&mut self, draft: &mut ModuleDraft, instruction_index: usize) {
        for recorded in self.plan.entries.get(&instruction_index).into_iter().flatten() {
            match *recorded {
                AtEntry::Set { bit } => self.set_bit(draft, bit),
                AtEntry::Flag { bit } => {
                    let bits = draft.uint_constant(1 << (bit % 32));
                    draft.store(self.storage.flags[&bit], bits);
                }
                AtEntry::Choose { value, if_true, if_false } => {
                    self.choose_bit(draft, value, Some(if_true), Some(if_false));
                }
            }
        }
    }

    fn marker_reached(
        &mut self,
        draft: &mut ModuleDraft,
        instruction_index: usize,
        _call: &MarkerCall,
        value: Option<Id>,
    ) {
        let step = self.plan.steps.get(&instruction_index).copied().unwrap_or(RecordStep::Nothing);
        match (step, value) {
            (RecordStep::Nothing, _) => {}
            (RecordStep::Set { bit }, _) => self.set_bit(draft, bit),
            (RecordStep::Choose { if_true, if_false }, Some(value)) => {
                self.choose_bit(draft, value, if_true, if_false)
            }
            (RecordStep::Add { condition, decision }, Some(value)) => {
                self.add_weight(draft, decision, condition, value)
            }
            (RecordStep::Conclude { decision }, _) => self.conclude_sum(draft, decision),
            (RecordStep::Keep { condition, decision }, Some(value)) => {
                self.keep_value(draft, decision, condition, value);
            }
            (RecordStep::Pick { decision }, _) => self.pick_bit(draft, decision),
            (
                RecordStep::Choose { .. } | RecordStep::Add { .. } | RecordStep::Keep { .. },
                None,
            ) => {
                unreachable!("a marker call with a value role has an operand")
            }
        }
    }
}
