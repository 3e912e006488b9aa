//! Evaluation vectors: what each condition of a decision was in one evaluation, and what the decision became.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The value of one condition in one evaluation of its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionValue {
    /// The condition was true.
    True,
    /// The condition was false.
    False,
    /// Short-circuited away; prints as `-`.
    NotEvaluated,
}

impl ConditionValue {
    /// The value as a Boolean; none where it was not evaluated.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            ConditionValue::True => Some(true),
            ConditionValue::False => Some(false),
            ConditionValue::NotEvaluated => None,
        }
    }

    /// How it prints: `T`, `F` or `-`.
    pub fn letter(self) -> char {
        match self {
            ConditionValue::True => 'T',
            ConditionValue::False => 'F',
            ConditionValue::NotEvaluated => '-',
        }
    }
}

impl From<bool> for ConditionValue {
    fn from(value: bool) -> Self {
        if value { ConditionValue::True } else { ConditionValue::False }
    }
}

/// One character per condition in source order (`TF-`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Values(pub Vec<ConditionValue>);

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.iter().map(|value| value.letter()).collect::<String>())
    }
}

/// A vector text with a character other than `T`, `F`, `-`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{character}` in the vector `{text}` is none of T, F and -")]
pub struct ValuesError {
    /// The text as it was given.
    pub text: String,
    /// The first character that is none of these.
    pub character: char,
    /// Byte offset of the character in `text`.
    pub offset: usize,
}

impl FromStr for Values {
    type Err = ValuesError;
    fn from_str(text: &str) -> Result<Self, ValuesError> {
        let mut values = Vec::with_capacity(text.len());
        for (offset, character) in text.char_indices() {
            values.push(match character {
                'T' => ConditionValue::True,
                'F' => ConditionValue::False,
                '-' => ConditionValue::NotEvaluated,
                _ => return Err(ValuesError { text: text.to_owned(), character, offset }),
            });
        }
        Ok(Values(values))
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Values {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Values".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// The value a decision took; stored as `"T"` or `"F"`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Outcome {
    /// The decision was true.
    #[serde(rename = "T")]
    True,
    /// The decision was false.
    #[serde(rename = "F")]
    False,
}

impl Outcome {
    /// Whether the decision was true.
    pub fn as_bool(self) -> bool {
        self == Outcome::True
    }
}

impl From<bool> for Outcome {
    fn from(value: bool) -> Self {
        if value { Outcome::True } else { Outcome::False }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.as_bool() { "T" } else { "F" })
    }
}

/// An evaluation vector with its outcome.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Vector {
    /// One value per condition, in source order.
    pub values: Values,
    /// The outcome of the decision for these values.
    pub outcome: Outcome,
}
