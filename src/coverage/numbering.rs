//! Numbers the evaluation vectors of a decision.
//!
//! Knows: the short-circuit order of `&&`, `||`, `!` and the full evaluation of `^^`. A decision is
//! a binary decision diagram whose paths are its vectors; each edge carries a weight such that the
//! sum along a path is the path's number.
//! Promises: two vectors never have the same sum, and every sum is below the size. With `^^` some
//! sums stay unused.
//! Does not cover: which vectors can occur when conditions depend on each other (`decision` does).

use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{ConditionValue, Outcome, Values, Vector};

/// The numbering of one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// Exclusive upper bound of the sums.
    pub size: u32,
    /// Per condition in source order: weight when true, weight when false.
    pub weights: Vec<[u32; 2]>,
}

/// Decisions whose numbering is larger are not recorded.
pub(crate) const MAX_SIZE: u64 = 65_536;

/// The decision has more vectors than are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the decision has more than {MAX_SIZE} evaluation vectors")]
pub struct TooManyVectors;

/// Numbers the vectors of `expression` over `conditions` conditions.
pub fn number_vectors(
    expression: &BooleanExpression,
    conditions: usize,
) -> Result<Numbering, TooManyVectors> {
    let mut weights = vec![[0; 2]; conditions];
    let number_count = assign_weights(expression, 1, 1, &mut weights)?;
    Ok(Numbering { size: number_count, weights })
}

/// Gives weights to the conditions of `expression`, behind which `on_true` and `on_false` numbers
/// are needed for what is evaluated afterwards; returns how many numbers the whole needs.
fn assign_weights(
    expression: &BooleanExpression,
    on_true: u32,
    on_false: u32,
    weights: &mut [[u32; 2]],
) -> Result<u32, TooManyVectors> {
    match expression {
        BooleanExpression::Condition(condition) => {
            weights[*condition as usize] = [0, on_true];
            let number_count = u64::from(on_true) + u64::from(on_false);
            if number_count > MAX_SIZE { Err(TooManyVectors) } else { Ok(number_count as u32) }
        }
        BooleanExpression::Not(inner) => assign_weights(inner, on_false, on_true, weights),
        BooleanExpression::And(left, right_count) => {
            let right_count = assign_weights(right_count, on_true, on_false, weights)?;
            assign_weights(left, right_count, on_false, weights)
        }
        BooleanExpression::Or(left, right_count) => {
            let right_count = assign_weights(right_count, on_true, on_false, weights)?;
            assign_weights(left, on_true, right_count, weights)
        }
        // Either value of the left side leads to either outcome, so each path reserves room for the
        // larger one.
        BooleanExpression::Xor(left, right_count) => {
            let widest_side = on_true.max(on_false);
            let right_count = assign_weights(right_count, widest_side, widest_side, weights)?;
            assign_weights(left, right_count, right_count, weights)
        }
    }
}

/// Every vector of the decision with its sum, by ascending sum.
pub fn numbered_vectors(
    expression: &BooleanExpression,
    numbering: &Numbering,
) -> Vec<(u32, Vector)> {
    let first_path = EvaluationPath {
        sum: 0,
        values: vec![ConditionValue::NotEvaluated; numbering.weights.len()],
    };
    let mut vector_paths = Vec::new();
    walk_paths(expression, first_path, numbering, &mut |path, outcome| {
        vector_paths.push((
            path.sum,
            Vector { values: Values(path.values), outcome: Outcome::from(outcome) },
        ));
    });
    vector_paths.sort_by_key(|(sum, _)| *sum);
    vector_paths
}

/// What has been evaluated so far.
#[derive(Clone)]
struct EvaluationPath {
    sum: u32,
    values: Vec<ConditionValue>,
}

fn walk_paths(
    expression: &BooleanExpression,
    path: EvaluationPath,
    numbering: &Numbering,
    path_ended: &mut dyn FnMut(EvaluationPath, bool),
) {
    match expression {
        BooleanExpression::Condition(condition) => {
            for (value, weight) in
                [true, false].into_iter().zip(numbering.weights[*condition as usize])
            {
                let mut path = path.clone();
                path.sum += weight;
                path.values[*condition as usize] = ConditionValue::from(value);
                path_ended(path, value);
            }
        }
        BooleanExpression::Not(inner) => {
            walk_paths(inner, path, numbering, &mut |path, value| path_ended(path, !value))
        }
        BooleanExpression::And(left, right) => {
            walk_paths(left, path, numbering, &mut |path, value| match value {
                true => walk_paths(right, path, numbering, path_ended),
                false => path_ended(path, false),
            })
        }
        BooleanExpression::Or(left, right) => {
            walk_paths(left, path, numbering, &mut |path, value| match value {
                true => path_ended(path, true),
                false => walk_paths(right, path, numbering, path_ended),
            })
        }
        BooleanExpression::Xor(left, right) => {
            walk_paths(left, path, numbering, &mut |path, first_value| {
                walk_paths(right, path, numbering, &mut |path, second_value| {
                    path_ended(path, first_value != second_value)
                });
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where `^^` leaves gaps: each side of it has room for the larger outcome of what follows.
    #[test]
    fn the_size_follows_from_the_operators() {
        let size = |text: &str| {
            let parsed = crate::expression::parse(text).unwrap();
            number_vectors(&parsed.expression, parsed.conditions.len()).unwrap().size
        };
        for (text, expected) in [
            ("a", 2),
            ("!a", 2),
            ("a && b", 3),
            ("a || b || c", 4),
            ("a && !(b || c)", 4),
            ("a ^^ b", 4),
            ("a ^^ b ^^ c", 8),
            ("(a ^^ b) && c", 8),
            ("c && (a ^^ b)", 5),
            ("(a ^^ b) || (c && d)", 12),
            ("!(a ^^ b) || (c && d)", 12),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn too_large_a_decision_is_refused() {
        let xor = |conditions: u32| {
            (1..conditions).fold(BooleanExpression::Condition(0), |left, condition| {
                BooleanExpression::Xor(
                    Box::new(left),
                    Box::new(BooleanExpression::Condition(condition)),
                )
            })
        };
        assert_eq!(number_vectors(&xor(16), 16).unwrap().size, 65_536);
        assert_eq!(number_vectors(&xor(17), 17), Err(TooManyVectors));
        assert_eq!(number_vectors(&xor(200), 200), Err(TooManyVectors));
    }
}
