//! Expectations as evidence stores them, so that a verdict can be derived again from stored outputs
//! alone.
//!
//! Promises: the same comparison as `judge`. Does not cover: expectations by a reference kernel or
//! a checker, whose values exist only while it runs; they are stored by name and `verify` says that
//! they cannot be derived again.

use super::flow::BindingNames;
use super::prepare::{Expected, ExpectedContents, Prepared};
use super::{Job, flow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeSet;
use vkcert_model::element::ScalarType;
use vkcert_model::evidence::{ExpectedRun, StoredContents, StoredExpectation};
use vkcert_model::flow::{BufferRange, StoreFlow};
use vkcert_oracle::scalar::Leaf;
use vkcert_oracle::texel::compared_contents;
use vkcert_spirv::flow::kernel_flows;
use vkcert_spirv::module::Module;

/// The expectations of a prepared test.
pub fn expectations(prepared: &Prepared) -> Vec<StoredExpectation> {
    prepared.expected.iter().map(|expected| stored(prepared, expected)).collect()
}

fn stored(prepared: &Prepared, expected: &Expected) -> StoredExpectation {
    let name = |index: usize| prepared.job.buffers[index].name.clone();
    let contents = match &expected.contents {
        ExpectedContents::Values(leaves) => StoredContents::Values(runs(leaves)),
        ExpectedContents::Buffer { other, scalar, offset, length } => {
            let whole = compared_contents(expected.format, &prepared.job.buffers[*other].bytes)
                .len()
                == *length;
            StoredContents::EqualsBuffer {
                buffer: name(*other),
                scalar: scalar.to_string(),
                offset: *offset as u64,
                length: (!whole).then_some(*length as u64),
            }
        }
        ExpectedContents::Reference { job, scalar, offset, length } => {
            let whole =
                compared_contents(expected.format, &prepared.job.buffers[expected.buffer].bytes)
                    .len();
            StoredContents::Reference {
                kernel: kernels(job),
                scalar: scalar.to_string(),
                offset: *offset as u64,
                length: (*offset + *length != whole).then_some(*length as u64),
            }
        }
        ExpectedContents::Check { job } => StoredContents::Check {
            kernel: kernels(job),
            reads: read_by(job, &name(expected.buffer)),
        },
    };
    StoredExpectation {
        buffer: name(expected.buffer),
        format: expected.format,
        tolerance: expected.tolerance,
        record: expected.placement.stored_record_length(),
        contents,
    }
}

/// What the verdict of a checker depends on, by the code of its kernel: nothing where that cannot
/// be told.
fn read_by(job: &Job, verdict: &str) -> Vec<BufferRange> {
    let dispatch = &job.dispatches[0];
    let Ok(module) = Module::parse(job.modules[dispatch.module].words.to_vec()) else {
        return Vec::new();
    };
    let Ok(flows) = kernel_flows(&module, &dispatch.entry, &dispatch.specialization) else {
        return Vec::new();
    };
    let kernel = job.modules[dispatch.module].key.kernel;
    let flow = flow::of_dispatch(job, 0, &kernel, &flows, &BindingNames::new());
    let writes = |store: &&StoreFlow| store.to.iter().any(|range| range.buffer == verdict);
    let reads: BTreeSet<BufferRange> =
        flow.stores.iter().filter(writes).flat_map(|store| store.from.iter().cloned()).collect();
    reads.into_iter().filter(|range| range.buffer != verdict).collect()
}

fn kernels(job: &Job) -> String {
    let names: Vec<String> = job.modules.iter().map(|module| module.key.to_string()).collect();
    names.join(", ")
}

/// Neighbouring leaves of one type as one run.
fn runs(leaves: &[Leaf]) -> Vec<ExpectedRun> {
    let mut found: Vec<(u64, ScalarType, Vec<u8>)> = Vec::new();
    for leaf in leaves {
        let size = leaf.scalar.size();
        let bytes = &leaf.bits.to_le_bytes()[..size];
        match found.last_mut() {
            Some((offset, scalar, run))
                if *scalar == leaf.scalar && *offset + run.len() as u64 == leaf.offset =>
            {
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
