//! The files of evidence: their names, their canonical JSON, and the inputs that they store.

use base64::Engine as _;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::canonical::canonical_lines;
use vkcert_model::evidence::{
    Campaign, Evidence, KernelEvidence, MutationEvidence, StoredFile, StoredInputs,
    write_campaign_text,
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
    let mut configurations: BTreeMap<KernelName, BTreeSet<&str>> = BTreeMap::new();
    for row in kernels {
        configurations.entry(row.kernel).or_default().insert(&row.configuration.name);
    }
    let file_stems = kernels.iter().map(|kernel| {
        let has_several_configurations = configurations[&kernel.kernel].len() > 1;
        let configuration_suffix = if has_several_configurations {
            format!("@{}", file_name_part(&kernel.configuration.name))
        } else {
            String::new()
        };
        format!(
            "kernel-{}{configuration_suffix}-{}",
            file_name_part(kernel.kernel.as_str()),
            kernel.engine
        )
    });
    numbered_files(file_stems)
}

/// Names of the files of mutants, in their order.
pub fn mutation_files(mutations: &[MutationEvidence]) -> Vec<String> {
    numbered_files(
        mutations
            .iter()
            .map(|mutation| format!("mutation-{}", file_name_part(mutation.kernel.as_str()))),
    )
}

/// A text whose characters are safe in the name of a file.
fn file_name_part(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.=".contains(c);
    text.chars().map(|c| if is_safe(c) { c } else { '_' }).collect()
}

/// A file of its own for each stem.
fn numbered_files(file_stems: impl Iterator<Item = String>) -> Vec<String> {
    let mut file_names: Vec<String> = Vec::new();
    let mut taken_names: BTreeSet<String> = BTreeSet::new();
    for file_stem in file_stems {
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
pub enum UnmadeFile<'e> {
    /// Grows with the number of tests and kernels: it is to be written piece by piece.
    Campaign(&'e Campaign),
    /// One kernel on one engine.
    Kernel(&'e KernelEvidence),
    /// The mutants of one kernel.
    Mutation(&'e MutationEvidence),
    /// What the run read.
    Inputs(&'e StoredInputs),
}

impl UnmadeFile<'_> {
    /// The file as a whole.
    ///
    /// # Errors
    /// Values that cannot be written as JSON.
    pub fn bytes(self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            UnmadeFile::Campaign(campaign) => {
                let mut bytes = Vec::new();
                write_campaign_bytes(campaign, &mut |piece: &[u8]| {
                    bytes.extend_from_slice(piece);
                    Ok::<_, serde_json::Error>(())
                })?;
                Ok(bytes)
            }
            UnmadeFile::Kernel(kernel) => canonical_bytes(kernel),
            UnmadeFile::Mutation(mutation) => canonical_bytes(mutation),
            UnmadeFile::Inputs(inputs) => canonical_bytes(inputs),
        }
    }
}

/// What `store` gave for files, by their names.
pub type StoredByName<T> = BTreeMap<String, T>;

/// Hands the files of kernels to `store`, on all cores; what it gives, by the file's name.
///
/// # Errors
/// Those of `store`.
pub fn store_kernel_files<T: Send, E: Send>(
    kernels: &[KernelEvidence],
    store: impl Fn(&str, UnmadeFile<'_>) -> Result<T, E> + Sync,
) -> Result<StoredByName<T>, E> {
    store_each(kernel_files(kernels), kernels, UnmadeFile::Kernel, store)
}

/// Hands the files of mutants to `store`, on all cores; what it gives, by the file's name.
///
/// # Errors
/// Those of `store`.
pub fn store_mutation_files<T: Send, E: Send>(
    mutations: &[MutationEvidence],
    store: impl Fn(&str, UnmadeFile<'_>) -> Result<T, E> + Sync,
) -> Result<StoredByName<T>, E> {
    store_each(mutation_files(mutations), mutations, UnmadeFile::Mutation, store)
}

/// Hands a file of each row to `store`, on all cores; what it gives, by the file's name.
fn store_each<'e, R: Sync, T: Send, E: Send>(
    names: Vec<String>,
    rows: &'e [R],
    file_of: fn(&'e R) -> UnmadeFile<'e>,
    store: impl Fn(&str, UnmadeFile<'_>) -> Result<T, E> + Sync,
) -> Result<StoredByName<T>, E> {
    let named_rows = names.into_par_iter().zip(rows).with_max_len(1);
    let stored = named_rows.map(|(name, row)| {
        let result = store(&name, file_of(row))?;
        Ok((name, result))
    });
    stored.collect()
}

/// Hands the files of a campaign and of what it read to `store`; what it gives, by the file's name.
///
/// # Errors
/// Those of `store`.
pub fn store_campaign_files<T: Send, E: Send>(
    campaign: &Campaign,
    inputs: Option<&StoredInputs>,
    store: impl Fn(&str, UnmadeFile<'_>) -> Result<T, E> + Sync,
) -> Result<StoredByName<T>, E> {
    let (campaign_result, inputs_result) = rayon::join(
        || store(CAMPAIGN, UnmadeFile::Campaign(campaign)),
        || inputs.map(|inputs| store(INPUTS, UnmadeFile::Inputs(inputs))).transpose(),
    );
    let mut stored = BTreeMap::from([(CAMPAIGN.to_owned(), campaign_result?)]);
    stored.extend(inputs_result?.map(|result| (INPUTS.to_owned(), result)));
    Ok(stored)
}

/// Every file of the evidence but the manifest, by name.
pub fn evidence_files(evidence: &Evidence) -> Result<StoredByName<Vec<u8>>, serde_json::Error> {
    let store = |_: &str, file: UnmadeFile<'_>| file.bytes();
    let Evidence { campaign, kernels, mutations, inputs, manifest: _ } = evidence;
    let mut files = store_campaign_files(campaign, inputs.as_ref(), store)?;
    files.extend(store_kernel_files(kernels, store)?);
    files.extend(store_mutation_files(mutations, store)?);
    Ok(files)
}

/// Makes `campaign.json` piece by piece and hands each to `write`, in their order.
///
/// # Errors
/// Those of `write`, and of values that cannot be written as JSON.
pub fn write_campaign_bytes<E: From<serde_json::Error> + Send>(
    campaign: &Campaign,
    write: &mut (dyn FnMut(&[u8]) -> Result<(), E> + Send),
) -> Result<(), E> {
    write_campaign_text(campaign, 0, &mut |piece: &str| write(piece.as_bytes()))?;
    write(b"\n")
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
