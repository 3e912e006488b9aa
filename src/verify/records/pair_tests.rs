//! Pairs of accesses that no run of the tests could have left.

use crate::honest::{Forgery, assert_told, honest_at_level, verified};
use serde_json::json;
use vkcert_model::access_pair::{AccessPair, Passage, ShownPairs};
use vkcert_model::coverage::Status;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::{PairId, StatementId};
use vkcert_model::pair_obligation::{CouplingClass, KernelPairs};
use vkcert_model::schedule::{DirectedResult, MeasuredCode, Schedule};

const SETTINGS: &str = "level = \"C\"\ncriteria = [\"statement\", \"coupling\"]";

fn host_pair(use_index: u32) -> AccessPair {
    AccessPair { use_index, descriptor: None, passage: Passage::Host }
}

fn shown(pairs: &[AccessPair]) -> Option<ShownPairs> {
    Some(ShownPairs::Shown(pairs.iter().copied().collect()))
}

/// Two values that the host gives.
fn kernel_pairs() -> KernelPairs {
    let obligation = |number: u32, use_index: u32| {
        let place = json!({
            "file": "glsl/guard.comp", "line": 9, "column": 5, "function": "main",
            "instruction": use_index,
        });
        json!({
            "id": format!("P{number}"), "class": "host-to-kernel", "object": "n", "use": place,
            "pairs": [host_pair(use_index)],
        })
    };
    serde_json::from_value(json!({ "obligations": [obligation(1, 20), obligation(2, 30)] }))
        .unwrap()
}

/// The first test shows one of them, the second none.
fn followed() -> Evidence {
    honest_at_level(SETTINGS, |facts| {
        facts.kernels.iter_mut().for_each(|kernel| kernel.pairs = Some(kernel_pairs()));
        facts.kernels[0].records[0].records.pairs = shown(&[host_pair(20)]);
        facts.kernels[0].records[1].records.pairs = shown(&[]);
    })
}

fn statuses(evidence: &Evidence, kernel: usize) -> Vec<Status> {
    let rows = evidence.kernels[kernel].coverage.coupling.as_ref().expect("coupling coverage");
    rows.iter().map(|row| row.status).collect()
}

#[test]
fn coverage_of_coupling_follows_from_pairs() {
    let evidence = followed();
    assert_eq!(verified(&evidence).problems, Vec::<String>::new());
    assert_eq!(statuses(&evidence, 0), [Status::Covered, Status::Uncovered]);
    // A device does not tell who wrote what an invocation reads.
    assert_eq!(statuses(&evidence, 1), [Status::Undetermined; 2]);
}

#[test]
fn forged_pairs_are_told() {
    const PRESENCE: &str =
        "guard on sequential: records of T1: whether pairs of accesses were followed";
    assert_told(
        &followed(),
        &[
            Forgery::new(
                "a pair more",
                |forged| {
                    forged.kernels[0].records[1].records.pairs = shown(&[host_pair(30)]);
                },
                "guard on sequential: coupling coverage",
            ),
            Forgery::new(
                "no pairs",
                |forged| forged.kernels[0].records[0].records.pairs = None,
                PRESENCE,
            ),
            Forgery::new(
                "pairs of a device",
                |forged| forged.kernels[1].records[0].records.pairs = shown(&[host_pair(20)]),
                "guard on vulkan: records of T1: whether pairs of accesses were followed",
            ),
            Forgery::new(
                "pairs of object code",
                |forged| {
                    forged.kernels[0].objects.records[0].records.pairs = shown(&[]);
                },
                "guard on sequential: records of T1: pairs of accesses beside records of object code",
            ),
            Forgery::new(
                "a pair that the kernel does not have",
                |forged| {
                    forged.kernels[0].records[0].records.pairs =
                        shown(&[host_pair(20), host_pair(21)]);
                },
                "guard on sequential: records of T1: a pair of accesses that the kernel does not have",
            ),
            Forgery::new(
                "a pair outside the obligations that no test shows",
                |forged| {
                    let pairs = forged.kernels[0].pairs.as_mut().unwrap();
                    pairs.pairs_outside.insert(host_pair(21));
                    pairs.places_outside.insert(21, Default::default());
                },
                "guard on sequential: pairs of accesses outside the obligations",
            ),
            Forgery::new(
                "a class that counts one more",
                |forged| forged.kernels[0].coverage.coupling_classes[0].counts.covered += 1,
                "guard on sequential: classes of coupling coverage",
            ),
            Forgery::new(
                "a sum of classes that counts one more",
                |forged| forged.campaign.conclusion.coupling_classes[0].counts.covered += 1,
                "coupling by class in the conclusion",
            ),
            Forgery::new(
                "an obligation less",
                |forged| drop(forged.kernels[0].pairs.as_mut().unwrap().obligations.pop()),
                "guard on sequential: coupling coverage",
            ),
        ],
    );
}

/// The same, where the second value is used in a statement that the second test does not enter, and
/// a third obligation is with an earlier dispatch of the kernel itself, which no test has.
fn followed_with_statements() -> Evidence {
    honest_at_level(SETTINGS, |facts| {
        let mut pairs = kernel_pairs();
        pairs.obligations[1].use_place.statement = Some(StatementId(3));
        let mut of_dispatch = pairs.obligations[0].clone();
        of_dispatch.id = PairId(3);
        of_dispatch.class = CouplingClass::KernelToKernel;
        of_dispatch.pairs = vec![earlier_pair()];
        pairs.obligations.push(of_dispatch);
        facts.kernels.iter_mut().for_each(|kernel| kernel.pairs = Some(pairs.clone()));
        facts.kernels[0].records[0].records.pairs = shown(&[host_pair(20), host_pair(30)]);
        facts.kernels[0].records[1].records.pairs = shown(&[]);
    })
}

fn earlier_pair() -> AccessPair {
    let passage = Passage::Dispatch { kernel: "guard".into(), specialization: 1, store: 9 };
    AccessPair { use_index: 20, descriptor: None, passage }
}

#[test]
fn pairs_that_the_records_contradict_are_told() {
    let evidence = followed_with_statements();
    assert_eq!(verified(&evidence).problems, Vec::<String>::new());
    assert_told(
        &evidence,
        &[
            Forgery::new(
                "a pair with a dispatch that the test does not have",
                |forged| {
                    let records = &mut forged.kernels[0].records[0].records;
                    records.pairs = shown(&[host_pair(20), host_pair(30), earlier_pair()]);
                },
                "guard on sequential: records of T1: \
                 a pair of an earlier dispatch that its test does not have",
            ),
            Forgery::new(
                "a use that was not executed",
                |forged| {
                    forged.kernels[0].records[1].records.pairs = shown(&[host_pair(30)]);
                },
                "guard on sequential: records of T2: P2 is shown, and no invocation executed S3",
            ),
            Forgery::new(
                "an obligation of another class than its pairs",
                |forged| {
                    let pairs = forged.kernels[0].pairs.as_mut().unwrap();
                    pairs.obligations[0].class = CouplingClass::Atomic;
                },
                "guard on sequential: the class of P1",
            ),
        ],
    );
}

const ONE_BY_ONE: Schedule = Schedule::ONE_BY_ONE[0];

/// A run with invocations one by one alone has shown the second pair.
fn followed_one_by_one() -> Evidence {
    honest_at_level(SETTINGS, |facts| {
        facts.kernels.iter_mut().for_each(|kernel| kernel.pairs = Some(kernel_pairs()));
        let records = &mut facts.kernels[0].records;
        records[0].records.pairs = shown(&[host_pair(20), host_pair(30)]);
        records[0].records.directed_pairs.insert(ONE_BY_ONE, [host_pair(30)].into());
        records[1].records.pairs = shown(&[]);
        let of = MeasuredCode::Accesses;
        facts.campaign.tests[0].results[0].directed =
            vec![DirectedResult { schedule: ONE_BY_ONE, of, shown: 1, reason: None }];
    })
}

#[test]
fn pairs_of_other_orders_are_told_by_their_test() {
    const NOT_TOLD: &str = "guard on sequential: records of T1: \
                            pairs that a directed schedule has shown, which its test does not tell";
    const OTHER_COUNT: &str = "test T1 on sequential: what a directed schedule has shown \
                               (directed schedule `in-order+tiles:1`: 2 pairs of accesses \
                               that depend on the schedule and that the ordinary one does not show)";
    const OTHER_ORDER: &str = "test T1 on sequential: what a directed schedule has shown \
                               (directed schedule `reversed`: 1 pairs of accesses \
                               that depend on the schedule and that the ordinary one does not show)";
    let evidence = followed_one_by_one();
    assert_eq!(verified(&evidence).problems, Vec::<String>::new());
    assert_eq!(statuses(&evidence, 0), [Status::Covered, Status::Covered]);
    let shown_pairs = |forged: &Evidence| forged.kernels[0].records[0].records.directed_pairs.len();
    assert_eq!(shown_pairs(&evidence), 1);
    fn result(forged: &mut Evidence) -> &mut DirectedResult {
        &mut forged.campaign.tests[0].results[0].directed[0]
    }
    assert_told(
        &evidence,
        &[
            Forgery::new(
                "a pair that was not recorded",
                |forged| {
                    let records = &mut forged.kernels[0].records[0].records;
                    records.directed_pairs.insert(ONE_BY_ONE, [host_pair(31)].into());
                },
                NOT_TOLD,
            ),
            Forgery::new(
                "what does not count",
                |forged| result(forged).reason = Some("why".to_owned()),
                NOT_TOLD,
            ),
            Forgery::new(
                "another schedule",
                |forged| result(forged).schedule = Schedule::ONE_BY_ONE[1],
                NOT_TOLD,
            ),
            Forgery::new("more than was recorded", |forged| result(forged).shown = 2, OTHER_COUNT),
            Forgery::new(
                "an order in which invocations do not run one by one",
                |forged| {
                    let reversed = "reversed".parse().unwrap();
                    result(forged).schedule = reversed;
                    let records = &mut forged.kernels[0].records[0].records;
                    let pairs = records.directed_pairs.remove(&ONE_BY_ONE).unwrap();
                    records.directed_pairs.insert(reversed, pairs);
                },
                OTHER_ORDER,
            ),
            Forgery::new(
                "beside records of object code",
                |forged| {
                    let records = &mut forged.kernels[0].objects.records[0].records;
                    records.directed_pairs.insert(ONE_BY_ONE, [host_pair(30)].into());
                },
                "guard on sequential: records of T1: pairs of accesses beside records of object code",
            ),
        ],
    );
}
