//! Polynomials over atoms with whole coefficients.
//!
//! Promises: arithmetic is exact; a result of too many terms, too high a degree or too large a
//! coefficient is none, never rounded.
//! Does not cover: what atoms are (`atom`).

use super::atom::AtomId;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// Terms of a polynomial at most.
const MOST_TERMS: usize = 32;
/// Factors of a term at most.
const HIGHEST_DEGREE: usize = 5;
/// Magnitude of a coefficient at most.
const LARGEST_COEFFICIENT: i128 = 1 << 72;

/// Factors of a term, ascending, as often as they occur; none: the constant term. They lie in it, so
/// that polynomials are copied without an allocation for each term.
#[derive(Clone, Copy)]
pub struct Monomial {
    factors: [AtomId; HIGHEST_DEGREE],
    degree: usize,
}

impl Monomial {
    /// Of no factors.
    const CONSTANT: Self = Self { factors: [AtomId::FIRST; HIGHEST_DEGREE], degree: 0 };

    /// Of factors in ascending order; none where they are too many.
    fn of_ascending(factors: impl IntoIterator<Item = AtomId>) -> Option<Self> {
        let mut monomial = Self::CONSTANT;
        for factor in factors {
            *monomial.factors.get_mut(monomial.degree)? = factor;
            monomial.degree += 1;
        }
        Some(monomial)
    }

    /// The product; none where it has too many factors.
    fn times(&self, other: &Self) -> Option<Self> {
        let degree = self.degree + other.degree;
        let mut product = Self::CONSTANT;
        let (own_part, rest) = product.factors.get_mut(..degree)?.split_at_mut(self.degree);
        own_part.copy_from_slice(self);
        rest.copy_from_slice(other);
        product.degree = degree;
        product.factors[..degree].sort_unstable();
        Some(product)
    }
}

impl Deref for Monomial {
    type Target = [AtomId];

    fn deref(&self) -> &[AtomId] {
        &self.factors[..self.degree]
    }
}

impl PartialEq for Monomial {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Monomial {}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Monomial {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Monomial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

/// A sum of products of atoms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Polynomial {
    /// Coefficients, none of them 0, by monomial in ascending order.
    terms: Vec<(Monomial, i128)>,
}

impl Polynomial {
    /// A number.
    pub fn constant(number: i128) -> Self {
        let term = (number != 0).then_some((Monomial::CONSTANT, number));
        Self { terms: term.into_iter().collect() }
    }

    /// An atom.
    pub fn atom(atom: AtomId) -> Self {
        let mut monomial = Monomial::CONSTANT;
        (monomial.factors[0], monomial.degree) = (atom, 1);
        Self::monomial(monomial)
    }

    /// A product of atoms.
    pub fn monomial(monomial: Monomial) -> Self {
        Self { terms: vec![(monomial, 1)] }
    }

    /// The number that it is; none where it has atoms.
    pub fn number(&self) -> Option<i128> {
        match self.terms[..] {
            [] => Some(0),
            [(monomial, number)] if monomial.is_empty() => Some(number),
            _ => None,
        }
    }

    /// The atom that it is; none where it is anything else.
    pub fn single_atom(&self) -> Option<AtomId> {
        match self.terms[..] {
            [(monomial, 1)] => match *monomial {
                [atom] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// The constant term.
    pub fn constant_term(&self) -> i128 {
        self.coefficient(&Monomial::CONSTANT)
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
        self.terms.iter().flat_map(|(monomial, _)| monomial.iter().copied())
    }

    /// Whether an atom is in it.
    pub fn has_atom(&self, atom: AtomId) -> bool {
        self.atoms().any(|own_atom| own_atom == atom)
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: &Monomial) -> i128 {
        self.place_of(monomial).map_or(0, |place| self.terms[place].1)
    }

    /// Where a monomial stands, or would stand.
    fn place_of(&self, monomial: &Monomial) -> Result<usize, usize> {
        self.terms.binary_search_by(|(own_monomial, _)| own_monomial.cmp(monomial))
    }

    fn bounded(self) -> Option<Self> {
        let is_small = self.terms.len() <= MOST_TERMS
            && self.terms.iter().all(|(_, coefficient)| coefficient.abs() <= LARGEST_COEFFICIENT);
        is_small.then_some(self)
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: i128) {
        match self.place_of(&monomial) {
            Ok(place) => {
                self.terms[place].1 += coefficient;
                if self.terms[place].1 == 0 {
                    self.terms.remove(place);
                }
            }
            Err(_) if coefficient == 0 => {}
            Err(place) => self.terms.insert(place, (monomial, coefficient)),
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.with_terms(other, |coefficient| coefficient).bounded()
    }

    /// With the terms of another polynomial, whose coefficients are changed; none becomes 0.
    fn with_terms(&self, other: &Self, change: impl Fn(i128) -> i128) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let mut own_terms = self.terms.iter().copied().peekable();
        for (monomial, coefficient) in &other.terms {
            while let Some(own_term) = own_terms.next_if(|(own, _)| own < monomial) {
                terms.push(own_term);
            }
            let own_term = own_terms.next_if(|(own, _)| own == monomial);
            let sum = own_term.map_or(0, |(_, own)| own) + change(*coefficient);
            if sum != 0 {
                terms.push((*monomial, sum));
            }
        }
        terms.extend(own_terms);
        Self { terms }
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.with_terms(other, |coefficient| -coefficient).bounded()
    }

    /// Its negative.
    pub fn negated(&self) -> Self {
        let terms = self.terms.iter().map(|(monomial, coefficient)| (*monomial, -coefficient));
        Self { terms: terms.collect() }
    }

    /// With a number added.
    pub fn plus_number(&self, number: i128) -> Self {
        let mut sum = self.clone();
        sum.add_term(Monomial::CONSTANT, number);
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
        let mut terms = Vec::with_capacity(self.terms.len());
        for (monomial, coefficient) in &self.terms {
            terms.push((*monomial, coefficient.checked_mul(factor)?));
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
                let monomial = left_monomial.times(right_monomial)?;
                product.add_term(monomial, left.checked_mul(*right)?);
            }
        }
        product.bounded()
    }

    /// With a polynomial in the place of an atom.
    pub fn with_atom_as(&self, atom: AtomId, replacement: &Self) -> Option<Self> {
        let mut result = Self::default();
        for (monomial, coefficient) in &self.terms {
            let kept = monomial.iter().copied().filter(|factor| *factor != atom);
            let kept = Monomial::of_ascending(kept)?;
            let mut term = Self::monomial(kept).scaled(*coefficient)?;
            for _ in kept.len()..monomial.len() {
                term = term.times(replacement)?;
            }
            result = result.plus(&term)?;
        }
        Some(result)
    }

    /// Coefficients modulo 2 to the power `width`, each as near to zero as can be: the same word.
    pub fn as_word(&self, width: u32) -> Self {
        let modulus = 1i128 << width;
        let mut terms = Vec::with_capacity(self.terms.len());
        for (monomial, coefficient) in &self.terms {
            let residue = coefficient.rem_euclid(modulus);
            let nearest = if residue >= modulus / 2 { residue - modulus } else { residue };
            if nearest != 0 {
                terms.push((*monomial, nearest));
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
                quotient.add_term(Monomial::CONSTANT, coefficient.div_euclid(divisor));
                rest.add_term(Monomial::CONSTANT, coefficient.rem_euclid(divisor));
            } else if coefficient % divisor == 0 {
                quotient.add_term(*monomial, coefficient / divisor);
            } else {
                rest.add_term(*monomial, *coefficient);
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

/// What a monomial has beside the factors of another one; none where it lacks one of them.
pub(super) fn monomial_quotient(monomial: &Monomial, divisor: &Monomial) -> Option<Monomial> {
    let mut divisor_factors = divisor.iter().peekable();
    let rest = monomial.iter().filter(|factor| divisor_factors.next_if_eq(factor).is_none());
    let rest = Monomial::of_ascending(rest.copied())?;
    (rest.len() + divisor.len() == monomial.len()).then_some(rest)
}
