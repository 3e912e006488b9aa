//! What is counted, named and left open of a coverage, list by list, with obligations of all lists
//! in all states.

use super::*;
use crate::undefined::{covered_through_undefined, leave_undetermined};
use crate::{CRITERIA, name_uncounted_tests};
use std::collections::BTreeSet;
use vkcert_model::coverage::{Independence, ObservedVector, SimpleObligation, Witness};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::vector::Outcome;
use vkcert_model::verdict::EngineName;

/// The obligations of each criterion. `D1.T`, `D1.F` and `B2.T` are of two.
pub(super) const OBLIGATIONS: &[(CriterionName, &[&str])] = &[
    (CriterionName::Statement, &["S1", "S2", "S3"]),
    (CriterionName::Branch, &["D1.T", "D1.F", "W1.L1"]),
    (CriterionName::Decision, &["D1.T", "D1.F", "F1.entry", "F1.X1"]),
    (CriterionName::McdcUniqueCause, &["D1.C1.unique-cause", "D1.C2.unique-cause"]),
    (CriterionName::McdcMasking, &["D1.C1.masking", "D1.C2.masking"]),
    (CriterionName::MultipleCondition, &["D1.V.TT", "D1.V.TF", "D1.V.F-"]),
    (CriterionName::ObjectBranch, &["B1.T", "B1.F", "B2.T", "B2.F"]),
    (CriterionName::AdditionalCode, &["B2.T"]),
    (CriterionName::Barrier, &["BAR1", "BAR2"]),
    (CriterionName::Function, &["F1", "F2"]),
    (CriterionName::Call, &["CALL1", "CALL2"]),
    (CriterionName::LoopBoundary, &["LOOP1.zero", "LOOP1.once", "LOOP1.more", "LOOP1.boundary"]),
];

/// What is known of one obligation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub status: Status,
    pub reason: Option<String>,
    /// Of an effect, those of its two witnesses.
    tests: Vec<TestId>,
    uncounted: Vec<TestId>,
}

/// By id.
pub(super) type States = BTreeMap<String, State>;

/// Nothing is covered.
pub(super) fn open_states() -> States {
    let open =
        State { status: Status::Uncovered, reason: None, tests: Vec::new(), uncounted: Vec::new() };
    let ids = OBLIGATIONS.iter().flat_map(|(_, ids)| *ids);
    ids.map(|id| ((*id).to_owned(), open.clone())).collect()
}

/// A coverage with the obligations of all criteria in these states.
pub(super) fn coverage_in(states: &States) -> KernelCoverage {
    let simple = |id: &&str| SimpleObligation {
        id: ObligationId::from(*id),
        file: "k.comp".to_owned(),
        line: 1,
        column: 1,
        text: (*id).to_owned(),
        status: states[*id].status,
        reason: states[*id].reason.clone(),
        tests: states[*id].tests.clone(),
        uncounted: states[*id].uncounted.clone(),
        proposal: None,
        object: None,
    };
    let list = |ids: &[&str]| -> Vec<SimpleObligation> { ids.iter().map(simple).collect() };
    let effect = |condition: &str, form: &str| {
        let state = &states[&format!("{condition}.{form}")];
        let witness = |test: &TestId| Witness { test: *test, invocation: None, directed: None };
        Independence {
            shown_by: match state.tests.as_slice() {
                [one, other] => Some([witness(one), witness(other)]),
                _ => None,
            },
            uncounted: state.uncounted.clone(),
            ..Independence::without_pair(state.status, state.reason.clone(), None)
        }
    };
    let mut coverage = assessed(&structure(), &presence(), &[]);
    let mut decision = coverage.decisions.remove(0);
    decision.outcomes = list(&["D1.T", "D1.F"]);
    decision.combinations = list(&["D1.V.TT", "D1.V.TF", "D1.V.F-"]);
    for mcdc in &mut decision.mcdc {
        let condition = mcdc.condition.to_string();
        mcdc.unique_cause = effect(&condition, "unique-cause");
        mcdc.masking = effect(&condition, "masking");
    }
    KernelCoverage {
        statements: list(&["S1", "S2", "S3"]),
        branches: list(&["D1.T", "D1.F", "W1.L1"]),
        points: list(&["F1.entry", "F1.X1"]),
        decisions: vec![decision],
        objects: list(&["B1.T", "B1.F", "B2.T", "B2.F"]),
        additional: vec!["B2.T".into()],
        barriers: list(&["BAR1", "BAR2"]),
        functions: Some(list(&["F1", "F2"])),
        calls: Some(list(&["CALL1", "CALL2"])),
        loops: Some(list(&["LOOP1.zero", "LOOP1.once", "LOOP1.more", "LOOP1.boundary"])),
        ..coverage
    }
}

/// The states of all obligations; one that stands in two lists has the same state in both.
pub(super) fn states_of(coverage: &KernelCoverage) -> States {
    let mut states = States::new();
    let mut add = |id: String, state: State| {
        let first = states.entry(id).or_insert_with(|| state.clone());
        assert_eq!(*first, state);
    };
    let decision = &coverage.decisions[0];
    let lists = [
        &coverage.statements,
        &coverage.branches,
        &coverage.points,
        &decision.outcomes,
        &decision.combinations,
        &coverage.objects,
        &coverage.barriers,
    ];
    let requested_lists = coverage.requested().into_iter();
    let requested_lists = requested_lists.filter_map(|(_, list)| list.as_ref());
    for item in lists.into_iter().chain(requested_lists).flatten() {
        let SimpleObligation { id, status, reason, tests, uncounted, .. } = item.clone();
        add(id.to_string(), State { status, reason, tests, uncounted });
    }
    for mcdc in &decision.mcdc {
        for (form, effect) in [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)] {
            let Independence { status, shown_by, uncounted, reason, .. } = effect.clone();
            let tests = shown_by.into_iter().flatten().map(|witness| witness.test).collect();
            add(format!("{}.{form}", mcdc.condition), State { status, reason, tests, uncounted });
        }
    }
    states
}

/// Bits that differ from seed to seed and id to id.
fn chance(seed: u64, id: &str) -> u64 {
    id.bytes().fold(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), |bits, byte| {
        let mixed = (bits ^ u64::from(byte)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 29
    })
}

/// Each obligation in a state by chance, what is covered by some of these tests: two, where it is an
/// effect.
fn states_by_chance(seed: u64, tests: &[&str]) -> States {
    let state = |id: &str| {
        let bits = chance(seed, id);
        let status = [Status::Covered, Status::Uncovered, Status::Justified, Status::Undetermined]
            [bits as usize % 4];
        let first = bits as usize / 4 % tests.len();
        let count = if id.contains(".C") { 2 } else { 1 + bits as usize / 64 % 2 };
        let tests = tests.iter().cycle().skip(first).take(count).map(|test| TestId::from(*test));
        State {
            status,
            reason: (status != Status::Covered).then(|| format!("{id} {seed}")),
            tests: if status == Status::Covered { tests.collect() } else { Vec::new() },
            uncounted: Vec::new(),
        }
    };
    let ids = OBLIGATIONS.iter().flat_map(|(_, ids)| *ids);
    ids.map(|id| ((*id).to_owned(), state(id))).collect()
}

#[test]
fn every_criterion_counts_its_own_obligations() {
    for seed in 0..40 {
        let states = states_by_chance(seed, &["T1"]);
        let summaries = crate::criteria::criterion_summaries(&coverage_in(&states));
        assert_eq!(summaries.len(), OBLIGATIONS.len());
        for (summary, (criterion, ids)) in summaries.iter().zip(OBLIGATIONS) {
            let count = |wanted: Status| {
                ids.iter().filter(|id| states[**id].status == wanted).count() as u32
            };
            let expected = CriterionSummary {
                criterion: (*criterion).into(),
                total: ids.len() as u32,
                covered: count(Status::Covered),
                justified: count(Status::Justified),
                uncovered: count(Status::Uncovered),
                undetermined: count(Status::Undetermined),
            };
            assert_eq!(*summary, expected, "seed {seed}");
        }
    }
}

#[test]
fn the_criteria_as_help_texts_and_documents_list_them() {
    let row = |criterion: &&dyn Criterion| {
        let engines = [EngineName::Sequential, EngineName::Vulkan];
        let engines: Vec<String> = engines
            .into_iter()
            .filter(|engine| criterion.is_told_by(*engine))
            .map(|engine| engine.to_string())
            .collect();
        let (name, subject) = (criterion.name(), criterion.subject());
        format!("{name} ({subject:?}, {}): {}", engines.join(" and "), criterion.description())
    };
    insta::assert_snapshot!(CRITERIA.iter().map(row).collect::<Vec<_>>().join("\n"));
    for criterion in CRITERIA {
        let named = crate::criteria::criterion_named(&criterion.criterion().into()).unwrap();
        assert_eq!(named.description(), criterion.description());
    }
    assert!(
        crate::criteria::criterion_named(&StoredCriterion::from("statements".to_owned())).is_none()
    );
}

#[test]
fn tests_that_do_not_count_are_named_where_they_alone_cover() {
    let uncounted: BTreeSet<TestId> = ["U1".into(), "U2".into()].into();
    let mut named = 0;
    for seed in 0..40 {
        let before = states_by_chance(seed, &["T1"]);
        let exercised = states_by_chance(seed + 1_000, &["T1", "U1", "U2"]);
        let mut coverage = coverage_in(&before);
        name_uncounted_tests(&mut coverage, &coverage_in(&exercised), &uncounted);
        let mut expected = before.clone();
        for (id, state) in &mut expected {
            let by_all = &exercised[id];
            if state.status == Status::Uncovered && by_all.status == Status::Covered {
                state.uncounted = by_all.tests.clone();
                if id.contains(".C") {
                    // One vector of a pair may be that of a test that counts.
                    state.uncounted.retain(|test| uncounted.contains(test));
                    state.uncounted.sort();
                    state.uncounted.dedup();
                }
                named += state.uncounted.len();
            }
        }
        assert_eq!(states_of(&coverage), expected, "seed {seed}");
    }
    assert!(named > 50, "{named}");
}

#[test]
fn every_test_that_records_a_vector_is_named_not_its_witness_alone() {
    let observed = |values: &str, tests: &[&str]| ObservedVector {
        values: values.parse().unwrap(),
        outcome: Outcome::True,
        tests: tests.iter().map(|id| TestId::from(*id)).collect(),
        witness: None,
        witnesses: Vec::new(),
        directed: Vec::new(),
        undefined: false,
    };
    let mut coverage = coverage_in(&states_by_chance(0, &["T1"]));
    let mut exercised = coverage.clone();
    coverage.decisions[0].mcdc[0].masking.status = Status::Uncovered;
    coverage.decisions[0].vectors = vec![observed("F-", &["T1"])];
    exercised.decisions[0].vectors =
        vec![observed("F-", &["T1", "U3"]), observed("TT", &["U1", "U2"])];
    let shown = &mut exercised.decisions[0].mcdc[0].masking;
    shown.status = Status::Covered;
    shown.pair = Some(["F-".parse().unwrap(), "TT".parse().unwrap()]);
    shown.shown_by =
        Some(["T1", "U1"].map(|id| Witness { test: id.into(), invocation: None, directed: None }));
    let uncounted: BTreeSet<TestId> = ["U1".into(), "U2".into(), "U3".into()].into();
    name_uncounted_tests(&mut coverage, &exercised, &uncounted);
    let named = &coverage.decisions[0].mcdc[0].masking.uncounted;
    assert_eq!(named, &[TestId::from("U1"), TestId::from("U2")], "U3 recorded what counts anyway");
}

#[test]
fn what_undefined_values_alone_cover_is_undetermined() {
    let reason =
        |names: &str| format!("covered only through what may follow an undefined value ({names})");
    for seed in 0..40 {
        let defined = states_by_chance(seed, &["T1"]);
        let all = states_by_chance(seed + 1_000, &["T2", "T1", "T3"]);
        let mut expected = States::new();
        let mut through_undefined: BTreeSet<&str> = BTreeSet::new();
        for (id, state) in &defined {
            let by_all = &all[id];
            let settled = match (state.status, by_all.status) {
                (Status::Covered, Status::Covered) => state.clone(),
                (_, Status::Covered) => {
                    through_undefined.insert(id);
                    let tests: BTreeSet<&str> = by_all.tests.iter().map(TestId::as_str).collect();
                    let names = tests.into_iter().collect::<Vec<_>>().join(", ");
                    let (status, reason) = (Status::Undetermined, Some(reason(&names)));
                    State { status, reason, ..state.clone() }
                }
                (_, _) => by_all.clone(),
            };
            expected.insert(id.clone(), settled);
        }
        let coverage = leave_undetermined(coverage_in(&defined), coverage_in(&all));
        assert_eq!(states_of(&coverage), expected, "seed {seed}");
        let counted = |criteria: &[CriterionName]| {
            let ids = OBLIGATIONS.iter().filter(|(criterion, _)| criteria.contains(criterion));
            let ids = ids.flat_map(|(_, ids)| *ids).filter(|id| through_undefined.contains(**id));
            // An effect counts once, whichever form asks for it.
            let ids =
                ids.map(|id| id.trim_end_matches(".unique-cause").trim_end_matches(".masking"));
            ids.collect::<BTreeSet<_>>().len()
        };
        for (criterion, _) in OBLIGATIONS {
            let found = covered_through_undefined(&coverage, &[*criterion]);
            assert_eq!(found, counted(&[*criterion]), "{criterion:?} of seed {seed}");
        }
        let everything: Vec<CriterionName> = OBLIGATIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(covered_through_undefined(&coverage, &everything), counted(&everything));
        assert_eq!(covered_through_undefined(&coverage, &[]), 0);
    }
}

#[test]
fn vectors_of_undefined_values_stay_listed_and_marked() {
    let seen = |tests: &[&[(u32, &str)]]| assessed(&structure(), &presence(), tests);
    let all = seen(&[&[(1, "TT"), (1, "F-")], &[(1, "TF"), (1, "F-")]]);
    let listed = |coverage: &KernelCoverage| -> Vec<(String, bool)> {
        let vectors = coverage.decisions[0].vectors.iter();
        vectors.map(|vector| (vector.values.to_string(), vector.undefined)).collect()
    };
    let expected = |rows: &[(&str, bool)]| -> Vec<(String, bool)> {
        rows.iter().map(|(values, undefined)| ((*values).to_owned(), *undefined)).collect()
    };
    let coverage = leave_undetermined(seen(&[&[(1, "TT")]]), all.clone());
    assert_eq!(listed(&coverage), expected(&[("TT", false), ("TF", true), ("F-", true)]));
    let coverage = leave_undetermined(seen(&[&[(1, "TF")]]), all.clone());
    assert_eq!(listed(&coverage), expected(&[("TT", true), ("TF", false), ("F-", true)]));
    assert_eq!(listed(&leave_undetermined(all.clone(), all.clone())), listed(&all));
}

#[test]
fn what_records_show_refutes_a_claim() {
    let shown = |tests: &[&[(u32, &str)]]| {
        let coverage = assessed(&structure(), &presence(), tests);
        crate::justification::ShownObligations::from_coverage(&coverage)
    };
    let told = |tests: &[&[(u32, &str)]], id: &str| {
        shown(tests).refuting_sentence(&id.into(), EngineName::Sequential)
    };
    let tests: &[&[(u32, &str)]] = &[&[(1, "TT"), (2, "F")], &[(1, "TF"), (2, "F")]];
    for (id, names) in [
        ("D1.T", Some("TC-1")),
        ("D1.F", Some("TC-2")),
        ("S1", Some("TC-1 and TC-2")),
        ("S4", Some("TC-1")),
        ("F2.entry", Some("TC-1 and TC-2")),
        ("D1.V.TF", Some("TC-2")),
        ("D1.C2.masking", Some("TC-1 and TC-2")),
        ("D1.C2.unique-cause", Some("TC-1 and TC-2")),
        ("D1.C1.masking", None),
        ("S3", None),
        ("D2.T", None),
        ("D1.V.F-", None),
    ] {
        let sentence = names.map(|names| format!("the records of {names} on sequential show {id}"));
        assert_eq!(told(tests, id), sentence, "{id}");
    }
    // Both vectors of a pair from one test: it is named once.
    let sentence = "the records of TC-1 on sequential show D1.C1.unique-cause";
    assert_eq!(told(&[&[(1, "TT"), (1, "F-")]], "D1.C1.unique-cause").as_deref(), Some(sentence));
}
