//! Findings: defects that a run or a check shows, beside the verdict.

mod stored;

use super::evidence::CouplingCheckName;
use super::finding_details::{
    AliasDetails, CouplingDetails, DataRaceDetails, DetailName, DisagreementDetails,
    DivergenceDetails, FindingDetails, LayerMessage, OutOfBoundsDetails, ScheduleDetails,
    StoredDetails,
};
use super::finding_subject::FindingSubject;
use super::id::{FindingId, KernelName, ModuleKey};
use super::place::Place;
use super::schedule::Schedule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stored::StoredFinding;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredFinding", into = "StoredFinding")]
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
    pub invocations: Vec<[u32; 3]>,
    /// What is particular to the kind.
    pub details: FindingDetails,
    /// The schedule that shows it, where the ordinary one does not.
    pub shown_in: Option<Schedule>,
    /// The kernel that a test shows it of; none where it is of several, or of the test as a whole.
    pub kernel: Option<KernelName>,
    /// The module of the job that an engine found it in, until the kernel's configuration is known.
    pub module: Option<ModuleKey>,
    /// That kernel's configuration; none where the project has no name for it.
    pub configuration: Option<String>,
    /// Of `place` and `other_place`: the number of the instruction among those of the production
    /// module that are no debug information, from 0.
    pub numbers: Vec<u32>,
    /// In evidence: by what name a justification can accept it; none where none can.
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
            details: FindingDetails::None,
            shown_in: None,
            kernel: None,
            module: None,
            configuration: None,
            numbers: Vec::new(),
            acceptance: None,
        }
    }

    /// Two accesses that nothing orders.
    pub fn data_race(message: String, details: DataRaceDetails) -> Self {
        let details = FindingDetails::DataRace(Box::new(details));
        Self { details, ..Self::new(FindingKind::DataRace, message) }
    }

    /// A barrier that not all invocations of a workgroup reach.
    pub fn barrier_divergence(message: String, details: DivergenceDetails) -> Self {
        let details = FindingDetails::BarrierDivergence(details);
        Self { details, ..Self::new(FindingKind::BarrierDivergence, message) }
    }

    /// An access outside an object.
    pub fn out_of_bounds(message: String, details: OutOfBoundsDetails) -> Self {
        let details = FindingDetails::OutOfBounds(details);
        Self { details, ..Self::new(FindingKind::OutOfBounds, message) }
    }

    /// A `restrict` variable whose bytes another one accesses.
    pub fn undefined_value(message: String, details: AliasDetails) -> Self {
        let details = FindingDetails::UndefinedValue(details);
        Self { details, ..Self::new(FindingKind::UndefinedValue, message) }
    }

    /// What depends on the order of workgroups or invocations.
    pub fn schedule_dependent_output(message: String, details: ScheduleDetails) -> Self {
        let details = FindingDetails::ScheduleDependentOutput(Box::new(details));
        Self { details, ..Self::new(FindingKind::ScheduleDependentOutput, message) }
    }

    /// What two engines, or two modules on one engine, left or recorded differently.
    pub fn engine_disagreement(message: String, details: DisagreementDetails) -> Self {
        let details = FindingDetails::EngineDisagreement(Box::new(details));
        Self { details, ..Self::new(FindingKind::EngineDisagreement, message) }
    }

    /// A message of the Vulkan validation layer.
    pub fn validation(message: String, details: LayerMessage) -> Self {
        let details = FindingDetails::Validation(details);
        Self { details, ..Self::new(FindingKind::Validation, message) }
    }

    /// A refuted coupling check.
    pub fn coupling(message: String, details: CouplingDetails) -> Self {
        let details = FindingDetails::Coupling(details);
        Self { details, ..Self::new(FindingKind::Coupling, message) }
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

    /// All details by name, as evidence stores them.
    pub fn stored_details(&self) -> StoredDetails {
        let mut fields = self.details.stored();
        let shown_in = self.shown_in.map(|schedule| Value::from(schedule.to_string()));
        fields.extend(shown_in.map(|schedule| (DetailName::Schedule.text().to_owned(), schedule)));
        fields
    }

    /// A detail as evidence stores it, whatever the kind.
    pub fn detail(&self, name: DetailName) -> Option<Value> {
        match &self.details {
            FindingDetails::Stored(fields) => fields.get(name.text()).cloned(),
            _ => self.stored_details().remove(name.text()),
        }
    }

    /// The schedule that shows it: of what depends on schedules, and of what a schedule alone
    /// shows.
    pub fn schedule(&self) -> Option<Schedule> {
        match &self.details {
            FindingDetails::ScheduleDependentOutput(details) => Some(details.schedule),
            FindingDetails::Stored(fields) => {
                fields.get(DetailName::Schedule.text())?.as_str()?.parse().ok()
            }
            _ => self.shown_in,
        }
    }

    /// Of a data race: whether both invocations always write the same.
    pub fn same_value(&self) -> Option<bool> {
        match &self.details {
            FindingDetails::DataRace(race) => Some(race.same_value),
            FindingDetails::Stored(fields) => fields.get(DetailName::SameValue.text())?.as_bool(),
            _ => None,
        }
    }

    /// Of coupling: the check that is refuted.
    pub fn coupling_check(&self) -> Option<CouplingCheckName> {
        match &self.details {
            FindingDetails::Coupling(coupling) => Some(coupling.check.clone()),
            FindingDetails::Stored(fields) => {
                fields.get(DetailName::Check.text())?.as_str().map(CouplingCheckName::from)
            }
            _ => None,
        }
    }
}

/// Kind, places and message of a finding.
pub type FindingKey<'a> = (FindingKind, Option<&'a Place>, Option<&'a Place>, &'a str);

/// Which findings a run looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// A bit per kind, the lowest for the first of [`FindingKind`].
    kind_bits: u16,
}

impl Checks {
    /// Every kind.
    pub fn all() -> Self {
        Self::of_kinds(FindingKind::ALL.iter().map(|(kind, _)| *kind))
    }

    /// No kind.
    pub fn none() -> Self {
        Self { kind_bits: 0 }
    }

    /// These kinds.
    pub fn of_kinds(kinds: impl IntoIterator<Item = FindingKind>) -> Self {
        let mut checks = Self::none();
        kinds.into_iter().for_each(|kind| checks.insert(kind));
        checks
    }

    /// Looks for the kind, too.
    pub fn insert(&mut self, kind: FindingKind) {
        self.kind_bits |= Self::kind_bit(kind);
    }

    /// Whether the kind is looked for.
    pub fn has(self, kind: FindingKind) -> bool {
        self.kind_bits & Self::kind_bit(kind) != 0
    }

    fn kind_bit(kind: FindingKind) -> u16 {
        1 << kind as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_tell_every_kind_from_the_others() {
        for (kind, name) in FindingKind::ALL {
            let only = Checks::of_kinds([*kind]);
            let found = FindingKind::ALL.iter().filter(|(other_kind, _)| only.has(*other_kind));
            assert_eq!(found.map(|(_, name)| *name).collect::<Vec<_>>(), [*name]);
            assert!(Checks::all().has(*kind) && !Checks::none().has(*kind), "{name}");
        }
    }
}
