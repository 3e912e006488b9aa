//! The definitions of MC/DC as they are written, tried pair by pair and set by set.

use super::super::independence::IndependenceForm;
use std::collections::BTreeSet;
use vkcert_model::structure::BooleanExpression as E;
use vkcert_model::vector::Values;

/// An expression with operands in a row; the number is the condition.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    Leaf(usize),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Xor(Vec<Tree>),
}

/// One character per condition.
pub(super) type Text = Vec<char>;

pub(super) fn tree(expression: &E) -> Tree {
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
pub(super) fn run(tree: &Tree, value: &mut dyn FnMut(usize) -> Option<bool>) -> Option<bool> {
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

pub(super) fn under(tree: &Tree, text: &Text) -> Option<bool> {
    run(tree, &mut |index| match text[index] {
        'T' => Some(true),
        'F' => Some(false),
        _ => None,
    })
}

/// Every vector that some values of the variables lead to.
pub(super) fn possible(tree: &Tree, coupling: &[u32]) -> Vec<Text> {
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

pub(super) fn contains(tree: &Tree, condition: usize) -> bool {
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
pub(super) fn siblings_hold(tree: &Tree, condition: usize, one: &Text, other: &Text) -> bool {
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

pub(super) fn shows(
    form: IndependenceForm,
    tree: &Tree,
    condition: usize,
    one: &Text,
    other: &Text,
) -> bool {
    let differs =
        one[condition] != other[condition] && one[condition] != '-' && other[condition] != '-';
    if !differs || under(tree, one) == under(tree, other) {
        return false;
    }
    match form {
        IndependenceForm::Masking => siblings_hold(tree, condition, one, other),
        IndependenceForm::UniqueCause => (0..one.len())
            .filter(|index| *index != condition)
            .all(|index| one[index] == other[index] || one[index] == '-' || other[index] == '-'),
    }
}

pub(super) fn first_pair(
    form: IndependenceForm,
    tree: &Tree,
    condition: usize,
    vectors: &[Text],
) -> Option<[Text; 2]> {
    for one in vectors.iter().filter(|text| text[condition] == 'T') {
        for other in vectors.iter().filter(|text| text[condition] == 'F') {
            if shows(form, tree, condition, one, other) {
                return Some([one.clone(), other.clone()]);
            }
        }
    }
    None
}

pub(super) fn text_of(values: &Values) -> Text {
    values.to_string().chars().collect()
}

pub(super) fn values_of(text: &Text) -> Values {
    text.iter().collect::<String>().parse().unwrap()
}

pub(super) fn covered(tree: &Tree, conditions: usize, vectors: &[Text]) -> Vec<bool> {
    (0..conditions)
        .map(|c| first_pair(IndependenceForm::Masking, tree, c, vectors).is_some())
        .collect()
}

/// Whether some set of fewer than `size` vectors completes what all possible vectors show.
pub(super) fn smaller_set_closes(
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

pub(super) fn agrees(text: &Text, fixed: &[Option<bool>]) -> bool {
    text.iter().zip(fixed).all(|(c, fixed)| match fixed {
        Some(value) => *c == '-' || (*c == 'T') == *value,
        None => true,
    })
}

/// Whether some subset of a size has a property.
pub(super) fn some_subset(
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
