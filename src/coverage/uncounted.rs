//! What tests exercise that do not count: a test that failed, or that judges nothing, covers
//! nothing. Without its name a reader would look for a gap in the tests where there is a failure to
//! mend.
//!
//! Promises: statuses stay as they are; only uncovered obligations get names.

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::{
    ConditionMcdc, DecisionCoverage, Independence, KernelCoverage, SimpleObligation, Status,
};
use vkcert_model::id::{ConditionId, DecisionId, ObligationId, TestId};
use vkcert_model::vector::Values;

/// Names, for every uncovered obligation of `coverage`, the tests that cover it in `exercised`: the
/// coverage of the same kernel by the records of all tests, whatever became of them. `uncounted`
/// are those that do not count.
pub fn name_uncounted_tests(
    coverage: &mut KernelCoverage,
    exercised: &KernelCoverage,
    uncounted: &BTreeSet<TestId>,
) {
    let obligation_lists = [
        (&mut coverage.statements, &exercised.statements),
        (&mut coverage.branches, &exercised.branches),
        (&mut coverage.points, &exercised.points),
        (&mut coverage.objects, &exercised.objects),
        (&mut coverage.barriers, &exercised.barriers),
    ];
    for (obligations, by_all) in obligation_lists {
        name_each(obligations, by_all);
    }
    for (obligations, (_, by_all)) in
        coverage.requested_mut().into_iter().zip(exercised.requested())
    {
        if let Some((obligations, by_all)) = obligations.as_mut().zip(by_all.as_ref()) {
            name_each(obligations, by_all);
        }
    }
    let exercised_decisions: BTreeMap<DecisionId, &DecisionCoverage> =
        exercised.decisions.iter().map(|decision| (decision.id, decision)).collect();
    for decision in &mut coverage.decisions {
        if let Some(by_all) = exercised_decisions.get(&decision.id) {
            name_in_decision(decision, by_all, uncounted);
        }
    }
}

fn name_in_decision(
    decision: &mut DecisionCoverage,
    exercised: &DecisionCoverage,
    uncounted: &BTreeSet<TestId>,
) {
    name_each(&mut decision.outcomes, &exercised.outcomes);
    name_each(&mut decision.combinations, &exercised.combinations);
    let counted_vectors: BTreeSet<Values> =
        decision.vectors.iter().map(|vector| vector.values.clone()).collect();
    let exercised_effects: BTreeMap<ConditionId, &ConditionMcdc> =
        exercised.mcdc.iter().map(|effect| (effect.condition, effect)).collect();
    for effect in &mut decision.mcdc {
        let Some(by_all) = exercised_effects.get(&effect.condition) else { continue };
        for (effect, by_all) in [
            (&mut effect.unique_cause, &by_all.unique_cause),
            (&mut effect.masking, &by_all.masking),
        ] {
            if effect.status == Status::Uncovered {
                let showing_tests = tests_behind(by_all, &counted_vectors, exercised);
                let showing_tests = showing_tests.into_iter().filter(|id| uncounted.contains(id));
                effect.uncounted = showing_tests.copied().collect();
            }
        }
    }
}

/// Both lists are of the same kernel under the same configuration.
fn name_each(obligations: &mut [SimpleObligation], exercised: &[SimpleObligation]) {
    let exercised_rows: BTreeMap<ObligationId, &SimpleObligation> =
        exercised.iter().map(|obligation| (obligation.id, obligation)).collect();
    for obligation in obligations.iter_mut().filter(|row| row.status == Status::Uncovered) {
        let by_all = exercised_rows.get(&obligation.id);
        if let Some(by_all) = by_all.filter(|by_all| by_all.status == Status::Covered) {
            obligation.uncounted.clone_from(&by_all.tests);
        }
    }
}

/// The tests behind a pair: its witnesses, and of each vector that does not count by itself every
/// test that recorded it.
fn tests_behind<'a>(
    effect: &'a Independence,
    counted_vectors: &BTreeSet<Values>,
    exercised: &'a DecisionCoverage,
) -> BTreeSet<&'a TestId> {
    let pair = effect.pair.iter().flatten();
    let missing_vectors: BTreeSet<&Values> =
        pair.filter(|values| !counted_vectors.contains(values)).collect();
    let recorded = exercised.vectors.iter().filter(|row| missing_vectors.contains(&row.values));
    let witnesses = effect.shown_by.iter().flatten().map(|witness| &witness.test);
    witnesses.chain(recorded.flat_map(|row| &row.tests)).collect()
}
