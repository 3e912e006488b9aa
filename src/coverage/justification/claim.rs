//! What each class of a justification claims, and what refutes it.
//!
//! Promises: gaps close nothing where the level asks for structural coverage without them; dead
//! code is accepted only where the module is shown to hold none of it; what claims that something
//! cannot happen is refuted by any record of it.
//! Does not cover: whether an argument or a means is a good one; that is what the approver signs.

use super::{GapStrictness, JustificationStandard};
use std::collections::BTreeMap;
use vkcert_model::coverage::{KernelCoverage, Proposal, SimpleObligation, Status};
use vkcert_model::id::{DecisionId, ObligationId, TestId};
use vkcert_model::object::{ObjectOrigin, ObjectStructure};
use vkcert_model::requirement::{Justification, JustificationClass};
use vkcert_model::verdict::EngineName;

/// An obligation as a claim is judged by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimedObligation<'a> {
    pub id: &'a ObligationId,
    pub proposal: Option<&'a Proposal>,
    pub objects: &'a ObjectStructure,
}

/// Why a class does not close an obligation.
pub(super) fn class_fault(
    justification: &Justification,
    claimed: ClaimedObligation,
    standard: &JustificationStandard,
) -> Option<String> {
    let class = justification.class;
    let id = claimed.id;
    match class {
        JustificationClass::MissingTest | JustificationClass::MissingRequirement | JustificationClass::Extraneous => {
            (standard.strictness == GapStrictness::GapsStayOpen).then(|| {
                let level = standard.level.called();
                format!("{class} names a gap that is still to be closed: at {level} it closes nothing")
            })
        }
        JustificationClass::Dead => presence_fault(claimed),
        JustificationClass::Infeasible => is_code(id).then(|| {
            format!("{id} is code: infeasible is for outcomes and effects; code that no input executes is removed, or deactivated")
        }),
        JustificationClass::Deactivated | JustificationClass::Defensive | JustificationClass::Analysis => None,
    }
}

/// Why something is not shown to be absent from the production module.
fn presence_fault(claimed: ClaimedObligation) -> Option<String> {
    let ClaimedObligation { id, proposal, objects } = claimed;
    let to_be_removed = "dead code that is in the module is to be removed";
    if id.as_str().starts_with('B') {
        return Some(format!("the production module holds {id}; {to_be_removed}"));
    }
    let decision =
        id.as_str().split('.').next().and_then(|id_part| id_part.parse::<DecisionId>().ok());
    let traces_to = |origin: &ObjectOrigin| match (origin, decision) {
        (ObjectOrigin::Decisions(decisions), Some(decision)) => decisions.contains(&decision),
        _ => false,
    };
    if let Some(branch) = objects.branches.iter().find(|branch| traces_to(&branch.origin)) {
        return Some(format!("the production module holds {} of it; {to_be_removed}", branch.id));
    }
    let is_absent = proposal.is_some_and(|proposal| proposal.class == JustificationClass::Dead);
    (!is_absent).then(|| {
        format!("{id} is not shown to be absent from the production module; {to_be_removed}")
    })
}

/// Whether an obligation is something that is executed, rather than an outcome or an effect.
fn is_code(id: &ObligationId) -> bool {
    let id = id.as_str();
    id.starts_with(['S', 'F']) || id.starts_with("BAR") || id.starts_with("CALL")
}

/// Which obligations a kernel's records show, with the tests that show them.
pub struct ShownObligations {
    tests: BTreeMap<ObligationId, Vec<TestId>>,
}

impl ShownObligations {
    /// From coverage by *all* records, whether they count or not.
    pub fn from_coverage(coverage: &KernelCoverage) -> Self {
        let covered_items =
            super::simple_obligations(coverage).filter(|item| item.status == Status::Covered);
        let mut tests_by_obligation: BTreeMap<ObligationId, Vec<TestId>> =
            covered_items.map(|item: &SimpleObligation| (item.id, item.tests.clone())).collect();
        for mcdc in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
            for (form, independence) in
                [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)]
            {
                if let Some(witnesses) = &independence.shown_by {
                    let mut test_names: Vec<TestId> =
                        witnesses.iter().map(|witness| witness.test).collect();
                    test_names.dedup();
                    tests_by_obligation.insert(
                        ObligationId::from(format!("{}.{form}", mcdc.condition)),
                        test_names,
                    );
                }
            }
        }
        Self { tests: tests_by_obligation }
    }

    /// `the records of T1 and T2 on sequential show D1.F`; none where no record does.
    pub fn refuting_sentence(&self, id: &ObligationId, engine: EngineName) -> Option<String> {
        let test_names: Vec<&str> = self.tests.get(id)?.iter().map(|test| test.as_str()).collect();
        Some(format!("the records of {} on {engine} show {id}", test_names.join(" and ")))
    }
}
