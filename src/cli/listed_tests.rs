//! `vkcert list tests`: the tests of a project, and with `--hash` what reviews of them are bound to.
//!
//! Promises: the hashes are those that `certify` holds `[[review]]` to; the results of another test
//! than the project has now are no results of it.
//! Does not cover: whether a review counts (`derivation`).

use super::args::List;
use super::failure::Failure;
use super::{findings, places};
use crate::campaign::kernel::CompiledKernel;
use crate::campaign::{inputs, project};
use crate::model::evidence::Evidence;
use crate::model::id::KernelName;
use crate::model::procedure::Test;
use crate::requirement::Project;
use crate::requirement::hash::{
    self, ProcedureBasis, included_files, judging_kernels, procedure_hash, requirement_hash,
    results_hash,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
        let (input_hashes, included) = read_inputs(&loaded)?;
        let basis = ProcedureBasis {
            input_hashes: &input_hashes,
            requirement_hashes: loaded
                .requirements
                .iter()
                .map(|requirement| (requirement.uid, requirement_hash(requirement)))
                .collect(),
            kernels: &loaded.settings.value.kernels,
            included,
        };
        let stored_evidence = stored_evidence(list)?;
        for (row, test) in rows.iter_mut().zip(&loaded.tests) {
            let procedure_hash = procedure_hash(test, &basis);
            let results = hash_of_results(test, &procedure_hash, stored_evidence.as_ref());
            row["procedure_hash"] = json!(procedure_hash);
            row["results_hash"] = json!(results.as_ref().ok());
            row["results_missing"] = json!(results.err());
        }
    }
    Ok(rows)
}

/// Hashes of the project's inputs by path, and what each kernel includes. Kernels are compiled only
/// where one of them computes or checks what a test expects: what they include is not known before.
fn read_inputs(project: &Project) -> Result<(InputHashes, IncludedFiles), Failure> {
    let needs_kernels = project.tests.iter().any(|test| !judging_kernels(test).is_empty());
    let kernels = match needs_kernels {
        true => project::compile_kernels(project)?,
        false => Vec::new(),
    };
    let mut included = IncludedFiles::new();
    for kernel in &kernels {
        let compiled: &CompiledKernel = kernel.as_ref();
        let files = compiled.structure().map(included_files).into_iter().flatten();
        included.insert(KernelName::from(compiled.name.as_str()), files.collect());
    }
    Ok((inputs::gather_inputs(project, &kernels)?.hashes(), included))
}

/// SHA-256 by path.
type InputHashes = BTreeMap<String, String>;
type IncludedFiles = BTreeMap<KernelName, BTreeSet<String>>;

/// The evidence that is named; at the default place none where there is none.
fn stored_evidence(list: &List) -> Result<Option<Evidence>, Failure> {
    let default_folder = list.dir.join(places::DEFAULT_EVIDENCE_PATH);
    if list.evidence.is_none() && !default_folder.exists() {
        return Ok(None);
    }
    Ok(Some(findings::load_evidence(list)?))
}

/// The hash of what came of a test, or why there is none.
fn hash_of_results(
    test: &Test,
    procedure_hash: &str,
    stored_evidence: Option<&Evidence>,
) -> Result<String, &'static str> {
    let Evidence { campaign, kernels, manifest, .. } = stored_evidence.ok_or("no evidence")?;
    let basis = ProcedureBasis::of_evidence(campaign, kernels, &manifest.inputs)
        .ok_or("the evidence is of an older format")?;
    match campaign.tests.iter().find(|stored_test| stored_test.id == test.id) {
        None => Err("not in the evidence"),
        Some(stored_test)
            if hash::procedure_hash(&stored_test.definition, &basis) != procedure_hash =>
        {
            Err("the evidence is of another test")
        }
        Some(stored_test) => Ok(results_hash(stored_test, &basis, &campaign.engines, kernels)),
    }
}
