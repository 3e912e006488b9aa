//! Findings: defects that a run or a check shows, beside the verdict.

use super::finding_subject::FindingSubject;
use super::id::{FindingId, KernelName, ModuleKey};
use super::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What kind of defect a finding is. The order is the order of reports.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Conflicting accesses of two invocations that nothing orders.
    DataRace,
    /// Not every invocation of a workgroup waits at the same barrier.
    BarrierDivergence,
    /// An access outside of an array, buffer, image or variable.
    OutOfBounds,
    /// A value that nobody wrote is used.
    UninitializedRead,
    /// A result or behaviour that a specification leaves undefined.
    UndefinedValue,
    /// The steps of a test reached their limit.
    NoTermination,
    /// A branch of the compiled module that belongs to no decision of the source.
    UntracedBranch,
    /// Another order of workgroups or invocations leaves other contents or coverage.
    ScheduleDependentOutput,
    /// The engines differ beyond tolerance and error bounds.
    EngineDisagreement,
    /// A message of the validation layer or validator, or a module on disk that is not what
    /// compiles now.
    Validation,
    /// The host's interface does not fit the kernel.
    Coupling,
}

/// Which schedules the data races of a run are those of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RaceScope {
    /// Every one: neither control flow nor addresses depend on what atomics gave or on values that were read in a race.
    AllSchedules,
    /// The one that ran.
    ExecutedSchedule,
}

impl FindingKind {
    /// Every kind, in report order, with its stored name. `--check` and the documents iterate this table.
    pub const ALL: &'static [(FindingKind, &'static str)] = &[
        (FindingKind::DataRace, "data-race"),
        (FindingKind::BarrierDivergence, "barrier-divergence"),
        (FindingKind::OutOfBounds, "out-of-bounds"),
        (FindingKind::UninitializedRead, "uninitialized-read"),
        (FindingKind::UndefinedValue, "undefined-value"),
        (FindingKind::NoTermination, "no-termination"),
        (FindingKind::UntracedBranch, "untraced-branch"),
        (FindingKind::ScheduleDependentOutput, "schedule-dependent-output"),
        (FindingKind::EngineDisagreement, "engine-disagreement"),
        (FindingKind::Validation, "validation"),
        (FindingKind::Coupling, "coupling"),
    ];

    /// Whether a justification can accept such a finding. The others are of a test that did not end as it should, or of the
    /// measurement itself: nothing that a person signs makes up for either.
    pub fn can_be_accepted(self) -> bool {
        match self {
            FindingKind::DataRace
            | FindingKind::OutOfBounds
            | FindingKind::UninitializedRead
            | FindingKind::UndefinedValue
            | FindingKind::UntracedBranch
            | FindingKind::ScheduleDependentOutput
            | FindingKind::EngineDisagreement
            | FindingKind::Coupling => true,
            FindingKind::BarrierDivergence
            | FindingKind::NoTermination
            | FindingKind::Validation => false,
        }
    }

    /// The stored name, such as `data-race`.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(listed_kind, _)| *listed_kind == self)
            .map(|(_, name)| *name)
            .expect("ALL lists every kind")
    }
}

impl std::fmt::Display for FindingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// One finding; each pair of places is reported once, with a count and its first witness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What kind of defect it is.
    pub kind: FindingKind,
    /// One sentence that names values, for people.
    pub message: String,
    /// How often it occurred (elements, accesses or messages, as the kind has it); at least 1.
    pub count: u64,
    /// Where it happened; none where the kind has no place.
    pub place: Option<Place>,
    /// The other access or waiting invocation of a pair; none of findings with one place.
    pub other_place: Option<Place>,
    /// Global invocation ids of the first witness: one, or two for a pair.
    #[serde(default)]
    pub invocations: Vec<[u32; 3]>,
    /// What is particular to the kind. Data races: `memory` (`buffer`, `workgroup`), `reach` (`within-workgroup`,
    /// `across-workgroups`), `accesses`, `same_value`. Coupling: `check`, `counterexample`.
    #[serde(default)]
    pub details: BTreeMap<String, serde_json::Value>,
    /// The kernel that a test shows it of; none where it is of several, or of the test as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelName>,
    /// The module of the job that an engine found it in, until the kernel's configuration is known.
    #[serde(skip)]
    pub module: Option<ModuleKey>,
    /// That kernel's configuration; none where the project has no name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Of `place` and `other_place`: the number of the instruction among those of the production module that are no debug
    /// information, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<u32>,
    /// In evidence: by what name a justification can accept it; none where none can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Acceptance>,
}

/// The name of a finding for justifications, and the one that accepts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acceptance {
    /// Name of the finding in justifications.
    pub id: FindingId,
    /// What a justification of it is signed for; absent in evidence of format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<FindingSubject>,
    /// The same in words, without values and without lines.
    pub content: String,
    /// `sha256:` hash over the canonical form of the subject (in format 1 over kernel, id and content); another one makes
    /// a justification stale.
    pub hash: String,
    /// What the accepted justification says; none: the finding stands.
    #[serde(default)]
    pub justification: Option<String>,
}

impl Finding {
    /// A finding that occurred once, without place, witness and details.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            count: 1,
            place: None,
            other_place: None,
            invocations: Vec::new(),
            details: BTreeMap::new(),
            kernel: None,
            module: None,
            configuration: None,
            numbers: Vec::new(),
            acceptance: None,
        }
    }

    /// Whether it counts against the result.
    pub fn stands(&self) -> bool {
        self.acceptance.as_ref().is_none_or(|acceptance| acceptance.justification.is_none())
    }

    /// Findings are listed in this order.
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }

    /// What findings are ordered by.
    pub fn key(&self) -> FindingKey<'_> {
        (self.kind, self.place.as_ref(), self.other_place.as_ref(), &self.message)
    }

    /// The same at a place.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same with one more detail, by name.
    pub fn detail(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Kind, places and message of a finding.
pub type FindingKey<'a> = (FindingKind, Option<&'a Place>, Option<&'a Place>, &'a str);

/// Which findings a run looks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// The kinds that are looked for.
    pub kinds: std::collections::BTreeSet<FindingKind>,
}

impl Checks {
    /// Every kind.
    pub fn all() -> Self {
        Self { kinds: FindingKind::ALL.iter().map(|(kind, _)| *kind).collect() }
    }

    /// No kind.
    pub fn none() -> Self {
        Self { kinds: Default::default() }
    }

    /// Whether the kind is looked for.
    pub fn has(&self, kind: FindingKind) -> bool {
        self.kinds.contains(&kind)
    }
}
