//! Criteria of structural coverage by name.
//!
//! Promises: evidence that names a criterion which this version does not have is read and written
//! as it stands.
//! Does not cover: which obligations belong to a criterion (`coverage::criteria`).

use super::verdict::EngineName;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Names of coverage criteria, as `CriterionSummary::criterion` stores them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionName {
    /// Every statement is executed.
    Statement,
    /// Every decision that directs control flow took both outcomes, every switch label was passed.
    Branch,
    /// Every decision took both outcomes, every function was entered and left by each of its
    /// exits.
    Decision,
    /// MC/DC, shown by pairs in which the condition alone differs.
    McdcUniqueCause,
    /// MC/DC, shown by pairs in which other conditions may differ where they are masked.
    McdcMasking,
    /// Every vector of a decision that can occur.
    MultipleCondition,
    /// Every branch, switch and select of the production module took each of its outcomes.
    ObjectBranch,
    /// Object-branch coverage of the branches that trace to no source (DO-178C table A-7,
    /// objective 9).
    AdditionalCode,
    /// Every barrier was executed by all invocations of a workgroup.
    Barrier,
    /// Every function of the source was entered. Derived only where the project asks for it.
    Function,
    /// Every call of a function of the source was executed. Derived only where the project asks for it.
    Call,
    /// Every loop ran zero times, once, more than once, and up to its boundary. Derived only where the project asks
    /// for it.
    LoopBoundary,
    /// Every value at the edges of the ranges of a kernel's inputs was tested. Derived only where the project asks for
    /// it.
    Boundary,
    /// Every value that the host, another kernel or another invocation gives was read. Derived only where the project
    /// asks for it.
    Coupling,
}

impl CriterionName {
    /// Every criterion, weakest first.
    pub const ALL: &'static [CriterionName] = &[
        CriterionName::Statement,
        CriterionName::Branch,
        CriterionName::Decision,
        CriterionName::McdcUniqueCause,
        CriterionName::McdcMasking,
        CriterionName::MultipleCondition,
        CriterionName::ObjectBranch,
        CriterionName::AdditionalCode,
        CriterionName::Barrier,
        CriterionName::Function,
        CriterionName::Call,
        CriterionName::LoopBoundary,
        CriterionName::Boundary,
        CriterionName::Coupling,
    ];

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            CriterionName::Statement => "statement",
            CriterionName::Branch => "branch",
            CriterionName::Decision => "decision",
            CriterionName::McdcUniqueCause => "mcdc-unique-cause",
            CriterionName::McdcMasking => "mcdc-masking",
            CriterionName::MultipleCondition => "multiple-condition",
            CriterionName::ObjectBranch => "object-branch",
            CriterionName::AdditionalCode => "additional-code",
            CriterionName::Barrier => "barrier",
            CriterionName::Function => "function",
            CriterionName::Call => "call",
            CriterionName::LoopBoundary => "loop-boundary",
            CriterionName::Boundary => "boundary",
            CriterionName::Coupling => "coupling",
        }
    }

    /// Whether an engine can tell of any of its obligations: a device tells neither who comes to a
    /// barrier nor who wrote what an invocation reads.
    pub fn is_told_by(self, engine: EngineName) -> bool {
        let needs_sequential = matches!(self, CriterionName::Barrier | CriterionName::Coupling);
        match engine {
            EngineName::Sequential => true,
            EngineName::Vulkan => !needs_sequential,
        }
    }

    /// Whether a project that asks for `asked` asks for this criterion, too: what shows unique-cause MC/DC shows masking
    /// MC/DC.
    pub fn is_met_by(self, asked_criterion: CriterionName) -> bool {
        self == asked_criterion
            || (self, asked_criterion)
                == (CriterionName::McdcMasking, CriterionName::McdcUniqueCause)
    }
}

impl fmt::Display for CriterionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A criterion as evidence names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoredCriterion {
    /// A criterion that this version measures.
    Named(CriterionName),
    /// `mcdc`, which alone asks for masking MC/DC.
    Mcdc,
    /// A word that is no criterion of this version.
    Unknown(String),
}

impl StoredCriterion {
    /// As evidence has it.
    pub fn as_str(&self) -> &str {
        match self {
            StoredCriterion::Named(criterion) => criterion.name(),
            StoredCriterion::Mcdc => "mcdc",
            StoredCriterion::Unknown(word) => word,
        }
    }

    /// The criterion, if this version has it.
    pub fn named(&self) -> Option<CriterionName> {
        match self {
            StoredCriterion::Named(criterion) => Some(*criterion),
            StoredCriterion::Mcdc | StoredCriterion::Unknown(_) => None,
        }
    }
}

impl From<CriterionName> for StoredCriterion {
    fn from(criterion: CriterionName) -> Self {
        StoredCriterion::Named(criterion)
    }
}

impl From<String> for StoredCriterion {
    fn from(word: String) -> Self {
        let named = CriterionName::ALL.iter().find(|criterion| criterion.name() == word);
        match named {
            Some(criterion) => StoredCriterion::Named(*criterion),
            None if word == "mcdc" => StoredCriterion::Mcdc,
            None => StoredCriterion::Unknown(word),
        }
    }
}

impl PartialEq<CriterionName> for StoredCriterion {
    fn eq(&self, criterion: &CriterionName) -> bool {
        self.named() == Some(*criterion)
    }
}

impl fmt::Display for StoredCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for StoredCriterion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for StoredCriterion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for StoredCriterion {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StoredCriterion".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_word_is_read_and_written_as_it_stands() {
        for criterion in CriterionName::ALL {
            assert_eq!(json!(criterion), criterion.name());
            let stored: StoredCriterion = serde_json::from_value(json!(criterion)).unwrap();
            assert_eq!(stored, StoredCriterion::Named(*criterion));
        }
        for word in ["mcdc", "mcdc_masking", "", "Statement"] {
            let stored: StoredCriterion = serde_json::from_value(json!(word)).unwrap();
            assert_eq!((stored.named(), json!(stored)), (None, json!(word)));
        }
        assert!(serde_json::from_value::<StoredCriterion>(json!(7)).is_err());
    }
}
