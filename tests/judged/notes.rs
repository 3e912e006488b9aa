//! What is told of outputs that no test judges, and of tests of zeros.

use super::*;

pub(super) fn certified(rows: &[&str], exit: i32) -> Value {
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
    let all = told(&campaign);
    let each = "copy (binding 1 `To.to[]`: stored and not judged at all by test copied-beside, binding 3 `Beside.beside[]`: stored \
                and not judged at all by test copied).";
    assert!(all.len() == 1 && all[0].ends_with(each), "{all:?}");
    let campaign = certified(&["flag-that-stays-down", "address-of-input"], 1);
    let all = told(&campaign);
    assert!(
        all[0].contains(": addresses (what device addresses name), flagged (binding 1 `Out`). "),
        "{all:?}"
    );
}

/// Nothing that the first dispatch can store raises the flag of the second.
#[test]
fn dispatches_that_count_by_another_one_alone_are_noted() {
    let campaign = certified(&["flag-behind-a-flag"], 0);
    let sentence = "Dispatches that count by another one of the same kernel: none of the tried alterations of what they \
                    stored fails their test (test flag-behind-a-flag: 1 of 2 of flagged).";
    let all = told(&campaign);
    assert_eq!(all.last(), Some(&sentence), "{all:?}");
    let altered = &campaign["tests"][0]["results"][0]["altered"][0];
    assert_eq!(
        (&altered["noticed"]["dispatch"], &altered["unnoticed"]),
        (&1.into(), &serde_json::json!([0]))
    );
}

/// What takes an engine to know is still about dispatches of its row.
#[test]
fn forged_numbers_of_dispatches_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.id == "flag-behind-a-flag").collect();
    project(folder.path(), &rows);
    let out = folder.path().join("out");
    run(&mut certify_sequentially(folder.path(), &out), 0);
    for (field, value) in [("noticed", 9), ("overwritten", 9), ("unnoticed", 1), ("unnoticed", 9)] {
        let copy = folder.path().join("forged");
        copy_tree(&out.join("latest/evidence"), &copy);
        forge(&copy, "campaign.json", |campaign| {
            let row = &mut campaign["tests"][0]["results"][0]["altered"][0];
            match field {
                "noticed" => row["noticed"]["dispatch"] = value.into(),
                _ => row[field] = serde_json::json!([value]),
            }
        });
        let output = run(vkcert().arg("verify").arg(&copy), 1);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let place = format!("campaign.json/tests/0/results/0/altered/0/{field}");
        assert!(said.contains(&format!("differs           {place}")), "{field} {value}: {said}");
    }
}

#[test]
fn a_test_of_zeros_says_what_would_help() {
    let campaign = certified(&["zeros-over-zeros", "any-float-below-1e30"], 1);
    let reason = |id: &str| {
        let mut tests = campaign["tests"].as_array().unwrap().iter();
        tests.find(|test| test["id"] == id).unwrap()["results"][0]["reason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        reason("zeros-over-zeros"),
        "none of the tried alterations of what `residuals` stored fails this test; `z` shall be zero: let it start as \
         what the tolerance refuses"
    );
    assert_eq!(
        reason("any-float-below-1e30"),
        "none of the tried alterations of what `halves` stored fails this test"
    );
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
