//! `vkcert list tests`: the tests of a project, and with `--hash` what reviews of them are bound to.
//!
//! Promises: the hashes are those that `certify` holds `[[review]]` to; the results of another test
//! than the project has now are no results of it.
//! Does not cover: whether a review counts (`derivation`).

use super::args::List;
use super::failure::Failure;
use super::{findings, places};
use crate::campaign::project;
use crate::model::evidence::TestEvidence;
use crate::model::procedure::Test;
use crate::requirement::hash::{results_hash, test_hash};
use serde_json::{Value, json};

/// A row for each test of the project.
pub(super) fn test_rows(list: &List) -> Result<Vec<Value>, Failure> {
    let loaded = project::load_project(&list.dir)?;
    let mut rows: Vec<Value> = loaded
        .tests
        .iter()
        .map(|test| {
            json!({
                "id": test.id, "kind": test.kind, "title": test.title, "requirements": test.requirements,
                "kernels": crate::requirement::trace::kernels_of(test),
            })
        })
        .collect();
    if list.hash {
        let stored_tests = stored_tests(list)?;
        for (row, test) in rows.iter_mut().zip(&loaded.tests) {
            let procedure_hash = test_hash(test);
            let results = hash_of_results(test, &procedure_hash, stored_tests.as_deref());
            row["procedure_hash"] = json!(procedure_hash);
            row["results_hash"] = json!(results.as_ref().ok());
            row["results_missing"] = json!(results.err());
        }
    }
    Ok(rows)
}

/// The tests of the evidence that is named; of the default place none where there is no evidence.
fn stored_tests(list: &List) -> Result<Option<Vec<TestEvidence>>, Failure> {
    let default_folder = list.dir.join(places::DEFAULT_EVIDENCE_PATH);
    if list.evidence.is_none() && !default_folder.exists() {
        return Ok(None);
    }
    Ok(Some(findings::load_evidence(list)?.campaign.tests))
}

/// The hash of what came of a test, or why there is none.
fn hash_of_results(
    test: &Test,
    procedure_hash: &str,
    stored_tests: Option<&[TestEvidence]>,
) -> Result<String, &'static str> {
    let stored_tests = stored_tests.ok_or("no evidence")?;
    match stored_tests.iter().find(|stored_test| stored_test.id == test.id) {
        None => Err("not in the evidence"),
        Some(stored_test) if test_hash(&stored_test.definition) != procedure_hash => {
            Err("the evidence is of another test")
        }
        Some(stored_test) => Ok(results_hash(stored_test)),
    }
}
