//! By what a run is named: a SHA-256 over everything that its result depends on.
//!
//! Promises: every field of a job and of a request is taken apart by name, so that a new one does not
//! compile until it is said here whether results depend on it. Each part is hashed behind its length,
//! so that no two runs have the same bytes.

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use vkcert_exec::access_pairs::PairTracking;
use vkcert_exec::resource::JobResources;
use vkcert_exec::schedule::{Dispatches, Following};
use vkcert_exec::{
    Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording, RunRequest,
};
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
        let mut key = [0; 32];
        if digits.len() != 64 || !digits.is_ascii() {
            return None;
        }
        for (byte, place) in key.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&digits[place..place + 2], 16).ok()?;
        }
        let parsed = Self(key);
        (parsed.to_string() == digits).then_some(parsed)
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An engine with the program that it is of, its settings, its device and driver.
#[derive(Debug, Clone)]
pub struct EngineSetup {
    digest: [u8; 32],
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
        Self { digest: parts.digest() }
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
        Ok(CacheKey(parts.digest()))
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
        let Job { name, modules, buffers, resources, dispatches, limits, checks } = job;
        self.add_text(name);
        self.add_count(modules.len());
        modules.iter().try_for_each(|module| self.add_module(module))?;
        self.add_count(buffers.len());
        buffers.iter().try_for_each(|buffer| self.add_buffer(buffer))?;
        let JobResources { images, samplers, addresses } = resources;
        self.add_value(&(images, samplers, addresses))?;
        self.add_count(dispatches.len());
        dispatches.iter().try_for_each(|dispatch| self.add_dispatch(dispatch))?;
        self.add_value(&(limits, checks))
    }

    fn add_module(&mut self, module: &JobModule) -> Result<(), serde_json::Error> {
        let JobModule { key, words, recording } = module;
        self.add_value(&(key.kernel, key.specialization))?;
        self.add_count(words.len());
        let mut bytes = Vec::with_capacity(words.len() * 4);
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        self.hasher.update(&bytes);
        match recording {
            ModuleRecording::None => self.add_text("none"),
            ModuleRecording::Markers(table) => {
                self.add_text("markers");
                self.add_value(table.as_ref())?;
            }
            ModuleRecording::Buffer(record_buffer) => {
                self.add_text("buffer");
                self.add_value(record_buffer)?;
            }
        }
        Ok(())
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
