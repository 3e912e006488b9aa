//! Whether stored outputs that differ within a tolerance differ where one judges them.
//!
//! Knows: the contents that both engines stored and what the test expects. Promises: a byte that
//! differs, that no expectation with a tolerance judges and that no note leaves open is a problem.
//! Does not cover: whether a judged element lies within its tolerance (the verdict), and which
//! component of a texel differs: one that is judged covers its texel.

use super::Derivation;
use super::outputs::EngineContents;
use base64::Engine as _;
use std::ops::Range;
use vkcert_model::evidence::{Agreement, StoredContents, StoredExpectation, TestEvidence};
use vkcert_model::image::ImageFormat;

pub(super) fn check_tolerated(
    test: &TestEvidence,
    agreement_row: &Agreement,
    stored_contents: &[(&String, EngineContents)],
    label: &str,
    derivation: &mut Derivation,
) {
    for (name, contents) in stored_contents {
        let EngineContents::Bytes([ours, theirs]) = contents else { continue };
        let tolerant = test
            .expected
            .iter()
            .filter(|expected| expected.buffer == **name && has_tolerance(expected));
        let judged = joined_ranges(tolerant.flat_map(judged_bytes).collect());
        let differing =
            ours.iter().zip(theirs).enumerate().filter(|(_, (our, their))| our != their);
        let mut offsets = differing.map(|(offset, _)| offset as u64);
        let Some(unjudged) = offsets.find(|offset| !is_in(&judged, *offset)) else { continue };
        let buffer_words = format!("`{name}` differs");
        if agreement_row.left_open.iter().any(|note| note.contains(&buffer_words)) {
            derivation.of_modules.push(format!(
                "{label}: that the contents of buffer {name} depend on the schedule comes from the module"
            ));
        } else {
            derivation.problems.push(format!(
                "{label}: buffer {name} differs at byte {unjudged}, which nothing with a tolerance judges"
            ));
        }
    }
}

pub(super) fn has_tolerance(expected: &StoredExpectation) -> bool {
    let tolerance = &expected.tolerance;
    tolerance.abs.is_some() || tolerance.rel.is_some() || tolerance.ulp.is_some()
}

/// Bytes of a buffer or image that an expectation looks at.
fn judged_bytes(expected: &StoredExpectation) -> Vec<Range<u64>> {
    let from = |offset: u64, length: Option<u64>| {
        offset..length.map_or(u64::MAX, |length| offset.saturating_add(length))
    };
    let ranges = match &expected.contents {
        StoredContents::Values(runs) => runs
            .iter()
            .map(|run| {
                let bytes = base64::engine::general_purpose::STANDARD.decode(&run.bytes);
                from(run.offset, Some(bytes.map_or(0, |bytes| bytes.len() as u64)))
            })
            .collect(),
        StoredContents::EqualsBuffer { buffer: _, scalar: _, offset, length }
        | StoredContents::Reference { kernel: _, scalar: _, offset, length } => {
            vec![from(*offset, *length)]
        }
        StoredContents::Check { .. } => Vec::new(),
    };
    match expected.format {
        Some(format) => ranges.into_iter().map(|range| texel_bytes(format, range)).collect(),
        None => ranges,
    }
}

/// The same bytes as ranges in order that do not touch.
fn joined_ranges(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

fn is_in(joined: &[Range<u64>], offset: u64) -> bool {
    let following = joined.partition_point(|range| range.start <= offset);
    following.checked_sub(1).is_some_and(|index| joined[index].contains(&offset))
}

/// Bytes of the texels whose decoded components a range counts.
fn texel_bytes(format: ImageFormat, decoded: Range<u64>) -> Range<u64> {
    let texel_size = format.texel_size() as u64;
    let decoded_size = u64::from(format.components()) * format.component().size() as u64;
    let start = decoded.start / decoded_size * texel_size;
    start..decoded.end.div_ceil(decoded_size).saturating_mul(texel_size)
}
