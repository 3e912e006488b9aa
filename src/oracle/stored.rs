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

/// The verdict on the stored outputs of a completed run; `Err` says why none can be derived.
pub fn judge(
    expectations: &[StoredExpectation],
    outputs: &BTreeMap<String, Vec<u8>>,
) -> Result<Verdict, String> {
    for expectation in expectations {
        let name = &expectation.buffer;
        // Expectations are decoded before outputs are looked up, because an expectation by a
        // checker or a reference kernel has no verdict here, whatever outputs are stored.
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
    match &expectation.contents {
        StoredContents::Values(runs) => {
            let mut leaves = Vec::new();
            for run in runs {
                let bytes = STANDARD.decode(&run.bytes).map_err(|error| error.to_string())?;
                leaves.extend(split(&bytes, parse_scalar_type(&run.scalar)?, run.offset));
            }
            Ok(leaves)
        }
        StoredContents::EqualsBuffer { buffer, scalar: text, offset, length } => {
            let bytes = outputs
                .get(buffer)
                .ok_or_else(|| format!("the contents of buffer {buffer} are not stored"))?;
            let bytes = compared(expectation.format, bytes);
            let length = length.map_or(bytes.len(), |length| (length as usize).min(bytes.len()));
            Ok(split(&bytes[..length], parse_scalar_type(text)?, *offset))
        }
        StoredContents::Reference { kernel, .. } => {
            Err(format!("its expectation comes from the reference kernel {kernel}"))
        }
        StoredContents::Check { kernel, reads: _ } => {
            Err(format!("its verdict comes from the checker kernel {kernel}"))
        }
    }
}

fn parse_scalar_type(text: &str) -> Result<ScalarType, String> {
    match text.parse::<ElementType>() {
        Ok(element_type) => Ok(element_type.scalar),
        Err(_) => Err(format!("`{text}` is no scalar type")),
    }
}

/// The elements of contents that begin at `first_offset` of their buffer.
fn split(contents: &[u8], scalar: ScalarType, first_offset: u64) -> Vec<Leaf> {
    let size = scalar.size();
    let mut leaves = Vec::with_capacity(contents.len() / size);
    for (index, element_bytes) in contents.chunks_exact(size).enumerate() {
        let mut word = [0; 8];
        word[..size].copy_from_slice(element_bytes);
        let offset = first_offset + (index * size) as u64;
        leaves.push(Leaf { offset, scalar, bits: u64::from_le_bytes(word) });
    }
    leaves
}
