//! What is known at a place: facts, and what the variables of the invocation hold.
//!
//! Promises: where ways meet, only what all of them have in common stays a fact; values that differ
//! become one that keeps each way's value with what holds on that way.

use super::Walk;
use super::atom::{Alternative, AtomId, Origin};
use super::condition::{Condition, ValueByWay};
use super::deciders::{Deciders, joined_deciders};
use super::fact::{Fact, FactList};
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::interval_at;
use super::value::{Root, Value, VariableKey};
use crate::module::Id;
use crate::types::{Signedness, Type};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Ways that a joined value keeps apart at most.
const MOST_WAYS: usize = 8;
/// Facts of a way that are kept.
const MOST_FACTS_OF_WAY: usize = 48;

/// What is known at a place.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub facts: FactList,
    pub deciders: Deciders,
    pub variables: BTreeMap<VariableKey, Value>,
}

/// A state that comes to a block, with the values of its OpPhi for the edge.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    pub state: State,
    pub phis: Vec<Value>,
}

/// Bits and signedness of an integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WordType {
    pub width: u32,
    pub is_signed: bool,
}

impl WordType {
    pub(super) fn interval(self) -> Interval {
        Interval::of_word(self.width, self.is_signed)
    }

    /// The greatest index that a word of this width holds, since indices are read with sign.
    pub(super) fn greatest_index(self) -> i128 {
        Interval::of_word(self.width, true).high
    }
}

impl Walk<'_> {
    /// Bits and signedness of an integer type; none of others.
    pub(super) fn word_type(&self, type_id: Id) -> Option<WordType> {
        match self.types.get(type_id)? {
            Type::Int { width, signedness } => {
                Some(WordType { width: *width, is_signed: *signedness == Signedness::Signed })
            }
            _ => None,
        }
    }

    /// A value of a type of which nothing is known but where it comes from.
    pub(super) fn fresh_value(&mut self, type_id: Id, origin: &Origin) -> Value {
        match self.types.get(type_id) {
            Some(Type::Int { .. }) => {
                let word = self.word_type(type_id).expect("an integer type");
                let symbol = self.atoms.new_symbol("", word.interval(), origin.clone());
                Value::integer(Polynomial::atom(symbol))
            }
            Some(Type::Bool) => Value::Boolean(Rc::new(self.unknown_condition(origin))),
            Some(Type::Vector { component, count }) => {
                let parts = vec![*component; *count as usize];
                self.fresh_composite(&parts, origin)
            }
            Some(Type::Structure { members, .. }) if members.len() <= 64 => {
                let parts: Vec<Id> = members.iter().map(|member| member.ty).collect();
                self.fresh_composite(&parts, origin)
            }
            _ => Value::Unknown(origin.clone()),
        }
    }

    fn fresh_composite(&mut self, part_types: &[Id], origin: &Origin) -> Value {
        let parts = part_types.iter().map(|part| self.fresh_value(*part, origin));
        Value::Composite(Rc::new(parts.collect()))
    }

    /// A truth value of which nothing is known.
    pub(super) fn unknown_condition(&mut self, origin: &Origin) -> Condition {
        self.unknown_conditions += 1;
        Condition::Unknown(origin.clone(), self.unknown_conditions)
    }

    /// One state from those that come to a block, with the values of its OpPhi of these types.
    pub(super) fn join_arrivals(
        &mut self,
        mut arrivals: Vec<Arrival>,
        phi_types: &[Id],
    ) -> Option<Arrival> {
        if arrivals.len() < 2 {
            return arrivals.pop();
        }
        let mut shared = arrivals[0].state.facts.clone();
        for arrival in &arrivals[1..] {
            shared = shared.common(&arrival.state.facts);
        }
        let mut ways = Vec::new();
        for arrival in &arrivals {
            let mut facts = arrival.state.facts.beyond(&shared);
            if facts.len() > MOST_FACTS_OF_WAY {
                facts.truncate(MOST_FACTS_OF_WAY);
                // What is left out chose this way, too.
                let left_out = self.unknown_condition(&Origin::Joined);
                facts.push(Fact::Assumed(Rc::new(left_out), true));
            }
            ways.push(Way { facts: Rc::new(facts), all_facts: arrival.state.facts.clone() });
        }
        let mut variables = BTreeMap::new();
        let keys: Vec<VariableKey> = arrivals[0].state.variables.keys().copied().collect();
        for key in keys {
            let values: Option<Vec<Value>> =
                arrivals.iter().map(|arrival| arrival.state.variables.get(&key).cloned()).collect();
            // A variable that a way lacks is of a function that has ended.
            let Some(values) = values else { continue };
            let type_id = self.variable_types[key.0 as usize];
            variables.insert(key, self.join_values(type_id, values, &ways));
        }
        let mut phis = Vec::new();
        for (position, type_id) in phi_types.iter().enumerate() {
            let values = arrivals.iter().map(|arrival| arrival.phis[position].clone()).collect();
            phis.push(self.join_values(*type_id, values, &ways));
        }
        let deciders = joined_deciders(&arrivals, &shared);
        Some(Arrival { state: State { facts: shared, deciders, variables }, phis })
    }

    fn join_values(&mut self, type_id: Id, values: Vec<Value>, ways: &[Way]) -> Value {
        if values.iter().all(|value| *value == values[0]) {
            return values[0].clone();
        }
        match self.types.get(type_id) {
            Some(Type::Bool) => self.join_conditions(&values, ways),
            Some(Type::Int { .. }) => self.join_integers(type_id, &values, ways),
            Some(Type::Vector { component, count }) => {
                let parts = vec![*component; *count as usize];
                self.join_composites(&parts, &values, ways)
            }
            Some(Type::Structure { members, .. }) if members.len() <= 64 => {
                let parts: Vec<Id> = members.iter().map(|member| member.ty).collect();
                self.join_composites(&parts, &values, ways)
            }
            Some(Type::Pointer { .. }) => joined_pointer(&values),
            _ => match self.worst_origin(&values) {
                origin if origin.may_be_undefined() => Value::Unknown(origin),
                _ => Value::Unknown(Origin::Joined),
            },
        }
    }

    fn join_conditions(&mut self, values: &[Value], ways: &[Way]) -> Value {
        let by_way: Option<Vec<_>> = values
            .iter()
            .zip(ways)
            .map(|(value, way)| match value {
                Value::Boolean(condition) => {
                    let known = condition.value_under(&way.facts).map(Condition::Known);
                    let condition = known.map_or_else(|| condition.clone(), Rc::new);
                    Some((way.facts.clone(), condition))
                }
                Value::Integer(_)
                | Value::Composite(_)
                | Value::Pointer(_)
                | Value::Image(_)
                | Value::Unknown(_) => None,
            })
            .collect();
        let by_way = by_way.filter(|by_way| by_way.len() <= MOST_WAYS);
        match by_way.and_then(Condition::by_way) {
            Some(by_way) => Value::boolean(by_way),
            None => Value::Boolean(Rc::new(self.unknown_condition(&Origin::Joined))),
        }
    }

    fn join_integers(&mut self, type_id: Id, values: &[Value], ways: &[Way]) -> Value {
        let word = self.word_type(type_id).expect("an integer type");
        let mut alternatives = Vec::new();
        let mut interval: Option<Interval> = None;
        for (value, way) in values.iter().zip(ways) {
            let number = self.integer_of(value, type_id);
            let reading = self.reading_of(&way.all_facts, &number, word);
            let bounds = interval_at(&self.atoms, &way.all_facts, &reading);
            interval = Some(interval.map_or(bounds, |interval| interval.hull(bounds)));
            alternatives.push(Alternative { facts: way.facts.clone(), value: reading });
        }
        let interval = interval.unwrap_or(word.interval()).meet(word.interval());
        let first = &alternatives[0].value;
        if alternatives.iter().all(|alternative| alternative.value == *first) {
            return Value::integer(first.as_word(word.width));
        }
        let atom = if alternatives.len() <= MOST_WAYS {
            self.atoms.new_joined(alternatives, interval)
        } else {
            self.symbol_of_ways(&alternatives, interval)
        };
        Value::integer(Polynomial::atom(atom))
    }

    /// A number of its own that one of too many ways gives.
    fn symbol_of_ways(&mut self, alternatives: &[Alternative], interval: Interval) -> AtomId {
        let symbol = self.atoms.new_symbol("", interval, Origin::Joined);
        for alternative in alternatives {
            self.atoms.add_sources(symbol, &alternative.value);
        }
        symbol
    }

    fn join_composites(&mut self, part_types: &[Id], values: &[Value], ways: &[Way]) -> Value {
        let mut parts = Vec::new();
        for (position, type_id) in part_types.iter().enumerate() {
            let mut part_values = Vec::new();
            for value in values {
                part_values.push(self.part_of(value, *type_id, position as u32));
            }
            parts.push(self.join_values(*type_id, part_values, ways));
        }
        Value::Composite(Rc::new(parts))
    }

    /// A component of a composite value.
    pub(super) fn part_of(&mut self, value: &Value, part_type: Id, position: u32) -> Value {
        let origin = match value {
            Value::Composite(parts) => match parts.get(position as usize) {
                Some(part) => return part.clone(),
                None => Origin::Variable,
            },
            Value::Unknown(origin) => origin.clone(),
            Value::Integer(_) | Value::Boolean(_) | Value::Pointer(_) | Value::Image(_) => {
                Origin::Variable
            }
        };
        self.fresh_value(part_type, &origin)
    }

    /// An integer value modulo 2 to the power of its width.
    pub(super) fn integer_of(&mut self, value: &Value, type_id: Id) -> Rc<Polynomial> {
        let origin = match value {
            Value::Integer(number) => return number.clone(),
            Value::Unknown(origin) => origin.clone(),
            Value::Boolean(_) | Value::Composite(_) | Value::Pointer(_) | Value::Image(_) => {
                Origin::Variable
            }
        };
        match self.fresh_value(type_id, &origin) {
            Value::Integer(number) => number,
            Value::Boolean(_)
            | Value::Composite(_)
            | Value::Pointer(_)
            | Value::Image(_)
            | Value::Unknown(_) => Rc::new(self.symbol_of_any_number(&origin)),
        }
    }

    fn symbol_of_any_number(&mut self, origin: &Origin) -> Polynomial {
        Polynomial::atom(self.atoms.new_symbol("", Interval::ALL, origin.clone()))
    }

    /// The state behind a branch that is taken where a condition has this value; none: it is never
    /// taken.
    pub(super) fn assumed_state(
        &mut self,
        state: &State,
        condition: &Rc<Condition>,
        value: bool,
    ) -> Option<State> {
        let stated = if value { condition.clone() } else { condition.negated() };
        let mut facts = state.facts.clone();
        for fact in self.implied_facts(&state.facts, &stated)? {
            if let Fact::AtLeastZero(number) = &fact
                && self.atoms.interval_of(number).high < 0
            {
                return None;
            }
            facts = facts.with(fact);
        }
        let marker = match &*stated {
            Condition::Not(inner) => Fact::Assumed(inner.clone(), false),
            Condition::Known(_)
            | Condition::AtLeastZero(_)
            | Condition::Zero(_)
            | Condition::NonZero(_)
            | Condition::All(_)
            | Condition::Any(_)
            | Condition::ByWay(_)
            | Condition::Unknown(..) => Fact::Assumed(stated.clone(), true),
        };
        facts = facts.with(marker);
        // What is left where no value fulfils the facts is never executed.
        if let Condition::AtLeastZero(number) | Condition::Zero(number) = &*stated
            && interval_at(&self.atoms, &facts, number).is_empty()
        {
            return None;
        }
        Some(State { facts, ..state.clone() })
    }

    /// Facts that a true condition tells; none: it cannot be true.
    fn implied_facts(&mut self, facts: &FactList, condition: &Rc<Condition>) -> Option<Vec<Fact>> {
        match &**condition {
            Condition::Known(value) => value.then(Vec::new),
            Condition::AtLeastZero(number) => Some(vec![Fact::AtLeastZero(number.clone())]),
            Condition::Zero(number) => {
                Some(vec![Fact::AtLeastZero(number.clone()), Fact::AtLeastZero(number.negated())])
            }
            Condition::NonZero(number) => Some(vec![self.nonzero_fact(facts, number)]),
            Condition::All(compound) => {
                let mut all_facts = Vec::new();
                for part in &compound.parts {
                    all_facts.extend(self.implied_facts(facts, part)?);
                }
                Some(all_facts)
            }
            Condition::Any(compound) => {
                let lists =
                    compound.parts.iter().filter_map(|part| self.implied_facts(facts, part));
                choice_of_lists(lists.collect())
            }
            Condition::ByWay(compound) => {
                let ways = compound.parts.iter();
                let ways = ways.map(|(facts, value)| (facts.clone(), value.clone()));
                self.facts_by_way(facts, ways.collect())
            }
            Condition::Not(inner) => match &**inner {
                Condition::ByWay(compound) => {
                    let ways = compound.parts.iter();
                    let ways = ways.map(|(facts, value)| (facts.clone(), value.negated()));
                    self.facts_by_way(facts, ways.collect())
                }
                Condition::Known(_)
                | Condition::AtLeastZero(_)
                | Condition::Zero(_)
                | Condition::NonZero(_)
                | Condition::All(_)
                | Condition::Any(_)
                | Condition::Not(_)
                | Condition::Unknown(..) => Some(Vec::new()),
            },
            Condition::Unknown(..) => Some(Vec::new()),
        }
    }

    fn facts_by_way(&mut self, facts: &FactList, ways: Vec<ValueByWay>) -> Option<Vec<Fact>> {
        let mut lists = Vec::new();
        for (way_facts, value) in ways {
            if value.value_under(&way_facts) == Some(false) {
                continue;
            }
            let Some(mut list) = self.implied_facts(facts, &value) else { continue };
            list.extend(way_facts.iter().cloned());
            lists.push(list);
        }
        choice_of_lists(lists)
    }

    fn nonzero_fact(&mut self, facts: &FactList, number: &Polynomial) -> Fact {
        let (positive, negative) = (number.plus_number(-1), number.negated().plus_number(-1));
        if self.is_at_least_zero(facts, number) {
            return Fact::AtLeastZero(positive);
        }
        if self.is_at_least_zero(facts, &number.negated()) {
            return Fact::AtLeastZero(negative);
        }
        let ways = vec![vec![Fact::AtLeastZero(positive)], vec![Fact::AtLeastZero(negative)]];
        Fact::one_of(ways)
    }
}

/// A way to a place where ways meet.
struct Way {
    /// What holds on it and not on all.
    facts: Rc<Vec<Fact>>,
    all_facts: FactList,
}

/// One of the lists holds; none: there is none.
fn choice_of_lists(mut lists: Vec<Vec<Fact>>) -> Option<Vec<Fact>> {
    match lists.len() {
        0 => None,
        1 => lists.pop(),
        2..=6 => Some(vec![Fact::one_of(lists)]),
        // Too many to look at each.
        _ => Some(Vec::new()),
    }
}

fn joined_pointer(values: &[Value]) -> Value {
    let mut pointers = values.iter().filter_map(|value| match value {
        Value::Pointer(pointer) => Some(pointer),
        Value::Integer(_)
        | Value::Boolean(_)
        | Value::Composite(_)
        | Value::Image(_)
        | Value::Unknown(_) => None,
    });
    match pointers.next() {
        Some(first) => {
            let mut joined = (**first).clone();
            joined.root = Root::Unknown("it is chosen between pointers".to_owned());
            Value::Pointer(Rc::new(joined))
        }
        None => Value::Unknown(Origin::Joined),
    }
}
