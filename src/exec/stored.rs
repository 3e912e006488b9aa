//! Expectations as evidence stores them, so that a verdict can be derived again from stored outputs alone.
//!
//! Promises: the same comparison as `judge`. Does not cover: expectations by a reference kernel or a checker, whose values
//! exist only while it runs; they are stored by name and `verify` says that they cannot be derived again.

use super::comparison::{Placement, compare};
use super::flow::BindingNames;
use super::prepare::{Expected, ExpectedContents, Leaf, Prepared};
use super::texel::compared;
use super::{Job, flow};
use crate::model::element::{ElementType, ScalarType};
use crate::model::evidence::{ExpectedRun, StoredContents, StoredExpectation};
use crate::model::flow::{BufferRange, StoreFlow};
use crate::model::id::KernelName;
use crate::model::verdict::Verdict;
use crate::spirv::flow::flows;
use crate::spirv::module::Module;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::{BTreeMap, BTreeSet};

/// The expectations of a prepared test.
pub fn expectations(prepared: &Prepared) -> Vec<StoredExpectation> {
    prepared.expected.iter().map(|expected| stored(prepared, expected)).collect()
}

fn stored(prepared: &Prepared, expected: &Expected) -> StoredExpectation {
    let name = |index: usize| prepared.job.buffers[index].name.clone();
    let contents = match &expected.contents {
        ExpectedContents::Values(leaves) => StoredContents::Values(runs(leaves)),
        ExpectedContents::Buffer { other, scalar, offset, length } => {
            let whole = compared(expected.format, &prepared.job.buffers[*other].bytes).len() == *length;
            StoredContents::EqualsBuffer {
                buffer: name(*other),
                scalar: scalar.to_string(),
                offset: *offset as u64,
                length: (!whole).then_some(*length as u64),
            }
        }
        ExpectedContents::Reference { job, scalar, offset, length } => {
            let whole = compared(expected.format, &prepared.job.buffers[expected.buffer].bytes).len();
            StoredContents::Reference {
                kernel: kernels(job),
                scalar: scalar.to_string(),
                offset: *offset as u64,
                length: (*offset + *length != whole).then_some(*length as u64),
            }
        }
        ExpectedContents::Check { job } => {
            StoredContents::Check { kernel: kernels(job), reads: read_by(job, &name(expected.buffer)) }
        }
    };
    StoredExpectation {
        buffer: name(expected.buffer),
        format: expected.format,
        tolerance: expected.tolerance,
        record: expected.placement.stored(),
        contents,
    }
}

/// What the verdict of a checker depends on, by the code of its kernel: nothing where that cannot be told.
fn read_by(job: &Job, verdict: &str) -> Vec<BufferRange> {
    let dispatch = &job.dispatches[0];
    let Ok(module) = Module::parse(job.modules[dispatch.module].words.to_vec()) else { return Vec::new() };
    let Ok(flows) = flows(&module, &dispatch.entry, &dispatch.specialization) else { return Vec::new() };
    let kernel = KernelName(job.modules[dispatch.module].kernel.clone());
    let flow = flow::of_dispatch(job, 0, &kernel, &flows, &BindingNames::new());
    let writes = |store: &&StoreFlow| store.to.iter().any(|range| range.buffer == verdict);
    let reads: BTreeSet<BufferRange> =
        flow.stores.iter().filter(writes).flat_map(|store| store.from.iter().cloned()).collect();
    reads.into_iter().filter(|range| range.buffer != verdict).collect()
}

fn kernels(job: &Job) -> String {
    let names: Vec<&str> = job.modules.iter().map(|module| module.kernel.as_str()).collect();
    names.join(", ")
}

/// Neighbouring leaves of one type as one run.
fn runs(leaves: &[Leaf]) -> Vec<ExpectedRun> {
    let mut found: Vec<(u64, ScalarType, Vec<u8>)> = Vec::new();
    for leaf in leaves {
        let size = leaf.scalar.size();
        let bytes = &leaf.bits.to_le_bytes()[..size];
        match found.last_mut() {
            Some((offset, scalar, run)) if *scalar == leaf.scalar && *offset + run.len() as u64 == leaf.offset => {
                run.extend_from_slice(bytes);
            }
            _ => found.push((leaf.offset, leaf.scalar, bytes.to_vec())),
        }
    }
    let run = |(offset, scalar, bytes): (u64, ScalarType, Vec<u8>)| ExpectedRun {
        offset,
        scalar: scalar.to_string(),
        bytes: STANDARD.encode(bytes),
    };
    found.into_iter().map(run).collect()
}

/// The verdict that stored outputs of a completed run come to; `Err` says why none can be derived.
pub fn judge(expectations: &[StoredExpectation], outputs: &BTreeMap<String, Vec<u8>>) -> Result<Verdict, String> {
    for expectation in expectations {
        let name = &expectation.buffer;
        // What is expected comes first: of a checker or a reference nothing else is needed.
        let leaves = leaves(expectation, outputs)?;
        let actual =
            outputs.get(name).ok_or_else(|| format!("the contents of buffer {name} are stored as a hash alone"))?;
        let actual = compared(expectation.format, actual);
        let placement = Placement::of_stored(expectation.record);
        if compare(&actual, &leaves, &expectation.tolerance, placement, 0)?.wrong > 0 {
            return Ok(Verdict::Fail);
        }
    }
    Ok(Verdict::Pass)
}

fn leaves(expectation: &StoredExpectation, outputs: &BTreeMap<String, Vec<u8>>) -> Result<Vec<Leaf>, String> {
    let scalar = |text: &str| {
        text.parse::<ElementType>().map(|element| element.scalar).map_err(|_| format!("`{text}` is no scalar type"))
    };
    match &expectation.contents {
        StoredContents::Values(runs) => {
            let mut leaves = Vec::new();
            for run in runs {
                let bytes = STANDARD.decode(&run.bytes).map_err(|error| error.to_string())?;
                leaves.extend(split(&bytes, scalar(&run.scalar)?, run.offset));
            }
            Ok(leaves)
        }
        StoredContents::EqualsBuffer { buffer, scalar: text, offset, length } => {
            let bytes = outputs.get(buffer).ok_or_else(|| format!("the contents of buffer {buffer} are not stored"))?;
            let bytes = compared(expectation.format, bytes);
            let length = length.map_or(bytes.len(), |length| (length as usize).min(bytes.len()));
            Ok(split(&bytes[..length], scalar(text)?, *offset))
        }
        StoredContents::Reference { kernel, .. } => {
            Err(format!("its expectation comes from the reference kernel {kernel}"))
        }
        StoredContents::Check { kernel, reads: _ } => {
            Err(format!("its verdict comes from the checker kernel {kernel}"))
        }
    }
}

fn split(bytes: &[u8], scalar: ScalarType, offset: u64) -> Vec<Leaf> {
    let size = scalar.size();
    let leaf = |(index, bytes): (usize, &[u8])| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        Leaf { offset: offset + (index * size) as u64, scalar, bits: u64::from_le_bytes(word) }
    };
    bytes.chunks_exact(size).enumerate().map(leaf).collect()
}
