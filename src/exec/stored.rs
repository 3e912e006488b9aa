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
pub fn stored_expectations(prepared: &Prepared) -> Vec<StoredExpectation> {
    prepared.expected.iter().map(|expected| stored_expectation(prepared, expected)).collect()
}

fn stored_expectation(prepared: &Prepared, expected: &Expected) -> StoredExpectation {
    let buffer_name = |buffer_index: usize| prepared.job.buffers[buffer_index].name.clone();
    let contents = match &expected.contents {
        ExpectedContents::Values(leaves) => StoredContents::Values(expected_runs(leaves)),
        ExpectedContents::Buffer { other, scalar, offset, length } => {
            let is_whole = compared_contents(expected.format, &prepared.job.buffers[*other].bytes)
                .len()
                == *length;
            StoredContents::EqualsBuffer {
                buffer: buffer_name(*other),
                scalar: scalar.to_string(),
                offset: *offset as u64,
                length: (!is_whole).then_some(*length as u64),
            }
        }
        ExpectedContents::Reference { job, scalar, offset, length } => {
            let is_whole =
                compared_contents(expected.format, &prepared.job.buffers[expected.buffer].bytes)
                    .len();
            StoredContents::Reference {
                kernel: kernel_names(job),
                scalar: scalar.to_string(),
                offset: *offset as u64,
                length: (*offset + *length != is_whole).then_some(*length as u64),
            }
        }
        ExpectedContents::Check { job } => StoredContents::Check {
            kernel: kernel_names(job),
            reads: read_by(job, &buffer_name(expected.buffer)),
        },
    };
    StoredExpectation {
        buffer: buffer_name(expected.buffer),
        format: expected.format,
        tolerance: expected.tolerance,
        record: expected.placement.stored_record_length(),
        contents,
    }
}

/// What the verdict of a checker depends on, by the code of its kernel: nothing where that cannot
/// be told.
fn read_by(job: &Job, verdict_buffer: &str) -> Vec<BufferRange> {
    let dispatch = &job.dispatches[0];
    let Ok(module) = Module::parse(job.modules[dispatch.module].words.to_vec()) else {
        return Vec::new();
    };
    let Ok(flows) = kernel_flows(&module, &dispatch.entry, &dispatch.specialization) else {
        return Vec::new();
    };
    let kernel = job.modules[dispatch.module].key.kernel;
    let flow = flow::of_dispatch(job, 0, &kernel, &flows, &BindingNames::new());
    let writes_verdict =
        |store: &&StoreFlow| store.to.iter().any(|range| range.buffer == verdict_buffer);
    let read_ranges: BTreeSet<BufferRange> = flow
        .stores
        .iter()
        .filter(writes_verdict)
        .flat_map(|store| store.from.iter().cloned())
        .collect();
    read_ranges.into_iter().filter(|range| range.buffer != verdict_buffer).collect()
}

fn kernel_names(job: &Job) -> String {
    let module_names: Vec<String> =
        job.modules.iter().map(|module| module.key.to_string()).collect();
    module_names.join(", ")
}

/// Neighbouring leaves of one type as one run.
fn expected_runs(leaves: &[Leaf]) -> Vec<ExpectedRun> {
    let mut typed_runs: Vec<(u64, ScalarType, Vec<u8>)> = Vec::new();
    for leaf in leaves {
        let scalar_size = leaf.scalar.size();
        let scalar_bytes = &leaf.bits.to_le_bytes()[..scalar_size];
        match typed_runs.last_mut() {
            Some((offset, scalar, expected_run))
                if *scalar == leaf.scalar && *offset + expected_run.len() as u64 == leaf.offset =>
            {
                expected_run.extend_from_slice(scalar_bytes);
            }
            _ => typed_runs.push((leaf.offset, leaf.scalar, scalar_bytes.to_vec())),
        }
    }
    let expected_run = |(offset, scalar, scalar_bytes): (u64, ScalarType, Vec<u8>)| ExpectedRun {
        offset,
        scalar: scalar.to_string(),
        bytes: STANDARD.encode(scalar_bytes),
    };
    typed_runs.into_iter().map(expected_run).collect()
}
