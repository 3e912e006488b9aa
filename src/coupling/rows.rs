//! Rows of checks and the findings that go with them.
//!
//! Knows: what the next rows are about and where the host code stands.
//! Promises: every refuted row comes with a `coupling` finding, with parameter values where values
//! refute it; a row that does not hold names the nodes of the graph that it is about, as far as its
//! subject tells them.
//! Does not cover: what is checked.

use super::subject_nodes::SubjectNodes;
use std::collections::BTreeMap;
use vkcert_model::evidence::{CheckStatus, CouplingCheck, CouplingCheckName};
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::CouplingDetails;
use vkcert_model::place::Place;
use vkcert_requirement::host::decide::ProofResult;

/// Rows and findings of one kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CheckRows {
    pub checks: Vec<CouplingCheck>,
    pub findings: Vec<Finding>,
    /// Where the interface says that the host code stands.
    source: Option<String>,
    /// What of the interface or the kernel the next rows are about, where a check has several rows.
    about: Option<String>,
    nodes: SubjectNodes,
}

impl CheckRows {
    pub(crate) fn new(source: Option<String>, nodes: SubjectNodes) -> Self {
        Self { source, nodes, ..Self::default() }
    }

    /// Names what the rows are about that come next.
    pub(crate) fn begin_subject(&mut self, subject_words: impl Into<String>) {
        self.about = Some(subject_words.into());
    }

    /// Rows that come next are about the whole.
    pub(crate) fn end_subject(&mut self) {
        self.about = None;
    }

    pub(crate) fn add_holding(&mut self, check: CouplingCheckName, message: impl Into<String>) {
        self.add_check(check, CheckStatus::Holds, message.into(), None);
    }

    pub(crate) fn add_undetermined(
        &mut self,
        check: CouplingCheckName,
        message: impl Into<String>,
    ) {
        self.add_check(check, CheckStatus::Undetermined, message.into(), None);
    }

    pub(crate) fn add_refuted(
        &mut self,
        check: CouplingCheckName,
        message: impl Into<String>,
        counterexample: Option<BTreeMap<String, i64>>,
    ) {
        self.add_refuted_at(check, message, counterexample, self.source_place(), None);
    }

    /// A row about a declaration of the host; without a place, about where the host code stands.
    pub(crate) fn add_refuted_in(
        &mut self,
        check: CouplingCheckName,
        message: impl Into<String>,
        declared_at: Option<Place>,
    ) {
        let place = declared_at.or_else(|| self.source_place());
        self.add_refuted_at(check, message, None, place, None);
    }

    fn source_place(&self) -> Option<Place> {
        let source = self.source.as_ref()?;
        Some(Place { file: Some(source.clone()), ..Place::default() })
    }

    pub(crate) fn add_refuted_at(
        &mut self,
        check: CouplingCheckName,
        message: impl Into<String>,
        counterexample: Option<BTreeMap<String, i64>>,
        place: Option<Place>,
        other_place: Option<Place>,
    ) {
        let message = message.into();
        let details = CouplingDetails {
            check: check.clone(),
            about: self.about.clone(),
            counterexample: counterexample.clone(),
        };
        let finding = Finding::coupling(message.clone(), details);
        self.findings.push(Finding { place, other_place, ..finding });
        self.add_check(check, CheckStatus::Refuted, message, counterexample);
    }

    fn add_check(
        &mut self,
        check: CouplingCheckName,
        status: CheckStatus,
        message: String,
        counterexample: Option<BTreeMap<String, i64>>,
    ) {
        let subjects = match (&status, &self.about) {
            (CheckStatus::Holds, _) | (_, None) => Vec::new(),
            (_, Some(subject_words)) => self.nodes.of_subject(&check, subject_words),
        };
        let accesses = None;
        let row = CouplingCheck { check, status, message, counterexample, accesses, subjects };
        self.checks.push(row);
    }

    /// Says which nodes the last row is about; what is no node of the graph is passed over.
    pub(crate) fn name_nodes(&mut self, ids: impl IntoIterator<Item = String>) {
        if let Some(row) = self.checks.last_mut() {
            row.subjects = self.nodes.known(ids);
        }
    }

    /// Says of how many access places the last row tells.
    pub(crate) fn count_accesses(&mut self, access_count: usize) {
        if let Some(row) = self.checks.last_mut() {
            row.accesses = u32::try_from(access_count).ok();
        }
    }

    /// A row from an answer; `refutation` words it for the values found.
    pub(super) fn add_answer(
        &mut self,
        check: CouplingCheckName,
        proof_result: ProofResult,
        claim: &str,
        refutation: impl Fn(&BTreeMap<String, i64>) -> String,
    ) {
        match proof_result {
            ProofResult::Proved => self.add_holding(check, claim),
            ProofResult::Refuted(values) => {
                self.add_refuted(check, refutation(&values), Some(values))
            }
            ProofResult::Open(reason) => {
                self.add_undetermined(check, format!("{claim}: not decided; {reason}"))
            }
        }
    }
}

/// `m = 1, n = 2`, or `always` without parameters.
pub(super) fn values_in_words(values: &BTreeMap<String, i64>) -> String {
    if values.is_empty() {
        return "always".to_owned();
    }
    let name_value_pairs: Vec<String> =
        values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("for {}", name_value_pairs.join(", "))
}
