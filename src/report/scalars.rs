//! Scalars of stored contents as text.

use vkcert_model::element::{DataType, ScalarType};

/// The scalars that a buffer of this type is made of; none of one that its kernel's block lays out.
pub(crate) fn scalar_of(data_type: DataType) -> Option<ScalarType> {
    match data_type {
        DataType::Element(element) => Some(element.scalar),
        DataType::Reflect => None,
    }
}

/// Each scalar of little-endian contents; bytes behind the last whole one are left out.
pub(crate) fn scalars_in_words(bytes: &[u8], scalar: ScalarType) -> Vec<String> {
    bytes.chunks_exact(scalar.size()).map(|chunk| scalar_in_words(chunk, scalar)).collect()
}

/// A scalar, or the distance of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ScalarValue {
    Integer(i128),
    Float(f64),
}

impl ScalarValue {
    /// Of the little-endian bytes of one scalar.
    pub(crate) fn of_bytes(bytes: &[u8], scalar: ScalarType) -> Self {
        let bits = bits_of(bytes);
        match scalar {
            ScalarType::Float16 => Self::Float(half::f16::from_bits(bits as u16).to_f64()),
            ScalarType::Float32 => Self::Float(f32::from_bits(bits as u32).into()),
            ScalarType::Float64 => Self::Float(f64::from_bits(bits)),
            ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64 => {
                Self::Integer(sign_extended(bits, scalar).into())
            }
            ScalarType::Bool
            | ScalarType::Uint8
            | ScalarType::Uint16
            | ScalarType::Uint32
            | ScalarType::Uint64 => Self::Integer(bits.into()),
        }
    }

    /// How far two scalars of one type lie apart; none where one is not finite.
    pub(crate) fn distance([first, second]: [&[u8]; 2], scalar: ScalarType) -> Option<Self> {
        match (Self::of_bytes(first, scalar), Self::of_bytes(second, scalar)) {
            (Self::Integer(first), Self::Integer(second)) => {
                Some(Self::Integer((first - second).abs()))
            }
            (first, second) => {
                let distance = (first.as_f64() - second.as_f64()).abs();
                distance.is_finite().then_some(Self::Float(distance))
            }
        }
    }

    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

fn bits_of(bytes: &[u8]) -> u64 {
    let mut wide_bytes = [0_u8; 8];
    wide_bytes[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide_bytes)
}

/// From the scalar's own width.
fn sign_extended(bits: u64, scalar: ScalarType) -> i64 {
    let unused_bits = 64 - 8 * scalar.size() as u32;
    ((bits << unused_bits) as i64) >> unused_bits
}

fn scalar_in_words(bytes: &[u8], scalar: ScalarType) -> String {
    let bits = bits_of(bytes);
    match scalar {
        ScalarType::Bool
        | ScalarType::Uint8
        | ScalarType::Uint16
        | ScalarType::Uint32
        | ScalarType::Uint64 => bits.to_string(),
        ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64 => {
            sign_extended(bits, scalar).to_string()
        }
        ScalarType::Float16 => float_in_words(half::f16::from_bits(bits as u16).to_f32()),
        ScalarType::Float32 => float_in_words(f32::from_bits(bits as u32)),
        ScalarType::Float64 => float_in_words(f64::from_bits(bits)),
    }
}

/// Whole values from here on have more digits than 64 bits of mantissa can need; they are written
/// with an exponent.
const LONGEST_WHOLE: f64 = 1e16;

/// The shortest digits that give the same value, and all digits of a whole value, so that none of
/// them is made up; `Infinity` as test procedures write it.
pub(crate) fn float_in_words<T: Into<f64> + std::fmt::Debug + Copy>(value: T) -> String {
    let wide_value: f64 = value.into();
    if wide_value.is_infinite() {
        return if wide_value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if wide_value.fract() == 0.0 && (1.0..LONGEST_WHOLE).contains(&wide_value.abs()) {
        return format!("{}", wide_value as i64);
    }
    let digits = format!("{value:?}");
    match digits.strip_suffix(".0") {
        Some(whole_digits) => whole_digits.to_owned(),
        None => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_read_in_their_type() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 0, 0, 0xc0, 0x7f];
        assert_eq!(scalars_in_words(&bytes, ScalarType::Int32), ["-1", "2143289344"]);
        assert_eq!(scalars_in_words(&bytes[4..], ScalarType::Float32), ["NaN"]);
        assert_eq!(scalars_in_words(&bytes[..3], ScalarType::Int8), ["-1", "-1", "-1"]);
        assert_eq!(scalars_in_words(&bytes[..2], ScalarType::Uint16), ["65535"]);
        let floats: Vec<u8> = [0.1_f32, -2.0, f32::NEG_INFINITY]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        assert_eq!(scalars_in_words(&floats, ScalarType::Float32), ["0.1", "-2", "-Infinity"]);
        // The shortest digits of it would be padded with zeros.
        let large = f32::from_bits(0xd067_8785).to_le_bytes();
        assert_eq!(scalars_in_words(&large, ScalarType::Float32), ["-15537673216"]);
        let zero = (-0.0_f32).to_le_bytes();
        assert_eq!(scalars_in_words(&zero, ScalarType::Float32), ["-0"]);
        assert_eq!(
            scalars_in_words(&half::f16::from_f32(1.5).to_le_bytes(), ScalarType::Float16),
            ["1.5"]
        );
    }
}
