//! What is recorded where.
//!
//! Knows: the layout of a kernel's bits, its marker calls and the control flow around them.
//! Promises: every evaluation of a decision sets the bit of its vector and no other; every mark sets its bit. Where
//! control flow tells the value of a marked condition (it branches, and either target is entered from there alone), the
//! bits are set at the entries of the targets; else one of two constants is selected by the value. A decision whose
//! conditions tell the vector where its evaluation ends needs no sum.
//! Does not cover: where bits go (`emit`, `hand_over`).

use crate::instrument::markers::{MarkerCall, MarkerCalls};
use crate::model::id::DecisionId;
use crate::model::records::{DecisionSlot, RecordLayout};
use crate::model::structure::MarkerRole;
use crate::model::vector::ConditionValue;
use crate::spirv::cfg::targets;
use crate::spirv::module::{Block, Function, Id, Module};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Decisions whose sums reach further than a word has bits cannot be gathered by shifting a bit.
const WORD_BITS: u32 = 32;

/// Where bits are kept until an invocation hands them over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathering {
    /// In private words, except decisions that need a sum larger than a word has bits.
    PrivateWords,
    /// Nowhere: each bit is handed over when it is set.
    Nowhere,
}

/// What stands in the place of a marker call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
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
}

/// The plan of a module.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    /// By index of the marker call in the module's instruction list.
    pub steps: BTreeMap<usize, Step>,
    /// Bits to be set before the instruction with this index.
    pub entries: BTreeMap<usize, Vec<u32>>,
    /// Decisions with a sum, and the function that holds each.
    pub sums: BTreeMap<DecisionId, (&'a DecisionSlot, Id)>,
    /// Words that bits are gathered in.
    pub gathered: BTreeSet<u32>,
    /// Whether bits are handed over one by one.
    pub single_bits: SingleBits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SingleBits {
    #[default]
    Unused,
    Used,
}

/// Whether a decision's bits are gathered or handed over one by one.
fn gathers(slot: &DecisionSlot, ends: Option<&Ends>, gathering: Gathering) -> bool {
    match gathering {
        Gathering::PrivateWords => ends.is_some() || slot.size <= WORD_BITS,
        Gathering::Nowhere => false,
    }
}

impl<'a> Plan<'a> {
    pub fn make(marked: &Module, markers: &MarkerCalls, layout: &'a RecordLayout, gathering: Gathering) -> Self {
        let mut plan = Self::default();
        let slots: BTreeMap<DecisionId, &DecisionSlot> =
            layout.decisions.iter().map(|slot| (slot.decision, slot)).collect();
        let ends: BTreeMap<DecisionId, Ends> = match gathering {
            Gathering::PrivateWords => {
                slots.iter().filter_map(|(decision, slot)| Some((*decision, ends(slot)?))).collect()
            }
            Gathering::Nowhere => BTreeMap::new(),
        };
        for (index, call) in &markers.calls {
            let step = step(call, layout, &slots, &ends);
            plan.note(step, call, &slots, &ends, gathering);
            plan.steps.insert(*index, step);
        }
        plan.set_at_entries(marked, markers);
        plan
    }

    /// Notes what a step needs.
    fn note(
        &mut self,
        step: Step,
        call: &MarkerCall,
        slots: &BTreeMap<DecisionId, &'a DecisionSlot>,
        ends: &BTreeMap<DecisionId, Ends>,
        gathering: Gathering,
    ) {
        let bits: Vec<u32> = match step {
            Step::Nothing => Vec::new(),
            Step::Set { bit } => vec![bit],
            Step::Choose { if_true, if_false } => if_true.into_iter().chain(if_false).collect(),
            Step::Add { decision, .. } | Step::Conclude { decision } => {
                let Some(slot) = slots.get(&decision) else { return };
                self.sums.entry(decision).or_insert((slot, call.function));
                if gathers(slot, ends.get(&decision), gathering) {
                    self.gathered.insert(slot.base / WORD_BITS);
                } else {
                    self.single_bits = SingleBits::Used;
                }
                return;
            }
        };
        match gathering {
            Gathering::PrivateWords => self.gathered.extend(bits.iter().map(|bit| bit / WORD_BITS)),
            Gathering::Nowhere if !bits.is_empty() => self.single_bits = SingleBits::Used,
            Gathering::Nowhere => {}
        }
    }

    /// A gathered word with a bit that every invocation sets: that of a mark in the first block of the entry point.
    pub fn certain_word(&self, marked: &Module, entry: Id) -> Option<u32> {
        let first = marked.function(entry)?.blocks.first()?;
        let words = self.steps.range(first.range.clone()).filter_map(|(_, step)| match step {
            Step::Set { bit } => Some(bit / WORD_BITS),
            Step::Nothing | Step::Choose { .. } | Step::Add { .. } | Step::Conclude { .. } => None,
        });
        words.into_iter().find(|word| self.gathered.contains(word))
    }

    /// Moves bits from marker calls to the blocks that are entered for one value alone.
    fn set_at_entries(&mut self, marked: &Module, markers: &MarkerCalls) {
        for function in marked.functions.iter().filter(|function| !markers.is_marker(function.id)) {
            let entries = Entries::of(marked, function);
            for (index, call) in markers.calls.range(function.range.clone()) {
                let Some(Step::Choose { if_true, if_false }) = self.steps.get(index).copied() else { continue };
                let Some(places) = call.result.and_then(|value| entries.by_value(*index, value)) else { continue };
                let moved: Option<Vec<_>> = [(if_true, places[0]), (if_false, places[1])]
                    .into_iter()
                    .filter_map(|(bit, place)| Some((bit?, place)))
                    .map(|(bit, place)| Some((bit, place?)))
                    .collect();
                // One constant behind each edge is cheaper than a selection; a selection and a constant is not.
                let Some(moved) = moved else { continue };
                self.steps.insert(*index, Step::Nothing);
                for (bit, place) in moved {
                    self.entries.entry(place).or_default().push(bit);
                }
            }
        }
    }
}

fn step(
    call: &MarkerCall,
    layout: &RecordLayout,
    slots: &BTreeMap<DecisionId, &DecisionSlot>,
    ends: &BTreeMap<DecisionId, Ends>,
) -> Step {
    match call.role {
        MarkerRole::Mark { mark } => layout.mark_bit(mark).map_or(Step::Nothing, |bit| Step::Set { bit }),
        MarkerRole::Single { decision } => match slots.get(&decision) {
            Some(slot) => {
                let [if_true, if_false] = slot.weights[0].map(|weight| Some(slot.base + weight));
                Step::Choose { if_true, if_false }
            }
            None => Step::Nothing,
        },
        MarkerRole::Condition { decision, condition } => match (slots.get(&decision), ends.get(&decision)) {
            (Some(_), Some(ends)) => {
                let bit = |value| ends.get(&(condition, value)).copied();
                let (if_true, if_false) = (bit(true), bit(false));
                if (if_true, if_false) == (None, None) { Step::Nothing } else { Step::Choose { if_true, if_false } }
            }
            (Some(_), None) => Step::Add { condition, decision },
            (None, _) => Step::Nothing,
        },
        MarkerRole::Decision { decision } => match (slots.get(&decision), ends.get(&decision)) {
            (Some(_), None) => Step::Conclude { decision },
            (Some(_), Some(_)) | (None, _) => Step::Nothing,
        },
    }
}

/// The bit of the vector that ends with a condition (by number) having a value.
type Ends = BTreeMap<(u32, bool), u32>;

/// The ends of a decision, if each condition that ends it with a value always ends it so, and with one vector alone:
/// `a && b && c`, `a || b && c`, but neither `(a && b) || c` nor `a ^^ b`.
fn ends(slot: &DecisionSlot) -> Option<Ends> {
    let mut ends = Ends::new();
    let mut inner: BTreeSet<(u32, bool)> = BTreeSet::new();
    for row in &slot.vectors {
        let values = (0..).zip(&row.vector.values.0).filter_map(|(condition, value)| match value {
            ConditionValue::True => Some((condition, true)),
            ConditionValue::False => Some((condition, false)),
            ConditionValue::NotEvaluated => None,
        });
        let mut evaluated: Vec<(u32, bool)> = values.collect();
        let last = evaluated.pop()?;
        inner.extend(evaluated);
        if ends.insert(last, slot.base + row.sum).is_some() {
            return None;
        }
    }
    ends.keys().all(|end| !inner.contains(end)).then_some(ends)
}

/// Block entries of one function.
struct Entries<'a> {
    module: &'a Module,
    function: &'a Function,
    /// Number of edges into a block, by label.
    edges: BTreeMap<Id, u32>,
    by_label: BTreeMap<Id, &'a Block>,
}

impl<'a> Entries<'a> {
    fn of(module: &'a Module, function: &'a Function) -> Self {
        let mut edges = BTreeMap::new();
        for block in &function.blocks {
            for target in targets(&module.instructions[block.range.end - 1]) {
                *edges.entry(target).or_insert(0) += 1;
            }
        }
        let by_label = function.blocks.iter().map(|block| (block.label, block)).collect();
        Self { module, function, edges, by_label }
    }

    /// Where the block of instruction `index` branches on `value`: the first places of the blocks for true and false,
    /// each if it is entered from there alone.
    fn by_value(&self, index: usize, value: Id) -> Option<[Option<usize>; 2]> {
        let behind = self.function.blocks.partition_point(|block| block.range.start <= index);
        let block = self.function.blocks.get(behind.checked_sub(1)?).filter(|block| block.range.contains(&index))?;
        let branch = &self.module.instructions[block.range.end - 1];
        if branch.op != Op::BranchConditional {
            return None;
        }
        let (mut condition, mut targets) = (branch.id(0)?, [branch.id(1)?, branch.id(2)?]);
        while condition != value {
            let negation = self.module.definition(condition).filter(|i| i.op == Op::LogicalNot)?;
            condition = negation.id(0)?;
            targets.reverse();
        }
        Some(targets.map(|target| self.place(target)))
    }

    /// Behind the label and the phis of a block with one edge into it.
    fn place(&self, label: Id) -> Option<usize> {
        let block = self.by_label.get(&label).filter(|_| self.edges.get(&label) == Some(&1))?;
        let body = block.range.start + 1..block.range.end;
        let last_phi = body.clone().rev().find(|index| self.module.instructions[*index].op == Op::Phi);
        Some(last_phi.map_or(body.start, |phi| phi + 1))
    }
}
