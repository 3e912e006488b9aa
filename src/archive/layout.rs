//! Where what stands in an archive, below its one folder.

/// Evidence and reports as a run wrote them: what stands beside each other there, does here.
pub const RESULTS: &str = "results";
/// The evidence, below [`RESULTS`].
pub const EVIDENCE: &str = "results/evidence";
/// The inputs of the run by their paths in the project.
pub const PROJECT: &str = "project";
/// Production modules as SPIR-V.
pub const MODULES: &str = "modules";
/// JSON Schemas of all formats.
pub const SCHEMAS: &str = "schemas";
/// What documents the formats.
pub const DOCUMENTS: &str = "documents";
/// How to verify without this program.
pub const README: &str = "README.md";
/// SHA-256 of every other file, as `sha256sum` reads it.
pub const SUMS: &str = "SHA256SUMS";

/// The one folder of an archive, after the root of its evidence.
pub fn top_folder(root: &str) -> String {
    let beginning: String = root.chars().take(16).collect();
    format!("vkcert-{beginning}")
}
