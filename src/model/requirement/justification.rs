//! Justifications: accepted reasons for what no test covers, for findings, and for mutants that no test notices.

use crate::id::{FindingId, KernelName, MutantId, ObligationId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an obligation stays uncovered (DO-178C, 6.4.4.3).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum JustificationClass {
    /// A gap: a test is to be written. Closes nothing at levels A to C.
    MissingTest,
    /// A gap: a requirement is to be written. Closes nothing at levels A to C.
    MissingRequirement,
    /// A gap: code without a requirement is to be removed. Closes nothing at levels A to C.
    Extraneous,
    /// Source text of which the production module holds nothing.
    Dead,
    /// Code that a stated means keeps from being executed.
    Deactivated,
    /// Code against what tests cannot bring about.
    Defensive,
    /// An outcome or effect that no input can show, in code that is executed.
    Infeasible,
    /// Shown in another way than by test.
    Analysis,
}

impl JustificationClass {
    /// Whether it says that the obligation cannot be met, so that a single record of it refutes it.
    pub fn claims_impossibility(self) -> bool {
        match self {
            JustificationClass::Dead
            | JustificationClass::Deactivated
            | JustificationClass::Infeasible => true,
            JustificationClass::MissingTest
            | JustificationClass::MissingRequirement
            | JustificationClass::Extraneous
            | JustificationClass::Defensive
            | JustificationClass::Analysis => false,
        }
    }

    /// Whether justifications of this class can be of mutants: that no input shows a difference, or that
    /// what the mutant does is shown in another way.
    pub fn can_accept_mutants(self) -> bool {
        match self {
            JustificationClass::Infeasible | JustificationClass::Analysis => true,
            JustificationClass::MissingTest
            | JustificationClass::MissingRequirement
            | JustificationClass::Extraneous
            | JustificationClass::Dead
            | JustificationClass::Deactivated
            | JustificationClass::Defensive => false,
        }
    }

    /// For sentences: `missing test`.
    pub fn in_words(self) -> &'static str {
        match self {
            JustificationClass::MissingTest => "missing test",
            JustificationClass::MissingRequirement => "missing requirement",
            JustificationClass::Extraneous => "extraneous code",
            JustificationClass::Dead => "dead code",
            JustificationClass::Deactivated => "deactivated code",
            JustificationClass::Defensive => "defensive code",
            JustificationClass::Infeasible => "infeasible",
            JustificationClass::Analysis => "analysis",
        }
    }
}

impl std::fmt::Display for JustificationClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            JustificationClass::MissingTest => "missing-test",
            JustificationClass::MissingRequirement => "missing-requirement",
            JustificationClass::Extraneous => "extraneous",
            JustificationClass::Dead => "dead",
            JustificationClass::Deactivated => "deactivated",
            JustificationClass::Defensive => "defensive",
            JustificationClass::Infeasible => "infeasible",
            JustificationClass::Analysis => "analysis",
        })
    }
}

/// When deactivated code is meant to run (DO-178C, 6.4.4.3.d).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DeactivationCategory {
    /// In no configuration of the product.
    Never,
    /// In other configurations than that at hand.
    OtherConfiguration,
}

impl std::fmt::Display for DeactivationCategory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            DeactivationCategory::Never => "never",
            DeactivationCategory::OtherConfiguration => "other-configuration",
        })
    }
}

/// An accepted reason for an obligation that no test covers, for a finding, or for a mutant that no test notices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "JustificationTable", into = "JustificationTable")]
pub struct Justification {
    /// The kernel whose obligation, finding or mutant it is of.
    pub kernel: KernelName,
    /// The obligation, finding or mutant.
    pub subject: JustificationSubject,
    /// The configuration that it is about; none: all configurations of the kernel.
    pub configuration: Option<String>,
    /// Why no test covers it, as a class.
    pub class: JustificationClass,
    /// Why, in words for people.
    pub reason: String,
    /// Of deactivated code alone, and given there; evidence of format 1 has none.
    pub category: Option<DeactivationCategory>,
    /// Of deactivated code alone, and given there: what keeps it from being executed.
    pub means: Option<String>,
    /// Of what is infeasible alone, and given there: why no input can show it, or where that is proved.
    pub argument: Option<String>,
    /// Who wrote it.
    pub author: String,
    /// Who approved it; at levels A and B another person than the author.
    pub approver: String,
    /// When it was approved, as year, month and day (`2026-01-31`); none: the file does not say.
    pub date: Option<String>,
    /// `sha256:` hash of the subject's content; another content makes the justification stale.
    pub hash: String,
}

/// A fault of what a justification states beside its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementFault {
    /// The key at fault.
    pub key: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl Justification {
    /// What its class asks for and it does not state, or the other way round.
    pub fn statement_faults(&self) -> Vec<StatementFault> {
        let deactivated = self.class == JustificationClass::Deactivated;
        let infeasible = self.class == JustificationClass::Infeasible;
        let statements = [
            ClassStatement {
                key: "category",
                says_something: self.category.map(|_| true),
                is_wanted: deactivated,
                meaning: "whether it is run `never` or in an `other-configuration`",
            },
            ClassStatement {
                key: "means",
                says_something: says_something(&self.means),
                is_wanted: deactivated,
                meaning: "what keeps the code from being executed",
            },
            ClassStatement {
                key: "argument",
                says_something: says_something(&self.argument),
                is_wanted: infeasible,
                meaning: "why no input can show it, or where that is proved",
            },
        ];
        statements.into_iter().filter_map(|statement| statement.fault_of(self.class)).collect()
    }
}

fn says_something(text: &Option<String>) -> Option<bool> {
    text.as_ref().map(|text| text.contains(char::is_alphanumeric))
}

/// What some classes state beside the reason, and others must not.
struct ClassStatement {
    key: &'static str,
    /// None where the key is not given.
    says_something: Option<bool>,
    is_wanted: bool,
    meaning: &'static str,
}

impl ClassStatement {
    fn fault_of(self, class: JustificationClass) -> Option<StatementFault> {
        let Self { key, says_something, is_wanted, meaning } = self;
        let message = match (says_something, is_wanted) {
            (Some(true), true) | (None, false) => return None,
            (Some(false) | None, true) => format!("class {class} states `{key}`: {meaning}"),
            (Some(_), false) => format!("class {class} has no `{key}`"),
        };
        Some(StatementFault { key, message })
    }
}

/// What a justification is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum JustificationSubject {
    /// An obligation of coverage.
    Obligation(ObligationId),
    /// A finding, by its name.
    Finding(FindingId),
    /// A mutant, by its name.
    Mutant(MutantId),
}

impl JustificationSubject {
    /// The key that names it in files.
    pub fn key(&self) -> &'static str {
        match self {
            JustificationSubject::Obligation(_) => "obligation",
            JustificationSubject::Finding(_) => "finding",
            JustificationSubject::Mutant(_) => "mutant",
        }
    }
}

impl std::fmt::Display for JustificationSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JustificationSubject::Obligation(id) => id.fmt(f),
            JustificationSubject::Finding(id) => id.fmt(f),
            JustificationSubject::Mutant(id) => id.fmt(f),
        }
    }
}

/// A justification as files hold it: with an `obligation`, a `finding` or a `mutant`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JustificationTable {
    kernel: KernelName,
    /// Not together with `finding` or `mutant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    obligation: Option<ObligationId>,
    /// Not together with `obligation` or `mutant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finding: Option<FindingId>,
    /// Not together with `obligation` or `finding`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mutant: Option<MutantId>,
    /// The configuration that it is about; none: all configurations of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    configuration: Option<String>,
    class: JustificationClass,
    reason: String,
    /// Of class `deactivated`, and required there: when the code is meant to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<DeactivationCategory>,
    /// Of class `deactivated`, and required there: what keeps the code from being executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    means: Option<String>,
    /// Of class `infeasible`, and required there: why no input can show it, or where that is proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    author: String,
    approver: String,
    /// When it was approved, as year, month and day (`2026-01-31`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// `sha256:` hash of the content of the obligation, finding or mutant; another content makes the justification stale.
    hash: String,
}

impl TryFrom<JustificationTable> for Justification {
    type Error = &'static str;

    fn try_from(table: JustificationTable) -> Result<Self, Self::Error> {
        let subject = match (table.obligation, table.finding, table.mutant) {
            (Some(id), None, None) => JustificationSubject::Obligation(id),
            (None, Some(id), None) => JustificationSubject::Finding(id),
            (None, None, Some(id)) => JustificationSubject::Mutant(id),
            (None, None, None) => {
                return Err("a justification names an `obligation`, a `finding` or a `mutant`");
            }
            (Some(_) | None, Some(_) | None, Some(_) | None) => {
                return Err(
                    "a justification names an `obligation`, a `finding` or a `mutant`, and only one",
                );
            }
        };
        let JustificationTable {
            kernel,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            author,
            approver,
            date,
            hash,
            obligation: _,
            finding: _,
            mutant: _,
        } = table;
        Ok(Self {
            kernel,
            subject,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            author,
            approver,
            date,
            hash,
        })
    }
}

impl From<Justification> for JustificationTable {
    fn from(justification: Justification) -> Self {
        let Justification {
            kernel,
            subject,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            author,
            approver,
            date,
            hash,
        } = justification;
        let (obligation, finding, mutant) = match subject {
            JustificationSubject::Obligation(id) => (Some(id), None, None),
            JustificationSubject::Finding(id) => (None, Some(id), None),
            JustificationSubject::Mutant(id) => (None, None, Some(id)),
        };
        Self {
            kernel,
            obligation,
            finding,
            mutant,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            author,
            approver,
            date,
            hash,
        }
    }
}
