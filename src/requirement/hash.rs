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
//! - the results of a test: its hash, and of each engine what came of it.

use serde::Serialize;
use serde_json::json;
use vkcert_model::canonical::{canonical_json, content_hash};
use vkcert_model::evidence::TestEvidence;
use vkcert_model::procedure::Test;
use vkcert_model::requirement::{ParentLink, Requirement};

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

/// Content hash of what came of a test, as a review of its results is bound to it: the test, and of each engine the verdict,
/// its reason, the mismatches and the final contents.
pub fn results_hash(test: &TestEvidence) -> String {
    let results: Vec<_> = test
        .results
        .iter()
        .map(|result| {
            json!({
                "engine": result.engine,
                "verdict": result.verdict,
                "reason": result.reason,
                "mismatches": result.mismatches,
                "outputs": result.outputs,
            })
        })
        .collect();
    hash_of(&json!({ "test": test_hash(&test.definition), "results": results }))
}

/// Whether a parent has changed since the link to it was reviewed. A link without a hash was never
/// reviewed against a content and cannot go stale; reports show it as not pinned.
pub(crate) fn is_suspect(link: &ParentLink, parent: &Requirement) -> bool {
    link.hash.as_ref().is_some_and(|hash| *hash != requirement_hash(parent))
}
