//! Conditions that decide whether control comes to a place and are no facts of it.
//!
//! Knows: the conditions that ways were taken under which meet.
//! Promises: where a way is missing because it left before, by a return, a break or another
//! iteration, the condition that made it leave is kept, although facts that do not hold on all ways
//! are dropped.
//! Does not cover: what the conditions depend on (`origins`).

use super::Walk;
use super::condition::Condition;
use super::fact::{Fact, FactList};
use super::state::Arrival;
use super::walk::{Frame, RegionExits};
use std::collections::HashSet;
use std::rc::Rc;

/// Conditions of a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Deciders {
    conditions: Rc<Vec<Rc<Condition>>>,
}

/// A condition that a way was taken under, with its value.
type Decision = (Rc<Condition>, bool);

impl Deciders {
    /// The conditions.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Rc<Condition>> {
        self.conditions.iter()
    }

    /// With more conditions.
    pub(super) fn with<'a>(&self, more: impl Iterator<Item = &'a Rc<Condition>>) -> Self {
        let mut more = more.peekable();
        if more.peek().is_none() {
            return self.clone();
        }
        let mut conditions = self.conditions.clone();
        let mut known: HashSet<*const Condition> = conditions.iter().map(Rc::as_ptr).collect();
        for condition in more {
            if known.insert(Rc::as_ptr(condition)) {
                Rc::make_mut(&mut conditions).push(condition.clone());
            }
        }
        Self { conditions }
    }

    /// With those of another place, which are the same ones more often than not.
    fn joined_with(&self, other: &Self) -> Self {
        if self.conditions.is_empty() || Rc::ptr_eq(&self.conditions, &other.conditions) {
            return other.clone();
        }
        self.with(other.iter())
    }
}

/// Conditions that decide whether control comes by one of these ways to where they meet, beyond
/// those of the facts that they share.
pub(super) fn joined_deciders(arrivals: &[Arrival], shared: &FactList) -> Deciders {
    let mut deciders = Deciders::default();
    for arrival in arrivals {
        deciders = deciders.joined_with(&arrival.state.deciders);
    }
    let ways: Vec<Vec<Decision>> =
        arrivals.iter().map(|arrival| decisions(&arrival.state.facts, shared)).collect();
    let undecided = ways.iter().flat_map(|way| {
        let one_sided = (0..way.len()).filter(|position| !has_other_side(&ways, way, *position));
        one_sided.map(|position| &way[position].0)
    });
    deciders.with(undecided)
}

/// What a way was taken under, the earliest first.
fn decisions(facts: &FactList, shared: &FactList) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = facts
        .iter()
        .take(facts.length() - shared.length())
        .filter_map(|fact| match fact {
            Fact::Assumed(condition, value) => Some((condition.clone(), *value)),
            Fact::AtLeastZero(_) | Fact::OneOf(_) => None,
        })
        .collect();
    decisions.reverse();
    decisions
}

/// Whether another way goes the same way up to a decision and there the other one.
fn has_other_side(ways: &[Vec<Decision>], way: &[Decision], position: usize) -> bool {
    let (condition, value) = &way[position];
    ways.iter().any(|other| {
        let Some((other_condition, other_value)) = other.get(position) else { return false };
        let is_opposite = match Rc::ptr_eq(condition, other_condition) {
            true => value != other_value,
            false => value == other_value && **other_condition == *condition.negated(),
        };
        is_opposite && other[..position].iter().zip(way).all(|(left, right)| is_same(left, right))
    })
}

fn is_same(left: &Decision, right: &Decision) -> bool {
    Rc::ptr_eq(&left.0, &right.0) && left.1 == right.1
}

impl Walk<'_> {
    /// Adds what decides about another iteration to all places that may be of a later one: the
    /// accesses and returns of the loop from these numbers on, and what is behind it.
    pub(super) fn add_deciders_of_loop(
        &mut self,
        frame: &mut Frame,
        (access_count, return_count): (usize, usize),
        exits: &mut RegionExits,
        deciders: &Deciders,
    ) {
        for access in &mut self.accesses[access_count..] {
            access.deciders = access.deciders.with(deciders.iter());
        }
        let states_behind = exits.outside.iter_mut().map(|(_, arrival)| &mut arrival.state);
        for state in states_behind.chain(frame.states_at_returns(return_count)) {
            state.deciders = state.deciders.with(deciders.iter());
        }
    }
}
