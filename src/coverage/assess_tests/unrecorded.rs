//! Which statements were executed, as far as some records tell: small programs worked out by hand.

use super::source::Kernel;
use super::*;

/// One letter per statement: `C` covered, `U` uncovered, `?` undetermined.
fn executed(text: &str, hidden: &str, shown: &str) -> String {
    let text = match text.contains("void ") {
        true => text.to_owned(),
        false => format!("void main() {{ {text} }}"),
    };
    let mut kernel = Kernel::of_text(&text);
    for name in hidden.split_whitespace() {
        let Some((switch, label)) = name.split_once(".L") else {
            let number: usize = name[1..].parse().unwrap();
            kernel.structure.decisions[number - 1].recording =
                Recording::Unmarked { reason: "hidden".to_owned() };
            continue;
        };
        let number: usize = switch[1..].parse().unwrap();
        let labels = &mut kernel.structure.switches[number - 1].labels;
        match label {
            // A `default` that could not be added.
            "-" => drop(labels.pop()),
            label => labels[label.parse::<usize>().unwrap() - 1].mark = None,
        }
    }
    let (coverage, _) = kernel.assessed(&[&format!("main {shown}")]);
    let letter = |status: Status| match status {
        Status::Covered => 'C',
        Status::Uncovered => 'U',
        Status::Undetermined => '?',
        Status::Justified => panic!("nothing is justified"),
    };
    coverage.statements.iter().map(|item| letter(item.status)).collect()
}

fn check(rows: &[(&str, &str, &str, &str)]) {
    for (text, hidden, shown, expected) in rows {
        assert_eq!(
            executed(text, hidden, shown),
            *expected,
            "{text} without {hidden} shows {shown}"
        );
    }
}

#[test]
fn behind_branches() {
    check(&[
        ("if (a) b; c;", "", "D1=T", "CCC"),
        ("if (a) b; c;", "", "D1=F", "CUC"),
        ("if (a) b; c;", "D1", "", "C?C"),
        ("if (a) return; c;", "D1", "", "C??"),
        ("if (a) b; else c; d;", "D1", "", "C??C"),
        ("if (a) return; else return; c;", "D1", "", "C??U"),
        // What is recorded inside tells whether a branch was entered.
        ("if (a) { if (x) b; } c;", "D1", "", "CUUC"),
        ("if (a) { if (x) b; } c;", "D1", "D2=T", "CCCC"),
        ("if (a) { if (x) b; } c;", "D1", "D2=F", "CCUC"),
        ("if (a) { b; if (x) c; }", "D1", "", "CUUU"),
        ("if (a) { return; if (x) c; }", "D1", "", "C?UU"),
        ("if (a) { { return; } if (x) c; }", "D1", "", "C?UU"),
        ("if (a) { { } b; { if (x) c; } }", "D1", "", "CUUU"),
        ("if (a) { ; { b; } if (x) c; }", "D1", "", "CUUUU"),
        // One way was taken: if not this one, the other.
        ("if (a) b; else { if (x) c; }", "D1", "", "CCUU"),
        ("if (a) b; else { if (x) c; }", "D1", "D2=T", "C?CC"),
        ("if (a) { if (x) b; } else c;", "D1", "", "CUUC"),
        ("if (a) { if (x) b; } else c;", "D1", "D2=F", "CCU?"),
        // A recorded decision without any outcome was not evaluated.
        ("if (a) b; c;", "", "", "CUU"),
        ("if (a) { if (x) b; if (y) c; }", "D1 D2", "", "C???U"),
    ]);
}

#[test]
fn behind_loops() {
    check(&[
        ("while (a) b; c;", "D1", "", "C?C"),
        ("while (a) return; c;", "D1", "", "C??"),
        ("while (a) discard; c;", "D1", "", "C??"),
        ("while (a) { if (x) b; } c;", "D1", "", "CUUC"),
        ("while (a) { if (x) b; } c;", "D1", "D2=F", "CCUC"),
        ("while (a) { if (x) return; } c;", "D1", "D2=F", "CCU?"),
        ("while (a) b; c;", "", "", "CUU"),
        ("while (a) b; c;", "", "D1=T", "CCU"),
        ("while (a) { b; break; } c;", "", "D1=T", "CCCC"),
        ("for (i; a; i++) b; c;", "D1", "", "CC?C"),
        ("for (i; a; i++) { if (x) continue; b; } c;", "D1", "D2=T", "CCCCUC"),
        ("for (;;) { if (a) break; b; } c;", "D1", "", "CC??C"),
        ("for (;;) { if (a) return; b; } c;", "D1", "", "CC??U"),
        ("for (;;) { if (a) break; if (x) return; } c;", "D1", "D2=F", "CC?CU?"),
        ("do b; while (a); c;", "D1", "", "CCC"),
        ("do b; while (a); c;", "", "D1=T", "CCU"),
        ("do { if (x) return; b; } while (a); c;", "D2", "D1=F", "CCUC?"),
        ("do { if (x) return; b; } while (a); c;", "D2", "D1=T", "CCCUU"),
        ("do { if (x) break; b; } while (a); c;", "", "D1=T", "CCCUC"),
        ("do { if (x) continue; b; } while (a); c;", "D2", "D1=T", "CCCUC"),
        ("do { if (x) continue; b; } while (a); c;", "", "D1=T D2=F", "CCCUC"),
        // Whether a branch holds an entered loop.
        ("if (a) { while (x) b; }", "D1", "", "CUU"),
        ("if (a) { while (x) b; }", "D1", "D2=F", "CCU"),
        ("if (a) { for (i; x; i++) b; }", "D1", "", "CUUU"),
        ("if (a) { for (i; x; i++) b; }", "D1", "D2=F", "CCCU"),
        ("if (a) { do b; while (x); }", "D1", "", "C??"),
        ("if (a) { do b; while (x); }", "D1", "D2=F", "CCC"),
        ("if (a) { for (;;) { if (x) break; } }", "D1", "", "C??U"),
        ("if (a) { for (;;) { if (x) break; } }", "D1", "D2=T", "CCCC"),
    ]);
}

#[test]
fn behind_switches() {
    let two = "switch (m) { case 1u: b; break; default: c; } d;";
    let returning = "switch (m) { case 1u: b; return; default: c; } d;";
    let maybe = "switch (m) { case 1u: if (x) return; break; default: c; } d;";
    let skipping = "switch (m) { case 1u: return; } d;";
    let falling = "switch (m) { case 1u: b; case 2u: c; default: d; }";
    check(&[
        (two, "", "W1.L1", "CCCUC"),
        (two, "", "W1.L2", "CUUCC"),
        (two, "W1.L1", "W1.L2", "C??CC"),
        (two, "W1.L1", "", "C??UC"),
        (returning, "", "W1.L1", "CCCUU"),
        (returning, "W1.L1", "", "C??UU"),
        (maybe, "W1.L1 D1", "", "C???U?"),
        (skipping, "", "W1.L2", "CUC"),
        (skipping, "", "W1.L1", "CCU"),
        // Skipping all labels goes unseen.
        (skipping, "W1.L-", "", "CU?"),
        ("switch (m) { case 1u: b; } d;", "W1.L-", "", "CUC"),
        (falling, "W1.L2", "W1.L1 W1.L3", "CCCC"),
        (falling, "", "W1.L2 W1.L3", "CUCC"),
        ("switch (m) { case 1u: b; case 2u: if (x) c; }", "W1.L1", "", "C?UU"),
        ("switch (m) { b; case 1u: c; }", "", "W1.L1", "CUC"),
        ("switch (m) { b; } c;", "", "W1.L1", "CUC"),
        (
            "while (x) { switch (m) { case 1u: if (y) continue; break; default: c; } d; }",
            "W1.L1 D2",
            "D1=T D1=F",
            "CC???U?",
        ),
        // Whether a branch holds an entered switch.
        ("if (a) { switch (m) { case 1u: b; } }", "D1", "", "CUU"),
        ("if (a) { switch (m) { case 1u: b; } }", "D1", "W1.L2", "CCU"),
        ("if (a) { switch (m) { case 1u: b; } }", "D1", "W1.L1", "CCC"),
        ("if (a) { switch (m) { case 1u: b; } }", "D1 W1.L1", "", "C??"),
        ("if (a) { switch (m) { case 1u: b; } }", "D1 W1.L-", "", "C?U"),
    ]);
}

/// A called function that ends the invocation keeps control from what follows the call.
#[test]
fn behind_calls_that_may_not_return() {
    let caller = "void f() { if (a) discard; } void main() { f(); b; }";
    let straight = "void f() { discard; } void main() { g; if (x) b; }";
    let longer = "void f() { discard; } void main() { g; h; if (x) b; }";
    let ending = "void main() { if (a) discard; b; }";
    check(&[
        (caller, "D1", "f", "C?C?"),
        (caller, "", "f D1=F", "CUCC"),
        (caller, "", "f D1=T", "CCC?"),
        (straight, "", "f", "CCUU"),
        (straight, "", "f D1=F", "CCCU"),
        (straight, "", "f D1=T", "CCCC"),
        (straight, "", "D1=T", "UCCC"),
        (longer, "", "f", "CC?UU"),
        (longer, "", "f D1=F", "CCCCU"),
        // The entry point itself may end: that is an exit like any other.
        (ending, "", "D1=T", "CCU"),
        (ending, "", "D1=F", "CUC"),
        (ending, "D1", "", "C??"),
        ("void f() { discard; } void main() { while (a) f(); b; }", "D1", "f", "CC??"),
        (
            "void f() { discard; } void main() { switch (m) { case 1u: f(); } b; }",
            "",
            "f W1.L1",
            "CCC?",
        ),
    ]);
}
