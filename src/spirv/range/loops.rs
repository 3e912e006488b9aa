//! Loops: what holds at the header in every iteration.
//!
//! Knows: the variables that a loop stores to, and the OpPhi of its header.
//! Promises: what is used of a header holds by induction: it holds where the loop is entered, and
//! the walk through the body that used it shows it again at the back edge. What fails is given up
//! and the body walked anew; with nothing assumed the walk is right without induction.
//! Does not cover: numbers of iterations.
//!
//! All numbers that change by a constant in each iteration share one counter of iterations, so that
//! what they have in common (strides, offsets) stays visible.

use super::Walk;
use super::atom::Origin;
use super::deciders::joined_deciders;
use super::fact::Fact;
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::interval_at;
use super::state::{Arrival, State, WordType};
use super::value::{Root, Value, VariableKey};
use super::walk::{Frame, RegionExits};
use crate::module::Id;
use crate::types::Type;
use rspirv::spirv::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Walks through a body until nothing is assumed any more.
const MOST_ROUNDS: usize = 6;

/// From this walk on an interval that does not hold is given up.
const STEADY_ROUND: usize = 3;

/// A number that a loop may change: a variable or the result of an OpPhi, with the components on
/// the way to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LeafKey {
    owner: LeafOwner,
    path: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LeafOwner {
    Variable(VariableKey),
    Phi(usize),
}

/// What is assumed of a number at the header.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LeafForm {
    /// It is what it was where the loop was entered.
    Unchanged,
    /// It changes by `step` in each iteration.
    Counted { step: i128, stays_in_range: bool },
    /// Only this.
    Bounded { at_least_entry: bool, at_most_entry: bool, interval: Option<Interval> },
}

const ANYTHING: LeafForm =
    LeafForm::Bounded { at_least_entry: false, at_most_entry: false, interval: None };

/// A number at the header as one walk through the body has it.
struct Leaf {
    form: LeafForm,
    word: WordType,
    /// Where the loop is entered, as it is read.
    entry: Polynomial,
    /// At the header.
    header: Polynomial,
}

/// One walk through the body.
#[derive(Default)]
struct Round {
    forms: BTreeMap<LeafKey, LeafForm>,
    leaves: BTreeMap<LeafKey, Leaf>,
    iteration: Polynomial,
}

impl Walk<'_> {
    /// Walks a loop; arrivals at blocks behind it.
    pub(super) fn walk_loop(
        &mut self,
        frame: &mut Frame,
        header: usize,
        arrivals: Vec<Arrival>,
    ) -> Vec<(usize, Arrival)> {
        frame.nesting += 1;
        if frame.nesting > 24 {
            self.stop("calls and loops are nested too deeply");
        }
        let phis = self.phi_types(frame, header);
        let types: Vec<Id> = phis.iter().map(|(_, type_id)| *type_id).collect();
        let mut exits = Vec::new();
        if let Some(entry) = self.join_arrivals(arrivals, &types) {
            exits = self.walk_rounds(frame, header, &entry, &types);
        }
        frame.nesting -= 1;
        exits
    }

    fn walk_rounds(
        &mut self,
        frame: &mut Frame,
        header: usize,
        entry: &Arrival,
        phi_types: &[Id],
    ) -> Vec<(usize, Arrival)> {
        let changed = self.changed_variables(frame, &entry.state, header);
        let access_count = self.accesses.len();
        let comparison_count = self.comparisons.len();
        let return_count = frame.return_count();
        // Nothing is assumed in the first walk, which shows how numbers change.
        let mut forms = BTreeMap::new();
        for round_number in 0.. {
            self.accesses.truncate(access_count);
            self.comparisons.truncate(comparison_count);
            frame.forget_returns(return_count);
            let is_last = round_number >= MOST_ROUNDS || self.visits > super::MOST_VISITS / 2;
            if is_last {
                forms.clear();
            }
            let mut round = Round { forms: std::mem::take(&mut forms), ..Round::default() };
            let start = self.header_arrival(&mut round, entry, &changed, phi_types);
            let start_facts = start.state.facts.clone();
            let arrivals = BTreeMap::from([(header, vec![start])]);
            let mut exits = self.walk_region(frame, Some(header), arrivals);
            if self.is_stopped() {
                return Vec::new();
            }
            forms = self.forms_shown(&round, &exits, phi_types);
            let nothing_is_assumed = is_last || round.leaves.is_empty();
            if nothing_is_assumed || (round_number > 0 && forms == round.forms) {
                let deciders = joined_deciders(&exits.back, &start_facts);
                let counts = (access_count, return_count);
                self.add_deciders_of_loop(frame, counts, &mut exits, &deciders);
                return exits.outside;
            }
            if round_number >= STEADY_ROUND {
                give_up_intervals(&mut forms, &round.forms);
            }
        }
        Vec::new()
    }

    /// What the header is entered with in any iteration.
    fn header_arrival(
        &mut self,
        round: &mut Round,
        entry: &Arrival,
        changed: &BTreeSet<VariableKey>,
        phi_types: &[Id],
    ) -> Arrival {
        let counter = self.atoms.new_symbol("iteration", Interval::NATURAL, Origin::Known);
        round.iteration = Polynomial::atom(counter);
        let mut start = entry.clone();
        for key in changed {
            let Some(value) = entry.state.variables.get(key) else { continue };
            let type_id = self.variable_types[key.0 as usize];
            let leaf_key = LeafKey { owner: LeafOwner::Variable(*key), path: Vec::new() };
            let header_value = self.header_value(round, &mut start.state, leaf_key, value, type_id);
            start.state.variables.insert(*key, header_value);
        }
        for (position, type_id) in phi_types.iter().enumerate() {
            let leaf_key = LeafKey { owner: LeafOwner::Phi(position), path: Vec::new() };
            let value = &entry.phis[position];
            start.phis[position] =
                self.header_value(round, &mut start.state, leaf_key, value, *type_id);
        }
        start
    }

    fn header_value(
        &mut self,
        round: &mut Round,
        state: &mut State,
        key: LeafKey,
        entry: &Value,
        type_id: Id,
    ) -> Value {
        let part_types: Vec<Id> = match self.types.get(type_id) {
            Some(Type::Int { .. }) => return self.header_number(round, state, key, entry, type_id),
            Some(Type::Vector { component, count }) => vec![*component; *count as usize],
            Some(Type::Structure { members, .. }) if members.len() <= 64 => {
                members.iter().map(|member| member.ty).collect()
            }
            _ => return self.fresh_value(type_id, &Origin::Loop),
        };
        let mut parts = Vec::new();
        for (position, part_type) in part_types.into_iter().enumerate() {
            let part = self.part_of(entry, part_type, position as u32);
            let mut path = key.path.clone();
            path.push(position as u32);
            let part_key = LeafKey { owner: key.owner, path };
            parts.push(self.header_value(round, state, part_key, &part, part_type));
        }
        Value::Composite(Rc::new(parts))
    }

    fn header_number(
        &mut self,
        round: &mut Round,
        state: &mut State,
        key: LeafKey,
        entry: &Value,
        type_id: Id,
    ) -> Value {
        let word = self.word_type(type_id).expect("an integer type");
        let number = self.integer_of(entry, type_id);
        let entry_number = self.reading_of(&state.facts, &number, word);
        let form = round.forms.get(&key).cloned().unwrap_or(ANYTHING);
        let header = self.number_of_form(round, state, &form, &entry_number, word);
        let value = Value::integer(header.as_word(word.width));
        round.leaves.insert(key, Leaf { form, word, entry: entry_number, header });
        value
    }

    /// The number at the header, with what the form says of it as facts.
    fn number_of_form(
        &mut self,
        round: &Round,
        state: &mut State,
        form: &LeafForm,
        entry: &Polynomial,
        word: WordType,
    ) -> Polynomial {
        match form {
            LeafForm::Unchanged => entry.clone(),
            LeafForm::Counted { step, stays_in_range } => {
                let moved = round.iteration.scaled(*step).and_then(|change| entry.plus(&change));
                let Some(header) = moved else {
                    return self.symbol_of_word(word, &Origin::Loop);
                };
                if *stays_in_range {
                    let range = word.interval();
                    add_inequality(state, header.plus_number(-range.low));
                    add_inequality(state, header.negated().plus_number(range.high));
                }
                header
            }
            LeafForm::Bounded { at_least_entry, at_most_entry, interval } => {
                let range = word.interval();
                let interval = interval.map_or(range, |interval| interval.meet(range));
                let symbol = self.atoms.new_symbol("", interval, Origin::Loop);
                let header = Polynomial::atom(symbol);
                if let Some(difference) = header.minus(entry) {
                    if *at_least_entry {
                        add_inequality(state, difference.clone());
                    }
                    if *at_most_entry {
                        add_inequality(state, difference.negated());
                    }
                }
                header
            }
        }
    }

    pub(super) fn symbol_of_word(&mut self, word: WordType, origin: &Origin) -> Polynomial {
        Polynomial::atom(self.atoms.new_symbol("", word.interval(), origin.clone()))
    }

    /// What the walk shows of each number at the back edge, no more than what it assumed; of the
    /// first walk, which assumed nothing, what may be tried.
    fn forms_shown(
        &mut self,
        round: &Round,
        exits: &RegionExits,
        phi_types: &[Id],
    ) -> BTreeMap<LeafKey, LeafForm> {
        let Some(back) = self.join_arrivals(exits.back.clone(), phi_types) else {
            // The header is entered once.
            return round.leaves.keys().map(|key| (key.clone(), LeafForm::Unchanged)).collect();
        };
        let is_first = round.forms.is_empty();
        let mut forms = BTreeMap::new();
        for (key, leaf) in &round.leaves {
            let number = self.back_number(&back, key, leaf.word, phi_types);
            self.add_leaf_sources(leaf, &number);
            let form = match is_first {
                true => self.form_to_try(leaf, &number),
                false => self.form_kept(round, leaf, &number, &back.state),
            };
            forms.insert(key.clone(), form);
        }
        forms
    }

    /// Adds what a number of its own at the header depends on.
    fn add_leaf_sources(&mut self, leaf: &Leaf, back: &Polynomial) {
        let Some(symbol) = leaf.header.single_atom() else { return };
        if *self.atoms.origin(symbol) == Origin::Loop && leaf.form != LeafForm::Unchanged {
            self.atoms.add_sources(symbol, &leaf.entry);
            self.atoms.add_sources(symbol, back);
        }
    }

    /// The number of a leaf at the back edge.
    fn back_number(
        &mut self,
        back: &Arrival,
        key: &LeafKey,
        word: WordType,
        phi_types: &[Id],
    ) -> Polynomial {
        let (mut value, mut type_id) = match key.owner {
            LeafOwner::Variable(variable) => (
                back.state.variables.get(&variable).cloned(),
                self.variable_types[variable.0 as usize],
            ),
            LeafOwner::Phi(position) => (back.phis.get(position).cloned(), phi_types[position]),
        };
        for step in &key.path {
            let (Some(whole), Some(part_type)) =
                (value.take(), self.types.component_type(type_id, *step))
            else {
                break;
            };
            value = Some(self.part_of(&whole, part_type, *step));
            type_id = part_type;
        }
        match value {
            Some(value) => (*self.integer_of(&value, type_id)).clone(),
            None => self.symbol_of_word(word, &Origin::Loop),
        }
    }

    /// How a number changes in one iteration.
    fn form_to_try(&mut self, leaf: &Leaf, back: &Polynomial) -> LeafForm {
        let change = back.minus(&leaf.header).map(|change| change.as_word(leaf.word.width));
        match change.and_then(|change| change.number()) {
            Some(0) => LeafForm::Unchanged,
            Some(step) => LeafForm::Counted { step, stays_in_range: true },
            None => LeafForm::Bounded {
                at_least_entry: true,
                at_most_entry: true,
                interval: Some(self.atoms.interval_of(&leaf.entry).meet(leaf.word.interval())),
            },
        }
    }

    /// What of a form holds again at the back edge.
    fn form_kept(
        &mut self,
        round: &Round,
        leaf: &Leaf,
        back: &Polynomial,
        state: &State,
    ) -> LeafForm {
        match &leaf.form {
            LeafForm::Unchanged => {
                let change = back.minus(&leaf.entry).map(|change| change.as_word(leaf.word.width));
                match change.and_then(|change| change.number()) {
                    Some(0) => LeafForm::Unchanged,
                    Some(_) | None => ANYTHING,
                }
            }
            LeafForm::Counted { step, stays_in_range } => {
                let next = leaf.header.plus_number(*step);
                let rest = back.minus(&next).map(|rest| rest.as_word(leaf.word.width));
                if round.iteration.number().is_some()
                    || rest.and_then(|rest| rest.number()) != Some(0)
                {
                    return ANYTHING;
                }
                let range = leaf.word.interval();
                let stays_in_range = *stays_in_range
                    && self.is_at_least_zero(&state.facts, &next.plus_number(-range.low))
                    && self.is_at_least_zero(&state.facts, &next.negated().plus_number(range.high));
                LeafForm::Counted { step: *step, stays_in_range }
            }
            LeafForm::Bounded { at_least_entry, at_most_entry, interval } => {
                let number = self.reading_of(&state.facts, &Rc::new(back.clone()), leaf.word);
                let holds = |walk: &mut Self, difference: Option<Polynomial>| {
                    difference
                        .is_some_and(|difference| walk.is_at_least_zero(&state.facts, &difference))
                };
                let at_least_entry = *at_least_entry && holds(self, number.minus(&leaf.entry));
                let at_most_entry = *at_most_entry && holds(self, leaf.entry.minus(&number));
                let at_back = interval_at(&self.atoms, &state.facts, &number);
                let interval = interval.and_then(|interval| widened(interval, at_back));
                LeafForm::Bounded { at_least_entry, at_most_entry, interval }
            }
        }
    }

    /// Variables that a loop may store to.
    fn changed_variables(
        &mut self,
        frame: &Frame,
        state: &State,
        header: usize,
    ) -> BTreeSet<VariableKey> {
        let all_variables: BTreeSet<VariableKey> = state.variables.keys().copied().collect();
        let mut changed = BTreeSet::new();
        let module = self.module;
        for block in &frame.shape.loops[&header].blocks {
            for index in frame.shape.graph.blocks[*block].instruction_indices() {
                let instruction = &module.instructions[index];
                if instruction.op == Op::FunctionCall {
                    changed.extend(self.private_variables.values().copied());
                }
                if !only_reads_pointers(instruction.op) {
                    for operand in instruction.ids() {
                        match self.own_root(frame, operand) {
                            Some(key) => drop(changed.insert(key)),
                            None if self.is_own_pointer(operand) => return all_variables,
                            None => {}
                        }
                    }
                }
            }
        }
        changed
    }

    /// Whether an id is a pointer into memory of one invocation.
    fn is_own_pointer(&self, id: Id) -> bool {
        self.type_of(id).is_some_and(|type_id| {
            self.types.pointee(type_id).is_some() && self.points_into_own_memory(type_id)
        })
    }

    /// The variable of the invocation that a pointer points into, by the definitions on the way.
    fn own_root(&self, frame: &Frame, pointer: Id) -> Option<VariableKey> {
        let mut id = pointer;
        for _ in 0..64 {
            if let Some(key) = self.private_variables.get(&id) {
                return Some(*key);
            }
            let definition = self.module.definition(id)?;
            match definition.op {
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => {
                    id = definition.id(0)?;
                }
                _ => break,
            }
        }
        match frame.values.get(&id)? {
            Value::Pointer(pointer) => match &pointer.root {
                Root::Own(key) => Some(*key),
                Root::Module(_) | Root::Texel | Root::Unknown(_) => None,
            },
            Value::Integer(_)
            | Value::Boolean(_)
            | Value::Composite(_)
            | Value::Image(_)
            | Value::Unknown(_) => None,
        }
    }

    /// Whether a pointer of this type may point into a variable of the invocation.
    pub(super) fn points_into_own_memory(&self, pointer_type: Id) -> bool {
        matches!(
            self.types.storage_class(pointer_type),
            Some(StorageClass::Function | StorageClass::Private) | None
        )
    }
}

/// Whether an instruction stores nothing through the pointers that it names.
fn only_reads_pointers(op: Op) -> bool {
    matches!(
        op,
        Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::Name | Op::Line
    )
}

/// Gives up intervals that the last walk did not show as it assumed them.
fn give_up_intervals(
    forms: &mut BTreeMap<LeafKey, LeafForm>,
    assumed: &BTreeMap<LeafKey, LeafForm>,
) {
    for (key, form) in forms {
        let is_changed = assumed.get(key) != Some(form);
        if let (true, LeafForm::Bounded { interval, .. }) = (is_changed, form) {
            *interval = None;
        }
    }
}

fn add_inequality(state: &mut State, inequality: Polynomial) {
    state.facts = state.facts.with(Fact::AtLeastZero(inequality));
}

/// The interval where it holds what is at the back edge; the hull of both where that is not far
/// more; else none.
fn widened(interval: Interval, at_back: Interval) -> Option<Interval> {
    if interval.contains(at_back) {
        return Some(interval);
    }
    let hull = interval.hull(at_back);
    (hull.is_closed() && hull.high - hull.low <= 1 << 20).then_some(hull)
}
