//! Truth values as statements about polynomials.
//!
//! Promises: the negation of a condition is exact; what is not modelled is unknown and tells
//! nothing.

use super::atom::Origin;
use super::fact::Fact;
use super::polynomial::Polynomial;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What holds on a way, and the value that comes by it.
pub(super) type ValueByWay = (Rc<Vec<Fact>>, Rc<Condition>);

/// A truth value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    /// This value.
    Known(bool),
    /// Whether the polynomial is at least 0.
    AtLeastZero(Polynomial),
    /// Whether it is 0.
    Zero(Polynomial),
    /// Whether it is not 0.
    NonZero(Polynomial),
    /// Whether all are true.
    All(Compound<Vec<Rc<Condition>>>),
    /// Whether one is true.
    Any(Compound<Vec<Rc<Condition>>>),
    /// The value that came by the way that was taken: what holds on it, and the value.
    ByWay(Compound<Vec<ValueByWay>>),
    /// The opposite of a condition that is none of the simple ones.
    Not(Rc<Condition>),
    /// Nothing is known of it; the number keeps apart what is not the same.
    Unknown(Origin, u32),
}

/// Parts of a condition, with how deeply conditions are nested in them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Compound<T> {
    /// The parts.
    pub parts: T,
    depth: u32,
}

/// Where a condition lies, which tells conditions apart that are kept.
pub(super) type ConditionAddress = usize;

/// Conditions within each other at most, because they are walked by recursion.
const DEEPEST_CONDITION: u32 = 40;

impl Condition {
    /// How deeply conditions are nested in it.
    pub(super) fn depth(&self) -> u32 {
        match self {
            Condition::Known(_)
            | Condition::AtLeastZero(_)
            | Condition::Zero(_)
            | Condition::NonZero(_)
            | Condition::Unknown(..) => 0,
            Condition::All(compound) | Condition::Any(compound) => compound.depth,
            Condition::ByWay(compound) => compound.depth,
            Condition::Not(inner) => inner.depth() + 1,
        }
    }

    fn compound_of(parts: Vec<Rc<Condition>>) -> Option<Compound<Vec<Rc<Condition>>>> {
        let depth = 1 + parts.iter().map(|part| part.depth()).max().unwrap_or(0);
        (depth <= DEEPEST_CONDITION).then_some(Compound { parts, depth })
    }

    /// Whether all are true; none where they are nested too deeply.
    pub(super) fn all(parts: Vec<Rc<Condition>>) -> Option<Self> {
        Self::compound_of(parts).map(Condition::All)
    }

    /// Whether one is true; none where they are nested too deeply.
    pub(super) fn any(parts: Vec<Rc<Condition>>) -> Option<Self> {
        Self::compound_of(parts).map(Condition::Any)
    }

    /// The value by the way that was taken; none where conditions are nested too deeply.
    pub(super) fn by_way(ways: Vec<ValueByWay>) -> Option<Self> {
        let of_facts = ways.iter().flat_map(|(facts, _)| facts.iter()).map(Fact::depth);
        let of_values = ways.iter().map(|(_, value)| value.depth());
        let depth = 1 + of_facts.chain(of_values).max().unwrap_or(0);
        let is_shallow = depth <= DEEPEST_CONDITION;
        is_shallow.then_some(Condition::ByWay(Compound { parts: ways, depth }))
    }

    /// The opposite.
    pub(super) fn negated(self: &Rc<Self>) -> Rc<Self> {
        Rc::new(match &**self {
            Condition::Known(value) => Condition::Known(!value),
            Condition::AtLeastZero(number) => {
                Condition::AtLeastZero(number.negated().plus_number(-1))
            }
            Condition::Zero(number) => Condition::NonZero(number.clone()),
            Condition::NonZero(number) => Condition::Zero(number.clone()),
            Condition::Not(inner) => return inner.clone(),
            Condition::All(compound) => Condition::Any(compound.negated()),
            Condition::Any(compound) => Condition::All(compound.negated()),
            Condition::ByWay(_) | Condition::Unknown(..) => Condition::Not(self.clone()),
        })
    }

    /// What facts say of the condition directly; none where they do not.
    pub(super) fn value_under(self: &Rc<Self>, facts: &[Fact]) -> Option<bool> {
        if let Condition::Known(value) = **self {
            return Some(value);
        }
        if let Condition::Not(inner) = &**self {
            return inner.value_under(facts).map(|value| !value);
        }
        let opposite = self.negated();
        facts.iter().find_map(|fact| match fact {
            Fact::Assumed(condition, value) if condition.is_same(self) => Some(*value),
            Fact::Assumed(condition, value) if condition.is_same(&opposite) => Some(!*value),
            Fact::AtLeastZero(known) => match (&**self, &*opposite) {
                (Condition::AtLeastZero(asked), _) if known == asked => Some(true),
                (_, Condition::AtLeastZero(asked)) if known == asked => Some(false),
                (_, _) => None,
            },
            Fact::OneOf(_) | Fact::Assumed(..) => None,
        })
    }

    /// Whether two conditions are the same; values by way are compared by what they are made of
    /// only if they are one.
    fn is_same(self: &Rc<Self>, other: &Rc<Self>) -> bool {
        let is_by_way = matches!(**self, Condition::ByWay(_) | Condition::Not(_));
        Rc::ptr_eq(self, other) || (!is_by_way && self == other)
    }

    /// Polynomials that it is about, those of its parts and of the choice between ways included,
    /// of what was not visited before; none where something unknown is in it.
    pub(super) fn collect_numbers<'a>(
        self: &'a Rc<Self>,
        visited: &mut BTreeSet<ConditionAddress>,
        numbers: &mut Vec<&'a Polynomial>,
    ) -> Option<()> {
        if !visited.insert(Rc::as_ptr(self) as ConditionAddress) {
            return Some(());
        }
        match &**self {
            Condition::Known(_) => Some(()),
            Condition::AtLeastZero(number)
            | Condition::Zero(number)
            | Condition::NonZero(number) => {
                numbers.push(number);
                Some(())
            }
            Condition::All(compound) | Condition::Any(compound) => {
                let mut parts = compound.parts.iter();
                parts.try_for_each(|part| part.collect_numbers(visited, numbers))
            }
            Condition::ByWay(compound) => {
                for (facts, value) in &compound.parts {
                    value.collect_numbers(visited, numbers)?;
                    for fact in facts.iter() {
                        if let Fact::Assumed(condition, _) = fact {
                            condition.collect_numbers(visited, numbers)?;
                        }
                    }
                }
                Some(())
            }
            Condition::Not(inner) => inner.collect_numbers(visited, numbers),
            Condition::Unknown(..) => None,
        }
    }
}

impl Compound<Vec<Rc<Condition>>> {
    /// The opposite of each part.
    fn negated(&self) -> Self {
        let parts = self.parts.iter().map(|part| part.negated()).collect();
        Self { parts, depth: self.depth + 1 }
    }
}
