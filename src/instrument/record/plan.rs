//! What is recorded where.
//!
//! Knows: the layout of a kernel's bits, its marker calls and the control flow around them.
//! Promises: every evaluation of a decision sets the bit of its vector and no other; every mark
//! sets its bit. A decision with few vectors picks its bit by the values that its conditions left
//! (`tree`); others add weights. The bits of a decision that ends or leaves a loop move out of the
//! iteration: those of leaving are set on the way out, and that of going on is a constant in a
//! variable of its own, which no iteration has to read.
//! Does not cover: where bits go (`RecordWriter`, `hand_over`).

use super::decision_ends::{DecisionEnds, by_outcome, decision_ends};
use super::loop_sides::{BlockEntries, BranchSide, LoopWay};
use super::tree::VectorTree;
use crate::markers::{MarkerCall, MarkerCalls};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::records::{DecisionSlot, RecordLayout};
use vkcert_model::structure::MarkerRole;
use vkcert_spirv::module::{Id, Module};

/// Decisions whose sums reach further than a word has bits cannot be gathered by shifting a bit.
const WORD_BITS: u32 = 32;

/// Where bits are kept until an invocation hands them over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BitGathering {
    /// In private words, except decisions that need a sum larger than a word has bits.
    PrivateWords,
    /// Nowhere: each bit is handed over when it is set.
    Nowhere,
}

/// What stands in the place of a marker call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordStep {
    Nothing,
    Set {
        bit: u32,
    },
    /// The bit for the marked value, where there is one.
    Choose {
        if_true: Option<u32>,
        if_false: Option<u32>,
    },
    /// Adds the weight of a condition's value to the decision's sum; the first condition begins it.
    Add {
        condition: u32,
        decision: DecisionId,
    },
    /// Sets the bit that the decision's sum names.
    Conclude {
        decision: DecisionId,
    },
    /// Keeps a condition's value until the decision ends.
    Keep {
        condition: u32,
        decision: DecisionId,
    },
    /// Sets the bit that the kept values name.
    Pick {
        decision: DecisionId,
    },
}

/// What is recorded where a block is entered for one outcome of a loop's decision alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtEntry {
    Set {
        bit: u32,
    },
    /// In a variable of its own.
    Flag {
        bit: u32,
    },
    /// By the value of the decision's first condition.
    Choose {
        value: Id,
        if_true: u32,
        if_false: u32,
    },
}

/// Most variables for single bits: each takes a register.
const FLAGS: usize = 16;

/// The plan of a module.
#[derive(Debug, Default)]
pub(super) struct RecordPlan<'a> {
    /// By index of the marker call in the module's instruction list.
    pub steps: BTreeMap<usize, RecordStep>,
    /// What is recorded before the instruction with this index.
    pub entries: BTreeMap<usize, Vec<AtEntry>>,
    /// Bits with a variable of their own.
    pub flags: BTreeSet<u32>,
    /// Decisions with a sum, and the function that holds each.
    pub sums: BTreeMap<DecisionId, (&'a DecisionSlot, Id)>,
    /// Decisions whose bit is picked by kept values, and the function that holds each.
    pub trees: BTreeMap<DecisionId, (VectorTree, Id)>,
    /// Words that bits are gathered in.
    pub gathered: BTreeSet<u32>,
    /// Whether bits are handed over one by one.
    pub single_bits: SingleBits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SingleBits {
    #[default]
    Unused,
    Used,
}

/// Whether a decision's bits are gathered or handed over one by one.
fn gathers_bits(decision_slot: &DecisionSlot, gathering: BitGathering) -> bool {
    match gathering {
        BitGathering::PrivateWords => decision_slot.size <= WORD_BITS,
        BitGathering::Nowhere => false,
    }
}

impl<'a> RecordPlan<'a> {
    pub(super) fn make_plan(
        marked_module: &Module,
        marker_calls: &MarkerCalls,
        layout: &'a RecordLayout,
        gathering: BitGathering,
    ) -> Self {
        let mut plan = Self::default();
        let slots: BTreeMap<DecisionId, &DecisionSlot> =
            layout.decisions.iter().map(|slot| (slot.decision, slot)).collect();
        let decision_ends: BTreeMap<DecisionId, DecisionEnds> = match gathering {
            BitGathering::PrivateWords => slots
                .iter()
                .filter_map(|(decision, slot)| Some((*decision, decision_ends(slot)?)))
                .collect(),
            BitGathering::Nowhere => BTreeMap::new(),
        };
        if gathering == BitGathering::PrivateWords {
            plan.plant_trees(marker_calls, &slots);
        }
        for (index, call) in &marker_calls.calls {
            let step = marker_step(call, layout, &slots, &plan.trees);
            plan.note_needs(step, call, &slots, gathering);
            plan.steps.insert(*index, step);
        }
        plan.lift_from_loops(marked_module, marker_calls, &decision_ends);
        plan
    }

    /// Makes a tree for each decision whose bits are gathered and that is short enough for one.
    fn plant_trees(
        &mut self,
        marker_calls: &MarkerCalls,
        slots: &BTreeMap<DecisionId, &'a DecisionSlot>,
    ) {
        for call in marker_calls.calls.values() {
            let MarkerRole::Decision { decision } = call.role else { continue };
            if let Some(tree) = slots.get(&decision).and_then(|slot| VectorTree::of_decision(slot))
            {
                self.trees.insert(decision, (tree, call.function));
            }
        }
    }

    /// Notes what a step needs.
    fn note_needs(
        &mut self,
        step: RecordStep,
        call: &MarkerCall,
        slots: &BTreeMap<DecisionId, &'a DecisionSlot>,
        gathering: BitGathering,
    ) {
        let bits: Vec<u32> = match step {
            RecordStep::Nothing | RecordStep::Keep { .. } => Vec::new(),
            RecordStep::Pick { decision } => {
                self.trees.get(&decision).map_or_else(Vec::new, |(tree, _)| tree.bits())
            }
            RecordStep::Set { bit } => vec![bit],
            RecordStep::Choose { if_true, if_false } => {
                if_true.into_iter().chain(if_false).collect()
            }
            RecordStep::Add { decision, .. } | RecordStep::Conclude { decision } => {
                let Some(slot) = slots.get(&decision) else { return };
                self.sums.entry(decision).or_insert((slot, call.function));
                if gathers_bits(slot, gathering) {
                    self.gathered.insert(slot.base / WORD_BITS);
                } else {
                    self.single_bits = SingleBits::Used;
                }
                return;
            }
        };
        match gathering {
            BitGathering::PrivateWords => {
                self.gathered.extend(bits.iter().map(|bit| bit / WORD_BITS))
            }
            BitGathering::Nowhere if !bits.is_empty() => self.single_bits = SingleBits::Used,
            BitGathering::Nowhere => {}
        }
    }

    /// A gathered word with a bit that every invocation sets: that of a mark in the first block of
    /// the entry point.
    pub(super) fn certain_word(&self, marked_module: &Module, entry_function: Id) -> Option<u32> {
        let first_block = marked_module.function_by_id(entry_function)?.blocks.first()?;
        let words =
            self.steps.range(first_block.instruction_indices()).filter_map(
                |(_, step)| match step {
                    RecordStep::Set { bit } => Some(bit / WORD_BITS),
                    RecordStep::Nothing
                    | RecordStep::Choose { .. }
                    | RecordStep::Add { .. }
                    | RecordStep::Conclude { .. }
                    | RecordStep::Keep { .. }
                    | RecordStep::Pick { .. } => None,
                },
            );
        words.into_iter().find(|word| self.gathered.contains(word))
    }

    /// Moves the bits of loops' decisions to the blocks that are entered for one outcome alone.
    fn lift_from_loops(
        &mut self,
        marked_module: &Module,
        marker_calls: &MarkerCalls,
        decision_ends: &BTreeMap<DecisionId, DecisionEnds>,
    ) {
        let operands = marker_calls.resolved_operands();
        for function in
            marked_module.functions.iter().filter(|function| !marker_calls.is_marker(function.id))
        {
            let Some(entries) = BlockEntries::of_function(marked_module, function) else {
                continue;
            };
            let calls = || marker_calls.calls.range(function.instruction_indices());
            let mut condition_calls: BTreeMap<DecisionId, Vec<(usize, &MarkerCall)>> =
                BTreeMap::new();
            for (index, call) in calls() {
                if let MarkerRole::Condition { decision, .. } = call.role {
                    condition_calls.entry(decision).or_default().push((*index, call));
                }
            }
            for (index, call) in calls() {
                let Some(sides) = call.result.and_then(|value| entries.by_value(*index, value))
                else {
                    continue;
                };
                match (call.role, self.steps.get(index)) {
                    (
                        MarkerRole::Single { .. },
                        Some(RecordStep::Choose {
                            if_true: Some(true_bit),
                            if_false: Some(false_bit),
                        }),
                    ) => {
                        let recorded = [true_bit, false_bit].map(|bit| AtEntry::Set { bit: *bit });
                        self.lift_records(&[*index], sides, recorded);
                    }
                    (MarkerRole::Decision { decision }, _) => {
                        let (Some(decision_ends), Some(condition_calls)) =
                            (decision_ends.get(&decision), condition_calls.get(&decision))
                        else {
                            continue;
                        };
                        let Some(recorded) = by_outcome(decision_ends, condition_calls, &operands)
                        else {
                            continue;
                        };
                        let mut steps: Vec<usize> =
                            condition_calls.iter().map(|(call_index, _)| *call_index).collect();
                        steps.push(*index);
                        self.lift_records(&steps, sides, recorded);
                        self.trees.remove(&decision);
                    }
                    (
                        MarkerRole::Single { .. }
                        | MarkerRole::Condition { .. }
                        | MarkerRole::Mark { .. }
                        | MarkerRole::MarkWhere { .. },
                        _,
                    ) => {}
                }
            }
        }
    }

    /// Puts what is recorded for true and for false to the entries of both sides, instead of
    /// `steps`.
    fn lift_records(
        &mut self,
        step_indices: &[usize],
        sides: [BranchSide; 2],
        entry_records: [AtEntry; 2],
    ) {
        for step in step_indices {
            self.steps.insert(*step, RecordStep::Nothing);
        }
        for (side, wanted_record) in sides.into_iter().zip(entry_records) {
            let entry_record = match (wanted_record, side.way) {
                (AtEntry::Set { bit }, LoopWay::On)
                    if self.gathered.contains(&(bit / WORD_BITS)) && self.flags.len() < FLAGS =>
                {
                    self.flags.insert(bit);
                    AtEntry::Flag { bit }
                }
                (wanted_record, LoopWay::On | LoopWay::Out) => wanted_record,
            };
            self.entries.entry(side.place).or_default().push(entry_record);
        }
    }
}

fn marker_step(
    call: &MarkerCall,
    record_layout: &RecordLayout,
    slots: &BTreeMap<DecisionId, &DecisionSlot>,
    trees: &BTreeMap<DecisionId, (VectorTree, Id)>,
) -> RecordStep {
    match call.role {
        MarkerRole::Mark { mark } => {
            record_layout.mark_bit(mark).map_or(RecordStep::Nothing, |bit| RecordStep::Set { bit })
        }
        MarkerRole::MarkWhere { mark } => {
            record_layout.mark_bit(mark).map_or(RecordStep::Nothing, |bit| RecordStep::Choose {
                if_true: Some(bit),
                if_false: None,
            })
        }
        MarkerRole::Single { decision } => match slots.get(&decision) {
            Some(slot) => {
                let [if_true, if_false] = slot.weights[0].map(|weight| Some(slot.base + weight));
                RecordStep::Choose { if_true, if_false }
            }
            None => RecordStep::Nothing,
        },
        MarkerRole::Condition { decision, condition } => {
            match (slots.get(&decision), trees.get(&decision)) {
                (Some(_), Some(_)) => RecordStep::Keep { condition, decision },
                (Some(_), None) => RecordStep::Add { condition, decision },
                (None, _) => RecordStep::Nothing,
            }
        }
        MarkerRole::Decision { decision } => match (slots.get(&decision), trees.get(&decision)) {
            (Some(_), Some(_)) => RecordStep::Pick { decision },
            (Some(_), None) => RecordStep::Conclude { decision },
            (None, _) => RecordStep::Nothing,
        },
    }
}
