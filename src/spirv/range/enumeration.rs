//! Proofs by all values of a few atoms.
//!
//! Knows: atoms that others compute (quotients, powers of two ...) and those that nothing computes.
//! Promises: yes only if the goal holds for every choice of values within the intervals that
//! fulfils the facts that can be evaluated.
//! Does not cover: more than [`MOST_CHOICES`] choices.

use super::atom::{AtomId, AtomKind, Atoms};
use super::polynomial::Polynomial;
use super::proof::ProofContext;
use std::collections::{BTreeMap, BTreeSet};

/// Choices of values that are tried at most.
const MOST_CHOICES: i128 = 60_000;

/// Choices that cost about as much as a step of a search.
const CHOICES_IN_A_STEP: usize = 16;

/// Atoms that a goal is computed of at most.
const MOST_ATOMS: usize = 24;

type Values = BTreeMap<AtomId, i128>;

/// Whether the goal is at least 0 for all values of the atoms that it is computed of.
/// The number of choices that it would try is added to `work`, scaled to steps of a search.
pub(super) fn holds_for_all_values(
    context: &ProofContext<'_>,
    goal: &Polynomial,
    work: &mut usize,
) -> bool {
    if context.is_contradictory {
        return true;
    }
    let Some(closure) = Closure::of_polynomial(context.atoms, goal) else { return false };
    let mut choices = 1i128;
    for atom in &closure.free {
        let bound = context.bound(*atom);
        if !bound.is_closed() {
            return false;
        }
        choices = choices.saturating_mul(bound.high - bound.low + 1);
        if choices > MOST_CHOICES {
            return false;
        }
    }
    *work += choices as usize / CHOICES_IN_A_STEP;
    let usable_facts = context.inequalities.iter().filter(|fact| {
        Closure::of_polynomial(context.atoms, fact).is_some_and(|of_fact| {
            of_fact.free.is_subset(&closure.free) && of_fact.computed.is_subset(&closure.computed)
        })
    });
    let facts = usable_facts.collect();
    Enumeration { context, closure: &closure, facts, goal }
        .holds_from(&mut closure.free.iter().copied().collect(), &mut Values::new())
}

/// The atoms that a polynomial is computed of.
struct Closure {
    /// Those that nothing computes.
    free: BTreeSet<AtomId>,
    /// Those that others compute; what computes one has a lesser number.
    computed: BTreeSet<AtomId>,
}

impl Closure {
    /// None where there are more than [`MOST_ATOMS`].
    fn of_polynomial(atoms: &Atoms, polynomial: &Polynomial) -> Option<Self> {
        let mut closure = Self { free: BTreeSet::new(), computed: BTreeSet::new() };
        let mut pending: Vec<AtomId> = polynomial.atoms().collect();
        while let Some(atom) = pending.pop() {
            let is_new = match atoms.kind(atom) {
                AtomKind::Symbol | AtomKind::ImageSize(..) | AtomKind::Joined(_) => {
                    closure.free.insert(atom);
                    false
                }
                AtomKind::Quotient(..)
                | AtomKind::Remainder(..)
                | AtomKind::PowerOfTwo(_)
                | AtomKind::Minimum(..)
                | AtomKind::Maximum(..)
                | AtomKind::Reading { .. } => closure.computed.insert(atom),
            };
            if is_new {
                pending.extend(atoms.parts(atom));
            }
            if closure.free.len() + closure.computed.len() > MOST_ATOMS {
                return None;
            }
        }
        Some(closure)
    }
}

struct Enumeration<'a> {
    context: &'a ProofContext<'a>,
    closure: &'a Closure,
    facts: Vec<&'a Polynomial>,
    goal: &'a Polynomial,
}

impl Enumeration<'_> {
    /// Whether the goal holds for all values of the atoms that are left.
    fn holds_from(&self, atoms_left: &mut Vec<AtomId>, values: &mut Values) -> bool {
        let Some(atom) = atoms_left.pop() else { return self.holds_for(values) };
        let bound = self.context.bound(atom);
        let is_proved = (bound.low..=bound.high).all(|value| {
            values.insert(atom, value);
            self.holds_from(atoms_left, values)
        });
        atoms_left.push(atom);
        is_proved
    }

    /// Whether the goal holds for these values, or a fact does not.
    fn holds_for(&self, values: &mut Values) -> bool {
        for atom in &self.closure.computed {
            match self.computed_value(*atom, values) {
                Some(value) => values.insert(*atom, value),
                None => return false,
            };
        }
        let is_excluded = self
            .facts
            .iter()
            .any(|fact| self.number_of(fact, values).is_some_and(|number| number < 0));
        is_excluded || self.number_of(self.goal, values).is_some_and(|number| number >= 0)
    }

    fn number_of(&self, polynomial: &Polynomial, values: &Values) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in polynomial.terms() {
            let mut product = coefficient;
            for factor in monomial.iter() {
                product = product.checked_mul(*values.get(factor)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    fn computed_value(&self, atom: AtomId, values: &Values) -> Option<i128> {
        match self.context.atoms.kind(atom) {
            AtomKind::Symbol | AtomKind::ImageSize(..) | AtomKind::Joined(_) => None,
            AtomKind::Quotient(dividend, divisor) => {
                let divisor = self.number_of(divisor, values)?;
                (divisor >= 1).then_some(())?;
                Some(self.number_of(dividend, values)?.div_euclid(divisor))
            }
            AtomKind::Remainder(dividend, divisor) => {
                let divisor = self.number_of(divisor, values)?;
                (divisor >= 1).then_some(())?;
                Some(self.number_of(dividend, values)?.rem_euclid(divisor))
            }
            AtomKind::PowerOfTwo(exponent) => match self.number_of(exponent, values)? {
                exponent @ 0..=90 => Some(1i128 << exponent),
                i128::MIN..=-1 => Some(1),
                _ => None,
            },
            AtomKind::Minimum(left, right) => {
                Some(self.number_of(left, values)?.min(self.number_of(right, values)?))
            }
            AtomKind::Maximum(left, right) => {
                Some(self.number_of(left, values)?.max(self.number_of(right, values)?))
            }
            AtomKind::Reading { number, width, is_signed } => {
                let modulus = 1i128 << width;
                let residue = self.number_of(number, values)?.rem_euclid(modulus);
                let is_negative = *is_signed && residue >= modulus / 2;
                Some(if is_negative { residue - modulus } else { residue })
            }
        }
    }
}
