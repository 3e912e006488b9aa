//! Proofs against all values: what is proved must hold for every choice of values that fulfils the
//! facts.

use super::atom::{AtomId, Atoms, Origin};
use super::fact::{Fact, FactList};
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::{Effort, interval_at, is_at_least_zero};
use std::collections::BTreeMap;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: i128) -> i128 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        i128::from(bits ^ bits >> 31) % bound
    }
}

type Values = BTreeMap<AtomId, i128>;

/// A result, how it is computed, and the two operands.
type Computed = (Polynomial, fn(i128, i128) -> i128, Polynomial, Polynomial);

/// Atoms with few values each, and how those that are computed are.
struct World {
    atoms: Atoms,
    free: Vec<AtomId>,
    computed: Vec<Computed>,
}

impl World {
    fn new(dice: &mut Dice) -> Self {
        let mut atoms = Atoms::default();
        let mut free = Vec::new();
        for _ in 0..4 {
            let low = dice.below(5) - 2;
            let interval = Interval::new(low, low + dice.below(5));
            free.push(atoms.new_symbol("", interval, Origin::Known));
        }
        let mut world = Self { atoms, free, computed: Vec::new() };
        let dividend = world.polynomial(dice, 2);
        for divisor in [Polynomial::constant(1 + dice.below(4)), world.polynomial(dice, 1)] {
            let quotient = world.atoms.quotient(&dividend, &divisor);
            let remainder = world.atoms.remainder(&dividend, &divisor);
            for (result, value) in [
                (quotient, i128::div_euclid as fn(i128, i128) -> i128),
                (remainder, i128::rem_euclid),
            ] {
                let operands = (dividend.clone(), divisor.clone());
                world.computed.extend(result.map(|result| (result, value, operands.0, operands.1)));
            }
        }
        let other = world.polynomial(dice, 2);
        for (result, value) in [
            (world.atoms.minimum(&dividend, &other), std::cmp::min as fn(i128, i128) -> i128),
            (world.atoms.maximum(&dividend, &other), std::cmp::max),
        ] {
            let operands = (dividend.clone(), other.clone());
            world.computed.extend(result.map(|result| (result, value, operands.0, operands.1)));
        }
        world
    }

    /// A polynomial of so many terms beside the constant.
    fn polynomial(&self, dice: &mut Dice, term_count: usize) -> Polynomial {
        let mut sum = Polynomial::constant(dice.below(9) - 4);
        for _ in 0..term_count {
            let mut term = Polynomial::constant(dice.below(5) - 2);
            for _ in 0..=dice.below(2) {
                let choice = dice.below((self.free.len() + self.computed.len()) as i128) as usize;
                let factor = match self.free.get(choice) {
                    Some(atom) => Polynomial::atom(*atom),
                    None => self.computed[choice - self.free.len()].0.clone(),
                };
                // A product of too high a degree stays without the factor.
                term = term.times(&factor).unwrap_or(term);
            }
            sum = sum.plus(&term).unwrap();
        }
        sum
    }

    /// Every choice of values, those of computed atoms included.
    fn all_values(&self) -> Vec<Values> {
        let mut choices = vec![Values::new()];
        for atom in &self.free {
            let interval = self.atoms.interval(*atom);
            let longer = choices.iter().flat_map(|choice| {
                (interval.low..=interval.high).map(move |value| {
                    let mut choice = choice.clone();
                    choice.insert(*atom, value);
                    choice
                })
            });
            choices = longer.collect();
        }
        for choice in &mut choices {
            for (result, value, left, right) in &self.computed {
                let computed = value(number_of(left, choice), number_of(right, choice));
                // The result is the atom, with what was split off its operand.
                let own = result.terms().find(|(monomial, _)| {
                    monomial.len() == 1 && !choice.contains_key(&monomial[0])
                });
                if let Some((monomial, coefficient)) = own {
                    assert_eq!(coefficient, 1);
                    let atom = monomial[0];
                    let rest = result.minus(&Polynomial::atom(atom)).unwrap();
                    choice.insert(atom, computed - number_of(&rest, choice));
                }
                assert_eq!(number_of(result, choice), computed, "{result:?}");
            }
        }
        choices
    }
}

fn number_of(polynomial: &Polynomial, values: &Values) -> i128 {
    polynomial
        .terms()
        .map(|(monomial, coefficient)| {
            coefficient * monomial.iter().map(|atom| values[atom]).product::<i128>()
        })
        .sum()
}

fn holds(fact: &Fact, values: &Values) -> bool {
    match fact {
        Fact::AtLeastZero(number) => number_of(number, values) >= 0,
        Fact::OneOf(choice) => {
            choice.lists.iter().any(|list| list.iter().all(|fact| holds(fact, values)))
        }
        Fact::Assumed(..) => true,
    }
}

#[test]
fn what_is_proved_holds_for_all_values() {
    let (mut proved, mut true_count) = (0, 0);
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let world = World::new(&mut dice);
        let mut facts = FactList::default();
        for _ in 0..dice.below(4) {
            facts = facts.with(Fact::AtLeastZero(world.polynomial(&mut dice, 2)));
        }
        if dice.below(3) == 0 {
            let lists = (0..2).map(|_| vec![Fact::AtLeastZero(world.polynomial(&mut dice, 1))]);
            facts = facts.with(Fact::one_of(lists.collect()));
        }
        let values = world.all_values();
        let possible: Vec<&Values> =
            values.iter().filter(|values| facts.iter().all(|fact| holds(fact, values))).collect();
        for _ in 0..6 {
            let goal = world.polynomial(&mut dice, 2);
            let is_true = possible.iter().all(|values| number_of(&goal, values) >= 0);
            let is_proved = is_at_least_zero(&world.atoms, &facts, &goal, Effort::Full, &mut 0);
            assert!(is_true || !is_proved, "seed {seed}: {goal:?} under {facts:?}");
            let interval = interval_at(&world.atoms, &facts, &goal);
            for values in &possible {
                let number = number_of(&goal, values);
                assert!(interval.contains(Interval::of_number(number)), "seed {seed}: {goal:?}");
            }
            proved += usize::from(is_proved);
            true_count += usize::from(is_true);
        }
    }
    // Most of what is true of so few values is shown.
    assert!(proved * 10 > true_count * 8, "{proved} of {true_count}");
    assert!(true_count > 80, "{true_count}");
}

#[test]
fn a_word_is_the_same_modulo_its_width() {
    let mut atoms = Atoms::default();
    let atom = Polynomial::atom(atoms.new_symbol("", Interval::new(0, 9), Origin::Known));
    let sum = atom.scaled((1 << 32) - 1).unwrap().plus_number(5 << 32);
    assert_eq!(sum.as_word(32), atom.negated());
    assert_eq!(Polynomial::constant(4_294_967_295).as_word(32), Polynomial::constant(-1));
}

#[test]
fn ways_share_what_stands_before_them() {
    let fact = |number| Fact::AtLeastZero(Polynomial::constant(number));
    let shared = FactList::default().with(fact(1)).with(fact(2));
    let (left, right) = (shared.with(fact(3)), shared.with(fact(3)).with(fact(4)));
    // Equal facts of two ways are not one fact.
    assert_eq!(left.common(&right).length(), 2);
    assert_eq!(right.beyond(&shared), [fact(4), fact(3)]);
}
