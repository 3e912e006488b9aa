//! Identifiers. Each is a newtype that prints as it does in reports (`D3`, `D3.C1`, `S12`).
//!
//! Numbering starts at 1 in source order, per kernel; index 0 never occurs in a printed identifier.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// An identifier text that does not have the expected form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an identifier of the form {form}")]
pub struct IdError {
    /// The text as it was given.
    pub text: String,
    /// The form that was expected, for people.
    pub form: &'static str,
}

macro_rules! numbered_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $form:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!(concat!($prefix, "{}"), self.0))
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let error = || IdError { text: text.to_owned(), form: $form };
                let digits = text.strip_prefix($prefix).ok_or_else(error)?;
                digits.parse().map($name).map_err(|_| error())
            }
        }

        text_form!($name);
    };
}

/// Stores a type in files as its printed form.
macro_rules! text_form {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    };
}

numbered_id!(
    /// A decision: a Boolean expression composed of conditions and Boolean operators (CAST-10).
    DecisionId, "D", "D<number>");
numbered_id!(
    /// A statement of the source text.
    StatementId, "S", "S<number>");
numbered_id!(
    /// A `switch` statement; its labels are branches `W1.L1`, `W1.L2` ... in source order.
    SwitchId, "W", "W<number>");
numbered_id!(
    /// A function definition of the source text; entry is `F1.entry`, exits are `F1.X1` ... in source order.
    FunctionId, "F", "F<number>");
numbered_id!(
    /// A call of a function that the source text defines.
    CallId, "CALL", "CALL<number>");
numbered_id!(
    /// A loop statement; its cases are `LOOP1.zero`, `LOOP1.once`, `LOOP1.more`, `LOOP1.boundary`.
    LoopId, "LOOP", "LOOP<number>");
numbered_id!(
    /// A pair of a definition and a use that are coupled (`P1`, `P2` ...).
    PairId, "P", "P<number>");
numbered_id!(
    /// A conditional branch, switch or scalar select of a module that has no source (`B1` ...).
    ObjectBranchId, "B", "B<number>");

/// A condition: a Boolean expression without Boolean operators; prints as `D3.C1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConditionId {
    /// The decision that it is a leaf of.
    pub decision: DecisionId,
    /// 1-based place among the conditions of the decision, in source order.
    pub number: u32,
}

impl fmt::Display for ConditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.C{}", self.decision, self.number))
    }
}

impl FromStr for ConditionId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong_form = || IdError { text: text.to_owned(), form: "D<number>.C<number>" };
        let (decision, number) = text.split_once(".C").ok_or_else(wrong_form)?;
        Ok(Self {
            decision: decision.parse().map_err(|_| wrong_form())?,
            number: number.parse().map_err(|_| wrong_form())?,
        })
    }
}
text_form!(ConditionId);

/// Texts of names, each kept once for as long as the process runs: a name is a key of nearly every
/// table, and is copied where a text would be cloned.
static NAME_TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// Those that this thread has asked for: names are asked for so often that threads would wait for
    /// each other.
    static NAMES_OF_THREAD: RefCell<HashSet<&'static str>> = RefCell::default();
}

fn kept_text(text: &str) -> &'static str {
    NAMES_OF_THREAD.with_borrow_mut(|names| match names.get(text) {
        Some(kept_text) => *kept_text,
        None => {
            let kept_text = text_of_process(text);
            names.insert(kept_text);
            kept_text
        }
    })
}

fn text_of_process(text: &str) -> &'static str {
    let mut kept_texts = NAME_TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept_text) = kept_texts.get(text) {
        return kept_text;
    }
    let kept_text: &'static str = Box::leak(Box::from(text));
    kept_texts.insert(kept_text);
    kept_text
}

macro_rules! name_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Eq, Serialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(&'static str);

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                // Each text is kept once.
                std::ptr::eq(self.0, other.0)
            }
        }
        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                match self == other {
                    true => Ordering::Equal,
                    false => self.0.cmp(other.0),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(kept_text(text))
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(kept_text(&text))
            }
        }
        impl From<&String> for $name {
            fn from(text: &String) -> Self {
                Self(kept_text(text))
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // Borrowed or owned, as the format has it.
                Ok(Self(kept_text(&Cow::<str>::deserialize(deserializer)?)))
            }
        }
        impl $name {
            /// The identifier's text, kept for the life of the process.
            pub fn as_str(&self) -> &'static str {
                self.0
            }
        }
    };
}

name_id!(
    /// The name of a kernel, as in `vkcert.toml` or in the `kernels` table of a test procedure.
    KernelName);
name_id!(
    /// The identifier of a test case, e.g. `TC-MM-01`.
    TestId);
name_id!(
    /// The unique identifier of a requirement, e.g. `LLR-MM-002`.
    RequirementId);
name_id!(
    /// An obligation of one kernel in its printed form: `S12`, `D3.T`, `D3.C1.unique-cause`, `W1.L2`, `F1.entry`, `B4.T`.
    ObligationId);
name_id!(
    /// A finding of one kernel as justifications name it: the kind, `@`, and the statements that it is about
    /// (`data-race@S4,S7`), or test, buffer or check (`coupling@dispatch-covers-domain`).
    FindingId);
name_id!(
    /// A mutant of one kernel as justifications name it: the first operator that makes it and its number among the mutants of
    /// the kernel (`ROR.22`).
    MutantId);

impl MutantId {
    /// Whether it names a mutant of dispatches, or of an operator that makes these, too.
    pub fn may_be_of_dispatches(&self) -> bool {
        let code = self.0.split('.').next().unwrap_or_default();
        code.parse::<super::mutation::MutationOperator>()
            .is_ok_and(|operator| operator.code() == code && operator.makes_mutants_of_dispatches())
    }
}

impl FindingId {
    /// The kind that it names; none where it names no kind.
    pub fn kind(&self) -> Option<super::finding::FindingKind> {
        let kind_name = self.0.split('@').next().unwrap_or_default();
        super::finding::FindingKind::ALL
            .iter()
            .find(|(_, listed_name)| *listed_name == kind_name)
            .map(|(kind, _)| *kind)
    }

    /// What it names of that kind: statements, a test, a check; none where it names a kind alone.
    pub fn name_suffix(&self) -> Option<&str> {
        self.0.split_once('@').map(|(_, suffix)| suffix)
    }

    /// Whether it names a test, or something in one.
    pub fn is_in(&self, test: &TestId) -> bool {
        let behind_test = self.name_suffix().and_then(|suffix| suffix.strip_prefix(test.as_str()));
        behind_test
            .is_some_and(|behind_test| behind_test.is_empty() || behind_test.starts_with('.'))
    }
}

/// A module of a job: a kernel under one specialization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleKey {
    /// Name of the kernel.
    pub kernel: KernelName,
    /// Which of the kernel's specializations it is, counted from 1 in the order in which the job
    /// first dispatches them.
    pub specialization: u32,
}

impl ModuleKey {
    /// A kernel that a job runs under one specialization.
    pub fn only(kernel: impl Into<KernelName>) -> Self {
        Self { kernel: kernel.into(), specialization: 1 }
    }
}

impl From<&str> for ModuleKey {
    fn from(kernel: &str) -> Self {
        Self::only(kernel)
    }
}

/// As messages name it: the kernel alone where the job runs it under one specialization.
impl fmt::Display for ModuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.specialization {
            1 => write!(f, "{}", self.kernel),
            number => write!(f, "{} (specialization {number})", self.kernel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_named_by_its_kernel_and_where_there_are_several_by_its_number() {
        let first = ModuleKey::from("scale");
        let second = ModuleKey { specialization: 2, ..first };
        assert_eq!(
            [&first, &second].map(ToString::to_string),
            ["scale", "scale (specialization 2)"]
        );
        // A kernel of the name that a second specialization is shown by is another module.
        assert_ne!(ModuleKey::from("scale (specialization 2)"), second);
    }
}
