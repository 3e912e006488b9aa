//! The calculus against its definitions, tried pair by pair over whole truth tables.
//!
//! Nothing here uses the calculus' own evaluation: expressions are n-ary trees with their own
//! evaluator, a pair is tested by the words of the definition, closing sets by trying every smaller
//! set.

use super::closing::Minimality;
use super::decision::{Decision as Calculus, Extent};
use super::independence::Form;
use super::mcdc::{Analysis, Attainability, Mcdc};
use proptest::prelude::*;
use std::collections::BTreeSet;
use vkcert_model::structure::BooleanExpression as E;
use vkcert_model::vector::{ConditionValue, Values};

/// An expression with operands in a row; the number is the condition.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(usize),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Xor(Vec<Tree>),
}

/// One character per condition.
type Text = Vec<char>;

fn tree(expression: &E) -> Tree {
    fn operands(expression: &E, pick: fn(&E) -> Option<(&E, &E)>) -> Vec<Tree> {
        match pick(expression) {
            Some((left, right)) => [operands(left, pick), operands(right, pick)].concat(),
            None => vec![tree(expression)],
        }
    }
    match expression {
        E::Condition(index) => Tree::Leaf(*index as usize),
        E::Not(operand) => Tree::Not(Box::new(tree(operand))),
        E::And(..) => {
            Tree::And(operands(
                expression,
                |e| if let E::And(l, r) = e { Some((l, r)) } else { None },
            ))
        }
        E::Or(..) => {
            Tree::Or(operands(
                expression,
                |e| if let E::Or(l, r) = e { Some((l, r)) } else { None },
            ))
        }
        E::Xor(..) => {
            Tree::Xor(operands(
                expression,
                |e| if let E::Xor(l, r) = e { Some((l, r)) } else { None },
            ))
        }
    }
}

/// Evaluates with the values that `value` gives; none as soon as one is lacking.
fn run(tree: &Tree, value: &mut dyn FnMut(usize) -> Option<bool>) -> Option<bool> {
    match tree {
        Tree::Leaf(index) => value(*index),
        Tree::Not(operand) => Some(!run(operand, value)?),
        Tree::And(operands) => {
            for operand in operands {
                if !run(operand, value)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Tree::Or(operands) => {
            for operand in operands {
                if run(operand, value)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Tree::Xor(operands) => {
            let mut odd = false;
            for operand in operands {
                odd ^= run(operand, value)?;
            }
            Some(odd)
        }
    }
}

fn under(tree: &Tree, text: &Text) -> Option<bool> {
    run(tree, &mut |index| match text[index] {
        'T' => Some(true),
        'F' => Some(false),
        _ => None,
    })
}

/// Every vector that some values of the variables lead to.
fn possible(tree: &Tree, coupling: &[u32]) -> Vec<Text> {
    let variables = coupling.iter().max().map_or(0, |last| last + 1);
    let mut found = BTreeSet::new();
    for assignment in 0u32..1 << variables {
        let mut text = vec!['-'; coupling.len()];
        run(tree, &mut |index| {
            let value = assignment >> coupling[index] & 1 == 1;
            text[index] = if value { 'T' } else { 'F' };
            Some(value)
        });
        found.insert(text);
    }
    let mut all: Vec<Text> = found.into_iter().collect();
    all.sort_by_key(|text| text.iter().map(|c| "TF-".find(*c)).collect::<Vec<_>>());
    all
}

fn contains(tree: &Tree, condition: usize) -> bool {
    match tree {
        Tree::Leaf(index) => *index == condition,
        Tree::Not(operand) => contains(operand, condition),
        Tree::And(operands) | Tree::Or(operands) | Tree::Xor(operands) => {
            operands.iter().any(|operand| contains(operand, condition))
        }
    }
}

/// "At every operator between the condition and the root the sibling operand has in both vectors
/// the same, non-controlling value; a sibling that a vector did not evaluate takes its value from
/// the other vector."
fn siblings_hold(tree: &Tree, condition: usize, one: &Text, other: &Text) -> bool {
    let (operands, wanted) = match tree {
        Tree::Leaf(_) => return true,
        Tree::Not(operand) => return siblings_hold(operand, condition, one, other),
        Tree::And(operands) => (operands, Some(true)),
        Tree::Or(operands) => (operands, Some(false)),
        Tree::Xor(operands) => (operands, None),
    };
    operands.iter().all(|operand| {
        if contains(operand, condition) {
            return siblings_hold(operand, condition, one, other);
        }
        let (a, b) = (under(operand, one), under(operand, other));
        match (a.or(b), b.or(a)) {
            (Some(a), Some(b)) => a == b && wanted.is_none_or(|wanted| wanted == a),
            _ => false,
        }
    })
}

fn shows(form: Form, tree: &Tree, condition: usize, one: &Text, other: &Text) -> bool {
    let differs =
        one[condition] != other[condition] && one[condition] != '-' && other[condition] != '-';
    if !differs || under(tree, one) == under(tree, other) {
        return false;
    }
    match form {
        Form::Masking => siblings_hold(tree, condition, one, other),
        Form::UniqueCause => (0..one.len())
            .filter(|index| *index != condition)
            .all(|index| one[index] == other[index] || one[index] == '-' || other[index] == '-'),
    }
}

fn first_pair(form: Form, tree: &Tree, condition: usize, vectors: &[Text]) -> Option<[Text; 2]> {
    for one in vectors.iter().filter(|text| text[condition] == 'T') {
        for other in vectors.iter().filter(|text| text[condition] == 'F') {
            if shows(form, tree, condition, one, other) {
                return Some([one.clone(), other.clone()]);
            }
        }
    }
    None
}

fn text_of(values: &Values) -> Text {
    values.to_string().chars().collect()
}

fn values_of(text: &Text) -> Values {
    text.iter().collect::<String>().parse().unwrap()
}

/// A random shape with `leaves` conditions, operators from `operators`.
fn expression(leaves: u32, operators: &'static [u8], first: u32) -> BoxedStrategy<E> {
    if leaves == 1 {
        return prop_oneof![
            3 => Just(E::Condition(first)),
            1 => Just(E::Not(Box::new(E::Condition(first)))),
        ]
        .boxed();
    }
    (1..leaves, proptest::sample::select(operators), prop::bool::weighted(0.2))
        .prop_flat_map(move |(left, operator, negated)| {
            let right = expression(leaves - left, operators, first + left);
            (expression(left, operators, first), right).prop_map(move |(left, right)| {
                let (left, right) = (Box::new(left), Box::new(right));
                let joined = match operator {
                    b'&' => E::And(left, right),
                    b'|' => E::Or(left, right),
                    _ => E::Xor(left, right),
                };
                if negated { E::Not(Box::new(joined)) } else { joined }
            })
        })
        .boxed()
}

/// Expression, coupling numbers, and bits that choose the vectors at hand.
fn decisions(most: u32, operators: &'static [u8]) -> impl Strategy<Value = (E, Vec<u32>, u64)> {
    (1..=most).prop_flat_map(move |leaves| {
        let free = Just((0..leaves).collect::<Vec<u32>>());
        let coupled = prop::collection::vec(0..leaves, leaves as usize).prop_map(renumber);
        let coupling = prop_oneof![1 => free, 1 => coupled];
        (expression(leaves, operators, 0), coupling, any::<u64>())
    })
}

/// Numbers from 0 in order of first occurrence.
fn renumber(numbers: Vec<u32>) -> Vec<u32> {
    let mut seen: Vec<u32> = Vec::new();
    let place = |number: u32, seen: &mut Vec<u32>| {
        seen.iter().position(|other| *other == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        }) as u32
    };
    numbers.into_iter().map(|number| place(number, &mut seen)).collect()
}

/// The vectors at hand: about half of the possible ones, or a quarter.
fn chosen(all: &[Text], bits: u64) -> Vec<Text> {
    let kept = |index: usize| {
        let mixed = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(index as u32 * 7 % 64)
            ^ bits >> (index % 64);
        mixed & (if bits & 1 == 0 { 1 } else { 3 }) == 0
    };
    all.iter().enumerate().filter(|(index, _)| kept(*index)).map(|(_, text)| text.clone()).collect()
}

fn analyse(expression: &E, coupling: &[u32], given: &[Text]) -> Analysis {
    let given: Vec<Values> = given.iter().map(values_of).collect();
    Mcdc::new(expression, coupling).unwrap().analyse(&given).unwrap()
}

fn covered(tree: &Tree, conditions: usize, vectors: &[Text]) -> Vec<bool> {
    (0..conditions).map(|c| first_pair(Form::Masking, tree, c, vectors).is_some()).collect()
}

/// Whether some set of fewer than `size` vectors completes what all possible vectors show.
fn smaller_set_closes(
    tree: &Tree,
    conditions: usize,
    given: &[Text],
    all: &[Text],
    size: usize,
) -> bool {
    let goal = covered(tree, conditions, all);
    let missing: Vec<&Text> = all.iter().filter(|text| !given.contains(text)).collect();
    (0u32..1 << missing.len()).filter(|set| (set.count_ones() as usize) < size).any(|set| {
        let mut vectors = given.to_vec();
        vectors.extend(
            missing
                .iter()
                .enumerate()
                .filter(|(i, _)| set >> i & 1 == 1)
                .map(|(_, text)| (*text).clone()),
        );
        covered(tree, conditions, &vectors) == goal
    })
}

const ALL: &[u8] = b"&|^";

/// Some conditions fixed, and all that are coupled with them.
fn fixed(coupling: &[u32], bits: u64) -> Vec<Option<bool>> {
    let of =
        |number: &u32| (bits >> (2 * number) & 3 == 3).then_some(bits >> (20 + number) & 1 == 1);
    coupling.iter().map(of).collect()
}

fn agrees(text: &Text, fixed: &[Option<bool>]) -> bool {
    text.iter().zip(fixed).all(|(c, fixed)| match fixed {
        Some(value) => *c == '-' || (*c == 'T') == *value,
        None => true,
    })
}

/// Whether some subset of a size has a property.
fn some_subset(
    all: &[Text],
    size: usize,
    taken: &mut Vec<Text>,
    holds: &dyn Fn(&[Text]) -> bool,
) -> bool {
    if size == 0 {
        let mut sorted = taken.clone();
        sorted.sort_by_key(|text| text.iter().map(|c| "TF-".find(*c)).collect::<Vec<_>>());
        return holds(&sorted);
    }
    (0..all.len()).any(|next| {
        taken.push(all[next].clone());
        let found = some_subset(&all[next + 1..], size - 1, taken, holds);
        taken.pop();
        found
    })
}

/// The set of n + 1 vectors that the proof of `Mcdc::minimum` builds.
fn spanning_set(expression: &E) -> Vec<Text> {
    let conditions = {
        fn count(e: &E) -> usize {
            match e {
                E::Condition(_) => 1,
                E::Not(e) => count(e),
                E::And(l, r) | E::Or(l, r) | E::Xor(l, r) => count(l) + count(r),
            }
        }
        count(expression)
    };
    fn join(one: &Text, other: &Text) -> Text {
        one.iter().zip(other).map(|(a, b)| if *a == '-' { *b } else { *a }).collect()
    }
    fn build(e: &E, n: usize) -> Vec<(Text, bool)> {
        let both =
            |l: &E, r: &E, goes_on: &dyn Fn(bool) -> bool, result: &dyn Fn(bool, bool) -> bool| {
                let (left, right) = (build(l, n), build(r, n));
                // The right vector behind every left one that goes on: one that leaves the left
                // value visible.
                let base = right.iter().position(|(_, value)| goes_on(*value)).unwrap();
                let pivot = left.iter().position(|(_, value)| goes_on(*value)).unwrap();
                let mut set: Vec<(Text, bool)> = Vec::new();
                for (text, value) in &left {
                    set.push(match goes_on(*value) {
                        true => (join(text, &right[base].0), result(*value, right[base].1)),
                        false => (text.clone(), *value),
                    });
                }
                for (index, (text, value)) in
                    right.iter().enumerate().filter(|(index, _)| *index != base)
                {
                    let _ = index;
                    set.push((join(&left[pivot].0, text), result(left[pivot].1, *value)));
                }
                set
            };
        match e {
            E::Condition(index) => [('T', true), ('F', false)]
                .map(|(c, value)| {
                    let mut text = vec!['-'; n];
                    text[*index as usize] = c;
                    (text, value)
                })
                .into(),
            E::Not(e) => build(e, n).into_iter().map(|(text, value)| (text, !value)).collect(),
            E::And(l, r) => both(l, r, &|value| value, &|a, b| a && b),
            E::Or(l, r) => both(l, r, &|value| !value, &|a, b| a || b),
            E::Xor(l, r) => both(l, r, &|_| true, &|a, b| a ^ b),
        }
    }
    let mut set: Vec<Text> =
        build(expression, conditions).into_iter().map(|(text, _)| text).collect();
    set.sort_by_key(|text| text.iter().map(|c| "TF-".find(*c)).collect::<Vec<_>>());
    set
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn pairs_and_attainability_equal_the_definitions((expression, coupling, bits) in decisions(6, ALL)) {
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        let given = chosen(&all, bits);
        let analysis = analyse(&expression, &coupling, &given);
        prop_assert_eq!(analysis.extent, Extent::Complete);
        let missing: Vec<Text> = all.iter().filter(|text| !given.contains(text)).cloned().collect();
        prop_assert_eq!(analysis.missing.iter().map(|v| text_of(&v.values)).collect::<Vec<_>>(), missing);
        for vector in analysis.given.iter().chain(&analysis.missing) {
            prop_assert_eq!(Some(vector.outcome.as_bool()), under(&tree, &text_of(&vector.values)));
        }
        for (condition, found) in analysis.conditions.iter().enumerate() {
            for (form, found) in [(Form::UniqueCause, &found.unique_cause), (Form::Masking, &found.masking)] {
                let pair = found.pair.as_ref().map(|[one, other]| [text_of(one), text_of(other)]);
                prop_assert_eq!(pair, first_pair(form, &tree, condition, &given));
                let attainable = first_pair(form, &tree, condition, &all).is_some();
                prop_assert_eq!(found.attainability == Attainability::Attainable, attainable);
                prop_assert_ne!(found.attainability, Attainability::Unknown);
                prop_assert_eq!(found.addition.is_some(), found.pair.is_none() && attainable);
                let Some(addition) = &found.addition else { continue };
                // The vectors asked for show the condition, with the partner where one is named;
                // and no fewer do.
                let added: Vec<Text> = addition.vectors.iter().map(text_of).collect();
                let pair: Vec<Text> = added.iter().cloned().chain(addition.partner.iter().map(text_of)).collect();
                prop_assert_eq!(pair.len(), 2);
                prop_assert!(shows(form, &tree, condition, &pair[0], &pair[1]), "{:?}", addition);
                prop_assert!(addition.partner.iter().all(|partner| given.contains(&text_of(partner))));
                prop_assert!(added.iter().all(|text| !given.contains(text)));
                let one = all.iter().any(|one| given.iter().any(|other| shows(form, &tree, condition, one, other)));
                prop_assert_eq!(addition.vectors.len(), if one { 1 } else { 2 });
            }
        }
    }

    #[test]
    fn the_minimum_is_that_of_all_sets((expression, coupling, bits) in decisions(4, ALL)) {
        let tree = tree(&expression);
        let fixed = fixed(&coupling, bits);
        let all: Vec<Text> = possible(&tree, &coupling).into_iter().filter(|text| agrees(text, &fixed)).collect();
        let mcdc = Mcdc::new(&expression, &coupling).unwrap().with_fixed(&fixed);
        for form in [Form::UniqueCause, Form::Masking] {
            let minimum = mcdc.minimum(form).unwrap();
            let attainable: Vec<usize> =
                (0..coupling.len()).filter(|&c| first_pair(form, &tree, c, &all).is_some()).collect();
            prop_assert_eq!(minimum.conditions, attainable.len());
            prop_assert_eq!(minimum.vectors, minimum.at_least, "exact for four conditions");
            let closes = |set: &[Text]| attainable.iter().all(|&c| first_pair(form, &tree, c, set).is_some());
            let smallest = (0..=all.len()).find(|&size| some_subset(&all, size, &mut Vec::new(), &closes));
            prop_assert_eq!(Some(minimum.vectors), smallest, "{:?} {:?}", form, all);
        }
    }

    /// Bounds hold, and the number is exact without `^^`, also where not every set can be tried.
    #[test]
    fn the_minimum_of_larger_decisions_is_bounded((expression, coupling, bits) in decisions(8, ALL)) {
        let fixed = if bits & 1 == 0 { vec![None; coupling.len()] } else { fixed(&coupling, bits) };
        let mcdc = Mcdc::new(&expression, &coupling).unwrap().with_fixed(&fixed);
        let [unique, masking] = [Form::UniqueCause, Form::Masking].map(|form| mcdc.minimum(form).unwrap());
        for (form, minimum) in [(Form::UniqueCause, unique), (Form::Masking, masking)] {
            prop_assert!(minimum.at_least <= minimum.vectors, "{:?}", form);
        }
        let restricted = mcdc.decision().is_restricted();
        let exclusive = format!("{expression:?}").contains("Xor");
        prop_assert!(restricted || unique.vectors == unique.at_least);
        prop_assert!(exclusive || masking.vectors == masking.at_least);
        // A set for unique cause is one for masking of the same conditions.
        prop_assert!(masking.conditions >= unique.conditions);
        prop_assert!(masking.conditions > unique.conditions || masking.at_least <= unique.vectors);
        if unique.conditions > 0 {
            prop_assert!(unique.at_least > unique.conditions);
        }
    }

    #[test]
    fn a_set_of_n_plus_one_shows_every_uncoupled_condition_by_unique_cause((expression, coupling, _) in decisions(6, ALL)) {
        let coupling: Vec<u32> = (0..coupling.len() as u32).collect();
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        // Greedy from every start finds one, where it exists; the theorem says that it does.
        let set = spanning_set(&expression);
        prop_assert_eq!(set.len(), coupling.len() + 1);
        prop_assert!(set.iter().all(|text| all.contains(text)));
        for condition in 0..coupling.len() {
            prop_assert!(first_pair(Form::UniqueCause, &tree, condition, &set).is_some(), "{} {:?}", condition, set);
        }
    }

    #[test]
    fn coupling_excludes_exactly_the_vectors_that_differ_within_a_text((expression, coupling, _) in decisions(6, ALL)) {
        let tree = tree(&expression);
        let free: Vec<u32> = (0..coupling.len() as u32).collect();
        let all = possible(&tree, &coupling);
        let expected: Vec<Text> = possible(&tree, &free).into_iter().filter(|text| !all.contains(text)).collect();
        let excluded = Mcdc::new(&expression, &coupling).unwrap().excluded_by_coupling().unwrap();
        prop_assert_eq!(excluded.iter().map(text_of).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn fixed_conditions_leave_the_vectors_that_agree((expression, coupling, bits) in decisions(6, ALL)) {
        let tree = tree(&expression);
        let fixed = fixed(&coupling, bits);
        let expected: Vec<Text> = possible(&tree, &coupling).into_iter().filter(|text| agrees(text, &fixed)).collect();
        let mcdc = Mcdc::new(&expression, &coupling).unwrap().with_fixed(&fixed);
        let found = mcdc.decision().feasible(1_000).vectors;
        prop_assert_eq!(found.iter().map(|vector| text_of(&vector.values)).collect::<Vec<_>>(), expected.clone());
        // An outcome that is decided by the fixed values alone is the only one.
        if let Some(outcome) = expression.decided(&|condition| fixed[condition as usize]) {
            prop_assert!(expected.iter().all(|text| under(&tree, text) == Some(outcome)));
        }
        let analysis = mcdc.analyse(&[]).unwrap();
        for (condition, found) in analysis.conditions.iter().enumerate() {
            for form in [Form::UniqueCause, Form::Masking] {
                let attainable = first_pair(form, &tree, condition, &expected).is_some();
                prop_assert_eq!(found.form(form).attainability == Attainability::Attainable, attainable);
            }
        }
        let closing: Vec<Text> = analysis.closing_set.iter().map(text_of).collect();
        prop_assert!(closing.iter().all(|text| expected.contains(text)));
        prop_assert_eq!(covered(&tree, coupling.len(), &closing), covered(&tree, coupling.len(), &expected));
    }

    #[test]
    fn multiple_condition_asks_for_all_vectors_that_can_occur((expression, coupling, _) in decisions(7, ALL)) {
        let decision = Calculus::new(&expression, &coupling).unwrap();
        let demand = super::combination::Demand::of(&decision);
        let asked: Vec<Text> =
            demand.vectors().into_iter().flatten().map(|vector| text_of(&vector.values)).collect();
        prop_assert_eq!(asked, possible(&tree(&expression), &coupling));
    }

    #[test]
    fn the_closing_set_closes_whatever_can_be_closed((expression, coupling, bits) in decisions(6, ALL)) {
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        let mut vectors = chosen(&all, bits);
        let analysis = analyse(&expression, &coupling, &vectors);
        vectors.extend(analysis.closing_set.iter().map(text_of));
        prop_assert_eq!(covered(&tree, coupling.len(), &vectors), covered(&tree, coupling.len(), &all));
    }

    #[test]
    fn no_smaller_set_closes((expression, coupling, bits) in decisions(4, ALL)) {
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        let given = chosen(&all, bits);
        for given in [given, Vec::new()] {
            let analysis = analyse(&expression, &coupling, &given);
            prop_assert_eq!(analysis.minimality, Minimality::Proved);
            let size = analysis.closing_set.len();
            prop_assert!(!smaller_set_closes(&tree, coupling.len(), &given, &all, size), "{:?}", analysis.closing_set);
        }
    }

    #[test]
    fn no_smaller_set_closes_without_exclusive_or((expression, coupling, bits) in decisions(6, b"&|")) {
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        let given = if bits & 2 == 0 { chosen(&all, bits) } else { Vec::new() };
        prop_assume!(all.len() - given.len() <= 14);
        let analysis = analyse(&expression, &coupling, &given);
        prop_assert_eq!(analysis.minimality, Minimality::Proved);
        prop_assert!(!smaller_set_closes(&tree, coupling.len(), &given, &all, analysis.closing_set.len()));
    }

    /// GNATcoverage's rule for short-circuit decisions.
    #[test]
    fn a_pair_shows_the_rightmost_condition_that_both_evaluated((expression, coupling, _) in decisions(6, b"&|")) {
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        for one in &all {
            for other in all.iter().filter(|other| under(&tree, one) != under(&tree, other)) {
                let differs = |c: &usize| one[*c] != other[*c] && one[*c] != '-' && other[*c] != '-';
                let rightmost = (0..coupling.len()).rev().find(differs);
                let pair = [one.clone(), other.clone()];
                let analysis = analyse(&expression, &coupling, &pair);
                let shown: Vec<usize> = (0..coupling.len()).filter(|c| analysis.conditions[*c].masking.pair.is_some()).collect();
                prop_assert_eq!(shown, Vec::from_iter(rightmost));
            }
        }
    }
}

fn decision_of(leaves: u32, operator: impl Fn(u32, E, E) -> E) -> (E, Vec<u32>) {
    let expression =
        (1..leaves).fold(E::Condition(0), |left, leaf| operator(leaf, left, E::Condition(leaf)));
    (expression, (0..leaves).collect())
}

/// Analyses, and says how long it took.
fn timed(expression: &E, coupling: &[u32], given: &[Values]) -> (Analysis, std::time::Duration) {
    let start = std::time::Instant::now();
    let analysis = Mcdc::new(expression, coupling).unwrap().analyse(given).unwrap();
    (analysis, start.elapsed())
}

/// Twenty conditions as the contract asks: long chains, mixed chains, and 65,536 vectors at hand.
#[test]
fn twenty_conditions_are_exact_within_seconds() {
    let xor = |left, right| E::Xor(Box::new(left), Box::new(right));
    let and = |left, right| E::And(Box::new(left), Box::new(right));
    let or = |left, right| E::Or(Box::new(left), Box::new(right));
    let mixed = decision_of(20, |leaf, l, r| match leaf % 3 {
        0 => and(l, r),
        1 => or(l, r),
        _ => xor(l, r),
    });
    let alternating =
        decision_of(20, |leaf, l, r| if leaf % 2 == 0 { and(l, r) } else { or(l, r) });
    let pairs =
        (0..10).map(|i| or(E::Condition(2 * i), E::Condition(2 * i + 1))).reduce(and).unwrap();
    let (exclusive, coupling) = decision_of(20, |_, l, r| xor(l, r));
    let mut slowest = std::time::Duration::ZERO;
    for (expression, coupling) in [mixed, alternating, (pairs, coupling.clone())] {
        let (analysis, first) = timed(&expression, &coupling, &[]);
        let (closed, second) = timed(&expression, &coupling, &analysis.closing_set);
        assert!(closed.conditions.iter().all(|condition| condition.masking.pair.is_some()));
        slowest = slowest.max(first).max(second);
    }
    let half: Vec<Values> = (0..super::mcdc::MAX_VECTORS as u32)
        .map(|bits| Values((0..20).map(|i| ConditionValue::from(bits >> i & 1 == 1)).collect()))
        .collect();
    let (analysis, last) = timed(&exclusive, &coupling, &half);
    let shown = analysis
        .conditions
        .iter()
        .filter(|condition| condition.unique_cause.pair.is_some())
        .count();
    assert_eq!(shown, 16, "the upper four conditions never change in these vectors");
    slowest = slowest.max(last);
    // About two seconds alone, hours if all pairs of all vectors were looked at; other work may run
    // beside it.
    assert!(slowest.as_secs_f64() < 120.0, "{slowest:?}");
}

#[test]
fn the_smallest_set_is_proved_for_twenty_conditions_without_exclusive_or() {
    fn balanced(from: u32, to: u32, level: u32) -> E {
        if to - from == 1 {
            return E::Condition(from);
        }
        let middle = (from + to) / 2;
        let (left, right) = (
            Box::new(balanced(from, middle, level + 1)),
            Box::new(balanced(middle, to, level + 1)),
        );
        if level.is_multiple_of(2) { E::And(left, right) } else { E::Or(left, right) }
    }
    let analysis = analyse(&balanced(0, 20, 0), &(0..20).collect::<Vec<_>>(), &[]);
    // Fewer than twenty-one: masking lets one vector serve several conditions.
    assert_eq!((analysis.closing_set.len(), analysis.minimality), (10, Minimality::Proved));
}
