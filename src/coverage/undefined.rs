//! What only an undefined value covers: such a value may be another one on any device and in any
//! run, so that what a test shows by it is no evidence of the test.
//!
//! Promises: an obligation that the tests cover whatever undefined values are stays as it is; one
//! that they cover only by what may follow such a value is undetermined, with the reason and the
//! tests. Vectors that were seen stay listed, marked.
//! Does not cover: which records these are (`Records::undefined`).

use std::collections::BTreeSet;
use vkcert_model::coverage::{
    DecisionCoverage, Independence, KernelCoverage, SimpleObligation, Status, Witness,
};
use vkcert_model::id::TestId;
use vkcert_model::project::CriterionName;

/// How the reason of such an obligation begins; the names of the tests follow.
const REASON: &str = "covered only through what may follow an undefined value";

/// The coverage of a kernel by tests some of whose records may follow undefined values. `defined`
/// is its coverage by the other records alone, `all` by all of them, without counts of criteria.
pub fn leave_undetermined(defined: KernelCoverage, all: KernelCoverage) -> KernelCoverage {
    let mut coverage = defined;
    let lists = [
        (&mut coverage.statements, all.statements),
        (&mut coverage.branches, all.branches),
        (&mut coverage.points, all.points),
        (&mut coverage.objects, all.objects),
        (&mut coverage.barriers, all.barriers),
    ];
    for (obligations, by_all) in lists {
        settle_each(obligations, by_all);
    }
    for (decision, by_all) in coverage.decisions.iter_mut().zip(all.decisions) {
        settle_decision(decision, by_all);
    }
    coverage
}

fn settle_decision(decision: &mut DecisionCoverage, all: DecisionCoverage) {
    settle_each(&mut decision.outcomes, all.outcomes);
    settle_each(&mut decision.combinations, all.combinations);
    for (effect, by_all) in decision.mcdc.iter_mut().zip(all.mcdc) {
        settle_effect(&mut effect.unique_cause, by_all.unique_cause);
        settle_effect(&mut effect.masking, by_all.masking);
    }
    for mut vector in all.vectors {
        if let Err(at) = decision.vectors.binary_search_by(|known| known.values.cmp(&vector.values))
        {
            vector.undefined = true;
            decision.vectors.insert(at, vector);
        }
    }
}

/// Both lists are of the same kernel under the same configuration, in the same order.
fn settle_each(obligations: &mut [SimpleObligation], all: Vec<SimpleObligation>) {
    for (obligation, by_all) in obligations.iter_mut().zip(all) {
        match (obligation.status, by_all.status) {
            (Status::Covered, Status::Covered) => {}
            (_, Status::Covered) => {
                obligation.status = Status::Undetermined;
                obligation.reason = Some(reason(&by_all.tests));
            }
            // What all records together leave open, a part of them does not close.
            (_, _) => *obligation = by_all,
        }
    }
}

fn settle_effect(effect: &mut Independence, all: Independence) {
    match (effect.status, all.status) {
        (Status::Covered, Status::Covered) => {}
        (_, Status::Covered) => {
            let tests: Vec<TestId> =
                all.shown_by.into_iter().flatten().map(|Witness { test, .. }| test).collect();
            effect.status = Status::Undetermined;
            effect.reason = Some(reason(&tests));
        }
        (_, _) => *effect = all,
    }
}

fn reason(tests: &[TestId]) -> String {
    let names: BTreeSet<&str> = tests.iter().map(TestId::as_str).collect();
    format!("{REASON} ({})", names.into_iter().collect::<Vec<_>>().join(", "))
}

fn is_undefined(status: Status, reason: Option<&String>) -> bool {
    status == Status::Undetermined && reason.is_some_and(|reason| reason.starts_with(REASON))
}

/// How many obligations of some criteria are undetermined for this reason; one of several criteria
/// counts once.
pub fn covered_through_undefined(coverage: &KernelCoverage, asked: &[CriterionName]) -> usize {
    let outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let combinations = coverage.decisions.iter().flat_map(|decision| &decision.combinations);
    let additional = coverage.objects.iter().filter(|item| coverage.additional.contains(&item.id));
    let lists = [
        (CriterionName::Statement, coverage.statements.iter().collect::<Vec<_>>()),
        (CriterionName::Branch, coverage.branches.iter().collect()),
        (CriterionName::Decision, outcomes.chain(&coverage.points).collect()),
        (CriterionName::MultipleCondition, combinations.collect()),
        (CriterionName::ObjectBranch, coverage.objects.iter().collect()),
        (CriterionName::AdditionalCode, additional.collect()),
        (CriterionName::Barrier, coverage.barriers.iter().collect()),
    ];
    let mut found: BTreeSet<String> = BTreeSet::new();
    for (_, list) in lists.into_iter().filter(|(criterion, _)| asked.contains(criterion)) {
        let open = list.into_iter().filter(|item| is_undefined(item.status, item.reason.as_ref()));
        found.extend(open.map(|item| item.id.to_string()));
    }
    for effect in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
        let forms = [
            (CriterionName::McdcUniqueCause, &effect.unique_cause),
            (CriterionName::McdcMasking, &effect.masking),
        ];
        let open = forms.into_iter().filter(|(criterion, _)| asked.contains(criterion));
        let mut open = open.filter(|(_, side)| is_undefined(side.status, side.reason.as_ref()));
        found.extend(open.next().map(|_| effect.condition.to_string()));
    }
    found.len()
}
