//! The files of evidence: their names, their canonical JSON, and the inputs that they store.

use base64::Engine as _;
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_model::canonical::canonical_lines;
use vkcert_model::evidence::{Evidence, KernelEvidence, StoredFile, kernel_label};

/// The list of all other files, with their hashes.
pub const MANIFEST: &str = "manifest.json";
/// The run without kernels and inputs.
pub const CAMPAIGN: &str = "campaign.json";
/// What the run read.
pub const INPUTS: &str = "inputs.json";
/// Beside the reports, outside of the evidence.
pub const REPORTS: &str = "reports.json";
/// Where, when and by which program the run was made; beside the reports, outside of the evidence.
pub const PROVENANCE: &str = "provenance.json";

/// Names of the kernels' evidence files, in their order; the configuration is named where a kernel
/// has several.
pub fn kernel_files(kernels: &[KernelEvidence]) -> Vec<String> {
    let file_name_part = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '_' })
            .collect()
    };
    let mut file_names: Vec<String> = Vec::new();
    for kernel in kernels {
        let has_several_configurations = kernel_label(kernels, kernel) != kernel.kernel.as_str();
        let configuration_suffix = if has_several_configurations {
            format!("@{}", file_name_part(&kernel.configuration.name))
        } else {
            String::new()
        };
        let file_stem = format!(
            "kernel-{}{configuration_suffix}-{}",
            file_name_part(kernel.kernel.as_str()),
            kernel.engine
        );
        // Names that differ in unsafe characters alone are told apart by number.
        let is_taken = |file_name: &String| file_names.contains(file_name);
        let numbered_names = (2..).map(|number| format!("{file_stem}~{number}.json"));
        let file_name = std::iter::once(format!("{file_stem}.json"))
            .chain(numbered_names)
            .find(|file_name| !is_taken(file_name));
        file_names.push(file_name.expect("there are more numbers than files"));
    }
    file_names
}

/// Every file of the evidence but the manifest, by name.
pub fn evidence_files(evidence: &Evidence) -> Result<BTreeMap<String, Vec<u8>>, serde_json::Error> {
    let mut files = BTreeMap::from([(CAMPAIGN.to_owned(), canonical_bytes(&evidence.campaign)?)]);
    for (name, kernel) in kernel_files(&evidence.kernels).into_iter().zip(&evidence.kernels) {
        files.insert(name, canonical_bytes(kernel)?);
    }
    if let Some(inputs) = &evidence.inputs {
        files.insert(INPUTS.to_owned(), canonical_bytes(inputs)?);
    }
    Ok(files)
}

/// A value as a file of the evidence holds it.
pub fn canonical_bytes(value: &impl serde::Serialize) -> Result<Vec<u8>, serde_json::Error> {
    canonical_lines(value).map(String::into_bytes)
}

/// The bytes of a stored file; none where its contents are not stored or not readable.
pub fn stored_file_bytes(file: &StoredFile) -> Option<Cow<'_, [u8]>> {
    match file {
        StoredFile::Text(text) => Some(Cow::Borrowed(text.as_bytes())),
        StoredFile::Bytes(text) => {
            base64::engine::general_purpose::STANDARD.decode(text).ok().map(Cow::Owned)
        }
        StoredFile::Omitted { .. } => None,
    }
}
