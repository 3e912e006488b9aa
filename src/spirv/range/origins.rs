//! What numbers and conditions depend on.
//!
//! Knows: what each atom is computed of, and the conditions that choose between ways.
//! Promises: a number is of the host and of ids only if all that computes it is, all that chooses
//! it included.
//! Does not cover: what is undefined (`atom`).

use super::Walk;
use super::access::RecordedAccess;
use super::atom::{AtomId, AtomKind, Origin};
use super::condition::{Condition, ConditionAddress};
use super::fact::Fact;
use super::polynomial::Polynomial;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A search through all that something depends on.
#[derive(Default)]
struct Search {
    pending: Vec<AtomId>,
    visited_atoms: BTreeSet<AtomId>,
    visited_conditions: BTreeSet<ConditionAddress>,
}

impl Search {
    /// None where something unknown is in the condition.
    fn add_condition(&mut self, condition: &Rc<Condition>) -> Option<()> {
        let mut numbers = Vec::new();
        condition.collect_numbers(&mut self.visited_conditions, &mut numbers)?;
        self.pending.extend(numbers.into_iter().flat_map(Polynomial::atoms));
        Some(())
    }

    /// None where something unknown decided the way to it.
    fn add_facts<'a>(&mut self, mut facts: impl Iterator<Item = &'a Fact>) -> Option<()> {
        facts.try_for_each(|fact| match fact {
            Fact::Assumed(condition, _) => self.add_condition(condition),
            Fact::AtLeastZero(_) | Fact::OneOf(_) => Some(()),
        })
    }
}

impl Walk<'_> {
    /// Whether a run with any contents shows the numbers of an access, because they, and whether
    /// control comes to it, depend on nothing but host values and the ids of invocations.
    pub(super) fn is_shown_by_any_run(
        &self,
        access: &RecordedAccess,
        numbers: &[Polynomial],
    ) -> bool {
        let mut search = Search::default();
        search.pending.extend(numbers.iter().flat_map(Polynomial::atoms));
        let decided_by_known = search.add_facts(access.facts.iter()).is_some()
            && access.deciders.iter().all(|condition| search.add_condition(condition).is_some());
        decided_by_known && self.depends_on_known(search)
    }

    fn depends_on_known(&self, mut search: Search) -> bool {
        while let Some(atom) = search.pending.pop() {
            if !search.visited_atoms.insert(atom) {
                continue;
            }
            if !self.is_known_origin(atom) {
                return false;
            }
            search.pending.extend(self.atoms.parts(atom));
            search.pending.extend(self.atoms.sources(atom));
            if let AtomKind::Joined(alternatives) = self.atoms.kind(atom) {
                let facts = alternatives.iter().flat_map(|way| way.facts.iter());
                if search.add_facts(facts).is_none() {
                    return false;
                }
            }
        }
        true
    }

    /// Whether an atom is known if all that it is computed of is.
    fn is_known_origin(&self, atom: AtomId) -> bool {
        match self.atoms.origin(atom) {
            Origin::Known | Origin::Wrapped | Origin::Loop | Origin::Undefined(_) => true,
            // Without its ways nothing tells what chose between them.
            Origin::Joined => matches!(self.atoms.kind(atom), AtomKind::Joined(_)),
            Origin::Memory(_)
            | Origin::FloatingPoint
            | Origin::Instruction(_)
            | Origin::Variable
            | Origin::Element
            | Origin::Host(_)
            | Origin::BuiltIn(_) => false,
        }
    }
}
