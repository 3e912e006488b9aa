//! What is particular to the kind of a finding, typed by kind.
//!
//! Knows: which details each kind has, and the object in which evidence stores them.
//! Promises: what is stored is read as it stands and written as it was: what does not have the
//! fields of its kind exactly, as older versions or another hand wrote it, is kept as
//! [`FindingDetails::Stored`].
//! Does not cover: which details a justification is signed for (`coverage::acceptance`).

mod disagreement;
mod race;
mod schedule;
#[cfg(test)]
mod tests;

pub use disagreement::{
    DisagreementDetails, EngineComparison, MarkDisagreement, ModuleDisagreement,
    OutputDisagreement, UndefinedRefusal, VectorDisagreement,
};
pub use race::{AccessKind, AccessedMemory, DataRaceDetails, MissingOrdering, RaceReach};
pub use schedule::{
    ChangedContents, ChangedCoverage, CoveredAlone, CoveredItem, FloatDistance, IncompleteRun,
    RefusedOutputs, ScheduleDetails, ScheduleEffect,
};

use crate::evidence::CouplingCheckName;
use crate::finding::FindingKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Details by name, as evidence stores them.
pub type StoredDetails = BTreeMap<String, Value>;

/// What is particular to the kind of a finding.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FindingDetails {
    /// The message, the places and the invocations say all.
    #[default]
    None,
    /// Of two accesses that nothing orders.
    DataRace(Box<DataRaceDetails>),
    /// Of a barrier that not all invocations of a workgroup reach.
    BarrierDivergence(DivergenceDetails),
    /// Of an access outside an object.
    OutOfBounds(OutOfBoundsDetails),
    /// Of a `restrict` variable whose bytes another one accesses.
    UndefinedValue(AliasDetails),
    /// Of what depends on the order of workgroups or invocations.
    ScheduleDependentOutput(Box<ScheduleDetails>),
    /// Of what two engines, or two modules on one engine, left or recorded differently.
    EngineDisagreement(Box<DisagreementDetails>),
    /// Of a message of the Vulkan validation layer.
    Validation(LayerMessage),
    /// Of a refuted coupling check.
    Coupling(CouplingDetails),
    /// Read from evidence that does not have the fields of its kind as this version writes them.
    Stored(StoredDetails),
}

/// Of a barrier that not all invocations of a workgroup reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DivergenceDetails {
    /// Invocations that wait at the barrier.
    pub waiting: u64,
    /// Invocations that wait at another one, or have ended.
    pub elsewhere: u64,
}

/// Of an access outside an object. The most fields come first, so that each is read as what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OutOfBoundsDetails {
    /// Bytes of a device that no access of the kernel may change have changed.
    GuardZone(GuardZoneDetails),
    /// A device address that is not aligned as its declaration says.
    Alignment {
        /// Hexadecimal.
        address: String,
        /// In bytes.
        alignment: u32,
        /// The variable.
        object: String,
    },
    /// An index outside one dimension of an array.
    Index {
        /// 1 is the outermost.
        dimension: u64,
        /// The variable.
        object: String,
    },
    /// An access before the start or behind the end.
    Range {
        /// The variable.
        object: String,
    },
}

/// Of a guard zone around a buffer of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardZoneDetails {
    /// Always a write: reads leave no trace.
    pub access: AccessKind,
    /// Its name in the test.
    pub buffer: String,
    /// Always a buffer.
    pub memory: AccessedMemory,
    /// Where the bytes lie.
    pub side: GuardSide,
}

/// Where bytes lie that no access of a kernel may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardSide {
    /// In the guard zone before the buffer.
    Before,
    /// In the guard zone behind the buffer.
    Behind,
    /// In the buffer, where nothing binds it.
    Within,
}

/// Of a `restrict` variable whose bytes another one accesses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AliasDetails {
    /// Offset in the buffer of both.
    pub byte: u64,
    /// The variable of the access.
    pub object: String,
    /// The variable of the access before it.
    pub other: String,
}

/// Of a message of the Vulkan validation layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerMessage {
    /// As the layer names it; empty where it does not.
    pub message_id: String,
    /// How grave the layer says it is.
    pub severity: MessageSeverity,
}

/// How grave a message of the validation layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageSeverity {
    /// Against the specification.
    Error,
    /// Suspicious, or against good practice.
    Warning,
}

/// Of a refuted coupling check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CouplingDetails {
    /// Its name in the table of checks.
    pub check: CouplingCheckName,
    /// The axis, buffer, constant or limit, where a check has several answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Values of parameters that refute it, where values do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<BTreeMap<String, i64>>,
}

/// Names of details (`docs/findings.md` says what each is), for what picks some of them whatever the kind and however they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "docs/findings.md tells what each detail is")]
pub enum DetailName {
    About,
    Access,
    Accesses,
    Buffer,
    Buffers,
    Changed,
    Check,
    Counterexample,
    Decision,
    Dimension,
    Ended,
    Kernels,
    Mark,
    Memory,
    Object,
    Obligation,
    OnlyOn,
    Reach,
    SameValue,
    Schedule,
    Schedules,
    Side,
    Values,
    Vector,
    Verdicts,
}

impl DetailName {
    /// As evidence has it.
    pub fn text(self) -> &'static str {
        match self {
            DetailName::About => "about",
            DetailName::Access => "access",
            DetailName::Accesses => "accesses",
            DetailName::Buffer => "buffer",
            DetailName::Buffers => "buffers",
            DetailName::Changed => "changed",
            DetailName::Check => "check",
            DetailName::Counterexample => "counterexample",
            DetailName::Decision => "decision",
            DetailName::Dimension => "dimension",
            DetailName::Ended => "ended",
            DetailName::Kernels => "kernels",
            DetailName::Mark => "mark",
            DetailName::Memory => "memory",
            DetailName::Object => "object",
            DetailName::Obligation => "obligation",
            DetailName::OnlyOn => "only_on",
            DetailName::Reach => "reach",
            DetailName::SameValue => "same_value",
            DetailName::Schedule => "schedule",
            DetailName::Schedules => "schedules",
            DetailName::Side => "side",
            DetailName::Values => "values",
            DetailName::Vector => "vector",
            DetailName::Verdicts => "verdicts",
        }
    }
}

impl FindingDetails {
    /// The kind that has such details; none where every kind can.
    pub fn kind(&self) -> Option<FindingKind> {
        match self {
            FindingDetails::None | FindingDetails::Stored(_) => None,
            FindingDetails::DataRace(_) => Some(FindingKind::DataRace),
            FindingDetails::BarrierDivergence(_) => Some(FindingKind::BarrierDivergence),
            FindingDetails::OutOfBounds(_) => Some(FindingKind::OutOfBounds),
            FindingDetails::UndefinedValue(_) => Some(FindingKind::UndefinedValue),
            FindingDetails::ScheduleDependentOutput(_) => {
                Some(FindingKind::ScheduleDependentOutput)
            }
            FindingDetails::EngineDisagreement(_) => Some(FindingKind::EngineDisagreement),
            FindingDetails::Validation(_) => Some(FindingKind::Validation),
            FindingDetails::Coupling(_) => Some(FindingKind::Coupling),
        }
    }

    /// Those of a data race.
    pub fn race(&self) -> Option<&DataRaceDetails> {
        match self {
            FindingDetails::DataRace(race) => Some(race),
            _ => None,
        }
    }

    /// As evidence stores them.
    pub fn stored(&self) -> StoredDetails {
        match self {
            FindingDetails::None => StoredDetails::new(),
            FindingDetails::DataRace(details) => fields_of(details),
            FindingDetails::BarrierDivergence(details) => fields_of(details),
            FindingDetails::OutOfBounds(details) => fields_of(details),
            FindingDetails::UndefinedValue(details) => fields_of(details),
            FindingDetails::ScheduleDependentOutput(details) => fields_of(details),
            FindingDetails::EngineDisagreement(details) => fields_of(details),
            FindingDetails::Validation(details) => fields_of(details),
            FindingDetails::Coupling(details) => fields_of(details),
            FindingDetails::Stored(fields) => fields.clone(),
        }
    }

    /// Those of `kind` that are stored as `fields`; none where another version or hand wrote them.
    pub(crate) fn read(kind: FindingKind, fields: &StoredDetails) -> Option<Self> {
        if fields.is_empty() {
            return Some(FindingDetails::None);
        }
        let details = match kind {
            FindingKind::DataRace => FindingDetails::DataRace(fields_as(fields)?),
            FindingKind::BarrierDivergence => FindingDetails::BarrierDivergence(fields_as(fields)?),
            FindingKind::OutOfBounds => FindingDetails::OutOfBounds(fields_as(fields)?),
            FindingKind::UndefinedValue => FindingDetails::UndefinedValue(fields_as(fields)?),
            FindingKind::ScheduleDependentOutput => {
                FindingDetails::ScheduleDependentOutput(fields_as(fields)?)
            }
            FindingKind::EngineDisagreement => {
                FindingDetails::EngineDisagreement(fields_as(fields)?)
            }
            FindingKind::Validation => FindingDetails::Validation(fields_as(fields)?),
            FindingKind::Coupling => FindingDetails::Coupling(fields_as(fields)?),
            FindingKind::UninitializedRead
            | FindingKind::NoTermination
            | FindingKind::UntracedBranch => return None,
        };
        (details.stored() == *fields).then_some(details)
    }
}

fn fields_of(details: &impl Serialize) -> StoredDetails {
    match serde_json::to_value(details) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        Ok(_) | Err(_) => unreachable!("details are structs without maps but of texts"),
    }
}

fn fields_as<T: DeserializeOwned>(fields: &StoredDetails) -> Option<T> {
    let fields = fields.iter().map(|(name, value)| (name.clone(), value.clone()));
    serde_json::from_value(Value::Object(fields.collect())).ok()
}
