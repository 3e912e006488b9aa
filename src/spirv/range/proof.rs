//! Proofs that a polynomial is at least 0 where facts hold.
//!
//! Knows: the facts of a place, those of the atoms, their intervals.
//! Promises: yes only by a proof: intervals that facts narrow, sums of facts times what is not
//! negative, both ways of what was joined, all values of a few atoms (`enumeration`). Work is
//! counted in steps, not in time, so that an answer depends on the question alone.
//! Does not cover: refutation; a no says nothing.

use super::atom::{AtomId, AtomKind, Atoms};
use super::enumeration;
use super::fact::{Choice, Fact, FactList};
use super::interval::Interval;
use super::polynomial::{Monomial, Polynomial, greatest_common_divisor, monomial_quotient};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// Facts of a place that are looked at, the latest first.
const MOST_FACTS_SEEN: usize = 600;
/// Facts that a proof works with.
const MOST_FACTS_USED: usize = 48;
/// Steps of elimination on one way.
const DEEPEST_SEARCH: usize = 8;
/// Eliminations that are tried at a step.
const WIDEST_SEARCH: usize = 8;
/// Steps of the search in one case.
const MOST_STEPS_OF_CASE: usize = 400;
/// Case distinctions within each other.
const DEEPEST_SPLIT: usize = 3;

/// How much a proof may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// On the way: intervals and a few eliminations.
    Small,
    /// For a result.
    Full,
}

/// Whether `goal` is at least 0 wherever the facts hold. `work` counts the steps.
pub(super) fn is_at_least_zero(
    atoms: &Atoms,
    facts: &FactList,
    goal: &Polynomial,
    effort: Effort,
    work: &mut usize,
) -> bool {
    if atoms.interval_of(goal).low >= 0 {
        return true;
    }
    let mut steps = match effort {
        Effort::Small => 60,
        Effort::Full => 2500,
    };
    let before = steps;
    let deepest_split = match effort {
        Effort::Small => 0,
        Effort::Full => DEEPEST_SPLIT,
    };
    let is_proved = holds_by_cases(atoms, facts, &[], goal, deepest_split, &mut steps)
        || (effort == Effort::Full && {
            let context = ProofContext::of_goal(atoms, facts, &[], goal);
            enumeration::holds_for_all_values(&context, goal, work)
        });
    *work += before - steps + 1;
    is_proved
}

/// The interval of a polynomial where facts hold.
pub(super) fn interval_at(atoms: &Atoms, facts: &FactList, polynomial: &Polynomial) -> Interval {
    let context = ProofContext::of_goal(atoms, facts, &[], polynomial);
    let mut interval = context.interval_of(polynomial).meet(atoms.interval_of(polynomial));
    // What an inequality says of the whole polynomial, its atoms tell apart only in part.
    for inequality in &context.inequalities {
        let number_of = |result: Option<Polynomial>| result.and_then(|result| result.number());
        if let Some(high) = number_of(inequality.plus(polynomial)) {
            interval.high = interval.high.min(high);
        }
        if let Some(constant) = number_of(inequality.minus(polynomial)) {
            interval.low = interval.low.max(-constant);
        }
    }
    interval
}

/// Facts and intervals that have to do with a goal.
pub(super) struct ProofContext<'a> {
    pub atoms: &'a Atoms,
    /// Each is at least 0.
    pub inequalities: Vec<Polynomial>,
    /// Of each, one list holds.
    choices: Vec<Rc<Choice>>,
    bounds: BTreeMap<AtomId, Interval>,
    /// Whether no values fulfil the facts.
    pub is_contradictory: bool,
}

impl<'a> ProofContext<'a> {
    pub(super) fn of_goal(
        atoms: &'a Atoms,
        facts: &FactList,
        extra: &[Fact],
        goal: &Polynomial,
    ) -> Self {
        let mut related: BTreeSet<AtomId> = goal.atoms().collect();
        for fact in extra {
            if let Fact::AtLeastZero(number) = fact {
                related.extend(number.atoms());
            }
        }
        let mut context = Self {
            atoms,
            inequalities: Vec::new(),
            choices: Vec::new(),
            bounds: BTreeMap::new(),
            is_contradictory: false,
        };
        let mut used: HashSet<Polynomial> = HashSet::new();
        for round in 0..3 {
            let before = (related.len(), context.inequalities.len());
            context.add_definitions(&mut related, &mut used);
            let of_place = facts.iter().take(MOST_FACTS_SEEN);
            for fact in extra.iter().chain(of_place) {
                context.add_fact(fact, &mut related, &mut used, round == 0);
            }
            if before == (related.len(), context.inequalities.len()) {
                break;
            }
        }
        context.narrow_bounds();
        context
    }

    /// What holds of the related atoms by definition, or because their places were executed. What
    /// holds on one way to a joined number counts only in the case of that way.
    fn add_definitions(&mut self, related: &mut BTreeSet<AtomId>, used: &mut HashSet<Polynomial>) {
        let mut pending: Vec<AtomId> = related.iter().copied().collect();
        while let Some(atom) = pending.pop() {
            let fact_atoms = self.atoms.facts(atom).iter().flat_map(Polynomial::atoms);
            for part in fact_atoms.chain(self.atoms.executed_parts(atom)) {
                if related.len() < 60 && related.insert(part) {
                    pending.push(part);
                }
            }
            for fact in self.atoms.facts(atom) {
                self.add_inequality(fact, used);
            }
        }
    }

    fn add_inequality(&mut self, inequality: &Polynomial, used: &mut HashSet<Polynomial>) {
        if self.inequalities.len() < MOST_FACTS_USED && used.insert(inequality.clone()) {
            self.inequalities.push(inequality.clone());
        }
    }

    fn add_fact(
        &mut self,
        fact: &Fact,
        related: &mut BTreeSet<AtomId>,
        used: &mut HashSet<Polynomial>,
        takes_choices: bool,
    ) {
        match fact {
            Fact::AtLeastZero(number) => {
                let is_related = number.atoms().any(|atom| related.contains(&atom));
                if !used.contains(number) && (is_related || number.number().is_some()) {
                    self.add_inequality(number, used);
                    if related.len() < 60 {
                        related.extend(number.atoms());
                    }
                }
            }
            Fact::OneOf(choice) if takes_choices && self.choices.len() < 3 => {
                self.choices.push(choice.clone());
            }
            Fact::OneOf(_) | Fact::Assumed(..) => {}
        }
    }

    pub(super) fn bound(&self, atom: AtomId) -> Interval {
        self.bounds.get(&atom).copied().unwrap_or_else(|| self.atoms.interval(atom))
    }

    pub(super) fn interval_of(&self, polynomial: &Polynomial) -> Interval {
        self.atoms.interval_under(polynomial, &|atom| self.bound(atom))
    }

    fn monomial_interval(&self, monomial: &Monomial) -> Interval {
        self.atoms.monomial_interval(monomial, &|atom| self.bound(atom))
    }

    /// Intervals of atoms that the inequalities leave.
    fn narrow_bounds(&mut self) {
        for _ in 0..4 {
            let mut is_narrower = false;
            for position in 0..self.inequalities.len() {
                let inequality = self.inequalities[position].clone();
                if self.interval_of(&inequality).high < 0 {
                    self.is_contradictory = true;
                    return;
                }
                for (monomial, coefficient) in inequality.terms() {
                    if let [atom] = **monomial {
                        is_narrower |= self.narrow_atom(atom, coefficient, &inequality);
                    }
                }
            }
            if !is_narrower {
                break;
            }
        }
    }

    /// From `coefficient * atom + rest >= 0`.
    fn narrow_atom(&mut self, atom: AtomId, coefficient: i128, inequality: &Polynomial) -> bool {
        let own_term = Polynomial::atom(atom).scaled(coefficient);
        let Some(rest) = own_term.and_then(|term| inequality.minus(&term)) else { return false };
        let greatest_rest = self.interval_of(&rest);
        if !greatest_rest.is_closed() && greatest_rest.high >= super::interval::OPEN_END {
            return false;
        }
        let before = self.bound(atom);
        let mut after = before;
        if coefficient < 0 {
            after.high = after.high.min(greatest_rest.high.div_euclid(-coefficient));
        } else {
            after.low = after.low.max(-greatest_rest.high.div_euclid(coefficient));
        }
        self.is_contradictory |= after.is_empty();
        self.bounds.insert(atom, after);
        after != before
    }
}

/// Proves a goal directly or, where that fails, for each case of a joined number, of a minimum or
/// of a choice of facts.
fn holds_by_cases(
    atoms: &Atoms,
    facts: &FactList,
    extra: &[Fact],
    goal: &Polynomial,
    splits_left: usize,
    steps: &mut usize,
) -> bool {
    let context = ProofContext::of_goal(atoms, facts, extra, goal);
    if context.is_contradictory {
        return true;
    }
    // Distinctions must have steps left.
    let mut steps_here = (*steps).min(MOST_STEPS_OF_CASE);
    let allotted = steps_here;
    let mut search = Search { context: &context, steps: &mut steps_here, seen: HashSet::new() };
    let is_proved = search.holds(goal, DEEPEST_SEARCH);
    *steps -= allotted - steps_here;
    if is_proved {
        return true;
    }
    if splits_left == 0 || *steps == 0 {
        return false;
    }
    for cases in case_distinctions(&context, goal).into_iter().take(5) {
        let is_proved = cases.iter().all(|case| {
            let mut case_facts: Vec<Fact> = case.facts.clone();
            case_facts.extend_from_slice(extra);
            let case_goal = match &case.replaced {
                Some((atom, value)) => goal.with_atom_as(*atom, value),
                None => Some(goal.clone()),
            };
            case_goal.is_some_and(|case_goal| {
                holds_by_cases(atoms, facts, &case_facts, &case_goal, splits_left - 1, steps)
            })
        });
        if is_proved {
            return true;
        }
        if *steps == 0 {
            return false;
        }
    }
    false
}

/// One of the cases of a distinction.
struct Case {
    facts: Vec<Fact>,
    /// An atom that has this value here.
    replaced: Option<(AtomId, Polynomial)>,
}

/// Distinctions that may help with a goal; each is complete.
fn case_distinctions(context: &ProofContext<'_>, goal: &Polynomial) -> Vec<Vec<Case>> {
    let mut split_atoms: Vec<AtomId> = goal.atoms().collect();
    split_atoms.extend(context.inequalities.iter().flat_map(Polynomial::atoms));
    let mut distinctions = Vec::new();
    let mut visited = BTreeSet::new();
    for atom in split_atoms {
        if !visited.insert(atom) {
            continue;
        }
        match context.atoms.kind(atom) {
            AtomKind::Joined(alternatives) => distinctions.push(
                alternatives
                    .iter()
                    .map(|way| case_of(atom, &way.value, way.facts.to_vec()))
                    .collect(),
            ),
            AtomKind::Minimum(left, right) | AtomKind::Maximum(left, right) => {
                distinctions
                    .push(vec![case_of(atom, left, Vec::new()), case_of(atom, right, Vec::new())]);
            }
            AtomKind::Symbol
            | AtomKind::Quotient(..)
            | AtomKind::Remainder(..)
            | AtomKind::PowerOfTwo(_)
            | AtomKind::Reading { .. }
            | AtomKind::ImageSize(..) => {}
        }
    }
    for choice in &context.choices {
        let cases = choice.lists.iter().map(|facts| Case { facts: facts.clone(), replaced: None });
        distinctions.push(cases.collect());
    }
    distinctions
}

/// The case in which an atom has a value.
fn case_of(atom: AtomId, value: &Polynomial, mut facts: Vec<Fact>) -> Case {
    if let Some(difference) = Polynomial::atom(atom).minus(value) {
        facts.push(Fact::AtLeastZero(difference.negated()));
        facts.push(Fact::AtLeastZero(difference));
    }
    Case { facts, replaced: Some((atom, value.clone())) }
}

/// A search for a sum of facts, times what is not negative, that the goal exceeds.
struct Search<'a, 'b> {
    context: &'a ProofContext<'b>,
    steps: &'a mut usize,
    seen: HashSet<Polynomial>,
}

impl Search<'_, '_> {
    fn holds(&mut self, goal: &Polynomial, depth: usize) -> bool {
        let goal = tightened(goal);
        let interval = self.context.interval_of(&goal);
        if interval.low >= 0 {
            return true;
        }
        if interval.high < 0 || depth == 0 || *self.steps == 0 || !self.seen.insert(goal.clone()) {
            return false;
        }
        *self.steps -= 1;
        let mut next_goals = self.eliminations(&goal);
        next_goals.sort_by_cached_key(|next_goal| (self.cost(next_goal), next_goal.clone()));
        next_goals.dedup();
        next_goals.truncate(WIDEST_SEARCH);
        next_goals.iter().any(|next_goal| self.holds(next_goal, depth - 1))
    }

    /// Terms that can pull a goal below 0, and all terms.
    fn cost(&self, goal: &Polynomial) -> (usize, usize) {
        let pulling_terms =
            goal.terms().filter(|(monomial, coefficient)| self.is_pulling(monomial, *coefficient));
        (pulling_terms.count(), goal.term_count())
    }

    /// Whether a term can be below 0.
    fn is_pulling(&self, monomial: &Monomial, coefficient: i128) -> bool {
        let product = self.context.monomial_interval(monomial);
        product.times(Interval::of_number(coefficient)).low < 0
    }

    /// Goals that imply this one, each with a term less by a fact.
    fn eliminations(&self, goal: &Polynomial) -> Vec<Polynomial> {
        let mut goals = Vec::new();
        let terms = goal.terms().filter(|(monomial, coefficient)| {
            monomial.len() == 1 || (monomial.len() > 1 && self.is_pulling(monomial, *coefficient))
        });
        let terms: Vec<(&Monomial, i128)> = terms.collect();
        for inequality in &self.context.inequalities {
            self.eliminate_by(goal, &terms, inequality, &mut goals);
        }
        // Of terms with one factor the interval of the goal takes the bounds already.
        let terms: Vec<(&Monomial, i128)> =
            terms.into_iter().filter(|(monomial, _)| monomial.len() >= 2).collect();
        let atoms: BTreeSet<AtomId> = goal.atoms().collect();
        for atom in atoms {
            let bound = self.context.bound(atom);
            let own = Polynomial::atom(atom);
            if bound.low > -super::interval::OPEN_END {
                self.eliminate_by(goal, &terms, &own.plus_number(-bound.low), &mut goals);
            }
            if bound.high < super::interval::OPEN_END {
                let fact = own.negated().plus_number(bound.high);
                self.eliminate_by(goal, &terms, &fact, &mut goals);
            }
            if let AtomKind::Quotient(_, divisor) = self.context.atoms.kind(atom) {
                goals.extend(self.times_divisor(goal, divisor));
            }
        }
        goals
    }

    /// `goal` is an integer, so that it is at least 0 if `divisor * goal + divisor - 1` is.
    fn times_divisor(&self, goal: &Polynomial, divisor: &Polynomial) -> Option<Polynomial> {
        let is_variable = divisor.number().is_none();
        let is_positive = self.context.interval_of(divisor).low >= 1;
        if !is_variable || !is_positive {
            return None;
        }
        goal.times(divisor)?.plus(divisor).map(|sum| sum.plus_number(-1))
    }

    fn eliminate_by(
        &self,
        goal: &Polynomial,
        terms: &[(&Monomial, i128)],
        inequality: &Polynomial,
        goals: &mut Vec<Polynomial>,
    ) {
        for (fact_monomial, fact_coefficient) in inequality.terms() {
            if fact_monomial.is_empty() {
                continue;
            }
            for (monomial, coefficient) in terms.iter().copied() {
                if (coefficient < 0) != (fact_coefficient < 0) {
                    continue;
                }
                let Some(factor) = monomial_quotient(monomial, fact_monomial) else { continue };
                if self.context.monomial_interval(&factor).low < 0 {
                    continue;
                }
                goals.extend(without_term(
                    (goal, coefficient),
                    (inequality, fact_coefficient),
                    factor,
                ));
            }
        }
    }
}

/// `k * goal - n * factor * fact + (k - 1)` with the least k and n that cancel a term of both. The
/// goal is an integer: it is at least 0 if it is more than -1.
fn without_term(
    (goal, coefficient): (&Polynomial, i128),
    (fact, fact_coefficient): (&Polynomial, i128),
    factor: Monomial,
) -> Option<Polynomial> {
    let divisor = greatest_common_divisor(coefficient, fact_coefficient);
    let (goal_scale, fact_scale) =
        ((fact_coefficient / divisor).abs(), (coefficient / divisor).abs());
    let taken = fact.times(&Polynomial::monomial(factor))?.scaled(fact_scale)?;
    Some(goal.scaled(goal_scale)?.minus(&taken)?.plus_number(goal_scale - 1))
}

/// The strongest integer inequality with the same integer solutions that dividing gives.
fn tightened(goal: &Polynomial) -> Polynomial {
    let factor = goal.common_factor();
    if factor <= 1 {
        return goal.clone();
    }
    // The constant is divided downwards; all others by what divides them.
    goal.split_by_divisor(factor).0
}
