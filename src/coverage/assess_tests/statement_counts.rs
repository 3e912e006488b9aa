//! Counts of invocations per statement under a configuration that fixes part of a decision.

use super::resolution::resolved;
use super::*;
use crate::assess::{CountedDispatch, counts_contradiction, statement_counts};
use vkcert_model::invocations::DispatchInvocations;
use vkcert_model::metric::StatementCounts;

/// One condition of the guard fixed at a value; nothing else is.
fn with_fixed_condition(condition: u32, value: bool) -> (Presence, Configuration) {
    let (_, configuration) = resolved();
    let mut presence = presence();
    let role = MarkerRole::Condition { decision: DecisionId(1), condition };
    let marker = presence.markers.values_mut().find(|marker| marker.role == role).unwrap();
    (marker.value, marker.constants, marker.constness) =
        (Some(value), vec![3], Constness::Specialization);
    (presence, configuration)
}

/// Two branches in which nothing else is recorded, so that the outcome alone tells which one ran.
fn branches() -> KernelStructure {
    let mut structure = structure();
    let branch = |id: u32, of: &str| Box::new(statement(id, of, StatementKind::Simple));
    let kind = StatementKind::If {
        decision: DecisionId(1),
        then: branch(2, "r += a[i];"),
        otherwise: Some(branch(3, "result[x] = r;")),
    };
    structure.functions[1].body = Block(vec![statement(1, "if (x < k && y < m)", kind)]);
    structure
}

/// Counts of one dispatch, whose invocations each showed these vectors, and what contradicts them.
fn counted_under(
    (presence, configuration): &(Presence, Configuration),
    shown_by_rank: &[&[(u32, &str)]],
) -> (StatementCounts, Option<String>) {
    let structure = branches();
    let layout = layout(&structure);
    let mut recorded_by = DispatchInvocations::default();
    for (shown, rank) in shown_by_rank.iter().zip(0..) {
        for bit in records(&layout, shown).bits() {
            recorded_by.by_bit.entry(bit).or_default().insert(rank);
        }
    }
    let subject = CoverageSubject {
        structure: &structure,
        layout: &layout,
        presence,
        configuration,
        proposing: ProposalRules::Current,
    };
    let of_test = records(&layout, &shown_by_rank.concat());
    let invocation_count = shown_by_rank.len() as u64;
    let dispatch = CountedDispatch { recorded_by: &recorded_by, invocation_count };
    let counts = statement_counts(&subject, TestId::from("TC-1"), &of_test, &[dispatch]);
    let contradiction = counts_contradiction(&subject, &of_test, &counts);
    (counts, contradiction)
}

/// Counts of the statements in order, of which none is left out.
fn counted(dispatched: u64, counts: [u64; 3]) -> (StatementCounts, Option<String>) {
    let executed = (1..).map(StatementId).zip(counts).collect();
    (StatementCounts::Counted { dispatched, executed }, None)
}

#[test]
fn an_outcome_stands_for_the_vectors_that_were_recorded() {
    let (entered, first_fails, second_fails) = ([(1, "TT")], [(1, "F-")], [(1, "TF")]);
    // TF, the first vector with this outcome, cannot occur: with `x < k` never true it leaves one
    // outcome, with `y < m` always true there are both.
    let never_first = with_fixed_condition(0, false);
    let counts = counted_under(&never_first, &[&first_fails, &first_fails]);
    assert_eq!(counts, counted(2, [2, 0, 2]));
    let always_second = with_fixed_condition(1, true);
    let counts = counted_under(&always_second, &[&first_fails, &entered, &first_fails]);
    assert_eq!(counts, counted(3, [3, 1, 2]));
    // F- is the one that cannot.
    let always_first = with_fixed_condition(0, true);
    let counts = counted_under(&always_first, &[&second_fails, &entered, &second_fails]);
    assert_eq!(counts, counted(3, [3, 1, 2]));
    // Nothing is fixed: both vectors with the outcome are recorded.
    let nothing = (presence(), Configuration::default());
    let counts = counted_under(&nothing, &[&second_fails, &first_fails, &entered]);
    assert_eq!(counts, counted(3, [3, 1, 2]));
}

#[test]
fn what_is_unknown_of_the_test_is_not_counted_of_its_invocations() {
    let mut structure = structure();
    structure.decisions[1].recording =
        Recording::Unmarked { reason: "constant-expression context".to_owned() };
    let layout = layout(&structure);
    let of_test = records(&layout, &[(1, "TT")]);
    let mut recorded_by = DispatchInvocations::default();
    of_test.bits().for_each(|bit| recorded_by.by_bit.entry(bit).or_default().insert(0));
    let (presence, configuration) = (presence(), Configuration::default());
    let subject = CoverageSubject {
        structure: &structure,
        layout: &layout,
        presence: &presence,
        configuration: &configuration,
        proposing: ProposalRules::Current,
    };
    let dispatch = CountedDispatch { recorded_by: &recorded_by, invocation_count: 1 };
    let counts = statement_counts(&subject, TestId::from("TC-1"), &of_test, &[dispatch]);
    assert_eq!(counts_contradiction(&subject, &of_test, &counts), None, "{counts:?}");
    // The body of the loop may or may not have run.
    let executed = [(1, 1), (2, 1), (4, 1)].map(|(id, count)| (StatementId(id), count)).into();
    assert_eq!(counts, StatementCounts::Counted { dispatched: 1, executed });
}
