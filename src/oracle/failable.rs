//! Which bytes of an expectation some value fails, given its tolerance and format.
//!
//! Promises: a range is left out only where no value that the element can hold fails. Extremes
//! suffice to decide it, because each bound of a tolerance holds in an interval around the expected
//! value.
//! Does not cover: which dispatches the bytes come from (`judged`).

use super::compare::{is_taken_for_zero, values_agree};
use super::scalar::{float_bits, read_scalar};
use super::texel::{stored_offset, stored_range};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use vkcert_model::element::{ElementType, ScalarClass, ScalarType};
use vkcert_model::evidence::{ExpectedRun, StoredContents, StoredExpectation};
use vkcert_model::flow::BufferRange;
use vkcert_model::image::{ImageFormat, TexelEncoding};
use vkcert_model::procedure::Tolerance;

/// The bytes whose values can fail an expectation.
pub(super) fn compared_ranges(expectation: &StoredExpectation) -> Vec<BufferRange> {
    match &expectation.contents {
        StoredContents::Values(runs) => {
            runs.iter().flat_map(|run| failable_ranges_of_run(expectation, run)).collect()
        }
        // The range is of the checker's verdict, of which every value but one fails; what the
        // checker reads is looked at apart.
        StoredContents::Check { .. } => vec![compared_range(expectation, 0, None)],
        StoredContents::EqualsBuffer { scalar: scalar_name, offset, length, .. }
        | StoredContents::Reference { scalar: scalar_name, offset, length, .. } => {
            match scalar_name.parse::<ElementType>() {
                // The expected values are not known before the run; a tolerance that lets every
                // value pass for 1 is taken to let every value pass.
                Ok(element_type) if !can_fail_one(element_type.scalar, expectation) => Vec::new(),
                Ok(_) | Err(_) => vec![compared_range(expectation, *offset, *length)],
            }
        }
    }
}

/// The stored bytes behind `length` compared bytes from `offset` on; none: to the end.
fn compared_range(
    expectation: &StoredExpectation,
    offset: u64,
    length: Option<u64>,
) -> BufferRange {
    let offset = expectation.format.map_or(offset, |format| stored_offset(format, offset));
    let bytes = length.map_or(u64::MAX - offset, |length| stored_length(expectation, length));
    BufferRange { buffer: expectation.buffer.clone(), offset, bytes }
}

/// Number of stored bytes that so many compared bytes stand for.
pub(super) fn stored_length(expectation: &StoredExpectation, compared_length: u64) -> u64 {
    expectation.format.map_or(compared_length, |format| {
        let stored_bytes = stored_range(format, 0..compared_length);
        stored_bytes.end - stored_bytes.start
    })
}

/// The ranges of neighbouring elements of a run for which some value fails the expectation.
fn failable_ranges_of_run(expectation: &StoredExpectation, run: &ExpectedRun) -> Vec<BufferRange> {
    let Ok(element) = run.scalar.parse::<ElementType>() else { return Vec::new() };
    let Ok(run_bytes) = STANDARD.decode(&run.bytes) else { return Vec::new() };
    let element_size = element.scalar.size();
    let failable_range = |start_in_run: usize, end_in_run: usize| {
        let [start, end] =
            [start_in_run, end_in_run].map(|within_run| run.offset + within_run as u64);
        stored_elements(expectation, start..end, element_size as u64)
    };
    if is_exact(&expectation.tolerance) {
        return if run_bytes.len() < element_size {
            Vec::new()
        } else {
            vec![failable_range(0, run_bytes.len())]
        };
    }
    let mut ranges = Vec::new();
    let mut failing_start = None;
    for (index, element_bytes) in run_bytes.chunks_exact(element_size).enumerate() {
        let mut padded_bytes = [0; 8];
        padded_bytes[..element_size].copy_from_slice(element_bytes);
        let element_can_fail =
            can_fail(element.scalar, u64::from_le_bytes(padded_bytes), expectation);
        match (element_can_fail, failing_start) {
            (true, None) => failing_start = Some(index * element_size),
            (false, Some(range_start)) => {
                ranges.push(failable_range(range_start, index * element_size));
                failing_start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    ranges.extend(failing_start.map(|range_start| {
        failable_range(range_start, run_bytes.len() / element_size * element_size)
    }));
    ranges
}

/// The stored bytes behind a range of compared elements of so many bytes each.
fn stored_elements(
    expectation: &StoredExpectation,
    compared: std::ops::Range<u64>,
    element_size: u64,
) -> BufferRange {
    let (offset, end) = match expectation.format {
        None => (compared.start, compared.end),
        Some(format) => {
            let last = stored_offset(format, compared.end.saturating_sub(element_size));
            (stored_offset(format, compared.start), last + format.texel_size() as u64)
        }
    };
    BufferRange { buffer: expectation.buffer.clone(), offset, bytes: end - offset }
}

/// Whether only zeros, or values that the tolerance takes for zero, are expected, within a
/// tolerance that refuses 2, which is the most of their scale.
pub(super) fn expects_zeros(expectation: &StoredExpectation) -> bool {
    let StoredContents::Values(runs) = &expectation.contents else { return false };
    !is_exact(&expectation.tolerance)
        && runs.iter().all(|run| run_expects_zeros(run, &expectation.tolerance) == Some(true))
}

/// The same of one run; none where the run cannot be decoded.
fn run_expects_zeros(run: &ExpectedRun, tolerance: &Tolerance) -> Option<bool> {
    let scalar_type = run.scalar.parse::<ElementType>().ok()?.scalar;
    let run_bytes = STANDARD.decode(&run.bytes).ok()?;
    if values_agree(scalar_type, 0, small_number_bits(scalar_type, 2), tolerance) {
        return Some(false);
    }
    let mut offsets = (0..run_bytes.len()).step_by(scalar_type.size());
    Some(offsets.all(|offset| {
        read_scalar(&run_bytes, scalar_type, offset)
            .is_none_or(|bits| is_taken_for_zero(scalar_type, bits, tolerance))
    }))
}

/// Whether a tolerance lets equal values pass alone.
pub fn is_exact(tolerance: &Tolerance) -> bool {
    let Tolerance { abs, rel, ulp, bits } = tolerance;
    *bits || abs.is_none() && rel.is_none() && ulp.is_none()
}

/// Whether some finite value of the element does not agree with `expected`. It suffices to try the
/// extremes, because each bound of a tolerance holds in an interval around the expected value.
fn can_fail(scalar_type: ScalarType, expected_bits: u64, expectation: &StoredExpectation) -> bool {
    let extremes = match expectation.format {
        Some(format) => texel_extremes(format),
        None => scalar_extremes(scalar_type),
    };
    extremes
        .into_iter()
        .any(|extreme| !values_agree(scalar_type, expected_bits, extreme, &expectation.tolerance))
}

/// The same where 1 is expected.
fn can_fail_one(scalar_type: ScalarType, expectation: &StoredExpectation) -> bool {
    can_fail(scalar_type, small_number_bits(scalar_type, 1), expectation)
}

/// Raw bits of a small number; of Booleans 1.
fn small_number_bits(scalar_type: ScalarType, number: u8) -> u64 {
    match scalar_type.class() {
        ScalarClass::Bool => 1,
        ScalarClass::Signed | ScalarClass::Unsigned => number.into(),
        ScalarClass::Float => float_bits(scalar_type, number.into()),
    }
}

/// Raw bits of the least and the greatest finite value.
fn scalar_extremes(scalar_type: ScalarType) -> [u64; 2] {
    let bit_width = scalar_type.size() * 8;
    let all_bits = u64::MAX >> (64 - bit_width);
    let sign_bit = 1_u64 << (bit_width - 1);
    match scalar_type.class() {
        ScalarClass::Bool => [0, 1],
        ScalarClass::Unsigned => [0, all_bits],
        ScalarClass::Signed => [sign_bit, all_bits ^ sign_bit],
        ScalarClass::Float => {
            let greatest = match bit_width {
                16 => 0x7BFF,
                32 => 0x7F7F_FFFF,
                _ => 0x7FEF_FFFF_FFFF_FFFF,
            };
            [sign_bit | greatest, greatest]
        }
    }
}

/// The same of a decoded component of a texel.
pub fn texel_extremes(format: ImageFormat) -> [u64; 2] {
    match format.encoding() {
        TexelEncoding::Plain(scalar) => scalar_extremes(scalar),
        TexelEncoding::Unorm(_) | TexelEncoding::Srgb | TexelEncoding::Rgb10A2 => {
            component_bits(0.0, 1.0)
        }
        TexelEncoding::Snorm(_) => component_bits(-1.0, 1.0),
        TexelEncoding::Rgb10A2Uint => [0, 1023],
        // The greatest value of 6 bits of mantissa at the greatest exponent.
        TexelEncoding::R11G11B10 => component_bits(0.0, 65024.0),
    }
}

fn component_bits(least: f32, greatest: f32) -> [u64; 2] {
    [least, greatest].map(|value| u64::from(value.to_bits()))
}
