//! Parts of the calculus by themselves: what holds when a search gives up, bounds, and vectors that
//! are made up rather than found.

use super::super::closing::{ClosingTask, closing_set};
use super::super::expression::parse;
use super::*;

const DECISIONS: &[&str] = &[
    "a",
    "a && b",
    "a || !b && c",
    "(a || b) && (c || d) && e",
    "a ^^ b",
    "a ^^ b && c",
    "(a ^^ b) && (c || d)",
    "a ^^ !(b ^^ c)",
    "!(a ^^ b) || c ^^ d",
    "a ^^ b ^^ c ^^ d",
    "(a || b) ^^ (c && d) ^^ e",
    "a && (b ^^ c) || !(d ^^ e)",
    "((a && b) ^^ c || d) && !e ^^ f",
];

const COUPLED: &[&str] =
    &["a && b || a && c", "a ^^ b && a", "(a ^^ b) || (b && c)", "a && b || !a && c ^^ b"];

fn mcdc_of(text: &str) -> Mcdc {
    let parsed = parse(text).unwrap();
    Mcdc::new(&parsed.expression, &parsed.coupling_numbers()).unwrap()
}

fn packed(mcdc: &Mcdc, vectors: &[&str]) -> Vec<PackedVector> {
    vectors.iter().map(|text| mcdc.decision.packed_from(&text.parse().unwrap())).collect()
}

/// Every third of the possible vectors from some first one on, or none.
fn some_vectors(possible: &[PackedVector], first: usize) -> Vec<PackedVector> {
    possible.iter().skip(first).step_by(3).copied().take(first).collect()
}

fn shown_by(mcdc: &Mcdc, form: IndependenceForm, vectors: &[PackedVector]) -> Vec<bool> {
    let pairs = mcdc.search_pairs(form, WantedPair::Any, vectors);
    (0..mcdc.decision.conditions).map(|condition| pairs.pair_of(condition).is_some()).collect()
}

/// A search that gives up says less, and nothing wrong: its set closes everything, and what it calls
/// the least number of vectors is not above that of a smallest set.
#[test]
fn whatever_a_search_may_look_at_its_bounds_hold() {
    for text in DECISIONS.iter().chain(COUPLED) {
        let mcdc = mcdc_of(text);
        let possible = mcdc.possible_vectors();
        let all: Vec<PackedVector> = possible.vectors.iter().map(|(vector, _)| *vector).collect();
        for (form, first) in [IndependenceForm::Masking, IndependenceForm::UniqueCause]
            .into_iter()
            .flat_map(|form| [0, 1, 2].map(|first| (form, first)))
        {
            let given = some_vectors(&all, first);
            let (at_hand, goal) = (shown_by(&mcdc, form, &given), shown_by(&mcdc, form, &all));
            let open: Vec<usize> = (0..goal.len())
                .filter(|&condition| goal[condition] && !at_hand[condition])
                .collect();
            let task = |look_budget: u32| ClosingTask {
                look_budget,
                ..mcdc.closing_task(form, &open, &given, &possible)
            };
            let exact = closing_set(&task(u32::MAX));
            let smallest = exact.chosen_candidates.len();
            assert_eq!(exact.at_least, smallest, "{text} {form:?} {first}");
            for look_budget in [0, 1, 7, 30, 100, 400, 2_000] {
                let task = task(look_budget);
                let found = closing_set(&task);
                let told = format!("{text} {form:?} {first} {look_budget}: {found:?}");
                assert!(found.at_least <= smallest, "{told}");
                assert!(found.chosen_candidates.len() >= smallest, "{told}");
                assert!(found.at_least <= found.chosen_candidates.len(), "{told}");
                assert!(found.chosen_candidates.is_sorted(), "{told}");
                let mut vectors = given.clone();
                let chosen = found.chosen_candidates.iter();
                vectors.extend(chosen.map(|&candidate| task.candidates[candidate].vector));
                assert_eq!(shown_by(&mcdc, form, &vectors), goal, "{told}");
            }
        }
    }
}

/// The bound of a `^^` chain, counted by hand: operands with an open condition and one more, less the
/// different values that the vectors at hand give to these operands.
#[test]
fn a_chain_demands_one_vector_more_than_it_has_open_operands() {
    for (text, open, given, expected) in [
        ("a ^^ b ^^ c", &[0, 1, 2][..], &[][..], 4),
        ("a ^^ b ^^ c", &[0, 1, 2], &["TTT"], 3),
        ("a ^^ b ^^ c", &[0, 1, 2], &["TTT", "TFT"], 2),
        // Of these two, the operand that is open has one value.
        ("a ^^ b ^^ c", &[0], &["TTT", "TFT"], 1),
        ("a ^^ b ^^ c", &[1], &["TTT", "TFT"], 0),
        ("a ^^ b ^^ c", &[], &[], 0),
        ("!(a ^^ b)", &[0, 1], &[], 3),
        ("!!(a ^^ !b)", &[0, 1], &[], 3),
        ("a ^^ (b && c)", &[0, 1, 2], &[], 3),
        ("a ^^ (b && c)", &[1, 2], &["TTT", "TTF", "TF-"], 0),
        ("a ^^ (b && c)", &[1, 2], &["TTF", "TF-"], 1),
        ("a && b", &[0, 1], &[], 2),
        ("a && b", &[0, 1], &["TT"], 1),
        ("a && b", &[0, 1], &["TT", "F-"], 0),
        ("(a ^^ b) || c", &[0, 1, 2], &[], 2),
        // A `!` inside of a chain makes one operand of what stands behind it.
        ("a ^^ !(b ^^ c)", &[0, 1, 2], &[], 3),
        ("!(a ^^ b) ^^ !(c ^^ d)", &[0, 1, 2, 3], &[], 3),
    ] {
        let mcdc = mcdc_of(text);
        let given = packed(&mcdc, given);
        assert_eq!(mcdc.exclusive_bound(open, &given), expected, "{text} {open:?} {given:?}");
    }
}

/// Were each condition behind the two `!` an operand of the chain, five vectors would be demanded:
/// but a pair of `a` may change `c` and `d` both, so that four pairs close a circle.
#[test]
fn chains_inside_of_chains_take_fewer_vectors() {
    let minimum = mcdc_of("!(a ^^ b) ^^ !(c ^^ d)").minimum_set(IndependenceForm::Masking);
    assert_eq!(minimum, Some(MinimumSet { vectors: 4, at_least: 4, conditions: 4 }));
    let minimum = mcdc_of("a ^^ b ^^ c ^^ d").minimum_set(IndependenceForm::Masking);
    assert_eq!(minimum, Some(MinimumSet { vectors: 5, at_least: 5, conditions: 4 }));
}

/// Where too many vectors can occur to list, vectors are made up: each must be one that can occur, and
/// every two of a condition a pair.
#[test]
fn made_up_vectors_are_pairs() {
    for text in DECISIONS {
        let mcdc = mcdc_of(text);
        for condition in 0..mcdc.decision.conditions {
            let pair = [true, false].map(|value| mcdc.sensitive_vector(condition, value));
            for (vector, value) in pair.into_iter().zip([true, false]) {
                assert_eq!(vector.value_of(condition), Some(value), "{text} C{}", condition + 1);
                let values = mcdc.decision.values_from(vector);
                assert!(mcdc.decision.vector_outcome(&values).is_ok(), "{text} {values}");
            }
            let shown = shown_by(&mcdc, IndependenceForm::Masking, &pair);
            let only: Vec<bool> = (0..shown.len()).map(|index| index == condition).collect();
            assert_eq!(shown, only, "{text} C{}", condition + 1);
        }
    }
}

#[test]
fn a_made_up_closing_set_closes_every_condition() {
    for text in DECISIONS {
        let mcdc = mcdc_of(text);
        let all: Vec<PackedVector> =
            mcdc.possible_vectors().vectors.iter().map(|(vector, _)| *vector).collect();
        for first in [0, 1, 2] {
            let given = some_vectors(&all, first);
            let values: Vec<Values> =
                given.iter().map(|vector| mcdc.decision.values_from(*vector)).collect();
            let mut analysis = mcdc.analyse_vectors(values.clone()).unwrap();
            let exact = analysis.closing_set.len();
            let open: Vec<usize> = (0..mcdc.decision.conditions)
                .filter(|&condition| analysis.conditions[condition].masking.pair.is_none())
                .collect();
            mcdc.construct_closing_set(&mut analysis, &open, &given);
            let told = format!("{text} {first}: {:?}", analysis.closing_set);
            assert!(analysis.closing_set.is_sorted(), "{told}");
            assert!(analysis.closing_set.iter().all(|made_up| !values.contains(made_up)), "{told}");
            let closing =
                analysis.closing_set.iter().map(|values| mcdc.decision.packed_from(values));
            let vectors: Vec<PackedVector> = given.iter().copied().chain(closing).collect();
            let shown = shown_by(&mcdc, IndependenceForm::Masking, &vectors);
            assert!(shown.into_iter().all(|is_shown| is_shown), "{told}");
            assert!(analysis.closing_set.len() >= exact, "{told}");
            if analysis.minimality == Minimality::Proved {
                assert_eq!(analysis.closing_set.len(), exact, "{told}");
            }
            for condition in open {
                let addition = analysis.conditions[condition].masking.addition.as_ref().unwrap();
                let pair: Vec<&Values> = addition.vectors.iter().chain(&addition.partner).collect();
                assert_eq!(pair.len(), 2, "{told}");
                assert!(addition.partner.iter().all(|partner| values.contains(partner)), "{told}");
                let pair: Vec<PackedVector> =
                    pair.into_iter().map(|values| mcdc.decision.packed_from(values)).collect();
                assert!(shown_by(&mcdc, IndependenceForm::Masking, &pair)[condition], "{told}");
            }
        }
    }
    // Of a chain alone it is a smallest one, and that is said.
    let chain = mcdc_of("a ^^ b ^^ c ^^ d");
    let mut analysis = chain.analyse_vectors(Vec::new()).unwrap();
    chain.construct_closing_set(&mut analysis, &[0, 1, 2, 3], &[]);
    let texts: Vec<String> = analysis.closing_set.iter().map(Values::to_string).collect();
    assert_eq!(texts, ["TTTT", "TFTT", "TFFT", "TFFF", "FTTT"]);
    assert_eq!(analysis.minimality, Minimality::Proved);
    let masked = mcdc_of("a && b && c");
    let mut analysis = masked.analyse_vectors(Vec::new()).unwrap();
    masked.construct_closing_set(&mut analysis, &[0, 1, 2], &[]);
    assert_eq!((analysis.closing_set.len(), analysis.minimality), (4, Minimality::NotProved));
}

#[test]
fn unattainable_conditions_are_those_of_the_form() {
    let of = |text: &str, form: IndependenceForm| {
        let analysis = mcdc_of(text).analyse_vectors(Vec::new()).unwrap();
        analysis.unattainable_conditions(form).collect::<Vec<usize>>()
    };
    let (unique, masking) = (IndependenceForm::UniqueCause, IndependenceForm::Masking);
    assert_eq!((of("a && b", unique), of("a && b", masking)), (vec![], vec![]));
    assert_eq!(
        (of("a && b || a && c", unique), of("a && b || a && c", masking)),
        (vec![2], vec![])
    );
    assert_eq!((of("b || a && a", unique), of("b || a && a", masking)), (vec![2], vec![2]));
    assert_eq!(of("a ^^ a ^^ b", masking), [0, 1]);
}

/// How far a search comes with so many looks, and which set it names: reports show it, and it is to
/// be the same on every machine.
#[test]
fn how_far_searches_come() {
    let larger = ["a ^^ b ^^ (c && d) ^^ (e || f)", "(a ^^ b) && (c ^^ d) && (e ^^ f)"];
    let mut lines = Vec::new();
    for text in DECISIONS.iter().chain(COUPLED).chain(&larger) {
        let mcdc = mcdc_of(text);
        let possible = mcdc.possible_vectors();
        let all: Vec<PackedVector> = possible.vectors.iter().map(|(vector, _)| *vector).collect();
        for first in [0, 2] {
            let given = some_vectors(&all, first);
            let at_hand = shown_by(&mcdc, IndependenceForm::Masking, &given);
            let goal = shown_by(&mcdc, IndependenceForm::Masking, &all);
            let open: Vec<usize> = (0..goal.len())
                .filter(|&condition| goal[condition] && !at_hand[condition])
                .collect();
            let mut told = String::new();
            for look_budget in [0, 40, 150, 1_500, 100_000] {
                let task = mcdc.closing_task(IndependenceForm::Masking, &open, &given, &possible);
                let task = ClosingTask { look_budget, ..task };
                let found = closing_set(&task);
                let vectors = found.chosen_candidates.iter().map(|&candidate| {
                    mcdc.decision.values_from(task.candidates[candidate].vector).to_string()
                });
                let vectors = vectors.collect::<Vec<_>>().join(" ");
                let set = format!(" [{}: {vectors}]", found.at_least);
                if !told.ends_with(&set) {
                    told.push_str(&format!(" {look_budget}{set}"));
                }
            }
            lines.push(format!("{text} with {}:{told}", given.len()));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}
