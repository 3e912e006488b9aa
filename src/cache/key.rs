//! By what a run is named: a SHA-256 over everything that its result depends on.
//!
//! Promises: every field of a job and of a request is taken apart by name, so that a new one does not
//! compile until it is said here whether results depend on it. Each part is hashed behind its length,
//! so that no two runs have the same bytes.

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use vkcert_exec::access_pairs::PairTracking;
use vkcert_exec::resource::JobResources;
use vkcert_exec::schedule::{Dispatches, Following};
use vkcert_exec::{
    Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording, RunRequest,
};
use vkcert_model::canonical::hexadecimal_digits;
use vkcert_model::records::MarkerTable;
use vkcert_model::verdict::EngineName;

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;

/// The name of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// The key of these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// 64 of its bits, to draw by.
    pub fn low_bits(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The key that these 64 digits name; none where they name none.
    pub fn parse(digits: &str) -> Option<Self> {
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(half_byte(*high)? << 4 | half_byte(*low)?));
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        rest.is_empty().then_some(Self(bytes.try_into().ok()?))
    }
}

/// The value of a lower-case hexadecimal digit.
fn half_byte(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal_digits(&self.0))
    }
}

/// An engine with the program that it is of, its settings, its device and driver.
#[derive(Debug, Clone)]
pub struct EngineSetup {
    digest: [u8; 32],
    /// Of the words of modules.
    words: Arc<SharedDigests<Vec<u32>>>,
    /// Of the tables of markers of modules.
    tables: Arc<SharedDigests<MarkerTable>>,
}

impl EngineSetup {
    /// `program`: the SHA-256 of the program's file; `settings`: every setting and identity that a
    /// result can depend on, by name.
    pub fn new(
        program: &str,
        engine_name: EngineName,
        settings: &BTreeMap<String, String>,
    ) -> Self {
        let mut parts = KeyParts::default();
        parts.add_text(program);
        parts.add_text(&engine_name.to_string());
        parts.add_count(settings.len());
        for (name, value) in settings {
            parts.add_text(name);
            parts.add_text(value);
        }
        Self { digest: parts.digest(), words: Arc::default(), tables: Arc::default() }
    }

    /// Hexadecimal digits that stand for all of it.
    pub fn digits(&self) -> String {
        CacheKey(self.digest).to_string()
    }

    /// The key of a run on this engine.
    pub fn key_of(&self, request: &RunRequest<'_>) -> Result<CacheKey, serde_json::Error> {
        let mut parts = KeyParts::default();
        parts.add_bytes(&self.digest);
        parts.add_request(request)?;
        request.job.modules.iter().try_for_each(|module| self.add_module(&mut parts, module))?;
        Ok(CacheKey(parts.digest()))
    }

    fn add_module(
        &self,
        parts: &mut KeyParts,
        module: &JobModule,
    ) -> Result<(), serde_json::Error> {
        let JobModule { key, words, recording } = module;
        parts.add_value(&(key.kernel, key.specialization))?;
        parts.add_bytes(&self.words.digest_of(words, |words| {
            Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
        })?);
        match recording {
            ModuleRecording::None => parts.add_text("none"),
            ModuleRecording::Markers(table) => {
                parts.add_text("markers");
                parts.add_bytes(&self.tables.digest_of(table, serde_json::to_vec)?);
            }
            ModuleRecording::Buffer(record_buffer) => {
                parts.add_text("buffer");
                parts.add_value(record_buffer)?;
            }
        }
        Ok(())
    }
}

/// SHA-256 of things that many jobs share, so that they are not hashed for each.
#[derive(Debug)]
struct SharedDigests<T> {
    known: Mutex<KnownDigests<T>>,
}

#[derive(Debug)]
struct KnownDigests<T> {
    /// By address. As long as a thing is referred to here, nothing else has its address.
    by_address: HashMap<usize, SharedDigest<T>>,
    /// How many may be there before those of things that are gone are removed.
    room: usize,
}

#[derive(Debug)]
struct SharedDigest<T> {
    thing: Weak<T>,
    digest: [u8; 32],
}

impl<T> Default for SharedDigests<T> {
    fn default() -> Self {
        let known = KnownDigests { by_address: HashMap::new(), room: LEAST_ROOM };
        Self { known: Mutex::new(known) }
    }
}

/// Digests that are there before any are removed.
const LEAST_ROOM: usize = 256;

impl<T> SharedDigests<T> {
    /// The digest of what `bytes_of` writes of a thing.
    fn digest_of(
        &self,
        thing: &Arc<T>,
        bytes_of: impl FnOnce(&T) -> Result<Vec<u8>, serde_json::Error>,
    ) -> Result<[u8; 32], serde_json::Error> {
        let address = Arc::as_ptr(thing).addr();
        if let Some(shared) = self.known().by_address.get(&address) {
            return Ok(shared.digest);
        }
        let digest = Sha256::digest(bytes_of(thing)?).into();
        self.known().add(address, SharedDigest { thing: Arc::downgrade(thing), digest });
        Ok(digest)
    }

    fn known(&self) -> MutexGuard<'_, KnownDigests<T>> {
        // Entries are put in whole, whatever becomes of those who do so.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> KnownDigests<T> {
    fn add(&mut self, address: usize, shared: SharedDigest<T>) {
        if self.by_address.len() >= self.room {
            self.by_address.retain(|_, shared| shared.thing.strong_count() > 0);
            self.room = LEAST_ROOM.max(2 * self.by_address.len());
        }
        self.by_address.insert(address, shared);
    }
}

/// What is hashed.
#[derive(Default)]
struct KeyParts {
    hasher: Sha256,
}

impl KeyParts {
    fn digest(self) -> [u8; 32] {
        self.hasher.finalize().into()
    }

    fn add_count(&mut self, count: usize) {
        self.hasher.update((count as u64).to_le_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.add_count(bytes.len());
        self.hasher.update(bytes);
    }

    fn add_text(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
    }

    fn add_value(&mut self, value: &impl Serialize) -> Result<(), serde_json::Error> {
        self.add_bytes(&serde_json::to_vec(value)?);
        Ok(())
    }

    fn add_request(&mut self, request: &RunRequest<'_>) -> Result<(), serde_json::Error> {
        let RunRequest { job, following, variation, repetitions, pair_tracking } = *request;
        self.add_value(&following.map(|following| {
            let Following { schedule, dispatches } = following;
            let dispatch = match dispatches {
                Dispatches::All => None,
                Dispatches::One(dispatch) => Some(dispatch),
            };
            (schedule, dispatch)
        }))?;
        // Its derived text names every field.
        self.add_text(&format!("{variation:?}"));
        self.add_value(&repetitions)?;
        self.add_value(&match pair_tracking {
            PairTracking::Off => false,
            PairTracking::On => true,
        })?;
        self.add_job(job)
    }

    fn add_job(&mut self, job: &Job) -> Result<(), serde_json::Error> {
        // What modules are is added by the setup, which knows their digests.
        let Job { name, modules, buffers, resources, dispatches, limits, checks } = job;
        self.add_text(name);
        self.add_count(modules.len());
        self.add_count(buffers.len());
        buffers.iter().try_for_each(|buffer| self.add_buffer(buffer))?;
        let JobResources { images, samplers, addresses } = resources;
        self.add_value(&(images, samplers, addresses))?;
        self.add_count(dispatches.len());
        dispatches.iter().try_for_each(|dispatch| self.add_dispatch(dispatch))?;
        self.add_value(&(limits, checks))
    }

    fn add_buffer(&mut self, buffer: &JobBuffer) -> Result<(), serde_json::Error> {
        let JobBuffer { name, bytes, defined } = buffer;
        self.add_text(name);
        self.add_bytes(bytes);
        self.add_value(defined)
    }

    fn add_dispatch(&mut self, dispatch: &JobDispatch) -> Result<(), serde_json::Error> {
        let JobDispatch {
            module,
            entry,
            groups,
            bindings,
            push_constants,
            push_constants_defined,
            specialization,
            subgroup_size,
        } = dispatch;
        self.add_value(&(module, entry, groups, specialization, subgroup_size))?;
        self.add_bytes(push_constants);
        self.add_value(push_constants_defined)?;
        self.add_count(bindings.len());
        bindings.iter().try_for_each(|binding| self.add_binding(binding))
    }

    fn add_binding(&mut self, job_binding: &JobBinding) -> Result<(), serde_json::Error> {
        let JobBinding {
            set,
            binding,
            array_index,
            class,
            view,
            buffer,
            offset,
            range,
            dynamic_offset,
        } = job_binding;
        self.add_value(&(set, binding, array_index, class, view))?;
        self.add_value(&(buffer, offset, range, dynamic_offset))
    }
}
