//! Decisions, their conditions and the Boolean expressions over them.
//!
//! Knows: where a decision stands, what its value depends on, whether its evaluations are recorded.
//! Promises: an expression refers to conditions of its own decision by 0-based index.
//! Does not cover: vectors and coverage (`vector`, `coverage`).

use super::Expansion;
use crate::id::{DecisionId, FunctionId};
use crate::place::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A decision and its conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Number of the decision, printed as `D1`.
    pub id: DecisionId,
    /// The function that it stands in; none at file level.
    pub function: Option<FunctionId>,
    /// Where in the grammar it stands.
    pub context: DecisionContext,
    /// The whole expression in the source.
    pub span: Span,
    /// The source text, white space collapsed to single spaces, as reports print it.
    pub text: String,
    /// How the conditions are combined.
    pub expression: BooleanExpression,
    /// In source order; `expression` refers to them by 0-based index.
    pub conditions: Vec<Condition>,
    /// What its outcome depends on.
    pub constness: Constness,
    /// Whether its evaluations are recorded.
    pub recording: Recording,
    /// Macro expansions that produced the decision, outermost first; empty for plain text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansion: Vec<Expansion>,
}

/// Where in the grammar a decision stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionContext {
    /// Controlling expression of an `if`.
    If,
    /// Controlling expression of a `while`.
    While,
    /// Controlling expression of a `do ... while`.
    DoWhile,
    /// Controlling expression of a `for`.
    For,
    /// Before the `?` of a conditional expression.
    Ternary,
    /// Right side of an assignment.
    Assignment,
    /// Initialiser of a variable.
    Initialiser,
    /// Value of a `return`.
    Return,
    /// Argument of a call.
    Argument,
    /// Any other place of a Boolean operator: an index, an operand of `==`, an expression statement ...
    Expression,
}

impl DecisionContext {
    /// Whether the decision directs control flow (policy `control-flow` counts these alone).
    pub fn controls_flow(self) -> bool {
        match self {
            DecisionContext::If
            | DecisionContext::While
            | DecisionContext::DoWhile
            | DecisionContext::For
            | DecisionContext::Ternary => true,
            DecisionContext::Assignment
            | DecisionContext::Initialiser
            | DecisionContext::Return
            | DecisionContext::Argument
            | DecisionContext::Expression => false,
        }
    }
}

/// A condition: a leaf of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// The expression in the source.
    pub span: Span,
    /// The source text, as reports print it.
    pub text: String,
    /// Conditions of the decision with the same number here have the same side-effect-free text and are coupled.
    /// Numbers start at 0 in order of first occurrence; a condition with side effects has a number of its own.
    pub coupling: u32,
    /// What its value depends on.
    pub constness: Constness,
}

/// What a value depends on, as far as the source text (and after compiling, the module) tells.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Constness {
    /// A constant expression: fixed in the text.
    Constant,
    /// Depends on specialization constants alone: fixed per pipeline.
    Specialization,
    /// Can vary between invocations or dispatches.
    Runtime,
}

/// Whether the evaluations of a decision are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    /// Markers stand around it.
    Marked,
    /// It is not; the decision is undetermined, for the reason given (constant-expression context, marked text does
    /// not compile, too many vectors).
    Unmarked {
        /// Why it is not, for reports.
        reason: String,
    },
}

/// A Boolean expression over the conditions of one decision, by 0-based condition index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BooleanExpression {
    /// The value of the condition of this index.
    Condition(u32),
    /// `!`.
    Not(Box<BooleanExpression>),
    /// `&&`, short-circuited from left to right.
    And(Box<BooleanExpression>, Box<BooleanExpression>),
    /// `||`, short-circuited from left to right.
    Or(Box<BooleanExpression>, Box<BooleanExpression>),
    /// `^^`, which evaluates both sides.
    Xor(Box<BooleanExpression>, Box<BooleanExpression>),
}

impl BooleanExpression {
    /// The value where the known values of conditions leave no choice; `value` is asked by condition index.
    pub fn decided_value(&self, value_of: &dyn Fn(u32) -> Option<bool>) -> Option<bool> {
        let decided_pair = |left: &Self, right: &Self| {
            [left.decided_value(value_of), right.decided_value(value_of)]
        };
        match self {
            BooleanExpression::Condition(condition) => value_of(*condition),
            BooleanExpression::Not(operand) => operand.decided_value(value_of).map(|value| !value),
            BooleanExpression::And(left, right) => {
                decided_by_control(decided_pair(left, right), false)
            }
            BooleanExpression::Or(left, right) => {
                decided_by_control(decided_pair(left, right), true)
            }
            BooleanExpression::Xor(left, right) => {
                Some(left.decided_value(value_of)? ^ right.decided_value(value_of)?)
            }
        }
    }
}

/// The outcome of an operator that one operand of the controlling value decides by itself.
fn decided_by_control(operands: [Option<bool>; 2], controlling_value: bool) -> Option<bool> {
    match operands {
        _ if operands.contains(&Some(controlling_value)) => Some(controlling_value),
        [Some(_), Some(_)] => Some(!controlling_value),
        _ => None,
    }
}

impl JsonSchema for BooleanExpression {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BooleanExpression".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "one of {\"condition\": index}, {\"not\": e}, {\"and\": [e, e]}, {\"or\": [e, e]}, {\"xor\": [e, e]}"
        })
    }
}
