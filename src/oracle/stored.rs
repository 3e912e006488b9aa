//! Verdicts from stored expectations and stored outputs alone.
//!
//! Promises: the same comparison as of a fresh run (`exec::judge`). Does not cover: expectations by
//! a reference kernel or a checker, whose values exist only while it runs: of these it says that no
//! verdict can be derived.

use super::comparison::{Placement, compare};
use super::scalar::Leaf;
use super::texel::compared;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use vkcert_model::element::{ElementType, ScalarType};
use vkcert_model::evidence::{StoredContents, StoredExpectation};
use vkcert_model::verdict::Verdict;

/// The verdict that stored outputs of a completed run come to; `Err` says why none can be derived.
pub fn judge(
    expectations: &[StoredExpectation],
    outputs: &BTreeMap<String, Vec<u8>>,
) -> Result<Verdict, String> {
    for expectation in expectations {
        let name = &expectation.buffer;
        // What is expected comes first: of a checker or a reference nothing else is needed.
        let leaves = leaves(expectation, outputs)?;
        let actual = outputs
            .get(name)
            .ok_or_else(|| format!("the contents of buffer {name} are stored as a hash alone"))?;
        let actual = compared(expectation.format, actual);
        let placement = Placement::of_stored(expectation.record);
        if compare(&actual, &leaves, &expectation.tolerance, placement, 0)?.wrong > 0 {
            return Ok(Verdict::Fail);
        }
    }
    Ok(Verdict::Pass)
}

fn leaves(
    expectation: &StoredExpectation,
    outputs: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<Leaf>, String> {
    let scalar = |text: &str| {
        text.parse::<ElementType>()
            .map(|element| element.scalar)
            .map_err(|_| format!("`{text}` is no scalar type"))
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
            let bytes = outputs
                .get(buffer)
                .ok_or_else(|| format!("the contents of buffer {buffer} are not stored"))?;
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
