//! Expectations as evidence stores them, so that a verdict can be derived again from stored outputs alone.
//!
//! Promises: the same comparison as `judge`. Does not cover: expectations by a reference kernel, whose values exist only
//! while it runs; they are stored by name and `verify` says that they cannot be derived again.

use super::compare::agrees;
use super::prepare::scalar::read;
use super::prepare::{Expected, ExpectedContents, Leaf, Prepared};
use super::texel::compared;
use crate::model::element::{ElementType, ScalarType};
use crate::model::evidence::{ExpectedRun, StoredContents, StoredExpectation};
use crate::model::verdict::Verdict;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;

/// The expectations of a prepared test.
pub fn expectations(prepared: &Prepared) -> Vec<StoredExpectation> {
    prepared.expected.iter().map(|expected| stored(prepared, expected)).collect()
}

fn stored(prepared: &Prepared, expected: &Expected) -> StoredExpectation {
    let name = |index: usize| prepared.job.buffers[index].name.clone();
    let contents = match &expected.contents {
        ExpectedContents::Values(leaves) => StoredContents::Values(runs(leaves)),
        ExpectedContents::Buffer { other, scalar, offset } => {
            StoredContents::EqualsBuffer { buffer: name(*other), scalar: scalar.to_string(), offset: *offset as u64 }
        }
        ExpectedContents::Reference { job, scalar, offset } => {
            let kernels: Vec<&str> = job.modules.iter().map(|module| module.kernel.as_str()).collect();
            let kernel = kernels.join(", ");
            StoredContents::Reference { kernel, scalar: scalar.to_string(), offset: *offset as u64 }
        }
    };
    StoredExpectation {
        buffer: name(expected.buffer),
        format: expected.format,
        tolerance: expected.tolerance,
        contents,
    }
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
        let actual =
            outputs.get(name).ok_or_else(|| format!("the contents of buffer {name} are stored as a hash alone"))?;
        let actual = compared(expectation.format, actual);
        for leaf in leaves(expectation, outputs)? {
            let found = read(&actual, leaf.scalar, leaf.offset as usize);
            if !found.is_some_and(|found| agrees(leaf.scalar, leaf.bits, found, &expectation.tolerance)) {
                return Ok(Verdict::Fail);
            }
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
        StoredContents::EqualsBuffer { buffer, scalar: text, offset } => {
            let bytes = outputs.get(buffer).ok_or_else(|| format!("the contents of buffer {buffer} are not stored"))?;
            Ok(split(&compared(expectation.format, bytes), scalar(text)?, *offset))
        }
        StoredContents::Reference { kernel, .. } => {
            Err(format!("its expectation comes from the reference kernel {kernel}"))
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
