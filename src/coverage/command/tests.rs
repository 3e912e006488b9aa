//! What the command tells, as JSON and as text.

use super::*;

#[test]
fn the_papers_guard_needs_three_vectors() {
    let result = mcdc_command("x < k && y < m", Some("TT,TF,F-")).unwrap();
    assert!(result.conditions.iter().all(|c| c.unique_cause.covered && c.masking.covered));
    assert_eq!(result.missing, []);
    assert_eq!(result.closing_set, []);
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(json["conditions"][1]["unique_cause"]["pair"], serde_json::json!(["TT", "TF"]));
    assert_eq!(
        json["vectors"][2],
        serde_json::json!({"values": "F-", "outcome": "F", "given": true})
    );
}

#[test]
fn without_vectors_the_closing_set_is_a_whole_test_set() {
    let result = mcdc_command("a && b", None).unwrap();
    assert_eq!(
        result.closing_set.iter().map(Values::to_string).collect::<Vec<_>>(),
        ["TT", "TF", "F-"]
    );
    assert!(result.closing_set_minimal && result.vectors_complete);
    assert_eq!(result.missing.len(), 3);
}

#[test]
fn coupling_can_make_a_condition_unattainable() {
    let result = mcdc_command("a && a", None).unwrap();
    assert_eq!(result.conditions[0].masking.attainable, Some(true));
    assert_eq!(result.conditions[1].masking.attainable, Some(false));
    assert_eq!(result.conditions[1].coupled_with, ["C1"]);
}

#[test]
fn wrong_vectors_are_diagnostics_with_a_span() {
    for (vectors, span) in [
        ("TT,T", 3..4),
        ("TT, FT", 5..6),
        ("T-", 1..2),
        ("TT,TX", 4..5),
        ("TT,,F-", 3..4),
        ("TT,", 2..3),
        ("TT,t-", 3..4),
    ] {
        let diagnostic = mcdc_command("a && b", Some(vectors)).expect_err(vectors);
        assert_eq!(
            diagnostic.location.unwrap().span,
            Some(span),
            "{vectors}: {}",
            diagnostic.message
        );
    }
    assert!(mcdc_command("a && a", Some("TF")).unwrap_err().message.contains("contradicts"));
}

#[test]
fn long_chains_list_only_given_vectors() {
    let result = mcdc_command(&exclusive_chain(17), Some(&"T".repeat(17))).unwrap();
    assert!(!result.vectors_complete);
    assert_eq!((result.vectors.len(), result.closing_set.len()), (1, 17));
    assert!(result.closing_set_minimal);
    assert_eq!((result.multiple_condition, result.minimum), (None, None));
    let note = "More than 65536 vectors can occur; only the given ones are listed.";
    assert_eq!(result.notes, [note]);
    assert!(result.conditions.iter().all(|condition| condition.masking.attainable == Some(true)));
}

#[test]
fn the_table_names_the_row_that_completes_a_pair() {
    insta::assert_snapshot!(
        mcdc_command("(A && B) || C", Some("TFT,F-F,TT-")).unwrap().terminal_text()
    );
}

/// `c0 ^^ c1 ^^ ...`
fn exclusive_chain(conditions: u32) -> String {
    (0..conditions).map(|number| format!("c{number}")).collect::<Vec<_>>().join(" ^^ ")
}

fn vector_texts(vectors: &[Values]) -> Vec<String> {
    vectors.iter().map(Values::to_string).collect()
}

#[test]
fn up_to_4096_vectors_are_listed() {
    let chain = exclusive_chain(12);
    let all_false = "F".repeat(12);
    let given = format!("{},{all_false}", "T".repeat(12));
    let result = mcdc_command(&chain, Some(&given)).unwrap();
    assert!(result.vectors_complete);
    assert_eq!((result.vectors.len(), result.missing.len()), (4_096, 4_094));
    let given: Vec<usize> = (0..4_096).filter(|row| result.vectors[*row].given).collect();
    assert_eq!(given, [0, 4_095], "canonical order");
    assert_eq!(result.multiple_condition, Some(McdcMultiple { covered: 2, total: 4_096 }));
    assert_eq!(result.notes, ["The closing set may not be the smallest one."]);

    let result = mcdc_command(&exclusive_chain(13), Some(&format!("{all_false}F"))).unwrap();
    assert!(!result.vectors_complete);
    assert_eq!((result.vectors.len(), result.missing.len()), (1, 0));
    assert_eq!(result.multiple_condition, Some(McdcMultiple { covered: 1, total: 8_192 }));
    let note = "More than 4096 vectors can occur; only the given ones are listed.";
    assert_eq!(result.notes[0], note);
}

#[test]
fn what_cannot_be_told_of_long_coupled_chains_is_said() {
    let chain = format!("{} ^^ c0", exclusive_chain(17));
    let result = mcdc_command(&chain, Some("TTTTTTTTTTTTTTTTTT")).unwrap();
    let coupling = result.coupling.as_ref().unwrap();
    assert_eq!(coupling.groups, [["C1", "C18"]]);
    assert_eq!((coupling.excluded_count, coupling.excluded.len()), (None, 0));
    let form = &result.conditions[0].masking;
    assert_eq!((form.covered, form.attainable), (false, None));
    assert_eq!(form.reason.as_deref(), Some("more than 65536 vectors can occur"));
    assert_eq!(
        result.notes,
        [
            "More than 65536 vectors can occur; only the given ones are listed.",
            "The closing set may not be the smallest one.",
            "The closing set covers only conditions that are known to be attainable.",
        ]
    );
    assert!(!result.closing_set_minimal);
    let sentence =
        "C1: no test shows that `c0` alone turns the outcome; more than 65536 vectors can occur.";
    assert_eq!(result.explanation[0], sentence);
}

#[test]
fn coupled_conditions_and_what_they_exclude_are_named() {
    let result = mcdc_command("a && b || a && c || d", None).unwrap();
    let coupled: Vec<&[String]> =
        result.conditions.iter().map(|condition| condition.coupled_with.as_slice()).collect();
    assert_eq!(coupled, [&["C3".to_owned()] as &[_], &[], &["C1".to_owned()], &[], &[]]);
    let coupling = result.coupling.unwrap();
    assert_eq!(coupling.groups, [["C1", "C3"]]);
    assert_eq!(coupling.excluded_count, Some(5));
    let excluded = ["TFF-T", "TFF-F", "F-TT-", "F-TFT", "F-TFF"];
    assert_eq!(vector_texts(&coupling.excluded), excluded);
    assert_eq!(
        (coupling.without_unique_cause, coupling.without_masking),
        (vec!["C3".to_owned()], Vec::new())
    );
    assert_eq!(mcdc_command("a && b", None).unwrap().coupling, None);
    // Of many the first 64.
    let coupling = mcdc_command("a ^^ b ^^ c ^^ d ^^ a ^^ b ^^ c", None).unwrap().coupling.unwrap();
    assert_eq!((coupling.excluded.len(), coupling.excluded_count), (64, Some(112)));
    assert_eq!(coupling.groups, [["C1", "C5"], ["C2", "C6"], ["C3", "C7"]]);
    assert_eq!(coupling.without_masking, ["C1", "C2", "C3", "C5", "C6", "C7"]);
}

#[test]
fn wrong_vectors_come_with_advice() {
    for (expression, vectors, told, hint) in [
        (
            "a && b",
            "TT,T",
            "the vector `T` has 1 values; the decision has 2 conditions",
            "the conditions are C1 `a`, C2 `b`",
        ),
        (
            "a && b",
            "T-",
            "in the vector `T-` condition C2 is `-`, but with the values before it it is evaluated",
            "give T or F for `b`",
        ),
        (
            "a && b",
            "FT",
            "in the vector `FT` condition C2 has a value, but with the values before it it is not evaluated",
            "`&&` and `||` do not evaluate `b` here; write -",
        ),
        (
            "x < k && y || x < k",
            "TFF",
            "the vector `TFF` contradicts itself: C1 and C3 are the same text and cannot differ",
            "both stand for `x < k`",
        ),
        (
            "a && b",
            "TX",
            "`X` in the vector `TX` is none of T, F and -",
            "write T, F or - for each condition, in the order of the text, and commas between vectors",
        ),
    ] {
        let diagnostic = mcdc_command(expression, Some(vectors)).expect_err(vectors);
        assert_eq!((diagnostic.message.as_str(), diagnostic.hint.as_deref()), (told, Some(hint)));
        assert_eq!(diagnostic.kind, "usage");
    }
    // The span of a vector of the wrong length is the whole of it, that of another fault the value.
    let span = |vectors: &str| {
        mcdc_command("x && y || x", Some(vectors)).unwrap_err().location.unwrap().span.unwrap()
    };
    assert_eq!((span("TT-, TF"), span("TT-, TFF"), span("F-F,  ä--")), (5..7, 7..8, 6..8));
    let blank = mcdc_command("a && b", Some("  ")).unwrap();
    assert!(blank.vectors.iter().all(|vector| !vector.given));
    assert_eq!(blank.explanation, [""; 0]);
    let long = vec!["a"; 200].join(" && ");
    assert!(mcdc_command(&long, None).unwrap_err().message.contains("128"));
}

#[test]
fn a_condition_that_no_pair_shows_has_its_reason() {
    let result = mcdc_command("a && a", Some("TT")).unwrap();
    let unattainable = &result.conditions[1].unique_cause;
    assert_eq!((unattainable.covered, unattainable.attainable), (false, Some(false)));
    let reason =
        "no two vectors that can occur show it, as conditions with the same text always agree";
    assert_eq!(unattainable.reason.as_deref(), Some(reason));
    assert_eq!(result.conditions[0].masking.reason, None);
    assert_eq!(
        result.explanation,
        [
            "C1: no test shows that `a` alone turns the outcome; add a false (F-), which makes a pair with TT.".to_owned(),
            format!("C2: no test can show that `a` alone turns the outcome: {reason}."),
        ]
    );
    let result = mcdc_command("(A && B) || C", Some("TFT,F-F")).unwrap();
    assert_eq!(
        result.explanation,
        [
            "C1: no test shows that `A` alone turns the outcome; add A true, B true (TT-), which makes a pair with F-F.",
            "C2: no test shows that `B` alone turns the outcome; add A true, B true (TT-) and A true, B false, C false (TFF).",
            "C3: `C` is shown by masking only; no two vectors differ in it alone; add A true, B false, C false (TFF), which makes a pair with TFT.",
        ]
    );
}

#[test]
fn texts_for_a_terminal() {
    for (name, expression, vectors) in [
        ("without_vectors", "a ^^ b", None),
        ("nothing_missing", "a || b", Some("T-,FT,FF")),
        ("masking_only", "(A && B) || C", Some("TFT,F-F")),
        ("coupled", "a && b || a && c", Some("TT--,F-F-")),
        ("unattainable", "a && a", Some("TT,F-")),
        ("many_excluded", "a ^^ b ^^ c ^^ d ^^ a ^^ b ^^ c", Some("TTTTTTT")),
    ] {
        let text = mcdc_command(expression, vectors).unwrap().terminal_text();
        insta::assert_snapshot!(name, text);
    }
}
