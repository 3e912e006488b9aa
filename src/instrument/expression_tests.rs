//! Random boolean expressions with their evaluation, and the numbering of their vectors against it.

use proptest::prelude::*;
use std::collections::BTreeMap;
use vkcert_coverage::numbering::{number_vectors, numbered_vectors};
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{ConditionValue, Outcome, Values, Vector};

/// A random expression; conditions are numbered in source order afterwards.
pub(crate) fn expressions(depth: u32) -> impl Strategy<Value = (BooleanExpression, usize)> {
    let leaf = Just(BooleanExpression::Condition(0));
    let tree = leaf.prop_recursive(depth, 12, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|e| BooleanExpression::Not(Box::new(e))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| BooleanExpression::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| BooleanExpression::Or(Box::new(a), Box::new(b))),
            (inner.clone(), inner)
                .prop_map(|(a, b)| BooleanExpression::Xor(Box::new(a), Box::new(b))),
        ]
    });
    tree.prop_map(|mut expression| {
        let mut next = 0;
        renumber(&mut expression, &mut next);
        (expression, next as usize)
    })
}

fn renumber(expression: &mut BooleanExpression, next: &mut u32) {
    match expression {
        BooleanExpression::Condition(condition) => {
            *condition = *next;
            *next += 1;
        }
        BooleanExpression::Not(inner) => renumber(inner, next),
        BooleanExpression::And(left, right)
        | BooleanExpression::Or(left, right)
        | BooleanExpression::Xor(left, right) => {
            renumber(left, next);
            renumber(right, next);
        }
    }
}

/// Evaluates under an assignment in the order of GLSL, noting which conditions were evaluated.
pub(crate) fn evaluate(
    expression: &BooleanExpression,
    assignment: u32,
    seen: &mut Vec<ConditionValue>,
) -> bool {
    match expression {
        BooleanExpression::Condition(condition) => {
            let value = assignment >> condition & 1 == 1;
            seen[*condition as usize] = ConditionValue::from(value);
            value
        }
        BooleanExpression::Not(inner) => !evaluate(inner, assignment, seen),
        BooleanExpression::And(left, right) => {
            evaluate(left, assignment, seen) && evaluate(right, assignment, seen)
        }
        BooleanExpression::Or(left, right) => {
            evaluate(left, assignment, seen) || evaluate(right, assignment, seen)
        }
        BooleanExpression::Xor(left, right) => {
            evaluate(left, assignment, seen) ^ evaluate(right, assignment, seen)
        }
    }
}

proptest! {
    #[test]
    fn numbering_tells_all_vectors_apart((expression, conditions) in expressions(5)) {
        prop_assume!(conditions <= 10);
        let numbering = number_vectors(&expression, conditions).unwrap();
        let table = numbered_vectors(&expression, &numbering);
        let mut expected = BTreeMap::new();
        for assignment in 0..1 << conditions {
            let mut seen = vec![ConditionValue::NotEvaluated; conditions];
            let outcome = Outcome::from(evaluate(&expression, assignment, &mut seen));
            let sum: u32 = seen.iter().zip(&numbering.weights).map(|(value, weight)| match value {
                ConditionValue::True => weight[0],
                ConditionValue::False => weight[1],
                ConditionValue::NotEvaluated => 0,
            }).sum();
            prop_assert!(sum < numbering.size);
            let vector = Vector { values: Values(seen), outcome };
            // The same sum must always mean the same vector.
            prop_assert_eq!(expected.entry(sum).or_insert_with(|| vector.clone()), &vector);
        }
        prop_assert_eq!(table, expected.into_iter().collect::<Vec<_>>());
    }
}
