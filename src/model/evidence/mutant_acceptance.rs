//! What a justification of a mutant is signed for.
//!
//! Promises: no field is a number that another version of the program may count otherwise. The hash of an acceptance is
//! over the canonical form of the subject.
//! Does not cover: how a subject is made (`coverage::acceptance`).

use crate::id::{KernelName, TestId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a justification of a mutant signs, and the one that accepts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantAcceptance {
    /// What is signed.
    pub subject: MutantSubject,
    /// `sha256:...` of the subject's canonical form.
    pub hash: String,
    /// What the accepting justification says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
}

/// A mutant without its name, which another version of the program may give to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantSubject {
    /// The kernel.
    pub kernel: KernelName,
    /// `sha256:...` of the kernel's code (SHA-256 of the production module without debug information) and of all
    /// its configurations.
    pub code: String,
    /// What it changes, in the order of files and texts.
    pub changes: Vec<SubjectChange>,
    /// Of a mutant of dispatches: `sha256:...` of each test that has the fault.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<TestId, String>,
    /// Of a mutant of dispatches: as `code`, of every other kernel that these tests dispatch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<KernelName, String>,
}

/// A change of a text, whatever the text around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectChange {
    /// The file, as the project names it.
    pub file: String,
    /// The lines that hold the old text, with one space for each white space; of dispatches their place in the test.
    pub text: String,
    /// How many lines with the same text are above these in the file; 0 of dispatches.
    pub same_above: u32,
    /// How many characters of `text` are before the old text; 0 of dispatches.
    pub before: u32,
    /// What is taken away.
    pub old: String,
    /// What stands there instead.
    pub new: String,
}
