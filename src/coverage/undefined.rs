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
use vkcert_model::criterion::CriterionName;
use vkcert_model::id::TestId;

/// How the reason of such an obligation begins; the names of the tests follow.
const REASON: &str = "covered only through what may follow an undefined value";

/// The coverage of a kernel by tests some of whose records may follow undefined values. `defined`
/// is its coverage by the other records alone, `all` by all of them, without counts of criteria.
pub fn leave_undetermined(
    defined_coverage: KernelCoverage,
    full_coverage: KernelCoverage,
) -> KernelCoverage {
    let (mut coverage, mut full_coverage) = (defined_coverage, full_coverage);
    for (obligations, by_all) in
        coverage.requested_mut().into_iter().zip(full_coverage.requested_mut())
    {
        if let Some((obligations, by_all)) = obligations.as_mut().zip(by_all.take()) {
            settle_obligations(obligations, by_all);
        }
    }
    let obligation_lists = [
        (&mut coverage.statements, full_coverage.statements),
        (&mut coverage.branches, full_coverage.branches),
        (&mut coverage.points, full_coverage.points),
        (&mut coverage.objects, full_coverage.objects),
        (&mut coverage.barriers, full_coverage.barriers),
    ];
    for (obligations, by_all) in obligation_lists {
        settle_obligations(obligations, by_all);
    }
    for (decision, by_all) in coverage.decisions.iter_mut().zip(full_coverage.decisions) {
        settle_decision(decision, by_all);
    }
    coverage
}

fn settle_decision(decision: &mut DecisionCoverage, full_decision: DecisionCoverage) {
    settle_obligations(&mut decision.outcomes, full_decision.outcomes);
    settle_obligations(&mut decision.combinations, full_decision.combinations);
    for (effect, by_all) in decision.mcdc.iter_mut().zip(full_decision.mcdc) {
        settle_effect(&mut effect.unique_cause, by_all.unique_cause);
        settle_effect(&mut effect.masking, by_all.masking);
    }
    for mut vector in full_decision.vectors {
        if let Err(insert_index) = decision
            .vectors
            .binary_search_by(|known_vector| known_vector.values.cmp(&vector.values))
        {
            vector.undefined = true;
            decision.vectors.insert(insert_index, vector);
        }
    }
}

/// Both lists are of the same kernel under the same configuration, in the same order.
fn settle_obligations(
    obligations: &mut [SimpleObligation],
    full_obligations: Vec<SimpleObligation>,
) {
    for (obligation, by_all) in obligations.iter_mut().zip(full_obligations) {
        match (obligation.status, by_all.status) {
            (Status::Covered, Status::Covered) => {}
            (_, Status::Covered) => {
                obligation.status = Status::Undetermined;
                obligation.reason = Some(undefined_reason(&by_all.tests));
            }
            // What all records together leave open, a part of them does not close.
            (_, _) => *obligation = by_all,
        }
    }
}

fn settle_effect(effect: &mut Independence, full_effect: Independence) {
    match (effect.status, full_effect.status) {
        (Status::Covered, Status::Covered) => {}
        (_, Status::Covered) => {
            let showing_tests: Vec<TestId> = full_effect
                .shown_by
                .into_iter()
                .flatten()
                .map(|Witness { test, .. }| test)
                .collect();
            effect.status = Status::Undetermined;
            effect.reason = Some(undefined_reason(&showing_tests));
        }
        (_, _) => *effect = full_effect,
    }
}

fn undefined_reason(tests: &[TestId]) -> String {
    let test_names: BTreeSet<&str> = tests.iter().map(TestId::as_str).collect();
    format!("{REASON} ({})", test_names.into_iter().collect::<Vec<_>>().join(", "))
}

fn is_undefined(status: Status, reason: Option<&String>) -> bool {
    status == Status::Undetermined && reason.is_some_and(|reason| reason.starts_with(REASON))
}

/// How many obligations of some criteria are undetermined for this reason; one of several criteria
/// counts once.
pub fn covered_through_undefined(
    coverage: &KernelCoverage,
    asked_criteria: &[CriterionName],
) -> usize {
    let outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let combinations = coverage.decisions.iter().flat_map(|decision| &decision.combinations);
    let additional = coverage.objects.iter().filter(|item| coverage.additional.contains(&item.id));
    let requested_lists = coverage.requested().map(|(criterion, obligations)| {
        (criterion, obligations.iter().flatten().collect::<Vec<_>>())
    });
    let criterion_lists = [
        (CriterionName::Statement, coverage.statements.iter().collect::<Vec<_>>()),
        (CriterionName::Branch, coverage.branches.iter().collect()),
        (CriterionName::Decision, outcomes.chain(&coverage.points).collect()),
        (CriterionName::MultipleCondition, combinations.collect()),
        (CriterionName::ObjectBranch, coverage.objects.iter().collect()),
        (CriterionName::AdditionalCode, additional.collect()),
        (CriterionName::Barrier, coverage.barriers.iter().collect()),
    ];
    let mut undefined_obligations: BTreeSet<String> = BTreeSet::new();
    let all_lists = criterion_lists.into_iter().chain(requested_lists);
    for (_, list) in all_lists.filter(|(criterion, _)| asked_criteria.contains(criterion)) {
        let open_items =
            list.into_iter().filter(|item| is_undefined(item.status, item.reason.as_ref()));
        undefined_obligations.extend(open_items.map(|item| item.id.to_string()));
    }
    for effect in coverage.decisions.iter().flat_map(|decision| &decision.mcdc) {
        let criterion_forms = [
            (CriterionName::McdcUniqueCause, &effect.unique_cause),
            (CriterionName::McdcMasking, &effect.masking),
        ];
        let open_items =
            criterion_forms.into_iter().filter(|(criterion, _)| asked_criteria.contains(criterion));
        let mut open_items = open_items.filter(|(_, independence)| {
            is_undefined(independence.status, independence.reason.as_ref())
        });
        undefined_obligations.extend(open_items.next().map(|_| effect.condition.to_string()));
    }
    undefined_obligations.len()
}
