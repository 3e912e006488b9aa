//! Records, results and findings that no run of the tests could have left.

use super::{check_bounds, decides_alone};
use crate::Verification;
use crate::honest::{Forgery, assert_told, finding, honest, honest_with, result_of};
use std::collections::BTreeMap;
use vkcert_derivation::agreement::derive_agreement;
use vkcert_model::evidence::{
    Agreement, Evidence, SpecializedConstant, TestEvidence, TestRecords, TestResult, TouchedBuffer,
};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::TestId;
use vkcert_model::place::Place;
use vkcert_model::records::Records;
use vkcert_model::schedule::{DirectedResult, MeasuredCode, Schedule};
use vkcert_model::verdict::{EngineName, Verdict};

/// What the first test recorded of source code on the sequential engine.
fn records(evidence: &mut Evidence) -> &mut Records {
    &mut evidence.kernels[0].records[0].records
}

/// What it recorded of object code.
fn object_records(evidence: &mut Evidence) -> &mut Records {
    &mut evidence.kernels[0].objects.records[0].records
}

fn first_result(evidence: &mut Evidence) -> &mut TestResult {
    result_of(evidence, 0, EngineName::Sequential)
}

fn bounds_exceeded(evidence: &Evidence) -> Vec<String> {
    let mut verification = Verification::default();
    check_bounds(evidence, &mut verification);
    verification.problems
}

#[test]
fn records_hold_what_the_layout_has_and_no_more() {
    const OTHER_WITNESSES: &str =
        "guard on sequential: records of T1: witnesses of other bits than were recorded";
    assert_told(
        &honest(),
        &[
            Forgery::new(
                "no entry",
                |forged| {
                    records(forged).words[0] &= !1;
                    records(forged).witnesses.remove(&0);
                },
                "guard on sequential: records of T1: the entry point was not entered",
            ),
            Forgery::new(
                "a word more",
                |forged| records(forged).words.push(0),
                "guard on sequential: records of T1: another number of words than the layout has",
            ),
            Forgery::new(
                "a word less",
                |forged| object_records(forged).words.clear(),
                "guard on sequential: records of T1: another number of words than the layout has",
            ),
            Forgery::new(
                "a bit behind the layout",
                |forged| forged.kernels[1].records[1].records.words[0] |= 1 << 4,
                "guard on vulkan: records of T2: a bit that stands for nothing",
            ),
            Forgery::new(
                "a bit behind the outcomes of branches",
                |forged| forged.kernels[1].objects.records[1].records.words[0] |= 1 << 4,
                "guard on vulkan: records of T2: a bit that stands for nothing",
            ),
            Forgery::new(
                "a witness left out",
                |forged| {
                    records(forged).witnesses.remove(&3);
                },
                OTHER_WITNESSES,
            ),
            Forgery::new(
                "all witnesses left out",
                |forged| records(forged).witnesses.clear(),
                OTHER_WITNESSES,
            ),
            Forgery::new(
                "a witness of a bit that was not recorded",
                |forged| {
                    object_records(forged).witnesses.insert(4, [0; 3]);
                },
                OTHER_WITNESSES,
            ),
            Forgery::new(
                "a witness of one bit alone on a device",
                |forged| {
                    forged.kernels[1].records[0].records.witnesses.insert(0, [0; 3]);
                },
                "guard on vulkan: records of T1: witnesses of other bits than were recorded",
            ),
            Forgery::new(
                "a witness behind the dispatch",
                |forged| {
                    records(forged).witnesses.insert(3, [4, 0, 0]);
                },
                "guard on sequential: records of T1: \
                 a witness that is none of the test's invocations",
            ),
            Forgery::new(
                "a witness beside the dispatch",
                |forged| {
                    object_records(forged).witnesses.insert(3, [0, 0, 1]);
                },
                "guard on sequential: records of T1: \
                 a witness that is none of the test's invocations",
            ),
            Forgery::new(
                "a barrier",
                |forged| {
                    records(forged).barriers.insert(1, 1);
                },
                "guard on sequential: records of T1: a barrier that the kernel does not have",
            ),
        ],
    );
}

#[test]
fn a_device_names_all_witnesses_or_none() {
    let named = honest_with(|facts| {
        let witnesses = records(facts).witnesses.clone();
        facts.kernels[1].records[0].records.witnesses = witnesses;
    });
    assert_eq!(bounds_exceeded(&named), Vec::<String>::new());
}

#[test]
fn records_may_have_several_words() {
    let mut wide = honest();
    for kernel in &mut wide.kernels {
        kernel.objects.structure.bits = 65;
        kernel.objects.records.iter_mut().for_each(|row| row.records.words.extend([0, 0]));
    }
    assert_eq!(bounds_exceeded(&wide), Vec::<String>::new());
    object_records(&mut wide).words[2] = 1;
    let told = "guard on sequential: records of T1: witnesses of other bits than were recorded";
    assert_eq!(bounds_exceeded(&wide), [told]);
}

#[test]
fn each_test_has_the_invocations_of_its_own_dispatches() {
    let mut evidence = honest();
    evidence.campaign.tests[1].definition.dispatches[0].groups = [2, 3, 1];
    evidence.kernels[0].records[1].records.witnesses.insert(0, [7, 2, 0]);
    assert_eq!(bounds_exceeded(&evidence), Vec::<String>::new());
    records(&mut evidence).witnesses.insert(0, [7, 2, 0]);
    let told = "guard on sequential: records of T1: \
                a witness that is none of the test's invocations";
    assert_eq!(bounds_exceeded(&evidence), [told]);
}

/// The first test tells of an undefined value, and one of its bits may follow it.
fn with_undefined() -> Evidence {
    honest_with(|facts| {
        let undefined = finding(FindingKind::UndefinedValue);
        first_result(facts).findings.push(undefined);
        records(facts).undefined.insert(2);
        records(facts).undefined_barriers.insert(0);
    })
}

#[test]
fn what_follows_an_undefined_value_was_recorded_and_is_told() {
    const NOT_TOLD: &str = "guard on sequential: records of T1: \
                            what may follow an undefined value, of which the test does not tell";
    assert_told(
        &with_undefined(),
        &[
            Forgery::new(
                "a bit that was not recorded",
                |forged| {
                    records(forged).undefined.insert(9);
                },
                NOT_TOLD,
            ),
            Forgery::new(
                "a barrier that was not recorded",
                |forged| {
                    records(forged).undefined_barriers.insert(1);
                },
                NOT_TOLD,
            ),
            Forgery::new(
                "the finding left out",
                |forged| first_result(forged).findings.clear(),
                NOT_TOLD,
            ),
            Forgery::new(
                "another test",
                |forged| {
                    forged.kernels[0].records[1].records.undefined.insert(2);
                },
                "guard on sequential: records of T2: \
                 what may follow an undefined value, of which the test does not tell",
            ),
            Forgery::new(
                "object code",
                |forged| {
                    object_records(forged).undefined.insert(9);
                },
                NOT_TOLD,
            ),
        ],
    );
}

#[test]
fn a_pass_that_rests_on_an_undefined_value_tells_of_it() {
    fn resting(facts: &mut Evidence) {
        first_result(facts).findings.push(finding(FindingKind::UndefinedValue));
        first_result(facts).rests_on_undefined = true;
    }
    assert_told(
        &honest_with(resting),
        &[
            Forgery::new(
                "the finding left out",
                |forged| first_result(forged).findings.clear(),
                "test T1 on sequential: it passes by an undefined value, of which it does not tell",
            ),
            Forgery::new(
                "a test that fails",
                |forged| first_result(forged).verdict = Verdict::Fail,
                "test T1 on sequential: it passes by an undefined value, of which it does not tell",
            ),
            Forgery::new(
                "a device, which tells of no values",
                |forged| result_of(forged, 0, EngineName::Vulkan).rests_on_undefined = true,
                "test T1 on vulkan: it passes by an undefined value, of which it does not tell",
            ),
        ],
    );
}

const WAITERS_FIRST: Schedule = Schedule::waiters_first(vkcert_model::schedule::Order::InOrder);

/// The first test ran with who waits first, which alone has shown a vector and an outcome.
fn with_directed() -> Evidence {
    honest_with(|facts| {
        let directed = |of| DirectedResult { schedule: WAITERS_FIRST, of, shown: 1, reason: None };
        first_result(facts).directed =
            [MeasuredCode::Source, MeasuredCode::Object].map(directed).into();
        records(facts).directed.insert(3, WAITERS_FIRST);
        object_records(facts).directed.insert(2, WAITERS_FIRST);
    })
}

fn reversed() -> Schedule {
    "reversed+waiters-first".parse().unwrap()
}

#[test]
fn what_a_directed_schedule_has_shown_is_told_by_its_test() {
    const NOT_TOLD: &str = "guard on sequential: records of T1: \
                            what a directed schedule has shown, which its test does not tell";
    const OTHER_COUNT: &str = "test T1 on sequential: what a directed schedule has shown \
                               (directed schedule `in-order+waiters-first`: ";
    let sources = " vectors and marks that depend on the schedule \
                   and that the ordinary one does not show)";
    let evidence = with_directed();
    assert_told(
        &evidence,
        &[
            Forgery::new(
                "a bit that was not recorded",
                |forged| {
                    records(forged).directed.insert(9, WAITERS_FIRST);
                },
                NOT_TOLD,
            ),
            Forgery::new(
                "a schedule of which the test does not tell",
                |forged| {
                    records(forged).directed.insert(3, reversed());
                },
                NOT_TOLD,
            ),
            Forgery::new(
                "a schedule of which the test tells that it does not count",
                |forged| first_result(forged).directed[0].reason = Some("why".to_owned()),
                NOT_TOLD,
            ),
            Forgery::new(
                "source code as object code",
                |forged| first_result(forged).directed[0].of = MeasuredCode::Object,
                NOT_TOLD,
            ),
            Forgery::new(
                "object code of which the test does not tell",
                |forged| first_result(forged).directed.truncate(1),
                NOT_TOLD,
            ),
            Forgery::new(
                "another test",
                |forged| {
                    forged.kernels[0].records[1].records.directed.insert(3, WAITERS_FIRST);
                },
                "guard on sequential: records of T2: \
                 what a directed schedule has shown, which its test does not tell",
            ),
            Forgery::new(
                "a device",
                |forged| {
                    forged.kernels[1].records[0].records.directed.insert(3, WAITERS_FIRST);
                },
                "guard on vulkan: records of T1: \
                 what a directed schedule has shown, which its test does not tell",
            ),
            Forgery::new(
                "one schedule twice",
                |forged| {
                    let directed = &mut first_result(forged).directed;
                    directed[1] = directed[0].clone();
                },
                "test T1 on sequential: its directed schedules are out of order",
            ),
            Forgery::new(
                "object code first",
                |forged| first_result(forged).directed.reverse(),
                "test T1 on sequential: its directed schedules are out of order",
            ),
        ],
    );
    // What the test tells, and whether it can be so.
    type Change = fn(&mut Evidence);
    let told: [(&str, Change); 9] = [
        ("more than was recorded", |forged| first_result(forged).directed[0].shown = 2),
        ("less than was recorded", |forged| first_result(forged).directed[0].shown = 0),
        ("a count of object code", |forged| first_result(forged).directed[1].shown = 2),
        ("records left out", |forged| records(forged).directed.clear()),
        ("what does not count", |forged| {
            first_result(forged).directed[0].reason = Some("why".to_owned());
        }),
        ("an ordinary schedule", |forged| {
            let ordinary = "reversed".parse().unwrap();
            first_result(forged).directed[0].schedule = ordinary;
            records(forged).directed.insert(3, ordinary);
        }),
        ("a test that failed", |forged| first_result(forged).verdict = Verdict::Fail),
        ("a test in another schedule", |forged| first_result(forged).schedule = Some(reversed())),
        ("a device", |forged| {
            let directed = first_result(forged).directed.clone();
            first_result(forged).directed.clear();
            result_of(forged, 0, EngineName::Vulkan).directed = directed;
            forged.kernels[1].records[0].records.directed.insert(3, WAITERS_FIRST);
            forged.kernels[1].objects.records[0].records.directed.insert(2, WAITERS_FIRST);
        }),
    ];
    for (name, forge) in told {
        let mut forged = evidence.clone();
        forge(&mut forged);
        let problems = bounds_exceeded(&forged);
        let is_told = |problem: &String| {
            problem.contains(": what a directed schedule has shown (directed schedule `")
        };
        assert!(problems.iter().any(is_told), "{name}: {problems:#?}");
    }
    let mut forged = evidence;
    first_result(&mut forged).directed[0].shown = 2;
    assert_eq!(bounds_exceeded(&forged), [format!("{OTHER_COUNT}2{sources}")]);
}

/// Records under a specialization that no configuration has are not stored.
#[test]
fn a_directed_schedule_may_have_shown_more_where_a_dispatch_has_no_configuration() {
    let mut evidence = with_directed();
    first_result(&mut evidence).directed[0].shown = 2;
    let constant = SpecializedConstant {
        id: 0,
        name: None,
        type_name: "uint32".to_owned(),
        value: "1".to_owned(),
        bits: "0x1".to_owned(),
        default: false,
    };
    for kernel in &mut evidence.kernels {
        kernel.configuration.specialization.push(constant.clone());
    }
    assert_eq!(bounds_exceeded(&evidence), Vec::<String>::new());
    // Never less than what is stored.
    first_result(&mut evidence).directed[0].shown = 0;
    assert_eq!(bounds_exceeded(&evidence).len(), 1);
}

#[test]
fn races_are_looked_for_on_the_sequential_engine_alone() {
    assert_told(
        &honest(),
        &[
            Forgery::new(
                "no scope of races",
                |forged| first_result(forged).race_scope = None,
                "test T1 on sequential: whether its races are those of every schedule",
            ),
            Forgery::new(
                "a scope of races on a device",
                |forged| {
                    let scope = first_result(forged).race_scope;
                    result_of(forged, 0, EngineName::Vulkan).race_scope = scope;
                },
                "test T1 on vulkan: whether its races are those of every schedule",
            ),
            Forgery::new(
                "races as if they had not been looked for",
                |forged| forged.campaign.not_looked_for.push(FindingKind::DataRace),
                "test T1 on sequential: whether its races are those of every schedule",
            ),
        ],
    );
    let mut without_races = honest();
    without_races.campaign.not_looked_for.push(FindingKind::DataRace);
    for test in &mut without_races.campaign.tests {
        test.results.iter_mut().for_each(|result| result.race_scope = None);
    }
    assert_eq!(bounds_exceeded(&without_races), Vec::<String>::new());
}

/// Older evidence holds neither inputs nor what came with them.
#[test]
fn evidence_without_inputs_may_lack_what_was_accessed() {
    let mut older = honest();
    older.inputs = None;
    for test in &mut older.campaign.tests {
        for result in &mut test.results {
            (result.race_scope, result.repetitions) = (None, 0);
            result.touched.clear();
        }
    }
    assert_eq!(bounds_exceeded(&older), Vec::<String>::new());
}

#[test]
fn accesses_are_to_what_each_dispatch_binds() {
    const OTHER_BINDINGS: &str = "test T1 on sequential: what it accessed is not what is bound";
    assert_told(
        &honest(),
        &[
            Forgery::new(
                "a dispatch left out",
                |forged| first_result(forged).touched.clear(),
                "test T1 on sequential: what it accessed, per dispatch",
            ),
            Forgery::new(
                "accesses on a device",
                |forged| {
                    let touched = first_result(forged).touched.clone();
                    result_of(forged, 0, EngineName::Vulkan).touched = touched;
                },
                "test T1 on vulkan: what it accessed, per dispatch",
            ),
            Forgery::new(
                "a binding that there is none of",
                |forged| {
                    let touched = TouchedBuffer { set: 0, binding: 2, bytes: 4 };
                    first_result(forged).touched[0].push(touched);
                },
                OTHER_BINDINGS,
            ),
            Forgery::new(
                "a binding of another set",
                |forged| first_result(forged).touched[0][1].set = 1,
                OTHER_BINDINGS,
            ),
            Forgery::new(
                "bindings out of order",
                |forged| first_result(forged).touched[0].reverse(),
                OTHER_BINDINGS,
            ),
            Forgery::new(
                "a binding twice",
                |forged| first_result(forged).touched[0][1].binding = 0,
                OTHER_BINDINGS,
            ),
        ],
    );
}

#[test]
fn all_tests_of_an_engine_are_started_equally_often() {
    assert_told(
        &honest(),
        &[
            Forgery::new(
                "one test less often",
                |forged| result_of(forged, 1, EngineName::Vulkan).repetitions = 2,
                "tests on vulkan were not started equally often",
            ),
            Forgery::new(
                "all tests never",
                |forged| {
                    for test in [0, 1] {
                        result_of(forged, test, EngineName::Sequential).repetitions = 0;
                    }
                },
                "tests on sequential were not started equally often",
            ),
        ],
    );
    let mut ended_early = honest();
    let result = result_of(&mut ended_early, 1, EngineName::Vulkan);
    (result.verdict, result.repetitions) = (Verdict::Timeout, 1);
    assert_eq!(bounds_exceeded(&ended_early), Vec::<String>::new());
}

/// Repetitions, the one that decided, the verdict, and whether they go together.
#[test]
fn a_repetition_decides_among_several_and_against_a_pass() {
    let mut evidence = honest();
    for (repetitions, deciding, verdict, goes_together) in [
        (3, None, Verdict::Pass, true),
        (3, Some(1), Verdict::Fail, true),
        (3, Some(3), Verdict::Timeout, true),
        (2, Some(2), Verdict::Fail, true),
        (3, Some(0), Verdict::Fail, false),
        (3, Some(4), Verdict::Fail, false),
        (3, Some(1), Verdict::Pass, false),
        (1, Some(1), Verdict::Fail, false),
    ] {
        let result = TestResult {
            repetitions,
            deciding_repetition: deciding,
            verdict,
            ..first_result(&mut evidence).clone()
        };
        let name = format!("{deciding:?} of {repetitions}: {verdict}");
        assert_eq!(decides_alone(&result), goes_together, "{name}");
    }
    assert_told(
        &evidence,
        &[Forgery::new(
            "a repetition that gave a pass",
            |forged| result_of(forged, 0, EngineName::Vulkan).deciding_repetition = Some(2),
            "test T1 on vulkan: which of its repetitions gave the verdict",
        )],
    );
}

/// Findings of every order: two kinds, two kernels.
fn with_findings() -> Evidence {
    honest_with(|facts| {
        let place = Place { file: Some("f".to_owned()), ..Place::default() };
        let mut race = finding(FindingKind::DataRace);
        (race.place, race.other_place) = (Some(place.clone()), Some(place));
        race.invocations.push([3, 0, 0]);
        let mut of_test = finding(FindingKind::OutOfBounds);
        of_test.kernel = None;
        let read = finding(FindingKind::OutOfBounds);
        first_result(facts).findings = vec![race, of_test, read];
    })
}

#[test]
fn findings_are_in_order_and_of_invocations_that_ran() {
    assert_told(
        &with_findings(),
        &[
            Forgery::new(
                "out of order",
                |forged| first_result(forged).findings.swap(0, 1),
                "test T1 on sequential: its findings are out of order",
            ),
            Forgery::new(
                "one finding twice",
                |forged| {
                    let findings = &mut first_result(forged).findings;
                    findings[1].kernel = findings[2].kernel;
                },
                "test T1 on sequential: a finding out-of-bounds stands twice",
            ),
            Forgery::new(
                "a finding that did not occur",
                |forged| first_result(forged).findings[0].count = 0,
                "test T1 on sequential: a finding data-race that did not occur",
            ),
            Forgery::new(
                "an invocation behind the dispatch",
                |forged| first_result(forged).findings[0].invocations[1] = [4, 0, 0],
                "test T1 on sequential: a finding data-race of invocations that there are none of",
            ),
            Forgery::new(
                "an invocation of a kernel that the test does not dispatch",
                |forged| first_result(forged).findings[0].kernel = Some("other".into()),
                "test T1 on sequential: a finding data-race of invocations that there are none of",
            ),
            Forgery::new(
                "more invocations than places",
                |forged| first_result(forged).findings[0].invocations.push([1, 0, 0]),
                "test T1 on sequential: a finding data-race of invocations that there are none of",
            ),
        ],
    );
}

#[test]
fn findings_alike_are_of_other_configurations() {
    let mut evidence = honest();
    let mut findings = [None, Some("N=1"), Some("N=2")].map(|name| {
        let mut race = finding(FindingKind::DataRace);
        race.configuration = name.map(str::to_owned);
        race
    });
    first_result(&mut evidence).findings = findings.to_vec();
    assert_eq!(bounds_exceeded(&evidence), Vec::<String>::new());
    findings[2].configuration = None;
    first_result(&mut evidence).findings = findings.to_vec();
    let told = "test T1 on sequential: a finding data-race stands twice";
    assert_eq!(bounds_exceeded(&evidence), [told]);
}

#[test]
fn an_invocation_lies_within_a_dispatch_on_each_axis() {
    let extents = [[4, 1, 1], [1, 2, 3]];
    let inside: BTreeMap<[u32; 3], bool> = [
        ([0, 0, 0], true),
        ([3, 0, 0], true),
        ([0, 1, 2], true),
        ([4, 0, 0], false),
        ([3, 1, 0], false),
        ([0, 2, 0], false),
        ([0, 0, 3], false),
    ]
    .into();
    for (id, is_inside) in inside {
        assert_eq!(super::is_invocation(id, &extents), is_inside, "{id:?}");
    }
}

/// The honest evidence with many copies of its first test, its records and its comparison.
fn with_copies(count: usize) -> Evidence {
    let mut evidence = honest();
    let names: Vec<TestId> = (0..count).map(|n| TestId::from(format!("copy-{n:06}"))).collect();
    let campaign = &mut evidence.campaign;
    let test = campaign.tests[0].clone();
    let is_of_test = |row: &&TestRecords| row.test == test.id;
    for kernel in &mut evidence.kernels {
        for records in [&mut kernel.records, &mut kernel.objects.records] {
            if let Some(row) = records.iter().find(is_of_test).cloned() {
                records.extend(names.iter().map(|name| TestRecords { test: *name, ..row.clone() }));
            }
        }
    }
    if let Some(row) = campaign.agreement.iter().find(|row| row.test == test.id).cloned() {
        let copies = names.iter().map(|name| Agreement { test: *name, ..row.clone() });
        campaign.agreement.extend(copies);
    }
    campaign.tests.extend(names.iter().map(|name| TestEvidence { id: *name, ..test.clone() }));
    evidence
}

/// A check and what it objects to.
type ProblemsOf = fn(&Evidence) -> Vec<String>;

/// Nanoseconds that this test has run on a processor: waiting for one does not count. The system
/// counts them at its ticks, some milliseconds apart.
fn processor_time() -> u64 {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// The time of a check, from as many calls as take many ticks together.
fn mean_time(check: impl Fn()) -> u64 {
    const LEAST_TIME: u64 = 100_000_000;
    let start = processor_time();
    for calls in 1.. {
        check();
        let time = processor_time() - start;
        if time >= LEAST_TIME {
            return time / calls;
        }
    }
    unreachable!("calls are counted without end")
}

#[test]
fn checks_take_time_as_there_are_tests_and_no_more() {
    const TIMES: u64 = 10;
    let checks: [(&str, ProblemsOf); 2] = [
        ("bounds", bounds_exceeded),
        ("agreement", |evidence| derive_agreement(evidence).problems),
    ];
    let few = with_copies(2_000);
    let many = with_copies(2_000 * TIMES as usize);
    for (name, check) in checks {
        let [time_of_few, time_of_many] =
            [&few, &many].map(|evidence| mean_time(|| assert_eq!(check(evidence), [""; 0])));
        // Each test against each other one would be a hundred times.
        assert!(
            time_of_many < time_of_few * TIMES * 5,
            "{name}: {time_of_few} ns, and {time_of_many} ns for {TIMES} times as many tests"
        );
    }
}
