//! What can be wrong with a vector that is given for a decision, in sentences.

use vkcert_model::vector::Values;

/// Why a text is no vector of a decision. Condition numbers start at 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", fault.sentence_about(values))]
pub struct VectorFault {
    /// The vector.
    pub values: Values,
    /// What is wrong with them.
    pub fault: ValuesFault,
}

/// What is wrong with the values of a vector. Condition numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuesFault {
    /// There is another number of values than the decision has conditions.
    Length {
        /// How many values there are.
        found: usize,
        /// How many conditions the decision has.
        expected: usize,
    },
    /// They lack the value of a condition that is evaluated.
    Missing {
        /// The first such condition.
        condition: usize,
    },
    /// They give a value to a condition that is short-circuited away.
    NotEvaluated {
        /// The first such condition.
        condition: usize,
    },
    /// They give different values to conditions that are the same text.
    Coupled {
        /// The condition whose value is taken.
        first: usize,
        /// The later one that contradicts it.
        second: usize,
    },
}

impl ValuesFault {
    /// 0-based index of the value that is wrong; none where the length is.
    pub fn value_index(self) -> Option<usize> {
        match self {
            ValuesFault::Length { .. } => None,
            ValuesFault::Missing { condition } | ValuesFault::NotEvaluated { condition } => {
                Some(condition - 1)
            }
            ValuesFault::Coupled { second, .. } => Some(second - 1),
        }
    }

    fn sentence_about(self, values: &Values) -> String {
        match self {
            ValuesFault::Length { found, expected } => format!(
                "the vector `{values}` has {found} values; the decision has {expected} conditions"
            ),
            ValuesFault::Missing { condition } => format!(
                "in the vector `{values}` condition C{condition} is `-`, but with the values before it it is evaluated"
            ),
            ValuesFault::NotEvaluated { condition } => format!(
                "in the vector `{values}` condition C{condition} has a value, but with the values before it it is not evaluated"
            ),
            ValuesFault::Coupled { first, second } => format!(
                "the vector `{values}` contradicts itself: C{first} and C{second} are the same text and cannot differ"
            ),
        }
    }

    pub(super) fn in_values(self, values: &Values) -> VectorFault {
        VectorFault { values: values.clone(), fault: self }
    }
}
