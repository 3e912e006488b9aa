//! Content hashes: what a link was reviewed against.
//!
//! A content hash is `sha256:` and 64 lower-case hexadecimal digits: SHA-256 over canonical JSON,
//! that is UTF-8 without white space, keys in ascending byte order, numbers and strings as
//! serde_json writes them. What is hashed:
//!
//! - a requirement: an object with `uid`, `level`, `title`, `statement`, `rationale`, `derived`,
//!   `safety_rationale` and `verification`, null where absent; neither its own links (`parents`,
//!   `implements`) nor its file;
//! - a test: all of its fields but `author` and `reviewer` as the file has them, defaults of
//!   `kind`, `offset`, `set` and the like filled in, absent optional fields left out; the contents
//!   of files that it names are hashed in the manifest, not here;
//! - a procedure, as a review of it is bound to it: the test's hash with what it rests on
//!   ([`ProcedureBasis`]): the files that it takes contents from, the kernels that compute or check
//!   what is expected, with all that they are compiled from, and the requirements that it names;
//! - the results of a test: its procedure's hash, the production modules that it ran, and of each
//!   engine what it is, with device and driver, and what came of the test.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::evidence::{Campaign, EngineIdentity, KernelEvidence, TestEvidence};
use vkcert_model::id::{KernelName, RequirementId};
use vkcert_model::procedure::Test;
use vkcert_model::project::ProjectKernel;
use vkcert_model::requirement::{ParentLink, Requirement};
use vkcert_model::structure::KernelStructure;

/// Content hash of a value of the model.
fn hash_of(value: &impl Serialize) -> String {
    let text = canonical_json(value).expect("the types of the model are representable as JSON");
    content_hash(text.as_bytes())
}

/// Content hash of a requirement.
pub fn requirement_hash(requirement: &Requirement) -> String {
    let content = json!({
        "uid": requirement.uid,
        "level": requirement.level,
        "title": requirement.title,
        "statement": requirement.statement,
        "rationale": requirement.rationale,
        "derived": requirement.derived,
        "safety_rationale": requirement.safety_rationale,
        "verification": requirement.verification,
    });
    hash_of(&content)
}

/// Content hash of a test.
pub fn test_hash(test: &Test) -> String {
    if test.author.is_none() && test.reviewer.is_none() {
        return hash_of(test);
    }
    hash_of(&Test { author: None, reviewer: None, ..test.clone() })
}

/// What procedures of tests rest on beside the tests themselves.
#[derive(Debug, Clone)]
pub struct ProcedureBasis<'a> {
    /// SHA-256 of every input by its path, as the manifest has them.
    pub input_hashes: &'a BTreeMap<String, String>,
    /// Content hashes of the requirements.
    pub requirement_hashes: BTreeMap<RequirementId, String>,
    /// The kernels of the project.
    pub kernels: &'a [ProjectKernel],
    /// Files that kernels include; of a kernel that includes none there may be no row.
    pub included: BTreeMap<KernelName, BTreeSet<String>>,
}

impl<'a> ProcedureBasis<'a> {
    /// As evidence stores it; none of format 1, which stores no project file.
    pub fn of_evidence(
        campaign: &'a Campaign,
        kernels: &[KernelEvidence],
        input_hashes: &'a BTreeMap<String, String>,
    ) -> Option<Self> {
        let rows = campaign.requirements.iter();
        let mut included: BTreeMap<KernelName, BTreeSet<String>> = BTreeMap::new();
        for kernel in kernels {
            included.entry(kernel.kernel).or_default().extend(included_files(&kernel.structure));
        }
        Some(Self {
            input_hashes,
            requirement_hashes: rows.map(|row| (row.requirement.uid, row.hash.clone())).collect(),
            kernels: &campaign.settings.as_ref()?.kernels,
            included,
        })
    }

    /// Contents of a file that is an input; null where it is none.
    fn file_hash(&self, path: &str) -> Value {
        json!(self.input_hashes.get(path))
    }

    /// A kernel as the project has it, but for people, with the contents of its files.
    fn kernel_content(&self, name: &KernelName) -> Value {
        let Some(kernel) = self.kernels.iter().find(|kernel| kernel.name == *name) else {
            return Value::Null;
        };
        let included = self.included.get(name).into_iter().flatten().map(String::as_str);
        let files: BTreeMap<&str, Value> = included
            .chain([kernel.source.as_str()])
            .map(|path| (path, self.file_hash(path)))
            .collect();
        let kernel = ProjectKernel { author: None, reviewer: None, ..kernel.clone() };
        json!({ "kernel": kernel, "files": files })
    }
}

/// The files that a kernel's text includes.
pub fn included_files(structure: &KernelStructure) -> impl Iterator<Item = String> {
    structure.files.iter().skip(1).map(|file| file.path.clone())
}

/// Kernels that compute or check what a test expects.
pub fn judging_kernels(test: &Test) -> BTreeSet<KernelName> {
    let kernels = test.expect.iter().flat_map(|expectation| {
        let reference = expectation.reference.as_ref().map(|reference| reference.kernel);
        let checker = expectation.check.as_ref().map(|check| check.kernel);
        reference.into_iter().chain(checker)
    });
    kernels.collect()
}

/// Content hash of a test with all that its procedure rests on, as a review of the procedure is bound to it.
pub fn procedure_hash(test: &Test, basis: &ProcedureBasis) -> String {
    let files: BTreeMap<&str, Value> =
        data_files(test).map(|path| (path, basis.file_hash(path))).collect();
    let kernels: BTreeMap<KernelName, Value> =
        judging_kernels(test).into_iter().map(|name| (name, basis.kernel_content(&name))).collect();
    let requirements: BTreeMap<RequirementId, Option<&String>> =
        test.requirements.iter().map(|uid| (*uid, basis.requirement_hashes.get(uid))).collect();
    hash_of(&json!({
        "test": test_hash(test),
        "files": files,
        "kernels": kernels,
        "requirements": requirements,
    }))
}

/// Files that a test takes contents or expected values from.
pub fn data_files(test: &Test) -> impl Iterator<Item = &str> {
    let buffers = test.buffers.values().filter_map(|buffer| buffer.file.as_deref());
    let images = test.images.values().filter_map(|image| image.file.as_deref());
    let expected = test.expect.iter().filter_map(|expectation| expectation.file.as_deref());
    buffers.chain(images).chain(expected)
}

/// Content hash of what came of a test, as a review of its results is bound to it: the procedure, the production modules that
/// it ran, and of each engine what it is, the verdict, its reason, the mismatches and the final contents.
pub fn results_hash(
    test: &TestEvidence,
    basis: &ProcedureBasis,
    engines: &[EngineIdentity],
    kernels: &[KernelEvidence],
) -> String {
    let mut modules: BTreeMap<KernelName, BTreeSet<&str>> = BTreeMap::new();
    for kernel in kernels.iter().filter(|kernel| test.kernels.contains(&kernel.kernel)) {
        modules.entry(kernel.kernel).or_default().insert(&kernel.modules.production);
    }
    let results: Vec<_> = test
        .results
        .iter()
        .map(|result| {
            let identity = engines.iter().find(|row| row.engine == result.engine);
            json!({
                "engine": result.engine,
                "identity": identity.map(|row| &row.identity),
                "verdict": result.verdict,
                "reason": result.reason,
                "mismatches": result.mismatches,
                "outputs": result.outputs,
            })
        })
        .collect();
    let procedure = procedure_hash(&test.definition, basis);
    hash_of(&json!({ "procedure": procedure, "modules": modules, "results": results }))
}

/// Whether a parent has changed since the link to it was reviewed. A link without a hash was never
/// reviewed against a content and cannot go stale; reports show it as not pinned.
pub(crate) fn is_suspect(link: &ParentLink, parent: &Requirement) -> bool {
    link.hash.as_ref().is_some_and(|hash| *hash != requirement_hash(parent))
}
