//! What standards ask for that the verification of a kernel touches, and how far a campaign meets
//! it.
//!
//! Knows: of DO-178C tables with what each software level demands, of
//! ECSS-E-ST-40C the verification of code (5.8.3.5), of ISO 26262-6:2018 the metrics of structural
//! coverage (tables 9 and 12). Promises: every objective of these is a row of [`OBJECTIVES`],
//! [`ECSS_OBJECTIVES`] or [`ISO_OBJECTIVES`]; where a standard lets its customer or the project
//! choose, the row says so, and never that nothing is asked for.
//! Does not cover: how a status is derived (`derivation::objectives`); all else of the standards,
//! which is the applicant's.

use super::standard::{SoftwareLevel, Standard};
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
    /// ECSS: the code is verified against design, requirements and standards.
    #[serde(rename = "5.8.3.5.a")]
    EcssCodeVerified,
    /// ECSS: coverage of statements.
    #[serde(rename = "5.8.3.5.b statement")]
    EcssStatements,
    /// ECSS: coverage of decisions.
    #[serde(rename = "5.8.3.5.b decision")]
    EcssDecisions,
    /// ECSS: coverage by MC/DC.
    #[serde(rename = "5.8.3.5.b MC/DC")]
    EcssMcdc,
    /// ECSS: coverage is measured by tests that were executed.
    #[serde(rename = "5.8.3.5.c")]
    EcssMeasuredByTests,
    /// ECSS: what tests cannot cover is analysed.
    #[serde(rename = "5.8.3.5.d")]
    EcssUncoveredAnalysed,
    /// ECSS: coverage of object code that does not trace to source code.
    #[serde(rename = "5.8.3.5.e")]
    EcssObjectCode,
    /// ECSS: robustness of the source code.
    #[serde(rename = "5.8.3.5.f")]
    EcssCodeRobust,
    /// ISO 26262: coverage of requirements of units.
    #[serde(rename = "9.4.4")]
    IsoRequirementsTested,
    /// ISO 26262: coverage of statements of units.
    #[serde(rename = "9-1a")]
    IsoStatements,
    /// ISO 26262: coverage of branches of units.
    #[serde(rename = "9-1b")]
    IsoBranches,
    /// ISO 26262: MC/DC of units.
    #[serde(rename = "9-1c")]
    IsoMcdc,
    /// ISO 26262: coverage of functions of the architecture.
    #[serde(rename = "12-1a")]
    IsoFunctions,
    /// ISO 26262: coverage of calls of the architecture.
    #[serde(rename = "12-1b")]
    IsoCalls,
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
    /// How much of it is to be agreed with the customer (ECSS).
    Agreed,
    /// A recommended method among alternatives: `+` (ISO 26262).
    Recommended,
    /// A highly recommended method among alternatives: `++` (ISO 26262).
    HighlyRecommended,
}

impl fmt::Display for ObjectiveDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ObjectiveDemand::NotRequired => "not required",
            ObjectiveDemand::Required => "required",
            ObjectiveDemand::WithIndependence => "required with independence",
            ObjectiveDemand::Agreed => "as agreed with the customer",
            ObjectiveDemand::Recommended => "recommended (+)",
            ObjectiveDemand::HighlyRecommended => "highly recommended (++)",
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
    /// At the levels of the standard, strictest first.
    demands: [ObjectiveDemand; 4],
}

const NOT: ObjectiveDemand = ObjectiveDemand::NotRequired;
const REQ: ObjectiveDemand = ObjectiveDemand::Required;
const IND: ObjectiveDemand = ObjectiveDemand::WithIndependence;
const AGREED: ObjectiveDemand = ObjectiveDemand::Agreed;
const PLUS: ObjectiveDemand = ObjectiveDemand::Recommended;
const PLUS_PLUS: ObjectiveDemand = ObjectiveDemand::HighlyRecommended;

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

/// ECSS-E-ST-40C 5.8.3.5 at criticality categories A to D. Where the table of the clause has no
/// figure, the value is to be agreed with the customer. What tailoring by category takes away (annex R)
/// is not taken away here.
#[rustfmt::skip]
pub const ECSS_OBJECTIVES: &[ObjectiveRow] = &[
    row(Objective::EcssCodeVerified, "5.8.3.5.a", "5.8.3.5.a", "The code is verified: consistent, traceable, correct", [REQ, REQ, REQ, REQ]),
    row(Objective::EcssStatements, "5.8.3.5.b statement", "5.8.3.5.b", "Statements of the source code are covered", [REQ, REQ, AGREED, AGREED]),
    row(Objective::EcssDecisions, "5.8.3.5.b decision", "5.8.3.5.b", "Decisions of the source code are covered", [REQ, REQ, AGREED, AGREED]),
    row(Objective::EcssMcdc, "5.8.3.5.b MC/DC", "5.8.3.5.b", "MC/DC of the source code is reached", [REQ, AGREED, AGREED, AGREED]),
    row(Objective::EcssMeasuredByTests, "5.8.3.5.c", "5.8.3.5.c", "Coverage is measured by tests that were executed", [REQ, REQ, REQ, REQ]),
    row(Objective::EcssUncoveredAnalysed, "5.8.3.5.d", "5.8.3.5.d", "Code that tests cannot cover is analysed, inspected or reviewed", [REQ, REQ, REQ, REQ]),
    row(Objective::EcssObjectCode, "5.8.3.5.e", "5.8.3.5.e", "Object code is covered where it does not trace to source code", [REQ, NOT, NOT, NOT]),
    row(Objective::EcssCodeRobust, "5.8.3.5.f", "5.8.3.5.f", "The source code is robust against errors at run time", [REQ, REQ, REQ, REQ]),
];

/// ISO 26262-6:2018, requirements of units and tables 9 and 12, at ASIL D, C, B and A. The metrics of a
/// table are alternatives, of which a project chooses an appropriate combination.
#[rustfmt::skip]
pub const ISO_OBJECTIVES: &[ObjectiveRow] = &[
    row(Objective::IsoRequirementsTested, "9.4.4", "9.4.4", "Requirements of software units are covered by tests", [REQ, REQ, REQ, REQ]),
    row(Objective::IsoStatements, "9-1a", "9.4.4, table 9", "Statement coverage of software units", [PLUS, PLUS, PLUS_PLUS, PLUS_PLUS]),
    row(Objective::IsoBranches, "9-1b", "9.4.4, table 9", "Branch coverage of software units", [PLUS_PLUS, PLUS_PLUS, PLUS_PLUS, PLUS]),
    row(Objective::IsoMcdc, "9-1c", "9.4.4, table 9", "MC/DC of software units", [PLUS_PLUS, PLUS, PLUS, PLUS]),
    row(Objective::IsoFunctions, "12-1a", "10.4.5, table 12", "Function coverage of the software architecture", [PLUS_PLUS, PLUS_PLUS, PLUS, PLUS]),
    row(Objective::IsoCalls, "12-1b", "10.4.5, table 12", "Call coverage of the software architecture", [PLUS_PLUS, PLUS_PLUS, PLUS, PLUS]),
];

impl Standard {
    /// What it asks for that the verification of a kernel touches, in its order.
    pub fn objectives(self) -> &'static [ObjectiveRow] {
        match self {
            Standard::Do178c => OBJECTIVES,
            Standard::EcssE40 => ECSS_OBJECTIVES,
            Standard::Iso26262 => ISO_OBJECTIVES,
        }
    }
}

impl ObjectiveRow {
    /// What a level asks of the objective; of a level of another standard what the level of the same
    /// rank asks.
    pub fn demand(&self, level: SoftwareLevel) -> ObjectiveDemand {
        self.demands[level.rank()]
    }
}

impl Objective {
    /// Its row in the table of its standard.
    pub fn row(self) -> &'static ObjectiveRow {
        let mut rows = OBJECTIVES.iter().chain(ECSS_OBJECTIVES).chain(ISO_OBJECTIVES);
        rows.find(|row| row.objective == self).expect("every objective has a row in one table")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_objective_is_stored_as_its_table_and_number() {
        for standard in [Standard::Do178c, Standard::EcssE40, Standard::Iso26262] {
            for row in standard.objectives() {
                assert_eq!(json!(row.objective), row.number);
                assert_eq!(row.objective.row().number, row.number);
            }
            assert!(standard.objectives().is_sorted_by_key(|row| row.objective));
        }
    }

    /// The degrees of ISO 26262-6:2018 at ASIL A, B, C, D, and what ECSS leaves to the customer.
    #[test]
    fn other_standards_demand_by_their_own_degrees() {
        let degrees = |objective: Objective, levels: [SoftwareLevel; 4]| {
            levels.map(|level| objective.row().demand(level))
        };
        let mut asils = Standard::Iso26262.levels();
        asils.reverse();
        let iso = |objective| degrees(objective, asils);
        assert_eq!(iso(Objective::IsoStatements), [PLUS_PLUS, PLUS_PLUS, PLUS, PLUS]);
        assert_eq!(iso(Objective::IsoBranches), [PLUS, PLUS_PLUS, PLUS_PLUS, PLUS_PLUS]);
        assert_eq!(iso(Objective::IsoMcdc), [PLUS, PLUS, PLUS, PLUS_PLUS]);
        assert_eq!(iso(Objective::IsoFunctions), [PLUS, PLUS, PLUS_PLUS, PLUS_PLUS]);
        assert_eq!(iso(Objective::IsoCalls), [PLUS, PLUS, PLUS_PLUS, PLUS_PLUS]);
        let ecss = |objective| degrees(objective, Standard::EcssE40.levels());
        assert_eq!(ecss(Objective::EcssDecisions), [REQ, REQ, AGREED, AGREED]);
        assert_eq!(ecss(Objective::EcssMcdc), [REQ, AGREED, AGREED, AGREED]);
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
