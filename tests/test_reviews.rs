//! Reviews of tests and of their results as an engineer writes them: the program tells the hashes
//! that they are bound to.

use crate::support::{certify_sequentially, run, run_json, vkcert, write};
use serde_json::Value;
use std::path::Path;

fn listed(project: &Path, options: &[&str]) -> Vec<Value> {
    let mut command = vkcert();
    command.args(["list", "tests", "--hash"]).arg(project).args(options);
    run_json(&mut command, 0).as_array().unwrap().clone()
}

/// A record of reviews with the hashes of a key of the listing.
fn review(of: &str, rows: &[Value], key: &str) -> String {
    let tests =
        rows.iter().map(|row| format!("    {{ id = {}, hash = {} }},\n", row["id"], row[key]));
    format!(
        "[[review]]\nof = \"{of}\"\ntests = [\n{}]\ndocument = \"V-17\"\nsection = \"3.2\"\nreviewer = \"B. Reviewer\"\n\n",
        tests.collect::<String>()
    )
}

/// An objective of the evidence that was written last.
fn objective(evidence: &Path, number: &str) -> Value {
    let text = std::fs::read_to_string(evidence.join("campaign.json")).unwrap();
    let campaign: Value = serde_json::from_str(&text).unwrap();
    let rows = campaign["objectives"].as_array().unwrap();
    rows.iter().find(|row| row["objective"] == number).unwrap().clone()
}

#[test]
fn the_hashes_that_are_listed_are_those_that_reviews_are_held_to() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    run(vkcert().arg("init").arg(&project), 0);
    let requirements = std::fs::read_to_string(project.join("requirements/scale.toml")).unwrap();
    let authored =
        requirements.replace("kind = \"normal\"", "kind = \"normal\"\nauthor = \"A. Author\"");
    let authored =
        authored.replace("kind = \"robustness\"", "kind = \"robustness\"\nauthor = \"A. Author\"");
    write(&project, "requirements/scale.toml", &authored);
    let before = listed(&project, &[]);
    assert!(before.iter().all(|row| row["results_hash"].is_null()), "{before:#?}");
    assert!(before.iter().all(|row| row["results_missing"] == "no evidence"), "{before:#?}");
    let out = project.join("reports");
    run(&mut certify_sequentially(&project, &out), 0);
    let evidence = out.join("evidence");
    assert_eq!(objective(&evidence, "A-7.2")["status"], "open");

    let rows = listed(&project, &[]);
    let named = evidence.display().to_string();
    assert_eq!(rows, listed(&project, &["--evidence", &named]));
    assert!(rows.iter().all(|row| row["results_missing"].is_null()), "{rows:#?}");
    let reviews =
        review("procedures", &rows, "procedure_hash") + &review("results", &rows, "results_hash");
    write(&project, "requirements/reviews.toml", format!("schema = 1\n\n{reviews}"));
    run(&mut certify_sequentially(&project, &out), 0);
    assert_eq!(objective(&evidence, "A-7.1")["status"], "met");
    assert_eq!(objective(&evidence, "A-7.2")["status"], "met");
    assert_eq!(rows, listed(&project, &[]), "a review changes no hash");

    // Results of the test as it was are none of the test as it is.
    write(&project, "requirements/scale.toml", authored.replacen("1e30, 1e30", "1e30, 2e30", 1));
    let changed = listed(&project, &[]);
    let row = changed.iter().find(|row| row["id"] == "TC-SCALE-02").unwrap();
    assert_eq!(row["results_missing"], "the evidence is of another test");
    assert!(row["results_hash"].is_null());
    assert_eq!(changed.iter().find(|row| row["id"] == "TC-SCALE-01"), rows.first());
}

#[test]
fn hashes_stand_in_the_table_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    run(vkcert().arg("init").arg(&project), 0);
    let table = |options: &[&str], exit| {
        let output = run(vkcert().args(["list", "tests"]).arg(&project).args(options), exit);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!table(&[], 0).contains("sha256:"));
    let hashed = table(&["--hash"], 0);
    assert!(hashed.contains("PROCEDURE HASH") && hashed.contains("sha256:"), "{hashed}");
    table(&["--evidence", "reports/evidence"], 2);
    run(vkcert().args(["list", "kernels", "--hash"]).arg(&project), 2);
}
