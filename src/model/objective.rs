//! Objectives of DO-178C that the verification of a kernel touches, and how far a campaign meets
//! them.
//!
//! Knows: tables with what each software level demands. Promises: every objective
//! of these tables is a row of [`OBJECTIVES`].
//! Does not cover: how a status is derived (`derivation::objectives`); the tables for planning,
//! requirements and design, configuration management, quality assurance and liaison
//! which a kernel's verification does not touch.

use super::project::SoftwareLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An objective by its table and number.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Objective {
    /// Source code complies with low-level requirements.
    #[serde(rename = "A-5.1")]
    CodeMeetsLowLevel,
    /// Source code complies with software architecture.
    #[serde(rename = "A-5.2")]
    CodeMeetsArchitecture,
    /// Source code is verifiable.
    #[serde(rename = "A-5.3")]
    CodeVerifiable,
    /// Source code conforms to standards.
    #[serde(rename = "A-5.4")]
    CodeMeetsStandards,
    /// Source code is traceable to low-level requirements.
    #[serde(rename = "A-5.5")]
    CodeTraceable,
    /// Source code is accurate and consistent.
    #[serde(rename = "A-5.6")]
    CodeAccurate,
    /// Output of the integration process is complete and correct.
    #[serde(rename = "A-5.7")]
    IntegrationComplete,
    /// Parameter data items are correct and complete.
    #[serde(rename = "A-5.8")]
    ParametersCorrect,
    /// Verification of parameter data items is achieved.
    #[serde(rename = "A-5.9")]
    ParametersVerified,
    /// Executable object code complies with high-level requirements.
    #[serde(rename = "A-6.1")]
    ObjectMeetsHighLevel,
    /// Executable object code is robust with high-level requirements.
    #[serde(rename = "A-6.2")]
    ObjectRobustHighLevel,
    /// Executable object code complies with low-level requirements.
    #[serde(rename = "A-6.3")]
    ObjectMeetsLowLevel,
    /// Executable object code is robust with low-level requirements.
    #[serde(rename = "A-6.4")]
    ObjectRobustLowLevel,
    /// Executable object code is compatible with the target computer.
    #[serde(rename = "A-6.5")]
    ObjectFitsTarget,
    /// Test procedures are correct.
    #[serde(rename = "A-7.1")]
    ProceduresCorrect,
    /// Test results are correct and discrepancies explained.
    #[serde(rename = "A-7.2")]
    ResultsCorrect,
    /// Test coverage of high-level requirements is achieved.
    #[serde(rename = "A-7.3")]
    HighLevelTested,
    /// Test coverage of low-level requirements is achieved.
    #[serde(rename = "A-7.4")]
    LowLevelTested,
    /// Structural coverage by MC/DC is achieved.
    #[serde(rename = "A-7.5")]
    McdcCovered,
    /// Structural coverage of decisions is achieved.
    #[serde(rename = "A-7.6")]
    DecisionsCovered,
    /// Structural coverage of statements is achieved.
    #[serde(rename = "A-7.7")]
    StatementsCovered,
    /// Coverage of data and control coupling is achieved.
    #[serde(rename = "A-7.8")]
    CouplingCovered,
    /// Code that does not trace to source code is verified.
    #[serde(rename = "A-7.9")]
    AdditionalCodeVerified,
}

/// What a level asks of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveDemand {
    /// Nothing.
    NotRequired,
    /// It shall be satisfied.
    Required,
    /// It shall be satisfied with independence: who verifies is not who developed.
    WithIndependence,
}

impl fmt::Display for ObjectiveDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ObjectiveDemand::NotRequired => "not required",
            ObjectiveDemand::Required => "required",
            ObjectiveDemand::WithIndependence => "required with independence",
        })
    }
}

/// How far a campaign meets an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveStatus {
    /// All that it asks for is shown by this evidence.
    Met,
    /// Something that evidence of this kind can show is missing.
    Open,
    /// Nothing is missing that evidence of this kind can show, and the rest is for the applicant to show.
    Applicant,
    /// The project has nothing that the objective is about.
    NotApplicable,
    /// The software level does not ask for it.
    NotRequired,
}

impl fmt::Display for ObjectiveStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ObjectiveStatus::Met => "met",
            ObjectiveStatus::Open => "open",
            ObjectiveStatus::Applicant => "applicant's",
            ObjectiveStatus::NotApplicable => "not applicable",
            ObjectiveStatus::NotRequired => "not required",
        })
    }
}

/// How far a campaign meets one objective, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveAssessment {
    /// The objective: `A-7.5`.
    pub objective: Objective,
    /// What the project's level asks of it.
    pub demand: ObjectiveDemand,
    /// How far it is met.
    pub status: ObjectiveStatus,
    /// What the evidence shows of it, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// What is missing, as sentences; empty unless the status is `open`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What the applicant must still do, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applicant: Vec<String>,
}

/// A row of [`OBJECTIVES`].
#[derive(Debug, Clone, Copy)]
pub struct ObjectiveRow {
    /// The objective.
    pub objective: Objective,
    /// Table and number.
    pub number: &'static str,
    /// The sections that it refers to.
    pub sections: &'static str,
    /// What is to be achieved, in short.
    pub title: &'static str,
    /// At levels A, B, C and D.
    demands: [ObjectiveDemand; 4],
}

const NOT: ObjectiveDemand = ObjectiveDemand::NotRequired;
const REQ: ObjectiveDemand = ObjectiveDemand::Required;
const IND: ObjectiveDemand = ObjectiveDemand::WithIndependence;

const fn row(
    objective: Objective,
    number: &'static str,
    sections: &'static str,
    title: &'static str,
    demands: [ObjectiveDemand; 4],
) -> ObjectiveRow {
    ObjectiveRow { objective, number, sections, title, demands }
}

/// Tables of DO-178C with what each level demands, in their order.
#[rustfmt::skip]
pub const OBJECTIVES: &[ObjectiveRow] = &[
    row(Objective::CodeMeetsLowLevel, "A-5.1", "6.3.4.a", "Source code complies with low-level requirements", [IND, IND, REQ, NOT]),
    row(Objective::CodeMeetsArchitecture, "A-5.2", "6.3.4.b", "Source code complies with the software architecture", [IND, REQ, REQ, NOT]),
    row(Objective::CodeVerifiable, "A-5.3", "6.3.4.c", "Source code is verifiable", [REQ, REQ, NOT, NOT]),
    row(Objective::CodeMeetsStandards, "A-5.4", "6.3.4.d", "Source code conforms to standards", [REQ, REQ, REQ, NOT]),
    row(Objective::CodeTraceable, "A-5.5", "6.3.4.e", "Source code is traceable to low-level requirements", [REQ, REQ, REQ, NOT]),
    row(Objective::CodeAccurate, "A-5.6", "6.3.4.f", "Source code is accurate and consistent", [IND, REQ, REQ, NOT]),
    row(Objective::IntegrationComplete, "A-5.7", "6.3.5.a", "Output of the integration process is complete and correct", [REQ, REQ, REQ, NOT]),
    row(Objective::ParametersCorrect, "A-5.8", "6.6.a", "Parameter data items are correct and complete", [IND, IND, REQ, REQ]),
    row(Objective::ParametersVerified, "A-5.9", "6.6.b", "Verification of parameter data items is achieved", [IND, IND, REQ, REQ]),
    row(Objective::ObjectMeetsHighLevel, "A-6.1", "6.4.a", "Executable object code complies with high-level requirements", [REQ, REQ, REQ, REQ]),
    row(Objective::ObjectRobustHighLevel, "A-6.2", "6.4.b", "Executable object code is robust with high-level requirements", [REQ, REQ, REQ, REQ]),
    row(Objective::ObjectMeetsLowLevel, "A-6.3", "6.4.c", "Executable object code complies with low-level requirements", [IND, IND, REQ, NOT]),
    row(Objective::ObjectRobustLowLevel, "A-6.4", "6.4.d", "Executable object code is robust with low-level requirements", [IND, REQ, REQ, NOT]),
    row(Objective::ObjectFitsTarget, "A-6.5", "6.4.e", "Executable object code is compatible with the target computer", [REQ, REQ, REQ, REQ]),
    row(Objective::ProceduresCorrect, "A-7.1", "6.4.5.b", "Test procedures are correct", [IND, REQ, REQ, NOT]),
    row(Objective::ResultsCorrect, "A-7.2", "6.4.5.c", "Test results are correct and discrepancies explained", [IND, REQ, REQ, NOT]),
    row(Objective::HighLevelTested, "A-7.3", "6.4.4.a", "Test coverage of high-level requirements is achieved", [IND, REQ, REQ, REQ]),
    row(Objective::LowLevelTested, "A-7.4", "6.4.4.b", "Test coverage of low-level requirements is achieved", [IND, REQ, REQ, NOT]),
    row(Objective::McdcCovered, "A-7.5", "6.4.4.c", "Test coverage of structure by MC/DC is achieved", [IND, NOT, NOT, NOT]),
    row(Objective::DecisionsCovered, "A-7.6", "6.4.4.c", "Test coverage of structure by decisions is achieved", [IND, IND, NOT, NOT]),
    row(Objective::StatementsCovered, "A-7.7", "6.4.4.c", "Test coverage of structure by statements is achieved", [IND, IND, REQ, NOT]),
    row(Objective::CouplingCovered, "A-7.8", "6.4.4.d", "Test coverage of data coupling and control coupling is achieved", [IND, IND, REQ, NOT]),
    row(Objective::AdditionalCodeVerified, "A-7.9", "6.4.4.c", "Code that does not trace to source code is verified", [IND, NOT, NOT, NOT]),
];

impl ObjectiveRow {
    /// What a level asks of the objective.
    pub fn demand(&self, level: SoftwareLevel) -> ObjectiveDemand {
        self.demands[match level {
            SoftwareLevel::A => 0,
            SoftwareLevel::B => 1,
            SoftwareLevel::C => 2,
            SoftwareLevel::D => 3,
        }]
    }
}

impl Objective {
    /// Its row in [`OBJECTIVES`].
    pub fn row(self) -> &'static ObjectiveRow {
        OBJECTIVES
            .iter()
            .find(|row| row.objective == self)
            .expect("OBJECTIVES has a row for every objective")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_objective_is_stored_as_its_table_and_number() {
        for row in OBJECTIVES {
            assert_eq!(json!(row.objective), row.number);
            assert_eq!(row.objective.row().number, row.number);
        }
        assert!(OBJECTIVES.is_sorted_by_key(|row| row.objective));
    }

    /// DO-178C, tables: how many objectives each level has, and with independence.
    #[test]
    fn levels_demand_as_many_objectives_as_the_tables_do() {
        let count =
            |level, demand| OBJECTIVES.iter().filter(|row| row.demand(level) == demand).count();
        let counts = |level| {
            let independent = count(level, ObjectiveDemand::WithIndependence);
            (independent + count(level, ObjectiveDemand::Required), independent)
        };
        assert_eq!(counts(SoftwareLevel::A), (23, 16));
        assert_eq!(counts(SoftwareLevel::B), (21, 7));
        assert_eq!(counts(SoftwareLevel::C), (19, 0));
        assert_eq!(counts(SoftwareLevel::D), (6, 0));
    }
}
