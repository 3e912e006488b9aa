//! What each class of a justification claims, and what refutes it.
//!
//! Promises: gaps close nothing where the level asks for structural coverage without them; dead
//! code is accepted only where the module is shown to hold none of it; what claims that something
//! cannot happen is refuted by any record of it.
//! Does not cover: whether an argument or a means is a good one; that is what the approver signs.

use super::{Standard, Strictness};
use std::collections::BTreeMap;
use vkcert_model::coverage::{KernelCoverage, Proposal, SimpleObligation, Status};
use vkcert_model::id::{DecisionId, ObligationId, TestId};
use vkcert_model::object::{ObjectOrigin, ObjectStructure};
use vkcert_model::requirement::{Justification, JustificationClass};
use vkcert_model::verdict::EngineName;

/// An obligation as a claim is judged by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claimed<'a> {
    pub id: &'a ObligationId,
    pub proposal: Option<&'a Proposal>,
    pub objects: &'a ObjectStructure,
}

/// Why a class does not close an obligation.
pub(super) fn class_fault(
    justification: &Justification,
    claimed: Claimed,
    standard: &Standard,
) -> Option<String> {
    let class = justification.class;
    let id = claimed.id;
    match class {
        JustificationClass::MissingTest | JustificationClass::MissingRequirement | JustificationClass::Extraneous => {
            (standard.strictness == Strictness::GapsStayOpen).then(|| {
                let level = &standard.level;
                format!("{class} names a gap that is still to be closed: at level {level} it closes nothing")
            })
        }
        JustificationClass::Dead => present(claimed),
        JustificationClass::Infeasible => is_code(id).then(|| {
            format!("{id} is code: infeasible is for outcomes and effects; code that no input executes is removed, or deactivated")
        }),
        JustificationClass::Deactivated | JustificationClass::Defensive | JustificationClass::Analysis => None,
    }
}

/// Why something is not shown to be absent from the production module.
fn present(claimed: Claimed) -> Option<String> {
    let Claimed { id, proposal, objects } = claimed;
    let removed = "dead code that is in the module is to be removed";
    if id.as_str().starts_with('B') {
        return Some(format!("the production module holds {id}; {removed}"));
    }
    let decision = id.as_str().split('.').next().and_then(|part| part.parse::<DecisionId>().ok());
    let traced = |origin: &ObjectOrigin| match (origin, decision) {
        (ObjectOrigin::Decisions(decisions), Some(decision)) => decisions.contains(&decision),
        _ => false,
    };
    if let Some(branch) = objects.branches.iter().find(|branch| traced(&branch.origin)) {
        return Some(format!("the production module holds {} of it; {removed}", branch.id));
    }
    let absent = proposal.is_some_and(|proposal| proposal.class == JustificationClass::Dead);
    (!absent)
        .then(|| format!("{id} is not shown to be absent from the production module; {removed}"))
}

/// Whether an obligation is something that is executed, rather than an outcome or an effect.
fn is_code(id: &ObligationId) -> bool {
    let id = id.as_str();
    id.starts_with(['S', 'F']) || id.starts_with("BAR")
}

/// Which obligations a kernel's records show, with the tests that show them.
pub struct Shown {
    tests: BTreeMap<ObligationId, Vec<TestId>>,
}

impl Shown {
    /// From coverage by *all* records, whether they count or not.
    pub fn of(coverage: &KernelCoverage) -> Self {
        let covered =
            super::simple_obligations(coverage).filter(|item| item.status == Status::Covered);
        let mut tests: BTreeMap<ObligationId, Vec<TestId>> =
            covered.map(|item: &SimpleObligation| (item.id.clone(), item.tests.clone())).collect();
        for mcdc in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
            for (form, independence) in
                [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)]
            {
                if let Some(witnesses) = &independence.shown_by {
                    let mut names: Vec<TestId> =
                        witnesses.iter().map(|witness| witness.test.clone()).collect();
                    names.dedup();
                    tests.insert(ObligationId(format!("{}.{form}", mcdc.condition)), names);
                }
            }
        }
        Self { tests }
    }

    /// `the records of T1 and T2 on sequential show D1.F`; none where no record does.
    pub fn sentence(&self, id: &ObligationId, engine: EngineName) -> Option<String> {
        let names: Vec<&str> = self.tests.get(id)?.iter().map(|test| test.as_str()).collect();
        Some(format!("the records of {} on {engine} show {id}", names.join(" and ")))
    }
}
