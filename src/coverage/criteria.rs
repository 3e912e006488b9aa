//! The coverage criteria, as one table that summaries, help texts and documents iterate.
//!
//! Knows: which obligations of a [`KernelCoverage`] belong to which criterion.
//! Promises: `covered + justified + uncovered + undetermined == total` for every row.
//! Does not cover: how an obligation got its status (`assess`).

use std::collections::BTreeSet;
use vkcert_model::coverage::{
    CriterionSummary, DecisionCoverage, KernelCoverage, SimpleObligation, Status,
};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::id::ObligationId;
use vkcert_model::verdict::EngineName;

/// What a criterion measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CriterionSubject {
    /// The source text.
    Source,
    /// The production module.
    Object,
    /// What the project states of the host.
    Interface,
}

/// A structural coverage criterion.
pub trait Criterion: Sync {
    /// Which one it is.
    fn criterion(&self) -> CriterionName;
    /// As in `vkcert.toml` and in files.
    fn name(&self) -> &'static str {
        self.criterion().name()
    }
    /// One line for help texts and reports.
    fn description(&self) -> &'static str;
    /// What its obligations are of; the source text where a criterion says nothing else.
    fn subject(&self) -> CriterionSubject {
        CriterionSubject::Source
    }
    /// Whether an engine can tell of any of its obligations.
    fn is_told_by(&self, engine: EngineName) -> bool {
        self.criterion().is_told_by(engine)
    }
    /// Whether its obligations were derived; some are only where a project asks for them.
    fn is_measured(&self, _coverage: &KernelCoverage) -> bool {
        true
    }
    /// Status of each of its obligations, in report order.
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status>;
}

/// Every criterion, weakest first.
pub const CRITERIA: &[&dyn Criterion] = &[
    &Statements,
    &Branches,
    &Decisions,
    &McdcUniqueCause,
    &McdcMasking,
    &MultipleCondition,
    &ObjectBranches,
    &AdditionalCode,
    &Barriers,
    &Functions,
    &Calls,
    &LoopBoundaries,
    &Boundaries,
    &Couplings,
];

/// The row of a criterion that evidence names; none where this version does not have it.
pub fn criterion_named(stored_criterion: &StoredCriterion) -> Option<&'static dyn Criterion> {
    CRITERIA.iter().copied().find(|criterion| *stored_criterion == criterion.criterion())
}

/// Counts every criterion whose obligations were derived.
pub fn criterion_summaries(coverage: &KernelCoverage) -> Vec<CriterionSummary> {
    let measured_criteria = CRITERIA.iter().filter(|criterion| criterion.is_measured(coverage));
    measured_criteria.map(|criterion| criterion_summary(*criterion, coverage)).collect()
}

fn criterion_summary(criterion: &dyn Criterion, coverage: &KernelCoverage) -> CriterionSummary {
    let statuses = criterion.obligation_statuses(coverage);
    let mut summary = CriterionSummary {
        criterion: criterion.criterion().into(),
        total: statuses.len() as u32,
        covered: 0,
        justified: 0,
        uncovered: 0,
        undetermined: 0,
    };
    for status in statuses {
        let count = match status {
            Status::Covered => &mut summary.covered,
            Status::Justified => &mut summary.justified,
            Status::Uncovered => &mut summary.uncovered,
            Status::Undetermined => &mut summary.undetermined,
        };
        *count += 1;
    }
    summary
}

fn statuses_of(obligations: &[SimpleObligation]) -> impl Iterator<Item = Status> + '_ {
    obligations.iter().map(|obligation| obligation.status)
}

struct Statements;
impl Criterion for Statements {
    fn criterion(&self) -> CriterionName {
        CriterionName::Statement
    }
    fn description(&self) -> &'static str {
        "every statement was executed"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(&coverage.statements).collect()
    }
}

struct Branches;
impl Criterion for Branches {
    fn criterion(&self) -> CriterionName {
        CriterionName::Branch
    }
    fn description(&self) -> &'static str {
        "every decision that directs control flow took both outcomes, every switch label was passed"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(&coverage.branches).collect()
    }
}

struct Decisions;
impl Criterion for Decisions {
    fn criterion(&self) -> CriterionName {
        CriterionName::Decision
    }
    fn description(&self) -> &'static str {
        "every decision took both outcomes, every function was entered and left through each of its exits"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        let outcomes = coverage
            .decisions
            .iter()
            .flat_map(|decision: &DecisionCoverage| statuses_of(&decision.outcomes));
        outcomes.chain(statuses_of(&coverage.points)).collect()
    }
}

struct McdcUniqueCause;
impl Criterion for McdcUniqueCause {
    fn criterion(&self) -> CriterionName {
        CriterionName::McdcUniqueCause
    }
    fn description(&self) -> &'static str {
        "for every condition two vectors differ in it alone and in the outcome"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        let conditions = coverage.decisions.iter().flat_map(|decision| &decision.mcdc);
        conditions.map(|condition| condition.unique_cause.status).collect()
    }
}

struct McdcMasking;
impl Criterion for McdcMasking {
    fn criterion(&self) -> CriterionName {
        CriterionName::McdcMasking
    }
    fn description(&self) -> &'static str {
        "for every condition two vectors differ in it and in the outcome, and every other operand on its way is masked"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        let conditions = coverage.decisions.iter().flat_map(|decision| &decision.mcdc);
        conditions.map(|condition| condition.masking.status).collect()
    }
}

struct MultipleCondition;
impl Criterion for MultipleCondition {
    fn criterion(&self) -> CriterionName {
        CriterionName::MultipleCondition
    }
    fn description(&self) -> &'static str {
        "every vector that can occur was shown"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        coverage.decisions.iter().flat_map(|decision| statuses_of(&decision.combinations)).collect()
    }
}

struct ObjectBranches;
impl Criterion for ObjectBranches {
    fn criterion(&self) -> CriterionName {
        CriterionName::ObjectBranch
    }
    fn subject(&self) -> CriterionSubject {
        CriterionSubject::Object
    }
    fn description(&self) -> &'static str {
        "every branch, switch and select of the production module took each of its outcomes"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(&coverage.objects).collect()
    }
}

struct AdditionalCode;
impl Criterion for AdditionalCode {
    fn criterion(&self) -> CriterionName {
        CriterionName::AdditionalCode
    }
    fn subject(&self) -> CriterionSubject {
        CriterionSubject::Object
    }
    fn description(&self) -> &'static str {
        "object-branch for the branches that trace to no source statement (DO-178C table A-7, objective 9)"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        let additional: BTreeSet<&ObligationId> = coverage.additional.iter().collect();
        let rows = coverage.objects.iter().filter(|row| additional.contains(&row.id));
        rows.map(|row| row.status).collect()
    }
}

struct Barriers;
impl Criterion for Barriers {
    fn criterion(&self) -> CriterionName {
        CriterionName::Barrier
    }
    fn description(&self) -> &'static str {
        "every barrier was executed by all invocations of a workgroup"
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(&coverage.barriers).collect()
    }
}

struct Functions;
impl Criterion for Functions {
    fn criterion(&self) -> CriterionName {
        CriterionName::Function
    }
    fn description(&self) -> &'static str {
        "every function of the source was entered"
    }
    fn is_measured(&self, coverage: &KernelCoverage) -> bool {
        coverage.functions.is_some()
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(coverage.functions.as_deref().unwrap_or_default()).collect()
    }
}

struct Calls;
impl Criterion for Calls {
    fn criterion(&self) -> CriterionName {
        CriterionName::Call
    }
    fn description(&self) -> &'static str {
        "every call of a function of the source was executed"
    }
    fn is_measured(&self, coverage: &KernelCoverage) -> bool {
        coverage.calls.is_some()
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(coverage.calls.as_deref().unwrap_or_default()).collect()
    }
}

struct LoopBoundaries;
impl Criterion for LoopBoundaries {
    fn criterion(&self) -> CriterionName {
        CriterionName::LoopBoundary
    }
    fn description(&self) -> &'static str {
        "every loop ran its body zero times, once and more than once, and reached its boundary"
    }
    fn is_measured(&self, coverage: &KernelCoverage) -> bool {
        coverage.loops.is_some()
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(coverage.loops.as_deref().unwrap_or_default()).collect()
    }
}

struct Couplings;
impl Criterion for Couplings {
    fn criterion(&self) -> CriterionName {
        CriterionName::Coupling
    }
    fn description(&self) -> &'static str {
        "every value that the host, another kernel or another invocation gives was read, every barrier was executed by all \
         invocations of a workgroup, every call was executed"
    }
    fn subject(&self) -> CriterionSubject {
        CriterionSubject::Object
    }
    fn is_measured(&self, coverage: &KernelCoverage) -> bool {
        coverage.coupling.is_some()
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        coverage.coupling_obligations().map(|obligation| obligation.status).collect()
    }
}

struct Boundaries;
impl Criterion for Boundaries {
    fn criterion(&self) -> CriterionName {
        CriterionName::Boundary
    }
    fn description(&self) -> &'static str {
        "every value at the edges of the ranges of a kernel's inputs was given by a test"
    }
    fn subject(&self) -> CriterionSubject {
        CriterionSubject::Interface
    }
    fn is_measured(&self, coverage: &KernelCoverage) -> bool {
        coverage.boundaries.is_some()
    }
    fn obligation_statuses(&self, coverage: &KernelCoverage) -> Vec<Status> {
        statuses_of(coverage.boundaries.as_deref().unwrap_or_default()).collect()
    }
}
