//! Evidence that version 0.2.0 wrote of a project with an identity, reviews of tests, a target,
//! function coverage and a buffer of structures: as it is stored, every later version reads, verifies
//! and reports it, its objectives as 0.2.0 assessed them, since their rules have changed. A version
//! that derives something else needs another number. What its `provenance.json` says of the command
//! line and the kernel of the machine was made neutral; nothing is bound to that.

use crate::support::{copy_tree, forge, root, run, run_json, vkcert};
use serde_json::Value;
use std::path::Path;

/// A copy of the sample: evidence with `provenance.json` beside it.
fn sample() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/stored/format_2_documents"), folder.path());
    folder
}

fn report(evidence: &Path, arguments: &[&str]) -> Vec<u8> {
    run(vkcert().arg("report").arg(evidence).args(arguments), 0).stdout
}

#[test]
fn the_sample_verifies_with_what_it_holds() {
    let folder = sample();
    let evidence = folder.path().join("evidence");
    let campaign = std::fs::read(evidence.join("campaign.json")).unwrap();
    let campaign: Value = serde_json::from_slice(&campaign).unwrap();
    assert_eq!(campaign["objectives"].as_array().unwrap().len(), 23);
    assert_eq!(campaign["settings"]["document"]["number"], "SAMPLE-1");
    assert_eq!(campaign["settings"]["target"]["device"], "Example GPU");
    let reviews = campaign["test_reviews"].as_array().unwrap();
    assert!(reviews.len() == 2 && reviews.iter().all(|review| review.get("rejected").is_none()));
    assert_eq!(campaign["tests"][0]["layouts"]["stars"][0]["members"][1]["name"], "star");
    assert!(campaign["requirements"][0]["requirement"]["no_robustness_test"].is_object());
    let verified = run_json(vkcert().arg("verify").arg(&evidence), 0);
    assert!(verified.to_string().contains("provenance"), "{verified}");
    assert_eq!(verified["problems"], serde_json::json!([]), "{verified}");
    let not_derived = verified["not_rederivable"].as_array().unwrap();
    let sentence = "objectives: version 0.2.0 assessed them by rules of its own";
    assert!(not_derived.contains(&Value::from(sentence)), "{verified}");
    assert_eq!(verified["status"], "verified-in-part");
}

#[test]
fn every_report_of_the_sample_is_made() {
    let folder = sample();
    let evidence = folder.path().join("evidence");
    let html = String::from_utf8(report(&evidence, &["--report-format", "html"])).unwrap();
    for part in ["SAMPLE-1", "First issue.", "V-18", "configuration item"] {
        assert!(html.contains(part), "`{part}` is not in the report");
    }
    assert!(html.contains("star[0].flags") && html.contains("void mark(uint i)"));
    for document in ["svcp", "svr", "coverage", "trace", "coupling", "tool"] {
        let pdf = report(&evidence, &["--report-format", "pdf", "--document", document]);
        assert!(pdf.starts_with(b"%PDF-"), "{document}");
    }
    for format in ["terminal", "json"] {
        assert!(!report(&evidence, &["--report-format", format]).is_empty(), "{format}");
    }
}

#[test]
fn what_is_changed_in_the_sample_is_told() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 4] = [
        ("document", |campaign| campaign["settings"]["document"]["revision"] = "3".into()),
        ("reviews", |campaign| {
            campaign["test_reviews"][0]["review"]["reviewer"] = "Somebody else".into();
        }),
        ("target", |campaign| campaign["settings"]["target"]["device"] = "Another".into()),
        ("criterion", |campaign| {
            let criteria = campaign["conclusion"]["summary"][0]["criteria"].as_array_mut();
            criteria.unwrap().retain(|row| row["criterion"] != "function");
        }),
    ];
    for (changed, change) in changes {
        let folder = sample();
        let evidence = folder.path().join("evidence");
        forge(&evidence, "campaign.json", change);
        let told = run_json(vkcert().arg("verify").arg(&evidence), 1);
        assert_ne!(told["problems"], serde_json::json!([]), "{changed}");
    }
    let folder = sample();
    let provenance = folder.path().join("provenance.json");
    let text = std::fs::read_to_string(&provenance).unwrap();
    std::fs::write(&provenance, text.replace("\"evidence_root\": \"", "\"evidence_root\": \"0"))
        .unwrap();
    run(vkcert().arg("verify").arg(folder.path().join("evidence")), 1);
}
