//! Specialization constants as the host sets them: the numbers that an interface states, as values
//! of the types that the kernel declares.
//!
//! Knows: the constants of both sides.
//! Promises: a number becomes bits as a host's conversion makes them: floats are rounded once, to
//! the nearest; what the type cannot hold has no bits.
//! Does not cover: whether the kernel has what the host sets (`checks::specialization`).

use std::collections::BTreeMap;
use vkcert_model::element::{ElementType, ScalarClass, ScalarType};
use vkcert_model::requirement::Interface;
use vkcert_oracle::scalar::{decode_float, decode_integer, encode_datum};
use vkcert_requirement::host::{HostConstant, specialized_values};
use vkcert_spirv::interface::SpecializationConstant;

/// The values that the host gives to the constants that the kernel declares, where they are the
/// same for all parameters and of the constant's type: raw bits by `SpecId`.
pub fn host_constants(
    interface: &Interface,
    declared: &[SpecializationConstant],
) -> BTreeMap<u32, u64> {
    let stated_values = specialized_values(interface).into_iter();
    stated_values
        .filter_map(|(id, value)| Some((id, bits_for_all(id, value?, declared)?)))
        .collect()
}

/// Raw bits of a number as a value of the constants of one id: a module may give it to constants of
/// several types; then the bits must be those of all.
pub(super) fn bits_for_all(
    id: u32,
    value: HostConstant,
    declared: &[SpecializationConstant],
) -> Option<u64> {
    let mut of_id = declared.iter().filter(|constant| constant.spec_id == id);
    let bits = constant_bits(of_id.next()?, value)?;
    of_id.all(|constant| constant_bits(constant, value) == Some(bits)).then_some(bits)
}

/// The type of a constant; none of types that no constant of a kernel has.
pub(super) fn scalar_of(constant: &SpecializationConstant) -> Option<ScalarType> {
    Some(constant.type_name.parse::<ElementType>().ok()?.scalar)
}

/// Raw bits of a number as a value of a constant; none where its type cannot hold it.
pub(super) fn constant_bits(constant: &SpecializationConstant, value: HostConstant) -> Option<u64> {
    encode_datum(scalar_of(constant)?, &value.as_datum()).ok()
}

/// A value as its type has it: `-5`, `1.5`, `true`.
pub(super) fn bits_in_words(constant: &SpecializationConstant, bits: u64) -> String {
    let Some(scalar) = scalar_of(constant) else { return format!("{bits:#x}") };
    match scalar.class() {
        ScalarClass::Bool if bits == 0 => "false".to_owned(),
        ScalarClass::Bool if bits == 1 => "true".to_owned(),
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
            decode_integer(scalar, bits).to_string()
        }
        ScalarClass::Float => {
            let number = decode_float(scalar, bits);
            // The shortest decimal of the type itself: 0.1, not 0.10000000149011612.
            match scalar {
                ScalarType::Float32 => format!("{:?}", number as f32),
                _ => format!("{number:?}"),
            }
        }
    }
}

/// A number as the interface states it.
pub(super) fn number_in_words(value: HostConstant) -> String {
    match value {
        HostConstant::Integer(number) => number.to_string(),
        HostConstant::Real(number) => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(spec_id: u32, type_name: &str, width: u32) -> SpecializationConstant {
        let (name, type_name) = (None, type_name.to_owned());
        SpecializationConstant { id: 1, spec_id, name, ty: 2, type_name, default: 0, width }
    }

    fn interface(values: &[&str]) -> Interface {
        let rows = values.iter().enumerate();
        let rows = rows.map(|(id, value)| serde_json::json!({ "id": id, "value": value }));
        let interface = serde_json::json!({
            "kernel": "k",
            "parameters": [{ "name": "n", "type": "int32", "min": 1, "max": 4 }],
            "groups": ["1", "1", "1"],
            "specialization": rows.collect::<Vec<_>>(),
        });
        serde_json::from_value(interface).unwrap()
    }

    #[test]
    fn numbers_become_bits_of_the_constants_type() {
        let types = ["int", "float", "double", "float16", "bool", "uint64", "uint", "int", "int"];
        let widths = [32, 32, 64, 16, 32, 64, 32, 32, 32];
        let rows = (0..).zip(types.iter().zip(widths));
        let mut declared: Vec<_> =
            rows.map(|(id, (type_name, width))| constant(id, type_name, width)).collect();
        let values =
            ["-5", "1", "0.1", "-2", "1", "9223372036854775807", "-1", "1.5", "n", "absent"];
        let bits =
            |declared: &[SpecializationConstant]| host_constants(&interface(&values), declared);
        let expected = [
            (0, 0xffff_fffb),
            (1, u64::from(1f32.to_bits())),
            (2, 0.1f64.to_bits()),
            (3, 0xc000),
            (4, 1),
            (5, u64::MAX >> 1),
        ];
        assert_eq!(bits(&declared), BTreeMap::from(expected));
        // One id for constants of two types has bits where they are the same for both.
        declared.push(constant(0, "uint", 32));
        declared.push(constant(4, "uint", 32));
        let shared = bits(&declared);
        assert_eq!((shared.get(&0), shared.get(&4)), (None, Some(&1)));
    }

    #[test]
    fn values_are_told_as_their_type_has_them() {
        let told = |type_name: &str, width: u32, bits: u64| {
            bits_in_words(&constant(0, type_name, width), bits)
        };
        assert_eq!(told("int", 32, 0xffff_fffb), "-5");
        assert_eq!(told("float", 32, 0x3dcc_cccd), "0.1");
        assert_eq!(told("double", 64, 4_609_434_218_613_702_656), "1.5");
        assert_eq!(told("bool", 32, 1), "true");
        assert_eq!(told("bfloat16", 16, 0x3f80), "0x3f80");
    }
}
