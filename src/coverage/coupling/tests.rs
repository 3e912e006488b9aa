//! Obligations of pairs, and what shown pairs make of them.

use super::*;
use std::collections::BTreeSet;
use vkcert_model::access_pair::{AccessPair, Passage, ReadDescriptor, ShownPairs};
use vkcert_model::coupling_summary::CoupledObject;
use vkcert_model::coverage::{KernelCoverage, SimpleObligation, Status};
use vkcert_model::id::TestId;
use vkcert_model::pair_obligation::{CouplingClass, KernelPairs, PairObligation, ShownBy};
use vkcert_model::place::Place;
use vkcert_model::records::{Reach, Records};

fn place(line: u32) -> Place {
    Place {
        file: Some("k.comp".to_owned()),
        line: Some(line),
        column: Some(5),
        function: Some("main".to_owned()),
        instruction: Some(line * 10),
    }
}

/// Source indices are lines here.
fn pair(use_index: u32, passage: Passage) -> AccessPair {
    AccessPair { use_index, descriptor: None, passage }
}

fn through(binding: u32, pair: AccessPair) -> AccessPair {
    AccessPair { descriptor: Some(ReadDescriptor { set: 0, binding }), ..pair }
}

fn located(object: &str, pair: AccessPair) -> LocatedPair {
    let (definition, barrier) = match pair.passage {
        Passage::Host => (None, None),
        Passage::Dispatch { store, .. }
        | Passage::Atomic { store }
        | Passage::Unordered { store } => (Some(place(store)), None),
        Passage::Barrier { store, barrier } => {
            (Some(place(store)), Some(LocatedBarrier { number: 1, place: place(barrier) }))
        }
    };
    LocatedPair {
        pair,
        object: object.to_owned(),
        shown_by: ShownBy::Read,
        reach: Reach::Possible,
        definition,
        use_place: place(pair.use_index),
        barrier,
    }
}

/// A kernel whose host never writes binding 7.
fn kernel_pairs(obligations: &[PairObligation]) -> KernelPairs {
    KernelPairs {
        obligations: obligations.to_vec(),
        unwritten_by_host: BTreeSet::from([ReadDescriptor { set: 0, binding: 7 }]),
        ..KernelPairs::default()
    }
}

const ACROSS: Passage = Passage::Barrier { store: 3, barrier: 4 };

fn assessed(
    obligations: &[PairObligation],
    tests: &[(&str, &[AccessPair])],
) -> Vec<SimpleObligation> {
    let sets: Vec<(TestId, BTreeSet<AccessPair>)> = tests
        .iter()
        .map(|(test, pairs)| (TestId::from(*test), pairs.iter().copied().collect()))
        .collect();
    let counted: Vec<(TestId, &BTreeSet<AccessPair>)> =
        sets.iter().map(|(test, pairs)| (*test, pairs)).collect();
    let kernel_pairs = kernel_pairs(obligations);
    let subject = CouplingSubject { kernel_pairs: &kernel_pairs, place_of: &|index| place(index) };
    assess_coupling(&subject, PairRecords::Kept, &counted)
}

fn told(rows: &[SimpleObligation]) -> Vec<(&str, Status, Vec<&str>)> {
    rows.iter()
        .map(|row| (row.id.as_str(), row.status, row.tests.iter().map(TestId::as_str).collect()))
        .collect()
}

#[test]
fn pairs_of_one_place_and_object_are_one_obligation() {
    let second = AccessPair { descriptor: None, ..pair(9, ACROSS) };
    let mut same_line = located("s[]", pair(10, ACROSS));
    same_line.use_place = Place { instruction: Some(91), ..place(9) };
    let pairs = [located("s[]", second), same_line, located("t", pair(9, ACROSS))];
    let obligations = pair_obligations(&pairs, &SideStructures::default());
    let told: Vec<(String, usize)> =
        obligations.iter().map(|row| (format!("{} {row}", row.id), row.pairs.len())).collect();
    assert_eq!(
        told,
        [
            ("P1 s[]: written at 3:5 -> read at 9:5 across barrier 1".to_owned(), 2),
            ("P2 t: written at 3:5 -> read at 9:5 across barrier 1".to_owned(), 1)
        ]
    );
}

#[test]
fn an_obligation_that_one_of_its_pairs_can_show_is_not_excluded() {
    let mut excluded = located("s[]", pair(9, ACROSS));
    excluded.reach = Reach::Excluded;
    let mut possible = located("s[]", pair(10, ACROSS));
    possible.use_place = place(9);
    let both = pair_obligations(&[excluded.clone(), possible], &SideStructures::default());
    assert_eq!((both.len(), both[0].reach), (1, Reach::Possible));
    let alone = pair_obligations(&[excluded], &SideStructures::default());
    let rows = assessed(&alone, &[]);
    assert!(rows[0].proposal.is_some() && rows[0].status == Status::Uncovered);
}

#[test]
fn tests_that_show_a_pair_cover_its_obligation() {
    let obligations = pair_obligations(
        &[
            located("n", through(1, pair(6, Passage::Host))),
            located("s[]", pair(9, ACROSS)),
            located("m", pair(9, Passage::Atomic { store: 3 })),
        ],
        &SideStructures::default(),
    );
    let rows = assessed(
        &obligations,
        &[
            ("A", &[through(1, pair(6, Passage::Host))]),
            ("B", &[pair(9, ACROSS), through(1, pair(6, Passage::Host))]),
        ],
    );
    assert_eq!(
        told(&rows),
        [
            ("P1", Status::Covered, vec!["A", "B"]),
            ("P2", Status::Covered, vec!["B"]),
            ("P3", Status::Uncovered, vec![])
        ]
    );
    let coverage = KernelCoverage { coupling: Some(rows.clone()), ..KernelCoverage::default() };
    let classes = class_summaries(&kernel_pairs(&obligations), &coverage);
    let counts: Vec<_> =
        classes.iter().map(|row| (row.class, row.counts.covered, row.counts.total)).collect();
    assert_eq!(
        counts,
        [
            (CouplingClass::HostToKernel, 1, 1),
            (CouplingClass::InvocationToInvocation, 1, 1),
            (CouplingClass::Atomic, 0, 1)
        ]
    );
}

#[test]
fn a_pair_of_another_barrier_store_or_descriptor_covers_nothing() {
    let obligations = pair_obligations(
        &[located("s[]", pair(9, ACROSS)), located("a[]", through(1, pair(6, Passage::Host)))],
        &SideStructures::default(),
    );
    let others = [
        pair(9, Passage::Barrier { store: 3, barrier: 5 }),
        pair(9, Passage::Barrier { store: 2, barrier: 4 }),
        pair(9, Passage::Atomic { store: 3 }),
        through(2, pair(6, Passage::Host)),
    ];
    for other in others {
        let rows = assessed(&obligations, &[("A", &[other])]);
        assert_eq!(rows[0].status, Status::Uncovered, "{other:?}");
        assert_eq!(rows[1].status, Status::Uncovered, "{other:?}");
        assert_eq!((rows[2].id.as_str(), rows[2].status), ("PX1", Status::Undetermined));
        assert!(rows[2].reason.as_ref().is_some_and(|reason| reason.starts_with("A showed")));
    }
}

#[test]
fn what_rules_leave_out_makes_no_row() {
    let rows = assessed(
        &[],
        &[(
            "A",
            &[
                pair(9, Passage::Unordered { store: 3 }),
                through(7, pair(6, Passage::Host)),
                pair(6, Passage::Dispatch { kernel: "first".into(), specialization: 0, store: 2 }),
            ],
        )],
    );
    assert!(rows.is_empty(), "{rows:?}");
    // Under one of its configurations, the earlier kernel should have been listed.
    let listed = Passage::Dispatch { kernel: "first".into(), specialization: 1, store: 2 };
    let rows = assessed(&[], &[("A", &[pair(6, listed)])]);
    assert_eq!(told(&rows), [("PX1", Status::Undetermined, vec!["A"])]);
    assert!(rows[0].text.starts_with("written by first -> read at"), "{}", rows[0].text);
}

#[test]
fn what_flags_order_counts_for_atomics_and_never_across_a_barrier() {
    let atomic = located("b[]", pair(9, Passage::Atomic { store: 3 }));
    let shown: &[AccessPair] = &[pair(9, Passage::Unordered { store: 3 })];
    let rows = assessed(
        &pair_obligations(std::slice::from_ref(&atomic), &SideStructures::default()),
        &[("A", shown)],
    );
    assert_eq!(told(&rows), [("P1", Status::Covered, vec!["A"])]);
    let both =
        pair_obligations(&[atomic, located("b[]", pair(9, ACROSS))], &SideStructures::default());
    let rows = assessed(&both, &[("A", shown)]);
    let across = rows.iter().position(|row| row.text.contains("across")).expect("a row");
    assert_eq!(rows[across].status, Status::Uncovered);
    assert_eq!(rows[1 - across].status, Status::Covered);
}

#[test]
fn one_of_several_objects_is_undetermined_until_a_test_tells_which() {
    let obligations = pair_obligations(
        &[
            located("left", through(1, pair(6, Passage::Host))),
            located("right", through(2, pair(6, Passage::Host))),
        ],
        &SideStructures::default(),
    );
    let unclear = pair(6, Passage::Host);
    let rows = assessed(&obligations, &[("A", &[unclear])]);
    assert_eq!(
        told(&rows),
        [("P1", Status::Undetermined, vec![]), ("P2", Status::Undetermined, vec![])]
    );
    let rows = assessed(&obligations, &[("A", &[unclear]), ("B", &[through(2, unclear)])]);
    assert_eq!(
        told(&rows),
        [("P1", Status::Undetermined, vec![]), ("P2", Status::Covered, vec!["B"])]
    );
}

#[test]
fn uses_of_constants_are_shown_by_their_execution() {
    let mut constant = located("STEP", pair(6, Passage::Host));
    constant.shown_by = ShownBy::Execution;
    let obligations = pair_obligations(
        &[constant, located("n", pair(8, Passage::Host))],
        &SideStructures::default(),
    );
    let executed = executed_pairs(&obligations, |index| index < 9);
    assert_eq!(executed, BTreeSet::from([pair(6, Passage::Host)]));
    assert!(executed_pairs(&obligations, |index| index == 8).is_empty());
}

#[test]
fn what_nobody_tells_is_undetermined() {
    let obligations =
        pair_obligations(&[located("s[]", pair(9, ACROSS))], &SideStructures::default());
    let subject = CouplingSubject {
        kernel_pairs: &kernel_pairs(&obligations),
        place_of: &|index| place(index),
    };
    let rows = assess_coupling(&subject, PairRecords::Missing(DEVICE_KEEPS_NO_PAIRS), &[]);
    assert_eq!(rows[0].status, Status::Undetermined);
    assert_eq!(rows[0].reason.as_deref(), Some(DEVICE_KEEPS_NO_PAIRS));
}

/// The same kernel after all of its tests.
fn after_tests(obligations: &[PairObligation], shown: &[AccessPair]) -> KernelPairs {
    let mut pairs = kernel_pairs(obligations);
    let records = Records { pairs: shown_pairs(shown), ..Records::default() };
    pairs.pairs_outside = pairs_outside(&pairs, [&records]);
    let indices = indices_of_pairs(&pairs.pairs_outside).into_iter();
    pairs.places_outside = indices.map(|index| (index, place(index))).collect();
    pairs
}

fn shown_pairs(shown: &[AccessPair]) -> Option<ShownPairs> {
    Some(ShownPairs::Shown(shown.iter().copied().collect()))
}

fn by_tests(kernel_pairs: &KernelPairs, tests: &[(&str, &[AccessPair])]) -> KernelCoverage {
    let records: Vec<(TestId, Records)> = tests
        .iter()
        .map(|(test, shown)| {
            let records = Records { pairs: shown_pairs(shown), ..Records::default() };
            (TestId::from(*test), records)
        })
        .collect();
    let counted: Vec<(TestId, &Records)> =
        records.iter().map(|(test, records)| (*test, records)).collect();
    let rows = assess_kernel_pairs("k.comp", kernel_pairs, PairRecords::Kept, &counted);
    KernelCoverage { coupling: Some(rows), ..KernelCoverage::default() }
}

const LEFT: Passage = Passage::Barrier { store: 1, barrier: 4 };
const RIGHT: Passage = Passage::Barrier { store: 2, barrier: 4 };

#[test]
fn a_pair_outside_keeps_its_number_whichever_tests_are_asked() {
    let (left, right) = (pair(9, LEFT), pair(9, RIGHT));
    let pairs = after_tests(&[], &[left, right, pair(9, Passage::Unordered { store: 7 })]);
    assert_eq!(pairs.pairs_outside, BTreeSet::from([left, right]));
    let rows = by_tests(&pairs, &[("B", &[right])]).coupling.unwrap();
    assert_eq!(told(&rows), [("PX2", Status::Undetermined, vec!["B"])]);
}

#[test]
fn rows_of_pairs_outside_are_matched_by_their_names() {
    let obligations =
        pair_obligations(&[located("s[]", pair(9, ACROSS))], &SideStructures::default());
    let (left, right) = (pair(9, LEFT), pair(9, RIGHT));
    let pairs = after_tests(&obligations, &[left, right]);
    // The first of them only by what may follow an undefined value.
    let full = by_tests(&pairs, &[("A", &[left, pair(9, ACROSS)]), ("B", &[right])]);
    let defined = by_tests(&pairs, &[("A", &[]), ("B", &[right])]);
    let settled = crate::leave_undetermined(defined, full).coupling.unwrap();
    assert_eq!(
        told(&settled),
        [
            ("P1", Status::Undetermined, vec![]),
            ("PX1", Status::Undetermined, vec!["A"]),
            ("PX2", Status::Undetermined, vec!["B"])
        ]
    );
    assert!(settled[0].reason.as_ref().is_some_and(|reason| reason.ends_with("(A)")));
    let by_a = |row: &SimpleObligation| row.text.contains("written at k.comp:1:5");
    assert!(by_a(&settled[1]) && !by_a(&settled[2]), "{settled:?}");
}

#[test]
fn every_row_is_counted_in_one_class_and_object() {
    let obligations = pair_obligations(
        &[
            located("n", pair(6, Passage::Host)),
            located("m", pair(6, Passage::Host)),
            located("n", pair(8, Passage::Host)),
            located("s[]", pair(9, ACROSS)),
        ],
        &SideStructures::default(),
    );
    let pairs = after_tests(&obligations, &[pair(9, LEFT)]);
    let shown: &[AccessPair] = &[pair(6, Passage::Host), pair(9, ACROSS), pair(9, LEFT)];
    let mut coverage = by_tests(&pairs, &[("A", shown)]);
    // What couples by control is counted beside the pairs.
    let barriers = by_tests(&pairs, &[("A", shown)]).coupling.unwrap();
    coverage.calls = Some(barriers[..1].to_vec());
    coverage.barriers = barriers;
    let told: Vec<String> = class_summaries(&pairs, &coverage)
        .iter()
        .flat_map(|class| {
            let of_object = |object: &CoupledObject| {
                let name = object.object.as_deref().unwrap_or("-");
                format!("  {name} {}/{}", object.counts.covered, object.counts.total)
            };
            let counts = class.counts;
            let head = format!("{} {}/{}", class.class.name(), counts.covered, counts.total);
            [head].into_iter().chain(class.objects.iter().map(of_object)).collect::<Vec<_>>()
        })
        .collect();
    let expected = [
        "host-to-kernel 0/3",
        "  m 0/1",
        "  n 0/2",
        "invocation-to-invocation 1/2",
        "  - 0/1",
        "  s[] 1/1",
        "barrier 1/5",
        "call 0/1",
    ];
    assert_eq!(told, expected);
}
