//! Every obligation of small kernels, with its state and what is said of it.

use super::lines::obligation_lines;
use super::source::Kernel;
use super::*;

const BRANCHES: &str = "void helper() {
  if (p) {
    return;
  }
  q = 1u;
}
void spare() {
  if (spare) r = 2u;
}
void main() {
  switch (mode) {
  case 0u:
    helper();
    break;
  case 1u:
  case 2u:
    r = a && b || a && c;
    break;
  }
  do { n--; } while (n > 0);
  for (i = 0u; i < n; i++) {
    if (x) continue; else y = 1u;
  }
}
";

const BRANCHES_SHOWN: &[&str] = &[
    "main W1.L1 helper D1=T D4=F D5=F",
    "main W1.L2 W1.L3 D3=TT-- D3=F-F- D4=T D4=F D5=T D5=F D6=T D6=F",
    "main W1.L4 D4=F D5=F",
];

fn branches() -> Kernel {
    Kernel::of_text(BRANCHES).without_markers(&["spare", "D2"])
}

#[test]
fn of_branches_loops_and_exits() {
    insta::assert_snapshot!(branches().told(BRANCHES_SHOWN));
}

const GUARDS: &str = "void main() {
  if (TILE > 8u && x < k) {
    for (i = 0u; DEBUG; i++) {
      log(i);
    }
    s = 1u;
  } else if (MODE == 1u || y) {
    t = 1u;
  } else {
    u = 1u;
  }
  switch (MODE) {
  case 1u:
    v = x && y;
    break;
  default:
    w = 1u;
  }
}
";

/// `TILE > 8u` and `MODE == 1u` fixed by specialization, `DEBUG` by a define.
fn guards() -> Kernel {
    Kernel::of_text(GUARDS)
        .with_configuration(
            "large",
            &[(0, "TILE", "16"), (3, "", "2"), (5, "MODE", "2")],
            &[("DEBUG", "false"), ("BUG", "1")],
        )
        .with_fixed("D1.C1", true, &[0])
        .with_fixed("D2", false, &[])
        .with_fixed("D3.C1", false, &[5])
        .with_excluded(&["W1.L1", "D4", "D4.C1", "D4.C2"])
}

const GUARDS_SHOWN: &[&str] = &["main D1=TT D2=F W1.L2", "main D1=TF D3=FT W1.L2"];

#[test]
fn of_what_a_configuration_fixes() {
    insta::assert_snapshot!(guards().told(GUARDS_SHOWN));
}

/// `x < 0u` and `false` have one value whatever the configuration.
fn fixed_by_text() -> Kernel {
    let text = "void main() {
  if (x < 0u || y) {
    if (x < 0u) a = 1u;
    b = 1u;
  }
  while (false) c = 1u;
  return;
  d = 1u;
}
";
    Kernel::of_text(text)
        .with_fixed("D1.C1", false, &[])
        .with_fixed("D2", false, &[])
        .with_fixed("D3", false, &[])
        .with_configuration("default", &[], &[])
}

/// Choices are infeasible, code is to be removed.
#[test]
fn of_what_the_text_fixes() {
    insta::assert_snapshot!(fixed_by_text().told(&["main D1=FT D2=F D3=F"]));
}

#[test]
fn of_what_the_text_fixes_in_the_first_format() {
    let tests: &[&str] = &["main D1=FT D2=F D3=F"];
    let current = fixed_by_text().told(tests);
    let kernel = Kernel { proposing: ProposalRules::AsInFirstFormat, ..fixed_by_text() };
    let first = kernel.told(tests);
    let others: Vec<&str> =
        first.lines().filter(|line| !current.lines().any(|known| known == *line)).collect();
    insta::assert_snapshot!(others.join("\n"));
}

/// A function that is never called, and one of which nothing is left.
#[test]
fn of_functions_that_are_never_called() {
    let text = "void never() {
  if (a && b) c = 1u;
  else return;
}
void gone() {
  d = 1u;
}
void main() {
  if (DEBUG) never();
  e = 1u;
}
";
    let kernel = Kernel::of_text(text)
        .with_configuration("default", &[(1, "DEBUG", "false")], &[])
        .with_fixed("D2", false, &[1])
        .with_excluded(&["never", "D1", "D1.C1", "D1.C2"])
        .without_markers(&["gone"]);
    insta::assert_snapshot!(kernel.told(&["main D2=F"]));
}

#[test]
fn of_decisions_that_cannot_be_read() {
    let mut kernel = Kernel::of_text(
        "void main() {
  if (a && b) c = 1u;
  if (d || e) f = 1u;
  if (i ^^ j) k = 1u;
  l = 1u;
  return;
  if (g) h = 1u;
}
",
    )
    .without_markers(&["D2.C1", "D4"]);
    let reason = "a side effect".to_owned();
    kernel.structure.decisions[0].recording = Recording::Unmarked { reason };
    let mut records = kernel.records("main D3=TT");
    let (coverage, _) = kernel.assessed_records(vec![records.clone()]);
    insta::assert_snapshot!(obligation_lines(&coverage).join("\n"));
    // All vectors at once contradict what is fixed.
    records.words[0] = u32::MAX;
    let (coverage, contradictions) =
        kernel.with_fixed("D3.C1", true, &[]).assessed_records(vec![records]);
    let sentence =
        "the records of T1 cannot be: D3 shows FT, though `i` (D3.C1) is always true".to_owned();
    let reason = format!("internal error: {sentence}");
    assert_eq!(coverage.decisions[2].outcomes[0].reason, Some(reason));
    assert_eq!(contradictions, [sentence]);
    let statuses: Vec<Status> = coverage.statements[4..7].iter().map(|item| item.status).collect();
    assert_eq!(statuses, [Status::Covered, Status::Undetermined, Status::Covered]);
}

#[test]
fn of_coupled_conditions() {
    let kernel = Kernel::of_text("void main() {\n  if (a && a || b && !b) c = 1u;\n}\n");
    insta::assert_snapshot!(kernel.told(&["main D1=TT-- D1=F-TF", "main D1=TT--"]));
}

/// Why a statement cannot be executed: the fixed decision or switch at fault.
#[test]
fn of_unreachable_statements_the_cause() {
    let always = |text: &str, number: u32, value: bool| {
        format!("`{text}` (D{number}) is always {value} under configuration c (A = 1)")
    };
    // A body, decisions with their only outcome, a statement, and its cause.
    type Case<'a> = (&'a str, &'a [(&'a str, bool)], u32, String);
    let cases: &[Case] = &[
        ("if (A) return; b = 1u;", &[("D1", true)], 3, always("A", 1, true)),
        ("if (A) b = 1u; else c = 1u;", &[("D1", false)], 2, always("A", 1, false)),
        ("if (A) b = 1u; else c = 1u;", &[("D1", true)], 3, always("A", 1, true)),
        (
            "if (x) return; else if (A) return; else return; b = 1u;",
            &[("D2", true)],
            5,
            always("A", 2, true),
        ),
        ("while (A) b = 1u; c = 1u;", &[("D1", false)], 2, always("A", 1, false)),
        ("while (A) b = 1u; c = 1u;", &[("D1", true)], 3, always("A", 1, true)),
        ("for (i = 0u; A; i++) b = 1u; c = 1u;", &[("D1", true)], 4, always("A", 1, true)),
        ("for (i = 0u; A; i++) b = 1u; c = 1u;", &[("D1", false)], 3, always("A", 1, false)),
        (
            "do { a = 1u; if (A) continue; c = 1u; } while (x); d = 1u;",
            &[("D1", false)],
            4,
            always("A", 1, false),
        ),
        ("do a = 1u; while (A); d = 1u;", &[("D1", true)], 3, always("A", 1, true)),
        ("for (;;) { if (A) break; b = 1u; } c = 1u;", &[("D1", false)], 3, always("A", 1, false)),
        ("for (;;) { if (A) break; b = 1u; } c = 1u;", &[("D1", false)], 5, always("A", 1, false)),
        (
            "if (A) { if (x) b = 1u; else c = 1u; d = 1u; } e = 1u;",
            &[("D1", false)],
            4,
            always("A", 1, false),
        ),
        ("if (A) { for (i = 0u; x; i++) c = 1u; }", &[("D1", false)], 3, always("A", 1, false)),
        (
            "if (A) { while (x) c = 1u; do d = 1u; while (y); }",
            &[("D1", false)],
            5,
            always("A", 1, false),
        ),
        ("if (A) { for (;;) c = 1u; }", &[("D1", false)], 3, always("A", 1, false)),
        // The nearer of two, and conditions that do not matter are not named.
        (
            "if (B) { if (A) c = 1u; d = 1u; }",
            &[("D1", true), ("D2", false)],
            3,
            always("A", 2, false),
        ),
        ("if (x) b = 1u; while (A) c = 1u; d = 1u;", &[("D2", true)], 5, always("A", 2, true)),
    ];
    for (body, fixed, statement, cause) in cases {
        let mut kernel = Kernel::of_text(&format!("void main() {{ {body} }}")).with_configuration(
            "c",
            &[(1, "A", "1"), (2, "B", "2")],
            &[],
        );
        for (name, value) in *fixed {
            let number = name[1..].parse::<u32>().unwrap();
            let id = if kernel.structure.decision(DecisionId(number)).text == "A" { 1 } else { 2 };
            kernel = kernel.with_fixed(name, *value, &[id]);
        }
        let (coverage, _) = kernel.assessed(&[]);
        let id = format!("S{statement}");
        let found = coverage.statements.iter().find(|item| item.id.as_str() == id).unwrap();
        let expected = format!("never executed, as {cause}");
        assert_eq!(found.reason.as_deref(), Some(expected.as_str()), "{id} of {body}");
        assert_eq!(found.proposal.as_ref().unwrap().class, JustificationClass::Deactivated);
    }
}

/// What is reached again has no cause, and what goes on behind an end of the function neither.
#[test]
fn of_statements_that_can_be_executed_no_cause() {
    for (body, fixed) in [
        ("if (A) b = 1u; else c = 1u; d = 1u;", false),
        ("while (A) b = 1u; d = 1u;", false),
        ("do b = 1u; while (A); d = 1u;", false),
        ("switch (m) { case 1u: if (A) return; b = 1u; default: d = 1u; }", true),
        ("for (;;) { if (A) break; b = 1u; } d = 1u;", true),
    ] {
        let kernel = Kernel::of_text(&format!("void main() {{ {body} }}"))
            .with_configuration("c", &[(1, "A", "1")], &[])
            .with_fixed("D1", fixed, &[1]);
        let (coverage, _) = kernel.assessed(&[]);
        let last = coverage.statements.last().unwrap();
        assert_eq!((last.text.as_str(), last.reason.as_deref()), ("d = 1u;", None), "{body}");
    }
}

#[test]
fn of_several_fixed_conditions_those_that_decide_are_named() {
    let kernel = |text: &str| {
        Kernel::of_text(&format!("void main() {{ if ({text}) b = 1u; }}")).with_configuration(
            "c",
            &[(1, "A", "1"), (2, "B", "2"), (3, "C", "3")],
            &[],
        )
    };
    let reason = |kernel: &Kernel, outcome: usize| {
        let (coverage, _) = kernel.assessed(&[]);
        coverage.decisions[0].outcomes[outcome].reason.clone()
    };
    let told = |text: &str, outcome: bool, constants: &str| {
        Some(format!("`{text}` (D1) is always {outcome} under configuration c ({constants})"))
    };
    let or = kernel("A || B || x").with_fixed("D1.C1", true, &[1]).with_fixed("D1.C2", false, &[2]);
    assert_eq!(reason(&or, 1), told("A || B || x", true, "A = 1"));
    assert_eq!(reason(&or, 0), None);
    let both = kernel("A && B").with_fixed("D1.C1", true, &[1]).with_fixed("D1.C2", true, &[2, 3]);
    assert_eq!(reason(&both, 1), told("A && B", true, "A = 1, B = 2, C = 3"));
    // Of two that each decide, the first stays.
    let either = kernel("A || B").with_fixed("D1.C1", true, &[1]).with_fixed("D1.C2", true, &[2]);
    assert_eq!(reason(&either, 1), told("A || B", true, "A = 1"));
    // Nothing decides: both outcomes may come.
    let open = kernel("A && x").with_fixed("D1.C1", true, &[1]);
    assert_eq!((reason(&open, 0), reason(&open, 1)), (None, None));
    let vector = kernel("A && B && x")
        .with_fixed("D1.C1", true, &[1])
        .with_fixed("D1.C2", true, &[2])
        .assessed(&[])
        .0
        .decisions[0]
        .combinations
        .iter()
        .map(|item| (item.id.to_string(), item.reason.clone()))
        .next_back();
    let words = "`A` (D1.C1) is always true and `B` (D1.C2) is always true under configuration c (A = 1, B = 2)";
    assert_eq!(vector, Some(("D1.V.F--".to_owned(), Some(words.to_owned()))));
}

/// A decision within a condition of another one, which keeps control from it.
#[test]
fn of_a_decision_inside_another_the_outer_one_is_the_cause() {
    let text = "void main() { if (A && f(x)) b = 1u; c = 1u; if (B) d = 1u; }";
    let mut kernel = Kernel::of_text(text)
        .with_configuration("c", &[(1, "A", "0")], &[])
        .with_fixed("D1.C1", false, &[1])
        .with_fixed("D2", true, &[]);
    let mut inner = kernel.structure.decisions[0].clone();
    let at = text.find("x)").unwrap() as u32;
    inner.span = Span { file: FileIndex(0), start: at, end: at + 1 };
    inner.id = DecisionId(3);
    inner.text = "x".to_owned();
    inner.conditions.truncate(1);
    inner.expression = BooleanExpression::Condition(0);
    inner.context = DecisionContext::Argument;
    kernel.structure.decisions.push(inner);
    let role = MarkerRole::Single { decision: DecisionId(3) };
    kernel.structure.markers.push(role);
    let marker = PresentMarker { reach: Reach::Excluded, ..PresentMarker::runtime(role) };
    kernel.presence.markers.insert(99, marker);
    let (coverage, _) = kernel.assessed(&[]);
    let reason = coverage.decisions[2].outcomes[0].reason.as_deref();
    let expected =
        "never executed, as `A && f(x)` (D1) is always false under configuration c (A = 0)";
    assert_eq!(reason, Some(expected));
}

#[test]
fn of_large_decisions_all_vectors_together() {
    let pairs: Vec<String> = (0..8).map(|number| format!("(a{number} || b{number})")).collect();
    let kernel = Kernel::of_text(&format!("void main() {{ if ({}) c = 1u; }}", pairs.join(" && ")));
    let combinations = |kernel: &Kernel, tests: &[&str]| {
        let combinations = kernel.assessed(tests).0.decisions.remove(0).combinations;
        let rows = combinations.into_iter();
        rows.map(|row| (row.id.to_string(), row.status, row.reason)).collect::<Vec<_>>()
    };
    let row = |reason: &str| ("D1.V".to_owned(), Status::Uncovered, Some(reason.to_owned()));
    let [first, second] = ["T-", "FT"].map(|pair| pair.repeat(8));
    let tests = [format!("main D1={first} D1={second}"), format!("main D1={first}")];
    let tests = [tests[0].as_str(), tests[1].as_str()];
    assert_eq!(combinations(&kernel, &tests), [row("2 of 511 vectors shown")]);
    let (coverage, _) = kernel.assessed(&tests);
    assert!(coverage.decisions[0].combinations[0].text.ends_with(" / every vector that can occur"));
    let all = Records { words: vec![u32::MAX; record_words(&kernel)], ..Records::default() };
    let (coverage, _) = kernel.assessed_records(vec![Records::default(), all]);
    let covered = &coverage.decisions[0].combinations[0];
    assert_eq!((covered.status, covered.tests.as_slice()), (Status::Covered, &["T2".into()][..]));
    // The first format asks for nothing of decisions with more than five conditions.
    let first = Kernel { proposing: ProposalRules::AsInFirstFormat, ..kernel };
    assert_eq!(combinations(&first, &tests), []);
    let five = Kernel::of_text("void main() { if (a && b && c && d && e) f = 1u; }");
    let five = Kernel { proposing: ProposalRules::AsInFirstFormat, ..five };
    assert_eq!(combinations(&five, &[]).len(), 6);
}

fn record_words(kernel: &Kernel) -> usize {
    crate::layout::record_layout(&kernel.structure, &kernel.presence).words()
}

#[test]
fn of_decisions_beyond_the_limit_nothing_is_said() {
    let mut kernel = Kernel::of_text("void main() { if (a && b) c = 1u; }");
    let decision = &mut kernel.structure.decisions[0];
    let condition = decision.conditions[0].clone();
    decision.conditions =
        (0..129).map(|coupling| Condition { coupling, ..condition.clone() }).collect();
    let leaf = |index: u32| Box::new(BooleanExpression::Condition(index));
    decision.expression = (1..129).fold(BooleanExpression::Condition(0), |left, index| {
        BooleanExpression::And(Box::new(left), leaf(index))
    });
    let shown = format!("main D1={}", "T".repeat(129));
    let (coverage, _) = kernel.assessed(&[&shown]);
    let decision = &coverage.decisions[0];
    let reason = "the decision has 129 conditions; the calculus is exact for at most 128";
    assert_eq!(decision.outcomes[0].status, Status::Covered);
    let [joint] = decision.combinations.as_slice() else { panic!("one obligation") };
    assert_eq!((joint.status, joint.reason.as_deref()), (Status::Undetermined, Some(reason)));
    assert!(decision.mcdc.iter().all(|mcdc| {
        mcdc.masking.status == Status::Undetermined
            && mcdc.masking.reason.as_deref() == Some(reason)
    }));
    let first = Kernel { proposing: ProposalRules::AsInFirstFormat, ..kernel };
    assert_eq!(first.assessed(&[&shown]).0.decisions[0].combinations, []);
}

/// Witnesses and directed schedules stand beside the tests that they are of.
#[test]
fn of_vectors_the_witnesses_and_schedules() {
    let kernel = Kernel::of_text("void main() { if (a && b) c = 1u; }");
    let mut records = [kernel.records("main D1=TT D1=F-"), kernel.records("main D1=TT D1=TF")];
    // Bit 0 is the mark of main, the vectors follow: of `&&` those with a false end first.
    let bits: Vec<u32> = records[1].bits().skip(1).collect();
    let schedule = vkcert_model::schedule::Schedule::default();
    let is_true = |bit: &&u32| records[0].has(**bit);
    let only_false = *bits.iter().find(|bit| !is_true(bit)).unwrap();
    records[1].directed.insert(only_false, schedule);
    records[1].witnesses.clear();
    let (coverage, _) = kernel.assessed_records(records.to_vec());
    let vectors = &coverage.decisions[0].vectors;
    let told: Vec<_> = vectors
        .iter()
        .map(|vector| {
            let witnesses: Vec<bool> = vector.witnesses.iter().map(Option::is_some).collect();
            (vector.values.to_string(), witnesses, vector.directed.clone())
        })
        .collect();
    let row = |values: &str, witnesses: &[bool], directed: &[_]| {
        (values.to_owned(), witnesses.to_vec(), directed.to_vec())
    };
    let expected = [
        row("TT", &[true, false], &[]),
        row("TF", &[false], &[Some(schedule)]),
        row("F-", &[true], &[]),
    ];
    assert_eq!(told, expected);
    let [one, other] = coverage.decisions[0].mcdc[1].masking.shown_by.as_ref().unwrap();
    assert_eq!((one.test.as_str(), one.directed), ("T1", None));
    assert_eq!(
        (other.test.as_str(), other.directed, other.invocation),
        ("T2", Some(schedule), None)
    );
}

/// Long texts are cut, white space is collapsed, and what has no text or file is still told.
#[test]
fn of_statements_the_text_as_reports_show_it() {
    let long = "x".repeat(157);
    let longer = "ä".repeat(158);
    let fitting = "y".repeat(155);
    let kernel =
        Kernel::of_text(&format!("void main() {{ {long} =\n  1; {longer} = 1; {fitting} = 1; }}"));
    let (coverage, _) = kernel.assessed(&[]);
    let texts: Vec<&str> = coverage.statements.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            format!("{long} =  …").as_str(),
            format!("{longer} = …").as_str(),
            format!("{fitting} = 1;").as_str(),
        ]
    );
    let mut kernel = Kernel::of_text("void main() { a = 1u; b = 2u; }");
    kernel.structure.functions[0].body.0[0].span.file = FileIndex(7);
    kernel.structure.functions[0].body.0[1].span.end = 9_999;
    let (coverage, _) = kernel.assessed(&[]);
    let told = coverage
        .statements
        .iter()
        .map(|item| (item.file.as_str(), item.line, item.column, item.text.as_str()));
    assert_eq!(told.collect::<Vec<_>>(), [("", 1, 1, ""), ("k.comp", 1, 23, "")]);
}

/// A function of which the module holds nothing is no part of the kernel; the entry point always is.
#[test]
fn of_an_entry_point_without_its_mark() {
    let kernel = Kernel::of_text("void main() { if (a) b = 1u; }").without_markers(&["main"]);
    let (coverage, _) = kernel.assessed(&["D1=T"]);
    assert_eq!(coverage.not_reached, [""; 0]);
    assert_eq!((coverage.statements.len(), coverage.decisions.len()), (2, 1));
}
