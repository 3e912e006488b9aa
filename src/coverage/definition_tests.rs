//! The calculus against its definitions, tried pair by pair over whole truth tables.
//!
//! Nothing here uses the calculus' own evaluation: expressions are n-ary trees with their own
//! evaluator, a pair is tested by the words of the definition, closing sets by trying every smaller
//! set.

mod definition;
mod samples;

use super::closing::Minimality;
use super::decision::{Decision as Calculus, EnumerationExtent};
use super::independence::IndependenceForm;
use super::mcdc::{Attainability, Mcdc, McdcAnalysis, McdcError};
use super::numbering::{number_vectors, numbered_vectors};
use definition::*;
use proptest::prelude::*;
use samples::*;
use vkcert_model::structure::BooleanExpression as E;
use vkcert_model::vector::{ConditionValue, Values};

/// Random decisions of each property; without optimisation the first of them.
const CASES: u32 = if cfg!(debug_assertions) { 96 } else { 512 };

fn analyse(expression: &E, coupling: &[u32], given: &[Text]) -> McdcAnalysis {
    let given: Vec<Values> = given.iter().map(values_of).collect();
    Mcdc::new(expression, coupling).unwrap().analyse_vectors(given).unwrap()
}

/// The set of n + 1 vectors that the proof of `Mcdc::minimum_set` builds.
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
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    #[test]
    fn pairs_and_attainability_equal_the_definitions((expression, coupling, bits) in decisions(6, ALL)) {
        let tree = tree(&expression);
        let all = possible(&tree, &coupling);
        let given = chosen(&all, bits);
        let analysis = analyse(&expression, &coupling, &given);
        prop_assert_eq!(analysis.extent, EnumerationExtent::Complete);
        let missing: Vec<Text> = all.iter().filter(|text| !given.contains(text)).cloned().collect();
        prop_assert_eq!(analysis.missing.iter().map(|v| text_of(&v.values)).collect::<Vec<_>>(), missing);
        for vector in analysis.given.iter().chain(&analysis.missing) {
            prop_assert_eq!(Some(vector.outcome.as_bool()), under(&tree, &text_of(&vector.values)));
        }
        for (condition, found) in analysis.conditions.iter().enumerate() {
            for (form, found) in [(IndependenceForm::UniqueCause, &found.unique_cause), (IndependenceForm::Masking, &found.masking)] {
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
        for form in [IndependenceForm::UniqueCause, IndependenceForm::Masking] {
            let minimum = mcdc.minimum_set(form).unwrap();
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
        let [unique, masking] = [IndependenceForm::UniqueCause, IndependenceForm::Masking].map(|form| mcdc.minimum_set(form).unwrap());
        for (form, minimum) in [(IndependenceForm::UniqueCause, unique), (IndependenceForm::Masking, masking)] {
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
            prop_assert!(first_pair(IndependenceForm::UniqueCause, &tree, condition, &set).is_some(), "{} {:?}", condition, set);
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
        let found = mcdc.decision().feasible_vectors(1_000).vectors;
        prop_assert_eq!(found.iter().map(|vector| text_of(&vector.values)).collect::<Vec<_>>(), expected.clone());
        // An outcome that is decided by the fixed values alone is the only one.
        if let Some(outcome) = expression.decided_value(&|condition| fixed[condition as usize]) {
            prop_assert!(expected.iter().all(|text| under(&tree, text) == Some(outcome)));
        }
        let analysis = mcdc.analyse_vectors(Vec::new()).unwrap();
        for (condition, found) in analysis.conditions.iter().enumerate() {
            for form in [IndependenceForm::UniqueCause, IndependenceForm::Masking] {
                let attainable = first_pair(form, &tree, condition, &expected).is_some();
                prop_assert_eq!(found.analysis_of(form).attainability == Attainability::Attainable, attainable);
            }
        }
        let closing: Vec<Text> = analysis.closing_set.iter().map(text_of).collect();
        prop_assert!(closing.iter().all(|text| expected.contains(text)));
        prop_assert_eq!(covered(&tree, coupling.len(), &closing), covered(&tree, coupling.len(), &expected));
    }

    #[test]
    fn multiple_condition_asks_for_all_vectors_that_can_occur((expression, coupling, _) in decisions(7, ALL)) {
        let decision = Calculus::new(&expression, &coupling).unwrap();
        let demand = super::combination::DemandedVectors::of_decision(&decision);
        let asked: Vec<Text> =
            demand.listed_vectors().into_iter().flatten().map(|vector| text_of(&vector.values)).collect();
        prop_assert_eq!(asked, possible(&tree(&expression), &coupling));
    }

    /// What records rely on: a vector's number is the sum of its conditions' weights.
    #[test]
    fn the_numbers_of_vectors_are_sums_of_their_own((expression, coupling, _) in decisions(7, ALL)) {
        let free: Vec<u32> = (0..coupling.len() as u32).collect();
        let numbering = number_vectors(&expression, coupling.len()).unwrap();
        let numbered = numbered_vectors(&expression, &numbering);
        prop_assert!(numbered.windows(2).all(|rows| rows[0].0 < rows[1].0));
        prop_assert!(numbered.iter().all(|(sum, _)| *sum < numbering.size));
        for (sum, vector) in &numbered {
            let weights = vector.values.0.iter().zip(&numbering.weights);
            let weights = weights.filter_map(|(value, weights)| Some(weights[usize::from(!value.as_bool()?)]));
            prop_assert_eq!(weights.sum::<u32>(), *sum);
        }
        let mut vectors: Vec<_> = numbered.into_iter().map(|(_, vector)| vector).collect();
        if !format!("{expression:?}").contains("Xor") {
            prop_assert_eq!(vectors.len(), numbering.size as usize);
        }
        vectors.sort_by(|one, other| one.values.cmp(&other.values));
        let decision = Calculus::new(&expression, &free).unwrap();
        prop_assert_eq!(vectors, decision.feasible_vectors(1_000).vectors);
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
fn timed(
    expression: &E,
    coupling: &[u32],
    given: &[Values],
) -> (McdcAnalysis, std::time::Duration) {
    let start = std::time::Instant::now();
    let analysis =
        Mcdc::new(expression, coupling).unwrap().analyse_vectors(given.to_vec()).unwrap();
    (analysis, start.elapsed())
}

/// The limit is met before any vector is looked at; these are none of the decision.
#[test]
fn at_most_65536_vectors_are_analysed() {
    let mcdc = Mcdc::new(&E::Condition(0), &[0]).unwrap();
    let values =
        |bits: u32| Values((0..17).map(|i| ConditionValue::from(bits >> i & 1 == 1)).collect());
    let mut vectors: Vec<Values> = (0..65_536).map(values).collect();
    vectors.push(values(7));
    assert!(matches!(mcdc.analyse_vectors(vectors.clone()), Err(McdcError::Vector(_))));
    vectors.push(values(65_536));
    let message = "the tests showed 65537 vectors; the calculus is exact for at most 65536";
    assert_eq!(mcdc.analyse_vectors(vectors).unwrap_err().to_string(), message);
    let conditions = |count: u32| Calculus::new(&E::Condition(0), &(0..count).collect::<Vec<_>>());
    assert!(conditions(128).is_ok());
    let message = "the decision has 129 conditions; the calculus is exact for at most 128";
    assert_eq!(conditions(129).unwrap_err().to_string(), message);
}

/// Twenty conditions as the contract asks: long chains, mixed chains, and 65,536 vectors at hand.
/// Without optimisation ten, and 512: what is exact is so for both, the time is told by the
/// other build.
#[test]
fn twenty_conditions_are_exact_within_seconds() {
    let (conditions, varied) = if cfg!(debug_assertions) { (10, 9) } else { (20, 16) };
    let xor = |left, right| E::Xor(Box::new(left), Box::new(right));
    let and = |left, right| E::And(Box::new(left), Box::new(right));
    let or = |left, right| E::Or(Box::new(left), Box::new(right));
    let mixed = decision_of(conditions, |leaf, l, r| match leaf % 3 {
        0 => and(l, r),
        1 => or(l, r),
        _ => xor(l, r),
    });
    let alternating =
        decision_of(conditions, |leaf, l, r| if leaf % 2 == 0 { and(l, r) } else { or(l, r) });
    let pairs = (0..conditions / 2)
        .map(|i| or(E::Condition(2 * i), E::Condition(2 * i + 1)))
        .reduce(and)
        .unwrap();
    let (exclusive, coupling) = decision_of(conditions, |_, l, r| xor(l, r));
    let mut slowest = std::time::Duration::ZERO;
    for (expression, coupling) in [mixed, alternating, (pairs, coupling.clone())] {
        let (analysis, first) = timed(&expression, &coupling, &[]);
        let (closed, second) = timed(&expression, &coupling, &analysis.closing_set);
        assert!(closed.conditions.iter().all(|condition| condition.masking.pair.is_some()));
        slowest = slowest.max(first).max(second);
    }
    assert!(1 << varied <= super::limits::MAX_VECTORS);
    let at_hand: Vec<Values> = (0..1_u32 << varied)
        .map(|bits| {
            Values((0..conditions).map(|i| ConditionValue::from(bits >> i & 1 == 1)).collect())
        })
        .collect();
    let (analysis, last) = timed(&exclusive, &coupling, &at_hand);
    let shown = analysis
        .conditions
        .iter()
        .filter(|condition| condition.unique_cause.pair.is_some())
        .count();
    assert_eq!(shown, varied, "the upper conditions never change in these vectors");
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
