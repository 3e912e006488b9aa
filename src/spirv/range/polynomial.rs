//! Polynomials over atoms with whole coefficients.
//!
//! Promises: arithmetic is exact; a result of too many terms, too high a degree or too large a
//! coefficient is none, never rounded.
//! Does not cover: what atoms are (`atom`).

use super::atom::AtomId;
use std::collections::BTreeMap;

/// Terms of a polynomial at most.
const MOST_TERMS: usize = 32;
/// Factors of a term at most.
const HIGHEST_DEGREE: usize = 5;
/// Magnitude of a coefficient at most.
const LARGEST_COEFFICIENT: i128 = 1 << 72;

/// Factors of a term, ascending, as often as they occur; none: the constant term.
pub(super) type Monomial = Vec<AtomId>;

/// A sum of products of atoms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Polynomial {
    /// Coefficients, none of them 0.
    terms: BTreeMap<Monomial, i128>,
}

impl Polynomial {
    /// A number.
    pub fn constant(number: i128) -> Self {
        let mut terms = BTreeMap::new();
        if number != 0 {
            terms.insert(Vec::new(), number);
        }
        Self { terms }
    }

    /// An atom.
    pub fn atom(atom: AtomId) -> Self {
        Self { terms: BTreeMap::from([(vec![atom], 1)]) }
    }

    /// A product of atoms.
    pub fn monomial(monomial: Monomial) -> Self {
        Self { terms: BTreeMap::from([(monomial, 1)]) }
    }

    /// The number that it is; none where it has atoms.
    pub fn number(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The atom that it is; none where it is anything else.
    pub fn single_atom(&self) -> Option<AtomId> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((monomial, 1)), None) if monomial.len() == 1 => Some(monomial[0]),
            _ => None,
        }
    }

    /// The constant term.
    pub fn constant_term(&self) -> i128 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Terms with their coefficients, by monomial.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    /// Number of terms.
    pub fn term_count(&self) -> usize {
        self.terms.len()
    }

    /// Atoms in it; some more than once.
    pub fn atoms(&self) -> impl Iterator<Item = AtomId> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// Whether an atom is in it.
    pub fn has_atom(&self, atom: AtomId) -> bool {
        self.atoms().any(|own_atom| own_atom == atom)
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: &Monomial) -> i128 {
        self.terms.get(monomial).copied().unwrap_or(0)
    }

    fn bounded(self) -> Option<Self> {
        let is_small = self.terms.len() <= MOST_TERMS
            && self.terms.iter().all(|(monomial, coefficient)| {
                monomial.len() <= HIGHEST_DEGREE && coefficient.abs() <= LARGEST_COEFFICIENT
            });
        is_small.then_some(self)
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: i128) {
        let sum = self.terms.get(&monomial).copied().unwrap_or(0) + coefficient;
        if sum == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.terms {
            sum.add_term(monomial.clone(), *coefficient);
        }
        sum.bounded()
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.negated())
    }

    /// Its negative.
    pub fn negated(&self) -> Self {
        let terms =
            self.terms.iter().map(|(monomial, coefficient)| (monomial.clone(), -coefficient));
        Self { terms: terms.collect() }
    }

    /// With a number added.
    pub fn plus_number(&self, number: i128) -> Self {
        let mut sum = self.clone();
        sum.add_term(Vec::new(), number);
        sum
    }

    /// Whether it has all terms with atoms of another polynomial, which has one at least.
    pub fn holds_terms_of(&self, other: &Self) -> bool {
        let mut of_atoms = other.terms.iter().filter(|(monomial, _)| !monomial.is_empty());
        of_atoms.clone().next().is_some()
            && of_atoms.all(|(monomial, coefficient)| self.coefficient(monomial) == *coefficient)
    }

    /// Every coefficient times a number.
    pub fn scaled(&self, factor: i128) -> Option<Self> {
        if factor == 0 {
            return Some(Self::default());
        }
        let mut terms = BTreeMap::new();
        for (monomial, coefficient) in &self.terms {
            terms.insert(monomial.clone(), coefficient.checked_mul(factor)?);
        }
        Self { terms }.bounded()
    }

    /// The product.
    pub fn times(&self, other: &Self) -> Option<Self> {
        if self.terms.len() * other.terms.len() > 4 * MOST_TERMS {
            return None;
        }
        let mut product = Self::default();
        for (left_monomial, left) in &self.terms {
            for (right_monomial, right) in &other.terms {
                let monomial = joined_monomial(left_monomial, right_monomial);
                product.add_term(monomial, left.checked_mul(*right)?);
            }
        }
        product.bounded()
    }

    /// With a polynomial in the place of an atom.
    pub fn with_atom_as(&self, atom: AtomId, replacement: &Self) -> Option<Self> {
        let mut result = Self::default();
        for (monomial, coefficient) in &self.terms {
            let (replaced, kept): (Monomial, Monomial) =
                monomial.iter().partition(|factor| **factor == atom);
            let mut term = Self::monomial(kept).scaled(*coefficient)?;
            for _ in replaced {
                term = term.times(replacement)?;
            }
            result = result.plus(&term)?;
        }
        Some(result)
    }

    /// Coefficients modulo 2 to the power `width`, each as near to zero as can be: the same word.
    pub fn as_word(&self, width: u32) -> Self {
        let modulus = 1i128 << width;
        let mut terms = BTreeMap::new();
        for (monomial, coefficient) in &self.terms {
            let residue = coefficient.rem_euclid(modulus);
            let nearest = if residue >= modulus / 2 { residue - modulus } else { residue };
            if nearest != 0 {
                terms.insert(monomial.clone(), nearest);
            }
        }
        Self { terms }
    }

    /// The greatest number that divides every coefficient but the constant one; 0 of a number.
    pub fn common_factor(&self) -> i128 {
        let of_atoms = self.terms.iter().filter(|(monomial, _)| !monomial.is_empty());
        of_atoms.fold(0, |factor, (_, coefficient)| greatest_common_divisor(factor, *coefficient))
    }

    /// Terms that a number divides, divided by it, and the others.
    pub fn split_by_divisor(&self, divisor: i128) -> (Self, Self) {
        let (mut quotient, mut rest) = (Self::default(), Self::default());
        for (monomial, coefficient) in &self.terms {
            if monomial.is_empty() {
                quotient.add_term(Vec::new(), coefficient.div_euclid(divisor));
                rest.add_term(Vec::new(), coefficient.rem_euclid(divisor));
            } else if coefficient % divisor == 0 {
                quotient.add_term(monomial.clone(), coefficient / divisor);
            } else {
                rest.add_term(monomial.clone(), *coefficient);
            }
        }
        (quotient, rest)
    }
}

/// The greatest number that divides both.
pub(super) fn greatest_common_divisor(left: i128, right: i128) -> i128 {
    let (mut a, mut b) = (left.abs(), right.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn joined_monomial(left: &Monomial, right: &Monomial) -> Monomial {
    let mut factors: Monomial = left.iter().chain(right).copied().collect();
    factors.sort_unstable();
    factors
}

/// What a monomial has beside the factors of another one; none where it lacks one of them.
pub(super) fn monomial_quotient(monomial: &Monomial, divisor: &Monomial) -> Option<Monomial> {
    let mut rest = monomial.clone();
    for factor in divisor {
        let position = rest.iter().position(|own_factor| own_factor == factor)?;
        rest.remove(position);
    }
    Some(rest)
}
