//! Single values to bits.
//!
//! Knows: how each scalar type reads a value of a file. Decimal numbers are read as 64-bit floats
//! (TOML and JSON both do) and then rounded once to the element's type, ties to even; raw bits
//! `"0x..."` are taken as they are.
//! Promises: a value that the type cannot hold is an error, never a wrapped or saturated value.

use super::float::{ExactReal, FloatFormat, RoundingDirection};
use half::f16;
use vkcert_model::element::{Datum, ScalarClass, ScalarType};
use vkcert_model::procedure::SpecializationValue;

/// One scalar at a byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Bytes from the start of the contents.
    pub offset: u64,
    /// Type of the scalar.
    pub scalar: ScalarType,
    /// Raw bits, in the lowest bits of the word.
    pub bits: u64,
}

/// The bits of `value` as a `scalar`; an error is a sentence.
pub fn encode_datum(scalar_type: ScalarType, value: &Datum) -> Result<u64, String> {
    if let Datum::Text(text) = value
        && let Some(digits) = text.strip_prefix("0x")
    {
        return raw_bits(digits, scalar_type.size() as u32 * 8, text);
    }
    match scalar_type.class() {
        ScalarClass::Bool => match value {
            Datum::Bool(value) => Ok(u64::from(*value)),
            Datum::Integer(value @ (0 | 1)) => Ok(*value as u64),
            other => Err(format!("expected true or false, found {other}")),
        },
        ScalarClass::Signed | ScalarClass::Unsigned => integer_datum_bits(scalar_type, value),
        ScalarClass::Float => float_datum_bits(scalar_type, value),
    }
}

/// Raw bits from hexadecimal digits, which must fit in `width` bits.
pub fn raw_bits(digits: &str, bit_width: u32, text: &str) -> Result<u64, String> {
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(format!("`{text}` has no hexadecimal digits behind `0x`"));
    }
    match u64::from_str_radix(digits, 16) {
        Ok(bits) if bit_width == 64 || bits >> bit_width == 0 => Ok(bits),
        Ok(_) | Err(_) => Err(format!("`{text}` has more than {bit_width} bits")),
    }
}

fn integer_datum_bits(scalar_type: ScalarType, value: &Datum) -> Result<u64, String> {
    let number = match value {
        Datum::Integer(number) => *number,
        Datum::Text(text) => text.parse::<i128>().map_err(|_| format!("`{text}` is no integer"))?,
        other @ (Datum::Bool(_) | Datum::Float(_) | Datum::List(_) | Datum::Record(_)) => {
            return Err(format!("expected an integer, found {other}"));
        }
    };
    let (least, most) = scalar_type.integer_range().expect("an integer type has a range");
    if number < least || number > most {
        return Err(format!("{number} is outside the range of {scalar_type}, {least} to {most}"));
    }
    Ok(number as u64 & value_mask(scalar_type))
}

fn value_mask(scalar_type: ScalarType) -> u64 {
    u64::MAX >> (64 - scalar_type.size() * 8)
}

fn float_datum_bits(scalar_type: ScalarType, value: &Datum) -> Result<u64, String> {
    let number = match value {
        // Below 2^53 exact; above, rounded once more: a value that needs care is written as raw
        // bits.
        Datum::Integer(number) => *number as f64,
        Datum::Float(number) => *number,
        Datum::Text(text) => match text.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => {
                return Err(format!(
                    "`{text}` is no floating-point value; write a number, \"NaN\", \"Infinity\", \"-Infinity\" or \"0x...\""
                ));
            }
        },
        other @ (Datum::Bool(_) | Datum::List(_) | Datum::Record(_)) => {
            return Err(format!("expected a number, found {other}"));
        }
    };
    let bits = float_bits(scalar_type, number);
    if number.is_finite() && !decode_float(scalar_type, bits).is_finite() {
        return Err(format!(
            "{value} is too large for {scalar_type}; write \"Infinity\" if that is meant"
        ));
    }
    Ok(bits)
}

/// `number` rounded to a float type, ties to even; every NaN becomes the quiet NaN with no other
/// bits set.
pub fn float_bits(scalar_type: ScalarType, number: f64) -> u64 {
    match scalar_type {
        ScalarType::Float16 if number.is_nan() => 0x7e00,
        ScalarType::Float32 if number.is_nan() => 0x7fc0_0000,
        ScalarType::Float16 => ExactReal::from_double(number)
            .rounded_bits(FloatFormat::HALF, RoundingDirection::Nearest),
        ScalarType::Float32 => (number as f32).to_bits().into(),
        _ if number.is_nan() => 0x7ff8_0000_0000_0000,
        _ => number.to_bits(),
    }
}

/// The value of a float's bits; exact.
pub fn decode_float(scalar_type: ScalarType, bits: u64) -> f64 {
    match scalar_type {
        ScalarType::Float16 => f16::from_bits(bits as u16).to_f64(),
        ScalarType::Float32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The value of an integer's bits.
pub fn decode_integer(scalar_type: ScalarType, bits: u64) -> i128 {
    let bit_width = scalar_type.size() as u32 * 8;
    match scalar_type.class() {
        ScalarClass::Signed => i128::from((bits << (64 - bit_width)) as i64 >> (64 - bit_width)),
        ScalarClass::Unsigned | ScalarClass::Bool | ScalarClass::Float => i128::from(bits),
    }
}

/// Little-endian bytes of a scalar's bits.
pub fn append_scalar(bytes: &mut Vec<u8>, scalar_type: ScalarType, bits: u64) {
    bytes.extend_from_slice(&bits.to_le_bytes()[..scalar_type.size()]);
}

/// A scalar's bits at byte `offset`; none beyond the end.
pub fn read_scalar(bytes: &[u8], scalar_type: ScalarType, offset: usize) -> Option<u64> {
    let scalar_bytes = bytes.get(offset..offset.checked_add(scalar_type.size())?)?;
    Some(scalar_bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
}

/// Raw bits of a value given for a constant of a type; else the key at fault and what is wrong with
/// it.
pub fn specialization_bits(
    scalar_type: ScalarType,
    specialization: &SpecializationValue,
) -> Result<u64, (&'static str, String)> {
    let bit_width = scalar_type.size() as u32 * 8;
    match (&specialization.value, &specialization.bits) {
        (Some(specialization), _) => {
            encode_datum(scalar_type, specialization).map_err(|message| ("value", message))
        }
        (None, Some(Datum::Integer(bits))) => match u64::try_from(*bits) {
            Ok(bits) if bit_width == 64 || bits >> bit_width == 0 => Ok(bits),
            _ => Err(("bits", format!("{bits} is no number of {bit_width} bits"))),
        },
        (None, Some(Datum::Text(text))) => match text.strip_prefix("0x") {
            Some(digits) => raw_bits(digits, bit_width, text).map_err(|message| ("bits", message)),
            None => Err(("bits", format!("`{text}` does not begin with `0x`"))),
        },
        (None, Some(other)) => {
            Err(("bits", format!("expected raw bits as \"0x...\", found {}", other.kind())))
        }
        (None, None) => {
            Err(("value", "a specialization has either a `value` or `bits`".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: &str) -> Datum {
        Datum::Text(value.to_owned())
    }

    #[test]
    fn special_values_have_the_bits_of_the_contract() {
        assert_eq!(encode_datum(ScalarType::Float32, &text("NaN")), Ok(0x7fc0_0000));
        assert_eq!(encode_datum(ScalarType::Float32, &text("0xffc00001")), Ok(0xffc0_0001));
        assert_eq!(encode_datum(ScalarType::Float16, &text("-Infinity")), Ok(0xfc00));
        assert_eq!(encode_datum(ScalarType::Float64, &text("Infinity")), Ok(0x7ff0_0000_0000_0000));
        assert_eq!(encode_datum(ScalarType::Int64, &text("-9223372036854775808")), Ok(1 << 63));
        assert_eq!(encode_datum(ScalarType::Uint64, &text("18446744073709551615")), Ok(u64::MAX));
        assert_eq!(encode_datum(ScalarType::Int8, &Datum::Integer(-1)), Ok(0xff));
        assert_eq!(encode_datum(ScalarType::Float32, &Datum::Float(-0.0)), Ok(0x8000_0000));
    }

    #[test]
    fn what_a_type_cannot_hold_is_refused() {
        assert!(encode_datum(ScalarType::Uint8, &Datum::Integer(256)).is_err());
        assert!(encode_datum(ScalarType::Uint32, &Datum::Integer(-1)).is_err());
        assert!(encode_datum(ScalarType::Int32, &Datum::Float(1.0)).is_err());
        assert!(encode_datum(ScalarType::Float32, &Datum::Float(1e39)).is_err());
        assert!(encode_datum(ScalarType::Float16, &Datum::Integer(65520)).is_err());
        assert!(encode_datum(ScalarType::Float16, &text("0x10000")).is_err());
        assert!(encode_datum(ScalarType::Bool, &Datum::Integer(2)).is_err());
        assert!(encode_datum(ScalarType::Float32, &text("nan")).is_err());
    }

    proptest! {
        #[test]
        fn integers_come_back(number in any::<i64>(), index in 0..ScalarType::ALL.len()) {
            let scalar = ScalarType::ALL[index].0;
            if let (Some((least, most)), true) = (scalar.integer_range(), scalar != ScalarType::Bool) {
                let number = i128::from(number);
                let encoded = encode_datum(scalar, &Datum::Integer(number));
                prop_assert_eq!(encoded.is_ok(), (least..=most).contains(&number));
                if let Ok(bits) = encoded {
                    let mut bytes = Vec::new();
                    append_scalar(&mut bytes, scalar, bits);
                    prop_assert_eq!(decode_integer(scalar, read_scalar(&bytes, scalar, 0).unwrap()), number);
                }
            }
        }

        #[test]
        fn every_float_written_in_decimal_comes_back(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let decimal: f64 = format!("{value:?}").parse().unwrap();
            prop_assert_eq!(encode_datum(ScalarType::Float32, &Datum::Float(decimal)), Ok(u64::from(bits)));
        }
    }
}
