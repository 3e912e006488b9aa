//! Atoms: numbers of one execution of a place that polynomials do not take apart.
//!
//! Knows: what each atom is, its interval, and inequalities that hold of it wherever it is
//! mentioned.
//! Promises: two atoms of the same definition are the same atom. Definitions that are made here are
//! total over the whole numbers, so that their intervals and facts hold everywhere. What holds only
//! where an atom was made belongs to a symbol of its own; it may be used only where that place was
//! executed, which is so wherever the symbol is mentioned, but not where it is mentioned in one of
//! the ways to a joined number.
//! Does not cover: what branches tell (`fact`).

use super::fact::Fact;
use super::interval::{Interval, OPEN_END};
use super::polynomial::{Monomial, Polynomial};
use crate::module::Id;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The number of an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomId(u32);

impl AtomId {
    /// What stands where there is no atom.
    pub(super) const FIRST: Self = Self(0);
}

/// Where a number comes from that nothing is known of but its type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Memory that others can write: name of the variable.
    Memory(String),
    /// A conversion from a floating-point number.
    FloatingPoint,
    /// An instruction that is not modelled, by name.
    Instruction(String),
    /// An instruction whose result is not shown to be defined, by name.
    Undefined(String),
    /// A variable, or an element of an array of one invocation, that nothing may have been stored to.
    Variable,
    /// An element of an array of one invocation, or a component that is chosen at run time, of which
    /// each is defined.
    Element,
    /// The host, which does not state it: what, in words.
    Host(String),
    /// A built-in, by name.
    BuiltIn(String),
    /// A variable that a loop changes.
    Loop,
    /// Arithmetic that may wrap around.
    Wrapped,
    /// Different numbers by different ways.
    Joined,
    /// It is known: a parameter, an id of an invocation, a counter of a loop.
    Known,
}

impl Origin {
    /// Whether a value from there may be undefined.
    pub fn may_be_undefined(&self) -> bool {
        match self {
            Origin::Undefined(_) | Origin::Variable => true,
            Origin::Memory(_)
            | Origin::FloatingPoint
            | Origin::Instruction(_)
            | Origin::Element
            | Origin::Host(_)
            | Origin::BuiltIn(_)
            | Origin::Loop
            | Origin::Wrapped
            | Origin::Joined
            | Origin::Known => false,
        }
    }
}

/// A way to a joined number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Alternative {
    /// What holds on this way.
    pub(super) facts: Rc<Vec<Fact>>,
    /// The number that comes by it.
    pub(super) value: Polynomial,
}

/// What an atom is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AtomKind {
    /// Itself: nothing computes it from others.
    Symbol,
    /// Dividend by divisor, rounded down; 0 where the divisor is 0.
    Quotient(Polynomial, Polynomial),
    /// What rounding down leaves of the dividend.
    Remainder(Polynomial, Polynomial),
    /// 2 to the power of what is not negative; else 1.
    PowerOfTwo(Polynomial),
    /// The lesser.
    Minimum(Polynomial, Polynomial),
    /// The greater.
    Maximum(Polynomial, Polynomial),
    /// What a word of `width` bits is read as that holds a number modulo 2 to the power of `width`.
    Reading {
        /// The number.
        number: Polynomial,
        /// Bits of the word.
        width: u32,
        /// Whether it is read as two's complement.
        is_signed: bool,
    },
    /// The size of an image: its variable, the level asked for, the component.
    ImageSize(Id, Option<Polynomial>, u32),
    /// One of several numbers, by the way that was taken.
    Joined(Vec<Alternative>),
}

#[derive(Debug)]
struct Atom {
    kind: AtomKind,
    interval: Interval,
    /// Each is at least 0.
    facts: Vec<Polynomial>,
    /// What a symbol depends on.
    sources: Vec<AtomId>,
    origin: Origin,
    name: String,
}

/// Words that were read before which a word is compared with at most.
const MOST_EARLIER_READINGS: usize = 2;

/// Words that were read before among which those are looked for, the last ones.
const MOST_SEARCHED_READINGS: usize = 64;

/// All atoms of an analysis.
#[derive(Debug, Default)]
pub struct Atoms {
    atoms: Vec<Atom>,
    by_kind: HashMap<AtomKind, AtomId>,
    /// Atoms of the kind `Reading`, in the order in which words were read.
    readings: Vec<AtomId>,
}

impl Atoms {
    /// A number of its own within an interval.
    pub fn new_symbol(&mut self, name: &str, interval: Interval, origin: Origin) -> AtomId {
        self.push(Atom {
            kind: AtomKind::Symbol,
            interval,
            facts: Vec::new(),
            sources: Vec::new(),
            origin,
            name: name.to_owned(),
        })
    }

    /// A number of its own that one of several ways gives; its facts hold where it is mentioned,
    /// those of the atoms in a way only where that way was taken.
    pub fn new_joined(&mut self, alternatives: Vec<Alternative>, interval: Interval) -> AtomId {
        self.push(Atom {
            kind: AtomKind::Joined(alternatives),
            interval,
            facts: Vec::new(),
            sources: Vec::new(),
            origin: Origin::Joined,
            name: String::new(),
        })
    }

    /// Adds what holds of a symbol wherever the place that made it was executed.
    pub fn add_fact(&mut self, atom: AtomId, fact: Polynomial) {
        self.atoms[atom.0 as usize].facts.push(fact);
    }

    /// Adds what a symbol depends on, though nothing says how.
    pub fn add_sources(&mut self, symbol: AtomId, number: &Polynomial) {
        self.atoms[symbol.0 as usize].sources.extend(number.atoms());
    }

    fn push(&mut self, atom: Atom) -> AtomId {
        self.atoms.push(atom);
        AtomId(self.atoms.len() as u32 - 1)
    }

    /// The atom of a definition. Quotients, remainders and powers need what their names say: see
    /// [`Self::quotient`].
    fn defined(&mut self, kind: AtomKind, interval: Interval, origin: Origin) -> AtomId {
        if let Some(atom) = self.by_kind.get(&kind) {
            return *atom;
        }
        let atom = self.push(Atom {
            kind: kind.clone(),
            interval,
            facts: Vec::new(),
            sources: Vec::new(),
            origin,
            name: String::new(),
        });
        self.by_kind.insert(kind, atom);
        atom
    }

    /// Number of atoms.
    pub fn count(&self) -> usize {
        self.atoms.len()
    }

    /// What an atom is.
    pub fn kind(&self, atom: AtomId) -> &AtomKind {
        &self.atoms[atom.0 as usize].kind
    }

    /// The interval of an atom, wherever it is mentioned.
    pub fn interval(&self, atom: AtomId) -> Interval {
        self.atoms[atom.0 as usize].interval
    }

    /// Each is at least 0.
    pub fn facts(&self, atom: AtomId) -> &[Polynomial] {
        &self.atoms[atom.0 as usize].facts
    }

    /// Where an atom comes from.
    pub fn origin(&self, atom: AtomId) -> &Origin {
        &self.atoms[atom.0 as usize].origin
    }

    /// The name of a symbol, for people; empty where it has none.
    pub fn name(&self, atom: AtomId) -> &str {
        &self.atoms[atom.0 as usize].name
    }

    /// The interval of a product of atoms.
    pub fn monomial_interval(
        &self,
        monomial: &Monomial,
        bounds: &dyn Fn(AtomId) -> Interval,
    ) -> Interval {
        let mut interval = Interval::of_number(1);
        for (position, factor) in monomial.iter().enumerate() {
            interval = interval.times(bounds(*factor));
            // A square is not negative.
            if position + 1 == monomial.len()
                && monomial.len().is_multiple_of(2)
                && monomial.chunks(2).all(|pair| pair[0] == pair[1])
            {
                interval.low = interval.low.max(0);
            }
        }
        interval
    }

    /// The interval of a polynomial with the given intervals of atoms.
    pub fn interval_under(
        &self,
        polynomial: &Polynomial,
        bounds: &dyn Fn(AtomId) -> Interval,
    ) -> Interval {
        let mut sum = Interval::of_number(0);
        for (monomial, coefficient) in polynomial.terms() {
            let product = self.monomial_interval(monomial, bounds);
            sum = sum.plus(product.times(Interval::of_number(coefficient)));
        }
        sum
    }

    /// The interval of a polynomial, wherever its atoms are mentioned.
    pub fn interval_of(&self, polynomial: &Polynomial) -> Interval {
        self.interval_under(polynomial, &|atom| self.interval(atom))
    }

    /// `dividend / divisor` rounded down, if the divisor is at least 1 wherever it is mentioned.
    pub fn quotient(&mut self, dividend: &Polynomial, divisor: &Polynomial) -> Option<Polynomial> {
        let divisor_interval = self.interval_of(divisor);
        if divisor_interval.low < 1 {
            return None;
        }
        let (whole_part, rest) = match divisor.number() {
            Some(number) => dividend.split_by_divisor(number),
            None => (Polynomial::default(), dividend.clone()),
        };
        let rest_interval = self.interval_of(&rest);
        let interval = rest_interval.divided_by(divisor_interval);
        if interval == Interval::of_number(0) {
            return Some(whole_part);
        }
        let kind = AtomKind::Quotient(rest.clone(), divisor.clone());
        let is_new = !self.by_kind.contains_key(&kind);
        let atom = self.defined(kind, interval, Origin::Known);
        if is_new {
            // divisor * quotient is at most the dividend, and more than it less the divisor.
            let product = divisor.times(&Polynomial::atom(atom))?;
            let above = rest.minus(&product)?;
            let below = product.plus(divisor)?.minus(&rest)?.plus_number(-1);
            self.add_fact(atom, above);
            self.add_fact(atom, below);
        }
        whole_part.plus(&Polynomial::atom(atom))
    }

    /// What rounding down leaves of the dividend, if the divisor is at least 1 wherever it is
    /// mentioned.
    pub fn remainder(&mut self, dividend: &Polynomial, divisor: &Polynomial) -> Option<Polynomial> {
        let divisor_interval = self.interval_of(divisor);
        if divisor_interval.low < 1 {
            return None;
        }
        let rest = match divisor.number() {
            Some(number) => dividend.split_by_divisor(number).1,
            None => dividend.clone(),
        };
        let rest_interval = self.interval_of(&rest);
        if rest_interval.low >= 0 && rest_interval.high < divisor_interval.low {
            return Some(rest);
        }
        let mut interval = Interval::new(0, divisor_interval.high - 1);
        if rest_interval.low >= 0 {
            interval = interval.meet(Interval::new(0, rest_interval.high));
        }
        let kind = AtomKind::Remainder(rest.clone(), divisor.clone());
        let is_new = !self.by_kind.contains_key(&kind);
        let atom = self.defined(kind, interval, Origin::Known);
        if is_new {
            let remainder = Polynomial::atom(atom);
            self.add_fact(atom, divisor.minus(&remainder)?.plus_number(-1));
            // dividend = divisor * quotient + remainder
            if let Some(sum) = self
                .quotient(&rest, divisor)
                .and_then(|quotient| divisor.times(&quotient))
                .and_then(|product| product.plus(&remainder))
            {
                self.add_fact(atom, rest.minus(&sum)?);
                self.add_fact(atom, sum.minus(&rest)?);
            }
        }
        Some(Polynomial::atom(atom))
    }

    /// 2 to the power of a number.
    pub fn power_of_two(&mut self, exponent: &Polynomial) -> Polynomial {
        let exponents = self.interval_of(exponent);
        let power = |exponent: i128| match exponent {
            i128::MIN..=0 => 1,
            1..=99 => 1i128 << exponent,
            _ => OPEN_END,
        };
        if exponents.low == exponents.high && (0..=90).contains(&exponents.low) {
            return Polynomial::constant(power(exponents.low));
        }
        let interval = Interval::new(power(exponents.low), power(exponents.high));
        let kind = AtomKind::PowerOfTwo(exponent.clone());
        Polynomial::atom(self.defined(kind, interval, Origin::Known))
    }

    /// The lesser of two numbers.
    pub fn minimum(&mut self, left: &Polynomial, right: &Polynomial) -> Option<Polynomial> {
        let (of_left, of_right) = (self.interval_of(left), self.interval_of(right));
        if of_left.high <= of_right.low {
            return Some(left.clone());
        }
        if of_right.high <= of_left.low {
            return Some(right.clone());
        }
        let interval =
            Interval::new(of_left.low.min(of_right.low), of_left.high.min(of_right.high));
        let kind = AtomKind::Minimum(left.clone(), right.clone());
        let is_new = !self.by_kind.contains_key(&kind);
        let atom = self.defined(kind, interval, Origin::Known);
        if is_new {
            self.add_fact(atom, left.minus(&Polynomial::atom(atom))?);
            self.add_fact(atom, right.minus(&Polynomial::atom(atom))?);
        }
        Some(Polynomial::atom(atom))
    }

    /// The greater of two numbers.
    pub fn maximum(&mut self, left: &Polynomial, right: &Polynomial) -> Option<Polynomial> {
        let (of_left, of_right) = (self.interval_of(left), self.interval_of(right));
        if of_left.low >= of_right.high {
            return Some(left.clone());
        }
        if of_right.low >= of_left.high {
            return Some(right.clone());
        }
        let interval =
            Interval::new(of_left.low.max(of_right.low), of_left.high.max(of_right.high));
        let kind = AtomKind::Maximum(left.clone(), right.clone());
        let is_new = !self.by_kind.contains_key(&kind);
        let atom = self.defined(kind, interval, Origin::Known);
        if is_new {
            self.add_fact(atom, Polynomial::atom(atom).minus(left)?);
            self.add_fact(atom, Polynomial::atom(atom).minus(right)?);
        }
        Some(Polynomial::atom(atom))
    }

    /// What a word is read as of which only the residue is known.
    pub fn reading(&mut self, number: &Polynomial, width: u32, is_signed: bool) -> Polynomial {
        let kind = AtomKind::Reading { number: number.as_word(width), width, is_signed };
        let is_new = !self.by_kind.contains_key(&kind);
        let atom = self.defined(kind, Interval::of_word(width, is_signed), Origin::Wrapped);
        if is_new {
            self.readings.push(atom);
        }
        Polynomial::atom(atom)
    }

    /// Numbers that are the same word as a number, made of words that were read before: where those
    /// were compared, more is known of them than of the word itself.
    pub fn readings_plus_rest(&self, number: &Polynomial, width: u32) -> Vec<Polynomial> {
        let mut numbers = Vec::new();
        for atom in self.readings.iter().rev().take(MOST_SEARCHED_READINGS).copied() {
            let AtomKind::Reading { number: read_number, width: read_width, .. } = self.kind(atom)
            else {
                continue;
            };
            if *read_width == width
                && number.holds_terms_of(read_number)
                && let Some(rest) = number.minus(read_number)
                && let Some(sum) = Polynomial::atom(atom).plus(&rest.as_word(width))
            {
                numbers.push(sum);
            }
            if numbers.len() == MOST_EARLIER_READINGS {
                break;
            }
        }
        numbers
    }

    /// A component of an image's size; it does not change while a dispatch runs.
    pub fn image_size(
        &mut self,
        variable: Id,
        level: Option<Polynomial>,
        component: u32,
    ) -> Polynomial {
        // Every image has a texel (Vulkan, VkImageCreateInfo), but perhaps not the level.
        let is_of_image = level.as_ref().is_none_or(|level| level.number() == Some(0));
        let interval = Interval::new(i128::from(is_of_image), i128::from(i32::MAX));
        let kind = AtomKind::ImageSize(variable, level, component);
        Polynomial::atom(self.defined(kind, interval, Origin::Known))
    }

    /// Where the atoms of a polynomial come from, and those that they are made of.
    pub fn origins(&self, polynomial: &Polynomial) -> Vec<&Origin> {
        let mut visited: Vec<AtomId> = polynomial.atoms().collect();
        let mut position = 0;
        while let Some(atom) = visited.get(position).copied() {
            position += 1;
            for part in self.parts(atom) {
                if !visited.contains(&part) && visited.len() < 200 {
                    visited.push(part);
                }
            }
        }
        visited.sort_unstable();
        visited.dedup();
        visited.into_iter().map(|atom| self.origin(atom)).collect()
    }

    /// What may leave undefined what a number depends on: an instruction, or a variable that may be
    /// unset.
    pub fn undefined_cause(&self, number: &Polynomial) -> Option<&Origin> {
        let mut pending: Vec<AtomId> = number.atoms().collect();
        let mut visited = BTreeSet::new();
        while let Some(atom) = pending.pop() {
            if !visited.insert(atom) {
                continue;
            }
            if self.origin(atom).may_be_undefined() {
                return Some(self.origin(atom));
            }
            pending.extend(self.parts(atom));
            pending.extend(self.sources(atom));
        }
        None
    }

    /// What a symbol depends on, though nothing says how.
    pub fn sources(&self, atom: AtomId) -> &[AtomId] {
        &self.atoms[atom.0 as usize].sources
    }

    /// Atoms whose places were executed wherever an atom is mentioned: those that its definition
    /// names. Of a joined number only what gave it on the way that was taken was executed.
    pub fn executed_parts(&self, atom: AtomId) -> Vec<AtomId> {
        match self.kind(atom) {
            AtomKind::Joined(_) => Vec::new(),
            AtomKind::Symbol
            | AtomKind::Quotient(..)
            | AtomKind::Remainder(..)
            | AtomKind::PowerOfTwo(_)
            | AtomKind::Minimum(..)
            | AtomKind::Maximum(..)
            | AtomKind::Reading { .. }
            | AtomKind::ImageSize(..) => self.parts(atom),
        }
    }

    /// Atoms that the definition of an atom names, those of all ways to it included.
    pub fn parts(&self, atom: AtomId) -> Vec<AtomId> {
        match self.kind(atom) {
            AtomKind::Symbol | AtomKind::ImageSize(..) => Vec::new(),
            AtomKind::Quotient(left, right)
            | AtomKind::Remainder(left, right)
            | AtomKind::Minimum(left, right)
            | AtomKind::Maximum(left, right) => left.atoms().chain(right.atoms()).collect(),
            AtomKind::PowerOfTwo(number) | AtomKind::Reading { number, .. } => {
                number.atoms().collect()
            }
            AtomKind::Joined(alternatives) => {
                alternatives.iter().flat_map(|alternative| alternative.value.atoms()).collect()
            }
        }
    }
}
