//! The files of evidence: their names, their canonical JSON, and the inputs that they store.

use base64::Engine as _;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::canonical::canonical_lines;
use vkcert_model::evidence::{
    Campaign, Evidence, KernelEvidence, StoredFile, StoredInputs, write_campaign_text,
};
use vkcert_model::id::KernelName;

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
    let mut configurations: BTreeMap<KernelName, BTreeSet<&str>> = BTreeMap::new();
    for row in kernels {
        configurations.entry(row.kernel).or_default().insert(&row.configuration.name);
    }
    let mut file_names: Vec<String> = Vec::new();
    let mut taken_names: BTreeSet<String> = BTreeSet::new();
    for kernel in kernels {
        let has_several_configurations = configurations[&kernel.kernel].len() > 1;
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
        let is_taken = |file_name: &String| taken_names.contains(file_name);
        let numbered_names = (2..).map(|number| format!("{file_stem}~{number}.json"));
        let file_name = std::iter::once(format!("{file_stem}.json"))
            .chain(numbered_names)
            .find(|file_name| !is_taken(file_name));
        let file_name = file_name.expect("there are more numbers than files");
        taken_names.insert(file_name.clone());
        file_names.push(file_name);
    }
    file_names
}

/// A file of the evidence that is still to be made.
#[derive(Clone, Copy)]
enum UnmadeFile<'e> {
    Campaign(&'e Campaign),
    Kernel(&'e KernelEvidence),
    Inputs(&'e StoredInputs),
}

impl UnmadeFile<'_> {
    fn bytes(self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            UnmadeFile::Campaign(campaign) => campaign_bytes(campaign),
            UnmadeFile::Kernel(kernel) => canonical_bytes(kernel),
            UnmadeFile::Inputs(inputs) => canonical_bytes(inputs),
        }
    }
}

/// Makes every file of the evidence but the manifest, on all cores, and hands each to `store` as
/// soon as it is made; what `store` gives, by the file's name. The largest is made first.
///
/// # Errors
/// Those of `store`, and of values that cannot be written as JSON.
pub fn store_evidence_files<T, E>(
    evidence: &Evidence,
    store: impl Fn(&str, Vec<u8>) -> Result<T, E> + Sync,
) -> Result<BTreeMap<String, T>, E>
where
    T: Send,
    E: From<serde_json::Error> + Send,
{
    let mut unmade_files = vec![(CAMPAIGN.to_owned(), UnmadeFile::Campaign(&evidence.campaign))];
    let inputs =
        evidence.inputs.iter().map(|inputs| (INPUTS.to_owned(), UnmadeFile::Inputs(inputs)));
    unmade_files.extend(inputs);
    let kernels = evidence.kernels.iter().map(UnmadeFile::Kernel);
    unmade_files.extend(kernel_files(&evidence.kernels).into_iter().zip(kernels));
    let stored = unmade_files.into_par_iter().map(|(name, file)| {
        let result = store(&name, file.bytes()?)?;
        Ok((name, result))
    });
    stored.collect()
}

/// Every file of the evidence but the manifest, by name.
pub fn evidence_files(evidence: &Evidence) -> Result<BTreeMap<String, Vec<u8>>, serde_json::Error> {
    store_evidence_files(evidence, |_, bytes| Ok(bytes))
}

fn campaign_bytes(campaign: &Campaign) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    write_campaign_text(campaign, 0, &mut |piece: &str| {
        bytes.extend_from_slice(piece.as_bytes());
        Ok::<_, serde_json::Error>(())
    })?;
    bytes.push(b'\n');
    Ok(bytes)
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
