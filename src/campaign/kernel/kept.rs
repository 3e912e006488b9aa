//! Compiled kernels that a cache keeps between campaigns.
//!
//! Knows: all that decides what a kernel is compiled to. Promises: a kernel is only taken where this
//! program would compile the same text, with the same files included, to the same again; what cannot
//! be written down and read again as it was is not kept; a kernel that does not compile is compiled
//! each time.
//! Does not cover: SPIR-V modules of the project, which are read and not compiled.

use super::compile::from_glsl;
use super::{CompiledKernel, Measured, MeasuredParts, Measurement};
use crate::CampaignError;
use crate::object::{ObjectCode, StoredObject};
use crate::project::module_bytes;
use base64::Engine as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_cache::run_cache::{MadeProduct, Product};
use vkcert_cache::store::KeptContent;
use vkcert_cache::{CacheKey, RunCache};
use vkcert_glsl::{IncludeLookup, KernelSource, finds_the_same};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::finding::Finding;
use vkcert_model::records::{MarkerTable, RecordBuffer};
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::Module;

/// Words of a module: base64 of their little-endian bytes.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct StoredWords(String);

impl StoredWords {
    pub(crate) fn of(words: &[u32]) -> Self {
        Self(base64::engine::general_purpose::STANDARD.encode(module_bytes(words)))
    }

    /// None where these are no words.
    pub(crate) fn words(&self) -> Option<Vec<u32>> {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&self.0).ok()?;
        let (words, rest) = bytes.as_chunks::<4>();
        rest.is_empty().then(|| words.iter().copied().map(u32::from_le_bytes).collect())
    }
}

/// A kernel as a cache keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKernel {
    lookups: Vec<IncludeLookup>,
    production: StoredWords,
    measurement: StoredMeasurement,
    object: StoredObject,
    text: Option<String>,
    included: BTreeMap<String, String>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredMeasurement {
    Markers(Box<StoredMeasured>),
    Failed(Box<KernelStructure>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredMeasured {
    structure: KernelStructure,
    marked: StoredWords,
    traced: StoredWords,
    instrumented: StoredWords,
    markers: MarkerTable,
    record_buffer: RecordBuffer,
}

/// Compiles a kernel, or takes it from a cache that has it.
pub fn from_glsl_or_cache(
    name: &str,
    kernel_source: KernelSource,
    wanted: MeasuredParts,
    cache: Option<&RunCache>,
) -> Result<CompiledKernel, CampaignError> {
    let Some(cache) = cache else { return from_glsl(name, kernel_source, wanted) };
    let Some(key) = key_of(cache.program(), name, &kernel_source, wanted) else {
        return from_glsl(name, kernel_source, wanted);
    };
    let read = |KeptContent { bytes, sha256 }: KeptContent| {
        let kernel = taken_kernel(name, &kernel_source, &bytes)?;
        Some(CompiledKernel { identity: Some(identity(&key, &sha256)), ..kernel })
    };
    let make = || {
        let kernel = from_glsl(name, kernel_source.clone(), wanted)?;
        let content = faithful_text(&kernel, &kernel_source);
        let identity = content.as_deref().map(|content| identity(&key, &sha256_digits(content)));
        Ok(MadeProduct { product: CompiledKernel { identity, ..kernel }, content })
    };
    cache.taken_or_made(Product::Kernel, (key, &format!("kernel {name}")), read, make)
}

/// A SHA-256 over all that decides what a kernel is compiled to, but the files that it includes and
/// where its own file lies: these are looked for again.
fn key_of(
    program: &str,
    name: &str,
    kernel_source: &KernelSource,
    wanted: MeasuredParts,
) -> Option<CacheKey> {
    let KernelSource {
        path,
        text,
        include: _,
        folder: _,
        defines,
        entry,
        target_env,
        optimization,
        policy,
        requested,
    } = kernel_source;
    let wanted = match wanted {
        MeasuredParts::Source => "source",
        MeasuredParts::SourceAndObject => "source and object",
    };
    let parts = (name, path, text, defines, entry, target_env, optimization, policy, wanted);
    let bytes = serde_json::to_vec(&("kernel", program, parts, format!("{requested:?}"))).ok()?;
    Some(CacheKey::of_bytes(&bytes))
}

/// What stands for a kernel and all that it was compiled to: the key under which it is kept, and the
/// SHA-256 of what stands there.
fn identity(key: &CacheKey, content_sha256: &str) -> CacheKey {
    CacheKey::of_bytes(format!("{key} {content_sha256}").as_bytes())
}

/// A kernel as a cache keeps it, if that is all of it.
fn faithful_text(kernel: &CompiledKernel, kernel_source: &KernelSource) -> Option<Vec<u8>> {
    let text = serde_json::to_vec(&StoredKernel::of_kernel(kernel)?).ok()?;
    let read = taken_kernel(&kernel.name, kernel_source, &text)?;
    let is_same = read.findings == kernel.findings
        && read.structure() == kernel.structure()
        && read.object.structure == kernel.object.structure
        && serde_json::to_vec(&StoredKernel::of_kernel(&read)?).ok()? == text;
    is_same.then_some(text)
}

impl StoredKernel {
    fn of_kernel(kernel: &CompiledKernel) -> Option<Self> {
        let measurement = match &kernel.measurement {
            Measurement::Markers(measured) => {
                StoredMeasurement::Markers(Box::new(StoredMeasured::of_measured(measured)))
            }
            Measurement::Failed { structure } => StoredMeasurement::Failed(structure.clone()),
            Measurement::NoSource => return None,
        };
        Some(Self {
            lookups: kernel.lookups.clone()?,
            production: StoredWords::of(&kernel.production),
            measurement,
            object: kernel.object.stored(),
            text: kernel.text.clone(),
            included: kernel.included.clone(),
            findings: kernel.findings.clone(),
            notes: kernel.notes.clone(),
        })
    }
}

/// The kernel that was written down; none where it is not whole or includes other files today.
fn taken_kernel(name: &str, kernel_source: &KernelSource, text: &[u8]) -> Option<CompiledKernel> {
    let stored: StoredKernel = serde_json::from_slice(text).ok()?;
    if !finds_the_same(kernel_source, &stored.lookups) {
        return None;
    }
    let production = Arc::new(stored.production.words()?);
    let module = Arc::new(Module::parse(Arc::clone(&production)).ok()?);
    let object = ObjectCode::from_stored(kernel_source, stored.object)?;
    let measurement = match stored.measurement {
        StoredMeasurement::Markers(measured) => {
            Measurement::Markers(Box::new(measured.into_measured()?))
        }
        StoredMeasurement::Failed(structure) => Measurement::Failed { structure },
    };
    Some(CompiledKernel {
        name: name.to_owned(),
        entry: kernel_source.entry.clone(),
        target_env: kernel_source.target_env.clone(),
        defines: kernel_source.defines.clone(),
        source: kernel_source.path.clone(),
        production,
        module,
        measurement,
        object,
        text: stored.text,
        unsupported: None,
        included: stored.included,
        lookups: Some(stored.lookups),
        identity: None,
        findings: stored.findings,
        notes: stored.notes,
    })
}

impl StoredMeasured {
    fn of_measured(measured: &Measured) -> Self {
        let Measured { structure, marked, module: _, traced, instrumented, markers, record_buffer } =
            measured;
        Self {
            structure: structure.clone(),
            marked: StoredWords::of(marked),
            traced: StoredWords::of(traced),
            instrumented: StoredWords::of(instrumented),
            markers: (**markers).clone(),
            record_buffer: record_buffer.clone(),
        }
    }

    fn into_measured(self) -> Option<Measured> {
        let marked = Arc::new(self.marked.words()?);
        Some(Measured {
            structure: self.structure,
            module: Arc::new(Module::parse(Arc::clone(&marked)).ok()?),
            marked,
            traced: Arc::new(self.traced.words()?),
            instrumented: Arc::new(self.instrumented.words()?),
            markers: Arc::new(self.markers),
            record_buffer: self.record_buffer,
        })
    }
}
