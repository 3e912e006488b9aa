//! What is recorded where.
//!
//! Knows: the layout of a kernel's bits, its marker calls and the control flow around them.
//! Promises: every evaluation of a decision sets the bit of its vector and no other; every mark
//! sets its bit. A decision with few vectors picks its bit by the values that its conditions left
//! (`tree`); others add weights. The bits of a decision that ends or leaves a loop move out of the
//! iteration: those of leaving are set on the way out, and that of going on is a constant in a
//! variable of its own, which no iteration has to read.
//! Does not cover: where bits go (`emit`, `hand_over`).

use super::tree::VectorTree;
use crate::markers::{MarkerCall, MarkerCalls};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::records::{DecisionSlot, RecordLayout};
use vkcert_model::structure::MarkerRole;
use vkcert_model::vector::{ConditionValue, Outcome};
use vkcert_spirv::cfg::{ControlFlowGraph, NaturalLoop};
use vkcert_spirv::module::{Function, Id, Module};

/// Decisions whose sums reach further than a word has bits cannot be gathered by shifting a bit.
const WORD_BITS: u32 = 32;

/// Where bits are kept until an invocation hands them over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gathering {
    /// In private words, except decisions that need a sum larger than a word has bits.
    PrivateWords,
    /// Nowhere: each bit is handed over when it is set.
    Nowhere,
}

/// What stands in the place of a marker call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
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
pub(super) struct Plan<'a> {
    /// By index of the marker call in the module's instruction list.
    pub steps: BTreeMap<usize, Step>,
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
fn gathers(slot: &DecisionSlot, gathering: Gathering) -> bool {
    match gathering {
        Gathering::PrivateWords => slot.size <= WORD_BITS,
        Gathering::Nowhere => false,
    }
}

impl<'a> Plan<'a> {
    pub(super) fn make(
        marked: &Module,
        markers: &MarkerCalls,
        layout: &'a RecordLayout,
        gathering: Gathering,
    ) -> Self {
        let mut plan = Self::default();
        let slots: BTreeMap<DecisionId, &DecisionSlot> =
            layout.decisions.iter().map(|slot| (slot.decision, slot)).collect();
        let ends: BTreeMap<DecisionId, Ends> = match gathering {
            Gathering::PrivateWords => {
                slots.iter().filter_map(|(decision, slot)| Some((*decision, ends(slot)?))).collect()
            }
            Gathering::Nowhere => BTreeMap::new(),
        };
        if gathering == Gathering::PrivateWords {
            plan.plant(markers, &slots);
        }
        for (index, call) in &markers.calls {
            let step = step(call, layout, &slots, &plan.trees);
            plan.note(step, call, &slots, gathering);
            plan.steps.insert(*index, step);
        }
        plan.lift_from_loops(marked, markers, &ends);
        plan
    }

    /// Makes a tree for each decision whose bits are gathered and that is short enough for one.
    fn plant(&mut self, markers: &MarkerCalls, slots: &BTreeMap<DecisionId, &'a DecisionSlot>) {
        for call in markers.calls.values() {
            let MarkerRole::Decision { decision } = call.role else { continue };
            if let Some(tree) = slots.get(&decision).and_then(|slot| VectorTree::of(slot)) {
                self.trees.insert(decision, (tree, call.function));
            }
        }
    }

    /// Notes what a step needs.
    fn note(
        &mut self,
        step: Step,
        call: &MarkerCall,
        slots: &BTreeMap<DecisionId, &'a DecisionSlot>,
        gathering: Gathering,
    ) {
        let bits: Vec<u32> = match step {
            Step::Nothing | Step::Keep { .. } => Vec::new(),
            Step::Pick { decision } => {
                self.trees.get(&decision).map_or_else(Vec::new, |(tree, _)| tree.bits())
            }
            Step::Set { bit } => vec![bit],
            Step::Choose { if_true, if_false } => if_true.into_iter().chain(if_false).collect(),
            Step::Add { decision, .. } | Step::Conclude { decision } => {
                let Some(slot) = slots.get(&decision) else { return };
                self.sums.entry(decision).or_insert((slot, call.function));
                if gathers(slot, gathering) {
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

    /// A gathered word with a bit that every invocation sets: that of a mark in the first block of
    /// the entry point.
    pub(super) fn certain_word(&self, marked: &Module, entry: Id) -> Option<u32> {
        let first = marked.function_by_id(entry)?.blocks.first()?;
        let words = self.steps.range(first.range.clone()).filter_map(|(_, step)| match step {
            Step::Set { bit } => Some(bit / WORD_BITS),
            Step::Nothing
            | Step::Choose { .. }
            | Step::Add { .. }
            | Step::Conclude { .. }
            | Step::Keep { .. }
            | Step::Pick { .. } => None,
        });
        words.into_iter().find(|word| self.gathered.contains(word))
    }

    /// Moves the bits of loops' decisions to the blocks that are entered for one outcome alone.
    fn lift_from_loops(
        &mut self,
        marked: &Module,
        markers: &MarkerCalls,
        ends: &BTreeMap<DecisionId, Ends>,
    ) {
        let operands = markers.operands();
        for function in marked.functions.iter().filter(|function| !markers.is_marker(function.id)) {
            let Some(entries) = Entries::of(marked, function) else { continue };
            let calls = || markers.calls.range(function.range.clone());
            let mut conditions: BTreeMap<DecisionId, Vec<(usize, &MarkerCall)>> = BTreeMap::new();
            for (index, call) in calls() {
                if let MarkerRole::Condition { decision, .. } = call.role {
                    conditions.entry(decision).or_default().push((*index, call));
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
                        Some(Step::Choose { if_true: Some(yes), if_false: Some(no) }),
                    ) => {
                        let recorded = [yes, no].map(|bit| AtEntry::Set { bit: *bit });
                        self.lift(&[*index], sides, recorded);
                    }
                    (MarkerRole::Decision { decision }, _) => {
                        let (Some(ends), Some(calls)) =
                            (ends.get(&decision), conditions.get(&decision))
                        else {
                            continue;
                        };
                        let Some(recorded) = by_outcome(ends, calls, &operands) else { continue };
                        let mut steps: Vec<usize> = calls.iter().map(|(index, _)| *index).collect();
                        steps.push(*index);
                        self.lift(&steps, sides, recorded);
                        self.trees.remove(&decision);
                    }
                    (
                        MarkerRole::Single { .. }
                        | MarkerRole::Condition { .. }
                        | MarkerRole::Mark { .. },
                        _,
                    ) => {}
                }
            }
        }
    }

    /// Puts what is recorded for true and for false to the entries of both sides, instead of
    /// `steps`.
    fn lift(&mut self, steps: &[usize], sides: [Side; 2], recorded: [AtEntry; 2]) {
        for step in steps {
            self.steps.insert(*step, Step::Nothing);
        }
        for (side, recorded) in sides.into_iter().zip(recorded) {
            let recorded = match (recorded, side.way) {
                (AtEntry::Set { bit }, Way::On)
                    if self.gathered.contains(&(bit / WORD_BITS)) && self.flags.len() < FLAGS =>
                {
                    self.flags.insert(bit);
                    AtEntry::Flag { bit }
                }
                (recorded, Way::On | Way::Out) => recorded,
            };
            self.entries.entry(side.place).or_default().push(recorded);
        }
    }
}

/// What to record for the outcomes true and false of a decision with two conditions, each evaluated
/// at one place.
fn by_outcome(
    ends: &Ends,
    calls: &[(usize, &MarkerCall)],
    operands: &BTreeMap<Id, Id>,
) -> Option<[AtEntry; 2]> {
    let [(_, first), _] = calls else { return None };
    if !matches!(first.role, MarkerRole::Condition { condition: 0, .. }) {
        return None;
    }
    let first = first.result.and_then(|value| operands.get(&value)).copied()?;
    let of = |outcome: bool| {
        let mut vectors = ends.values().filter(|end| end.outcome == outcome);
        match (vectors.next(), vectors.next(), vectors.next()) {
            (Some(one), None, _) => Some(AtEntry::Set { bit: one.bit }),
            (Some(one), Some(other), None) if one.first != other.first => {
                let [if_true, if_false] =
                    if one.first { [one.bit, other.bit] } else { [other.bit, one.bit] };
                Some(AtEntry::Choose { value: first, if_true, if_false })
            }
            _ => None,
        }
    };
    Some([of(true)?, of(false)?])
}

fn step(
    call: &MarkerCall,
    layout: &RecordLayout,
    slots: &BTreeMap<DecisionId, &DecisionSlot>,
    trees: &BTreeMap<DecisionId, (VectorTree, Id)>,
) -> Step {
    match call.role {
        MarkerRole::Mark { mark } => {
            layout.mark_bit(mark).map_or(Step::Nothing, |bit| Step::Set { bit })
        }
        MarkerRole::Single { decision } => match slots.get(&decision) {
            Some(slot) => {
                let [if_true, if_false] = slot.weights[0].map(|weight| Some(slot.base + weight));
                Step::Choose { if_true, if_false }
            }
            None => Step::Nothing,
        },
        MarkerRole::Condition { decision, condition } => {
            match (slots.get(&decision), trees.get(&decision)) {
                (Some(_), Some(_)) => Step::Keep { condition, decision },
                (Some(_), None) => Step::Add { condition, decision },
                (None, _) => Step::Nothing,
            }
        }
        MarkerRole::Decision { decision } => match (slots.get(&decision), trees.get(&decision)) {
            (Some(_), Some(_)) => Step::Pick { decision },
            (Some(_), None) => Step::Conclude { decision },
            (None, _) => Step::Nothing,
        },
    }
}

/// The vector that ends with a condition (by number) having a value.
type Ends = BTreeMap<(u32, bool), End>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    bit: u32,
    outcome: bool,
    /// Value of the decision's first condition.
    first: bool,
}

/// The ends of a decision, if each condition that ends it with a value always ends it so, and with
/// one vector alone: `a && b && c`, `a || b && c`, but neither `(a && b) || c` nor `a ^^ b`.
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
        let (_, first) = *evaluated.first()?;
        let last = evaluated.pop()?;
        inner.extend(evaluated);
        let end =
            End { bit: slot.base + row.sum, outcome: row.vector.outcome == Outcome::True, first };
        if ends.insert(last, end).is_some() {
            return None;
        }
    }
    ends.keys().all(|end| !inner.contains(end)).then_some(ends)
}

/// One side of a branch that ends or goes on with a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Side {
    /// The first place in the block where anything may stand: behind the label and the phis.
    place: usize,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    On,
    Out,
}

/// Block entries of a function with loops.
struct Entries<'a> {
    module: &'a Module,
    graph: ControlFlowGraph,
    loops: Vec<NaturalLoop>,
    /// By block, the smallest of the loops that it is in.
    innermost: BTreeMap<usize, usize>,
}

impl<'a> Entries<'a> {
    fn of(module: &'a Module, function: &Function) -> Option<Self> {
        let inside = &module.instructions[function.range.clone()];
        if !inside.iter().any(|i| i.op == Op::LoopMerge) {
            return None;
        }
        let graph = ControlFlowGraph::of_function(module, function);
        let loops = graph.natural_loops();
        let mut by_size: Vec<usize> = (0..loops.len()).collect();
        by_size.sort_by_key(|index| std::cmp::Reverse(loops[*index].blocks.len()));
        let mut innermost = BTreeMap::new();
        for index in by_size {
            innermost.extend(loops[index].blocks.iter().map(|block| (*block, index)));
        }
        Some(Self { module, graph, loops, innermost })
    }

    /// The sides for true and false where the block of instruction `index` branches on `value`, if
    /// one of them leaves the innermost loop around it and each is entered from there alone.
    fn by_value(&self, index: usize, value: Id) -> Option<[Side; 2]> {
        let here =
            self.graph.blocks.partition_point(|block| block.range.start <= index).checked_sub(1)?;
        let around = &self.loops[*self.innermost.get(&here)?];
        let branch = &self.module.instructions[self.graph.blocks[here].terminator()];
        if branch.op != Op::BranchConditional {
            return None;
        }
        let (mut condition, mut targets) = (branch.id(0)?, [branch.id(1)?, branch.id(2)?]);
        while condition != value {
            let negation = self.module.definition(condition).filter(|i| i.op == Op::LogicalNot)?;
            condition = negation.id(0)?;
            targets.reverse();
        }
        let [yes, no] = targets.map(|target| self.side(target, around));
        let sides = [yes?, no?];
        (sides[0].way != sides[1].way).then_some(sides)
    }

    /// The side that a label begins, seen from within a loop.
    fn side(&self, label: Id, around: &NaturalLoop) -> Option<Side> {
        let index = self.graph.block_with_label(label)?;
        let block = &self.graph.blocks[index];
        if block.predecessors.len() != 1 {
            return None;
        }
        let body = block.range.start + 1..block.range.end;
        let last_phi =
            body.clone().rev().find(|index| self.module.instructions[*index].op == Op::Phi);
        let way = if around.blocks.contains(&index) { Way::On } else { Way::Out };
        Some(Side { place: last_phi.map_or(body.start, |phi| phi + 1), way })
    }
}
