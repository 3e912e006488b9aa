//! Verdicts from stored expectations and stored outputs alone.
//!
//! Promises: the same comparison as of a fresh run (`exec::judge`). Does not cover: expectations by
//! a reference kernel or a checker, whose values exist only while it runs: of these it says that no
//! verdict can be derived.

use super::comparison::{Placement, compare_contents};
use super::scalar::Leaf;
use super::texel::compared_contents;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use vkcert_model::element::{ElementType, ScalarType};
use vkcert_model::evidence::{StoredContents, StoredExpectation};
use vkcert_model::verdict::Verdict;

/// The verdict on the stored outputs of a completed run; `Err` says why none can be derived.
pub fn judge_stored_outputs(
    expectations: &[StoredExpectation],
    outputs: &BTreeMap<String, Vec<u8>>,
) -> Result<Verdict, String> {
    for expectation in expectations {
        let name = &expectation.buffer;
        // Expectations are decoded before outputs are looked up, because an expectation by a
        // checker or a reference kernel has no verdict here, whatever outputs are stored.
        let expected_leaves = decode_expected_leaves(expectation, outputs)?;
        let stored_bytes = outputs
            .get(name)
            .ok_or_else(|| format!("the contents of buffer {name} are stored as a hash alone"))?;
        let stored_bytes = compared_contents(expectation.format, stored_bytes);
        let placement = Placement::from_stored(expectation.record);
        if compare_contents(&stored_bytes, &expected_leaves, &expectation.tolerance, placement, 0)?
            .disagreeing
            > 0
        {
            return Ok(Verdict::Fail);
        }
    }
    Ok(Verdict::Pass)
}

fn decode_expected_leaves(
    expectation: &StoredExpectation,
    outputs: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<Leaf>, String> {
    match &expectation.contents {
        StoredContents::Values(runs) => {
            let mut run_leaves = Vec::new();
            for run in runs {
                let run_bytes = STANDARD.decode(&run.bytes).map_err(|error| error.to_string())?;
                run_leaves.extend(leaves_of_contents(
                    &run_bytes,
                    parse_scalar_type(&run.scalar)?,
                    run.offset,
                ));
            }
            Ok(run_leaves)
        }
        StoredContents::EqualsBuffer { buffer, scalar: scalar_name, offset, length } => {
            let run_bytes = outputs
                .get(buffer)
                .ok_or_else(|| format!("the contents of buffer {buffer} are not stored"))?;
            let run_bytes = compared_contents(expectation.format, run_bytes);
            let length =
                length.map_or(run_bytes.len(), |length| (length as usize).min(run_bytes.len()));
            Ok(leaves_of_contents(&run_bytes[..length], parse_scalar_type(scalar_name)?, *offset))
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
fn leaves_of_contents(contents: &[u8], scalar_type: ScalarType, first_offset: u64) -> Vec<Leaf> {
    let size = scalar_type.size();
    let mut leaves = Vec::with_capacity(contents.len() / size);
    for (index, element_bytes) in contents.chunks_exact(size).enumerate() {
        let mut padded_bytes = [0; 8];
        padded_bytes[..size].copy_from_slice(element_bytes);
        let offset = first_offset + (index * size) as u64;
        leaves.push(Leaf { offset, scalar: scalar_type, bits: u64::from_le_bytes(padded_bytes) });
    }
    leaves
}
