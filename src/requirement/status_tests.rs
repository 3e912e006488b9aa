//! Tests of the statuses of requirements: methods, records, children, code, formats of evidence.

use super::reach::TestedCode;
use super::reach_tests::{judged, kernel};
use super::status::{
    RequirementOutcome, VerificationResults, assign_statuses, open_reasons, requirement_outcomes,
};
use super::trace::Verdicts;
use serde_json::{Value, json};
use vkcert_model::evidence::{RecordEvidence, RequirementEvidence, RequirementStatus};
use vkcert_model::generation::Generation;
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::requirement::VerificationMethod;
use vkcert_model::verdict::Verdict;

const GENERATIONS: [Generation; 5] = [
    Generation::First,
    Generation::Second,
    Generation::Third,
    Generation::Fourth,
    Generation::Current,
];

/// A requirement; `fields` replace those that are empty here.
fn row(uid: &str, verification: &[&str], fields: Value) -> RequirementEvidence {
    let mut row = json!({
        "requirement": { "uid": uid, "level": "HLR", "title": "t", "statement": "s",
                         "verification": verification },
        "hash": "", "file": "", "suspect_parents": [], "children": [], "tests": [],
        "left_out_tests": [], "code": [], "status": "untested", "open": [],
    });
    row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(row).unwrap()
}

fn record(method: &str, uid: &str, rejected: Option<&str>) -> RecordEvidence {
    serde_json::from_value(json!({
        "method": method, "file": "", "rejected": rejected,
        "record": { "requirement": uid, "document": "d", "section": "1", "author": "a",
                    "reviewer": "r", "hash": "" },
    }))
    .unwrap()
}

fn verdicts(rows: &[(&str, Verdict)]) -> Verdicts {
    rows.iter().map(|(test, verdict)| (TestId::from(*test), vec![*verdict])).collect()
}

fn outcome(
    rows: &[RequirementEvidence],
    tests: &[(&str, Verdict)],
    records: &[RecordEvidence],
    rules: Generation,
) -> RequirementOutcome {
    let (verdicts, code) = (verdicts(tests), TestedCode::default());
    let shown = VerificationResults { verdicts: &verdicts, records, code: &code };
    let mut outcomes = requirement_outcomes(rows, shown, rules);
    assert_eq!(outcomes.len(), rows.len());
    outcomes.remove(&rows[0].requirement.uid).unwrap()
}

fn status(
    rows: &[RequirementEvidence],
    tests: &[(&str, Verdict)],
    rules: Generation,
) -> RequirementStatus {
    outcome(rows, tests, &[], rules).status
}

#[test]
fn every_method_that_is_named_must_be_satisfied() {
    use VerificationMethod::{Analysis, Review};
    let rows = [row("R", &["analysis", "review"], json!({}))];
    let analysis = || record("analysis", "R", None);
    let review = || record("review", "R", None);
    let cases: [(Vec<RecordEvidence>, &[VerificationMethod]); 6] = [
        (vec![], &[Analysis, Review]),
        (vec![analysis()], &[Review]),
        (vec![review()], &[Analysis]),
        (vec![analysis(), record("review", "R", Some("stale"))], &[Review]),
        (vec![analysis(), record("review", "S", None)], &[Review]),
        (vec![record("review", "S", None), review(), analysis()], &[]),
    ];
    for (records, open) in cases {
        for rules in
            [Generation::Second, Generation::Third, Generation::Fourth, Generation::Current]
        {
            let shown = outcome(&rows, &[], &records, rules);
            let status = if open.is_empty() {
                RequirementStatus::ByOtherMeans
            } else {
                RequirementStatus::Open
            };
            assert_eq!((shown.status, shown.open.as_slice()), (status, open), "{records:?}");
        }
        // The first format has no records.
        let shown = outcome(&rows, &[], &records, Generation::First);
        assert_eq!((shown.status, shown.open.len()), (RequirementStatus::ByOtherMeans, 0));
    }
    let rows = [row("R", &["test", "review"], json!({ "tests": ["T"] }))];
    let passed = [("T", Verdict::Pass)];
    assert_eq!(status(&rows, &passed, Generation::Current), RequirementStatus::Open);
    let shown = outcome(&rows, &passed, &[review()], Generation::Current);
    assert_eq!(shown.status, RequirementStatus::Verified);
    let shown = outcome(&rows, &[("T", Verdict::Fail)], &[review()], Generation::Current);
    assert_eq!((shown.status, shown.open.len()), (RequirementStatus::Failed, 1));
}

/// What no test is asked for is not called verified by test, whatever its tests say.
#[test]
fn a_requirement_that_asks_for_no_test_is_shown_by_other_means() {
    let rows = [row("R", &["review"], json!({ "tests": ["T"] }))];
    let records = [record("review", "R", None)];
    for rules in GENERATIONS {
        let shown = |verdict: Verdict| outcome(&rows, &[("T", verdict)], &records, rules).status;
        let passed = match rules {
            Generation::First => RequirementStatus::Verified,
            Generation::Second | Generation::Third | Generation::Fourth | Generation::Current => {
                RequirementStatus::ByOtherMeans
            }
        };
        assert_eq!(shown(Verdict::Pass), passed);
        assert_eq!(shown(Verdict::Fail), RequirementStatus::Failed);
        let undetermined = match rules {
            Generation::First => RequirementStatus::Failed,
            Generation::Second | Generation::Third | Generation::Fourth | Generation::Current => {
                RequirementStatus::Open
            }
        };
        assert_eq!(shown(Verdict::Undetermined), undetermined);
    }
}

#[test]
fn a_test_that_was_left_out_leaves_its_requirement_open() {
    for (tests, left_out, expected) in [
        (&["T"][..], &["U"][..], RequirementStatus::Open),
        (&[], &["U"], RequirementStatus::Open),
        (&["T"], &[], RequirementStatus::Verified),
        (&[], &[], RequirementStatus::Untested),
    ] {
        let fields = json!({ "tests": tests, "left_out_tests": left_out });
        let rows = [row("R", &["test"], fields)];
        assert_eq!(status(&rows, &[("T", Verdict::Pass)], Generation::Current), expected);
    }
    let rows = [row("R", &["test"], json!({ "tests": ["T"], "left_out_tests": ["U"] }))];
    assert_eq!(
        status(&rows, &[("T", Verdict::Fail)], Generation::Current),
        RequirementStatus::Failed
    );
}

#[test]
fn children_are_told_as_what_shows_them() {
    use RequirementStatus::{ByOtherMeans, Failed, Open, Untested, Verified, VerifiedByChildren};
    let tested = |uid: &str| row(uid, &["test"], json!({ "tests": [format!("T-{uid}")] }));
    let other = |uid: &str| row(uid, &[], json!({}));
    let parent = |children: &[&str]| row("P", &["test"], json!({ "children": children }));
    let grandchild = row("C", &["test"], json!({ "children": ["D"] }));
    let passed = [("T-C", Verdict::Pass), ("T-D", Verdict::Pass)];
    let cases: [(Vec<RequirementEvidence>, [RequirementStatus; 3]); 4] = [
        (vec![parent(&["C"]), tested("C")], [VerifiedByChildren; 3]),
        (vec![parent(&["C"]), grandchild, tested("D")], [VerifiedByChildren; 3]),
        (vec![parent(&["C", "D"]), other("C"), tested("D")], [VerifiedByChildren; 3]),
        (vec![parent(&["C"]), other("C")], [ByOtherMeans, Untested, Untested]),
    ];
    for (rows, statuses) in cases {
        for (rules, expected) in GENERATIONS.into_iter().zip(statuses) {
            assert_eq!(status(&rows, &passed, rules), expected, "{rules:?}: {rows:?}");
        }
    }
    // Formats later than the first ask for the children of what is tested itself, too.
    let parent = row("P", &["test"], json!({ "tests": ["T-P"], "children": ["C"] }));
    let rows = [parent, tested("C")];
    for (verdict, statuses) in [
        (Verdict::Pass, [Verified; 3]),
        (Verdict::Fail, [Verified, Failed, Failed]),
        (Verdict::Undetermined, [Verified, Open, Open]),
    ] {
        for (rules, expected) in GENERATIONS.into_iter().zip(statuses) {
            let given = [("T-P", Verdict::Pass), ("T-C", verdict)];
            assert_eq!(status(&rows, &given, rules), expected, "{verdict:?} {rules:?}");
        }
    }
    let rows = [rows[0].clone(), row("C", &["test"], json!({}))];
    assert_eq!(status(&rows, &[("T-P", Verdict::Pass)], Generation::Current), Verified);
}

/// Two kernels with another text of a function each; the test `T` judges it in the first alone.
#[test]
fn code_that_no_test_judges_leaves_a_requirement_open() {
    let entered: Option<&[&str]> = Some(&["T"]);
    let kernels = [
        kernel(
            "a",
            "",
            &[(0, "main", "m", entered), (1, "sum", "s", entered), (1, "same", "e", entered)],
        ),
        kernel(
            "b",
            "",
            &[(0, "main", "n", entered), (1, "sum", "t", entered), (1, "same", "e", entered)],
        ),
    ];
    let code = TestedCode::new(&kernels, judged(&[("T", &["a"])]));
    let link = |file: &str, symbol: &str| json!([{ "file": file, "symbol": symbol, "line": 1, "found": true }]);
    let shown = |rows: &[RequirementEvidence], rules: Generation| {
        let verdicts = verdicts(&[("T", Verdict::Pass)]);
        let results = VerificationResults { verdicts: &verdicts, records: &[], code: &code };
        let mut rows = rows.to_vec();
        assign_statuses(&mut rows, results, rules);
        rows.swap_remove(0)
    };
    let counts = |row: &RequirementEvidence| (row.untested_code.len(), row.untested_kernels.len());
    use RequirementStatus::{Open, Verified, VerifiedByChildren};
    for (file, symbol, expected) in [
        ("a.comp", "main", [(Verified, 0, 0); 3]),
        ("b.comp", "main", [(Verified, 0, 0), (Open, 1, 0), (Open, 1, 0)]),
        ("common.glsl", "sum", [(Verified, 0, 0), (Verified, 0, 0), (Open, 0, 1)]),
        ("common.glsl", "same", [(Verified, 0, 0), (Verified, 0, 0), (Verified, 0, 1)]),
    ] {
        let own = row("R", &["test"], json!({ "tests": ["T"], "code": link(file, symbol) }));
        for (rules, (status, links, in_kernels)) in GENERATIONS.into_iter().zip(expected) {
            let row = shown(std::slice::from_ref(&own), rules);
            assert_eq!(
                (row.status, counts(&row)),
                (status, (links, in_kernels)),
                "{symbol} {rules:?}"
            );
            assert_eq!(
                row.open,
                if status == Open { vec![VerificationMethod::Test] } else { vec![] }
            );
            let outcome = RequirementOutcome::from_evidence(&row);
            assert_eq!((outcome.status, &outcome.open), (row.status, &row.open));
            assert_eq!(outcome.untested_code, row.untested_code);
            assert_eq!(outcome.untested_kernels, row.untested_kernels);
        }
        // The tests of children count where no test names the requirement.
        let family = [
            row("P", &["test"], json!({ "children": ["C", "X"], "code": link(file, symbol) })),
            row("C", &["test"], json!({ "children": ["D", "P"] })),
            row("D", &["test"], json!({ "tests": ["T"] })),
            row("X", &["test"], json!({ "tests": ["T"] })),
        ];
        let row = shown(&family[..], Generation::Current);
        let (_, links, in_kernels) = expected[2];
        assert_eq!(counts(&row), (links, in_kernels), "{symbol}");
        let tree = [
            family[0].clone(),
            row_with_children("C", &["D"]),
            family[2].clone(),
            family[3].clone(),
        ];
        let row = shown(&tree, Generation::Current);
        let status = if expected[2].0 == Open { Open } else { VerifiedByChildren };
        assert_eq!((row.status, counts(&row)), (status, (links, in_kernels)), "{symbol}");
    }
    // Nothing is said of code where tests were left out, nor where none is asked for.
    let left_out = row(
        "R",
        &["test"],
        json!({ "tests": ["T"], "left_out_tests": ["U"], "code": link("b.comp", "main") }),
    );
    assert_eq!(counts(&shown(&[left_out], Generation::Current)), (0, 0));
    let no_test = row("R", &[], json!({ "tests": ["T"], "code": link("b.comp", "main") }));
    assert_eq!(counts(&shown(&[no_test], Generation::Current)), (0, 0));
    let untested = row("R", &["test"], json!({ "code": link("b.comp", "main") }));
    assert_eq!(counts(&shown(&[untested], Generation::Current)), (0, 0));
}

fn row_with_children(uid: &str, children: &[&str]) -> RequirementEvidence {
    row(uid, &["test"], json!({ "children": children }))
}

#[test]
fn a_method_that_is_named_twice_is_open_once() {
    let rows = [row("R", &["review", "review", "analysis"], json!({}))];
    let open = outcome(&rows, &[], &[], Generation::Current).open;
    assert_eq!(open, [VerificationMethod::Review, VerificationMethod::Analysis]);
}

/// What a reader is told of a requirement that is open.
#[test]
fn every_reason_is_told_once() {
    let link = json!({ "file": "f.comp", "symbol": "sum" });
    let in_kernel =
        |text: &str| json!([{ "file": "f.comp", "symbol": "sum", "kernel": "b", "text": text }]);
    let given = [("P", Verdict::Pass), ("U", Verdict::Undetermined), ("N", Verdict::NotRun)];
    let cases: &[(Value, &[&str])] = &[
        (
            json!({ "open": ["analysis", "review"] }),
            &["no accepted record of an analysis", "no accepted record of a review"],
        ),
        (json!({ "open": ["test"] }), &["its children are not verified"]),
        (json!({ "open": ["test"], "tests": ["U"] }), &["test U: undetermined"]),
        (json!({ "open": ["test"], "tests": ["P", "N"] }), &["test N: not-run"]),
        (json!({ "open": ["test"], "tests": ["P"] }), &["a child is open"]),
        (json!({ "open": ["test"], "tests": ["P", "absent"] }), &["test absent: not-run"]),
        (json!({ "open": [], "tests": ["U"] }), &["test U: undetermined"]),
        (json!({ "open": [], "tests": ["P"] }), &[]),
        (json!({ "open": ["test"], "left_out_tests": ["L"] }), &["test L was left out"]),
        (
            json!({ "open": ["test"], "untested_code": [link] }),
            &["no test of it judges f.comp:sum, which it names"],
        ),
        (
            json!({ "open": ["test"], "untested_kernels": in_kernel("other") }),
            &[
                "no test of it judges f.comp:sum in b, whose text is another than where it is tested",
            ],
        ),
        (
            json!({ "open": ["test"], "untested_kernels": in_kernel("same") }),
            &["its children are not verified"],
        ),
        (
            json!({ "open": ["test"], "tests": ["P"], "untested_kernels": in_kernel("same") }),
            &["a child is open"],
        ),
    ];
    for (fields, expected) in cases {
        let row = row("R", &["test"], fields.clone());
        assert_eq!(open_reasons(&row, &verdicts(&given)), *expected, "{fields}");
    }
    let several: Verdicts =
        [(TestId::from("T"), vec![Verdict::Pass, Verdict::NotRun, Verdict::Unsupported])].into();
    let row = row("R", &["test"], json!({ "open": ["test"], "tests": ["T"] }));
    assert_eq!(open_reasons(&row, &several), ["test T: unsupported"]);
}

#[test]
fn every_requirement_has_an_outcome() {
    let rows = [row_with_children("A", &["B"]), row("B", &["test"], json!({ "tests": ["T"] }))];
    let (verdicts, code) = (verdicts(&[("T", Verdict::Pass)]), TestedCode::default());
    let shown = VerificationResults { verdicts: &verdicts, records: &[], code: &code };
    let outcomes = requirement_outcomes(&rows, shown, Generation::Current);
    let statuses: Vec<(RequirementId, RequirementStatus)> =
        outcomes.into_iter().map(|(uid, outcome)| (uid, outcome.status)).collect();
    let expected = [
        ("A".into(), RequirementStatus::VerifiedByChildren),
        ("B".into(), RequirementStatus::Verified),
    ];
    assert_eq!(statuses, expected);
}
