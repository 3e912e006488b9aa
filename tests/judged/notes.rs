//! What is told of outputs that no test judges, and of tests of zeros.

use super::*;

fn certified(rows: &[&str], exit: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = super::rows().into_iter().filter(|row| rows.contains(&row.id)).collect();
    project(folder.path(), &rows);
    run_json(vkcert().arg("certify").arg(folder.path()).args(["--engine", "sequential"]), exit)
}

fn told(campaign: &Value) -> Vec<&str> {
    let notes = campaign["notes"].as_array().unwrap().iter();
    let of_outputs = notes.filter(|note| note["kind"] == "outputs-not-judged");
    of_outputs.map(|note| note["sentence"].as_str().unwrap()).collect()
}

/// A kernel counts as covered where one output of it is judged.
#[test]
fn stored_outputs_that_no_test_judges_are_noted() {
    let campaign = certified(&["copied-beside"], 0);
    let start = "Stored, and judged by no test, directly or through what later dispatches make of it: \
                 copy (binding 1 `To`), k (binding 1 `Out`). ";
    let all = told(&campaign);
    assert!(all.len() == 1 && all[0].starts_with(start), "{all:?}");
    // What one test does not judge another may.
    let campaign = certified(&["copied-beside", "copied"], 0);
    assert_eq!(told(&campaign), [""; 0]);
    let campaign = certified(&["flag-that-stays-down", "address-of-input"], 1);
    let all = told(&campaign);
    assert!(all[0].contains(": addresses (what device addresses name), flagged (binding 1 `Out`). "), "{all:?}");
}

#[test]
fn a_test_of_zeros_says_what_would_help() {
    let campaign = certified(&["zeros-over-zeros", "any-float-below-1e30"], 1);
    let reason = |id: &str| {
        let mut tests = campaign["tests"].as_array().unwrap().iter();
        tests.find(|test| test["id"] == id).unwrap()["results"][0]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        reason("zeros-over-zeros"),
        "no alteration of what `residuals` stored would fail this test; `z` shall be zero: let it start as what the \
         tolerance refuses, of at most 2"
    );
    assert_eq!(reason("any-float-below-1e30"), "no alteration of what `halves` stored would fail this test");
}

/// What an expectation reads as one number is altered as far as the kernel stored it.
#[test]
fn words_that_a_kernel_did_not_store_are_left() {
    let campaign = certified(&["low-words", "high-words"], 0);
    let extents = |id: &str| -> Vec<(Value, Value)> {
        let mut tests = campaign["tests"].as_array().unwrap().iter();
        let altered = &tests.find(|test| test["id"] == id).unwrap()["results"][0]["altered"];
        let rows = altered.as_array().unwrap().iter();
        rows.map(|row| (row["kernel"].clone(), row["noticed"]["extent"].clone())).collect()
    };
    assert_eq!(extents("low-words"), [("low".into(), "storable".into())]);
    assert_eq!(extents("high-words")[1], ("high".into(), "stored".into()));
}
