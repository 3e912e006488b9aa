//! What only an undefined value covers: such a value may be another one on any device and in any
//! run, so that what a test shows by it is no evidence of the test.
//!
//! Promises: an obligation that the tests cover whatever undefined values are stays as it is; one
//! that they cover only by what may follow such a value is undetermined, with the reason and the
//! tests. Vectors that were seen stay listed, marked.
//! Does not cover: which records these are (`Records::undefined`).

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::{
    ConditionMcdc, DecisionCoverage, Independence, KernelCoverage, SimpleObligation, Status,
    Witness,
};
use vkcert_model::criterion::CriterionName;
use vkcert_model::id::{ConditionId, DecisionId, ObligationId, TestId};

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
    let full_decisions = full_coverage.decisions.into_iter();
    let mut full_decisions: BTreeMap<DecisionId, DecisionCoverage> =
        full_decisions.map(|decision| (decision.id, decision)).collect();
    for decision in &mut coverage.decisions {
        if let Some(by_all) = full_decisions.remove(&decision.id) {
            settle_decision(decision, by_all);
        }
    }
    coverage
}

fn settle_decision(decision: &mut DecisionCoverage, full_decision: DecisionCoverage) {
    settle_obligations(&mut decision.outcomes, full_decision.outcomes);
    settle_obligations(&mut decision.combinations, full_decision.combinations);
    let full_effects = full_decision.mcdc.into_iter();
    let mut full_effects: BTreeMap<ConditionId, ConditionMcdc> =
        full_effects.map(|effect| (effect.condition, effect)).collect();
    for effect in &mut decision.mcdc {
        if let Some(by_all) = full_effects.remove(&effect.condition) {
            settle_effect(&mut effect.unique_cause, by_all.unique_cause);
            settle_effect(&mut effect.masking, by_all.masking);
        }
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

/// Both lists are of the same kernel under the same configuration. What tests showed beside its
/// obligations has rows in the full list alone where all that showed it may follow such values.
fn settle_obligations(
    obligations: &mut Vec<SimpleObligation>,
    full_obligations: Vec<SimpleObligation>,
) {
    let defined_rows = std::mem::take(obligations).into_iter();
    let mut defined_rows: BTreeMap<ObligationId, SimpleObligation> =
        defined_rows.map(|obligation| (obligation.id, obligation)).collect();
    let settled_rows = full_obligations.into_iter().map(|by_all| {
        let defined_row = defined_rows.remove(&by_all.id);
        settled_obligation(defined_row, by_all)
    });
    *obligations = settled_rows.collect();
    obligations.extend(defined_rows.into_values());
}

fn settled_obligation(
    defined_row: Option<SimpleObligation>,
    by_all: SimpleObligation,
) -> SimpleObligation {
    match (defined_row, by_all.status) {
        (Some(defined_row), Status::Covered) if defined_row.status == Status::Covered => {
            defined_row
        }
        (defined_row, Status::Covered) => SimpleObligation {
            status: Status::Undetermined,
            reason: Some(undefined_reason(&by_all.tests)),
            ..defined_row.unwrap_or(by_all)
        },
        // What all records together leave open, a part of them does not close.
        (_, Status::Uncovered | Status::Justified | Status::Undetermined) => by_all,
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
    let coupling_list = (CriterionName::Coupling, coverage.coupling_obligations().collect());
    let all_lists = criterion_lists.into_iter().chain(requested_lists).chain([coupling_list]);
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
