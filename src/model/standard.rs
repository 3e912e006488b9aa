//! The standards in whose words results are told, and their levels.
//!
//! Knows: which structural coverage each level asks for. Promises: a level is written as its
//! standard writes it, since `A` is the strictest of one and the least strict of another; what is
//! asked for by default is never less than the standard asks for.
//! Does not cover: the objectives (`objective`).

use super::criterion::CriterionName;
use super::requirement::RequirementLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A standard for software that people's safety depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// Airborne software.
    #[default]
    #[serde(rename = "DO-178C")]
    Do178c,
    /// Software of space systems: the verification of code (5.8.3.5).
    #[serde(rename = "ECSS-E-ST-40C")]
    EcssE40,
    /// Road vehicles, edition of 2018: structural coverage (tables 9 and 12).
    #[serde(rename = "ISO 26262-6")]
    Iso26262,
}

impl Standard {
    /// Whether it is the one that results are told in without a word.
    pub fn is_default(&self) -> bool {
        *self == Standard::Do178c
    }

    /// The name as projects write it.
    pub fn name(self) -> &'static str {
        match self {
            Standard::Do178c => "DO-178C",
            Standard::EcssE40 => "ECSS-E-ST-40C",
            Standard::Iso26262 => "ISO 26262-6",
        }
    }

    /// Its levels, strictest first.
    pub fn levels(self) -> [SoftwareLevel; 4] {
        match self {
            Standard::Do178c => {
                [SoftwareLevel::A, SoftwareLevel::B, SoftwareLevel::C, SoftwareLevel::D]
            }
            Standard::EcssE40 => [
                SoftwareLevel::CategoryA,
                SoftwareLevel::CategoryB,
                SoftwareLevel::CategoryC,
                SoftwareLevel::CategoryD,
            ],
            Standard::Iso26262 => [
                SoftwareLevel::AsilD,
                SoftwareLevel::AsilC,
                SoftwareLevel::AsilB,
                SoftwareLevel::AsilA,
            ],
        }
    }

    /// What its levels are, as the label of one.
    pub fn level_label(self) -> &'static str {
        match self {
            Standard::Do178c => "Software level",
            Standard::EcssE40 => "Criticality category",
            Standard::Iso26262 => "Automotive safety integrity level (ASIL)",
        }
    }

    /// What it calls requirements of a level, several of them: those of ECSS-E-ST-40C 5.4.2 and 5.5,
    /// of ISO 26262-6:2018 clauses 6 and 8.
    pub fn requirements_noun(self, level: RequirementLevel) -> &'static str {
        match (self, level) {
            (Standard::Do178c, RequirementLevel::Hlr) => "high-level requirements",
            (Standard::Do178c, RequirementLevel::Llr) => "low-level requirements",
            (Standard::EcssE40, RequirementLevel::Hlr) => "software requirements",
            (Standard::EcssE40, RequirementLevel::Llr) => "requirements of the detailed design",
            (Standard::Iso26262, RequirementLevel::Hlr) => "software safety requirements",
            (Standard::Iso26262, RequirementLevel::Llr) => {
                "requirements of the software unit design"
            }
        }
    }

    /// The same of one requirement.
    pub fn requirement_noun(self, level: RequirementLevel) -> &'static str {
        match (self, level) {
            (Standard::Do178c, RequirementLevel::Hlr) => "high-level requirement",
            (Standard::Do178c, RequirementLevel::Llr) => "low-level requirement",
            (Standard::EcssE40, RequirementLevel::Hlr) => "software requirement",
            (Standard::EcssE40, RequirementLevel::Llr) => "requirement of the detailed design",
            (Standard::Iso26262, RequirementLevel::Hlr) => "software safety requirement",
            (Standard::Iso26262, RequirementLevel::Llr) => {
                "requirement of the software unit design"
            }
        }
    }

    /// The words where the standard is DO-178C; nothing where they are of no concern.
    pub fn only_do_178c(self, words: &'static str) -> &'static str {
        match self {
            Standard::Do178c => words,
            Standard::EcssE40 | Standard::Iso26262 => "",
        }
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The level of a project in its standard: DO-178C software level, ECSS criticality category or
/// ISO 26262 automotive safety integrity level.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum SoftwareLevel {
    /// A failure is catastrophic for the aircraft.
    A,
    /// A failure is hazardous.
    B,
    /// A failure is major.
    C,
    /// A failure is minor.
    D,
    /// ECSS: consequences are catastrophic.
    #[serde(rename = "category A")]
    CategoryA,
    /// ECSS: consequences are critical.
    #[serde(rename = "category B")]
    CategoryB,
    /// ECSS: consequences are major.
    #[serde(rename = "category C")]
    CategoryC,
    /// ECSS: consequences are minor.
    #[serde(rename = "category D")]
    CategoryD,
    /// ISO 26262: the least strict.
    #[serde(rename = "ASIL A")]
    AsilA,
    /// ISO 26262.
    #[serde(rename = "ASIL B")]
    AsilB,
    /// ISO 26262.
    #[serde(rename = "ASIL C")]
    AsilC,
    /// ISO 26262: the strictest.
    #[serde(rename = "ASIL D")]
    AsilD,
}

impl SoftwareLevel {
    /// The standard that it is of.
    pub fn standard(self) -> Standard {
        match self {
            SoftwareLevel::A | SoftwareLevel::B | SoftwareLevel::C | SoftwareLevel::D => {
                Standard::Do178c
            }
            SoftwareLevel::CategoryA
            | SoftwareLevel::CategoryB
            | SoftwareLevel::CategoryC
            | SoftwareLevel::CategoryD => Standard::EcssE40,
            SoftwareLevel::AsilA
            | SoftwareLevel::AsilB
            | SoftwareLevel::AsilC
            | SoftwareLevel::AsilD => Standard::Iso26262,
        }
    }

    /// Its place among the levels of its standard, 0 for the strictest.
    pub fn rank(self) -> usize {
        match self {
            SoftwareLevel::A | SoftwareLevel::CategoryA | SoftwareLevel::AsilD => 0,
            SoftwareLevel::B | SoftwareLevel::CategoryB | SoftwareLevel::AsilC => 1,
            SoftwareLevel::C | SoftwareLevel::CategoryC | SoftwareLevel::AsilB => 2,
            SoftwareLevel::D | SoftwareLevel::CategoryD | SoftwareLevel::AsilA => 3,
        }
    }

    /// Structural coverage that the standard asks for at this level: DO-178C table A-7, objectives
    /// 5 to 9; ECSS-E-ST-40C 5.8.3.5.b and e, as far as it is not to be agreed with the
    /// customer; ISO 26262-6:2018 tables 9 and 12, what is highly recommended, and statements where
    /// they are recommended.
    pub fn criteria(self) -> &'static [CriterionName] {
        match self {
            SoftwareLevel::A => &[
                CriterionName::Statement,
                CriterionName::Decision,
                CriterionName::McdcMasking,
                CriterionName::AdditionalCode,
                CriterionName::Coupling,
            ],
            SoftwareLevel::B => {
                &[CriterionName::Statement, CriterionName::Decision, CriterionName::Coupling]
            }
            SoftwareLevel::C => &[CriterionName::Statement, CriterionName::Coupling],
            SoftwareLevel::CategoryA => &[
                CriterionName::Statement,
                CriterionName::Decision,
                CriterionName::McdcMasking,
                CriterionName::AdditionalCode,
            ],
            SoftwareLevel::CategoryB => &[CriterionName::Statement, CriterionName::Decision],
            SoftwareLevel::AsilA => &[CriterionName::Statement],
            SoftwareLevel::D | SoftwareLevel::CategoryC | SoftwareLevel::CategoryD => &[],
            SoftwareLevel::AsilB => &[CriterionName::Statement, CriterionName::Branch],
            SoftwareLevel::AsilC => &[
                CriterionName::Statement,
                CriterionName::Branch,
                CriterionName::Function,
                CriterionName::Call,
            ],
            SoftwareLevel::AsilD => &[
                CriterionName::Statement,
                CriterionName::Branch,
                CriterionName::McdcMasking,
                CriterionName::Function,
                CriterionName::Call,
            ],
        }
    }

    /// Whether all coverage is to be agreed with the customer (ECSS-E-ST-40C 5.8.3.5.b), so that a
    /// project must say what was agreed.
    pub fn leaves_coverage_to_customer(self) -> bool {
        matches!(self, SoftwareLevel::CategoryC | SoftwareLevel::CategoryD)
    }

    /// Who asks for a criterion of [`SoftwareLevel::criteria`], and how:
    /// `DO-178C table A-7 asks for`.
    pub fn asks_in_words(self, criterion: CriterionName) -> String {
        match self.standard() {
            Standard::Do178c => "DO-178C table A-7 asks for".to_owned(),
            Standard::EcssE40 if criterion == CriterionName::AdditionalCode => {
                "ECSS-E-ST-40C 5.8.3.5.e asks for".to_owned()
            }
            Standard::EcssE40 => "ECSS-E-ST-40C 5.8.3.5.b asks for".to_owned(),
            Standard::Iso26262 => {
                let is_of_architecture =
                    matches!(criterion, CriterionName::Function | CriterionName::Call);
                let table = if is_of_architecture { "12" } else { "9" };
                let is_only_recommended = criterion == CriterionName::Statement && self.rank() < 2;
                let degree = match is_only_recommended {
                    true => "recommends (+)",
                    false => "highly recommends (++)",
                };
                format!("ISO 26262-6:2018 table {table} {degree}")
            }
        }
    }

    /// Whether data and control coupling is asked for, and code is traced to low-level requirements
    /// (DO-178C table A-7, objective 8, and table A-5, objective 5). Of the other standards all
    /// levels are held to it, which is no less than they ask for.
    pub fn traces_code(self) -> bool {
        self != SoftwareLevel::D
    }

    /// Whether whatever closes a gap needs another person as approver than as author: the two
    /// strictest levels of each standard.
    pub fn needs_other_approver(self) -> bool {
        self.rank() < 2
    }

    /// In a sentence: `level A`, `category A`, `ASIL D`.
    pub fn called(self) -> String {
        match self.standard() {
            Standard::Do178c => format!("level {self}"),
            Standard::EcssE40 | Standard::Iso26262 => self.to_string(),
        }
    }

    /// With its standard: `DO-178C level A`.
    pub fn in_words(self) -> String {
        match self.standard() {
            Standard::EcssE40 => format!("{} criticality {self}", self.standard()),
            Standard::Do178c | Standard::Iso26262 => {
                format!("{} {}", self.standard(), self.called())
            }
        }
    }
}

impl fmt::Display for SoftwareLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SoftwareLevel::A => "A",
            SoftwareLevel::B => "B",
            SoftwareLevel::C => "C",
            SoftwareLevel::D => "D",
            SoftwareLevel::CategoryA => "category A",
            SoftwareLevel::CategoryB => "category B",
            SoftwareLevel::CategoryC => "category C",
            SoftwareLevel::CategoryD => "category D",
            SoftwareLevel::AsilA => "ASIL A",
            SoftwareLevel::AsilB => "ASIL B",
            SoftwareLevel::AsilC => "ASIL C",
            SoftwareLevel::AsilD => "ASIL D",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const STANDARDS: [Standard; 3] = [Standard::Do178c, Standard::EcssE40, Standard::Iso26262];

    #[test]
    fn levels_are_stored_as_they_are_printed_and_ranked_in_their_standard() {
        for standard in STANDARDS {
            assert_eq!(json!(standard), standard.name());
            for (rank, level) in standard.levels().into_iter().enumerate() {
                assert_eq!(json!(level), level.to_string());
                assert_eq!((level.standard(), level.rank()), (standard, rank));
            }
        }
    }

    #[test]
    fn a_stricter_level_asks_for_all_that_a_less_strict_one_asks_for() {
        for standard in STANDARDS {
            for levels in standard.levels().windows(2) {
                let stricter = levels[0].criteria();
                let is_asked = |criterion| stricter.contains(criterion);
                assert!(levels[1].criteria().iter().all(is_asked), "{levels:?}");
            }
        }
    }

    #[test]
    fn the_same_letter_is_another_level_elsewhere() {
        assert_eq!(SoftwareLevel::A.in_words(), "DO-178C level A");
        assert_eq!(SoftwareLevel::CategoryA.in_words(), "ECSS-E-ST-40C criticality category A");
        assert_eq!(SoftwareLevel::AsilD.in_words(), "ISO 26262-6 ASIL D");
        assert!(SoftwareLevel::AsilD.needs_other_approver());
        assert!(!SoftwareLevel::AsilA.needs_other_approver());
    }
}
