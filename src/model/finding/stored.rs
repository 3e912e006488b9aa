//! Findings as evidence stores them.
//!
//! Promises: what is read and written again is the same object, whoever wrote it.

use super::{Acceptance, Finding, FindingKind};
use crate::finding_details::{DetailName, FindingDetails, StoredDetails};
use crate::id::KernelName;
use crate::place::Place;
use crate::schedule::Schedule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// One finding; each pair of places is reported once, with a count and its first witness.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Finding", expecting = "struct Finding")]
pub(super) struct StoredFinding {
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
    pub details: StoredDetails,
    /// The kernel that a test shows it of; none where it is of several, or of the test as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelName>,
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

impl From<Finding> for StoredFinding {
    fn from(finding: Finding) -> Self {
        let details = finding.stored_details();
        Self {
            kind: finding.kind,
            message: finding.message,
            count: finding.count,
            place: finding.place,
            other_place: finding.other_place,
            invocations: finding.invocations,
            details,
            kernel: finding.kernel,
            configuration: finding.configuration,
            numbers: finding.numbers,
            acceptance: finding.acceptance,
        }
    }
}

impl From<StoredFinding> for Finding {
    fn from(stored: StoredFinding) -> Self {
        let (details, shown_in) = typed_details(stored.kind, stored.details);
        Self {
            kind: stored.kind,
            message: stored.message,
            count: stored.count,
            place: stored.place,
            other_place: stored.other_place,
            invocations: stored.invocations,
            details,
            shown_in,
            kernel: stored.kernel,
            module: None,
            configuration: stored.configuration,
            numbers: stored.numbers,
            acceptance: stored.acceptance,
        }
    }
}

/// The details of a finding, and the schedule that alone shows it.
fn typed_details(
    kind: FindingKind,
    mut fields: StoredDetails,
) -> (FindingDetails, Option<Schedule>) {
    if let Some(details) = FindingDetails::read(kind, &fields) {
        return (details, None);
    }
    // Findings of any kind have the schedule that alone shows them beside their own details.
    if let Some((schedule, text)) = take_schedule(&mut fields) {
        if let Some(details) = FindingDetails::read(kind, &fields) {
            return (details, Some(schedule));
        }
        fields.insert(DetailName::Schedule.text().to_owned(), text);
    }
    (FindingDetails::Stored(fields), None)
}

/// Removes the schedule if it is written as this version writes it.
fn take_schedule(fields: &mut StoredDetails) -> Option<(Schedule, Value)> {
    let text = fields.get(DetailName::Schedule.text())?.as_str()?;
    let schedule: Schedule =
        text.parse().ok().filter(|schedule: &Schedule| schedule.to_string() == text)?;
    let stored_text = fields.remove(DetailName::Schedule.text())?;
    Some((schedule, stored_text))
}

impl JsonSchema for Finding {
    fn schema_name() -> Cow<'static, str> {
        StoredFinding::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        StoredFinding::json_schema(generator)
    }
}
